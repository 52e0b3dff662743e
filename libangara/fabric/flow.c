// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages on their way out.  A receiver that is slow holds the places of the
 * adapter that its messages take, so only a few are under way to each, and the
 * others wait here, in order.
 *
 * A peer can make this side answer and never take the answers in, nor what the
 * program sends.  So of the messages that there are each peer has but a part, of
 * the program's as of others: less, the fewer are left.  What has to arrive
 * nevertheless waits beside them until there is room (afi_owe()).
 */
#include <stdlib.h>
#include <string.h>

#include "coll.h"

#define AFI_WINDOW	4	/* messages under way to one context, if there is room */
#define AFI_FLYING	40	/* to all; the adapter has 64 places */
#define AFI_FLYING_BIG	10	/* it has 16 on fabrics of more nodes */
#define AFI_INLINED	2	/* those that go with their descriptors */

#define AFI_OWN_SENDS	64	/* that programs leave for answers */
#define AFI_OWN_SHARE	8	/* answers to one: one part of so many of the rest */
#define AFI_SEND_SHARE	4	/* the same of programs' messages */
#define AFI_OWED_SHARE	8	/* and of answers that wait */

int afi_flow_init(struct afi_domain *d)
{
	const size_t len = (size_t)AFI_SENDS * ANGARA_MAX_MSG;
	u32 i;

	afi_list_init(&d->sends_idle);
	afi_list_init(&d->sends_failed);
	afi_list_init(&d->flows_ready);
	afi_list_init(&d->flows_owing);
	d->sends_left = AFI_SENDS;
	d->flying_max = d->about.nodes > AFI_SMALL_NODES ? AFI_FLYING_BIG :
							   AFI_FLYING;
	d->sends = calloc(AFI_SENDS, sizeof(*d->sends));
	if (!d->sends || posix_memalign(&d->sends_mem, 4096, len))
		return -FI_ENOMEM;
	for (i = 0; i < AFI_SENDS; i++)
		afi_list_add(&d->sends_idle, &d->sends[i].link);
	return afi_low_reg(d, d->sends_mem, len, 0, &d->sends_mr);
}

static void forget(struct afi_domain *d, struct afi_flow *f, struct afi_owed *o)
{
	afi_list_del(&o->link);
	d->owed--;
	if (!--f->nowed)
		afi_list_del(&f->owing);
	free(o);
}

void afi_flow_free(struct afi_domain *d)
{
	u32 i;

	for (i = 0; i < AFI_FLOW_CHAINS; i++)
		while (d->flows[i]) {
			struct afi_flow *f = d->flows[i];

			d->flows[i] = f->next;
			while (f->nowed)
				forget(d, f, afi_of(f->owed.next,
						    struct afi_owed, link));
			free(f);
		}
	free(d->sends_mem);
	free(d->sends);
}

/* Return: what there is of messages to a context; NULL: no memory. */
struct afi_flow *afi_flow_of(struct afi_domain *d, struct angara_peer peer)
{
	struct afi_flow **at = &d->flows[(peer.node * 31U + peer.ctx) %
					 AFI_FLOW_CHAINS];
	struct afi_flow *f;

	for (f = *at; f; f = f->next)
		if (f->peer.node == peer.node && f->peer.ctx == peer.ctx)
			return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->peer = peer;
	afi_list_init(&f->ready);
	afi_list_init(&f->queue);
	afi_list_init(&f->owed);
	f->next = *at;
	*at = f;
	return f;
}

static size_t buffer_at(const struct afi_domain *d, const struct afi_send *s)
{
	return (size_t)(s - d->sends) * ANGARA_MAX_MSG;
}

/* The beginning of the message; data goes behind it. */
struct afi_wire *afi_send_wire(struct afi_domain *d, struct afi_send *s)
{
	return (struct afi_wire *)((char *)d->sends_mem + buffer_at(d, s));
}

/* Has the peer more than its part already? */
static bool has_share(const struct afi_domain *d, const struct afi_flow *f,
		      bool ours)
{
	return ours ? f->own > d->sends_left / AFI_OWN_SHARE :
		      f->sends > (d->sends_left - AFI_OWN_SENDS) / AFI_SEND_SHARE;
}

/**
 * afi_send_new() - take a message to send
 * @d: domain, locked
 * @ours: not for the program: it may have one of the last, but not many
 * @peer: to whom
 *
 * Return: it; NULL none is free for that, until others have been sent.
 */
