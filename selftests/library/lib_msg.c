// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages and atomic operations between all processes: messages of many
 * lengths, more messages than there is room for, messages freed in another
 * order, and errors.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"
#include "pending.h"

#define AREA	(32U << 10)
#define FLOOD	1000		/* messages: more than any queue holds */
#define FLOOD_BYTES 4096
#define FENCED	12		/* messages: more than a receive buffer holds */
#define BURST	40		/* messages to each process: more than fit at once */

static const size_t lengths[] = { 0, 1, 64, 240, 241, 256, 1000, 4096 };

#define LENGTHS	(sizeof(lengths) / sizeof(*lengths))

/* A context with a receive buffer, and the addresses of such contexts of the peers. */
static struct angara_ctx *mctx;
static struct angara_peer *mpeers;

static bool area_open(void)
{
	struct angara_ctx_attr attr = { .size = sizeof(attr), .msg_bytes = AREA };
	struct angara_peer self;

	mpeers = calloc(size, sizeof(*mpeers));
	if (!mpeers || !expect("open", angara_ctx_open(dom, &attr, &mctx), 0))
		return false;
	self = alone_self(mctx);
	return expect("area", alone_about(mctx).max_msg_bytes >= AREA, 1) &&
	       expect("exchange",
		      angara_job_allgather(job, &self, sizeof(self), mpeers), 0);
}

static void area_close(void)
{
	angara_ctx_close(mctx);
	free(mpeers);
	mctx = NULL;
	mpeers = NULL;
}

static struct angara_head head_of(unsigned int from, unsigned int k)
{
	return (struct angara_head){
		.size = sizeof(struct angara_head), .tag = 0x100000000ULL * from + k, .imm = ~(uint64_t)k,
		.code = (uint16_t)(from ^ k),
	};
}

static bool message_is(const struct angara_message *msg, unsigned int from,
		       unsigned int k, size_t len)
{
	struct angara_head head = head_of(from, k);

	return expect("sender", msg->peer.node, mpeers[from].node) &&
	       expect("its context", msg->peer.ctx, mpeers[from].ctx) &&
	       expect("tag", (long long)msg->head.tag, (long long)head.tag) &&
	       expect("imm", (long long)msg->head.imm, (long long)head.imm) &&
	       expect("code of the message", msg->head.code, head.code) &&
	       expect("length", (long long)msg->len, (long long)len) &&
	       filled("payload", msg->data, len, from + k);
}

/* Sends to the next process, receives from the previous one. */
static bool each_length(bool inl)
{
	unsigned int next = (rank + 1) % size, from = (rank + size - 1) % size;
	struct angara_message msg = { .size = sizeof(msg) };
	struct angara_mr *mr = NULL;
	struct pending req;
	bool ok = expect("malloc", angara_malloc(dom, 8192, &mr), 0);
	unsigned int i;
	int ret;

	for (i = 0; ok && i < LENGTHS; i++) {
		struct angara_head head = head_of(rank, i);
		char *at = (char *)angara_mr_addr(mr) + i;

		if (inl && lengths[i] > ANGARA_MAX_INLINE)
			break;
		fill(at, lengths[i], rank + i);
		if (inl)
			ret = angara_send_inline_nbi(mctx, mpeers[next], &head, at,
						 lengths[i], pending_op(&req));
		else
			ret = angara_send_nbi(mctx, mpeers[next], &head, mr, i,
					      lengths[i], pending_op(&req));
		ok = expect("send", ret, 0) &&
		     expect("wait for a message", angara_msg_wait(mctx, LONG_MS, &msg), 0) &&
		     message_is(&msg, from, i, lengths[i]) &&
		     expect("free", angara_msg_free(mctx, &msg), 0) &&
		     expect("again", angara_msg_free(mctx, &msg), -EINVAL) &&
		     expect("sent", pending_wait(mctx, &req, LONG_MS), 0);
	}
	return ok && expect("next without a message", angara_msg_next(mctx, &msg), -EAGAIN) &&
	       expect("wait without a message", angara_msg_wait(mctx, 1, &msg), -ETIMEDOUT);
}

static bool messages(void)
{
	bool ok = area_open() && each_length(false);

	ok &= angara_job_barrier(job) == 0;
	ok = ok && each_length(true);
	ok &= angara_job_barrier(job) == 0;
	area_close();
	return ok;
}

