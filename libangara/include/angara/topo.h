/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: the torus, and trees on it.
 *
 * In node numbers the X coordinate changes fastest; port 2*d is "+" and 2*d+1
 * is "-" of dimension d.  Trees are built in the order of dimensions X, Y, Z, W
 * from the root (document 000, section 2).
 */
#ifndef ANGARA_TOPO_H
#define ANGARA_TOPO_H

#include <angara/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Rules that a tree can break (document 000, section 2); rules 1 to 3 compare
 * rows of several nodes.
 */
#define ANGARA_TREE_VALID		0
#define ANGARA_TREE_RULE_ROOT		1 /* not exactly one root */
#define ANGARA_TREE_RULE_LINK		2 /* a child does not point back up */
#define ANGARA_TREE_RULE_TORUS		3 /* torus: against dimension order */
#define ANGARA_TREE_RULE_FIELD		4 /* a field is wrong, or two fields disagree */
#define ANGARA_TREE_RULE_SHARED		5 /* partition or epoch differs among rows */
#define ANGARA_TREE_RULE_REACH		6 /* the root does not reach a row */
#define ANGARA_TREE_RULE_ORDER		7 /* other fabrics: against channel order */

#define ANGARA_MAX_DIRS	(2 * ANGARA_MAX_DIMS)	/* ports of a node of a torus */

/*
 * Defined in linux/angara.h.  Programs that build trees include that header,
 * since the driver takes the same rows.
 */
struct angara_domain;
struct angara_tree_row;

struct angara_topo {
	uint32_t ndims;
	uint16_t dims[ANGARA_MAX_DIMS];
};

/**
 * angara_topo_parse() - parse sizes such as "4x4x2"
 * @text: sizes joined by "x", 1..4 of them, each 1..65535
 * @topo: out
 *
 * Return: 0; -EINVAL not of this form, or a size is 0; -E2BIG too many
 * dimensions or nodes.
 */
int angara_topo_parse(const char *text, struct angara_topo *topo);
/**
 * angara_topo_read() - parse the description of a fabric
 * @text: contents of file "fabric" of a device in sysfs; only the first line
 *	counts
 * @topo: out
 *
 * Return: 0; -EOPNOTSUPP it is not a torus; -EINVAL, -E2BIG as
 * angara_topo_parse().
 */
int angara_topo_read(const char *text, struct angara_topo *topo);
/**
 * angara_domain_topo() - get the torus of a domain's fabric
 * @dom: domain
 * @topo: out
 *
 * Return: as angara_topo_read(); -errno the description cannot be read.
 */
int angara_domain_topo(struct angara_domain *dom, struct angara_topo *topo);
uint32_t angara_topo_nodes(const struct angara_topo *topo);
void angara_topo_coord(const struct angara_topo *topo, uint32_t node,
		       uint16_t coord[ANGARA_MAX_DIMS]);
uint32_t angara_topo_node(const struct angara_topo *topo,
			  const uint16_t coord[ANGARA_MAX_DIMS]);
/** Node at the end of the link in @dir; UINT32_MAX: none (a ring of one). */
uint32_t angara_topo_neighbor(const struct angara_topo *topo, uint32_t node,
			      unsigned int dir);
/** Number of links on the shortest path. */
uint32_t angara_topo_distance(const struct angara_topo *topo, uint32_t a,
			      uint32_t b);
/** Name of a direction: "X+", "X-", "Y+", ... */
const char *angara_dir_name(unsigned int dir);

/**
 * angara_tree_build() - build a tree from @root over some nodes
 * @topo: torus
 * @root: node number
 * @pe: number of local participants of every node; a node with 0 is in the tree
 *	only if it connects other nodes
 * @tree: TreeId for the rows
 * @rows: out: array, one row per node of the torus; for a node outside of the
 *	tree to_root is ANGARA_PORT_NONE, is_root 0
 *
 * The root is in the tree even if it has no participants.
 * Return: nodes in the tree; -EINVAL @root, @tree or a count out of range, or
 * no node takes part.
 */
int angara_tree_build(const struct angara_topo *topo, uint32_t root,
		      const uint16_t *pe, unsigned int tree,
		      struct angara_tree_row *rows);
/** Return: 1 if @row belongs to a node in the tree, else 0. */
int angara_tree_has(const struct angara_tree_row *row);

/**
 * angara_tree_check() - check that rows are a valid tree
 * @topo: torus
 * @rows: one per node of the torus, as from angara_tree_build()
 * @node: out: a node that breaks the rule; may be NULL
 *
 * Return: 0 or ANGARA_TREE_RULE_*.  The driver checks with the same function.
 */
int angara_tree_check(const struct angara_topo *topo,
		      const struct angara_tree_row *rows, uint32_t *node);
const char *angara_tree_rule_str(unsigned int rule);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_TOPO_H */
