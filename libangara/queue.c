// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The injection queue (SQ), whose producer we are, and the completion queue
 * (CQ), whose consumer we are.  Indices run freely; the entry is index modulo
 * length.
 *
 * Ordering against the device:
 *
 *   we write the WQE          | device reads angara_ctl.sq_pi
 *   release store of sq_pi    | acquire
 *   kick                      | device reads the WQE
 *
 *   device writes the data    | acquire load of the CQE's last eight bytes,
 *   device writes the CQE,    |   which hold the phase bit
 *     last eight bytes last   | we read the rest of the CQE, then the data
 *
 *   we read the CQE           | device reads angara_ctl.cq_ci
 *   release store of cq_ci    | acquire; device overwrites the CQE
 *
 *   device reads the WQE      | acquire load of ANGARA_CTR_SQ_CI
 *   device counts SQ_CI       | we overwrite the WQE
 *
 * The kick is an ioctl or a run of the embedded model, hence a full barrier, or
 * a posted write to the mapped doorbell page, which to_device_barrier() orders
 * after sq_pi.
 *
 * The CQ cannot overflow: an operation gives at most one CQE and no more than
 * cq_entries operations are outstanding, that is, posted and not reaped.
 */
#include <errno.h>

#include "ang_hw.h"
#include "lib.h"

#define ANG_SQ_ENTRY	sizeof(struct angara_wqe)

/* Waiting for room: SQ_CI is no event, so look again at least this often. */
#define ANG_ROOM_MS	10

static_assert(sizeof(struct angara_wqe) == 64, "SQ entries are 64 bytes");
static_assert(sizeof(struct angara_cqe) == 32, "CQ entries are 32 bytes");
static_assert(offsetof(struct angara_cqe, status) == 24, "CQE tail");

static inline void to_device_barrier(void)
{
#if defined(__x86_64__) || defined(__i386__)
	/* Stores to write-back memory are seen before later uncached ones. */
	__asm__ __volatile__("" ::: "memory");
#elif defined(__aarch64__)
	__asm__ __volatile__("dsb st" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* Rings the doorbell.  Return: 0 or -errno; then the context is dead. */
int ang_kick(struct angara_ctx *ctx)
{
	int ret;

	ang_store_release(&ctx->ctl->sq_pi, cpu_to_le32(ctx->pi));
	if (ctx->doorbell) {
		__le32 *db = (__le32 *)((char *)ctx->doorbell + ANGARA_DB_SQ);

		to_device_barrier();
		WRITE_ONCE(*db, cpu_to_le32(ctx->pi));
		return 0;
	}
	ret = ctx->dev.ops->doorbell(&ctx->dev, ctx->pi);
	/* The entry is in the queue but its fate unknown: nothing can follow. */
	if (ret)
		ctx->dead = true;
	return ret;
}

static bool cq_next(struct angara_ctx *ctx, u64 *cookie,
		    struct angara_status *status)
{
	u32 entries = ctx->create.cq_entries;
	const struct angara_cqe *cqe = &ctx->cq[ctx->ci & (entries - 1)];
	u64 phase = ctx->ci & entries ? 0 : 1;
	u64 tail = ang_load_last(&cqe->status);

	if ((tail >> 56 & 1) != phase)
		return false;
	*cookie = le64_to_cpu(READ_ONCE(cqe->cookie));
	status->status = (u16)tail;
	status->node = le32_to_cpu(READ_ONCE(cqe->node));
	status->length = le32_to_cpu(READ_ONCE(cqe->length));
	return true;
}

/* Takes in all completions there are.  Return: their number. */
unsigned int ang_reap(struct angara_ctx *ctx)
{
	struct angara_status status;
	unsigned int n = 0;
	u64 cookie;

	while (cq_next(ctx, &cookie, &status)) {
		ang_req_complete(ctx, cookie, &status);
		ctx->ci++;
		n++;
	}
	if (n) {
		ctx->fresh = true;
		ang_store_release(&ctx->ctl->cq_ci, cpu_to_le32(ctx->ci));
	}
	return n;
}

static bool has_room(const struct angara_ctx *ctx, u32 need)
{
	u32 fetched = (u32)ang_counter(ctx, ANGARA_CTR_SQ_CI);

	return ctx->create.sq_entries - (ctx->pi - fetched) >= need &&
	       ctx->outstanding < ctx->create.cq_entries;
}

static bool room_done(struct angara_ctx *ctx, const void *arg)
{
	return has_room(ctx, *(const u32 *)arg);
}

/*
 * Waits until @need entries and one completion are free.  All that was posted
 * has been kicked, so the device works on it without us; what it ends is
 * reaped here, so it never waits for us either.
 */
static int reserve(struct angara_ctx *ctx, u32 need)
{
	int ret;

	if (ctx->dead)
		return -ENODEV;
	if (has_room(ctx, need))
		return 0;
	do {
		ret = ang_wait_until(ctx, room_done, &need, ANG_ROOM_MS);
	} while (ret == -ETIMEDOUT);
	return ret;
}

static void sq_write(struct angara_ctx *ctx, const struct angara_wqe *wqe,
		     const void *data, size_t len)
{
	u32 mask = ctx->create.sq_entries - 1;
	const char *from = data;

	ctx->sq[ctx->pi++ & mask] = *wqe;
	while (len) {
		size_t part = len < ANG_SQ_ENTRY ? len : ANG_SQ_ENTRY;

		memcpy(&ctx->sq[ctx->pi++ & mask], from, part);
		from += part;
		len -= part;
	}
}

/* Collectives are counted at their tree, so that a team can be drained. */
static unsigned int wqe_tree(const struct angara_wqe *wqe)
{
	return wqe->opcode >= ANGARA_OP_BCAST &&
	       wqe->opcode <= ANGARA_OP_BARRIER ?
	       le16_to_cpu(wqe->tree) + 1U : ANG_NO_TREE;
}

/**
 * ang_post() - post an operation and kick the device
 * @ctx: context
 * @wqe: all but the cookie
 * @data: payload, with ANGARA_WQE_INLINE
 * @len: bytes of it
 * @req: out: request, or NULL
 *
 * Waits for room in the queues if there is none; the device makes it.
 *
 * Return: 0; -ENODEV; -ENOMEM.
 */
int ang_post(struct angara_ctx *ctx, struct angara_wqe *wqe, const void *data,
	     size_t len, angara_req_t *req)
{
	unsigned int tree = wqe_tree(wqe);
	angara_req_t cookie = tree;
	int ret;

	ret = reserve(ctx, 1 + (u32)((len + ANG_SQ_ENTRY - 1) / ANG_SQ_ENTRY));
	if (!ret && req)
		ret = ang_req_new(ctx, tree, &cookie);
	if (ret)
		return ret;

	wqe->cookie = cpu_to_le64(cookie);
	sq_write(ctx, wqe, data, len);
	ctx->outstanding++;
	ctx->by_tree[tree]++;
	ret = ang_kick(ctx);
	if (ret) {
		if (req)
			ang_req_cancel(ctx, cookie);
		return ret;
	}
	if (req)
		*req = cookie;
	return 0;
}
