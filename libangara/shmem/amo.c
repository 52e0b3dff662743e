// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Atomic operations.  The adapter of the target executes them, even if the
 * target is the calling PE itself.
 */
#include "shi.h"

static void amo_at(struct shmemi_ctx *c, struct shi_amo amo, int pe, struct shi_at *at)
{
	if ((uintptr_t)amo.addr & (amo.size - 1))
		shi_die("atomic operation: %p is not aligned to %zu bytes", amo.addr,
			amo.size);
	shi_at_pe(c, amo.addr, amo.size, pe, "atomic operation", at);
}

/* Starts an operation without a result; a quiet completes it. */
void shi_amo(shmem_ctx_t ctx, struct shi_amo amo, const void *x, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct shi_at at;
	int ret;

	amo_at(c, amo, pe, &at);
	shi_ctx_lock(c);
	ret = SHI_POST(c, angara_atomic_nbi(c->a, at.peer, at.key, at.off, x, 1, amo.type,
					    amo.op, SHI_HOW(c)));
	shi_ctx_unlock(c);
	shi_check_pe(c, ret, "atomic operation", pe);
}

/*
 * Executes an operation with a result. @cond: value to compare with; NULL: none
 */
void shi_amo_fetch(shmem_ctx_t ctx, struct shi_amo amo, const void *x, const void *cond,
		   void *old, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct shi_at at;
	int ret;

	amo_at(c, amo, pe, &at);
	shi_ctx_lock(c);
	shi_ctx_settle(c);
	if (cond)
		ret = angara_compare(c->a, at.peer, at.key, at.off, x, cond, 1, amo.type,
				     amo.op, old);
	else
		ret = angara_fetch(c->a, at.peer, at.key, at.off, x, 1, amo.type, amo.op,
				   old);
	shi_ctx_unlock(c);
	shi_check_pe(c, ret, "atomic operation", pe);
}

/*
 * Starts an operation with a result; @old is written before the next quiet
 * returns.
 */
void shi_amo_fetch_nbi(shmem_ctx_t ctx, struct shi_amo amo, const void *x,
		       const void *cond, void *old, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct shi_local to = shi_local_of(old, amo.size);
	struct shi_at at;
	int ret;

	amo_at(c, amo, pe, &at);
	shi_ctx_lock(c);
	if (cond)
		ret = SHI_POST(c, angara_compare_nbi(c->a, at.peer, at.key, at.off, x, cond,
						     1, amo.type, amo.op, to.mr, to.off,
						     SHI_HOW(c)));
	else
		ret = SHI_POST(c, angara_fetch_nbi(c->a, at.peer, at.key, at.off, x, 1,
						   amo.type, amo.op, to.mr, to.off,
						   SHI_HOW(c)));
	shi_ctx_unlock(c);
	shi_check_local(ret, "atomic operation", old, amo.size, ANGARA_ACCESS_LOCAL_WRITE);
	shi_check_pe(c, ret, "atomic operation", pe);
}

