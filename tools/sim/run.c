// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows of time, run by threads in parallel, in one process or several.
 *
 * Between windows all threads meet: they exchange mail and agree on the next
 * window in which a node has an event.  Waiting threads spin for a short time,
 * then yield.
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#include "sim.h"

#define SPINS	2000

struct crew {
	struct sim *sim;
	u32 arrived;
	u32 round;
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

struct hand {
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

/* The counts of other threads are read while these threads wait. */
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

/* Barrier; the last thread to arrive calls @last before all continue. */
static void meet(struct crew *c, void (*last)(struct crew *c))
{
	u32 round = __atomic_load_n(&c->round, __ATOMIC_ACQUIRE);
	u32 spins = 0;

	if (__atomic_add_fetch(&c->arrived, 1, __ATOMIC_ACQ_REL) ==
	    c->sim->threads) {
		last(c);
		c->arrived = 0;
		__atomic_store_n(&c->round, round + 1, __ATOMIC_RELEASE);
		return;
	}
	while (__atomic_load_n(&c->round, __ATOMIC_ACQUIRE) == round)
		if (++spins > SPINS)
			sched_yield();
}

/*
 * All processes must write a checkpoint at the same time: the latest clock
 * decides.
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
	c->stop = s->stopped;
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
	/*
	 * sim_comm_max() finds the greatest number: complements turn the
	 * earliest time into it.
	 */
	agreed[0] = ~next;
	agreed[1] = count_most(s);
	sim_comm_max(agreed, 2);
	next = ~agreed[0];
	s->busiest += agreed[1];
	c->stop = next == SIM_NEVER;
	c->window = next / s->window;
	if (s->checkpoint && !c->stop)
		checkpoint(c, next);
	show_progress(c);
}

static void exchange(struct crew *c)
{
	sim_comm_exchange(c->sim);
}

static void take(struct sim_part *p, struct sim_mails *box)
{
	u32 i;

	for (i = 0; i < box->n; i++)
		sim_mail_take(p, &box->m[i]);
	box->n = 0;
}

static void *work(void *arg)
{
	struct hand *h = arg;
	struct crew *c = h->crew;
	struct sim *s = c->sim;
	struct sim_part *p = &s->part[h->index];
	u32 i;

	for (;;) {
		p->next = sim_next_time(p);
		meet(c, next_window);
		if (c->stop)
			break;
		sim_run_window(p, c->window);
		if (s->nparts == 1)
			continue;
		meet(c, exchange);
		for (i = 0; i < s->threads; i++)
			take(p, &s->part[i].out[p->index]);
		if (s->inbox)
			take(p, &s->inbox[h->index]);
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
	struct crew c = { .sim = s };
	struct hand *hands = sim_zalloc(s->threads, sizeof(*hands));
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
