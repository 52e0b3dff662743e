// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One-sided operations: put and get.
 *
 * Errors in local arguments are returned at once.  The adapter checks the
 * target, and reports its errors in the completion.
 */
#include <errno.h>

#include "lib.h"

static struct angara_wqe rma_wqe(unsigned int op, struct angara_peer peer, u64 key,
				 u64 off, size_t len)
{
	return (struct angara_wqe){
		.opcode = (u8)op,
		.dst_ctx = cpu_to_le16(peer.ctx),
		.dst_node = cpu_to_le32(peer.node),
		.length = cpu_to_le32(len),
		.rkey = cpu_to_le64(key),
		.roff = cpu_to_le64(off),
	};
}

/**
 * ang_rma_wqe() - fill in the queue entry of a put or get
 * @ctx: context
 * @op: ANGARA_OP_PUT or ANGARA_OP_GET
 * @peer: target
 * @key: key of the target's region
 * @off: offset in it
 * @mr: local region
 * @loff: offset in @mr
 * @len: bytes
 * @wqe: out
 *
 * Return: 0; -EINVAL @len is too long, or @mr does not have these bytes.
 */
int ang_rma_wqe(const struct angara_ctx *ctx, unsigned int op, struct angara_peer peer,
		u64 key, u64 off, const struct angara_mr *mr, u64 loff, size_t len,
		struct angara_wqe *wqe)
{
	*wqe = rma_wqe(op, peer, key, off, len);
	if (len > ctx->dom->query.max_op_bytes || !ang_mr_fits(ctx, mr, loff, len))
		return -EINVAL;
	wqe->lkey = cpu_to_le32(ANG_MR_SLOT(mr->key));
	wqe->loff = cpu_to_le64(loff);
	return 0;
}

int ang_inline_wqe(struct angara_peer peer, u64 dst_key, u64 dst_off,
		   const void *data, size_t len, struct angara_wqe *wqe)
{
	*wqe = rma_wqe(ANGARA_OP_PUT, peer, dst_key, dst_off, len);
	if (len > ANGARA_MAX_INLINE || (len && !data))
		return -EINVAL;
	wqe->flags |= ANGARA_WQE_INLINE;
	return 0;
}

/* Rights that an operation needs on its local region. */
static unsigned int local_access(unsigned int op)
{
	return op == ANGARA_OP_GET ? ANGARA_ACCESS_LOCAL_WRITE : 0;
}

/* Starts an operation on unregistered memory: @addr is its address. */
static int rma_held_nbi(struct angara_ctx *ctx, unsigned int what, struct angara_peer peer,
			u64 key, u64 off, u64 addr, size_t len, const struct angara_op *op)
{
	struct angara_wqe wqe;
	struct angara_mr *mr;
	int ret;

	if (what == ANGARA_OP_PUT && len <= ANGARA_MAX_INLINE)
		return angara_put_inline_nbi(ctx, peer, key, off,
					     (const void *)(uintptr_t)addr, len, op);
	ret = ang_hold_begin_nbi(ctx, 1, 0, op, &addr, len, local_access(what), &mr);
	if (ret)
		return ret;
	ret = ang_rma_wqe(ctx, what, peer, key, off, mr, addr, len, &wqe);
	return ang_hold_post(ctx, ret, &wqe, NULL, 0, op, mr);
}

/* As rma_held_nbi(), and waits until the operation is complete. */
static int rma_held(struct angara_ctx *ctx, unsigned int what, struct angara_peer peer,
		    u64 key, u64 off, u64 addr, size_t len)
{
	struct angara_wqe wqe;
	struct angara_mr *mr;
	int ret;

	if (what == ANGARA_OP_PUT && len <= ANGARA_MAX_INLINE)
		return angara_put_inline(ctx, peer, key, off,
					 (const void *)(uintptr_t)addr, len);
	ret = ang_hold_begin(ctx, &addr, len, local_access(what), &mr);
	if (ret)
		return ret;
	ret = ang_rma_wqe(ctx, what, peer, key, off, mr, addr, len, &wqe);
	if (!ret)
		ret = ang_post_wait(ctx, &wqe, NULL, 0);
	angara_mr_release(mr);
	return ret;
}

