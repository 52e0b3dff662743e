// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rules of collective trees (document 000, section 2).
 *
 * 1. There is exactly one root.
 * 2. Where a row has a port down, the router that the port is joined to is in
 *    the tree, and its port up is the one at the far end.
 * 3. Every row is reached from the root.
 * 4. From the port up to a port down a packet may turn (ang_topo_turn()): on a
 *    torus ports down are of dimensions behind that of the port up, or straight
 *    on; elsewhere channels down are of higher classes than that from above.
 *    What goes up has channels of its own, in the reverse order.
 */
#include "ang_model.h"

static bool port_exists(const struct ang_topo *topo, u32 router, u32 port)
{
	return ang_topo_peer(topo, router, port, NULL) != ANG_NONE;
}

/* May packets that go down leave by all ports down of a row? */
static bool turns_ok(const struct ang_topo *topo, u32 router,
		     const struct angara_tree_row *row)
{
	u64 set;

	if (row->is_root)
		return true;
	for (set = row->ports; set; set &= set - 1)
		if (!ang_topo_turn(topo, router, row->to_root,
				   (u32)__builtin_ctzll(set)))
			return false;
	return true;
}

/* Return: what is wrong with the fields of a row, or NULL. */
static const char *fields_flaw(const struct ang_topo *topo, u32 router,
			       const struct angara_tree_row *row)
{
	u32 count = 0;
	u64 set;

	if (row->tree >= ANGARA_MAX_TREES)
		return "tree: out of range";
	if (row->is_root > 1)
		return "is_root: neither 0 nor 1";
	if (row->reserved)
		return "reserved: is not 0";
	if (row->pe > ANGARA_MAX_LOCAL)
		return "pe: too many local participants";
	if (row->is_root && row->to_root != ANGARA_PORT_NONE)
		return "to_root: the root has no port up";
	if (!row->is_root && row->to_root == ANGARA_PORT_NONE)
		return "to_root: is needed where the node is not the root";
	if (!row->is_root && !port_exists(topo, router, row->to_root))
		return "to_root: there is no such port";
	for (set = row->ports; set; set &= set - 1) {
		if (!port_exists(topo, router, (u32)__builtin_ctzll(set)))
			return "ports: there is no such port";
		count++;
	}
	if (count != row->port_sum)
		return "port_sum: is not how many ports there are";
	if (count + row->pe > ANG_MAX_PLACES)
		return "pe: with all ports down, more than a Reducer combines";
	if (row->pe && ang_topo_is_switch(topo, router))
		return "pe: a switch has no participants";
	if (!count && !row->pe)
		return "pe: nobody to wait for, on a node that leads nowhere";
	return NULL;
}

u32 ang_tree_row_flaw(const struct ang_topo *topo, u32 router,
		      const struct angara_tree_row *row, const char **flaw)
{
	bool torus = topo->kind == ANG_TOPO_TORUS;

	*flaw = fields_flaw(topo, router, row);
	if (*flaw)
		return ANGARA_TREE_RULE_FIELD;
	if (turns_ok(topo, router, row))
		return 0;
	if (row->ports >> row->to_root & 1)
		*flaw = "ports: contains the port up";
	else if (torus)
		*flaw = "ports: a port down is out of the torus' order of dimensions";
	else
		*flaw = "ports: a port down is out of the fabric's order of channels";
	return torus ? ANGARA_TREE_RULE_TORUS : ANGARA_TREE_RULE_ORDER;
}

u32 ang_tree_row_check(const struct ang_topo *topo, u32 router,
		       const struct angara_tree_row *row)
{
	const char *flaw;

	return ang_tree_row_flaw(topo, router, row, &flaw);
}

static bool in_tree(const struct angara_tree_row *row)
{
	return row->is_root || row->to_root != ANGARA_PORT_NONE;
}

