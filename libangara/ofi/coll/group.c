// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Joining a group.  By their ranks, the members form a tree in which each has
 * at most AFI_JOIN_WAYS children, so a join takes a logarithmic number of
 * steps.
 *
 *	member			its parent
 *	JOIN (its ticket)  ->	waits for all children, and for its own program
 *			   <-	WELCOME (number of the group, chosen by rank 0)
 *	READY		   ->	waits for all children
 *			   <-	GO
 *
 * Each member sends JOIN and READY when all its children have sent theirs, and
 * passes WELCOME and GO on to them.  Members use the number only after all know
 * it, so a message with an unknown number belongs to a group that has been
 * closed.  If a parent joins several groups of the same members, each join
 * takes the oldest request of each child.  A member that gives up withdraws its
 * request.  Until all members know the number, the notification of a failed
 * join follows the tree; later, the member that detects the failure notifies
 * all members.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

/* Parent of a rank other than 0. */
static u32 parent_of(u32 rank)
{
	return (rank - 1) / AFI_JOIN_WAYS;
}

static bool is_child(const struct afi_group *g, u32 rank)
{
	return rank && rank < g->size && parent_of(rank) == g->rank;
}

static u32 children_of(const struct afi_group *g)
{
	u32 first = g->rank * AFI_JOIN_WAYS + 1;

	if (first >= g->size)
		return 0;
	return g->size - first < AFI_JOIN_WAYS ? g->size - first :
						 AFI_JOIN_WAYS;
}

/* Levels of the tree below a member. */
static u32 levels_below(const struct afi_group *g, u32 rank)
{
	u32 n = 0;

	while (rank * AFI_JOIN_WAYS + 1 < g->size) {
		rank = rank * AFI_JOIN_WAYS + 1;
		n++;
	}
	return n;
}

/*
 * Does this member still wait for its children: for their requests to join, or
 * until they have the number of the group?
 */
static bool awaits_children(const struct afi_group *g)
{
	return g->state < AFI_GROUP_AGREED && g->count < children_of(g);
}

/**
 * afi_group_awaits() - does the join wait for a member now?
 * @g: group whose members do not all know its number
 * @rank: member
 *
 * Return: true if it does.
 */
bool afi_group_awaits(const struct afi_group *g, u32 rank)
{
	if (!awaits_children(g))
		return g->rank && rank == parent_of(g->rank);
	return is_child(g, rank) && (g->state == AFI_GROUP_WANT ?
				     !g->members[rank].wants :
				     !g->members[rank].ready);
}

/**
 * afi_group_end() - compute the deadline of the current step of a join
 * @g: group
 *
 * The member that waits for a missing member reports the missing member as
 * culprit.  A member's deadline is AFI_TELL_MS before the deadline of the next
 * member in the tree, so the next member is notified in time.
 *
 * Return: deadline.
 */
u64 afi_group_end(const struct afi_group *g)
{
	u32 levels = levels_below(g, 0);

	if (g->end == UINT64_MAX)
		return g->end;
	if (awaits_children(g))
		levels = levels_below(g, g->rank) - 1;
	else if (!g->rank && levels)
		levels--;
	return g->end + levels * (AFI_TELL_MS * 1000000ULL);
}

/*
 * Changes the number of a group.  Adding the group to the table again cannot fail,
 * since it was there before.
 */
static void set_id(struct afi_group *g, u64 id)
{
	struct afi_hash *groups = &g->domain->coll->groups;

	g->id = id;
	g->state = AFI_GROUP_WELCOME;
	afi_hash_del(groups, &g->node);
	afi_hash_add(groups, &g->node, afi_mix(id, 0));
}

/* Reports the event of the join, which was allocated at its start. */
static void group_report(struct afi_group *g, int err)
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

static void group_joined(struct afi_group *g)
{
	g->state = AFI_GROUP_JOINED;
	g->domain->coll->joining--;
	AFI_INFO(EP_CTRL, "group %016llx: rank %u of %u, %s%s\n",
		 (unsigned long long)g->id, g->rank, g->size,
		 g->offload ? "offloaded" : "by software: ", g->why);
	group_report(g, 0);
}

/* Called when all members know the number of the group. */
static void group_agreed(struct afi_group *g)
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
	g->ops = g->domain->coll->offload;
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
		group_report(g, g->err);
	} else if (!offload && needed) {
		AFI_WARN(EP_CTRL, "FI_ANGARA_COLL is offload, but the group has no tree: %s\n",
			 why);
		afi_group_fail(g, FI_EOPNOTSUPP, g->size);
	} else {
		group_joined(g);
	}
	pthread_cond_broadcast(&g->domain->coll->ended);
}

