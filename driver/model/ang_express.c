// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Express: point-to-point trains without links.
 *
 * Packets define the behaviour; this shortcut must have the same effects.  If a
 * train's target is idle, the view that holds the sender executes the train at
 * once, request and answer.  The train is built, checked, executed and answered
 * by the same functions as a packet, but enters no ring, and no other node has
 * a turn.  Each counter on its path gets the value that it would get by
 * packets.
 *
 * The view takes the target only if the target is idle: so no view waits for
 * another view, and a thread that dies meanwhile leaves only these two nodes
 * torn (ang_recover.c).  While the view holds the target, it does not access
 * memory of the sender's process, where a page may be slow or unmapped: it
 * reads the source before, and writes the sink (the destination of a get)
 * after.  Routers between the two nodes are not taken: trains that pass a
 * router are counted atomically, in counters separate from those of its holder.
 *
 * Trains of a context to a node do not overtake each other: an operation uses
 * packets while another operation of the context to the same node has trains in
 * flight.  The first link must have room, as for a packet.  Only packets are
 * used if packets are traced, if other processes run some nodes, if routes are
 * very long, while a link has faults or is down, and after nodes have been
 * lost.
 *
 * A put or get of one packet, and an atomic operation, is a small operation.  If
 * its context has no other operation pending, it needs no struct ang_op.  Its
 * target may be the node itself.  Several threads may
 * execute small puts and gets at once in the lanes of a node that no view holds
 * (ang_lane.c).
 */
#include "ang_int.h"

/* Has another operation of the context trains in flight to the same node? */
static bool others_fly(struct ang_view *v, struct ang_node *n,
		       struct ang_ctx *c, const struct ang_op *op)
{
	u64 all = ~0ULL >> (64 - v->fab->cfg.ops);
	u64 set = all & ~c->free & ~c->held;

	for (set &= ~(1ULL << ang_op_slot(n, c, op)); set; set &= set - 1) {
		const struct ang_op *o = ang_op(n, c, ang_lowest(set));

		ang_work(v, ANG_WORK_LOOK);
		if (o->trains && ang_op_is_p2p(o) && o->dst_node == op->dst_node)
			return true;
	}
	return false;
}

/* Is the target idle at this moment? */
static bool target_idle(const struct ang_view *v, u32 dst)
{
	return !(READ_ONCE(ang_node(v->fab, dst)->sched) & ~ANG_SCHED_TIMER);
}

/* Take an idle node.  Return: NULL if it is busy. */
static struct ang_node *target_take(struct ang_view *v, u32 dst)
{
	struct ang_node *t = ang_node(v->fab, dst);

	return ang_node_seize(v, t) ? t : NULL;
}

/**
 * ang_express_may() - may the next train of an operation be executed without
 * links?
 * @v: view
 * @n: node
 * @c: context
 * @op: operation with data to inject
 *
 * Return: true: the target is idle, and no earlier train of the context is in
 * flight to the target.  False for a train to the node itself, which needs no
 * links.
 */
bool ang_express_may(struct ang_view *v, struct ang_node *n,
		     struct ang_ctx *c, const struct ang_op *op)
{
	return ang_linkless(v) && op->dst_node != n->id && c->alive && !op->trains &&
	       target_idle(v, op->dst_node) &&
	       !others_fly(v, n, c, op);
}

/*
 * Count a train on its path from @from by port @dir to @dst.  The view is in
 * @lane of @from, or holds @from; routers in between count in ang_port.passed.
 * Return: the number of hops.
 */
