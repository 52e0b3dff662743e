// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A message meets its receive: short data is copied, long data fetched.
 */
#include <stdlib.h>
#include <string.h>

#include "msg.h"

#define AFI_ASK_SHARE	4	/* of a sender: one part of so many of the rest */

static void describe(const struct afi_recv *r, const struct afi_msg *msg,
		     size_t len, struct afi_done *done)
{
	*done = (struct afi_done){
		.context = r->context,
		.flags = FI_RECV | (r->tagged ? FI_TAGGED : FI_MSG),
		.len = len,
		.buf = r->iov[0].iov_base,
		.tag = msg->tag,
		.src = afi_av_find(r->ep->av, &msg->src),
	};
	if (msg->wire.flags & AFI_WIRE_DATA) {
		done->flags |= FI_REMOTE_CQ_DATA;
		done->data = msg->data;
	}
	if (len < msg->wire.len) {
		done->err = FI_ETRUNC;
		done->olen = msg->wire.len - len;
	}
}

/* With the last message of a buffer it is the program's again. */
static void release(const struct afi_recv *r, struct afi_done *done)
{
	if (r->multi && r->ended && !r->users)
		done->flags |= FI_MULTI_RECV;
}

static int copy(struct afi_recv *r, const struct afi_msg *msg, size_t len)
{
	struct afi_ep *ep = r->ep;
	const char *from = msg->body;
	struct afi_done done;
	size_t i;

	if (ep->rx && !afi_cq_promise_more(ep->rx))
		return -FI_EAGAIN;
	describe(r, msg, len, &done);
	for (i = 0; len; i++) {
		size_t part = r->iov[i].iov_len < len ? r->iov[i].iov_len : len;

		if (part)
			memcpy(r->iov[i].iov_base, from, part);
		from += part;
		len -= part;
	}
	release(r, &done);
	afi_cntr_count(ep->cntrs[AFI_COUNT_RECV], done.err);
	afi_cntr_count(r->also, done.err);
	if (ep->rx && (r->report || done.err || (done.flags & FI_MULTI_RECV)))
		afi_cq_put(ep->rx, &done);
	else if (ep->rx)
		ep->rx->promised--;
	return 0;
}

/**
 * struct cut - where both lists have been cut so far
 * @li: piece of memory here
 * @lo: offset in it
 * @pi: part at the sender
 * @po: offset in that
 */
struct cut {
	size_t li;
	size_t lo;
	u32 pi;
	u64 po;
};

/* The next piece without a border in it.  Return: its bytes. */
static size_t next_piece(const struct afi_recv *r, const struct afi_msg *msg,
			 struct cut *c)
{
	size_t here, there;

	while (c->lo == r->iov[c->li].iov_len) {
		c->li++;
		c->lo = 0;
	}
	while (c->po == msg->parts[c->pi].len) {
		c->pi++;
		c->po = 0;
	}
	here = r->iov[c->li].iov_len - c->lo;
	there = msg->parts[c->pi].len - c->po;
	return here < there ? here : there;
}

/* A piece there. */
struct there {
	u64 akey;
	u64 off;
};

/* Return: 0; -FI_EAGAIN, and nothing was done. */
static int prepare(struct afi_op *op, const struct afi_recv *r,
		   const struct afi_msg *msg, size_t len, struct there *there)
{
	struct cut c = { 0 };

	while (len) {
		struct afi_local *l = &op->pieces[op->n].local;
		size_t part = next_piece(r, msg, &c);
		int ret;

		part = part < len ? part : len;
		ret = afi_local_get(op->domain, op->ep, l,
				    (char *)r->iov[c.li].iov_base + c.lo, part,
				    r->desc[c.li], true);
		if (ret) {
			while (op->n--)
				afi_local_put(op->domain,
					      &op->pieces[op->n].local, false);
			op->n = 0;
			return ret;
		}
		there[op->n].akey = msg->parts[c.pi].akey;
		there[op->n].off = msg->parts[c.pi].off + c.po;
		op->pieces[op->n].back = true;
		op->n++;
		c.lo += part;
		c.po += part;
		len -= part;
	}
	return 0;
}

