// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Routes around failed cables and routers.
 *
 * If possible, only routes that crossed a failure change.  Then the routing
 * tables can be replaced while packets travel: a packet on an unchanged route
 * never uses a changed entry.  For each destination, a search starts at the
 * routers whose routes are intact.  Each other router that the search reaches
 * gets one new dependency of channels, from its new port to that of the next
 * router.  A port whose dependency would close a cycle in the channel
 * dependency graph is not used.  That graph starts with the routes of the whole
 * fabric.
 *
 * A failed cable of a torus is always avoided in this way: the ring has become
 * a line, and packets travel along it in the other direction.  With two or more
 * dimensions, a failed router cannot be avoided in this way: the router is the
 * corner of routes that would have to turn from a later dimension to an earlier
 * one.  If a route is still missing, all routes become up*down* routes on the
 * rest of the fabric (fab_updown.c), which need no bubble flow control.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"
#include "sized.h"

/**
 * struct avoid - state
 * @f: fabric, with its failures
 * @deps: dependencies of all routes so far
 * @port: port of each router to the current destination; ANGARA_PORT_NONE: none
 * @dist: cables to that destination; ANG_NONE: no route
 * @path: routers that were walked
 */
struct avoid {
	const struct angara_fabric *f;
	struct fab_deps deps;
	u8 *port;
	u32 *dist;
	u32 *path;
};

static u32 route_whole(const struct angara_fabric *f, u32 router, u32 node)
{
	return ang_topo_route(&f->topo, router, node);
}

/*
 * Follows the route of a node up to a failure or a router whose distance is
 * known.  If the walk ends at such a router, the routers on the way get their
 * distances; if it ends at a failure, they get none.
 */
static void avoid_walk(struct avoid *a, u32 from, u32 dst)
{
	const struct angara_fabric *f = a->f;
	u32 at = from, n = 0, dist;

	while (a->dist[at] == ANG_NONE) {
		u32 port = ang_topo_route(&f->topo, at, dst);

		if (fab_failed(f, at, port))
			return;
		a->path[n++] = at;
		at = ang_topo_peer(&f->topo, at, port, NULL);
	}
	dist = a->dist[at];
	while (n--) {
		at = a->path[n];
		a->dist[at] = ++dist;
		a->port[at] = (u8)ang_topo_route(&f->topo, at, dst);
	}
}

/*
 * Sets the port of @at so that it leads to a router that is @dist cables from
 * the destination.  Return: true: such a port exists, and its dependency closes
 * no cycle.
 */
static bool avoid_join(struct avoid *a, u32 at, u32 dist, u32 dst)
{
	const struct angara_fabric *f = a->f;
	u32 arc;

	for (arc = f->first[at]; arc < f->first[at + 1]; arc++) {
		u32 port = f->port[arc], to = f->to[arc];

		if (fab_failed(f, at, port) || a->dist[to] != dist ||
		    (to != dst && !fab_deps_add(&a->deps, at * f->topo.nports + port,
						a->port[to])))
			continue;
		a->port[at] = (u8)port;
		a->dist[at] = dist + 1;
		return true;
	}
	return false;
}

/* Is there a node without a route to the current destination? */
static bool avoid_lacks(const struct avoid *a)
{
	u32 i;

	for (i = 0; i < a->f->topo.nodes; i++)
		if (a->dist[i] == ANG_NONE)
			return true;
	return false;
}

/*
 * Gives routes to nodes that lack them and to routers on these routes; with
 * @all, to all routers.
 */
static void avoid_search(struct avoid *a, u32 dst, bool all)
{
	u32 most = 0, dist, i;

	for (i = 0; i < a->f->topo.routers; i++)
		if (a->dist[i] != ANG_NONE && a->dist[i] > most)
			most = a->dist[i];
	for (dist = 0; dist <= most && (all || avoid_lacks(a)); dist++)
		for (i = 0; i < a->f->topo.routers; i++)
			if (a->dist[i] == ANG_NONE && avoid_join(a, i, dist, dst) &&
			    most == dist)
				most++;
}

static void avoid_to(struct avoid *a, u32 dst, u8 *around)
{
	const struct ang_topo *t = &a->f->topo;
	u32 i;

	memset(a->port, ANGARA_PORT_NONE, t->routers);
	for (i = 0; i < t->routers; i++)
		a->dist[i] = ANG_NONE;
	a->dist[dst] = 0;
	for (i = 0; i < t->nodes; i++)
		avoid_walk(a, i, dst);
	avoid_search(a, dst, false);
	for (i = 0; i < t->routers; i++)
		around[(size_t)i * t->nodes + dst] = a->port[i];
}

