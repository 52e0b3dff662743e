// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Puts and gets of all types and sizes, on the heap and on global variables.
 */
#include <string.h>

#include "t.h"

static uint64_t sig;
static char dst_mem[16 * 3 * K] __attribute__((aligned(16)));
static char src_mem[16 * 3 * K] __attribute__((aligned(16)));

/* Overwrites the destination at all PEs. */
static void clear(void *dst, size_t len)
{
	memset(dst, 0x55, len);
	shmem_barrier_all();
}

#define RMA_PUTS(N, T, FORM) \
	static void puts_##N##_##FORM(shmem_ctx_t ctx, T *dst, T *src) \
	{ \
		int i; \
		for (i = 0; i < 3 * K; i++) \
			src[i] = VAL(T, me, i); \
		clear(dst, K * sizeof(T)); \
		CALL_##FORM(N##_put, dst, src, K, right); \
		CALL_##FORM(N##_put, dst, src + 1, 3, right); \
		settle(ctx); \
		for (i = 3; i < K; i++) \
			EXPECT(dst[i] == VAL(T, left, i)); \
		shmem_barrier_all(); \
		CALL_##FORM(N##_p, dst + 1, VAL(T, me, 5), right); \
		settle(ctx); \
		EXPECT(dst[1] == VAL(T, left, 5)); \
		clear(dst, K * sizeof(T)); \
		CALL_##FORM(N##_iput, dst, src, 2, 3, K / 3, right); \
		settle(ctx); \
		for (i = 0; i < K / 3; i++) \
			EXPECT(dst[2 * i] == VAL(T, left, 3 * i)); \
		clear(dst, K * sizeof(T)); \
		CALL_##FORM(N##_put_nbi, dst, src, K, right); \
		settle(ctx); \
		for (i = 0; i < K; i++) \
			EXPECT(dst[i] == VAL(T, left, i)); \
		shmem_barrier_all(); \
	}

#define RMA_GETS(N, T, FORM) \
	static void gets_##N##_##FORM(shmem_ctx_t ctx, T *dst, T *src) \
	{ \
		T got[K]; \
		int i; \
		for (i = 0; i < 3 * K; i++) \
			src[i] = VAL(T, me, i); \
		shmem_barrier_all(); \
		CALL_##FORM(N##_get, got, src, K, right); \
		for (i = 0; i < K; i++) \
			EXPECT(got[i] == VAL(T, right, i)); \
		CALL_##FORM(N##_get, got, src + 2, 3, right); \
		EXPECT(got[2] == VAL(T, right, 4)); \
		EXPECT(CALL_##FORM(N##_g, src + 7, right) == VAL(T, right, 7)); \
		CALL_##FORM(N##_iget, got, src, 2, 3, K / 3, right); \
		for (i = 0; i < K / 3; i++) \
			EXPECT(got[2 * i] == VAL(T, right, 3 * i)); \
		CALL_##FORM(N##_get_nbi, dst, src, K, right); \
		CALL_##FORM(N##_get_nbi, got, src, K, right); \
		shmem_ctx_quiet(ctx); \
		for (i = 0; i < K; i++) \
			EXPECT(dst[i] == got[i] && got[i] == VAL(T, right, i)); \
		shmem_barrier_all(); \
	}

#define RMA_SIGNALS(N, T, FORM) \
	static void signals_##N##_##FORM(shmem_ctx_t ctx, T *dst, T *src) \
	{ \
		int i, len; \
		(void)ctx; \
		for (len = 3; len <= K; len += K - 3) { \
			sig = 0; \
			clear(dst, K * sizeof(T)); \
			CALL_##FORM(N##_put_signal, dst, src, (size_t)len, &sig, 9, \
				    SHMEM_SIGNAL_SET, right); \
			EXPECT(shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 9) == 9); \
			for (i = 0; i < len; i++) \
				EXPECT(dst[i] == VAL(T, left, i)); \
			clear(dst, K * sizeof(T)); \
			CALL_##FORM(N##_put_signal_nbi, dst, src, (size_t)len, &sig, 2, \
				    SHMEM_SIGNAL_ADD, right); \
			shmem_signal_wait_until(&sig, SHMEM_CMP_GT, 10); \
			EXPECT(shmem_signal_fetch(&sig) == 11); \
			for (i = 0; i < len; i++) \
				EXPECT(dst[i] == VAL(T, left, i)); \
			settle(ctx); \
		} \
	}

#define RMA_FORM(N, T, FORM) \
	RMA_PUTS(N, T, FORM) RMA_GETS(N, T, FORM) RMA_SIGNALS(N, T, FORM) \
	static void rma_##N##_##FORM(shmem_ctx_t ctx, T *dst, T *src) \
	{ \
		puts_##N##_##FORM(ctx, dst, src); \
		gets_##N##_##FORM(ctx, dst, src); \
		signals_##N##_##FORM(ctx, dst, src); \
	}
