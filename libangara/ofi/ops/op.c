// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations in progress: a fixed number in each domain.  An operation has a
 * few pieces, each an operation of the adapter with its own completion.  When
 * the last piece has ended, the operation completes with the first error of
 * them.
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
	d->rests = calloc(AFI_OPS, sizeof(*d->rests));
	if (!d->ops_mem || !d->rests)
		return -FI_ENOMEM;
	d->ops_left = AFI_OPS;
	for (i = 0; i < AFI_OPS; i++) {
		d->ops_mem[i].rest = &d->rests[i];
		afi_list_add(&d->idle, &d->ops_mem[i].link);
	}
	return 0;
}

u32 afi_op_number(const struct afi_op *op)
{
	return (u32)(op - op->domain->ops_mem);
}

/* Return: operation with a number that a peer has sent; NULL: there is none. */
struct afi_op *afi_op_by_number(struct afi_domain *d, u32 number)
{
	return number < AFI_OPS ? &d->ops_mem[number] : NULL;
}

/*
 * Gets the address of the target of a read, write or atomic operation. Return:
 * 0; -FI_EINVAL there is no such target; -FI_EOPNOTSUPP the target requests
 * notification, which needs messages.
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

static void op_spend(struct afi_ep *ep, int n)
{
	ep->rma += (u32)n;
	ep->budget->used += (u32)n;
}

/*
 * Reserves an entry of the queue.  Reads and writes end without action of the
 * peer's program, so a new one is refused until the queue has room.  Messages
 * end when the peer receives; for them the queue grows, so that two programs
 * that send to each other before they receive do not deadlock.
 */
static bool op_promise(struct afi_ep *ep, u32 kind, struct afi_cq **cq)
{
	*cq = kind == AFI_OP_PULL ? ep->rx : ep->tx;
	if (!*cq)
		return true;
	return kind == AFI_OP_RMA || kind == AFI_OP_TELL ?
		       afi_cq_promise(*cq) : afi_cq_promise_more(*cq);
}

/**
 * afi_op_new() - allocate an operation, and reserve a place for its completion
 * @ep: endpoint, its domain locked
 * @kind: AFI_OP_*
 * @report: report success, not only errors
 * @counts: counter that counts the operation
 *
 * Return: operation; NULL there is no room until other operations have ended.
 */
struct afi_op *afi_op_new(struct afi_ep *ep, u32 kind, bool report,
			  enum afi_counts counts)
{
	struct afi_domain *d = ep->domain;
	struct afi_rest *rest;
	struct afi_op *op;
	struct afi_cq *cq;
	u32 gen;

	if ((kind == AFI_OP_RMA || kind == AFI_OP_TELL) &&
	    ep->budget->used >= ep->budget->size)
		return NULL;
	if (kind != AFI_OP_SEND && !afi_await_room(d, AFI_PIECES))
		return NULL;
	/* Sends may take long, so some operations are reserved for receives. */
	if (d->ops_left <= (kind == AFI_OP_SEND ? AFI_PULL_OPS : 0) ||
	    !op_promise(ep, kind, &cq))
		return NULL;
	d->ops_left--;
	op = afi_of(d->idle.next, struct afi_op, link);
	afi_list_del(&op->link);
	gen = op->gen + 1;
	rest = op->rest;
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
		.rest = rest,
	};
	if (op->also)
		afi_ref(&op->also->refs);
	if (kind != AFI_OP_PULL && d->silent) {
		op->report = false;
		op->cntr = NULL;
	}
	afi_list_init(&op->link);
	afi_list_init(&op->todo);
	ep->pending += kind != AFI_OP_PULL;
	op_spend(ep, is_rma(op));
	return op;
}

/* Does another send use the same region to let its receiver read data? */
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
			if (other->rest->pieces[i].local.mr == mr)
				return true;
	}
	return false;
}

/*
 * The receiver of a failed message may still read its data.  Revoke the region,
 * so that the receiver does not read later contents of the memory as data of
 * this message.
 */
static void hide_failed(const struct afi_op *op)
{
	u32 i;

	for (i = 0; i < op->n; i++) {
		const struct afi_local *l = &op->rest->pieces[i].local;

		if (l->temp && !is_shown(op, l->mr))
			angara_mr_revoke(l->mr);
	}
}

/*
 * Releases the memory of an operation. @arrived: the data that it reads has
 * arrived
 */
