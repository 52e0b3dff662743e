// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages between members of a group.
 *
 * Data is cut into blocks, one per message.  The receiver keeps blocks that it
 * is not ready for yet.  To limit their number, a sender has credit for
 * AFI_AHEAD blocks, which is returned as blocks are consumed.  Half of the
 * credit is reserved for the oldest operation.  Otherwise later operations,
 * which the receiver may not have begun, could use up the credit that the
 * oldest operation needs.
 */
#include <stdlib.h>
#include <string.h>

#include "coll.h"

#define AFI_FLYING_EACH	8	/* blocks in flight to one member */

static struct afi_talk *talk_of(struct afi_wire *wire)
{
	return (struct afi_talk *)(wire + 1);
}

static struct afi_send *new_send(struct afi_domain *d, u32 from_ep,
				 const struct afi_name *to, u32 from_serial,
				 const struct afi_talk *talk, size_t len,
				 bool ours)
{
	const struct angara_peer peer = afi_peer_of(to);
	struct afi_send *s = afi_send_new(d, ours, peer);
	struct afi_wire *wire;

	if (!s)
		return NULL;
	wire = afi_send_wire(d, s);
	s->head = (struct angara_head){
		.size = sizeof(s->head),
		.code = afi_code(AFI_MSG_TALK, to->ep),
	};
	*wire = (struct afi_wire){
		.to = to->serial,
		.from = from_serial,
		.ep = (u16)from_ep,
		.len = sizeof(*talk) + len,
	};
	*talk_of(wire) = *talk;
	s->len = sizeof(*wire) + sizeof(*talk) + len;
	return s;
}

/**
 * afi_talk_say() - send a message without data to a member
 * @g: group
 * @to: its rank
 * @talk: header; this function fills in both ranks
 *
 * Return: false: no room, try again.
 */
bool afi_talk_say(struct afi_group *g, u32 to, struct afi_talk talk)
{
	struct afi_send *s;

	talk.from = g->rank;
	talk.to = to;
	s = new_send(g->domain, g->ep->name.ep, &g->members[to].name,
		     g->ep->name.serial, &talk, 0, true);
	if (!s)
		return false;
	s->group = g->fid.fi_addr;
	s->rank = to;
	afi_send_go(g->domain, s, NULL);
	return true;
}

/*
 * As afi_talk_say(), but queues the message until there is room, independently
 * of the group.
 */
void afi_talk_owe(struct afi_group *g, u32 to, struct afi_talk talk)
{
	const struct afi_name *name = &g->members[to].name;
	const struct angara_peer peer = afi_peer_of(name);
	struct {
		struct afi_wire wire;
		struct afi_talk talk;
	} msg = {
		.wire.to = name->serial,
		.wire.from = g->ep->name.serial,
		.wire.ep = g->ep->name.ep,
		.wire.len = sizeof(talk),
	};

	talk.from = g->rank;
	talk.to = to;
	msg.talk = talk;
	if (!afi_owe(g->domain, peer,
		     afi_code(AFI_MSG_TALK, name->ep), &msg,
		     sizeof(msg)))
		AFI_INFO(EP_CTRL, "no memory to notify node %u\n", name->node);
}

static struct afi_call *call_of(const struct afi_group *g, u32 seq)
{
	struct afi_link *link;

	for (link = g->calls.next; link != &g->calls; link = link->next) {
		struct afi_call *call = afi_of(link, struct afi_call, link);

		if (call->seq == seq && !call->offloaded)
			return call;
	}
	return NULL;
}

/*
 * A message to a member has been sent or has failed, with @err from flow.c.  If
 * the member has left, only the failure of a data message matters, since the
 * member needs data.
 */
void afi_talk_sent(struct afi_domain *d, fi_addr_t addr, u32 to, u32 seq,
		   int err)
{
	struct afi_group *g = afi_group_at(d, addr);
	struct afi_call *call;

	if (!g)
		return;
	if (seq) {
		g->members[to].flying--;
		call = call_of(g, seq);
		if (call)
			call->flying--;
	}
	if (err && (seq || err != -FI_EHOSTUNREACH ||
		    d->up->group_misses(g, to)))
		d->up->group_fail(g, -err, err == -FI_ENODEV ? g->size : to);
	afi_group_set_busy(g);
}

