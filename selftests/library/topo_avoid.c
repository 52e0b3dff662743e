// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Routes and trees around failures: every single cable and router of fabrics of
 * all kinds, and several failures at a time.  The test follows routes, and
 * searches their channel dependency graph for cycles by a separate algorithm.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ang_rules.h"
#include "topo_test.h"

/* Six switches in two triangles, which two cables connect, with a node each. */
static const char twins[] =
	"graph twins\nnode a\nnode b\nnode c\nnode d\nnode e\nnode f\n"
	"switch p\nswitch q\nswitch r\nswitch s\nswitch t\nswitch u\n"
	"a:0 p:0\nb:0 q:0\nc:0 r:0\nd:0 s:0\ne:0 t:0\nf:0 u:0\n"
	"p:1 q:1\nq:2 r:1\nr:2 p:2\ns:1 t:1\nt:2 u:1\nu:2 s:2\np:3 s:3\nq:3 t:3\n";

/**
 * struct graph - channels, and their dependencies
 * @f: fabric
 * @n: channels
 * @wait: element a * @n + b: a packet on channel a may wait for channel b
 * @order: channels, in the order in which a search has left them
 * @part: per channel, the channel at which the search for its component began
 * @done: length of @order
 */
struct graph {
	const struct angara_fabric *f;
	u32 n;
	bool *wait;
	u32 *order;
	u32 *part;
	u32 done;
};

static u32 base_route(const struct angara_fabric *f, u32 at, u32 to)
{
	return ang_topo_route(&f->topo, at, to);
}

static u32 new_route(const struct angara_fabric *f, u32 at, u32 to)
{
	return angara_fabric_route(f, at, to);
}

static void graph_routes(struct graph *g,
			 u32 (*route)(const struct angara_fabric *, u32, u32))
{
	const struct angara_fabric *f = g->f;
	u32 a, b;

	for (a = 0; a < f->topo.nodes; a++)
		for (b = 0; b < f->topo.nodes; b++) {
			u32 at = a, last = ANG_NONE;

			while (at != b) {
				u32 port = route(f, at, b);
				u32 channel = at * f->topo.nports + port;

				if (port >= f->topo.nports)
					break;
				if (f->failed[at] >> port & 1)
					channel = ANG_NONE;
				else if (last != ANG_NONE)
					g->wait[last * g->n + channel] = true;
				last = channel;
				at = ang_topo_peer(&f->topo, at, port, NULL);
			}
		}
}

static void graph_leave(struct graph *g, u32 c)
{
	u32 i;

	g->part[c] = 0;
	for (i = 0; i < g->n; i++)
		if (g->wait[c * g->n + i] && g->part[i] == ANG_NONE)
			graph_leave(g, i);
	g->order[g->done++] = c;
}

static void graph_collect(struct graph *g, u32 c, u32 first)
{
	u32 i;

	g->part[c] = first;
	for (i = 0; i < g->n; i++)
		if (g->wait[i * g->n + c] && g->part[i] == ANG_NONE)
			graph_collect(g, i, first);
}

/* Finds strongly connected components, by two searches. */
static void graph_parts(struct graph *g)
{
	u32 i;

	memset(g->part, 0xFF, g->n * sizeof(u32));
	g->done = 0;
	for (i = 0; i < g->n; i++)
		if (g->part[i] == ANG_NONE)
			graph_leave(g, i);
	memset(g->part, 0xFF, g->n * sizeof(u32));
	for (i = g->n; i-- > 0;)
		if (g->part[g->order[i]] == ANG_NONE)
			graph_collect(g, g->order[i], g->order[i]);
}

/* Do two channels of a torus belong to one directed ring, whose cables all work? */
static bool one_ring(const struct angara_fabric *f, u32 a, u32 b)
{
	u32 ports = f->topo.nports, port = a % ports, at = a / ports;
	u32 i;

	if (f->topo.kind != ANG_TOPO_TORUS || port != b % ports)
		return false;
	for (i = 0; i < f->topo.dims[port / 2] && at != b / ports; i++)
		at = ang_topo_peer(&f->topo, at, port, NULL);
	if (at != b / ports)
		return false;
	for (i = 0; i < f->topo.dims[port / 2]; i++) {
		if (f->failed[at] >> port & 1)
			return false;
		at = ang_topo_peer(&f->topo, at, port, NULL);
	}
	return true;
}

