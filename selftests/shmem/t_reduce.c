// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions of teams and active sets, compared with loops.
 */
#include "t.h"

#define LEN	70

#define IN(T, pe, i)	((T)(((pe) * 7 + (i)) % 5 + 1))

#define OP_and(a, b)	((a) & (b))
#define OP_or(a, b)	((a) | (b))
#define OP_xor(a, b)	((a) ^ (b))
#define OP_min(a, b)	((b) < (a) ? (b) : (a))
#define OP_max(a, b)	((b) > (a) ? (b) : (a))
#define OP_sum(a, b)	((a) + (b))
#define OP_prod(a, b)	((a) * (b))

/* The result's element @i over PEs @first, @first + @step ... */
#define WANT(N, T, op) \
	static T want_##N##_##op(int first, int step, int size, int i) \
	{ \
		T v = IN(T, first, i); \
		int p; \
		for (p = 1; p < size; p++) \
			v = (T)OP_##op(v, IN(T, first + p * step, i)); \
		return v; \
	}
#define BUFFERS(N, T)	static T src_##N[LEN], dst_##N[LEN];
SHMEMI_SUM_TYPES(BUFFERS)

#define FILL(N, T) \
	for (i = 0; i < LEN; i++) { \
		src_##N[i] = IN(T, me, i); \
		dst_##N[i] = 0; \
	} \
	shmem_barrier_all()

