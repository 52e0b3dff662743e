// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Boards: allreduces of one packet, and barriers, in memory that the members of
 * a tree share.
 *
 * Packets are the specification.  When nothing is in the way, the entry of such
 * a reduction stays in the SQ of its member, which does not ring the doorbell.
 * The member copies its contribution to the share of its context and counts
 * itself in.  The last one combines all of them in the order of the tree's rows,
 * so the bits are those of packets, stores the result in its own share, and
 * decides that the reduction is done.  The others find that, copy the result, and
 * take the entry back from the queue: the adapter never sees it.
 *
 * A member that stops waiting decides that the reduction goes by packets, and
 * rings the doorbells of all members that have contributed: each entry is
 * complete in its queue.  Then the adapters go on, whatever these
 * members do meanwhile.  That is so before a member sleeps or arms its context,
 * after many polls in vain, and before it writes another entry.  So a reduction
 * on a board waits for no member that has contributed, dead or stopped; for
 * others the adapters wait, as without boards.
 *
 * Numbers.  A member counts the reductions that it posts to a tree, from 1 on,
 * boards or not.  All members post the same reductions, so the numbers agree;
 * where they do not, no reduction gets all contributions, and all go by packets.
 * A member uses the board for a reduction only if its earlier operations on the
 * tree are complete.  Therefore
 *
 *  - at most one reduction of a context is on a board, and it is the last entry
 *    of its queue;
 *  - when all have contributed to reduction n, all are done with those before
 *    it, so what is left of them in shares and words may be overwritten;
 *  - entries reach the adapters in the order of their numbers: those that are
 *    missing there were done on the board by all.
 *
 * Members that have completed a reduction by packets have received the
 * broadcasts before it, since results follow these through the tree.  A board
 * does not know of broadcasts: after one, the next reduction of its member goes
 * by packets.
 *
 * What is decided is in emb_board.word, changed by compare-exchange alone:
 *
 *	gen	life of the root's row; members of other lives leave it alone
 *	done	the last reduction that was done on the board, and
 *	owner	the member whose share has the result, plus 1; 0: there is none
 *	by_pkt	reductions up to this one, but @done, go by packets
 *
 *	open	n > done, n > by_pkt
 *	done	n == done	from open, by the last contributor
 *	packets	n <= by_pkt	from open, by any member; n != done
 *
 * A decision is never changed.  While a member looks for that on n, @done cannot
 * move past n, which needs its contribution to a later one.  Numbers in words
 * have 20 bits: members are at most as far apart as there are entries in a CQ,
 * and a value that falls behind is drawn along.
 *
 * A share has room for one result.  A member of another tree may still look for
 * it: not before a later reduction of the same tree is done on the board is it
 * known that all have it.  Until then the context completes no reduction of
 * another tree on a board.
 *
 * A share is written by its context alone.  Its mark names board, life and
 * number, and is 0 while the share is written; a reader compares it before and
 * after it copies.  So a contributor that counts twice, or has died and whose
 * context has another owner, is found, and the reduction goes by packets.  If a
 * result is lost in this way, its member has died and the tree goes down: the
 * entry goes to the adapter, which ends it with that error.
 *
 * Deaths: a process that dies in this file holds nothing but, while
 * a plan is made or a doorbell rings, a node in the model, see halt.c.  Before
 * the decision its contribution counts or not, as a packet that may have left;
 * after the decision for packets, its death takes the tree down, and all
 * entries have reached their adapters or do so when their members look.
 *
 * The plan (members, order) is made by each member for itself, at its first
 * reduction after the tree is open and complete: from then on it stays the same
 * for the life of the tree.  A member whose row is down, or in another life,
 * leaves its reductions to the adapter.
 *
 * Memory order: a contributor writes its share, then counts itself in (a full
 * barrier), then reads the word.  A member that decides for packets changes the
 * word (a full barrier), then reads the shares.  So either the one sees the
 * decision and rings its doorbell, or the other sees the entry.
 */
#include <stdlib.h>
#include <string.h>

