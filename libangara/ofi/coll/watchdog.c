// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A thread that monitors groups independently of the program's calls.
 *
 * While a join is in progress the thread calls afi_progress(), since programs
 * wait for joins at an event queue.  Every second it checks deadlines, and
 * probes members for which an operation waits: a member that has died sends
 * nothing, but messages to it fail.  It also answers probes of other members if
 * the program has closed the group and no longer calls libfabric.
 *
 * If the program uses the domain from one thread (afi_domain.single), the thread
 * ends when it has had no work for a while, and calls take no lock again.  A peer
 * that needs answers after that has called an operation that this member has not
 * called: it gets an error from its deadline.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coll.h"

#define AFI_TICK_MS	1000	/* ms between checks; AFI_IDLE_TICKS counts seconds */
#define AFI_PROBES	16	/* probes of a group per round */

/*
 * Return: rank for which an operation waits; afi_group.size: no particular
 * member.
 */
u32 afi_call_waits_for(const struct afi_call *call)
{
	const struct afi_group *g = call->group;
	const struct ang_run *run = &call->run;
	u32 i;

	if (call->offloaded)
		return g->size;
	/*
	 * Only RECEIVE steps wait: a SEND step ends when all of it is posted.
	 */
	for (i = run->prefix; i < run->begun; i++)
		if (run->steps[i].state == ANG_RUN_WAITS)
			return run->sched.steps[i].peer;
	if (run->prefix < run->begun)
		return run->sched.steps[run->prefix].peer;
	for (i = 0; i < g->size && !g->members[i].flying; i++)
		;
	return i;
}

static void watchdog_probe(struct afi_group *g, u32 rank)
{
	const struct afi_talk talk = {
		.group = g->id,
		.ticket = g->ticket,
		.kind = AFI_TALK_PROBE,
	};

	if (rank < g->size)
		afi_talk_say(g, rank, talk);
}

static void watchdog_check_join(struct afi_group *g)
{
	u32 first = g->size, n = 0;
	u32 i;

	for (i = 0; i < g->size && n < AFI_PROBES; i++) {
		if (!afi_group_awaits(g, i))
			continue;
		if (!n++)
			first = i;
		watchdog_probe(g, i);
	}
	if (afi_past(afi_group_end(g)))
		afi_group_fail(g, FI_ETIMEDOUT, first);
}

/*
 * Has a member reported that it has not started this operation yet?  Sequence
 * numbers wrap around.
 */
static bool has_not_called(const struct afi_call *call, u32 rank)
{
	const struct afi_group *g = call->group;
	u32 next = rank < g->size ? g->members[rank].next : 0;

	return next && ((next - 1 - call->seq) & INT32_MAX) >= 1U << 30;
}

/*
 * Return: rank for which an operation probably waits.  An operation of the
 * adapters waits for all members: rank 0 probes all of them, and other members
 * probe rank 0.
 */
static u32 watchdog_suspect(const struct afi_call *call)
{
	const struct afi_group *g = call->group;
	u32 i = 0;

	if (!call->offloaded)
		return afi_call_waits_for(call);
	while (i < g->size && !has_not_called(call, i))
		i++;
	return i;
}

static void probe_some(struct afi_group *g)
{
	u32 n;

	if (g->rank)
		watchdog_probe(g, 0);
	for (n = 0; !g->rank && n < AFI_PROBES && n < g->size; n++) {
		g->probed = (g->probed + 1) % g->size;
		if (g->probed)
			watchdog_probe(g, g->probed);
	}
}

/*
 * Fails the group if the deadline of an operation has passed.  If the member for
 * which this member waits may be waiting itself, other members first get
 * AFI_TELL_MS to report the culprit.
 */
