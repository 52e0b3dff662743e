// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reducer and credit unit (document 000, sections 3.3 and 3.4).
 *
 * Each (TreeId, ReduceId) has a slot.  The slot holds the first contribution;
 * later contributions are combined into its payload, which no other node uses.  Each
 * participant and child has a place in the slot and contributes once.  All
 * participants cut a reduction into the same trains, so a train uses the slot
 * of its first ReduceId.  If the order of combining matters, ang_order.c
 * combines.
 *
 * A node may send 16 results up, then 8 more for every credit packet from its
 * parent; the parent sends a credit packet for every 8 results that it has
 * issued itself.  So when a contribution arrives, its slot is free or holds the
 * reduction that the contribution belongs to.
 */
#include "ang_int.h"

#define MAX_AHEAD	(1U << 30)	/* limit of ang_tree.done - ang_tree.next_result */

static struct ang_slot *slot_of(struct ang_tree *t, u32 seq)
{
	return &t->slot[seq % ANGARA_MAX_REDUCES];
}

/* Do two packets describe the same operation? */
static bool slot_same(const struct ang_pkt *a, const struct ang_pkt *b)
{
	if (a->type != b->type || a->seq != b->seq || a->npkts != b->npkts ||
	    a->len != b->len || a->dtype != b->dtype || a->redop != b->redop)
		return false;
	return a->type != ANG_PKT_REDUCE ||
	       (a->dst_node == b->dst_node && a->dst_ctx == b->dst_ctx);
}

/* The first error becomes the status of the result. */
static void slot_status(struct ang_slot *s, const struct ang_pkt *p)
{
	if (!p->status || s->pkt.status)
		return;
	s->pkt.status = p->status;
	s->pkt.src_node = p->src_node;
}

static void slot_combine(struct ang_view *v, struct ang_slot *s,
			 const struct ang_pkt *p)
{
	if (s->pkt.buf && p->buf) {
		ang_work(v, ang_combine_work(p->len, p->dtype, p->redop));
		ang_combine(ang_buf_data(v, s->pkt.buf),
			    ang_buf_data(v, p->buf), p->len, p->dtype, p->redop);
	}
	ang_buf_put(v, p->buf, 1);
}

/*
 * Does a train overlap another train? Then participants have cut their
 * reductions differently.
 */
static bool slot_straddles(struct ang_tree *t, const struct ang_pkt *p)
{
	u32 i;

	if (!t->in_flight)
		return false;
	for (i = 1; i < p->npkts; i++)
		if (slot_of(t, p->seq + i)->pkt.npkts)
			return true;
	for (i = 1; i < ANGARA_MAX_REDUCES; i++) {
		struct ang_slot *s = slot_of(t, p->seq - i);

		if (p->seq - s->pkt.seq < s->pkt.npkts)
			return true;
	}
	return false;
}

/* Begin a slot: copy the head of the first contribution. */
static void slot_begin(struct ang_tree *t, struct ang_slot *s,
		       const struct ang_pkt *p)
{
	s->pkt = *p;
	s->pkt.buf = 0;
	s->pkt.off = 0;
	s->left = t->places;
	s->held = 0;
	s->waiting = 0;
	t->in_flight += p->npkts;
	if (t->in_flight > t->cnt.max_in_flight)
		t->cnt.max_in_flight = t->in_flight;
}

/*
 * Does a packet contradict the reduction in its slot, or, if the slot is free, a
 * reduction in another slot?
 */
static bool slot_disagrees(struct ang_tree *t, struct ang_slot *s,
			   const struct ang_pkt *p)
{
	if (!s->pkt.npkts)
		return slot_straddles(t, p);
	return !slot_same(&s->pkt, p) || (p->off && s->pkt.off);
}

/**
 * ang_slot_lacks() - find the next slot of a tree, if it lacks only one
 * contribution
 * @t: tree
 * @p: head of that contribution
 * @bit: place of that contribution
 *
 * Return: the slot; NULL if it lacks other contributions, too, has not begun,
 * is of another operation, or holds an error.
 */
struct ang_slot *ang_slot_lacks(struct ang_tree *t, const struct ang_pkt *p,
				u64 bit)
{
	struct ang_slot *s = slot_of(t, t->done);

	return p->seq == t->done && s->pkt.npkts && s->left == bit && !s->held &&
	       slot_same(&s->pkt, p) && !s->pkt.status ? s : NULL;
}

/**
 * ang_reduce_take() - combine a packet of a child or of the PE in the Reducer
 * @v: view
 * @n: node
 * @t: tree, which is up
 * @p: packet of that tree; the caller's payload reference passes to the Reducer
 * @dir: link by which it arrived, ANGARA_PORT_NONE if from the PE
 *
 * If participants disagree, the tree goes down, since it is unknown which
 * contributions belong together.  A second contribution from the same place is
 * dropped.
 */
