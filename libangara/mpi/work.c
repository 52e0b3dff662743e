// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations in progress.
 *
 * The collectives of a team, blocking or not, form a queue in the order of the
 * calls, which is the same at all members.  Persistent collectives are in the queue
 * only if the program asserts that all members start them in the same order
 * (call.c).  Only the first of the queue makes progress, so no operation overtakes
 * another.  Teams are independent.
 *
 * Progress is made by threads that are in this library: they wait for a
 * collective, or for requests (request.c).  A program may also be in another
 * function of the MPI, e.g. in MPI_Recv() for a message that another member
 * sends when its collective has ended.  So as long as non-blocking collectives
 * are in progress, a helper thread advances them from time to time.  It calls
 * libangara, but not the MPI: any level of MPI's thread support is sufficient.
 * A thread of the program makes the MPI calls that a request needs.
 *
 * A process that waits in this library calls the MPI so that the MPI makes
 * progress: another process may wait for a message that this process has started
 * to send.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ami.h"
#include "thread.h"

#define HELPER_NS	500000L	/* polling interval of the helper */
#define SPIN_TURNS	64U	/* polls before a thread yields its processor */
#define SLEEP_TURNS	256U	/* polls before a thread sleeps */
#define SLEEP_NS	50000L

static u32 pending;	/* requests that are not complete; atomic */

/** struct helper - the helper thread; @lock protects the other members */
static struct helper {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool runs;
	bool ends;
} helper = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
};

static void helper_nap(long ns)
{
	const struct timespec ts = { .tv_nsec = ns };

	nanosleep(&ts, NULL);
}

void ami_lock(struct ami_dev *dev)
{
	if (!pthread_mutex_trylock(&dev->lock))
		return;
	ang_fetch_add(&dev->wanted, 1);
	pthread_mutex_lock(&dev->lock);
	ang_fetch_add(&dev->wanted, -1);
}

void ami_unlock(struct ami_dev *dev)
{
	pthread_mutex_unlock(&dev->lock);
}

bool ami_pending(void)
{
	return ang_load_acquire(&pending) != 0;
}

/** ami_relax() - let other threads run, after @turns turns of a polling loop */
void ami_relax(u32 turns)
{
	if (turns < SPIN_TURNS)
		return;
	if (turns < SLEEP_TURNS)
		sched_yield();
	else
		helper_nap(SLEEP_NS);
}

/* Lets the MPI make progress with its messages. */
static void work_native(void)
{
	int any;

	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ami.world, &any,
		    MPI_STATUS_IGNORE);
}

static void team_push(struct ami_team *t, struct ami_work *w)
{
	w->next = NULL;
	if (!t->first) {
		t->last = &t->first;
		t->next_busy = t->dev->busy;
		t->dev->busy = t;
	}
	*t->last = w;
	t->last = &w->next;
}

/* Advances the operations of a team.  Return: true if all have ended. */
static bool team_step(struct ami_team *t)
{
	struct ami_work *w;

	while ((w = t->first) && ami_run_step(w)) {
		t->first = w->next;
		if (w->end != AMI_END_CALL) {
			w->next = t->dev->ended;
			t->dev->ended = w;
		}
		/* The waiting call may return now and free @w. */
		ang_store_release(&w->over, true);
	}
	return !t->first;
}

/* Advances the operations of all teams. */
static void dev_step(struct ami_dev *dev)
{
	struct ami_team **at;

	for (at = &dev->busy; *at;) {
		struct ami_team *t = *at;

		if (team_step(t))
			*at = t->next_busy;
		else
			at = &t->next_busy;
	}
}

/*
 * Takes completions and advances operations.  Return: -errno: the device is
 * gone.  Does not take the completions of a dead device: dev_fail() has ended the
 * requests that their cookies point to, and these requests may be freed.
 */
static int dev_poll(struct ami_dev *dev, int timeout_ms)
{
	struct angara_completion c[8];
	int n = dev->dead ? dev->dead :
		timeout_ms ? angara_poll_wait(dev->ctx, c, 8, timeout_ms) :
			     angara_poll(dev->ctx, c, 8);
	int i;

	for (i = 0; i < n; i++) {
		struct ami_req *req = (void *)(uintptr_t)c[i].cookie;

		req->status = c[i].status;
		req->live = false;
	}
	dev_step(dev);
	if (n == -ETIMEDOUT)
		work_native();
	return n < 0 && n != -ETIMEDOUT ? n : 0;
}

