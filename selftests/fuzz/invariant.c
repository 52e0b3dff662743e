// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is true of every fabric between two steps, whatever was done to it.
 *
 * Memory of a fabric is one block, so that a write past the end of something
 * in it is no matter for a sanitizer.  Such a write breaks something here.
 */
#include <string.h>

#include "fuzz.h"

/* References to the buffers of all nodes, as found in the fabric. */
static u32 *refs;
static u32 refs_num;

static void count_refs(struct host *h, u64 buf, u32 more)
{
	u32 node = (u32)(buf >> 32);
	u32 index = (u32)buf - 1;

	if (!buf)
		return;
	EXPECT(node < h->nodes && index < h->fab->bufs);
	refs[node * h->fab->bufs + index] += more;
}

static void packet(struct host *h, const struct ang_pkt *p)
{
	EXPECT(p->type >= ANG_PKT_PUT && p->type < ANG_PKT_NUM);
	EXPECT(p->npkts >= 1 && p->npkts <= h->cfg.train);
	EXPECT(p->tree < ANGARA_MAX_TREES);
	EXPECT(!p->buf || p->len <= h->fab->buf_size);
	EXPECT(p->src_node < h->nodes);
	EXPECT(p->status < ANGARA_ST_NUM);
}

/* A FIFO of @size places whose head still owes @todo. */
static void fifo(struct host *h, const struct ang_pkt *pkt, u32 size, u32 head,
		 u32 tail, u32 todo)
{
	EXPECT(tail - head <= size);
	EXPECT(!todo || head != tail);
	for (; head != tail; head++, todo = 0) {
		const struct ang_pkt *p = &pkt[head & (size - 1)];

		packet(h, p);
		count_refs(h, p->buf,
			   todo ? ang_count(todo & ~ANG_OUT_VALID) : 1);
	}
}

static void rings(struct host *h, struct ang_node *n)
{
	u32 dir, vc;

	for (dir = 0; dir < 2 * h->cfg.ndims; dir++)
		for (vc = 0; vc < ANGARA_VC_NUM; vc++) {
			struct ang_ring *r = ang_ring(h->fab, n, dir, vc);

			fifo(h, r->pkt, h->cfg.depth, r->head, r->tail, r->todo);
			EXPECT(r->waiting <= 1);
			EXPECT(h->cfg.dims[dir / 2] > 1 || r->head == r->tail);
		}
}

/* Contributions that wait for one before them, a buffer for each. */
static void waiting(struct host *h, const struct ang_tree *t,
		    const struct ang_slot *s)
{
	u32 many = ang_count(s->held);
	u64 buf = s->waiting;

	EXPECT(!(s->held & ~s->left) && !(s->left & ~t->places));
	EXPECT(!s->left || !(s->held & (s->left & -s->left)));
	for (; many; many--) {
		EXPECT(buf);
		count_refs(h, buf, 1);
		buf = *ang_buf_link(&h->v, buf);
	}
	EXPECT(!buf);
}

/* Directions in which a row has a neighbor of its tree. */
static u32 links(const struct angara_tree_row *row)
{
	return row->dirs | (row->is_root ? 0 : 1U << row->to_root);
}

static void tree(struct host *h, struct ang_node *n, u32 number)
{
	struct ang_tree *t = &n->tree[number];
	u32 places = 0;
	u32 held = 0;
	u32 i;

	EXPECT(t->state <= ANGARA_TREE_STATE_DOWN);
	EXPECT(t->state != ANGARA_TREE_STATE_UNSET || !t->members);
	if (t->state == ANGARA_TREE_STATE_UNSET)
		return;
	EXPECT_EQ(t->row.tree, number);
	EXPECT_EQ(ang_tree_row_check(&h->fab->topo, &t->row), 0);
	EXPECT(t->life);
	/* Neighbors have met before their side is whole, and all before it opens. */
	EXPECT(!(t->met & ~links(&t->row)) && !(t->whole & ~(t->met & t->row.dirs)));
	EXPECT(!t->open || t->whole == t->row.dirs);
	EXPECT(!t->open || t->row.is_root || t->met & 1U << t->row.to_root);
	for (i = 0; i < ANGARA_MAX_DIRS; i++)
		EXPECT(t->peer[i] || !(t->met & 1U << i));
	EXPECT(t->members <= t->row.pe);
	for (i = 0; i < t->members; i++) {
		struct ang_ctx *c = ang_ctx(h->fab, n, t->member[i]);

		EXPECT(t->member[i] < h->cfg.ctxs && c->alive);
		EXPECT(c->joined & 1U << number && c->pkey == t->row.pkey);
		EXPECT(c->place[number] < t->row.pe);
		EXPECT(!(places & 1U << c->place[number]));
		places |= 1U << c->place[number];
	}
	EXPECT_EQ(ang_count(t->places), (u32)t->row.pe + t->row.dir_sum);
	EXPECT(t->state != ANGARA_TREE_STATE_UP || places == t->taken);
	for (i = 0; i < ANGARA_MAX_REDUCES; i++) {
		struct ang_slot *s = &t->slot[i];

		if (!s->used)
			continue;
		EXPECT(!(s->left & ~t->places));
		EXPECT(s->pkt.seq % ANGARA_MAX_REDUCES == i);
		packet(h, &s->pkt);
		count_refs(h, s->pkt.buf, 1);
		if (ang_ordered(s->pkt.dtype, s->pkt.redop))
			waiting(h, t, s);
		held += s->pkt.npkts;
	}
	EXPECT_EQ(held, t->in_flight);
	EXPECT(held <= ANGARA_MAX_REDUCES);
}

