// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages, at the sender.
 *
 * Between two contexts, one message is in flight at a time, and later messages
 * wait in a queue behind it (ang_op.next), so no message overtakes a message
 * that was refused. Queues for different receivers are independent.
 *
 * The first train of a message requests room. If it is refused, the message
 * waits here for the receiver's READY, then its first train is sent again. The
 * answer to the first train contains the place of the record; then the later
 * trains are sent.
 *
 * A receiver that has reserved room, or given a node the turn, waits for the
 * rest of the message or for its abort. If the sending context is destroyed
 * meanwhile, its operation remains in state ANG_OP_GHOST: the operation keeps
 * only its slot, sends an abort of the message to the receiver, and is freed
 * when the answer arrives.
 */
#include "ang_int.h"

static u64 op_bit(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		  const struct ang_op *op)
{
	return 1ULL << ang_op_slot(n, c, op);
}

static void op_go(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		  struct ang_op *op)
{
	c->p2p_tx |= op_bit(v, n, c, op);
	ang_set_bit(n->tx, c->id);
}

/** ang_send_start() - append a message to the queue of its receiver */
void ang_send_start(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op)
{
	u32 slot = ang_op_slot(n, c, op);
	u64 set;

	op->sink_key = c->pkey;
	op->rkey = c->job;
	for (set = c->sends; set; set &= set - 1) {
		struct ang_op *o = ang_op(n, c, ang_lowest(set));

		ang_work(v, ANG_WORK_LOOK);
		if (!o->next && o->dst_node == op->dst_node &&
		    o->dst_ctx == op->dst_ctx) {
			o->next = (u16)(slot + 1);
			break;
		}
	}
	c->sends |= 1ULL << slot;
	if (!set)
		c->p2p_tx |= 1ULL << slot;
}

/*
 * ang_send_end() - remove a message from its queue; if it was the first, start
 * the next message
 */
void ang_send_end(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		  struct ang_op *op)
{
	u32 slot = ang_op_slot(n, c, op);
	u64 set;

	c->sends &= ~(1ULL << slot);
	for (set = c->sends; set; set &= set - 1) {
		struct ang_op *o = ang_op(n, c, ang_lowest(set));

		ang_work(v, ANG_WORK_LOOK);
		if (o->next == slot + 1) {
			o->next = op->next;
			return;
		}
	}
	if (op->next)
		op_go(v, n, c, ang_op(n, c, op->next - 1U));
}

/*
 * Fill in a train of a message.  Return: false: no payload buffer is free now.
 */
static bool train_fill(struct ang_view *v, struct ang_node *n,
		       struct ang_ctx *c, struct ang_op *op, struct ang_pkt *p)
{
	u32 head = op->phase == ANG_SEND_START ? ANG_SEND_HEAD : 0;
	u32 len = ang_min(op->len - op->sent, v->fab->buf_size - head);
	__le64 words[2] = { cpu_to_le64(op->roff), cpu_to_le64(op->sink_off) };
	u32 status = ANGARA_ST_OK;
	char *to;

	p->buf = ang_buf_get(v, n, ANG_BUF_REQ);
	if (!p->buf)
		return false;
	to = ang_buf_data(v, p->buf);
	memcpy(to, words, head);
	if (op->inl)
		memcpy(to + head, ang_inline(v->fab, n, c, op) + op->sent,
		       len);
	else if (len)
		status = ang_mr_give(v, n, c, op->lkey,
				     op->loff + op->sent, len, to + head);
	if (status) {
		ang_buf_put(v, p->buf, 1);
		p->buf = 0;
		p->status = (u8)status;
		return true;
	}
	p->len = head + len;
	if (len == op->len - op->sent)
		p->flags |= ANG_PF_LAST;
	return true;
}

/* Build the next train of a message.  Return: false if it has to wait. */
static bool train_make(struct ang_view *v, struct ang_node *n,
		       struct ang_ctx *c, struct ang_op *op, struct ang_pkt *p)
{
	ang_op_head(v, n, c, op, p);
	p->type = ANG_PKT_SEND;
	p->pkey = op->sink_key;
	p->job = op->rkey;
	p->key = op->len;
	p->counter = op->counter;
	p->life = op->life;
	p->bytes = op->era;
	p->off = op->place;
	p->seq = op->sent;
	if (op->turn)
		p->flags = ANG_PF_TURN;
	if (op->state == ANG_OP_GHOST)
		p->status = ANGARA_ST_TARGET;
	else if (!train_fill(v, n, c, op, p))
		return false;
	if (p->status)
		p->flags |= ANG_PF_LAST;
	p->npkts = (u8)ang_packets(p->len);
	return true;
}

/**
 * ang_send_inject() - send the next train of a message
 * @v: view
 * @n: node
 * @c: context
 * @op: message with data to send
 *
 * Return: true if a train was sent.
 */
