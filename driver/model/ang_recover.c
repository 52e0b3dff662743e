// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recovery: a thread has died in the middle of the model.
 *
 * A node that the thread held (ANG_SCHED_OWNED) may be in any state: the node
 * is called torn.  A torn node is reset like a PCIe card.  Meanwhile the host
 * lets no other thread call the model, so no other node is within a step.
 * Recovery follows these rules:
 *
 *  - A packet is on a link from the moment at which the ring's put is stored.
 *    The rings of a torn node's neighbours stay consistent.  If a link of a torn
 *    node has faults, its packets in flight arrive at once.
 *  - A point-to-point packet that passes through a torn node is forwarded.  A
 *    node records which packet it is about to forward (struct ang_pass).  So
 *    recovery can tell whether a packet in a ring was forwarded already: no
 *    packet is lost or sent twice.
 *  - Point-to-point packets from or to a torn node are changed to ANG_PKT_VOID
 *    in their rings: no old request reaches a new context of that node.
 *  - Neighbours take down trees that lead to a torn node.  All nodes end
 *    operations with the torn node and report it, as a lost node; see
 *    ang_lost.c.
 *  - If a thread died in a lane (ang_lane.c), the node of its context is torn,
 *    but not the target's node.  After recovery all lanes are empty and shut.
 *  - References to payload buffers are counted again: one per packet in a ring
 *    or FIFO, or, for a packet that is being copied, one per remaining output;
 *    one per buffer in a Reducer.  There are no other references between two
 *    steps.
 *  - Management packets of all nodes are dropped: their senders repeat them.
 *  - Numbers of lives and operations of a torn node continue, so no packet for
 *    an earlier life or operation is taken for a later one.
 *  - Every node is put on a run queue with all its rings marked, in case the
 *    dead thread has not woken the node yet.
 *
 * A thread that is only stopped may continue at any time, and change its node.
 * Then the fabric continues in a copy: ang_recover_fence() takes all nodes that
 * no view holds, so the stopped thread can take no other node, and waits for a
 * consistent snapshot of the rings from and to the torn nodes;
 * ang_recover_copy() copies the fabric as of that moment.  The stopped thread
 * only writes to the old memory, which no other thread reads any more.
 *
 * The recovering thread may die, too.  Then another thread repeats the
 * recovery.  This works because torn nodes are marked before any change, nodes
 * are held while they are changed, and all other actions can be done twice.
 */
#include "ang_int.h"

/* Numbers of a context that must not be used twice, so they survive a reset. */
struct numbers {
	u16 life;
	u16 opgen;
};

/* Is the node held, but not by ang_recover_fence()? */
static bool is_held(u64 sched)
{
	return (sched & (ANG_SCHED_OWNED | ANG_SCHED_FENCED)) == ANG_SCHED_OWNED;
}

u32 ang_recover_find(struct ang_fabric *fab)
{
	u32 found = 0;
	u32 i;

	for (i = 0; i < fab->cfg.topo.routers; i++) {
		struct ang_node *n = ang_node(fab, i);

		if (is_held(READ_ONCE(n->sched)) || ang_lanes_bar(fab, n))
			WRITE_ONCE(n->torn, 1);
		found += READ_ONCE(n->torn);
	}
	return found;
}

void ang_recover_mark(struct ang_fabric *fab, u32 node)
{
	WRITE_ONCE(ang_node(fab, node)->torn, 1);
}

bool ang_recover_torn(struct ang_fabric *fab, u32 node)
{
	return READ_ONCE(ang_node(fab, node)->torn);
}

static struct ang_ring *ring_nr(struct ang_fabric *fab, struct ang_node *n,
				u32 nr)
{
	return ang_ring(fab, n, nr / ANGARA_VC_NUM, nr % ANGARA_VC_NUM);
}

static u32 node_rings(const struct ang_fabric *fab)
{
	return fab->nports * ANGARA_VC_NUM;
}

static bool is_p2p(u32 nr)
{
	u32 vc = nr % ANGARA_VC_NUM;

	return vc != ANGARA_VC_UP && vc != ANGARA_VC_DOWN;
}

/* Return: ring at the other end of link and channel @nr; NULL: no link. */
static struct ang_ring *out_ring(struct ang_fabric *fab, struct ang_node *n,
				 u32 nr)
{
	const struct ang_port *port = ang_port(fab, n, nr / ANGARA_VC_NUM);

	if (port->peer == ANG_NONE)
		return NULL;
	return ang_ring(fab, ang_node(fab, port->peer), port->far,
			nr % ANGARA_VC_NUM);
}