/* What a context injects into a tree stands in a list of its operations. */
static void injections(struct host *h, struct ang_node *n, struct ang_ctx *c,
		       u32 number)
{
	struct ang_member *m = &c->member[number];
	u32 left = h->cfg.ops;
	u32 last = 0;
	u32 at;

	EXPECT(!m->first == !(c->tree_tx & 1U << number));
	for (at = m->first; at; left--) {
		struct ang_op *op;

		EXPECT(left && at <= h->cfg.ops);
		EXPECT(m->ops & 1ULL << (at - 1));
		op = ang_op(h->fab, n, c, at - 1);
		EXPECT(op->tree == number && !op->sent_all);
		last = at;
		at = op->next;
	}
	EXPECT_EQ(m->last, last);
	EXPECT(c->joined & 1U << number || (!m->ops && !m->first));
}

/* Messages to one receiver stand in a line, of which the first alone moves. */
static void sends(struct host *h, struct ang_node *n, struct ang_ctx *c)
{
	u64 behind = 0;
	u64 set;

	for (set = c->sends; set; set &= set - 1) {
		struct ang_op *op = ang_op(h->fab, n, c, ang_lowest(set));
		struct ang_op *next;

		EXPECT(op->state == ANG_OP_ACTIVE);
		EXPECT(op->opcode == ANGARA_OP_SEND && op->dst_node < h->nodes);
		EXPECT(op->phase <= ANG_SEND_REST && op->turn <= 1);
		if (!op->next)
			continue;
		EXPECT(op->next <= h->cfg.ops);
		EXPECT(c->sends >> (op->next - 1) & 1);
		EXPECT(!(behind >> (op->next - 1) & 1));
		behind |= 1ULL << (op->next - 1);
		next = ang_op(h->fab, n, c, op->next - 1U);
		EXPECT(next->dst_node == op->dst_node);
		EXPECT(next->dst_ctx == op->dst_ctx);
		EXPECT(next->phase == ANG_SEND_START && !next->trains);
	}
	EXPECT(!(behind & c->p2p_tx));
}

/* What outlives a context: who waits for it, and what others rely on. */
static void remains(struct host *h, struct ang_node *n, struct ang_ctx *c)
{
	u64 ghosts = 0;
	u32 i;

	EXPECT(h->nodes <= 64);
	EXPECT(!(c->waiting[0] & ~(~0ULL >> (64 - h->nodes))));
	EXPECT_EQ(c->wait_words, !!c->waiting[0]);
	EXPECT(c->wait_at < ANG_WAIT_GROUPS);
	for (i = 0; i < h->cfg.ops; i++) {
		struct ang_op *op = ang_op(h->fab, n, c, i);

		EXPECT(op->state <= ANG_OP_GHOST);
		if (op->state != ANG_OP_GHOST)
			continue;
		EXPECT(op->opcode == ANGARA_OP_SEND);
		ghosts |= 1ULL << i;
	}
	EXPECT_EQ(c->ghosts, ghosts);
}

static void area(struct host *h, struct ang_ctx *c)
{
	struct ang_area *a = &c->area;
	u32 i;

	if (!a->units) {
		EXPECT(!a->turn && !a->told && !a->pi);
		return;
	}
	EXPECT(a->units >= 256 && a->units <= 65536);
	EXPECT(!(a->units & (a->units - 1)));
	EXPECT(a->pi - a->ci <= a->units);
	EXPECT(a->turn <= h->nodes && a->ready_out <= h->nodes);
	EXPECT(a->due <= 1 && a->told <= 1);
	EXPECT(!a->due || a->turn);
	/* Else nobody would say when there is room. */
	EXPECT(a->told || c->rouse || !(a->turn || c->wait_words));
	for (i = 0; i < ANG_PARTS; i++) {
		struct ang_part *part = &a->part[i];
		u32 units = 1 + (part->length + ANGARA_MSG_UNIT - 1) /
				ANGARA_MSG_UNIT;

		EXPECT(part->used <= 1);
		if (!part->used)
			continue;
		EXPECT(part->node < h->nodes && part->ctx < h->cfg.ctxs);
		EXPECT(part->length <= ANGARA_MAX_MSG);
		EXPECT(part->got < part->length);
		EXPECT((part->place & (a->units - 1)) + units <= a->units);
	}
}

