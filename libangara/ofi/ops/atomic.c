// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Atomic operations.  The descriptor contains the operands; old values arrive
 * like the data of a read.
 */
#include <string.h>

#include "msg.h"

#define AFI_ATOMIC_FLAGS	(FI_COMPLETION | FI_INJECT | FI_MORE | FI_FENCE | \
				 FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
				 FI_DELIVERY_COMPLETE)

/* Forms of operations, by their arguments and results. */
#define AFI_PLAIN	0
#define AFI_FETCH	1
#define AFI_COMPARE	2

static const struct {
	u8 known;
	u8 type;
	u8 size;
} types[] = {
	[FI_INT32]	= { 1, ANGARA_TYPE_INT32, 4 },
	[FI_UINT32]	= { 1, ANGARA_TYPE_UINT32, 4 },
	[FI_INT64]	= { 1, ANGARA_TYPE_INT64, 8 },
	[FI_UINT64]	= { 1, ANGARA_TYPE_UINT64, 8 },
	[FI_FLOAT]	= { 1, ANGARA_TYPE_FLOAT, 4 },
	[FI_DOUBLE]	= { 1, ANGARA_TYPE_DOUBLE, 8 },
};

static const u8 ops[] = {
	[FI_MIN]		= ANGARA_ATOMIC_MIN,
	[FI_MAX]		= ANGARA_ATOMIC_MAX,
	[FI_SUM]		= ANGARA_ATOMIC_SUM,
	[FI_PROD]		= ANGARA_ATOMIC_PROD,
	[FI_LOR]		= ANGARA_ATOMIC_LOR,
	[FI_LAND]		= ANGARA_ATOMIC_LAND,
	[FI_BOR]		= ANGARA_ATOMIC_OR,
	[FI_BAND]		= ANGARA_ATOMIC_AND,
	[FI_LXOR]		= ANGARA_ATOMIC_LXOR,
	[FI_BXOR]		= ANGARA_ATOMIC_XOR,
	[FI_ATOMIC_READ]	= ANGARA_ATOMIC_READ,
	[FI_ATOMIC_WRITE]	= ANGARA_ATOMIC_WRITE,
	[FI_CSWAP]		= ANGARA_ATOMIC_CSWAP,
	[FI_CSWAP_NE]		= ANGARA_ATOMIC_CSWAP_NE,
	[FI_CSWAP_LE]		= ANGARA_ATOMIC_CSWAP_LE,
	[FI_CSWAP_LT]		= ANGARA_ATOMIC_CSWAP_LT,
	[FI_CSWAP_GE]		= ANGARA_ATOMIC_CSWAP_GE,
	[FI_CSWAP_GT]		= ANGARA_ATOMIC_CSWAP_GT,
	[FI_MSWAP]		= ANGARA_ATOMIC_MSWAP,
};

#define NUM(a)	(sizeof(a) / sizeof(*(a)))

/* Largest number of elements in one operation; 0: the operation does not exist. */
static size_t atomic_most(unsigned int type, unsigned int op, int form)
{
	bool compares = op >= FI_CSWAP;

	if (type >= NUM(types) || !types[type].known || op >= NUM(ops) ||
	    compares != (form == AFI_COMPARE) ||
	    (op == FI_ATOMIC_READ && form != AFI_FETCH) ||
	    !angara_atomic_valid(ops[op], types[type].type))
		return 0;
	return ANGARA_MAX_ATOMIC / types[type].size / (compares ? 2 : 1);
}

/**
 * struct call - arguments of an atomic operation
 * @msg: arguments that all forms share
 * @form: AFI_PLAIN, AFI_FETCH, AFI_COMPARE
 * @flags: FI_*
 * @quiet: no completion on success
 * @y: values to compare with
 * @ny: pieces of @y
 * @res: buffers for the old values
 * @res_desc: descriptors of @res, or NULL
 * @nres: pieces of @res
 */
struct call {
	const struct fi_msg_atomic *msg;
	int form;
	u64 flags;
	bool quiet;
	const struct fi_ioc *y;
	size_t ny;
	struct fi_ioc *res;
	void **res_desc;
	size_t nres;
};

