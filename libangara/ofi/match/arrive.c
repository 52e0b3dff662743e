// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Incoming messages.  They are removed from the receive buffer at once, so that
 * a program that is slow to receive does not block later messages.
 */
#include <stdlib.h>
#include <string.h>

#include "msg.h"

#define AFI_AT_ONCE	64	/* messages per call */

/*
 * Handles an answer: the peer has fetched the data of a long message, or never
 * will.  The answer may be for an earlier user of this context that had an
 * operation of the same number.
 */
static void arrive_fetched(struct afi_domain *d, const struct afi_msg *msg)
{
	const struct afi_wire *w = &msg->wire;
	struct afi_op *op = afi_op_by_number(d, w->op);

	if (!op || op->gen != w->gen || op->kind != AFI_OP_SEND ||
	    op->rest->wire.from != w->to ||
	    op->peer.node != msg->src.node || op->peer.ctx != msg->src.ctx)
		return;
	afi_op_came(op, -afi_peer_error(w->err));
}

static int read_parts(struct afi_msg *msg, const char *from, size_t len)
{
	u64 sum = 0;
	u32 i;

	msg->nparts = (u32)(len / sizeof(*msg->parts));
	if (len % sizeof(*msg->parts) || msg->nparts > AFI_IOV_LIMIT ||
	    msg->wire.len > ANGARA_MAX_OP_BYTES)
		return -FI_EINVAL;
	memcpy(msg->parts, from, len);
	for (i = 0; i < msg->nparts; i++) {
		if (msg->parts[i].len > ANGARA_MAX_OP_BYTES)
			return -FI_EINVAL;
		sum += msg->parts[i].len;
	}
	return !msg->nparts || sum == msg->wire.len ? 0 : -FI_EINVAL;
}

static int read_slots(struct afi_msg *msg, const char *from, size_t len)
{
	u32 i, slot;

	msg->nparts = (u32)(len / sizeof(u32));
	if (len % sizeof(u32) || msg->nparts > AFI_RMA_IOV_LIMIT)
		return -FI_EINVAL;
	for (i = 0; i < msg->nparts; i++) {
		memcpy(&slot, from + i * sizeof(slot), sizeof(slot));
		msg->parts[i].akey = slot;
	}
	return 0;
}

/* Checks and decodes a message.  Return: AFI_MSG_*; -FI_EINVAL. */
static int arrive_parse(const struct afi_domain *d, const struct angara_message *in,
			struct afi_msg *msg)
{
	int type = (int)afi_code_type(in->head.code);
	size_t rest;
	const char *body;

	if (in->len < sizeof(msg->wire))
		return -FI_EINVAL;
	rest = in->len - sizeof(msg->wire);
	body = (const char *)in->data + sizeof(msg->wire);
	*msg = (struct afi_msg){
		.src = {
			.fabric_id = d->about.fabric_id,
			.node = in->peer.node,
			.ctx = in->peer.ctx,
		},
		.tag = in->head.tag,
		.data = in->head.imm,
		.body = body,
	};
	memcpy(&msg->wire, in->data, sizeof(msg->wire));
	msg->src.serial = msg->wire.from;
	msg->src.ep = msg->wire.ep;
	msg->is_long = type == AFI_MSG_LONG;
	/*
	 * Refuse a message that would use no bytes of a multi-receive buffer:
	 * the buffer could receive any number of such messages.
	 */
	if ((type == AFI_MSG_SHORT && msg->wire.len != rest) ||
	    (msg->is_long && msg->wire.len <= AFI_SHORT_MAX) ||
	    ((msg->is_long || type == AFI_MSG_PARTS) &&
	     read_parts(msg, body, rest)) ||
	    (type == AFI_MSG_TOUCHED && read_slots(msg, body, rest)) ||
	    msg->src.ep >= AFI_EPS ||
	    type < AFI_MSG_SHORT || type > AFI_MSG_PARTS)
		return -FI_EINVAL;
	return type;
}

/* Does the sender wait for an answer? */
static bool wants_answer(const struct afi_msg *msg)
{
	return msg->is_long || (msg->wire.flags & AFI_WIRE_ACK);
}

/*
 * Lets the endpoint match or keep the message, then answers if the sender has
 * requested FI_DELIVERY_COMPLETE.  Return: as arrive_handle().
 */
static bool arrive_deliver(struct afi_ep *ep, const struct afi_msg *msg)
{
	struct afi_domain *d = ep->domain;

	if (!d->delivered && !afi_msg_deliver(ep, msg))
		return false;
	if (msg->is_long || !wants_answer(msg))
		return true;
	/* The endpoint has the message: a retry repeats only the answer. */
	d->delivered = !afi_answer(d, &msg->src, ep->name.ep, &msg->wire, 0);
	return !d->delivered;
}

/*
 * Handles a message. Return: false: no memory for the message or for an answer,
 * try again.
 */
static bool arrive_handle(struct afi_domain *d, const struct angara_message *in)
{
	struct afi_msg msg;
	struct afi_ep *ep;
	u32 num = afi_code_to(in->head.code);
	bool done;
	int type;

	if (afi_code_type(in->head.code) == AFI_MSG_TALK)
		return d->up->talk_arrived(d, in);
	type = arrive_parse(d, in, &msg);
	if (type < 0) {
		AFI_INFO(EP_DATA, "node %u sent a malformed message\n",
			 in->peer.node);
		return true;
	}
	if (type == AFI_MSG_FETCHED) {
		arrive_fetched(d, &msg);
		return true;
	}
	if (type == AFI_MSG_ASK)
		return afi_asked(d, &msg, num);
	if (type == AFI_MSG_PARTS)
		return afi_shown(d, &msg);
	ep = afi_ep_at(d, num);
	/* A transmit context receives no messages: its number is not an address. */
	if (!ep || !ep->enabled || ep->name.ep != num ||
	    ep->name.serial != msg.wire.to) {
		if (type == AFI_MSG_TOUCHED)
			afi_touched(d, &msg);
		/*
		 * If arrive_deliver() had no memory for the answer, the
		 * endpoint may have been closed in the meantime.
		 */
		done = !wants_answer(&msg) ||
		       afi_answer(d, &msg.src, num, &msg.wire,
				  d->delivered ? 0 : FI_EHOSTUNREACH);
		if (done)
			d->delivered = false;
		return done;
	}
	return type == AFI_MSG_TOUCHED ? afi_told(ep, &msg) : arrive_deliver(ep, &msg);
}

/*
 * Handles messages that have arrived.  Return: number of handled messages, possibly
 * 0; -ENODEV, -EIO the adapter is gone.
 */
int afi_arrive_progress(struct afi_domain *d)
{
	int n, ret;

	for (n = 0; n < AFI_AT_ONCE; n++) {
		if (!d->has_held) {
			d->held.size = sizeof(d->held);
			ret = angara_msg_next(d->ctx, &d->held);
			if (ret)
				return ret == -EAGAIN || n ? n : ret;
			d->has_held = true;
		}
		if (!arrive_handle(d, &d->held))
			break;
		angara_msg_free(d->ctx, &d->held);
		d->has_held = false;
		d->delivered = false;
	}
	return n;
}