bool ang_send_inject(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_op *op)
{
	bool first = op->phase == ANG_SEND_START;
	struct ang_pkt p;
	u32 dir;

	if (!ang_may_leave(v, n, op->dst_node, ANGARA_VC_REQ, &dir) ||
	    !train_make(v, n, c, op, &p))
		return false;
	if (p.status)
		ang_op_fail(op, p.status, n->id);
	op->sent_all = !!(p.flags & ANG_PF_LAST);
	if (first || op->sent_all)
		c->p2p_tx &= ~op_bit(v, n, c, op);
	if (p.status && first && !op->turn) {
		/* The receiver has received no part of the message. */
		ang_op_done(v, n, c, op);
		return true;
	}
	op->trains++;
	op->sent += p.buf ? p.len - (first ? ANG_SEND_HEAD : 0) : 0;
	op->turn = 0;
	if (first)
		op->phase = ANG_SEND_ASKED;
	c->cnt.tx_packets += p.npkts;
	c->cnt.tx_bytes += p.len;
	ang_request(v, n, &p, dir);
	return true;
}

static void op_refused(struct ang_node *n, struct ang_op *op,
		       const struct ang_pkt *p)
{
	op->phase = ANG_SEND_WAITS;
	op->sent = 0;
	op->sent_all = 0;
	op->life = (u16)p->life;
	if (!op->since && !++n->refused)
		n->refused++;
	if (!op->since)
		op->since = n->refused;
}

/**
 * ang_send_answer() - handle the answer to a train of a message
 * @v: view
 * @n: node
 * @c: context; it may have been destroyed
 * @op: message
 * @p: answer
 */
void ang_send_answer(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_op *op, const struct ang_pkt *p)
{
	bool ghost = op->state == ANG_OP_GHOST;

	op->trains--;
	if (p->type == ANG_PKT_RNR && !ghost) {
		op_refused(n, op, p);
		return;
	}
	if (p->status || p->type == ANG_PKT_RNR) {
		ang_op_fail(op, p->status, p->src_node);
		op->sent_all = 1;
		c->p2p_tx &= ~op_bit(v, n, c, op);
	} else if (!op->sent_all && op->phase == ANG_SEND_ASKED) {
		op->phase = ANG_SEND_REST;
		op->place = (u32)p->off;
		op_go(v, n, c, op);
	}
	if (op->trains || !op->sent_all)
		return;
	op->bytes = op->status ? 0 : op->len;
	if (ghost)
		ang_op_free(v, n, c, op);
	else
		ang_op_done(v, n, c, op);
}

/**
 * ang_send_ready() - handle a READY: a receiver has room for a message of this
 * node
 * @v: view
 * @n: node
 * @p: the READY
 * @reply: answer; gets @len and @flags
 *
 * Sends the message that has waited longest for this receiver. A message whose
 * answer is still in flight may have been refused, too: the answer to the READY
 * counts it as waiting, so that the receiver sends another READY.
 */
void ang_send_ready(struct ang_view *v, struct ang_node *n,
		    const struct ang_pkt *p, struct ang_pkt *reply)
{
	struct ang_op *best = NULL;
	struct ang_ctx *whose = NULL;
	u32 others = 0;
	u32 ctx;

	for (ctx = 0; ctx < v->fab->cfg.ctxs; ctx++) {
		struct ang_ctx *c = ang_ctx(v->fab, n, ctx);
		u64 set;

		ang_work(v, ANG_WORK_LOOK);
		for (set = c->alive ? c->sends : 0; set; set &= set - 1) {
			struct ang_op *op = ang_op(n, c,
						   ang_lowest(set));

			ang_work(v, ANG_WORK_LOOK);
			if (op->dst_node != p->src_node ||
			    op->dst_ctx != p->src_ctx ||
			    (op->phase != ANG_SEND_WAITS &&
			     op->phase != ANG_SEND_ASKED))
				continue;
			others++;
			if (op->phase == ANG_SEND_ASKED ||
			    (best && (s32)(op->since - best->since) > 0))
				continue;
			best = op;
			whose = c;
		}
	}
	reply->len = best ? 1 : 0;
	reply->flags = others > reply->len ? ANG_PF_MORE : 0;
	if (!best)
		return;
	best->phase = ANG_SEND_START;
	best->turn = 1;
	op_go(v, n, whose, best);
}

/**
 * ang_send_ghost() - keep an operation as a ghost when its context is destroyed
 * @v: view
 * @n: node
 * @c: context
 * @op: operation
 *
 * Return: true if the operation becomes a ghost, since the receiver waits for the
 * end of the message; false: the caller frees the operation.
 */
bool ang_send_ghost(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op)
{
	if (op->opcode != ANGARA_OP_SEND || op->sent_all)
		return false;
	if (op->phase == ANG_SEND_WAITS ||
	    (op->phase == ANG_SEND_START && !op->turn))
		return false;
	op->state = ANG_OP_GHOST;
	op->inl = 0;
	c->ghosts |= op_bit(v, n, c, op);
	return true;
}