static inline int rma_nbi(struct angara_ctx *ctx, unsigned int what, struct angara_peer peer,
		   u64 key, u64 off, const struct angara_mr *mr, u64 loff, size_t len,
		   const struct angara_op *op)
{
	struct angara_wqe wqe;
	int ret = ang_rma_wqe(ctx, what, peer, key, off, mr, loff, len, &wqe);

	if (ret && !mr)
		return rma_held_nbi(ctx, what, peer, key, off, loff, len, op);
	return ret ? ret : ang_post(ctx, &wqe, NULL, 0, op);
}

static inline int rma_wait(struct angara_ctx *ctx, unsigned int what, struct angara_peer peer,
		    u64 key, u64 off, const struct angara_mr *mr, u64 loff, size_t len)
{
	struct angara_wqe wqe;
	int ret = ang_rma_wqe(ctx, what, peer, key, off, mr, loff, len, &wqe);

	if (ret && !mr)
		return rma_held(ctx, what, peer, key, off, loff, len);
	return ret ? ret : ang_post_wait(ctx, &wqe, NULL, 0);
}

ANG_PUBLIC int angara_put_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			      uint64_t dst_key, uint64_t dst_off,
			      const struct angara_mr *src, uint64_t src_off,
			      size_t len, const struct angara_op *op)
{
	return rma_nbi(ctx, ANGARA_OP_PUT, peer, dst_key, dst_off, src, src_off, len, op);
}

ANG_PUBLIC int angara_put(struct angara_ctx *ctx, struct angara_peer peer,
			  uint64_t dst_key, uint64_t dst_off,
			  const struct angara_mr *src, uint64_t src_off,
			  size_t len)
{
	return rma_wait(ctx, ANGARA_OP_PUT, peer, dst_key, dst_off, src, src_off, len);
}

ANG_PUBLIC int angara_put_inline_nbi(struct angara_ctx *ctx,
				     struct angara_peer peer, uint64_t dst_key,
				     uint64_t dst_off, const void *data,
				     size_t len, const struct angara_op *op)
{
	struct angara_wqe wqe;
	int ret = ang_inline_wqe(peer, dst_key, dst_off, data, len, &wqe);

	return ret ? ret : ang_post(ctx, &wqe, data, len, op);
}

ANG_PUBLIC int angara_put_inline(struct angara_ctx *ctx,
				 struct angara_peer peer, uint64_t dst_key,
				 uint64_t dst_off, const void *data, size_t len)
{
	struct angara_wqe wqe;
	int ret = ang_inline_wqe(peer, dst_key, dst_off, data, len, &wqe);

	return ret ? ret : ang_post_wait(ctx, &wqe, data, len);
}

ANG_PUBLIC int angara_get_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			      uint64_t src_key, uint64_t src_off,
			      const struct angara_mr *dst, uint64_t dst_off,
			      size_t len, const struct angara_op *op)
{
	return rma_nbi(ctx, ANGARA_OP_GET, peer, src_key, src_off, dst, dst_off, len, op);
}

ANG_PUBLIC int angara_get(struct angara_ctx *ctx, struct angara_peer peer,
			  uint64_t src_key, uint64_t src_off,
			  const struct angara_mr *dst, uint64_t dst_off,
			  size_t len)
{
	return rma_wait(ctx, ANGARA_OP_GET, peer, src_key, src_off, dst, dst_off, len);
}

ANG_PUBLIC int angara_get_inline(struct angara_ctx *ctx,
				 struct angara_peer peer, uint64_t src_key,
				 uint64_t src_off, void *data, size_t len)
{
	const struct angara_mr *mr;
	struct angara_wqe wqe;
	int ret;

	if (len > ANGARA_MAX_INLINE || (len && !data))
		return -EINVAL;
	ret = ang_scratch(ctx, &mr);
	if (!ret)
		ret = ang_rma_wqe(ctx, ANGARA_OP_GET, peer, src_key, src_off, mr, 0, len,
				  &wqe);
	if (!ret)
		ret = ang_post_wait(ctx, &wqe, NULL, 0);
	if (!ret && len)
		memcpy(data, mr->addr, len);
	return ret;
}