/**
 * afi_talk_send() - send a block of a step, see struct ang_run_ops
 * @arg: operation
 * @i: step
 *
 * Return: 0; 1 there are more blocks; -EBUSY; -ECANCELED the group has failed.
 */
int afi_talk_send(void *arg, u32 i)
{
	struct afi_call *call = arg;
	const struct ang_step *step = &call->run.sched.steps[i];
	struct ang_run_step *p = &call->run.steps[i];
	struct afi_group *g = call->group;
	struct afi_member *m = &g->members[step->peer];
	bool oldest = g->calls.next == &call->link;
	size_t left = step->len - p->done;
	const struct afi_talk talk = {
		.group = g->id,
		.kind = AFI_TALK_DATA,
		.from = g->rank,
		.to = step->peer,
		.seq = call->seq,
		.step = step->tag,
		.off = p->done,
		.len = step->len,
	};
	struct afi_send *s;
	bool more;

	if (left > AFI_BLOCK_MAX)
		left = AFI_BLOCK_MAX;
	if (m->credit <= (oldest ? 0 : AFI_AHEAD / 2) ||
	    m->flying >= AFI_FLYING_EACH)
		return -EBUSY;
	s = new_send(g->domain, g->ep->name.ep, &m->name, g->ep->name.serial,
		     &talk, left, false);
	if (!s)
		return -EBUSY;
	if (left)
		memcpy(talk_of(afi_send_wire(g->domain, s)) + 1,
		       ang_run_data(&call->run, i) + p->done, left);
	s->group = g->fid.fi_addr;
	s->rank = step->peer;
	s->seq = call->seq;
	m->credit--;
	m->flying++;
	call->flying++;
	p->done += left;
	more = p->done != step->len;
	if (!more)
		ang_run_set(&call->run, i, ANG_RUN_ENDED);
	/* If the message cannot be posted, the group fails, and frees @call. */
	afi_send_go(g->domain, s, NULL);
	return g->state == AFI_GROUP_FAILED ? -ECANCELED : more;
}

/*
 * Takes a block of data. Return: false: the members disagree on the operation.
 */
static bool talk_take(struct afi_call *call, u32 i, const struct afi_talk *t,
		      const void *data, size_t len)
{
	const struct ang_step *s = &call->run.sched.steps[i];
	struct ang_run_step *p = &call->run.steps[i];
	size_t left = s->len - p->done;

	if (t->len != s->len || t->off != p->done ||
	    len != (left < AFI_BLOCK_MAX ? left : AFI_BLOCK_MAX)) {
		AFI_WARN(EP_DATA,
			 "members call a collective operation differently: node %u sends %llu bytes from byte %llu on, this process expects %zu from byte %zu on\n",
			 call->group->members[t->from].name.node,
			 (unsigned long long)t->len, (unsigned long long)t->off,
			 s->len, p->done);
		return false;
	}
	if (len)
		memcpy(ang_run_data(&call->run, i) + p->done, data, len);
	p->done += len;
	if (p->done == s->len)
		ang_run_set(&call->run, i, ANG_RUN_ENDED);
	if (++call->group->members[t->from].used >= AFI_AHEAD / 4)
		call->group->owes = true;
	return true;
}

static void talk_drop(struct afi_member *m, struct afi_heard *h)
{
	afi_list_del(&h->link);
	m->nkept--;
	free(h);
}

/**
 * afi_talk_begin() - begin to receive in a step, see struct ang_run_ops
 * @arg: operation
 * @i: step; the function takes data of the step that has arrived already
 *
 * Return: 0; -ECANCELED the group has failed.
 */
