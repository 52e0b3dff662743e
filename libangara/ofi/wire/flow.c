// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Outgoing messages.  A message to a slow receiver occupies one of the
 * adapter's operation slots until it is delivered.  So only a few messages are
 * in flight to each receiver; later ones wait here, in order.
 *
 * A peer can cause answers without receiving them.  So each peer may use only a
 * share of the messages that are free.  The program's messages and answers have
 * separate shares.  Messages that must arrive (afi_owe()) wait in separate
 * memory until there is room.  If there is no path to the receiver, they are sent
 * again with the next probes (probe.c), until there is a path or the receiver is
 * gone.
 */
#include <stdlib.h>
#include <string.h>

#include "coll.h"

#define AFI_WINDOW	4	/* most messages in flight to one context */
#define AFI_FLYING	40	/* in flight to all contexts, with 64 slots */
#define AFI_FLYING_BIG	10	/* in flight to all contexts, with 16 slots */
#define AFI_INLINED	2	/* in flight to all contexts, inline in descriptors */

#define AFI_OWN_SENDS	64	/* messages reserved for answers */
#define AFI_OWN_SHARE	8	/* a peer's share of free messages for answers: 1/8 */
#define AFI_SEND_SHARE	4	/* a peer's share for the program's messages: 1/4 */
#define AFI_OWED_SHARE	8	/* a peer's share of room for owed messages: 1/8 */

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
	return angara_mr_reg(d->dom, d->sends_mem, len, 0, &d->sends_mr);
}

static void flow_forget(struct afi_domain *d, struct afi_flow *f, struct afi_owed *o)
{
	afi_list_del(&o->link);
	d->owed--;
	if (!--f->nowed) {
		afi_list_del(&f->owing);
		f->cut = false;
	}
	free(o);
}

static struct afi_flow *flow_of(struct afi_node *node)
{
	return node ? afi_of(node, struct afi_flow, node) : NULL;
}

void afi_flow_free(struct afi_domain *d)
{
	struct afi_flow *f;

	while ((f = flow_of(afi_hash_pop(&d->flows)))) {
		while (f->nowed)
			flow_forget(d, f, afi_of(f->owed.next, struct afi_owed,
						 link));
		free(f);
	}
	afi_hash_free(&d->flows);
	free(d->sends_mem);
	free(d->sends);
}

/*
 * Return: the flow of messages to a context, which may be new; NULL: no memory.
 */
struct afi_flow *afi_flow_of(struct afi_domain *d, struct angara_peer peer)
{
	const u32 hash = afi_mix(peer.node, peer.ctx);
	struct afi_flow *f;

	for (f = flow_of(afi_hash_first(&d->flows, hash)); f;
	     f = flow_of(afi_hash_next(f->node.next, hash)))
		if (f->peer.node == peer.node && f->peer.ctx == peer.ctx)
			return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->peer = peer;
	afi_list_init(&f->ready);
	afi_list_init(&f->queue);
	afi_list_init(&f->owed);
	afi_list_init(&f->wants);
	if (!afi_hash_add(&d->flows, &f->node, hash))
		return f;
	free(f);
	return NULL;
}

static size_t buffer_at(const struct afi_domain *d, const struct afi_send *s)
{
	return (size_t)(s - d->sends) * ANGARA_MAX_MSG;
}

/* Return: buffer for the header of the message; its data follows. */
struct afi_wire *afi_send_wire(struct afi_domain *d, struct afi_send *s)
{
	return (struct afi_wire *)((char *)d->sends_mem + buffer_at(d, s));
}

/* Has the peer used up its share of messages? */
static bool has_share(const struct afi_domain *d, const struct afi_flow *f,
		      bool ours)
{
	return ours ? f->own > d->sends_left / AFI_OWN_SHARE :
		      f->sends > (d->sends_left - AFI_OWN_SENDS) / AFI_SEND_SHARE;
}

/**
 * afi_send_new() - allocate a message
 * @d: domain, locked
 * @ours: an answer, which may use the reserved messages within its share
 * @peer: receiver
 *
 * Return: message; NULL: none is free now.
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

/* Frees a message that was not sent. */
void afi_send_drop(struct afi_domain *d, struct afi_send *s)
{
	s->op = NULL;
	s->flow->own -= s->ours;
	s->flow->sends -= !s->ours;
	d->sends_left++;
	afi_list_add(&d->sends_idle, &s->link);
}

