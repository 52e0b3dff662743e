// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Queues of a context: wrap-around, full queues, fences, inline payload,
 * malformed entries, doorbells, interrupts, fetch errors.
 */
#include <string.h>

#include "test.h"

static struct host *h;
static struct tctx *a, *b;

static void start_with(u32 sq_log2, u32 cq_log2)
{
	h = host_new("2", &cfg_default);
	a = ctx_new(h, 0, 0, PKEY, sq_log2, cq_log2);
	b = ctx_new(h, 1, 1, PKEY, 3, 3);
	ctx_buffer(a, 65536);
	ctx_buffer(b, 65536);
}

static void end(void)
{
	ctx_del(a);
	ctx_del(b);
	host_free(h);
}

static struct angara_wqe put_wqe(u64 src, u64 dst, u32 len)
{
	return wqe_p2p(ANGARA_OP_PUT, 1, 1, src, dst, len);
}

static void wrap(void)
{
	struct angara_wqe w = put_wqe(0, 100, 8);
	struct angara_cqe cqe;
	u64 i;

	start_with(3, 4);
	for (i = 0; i < 500; i++) {
		w.cookie = cpu_to_le64(i);
		memcpy(a->buf, &i, 8);
		post(a, &w, NULL);
		kick(a);
		EXPECT_EQ(finish(a, &cqe), ANGARA_ST_OK);
		EXPECT_EQ(le64_to_cpu(cqe.cookie), i);
		EXPECT(!memcmp(b->buf + 100, &i, 8));
		EXPECT_EQ(ctx_counter(a, ANGARA_CTR_SQ_CI), i + 1);
		EXPECT_EQ(ctx_counter(a, ANGARA_CTR_EVSEQ), i + 1);
	}
	EXPECT_EQ(h->faults, 0);
	end();
}

static void cq_full(void)
{
	struct angara_wqe w = put_wqe(0, 0, 8);
	struct angara_hw_ctx_counters cnt;
	struct angara_cqe cqe;
	u32 i, got = 0;

	start_with(5, 3);
	for (i = 0; i < 32; i++) {
		w.cookie = cpu_to_le64(i);
		post(a, &w, NULL);
	}
	kick(a);
	host_run(h);
	/*
	 * The completion queue is full: no entry is taken from the SQ until the
	 * process takes completions.
	 */
	EXPECT_EQ(ctx_counter(a, ANGARA_CTR_SQ_CI), 8);
	host_run(h);
	kick(a);
	host_run(h);
	EXPECT_EQ(ctx_counter(a, ANGARA_CTR_SQ_CI), 8);
	ctx_counters(a, &cnt);
	EXPECT(le64_to_cpu(cnt.cq_full) > 0);
	EXPECT_EQ(le64_to_cpu(cnt.cqes), 8);
	/* An impossible consumer index counts as no room. */
	a->ctl->cq_ci = cpu_to_le32(9);
	kick(a);
	host_run(h);
	EXPECT_EQ(ctx_counter(a, ANGARA_CTR_SQ_CI), 8);
	while (poll_cq(a, &cqe)) {
		EXPECT_EQ(le64_to_cpu(cqe.cookie), got);
		got++;
		kick(a);
		host_run(h);
	}
	EXPECT_EQ(got, 32);
	EXPECT_EQ(h->faults, 0);
	end();
}

static void fence(void)
{
	struct angara_wqe get = wqe_p2p(ANGARA_OP_GET, 1, 1, 0, 0, 20000);
	struct angara_wqe put = put_wqe(19000, 40000, 1000);
	struct angara_cqe cqe;
	u32 i;

	start_with(4, 4);
	for (i = 0; i < 20000; i++)
		b->buf[i] = (char)(i * 7);
	put.flags = ANGARA_WQE_FENCE;
	put.cookie = cpu_to_le64(2);
	get.cookie = cpu_to_le64(1);
	post(a, &get, NULL);
	post(a, &put, NULL);
	kick(a);
	host_run(h);
	EXPECT(poll_cq(a, &cqe) && le64_to_cpu(cqe.cookie) == 1);
	EXPECT(poll_cq(a, &cqe) && le64_to_cpu(cqe.cookie) == 2);
	/* The put sent the data that the get had read. */
	EXPECT(!memcmp(b->buf + 40000, b->buf + 19000, 1000));
	end();
}