void ang_reduce_take(struct ang_view *v, struct ang_node *n, struct ang_tree *t,
		     const struct ang_pkt *p, u32 dir)
{
	struct ang_slot *s = slot_of(t, p->seq);
	u64 bit = ang_place_bit(v, n, p, dir);
	bool first;

	if (!ang_reduces_fit(p->seq, p->npkts, t->done) ||
	    !((s->pkt.npkts ? s->left & ~s->held : t->places) & bit)) {
		ang_drop(v, n, p, ANGARA_DROP_ORDER, 1);
		return;
	}
	ang_trace_pkt(v, n, ANG_TR_REDUCE, p, ANGARA_PORT_NONE, 0, p->status);
	t->cnt.reduce_packets += p->npkts;
	if (slot_disagrees(t, s, p)) {
		u32 culprit = p->src_node;

		ang_buf_put(v, p->buf, 1);
		ang_tree_down(v, n, p->tree, ANGARA_ST_MISMATCH, culprit, 0);
		return;
	}
	first = !s->pkt.npkts;
	if (first)
		slot_begin(t, s, p);
	s->pkt.off |= p->off;
	/*
	 * The result gets the hops of the longest path of its contributions,
	 * so that the value does not depend on the order of arrival.
	 */
	if (p->hops > s->pkt.hops)
		s->pkt.hops = p->hops;
	slot_status(s, p);
	if (ang_ordered(p->dtype, p->redop)) {
		ang_order_take(v, s, p, bit);
	} else {
		s->left &= ~bit;
		if (first)
			s->pkt.buf = p->buf;
		else
			slot_combine(v, s, p);
	}
	if (!s->left)
		n->red_trees |= 1ULL << p->tree;
}

/*
 * The root sends the result of a REDUCE to the participant whose contribution
 * carried a ticket.  Return: false if there is no room now.
 */
static bool result_send(struct ang_view *v, struct ang_node *n,
			struct ang_pkt *p)
{
	/* Read the halt before the route, as ang_may_leave() does. */
	bool halted = ang_halted(v);
	struct ang_pkt r = *p;
	u32 dir;

	if (p->dst_node >= v->topo.nodes || !p->off ||
	    ANG_TICKET_SLOT(p->off) >= v->fab->cfg.ops) {
		ang_drop(v, n, p, ANGARA_DROP_TARGET, 1);
		return true;
	}
	r.type = ANG_PKT_RESULT;
	r.life = ANG_TICKET_LIFE(p->off);
	r.gen = ANG_TICKET_GEN(p->off);
	r.slot = ANG_TICKET_SLOT(p->off);
	r.off = 0;
	r.bytes = READ_ONCE(v->fab->lost);
	dir = ang_route(v, n->id, p->dst_node);
	if (p->dst_node == n->id)
		ang_result_p2p(v, n, &r);
	else if (dir == ANGARA_PORT_NONE)
		ang_drop(v, n, p, ANGARA_DROP_LINK, 1);
	else if (halted ||
		 !ang_link_send(v, n, &r, ANGARA_PORT_NONE, dir, ANGARA_VC_RSP))
		return false;
	p->type = ANG_PKT_RESULT;
	return true;
}

/* Send a result up the tree, or from the root to its receivers. */
static bool result_leaves(struct ang_view *v, struct ang_node *n,
			  struct ang_tree *t, struct ang_pkt *p)
{
	if (!t->row.is_root) {
		if (t->up_credits < p->npkts ||
		    !ang_link_send(v, n, p, ANGARA_PORT_NONE, t->row.to_root,
				   ANGARA_VC_UP))
			return false;
		t->up_credits -= p->npkts;
		return true;
	}
	if (p->type == ANG_PKT_ALLREDUCE) {
		if (!ang_fifo_room(n, ANG_FIFO_ROOT))
			return false;
		ang_fifo_push(n, ANG_FIFO_ROOT, p);
		return true;
	}
	return result_send(v, n, p);
}

/**
 * ang_result_count() - count results that leave the Reducer
 * @v: view
 * @n: node
 * @t: tree
 * @npkts: number of results
 */
void ang_result_count(struct ang_view *v, struct ang_node *n, struct ang_tree *t,
		      u32 npkts)
{
	bool due = ang_credit_due(t->done, npkts);

	t->done += npkts;
	/*
	 * A REDUCE increases @done, but not @next_result: limit the difference.
	 */
	if (t->done - t->next_result > MAX_AHEAD)
		t->next_result = t->done - MAX_AHEAD;
	t->in_flight -= npkts;
	t->cnt.reduce_results += npkts;
	if (t->row.ports && due) {
		t->credit_pend++;
		n->ctl_trees |= 1ULL << t->row.tree;
	}
	if (!t->row.pe)
		return;
	n->unreported += npkts;
	if (n->unreported >= ANG_CREDIT_PE)
		ang_credit_pe(v, n, false);
	else if (!n->timer)
		ang_timer_start(v, n, n->clock + ANG_CREDIT_TIME);
}

/**
 * ang_reduce_issue() - issue the results of a tree that are ready, in order
 * @v: view
 * @n: node
 * @tree: TreeId
 *
 * Return: true if a result was issued.
 */
