// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Endpoints, and functions that contexts of scalable endpoints share with them.
 */
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "info.h"
#include "service.h"

static struct afi_handle *handle_of(struct fid *fid)
{
	return afi_of(fid, struct afi_handle, fid.fid);
}

static struct afi_ep *ep_of(struct fid *fid)
{
	return handle_of(fid)->ep;
}

/* Is a queue or counter bound that reports completions? */
static bool ep_tells(const struct afi_ep *ep)
{
	u32 i;

	for (i = 0; i < AFI_COUNTS; i++)
		if (ep->cntrs[i])
			return true;
	return ep->tx || ep->rx;
}

static int ep_enable(struct afi_ep *ep)
{
	struct afi_av *av = ep->sep ? ep->sep->av : ep->av;
	int ret;

	if (ep->enabled)
		return 0;
	if (!av)
		return -FI_ENOAV;
	/* A scalable endpoint needs no queue: its contexts do the work. */
	if (ep->ways && !ep_tells(ep))
		return -FI_ENOCQ;
	if ((ep->wants_stx && ep->budget == &ep->own_budget) ||
	    (ep->wants_srx && ep->box == ep))
		return -FI_EOPBADSTATE;
	ret = afi_service_start(&ep->source, &ep->name, &ep->service);
	if (ret)
		return ret;
	if (ep->sep) {
		ep->av = av;
		afi_ref(&av->refs);
	}
	ep->enabled = true;
	return 0;
}

/* Gets or sets the default flags of operations in one direction. */
static int ops_flags(struct afi_handle *h, u64 *flags, bool set)
{
	bool tx = *flags & FI_TRANSMIT;
	u64 *own = tx ? &h->tx_flags : &h->rx_flags;
	u64 rest = *flags & ~(FI_TRANSMIT | FI_RECV);

	if (tx == !!(*flags & FI_RECV) || !(*flags & h->ep->ways))
		return -FI_EINVAL;
	if (!set)
		*flags = *own;
	else if (rest & ~((tx ? AFI_TX_FLAGS : AFI_RX_FLAGS) |
			  (h->ep->caps & FI_TRIGGER)))
		return -FI_EINVAL;
	else
		*own = rest;
	return 0;
}

static struct fi_ops alias_fi_ops;

/* Opens an alias, with the flags of the handle from which it is created. */
static int alias_open(const struct afi_handle *from,
		      const struct fi_alias *alias)
{
	struct afi_handle *h = malloc(sizeof(*h));
	u64 flags = alias->flags;
	int ret;

	if (!h)
		return -FI_ENOMEM;
	*h = *from;
	h->fid.fid.ops = &alias_fi_ops;
	ret = ops_flags(h, &flags, true);
	if (ret) {
		free(h);
		return ret;
	}
	h->ep->aliases++;
	*alias->fid = &h->fid.fid;
	return 0;
}

static int alias_close(struct fid *fid)
{
	struct afi_handle *h = handle_of(fid);

	afi_lock(h->ep->domain);
	h->ep->aliases--;
	afi_unlock(h->ep->domain);
	free(h);
	return 0;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct afi_handle *h = handle_of(fid);
	struct afi_domain *d = h->ep->domain;
	int ret = -FI_ENOSYS;

	afi_lock(d);
	if (command == FI_ENABLE)
		ret = ep_enable(h->ep);
	else if (command == FI_GETOPSFLAG || command == FI_SETOPSFLAG)
		ret = ops_flags(h, arg, command == FI_SETOPSFLAG);
	else if (command == FI_ALIAS)
		ret = alias_open(h, arg);
	afi_unlock(d);
	return ret;
}

static void mark_numbers(struct afi_domain *d, u32 first, u32 n, bool taken)
{
	u32 i;

	for (i = first; i < first + n; i++)
		if (taken)
			d->numbers[i / 64] |= 1ULL << i % 64;
		else
			d->numbers[i / 64] &= ~(1ULL << i % 64);
	if (taken && first + n > d->eps_top)
		d->eps_top = first + n;
}

/* Return: the first of @n consecutive numbers, marked as in use; -FI_ENOSPC. */
static int take_numbers(struct afi_domain *d, u32 n)
{
	u32 row = 0, i;

	for (i = 0; i < AFI_EPS; i++) {
		row = d->numbers[i / 64] >> i % 64 & 1 ? 0 : row + 1;
		if (row == n) {
			mark_numbers(d, i + 1 - n, n, true);
			return (int)(i + 1 - n);
		}
	}
	return -FI_ENOSPC;
}

