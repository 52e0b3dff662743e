// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Invariants of every fabric between two steps; see invariant.h.
 *
 * The memory of a fabric is one block, so sanitizers do not see a write past
 * the end of an object in it.  The tests find such a write by a broken
 * invariant.
 */
#include <string.h>

#include "invariant.h"
#include "test.h"

/* Number of references to the buffers of all nodes, as found in the fabric. */
static u32 *refs;
static u32 refs_num;
/* Number of trains and answers in flight of each operation, as found in rings. */
static u32 *trains;
static u32 trains_num;

static void count_refs(struct ang_fabric *fab, u64 buf, u32 more)
{
	u32 node = (u32)(buf >> 32);
	u32 index = (u32)buf - 1;

	if (!buf)
		return;
	EXPECT(node < fab->cfg.topo.routers && index < fab->bufs);
	refs[node * fab->bufs + index] += more;
}

static u32 *trains_of(struct ang_fabric *fab, u32 node, u32 ctx, u32 slot)
{
	return &trains[(node * fab->cfg.ctxs + ctx) * fab->cfg.ops + slot];
}

/* Counts a request in flight to the target, or the answer to it. */
static void count_train(struct ang_fabric *fab, const struct ang_pkt *p)
{
	bool answer = p->type == ANG_PKT_ACK || p->type == ANG_PKT_DATA ||
		      p->type == ANG_PKT_RNR;
	u32 node = answer ? p->dst_node : p->src_node;
	u32 ctx = answer ? p->dst_ctx : p->src_ctx;
	struct ang_node *n;
	struct ang_op *op;

	if (!answer && p->type != ANG_PKT_PUT && p->type != ANG_PKT_GET &&
	    p->type != ANG_PKT_SEND && p->type != ANG_PKT_ATOMIC)
		return;
	EXPECT(node < fab->cfg.topo.nodes);
	EXPECT(ctx < fab->cfg.ctxs && p->slot < fab->cfg.ops);
	n = ang_node(fab, node);
	op = ang_op(n, ang_ctx(fab, n, ctx), p->slot);
	if (op->state != ANG_OP_FREE && op->gen == p->gen)
		++*trains_of(fab, node, ctx, p->slot);
}

static void packet(struct ang_fabric *fab, const struct ang_pkt *p)
{
	EXPECT(p->type >= ANG_PKT_PUT && p->type < ANG_PKT_NUM);
	EXPECT(p->npkts >= 1 && p->npkts <= fab->cfg.train);
	EXPECT(p->tree < fab->cfg.trees);
	EXPECT(!p->buf || p->len <= fab->buf_size);
	EXPECT(p->src_node < fab->cfg.topo.routers);
	EXPECT(p->status < ANGARA_ST_NUM);
}

/* Checks a FIFO of @size entries, whose head still has to go to outputs @todo. */
static void fifo(struct ang_fabric *fab, const struct ang_pkt *pkt, u32 size,
		 u32 head, u32 tail, struct ang_outs todo)
{
	EXPECT(tail - head <= size);
	EXPECT(!todo.valid || head != tail);
	EXPECT(todo.valid ? todo.links || todo.pe : !todo.links && !todo.pe);
	for (; head != tail; head++, todo.valid = 0) {
		const struct ang_pkt *p = &pkt[head & (size - 1)];

		packet(fab, p);
		count_refs(fab, p->buf,
			   todo.valid ? ang_count(todo.links) + todo.pe : 1);
	}
}

static void rings(struct ang_fabric *fab, struct ang_node *n)
{
	u32 dir, vc;

	for (dir = 0; dir < fab->nports; dir++)
		for (vc = 0; vc < ANGARA_VC_NUM; vc++) {
			struct ang_ring *r = ang_ring(fab, n, dir, vc);

			/*
			 * The producer may be active; it adds whole packets
			 * only.
			 */
			u32 tail = ang_load_acquire(&r->put);
			u32 at;

			EXPECT(tail - ang_load_acquire(&r->tail) <= fab->cfg.depth);
			fifo(fab, r->pkt, fab->cfg.depth, r->head, tail,
			     r->todo);
			for (at = r->head; at != tail && !fab->cfg.remote; at++)
				count_train(fab, &r->pkt[at & (fab->cfg.depth -
							       1U)]);
			EXPECT(r->waiting <= 1);
			EXPECT(ang_port(fab, n, dir)->peer != ANG_NONE ||
			       r->head == tail);
		}
}

