// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The torus, compared with a search in its graph.
 */
#include <string.h>

#include "test.h"

static const char * const tori[] = {
	"1", "2", "3", "5", "2x2x2", "3x3", "4x4", "5x1x2", "4x3x2x2", "1x1x1x7",
	"6x5", "3x2x3x2",
};

static void topo_of(struct ang_topo *t, const char *dims)
{
	struct angara_topo topo;

	EXPECT(!angara_topo_parse(dims, &topo));
	EXPECT(ang_topo_init(t, topo.ndims, topo.dims));
}

/* Distances from @from by breadth-first search over the links. */
static void search(const struct ang_topo *t, u32 from, u32 *dist)
{
	u32 *queue = malloc(t->nodes * sizeof(*queue));
	u32 head = 0, tail = 1;

	memset(dist, 0xFF, t->nodes * sizeof(*dist));
	dist[from] = 0;
	queue[0] = from;
	while (head < tail) {
		u32 n = queue[head++];
		u32 dir;

		for (dir = 0; dir < 2 * t->ndims; dir++) {
			u32 to = ang_topo_neighbor(t, n, dir);

			if (to == ANG_NONE || dist[to] != ANG_NONE)
				continue;
			dist[to] = dist[n] + 1;
			queue[tail++] = to;
		}
	}
	EXPECT_EQ(tail, t->nodes);
	free(queue);
}

static void follow(const struct ang_topo *t, u32 from, u32 to, u32 expected)
{
	u32 last_dim = 0;
	u32 steps = 0;
	u32 at = from;

	while (at != to) {
		u32 dir = ang_topo_route(t, at, to);

		EXPECT(dir < 2 * t->ndims);
		EXPECT(dir / 2 >= last_dim);
		last_dim = dir / 2;
		at = ang_topo_neighbor(t, at, dir);
		EXPECT(at < t->nodes);
		EXPECT(++steps <= expected);
	}
	EXPECT_EQ(steps, expected);
	EXPECT_EQ(ang_topo_route(t, at, to), ANGARA_PORT_NONE);
}

/* A table gives the same routes as arithmetic, and stays within its size. */
static void tables(void)
{
	static const char * const texts[] = {
		"torus:1", "torus:4x3x2x2", "torus:2x2x2x2x2x2", "torus:7x1x3",
		"mesh:5", "mesh:4x1x3", "hypercube:1", "hypercube:5",
		"hypercube:7",
	};
	u32 i, a, b, port;

	for (i = 0; i < NUM(texts); i++) {
		struct ang_topo_why why;
		struct ang_topo t, filled;
		char text[ANG_TOPO_TEXT];
		u8 *mem;
		u64 size;

		EXPECT(ang_topo_read(&t, texts[i], &why));
		EXPECT_EQ(ang_topo_describe(&t, text), strlen(texts[i]) + 1);
		EXPECT(!strncmp(text, texts[i], strlen(texts[i])));
		size = ang_topo_table_size(&t);
		mem = malloc(size);	/* a sanitizer detects accesses beyond
					 * this size
					 */
		filled = t;
		EXPECT_EQ(ang_topo_fill(&filled, NULL, mem, &why), t.nodes);
		for (a = 0; a < t.routers; a++) {
			for (port = 0; port < t.nports + 2U; port++) {
				u32 far = 0, other = 0;
				u32 to = ang_topo_peer(&t, a, port, &far);

				EXPECT_EQ(ang_topo_peer(&filled, a, port, &other), to);
				EXPECT(to == ANG_NONE || far == other);
			}
			for (b = 0; b < t.nodes; b++)
				EXPECT_EQ(ang_topo_route(&filled, a, b),
					  ang_topo_route(&t, a, b));
		}
		free(mem);
	}
}

static void routes(void)
{
	struct ang_topo t;
	u32 i, a, b;

	for (i = 0; i < NUM(tori); i++) {
		u32 *dist;

		topo_of(&t, tori[i]);
		dist = malloc(t.nodes * sizeof(*dist));
		for (a = 0; a < t.nodes; a++) {
			search(&t, a, dist);
			for (b = 0; b < t.nodes; b++)
				follow(&t, a, b, dist[b]);
		}
		free(dist);
	}
}