static void inline_payload(void)
{
	char payload[ANGARA_MAX_INLINE];
	u32 len, i;

	start_with(3, 3);
	for (len = 0; len <= ANGARA_MAX_INLINE; len++) {
		struct angara_wqe w = put_wqe(~0ULL, 5, len);

		for (i = 0; i < len; i++)
			payload[i] = (char)(len + 3 * i);
		memset(b->buf, 0x5A, 400);
		w.flags = ANGARA_WQE_INLINE;
		w.lkey = cpu_to_le32(~0U);
		/* Every other entry wraps around the end of the ring. */
		post(a, &w, len ? payload : NULL);
		kick(a);
		EXPECT_EQ(finish(a, NULL), ANGARA_ST_OK);
		EXPECT(!memcmp(b->buf + 5, payload, len));
		EXPECT_EQ((u8)b->buf[5 + len], 0x5A);
		EXPECT_EQ(ctx_counter(a, ANGARA_CTR_SQ_CI), a->sq_pi);
	}
	EXPECT_EQ(h->faults, 0);
	end();
}

/* The doorbell covers fewer entries than the payload takes. */
static void inline_short(void)
{
	struct angara_wqe w = put_wqe(0, 0, 200);
	char payload[256] = { 0 };
	struct angara_cqe cqe;
	u32 i;

	start_with(3, 4);
	w.flags = ANGARA_WQE_INLINE;
	post(a, &w, payload);
	a->sq_pi -= 2;
	kick(a);
	host_run(h);
	EXPECT(poll_cq(a, &cqe) && le16_to_cpu(cqe.status) == ANGARA_ST_DESC);
	/* The next entries are zeros, which means NOPs. */
	for (i = 0; i < 2; i++)
		EXPECT(poll_cq(a, &cqe) && cqe.opcode == ANGARA_OP_NOP);
	EXPECT(!poll_cq(a, &cqe));
	end();
}

/* After an entry is refused its payload is skipped, whatever it contains. */
static void inline_refused(void)
{
	struct angara_wqe w = put_wqe(0, 0, 256);
	struct angara_wqe payload[4];
	struct angara_cqe cqe;
	u32 i;

	start_with(3, 3);
	for (i = 0; i < NUM(payload); i++)
		payload[i] = put_wqe(0, 0, 8);
	w.flags = ANGARA_WQE_INLINE | ANGARA_WQE_NOTIFY;
	w.counter = cpu_to_le16(ANGARA_CTR_USER_NUM);
	post(a, &w, payload);
	kick(a);
	EXPECT_EQ(finish(a, &cqe), ANGARA_ST_DESC);
	EXPECT_EQ(cqe.opcode, ANGARA_OP_PUT);
	EXPECT_EQ(ctx_counter(a, ANGARA_CTR_SQ_CI), a->sq_pi);
	EXPECT_EQ(h->faults, 0);
	end();
}

