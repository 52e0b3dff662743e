// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations that start when a counter reaches a value: by a flag of the call
 * (FI_TRIGGER), or as deferred work of a domain (FI_QUEUE_WORK).
 *
 * Both kinds are handled alike: all arguments of an operation are copied, but
 * not its data.  The domain's progress starts due operations of each counter in
 * the order of their thresholds; operations with equal thresholds start in the
 * order in which they were queued.  If an operation finds no room, progress retries
 * it later, and the operations behind it wait.
 */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_trigger.h>

#include "msg.h"

/**
 * struct afi_work - an operation that waits for a counter
 * @link: link in the list of the domain
 * @cntr: counter
 * @threshold: value of @cntr, for deferred work with its errors, at which the
 *	operation starts
 * @also: counter of its completion, in addition to those of the endpoint; or
 *	NULL
 * @key: the program's handle of the work, or NULL
 * @type: type of operation
 * @ep: endpoint, NULL for counters
 * @flags: FI_*
 * @msg: SEND, RECV, TSEND, TRECV
 * @rma: READ, WRITE
 * @atomic: ATOMIC, FETCH_ATOMIC, COMPARE_ATOMIC
 * @target: CNTR_SET, CNTR_ADD
 * @value: value to set or add
 * @iov: local memory of messages and @rma
 * @desc: descriptors of @iov or @ioc
 * @rma_iov: remote memory
 * @ioc: operands
 * @rma_ioc: remote elements
 * @res: results
 * @res_desc: descriptors of @res
 * @nres: number of @res
 * @y: values to compare with
 * @ny: number of @y
 */
struct afi_work {
	struct afi_link link;
	struct afi_cntr *cntr;
	u64 threshold;
	struct afi_cntr *also;
	const struct fi_deferred_work *key;
	enum fi_op_type type;
	struct afi_ep *ep;
	u64 flags;
	union {
		struct fi_msg_tagged msg;
		struct fi_msg_rma rma;
		struct fi_msg_atomic atomic;
		struct afi_cntr *target;
	};
	u64 value;
	struct iovec iov[AFI_IOV_LIMIT];
	void *desc[AFI_IOV_LIMIT];
	struct fi_rma_iov rma_iov[AFI_RMA_IOV_LIMIT];
	struct fi_ioc ioc[AFI_IOV_LIMIT];
	struct fi_rma_ioc rma_ioc[AFI_RMA_IOV_LIMIT];
	struct fi_ioc res[AFI_IOV_LIMIT];
	void *res_desc[AFI_IOV_LIMIT];
	size_t nres;
	struct fi_ioc y[AFI_IOV_LIMIT];
	size_t ny;
};

/*
 * Flags that need a check or a copy of the data at the call, so the call cannot
 * be deferred.
 */
#define AFI_NOT_LATER	(FI_TRIGGER | FI_INJECT | FI_PEEK | FI_CLAIM | \
			 FI_DISCARD | FI_MULTI_RECV)

static struct afi_ep *ep_of(struct afi_domain *d, struct fid_ep *fid)
{
	struct afi_ep *ep;

	if (!fid || (fid->fid.fclass != FI_CLASS_EP &&
		     fid->fid.fclass != FI_CLASS_TX_CTX &&
		     fid->fid.fclass != FI_CLASS_RX_CTX))
		return NULL;
	ep = afi_ep_of(fid);
	return ep->domain == d && ep->enabled ? ep : NULL;
}

static struct afi_cntr *cntr_of(struct afi_domain *d, struct fid_cntr *fid)
{
	struct afi_cntr *cntr;

	if (!fid || fid->fid.fclass != FI_CLASS_CNTR)
		return NULL;
	cntr = afi_of(fid, struct afi_cntr, fid);
	return cntr->domain == d ? cntr : NULL;
}

/* Copies an array.  Return: false: too many elements. */
static bool work_copy(void *to, const void *from, size_t n, size_t max, size_t size)
{
	if (n > max)
		return false;
	if (n && from)
		memcpy(to, from, n * size);
	return true;
}

#define COPY(to, from, n) \
	work_copy(to, from, n, sizeof(to) / sizeof(*(to)), sizeof(*(to)))

static bool copy_msg(struct afi_work *w, const struct fi_msg_tagged *msg)
{
	w->msg = *msg;
	w->msg.msg_iov = w->iov;
	w->msg.desc = msg->desc ? w->desc : NULL;
	return COPY(w->iov, msg->msg_iov, msg->iov_count) &&
	       COPY(w->desc, msg->desc, msg->iov_count);
}

static bool copy_untagged(struct afi_work *w, const struct fi_msg *msg)
{
	const struct fi_msg_tagged tagged = afi_untagged(msg);

	return copy_msg(w, &tagged);
}

