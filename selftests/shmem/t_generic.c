// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Generic routines of C11, with and without a context or team.  For each type, PEs
 * exchange data with both neighbours and in collectives, and compare the values that
 * arrive.
 */
#include "t.h"

#define SIX	6

/* Both forms of a call, with the context before the other arguments. */
#define BOTH(name, ...) \
	do { \
		name(__VA_ARGS__); \
		name(ctx, __VA_ARGS__); \
	} while (0)

#define RMA(N, T) \
	static T a_##N[2 * SIX], b_##N[2 * SIX]; \
	static void rma_##N(shmem_ctx_t ctx) \
	{ \
		static uint64_t sig; \
		const T *from = a_##N; \
		int i; \
		sig = 0; \
		for (i = 0; i < 2 * SIX; i++) \
			a_##N[i] = VAL(T, me, i); \
		shmem_barrier_all(); \
		BOTH(shmem_put, b_##N, from, 1, right); \
		shmem_p(b_##N + 1, from[1], right); \
		shmem_p(ctx, b_##N + 2, from[2], right); \
		BOTH(shmem_put_nbi, b_##N + 3, from + 3, 1, right); \
		BOTH(shmem_iput, b_##N + 4, from + 4, 2, 2, 2, right); \
		BOTH(shmem_put_signal, b_##N + 7, from + 7, 1, &sig, 1, SHMEM_SIGNAL_ADD, \
		     right); \
		BOTH(shmem_put_signal_nbi, b_##N + 8, from + 8, 1, &sig, 1, \
		     SHMEM_SIGNAL_ADD, right); \
		settle(ctx); \
		for (i = 0; i < 9; i++) \
			EXPECT(i == 5 || b_##N[i] == VAL(T, left, i)); \
		EXPECT(sig == 4); \
		BOTH(shmem_get, b_##N, from, 1, right); \
		BOTH(shmem_get_nbi, b_##N + 1, from + 1, 1, right); \
		BOTH(shmem_iget, b_##N + 2, from + 2, 2, 2, 2, right); \
		settle(ctx); \
		for (i = 0; i < 5; i++) \
			EXPECT(i == 3 || b_##N[i] == VAL(T, right, i)); \
		EXPECT(shmem_g(from + 6, right) == VAL(T, right, 6)); \
		EXPECT(shmem_g(ctx, from + 6, right) == VAL(T, right, 6)); \
		shmem_barrier_all(); \
	} \
	static void coll_##N(void) \
	{ \
		T *all = shmem_malloc((size_t)n * sizeof(T)); \
		T *own = shmem_malloc((size_t)n * sizeof(T)); \
		int i; \
		for (i = 0; i < n; i++) \
			own[i] = VAL(T, me, 0); \
		shmem_barrier_all(); \
		EXPECT(!shmem_broadcast(SHMEM_TEAM_WORLD, all, own, 1, n - 1)); \
		EXPECT(all[0] == VAL(T, n - 1, 0)); \
		EXPECT(!shmem_collect(SHMEM_TEAM_WORLD, all, own, 1)); \
		EXPECT(all[n - 1] == VAL(T, n - 1, 0)); \
		EXPECT(!shmem_fcollect(SHMEM_TEAM_WORLD, all, own, 1)); \
		EXPECT(all[n - 1] == VAL(T, n - 1, 0)); \
		EXPECT(!shmem_alltoall(SHMEM_TEAM_WORLD, all, own, 1)); \
		EXPECT(all[n - 1] == VAL(T, n - 1, 0)); \
		EXPECT(!shmem_alltoalls(SHMEM_TEAM_WORLD, all, own, 1, 1, 1)); \
		EXPECT(all[n - 1] == VAL(T, n - 1, 0)); \
		EXPECT(!shmem_min_reduce(SHMEM_TEAM_WORLD, all, own, 1)); \
		EXPECT(!shmem_max_reduce(SHMEM_TEAM_WORLD, own, own, 1)); \
		shmem_barrier_all(); \
		shmem_free(own); \
		shmem_free(all); \
	}
SHMEMI_RMA_TYPES(RMA)

#define XAMO(N, T) \
	static void xamo_##N(shmem_ctx_t ctx) \
	{ \
		static T word, old; \
		shmem_atomic_set(&word, 3, me); \
		shmem_quiet(); \
		EXPECT(shmem_atomic_swap(&word, 4, me) == 3); \
		shmem_atomic_set(ctx, &word, 5, me); \
		shmem_ctx_quiet(ctx); \
		EXPECT(shmem_atomic_swap(ctx, &word, 6, me) == 5); \
		EXPECT(shmem_atomic_fetch(&word, me) == 6); \
		EXPECT(shmem_atomic_fetch(ctx, &word, me) == 6); \
		shmem_atomic_swap_nbi(&old, &word, 7, me); \
		shmem_quiet(); \
		EXPECT(old == 6); \
		shmem_atomic_swap_nbi(ctx, &old, &word, 8, me); \
		shmem_ctx_quiet(ctx); \
		EXPECT(old == 7); \
		BOTH(shmem_atomic_fetch_nbi, &old, &word, me); \
		settle(ctx); \
		EXPECT(old == 8); \
		EXPECT(shmem_swap(&word, 9, me) == 8 && shmem_fetch(&word, me) == 9); \
		shmem_set(&word, 1, me); \
		shmem_quiet(); \
		EXPECT(word == 1); \
	}
SHMEMI_XAMO_TYPES(XAMO)

#define AMO(N, T) \
	static void amo_##N(shmem_ctx_t ctx) \
	{ \
		static T word, old; \
		word = 0; \
		BOTH(shmem_atomic_inc, &word, me); \
		BOTH(shmem_atomic_add, &word, 2, me); \
		settle(ctx); \
		EXPECT(shmem_atomic_fetch_inc(&word, me) == 6); \
		EXPECT(shmem_atomic_fetch_inc(ctx, &word, me) == 7); \
		EXPECT(shmem_atomic_fetch_add(&word, 2, me) == 8); \
		EXPECT(shmem_atomic_fetch_add(ctx, &word, 2, me) == 10); \
		EXPECT(shmem_atomic_compare_swap(&word, 12, 20, me) == 12); \
		EXPECT(shmem_atomic_compare_swap(ctx, &word, 12, 30, me) == 20); \
		BOTH(shmem_atomic_fetch_inc_nbi, &old, &word, me); \
		BOTH(shmem_atomic_fetch_add_nbi, &old, &word, 1, me); \
		settle(ctx); \
		EXPECT(word == 24); \
		shmem_atomic_compare_swap_nbi(&old, &word, 24, 40, me); \
		shmem_quiet(); \
		shmem_atomic_compare_swap_nbi(ctx, &old, &word, 40, 41, me); \
		shmem_ctx_quiet(ctx); \
		EXPECT(old == 40 && word == 41); \
		EXPECT(shmem_cswap(&word, 41, 1, me) == 41 && shmem_finc(&word, me) == 1); \
		EXPECT(shmem_fadd(&word, 3, me) == 2); \
		shmem_inc(&word, me); \
		shmem_add(&word, 1, me); \
		shmem_quiet(); \
		EXPECT(word == 7); \
	}
SHMEMI_AMO_TYPES(AMO)

#define BITWISE(N, T) \
	static void bits_##N(shmem_ctx_t ctx) \
	{ \
		static T word, old; \
		word = 12; \
		BOTH(shmem_atomic_or, &word, 3, me); \
		settle(ctx); \
		EXPECT(shmem_atomic_fetch_and(&word, 7, me) == 15); \
		EXPECT(shmem_atomic_fetch_and(ctx, &word, 6, me) == 7); \
		EXPECT(shmem_atomic_fetch_or(&word, 8, me) == 6); \
		EXPECT(shmem_atomic_fetch_or(ctx, &word, 1, me) == 14); \
		EXPECT(shmem_atomic_fetch_xor(&word, 3, me) == 15); \
		EXPECT(shmem_atomic_fetch_xor(ctx, &word, 1, me) == 12); \
		BOTH(shmem_atomic_and, &word, 9, me); \
		settle(ctx); \
		EXPECT(word == 9); \
		BOTH(shmem_atomic_xor, &word, 5, me); \
		settle(ctx); \
		BOTH(shmem_atomic_fetch_and_nbi, &old, &word, 9, me); \
		settle(ctx); \
		BOTH(shmem_atomic_fetch_or_nbi, &old, &word, 9, me); \
		settle(ctx); \
		BOTH(shmem_atomic_fetch_xor_nbi, &old, &word, 2, me); \
		settle(ctx); \
		EXPECT(word == 9); \
	}
SHMEMI_BITWISE_TYPES(BITWISE)

#define SYNC(N, T) \
	static void sync_##N(void) \
	{ \
		static T w[2]; \
		T values[2] = { 1, 2 }; \
		size_t found[2]; \
		w[0] = 1; \
		w[1] = 2; \
		shmem_wait_until(w, SHMEM_CMP_EQ, 1); \
		shmem_wait_until_all(w, 2, NULL, SHMEM_CMP_GE, 1); \
		EXPECT(shmem_wait_until_any(w, 2, NULL, SHMEM_CMP_EQ, 2) == 1); \
		EXPECT(shmem_wait_until_some(w, 2, found, NULL, SHMEM_CMP_LE, 2) == 2); \
		shmem_wait_until_all_vector(w, 2, NULL, SHMEM_CMP_EQ, values); \
		EXPECT(shmem_test(w, SHMEM_CMP_EQ, 1)); \
		EXPECT(shmem_test_all(w, 2, NULL, SHMEM_CMP_GE, 1)); \
		EXPECT(shmem_test_any(w, 2, NULL, SHMEM_CMP_EQ, 2) == 1); \
		EXPECT(shmem_test_some(w, 2, found, NULL, SHMEM_CMP_LE, 2) == 2); \
		EXPECT(shmem_test_all_vector(w, 2, NULL, SHMEM_CMP_EQ, values)); \
		values[0] = 7; \
		EXPECT(shmem_wait_until_any_vector(w, 2, NULL, SHMEM_CMP_EQ, values) == 1); \
		EXPECT(shmem_wait_until_some_vector(w, 2, found, NULL, SHMEM_CMP_EQ, \
						    values) == 1); \
		EXPECT(shmem_test_any_vector(w, 2, NULL, SHMEM_CMP_EQ, values) == 1); \
		EXPECT(shmem_test_some_vector(w, 2, found, NULL, SHMEM_CMP_EQ, values) == 1); \
	}
SHMEMI_SYNC_TYPES(SYNC)

#define AND(N, T) \
	static void and_##N(void) \
	{ \
		static T x, y; \
		x = 6; \
		EXPECT(!shmem_and_reduce(SHMEM_TEAM_WORLD, &y, &x, 1) && y == 6); \
		EXPECT(!shmem_or_reduce(SHMEM_TEAM_WORLD, &y, &x, 1) && y == 6); \
		EXPECT(!shmem_xor_reduce(SHMEM_TEAM_WORLD, &y, &x, 1)); \
		EXPECT(y == (T)(n % 2 ? 6 : 0)); \
		shmem_barrier_all(); \
	}
SHMEMI_AND_TYPES(AND)

#define SUM(N, T) \
	static void sum_##N(void) \
	{ \
		static T x, y; \
		x = 1; \
		EXPECT(!shmem_sum_reduce(SHMEM_TEAM_WORLD, &y, &x, 1) && y == (T)n); \
		EXPECT(!shmem_prod_reduce(SHMEM_TEAM_WORLD, &y, &x, 1) && y == 1); \
		shmem_barrier_all(); \
	}
SHMEMI_SUM_TYPES(SUM)

void test_generic(void)
{
	shmem_ctx_t ctx;

	EXPECT(!shmem_ctx_create(0, &ctx));
#define RUN_CTX(N, T)	rma_##N(ctx);
#define RUN_XAMO(N, T)	xamo_##N(ctx);
#define RUN_AMO(N, T)	amo_##N(ctx);
#define RUN_BITS(N, T)	bits_##N(ctx);
#define RUN_COLL(N, T)	coll_##N();
#define RUN_SYNC(N, T)	sync_##N();
#define RUN_AND(N, T)	and_##N();
#define RUN_SUM(N, T)	sum_##N();
	SHMEMI_RMA_TYPES(RUN_CTX)
	group("generic puts and gets");
	SHMEMI_XAMO_TYPES(RUN_XAMO)
	SHMEMI_AMO_TYPES(RUN_AMO)
	SHMEMI_BITWISE_TYPES(RUN_BITS)
	group("generic atomic operations");
	SHMEMI_SYNC_TYPES(RUN_SYNC)
	group("generic waits and tests");
	SHMEMI_RMA_TYPES(RUN_COLL)
	SHMEMI_AND_TYPES(RUN_AND)
	SHMEMI_SUM_TYPES(RUN_SUM)
	EXPECT(!shmem_sync(SHMEM_TEAM_WORLD));
	group("generic collectives");
	shmem_ctx_destroy(ctx);
}
