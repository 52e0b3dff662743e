// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waiting: poll, spin for a while, then sleep in poll(2).
 *
 * How long a wait spins depends on how recent waits ended.  Sleeping and waking up
 * takes longer than most operations, so a short wait spins.  A wait that will sleep in
 * any case should not spin first.
 *
 * No wake-up is lost: before each check we read the event sequence and store it to
 * angara_ctl.seen.  Events before that read are visible to the check, since the
 * device increments the sequence after it has written the completion or counter.
 * A later event makes the sequence differ from seen, and poll(2) returns at once.
 */
#include <errno.h>

#include "lib.h"
#include "records.h"

#define ANG_NS_PER_MS	1000000ULL
#define ANG_LOOK_MS	100	/* milliseconds between two checks of members, see coll_talk.c */
#define ANG_TURN_MS	1	/* longest sleep if threads share the context, milliseconds */
#define ANG_SPIN_LOOKS	32	/* checks for events between two readings of the clock */

/*
 * Stores the event sequence for the next sleep, and reaps completions.  Events up to this sequence
 * are visible to the caller's check; later ones end the sleep.  Return: as ang_reap().
 */
static bool ctx_look(struct angara_ctx *ctx)
{
	u32 seen = (u32)ang_counter(ctx, ANGARA_CTR_EVSEQ);

	WRITE_ONCE(ctx->ctl->seen, cpu_to_le32(seen));
	return ang_reap(ctx);
}

/* Sleeps until there may be an event.  Return: as ang_dev_ops.wait. */
static int wait_event(struct angara_ctx *ctx, int timeout_ms)
{
	int ret = ctx->dead ? -ENODEV : ctx->dev.ops->wait(&ctx->dev, timeout_ms);

	if (ret == -ENODEV)
		ctx->dead = true;
	return ret;
}

/* Spins for up to ctx->spin_ns from @start, the time now.  Return: true: @done holds. */
static bool wait_spin(struct angara_ctx *ctx, ang_done_fn done, const void *arg,
		      u64 start)
{
	u64 end = start + ctx->spin_ns;
	unsigned int i;

	do {
		for (i = 0; i < ANG_SPIN_LOOKS; i++) {
			ang_reap(ctx);
			if (done(ctx, arg))
				return true;
			if (!ctx->dev.ops->relax(&ctx->dev, true))
				return false;
		}
	} while (ang_now_ns() < end);
	return false;
}

/* Milliseconds for poll(2), rounded up so that it does not return too early. */
static int left_ms(u64 end)
{
	u64 now = ang_now_ns();

	if (now >= end)
		return 0;
	return (int)((end - now + ANG_NS_PER_MS - 1) / ANG_NS_PER_MS);
}

/*
 * Decides how long the next wait spins.  Called after a wait that did not end
 * while it spun.
 */
static void spin_adapt(struct angara_ctx *ctx, u64 start)
{
	if (ang_now_ns() - start <= ctx->spin_most)
		ctx->spin_ns = ctx->spin_most;
	else if (ctx->spin_ns / 2 > ctx->spin_least)
		ctx->spin_ns /= 2;
	else
		ctx->spin_ns = ctx->spin_least;
}

/*
 * Sleeps until @done holds.  @end: time at which the wait ends, if @timeout_ms is not negative.
 */
static int wait_asleep(struct angara_ctx *ctx, ang_done_fn done, const void *arg,
		       int timeout_ms, u64 end)
{
	int ret = 0;

	for (;;) {
		int ms = timeout_ms < 0 ? ANGARA_FOREVER : left_ms(end);

		/*
		 * The death of a member raises no event, so check for it from
		 * time to time.
		 */
		if (ctx->colls.busy && (ms < 0 || ms > ANG_LOOK_MS))
			ms = ANG_LOOK_MS;
		if (ctx->turn && (ms < 0 || ms > ANG_TURN_MS))
			ms = ANG_TURN_MS;
		ctx_look(ctx);
		if (done(ctx, arg))
			return 0;
		if (ret == -ENODEV || ms == 0)
			return ctx->dead ? -ENODEV : -ETIMEDOUT;
		ret = wait_event(ctx, ms);
		if (ret == -ETIMEDOUT)
			ret = 0;
		else if (ret && ret != -ENODEV)
			return ret;
		if (ctx->turn)
			ctx->turn(ctx->turn_arg);
	}
}