#include "ang_rules.h"
#include "ang_types.h"
#include "board.h"

#define LONG_NS		50000000ULL	/* see EMB_BOARDS_LONG */
#define POLLS		4096U	/* looks in vain before the adapters go on */
#define RETRY_MOST	256U	/* reductions between two attempts to make a plan */
#define SKIP_MOST	64U	/* reductions by packets after boards in vain */

/* Fields of emb_board.word and emb_board.count. */
#define NUM_BITS	20
#define NUM_MASK	((1U << NUM_BITS) - 1)
#define NUM_HALF	(1U << (NUM_BITS - 1))
#define NUM_FAR		(1U << (NUM_BITS - 2))
#define OWNER_SHIFT	40
#define DONE_SHIFT	NUM_BITS
#define COUNT_SHIFT	28	/* of the number in emb_board.count */

/**
 * struct joined - a tree that the context has joined
 * @number: of its last reduction
 * @bcast: it has posted a broadcast since its last reduction by packets
 * @wait: reductions until the next attempt to make a plan
 * @retry: of the previous attempt
 * @skip: reductions that go by packets at once
 * @vain: of the previous time
 * @plan: plan, NULL if there is none yet
 */
struct joined {
	u32 number;
	bool bcast;
	u32 wait;
	u32 retry;
	u32 skip;
	u32 vain;
	struct emb_plan *plan;
};

/**
 * struct emb_boards - trees of a context, and its reduction on a board
 * @trees: joined trees, a bit each
 * @rung: SQ producer index that the adapter knows
 * @at: tree of the reduction on a board; valid, as all that follows, with
 *	ang_dev.boarded
 * @dev: device
 * @number: of the reduction
 * @pi: SQ producer index behind its entry
 * @len: bytes
 * @dst: where the result goes
 * @polls: looks in vain
 * @ready: the result is stored
 * @result_of: tree, plus 1, of the result in the share that others may look for;
 *	0: none
 * @tree: by TreeId; valid if joined
 */
struct emb_boards {
	u64 trees;
	u32 rung;
	u32 at;
	struct ang_dev *dev;
	u32 number;
	u32 pi;
	u32 len;
	void *dst;
	u32 polls;
	bool ready;
	u32 result_of;
	struct joined tree[ANGARA_MAX_TREES];
};

/* State of a reduction, from the word of its board. */
enum verdict { OPEN, DONE, PACKETS };

static u32 word_owner(u64 word)
{
	return (u32)(word >> OWNER_SHIFT) & 0xFF;
}

static u32 word_done(u64 word)
{
	return (u32)(word >> DONE_SHIFT) & NUM_MASK;
}

static u32 word_by_pkt(u64 word)
{
	return (u32)word & NUM_MASK;
}

static u64 word_make(const struct emb_plan *p, u32 owner, u32 done, u32 by_pkt)
{
	return emb_plan_gen(p) | (u64)owner << OWNER_SHIFT |
	       (u64)(done & NUM_MASK) << DONE_SHIFT | (by_pkt & NUM_MASK);
}

/* Is @a at or behind @b, of which only NUM_BITS are given? */
static bool num_reached(u32 a, u32 b)
{
	return ((a - b) & NUM_MASK) < NUM_HALF;
}

static enum verdict word_verdict(const struct emb_plan *p, u64 word, u32 number)
{
	if (!emb_plan_is_of(p, word))
		return PACKETS;
	if (word_owner(word) && word_done(word) == (number & NUM_MASK))
		return DONE;
	return num_reached(word_by_pkt(word), number) ? PACKETS : OPEN;
}

/*
 * Decides for packets, unless there is a decision.  Return: the decision before;
 * OPEN: there was none, so the caller has to ring the doorbells of others.
 */
static enum verdict decide_packets(struct emb_plan *p, u32 number)
{
	u64 old = ang_load_acquire(&p->board->word);

