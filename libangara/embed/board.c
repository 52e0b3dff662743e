// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Boards: short allreduces, and barriers, in memory that the members of a tree
 * share.
 *
 * Packets define the behaviour; boards must have the same effects.  If
 * possible, the entry of such a reduction stays in the SQ of its member, which
 * does not ring the doorbell.  The member copies its contribution to its share,
 * memory in the segment that belongs to its context, and counts itself in.  The
 * last member combines all contributions in the order of the tree's rows, so the
 * result has the same bits as with packets.  It stores the result in its own
 * share, and decides that the reduction is done.  The other members find this
 * decision, copy the result, and remove their entries from their queues: the
 * adapters never see these entries.  All waiting members combine long
 * reductions; see board_sum.c.
 *
 * A member that stops waiting decides that the reduction uses packets.  It
 * rings the doorbells of all members that have contributed, whose queues
 * contain complete entries.  Then the adapters continue, whatever these members
 * do meanwhile.  A member decides this before it arms its context, before it
 * writes another entry, when it has waited for STAY_MS, awake or asleep, and
 * when it sees that its tree is down.  So a dead or stopped member that has
 * contributed delays a reduction for STAY_MS at most; the adapters wait for
 * members that have not contributed, as they do without boards.  A process that
 * clears a row decides for packets before it does so, see emb_boards_settle().
 *
 * A member that waits for long sleeps on emb_ctx.wake of its context, as it
 * does without boards.  The last contributor wakes all sleeping members.
 *
 * Numbers.  A member numbers the reductions that it posts to a tree from 1 on,
 * whether they use boards or packets.  All members post the same reductions, so
 * the numbers agree.  If a faulty program posts different ones, no reduction
 * gets all contributions, and all use packets.  A member uses the board for a
 * reduction only if its earlier operations on the tree are complete.  Therefore
 *
 *  - at most one reduction of a context is on a board, and it is the last entry
 *    of its queue;
 *  - when all members have contributed to reduction n, all have completed the
 *    earlier reductions, whose data in shares and words may be overwritten;
 *  - entries reach the adapters in the order of their numbers; a number that an
 *    adapter does not get was done on the board by all members.
 *
 * Broadcasts.  Packets of a reduction push earlier broadcasts ahead of them
 * through the tree; a board does not.  So each contribution says how many
 * broadcasts of the tree its member has received since it joined.  The root
 * sends all broadcasts to all members in the same order.  A member also
 * receives its own broadcasts, and contributes only when they are complete.  So
 * if the numbers are equal, all members have received the same broadcasts,
 * among them all that any member has posted before its contribution.  Otherwise
 * the members disagree, and the reduction uses packets.
 *
 * Decisions are final.  One word of the board holds them: see board_word.c.
 * While a member still has to read the decision on reduction n, no later
 * reduction can be done, since the member has not contributed to it.
 *
 * A share has room for one result.  All members have copied a result when a
 * later reduction of the same tree is done on the board.  Until then the
 * context completes no reduction of another tree on a board.
 *
 * If the contribution of a dead member is lost, the reduction uses packets.  If
 * a result is lost, the tree goes down, and the adapter ends the entry.
 *
 * Deaths.  A process that dies while it makes a plan or rings a doorbell may
 * hold a node of the model, see halt.c.  If it dies before the decision, its
 * contribution may or may not count, as if it had sent a packet.  If it dies
 * after the decision for packets, its death takes the tree down, and all
 * entries are at their adapters, or arrive there when their members poll.
 *
 * Each member makes its own plan (members, order), at its first reduction after
 * the tree is open and complete; the plan is valid for one life of the tree
 * (until its row at the root is set again).  A member whose row is down, or
 * belongs to another life, leaves its reductions to the adapter.
 *
 * Memory order: a contributor writes its share, then counts itself in (a full
 * barrier), then reads the word.  A member that decides for packets changes the
 * word (a full barrier), then reads the shares.  So either the contributor sees
 * the decision and rings its doorbell, or the deciding member sees the
 * contribution and rings that doorbell.  A sleeper increments emb_ctx.asleep (a
 * full barrier), then reads the word; the last contributor changes the word,
 * then reads emb_ctx.asleep.
 */
#include <stdlib.h>
#include <string.h>

