// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lives of a tree: packets of one life of a row never reach the next life, and
 * rows meet in whatever order they are set.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

#define TREE	4

static struct group g;

static struct tctx *ctx_on(u32 node, u32 index)
{
	u32 i;

	for (i = 0; i < g.n; i++)
		if (g.ctx[i]->node == node && !index--)
			return g.ctx[i];
	return NULL;
}

/* Sets a tree on one node, which two participants join. */
static void set_alone(void)
{
	struct angara_tree_row row = {
		.tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE,
		.pe = 2, .pkey = PKEY, .epoch = 1,
	};
	u32 i;

	EXPECT_EQ(adm_row(g.h, 0, &row), ANGARA_ADM_ST_OK);
	for (i = 1; i < 3; i++)
		EXPECT_EQ(adm_join(g.h, 0, ctx_on(0, i)->id, TREE, 0),
			  ANGARA_ADM_ST_OK);
}

/* Posts an allreduce of one word, whose result is @value. */
static void sum(struct tctx *c, u32 value)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, TREE, 0, 8192, 4);

	*(u32 *)c->buf = value;
	memset(c->buf + 8192, 0, 4);
	post(c, &w, NULL);
	kick(c);
}

static void sum_is(struct tctx *c, u32 value)
{
	EXPECT_EQ(finish(c, NULL), ANGARA_ST_OK);
	EXPECT_EQ(*(u32 *)(c->buf + 8192), value);
}

/*
 * A result of the row's first life is in the root's FIFO, behind a broadcast of
 * another tree that cannot leave.  The row is set again, and one of two
 * participants posts: its operation must wait for the other participant.
 */
static void result_in_fifo(void)
{
	static const u16 pe[2] = { 1, 1 };
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 1, 0, 8192, 8);
	struct angara_cqe cqe;
	struct ang_fifo *f;
	struct tctx *a, *b;
	struct ttree *t;

	g.h = host_new("2", &cfg_default);
	group_new(&g, 3, 8192);
	a = ctx_on(0, 1);
	b = ctx_on(0, 2);
	t = tree_over(g.h, 1, 0, g.ctx, g.n, pe, 1);
	set_alone();
	host_run(g.h);
	host_freeze(g.h, 1, 1);
	f = &ang_node(g.h->fab, 0)->fifo[ANG_FIFO_ROOT];
	w.flags = ANGARA_WQE_QUIET;
	while (f->head == f->tail) {
		post(ctx_on(0, 0), &w, NULL);
		kick(ctx_on(0, 0));
		host_run(g.h);
	}
	sum(a, 1);
	sum(b, 2);
	host_run(g.h);
	EXPECT_EQ(f->tail - f->head, 2);
	EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_TREE_CLEAR, 0, TREE),
		  ANGARA_ADM_ST_OK);
	EXPECT_EQ(finish(a, NULL), ANGARA_ST_TREE_DOWN);
	EXPECT_EQ(finish(b, NULL), ANGARA_ST_TREE_DOWN);
	set_alone();
	sum(a, 10);
	host_freeze(g.h, 1, 0);
	host_run(g.h);
	EXPECT(!poll_cq(a, &cqe));
	sum(b, 20);
	sum_is(a, 30);
	sum_is(b, 30);
	EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_TREE_CLEAR, 0, TREE),
		  ANGARA_ADM_ST_OK);
	tree_del(t);
	group_del(&g);
}

/* As result_in_fifo(), with a broadcast that has not reached the root. */
static void request_in_ring(void)
{
	static const u16 pe[2] = { 1, 1 };
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, TREE, 0, 8192, 8);
	struct tctx *c;
	struct ttree *t;

	g.h = host_new("2", &cfg_default);
	group_new(&g, 1, 8192);
	c = ctx_on(1, 0);
	t = tree_over(g.h, TREE, 0, g.ctx, g.n, pe, 1);
	host_run(g.h);
	host_freeze(g.h, 0, 1);
	memset(c->buf, 7, 8);
	memset(c->buf + 8192, 0, 8);
	post(c, &w, NULL);
	kick(c);
	host_run(g.h);
	EXPECT_EQ(adm_op(g.h, 1, ANGARA_ADM_TREE_CLEAR, 0, TREE), 0);
	EXPECT_EQ(finish(c, NULL), ANGARA_ST_TREE_DOWN);
	EXPECT_EQ(adm_row(g.h, 1, &t->rows[1]), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_join(g.h, 1, c->id, TREE, 0), ANGARA_ADM_ST_OK);
	host_freeze(g.h, 0, 0);
	host_run(g.h);
	EXPECT_EQ(ctx_counter(c, ANGARA_CTR_BCAST(TREE)), 0);
	EXPECT_EQ(c->buf[8192], 0);
	EXPECT_EQ(ang_node(g.h->fab, 0)->tree[TREE].state,
		  ANGARA_TREE_STATE_DOWN);
	tree_del(t);
	group_del(&g);
}

