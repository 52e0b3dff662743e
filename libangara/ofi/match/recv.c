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

/* A receive is freed when it is used up and all its data has been fetched. */
void afi_recv_unuse(struct afi_recv *r)
{
	if (r->ended && !r->users && !r->held)
		afi_recv_free(r);
}

/**
 * afi_recv_return() - give a receive back to its shared context
 * @r: receive whose endpoint was closed before the data arrived; if it takes
 *	more messages, or other messages use it, it stays as it is
 * @buf: destination of the data; of a multi-receive buffer only this part is
 *	posted again
 * @len: bytes at @buf
 */
void afi_recv_return(struct afi_recv *r, void *buf, size_t len)
{
	if (!r->ended || r->users)
		return;
	if (r->multi) {
		r->iov[0] = (struct iovec){ .iov_base = buf, .iov_len = len };
		r->len = len;
	}
	r->ended = false;
	afi_list_add(&r->ep->domain->returned, &r->link);
}
