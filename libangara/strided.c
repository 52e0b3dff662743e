// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Transfers many elements of one length, at locations given by a stride or a
 * list: each element is one put or get, with as few doorbells as the queues
 * allow.
 *
 * Elements in memory that is not registered may lie far apart.  Short elements
 * are copied through memory of the context that is registered once; for each
 * longer element the operation holds a region, see hold.c.
 */
#include <errno.h>

#include "lib.h"

#define STAGE_BYTES	((size_t)256 << 10)
#define STAGE_ELEMENT	((size_t)16 << 10)	/* bytes of the longest element that is copied */

/**
 * struct places - locations of elements, on one side
 * @off: offset of the first element, with @stride
 * @stride: bytes from one element to the next, may be negative
 * @list: offset of each element; NULL: use @off and @stride
 */
struct places {
	u64 off;
	s64 stride;
	const uint64_t *list;
};

static u64 place_of(const struct places *p, size_t i)
{
	return p->list ? p->list[i] : p->off + (u64)p->stride * i;
}

/* Locations of the elements from @i on. */
static struct places places_from(const struct places *p, size_t i)
{
	return (struct places){
		.off = p->off + (u64)p->stride * i, .stride = p->stride,
		.list = p->list ? p->list + i : NULL,
	};
}

/**
 * struct elements - a transfer of elements
 * @peer: target
 * @key: region at the target
 * @there: locations in that region
 * @mr: local region; NULL: locations are addresses
 * @here: locations in @mr
 * @len: bytes of an element
 * @n: elements
 * @put: true: put; false: get
 */
struct elements {
	struct angara_peer peer;
	u64 key;
	struct places there;
	const struct angara_mr *mr;
	struct places here;
	size_t len;
	size_t n;
	bool put;
};

static int element_wqe(const struct angara_ctx *ctx, const struct elements *e,
		       u64 there, const struct angara_mr *mr, u64 here,
		       struct angara_wqe *wqe)
{
	return ang_rma_wqe(ctx, e->put ? ANGARA_OP_PUT : ANGARA_OP_GET, e->peer, e->key,
			   there, mr, here, e->len, wqe);
}

static int element_post(struct angara_ctx *ctx, const struct elements *e, size_t i,
			struct ang_blocked *b)
{
	u64 there = place_of(&e->there, i), here = place_of(&e->here, i);
	struct ang_held held = { { NULL } };
	struct angara_wqe wqe;
	int ret = 0;

	if (!e->mr)
		ret = ang_hold_begin(ctx, &here, e->len,
				     e->put ? 0 : ANGARA_ACCESS_LOCAL_WRITE,
				     &held.mr[0]);
	if (ret)
		return ret;
	element_wqe(ctx, e, there, e->mr ? e->mr : held.mr[0], here, &wqe);
	ret = ang_blocked_post(ctx, &wqe, NULL, 0, b);
	return ang_hold_posted(ctx, &wqe, &held, ret);
}

static int elements_post(struct angara_ctx *ctx, const struct elements *e)
{
	struct ang_blocked b = { 0 };
	int ret = 0, err;
	size_t i;

	for (i = 0; i < e->n && !ret; i++)
		ret = element_post(ctx, e, i, &b);
	err = ang_blocked_wait(ctx, &b);
	return ret ? ret : err;
}

static void *place_address(u64 place)
{
	return (void *)(uintptr_t)place;
}

/*
 * Transfers elements through the stage: as many at a time as fit there.
 * Elements of no bytes need no copy.
 */