static void watchdog_check_calls(struct afi_group *g)
{
	struct afi_link *link;
	bool offloaded = false;
	u32 n = 0;

	for (link = g->calls.next; link != &g->calls; link = link->next) {
		struct afi_call *call = afi_of(link, struct afi_call, link);
		u32 rank = watchdog_suspect(call);

		if (afi_past(call->end) &&
		    (has_not_called(call, rank) ||
		     afi_past(call->end + AFI_TELL_MS * 1000000ULL))) {
			afi_group_fail(g, FI_ETIMEDOUT, rank);
			return;
		}
		offloaded |= call->offloaded;
		if (!call->offloaded && n++ < AFI_PROBES)
			watchdog_probe(g, rank);
	}
	if (offloaded)
		probe_some(g);
	if (g->state == AFI_GROUP_AGREED && afi_past(afi_group_end(g)))
		afi_group_fail(g, FI_ETIMEDOUT, g->size);
}

static void watchdog_check(struct afi_domain *d)
{
	struct afi_link *busy = &d->coll->busy, *link;

	for (link = busy->next; link != busy; link = link->next) {
		struct afi_group *g = afi_of(link, struct afi_group, busy);

		if (g->state < AFI_GROUP_AGREED)
			watchdog_check_join(g);
		else if (g->state != AFI_GROUP_FAILED)
			watchdog_check_calls(g);
	}
	/*
	 * The tree of a closed group is destroyed after a last barrier.  In an
	 * embedded fabric this barrier may be on a board, where polls advance it:
	 * one poll per tick would take long.  Arming takes the barrier off its
	 * board, and packets complete it.
	 */
	if (afi_list_empty(&d->coll->ending))
		afi_progress(d);
	else
		afi_wait_arm(d);
}

/*
 * May the thread end?  Without groups there is no thread of a tree, but trees may
 * have to be destroyed and messages of closed groups to be sent.
 */
static bool watchdog_idles(const struct afi_domain *d)
{
	const struct afi_coll *c = d->coll;

	return d->single && !c->groups.count && afi_list_empty(&c->ending) &&
	       !d->owed && d->sends_left == AFI_SENDS;
}

static void *watchdog_run(void *arg)
{
	struct afi_domain *d = arg;
	struct afi_coll *c = d->coll;
	u64 tick = afi_deadline(AFI_TICK_MS);
	u32 idle = 0;

	afi_lock(d);
	while (!c->stop && idle < AFI_IDLE_TICKS) {
		struct afi_wait *w = c->joining ? &c->all : &c->own;

		afi_wait_quiet(w);
		if (c->joining)
			afi_wait_arm(d);
		afi_unlock(d);
		afi_wait_sleep(w, tick);
		afi_lock(d);
		if (c->joining)
			afi_progress(d);
		if (afi_past(tick)) {
			watchdog_check(d);
			idle = watchdog_idles(d) ? idle + 1 : 0;
			tick = afi_deadline(AFI_TICK_MS);
		}
	}
	/* The next call that locks the domain joins this thread. */
	d->leaves = !c->stop;
	afi_unlock(d);
	return NULL;
}

void afi_watchdog_wake(struct afi_domain *d)
{
	afi_wait_wake(&d->coll->all);
	afi_wait_wake(&d->coll->own);
}

/*
 * Makes calls lock the domain from now on, since the domain is about to get another
 * thread.  So far, the caller is its only thread.
 */
static void begin_locking(struct afi_domain *d)
{
	if (!d->alone)
		return;
	d->alone = false;
	afi_lock(d);
}

/*
 * Makes calls of a single domain lock nothing from now on. The caller has locked
 * the domain, and is its only thread.
 */
static void end_locking(struct afi_domain *d)
{
	if (!d->single)
		return;
	afi_unlock(d);
	d->alone = true;
}

/* Waits for the end of the thread, which locks nothing any more. */
static void watchdog_join(struct afi_coll *c)
{
	pthread_join(c->watchdog, NULL);
	afi_wait_close(&c->all);
	afi_wait_close(&c->own);
	c->has_watchdog = false;
}