struct afi_send *afi_send_new(struct afi_domain *d, bool ours,
			      struct angara_peer peer)
{
	struct afi_flow *flow;
	struct afi_send *s;

	if (d->sends_left <= (ours ? 0 : AFI_OWN_SENDS))
		return NULL;
	flow = afi_flow_of(d, peer);
	if (!flow || has_share(d, flow, ours))
		return NULL;
	s = afi_of(d->sends_idle.next, struct afi_send, link);
	afi_list_del(&s->link);
	d->sends_left--;
	s->flow = flow;
	s->ours = ours;
	s->inlined = false;
	flow->own += ours;
	flow->sends += !ours;
	s->op = NULL;
	s->group = 0;
	s->seq = 0;
	return s;
}

/* Gives back a message that was not sent. */
void afi_send_drop(struct afi_domain *d, struct afi_send *s)
{
	s->op = NULL;
	s->flow->own -= s->ours;
	s->flow->sends -= !s->ours;
	d->sends_left++;
	afi_list_add(&d->sends_idle, &s->link);
}

/* A message has ended, one way or the other, and its operation goes on. */
static void ended(struct afi_domain *d, struct afi_send *s, int ret,
		  const struct angara_completion *st)
{
	struct afi_op *op = s->op;
	fi_addr_t group = s->group;
	u32 rank = s->rank, seq = s->seq;

	afi_send_drop(d, s);
	if (op)
		afi_op_sent(op, ret, st);
	else if (group)
		afi_talk_sent(d, group, rank, seq, ret);
}

/* Who is slow keeps what he has: when half of it is gone, each peer gets one. */
static u32 window(const struct afi_domain *d)
{
	return d->flying < d->flying_max / 2 ? AFI_WINDOW : 1;
}

static void set_ready(struct afi_domain *d, struct afi_flow *f)
{
	afi_list_del(&f->ready);
	afi_list_init(&f->ready);
	if (!afi_list_empty(&f->queue) && f->flying < window(d))
		afi_list_add(&d->flows_ready, &f->ready);
}

static void sent(struct afi_domain *d, struct afi_await *a, int err,
		 const struct angara_completion *c)
{
	struct afi_send *s = afi_of(a, struct afi_send, await);

	afi_list_del(&s->link);
	s->flow->flying--;
	d->flying--;
	d->inlined -= s->inlined;
	set_ready(d, s->flow);
	ended(d, s, err, c);
}

/*
 * What the adapter takes with the descriptor it need not fetch.  But it has four
 * places for that, without which a context does not go on, and a message to who
 * is slow keeps its place.
 */
static int send(struct afi_domain *d, struct afi_send *s)
{
	struct angara_peer peer = s->flow->peer;
	const struct angara_op *how = afi_await(d, &s->await, sent);

	s->inlined = s->len <= ANGARA_MAX_INLINE && !s->flow->flying &&
		     d->inlined < AFI_INLINED;
	if (s->inlined)
		return angara_send_inline_nbi(d->ctx, peer, &s->head,
					      afi_send_wire(d, s), s->len, how);
	return angara_send_nbi(d->ctx, peer, &s->head, d->sends_mr,
			       buffer_at(d, s), s->len, how);
}

/* What cannot even be started ends with the others, in its turn. */
static void send_first(struct afi_domain *d, struct afi_flow *f)
{
	struct afi_send *s = afi_of(f->queue.next, struct afi_send, link);

	s->err = d->dead ? -FI_ENODEV : send(d, s);
	afi_awaited(d, &s->await, s->err);
	afi_list_del(&s->link);
	afi_list_init(&s->link);
	if (s->err)
		afi_list_add(&d->sends_failed, &s->link);
	f->flying++;
	d->flying++;
	d->inlined += s->inlined;
	set_ready(d, f);
}

/* One from each that may, in turn. */
static void send_ready(struct afi_domain *d)
{
	while (d->flying < d->flying_max && !afi_list_empty(&d->flows_ready) &&
	       afi_await_room(d, 1))
		send_first(d, afi_of(d->flows_ready.next, struct afi_flow,
				     ready));
}

/* Sends it when it is its turn.  @op: is told when it has been; or NULL */
void afi_send_go(struct afi_domain *d, struct afi_send *s, struct afi_op *op)
{
	s->op = op;
	if (op)
		op->live++;
	afi_list_add(&s->flow->queue, &s->link);
	set_ready(d, s->flow);
	send_ready(d);
}

