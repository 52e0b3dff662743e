// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Broadcast, reduce, allreduce, barrier.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

static const u32 small_lengths[] = { 0, 4, 252, 256, 260 };
static const u32 lengths[] = { 0, 1, 4, 255, 256, 257, 2048, 2052, 4096 };

/* Runs every operation with every participant as source or destination. */
static void all_ops(struct ttree *t, const u32 *lens, u32 nlens)
{
	u32 l, i;

	for (l = 0; l < nlens; l++) {
		for (i = 0; i < t->n; i++)
			coll_bcast(t, i, lens[l]);
		if (lens[l] % 4)
			continue;
		for (i = 0; i < t->n; i++)
			coll_reduce(t, i, lens[l]);
		coll_allreduce(t, lens[l]);
	}
	coll_barrier(t);
}

static void fabric(const char *dims, struct ang_cfg cfg, u32 local,
		   struct group *g, u64 len)
{
	g->h = host_new(dims, &cfg);
	group_new(g, local, len);
}

static void every_root_and_subset(void)
{
	struct group g;
	u32 root, set;

	fabric("2x2x2", cfg_default, 1, &g, 4096);
	for (root = 0; root < 8; root++) {
		for (set = 1; set < 256; set++) {
			u16 pe[8];
			struct ttree *t;
			u32 i;

			for (i = 0; i < 8; i++)
				pe[i] = set >> i & 1;
			t = tree_over(g.h, set % 16, root, g.ctx, g.n, pe, 1);
			all_ops(t, small_lengths, set % 16 == 15 ? 5 : 2);
			tree_del(t);
		}
	}
	group_del(&g);
}

/* Every node is the root of a tree and broadcasts on all other trees. */
static void requests_crossing(void)
{
	static const char * const dims[] = { "2", "5", "2x2x2", "4x2" };
	struct angara_wqe w;
	struct group g;
	u32 d, i, k, t;

	for (d = 0; d < NUM(dims); d++) {
		struct ang_cfg cfg = cfg_tight;
		struct ttree *tree[8];
		u16 pe[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };

		cfg.ops = 64;
		fabric(dims[d], cfg, 1, &g, 4096);
		for (t = 0; t < g.n; t++)
			tree[t] = tree_over(g.h, t, t, g.ctx, g.n, pe, 1);
		for (i = 0; i < g.n; i++)
			for (k = 0; k < 56; k++) {
				w = wqe_coll(ANGARA_OP_BCAST, (i + 1 + k % (g.n - 1)) %
					     g.n, 0, 4096, 0);
				post(g.ctx[i], &w, NULL);
			}
		for (i = 0; i < g.n; i++)
			kick(g.ctx[i]);
		host_run(g.h);
		for (i = 0; i < g.n; i++) {
			struct angara_cqe cqe;

			for (k = 0; k < 56; k++)
				EXPECT(poll_cq(g.ctx[i], &cqe) && !cqe.status);
		}
		for (t = 0; t < g.n; t++)
			tree_del(tree[t]);
		group_del(&g);
	}
}

/*
 * Tests random trees over part of a torus, with up to three participants on a
 * node.
 */
static void random_subsets(void)
{
	static const char * const dims[] = { "5", "3x3", "4x3x2", "4x2x2x2", "7x3" };
	u64 seed = 31;
	u32 k, i;

	for (k = 0; k < 15; k++) {
		struct ang_cfg cfg = k % 2 ? cfg_default : cfg_tight;
		u32 local = 1 + k % 3;
		struct group g;
		struct ttree *t;
		u16 *pe;

		cfg.train = (u16)(1U << (k % 7));
		fabric(dims[k % NUM(dims)], cfg, local, &g, 4096);
		pe = calloc(g.h->nodes, sizeof(*pe));
		for (i = 0; i < g.h->nodes; i++)
			pe[i] = (u16)(rnd(&seed) % (local + 1));
		pe[rnd(&seed) % g.h->nodes] = 1;
		t = tree_over(g.h, k, rnd(&seed) % g.h->nodes, g.ctx, g.n, pe, k);
		for (i = 0; i < NUM(lengths); i++)
			coll_bcast(t, rnd(&seed) % t->n, lengths[i]);
		for (i = 0; i < NUM(lengths); i++) {
			if (lengths[i] % 4)
				continue;
			coll_reduce(t, rnd(&seed) % t->n, lengths[i]);
			coll_allreduce(t, lengths[i]);
		}
		coll_barrier(t);
		tree_del(t);
		free(pe);
		group_del(&g);
	}
}

