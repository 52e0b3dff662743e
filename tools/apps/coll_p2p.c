// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives by puts: every process of a tree receives data from the network,
 * combines it if needed, and puts it to its neighbours.
 *
 * Two processes that are neighbours in a tree share an edge.  The messages over
 * an edge in one direction are a sequence; message number i increments counter
 * i mod 2 of the receiver.  As puts may overtake each other, a sender waits for
 * the completion of message i - 2 before it sends message i: so each counter
 * counts whole messages in order.
 *
 * Long messages are cut into segments, so that a process forwards a segment
 * while the next segment arrives.  A context has counters for one such set of
 * trees.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "coll_p2p.h"
#include "shape.h"

#define SEGMENT		(32U << 10)
#define MAX_EDGES	(1 + SHAPE_CHILDREN)
#define MAX_WORDS	(SEGMENT / sizeof(int64_t))

_Static_assert(COLL_TREES * MAX_EDGES * 2 == COLL_APP_COUNTER,
	       "counters of the edges");

/**
 * struct edge - a neighbour in a tree
 * @peer: its rank
 * @here: first of the two counters of this process that @peer increments
 * @there: first of its two counters that this process increments
 * @sent: messages to the peer so far
 * @taken: messages from the peer so far
 * @pending: the last put is not known to be complete, by message number mod 2
 * @req: that put, by message number mod 2
 */
struct edge {
	unsigned int peer;
	unsigned int here;
	unsigned int there;
	uint64_t sent;
	uint64_t taken;
	bool pending[2];
	struct app_req req[2];
};

/**
 * struct p2p_tree - one tree as this process sees it
 * @shape: the whole tree
 * @up: edge to the parent, NULL at the root
 * @edges: number of @edge
 * @edge: all edges; the edges to children, in ascending order, begin at @first
 * @first: index of the first child's edge: 0 at the root, else 1
 */
struct p2p_tree {
	struct shape shape;
	struct edge *up;
	unsigned int edges;
	unsigned int first;
	struct edge edge[MAX_EDGES];
};

/**
 * struct p2p - trees of one process
 * @base: interface
 * @slots: two segments for each child of tree 0, then two of this process;
 *	children put their contributions there
 * @tree: trees by number
 */
struct p2p {
	struct coll base;
	struct angara_mr *slots;
	struct p2p_tree tree[COLL_TREES];
};

static struct p2p *p2p_of(struct coll *c)
{
	return (struct p2p *)c;		/* base is the first member */
}

/* A message over an edge. */
struct message {
	uint64_t dst_key;
	uint64_t dst_off;
	const struct angara_mr *src;	/* NULL: no data, only a count */
	uint64_t src_off;
	size_t len;
};

static char *at(const struct angara_mr *mr, uint64_t off)
{
	return (char *)angara_mr_addr(mr) + off;
}

static int edge_settle(struct p2p *p, struct edge *e, unsigned int slot)
{
	char what[48];

	if (!e->pending[slot])
		return 0;
	e->pending[slot] = false;
	snprintf(what, sizeof(what), "put to rank %u", e->peer);
	return app_wait(p->base.app, &e->req[slot], what);
}

static int edge_send(struct p2p *p, struct edge *e, const struct message *m)
{
	struct app *app = p->base.app;
	unsigned int slot = e->sent % 2;
	unsigned int notify = e->there + slot;
	int err = edge_settle(p, e, slot);

	if (err)
		return err;
	if (m->len <= ANGARA_MAX_INLINE)
		err = APP_POST(angara_put_inline_nbi(app->ctx, app->peers[e->peer],
					m->dst_key, m->dst_off,
					m->src ? at(m->src, m->src_off) : NULL,
					m->len, app_notify(&e->req[slot], notify)));
	else
		err = APP_POST(angara_put_nbi(app->ctx, app->peers[e->peer], m->dst_key,
				     m->dst_off, m->src, m->src_off, m->len,
				     app_notify(&e->req[slot], notify)));
	if (err)
		return app_fail(app, err, "cannot put to rank %u", e->peer);
	e->pending[slot] = true;
	e->sent++;
	return 0;
}

/* Wait for the next message over an edge. */
static int edge_take(struct p2p *p, struct edge *e)
{
	struct app *app = p->base.app;
	int err = angara_counter_wait(app->ctx, e->here + e->taken % 2,
				      e->taken / 2 + 1, APP_TIMEOUT_MS);

	e->taken++;
	return err ? app_fail(app, err, "no put from rank %u has arrived",
			      e->peer) : 0;
}

/* Send to all neighbours except @from, or to all of them if it is NULL. */
static int send_on(struct p2p *p, struct p2p_tree *t, const struct edge *from,
		   const struct message *m)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < t->edges && !err; i++)
		if (&t->edge[i] != from)
			err = edge_send(p, &t->edge[i], m);
	return err;
}