static void malformed(void)
{
	struct angara_wqe good = put_wqe(0, 0, 8);
	struct angara_wqe red = wqe_coll(ANGARA_OP_ALLREDUCE, 3, 0, 0, 8);
	struct angara_wqe w;
	u32 i;

	start_with(3, 3);
#define EXPECT_ST(base, member, value, status)				\
do {									\
	w = base;							\
	w.member = value;						\
	EXPECT_EQ(status_of(a, w), status);				\
} while (0)
	for (i = ANGARA_OP_NUM; i < 256; i++)
		EXPECT_ST(good, opcode, (u8)i, ANGARA_ST_DESC);
	for (i = 4; i < 8; i++)
		EXPECT_ST(good, flags, (u8)(1U << i), ANGARA_ST_DESC);
	EXPECT_ST(good, length, cpu_to_le32(ANGARA_MAX_OP_BYTES + 1),
		  ANGARA_ST_DESC);
	EXPECT_ST(good, length, cpu_to_le32(~0U), ANGARA_ST_DESC);
	EXPECT_ST(good, length, cpu_to_le32(ANGARA_MAX_OP_BYTES),
		  ANGARA_ST_BOUNDS);
	EXPECT_ST(good, dst_node, cpu_to_le32(2), ANGARA_ST_TARGET);
	EXPECT_ST(good, dst_node, cpu_to_le32(~0U), ANGARA_ST_TARGET);
	EXPECT_ST(good, dst_ctx, cpu_to_le16(0), ANGARA_ST_TARGET);
	EXPECT_ST(good, dst_ctx, cpu_to_le16(0xFFFF), ANGARA_ST_TARGET);
	EXPECT_ST(good, lkey, cpu_to_le32(1), ANGARA_ST_KEY);
	EXPECT_ST(good, lkey, cpu_to_le32(~0U), ANGARA_ST_KEY);
	EXPECT_ST(good, rkey, cpu_to_le64(~0ULL), ANGARA_ST_KEY);
	EXPECT_ST(good, loff, cpu_to_le64(65529), ANGARA_ST_BOUNDS);
	EXPECT_ST(good, loff, cpu_to_le64(~0ULL), ANGARA_ST_BOUNDS);
	EXPECT_ST(good, roff, cpu_to_le64(65529), ANGARA_ST_BOUNDS);
	EXPECT_ST(good, roff, cpu_to_le64(~0ULL - 3), ANGARA_ST_BOUNDS);
	w = good;
	w.flags = ANGARA_WQE_NOTIFY;
	EXPECT_ST(w, counter, cpu_to_le16(ANGARA_CTR_USER_NUM), ANGARA_ST_DESC);
	EXPECT_ST(w, opcode, ANGARA_OP_BCAST, ANGARA_ST_DESC);
	w = good;
	w.flags = ANGARA_WQE_INLINE;
	EXPECT_ST(w, length, cpu_to_le32(257), ANGARA_ST_DESC);
	EXPECT_ST(w, opcode, ANGARA_OP_GET, ANGARA_ST_DESC);
	EXPECT_ST(red, tree, ANGARA_MAX_TREES, ANGARA_ST_DESC);
	EXPECT_ST(red, type, ANGARA_TYPE_NUM, ANGARA_ST_DESC);
	EXPECT_ST(red, redop, ANGARA_RED_NUM, ANGARA_ST_DESC);
	EXPECT_ST(red, redop, ANGARA_RED_MINLOC, ANGARA_ST_DESC);
	EXPECT_ST(red, type, ANGARA_TYPE_DOUBLE_LOC, ANGARA_ST_DESC);
	w = red;
	w.redop = ANGARA_RED_XOR;
	EXPECT_ST(w, type, ANGARA_TYPE_DOUBLE, ANGARA_ST_DESC);
	w.redop = ANGARA_RED_MAXLOC;
	EXPECT_ST(w, type, ANGARA_TYPE_DOUBLE, ANGARA_ST_DESC);
	w.length = cpu_to_le32(32);
	EXPECT_ST(w, type, ANGARA_TYPE_DOUBLE_LOC, ANGARA_ST_NO_TREE);
	w.length = cpu_to_le32(24);
	EXPECT_ST(w, type, ANGARA_TYPE_DOUBLE_LOC, ANGARA_ST_DESC);
	EXPECT_ST(red, length, cpu_to_le32(6), ANGARA_ST_DESC);
	EXPECT_ST(red, opcode, ANGARA_OP_BARRIER, ANGARA_ST_DESC);
	EXPECT_ST(red, tree, 3, ANGARA_ST_NO_TREE);
	EXPECT_ST(red, opcode, ANGARA_OP_BCAST, ANGARA_ST_NO_TREE);
	EXPECT_EQ(status_of(a, good), ANGARA_ST_OK);
#undef EXPECT_ST
	EXPECT_EQ(h->faults, 0);
	end();
}

