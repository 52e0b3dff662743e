// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A thread that sees to groups while the program does something else: it makes
 * progress as long as there is joining, for which programs wait at an event
 * queue; and every second it looks for deadlines that are over, and asks those
 * that one waits for whether they are still there.  A member that has died sends
 * nothing, but nothing can be sent to it either.  And it answers others that ask
 * so, if its program has left the group and does not look any more.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offload.h"

#define AFI_TICK_MS	1000
#define AFI_PROBES	16	/* of a group, at a time */

/* Rank of who an operation waits for; afi_group.size: nobody in particular. */
u32 afi_call_waits_for(const struct afi_call *call)
{
	const struct afi_group *g = call->group;
	const struct afi_round *r = &call->round;
	u32 i;

	if (call->offloaded)
		return g->size;
	if (call->begun && r->receives && !r->in_done)
		return r->from;
	if (call->begun && r->sends && !r->out_done)
		return r->to;
	for (i = 0; i < g->size && !g->members[i].flying; i++)
		;
	return i;
}

static bool is_awaited(const struct afi_group *g, u32 rank)
{
	if (rank == g->rank)
		return false;
	if (g->rank)
		return !rank;
	return g->state == AFI_GROUP_WANT ? !g->members[rank].wants :
					    !g->members[rank].ready;
}

static void probe(struct afi_group *g, u32 rank)
{
	const struct afi_talk talk = {
		.group = g->id,
		.ticket = g->ticket,
		.kind = AFI_TALK_PROBE,
	};

	if (rank < g->size)
		afi_talk_say(g, rank, talk);
}

static void look_at_join(struct afi_group *g)
{
	u32 first = g->size, n = 0;
	u32 i;

	for (i = 0; i < g->size && n < AFI_PROBES; i++) {
		if (!is_awaited(g, i))
			continue;
		if (!n++)
			first = i;
		probe(g, i);
	}
	if (afi_past(g->end))
		afi_group_fail(g, FI_ETIMEDOUT, first);
}

/* It has told that it has not.  Numbers start anew after the highest. */
static bool has_not_called(const struct afi_call *call, u32 rank)
{
	const struct afi_group *g = call->group;
	u32 next = rank < g->size ? g->members[rank].next : 0;

	return next && ((next - 1 - call->seq) & INT32_MAX) >= 1U << 30;
}

/*
 * Rank of who an operation waits for, as far as that can be told.  Of adapters
 * it waits for all; rank 0 asks these, and the others ask rank 0.
 */
static u32 suspect(const struct afi_call *call)
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
		probe(g, 0);
	for (n = 0; !g->rank && n < AFI_PROBES && n < g->size; n++) {
		g->probed = (g->probed + 1) % g->size;
		if (g->probed)
			probe(g, g->probed);
	}
}

/*
 * The oldest that is late ends all.  Who waits for one that waits itself, as far
 * as is known, leaves it to others to say who is missing, and in the end does it.
 */
static void look_at_calls(struct afi_group *g)
{
	struct afi_link *link;
	bool offloaded = false;
	u32 n = 0;

	for (link = g->calls.next; link != &g->calls; link = link->next) {
		struct afi_call *call = afi_of(link, struct afi_call, link);
		u32 rank = suspect(call);

		if (afi_past(call->end) &&
		    (has_not_called(call, rank) ||
		     afi_past(call->end + AFI_TELL_MS * 1000000ULL))) {
			afi_group_fail(g, FI_ETIMEDOUT, rank);
			return;
		}
		offloaded |= call->offloaded;
		if (!call->offloaded && n++ < AFI_PROBES)
			probe(g, rank);
	}
	if (offloaded)
		probe_some(g);
	if (g->state == AFI_GROUP_AGREED && afi_past(g->end))
		afi_group_fail(g, FI_ETIMEDOUT, g->size);
}

static void look(struct afi_domain *d)
{
	struct afi_link *busy = &d->coll->busy, *link;

	for (link = busy->next; link != busy; link = link->next) {
		struct afi_group *g = afi_of(link, struct afi_group, busy);

		if (g->state < AFI_GROUP_AGREED)
			look_at_join(g);
		else if (g->state != AFI_GROUP_FAILED)
			look_at_calls(g);
	}
	afi_progress(d);
}

static void *minder(void *arg)
{
	struct afi_domain *d = arg;
	struct afi_coll *c = d->coll;
	u64 tick = afi_deadline(AFI_TICK_MS);

	afi_lock(d);
	while (!c->stop) {
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
			look(d);
			tick = afi_deadline(AFI_TICK_MS);
		}
	}
	afi_unlock(d);
	return NULL;
}

void afi_minder_wake(struct afi_domain *d)
{
	afi_wait_wake(&d->coll->all);
	afi_wait_wake(&d->coll->own);
}

/* From the first join on.  Return: 0; -FI_E*: there can be none. */
int afi_minder_start(struct afi_domain *d)
{
	struct afi_coll *c = d->coll;
	int ret;

	if (c->minded)
		return 0;
	ret = afi_wait_open(&c->all, d);
	if (ret)
		return ret;
	ret = afi_wait_open(&c->own, NULL);
	if (ret)
		goto close_all;
	ret = -pthread_create(&c->minder, NULL, minder, d);
	if (ret)
		goto close_own;
	c->minded = true;
	return 0;

close_own:
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
		AFI_WARN(DOMAIN, "FI_ANGARA_COLL is %s, not auto, offload or software\n",
			 way);
		return -FI_EINVAL;
	}
	return 0;
}

/* Seconds, 0: for ever. */
static int read_deadline(const char *name, int seconds)
{
	fi_param_get_int(&afi_provider, name, &seconds);
	if (seconds > INT32_MAX / 1000)
		seconds = INT32_MAX / 1000;
	return seconds > 0 ? seconds * 1000 : -1;
}

int afi_coll_init(struct afi_domain *d)
{
	struct afi_coll *c = calloc(1, sizeof(*c));
	pthread_condattr_t attr;
	u32 i;

	if (!c)
		return -FI_ENOMEM;
	afi_list_init(&c->sets);
	afi_list_init(&c->busy);
	afi_list_init(&c->wants);
	afi_list_init(&c->ending);
	for (i = 0; i < AFI_GROUP_CHAINS; i++)
		afi_list_init(&c->chains[i]);
	/* The clock of afi_deadline(). */
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
	if (c->minded) {
		afi_lock(d);
		c->stop = true;
		afi_unlock(d);
		afi_minder_wake(d);
		pthread_join(c->minder, NULL);
		afi_wait_close(&c->all);
		afi_wait_close(&c->own);
	}
	afi_offload_drop(d);
	while (!afi_list_empty(&c->wants)) {
		struct afi_want *w = afi_of(c->wants.next, struct afi_want, link);

		afi_list_del(&w->link);
		free(w);
	}
	pthread_cond_destroy(&c->ended);
	free(c->slots);
	free(c);
	d->coll = NULL;
}
