// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A call of ang_run() never exceeds its bound (ang_work.h), whatever the load
 * on the fabric.
 *
 * Work is counted twice: by the model, and here from its calls to the host and
 * the number of combined elements, with the same weights.  Neither may exceed
 * the bound in any slice, and the model may not count less than this test does.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

#define SLICE		16384U
#define ALL		128U		/* contexts that share one node */
#define MEMBERS		ANGARA_MAX_LOCAL
#define TRAIN		2048U		/* bytes of a reduction */

static struct host *h;
static struct tctx *ctx[ALL + MEMBERS];
static u32 nctx;
static struct ang_ops plain;
static u64 seen;		/* work counted by the host */
static u64 most;		/* maximum in a slice of this case, counted by the
				 * host or by the model */
static u64 worst;		/* maximum of all cases */

void __real_ang_combine(void *acc, const void *in, u32 len, u32 type, u32 redop);
void __wrap_ang_combine(void *acc, const void *in, u32 len, u32 type, u32 redop);

void __wrap_ang_combine(void *acc, const void *in, u32 len, u32 type, u32 redop)
{
	if (type == ANGARA_TYPE_FLOAT && redop == ANGARA_RED_PROD)
		seen += len / 4 * 16;
	__real_ang_combine(acc, in, len, type, redop);
}

static int seen_read(void *host, u32 node, u64 addr, void *buf, u32 len)
{
	seen += 25 + len / 8;
	return plain.dma_read(host, node, addr, buf, len);
}

static int seen_write(void *host, u32 node, u64 addr, const void *buf, u32 len)
{
	seen += 25 + len / 8;
	return plain.dma_write(host, node, addr, buf, len);
}

static int seen_store64(void *host, u32 node, u64 addr, u64 val)
{
	seen += 25;
	return plain.dma_store64(host, node, addr, val);
}

static void seen_interrupt(void *host, u32 node, u32 vector)
{
	seen += 1000;
	plain.interrupt(host, node, vector);
}

static void start_cfg(const char *dims, const struct ang_cfg *cfg)
{
	h = host_new(dims, cfg);
	plain = h->ops;
	h->ops.dma_read = seen_read;
	h->ops.dma_write = seen_write;
	h->ops.dma_store64 = seen_store64;
	h->ops.interrupt = seen_interrupt;
	h->ops.trace = NULL;
	nctx = 0;
	most = 0;
}

static void start(const char *dims, u32 train)
{
	const struct ang_cfg cfg = {
		.ctxs = ALL, .ops = 64, .bufs = 64, .depth = 8,
		.train = (u16)train, .trees = ANGARA_MAX_TREES,
	};

	start_cfg(dims, &cfg);
}

static void end(void)
{
	u32 i;

	for (i = 0; i < nctx; i++)
		ctx_del(ctx[i]);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

static struct tctx *more(u32 node, u32 id, u64 len)
{
	struct tctx *c = ctx_new(h, node, id, PKEY, 8, 8);

	if (len)
		ctx_buffer(c, len);
	ctx[nctx++] = c;
	return c;
}

/* Runs all pending work in slices. */
static void run_slices(void)
{
	u64 bound = ang_work_bound(&h->cfg, SLICE);
	u32 slices = 0;

	while (ang_view_busy(&h->v)) {
		u64 before = h->v.work;
		u64 was = seen;

		EXPECT(slices++ < 200000);
		ang_run(&h->v, SLICE);
		EXPECT(seen - was <= h->v.work - before);
		if (h->v.work - before > most)
			most = h->v.work - before;
		if (most > worst)
			worst = most;
		if (most > bound)
			test_fail(__FILE__, __LINE__, "%llu units in a slice, "
				  "the bound is %llu",
				  (unsigned long long)most,
				  (unsigned long long)bound);
	}
}

static void fill(struct tctx *c, const struct angara_wqe *w, u32 count)
{
	while (count--)
		post(c, w, NULL);
	kick(c);
}

static void drain(struct tctx *c, u32 count)
{
	struct angara_cqe cqe;

	while (count--)
		EXPECT(poll_cq(c, &cqe));
	EXPECT(!poll_cq(c, &cqe));
}

static struct angara_wqe product(u32 len)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, 0, 0, len, len);

	w.type = ANGARA_TYPE_FLOAT;
	w.redop = ANGARA_RED_PROD;
	return w;
}