static struct afi_talk join_request(const struct afi_group *g)
{
	return (struct afi_talk){
		.group = g->list,
		.ticket = g->ticket,
		.kind = AFI_TALK_JOIN,
		.seq = g->size,
		.step = g->tree,
	};
}

/*
 * Notifies the parent that this part of the tree does not join, and of the
 * culprit.  Sends the request to join first if it was not sent yet.
 */
static void group_withdraw(struct afi_group *g, enum afi_group_state was)
{
	const u32 to = parent_of(g->rank);
	const struct afi_talk cancel = {
		.group = g->id,
		.ticket = g->ticket,
		.kind = AFI_TALK_CANCEL,
		.seq = g->culprit,
		.step = (u32)g->err,
	};

	if (was == AFI_GROUP_WANT && !g->asked)
		afi_talk_owe(g, to, join_request(g));
	afi_talk_owe(g, to, cancel);
}

/*
 * Fails a group. @told: the members that this one would notify already know of
 * the failure.
 */
static void group_fail(struct afi_group *g, int err, u32 culprit, bool told)
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
	g->near = was < AFI_GROUP_AGREED;
	g->told = 0;
	g->tell = told && !g->near ? 0 : AFI_TALK_FAIL;
	if (g->near && g->rank && !told)
		group_withdraw(g, was);
	g->domain->up->calls_fail(g);
	afi_group_set_busy(g);
	if (was == AFI_GROUP_JOINED)
		return;
	g->domain->coll->joining--;
	if (!g->forming)
		group_report(g, err);
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
	group_fail(g, err, culprit, false);
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
	if (g->tell == AFI_TALK_FAIL) {
		talk.seq = g->culprit;
		talk.step = (u32)g->err;
	}
	return talk;
}

/*
 * Is a member to be notified?  During the join, only children that have
 * requested to join are notified.
 */
static bool to_be_told(const struct afi_group *g, u32 to)
{
	if (g->tell == AFI_TALK_FAIL && !g->near)
		return to != g->rank;
	return is_child(g, to) && g->members[to].wants;
}

/*
 * Notifies other members of the last change of state.  Return: true if any
 * member was notified.
 */
static bool group_tell(struct afi_group *g)
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
			 * Queue the notification, so that a member that
			 * receives nothing does not delay other notifications.
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

static void group_welcome(struct afi_group *g, u64 id)
{
	set_id(g, id);
	g->asked = false;
	g->count = 0;
	start_telling(g, AFI_TALK_WELCOME);
}

static void group_go(struct afi_group *g)
{
	start_telling(g, AFI_TALK_GO);
	group_agreed(g);
}

/*
 * At rank 0: starts the next phase of a join when all members have requested to
 * join, or when all know the number.
 */
static bool group_lead(struct afi_group *g)
{
	if (g->state == AFI_GROUP_WANT)
		group_welcome(g, afi_digest(g->list, &g->ticket, sizeof(g->ticket)) | 1);
	else
		group_go(g);
	return true;
}

/*
 * At other ranks: notifies the parent when all members of this part of the tree
 * have requested to join, or know the number.
 */
static bool group_follow(struct afi_group *g)
{
	const struct afi_talk ready = {
		.group = g->id,
		.ticket = g->ticket,
		.kind = AFI_TALK_READY,
	};

	if (g->asked)
		return false;
	g->asked = afi_talk_say(g, parent_of(g->rank),
				g->state == AFI_GROUP_WANT ? join_request(g) :
							     ready);
	return g->asked;
}

/* Advances a join.  Return: true if there was work. */
bool afi_group_progress(struct afi_group *g)
{
	bool any = group_tell(g);

	if (g->state < AFI_GROUP_AGREED && !g->tell && !awaits_children(g))
		any |= g->rank ? group_follow(g) : group_lead(g);
	return any | group_tell(g);
}

static bool group_fits(const struct afi_group *g, const struct afi_ep *ep,
		       const struct afi_name *src, const struct afi_talk *t)
{
	return g->ep == ep && g->state == AFI_GROUP_WANT &&
	       g->list == t->group && g->size == t->seq && is_child(g, t->from) &&
	       !g->members[t->from].wants &&
	       afi_name_same(&g->members[t->from].name, src);
}

static void group_accept(struct afi_group *g, const struct afi_talk *t)
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
	afi_list_del(&w->same);
	w->flow->nwants--;
	c->nwants--;
	free(w);
}

