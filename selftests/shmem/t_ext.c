// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives with a request: several in flight at once, of the world and of
 * another team.
 */
#include <shmemx.h>
#include <unistd.h>

#include "t.h"

#define REQS	3
#define LEN	3

#define IN(T, pe, i)	((T)((pe) % 2 + 1 + (i)))

#define OP_and(a, b)	((a) & (b))
#define OP_or(a, b)	((a) | (b))
#define OP_xor(a, b)	((a) ^ (b))
#define OP_min(a, b)	((b) < (a) ? (b) : (a))
#define OP_max(a, b)	((b) > (a) ? (b) : (a))
#define OP_sum(a, b)	((a) + (b))
#define OP_prod(a, b)	((a) * (b))

/* Checks the result over PEs @first, @first + @step ... of the world. */
#define CHECK(N, T, op) \
	static void check_##N##_##op(const T *got, int first, int step, int size) \
	{ \
		int i, p; \
		for (i = 0; i < LEN; i++) { \
			T want = IN(T, first, i); \
			for (p = 1; p < size; p++) \
				want = (T)OP_##op(want, IN(T, first + p * step, i)); \
			EXPECT(got[i] == want); \
		} \
	}
#define CHECK_AND(N, T)	CHECK(N, T, and) CHECK(N, T, or) CHECK(N, T, xor)
#define CHECK_MIN(N, T)	CHECK(N, T, min) CHECK(N, T, max)
#define CHECK_SUM(N, T)	CHECK(N, T, sum) CHECK(N, T, prod)
SHMEMI_AND_TYPES(CHECK_AND)
SHMEMI_MIN_TYPES(CHECK_MIN)
SHMEMI_SUM_TYPES(CHECK_SUM)

#define BUFFERS(N, T)	static T in_##N[LEN], out_##N[REQS][LEN];
SHMEMI_SUM_TYPES(BUFFERS)

