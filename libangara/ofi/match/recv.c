// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Receives that the program has posted, as objects: they belong to an endpoint,
 * or to a context that endpoints share.
 */
#include "msg.h"

void afi_recv_init(struct afi_ep *ep)
{
	int i;

	for (i = 0; i < 2; i++) {
		afi_list_init(&ep->posted[i]);
		afi_list_init(&ep->kept[i]);
	}
	afi_list_init(&ep->parked);
	ep->min_multi = AFI_MIN_MULTI;
	ep->box = ep;
}

/* Return: a receive of zeroes; NULL: no memory. */
struct afi_recv *afi_recv_new(struct afi_ep *ep)
{
	struct afi_recv *r = afi_objects_take(&ep->domain->recvs);

	if (r)
		*r = (struct afi_recv){ .domain = ep->domain, .ep = ep };
	return r;
}

void afi_recv_free(struct afi_recv *r)
{
	if (r->also)
		afi_unref(&r->also->refs);
	afi_objects_give(&r->domain->recvs, r);
}

/* Reports the end of a receive without data, in an entry that is reserved. */
void afi_recv_end(const struct afi_recv *r, struct afi_cq *cq, int err)
{
	const struct afi_done done = {
		.context = r->context,
		.flags = FI_RECV | (r->tagged ? FI_TAGGED : FI_MSG),
		.tag = r->tag,
		.src = FI_ADDR_NOTAVAIL,
		.err = err,
	};

	afi_cq_put(cq, &done);
}

/* Counts the end of a receive, or of a message that it took for @ep. */
void afi_recv_count(const struct afi_ep *ep, const struct afi_recv *r, int err)
{
	struct afi_cntr *cntr = ep->cntrs[AFI_COUNT_RECV];

	if (!r->silent && cntr != r->also)
		afi_cntr_count(cntr, err);
	afi_cntr_count(r->also, err);
}

static void recv_end_cancelled(const struct afi_recv *r)
{
	if (r->ends_in)
		afi_recv_end(r, r->ends_in, FI_ECANCELED);
	afi_recv_count(r->ep, r, FI_ECANCELED);
}

/* A receive is freed when it is used up and all its data has been fetched. */
void afi_recv_unuse(struct afi_recv *r)
{
	if (!r->ended || r->users || r->held)
		return;
	if (r->cancelled)
		recv_end_cancelled(r);
	afi_recv_free(r);
}

/*
 * Cancels a receive in the list of its endpoint.  A multi-receive buffer may
 * have data in flight, which belongs to the program only when it has arrived:
 * the end is reported then.  Return: 0; -FI_EAGAIN no room for the completion.
 */
int afi_recv_withdraw(struct afi_recv *r)
{
	if (r->ep->rx && !afi_cq_promise_more(r->ep->rx))
		return -FI_EAGAIN;
	r->ends_in = r->ep->rx;
	r->cancelled = true;
	r->ended = true;
	afi_list_del(&r->link);
	afi_recv_unuse(r);
	return 0;
}

/**
 * afi_recv_return() - give a receive back to its shared context
 * @r: receive whose endpoint was closed before the data arrived; if it takes
 *	more messages, or other messages use it, it stays as it is; if it is
 *	cancelled, it ends
 * @buf: destination of the data; of a multi-receive buffer only this part is
 *	posted again
 * @len: bytes at @buf
 */
void afi_recv_return(struct afi_recv *r, void *buf, size_t len)
{
	if (!r->ended || r->users)
		return;
	if (r->cancelled) {
		afi_recv_unuse(r);
		return;
	}
	if (r->multi) {
		r->iov[0] = (struct iovec){ .iov_base = buf, .iov_len = len };
		r->len = len;
	}
	r->ended = false;
	afi_list_add(&r->ep->domain->returned, &r->link);
}
