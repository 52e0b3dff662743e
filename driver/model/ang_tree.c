// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rules of collective trees (document 000, section 2).
 *
 * 1. There is exactly one root.
 * 2. Where a node has a direction down, the neighbour there is in the tree and
 *    its direction up is the opposite one.
 * 3. Directions down are along dimensions behind that of the direction up, or
 *    straight on.
 * A valid tree has one more property, which 1 and 2 leave open: every row is
 * reached from the root.
 */
#include "ang_model.h"

static bool dir_exists(const struct ang_topo *topo, u32 dir)
{
	return dir < 2 * topo->ndims && topo->dims[dir / 2] > 1;
}

/* Directions down that rule 3 allows. */
static u32 dirs_allowed(const struct ang_topo *topo,
			const struct angara_tree_row *row)
{
	u32 all = (1U << (2 * topo->ndims)) - 1;
	u32 dim;

	if (row->is_root)
		return all;
	dim = row->to_root / 2U;
	return (all & ~((1U << (2 * dim + 2)) - 1)) | 1U << (row->to_root ^ 1);
}

/* What is wrong with the fields of a row, or NULL. */
static const char *fields_flaw(const struct ang_topo *topo,
			       const struct angara_tree_row *row)
{
	u32 count = 0;
	u32 dir;

	if (row->tree >= ANGARA_MAX_TREES)
		return "tree: out of range";
	if (row->is_root > 1)
		return "is_root: neither 0 nor 1";
	if (row->reserved)
		return "reserved: is not 0";
	if (row->pe > ANGARA_MAX_LOCAL)
		return "pe: too many local participants";
	if (row->is_root && row->to_root != ANGARA_DIR_NONE)
		return "to_root: the root has no direction up";
	if (!row->is_root && row->to_root == ANGARA_DIR_NONE)
		return "to_root: is needed where the node is not the root";
	if (!row->is_root && !dir_exists(topo, row->to_root))
		return "to_root: direction out of range";
	for (dir = 0; dir < 8 * sizeof(row->dirs); dir++) {
		if (!(row->dirs & 1U << dir))
			continue;
		if (!dir_exists(topo, dir))
			return "dirs: direction out of range";
		count++;
	}
	if (count != row->dir_sum)
		return "dir_sum: is not how many dirs there are";
	if (!count && !row->pe)
		return "pe: nobody to wait for, on a node that leads nowhere";
	return NULL;
}

u32 ang_tree_row_flaw(const struct ang_topo *topo,
		      const struct angara_tree_row *row, const char **flaw)
{
	*flaw = fields_flaw(topo, row);
	if (*flaw)
		return ANGARA_TREE_RULE_FIELD;
	if (!(row->dirs & ~dirs_allowed(topo, row)))
		return 0;
	*flaw = "dirs: a direction down is out of dimension order";
	if (!row->is_root && row->dirs & 1U << row->to_root)
		*flaw = "dirs: contains the direction up";
	return ANGARA_TREE_RULE_ORDER;
}

u32 ang_tree_row_check(const struct ang_topo *topo,
		       const struct angara_tree_row *row)
{
	const char *flaw;

	return ang_tree_row_flaw(topo, row, &flaw);
}

static bool in_tree(const struct angara_tree_row *row)
{
	return row->is_root || row->to_root != ANGARA_DIR_NONE;
}

static u32 links_check(const struct ang_topo *topo,
		       const struct angara_tree_row *rows, u32 node)
{
	const struct angara_tree_row *row = &rows[node];
	u32 dir;

	for (dir = 0; dir < ANGARA_MAX_DIRS; dir++) {
		const struct angara_tree_row *child;

		if (!(row->dirs & 1U << dir))
			continue;
		child = &rows[ang_topo_neighbor(topo, node, dir)];
		if (!in_tree(child) || child->is_root ||
		    child->to_root != (dir ^ 1))
			return ANGARA_TREE_RULE_LINK;
		if (child->pkey != row->pkey || child->epoch != row->epoch ||
		    child->tree != row->tree)
			return ANGARA_TREE_RULE_SHARED;
	}
	return 0;
}

/*
 * Rule 2 holds everywhere, so a node is reached if its parent has it as a
 * child, and so on up, and there is no cycle.  By rule 3 the dimension of the
 * direction up never falls along a way down, and within one dimension the way
 * goes straight on; so a cycle is a closed ring of straight steps, and has one
 * node with coordinate 0 there.  Only such nodes look for it: all of them
 * together make no more steps than there are nodes, per dimension.
 */
static u32 reach_check(const struct ang_topo *topo,
		       const struct angara_tree_row *rows, u32 node)
{
	u32 up = rows[node].to_root;
	u16 coord[ANGARA_MAX_DIMS];
	u32 at;

	if (rows[node].is_root)
		return 0;
	at = ang_topo_neighbor(topo, node, up);
	if (!in_tree(&rows[at]) || !(rows[at].dirs & 1U << (up ^ 1)))
		return ANGARA_TREE_RULE_REACH;
	ang_topo_coord(topo, node, coord);
	if (coord[up / 2])
		return 0;
	while (at != node && rows[at].to_root == up)
		at = ang_topo_neighbor(topo, at, up);
	return at == node ? ANGARA_TREE_RULE_REACH : 0;
}

u32 ang_tree_check(const struct ang_topo *topo,
		   const struct angara_tree_row *rows, u32 *bad, u32 *count)
{
	u32 roots = 0;
	u32 rule = 0;
	u32 node;

	*count = 0;
	*bad = 0;
	for (node = 0; node < topo->nodes; node++) {
		if (!in_tree(&rows[node]))
			continue;
		++*count;
		*bad = node;
		if (rows[node].is_root && ++roots > 1)
			return ANGARA_TREE_RULE_ROOT;
		rule = ang_tree_row_check(topo, &rows[node]);
		if (rule)
			return rule;
	}
	if (roots != 1)
		return ANGARA_TREE_RULE_ROOT;
	for (node = 0; node < topo->nodes && !rule; node++) {
		*bad = node;
		if (in_tree(&rows[node]))
			rule = links_check(topo, rows, node);
	}
	for (node = 0; node < topo->nodes && !rule; node++) {
		*bad = node;
		if (in_tree(&rows[node]))
			rule = reach_check(topo, rows, node);
	}
	return rule;
}