/* Entries of random bytes get any status, but one completion each, and no fault. */
static void random_entries(void)
{
	struct angara_cqe cqe;
	u64 seed = 4711;
	u32 i, k;

	start_with(3, 3);
	for (i = 0; i < 20000; i++) {
		struct angara_wqe w = put_wqe(0, 0, 8);
		u8 *bytes = (u8 *)&w;

		w.opcode = (u8)(rnd(&seed) % (ANGARA_OP_NUM + 1));
		for (k = rnd(&seed) % 4; k; k--)
			bytes[rnd(&seed) % sizeof(w)] = (u8)rnd(&seed);
		w.flags &= (u8)~(ANGARA_WQE_INLINE | ANGARA_WQE_QUIET);
		post(a, &w, NULL);
		kick(a);
		host_run(h);
		EXPECT(poll_cq(a, &cqe));
		EXPECT(le16_to_cpu(cqe.status) < ANGARA_ST_NUM);
		EXPECT_EQ(le64_to_cpu(cqe.cookie), le64_to_cpu(w.cookie));
		EXPECT(!poll_cq(a, &cqe));
	}
	EXPECT_EQ(h->faults, 0);
	end();
}

static void quiet_and_notify(void)
{
	struct angara_wqe w = put_wqe(0, 0, 3000);
	struct angara_cqe cqe;
	u32 i;

	start_with(4, 4);
	w.flags = ANGARA_WQE_QUIET | ANGARA_WQE_NOTIFY;
	w.counter = cpu_to_le16(255);
	for (i = 1; i < 5; i++) {
		post(a, &w, NULL);
		kick(a);
		host_run(h);
		EXPECT(!poll_cq(a, &cqe));
		EXPECT_EQ(ctx_counter(b, ANGARA_CTR_USER(255)), i);
		EXPECT_EQ(ctx_counter(b, ANGARA_CTR_EVSEQ), i);
		EXPECT_EQ(ctx_counter(a, ANGARA_CTR_SQ_CI), i);
	}
	w.opcode = ANGARA_OP_GET;
	post(a, &w, NULL);
	kick(a);
	host_run(h);
	EXPECT_EQ(ctx_counter(b, ANGARA_CTR_USER(255)), 5);
	/* An error is reported even with ANGARA_WQE_QUIET.  It does not notify the target. */
	w.rkey = cpu_to_le64(5);
	post(a, &w, NULL);
	kick(a);
	EXPECT_EQ(finish(a, &cqe), ANGARA_ST_KEY);
	EXPECT_EQ(le32_to_cpu(cqe.node), 1);
	EXPECT_EQ(ctx_counter(b, ANGARA_CTR_USER(255)), 5);
	end();
}

static void interrupts(void)
{
	struct angara_wqe w = put_wqe(0, 0, 8);
	u32 *count;

	start_with(4, 4);
	count = &h->node[0].interrupts[ANGARA_VEC_CTX(0)];
	post(a, &w, NULL);
	kick(a);
	host_run(h);
	EXPECT_EQ(*count, 0);
	/* The event has already happened: interrupt at once. */
	host_reg(h, 0, ANGARA_DB_PAGE(0) + ANGARA_DB_ARM, 0);
	host_run(h);
	EXPECT_EQ(*count, 1);
	/* The process has seen all events: interrupt once, at the next one. */
	host_reg(h, 0, ANGARA_DB_PAGE(0) + ANGARA_DB_ARM, 1);
	host_run(h);
	EXPECT_EQ(*count, 1);
	post(a, &w, NULL);
	kick(a);
	host_run(h);
	EXPECT_EQ(*count, 2);
	post(a, &w, NULL);
	kick(a);
	host_run(h);
	EXPECT_EQ(*count, 2);
	end();
}