/* Starts to read it.  Return: as prepare(); -FI_ENODEV. */
static int pull(struct afi_op *op, const struct afi_recv *r,
		const struct afi_msg *msg, size_t len)
{
	const struct angara_peer peer = {
		.node = op->peer.node,
		.ctx = op->peer.ctx,
	};
	struct there there[AFI_PIECES];
	int ret = prepare(op, r, msg, len, there);
	u32 i;

	for (i = 0; !ret && i < op->n; i++) {
		struct afi_piece *piece = &op->pieces[i];
		const struct afi_local *l = &piece->local;

		ret = angara_get_nbi(op->domain->ctx, peer, there[i].akey,
				     there[i].off, l->mr, l->off, l->len,
				     afi_piece_await(op, piece));
		afi_piece_started(piece, ret);
	}
	return ret;
}

/*
 * Who is asked may never show its data.  So there are but some operations for
 * that, and a sender has but a part of them: less, the fewer are left.
 */
static bool may_ask(struct afi_domain *d, const struct afi_name *sender)
{
	const struct angara_peer peer = {
		.node = sender->node,
		.ctx = sender->ctx,
	};
	const struct afi_flow *f;

	if (d->asking >= AFI_ASK_OPS)
		return false;
	f = afi_flow_of(d, peer);
	return f && f->asked <= (AFI_ASK_OPS - d->asking) / AFI_ASK_SHARE;
}

/* The sender is to show its data.  Where that goes is noted in the pieces. */
static int ask(struct afi_op *op, const struct afi_recv *r)
{
	const struct angara_peer peer = {
		.node = op->peer.node,
		.ctx = op->peer.ctx,
	};
	struct afi_send *s = afi_send_new(op->domain, true, peer);
	size_t i;

	if (!s)
		return -FI_EAGAIN;
	op->asks = s->flow;
	op->asks->asked++;
	op->domain->asking++;
	for (i = 0; i < r->count; i++) {
		op->pieces[i].local.addr = r->iov[i].iov_base;
		op->pieces[i].local.len = r->iov[i].iov_len;
	}
	s->head = (struct angara_head){
		.size = sizeof(s->head),
		.tag = (u64)op->gen << 32 | afi_op_number(op),
		.code = afi_code(AFI_MSG_ASK, op->own_ep, op->peer.ep),
	};
	s->len = sizeof(struct afi_wire);
	*afi_send_wire(op->domain, s) = (struct afi_wire){
		.to = op->wire.from,
		.from = op->ep->name.serial,
		.op = op->wire.op,
		.gen = op->wire.gen,
	};
	afi_op_expect(op);
	afi_send_go(op->domain, s, op);
	return 0;
}

/**
 * afi_shown() - a sender shows the data that was asked for
 * @d: domain, locked
 * @msg: what it says
 *
 * Return: false: not now.
 */
bool afi_shown(struct afi_domain *d, const struct afi_msg *msg)
{
	struct afi_op *op = afi_op_by_number(d, msg->wire.op);
	struct afi_recv to = { 0 };
	int ret;

	if (!op || op->gen != msg->wire.gen || op->kind != AFI_OP_PULL ||
	    !op->expects || op->wire.to != msg->wire.to ||
	    op->peer.node != msg->src.node || op->peer.ctx != msg->src.ctx)
		return true;
	if (msg->wire.err || !msg->nparts || msg->wire.len != op->wire.len) {
		afi_op_came(op, msg->wire.err ? -afi_peer_error(msg->wire.err) :
						-FI_EIO);
		return true;
	}
	for (to.count = 0; to.count < op->recv->count; to.count++) {
		const struct afi_local *l = &op->pieces[to.count].local;

		to.desc[to.count] = op->recv->desc[to.count];
		to.iov[to.count].iov_base = l->addr;
		to.iov[to.count].iov_len = l->len;
	}
	ret = afi_await_room(d, AFI_PIECES) ?
		      pull(op, &to, msg, op->done.len) : -FI_EAGAIN;
	if (ret == -FI_EAGAIN) {
		for (; to.count--;) {
			op->pieces[to.count].local = (struct afi_local){
				.addr = to.iov[to.count].iov_base,
				.len = to.iov[to.count].iov_len,
			};
		}
		return false;
	}
	afi_op_came(op, ret);
	return true;
}

/*
 * @as: the receive as it was when the message met it
 * Return: 0; -FI_EAGAIN.
 */