static struct afi_flow *want_flow(struct afi_domain *d,
				  const struct afi_name *src)
{
	const struct angara_peer peer = afi_peer_of(src);

	return afi_flow_of(d, peer);
}

/*
 * Keeps a request to join. If there is no room, the request is ignored, as if
 * the peer had not joined.
 */
static bool keep_want(struct afi_domain *d, const struct afi_ep *ep,
		      const struct afi_name *src, const struct afi_talk *t)
{
	struct afi_flow *from = want_flow(d, src);
	struct afi_coll *c = d->coll;
	struct afi_want *w;

	if (!from)
		return false;
	if (c->nwants == AFI_WANTS || from->nwants == AFI_WANTS_EACH) {
		AFI_INFO(EP_CTRL, "node %u: too many requests to join\n",
			 src->node);
		return true;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return false;
	w->flow = from;
	w->src = *src;
	w->to = ep->name.serial;
	w->talk = *t;
	afi_list_add(&c->wants, &w->link);
	afi_list_add(&from->wants, &w->same);
	from->nwants++;
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
		    !group_fits(g, g->ep, &w->src, &w->talk))
			continue;
		group_accept(g, &w->talk);
		want_drop(c, w);
	}
}

static bool heard_join(struct afi_domain *d, struct afi_ep *ep,
		       const struct afi_name *src, const struct afi_talk *t)
{
	struct afi_link *busy = &d->coll->busy, *link;

	for (link = busy->next; link != busy; link = link->next) {
		struct afi_group *g = afi_of(link, struct afi_group, busy);

		if (group_fits(g, ep, src, t)) {
			group_accept(g, t);
			return true;
		}
	}
	return keep_want(d, ep, src, t);
}

/*
 * Drops a withdrawn request.  Searches only the requests of this peer, since a
 * peer can withdraw any number of times.
 */
static void forget_want(struct afi_domain *d, const struct afi_name *src,
			u64 ticket)
{
	struct afi_flow *from = want_flow(d, src);
	struct afi_link *link, *next;

	for (link = from ? from->wants.next : NULL; link && link != &from->wants;
	     link = next) {
		struct afi_want *w = afi_of(link, struct afi_want, same);

		next = link->next;
		if (w->talk.ticket == ticket && afi_name_same(&w->src, src))
			want_drop(d->coll, w);
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

static struct afi_group *group_find(struct afi_domain *d, const struct afi_ep *ep,
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

/*
 * Return: a valid error number for an error that a peer has sent: the error of
 * a failed group must not be 0.
 */
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
 * before other members have handled its messages or completions of their
 * adapters.  So its absence matters only during the join, and to operations in
 * which it still has work to do.  The adapters report failures of operations
 * that they execute.
 *
 * Return: true if the group has to fail.
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

static u32 culprit_in(const struct afi_group *g, const struct afi_talk *t)
{
	return t->seq < g->size ? t->seq : g->size;
}

static bool from_parent(const struct afi_group *g, const struct afi_talk *t)
{
	return g->rank && t->from == parent_of(g->rank);
}

static void heard_change(struct afi_group *g, const struct afi_talk *t)
{
	struct afi_member *m = &g->members[t->from];

	switch (t->kind) {
	case AFI_TALK_WELCOME:
		if (!from_parent(g, t) || g->state != AFI_GROUP_WANT ||
		    !g->asked || !t->group)
			return;
		if (afi_group_by_id(g->domain, g->ep, t->group)) {
			afi_group_fail(g, FI_EIO, t->from);
			return;
		}
		group_welcome(g, t->group);
		break;
	case AFI_TALK_READY:
		if (!is_child(g, t->from) || g->state != AFI_GROUP_WELCOME ||
		    m->ready)
			return;
		m->ready = true;
		g->count++;
		break;
	case AFI_TALK_GO:
		if (!from_parent(g, t) || g->state != AFI_GROUP_WELCOME)
			return;
		g->tree = t->step;
		group_go(g);
		break;
	case AFI_TALK_CANCEL:
		if (is_child(g, t->from))
			afi_group_fail(g, error_of(t->step),
				       t->seq == g->rank ? t->from :
							   culprit_in(g, t));
		break;
	case AFI_TALK_FAIL:
		group_fail(g, error_of(t->step), culprit_in(g, t), true);
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
		return !t->from || t->to != parent_of(t->from) ||
		       heard_join(d, ep, src, t);
	if (t->kind == AFI_TALK_CANCEL)
		forget_want(d, src, t->ticket);
	g = group_find(d, ep, src, t);
	if (g)
		heard_change(g, t);
	return true;
}
