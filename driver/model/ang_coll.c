// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * VCUp, VCDown and the Broadcaster (document 000, sections 3.1, 3.2, 3.5).
 *
 * Down: a packet goes to all children, then to the node's PE.  Up: requests for
 * broadcasts go to the root, reductions into the Reducer.  Packets that the PE
 * injects pass a PEGroup FIFO in order, so a barrier never overtakes the
 * broadcasts that were started before it.
 *
 * Packets that a root distributes have a FIFO of their own, the root FIFO: they
 * wait for VCDown only, while packets from the PE may wait for VCUp.  With a
 * single FIFO, two roots that send each other requests could wait for each
 * other for ever.  The root's own broadcasts pass the root FIFO, too, or leave
 * while it is empty (ang_cast.c), so all participants receive the broadcasts of a
 * tree in the same order.
 */
#include "ang_int.h"

/*
 * Is @p the next part of the result that @op waits for?  It must be a result of
 * packets that this context has injected, and match their length.
 */
static bool result_next(const struct ang_op *op, const struct ang_pkt *p)
{
	u32 type = op->opcode == ANGARA_OP_REDUCE ? ANG_PKT_RESULT :
						    ANG_PKT_ALLREDUCE;
	u32 left = op->len - op->npkts_done * ANGARA_PACKET_BYTES;

	return op->receives && p->type == type &&
	       p->seq == op->seq + op->npkts_done &&
	       p->npkts <= op->npkts_sent - op->npkts_done &&
	       p->len == ang_min(left, p->npkts * ANGARA_PACKET_BYTES) &&
	       p->dtype == op->type && p->redop == op->redop;
}

static void result_take(struct ang_view *v, struct ang_node *n,
			struct ang_ctx *c, struct ang_op *op,
			const struct ang_pkt *p)
{
	u32 at = op->npkts_done * ANGARA_PACKET_BYTES;
	u32 status = p->status;
	u32 culprit = p->src_node;

	c->cnt.rx_packets += p->npkts;
	c->cnt.rx_bytes += p->len;
	if (!status && !op->status && p->len) {
		culprit = n->id;
		status = ang_mr_keep(v, n, c, op->sink_key, op->sink_off + at,
				     p->len, ang_buf_data(v, p->buf));
	}
	if (status)
		ang_op_fail(op, status, culprit);
	else if (!op->status)
		op->bytes += p->len;
	op->npkts_done += p->npkts;
	if (op->npkts_done >= op->npkts)
		ang_op_done(v, n, c, op);
}

/* Return: the oldest unfinished allreduce of a context in a tree, or NULL. */
static struct ang_op *result_first(struct ang_view *v, struct ang_node *n,
				   struct ang_ctx *c, u32 tree)
{
	struct ang_op *first = NULL;
	u64 set;

	for (set = c->member[tree].ops; set; set &= set - 1) {
		struct ang_op *op = ang_op(n, c, ang_lowest(set));

		ang_work(v, ANG_WORK_LOOK);
		if (op->opcode == ANGARA_OP_ALLREDUCE &&
		    (!first || (s32)(op->seq - first->seq) < 0))
			first = op;
	}
	return first;
}

/*
 * Give the result of an allreduce to a participant.  Results come in order, and
 * every participant of this node has contributed to the packets that the node
 * sent up.  So if the participant does not wait for the result, the parent has
 * forged it: take the tree down.
 */
static void result_down(struct ang_view *v, struct ang_node *n,
			struct ang_ctx *c, const struct ang_pkt *p, u32 in)
{
	u32 parent = in == ANGARA_PORT_NONE ? n->id : ang_port(v->fab, n, in)->peer;
	struct ang_op *op = result_first(v, n, c, p->tree);

	if (op && result_next(op, p)) {
		result_take(v, n, c, op, p);
		return;
	}
	ang_drop(v, n, p, ANGARA_DROP_ORDER, 0);
	ang_tree_down(v, n, p->tree, ANGARA_ST_MISMATCH, parent, 0);
}

/* Return: the operation that a packet names; NULL if there is no such operation now. */
static struct ang_op *op_named(struct ang_view *v, struct ang_node *n,
			       const struct ang_pkt *p, u32 ctx, u32 opcode)
{
	struct ang_ctx *c = ang_ctx_get(v, n, ctx);
	struct ang_op *op;

	if (!c || p->slot >= v->fab->cfg.ops)
		return NULL;
	op = ang_op(n, c, p->slot);
	return op->state == ANG_OP_ACTIVE && op->gen == p->gen &&
	       op->opcode == opcode && op->tree == p->tree ? op : NULL;
}

