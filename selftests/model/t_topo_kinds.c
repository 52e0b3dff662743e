// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every kind of topology: cables, routes, classes of channels, keepers, and
 * invalid descriptions.
 */
#include <string.h>

#include "test.h"

static const char ring_text[] =
	"graph ring\n"
	"node a\nnode b\nnode c\nnode d\nnode e\n"
	"a:0 b:1\nb:0 c:1\nc:0 d:1\nd:0 e:1\ne:0 a:1\n";

/* A chain of switches with nodes, a chord, and parallel cables. */
static const char odd_text[] =
	"graph odd\t# a comment\n"
	"\n"
	"  switch s1\nnode n-1\nnode n.2\nswitch s2\nnode N_3\nnode n4\nswitch s3\n"
	"s1:0 n-1:0\ns1:1 n.2:63\ns2:0 N_3:0\ns3:5 n4:1\n"
	"s1:7 s2:7\ns1:8 s2:8\ns2:9 s3:9\ns1:10 s3:10 # the chord\n"
	"n4:2 n-1:2";

static const char * const texts[] = {
	"torus:1", "torus:2", "torus:5", "torus:4x3x2x2", "torus:2x2x2x2x2x2",
	"torus:4x4x4", "torus:7x1x3",
	"mesh:5", "mesh:4x1x3", "mesh:4x4x4", "mesh:2x2x2x2x2x2",
	"hypercube:1", "hypercube:5", "hypercube:6", "hypercube:7",
	"mkns:1", "mkns:8", "mkns:8x4", "mkns:8x4,m=2", "mkns:3x12",
	"mkns:2x20x3", "mkns:1x13,ports=7", "mkns:2x2x2x2,ports=6,m=3",
	"mkns:2x50", "mkns:3x3x3x3",
	"kns:4x4", "kns:10", "kns:3x2x2x2x2x2,ports=4", "kns:13x2,ports=6",
	"fattree:4,1", "fattree:4,3", "fattree:8,2", "fattree:40,2,nodes=64",
	"fattree:6,3,nodes=17", "fattree:2,3", "fattree:4,6",
	ring_text, odd_text,
};

struct fabric {
	struct ang_topo topo;	/* without a table, except for graphs */
	struct ang_topo filled;
	u8 *mem;
};

static void fabric_new(struct fabric *f, const char *text)
{
	struct ang_topo_why why;

	EXPECT(ang_topo_read(&f->topo, text, &why));
	f->mem = malloc(ang_topo_table_size(&f->topo));
	f->filled = f->topo;
	EXPECT_EQ(ang_topo_fill(&f->filled, text, f->mem, &why), f->topo.nodes);
	if (f->topo.kind == ANG_TOPO_GRAPH)
		f->topo = f->filled;
}

/* Each cable has two ends.  Each router has a cable, unless it is alone. */
static void cables(void)
{
	u32 i, r, p;

	for (i = 0; i < NUM(texts); i++) {
		struct fabric f;

		fabric_new(&f, texts[i]);
		for (r = 0; r < f.topo.routers; r++) {
			u32 joined = 0;

			for (p = 0; p < f.topo.nports + 3U; p++) {
				u32 far = 0, back = 0;
				u32 to = ang_topo_peer(&f.topo, r, p, &far);
				u32 other = ang_topo_peer(&f.filled, r, p, &back);

				EXPECT_EQ(to, other);
				if (to == ANG_NONE)
					continue;
				/* No packet returns to the router that it came from. */
				EXPECT(!ang_topo_turn(&f.topo, r, p, p));
				joined++;
				EXPECT_EQ(far, back);
				EXPECT(to < f.topo.routers && to != r);
				EXPECT_EQ(ang_topo_peer(&f.topo, to, far, &back), r);
				EXPECT_EQ(back, p);
			}
			EXPECT(joined || f.topo.routers == 1);
		}
		free(f.mem);
	}
}

static u32 distance_of(u32 a, u32 b, u32 size)
{
	u32 way = a > b ? a - b : b - a;

	return size && size - way < way ? size - way : way;
}

/*
 * Return: how many cables two routers must have between them, by the
 * definition of each kind.
 */