static void op_release(struct afi_op *op, bool arrived)
{
	u32 i;

	for (i = 0; i < op->n; i++) {
		struct afi_piece *piece = &op->rest->pieces[i];

		afi_local_put(op->domain, &piece->local,
			      piece->back && arrived && op->ep);
	}
	op->n = 0;
}

static void op_drop_also(struct afi_op *op)
{
	if (op->also)
		afi_unref(&op->also->refs);
	op->also = NULL;
}

static void op_retire(struct afi_op *op)
{
	afi_list_del(&op->link);
	afi_list_del(&op->todo);
	if (op->ep) {
		op->ep->pending -= op->kind != AFI_OP_PULL;
		op_spend(op->ep, -is_rma(op));
	}
	op_drop_also(op);
	if (op->asks) {
		op->asks->asked--;
		op->domain->asking--;
	}
	op->asks = NULL;
	if (op->late)
		op->domain->up->plan_ended(op);
	op->gen++;
	afi_op_unexpect(op);
	op->domain->ops_left++;
	afi_list_add(&op->domain->idle, &op->link);
}

/* Frees an operation that was not started. */
void afi_op_drop(struct afi_op *op)
{
	op_release(op, false);
	if (op->cq)
		op->cq->promised--;
	op_retire(op);
}

/* Writes the completion of an operation, unless it has been written. */
void afi_op_report(struct afi_op *op)
{
	if (op->cq && (op->report || op->done.err))
		afi_cq_put(op->cq, &op->done);
	else if (op->cq)
		op->cq->promised--;
	op->cq = NULL;
}

/* Reports the end of an operation to the program. */
static void op_tell(struct afi_op *op)
{
	if (op->ep && op->cntr != op->also)
		afi_cntr_count(op->cntr, op->done.err);
	afi_cntr_count(op->also, op->done.err);
	afi_op_report(op);
}

static void op_finish(struct afi_op *op)
{
	if (op->kind == AFI_OP_SEND && op->done.err)
		hide_failed(op);
	op_release(op, !op->done.err || op->done.err == FI_ETRUNC);
	if (op->recv)
		op->domain->up->op_fetched(op);
	op_tell(op);
	op_retire(op);
}

/*
 * Return: libfabric's error number; libfabric has none for "outside of the
 * region".
 */
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

/*
 * Records an error, unless there is one already.  A message longer than its
 * receive has FI_ETRUNC before its data is fetched; any other error replaces
 * it, since the data is not valid.  @st: completion with the error, or NULL
 */
void afi_op_fail(struct afi_op *op, int err, const struct angara_completion *st)
{
	if (op->done.err && op->done.err != FI_ETRUNC)
		return;
	op->done.err = fi_errno_of(-err);
	op->done.prov_err = st ? (int)st->status + 1 : 0;
}

/*
 * Queues an operation that had no room to continue; afi_ops_retry() retries it.
 */
void afi_op_later(struct afi_op *op)
{
	afi_list_del(&op->todo);
	afi_list_add(&op->domain->todo, &op->todo);
}

/*
 * Ends an operation whose pieces and messages have ended; some kinds notify the
 * peer first.
 * Return: false: there was no room to notify the peer.
 */