#define START(N, op, k) \
	EXPECT(!shmemx_##N##_##op##_reduce_nb(team, out_##N[k], in_##N, LEN, &req[k]))
#define FILL(N, T) \
	for (i = 0; i < LEN; i++) \
		in_##N[i] = IN(T, me, i); \
	shmem_barrier_all()
#define ENDED(count) \
	for (i = (count) - 1; i >= 0; i--) \
		shmemx_req_wait(&req[i]); \
	EXPECT(req[0] == SHMEMX_REQ_INVALID)

#define EXT_AND(N, T) \
	static void and_##N(shmem_team_t team, int first, int step, int size) \
	{ \
		shmemx_req_t req[REQS]; \
		int i; \
		FILL(N, T); \
		START(N, and, 0); \
		START(N, or, 1); \
		START(N, xor, 2); \
		ENDED(3); \
		check_##N##_and(out_##N[0], first, step, size); \
		check_##N##_or(out_##N[1], first, step, size); \
		check_##N##_xor(out_##N[2], first, step, size); \
	}
SHMEMI_AND_TYPES(EXT_AND)

#define EXT_MIN(N, T) \
	static void min_##N(shmem_team_t team, int first, int step, int size) \
	{ \
		shmemx_req_t req[REQS]; \
		int i; \
		FILL(N, T); \
		START(N, min, 0); \
		START(N, max, 1); \
		ENDED(2); \
		check_##N##_min(out_##N[0], first, step, size); \
		check_##N##_max(out_##N[1], first, step, size); \
	}
SHMEMI_MIN_TYPES(EXT_MIN)

#define EXT_SUM(N, T) \
	static void sum_##N(shmem_team_t team, int first, int step, int size) \
	{ \
		shmemx_req_t req[REQS]; \
		int i; \
		FILL(N, T); \
		START(N, sum, 0); \
		START(N, prod, 1); \
		ENDED(2); \
		check_##N##_sum(out_##N[0], first, step, size); \
		check_##N##_prod(out_##N[1], first, step, size); \
	}
SHMEMI_SUM_TYPES(EXT_SUM)

/* Broadcasts from the last member, which has a separate destination. */
#define EXT_BCAST(N, T) \
	static void bcast_##N(shmem_team_t team, int first, int step, int size) \
	{ \
		shmemx_req_t req[REQS]; \
		int i; \
		for (i = 0; i < LEN; i++) \
			out_##N[0][i] = (T)(me + 90); \
		FILL(N, T); \
		EXPECT(!shmemx_##N##_broadcast_nb(team, out_##N[0], in_##N, LEN, size - 1, \
						  &req[0])); \
		ENDED(1); \
		for (i = 0; i < LEN; i++) \
			EXPECT(out_##N[0][i] == IN(T, first + (size - 1) * step, i)); \
		/* In place; then no elements. */ \
		EXPECT(!shmemx_##N##_broadcast_nb(team, in_##N, in_##N, 1, 0, &req[0])); \
		EXPECT(!shmemx_##N##_broadcast_nb(team, in_##N, in_##N, 0, 0, &req[1])); \
		ENDED(2); \
		EXPECT(in_##N[0] == IN(T, first, 0) && in_##N[1] == IN(T, me, 1)); \
	}
SHMEMI_RMA_TYPES(EXT_BCAST)

static void test_types(shmem_team_t team, int first, int step, int size)
{
#define RUN_AND(N, T)	and_##N(team, first, step, size);
#define RUN_MIN(N, T)	min_##N(team, first, step, size);
#define RUN_SUM(N, T)	sum_##N(team, first, step, size);
#define RUN_BCAST(N, T)	bcast_##N(team, first, step, size);
	SHMEMI_AND_TYPES(RUN_AND)
	SHMEMI_MIN_TYPES(RUN_MIN)
	SHMEMI_SUM_TYPES(RUN_SUM)
	SHMEMI_RMA_TYPES(RUN_BCAST)
}

static void test_requests(void)
{
	static char a[3000], b[3000];
	shmemx_req_t sync, bcast;
	int started;
	static int late;

	a[2999] = (char)(me + 1);
	shmem_barrier_all();
	EXPECT(!shmemx_broadcastmem_nb(SHMEM_TEAM_WORLD, b, a, 3000, n - 1, &bcast));
	if (me == n - 1) {
		/*
		 * The others cannot leave the barrier before the last PE does
		 * this.
		 */
		shmem_int_p(&late, 1, 0);
		shmem_quiet();
	}
	EXPECT(!shmemx_sync_nb(SHMEM_TEAM_WORLD, &sync));
	while (!shmemx_req_test(&sync))
		;
	started = shmem_int_g(&late, 0);
	shmemx_req_wait(&bcast);
	EXPECT(started == 1 && b[2999] == (char)n);
	EXPECT(shmemx_req_test(&bcast) == 1);
	EXPECT(shmemx_sync_nb(SHMEM_TEAM_INVALID, &sync));
	EXPECT(shmemx_barrier_nb(SHMEM_TEAM_INVALID, &sync));
	EXPECT(shmemx_int_sum_reduce_nb(SHMEM_TEAM_INVALID, out_int[0], in_int, 1, &sync));
	EXPECT(shmemx_int_broadcast_nb(SHMEM_TEAM_INVALID, out_int[0], in_int, 1, 0, &sync));
	group("synchronization and broadcast with a request");
}

/* After the barrier, all earlier puts of members have arrived. */
static void test_barrier(shmem_team_t team, int first, int step, int size)
{
	static long words[64];
	int rank = shmem_team_my_pe(team), p;
	shmemx_req_t req;

	for (p = 0; p < 64; p++)
		words[p] = 0;
	shmem_barrier_all();
	for (p = 0; p < size; p++)
		shmem_long_p(&words[rank], rank + 1, first + p * step);
	EXPECT(!shmemx_barrier_nb(team, &req));
	shmemx_req_wait(&req);
	for (p = 0; p < size; p++)
		EXPECT(words[p] == p + 1);
	shmem_barrier_all();
}

static long arrived, held;
static short arrived_short;

static void by_wait(void)
{
	shmem_long_wait_until(&arrived, SHMEM_CMP_EQ, 1);
}

static void by_test(void)
{
	while (!shmem_long_test(&arrived, SHMEM_CMP_EQ, 1))
		;
}

static void by_short(void)
{
	shmem_short_wait_until(&arrived_short, SHMEM_CMP_EQ, 1);
}

static void by_lock(void)
{
	shmem_set_lock(&held);
	shmem_clear_lock(&held);
}

static void by_test_lock(void)
{
	while (shmem_test_lock(&held))
		;
	shmem_clear_lock(&held);
}

/*
 * PE @waiter waits for its right neighbour, which goes on only after a reduction by
 * software, in which the waiter takes part.
 */
static void test_waiter(int waiter, void (*waits)(void))
{
	static long double sum, one = 1;
	int other = (waiter + 1) % n;
	shmemx_req_t req;

	if (me == other)
		shmem_set_lock(&held);
	shmem_barrier_all();
	/* The others start later, so the waiter's part is not done when it waits. */
	if (me != waiter)
		usleep(2000);
	EXPECT(!shmemx_longdouble_sum_reduce_nb(SHMEM_TEAM_WORLD, &sum, &one, 1, &req));
	if (me == waiter)
		waits();
	shmemx_req_wait(&req);
	EXPECT(sum == n);
	if (me == other) {
		shmem_long_p(&arrived, 1, waiter);
		shmem_short_p(&arrived_short, 1, waiter);
		shmem_clear_lock(&held);
	}
	shmem_barrier_all();
	arrived = arrived_short = 0;
	shmem_barrier_all();
}

static void test_waiters(void)
{
	static void (*const ways[])(void) = {
		by_wait, by_test, by_short, by_lock, by_test_lock,
	};
	unsigned int i;
	int waiter;

	for (waiter = 0; waiter < n && n > 1; waiter++)
		for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
			test_waiter(waiter, ways[i]);
}

void test_ext(void)
{
	int odd = me % 2, size = (n + 1 - odd) / 2, of;
	shmem_team_t half = SHMEM_TEAM_INVALID, team;

	for (of = 0; of < 2 && of < n; of++) {
		shmem_team_split_strided(SHMEM_TEAM_WORLD, of, 2, (n + 1 - of) / 2, NULL, 0,
					 &team);
		if (of == odd)
			half = team;
	}
	test_types(SHMEM_TEAM_WORLD, 0, 1, n);
	group("collectives with a request, all PEs");
	test_types(half, odd, 2, size);
	group("collectives with a request, every other PE");
	test_requests();
	test_barrier(SHMEM_TEAM_WORLD, 0, 1, n);
	test_barrier(half, odd, 2, size);
	group("barrier with a request");
	test_waiters();
	group("a PE that waits takes part in a collective with a request");
}
