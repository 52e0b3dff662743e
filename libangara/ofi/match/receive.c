// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Posting receives, of tagged and of other messages. */
#include "msg.h"

/* FI_TRANSMIT_COMPLETE permits earlier completions; receives never make use of it. */
#define AFI_RECV_FLAGS	(FI_COMPLETION | FI_MULTI_RECV | FI_MORE | FI_PEEK | \
			 FI_CLAIM | FI_DISCARD | FI_TRANSMIT_COMPLETE)

static int receive_check(const struct afi_ep *ep,
			 const struct fi_msg_tagged *msg, u64 flags)
{
	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (flags & ~AFI_RECV_FLAGS)
		return -FI_EBADFLAGS;
	if (!(ep->caps & FI_RECV) || ep->box != ep)
		return -FI_EOPNOTSUPP;
	/*
	 * A peek at a shared context has no endpoint whose queue could report
	 * that there is no message.
	 */
	if ((flags & (FI_PEEK | FI_CLAIM)) && afi_is_srx(ep))
		return -FI_EOPNOTSUPP;
	if (msg->iov_count > AFI_IOV_LIMIT ||
	    ((flags & FI_MULTI_RECV) && msg->iov_count != 1) ||
	    ((flags & FI_DISCARD) && !(flags & (FI_PEEK | FI_CLAIM))) ||
	    ((flags & FI_CLAIM) && !msg->context))
		return -FI_EINVAL;
	return 0;
}

/* Return: 0; -FI_EINVAL there is no such sender. */
static int receive_fill(struct afi_recv *r, struct afi_ep *ep,
			const struct fi_msg_tagged *msg, u64 flags, bool tagged)
{
	const struct afi_name *src = NULL;
	size_t i;

	r->also = ep->domain->also;
	if (r->also)
		afi_ref(&r->also->refs);
	r->context = msg->context;
	r->tag = msg->tag;
	r->ignore = tagged ? msg->ignore : UINT64_MAX;
	r->tagged = tagged;
	r->silent = ep->domain->silent;
	r->report = (!afi_is_srx(ep) && !ep->rx_selective && !r->silent) ||
		    (flags & FI_COMPLETION);
	r->multi = flags & FI_MULTI_RECV;
	r->count = msg->iov_count;
	for (i = 0; i < r->count; i++) {
		r->iov[i] = msg->msg_iov[i];
		r->desc[i] = msg->desc ? msg->desc[i] : NULL;
		if (__builtin_add_overflow(r->len, r->iov[i].iov_len, &r->len))
			return -FI_EINVAL;
	}
	r->any = !(ep->caps & FI_DIRECTED_RECV) ||
		 msg->addr == FI_ADDR_UNSPEC;
	if (r->any)
		return 0;
	src = afi_av_get(ep->av, afi_av_entry(ep->av, msg->addr));
	if (!src)
		return -FI_EINVAL;
	r->src = *src;
	return 0;
}

static int receive_post(struct afi_recv *r, u64 flags)
{
	int ret;

	if (!(flags & (FI_PEEK | FI_CLAIM)))
		return afi_recv_post(r);
	ret = afi_recv_peek(r, flags);
	if (!ret)
		afi_recv_free(r);
	return ret > 0 ? 0 : ret;
}

/* The domain is locked.  Return: as fi_recvmsg(). */
int afi_receive_now(struct afi_ep *ep, const struct fi_msg_tagged *msg,
		    u64 flags, bool tagged)
{
	struct afi_recv *r;
	int ret = receive_check(ep, msg, flags);

	if (ret)
		return ret;
	r = afi_recv_new(ep);
	if (!r)
		return -FI_ENOMEM;
	ret = receive_fill(r, ep, msg, flags, tagged);
	if (!ret)
		ret = receive_post(r, flags);
	if (ret)
		afi_recv_free(r);
	return ret;
}

/* Implements fi_recvmsg() and fi_trecvmsg(). */
ssize_t afi_receive(struct afi_ep *ep, const struct fi_msg_tagged *msg,
		    u64 flags, bool tagged)
{
	int ret;

	afi_lock(ep->domain);
	/*
	 * Handle messages that have arrived first, so that FI_PEEK finds the
	 * latest.
	 */
	if (flags & FI_PEEK)
		afi_progress(ep->domain);
	ret = afi_receive_now(ep, msg, flags, tagged);
	if (ret == -FI_EAGAIN) {
		afi_progress(ep->domain);
		ret = afi_receive_now(ep, msg, flags, tagged);
	}
	if (!ret)
		afi_continue(ep->domain);
	afi_unlock(ep->domain);
	return ret;
}