static void bad_doorbells(void)
{
	struct angara_wqe w = put_wqe(0, 0, 8);
	struct angara_cqe cqe;

	start_with(3, 4);
	post(a, &w, NULL);
	host_reg(h, 0, ANGARA_DB_PAGE(0) + ANGARA_DB_SQ, 9);
	host_reg(h, 0, ANGARA_DB_PAGE(0) + ANGARA_DB_SQ + 4, 1);
	host_reg(h, 0, ANGARA_DB_PAGE(1) + ANGARA_DB_SQ, 1);
	host_reg(h, 0, ANGARA_DB_PAGE(2) + ANGARA_DB_ARM, 1);
	host_reg(h, 0, ANGARA_DB_PAGE(4) + ANGARA_DB_SQ, 1);
	host_run(h);
	EXPECT(!poll_cq(a, &cqe));
	host_reg(h, 0, ANGARA_DB_PAGE(0) + ANGARA_DB_SQ, (u32)-1);
	host_run(h);
	EXPECT(!poll_cq(a, &cqe));
	kick(a);
	EXPECT_EQ(finish(a, NULL), ANGARA_ST_OK);
	end();
}

/* The queues of a context are at addresses that the host cannot reach. */
static void unreachable(void)
{
	struct angara_wqe w = put_wqe(0, 0, 8);
	struct ang_ctx *c;

	start_with(3, 3);
	c = ang_ctx(h->fab, ang_node(h->fab, 0), 0);
	c->sq.list = 0xDEAD0000;
	post(a, &w, NULL);
	kick(a);
	EXPECT_EQ(finish(a, NULL), ANGARA_ST_DMA);
	EXPECT_EQ(h->faults, 1);
	c->cq.list = 0xDEAD0000;
	c->cq.index = 0;
	c->ctr = 0xDEAD0000;
	post(a, &w, NULL);
	kick(a);
	host_run(h);
	c->ctl = 0xDEAD0000;
	for (a->sq_pi = 3; a->sq_pi < 40; a->sq_pi++) {
		kick(a);
		host_run(h);
	}
	EXPECT(h->faults > 3);
	end();
}

/* Operations are in flight when their context is destroyed and created again. */
static void destroyed_at_work(void)
{
	struct angara_wqe get;
	struct angara_cqe cqe;
	u32 steps, i;

	for (steps = 1; steps < 40; steps++) {
		start_with(3, 3);
		get = wqe_p2p(ANGARA_OP_GET, 1, 1, 0, 0, 65536);
		get.flags = ANGARA_WQE_NOTIFY;
		post(a, &get, NULL);
		get.flags = 0;
		post(a, &get, NULL);
		kick(a);
		run_steps(&h->v, steps);
		ctx_del(a);
		a = ctx_new(h, 0, 0, PKEY, 3, 3);
		ctx_buffer(a, 65536);
		memset(a->buf, 0x5A, 65536);
		memset(b->buf, 'b', 65536);
		/*
		 * The new context's operation uses the same slot, and the upper
		 * half of the buffer.
		 */
		get = wqe_p2p(ANGARA_OP_GET, 1, 1, 0, 32768, 20000);
		get.cookie = cpu_to_le64(steps);
		post(a, &get, NULL);
		kick(a);
		EXPECT_EQ(finish(a, &cqe), ANGARA_ST_OK);
		EXPECT_EQ(le64_to_cpu(cqe.cookie), steps);
		EXPECT_EQ(le32_to_cpu(cqe.length), 20000);
		for (i = 0; i < 65536; i++)
			EXPECT_EQ((u8)a->buf[i], i < 32768 || i >= 52768 ?
				  0x5A : 'b');
		EXPECT_EQ(h->faults, 0);
		end();
	}
}

