// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trees on any fabric.
 *
 * A breadth-first search from the root gives each router one parent.  A packet
 * must be able to continue from a router to all of its children, so the turns
 * allowed there depend on the cable to the parent.  The search takes allowed
 * turns only, and without failures it still reaches all routers.  Where channel
 * classes order dimensions or levels, the shortest path to a router has the
 * lowest class of all paths to it.  With up*down* routing the router of rank 0
 * is reachable by up channels alone.  Proof: let r be the router of lowest rank
 * that is reached by up channels alone, and suppose that its rank is not 0.  It
 * has a neighbour of lower rank, reached by a path that ends with a down
 * channel.  That path turned down at a router of still lower rank, reached by
 * up channels alone: a contradiction.  From rank 0, down channels lead to all
 * routers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"

#define ROW_NONE	((struct angara_tree_row){ .to_root = ANGARA_PORT_NONE })
#define ROOTS_ALL	1024	/* with up to this number of nodes, all roots are tried */
#define ROOTS_SOME	64

/**
 * struct tree_work - state of a search
 * @f: fabric
 * @load: trees per channel, or NULL
 * @dist: cables from the root, ANG_NONE: not reached yet
 * @in: arc to the router from its parent
 * @queue: routers by distance
 * @tail: length of @queue
 * @below: with @load, number of children of each router in the existing trees
 * @children: with @load, number of children in the tree that is compared
 */
struct tree_work {
	const struct angara_fabric *f;
	const uint16_t *load;
	u32 *dist;
	u32 *in;
	u32 *queue;
	u32 tail;
	u32 *below;
	u32 *children;
};

static u16 tree_load(const struct tree_work *w, u32 router, u32 arc)
{
	return w->load ? w->load[router * w->f->topo.nports + w->f->port[arc]] : 0;
}

static bool tree_allows(const struct tree_work *w, u32 at, u32 arc)
{
	const struct angara_fabric *f = w->f;
	u32 in = w->in[at] == ANG_NONE ? ANGARA_PORT_NONE : f->port[w->in[at]];

	return in != f->port[arc] && !fab_failed(f, at, f->port[arc]) &&
	       ang_topo_turn(&f->topo, at, in, f->port[arc]);
}

static void tree_reach(struct tree_work *w, u32 at, u32 arc)
{
	const struct angara_fabric *f = w->f;
	u32 to = f->to[arc];
	u32 old;

	if (w->dist[to] == ANG_NONE) {
		w->dist[to] = w->dist[at] + 1;
		w->in[to] = f->back[arc];
		w->queue[w->tail++] = to;
		return;
	}
	/*
	 * Of equally short paths, prefer one with a lower load if its class
	 * allows the same turns.
	 */
	if (w->dist[to] != w->dist[at] + 1)
		return;
	old = f->back[w->in[to]];
	if (tree_load(w, at, arc) < tree_load(w, f->to[w->in[to]], old) &&
	    ang_topo_class(&f->topo, at, f->port[arc]) <=
	    ang_topo_class(&f->topo, f->to[w->in[to]], f->port[old]))
		w->in[to] = f->back[arc];
}

static void tree_search(struct tree_work *w)
{
	u32 head, arc;

	for (head = 0; head < w->tail; head++) {
		u32 at = w->queue[head];

		for (arc = w->f->first[at]; arc < w->f->first[at + 1]; arc++)
			if (tree_allows(w, at, arc))
				tree_reach(w, at, arc);
	}
}

static void tree_grow(struct tree_work *w, u32 root)
{
	u32 i;

	for (i = 0; i < w->f->topo.routers; i++)
		w->dist[i] = w->in[i] = ANG_NONE;
	w->dist[root] = 0;
	w->queue[0] = root;
	w->tail = 1;
	tree_search(w);
}

