// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Atomic operations.  Operands are copied into the queue entry, so they may be
 * anywhere in memory, and may change as soon as the call returns.
 */
#include <errno.h>

#include "ang_model.h"
#include "lib.h"

ANG_PUBLIC int angara_atomic_valid(unsigned int op, unsigned int type)
{
	return ang_atomic_valid(op, type);
}

/**
 * struct atomic_args - arguments of an atomic operation
 * @peer: target
 * @key: region at the target
 * @off: offset in it
 * @x: operand
 * @y: second operand, or NULL
 * @count: elements
 * @type: type of the elements, ANGARA_TYPE_*
 * @op: ANGARA_ATOMIC_*
 * @old: destination of the old values, or NULL
 * @old_off: offset in @old; without @old an address, or 0
 */
struct atomic_args {
	struct angara_peer peer;
	u64 key;
	u64 off;
	const void *x;
	const void *y;
	size_t count;
	unsigned int type;
	unsigned int op;
	const struct angara_mr *old;
	u64 old_off;
};

/*
 * Fills in the queue entry, and copies all operands to @operands.
 * Return: bytes of the operands; -EINVAL; -ENOTSUP.
 */
static int atomic_wqe(const struct angara_ctx *ctx, const struct atomic_args *d,
		      struct angara_wqe *wqe, char *operands)
{
	size_t each = (d->x ? 1 : 0) + (d->y ? 1 : 0);
	size_t max = ANGARA_MAX_ATOMIC / (each ? each : 1);
	size_t len;

	*wqe = (struct angara_wqe){
		.opcode = d->old ? ANGARA_OP_FETCH : ANGARA_OP_ATOMIC,
		.flags = ANGARA_WQE_INLINE,
		.redop = (u8)d->op,
		.type = (u8)d->type,
		.dst_ctx = cpu_to_le16(d->peer.ctx),
		.dst_node = cpu_to_le32(d->peer.node),
		.rkey = cpu_to_le64(d->key),
		.roff = cpu_to_le64(d->off),
	};
	if (!ang_atomic_valid(d->op, d->type) || !d->count ||
	    d->count > max / ang_type_size(d->type))
		return -EINVAL;
	if (!(ctx->dom->query.caps & ANGARA_CAP_MSG))
		return -ENOTSUP;
	len = d->count * ang_type_size(d->type);
	if (d->old && !ang_mr_fits(ctx, d->old, d->old_off, len))
		return -EINVAL;
	if (d->x)
		memcpy(operands, d->x, len);
	if (d->y)
		memcpy(operands + len, d->y, len);
	if (d->old) {
		wqe->aux_key = cpu_to_le32(ANG_MR_SLOT(d->old->key));
		wqe->aux = cpu_to_le64(d->old_off);
	}
	wqe->length = cpu_to_le32(len);
	return (int)(each * len);
}

static int atomic_post(struct angara_ctx *ctx, const struct atomic_args *d,
		       const struct angara_op *op)
{
	char operands[ANGARA_MAX_ATOMIC];
	struct angara_wqe wqe;
	int len = atomic_wqe(ctx, d, &wqe, operands);

	return len < 0 ? len : ang_post(ctx, &wqe, operands, (size_t)len, op);
}

/* Posts an operation whose old values go to unregistered memory at @old_off. */
static int atomic_post_held(struct angara_ctx *ctx, struct atomic_args *d,
			    const struct angara_op *op)
{
	char operands[ANGARA_MAX_ATOMIC];
	struct angara_wqe wqe;
	struct angara_mr *mr;
	int len = atomic_wqe(ctx, d, &wqe, operands);
	int ret;

	if (len < 0)
		return len;
	ret = ang_hold_begin_nbi(ctx, 1, (size_t)len, op, &d->old_off,
				 le32_to_cpu(wqe.length),
				 ANGARA_ACCESS_LOCAL_WRITE, &mr);
	if (ret)
		return ret;
	d->old = mr;
	len = atomic_wqe(ctx, d, &wqe, operands);
	return ang_hold_post(ctx, 0, &wqe, operands, (size_t)len, op, mr);
}

static int atomic_run(struct angara_ctx *ctx, const struct atomic_args *d)
{
	char operands[ANGARA_MAX_ATOMIC];
	struct angara_wqe wqe;
	int len = atomic_wqe(ctx, d, &wqe, operands);

	return len < 0 ? len : ang_post_wait(ctx, &wqe, operands, (size_t)len);
}

static bool is_plain(const struct atomic_args *d)
{
	return d->op <= ANGARA_ATOMIC_WRITE && d->op != ANGARA_ATOMIC_READ && d->x;
}

