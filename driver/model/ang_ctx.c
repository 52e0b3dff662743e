// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Contexts: creation, doorbells, events and counters.
 */
#include "ang_int.h"

/* A new context inherits the members before this offset, apart from doorbells. */
#define CLEARED_FROM	offsetof(struct ang_ctx, alive)

/**
 * ang_ctx_get() - find a context that exists
 * @v: view
 * @n: node
 * @ctx: number, any value
 *
 * Return: the context or NULL.
 */
struct ang_ctx *ang_ctx_get(struct ang_view *v, struct ang_node *n, u32 ctx)
{
	struct ang_ctx *c;

	if (ctx >= v->fab->cfg.ctxs)
		return NULL;
	c = ang_ctx(v->fab, n, ctx);
	return c->alive ? c : NULL;
}

/**
 * ang_ctx_create() - ANGARA_ADM_CTX_CREATE
 * @v: view
 * @n: node
 * @ctx: number
 * @arg: argument of the command
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_ctx_create(struct ang_view *v, struct ang_node *n, u32 ctx,
		   const struct angara_adm_ctx *arg)
{
	struct ang_dom *d = ang_domain_get(v, n, le16_to_cpu(arg->dom));
	struct ang_ctx *c;
	u64 p2p_tx;
	u32 i;

	if (ctx >= v->fab->cfg.ctxs || arg->sq_log2 < 3 || arg->sq_log2 > 15 ||
	    arg->cq_log2 < 3 || arg->cq_log2 > 16)
		return ANGARA_ADM_ST_PARAM;
	for (i = 0; i < sizeof(arg->reserved); i++)
		if (arg->reserved[i])
			return ANGARA_ADM_ST_PARAM;
	if (!d)
		return ANGARA_ADM_ST_ABSENT;
	c = ang_ctx(v->fab, n, ctx);
	if (c->alive)
		return ANGARA_ADM_ST_EXISTS;
	/*
	 * Do not reset the generation: answers to operations of the previous
	 * context of this number must not match new operations.  Doorbells may
	 * have been written before the context existed: clear them.
	 */
	WRITE_ONCE(c->db_sq, 0);
	WRITE_ONCE(c->db_armed, 0);
	WRITE_ONCE(c->nudge, 0);
	ang_msg_destroy(v, n, c);
	p2p_tx = c->p2p_tx;
	memset((char *)c + CLEARED_FROM, 0, sizeof(*c) - CLEARED_FROM);
	c->p2p_tx = p2p_tx;
	c->dom = le16_to_cpu(arg->dom);
	c->pkey = d->pkey;
	c->job = d->job;
	d->ctxs++;
	c->sq_log2 = arg->sq_log2;
	c->cq_log2 = arg->cq_log2;
	c->ctl = le64_to_cpu(arg->ctl);
	c->ctr = le64_to_cpu(arg->ctr);
	c->sq.list = le64_to_cpu(arg->sq);
	c->cq.list = le64_to_cpu(arg->cq);
	c->free = v->fab->cfg.ops == 64 ? ~0ULL : (1ULL << v->fab->cfg.ops) - 1;
	c->free &= ~c->ghosts;
	c->alive = 1;
	ang_msg_create(v, n, c);
	return ANGARA_ADM_ST_OK;
}