/* Takes @n messages; those of each sender are in order; @got counts them. */
static bool take(unsigned int n, unsigned int *got)
{
	struct angara_message held[2], msg = { .size = sizeof(msg) };
	unsigned int from, k, kept = 0;
	bool ok = true;

	for (k = 0; ok && k < n; k++) {
		ok = expect("wait", angara_msg_wait(mctx, LONG_MS, &msg), 0);
		if (!ok)
			return false;
		from = (unsigned int)(msg.head.tag >> 32);
		ok = expect("from", from < size, 1) &&
		     message_is(&msg, from, got[from]++, 2000);
		/* Free the older message last. */
		held[kept++] = msg;
		while (ok && kept == 2) {
			ok = expect("free", angara_msg_free(mctx, &held[1]), 0) &&
			     expect("free", angara_msg_free(mctx, &held[0]), 0);
			kept = 0;
		}
	}
	return ok && (!kept || expect("free", angara_msg_free(mctx, &held[0]), 0));
}

/*
 * Each process sends more to all than fits, before any process takes a
 * message.
 */
static bool overload(void)
{
	unsigned int *got = calloc(size, sizeof(*got));
	struct angara_mr *mr = NULL;
	unsigned int k, to;
	bool ok = area_open() &&
		  expect("malloc", angara_malloc(dom, BURST * 2048UL, &mr), 0);

	for (k = 0; ok && k < BURST; k++)
		fill((char *)angara_mr_addr(mr) + k * 2048UL, 2000, rank + k);
	for (k = 0; ok && k < BURST; k++)
		for (to = 0; ok && to < size; to++) {
			struct angara_head head = head_of(rank, k);

			/*
			 * Stay below the adapter's limit of operations in
			 * progress: 64 or 16.
			 */
			if (k >= 16 / size)
				ok = take(1, got);
			ok = ok && expect("send",
					  angara_send_nbi(mctx, mpeers[to],
							  &head, mr, k * 2048UL,
							  2000, NULL), 0);
		}
	ok = ok && take(16 / size * size, got);
	for (k = 0; ok && k < size; k++)
		ok = expect("messages", got[k], BURST);
	ok = ok && expect("quiet", angara_quiet(mctx, LONG_MS), 0);
	ok &= angara_job_barrier(job) == 0;
	area_close();
	free(got);
	return ok;
}

/* The descriptor is readable when there is a message. */
static bool message_fd(void)
{
	unsigned int next = (rank + 1) % size;
	struct angara_head head = head_of(rank, 0);
	struct angara_message msg = { .size = sizeof(msg) };
	bool ok = area_open();
	struct pollfd p = { .events = POLLIN };
	int ret;

	ok = ok && expect("send", angara_send_inline_nbi(mctx, mpeers[next], &head,
						     NULL, 0, NULL), 0);
	p.fd = ok ? angara_ctx_fd(mctx) : -1;
	ok = ok && expect("fd", p.fd >= 0, 1);
	while (ok && (ret = angara_msg_next(mctx, &msg)) == -EAGAIN)
		ok = angara_ctx_arm(mctx) == -EAGAIN ||
		     expect("poll", poll(&p, 1, LONG_MS), 1);
	ok = ok && expect("next message", ret, 0) &&
	     expect("quiet", angara_quiet(mctx, LONG_MS), 0);
	ok &= angara_job_barrier(job) == 0;
	area_close();
	return ok;
}

/*
 * Sends by another context than the armed one: a wait for completions may take the event
 * for which the context is armed.
 */
static bool send_empty(unsigned int to, unsigned int k)
{
	struct angara_head head = head_of(rank, k);

	return expect("send", angara_send_inline_nbi(ctx, mpeers[to], &head, NULL, 0,
						     NULL), 0) &&
	       expect("quiet", angara_quiet(ctx, LONG_MS), 0);
}

/*
 * A context is armed although a message waits: a program that cannot take the
 * message sleeps until the next one.  The event of the first message may come after the
 * message, so the test arms the context again until no event follows.
 */