static void neighbours(void)
{
	struct ang_topo t;
	u32 i, n, dir;

	for (i = 0; i < NUM(tori); i++) {
		topo_of(&t, tori[i]);
		for (n = 0; n < t.nodes; n++) {
			u16 coord[ANG_MAX_DIMS];

			ang_topo_coord(&t, n, coord);
			EXPECT_EQ(ang_topo_node(&t, coord), n);
			for (dir = 0; dir < ANG_MAX_DIRS + 4; dir++) {
				u32 to = ang_topo_neighbor(&t, n, dir);

				if (dir >= 2 * t.ndims || t.dims[dir / 2] < 2) {
					EXPECT_EQ(to, ANG_NONE);
					continue;
				}
				EXPECT(to < t.nodes && to != n);
				EXPECT_EQ(ang_topo_neighbor(&t, to, dir ^ 1), n);
			}
		}
	}
}

static void sizes(void)
{
	static const u16 huge[] = { 65535, 65535, 65535, 65535 };
	static const u16 most[] = { 1024, 1024, 1, 1 };
	static const u16 over[] = { 1024, 1025, 1, 1 };
	static const u16 zero[] = { 2, 0, 2, 2 };
	struct ang_topo t;

	EXPECT_EQ(ang_topo_init(&t, 4, huge), 0);
	EXPECT_EQ(ang_topo_init(&t, 4, most), ANG_MAX_NODES);
	EXPECT_EQ(ang_topo_init(&t, 2, over), 0);
	EXPECT_EQ(ang_topo_init(&t, 4, zero), 0);
	EXPECT_EQ(ang_topo_init(&t, 1, zero), 2);
	EXPECT_EQ(ang_topo_init(&t, 0, most), 0);
	EXPECT_EQ(ang_topo_init(&t, 5, most), 0);
}

/* Checks each bound of a configuration, from both sides. */
static void configurations(void)
{
	struct ang_cfg good = cfg_tight;
	struct ang_cfg c;

	EXPECT_EQ(ang_topo_init(&good.topo, 3, (const u16[]){ 2, 2, 2 }), 8);
	EXPECT_EQ(ang_cfg_check(&good), 8);
#define BAD(member, value)						\
do {									\
	c = good;							\
	c.member = (value);						\
	EXPECT_EQ(ang_cfg_check(&c), 0);				\
} while (0)
#define GOOD(member, value)						\
do {									\
	c = good;							\
	c.member = (value);						\
	EXPECT_EQ(ang_cfg_check(&c), 8);				\
} while (0)
	BAD(topo.nodes, 0);
	BAD(ctxs, 0);
	BAD(ctxs, ANG_MAX_CTXS + 1);
	GOOD(ctxs, ANG_MAX_CTXS);
	BAD(ops, 0);
	BAD(ops, 65);
	GOOD(ops, 64);
	BAD(bufs, 7);
	GOOD(bufs, 65535);
	BAD(depth, 2);
	BAD(depth, 6);
	GOOD(depth, 32768);
	BAD(train, 0);
	BAD(train, 3);
	BAD(train, 48);
	BAD(train, 128);
	GOOD(train, 8);
	GOOD(train, 64);
	BAD(trees, 0);
	BAD(trees, ANGARA_MAX_TREES + 1);
	GOOD(trees, 1);
	GOOD(trees, ANGARA_MAX_TREES);
	BAD(remote, 2);
#undef BAD
#undef GOOD
}

const struct test_case topo_cases[] = {
	{ "topo: routes are shortest and in dimension order", routes },
	{ "topo: tables agree with arithmetic", tables },
	{ "topo: neighbours and coordinates", neighbours },
	{ "topo: sizes out of range", sizes },
	{ "topo: bounds of a configuration", configurations },
	{ NULL, NULL },
};