static int elements_stage(struct angara_ctx *ctx, const struct elements *e)
{
	const size_t step = e->len ? STAGE_BYTES / e->len : e->n;
	size_t first, i;
	int ret = 0;

	if (!ctx->stage)
		ret = angara_malloc_access(ctx->dom, STAGE_BYTES,
					   ANGARA_ACCESS_LOCAL_WRITE,
					   &ctx->stage);
	for (first = 0; first < e->n && !ret; first += step) {
		char *stage = angara_mr_addr(ctx->stage);
		struct elements part = *e;

		part.mr = ctx->stage;
		part.here = (struct places){ .stride = (s64)e->len };
		part.there = places_from(&e->there, first);
		part.n = e->n - first < step ? e->n - first : step;
		for (i = 0; e->len && e->put && i < part.n; i++)
			memcpy(stage + i * e->len,
			       place_address(place_of(&e->here, first + i)), e->len);
		ret = elements_post(ctx, &part);
		for (i = 0; e->len && !e->put && !ret && i < part.n; i++)
			memcpy(place_address(place_of(&e->here, first + i)),
			       stage + i * e->len, e->len);
	}
	return ret;
}

/*
 * Checks the elements.  Return: 0; -EINVAL an element is outside of its region.
 */
static int elements_check(const struct angara_ctx *ctx, const struct elements *e)
{
	struct angara_wqe wqe;
	int ret = 0;
	size_t i;

	if (e->len > ctx->dom->query.max_op_bytes)
		return -EINVAL;
	for (i = 0; i < e->n && !ret; i++) {
		u64 here = place_of(&e->here, i);

		if (e->mr)
			ret = element_wqe(ctx, e, 0, e->mr, here, &wqe);
		else if (e->len && !here)
			ret = -EINVAL;
	}
	return ret;
}

/*
 * Checks all elements first: if the check fails, no element has been
 * transferred.
 */
static int elements_run(struct angara_ctx *ctx, const struct elements *e)
{
	int ret = elements_check(ctx, e);

	if (ret)
		return ret;
	if (!e->mr && e->n && e->len <= STAGE_ELEMENT)
		return elements_stage(ctx, e);
	return elements_post(ctx, e);
}

ANG_PUBLIC int angara_put_strided(struct angara_ctx *ctx,
				  struct angara_peer peer, uint64_t dst_key,
				  uint64_t dst_off, int64_t dst_stride,
				  const struct angara_mr *src, uint64_t src_off,
				  int64_t src_stride, size_t len, size_t n)
{
	const struct elements e = {
		.peer = peer, .key = dst_key,
		.there = { .off = dst_off, .stride = dst_stride },
		.mr = src, .here = { .off = src_off, .stride = src_stride },
		.len = len, .n = n, .put = true,
	};

	return elements_run(ctx, &e);
}

ANG_PUBLIC int angara_get_strided(struct angara_ctx *ctx,
				  struct angara_peer peer, uint64_t src_key,
				  uint64_t src_off, int64_t src_stride,
				  const struct angara_mr *dst, uint64_t dst_off,
				  int64_t dst_stride, size_t len, size_t n)
{
	const struct elements e = {
		.peer = peer, .key = src_key,
		.there = { .off = src_off, .stride = src_stride },
		.mr = dst, .here = { .off = dst_off, .stride = dst_stride },
		.len = len, .n = n,
	};

	return elements_run(ctx, &e);
}

ANG_PUBLIC int angara_put_indexed(struct angara_ctx *ctx,
				  struct angara_peer peer, uint64_t dst_key,
				  const uint64_t *dst_offs,
				  const struct angara_mr *src,
				  const uint64_t *src_offs, size_t len, size_t n)
{
	const struct elements e = {
		.peer = peer, .key = dst_key, .there = { .list = dst_offs },
		.mr = src, .here = { .list = src_offs },
		.len = len, .n = n, .put = true,
	};

	return n && (!dst_offs || !src_offs) ? -EINVAL : elements_run(ctx, &e);
}

ANG_PUBLIC int angara_get_indexed(struct angara_ctx *ctx,
				  struct angara_peer peer, uint64_t src_key,
				  const uint64_t *src_offs,
				  const struct angara_mr *dst,
				  const uint64_t *dst_offs, size_t len, size_t n)
{
	const struct elements e = {
		.peer = peer, .key = src_key, .there = { .list = src_offs },
		.mr = dst, .here = { .list = dst_offs },
		.len = len, .n = n,
	};

	return n && (!dst_offs || !src_offs) ? -EINVAL : elements_run(ctx, &e);
}