static bool armed_fd(void)
{
	unsigned int next = (rank + 1) % size;
	bool ok = area_open() && send_empty(next, 0);
	struct pollfd p = { .events = POLLIN };
	unsigned int tries = LONG_MS;
	int events = 1, ret = 0;

	ok &= angara_job_barrier(job) == 0;
	p.fd = ok ? angara_ctx_fd(mctx) : -1;
	ok = ok && expect("fd", p.fd >= 0, 1);
	while (ok && tries-- && (ret != -EAGAIN || events)) {
		ret = angara_ctx_arm(mctx);
		events = poll(&p, 1, 1);
	}
	ok = ok && expect("arm", ret, -EAGAIN) && expect("events", events, 0);
	ok &= angara_job_barrier(job) == 0;
	ok = ok && send_empty(next, 1) && expect("poll", poll(&p, 1, LONG_MS), 1);
	ok &= angara_job_barrier(job) == 0;
	area_close();
	return ok;
}

/*
 * Takes messages that have arrived.  Return: their number; -1: one is wrong.
 */
static int take_all(unsigned int from, unsigned int first)
{
	struct angara_message msg = { .size = sizeof(msg) };
	int n = 0;

	while (!angara_msg_next(mctx, &msg)) {
		if (!expect("tag", (long long)msg.head.tag,
			    (long long)head_of(from, first + n).tag) ||
		    !expect("length", (long long)msg.len, FLOOD_BYTES) ||
		    !expect("free", angara_msg_free(mctx, &msg), 0))
			return -1;
		n++;
	}
	return n;
}

/*
 * Each process sends more messages than all queues and buffers hold before it
 * receives.  No send blocks, so each process gets to receive.
 */
static bool flood(void)
{
	unsigned int next = (rank + 1) % size, from = (rank + size - 1) % size;
	unsigned int sent = 0, taken = 0, refused = 0;
	struct angara_mr *mr = NULL;
	bool ok = area_open() &&
		  expect("malloc", angara_malloc(angara_ctx_domain(mctx), FLOOD_BYTES, &mr), 0);

	while (ok && (sent < FLOOD || taken < FLOOD)) {
		struct angara_head head = head_of(rank, sent);
		int ret = -EAGAIN;

		if (sent < FLOOD)
			ret = angara_send_nbi(mctx, mpeers[next], &head, mr, 0,
					      FLOOD_BYTES, NULL);
		sent += !ret;
		if (!ret)
			continue;
		refused++;
		ok = expect("send", ret, -EAGAIN);
		ret = ok ? take_all(from, taken) : -1;
		ok = ret >= 0;
		taken += (unsigned int)ret;
	}
	ok = ok && expect("refused", refused > 0, 1) &&
	     expect("quiet", angara_quiet(mctx, LONG_MS), 0);
	angara_job_barrier(job);
	area_close();
	return ok;
}

/* Posts messages for which there is no room, then a word with a fence and one without. */
static bool post_fenced(struct angara_mr *mr, uint64_t key)
{
	struct angara_op fence = {
		.size = sizeof(fence), .flags = ANGARA_FENCE | ANGARA_SILENT,
	};
	struct angara_peer next = mpeers[(rank + 1) % size];
	const uint64_t one = 1;
	bool ok = true;
	unsigned int i;

	for (i = 0; ok && i < FENCED; i++) {
		struct angara_head head = head_of(rank, i);

		ok = expect("send", angara_send_nbi(mctx, next, &head, mr, 0, FLOOD_BYTES,
						    NULL), 0);
	}
	return ok &&
	       expect("fenced", angara_put_inline_nbi(mctx, next, key, FLOOD_BYTES, &one, 8,
						      &fence), 0) &&
	       expect("put", angara_put_inline_nbi(mctx, next, key, FLOOD_BYTES + 8, &one, 8,
						   NULL), 0);
}