/* Wait until no put reads memory of this process any more. */
static int settle(struct p2p *p, struct p2p_tree *t)
{
	unsigned int i, slot;
	int err = 0;

	for (i = 0; i < t->edges; i++)
		for (slot = 0; slot < 2 && !err; slot++)
			err = edge_settle(p, &t->edge[i], slot);
	return err;
}

static size_t segment_len(uint64_t len, uint64_t off)
{
	return len - off < SEGMENT ? (size_t)(len - off) : SEGMENT;
}

static int bcast_start(struct coll *c, struct coll_bcast *b)
{
	struct p2p *p = p2p_of(c);
	uint64_t off = 0;
	int err;

	if (b->source != c->app->rank)
		return 0;
	/* A broadcast of no bytes is one message, too. */
	do {
		struct message m = {
			.dst_key = angara_mr_key(b->dst),
			.dst_off = b->dst_off + off,
			.src = b->src,
			.src_off = b->src_off + off,
			.len = segment_len(b->len, off),
		};

		err = send_on(p, &p->tree[b->tree], NULL, &m);
		off += SEGMENT;
	} while (off < b->len && !err);
	return err;
}

static struct edge *edge_towards(struct p2p_tree *t, unsigned int rank,
				 unsigned int to)
{
	unsigned int peer = shape_towards(&t->shape, rank, to);
	unsigned int i;

	for (i = 0; t->edge[i].peer != peer; i++)
		;
	return &t->edge[i];
}

static int bcast_forward(struct p2p *p, struct coll_bcast *b)
{
	struct p2p_tree *t = &p->tree[b->tree];
	struct edge *from = edge_towards(t, p->base.app->rank, b->source);
	uint64_t off = 0;
	int err;

	do {
		struct message m = {
			.dst_key = angara_mr_key(b->dst),
			.dst_off = b->dst_off + off,
			.src = b->dst,
			.src_off = b->dst_off + off,
			.len = segment_len(b->len, off),
		};

		err = edge_take(p, from);
		if (!err)
			err = send_on(p, t, from, &m);
		off += SEGMENT;
	} while (off < b->len && !err);
	return err;
}

static int bcast_finish(struct coll *c, struct coll_bcast *b)
{
	struct p2p *p = p2p_of(c);
	int err = 0;

	if (b->source != c->app->rank)
		err = bcast_forward(p, b);
	else if (at(b->dst, b->dst_off) != at(b->src, b->src_off))
		memcpy(at(b->dst, b->dst_off), at(b->src, b->src_off), b->len);
	return err ? err : settle(p, &p->tree[b->tree]);
}

/* Keeps the greater value of each element; a NaN replaces any value, as in the network. */
static void combine_max(double *acc, const double *with, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (with[i] > acc[i] || isnan(with[i]))
			acc[i] = with[i];
}

static void combine(int64_t *acc, const int64_t *with, size_t n, unsigned int op)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (op == ANGARA_RED_SUM)
			acc[i] = (int64_t)((uint64_t)acc[i] + (uint64_t)with[i]);
		else if (with[i] > acc[i])
			acc[i] = with[i];
	}
}

static uint64_t slot_off(unsigned int child, unsigned int slot)
{
	return (uint64_t)(child * 2 + slot) * SEGMENT;
}

/* Process segment @i on its path up: combine the children's data, notify the parent. */
static int reduce_up(struct p2p *p, const struct coll_reduce *r, uint64_t i)
{
	struct p2p_tree *t = &p->tree[0];
	unsigned int children = t->edges - t->first;
	uint64_t own = slot_off(children, i % 2);
	size_t len = segment_len(r->count * sizeof(int64_t), i * SEGMENT);
	char *acc = t->up ? at(p->slots, own) : at(r->dst, r->dst_off + i * SEGMENT);
	struct message m = { .src = p->slots, .src_off = own, .len = len };
	unsigned int child;
	char *from;
	int err;

	memmove(acc, at(r->src, r->src_off + i * SEGMENT), len);
	for (child = 0; child < children; child++) {
		err = edge_take(p, &t->edge[t->first + child]);
		if (err)
			return err;
		from = at(p->slots, slot_off(child, i % 2));
		if (r->type == ANGARA_TYPE_DOUBLE)
			combine_max((double *)acc, (double *)from,
				    len / sizeof(double));
		else
			combine((int64_t *)acc, (int64_t *)from,
				len / sizeof(int64_t), r->op);
	}
	if (!t->up)
		return 0;
	m.dst_key = angara_mr_key(p->slots);
	m.dst_off = slot_off(shape_place(&t->shape, p->base.app->rank), i % 2);
	return edge_send(p, t->up, &m);
}

