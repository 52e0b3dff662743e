// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Order and batches: data before its flag, with a fence or a signal; held-back
 * doorbells; waiting for words; strided elements.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"
#include "pending.h"

#define ROUNDS	60
#define BYTES	(96U << 10)	/* bytes of data before a flag: many trains */
#define BOX	(BYTES + 64)	/* data, then words */

static unsigned int next(void)
{
	return (rank + 1) % size;
}

static int post(int ret)
{
	return ret == -EAGAIN ? 1 : ret;
}

/* Calls again until there is room for the operation. */
#define POST(call) ({ int post_; do post_ = post(call); while (post_ == 1); post_; })

/* Methods of sending data and a flag; the flag must arrive last. */
enum way { FENCED_PUT, FENCED_ATOMIC, SIGNAL_SET, SIGNAL_ADD, SIGNAL_BLOCKING };

static bool send_flag(enum way way, struct angara_mr *box, uint64_t key, uint64_t round)
{
	struct angara_op more = { .size = sizeof(more), .flags = ANGARA_MORE | ANGARA_SILENT };
	struct angara_op fence = { .size = sizeof(fence), .flags = ANGARA_FENCE | ANGARA_SILENT };
	struct angara_signal sig = {
		.size = sizeof(sig), .op = ANGARA_SIGNAL_SET, .key = key,
		.off = BYTES, .value = round,
	};
	struct angara_peer to = peers()[next()];
	const uint64_t one = 1;
	struct pending both;

	switch (way) {
	case FENCED_PUT:
		return expect("put", POST(angara_put_nbi(ctx, to, key, 0, box, BOX, BYTES,
							 &more)), 0) &&
		       expect("flag", POST(angara_put_inline_nbi(ctx, to, key, BYTES, &round,
								 8, &fence)), 0);
	case FENCED_ATOMIC:
		return expect("put", POST(angara_put_nbi(ctx, to, key, 0, box, BOX, BYTES,
							 &more)), 0) &&
		       expect("flag", POST(angara_atomic_nbi(ctx, to, key, BYTES, &one, 1,
							     ANGARA_TYPE_UINT64,
							     ANGARA_ATOMIC_SUM, &fence)), 0);
	case SIGNAL_ADD:
		sig.op = ANGARA_SIGNAL_ADD;
		sig.value = 1;
		/* fall through */
	case SIGNAL_SET:
		return expect("signal", POST(angara_put_signal_nbi(ctx, to, key, 0, box, BOX,
								   BYTES, &sig,
								   pending_op(&both))), 0) &&
		       expect("notified", pending_wait(ctx, &both, LONG_MS), 0);
	default:
		return expect("signal", angara_put_signal(ctx, to, key, 0, box, BOX, BYTES,
							  &sig), 0);
	}
}

/*
 * When a process reads the flag of a round, all data of the round is visible.
 */
static bool in_order(enum way way)
{
	struct angara_mr *box = region(2 * BOX);
	const uint64_t key = angara_mr_key(box);
	char *at = angara_mr_addr(box);
	struct angara_words words = {
		.size = sizeof(words), .type = ANGARA_TYPE_UINT64, .cmp = ANGARA_CMP_GE,
		.n = 1, .words = at + BYTES,
	};
	uint64_t round;
	bool ok = angara_job_barrier(job) == 0;

	for (round = 1; ok && round <= ROUNDS; round++) {
		memset(at + BOX, (int)(round * 3 + rank), BYTES);
		words.values = &round;
		ok = send_flag(way, box, key, round) &&
		     expect("flag", angara_wait_all(ctx, &words, LONG_MS), 0) &&
		     expect("first", at[0], (char)(round * 3 + (rank + size - 1) % size)) &&
		     expect("last", at[BYTES - 1],
			    (char)(round * 3 + (rank + size - 1) % size)) &&
		     expect("quiet", angara_quiet(ctx, LONG_MS), 0);
		ok &= angara_job_barrier(job) == 0;
	}
	angara_free(box);
	return ok;
}

static bool fenced_put(void)
{
	return in_order(FENCED_PUT);
}

static bool fenced_atomic(void)
{
	return in_order(FENCED_ATOMIC);
}

static bool signals(void)
{
	return in_order(SIGNAL_SET) && in_order(SIGNAL_ADD) && in_order(SIGNAL_BLOCKING);
}