static u16 way_count(struct ang_view *v, struct ang_node *from,
		     struct ang_lane *lane, u32 dir, u32 dst, u32 npkts, u32 flits,
		     u32 vc)
{
	struct ang_port *port = ang_port(v->fab, from, dir);
	u16 hops = 1;

	if (lane) {
		ang_lane_send(v, from, lane, dir, npkts, flits);
	} else {
		port->link.packets[vc] += npkts;
		port->link.flits[vc] += flits;
		from->clock += flits;
	}
	while (port->peer != dst) {
		struct ang_node *n = ang_node(v->fab, port->peer);

		ang_work(v, ANG_WORK_HOP);
		port = ang_port(v->fab, n, ang_topo_route(&v->topo, n->id, dst));
		ang_fetch_add(&port->passed.packets[vc], npkts);
		ang_fetch_add(&port->passed.flits[vc], flits);
		hops++;
	}
	return hops;
}

static void pkt_way(struct ang_view *v, struct ang_node *from, u32 dir,
		    struct ang_pkt *p, u32 vc)
{
	p->hops = way_count(v, from, NULL, dir, p->dst_node, p->npkts, ang_flits(p),
			    vc);
}

/**
 * ang_express() - execute a request at its target, and take its answer
 * @v: view
 * @n: node
 * @p: request, counted as injected
 * @dir: link by which a packet would leave
 *
 * Return: true; false: the target is busy, or has no buffer for the answer, and
 * nothing was changed.
 */
bool ang_express(struct ang_view *v, struct ang_node *n, struct ang_pkt *p,
		 u32 dir)
{
	struct ang_node *t = target_take(v, p->dst_node);
	struct ang_pkt reply;

	if (!t)
		return false;
	if (!ang_may_serve(v, t, p)) {
		ang_node_drop(v, t);
		return false;
	}
	ang_work(v, 2 * ANG_WORK_PKT);
	pkt_way(v, n, dir, p, ANGARA_VC_REQ);
	ang_request_serve(v, t, p, &reply);
	pkt_way(v, t, ang_topo_route(&v->topo, t->id, n->id), &reply,
		ANGARA_VC_RSP);
	ang_node_leave(v, t);
	ang_answer_eject(v, n, &reply);
	return true;
}

/**
 * struct small_end - one end of a small operation
 * @n: node
 * @c: context at that node
 * @lane: lane that the view is in; NULL: the view holds the node
 */
struct small_end {
	struct ang_node *n;
	struct ang_ctx *c;
	struct ang_lane *lane;
};

/* Count a packet that leaves an adapter. */
static void one_sent(const struct small_end *from, u32 flits)
{
	struct ang_lane *l = from->lane;

	if (l) {
		l->injected_packets++;
		l->injected_flits += flits;
		return;
	}
	from->n->cnt.injected_packets++;
	from->n->cnt.injected_flits += flits;
	from->n->clock += flits;
}

/* Count a packet that arrives at an adapter. */
static void one_received(struct ang_view *v, const struct small_end *to, u32 len,
			 u32 flits, u32 hops)
{
	struct ang_lane *l = to->lane;

	if (l) {
		l->ejected_packets++;
		l->ejected_flits += flits;
		l->hops += hops;
		ang_lane_receive(v, to->n, l, to->c, len);
		return;
	}
	to->n->cnt.ejected_packets++;
	to->n->cnt.ejected_flits += flits;
	to->n->cnt.hops += hops;
	to->n->clock += flits;
	to->c->cnt.rx_packets++;
	to->c->cnt.rx_bytes += len;
}

/*
 * Count a packet from one adapter by link @dir to another adapter, or within an
 * adapter.
 */
static inline void one_counted(struct ang_view *v, const struct small_end *from,
			       const struct small_end *to, u32 dir, u32 len,
			       u32 flits, u32 vc)
{
	u32 hops = dir == ANGARA_PORT_NONE ? 0 :
		   way_count(v, from->n, from->lane, dir, to->n->id, 1, flits, vc);

	one_sent(from, flits);
	one_received(v, to, len, flits, hops);
}

/**
 * struct small_data - data of a small operation
 * @sent: what the sender gives: operands, or the data of a put
 * @got: what the target returns
 */
struct small_data {
	u64 sent[ANGARA_PACKET_BYTES / 8];
	u64 got[ANGARA_PACKET_BYTES / 8];
};

