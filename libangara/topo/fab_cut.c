// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Minimum cuts of a graph: maximum flow with one unit per cable, by shortest
 * augmenting paths.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"

#define CUT_ALL		256U	/* up to this number of nodes, node 0 is cut from each other one */
#define CUT_SOME	32U
#define CUT_HALVES	16U	/* with up to this number of nodes, all halves are tried */

/**
 * struct flow - state of a max-flow search
 * @f: fabric
 * @used: per arc, 1: it carries flow
 * @by: per router, the arc by which it was reached, plus 1
 * @queue: routers
 */
struct flow {
	const struct angara_fabric *f;
	u8 *used;
	u32 *by;
	u32 *queue;
};

static int flow_init(struct flow *w, const struct angara_fabric *f)
{
	w->f = f;
	w->used = malloc(f->first[f->topo.routers] + 1);
	w->by = malloc(f->topo.routers * sizeof(u32));
	w->queue = malloc(f->topo.routers * sizeof(u32));
	return w->used && w->by && w->queue ? 0 : -ENOMEM;
}

static void flow_end(struct flow *w)
{
	free(w->used);
	free(w->by);
	free(w->queue);
}

/* Adds an augmenting path.  Return: true if there was one. */
static bool flow_add(struct flow *w, const u8 *side)
{
	const struct angara_fabric *f = w->f;
	u32 head, tail = 0;
	u32 i, arc;

	memset(w->by, 0, f->topo.routers * sizeof(u32));
	for (i = 0; i < f->topo.routers; i++)
		if (side[i] == FAB_SOURCE) {
			w->by[i] = ANG_NONE;
			w->queue[tail++] = i;
		}
	for (head = 0; head < tail; head++) {
		u32 at = w->queue[head];

		for (arc = f->first[at]; arc < f->first[at + 1]; arc++) {
			u32 to = f->to[arc];

			if (w->by[to] || w->used[arc])
				continue;
			w->by[to] = arc + 1;
			w->queue[tail++] = to;
			if (side[to] != FAB_SINK)
				continue;
			while (w->by[to] != ANG_NONE) {
				arc = w->by[to] - 1;
				/* Flow in both directions cancels. */
				if (w->used[f->back[arc]])
					w->used[f->back[arc]] = 0;
				else
					w->used[arc] = 1;
				to = f->to[f->back[arc]];
			}
			return true;
		}
	}
	return false;
}

static u32 flow_run(struct flow *w, const u8 *side, u32 limit)
{
	u32 units = 0;

	memset(w->used, 0, w->f->first[w->f->topo.routers]);
	while (units < limit && flow_add(w, side))
		units++;
	return units;
}

ANG_PUBLIC int64_t angara_fabric_flow(const struct angara_fabric *fabric, uint32_t a,
				      uint32_t b)
{
	u32 routers = fabric->topo.routers;
	struct flow w;
	s64 units = -ENOMEM;
	u8 *side;

	if (a >= routers || b >= routers || a == b)
		return -EINVAL;
	side = calloc(routers, 1);
	if (!flow_init(&w, fabric) && side) {
		side[a] = FAB_SOURCE;
		side[b] = FAB_SINK;
		units = flow_run(&w, side, ANG_NONE);
	}
	flow_end(&w);
	free(side);
	return units;
}

static u32 cut_degree(const struct angara_fabric *f)
{
	u32 least = ANG_NONE;
	u32 i;

	for (i = 0; i < f->topo.nodes; i++)
		if (f->first[i + 1] - f->first[i] < least)
			least = f->first[i + 1] - f->first[i];
	return least;
}

/*
 * Computes the connectivity.  Every cut separates node 0 from some node, so it
 * is enough to cut node 0 from each other node.
 */
static void cut_nodes(struct flow *w, u8 *side, struct angara_fabric_metrics *m)
{
	u32 nodes = w->f->topo.nodes;
	u32 step = nodes <= CUT_ALL ? 1 : nodes / CUT_SOME;
	u32 least = cut_degree(w->f);
	u32 i;

	/*
	 * In a connected graph in which all nodes are equivalent, the
	 * connectivity is their degree.
	 */
	if (!fab_is_even(w->f)) {
		memset(side, FAB_FREE, w->f->topo.routers);
		side[0] = FAB_SOURCE;
		for (i = 1; i < nodes; i += step) {
			u32 units;

			side[i] = FAB_SINK;
			units = flow_run(w, side, least);
			side[i] = FAB_FREE;
			if (units < least)
				least = units;
			m->pairs += step > 1;
		}
	}
	m->connectivity = nodes > 1 ? least : 0;
}

/*
 * Number of cables between the nodes in @set and the others; the fabric has no
 * switches.
 */
static u32 cut_count(const struct angara_fabric *f, u32 set, u32 limit)
{
	u32 cut = 0;
	u32 i, arc;

	for (i = 0; i < f->topo.nodes && cut < limit; i++)
		for (arc = f->first[i]; set >> i & 1 && arc < f->first[i + 1]; arc++)
			cut += !(set >> f->to[arc] & 1);
	return cut;
}

/* Computes the bisection: tries every half of the nodes that contains node 0. */
static void cut_halves(struct flow *w, u8 *side, struct angara_fabric_metrics *m)
{
	u32 nodes = w->f->topo.nodes;
	u32 best = ANG_NONE;
	u32 set, i;

	if (nodes < 2 || nodes > CUT_HALVES)
		return;
	for (set = 1; set < 1U << nodes; set += 2) {
		u32 units;

		if ((u32)__builtin_popcount(set) != (nodes + 1) / 2)
			continue;
		memset(side, FAB_FREE, w->f->topo.routers);
		for (i = 0; i < nodes; i++)
			side[i] = set >> i & 1 ? FAB_SOURCE : FAB_SINK;
		units = w->f->topo.routers == nodes ? cut_count(w->f, set, best) :
						      flow_run(w, side, best);
		if (units < best)
			best = units;
	}
	m->bisection = best;
}

int fab_cuts(const struct angara_fabric *f, struct angara_fabric_metrics *m)
{
	u8 *side = calloc(f->topo.routers, 1);
	struct flow w;
	int ret = flow_init(&w, f);

	if (!side)
		ret = -ENOMEM;
	if (!ret) {
		cut_nodes(&w, side, m);
		cut_halves(&w, side, m);
	}
	flow_end(&w);
	free(side);
	return ret;
}