/* The completion of a signal has the error of its data. */
static bool signal_errors(void)
{
	struct angara_mr *mr = region(4096);
	struct angara_signal sig = {
		.size = sizeof(sig), .key = angara_mr_key(mr), .off = 64, .value = 1,
	};
	struct angara_peer me = peers()[rank];
	struct pending both;
	char byte = 1;
	bool ok;

	ok = expect("put", angara_put_signal_inline_nbi(ctx, me, angara_mr_key(mr), 4096,
							&byte, 1, &sig, pending_op(&both)), 0) &&
	     expect("bounds", pending_wait(ctx, &both, LONG_MS), -ERANGE) &&
	     expect("node", both.c.node, me.node);
	sig.off = 4;
	ok = ok && expect("align", angara_put_signal_inline(ctx, me, angara_mr_key(mr), 0, &byte,
							    1, &sig), -EINVAL);
	sig.op = 2;
	ok = ok && expect("op", angara_put_signal(ctx, me, angara_mr_key(mr), 0, mr, 0, 1, &sig),
			  -EINVAL);
	sig.size = 8;
	ok = ok && expect("size", angara_put_signal(ctx, me, angara_mr_key(mr), 0, mr, 0, 1,
						    &sig), -EINVAL);
	angara_free(mr);
	return ok;
}

/*
 * Without a doorbell, held-back operations are not executed, even while a team
 * polls for messages of its members.
 */
static bool held_back(void)
{
	struct angara_team_attr soft = { .size = sizeof(soft), .flags = ANGARA_TEAM_SOFTWARE };
	struct angara_mr *mr = region(4096);
	struct angara_op op = { .size = sizeof(op), .flags = ANGARA_MORE };
	struct angara_completion c[64];
	struct angara_team *team = NULL;
	volatile uint64_t *at = angara_mr_addr(mr);
	uint64_t i;
	int n, got = 0;
	bool ok = expect("team", angara_team_create(job, ctx, NULL, 0, &soft, &team), 0);

	for (i = 0; ok && i < 64; i++) {
		op.cookie = 100 + i;
		ok = expect("put", angara_put_inline_nbi(ctx, peers()[rank], angara_mr_key(mr),
							 0, &i, 8, &op), 0);
	}
	ok = ok && expect("completions before the flush", angara_poll(ctx, c, 64), 0) &&
	     expect("held", at[0], 0) && expect("flush", angara_flush(ctx), 0);
	while (ok && got < 64) {
		n = angara_poll_wait(ctx, c, 64, LONG_MS);
		ok = expect("completions have arrived", n > 0, 1);
		for (i = 0; ok && i < (uint64_t)n; i++)
			ok = expect("status", c[i].status, 0) &&
			     expect("cookie", c[i].cookie >= 100 && c[i].cookie < 164, 1);
		got += n;
	}
	/*
	 * Leaving notifies members that still use the team: wait until none
	 * does.
	 */
	ok &= angara_job_barrier(job) == 0;
	angara_team_leave(team);
	angara_free(mr);
	return ok && expect("completions at the end", angara_poll(ctx, c, 64), 0);
}

static bool op_errors(void)
{
	struct angara_mr *mr = region(64);
	struct angara_op op = { .size = sizeof(op), .flags = 1U << 20 };
	struct { struct angara_op op; uint64_t tail; } longer = { .op.size = sizeof(longer) };
	struct angara_peer me = peers()[rank];
	uint64_t key = angara_mr_key(mr);
	bool ok;

	ok = expect("flag", angara_put_nbi(ctx, me, key, 0, mr, 0, 8, &op), -EINVAL);
	op = (struct angara_op){ .size = 8 };
	ok &= expect("size", angara_put_nbi(ctx, me, key, 0, mr, 0, 8, &op), -EINVAL);
	ok &= expect("longer", angara_put_nbi(ctx, me, key, 0, mr, 0, 8, &longer.op), 0);
	longer.tail = 1;
	ok &= expect("put with unknown fields",
		     angara_put_nbi(ctx, me, key, 0, mr, 0, 8, &longer.op), -E2BIG);
	ok &= expect("quiet", angara_quiet(ctx, LONG_MS), 0);
	while (angara_poll(ctx, (struct angara_completion[1]){ { 0 } }, 1) > 0)
		;
	angara_free(mr);
	return ok;
}

/*
 * Operations that the library itself executes check arguments as the adapter
 * does.
 */
