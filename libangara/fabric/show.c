// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The data of long messages, which the receiver is to read: a copy of it, or
 * the program's memory, held in a region until that has been done.  The library
 * keeps the region, of these bytes and no others, for the next message.
 *
 * A message may wait for its receive for ever, and others need regions, too.  So
 * when half of those are taken, messages go without showing their data, and
 * the receiver asks for it when it knows where to (AFI_MSG_ASK); then it is
 * shown as soon as there are some (AFI_MSG_PARTS), which is for a short while.
 */
#include <string.h>

#include "msg.h"

static void hide(struct afi_op *op, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct afi_local *l = &op->pieces[i].local;

		afi_local_put(op->domain, l, false);
		*l = (struct afi_local){ .addr = l->addr, .len = l->len };
	}
}

/* Return: 0; -FI_EAGAIN there are too many regions; -FI_EFAULT, -FI_ENOMEM. */
static int hold_all(struct afi_op *op, struct afi_part *parts)
{
	u32 i;

	for (i = 0; i < op->n; i++) {
		struct afi_local *l = &op->pieces[i].local;
		int ret = afi_temp_hold(op->domain, op->ep, l->addr, l->len,
					ANGARA_ACCESS_REMOTE_READ, &l->mr,
					&l->off);

		if (ret) {
			hide(op, i);
			return ret == -FI_ENOSPC ? -FI_EAGAIN : ret;
		}
		l->temp = true;
		parts[i] = (struct afi_part){
			.akey = angara_mr_key(l->mr),
			.off = (u32)l->off,
			.len = l->len,
		};
	}
	return 0;
}

static bool copied(struct afi_op *op, struct afi_part *part,
		   const struct afi_out *out, size_t len)
{
	struct afi_local *copy = &op->pieces[0].local;
	char *stage = afi_local_stage(op->domain, copy, len);

	if (!stage)
		return false;
	afi_gather(stage, out);
	op->n = 1;
	*part = (struct afi_part){
		.akey = angara_mr_key(copy->mr),
		.off = (u32)copy->off,
		.len = len,
	};
	return true;
}

/**
 * afi_show() - let the receiver of a long message read its data
 * @op: operation, until whose end it may
 * @parts: out: what to tell the receiver
 * @out: message
 * @len: bytes of it
 *
 * Return: number of @parts; 0 the receiver is to ask for them; -FI_EFAULT,
 * -FI_ENOMEM the data is no memory.
 */
int afi_show(struct afi_op *op, struct afi_part *parts,
	     const struct afi_out *out, size_t len)
{
	size_t i;
	int ret = -FI_EAGAIN;

	if (copied(op, parts, out, len))
		return 1;
	for (i = 0; i < out->count; i++)
		if (out->iov[i].iov_len)
			op->pieces[op->n++].local = (struct afi_local){
				.addr = out->iov[i].iov_base,
				.len = out->iov[i].iov_len,
			};
	if (afi_temp_spare(op->domain, AFI_TEMPS_SHOWN, op->n))
		ret = hold_all(op, parts);
	op->later = ret == -FI_EAGAIN;
	if (op->later)
		return 0;
	return ret ? ret : (int)op->n;
}

/**
 * afi_show_asked() - show data that the receiver has asked for
 * @op: operation, @asked
 *
 * Return: true if it could be done; else it is to be tried again.
 */
bool afi_show_asked(struct afi_op *op)
{
	const struct angara_peer peer = {
		.node = op->peer.node,
		.ctx = op->peer.ctx,
	};
	struct afi_domain *d = op->domain;
	struct afi_wire *wire;
	struct afi_send *s;
	int ret;

	/* The peer is gone. */
	if (!op->expects)
		op->asked = false;
	if (!op->asked || !afi_temp_spare(d, AFI_TEMPS_ASKED, op->n))
		return false;
	s = afi_send_new(d, true, peer);
	if (!s)
		return false;
	wire = afi_send_wire(d, s);
	ret = hold_all(op, (struct afi_part *)(wire + 1));
	if (ret == -FI_EAGAIN) {
		afi_send_drop(d, s);
		return false;
	}
	s->head = (struct angara_head){
		.size = sizeof(s->head),
		.code = afi_code(AFI_MSG_PARTS, op->own_ep, op->peer.ep),
	};
	/* What is no memory any more the receiver is told, and tells. */
	*wire = (struct afi_wire){
		.to = op->peer.serial,
		.from = op->ep->name.serial,
		.err = (u32)-ret,
		.op = op->wire.op,
		.gen = op->wire.gen,
		.len = op->wire.len,
	};
	s->len = sizeof(*wire) + (ret ? 0 : op->n * sizeof(struct afi_part));
	op->asked = false;
	op->later = false;
	afi_send_go(d, s, op);
	return true;
}

static bool refuse(struct afi_domain *d, const struct afi_msg *msg, u32 from_ep)
{
	const struct angara_peer peer = {
		.node = msg->src.node,
		.ctx = msg->src.ctx,
	};
	const struct afi_wire wire = {
		.to = msg->wire.from,
		.err = FI_EHOSTUNREACH,
		.op = (u32)msg->tag,
		.gen = (u32)(msg->tag >> 32),
	};

	return afi_reply(d, peer, afi_code(AFI_MSG_PARTS, from_ep, msg->src.ep),
			 &wire);
}

/**
 * afi_asked() - a receiver asks for data
 * @d: domain, locked
 * @msg: what it says: which operation here, and in the tag which one there
 * @from_ep: number of the endpoint that it asks
 *
 * Return: false: not now.
 */
bool afi_asked(struct afi_domain *d, const struct afi_msg *msg, u32 from_ep)
{
	struct afi_op *op = afi_op_by_number(d, msg->wire.op);

	/* An endpoint that was closed has taken its data with it. */
	if (!op || op->gen != msg->wire.gen || op->kind != AFI_OP_SEND ||
	    !op->expects || !op->later || op->peer.node != msg->src.node ||
	    op->peer.ctx != msg->src.ctx)
		return refuse(d, msg, from_ep);
	op->asked = true;
	op->wire.op = (u32)msg->tag;
	op->wire.gen = (u32)(msg->tag >> 32);
	if (!afi_show_asked(op))
		afi_op_later(op);
	return true;
}