/* Take a node for recovery; if a view holds the node, mark the node as torn. */
static void node_fence(struct ang_node *n)
{
	u64 old = READ_ONCE(n->sched);
	u64 seen;

	while (!(old & (ANG_SCHED_OWNED | ANG_SCHED_FENCED))) {
		seen = ang_cmpxchg(&n->sched, old, old | ANG_SCHED_OWNED |
				   ANG_SCHED_FENCED);
		if (seen == old)
			return;
		old = seen;
	}
	if (is_held(old))
		WRITE_ONCE(n->torn, 1);
}

/* Store @val in @to.  Return: false if @to had another value before. */
static bool torn_note(u32 *to, u32 val)
{
	bool same = *to == val;

	*to = val;
	return same;
}

static bool pass_note(struct ang_node *n)
{
	const struct ang_pass now = {
		.key = READ_ONCE(n->pass.key),
		.out = READ_ONCE(n->pass.out),
		.tail = READ_ONCE(n->pass.tail),
	};
	bool same = n->fence_pass.key == now.key &&
		    n->fence_pass.out == now.out &&
		    n->fence_pass.tail == now.tail;

	n->fence_pass = now;
	return same;
}

static bool node_note(struct ang_fabric *fab, struct ang_node *n)
{
	bool same = pass_note(n);
	u32 nr;

	for (nr = 0; nr < node_rings(fab); nr++) {
		struct ang_ring *in = ring_nr(fab, n, nr);
		struct ang_ring *out = out_ring(fab, n, nr);

		same &= torn_note(&in->fence_head, READ_ONCE(in->head));
		if (out)
			same &= torn_note(&out->fence_tail,
					  ang_load_acquire(&out->put));
	}
	/* Complete all reads of this pass before the next pass. */
	ang_mb();
	return same;
}

/*
 * Indices of rings only increase: if two passes read the same values, all rings
 * had these values at one moment between the passes.  The stopped thread takes
 * no new node, so the loop ends.
 */
void ang_recover_fence(struct ang_fabric *fab)
{
	u32 i;

	for (i = 0; i < fab->cfg.topo.routers; i++)
		node_fence(ang_node(fab, i));
	for (i = 0; i < fab->cfg.topo.routers; i++)
		if (ang_lanes_bar(fab, ang_node(fab, i)))
			WRITE_ONCE(ang_node(fab, i)->torn, 1);
	for (i = 0; i < fab->cfg.topo.routers; i++) {
		struct ang_node *n = ang_node(fab, i);

		while (n->torn && !node_note(fab, n))
			;
	}
}

static void node_as_noted(struct ang_fabric *fab, struct ang_node *n)
{
	u32 nr;

	n->pass = n->fence_pass;
	for (nr = 0; nr < node_rings(fab); nr++) {
		struct ang_ring *in = ring_nr(fab, n, nr);
		struct ang_ring *out = out_ring(fab, n, nr);

		in->head = in->fence_head;
		if (out)
			out->put = out->fence_tail;
	}
}

void ang_recover_copy(void *to, const struct ang_fabric *from)
{
	struct ang_fabric *fab = to;
	u32 i;

	/* As ang_fabric_size(): the tables of routes are last. */
	memcpy(to, from, from->off_detour +
			 2ULL * from->cfg.topo.routers * from->detour_row);
	for (i = 0; i < fab->cfg.topo.routers; i++) {
		struct ang_node *n = ang_node(fab, i);

		if (n->torn)
			node_as_noted(fab, n);
	}
}

/*
 * A torn node may have forwarded a packet without removing it from the input
 * ring.  Remove such a packet.
 */
static void pass_end(struct ang_fabric *fab, struct ang_node *n)
{
	const struct ang_pass *pass = &n->pass;
	u64 key = ang_load_acquire(&pass->key);
	struct ang_ring *in, *out;

	if (!key)
		return;
	in = ring_nr(fab, n, (u32)(key >> 32) - 1);
	out = out_ring(fab, n, pass->out);
	if (in->head == (u32)key && out->put == pass->tail)
		ang_store_release(&in->head, in->head + 1);
}

static bool concerns_torn(struct ang_fabric *fab, const struct ang_pkt *p)
{
	return ang_recover_torn(fab, p->dst_node) ||
	       ang_recover_torn(fab, p->src_node);
}

static void ring_void(struct ang_fabric *fab, struct ang_ring *r)
{
	u32 at;

	for (at = r->head; at != r->put; at++) {
		struct ang_pkt *p = &r->pkt[at & (fab->cfg.depth - 1U)];

		if (concerns_torn(fab, p))
			WRITE_ONCE(p->type, ANG_PKT_VOID);
	}
}