/* Bytes that an operation injects. */
static u32 gives(const struct ang_op *op)
{
	if (ang_is_coll(op->opcode) || op->opcode <= ANGARA_OP_SEND)
		return op->len;
	return op->len * ang_atomic_operands(op->redop);
}

static void context(struct host *h, struct ang_node *n, u32 number)
{
	struct ang_ctx *c = ang_ctx(h->fab, n, number);
	u64 all = h->cfg.ops == 64 ? ~0ULL : (1ULL << h->cfg.ops) - 1;
	u32 inlines = 0;
	u32 busy = 0;
	u32 i;

	EXPECT(c->alive <= 1);
	remains(h, n, c);
	if (!c->alive)
		return;
	EXPECT(c->sq_log2 >= 3 && c->sq_log2 <= 15);
	EXPECT(c->cq_log2 >= 3 && c->cq_log2 <= 16);
	EXPECT(c->sq_pi - c->sq_ci <= 1U << c->sq_log2);
	EXPECT(c->cq_pi - c->cq_ci + c->nops <= 1U << c->cq_log2);
	EXPECT(c->pkey && c->mrs <= 65536);
	EXPECT(!(c->free & ~all) && !(c->p2p_tx & (c->free | ~all)));
	for (i = 0; i < h->cfg.ops; i++) {
		struct ang_op *op = ang_op(h->fab, n, c, i);

		EXPECT(!(c->free >> i & 1) == (op->state != ANG_OP_FREE));
		if (op->state != ANG_OP_ACTIVE)
			continue;
		busy++;
		EXPECT(op->opcode < ANGARA_OP_NUM);
		EXPECT(op->status < ANGARA_ST_NUM && op->sent <= gives(op));
		EXPECT(op->len <= ANGARA_MAX_OP_BYTES);
		EXPECT(op->opcode != ANGARA_OP_SEND || c->sends >> i & 1);
		EXPECT(op->inl <= ANG_INLINES);
		if (!op->inl)
			continue;
		EXPECT(op->len <= ANGARA_MAX_INLINE);
		EXPECT(!(inlines & 1U << (op->inl - 1)));
		inlines |= 1U << (op->inl - 1);
	}
	EXPECT_EQ(busy, c->nops);
	EXPECT_EQ(c->inl_free, ((1U << ANG_INLINES) - 1) & ~inlines);
	sends(h, n, c);
	area(h, c);
	for (i = 0; i < ANGARA_MAX_TREES; i++)
		injections(h, n, c, i);
}

static void node(struct host *h, u32 number)
{
	struct ang_node *n = ang_node(h->fab, number);
	u32 i;

	EXPECT_EQ(n->id, number);
	for (i = 0; i < ANGARA_MAX_DIRS; i++)
		EXPECT_EQ(n->neighbor[i],
			  ang_topo_neighbor(&h->fab->topo, number, i));
	rings(h, n);
	for (i = 0; i < ANG_FIFO_NUM; i++)
		fifo(h, n->fifo[i].pkt, ANG_FIFO, n->fifo[i].head,
		     n->fifo[i].tail, n->fifo[i].todo);
	for (i = 0; i < ANGARA_MAX_TREES; i++)
		tree(h, n, i);
	for (i = 0; i < h->cfg.ctxs; i++)
		context(h, n, i);
}

void fuzz_invariants(struct fuzz *f)
{
	struct host *h = f->h;
	u32 bufs = f->head.bufs;
	u32 i, b;

	EXPECT(!memcmp(&f->head, h->fab, sizeof(f->head)));
	if (refs_num < h->nodes * bufs) {
		refs_num = h->nodes * bufs;
		free(refs);
		refs = malloc(refs_num * sizeof(*refs));
	}
	memset(refs, 0, refs_num * sizeof(*refs));
	for (i = 0; i < h->nodes; i++)
		node(h, i);
	for (i = 0; i < h->nodes; i++) {
		u32 *ref = (u32 *)((char *)ang_node(h->fab, i) +
				   f->head.off_ref);

		for (b = 0; b < bufs; b++)
			EXPECT_EQ(ref[b], refs[i * bufs + b]);
	}
}