static_assert(ANGARA_MAX_ATOMIC <= ANGARA_PACKET_BYTES,
	      "an atomic operation is one packet");

/* Is an entry, which is valid, a small operation? */
static bool is_small(const struct angara_wqe *w)
{
	u32 len = le32_to_cpu(w->length);

	if (w->opcode != ANGARA_OP_PUT && w->opcode != ANGARA_OP_GET)
		return ang_is_atomic(w->opcode);
	return len && len <= ANGARA_PACKET_BYTES;
}

/* Count the packet of a small operation, and its answer. */
static void small_count(struct ang_view *v, const struct small_end *from,
			const struct small_end *to, u32 dir,
			const struct angara_wqe *w)
{
	u32 len = le32_to_cpu(w->length);
	u32 sent = w->opcode == ANGARA_OP_GET ? 0 : (u32)ang_wqe_payload(w);
	u32 got = ang_returns_data(w->opcode) ? len : 0;
	u32 answer = dir == ANGARA_PORT_NONE ? dir :
		     ang_topo_route(&v->topo, to->n->id, from->n->id);

	/* The request of a get, and the answer to a put, count the bytes, too. */
	one_counted(v, from, to, dir, ang_is_atomic(w->opcode) ? sent : len,
		    ang_flits_of(1, sent), ANGARA_VC_REQ);
	one_counted(v, to, from, answer, len, ang_flits_of(1, got), ANGARA_VC_RSP);
	from->c->cnt.tx_packets++;
	from->c->cnt.tx_bytes += sent;
}

/* Access the target's memory.  Return: ANGARA_ST_*. */
static u32 small_access(struct ang_view *v, struct ang_node *t, struct ang_ctx *tc,
			const struct angara_wqe *w, struct small_data *d)
{
	u64 key = le64_to_cpu(w->rkey), off = le64_to_cpu(w->roff);
	u32 len = le32_to_cpu(w->length);
	struct ang_atomic a;

	if (w->opcode == ANGARA_OP_PUT)
		return ang_mr_write(v, t, tc, key, off, len, d->sent);
	if (w->opcode == ANGARA_OP_GET)
		return ang_mr_read(v, t, tc, key, off, len, d->got);
	a = (struct ang_atomic){
		.aop = w->redop, .type = w->type, .fetch = ang_returns_data(w->opcode),
		.len = len, .key = key, .off = off,
	};
	return ang_atomic_do(v, t, tc, &a, (const char *)d->sent,
			     a.fetch ? d->got : NULL);
}

/* Region in which an operation stores the data that the target returns. */
static u32 sink_key(const struct angara_wqe *w)
{
	return le32_to_cpu(w->opcode == ANGARA_OP_GET ? w->lkey : w->aux_key);
}

static u64 sink_off(const struct angara_wqe *w)
{
	return le64_to_cpu(w->opcode == ANGARA_OP_GET ? w->loff : w->aux);
}

/*
 * Complete the operation at the sender; store data that the target returns.  As
 * with packets, it is an error if the sink's region was removed meanwhile.
 */
static void small_done(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      const struct angara_wqe *w, const struct small_data *d)
{
	u32 status = ANGARA_ST_OK;

	if (ang_returns_data(w->opcode))
		status = ang_mr_keep(v, n, c, sink_key(w), sink_off(w),
				     le32_to_cpu(w->length), d->got);
	ang_entry_done(v, n, c, w, status);
}

/* Read the source and check the sink, where the operation has one.  Return: ANGARA_ST_*. */
static u32 small_begin(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		       const struct angara_wqe *w, struct small_data *d)
{
	u32 status = ANGARA_ST_OK;

	if (w->opcode != ANGARA_OP_GET)
		status = ang_entry_source(v, n, c, w, d->sent);
	if (status || !ang_returns_data(w->opcode))
		return status;
	return ang_mr_check(v, n, c, sink_key(w), sink_off(w),
			    le32_to_cpu(w->length), ANGARA_ACCESS_LOCAL_WRITE);
}

