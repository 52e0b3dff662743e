// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads and writes of a peer's memory. */
#include "msg.h"

#define AFI_RMA_FLAGS	(FI_COMPLETION | FI_INJECT | FI_MORE | FI_FENCE | \
			 FI_REMOTE_CQ_DATA | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
			 FI_DELIVERY_COMPLETE)

/* Number of bytes in a vector; SIZE_MAX: it overflows. */
size_t afi_iov_bytes(const struct iovec *iov, size_t count)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (__builtin_add_overflow(sum, iov[i].iov_len, &sum))
			return SIZE_MAX;
	return sum;
}

static size_t rma_bytes(const struct fi_rma_iov *iov, size_t count)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (__builtin_add_overflow(sum, iov[i].len, &sum))
			return SIZE_MAX;
	return sum;
}

static int rma_check(const struct afi_ep *ep, const struct fi_msg_rma *msg,
		     u64 flags, bool write)
{
	size_t len;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if ((flags & ~AFI_RMA_FLAGS) ||
	    (!write && (flags & (FI_INJECT | FI_REMOTE_CQ_DATA))))
		return -FI_EBADFLAGS;
	if ((flags & FI_REMOTE_CQ_DATA) && !ep->domain->has_msgs)
		return -FI_EOPNOTSUPP;
	if (!(ep->caps & (write ? FI_WRITE : FI_READ)))
		return -FI_EOPNOTSUPP;
	if (msg->iov_count > AFI_IOV_LIMIT || !msg->rma_iov_count ||
	    msg->rma_iov_count > AFI_RMA_IOV_LIMIT)
		return -FI_EINVAL;
	len = afi_iov_bytes(msg->msg_iov, msg->iov_count);
	if (len > ANGARA_MAX_OP_BYTES ||
	    ((flags & FI_INJECT) && len > AFI_INJECT_SIZE))
		return -FI_EMSGSIZE;
	return len == rma_bytes(msg->rma_iov, msg->rma_iov_count) ? 0 :
								    -FI_EINVAL;
}

static void rma_keys(struct afi_plan *plan, const struct fi_msg_rma *msg)
{
	for (plan->keys = 0; plan->keys < msg->rma_iov_count; plan->keys++) {
		const struct fi_rma_iov *r = &msg->rma_iov[plan->keys];

		plan->there[plan->keys] = (struct afi_there){ r->key, r->addr };
	}
}

/*
 * Cuts the operation into pieces, each within one element of the list of local
 * memory and one of the list of remote memory.  There is at least one part,
 * possibly empty, so that the peer's address and key are checked.
 */
static void rma_cut(struct afi_plan *plan, const struct fi_msg_rma *msg)
{
	size_t li = 0, lo = 0, ro = 0;
	u32 ri, n = 0;

	for (ri = 0; ri < msg->rma_iov_count; ri++, ro = 0) {
		const struct fi_rma_iov *r = &msg->rma_iov[ri];

		while (ro < r->len) {
			const struct iovec *l = &msg->msg_iov[li];
			size_t left = l->iov_len - lo;
			size_t len = r->len - ro < left ? r->len - ro : left;

			if (len)
				plan->parts[n++] = (struct afi_plan_part){
					.addr = (char *)l->iov_base + lo,
					.len = len,
					.desc = msg->desc ? msg->desc[li] : NULL,
					.there = ri,
					.ahead = ro,
				};
			ro += len;
			lo += len;
			if (lo == l->iov_len) {
				li++;
				lo = 0;
			}
		}
	}
	if (!n)
		plan->parts[n++] = (struct afi_plan_part){ .there = ri - 1 };
	plan->n = n;
}