static u32 promised(const struct ang_topo *t, u32 a, u32 b)
{
	u16 from[ANG_TOPO_DIMS], to[ANG_TOPO_DIMS];
	u32 sum = 0;
	u32 d;

	if (t->kind == ANG_TOPO_HYPERCUBE)
		return ang_count(a ^ b);
	ang_topo_coord(t, a, from);
	ang_topo_coord(t, b, to);
	for (d = 0; d < t->ndims; d++) {
		u32 half = t->switch_ports / 2U;

		if (t->kind == ANG_TOPO_TORUS)
			sum += distance_of(from[d], to[d], t->dims[d]);
		else if (t->kind == ANG_TOPO_MESH)
			sum += distance_of(from[d], to[d], 0);
		else if (from[d] == to[d])
			continue;
		else if (t->kind == ANG_TOPO_FATTREE)
			return 2U * (t->levels - d);
		else if (t->kind == ANG_TOPO_MKNS && !d)
			sum++;
		else if (t->dims[d] <= t->switch_ports)
			sum += 2;
		else
			sum += from[d] / half == to[d] / half ? 2 : 4;
	}
	return sum;
}

static u32 walk(const struct ang_topo *t, u32 from, u32 to, u32 limit)
{
	u32 in = ANGARA_PORT_NONE;
	u32 at = from;
	u32 steps = 0;

	while (at != to) {
		u32 out = ang_topo_route(t, at, to);

		EXPECT(out < t->nports);
		EXPECT(ang_topo_turn(t, at, in, out));
		at = ang_topo_peer(t, at, out, &in);
		EXPECT(at < t->routers);
		EXPECT(++steps <= limit);
	}
	EXPECT_EQ(ang_topo_route(t, to, to), ANGARA_PORT_NONE);
	return steps;
}

static void lengths(void)
{
	u32 i, a, b;

	for (i = 0; i < NUM(texts); i++) {
		struct fabric f;

		fabric_new(&f, texts[i]);
		for (a = 0; a < f.topo.nodes; a++)
			for (b = 0; b < f.topo.nodes; b++) {
				u32 limit = f.topo.routers;

				if (f.topo.kind != ANG_TOPO_GRAPH)
					limit = promised(&f.topo, a, b);
				EXPECT_EQ(walk(&f.topo, a, b, limit),
					  walk(&f.filled, a, b, limit));
				if (f.topo.kind != ANG_TOPO_GRAPH)
					EXPECT_EQ(walk(&f.topo, a, b, limit), limit);
			}
		free(f.mem);
	}
}

/* Checks known path lengths with up*down* routing. */
static void graph_lengths(void)
{
	struct fabric f;
	u32 a, b;

	fabric_new(&f, odd_text);
	/*
	 * Nodes have these numbers: n-1 0, n.2 1, N_3 2, n4 3. A path over one
	 * switch has length 2, one over two switches 3, and one by a cable
	 * between nodes 1.
	 */
	EXPECT_EQ(walk(&f.filled, 0, 1, 9), 2);
	EXPECT_EQ(walk(&f.filled, 0, 2, 9), 3);
	EXPECT_EQ(walk(&f.filled, 2, 1, 9), 3);
	EXPECT_EQ(walk(&f.filled, 1, 3, 9), 3);
	free(f.mem);
	/* A path from e to c over d would go down, then up. */
	fabric_new(&f, ring_text);
	for (a = 0; a < 5; a++)
		for (b = 0; b < 5; b++) {
			bool longer = (a == 4 && b == 2) || (a == 2 && b == 4);

			EXPECT_EQ(walk(&f.filled, a, b, 4),
				  longer ? 3 : distance_of(a, b, 5));
		}
	free(f.mem);
}

/*
 * Channel dependency graph: one channel per router and port.  For each channel,
 * @edge has a row with the channels that a packet in it may request, by the
 * port at the far end.
 */
struct deps {
	const struct ang_topo *t;
	u64 *edge;
};

static u32 channels(const struct ang_topo *t)
{
	return t->routers * t->nports;
}