/* Answers in flight to the old context find an operation of the new one. */
static void late_answers(void)
{
	struct angara_wqe get = wqe_p2p(ANGARA_OP_GET, 1, 1, 40000, 0, 20000);
	u32 i;

	start_with(3, 3);
	memset(b->buf, 'b', 32768);
	memset(b->buf + 32768, 'x', 32768);
	post(a, &get, NULL);
	kick(a);
	host_freeze(h, 1, 1);
	host_run(h);
	ctx_del(a);
	a = ctx_new(h, 0, 0, PKEY, 3, 3);
	ctx_buffer(a, 65536);
	get = wqe_p2p(ANGARA_OP_GET, 1, 1, 0, 10000, 20000);
	post(a, &get, NULL);
	kick(a);
	host_run(h);
	host_freeze(h, 1, 0);
	EXPECT_EQ(finish(a, NULL), ANGARA_ST_OK);
	for (i = 0; i < 65536; i++)
		EXPECT_EQ(a->buf[i], i < 10000 || i >= 30000 ? 0 : 'b');
	EXPECT(ang_node(h->fab, 0)->drops[ANGARA_DROP_STALE] > 0);
	EXPECT_EQ(h->faults, 0);
	end();
}

static struct ang_ctx *ctx_of(const struct tctx *c)
{
	return ang_ctx(h->fab, ang_node(h->fab, c->node), c->id);
}

static u16 life_of(const struct tctx *c)
{
	return ctx_of(c)->life;
}

/*
 * Another process nudges the context for entries up to @pi.  Return: number of
 * completions.
 */
static u32 nudged(u16 life, u32 pi)
{
	struct angara_cqe cqe;
	u32 got = 0;

	ang_reg_nudge(&h->v, 0, 0, life, pi);
	host_run(h);
	while (poll_cq(a, &cqe))
		got++;
	return got;
}

/* Other processes nudge a context: late, early, twice, or for another life. */
static void nudges(void)
{
	struct angara_wqe w = put_wqe(0, 0, 8);
	u16 life;
	u32 i;

	start_with(3, 3);
	life = life_of(a);
	for (i = 0; i < 4; i++)
		post(a, &w, NULL);
	EXPECT_EQ(nudged(life, 2), 2);
	EXPECT_EQ(nudged(life, 2), 0);
	EXPECT_EQ(nudged(life, 1), 0);
	EXPECT_EQ(nudged((u16)(life - 1), 4), 0);
	EXPECT_EQ(nudged(life, 3), 1);
	/*
	 * The context's process rings for the remaining entries: later nudges
	 * have no effect.
	 */
	kick(a);
	EXPECT_EQ(finish(a, NULL), ANGARA_ST_OK);
	EXPECT_EQ(nudged(life, 3), 0);
	EXPECT_EQ(nudged(life, 100), 0);
	ctx_del(a);
	a = ctx_new(h, 0, 0, PKEY, 3, 3);
	ctx_buffer(a, 65536);
	post(a, &w, NULL);
	EXPECT(life_of(a) != life);
	EXPECT_EQ(nudged(life, 1), 0);
	EXPECT_EQ(nudged(life_of(a), 1), 1);
	/* Nudge contexts and nodes that do not exist. */
	ang_reg_nudge(&h->v, h->nodes, 0, life, 1);
	ang_reg_nudge(&h->v, 0, h->cfg.ctxs, life, 1);
	EXPECT_EQ(nudged(life_of(a), 1), 0);
	end();
}

/* Posts an entry of @a at index @at, as if so many entries had been fetched before. */
static void post_at(u32 at)
{
	struct angara_wqe w = put_wqe(0, 0, 8);
	struct ang_ctx *c = ctx_of(a);

	EXPECT_EQ(c->sq_pi, c->sq_ci);
	c->sq_pi = c->sq_ci = c->db_sq = a->sq_pi = at;
	post(a, &w, NULL);
}

/* The context's own process rings.  No nudge adds an entry. */
static void rung_alone(void)
{
	kick(a);
	EXPECT_EQ(finish(a, NULL), ANGARA_ST_OK);
	EXPECT_EQ(ctx_of(a)->sq_pi, a->sq_pi);
}

/*
 * When almost 2^32 more entries have been posted, the index of an old nudge
 * seems to be new again.
 */