/**
 * afi_watchdog_left() - go on without the thread
 * @d: domain, locked by a call of the program, with afi_domain.leaves
 *
 * The provider has no other thread in the domain: only a call can create a group,
 * and with it a thread for a tree, and the call locks the domain first.
 */
void afi_watchdog_left(struct afi_domain *d)
{
	d->leaves = false;
	watchdog_join(d->coll);
	end_locking(d);
}

/* Ends the thread, if it exists, when the domain is closed. */
static void watchdog_stop(struct afi_domain *d)
{
	struct afi_coll *c = d->coll;

	/* If the thread has ended by itself, afi_lock() joins it. */
	afi_lock(d);
	c->stop = true;
	afi_unlock(d);
	if (!c->has_watchdog)
		return;
	afi_watchdog_wake(d);
	watchdog_join(c);
}

/*
 * Starts the thread, if there is none, at a join. Return: 0; -FI_E*: it cannot be
 * created.
 */
int afi_watchdog_start(struct afi_domain *d)
{
	struct afi_coll *c = d->coll;
	int ret;

	if (c->has_watchdog)
		return 0;
	ret = afi_wait_open(&c->all, d);
	if (ret)
		return ret;
	ret = afi_wait_open(&c->own, NULL);
	if (ret)
		goto close_all;
	begin_locking(d);
	ret = afi_thread_start(&c->watchdog, watchdog_run, d);
	if (ret)
		goto unlock;
	c->has_watchdog = true;
	return 0;

unlock:
	end_locking(d);
	afi_wait_close(&c->own);
close_all:
	afi_wait_close(&c->all);
	return ret;
}

static int read_way(struct afi_coll *c)
{
	char *way = NULL;

	if (fi_param_get_str(&afi_provider, "coll", &way) || !way ||
	    !strcmp(way, "auto"))
		return 0;
	if (!strcmp(way, "offload")) {
		c->way = AFI_COLL_OFFLOAD;
	} else if (!strcmp(way, "software")) {
		c->way = AFI_COLL_SOFTWARE;
	} else {
		AFI_WARN(DOMAIN, "invalid FI_ANGARA_COLL '%s': expected auto, offload or software\n",
			 way);
		return -FI_EINVAL;
	}
	return 0;
}

/* Reads a timeout in seconds; 0: none.  Return: milliseconds; -1: no deadline. */
static int read_deadline(const char *name, int seconds)
{
	fi_param_get_int(&afi_provider, name, &seconds);
	if (seconds > INT32_MAX / 1000)
		seconds = INT32_MAX / 1000;
	return seconds > 0 ? seconds * 1000 : -1;
}

/* @offload: how adapters execute operations */
int afi_coll_init(struct afi_domain *d, const struct afi_offload_ops *offload)
{
	struct afi_coll *c = calloc(1, sizeof(*c));
	pthread_condattr_t attr;

	if (!c)
		return -FI_ENOMEM;
	c->offload = offload;
	afi_list_init(&c->sets);
	afi_list_init(&c->busy);
	afi_list_init(&c->wants);
	afi_list_init(&c->ending);
	/* Uses the clock of afi_deadline(). */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->ended, &attr);
	pthread_condattr_destroy(&attr);
	c->join_ms = read_deadline("join_timeout", AFI_JOIN_S);
	c->call_ms = read_deadline("coll_timeout", AFI_CALL_S);
	d->coll = c;
	return read_way(c);
}

void afi_coll_free(struct afi_domain *d)
{
	struct afi_coll *c = d->coll;

	if (!c)
		return;
	watchdog_stop(d);
	c->offload->drop(d);
	while (!afi_list_empty(&c->wants)) {
		struct afi_want *w = afi_of(c->wants.next, struct afi_want, link);

		afi_list_del(&w->link);
		free(w);
	}
	pthread_cond_destroy(&c->ended);
	free(c->slots);
	afi_hash_free(&c->groups);
	free(c);
	d->coll = NULL;
}
