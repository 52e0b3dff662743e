// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Joining a group.
 *
 *	member			rank 0
 *	JOIN (its ticket)  ->	waits for all, and for its own program
 *			   <-	WELCOME (number of the group)
 *	READY		   ->	waits for all
 *			   <-	GO
 *
 * Members use the number only after all know it.  So a message with an unknown
 * number is about a group that has been closed.  The n-th join of the same
 * members at rank 0 takes the oldest request of each other member that is not
 * withdrawn; a member that gives up withdraws its request.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

struct afi_group *afi_group_at(const struct afi_domain *d, fi_addr_t addr)
{
	u32 slot = (u32)addr;
	struct afi_group *g;

	if (!d->coll || slot >= d->coll->nslots)
		return NULL;
	g = d->coll->slots[slot];
	return g && g->fid.fi_addr == addr ? g : NULL;
}

struct afi_group *afi_group_by_id(const struct afi_domain *d,
				  const struct afi_ep *ep, u64 id)
{
	const struct afi_link *chain = &d->coll->chains[id % AFI_GROUP_CHAINS];
	struct afi_link *link;

	for (link = chain->next; link != chain; link = link->next) {
		struct afi_group *g = afi_of(link, struct afi_group, chain);

		if (g->id == id && g->ep == ep)
			return g;
	}
	return NULL;
}

void afi_group_set_busy(struct afi_group *g)
{
	if (g->is_busy)
		return;
	g->is_busy = true;
	afi_list_add(&g->domain->coll->busy, &g->busy);
}

u64 afi_hash(u64 hash, const void *data, size_t len)
{
	const u8 *p = data;

	while (len--)
		hash = (hash ^ *p++) * 0x100000001B3ULL;
	return hash;
}

static void set_id(struct afi_group *g, u64 id)
{
	g->id = id;
	g->state = AFI_GROUP_WELCOME;
	afi_list_del(&g->chain);
	afi_list_add(&g->domain->coll->chains[id % AFI_GROUP_CHAINS],
		     &g->chain);
}

/* Reports the event of the join, which was allocated at its start. */
static void report(struct afi_group *g, int err)
{
	struct afi_event *ev = g->event;

	g->event = NULL;
	if (!ev)
		return;
	if (g->closing) {
		free(ev);
		return;
	}
	ev->error = err;
	ev->event = FI_JOIN_COMPLETE;
	if (err) {
		const struct fi_eq_err_entry entry = {
			.fid = &g->fid.fid,
			.context = g->context,
			.err = err,
			.prov_errno = afi_culprit_of(g, g->culprit),
		};

		ev->len = sizeof(entry);
		memcpy(ev->data, &entry, sizeof(entry));
	} else {
		const struct fi_eq_entry entry = {
			.fid = &g->fid.fid,
			.context = g->context,
		};

		ev->len = sizeof(entry);
		memcpy(ev->data, &entry, sizeof(entry));
	}
	afi_eq_append(g->ep->eq, ev);
}

static void joined(struct afi_group *g)
{
	g->state = AFI_GROUP_JOINED;
	g->domain->coll->joining--;
	AFI_INFO(EP_CTRL, "group %016llx: rank %u of %u, %s%s\n",
		 (unsigned long long)g->id, g->rank, g->size,
		 g->offload ? "offloaded" : "by software: ", g->why);
	report(g, 0);
}

/* All members know the number. */
static void agreed(struct afi_group *g)
{
	int ret;

	g->state = AFI_GROUP_AGREED;
	if (g->size == 1) {
		afi_group_formed(g, NULL, "it has one member");
		return;
	}
	if (!g->tree) {
		afi_group_formed(g, NULL,
				 "FI_ANGARA_COLL is software at a member");
		return;
	}
	g->ops = &afi_offload_ops;
	g->forming = true;
	ret = g->ops->form(g);
	if (!ret)
		return;
	g->forming = false;
	g->ops = NULL;
	afi_group_fail(g, -ret, g->rank);
}

void afi_group_formed(struct afi_group *g, void *offload, const char *why)
{
	bool needed = g->domain->coll->way == AFI_COLL_OFFLOAD && g->size > 1;

	g->offload = offload;
	g->forming = false;
	snprintf(g->why, sizeof(g->why), "%s", offload ? "" : why);
	afi_group_set_busy(g);
	if (g->state == AFI_GROUP_FAILED) {
		report(g, g->err);
	} else if (!offload && needed) {
		AFI_WARN(EP_CTRL, "FI_ANGARA_COLL is offload, but no tree: %s\n",
			 why);
		afi_group_fail(g, FI_EOPNOTSUPP, g->size);
	} else {
		joined(g);
	}
	pthread_cond_broadcast(&g->domain->coll->ended);
}