/*
 * Gives routes to switches that are on no route between nodes: a switch may be
 * the root of a tree, and the root sends the results.
 */
static void avoid_rest(struct avoid *a, u32 dst, u8 *around)
{
	const struct ang_topo *t = &a->f->topo;
	u32 i, at, n, dist;

	for (i = 0; i < t->routers; i++) {
		a->port[i] = around[(size_t)i * t->nodes + dst];
		a->dist[i] = ANG_NONE;
	}
	a->dist[dst] = 0;
	for (i = 0; i < t->routers; i++) {
		for (at = i, n = 0; a->dist[at] == ANG_NONE &&
		     a->port[at] != ANGARA_PORT_NONE; n++) {
			a->path[n] = at;
			at = ang_topo_peer(t, at, a->port[at], NULL);
		}
		for (dist = a->dist[at]; n--;)
			a->dist[a->path[n]] = ++dist;
	}
	avoid_search(a, dst, true);
	for (i = t->nodes; i < t->routers; i++)
		around[(size_t)i * t->nodes + dst] = a->port[i];
}

static int avoid_init(struct avoid *a, const struct angara_fabric *f)
{
	u32 routers = f->topo.routers;
	int ret;

	*a = (struct avoid){ .f = f };
	ret = fab_deps_init(&a->deps, f);
	if (ret)
		return ret;
	a->port = malloc(routers);
	a->dist = malloc(routers * sizeof(u32));
	a->path = malloc(routers * sizeof(u32));
	return a->port && a->dist && a->path ? 0 : -ENOMEM;
}

static void avoid_free(struct avoid *a)
{
	fab_deps_free(&a->deps);
	free(a->port);
	free(a->dist);
	free(a->path);
}


/* Sets, per router, the lowest router that it can reach. */
static void find_parts(const struct angara_fabric *f, u32 *part)
{
	bool moved = true;
	u32 i, arc;

	for (i = 0; i < f->topo.routers; i++)
		part[i] = i;
	while (moved) {
		moved = false;
		for (i = 0; i < f->topo.routers; i++)
			for (arc = f->first[i]; arc < f->first[i + 1]; arc++)
				if (!fab_failed(f, i, f->port[arc]) &&
				    part[f->to[arc]] < part[i]) {
					part[i] = part[f->to[arc]];
					moved = true;
				}
	}
}

/*
 * Changes only routes that cross a failure.
 * Return: 1: @around is set; 0: some route cannot be replaced; -ENOMEM.
 */
static int avoid_some(const struct angara_fabric *f, u8 *around)
{
	u32 nodes = f->topo.nodes;
	struct avoid a;
	int ret = avoid_init(&a, f);
	u32 i, dst;

	if (!ret) {
		fab_deps_routes(&a.deps, route_whole, nodes);
		for (dst = 0; dst < nodes; dst++)
			avoid_to(&a, dst, around);
		for (dst = 0; dst < nodes && f->topo.routers > nodes; dst++)
			avoid_rest(&a, dst, around);
		find_parts(f, a.path);
		ret = 1;
		for (i = 0; i < nodes; i++)
			for (dst = 0; dst < nodes; dst++)
				if (i != dst && a.path[i] == a.path[dst] &&
				    around[(size_t)i * nodes + dst] == ANGARA_PORT_NONE)
					ret = 0;
	}
	avoid_free(&a);
	return ret;
}

/*
 * Sets the heights of channels.
 * Return: number of channels in which packets can deadlock; -ENOMEM.
 */
static int64_t count_circle(struct angara_fabric *f, bool updown)
{
	struct fab_deps deps;
	int64_t circle;
	int ret = fab_deps_init(&deps, f);

	if (ret)
		return ret;
	if (updown)
		fab_deps_no_rings(&deps);
	else
		fab_deps_routes(&deps, route_whole, f->topo.nodes);
	fab_deps_routes(&deps, fab_route, f->topo.routers);
	circle = fab_deps_circle(&deps);
	fab_deps_heights(&deps, f->height);
	fab_deps_free(&deps);
	return circle;
}

