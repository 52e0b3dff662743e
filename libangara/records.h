/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of the receive buffer: is there one, and of which kind?  msg.c describes the buffer.
 */
#ifndef ANG_RECORDS_H
#define ANG_RECORDS_H

#include "lib.h"

static inline u32 ang_msg_units(const struct angara_ctx *ctx)
{
	return ctx->create.msg_bytes / ANGARA_MSG_UNIT;
}

static inline const struct angara_msg *ang_msg_record(const struct angara_ctx *ctx, u32 at)
{
	u32 place = at & (ang_msg_units(ctx) - 1);

	return (const struct angara_msg *)(ctx->msg + (size_t)place *
					   ANGARA_MSG_UNIT);
}

/*
 * Return: kind of the record at @at.  @units: out: number of units that the
 * record takes.
 */
static inline u8 ang_record_kind(const struct angara_ctx *ctx, u32 at, u32 *units)
{
	u64 last = ang_load_last(&ang_msg_record(ctx, at)->length);

	*units = 1 + (u32)(((u64)(u32)last + ANGARA_MSG_UNIT - 1) /
			   ANGARA_MSG_UNIT);
	return (u8)(last >> 56);
}

/*
 * Has a record arrived after the last one that the caller has taken?  Call this
 * only if the context has a receive buffer.
 */
static inline bool ang_has_record(const struct angara_ctx *ctx)
{
	u32 units;

	return ang_record_kind(ctx, ctx->msg_at, &units) != ANGARA_MSG_NONE;
}

/* Would angara_msg_next() return a message or an error other than -EAGAIN? */
static inline bool ang_has_message(const struct angara_ctx *ctx)
{
	return ctx->create.msg_bytes && ang_has_record(ctx);
}

/**
 * ang_msg_unheard() - does ang_msg_hear() have anything to do?
 * @ctx: context with a receive buffer
 */
static inline bool ang_msg_unheard(const struct angara_ctx *ctx)
{
	u32 units;

	return ctx->msg_heard != ctx->msg_at ||
	       ang_record_kind(ctx, ctx->msg_heard, &units) != ANGARA_MSG_NONE;
}

#endif /* ANG_RECORDS_H */