static bool send_now(struct afi_domain *d, struct angara_peer peer, u16 code,
		     const void *data, size_t len)
{
	struct afi_send *s = afi_send_new(d, true, peer);

	if (!s)
		return false;
	s->head = (struct angara_head){ .code = code };
	s->len = len;
	memcpy(afi_send_wire(d, s), data, len);
	afi_send_go(d, s, NULL);
	return true;
}

/**
 * afi_owe() - send what the peer is to get, whatever else there is
 * @d: domain, locked
 * @peer: peer
 * @code: afi_code()
 * @data: message
 * @len: bytes
 *
 * Return: false: there is no memory to note it, and no room to send it.
 */
bool afi_owe(struct afi_domain *d, struct angara_peer peer, u16 code,
	     const void *data, size_t len)
{
	struct afi_flow *f = afi_flow_of(d, peer);
	struct afi_owed *o;

	if (!f)
		return false;
	if (!f->nowed && send_now(d, peer, code, data, len))
		return true;
	o = malloc(sizeof(*o) + len);
	if (!o)
		return false;
	o->code = code;
	o->len = len;
	memcpy(o->data, data, len);
	if (!f->nowed++)
		afi_list_add(&d->flows_owing, &f->owing);
	afi_list_add(&f->owed, &o->link);
	d->owed++;
	return true;
}

/* Return: has any been sent? */
static bool pay(struct afi_domain *d, struct afi_flow *f)
{
	bool any = false;

	while (f->nowed) {
		struct afi_owed *o = afi_of(f->owed.next, struct afi_owed, link);

		if (!send_now(d, f->peer, o->code, o->data, o->len))
			return any;
		forget(d, f, o);
		any = true;
	}
	return any;
}

static bool pay_all(struct afi_domain *d)
{
	struct afi_link *link, *next;
	bool any = false;

	for (link = d->flows_owing.next; link != &d->flows_owing; link = next) {
		next = link->next;
		any |= pay(d, afi_of(link, struct afi_flow, owing));
	}
	return any;
}

/* A peer waits for one answer of each operation, that it knows last. */
static void drop_stale(struct afi_domain *d, struct afi_flow *f, u32 op)
{
	struct afi_link *link, *next;
	struct afi_wire wire;

	for (link = f->owed.next; link != &f->owed; link = next) {
		struct afi_owed *o = afi_of(link, struct afi_owed, link);

		next = link->next;
		memcpy(&wire, o->data, sizeof(wire));
		if ((o->code & 15) != AFI_MSG_TALK && wire.op == op)
			forget(d, f, o);
	}
}

/* Is it owed as much as it can be?  That is less, the more others are owed. */
static bool owed_all(const struct afi_domain *d, const struct afi_flow *f)
{
	u32 left = d->owed < AFI_OWED ? AFI_OWED - d->owed : 0;

	return f->nowed && (f->nowed >= AFI_OWED_EACH ||
			    f->nowed >= left / AFI_OWED_SHARE);
}

/**
 * afi_reply() - answer a peer whose operation waits for that
 * @d: domain, locked
 * @peer: peer
 * @code: afi_code()
 * @wire: answer
 *
 * A peer has but so many operations: who lets more answers wait gets no others.
 *
 * Return: as afi_owe().
 */
bool afi_reply(struct afi_domain *d, struct angara_peer peer, u16 code,
	       const struct afi_wire *wire)
{
	struct afi_flow *f = afi_flow_of(d, peer);

	if (!f)
		return false;
	if (f->nowed)
		drop_stale(d, f, wire->op);
	if (!owed_all(d, f))
		return afi_owe(d, peer, code, wire, sizeof(*wire));
	AFI_INFO(EP_DATA, "node %u takes no answers\n", peer.node);
	return true;
}

/* Return: has any been sent, or ended? */
bool afi_send_progress(struct afi_domain *d)
{
	bool any = !afi_list_empty(&d->sends_failed);

	while (!afi_list_empty(&d->sends_failed)) {
		struct afi_send *s = afi_of(d->sends_failed.next,
					    struct afi_send, link);

		sent(d, &s->await, s->err, NULL);
	}
	any |= pay_all(d);
	send_ready(d);
	return any;
}

/* The message goes its way, but the operation does not wait for it. */
void afi_send_forget(struct afi_domain *d, const struct afi_op *op)
{
	u32 i;

	for (i = 0; i < AFI_SENDS; i++)
		if (d->sends[i].op == op)
			d->sends[i].op = NULL;
}
