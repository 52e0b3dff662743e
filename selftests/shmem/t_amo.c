// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Atomic operations of all types: each PE changes a word of its right neighbour,
 * then all PEs one word of the last PE.
 */
#include "t.h"

#define XAMO_FORM(N, T, FORM) \
	static void xamo_##N##_##FORM(shmem_ctx_t ctx, T *w) \
	{ \
		T old = 0; \
		CALL_##FORM(N##_atomic_set, w, VAL(T, me, 1), right); \
		settle(ctx); \
		EXPECT(*w == VAL(T, left, 1)); \
		shmem_barrier_all(); \
		EXPECT(CALL_##FORM(N##_atomic_fetch, w, right) == VAL(T, me, 1)); \
		EXPECT(CALL_##FORM(N##_atomic_swap, w, 3, right) == VAL(T, me, 1)); \
		CALL_##FORM(N##_atomic_fetch_nbi, &old, w, right); \
		shmem_ctx_quiet(ctx); \
		EXPECT(old == 3); \
		CALL_##FORM(N##_atomic_swap_nbi, &old, w, 4, right); \
		shmem_ctx_quiet(ctx); \
		EXPECT(old == 3); \
		settle(ctx); \
		EXPECT(*w == 4); \
		shmem_barrier_all(); \
	}
#define XAMO(N, T) \
	XAMO_FORM(N, T, plain) XAMO_FORM(N, T, ctx) \
	static void xamo_##N(shmem_ctx_t ctx) \
	{ \
		static T w; \
		xamo_##N##_plain(SHMEM_CTX_DEFAULT, &w); \
		xamo_##N##_ctx(ctx, &w); \
		shmem_##N##_set(&w, 8, right); \
		EXPECT(shmem_##N##_swap(&w, 9, right) == 8); \
		EXPECT(shmem_##N##_fetch(&w, right) == 9); \
		group("atomic fetch, set, swap " #N); \
	}
SHMEMI_XAMO_TYPES(XAMO)

#define AMO_FORM(N, T, FORM) \
	static void amo_##N##_##FORM(shmem_ctx_t ctx, T *w) \
	{ \
		T old = 0; \
		*w = 10; \
		shmem_barrier_all(); \
		EXPECT(CALL_##FORM(N##_atomic_compare_swap, w, 9, 1, right) == 10); \
		EXPECT(CALL_##FORM(N##_atomic_compare_swap, w, 10, 20, right) == 10); \
		EXPECT(CALL_##FORM(N##_atomic_fetch_inc, w, right) == 20); \
		CALL_##FORM(N##_atomic_inc, w, right); \
		shmem_ctx_quiet(ctx); \
		EXPECT(CALL_##FORM(N##_atomic_fetch_add, w, 5, right) == 22); \
		CALL_##FORM(N##_atomic_add, w, (T)-7, right); \
		shmem_ctx_quiet(ctx); \
		CALL_##FORM(N##_atomic_compare_swap_nbi, &old, w, 20, 30, right); \
		shmem_ctx_quiet(ctx); \
		EXPECT(old == 20); \
		CALL_##FORM(N##_atomic_fetch_inc_nbi, &old, w, right); \
		shmem_ctx_quiet(ctx); \
		EXPECT(old == 30); \
		CALL_##FORM(N##_atomic_fetch_add_nbi, &old, w, 4, right); \
		settle(ctx); \
		EXPECT(old == 31 && *w == 35); \
		shmem_barrier_all(); \
	}
#define AMO(N, T) \
	AMO_FORM(N, T, plain) AMO_FORM(N, T, ctx) \
	static void amo_##N(shmem_ctx_t ctx) \
	{ \
		static T w; \
		int i; \
		amo_##N##_plain(SHMEM_CTX_DEFAULT, &w); \
		amo_##N##_ctx(ctx, &w); \
		EXPECT(shmem_##N##_cswap(&w, 35, 40, right) == 35); \
		EXPECT(shmem_##N##_finc(&w, right) == 40); \
		shmem_##N##_inc(&w, right); \
		shmem_quiet(); \
		EXPECT(shmem_##N##_fadd(&w, 3, right) == 42); \
		shmem_##N##_add(&w, 4, right); \
		shmem_barrier_all(); \
		EXPECT(w == 49); \
		shmem_barrier_all(); \
		for (i = 0; i < 20; i++) \
			shmem_##N##_atomic_add(&w, 2, n - 1); \
		shmem_barrier_all(); \
		EXPECT(w == (me == n - 1 ? 49 + 40 * (T)n : 49)); \
		group("atomic add, inc, compare " #N); \
	}
SHMEMI_AMO_TYPES(AMO)

#define BIT_FORM(N, T, FORM, op, first, with, then) \
	static void bit_##op##_##N##_##FORM(shmem_ctx_t ctx, T *w) \
	{ \
		T old = 0; \
		*w = first; \
		shmem_barrier_all(); \
		EXPECT(CALL_##FORM(N##_atomic_fetch_##op, w, with, right) == first); \
		EXPECT(CALL_##FORM(N##_atomic_fetch, w, right) == (T)(then)); \
		CALL_##FORM(N##_atomic_set, w, first, right); \
		shmem_ctx_quiet(ctx); \
		CALL_##FORM(N##_atomic_##op, w, with, right); \
		shmem_ctx_quiet(ctx); \
		CALL_##FORM(N##_atomic_fetch_##op##_nbi, &old, w, with, right); \
		settle(ctx); \
		EXPECT(old == (T)(then)); \
		shmem_barrier_all(); \
	}
#define BITWISE_FORM(N, T, FORM) \
	BIT_FORM(N, T, FORM, and, 0x6c, 0x3a, 0x28) \
	BIT_FORM(N, T, FORM, or, 0x6c, 0x3a, 0x7e) \
	BIT_FORM(N, T, FORM, xor, 0x6c, 0x3a, 0x56)
#define BITWISE(N, T) \
	BITWISE_FORM(N, T, plain) BITWISE_FORM(N, T, ctx) \
	static void bitwise_##N(shmem_ctx_t ctx) \
	{ \
		static T w; \
		bit_and_##N##_plain(SHMEM_CTX_DEFAULT, &w); \
		bit_and_##N##_ctx(ctx, &w); \
		bit_or_##N##_plain(SHMEM_CTX_DEFAULT, &w); \
		bit_or_##N##_ctx(ctx, &w); \
		bit_xor_##N##_plain(SHMEM_CTX_DEFAULT, &w); \
		bit_xor_##N##_ctx(ctx, &w); \
		group("atomic and, or, xor " #N); \
	}
SHMEMI_BITWISE_TYPES(BITWISE)

void test_amo(void)
{
	shmem_ctx_t ctx;

	EXPECT(!shmem_ctx_create(0, &ctx));
#define RUN_XAMO(N, T)		xamo_##N(ctx);
#define RUN_AMO(N, T)		amo_##N(ctx);
#define RUN_BITWISE(N, T)	bitwise_##N(ctx);
	SHMEMI_XAMO_TYPES(RUN_XAMO)
	SHMEMI_AMO_TYPES(RUN_AMO)
	SHMEMI_BITWISE_TYPES(RUN_BITWISE)
	shmem_ctx_destroy(ctx);
}
