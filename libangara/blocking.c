// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls that wait until operations are complete.
 */
#include <errno.h>
#include <limits.h>

#include "lib.h"

/**
 * struct poll_wait - state of angara_poll_wait()
 * @out: completions
 * @n: capacity of @out
 * @got: out: number of completions
 */
struct poll_wait {
	struct angara_completion *out;
	unsigned int n;
	unsigned int *got;
};

static bool poll_done(struct angara_ctx *ctx, const void *arg)
{
	const struct poll_wait *w = arg;

	*w->got = ang_harvest(ctx, w->out, w->n);
	return *w->got;
}

ANG_PUBLIC int angara_poll_wait(struct angara_ctx *ctx,
				struct angara_completion *out, unsigned int n,
				int timeout_ms)
{
	unsigned int got = 0;
	struct poll_wait w = {
		.out = out, .n = n < INT_MAX ? n : INT_MAX, .got = &got,
	};
	int ret;

	if (!n)
		return -EINVAL;
	ret = ang_wait_until(ctx, poll_done, &w, timeout_ms);
	return ret ? ret : (int)got;
}

static bool blocked_done(struct angara_ctx *ctx, const void *arg)
{
	const struct ang_blocked *b = arg;

	(void)ctx;
	return !b->pending;
}

/*
 * A blocking call is about to return: its operations that are still in progress
 * get the kind "counted".
 */
static void blocked_forget(struct angara_ctx *ctx, const struct ang_blocked *b)
{
	u32 i;

	for (i = 0; i < ctx->create.cq_entries; i++) {
		struct ang_posted *slot = &ctx->slots[i];
		u8 flags = slot->kind & (ANG_SLOT_HOLDS | ANG_SLOT_PARTS);

		if (slot->kind == (ANG_SLOT_BLOCKED | flags) &&
		    slot->cookie == (uintptr_t)b)
			slot->kind = ANG_SLOT_COUNTED | flags;
	}
}

/**
 * ang_blocked_wait() - wait until operations of ang_blocked_post() are complete
 * @ctx: context
 * @b: operations
 *
 * Return: 0; the errno of the first operation that failed; -ENODEV the device
 * is gone.
 */
int ang_blocked_wait(struct angara_ctx *ctx, struct ang_blocked *b)
{
	int ret = ang_wait_until(ctx, blocked_done, b, ANGARA_FOREVER);

	if (!ret)
		return b->err;
	blocked_forget(ctx, b);
	return ret;
}

/* Starts an operation, and waits until it is complete. */
int ang_post_wait(struct angara_ctx *ctx, struct angara_wqe *wqe, const void *data,
	    size_t len)
{
	struct ang_blocked b = { 0 };
	int ret = ang_blocked_post(ctx, wqe, data, len, &b);

	return ret ? ret : ang_blocked_wait(ctx, &b);
}

static bool quiet_done(struct angara_ctx *ctx, const void *arg)
{
	(void)arg;
	return ctx->outstanding == 0;
}

ANG_PUBLIC int angara_quiet(struct angara_ctx *ctx, int timeout_ms)
{
	int ret = ang_wait_until(ctx, quiet_done, NULL, timeout_ms);

	if (ret)
		return ret;
	ret = ctx->first_err;
	ctx->first_err = 0;
	return ret;
}