static int fetch(struct afi_recv *r, const struct afi_recv *as,
		 const struct afi_msg *msg, size_t len)
{
	bool asks = len && !msg->nparts;
	struct afi_op *op;
	int ret;

	if (asks && !may_ask(r->ep->domain, &msg->src))
		return -FI_EAGAIN;
	op = afi_op_new(r->ep, AFI_OP_PULL, r->report, AFI_COUNT_RECV);
	if (!op)
		return -FI_EAGAIN;
	describe(as, msg, len, &op->done);
	op->peer = msg->src;
	op->wire = msg->wire;
	ret = asks ? ask(op, as) : pull(op, as, msg, len);
	if (ret == -FI_EAGAIN) {
		afi_op_drop(op);
		return ret;
	}
	/* The memory is no good: the program is told, and the sender. */
	if (ret)
		afi_op_fail(op, ret, NULL);
	op->recv = r;
	op->also = r->also;
	if (op->also)
		afi_ref(&op->also->refs);
	r->users++;
	afi_op_start(op);
	return 0;
}

/**
 * struct afi_parked - a message that waits to be fetched
 * @link: among those of the endpoint
 * @r: receive
 * @as: that, when the message met it
 * @msg: message
 * @len: bytes to fetch
 *
 * It does not wait where it has arrived: what others wait for may be behind it.
 */
struct afi_parked {
	struct afi_link link;
	struct afi_recv *r;
	struct afi_recv as;
	struct afi_msg msg;
	size_t len;
};

static int park(struct afi_recv *r, const struct afi_msg *msg, size_t len)
{
	struct afi_parked *p = malloc(sizeof(*p));

	if (!p)
		return -FI_EAGAIN;
	p->r = r;
	p->as = *r;
	p->msg = *msg;
	p->len = len;
	r->users++;
	r->ep->domain->parked++;
	afi_list_add(&r->ep->parked, &p->link);
	return 0;
}

static void unpark(struct afi_domain *d, struct afi_parked *p)
{
	afi_list_del(&p->link);
	d->parked--;
	free(p);
}

/* Return: could any be fetched now? */
static bool unpark_some(struct afi_ep *ep)
{
	struct afi_link *link, *next;
	bool any = false;

	for (link = ep->parked.next; link != &ep->parked; link = next) {
		struct afi_parked *p = afi_of(link, struct afi_parked, link);

		next = link->next;
		/* The operation uses it now, and that may end at once. */
		p->r->users--;
		if (!fetch(p->r, &p->as, &p->msg, p->len)) {
			any = true;
			unpark(ep->domain, p);
			continue;
		}
		p->r->users++;
		/* A sender that cannot be asked just now does not stop others. */
		if (p->msg.nparts || !ep->domain->ops_left)
			break;
	}
	return any;
}

/* Return: as unpark_some(). */
bool afi_unpark(struct afi_domain *d)
{
	bool any = false;
	u32 i;

	for (i = 0; d->parked && i < AFI_EPS; i++)
		if (d->eps[i])
			any |= unpark_some(d->eps[i]);
	return any;
}

/* Whoever waits for us to fetch is told not to. */
void afi_park_close(struct afi_ep *ep)
{
	while (!afi_list_empty(&ep->parked)) {
		struct afi_parked *p = afi_of(ep->parked.next,
					      struct afi_parked, link);
		const struct afi_msg msg = p->msg;

		p->r->users--;
		afi_recv_unuse(p->r);
		unpark(ep->domain, p);
		/* Its memory is there to note the answer. */
		afi_answer(ep->domain, &msg.src, ep->name.ep, &msg.wire,
			   FI_EHOSTUNREACH);
	}
}

/**
 * afi_take_msg() - let a receive have a message
 * @r: receive; @r->ended says whether it takes no more
 * @msg: message
 *
 * Return: 0; -FI_EAGAIN there is no room for what has to be noted of it.
 */
int afi_take_msg(struct afi_recv *r, const struct afi_msg *msg)
{
	size_t len = msg->wire.len < r->len ? msg->wire.len : r->len;

	if (!msg->is_long)
		return copy(r, msg, len);
	return fetch(r, r, msg, len) ? park(r, msg, len) : 0;
}

/* The data has been fetched: the completion is about to be written. */
void afi_pulled(struct afi_op *op)
{
	struct afi_recv *r = op->recv;

	op->recv = NULL;
	r->users--;
	release(r, &op->done);
	if (op->done.flags & FI_MULTI_RECV)
		op->report = true;
	afi_recv_unuse(r);
}
