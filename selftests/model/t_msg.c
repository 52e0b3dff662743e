// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages: delivery, order, and slow receivers.
 */
#include <string.h>

#include "test.h"

#define LOG2	14		/* log2 of the bytes of a receive buffer */
#define MEMORY	(64U << 10)	/* bytes of a context's memory, filled with
				 * content()
				 */

static const u32 lengths[] = {
	0, 1, 63, 64, 65, 239, 240, 241, 256, 257, 495, 496, 497, 1000, 2047,
	4080, 4081, 4095, 4096,
};

static char content(u32 node, u32 at)
{
	return (char)((node * 131 + at) * 2654435761U >> 24);
}

static struct tctx *member(struct host *h, u32 node, u32 id)
{
	struct tctx *c = ctx_new(h, node, id, PKEY, 6, 6);
	u32 i;

	ctx_buffer(c, MEMORY);
	for (i = 0; i < MEMORY; i++)
		c->buf[i] = content(node, i);
	return c;
}

/*
 * Return: message @k of a sender to @to; its payload is content() from byte @k
 * on.
 */
static struct angara_wqe wqe_send(const struct tctx *to, u32 k, u32 len)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_SEND, to->node, to->id, k,
				      0x7A60000000ULL + k, len);

	w.aux = cpu_to_le64(~(u64)k);
	w.code = cpu_to_le16((u16)(k ^ 0x5555));
	w.cookie = cpu_to_le64(k);
	return w;
}

static void send(struct tctx *from, const struct tctx *to, u32 k, u32 len)
{
	struct angara_wqe w = wqe_send(to, k, len);

	post(from, &w, NULL);
	kick(from);
}

static void expect_msg(const struct angara_msg *m, const struct tctx *from,
		       u32 k, u32 len)
{
	const char *data = (const char *)(m + 1);
	u32 i;

	EXPECT_EQ(le32_to_cpu(m->node), from->node);
	EXPECT_EQ(le16_to_cpu(m->ctx), from->id);
	EXPECT_EQ(le64_to_cpu(m->tag), 0x7A60000000ULL + k);
	EXPECT_EQ(le64_to_cpu(m->imm), ~(u64)k);
	EXPECT_EQ(le16_to_cpu(m->code), (k ^ 0x5555) & 0xFFFF);
	EXPECT_EQ(le32_to_cpu(m->length), len);
	for (i = 0; i < len; i++)
		EXPECT_EQ(data[i], content(from->node, k + i));
}

static void receive(struct tarea *a, const struct tctx *from, u32 k, u32 len)
{
	const struct angara_msg *m;

	host_run(a->c->h);
	m = area_next(a, NULL);
	EXPECT(m);
	expect_msg(m, from, k, len);
	area_free(a, m);
}

