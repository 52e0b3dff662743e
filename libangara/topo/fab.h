/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics: the object, and its graph as adjacency lists. */
#ifndef ANG_FAB_H
#define ANG_FAB_H

#include "internal.h"

#include <angara/fabric.h>
#include <angara/plan.h>

/**
 * struct angara_fabric - a fabric
 * @topo: topology, with a table
 * @table: the table
 * @first: index of the first arc of each router, routers + 1 entries
 * @to: per arc, the router at its end
 * @port: per arc, the port where it starts
 * @back: per arc, the arc of the same cable in the other direction
 */
struct angara_fabric {
	struct ang_topo topo;
	void *table;
	u32 *first;
	u32 *to;
	u32 *port;
	u32 *back;
};

/* Sides of a cut. */
#define FAB_FREE	0
#define FAB_SOURCE	1
#define FAB_SINK	2

/* fab_cut.c: connectivity, bisection.  Return: 0, -ENOMEM. */
int fab_cuts(const struct angara_fabric *f, struct angara_fabric_metrics *m);

/* fab_tree.c: angara_fabric_root() for a goal, ANGARA_PLAN_*. */
int64_t fab_root(const struct angara_fabric *f, const uint16_t *pe,
		 const uint16_t *load, u32 goal);

/**
 * struct angara_plan - trees
 * @f: fabric
 * @trees: number of trees
 * @load: trees per channel, with the caller's
 * @rows: [@trees][routers]
 * @roots: their roots
 */
struct angara_plan {
	const struct angara_fabric *f;
	u32 trees;
	uint16_t *load;
	struct angara_tree_row *rows;
	u32 *roots;
};

/* Is the graph the same seen from every node? */
static inline bool fab_is_even(const struct angara_fabric *f)
{
	return f->topo.kind == ANG_TOPO_TORUS || f->topo.kind == ANG_TOPO_HYPERCUBE;
}

#endif /* ANG_FAB_H */
