/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Operations under way, and the memory here that they use.
 */
#ifndef AFI_OP_H
#define AFI_OP_H

#include "afi.h"

struct afi_recv;

/**
 * struct afi_wire - beginning of every message
 * @to: serial of the endpoint that it is for
 * @from: serial of the sender
 * @flags: AFI_WIRE_*
 * @err: FETCHED: 0, or why it was not
 * @op: LONG, FETCHED: operation of the sender of the data
 * @gen: LONG, FETCHED: incarnation of that
 * @len: SHORT, LONG: bytes
 */
struct afi_wire {
	u32 to;
	u32 from;
	u32 flags;
	u32 err;
	u32 op;
	u32 gen;
	u64 len;
};

/**
 * struct afi_local - local memory as the adapter knows it
 * @mr: region of it; NULL: there is none, the bytes go with the descriptor
 * @off: offset in that
 * @addr: the program's memory
 * @len: bytes
 * @pool: where what stands for it comes from, or NULL
 * @temp: @mr was registered for this operation
 */
struct afi_local {
	struct angara_mr *mr;
	u64 off;
	void *addr;
	size_t len;
	struct afi_pool *pool;
	bool temp;
};

/**
 * struct afi_piece - a part of an operation, which the adapter does
 * @await: for its end
 * @op: operation
 * @back: what arrives in a buffer of a pool goes to the program's memory
 * @local: memory here
 */
struct afi_piece {
	struct afi_await await;
	struct afi_op *op;
	bool back;
	struct afi_local local;
};

/**
 * struct afi_done - how an operation ended, as completions tell it
 * @context: the program's
 * @flags: FI_*, as the program is to see them
 * @len: bytes
 * @buf: where, for receives
 * @data: remote CQ data
 * @tag: of a tagged message
 * @src: from where, for receives
 * @olen: bytes of the message that found no room
 * @err: 0 or FI_E*
 * @prov_err: ANGARA_ST_* + 1, or 0
 */
struct afi_done {
	void *context;
	u64 flags;
	size_t len;
	void *buf;
	u64 data;
	u64 tag;
	fi_addr_t src;
	size_t olen;
	int err;
	int prov_err;
};

#define AFI_OP_RMA	0	/* reading or writing */
#define AFI_OP_TELL	1	/* the same, and telling the target of it */
#define AFI_OP_SEND	2	/* sending a message */
#define AFI_OP_PULL	3	/* fetching the data of one */

/* What an operation does to the peer's memory. */
#define AFI_READS	1U
#define AFI_WRITES	2U
#define AFI_ATOMICS	4U	/* and that at once */

/* Orders of such operations. */
#define AFI_ORDER_MEM	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR | \
			 FI_ORDER_WAW | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | \
			 FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW | \
			 FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | \
			 FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW)

/**
 * struct afi_op - an operation of an endpoint
 * @link: among those under way, or free ones
 * @todo: among those that wait for room
 * @domain: whose
 * @ep: endpoint; NULL: it was closed, nobody wants to know
 * @cq: a place in it is set aside for the completion, or NULL
 * @report: success is told there, too
 * @cntr: counter that counts it, or NULL
 * @also: counts it, too, if it was deferred work
 * @done: how it ends
 * @kind: AFI_OP_*
 * @does: RMA, TELL: AFI_READS, AFI_WRITES, AFI_ATOMICS
 * @gen: incarnation
 * @live: what it waits for: pieces, messages
 * @expects: it waits for something that the peer does, such as to fetch
 * @probed: round in which that was looked at last, see probe.c
 * @later: SEND: the data has not been shown to the receiver, see show.c
 * @asked: but it has asked for it
 * @answered: the peer has been told
 * @peer: the other, of a message
 * @own_ep: number of this endpoint
 * @wire: PULL: what the sender said; SEND: operation of who has asked, @from and
 *	@len
 * @recv: PULL: where it goes
 * @asks: PULL: the sender has been asked for its data; or NULL
 * @nkeys: TELL: regions there
 * @keys: their keys of the adapter's
 * @n: pieces
 * @pieces: they
 */