/*
 * Chooses the members to notify of a failure: those that have not given up yet.
 */
static void tell_of_failure(struct afi_group *g, enum afi_group_state was)
{
	g->told = 0;
	g->tell = AFI_TALK_FAIL;
	if (g->rank && was < AFI_GROUP_AGREED)
		g->tell = g->asked || was == AFI_GROUP_WELCOME ?
				  AFI_TALK_CANCEL : 0;
}

/**
 * afi_group_fail() - fail a group
 * @g: group; without effect if it has failed already
 * @err: FI_E*
 * @culprit: rank of the member that did not join or was lost; afi_group.size:
 *	none
 *
 * Ends all operations with the error, and frees them.
 */
void afi_group_fail(struct afi_group *g, int err, u32 culprit)
{
	enum afi_group_state was = g->state;

	if (was == AFI_GROUP_FAILED)
		return;
	g->state = AFI_GROUP_FAILED;
	g->err = err;
	g->culprit = culprit;
	if (!g->closing && culprit < g->size)
		AFI_WARN(EP_CTRL, "group %016llx: a member on node %u: %s\n",
			 (unsigned long long)g->id,
			 g->members[culprit].name.node, fi_strerror(err));
	else if (!g->closing)
		AFI_WARN(EP_CTRL, "group %016llx: %s\n",
			 (unsigned long long)g->id, fi_strerror(err));
	if (g->offload)
		g->ops->stop(g);
	tell_of_failure(g, was);
	afi_calls_fail(g);
	afi_group_set_busy(g);
	if (was == AFI_GROUP_JOINED)
		return;
	g->domain->coll->joining--;
	if (!g->forming)
		report(g, err);
}

static struct afi_talk what_to_tell(const struct afi_group *g, u32 to)
{
	struct afi_talk talk = {
		.group = g->id,
		.ticket = g->members[to].ticket,
		.kind = g->tell,
	};

	if (g->tell == AFI_TALK_GO)
		talk.step = g->tree;
	if (g->tell == AFI_TALK_CANCEL)
		talk.ticket = g->ticket;
	if (g->tell == AFI_TALK_FAIL || g->tell == AFI_TALK_CANCEL) {
		talk.seq = g->culprit;
		talk.step = (u32)g->err;
	}
	return talk;
}

/* A member that has not asked to join yet is not notified. */
static bool to_be_told(const struct afi_group *g, u32 to)
{
	if (to == g->rank || (g->tell == AFI_TALK_CANCEL && to))
		return false;
	return g->rank || g->members[to].wants;
}

/* Notifies all members of the last change.  Return: whether there was one. */
static bool tell(struct afi_group *g)
{
	bool any = false;

	if (!g->tell)
		return false;
	for (; g->told < g->size; g->told++) {
		if (!to_be_told(g, g->told))
			continue;
		if (!afi_talk_say(g, g->told, what_to_tell(g, g->told))) {
			if (!g->domain->sends_left)
				return any;
			/*
			 * A member that receives nothing does not delay the
			 * others.
			 */
			afi_talk_owe(g, g->told, what_to_tell(g, g->told));
		}
		any = true;
	}
	g->tell = 0;
	return any;
}

/*
 * Queues pending notifications independently of the group, which is being
 * freed.
 */
void afi_group_tell_rest(struct afi_group *g)
{
	for (; g->tell && g->told < g->size; g->told++)
		if (to_be_told(g, g->told))
			afi_talk_owe(g, g->told, what_to_tell(g, g->told));
}

static void start_telling(struct afi_group *g, enum afi_talk_kind what)
{
	g->tell = what;
	g->told = 0;
}

/* Rank 0: all members have asked to join, or know the number. */
static bool lead(struct afi_group *g)
{
	if (g->count < g->size || g->tell)
		return false;
	if (g->state == AFI_GROUP_WANT) {
		set_id(g, afi_hash(g->list, &g->ticket, sizeof(g->ticket)) | 1);
		g->count = 1;
		start_telling(g, AFI_TALK_WELCOME);
	} else {
		start_telling(g, AFI_TALK_GO);
		agreed(g);
	}
	return true;
}

