// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One-sided operations: put and get.
 *
 * Errors in local arguments are returned at once.  The adapter checks the
 * target, and reports its errors in the completion.
 */
#include <errno.h>

#include "lib.h"

static struct angara_wqe rma_wqe(unsigned int op, struct angara_peer peer,
				 size_t len)
{
	return (struct angara_wqe){
		.opcode = (u8)op,
		.dst_ctx = cpu_to_le16(peer.ctx),
		.dst_node = cpu_to_le32(peer.node),
		.length = cpu_to_le32(len),
	};
}

int ang_put_wqe(const struct angara_ctx *ctx, struct angara_peer peer,
		   u64 dst_key, u64 dst_off, const struct angara_mr *src,
		   u64 src_off, size_t len, struct angara_wqe *wqe)
{
	*wqe = rma_wqe(ANGARA_OP_PUT, peer, len);
	if (len > ctx->dom->query.max_op_bytes || !ang_mr_fits(ctx, src, src_off, len))
		return -EINVAL;
	wqe->lkey = cpu_to_le32(ANG_MR_SLOT(src->key));
	wqe->loff = cpu_to_le64(src_off);
	wqe->rkey = cpu_to_le64(dst_key);
	wqe->roff = cpu_to_le64(dst_off);
	return 0;
}

int ang_get_wqe(const struct angara_ctx *ctx, struct angara_peer peer,
		   u64 src_key, u64 src_off, const struct angara_mr *dst,
		   u64 dst_off, size_t len, struct angara_wqe *wqe)
{
	*wqe = rma_wqe(ANGARA_OP_GET, peer, len);
	if (len > ctx->dom->query.max_op_bytes || !ang_mr_fits(ctx, dst, dst_off, len))
		return -EINVAL;
	wqe->rkey = cpu_to_le64(src_key);
	wqe->roff = cpu_to_le64(src_off);
	wqe->lkey = cpu_to_le32(ANG_MR_SLOT(dst->key));
	wqe->loff = cpu_to_le64(dst_off);
	return 0;
}

int ang_inline_wqe(struct angara_peer peer, u64 dst_key, u64 dst_off,
		      const void *data, size_t len, struct angara_wqe *wqe)
{
	*wqe = rma_wqe(ANGARA_OP_PUT, peer, len);
	if (len > ANGARA_MAX_INLINE || (len && !data))
		return -EINVAL;
	wqe->flags |= ANGARA_WQE_INLINE;
	wqe->rkey = cpu_to_le64(dst_key);
	wqe->roff = cpu_to_le64(dst_off);
	return 0;
}

static int hold_put_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		     u64 dst_key, u64 dst_off, u64 src, size_t len,
		     const struct angara_op *op)
{
	struct angara_wqe wqe;
	struct angara_mr *mr;
	int ret;

	if (len <= ANGARA_MAX_INLINE)
		return angara_put_inline_nbi(ctx, peer, dst_key, dst_off,
					     (const void *)(uintptr_t)src, len, op);
	ret = ang_hold_begin_nbi(ctx, 1, 0, op, &src, len, 0, &mr);
	if (ret)
		return ret;
	ret = ang_put_wqe(ctx, peer, dst_key, dst_off, mr, src, len, &wqe);
	return ang_hold_post(ctx, ret, &wqe, NULL, 0, op, mr);
}

static int hold_put(struct angara_ctx *ctx, struct angara_peer peer, u64 dst_key,
		 u64 dst_off, u64 src, size_t len)
{
	struct angara_mr *mr;
	int ret;

	if (len <= ANGARA_MAX_INLINE)
		return angara_put_inline(ctx, peer, dst_key, dst_off,
					 (const void *)(uintptr_t)src, len);
	ret = ang_hold_begin(ctx, &src, len, 0, &mr);
	if (ret)
		return ret;
	ret = angara_put(ctx, peer, dst_key, dst_off, mr, src, len);
	angara_mr_release(mr);
	return ret;
}

static int hold_get_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		     u64 src_key, u64 src_off, u64 dst, size_t len,
		     const struct angara_op *op)
{
	struct angara_wqe wqe;
	struct angara_mr *mr;
	int ret = ang_hold_begin_nbi(ctx, 1, 0, op, &dst, len,
				     ANGARA_ACCESS_LOCAL_WRITE, &mr);

	if (ret)
		return ret;
	ret = ang_get_wqe(ctx, peer, src_key, src_off, mr, dst, len, &wqe);
	return ang_hold_post(ctx, ret, &wqe, NULL, 0, op, mr);
}

static int hold_get(struct angara_ctx *ctx, struct angara_peer peer, u64 src_key,
		 u64 src_off, u64 dst, size_t len)
{
	struct angara_mr *mr;
	int ret = ang_hold_begin(ctx, &dst, len, ANGARA_ACCESS_LOCAL_WRITE, &mr);

	if (ret)
		return ret;
	ret = angara_get(ctx, peer, src_key, src_off, mr, dst, len);
	angara_mr_release(mr);
	return ret;
}

ANG_PUBLIC int angara_put_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			      uint64_t dst_key, uint64_t dst_off,
			      const struct angara_mr *src, uint64_t src_off,
			      size_t len, const struct angara_op *op)
{
	struct angara_wqe wqe;
	int ret = ang_put_wqe(ctx, peer, dst_key, dst_off, src, src_off, len, &wqe);

	if (ret && !src)
		return hold_put_nbi(ctx, peer, dst_key, dst_off, src_off,
					len, op);
	return ret ? ret : ang_post(ctx, &wqe, NULL, 0, op);
}

ANG_PUBLIC int angara_put(struct angara_ctx *ctx, struct angara_peer peer,
			  uint64_t dst_key, uint64_t dst_off,
			  const struct angara_mr *src, uint64_t src_off,
			  size_t len)
{
	struct angara_wqe wqe;
	int ret = ang_put_wqe(ctx, peer, dst_key, dst_off, src, src_off, len, &wqe);

	if (ret && !src)
		return hold_put(ctx, peer, dst_key, dst_off, src_off, len);
	return ret ? ret : ang_post_wait(ctx, &wqe, NULL, 0);
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
	struct angara_wqe wqe;
	int ret = ang_get_wqe(ctx, peer, src_key, src_off, dst, dst_off, len, &wqe);

	if (ret && !dst)
		return hold_get_nbi(ctx, peer, src_key, src_off, dst_off,
					len, op);
	return ret ? ret : ang_post(ctx, &wqe, NULL, 0, op);
}

ANG_PUBLIC int angara_get(struct angara_ctx *ctx, struct angara_peer peer,
			  uint64_t src_key, uint64_t src_off,
			  const struct angara_mr *dst, uint64_t dst_off,
			  size_t len)
{
	struct angara_wqe wqe;
	int ret = ang_get_wqe(ctx, peer, src_key, src_off, dst, dst_off, len, &wqe);

	if (ret && !dst)
		return hold_get(ctx, peer, src_key, src_off, dst_off, len);
	return ret ? ret : ang_post_wait(ctx, &wqe, NULL, 0);
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
		ret = ang_get_wqe(ctx, peer, src_key, src_off, mr, 0, len, &wqe);
	if (!ret)
		ret = ang_post_wait(ctx, &wqe, NULL, 0);
	if (!ret && len)
		memcpy(data, mr->addr, len);
	return ret;
}
