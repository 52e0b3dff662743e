// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Puts and gets: requests on one virtual channel, answers on another.
 *
 * A node answers a request only if the answer can leave at once, and an answer
 * is always taken; so requests wait for answers and answers for nobody.
 */
#include "ang_int.h"

/* May a packet for @dst leave this node? */
static bool may_leave(struct ang_view *v, struct ang_node *n, u32 dst, u32 vc)
{
	u32 dir = ang_topo_route(&v->fab->topo, n->id, dst);

	return dir == ANGARA_DIR_NONE || ang_link_room(v, n, dir, vc, false);
}

static void leave(struct ang_view *v, struct ang_node *n,
		  const struct ang_pkt *p, u32 vc)
{
	u32 dir = ang_topo_route(&v->fab->topo, n->id, p->dst_node);

	ang_link_send(v, n, p, dir, vc, false);
}

static void count_tx(struct ang_view *v, struct ang_node *n,
		     const struct ang_pkt *p)
{
	n->cnt.injected_packets += p->npkts;
	n->cnt.injected_flits += ang_flits(p);
	ang_trace_pkt(v, n, ANG_TR_INJECT, p, ANGARA_DIR_NONE, 0, p->status);
}

static void count_rx(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     const struct ang_pkt *p)
{
	n->cnt.ejected_packets += p->npkts;
	n->cnt.ejected_flits += ang_flits(p);
	n->cnt.hops += (u64)p->hops * p->npkts;
	ang_trace_pkt(v, n, ANG_TR_EJECT, p, ANGARA_DIR_NONE, 0, p->status);
	if (c) {
		c->cnt.rx_packets += p->npkts;
		c->cnt.rx_bytes += p->len;
	}
}

/* End of the way for PUT trains and GET requests. */
static u32 target_access(struct ang_view *v, struct ang_node *n,
			 const struct ang_pkt *p, struct ang_pkt *reply)
{
	struct ang_ctx *c = ang_ctx_get(v, n, p->dst_ctx);
	u32 status = ANGARA_ST_OK;

	count_rx(v, n, c, p);
	if (!c) {
		ang_drop(v, n, p, ANGARA_DROP_TARGET, 0);
		return ANGARA_ST_TARGET;
	}
	if (c->pkey != p->pkey) {
		ang_drop(v, n, p, ANGARA_DROP_PARTITION, 0);
		return ANGARA_ST_PARTITION;
	}
	if (p->len && p->type == ANG_PKT_PUT)
		status = ang_mr_write(v, n, c, p->key, p->off, p->len,
				      ANGARA_ACCESS_REMOTE_WRITE,
				      ang_buf_data(v, p->buf));
	else if (p->len)
		status = ang_mr_read(v, n, c, p->key, p->off, p->len,
				     ANGARA_ACCESS_REMOTE_READ,
				     ang_buf_data(v, reply->buf));
	if (status) {
		c->cnt.rx_errors++;
		ang_drop(v, n, p, ANGARA_DROP_MEMORY, 0);
	} else if (p->flags & ANG_PF_NOTIFY) {
		ang_ctx_count(v, n, c, ANGARA_CTR_USER(p->counter),
			      ++c->user[p->counter]);
	}
	return status;
}

/*
 * A result of a reduce, sent by the root.  The receiver's own contribution is
 * in it, so its operation is under way unless the tree went down.
 */
static void result_eject(struct ang_view *v, struct ang_node *n,
			 const struct ang_pkt *p)
{
	struct ang_ctx *c = ang_ctx_get(v, n, p->dst_ctx);

	if (!c || !(c->joined & 1U << p->tree) || !ang_tree_takes(n, p)) {
		ang_drop(v, n, p, ANGARA_DROP_STALE, 1);
		return;
	}
	count_rx(v, n, c, p);
	ang_result(v, n, c, p);
	ang_buf_put(v, p->buf, 1);
}

static void answer_eject(struct ang_view *v, struct ang_node *n,
			 const struct ang_pkt *p)
{
	struct ang_ctx *c = ang_ctx_get(v, n, p->dst_ctx);
	struct ang_op *op;
	u32 status = p->status;

	if (p->type == ANG_PKT_RESULT) {
		result_eject(v, n, p);
		return;
	}
	op = c && p->slot < v->fab->cfg.ops ? ang_op(v->fab, n, c, p->slot) :
					      NULL;
	if (!op || op->state != ANG_OP_ACTIVE || op->gen != p->gen) {
		ang_drop(v, n, p, ANGARA_DROP_STALE, 1);
		return;
	}
	count_rx(v, n, c, p);
	if (status) {
		ang_op_fail(op, status, p->src_node);
	} else if (p->type == ANG_PKT_DATA && p->len) {
		status = ang_mr_write(v, n, c, op->dst_key, op->dst_off + p->seq,
				      p->len, ANGARA_ACCESS_LOCAL_WRITE,
				      ang_buf_data(v, p->buf));
		if (status)
			ang_op_fail(op, status, n->id);
	}
	if (status)
		ang_op_sent(v, n, c, op);
	else
		op->bytes += p->len;
	ang_buf_put(v, p->buf, 1);
	if (!--op->trains && op->sent_all)
		ang_op_done(v, n, c, op);
}