static bool follow(struct afi_group *g)
{
	struct afi_talk talk = {
		.group = g->id,
		.ticket = g->ticket,
		.kind = AFI_TALK_READY,
	};

	if (g->asked)
		return false;
	if (g->state == AFI_GROUP_WANT) {
		talk.kind = AFI_TALK_JOIN;
		talk.group = g->list;
		talk.seq = g->size;
		talk.step = g->tree;
	}
	g->asked = afi_talk_say(g, 0, talk);
	return g->asked;
}

/* Return: whether there was work. */
bool afi_group_progress(struct afi_group *g)
{
	bool any = tell(g);

	if (g->state < AFI_GROUP_AGREED)
		any |= g->rank ? follow(g) : lead(g);
	return any | tell(g);
}

static bool fits(const struct afi_group *g, const struct afi_ep *ep,
		 const struct afi_name *src, const struct afi_talk *t)
{
	return g->ep == ep && g->state == AFI_GROUP_WANT && !g->rank &&
	       g->list == t->group && g->size == t->seq && t->from < g->size &&
	       !g->members[t->from].wants &&
	       afi_name_same(&g->members[t->from].name, src);
}

static void accept(struct afi_group *g, const struct afi_talk *t)
{
	struct afi_member *m = &g->members[t->from];

	m->wants = true;
	m->ticket = t->ticket;
	g->tree &= !!t->step;
	g->count++;
	afi_group_set_busy(g);
}

static struct afi_want *want_of(struct afi_link *link)
{
	return afi_of(link, struct afi_want, link);
}

static void want_drop(struct afi_coll *c, struct afi_want *w)
{
	afi_list_del(&w->link);
	c->nwants--;
	free(w);
}