static bool copy_rma(struct afi_work *w, const struct fi_msg_rma *msg)
{
	w->rma = *msg;
	w->rma.msg_iov = w->iov;
	w->rma.desc = msg->desc ? w->desc : NULL;
	w->rma.rma_iov = w->rma_iov;
	return COPY(w->iov, msg->msg_iov, msg->iov_count) &&
	       COPY(w->desc, msg->desc, msg->iov_count) &&
	       COPY(w->rma_iov, msg->rma_iov, msg->rma_iov_count);
}

static bool copy_atomic(struct afi_work *w, const struct fi_msg_atomic *msg)
{
	w->atomic = *msg;
	w->atomic.msg_iov = w->ioc;
	w->atomic.desc = msg->desc ? w->desc : NULL;
	w->atomic.rma_iov = w->rma_ioc;
	return COPY(w->ioc, msg->msg_iov, msg->iov_count) &&
	       COPY(w->desc, msg->desc, msg->iov_count) &&
	       COPY(w->rma_ioc, msg->rma_iov, msg->rma_iov_count);
}

static bool copy_fetch(struct afi_work *w, const struct fi_msg_fetch *fetch)
{
	w->nres = fetch->iov_count;
	return w->nres && COPY(w->res, fetch->msg_iov, w->nres) &&
	       COPY(w->res_desc, fetch->desc, w->nres);
}

static bool copy_compare(struct afi_work *w, const struct fi_msg_compare *y)
{
	w->ny = y->iov_count;
	return w->ny && COPY(w->y, y->msg_iov, w->ny);
}

static bool work_receives(const struct afi_work *w)
{
	return w->type == FI_OP_RECV || w->type == FI_OP_TRECV;
}

/*
 * Can the endpoint or context do the operation, by its direction?  Otherwise the
 * operation is rejected now: without a queue its failure could not be reported
 * later.
 */
static bool work_fits(const struct afi_work *w)
{
	return w->ep->ways & (work_receives(w) ? FI_RECV : FI_TRANSMIT);
}

/*
 * Copies the description of a deferred operation. Return: 0; -FI_EINVAL;
 * -FI_ENOSYS no such operation.
 */
static int work_describe(struct afi_domain *d, struct afi_work *w,
			 const struct fi_deferred_work *from)
{
	struct fid_ep *fid = NULL;
	bool good = true;

	switch (from->op_type) {
	case FI_OP_RECV:
	case FI_OP_SEND:
		fid = from->op.msg->ep;
		w->flags = from->op.msg->flags;
		good = copy_untagged(w, &from->op.msg->msg);
		break;
	case FI_OP_TRECV:
	case FI_OP_TSEND:
		fid = from->op.tagged->ep;
		w->flags = from->op.tagged->flags;
		good = copy_msg(w, &from->op.tagged->msg);
		break;
	case FI_OP_READ:
	case FI_OP_WRITE:
		fid = from->op.rma->ep;
		w->flags = from->op.rma->flags;
		good = copy_rma(w, &from->op.rma->msg);
		break;
	case FI_OP_ATOMIC:
		fid = from->op.atomic->ep;
		w->flags = from->op.atomic->flags;
		good = copy_atomic(w, &from->op.atomic->msg);
		break;
	case FI_OP_FETCH_ATOMIC:
		fid = from->op.fetch_atomic->ep;
		w->flags = from->op.fetch_atomic->flags;
		good = copy_atomic(w, &from->op.fetch_atomic->msg) &&
		       copy_fetch(w, &from->op.fetch_atomic->fetch);
		break;
	case FI_OP_COMPARE_ATOMIC:
		fid = from->op.compare_atomic->ep;
		w->flags = from->op.compare_atomic->flags;
		good = copy_atomic(w, &from->op.compare_atomic->msg) &&
		       copy_fetch(w, &from->op.compare_atomic->fetch) &&
		       copy_compare(w, &from->op.compare_atomic->compare);
		break;
	case FI_OP_CNTR_SET:
	case FI_OP_CNTR_ADD:
		w->target = cntr_of(d, from->op.cntr->cntr);
		w->value = from->op.cntr->value;
		return w->target ? 0 : -FI_EINVAL;
	default:
		return -FI_ENOSYS;
	}
	w->ep = ep_of(d, fid);
	return good && w->ep && work_fits(w) && !(w->flags & AFI_NOT_LATER) ?
		       0 : -FI_EINVAL;
}

static bool on_cntr(const struct afi_work *w)
{
	return w->type == FI_OP_CNTR_SET || w->type == FI_OP_CNTR_ADD;
}

/*
 * Does the endpoint not report the success of the work?  Deferred work is reported
 * only if it requests a completion, or fails.
 */
static bool work_silent(const struct afi_work *w)
{
	return w->key && !(w->flags & FI_COMPLETION);
}