	for (;;) {
		enum verdict is = word_verdict(p, old, number);
		u32 done = word_done(old);
		u32 owner = word_owner(old);
		u64 seen;

		if (is != OPEN)
			return is;
		/* No member looks for that one any more. */
		if (((number - done) & NUM_MASK) > NUM_FAR)
			owner = 0;
		seen = ang_cmpxchg(&p->board->word, old,
				   word_make(p, owner, done, number));
		if (seen == old)
			return OPEN;
		old = seen;
	}
}

/* Decides that a reduction is done, unless there is a decision. */
static void decide_done(struct emb_plan *p, u32 number)
{
	u64 new = word_make(p, p->me + 1, number, number - 1);
	u64 old = ang_load_acquire(&p->board->word);

	while (word_verdict(p, old, number) == OPEN) {
		u64 seen = ang_cmpxchg(&p->board->word, old, new);

		if (seen == old)
			return;
		old = seen;
	}
}

/* Return: how many have contributed; 0: a later reduction has begun. */
static u32 count_in(struct emb_plan *p, u32 number)
{
	u64 first = emb_plan_gen(p) | (u64)(number & NUM_MASK) << COUNT_SHIFT | 1;
	u64 old = READ_ONCE(p->board->count);

	for (;;) {
		u64 new = first;
		u64 seen;

		if (old >> COUNT_SHIFT == first >> COUNT_SHIFT)
			new = old + 1;
		else if (emb_plan_is_of(p, old) &&
			 num_reached((u32)(old >> COUNT_SHIFT), number))
			return 0;
		seen = ang_cmpxchg(&p->board->count, old, new);
		if (seen == old)
			return (u32)new & ((1U << COUNT_SHIFT) - 1);
		old = seen;
	}
}

/* Names a reduction in all shares; never 0. */
static u64 mark_of(const struct emb_plan *p, u32 tree, u32 number)
{
	return emb_plan_gen(p) | (u64)(number & NUM_MASK) << COUNT_SHIFT |
	       (u64)p->root << 8 | tree << 1 | 1;
}

static u32 words_of(u32 len)
{
	return (len + 7) / 8;
}

/* Copies to a share, word by word: others may read it meanwhile. */
static void words_give(u64 *to, const void *from, u32 len)
{
	const char *at = from;
	u32 i;

	for (i = 0; i < words_of(len); i++) {
		u64 word = 0;

		memcpy(&word, at + 8 * i, len - 8 * i < 8 ? len - 8 * i : 8);
		ang_store_release(&to[i], word);
	}
}

static void words_take(u64 *to, const u64 *from, u32 len)
{
	u32 i;

	for (i = 0; i < words_of(len); i++)
		to[i] = ang_load_acquire(&from[i]);
}

static u64 *share_data(struct emb_share *s, u32 len)
{
	return words_of(len) <= EMB_SHARE_NEAR ? s->near : s->far;
}

static u64 *share_result(struct emb_share *s, u32 len)
{
	return words_of(len) <= EMB_RESULT_NEAR ? s->result_near : s->result_far;
}

/* What all members have to agree on.  A barrier is an allreduce of nothing. */
static u64 head_of(const struct angara_wqe *w)
{
	if (w->opcode == ANGARA_OP_BARRIER)
		return 0;
	return (u64)w->type << 40 | (u64)w->redop << 32 | le32_to_cpu(w->length);
}

/* Return: false: a contribution is missing, or is of another operation. */
static bool contributions_take(struct emb_plan *p, u64 mark, u64 head)
{
	u32 len = (u32)head;
	u32 i;

	for (i = 0; i < p->n; i++) {
		struct emb_share *s = p->part[i].share;

		if (ang_load_acquire(&s->mark) != mark ||
		    ang_load_acquire(&s->head) != head)
			return false;
		words_take(p->sum[i], share_data(s, len), len);
		if (ang_load_acquire(&s->mark) != mark)
			return false;
	}
	return true;
}

