// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The parts of a board that all members of its tree change: the word with the
 * decisions, the count of contributions, the counts of reductions.
 *
 * Decisions are in emb_board.word, which is changed by compare-exchange only:
 *
 *	open	n > done, n > by_pkt
 *	done	n == done	from open, by the last contributor
 *	packets	n <= by_pkt	from open, by any member; n != done
 *
 * A decision is final.  While a member still has to read the decision on n,
 * @done cannot advance beyond n, since the member has not contributed to a
 * later reduction.  Numbers in words have EMB_NUM_BITS bits.  These are enough:
 * the numbers of two members differ at most by the entries of a CQ, and
 * emb_decide_packets() removes a result whose number is much older.
 */
#include "ang_rules.h"
#include "ang_types.h"
#include "board.h"

#define NUM_FAR		(1U << (EMB_NUM_BITS - 2))

/* Word of a board.  @gen: life of the tree in the upper bits. */
static u64 word_make(u64 gen, u32 owner, u32 done, u32 by_pkt)
{
	return gen | (u64)owner << EMB_OWNER_SHIFT |
	       (u64)(done & EMB_NUM_MASK) << EMB_NUM_BITS | (by_pkt & EMB_NUM_MASK);
}

/**
 * emb_decide_packets() - decide for packets, unless there is a decision
 * @b: board
 * @gen: life of the tree in the upper bits, as in words
 * @number: number of the reduction
 *
 * Return: the earlier decision; EMB_OPEN: there was none, so the caller has to
 * ring the doorbells of the members that have contributed.
 */
enum emb_verdict emb_decide_packets(struct emb_board *b, u64 gen, u32 number)
{
	u64 old = ang_load_acquire(&b->word);

	for (;;) {
		enum emb_verdict is = emb_word_verdict(gen, old, number);
		u32 done = emb_word_done(old);
		u32 owner = emb_word_owner(old);
		u64 seen;

		if (is != EMB_OPEN)
			return is;
		/*
		 * All members have copied a result this old, so no member needs
		 * its owner.
		 */
		if (((number - done) & EMB_NUM_MASK) > NUM_FAR)
			owner = 0;
		seen = ang_cmpxchg(&b->word, old,
				   word_make(gen, owner, done, number));
		if (seen == old)
			return EMB_OPEN;
		old = seen;
	}
}

/**
 * emb_decide_done() - decide that a reduction is done on the board
 * @p: plan of the member that decides.  If the reduction is short, this member's
 *	share has the result
 * @number: number of the reduction
 *
 * Return: false: there was a decision already.
 */
bool emb_decide_done(struct emb_plan *p, u32 number)
{
	u64 gen = emb_plan_gen(p);
	u64 new = word_make(gen, p->me + 1, number, number - 1);
	u64 old = ang_load_acquire(&p->board->word);

	while (emb_word_verdict(gen, old, number) == EMB_OPEN) {
		u64 seen = ang_cmpxchg(&p->board->word, old, new);

		if (seen == old)
			return true;
		old = seen;
	}
	return false;
}

/**
 * emb_count_in() - count a contribution
 * @p: plan
 * @number: number of the reduction
 *
 * Return: number of contributions so far; 0: a later reduction, or a later life
 * of the tree, has begun.
 */
u32 emb_count_in(struct emb_plan *p, u32 number)
{
	u64 first = emb_plan_gen(p) | (u64)(number & EMB_NUM_MASK) << EMB_NUM_SHIFT | 1;
	u64 old = READ_ONCE(p->board->count);

	for (;;) {
		u64 new = first;
		u64 seen;

		if (old >> EMB_NUM_SHIFT == first >> EMB_NUM_SHIFT)
			new = old + 1;
		else if (emb_plan_is_before(p, old) ||
			 (emb_plan_is_of(p, old) &&
			  emb_num_reached((u32)(old >> EMB_NUM_SHIFT), number)))
			return 0;
		seen = ang_cmpxchg(&p->board->count, old, new);
		if (seen == old)
			return (u32)new & ((1U << EMB_NUM_SHIFT) - 1);
		old = seen;
	}
}

/**
 * emb_aside_add() - count a reduction on a board, or undo that
 * @a: counts of the board
 * @head: operation
 * @back: undo an earlier call
 *
 * Only the last contributor to a reduction calls this.  No other thread calls
 * it at the same time, since a later reduction has a last contributor only
 * after this member has contributed, too.
 */
void emb_aside_add(struct ang_aside *a, u64 head, bool back)
{
	u32 len = emb_head_len(head);
	u32 packets = ang_packets(len);
	u64 sign = back ? ~0ULL : 1;

	WRITE_ONCE(a->ops, a->ops + sign);
	WRITE_ONCE(a->packets, a->packets + sign * packets);
	WRITE_ONCE(a->flits, a->flits + sign * ang_flits_of(packets, len));
	WRITE_ONCE(a->bytes, a->bytes + sign * len);
}