int afi_talk_begin(void *arg, u32 i)
{
	struct afi_call *call = arg;
	const struct ang_step *s = &call->run.sched.steps[i];
	struct afi_group *g = call->group;
	struct afi_member *m = &g->members[s->peer];
	struct afi_link *link, *next;

	for (link = m->kept.next;
	     link != &m->kept && call->run.steps[i].state == ANG_RUN_WAITS;
	     link = next) {
		struct afi_heard *h = afi_of(link, struct afi_heard, link);

		next = link->next;
		if (h->talk.seq != call->seq || h->talk.step != s->tag)
			continue;
		if (!talk_take(call, i, &h->talk, h->data, h->len)) {
			g->domain->up->group_fail(g, FI_EMSGSIZE, h->talk.from);
			return -ECANCELED;
		}
		talk_drop(m, h);
	}
	return 0;
}

/* Handles a block of data.  Return: false: no memory now. */
static bool heard_data(struct afi_group *g, const struct afi_talk *t,
		       const void *data, size_t len)
{
	struct afi_call *call = call_of(g, t->seq);
	struct afi_member *m = &g->members[t->from];
	u32 i = call ? ang_run_find(&call->run, ANG_STEP_RECV, t->from, t->step) :
		       ANG_NO_STEP;
	struct afi_heard *h;

	afi_group_set_busy(g);
	if (i != ANG_NO_STEP) {
		if (!talk_take(call, i, t, data, len))
			g->domain->up->group_fail(g, FI_EMSGSIZE, t->from);
		return true;
	}
	if (m->nkept == AFI_AHEAD) {
		AFI_WARN(EP_DATA, "node %u sends without credit\n",
			 m->name.node);
		g->domain->up->group_fail(g, FI_EIO, t->from);
		return true;
	}
	h = malloc(sizeof(*h) + len);
	if (!h)
		return false;
	h->talk = *t;
	h->len = len;
	if (len)
		memcpy(h->data, data, len);
	afi_list_add(&m->kept, &h->link);
	m->nkept++;
	return true;
}

/* Returns credits to members.  Return: true if any were returned. */
bool afi_talk_credit(struct afi_group *g)
{
	bool any = false, all = true;
	u32 i;

	for (i = 0; g->owes && i < g->size; i++) {
		struct afi_member *m = &g->members[i];
		const struct afi_talk talk = {
			.group = g->id,
			.kind = AFI_TALK_CREDIT,
			.seq = m->used,
		};

		if (m->used < AFI_AHEAD / 4)
			continue;
		if (afi_talk_say(g, i, talk)) {
			m->used = 0;
			any = true;
		} else {
			all = false;
		}
	}
	g->owes &= !all;
	return any;
}

/* Frees data that no operation will consume. */
void afi_talk_drop(struct afi_group *g)
{
	u32 i;

	for (i = 0; i < g->size; i++) {
		struct afi_member *m = &g->members[i];

		while (!afi_list_empty(&m->kept))
			talk_drop(m, afi_of(m->kept.next, struct afi_heard, link));
	}
}

static void heard_credit(struct afi_group *g, const struct afi_talk *t)
{
	struct afi_member *m = &g->members[t->from];

	if (t->seq > AFI_AHEAD - m->credit) {
		AFI_WARN(EP_DATA, "node %u returns too much credit\n",
			 m->name.node);
		g->domain->up->group_fail(g, FI_EIO, t->from);
		return;
	}
	m->credit += t->seq;
	afi_group_set_busy(g);
}

/*
 * Answers a probe of an endpoint or group that does not exist: AFI_TALK_GONE.
 * If there is no room, no answer is sent: the member that probes repeats the
 * probe.
 */
static void say_gone(struct afi_domain *d, u32 own_ep, u32 own_serial,
		     const struct afi_name *to, const struct afi_talk *about)
{
	const struct afi_talk talk = {
		.group = about->kind == AFI_TALK_JOIN ? 0 : about->group,
		.ticket = about->ticket,
		.kind = AFI_TALK_GONE,
		.from = about->to,
		.to = about->from,
	};
	struct afi_send *s = new_send(d, own_ep, to, own_serial, &talk, 0, true);

	if (s)
		afi_send_go(d, s, NULL);
}