/* Combines all contributions.  Return: the result; NULL: there is none. */
static const u64 *plan_combine(struct emb_plan *p, u64 mark, u64 head)
{
	u32 i;

	if (!contributions_take(p, mark, head))
		return NULL;
	for (i = 0; (u32)head && i < p->steps; i++)
		ang_combine(p->sum[p->step[i].to], p->sum[p->step[i].from],
			    (u32)head, (u8)(head >> 40), (u8)(head >> 32));
	return p->sum[p->step[p->steps - 1].to];
}

/* The last contributor completes the reduction for all. */
static void reduction_finish(struct emb_plan *p, u32 tree, u32 number, u64 head)
{
	struct emb_share *s = p->part[p->me].share;
	u64 mark = mark_of(p, tree, number);
	const u64 *sum = plan_combine(p, mark, head);
	u32 len = (u32)head;

	if (!sum)
		return;
	ang_store_release(&s->result_mark, 0);
	words_give(share_result(s, len), sum, len);
	ang_store_release(&s->result_mark, mark);
	decide_done(p, number);
}

/* As reduction_finish(), unless another tree's result is in the share. */
static void last_finish(struct emb_boards *bs, u32 tree, u64 head)
{
	struct joined *j = &bs->tree[tree];

	if (bs->result_of && bs->result_of != tree + 1)
		return;
	bs->result_of = tree + 1;
	reduction_finish(j->plan, tree, j->number, head);
}

/* Stores the result of a reduction that is done.  Return: false: it is lost. */
static bool result_take(const struct emb_boards *bs, const struct emb_plan *p,
			u32 owner)
{
	u64 mark = mark_of(p, bs->at, bs->number);
	u64 result[EMB_SHARE_WORDS];
	struct emb_share *s;

	if (owner >= p->n)
		return false;
	s = p->part[owner].share;
	if (ang_load_acquire(&s->result_mark) != mark)
		return false;
	words_take(result, share_result(s, bs->len), bs->len);
	if (ang_load_acquire(&s->result_mark) != mark)
		return false;
	if (bs->len)
		memcpy(bs->dst, result, bs->len);
	return true;
}

/* Rings the own doorbell for all entries up to @pi. */
static void entry_ring(struct emb_dev *d, u32 pi)
{
	d->boards->rung = pi;
	emb_ring(&d->run, d->node, ANGARA_DB_PAGE(d->num) + ANGARA_DB_SQ, pi);
}

/* The entry leaves the board: the adapter gets it. */
static void board_quit(struct emb_dev *d)
{
	struct emb_boards *bs = d->boards;

	bs->dev->boarded = false;
	if (!emb_gone(d))
		entry_ring(d, bs->pi);
}

/* Rings the doorbells of the others that have contributed. */
static void others_ring(struct emb_dev *d, struct emb_plan *p, u64 mark)
{
	u32 i;

	for (i = 0; i < p->n; i++) {
		const struct emb_part *part = &p->part[i];
		u64 pi;

		if (i == p->me || ang_load_acquire(&part->share->mark) != mark)
			continue;
		pi = ang_load_acquire(&part->share->pi);
		if (ang_load_acquire(&part->share->mark) == mark)
			emb_nudge(&d->run, part->node, part->ctx, part->life,
				  (u32)pi);
	}
}

/* As decide_packets(), and rings the doorbells that have to be rung then. */
static enum verdict go_by_packets(struct emb_dev *d, u32 tree, u32 number)
{
	struct emb_plan *p = d->boards->tree[tree].plan;
	enum verdict before = decide_packets(p, number);

	if (before == OPEN)
		others_ring(d, p, mark_of(p, tree, number));
	return before;
}

/* A board was in vain: the next reductions do without. */
static void skip_some(const struct emb_dev *d, struct joined *j)
{
	j->vain = j->vain ? 2 * j->vain : 1;
	if (j->vain > SKIP_MOST)
		j->vain = SKIP_MOST;
	if (d->fab->boards != EMB_BOARDS_LONG)
		j->skip = j->vain;
}

/*
 * Ends the stay of the entry on the board.  Return: true: the result is stored.
 */