/* The root and the corners have no participants: they only forward. */
static void transit(void)
{
	u16 pe[16] = { 0 };
	struct group g;
	struct ttree *t;

	pe[5] = pe[15] = 1;
	fabric("4x4", cfg_tight, 1, &g, 4096);
	t = tree_over(g.h, 0, 2, g.ctx, g.n, pe, 1);
	EXPECT(t->in_tree > 3);
	all_ops(t, lengths, NUM(lengths));
	tree_del(t);
	group_del(&g);
}

static void one_mebibyte(void)
{
	static const u16 pe[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct ang_cfg cfg = cfg_default;
	struct group g;
	struct ttree *t;

	cfg.train = 8;
	fabric("2x2x2", cfg, 1, &g, (1 << 20) + 4);
	t = tree_over(g.h, 0, 3, g.ctx, g.n, pe, 1);
	coll_bcast(t, 6, 1 << 20);
	coll_bcast(t, 3, (1 << 20) + 1);
	coll_allreduce(t, 1 << 20);
	coll_reduce(t, 5, (1 << 20) + 4);
	tree_del(t);
	group_del(&g);
}

static u32 depth(struct ttree *t, u32 node)
{
	struct angara_topo topo = { .ndims = t->h->cfg.topo.ndims };
	u32 up = 0;

	memcpy(topo.dims, t->h->cfg.topo.dims, sizeof(topo.dims));
	for (; node != t->root; up++)
		node = angara_topo_neighbor(&topo, node, t->rows[node].to_root);
	return up;
}

/*
 * Bounds of the number of packets on VCDown: without links, results may follow
 * so fast that one packet carries two credits.
 */
static void down_bounds(const struct traffic *a, const struct traffic *b, u64 down)
{
	u64 packets = b->link[ANGARA_VC_DOWN] - a->link[ANGARA_VC_DOWN];

	EXPECT(packets >= down);
	EXPECT(packets <= down + b->credits - a->credits);
}

/*
 * Checks the number of packets that an operation puts on the links of a tree.
 */
static void count(struct ttree *t, u32 op, u32 who, u32 len)
{
	u64 links = ang_packets(len) * (t->in_tree - 1);
	u64 up = op == ANGARA_OP_BCAST ?
		 ang_packets(len) * depth(t, t->ctx[who]->node) : links;
	u64 down = op == ANGARA_OP_REDUCE ? 0 : links;
	struct angara_topo topo = { .ndims = t->h->cfg.topo.ndims };
	struct traffic a, b;
	u64 rsp = 0;

	memcpy(topo.dims, t->h->cfg.topo.dims, sizeof(topo.dims));
	traffic(t->h, &a);
	if (op == ANGARA_OP_BCAST) {
		coll_bcast(t, who, len);
	} else if (op == ANGARA_OP_REDUCE) {
		coll_reduce(t, who, len);
		rsp = ang_packets(len) *
		      angara_topo_distance(&topo, t->root, t->ctx[who]->node);
	} else {
		coll_allreduce(t, len);
	}
	traffic(t->h, &b);
	EXPECT_EQ(b.link[ANGARA_VC_UP] - a.link[ANGARA_VC_UP], up);
	if (t->h->ops.trace)
		EXPECT_EQ(b.link[ANGARA_VC_DOWN] - a.link[ANGARA_VC_DOWN],
			  down + b.credits - a.credits);
	else
		down_bounds(&a, &b, down);
	EXPECT_EQ(b.link[ANGARA_VC_RSP] - a.link[ANGARA_VC_RSP], rsp);
	EXPECT_EQ(b.link[ANGARA_VC_REQ], a.link[ANGARA_VC_REQ]);
	EXPECT_EQ(b.drops, 0);
}

static void packets(void)
{
	u32 train, who, l;

	for (train = 1; train <= 64; train *= 2) {
		struct ang_cfg cfg = cfg_default;
		u16 pe[12] = { 1, 0, 2, 1, 1, 0, 1, 1, 2, 0, 0, 1 };
		struct group g;
		struct ttree *t;

		cfg.train = (u16)train;
		fabric("3x4", cfg, 2, &g, 8192);
		t = tree_over(g.h, 7, 1, g.ctx, g.n, pe, 1);
		for (l = 0; l < NUM(lengths); l++)
			for (who = 0; who < t->n; who++) {
				count(t, ANGARA_OP_BCAST, who, lengths[l]);
				if (lengths[l] % 4)
					continue;
				count(t, ANGARA_OP_REDUCE, who, lengths[l]);
				count(t, ANGARA_OP_ALLREDUCE, 0, lengths[l]);
			}
		tree_del(t);
		group_del(&g);
	}
}

/* A barrier ends after the broadcasts that were started before it. */
static void barrier_after_broadcast(void)
{
	u16 pe[27];
	struct group g;
	struct ttree *t;
	u64 seed = 5;
	u32 k, i, b;

	for (i = 0; i < 27; i++)
		pe[i] = 1;
	fabric("3x3x3", cfg_tight, 1, &g, 8192);
	t = tree_over(g.h, 2, 13, g.ctx, g.n, pe, 1);
	for (k = 0; k < 60; k++) {
		u32 src = rnd(&seed) % g.n;
		struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 2, 0, 8192, 4000);
		struct angara_wqe bar = wqe_coll(ANGARA_OP_BARRIER, 2, 0, 0, 0);
		struct angara_cqe cqe;

		coll_fill(t, k + 1);
		w.flags = ANGARA_WQE_QUIET;
		post(g.ctx[src], &w, NULL);
		for (i = 0; i < g.n; i++) {
			post(g.ctx[i], &bar, NULL);
			kick(g.ctx[i]);
		}
		/* A participant that has passed the barrier has the data. */
		for (b = 0; ang_view_busy(&g.h->v); b++) {
			run_steps(&g.h->v, 1);
			for (i = 0; i < g.n; i++)
				if (poll_cq(g.ctx[i], &cqe))
					EXPECT(!memcmp(g.ctx[i]->buf + 8192,
						       g.ctx[src]->buf, 4000));
		}
		EXPECT_EQ(ctx_counter(g.ctx[0], ANGARA_CTR_BCAST(2)), k + 1);
	}
	tree_del(t);
	group_del(&g);
}

