// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a target is told of reads, writes and atomic operations on its memory.
 *
 * The adapter of the target does them and tells nobody.  So the initiator
 * says it in a message, when the operation has ended and its data is in place:
 * if there is data for the completion queue there, or if the target's address
 * says that it wants to know of all (FI_RMA_EVENT).
 */
#include <stdlib.h>
#include <string.h>

#include "msg.h"

/* The operation is on that region of the target, among others. */
void afi_op_touch(struct afi_op *op, u32 akey)
{
	u32 i;

	for (i = 0; i < op->nkeys; i++)
		if (op->keys[i] == akey)
			return;
	op->keys[op->nkeys++] = akey;
}

/* The operation has ended: tells the target.  Return: false: not now. */
bool afi_tell(struct afi_op *op)
{
	const struct angara_peer peer = {
		.node = op->peer.node,
		.ctx = op->peer.ctx,
	};
	struct afi_send *s = afi_send_new(op->domain, true, peer);
	struct afi_wire *wire;

	if (!s)
		return false;
	s->head = (struct angara_head){
		.imm = op->done.data,
		.code = afi_code(AFI_MSG_TOUCHED, op->own_ep, op->peer.ep),
	};
	s->len = sizeof(*wire) + op->nkeys * sizeof(*op->keys);
	wire = afi_send_wire(op->domain, s);
	*wire = (struct afi_wire){
		.to = op->peer.serial,
		.from = op->wire.from,
		.flags = op->wire.flags,
		.len = op->wire.len,
	};
	memcpy(wire + 1, op->keys, op->nkeys * sizeof(*op->keys));
	afi_send_go(op->domain, s, op);
	return true;
}

/**
 * afi_touched() - counters of regions count what a peer has done to them
 * @d: domain, locked
 * @msg: what it says
 *
 * Memory is the domain's: it matters only that this is the one which is meant,
 * not whether there still is the endpoint that was named.
 */
void afi_touched(struct afi_domain *d, const struct afi_msg *msg)
{
	bool read = msg->wire.flags & AFI_WIRE_READ;
	u32 i;

	if (!d->watched || afi_serial_domain(msg->wire.to) != d->id)
		return;
	for (i = 0; i < msg->nparts; i++) {
		struct afi_mr *mr = NULL;

		if (msg->parts[i].akey < d->about.max_mrs)
			mr = d->watched[msg->parts[i].akey];
		if (mr)
			afi_cntr_count(mr->cntrs[read], 0);
	}
}

/* The endpoint that was named is told, too.  Return: false: not now. */
bool afi_told(struct afi_ep *ep, const struct afi_msg *msg)
{
	bool read = msg->wire.flags & AFI_WIRE_READ;
	const struct afi_done done = {
		.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
		.len = msg->wire.len,
		.data = msg->data,
		.src = afi_av_find(ep->av, &msg->src),
	};

	if ((msg->wire.flags & AFI_WIRE_DATA) && ep->rx) {
		if (!afi_cq_promise_told(ep->rx))
			return false;
		afi_cq_put(ep->rx, &done);
	}
	afi_cntr_count(ep->cntrs[read ? AFI_COUNT_REMOTE_READ :
					AFI_COUNT_REMOTE_WRITE], 0);
	afi_touched(ep->domain, msg);
	return true;
}

/* A counter of what others do to a region. */
static int watch(struct afi_mr *mr, struct afi_cntr *cntr, u64 flags)
{
	struct afi_domain *d = mr->domain;
	const bool wanted[2] = { flags & FI_REMOTE_WRITE,
				 flags & FI_REMOTE_READ };
	int i;

	if (!flags || (flags & ~(FI_REMOTE_WRITE | FI_REMOTE_READ)) ||
	    cntr->domain != d)
		return -FI_EINVAL;
	for (i = 0; i < 2; i++)
		if (wanted[i] && mr->cntrs[i])
			return -FI_EINVAL;
	if (!d->watched)
		d->watched = calloc(d->about.max_mrs, sizeof(*d->watched));
	if (!d->watched)
		return -FI_ENOMEM;
	d->watched[angara_mr_key(mr->mr)] = mr;
	for (i = 0; i < 2; i++)
		if (wanted[i]) {
			mr->cntrs[i] = cntr;
			afi_ref(&cntr->refs);
		}
	return 0;
}

/* fi_mr_bind() */
int afi_mr_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct afi_mr *mr = afi_of(fid, struct afi_mr, fid.fid);
	int ret;

	if (bfid->fclass != FI_CLASS_CNTR)
		return -FI_EINVAL;
	/* Nobody would ever tell. */
	if (!mr->domain->events)
		return -FI_EOPNOTSUPP;
	afi_lock(mr->domain);
	ret = watch(mr, afi_of(bfid, struct afi_cntr, fid.fid), flags);
	afi_unlock(mr->domain);
	return ret;
}

/* The region is being closed. */
void afi_mr_unwatch(struct afi_mr *mr)
{
	int i;

	if (mr->domain->watched)
		mr->domain->watched[angara_mr_key(mr->mr)] = NULL;
	for (i = 0; i < 2; i++)
		if (mr->cntrs[i])
			afi_unref(&mr->cntrs[i]->refs);
}