struct afi_op {
	struct afi_link link;
	struct afi_link todo;
	struct afi_domain *domain;
	struct afi_ep *ep;
	struct afi_cq *cq;
	bool report;
	struct afi_cntr *cntr;
	struct afi_cntr *also;
	struct afi_done done;
	u32 kind;
	u32 does;
	u32 gen;
	u32 live;
	bool expects;
	u32 probed;
	bool later;
	bool asked;
	bool answered;
	struct afi_name peer;
	u32 own_ep;
	struct afi_wire wire;
	struct afi_recv *recv;
	struct afi_flow *asks;
	u32 nkeys;
	u32 keys[AFI_RMA_IOV_LIMIT];
	u32 n;
	struct afi_piece pieces[AFI_PIECES];
};

/* rma.c */
int afi_rma_now(struct afi_ep *ep, const struct fi_msg_rma *msg, u64 flags,
		bool quiet, bool write);

/* order.c */
bool afi_must_wait(const struct afi_ep *ep, const struct afi_name *peer,
		   u32 does, u64 flags);

/* probe.c */
int afi_probe_init(struct afi_domain *d);
void afi_probe_free(struct afi_domain *d);
int afi_probe_fd(const struct afi_domain *d);
bool afi_probe(struct afi_domain *d);
void afi_op_expect(struct afi_op *op);
bool afi_op_relent(struct afi_op *op);

/* local.c */
int afi_local_get(struct afi_domain *d, struct afi_local *l, void *addr,
		  size_t len, void *desc, bool write);
void afi_local_put(struct afi_domain *d, struct afi_local *l, bool back);
char *afi_local_stage(struct afi_domain *d, struct afi_local *l, size_t len);
int afi_local_init(struct afi_domain *d);

/* op.c */
int afi_target(const struct afi_ep *ep, fi_addr_t addr,
	       struct afi_name *name);
int afi_ops_init(struct afi_domain *d);
struct afi_op *afi_op_new(struct afi_ep *ep, u32 kind, bool report,
			  enum afi_counts counts);
u32 afi_op_number(const struct afi_op *op);
struct afi_op *afi_op_by_number(struct afi_domain *d, u32 number);
void afi_op_sent(struct afi_op *op, int err, const struct angara_completion *st);
void afi_op_came(struct afi_op *op, int err);
void afi_op_drop(struct afi_op *op);
void afi_op_fail(struct afi_op *op, int err, const struct angara_completion *st);
void afi_op_start(struct afi_op *op);
const struct angara_op *afi_piece_await(struct afi_op *op,
					struct afi_piece *piece);
int afi_piece_started(struct afi_piece *piece, int ret);
void afi_op_later(struct afi_op *op);
bool afi_ops_retry(struct afi_domain *d);
bool afi_ops_busy(const struct afi_domain *d);
void afi_ops_orphan(struct afi_ep *ep);

/* atomic.c, atomic_ops.c */
ssize_t afi_atomic(struct fid_ep *ep, const struct fi_msg_atomic *msg,
		   u64 flags, bool quiet);
ssize_t afi_atomic_fetch(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			 struct fi_ioc *res, void **res_desc, size_t nres,
			 u64 flags);
ssize_t afi_atomic_compare(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			   const struct fi_ioc *y, size_t ny,
			   struct fi_ioc *res, void **res_desc, size_t nres,
			   u64 flags);
int afi_atomic_now(struct afi_ep *ep, const struct fi_msg_atomic *msg,
		   const struct fi_ioc *y, size_t ny, struct fi_ioc *res,
		   void **res_desc, size_t nres, u64 flags);
int afi_atomic_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
		     size_t *count);
int afi_fetch_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
		    size_t *count);
int afi_compare_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
		      size_t *count);
int afi_query_atomic(struct fid_domain *domain, enum fi_datatype type,
		     enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags);
extern struct fi_ops_atomic afi_atomic_ops;

#endif /* AFI_OP_H */
