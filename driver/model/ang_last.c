// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The last contribution to a reduction of one packet.
 *
 * Packets define the behaviour; this shortcut must have the same effects, as in
 * ang_hop.c.  If an allreduce or barrier lacks only the contribution of one
 * participant, and this participant is at the root or at a leaf right below the
 * root, its entry is executed at once: the data is combined into the root's
 * Reducer, and the participant gets the result immediately, without an
 * operation or packet.  Each counter gets the value that it would get by
 * packets.  The other participants get the result as usual.
 *
 * Since only one contribution is missing, it is also the last in the order of
 * combining: the result is bit-identical to that of packets.
 *
 * If any check fails, nothing is changed and the entry takes the usual path,
 * where the same check fails again.
 */
#include "ang_int.h"

/**
 * struct last - an entry that may be the last contribution to a reduction
 * @c: context of the entry
 * @w: the entry
 * @p: packet of the entry; only the head is used
 * @t: tree at the node of the context
 * @slot: slot of the reduction in @t, NULL if no other participant of the node
 *	contributes
 * @parent: root, which is held; NULL if the node itself is the root
 * @far: port of the root that leads to the node
 * @root_slot: slot of the reduction at the root
 * @data: contribution of the entry, then the result
 */
struct last {
	struct ang_ctx *c;
	const struct angara_wqe *w;
	struct ang_pkt p;
	struct ang_tree *t;
	struct ang_slot *slot;
	struct ang_node *parent;
	u32 far;
	struct ang_slot *root_slot;
	u64 data[ANGARA_PACKET_BYTES / 8];
};

static u32 last_flits(const struct last *l)
{
	return ang_flits_of(1, l->p.len);
}

static void last_head(const struct ang_node *n, struct last *l)
{
	const struct angara_wqe *w = l->w;
	struct ang_pkt *p = &l->p;

	memset(p, 0, sizeof(*p));
	p->type = ANG_PKT_ALLREDUCE;
	p->tree = l->t->row.tree;
	p->npkts = 1;
	p->len = le32_to_cpu(w->length);
	p->src_node = n->id;
	p->src_ctx = (u16)l->c->id;
	p->pkey = l->c->pkey;
	p->job = l->t->job;
	p->seq = l->t->done;
	if (w->opcode == ANGARA_OP_BARRIER)
		return;
	p->dtype = w->type;
	p->redop = w->redop;
}

/* Is the entry the last missing contribution of its node? */
static bool node_lacks(struct ang_view *v, struct ang_node *n, struct last *l)
{
	struct ang_tree *t = l->t;
	u64 bit = ang_place_bit(v, n, &l->p, ANGARA_PORT_NONE);

	l->slot = NULL;
	if (t->state != ANGARA_TREE_STATE_UP || !t->open ||
	    (t->row.ports && !t->row.is_root) || !ang_fifo_empty(n, ANG_FIFO_PE) ||
	    l->c->member[l->p.tree].seq != t->done)
		return false;
	if (!t->row.is_root && t->places == bit)
		return true;
	l->slot = ang_slot_lacks(t, &l->p, bit);
	return l->slot;
}

/*
 * Is the node's contribution the last that the parent, which must be the root,
 * lacks? Takes the parent if it is idle: the caller releases l->parent.
 */
static bool parent_lacks(struct ang_view *v, struct ang_node *n, struct last *l)
{
	u32 up = l->t->row.to_root;
	struct ang_port *port = ang_port(v->fab, n, up);
	struct ang_node *parent = ang_node(v->fab, port->peer);
	struct ang_pkt *p = &l->p;

	l->far = port->far;
	if (!l->t->up_credits || !ang_node_seize(v, parent))
		return false;
	l->parent = parent;
	p->life = ang_lives(v->fab, n, p->tree)[up];
	if (!ang_ring_clear(v, ang_ring(v->fab, n, up, ANGARA_VC_DOWN)) ||
	    !ang_ring_clear(v, ang_ring(v->fab, parent, l->far, ANGARA_VC_UP)) ||
	    !ang_up_fits(parent, p, l->far) || !parent->tree[p->tree].row.is_root ||
	    ang_lives(v->fab, parent, p->tree)[l->far] != l->t->life)
		return false;
	l->root_slot = ang_slot_lacks(&parent->tree[p->tree], p,
				      ang_child_place(&parent->tree[p->tree].row, l->far));
	return l->root_slot;
}

/* Combine: acc = acc op in. */
static void last_fold(struct ang_view *v, const struct last *l, void *acc, const void *in)
{
	ang_work(v, ang_combine_work(l->p.len, l->p.dtype, l->p.redop));
	ang_combine(acc, in, l->p.len, l->p.dtype, l->p.redop);
}

/*
 * Remove a result from its slot.  No later slot can have a result yet, since
 * each lacks this participant's contribution.
 */
static void slot_end(struct ang_view *v, struct ang_node *n, struct ang_tree *t,
		     const struct last *l)
{
	n->clock += last_flits(l);
	ang_result_count(v, n, t, 1);
}

/* Count the node's contribution. */
static void given_count(struct ang_node *n, struct last *l)
{
	struct ang_ctx *c = l->c;
	u32 flits = last_flits(l);

	n->cnt.injected_packets++;
	n->cnt.injected_flits += flits;
	c->cnt.tx_packets++;
	c->cnt.tx_bytes += l->p.len;
	c->member[l->p.tree].seq++;
	n->clock += 2 * flits;
	l->t->cnt.reduce_packets++;
}

