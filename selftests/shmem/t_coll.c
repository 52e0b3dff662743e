// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives of teams: of all PEs, and of those with an even or odd number.
 */
#include <unistd.h>

#include "t.h"

#define MANY	12	/* elements of a block */

/* Return: number in the world of member @i of a team. */
static int world(shmem_team_t team, int i)
{
	return shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
}

#define COPY_ALL(T, N, size, len) \
	do { \
		int p_, e_; \
		EXPECT(!shmem_##N(team, dst, src, len)); \
		for (p_ = 0; p_ < size; p_++) \
			for (e_ = 0; e_ < MANY; e_++) \
				EXPECT(dst[p_ * MANY + e_] == VAL(T, world(team, p_), e_)); \
	} while (0)

#define COLL(N, T) \
	static void copies_##N(shmem_team_t team, T *dst, T *src) \
	{ \
		int size = shmem_team_n_pes(team), rank = shmem_team_my_pe(team); \
		int i, p, at = 0, root = size - 1; \
		for (i = 0; i < MANY * n; i++) { \
			src[i] = VAL(T, me, i); \
			dst[i] = 99; \
		} \
		shmem_barrier_all(); \
		EXPECT(!shmem_##N##_broadcast(team, dst, src, MANY, root)); \
		for (i = 0; i < MANY; i++) \
			EXPECT(dst[i] == VAL(T, world(team, root), i)); \
		EXPECT(dst[MANY] == 99 || n == 1); \
		shmem_team_sync(team); \
		COPY_ALL(T, N##_fcollect, size, MANY); \
		shmem_team_sync(team); \
		EXPECT(!shmem_##N##_collect(team, dst, src, (size_t)(rank % 3) * 2)); \
		for (p = 0; p < size; p++) \
			for (i = 0; i < p % 3 * 2; i++) \
				EXPECT(dst[at++] == VAL(T, world(team, p), i)); \
		shmem_team_sync(team); \
	} \
	static void alltoalls_##N(shmem_team_t team, T *dst, T *src) \
	{ \
		int size = shmem_team_n_pes(team), rank = shmem_team_my_pe(team); \
		int i, p; \
		for (i = 0; i < MANY * n; i++) \
			src[i] = VAL(T, me, i); \
		EXPECT(!shmem_##N##_alltoall(team, dst, src, 3)); \
		for (p = 0; p < size; p++) \
			for (i = 0; i < 3; i++) \
				EXPECT(dst[p * 3 + i] == \
				       VAL(T, world(team, p), rank * 3 + i)); \
		shmem_team_sync(team); \
		EXPECT(!shmem_##N##_alltoalls(team, dst, src, 4, 3, 2)); \
		for (p = 0; p < size; p++) \
			for (i = 0; i < 2; i++) \
				EXPECT(dst[(p * 2 + i) * 4] == \
				       VAL(T, world(team, p), (rank * 2 + i) * 3)); \
		shmem_team_sync(team); \
	} \
	static void coll_##N(shmem_team_t team) \
	{ \
		T *dst = shmem_malloc((size_t)n * MANY * sizeof(T)); \
		T *src = shmem_malloc((size_t)n * MANY * sizeof(T)); \
		copies_##N(SHMEM_TEAM_WORLD, dst, src); \
		copies_##N(team, dst, src); \
		alltoalls_##N(SHMEM_TEAM_WORLD, dst, src); \
		alltoalls_##N(team, dst, src); \
		shmem_barrier_all(); \
		shmem_free(src); \
		shmem_free(dst); \
		group("collectives " #N); \
	}
SHMEMI_RMA_TYPES(COLL)

static void test_mem(shmem_team_t team)
{
	static char a[4096], b[4096];
	int size = shmem_team_n_pes(team), rank = shmem_team_my_pe(team);
	int i;

	for (i = 0; i < 4096; i++)
		a[i] = VAL(char, me, i);
	shmem_barrier_all();
	EXPECT(!shmem_broadcastmem(team, b, a, 4096, 0));
	EXPECT(b[4095] == VAL(char, world(team, 0), 4095));
	shmem_team_sync(team);
	EXPECT(!shmem_fcollectmem(team, b, a, 9));
	EXPECT(b[9 * size - 1] == VAL(char, world(team, size - 1), 8));
	shmem_team_sync(team);
	EXPECT(!shmem_collectmem(team, b, a, rank == size - 1 ? 7 : 0));
	EXPECT(b[6] == VAL(char, world(team, size - 1), 6));
	shmem_team_sync(team);
	EXPECT(!shmem_alltoallmem(team, b, a, 11));
	EXPECT(b[11 * (size - 1)] == VAL(char, world(team, size - 1), 11 * rank));
	shmem_team_sync(team);
	EXPECT(!shmem_alltoallsmem(team, b, a, 2, 3, 5));
	EXPECT(b[2 * 5 * (size - 1)] == VAL(char, world(team, size - 1), 3 * 5 * rank));
	EXPECT(shmem_broadcastmem(SHMEM_TEAM_INVALID, b, a, 1, 0));
	EXPECT(shmem_team_sync(SHMEM_TEAM_INVALID));
	shmem_sync_all();
	group("collectives of bytes");
}

/* Tests data of more than one packet, with many roots. */
static void test_long(void)
{
	const size_t len = 100000;
	long *a = shmem_malloc(len * sizeof(*a)), *b = shmem_malloc(len * sizeof(*b));
	int root;
	size_t i;

	for (root = 0; root < n; root++) {
		for (i = 0; i < len; i++)
			a[i] = (long)i * (me + 1);
		shmem_long_broadcast(SHMEM_TEAM_WORLD, b, a, len, root);
		for (i = 0; i < len; i++)
			EXPECT(b[i] == (long)i * (root + 1));
	}
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, b, a, len);
	for (i = 0; i < len; i++)
		EXPECT(b[i] == (long)i * (n * (n + 1) / 2));
	shmem_free(b);
	shmem_free(a);
	group("long broadcasts and reductions");
}

/* A broadcast changes the destination of a PE only after this PE has called. */
static void test_early(void)
{
	static long a[8], b[8], sum[8];

	a[0] = me + 1;
	b[0] = sum[0] = -1;
	shmem_barrier_all();
	if (me)
		usleep(20000);
	EXPECT(b[0] == -1);
	shmem_long_broadcast(SHMEM_TEAM_WORLD, b, a, 1, 0);
	EXPECT(b[0] == 1);
	shmem_barrier_all();
	if (me)
		usleep(20000);
	EXPECT(sum[0] == -1);
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum, a, 1);
	EXPECT(sum[0] == n * (n + 1) / 2);
	group("memory of PEs that are late");
}

void test_coll(void)
{
	shmem_team_t odd, even;

	EXPECT(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &even));
	odd = SHMEM_TEAM_INVALID;
	if (n > 1)
		EXPECT(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, n / 2, NULL, 0, &odd));
	if (me % 2)
		even = odd;
#define RUN(N, T)	coll_##N(even);
	SHMEMI_RMA_TYPES(RUN)
	test_mem(even);
	test_long();
	test_early();
	shmem_team_destroy(even);
}