/*
 * Frees the numbers of an endpoint; numbers of contexts belong to their
 * endpoint.
 */
static void give_numbers(const struct afi_ep *ep)
{
	u32 n = ep->nrx + ep->ntx;

	if (!ep->sep)
		mark_numbers(ep->domain, ep->num, n ? n : 1, false);
}

static int ep_close(struct fid *fid)
{
	struct afi_ep *ep = ep_of(fid);
	struct afi_domain *d = ep->domain;

	afi_lock(d);
	if (ep->groups || ep->ctxs || ep->aliases) {
		afi_unlock(d);
		return -FI_EBUSY;
	}
	afi_work_close(ep);
	afi_recv_close(ep);
	afi_ops_orphan(ep);
	afi_recv_again(d);
	d->eps[ep->num] = NULL;
	give_numbers(ep);
	if (ep->sep)
		ep->sep->ctxs--;
	afi_continue(d);
	afi_unlock(d);
	afi_service_stop(ep->service);
	afi_ep_unbind(ep);
	afi_unref(&d->refs);
	free(ep);
	return 0;
}

static struct fi_ops ep_fi_ops = AFI_FI_OPS(ep_close, afi_ep_bind, ep_control);
static struct fi_ops alias_fi_ops =
	AFI_FI_OPS(alias_close, afi_ep_bind, ep_control);

static ssize_t ep_cancel(fid_t fid, void *context)
{
	struct afi_ep *ep = ep_of(fid);
	ssize_t ret;

	afi_lock(ep->domain);
	ret = afi_recv_cancel(ep, context);
	afi_continue(ep->domain);
	afi_unlock(ep->domain);
	return ret;
}

/*
 * Gets the number of free bytes below which a multi-receive buffer is used up.
 */
static int ep_getopt(fid_t fid, int level, int optname, void *optval,
		     size_t *optlen)
{
	struct afi_ep *ep = ep_of(fid);

	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (*optlen < sizeof(size_t))
		return -FI_ETOOSMALL;
	afi_lock(ep->domain);
	*(size_t *)optval = ep->min_multi;
	afi_unlock(ep->domain);
	*optlen = sizeof(size_t);
	return 0;
}

static int ep_setopt(fid_t fid, int level, int optname, const void *optval,
		     size_t optlen)
{
	struct afi_ep *ep = ep_of(fid);

	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (optlen != sizeof(size_t))
		return -FI_EINVAL;
	afi_lock(ep->domain);
	ep->min_multi = *(const size_t *)optval;
	afi_unlock(ep->domain);
	return 0;
}

AFI_NO_CALL(int, no_tx_ctx, struct fid_ep *sep, int index,
	    struct fi_tx_attr *attr, struct fid_ep **tx_ep, void *context)

AFI_NO_CALL(int, no_rx_ctx, struct fid_ep *sep, int index,
	    struct fi_rx_attr *attr, struct fid_ep **rx_ep, void *context)

ssize_t afi_ep_no_size_left(struct fid_ep *ep)
{
	(void)ep;
	return -FI_ENOSYS;
}

static ssize_t ep_tx_size_left(struct fid_ep *fid)
{
	struct afi_ep *ep = afi_ep_of(fid);
	ssize_t left;

	afi_lock(ep->domain);
	left = ep->enabled ? (ssize_t)(ep->budget->size - ep->budget->used) :
			     -FI_EOPBADSTATE;
	afi_unlock(ep->domain);
	return left;
}

static struct fi_ops_ep ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = ep_cancel,
	.getopt = ep_getopt,
	.setopt = ep_setopt,
	.tx_ctx = no_tx_ctx,
	.rx_ctx = no_rx_ctx,
	.rx_size_left = afi_ep_no_size_left,
	.tx_size_left = ep_tx_size_left,
};

static int set_name(struct afi_ep *ep, u32 n)
{
	struct afi_domain *d = ep->domain;
	int first = take_numbers(d, n);

	if (first < 0)
		return first;
	ep->num = (u32)first;
	ep->name = (struct afi_name){
		.fabric_id = d->about.fabric_id,
		.node = d->self.node,
		.ctx = d->self.ctx,
		.ep = (u16)first,
		.serial = d->id << AFI_SERIAL_BITS |
			  (d->serial++ & ((1U << AFI_SERIAL_BITS) - 1)),
	};
	if (ep->caps & FI_RMA_EVENT)
		ep->name.serial |= AFI_SERIAL_EVENTS;
	return 0;
}