#include "ang_rules.h"
#include "ang_types.h"
#include "board.h"

#define STAY_MS		EMB_LOOK_MS	/* longest time that a reduction waits on a board */
#define POLLS		64U	/* polls without a result between two calls of may_stay() */
#define RETRY_MOST	256U	/* most reductions between two attempts to make a plan */
#define SKIP_MOST	64U	/* most reductions by packets after one that left its board */

#define HEAD_RECEIVED	48	/* position in an operation of the number of broadcasts */

/*
 * Positions in marks of the router at the root and of the TreeId; bit 0 is
 * always set.
 */
#define MARK_ROOT	8
#define MARK_ROOT_MASK	0xFFFFFU
#define MARK_TREE	1
#define MARK_TREE_MASK	(ANGARA_MAX_TREES - 1)
static_assert(EMB_BOARD_ROUTERS <= MARK_ROOT_MASK && ANGARA_MAX_TREES <= 64,
	      "marks have room");

/**
 * struct joined - a tree that the context has joined
 * @number: number of its last reduction
 * @wait: reductions until the next attempt to make a plan
 * @retry: value to which @wait was set after the last failed attempt
 * @skip: number of further reductions that use packets without trying the board
 * @vain: last value to which @skip was set
 * @plan: plan, NULL if there is none yet
 */
struct joined {
	u32 number;
	u32 wait;
	u32 retry;
	u32 skip;
	u32 vain;
	struct emb_plan *plan;
};

/**
 * struct emb_boards - trees of a context, and its reduction on a board
 * @trees: joined trees, one bit per TreeId
 * @at: tree of the reduction on a board; the fields from @at to @counted are
 *	valid if ang_dev.boarded is set
 * @dev: device
 * @number: number of the reduction
 * @mark: identifies the reduction in shares
 * @head: operation
 * @pi: SQ producer index after the entry of the reduction
 * @dst: destination of the result
 * @polls: polls without result
 * @until_ms: time at which the reduction leaves the board; 0: it has not waited
 *	yet
 * @ready: the result is stored
 * @counted: this member contributed last, and has counted the reduction
 * @result_of: TreeId, plus 1, of the result in this member's share that other
 *	members may still need; 0: none
 * @tree: state of each tree, by TreeId; valid if the tree is joined
 */
struct emb_boards {
	u64 trees;
	u32 at;
	struct ang_dev *dev;
	u32 number;
	u64 mark;
	u64 head;
	u32 pi;
	void *dst;
	u32 polls;
	u64 until_ms;
	bool ready;
	bool counted;
	u32 result_of;
	struct joined tree[ANGARA_MAX_TREES];
};

/*
 * Operation of a contribution: ang_near_op(), and the number of broadcasts that
 * its member has received.  16 bits of the number are enough, since the numbers
 * of two members differ by less: by the broadcasts in flight on the tree.
 */
static u64 head_make(u64 op, u64 received)
{
	return op | received << HEAD_RECEIVED;
}

/* Mark that identifies a reduction in all shares; never 0. */
static u64 mark_of(const struct emb_plan *p, u32 tree, u32 number)
{
	return emb_plan_gen(p) | (u64)(number & EMB_NUM_MASK) << EMB_NUM_SHIFT |
	       (u64)p->root << MARK_ROOT | tree << MARK_TREE | 1;
}

/* Wakes the members that sleep until the reduction is done. */
static void sleepers_wake(const struct emb_plan *p)
{
	u32 i;

	for (i = 0; i < p->n; i++) {
		struct emb_ctx *c = p->part[i].beside;

		if (!READ_ONCE(c->asleep))
			continue;
		ang_fetch_add(&c->wake, 1);
		emb_wake(c);
	}
}

/*
 * Combines pieces of a long reduction, unless the share of this member still
 * has the result of another tree.  Return: false: members disagree.
 */
static bool pieces_turn(struct emb_boards *bs, struct emb_plan *p)
{
	if (!bs->result_of || bs->result_of == bs->at + 1) {
		bs->result_of = bs->at + 1;
		if (!emb_pieces_sum(p, bs->mark, bs->head))
			return false;
	}
	if (emb_pieces_done(p, bs->mark, bs->head) && emb_decide_done(p, bs->number))
		sleepers_wake(p);
	return true;
}

