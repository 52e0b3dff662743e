// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Scalable endpoints: one address, several contexts that send and several that
 * receive, each with its own completions.  All share one domain and its lock.
 */
#include <stdlib.h>

#include "info.h"
#include "msg.h"

/*
 * Are capabilities valid for a context? The endpoint's info may have
 * FI_COLLECTIVE, which contexts ignore.
 */
static bool caps_ok(const struct afi_ep *ctx, u64 wanted)
{
	return !(wanted & ~(ctx->sep->caps | FI_COLLECTIVE));
}

/*
 * Applies attributes that differ from the endpoint's, and returns all
 * attributes to the program.
 */
static int tx_attr(struct afi_ep *ctx, struct fi_tx_attr *attr)
{
	ctx->caps = afi_caps_of(ctx->sep->caps & AFI_TX_CAPS,
				attr ? attr->caps : 0);
	if (!attr)
		return 0;
	if (!caps_ok(ctx, attr->caps) || !afi_tx_ok(attr))
		return -FI_EINVAL;
	ctx->own.tx_flags = attr->op_flags;
	ctx->order = attr->msg_order;
	if (attr->size)
		ctx->own_budget.size = (u32)attr->size;
	attr->caps = ctx->caps;
	attr->mode = 0;
	attr->msg_order |= AFI_ORDER;
	attr->inject_size = AFI_INJECT_SIZE;
	attr->size = ctx->own_budget.size;
	attr->iov_limit = AFI_IOV_LIMIT;
	attr->rma_iov_limit = AFI_RMA_IOV_LIMIT;
	return 0;
}

static int rx_attr(struct afi_ep *ctx, struct fi_rx_attr *attr)
{
	if (attr && !caps_ok(ctx, attr->caps))
		return -FI_EINVAL;
	return afi_rx_take(ctx, ctx->sep->caps & AFI_RX_CAPS, attr);
}

/* Allocates a context with the attributes of its endpoint. */
static struct afi_ep *new_ctx(struct afi_ep *sep, u32 num, u64 ways)
{
	struct afi_ep *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	ctx->own.ep = ctx;
	ctx->domain = sep->domain;
	ctx->sep = sep;
	ctx->num = num;
	ctx->ways = ways;
	ctx->name = sep->name;
	if (ways == FI_RECV)
		ctx->name.ep = (u16)num;
	ctx->order = sep->order;
	ctx->own.tx_flags = sep->own.tx_flags;
	ctx->own.rx_flags = sep->own.rx_flags;
	ctx->own_budget.size = sep->own_budget.size;
	ctx->budget = &ctx->own_budget;
	afi_recv_init(ctx);
	return ctx;
}

/* Adds a context to its endpoint.  Return: 0; -FI_EBUSY it is already open. */
static int add_ctx(struct afi_ep *ctx)
{
	struct afi_domain *d = ctx->domain;
	bool taken;

	afi_lock(d);
	taken = d->eps[ctx->num];
	if (!taken) {
		d->eps[ctx->num] = ctx;
		ctx->sep->ctxs++;
		afi_ref(&d->refs);
	}
	afi_unlock(d);
	return taken ? -FI_EBUSY : 0;
}

/* Returns the context, unless @ret says that its attributes are invalid. */
static int open_ctx(struct afi_ep *ctx, int ret, size_t fclass,
		    struct fid_ep **out, void *context)
{
	if (!ret) {
		afi_ep_fill(ctx, fclass, context);
		ret = add_ctx(ctx);
	}
	if (ret) {
		free(ctx);
		return ret;
	}
	*out = &ctx->own.fid;
	return 0;
}

static int sep_tx_ctx(struct fid_ep *fid, int index, struct fi_tx_attr *attr,
		      struct fid_ep **out, void *context)
{
	struct afi_ep *sep = afi_ep_of(fid), *ctx;

	if (index < 0 || (u32)index >= sep->ntx)
		return -FI_EINVAL;
	ctx = new_ctx(sep, sep->num + sep->nrx + (u32)index, FI_TRANSMIT);
	if (!ctx)
		return -FI_ENOMEM;
	return open_ctx(ctx, tx_attr(ctx, attr), FI_CLASS_TX_CTX, out, context);
}

static int sep_rx_ctx(struct fid_ep *fid, int index, struct fi_rx_attr *attr,
		      struct fid_ep **out, void *context)
{
	struct afi_ep *sep = afi_ep_of(fid), *ctx;

	if (index < 0 || (u32)index >= sep->nrx)
		return -FI_EINVAL;
	ctx = new_ctx(sep, sep->num + (u32)index, FI_RECV);
	if (!ctx)
		return -FI_ENOMEM;
	return open_ctx(ctx, rx_attr(ctx, attr), FI_CLASS_RX_CTX, out, context);
}

/*
 * The scalable endpoint refuses these calls: programs make them on its
 * contexts.
 */
AFI_NO_CALL(ssize_t, no_cancel, fid_t fid, void *context)

static int no_getopt(fid_t fid, int level, int optname, void *optval,
		     size_t *optlen)
{
	(void)fid;
	(void)level;
	(void)optname;
	(void)optval;
	(void)optlen;
	return -FI_ENOPROTOOPT;
}

static int no_setopt(fid_t fid, int level, int optname, const void *optval,
		     size_t optlen)
{
	(void)fid;
	(void)level;
	(void)optname;
	(void)optval;
	(void)optlen;
	return -FI_ENOPROTOOPT;
}

static struct fi_ops_ep sep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = no_cancel,
	.getopt = no_getopt,
	.setopt = no_setopt,
	.tx_ctx = sep_tx_ctx,
	.rx_ctx = sep_rx_ctx,
	.rx_size_left = afi_ep_no_size_left,
	.tx_size_left = afi_ep_no_size_left,
};

/* Return: number of requested contexts; 0: too many, or shared contexts. */
static u32 contexts_of(size_t asked)
{
	if (asked > AFI_EP_CTXS)
		return 0;
	return asked ? (u32)asked : 1;
}

/* Implements fi_scalable_ep(). */
int afi_sep_open(struct fid_domain *domain, struct fi_info *info,
		 struct fid_ep **out, void *context)
{
	struct afi_ep *sep;
	u32 nrx, ntx;
	int ret;

	if (!info || !info->ep_attr)
		return -FI_EINVAL;
	nrx = contexts_of(info->ep_attr->rx_ctx_cnt);
	ntx = contexts_of(info->ep_attr->tx_ctx_cnt);
	if (!nrx || !ntx)
		return -FI_EINVAL;
	ret = afi_ep_make(domain, info, nrx + ntx, &sep);
	if (ret)
		return ret;
	sep->nrx = nrx;
	sep->ntx = ntx;
	/* Members of groups are endpoints with one context. */
	sep->caps &= ~FI_COLLECTIVE;
	afi_ep_fill(sep, FI_CLASS_SEP, context);
	sep->own.fid.ops = &sep_ops;
	AFI_INFO(EP_CTRL, "endpoint %u: %u transmit and %u receive contexts\n",
		 sep->num, ntx, nrx);
	*out = &sep->own.fid;
	return 0;
}
