// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Point-to-point operations with links and without (ang_express.c): the same
 * random operations on two fabrics, one of which sends packets only.  Memory,
 * completions, messages, event counters and all counters of nodes, links and
 * contexts must be equal.
 */
#include <string.h>

#include "msgs.h"
#include "watch.h"

#define CTXS	2	/* contexts per node */
#define BATCH	6	/* operations that are posted at a time */
#define ROUNDS	400
#define PLACE	512	/* bytes for each operation, in a member's memory */

/**
 * struct side - one of the two fabrics that are compared
 * @h: host
 * @c: contexts, by node and number
 * @area: receive buffers of the contexts
 * @at_once: doorbells are rung by ang_reg_ring()
 * @lanes: small operations are done in lanes as soon as possible
 */
struct side {
	struct host *h;
	struct tctx *c[64];
	struct tarea *area[64];
	bool at_once;
	bool lanes;
};

static void side_open(struct side *s, const char *dims,
		      const struct ang_cfg *cfg, bool packets)
{
	u32 i;

	s->h = host_new(dims, cfg);
	s->h->ops.trace = NULL;
	s->h->v.packets = packets;
	for (i = 0; i < s->h->nodes * CTXS; i++) {
		s->c[i] = member(s->h, i / CTXS, i % CTXS);
		s->area[i] = area_new(s->c[i], MSG_LOG2);
	}
}

static void side_close(struct side *s)
{
	u32 i;

	for (i = 0; i < s->h->nodes * CTXS; i++) {
		ctx_del(s->c[i]);
		free(s->area[i]);
	}
	EXPECT_EQ(s->h->faults, 0);
	host_free(s->h);
}

/* Rings the doorbell; with @at_once the context may have its turn in the call. */
static void ring(struct tctx *c, bool at_once)
{
	if (at_once)
		ang_reg_ring(&c->h->v, c->node,
			     ANGARA_DB_PAGE(c->id) + ANGARA_DB_SQ, c->sq_pi);
	else
		kick(c);
}

/* Makes about one operation of five invalid. */
static void spoil(struct angara_wqe *w, u64 r)
{
	switch (r % 30) {
	case 0:
		w->rkey = cpu_to_le64(BUF_KEY + 1);
		break;
	case 1:
		w->roff = cpu_to_le64(1ULL << 40);
		break;
	case 2:
		w->dst_ctx = cpu_to_le16(CTXS);
		break;
	case 3:
		w->lkey = cpu_to_le32(MRS - 1);
		break;
	case 4:
		w->dst_node = cpu_to_le32(1000);
		break;
	case 5:
		w->roff = cpu_to_le64(le64_to_cpu(w->roff) + 1);
		break;
	}
}

/*
 * Return: operation @k of a batch.  It writes to places that no other operation
 * uses, or adds to words that all operations share.
 */
static struct angara_wqe random_op(u64 *seed, u32 nodes, u32 k, u32 *words)
{
	static const u8 ops[] = { ANGARA_OP_PUT, ANGARA_OP_GET, ANGARA_OP_SEND,
				  ANGARA_OP_ATOMIC, ANGARA_OP_FETCH };
	u64 r = rnd(seed);
	u8 op = ops[r % NUM(ops)];
	bool inl = r >> 8 & 1 && op != ANGARA_OP_GET;
	bool atomic = op == ANGARA_OP_ATOMIC || op == ANGARA_OP_FETCH;
	u32 len = atomic ? 8 * (1 + (r >> 16) % 4) :
			   (u32)(r >> 16) % (r >> 9 & 1 ? 64 : PLACE);
	struct angara_wqe w = wqe_p2p(op, (u32)(r >> 32) % nodes,
				      (r >> 40) % CTXS, k * PLACE,
				      (BATCH + k) * PLACE, len);

