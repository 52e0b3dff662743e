// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The doorbell of a context, which announces entries of the SQ to the device.
 *
 * The kick is an ioctl or a run of the embedded model, hence a full barrier, or
 * a posted write to the mapped doorbell page, which to_device_barrier() orders
 * after sq_pi; see also queue.c.
 */
#include <errno.h>

#include "ang_hw.h"
#include "lib.h"

static inline void to_device_barrier(void)
{
#if defined(__x86_64__) || defined(__i386__)
	/* Stores to write-back memory are visible before later uncached ones. */
	__asm__ __volatile__("" ::: "memory");
#elif defined(__aarch64__)
	__asm__ __volatile__("dsb st" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* Rings the doorbell.  Return: 0; after -errno the context is dead. */
int ang_kick(struct angara_ctx *ctx)
{
	int ret;

	ang_store_release(&ctx->ctl->sq_pi, cpu_to_le32(ctx->pi));
	ctx->rung = ctx->pi;
	if (ctx->doorbell) {
		__le32 *db = (__le32 *)((char *)ctx->doorbell + ANGARA_DB_SQ);

		to_device_barrier();
		WRITE_ONCE(*db, cpu_to_le32(ctx->pi));
		return 0;
	}
	ret = ctx->dev.ops->doorbell(&ctx->dev, ctx->pi);
	/*
	 * The entry is in the queue, and the device may already have read it:
	 * post nothing more.
	 */
	if (ret)
		ctx->dead = true;
	return ret;
}

ANG_PUBLIC int angara_flush(struct angara_ctx *ctx)
{
	return ctx->dead ? -ENODEV : ang_flush(ctx);
}
