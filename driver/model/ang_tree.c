// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rules of collective trees (document 000, section 2).
 *
 * The port up of a row leads to the parent, its ports down lead to children.
 *
 * 1. There is exactly one root.
 * 2. The router at the other end of each port down is in the tree, and the port
 * at that end is its port up.
 * 3. Every row can be reached from the root.
 * 4. A packet may turn from the port up to each port down (ang_topo_turn()).
 * On a torus, a port down is of a later dimension than the port up, or
 * continues on the same ring; on other topologies, the channel of a port down
 * has a higher class than the channel from the parent.
 *
 * Packets that go up use other channels, in the reverse order.
 */
#include "ang_model.h"

void ang_tree_row_in(struct angara_tree_row *row, const struct angara_hw_row *hw)
{
	*row = (struct angara_tree_row){
		.tree = hw->tree,
		.is_root = hw->is_root,
		.to_root = hw->to_root,
		.port_sum = hw->port_sum,
		.ports = le64_to_cpu(hw->ports),
		.pe = le16_to_cpu(hw->pe),
		.pkey = le32_to_cpu(hw->pkey),
		.epoch = le16_to_cpu(hw->epoch),
	};
}

static bool port_exists(const struct ang_topo *topo, u32 router, u32 port)
{
	return ang_topo_peer(topo, router, port, NULL) != ANG_NONE;
}

/* May packets from the port up leave by all ports down of a row? */
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
		return "is_root: must be 0 or 1";
	if (row->reserved)
		return "reserved: must be 0";
	if (row->pe > ANGARA_MAX_LOCAL)
		return "pe: too many local participants";
	if (row->is_root && row->to_root != ANGARA_PORT_NONE)
		return "to_root: must be NONE at the root";
	if (!row->is_root && row->to_root == ANGARA_PORT_NONE)
		return "to_root: required unless the node is the root";
	if (!row->is_root && !port_exists(topo, router, row->to_root))
		return "to_root: there is no such port";
	for (set = row->ports; set; set &= set - 1) {
		if (!port_exists(topo, router, (u32)__builtin_ctzll(set)))
			return "ports: there is no such port";
		count++;
	}
	if (count != row->port_sum)
		return "port_sum: differs from the number of ports";
	if (count + row->pe > ANG_MAX_PLACES)
		return "pe: more participants and ports down than a Reducer can combine";
	if (row->pe && ang_topo_is_switch(topo, router))
		return "pe: must be 0 on a switch";
	if (!count && !row->pe)
		return "pe: a node without ports down needs a participant";
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
		*flaw = "ports: a port down breaks the torus' order of dimensions";
	else
		*flaw = "ports: a port down breaks the fabric's order of channels";
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
 * Count the routers with numbers below @limit that can be reached from the
 * root. Rule 2 holds, so each router has one parent: the walk goes down by each
 * port in turn, and back by the port up of the current router.
 */
static u32 rows_reached(const struct ang_topo *topo,
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

/* Return: routers with numbers below @limit that have a row in the tree. */
static u32 rows_members(const struct angara_tree_row *rows, u32 limit)
{
	u32 count = 0;
	u32 node;

	for (node = 0; node < limit; node++)
		count += in_tree(&rows[node]);
	return count;
}

/* Is a router in the tree without being a child of its parent? */
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
 * Find a router to report if not all routers are reached: the first router that
 * is not a child of its parent.  If there is none, some rows form a cycle
 * without a root: then report the first router that is not reached, found by
 * comparing counts, since there is no memory for a list.
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

		if (rows_reached(topo, rows, root, mid + 1) < rows_members(rows, mid + 1))
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
	if (rule || rows_reached(topo, rows, root, topo->routers) == *count)
		return rule;
	*bad = first_unreached(topo, rows, root);
	return ANGARA_TREE_RULE_REACH;
}