/* A fence waits for messages that the receiver has no room for. */
static bool fence_behind_messages(void)
{
	unsigned int from = (rank + size - 1) % size, taken = 0;
	const uint64_t one = 1;
	struct angara_words words = {
		.size = sizeof(words), .type = ANGARA_TYPE_UINT64, .n = 1, .values = &one,
	};
	uint64_t *keys = calloc(size, sizeof(*keys)), key;
	struct angara_mr *mr = NULL;
	uint64_t *at;
	bool ok = area_open() &&
		  expect("malloc", angara_malloc(angara_ctx_domain(mctx), FLOOD_BYTES + 64, &mr), 0);

	if (!ok)
		return false;
	key = angara_mr_key(mr);
	at = (uint64_t *)((char *)angara_mr_addr(mr) + FLOOD_BYTES);
	ok = expect("keys", angara_job_allgather(job, &key, sizeof(key), keys), 0) &&
	     post_fenced(mr, keys[(rank + 1) % size]);
	words.words = at + 1;
	ok = ok && expect("no fence", angara_wait_all(mctx, &words, LONG_MS), 0) &&
	     expect("fence", (long long)at[0], 0);
	ok &= angara_job_barrier(job) == 0;
	while (ok && taken < FENCED) {
		int n = take_all(from, taken);

		ok = n >= 0;
		taken += (unsigned int)n;
	}
	words.words = at;
	ok = ok && expect("fence", angara_wait_all(mctx, &words, LONG_MS), 0) &&
	     expect("quiet", angara_quiet(mctx, LONG_MS), 0);
	ok &= angara_job_barrier(job) == 0;
	area_close();
	free(keys);
	return ok;
}

static bool sends(const char *what, struct angara_peer peer, int want)
{
	struct angara_head head = { .size = sizeof(head) };
	struct pending req;

	return expect(what, angara_send_inline_nbi(mctx, peer, &head, "x", 1, pending_op(&req)),
		      0) &&
	       expect(what, pending_wait(mctx, &req, LONG_MS), want);
}

static bool message_errors(void)
{
	struct angara_ctx_attr attr = { .size = sizeof(attr), .msg_bytes = AREA / 4 };
	struct angara_head head = { .size = sizeof(head) };
	struct angara_ctx_attr none = { .size = sizeof(none), .msg_bytes = ANGARA_NO_MSG };
	struct angara_ctx_info info = { .size = sizeof(info) };
	const struct angara_head own = { .size = sizeof(own), .code = 0xFFFF };
	struct angara_message msg = { .size = sizeof(msg) };
	struct angara_peer nobody;
	struct angara_ctx *no = NULL;
	struct angara_mr *mr = NULL;
	bool ok = area_open();

	ok = ok && expect("malloc", angara_malloc(dom, 8192, &mr), 0);
	if (!ok)
		return false;
	nobody = mpeers[rank];
	nobody.ctx = 0xFFF;
	ok = expect("small", angara_ctx_open(dom, &attr, &no), -EINVAL) &&
	     expect("open", angara_ctx_open(dom, &none, &no), 0) &&
	     expect("next without a buffer", angara_msg_next(no, &msg), -ENOTSUP) &&
	     expect("wait without a buffer", angara_msg_wait(no, 0, &msg), -ENOTSUP) &&
	     expect("free without a buffer", angara_msg_free(no, &msg), -EINVAL) &&
	     expect("start with a reserved code",
		    angara_send_inline_nbi(mctx, mpeers[rank], &own, NULL, 0, NULL), -EINVAL) &&
	     expect("send with a reserved code",
		    angara_send_inline(mctx, mpeers[rank], &own, NULL, 0), -EINVAL) &&
	     expect("free of no message", angara_msg_free(mctx, &msg), -EINVAL) &&
	     expect("long", angara_send_nbi(mctx, nobody, &head, mr, 0, ANGARA_MAX_MSG + 1, NULL),
		    -EINVAL) &&
	     expect("bounds", angara_send_nbi(mctx, nobody, &head, mr, 8192 - 7, 8, NULL),
		    -EINVAL) &&
	     expect("no region", angara_send_nbi(mctx, nobody, &head, NULL, 0, 1, NULL), -EINVAL) &&
	     expect("long",
		    angara_send_inline_nbi(mctx, nobody, &head, &head, ANGARA_MAX_INLINE + 1, NULL),
		    -EINVAL) &&
	     expect("send of no data", angara_send_inline_nbi(mctx, nobody, &head, NULL, 1, NULL),
		    -EINVAL) &&
	     sends("nobody", nobody, -EHOSTUNREACH) &&
	     expect("query", angara_ctx_query(no, &info), 0) &&
	     sends("no receive buffer", info.self, -EACCES);
	angara_ctx_close(no);
	ok &= angara_job_barrier(job) == 0;
	area_close();
	return ok;
}

/*
 * Tests structures of an older and a newer release; the process sends to
 * itself.
 */