/**
 * ang_result_p2p() - give the result of a REDUCE to its receiver at this node
 * @v: view
 * @n: node
 * @p: result; the caller's payload reference passes to this function
 *
 * The result includes the receiver's own contribution, so the receiver's
 * operation is pending unless the tree went down or the result is forged.
 */
void ang_result_p2p(struct ang_view *v, struct ang_node *n,
		    const struct ang_pkt *p)
{
	struct ang_op *op = NULL;

	if (ang_tree_takes(n, p))
		op = op_named(v, n, p, p->dst_ctx, ANGARA_OP_REDUCE);
	if (!op || !result_next(op, p)) {
		ang_drop(v, n, p, ANGARA_DROP_STALE, 1);
		return;
	}
	result_take(v, n, ang_ctx(v->fab, n, p->dst_ctx), op, p);
	ang_buf_put(v, p->buf, 1);
}

/**
 * ang_result_arrive() - take the result of a REDUCE that arrives over a link
 * @v: view
 * @n: node
 * @p: result; the caller's payload reference passes to this function
 *
 * The root has a result only after this node has sent its contribution up: an
 * earlier packet is forged, and is dropped.
 */
void ang_result_arrive(struct ang_view *v, struct ang_node *n,
		       const struct ang_pkt *p)
{
	const struct ang_tree *t = &n->tree[p->tree];

	if (ang_tree_takes(n, p) &&
	    (t->row.is_root || t->row.pkey != p->pkey || t->job != p->job ||
	     (s32)(t->done - p->seq) < p->npkts))
		ang_drop(v, n, p, ANGARA_DROP_ORDER, 1);
	else
		ang_result_p2p(v, n, p);
}

/*
 * Is @p the next train that @op, a broadcast, has to receive of its own data?
 */
static bool bcast_next(const struct ang_op *op, const struct ang_pkt *p)
{
	u32 behind = op->npkts_done + p->npkts;
	bool last = p->flags & ANG_PF_LAST;

	return p->seq == op->npkts_done * ANGARA_PACKET_BYTES &&
	       behind <= op->npkts_sent &&
	       last == (op->sent_all && behind == op->npkts_sent);
}

/**
 * ang_bcast_store() - store a train of a broadcast for a participant
 * @v: view
 * @n: node
 * @c: participant
 * @p: train
 *
 * Return: ANGARA_ST_*.
 */
u32 ang_bcast_store(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct ang_pkt *p)
{
	c->cnt.rx_packets += p->npkts;
	c->cnt.rx_bytes += p->len;
	if (!p->len || p->status)
		return p->status;
	return ang_mr_write(v, n, c, p->key, p->off, p->len,
			    ang_buf_data(v, p->buf));
}

/** ang_bcast_count() - count a broadcast that a participant has received */
void ang_bcast_count(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     u32 tree)
{
	ang_ctx_count(v, n, c, ANGARA_CTR_BCAST(tree), ++c->bcasts[tree]);
}

static void bcast_arrive(struct ang_view *v, struct ang_node *n,
			 struct ang_ctx *c, const struct ang_pkt *p,
			 struct ang_op *op)
{
	u32 status = ang_bcast_store(v, n, c, p);

	if (op && status)
		ang_op_fail(op, status, n->id);
	else if (op)
		op->bytes += p->len;
	else if (status)
		ang_ctx_rx_error(v, n, c, p->tree, status);
	if (op)
		op->npkts_done += p->npkts;
	if (!(p->flags & ANG_PF_LAST))
		return;
	ang_bcast_count(v, n, c, p->tree);
	if (op)
		ang_op_done(v, n, c, op);
}

static void bcast_eject(struct ang_view *v, struct ang_node *n,
			const struct ang_pkt *p, const struct ang_ctx *but)
{
	struct ang_tree *t = &n->tree[p->tree];
	struct ang_op *op = NULL;
	u32 i;

	if (p->src_node == n->id && !but) {
		op = op_named(v, n, p, p->src_ctx, ANGARA_OP_BCAST);
		if (!op || !bcast_next(op, p)) {
			ang_drop(v, n, p, ANGARA_DROP_ORDER, 0);
			return;
		}
	}
	for (i = 0; i < t->members; i++) {
		struct ang_ctx *c = ang_ctx(v->fab, n, t->member[i]);

		ang_work(v, ANG_WORK_PKT);
		if (c != but)
			bcast_arrive(v, n, c, p,
				     op && c->id == p->src_ctx ? op : NULL);
	}
}