bool ang_reduce_issue(struct ang_view *v, struct ang_node *n, u32 tree)
{
	struct ang_tree *t = &n->tree[tree];
	bool progress = false;

	while (t->in_flight && t->state == ANGARA_TREE_STATE_UP) {
		struct ang_slot *s = slot_of(t, t->done);
		u32 npkts = s->pkt.npkts;

		if (!npkts || s->left)
			break;
		ang_work(v, ANG_WORK_PKT);
		if (!result_leaves(v, n, t, &s->pkt))
			return progress;
		ang_trace_pkt(v, n, ANG_TR_RESULT, &s->pkt, ANGARA_PORT_NONE, 0,
			      s->pkt.status);
		s->pkt.npkts = 0;
		ang_result_count(v, n, t, npkts);
		progress = true;
		if (ang_spent(v))
			return true;
	}
	n->red_trees &= ~(1ULL << tree);
	return progress;
}

/*
 * ang_control_packet() - fill in the fields that all control packets of a tree
 * share
 */
void ang_control_packet(struct ang_node *n, struct ang_tree *t, u32 type,
			struct ang_pkt *p)
{
	memset(p, 0, sizeof(*p));
	p->type = (u8)type;
	p->npkts = 1;
	p->tree = t->row.tree;
	p->pkey = t->row.pkey;
	p->job = t->job;
	p->src_node = n->id;
	p->seq = type == ANG_PKT_CREDIT ? t->credit_cur : t->life;
}

/**
 * ang_control_issue() - send the OPEN, credit and abort packets of a tree
 * @v: view
 * @n: node
 * @tree: TreeId
 *
 * Return: true if a packet was sent.
 */
bool ang_control_issue(struct ang_view *v, struct ang_node *n, u32 tree)
{
	struct ang_tree *t = &n->tree[tree];
	bool progress = false;
	struct ang_pkt p;

	if (t->abort_todo)
		progress = ang_issue_links(v, n, &t->abort, &t->abort_todo,
					   ANGARA_PORT_NONE);
	if (t->open_todo)
		progress |= ang_open_issue(v, n, t);
	if (!t->credit_todo && t->credit_pend) {
		t->credit_cur = t->credit_pend;
		t->credit_pend = 0;
		t->credit_todo = t->row.ports;
		t->cnt.credits_sent += t->credit_cur;
		ang_control_packet(n, t, ANG_PKT_CREDIT, &p);
		ang_trace_pkt(v, n, ANG_TR_CREDIT, &p, 0, ANGARA_VC_DOWN, 0);
	}
	if (t->credit_todo) {
		ang_control_packet(n, t, ANG_PKT_CREDIT, &p);
		progress |= ang_issue_links(v, n, &p, &t->credit_todo,
					    ANGARA_PORT_NONE);
	}
	if (!t->abort_todo && !t->open_todo && !t->credit_todo &&
	    !t->credit_pend)
		n->ctl_trees &= ~(1ULL << tree);
	return progress;
}

static void credit_tree(struct ang_view *v, struct ang_node *n,
			struct ang_tree *t, bool timer)
{
	struct ang_pkt p;
	u32 i;

	t->pe_done = t->done;
	t->pe_told = t->cnt.reduce_results;
	if (timer)
		t->cnt.credits_pe_timer++;
	else
		t->cnt.credits_pe_count++;
	ang_control_packet(n, t, ANG_PKT_CREDIT, &p);
	ang_trace_pkt(v, n, ANG_TR_CREDIT, &p, ANGARA_PORT_NONE, 0, 0);
	for (i = 0; i < t->members; i++) {
		struct ang_ctx *c = ang_ctx(v->fab, n, t->member[i]);

		ang_store64(v, n, c->ctr +
			    8ULL * ANGARA_CTR_REDUCES(t->row.tree),
			    t->cnt.reduce_results);
	}
}

/**
 * ang_credit_pe() - report to the PE how many reductions of each tree are
 * finished
 * @v: view
 * @n: node
 * @timer: true: the credit timer has expired; false: 128 results have to be
 *	reported
 */
void ang_credit_pe(struct ang_view *v, struct ang_node *n, bool timer)
{
	u32 tree;

	n->timer = 0;
	n->unreported = 0;
	for (tree = 0; tree < v->fab->cfg.trees; tree++) {
		struct ang_tree *t = &n->tree[tree];

		if (t->state == ANGARA_TREE_STATE_UP &&
		    t->pe_told != t->cnt.reduce_results)
			credit_tree(v, n, t, timer);
	}
}

static void slot_flush(struct ang_view *v, struct ang_slot *s)
{
	ang_buf_put(v, s->pkt.buf, 1);
	if (ang_ordered(s->pkt.dtype, s->pkt.redop))
		ang_order_flush(v, s);
}

/** ang_reducer_flush() - empty the Reducer and the credit unit of a tree */
void ang_reducer_flush(struct ang_view *v, struct ang_tree *t)
{
	u32 i;

	for (i = 0; i < ANGARA_MAX_REDUCES; i++) {
		if (t->slot[i].pkt.npkts)
			slot_flush(v, &t->slot[i]);
		t->slot[i].pkt.npkts = 0;
	}
	t->in_flight = 0;
	t->credit_todo = 0;
	t->credit_pend = 0;
}