	w.flags = inl && len <= ANGARA_MAX_INLINE ? ANGARA_WQE_INLINE : 0;
	if (op != ANGARA_OP_SEND && r >> 10 & 1) {
		w.flags |= ANGARA_WQE_NOTIFY;
		w.counter = cpu_to_le16((r >> 11) % ANGARA_CTR_USER_NUM);
	}
	w.flags |= r >> 48 & 1 && !(r >> 49 & 3) ? ANGARA_WQE_FENCE : 0;
	w.flags |= r >> 51 & 7 ? 0 : ANGARA_WQE_QUIET;
	if (atomic) {
		w.type = ANGARA_TYPE_UINT64;
		w.redop = ANGARA_ATOMIC_SUM;
		w.roff = cpu_to_le64(2 * BATCH * PLACE);
		/* The old value depends on the order within a batch. */
		w.aux = cpu_to_le64(op == ANGARA_OP_FETCH ?
				    (2 * BATCH + 1) * PLACE : 0);
		w.aux_key = cpu_to_le32(op == ANGARA_OP_FETCH ? BUF_KEY : 0);
	}
	if (op == ANGARA_OP_SEND) {
		w.rkey = cpu_to_le64(k);
		w.roff = cpu_to_le64(r);
	}
	w.cookie = cpu_to_le64(k);
	for (k = 0; k < PLACE / 4; k++)
		words[k] = (u32)rnd(seed);
	/*
	 * Timing decides how many trains of a longer operation leave before
	 * the error.
	 */
	if (len <= ANGARA_PACKET_BYTES - ANG_SEND_HEAD)
		spoil(&w, rnd(seed));
	return w;
}

/* Takes the completions of a context, and stores them by cookie. */
static void completions(struct tctx *c, struct angara_cqe *cqes)
{
	struct angara_cqe cqe;

	memset(cqes, 0, BATCH * sizeof(*cqes));
	while (poll_cq(c, &cqe)) {
		EXPECT(le64_to_cpu(cqe.cookie) < BATCH);
		cqe.phase = 1;
		cqes[le64_to_cpu(cqe.cookie)] = cqe;
	}
}

/* Takes all messages; those of a batch may come in any order. */
static u64 messages(struct tarea *area)
{
	const struct angara_msg *m;
	u64 sum = 0;

	while ((m = area_next(area, NULL))) {
		u32 len = le32_to_cpu(m->length), i;
		u64 hash = len ^ le64_to_cpu(m->tag) ^ le32_to_cpu(m->node) << 7 ^
			   le16_to_cpu(m->ctx) << 3;

		for (i = 0; i < len; i++)
			hash = (hash ^ ((const u8 *)(m + 1))[i]) * 0x100000001B3ULL;
		sum += hash;
		area_free(area, m);
	}
	return sum;
}

/*
 * Compares all counters except those of buffers and lack of room, which depend
 * on the timing of packets.
 */
static void counters_equal(struct side *a, struct side *b, bool alone)
{
	static const u32 kinds[] = { ANGARA_CNT_NODE, ANGARA_CNT_LINK, ANGARA_CNT_CTX };
	u32 node, k, i;

	for (node = 0; node < a->h->nodes; node++)
		for (k = 0; k < NUM(kinds); k++)
			for (i = 0; i < 8; i++) {
				union ang_counters x, y;
				u32 size = ang_look_counters(&a->h->v, node, kinds[k], i, &x);

				EXPECT_EQ(ang_look_counters(&b->h->v, node, kinds[k], i, &y),
					  size);
				if (kinds[k] == ANGARA_CNT_NODE) {
					x.node.no_buffer = y.node.no_buffer;
					if (!alone)
						x.node.cycles = y.node.cycles;
				}
				if (kinds[k] == ANGARA_CNT_LINK)
					memcpy(x.link.stalls, y.link.stalls,
					       sizeof(x.link.stalls));
				EXPECT(!memcmp(&x, &y, size));
			}
}

static void ctx_equal(struct side *a, struct side *b, u32 i, bool alone)
{
	struct angara_cqe x[BATCH], y[BATCH];
	u32 n;

	completions(a->c[i], x);
	completions(b->c[i], y);
	for (n = 0; n < BATCH; n++) {
		EXPECT_EQ(le16_to_cpu(x[n].status), le16_to_cpu(y[n].status));
		EXPECT(!memcmp(&x[n], &y[n], sizeof(x[n])));
	}
	/*
	 * The last place, which gets old values of atomic operations, may
	 * differ.
	 */
	EXPECT(!memcmp(a->c[i]->buf, b->c[i]->buf, (2 * BATCH + 1) * PLACE));
	if (alone)
		EXPECT_EQ(ctx_counter(a->c[i], ANGARA_CTR_EVSEQ),
			  ctx_counter(b->c[i], ANGARA_CTR_EVSEQ));
	for (n = 0; n < ANGARA_CTR_USER_NUM; n++)
		EXPECT_EQ(ctx_counter(a->c[i], ANGARA_CTR_USER(n)),
			  ctx_counter(b->c[i], ANGARA_CTR_USER(n)));
	EXPECT_EQ(messages(a->area[i]), messages(b->area[i]));
}