/*
 * The root and another node broadcast to the same destination: all
 * participants, also a slow one, agree which broadcast comes last.
 */
static void one_order(void)
{
	static const u16 pe[3] = { 1, 1, 1 };
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 6, 0, 2048, 8);
	struct group g;
	struct ttree *t;
	u32 i;

	fabric("3", cfg_tight, 1, &g, 4096);
	t = tree_over(g.h, 6, 1, g.ctx, g.n, pe, 1);
	coll_fill(t, 1);
	w.flags = ANGARA_WQE_QUIET;
	host_freeze(g.h, 2, 1);
	/*
	 * Post one broadcast more than fits on the link to node 2, then one
	 * from node 0.
	 */
	for (i = 0; i < 4; i++)
		post(g.ctx[1], &w, NULL);
	kick(g.ctx[1]);
	host_run(g.h);
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	host_run(g.h);
	host_freeze(g.h, 2, 0);
	host_run(g.h);
	for (i = 0; i < g.n; i++) {
		EXPECT(!memcmp(g.ctx[i]->buf + 2048, g.ctx[0]->buf, 8));
		EXPECT_EQ(ctx_counter(g.ctx[i], ANGARA_CTR_BCAST(6)), 5);
	}
	tree_del(t);
	group_del(&g);
}

/*
 * A participant that has a result may assume that all others get the result
 * before anything that it sends next.  So the root delivers a result to its
 * children before its own processor, even if a link is full.
 */