/* Repeatedly removes channels that wait for none.  Return: how many are left. */
static u32 left_over(const struct deps *g)
{
	u32 n = channels(g->t);
	bool *gone = calloc(n, 1);
	u32 left = 0;
	bool moved = true;
	u32 c, p;

	while (moved) {
		moved = false;
		left = 0;
		for (c = 0; c < n; c++) {
			u32 to, far;
			u64 waits = 0;

			if (gone[c])
				continue;
			to = ang_topo_peer(g->t, c / g->t->nports, c % g->t->nports, &far);
			for (p = 0; to != ANG_NONE && p < g->t->nports; p++)
				if (g->edge[c] >> p & 1 && !gone[to * g->t->nports + p])
					waits |= 1ULL << p;
			gone[c] = !waits;
			moved |= !waits;
			left += !!waits;
		}
	}
	free(gone);
	return left;
}

typedef u32 route_fn(const struct ang_topo *t, u32 at, u32 dst);

static void add_routes(struct deps *g, route_fn *route)
{
	u32 a, b;

	for (a = 0; a < g->t->nodes; a++)
		for (b = 0; b < g->t->nodes; b++) {
			u32 at = a;
			u32 last = ANG_NONE;
			u32 in = ANGARA_PORT_NONE;

			while (at != b) {
				u32 out = route(g->t, at, b);

				if (last != ANG_NONE &&
				    !(g->t->kind == ANG_TOPO_TORUS &&
				      ang_straight(in, out)))
					g->edge[last] |= 1ULL << out;
				last = at * g->t->nports + out;
				at = ang_topo_peer(g->t, at, out, &in);
			}
		}
}

static void add_turns(struct deps *g)
{
	u32 c, p;

	for (c = 0; c < channels(g->t); c++) {
		u32 in;
		u32 to = ang_topo_peer(g->t, c / g->t->nports, c % g->t->nports, &in);

		for (p = 0; to != ANG_NONE && p < g->t->nports; p++)
			if (ang_topo_peer(g->t, to, p, NULL) != ANG_NONE &&
			    !(g->t->kind == ANG_TOPO_TORUS && ang_straight(in, p)) &&
			    ang_topo_turn(g->t, to, in, p))
				g->edge[c] |= 1ULL << p;
	}
}

static void no_cycle(void)
{
	u32 i;

	for (i = 0; i < NUM(texts); i++) {
		struct fabric f;
		struct deps g;

		fabric_new(&f, texts[i]);
		g.t = &f.filled;
		g.edge = calloc(channels(g.t) + 1, sizeof(u64));
		add_routes(&g, ang_topo_route);
		EXPECT_EQ(left_over(&g), 0);
		add_turns(&g);
		EXPECT_EQ(left_over(&g), 0);
		free(g.edge);
		free(f.mem);
	}
}

/*
 * Return: the port of the shorter path around a ring of five, which up*down*
 * routing must forbid.
 */
static u32 shortest(const struct ang_topo *t, u32 at, u32 dst)
{
	return ang_ring_minus(5, at, dst);
}

static void cycle_is_found(void)
{
	struct fabric f;
	struct deps g;

	fabric_new(&f, ring_text);
	g.t = &f.filled;
	g.edge = calloc(channels(g.t), sizeof(u64));
	add_routes(&g, shortest);
	EXPECT_EQ(left_over(&g), 10);
	free(g.edge);
	free(f.mem);
}

/*
 * Return: the length of the longest path that makes only allowed turns, visits
 * no router twice, and leaves @at by a port that may follow @in.
 */
static u32 longest_from(const struct ang_topo *t, u32 at, u32 in, u64 *met)
{
	u32 most = 0;
	u32 p;

	met[at / 64] |= 1ULL << at % 64;
	for (p = 0; p < t->nports; p++) {
		u32 far, way;
		u32 to = ang_topo_peer(t, at, p, &far);

		if (to == ANG_NONE || met[to / 64] >> to % 64 & 1 ||
		    !ang_topo_turn(t, at, in, p))
			continue;
		way = 1 + longest_from(t, to, far, met);
		if (way > most)
			most = way;
	}
	met[at / 64] &= ~(1ULL << at % 64);
	return most;
}

/*
 * No path is longer than the longest that the topology states; if all routers
 * are alike, one path is as long.
 */