static bool board_end(struct emb_dev *d)
{
	struct emb_boards *bs = d->boards;
	struct joined *j = &bs->tree[bs->at];
	struct emb_plan *p = j->plan;
	enum verdict is = word_verdict(p, ang_load_acquire(&p->board->word),
				       bs->number);

	if (is == OPEN) {
		is = go_by_packets(d, bs->at, bs->number);
		if (is == OPEN)
			skip_some(d, j);
	}
	if (is == DONE) {
		u64 word = ang_load_acquire(&p->board->word);

		j->vain = 0;
		if (bs->result_of == bs->at + 1 && word_owner(word) != p->me + 1)
			bs->result_of = 0;
		bs->ready = result_take(bs, p, word_owner(word) - 1);
		if (bs->ready)
			return true;
	}
	board_quit(d);
	return false;
}

/**
 * emb_board_end() - a reduction must not stay on its board
 * @dev: device of a context, with ang_dev.boarded
 *
 * Return: true: it is done, and emb_board_look() will say so; false: the adapter
 * has the entry.
 */
bool emb_board_end(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;

	return d->boards->ready || board_end(d);
}

/**
 * emb_board_wait() - a thread is about to sleep
 * @dev: device of a context, with ang_dev.boarded
 *
 * Return: as emb_board_end().
 */
bool emb_board_wait(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;
	const struct emb_boards *bs = d->boards;
	u64 end = emb_now_ns() + LONG_NS;

	while (d->fab->boards == EMB_BOARDS_LONG && !bs->ready &&
	       emb_now_ns() < end) {
		const struct emb_plan *p = bs->tree[bs->at].plan;

		if (word_verdict(p, ang_load_acquire(&p->board->word),
				 bs->number) != OPEN)
			break;
		sched_yield();
	}
	return emb_board_end(dev);
}

/* See struct ang_dev_ops. */
bool emb_board_look(struct ang_dev *dev, bool end)
{
	struct emb_dev *d = dev->priv;
	struct emb_boards *bs = d->boards;

	if (!bs->ready) {
		const struct emb_plan *p = bs->tree[bs->at].plan;

		if (word_verdict(p, ang_load_acquire(&p->board->word),
				 bs->number) == OPEN &&
		    !end && ++bs->polls < POLLS)
			return false;
		if (!board_end(d))
			return false;
	}
	bs->ready = false;
	dev->boarded = false;
	d->by_board++;
	return true;
}

/* Makes a plan, unless there is one, or recent attempts have failed. */
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
 * Is nothing in the way of doing without packets?  A thread that sleeps on the
 * context waits for an event, and a board has none.
 */
static bool may_board(const struct emb_dev *d)
{
	const struct ang_view *v = &d->run.view;

	return !READ_ONCE(d->ctx->asleep) && !v->ops->trace &&
	       v->fab->express && ang_links_perfect(v->fab);
}

static bool entry_fits(const struct angara_wqe *w)
{
	u32 len = le32_to_cpu(w->length);
	u32 size;

	if (w->flags)
		return false;
	if (w->opcode == ANGARA_OP_BARRIER)
		return !len && !w->aux && !w->aux_key;
	size = ang_reduction_size(w->type, w->redop);
	return w->opcode == ANGARA_OP_ALLREDUCE && size && !(len & (size - 1)) &&
	       len <= ANGARA_PACKET_BYTES;
}

/*
 * Contributes to a reduction.  Return: false: it goes by packets, and the
 * caller rings.
 */
static bool contribute(struct ang_dev *dev, const struct angara_wqe *w, u32 tree,
		       u32 pi)
{
	struct emb_dev *d = dev->priv;
	struct emb_boards *bs = d->boards;
	struct joined *j = &bs->tree[tree];
	struct emb_plan *p = j->plan;
	struct emb_share *s = p->part[p->me].share;
	u64 head = head_of(w);
	u32 len = (u32)head;

	if (word_verdict(p, ang_load_acquire(&p->board->word), j->number) != OPEN ||
	    !ang_tree_lives(emb_model(d->fab, emb_copy(d->fab)), d->node, tree,
			    p->own_life))
		return false;
	ang_store_release(&s->mark, 0);
	ang_store_release(&s->head, head);
	ang_store_release(&s->pi, pi);
	words_give(share_data(s, len), dev->near.src, len);
	ang_store_release(&s->mark, mark_of(p, tree, j->number));
	if (count_in(p, j->number) == p->n)
		last_finish(bs, tree, head);
	if (word_verdict(p, ang_load_acquire(&p->board->word),
			 j->number) == PACKETS)
		return false;
	bs->at = tree;
	bs->dev = dev;
	bs->number = j->number;
	bs->pi = pi;
	bs->len = len;
	bs->dst = dev->near.dst;
	bs->polls = 0;
	bs->ready = false;
	dev->boarded = true;
	return true;
}