/* Waits after a first check of the condition has failed. */
static int wait_longer(struct angara_ctx *ctx, ang_done_fn done, const void *arg,
		       int timeout_ms)
{
	u64 start = ang_now_ns();
	u64 end = start + (u64)(timeout_ms > 0 ? timeout_ms : 0) * ANG_NS_PER_MS;
	int ret;

	if (timeout_ms && !ctx->dead && wait_spin(ctx, done, arg, start)) {
		ctx->spin_ns = ctx->spin_most;
		return 0;
	}
	/* A caller that only checks advances nodes, as a poll does: all others may sleep. */
	if (!timeout_ms && !ctx->dead)
		ang_idle(ctx, ANG_IDLE_CHECK);
	ret = wait_asleep(ctx, done, arg, timeout_ms, end);
	if (timeout_ms)
		spin_adapt(ctx, start);
	return ret;
}

/**
 * ang_wait_until() - wait for a condition on completions or counters
 * @ctx: context
 * @done: condition
 * @arg: passed to @done
 * @timeout_ms: deadline, or ANGARA_FOREVER
 *
 * The condition is checked once more after the device disappears or the time
 * ends.
 *
 * Return: 0; -ETIMEDOUT; -ENODEV.
 */
int ang_wait_until(struct angara_ctx *ctx, ang_done_fn done, const void *arg,
		   int timeout_ms)
{
	int ret = ctx->dead ? 0 : ang_flush(ctx);

	if (ret)
		return ret;
	ang_reap(ctx);
	return done(ctx, arg) ? 0 : wait_longer(ctx, done, arg, timeout_ms);
}

ANG_PUBLIC void angara_ctx_turns(struct angara_ctx *ctx, angara_turn_fn turn, void *arg)
{
	ctx->turn = turn;
	ctx->turn_arg = arg;
}

ANG_PUBLIC int angara_ctx_fd(struct angara_ctx *ctx)
{
	return ctx->dev.ops->poll_fd(&ctx->dev);
}

/*
 * Stores the event sequence before the check.  The check finds any completion or message that came
 * before; the device reports any that comes later.  Arms the context before the check, too: a
 * caller that cannot take what the check finds sleeps until the next event.
 */
ANG_PUBLIC int angara_ctx_arm(struct angara_ctx *ctx)
{
	int ret = ctx->dead ? -ENODEV : ang_flush(ctx);

	if (ret)
		return ret;
	WRITE_ONCE(ctx->ctl->seen,
		   cpu_to_le32(ang_counter(ctx, ANGARA_CTR_EVSEQ)));
	ret = ctx->dev.ops->arm(&ctx->dev);
	if (ret == -ENODEV)
		ctx->dead = true;
	if (ret)
		return ret;
	return ang_has_completion(ctx) || ang_has_message(ctx) ? -EAGAIN : 0;
}

/**
 * struct counter_wait - state of a wait for a counter
 * @index: ANGARA_CTR_*
 * @value: value that the counter has to reach
 */
struct counter_wait {
	unsigned int index;
	u64 value;
};

static bool counter_done(struct angara_ctx *ctx, const void *arg)
{
	const struct counter_wait *w = arg;

	return ang_counter(ctx, w->index) >= w->value;
}

int ang_wait_counter(struct angara_ctx *ctx, unsigned int index, u64 value,
		     int timeout_ms)
{
	struct counter_wait w = { .index = index, .value = value };

	return ang_wait_until(ctx, counter_done, &w, timeout_ms);
}

ANG_PUBLIC uint64_t angara_counter(struct angara_ctx *ctx, unsigned int n)
{
	return n < ANGARA_CTR_USER_NUM ? ang_counter(ctx, ANGARA_CTR_USER(n)) : 0;
}

ANG_PUBLIC int angara_counter_wait(struct angara_ctx *ctx, unsigned int n,
				   uint64_t value, int timeout_ms)
{
	if (n >= ANGARA_CTR_USER_NUM)
		return -EINVAL;
	return ang_wait_counter(ctx, ANGARA_CTR_USER(n), value, timeout_ms);
}