static u32 below(u64 *seed, u32 n)
{
	return (u32)(rnd(seed) % n);
}

/*
 * Clears and sets some rows of the tree again and again, while some nodes are
 * stopped.
 */
static void disturb(struct ttree *t, u64 *seed)
{
	u32 frozen = below(seed, g.h->nodes);
	u32 i, k;

	host_freeze(g.h, frozen, 1);
	for (i = 0; i < 6; i++) {
		k = below(seed, g.h->nodes);
		if (k == frozen || !angara_tree_has(&t->rows[k]))
			continue;
		adm_op(g.h, k, ANGARA_ADM_TREE_CLEAR, 0, t->tree);
		/*
		 * A command to set the row waits for an abort that a stopped
		 * node does not take.
		 */
		if (!ang_node(g.h->fab, k)->tree[t->tree].abort_todo)
			EXPECT_EQ(adm_row(g.h, k, &t->rows[k]),
				  ANGARA_ADM_ST_OK);
	}
	host_freeze(g.h, frozen, 0);
	host_run(g.h);
}

static void set_shuffled(struct ttree *t, u64 *seed)
{
	u32 order[16];
	u32 i, k;

	for (i = 0; i < g.h->nodes; i++) {
		k = below(seed, i + 1);
		order[i] = order[k];
		order[k] = i;
		adm_op(g.h, i, ANGARA_ADM_TREE_CLEAR, 0, t->tree);
	}
	for (i = 0; i < g.h->nodes; i++)
		if (angara_tree_has(&t->rows[order[i]]))
			EXPECT_EQ(adm_row(g.h, order[i], &t->rows[order[i]]),
				  ANGARA_ADM_ST_OK);
	for (i = 0; i < t->n; i++)
		EXPECT_EQ(adm_join(g.h, t->ctx[i]->node, t->ctx[i]->id, t->tree,
				   t->place[i] + 1), ANGARA_ADM_ST_OK);
}

static void any_order(void)
{
	static const u16 pe[8] = { 1, 0, 1, 1, 1, 1, 0, 1 };
	struct ttree *t;
	u64 seed = 1;
	u32 i;

	g.h = host_new("2x2x2", &cfg_default);
	group_new(&g, 1, 8192);
	t = tree_over(g.h, TREE, 3, g.ctx, g.n, pe, 1);
	for (i = 0; i < 300; i++) {
		disturb(t, &seed);
		set_shuffled(t, &seed);
		coll_bcast(t, i % t->n, 600);
		coll_allreduce(t, 512);
	}
	tree_del(t);
	group_del(&g);
}

/* Participants wait, without injection, until their tree is whole. */
static void not_whole(void)
{
	static const u16 pe[2] = { 1, 1 };
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, TREE, 0, 8192, 8);
	struct angara_cqe cqe;
	struct ttree *t;
	u32 i;

	g.h = host_new("2", &cfg_default);
	group_new(&g, 1, 8192);
	t = tree_over(g.h, TREE, 0, g.ctx, g.n, pe, 1);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(adm_op(g.h, i, ANGARA_ADM_TREE_CLEAR, 0, TREE), 0);
	EXPECT_EQ(adm_row(g.h, 0, &t->rows[0]), 0);
	EXPECT_EQ(adm_join(g.h, 0, g.ctx[0]->id, TREE, 0), 0);
	memset(g.ctx[0]->buf, 9, 8);
	memset(g.ctx[1]->buf + 8192, 0, 8);
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	host_run(g.h);
	EXPECT(!poll_cq(g.ctx[0], &cqe));
	EXPECT_EQ(adm_row(g.h, 1, &t->rows[1]), 0);
	EXPECT_EQ(finish(g.ctx[0], NULL), ANGARA_ST_OK);
	tree_del(t);
	group_del(&g);
}

/* Makes a tree of two nodes, without rows yet. */
static struct ttree *two_nodes(void)
{
	static const u16 pe[2] = { 1, 1 };
	struct ttree *t;
	u32 i;

	g.h = host_new("2", &cfg_default);
	group_new(&g, 1, 8192);
	t = tree_over(g.h, TREE, 0, g.ctx, g.n, pe, 1);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(adm_op(g.h, i, ANGARA_ADM_TREE_CLEAR, 0, TREE), 0);
	host_run(g.h);
	return t;
}

static void set_and_join(struct ttree *t, u32 node)
{
	EXPECT_EQ(adm_row(g.h, node, &t->rows[node]), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_join(g.h, node, ctx_on(node, 0)->id, TREE, 0), 0);
}

/* A participant leaves before its row has met that of the parent. */
static void left_unheard(void)
{
	struct ttree *t = two_nodes();
	struct ang_node *leaf = ang_node(g.h->fab, 1);

	set_and_join(t, 1);
	host_freeze(g.h, 1, 1);
	set_and_join(t, 0);
	sum(ctx_on(0, 0), 1);
	host_run(g.h);
	EXPECT_EQ(ang_tree_leave(&g.h->v, leaf, ctx_on(1, 0)->id, TREE), 0);
	host_freeze(g.h, 1, 0);
	EXPECT_EQ(finish(ctx_on(0, 0), NULL), ANGARA_ST_TREE_DOWN);
	tree_del(t);
	group_del(&g);
}

