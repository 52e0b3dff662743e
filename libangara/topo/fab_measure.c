// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Metrics of a graph, by breadth-first searches from many routers at once: a
 * word has a bit per search, so one pass over the cables advances all searches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"

#define WORDS		4U
#define SEARCHES	(64 * WORDS)

struct bits {
	u64 w[WORDS];
};

/**
 * struct wave - a group of searches
 * @f: fabric
 * @seen: per router, searches that have reached it
 * @now: per router, searches that reached it in the last step
 * @next: per router, searches that reach it in this step
 * @far: cables to the farthest node, per search
 * @reached: searches that have reached every node
 * @sum: sum of the distances from all starts to all nodes
 */
struct wave {
	const struct angara_fabric *f;
	struct bits *seen;
	struct bits *now;
	struct bits *next;
	u16 far[SEARCHES];
	struct bits reached;
	u64 sum;
};

static int wave_init(struct wave *w, const struct angara_fabric *f)
{
	w->f = f;
	w->sum = 0;
	w->seen = calloc(3 * (size_t)f->topo.routers, sizeof(struct bits));
	w->now = w->seen + f->topo.routers;
	w->next = w->now + f->topo.routers;
	return w->seen ? 0 : -ENOMEM;
}

static void wave_clear(struct wave *w)
{
	memset(w->seen, 0, 3 * (size_t)w->f->topo.routers * sizeof(struct bits));
	memset(w->far, 0, sizeof(w->far));
}

static void wave_start(struct wave *w, u32 search, u32 router)
{
	u64 bit = 1ULL << (search % 64);

	w->seen[router].w[search / 64] |= bit;
	w->now[router].w[search / 64] |= bit;
}

/*
 * Advances all searches by a step. Return: true if a new router was reached.
 */
static bool wave_step(struct wave *w, u32 step)
{
	const struct angara_fabric *f = w->f;
	struct bits any = { { 0 } };
	u64 moved = 0;
	struct bits *swap;
	u32 r, arc, k;

	for (r = 0; r < f->topo.routers; r++) {
		struct bits got = { { 0 } };

		for (arc = f->first[r]; arc < f->first[r + 1]; arc++)
			for (k = 0; k < WORDS; k++)
				got.w[k] |= w->now[f->to[arc]].w[k];
		for (k = 0; k < WORDS; k++) {
			got.w[k] &= ~w->seen[r].w[k];
			w->seen[r].w[k] |= got.w[k];
			moved |= got.w[k];
		}
		w->next[r] = got;
		if (r >= f->topo.nodes)
			continue;
		for (k = 0; k < WORDS; k++) {
			any.w[k] |= got.w[k];
			w->sum += (u64)__builtin_popcountll(got.w[k]) * step;
		}
	}
	for (k = 0; k < SEARCHES; k++)
		if (any.w[k / 64] >> (k % 64) & 1)
			w->far[k] = (u16)step;
	swap = w->now;
	w->now = w->next;
	w->next = swap;
	return moved != 0;
}

static void wave_run(struct wave *w, u32 limit)
{
	u32 step, r, k;

	for (step = 1; step <= limit && wave_step(w, step); step++)
		;
	memset(&w->reached, 0xFF, sizeof(w->reached));
	for (r = 0; r < w->f->topo.nodes; r++)
		for (k = 0; k < WORDS; k++)
			w->reached.w[k] &= w->seen[r].w[k];
}

/*
 * Computes @far: the distance from every router to the farthest node.  The
 * maximum over nodes is the diameter.
 */
static void measure_far(struct wave *w, u16 *far, struct angara_fabric_metrics *m)
{
	const struct ang_topo *t = &w->f->topo;
	u32 all = fab_is_even(w->f) ? 1 : t->routers;
	u64 sum = 0;
	u32 base, end, i;

	for (base = 0; base < all; base = end) {
		end = base + SEARCHES < all ? base + SEARCHES : all;
		/*
		 * Searches from switches are in separate groups, since their
		 * distances are not counted in the average.
		 */
		if (base < t->nodes && end > t->nodes)
			end = t->nodes;
		wave_clear(w);
		w->sum = 0;
		for (i = base; i < end; i++)
			wave_start(w, i - base, i);
		wave_run(w, ANG_NONE);
		for (i = base; i < end; i++) {
			far[i] = w->far[i - base];
			if (i < t->nodes && far[i] > m->diameter)
				m->diameter = far[i];
		}
		if (base < t->nodes)
			sum += w->sum;
	}
	if (fab_is_even(w->f)) {
		for (i = 1; i < t->routers; i++)
			far[i] = far[0];
		sum *= t->nodes;
	}
	if (t->nodes > 1)
		m->distance = (double)sum / t->nodes / (t->nodes - 1);
}

/*
 * Return: the diameter of the spanning tree of least diameter.  Its centre is a
 * router or a cable.  The diameter is twice the distance from the centre to the
 * farthest node, plus one if the centre is a cable.
 */
static u32 measure_tree(struct wave *w, const u16 *far)
{
	const struct angara_fabric *f = w->f;
	u32 routers = fab_is_even(f) ? 1 : f->topo.routers;
	u32 least = far[0];
	u32 r, arc, n = 0;

	for (r = 1; r < f->topo.routers; r++)
		if (far[r] < least)
			least = far[r];
	wave_clear(w);
	for (r = 0; r < routers && least; r++)
		for (arc = f->first[r]; arc < f->first[r + 1]; arc++) {
			if (far[r] != least || far[f->to[arc]] != least ||
			    (routers > 1 && f->to[arc] < r))
				continue;
			wave_start(w, n, r);
			wave_start(w, n++, f->to[arc]);
			if (n < SEARCHES)
				continue;
			wave_run(w, least - 1);
			for (n = 0; n < WORDS; n++)
				if (w->reached.w[n])
					return 2 * least - 1;
			wave_clear(w);
			n = 0;
		}
	wave_run(w, least ? least - 1 : 0);
	for (r = 0; r < n; r++)
		if (w->reached.w[r / 64] >> (r % 64) & 1)
			return 2 * least - 1;
	return 2 * least;
}

static u64 measure_ports(const struct ang_topo *t, u64 joined)
{
	u64 switches = t->routers - t->nodes;

	switch (t->kind) {
	case ANG_TOPO_MKNS:
	case ANG_TOPO_KNS:
		return (u64)t->adapter_ports * t->nodes + t->switch_ports * switches;
	case ANG_TOPO_FATTREE:
		return t->nodes + t->switch_ports * switches;
	case ANG_TOPO_GRAPH:
		return joined;
	default:
		return (u64)t->nports * t->nodes;
	}
}

ANG_PUBLIC int angara_fabric_measure(const struct angara_fabric *fabric,
				     struct angara_fabric_metrics *metrics)
{
	const struct ang_topo *t = &fabric->topo;
	struct wave w;
	u16 *far;
	int ret;

	if (metrics->size != sizeof(*metrics))
		return -EINVAL;
	*metrics = (struct angara_fabric_metrics){ .size = sizeof(*metrics) };
	far = calloc(t->routers, sizeof(*far));
	ret = wave_init(&w, fabric);
	if (!far || ret) {
		free(far);
		free(w.seen);
		return -ENOMEM;
	}
	metrics->joined = fabric->first[t->routers];
	metrics->cables = (u32)(metrics->joined / 2);
	metrics->switches = t->routers - t->nodes;
	metrics->ports = measure_ports(t, metrics->joined);
	measure_far(&w, far, metrics);
	metrics->tree_diameter = measure_tree(&w, far);
	free(w.seen);
	free(far);
	return fab_cuts(fabric, metrics);
}