/*
 * Is there room on the link that leads to @dst?  @dir: out: that link, or
 * ANGARA_PORT_NONE for the node itself.
 */
static bool small_room(struct ang_view *v, const struct small_end *from, u32 dst,
		       u32 *dir)
{
	if (!from->lane || dst == from->n->id)
		return ang_may_leave(v, from->n, dst, ANGARA_VC_REQ, dir);
	*dir = ang_topo_route(&v->topo, from->n->id, dst);
	return ang_link_free(v, from->n, *dir, ANGARA_VC_REQ);
}

/*
 * Take the target, or enter one of its lanes.  A view that holds the sender's node
 * holds a target in the same node, too.  @alone: the operation has to take the
 * target: it notifies, or is atomic.  Return: false if the target is busy.
 */
static bool small_take(struct ang_view *v, const struct small_end *from,
		       struct small_end *to, bool alone)
{
	to->lane = alone ? NULL : ang_lane_target(v, from->c, from->n, to->n);
	if (to->lane)
		return true;
	return to->n == from->n ? !from->lane : ang_node_seize(v, to->n);
}

static void small_release(struct ang_view *v, const struct small_end *from,
			  const struct small_end *to, bool notify)
{
	if (to->lane)
		ang_lane_leave(to->lane);
	else if (to->n == from->n)
		return;
	else if (notify)
		ang_node_leave(v, to->n);
	else
		ang_node_drop(v, to->n);
}

/*
 * Execute the operation at the target.  Return: false if a check fails; then
 * nothing is counted.
 */
static bool small_serve(struct ang_view *v, const struct small_end *from,
			struct small_end *to, const struct angara_wqe *w, u32 dir,
			struct small_data *d)
{
	struct ang_ctx *c = ang_ctx_get(v, to->n, le16_to_cpu(w->dst_ctx));

	if (!c || !ang_ctx_serves(c, from->c->pkey, from->c->job) ||
	    small_access(v, to->n, c, w, d))
		return false;
	to->c = c;
	ang_work(v, 2 * ANG_WORK_PKT);
	small_count(v, from, to, dir, w);
	v->small++;
	if (!to->lane && to->n != from->n && !ang_is_atomic(w->opcode))
		ang_lanes_calm(v, to->n, 1);
	if (w->flags & ANGARA_WQE_NOTIFY) {
		u32 counter = le16_to_cpu(w->counter);

		ang_ctx_count(v, to->n, c, ANGARA_CTR_USER(counter),
			      ++c->user[counter]);
	}
	return true;
}

/**
 * ang_express_entry() - execute an entry that is a small operation
 * @v: view
 * @n: node
 * @c: context with no pending operation, and room for a completion
 * @lane: lane of the context, which the view is in; NULL: the view holds the
 *	node
 * @w: next entry of the context, which is valid
 *
 * No struct ang_op is used.  If any check fails, nothing is counted and the
 * entry takes the usual path, where the same check fails again.
 *
 * Return: true if the entry was executed.
 */
bool ang_express_entry(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		       struct ang_lane *lane, const struct angara_wqe *w)
{
	const struct small_end from = { .n = n, .c = c, .lane = lane };
	u32 dst = le32_to_cpu(w->dst_node);
	bool notify = w->flags & ANGARA_WQE_NOTIFY;
	struct small_data d;
	struct small_end to;
	bool done;
	u32 dir;

	if (!is_small(w) || w->flags & ANGARA_WQE_FENCE || c->ghosts ||
	    dst >= v->topo.nodes || !ang_linkless(v) ||
	    !small_room(v, &from, dst, &dir) || small_begin(v, n, c, w, &d))
		return false;
	to.n = ang_node(v->fab, dst);
	if (!small_take(v, &from, &to, notify || ang_is_atomic(w->opcode)))
		return false;
	done = small_serve(v, &from, &to, w, dir, &d);
	small_release(v, &from, &to, notify);
	if (done)
		small_done(v, n, c, w, &d);
	return done;
}
