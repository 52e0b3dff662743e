// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations on memory that is not registered: the region is NULL, and the
 * offset is an address.  A few bytes are copied into the queue.  For more, the
 * operation holds a region of the domain's cache, see mr_cache.c, until it is
 * complete.
 *
 * The slot of such an operation has the flag ANG_SLOT_HOLDS in its kind, so
 * other operations have no additional cost.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib.h"

static void *hold_address(u64 off)
{
	return (void *)(uintptr_t)off;
}

/*
 * An operation of no bytes accesses no memory: it gets the scratch region of the
 * context, and holds no region.
 */
static int hold_nothing(struct angara_ctx *ctx, u64 *off, struct angara_mr **mr)
{
	const struct angara_mr *scratch;
	int ret = ang_scratch(ctx, &scratch);

	*mr = ctx->scratch;
	*off = 0;
	return ret;
}

/**
 * ang_hold_begin() - get a region for memory that an operation will use
 * @ctx: context
 * @off: in: address; out: offset in @mr
 * @len: bytes
 * @access: ANGARA_ACCESS_*
 * @mr: out
 *
 * Return: 0: undo by ang_hold_posted() or angara_mr_release(); errors of
 * angara_mr_hold().
 */
int ang_hold_begin(struct angara_ctx *ctx, u64 *off, size_t len,
		   unsigned int access, struct angara_mr **mr)
{
	int ret;

	if (len > ctx->dom->query.max_op_bytes)
		return -EINVAL;
	if (!len)
		return hold_nothing(ctx, off, mr);
	if (!ctx->held)
		ctx->held = calloc(ctx->create.cq_entries, sizeof(*ctx->held));
	if (!ctx->held)
		return -ENOMEM;
	ret = angara_mr_hold(ctx->dom, hold_address(*off), len, access, NULL, mr);
	if (!ret)
		*off -= (uintptr_t)(*mr)->addr;
	return ret;
}

/**
 * ang_hold_begin_nbi() - ang_hold_begin() if the queues have room for the
 * operations that the caller is about to post
 * @ctx: context
 * @n: operations
 * @inl: bytes of inline payload of the last operation
 * @op: options
 * @off: in: address; out: offset in @mr
 * @len: bytes
 * @access: ANGARA_ACCESS_*
 * @mr: out
 *
 * If the queues have no room, nothing is registered: the caller retries the
 * operation later.
 *
 * Return: as ang_hold_begin(), ang_room().
 */
int ang_hold_begin_nbi(struct angara_ctx *ctx, u32 n, size_t inl,
		       const struct angara_op *op, u64 *off, size_t len,
		       unsigned int access, struct angara_mr **mr)
{
	int ret = ang_room(ctx, n, inl, op);

	return ret ? ret : ang_hold_begin(ctx, off, len, access, mr);
}

/*
 * Return: the region if it belongs to the cache; NULL: it belongs to the
 * program, so operations do not hold it.
 */
static struct angara_mr *held_region(struct angara_mr *mr)
{
	return mr && mr->cached ? mr : NULL;
}

/**
 * ang_hold_posted() - attach held regions to a posted operation
 * @ctx: context
 * @wqe: the posted entry
 * @held: regions, or none
 * @ret: result of posting
 *
 * Return: @ret; if that is not 0 the regions are released.
 */
int ang_hold_posted(struct angara_ctx *ctx, const struct angara_wqe *wqe,
		    const struct ang_held *held, int ret)
{
	struct ang_held regions = {
		{ held_region(held->mr[0]), held_region(held->mr[1]) }
	};
	u32 number;

	if (ret) {
		ang_held_release(&regions);
	} else if (regions.mr[0] || regions.mr[1]) {
		number = (u32)le64_to_cpu(wqe->cookie);
		ctx->held[number] = regions;
		ctx->slots[number].kind |= ANG_SLOT_HOLDS;
	}
	return ret;
}

/**
 * ang_hold_post() - post an operation on a region that is held for it
 * @ctx: context
 * @ret: result of filling in @wqe; if not 0, nothing is posted
 * @wqe: queue entry of the operation
 * @data: payload
 * @len: bytes of @data
 * @op: options
 * @mr: region
 *
 * Return: @ret, or as ang_post(); if that is not 0 the region is released.
 */
int ang_hold_post(struct angara_ctx *ctx, int ret, struct angara_wqe *wqe,
		  const void *data, size_t len, const struct angara_op *op,
		  struct angara_mr *mr)
{
	const struct ang_held held = { { mr } };

	if (!ret)
		ret = ang_post(ctx, wqe, data, len, op);
	return ang_hold_posted(ctx, wqe, &held, ret);
}