/**
 * ang_ctx_destroy() - ANGARA_ADM_CTX_DESTROY
 * @v: view
 * @n: node
 * @ctx: number
 *
 * Takes down the trees that the context has joined.  After this, the model no
 * longer accesses the context's memory.
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_ctx_destroy(struct ang_view *v, struct ang_node *n, u32 ctx)
{
	struct ang_ctx *c = ang_ctx_get(v, n, ctx);
	u64 busy;

	if (!c)
		return ANGARA_ADM_ST_ABSENT;
	while (c->joined)
		ang_tree_leave(v, n, ctx, ang_lowest(c->joined));
	busy = ~c->free;
	if (v->fab->cfg.ops < 64)
		busy &= (1ULL << v->fab->cfg.ops) - 1;
	for (busy &= ~c->ghosts; busy; busy &= busy - 1) {
		struct ang_op *op = ang_op(n, c, ang_lowest(busy));

		if (op->state == ANG_OP_HELD || !ang_send_ghost(v, n, c, op))
			ang_op_free(v, n, c, op);
	}
	c->alive = 0;
	ang_dom(v->fab, n, c->dom)->ctxs--;
	c->sq_pi = c->sq_ci;
	c->tree_tx = 0;
	c->p2p_tx &= c->ghosts;
	c->sends = 0;
	n->tx[ctx / 64] &= ~(1ULL << (ctx % 64));
	ang_msg_destroy(v, n, c);
	if (c->p2p_tx)
		ang_set_bit(n->tx, ctx);
	n->dirty[ctx / 64] &= ~(1ULL << (ctx % 64));
	return ANGARA_ADM_ST_OK;
}

static void ctx_interrupt(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	c->armed = 0;
	c->cnt.interrupts++;
	ang_interrupt(v, n, ANGARA_VEC_CTX(c->id));
}

#define NUDGE_SET	(1ULL << 48)	/* 0: there is no nudge */
#define NUDGE(life, pi)	(NUDGE_SET | (u64)(life) << 32 | (pi))

/* Is nudge @a (ang_reg_nudge()) of an earlier life than @b, or of an earlier index? */
static bool nudge_older(u64 a, u64 b)
{
	s16 lives = (s16)((u16)(a >> 32) - (u16)(b >> 32));

	return lives ? lives < 0 : (s32)((u32)a - (u32)b) < 0;
}

void ang_reg_nudge(struct ang_view *v, u32 node, u32 ctx, u16 life, u32 pi)
{
	struct ang_node *n = ang_node(v->fab, node);
	u64 mine = NUDGE(life, pi);
	struct ang_ctx *c;
	u64 old, seen;

	if (node >= v->topo.nodes || ctx >= v->fab->cfg.ctxs)
		return;
	c = ang_ctx(v->fab, n, ctx);
	old = READ_ONCE(c->nudge);
	while (!old || nudge_older(old, mine)) {
		seen = ang_cmpxchg(&c->nudge, old, mine);
		if (seen == old)
			break;
		old = seen;
	}
	ang_fetch_or(&n->db[ctx / 64], 1ULL << (ctx % 64));
	ang_wake(v, n, 0);
}

/*
 * Advance the queue of a context to an index, unless it is outside of the ring, or
 * a nudge or doorbell has advanced the queue further.
 */
static void sq_advance(struct ang_ctx *c, u32 pi)
{
	u32 entries = pi - c->sq_ci;

	if (entries <= 1U << c->sq_log2 && entries > c->sq_pi - c->sq_ci)
		c->sq_pi = pi;
}

/*
 * Advance the queue to the index of a nudge for this life of the context.  Clear
 * the nudge: indices are compared modulo 2^32, so an old index would seem new later.
 */
static void nudge_look(struct ang_ctx *c)
{
	u64 nudge = READ_ONCE(c->nudge) ? ang_xchg(&c->nudge, 0) : 0;

	if (nudge && (u16)(nudge >> 32) == c->life)
		sq_advance(c, (u32)nudge);
}

/*
 * ang_doorbell() - handle the doorbells of a context; @ctx may be any number
 */
void ang_doorbell(struct ang_view *v, struct ang_node *n, u32 ctx)
{
	struct ang_ctx *c = ang_ctx_get(v, n, ctx);

	if (!c)
		return;
	/* The index may be newer than the doorbell that woke the node. */
	sq_advance(c, ang_load_acquire(&c->db_sq));
	nudge_look(c);
	if (c->sq_pi != c->sq_ci)
		ang_set_bit(n->tx, ctx);
	if (c->area.notified)
		ang_msg_wake_later(v, n, c);
	if (!READ_ONCE(c->db_armed) || !ang_xchg(&c->db_armed, 0))
		return;
	c->seen = READ_ONCE(c->db_arm);
	/*
	 * If events are not published yet, publishing them raises the
	 * interrupt.
	 */
	if (c->evseq != c->seen && !(c->dirty & ANG_DIRTY_EVENT))
		ctx_interrupt(v, n, c);
	else
		c->armed = 1;
}