static struct ttree *tree_of(u32 node0, u32 node1)
{
	u16 pe[2] = { (u16)node0, (u16)node1 };

	return tree_over(h, 0, 0, ctx, nctx, pe, 1);
}

/*
 * Runs the slowest work in one place: arithmetic for 16 participants, and many
 * long operations.
 */
static void products(void)
{
	struct angara_wqe w = product(65536);
	struct ttree *t;
	u32 i;

	start("1", 8);
	for (i = 0; i < MEMBERS; i++)
		more(0, i, 2 * 65536);
	t = tree_of(MEMBERS, 0);
	for (i = 0; i < MEMBERS; i++)
		fill(ctx[i], &w, 8);
	run_slices();
	for (i = 0; i < MEMBERS; i++)
		drain(ctx[i], 8);
	tree_del(t);
	end();
}

/* Contributions of 15 participants wait for the one that is combined first. */
static void products_wait(void)
{
	struct angara_wqe w = product(TRAIN);
	struct ttree *t;
	u32 i;

	start("1", 8);
	for (i = 0; i < MEMBERS; i++)
		more(0, i, 2 * TRAIN);
	t = tree_of(MEMBERS, 0);
	for (i = MEMBERS; i-- > 0;) {
		fill(ctx[i], &w, 1);
		run_slices();
	}
	for (i = 0; i < MEMBERS; i++)
		drain(ctx[i], 1);
	tree_del(t);
	end();
}

/* There is nothing to copy or combine: only entries and notifications. */
static void entries(void)
{
	struct angara_wqe nop = { .opcode = ANGARA_OP_NOP };
	u32 i, round;

	start("1", 8);
	for (i = 0; i < ALL; i++)
		more(0, i, 0);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < ALL; i++) {
			host_reg(h, 0, ANGARA_DB_PAGE(i) + ANGARA_DB_ARM,
				 (u32)ctx_counter(ctx[i], ANGARA_CTR_EVSEQ));
			fill(ctx[i], &nop, 200);
		}
		run_slices();
		for (i = 0; i < ALL; i++)
			drain(ctx[i], 200);
	}
	for (i = 0; i < ALL; i++)
		EXPECT_EQ(h->node[0].interrupts[ANGARA_VEC_CTX(i)], 3);
	end();
}

/* One node reads and writes trains of 16 KiB.  Then trains to a frozen node find no room. */
static void copies(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 0, 0, 0, 0, 65536);
	u32 i;

	start("2", 64);
	for (i = 0; i < ALL; i++)
		more(0, i, 65536);
	for (i = 0; i < ALL; i++)
		fill(ctx[i], &w, 24);
	run_slices();
	w.dst_node = cpu_to_le32(1);
	w.length = cpu_to_le32(16384);
	more(1, 0, 65536);
	host_freeze(h, 1, 1);
	for (i = 0; i < ALL; i++) {
		drain(ctx[i], 24);
		fill(ctx[i], &w, 24);
	}
	run_slices();
	host_freeze(h, 1, 0);
	run_slices();
	for (i = 0; i < ALL; i++)
		drain(ctx[i], 24);
	end();
}

/* A node delivers many trains, each to 16 participants. */
static void broadcasts(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 0, 0, 65536, 65536);
	struct ttree *t;
	u32 i;

	start("1", 64);
	for (i = 0; i < MEMBERS; i++)
		more(0, i, 2 * 65536);
	t = tree_of(MEMBERS, 0);
	for (i = 0; i < MEMBERS; i++)
		fill(ctx[i], &w, 8);
	run_slices();
	for (i = 0; i < MEMBERS; i++)
		drain(ctx[i], 8);
	tree_del(t);
	end();
}

