// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives with a request: several under way at once.
 */
#include <shmemx.h>

#include "t.h"

#define REQS	4

#define EXT(N, T) \
	static T in_##N[REQS], out_##N[REQS]; \
	static void ext_##N(void) \
	{ \
		shmemx_req_t req[REQS]; \
		int i, p; \
		T sum = 0, prod = 1; \
		for (i = 0; i < REQS; i++) \
			in_##N[i] = (T)(me % 2 + 1); \
		for (p = 0; p < n; p++) { \
			sum += (T)(p % 2 + 1); \
			prod *= (T)(p % 2 + 1); \
		} \
		shmem_barrier_all(); \
		EXPECT(!shmemx_##N##_sum_reduce_nb(SHMEM_TEAM_WORLD, out_##N, in_##N, 1, \
						   &req[0])); \
		EXPECT(!shmemx_##N##_prod_reduce_nb(SHMEM_TEAM_WORLD, out_##N + 1, \
						    in_##N + 1, 1, &req[1])); \
		EXPECT(!shmemx_##N##_min_reduce_nb(SHMEM_TEAM_WORLD, out_##N + 2, \
						   in_##N + 2, 1, &req[2])); \
		EXPECT(!shmemx_##N##_max_reduce_nb(SHMEM_TEAM_WORLD, out_##N + 3, \
						   in_##N + 3, 1, &req[3])); \
		for (i = REQS - 1; i >= 0; i--) \
			shmemx_req_wait(&req[i]); \
		EXPECT(req[0] == SHMEMX_REQ_INVALID); \
		EXPECT(out_##N[0] == sum && out_##N[1] == prod); \
		EXPECT(out_##N[2] == 1 && out_##N[3] == (T)(n > 1 ? 2 : 1)); \
		group("reductions with a request " #N); \
	}
SHMEMI_XAMO_TYPES(EXT)

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
		/* The others cannot pass the barrier before this. */
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
	group("barrier and broadcast with a request");
}

void test_ext(void)
{
#define RUN(N, T)	ext_##N();
	SHMEMI_XAMO_TYPES(RUN)
	test_requests();
}
