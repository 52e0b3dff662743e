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
	bool progress = false;
	u32 i;

	while (c->due && !ang_spent(v)) {
		ang_work(v, ANG_WORK_WQE);
		ang_op_resume(v, n, c);
		progress = true;
	}
	for (i = 0; i < FETCH_BATCH && c->sq_ci != c->sq_pi; i++) {
		if (!ang_fetch(v, n, c))
			break;
		progress = true;
		if (ang_spent(v))
			break;
	}
	if (c->rouse)
		progress |= ang_msg_wake(v, n, c);
	return progress;
}

/* Take out of two sets those that have had their turn, as c->at says. */
static void ctx_resume(struct ang_ctx *c, u64 *ops, u64 *trees)
{
	u32 done = c->at - 1U;

	*ops = done < MAX_OPS ? *ops & ~0ULL << done : 0;
	if (done > MAX_OPS)
		*trees &= done < MAX_OPS + 64 ? ~0ULL << (done - MAX_OPS) : 0;
	c->at = 0;
}

/*
 * A train of each operation.  When the step has done enough, c->at is how many
 * of its places, operations and then trees, have had their turn, plus 1.
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
	    !c->rouse) {
		n->tx[c->id / 64] &= ~(1ULL << (c->id % 64));
		c->at = 0;
	}
	return progress;
}

/* The next context with something to do, from @ctx on; past the last if none. */
static u32 next_ctx(const struct ang_node *n, u32 ctx)
{
	u64 mine = ~0ULL << (ctx % 64);
	u32 w;

	for (w = ctx / 64; w < ANG_CTX_WORDS; w++, mine = ~0ULL)
		if (n->tx[w] & mine)
			return w * 64 + ang_lowest(n->tx[w] & mine);
	return ANG_MAX_CTXS;
}

#define WRAPPED		0x100U	/* in ang_node.at */

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
		/* Most often there is no other. */
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