/*
 * Checks that each component is one channel or, with @rings, channels of one
 * ring.
 */
static bool no_circle(const struct angara_fabric *f, bool rings, bool with_base)
{
	struct graph g = { .f = f, .n = f->topo.routers * f->topo.nports };
	bool good = true;
	u32 a, b;

	g.wait = calloc((size_t)g.n * g.n, sizeof(*g.wait));
	g.order = calloc(2 * (size_t)g.n, sizeof(*g.order));
	g.part = g.order + g.n;
	if (with_base)
		graph_routes(&g, base_route);
	graph_routes(&g, new_route);
	/* A packet on a ring may wait for the whole ring. */
	for (a = 0; rings && a < g.n; a++) {
		u32 to = ang_topo_peer(&f->topo, a / f->topo.nports, a % f->topo.nports, NULL);

		b = to == ANG_NONE ? a : to * f->topo.nports + a % f->topo.nports;
		if (a != b && one_ring(f, a, b))
			g.wait[a * g.n + b] = true;
	}
	graph_parts(&g);
	for (a = 0; a < g.n; a++) {
		b = g.part[a];
		good &= a == b || (rings && one_ring(f, a, b));
	}
	free(g.wait);
	free(g.order);
	return good;
}

static void spread(const struct angara_fabric *f, u32 at, bool *met)
{
	u32 p, to;

	met[at] = true;
	for (p = 0; p < f->topo.nports; p++) {
		to = ang_topo_peer(&f->topo, at, p, NULL);
		if (to != ANG_NONE && !(f->failed[at] >> p & 1) && !met[to])
			spread(f, to, met);
	}
}

/* Does the route that the fabric has without failures avoid all failed parts? */
static bool intact(const struct angara_fabric *f, u32 at, u32 to)
{
	while (at != to) {
		u32 port = base_route(f, at, to);

		if (f->failed[at] >> port & 1)
			return false;
		at = ang_topo_peer(&f->topo, at, port, NULL);
	}
	return true;
}

/*
 * Checks that nodes that are still connected have a route, without a failed
 * part.
 */
static bool routes_lead(const struct angara_fabric *f, const struct angara_detours *d,
			u32 dead)
{
	bool *met = calloc(f->topo.routers, sizeof(*met));
	u64 lost = 0;
	bool good = true;
	u32 a, b;

	for (a = 0; a < f->topo.nodes && good; a++) {
		memset(met, 0, f->topo.routers * sizeof(*met));
		spread(f, a, met);
		for (b = 0; b < f->topo.nodes && good; b++) {
			u32 at = a, steps = 0;

			lost += !met[b] && a != dead && b != dead;
			while (met[b] && at != b && steps++ < f->topo.routers) {
				u32 port = angara_fabric_route(f, at, b);

				if (port >= f->topo.nports || f->failed[at] >> port & 1)
					break;
				if (!d->updown && at < f->topo.nodes && intact(f, at, b))
					good &= port == base_route(f, at, b);
				at = ang_topo_peer(&f->topo, at, port, NULL);
			}
			good &= met[b] ? at == b :
				angara_fabric_route(f, a, b) == ANG_NONE;
			if (!good)
				printf("# %u to %u: ends at %u\n", a, b, at);
		}
	}
	if (good && d->lost != lost)
		printf("# %llu pairs lost, not %llu\n", (unsigned long long)d->lost,
		       (unsigned long long)lost);
	free(met);
	return good && d->lost == lost;
}

static u32 row_height(const u8 *row, u32 port)
{
	return row[2 * port] | (u32)row[2 * port + 1] << 8;
}

/*
 * Checks that rows contain the routes, also those from switches, and that heights
 * decrease along each route.  Straight on in a torus they may stay the same.
 */