/* Number of elements in a vector; SIZE_MAX: it overflows. */
size_t afi_ioc_elements(const struct fi_ioc *ioc, size_t n)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		if (__builtin_add_overflow(sum, ioc[i].count, &sum))
			return SIZE_MAX;
	return sum;
}

static size_t atomic_there(const struct fi_msg_atomic *msg)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < msg->rma_iov_count; i++)
		if (__builtin_add_overflow(sum, msg->rma_iov[i].count, &sum))
			return SIZE_MAX;
	return sum;
}

static int atomic_check(const struct afi_ep *ep, const struct call *d)
{
	const struct fi_msg_atomic *msg = d->msg;
	size_t n = atomic_there(msg), max;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (d->flags & ~AFI_ATOMIC_FLAGS)
		return -FI_EBADFLAGS;
	if (!(ep->caps & (d->form == AFI_PLAIN ? FI_WRITE : FI_READ)))
		return -FI_EOPNOTSUPP;
	max = atomic_most(msg->datatype, msg->op, d->form);
	if (!max)
		return -FI_EOPNOTSUPP;
	if (!n || msg->iov_count > AFI_IOV_LIMIT || d->ny > AFI_IOV_LIMIT ||
	    d->nres > AFI_IOV_LIMIT || msg->rma_iov_count > AFI_RMA_IOV_LIMIT)
		return -FI_EINVAL;
	if (n > max)
		return -FI_EMSGSIZE;
	if ((msg->op != FI_ATOMIC_READ &&
	     afi_ioc_elements(msg->msg_iov, msg->iov_count) != n) ||
	    (d->form == AFI_COMPARE && afi_ioc_elements(d->y, d->ny) != n) ||
	    (d->form != AFI_PLAIN && afi_ioc_elements(d->res, d->nres) != n))
		return -FI_EINVAL;
	return 0;
}

static void atomic_gather(char *to, const struct fi_ioc *ioc, size_t n, size_t size)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (ioc[i].count)
			memcpy(to, ioc[i].addr, ioc[i].count * size);
		to += ioc[i].count * size;
	}
}

/* Adds a piece; its old values go to @d->res[@si], from element @so on. */
static int atomic_add(struct afi_op *op, struct afi_plan *plan,
		      const struct call *d, const struct afi_plan_part *part,
		      size_t si, size_t so)
{
	struct afi_piece *piece = afi_piece_add(op);
	int ret;

	piece->back = true;
	plan->parts[plan->n++] = *part;
	if (!d->nres)
		return 0;
	ret = afi_local_get(op->domain, op->ep, &piece->local,
			    (char *)d->res[si].addr + so * plan->size,
			    part->len * plan->size,
			    d->res_desc ? d->res_desc[si] : NULL, true);
	if (ret)
		op->n--;
	return ret;
}

/*
 * Cuts the operation into pieces, each within one element of the list of
 * results and one of the list of remote memory.
 */
static int atomic_cut(struct afi_op *op, struct afi_plan *plan,
		      const struct call *d)
{
	const struct fi_msg_atomic *msg = d->msg;
	size_t at = 0, ro, si = 0, so = 0;
	u32 ri;

	for (ri = 0; ri < msg->rma_iov_count; ri++) {
		const struct fi_rma_ioc *r = &msg->rma_iov[ri];
		struct afi_plan_part part = { .there = ri };
		int ret;

		plan->there[ri] = (struct afi_there){ r->key, r->addr };
		for (ro = 0; ro < r->count; ro += part.len) {
			part.len = r->count - ro;
			while (d->nres && so == d->res[si].count) {
				si++;
				so = 0;
			}
			if (d->nres && d->res[si].count - so < part.len)
				part.len = d->res[si].count - so;
			part.at = at;
			part.ahead = ro * plan->size;
			ret = atomic_add(op, plan, d, &part, si, so);
			if (ret)
				return ret;
			at += part.len;
			so += part.len;
		}
	}
	plan->keys = ri;
	return 0;
}