/*
 * The last contributor completes a short reduction for all members, or begins
 * to combine a long one.  Counts the reduction before the decision, so a
 * process that sees the decision also sees the count. Return: false: the
 * reduction uses packets.
 */
static bool last_turn(struct emb_boards *bs, struct emb_plan *p)
{
	bool is_long = emb_is_long(bs->head);

	/*
	 * Other members may still need the result of another tree in the share.
	 */
	if (bs->result_of && bs->result_of != bs->at + 1)
		return false;
	bs->result_of = bs->at + 1;
	if (!is_long && !emb_sum(p, bs->mark, bs->head))
		return false;
	emb_aside_add(&p->board->aside, bs->head, false);
	bs->counted = true;
	if (is_long) {
		emb_pieces_begin(p, bs->mark);
		return pieces_turn(bs, p);
	}
	if (!emb_decide_done(p, bs->number))
		return false;
	sleepers_wake(p);
	return true;
}

/*
 * Takes back the count of a reduction that uses packets: the adapters count it.
 */
static void count_back(struct emb_boards *bs, struct emb_plan *p)
{
	if (bs->counted)
		emb_aside_add(&p->board->aside, bs->head, true);
	bs->counted = false;
}

/* Takes the entry off the board, and passes it to the adapter. */
static void board_quit(struct emb_dev *d)
{
	struct emb_boards *bs = d->boards;

	bs->dev->boarded = false;
	if (!emb_gone(d))
		emb_ring(&d->run, d, d->node, ANGARA_DB_PAGE(d->num) + ANGARA_DB_SQ,
			 bs->pi);
}

/* Rings the doorbell of a context, if its share has a contribution with this mark. */
static void share_ring(struct emb_run *r, struct emb_share *s, u32 node, u32 ctx,
		       u64 mark)
{
	u64 entry;

	if (ang_load_acquire(&s->mark) != mark)
		return;
	entry = ang_load_acquire(&s->entry);
	if (ang_load_acquire(&s->mark) == mark)
		emb_nudge(r, node, ctx, (u16)(entry >> 32), (u32)entry);
}

/*
 * Decides that a reduction uses packets, unless there is a decision.  Then rings the
 * doorbells of the other members that have contributed.  Return: as emb_decide_packets().
 */
static enum emb_verdict go_by_packets(struct emb_dev *d, u32 tree, u32 number)
{
	struct emb_plan *p = d->boards->tree[tree].plan;
	u64 mark = mark_of(p, tree, number);
	enum emb_verdict before = emb_decide_packets(p->board, emb_plan_gen(p), number);
	u32 i;

	for (i = 0; before == EMB_OPEN && i < p->n; i++)
		if (i != p->me)
			share_ring(&d->run, p->part[i].share, p->part[i].node,
				   p->part[i].ctx, mark);
	return before;
}

/*
 * Decides that the reduction with this mark uses packets, unless there is a
 * decision.  Then rings the doorbells of all members that have contributed.
 */
static void share_settle(struct emb_run *r, u64 mark)
{
	const struct emb_head *head = r->fab->head;
	u32 number = (u32)(mark >> EMB_NUM_SHIFT) & EMB_NUM_MASK;
	u32 root = (u32)(mark >> MARK_ROOT) & MARK_ROOT_MASK;
	u32 tree = (u32)mark >> MARK_TREE & MARK_TREE_MASK;
	u64 gen = mark >> EMB_GEN_SHIFT << EMB_GEN_SHIFT;
	u32 node, ctx;

	if (root >= head->routers ||
	    emb_decide_packets(emb_board(r->fab, root, tree), gen, number) != EMB_OPEN)
		return;
	for (node = 0; node < head->nodes; node++)
		for (ctx = 0; ctx < head->cfg.ctxs; ctx++)
			share_ring(r, emb_share(r->fab, node, ctx), node, ctx, mark);
}

/**
 * emb_boards_settle() - a row of a tree is about to be cleared
 * @r: runs the model
 * @router: router of the row
 * @tree: TreeId
 *
 * Passes reductions on boards to the adapters: they were started before the row
 * is cleared, so clearing the row has to end them like other operations.
 */
