/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: one-sided operations, atomic operations, completion.
 *
 * Conventions are those of angara/angara.h.
 */
#ifndef ANGARA_OPS_H
#define ANGARA_OPS_H

#include <angara/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One-sided operations.  The target does nothing.  Complete means: a put has
 * been written at the target, a get has arrived here.  @notify names a user
 * counter (0..ANGARA_CTR_USER_NUM-1) of the target that is counted up then.
 */

/**
 * angara_put_nbi() - write to a peer's memory
 * @ctx: context
 * @peer: target
 * @dst_key: region at the target, with ANGARA_ACCESS_REMOTE_WRITE
 * @dst_off: offset in it
 * @src: local region
 * @src_off: offset in it
 * @len: bytes, up to ANGARA_MAX_OP_BYTES; 0 only notifies
 * @notify: counter at the target, or ANGARA_NO_NOTIFY
 * @req: out: for angara_wait(); NULL: angara_quiet() waits for it
 *
 * Return: 0; -EINVAL a value out of range; -ENODEV the device is gone.  What
 * the target refuses is told by angara_wait().
 */
int angara_put_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		   uint32_t dst_key, uint64_t dst_off, const struct angara_mr *src,
		   uint64_t src_off, size_t len, int notify, angara_req_t *req);
/** As angara_put_nbi() for at most ANGARA_MAX_INLINE bytes anywhere in memory. */
int angara_put_inline(struct angara_ctx *ctx, struct angara_peer peer,
		      uint32_t dst_key, uint64_t dst_off, const void *data,
		      size_t len, int notify, angara_req_t *req);
/** Read a peer's memory, from a region with ANGARA_ACCESS_REMOTE_READ. */
int angara_get_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		   uint32_t src_key, uint64_t src_off, const struct angara_mr *dst,
		   uint64_t dst_off, size_t len, int notify, angara_req_t *req);

/*
 * Atomic operations on a peer's memory, or one's own: on @count elements in a
 * row, each aligned to its size, element by element.  What the adapter of one
 * node does to its memory does not mix; with what its processors do it does.
 */

/**
 * angara_atomic_nbi() - change elements at a peer
 * @ctx: context
 * @peer: target
 * @dst_key: region at the target, with ANGARA_ACCESS_REMOTE_WRITE
 * @dst_off: offset in it
 * @x: operands, @count elements, copied
 * @count: elements, 1 or more, ANGARA_MAX_ATOMIC bytes at most
 * @type: ANGARA_TYPE_INT32 .. ANGARA_TYPE_DOUBLE
 * @op: ANGARA_ATOMIC_SUM .. ANGARA_ATOMIC_WRITE, not ANGARA_ATOMIC_READ
 * @notify: counter at the target, or ANGARA_NO_NOTIFY
 * @req: out: complete when the elements are changed; NULL for quiet
 *
 * Return: 0; -EINVAL a value out of range, or @op is not for @type; -ENOTSUP
 * the device knows no atomic operations; -ENODEV the device is gone.
 */
int angara_atomic_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		      uint32_t dst_key, uint64_t dst_off, const void *x,
		      size_t count, unsigned int type, unsigned int op,
		      int notify, angara_req_t *req);
/**
 * angara_fetch_nbi() - change elements at a peer, and bring what was there
 * @ctx: context
 * @peer: target
 * @dst_key: region at the target, with ANGARA_ACCESS_REMOTE_READ and, but for
 *	ANGARA_ATOMIC_READ, ANGARA_ACCESS_REMOTE_WRITE
 * @dst_off: offset in it
 * @x: operands, copied; NULL for ANGARA_ATOMIC_READ
 * @count: elements, 1 or more, ANGARA_MAX_ATOMIC bytes at most
 * @type: ANGARA_TYPE_INT32 .. ANGARA_TYPE_DOUBLE
 * @op: ANGARA_ATOMIC_SUM .. ANGARA_ATOMIC_WRITE
 * @old: local region for what was there, with ANGARA_ACCESS_LOCAL_WRITE
 * @old_off: offset in it
 * @notify: counter at the target, or ANGARA_NO_NOTIFY
 * @req: out: complete when it has arrived; NULL for quiet
 *
 * Return: as angara_atomic_nbi().
 */
