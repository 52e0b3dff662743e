// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations under way: a fixed number in each domain.  An operation is a few
 * pieces, each of which the adapter does and tells of; when the last has ended
 * the operation completes, with the first error that there was.
 */
#include <stdlib.h>

#include "msg.h"

int afi_ops_init(struct afi_domain *d)
{
	u32 i;

	afi_list_init(&d->ops);
	afi_list_init(&d->idle);
	afi_list_init(&d->todo);
	d->ops_mem = calloc(AFI_OPS, sizeof(*d->ops_mem));
	if (!d->ops_mem)
		return -FI_ENOMEM;
	d->ops_left = AFI_OPS;
	for (i = 0; i < AFI_OPS; i++)
		afi_list_add(&d->idle, &d->ops_mem[i].link);
	return 0;
}

u32 afi_op_number(const struct afi_op *op)
{
	return (u32)(op - op->domain->ops_mem);
}

/* The other way round, for numbers that peers send; NULL: none such. */
struct afi_op *afi_op_by_number(struct afi_domain *d, u32 number)
{
	return number < AFI_OPS ? &d->ops_mem[number] : NULL;
}

/*
 * Address of the target of a read, write or atomic operation.
 * Return: 0; -FI_EINVAL there is none; -FI_EOPNOTSUPP it is to be told of
 * them, and cannot be.
 */
int afi_target(const struct afi_ep *ep, fi_addr_t addr,
	       struct afi_name *name)
{
	int ret = afi_av_target(ep->av, addr, name);

	if (ret)
		return ret;
	return afi_wants_events(name) && !ep->domain->has_msgs ?
		       -FI_EOPNOTSUPP : 0;
}

static bool is_rma(const struct afi_op *op)
{
	return op->kind == AFI_OP_RMA || op->kind == AFI_OP_TELL;
}

/*
 * Reads and writes end by themselves, so they wait for room in the queue.
 * Messages end when the peer receives: the queue grows, so that two programs
 * that send to each other before they receive do not wait for ever.
 */
static bool promise(struct afi_ep *ep, u32 kind, struct afi_cq **cq)
{
	*cq = kind == AFI_OP_PULL ? ep->rx : ep->tx;
	if (!*cq)
		return true;
	return kind == AFI_OP_RMA || kind == AFI_OP_TELL ?
		       afi_cq_promise(*cq) : afi_cq_promise_more(*cq);
}

/**
 * afi_op_new() - take an operation, and a place for its completion
 * @ep: endpoint, its domain locked
 * @kind: AFI_OP_*
 * @report: success is told, not only errors
 * @counts: which counter counts it
 *
 * Return: it; NULL if there is no room, until others have ended.
 */
struct afi_op *afi_op_new(struct afi_ep *ep, u32 kind, bool report,
			  enum afi_counts counts)
{
	struct afi_domain *d = ep->domain;
	struct afi_op *op;
	struct afi_cq *cq;
	u32 gen;

	if (ep->rma >= ep->tx_size &&
	    (kind == AFI_OP_RMA || kind == AFI_OP_TELL))
		return NULL;
	if (kind != AFI_OP_SEND && !afi_await_room(d, AFI_PIECES))
		return NULL;
	/* Those that are sent may wait for long: receives are to go on. */
	if (d->ops_left <= (kind == AFI_OP_SEND ? AFI_PULL_OPS : 0) ||
	    !promise(ep, kind, &cq))
		return NULL;
	d->ops_left--;
	op = afi_of(d->idle.next, struct afi_op, link);
	afi_list_del(&op->link);
	gen = op->gen + 1;
	*op = (struct afi_op){
		.domain = d,
		.ep = ep,
		.cq = cq,
		.report = report,
		.cntr = ep->cntrs[counts],
		.kind = kind,
		.gen = gen,
		.own_ep = ep->name.ep,
		.also = kind == AFI_OP_PULL ? NULL : d->also,
	};
	if (op->also)
		afi_ref(&op->also->refs);
	afi_list_init(&op->link);
	afi_list_init(&op->todo);
	ep->pending += kind != AFI_OP_PULL;
	ep->rma += is_rma(op);
	return op;
}

