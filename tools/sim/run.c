// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows of time, run by threads in parallel, in one process or several.
 *
 * There are two phases per window, and in each a task per partition:
 *
 *   plan	takes mail from other partitions, and finds the next event.  The
 *		thread that ends the last of these tasks agrees with the other
 *		processes on the next window in which a node has an event
 *   events	runs the events of the window.  The thread that ends the last of
 *		these tasks exchanges mail with the other processes
 *
 * A thread does the task of its own partition.  If another thread is late, because
 * another program uses its processor, a thread that waits does that task, too.  So a
 * phase waits only for threads that have begun a task.  Results do not depend on
 * which thread does a task.
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#include "sim.h"

#define SPINS	2000	/* checks for the next phase before a thread does tasks of others */

/**
 * struct crew - threads that run a simulation
 * @sim: simulation
 * @hand: threads
 * @phase: number of the current phase; phases of the kind "plan" are odd (atomic)
 * @ended: tasks of this phase that have ended (atomic)
 * @window: current window
 * @saved: time of the last checkpoint, in seconds since the start
 * @quiet: windows since the last check of that time
 * @stop: there are no events left, or the simulation stops at a checkpoint (atomic)
 * @progress: state of the progress bar
 */
struct crew {
	struct sim *sim;
	struct hand *hand;
	u64 phase;
	u32 ended;
	u64 window;
	u64 saved;
	u32 quiet;
	bool stop;
	struct progress {
		struct timespec start;
		double shown;
		u32 skip;
		bool tty;
		bool drawn;
	} progress;
};

/**
 * struct hand - a thread, and its partition
 * @taken: last phase in which a thread has begun the task of the partition (atomic)
 * @thread: thread
 * @crew: all threads
 * @index: partition of the thread
 */
struct hand {
	u64 taken ____cacheline_aligned;
	pthread_t thread;
	struct crew *crew;
	u32 index;
};

static double seconds_since(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - t->tv_sec) +
	       (double)(now.tv_nsec - t->tv_nsec) * 1e-9;
}

static void bar(struct crew *c, double part, double passed)
{
	char marks[31];
	u32 full = (u32)(part * 30);
	u32 i;

	for (i = 0; i < 30; i++)
		marks[i] = i < full ? '#' : '.';
	marks[30] = 0;
	fprintf(stderr, "\r%s [%s] %3.0f%%, %.0f s left   ",
		c->sim->title ? c->sim->title : "simulating", marks,
		100 * part, part > 0 ? passed / part - passed : 0);
	c->progress.drawn = true;
}

/* Updates the progress bar.  No task runs meanwhile, so the counts of partitions can be read. */
static void show_progress(struct crew *c)
{
	struct progress *g = &c->progress;
	struct sim *s = c->sim;
	double passed, part;
	u64 done = 0;
	u32 i;

	if (!g->tty || !(s->expect | s->until) || ++g->skip < 64)
		return;
	g->skip = 0;
	passed = seconds_since(&g->start);
	if (passed < g->shown + 0.5)
		return;
	g->shown = passed;
	for (i = 0; i < s->threads; i++)
		done += s->part[i].acc.done;
	if (s->expect)
		part = (double)done * s->nparts / s->threads / (double)s->expect;
	else
		part = (double)c->window * (double)s->window / (double)s->until;
	bar(c, part < 1 ? part : 1, passed);
}

/* Ends the run.  A thread that is late may be reading @stop. */
static void crew_stop(struct crew *c)
{
	__atomic_store_n(&c->stop, true, __ATOMIC_RELAXED);
}

/*
 * Writes a checkpoint if one is due.  All processes must write it between the same windows, so
 * they agree on the least of their clocks.
 */
static void checkpoint(struct crew *c, u64 next)
{
	struct sim *s = c->sim;
	u64 passed;
	int err;

	s->stopped = s->stop_at && next >= s->stop_at;
	if (!s->stopped) {
		if (++c->quiet < 1024)
			return;
		c->quiet = 0;
		passed = sim_comm_min((u64)seconds_since(&c->progress.start));
		if (passed < c->saved + s->every)
			return;
		c->saved = passed;
	}
	err = sim_checkpoint_write(s, s->checkpoint);
	if (err) {
		fprintf(stderr, "angara-sim: --checkpoint %s: %s\n",
			s->checkpoint, strerror(-err));
		exit(1);
	}
	if (s->stopped)
		crew_stop(c);
}

/*
 * Counts the events of the busiest partition of the last window.  After
 * --restore, the events before the checkpoint count as one window.
 */
static u64 count_most(struct sim *s)
{
	u64 most = 0;
	u32 i;

	for (i = 0; i < s->threads; i++) {
		struct sim_part *p = &s->part[i];

		most = sim_max(most, p->acc.events - p->counted);
		p->counted = p->acc.events;
	}
	return most;
}

