// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trees in dimension order, and their check.
 *
 * The path from the root to a node corrects X first, then Y, Z and W, each in
 * the shorter direction.  The path to any node on that path is a prefix of the
 * path.  So the paths to any set of nodes form a tree, and the parent of a node
 * follows from the root and the node alone.
 */
#include <errno.h>

#include "fab.h"
#include "internal.h"

#define ANG_ROW_NONE	((struct angara_tree_row){ .to_root = ANGARA_PORT_NONE })

/*
 * Direction of the last step of the path from @root to @node, which differs
 * from @root.
 */
static u32 last_step(const struct ang_topo *t, u32 root, u32 node)
{
	u16 from[ANGARA_MAX_DIMS], to[ANGARA_MAX_DIMS];
	u32 d = t->ndims - 1;

	ang_topo_coord(t, root, from);
	ang_topo_coord(t, node, to);
	while (from[d] == to[d])
		d--;
	/* The last part of the path is along dimension @d: find where it begins. */
	to[d] = from[d];
	return ang_topo_route(t, ang_topo_node(t, to), node);
}

/*
 * Adds the path from @root to @node.  Return: number of nodes that this adds to
 * the tree.
 */
static u32 add_way(const struct ang_topo *t, u32 root, u32 node,
		   struct angara_tree_row *rows)
{
	u32 added = 0;

	while (!angara_tree_has(&rows[node])) {
		u32 dir = last_step(t, root, node);
		u32 parent = ang_topo_neighbor(t, node, dir ^ 1);

		rows[node].to_root = (u8)(dir ^ 1);
		rows[parent].ports |= 1ULL << dir;
		rows[parent].port_sum++;
		added++;
		node = parent;
	}
	return added;
}

ANG_PUBLIC int angara_tree_build(const struct angara_topo *topo, uint32_t root,
				 const uint16_t *pe, unsigned int tree,
				 struct angara_tree_row *rows)
{
	struct ang_topo t;
	u32 nodes = ang_topo_from(&t, topo);
	u32 in_tree = 1;
	bool any = false;
	u32 i;

	if (root >= nodes || tree >= ANGARA_MAX_TREES)
		return -EINVAL;
	for (i = 0; i < nodes; i++) {
		if (pe[i] > ANGARA_MAX_LOCAL)
			return -EINVAL;
		any |= pe[i] > 0;
		rows[i] = ANG_ROW_NONE;
		rows[i].tree = (u8)tree;
		rows[i].pe = pe[i];
	}
	if (!any)
		return -EINVAL;
	rows[root].is_root = 1;
	for (i = 0; i < nodes; i++)
		if (pe[i])
			in_tree += add_way(&t, root, i, rows);
	return (int)in_tree;
}

ANG_PUBLIC int angara_tree_has(const struct angara_tree_row *row)
{
	return row->is_root || row->to_root != ANGARA_PORT_NONE;
}

ANG_PUBLIC int angara_tree_check(const struct angara_topo *topo,
				 const struct angara_tree_row *rows,
				 uint32_t *node)
{
	struct ang_topo t;
	u32 bad, count;
	u32 rule;

	if (!ang_topo_from(&t, topo))
		return ANGARA_TREE_RULE_FIELD;
	rule = ang_tree_check(&t, rows, &bad, &count);
	if (node)
		*node = bad;
	return (int)rule;
}

ANG_PUBLIC int angara_fabric_tree_check(const struct angara_fabric *fabric,
					const struct angara_tree_row *rows,
					uint32_t *router)
{
	u32 bad, count;
	u32 rule = ang_tree_check(&fabric->topo, rows, &bad, &count);

	if (router)
		*router = bad;
	return (int)rule;
}

ANG_PUBLIC const char *angara_tree_rule_str(unsigned int rule)
{
	static const char * const texts[] = {
		[ANGARA_TREE_VALID] = "the tree is valid",
		[ANGARA_TREE_RULE_ROOT] = "there is not exactly one root",
		[ANGARA_TREE_RULE_LINK] =
			"the neighbour at a port down does not point back up",
		[ANGARA_TREE_RULE_TORUS] =
			"a port down breaks the torus' order of dimensions",
		[ANGARA_TREE_RULE_FIELD] =
			"a field is out of range, or two fields disagree",
		[ANGARA_TREE_RULE_SHARED] =
			"partition or epoch differs among rows",
		[ANGARA_TREE_RULE_REACH] = "a row cannot be reached from the root",
		[ANGARA_TREE_RULE_ORDER] =
			"a port down breaks the fabric's order of channels",
	};

	return rule < sizeof(texts) / sizeof(*texts) ? texts[rule] :
						       "unknown rule";
}