/* Without room the request is ignored, as if the peer had not joined. */
static bool keep_want(struct afi_domain *d, const struct afi_ep *ep,
		      const struct afi_name *src, const struct afi_talk *t)
{
	struct afi_coll *c = d->coll;
	struct afi_link *link;
	struct afi_want *w;
	u32 each = 0;

	for (link = c->wants.next; link != &c->wants; link = link->next)
		each += want_of(link)->src.node == src->node &&
			want_of(link)->src.ctx == src->ctx;
	if (c->nwants == AFI_WANTS || each == AFI_WANTS_EACH) {
		AFI_INFO(EP_CTRL, "node %u: too many requests to join\n",
			 src->node);
		return true;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return false;
	w->src = *src;
	w->to = ep->name.serial;
	w->talk = *t;
	afi_list_add(&c->wants, &w->link);
	c->nwants++;
	return true;
}

/* Takes requests that arrived before the program's join. */
void afi_group_take_wants(struct afi_group *g)
{
	struct afi_coll *c = g->domain->coll;
	struct afi_link *link, *next;

	for (link = c->wants.next; link != &c->wants; link = next) {
		struct afi_want *w = want_of(link);

		next = link->next;
		if (w->to != g->ep->name.serial ||
		    !fits(g, g->ep, &w->src, &w->talk))
			continue;
		accept(g, &w->talk);
		want_drop(c, w);
	}
}

static bool heard_join(struct afi_domain *d, struct afi_ep *ep,
		       const struct afi_name *src, const struct afi_talk *t)
{
	struct afi_link *busy = &d->coll->busy, *link;

	for (link = busy->next; link != busy; link = link->next) {
		struct afi_group *g = afi_of(link, struct afi_group, busy);

		if (fits(g, ep, src, t)) {
			accept(g, t);
			return true;
		}
	}
	return keep_want(d, ep, src, t);
}

static void forget_want(struct afi_coll *c, const struct afi_name *src,
			u64 ticket)
{
	struct afi_link *link, *next;

	for (link = c->wants.next; link != &c->wants; link = next) {
		struct afi_want *w = want_of(link);

		next = link->next;
		if (w->talk.ticket == ticket && afi_name_same(&w->src, src))
			want_drop(c, w);
	}
}

/* Is the message about this join, and from a member? */
static bool is_about(const struct afi_group *g, const struct afi_ep *ep,
		     const struct afi_name *src, const struct afi_talk *t)
{
	const struct afi_member *m;

	if (g->ep != ep || t->from >= g->size || t->from == g->rank)
		return false;
	m = &g->members[t->from];
	if (!afi_name_same(&m->name, src))
		return false;
	if (t->kind == AFI_TALK_CANCEL)
		return m->wants && m->ticket == t->ticket;
	return t->ticket == g->ticket;
}

static struct afi_group *find(struct afi_domain *d, const struct afi_ep *ep,
			      const struct afi_name *src,
			      const struct afi_talk *t)
{
	struct afi_link *busy = &d->coll->busy, *link;
	struct afi_group *g = NULL;

	if (t->group && t->kind != AFI_TALK_WELCOME)
		g = afi_group_by_id(d, ep, t->group);
	if (g)
		return t->from < g->size && t->from != g->rank &&
		       afi_name_same(&g->members[t->from].name, src) ? g : NULL;
	for (link = busy->next; link != busy; link = link->next) {
		g = afi_of(link, struct afi_group, busy);
		if (is_about(g, ep, src, t))
			return g;
	}
	return NULL;
}

/* A failed group has an error. */
static int error_of(u32 err)
{
	return err ? afi_peer_error(err) : FI_EIO;
}

/**
 * afi_group_misses() - does the group need a member that is gone?
 * @g: group
 * @rank: member
 *
 * A member may close the group as soon as its own operations are complete,
 * before the others have handled its messages or completions of their adapters.
 * So its absence matters only during joining, and to operations for which it
 * still has work to do.  The adapters report failures of operations that they
 * execute.
 *
 * Return: whether the group has to fail.
 */
bool afi_group_misses(const struct afi_group *g, u32 rank)
{
	struct afi_link *link;

	if (g->state < AFI_GROUP_AGREED)
		return true;
	for (link = g->calls.next; link != &g->calls; link = link->next) {
		const struct afi_call *call = afi_of(link, struct afi_call, link);
		const struct ang_run *run = &call->run;
		u32 i;

		for (i = run->prefix; i < run->begun; i++)
			if (run->steps[i].state != ANG_RUN_ENDED &&
			    run->sched.steps[i].peer == rank)
				return true;
	}
	return false;
}

static void heard_change(struct afi_group *g, const struct afi_talk *t)
{
	struct afi_member *m = &g->members[t->from];

	switch (t->kind) {
	case AFI_TALK_WELCOME:
		if (t->from || g->state != AFI_GROUP_WANT || !t->group)
			return;
		if (afi_group_by_id(g->domain, g->ep, t->group)) {
			afi_group_fail(g, FI_EIO, 0);
			return;
		}
		set_id(g, t->group);
		g->asked = false;
		break;
	case AFI_TALK_READY:
		if (g->rank || g->state != AFI_GROUP_WELCOME || m->ready)
			return;
		m->ready = true;
		g->count++;
		break;
	case AFI_TALK_GO:
		if (t->from || g->state != AFI_GROUP_WELCOME)
			return;
		g->tree = t->step;
		agreed(g);
		break;
	case AFI_TALK_CANCEL:
		if (!g->rank)
			afi_group_fail(g, error_of(t->step), t->from);
		break;
	case AFI_TALK_FAIL:
		if (g->state == AFI_GROUP_FAILED)
			return;
		afi_group_fail(g, error_of(t->step),
			       t->seq < g->size ? t->seq : g->size);
		/*
		 * The member that detected the failure has notified the others.
		 */
		g->tell = 0;
		break;
	case AFI_TALK_GONE:
		if (afi_group_misses(g, t->from))
			afi_group_fail(g, FI_EHOSTUNREACH, t->from);
		break;
	}
	afi_group_set_busy(g);
}

/**
 * afi_group_heard() - handle a message about joining, or about a group's
 * failure
 * @d: domain, locked
 * @ep: endpoint that received it
 * @src: sender
 * @t: message
 *
 * Return: false: cannot be handled now, deliver it again.
 */
bool afi_group_heard(struct afi_domain *d, struct afi_ep *ep,
		     const struct afi_name *src, const struct afi_talk *t)
{
	struct afi_group *g;

	if (t->kind == AFI_TALK_JOIN)
		return t->to || !t->from || heard_join(d, ep, src, t);
	if (t->kind == AFI_TALK_CANCEL)
		forget_want(d->coll, src, t->ticket);
	g = find(d, ep, src, t);
	if (g)
		heard_change(g, t);
	return true;
}