/* Posts the same operations of random contexts on both sides. */
static void batch_post(struct side *a, struct side *b, u64 *seed, u32 ops)
{
	u32 all = a->h->nodes * CTXS;
	u32 i, k;

	for (k = 0; k < ops; k++) {
		u32 words[PLACE / 4];
		struct angara_wqe w = random_op(seed, a->h->nodes, k, words);
		bool inl = w.flags & ANGARA_WQE_INLINE;

		i = rnd(seed) % all;
		if (!inl) {
			memcpy(a->c[i]->buf + k * PLACE, words, PLACE);
			memcpy(b->c[i]->buf + k * PLACE, words, PLACE);
		}
		post(a->c[i], &w, inl ? words : NULL);
		post(b->c[i], &w, inl ? words : NULL);
	}
	for (i = 0; i < all; i++) {
		kick(a->c[i]);
		ring(b->c[i], b->at_once);
	}
	host_run(a->h);
	host_run(b->h);
}

/* Holds each node once: its holder adds the counts of the lanes to the counters. */
static void lanes_count(struct side *s)
{
	u32 node;

	for (node = 0; node < s->h->nodes; node++)
		ang_look(&s->h->v, node);
	host_run(s->h);
}

static void compare(const char *dims, const struct ang_cfg *cfg, u32 ops, u64 seed)
{
	struct side a, b;
	u32 round, i;

	side_open(&a, dims, cfg, true);
	side_open(&b, dims, cfg, false);
	b.at_once = seed % 2;
	b.lanes = seed % 8 == 1;
	b.h->v.calm = b.lanes;
	for (round = 0; round < ROUNDS; round++) {
		batch_post(&a, &b, &seed, 1 + rnd(&seed) % ops);
		for (i = 0; i < a.h->nodes * CTXS; i++)
			ctx_equal(&a, &b, i, ops == 1);
		if (b.lanes && round % 8 != 7)
			continue;
		if (b.lanes)
			lanes_count(&b);
		counters_equal(&a, &b, ops == 1);
	}
	side_close(&a);
	side_close(&b);
}

static void one_by_one(void)
{
	compare("3x2", &cfg_default, 1, 1);
	compare("5", &cfg_tight, 1, 2);
	compare("2x2x2", &cfg_default, 1, 3);
	compare("2x2x2", &cfg_default, 1, 8);
	compare("3x2", &cfg_default, 1, 9);
	compare("5", &cfg_tight, 1, 17);
}

static void switches(void)
{
	compare("mkns:2x2", &cfg_default, 1, 4);
	compare("mkns:2x2", &cfg_default, 1, 25);
}

static void batches(void)
{
	compare("3x2", &cfg_default, BATCH, 5);
	compare("4", &cfg_tight, BATCH, 6);
	compare("3", &cfg_tight, BATCH, 7);
	compare("2x3", &cfg_default, BATCH, 8);
	compare("3x2", &cfg_default, BATCH, 33);
	compare("4", &cfg_tight, BATCH, 41);
}

/*
 * A turn ends in the middle of an operation.  The node continues the operation in its
 * next turns.
 */
static void cut(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, PLACE, 8 * PLACE);
	struct angara_cqe cqe;
	struct side s;

	side_open(&s, "2", &cfg_default, false);
	s.h->v.turn = 100;
	post(s.c[0], &w, NULL);
	ring(s.c[0], true);
	EXPECT(!poll_cq(s.c[0], &cqe));
	host_run(s.h);
	EXPECT(poll_cq(s.c[0], &cqe) && !cqe.status);
	side_close(&s);
}

