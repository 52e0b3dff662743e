// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Puts, gets, messages, atomics: requests on one virtual channel, answers on
 * another.
 *
 * A node executes a request only if the answer can leave at once.  A node
 * always takes an answer.  So requests may wait for answers, but answers never
 * wait for requests.
 */
#include "ang_int.h"

/*
 * Return: link by which a packet to @dst leaves; ANGARA_PORT_NONE: @n is @dst.
 */
static u32 request_way(struct ang_view *v, struct ang_node *n, u32 dst)
{
	return dst == n->id ? ANGARA_PORT_NONE :
			      ang_route(v, n->id, dst);
}

/**
 * ang_may_leave() - may a packet leave this node?
 * @v: view
 * @n: node
 * @dst: destination of the packet
 * @vc: virtual channel
 * @dir: out: link by which it leaves, ANGARA_PORT_NONE if it is for this node
 *
 * Return: true; false if it has to wait: for room, or for new routes.
 */
bool ang_may_leave(struct ang_view *v, struct ang_node *n, u32 dst, u32 vc,
		   u32 *dir)
{
	/* Read the halt before the route: it ends when the routes have changed. */
	bool halted = vc == ANGARA_VC_REQ && ang_halted(v);

	*dir = request_way(v, n, dst);
	if (*dir == ANGARA_PORT_NONE)
		return dst == n->id;
	return !halted && ang_link_room(v, n, ANGARA_PORT_NONE, *dir, vc);
}

static void count_tx(struct ang_view *v, struct ang_node *n,
		     const struct ang_pkt *p)
{
	n->cnt.injected_packets += p->npkts;
	n->cnt.injected_flits += ang_flits(p);
	ang_trace_pkt(v, n, ANG_TR_INJECT, p, ANGARA_PORT_NONE, 0, p->status);
}

static void count_rx(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     const struct ang_pkt *p)
{
	n->cnt.ejected_packets += p->npkts;
	n->cnt.ejected_flits += ang_flits(p);
	n->cnt.hops += (u64)p->hops * p->npkts;
	ang_trace_pkt(v, n, ANG_TR_EJECT, p, ANGARA_PORT_NONE, 0, p->status);
	if (c) {
		c->cnt.rx_packets += p->npkts;
		c->cnt.rx_bytes += p->len;
	}
}

/* Execute a request on a context's memory. */
static u32 request_do(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      const struct ang_pkt *p, struct ang_pkt *reply)
{
	switch (p->type) {
	case ANG_PKT_PUT:
		if (!p->len)
			return ANGARA_ST_OK;
		return ang_mr_write(v, n, c, p->key, p->off, p->len,
				    ang_buf_data(v, p->buf));
	case ANG_PKT_GET:
		if (!p->len)
			return ANGARA_ST_OK;
		return ang_mr_read(v, n, c, p->key, p->off, p->len,
				   ang_buf_data(v, reply->buf));
	case ANG_PKT_SEND:
		return ang_msg_take(v, n, c, p, reply);
	default:
		return ang_atomic_take(v, n, c, p, reply);
	}
}

