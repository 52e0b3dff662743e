// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Put with signal: writes data, then sets a 64-bit word at the same target or
 * adds to it.  The adapter executes both in order, after one doorbell.  Only
 * the signal has a completion; if the put fails, this completion has the error
 * of the put.
 */
#include <errno.h>

#include "lib.h"

static int signal_wqe(struct angara_peer peer, const struct angara_signal *sig,
		      struct angara_wqe *wqe)
{
	struct angara_signal s;
	int ret = ang_sized_take(&s, sizeof(s), sig,
				 ANG_SIZED_FIRST(angara_signal, value));

	if (ret || s.op > ANGARA_SIGNAL_ADD)
		return ret ? ret : -EINVAL;
	*wqe = (struct angara_wqe){
		.opcode = ANGARA_OP_ATOMIC,
		.flags = ANGARA_WQE_INLINE | ANGARA_WQE_FENCE,
		.redop = s.op == ANGARA_SIGNAL_SET ? ANGARA_ATOMIC_WRITE :
						     ANGARA_ATOMIC_SUM,
		.type = ANGARA_TYPE_UINT64,
		.dst_ctx = cpu_to_le16(peer.ctx),
		.dst_node = cpu_to_le32(peer.node),
		.length = cpu_to_le32(sizeof(s.value)),
		.rkey = cpu_to_le64(s.key),
		.roff = cpu_to_le64(s.off),
	};
	return 0;
}

/* Starts a put with signal whose data is in unregistered memory. */
static int held_nbi(struct angara_ctx *ctx, struct angara_peer peer, u64 dst_key,
		    u64 dst_off, u64 src, size_t len,
		    const struct angara_signal *sig, const struct angara_op *op)
{
	struct ang_held held = { { NULL } };
	struct angara_wqe put, signal;
	int ret;

	if (len <= ANGARA_MAX_INLINE)
		return angara_put_signal_inline_nbi(ctx, peer, dst_key, dst_off,
						    (void *)(uintptr_t)src, len,
						    sig, op);
	ret = ang_hold_begin_nbi(ctx, 2, sizeof(sig->value), op, &src, len, 0,
				 &held.mr[0]);
	if (ret)
		return ret;
	signal_wqe(peer, sig, &signal);
	ret = ang_rma_wqe(ctx, ANGARA_OP_PUT, peer, dst_key, dst_off, held.mr[0], src,
			  len, &put);
	if (!ret)
		ret = ang_post_two(ctx, &put, NULL, 0, &signal, &sig->value,
				   sizeof(sig->value), op);
	return ang_hold_posted(ctx, &put, &held, ret);
}

static int signal_held(struct angara_ctx *ctx, struct angara_peer peer, u64 dst_key,
		       u64 dst_off, u64 src, size_t len, const struct angara_signal *sig)
{
	struct angara_mr *mr;
	int ret;

	if (len <= ANGARA_MAX_INLINE)
		return angara_put_signal_inline(ctx, peer, dst_key, dst_off,
						(void *)(uintptr_t)src, len, sig);
	ret = ang_hold_begin(ctx, &src, len, 0, &mr);
	if (ret)
		return ret;
	ret = angara_put_signal(ctx, peer, dst_key, dst_off, mr, src, len, sig);
	angara_mr_release(mr);
	return ret;
}

ANG_PUBLIC int angara_put_signal_nbi(struct angara_ctx *ctx,
				     struct angara_peer peer, uint64_t dst_key,
				     uint64_t dst_off,
				     const struct angara_mr *src,
				     uint64_t src_off, size_t len,
				     const struct angara_signal *sig,
				     const struct angara_op *op)
{
	struct angara_wqe put, signal;
	int ret = signal_wqe(peer, sig, &signal);

	if (!ret && !src)
		return held_nbi(ctx, peer, dst_key, dst_off, src_off, len, sig,
				op);
	if (!ret)
		ret = ang_rma_wqe(ctx, ANGARA_OP_PUT, peer, dst_key, dst_off, src, src_off,
				  len, &put);
	return ret ? ret : ang_post_two(ctx, &put, NULL, 0, &signal, &sig->value,
					sizeof(sig->value), op);
}

ANG_PUBLIC int angara_put_signal_inline_nbi(struct angara_ctx *ctx,
					    struct angara_peer peer,
					    uint64_t dst_key, uint64_t dst_off,
					    const void *data, size_t len,
					    const struct angara_signal *sig,
					    const struct angara_op *op)
{
	struct angara_wqe put, signal;
	int ret = signal_wqe(peer, sig, &signal);

	if (!ret)
		ret = ang_inline_wqe(peer, dst_key, dst_off, data, len, &put);
	return ret ? ret : ang_post_two(ctx, &put, data, len, &signal,
					&sig->value, sizeof(sig->value), op);
}

/* Posts put and signal in order, and waits for them. */
static int signal_run(struct angara_ctx *ctx, struct angara_wqe *put, const void *data,
		      size_t len, struct angara_wqe *signal,
		      const struct angara_signal *sig)
{
	struct ang_blocked b = { 0 };
	int ret = ang_blocked_post(ctx, put, data, len, &b);
	int err = 0;

	if (!ret) {
		ret = ang_blocked_post(ctx, signal, &sig->value,
				       sizeof(sig->value), &b);
		err = ang_blocked_wait(ctx, &b);
	}
	return ret ? ret : err;
}

ANG_PUBLIC int angara_put_signal(struct angara_ctx *ctx,
				 struct angara_peer peer, uint64_t dst_key,
				 uint64_t dst_off, const struct angara_mr *src,
				 uint64_t src_off, size_t len,
				 const struct angara_signal *sig)
{
	struct angara_wqe put, signal;
	int ret = signal_wqe(peer, sig, &signal);

	if (!ret && !src)
		return signal_held(ctx, peer, dst_key, dst_off, src_off, len, sig);
	if (!ret)
		ret = ang_rma_wqe(ctx, ANGARA_OP_PUT, peer, dst_key, dst_off, src, src_off,
				  len, &put);
	return ret ? ret : signal_run(ctx, &put, NULL, 0, &signal, sig);
}

ANG_PUBLIC int angara_put_signal_inline(struct angara_ctx *ctx,
					struct angara_peer peer,
					uint64_t dst_key, uint64_t dst_off,
					const void *data, size_t len,
					const struct angara_signal *sig)
{
	struct angara_wqe put, signal;
	int ret = signal_wqe(peer, sig, &signal);

	if (!ret)
		ret = ang_inline_wqe(peer, dst_key, dst_off, data, len, &put);
	return ret ? ret : signal_run(ctx, &put, data, len, &signal, sig);
}