/* Queues an owed message of a flow.  Return: false: no memory. */
static bool flow_owe(struct afi_domain *d, struct afi_flow *f, u16 code,
		     const void *data, size_t len)
{
	struct afi_owed *o = malloc(sizeof(*o) + len);

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

/*
 * Queues an answer again that had no path to its receiver: the receiver waits for the
 * answer.  If it has got the answer already, it ignores the second one.
 */
static void owe_again(struct afi_domain *d, struct afi_send *s)
{
	struct afi_flow *f = s->flow;

	if (!flow_owe(d, f, s->head.code, afi_send_wire(d, s), s->len)) {
		AFI_INFO(EP_DATA, "no memory to answer node %u again\n", f->peer.node);
		return;
	}
	f->cut = true;
	d->cut = true;
	d->probing = true;
}

/**
 * afi_send_again() - send answers again that had no path to their receivers
 * @d: domain, locked
 */
void afi_send_again(struct afi_domain *d)
{
	struct afi_link *link;

	for (link = d->flows_owing.next; link != &d->flows_owing; link = link->next)
		afi_of(link, struct afi_flow, owing)->cut = false;
	d->cut = false;
}

/*
 * Handles the end of a message, with or without error: continues its operation.
 */
static void flow_ended(struct afi_domain *d, struct afi_send *s, int ret,
		       const struct angara_completion *st)
{
	struct afi_op *op = s->op;
	fi_addr_t group = s->group;
	u32 rank = s->rank, seq = s->seq;

	if (ret == -FI_ENETUNREACH && s->ours && !op && !group)
		owe_again(d, s);
	afi_send_drop(d, s);
	if (op)
		d->up->op_sent(op, ret, st);
	else if (group)
		d->up->talk_sent(d, group, rank, seq, ret);
}

/*
 * When in-flight messages take half of the adapter's slots, each peer may have
 * only one in flight, so slow receivers cannot hold all slots.
 */
static u32 flow_window(const struct afi_domain *d)
{
	return d->flying < d->flying_max / 2 ? AFI_WINDOW : 1;
}

static void set_ready(struct afi_domain *d, struct afi_flow *f)
{
	afi_list_del(&f->ready);
	afi_list_init(&f->ready);
	if (!afi_list_empty(&f->queue) && f->flying < flow_window(d))
		afi_list_add(&d->flows_ready, &f->ready);
}

static void flow_sent(struct afi_domain *d, struct afi_await *a, int err,
		      const struct angara_completion *c)
{
	struct afi_send *s = afi_of(a, struct afi_send, await);

	afi_list_del(&s->link);
	s->flow->flying--;
	d->flying--;
	d->inlined -= s->inlined;
	set_ready(d, s->flow);
	flow_ended(d, s, err, c);
}

/*
 * Sends a message.  A short message is inline in its descriptor, so the adapter
 * need not fetch it.  But the adapter has only four slots for inline messages;
 * a message to a slow receiver keeps its slot, and the context stalls if no
 * slot is free.
 */
static int flow_send(struct afi_domain *d, struct afi_send *s)
{
	struct angara_peer peer = s->flow->peer;
	const struct angara_op *how = afi_await(d, &s->await, flow_sent);

	s->inlined = s->len <= ANGARA_MAX_INLINE && !s->flow->flying &&
		     d->inlined < AFI_INLINED;
	if (s->inlined)
		return angara_send_inline_nbi(d->ctx, peer, &s->head,
					      afi_send_wire(d, s), s->len, how);
	return angara_send_nbi(d->ctx, peer, &s->head, d->sends_mr,
			       buffer_at(d, s), s->len, how);
}

/*
 * Sends the first message of a flow.  If the message cannot be started, its end
 * is handled in order with the ends of messages that were sent.
 */
static void send_first(struct afi_domain *d, struct afi_flow *f)
{
	struct afi_send *s = afi_of(f->queue.next, struct afi_send, link);

	s->err = d->dead ? -FI_ENODEV : flow_send(d, s);
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

/* Sends one message of each ready flow, round robin. */
static void send_ready(struct afi_domain *d)
{
	while (d->flying < d->flying_max && !afi_list_empty(&d->flows_ready) &&
	       afi_await_room(d, 1))
		send_first(d, afi_of(d->flows_ready.next, struct afi_flow,
				     ready));
}

/* Queues a message.  @op: operation to notify when it has been sent; or NULL */
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
	s->head = (struct angara_head){ .size = sizeof(s->head), .code = code };
	s->len = len;
	memcpy(afi_send_wire(d, s), data, len);
	afi_send_go(d, s, NULL);
	return true;
}

/**
 * afi_owe() - send a message that must arrive
 * @d: domain, locked
 * @peer: peer
 * @code: afi_code()
 * @data: message
 * @len: bytes
 *
 * Return: false: no memory to queue it, and no room to send it.
 */
bool afi_owe(struct afi_domain *d, struct angara_peer peer, u16 code,
	     const void *data, size_t len)
{
	struct afi_flow *f = afi_flow_of(d, peer);

	if (!f)
		return false;
	return (!f->nowed && send_now(d, peer, code, data, len)) ||
	       flow_owe(d, f, code, data, len);
}

/* Sends the owed messages of a flow while there is room.  Return: true if any was sent. */
static bool flow_pay(struct afi_domain *d, struct afi_flow *f)
{
	bool any = false;

	while (f->nowed && !f->cut) {
		struct afi_owed *o = afi_of(f->owed.next, struct afi_owed, link);

		if (!send_now(d, f->peer, o->code, o->data, o->len))
			return any;
		flow_forget(d, f, o);
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
		any |= flow_pay(d, afi_of(link, struct afi_flow, owing));
	}
	return any;
}

/*
 * Drops older answers to an operation: its peer waits only for the latest one.
 */
static void drop_stale(struct afi_domain *d, struct afi_flow *f, u32 op)
{
	struct afi_link *link, *next;
	struct afi_wire wire;

	for (link = f->owed.next; link != &f->owed; link = next) {
		struct afi_owed *o = afi_of(link, struct afi_owed, link);

		next = link->next;
		memcpy(&wire, o->data, sizeof(wire));
		if (afi_code_type(o->code) != AFI_MSG_TALK && wire.op == op)
			flow_forget(d, f, o);
	}
}

/*
 * Has the peer used up its share of owed messages?  The share shrinks as other
 * peers use more.
 */
static bool owed_all(const struct afi_domain *d, const struct afi_flow *f)
{
	u32 left = d->owed < AFI_OWED ? AFI_OWED - d->owed : 0;

	return f->nowed && (f->nowed >= AFI_OWED_EACH ||
			    f->nowed >= left / AFI_OWED_SHARE);
}

/**
 * afi_reply() - answer a peer whose operation waits for it
 * @d: domain, locked
 * @peer: peer
 * @code: afi_code()
 * @wire: answer
 *
 * A peer has a limited number of operations.  If more answers to the peer are
 * waiting than that number, or than the peer's share, new answers are dropped.
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
	AFI_INFO(EP_DATA, "an answer to node %u is dropped: too many are waiting\n", peer.node);
	return true;
}

/*
 * Sends waiting messages; see afi_send_waits().
 * Return: true if a message was sent, or has ended.
 */
bool afi_send_progress(struct afi_domain *d)
{
	bool any = !afi_list_empty(&d->sends_failed);

	while (!afi_list_empty(&d->sends_failed)) {
		struct afi_send *s = afi_of(d->sends_failed.next,
					    struct afi_send, link);

		flow_sent(d, &s->await, s->err, NULL);
	}
	any |= pay_all(d);
	send_ready(d);
	return any;
}

/*
 * Detaches messages from an operation, which no longer waits for them; they are
 * still sent.
 */
void afi_send_forget(struct afi_domain *d, const struct afi_op *op)
{
	u32 i;

	for (i = 0; i < AFI_SENDS; i++)
		if (d->sends[i].op == op)
			d->sends[i].op = NULL;
}

/**
 * afi_answer() - tell the sender of a message whether it has been received
 * @d: domain, locked
 * @to: sender
 * @from_ep: number of the endpoint here
 * @about: the sender's message
 * @err: 0 or FI_E*
 *
 * Return: false: no memory now, try again.
 */
bool afi_answer(struct afi_domain *d, const struct afi_name *to, u32 from_ep,
		const struct afi_wire *about, int err)
{
	const struct angara_peer peer = afi_peer_of(to);
	const struct afi_wire wire = {
		.to = about->from,
		.err = (u16)err,
		.ep = (u16)from_ep,
		.op = about->op,
		.gen = about->gen,
	};

	return afi_reply(d, peer, afi_code(AFI_MSG_FETCHED, to->ep),
			 &wire);
}