/* Checks contributions that wait for an earlier one: each holds a buffer. */
static void waiting(struct ang_fabric *fab, const struct ang_tree *t,
		    const struct ang_slot *s)
{
	struct ang_view v = { .fab = fab };
	u32 many = ang_count(s->held);
	u64 buf = s->waiting;

	EXPECT(!(s->held & ~s->left) && !(s->left & ~t->places));
	EXPECT(!s->left || !(s->held & (s->left & -s->left)));
	for (; many; many--) {
		EXPECT(buf);
		count_refs(fab, buf, 1);
		buf = *ang_buf_link(&v, buf);
	}
	EXPECT(!buf);
}

/* Directions in which a row has a neighbor of its tree. */
static u64 links(const struct angara_tree_row *row)
{
	return row->ports | ang_port_up(row);
}

static void tree(struct ang_fabric *fab, struct ang_node *n, u32 number)
{
	struct ang_topo topo = ang_fab_topo(fab);
	struct ang_tree *t = &n->tree[number];
	u64 places = 0;
	u32 held = 0;
	u32 i;

	EXPECT(t->state <= ANGARA_TREE_STATE_DOWN);
	EXPECT(t->state != ANGARA_TREE_STATE_UNSET || !t->members);
	if (t->state == ANGARA_TREE_STATE_UNSET)
		return;
	EXPECT_EQ(t->row.tree, number);
	EXPECT_EQ(ang_tree_row_check(&topo, n->id, &t->row), 0);
	EXPECT(t->life);
	/*
	 * A child's side is whole only after the child has been met.  A row
	 * opens only after all sides are whole and its parent has been met.
	 */
	EXPECT(!(t->met & ~links(&t->row)) && !(t->whole & ~(t->met & t->row.ports)));
	EXPECT(!t->open || t->whole == t->row.ports);
	EXPECT(!t->open || t->row.is_root || t->met & 1U << t->row.to_root);
	for (i = 0; i < fab->nports; i++)
		EXPECT(ang_lives(fab, n, number)[i] || !(t->met >> i & 1));
	EXPECT(t->members <= t->row.pe);
	for (i = 0; i < t->members; i++) {
		struct ang_ctx *c = ang_ctx(fab, n, t->member[i]);

		EXPECT(t->member[i] < fab->cfg.ctxs && c->alive);
		EXPECT(c->joined & 1U << number && c->pkey == t->row.pkey &&
		       (!t->job || c->job == t->job));
		EXPECT(c->place[number] < t->row.pe);
		EXPECT(!(places & 1U << c->place[number]));
		places |= 1U << c->place[number];
	}
	EXPECT_EQ(ang_count(t->places), (u32)t->row.pe + t->row.port_sum);
	EXPECT(t->state != ANGARA_TREE_STATE_UP || places == t->taken);
	for (i = 0; i < ANGARA_MAX_REDUCES; i++) {
		struct ang_slot *s = &t->slot[i];

		if (!s->pkt.npkts)
			continue;
		EXPECT(!(s->left & ~t->places));
		EXPECT(s->pkt.seq % ANGARA_MAX_REDUCES == i);
		packet(fab, &s->pkt);
		count_refs(fab, s->pkt.buf, 1);
		if (ang_ordered(s->pkt.dtype, s->pkt.redop))
			waiting(fab, t, s);
		held += s->pkt.npkts;
	}
	EXPECT_EQ(held, t->in_flight);
	EXPECT(held <= ANGARA_MAX_REDUCES);
}

/* Checks that operations of a context that inject into a tree are in a list. */
static void injections(struct ang_fabric *fab, struct ang_node *n,
		       struct ang_ctx *c, u32 number)
{
	struct ang_member *m = &c->member[number];
	u32 left = fab->cfg.ops;
	u64 unsent = 0;
	u32 last = 0;
	u64 set;
	u32 at;

	EXPECT(!m->first == !(c->tree_tx & 1U << number));
	for (at = m->first; at; left--) {
		struct ang_op *op;

		EXPECT(left && at <= fab->cfg.ops);
		EXPECT(m->ops & 1ULL << (at - 1));
		op = ang_op(n, c, at - 1);
		EXPECT(op->tree == number && !op->sent_all);
		unsent |= 1ULL << (at - 1);
		last = at;
		at = op->next;
	}
	for (set = m->ops; set; set &= set - 1) {
		struct ang_op *op = ang_op(n, c, ang_lowest(set));

		EXPECT(op->state == ANG_OP_ACTIVE && ang_is_coll(op->opcode));
		EXPECT(op->tree == number);
		EXPECT(op->sent_all || unsent >> ang_lowest(set) & 1);
		EXPECT(op->npkts_done <= op->npkts_sent);
		EXPECT(op->npkts_sent <= op->npkts || !op->npkts);
	}
	EXPECT_EQ(m->last, last);
	EXPECT(c->joined & 1U << number || (!m->ops && !m->first));
}

