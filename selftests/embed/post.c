// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A doorbell fails after the entry is in the queue: the operation counts as
 * posted, and the context as dead.  For selftests/host/embed.t, on a device
 * inside the process whose doorbell is replaced.  Prints TAP.
 */
#include <errno.h>
#include <stdio.h>

#include "lib.h"

static unsigned int count, failed, rings;
static bool broken;
static const struct ang_dev_ops *real;

static void ok(bool good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++count, what);
	failed += !good;
}

/* Rings the device.  If broken, the device gets the entry, but an error is returned. */
static int test_doorbell(struct ang_dev *dev, u32 pi)
{
	int ret = real->doorbell(dev, pi);

	rings++;
	return broken ? -ENODEV : ret;
}

int main(void)
{
	struct angara_op op = { .size = sizeof(op), .cookie = 77 };
	struct angara_completion c = { 0 };
	struct ang_dev_ops ops;
	struct angara_ctx_info info = { .size = sizeof(info) };
	struct angara_domain *dom;
	struct angara_ctx *ctx;
	struct angara_mr *mr;
	u64 *word;

	if (angara_domain_open(NULL, NULL, &dom) || angara_ctx_open(dom, NULL, &ctx) ||
	    angara_malloc(dom, 4096, &mr)) {
		puts("Bail out! cannot open a context of a device");
		return 1;
	}
	angara_ctx_query(ctx, &info);
	word = angara_mr_addr(mr);
	real = ctx->dev.ops;
	ops = *real;
	ops.doorbell = test_doorbell;
	ctx->dev.ops = &ops;
	ctx->doorbell = NULL;

	ok(!angara_put_inline_nbi(ctx, info.self, angara_mr_key(mr), 0, "a", 1, &op) &&
	   angara_poll_wait(ctx, &c, 1, 10000) == 1 && c.cookie == 77 && rings,
	   "a put before");
	broken = true;
	op.cookie = 78;
	ok(!angara_put_inline_nbi(ctx, info.self, angara_mr_key(mr), 0, "b", 1, &op),
	   "the entry is posted, and that is what the call says");
	ok(angara_poll(ctx, &c, 1) == 1 && c.cookie == 78 && *(char *)word == 'b',
	   "its completion is returned");
	ok(angara_put_inline_nbi(ctx, info.self, angara_mr_key(mr), 0, "c", 1, &op) ==
	   -ENODEV, "the next call tells that the context is dead");
	ok(angara_poll(ctx, &c, 1) == -ENODEV, "so does a poll");
	ok(angara_poll_wait(ctx, &c, 1, ANGARA_FOREVER) == -ENODEV,
	   "a wait does not sleep for ever");
	ctx->dev.ops = real;
	angara_ctx_close(ctx);
	angara_domain_close(dom);
	printf("1..%u\n", count);
	return !!failed;
}
