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
	EXPECT(p->type >= ANG_PKT_PUT && p->type <= ANG_PKT_ABORT);
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

static void tree(struct host *h, struct ang_node *n, u32 number)
{
	struct ang_tree *t = &n->tree[number];
	u32 held = 0;
	u32 i;

	EXPECT(t->state <= ANGARA_TREE_STATE_DOWN);
	EXPECT(t->state != ANGARA_TREE_STATE_UNSET || !t->members);
	if (t->state == ANGARA_TREE_STATE_UNSET)
		return;
	EXPECT_EQ(t->row.tree, number);
	EXPECT_EQ(ang_tree_row_check(&h->fab->topo, &t->row), 0);
	EXPECT_EQ(t->expected, (u32)t->row.pe + t->row.dir_sum);
	EXPECT(t->members <= t->row.pe);
	for (i = 0; i < t->members; i++) {
		struct ang_ctx *c = ang_ctx(h->fab, n, t->member[i]);

		EXPECT(t->member[i] < h->cfg.ctxs && c->alive);
		EXPECT(c->joined & 1U << number && c->pkey == t->row.pkey);
	}
	for (i = 0; i < ANGARA_MAX_REDUCES; i++) {
		struct ang_slot *s = &t->slot[i];

		if (!s->count)
			continue;
		EXPECT(s->count <= t->expected);
		EXPECT(s->pkt.seq % ANGARA_MAX_REDUCES == i);
		packet(h, &s->pkt);
		count_refs(h, s->pkt.buf, 1);
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

static void context(struct host *h, struct ang_node *n, u32 number)
{
	struct ang_ctx *c = ang_ctx(h->fab, n, number);
	u64 all = h->cfg.ops == 64 ? ~0ULL : (1ULL << h->cfg.ops) - 1;
	u32 inlines = 0;
	u32 busy = 0;
	u32 i;

	EXPECT(c->alive <= 1);
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

		EXPECT(!(c->free >> i & 1) == (op->state == ANG_OP_ACTIVE));
		if (op->state != ANG_OP_ACTIVE)
			continue;
		busy++;
		EXPECT(op->opcode < ANGARA_OP_NUM);
		EXPECT(op->status < ANGARA_ST_NUM && op->sent <= op->len);
		EXPECT(op->len <= ANGARA_MAX_OP_BYTES);
		EXPECT(op->inl <= ANG_INLINES);
		if (!op->inl)
			continue;
		EXPECT(op->len <= ANGARA_MAX_INLINE);
		EXPECT(!(inlines & 1U << (op->inl - 1)));
		inlines |= 1U << (op->inl - 1);
	}
	EXPECT_EQ(busy, c->nops);
	EXPECT_EQ(c->inl_free, ((1U << ANG_INLINES) - 1) & ~inlines);
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
