// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routes of the topology or of a file, and shortest paths.
 *
 * On the adaptive channel a packet goes to any router that is nearer to its
 * target.  On a torus of up to four dimensions coordinates give these routers,
 * on other fabrics a table of distances.  Distances of neighbours differ by one
 * at most, so their lowest eight bits are enough to compare them.
 */
#include <errno.h>
#include "lines.h"
#include "sim.h"

/* Most bytes of a table with an entry for each router and node. */
#define ROUTES_MOST	(1ULL << 30)

static u64 table_size(const struct sim *s)
{
	return (u64)s->topo.routers * s->topo.nodes;
}

/** sim_route() - find the port of the deterministic route; @node is not @dst */
u32 sim_route(const struct sim *s, u32 node, u32 dst)
{
	if (s->route)
		return s->route[(u64)(s->base + node) * s->topo.nodes + dst];
	if (s->coord)
		return ang_route_coords(&s->topo, s->coord[s->base + node],
					s->coord[dst]);
	return ang_topo_route(&s->topo, s->base + node, dst);
}

static u64 shortest_torus(const struct sim *s, const u16 *at, const u16 *to)
{
	u64 outs = 0;
	u32 d;

	for (d = 0; d < s->topo.ndims; d++) {
		u32 size = s->topo.dims[d];

		if (at[d] == to[d])
			continue;
		outs |= 1U << (2 * d + ang_ring_minus(size, at[d], to[d]));
		if (2U * (at[d] > to[d] ? at[d] - to[d] : to[d] - at[d]) == size)
			outs |= 3U << 2 * d;	/* both directions are equally short */
	}
	return outs;
}

/** sim_shortest() - find the ports of all shortest paths; @node is not @dst */
u64 sim_shortest(const struct sim *s, u32 node, u32 dst)
{
	u64 outs = 0;
	u32 port;
	u8 less;

	if (s->coord)
		return shortest_torus(s, s->coord[s->base + node], s->coord[dst]);
	less = (u8)(s->near[(u64)(s->base + node) * s->topo.nodes + dst] - 1);
	for (port = 0; port < s->nports; port++) {
		u32 to = sim_end(s, node, port)->router;

		if (to != ANG_NONE && s->near[(u64)to * s->topo.nodes + dst] == less)
			outs |= 1ULL << port;
	}
	return outs;
}

/* Computes the distances of all routers to @dst. */
static void search(struct sim *s, u32 dst, u32 *queue, bool *seen)
{
	const struct ang_topo *t = &s->topo;
	u32 head, tail = 1, port;

	memset(seen, 0, t->routers * sizeof(*seen));
	queue[0] = dst;
	seen[dst] = true;
	for (head = 0; head < tail; head++) {
		u32 at = queue[head];

		for (port = 0; port < s->nports; port++) {
			u32 to = ang_topo_neighbor(t, at, port);

			if (to == ANG_NONE || seen[to])
				continue;
			seen[to] = true;
			s->near[(u64)to * t->nodes + dst] =
				(u8)(s->near[(u64)at * t->nodes + dst] + 1);
			queue[tail++] = to;
		}
	}
}

/**
 * sim_routes() - make the tables that adaptive routing needs
 * @s: simulation with its topology
 *
 * Return: 0, or -E2BIG: the fabric is too large for them.
 */
int sim_routes(struct sim *s)
{
	u32 *queue;
	bool *seen;
	u32 dst;

	if (s->coord || s->cfg.routing != SIM_ADAPTIVE)
		return 0;
	if (table_size(s) > ROUTES_MOST)
		return -E2BIG;
	s->near = sim_zalloc(s->topo.routers, s->topo.nodes);
	queue = sim_zalloc(s->topo.routers, sizeof(*queue));
	seen = sim_zalloc(s->topo.routers, sizeof(*seen));
	for (dst = 0; dst < s->topo.nodes; dst++)
		search(s, dst, queue, seen);
	free(queue);
	free(seen);
	return 0;
}

/*
 * Checks that each route ends at its target.  A switch of MKNS has routes only to targets whose
 * packets cross this switch.  Return: error text or NULL.
 */
static const char *ways_flaw(const struct sim *s, u32 *from, u32 *to)
{
	const struct ang_topo *t = &s->topo;

	for (*to = 0; *to < t->nodes; ++*to) {
		for (*from = 0; *from < t->routers; ++*from) {
			u32 at = *from, hops = 0;

			while (at != *to && at != ANG_NONE) {
				at = ang_topo_neighbor(t, at,
					s->route[(u64)at * t->nodes + *to]);
				if (++hops > t->routers)
					return "goes in a cycle";
			}
			if (at == ANG_NONE && *from < t->nodes)
				return "ends at a port without a cable";
		}
	}
	return NULL;
}

/* Return: error text, in @flaw or constant, or NULL. */
static const char *line_set(struct sim *s, const char *line, char *flaw, size_t len)
{
	const struct ang_topo *t = &s->topo;
	u32 v[3], n, router, node, port;
	const char *rest = sim_lines_numbers(line, 3, v, &n);

	if (!n && !*rest)
		return NULL;
	if (n != 3 || *rest)
		return "must be a router, a node and a port";
	router = v[0];
	node = v[1];
	port = v[2];
	if (router >= t->routers) {
		snprintf(flaw, len, "router %u: not from 0 to %u", router, t->routers - 1);
		return flaw;
	}
	if (node >= t->nodes) {
		snprintf(flaw, len, "node %u: not from 0 to %u", node, t->nodes - 1);
		return flaw;
	}
	if (node == router)
		return "a route from a node to itself";
	if (port >= s->nports ||
	    ang_topo_neighbor(t, router, port) == ANG_NONE)
		return "the port has no cable";
	s->route[(u64)router * t->nodes + node] = (u8)port;
	return NULL;
}

/**
 * sim_routes_read() - replace routes of the topology by those of a file
 * @s: simulation with its topology
 * @path: lines "ROUTER NODE PORT": port on the route from a router to a node
 * @why: out: what is wrong
 * @len: size of @why
 *
 * Return: 0, -EINVAL or -E2BIG.
 */
int sim_routes_read(struct sim *s, const char *path, char *why, size_t len)
{
	const struct ang_topo *t = &s->topo;
	const char *flaw = NULL;
	char range[64];
	struct sim_lines l;
	u32 router, node;
	int ret;

	if (table_size(s) > ROUTES_MOST) {
		snprintf(why, len, "%s: the fabric is too large", path);
		return -E2BIG;
	}
	if (sim_lines_open(&l, path, SIM_LINES_MOST, why, len))
		return -EINVAL;
	s->route = sim_zalloc(t->routers, t->nodes);
	for (router = 0; router < t->routers; router++)
		for (node = 0; node < t->nodes; node++)
			s->route[(u64)router * t->nodes + node] =
				(u8)ang_topo_route(t, router, node);
	while ((ret = sim_lines_next(&l, why, len)) > 0) {
		flaw = line_set(s, l.text, range, sizeof(range));
		if (!flaw)
			continue;
		snprintf(why, len, "%s:%u: %s", path, l.number, flaw);
		sim_lines_close(&l);
		return -EINVAL;
	}
	if (ret)
		return ret;
	flaw = ways_flaw(s, &router, &node);
	if (!flaw)
		return 0;
	snprintf(why, len, "%s: the route from router %u to node %u %s", path,
		 router, node, flaw);
	return -EINVAL;
}
