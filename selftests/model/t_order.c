// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions whose result depends on the order of combining: the tree
 * determines the order, not arrival.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

#define MAX_LEN		6000
#define LOCAL		4
#define RESULT		8192	/* offset of results in each buffer */
#define TREE		3

static const struct kind {
	u32 type;
	u32 op;
} kinds[] = {
	{ ANGARA_TYPE_FLOAT, ANGARA_RED_SUM },
	{ ANGARA_TYPE_FLOAT, ANGARA_RED_PROD },
	{ ANGARA_TYPE_DOUBLE, ANGARA_RED_SUM },
	{ ANGARA_TYPE_DOUBLE, ANGARA_RED_PROD },
};

static struct group g;
static u64 seed;

static u32 pick(u32 below)
{
	return (u32)((rnd(&seed) >> 16) % below);
}

static void start(const char *dims, const struct ang_cfg *cfg, u32 local)
{
	g.h = host_new(dims, cfg);
	group_new(&g, local, RESULT);
}

/* Fills a buffer with floats of either sign near enough to 1 for sums to be rounded. */
static void give(const struct tctx *c, u32 type)
{
	u32 i;

	for (i = 0; i < MAX_LEN / 8; i++) {
		u64 x = rnd(&seed) ^ rnd(&seed) << 32;

		if (type == ANGARA_TYPE_DOUBLE)
			x = (x & 0x803FFFFFFFFFFFFFULL) | 0x3FC0000000000000ULL;
		else
			x = (x & 0x81FFFFFF81FFFFFFULL) | 0x3E0000003E000000ULL;
		memcpy(c->buf + 8 * i, &x, 8);
	}
}

/* Makes a tree with random nodes, root and places. */
static struct ttree *some_tree(u32 tree, u32 local)
{
	u16 *pe = calloc(g.h->nodes, sizeof(*pe));
	u32 *place = calloc(g.n, sizeof(*place));
	struct tctx **some = calloc(g.n, sizeof(*some));
	struct ttree *t;
	u32 node, k, n = 0;

	for (node = 0; node < g.h->nodes; node++) {
		u32 first = pick(local);

		pe[node] = (u16)(node ? pick(local + 1) : local);
		for (k = 0; k < pe[node]; k++) {
			place[n] = (first + k) % pe[node];
			some[n++] = g.ctx[node * local + k];
		}
	}
	t = tree_placed(g.h, tree, pick(g.h->nodes), pe, some, place, n, 1);
	free(some);
	free(place);
	free(pe);
	return t;
}

static struct angara_wqe entry(const struct ttree *t, const struct kind *kind,
			       const struct tctx *to, u32 len)
{
	struct angara_wqe w = wqe_coll(to ? ANGARA_OP_REDUCE :
				       ANGARA_OP_ALLREDUCE, t->tree, 0, RESULT,
				       len);

	w.type = (u8)kind->type;
	w.redop = (u8)kind->op;
	if (to) {
		w.dst_node = cpu_to_le32(to->node);
		w.dst_ctx = cpu_to_le16((u16)to->id);
	}
	return w;
}

/* Participants ring one after another; a node is stopped for a while. */
static void arrive_by_chance(const struct ttree *t, const struct angara_wqe *w)
{
	u32 *turn = calloc(t->n, sizeof(*turn));
	u32 frozen = pick(g.h->nodes);
	u32 thaw = pick(t->n);
	u32 i;

	host_freeze(g.h, frozen, 1);
	for (i = 0; i < t->n; i++) {
		u32 other = pick(i + 1);

		turn[i] = turn[other];
		turn[other] = i;
		post(t->ctx[i], w, NULL);
	}
	for (i = 0; i < t->n; i++) {
		kick(t->ctx[turn[i]]);
		if (pick(3))
			run_steps(&g.h->v, 1 + pick(30));
		if (i == thaw)
			host_freeze(g.h, frozen, 0);
	}
	free(turn);
}

static void expect_result(const struct ttree *t, const struct tctx *to,
			  const void *want, u32 len)
{
	struct angara_cqe cqe;
	u32 i;

	for (i = 0; i < t->n; i++) {
		struct tctx *c = t->ctx[i];

		EXPECT_EQ(finish(c, &cqe), ANGARA_ST_OK);
		EXPECT_EQ(le32_to_cpu(cqe.length), len);
		if (!to || c == to)
			EXPECT(!memcmp(c->buf + RESULT, want, len));
		memset(c->buf + RESULT, 0x5A, MAX_LEN);
	}
}