/* Execute a PUT train, GET, message or atomic at its destination. */
static u32 target_access(struct ang_view *v, struct ang_node *n,
			 const struct ang_pkt *p, struct ang_pkt *reply)
{
	struct ang_ctx *c = ang_ctx_get(v, n, p->dst_ctx);
	u32 status;

	count_rx(v, n, c, p);
	if (!c) {
		ang_drop(v, n, p, ANGARA_DROP_TARGET, 0);
		return ANGARA_ST_TARGET;
	}
	/*
	 * A sender may always abort a message, even if a new context of another
	 * partition or job now has this number.
	 */
	if (!ang_ctx_serves(c, p->pkey, p->job) &&
	    !(p->type == ANG_PKT_SEND && p->status)) {
		ang_drop(v, n, p, ANGARA_DROP_PARTITION, 0);
		return ANGARA_ST_PARTITION;
	}
	status = request_do(v, n, c, p, reply);
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
 * Is @p an answer that @op waits for?  An untrusted peer may have forged it.
 */
static bool answer_matches(const struct ang_pkt *p, const struct ang_op *op)
{
	if (op->state == ANG_OP_FREE || op->gen != p->gen || !op->trains ||
	    p->src_node != op->dst_node)
		return false;
	switch (p->type) {
	case ANG_PKT_ACK:
		return true;
	case ANG_PKT_RNR:
		return op->opcode == ANGARA_OP_SEND &&
		       op->phase == ANG_SEND_ASKED;
	default:
		return ang_returns_data(op->opcode) &&
		       (u64)p->seq + p->len <= op->len;
	}
}

/*
 * Find the operation that an answer is for.  Its context may have been
 * destroyed: then the operation may be in state ANG_OP_GHOST.
 */
static struct ang_op *answer_op(struct ang_view *v, struct ang_node *n,
				const struct ang_pkt *p)
{
	struct ang_op *op;

	if (p->dst_ctx >= v->fab->cfg.ctxs || p->slot >= v->fab->cfg.ops)
		return NULL;
	op = ang_op(n, ang_ctx(v->fab, n, p->dst_ctx), p->slot);
	return answer_matches(p, op) ? op : NULL;
}

/** ang_answer_eject() - take an answer at its destination */
void ang_answer_eject(struct ang_view *v, struct ang_node *n,
		      const struct ang_pkt *p)
{
	struct ang_ctx *c;
	struct ang_op *op;
	u32 status = p->status;

	if (p->type == ANG_PKT_RESULT) {
		count_rx(v, n, NULL, p);
		ang_result_arrive(v, n, p);
		return;
	}
	if (p->type == ANG_PKT_READY_ACK) {
		count_rx(v, n, NULL, p);
		ang_msg_ready_ack(v, n, p);
		return;
	}
	op = answer_op(v, n, p);
	if (!op) {
		ang_drop(v, n, p, ANGARA_DROP_STALE, 1);
		return;
	}
	c = ang_ctx(v->fab, n, p->dst_ctx);
	count_rx(v, n, c, p);
	if (op->opcode == ANGARA_OP_SEND) {
		ang_send_answer(v, n, c, op, p);
		return;
	}
	if (status) {
		ang_op_fail(op, status, p->src_node);
	} else if (p->type == ANG_PKT_DATA && p->len) {
		status = ang_mr_keep(v, n, c, op->sink_key, op->sink_off + p->seq,
				     p->len, ang_buf_data(v, p->buf));
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

/* Does the answer to a request carry data? */
static bool wants_data(const struct ang_pkt *p)
{
	return p->type == ANG_PKT_GET ||
	       (p->type == ANG_PKT_ATOMIC && p->flags & ANG_PF_FETCH);
}

/*
 * Is a buffer for an answer free?  It stays free: only the node's holder takes
 * buffers.
 */
static bool may_answer(struct ang_view *v, struct ang_node *n)
{
	u64 buf = ang_buf_get(v, n, ANG_BUF_RSP);

	ang_buf_put(v, buf, 1);
	return buf;
}

/** ang_may_serve() - can ang_request_serve() succeed now? */
bool ang_may_serve(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p)
{
	return !wants_data(p) || may_answer(v, n);
}

/**
 * ang_request_serve() - execute a request for this node
 * @v: view
 * @n: node
 * @p: request
 * @reply: out: answer to @p, counted as injected
 *
 * Return: true; false if the request has to wait; then nothing was changed.
 */
bool ang_request_serve(struct ang_view *v, struct ang_node *n,
		       const struct ang_pkt *p, struct ang_pkt *reply)
{
	bool data = wants_data(p);

	memset(reply, 0, sizeof(*reply));
	reply->len = p->type == ANG_PKT_ATOMIC ? p->bytes : p->len;
	if (data && reply->len) {
		reply->buf = ang_buf_get(v, n, ANG_BUF_RSP);
		if (!reply->buf)
			return false;
	}
	reply->type = data ? ANG_PKT_DATA : ANG_PKT_ACK;
	reply->npkts = 1;
	if (p->type == ANG_PKT_READY) {
		count_rx(v, n, NULL, p);
		reply->type = ANG_PKT_READY_ACK;
		reply->life = p->life;
		ang_send_ready(v, n, p, reply);
	} else {
		reply->status = (u8)target_access(v, n, p, reply);
	}
	if (reply->status && reply->buf) {
		ang_buf_put(v, reply->buf, 1);
		reply->buf = 0;
	}
	if (reply->buf)
		reply->npkts = (u8)ang_packets(reply->len);
	reply->src_node = n->id;
	reply->src_ctx = p->dst_ctx;
	reply->dst_node = p->src_node;
	reply->dst_ctx = p->src_ctx;
	reply->slot = p->slot;
	reply->gen = p->gen;
	reply->seq = p->seq;
	reply->bytes = *ang_pkt_era((struct ang_pkt *)p);
	reply->job = p->job;
	reply->pkey = p->pkey;
	ang_buf_put(v, p->buf, 1);
	count_tx(v, n, reply);
	return true;
}

/*
 * Execute a request and send the answer.  Return: false if the request has to
 * wait; then nothing was changed.
 */
static bool request_eject(struct ang_view *v, struct ang_node *n,
			  const struct ang_pkt *p)
{
	struct ang_pkt reply;
	u32 dir;

	if (!ang_may_leave(v, n, p->src_node, ANGARA_VC_RSP, &dir)) {
		if (dir != ANGARA_PORT_NONE)
			return false;
		/* Routes have changed: there is none for the answer. */
		ang_drop(v, n, p, ANGARA_DROP_LINK, 1);
		return true;
	}
	if (!ang_request_serve(v, n, p, &reply))
		return false;
	if (dir == ANGARA_PORT_NONE)
		ang_answer_eject(v, n, &reply);
	else
		ang_link_put(v, n, &reply, dir, ANGARA_VC_RSP);
	return true;
}

/**
 * ang_request() - send a request, or serve it at once if it is for this node
 * @v: view
 * @n: node
 * @p: request that ang_may_leave() accepts; if this node has to answer with
 *	data, a buffer for the answer must be free
 * @dir: link by which it leaves, from ang_may_leave()
 */
void ang_request(struct ang_view *v, struct ang_node *n, struct ang_pkt *p,
		 u32 dir)
{
	if (dir == ANGARA_PORT_NONE) {
		request_eject(v, n, p);
		count_tx(v, n, p);
	} else {
		count_tx(v, n, p);
		if (!v->express || !ang_express(v, n, p, dir))
			ang_link_put(v, n, p, dir, ANGARA_VC_REQ);
	}
}

/*
 * Forward a packet of ring @dir, @vc by link @out.  Return: false if there is
 * no room.
 */
static bool pass_on(struct ang_view *v, struct ang_node *n,
		    const struct ang_pkt *p, u32 dir, u32 vc, u32 out)
{
	if (!ang_link_room(v, n, dir, out, vc))
		return false;
	ang_pass_note(v, n, dir, vc, out);
	ang_link_put(v, n, p, out, vc);
	return true;
}

/**
 * ang_p2p_ring() - take the packet at the head of a point-to-point ring
 * @v: view
 * @n: node
 * @r: ring, which is not empty
 * @dir: link that the ring belongs to
 * @vc: ANGARA_VC_REQ or ANGARA_VC_RSP
 *
 * Return: true if the packet was taken.
 */
bool ang_p2p_ring(struct ang_view *v, struct ang_node *n, struct ang_ring *r,
		  u32 dir, u32 vc)
{
	struct ang_pkt *p = ang_ring_at_head(v, r);
	u32 out;

	if (p->type == ANG_PKT_VOID) {
		ang_ring_pop(v, n, r, dir);
		return true;
	}
	out = request_way(v, n, p->dst_node);
	if (out != ANGARA_PORT_NONE) {
		if (!pass_on(v, n, p, dir, vc, out))
			return false;
	} else if (p->dst_node != n->id) {
		/* Routes have changed: none leads to the destination now. */
		ang_drop(v, n, p, ANGARA_DROP_LINK, 1);
	} else if (vc == ANGARA_VC_REQ ? ang_lost_request(v, n, p) :
					 ang_lost_answer(v, p)) {
		ang_drop(v, n, p, ANGARA_DROP_STALE, 1);
	} else if (vc == ANGARA_VC_REQ) {
		if (!request_eject(v, n, p))
			return false;
	} else {
		ang_answer_eject(v, n, p);
	}
	ang_ring_pop(v, n, r, dir);
	return true;
}

static void atomic_packet(struct ang_view *v, struct ang_node *n,
			  struct ang_ctx *c, struct ang_op *op,
			  struct ang_pkt *p)
{
	ang_op_head(v, n, c, op, p);
	p->type = ANG_PKT_ATOMIC;
	p->life = op->era;
	p->flags = ANG_PF_LAST;
	if (op->opcode == ANGARA_OP_FETCH)
		p->flags |= ANG_PF_FETCH;
	if (op->flags & ANGARA_WQE_NOTIFY)
		p->flags |= ANG_PF_NOTIFY;
	p->counter = op->counter;
	p->bytes = op->len;
	p->len = op->len * ang_atomic_operands(op->redop);
	p->npkts = 1;
	p->key = op->rkey;
	p->off = op->roff;
}

static void p2p_packet(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		       struct ang_op *op, struct ang_pkt *p)
{
	u32 left = op->len - op->sent;
	bool put = op->opcode == ANGARA_OP_PUT;

	ang_op_head(v, n, c, op, p);
	p->type = put ? ANG_PKT_PUT : ANG_PKT_GET;
	p->life = op->era;
	p->len = ang_min(left, v->fab->buf_size);
	p->npkts = (u8)ang_packets(p->len);
	p->key = op->rkey;
	p->off = op->roff + op->sent;
	p->seq = op->sent;
	if (p->len == left) {
		p->flags = ANG_PF_LAST;
		if (op->flags & ANGARA_WQE_NOTIFY)
			p->flags |= ANG_PF_NOTIFY;
		p->counter = op->counter;
	}
}

/* Send the next train of an operation.  Return: true if it was sent. */
static bool train_inject(struct ang_view *v, struct ang_node *n,
			 struct ang_ctx *c, struct ang_op *op)
{
	struct ang_pkt p;
	u32 dir;

	if (op->opcode == ANGARA_OP_SEND)
		return ang_send_inject(v, n, c, op);
	if (!ang_may_leave(v, n, op->dst_node, ANGARA_VC_REQ, &dir))
		return false;
	if (op->opcode <= ANGARA_OP_GET)
		p2p_packet(v, n, c, op, &p);
	else
		atomic_packet(v, n, c, op, &p);
	/*
	 * Check for a buffer for the answer first: the payload, once it is read,
	 * cannot be put back.
	 */
	if (wants_data(&p) && op->dst_node == n->id && !may_answer(v, n))
		return false;
	if (p.type != ANG_PKT_GET && !ang_op_payload(v, n, c, op, &p))
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
	ang_request(v, n, &p, dir);
	c->cnt.tx_packets += p.npkts;
	c->cnt.tx_bytes += p.type == ANG_PKT_GET ? 0 : p.len;
	return true;
}

/**
 * ang_p2p_express() - send trains of an operation, bypassing links
 * @v: view
 * @n: node
 * @c: context
 * @op: operation with data to send
 *
 * Sends until the operation has no more data, or the step's work is used up.
 * If another view takes the target meanwhile, the next train uses links, and
 * this function returns.
 *
 * Return: true if a train was sent.
 */
bool ang_p2p_express(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_op *op)
{
	u64 bit = 1ULL << ang_op_slot(n, c, op);
	bool any = false;

	v->express = true;
	while (c->p2p_tx & bit && ang_express_may(v, n, c, op) &&
	       train_inject(v, n, c, op)) {
		any = true;
		if (ang_spent(v))
			break;
	}
	v->express = false;
	return any;
}

/**
 * ang_p2p_inject() - send the next train of a point-to-point operation
 * @v: view
 * @n: node
 * @c: context
 * @op: operation with data to send
 *
 * Return: true if a train was sent.
 */
bool ang_p2p_inject(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op)
{
	return ang_p2p_express(v, n, c, op) || train_inject(v, n, c, op);
}
