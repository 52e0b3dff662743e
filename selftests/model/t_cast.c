// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Broadcasts of one train that begin at the root (ang_cast.c); t_hop.c compares
 * random ones with packets.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

#define TREE	5
#define HALF	4096

static const u16 pe[2] = { 1, 1 };

/* Two nodes whose packets may bypass links. */
static void two_nodes(struct group *g)
{
	g->h = host_new("2", &cfg_tight);
	g->h->ops.trace = NULL;
	group_new(g, 1, HALF);
}

/* Broadcasts 8 bytes, filled with @value, to @at of each second half. */
static void cast(struct tctx *c, u32 at, u8 value)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, TREE, at, HALF + at, 8);

	memset(c->buf + at, value, 8);
	w.cookie = cpu_to_le64(value);
	post(c, &w, NULL);
	kick(c);
	host_run(c->h);
}

static bool has(const struct tctx *c, u32 at, u8 value)
{
	u8 want[8];

	memset(want, value, sizeof(want));
	return !memcmp(c->buf + HALF + at, want, sizeof(want));
}

/* Completions of broadcasts come in order.  Return: their number. */
static u32 ended(struct tctx *c, u32 from)
{
	struct angara_cqe cqe;
	u32 n = 0;

	while (poll_cq(c, &cqe)) {
		EXPECT_EQ(cqe.status, ANGARA_ST_OK);
		EXPECT_EQ(le64_to_cpu(cqe.cookie), from + n++);
	}
	return n;
}

/* A child whose link is full gets the broadcasts later, in order. */
static void full_link(void)
{
	const u32 num = 2 * cfg_tight.depth;
	u32 i, before, order = 0;
	struct tctx *child;
	struct group g;
	struct ttree *t;

	two_nodes(&g);
	t = tree_over(g.h, TREE, 0, g.ctx, g.n, pe, 1);
	host_run(g.h);
	child = g.ctx[1];
	host_freeze(g.h, 1, 1);
	for (i = 0; i < num; i++)
		cast(g.ctx[0], 8 * i, (u8)(i + 1));
	before = ended(g.ctx[0], 1);
	EXPECT(before && before <= cfg_tight.depth);
	host_freeze(g.h, 1, 0);
	host_run(g.h);
	EXPECT_EQ(before + ended(g.ctx[0], before + 1), num);
	EXPECT_EQ(ctx_counter(child, ANGARA_CTR_BCAST(TREE)), num);
	for (i = 0; i < num; i++)
		order += has(child, 8 * i, (u8)(i + 1));
	EXPECT_EQ(order, num);
	tree_del(t);
	group_del(&g);
}

/* The root is told that its own memory takes no broadcast; the child has it. */
static void own_memory(void)
{
	struct angara_cqe cqe;
	struct group g;
	struct ttree *t;

	two_nodes(&g);
	t = tree_over(g.h, TREE, 0, g.ctx, g.n, pe, 1);
	host_run(g.h);
	g.ctx[0]->mrt[BUF_KEY].access = 0;
	cast(g.ctx[0], 0, 7);
	EXPECT(poll_cq(g.ctx[0], &cqe));
	EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_ACCESS);
	EXPECT_EQ(le32_to_cpu(cqe.length), 0);
	EXPECT_EQ(le32_to_cpu(cqe.node), 0);
	EXPECT(!has(g.ctx[0], 0, 7));
	EXPECT(has(g.ctx[1], 0, 7));
	EXPECT_EQ(ctx_counter(g.ctx[0], ANGARA_CTR_BCAST(TREE)), 1);
	tree_del(t);
	group_del(&g);
}

/* Sets a row of the tree over nodes 0, the root, and 1; its context joins. */
static void set_and_join(struct group *g, u32 node)
{
	static const struct angara_tree_row row[2] = {
		{ .tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE,
		  .port_sum = 1, .ports = 1, .pe = 1, .pkey = PKEY, .epoch = 1 },
		{ .tree = TREE, .to_root = 1, .pe = 1, .pkey = PKEY, .epoch = 1 },
	};

	EXPECT_EQ(adm_row(g->h, node, &row[node]), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_join(g->h, node, g->ctx[node]->id, TREE, 0), ANGARA_ADM_ST_OK);
}

/* A broadcast waits at the root until the child's row has met that of the root. */
static void opens_later(void)
{
	struct group g;
	u32 i;

	two_nodes(&g);
	set_and_join(&g, 1);
	host_freeze(g.h, 1, 1);
	set_and_join(&g, 0);
	cast(g.ctx[0], 0, 1);
	EXPECT_EQ(ended(g.ctx[0], 1), 0);
	host_freeze(g.h, 1, 0);
	host_run(g.h);
	EXPECT_EQ(ended(g.ctx[0], 1), 1);
	EXPECT(has(g.ctx[1], 0, 1));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(adm_op(g.h, i, ANGARA_ADM_TREE_CLEAR, 0, TREE), 0);
	group_del(&g);
}

const struct test_case cast_cases[] = {
	{ "cast: a child whose link is full", full_link },
	{ "cast: the root's own memory", own_memory },
	{ "cast: a tree that opens later", opens_later },
	{ NULL, NULL },
};