static void any_arrival(void)
{
	static const char * const dims[] = { "1", "3", "2x2", "3x3", "3x2x2", "5" };
	u64 want[MAX_LEN / 8];
	u32 k, i, round;

	seed = 20;
	for (k = 0; k < 48; k++) {
		struct ang_cfg cfg = k % 2 ? cfg_default : cfg_tight;
		const struct kind *kind = &kinds[k % NUM(kinds)];
		u32 len = 8 * (pick(4) ? pick(40) : pick(MAX_LEN / 8 + 1));
		struct angara_wqe w;
		struct ttree *t;

		cfg.train = (u16)(1U << pick(4));
		start(dims[k % NUM(dims)], &cfg, LOCAL);
		t = some_tree(TREE, LOCAL);
		for (i = 0; i < t->n; i++)
			give(t->ctx[i], kind->type);
		coll_fold(t, kind->type, kind->op, 0, want, len);
		for (round = 0; round < 6; round++) {
			struct tctx *to = round % 2 ? t->ctx[pick(t->n)] : NULL;

			w = entry(t, kind, to, len);
			arrive_by_chance(t, &w);
			expect_result(t, to, want, len);
		}
		tree_del(t);
		group_del(&g);
	}
}

/* Combining in the order of arrival would give other bits. */
static void order_matters(void)
{
	u64 want[MAX_LEN / 8], other[MAX_LEN / 8];
	u32 k, i;

	seed = 21;
	start("1", &cfg_default, LOCAL);
	for (k = 0; k < NUM(kinds); k++) {
		struct ttree *t = some_tree(TREE, LOCAL);

		for (i = 0; i < t->n; i++)
			give(t->ctx[i], kinds[k].type);
		coll_fold(t, kinds[k].type, kinds[k].op, 0, want, MAX_LEN);
		for (i = 0; i < t->n; i++)
			t->place[i] = t->n - 1 - t->place[i];
		coll_fold(t, kinds[k].type, kinds[k].op, 0, other, MAX_LEN);
		EXPECT(memcmp(want, other, MAX_LEN));
		tree_del(t);
	}
	group_del(&g);
}

/*
 * With the fewest buffers allowed, the participants of every node arrive in the
 * reverse order, on all trees at once: the next one in order still gets a
 * buffer.
 */
static void last_place_first(void)
{
	static u64 want[ANG_DEF_TREES][64];
	struct ang_cfg cfg = cfg_tight;
	struct ttree *t[ANG_DEF_TREES];
	struct angara_wqe w;
	struct angara_cqe cqe;
	u32 i, k, place;

	seed = 22;
	cfg.ops = 64;
	start("2x2", &cfg, LOCAL);
	for (i = 0; i < g.n; i++)
		give(g.ctx[i], ANGARA_TYPE_DOUBLE);
	for (k = 0; k < ANG_DEF_TREES; k++) {
		t[k] = some_tree(k, LOCAL);
		coll_fold(t[k], ANGARA_TYPE_DOUBLE, ANGARA_RED_SUM, 0, want[k], 512);
	}
	for (place = LOCAL; place--; )
		for (k = 0; k < ANG_DEF_TREES; k++)
			for (i = 0; i < t[k]->n; i++) {
				if (t[k]->place[i] != place)
					continue;
				w = entry(t[k], &kinds[2], NULL, 512);
				wqe_dst(&w, RESULT + 512 * k);
				post(t[k]->ctx[i], &w, NULL);
				kick(t[k]->ctx[i]);
				host_run(g.h);
			}
	for (k = 0; k < ANG_DEF_TREES; k++)
		for (i = 0; i < t[k]->n; i++) {
			EXPECT(poll_cq(t[k]->ctx[i], &cqe) && !cqe.status);
			EXPECT(!memcmp(t[k]->ctx[i]->buf + RESULT + 512 * k,
				       want[k], 512));
		}
	for (k = 0; k < ANG_DEF_TREES; k++)
		tree_del(t[k]);
	group_del(&g);
}

/*
 * Makes a tree on one node, joined so that each place is the number of the
 * context.
 */
static struct ttree *on_one_node(u32 tree)
{
	static const u16 pe[1] = { LOCAL };

	return tree_over(g.h, tree, 0, g.ctx, LOCAL, pe, 1);
}