int angara_fetch_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		     uint32_t dst_key, uint64_t dst_off, const void *x,
		     size_t count, unsigned int type, unsigned int op,
		     const struct angara_mr *old, uint64_t old_off, int notify,
		     angara_req_t *req);
/**
 * angara_compare_nbi() - change elements at a peer where they compare
 * @ctx: context
 * @peer: target
 * @dst_key: region at the target, with ANGARA_ACCESS_REMOTE_READ and
 *	ANGARA_ACCESS_REMOTE_WRITE; the latter is enough without @old
 * @dst_off: offset in it
 * @x: what to write, @count elements, copied
 * @y: what to compare with, copied
 * @count: elements, 1 or more, half of ANGARA_MAX_ATOMIC bytes at most
 * @type: ANGARA_TYPE_INT32 .. ANGARA_TYPE_DOUBLE
 * @op: ANGARA_ATOMIC_CSWAP .. ANGARA_ATOMIC_MSWAP
 * @old: local region for what was there, or NULL
 * @old_off: offset in it
 * @notify: counter at the target, or ANGARA_NO_NOTIFY
 * @req: out, or NULL
 *
 * Return: as angara_atomic_nbi().
 */
int angara_compare_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		       uint32_t dst_key, uint64_t dst_off, const void *x,
		       const void *y, size_t count, unsigned int type,
		       unsigned int op, const struct angara_mr *old,
		       uint64_t old_off, int notify, angara_req_t *req);
/** Return: 1 if @op (ANGARA_ATOMIC_*) is for @type (ANGARA_TYPE_*), else 0. */
int angara_atomic_valid(unsigned int op, unsigned int type);

/* Completion. */

/**
 * angara_test() - has an operation ended?
 * @ctx: context
 * @req: operation
 * @status: out, or NULL
 *
 * Return: 0 it ended well; -EAGAIN not yet; -ENOENT no such operation; else
 * the errno of its status, see angara_status_errno().
 */
int angara_test(struct angara_ctx *ctx, angara_req_t req,
		struct angara_status *status);
/**
 * angara_progress() - take in what has happened, without waiting
 * @ctx: context
 *
 * For programs that have many operations under way: one look, and then
 * angara_ended() for each of them.  angara_ctx_fd() is quiet after it.
 *
 * Return: 0; -ENODEV the device is gone.
 */
int angara_progress(struct angara_ctx *ctx);
/** As angara_test(), but only tells what the last look has brought. */
int angara_ended(struct angara_ctx *ctx, angara_req_t req,
		 struct angara_status *status);
/**
 * angara_wait() - wait for an operation: spin briefly, then sleep
 * @ctx: context
 * @req: operation
 * @timeout_ms: deadline, or ANGARA_FOREVER
 * @status: out, or NULL
 *
 * Return: as angara_test(); -ETIMEDOUT the deadline passed, the operation
 * goes on.
 */
int angara_wait(struct angara_ctx *ctx, angara_req_t req, int timeout_ms,
		struct angara_status *status);
/**
 * angara_quiet() - wait for all operations of a context
 * @ctx: context
 * @timeout_ms: deadline, or ANGARA_FOREVER
 *
 * Return: 0; -ETIMEDOUT; the errno of the first that failed among those that
 * were started without a request.
 */
int angara_quiet(struct angara_ctx *ctx, int timeout_ms);

/** User counter @n; memory it tells of may be read after this. */
uint64_t angara_counter(struct angara_ctx *ctx, unsigned int n);
/** Wait until user counter @n is at least @value. */
int angara_counter_wait(struct angara_ctx *ctx, unsigned int n, uint64_t value,
			int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_OPS_H */
