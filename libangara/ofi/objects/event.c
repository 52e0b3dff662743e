// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Notification of a target about reads, writes and atomic operations on its
 * memory.
 *
 * The adapter of the target executes these operations without an event.  So the
 * initiator sends a message to the target when the operation has ended and its data
 * is in memory.  The initiator does so if the operation carries data for the
 * target's completion queue, or if the target's address requests notification of
 * all operations (FI_RMA_EVENT).
 */
#include <stdlib.h>
#include <string.h>

#include "msg.h"

/* Records a region of the target that the operation accesses. */
void afi_op_touch(struct afi_op *op, u32 slot)
{
	u32 i;

	for (i = 0; i < op->nslots; i++)
		if (op->rest->slots[i] == slot)
			return;
	op->rest->slots[op->nslots++] = slot;
}

/* The operation has ended: notifies the target.  Return: false: try again. */
bool afi_tell(struct afi_op *op)
{
	const struct angara_peer peer = afi_peer_of(&op->peer);
	struct afi_send *s = afi_send_new(op->domain, true, peer);
	struct afi_wire *wire;

	if (!s)
		return false;
	s->head = (struct angara_head){
		.size = sizeof(s->head),
		.imm = op->done.data,
		.code = afi_code(AFI_MSG_TOUCHED, op->peer.ep),
	};
	s->len = sizeof(*wire) + op->nslots * sizeof(*op->rest->slots);
	wire = afi_send_wire(op->domain, s);
	*wire = (struct afi_wire){
		.to = op->peer.serial,
		.from = op->rest->wire.from,
		.ep = (u16)op->own_ep,
		.flags = op->rest->wire.flags,
		.len = op->rest->wire.len,
	};
	memcpy(wire + 1, op->rest->slots, op->nslots * sizeof(*op->rest->slots));
	afi_send_go(op->domain, s, op);
	return true;
}

/*
 * Counts an operation on a region, at most once in each counter.  A fetching atomic
 * operation counts as a read and as a write: to fi_mr(3), an operation that
 * "modifies the memory region" is a write.
 */
static void event_count(const struct afi_mr *mr, u32 flags)
{
	bool read = flags & AFI_WIRE_READ;

	afi_cntr_count(mr->cntrs[read], 0);
	if (read && (flags & AFI_WIRE_BOTH) && mr->cntrs[0] != mr->cntrs[1])
		afi_cntr_count(mr->cntrs[0], 0);
}

/**
 * afi_touched() - count a peer's operation in the counters of its regions
 * @d: domain, locked
 * @msg: notification
 *
 * Regions belong to the domain, so the message must name this domain; the
 * endpoint may be closed already.
 */
void afi_touched(struct afi_domain *d, const struct afi_msg *msg)
{
	u32 i;

	if (!d->watched || afi_serial_domain(msg->wire.to) != d->id)
		return;
	for (i = 0; i < msg->nparts; i++) {
		struct afi_mr *mr = NULL;

		if (msg->parts[i].akey < d->about.max_mrs)
			mr = d->watched[msg->parts[i].akey];
		if (mr)
			event_count(mr, msg->wire.flags);
	}
}

/*
 * Reports a peer's operation to the endpoint that the message names, and counts
 * it.  Return: false: try again.
 */
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

/* Binds a counter of remote operations to a region. */
static int event_watch(struct afi_mr *mr, struct afi_cntr *cntr, u64 flags)
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
	d->watched[afi_slot(angara_mr_key(mr->mr))] = mr;
	for (i = 0; i < 2; i++)
		if (wanted[i]) {
			mr->cntrs[i] = cntr;
			afi_ref(&cntr->refs);
		}
	return 0;
}

/* Implements fi_mr_bind(). */
int afi_mr_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct afi_mr *mr = afi_of(fid, struct afi_mr, fid.fid);
	int ret;

	if (bfid->fclass != FI_CLASS_CNTR)
		return -FI_EINVAL;
	/* Refuse: without events, peers' operations would never be counted. */
	if (!mr->domain->events)
		return -FI_EOPNOTSUPP;
	afi_lock(mr->domain);
	ret = event_watch(mr, afi_of(bfid, struct afi_cntr, fid.fid), flags);
	afi_unlock(mr->domain);
	return ret;
}

/* Unbinds the counters of a region that is being closed. */
void afi_mr_unwatch(struct afi_mr *mr)
{
	int i;

	if (mr->domain->watched)
		mr->domain->watched[afi_slot(angara_mr_key(mr->mr))] = NULL;
	for (i = 0; i < 2; i++)
		if (mr->cntrs[i])
			afi_unref(&mr->cntrs[i]->refs);
}