/* Numbers a reduction that has been posted.  Return: whether a board has it. */
static bool reduction_post(struct ang_dev *dev, const struct angara_wqe *w,
			   u32 tree, u32 pi)
{
	struct emb_dev *d = dev->priv;
	struct joined *j = &d->boards->tree[tree];
	bool fits = dev->near.set && dev->near.pi == pi && entry_fits(w) &&
		    may_board(d);

	j->number++;
	if (fits && plan_get(d, tree) && !j->bcast && !j->skip &&
	    contribute(dev, w, tree, pi))
		return true;
	j->bcast = false;
	j->skip -= j->skip > 0;
	if (j->plan)
		go_by_packets(d, tree, j->number);
	return false;
}

/**
 * emb_boards_take() - look at entries before their doorbell rings
 * @dev: device of a context that has joined trees
 * @pi: SQ producer index behind them
 *
 * Return: true: there is one entry, and it is on a board; false: the caller
 * rings.
 */
bool emb_boards_take(struct ang_dev *dev, u32 pi)
{
	struct emb_dev *d = dev->priv;
	struct emb_boards *bs = d->boards;
	const struct angara_wqe *sq = emb_at(d->fab, d->at[EMB_MEM_SQ]);
	bool alone = pi - bs->rung == 1 && !dev->boarded;
	bool taken = false;
	u32 at = bs->rung;

	if (alone && !ang_is_coll(sq[at & (d->sq_entries - 1)].opcode))
		at = pi;
	while (at != pi && !taken) {
		const struct angara_wqe *w = &sq[at & (d->sq_entries - 1)];
		u32 places = ang_wqe_places(w);
		u32 tree = le16_to_cpu(w->tree);

		if (pi - at < places)
			break;
		at += places;
		if (!ang_is_coll(w->opcode) || tree >= ANGARA_MAX_TREES ||
		    !(bs->trees >> tree & 1))
			continue;
		if (!alone)
			dev->near.set = false;
		if (w->opcode == ANGARA_OP_BCAST)
			bs->tree[tree].bcast = true;
		else
			taken = reduction_post(dev, w, tree, at);
	}
	dev->near.set = false;
	if (!taken)
		bs->rung = pi;
	return taken;
}

/** emb_board_leave() - the context is about to leave a tree */
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
 * emb_board_join() - the context has joined a tree
 * @d: handle of the context
 * @tree: TreeId
 *
 * Without memory its reductions go by packets.
 */
void emb_board_join(struct emb_dev *d, u32 tree)
{
	if (!d->fab->boards || !d->fab->head->board_at)
		return;
	if (!d->boards) {
		d->boards = calloc(1, sizeof(*d->boards));
		if (!d->boards)
			return;
		d->boards->rung = le32_to_cpu(READ_ONCE(d->ctl->sq_pi));
	}
	/* The row may have been cleared, without a leave. */
	emb_board_leave(d, tree);
	d->boards->tree[tree] = (struct joined){ 0 };
	d->boards->trees |= 1ULL << tree;
}

/** emb_boards_free() - the handle of the context is being closed */
void emb_boards_free(struct emb_dev *d)
{
	u32 tree;

	if (!d->boards)
		return;
	for (tree = 0; tree < ANGARA_MAX_TREES; tree++)
		free(d->boards->tree[tree].plan);
	free(d->boards);
}
