// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A descriptor for poll(2), for programs with an event loop of their own.
 *
 * A thread sleeps on the context's word, as who waits for the context does,
 * and makes an eventfd(2) readable when there is something new.  It is there
 * from the first call of angara_ctx_fd() on, looks after the other processes
 * and goes on with what they leave, since the program itself may sleep for
 * long.  The program's looks make the descriptor quiet again and arm the
 * context anew; see emb_seen().  When the device is gone the thread makes the
 * descriptor readable once more and ends.
 */
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "embed.h"

/**
 * struct emb_watch - a descriptor and its thread
 * @d: whose
 * @fd: eventfd
 * @stop: the thread shall end (any thread)
 * @thread: it
 * @run: runs the model for it
 */
struct emb_watch {
	struct emb_dev *d;
	int fd;
	u32 stop;
	pthread_t thread;
	struct emb_run run;
};

static void make_readable(const struct emb_watch *w)
{
	eventfd_write(w->fd, 1);
}

static void *watch(void *arg)
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
		if (emb_news(d))
			make_readable(w);
		emb_offer_help(d);
		ang_mb(); /* with hand_over(), as in doze() */
		w->run.in_vain = 0;
		if (!emb_help(&w->run, true))
			syscall(SYS_futex, &d->ctx->wake, FUTEX_WAIT, word, &ts,
				NULL, 0);
		emb_look_after(d->fab);
	}
	return NULL;
}

static int start(struct emb_watch *w)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&w->thread, NULL, watch, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

/* See struct ang_dev_ops. */
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
	ang_fetch_add(&d->ctx->asleep, 1);
	ret = start(w);
	if (ret)
		goto close_fd;
	d->watch = w;
	emb_seen(dev);
	return w->fd;

close_fd:
	ang_fetch_add(&d->ctx->asleep, (u32)-1);
	close(w->fd);
free_watch:
	free(w);
	return ret;
}

/*
 * See struct ang_dev_ops: the program has looked, angara_ctl.seen is new.  If
 * the device is gone this look is told, and the descriptor is quiet from then
 * on.
 */
int emb_seen(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;
	eventfd_t count;

	if (!d->watch)
		return emb_gone(d) ? -ENODEV : 0;
	eventfd_read(d->watch->fd, &count);
	if (emb_gone(d))
		return -ENODEV;
	emb_ring(&d->run, d->node, ANGARA_DB_PAGE(d->num) + ANGARA_DB_ARM,
		 le32_to_cpu(READ_ONCE(d->ctl->seen)));
	return 0;
}

/* Ends the thread; the context is still there. */
void emb_watch_end(struct emb_dev *d)
{
	struct emb_watch *w = d->watch;

	if (!w)
		return;
	ang_store_release(&w->stop, 1);
	ang_fetch_add(&d->ctx->wake, 1);
	emb_wake(d->ctx);
	pthread_join(w->thread, NULL);
	ang_fetch_add(&d->ctx->asleep, (u32)-1);
	close(w->fd);
	free(w);
	d->watch = NULL;
}
