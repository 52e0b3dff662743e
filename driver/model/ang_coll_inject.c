// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Injection of collectives: split a context's operations on a tree into trains,
 * in the order in which the context posted them.
 */
#include "ang_int.h"

/**
 * ang_reduce_room() - do the PE's credits allow a train into the Reducer?
 * @v: view
 * @n: node
 * @t: tree
 * @seq: number of the train's first packet
 * @npkts: number of packets of the train
 *
 * If credits are missing and a credit timer runs, the timer of a patient view
 * (ang_view.patient) expires at once, which supplies the credits.
 */
bool ang_reduce_room(struct ang_view *v, struct ang_node *n,
		     const struct ang_tree *t, u32 seq, u32 npkts)
{
	if (ang_reduces_fit(seq, npkts, t->pe_done))
		return true;
	return v->patient && ang_timer_expire(v, n) &&
	       ang_reduces_fit(seq, npkts, t->pe_done);
}

/*
 * Build the next train of a reduction. Return: false if the Reducer has no
 * room.
 */
static bool reduce_packet(struct ang_view *v, struct ang_node *n,
			  const struct ang_tree *t, const struct ang_op *op,
			  struct ang_pkt *p)
{
	u32 seq = op->seq + op->npkts_sent;
	u32 train = ang_min(v->fab->cfg.train, ANG_REDUCE_TRAIN);

	/*
	 * All participants must split a reduction at the same packets, so that
	 * the Reducer can combine their trains.
	 */
	p->npkts = (u8)ang_min(train - seq % train, op->npkts - op->npkts_sent);
	if (!ang_reduce_room(v, n, t, seq, p->npkts))
		return false;
	p->type = op->opcode == ANGARA_OP_REDUCE ? ANG_PKT_REDUCE :
						   ANG_PKT_ALLREDUCE;
	p->seq = seq;
	p->len = ang_min((u32)p->npkts * ANGARA_PACKET_BYTES,
			 op->len - op->sent);
	p->status = op->poison;
	if (op->receives && p->type == ANG_PKT_REDUCE)
		p->off = ANG_TICKET(p->life, op->gen, p->slot);
	return true;
}

static void bcast_packet(struct ang_view *v, const struct ang_op *op,
			 struct ang_pkt *p)
{
	p->type = ANG_PKT_BCAST;
	p->len = ang_min(op->len - op->sent, v->fab->buf_size);
	p->npkts = (u8)ang_packets(p->len);
	p->key = op->rkey;
	p->off = op->roff + op->sent;
	p->seq = op->sent;
}

/*
 * Turn a train into the last one of a broadcast that fails: earlier trains may
 * have arrived, so the last train is sent, too, and carries the error.
 */
static void bcast_cut_short(struct ang_pkt *p)
{
	p->len = 0;
	p->npkts = 1;
	p->flags |= ANG_PF_LAST;
}

/** ang_coll_count() - count a train that a context injects into a tree */
void ang_coll_count(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct ang_pkt *p)
{
	n->cnt.injected_packets += p->npkts;
	n->cnt.injected_flits += ang_flits(p);
	c->cnt.tx_packets += p->npkts;
	c->cnt.tx_bytes += p->len;
	ang_trace_pkt(v, n, ANG_TR_INJECT, p, ANGARA_PORT_NONE, 0, p->status);
}

static void coll_sent(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      struct ang_op *op, const struct ang_pkt *p)
{
	ang_coll_count(v, n, c, p);
	op->sent += p->len;
	op->npkts_sent += p->npkts;
	if (!(p->flags & ANG_PF_LAST))
		return;
	ang_op_sent(v, n, c, op);
	if (op->opcode != ANGARA_OP_REDUCE || op->receives)
		return;
	op->bytes = op->status ? 0 : op->len;
	ang_op_done(v, n, c, op);
}

/**
 * ang_coll_inject() - inject the next train of a context in a tree
 * @v: view
 * @n: node
 * @c: context with data to inject on that tree
 * @tree: TreeId
 *
 * Return: true if something was done.
 */
bool ang_coll_inject(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     u32 tree)
{
	const struct ang_tree *t = &n->tree[tree];
	struct ang_op *op = ang_op(n, c, c->member[tree].first - 1U);
	struct ang_pkt *p = ang_fifo_place(n, ANG_FIFO_PE);

	if (!t->open || !ang_fifo_room(n, ANG_FIFO_PE))
		return false;
	ang_op_head(v, n, c, op, p);
	p->life = t->life;
	p->job = t->job;
	if (op->opcode == ANGARA_OP_BCAST)
		bcast_packet(v, op, p);
	else if (!reduce_packet(v, n, t, op, p))
		return false;
	if (!ang_op_payload(v, n, c, op, p))
		return false;
	if (p->status)
		ang_op_fail(op, p->status, n->id);
	if (p->status && op->opcode == ANGARA_OP_BCAST)
		bcast_cut_short(p);
	else if (op->opcode == ANGARA_OP_BCAST ?
		 op->sent + p->len == op->len :
		 op->npkts_sent + p->npkts == op->npkts)
		p->flags |= ANG_PF_LAST;
	n->fifo[ANG_FIFO_PE].tail++;
	coll_sent(v, n, c, op, p);
	return true;
}
