/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scalable endpoints for tests: two endpoints, each with its own domain, with
 * equal numbers of transmit and receive contexts.
 */
#ifndef FI_TEST_SEP_H
#define FI_TEST_SEP_H

#include "fi.h"

#define CTXS	16	/* most contexts of an endpoint, each way */
#define BITS	4	/* bits of an address for contexts */

/**
 * struct half - objects of a context
 * @ep: context
 * @cq: queue of its completions only
 * @cntr: counter of its completions
 * @remote: counter of peers' operations on local memory, with FI_RMA_EVENT
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
 * @av: addresses; see to_ctx() for those of contexts
 * @ep: endpoint
 * @n: contexts each way
 * @tx: transmit contexts
 * @rx: receive contexts
 * @peer: address of the other scalable endpoint
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

/* Two scalable endpoints with each other's addresses. */
extern struct scalable q[2];
/* Name of the address vector that they share, or NULL. */
extern const char *shared_av;

/* Opens @n contexts each way.  These functions, up to new_sep(), end the test on errors. */
void open_scalable(struct scalable *p, const struct how *how,
		   const char *domain, int n);
void close_scalable(struct scalable *p);
void open_scalables(const struct how *how, int n);
void close_scalables(void);
/* Opens a scalable endpoint without contexts. */
struct fid_ep *new_sep(struct side *s, size_t ntx, size_t nrx);

static inline fi_addr_t to_ctx(const struct scalable *p, int ctx)
{
	return fi_rx_addr(p->peer, ctx, BITS);
}

/* Takes the next completion of a queue, while both sides make progress. */
bool next_of(struct fid_cq *cq, struct fi_cq_tagged_entry *e, fi_addr_t *src);
bool next_is(struct fid_cq *cq, uint64_t flags, void *context);
bool fails(struct fid_cq *cq, int err, void *context);
/* Does nothing more arrive in any queue? */
bool silent(void);
void settle_seps(void);

/* sepload.c: one of two processes that communicate by a socket. */
int sep_process(int rank, int fd);

#endif /* FI_TEST_SEP_H */