/*
 * Answers a probe.  A failed group answers that it has failed, since its
 * notification may not have arrived. If there is no room, no answer is sent, as
 * in say_gone().
 */
static void say_here(struct afi_group *g, u32 to)
{
	struct afi_talk talk = {
		.group = g->id,
		.kind = AFI_TALK_HERE,
		.seq = g->seq,
	};

	if (g->state == AFI_GROUP_FAILED) {
		talk.kind = AFI_TALK_FAIL;
		talk.seq = g->culprit;
		talk.step = (u32)g->err;
	}
	afi_talk_say(g, to, talk);
}

static bool is_member(const struct afi_group *g, const struct afi_name *src,
		      const struct afi_talk *t)
{
	return t->from < g->size && t->to == g->rank && t->from != g->rank &&
	       afi_name_same(&g->members[t->from].name, src);
}

/* Return: false: cannot be handled now, deliver it again. */
static bool talk_heard(struct afi_domain *d, struct afi_ep *ep,
		       const struct afi_name *src, const struct afi_talk *t,
		       const void *data, size_t len)
{
	struct afi_group *g;

	if (t->kind != AFI_TALK_DATA && t->kind != AFI_TALK_CREDIT &&
	    t->kind != AFI_TALK_PROBE && t->kind != AFI_TALK_HERE)
		return d->up->group_heard(d, ep, src, t);
	if (!t->group)
		return true;
	g = afi_group_by_id(d, ep, t->group);
	if (!g) {
		if (t->kind == AFI_TALK_PROBE)
			say_gone(d, ep->name.ep, ep->name.serial, src, t);
		return true;
	}
	if (!is_member(g, src, t)) {
		AFI_INFO(EP_DATA, "node %u is not a member of the group\n",
			 src->node);
		return true;
	}
	if (t->kind == AFI_TALK_PROBE)
		say_here(g, t->from);
	else if (g->state == AFI_GROUP_FAILED)
		return true;
	if (t->kind == AFI_TALK_DATA)
		return heard_data(g, t, data, len);
	if (t->kind == AFI_TALK_CREDIT)
		heard_credit(g, t);
	if (t->kind == AFI_TALK_HERE)
		g->members[t->from].next = t->seq;
	return true;
}

static bool talk_asks(const struct afi_talk *t)
{
	return t->kind == AFI_TALK_PROBE || t->kind == AFI_TALK_JOIN;
}

/**
 * afi_talk_arrived() - handle a message that claims to be from a member
 * @d: domain, locked
 * @in: message
 *
 * Return: false: cannot be handled now, deliver it again.
 */
bool afi_talk_arrived(struct afi_domain *d, const struct angara_message *in)
{
	const char *body = (const char *)in->data + sizeof(struct afi_wire);
	u32 num = afi_code_to(in->head.code);
	struct afi_wire wire;
	struct afi_talk talk;
	struct afi_name src;
	struct afi_ep *ep;

	if (in->len >= sizeof(wire))
		memcpy(&wire, in->data, sizeof(wire));
	if (in->len < sizeof(wire) + sizeof(talk) ||
	    wire.len != in->len - sizeof(wire) || wire.ep >= AFI_EPS ||
	    !d->coll) {
		AFI_INFO(EP_DATA, "node %u sent a malformed message\n",
			 in->peer.node);
		return true;
	}
	memcpy(&talk, body, sizeof(talk));
	src = (struct afi_name){
		.fabric_id = d->about.fabric_id,
		.node = in->peer.node,
		.ctx = in->peer.ctx,
		.ep = wire.ep,
		.serial = wire.from,
	};
	ep = afi_ep_at(d, num);
	if (!ep || !ep->enabled || ep->name.serial != wire.to ||
	    !(ep->caps & FI_COLLECTIVE)) {
		if (talk_asks(&talk))
			say_gone(d, num, wire.to, &src, &talk);
		return true;
	}
	return talk_heard(d, ep, &src, &talk, body + sizeof(talk),
			  wire.len - sizeof(talk));
}