static int tree_init(struct tree_work *w, const struct angara_fabric *f,
		     const uint16_t *load)
{
	u32 routers = f->topo.routers;
	u32 i;

	w->f = f;
	w->load = load;
	w->dist = calloc(5 * (size_t)routers, sizeof(u32));
	if (!w->dist)
		return -ENOMEM;
	w->in = w->dist + routers;
	w->queue = w->in + routers;
	w->below = w->queue + routers;
	w->children = w->below + routers;
	for (i = 0; load && i < routers * f->topo.nports; i++)
		w->below[i / f->topo.nports] += load[i];
	return 0;
}

static bool tree_takes_part(const struct angara_fabric *f, const uint16_t *pe)
{
	bool any = false;
	u32 i;

	for (i = 0; i < f->topo.nodes; i++) {
		if (pe[i] > ANGARA_MAX_LOCAL)
			return false;
		any |= pe[i] > 0;
	}
	return any;
}

/* Does the tree that the search found reach all participants? */
static bool tree_reaches(const struct tree_work *w, const uint16_t *pe)
{
	u32 i;

	for (i = 0; i < w->f->topo.nodes; i++)
		if (pe[i] && w->dist[i] == ANG_NONE)
			return false;
	return true;
}

ANG_PUBLIC int angara_fabric_tree(const struct angara_fabric *fabric, uint32_t root,
				  const uint16_t *pe, uint16_t *load,
				  struct angara_tree_row *rows)
{
	const struct ang_topo *t = &fabric->topo;
	struct tree_work w;
	int count = 1;
	u32 i;

	if (root >= t->nodes || !tree_takes_part(fabric, pe))
		return -EINVAL;
	if (tree_init(&w, fabric, load))
		return -ENOMEM;
	tree_grow(&w, root);
	if (!tree_reaches(&w, pe)) {
		free(w.dist);
		return -EHOSTUNREACH;
	}
	for (i = 0; i < t->routers; i++)
		rows[i] = ROW_NONE;
	rows[root].is_root = 1;
	for (i = 0; i < t->nodes; i++) {
		u32 at = i;

		rows[i].pe = pe[i];
		while (pe[i] && !angara_tree_has(&rows[at])) {
			u32 up = fabric->to[w.in[at]];
			u32 port = fabric->port[fabric->back[w.in[at]]];

			rows[at].to_root = (u8)fabric->port[w.in[at]];
			rows[up].ports |= 1ULL << port;
			rows[up].port_sum++;
			if (load)
				load[up * t->nports + port]++;
			count++;
			at = up;
		}
	}
	free(w.dist);
	return count;
}

ANG_PUBLIC int angara_fabric_cost(const struct angara_fabric *fabric,
				  const struct angara_tree_row *rows,
				  const uint16_t *load, struct angara_tree_cost *cost)
{
	const struct ang_topo *t = &fabric->topo;
	u32 i;

	if (cost->size != sizeof(*cost))
		return -EINVAL;
	*cost = (struct angara_tree_cost){ .size = sizeof(*cost), .load = !load };
	for (i = 0; i < t->routers; i++) {
		u32 depth = 0;
		u32 at = i;
		u64 set;

		if (!angara_tree_has(&rows[i]))
			continue;
		cost->transit += !rows[i].pe;
		if (rows[i].port_sum > cost->children)
			cost->children = rows[i].port_sum;
		for (set = rows[i].ports; set; set &= set - 1) {
			u32 arc = i * t->nports + (u32)__builtin_ctzll(set);

			cost->cables++;
			if (load && load[arc] > cost->load)
				cost->load = load[arc];
		}
		while (!rows[at].is_root) {
			at = ang_topo_peer(t, at, rows[at].to_root, NULL);
			if (at == ANG_NONE || ++depth > t->routers)
				return -EINVAL;
		}
		if (rows[i].pe && depth > cost->depth)
			cost->depth = depth;
	}
	return 0;
}

/**
 * struct tree_score - quality of a tree: less is better
 * @depth: cables to the farthest participant
 * @most: number of trees on the tree's most loaded channel
 * @below: maximum number of children of one of its routers, over all trees
 * @sum: sum of the loads of its channels
 * @paths: sum of the cables to each local participant
 */
