// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A descriptor for poll(2), for programs with their own event loop.
 *
 * A thread of the library sleeps on the context's word, as a waiting caller
 * does.  While the context is armed, see emb_arm(), the next event wakes the
 * thread, which makes an eventfd(2) readable.  The thread also advances nodes
 * that other processes have put on the list in emb_left, since the program
 * itself may sleep for long.  While the context is not armed, no event wakes
 * the thread, since the program polls.
 *
 * The first call of angara_ctx_fd() creates the thread.  The thread also checks
 * for dead processes.  When the device is gone it makes the descriptor readable
 * once more and ends.
 */
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "embed.h"
#include "thread.h"

/**
 * struct emb_watch - a descriptor and its thread
 * @d: handle of the context
 * @fd: eventfd
 * @stop: requests the thread to end (any thread)
 * @armed: the next event makes @fd readable; counted in emb_ctx.asleep (atomic)
 * @raised: @fd has been made readable (atomic)
 * @thread: thread
 * @run: runs the model for @thread
 */
struct emb_watch {
	struct emb_dev *d;
	int fd;
	u32 stop;
	u32 armed;
	u32 raised;
	pthread_t thread;
	struct emb_run run;
};

/*
 * Write the eventfd before @raised: a thread that sees @raised must find the
 * eventfd readable.
 */
static void make_readable(struct emb_watch *w)
{
	eventfd_write(w->fd, 1);
	ang_store_release(&w->raised, 1);
}

/* Disarms the context.  Return: true if it was armed. */
static bool fd_disarm(struct emb_watch *w)
{
	if (!ang_xchg(&w->armed, 0))
		return false;
	emb_sleeps(w->d, -1);
	return true;
}

/* Advances nodes on the list in emb_left.  Return: true if there were any. */
static bool fd_help(struct emb_watch *w)
{
	if (!ang_load_acquire(&w->armed))
		return false;
	emb_offer_help(w->d);
	ang_mb(); /* pairs with hand_over(), see sleep_doze() */
	w->run.in_vain = 0;
	return emb_help(&w->run, true);
}

static void *fd_watch(void *arg)
{
	const struct timespec ts = { .tv_nsec = EMB_LOOK_MS * 1000000 };
	struct emb_watch *w = arg;
	struct emb_dev *d = w->d;

	while (!ang_load_acquire(&w->stop)) {
		u32 word = ang_load_acquire(&d->ctx->wake);

		if (emb_gone(d)) {
			make_readable(w);
			break;
		}
		if (ang_load_acquire(&w->armed) && emb_news(d) && fd_disarm(w))
			make_readable(w);
		if (!fd_help(w))
			syscall(SYS_futex, &d->ctx->wake, FUTEX_WAIT, word, &ts,
				NULL, 0);
		emb_look_after(d->fab);
	}
	return NULL;
}

static int fd_start(struct emb_watch *w)
{
	int ret = ang_thread_start(&w->thread, fd_watch, w);

	/* Do not return -EAGAIN, which means that there is an event. */
	return ret == EAGAIN ? -ENOMEM : -ret;
}

/* Implements @poll_fd of struct ang_dev_ops. */
int emb_fd(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;
	struct emb_watch *w = d->watch;
	int ret;

	if (w)
		return w->fd;
	if (d->forks != emb_forks() || !d->ctx)
		return -ENODEV;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->d = d;
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->fd < 0) {
		ret = -errno;
		goto free_watch;
	}
	emb_run_init(&w->run, d->fab);
	ret = fd_start(w);
	if (ret)
		goto close_fd;
	d->watch = w;
	return w->fd;

close_fd:
	close(w->fd);
free_watch:
	free(w);
	return ret;
}

/*
 * Implements @arm of struct ang_dev_ops: the program has polled, and is about
 * to sleep.  emb_ctx.asleep is set before the model is armed, as in
 * sleep_doze().
 */
int emb_arm(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;
	int fd = emb_fd(dev);
	struct emb_watch *w;
	eventfd_t count;
	bool done;

	if (fd < 0)
		return fd;
	if (emb_gone(d))
		return -ENODEV;
	done = dev->boarded && emb_board_end(dev);
	w = d->watch;
	if (ang_xchg(&w->raised, 0))
		eventfd_read(fd, &count);
	if (!ang_xchg(&w->armed, 1))
		emb_sleeps(d, 1);
	emb_ring(&d->run, d, d->node, ANGARA_DB_PAGE(d->num) + ANGARA_DB_ARM,
		 le32_to_cpu(READ_ONCE(d->ctl->seen)));
	/* The thread may be asleep already, without having offered to help. */
	emb_offer_help(d);
	ang_mb(); /* pairs with hand_over(), see sleep_doze() */
	d->run.in_vain = 0;
	emb_help(&d->run, true);
	return done ? -EAGAIN : 0;
}

/* Ends the thread; the context still exists. */
void emb_watch_end(struct emb_dev *d)
{
	struct emb_watch *w = d->watch;

	if (!w)
		return;
	ang_store_release(&w->stop, 1);
	ang_fetch_add(&d->ctx->wake, 1);
	emb_wake(d->ctx);
	pthread_join(w->thread, NULL);
	fd_disarm(w);
	close(w->fd);
	free(w);
	d->watch = NULL;
}
