/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics: the object, and its graph as adjacency lists. */
#ifndef ANG_FAB_H
#define ANG_FAB_H

#include "internal.h"

#include <angara/fabric.h>
#include <angara/plan.h>

/**
 * struct angara_fabric - a fabric
 * @topo: topology; its table is @table
 * @table: memory of the table
 * @first: index of the first arc of each router, routers + 1 entries
 * @to: per arc, the router at its end
 * @port: per arc, the port where it starts
 * @back: per arc, the arc of the same cable in the other direction
 * @failed: per router, the ports whose cables have failed; NULL: none
 * @around: with @failed, port of the route per router and destination node
 * @height: with @failed, height of each channel, see angara_fabric_row()
 */
struct angara_fabric {
	struct ang_topo topo;
	void *table;
	u32 *first;
	u32 *to;
	u32 *port;
	u32 *back;
	u64 *failed;
	u8 *around;
	u32 *height;
};

/* Has the cable of a port failed? */
static inline bool fab_failed(const struct angara_fabric *f, u32 router, u32 port)
{
	return f->failed && f->failed[router] >> port & 1;
}

/*
 * As angara_fabric_route(), with arguments within bounds.  ANGARA_PORT_NONE:
 * there is no route.
 */
static inline u32 fab_route(const struct angara_fabric *f, u32 router, u32 node)
{
	return f->around ? f->around[(size_t)router * f->topo.nodes + node] :
			   ang_topo_route(&f->topo, router, node);
}

/**
 * struct fab_deps - dependencies of channels
 *
 * Channel router * ports + port leaves @router by @port.  A packet that is in one
 * channel waits for the channel that its route takes next.
 *
 * @f: fabric
 * @edge: per channel, the ports at its end that packets in it wait for
 * @ring: per channel, is the channel on a ring of a torus without a failure?
 *	Bubble flow control keeps such a ring from deadlock, so packets on it
 *	wait only for the channels by which they leave the ring: all channels of
 *	a ring count as one
 * @stack: channels to visit
 * @seen: per channel, the last search that visited it
 * @search: number of searches
 */
struct fab_deps {
	const struct angara_fabric *f;
	u64 *edge;
	bool *ring;
	u32 *stack;
	u32 *seen;
	u32 search;
};

typedef u32 fab_route_fn(const struct angara_fabric *f, u32 router, u32 node);

/* Functions of fab_deps.c.  Return: 0; -ENOMEM. */
int fab_deps_init(struct fab_deps *d, const struct angara_fabric *f);
void fab_deps_free(struct fab_deps *d);
/* Makes each channel of a ring count as a channel of its own. */
void fab_deps_no_rings(struct fab_deps *d);
/* Adds the dependencies of all routes from the first @from routers. */
void fab_deps_routes(struct fab_deps *d, fab_route_fn *route, u32 from);
/*
 * Adds a dependency: packets in a channel wait for port @out at its end.
 * Return: false, and nothing is added, if the dependency would close a cycle.
 */
bool fab_deps_add(struct fab_deps *d, u32 channel, u32 out);
/*
 * Return: number of channels in cycles, or waiting for such channels: packets
 * there can deadlock.
 */
u32 fab_deps_circle(struct fab_deps *d);
/*
 * Sets the height of each channel, which fab_deps_circle() has computed: the
 * number of channels that follow it in the longest chain of channels, each of
 * which waits for the next.  All channels of a ring that counts as one channel
 * have the same height.
 */
void fab_deps_heights(const struct fab_deps *d, u32 *height);

/*
 * In fab_updown.c: sets @around to up*down* routes on the rest of the fabric,
 * without the failures.
 * Return: 0; -EOPNOTSUPP; -ENOMEM.
 */
int fab_updown(const struct angara_fabric *f, u8 *around);

/* Side of a cut on which a router is. */
#define FAB_FREE	0
#define FAB_SOURCE	1
#define FAB_SINK	2

/* In fab_cut.c: computes connectivity and bisection.  Return: 0; -ENOMEM. */
int fab_cuts(const struct angara_fabric *f, struct angara_fabric_metrics *m);

/* In fab_tree.c: as angara_fabric_root(), for a goal ANGARA_PLAN_*. */
int64_t fab_root(const struct angara_fabric *f, const uint16_t *pe,
		 const uint16_t *load, u32 goal);

/**
 * struct angara_plan - trees
 * @f: fabric
 * @trees: number of trees
 * @load: trees per channel, including the trees in angara_plan_attr.load
 * @rows: rows of the trees, one per router and tree
 * @roots: root of each tree
 */
struct angara_plan {
	const struct angara_fabric *f;
	u32 trees;
	uint16_t *load;
	struct angara_tree_row *rows;
	u32 *roots;
};

/* Does the graph without failures look the same from every node? */
static inline bool fab_is_even(const struct angara_fabric *f)
{
	return f->topo.kind == ANG_TOPO_TORUS || f->topo.kind == ANG_TOPO_HYPERCUBE;
}

#endif /* ANG_FAB_H */
