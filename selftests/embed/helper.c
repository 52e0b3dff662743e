// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Pending work wakes a thread that sleeps, even if other threads that offered
 * help do not sleep any more because they have died or are stopped.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../libangara/embed/run.c"

#define CTXS	4U
#define SECONDS	20

static struct emb_fab fab;
static struct emb_ctx *ctxs;
static u32 woken[CTXS];

/* Sleeps on the word of a context until it changes. */
static void *sleeper(void *arg)
{
	struct emb_ctx *ctx = arg;
	struct timespec most = { .tv_sec = SECONDS };

	ang_fetch_add(&ctx->asleep, 1);
	while (!ang_load_acquire(&ctx->wake))
		syscall(SYS_futex, &ctx->wake, FUTEX_WAIT, 0, &most, NULL, 0);
	ang_store_release(&woken[ctx - ctxs], 1);
	return NULL;
}

/* Waits until a thread sleeps in the futex of this word. */
static void until_asleep(struct emb_ctx *ctx)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	while (!ang_load_acquire(&ctx->asleep))
		nanosleep(&nap, NULL);
	/*
	 * Requeue one sleeper to the same word: this wakes no thread, and
	 * returns 1 only if the thread sleeps.
	 */
	while (syscall(SYS_futex, &ctx->wake, FUTEX_CMP_REQUEUE, 0,
		       (void *)1UL, &ctx->wake, 0) < 1)
		nanosleep(&nap, NULL);
}

static void expect(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "helper: %s\n", what);
	exit(1);
}

int main(void)
{
	struct emb_head *head = aligned_alloc(4096, 1 << 20);
	struct emb_run r = { .fab = &fab };
	pthread_t thread[2];
	u32 i;

	alarm(SECONDS);
	expect(head != NULL, "no memory");
	memset(head, 0, 1 << 20);
	head->node_at = 8192;
	head->node_size = 65536;
	fab.head = head;
	ctxs = emb_node(&fab, 0)->ctx;
	for (i = 0; i < 2; i++) {
		pthread_create(&thread[i], NULL, sleeper, &ctxs[2 + i]);
		until_asleep(&ctxs[2 + i]);
	}
	/* Contexts 0 and 1 have offered help, but no thread sleeps on their words. */
	for (i = 0; i < CTXS; i++)
		head->helpers[i] = i + 1;
	call_helper(&r);
	pthread_join(thread[0], NULL);
	expect(woken[2] == 1, "the first thread that sleeps was not woken");
	expect(!woken[3], "a second thread was woken");
	expect(!head->helpers[0] && !head->helpers[1] && !head->helpers[2],
	       "an offer remains after its call");
	expect(head->helpers[3] == 4, "an offer was removed without a call");
	call_helper(&r);
	pthread_join(thread[1], NULL);
	expect(woken[3] == 1 && !head->helpers[3], "the second thread was not woken");
	return 0;
}