void emb_boards_settle(struct emb_run *r, u32 router, u32 tree)
{
	const struct emb_head *head = r->fab->head;
	u32 ctx;

	for (ctx = 0; router < head->nodes && head->board_at &&
	     ctx < head->cfg.ctxs; ctx++) {
		u64 mark = ang_load_acquire(&emb_share(r->fab, router, ctx)->mark);

		if (mark && ((u32)mark >> MARK_TREE & MARK_TREE_MASK) == tree)
			share_settle(r, mark);
	}
}

/*
 * After a reduction left its board, the next ones use packets without trying the
 * board, except with EMB_BOARDS_LONG.
 */
static void skip_some(const struct emb_dev *d, struct joined *j)
{
	j->vain = j->vain ? 2 * j->vain : 1;
	if (j->vain > SKIP_MOST)
		j->vain = SKIP_MOST;
	if (d->fab->boards != EMB_BOARDS_LONG)
		j->skip = j->vain;
}

/*
 * Stores the result of a reduction that is done.  Return: false: the result is gone,
 * and the entry was passed to the adapter.
 */
static bool board_take(struct emb_dev *d, u64 word)
{
	struct emb_boards *bs = d->boards;
	struct joined *j = &bs->tree[bs->at];
	const struct emb_plan *p = j->plan;
	u32 len = emb_head_len(bs->head);

	j->vain = 0;
	if (bs->result_of == bs->at + 1 &&
	    READ_ONCE(p->part[p->me].share->result_mark) != bs->mark)
		bs->result_of = 0;
	if (emb_is_long(bs->head) ?
	    emb_pieces_take(p, bs->mark, len, bs->dst) :
	    emb_result_take(p, bs->mark, len, emb_word_owner(word) - 1, bs->dst))
		return true;
	board_quit(d);
	return false;
}

/*
 * Takes the entry off the board: decides for packets if there is no decision.
 * Return: true: the result is stored.
 */
static bool board_end(struct emb_dev *d)
{
	struct emb_boards *bs = d->boards;
	struct joined *j = &bs->tree[bs->at];
	struct emb_plan *p = j->plan;
	enum emb_verdict is = go_by_packets(d, bs->at, bs->number);

	if (is == EMB_DONE)
		return board_take(d, ang_load_acquire(&p->board->word));
	if (is == EMB_OPEN)
		skip_some(d, j);
	count_back(bs, p);
	board_quit(d);
	return false;
}

/**
 * emb_board_end() - take a reduction off its board
 * @dev: device of a context, with ang_dev.boarded
 *
 * Return: true: the reduction is done, and emb_board_look() will return true;
 * false: the adapter has the entry.
 */
bool emb_board_end(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;
	struct emb_boards *bs = d->boards;

	bs->ready = bs->ready || board_end(d);
	return bs->ready;
}

/* May a reduction without a decision stay on its board? */
static bool may_stay(struct emb_dev *d)
{
	struct emb_boards *bs = d->boards;
	u64 now = emb_now_ms();

	if (!bs->until_ms)
		bs->until_ms = now + STAY_MS;
	return now < bs->until_ms &&
	       ang_tree_lives(emb_model(d->fab, emb_copy(d->fab)), d->node,
			      bs->at, bs->tree[bs->at].plan->own_life);
}

/**
 * emb_board_open() - is a reduction on a board still without a decision?
 * @dev: device of a context, with ang_dev.boarded
 */
bool emb_board_open(struct ang_dev *dev)
{
	const struct emb_dev *d = dev->priv;
	const struct emb_boards *bs = d->boards;
	const struct emb_plan *p = bs->tree[bs->at].plan;

	return !bs->ready &&
	       emb_word_verdict(bs->mark, ang_load_acquire(&p->board->word),
				bs->number) == EMB_OPEN;
}

/**
 * emb_board_wait() - before a thread sleeps, take a reduction off its board,
 * unless the reduction may stay
 * @dev: device of a context, with ang_dev.boarded
 *
 * Return: true: the reduction is done, and emb_board_look() will return true;
 * false: the reduction stays on the board for now, or the adapter has the entry.
 */
bool emb_board_wait(struct ang_dev *dev)
{
	if (emb_board_open(dev) && may_stay(dev->priv))
		return false;
	return emb_board_end(dev);
}