#define OP(T, at, what) \
	((struct shi_amo){ at, SHI_TYPE(T), ANGARA_ATOMIC_##what, sizeof(T) })
#define FETCHED(T, call) \
	T old; call; return old

#define XAMO(N, T) \
	SHI_BOTH(T, N##_atomic_fetch, (const T *source, int pe), \
		 FETCHED(T, shi_amo_fetch(ctx, OP(T, source, READ), NULL, NULL, &old, pe))) \
	SHI_BOTH(void, N##_atomic_set, (T *dest, T value, int pe), \
		 shi_amo(ctx, OP(T, dest, WRITE), &value, pe)) \
	SHI_BOTH(T, N##_atomic_swap, (T *dest, T value, int pe), \
		 FETCHED(T, shi_amo_fetch(ctx, OP(T, dest, WRITE), &value, NULL, &old, pe))) \
	SHI_BOTH(void, N##_atomic_fetch_nbi, (T *fetch, const T *source, int pe), \
		 shi_amo_fetch_nbi(ctx, OP(T, source, READ), NULL, NULL, fetch, pe)) \
	SHI_BOTH(void, N##_atomic_swap_nbi, (T *fetch, T *dest, T value, int pe), \
		 shi_amo_fetch_nbi(ctx, OP(T, dest, WRITE), &value, NULL, fetch, pe)) \
	SHI_DEF(T, N##_fetch, (const T *source, int pe)) \
	{ \
		return pshmem_##N##_atomic_fetch(source, pe); \
	} \
	SHI_DEF(void, N##_set, (T *dest, T value, int pe)) \
	{ \
		pshmem_##N##_atomic_set(dest, value, pe); \
	} \
	SHI_DEF(T, N##_swap, (T *dest, T value, int pe)) \
	{ \
		return pshmem_##N##_atomic_swap(dest, value, pe); \
	}
SHMEMI_XAMO_TYPES(XAMO)

#define AMO(N, T) \
	SHI_BOTH(T, N##_atomic_compare_swap, (T *dest, T cond, T value, int pe), \
		 FETCHED(T, shi_amo_fetch(ctx, OP(T, dest, CSWAP), &value, &cond, &old, \
					  pe))) \
	SHI_BOTH(T, N##_atomic_fetch_inc, (T *dest, int pe), \
		 FETCHED(T, shi_amo_fetch(ctx, OP(T, dest, SUM), &(T){ 1 }, NULL, &old, \
					  pe))) \
	SHI_BOTH(void, N##_atomic_inc, (T *dest, int pe), \
		 shi_amo(ctx, OP(T, dest, SUM), &(T){ 1 }, pe)) \
	SHI_BOTH(T, N##_atomic_fetch_add, (T *dest, T value, int pe), \
		 FETCHED(T, shi_amo_fetch(ctx, OP(T, dest, SUM), &value, NULL, &old, pe))) \
	SHI_BOTH(void, N##_atomic_add, (T *dest, T value, int pe), \
		 shi_amo(ctx, OP(T, dest, SUM), &value, pe)) \
	SHI_BOTH(void, N##_atomic_compare_swap_nbi, (T *fetch, T *dest, T cond, T value, \
						     int pe), \
		 shi_amo_fetch_nbi(ctx, OP(T, dest, CSWAP), &value, &cond, fetch, pe)) \
	SHI_BOTH(void, N##_atomic_fetch_inc_nbi, (T *fetch, T *dest, int pe), \
		 shi_amo_fetch_nbi(ctx, OP(T, dest, SUM), &(T){ 1 }, NULL, fetch, pe)) \
	SHI_BOTH(void, N##_atomic_fetch_add_nbi, (T *fetch, T *dest, T value, int pe), \
		 shi_amo_fetch_nbi(ctx, OP(T, dest, SUM), &value, NULL, fetch, pe)) \
	SHI_DEF(T, N##_cswap, (T *dest, T cond, T value, int pe)) \
	{ \
		return pshmem_##N##_atomic_compare_swap(dest, cond, value, pe); \
	} \
	SHI_DEF(T, N##_finc, (T *dest, int pe)) \
	{ \
		return pshmem_##N##_atomic_fetch_inc(dest, pe); \
	} \
	SHI_DEF(void, N##_inc, (T *dest, int pe)) \
	{ \
		pshmem_##N##_atomic_inc(dest, pe); \
	} \
	SHI_DEF(T, N##_fadd, (T *dest, T value, int pe)) \
	{ \
		return pshmem_##N##_atomic_fetch_add(dest, value, pe); \
	} \
	SHI_DEF(void, N##_add, (T *dest, T value, int pe)) \
	{ \
		pshmem_##N##_atomic_add(dest, value, pe); \
	}
SHMEMI_AMO_TYPES(AMO)

#define BITWISE_OP(N, T, op, what) \
	SHI_BOTH(T, N##_atomic_fetch_##op, (T *dest, T value, int pe), \
		 FETCHED(T, shi_amo_fetch(ctx, OP(T, dest, what), &value, NULL, &old, pe))) \
	SHI_BOTH(void, N##_atomic_##op, (T *dest, T value, int pe), \
		 shi_amo(ctx, OP(T, dest, what), &value, pe)) \
	SHI_BOTH(void, N##_atomic_fetch_##op##_nbi, (T *fetch, T *dest, T value, int pe), \
		 shi_amo_fetch_nbi(ctx, OP(T, dest, what), &value, NULL, fetch, pe))
#define BITWISE(N, T) \
	BITWISE_OP(N, T, and, AND) BITWISE_OP(N, T, or, OR) BITWISE_OP(N, T, xor, XOR)
SHMEMI_BITWISE_TYPES(BITWISE)