/* Checks that an operation is in the list of its kind, and in no other list. */
static void placed(struct ang_fabric *fab, const struct ang_ctx *c,
		   const struct ang_op *op, u32 slot)
{
	u64 bit = 1ULL << slot;
	u32 i;

	for (i = 0; i < fab->cfg.trees; i++)
		EXPECT(!(c->member[i].ops & bit) ==
		       !(ang_is_coll(op->opcode) && op->tree == i));
	EXPECT(!(c->sends & bit) == (op->opcode != ANGARA_OP_SEND));
	if (ang_is_coll(op->opcode))
		EXPECT(!(c->p2p_tx & bit));
	else if (op->opcode != ANGARA_OP_SEND)
		EXPECT_EQ(!(c->p2p_tx & bit), op->sent_all);
}

/* Checks that an operation that is held back has not started. */
static void held(struct ang_fabric *fab, const struct ang_ctx *c,
		 const struct ang_op *op, u32 slot)
{
	u64 bit = 1ULL << slot;
	u32 i;

	EXPECT(!ang_is_coll(op->opcode) && !op->sent && !op->trains);
	EXPECT(!((c->p2p_tx | c->sends) & bit));
	EXPECT(!(op->after & (c->free | c->ghosts | bit)));
	EXPECT(!op->after == !!(c->due & bit));
	for (i = 0; i < fab->cfg.trees; i++)
		EXPECT(!(c->member[i].ops & bit));
}

/* Checks messages to one receiver: they form a line, of which the first is sent. */
static void sends(struct ang_fabric *fab, struct ang_node *n, struct ang_ctx *c)
{
	u64 behind = 0;
	u64 set;

	for (set = c->sends; set; set &= set - 1) {
		struct ang_op *op = ang_op(n, c, ang_lowest(set));
		struct ang_op *next;

		EXPECT(op->state == ANG_OP_ACTIVE);
		EXPECT(op->opcode == ANGARA_OP_SEND && op->dst_node < fab->cfg.topo.nodes);
		EXPECT(op->phase <= ANG_SEND_REST && op->turn <= 1);
		if (!op->next)
			continue;
		EXPECT(op->next <= fab->cfg.ops);
		EXPECT(c->sends >> (op->next - 1) & 1);
		EXPECT(!(behind >> (op->next - 1) & 1));
		behind |= 1ULL << (op->next - 1);
		next = ang_op(n, c, op->next - 1U);
		EXPECT(next->dst_node == op->dst_node);
		EXPECT(next->dst_ctx == op->dst_ctx);
		EXPECT(next->phase == ANG_SEND_START && !next->trains);
	}
	EXPECT(!(behind & c->p2p_tx));
}

/*
 * Checks state that outlives a context: the nodes that wait for room in its
 * receive buffer, and messages whose receiver still has to be told
 * (ANG_OP_GHOST).
 */
static void remains(struct ang_fabric *fab, struct ang_node *n, struct ang_ctx *c)
{
	u64 ghosts = 0;
	u32 i;

	EXPECT(fab->cfg.topo.nodes <= 64);
	EXPECT(!(c->waiting[0] & ~(~0ULL >> (64 - fab->cfg.topo.nodes))));
	EXPECT_EQ(c->wait_words, !!c->waiting[0]);
	EXPECT(c->wait_at < ANG_WAIT_GROUPS);
	for (i = 0; i < fab->cfg.ops; i++) {
		struct ang_op *op = ang_op(n, c, i);

		EXPECT(op->state <= ANG_OP_HELD);
		if (op->state != ANG_OP_GHOST)
			continue;
		EXPECT(op->opcode == ANGARA_OP_SEND);
		ghosts |= 1ULL << i;
	}
	EXPECT_EQ(c->ghosts, ghosts);
}

