/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Endpoints, and contexts of scalable ones, which are much like them: a part of
 * afi.h.
 *
 * A scalable endpoint takes as many numbers in a row as it has contexts: first
 * those of receive contexts, by which peers address them, the first being its
 * own address; then those of transmit contexts, which are nobody's address:
 * what these send is from the endpoint, and what comes back for them names the
 * operation.  All bear the endpoint's serial.
 */
#ifndef AFI_EP_H
#define AFI_EP_H

/* Counters of an endpoint: what they count. */
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
 * struct afi_ep - an endpoint, or a context of one; under the domain's lock
 * @fid: what the program sees
 * @domain: whose
 * @name: address; of a context: what messages from and for it bear
 * @num: its place in the domain's table
 * @sep: scalable endpoint that it is a context of, or NULL
 * @nrx: receive contexts of a scalable endpoint: as many numbers from @num on
 * @ntx: transmit contexts of it: those behind
 * @ctxs: contexts of it that are open
 * @ways: FI_TRANSMIT, FI_RECV: what it is for
 * @caps: FI_* that the program has asked for
 * @order: FI_ORDER_*, likewise
 * @tx_flags: FI_* of operations that take none
 * @rx_flags: likewise of receives
 * @enabled: it is
 * @av: addresses
 * @eq: events, or NULL
 * @tx: completions of what is sent, read and written
 * @rx: of what is received
 * @tx_selective: only of operations that ask for it
 * @rx_selective: likewise
 * @cntrs: counters, or NULL
 * @pending: operations under way, but for receives
 * @tx_size: of these, reads and writes that may be, at most
 * @rma: reads and writes under way
 * @posted: receives that wait; [1]: of tagged messages
 * @kept: messages that nobody has asked for; likewise
 * @parked: messages that have a receive, and wait for room to be fetched
 * @min_multi: room that a buffer for several messages has to have
 * @groups: groups that it is a member of
 */
struct afi_ep {
	struct fid_ep fid;
	struct afi_domain *domain;
	struct afi_name name;
	u32 num;
	struct afi_ep *sep;
	u32 nrx;
	u32 ntx;
	u32 ctxs;
	u64 ways;
	u64 caps;
	u64 order;
	u64 tx_flags;
	u64 rx_flags;
	bool enabled;
	struct afi_av *av;
	struct afi_eq *eq;
	struct afi_cq *tx;
	struct afi_cq *rx;
	bool tx_selective;
	bool rx_selective;
	struct afi_cntr *cntrs[AFI_COUNTS];
	u32 pending;
	u32 tx_size;
	u32 rma;
	struct afi_link posted[2];
	struct afi_link kept[2];
	struct afi_link parked;
	size_t min_multi;
	u32 groups;
};

/* ep.c */
int afi_ep_open(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **ep, void *context);
int afi_ep_make(struct fid_domain *domain, const struct fi_info *info, u32 n,
		struct afi_ep **out);
void afi_ep_fill(struct afi_ep *ep, size_t fclass, void *context);
ssize_t afi_ep_no_size_left(struct fid_ep *ep);

/* sep.c */
int afi_sep_open(struct fid_domain *domain, struct fi_info *info,
		 struct fid_ep **sep, void *context);

#endif /* AFI_EP_H */
