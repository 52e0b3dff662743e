// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sending: short data is part of the message; long data is registered, and the
 * receiver fetches it.
 */
#include "msg.h"

#define AFI_SEND_FLAGS	(FI_COMPLETION | FI_INJECT | FI_MORE | FI_FENCE | \
			 FI_REMOTE_CQ_DATA | FI_INJECT_COMPLETE | \
			 FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)

static int push_check(const struct afi_ep *ep, const struct afi_out *out,
		      size_t *len)
{
	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (out->flags & ~AFI_SEND_FLAGS)
		return -FI_EBADFLAGS;
	if (!(ep->caps & FI_SEND))
		return -FI_EOPNOTSUPP;
	if (out->count > AFI_IOV_LIMIT)
		return -FI_EINVAL;
	*len = afi_iov_bytes(out->iov, out->count);
	if (*len > ANGARA_MAX_OP_BYTES ||
	    ((out->flags & FI_INJECT) && *len > AFI_INJECT_SIZE))
		return -FI_EMSGSIZE;
	return 0;
}

static int push_fill(struct afi_op *op, struct afi_send *s, const struct afi_ep *ep,
		     const struct afi_name *to, const struct afi_out *out, size_t len)
{
	struct afi_wire *wire = afi_send_wire(op->domain, s);
	bool is_short = len <= AFI_SHORT_MAX;
	/*
	 * Only a short message has to request an answer: the receiver always
	 * answers a long one.
	 */
	bool acked = is_short && (out->flags & FI_DELIVERY_COMPLETE);
	int ret;

	s->head = (struct angara_head){
		.size = sizeof(s->head),
		.tag = out->tag,
		.imm = out->data,
		.code = afi_code(is_short ? AFI_MSG_SHORT : AFI_MSG_LONG,
				 to->ep),
	};
	*wire = (struct afi_wire){
		.to = to->serial,
		.from = ep->name.serial,
		.ep = ep->name.ep,
		.flags = (out->tagged ? AFI_WIRE_TAGGED : 0) |
			 (out->has_data ? AFI_WIRE_DATA : 0) |
			 (acked ? AFI_WIRE_ACK : 0),
		.op = afi_op_number(op),
		.gen = op->gen,
		.len = len,
	};
	s->len = sizeof(*wire) + len;
	if (!is_short || acked)
		op->rest->wire = (struct afi_wire){
			.from = ep->name.serial,
			.len = len,
		};
	if (is_short) {
		afi_gather((char *)(wire + 1), out);
		if (acked)
			afi_op_expect(op);
		return 0;
	}
	ret = afi_show(op, (struct afi_part *)(wire + 1), out, len);
	if (ret < 0)
		return ret;
	s->len = sizeof(*wire) + (size_t)ret * sizeof(struct afi_part);
	afi_op_expect(op);
	return 0;
}

/*
 * Starts a send.  Return: 0; -FI_EAGAIN; -FI_EFAULT, -FI_ENOMEM the data cannot
 * be registered.
 */
static int push_start(struct afi_ep *ep, const struct afi_name *to,
		      const struct afi_out *out, size_t len)
{
	const struct angara_peer peer = afi_peer_of(to);
	bool report = !out->quiet &&
		      (!ep->tx_selective || (out->flags & FI_COMPLETION));
	struct afi_send *s;
	struct afi_op *op;
	int ret;

	if ((out->flags & FI_FENCE) && ep->pending)
		return -FI_EAGAIN;
	op = afi_op_new(ep, AFI_OP_SEND, report, AFI_COUNT_SEND);
	if (!op)
		return -FI_EAGAIN;
	s = afi_send_new(ep->domain, false, peer);
	if (!s) {
		afi_op_drop(op);
		return -FI_EAGAIN;
	}
	op->peer = *to;
	op->done.context = out->context;
	op->done.flags = FI_SEND | (out->tagged ? FI_TAGGED : FI_MSG);
	op->done.src = FI_ADDR_NOTAVAIL;
	ret = push_fill(op, s, ep, to, out, len);
	if (ret) {
		afi_send_drop(ep->domain, s);
		afi_op_drop(op);
		return ret;
	}
	/*
	 * The message may end in afi_send_go(): @live keeps the operation until
	 * afi_op_start().
	 */
	op->live++;
	ep->domain->more = out->flags & FI_MORE;
	afi_send_go(ep->domain, s, op);
	ep->domain->more = false;
	op->live--;
	afi_op_start(op);
	return 0;
}

/* Sends a message; the domain is locked.  Return: as fi_sendmsg(). */
int afi_push_now(struct afi_ep *ep, const struct afi_out *out)
{
	struct afi_name to;
	size_t len = 0;
	int ret = push_check(ep, out, &len);

	if (!ret)
		ret = afi_av_target(ep->av, out->to, &to);
	return ret ? ret : push_start(ep, &to, out, len);
}

ssize_t afi_push(struct afi_ep *ep, const struct afi_out *out)
{
	int ret;

	afi_lock(ep->domain);
	ret = afi_push_now(ep, out);
	if (ret == -FI_EAGAIN) {
		afi_progress(ep->domain);
		ret = afi_push_now(ep, out);
	}
	if (ret || !(out->flags & FI_MORE))
		afi_ring(ep->domain);
	afi_unlock(ep->domain);
	return ret;
}