static void work_drop(struct afi_work *w)
{
	afi_list_del(&w->link);
	afi_unref(&w->cntr->refs);
	if (w->also)
		afi_unref(&w->also->refs);
	if (on_cntr(w))
		afi_unref(&w->target->refs);
	free(w);
}

/* Inserts an operation behind those of its counter that start before it. */
static void work_insert(struct afi_domain *d, struct afi_work *w)
{
	struct afi_link *next = &d->works, *link;

	for (link = d->works.prev; link != &d->works; link = link->prev) {
		const struct afi_work *other = afi_of(link, struct afi_work, link);

		if (other->cntr != w->cntr)
			continue;
		if (other->threshold <= w->threshold)
			break;
		next = link;
	}
	afi_list_add(next, &w->link);
}

static int work_queue(struct afi_domain *d, const struct fi_deferred_work *from,
		      const struct fi_deferred_work *key)
{
	struct afi_work *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return -FI_ENOMEM;
	w->type = from->op_type;
	w->key = key;
	w->threshold = from->threshold;
	w->cntr = cntr_of(d, from->triggering_cntr);
	w->also = cntr_of(d, from->completion_cntr);
	ret = work_describe(d, w, from);
	if (!ret && (!w->cntr || (from->completion_cntr && !w->also)))
		ret = -FI_EINVAL;
	if (ret) {
		free(w);
		return ret;
	}
	afi_ref(&w->cntr->refs);
	if (w->also)
		afi_ref(&w->also->refs);
	if (on_cntr(w))
		afi_ref(&w->target->refs);
	work_insert(d, w);
	afi_progress(d);
	return 0;
}

static ssize_t work_send(const struct afi_work *w)
{
	const struct afi_out out = {
		.iov = w->iov,
		.desc = w->msg.desc,
		.count = w->msg.iov_count,
		.to = w->msg.addr,
		.tag = w->msg.tag,
		.data = w->msg.data,
		.context = w->msg.context,
		.flags = w->flags,
		.tagged = w->type == FI_OP_TSEND,
		.has_data = w->flags & FI_REMOTE_CQ_DATA,
	};

	return afi_push_now(w->ep, &out);
}

/*
 * Starts a deferred operation.  Return: 0; -FI_EAGAIN; -FI_E* it cannot start.
 */
static ssize_t work_start(struct afi_work *w)
{
	switch (w->type) {
	case FI_OP_SEND:
	case FI_OP_TSEND:
		return work_send(w);
	case FI_OP_RECV:
	case FI_OP_TRECV:
		return afi_receive_now(w->ep, &w->msg, w->flags,
				       w->type == FI_OP_TRECV);
	case FI_OP_READ:
	case FI_OP_WRITE:
		return afi_rma_now(w->ep, &w->rma, w->flags, false,
				   w->type == FI_OP_WRITE);
	case FI_OP_CNTR_SET:
		w->target->value = 0;
		/* fall through */
	case FI_OP_CNTR_ADD:
		w->target->value += w->value;
		afi_cntr_changed(w->target);
		if (w->also)
			afi_cntr_count(w->also, 0);
		return 0;
	default:
		return afi_atomic_now(w->ep, &w->atomic, w->y, w->ny, w->res,
				      w->res_desc, w->nres, w->flags);
	}
}

/*
 * Reports in a queue that an operation could not be started: the call that
 * queued the operation has already returned.  Return: false: the queue has no room.
 */
static bool tell_failure(struct afi_work *w, int err)
{
	static const struct {
		u64 flags;
		enum afi_counts counts;
	} what[] = {
		[FI_OP_RECV] = { FI_MSG | FI_RECV, AFI_COUNT_RECV },
		[FI_OP_SEND] = { FI_MSG | FI_SEND, AFI_COUNT_SEND },
		[FI_OP_TRECV] = { FI_TAGGED | FI_RECV, AFI_COUNT_RECV },
		[FI_OP_TSEND] = { FI_TAGGED | FI_SEND, AFI_COUNT_SEND },
		[FI_OP_READ] = { FI_RMA | FI_READ, AFI_COUNT_READ },
		[FI_OP_WRITE] = { FI_RMA | FI_WRITE, AFI_COUNT_WRITE },
		[FI_OP_ATOMIC] = { FI_ATOMIC | FI_WRITE, AFI_COUNT_WRITE },
		[FI_OP_FETCH_ATOMIC] = { FI_ATOMIC | FI_READ, AFI_COUNT_READ },
		[FI_OP_COMPARE_ATOMIC] = { FI_ATOMIC | FI_READ, AFI_COUNT_READ },
	};
	struct afi_cq *cq = work_receives(w) ? w->ep->rx : w->ep->tx;
	struct afi_done done = {
		.flags = what[w->type].flags,
		.src = FI_ADDR_NOTAVAIL,
		.err = err,
	};
	struct afi_cntr *cntr;

	if (w->type <= FI_OP_TSEND)
		done.context = w->msg.context;
	else
		done.context = w->type <= FI_OP_WRITE ? w->rma.context :
							w->atomic.context;
	if (cq && !afi_cq_promise_more(cq))
		return false;
	if (cq)
		afi_cq_put(cq, &done);
	cntr = w->ep->cntrs[what[w->type].counts];
	if (!work_silent(w) && cntr != w->also)
		afi_cntr_count(cntr, err);
	afi_cntr_count(w->also, err);
	return true;
}