static void rings_void(struct ang_fabric *fab, struct ang_node *n)
{
	u32 nr;

	for (nr = 0; nr < node_rings(fab); nr++) {
		struct ang_ring *r = ring_nr(fab, n, nr);

		if (is_p2p(nr)) {
			ring_void(fab, r);
		} else if (n->torn) {
			r->todo = (struct ang_outs){ 0 };
			ang_store_release(&r->head, r->tail);
		}
	}
}

static void ctx_reset(struct ang_fabric *fab, struct ang_node *n, u32 ctx)
{
	struct ang_ctx *c = ang_ctx(fab, n, ctx);
	const struct numbers kept = { .life = c->life, .opgen = c->opgen };

	memset(ang_op(n, c, 0), 0, fab->cfg.ops * sizeof(struct ang_op));
	memset((char *)c + ANG_CTX_STATE, 0, sizeof(*c) - ANG_CTX_STATE);
	/* Skip a life and a generation: the stopped thread may have used the next. */
	c->life = kept.life + 1U;
	c->opgen = kept.opgen + 1U;
}

static void pe_reset(struct ang_fabric *fab, struct ang_node *n)
{
	u32 i;

	for (i = 0; i < fab->cfg.ctxs; i++)
		ctx_reset(fab, n, i);
	memset(ang_dom(fab, n, 0), 0, fab->cfg.ctxs * sizeof(struct ang_dom));
}

/*
 * Resets a tree.  Skips a life, since the thread may have begun one without
 * storing its number.
 */
static void tree_reset(struct ang_fabric *fab, struct ang_node *n, u32 tree)
{
	struct ang_tree *t = &n->tree[tree];

	memset(ang_lives(fab, n, tree), 0, fab->nports * sizeof(u32));
	memset((char *)t + ANG_TREE_LIFE, 0, sizeof(*t) - ANG_TREE_LIFE);
	t->life += t->life == ~0U ? 2 : 1;
}

/*
 * Reset a node, except for its identity, its counters, and packets that pass
 * through it.
 */
static void node_reset(struct ang_fabric *fab, struct ang_node *n)
{
	u32 i;

	if (!ang_is_switch(fab, n))
		pe_reset(fab, n);
	for (i = 0; i < fab->cfg.trees; i++)
		tree_reset(fab, n, i);
	memset(n->fifo, 0, sizeof(n->fifo));
	memset(&n->box, 0, sizeof(n->box));
	memset(&n->adm, 0, sizeof(n->adm));
	memset(n->db, 0, sizeof(n->db));
	memset(n->reg, 0, sizeof(n->reg));
	memset(n->tx, 0, sizeof(n->tx));
	memset(n->dirty, 0, sizeof(n->dirty));
	memset(n->buf_hint, 0, sizeof(n->buf_hint));
	memset(&n->pass, 0, sizeof(n->pass));
	memset(n->way, 0, sizeof(n->way));
	n->enabled = 0;
	n->resetting = 0;
	n->db_admin = 0;
	/* The keeper repeats a command that the switch has not answered. */
	if (ang_is_switch(fab, n))
		ang_node(fab, n->keeper)->db_admin = 1;
	n->buf_waiting = 0;
	n->rx = 0;
	n->timer = 0;
	for (i = 0; i < fab->nports; i++)
		ang_retry_clear(&ang_port(fab, n, i)->retry);
	n->retry_ports = 0;
	n->retry_due = 0;
	n->unreported = 0;
	n->red_trees = 0;
	n->ctl_trees = 0;
	n->stage = 0;
	n->at = 0;
	n->moved = false;
	n->unpublished = false;
	n->turn = 0;
	n->first = 0;
	n->calm = 0;
	n->refused = 0;
	ang_mgmt_reset(fab, n);
	ang_lost_forget(n);
}

static void refs_clear(struct ang_fabric *fab, struct ang_node *n)
{
	memset((char *)n + fab->off_ref, 0, fab->bufs * sizeof(u32));
}

/*
 * Count a reference for each output that still needs its copy of the packet;
 * one reference if the outputs are not computed yet.
 */
static void pkt_refs(struct ang_view *v, const struct ang_pkt *p,
		     const struct ang_outs *todo)
{
	if (p->type == ANG_PKT_VOID || !p->buf)
		return;
	ang_buf_share(v, p->buf,
		      todo->valid ? ang_count(todo->links) + todo->pe : 1);
}

