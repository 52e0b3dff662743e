// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The receiver of a long message reads its data from the sender: from a copy,
 * or from the program's memory.  If it is the program's memory, the operation
 * holds a region of it until the receiver has read the data.  The region
 * contains exactly the bytes of the message; the library caches the region for
 * later messages.
 *
 * A message may wait for ever for its receive, and other messages need regions,
 * too.  So when half of the regions are in use, messages are sent without keys
 * of regions.  When the receiver has a buffer, it requests the keys
 * (AFI_MSG_ASK), and the sender sends them when regions are free
 * (AFI_MSG_PARTS); the receiver then needs the regions only for a short time.
 */
#include <string.h>

#include "msg.h"

/* Copies the data of a message. */
void afi_gather(char *to, const struct afi_out *out)
{
	size_t i;

	for (i = 0; i < out->count; i++) {
		if (out->iov[i].iov_len)
			memcpy(to, out->iov[i].iov_base, out->iov[i].iov_len);
		to += out->iov[i].iov_len;
	}
}

static void show_hide(struct afi_op *op, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct afi_local *l = &op->rest->pieces[i].local;

		afi_local_put(op->domain, l, false);
		*l = (struct afi_local){ .addr = l->addr, .len = l->len };
	}
}

/*
 * Holds regions of all pieces.  Return: 0; -FI_EAGAIN too many are in use;
 * -FI_EFAULT, -FI_ENOMEM.
 */
static int hold_all(struct afi_op *op, struct afi_part *parts)
{
	u32 i;

	for (i = 0; i < op->n; i++) {
		struct afi_local *l = &op->rest->pieces[i].local;
		int ret = afi_temp_hold(op->domain, op->ep, l->addr, l->len,
					ANGARA_ACCESS_REMOTE_READ, &l->mr,
					&l->off);

		if (ret) {
			show_hide(op, i);
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

static bool show_copied(struct afi_op *op, struct afi_part *part,
			const struct afi_out *out, size_t len)
{
	struct afi_local *copy = &afi_piece_add(op)->local;
	char *stage = afi_local_stage(op->domain, copy, len);

	if (!stage) {
		op->n--;
		return false;
	}
	afi_gather(stage, out);
	*part = (struct afi_part){
		.akey = angara_mr_key(copy->mr),
		.off = (u32)copy->off,
		.len = len,
	};
	return true;
}

/**
 * afi_show() - give the receiver of a long message access to its data
 * @op: operation; the access ends with it
 * @parts: out: regions whose keys the message contains
 * @out: message
 * @len: bytes of the message
 *
 * Return: number of @parts; 0 the receiver must request them; -FI_EFAULT,
 * -FI_ENOMEM the data cannot be registered.
 */
int afi_show(struct afi_op *op, struct afi_part *parts,
	     const struct afi_out *out, size_t len)
{
	size_t i;
	int ret = -FI_EAGAIN;

	if (show_copied(op, parts, out, len))
		return 1;
	for (i = 0; i < out->count; i++)
		if (out->iov[i].iov_len)
			afi_piece_add(op)->local = (struct afi_local){
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
 * afi_show_asked() - answer the receiver's request for data
 * @op: operation; its member @asked is set: the receiver has requested the data
 *
 * Return: true if the answer was sent; else retry if @op->asked is still set.
 */
bool afi_show_asked(struct afi_op *op)
{
	const struct angara_peer peer = afi_peer_of(&op->peer);
	struct afi_domain *d = op->domain;
	struct afi_wire *wire;
	struct afi_send *s;
	int ret;

	/* The operation no longer waits, since the peer is gone. */
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
		.code = afi_code(AFI_MSG_PARTS, op->peer.ep),
	};
	/*
	 * If the data is not mapped any more, send the error; the receiver
	 * returns it in its answer.
	 */
	*wire = (struct afi_wire){
		.to = op->peer.serial,
		.from = op->ep->name.serial,
		.err = (u16)-ret,
		.ep = (u16)op->own_ep,
		.op = op->rest->wire.op,
		.gen = op->rest->wire.gen,
		.len = op->rest->wire.len,
	};
	s->len = sizeof(*wire) + (ret ? 0 : op->n * sizeof(struct afi_part));
	op->asked = false;
	op->later = false;
	/*
	 * The operation does not wait for this message, but for the receiver: if
	 * there is no path to the receiver, flow.c sends the message again.
	 */
	afi_send_go(d, s, NULL);
	return true;
}

static bool show_refuse(struct afi_domain *d, const struct afi_msg *msg, u32 from_ep)
{
	const struct angara_peer peer = afi_peer_of(&msg->src);
	const struct afi_wire wire = {
		.to = msg->wire.from,
		.err = FI_EHOSTUNREACH,
		.ep = (u16)from_ep,
		.op = (u32)msg->tag,
		.gen = (u32)(msg->tag >> 32),
	};

	return afi_reply(d, peer, afi_code(AFI_MSG_PARTS, msg->src.ep), &wire);
}

/**
 * afi_asked() - handle a receiver's request for data
 * @d: domain, locked
 * @msg: request: operation here and, in the tag, operation of the receiver
 * @from_ep: number of the endpoint that got the request
 *
 * Return: false: cannot be handled now, deliver it again.
 */
bool afi_asked(struct afi_domain *d, const struct afi_msg *msg, u32 from_ep)
{
	struct afi_op *op = afi_op_by_number(d, msg->wire.op);

	/* The data of a closed endpoint is not available any more. */
	if (!op || op->gen != msg->wire.gen || op->kind != AFI_OP_SEND ||
	    !op->expects || !op->later || op->peer.node != msg->src.node ||
	    op->peer.ctx != msg->src.ctx)
		return show_refuse(d, msg, from_ep);
	op->asked = true;
	op->rest->wire.op = (u32)msg->tag;
	op->rest->wire.gen = (u32)(msg->tag >> 32);
	if (!afi_show_asked(op))
		afi_op_later(op);
	return true;
}