/* Return: false if the request has to wait, and nothing happened. */
static bool request_eject(struct ang_view *v, struct ang_node *n,
			  const struct ang_pkt *p)
{
	struct ang_pkt reply;

	if (!may_leave(v, n, p->src_node, ANGARA_VC_RSP))
		return false;
	memset(&reply, 0, sizeof(reply));
	if (p->type == ANG_PKT_GET && p->len) {
		reply.buf = ang_buf_get(v, n, ANG_BUF_RSP);
		if (!reply.buf)
			return false;
	}
	reply.type = p->type == ANG_PKT_GET ? ANG_PKT_DATA : ANG_PKT_ACK;
	reply.npkts = 1;
	reply.len = p->len;
	reply.status = (u8)target_access(v, n, p, &reply);
	if (reply.status && reply.buf) {
		ang_buf_put(v, reply.buf, 1);
		reply.buf = 0;
	}
	if (reply.buf)
		reply.npkts = p->npkts;
	reply.src_node = n->id;
	reply.src_ctx = p->dst_ctx;
	reply.dst_node = p->src_node;
	reply.dst_ctx = p->src_ctx;
	reply.slot = p->slot;
	reply.gen = p->gen;
	reply.seq = p->seq;
	reply.pkey = p->pkey;
	ang_buf_put(v, p->buf, 1);
	count_tx(v, n, &reply);
	if (p->src_node == n->id)
		answer_eject(v, n, &reply);
	else
		leave(v, n, &reply, ANGARA_VC_RSP);
	return true;
}

/**
 * ang_p2p_ring() - take the packet at the head of a point-to-point ring
 * @v: view
 * @n: node
 * @dir: link that it came from
 * @vc: ANGARA_VC_REQ or ANGARA_VC_RSP
 *
 * Return: true if it was taken.
 */
bool ang_p2p_ring(struct ang_view *v, struct ang_node *n, u32 dir, u32 vc)
{
	struct ang_pkt *p = ang_ring_head(v, ang_ring(v->fab, n, dir, vc));
	u32 out = ang_topo_route(&v->fab->topo, n->id, p->dst_node);

	if (out != ANGARA_DIR_NONE) {
		if (!ang_link_send(v, n, p, out, vc, ang_straight(dir, out)))
			return false;
	} else if (vc == ANGARA_VC_REQ) {
		if (!request_eject(v, n, p))
			return false;
	} else {
		answer_eject(v, n, p);
	}
	ang_ring_pop(v, n, dir, vc);
	return true;
}

static void p2p_packet(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		       struct ang_op *op, struct ang_pkt *p)
{
	u32 left = op->len - op->sent;
	bool put = op->opcode == ANGARA_OP_PUT;

	ang_op_head(v, n, c, op, p);
	p->type = put ? ANG_PKT_PUT : ANG_PKT_GET;
	p->len = ang_min(left, v->fab->buf_size);
	p->npkts = (u8)ang_packets(p->len);
	p->key = put ? op->dst_key : op->src_key;
	p->off = (put ? op->dst_off : op->src_off) + op->sent;
	p->seq = op->sent;
	if (p->len == left) {
		p->flags = ANG_PF_LAST;
		if (op->flags & ANGARA_WQE_NOTIFY)
			p->flags |= ANG_PF_NOTIFY;
		p->counter = op->counter;
	}
}

/**
 * ang_p2p_inject() - send the next train of a put or get
 * @v: view
 * @n: node
 * @c: context
 * @op: operation with something to send
 *
 * Return: true if it was sent.
 */
bool ang_p2p_inject(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op)
{
	struct ang_pkt p;

	if (!may_leave(v, n, op->dst_node, ANGARA_VC_REQ))
		return false;
	p2p_packet(v, n, c, op, &p);
	if (p.type == ANG_PKT_PUT && !ang_op_payload(v, n, c, op, &p))
		return false;
	if (p.status) {
		ang_op_fail(op, p.status, n->id);
		ang_op_sent(v, n, c, op);
		if (!op->trains)
			ang_op_done(v, n, c, op);
		return true;
	}
	op->trains++;
	op->sent += p.len;
	if (p.flags & ANG_PF_LAST)
		ang_op_sent(v, n, c, op);
	if (op->dst_node == n->id) {
		if (!request_eject(v, n, &p)) {
			/* A get of its own that found no buffer. */
			op->trains--;
			op->sent -= p.len;
			op->sent_all = 0;
			c->p2p_tx |= 1ULL << p.slot;
			return false;
		}
		count_tx(v, n, &p);
	} else {
		count_tx(v, n, &p);
		leave(v, n, &p, ANGARA_VC_REQ);
	}
	c->cnt.tx_packets += p.npkts;
	c->cnt.tx_bytes += p.type == ANG_PKT_PUT ? p.len : 0;
	return true;
}
