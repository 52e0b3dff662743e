// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Binds endpoints to queues, counters, address vectors, event queues, and
 * contexts that endpoints share.
 */
#include "afi.h"

static int bind_cq(struct afi_ep *ep, struct afi_cq *cq, u64 flags)
{
	if ((flags & ~(ep->ways | FI_SELECTIVE_COMPLETION)) ||
	    !(flags & ep->ways) || cq->domain != ep->domain)
		return -FI_EINVAL;
	if (((flags & FI_TRANSMIT) && ep->tx) || ((flags & FI_RECV) && ep->rx))
		return -FI_EINVAL;
	if (flags & FI_TRANSMIT) {
		ep->tx = cq;
		ep->tx_selective = flags & FI_SELECTIVE_COMPLETION;
		afi_ref(&cq->refs);
	}
	if (flags & FI_RECV) {
		ep->rx = cq;
		ep->rx_selective = flags & FI_SELECTIVE_COMPLETION;
		afi_ref(&cq->refs);
	}
	return 0;
}

static int bind_cntr(struct afi_ep *ep, struct afi_cntr *cntr, u64 flags)
{
	const u64 sends = FI_SEND | FI_READ | FI_WRITE;
	const u64 receives = FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE;
	static const u64 what[AFI_COUNTS] = {
		[AFI_COUNT_SEND] = FI_SEND,
		[AFI_COUNT_RECV] = FI_RECV,
		[AFI_COUNT_READ] = FI_READ,
		[AFI_COUNT_WRITE] = FI_WRITE,
		[AFI_COUNT_REMOTE_READ] = FI_REMOTE_READ,
		[AFI_COUNT_REMOTE_WRITE] = FI_REMOTE_WRITE,
	};
	u32 i;

	/*
	 * Without FI_RMA_EVENT peers' operations are not counted, so refuse a
	 * counter that would count only these.  If @flags has other flags, too,
	 * ignore the two flags of peers' operations: programs set them without
	 * need.
	 */
	if (!(ep->caps & FI_RMA_EVENT)) {
		if (!(flags & ~(FI_REMOTE_READ | FI_REMOTE_WRITE)))
			return -FI_EOPNOTSUPP;
		flags &= ~(FI_REMOTE_READ | FI_REMOTE_WRITE);
	}
	if ((flags & ~((ep->ways & FI_TRANSMIT ? sends : 0) |
		       (ep->ways & FI_RECV ? receives : 0))) ||
	    !flags || cntr->domain != ep->domain)
		return -FI_EINVAL;
	for (i = 0; i < AFI_COUNTS; i++)
		if ((flags & what[i]) && ep->cntrs[i])
			return -FI_EINVAL;
	for (i = 0; i < AFI_COUNTS; i++)
		if (flags & what[i]) {
			ep->cntrs[i] = cntr;
			afi_ref(&cntr->refs);
		}
	return 0;
}

/*
 * Binds an address vector.  A context of a scalable endpoint uses the vector of
 * its endpoint.
 */
static int bind_av(struct afi_ep *ep, struct afi_av *av)
{
	if (ep->sep || ep->av || av->domain != ep->domain)
		return -FI_EINVAL;
	ep->av = av;
	afi_ref(&av->refs);
	return 0;
}

static int bind_eq(struct afi_ep *ep, struct afi_eq *eq)
{
	if (ep->sep || ep->eq || eq->fabric != ep->domain->fabric)
		return -FI_EINVAL;
	ep->eq = eq;
	afi_ref(&eq->refs);
	return 0;
}

/*
 * Return: 0; -FI_EINVAL the endpoint was not created for a shared context, or
 * has one already.
 */
static int bind_stx(struct afi_ep *ep, struct afi_stx *stx)
{
	if (!ep->wants_stx || ep->budget != &ep->own_budget ||
	    stx->domain != ep->domain)
		return -FI_EINVAL;
	ep->budget = &stx->budget;
	ep->stx_refs = &stx->refs;
	afi_ref(&stx->refs);
	return 0;
}

/* Return: as bind_stx(). */
static int bind_srx(struct afi_ep *ep, struct afi_ep *srx)
{
	if (!ep->wants_srx || ep->box != ep || srx->domain != ep->domain)
		return -FI_EINVAL;
	ep->box = srx;
	afi_ref(&srx->srx_refs);
	return 0;
}

/* fi_ep_bind(), also of an alias. */
int afi_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct afi_ep *ep = afi_of(fid, struct afi_handle, fid.fid)->ep;
	int ret;

	afi_lock(ep->domain);
	/*
	 * A queue or counter that is bound to an enabled endpoint reports only
	 * operations that begin later.
	 */
	if (ep->enabled && bfid->fclass != FI_CLASS_CQ &&
	    bfid->fclass != FI_CLASS_CNTR) {
		ret = -FI_EOPBADSTATE;
		goto unlock;
	}
	switch (bfid->fclass) {
	case FI_CLASS_CQ:
		ret = bind_cq(ep, afi_of(bfid, struct afi_cq, fid.fid), flags);
		break;
	case FI_CLASS_CNTR:
		ret = bind_cntr(ep, afi_of(bfid, struct afi_cntr, fid.fid),
				flags);
		break;
	case FI_CLASS_AV:
		ret = bind_av(ep, afi_of(bfid, struct afi_av, fid.fid));
		break;
	case FI_CLASS_EQ:
		ret = bind_eq(ep, afi_of(bfid, struct afi_eq, fid.fid));
		break;
	case FI_CLASS_STX_CTX:
		ret = bind_stx(ep, afi_of(bfid, struct afi_stx, fid.fid));
		break;
	case FI_CLASS_SRX_CTX:
		ret = bind_srx(ep, afi_of(bfid, struct afi_handle, fid.fid)->ep);
		break;
	default:
		ret = -FI_EINVAL;
	}
unlock:
	afi_unlock(ep->domain);
	return ret;
}

/* Undoes all bindings of an endpoint that is being closed. */
void afi_ep_unbind(struct afi_ep *ep)
{
	u32 i;

	if (ep->av)
		afi_unref(&ep->av->refs);
	if (ep->eq)
		afi_unref(&ep->eq->refs);
	if (ep->box != ep)
		afi_unref(&ep->box->srx_refs);
	if (ep->stx_refs)
		afi_unref(ep->stx_refs);
	if (ep->tx)
		afi_unref(&ep->tx->refs);
	if (ep->rx)
		afi_unref(&ep->rx->refs);
	for (i = 0; i < AFI_COUNTS; i++)
		if (ep->cntrs[i])
			afi_unref(&ep->cntrs[i]->refs);
}