#define RMA(N, T) \
	RMA_FORM(N, T, plain) \
	RMA_FORM(N, T, ctx) \
	static void rma_##N(shmem_ctx_t ctx) \
	{ \
		T *dst = shmem_malloc(2 * K * sizeof(T)); \
		T *src = shmem_malloc(3 * K * sizeof(T)); \
		rma_##N##_plain(SHMEM_CTX_DEFAULT, dst, src); \
		rma_##N##_ctx(ctx, (T *)(void *)dst_mem, (T *)(void *)src_mem); \
		shmem_free(src); \
		shmem_free(dst); \
		group("rma " #N); \
	}
SHMEMI_RMA_TYPES(RMA)

void test_rma(void)
{
	shmem_ctx_t ctx;

	EXPECT(!shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx));
#define RUN(N, T) rma_##N(ctx);
	SHMEMI_RMA_TYPES(RUN)
	shmem_ctx_destroy(ctx);
}

static void fill(void)
{
	size_t i;

	for (i = 0; i < sizeof(src_mem); i++)
		src_mem[i] = VAL(char, me, i);
	clear(dst_mem, sizeof(dst_mem));
}

/*
 * Are the @len bytes at @from of PE @pe's source also at @to of this PE's
 * destination?
 */
static bool same(size_t to, size_t from, size_t len, int pe)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (dst_mem[to + i] != VAL(char, pe, from + i))
			return false;
	return true;
}

#define SIZE_PLAIN(S, B, FORM) \
	static void size_##S##_##FORM(shmem_ctx_t ctx) \
	{ \
		size_t len = K * (B); \
		sig = 0; \
		fill(); \
		CALL_##FORM(put##S, dst_mem, src_mem, K, right); \
		settle(ctx); \
		EXPECT(same(0, 0, len, left) && dst_mem[len] == 0x55); \
		shmem_barrier_all(); \
		fill(); \
		CALL_##FORM(put##S##_nbi, dst_mem, src_mem, K, right); \
		settle(ctx); \
		EXPECT(same(0, 0, len, left) && dst_mem[len] == 0x55); \
		fill(); \
		CALL_##FORM(get##S, dst_mem, src_mem, K, right); \
		EXPECT(same(0, 0, len, right) && dst_mem[len] == 0x55); \
		fill(); \
		CALL_##FORM(get##S##_nbi, dst_mem, src_mem, K, right); \
		settle(ctx); \
		EXPECT(same(0, 0, len, right) && dst_mem[len] == 0x55); \
		fill(); \
		CALL_##FORM(put##S##_signal, dst_mem, src_mem, K, &sig, 5, \
			    SHMEM_SIGNAL_ADD, right); \
		shmem_signal_wait_until(&sig, SHMEM_CMP_NE, 0); \
		EXPECT(sig == 5 && same(0, 0, len, left)); \
		settle(ctx); \
		fill(); \
		CALL_##FORM(put##S##_signal_nbi, dst_mem, src_mem, K, &sig, 3, \
			    SHMEM_SIGNAL_SET, right); \
		shmem_signal_wait_until(&sig, SHMEM_CMP_LT, 5); \
		EXPECT(sig == 3 && same(0, 0, len, left)); \
		settle(ctx); \
	}
#define SIZE_STRIDED(S, B, FORM) \
	static void stride_##S##_##FORM(shmem_ctx_t ctx) \
	{ \
		int i; \
		fill(); \
		CALL_##FORM(iput##S, dst_mem, src_mem, 3, 2, 40, right); \
		settle(ctx); \
		for (i = 0; i < 40; i++) \
			EXPECT(same((size_t)i * 3 * (B), (size_t)i * 2 * (B), B, left)); \
		EXPECT(dst_mem[B] == 0x55); \
		fill(); \
		CALL_##FORM(iget##S, dst_mem, src_mem, 1, 3, 40, right); \
		for (i = 0; i < 40; i++) \
			EXPECT(same((size_t)i * (B), (size_t)i * 3 * (B), B, right)); \
		shmem_barrier_all(); \
	}
#define SIZES(S, B) \
	SIZE_PLAIN(S, B, plain) SIZE_PLAIN(S, B, ctx)
#define SIZES_STRIDED(S, B) \
	SIZES(S, B) SIZE_STRIDED(S, B, plain) SIZE_STRIDED(S, B, ctx)
SHMEMI_SIZES(SIZES_STRIDED)
SIZES(mem, 1)

void test_rma_sizes(void)
{
	shmem_ctx_t ctx;

	EXPECT(!shmem_ctx_create(SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE, &ctx));
#define RUN_SIZE(S, B) \
	size_##S##_plain(SHMEM_CTX_DEFAULT); \
	size_##S##_ctx(ctx); \
	group("rma of size " #S);
#define RUN_STRIDED(S, B) \
	stride_##S##_plain(SHMEM_CTX_DEFAULT); \
	stride_##S##_ctx(ctx); \
	RUN_SIZE(S, B)
	SHMEMI_SIZES(RUN_STRIDED)
	RUN_SIZE(mem, 1)
	shmem_fence();
	shmem_ctx_fence(ctx);
	shmem_quiet();
	shmem_ctx_destroy(ctx);
}
