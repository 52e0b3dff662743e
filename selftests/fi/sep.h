/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scalable endpoints for tests: two of them, each with a domain of its own, and
 * the same number of transmit and receive contexts.
 */
#ifndef FI_TEST_SEP_H
#define FI_TEST_SEP_H

#include "fi.h"

#define CTXS	16	/* most of an endpoint, each way */
#define BITS	4	/* of an address, for them */

/**
 * struct half - objects of a context
 * @ep: context
 * @cq: its completions, and no other's
 * @cntr: counts them
 * @remote: operations of peers on local memory, with FI_RMA_EVENT
 */
struct half {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_cntr *remote;
};

/**
 * struct scalable - a scalable endpoint
 * @s: domain, with an endpoint of one context
 * @av: addresses; to_ctx() makes those of contexts
 * @ep: endpoint
 * @n: contexts each way
 * @tx: transmit contexts
 * @rx: receive contexts
 * @peer: address of the other
 */
struct scalable {
	struct side s;
	struct fid_av *av;
	struct fid_ep *ep;
	int n;
	struct half tx[CTXS];
	struct half rx[CTXS];
	fi_addr_t peer;
};

/* Two with each other's addresses. */
extern struct scalable q[2];
/* Name of the address vector that they share, or NULL. */
extern const char *shared_av;

/* @n contexts each way.  All of these end the test if something fails. */
void open_scalable(struct scalable *p, const struct how *how,
		   const char *domain, int n);
void close_scalable(struct scalable *p);
void open_scalables(const struct how *how, int n);
void close_scalables(void);
/* An endpoint without contexts. */
struct fid_ep *new_sep(struct side *s, size_t ntx, size_t nrx);

static inline fi_addr_t to_ctx(const struct scalable *p, int ctx)
{
	return fi_rx_addr(p->peer, ctx, BITS);
}

/* The next completion of a queue, while both sides make progress. */
bool next_of(struct fid_cq *cq, struct fi_cq_tagged_entry *e, fi_addr_t *src);
bool next_is(struct fid_cq *cq, uint64_t flags, void *context);
bool fails(struct fid_cq *cq, int err, void *context);
/* Nothing more arrives in any queue. */
bool silent(void);
void settle_seps(void);

/* sepload.c: one of two processes, which communicate by a socket. */
int sep_process(int rank, int fd);

#endif /* FI_TEST_SEP_H */