static bool is_fetch(const struct atomic_args *d)
{
	return d->op <= ANGARA_ATOMIC_WRITE &&
	       (d->x || d->op == ANGARA_ATOMIC_READ);
}

static bool is_compare(const struct atomic_args *d)
{
	return d->op >= ANGARA_ATOMIC_CSWAP && d->x && d->y;
}

ANG_PUBLIC int angara_atomic_nbi(struct angara_ctx *ctx,
				 struct angara_peer peer, uint64_t dst_key,
				 uint64_t dst_off, const void *x, size_t count,
				 unsigned int type, unsigned int op,
				 const struct angara_op *how)
{
	const struct atomic_args d = {
		.peer = peer, .key = dst_key, .off = dst_off, .x = x,
		.count = count, .type = type, .op = op,
	};

	return is_plain(&d) ? atomic_post(ctx, &d, how) : -EINVAL;
}

ANG_PUBLIC int angara_atomic(struct angara_ctx *ctx, struct angara_peer peer,
			     uint64_t dst_key, uint64_t dst_off, const void *x,
			     size_t count, unsigned int type, unsigned int op)
{
	const struct atomic_args d = {
		.peer = peer, .key = dst_key, .off = dst_off, .x = x,
		.count = count, .type = type, .op = op,
	};

	return is_plain(&d) ? atomic_run(ctx, &d) : -EINVAL;
}

ANG_PUBLIC int angara_fetch_nbi(struct angara_ctx *ctx,
				struct angara_peer peer, uint64_t dst_key,
				uint64_t dst_off, const void *x, size_t count,
				unsigned int type, unsigned int op,
				const struct angara_mr *old, uint64_t old_off,
				const struct angara_op *how)
{
	struct atomic_args d = {
		.peer = peer, .key = dst_key, .off = dst_off,
		.x = op == ANGARA_ATOMIC_READ ? NULL : x, .count = count,
		.type = type, .op = op, .old = old, .old_off = old_off,
	};

	if (!is_fetch(&d) || (!old && !old_off))
		return -EINVAL;
	return old ? atomic_post(ctx, &d, how) : atomic_post_held(ctx, &d, how);
}

/*
 * Waits for the old values, which arrive in memory of the context, and copies
 * them to the caller's memory.
 */
static int atomic_fetch(struct angara_ctx *ctx, struct atomic_args *d, void *old)
{
	int ret = ang_scratch(ctx, &d->old);

	if (ret)
		return ret;
	ret = atomic_run(ctx, d);
	if (!ret)
		memcpy(old, d->old->addr, d->count * ang_type_size(d->type));
	return ret;
}

ANG_PUBLIC int angara_fetch(struct angara_ctx *ctx, struct angara_peer peer,
			    uint64_t dst_key, uint64_t dst_off, const void *x,
			    size_t count, unsigned int type, unsigned int op,
			    void *old)
{
	struct atomic_args d = {
		.peer = peer, .key = dst_key, .off = dst_off,
		.x = op == ANGARA_ATOMIC_READ ? NULL : x, .count = count,
		.type = type, .op = op,
	};

	return is_fetch(&d) && old ? atomic_fetch(ctx, &d, old) : -EINVAL;
}

ANG_PUBLIC int angara_compare_nbi(struct angara_ctx *ctx,
				  struct angara_peer peer, uint64_t dst_key,
				  uint64_t dst_off, const void *x, const void *y,
				  size_t count, unsigned int type,
				  unsigned int op, const struct angara_mr *old,
				  uint64_t old_off, const struct angara_op *how)
{
	struct atomic_args d = {
		.peer = peer, .key = dst_key, .off = dst_off, .x = x, .y = y,
		.count = count, .type = type, .op = op, .old = old,
		.old_off = old_off,
	};

	if (!is_compare(&d))
		return -EINVAL;
	return old || !old_off ? atomic_post(ctx, &d, how) :
				 atomic_post_held(ctx, &d, how);
}

ANG_PUBLIC int angara_compare(struct angara_ctx *ctx, struct angara_peer peer,
			      uint64_t dst_key, uint64_t dst_off, const void *x,
			      const void *y, size_t count, unsigned int type,
			      unsigned int op, void *old)
{
	struct atomic_args d = {
		.peer = peer, .key = dst_key, .off = dst_off, .x = x, .y = y,
		.count = count, .type = type, .op = op,
	};

	if (!is_compare(&d))
		return -EINVAL;
	return old ? atomic_fetch(ctx, &d, old) : atomic_run(ctx, &d);
}
