/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Endpoints, and contexts of scalable endpoints, which have the same structure:
 * a continuation of afi.h.
 *
 * A scalable endpoint takes as many consecutive numbers as it has contexts.
 * Numbers of receive contexts come first; peers use them as addresses, and the
 * first is the endpoint's own address.  Numbers of transmit contexts follow and
 * are not addresses: messages from transmit contexts contain the endpoint's
 * address, and replies contain the number of the operation.  All contexts have
 * the endpoint's serial.
 */
#ifndef AFI_EP_H
#define AFI_EP_H

/* Events that counters of an endpoint count. */
enum afi_counts {
	AFI_COUNT_SEND,
	AFI_COUNT_RECV,
	AFI_COUNT_READ,
	AFI_COUNT_WRITE,
	AFI_COUNT_REMOTE_READ,
	AFI_COUNT_REMOTE_WRITE,
	AFI_COUNTS
};

/**
 * struct afi_handle - handle of an endpoint: its own, or an alias, which
 * differs only in flags
 * @fid: the program's handle
 * @ep: endpoint
 * @tx_flags: default FI_* of operations
 * @rx_flags: default FI_* of receives
 */
struct afi_handle {
	struct fid_ep fid;
	struct afi_ep *ep;
	u64 tx_flags;
	u64 rx_flags;
};

/**
 * struct afi_budget - reads and writes that may be in progress
 * @size: limit
 * @used: number in progress
 */
struct afi_budget {
	u32 size;
	u32 used;
};

/**
 * struct afi_ep - an endpoint, or a context of one; under the domain's lock
 * @own: the endpoint's own handle
 * @aliases: number of aliases
 * @domain: its domain
 * @name: address; for a context, the address in messages from and to it
 * @source: source address with which the endpoint was created
 * @service: sends @name to clients, or NULL
 * @num: index in the domain's table
 * @sep: scalable endpoint to which this context belongs, or NULL
 * @nrx: receive contexts of a scalable endpoint: this many numbers from @num on
 * @ntx: transmit contexts of a scalable endpoint: their numbers follow those of
 *	the receive contexts
 * @ctxs: number of open contexts of a scalable endpoint
 * @ways: directions: FI_TRANSMIT, FI_RECV
 * @caps: FI_* that the program has requested
 * @order: FI_ORDER_* that the program has requested
 * @enabled: fi_enable() was called
 * @av: addresses
 * @eq: events, or NULL
 * @tx: completion queue of sends, reads and writes
 * @rx: completion queue of receives
 * @tx_selective: @tx reports only operations that request a completion
 * @rx_selective: @rx reports only operations that request a completion
 * @cntrs: counters, or NULL
 * @pending: operations in progress, except receives
 * @rma: reads and writes in progress
 * @budget: limit of reads and writes: @own_budget, or that of a shared transmit
 *	context
 * @wants_stx: it must be bound to a shared transmit context before it is
 *	enabled
 * @stx_refs: number of endpoints of the shared transmit context, or NULL
 * @wants_srx: it must be bound to a shared receive context before it is enabled
 * @box: holder of receives and unexpected messages: the endpoint itself, or its
 *	shared receive context
 * @srx_refs: shared receive context: number of endpoints bound to it
 * @posted: posted receives: [0] untagged, [1] tagged
 * @posts: number of receives posted so far
 * @kept: unexpected messages: [0] untagged, [1] tagged
 * @parked: matched messages that wait for room to be fetched
 * @min_multi: free bytes that a multi-receive buffer needs
 * @groups: groups of which it is a member
 */
struct afi_ep {
	struct afi_handle own;
	u32 aliases;
	struct afi_domain *domain;
	struct afi_name name;
	struct afi_name source;
	struct afi_service *service;
	u32 num;
	struct afi_ep *sep;
	u32 nrx;
	u32 ntx;
	u32 ctxs;
	u64 ways;
	u64 caps;
	u64 order;
	bool enabled;
	struct afi_av *av;
	struct afi_eq *eq;
	struct afi_cq *tx;
	struct afi_cq *rx;
	bool tx_selective;
	bool rx_selective;
	struct afi_cntr *cntrs[AFI_COUNTS];
	u32 pending;
	u32 rma;
	struct afi_budget own_budget;
	struct afi_budget *budget;
	bool wants_stx;
	u32 *stx_refs;
	bool wants_srx;
	struct afi_ep *box;
	u32 srx_refs;
	struct afi_link posted[2];
	u64 posts;
	struct afi_link kept[2];
	struct afi_link parked;
	size_t min_multi;
	u32 groups;
};

/**
 * struct afi_stx - a shared transmit context; under the domain's lock
 * @fid: the program's handle
 * @domain: its domain
 * @refs: endpoints bound to it
 * @budget: reads and writes of these endpoints
 */
struct afi_stx {
	struct fid_stx fid;
	struct afi_domain *domain;
	u32 refs;
	struct afi_budget budget;
};

static inline struct afi_handle *afi_handle_of(struct fid_ep *fid)
{
	return afi_of(fid, struct afi_handle, fid);
}

static inline struct afi_ep *afi_ep_of(struct fid_ep *fid)
{
	return afi_handle_of(fid)->ep;
}

/* Is it a shared receive context?  Such a context has receives, but no address. */
static inline bool afi_is_srx(const struct afi_ep *ep)
{
	return ep->own.fid.fid.fclass == FI_CLASS_SRX_CTX;
}

/* Default flags of calls that have no flags parameter. */
static inline u64 afi_tx_flags(struct fid_ep *fid)
{
	return afi_handle_of(fid)->tx_flags;
}

/* ep.c */
int afi_ep_open(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **ep, void *context);
int afi_ep_make(struct fid_domain *domain, const struct fi_info *info, u32 n,
		struct afi_ep **out);
void afi_ep_fill(struct afi_ep *ep, size_t fclass, void *context);
ssize_t afi_ep_no_size_left(struct fid_ep *ep);

/* bind.c */
int afi_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
void afi_ep_unbind(struct afi_ep *ep);

/* shared.c */
int afi_stx_open(struct fid_domain *domain, struct fi_tx_attr *attr,
		 struct fid_stx **stx, void *context);
int afi_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr,
		 struct fid_ep **srx, void *context);

/* sep.c */
int afi_sep_open(struct fid_domain *domain, struct fi_info *info,
		 struct fid_ep **sep, void *context);

#endif /* AFI_EP_H */