/* Sets the attributes of an endpoint, which are defaults for its contexts. */
static void take_attrs(struct afi_ep *ep, const struct fi_info *info)
{
	ep->caps = info->caps;
	ep->own.ep = ep;
	ep->own.tx_flags = info->tx_attr ? info->tx_attr->op_flags : 0;
	ep->own.rx_flags = info->rx_attr ? info->rx_attr->op_flags : 0;
	ep->order = info->tx_attr ? info->tx_attr->msg_order : 0;
	if (info->src_addr && info->src_addrlen == sizeof(ep->source))
		memcpy(&ep->source, info->src_addr, sizeof(ep->source));
	ep->own_budget.size = AFI_TX_SIZE;
	if (info->tx_attr && info->tx_attr->size)
		ep->own_budget.size = (u32)info->tx_attr->size;
	ep->budget = &ep->own_budget;
	ep->wants_stx = info->ep_attr->tx_ctx_cnt == FI_SHARED_CONTEXT;
	ep->wants_srx = info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT;
}

/**
 * afi_ep_make() - create an endpoint that has an address
 * @domain: domain
 * @info: attributes
 * @n: numbers that it takes
 * @out: out
 *
 * Return: 0; -FI_EINVAL; -FI_EOPNOTSUPP; -FI_ENOMEM; -FI_ENOSPC too few numbers
 * are free.
 */
int afi_ep_make(struct fid_domain *domain, const struct fi_info *info, u32 n,
		struct afi_ep **out)
{
	struct afi_ep *ep;
	int ret;

	if (!info || !info->ep_attr || info->ep_attr->type != FI_EP_RDM ||
	    (info->caps & ~AFI_CAPS))
		return -FI_EINVAL;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ep->domain = afi_domain_of(domain);
	if ((info->caps & (FI_MSG | FI_TAGGED | FI_RMA_EVENT | FI_COLLECTIVE)) &&
	    !ep->domain->has_msgs) {
		AFI_WARN(EP_CTRL, "the adapter does not support messages\n");
		free(ep);
		return -FI_EOPNOTSUPP;
	}
	take_attrs(ep, info);
	afi_recv_init(ep);
	afi_lock(ep->domain);
	ret = ep->own_budget.size > AFI_TX_SIZE ? -FI_EINVAL : set_name(ep, n);
	afi_unlock(ep->domain);
	if (ret) {
		free(ep);
		return ret;
	}
	afi_ref(&ep->domain->refs);
	*out = ep;
	return 0;
}

/*
 * Sets the tables of calls; each operation that the object's capabilities
 * exclude is refused.
 */
void afi_ep_fill(struct afi_ep *ep, size_t fclass, void *context)
{
	u64 caps = ep->ways ? ep->caps : 0;
	struct fid_ep *fid = &ep->own.fid;

	fid->fid.fclass = fclass;
	fid->fid.context = context;
	fid->fid.ops = &ep_fi_ops;
	fid->ops = &ep_ops;
	fid->cm = &afi_cm_ops;
	fid->msg = caps & FI_MSG ? &afi_msg_ops : &afi_no_msg_ops;
	fid->tagged = caps & FI_TAGGED ? &afi_tagged_ops : &afi_no_tagged_ops;
	fid->rma = caps & FI_RMA ? &afi_rma_ops : &afi_no_rma_ops;
	fid->atomic = caps & FI_ATOMIC ? &afi_atomic_ops : &afi_no_atomic_ops;
	fid->collective = caps & FI_COLLECTIVE ? &afi_collective_ops :
						 &afi_no_collective_ops;
}

int afi_ep_open(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **out, void *context)
{
	struct afi_ep *ep;
	int ret = afi_ep_make(domain, info, 1, &ep);

	if (ret)
		return ret;
	ep->ways = FI_TRANSMIT | FI_RECV;
	afi_ep_fill(ep, FI_CLASS_EP, context);
	afi_lock(ep->domain);
	ep->domain->eps[ep->num] = ep;
	afi_unlock(ep->domain);
	*out = &ep->own.fid;
	return 0;
}
