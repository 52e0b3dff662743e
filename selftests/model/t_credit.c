// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The credit unit sends credits to the children after 8 results, and to the PE
 * after 128 results or 4096 cycles.  16 ReduceIds may be in flight.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

static struct group g;

static void start(const char *dims, u32 train)
{
	struct ang_cfg cfg = cfg_default;

	cfg.ops = 64;
	cfg.train = (u16)train;
	g.h = host_new(dims, &cfg);
	group_new(&g, 1, 16384);
}

static struct ttree *everywhere(u32 tree, u32 root)
{
	u16 pe[64];
	u32 i;

	for (i = 0; i < g.h->nodes; i++)
		pe[i] = 1;
	return tree_over(g.h, tree, root, g.ctx, g.n, pe, 7);
}

static void tree_counters(u32 node, u32 tree, struct angara_hw_tree_counters *c)
{
	EXPECT_EQ(adm_counters_get(g.h, node, ANGARA_CNT_TREE, tree, c,
				   sizeof(*c)), ANGARA_ADM_ST_OK);
}

static u64 to_pe(const struct angara_hw_tree_counters *c)
{
	return le64_to_cpu(c->credits_pe_count) + le64_to_cpu(c->credits_pe_timer);
}

/* With one packet per operation, each result causes exactly the credits due. */
static void to_children(void)
{
	struct angara_hw_tree_counters c, parent;
	struct angara_topo topo = { 3, { 2, 2, 2, 1 } };
	struct ttree *t;
	u32 k, i;

	start("2x2x2", 1);
	t = everywhere(3, 0);
	for (k = 1; k <= 40; k++) {
		coll_allreduce(t, 8);
		for (i = 0; i < 8; i++) {
			struct angara_tree_row *row = &t->rows[i];

			tree_counters(i, 3, &c);
			EXPECT_EQ(le64_to_cpu(c.reduce_results), k);
			EXPECT_EQ(le64_to_cpu(c.reduce_packets),
				  (u64)k * (1 + row->port_sum));
			EXPECT_EQ(le64_to_cpu(c.credits_sent),
				  row->ports ? k / 8 : 0);
			EXPECT_EQ(le64_to_cpu(c.in_flight), 0);
			EXPECT_EQ(to_pe(&c), k);
			EXPECT_EQ(ctx_counter(g.ctx[i], ANGARA_CTR_REDUCES(3)), k);
			if (row->is_root)
				continue;
			tree_counters(angara_topo_neighbor(&topo, i, row->to_root),
				      3, &parent);
			EXPECT_EQ(le64_to_cpu(c.credits_received), k / 8);
			EXPECT_EQ(le64_to_cpu(c.up_credits), 16 - k + k / 8 * 8);
		}
	}
	tree_del(t);
	group_del(&g);
}

/* The same operations in trains of any size give the same credits. */
static void trains(void)
{
	struct angara_hw_tree_counters c;
	u32 train, i, n;

	for (train = 1; train <= 8; train *= 2) {
		struct ttree *t;

		start("3x3", train);
		t = everywhere(9, 4);
		coll_allreduce(t, 5 * 256);
		coll_reduce(t, 2, 37 * 256 + 4);
		coll_allreduce(t, 0);
		coll_allreduce(t, 7 * 256);
		n = 5 + 38 + 1 + 7;
		for (i = 0; i < 9; i++) {
			tree_counters(i, 9, &c);
			EXPECT_EQ(le64_to_cpu(c.reduce_results), n);
			EXPECT_EQ(le64_to_cpu(c.credits_sent),
				  t->rows[i].ports ? n / 8 : 0);
			EXPECT_EQ(le64_to_cpu(c.up_credits), t->rows[i].is_root ?
				  16 : 16 - n + n / 8 * 8);
			EXPECT(le64_to_cpu(c.max_in_flight) <= 16);
		}
		tree_del(t);
		group_del(&g);
	}
}