static void next_window(struct crew *c)
{
	struct sim *s = c->sim;
	u64 next = SIM_NEVER, agreed[2];
	u32 i;

	for (i = 0; i < s->threads; i++)
		if (s->part[i].next < next)
			next = s->part[i].next;
	/* The complement of the earliest time is the greatest, so sim_comm_max() finds it. */
	agreed[0] = ~next;
	agreed[1] = count_most(s);
	sim_comm_max(agreed, 2);
	next = ~agreed[0];
	s->busiest += agreed[1];
	c->window = next / s->window;
	if (next == SIM_NEVER)
		crew_stop(c);
	else if (s->checkpoint)
		checkpoint(c, next);
	show_progress(c);
}

static void take(struct sim_part *p, struct sim_mails *box)
{
	u32 i;

	for (i = 0; i < box->n; i++)
		sim_mail_take(p, &box->m[i]);
	box->n = 0;
}

static void take_all(struct sim *s, struct sim_part *p, u32 index)
{
	u32 i;

	if (s->nparts == 1)
		return;
	for (i = 0; i < s->threads; i++)
		take(p, &s->part[i].out[p->index]);
	if (s->inbox)
		take(p, &s->inbox[index]);
}

static bool is_plan(u64 phase)
{
	return phase % 2;
}

/* Prepares the next phase: all tasks of this one have ended. */
static void phase_end(struct crew *c, u64 phase)
{
	c->ended = 0;
	if (is_plan(phase))
		next_window(c);
	else if (c->sim->nparts > 1)
		sim_comm_exchange(c->sim);
	__atomic_store_n(&c->phase, phase + 1, __ATOMIC_RELEASE);
}

/* Does the task of a partition.  Return: false: another thread has begun it. */
static bool task_do(struct crew *c, u32 index, u64 phase)
{
	struct sim *s = c->sim;
	struct sim_part *p = &s->part[index];
	u64 before = __atomic_load_n(&c->hand[index].taken, __ATOMIC_RELAXED);

	if (before != phase - 1 ||
	    !__atomic_compare_exchange_n(&c->hand[index].taken, &before, phase, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	if (is_plan(phase)) {
		take_all(s, p, index);
		p->next = sim_next_time(p);
	} else {
		sim_run_window(p, c->window);
	}
	if (__atomic_add_fetch(&c->ended, 1, __ATOMIC_ACQ_REL) == s->threads)
		phase_end(c, phase);
	return true;
}

/* Does tasks that no thread has begun.  Return: false: there were none. */
static bool tasks_help(struct crew *c, u64 phase)
{
	bool any = false;
	u32 i;

	for (i = 0; i < c->sim->threads; i++)
		any |= task_do(c, i, phase);
	return any;
}

/* Waits for the next phase.  Return: its number. */
static u64 phase_wait(struct crew *c, u64 phase)
{
	u32 spins = 0;
	u64 now;

	while ((now = __atomic_load_n(&c->phase, __ATOMIC_ACQUIRE)) == phase)
		if (++spins > SPINS && !tasks_help(c, phase))
			sched_yield();
	return now;
}

static void *work(void *arg)
{
	struct hand *h = arg;
	struct crew *c = h->crew;
	u64 phase = 1;

	while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
		task_do(c, h->index, phase);
		phase = phase_wait(c, phase);
	}
	return NULL;
}

static void start(struct sim *s)
{
	u32 i, node;

	if (!s->work->start)
		return;
	for (i = 0; i < s->threads; i++)
		for (node = s->part[i].lo; node < s->part[i].hi &&
		     !sim_is_switch(s, node); node++)
			s->work->start(&s->part[i], node);
}

/** sim_run() - run a simulation until no events are left */
void sim_run(struct sim *s)
{
	struct hand *hands = sim_zalloc_lines(s->threads, sizeof(*hands));
	struct crew c = { .sim = s, .hand = hands, .phase = 1 };
	u32 i;

	sim_lay_rows(s);
	if (!s->restore)
		start(s);
	clock_gettime(CLOCK_MONOTONIC, &c.progress.start);
	c.progress.tty = isatty(2) && !s->part0;
	for (i = 0; i < s->threads; i++) {
		hands[i].crew = &c;
		hands[i].index = i;
		if (i && pthread_create(&hands[i].thread, NULL, work, &hands[i])) {
			fprintf(stderr, "angara-sim: cannot start a thread\n");
			exit(1);
		}
	}
	work(&hands[0]);
	for (i = 1; i < s->threads; i++)
		pthread_join(hands[i].thread, NULL);
	if (c.progress.drawn)
		fprintf(stderr, "\r%78s\r", "");
	free(hands);
}