static void area(struct ang_fabric *fab, struct ang_ctx *c)
{
	struct ang_area *a = &c->area;
	u32 i;

	if (!a->units) {
		EXPECT(!a->notified && !a->pi);
		EXPECT(!a->turn || c->wake);
		return;
	}
	EXPECT(a->units >= 256 && a->units <= 65536);
	EXPECT(!(a->units & (a->units - 1)));
	EXPECT(a->pi - a->ci <= a->units);
	EXPECT(a->turn <= fab->cfg.topo.nodes && a->ready_out <= fab->cfg.topo.nodes);
	EXPECT(a->due <= 1 && a->notified <= 1);
	EXPECT(!a->due || a->turn);
	/* Otherwise the model would not notify a waiter when there is room. */
	EXPECT(a->notified || c->wake || !(a->turn || c->wait_words));
	for (i = 0; i < ANG_PARTS; i++) {
		struct ang_part *part = &a->part[i];
		u32 units = 1 + (part->length + ANGARA_MSG_UNIT - 1) /
				ANGARA_MSG_UNIT;

		EXPECT(part->used <= 1);
		if (!part->used)
			continue;
		EXPECT(part->node < fab->cfg.topo.nodes && part->ctx < fab->cfg.ctxs);
		EXPECT(part->length <= ANGARA_MAX_MSG);
		EXPECT(part->got < part->length);
		EXPECT((part->place & (a->units - 1)) + units <= a->units);
	}
}

/* Return: number of bytes that an operation injects. */
static u32 gives(const struct ang_op *op)
{
	if (ang_is_coll(op->opcode) || op->opcode <= ANGARA_OP_SEND)
		return op->len;
	return op->len * ang_atomic_operands(op->redop);
}

static void context(struct ang_fabric *fab, struct ang_node *n, u32 number)
{
	struct ang_ctx *c = ang_ctx(fab, n, number);
	u64 all = fab->cfg.ops == 64 ? ~0ULL : (1ULL << fab->cfg.ops) - 1;
	u32 busy = 0;
	u32 i;

	EXPECT(c->alive <= 1);
	EXPECT_EQ(c->id, number);
	EXPECT((char *)ang_op(n, c, 0) == (char *)fab + n->pe + fab->off_op +
	       (u64)number * fab->cfg.ops * sizeof(struct ang_op));
	remains(fab, n, c);
	if (!c->alive)
		return;
	EXPECT(c->sq_log2 >= 3 && c->sq_log2 <= 15);
	EXPECT(c->cq_log2 >= 3 && c->cq_log2 <= 16);
	EXPECT(c->sq_pi - c->sq_ci <= 1U << c->sq_log2);
	EXPECT(c->cq_pi - c->cq_ci + c->nops <= 1U << c->cq_log2);
	EXPECT(c->pkey && c->pkey == ang_dom(fab, n, c->dom)->pkey);
	EXPECT(c->job == ang_dom(fab, n, c->dom)->job);
	EXPECT(!(c->held & c->free) && !(c->due & ~c->held));
	EXPECT(!(c->free & ~all) && !(c->p2p_tx & (c->free | ~all)));
	for (i = 0; i < fab->cfg.ops; i++) {
		struct ang_op *op = ang_op(n, c, i);

		EXPECT(!(c->free >> i & 1) == (op->state != ANG_OP_FREE));
		EXPECT(!(c->held >> i & 1) == (op->state != ANG_OP_HELD));
		if (op->state == ANG_OP_HELD)
			held(fab, c, op, i);
		else if (op->state != ANG_OP_ACTIVE)
			continue;
		busy++;
		EXPECT(op->opcode < ANGARA_OP_NUM);
		EXPECT(op->status < ANGARA_ST_NUM && op->sent <= gives(op));
		EXPECT(op->len <= ANGARA_MAX_OP_BYTES);
		EXPECT(!op->inl || op->len <= ANGARA_MAX_INLINE);
		if (op->state != ANG_OP_ACTIVE)
			continue;
		EXPECT(op->opcode != ANGARA_OP_SEND || c->sends >> i & 1);
		placed(fab, c, op, i);
	}
	EXPECT_EQ(busy, c->nops);
	sends(fab, n, c);
	area(fab, c);
	for (i = 0; i < fab->cfg.trees; i++)
		injections(fab, n, c, i);
}

/* Checks that a domain counts its contexts; an absent domain has none. */
static void domain(struct ang_fabric *fab, struct ang_node *n, u32 number)
{
	const struct ang_dom *d = ang_dom(fab, n, number);
	u32 ctxs = 0;
	u32 i;

	for (i = 0; i < fab->cfg.ctxs; i++) {
		struct ang_ctx *c = ang_ctx(fab, n, i);

		ctxs += c->alive && c->dom == number;
	}
	EXPECT_EQ(d->ctxs, ctxs);
	EXPECT(!ctxs || d->pkey);
	EXPECT(d->mrs <= ANGARA_MR_MAX);
}