/*
 * Takes the result if the reduction is done.  Otherwise combines pieces of a long reduction.
 * Passes the entry to the adapter if @end is set, if the members use packets, or if the entry has
 * been on the board for too long.  Return: true: the result is stored.
 */
static bool board_look(struct ang_dev *dev, bool end)
{
	struct emb_dev *d = dev->priv;
	struct emb_boards *bs = d->boards;
	struct emb_plan *p = bs->tree[bs->at].plan;
	u64 word = ang_load_acquire(&p->board->word);

	if (emb_word_verdict(bs->mark, word, bs->number) == EMB_DONE)
		return board_take(d, word);
	if (emb_is_long(bs->head) && emb_pieces_begun(p, bs->mark) &&
	    !pieces_turn(bs, p))
		end = true;
	if (!end && emb_board_open(dev) && (++bs->polls % POLLS || may_stay(d)))
		return false;
	return board_end(d);
}

/* Implements @board of struct ang_dev_ops. */
bool emb_board_look(struct ang_dev *dev, bool end)
{
	struct emb_dev *d = dev->priv;
	struct emb_boards *bs = d->boards;

	/* The context may have left the tree of a result that is ready. */
	if (!bs->ready && !board_look(dev, end))
		return false;
	bs->ready = false;
	dev->boarded = false;
	if (++d->by_board % ANG_CREDIT_PE == 0)
		emb_tree_report(&d->run, d->node, bs->at);
	return true;
}

/*
 * Return: the plan; NULL: there is none.  Makes the plan if necessary, but not
 * soon after failed attempts.
 */
static struct emb_plan *plan_get(struct emb_dev *d, u32 tree)
{
	struct joined *j = &d->boards->tree[tree];
	int ret;

	if (j->plan || (j->wait && --j->wait))
		return j->plan;
	ret = emb_plan_make(d, tree, &j->plan);
	if (!ret)
		return j->plan;
	j->retry = ret == -E2BIG ? ANG_NONE :
		   j->retry < RETRY_MOST ? 2 * j->retry + 1 : RETRY_MOST;
	j->wait = j->retry;
	return NULL;
}

/*
 * May a reduction use a board?  Not if a thread sleeps on the context: the
 * thread waits for an event, and boards raise no events.
 */
static bool may_board(const struct emb_dev *d)
{
	const struct ang_view *v = &d->run.view;

	return !READ_ONCE(d->ctx->asleep) && !v->ops->trace &&
	       v->fab->express && ang_links_perfect(v->fab);
}

/*
 * Contributes to a reduction.  Return: false: the reduction uses packets, and
 * the caller rings the doorbell.
 */
static bool board_contribute(struct ang_dev *dev, u32 tree)
{
	struct emb_dev *d = dev->priv;
	const struct ang_near *near = &dev->near;
	struct emb_boards *bs = d->boards;
	struct joined *j = &bs->tree[tree];
	struct emb_plan *p = j->plan;

	u64 mark = mark_of(p, tree, j->number);

	if (emb_word_verdict(mark, ang_load_acquire(&p->board->word),
			     j->number) != EMB_OPEN ||
	    !ang_tree_lives(emb_model(d->fab, emb_copy(d->fab)), d->node, tree,
			    p->own_life))
		return false;
	bs->at = tree;
	bs->dev = dev;
	bs->number = j->number;
	bs->mark = mark;
	bs->head = head_make(near->op, near->received);
	bs->pi = near->pi;
	bs->dst = near->dst;
	bs->polls = 0;
	bs->until_ms = 0;
	bs->ready = false;
	bs->counted = false;
	if (emb_is_long(bs->head))
		emb_pieces_clear(p, bs->mark, bs->head);
	emb_share_give(&p->part[p->me], bs->mark, bs->head, bs->pi, near->src);
	if (emb_count_in(p, j->number) == p->n ? !last_turn(bs, p) :
	    emb_word_verdict(mark, ang_load_acquire(&p->board->word),
			     j->number) == EMB_PACKETS) {
		count_back(bs, p);
		return false;
	}
	dev->boarded = true;
	return true;
}

/*
 * Numbers a reduction that has been posted.  @fits: the reduction is the one in
 * ang_dev.near, and the only new entry.  Return: true: it is on a board.
 */
