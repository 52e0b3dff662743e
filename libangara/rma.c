// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One-sided operations: put and get.
 *
 * What is wrong with the local side is told here, at once; what is wrong at
 * the target the adapter finds out, and the completion tells.
 */
#include <errno.h>

#include "lib.h"

/* Return: 0; -EINVAL there is no such counter. */
int ang_set_notify(struct angara_wqe *wqe, int notify)
{
	if (notify == ANGARA_NO_NOTIFY)
		return 0;
	if (notify < 0 || notify >= ANGARA_CTR_USER_NUM)
		return -EINVAL;
	wqe->flags |= ANGARA_WQE_NOTIFY;
	wqe->counter = cpu_to_le16(notify);
	return 0;
}

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

ANG_PUBLIC int angara_put_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			      uint32_t dst_key, uint64_t dst_off,
			      const struct angara_mr *src, uint64_t src_off,
			      size_t len, int notify, angara_req_t *req)
{
	struct angara_wqe wqe = rma_wqe(ANGARA_OP_PUT, peer, len);

	if (len > ctx->query.max_op_bytes || !ang_mr_fits(ctx, src, src_off, len) ||
	    ang_set_notify(&wqe, notify))
		return -EINVAL;
	wqe.rkey = cpu_to_le64(dst_key);
	wqe.roff = cpu_to_le64(dst_off);
	wqe.lkey = cpu_to_le32(src->key);
	wqe.loff = cpu_to_le64(src_off);
	return ang_post(ctx, &wqe, NULL, 0, req);
}

ANG_PUBLIC int angara_put_inline(struct angara_ctx *ctx,
				 struct angara_peer peer, uint32_t dst_key,
				 uint64_t dst_off, const void *data, size_t len,
				 int notify, angara_req_t *req)
{
	struct angara_wqe wqe = rma_wqe(ANGARA_OP_PUT, peer, len);

	if (len > ANGARA_MAX_INLINE || ang_set_notify(&wqe, notify))
		return -EINVAL;
	wqe.flags |= ANGARA_WQE_INLINE;
	wqe.rkey = cpu_to_le64(dst_key);
	wqe.roff = cpu_to_le64(dst_off);
	return ang_post(ctx, &wqe, data, len, req);
}

ANG_PUBLIC int angara_get_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			      uint32_t src_key, uint64_t src_off,
			      const struct angara_mr *dst, uint64_t dst_off,
			      size_t len, int notify, angara_req_t *req)
{
	struct angara_wqe wqe = rma_wqe(ANGARA_OP_GET, peer, len);

	if (len > ctx->query.max_op_bytes || !ang_mr_fits(ctx, dst, dst_off, len) ||
	    ang_set_notify(&wqe, notify))
		return -EINVAL;
	wqe.rkey = cpu_to_le64(src_key);
	wqe.roff = cpu_to_le64(src_off);
	wqe.lkey = cpu_to_le32(dst->key);
	wqe.loff = cpu_to_le64(dst_off);
	return ang_post(ctx, &wqe, NULL, 0, req);
}