/* Process segment @i on its path down. */
static int reduce_down(struct p2p *p, const struct coll_reduce *r, uint64_t i)
{
	struct p2p_tree *t = &p->tree[0];
	struct message m = {
		.dst_key = angara_mr_key(r->dst),
		.dst_off = r->dst_off + i * SEGMENT,
		.src = r->dst,
		.src_off = r->dst_off + i * SEGMENT,
		.len = segment_len(r->count * sizeof(int64_t), i * SEGMENT),
	};
	int err = t->up ? edge_take(p, t->up) : 0;

	return err ? err : send_on(p, t, t->up, &m);
}

static uint64_t segments(const struct coll_reduce *r)
{
	return (r->count + MAX_WORDS - 1) / MAX_WORDS;
}

static int reduce_start(struct coll *c, struct coll_reduce *r)
{
	return segments(r) ? reduce_up(p2p_of(c), r, 0) : 0;
}

/*
 * Two segments are in flight between this process and the root: the slots of
 * segment i are free when the result of segment i - 2 has arrived from the
 * root.
 */
static int reduce_finish(struct coll *c, struct coll_reduce *r)
{
	struct p2p *p = p2p_of(c);
	uint64_t n = segments(r), i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		if (i + 1 < n)
			err = reduce_up(p, r, i + 1);
		if (!err)
			err = reduce_down(p, r, i);
	}
	return err ? err : settle(p, &p->tree[0]);
}

static int barrier_start(struct coll *c)
{
	struct p2p *p = p2p_of(c);
	struct p2p_tree *t = &p->tree[0];
	const struct message nothing = { .dst_key = angara_mr_key(p->slots) };
	unsigned int i;
	int err = 0;

	for (i = t->first; i < t->edges && !err; i++)
		err = edge_take(p, &t->edge[i]);
	if (!err && t->up)
		err = edge_send(p, t->up, &nothing);
	return err;
}

static int barrier_finish(struct coll *c)
{
	struct p2p *p = p2p_of(c);
	struct p2p_tree *t = &p->tree[0];
	const struct message nothing = { .dst_key = angara_mr_key(p->slots) };
	int err = t->up ? edge_take(p, t->up) : 0;

	return err ? err : send_on(p, t, t->up, &nothing);
}

static void p2p_close(struct coll *c)
{
	struct p2p *p = p2p_of(c);
	unsigned int t;

	for (t = 0; t < c->trees; t++) {
		settle(p, &p->tree[t]);
		shape_free(&p->tree[t].shape);
	}
	if (p->slots)
		angara_free(p->slots);
	free(p);
}

static const struct coll_ops p2p_ops = {
	.name = "p2p",
	.bcast_start = bcast_start,
	.bcast_finish = bcast_finish,
	.reduce_start = reduce_start,
	.reduce_finish = reduce_finish,
	.barrier_start = barrier_start,
	.barrier_finish = barrier_finish,
	.close = p2p_close,
};

static unsigned int counter_of(unsigned int tree, unsigned int edge)
{
	return (tree * MAX_EDGES + edge) * 2;
}

static void add_edge(struct p2p_tree *t, unsigned int peer, unsigned int here,
		     unsigned int there)
{
	struct edge *e = &t->edge[t->edges++];

	e->peer = peer;
	e->here = here;
	e->there = there;
}

/* Edge 0 of a process leads to its parent, edge 1 + i to child i. */
static int tree_init(struct p2p *p, unsigned int number)
{
	struct app *app = p->base.app;
	struct p2p_tree *t = &p->tree[number];
	unsigned int root = coll_root(app, p->base.trees, number);
	unsigned int me = app->rank, r, parent, place = 0;
	int err = shape_build(app, root, &t->shape);

	if (err)
		return err;
	parent = t->shape.parent[me];
	if (parent != SHAPE_NONE) {
		unsigned int mine = 1 + shape_place(&t->shape, me);

		add_edge(t, parent, counter_of(number, 0),
			 counter_of(number, mine));
		t->up = &t->edge[0];
		t->first = 1;
	}
	for (r = 0; r < app->size; r++) {
		if (t->shape.parent[r] == me)
			add_edge(t, r, counter_of(number, 1 + place++),
				 counter_of(number, 0));
	}
	return 0;
}

struct coll *coll_p2p_open(struct app *app, unsigned int trees)
{
	struct p2p *p = calloc(1, sizeof(*p));
	unsigned int t;

	if (!p) {
		app_fail(app, -ENOMEM, "trees");
		return NULL;
	}
	p->base = (struct coll) { &p2p_ops, app, trees };
	for (t = 0; t < trees; t++)
		if (tree_init(p, t))
			goto fail;
	t = p->tree[0].edges - p->tree[0].first;
	if (app_malloc_all(app, slot_off(t + 1, 0), &p->slots))
		goto fail;
	return &p->base;
fail:
	p2p_close(&p->base);
	return NULL;
}