static u32 links_check(const struct ang_topo *topo,
		       const struct angara_tree_row *rows, u32 node)
{
	const struct angara_tree_row *row = &rows[node];
	u64 set;

	for (set = row->ports; set; set &= set - 1) {
		const struct angara_tree_row *child;
		u32 far;

		child = &rows[ang_topo_peer(topo, node,
					    (u32)__builtin_ctzll(set), &far)];
		if (!in_tree(child) || child->is_root || child->to_root != far)
			return ANGARA_TREE_RULE_LINK;
		if (child->pkey != row->pkey || child->epoch != row->epoch ||
		    child->tree != row->tree)
			return ANGARA_TREE_RULE_SHARED;
	}
	return 0;
}

/*
 * Count the nodes below @limit that are reached from the root.  Rule 2 holds, so
 * each node has one parent: the walk goes down by each port in turn, and back by
 * the port up of the current node.
 */
static u32 reached(const struct ang_topo *topo,
		   const struct angara_tree_row *rows, u32 root, u32 limit)
{
	u32 count = root < limit;
	u64 left = rows[root].ports;
	u32 at = root;

	for (;;) {
		u32 far;

		if (left) {
			at = ang_topo_peer(topo, at,
					   (u32)__builtin_ctzll(left), NULL);
			count += at < limit;
			left = rows[at].ports;
			continue;
		}
		if (at == root)
			return count;
		at = ang_topo_peer(topo, at, rows[at].to_root, &far);
		left = rows[at].ports & ~((2ULL << far) - 1);
	}
}

/* Nodes below @limit that have a row in the tree. */
static u32 members(const struct angara_tree_row *rows, u32 limit)
{
	u32 count = 0;
	u32 node;

	for (node = 0; node < limit; node++)
		count += in_tree(&rows[node]);
	return count;
}

/* Its parent does not have it as a child. */
static bool is_orphan(const struct ang_topo *topo,
		      const struct angara_tree_row *rows, u32 node)
{
	u32 far;
	u32 up;

	if (!in_tree(&rows[node]) || rows[node].is_root)
		return false;
	up = ang_topo_peer(topo, node, rows[node].to_root, &far);
	return !in_tree(&rows[up]) || !(rows[up].ports >> far & 1);
}

/*
 * If not all nodes are reached, name one that is wrong: the first node without a
 * parent.  If there is none, some rows form a ring without a root: the first node
 * that is not reached, found by counting, as there is no memory for a list.
 */
static u32 first_unreached(const struct ang_topo *topo,
			   const struct angara_tree_row *rows, u32 root)
{
	u32 low = 0, high = topo->routers - 1;
	u32 node;

	for (node = 0; node < topo->routers; node++)
		if (is_orphan(topo, rows, node))
			return node;
	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (reached(topo, rows, root, mid + 1) < members(rows, mid + 1))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

u32 ang_tree_check(const struct ang_topo *topo,
		   const struct angara_tree_row *rows, u32 *bad, u32 *count)
{
	u32 roots = 0;
	u32 root = 0;
	u32 rule = 0;
	u32 node;

	*count = 0;
	*bad = 0;
	for (node = 0; node < topo->routers; node++) {
		if (!in_tree(&rows[node]))
			continue;
		++*count;
		*bad = node;
		if (rows[node].is_root) {
			root = node;
			if (++roots > 1)
				return ANGARA_TREE_RULE_ROOT;
		}
		rule = ang_tree_row_check(topo, node, &rows[node]);
		if (rule)
			return rule;
	}
	if (roots != 1)
		return ANGARA_TREE_RULE_ROOT;
	for (node = 0; node < topo->routers && !rule; node++) {
		*bad = node;
		if (in_tree(&rows[node]))
			rule = links_check(topo, rows, node);
	}
	if (rule || reached(topo, rows, root, topo->routers) == *count)
		return rule;
	*bad = first_unreached(topo, rows, root);
	return ANGARA_TREE_RULE_REACH;
}