/*
 * Only the root is missing: 16 reductions of each tree are in flight, and no
 * more.
 */
static void sixteen_in_flight(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, 0, 0, 16384, 8192);
	struct angara_hw_tree_counters c;
	struct angara_cqe cqe;
	struct ttree *t[16];
	u32 i, k;

	start("2x2x2", 1);
	for (k = 0; k < 16; k++)
		t[k] = everywhere(k, k % 8);
	coll_fill(t[0], 1);
	for (k = 0; k < 16; k++) {
		w.tree = cpu_to_le16((u16)k);
		for (i = 0; i < 8; i++) {
			post(g.ctx[i], &w, NULL);
			if (i != k % 8)
				kick(g.ctx[i]);
		}
		host_run(g.h);
		/*
		 * The root lacks its own contribution, and has 16 of each
		 * child.
		 */
		tree_counters(k % 8, k, &c);
		EXPECT_EQ(le64_to_cpu(c.reduce_results), 0);
		EXPECT_EQ(le64_to_cpu(c.in_flight), 16);
		EXPECT_EQ(le64_to_cpu(c.max_in_flight), 16);
		kick(g.ctx[k % 8]);
		host_run(g.h);
		for (i = 0; i < 8; i++)
			EXPECT(poll_cq(g.ctx[i], &cqe) && !cqe.status);
	}
	/* Now all participants post on all trees at once. */
	for (k = 0; k < 16; k++) {
		w.tree = cpu_to_le16((u16)k);
		for (i = 0; i < 8; i++)
			post(g.ctx[i], &w, NULL);
	}
	for (i = 0; i < 8; i++)
		kick(g.ctx[i]);
	host_run(g.h);
	for (i = 0; i < 8; i++) {
		for (k = 0; k < 16; k++)
			EXPECT(poll_cq(g.ctx[i], &cqe) && !cqe.status);
		for (k = 0; k < 2048; k++)
			EXPECT_EQ(((u32 *)g.ctx[i]->buf)[4096 + k],
				  coll_sum(t[0], k));
	}
	for (k = 0; k < 16; k++)
		tree_del(t[k]);
	group_del(&g);
}

/*
 * 16 results on each of 16 trees: a node reports after each 128 results, so it reports
 * twice.
 */
static void by_count(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, 0, 0, 16384, 4096);
	struct ttree *t[16];
	u32 i, k;

	start("2", 1);
	for (k = 0; k < 16; k++)
		t[k] = everywhere(k, k % 2);
	for (i = 0; i < 2; i++) {
		for (k = 0; k < 16; k++) {
			w.tree = cpu_to_le16((u16)k);
			post(g.ctx[i], &w, NULL);
		}
		kick(g.ctx[i]);
	}
	host_run(g.h);
	for (i = 0; i < 2; i++) {
		struct ang_node *n = ang_node(g.h->fab, i);
		u64 count = 0, timer = 0;

		for (k = 0; k < 16; k++) {
			count += n->tree[k].cnt.credits_pe_count;
			timer += n->tree[k].cnt.credits_pe_timer;
			EXPECT_EQ(ctx_counter(g.ctx[i], ANGARA_CTR_REDUCES(k)),
				  16);
		}
		/* A node reports twice; each tree is in at least one report. */
		EXPECT(count >= 16 && count <= 32);
		EXPECT_EQ(timer, 0);
		EXPECT_EQ(n->unreported, 0);
	}
	for (k = 0; k < 16; k++)
		tree_del(t[k]);
	group_del(&g);
}

static void results_of(struct ttree *t, u32 results)
{
	struct angara_cqe cqe;
	u32 i, k;

	for (k = 0; k < results; k += 16) {
		struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, k / 16, 0,
					       16384, 256 * ang_min(16, results - k));

		for (i = 0; i < 2; i++) {
			post(t[0].ctx[i], &w, NULL);
			kick(t[0].ctx[i]);
		}
	}
	host_run(g.h);
	for (i = 0; i < 2; i++)
		while (poll_cq(t->ctx[i], &cqe))
			EXPECT_EQ(cqe.status, 0);
}