static void longest_ways(void)
{
	static const struct {
		const char *text;
		bool exact;
	} fabrics[] = {
		{ "torus:1", true }, { "torus:2", true }, { "torus:5", true },
		{ "torus:4x3x2x2", true }, { "torus:7x1x3", true },
		{ "mesh:5", true }, { "mesh:4x1x3", true }, { "mesh:2x3x4", true },
		{ "hypercube:1", true }, { "hypercube:5", true },
		{ "hypercube:6", true }, { "hypercube:8", true },
		{ "mkns:8", true }, { "mkns:8x4", true }, { "mkns:3x12", true },
		{ "mkns:2x20x3", true }, { "mkns:3x3x3x3", true },
		{ "kns:4x4", true }, { "kns:10", true },
		{ "kns:3x2x2x2x2x2,ports=4", true }, { "kns:13x2,ports=6", true },
		{ "fattree:4,1", true }, { "fattree:4,3", true },
		{ "fattree:8,2", true }, { "fattree:6,3,nodes=17", true },
		{ ring_text, true }, { odd_text, false },
	};
	u32 i, r;

	for (i = 0; i < NUM(fabrics); i++) {
		u64 met[16] = { 0 };
		struct fabric f;
		u32 most = 0;

		fabric_new(&f, fabrics[i].text);
		EXPECT(f.topo.routers <= 64 * NUM(met));
		for (r = 0; r < f.topo.routers; r++) {
			u32 way = longest_from(&f.filled, r, ANGARA_PORT_NONE,
					       met);

			if (way > most)
				most = way;
		}
		EXPECT(most <= ang_topo_longest(&f.topo));
		if (fabrics[i].exact)
			EXPECT_EQ(most, ang_topo_longest(&f.topo));
		free(f.mem);
	}
}

/* D-mod-k: in a fat tree, a channel down to a switch serves one destination. */
static void fat_spread(void)
{
	static const char * const trees[] = { "fattree:8,2", "fattree:4,3", "fattree:6,3" };
	u32 i, a, b;

	for (i = 0; i < NUM(trees); i++) {
		struct fabric f;
		u32 *serves;

		fabric_new(&f, trees[i]);
		serves = calloc(f.topo.routers * f.topo.nports, sizeof(*serves));
		for (a = 0; a < f.topo.nodes; a++)
			for (b = 0; b < f.topo.nodes; b++) {
				u32 at = a;

				while (at != b) {
					u32 out = ang_topo_route(&f.filled, at, b);
					u32 *dst = &serves[at * f.topo.nports + out];
					u32 to = ang_topo_peer(&f.filled, at, out, NULL);
					bool down = at >= f.topo.nodes && out < f.topo.dims[0];

					EXPECT(!down || to < f.topo.nodes || !*dst ||
					       *dst == b + 1);
					*dst = b + 1;
					at = to;
				}
			}
		free(serves);
		free(f.mem);
	}
}

/* Compares distances with a search from each switch. */
static void keepers(void)
{
	u32 i, r, head, p;

	for (i = 0; i < NUM(texts); i++) {
		struct fabric f;
		u32 *queue, *dist;

		fabric_new(&f, texts[i]);
		queue = malloc(f.topo.routers * sizeof(*queue));
		dist = malloc(f.topo.routers * sizeof(*dist));
		for (r = 0; r < f.topo.routers; r++) {
			u32 best = ANG_NONE, tail = 1;

			memset(dist, 0xFF, f.topo.routers * sizeof(*dist));
			dist[r] = 0;
			queue[0] = r;
			for (head = 0; head < tail; head++) {
				u32 at = queue[head];

				if (at < f.topo.nodes && (best == ANG_NONE ||
				    dist[at] < dist[best] ||
				    (dist[at] == dist[best] && at < best)))
					best = at;
				for (p = 0; p < f.topo.nports; p++) {
					u32 to = ang_topo_peer(&f.filled, at, p, NULL);

					if (to == ANG_NONE || dist[to] != ANG_NONE)
						continue;
					dist[to] = dist[at] + 1;
					queue[tail++] = to;
				}
			}
			EXPECT_EQ(tail, f.topo.routers);
			EXPECT_EQ(ang_topo_keeper(&f.topo, r), best);
			EXPECT_EQ(ang_topo_keeper(&f.filled, r), best);
		}
		free(queue);
		free(dist);
		free(f.mem);
	}
}