/* A doorbell of an idle node is served before ang_run(). */
static void at_once(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, PLACE, 64);
	struct angara_cqe cqe;
	struct side s;
	u32 i;

	side_open(&s, "2", &cfg_default, false);
	for (i = 0; i < 2; i++) {
		struct ang_node *n = ang_node(s.h->fab, 0);

		post(s.c[0], &w, NULL);
		if (i)
			ang_wake(&s.h->v, n, 0);
		ring(s.c[0], true);
		EXPECT_EQ(poll_cq(s.c[0], &cqe), !i);
		EXPECT_EQ(ang_view_busy(&s.h->v), i);
		host_run(s.h);
		EXPECT_EQ(poll_cq(s.c[0], &cqe), i);
	}
	/* Ring doorbells of nodes, contexts and indices that do not exist. */
	ang_reg_ring(&s.h->v, s.h->nodes, ANGARA_DB_PAGE(0) + ANGARA_DB_SQ, 1);
	ang_reg_ring(&s.h->v, 0, ANGARA_DB_PAGE(s.h->cfg.ctxs) + ANGARA_DB_SQ, 1);
	ang_reg_ring(&s.h->v, 0, ANGARA_DB_PAGE(CTXS) + ANGARA_DB_SQ, 1);
	ang_reg_ring(&s.h->v, 0, ANGARA_DB_PAGE(0) + ANGARA_DB_SQ, 1000000);
	host_run(s.h);
	side_close(&s);
}

/* No packet enters a ring; transit through a router in between is counted. */
static void no_links(void)
{
	struct side s;
	struct angara_cqe cqe;
	struct ang_port *port;
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 2, 0, 0, PLACE, PLACE);

	side_open(&s, "5", &cfg_default, false);
	post(s.c[0], &w, NULL);
	kick(s.c[0]);
	host_run(s.h);
	EXPECT(poll_cq(s.c[0], &cqe) && !cqe.status);
	port = ang_port(s.h->fab, ang_node(s.h->fab, 1), 0);
	EXPECT_EQ(port->link.packets[ANGARA_VC_REQ], 0);
	EXPECT_EQ(port->passed.packets[ANGARA_VC_REQ], PLACE / ANGARA_PACKET_BYTES);
	EXPECT_EQ(ang_ring(s.h->fab, ang_node(s.h->fab, 1), 1, ANGARA_VC_REQ)->tail, 0);
	side_close(&s);
}

/* An operation without links does not overtake a context's earlier packets. */
static void order(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 2, 0, 0, PLACE, 64);
	struct angara_cqe cqe;
	struct ang_node *t;
	struct side s;

	side_open(&s, "5", &cfg_default, false);
	t = ang_node(s.h->fab, 2);
	memset(s.c[0]->buf, 1, 64);
	memset(s.c[0]->buf + 64, 2, 64);
	ang_fetch_or(&t->sched, ANG_SCHED_OWNED);
	post(s.c[0], &w, NULL);
	kick(s.c[0]);
	ang_run(&s.h->v, 1);
	ang_fetch_and(&t->sched, ~ANG_SCHED_OWNED);
	w.loff = cpu_to_le64(64);
	post(s.c[0], &w, NULL);
	ring(s.c[0], true);
	EXPECT(!poll_cq(s.c[0], &cqe));
	host_run(s.h);
	EXPECT(poll_cq(s.c[0], &cqe) && poll_cq(s.c[0], &cqe));
	EXPECT(!memcmp(s.c[4]->buf + PLACE, s.c[0]->buf + 64, 64));
	side_close(&s);
}

/* An operation without packets does not reach another partition either. */
static void partitions(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, CTXS, 0, 0, 64);
	struct angara_cqe cqe;
	struct tctx *other;
	struct side s;

	side_open(&s, "2", &cfg_default, false);
	other = ctx_new(s.h, 1, CTXS, PKEY + 1, 3, 3);
	ctx_buffer(other, PLACE);
	post(s.c[0], &w, NULL);
	ring(s.c[0], true);
	host_run(s.h);
	EXPECT(poll_cq(s.c[0], &cqe));
	EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_PARTITION);
	ctx_del(other);
	side_close(&s);
}