static bool rows_descend(const struct angara_fabric *f)
{
	u32 ports = f->topo.nports, nodes = f->topo.nodes, routers = f->topo.routers;
	int size = (int)(2 * ports + nodes);
	u8 *rows = malloc((size_t)routers * size);
	bool good = true;
	u32 a, b;

	for (a = 0; a < routers; a++)
		good &= angara_fabric_row(f, a, rows + a * size, size) == size;
	for (a = 0; a < routers; a++)
		for (b = 0; b < nodes && good; b++) {
			u32 at = a, steps = 0, last = ANG_NONE, in = ANGARA_PORT_NONE;

			while (at != b && good && steps++ < routers) {
				const u8 *row = rows + at * size;
				u32 port = row[2 * ports + b];

				good = port == (u8)angara_fabric_route(f, at, b);
				if (port == ANGARA_PORT_NONE) {
					good &= at == a;
					break;
				}
				good &= row_height(row, port) < last ||
					(f->topo.kind == ANG_TOPO_TORUS && ang_straight(in, port) &&
					 row_height(row, port) == last);
				last = row_height(row, port);
				at = ang_topo_peer(&f->topo, at, port, &in);
			}
			good &= steps < routers;
			if (!good)
				printf("# %u to %u: the row of %u is wrong\n", a, b, at);
		}
	free(rows);
	return good;
}

/*
 * Builds a tree over all nodes that can reach node @one, and clears @sound if the
 * tree is wrong. Return: true if there is such a tree.
 */
static bool tree_leads(const struct angara_fabric *f, u32 one, bool *sound)
{
	struct angara_tree_row *rows = calloc(f->topo.routers, sizeof(*rows));
	bool *met = calloc(f->topo.routers, sizeof(*met));
	u16 *pe = calloc(f->topo.nodes, sizeof(*pe));
	int64_t root;
	u32 i;

	spread(f, one, met);
	for (i = 0; i < f->topo.nodes; i++)
		pe[i] = met[i];
	root = angara_fabric_root(f, pe, NULL);
	if (root >= 0 && angara_fabric_tree(f, (u32)root, pe, NULL, rows) < 1)
		*sound = false;
	for (i = 0; root >= 0 && i < f->topo.routers; i++) {
		u32 at = i, in, steps = 0;

		if (!angara_tree_has(&rows[i])) {
			*sound &= i >= f->topo.nodes || !met[i];
			continue;
		}
		/*
		 * No link on the way up to the root has failed, and the turns
		 * on the way back down are allowed.
		 */
		while (at != root && steps++ < f->topo.routers) {
			u32 up = rows[at].to_root, to;

			if (f->failed[at] >> up & 1)
				*sound = false;
			to = ang_topo_peer(&f->topo, at, up, &in);
			*sound &= rows[to].ports >> in & 1 &&
				  ang_topo_turn(&f->topo, to, rows[to].is_root ?
						ANGARA_PORT_NONE : rows[to].to_root, in);
			at = to;
		}
		*sound &= at == root;
	}
	free(rows);
	free(met);
	free(pe);
	return root >= 0;
}

/**
 * struct summary - results of all single failures of a fabric
 * @updown: number of failures that need up*down* routes
 * @no_tree: number of failures with which no tree reaches all nodes by allowed
 *	turns
 */
struct summary {
	u32 updown;
	u32 no_tree;
};

static bool one_failure(struct angara_fabric *f, u32 router, u32 port, struct summary *s)
{
	const struct angara_failure failure = { router, port };
	struct angara_detours d = { .size = sizeof(d) };
	u32 dead = port == ANGARA_FAILED_ROUTER ? router : ANG_NONE;
	bool sound = true;

	if (angara_fabric_avoid(f, &failure, 1, &d))
		return false;
	s->updown += d.updown;
	s->no_tree += !tree_leads(f, dead == 0, &sound);
	if (!sound)
		printf("# the tree is wrong\n");
	return sound && !d.circle && routes_lead(f, &d, dead) && rows_descend(f) &&
	       no_circle(f, !d.updown, !d.updown);
}

static bool every_failure(const char *text, bool routers, struct summary *s)
{
	struct angara_fabric *f = make(text);
	bool good = true;
	u32 r, p;

	*s = (struct summary){ 0 };
	for (r = 0; r < f->topo.routers && good; r++)
		for (p = 0; p <= f->topo.nports && good; p++) {
			bool all = p == f->topo.nports;
			u32 to = all ? ANG_NONE : ang_topo_peer(&f->topo, r, p, NULL);

			if (all != routers || (!all && (to == ANG_NONE || to < r)))
				continue;
			good = one_failure(f, r, all ? ANGARA_FAILED_ROUTER : p, s);
			if (!good)
				printf("# %s: router %u, port %u\n", text, r, p);
		}
	angara_fabric_close(f);
	return good;
}

