// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Turns of contexts: whose entries are fetched and whose trains are sent next.
 *
 * In a round every context with something to do has one turn, in a turn every
 * operation sends a train.  A step that has done enough ends within a turn; the
 * next one goes on there.
 */
#include "ang_int.h"

#define FETCH_BATCH	8
#define MAX_OPS		64U

static bool ctx_fetch(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	u64 before = c->cnt.wqes;
	bool progress;
	u32 i;

	for (i = 0; i < FETCH_BATCH && ang_fetch(v, n, c) && !ang_spent(v); i++)
		;
	progress = c->cnt.wqes != before;
	if (c->rouse)
		progress |= ang_msg_wake(v, n, c);
	return progress;
}

/*
 * A train of each operation.  When the step has done enough, c->at is how many
 * of its places, operations and then trees, have had their turn, plus 1.
 */
static bool ctx_trains(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	u32 ops = c->at ? c->at - 1U : 0;
	u32 trees = ops > MAX_OPS ? ops - MAX_OPS : 0;
	bool progress = false;
	u64 set = ops < MAX_OPS ? c->p2p_tx & ~0ULL << ops : 0;

	for (; set; set &= set - 1) {
		u32 slot = ang_lowest(set);

		ang_work(v, ANG_WORK_PKT);
		progress |= ang_p2p_inject(v, n, c, ang_op(v->fab, n, c, slot));
		if (ang_spent(v)) {
			c->at = (u8)(slot + 2);
			return progress;
		}
	}
	for (set = c->tree_tx & ~0U << trees; set; set &= set - 1) {
		u32 tree = ang_lowest(set);

		ang_work(v, ANG_WORK_PKT);
		progress |= ang_coll_inject(v, n, c, tree);
		if (ang_spent(v)) {
			c->at = (u8)(MAX_OPS + tree + 2);
			return progress;
		}
	}
	c->at = 0;
	return progress;
}

static bool ctx_inject(struct ang_view *v, struct ang_node *n, u32 ctx)
{
	struct ang_ctx *c = ang_ctx(v->fab, n, ctx);
	bool progress = false;

	ang_work(v, ANG_WORK_WQE);
	if (!c->at)
		progress = ctx_fetch(v, n, c);
	progress |= ctx_trains(v, n, c);
	if (c->sq_ci == c->sq_pi && !c->p2p_tx && !c->tree_tx && !c->rouse) {
		n->tx[ctx / 64] &= ~(1ULL << (ctx % 64));
		c->at = 0;
	}
	return progress;
}

/* The next context with something to do, from @ctx on; past the last if none. */
static u32 next_ctx(const struct ang_node *n, u32 ctx)
{
	u32 w = ctx / 64;
	u64 set;

	if (w >= ANG_CTX_WORDS)
		return ANG_MAX_CTXS;
	for (set = n->tx[w] & (~0ULL << (ctx % 64)); !set; set = n->tx[w])
		if (++w == ANG_CTX_WORDS)
			return ANG_MAX_CTXS;
	return w * 64 + ang_lowest(set);
}

#define WRAPPED		0x100U	/* in ang_node.at */

/* The next context that has its turn, @from or behind; past the last if none. */
static u32 turn_ctx(struct ang_node *n, u32 from, u32 *wrapped)
{
	u32 ctx = next_ctx(n, from);

	if (ctx == ANG_MAX_CTXS && !*wrapped) {
		*wrapped = WRAPPED;
		ctx = next_ctx(n, 0);
	}
	return *wrapped && ctx >= n->first ? ANG_MAX_CTXS : ctx;
}

/**
 * ang_inject() - give every context with something to send its turn
 * @v: view
 * @n: node; at: if the step before ended within, the context to go on with,
 *	plus 1, and whether it was past the last
 *
 * Each gets a train per operation, and another one is the first each time,
 * whom a buffer or room that has just become free goes to: none starves
 * another.
 *
 * Return: true if something was fetched or sent.
 */
bool ang_inject(struct ang_view *v, struct ang_node *n)
{
	u32 wrapped = n->at & WRAPPED;
	bool progress = false;
	u32 ctx;

	if (n->at) {
		ctx = turn_ctx(n, (n->at & ~WRAPPED) - 1, &wrapped);
	} else {
		n->first = n->turn;
		ctx = turn_ctx(n, n->first, &wrapped);
		if (ctx < ANG_MAX_CTXS)
			n->turn = ctx + 1;
	}
	n->at = 0;
	while (ctx < ANG_MAX_CTXS) {
		progress |= ctx_inject(v, n, ctx);
		if (!ang_ctx(v->fab, n, ctx)->at)
			ctx = turn_ctx(n, ctx + 1, &wrapped);
		if (ctx < ANG_MAX_CTXS && ang_spent(v)) {
			n->at = (ctx + 1) | wrapped;
			break;
		}
	}
	return progress;
}