static void post_kind(struct ttree *t, u32 i, const struct kind *kind, u32 key)
{
	struct angara_wqe w = entry(t, kind, NULL, 256);

	w.lkey = cpu_to_le32(key);
	post(t->ctx[i], &w, NULL);
	kick(t->ctx[i]);
	host_run(t->h);
}

/* Waiting contributions are released when their tree goes down. */
static void down_while_waiting(void)
{
	struct angara_cqe cqe;
	struct ttree *t;
	u32 i;

	start("1", &cfg_default, LOCAL);
	t = on_one_node(1);
	for (i = LOCAL - 1; i; i--)
		post_kind(t, i, &kinds[2], BUF_KEY);
	EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_LEAVE, 0, 1), ANGARA_ADM_ST_OK);
	for (i = 1; i < LOCAL; i++)
		EXPECT(poll_cq(g.ctx[i], &cqe) &&
		       le16_to_cpu(cqe.status) == ANGARA_ST_TREE_DOWN);
	host_check_idle(g.h);
	tree_del(t);
	group_del(&g);
}

/* A contribution that cannot be read keeps its place, whichever that is. */
static void error_in_any_place(void)
{
	struct ttree *t;
	u32 bad, i;

	start("1", &cfg_default, LOCAL);
	t = on_one_node(1);
	for (bad = 0; bad < LOCAL; bad++) {
		for (i = LOCAL; i--; )
			post_kind(t, i, &kinds[0], i == bad ? 7 : BUF_KEY);
		for (i = 0; i < LOCAL; i++)
			EXPECT_EQ(finish(g.ctx[i], NULL), ANGARA_ST_KEY);
		host_check_idle(g.h);
	}
	tree_del(t);
	group_del(&g);
}

/*
 * A contribution that is out of order and has no buffer waits for the next one
 * in order.  If that one has another type, all participants get an error
 * instead.
 */
static void other_type_in_order(void)
{
	static const struct kind integer = { ANGARA_TYPE_INT64, ANGARA_RED_SUM };
	struct angara_cqe cqe;
	struct ttree *full, *t;
	u32 i, k;

	for (k = 0; k < 2; k++) {
		start("1", &cfg_tight, LOCAL);
		full = on_one_node(1);
		t = on_one_node(2);
		/* These contributions hold all buffers that trees share. */
		post_kind(full, 1, &kinds[2], BUF_KEY);
		post_kind(full, 2, &kinds[2], BUF_KEY);
		post_kind(t, 1, k ? &integer : &kinds[2], BUF_KEY);
		post_kind(t, 0, k ? &kinds[2] : &integer, BUF_KEY);
		EXPECT(poll_cq(g.ctx[1], &cqe) && !poll_cq(g.ctx[2], &cqe));
		EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_MISMATCH);
		EXPECT(poll_cq(g.ctx[0], &cqe));
		EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_MISMATCH);
		post_kind(full, 3, &kinds[2], BUF_KEY);
		post_kind(full, 0, &kinds[2], BUF_KEY);
		for (i = 0; i < LOCAL; i++)
			EXPECT_EQ(finish(g.ctx[i], NULL), ANGARA_ST_OK);
		tree_del(t);
		tree_del(full);
		group_del(&g);
	}
}

/* No participant contributes twice, not even by a forged packet. */
static void once(void)
{
	struct ang_node *n;
	struct ttree *t;
	struct ang_pkt p;
	u32 i;

	start("1", &cfg_default, LOCAL);
	n = ang_node(g.h->fab, 0);
	t = on_one_node(1);
	for (i = LOCAL; i-- > 2; )
		post_kind(t, i, &kinds[2], BUF_KEY);
	p = n->tree[1].slot[0].pkt;
	EXPECT(!p.buf && p.src_ctx == LOCAL - 1);
	/*
	 * Forge a contribution that waits, one that is combined, one that does
	 * not exist.
	 */
	ang_reduce_take(&g.h->v, n, &n->tree[p.tree], &p, ANGARA_PORT_NONE);
	EXPECT_EQ(n->drops[ANGARA_DROP_ORDER], 1);
	post_kind(t, 0, &kinds[2], BUF_KEY);
	p.src_ctx = 0;
	ang_reduce_take(&g.h->v, n, &n->tree[p.tree], &p, ANGARA_PORT_NONE);
	EXPECT_EQ(n->drops[ANGARA_DROP_ORDER], 2);
	ang_reduce_take(&g.h->v, n, &n->tree[p.tree], &p, 0);
	EXPECT_EQ(n->drops[ANGARA_DROP_ORDER], 3);
	post_kind(t, 1, &kinds[2], BUF_KEY);
	for (i = 0; i < LOCAL; i++)
		EXPECT_EQ(finish(g.ctx[i], NULL), ANGARA_ST_OK);
	tree_del(t);
	group_del(&g);
}