static void ring_refs(struct ang_view *v, const struct ang_ring *r)
{
	struct ang_outs todo = r->todo;
	u32 at;

	for (at = r->head; at != r->put; at++, todo.valid = 0)
		pkt_refs(v, &r->pkt[at & (v->fab->cfg.depth - 1U)], &todo);
}

static void fifo_refs(struct ang_view *v, const struct ang_fifo *f)
{
	struct ang_outs todo = f->todo;
	u32 at;

	for (at = f->head; at != f->tail; at++, todo.valid = 0)
		pkt_refs(v, &f->pkt[at % ANG_FIFO], &todo);
}

static void slot_refs(struct ang_view *v, const struct ang_slot *s)
{
	u64 held = ang_ordered(s->pkt.dtype, s->pkt.redop) ? s->held : 0;
	u64 buf = s->waiting;

	ang_buf_share(v, s->pkt.buf, 1);
	for (; held; held &= held - 1) {
		ang_buf_share(v, buf, 1);
		buf = *ang_buf_link(v, buf);
	}
}

static void node_refs(struct ang_view *v, struct ang_node *n)
{
	u32 i, k;

	for (i = 0; i < node_rings(v->fab); i++)
		ring_refs(v, ring_nr(v->fab, n, i));
	for (i = 0; i < ANG_FIFO_NUM; i++)
		fifo_refs(v, &n->fifo[i]);
	for (i = 0; i < v->fab->cfg.trees; i++)
		for (k = 0; k < ANGARA_MAX_REDUCES; k++)
			if (n->tree[i].slot[k].pkt.npkts)
				slot_refs(v, &n->tree[i].slot[k]);
}

/* End operations with torn nodes; a thread that dies here leaves @n torn. */
static void node_tell(struct ang_view *v, struct ang_node *n)
{
	ang_fetch_or(&n->sched, ANG_SCHED_OWNED);
	if (n->enabled || ang_is_switch(v->fab, n))
		ang_lost_act(v, n);
	ang_ctx_publish(v, n);
	ang_fetch_and(&n->sched, ~ANG_SCHED_OWNED);
}

static void each_node(struct ang_view *v, bool torn,
		      void (*fn)(struct ang_view *v, struct ang_node *n))
{
	u32 i;

	for (i = 0; i < v->topo.routers; i++) {
		struct ang_node *n = ang_node(v->fab, i);

		if (n->torn == torn)
			fn(v, n);
	}
}

/* Mark the switches that torn nodes keep: they are reset, too. */
static void kept_mark(struct ang_fabric *fab)
{
	u32 i;

	for (i = fab->cfg.topo.nodes; i < fab->cfg.topo.routers; i++) {
		struct ang_node *s = ang_node(fab, i);

		if (ang_recover_torn(fab, s->keeper))
			ang_recover_mark(fab, i);
	}
}

static void torn_reset(struct ang_view *v, struct ang_node *n)
{
	node_reset(v->fab, n);
}

static void torn_pass(struct ang_view *v, struct ang_node *n)
{
	u32 nr;

	pass_end(v->fab, n);
	for (nr = 0; nr < node_rings(v->fab); nr++) {
		struct ang_ring *out = out_ring(v->fab, n, nr);

		if (out)
			ang_store_release(&out->tail, out->put);
	}
}

void ang_recover(struct ang_view *v)
{
	struct ang_fabric *fab = v->fab;
	u32 i;

	/* This is not a step of a node, so do not limit the work. */
	v->stop = ~0ULL;
	kept_mark(fab);
	for (i = 0; i < fab->cfg.topo.routers; i++)
		ang_lanes_clear(fab, ang_node(fab, i));
	each_node(v, true, torn_pass);
	for (i = 0; i < fab->cfg.topo.routers; i++)
		rings_void(fab, ang_node(fab, i));
	each_node(v, true, torn_reset);
	each_node(v, false, node_tell);
	each_node(v, true, ang_detour_torn);
	each_node(v, true, ang_faults_torn);
	for (i = 0; i < fab->cfg.topo.routers; i++)
		refs_clear(fab, ang_node(fab, i));
	for (i = 0; i < fab->cfg.topo.routers; i++)
		node_refs(v, ang_node(fab, i));
	for (i = 0; i < fab->cfg.topo.routers; i++)
		ang_mgmt_empty(fab, ang_node(fab, i));
	ang_sched_all(v);
	for (i = 0; i < fab->cfg.topo.routers; i++)
		WRITE_ONCE(ang_node(fab, i)->torn, 0);
}