static bool op_settle(struct afi_op *op)
{
	if (!op->answered && op->kind == AFI_OP_PULL) {
		op->answered = afi_answer(op->domain, &op->peer, op->own_ep,
					  &op->rest->wire,
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
	op_finish(op);
	return true;
}

/*
 * Lets the operation end when its last piece or message does; at once if it has
 * none.
 */
void afi_op_start(struct afi_op *op)
{
	afi_list_del(&op->link);
	afi_list_add(&op->domain->ops, &op->link);
	if (!op->live)
		op_settle(op);
}

/* Is the operation's data a copy in a buffer of the domain's pool? */
static bool has_copy(const struct afi_op *op)
{
	return op->kind == AFI_OP_SEND && op->n && op->rest->pieces[0].local.pool;
}

/*
 * Reports the error of a send whose receiver may have the message, but keeps the
 * buffer of the copy: the receiver must not read another message from it.
 */
static void op_keep(struct afi_op *op)
{
	op_tell(op);
	op_drop_also(op);
	if (op->ep)
		op->ep->pending--;
	op->ep = NULL;
}

/*
 * Called when a message of the operation has been sent or, with @err, has
 * failed.
 */
void afi_op_sent(struct afi_op *op, int err, const struct angara_completion *st)
{
	op->live--;
	if (err)
		afi_op_fail(op, err, st);
	/*
	 * -FI_ENETUNREACH: the message may have arrived, and only the way back is
	 * lost.  After any other error the peer does not fetch the data.
	 */
	if (err == -FI_ENETUNREACH && op->expects && has_copy(op))
		op_keep(op);
	else if (err)
		afi_op_unexpect(op);
	if (!op->live)
		op_settle(op);
}

/*
 * Called when the peer has completed the action that the operation waited for
 * or, with @err, has failed.
 */
void afi_op_came(struct afi_op *op, int err)
{
	if (!afi_op_unexpect(op))
		return;
	op->live++;
	afi_op_sent(op, err, NULL);
}

static void piece_ended(struct afi_domain *d, struct afi_await *a, int err,
			const struct angara_completion *c)
{
	struct afi_op *op = afi_of(a, struct afi_piece, await)->op;

	op->live--;
	if (op->late) {
		if (err && d->up->plan_again(op, err))
			return;
		/* Free the state of plan.c now: notifying the target may take long. */
		d->up->plan_ended(op);
	}
	if (err)
		afi_op_fail(op, err, c);
	if (!op->live)
		op_settle(op);
}

/*
 * Prepares a piece. Return: last argument for the library's call that starts
 * it.
 */
const struct angara_op *afi_piece_await(struct afi_op *op,
					struct afi_piece *piece)
{
	return afi_await(op->domain, &piece->await, piece_ended);
}

/* Records whether the piece was started; @ret < 0: it was not.  Return: @ret. */
int afi_piece_started(struct afi_piece *piece, int ret)
{
	piece->op->live += !ret;
	return afi_awaited(piece->op->domain, &piece->await, ret);
}

static bool op_retry(struct afi_op *op)
{
	if (op->late)
		return op->domain->up->plan_resume(op);
	if (op->asked && op->domain->up->op_show(op))
		return true;
	if (op->asked)
		afi_op_later(op);
	return !op->live && op_settle(op);
}

/*
 * Retries operations that had no room.  The list must not be empty.  Return:
 * true if any operation found room.
 */
bool afi_ops_retry(struct afi_domain *d)
{
	struct afi_link *last = d->todo.prev, *link;
	bool any = false;

	do {
		link = d->todo.next;
		afi_list_del(link);
		afi_list_init(link);
		any |= op_retry(afi_of(link, struct afi_op, todo));
	} while (link != last && !afi_list_empty(&d->todo));
	return any;
}

static void op_orphan(struct afi_op *op)
{
	u32 i;

	if (op->cq)
		op->cq->promised--;
	op->cq = NULL;
	/*
	 * All operations of the endpoint are abandoned, so the adapter and
	 * peers must not access the memory any more.
	 */
	for (i = 0; i < op->n; i++)
		if (op->rest->pieces[i].local.temp)
			angara_mr_revoke(op->rest->pieces[i].local.mr);
	/*
	 * The receiver may read a copy much later.  Keep the buffer until the
	 * receiver has read it, or is gone; otherwise it could read another
	 * message from the buffer.
	 */
	if (has_copy(op)) {
		op_drop_also(op);
	} else if (op->kind == AFI_OP_SEND) {
		afi_send_forget(op->domain, op);
		op_release(op, false);
		op_retire(op);
		return;
	}
	op_spend(op->ep, -is_rma(op));
	op->ep = NULL;
	/*
	 * The receive is gone: do not wait for the sender's answer.
	 */
	if (op->kind == AFI_OP_PULL)
		afi_op_came(op, -FI_EHOSTUNREACH);
}

/*
 * Are there operations in progress, other than sends whose receivers may fetch
 * a copy?
 */
bool afi_ops_busy(const struct afi_domain *d)
{
	const struct afi_link *link;

	for (link = d->ops.next; link != &d->ops; link = link->next)
		if (!has_copy(afi_of(link, struct afi_op, link)))
			return true;
	return false;
}

/*
 * Abandons the operations of an endpoint, or shared receive context, that is
 * being closed.  The adapter may still execute them, but accesses the program's
 * memory only in regions that the program has registered itself.
 */
void afi_ops_orphan(struct afi_ep *ep)
{
	struct afi_domain *d = ep->domain;
	struct afi_link *link, *next;

	for (link = d->ops.next; link != &d->ops; link = next) {
		struct afi_op *op = afi_of(link, struct afi_op, link);

		next = link->next;
		if (op->recv && op->recv->ep == ep) {
			afi_recv_hush(op->recv);
			op->recv->ep = NULL;
		}
		if (op->ep == ep)
			op_orphan(op);
	}
}