/* Checks the participants of tree 5 as places() has joined them. */
static void looked_at(struct ang_tree_look *look)
{
	static const u16 ctxs[LOCAL] = { 1, 0, 2, 3 };
	struct ang_node *n = ang_node(g.h->fab, 0);
	u32 i;

	EXPECT(ang_tree_look(&g.h->v, 0, 5, look));
	EXPECT_EQ(look->root, 0);
	EXPECT_EQ(look->life, n->tree[5].life);
	EXPECT_EQ(look->row.pe, LOCAL);
	for (i = 0; i < LOCAL; i++) {
		EXPECT_EQ(look->ctx[i], ctxs[i]);
		EXPECT_EQ(look->ctx_life[i], ang_ctx(g.h->fab, n, ctxs[i])->life);
	}
	EXPECT(ang_tree_lives(g.h->fab, 0, 5, look->life));
	EXPECT(!ang_tree_lives(g.h->fab, 0, 5, look->life - 1));
	EXPECT(!ang_tree_lives(g.h->fab, 0, 6, 0));
	/* A node that has work cannot be read. */
	ang_wake(&g.h->v, n, 0);
	EXPECT(!ang_tree_look(&g.h->v, 0, 5, look));
	host_run(g.h);
}

static void places(void)
{
	struct ang_tree_look look;
	struct angara_tree_row row = {
		.tree = 5, .is_root = 1, .to_root = ANGARA_PORT_NONE, .pe = LOCAL,
		.pkey = PKEY, .epoch = 1,
	};
	u32 round;

	start("1", &cfg_default, LOCAL);
	for (round = 0; round < 2; round++) {
		EXPECT_EQ(adm_row(g.h, 0, &row), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_join(g.h, 0, 0, 5, LOCAL + 1), ANGARA_ADM_ST_PARAM);
		EXPECT_EQ(adm_join(g.h, 0, 0, 5, 255), ANGARA_ADM_ST_PARAM);
		EXPECT_EQ(adm_join(g.h, 0, 0, 5, 2), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_join(g.h, 0, 0, 5, 2), ANGARA_ADM_ST_EXISTS);
		EXPECT_EQ(adm_join(g.h, 0, 1, 5, 2), ANGARA_ADM_ST_FULL);
		EXPECT_EQ(adm_join(g.h, 0, 1, 5, 0), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_join(g.h, 0, 2, 5, 0), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_join(g.h, 0, 3, 5, 3), ANGARA_ADM_ST_FULL);
		EXPECT(!ang_tree_look(&g.h->v, 0, 5, &look));
		EXPECT_EQ(adm_join(g.h, 0, 3, 5, LOCAL), ANGARA_ADM_ST_OK);
		EXPECT_EQ(ang_ctx(g.h->fab, ang_node(g.h->fab, 0), 1)->place[5], 0);
		EXPECT_EQ(ang_ctx(g.h->fab, ang_node(g.h->fab, 0), 2)->place[5], 2);
		looked_at(&look);
		EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_TREE_CLEAR, 0, 5),
			  ANGARA_ADM_ST_OK);
	}
	EXPECT(!ang_tree_look(&g.h->v, 0, 5, &look));
	EXPECT(!ang_tree_look(&g.h->v, g.h->cfg.topo.routers, 5, &look));
	EXPECT(!ang_tree_look(&g.h->v, 0, g.h->cfg.trees, &look));
	group_del(&g);
}

const struct test_case order_cases[] = {
	{ "order: floats give one result in any order of arrival", any_arrival },
	{ "order: another order gives another result", order_matters },
	{ "order: the last place first, with the fewest buffers", last_place_first },
	{ "order: a tree goes down while contributions wait", down_while_waiting },
	{ "order: an error in any place", error_in_any_place },
	{ "order: the next participant brings another type", other_type_in_order },
	{ "order: each participant contributes once", once },
	{ "order: requested and assigned places", places },
	{ NULL, NULL },
};