#define TEAM(N, T, op) \
	WANT(N, T, op) \
	static void team_##N##_##op(shmem_team_t team, int first, int step, int size) \
	{ \
		int i; \
		FILL(N, T); \
		EXPECT(!shmem_##N##_##op##_reduce(team, dst_##N, src_##N, LEN)); \
		for (i = 0; i < LEN; i++) \
			EXPECT(dst_##N[i] == want_##N##_##op(first, step, size, i)); \
		EXPECT(!shmem_##N##_##op##_reduce(team, src_##N, src_##N, 2)); \
		EXPECT(src_##N[1] == dst_##N[1]); \
	} \
	static void reduce_##N##_##op(shmem_team_t half) \
	{ \
		team_##N##_##op(SHMEM_TEAM_WORLD, 0, 1, n); \
		team_##N##_##op(half, me % 2, 2, shmem_team_n_pes(half)); \
		group("reduction " #op " " #N); \
	}
#define TEAM_AND(N, T)	TEAM(N, T, and) TEAM(N, T, or) TEAM(N, T, xor)
#define TEAM_MIN(N, T)	TEAM(N, T, min) TEAM(N, T, max)
#define TEAM_SUM(N, T)	TEAM(N, T, sum) TEAM(N, T, prod)
SHMEMI_AND_TYPES(TEAM_AND)
SHMEMI_MIN_TYPES(TEAM_MIN)
SHMEMI_SUM_TYPES(TEAM_SUM)

#define WANT_SIGNED(N, T)	WANT(N, T, and) WANT(N, T, or) WANT(N, T, xor)
SHMEMI_AND_TO_ALL_TYPES(WANT_SIGNED)

#define SET(N, T, op) \
	static void set_##N##_##op(void) \
	{ \
		static T work[LEN]; \
		static long sync[SHMEM_REDUCE_SYNC_SIZE]; \
		int size = (n + 1 - me % 2) / 2; \
		int i; \
		FILL(N, T); \
		shmem_##N##_##op##_to_all(dst_##N, src_##N, LEN, me % 2, 1, size, work, sync); \
		for (i = 0; i < LEN; i++) \
			EXPECT(dst_##N[i] == want_##N##_##op(me % 2, 2, size, i)); \
		group("reduction of active sets " #op " " #N); \
	}
#define SET_AND(N, T)	SET(N, T, and) SET(N, T, or) SET(N, T, xor)
#define SET_MIN(N, T)	SET(N, T, min) SET(N, T, max)
#define SET_SUM(N, T)	SET(N, T, sum) SET(N, T, prod)
SHMEMI_AND_TO_ALL_TYPES(SET_AND)
SHMEMI_MIN_TO_ALL_TYPES(SET_MIN)
SHMEMI_SUM_TO_ALL_TYPES(SET_SUM)

/* Tests extreme values, signed and unsigned. */
static void test_extremes(void)
{
	static signed char c[2];
	static unsigned short s[2];

	c[0] = (signed char)(me == n - 1 ? -128 : 127);
	s[0] = me ? 1 : 0xffff;
	shmem_barrier_all();
	shmem_schar_min_reduce(SHMEM_TEAM_WORLD, c + 1, c, 1);
	shmem_ushort_max_reduce(SHMEM_TEAM_WORLD, s + 1, s, 1);
	EXPECT(c[1] == -128 && s[1] == 0xffff);
	shmem_ushort_sum_reduce(SHMEM_TEAM_WORLD, s + 1, s, 1);
	EXPECT(s[1] == (unsigned short)(0xffff + n - 1));
	EXPECT(shmem_int_sum_reduce(SHMEM_TEAM_INVALID, NULL, NULL, 1));
	group("reductions of extremes");
}

void test_reduce(void)
{
	shmem_team_t team[2] = { SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID };
	shmem_team_t half;

	shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &team[0]);
	if (n > 1)
		shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, n / 2, NULL, 0, &team[1]);
	half = team[me % 2];
#define RUN(N, op)	reduce_##N##_##op(half);
#define RUN_AND(N, T)	RUN(N, and) RUN(N, or) RUN(N, xor)
#define RUN_MIN(N, T)	RUN(N, min) RUN(N, max)
#define RUN_SUM(N, T)	RUN(N, sum) RUN(N, prod)
	SHMEMI_AND_TYPES(RUN_AND)
	SHMEMI_MIN_TYPES(RUN_MIN)
	SHMEMI_SUM_TYPES(RUN_SUM)
	test_extremes();
	/* shmem_finalize() destroys the teams that are left. */
}

static void test_old_coll(void)
{
	static int a[2 * K], b[2 * K];
	static long sync[SHMEM_COLLECT_SYNC_SIZE];
	int first = me % 2, size = (n + 1 - me % 2) / 2, rank = me / 2;
	int i;

	for (i = 0; i < 2 * K; i++) {
		a[i] = VAL(int, me, i);
		b[i] = -1;
	}
	shmem_barrier_all();
	shmem_broadcast32(b, a, 5, size - 1, first, 1, size, sync);
	EXPECT(b[4] == (rank == size - 1 ? -1 : VAL(int, first + 2 * (size - 1), 4)));
	shmem_barrier(first, 1, size, sync);
	shmem_broadcast64(b, a, 5, 0, first, 1, size, sync);
	EXPECT(rank ? b[9] == VAL(int, first, 9) : b[9] == -1);
	shmem_sync(first, 1, size, sync);
	shmem_collect32(b, a, 2, first, 1, size, sync);
	EXPECT(b[2 * size - 1] == VAL(int, first + 2 * (size - 1), 1));
	shmem_sync(first, 1, size, sync);
	shmem_collect64(b, a, 2, first, 1, size, sync);
	EXPECT(b[4 * size - 1] == VAL(int, first + 2 * (size - 1), 3));
	shmem_sync(first, 1, size, sync);
	shmem_fcollect32(b, a, 3, first, 1, size, sync);
	EXPECT(b[3 * size - 1] == VAL(int, first + 2 * (size - 1), 2));
	shmem_sync(first, 1, size, sync);
	shmem_fcollect64(b, a, 3, first, 1, size, sync);
	EXPECT(b[6 * size - 1] == VAL(int, first + 2 * (size - 1), 5));
	shmem_sync(first, 1, size, sync);
	shmem_alltoall32(b, a, 2, first, 1, size, sync);
	EXPECT(b[2 * size - 1] == VAL(int, first + 2 * (size - 1), 2 * rank + 1));
	shmem_sync(first, 1, size, sync);
	shmem_alltoall64(b, a, 1, first, 1, size, sync);
	EXPECT(b[2 * size - 1] == VAL(int, first + 2 * (size - 1), 2 * rank + 1));
	shmem_sync(first, 1, size, sync);
	shmem_alltoalls32(b, a, 2, 3, 1, first, 1, size, sync);
	EXPECT(b[2 * (size - 1)] == VAL(int, first + 2 * (size - 1), 3 * rank));
	shmem_sync(first, 1, size, sync);
	shmem_alltoalls64(b, a, 1, 1, 1, first, 1, size, sync);
	EXPECT(b[2 * (size - 1)] == VAL(int, first + 2 * (size - 1), 2 * rank));
	group("collectives of active sets");
}

void test_sets(void)
{
#define RUN_SET(N, op)	set_##N##_##op();
#define SETS_AND(N, T)	RUN_SET(N, and) RUN_SET(N, or) RUN_SET(N, xor)
#define SETS_MIN(N, T)	RUN_SET(N, min) RUN_SET(N, max)
#define SETS_SUM(N, T)	RUN_SET(N, sum) RUN_SET(N, prod)
	SHMEMI_AND_TO_ALL_TYPES(SETS_AND)
	SHMEMI_MIN_TO_ALL_TYPES(SETS_MIN)
	SHMEMI_SUM_TO_ALL_TYPES(SETS_SUM)
	test_old_coll();
}