/* Combine the node's contributions into @data, and send them up to the root. */
static void part_up(struct ang_view *v, struct ang_node *n, struct last *l)
{
	struct ang_tree *t = l->t;

	l->p.buf = l->root_slot->pkt.buf;
	if (l->slot && l->p.len) {
		last_fold(v, l, ang_buf_data(v, l->slot->pkt.buf), l->data);
		memcpy(l->data, ang_buf_data(v, l->slot->pkt.buf), l->p.len);
		ang_buf_put(v, l->slot->pkt.buf, 1);
	}
	if (l->slot)
		l->slot->pkt.npkts = 0;
	else if (++t->in_flight > t->cnt.max_in_flight)
		t->cnt.max_in_flight = t->in_flight;
	t->up_credits--;
	ang_link_count(v, n, &l->p, t->row.to_root, ANGARA_VC_UP);
	slot_end(v, n, t, l);
	l->parent->clock += last_flits(l);
	l->parent->tree[l->p.tree].cnt.reduce_packets++;
}

/* Give the result to the context, after the other participants of its node. */
static void last_take(struct ang_view *v, struct ang_node *n, struct last *l)
{
	const struct angara_wqe *w = l->w;
	struct ang_ctx *c = l->c;
	u32 len = l->p.len;
	u32 status = 0;

	c->cnt.rx_packets++;
	c->cnt.rx_bytes += len;
	if (len)
		status = ang_mr_keep(v, n, c, le32_to_cpu(w->aux_key),
				     le64_to_cpu(w->aux), len, l->data);
	ang_entry_done(v, n, c, w, status);
}

/* Return: ports of the root to its children, except the child that contributes last. */
static u64 other_children(const struct last *l, const struct ang_node *root)
{
	u64 links = root->tree[l->p.tree].row.ports;

	return l->parent ? links & ~(1ULL << l->far) : links;
}

/*
 * Send the result to the other children, whose links have room, then to the
 * participants of the root.
 */
static void root_issue(struct ang_view *v, struct ang_node *root,
		       const struct ang_pkt *r, struct ang_outs *todo)
{
	u32 count = ang_count(todo->links) + todo->pe;

	if (!count) {
		ang_buf_put(v, r->buf, 1);
		return;
	}
	ang_buf_share(v, r->buf, count - 1);
	/* All links have room, see root_free(). */
	ang_issue(v, root, r, todo, ANGARA_PORT_NONE);
}

/*
 * Can the root distribute the result at once? If not, a participant that has the
 * result could send a packet down the tree that overtakes the result.
 */
static bool root_free(struct ang_view *v, const struct last *l, struct ang_node *root)
{
	return ang_fifo_empty(root, ANG_FIFO_ROOT) &&
	       ang_children_free(v, root, other_children(l, root));
}

/*
 * All have contributed: distribute the root's result, except to the context of
 * the entry, which gets the result by last_take().
 */
static void last_finish(struct ang_view *v, struct ang_node *n, struct last *l)
{
	struct ang_node *root = l->parent ? l->parent : n;
	struct ang_tree *t = &root->tree[l->p.tree];
	struct ang_slot *s = l->root_slot;
	struct ang_outs todo;
	struct ang_pkt r, q;

	if (l->p.len) {
		last_fold(v, l, ang_buf_data(v, s->pkt.buf), l->data);
		memcpy(l->data, ang_buf_data(v, s->pkt.buf), l->p.len);
	}
	if (l->p.hops > s->pkt.hops)
		s->pkt.hops = l->p.hops;
	r = s->pkt;
	s->pkt.npkts = 0;
	slot_end(v, root, t, l);
	todo = ang_outputs_down(root, &r);
	todo.links = other_children(l, root);
	q = r;
	if (l->parent) {
		ang_link_count(v, root, &q, l->far, ANGARA_VC_DOWN);
		ang_outputs_down(n, &q);
		ang_eject(v, n, &q, l->t->row.to_root, l->c);
	} else {
		todo.pe = 0;
		ang_eject(v, n, &r, ANGARA_PORT_NONE, l->c);
	}
	root_issue(v, root, &r, &todo);
}

/**
 * ang_last_entry() - execute an entry that is the last contribution to a
 * reduction
 * @v: view
 * @n: node
 * @c: context with no pending operation, and room for a completion
 * @w: next entry of the context, which is valid
 *
 * Return: true if the entry was executed.
 */
bool ang_last_entry(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct angara_wqe *w)
{
	u32 tree = le16_to_cpu(w->tree);
	struct last l;
	bool done;

	if ((w->opcode != ANGARA_OP_ALLREDUCE && w->opcode != ANGARA_OP_BARRIER) ||
	    le32_to_cpu(w->length) > ANGARA_PACKET_BYTES || !ang_linkless(v) ||
	    !(c->joined >> tree & 1))
		return false;
	l.c = c;
	l.w = w;
	l.t = &n->tree[tree];
	l.parent = NULL;
	last_head(n, &l);
	if (!node_lacks(v, n, &l))
		return false;
	l.root_slot = l.slot;
	/*
	 * Read the contribution from the process's memory before taking the
	 * root, see ang_express.c.
	 */
	done = ang_reduce_room(v, n, l.t, l.p.seq, 1) && !ang_entry_source(v, n, c, w, l.data) &&
	       (l.t->row.is_root || parent_lacks(v, n, &l)) &&
	       root_free(v, &l, l.parent ? l.parent : n);
	if (done) {
		bool climb = v->climb;

		/* Keep no neighbor while the participant's memory is written below. */
		v->climb = false;
		ang_work(v, 2 * ANG_WORK_PKT);
		given_count(n, &l);
		if (l.parent)
			part_up(v, n, &l);
		last_finish(v, n, &l);
		v->climb = climb;
	}
	if (l.parent)
		ang_node_leave(v, l.parent);
	if (done)
		last_take(v, n, &l);
	return done;
}