/* Ends all operations: without the device they would never end. */
static void dev_fail(struct ami_dev *dev, int err)
{
	struct ami_team *t;
	struct ami_work *w;
	u32 i;

	dev->dead = err;
	for (t = dev->busy; t; t = t->next_busy)
		for (w = t->first; w; w = w->next) {
			w->err = w->err ? w->err : err;
			for (i = 0; i < AMI_PARTS; i++)
				w->reqs[i].live = false;
		}
	for (t = dev->busy; t; t = t->next_busy)
		team_step(t);
	dev->busy = NULL;
}

/**
 * struct closing - a call of an error handler by this thread
 * @next: the call during which this one was made
 * @t: team of the failed operation; NULL: the handler has ended the team
 * @rest: operations to complete after this one
 */
struct closing {
	struct closing *next;
	struct ami_team *t;
	struct ami_work *rest;
};

static __thread struct closing *closings;

/*
 * Number of operations of a team whose error handlers this thread is executing.
 */
static u32 closings_of(const struct ami_team *t)
{
	const struct closing *c;
	u32 num = 0;

	for (c = closings; c; c = c->next)
		num += c->t == t;
	return num;
}

/*
 * Completes requests, in a thread of the program, without the lock.  The error
 * handler may free the communicator, so the operation is closed before the
 * handler is called; another thread that frees the communicator waits for the
 * end of the handler.
 */
static void works_end(struct ami_work *w)
{
	while (w) {
		struct closing here = {
			.next = closings, .t = w->k.t, .rest = w->next,
		};
		int class = ami_work_close(w);

		closings = &here;
		ami_work_failed(w, class);
		closings = here.next;
		if (here.t)
			ang_fetch_add(&here.t->unclosed, -1);
		ami_request_end(w, class);
		w = here.rest;
	}
}

/*
 * Completes operations that this thread would otherwise complete only after the
 * error handler returns: a handler that waits for one of them would never return.
 */
static void closings_complete(void)
{
	struct closing *c;

	for (c = closings; c; c = c->next) {
		struct ami_work *ended = c->rest;

		c->rest = NULL;
		works_end(ended);
	}
}

static struct ami_work *dev_ended(struct ami_dev *dev)
{
	struct ami_work *w = dev->ended, *first = NULL;

	/* Reverse the list: the oldest operation completes first. */
	while (w) {
		struct ami_work *next = w->next;

		w->next = first;
		first = w;
		w = next;
	}
	dev->ended = NULL;
	return first;
}

/**
 * ami_work_add() - append an operation to the queue of its team, and start it
 * @w: operation; if it has an error, this member cannot take part in it
 *
 * If nothing else is in progress, does not poll the context: a poll without a
 * completion may yield the processor, although other members wait for this
 * operation.
 */
void ami_work_add(struct ami_work *w)
{
	struct ami_team *t = w->k.t;
	struct ami_dev *dev = t->dev;
	bool busy;

	w->breaks = w->err;
	if (w->end != AMI_END_CALL)
		ang_fetch_add(&t->unclosed, 1);
	ami_lock(dev);
	busy = dev->busy;
	team_push(t, w);
	if (busy)
		dev_poll(dev, 0);
	else
		dev_step(dev);
	ami_unlock(dev);
}

/* Sleeps until there may be an event, for AMI_WAIT_MS at most. */
static int work_sleep(struct ami_work *w)
{
	struct ami_team *t = w->k.t;
	int ret;

	if (!t->team || !ami_run_receives(t->first))
		return dev_poll(t->dev, AMI_WAIT_MS);
	ret = angara_team_received_wait(t->team, t->arrived + 1, AMI_WAIT_MS);
	if (!ret && t->dev->busy == t && !t->next_busy) {
		dev_step(t->dev);
		return 0;
	}
	if (ret == -ETIMEDOUT)
		work_native();
	else if (ret)
		ami_run_fail(t->first, ret);
	return dev_poll(t->dev, 0);
}

/** ami_work_wait() - wait until the transfers of an operation have ended */
void ami_work_wait(struct ami_work *w)
{
	struct ami_dev *dev = w->k.t->dev;
	struct ami_work *ended;
	int ret;

	while (!ang_load_acquire(&w->over)) {
		/* A thread that sleeps with the lock would block other threads. */
		if (ang_load_acquire(&dev->wanted))
			helper_nap(SLEEP_NS);
		ami_lock(dev);
		ret = w->over ? 0 : work_sleep(w);
		if (ret)
			dev_fail(dev, ret);
		ended = dev_ended(dev);
		ami_unlock(dev);
		works_end(ended);
	}
}