static void old_nudge(void)
{
	start_with(3, 3);
	post_at(1);
	EXPECT_EQ(nudged(life_of(a), 2), 1);
	post_at(2U - 3);
	rung_alone();
	end();
}

/*
 * More than 2^31 entries or 2^15 lives after a nudge, a new nudge seems to be older than
 * that one.
 */
static void far_nudges(void)
{
	start_with(3, 3);
	post_at(1);
	EXPECT_EQ(nudged(life_of(a), 2), 1);
	post_at(2 + (1U << 31) + 5);
	EXPECT_EQ(nudged(life_of(a), a->sq_pi), 1);
	ctx_of(a)->life = 0x9000;
	post_at(7);
	EXPECT_EQ(nudged(0x9000, 8), 1);
	end();
}

/* The number of a life may be 0, and so may an index. */
static void zero_nudges(void)
{
	start_with(3, 3);
	ctx_of(a)->life = 0;
	post_at(-4U);
	rung_alone();
	post_at(-1U);
	EXPECT_EQ(nudged(0, 0), 1);
	end();
}

/*
 * A nudge for a context that has ended does not hide nudges for later contexts with its
 * number.
 */
static void stray_nudge(void)
{
	u16 life;

	start_with(3, 3);
	life = life_of(a);
	ctx_del(a);
	ang_reg_nudge(&h->v, 0, 0, life, 1);
	host_run(h);
	ang_ctx(h->fab, ang_node(h->fab, 0), 0)->life = (u16)(life + 0x8000);
	a = ctx_new(h, 0, 0, PKEY, 3, 3);
	ctx_buffer(a, 65536);
	post_at(0);
	EXPECT_EQ(nudged(life_of(a), 1), 1);
	end();
}

/*
 * A nudge announces entries that cannot be fetched yet.  The context's own doorbell
 * is older, and a request for an interrupt does not take the entries back.
 */
static void nudge_stays(void)
{
	struct angara_wqe w = put_wqe(0, 0, 8);
	struct angara_cqe cqe;
	u32 i;

	start_with(5, 3);
	for (i = 0; i < 8; i++)
		post(a, &w, NULL);
	kick(a);
	host_run(h);
	for (i = 0; i < 2; i++)
		post(a, &w, NULL);
	EXPECT_EQ(nudged(life_of(a), 10), 8);
	EXPECT(!poll_cq(a, &cqe));
	host_reg(h, 0, ANGARA_DB_PAGE(0) + ANGARA_DB_ARM, 8);
	host_run(h);
	for (i = 0; i < 2; i++) {
		EXPECT(poll_cq(a, &cqe));
		EXPECT_EQ(cqe.status, ANGARA_ST_OK);
	}
	end();
}

const struct test_case queue_cases[] = {
	{ "queue: wrap-around", wrap },
	{ "queue: a full completion queue", cq_full },
	{ "queue: fence", fence },
	{ "queue: inline payload of every length, over the ring's end",
	  inline_payload },
	{ "queue: inline payload cut short", inline_short },
	{ "queue: inline payload of an entry that is refused", inline_refused },
	{ "queue: malformed entries", malformed },
	{ "queue: entries of random bytes", random_entries },
	{ "queue: quiet and notify", quiet_and_notify },
	{ "queue: interrupts", interrupts },
	{ "queue: bad doorbells", bad_doorbells },
	{ "queue: doorbells that others ring", nudges },
	{ "queue: a doorbell that others rang long ago", old_nudge },
	{ "queue: doorbells that others ring a long time apart", far_nudges },
	{ "queue: doorbells of life 0 that others ring", zero_nudges },
	{ "queue: a doorbell that others ring too late", stray_nudge },
	{ "queue: an older doorbell after one that others rang", nudge_stays },
	{ "queue: unreachable memory", unreachable },
	{ "queue: a context is destroyed with operations in flight", destroyed_at_work },
	{ "queue: answers that come too late", late_answers },
	{ NULL, NULL },
};