static bool message_sizes(void)
{
	struct {
		struct angara_head head;
		uint64_t newer;
	} head = { .head = { .size = sizeof(head), .code = 5 } };
	struct {
		struct angara_message msg;
		uint64_t newer;
	} in = { .msg = { .size = sizeof(in) }, .newer = 99 };
	struct angara_head wrong = { .size = sizeof(wrong), .reserved = 1 };
	struct angara_message small = { .size = sizeof(small) - 4 };
	bool ok = area_open();
	struct angara_peer me = mpeers[rank];

	ok = ok && expect("newer", angara_send_inline(mctx, me, &head.head, "x", 1), 0) &&
	     expect("older", angara_msg_next(mctx, &small), -EINVAL) &&
	     expect("older", angara_msg_wait(mctx, 0, &small), -EINVAL) &&
	     expect("newer", angara_msg_wait(mctx, LONG_MS, &in.msg), 0) &&
	     expect("size", in.msg.size, sizeof(in)) && expect("unknown", in.newer == 0, 1) &&
	     expect("code of the message", in.msg.head.code, 5) &&
	     expect("len", (long long)in.msg.len, 1) &&
	     expect("answer", angara_send_inline(mctx, me, &in.msg.head, "y", 1), 0) &&
	     expect("free", angara_msg_free(mctx, &in.msg), 0);
	head.newer = 1;
	ok = ok && expect("unknown", angara_send_inline(mctx, me, &head.head, "x", 1), -E2BIG) &&
	     expect("reserved", angara_send_inline(mctx, me, &wrong, "x", 1), -EINVAL);
	wrong.size = sizeof(wrong) - 4;
	ok = ok && expect("older", angara_send_inline(mctx, me, &wrong, "x", 1), -EINVAL);
	in.msg.size = UINT32_MAX;
	ok = ok && expect("next with a huge size", angara_msg_next(mctx, &in.msg), -E2BIG);
	ok &= angara_job_barrier(job) == 0;
	area_close();
	return ok;
}

/* Each process adds to one word of rank 0; each old value occurs once. */
static bool fetch_add(void)
{
	struct angara_mr *mr = region(4096), *old = region(4096);
	const uint64_t one = 1;
	uint64_t *seen = angara_mr_addr(old), all, i;
	bool ok = angara_job_barrier(job) == 0;
	struct pending req;

	for (i = 0; ok && i < 50; i++) {
		ok = expect("fetch", angara_fetch_nbi(ctx, peers()[0],
						      angara_mr_key(mr), 64, &one,
						      1, ANGARA_TYPE_UINT64,
						      ANGARA_ATOMIC_SUM, old,
						      8 * i, pending_notify(&req, 5)), 0) &&
		     expect("done", pending_wait(ctx, &req, LONG_MS), 0) &&
		     expect("grows", !i || seen[i] > seen[i - 1], 1);
	}
	ok &= angara_job_barrier(job) == 0;
	all = ((uint64_t *)angara_mr_addr(mr))[8];
	if (ok && !rank)
		ok = expect("sum", (long long)all, 50LL * size) &&
		     expect("notified", (long long)angara_counter(ctx, 5) >=
			    50LL * size, 1);
	ok &= angara_job_barrier(job) == 0;
	angara_free(old);
	angara_free(mr);
	return ok;
}

static bool atomic_ends(const char *what, int ret, struct pending *req, int want)
{
	return expect(what, ret, 0) &&
	       expect(what, pending_wait(ctx, req, LONG_MS), want);
}