/* Does another message show memory of the endpoint by this region? */
static bool is_shown(const struct afi_op *op, const struct angara_mr *mr)
{
	const struct afi_link *link;
	u32 i;

	for (link = op->domain->ops.next; link != &op->domain->ops;
	     link = link->next) {
		const struct afi_op *other = afi_of(link, struct afi_op, link);

		if (other == op || other->kind != AFI_OP_SEND)
			continue;
		for (i = 0; i < other->n; i++)
			if (other->pieces[i].local.mr == mr)
				return true;
	}
	return false;
}

/*
 * A message that has failed may be one whose receiver reads yet.  It is not to
 * get what the program writes there next for what was sent.
 */
static void hide_failed(const struct afi_op *op)
{
	u32 i;

	for (i = 0; i < op->n; i++) {
		const struct afi_local *l = &op->pieces[i].local;

		if (l->temp && !is_shown(op, l->mr))
			angara_mr_revoke(l->mr);
	}
}

/* @arrived: what was to be read is there */
static void release(struct afi_op *op, bool arrived)
{
	u32 i;

	for (i = 0; i < op->n; i++) {
		struct afi_piece *piece = &op->pieces[i];

		afi_local_put(op->domain, &piece->local,
			      piece->back && arrived && op->ep);
	}
	op->n = 0;
}

static void retire(struct afi_op *op)
{
	afi_list_del(&op->link);
	afi_list_del(&op->todo);
	if (op->ep) {
		op->ep->pending -= op->kind != AFI_OP_PULL;
		op->ep->rma -= is_rma(op);
	}
	if (op->also)
		afi_unref(&op->also->refs);
	op->also = NULL;
	if (op->asks) {
		op->asks->asked--;
		op->domain->asking--;
	}
	op->asks = NULL;
	op->gen++;
	afi_op_relent(op);
	op->domain->ops_left++;
	afi_list_add(&op->domain->idle, &op->link);
}

/* Gives back an operation that was not started. */
void afi_op_drop(struct afi_op *op)
{
	release(op, false);
	if (op->cq)
		op->cq->promised--;
	retire(op);
}

static void finish(struct afi_op *op)
{
	if (op->kind == AFI_OP_SEND && op->done.err)
		hide_failed(op);
	release(op, !op->done.err || op->done.err == FI_ETRUNC);
	if (op->recv)
		afi_pulled(op);
	if (op->ep)
		afi_cntr_count(op->cntr, op->done.err);
	afi_cntr_count(op->also, op->done.err);
	if (op->cq && (op->report || op->done.err))
		afi_cq_put(op->cq, &op->done);
	else if (op->cq)
		op->cq->promised--;
	retire(op);
}

/* libfabric has numbers of its own, and no word for "outside of the region". */
static int fi_errno_of(int err)
{
	switch (err) {
	case ENOKEY:
		return FI_ENOKEY;
	case ERANGE:
		return FI_EINVAL;
	default:
		return err;
	}
}

/* Notes an error; the first one counts.  @st: how it ended, or NULL */
void afi_op_fail(struct afi_op *op, int err, const struct angara_completion *st)
{
	if (op->done.err)
		return;
	op->done.err = fi_errno_of(-err);
	op->done.prov_err = st ? (int)st->status + 1 : 0;
}

/* It could not go on for want of room: afi_ops_retry() tries again. */
void afi_op_later(struct afi_op *op)
{
	afi_list_del(&op->todo);
	afi_list_add(&op->domain->todo, &op->todo);
}

/*
 * All that it has waited for has come; perhaps the peer is to be told first.
 * Return: was there anything to do, and room for it?
 */
static bool settle(struct afi_op *op)
{
	if (!op->answered && op->kind == AFI_OP_PULL) {
		op->answered = afi_answer(op->domain, &op->peer, op->own_ep,
					  &op->wire,
					  op->done.err == FI_ETRUNC ? 0 :
					  op->done.err);
		if (!op->answered) {
			afi_op_later(op);
			return false;
		}
	}
	if (!op->answered && op->kind == AFI_OP_TELL && !op->done.err) {
		op->answered = afi_tell(op);
		if (!op->answered)
			afi_op_later(op);
		return op->answered;
	}
	finish(op);
	return true;
}