static void count_entries(const struct angara_fabric *f, const bool *dead,
			  struct angara_detours *detours)
{
	u32 r, d;

	for (r = 0; r < f->topo.routers; r++)
		for (d = 0; d < f->topo.nodes; d++) {
			u32 port = fab_route(f, r, d);

			if (r == d || dead[r] || dead[d])
				continue;
			if (r < f->topo.nodes && port == ANGARA_PORT_NONE)
				detours->lost++;
			/* Count only entries that a route uses. */
			if (port != ANGARA_PORT_NONE)
				detours->changed += port != route_whole(f, r, d);
		}
}

static int mark_failed(const struct angara_fabric *f, u64 *failed, bool *dead,
		       const struct angara_failure *failure)
{
	u32 port, first = failure->port, last = failure->port;

	if (failure->router >= f->topo.routers)
		return -EINVAL;
	if (failure->port == ANGARA_FAILED_ROUTER) {
		first = 0;
		last = f->topo.nports - 1U;
		dead[failure->router] = true;
	} else if (ang_topo_peer(&f->topo, failure->router, failure->port, NULL) ==
		   ANG_NONE) {
		return -EINVAL;
	}
	for (port = first; port <= last; port++) {
		u32 far, to = ang_topo_peer(&f->topo, failure->router, port, &far);

		if (to == ANG_NONE)
			continue;
		failed[failure->router] |= 1ULL << port;
		failed[to] |= 1ULL << far;
	}
	return 0;
}

/* Computes the routes of @f around its failures. */
static int avoid_routes(struct angara_fabric *f, const bool *dead,
			struct angara_detours *detours)
{
	size_t size = (size_t)f->topo.routers * f->topo.nodes;
	int64_t circle;
	int ret;

	f->around = malloc(size);
	f->height = malloc(((size_t)f->topo.routers * f->topo.nports + 1) *
			   sizeof(*f->height));
	if (!f->around || !f->height)
		return -ENOMEM;
	ret = avoid_some(f, f->around);
	if (ret < 0)
		return ret;
	if (!ret) {
		detours->updown = 1;
		memset(f->around, ANGARA_PORT_NONE, size);
		ret = fab_updown(f, f->around);
		if (ret)
			return ret;
	}
	circle = count_circle(f, detours->updown);
	if (circle < 0)
		return (int)circle;
	detours->circle = (u64)circle;
	count_entries(f, dead, detours);
	return 0;
}

ANG_PUBLIC int angara_fabric_avoid(struct angara_fabric *fabric,
				   const struct angara_failure *failures, uint32_t count,
				   struct angara_detours *detours)
{
	struct angara_detours found = { .size = sizeof(found) };
	struct angara_fabric next = *fabric;
	bool *dead = NULL;
	int ret = 0;
	u32 i;

	if (detours && detours->size != sizeof(*detours))
		return -EINVAL;
	next.failed = NULL;
	next.around = NULL;
	next.height = NULL;
	if (count) {
		next.failed = calloc(fabric->topo.routers, sizeof(*next.failed));
		dead = calloc(fabric->topo.routers, sizeof(*dead));
		ret = next.failed && dead ? 0 : -ENOMEM;
		for (i = 0; !ret && i < count; i++)
			ret = mark_failed(fabric, next.failed, dead, &failures[i]);
		if (!ret)
			ret = avoid_routes(&next, dead, &found);
		free(dead);
	}
	if (ret) {
		free(next.failed);
		free(next.around);
		free(next.height);
		return ret;
	}
	free(fabric->failed);
	free(fabric->around);
	free(fabric->height);
	*fabric = next;
	if (detours)
		*detours = found;
	return 0;
}

ANG_PUBLIC int angara_fabric_row(const struct angara_fabric *fabric, uint32_t router,
				 void *row, size_t size)
{
	const struct ang_topo *t = &fabric->topo;
	u8 *at = row;
	u32 p;

	if (router >= t->routers || !fabric->around ||
	    size < 2ULL * t->nports + t->nodes)
		return -EINVAL;
	for (p = 0; p < t->nports; p++) {
		u32 height = fabric->height[router * t->nports + p];

		if (height > 0xFFFF)
			return -EOVERFLOW;
		*at++ = (u8)height;
		*at++ = (u8)(height >> 8);
	}
	memcpy(at, fabric->around + (size_t)router * t->nodes, t->nodes);
	return (int)(2 * t->nports + t->nodes);
}