/**
 * struct expected - expected results of a fabric
 * @text: fabric
 * @routers: 0: each cable fails; 1: each node and switch fails
 * @need: expected results of these failures
 */
struct expected {
	const char *text;
	bool routers;
	struct summary need;
};

static bool as_expected(const struct expected *e, u32 n)
{
	bool good = true;

	for (; n--; e++) {
		struct summary s;
		bool sound = every_failure(e->text, e->routers, &s);

		if (!sound || s.updown != e->need.updown || s.no_tree != e->need.no_tree)
			printf("# %.20s, %u: sound %u, up*down* %u, no tree %u\n", e->text,
			       e->routers, sound, s.updown, s.no_tree);
		good &= sound && s.updown == e->need.updown && s.no_tree == e->need.no_tree;
	}
	return good;
}

/* Around a failed cable, the other direction of its ring suffices; a tree reaches all nodes. */
static bool torus_cables(void)
{
	static const struct expected list[] = {
		{ "torus:4x4x4", 0, { 0, 0 } }, { "torus:4x4", 0, { 0, 0 } },
		{ "torus:5", 0, { 0, 0 } }, { "torus:2x3x2", 0, { 0, 0 } },
		{ "torus:8x3", 0, { 0, 0 } }, { "torus:2x2x2", 0, { 0, 0 } },
	};

	return as_expected(list, sizeof(list) / sizeof(*list));
}

static bool torus_nodes(void)
{
	static const struct expected list[] = {
		{ "torus:4x4x4", 1, { 64, 0 } }, { "torus:4x4", 1, { 16, 0 } },
		{ "torus:5", 1, { 0, 0 } }, { "torus:2x3x2", 1, { 0, 0 } },
		{ "torus:8x3", 1, { 24, 0 } },
	};

	return as_expected(list, sizeof(list) / sizeof(*list));
}

/* Without some of the cables to switches, or some switches, no tree reaches all nodes. */
static bool switched(void)
{
	static const struct expected list[] = {
		{ "mkns:4x4", 0, { 0, 16 } }, { "mkns:4x4", 1, { 0, 4 } },
		{ "mkns:4x3x3", 0, { 0, 36 } }, { "mkns:4x3x3", 1, { 12, 12 } },
		{ "mkns:2x12", 0, { 0, 24 } }, { "mkns:2x12", 1, { 2, 6 } },
		{ "kns:3x4", 0, { 13, 12 } }, { "kns:3x4", 1, { 6, 3 } },
	};

	return as_expected(list, sizeof(list) / sizeof(*list));
}

static bool fat_trees(void)
{
	static const struct expected list[] = {
		{ "fattree:4,3", 0, { 0, 0 } }, { "fattree:4,3", 1, { 0, 0 } },
		{ "fattree:8,2", 0, { 0, 0 } }, { "fattree:8,2", 1, { 0, 0 } },
		{ "fattree:4,2,nodes=3", 0, { 0, 0 } },
		{ "fattree:4,2,nodes=3", 1, { 0, 0 } },
	};

	return as_expected(list, sizeof(list) / sizeof(*list));
}

static bool other_kinds(void)
{
	static const struct expected list[] = {
		{ "mesh:3x3x2", 0, { 1, 9 } }, { "mesh:3x3x2", 1, { 0, 0 } },
		{ "hypercube:4", 0, { 0, 8 } }, { "hypercube:4", 1, { 0, 0 } },
		{ twins, 0, { 0, 0 } }, { twins, 1, { 0, 0 } },
	};

	return as_expected(list, sizeof(list) / sizeof(*list));
}