static int atomic_post(struct afi_op *op, struct afi_piece *piece,
		       const struct afi_plan *plan,
		       const struct afi_plan_part *part, struct angara_peer peer)
{
	const struct afi_there *there = &plan->there[part->there];
	const struct angara_op *how = afi_piece_await(op, piece);
	const char *x = plan->x + part->at * plan->size;
	const char *y = plan->y + part->at * plan->size;
	const u64 off = there->off + part->ahead;
	struct angara_ctx *ctx = op->domain->ctx;

	if (plan->does == AFI_COMPARE)
		return angara_compare_nbi(ctx, peer, there->key, off, x, y,
					  part->len, plan->type, plan->op,
					  piece->local.mr, piece->local.off, how);
	if (plan->does == AFI_FETCH)
		return angara_fetch_nbi(ctx, peer, there->key, off,
					plan->op == ANGARA_ATOMIC_READ ? NULL : x,
					part->len, plan->type, plan->op,
					piece->local.mr, piece->local.off, how);
	return angara_atomic_nbi(ctx, peer, there->key, off, x, part->len,
				 plan->type, plan->op, how);
}

/*
 * Starts an operation. Return: 0: it is in progress or has failed; -FI_EAGAIN.
 */
static int atomic_start(struct afi_op *op, const struct call *d)
{
	const struct fi_msg_atomic *msg = d->msg;
	struct afi_plan plan;
	int ret;

	plan.post = atomic_post;
	plan.does = d->form;
	plan.type = types[msg->datatype].type;
	plan.op = ops[msg->op];
	plan.size = types[msg->datatype].size;
	plan.inject = false;
	plan.n = 0;
	ret = atomic_cut(op, &plan, d);
	if (msg->op != FI_ATOMIC_READ)
		atomic_gather(plan.x, msg->msg_iov, msg->iov_count, plan.size);
	atomic_gather(plan.y, d->y, d->ny, plan.size);
	if (!ret)
		ret = afi_plan_start(op, &plan);
	if (ret == -FI_EAGAIN) {
		afi_op_drop(op);
		return ret;
	}
	if (ret) {
		afi_op_fail(op, ret, NULL);
		afi_op_start(op);
	}
	return 0;
}

static u32 atomic_does(const struct call *d)
{
	u32 what = AFI_ATOMICS;

	if (d->msg->op != FI_ATOMIC_READ)
		what |= AFI_WRITES;
	return d->form == AFI_PLAIN ? what : what | AFI_READS;
}

static u32 wire_flags(u32 what)
{
	if (!(what & AFI_READS))
		return 0;
	return AFI_WIRE_READ | (what & AFI_WRITES ? AFI_WIRE_BOTH : 0);
}

static struct afi_op *new_op(struct afi_ep *ep, const struct afi_name *name,
			     const struct call *d)
{
	bool report = ep->tx && !d->quiet &&
		      (!ep->tx_selective || (d->flags & FI_COMPLETION));

	if (afi_must_wait(ep, name, atomic_does(d), d->flags))
		return NULL;
	return afi_op_new(ep, afi_wants_events(name) ? AFI_OP_TELL : AFI_OP_RMA,
			  report, d->form == AFI_PLAIN ?
			  AFI_COUNT_WRITE : AFI_COUNT_READ);
}

static int atomic_now(struct afi_ep *ep, const struct call *d)
{
	struct afi_name name;
	struct afi_op *op;
	int ret = atomic_check(ep, d);

	if (!ret)
		ret = afi_target(ep, d->msg->addr, &name);
	if (ret)
		return ret;
	op = new_op(ep, &name, d);
	if (!op)
		return -FI_EAGAIN;
	op->done.context = d->msg->context;
	op->done.flags = FI_ATOMIC | (d->form == AFI_PLAIN ? FI_WRITE : FI_READ);
	op->done.src = FI_ADDR_NOTAVAIL;
	op->peer = name;
	op->does = atomic_does(d);
	if (op->kind == AFI_OP_TELL)
		op->rest->wire = (struct afi_wire){
			.from = ep->name.serial,
			.flags = wire_flags(op->does),
			.len = atomic_there(d->msg) * types[d->msg->datatype].size,
		};
	ep->domain->more = d->flags & FI_MORE;
	ret = atomic_start(op, d);
	ep->domain->more = false;
	return ret;
}

