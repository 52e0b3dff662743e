// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waits beside a program that computes: at every yield that program takes a slice
 * of time.  A wait sleeps after its first long yield, and sleeps longer after each
 * long yield that follows soon.  If yields are short, a wait continues to yield.
 * Polls never sleep.  The test makes the fabric believe that it has more processes
 * than processors.  If there are enough processors, a thread yields often only
 * while it shares its processor.  A wait spins for a shorter time if the waits
 * before it took long.
 * Linked with --wrap=sched_yield, --wrap=emb_now_ns and --wrap=emb_wait.
 * Prints TAP.
 */
#include <errno.h>
#include <stdio.h>

#include "embed/embed.h"
#include "lib.h"

#define POLLS	4000	/* polls without a result, of which every fourth yields */
#define SLICE	3000000ULL	/* nanoseconds that a yield takes */

static unsigned int count, failed, yields, sleeps;
static u64 now, slice;

int __real_emb_wait(struct ang_dev *dev, int timeout_ms);
int __wrap_emb_wait(struct ang_dev *dev, int timeout_ms);
int __wrap_sched_yield(void);
u64 __wrap_emb_now_ns(void);

int __wrap_sched_yield(void)
{
	yields++;
	now += slice;
	return 0;
}

u64 __wrap_emb_now_ns(void)
{
	return now;
}

int __wrap_emb_wait(struct ang_dev *dev, int timeout_ms)
{
	sleeps++;
	return __real_emb_wait(dev, timeout_ms);
}

static void result(bool ok, const char *what)
{
	failed += !ok;
	printf("%sok %u - %s (%u yields, %u sleeps)\n", ok ? "" : "not ",
	       ++count, what, yields, sleeps);
	sleeps = 0;
}

/* Polls an empty queue.  Return: number of yields. */
static unsigned int polled(struct angara_ctx *ctx, unsigned int times)
{
	struct angara_completion c;

	yields = 0;
	while (times--)
		if (angara_poll(ctx, &c, 1))
			return ~0U;
	return yields;
}

/* Waits until a timeout.  Return: number of yields. */
static unsigned int waited(struct angara_ctx *ctx)
{
	yields = 0;
	return angara_counter_wait(ctx, 0, 1, 30) == -ETIMEDOUT ? yields : ~0U;
}

/* A long yield is followed by a pause of @times its length. */
static bool pauses(struct angara_ctx *ctx, unsigned int times)
{
	const struct emb_dev *d = ctx->dev.priv;

	return polled(ctx, 4) == 1 && d->run.sleep_until == now + times * SLICE;
}

/*
 * Each long yield doubles the pause, up to 128 slices.  After a time without
 * long yields the pause is one slice again.
 */
static bool pauses_double(struct angara_ctx *ctx)
{
	unsigned int times;

	slice = SLICE;
	now += 1000 * SLICE;
	for (times = 1; times <= 128; times *= 2)
		if (!pauses(ctx, times))
			return false;
	if (!pauses(ctx, 128))
		return false;
	now += 1000 * SLICE;
	return pauses(ctx, 1);
}

/*
 * With a processor per process, a thread yields often only while another
 * thread uses its processor.
 */
static bool shares(struct angara_ctx *ctx)
{
	unsigned int alone, beside, again;

	slice = 1000;
	polled(ctx, 4);
	alone = polled(ctx, 1024);
	slice = 5000;
	beside = polled(ctx, 1024);
	slice = 1000;
	polled(ctx, 4);
	again = polled(ctx, 1024);
	return alone == 2 && beside > 1024 / 8 && again == 2;
}

/*
 * After a wait that times out, the next wait spins for half as long, down to a
 * minimum.
 */
static bool spins_less(struct angara_ctx *ctx)
{
	u64 spin;

	ctx->spin_ns = ctx->spin_most;
	for (spin = ctx->spin_most / 2; spin > ctx->spin_least; spin /= 2)
		if (waited(ctx) == ~0U || ctx->spin_ns != spin)
			return false;
	return waited(ctx) != ~0U && ctx->spin_ns == ctx->spin_least &&
	       waited(ctx) != ~0U && ctx->spin_ns == ctx->spin_least;
}

int main(void)
{
	const struct angara_ctx_attr attr = { .size = sizeof(attr), .spin_us = 7 };
	struct angara_ctx *fixed;
	struct angara_domain *dom;
	struct angara_ctx *ctx;
	struct emb_dev *d;

	if (angara_domain_open(NULL, NULL, &dom) || angara_ctx_open(dom, NULL, &ctx)) {
		puts("Bail out! cannot open a context of a device");
		return 1;
	}
	d = ctx->dev.priv;
	WRITE_ONCE(d->fab->head->here, READ_ONCE(d->fab->head->num_cpus) + 1);
	now = SLICE;
	slice = SLICE / 100;
	result(polled(ctx, POLLS) > POLLS / 8 && !sleeps, "short yields go on: polls");
	slice = SLICE;
	result(polled(ctx, 200) == 50 && !sleeps, "polls never sleep: they yield");
	result(waited(ctx) == 0 && sleeps, "a wait sleeps after a long yield");
	now += 1000 * SLICE;
	slice = SLICE / 100;
	result(polled(ctx, 200) > 10 && !sleeps, "after a while they yield again");
	result(waited(ctx) > 0, "and so does a wait");
	result(pauses_double(ctx), "pauses after long yields double, up to a limit");
	WRITE_ONCE(d->fab->head->here, 1);
	result(shares(ctx), "a thread beside another one yields often");
	now += 1000 * SLICE;
	result(ctx->spin_most > ctx->spin_least && spins_less(ctx),
	       "after long waits a wait spins for less");
	if (angara_ctx_open(dom, &attr, &fixed)) {
		puts("Bail out! cannot open a second context");
		return 1;
	}
	result(waited(fixed) != ~0U && fixed->spin_ns == 7000, "a given spin stays");
	angara_ctx_close(fixed);
	angara_ctx_close(ctx);
	angara_domain_close(dom);
	printf("1..%u\n", count);
	return failed != 0;
}