/*
 * Has the counter reached the threshold?  For deferred work errors count, too; for
 * calls with FI_TRIGGER they do not.
 */
static bool work_due(const struct afi_work *w)
{
	return w->cntr->value + (w->key ? w->cntr->errors : 0) >= w->threshold;
}

/**
 * afi_work_progress() - start operations that are due
 * @d: domain, locked
 *
 * Return: true if any operation was started, or was dropped after an error.
 */
bool afi_work_progress(struct afi_domain *d)
{
	struct afi_link *link, *next;
	bool any = false;

	d->works_pass++;
	for (link = d->works.next; link != &d->works; link = next) {
		struct afi_work *w = afi_of(link, struct afi_work, link);
		int ret;

		next = link->next;
		if (!work_due(w) || w->cntr->stalled == d->works_pass)
			continue;
		d->also = w->also;
		d->silent = work_silent(w);
		ret = (int)work_start(w);
		d->also = NULL;
		d->silent = false;
		if (ret == -FI_EAGAIN || (ret && !tell_failure(w, -ret))) {
			w->cntr->stalled = d->works_pass;
			continue;
		}
		work_drop(w);
		any = true;
	}
	return any;
}

/* Drops the operations of an endpoint that is being closed. */
void afi_work_close(struct afi_ep *ep)
{
	struct afi_link *link, *next;

	for (link = ep->domain->works.next; link != &ep->domain->works;
	     link = next) {
		struct afi_work *w = afi_of(link, struct afi_work, link);

		next = link->next;
		if (!on_cntr(w) && w->ep == ep)
			work_drop(w);
	}
}

/*
 * Drops operations that have not started.  @key: the program's handle of one of
 * them; NULL: all
 */
static int work_cancel(struct afi_domain *d, const struct fi_deferred_work *key)
{
	struct afi_link *link, *next;
	int ret = key ? -FI_ENOENT : 0;

	for (link = d->works.next; link != &d->works; link = next) {
		struct afi_work *w = afi_of(link, struct afi_work, link);

		next = link->next;
		if (w->key && (!key || w->key == key)) {
			work_drop(w);
			ret = 0;
		}
	}
	return ret;
}

/* Implements fi_control() of a domain. */
int afi_domain_control(struct fid *fid, int command, void *arg)
{
	struct afi_domain *d = afi_of(fid, struct afi_domain, fid.fid);
	int ret = -FI_ENOSYS;

	if (command != FI_FLUSH_WORK && !arg)
		return command == FI_QUEUE_WORK || command == FI_CANCEL_WORK ?
			       -FI_EINVAL : -FI_ENOSYS;
	afi_lock(d);
	if (command == FI_QUEUE_WORK)
		ret = work_queue(d, arg, arg);
	else if (command == FI_CANCEL_WORK)
		ret = work_cancel(d, arg);
	else if (command == FI_FLUSH_WORK)
		ret = work_cancel(d, NULL);
	afi_unlock(d);
	return ret;
}

/**
 * afi_trigger() - defer a call with FI_TRIGGER
 * @ep: endpoint
 * @work: operation; this function fills in the other fields
 * @context: the program's context argument, with the trigger
 *
 * Return: 0; -FI_ENOSYS the trigger is not a counter; -FI_EINVAL;
 * -FI_EOPNOTSUPP the endpoint was opened without FI_TRIGGER.
 */
ssize_t afi_trigger(struct afi_ep *ep, struct fi_deferred_work *work,
		    const void *context)
{
	const struct fi_triggered_context *t = context;
	int ret;

	if (!(ep->caps & FI_TRIGGER))
		return -FI_EOPNOTSUPP;
	if (!t)
		return -FI_EINVAL;
	if (t->event_type != FI_TRIGGER_THRESHOLD)
		return -FI_ENOSYS;
	work->threshold = t->trigger.threshold.threshold;
	work->triggering_cntr = t->trigger.threshold.cntr;
	afi_lock(ep->domain);
	ret = work_queue(ep->domain, work, NULL);
	afi_unlock(ep->domain);
	return ret;
}
