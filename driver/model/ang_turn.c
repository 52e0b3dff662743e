// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Turns of contexts: which context fetches entries and sends trains next.
 *
 * In a round every context that has work has one turn; in a turn every
 * operation of the context sends a train.  When the work of a step is used up,
 * the step ends within a turn; the next step continues this turn.
 */
#include "ang_int.h"

#define FETCH_BATCH	8
#define MAX_OPS		64U

static bool ctx_fetch(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	bool progress = false;
	u32 i;

	while (c->due && !ang_spent(v)) {
		ang_work(v, ANG_WORK_WQE);
		ang_op_resume(v, n, c);
		progress = true;
	}
	/* The work of this step is used up: the next step starts the other operations. */
	if (c->due)
		progress = true;
	for (i = 0; i < FETCH_BATCH && c->sq_ci != c->sq_pi; i++) {
		if (!ang_fetch(v, n, c))
			break;
		progress = true;
		/*
		 * The view keeps a neighbor (v->hop), which must not wait while
		 * another entry accesses memory of a process.
		 */
		if (ang_spent(v) || v->hop)
			break;
	}
	if (c->wake)
		progress |= ang_msg_wake(v, n, c);
	return progress;
}

/*
 * Remove the operations from @ops and the trees from @trees that were served
 * before the last step ended, according to c->at.
 */
static void ctx_resume(struct ang_ctx *c, u64 *ops, u64 *trees)
{
	u32 done = c->at - 1U;

	*ops = done < MAX_OPS ? *ops & ~0ULL << done : 0;
	if (done > MAX_OPS)
		*trees &= done < MAX_OPS + 64 ? ~0ULL << (done - MAX_OPS) : 0;
	c->at = 0;
}

/*
 * Send a train of each operation.  If the work of the step is used up, c->at is
 * set to the position at which the next step continues, plus 1: operations are
 * numbered first, then trees.
 */
static bool ctx_trains(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	u64 ops = c->p2p_tx;
	u64 trees = ~0ULL;
	bool progress = false;

	if (c->at)
		ctx_resume(c, &ops, &trees);
	for (; ops; ops &= ops - 1) {
		u32 slot = ang_lowest(ops);

		ang_work(v, ANG_WORK_PKT);
		progress |= ang_p2p_inject(v, n, c, ang_op(n, c, slot));
		if (ang_spent(v)) {
			c->at = (u8)(slot + 2);
			return progress;
		}
	}
	for (trees &= c->tree_tx; trees; trees &= trees - 1) {
		u32 tree = ang_lowest(trees);

		ang_work(v, ANG_WORK_PKT);
		progress |= ang_coll_inject(v, n, c, tree);
		if (ang_spent(v)) {
			c->at = (u8)(MAX_OPS + tree + 2);
			return progress;
		}
	}
	return progress;
}

static bool ctx_inject(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	bool progress = false;

	ang_work(v, ANG_WORK_WQE);
	if (!c->at)
		progress = ctx_fetch(v, n, c);
	progress |= ctx_trains(v, n, c);
	if (c->sq_ci == c->sq_pi && !c->due && !c->p2p_tx && !c->tree_tx &&
	    !c->wake) {
		n->tx[c->id / 64] &= ~(1ULL << (c->id % 64));
		c->at = 0;
	}
	return progress;
}

/**
 * ang_turn_one() - give one context its turn, outside of a step
 * @v: view; ang_view.stop limits the work
 * @n: node, between two steps
 * @c: context
 *
 * If work remains, the next step gives the context a full turn.
 */
void ang_turn_one(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	ctx_inject(v, n, c);
	c->at = 0;
}

/*
 * Return: next context with work, from @ctx on; ANG_MAX_CTXS if there is none.
 */
static u32 next_ctx(const struct ang_node *n, u32 ctx)
{
	u64 mine = ~0ULL << (ctx % 64);
	u32 w;

	for (w = ctx / 64; w < ANG_CTX_WORDS; w++, mine = ~0ULL)
		if (n->tx[w] & mine)
			return w * 64 + ang_lowest(n->tx[w] & mine);
	return ANG_MAX_CTXS;
}

#define WRAPPED		0x100U	/* flag in ang_node.at: the search has passed the last context */

/**
 * ang_inject() - give every context with work its turn
 * @v: view
 * @n: node; if the previous step ended within this stage, ang_node.at is the
 *	context to continue with, plus 1, with WRAPPED set if the search has
 *	passed the last context
 *
 * Each context sends a train per operation.  The first context gets a buffer or
 * room that has just become free.  Another context is the first in each round,
 * so no context starves.
 *
 * Return: true if something was fetched or sent.
 */
bool ang_inject(struct ang_view *v, struct ang_node *n)
{
	u32 start = n->at ? n->first : n->turn;
	u32 ctx = next_ctx(n, n->at ? (n->at & ~WRAPPED) - 1 : start);
	u32 wrapped = n->at & WRAPPED;
	bool progress = false;

	if (ctx == ANG_MAX_CTXS && !wrapped) {
		wrapped = WRAPPED;
		ctx = next_ctx(n, 0);
	}
	if (!n->at && ctx < ANG_MAX_CTXS)
		n->turn = ctx + 1;
	n->at = 0;
	while (ctx < ANG_MAX_CTXS && !(wrapped && ctx >= start)) {
		struct ang_ctx *c = ang_ctx(v->fab, n, ctx);

		progress |= ctx_inject(v, n, c);
		/* Usually no other context has work. */
		if (next_ctx(n, 0) == ANG_MAX_CTXS)
			break;
		if (!c->at)
			ctx = next_ctx(n, ctx + 1);
		if (ctx == ANG_MAX_CTXS && !wrapped) {
			wrapped = WRAPPED;
			ctx = next_ctx(n, 0);
		}
		if (ang_spent(v)) {
			if (ctx < ANG_MAX_CTXS && !(wrapped && ctx >= start))
				n->at = (ctx + 1) | wrapped;
			n->first = start;
			break;
		}
	}
	return progress;
}