/* A view that holds the target does not access memory of the sender. */
static void innocent_target(void)
{
	static const u8 ops[] = { ANGARA_OP_PUT, ANGARA_OP_GET, ANGARA_OP_SEND,
				  ANGARA_OP_ATOMIC, ANGARA_OP_FETCH };
	struct side s;
	u32 i, len;

	side_open(&s, "2", &cfg_default, false);
	watch_begin(s.h, 0, 1, true);
	for (i = 0; i < NUM(ops); i++)
		for (len = 8; len <= 3 * PLACE; len += 3 * PLACE - 8) {
			bool atomic = ops[i] >= ANGARA_OP_ATOMIC;
			struct angara_wqe w = wqe_p2p(ops[i], 1, 0, 0, 4 * PLACE,
						      atomic ? 8 : len);
			struct angara_cqe cqe;

			w.type = atomic ? ANGARA_TYPE_UINT64 : 0;
			w.aux = cpu_to_le64(ops[i] == ANGARA_OP_FETCH ? PLACE : 0);
			if (ops[i] == ANGARA_OP_SEND)
				w.rkey = w.roff = 0;
			post(s.c[0], &w, NULL);
			ring(s.c[0], true);
			EXPECT_EQ(ang_ring(s.h->fab, ang_node(s.h->fab, 1), 0,
					   ANGARA_VC_REQ)->tail, 0);
			host_run(s.h);
			EXPECT(poll_cq(s.c[0], &cqe));
			EXPECT_EQ(le16_to_cpu(cqe.status), 0);
		}
	EXPECT(watch_end(s.h) > 10 * NUM(ops));
	messages(s.area[CTXS]);
	side_close(&s);
}

/* The sink is unmapped when the answer arrives: an error, not a lost operation. */
static void lost_sink(void)
{
	struct angara_wqe ops[] = {
		wqe_p2p(ANGARA_OP_GET, 1, 0, 0, 0, 64),
		wqe_p2p(ANGARA_OP_FETCH, 1, 0, 0, 0, 64),
	};
	struct angara_cqe cqe;
	struct side s;
	u32 i;

	side_open(&s, "2", &cfg_default, false);
	/* Address 1 belongs to a page that the host cannot reach. */
	ctx_mr(s.c[0], 1, 1, PLACE, ANGARA_ACCESS_LOCAL_WRITE);
	ops[0].lkey = cpu_to_le32(1);
	ops[1].type = ANGARA_TYPE_UINT64;
	ops[1].aux_key = cpu_to_le32(1);
	for (i = 0; i < 2 * NUM(ops); i++) {
		s.h->v.packets = i / NUM(ops);
		ops[i % NUM(ops)].flags = ANGARA_WQE_QUIET;
		post(s.c[0], &ops[i % NUM(ops)], NULL);
		ring(s.c[0], true);
		host_run(s.h);
		EXPECT(poll_cq(s.c[0], &cqe));
		EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_DMA);
		EXPECT_EQ(le32_to_cpu(cqe.node), 0);
		EXPECT_EQ(le32_to_cpu(cqe.length), 0);
		s.h->faults--;
	}
	side_close(&s);
}

/* A target that another view holds, or that has work, gets packets. */
static void busy_target(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, PLACE, 64);
	static const u64 busy[] = { ANG_SCHED_OWNED, ANG_SCHED_WORK };
	struct angara_cqe cqe;
	struct ang_node *t;
	struct side s;
	u32 i;

	side_open(&s, "2", &cfg_default, false);
	t = ang_node(s.h->fab, 1);
	for (i = 0; i < NUM(busy); i++) {
		ang_fetch_or(&t->sched, busy[i]);
		post(s.c[0], &w, NULL);
		kick(s.c[0]);
		ang_run(&s.h->v, 1);
		EXPECT(!poll_cq(s.c[0], &cqe));
		EXPECT_EQ(ang_ring(s.h->fab, t, 1, ANGARA_VC_REQ)->tail +
			  ang_ring(s.h->fab, t, 0, ANGARA_VC_REQ)->tail, i + 1);
		ang_fetch_and(&t->sched, ~(busy[i] | ANG_SCHED_WORK));
		ang_wake(&s.h->v, t, ANG_SCHED_RX & 0xFF);
		host_run(s.h);
		EXPECT(poll_cq(s.c[0], &cqe) && !cqe.status);
	}
	side_close(&s);
}

const struct test_case express_cases[] = {
	{ "express: one operation at a time, with links and without", one_by_one },
	{ "express: over switches", switches },
	{ "express: batches", batches },
	{ "express: no link is used", no_links },
	{ "express: packets are not overtaken", order },
	{ "express: partitions", partitions },
	{ "express: a doorbell is served at once", at_once },
	{ "express: a turn ends within an operation", cut },
	{ "express: a busy target gets packets", busy_target },
	{ "express: no target waits for memory of the sender", innocent_target },
	{ "express: a sink that is unmapped", lost_sink },
	{ NULL, NULL },
};
