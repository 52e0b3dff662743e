// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Atomic operations.  Operands go with the queue entry, so they may lie
 * anywhere, and be changed at once.
 */
#include <errno.h>

#include "ang_model.h"
#include "lib.h"

ANG_PUBLIC int angara_atomic_valid(unsigned int op, unsigned int type)
{
	return ang_atomic_valid(op, type);
}

/**
 * struct deed - an atomic operation, as it is asked for
 * @peer: target
 * @key: region there
 * @off: offset in it
 * @x: operand
 * @y: second operand, or NULL
 * @count: elements
 * @type: of these
 * @op: ANGARA_ATOMIC_*
 * @old: where what was there goes, or NULL
 * @old_off: offset in it
 * @notify: counter at the target, or ANGARA_NO_NOTIFY
 */
struct deed {
	struct angara_peer peer;
	u32 key;
	u64 off;
	const void *x;
	const void *y;
	size_t count;
	unsigned int type;
	unsigned int op;
	const struct angara_mr *old;
	u64 old_off;
	int notify;
};

static int deed_post(struct angara_ctx *ctx, const struct deed *d,
		     angara_req_t *req)
{
	struct angara_wqe wqe = {
		.opcode = d->old ? ANGARA_OP_FETCH : ANGARA_OP_ATOMIC,
		.flags = ANGARA_WQE_INLINE,
		.redop = (u8)d->op,
		.type = (u8)d->type,
		.dst_ctx = cpu_to_le16(d->peer.ctx),
		.dst_node = cpu_to_le32(d->peer.node),
		.rkey = cpu_to_le64(d->key),
		.roff = cpu_to_le64(d->off),
	};
	char operands[ANGARA_MAX_ATOMIC];
	size_t each = (d->x ? 1 : 0) + (d->y ? 1 : 0);
	size_t max = ANGARA_MAX_ATOMIC / (each ? each : 1);
	size_t len;

	if (!ang_atomic_valid(d->op, d->type) || !d->count ||
	    d->count > max / ang_type_size(d->type))
		return -EINVAL;
	if (!(ctx->query.caps & ANGARA_CAP_MSG))
		return -ENOTSUP;
	len = d->count * ang_type_size(d->type);
	if (d->old && !ang_mr_fits(ctx, d->old, d->old_off, len))
		return -EINVAL;
	if (d->x)
		memcpy(operands, d->x, len);
	if (d->y)
		memcpy(operands + len, d->y, len);
	if (d->old) {
		wqe.aux_key = cpu_to_le32(d->old->key);
		wqe.aux = cpu_to_le64(d->old_off);
	}
	if (ang_set_notify(&wqe, d->notify))
		return -EINVAL;
	wqe.length = cpu_to_le32(len);
	return ang_post(ctx, &wqe, operands, each * len, req);
}

ANG_PUBLIC int angara_atomic_nbi(struct angara_ctx *ctx,
				 struct angara_peer peer, uint32_t dst_key,
				 uint64_t dst_off, const void *x, size_t count,
				 unsigned int type, unsigned int op, int notify,
				 angara_req_t *req)
{
	struct deed d = {
		.peer = peer, .key = dst_key, .off = dst_off, .x = x,
		.count = count, .type = type, .op = op, .notify = notify,
	};

	if (op > ANGARA_ATOMIC_WRITE || op == ANGARA_ATOMIC_READ || !x)
		return -EINVAL;
	return deed_post(ctx, &d, req);
}

ANG_PUBLIC int angara_fetch_nbi(struct angara_ctx *ctx,
				struct angara_peer peer, uint32_t dst_key,
				uint64_t dst_off, const void *x, size_t count,
				unsigned int type, unsigned int op,
				const struct angara_mr *old, uint64_t old_off,
				int notify, angara_req_t *req)
{
	bool reads = op == ANGARA_ATOMIC_READ;
	struct deed d = {
		.peer = peer, .key = dst_key, .off = dst_off,
		.x = reads ? NULL : x, .count = count, .type = type, .op = op,
		.old = old, .old_off = old_off, .notify = notify,
	};

	if (op > ANGARA_ATOMIC_WRITE || !old || (!x && !reads))
		return -EINVAL;
	return deed_post(ctx, &d, req);
}

ANG_PUBLIC int angara_compare_nbi(struct angara_ctx *ctx,
				  struct angara_peer peer, uint32_t dst_key,
				  uint64_t dst_off, const void *x, const void *y,
				  size_t count, unsigned int type,
				  unsigned int op, const struct angara_mr *old,
				  uint64_t old_off, int notify,
				  angara_req_t *req)
{
	struct deed d = {
		.peer = peer, .key = dst_key, .off = dst_off, .x = x, .y = y,
		.count = count, .type = type, .op = op, .old = old,
		.old_off = old_off, .notify = notify,
	};

	if (op < ANGARA_ATOMIC_CSWAP || !x || !y)
		return -EINVAL;
	return deed_post(ctx, &d, req);
}