static bool reduction_post(struct ang_dev *dev, u32 tree, bool fits)
{
	struct emb_dev *d = dev->priv;
	struct joined *j = &d->boards->tree[tree];

	j->number++;
	if (fits && emb_head_len(dev->near.op) <= EMB_BOARD_BYTES &&
	    may_board(d) && plan_get(d, tree) && !j->skip &&
	    board_contribute(dev, tree))
		return true;
	j->skip -= j->skip > 0;
	if (j->plan)
		go_by_packets(d, tree, j->number);
	return false;
}

/* Numbers the reductions among the new entries of the SQ. */
static void colls_number(struct ang_dev *dev, u32 pi)
{
	struct emb_dev *d = dev->priv;
	struct emb_boards *bs = d->boards;
	const struct angara_wqe *sq = emb_at(d->fab, d->at[EMB_MEM_SQ]);
	u32 at = dev->colls_from;

	while (at != pi) {
		const struct angara_wqe *w = &sq[at & (d->sq_entries - 1)];
		u32 places = ang_wqe_places(w);
		u32 tree = le16_to_cpu(w->tree);

		if (pi - at < places)
			break;
		at += places;
		if (ang_is_coll(w->opcode) && w->opcode != ANGARA_OP_BCAST &&
		    tree < ANGARA_MAX_TREES && bs->trees >> tree & 1)
			reduction_post(dev, tree, false);
	}
}

/* Is the only new entry the one in ang_dev.near, and without flags? */
static bool near_last(const struct ang_dev *dev, u32 pi)
{
	const struct emb_dev *d = dev->priv;
	const struct angara_wqe *sq = emb_at(d->fab, d->at[EMB_MEM_SQ]);
	const struct angara_wqe *w = &sq[(pi - 1) & (d->sq_entries - 1)];

	return dev->near.set && dev->near.pi == pi && dev->colls_from == pi - 1 &&
	       !dev->boarded && d->boards->trees >> dev->near.tree & 1 &&
	       !w->flags && le16_to_cpu(w->tree) == dev->near.tree;
}

/**
 * emb_boards_take() - look at entries before their doorbell rings
 * @dev: device of a context that has joined trees, with ang_dev.colls
 * @pi: SQ producer index after the last entry
 *
 * Return: true: the only entry is on a board; false: the caller rings the
 * doorbell.
 */
bool emb_boards_take(struct ang_dev *dev, u32 pi)
{
	bool taken = false;

	if (near_last(dev, pi))
		taken = reduction_post(dev, dev->near.tree, true);
	else
		colls_number(dev, pi);
	dev->near.set = false;
	dev->colls = false;
	return taken;
}

/**
 * emb_board_leave() - end the use of boards for a tree that the context is about to leave
 */
void emb_board_leave(struct emb_dev *d, u32 tree)
{
	struct emb_boards *bs = d->boards;

	if (!bs || !(bs->trees >> tree & 1))
		return;
	if (bs->dev && bs->dev->boarded && bs->at == tree)
		emb_board_end(bs->dev);
	bs->trees &= ~(1ULL << tree);
	if (bs->result_of == tree + 1)
		bs->result_of = 0;
	free(bs->tree[tree].plan);
	bs->tree[tree].plan = NULL;
}

/**
 * emb_board_join() - prepare boards after the context has joined a tree
 * @d: handle of the context
 * @tree: TreeId
 *
 * If there is no memory for the state of boards, reductions of the tree use
 * packets.
 */
void emb_board_join(struct emb_dev *d, u32 tree)
{
	if (!d->fab->boards || !d->fab->head->board_at)
		return;
	if (!d->boards) {
		d->boards = calloc(1, sizeof(*d->boards));
		if (!d->boards)
			return;
	}
	/*
	 * If the row was cleared and set again, the context joins again without
	 * having left the tree: free its old plan.
	 */
	emb_board_leave(d, tree);
	d->boards->tree[tree] = (struct joined){ 0 };
	d->boards->trees |= 1ULL << tree;
}

/**
 * emb_boards_free() - free the state of a context whose handle is being closed
 */
void emb_boards_free(struct emb_dev *d)
{
	u32 tree;

	if (!d->boards)
		return;
	for (tree = 0; tree < ANGARA_MAX_TREES; tree++)
		free(d->boards->tree[tree].plan);
	free(d->boards);
}