static int rma_prepare(struct afi_op *op, const struct afi_plan *plan, bool write)
{
	u32 i;

	for (i = 0; i < plan->n; i++) {
		const struct afi_plan_part *part = &plan->parts[i];
		struct afi_piece *piece = afi_piece_add(op);
		int ret;

		piece->back = !write;
		/*
		 * Short data of a write is inline in the descriptor, so it needs
		 * no region.  A read of 0 bytes needs none, either.
		 */
		if (!part->len || (write && part->len <= ANGARA_MAX_INLINE))
			continue;
		ret = afi_local_get(op->domain, op->ep, &piece->local, part->addr,
				    part->len, part->desc, !write);
		if (ret) {
			op->n--;
			return ret;
		}
	}
	return 0;
}

static int rma_post(struct afi_op *op, struct afi_piece *piece,
		    const struct afi_plan *plan, const struct afi_plan_part *part,
		    struct angara_peer peer)
{
	const struct afi_there *there = &plan->there[part->there];
	const struct angara_op *how = afi_piece_await(op, piece);
	const u64 off = there->off + part->ahead;
	struct angara_ctx *ctx = op->domain->ctx;
	const struct afi_local *l = &piece->local;

	if (!plan->does)
		return angara_get_nbi(ctx, peer, there->key, off, l->mr, l->off,
				      part->len, how);
	if (!l->mr)
		return angara_put_inline_nbi(ctx, peer, there->key, off,
					     part->addr, part->len, how);
	return angara_put_nbi(ctx, peer, there->key, off, l->mr, l->off,
			      part->len, how);
}

static int rma_start(struct afi_op *op, const struct fi_msg_rma *msg, u64 flags,
		     bool write)
{
	struct afi_plan plan;
	int ret;

	plan.post = rma_post;
	plan.does = write;
	plan.inject = flags & FI_INJECT;
	rma_keys(&plan, msg);
	rma_cut(&plan, msg);
	ret = rma_prepare(op, &plan, write);
	if (!ret)
		ret = afi_plan_start(op, &plan);
	if (ret)
		afi_op_drop(op);
	return ret;
}

static struct afi_op *new_op(struct afi_ep *ep, const struct afi_name *name,
			     u64 flags, bool quiet, bool write)
{
	bool report = ep->tx && !quiet &&
		      (!ep->tx_selective || (flags & FI_COMPLETION));

	if (afi_must_wait(ep, name, write ? AFI_WRITES : AFI_READS, flags))
		return NULL;
	return afi_op_new(ep, flags & FI_REMOTE_CQ_DATA ||
			  afi_wants_events(name) ? AFI_OP_TELL : AFI_OP_RMA,
			  report, write ? AFI_COUNT_WRITE : AFI_COUNT_READ);
}

/**
 * afi_rma_now() - start a read or write
 * @ep: endpoint, its domain locked
 * @msg: local and remote memory
 * @flags: FI_*
 * @quiet: no completion on success, as for fi_inject_write()
 * @write: write
 *
 * Return: 0; -FI_EAGAIN; errors of fi_writemsg().
 */
int afi_rma_now(struct afi_ep *ep, const struct fi_msg_rma *msg, u64 flags,
		bool quiet, bool write)
{
	struct afi_name name;
	struct afi_op *op;
	int ret = rma_check(ep, msg, flags, write);

	if (!ret)
		ret = afi_target(ep, msg->addr, &name);
	if (ret)
		return ret;
	op = new_op(ep, &name, flags, quiet, write);
	if (!op)
		return -FI_EAGAIN;
	op->done.context = msg->context;
	op->done.flags = FI_RMA | (write ? FI_WRITE : FI_READ);
	op->done.src = FI_ADDR_NOTAVAIL;
	op->peer = name;
	op->does = write ? AFI_WRITES : AFI_READS;
	op->done.data = msg->data;
	if (op->kind == AFI_OP_TELL)
		op->rest->wire = (struct afi_wire){
			.from = ep->name.serial,
			.flags = (flags & FI_REMOTE_CQ_DATA ?
				  AFI_WIRE_DATA : 0) |
				 (write ? 0 : AFI_WIRE_READ),
			.len = rma_bytes(msg->rma_iov, msg->rma_iov_count),
		};
	ep->domain->more = flags & FI_MORE;
	ret = rma_start(op, msg, flags, write);
	ep->domain->more = false;
	return ret;
}