/**
 * ang_eject() - deliver a packet to the participants of a node
 * @v: view
 * @n: node
 * @p: packet; the caller keeps its payload reference
 * @in: link by which it arrived, ANGARA_PORT_NONE if the node sent it itself
 * @but: participant to skip, to which the caller gives the packet; or NULL
 */
void ang_eject(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p,
	       u32 in, const struct ang_ctx *but)
{
	struct ang_tree *t = &n->tree[p->tree];
	u32 i;

	n->cnt.ejected_packets += p->npkts;
	n->cnt.ejected_flits += ang_flits(p);
	n->cnt.hops += (u64)p->hops * p->npkts;
	ang_trace_pkt(v, n, ANG_TR_EJECT, p, ANGARA_PORT_NONE, 0, p->status);
	if (p->type == ANG_PKT_BCAST)
		bcast_eject(v, n, p, but);
	for (i = 0; p->type == ANG_PKT_ALLREDUCE && i < t->members &&
	     t->state == ANGARA_TREE_STATE_UP; i++) {
		struct ang_ctx *c = ang_ctx(v->fab, n, t->member[i]);

		ang_work(v, ANG_WORK_PKT);
		if (c != but)
			result_down(v, n, c, p, in);
	}
}

static void pe_eject(struct ang_view *v, struct ang_node *n,
		     const struct ang_pkt *p, u32 in)
{
	ang_eject(v, n, p, in, NULL);
	ang_buf_put(v, p->buf, 1);
}

/**
 * ang_issue_links() - send copies of a packet by links that have room
 * @v: view
 * @n: node
 * @p: packet of a tree
 * @links: ports that need a copy; served ports are removed. Children are served
 *	before the parent
 * @in: link by which it arrived, ANGARA_PORT_NONE if the node sent it itself
 *
 * Each copy takes one reference to the payload.
 *
 * Return: true if at least one port was served.
 */
bool ang_issue_links(struct ang_view *v, struct ang_node *n,
		     const struct ang_pkt *p, u64 *links, u32 in)
{
	u64 up = ang_port_up(&n->tree[p->tree].row);
	bool progress = false;
	u64 set;

	for (set = *links & ~up; set; set &= set - 1) {
		u32 dir = ang_lowest(set);

		if (!ang_link_send(v, n, p, in, dir, ANGARA_VC_DOWN))
			continue;
		*links &= ~(1ULL << dir);
		progress = true;
	}
	if (*links & up &&
	    ang_link_send(v, n, p, in, ang_lowest(up), ANGARA_VC_UP)) {
		*links &= ~up;
		progress = true;
	}
	return progress;
}

/*
 * ang_issue() - as ang_issue_links(); then give the packet to the node's PE,
 * unless the PE already has it
 */
bool ang_issue(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p,
	       struct ang_outs *todo, u32 in)
{
	bool progress = ang_issue_links(v, n, p, &todo->links, in);

	if (todo->pe && !todo->links) {
		todo->pe = 0;
		pe_eject(v, n, p, in);
		progress = true;
	}
	return progress;
}

static u32 outs_count(const struct ang_outs *outs)
{
	return ang_count(outs->links) + outs->pe;
}

/*
 * Serve the packet at the head of a FIFO or ring; the caller has checked the packet.
 * @outs: all outputs of the packet; @todo: outputs that have not got a copy
 * yet. If the tree goes down meanwhile, the remaining copies are dropped.
 * Return: true if there was progress; todo->valid is 0 when the packet is
 * finished.
 */
static bool bcast_distribute(struct ang_view *v, struct ang_node *n,
			     const struct ang_pkt *p, struct ang_outs *todo,
			     struct ang_outs outs, u32 in)
{
	bool progress = false;

	if (!todo->valid) {
		u32 count = outs_count(&outs);

		*todo = outs;
		todo->valid = 1;
		if (!count)
			ang_buf_put(v, p->buf, 1);
		else if (p->buf)
			ang_buf_share(v, p->buf, count - 1);
		progress = true;
	} else if (!ang_tree_takes(n, p)) {
		ang_drop(v, n, p, ANGARA_DROP_NO_TREE, outs_count(todo));
		*todo = (struct ang_outs){ 0 };
		return true;
	}
	progress |= ang_issue(v, n, p, todo, in);
	if (!todo->links && !todo->pe)
		todo->valid = 0;
	return progress;
}

