/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Operations in progress, and the local memory that they use. */
#ifndef AFI_OP_H
#define AFI_OP_H

#include "afi.h"

struct afi_recv;

/**
 * struct afi_wire - beginning of every message
 * @to: serial of the receiving endpoint
 * @from: serial of the sender
 * @flags: AFI_WIRE_*
 * @err: FETCHED, PARTS: 0 or an error number
 * @ep: number of the sending endpoint
 * @op: SHORT, LONG, ASK, FETCHED: operation of the sender of the data; PARTS: of
 *	its receiver
 * @gen: generation of @op
 * @len: SHORT, LONG, PARTS: bytes of the data; TOUCHED: bytes that were accessed;
 *	TALK: bytes after this header
 */
struct afi_wire {
	u32 to;
	u32 from;
	u32 flags;
	u16 err;
	u16 ep;
	u32 op;
	u32 gen;
	u64 len;
};

/**
 * struct afi_local - local memory, in the adapter's terms
 * @mr: region of it; NULL: none, the bytes are inline in the descriptor
 * @off: offset in @mr
 * @addr: the program's memory
 * @len: bytes
 * @pool: pool of the buffer that replaces the memory, or NULL
 * @temp: @mr belongs to the library's cache, and is held
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
 * struct afi_piece - a part of an operation: one operation of the adapter
 * @await: continuation
 * @op: operation
 * @back: copy data from the pool's buffer to the program's memory at the end
 * @local: local memory
 */
struct afi_piece {
	struct afi_await await;
	struct afi_op *op;
	bool back;
	struct afi_local local;
};

/**
 * struct afi_there - memory of a peer
 * @key: key that the program uses, or after translation the adapter's key
 * @off: address that the program uses, or after translation the offset in the
 *	region
 */
struct afi_there {
	u64 key;
	u64 off;
};

/**
 * struct afi_plan_part - a piece of a read, write or atomic operation
 * @there: index of its remote memory
 * @ahead: bytes between the beginning of @there and the piece
 * @addr: local memory of a read or write; valid until the piece is started
 * @at: index of the first element of an atomic operation
 * @len: bytes; elements of an atomic operation
 * @desc: descriptor of the region of @addr, or NULL
 */
struct afi_plan_part {
	u32 there;
	u64 ahead;
	char *addr;
	size_t at;
	size_t len;
	void *desc;
};

/**
 * struct afi_plan - all pieces of a read, write or atomic operation
 * @post: starts a piece, after keys are translated to the adapter's
 * @does: for @post: 1 for a write, 0 for a read; or the form of an atomic
 *	operation, see atomic.c
 * @type: ANGARA_TYPE_*
 * @op: ANGARA_ATOMIC_*
 * @size: bytes of an element of an atomic operation
 * @inject: the program may change the memory of @parts after the call
 * @keys: number of @there
 * @n: number of @parts
 * @there: remote memory
 * @parts: pieces
 * @x: operands of an atomic operation; copy of data to inject, see plan.c
 * @y: values to compare with
 */
struct afi_plan {
	int (*post)(struct afi_op *op, struct afi_piece *piece,
		    const struct afi_plan *plan, const struct afi_plan_part *part,
		    struct angara_peer peer);
	int does;
	u32 type;
	u32 op;
	size_t size;
	bool inject;
	u32 keys;
	u32 n;
	struct afi_there there[AFI_RMA_IOV_LIMIT];
	struct afi_plan_part parts[AFI_PIECES];
	char x[ANGARA_MAX_ATOMIC];
	char y[ANGARA_MAX_ATOMIC];
};

static_assert(AFI_INJECT_SIZE <= ANGARA_MAX_ATOMIC &&
	      AFI_INJECT_SIZE <= ANGARA_MAX_INLINE,
	      "afi_plan.x and a descriptor must hold inline data");

/**
 * struct afi_done - contents of a completion
 * @context: the program's context
 * @flags: FI_*, as the program sees them
 * @len: bytes
 * @buf: buffer, for receives
 * @data: remote CQ data
 * @tag: tag of a tagged message
 * @src: sender, for receives
 * @olen: bytes of the message that did not fit
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

#define AFI_OP_RMA	0	/* read, write or atomic operation */
#define AFI_OP_TELL	1	/* RMA that notifies the target */
#define AFI_OP_SEND	2	/* send of a message */
#define AFI_OP_PULL	3	/* fetch of the data of a message */

/* Accesses of an operation to the peer's memory. */
#define AFI_READS	1U
#define AFI_WRITES	2U
#define AFI_ATOMICS	4U	/* atomic; with AFI_READS, AFI_WRITES or both */