/* From now on it ends with what it waits for; at once if that is nothing. */
void afi_op_start(struct afi_op *op)
{
	afi_list_del(&op->link);
	afi_list_add(&op->domain->ops, &op->link);
	if (!op->live)
		settle(op);
}

/* A message of it has been sent, or its data fetched; or not: @err. */
void afi_op_sent(struct afi_op *op, int err, const struct angara_completion *st)
{
	op->live--;
	if (err) {
		afi_op_fail(op, err, st);
		/* Who has not got the message does not fetch. */
		afi_op_relent(op);
	}
	if (!op->live)
		settle(op);
}

/* What the peer was waited for it has done; or has not: @err. */
void afi_op_came(struct afi_op *op, int err)
{
	if (!afi_op_relent(op))
		return;
	op->live++;
	afi_op_sent(op, err, NULL);
}

static void piece_ended(struct afi_domain *d, struct afi_await *a, int err,
			const struct angara_completion *c)
{
	struct afi_op *op = afi_of(a, struct afi_piece, await)->op;

	(void)d;
	op->live--;
	if (err)
		afi_op_fail(op, err, c);
	if (!op->live)
		settle(op);
}

/* How a piece of an operation is started. */
const struct angara_op *afi_piece_await(struct afi_op *op,
					struct afi_piece *piece)
{
	piece->op = op;
	return afi_await(op->domain, &piece->await, piece_ended);
}

/* It has been, or not: @ret, which is returned. */
int afi_piece_started(struct afi_piece *piece, int ret)
{
	piece->op->live += !ret;
	return afi_awaited(piece->op->domain, &piece->await, ret);
}

static bool retry(struct afi_op *op)
{
	if (op->asked && afi_show_asked(op))
		return true;
	if (op->asked)
		afi_op_later(op);
	return !op->live && settle(op);
}

/*
 * Goes on with operations that had no room, of which there are some.
 * Return: has any found it?
 */
bool afi_ops_retry(struct afi_domain *d)
{
	struct afi_link *last = d->todo.prev, *link;
	bool any = false;

	do {
		link = d->todo.next;
		afi_list_del(link);
		afi_list_init(link);
		any |= retry(afi_of(link, struct afi_op, todo));
	} while (link != last && !afi_list_empty(&d->todo));
	return any;
}

/* Is its data where others would get the room for theirs? */
static bool has_copy(const struct afi_op *op)
{
	return op->kind == AFI_OP_SEND && op->n && op->pieces[0].local.pool;
}

static void orphan(struct afi_op *op)
{
	u32 i;

	if (op->cq)
		op->cq->promised--;
	op->cq = NULL;
	/* The adapter and peers reach the memory no more, as all are given up. */
	for (i = 0; i < op->n; i++)
		if (op->pieces[i].local.temp)
			angara_mr_revoke(op->pieces[i].local.mr);
	/*
	 * A copy may be read for long: it stays as it is until the receiver has
	 * done so, or is gone, as it would read another's message in its place.
	 */
	if (has_copy(op)) {
		if (op->also)
			afi_unref(&op->also->refs);
		op->also = NULL;
	} else if (op->kind == AFI_OP_SEND) {
		afi_send_forget(op->domain, op);
		release(op, false);
		retire(op);
	}
	op->ep = NULL;
	/* A sender that was asked need not show what nobody takes any more. */
	if (op->kind == AFI_OP_PULL)
		afi_op_came(op, -FI_EHOSTUNREACH);
}

/* Does the adapter still do something, but for receivers to fetch copies? */
bool afi_ops_busy(const struct afi_domain *d)
{
	const struct afi_link *link;

	for (link = d->ops.next; link != &d->ops; link = link->next)
		if (!has_copy(afi_of(link, struct afi_op, link)))
			return true;
	return false;
}

/*
 * The endpoint is being closed.  What the adapter still does touches no memory
 * of the program's but in regions that this has registered itself.
 */
void afi_ops_orphan(struct afi_ep *ep)
{
	struct afi_domain *d = ep->domain;
	struct afi_link *link, *next;

	for (link = d->ops.next; link != &d->ops; link = next) {
		struct afi_op *op = afi_of(link, struct afi_op, link);

		next = link->next;
		if (op->ep == ep)
			orphan(op);
	}
}