/*
 * The participant of the root leaves after the root's row has met the child's
 * row, but before the child's row has met the root's row.
 */
static void left_unmet(void)
{
	struct ttree *t = two_nodes();
	struct ang_node *root = ang_node(g.h->fab, 0);
	struct ang_ring *r = ang_ring(g.h->fab, root, t->rows[1].to_root ^ 1,
				      ANGARA_VC_UP);

	set_and_join(t, 0);
	host_freeze(g.h, 0, 1);
	set_and_join(t, 1);
	sum(ctx_on(1, 0), 1);
	host_run(g.h);
	while (ang_ring_head(&g.h->v, r))
		ang_up_ring(&g.h->v, root, r, t->rows[1].to_root ^ 1);
	EXPECT_EQ(ang_tree_leave(&g.h->v, root, ctx_on(0, 0)->id, TREE), 0);
	host_freeze(g.h, 0, 0);
	EXPECT_EQ(finish(ctx_on(1, 0), NULL), ANGARA_ST_TREE_DOWN);
	tree_del(t);
	group_del(&g);
}

/*
 * The root's row goes down when it is set, because one of its two children is
 * lost.
 */
static void born_down(void)
{
	static const struct angara_tree_row root = {
		.tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE,
		.port_sum = 2, .ports = 3, .pe = 1, .pkey = PKEY, .epoch = 1,
	};
	static const struct angara_tree_row leaf = {
		.tree = TREE, .to_root = 0, .pe = 1, .pkey = PKEY, .epoch = 1,
	};
	static const u32 gone[1] = { 1 };
	struct tctx *c;
	u32 i;

	g.h = host_half("4", &cfg_default, 0xD);
	ang_remote_set(&g.h->v, 1);
	host_start(g.h);
	c = ctx_new(g.h, 3, 0, PKEY, 6, 6);
	ctx_buffer(c, 16384);
	ang_remote_lost(&g.h->v, gone, 1);
	host_run(g.h);
	EXPECT_EQ(adm_row(g.h, 3, &leaf), 0);
	EXPECT_EQ(adm_op(g.h, 3, ANGARA_ADM_JOIN, 0, TREE), 0);
	sum(c, 1);
	EXPECT_EQ(adm_row(g.h, 0, &root), 0);
	EXPECT_EQ(finish(c, NULL), ANGARA_ST_TREE_DOWN);
	for (i = 0; i < 4; i += 3)
		EXPECT_EQ(adm_op(g.h, i, ANGARA_ADM_TREE_CLEAR, 0, TREE), 0);
	ctx_del(c);
	host_drain(g.h, 1);
	host_free(g.h);
}

/*
 * Sets the counters as if almost 2^31 packets of reduces had passed.  Then come
 * reduces, across 2^31, and an allreduce.
 */
static void many_reduces(void)
{
	struct ttree *t = two_nodes();
	u32 base = 0x7FFFFFF8U;
	struct angara_wqe w = wqe_coll(ANGARA_OP_REDUCE, TREE, 0, 8192, 4);
	u32 i, k;

	for (i = 0; i < 2; i++)
		set_and_join(t, i);
	host_run(g.h);
	for (i = 0; i < 2; i++) {
		struct ang_node *n = ang_node(g.h->fab, i);

		n->tree[TREE].done = base;
		n->tree[TREE].pe_done = base;
		ang_ctx(g.h->fab, n, ctx_on(i, 0)->id)->member[TREE].seq = base;
	}
	for (k = 0; k < 32; k++) {
		for (i = 0; i < 2; i++) {
			post(ctx_on(i, 0), &w, NULL);
			kick(ctx_on(i, 0));
		}
		for (i = 0; i < 2; i++)
			EXPECT_EQ(finish(ctx_on(i, 0), NULL), ANGARA_ST_OK);
	}
	sum(ctx_on(0, 0), 1);
	sum(ctx_on(1, 0), 2);
	for (i = 0; i < 2; i++)
		sum_is(ctx_on(i, 0), 3);
	tree_del(t);
	group_del(&g);
}

const struct test_case life_cases[] = {
	{ "life: a result of an earlier life in the root's FIFO",
	  result_in_fifo },
	{ "life: a broadcast of an earlier life on a link", request_in_ring },
	{ "life: rows are set in any order, repeatedly", any_order },
	{ "life: operations wait until all rows have met", not_whole },
	{ "life: a participant leaves before the parent's row has met its row",
	  left_unheard },
	{ "life: a participant leaves before the rows have met", left_unmet },
	{ "life: a row that is down as soon as it is set", born_down },
	{ "life: an allreduce after very many reduces", many_reduces },
	{ NULL, NULL },
};
