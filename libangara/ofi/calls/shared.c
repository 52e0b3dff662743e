// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Contexts that endpoints share (FI_SHARED_CONTEXT).
 *
 * A shared receive context has receives for all endpoints that are bound to it:
 * a message to any of them takes the oldest receive that matches, and is
 * reported in the queue and counters of its endpoint.  The context is a struct
 * afi_ep without an address.  It also keeps unexpected messages.  Each belongs
 * to an endpoint, and is dropped when this endpoint is closed.
 *
 * A shared transmit context limits the reads and writes in progress of all its
 * endpoints together.
 */
#include <stdlib.h>

#include "info.h"
#include "msg.h"

/*
 * Capabilities of a shared receive context.  It has no address vector, so it
 * cannot receive from one sender only (FI_DIRECTED_RECV).
 */
#define AFI_SRX_CAPS	(FI_MSG | FI_TAGGED | FI_RECV | FI_MULTI_RECV)

static int stx_close(struct fid *fid)
{
	struct afi_stx *stx = afi_of(fid, struct afi_stx, fid.fid);

	if (afi_busy(&stx->refs))
		return -FI_EBUSY;
	afi_unref(&stx->domain->refs);
	free(stx);
	return 0;
}

static struct fi_ops stx_fi_ops =
	AFI_FI_OPS(stx_close, afi_no_bind, afi_no_control);

/* Implements fi_stx_context(). */
int afi_stx_open(struct fid_domain *domain, struct fi_tx_attr *attr,
		 struct fid_stx **out, void *context)
{
	struct afi_stx *stx;

	if (!afi_tx_ok(attr))
		return -FI_EINVAL;
	stx = calloc(1, sizeof(*stx));
	if (!stx)
		return -FI_ENOMEM;
	stx->domain = afi_domain_of(domain);
	stx->budget.size = attr && attr->size ? (u32)attr->size : AFI_TX_SIZE;
	stx->fid.fid.fclass = FI_CLASS_STX_CTX;
	stx->fid.fid.context = context;
	stx->fid.fid.ops = &stx_fi_ops;
	afi_ref(&stx->domain->refs);
	*out = &stx->fid;
	return 0;
}

static struct afi_ep *srx_of(struct fid *fid)
{
	return afi_of(fid, struct afi_handle, fid.fid)->ep;
}

static int srx_close(struct fid *fid)
{
	struct afi_ep *srx = srx_of(fid);
	struct afi_domain *d = srx->domain;

	if (afi_busy(&srx->srx_refs))
		return -FI_EBUSY;
	afi_lock(d);
	afi_recv_close(srx);
	afi_ops_orphan(srx);
	afi_unlock(d);
	if (srx->rx)
		afi_unref(&srx->rx->refs);
	afi_unref(&d->refs);
	free(srx);
	return 0;
}

/*
 * Binds a queue to the context.  The queue reports receives that were cancelled
 * before an endpoint had taken them.
 */
static int srx_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct afi_ep *srx = srx_of(fid);
	struct afi_cq *cq = afi_of(bfid, struct afi_cq, fid.fid);
	int ret = -FI_EINVAL;

	if (bfid->fclass != FI_CLASS_CQ)
		return -FI_EINVAL;
	afi_lock(srx->domain);
	if (flags == FI_RECV && !srx->rx && cq->domain == srx->domain) {
		srx->rx = cq;
		afi_ref(&cq->refs);
		ret = 0;
	}
	afi_unlock(srx->domain);
	return ret;
}

/* FI_ENABLE does nothing: a shared receive context is always enabled. */
static int srx_control(struct fid *fid, int command, void *arg)
{
	(void)fid;
	(void)arg;
	return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

static struct fi_ops srx_fi_ops = AFI_FI_OPS(srx_close, srx_bind, srx_control);

/* Implements fi_srx_context(). */
int afi_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr,
		 struct fid_ep **out, void *context)
{
	struct afi_ep *srx = calloc(1, sizeof(*srx));
	int ret;

	if (!srx)
		return -FI_ENOMEM;
	srx->domain = afi_domain_of(domain);
	ret = srx->domain->has_msgs ? afi_rx_take(srx, AFI_SRX_CAPS, attr) :
				      -FI_EOPNOTSUPP;
	if (ret) {
		free(srx);
		return ret;
	}
	srx->own.ep = srx;
	srx->ways = FI_RECV;
	srx->budget = &srx->own_budget;
	srx->enabled = true;
	afi_recv_init(srx);
	afi_ep_fill(srx, FI_CLASS_SRX_CTX, context);
	srx->own.fid.fid.ops = &srx_fi_ops;
	afi_ref(&srx->domain->refs);
	*out = &srx->own.fid;
	return 0;
}
