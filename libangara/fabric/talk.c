// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What members of a group say to each other.
 *
 * Data goes in blocks, each of which is one message.  Blocks that the receiver
 * has not asked for yet it keeps; so that this is limited, a sender has credit
 * for AFI_AHEAD of them, which comes back as they are taken in.  Half of it is
 * for the oldest operation alone: else later ones, which the receiver may not
 * have begun, could use up what those need that it waits for.
 */
#include <stdlib.h>
#include <string.h>

#include "coll.h"

#define AFI_FLYING_EACH	8	/* blocks to one member under way */

static struct afi_talk *talk_of(struct afi_wire *wire)
{
	return (struct afi_talk *)(wire + 1);
}

static struct afi_send *new_send(struct afi_domain *d, u32 from_ep,
				 const struct afi_name *to, u32 from_serial,
				 const struct afi_talk *talk, size_t len,
				 bool ours)
{
	const struct angara_peer peer = { .node = to->node, .ctx = to->ctx };
	struct afi_send *s = afi_send_new(d, ours, peer);
	struct afi_wire *wire;

	if (!s)
		return NULL;
	wire = afi_send_wire(d, s);
	s->head = (struct angara_head){
		.code = afi_code(AFI_MSG_TALK, from_ep, to->ep),
	};
	*wire = (struct afi_wire){
		.to = to->serial,
		.from = from_serial,
		.len = sizeof(*talk) + len,
	};
	*talk_of(wire) = *talk;
	s->len = sizeof(*wire) + sizeof(*talk) + len;
	return s;
}

/**
 * afi_talk_say() - say something without data to a member
 * @g: group
 * @to: its rank
 * @talk: what to say; the sender's rank and the addressee's are filled in
 *
 * Return: false: not now, there is no room.
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

/* The same, and it waits for room by itself: the group need not be there. */
void afi_talk_owe(struct afi_group *g, u32 to, struct afi_talk talk)
{
	const struct afi_name *name = &g->members[to].name;
	const struct angara_peer peer = { .node = name->node, .ctx = name->ctx };
	struct {
		struct afi_wire wire;
		struct afi_talk talk;
	} msg = {
		.wire.to = name->serial,
		.wire.from = g->ep->name.serial,
		.wire.len = sizeof(talk),
	};

	talk.from = g->rank;
	talk.to = to;
	msg.talk = talk;
	if (!afi_owe(g->domain, peer,
		     afi_code(AFI_MSG_TALK, g->ep->name.ep, name->ep), &msg,
		     sizeof(msg)))
		AFI_INFO(EP_CTRL, "no memory to tell node %u\n", name->node);
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
 * A message to a member has been sent, or not: @err is what flow.c tells.  Of
 * one that has left that is no news unless it was data, which it needs.
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
	if (err && (seq || err != -FI_EHOSTUNREACH || afi_group_misses(g, to)))
		afi_group_fail(g, -err, err == -FI_ENODEV ? g->size : to);
	afi_group_set_busy(g);
}

/* Return: false: not now. */
static bool send_block(struct afi_call *call, struct afi_round *r)
{
	struct afi_group *g = call->group;
	struct afi_member *m = &g->members[r->to];
	bool oldest = g->calls.next == &call->link;
	size_t left = r->out_len - r->out_off;
	const struct afi_talk talk = {
		.group = g->id,
		.kind = AFI_TALK_DATA,
		.from = g->rank,
		.to = r->to,
		.seq = call->seq,
		.step = r->out_step,
		.off = r->out_off,
		.len = r->out_len,
	};
	struct afi_send *s;

	if (left > AFI_BLOCK_MAX)
		left = AFI_BLOCK_MAX;
	if (m->credit <= (oldest ? 0 : AFI_AHEAD / 2) ||
	    m->flying >= AFI_FLYING_EACH)
		return false;
	s = new_send(g->domain, g->ep->name.ep, &m->name, g->ep->name.serial,
		     &talk, left, false);
	if (!s)
		return false;
	if (left)
		memcpy(talk_of(afi_send_wire(g->domain, s)) + 1,
		       r->out + r->out_off, left);
	s->group = g->fid.fi_addr;
	s->rank = r->to;
	s->seq = call->seq;
	m->credit--;
	m->flying++;
	call->flying++;
	r->out_off += left;
	r->out_done = r->out_off == r->out_len;
	afi_send_go(g->domain, s, NULL);
	return true;
}

/* Is it what the round waits for? */
static bool wanted(const struct afi_call *call, const struct afi_talk *t)
{
	const struct afi_round *r = &call->round;

	return call->begun && r->receives && !r->in_done && r->from == t->from &&
	       r->in_step == t->step;
}

/* Return: false: the members do not mean the same operation. */
static bool take(struct afi_call *call, const struct afi_talk *t,
		 const void *data, size_t len)
{
	struct afi_round *r = &call->round;
	size_t left = r->in_len - r->in_off;

	if (t->len != r->in_len || t->off != r->in_off ||
	    len != (left < AFI_BLOCK_MAX ? left : AFI_BLOCK_MAX)) {
		AFI_WARN(EP_DATA, "node %u gives %llu bytes where %zu belong\n",
			 call->group->members[t->from].name.node,
			 (unsigned long long)t->len, r->in_len);
		return false;
	}
	if (len)
		memcpy(r->in + r->in_off, data, len);
	r->in_off += len;
	r->in_done = r->in_off == r->in_len;
	if (++call->group->members[t->from].used >= AFI_AHEAD / 4)
		call->group->owes = true;
	return true;
}