static void processor_last(void)
{
	static const u16 pe[2] = { 1, 1 };
	struct angara_wqe b = wqe_coll(ANGARA_OP_BCAST, 1, 0, 0, 0);
	struct angara_wqe w = wqe_coll(ANGARA_OP_BARRIER, 1, 0, 0, 0);
	struct angara_cqe cqe;
	struct group g;
	struct ttree *t;
	u32 i;

	fabric("2", cfg_tight, 1, &g, 4096);
	t = tree_over(g.h, 1, 0, g.ctx, g.n, pe, 1);
	post(g.ctx[1], &w, NULL);
	kick(g.ctx[1]);
	host_run(g.h);
	host_freeze(g.h, 1, 1);
	for (i = 0; i < 3; i++)
		post(g.ctx[0], &b, NULL);
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	host_run(g.h);
	for (i = 0; i < 3; i++)
		EXPECT(poll_cq(g.ctx[0], &cqe) &&
		       cqe.opcode == ANGARA_OP_BCAST);
	EXPECT(!poll_cq(g.ctx[0], &cqe));
	host_freeze(g.h, 1, 0);
	EXPECT_EQ(finish(g.ctx[0], NULL), ANGARA_ST_OK);
	EXPECT_EQ(finish(g.ctx[1], NULL), ANGARA_ST_OK);
	tree_del(t);
	group_del(&g);
}

/*
 * Is the result rounded? A rounded result depends on the order of combining;
 * see t_order.c.
 */
static int rounds(u32 type, u32 op)
{
	return (type == ANGARA_TYPE_FLOAT || type == ANGARA_TYPE_DOUBLE) &&
	       (op == ANGARA_RED_SUM || op == ANGARA_RED_PROD);
}

/* t_combine.c tests values; this case tests that types and operations are sent. */
static void types_and_operations(void)
{
	static const u16 pe[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct group g;
	struct ttree *t;
	u32 op, type, i, k;

	fabric("2x2x2", cfg_default, 1, &g, 4096);
	t = tree_over(g.h, 4, 0, g.ctx, g.n, pe, 1);
	for (op = 0; op < ANGARA_RED_NUM; op++) {
		for (type = 0; type < ANGARA_TYPE_NUM; type++) {
			struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, 4, 0,
						       4096, 1024);
			u64 want[128];

			if (!ang_reduction_size(type, op) || rounds(type, op))
				continue;
			w.redop = (u8)op;
			w.type = (u8)type;
			coll_fill(t, op * 16 + type);
			memcpy(want, g.ctx[0]->buf, 1024);
			for (i = 0; i < g.n; i++) {
				if (i)
					ang_combine(want, g.ctx[i]->buf, 1024,
						    type, op);
				post(g.ctx[i], &w, NULL);
				kick(g.ctx[i]);
			}
			for (k = 0; k < g.n; k++) {
				EXPECT_EQ(finish(g.ctx[k], NULL), ANGARA_ST_OK);
				EXPECT(!memcmp(g.ctx[k]->buf + 4096, want, 1024));
			}
		}
	}
	tree_del(t);
	group_del(&g);
}

const struct test_case coll_cases[] = {
	{ "coll: every root and subset of 2x2x2", every_root_and_subset },
	{ "coll: broadcast requests crossing each other", requests_crossing },
	{ "coll: random trees, several participants on a node", random_subsets },
	{ "coll: transit nodes", transit },
	{ "coll: 1 MiB and more", one_mebibyte },
	{ "coll: packets on links, the same for all trains", packets },
	{ "coll: a barrier after broadcasts", barrier_after_broadcast },
	{ "coll: broadcasts in one order for all", one_order },
	{ "coll: the processor after the children", processor_last },
	{ "coll: all types and operations", types_and_operations },
	{ NULL, NULL },
};