/* Executes atomic operations on the caller's own memory, by the adapter. */
static bool own_words(struct angara_mr *mr, struct angara_mr *old)
{
	struct angara_peer me = peers()[rank];
	int32_t *t = angara_mr_addr(mr), *was = angara_mr_addr(old);
	uint64_t key = angara_mr_key(mr);
	const int32_t x[3] = { -5, 0, 9 }, y[3] = { 7, -7, 8 };
	const unsigned int type = ANGARA_TYPE_INT32;
	struct pending req;
	int ret;

	t[0] = 7;
	t[1] = -8;
	t[2] = 8;
	ret = angara_compare_nbi(ctx, me, key, 0, x, y, 3, type,
				 ANGARA_ATOMIC_CSWAP, old, 4, pending_op(&req));
	if (!atomic_ends("cswap", ret, &req, 0) || !expect("swapped", t[0], -5) ||
	    !expect("not swapped", t[1], -8) || !expect("swapped", t[2], 9) ||
	    !expect("first value before", was[1], 7) || !expect("last value before", was[3], 8))
		return false;
	ret = angara_atomic_nbi(ctx, me, key, 4, x, 2, type, ANGARA_ATOMIC_MIN,
				pending_op(&req));
	if (!atomic_ends("min", ret, &req, 0) || !expect("min", t[1], -8) ||
	    !expect("min", t[2], 0))
		return false;
	ret = angara_fetch_nbi(ctx, me, key, 0, NULL, 2, type,
			       ANGARA_ATOMIC_READ, old, 0, pending_op(&req));
	if (!atomic_ends("read", ret, &req, 0) || !expect("read", was[0], -5) ||
	    !expect("read", was[1], -8))
		return false;
	ret = angara_compare_nbi(ctx, me, key, 0, x, y, 1, type,
				 ANGARA_ATOMIC_CSWAP_NE, NULL, 0,
				 pending_op(&req));
	return atomic_ends("cswap_ne", ret, &req, 0) && expect("value after", t[0], -5);
}

static bool atomics(void)
{
	struct angara_mr *mr = region(4096), *old = region(4096);
	struct angara_peer me = peers()[rank];
	uint64_t key = angara_mr_key(mr);
	const unsigned int type = ANGARA_TYPE_INT64;
	int64_t x[33] = { 0 };
	struct pending req;
	bool ok = own_words(mr, old);

#define EINVALS(name, call) expect(name, call, -EINVAL)
#define ATOMIC(count, op) angara_atomic_nbi(ctx, me, key, 0, x, count, type, \
					    op, pending_op(&req))
	ok = ok && EINVALS("none", ATOMIC(0, ANGARA_ATOMIC_SUM)) &&
	     EINVALS("many", ATOMIC(33, ANGARA_ATOMIC_SUM)) &&
	     EINVALS("read", ATOMIC(1, ANGARA_ATOMIC_READ)) &&
	     EINVALS("cswap", ATOMIC(1, ANGARA_ATOMIC_CSWAP)) &&
	     EINVALS("no old", angara_fetch_nbi(ctx, me, key, 0, x, 1, type,
						ANGARA_ATOMIC_SUM, NULL, 0,
						pending_op(&req))) &&
	     EINVALS("many", angara_compare_nbi(ctx, me, key, 0, x, x, 17, type,
						ANGARA_ATOMIC_CSWAP, NULL, 0,
						pending_op(&req))) &&
	     EINVALS("sum", angara_compare_nbi(ctx, me, key, 0, x, x, 1, type,
					       ANGARA_ATOMIC_SUM, NULL, 0,
					       pending_op(&req))) &&
	     EINVALS("counter", angara_atomic_nbi(ctx, me, key, 0, x, 1, type,
						  ANGARA_ATOMIC_SUM, pending_notify(&req, 100000))) &&
	     atomic_ends("align",
			 angara_atomic_nbi(ctx, me, key, 4, x, 1, type,
					   ANGARA_ATOMIC_SUM, pending_op(&req)),
			 &req, -EINVAL) &&
	     atomic_ends("bounds",
			 angara_atomic_nbi(ctx, me, key, 4096, x, 1, type,
					   ANGARA_ATOMIC_SUM, pending_op(&req)),
			 &req, -ERANGE) &&
	     atomic_ends("32", ATOMIC(32, ANGARA_ATOMIC_SUM), &req, 0) &&
	     expect("valid", angara_atomic_valid(ANGARA_ATOMIC_MSWAP, type), 1) &&
	     expect("type", angara_atomic_valid(ANGARA_ATOMIC_SUM, 200), 0) &&
	     expect("op", angara_atomic_valid(ANGARA_ATOMIC_NUM, type), 0);
	ok &= angara_job_barrier(job) == 0;
	angara_free(old);
	angara_free(mr);
	return ok;
}

const struct part msg_parts[] = {
	{ "messages of many lengths", messages },
	{ "more messages than fit", overload },
	{ "messages before any is received", flood },
	{ "a fence after messages", fence_behind_messages },
	{ "messages by poll", message_fd },
	{ "messages by poll, after one that waits", armed_fd },
	{ "messages: errors", message_errors },
	{ "messages of other sizes", message_sizes },
	{ "fetch-add by all", fetch_add },
	{ "atomic operations", atomics },
	{ NULL, NULL },
};