/*
 * ang_outputs_down() - count a packet that goes down the tree.  Return: its outputs.
 */
struct ang_outs ang_outputs_down(struct ang_node *n, const struct ang_pkt *p)
{
	struct ang_tree *t = &n->tree[p->tree];

	if (p->type == ANG_PKT_BCAST)
		t->cnt.bcast_packets += p->npkts;
	else
		t->next_result = p->seq + p->npkts;
	return (struct ang_outs){ .links = t->row.ports, .pe = !!t->row.pe };
}

static u32 packet_refusal(struct ang_node *n, const struct ang_pkt *p, u64 ports,
			  u32 dir)
{
	struct ang_tree *t = &n->tree[p->tree];
	bool of_life = p->type == ANG_PKT_OPEN ? p->key == t->row.epoch :
						 p->life == t->life;

	if (t->state == ANGARA_TREE_STATE_UNSET)
		return ANGARA_DROP_NO_TREE;
	if (t->row.pkey != p->pkey || t->job != p->job)
		return ANGARA_DROP_PARTITION;
	if (!(ports >> dir & 1))
		return ANGARA_DROP_PORT;
	if (!of_life)
		return ANGARA_DROP_STALE;
	return t->state == ANGARA_TREE_STATE_UP ? ANGARA_DROP_NUM :
						  ANGARA_DROP_NO_TREE;
}

/*
 * Is a packet forged?  The neighbor of a link may be an untrusted peer.
 * Children send data only when the tree is open at this row, the parent only
 * when this row is whole (ang_tree_open.c).  A packet from a child does not
 * originate at this node.  Results and credits from the parent are for packets
 * that this node has sent up.
 */
static bool out_of_order(struct ang_node *n, const struct ang_pkt *p, u32 vc)
{
	struct ang_tree *t = &n->tree[p->tree];
	bool data = p->type == ANG_PKT_BCAST || p->type == ANG_PKT_REDUCE ||
		    p->type == ANG_PKT_ALLREDUCE;

	if (data && (vc == ANGARA_VC_UP ? !t->open : t->whole != t->row.ports))
		return true;
	if (vc == ANGARA_VC_UP)
		return p->type == ANG_PKT_BCAST && p->src_node == n->id;
	if (p->type == ANG_PKT_CREDIT)
		return t->up_credits + ANG_CREDIT_DOWN * p->seq >
		       ANGARA_MAX_REDUCES;
	if (p->type != ANG_PKT_ALLREDUCE)
		return false;
	return (s32)(p->seq - t->next_result) < 0 ||
	       (s32)(t->done - p->seq) < p->npkts;
}

/*
 * Drop a packet that the tree does not take.  Control packets of a life that
 * has ended, here or at the sender, are not counted as dropped.  An OPEN packet
 * with another epoch is counted: the two rows do not belong together.
 */
static void packet_refuse(struct ang_view *v, struct ang_node *n,
			  const struct ang_pkt *p, u32 dir, u32 cause)
{
	bool over = cause == ANGARA_DROP_NO_TREE || cause == ANGARA_DROP_STALE;

	if (over && (p->type == ANG_PKT_ABORT || p->type == ANG_PKT_CREDIT))
		return;
	if (cause == ANGARA_DROP_NO_TREE && p->type == ANG_PKT_OPEN) {
		if (n->tree[p->tree].state == ANGARA_TREE_STATE_DOWN)
			ang_open_late(v, n, p, dir);
		return;
	}
	ang_drop(v, n, p, cause, 1);
}

/*
 * Take a request for a broadcast at the root.  Return: false if it has to wait.
 */
static bool request_root(struct ang_node *n, const struct ang_pkt *p)
{
	if (!ang_fifo_room(n, ANG_FIFO_ROOT))
		return false;
	ang_fifo_push(n, ANG_FIFO_ROOT, p);
	n->tree[p->tree].cnt.bcast_requests += p->npkts;
	return true;
}

/*
 * Take a broadcast request from a child.  Return: false if it has to wait.
 */
