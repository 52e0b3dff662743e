// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of puts and gets. */
#include <string.h>

#include "test.h"

static const u32 lengths[] = { 0, 1, 255, 256, 257, 2047, 2048, 2049, 65537 };

static void fill(char *mem, u64 len, u64 seed)
{
	u64 i;

	seed = seed * 0x9E3779B97F4A7C15ULL + 1;
	for (i = 0; i < len; i++)
		mem[i] = (char)(rnd(&seed) >> 32);
}

static struct tctx **one_each(struct host *h, u64 len)
{
	struct tctx **c = calloc(h->nodes, sizeof(*c));
	u32 i;

	for (i = 0; i < h->nodes; i++) {
		c[i] = ctx_new(h, i, i % h->cfg.ctxs, PKEY, 6, 6);
		ctx_buffer(c[i], len);
	}
	return c;
}

static void end(struct host *h, struct tctx **c)
{
	u32 i;

	for (i = 0; i < h->nodes; i++)
		ctx_del(c[i]);
	free(c);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

static void transfer(struct tctx *a, struct tctx *b, u32 op, u32 len)
{
	struct tctx *from = op == ANGARA_OP_PUT ? a : b;
	struct tctx *to = op == ANGARA_OP_PUT ? b : a;
	u32 half = (u32)a->buf_len / 2;
	struct angara_wqe w = wqe_p2p(op, b->node, b->id, 3, half + 5, len);
	struct angara_cqe cqe;

	fill(from->buf + 3, len, len + 7 * a->node + b->node);
	memset(to->buf + half, 0x5A, half);
	post(a, &w, NULL);
	kick(a);
	EXPECT_EQ(finish(a, &cqe), ANGARA_ST_OK);
	EXPECT_EQ(le32_to_cpu(cqe.length), len);
	EXPECT_EQ(cqe.opcode, op);
	EXPECT_EQ(le64_to_cpu(cqe.cookie), 0xC0DE0000ULL + len);
	EXPECT(!memcmp(to->buf + half + 5, from->buf + 3, len));
	EXPECT_EQ((u8)to->buf[half + 4], 0x5A);
	EXPECT_EQ((u8)to->buf[half + 5 + len], 0x5A);
}

static void pairs(const char *dims, u32 train, u32 max_len)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h;
	struct tctx **c;
	u32 a, b, l;

	cfg.train = (u16)train;
	h = host_new(dims, &cfg);
	c = one_each(h, 2 * 66000);
	for (a = 0; a < h->nodes; a++)
		for (b = 0; b < h->nodes; b++)
			for (l = 0; l < NUM(lengths); l++) {
				if (lengths[l] > max_len)
					continue;
				transfer(c[a], c[b], ANGARA_OP_PUT, lengths[l]);
				transfer(c[a], c[b], ANGARA_OP_GET, lengths[l]);
			}
	end(h, c);
}

static void pairs_222(void)
{
	pairs("2x2x2", 1, 65537);
}

static void pairs_trains(void)
{
	pairs("2x2", 2, 65537);
	pairs("3", 4, 65537);
	pairs("3", 8, 65537);
}

static void pairs_33(void)
{
	pairs("3x3", 1, 2049);
}

static void pairs_5(void)
{
	pairs("5", 8, 65537);
}

static void pairs_4322(void)
{
	pairs("4x3x2x2", 8, 257);
}

static void pairs_1(void)
{
	pairs("1", 1, 65537);
	pairs("1x2x1", 1, 2049);
}

static u32 attempt(struct tctx *a, u32 op, u32 ctx, u32 key, u32 *node)
{
	struct angara_wqe w = wqe_p2p(op, 1, ctx, 0, 0, 5000);
	struct angara_cqe cqe;
	u32 status;

	w.rkey = cpu_to_le64(key);
	w.flags = ANGARA_WQE_NOTIFY;
	post(a, &w, NULL);
	kick(a);
	status = finish(a, &cqe);
	*node = le32_to_cpu(cqe.node);
	EXPECT(le32_to_cpu(cqe.length) == 0);
	return status;
}

static void refused(void)
{
	static const u32 ops[] = { ANGARA_OP_PUT, ANGARA_OP_GET };
	struct host *h = host_new("2", &cfg_default);
	struct tctx *a = ctx_new(h, 0, 0, PKEY, 4, 4);
	struct tctx *b = ctx_new(h, 1, 0, PKEY, 4, 4);
	struct tctx *foreign = ctx_new(h, 1, 1, PKEY + 1, 4, 4);
	u32 drops[ANGARA_DROP_NUM] = { 0 };
	u32 i, node;
	u64 addr;

	ctx_buffer(a, 8192);
	ctx_buffer(b, 8192);
	ctx_buffer(foreign, 8192);
	memset(foreign->buf, 0x5A, 8192);
	memset(a->buf, 0xA5, 8192);
	host_alloc(h, 1, 8192, &addr);
	ctx_mr(b, 1, addr, 8192, ANGARA_ACCESS_LOCAL_WRITE);
	ctx_mr(b, 2, addr, 4999, ANGARA_ACCESS_ALL);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(attempt(a, ops[i], 1, BUF_KEY, &node),
			  ANGARA_ST_PARTITION);
		EXPECT_EQ(node, 1);
		EXPECT_EQ(attempt(a, ops[i], 2, BUF_KEY, &node),
			  ANGARA_ST_TARGET);
		EXPECT_EQ(attempt(a, ops[i], 0, 1, &node), ANGARA_ST_ACCESS);
		EXPECT_EQ(attempt(a, ops[i], 0, 3, &node), ANGARA_ST_KEY);
		EXPECT_EQ(node, 1);
	}
	for (i = 0; i < 8192; i++) {
		EXPECT_EQ((u8)foreign->buf[i], 0x5A);
		EXPECT_EQ((u8)a->buf[i], 0xA5);
	}
	EXPECT_EQ(ctx_counter(b, ANGARA_CTR_USER(0)), 0);
	EXPECT_EQ(ctx_counter(foreign, ANGARA_CTR_USER(0)), 0);
	for (i = 0; i < ANGARA_DROP_NUM; i++)
		drops[i] = (u32)ang_node(h->fab, 1)->drops[i];
	EXPECT(drops[ANGARA_DROP_PARTITION] && drops[ANGARA_DROP_TARGET] &&
	       drops[ANGARA_DROP_MEMORY]);
	EXPECT_EQ(h->faults, 0);
	ctx_del(a);
	ctx_del(b);
	ctx_del(foreign);
	host_free(h);
}