/* Tests several failures at a time, which may split the fabric. */
static bool many_failures(void)
{
	static const char *const texts[] = {
		"torus:4x4x4", "torus:4x4", "mkns:4x4", "fattree:4,3", "mesh:4x4", twins,
	};
	u32 seed = 5, round, i;
	bool good = true;

	for (round = 0; round < 60 && good; round++) {
		const char *text = texts[round % 6];
		struct angara_fabric *f = make(text);
		struct angara_detours d = { .size = sizeof(d) };
		struct angara_failure failed[6];
		u32 count = 2 + round % 5;

		for (i = 0; i < count; i++)
			do {
				seed = seed * 1103515245 + 12345;
				failed[i].router = (seed >> 16) % f->topo.routers;
				failed[i].port = (seed >> 8) % f->topo.nports;
			} while (ang_topo_peer(&f->topo, failed[i].router, failed[i].port,
					       NULL) == ANG_NONE);
		if (round % 4 == 3)
			failed[0].port = ANGARA_FAILED_ROUTER;
		good = !angara_fabric_avoid(f, failed, count, &d) && !d.circle &&
		       routes_lead(f, &d, round % 4 == 3 ? failed[0].router : ANG_NONE) &&
		       rows_descend(f) &&
		       no_circle(f, !d.updown, !d.updown);
		if (!good)
			printf("# %.20s, round %u\n", text, round);
		angara_fabric_close(f);
	}
	return good;
}

/* Return: a copy of the routes of @f, which the caller frees. */
static u8 *routes_of(const struct angara_fabric *f)
{
	u32 n = f->topo.nodes;
	u8 *all = malloc((size_t)f->topo.routers * n);
	u32 i;

	for (i = 0; i < f->topo.routers * n; i++)
		all[i] = (u8)angara_fabric_route(f, i / n, i % n);
	return all;
}

/*
 * A call replaces the failures of the previous call; a call that fails changes
 * nothing.
 */
static bool forgotten(void)
{
	static const struct angara_failure first = { 0, 0 };
	static const struct angara_failure second = { 5, ANGARA_FAILED_ROUTER };
	static const struct angara_failure wrong[] = {
		{ 1, 2 }, { 16, 0 }, { 3, 4 }, { 3, 64 },
	};
	struct angara_detours d = { .size = sizeof(d) };
	struct angara_detours small = { .size = sizeof(d) - 1 };
	struct angara_fabric *f = make("torus:4x4"), *g = make("torus:4x4");
	size_t size = 16 * 16;
	u8 *whole = routes_of(f), *now, *other;
	bool good = !angara_fabric_avoid(f, &first, 1, &d) && d.changed && !d.updown &&
		    !angara_fabric_avoid(f, &second, 1, &d) && d.updown && !d.lost;
	u32 i;

	good = good && !angara_fabric_avoid(g, &second, 1, NULL);
	other = routes_of(g);
	for (i = 1; i < 4; i++)
		good = good && angara_fabric_avoid(f, &wrong[i], 1, &d) == -EINVAL;
	good = good && angara_fabric_avoid(f, wrong, 4, &d) == -EINVAL &&
	       angara_fabric_avoid(f, &first, 1, &small) == -EINVAL;
	now = routes_of(f);
	good = good && !memcmp(now, other, size) && memcmp(now, whole, size);
	free(now);
	good = good && !angara_fabric_avoid(f, NULL, 0, &d) && !d.changed && !d.circle;
	now = routes_of(f);
	good = good && !memcmp(now, whole, size);
	free(now);
	free(other);
	free(whole);
	angara_fabric_close(f);
	angara_fabric_close(g);
	return good;
}

/*
 * Return: the port of a route that takes the second dimension first for every
 * other destination.
 */
static u32 mixed(const struct angara_fabric *f, u32 at, u32 to)
{
	u32 from = to % 2 ? at : at / 4 * 4 + to % 4;
	u32 port = ang_topo_route(&f->topo, at, to);

	return at / 4 == to / 4 || to % 2 ? port : ang_topo_route(&f->topo, from, to);
}

/*
 * Return: the port of the shortest route around a ring of five, by the model's
 * rule.
 */
static u32 shortest(const struct angara_fabric *f, u32 at, u32 to)
{
	return at == to ? ANGARA_PORT_NONE : ang_ring_minus(5, at, to);
}