/*
 * Sizes and ports by document 001, the publication on MKNS.  Its ports count
 * from 1, those of the model from 0.
 */
static void document(void)
{
	struct ang_topo_why why;
	struct ang_topo t;
	u32 far;

	EXPECT_EQ(ang_topo_read(&t, "mkns:4x4", &why), 16);
	EXPECT_EQ(t.routers, 20);
	/*
	 * Port 2 of AB (0 0 0 0) leads to port 1 of AB (2 0 0 0), whose port 8 leads to
	 * port 0 of KB Y2.
	 */
	EXPECT_EQ(ang_topo_peer(&t, 0, 2 - 1, &far), 2);
	EXPECT_EQ(far, 1 - 1);
	EXPECT_EQ(ang_topo_peer(&t, 2, 8 - 1, &far), 16 + 2);
	EXPECT_EQ(far, 0);
	/* Port 2 of KB Y2 leads to port 8 of AB (2 2 0 0). */
	EXPECT_EQ(ang_topo_peer(&t, 16 + 2, 2, &far), 2 + 4 * 2);
	EXPECT_EQ(far, 8 - 1);
	EXPECT_EQ(ang_topo_read(&t, "mkns:8x10x10x10", &why), 8000);
	EXPECT_EQ(t.routers, 8000 + 2400);
	/* An assembly for 20 consists of 6 blocks. */
	EXPECT_EQ(ang_topo_read(&t, "mkns:8x20", &why), 160);
	EXPECT_EQ(ang_topo_blocks(&t, 1), 6);
	EXPECT_EQ(t.routers, 160 + 8 * 6);
	EXPECT_EQ(ang_topo_read(&t, "fattree:40,3,nodes=1600", &why), 1600);
	EXPECT_EQ(t.routers, 1600 + 80 + 80 + 400);
}

static void wrong(const char *text, const char *what, u32 line)
{
	struct ang_topo_why why;
	struct ang_topo t;
	void *mem;

	if (ang_topo_read(&t, text, &why)) {
		mem = malloc(ang_topo_table_size(&t));
		EXPECT_EQ(ang_topo_fill(&t, text, mem, &why), 0);
		free(mem);
	}
	EXPECT(why.what && strstr(why.what, what));
	EXPECT_EQ(why.line, line);
}