static bool team_quiet(const struct ami_team *t)
{
	u32 i;

	for (i = 0; i < AMI_PARTS; i++)
		if (t->freed[i].live)
			return false;
	return !t->first && ang_load_acquire(&t->unclosed) == closings_of(t);
}

/**
 * ami_team_drain() - wait for all operations of a team before it ends
 *
 * Another thread may still close some of these operations, which refer to the
 * team.
 */
void ami_team_drain(struct ami_team *t)
{
	struct ami_dev *dev = t->dev;
	bool quiet = false, lost = false;
	struct ami_work *ended;
	struct closing *c;
	int ret;

	closings_complete();
	while (!quiet) {
		/* An error handler in another thread may need the context. */
		if (ang_load_acquire(&dev->wanted))
			helper_nap(SLEEP_NS);
		ami_lock(dev);
		ret = team_quiet(t) ? 0 : dev_poll(dev, AMI_WAIT_MS);
		if (ret)
			dev_fail(dev, ret);
		lost |= ret != 0;
		quiet = team_quiet(t) ||
			(lost && ang_load_acquire(&t->unclosed) == closings_of(t));
		ended = dev_ended(dev);
		ami_unlock(dev);
		works_end(ended);
	}
	for (c = closings; c; c = c->next)
		if (c->t == t)
			c->t = NULL;
}

/*
 * Polls a context, unless another thread holds its lock.  Return: with @take, the
 * operations that have ended, for works_end().
 */
static struct ami_work *dev_look(struct ami_dev *dev, bool take)
{
	struct ami_work *ended = NULL;
	int ret;

	if (pthread_mutex_trylock(&dev->lock))
		return NULL;
	ret = dev_poll(dev, 0);
	if (ret)
		dev_fail(dev, ret);
	if (take)
		ended = dev_ended(dev);
	ami_unlock(dev);
	return ended;
}

/** ami_progress() - advance all operations, in a thread of the program */
void ami_progress(void)
{
	struct ami_work *all = NULL, **last = &all;
	struct ami_dev *dev;

	closings_complete();
	pthread_mutex_lock(&ami.lock);
	for (dev = ami.devs; dev; dev = dev->next) {
		*last = dev_look(dev, true);
		while (*last)
			last = &(*last)->next;
	}
	pthread_mutex_unlock(&ami.lock);
	works_end(all);
}

static void *helper_run(void *arg)
{
	struct ami_dev *dev;

	(void)arg;
	pthread_mutex_lock(&helper.lock);
	while (!helper.ends) {
		if (!ami_pending()) {
			pthread_cond_wait(&helper.wake, &helper.lock);
			continue;
		}
		pthread_mutex_unlock(&helper.lock);
		helper_nap(HELPER_NS);
		pthread_mutex_lock(&ami.lock);
		for (dev = ami.devs; dev; dev = dev->next)
			dev_look(dev, false);
		pthread_mutex_unlock(&ami.lock);
		pthread_mutex_lock(&helper.lock);
	}
	pthread_mutex_unlock(&helper.lock);
	return NULL;
}

/** ami_pending_add() - count a started request */
void ami_pending_add(void)
{
	int ret;

	pthread_mutex_lock(&helper.lock);
	ang_fetch_add(&pending, 1);
	if (!helper.runs) {
		ret = ang_thread_start(&helper.thread, helper_run, NULL);
		helper.runs = !ret;
		if (ret)
			ami_say("rank %d: cannot create a thread (%s): non-blocking collectives make progress only while the program waits for them",
				ami.rank, strerror(ret));
	}
	if (ang_load_acquire(&pending) == 1)
		pthread_cond_signal(&helper.wake);
	pthread_mutex_unlock(&helper.lock);
}

/** ami_pending_end() - count a completed request */
void ami_pending_end(void)
{
	ang_fetch_add(&pending, -1);
}

/** ami_helper_end() - end the helper thread */
void ami_helper_end(void)
{
	pthread_mutex_lock(&helper.lock);
	helper.ends = true;
	pthread_cond_signal(&helper.wake);
	pthread_mutex_unlock(&helper.lock);
	if (helper.runs)
		pthread_join(helper.thread, NULL);
}