static ssize_t atomic_call(struct fid_ep *fid, const struct call *d)
{
	struct afi_ep *ep = afi_ep_of(fid);
	int ret;

	afi_lock(ep->domain);
	ret = atomic_now(ep, d);
	if (ret == -FI_EAGAIN) {
		afi_progress(ep->domain);
		ret = atomic_now(ep, d);
	}
	if (ret || !(d->flags & FI_MORE))
		afi_ring(ep->domain);
	afi_unlock(ep->domain);
	return ret;
}

static struct call call_of(const struct fi_msg_atomic *msg,
			   const struct fi_ioc *y,
			   size_t ny, struct fi_ioc *res, void **res_desc,
			   size_t nres, u64 flags)
{
	return (struct call){
		.msg = msg,
		.flags = flags,
		.y = y,
		.ny = ny,
		.res = res,
		.res_desc = res_desc,
		.nres = nres,
	};
}

/**
 * afi_atomic_now() - start an atomic operation of any form
 * @ep: endpoint, its domain locked
 * @msg: arguments that all forms share
 * @y: values to compare with
 * @ny: pieces of @y; 0: no comparison
 * @res: buffers for the old values
 * @res_desc: descriptors of @res
 * @nres: pieces of @res; 0: no old values are returned
 * @flags: FI_*
 *
 * Return: 0; -FI_EAGAIN; errors of fi_atomicmsg() and its variants.
 */
int afi_atomic_now(struct afi_ep *ep, const struct fi_msg_atomic *msg,
		   const struct fi_ioc *y, size_t ny, struct fi_ioc *res,
		   void **res_desc, size_t nres, u64 flags)
{
	struct call d = call_of(msg, y, ny, res, res_desc, nres, flags);

	d.form = ny ? AFI_COMPARE : nres ? AFI_FETCH : AFI_PLAIN;
	return atomic_now(ep, &d);
}

ssize_t afi_atomic(struct fid_ep *ep, const struct fi_msg_atomic *msg,
		   u64 flags, bool quiet)
{
	struct call d = call_of(msg, NULL, 0, NULL, NULL, 0, flags);

	d.form = AFI_PLAIN;
	d.quiet = quiet;
	return atomic_call(ep, &d);
}

ssize_t afi_atomic_fetch(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			 struct fi_ioc *res, void **res_desc, size_t nres,
			 u64 flags)
{
	struct call d = call_of(msg, NULL, 0, res, res_desc, nres, flags);

	d.form = AFI_FETCH;
	return atomic_call(ep, &d);
}

ssize_t afi_atomic_compare(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			   const struct fi_ioc *y, size_t ny,
			   struct fi_ioc *res, void **res_desc, size_t nres,
			   u64 flags)
{
	struct call d = call_of(msg, y, ny, res, res_desc, nres, flags);

	d.form = AFI_COMPARE;
	return atomic_call(ep, &d);
}

static int atomic_valid(enum fi_datatype type, enum fi_op op, int form, size_t *count)
{
	size_t n = atomic_most(type, op, form);

	if (count)
		*count = n;
	return n ? 0 : -FI_EOPNOTSUPP;
}

int afi_atomic_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
		     size_t *count)
{
	(void)ep;
	return atomic_valid(type, op, AFI_PLAIN, count);
}

int afi_fetch_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
		    size_t *count)
{
	(void)ep;
	return atomic_valid(type, op, AFI_FETCH, count);
}

int afi_compare_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
		      size_t *count)
{
	(void)ep;
	return atomic_valid(type, op, AFI_COMPARE, count);
}

/* Implements fi_query_atomic(). */
int afi_query_atomic(struct fid_domain *domain, enum fi_datatype type,
		     enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags)
{
	int form = AFI_PLAIN;

	(void)domain;
	if (flags == FI_FETCH_ATOMIC)
		form = AFI_FETCH;
	else if (flags == FI_COMPARE_ATOMIC)
		form = AFI_COMPARE;
	else if (flags)
		return -FI_EOPNOTSUPP;
	attr->size = type < NUM(types) ? types[type].size : 0;
	return atomic_valid(type, op, form, &attr->count);
}