static void descriptions(void)
{
	struct ang_topo_why why;
	char text[ANG_TOPO_TEXT];
	struct ang_topo t;
	u32 i;

	for (i = 0; i < NUM(texts); i++) {
		EXPECT(ang_topo_read(&t, texts[i], &why));
		if (t.kind == ANG_TOPO_GRAPH) {
			EXPECT_EQ(ang_topo_describe(&t, text), 0);
			continue;
		}
		EXPECT_EQ(ang_topo_describe(&t, text), strlen(texts[i]) + 1);
		EXPECT(!strncmp(text, texts[i], strlen(texts[i])));
	}
	wrong("", "kind: unknown", 0);
	wrong("ring:5", "kind: unknown", 0);
	wrong("torus:0x2", "sizes: must be numbers", 0);
	wrong("torus:", "sizes: must be numbers", 0);
	wrong("torus:70000", "sizes: must be numbers", 0);
	wrong("torus:2x2x2x2x2x2x2", "too many dimensions", 0);
	wrong("torus:1024x1025", "more than 1048576", 0);
	wrong("mesh:4x4y", "unexpected text", 0);
	wrong("torus:4x4\n\n", "unexpected text", 0);
	wrong("hypercube:0", "1 to 20", 0);
	wrong("hypercube:21", "1 to 20", 0);
	wrong("mkns:9x4", "dimension 1 has more nodes than ports", 0);
	wrong("mkns:3x4,ports=4", "dimension 1 has more nodes than ports", 0);
	wrong("mkns:8x51", "two levels of switches", 0);
	wrong("mkns:2x2x2x2x2", "too many dimensions", 0);
	wrong("mkns:2x2,ports=3", "from 4 to 64", 0);
	wrong("mkns:2x2,ports=65", "from 4 to 64", 0);
	wrong("mkns:2x2,m=0", "options", 0);
	wrong("mkns:2x2,m=2,ports=10", "unexpected text", 0);
	wrong("kns:51", "two levels of switches", 0);
	wrong("fattree:40", "levels must follow", 0);
	wrong("fattree:5,2", "must be even", 0);
	wrong("fattree:66,2", "must be even", 0);
	wrong("fattree:40,7", "from 1 to 6", 0);
	wrong("fattree:64,5", "more than 1048576", 0);
	wrong("fattree:4,2,nodes=5", "nodes=", 0);
	wrong("fattree:4,2,node=4", "nodes=", 0);
	wrong("graph \nnode a\n", "followed by a name", 1);
	wrong("graph g\n", "has no node", 0);
	wrong("graph g\nswitch s\n", "has no node", 0);
	wrong("graph g\nnode a\nnode a\n", "another router", 3);
	wrong("graph g\nnode a\nnode b\na:0 b:0\na:1 a:2\n", "loop", 5);
	wrong("graph g\nnode a\nnode b\nnode c\na:0 b:0\na:0 c:0\n", "used twice", 6);
	wrong("graph g\nnode a\nnode b\na:0 c:0\n", "not declared", 4);
	wrong("graph g\nnode a\n\nswitch b\n", "cannot be reached", 4);
	wrong("graph g\nnode a\nnode b\na:0 b:64\n", "must be", 4);
	wrong("graph g\nnode a\nnode b\na:0 b:00\n", "must be", 4);
	wrong("graph g\nnode a\nnode b\na:0 b\n", "must be", 4);
	wrong("graph g\nnode a b\n", "must be", 2);
	wrong("graph g\nnode\n", "must be", 2);
	wrong("graph g\ngraph h\n", "must be", 2);
}

/*
 * Descriptions with a few characters changed: each one is refused with a
 * reason, or describes a fabric whose routes reach all nodes.
 */
static void changed_descriptions(void)
{
	static const char chars[] = "\n\n :,x#0123456789nodeswitchgraph\t";
	u32 seed = 3, good = 0, round, i, a;

	for (round = 0; round < 4000; round++) {
		const char *from = round & 1 ? odd_text : texts[round / 2 % NUM(texts)];
		char *text = malloc(strlen(from) + 1);	/* a sanitizer detects accesses beyond
							 * this size
							 */
		struct ang_topo_why why;
		struct ang_topo t;
		void *mem;

		strcpy(text, from);
		for (i = 0; i <= round % 3; i++) {
			seed = seed * 1103515245 + 12345;
			text[(seed >> 8) % strlen(from)] =
				chars[(seed >> 24) % (sizeof(chars) - 1)];
		}
		if (!ang_topo_read(&t, text, &why) || t.routers > 1000) {
			EXPECT(t.routers > 1000 || why.what);
			free(text);
			continue;
		}
		mem = malloc(ang_topo_table_size(&t));
		if (ang_topo_fill(&t, text, mem, &why)) {
			for (a = 1; a < t.nodes; a++)
				walk(&t, 0, a, t.routers);
			good++;
		} else {
			EXPECT(why.what);
		}
		free(mem);
		free(text);
	}
	EXPECT(good > 100 && good < 3900);
}

const struct test_case topo_kinds_cases[] = {
	{ "topo: each cable of each kind has two ends", cables },
	{ "topo: routes are as long as each kind promises", lengths },
	{ "topo: paths of a graph go up, then down", graph_lengths },
	{ "topo: no kind has channels that wait in a circle", no_cycle },
	{ "topo: a circle of channels is found", cycle_is_found },
	{ "topo: no path is longer than its kind promises", longest_ways },
	{ "topo: paths of a fat tree are spread", fat_spread },
	{ "topo: a switch is kept by the nearest node", keepers },
	{ "topo: sizes and ports of document 001", document },
	{ "topo: valid and invalid descriptions", descriptions },
	{ "topo: descriptions with characters changed", changed_descriptions },
	{ NULL, NULL },
};
