// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Many elements of one length, at places that a stride or a list gives: a put or
 * get of each, with as few doorbells as the queues allow.
 */
#include <errno.h>

#include "lib.h"

/**
 * struct places - where elements are, on one side
 * @off: of the first, with @stride
 * @stride: bytes from one to the next, which may be negative
 * @list: offset of each, or NULL
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

/**
 * struct elements - what is moved
 * @peer: target
 * @key: region there
 * @there: places in it
 * @mr: region here
 * @here: places in it
 * @len: bytes of an element
 * @n: elements
 * @put: they go there
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
		       size_t i, struct angara_wqe *wqe)
{
	u64 there = place_of(&e->there, i), here = place_of(&e->here, i);

	if (e->put)
		return ang_put_wqe(ctx, e->peer, e->key, there, e->mr, here,
				   e->len, wqe);
	return ang_get_wqe(ctx, e->peer, e->key, there, e->mr, here, e->len,
			   wqe);
}

/* What is wrong here is told before anything is started. */
static int elements_run(struct angara_ctx *ctx, const struct elements *e)
{
	struct ang_blocked b = { 0 };
	struct angara_wqe wqe;
	int ret = 0, err;
	size_t i;

	for (i = 0; i < e->n && !ret; i++)
		ret = element_wqe(ctx, e, i, &wqe);
	if (ret)
		return ret;
	for (i = 0; i < e->n && !ret; i++) {
		element_wqe(ctx, e, i, &wqe);
		ret = ang_blocked_post(ctx, &wqe, NULL, 0, &b);
	}
	err = ang_blocked_wait(ctx, &b);
	return ret ? ret : err;
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