/**
 * ang_ctx_doorbells() - handle the doorbells that have been written
 * @v: view
 * @n: node; ang_node.at is the context to begin with, and out: if the step's work
 *	is used up, the context with which the next step continues
 */
void ang_ctx_doorbells(struct ang_view *v, struct ang_node *n)
{
	u64 mine = ~0ULL << (n->at % 64);
	u32 w = n->at / 64;

	for (n->at = 0; w < ANG_CTX_WORDS; w++, mine = ~0ULL) {
		u64 set;

		if (!READ_ONCE(n->db[w]))
			continue;
		set = ang_xchg(&n->db[w], 0);
		if (set & ~mine)
			ang_fetch_or(&n->db[w], set & ~mine);
		for (set &= mine; set; set &= set - 1) {
			if (ang_spent(v)) {
				n->at = w * 64 + ang_lowest(set);
				ang_fetch_or(&n->db[w], set);
				return;
			}
			ang_work(v, ANG_WORK_PKT);
			ang_doorbell(v, n, w * 64 + ang_lowest(set));
		}
	}
}

/**
 * ang_ctx_count() - write an event counter
 * @v: view
 * @n: node
 * @c: context
 * @index: ANGARA_CTR_*
 * @value: new value
 */
void ang_ctx_count(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		   u32 index, u64 value)
{
	ang_store64(v, n, c->ctr + 8ULL * index, value);
	ang_ctx_event(n, c);
}

/**
 * ang_ctx_rx_error() - count an incoming broadcast that could not be written
 * @v: view
 * @n: node
 * @c: context
 * @tree: tree of the broadcast
 * @status: cause, ANGARA_ST_*
 */
void ang_ctx_rx_error(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      u32 tree, u32 status)
{
	u32 taken = READ_ONCE(n->reg[ANGARA_REG_AEQ_CI / 4]);

	c->cnt.rx_errors++;
	ang_ctx_count(v, n, c, ANGARA_CTR_RX_ERRORS(tree), ++c->rx_errors[tree]);
	/*
	 * Report one event per context at a time, to leave room for other
	 * events.
	 */
	if (c->rx_reported && (s32)(taken - c->rx_event) < 0)
		return;
	ang_event(v, n, ANGARA_AEV_RX_ERROR, c->id, status);
	c->rx_event = n->adm.aeq_pi;
	c->rx_reported = 1;
}

/** ang_ctx_tell() - publish the counters of a context */
void ang_ctx_tell(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	u32 dirty = c->dirty;

	c->dirty = 0;
	if (dirty & ANG_DIRTY_SQ)
		ang_store64(v, n, c->ctr + 8 * ANGARA_CTR_SQ_CI, c->sq_ci);
	if (!(dirty & ANG_DIRTY_EVENT))
		return;
	ang_store64(v, n, c->ctr + 8 * ANGARA_CTR_EVSEQ, c->evseq);
	if (c->armed)
		ctx_interrupt(v, n, c);
}

/**
 * ang_ctx_publish() - publish the events of a step to contexts
 * @v: view
 * @n: node; sets ang_node.unpublished if the next step has to publish the
 *	remaining events first
 *
 * For all events of a context, the event sequence is stored once, and one
 * interrupt is raised.
 */
void ang_ctx_publish(struct ang_view *v, struct ang_node *n)
{
	u64 stop = v->work + ANG_WORK_TELL - ANG_WORK_TELL_ONE;
	u64 left = 0;
	u32 w;

	for (w = 0; w < ANG_CTX_WORDS; w++) {
		u64 set = n->dirty[w];

		if (!set)
			continue;
		for (; set && v->work <= stop; set &= set - 1)
			ang_ctx_tell(v, n, ang_ctx(v->fab, n,
						   w * 64 + ang_lowest(set)));
		n->dirty[w] = set;
		left |= set;
	}
	n->unpublished = left;
}