/* The root executes broadcasts of one train at once, for 16 participants on each node. */
static void casts(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 0, 0, 16384, 16384);
	struct ttree *t;
	u32 i;

	start("2", 64);
	for (i = 0; i < 2 * MEMBERS; i++)
		more(i / MEMBERS, i % MEMBERS, 2 * 16384);
	t = tree_of(MEMBERS, MEMBERS);
	run_slices();
	for (i = 0; i < MEMBERS; i++)
		fill(ctx[i], &w, 8);
	run_slices();
	for (i = 0; i < MEMBERS; i++)
		drain(ctx[i], 8);
	EXPECT_EQ(ctx_counter(ctx[MEMBERS], ANGARA_CTR_BCAST(0)), 8 * MEMBERS);
	tree_del(t);
	end();
}

/* All messages of a node wait for one receiver: many have to be checked. */
static void ready(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_SEND, 1, 0, 0, 0, 2048);
	const struct angara_msg *m;
	struct tarea *area;
	struct tctx *to;
	u32 i, got;

	start("2", 64);
	to = more(1, 0, 0);
	area = area_new(to, 14);
	for (i = 0; i < ALL; i++)
		fill(more(0, i, 2048), &w, 64);
	run_slices();
	for (got = 0; (m = area_next(area, NULL)); got++) {
		area_free(area, m);
		run_slices();
	}
	EXPECT_EQ(got, ALL * 64);
	free(area);
	for (i = 1; i <= ALL; i++)
		drain(ctx[i], 64);
	end();
}

/* A context ends with the maximum in flight, and all of its trees go down. */
static void downs(void)
{
	struct angara_wqe w = product(TRAIN);
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_CTX_DESTROY };
	static const u16 pe[1] = { MEMBERS };
	struct ttree *t[ANGARA_MAX_TREES];
	struct tctx *c;
	u32 i, k;

	start("1", 8);
	for (i = 0; i < MEMBERS; i++)
		more(0, i, 2 * TRAIN);
	for (k = 0; k < ANGARA_MAX_TREES; k++)
		t[k] = tree_over(h, k, 0, ctx, nctx, pe, 1);
	for (i = 1; i < MEMBERS; i++) {
		for (k = 0; k < 64; k++) {
			w.tree = cpu_to_le16(k % ANGARA_MAX_TREES);
			post(ctx[i], &w, NULL);
		}
		kick(ctx[i]);
	}
	run_slices();
	c = ctx[0];
	cmd.tag = cpu_to_le16(7);
	h->node[0].asq[h->node[0].asq_pi++ % ADM_ENTRIES] = cmd;
	h->node[0].acq_ci++;
	host_reg(h, 0, ANGARA_REG_ASQ_DB, h->node[0].asq_pi);
	run_slices();
	for (i = 1; i < MEMBERS; i++)
		drain(ctx[i], 64);
	EXPECT(!ang_node(h->fab, 0)->tree[ANGARA_MAX_TREES - 1].in_flight);
	for (k = 0; k < ANGARA_MAX_TREES; k++)
		tree_del(t[k]);
	free(c);
	ctx[0] = ctx[--nctx];
	end();
}

/*
 * Room on a link appears after its waiter has had its turn in the current
 * round, and no context behind it can continue: another round is needed.
 */
static void woken(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 0, 256);
	struct tctx *a, *b;
	u32 steps;

	for (steps = 0; steps < 12; steps++) {
		start("3", 8);
		a = more(0, 0, 4096);
		b = more(0, 1, 4096);
		more(1, 0, 4096);
		more(2, 0, 4096);
		host_freeze(h, 1, 1);
		host_freeze(h, 2, 1);
		w.dst_node = cpu_to_le32(1);
		fill(a, &w, 40);
		w.dst_node = cpu_to_le32(2);
		fill(b, &w, 40);
		run_slices();
		h->v.turn = 1;
		kick(a);
		run_steps(&h->v, steps);
		host_freeze(h, 1, 0);
		run_slices();
		drain(a, 40);
		host_freeze(h, 2, 0);
		run_slices();
		drain(b, 40);
		end();
	}
}