static void node(struct ang_fabric *fab, u32 number)
{
	struct ang_topo topo = ang_fab_topo(fab);
	struct ang_node *n = ang_node(fab, number);
	u32 i;

	EXPECT_EQ(n->id, number);
	for (i = 0; i < fab->nports; i++) {
		const struct ang_port *port = ang_port(fab, n, i);
		u32 far;

		EXPECT_EQ(port->peer,
			  ang_topo_peer(&topo, number, i, &far));
		EXPECT(port->peer == ANG_NONE || port->far == far);
	}
	rings(fab, n);
	for (i = 0; i < ANG_FIFO_NUM; i++)
		fifo(fab, n->fifo[i].pkt, ANG_FIFO, n->fifo[i].head,
		     n->fifo[i].tail, n->fifo[i].todo);
	for (i = 0; i < fab->cfg.trees; i++)
		tree(fab, n, i);
	if (number >= fab->cfg.topo.nodes)
		return;
	for (i = 0; i < fab->cfg.ctxs; i++)
		context(fab, n, i);
	for (i = 0; i < fab->cfg.ctxs; i++)
		domain(fab, n, i);
}

/* Checks that each train is in flight, or that its answer is. */
static void answers_come(struct ang_fabric *fab)
{
	u32 i, ctx, slot;

	for (i = 0; i < fab->cfg.topo.nodes; i++)
		for (ctx = 0; ctx < fab->cfg.ctxs; ctx++)
			for (slot = 0; slot < fab->cfg.ops; slot++) {
				struct ang_node *n = ang_node(fab, i);
				struct ang_op *op = ang_op(n, ang_ctx(
						fab, n, ctx), slot);

				if (op->state == ANG_OP_FREE)
					continue;
				EXPECT_EQ(op->trains,
					  *trains_of(fab, i, ctx, slot));
			}
}

static u32 *zeroed(u32 *array, u32 *num, u32 want)
{
	if (*num < want) {
		free(array);
		array = malloc(want * sizeof(*array));
		*num = want;
	}
	memset(array, 0, want * sizeof(*array));
	return array;
}

void invariants(struct ang_fabric *fab, u64 held)
{
	u32 routers = fab->cfg.topo.routers;
	u32 bufs = fab->bufs;
	u32 i, b;

	refs = zeroed(refs, &refs_num, routers * bufs);
	trains = zeroed(trains, &trains_num,
			routers * fab->cfg.ctxs * fab->cfg.ops);
	for (i = 0; i < routers; i++)
		if (!(i < 64 && held >> i & 1))
			node(fab, i);
	for (i = 0; i < routers; i++) {
		u32 *ref = (u32 *)((char *)ang_node(fab, i) + fab->off_ref);

		for (b = 0; b < bufs; b++) {
			u32 found = refs[i * bufs + b];

			if (held)
				EXPECT(found <= READ_ONCE(ref[b]));
			else
				EXPECT_EQ(ref[b], found);
		}
	}
	if (!held && !fab->cfg.remote)
		answers_come(fab);
}

u64 invariants_held(struct ang_fabric *fab)
{
	u64 held = 0;
	u32 i;

	for (i = 0; i < fab->cfg.topo.routers; i++)
		if (READ_ONCE(ang_node(fab, i)->sched) & ANG_SCHED_OWNED)
			held |= 1ULL << i;
	return held;
}

static void idle_rings(struct ang_fabric *fab, struct ang_node *n)
{
	u32 dir, vc;

	for (dir = 0; dir < fab->nports; dir++) {
		for (vc = 0; vc < ANGARA_VC_NUM; vc++) {
			struct ang_ring *r = ang_ring(fab, n, dir, vc);

			EXPECT_EQ(r->head, r->tail);
			EXPECT_EQ(r->put, r->tail);
			EXPECT_EQ(ang_port(fab, n, dir)->retry.held, 0);
			EXPECT(!r->todo.valid);
		}
	}
}

void invariants_idle(struct ang_fabric *fab)
{
	u32 i, b, t;

	for (i = 0; i < fab->cfg.topo.routers; i++) {
		struct ang_node *n = ang_node(fab, i);
		u32 *ref = (u32 *)((char *)n + fab->off_ref);

		idle_rings(fab, n);
		for (b = 0; b < fab->bufs; b++)
			EXPECT_EQ(ref[b], 0);
		for (t = 0; t < fab->cfg.trees; t++)
			EXPECT(!n->tree[t].abort_todo);
		/* Threads of a server may read the state of links meanwhile. */
		EXPECT_EQ(__atomic_load_n(&n->sched, __ATOMIC_RELAXED), n->remote ? ANG_SCHED_OWNED |
						ANG_SCHED_REMOTE : 0);
	}
}
