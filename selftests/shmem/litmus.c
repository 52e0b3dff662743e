// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N litmus: orders of the memory model.  Each PE writes to its right
 * neighbour, which checks for forbidden states.
 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS	300
#define LONG	2000	/* words, too many for a queue entry */
/*
 * Words of many trains of packets.  Only such a put can be overtaken by a later
 * operation without a fence: a shorter put leaves as a whole before the next
 * operation.
 */
#define HUGE	131072
#define ROUNDS_HUGE	30

static long data[HUGE], source[HUGE], flag[3];
static uint64_t sig;
static int me, right, wrong;

static void look(int ok, const char *what)
{
	if (!ok && !wrong++)
		fprintf(stderr, "litmus: PE %d: %s\n", me, what);
}

/* Puts data, then flags after a fence: all flags arrive after the data. */
static void message(shmem_ctx_t ctx, size_t len, long rounds)
{
	long round;

	memset(data, 0, sizeof(data));
	memset(flag, 0, sizeof(flag));
	shmem_barrier_all();
	for (round = 1; round <= rounds; round++) {
		size_t i;

		for (i = 0; i < len; i++)
			source[i] = round;
		shmem_put_nbi(ctx, data, source, len, right);
		shmem_ctx_fence(ctx);
		shmem_p(ctx, &flag[round % 2], round, right);
		shmem_p(ctx, &flag[2], round, right);
		shmem_wait_until(&flag[2], SHMEM_CMP_EQ, round);
		look(data[0] == round && data[len - 1] == round, "a flag before its data");
		shmem_wait_until(&flag[round % 2], SHMEM_CMP_EQ, round);
		shmem_ctx_quiet(ctx);
		shmem_barrier_all();
	}
}

/* A fence orders atomic operations as well. */
static void counters(shmem_ctx_t ctx)
{
	long round;

	memset(data, 0, sizeof(data));
	flag[0] = 0;
	shmem_barrier_all();
	for (round = 1; round <= ROUNDS; round++) {
		shmem_atomic_add(ctx, &data[0], 1, right);
		shmem_ctx_fence(ctx);
		shmem_atomic_add(ctx, &flag[0], 1, right);
		/* The second counter is never ahead of the first. */
		{
			long second = shmem_atomic_fetch(&flag[0], me);
			long first = shmem_atomic_fetch(&data[0], me);

			look(first >= second, "an atomic operation before its fence");
		}
	}
	shmem_ctx_quiet(ctx);
	shmem_barrier_all();
	look(data[0] == ROUNDS && flag[0] == ROUNDS, "an atomic operation is lost");
}

static void signals(size_t len, uint64_t rounds)
{
	uint64_t round;

	sig = 0;
	shmem_barrier_all();
	for (round = 1; round <= rounds; round++) {
		size_t i;

		for (i = 0; i < len; i++)
			source[i] = (long)round + 7;
		shmem_put_signal_nbi(data, source, len, &sig, round, SHMEM_SIGNAL_SET, right);
		shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, round);
		look(data[0] == (long)round + 7 && data[len - 1] == (long)round + 7,
		     "a signal before its data");
		shmem_barrier_all();
	}
}

/*
 * Each PE puts to its right neighbour and, after quiet, notifies its left neighbour,
 * which must then find the data at the right neighbour.
 */
static void third_party(size_t len, long rounds)
{
	int n = shmem_n_pes(), left = (me + n - 1) % n;
	long round;

	data[len - 1] = flag[0] = 0;
	shmem_barrier_all();
	for (round = 1; round <= rounds; round++) {
		source[len - 1] = round;
		shmem_put_nbi(data, source, len, right);
		shmem_quiet();
		shmem_p(&flag[0], round, left);
		shmem_wait_until(&flag[0], SHMEM_CMP_EQ, round);
		look(shmem_g(&data[len - 1], (me + 2) % n) == round,
		     "quiet before the put is complete");
		shmem_barrier_all();
	}
}

int main(void)
{
	shmem_ctx_t ctx;

	shmem_init();
	me = shmem_my_pe();
	right = (me + 1) % shmem_n_pes();
	message(SHMEM_CTX_DEFAULT, 1, ROUNDS);
	message(SHMEM_CTX_DEFAULT, LONG, ROUNDS);
	message(SHMEM_CTX_DEFAULT, HUGE, ROUNDS_HUGE);
	shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx);
	message(ctx, LONG, ROUNDS);
	message(ctx, HUGE, ROUNDS_HUGE);
	counters(ctx);
	counters(SHMEM_CTX_DEFAULT);
	shmem_ctx_destroy(ctx);
	signals(1, ROUNDS);
	signals(LONG, ROUNDS);
	signals(HUGE, ROUNDS_HUGE);
	third_party(1, ROUNDS);
	third_party(HUGE, ROUNDS_HUGE);
	printf("litmus: PE %d: %d errors\n", me, wrong);
	shmem_finalize();
	return wrong != 0;
}