/* After 127 results only the timer reports, and not before 4096 cycles. */
static void by_timer(void)
{
	struct ttree *t[8];
	struct ang_node *n;
	u64 clock;
	u32 k;

	start("2", 1);
	for (k = 0; k < 8; k++)
		t[k] = everywhere(k, 0);
	n = ang_node(g.h->fab, 0);
	results_of(t[0], 127);
	for (k = 0; k < 8; k++) {
		EXPECT_EQ(n->tree[k].cnt.credits_pe_count, 0);
		EXPECT_EQ(n->tree[k].cnt.credits_pe_timer, 1);
		EXPECT_EQ(ctx_counter(g.ctx[0], ANGARA_CTR_REDUCES(k)),
			  k == 7 ? 15 : 16);
	}
	/* With the 128th result credits are sent at once, without the timer. */
	results_of(t[0], 128);
	for (k = 0; k < 8; k++) {
		EXPECT_EQ(n->tree[k].cnt.credits_pe_count, 1);
		EXPECT_EQ(n->tree[k].cnt.credits_pe_timer, 1);
	}
	/*
	 * After its only result the node's clock jumps to the time when
	 * credits are due.
	 */
	clock = n->clock;
	coll_barrier(t[0]);
	EXPECT(n->clock - clock >= ANG_CREDIT_TIME);
	EXPECT(n->clock - clock < ANG_CREDIT_TIME + 100);
	EXPECT_EQ(n->tree[0].cnt.credits_pe_timer, 2);
	for (k = 0; k < 8; k++)
		tree_del(t[k]);
	group_del(&g);
}

/*
 * A context that waits for credits does not wait for others to become idle: a
 * reduction of 256 packets ends while a context of another partition never
 * stops.
 */
static void busy_neighbour(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, 0, 0, 65536, 65536);
	struct angara_wqe put = wqe_p2p(ANGARA_OP_PUT, 1, 3, 0, 0, 16384);
	struct tctx *busy, *peer;
	struct angara_cqe cqe;
	struct ttree *t;
	u32 i, runs, done = 0;

	start("2", 8);
	t = everywhere(0, 0);
	busy = ctx_new(g.h, 0, 3, PKEY + 1, 3, 3);
	peer = ctx_new(g.h, 1, 3, PKEY + 1, 3, 3);
	ctx_buffer(busy, 16384);
	ctx_buffer(peer, 16384);
	put.flags = ANGARA_WQE_QUIET;
	for (i = 0; i < 2; i++) {
		post(g.ctx[i], &w, NULL);
		kick(g.ctx[i]);
	}
	for (runs = 0; runs < 2000 && done < 2; runs++) {
		while (busy->sq_pi - (u32)ctx_counter(busy, ANGARA_CTR_SQ_CI) < 8)
			post(busy, &put, NULL);
		kick(busy);
		run_steps(&g.h->v, 8);
		EXPECT(ang_view_busy(&g.h->v));
		for (i = 0; i < 2; i++)
			done += poll_cq(g.ctx[i], &cqe);
	}
	EXPECT_EQ(done, 2);
	host_run(g.h);
	tree_del(t);
	ctx_del(busy);
	ctx_del(peer);
	group_del(&g);
}

const struct test_case credit_cases[] = {
	{ "credit: every 8 results to the children", to_children },
	{ "credit: trains cause the same credits", trains },
	{ "credit: 16 trees with 16 ReduceIds each", sixteen_in_flight },
	{ "credit: to the PE after 128 results", by_count },
	{ "credit: to the PE after 4096 cycles", by_timer },
	{ "credit: to the PE beside a busy neighbour", busy_neighbour },
	{ NULL, NULL },
};