static void drop(struct afi_member *m, struct afi_heard *h)
{
	afi_list_del(&h->link);
	m->nkept--;
	free(h);
}

/* A round begins: takes in what has come for it before. */
void afi_talk_begin(struct afi_call *call)
{
	struct afi_group *g = call->group;
	struct afi_member *m = &g->members[call->round.from];
	struct afi_link *link, *next;

	if (!call->round.receives)
		return;
	for (link = m->kept.next; link != &m->kept; link = next) {
		struct afi_heard *h = afi_of(link, struct afi_heard, link);

		next = link->next;
		if (h->talk.seq != call->seq || !wanted(call, &h->talk))
			continue;
		if (!take(call, &h->talk, h->data, h->len)) {
			afi_group_fail(g, FI_EMSGSIZE, h->talk.from);
			return;
		}
		drop(m, h);
	}
}

/* Sends what can be.  Return: was there anything? */
bool afi_talk_round(struct afi_call *call)
{
	bool any = false;

	while (call->round.sends && !call->round.out_done &&
	       send_block(call, &call->round))
		any = true;
	return any;
}

/* Return: false: there is no memory now. */
static bool heard_data(struct afi_group *g, const struct afi_talk *t,
		       const void *data, size_t len)
{
	struct afi_call *call = call_of(g, t->seq);
	struct afi_member *m = &g->members[t->from];
	struct afi_heard *h;

	afi_group_set_busy(g);
	if (call && wanted(call, t)) {
		if (!take(call, t, data, len))
			afi_group_fail(g, FI_EMSGSIZE, t->from);
		return true;
	}
	if (m->nkept == AFI_AHEAD) {
		AFI_WARN(EP_DATA, "node %u sends more than it may\n",
			 m->name.node);
		afi_group_fail(g, FI_EIO, t->from);
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

/* Tells members that they may send more.  Return: was there any? */
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

/* Nobody will ask for what has been kept. */
void afi_talk_drop(struct afi_group *g)
{
	u32 i;

	for (i = 0; i < g->size; i++) {
		struct afi_member *m = &g->members[i];

		while (!afi_list_empty(&m->kept))
			drop(m, afi_of(m->kept.next, struct afi_heard, link));
	}
}

static void heard_credit(struct afi_group *g, const struct afi_talk *t)
{
	struct afi_member *m = &g->members[t->from];

	if (t->seq > AFI_AHEAD - m->credit) {
		AFI_WARN(EP_DATA, "node %u gives more credit than it took\n",
			 m->name.node);
		afi_group_fail(g, FI_EIO, t->from);
		return;
	}
	m->credit += t->seq;
	afi_group_set_busy(g);
}

/*
 * Answers for an endpoint or a group that is not there, in its name.  Who has
 * asked does so again if there is no room for the answer now.
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

/* Who has failed says so, as it may not have come to yet.  Else as above. */
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

/* Return: false: not now, it is to come again. */
static bool heard(struct afi_domain *d, struct afi_ep *ep,
		  const struct afi_name *src, const struct afi_talk *t,
		  const void *data, size_t len)
{
	struct afi_group *g;

	if (t->kind != AFI_TALK_DATA && t->kind != AFI_TALK_CREDIT &&
	    t->kind != AFI_TALK_PROBE && t->kind != AFI_TALK_HERE)
		return afi_group_heard(d, ep, src, t);
	if (!t->group)
		return true;
	g = afi_group_by_id(d, ep, t->group);
	if (!g) {
		if (t->kind == AFI_TALK_PROBE)
			say_gone(d, ep->name.ep, ep->name.serial, src, t);
		return true;
	}
	if (!is_member(g, src, t)) {
		AFI_INFO(EP_DATA, "node %u is no member of the group\n",
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

static bool asks(const struct afi_talk *t)
{
	return t->kind == AFI_TALK_PROBE || t->kind == AFI_TALK_JOIN;
}

/**
 * afi_talk_arrived() - a message of a member, or of who says so
 * @d: domain, locked
 * @in: message
 *
 * Return: false: not now, it is to come again.
 */
bool afi_talk_arrived(struct afi_domain *d, const struct angara_message *in)
{
	const char *body = (const char *)in->data + sizeof(struct afi_wire);
	u32 num = in->head.code >> 4 & (AFI_EPS - 1);
	struct afi_wire wire;
	struct afi_talk talk;
	struct afi_name src;
	struct afi_ep *ep;

	if (in->len >= sizeof(wire))
		memcpy(&wire, in->data, sizeof(wire));
	if (in->len < sizeof(wire) + sizeof(talk) ||
	    wire.len != in->len - sizeof(wire) || !d->coll) {
		AFI_INFO(EP_DATA, "node %u sent what makes no sense\n",
			 in->peer.node);
		return true;
	}
	memcpy(&talk, body, sizeof(talk));
	src = (struct afi_name){
		.fabric_id = d->about.fabric_id,
		.node = in->peer.node,
		.ctx = in->peer.ctx,
		.ep = in->head.code >> 10,
		.serial = wire.from,
	};
	ep = d->eps[num];
	if (!ep || !ep->enabled || ep->name.serial != wire.to ||
	    !(ep->caps & FI_COLLECTIVE)) {
		if (asks(&talk))
			say_gone(d, num, wire.to, &src, &talk);
		return true;
	}
	return heard(d, ep, &src, &talk, body + sizeof(talk),
		     wire.len - sizeof(talk));
}