static void pairs(const char *dims, u32 train)
{
	struct ang_cfg cfg = cfg_default;
	struct angara_hw_ctx_counters cnt;
	struct tctx *c[8];
	struct tarea *area[8];
	struct angara_cqe cqe;
	struct host *h;
	u32 a, b, l;

	cfg.train = (u16)train;
	h = host_new(dims, &cfg);
	EXPECT(h->nodes <= NUM(c));
	for (a = 0; a < h->nodes; a++) {
		c[a] = member(h, a, a % cfg.ctxs);
		area[a] = area_new(c[a], LOG2);
	}
	for (a = 0; a < h->nodes; a++)
		for (b = 0; b < h->nodes; b++)
			for (l = 0; l < NUM(lengths); l++) {
				send(c[a], c[b], 7 * l, lengths[l]);
				receive(area[b], c[a], 7 * l, lengths[l]);
				EXPECT_EQ(finish(c[a], &cqe), ANGARA_ST_OK);
				EXPECT_EQ(le32_to_cpu(cqe.length), lengths[l]);
				EXPECT_EQ(cqe.opcode, ANGARA_OP_SEND);
				EXPECT_EQ(le64_to_cpu(cqe.cookie), 7 * l);
				EXPECT(!area_next(area[b], NULL));
			}
	for (a = 0; a < h->nodes; a++) {
		ctx_counters(c[a], &cnt);
		EXPECT_EQ(cnt.rx_msgs, h->nodes * NUM(lengths));
		EXPECT_EQ(cnt.not_ready, 0);
		EXPECT_EQ(ctx_counter(c[a], ANGARA_CTR_MSG_WAIT), 0);
		/*
		 * Pads at the end of the receive buffer count as events, too.
		 */
		EXPECT(ctx_counter(c[a], ANGARA_CTR_EVSEQ) >=
		       2 * h->nodes * NUM(lengths));
		ctx_del(c[a]);
		free(area[a]);
	}
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

static void pairs_all(void)
{
	pairs("2x2x2", 1);
	pairs("3", 2);
	pairs("5", 8);
	pairs("2x2", 64);
	pairs("1", 1);
}

static void inline_sends(void)
{
	struct ang_cfg cfg = cfg_default;
	char data[ANGARA_MAX_INLINE];
	struct tarea *area;
	struct tctx *a, *b;
	struct host *h;
	u32 len, i;

	h = host_new("2", &cfg);
	a = member(h, 0, 0);
	b = member(h, 1, 1);
	area = area_new(b, LOG2);
	for (i = 0; i < sizeof(data); i++)
		data[i] = content(0, 100 + i);
	/* A message longer than a first train needs a second one. */
	for (len = 0; len <= sizeof(data); len += 16) {
		struct angara_wqe w = wqe_send(b, 100, len);

		w.flags = ANGARA_WQE_INLINE;
		w.lkey = cpu_to_le32(77);
		post(a, &w, data);
		kick(a);
		receive(area, a, 100, len);
		EXPECT_EQ(finish(a, NULL), ANGARA_ST_OK);
	}
	/* Refused messages keep their data. */
	for (i = 0; i < 8; i++) {
		struct angara_wqe w = wqe_send(b, 100, 256);

		w.flags = ANGARA_WQE_INLINE;
		send(a, b, i, 3000);
		post(a, &w, data);
		kick(a);
	}
	for (i = 0; i < 8; i++) {
		receive(area, a, i, 3000);
		receive(area, a, 100, 256);
	}
	EXPECT(!area_next(area, NULL));
	ctx_del(a);
	ctx_del(b);
	free(area);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

/*
 * One receiver does not read its messages.  All but one of the sender's
 * operations are messages that wait for this receiver, but operations to other
 * nodes do not wait.
 */
static void inline_to_others(void)
{
	struct ang_cfg cfg = cfg_default;
	struct tarea *slow, *quick;
	struct tctx *a, *b, *c;
	char data[ANGARA_MAX_INLINE];
	struct angara_wqe w;
	struct angara_cqe cqe;
	struct host *h;
	u32 i, full = 0;

	h = host_new("3", &cfg);
	a = member(h, 0, 0);
	b = member(h, 1, 1);
	c = member(h, 2, 0);
	slow = area_new(b, LOG2);
	quick = area_new(c, LOG2);
	for (i = 0; i < sizeof(data); i++)
		data[i] = content(0, 100 + i);
	/* The receive buffer is full when a message does not complete. */
	for (;; full++) {
		send(a, b, full, 3000);
		host_run(h);
		if (!poll_cq(a, &cqe))
			break;
	}
	for (i = 0; i < cfg.ops - 2U; i++) {
		w = wqe_send(b, 100, sizeof(data));
		w.flags = ANGARA_WQE_INLINE;
		post(a, &w, data);
		kick(a);
		host_run(h);
		w.dst_node = cpu_to_le32(2);
		w.dst_ctx = cpu_to_le16(0);
		w.cookie = cpu_to_le64(1000 + i);
		post(a, &w, data);
		kick(a);
		EXPECT_EQ(finish(a, &cqe), ANGARA_ST_OK);
		EXPECT_EQ(le64_to_cpu(cqe.cookie), 1000 + i);
		receive(quick, a, 100, sizeof(data));
	}
	/* All messages arrive, in order and with their data. */
	for (i = 0; i <= full; i++)
		receive(slow, a, i, 3000);
	for (i = 0; i < cfg.ops - 2U; i++)
		receive(slow, a, 100, sizeof(data));
	EXPECT(!area_next(slow, NULL) && !area_next(quick, NULL));
	ctx_del(a);
	ctx_del(b);
	ctx_del(c);
	free(slow);
	free(quick);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

/*
 * One sender sends more messages than fit; those after a refused one wait at
 * the sender.
 */
static void order(void)
{
	struct ang_cfg cfg = cfg_default;
	struct angara_hw_ctx_counters cnt;
	struct tarea *area;
	struct tctx *a, *b;
	struct host *h;
	u32 k, done = 0;
	struct angara_cqe cqe;

	cfg.train = 4;
	h = host_new("3", &cfg);
	a = member(h, 0, 0);
	b = member(h, 1, 1);
	area = area_new(b, LOG2);
	/* Send long messages that are refused, and short ones that would fit. */
	for (k = 0; k < 40; k++)
		send(a, b, k, k % 2 ? 10 : 4000);
	host_run(h);
	EXPECT_EQ(ctx_counter(b, ANGARA_CTR_MSG_WAIT), 1);
	for (k = 0; k < 40; k++) {
		receive(area, a, k, k % 2 ? 10 : 4000);
		host_run(h);
	}
	while (poll_cq(a, &cqe)) {
		EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_OK);
		EXPECT_EQ(le64_to_cpu(cqe.cookie), done);
		done++;
	}
	EXPECT_EQ(done, 40);
	EXPECT(!area_next(area, NULL));
	ctx_counters(b, &cnt);
	EXPECT_EQ(cnt.rx_msgs, 40);
	EXPECT(cnt.not_ready > 0);
	EXPECT_EQ(ctx_counter(b, ANGARA_CTR_MSG_WAIT), 0);
	ctx_del(a);
	ctx_del(b);
	free(area);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

#define SENDERS	64
#define EACH	12

/* The order of senders may vary, but each gets its turn before long. */
static void expect_fair(const u32 *got, const u32 *before, u32 senders)
{
	u32 least = EACH, most = 0, i;

	for (i = 0; i < senders; i++) {
		u32 since = got[i] - before[i];

		least = since < least ? since : least;
		most = since > most ? since : most;
	}
	EXPECT(most - least <= 2);
}

/* All operations of a sender have succeeded, in order. */
static void expect_sent(struct tctx *c)
{
	struct angara_cqe cqe;
	u32 k;

	for (k = 0; k < EACH; k++) {
		EXPECT(poll_cq(c, &cqe));
		EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_OK);
		EXPECT_EQ(le64_to_cpu(cqe.cookie), k);
	}
	EXPECT(!poll_cq(c, &cqe));
}

/*
 * All nodes but one, and two contexts of one of them, send to one context that
 * has room for eight messages and frees one at a time.
 */
static void overload(const char *dims, const struct ang_cfg *base, u32 train,
		     u32 len)
{
	struct ang_cfg cfg = *base;
	struct angara_hw_ctx_counters cnt;
	struct tctx *c[SENDERS + 1];
	u32 before[SENDERS + 1];
	u32 got[SENDERS + 1] = { 0 };
	const struct angara_msg *m;
	struct tarea *area;
	struct host *h;
	u32 i, k, n;

	cfg.train = (u16)train;
	h = host_new(dims, &cfg);
	n = h->nodes;
	EXPECT(n <= SENDERS);
	for (i = 0; i <= n; i++)
		c[i] = member(h, i % n, i / n + 1);
	area = area_new(c[0], LOG2);
	for (k = 0; k < EACH; k++)
		for (i = 1; i <= n; i++)
			send(c[i], c[0], k, len);
	for (k = 0; k < EACH * n; k++) {
		host_run(h);
		m = area_next(area, NULL);
		EXPECT(m);
		i = le32_to_cpu(m->node);
		if (!i)
			i = n;
		EXPECT(i && i <= n);
		expect_msg(m, c[i], got[i]++, len);
		area_free(area, m);
		/*
		 * The first messages that arrive were sent before senders took
		 * turns.
		 */
		if (k == 2 * n)
			memcpy(before, got, sizeof(got));
		if (k >= 2 * n && k < (EACH - 3) * n)
			expect_fair(got + 1, before + 1, n);
	}
	host_run(h);
	EXPECT(!area_next(area, NULL));
	ctx_counters(c[0], &cnt);
	EXPECT_EQ(cnt.rx_msgs, EACH * n);
	/* Each message is refused once; few are refused more often. */
	EXPECT(cnt.not_ready > 0 && cnt.not_ready <= 3 * EACH * n);
	for (i = 1; i <= n; i++) {
		EXPECT_EQ(got[i], EACH);
		expect_sent(c[i]);
	}
	EXPECT_EQ(ctx_counter(c[0], ANGARA_CTR_MSG_WAIT), 0);
	for (i = 0; i <= n; i++)
		ctx_del(c[i]);
	free(area);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

static void overloads(void)
{
	overload("8x8", &cfg_default, 8, 1920);
	overload("8x8", &cfg_default, 1, 1920);
	overload("4x4x4", &cfg_tight, 2, 1900);
	overload("3", &cfg_tight, 1, 4096);
	overload("1", &cfg_tight, 1, 4096);
}

/* A receiver that takes no messages stops only its own senders. */
static void slow_receiver(void)
{
	struct ang_cfg cfg = cfg_tight;
	struct angara_wqe w;
	struct tctx *a, *slow, *b;
	struct tarea *full, *area;
	struct angara_cqe cqe;
	struct host *h;
	u32 k, done = 0;

	cfg.ops = 16;
	h = host_new("4", &cfg);
	a = member(h, 0, 0);
	slow = member(h, 1, 0);
	b = member(h, 2, 0);
	full = area_new(slow, LOG2);
	area = area_new(b, LOG2);
	for (k = 0; k < 10; k++)
		send(a, slow, k, 4096);
	host_run(h);
	EXPECT_EQ(ctx_counter(slow, ANGARA_CTR_MSG_WAIT), 1);
	while (poll_cq(a, &cqe))
		done++;
	EXPECT(done == 2 || done == 3);
	for (k = 0; k < 50; k++) {
		send(a, b, 100 + k, 1000);
		receive(area, a, 100 + k, 1000);
		EXPECT_EQ(finish(a, NULL), ANGARA_ST_OK);
		/*
		 * The slow receiver does not delay puts through its node, puts
		 * into its memory, and messages from its context.
		 */
		w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 1000, 600);
		post(a, &w, NULL);
		kick(a);
		EXPECT_EQ(finish(a, NULL), ANGARA_ST_OK);
		send(slow, b, k, 300);
		receive(area, slow, k, 300);
		EXPECT_EQ(finish(slow, NULL), ANGARA_ST_OK);
	}
	for (k = 0; k < 10; k++)
		receive(full, a, k, 4096);
	host_run(h);
	while (poll_cq(a, &cqe))
		done++;
	EXPECT_EQ(done, 10);
	ctx_del(a);
	ctx_del(b);
	ctx_del(slow);
	free(area);
	free(full);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

/*
 * A receiver is notified if it waits for the event. A receiver that frees
 * nothing is not notified.
 */
static void events(void)
{
	struct ang_cfg cfg = cfg_default;
	struct tarea *area;
	struct tctx *a, *b;
	struct host *h;

	h = host_new("2", &cfg);
	a = member(h, 0, 0);
	b = member(h, 1, 0);
	area = area_new(b, LOG2);
	host_reg(h, 1, ANGARA_DB_PAGE(0) + ANGARA_DB_ARM, 0);
	host_run(h);
	EXPECT_EQ(h->node[1].interrupts[1], 0);
	send(a, b, 1, 10);
	host_run(h);
	EXPECT_EQ(h->node[1].interrupts[1], 1);
	EXPECT_EQ(ctx_counter(b, ANGARA_CTR_EVSEQ), 1);
	receive(area, a, 1, 10);
	ctx_del(a);
	ctx_del(b);
	free(area);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

/* If two contexts of a node wait, the one that has waited longer goes first. */
static void oldest(void)
{
	struct ang_cfg cfg = cfg_default;
	const struct angara_msg *m;
	struct tctx *a, *b, *c;
	struct tarea *area;
	struct host *h;
	u32 k, lead, got[3] = { 0 };

	h = host_new("3", &cfg);
	lead = h->ops.trace ? 3 : 5;
	a = member(h, 0, 0);
	b = member(h, 1, 1);
	c = member(h, 1, 2);
	area = area_new(a, LOG2);
	for (k = 0; k < 10; k++) {
		send(b, a, k, 4000);
		send(c, a, k, 4000);
	}
	for (k = 0; k < 20; k++) {
		host_run(h);
		m = area_next(area, NULL);
		EXPECT(m);
		got[le16_to_cpu(m->ctx)]++;
		area_free(area, m);
		/* The first context fills the receive buffer, if no link delays it. */
		EXPECT(got[1] + lead >= got[2] && got[2] + lead >= got[1]);
	}
	ctx_del(a);
	ctx_del(b);
	ctx_del(c);
	free(area);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

struct flow {
	u32 sent;
	u32 got;
};

static u32 flow_len(u32 from, u32 to, u32 k, u64 seed)
{
	u64 x = seed ^ (from * 1000003ULL + to * 10007ULL + k + 1) *
		0x9E3779B97F4A7C15ULL;

	rnd(&x);
	return rnd(&x) % 3 ? (u32)(rnd(&x) % 200) : (u32)(rnd(&x) % 4097);
}

#define FLOW_CTXS	16
#define FLOW_MSGS	25

struct storm {
	struct host *h;
	struct tctx *c[FLOW_CTXS];
	struct tarea *area[FLOW_CTXS];
	struct flow flow[FLOW_CTXS][FLOW_CTXS];
	u32 done[FLOW_CTXS];
	u32 n;
	u64 seed;
	u64 salt;
};

static u32 pick(struct storm *s, u32 below)
{
	return (u32)((rnd(&s->seed) >> 16) % below);
}

static bool storm_send(struct storm *s, u32 i)
{
	struct tctx *c = s->c[i];
	u32 first = pick(s, s->n);
	u32 to = first;
	struct angara_wqe w;
	struct flow *f;
	u32 len;

	while (s->flow[i][to].sent == FLOW_MSGS) {
		to = (to + 1) % s->n;
		if (to == first)
			return false;
	}
	f = &s->flow[i][to];
	len = flow_len(i, to, f->sent, s->salt);
	w = wqe_send(s->c[to], f->sent, len);
	if (c->sq_pi + 5 - (u32)ctx_counter(c, ANGARA_CTR_SQ_CI) > c->sq_n)
		return false;
	w.flags = len <= ANGARA_MAX_INLINE && pick(s, 2) ? ANGARA_WQE_INLINE : 0;
	post(c, &w, w.flags ? c->buf + f->sent : NULL);
	f->sent++;
	kick(c);
	return true;
}

static bool storm_take(struct storm *s, u32 i)
{
	const struct angara_msg *m = area_next(s->area[i], NULL);
	struct flow *f;
	u32 from;

	if (!m)
		return false;
	for (from = 0; s->c[from]->node != le32_to_cpu(m->node) ||
	     s->c[from]->id != le16_to_cpu(m->ctx); from++)
		EXPECT(from + 1 < s->n);
	f = &s->flow[from][i];
	EXPECT(f->got < f->sent);
	expect_msg(m, s->c[from], f->got,
		   flow_len(from, i, f->got, s->salt));
	f->got++;
	area_free(s->area[i], m);
	return true;
}

static bool storm_collect(struct storm *s, u32 i)
{
	struct angara_cqe cqe;
	bool any = false;

	while (poll_cq(s->c[i], &cqe)) {
		EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_OK);
		s->done[i]++;
		any = true;
	}
	return any;
}

static void storm_end(struct storm *s)
{
	u32 i, k;

	for (i = 0; i < s->n; i++) {
		u32 sent = 0;

		for (k = 0; k < s->n; k++) {
			EXPECT_EQ(s->flow[i][k].sent, FLOW_MSGS);
			EXPECT_EQ(s->flow[i][k].got, FLOW_MSGS);
			sent += s->flow[i][k].sent;
		}
		EXPECT_EQ(s->done[i], sent);
		EXPECT_EQ(ctx_counter(s->c[i], ANGARA_CTR_MSG_WAIT), 0);
	}
	host_check_idle(s->h);
	for (i = 0; i < s->n; i++) {
		ctx_del(s->c[i]);
		free(s->area[i]);
	}
	EXPECT_EQ(s->h->faults, 0);
	host_free(s->h);
}

/* All contexts send to all, and read at random times. */
static void storm(const char *dims, u32 local, u64 seed)
{
	struct ang_cfg cfg = cfg_tight;
	struct storm *s = calloc(1, sizeof(*s));
	u32 i, idle = 0;

	s->seed = s->salt = seed * 0x9E3779B97F4A7C15ULL + 1;
	cfg.train = (u16)(1U << pick(s, 7));
	cfg.ops = (u16)(1 + pick(s, 16));
	s->h = host_new(dims, &cfg);
	s->n = s->h->nodes * local;
	EXPECT(s->n <= FLOW_CTXS);
	for (i = 0; i < s->n; i++) {
		s->c[i] = member(s->h, i / local, i % local);
		s->area[i] = area_new(s->c[i], LOG2);
	}
	while (idle < 20) {
		bool moved = false;

		for (i = 0; i < s->n; i++) {
			moved |= pick(s, 2) && storm_send(s, i);
			moved |= (idle || !pick(s, 4)) && storm_take(s, i);
			moved |= storm_collect(s, i);
			run_steps(&s->h->v, pick(s, 6));
		}
		if (!moved && idle > 10)
			host_run(s->h);
		idle = moved ? 0 : idle + 1;
	}
	storm_end(s);
	free(s);
}

static void storms(void)
{
	static const char * const dims[] = { "2x2x2", "5", "3x3", "2", "1" };
	static const u32 local[] = { 2, 3, 1, 4, 4 };
	u64 seed;

	for (seed = 1; seed <= 25; seed++)
		storm(dims[seed % 5], local[seed % 5], seed);
}

const struct test_case msg_cases[] = {
	{ "msg: every length between all pairs", pairs_all },
	{ "msg: inline payload", inline_sends },
	{ "msg: inline payload to a slow receiver, and to others", inline_to_others },
	{ "msg: order past refused messages", order },
	{ "msg: 64 senders and room for eight", overloads },
	{ "msg: two contexts of a node", oldest },
	{ "msg: a slow receiver stops no other operation", slow_receiver },
	{ "msg: events", events },
	{ "msg: random traffic", storms },
	{ NULL, NULL },
};
