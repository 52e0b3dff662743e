// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sleeping until there is an event for a context.
 *
 * A thread reads the word emb_ctx.wake, then arms the context.  For a later event
 * the model raises an interrupt, which increments the word, so the sleep ends at
 * once or does not begin.  After arming, the thread checks the event sequence,
 * which shows any earlier event.  Before arming, it increments emb_ctx.asleep:
 * an interrupt before that wakes no thread, but the check of the event sequence
 * shows its event.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "embed.h"

/*
 * Is there an event that the caller has not seen: does the event sequence
 * differ from angara_ctl.seen?
 */
bool emb_news(const struct emb_dev *d)
{
	u32 seen = le32_to_cpu(READ_ONCE(d->ctl->seen));

	return (u32)le64_to_cpu(ang_load_acquire(&d->ctr[ANGARA_CTR_EVSEQ])) !=
	       seen;
}

static void sleep_on(struct emb_ctx *ctx, u32 word, u64 ms)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(ms % 1000) * 1000000,
	};

	syscall(SYS_futex, &ctx->wake, FUTEX_WAIT, word, &ts, NULL, 0);
}

/*
 * Adds the context to the list of sleepers that other threads may wake to
 * advance nodes.
 */
void emb_offer_help(struct emb_dev *d)
{
	u32 *place = d->fab->head->helpers;
	u32 mine = (d->node << 8 | d->num) + 1;
	u32 i;

	for (i = 0; i < EMB_HELPERS; i++)
		if (!READ_ONCE(place[i]) && !ang_cmpxchg(&place[i], 0, mine))
			return;
}

static void sleep_withdraw(struct emb_dev *d)
{
	u32 *place = d->fab->head->helpers;
	u32 mine = (d->node << 8 | d->num) + 1;
	u32 i;

	for (i = 0; i < EMB_HELPERS; i++)
		if (READ_ONCE(place[i]) == mine)
			ang_cmpxchg(&place[i], mine, 0);
}

/*
 * Sleeps once, at most @ms milliseconds.  Return: true: there was an event or
 * work, so the thread did not sleep.
 */
static bool sleep_doze(struct ang_dev *dev, u64 ms)
{
	struct emb_dev *d = dev->priv;
	u32 word = ang_load_acquire(&d->ctx->wake);
	bool busy;

	emb_sleeps(d, 1);
	emb_ring(&d->run, d, d->node, ANGARA_DB_PAGE(d->num) + ANGARA_DB_ARM,
		 le32_to_cpu(READ_ONCE(d->ctl->seen)));
	emb_offer_help(d);
	/*
	 * Pairs with hand_over(): either hand_over() sees the offer, or this
	 * thread sees the node on the list.
	 */
	ang_mb();
	d->run.in_vain = 0;
	busy = emb_news(d) || (dev->boarded && !emb_board_open(dev)) ||
	       emb_help(&d->run, true);
	if (!busy)
		sleep_on(d->ctx, word, ms);
	sleep_withdraw(d);
	emb_sleeps(d, -1);
	return busy;
}

/* Implements @wait of struct ang_dev_ops. */
int emb_wait(struct ang_dev *dev, int timeout_ms)
{
	struct emb_dev *d = dev->priv;
	u64 end = emb_now_ms() + (u64)(timeout_ms > 0 ? timeout_ms : 0);

	if (d->forks != emb_forks() || !d->ctx)
		return -ENODEV;
	for (;;) {
		u64 ms = EMB_LOOK_MS;

		emb_look_after(d->fab);
		if (emb_gone(d))
			return -ENODEV;
		if ((dev->boarded && emb_board_wait(dev)) || emb_news(d))
			return 0;
		if (timeout_ms >= 0) {
			u64 now = emb_now_ms();

			if (now >= end && !emb_help(&d->run, true))
				return -ETIMEDOUT;
			ms = now >= end ? 0 : end - now < ms ? end - now : ms;
		}
		if (ms && !sleep_doze(dev, ms) && emb_news(d))
			return 0;
	}
}
