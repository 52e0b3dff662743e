// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Receiving the data of a matched message: short data is copied, long data is
 * fetched.
 */
#include <stdlib.h>
#include <string.h>

#include "msg.h"

#define AFI_ASK_SHARE	4	/* a sender's share: 1/4 of the remaining requests */

/* Does the endpoint's queue report a successful receive? */
static bool pull_reports(const struct afi_ep *ep, const struct afi_recv *r)
{
	return r->report || (ep->box != ep && !ep->rx_selective);
}

static void pull_describe(const struct afi_ep *ep, const struct afi_recv *r,
			  const struct afi_msg *msg, size_t len, struct afi_done *done)
{
	*done = (struct afi_done){
		.context = r->context,
		.flags = FI_RECV | (r->tagged ? FI_TAGGED : FI_MSG),
		.len = len,
		.buf = r->iov[0].iov_base,
		.tag = msg->tag,
		.src = afi_av_find(ep->av, &msg->src),
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

/*
 * Sets FI_MULTI_RECV in the last completion of a multi-receive buffer, which
 * returns the buffer to the program.  A cancelled buffer is returned by the
 * completion of its end.
 */
static void pull_release(const struct afi_recv *r, struct afi_done *done)
{
	if (r->multi && r->ended && !r->users && !r->cancelled)
		done->flags |= FI_MULTI_RECV;
}

static int pull_copy(struct afi_ep *ep, struct afi_recv *r, const struct afi_msg *msg,
		     size_t len)
{
	const char *from = msg->body;
	struct afi_done done;
	size_t i;

	if (ep->rx && !afi_cq_promise_more(ep->rx))
		return -FI_EAGAIN;
	pull_describe(ep, r, msg, len, &done);
	for (i = 0; len; i++) {
		size_t part = r->iov[i].iov_len < len ? r->iov[i].iov_len : len;

		if (part)
			memcpy(r->iov[i].iov_base, from, part);
		from += part;
		len -= part;
	}
	pull_release(r, &done);
	afi_recv_count(ep, r, done.err);
	if (ep->rx && (pull_reports(ep, r) || done.err || (done.flags & FI_MULTI_RECV)))
		afi_cq_put(ep->rx, &done);
	else if (ep->rx)
		ep->rx->promised--;
	return 0;
}

/**
 * struct cut - position in the lists of local memory and of the sender's parts
 * @li: piece of local memory
 * @lo: offset in it
 * @pi: part at the sender
 * @po: offset in the part
 */
struct cut {
	size_t li;
	size_t lo;
	u32 pi;
	u64 po;
};

/*
 * Finds the next piece that lies within one element of both lists.  Return: its
 * bytes.
 */
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

/*
 * Makes the memory of the receive accessible.  Return: 0; errors of
 * afi_local_get(), after which nothing is held.
 */
static int pull_prepare(struct afi_op *op, const struct afi_recv *r,
			const struct afi_msg *msg, size_t len, struct afi_there *there)
{
	struct cut c = { 0 };

	while (len) {
		struct afi_piece *piece = afi_piece_add(op);
		size_t part = next_piece(r, msg, &c);
		int ret;

		part = part < len ? part : len;
		ret = afi_local_get(op->domain, op->ep, &piece->local,
				    (char *)r->iov[c.li].iov_base + c.lo, part,
				    r->desc[c.li], true);
		if (ret) {
			for (op->n--; op->n; op->n--)
				afi_local_put(op->domain, &(--piece)->local,
					      false);
			return ret;
		}
		there[op->n - 1].key = msg->parts[c.pi].akey;
		there[op->n - 1].off = msg->parts[c.pi].off + c.po;
		piece->back = true;
		c.lo += part;
		c.po += part;
		len -= part;
	}
	return 0;
}

/* Starts to read the data.  Return: as pull_prepare(); -FI_ENODEV. */
static int pull_start(struct afi_op *op, const struct afi_recv *r,
		      const struct afi_msg *msg, size_t len)
{
	const struct angara_peer peer = afi_peer_of(&op->peer);
	struct afi_there there[AFI_PIECES];
	int ret = pull_prepare(op, r, msg, len, there);
	u32 i;

	for (i = 0; !ret && i < op->n; i++) {
		struct afi_piece *piece = &op->rest->pieces[i];
		const struct afi_local *l = &piece->local;

		ret = angara_get_nbi(op->domain->ctx, peer, there[i].key,
				     there[i].off, l->mr, l->off, l->len,
				     afi_piece_await(op, piece));
		afi_piece_started(piece, ret);
	}
	return ret;
}

/*
 * May data be requested from a sender?  The sender may never answer.  So only
 * AFI_ASK_OPS operations may wait for senders, and each sender may use only a
 * share of those that are free.
 */
static bool may_ask(struct afi_domain *d, const struct afi_name *sender)
{
	const struct angara_peer peer = afi_peer_of(sender);
	const struct afi_flow *f;

	if (d->asking >= AFI_ASK_OPS)
		return false;
	f = afi_flow_of(d, peer);
	return f && f->asked <= (AFI_ASK_OPS - d->asking) / AFI_ASK_SHARE;
}

/*
 * Requests access to the sender's data.  Until the answer arrives, the pieces
 * of the operation record the addresses and lengths of the receive's buffers.
 */
static int pull_ask(struct afi_op *op, const struct afi_recv *r)
{
	const struct angara_peer peer = afi_peer_of(&op->peer);
	struct afi_send *s = afi_send_new(op->domain, true, peer);
	size_t i;

	if (!s)
		return -FI_EAGAIN;
	op->asks = s->flow;
	op->asks->asked++;
	op->domain->asking++;
	for (i = 0; i < r->count; i++) {
		op->rest->pieces[i].local.addr = r->iov[i].iov_base;
		op->rest->pieces[i].local.len = r->iov[i].iov_len;
	}
	s->head = (struct angara_head){
		.size = sizeof(s->head),
		.tag = (u64)op->gen << 32 | afi_op_number(op),
		.code = afi_code(AFI_MSG_ASK, op->peer.ep),
	};
	s->len = sizeof(struct afi_wire);
	*afi_send_wire(op->domain, s) = (struct afi_wire){
		.to = op->rest->wire.from,
		.from = op->ep->name.serial,
		.ep = (u16)op->own_ep,
		.op = op->rest->wire.op,
		.gen = op->rest->wire.gen,
	};
	afi_op_expect(op);
	afi_send_go(op->domain, s, op);
	return 0;
}

/**
 * afi_shown() - handle a sender's answer to a request for its data
 * @d: domain, locked
 * @msg: answer, with the regions of the data
 *
 * Return: false: cannot be handled now, deliver it again.
 */
bool afi_shown(struct afi_domain *d, const struct afi_msg *msg)
{
	struct afi_op *op = afi_op_by_number(d, msg->wire.op);
	struct afi_recv to = { 0 };
	int ret;

	if (!op || op->gen != msg->wire.gen || op->kind != AFI_OP_PULL ||
	    !op->expects || op->rest->wire.to != msg->wire.to ||
	    op->peer.node != msg->src.node || op->peer.ctx != msg->src.ctx)
		return true;
	if (msg->wire.err || !msg->nparts || msg->wire.len != op->rest->wire.len) {
		afi_op_came(op, msg->wire.err ? -afi_peer_error(msg->wire.err) :
						-FI_EIO);
		return true;
	}
	for (to.count = 0; to.count < op->recv->count; to.count++) {
		const struct afi_local *l = &op->rest->pieces[to.count].local;

		to.desc[to.count] = op->recv->desc[to.count];
		to.iov[to.count].iov_base = l->addr;
		to.iov[to.count].iov_len = l->len;
	}
	ret = afi_await_room(d, AFI_PIECES) ?
		      pull_start(op, &to, msg, op->done.len) : -FI_EAGAIN;
	if (ret == -FI_EAGAIN) {
		for (; to.count--;) {
			op->rest->pieces[to.count].local = (struct afi_local){
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
 * Starts to fetch a message.  @as: copy of the receive at the time of the match.
 * Return: 0; -FI_EAGAIN.
 */
static int pull_fetch(struct afi_ep *ep, struct afi_recv *r, const struct afi_recv *as,
		      const struct afi_msg *msg, size_t len)
{
	bool asks = len && !msg->nparts;
	struct afi_op *op;
	int ret;

	if (asks && !may_ask(ep->domain, &msg->src))
		return -FI_EAGAIN;
	op = afi_op_new(ep, AFI_OP_PULL, pull_reports(ep, r), AFI_COUNT_RECV);
	if (!op)
		return -FI_EAGAIN;
	pull_describe(ep, as, msg, len, &op->done);
	op->peer = msg->src;
	op->rest->wire = msg->wire;
	ret = asks ? pull_ask(op, as) : pull_start(op, as, msg, len);
	if (ret == -FI_EAGAIN) {
		afi_op_drop(op);
		return ret;
	}
	/*
	 * The receive's memory is not valid: report that to the program and to
	 * the sender.
	 */
	if (ret)
		afi_op_fail(op, ret, NULL);
	op->recv = r;
	op->also = r->also;
	if (r->silent)
		op->cntr = NULL;
	if (op->also)
		afi_ref(&op->also->refs);
	r->users++;
	afi_op_start(op);
	return 0;
}

/**
 * struct afi_parked - a message that waits to be fetched
 * @link: link in the list of the endpoint
 * @r: receive
 * @as: copy of @r at the time of the match
 * @msg: message
 * @len: bytes to fetch
 *
 * The message does not stay in the receive buffer, where it would block later
 * messages.
 */
struct afi_parked {
	struct afi_link link;
	struct afi_recv *r;
	struct afi_recv as;
	struct afi_msg msg;
	size_t len;
};

static int pull_park(struct afi_ep *ep, struct afi_recv *r, const struct afi_msg *msg,
		     size_t len)
{
	struct afi_parked *p = malloc(sizeof(*p));

	if (!p)
		return -FI_EAGAIN;
	p->r = r;
	p->as = *r;
	p->msg = *msg;
	p->len = len;
	r->users++;
	ep->domain->parked++;
	afi_list_add(&ep->parked, &p->link);
	return 0;
}

static void pull_unpark(struct afi_domain *d, struct afi_parked *p)
{
	afi_list_del(&p->link);
	d->parked--;
	free(p);
}

/* Fetches parked messages.  Return: true if any fetch has started. */
static bool unpark_some(struct afi_ep *ep)
{
	struct afi_link *link, *next;
	bool any = false;

	for (link = ep->parked.next; link != &ep->parked; link = next) {
		struct afi_parked *p = afi_of(link, struct afi_parked, link);

		next = link->next;
		/*
		 * p->r->users counts the parked message.  If the fetch starts,
		 * its operation is counted instead, and may end at once.
		 */
		p->r->users--;
		if (!pull_fetch(ep, p->r, &p->as, &p->msg, p->len)) {
			any = true;
			pull_unpark(ep->domain, p);
			continue;
		}
		p->r->users++;
		/*
		 * Continue: if data cannot be requested from one sender now,
		 * requests to others may be possible.
		 */
		if (p->msg.nparts || !ep->domain->ops_left)
			break;
	}
	return any;
}

/* Fetches parked messages of all endpoints.  Return: as unpark_some(). */
bool afi_unpark(struct afi_domain *d)
{
	bool any = false;
	u32 i;

	for (i = 0; d->parked && i < d->eps_top; i++)
		if (d->eps[i])
			any |= unpark_some(d->eps[i]);
	return any;
}

/* Notifies senders that their messages will not be fetched. */
void afi_park_close(struct afi_ep *ep)
{
	while (!afi_list_empty(&ep->parked)) {
		struct afi_parked *p = afi_of(ep->parked.next,
					      struct afi_parked, link);
		const struct afi_msg msg = p->msg;

		p->r->users--;
		if (p->r->ep == ep) {
			afi_recv_hush(p->r);
			afi_recv_unuse(p->r);
		} else {
			afi_recv_return(p->r, p->as.iov[0].iov_base, p->len);
		}
		pull_unpark(ep->domain, p);
		/*
		 * The memory that pull_unpark() has freed is available for the
		 * answer.
		 */
		afi_answer(ep->domain, &msg.src, ep->name.ep, &msg.wire,
			   FI_EHOSTUNREACH);
	}
}

/**
 * afi_take_msg() - deliver a message to a receive
 * @ep: receiver
 * @r: receive; if @r->ended is set it takes no more messages
 * @msg: message
 *
 * Return: 0; -FI_EAGAIN there is no room for the completion or the parked
 * message.
 */
int afi_take_msg(struct afi_ep *ep, struct afi_recv *r,
		 const struct afi_msg *msg)
{
	size_t len = msg->wire.len < r->len ? msg->wire.len : r->len;

	if (!msg->is_long)
		return pull_copy(ep, r, msg, len);
	return pull_fetch(ep, r, r, msg, len) ? pull_park(ep, r, msg, len) : 0;
}

/*
 * Finishes a receive whose data has been fetched.  Its completion precedes the end of
 * a cancelled receive.  If the endpoint was closed during the fetch, nothing reports
 * the data, so a receive of a shared context is returned to the context.
 */
void afi_pulled(struct afi_op *op)
{
	struct afi_recv *r = op->recv;

	op->recv = NULL;
	r->users--;
	if (!op->ep && r->ep) {
		afi_recv_return(r, op->done.buf, op->done.len);
		return;
	}
	if (op->done.err && op->done.err != FI_ETRUNC) {
		op->done.len = 0;
		op->done.olen = 0;
	}
	pull_release(r, &op->done);
	if (op->done.flags & FI_MULTI_RECV)
		op->report = true;
	afi_op_report(op);
	afi_recv_unuse(r);
}