/* Every injected packet is ejected, and crosses as many links as counted. */
static void conservation(void)
{
	struct host *h = host_new("3x2x4", &cfg_tight);
	struct tctx **c = one_each(h, 32768);
	u64 injected = 0, ejected = 0, hops = 0, links = 0, drops = 0;
	struct angara_cqe cqe;
	u64 seed = 3;
	u32 i, k, vc;

	for (i = 0; i < 1000; i++) {
		struct tctx *from = c[rnd(&seed) % h->nodes];
		struct tctx *to = c[rnd(&seed) % h->nodes];
		struct angara_wqe w = wqe_p2p(1 + rnd(&seed) % 2, to->node,
					      to->id, 0, 16384,
					      rnd(&seed) % 5000);

		post(from, &w, NULL);
		kick(from);
		run_steps(&h->v, rnd(&seed) % 40);
		for (k = 0; k < h->nodes; k++)
			while (poll_cq(c[k], &cqe))
				EXPECT_EQ(cqe.status, 0);
	}
	host_run(h);
	for (i = 0; i < h->nodes; i++) {
		struct ang_node *n = ang_node(h->fab, i);

		injected += n->cnt.injected_packets;
		ejected += n->cnt.ejected_packets;
		hops += n->cnt.hops;
		for (k = 0; k < h->fab->nports; k++)
			for (vc = 0; vc < ANGARA_VC_NUM; vc++)
				links += ang_port_link(ang_port(h->fab, n, k)).packets[vc];
		for (k = 0; k < ANGARA_DROP_NUM; k++)
			drops += n->drops[k];
	}
	EXPECT_EQ(injected, ejected);
	EXPECT_EQ(hops, links);
	EXPECT_EQ(drops, 0);
	EXPECT(links > 10000);
	end(h, c);
}

/* One context puts all the time; the single put of another must end. */
static void fair(void)
{
	struct ang_cfg cfg = cfg_tight;
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 0, 4096);
	struct angara_cqe cqe;
	struct tctx *greedy, *modest, *to;
	struct host *h;
	u32 order, steps, i;

	cfg.ops = 16;
	for (order = 0; order < 2; order++) {
		h = host_new("2", &cfg);
		greedy = ctx_new(h, 0, order ? 3 : 0, PKEY, 6, 8);
		modest = ctx_new(h, 0, order ? 0 : 3, PKEY, 6, 8);
		to = ctx_new(h, 1, 0, PKEY, 3, 3);
		ctx_buffer(greedy, 4096);
		ctx_buffer(modest, 4096);
		ctx_buffer(to, 4096);
		for (i = 0; i < 32; i++)
			post(greedy, &w, NULL);
		kick(greedy);
		run_steps(&h->v, 20);
		post(modest, &w, NULL);
		kick(modest);
		for (steps = 0; !poll_cq(modest, &cqe); steps++) {
			EXPECT(steps < 2000);
			run_steps(&h->v, 1);
			if (!poll_cq(greedy, &cqe))
				continue;
			post(greedy, &w, NULL);
			kick(greedy);
		}
		host_run(h);
		ctx_del(greedy);
		ctx_del(modest);
		ctx_del(to);
		host_free(h);
	}
}

/* The source's memory is unmapped in the middle of a put. */
static void source_vanishes(void)
{
	struct host *h = host_new("3", &cfg_tight);
	struct tctx **c = one_each(h, 32768);
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 1, 0, 0, 32768);
	u32 steps;

	/* Use packets: without them the put is done in one step. */
	h->v.packets = true;
	for (steps = 1; steps < 20; steps++) {
		c[0]->mrt[BUF_KEY].valid = 1;
		w.flags = ANGARA_WQE_NOTIFY;
		post(c[0], &w, NULL);
		kick(c[0]);
		run_steps(&h->v, steps);
		c[0]->mrt[BUF_KEY].valid = 0;
		EXPECT_EQ(finish(c[0], NULL), ANGARA_ST_KEY);
		EXPECT_EQ(ctx_counter(c[1], ANGARA_CTR_USER(0)), 0);
	}
	end(h, c);
}

const struct test_case p2p_cases[] = {
	{ "p2p: all pairs and lengths on 2x2x2", pairs_222 },
	{ "p2p: all pairs and lengths with trains of 2, 4, 8", pairs_trains },
	{ "p2p: all pairs on 3x3", pairs_33 },
	{ "p2p: all pairs on a ring of 5", pairs_5 },
	{ "p2p: all pairs on 4x3x2x2", pairs_4322 },
	{ "p2p: a node alone", pairs_1 },
	{ "p2p: refused: partition, target, rights, key", refused },
	{ "p2p: packets are conserved", conservation },
	{ "p2p: no context starves", fair },
	{ "p2p: a put whose source is unmapped", source_vanishes },
	{ NULL, NULL },
};