static u32 circle_of(const char *text, fab_route_fn *route, bool rings)
{
	struct angara_fabric *f = make(text);
	struct fab_deps deps;
	u32 circle;

	fab_deps_init(&deps, f);
	if (!rings)
		fab_deps_no_rings(&deps);
	fab_deps_routes(&deps, route, f->topo.nodes);
	circle = fab_deps_circle(&deps);
	fab_deps_free(&deps);
	angara_fabric_close(f);
	return circle;
}

/*
 * A ring of a torus counts as a cycle of channels only without bubble flow control.  Routes that
 * turn in both directions between two dimensions form a cycle even with it.
 */
static bool circles(void)
{
	static const char ring[] =
		"graph ring\nnode a\nnode b\nnode c\nnode d\nnode e\n"
		"a:0 b:1\nb:0 c:1\nc:0 d:1\nd:0 e:1\ne:0 a:1\n";

	return circle_of(ring, shortest, true) == 10 &&
	       circle_of(ring, base_route, true) == 0 &&
	       circle_of("torus:4x4", base_route, true) == 0 &&
	       circle_of("torus:4x4", base_route, false) > 0 &&
	       circle_of("mesh:4x4", base_route, false) == 0 &&
	       circle_of("torus:4x4", mixed, true) > 0;
}

/* A node without a cable is in no tree of other nodes. */
static bool cut_off(void)
{
	const struct angara_failure failure = { 3, ANGARA_FAILED_ROUTER };
	struct angara_fabric *f = make("torus:4x4");
	struct angara_plan_attr attr = {
		.size = sizeof(attr), .trees = 2, .root = ANGARA_PLAN_ROOT_ANY,
	};
	struct angara_tree_row rows[16];
	struct angara_plan *plan = NULL;
	u16 pe[16];
	bool good;
	u32 i;

	for (i = 0; i < 16; i++)
		pe[i] = 1;
	good = !angara_fabric_avoid(f, &failure, 1, NULL) &&
	       angara_fabric_root(f, pe, NULL) == -EHOSTUNREACH &&
	       angara_fabric_tree(f, 0, pe, NULL, rows) == -EHOSTUNREACH &&
	       angara_plan_open(f, pe, &attr, &plan) == -EHOSTUNREACH;
	pe[3] = 0;
	good = good && !angara_plan_open(f, pe, &attr, &plan) &&
	       !angara_tree_has(&angara_plan_rows(plan, 0)[3]) &&
	       !angara_tree_has(&angara_plan_rows(plan, 1)[3]);
	angara_plan_close(plan);
	angara_fabric_close(f);
	return good;
}

/*
 * All switches of a fat tree have routes around a failed cable.  Without
 * failures there are no rows.
 */
static bool switch_rows(void)
{
	struct angara_fabric *f = make("fattree:4,3");
	const struct angara_failure failure = { f->topo.nodes, 3 };
	u8 row[64];
	bool good;
	u32 r, d;

	good = angara_fabric_row(f, 0, row, sizeof(row)) == -EINVAL &&
	       !angara_fabric_avoid(f, &failure, 1, NULL) &&
	       angara_fabric_row(f, f->topo.routers, row, sizeof(row)) == -EINVAL &&
	       angara_fabric_row(f, 0, row, 2U * f->topo.nports + f->topo.nodes - 1) == -EINVAL;
	for (r = f->topo.nodes; r < f->topo.routers; r++)
		for (d = 0; d < f->topo.nodes; d++)
			good &= angara_fabric_route(f, r, d) != ANG_NONE;
	f->height[0] = 0x10000;
	good &= angara_fabric_row(f, 0, row, sizeof(row)) == -EOVERFLOW;
	angara_fabric_close(f);
	return good;
}

int main(void)
{
	printf("1..10\n");
	result(circles(), "circles of channels are found");
	result(torus_cables(), "a cable of a torus: the other direction, trees over all nodes");
	result(torus_nodes(), "a node of a torus: trees over all others");
	result(switched(), "cables and routers of MKNS and KNS");
	result(fat_trees(), "cables and routers of fat trees");
	result(other_kinds(), "cables and routers of meshes, hypercubes and graphs");
	result(many_failures(), "several failures");
	result(forgotten(), "failures are forgotten with the next ones");
	result(cut_off(), "a node without cables is in no tree");
	result(switch_rows(), "rows of switches");
	return !!failures;
}