struct tree_score {
	u32 depth;
	u32 most;
	u32 below;
	u32 sum;
	u64 paths;
};

static bool tree_is_better(const struct tree_score *a, const struct tree_score *b,
			   u32 goal)
{
	if (goal == ANGARA_PLAN_DEPTH && a->depth != b->depth)
		return a->depth < b->depth;
	if (a->most != b->most)
		return a->most < b->most;
	if (a->below != b->below)
		return a->below < b->below;
	if (a->sum != b->sum)
		return a->sum < b->sum;
	return a->depth != b->depth ? a->depth < b->depth : a->paths < b->paths;
}

/*
 * Adds the channels on the path from a participant to the root to @score, up to
 * the first channel that is already counted.
 */
static void tree_score_path(struct tree_work *w, u32 at, u32 root,
			    struct tree_score *score)
{
	const struct angara_fabric *f = w->f;

	while (at != root && w->dist[at] != ANG_NONE) {
		u32 up = f->to[w->in[at]];
		u32 load = tree_load(w, up, f->back[w->in[at]]) + 1U;
		u32 below = w->below[up] + ++w->children[up];

		if (load > score->most)
			score->most = load;
		if (below > score->below)
			score->below = below;
		score->sum += load;
		w->dist[at] = ANG_NONE;
		at = up;
	}
}

/*
 * Grows the tree of a root, and computes its score.  Return: false: because of
 * failures, the tree cannot reach a participant.
 */
static bool tree_try(struct tree_work *w, u32 root, const uint16_t *pe,
		     struct tree_score *score)
{
	const struct angara_fabric *f = w->f;
	u32 i;

	*score = (struct tree_score){ 0 };
	tree_grow(w, root);
	if (!tree_reaches(w, pe))
		return false;
	for (i = 0; i < f->topo.nodes; i++) {
		if (!pe[i])
			continue;
		score->paths += (u64)pe[i] * w->dist[i];
		if (w->dist[i] > score->depth)
			score->depth = w->dist[i];
	}
	if (!w->load)
		return true;
	memset(w->children, 0, f->topo.routers * sizeof(*w->children));
	for (i = 0; i < f->topo.nodes; i++)
		if (pe[i])
			tree_score_path(w, i, root, score);
	return true;
}

int64_t fab_root(const struct angara_fabric *f, const uint16_t *pe,
		 const uint16_t *load, u32 goal)
{
	u32 nodes = f->topo.nodes;
	u32 members = 0, step = 1, seen = 0;
	struct tree_score least = { .depth = ANG_NONE, .most = ANG_NONE };
	u32 best = ANG_NONE;
	struct tree_work w;
	u32 i;

	if (!tree_takes_part(f, pe))
		return -EINVAL;
	if (tree_init(&w, f, load))
		return -ENOMEM;
	for (i = 0; i < nodes; i++)
		members += pe[i] > 0;
	if (nodes > ROOTS_ALL && members > ROOTS_SOME)
		step = members / ROOTS_SOME;
	/*
	 * Try participants first, then the other nodes if all roots are tried.
	 */
	for (i = 0; i < 2 * nodes; i++) {
		u32 root = i % nodes;
		struct tree_score score;

		if ((pe[root] > 0) != (i < nodes) || seen++ % step ||
		    (i >= nodes && nodes > ROOTS_ALL))
			continue;
		if (!tree_try(&w, root, pe, &score) ||
		    !tree_is_better(&score, &least, goal))
			continue;
		best = root;
		least = score;
	}
	free(w.dist);
	return best == ANG_NONE ? -EHOSTUNREACH : (int64_t)best;
}

ANG_PUBLIC int64_t angara_fabric_root(const struct angara_fabric *fabric,
				      const uint16_t *pe, const uint16_t *load)
{
	return fab_root(fabric, pe, load,
			load ? ANGARA_PLAN_LOAD : ANGARA_PLAN_DEPTH);
}