static bool request_up(struct ang_view *v, struct ang_node *n,
		       const struct ang_pkt *p, u32 dir)
{
	struct ang_tree *t = &n->tree[p->tree];

	if (t->row.is_root)
		return request_root(n, p);
	if (!ang_link_send(v, n, p, dir, t->row.to_root, ANGARA_VC_UP))
		return false;
	t->cnt.bcast_requests += p->npkts;
	return true;
}

/**
 * ang_up_ring() - take the packet at the head of a VCUp ring
 * @v: view
 * @n: node
 * @r: ring, which is not empty
 * @dir: link that the ring belongs to
 *
 * Return: true if the packet was taken.
 */
bool ang_up_ring(struct ang_view *v, struct ang_node *n, struct ang_ring *r,
		 u32 dir)
{
	struct ang_pkt *p = ang_ring_at_head(v, r);
	struct ang_tree *t = &n->tree[p->tree];
	u32 cause = packet_refusal(n, p, t->row.ports, dir);

	if (cause == ANGARA_DROP_NUM && out_of_order(n, p, ANGARA_VC_UP))
		cause = ANGARA_DROP_ORDER;
	if (cause != ANGARA_DROP_NUM)
		packet_refuse(v, n, p, dir, cause);
	else if (p->type == ANG_PKT_OPEN)
		ang_open_take(v, n, p, dir);
	else if (p->type == ANG_PKT_ABORT)
		ang_open_abort(v, n, p, dir);
	else if (p->type != ANG_PKT_BCAST)
		ang_reduce_take(v, n, t, p, dir);
	else if (!request_up(v, n, p, dir))
		return false;
	ang_ring_pop(v, n, r, dir);
	return true;
}

static void credit_take(struct ang_node *n, const struct ang_pkt *p)
{
	struct ang_tree *t = &n->tree[p->tree];

	t->up_credits += ANG_CREDIT_DOWN * p->seq;
	t->cnt.credits_received += p->seq;
	n->red_trees |= 1ULL << p->tree;
}

/**
 * ang_down_ring() - serve the packet at the head of a VCDown ring
 * @v: view
 * @n: node
 * @r: ring, which is not empty
 * @dir: link that the ring belongs to
 *
 * Return: true if something was done.
 */
bool ang_down_ring(struct ang_view *v, struct ang_node *n, struct ang_ring *r,
		   u32 dir)
{
	struct ang_pkt *p = ang_ring_at_head(v, r);
	struct ang_tree *t = &n->tree[p->tree];
	bool progress = true;
	u32 cause = ANGARA_DROP_NUM;

	if (!r->todo.valid)
		cause = packet_refusal(n, p, ang_port_up(&t->row), dir);
	if (!r->todo.valid && cause == ANGARA_DROP_NUM &&
	    out_of_order(n, p, ANGARA_VC_DOWN))
		cause = ANGARA_DROP_ORDER;
	if (cause != ANGARA_DROP_NUM) {
		packet_refuse(v, n, p, dir, cause);
	} else if (p->type == ANG_PKT_OPEN) {
		ang_open_take(v, n, p, dir);
	} else if (p->type == ANG_PKT_ABORT) {
		ang_open_abort(v, n, p, dir);
	} else if (p->type == ANG_PKT_CREDIT) {
		credit_take(n, p);
	} else {
		struct ang_outs outs = { 0 };

		if (!r->todo.valid)
			outs = ang_outputs_down(n, p);
		progress = bcast_distribute(v, n, p, &r->todo, outs, dir);
		if (r->todo.valid)
			return progress;
	}
	ang_ring_pop(v, n, r, dir);
	return progress;
}

/*
 * Does a packet from link @dir pass the checks that apply at the head of a
 * ring?
 */
static bool takes_now(struct ang_node *n, const struct ang_pkt *p, u64 ports,
		      u32 dir, u32 vc)
{
	return packet_refusal(n, p, ports, dir) == ANGARA_DROP_NUM &&
	       !out_of_order(n, p, vc);
}

/*
 * ang_up_fits() - does a VCUp packet, neither OPEN nor ABORT, pass the checks
 * that apply at the head of a ring?
 */
bool ang_up_fits(struct ang_node *n, const struct ang_pkt *p, u32 dir)
{
	return takes_now(n, p, n->tree[p->tree].row.ports, dir, ANGARA_VC_UP);
}

/**
 * ang_up_now() - take a packet of VCUp that bypasses the ring; see ang_hop.c
 * @v: view
 * @n: node
 * @p: packet, neither OPEN nor ABORT
 * @dir: link by which it would arrive, whose ring is empty
 *
 * Return: true; false if the packet has to use the ring.
 */