/* Setting a link while operations are in flight is done in slices, too. */
static void link_slices(u32 node, u32 what)
{
	struct host_node *n = &h->node[node];
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_LINK_SET };

	cmd.link.what = (u8)what;
	cmd.link.router = cpu_to_le32(node);
	n->asq[n->asq_pi++ % ADM_ENTRIES] = cmd;
	n->acq_ci++;
	host_reg(h, node, ANGARA_REG_ASQ_DB, n->asq_pi);
	run_slices();
}

/*
 * In a very long ring each computation of a route is expensive; a link of it
 * goes down.
 */
static void losses(void)
{
	static const struct ang_cfg cfg = {
		.ctxs = 2, .ops = 64, .bufs = 8, .depth = 4, .train = 8, .trees = 1,
	};
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 0, 0, 0, 0, 256);
	static u16 pe[1024] = { 1, 1 };
	struct angara_cqe cqe;
	struct tctx *c;
	struct ttree *t;
	u32 i, round;

	start_cfg("1024", &cfg);
	c = more(0, 0, 65536);
	more(1, 0, 65536);
	t = tree_over(h, 0, 0, ctx, nctx, pe, 1);
	host_freeze(h, 2, 1);
	for (i = 0; i < 64; i++) {
		w.dst_node = cpu_to_le32(400 + i);
		post(c, &w, NULL);
	}
	kick(c);
	run_slices();
	link_slices(300, ANGARA_LINK_DOWN);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 64; i++) {
			EXPECT(poll_cq(c, &cqe));
			EXPECT_EQ(cqe.status, ANGARA_ST_UNREACHABLE);
			EXPECT_EQ(cqe.node, 301);
		}
		for (i = 0; i < 64 && !round; i++) {
			w.dst_node = cpu_to_le32(400 + i);
			post(c, &w, NULL);
		}
		kick(c);
		run_slices();
	}
	EXPECT_EQ(ang_node(h->fab, 0)->tree[0].state, ANGARA_TREE_STATE_UP);
	host_freeze(h, 2, 0);
	run_slices();
	link_slices(300, ANGARA_LINK_UP);
	EXPECT(!h->fab->broken);
	for (i = 0; i < h->nodes; i++)
		h->dropped += ang_node(h->fab, i)->drops[ANGARA_DROP_LINK] +
			      ang_node(h->fab, i)->drops[ANGARA_DROP_STALE];
	EXPECT(h->dropped);
	tree_del(t);
	end();
}

/*
 * The bound is useful: for a node of the loopback module it is far below a
 * millisecond.
 */
static void bounds(void)
{
	static const struct ang_cfg loop = {
		.topo.nports = 2 * ANG_MAX_DIMS, .ctxs = 128, .ops = 64, .bufs = 64,
		.depth = 8, .train = 8, .trees = ANGARA_MAX_TREES,
	};

	EXPECT(ang_work_bound(&loop, SLICE) < 270000);
	EXPECT(worst > 2 * SLICE);
}

const struct test_case slice_cases[] = {
	{ "slice: products of floats for 16", products },
	{ "slice: products that waited for one", products_wait },
	{ "slice: empty entries in 128 contexts", entries },
	{ "slice: long puts in 128 contexts", copies },
	{ "slice: broadcasts to 16", broadcasts },
	{ "slice: broadcasts of one train to two nodes", casts },
	{ "slice: 8192 messages to one receiver", ready },
	{ "slice: 16 trees go down with a context", downs },
	{ "slice: a wake within a round", woken },
	{ "slice: a link of a long ring goes down", losses },
	{ "slice: the bound itself", bounds },
	{ NULL, NULL },
};