/* Ordering of operations that access the peer's memory. */
#define AFI_ORDER_MEM	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR | \
			 FI_ORDER_WAW | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | \
			 FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW | \
			 FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | \
			 FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW)

/**
 * struct afi_rest - parts of an operation that only some kinds use; not cleared
 * for a new operation
 * @wire: PULL: header of the sender's message; SEND: its @from and @len are set
 *	if the receiver answers, its @op is the receiver's operation that
 *	requests the data; TELL: notification of the target
 * @slots: TELL: slots of the target's regions
 * @pieces: parts of the operation, see afi_piece_add(); PULL: buffers of the
 *	receive, until the sender has answered a request for the data
 */
struct afi_rest {
	struct afi_wire wire;
	u32 slots[AFI_RMA_IOV_LIMIT];
	struct afi_piece pieces[AFI_PIECES];
};

/**
 * struct afi_op - an operation of an endpoint
 * @link: link among operations in progress, or free ones
 * @todo: link among operations that wait for room
 * @domain: its domain
 * @ep: endpoint; NULL: it was closed, and completions are dropped
 * @cq: completion queue in which an entry is reserved, or NULL
 * @report: write a completion on success, too
 * @cntr: counter of its completion, or NULL
 * @also: another counter of its completion, if it was deferred work
 * @done: result
 * @kind: AFI_OP_*
 * @does: RMA, TELL: AFI_READS, AFI_WRITES, AFI_ATOMICS
 * @gen: generation
 * @live: number of pieces and messages that it waits for
 * @expects: it waits for an action of the peer, such as a fetch
 * @probed: round of the last probe, see probe.c
 * @missed: number of probes in a row that have found no path to the peer
 * @later: SEND: the receiver has not received the regions yet, see show.c
 * @asked: the receiver has requested the regions
 * @answered: the peer has been notified
 * @peer: the other endpoint, of a message
 * @own_ep: number of this endpoint
 * @recv: PULL: receive
 * @late: RMA, TELL: the operation needs entries of the peer's directory, see
 *	plan.c; or NULL
 * @asks: PULL: flow to the sender, if data was requested from it; or NULL
 * @nslots: TELL: number of the target's regions
 * @n: number of pieces
 * @rest: parts that only some kinds use
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
	u32 missed;
	bool later;
	bool asked;
	bool answered;
	struct afi_name peer;
	u32 own_ep;
	struct afi_recv *recv;
	struct afi_late *late;
	struct afi_flow *asks;
	u32 nslots;
	u32 n;
	struct afi_rest *rest;
};

static_assert(sizeof(struct afi_op) <= 256,
	      "cleared for each operation: four lines of the cache");

/* Adds a piece to an operation. */
static inline struct afi_piece *afi_piece_add(struct afi_op *op)
{
	struct afi_piece *piece = &op->rest->pieces[op->n++];

	*piece = (struct afi_piece){ .op = op };
	return piece;
}

/* rma.c */
size_t afi_iov_bytes(const struct iovec *iov, size_t count);
int afi_rma_now(struct afi_ep *ep, const struct fi_msg_rma *msg, u64 flags,
		bool quiet, bool write);

/* keys.c */
bool afi_key_listed(const struct afi_domain *d, struct angara_peer peer,
		    const struct afi_there *there, struct afi_there *known);
void afi_key_forget(const struct afi_domain *d, u64 key);
int afi_key_known(const struct afi_domain *d, struct angara_peer peer,
		  struct afi_there *there);
int afi_key_read(const struct afi_domain *d, struct angara_peer peer, u32 number,
		 u64 key, const struct angara_op *how);
int afi_key_entry(const struct afi_domain *d, struct angara_peer peer, u32 number,
		  struct afi_there *there);

/* plan.c */
int afi_plans_init(struct afi_domain *d);
void afi_plans_free(struct afi_domain *d);
int afi_plan_start(struct afi_op *op, struct afi_plan *plan);
bool afi_plan_resume(struct afi_op *op);
bool afi_plan_again(struct afi_op *op, int err);
void afi_plan_ended(struct afi_op *op);

/* order.c */
bool afi_must_wait(const struct afi_ep *ep, const struct afi_name *peer,
		   u32 does, u64 flags);

/* probe.c */
int afi_probe_init(struct afi_domain *d);
void afi_probe_free(struct afi_domain *d);
bool afi_probe(struct afi_domain *d);
void afi_op_expect(struct afi_op *op);
bool afi_op_unexpect(struct afi_op *op);

/* local.c */
int afi_local_get(struct afi_domain *d, const struct afi_ep *ep,
		  struct afi_local *l, void *addr, size_t len, void *desc,
		  bool write);
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
void afi_op_report(struct afi_op *op);
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
size_t afi_ioc_elements(const struct fi_ioc *ioc, size_t n);
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