bool ang_up_now(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p,
		u32 dir)
{
	struct ang_tree *t = &n->tree[p->tree];

	if (!ang_up_fits(n, p, dir))
		return false;
	if (p->type != ANG_PKT_BCAST) {
		ang_reduce_take(v, n, t, p, dir);
		return true;
	}
	return t->row.is_root && request_root(n, p);
}

/** ang_down_now() - as ang_up_now(), for VCDown */
bool ang_down_now(struct ang_view *v, struct ang_node *n,
		  const struct ang_pkt *p, u32 dir)
{
	struct ang_tree *t = &n->tree[p->tree];

	if (!takes_now(n, p, ang_port_up(&t->row), dir, ANGARA_VC_DOWN))
		return false;
	if (p->type == ANG_PKT_CREDIT) {
		credit_take(n, p);
		return true;
	}
	if (t->row.ports || !t->row.pe)
		return false;
	ang_outputs_down(n, p);
	pe_eject(v, n, p, dir);
	return true;
}

/* Serve the packet at the head of the PE's FIFO.  Return: false if it has to wait. */
static bool pe_take(struct ang_view *v, struct ang_node *n, struct ang_fifo *f,
		    const struct ang_pkt *p, bool *progress)
{
	struct ang_tree *t = &n->tree[p->tree];
	struct ang_outs outs = { 0 };

	if (!f->todo.valid && !ang_tree_knows(t, p)) {
		ang_drop(v, n, p, ANGARA_DROP_NO_TREE, 1);
		return true;
	}
	if (p->type != ANG_PKT_BCAST) {
		ang_reduce_take(v, n, t, p, ANGARA_PORT_NONE);
		return true;
	}
	if (t->row.is_root) {
		if (!ang_fifo_room(n, ANG_FIFO_ROOT))
			return false;
		ang_fifo_push(n, ANG_FIFO_ROOT, p);
		return true;
	}
	if (!f->todo.valid) {
		t->cnt.bcast_requests += p->npkts;
		outs.links = ang_port_up(&t->row);
	}
	*progress |= bcast_distribute(v, n, p, &f->todo, outs, ANGARA_PORT_NONE);
	return !f->todo.valid;
}

/* Serve the packet at the head of the root FIFO.  Return: false if it has to wait. */
static bool root_take(struct ang_view *v, struct ang_node *n, struct ang_fifo *f,
		      const struct ang_pkt *p, bool *progress)
{
	struct ang_outs outs = { 0 };

	if (!f->todo.valid && !ang_tree_takes(n, p)) {
		ang_drop(v, n, p, ANGARA_DROP_NO_TREE, 1);
		return true;
	}
	if (!f->todo.valid)
		outs = ang_outputs_down(n, p);
	*progress |= bcast_distribute(v, n, p, &f->todo, outs, ANGARA_PORT_NONE);
	return !f->todo.valid;
}

static bool fifo_step(struct ang_view *v, struct ang_node *n, u32 which)
{
	struct ang_fifo *f = &n->fifo[which];
	bool progress = false;

	while (f->head != f->tail) {
		struct ang_pkt *p = &f->pkt[f->head % ANG_FIFO];

		ang_work(v, ANG_WORK_PKT);
		if (!(which == ANG_FIFO_PE ? pe_take(v, n, f, p, &progress) :
					     root_take(v, n, f, p, &progress)))
			return progress;
		f->head++;
		progress = true;
		if (ang_spent(v))
			break;
	}
	return progress;
}

/**
 * ang_pegroup() - route the packets in the PEGroup FIFOs
 * @v: view
 * @n: node; ang_node.at is 1 if the last step ended after it served the PE's FIFO
 *
 * Return: true if something was done.
 */
bool ang_pegroup(struct ang_view *v, struct ang_node *n)
{
	bool progress = false;

	if (!n->at && !ang_fifo_empty(n, ANG_FIFO_PE)) {
		progress = fifo_step(v, n, ANG_FIFO_PE);
		n->at = ang_spent(v) && !ang_fifo_empty(n, ANG_FIFO_ROOT);
		if (ang_spent(v))
			return progress;
	}
	n->at = 0;
	if (!ang_fifo_empty(n, ANG_FIFO_ROOT))
		progress |= fifo_step(v, n, ANG_FIFO_ROOT);
	return progress;
}