static bool soft_op_errors(void)
{
	struct angara_team_attr soft = { .size = sizeof(soft), .flags = ANGARA_TEAM_SOFTWARE };
	struct { struct angara_op op; uint64_t tail; } longer = { .op.size = sizeof(longer) };
	const struct angara_op bad[] = {
		{ .size = 8 }, { .size = sizeof(*bad), .flags = 1U << 20 },
		{ .size = sizeof(*bad), .reserved = 1 },
		{ .size = sizeof(*bad), .flags = ANGARA_NOTIFY },
	};
	struct angara_team *team = NULL;
	struct angara_completion c;
	bool ok = expect("team", angara_team_create(job, ctx, NULL, 0, &soft, &team), 0);
	size_t i;

	for (i = 0; ok && i < sizeof(bad) / sizeof(*bad); i++)
		ok = expect("bad", angara_barrier_nbi(team, &bad[i]), -EINVAL);
	longer.tail = 1;
	ok = ok &&
	     expect("barrier with unknown fields", angara_barrier_nbi(team, &longer.op), -E2BIG);
	longer.tail = 0;
	ok = ok && expect("longer", angara_barrier_nbi(team, &longer.op), 0) &&
	     expect("ended", angara_poll_wait(ctx, &c, 1, LONG_MS), 1) &&
	     expect("status", c.status, 0);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

static bool words_of(struct angara_mr *mr)
{
	int32_t *v = angara_mr_addr(mr);
	const int32_t zero = 0, each[4] = { 1, -1, 5, 9 };
	int skip[4] = { 0, 0, 0, 1 };
	struct angara_words w = {
		.size = sizeof(w), .type = ANGARA_TYPE_INT32, .cmp = ANGARA_CMP_LT, .n = 4,
		.words = v, .values = &zero, .skip = skip,
	};
	uint32_t index[4] = { 9, 9, 9, 9 };
	bool ok;

	v[0] = 3;
	v[1] = -4;
	v[2] = 5;
	v[3] = -1;
	ok = expect("number of words that hold", angara_test_some(ctx, &w, index, 4), 1) &&
	     expect("index", index[0], 1) &&
	     expect("all words hold", angara_test_all(ctx, &w), 0) &&
	     expect("deadline", angara_wait_all(ctx, &w, 5), -ETIMEDOUT);
	w.cmp = ANGARA_CMP_NE;
	ok = ok && expect("all words hold", angara_test_all(ctx, &w), 1) &&
	     expect("number of words that hold", angara_wait_some(ctx, &w, 0, index, 1), 1) &&
	     expect("index", index[0], 0);
	w.values = each;
	w.flags = ANGARA_WORDS_EACH;
	w.cmp = ANGARA_CMP_EQ;
	ok = ok && expect("each", angara_test_some(ctx, &w, index, 4), 1) &&
	     expect("index", index[0], 2);
	w.type = ANGARA_TYPE_UINT32;
	w.cmp = ANGARA_CMP_GT;
	ok = ok && expect("unsigned", angara_test_some(ctx, &w, index, 4), 1) &&
	     expect("index", index[0], 0);
	skip[0] = skip[1] = skip[2] = 1;
	ok = ok && expect("wait for no words", angara_wait_some(ctx, &w, 0, index, 1), -EINVAL) &&
	     expect("test of no words", angara_test_all(ctx, &w), 1);
	w.type = ANGARA_TYPE_DOUBLE;
	ok = ok && expect("type", angara_test_all(ctx, &w), -EINVAL);
	w.type = ANGARA_TYPE_INT64;
	w.words = (char *)v + 4;
	return ok && expect("aligned", angara_test_all(ctx, &w), -EINVAL);
}

/*
 * Each process sends a word to all; each waits for any word, then for all
 * words.
 */
static bool words_told(struct angara_mr *mr)
{
	uint64_t *v = angara_mr_addr(mr), want = 7;
	struct angara_words w = {
		.size = sizeof(w), .type = ANGARA_TYPE_UINT64, .cmp = ANGARA_CMP_EQ, .n = size,
		.words = v, .values = &want,
	};
	uint32_t index[1];
	unsigned int r;
	bool ok;

	memset(v, 0, size * sizeof(*v));
	ok = angara_job_barrier(job) == 0;
	for (r = 0; ok && r < size; r++)
		ok = expect("put", angara_put_inline(ctx, peers()[r], angara_mr_key(mr),
						     rank * sizeof(*v), &want, 8), 0);
	ok = ok && expect("wait for any word", angara_wait_some(ctx, &w, LONG_MS, index, 1), 1) &&
	     expect("the word", (long long)v[index[0]], 7) &&
	     expect("wait for all words", angara_wait_all(ctx, &w, LONG_MS), 0);
	return (angara_job_barrier(job) == 0) & ok;
}

static bool words(void)
{
	struct angara_mr *mr = region(4096);
	bool ok = words_of(mr) && words_told(mr);

	angara_free(mr);
	return ok;
}

/*
 * Puts a column of a matrix to a row at the peer, and gets listed elements
 * back.
 */
static bool elements(void)
{
	enum { N = 700, ROW = 8 };	/* more than the queues hold */
	struct angara_mr *mr = region(2 * N * ROW);
	char *at = angara_mr_addr(mr);
	static uint64_t there[N], here[N];
	struct angara_peer me = peers()[rank];
	uint64_t key = angara_mr_key(mr), half = N * ROW;
	bool ok;
	int i;

	for (i = 0; i < N * ROW; i++)
		at[i] = (char)(i * 7 + rank);
	ok = expect("strided", angara_put_strided(ctx, me, key, half, 1, mr, 3, ROW, 1, N), 0);
	for (i = 0; ok && i < N; i++)
		ok = expect("column", at[half + i], at[i * ROW + 3]);
	ok = ok && expect("backwards", angara_get_strided(ctx, me, key, half - ROW, -ROW, mr, half,
							  ROW, ROW, N), 0);
	for (i = 0; ok && i < N * ROW; i++)
		ok = expect("row", at[half + i], at[(N - 1 - i / ROW) * ROW + i % ROW]);
	for (i = 0; i < N; i++) {
		there[i] = half + ((i * 11) % N) * 4;
		here[i] = i * 4;
	}
	ok = ok && expect("indexed", angara_put_indexed(ctx, me, key, there, mr, here, 4, N), 0);
	for (i = 0; ok && i < N; i++)
		ok = expect("place", memcmp(at + there[i], at + here[i], 4), 0);
	memset(at, 0, half);
	ok = ok && expect("indexed", angara_get_indexed(ctx, me, key, there, mr, here, 4, N), 0);
	for (i = 0; ok && i < N; i++)
		ok = expect("back", memcmp(at + there[i], at + here[i], 4), 0);
	ok = ok &&
	     expect("outside", angara_put_strided(ctx, me, key, 0, 1, mr, 0, ROW, 1, 3 * N),
		    -EINVAL) &&
	     expect("put beyond the peer's region",
		    angara_put_strided(ctx, me, key, 2 * half, 1, mr, 0, 1, 1, 2), -ERANGE);
	angara_free(mr);
	return ok;
}

/*
 * Runs atomic operations on every type of the adapter, one element at a time,
 * anywhere in memory.
 */
static bool every_type(void)
{
	static const size_t sizes[] = { 4, 4, 8, 8, 4, 8 };
	struct angara_mr *mr = region(4096);
	struct angara_peer me = peers()[rank];
	uint64_t key = angara_mr_key(mr);
	unsigned int type, op;
	bool ok = true;

	for (type = ANGARA_TYPE_INT32; ok && type <= ANGARA_TYPE_DOUBLE; type++) {
		char x[8], y[8], old[8], now[8];

		memset(x, 0, 8);
		memset(y, 0x3F, 8);
		for (op = 0; ok && op < ANGARA_ATOMIC_NUM; op++) {
			int want = angara_atomic_valid(op, type) ? 0 : -EINVAL;
			int ret;

			memset(angara_mr_addr(mr), 0x3F, 8);
			if (op >= ANGARA_ATOMIC_CSWAP)
				ret = angara_compare(ctx, me, key, 0, x, y, 1, type, op, old);
			else
				ret = angara_fetch(ctx, me, key, 0, x, 1, type, op, old);
			ok = expect("fetch", ret, want) &&
			     (want ||
			      expect("value before differs", memcmp(old, y, sizes[type]), 0));
		}
		ok = ok && expect("write", angara_atomic(ctx, me, key, 8, y, 1, type,
							 ANGARA_ATOMIC_WRITE), 0) &&
		     expect("get", angara_get_inline(ctx, me, key, 8, now, sizes[type]), 0) &&
		     expect("read", memcmp(now, y, sizes[type]), 0);
	}
	angara_free(mr);
	return ok;
}

const struct part onesided_parts[] = {
	{ "data, then a fenced put", fenced_put },
	{ "data, then a fenced atomic", fenced_atomic },
	{ "put with signal", signals },
	{ "put with signal: errors", signal_errors },
	{ "a doorbell held back", held_back },
	{ "valid options of an operation", op_errors },
	{ "valid options of a software collective", soft_op_errors },
	{ "waiting for words", words },
	{ "elements apart", elements },
	{ "atomics of every type, waited for", every_type },
	{ 0 },
};
