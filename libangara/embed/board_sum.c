// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Contributions to a reduction on a board, their combination, and the result.
 *
 * Members combine contributions in the order of the plan, so the result is
 * bit-identical to that of a reduction by packets.  A reduction of up to
 * EMB_PIECE_WORDS words is combined by the last contributor.  Longer reductions
 * are cut into pieces: each member that polls, and the last contributor, takes
 * pieces that no other member has taken, combines them, and stores the result in
 * its own share.  A word for each piece contains the number of the member that
 * has taken the piece, and a flag: the result is stored.  If a member dies or
 * stops before its piece is done, the other members decide after STAY_MS that
 * the reduction uses packets.
 *
 * Only the process of a context writes the context's share.  The mark of a share
 * identifies tree, life and number of the reduction, and is 0 while the
 * contribution is written; a reader compares the mark before and after it copies
 * the contribution.  So the reader detects a context that was counted twice, or
 * that has another owner after a death.
 * Results have such marks, too.  A member writes results of a reduction only
 * after it has contributed to it.  So earlier results last until all members
 * have contributed to the next reduction of this tree.
 */
#include <string.h>

#include "ang_rules.h"
#include "ang_types.h"
#include "board.h"

#define PIECE_DONE	(1ULL << 8)	/* flag, above member + 1: the result is stored */
#define PIECE_MEMBER	0xFFULL

static u32 words_of(u32 len)
{
	return (len + 7) / 8;
}

/*
 * Copies data to a share, word by word, since other processes may read it
 * meanwhile.
 */
static void words_give(u64 *to, const void *from, u32 len)
{
	const char *at = from;
	u64 word;
	u32 i;

	for (i = 0; i < len / 8; i++) {
		memcpy(&word, at + 8 * i, 8);
		ang_store_release(&to[i], word);
	}
	if (!(len % 8))
		return;
	word = 0;
	memcpy(&word, at + 8 * i, len % 8);
	ang_store_release(&to[i], word);
}

/* Copies data from a share, word by word. */
static void words_store(void *to, const u64 *from, u32 len)
{
	char *at = to;
	u64 word;
	u32 i;

	for (i = 0; i < len / 8; i++) {
		word = ang_load_acquire(&from[i]);
		memcpy(at + 8 * i, &word, 8);
	}
	if (!(len % 8))
		return;
	word = ang_load_acquire(&from[i]);
	memcpy(at + 8 * i, &word, len % 8);
}

static void words_take(u64 *to, const u64 *from, u32 words)
{
	u32 i;

	for (i = 0; i < words; i++)
		to[i] = ang_load_acquire(&from[i]);
}

static u64 *share_data(struct emb_share *s, u32 len)
{
	return len <= 8 * EMB_SHARE_NEAR ? s->near : s->far;
}

static u64 *share_result(struct emb_share *s, u32 len)
{
	return len <= 8 * EMB_RESULT_NEAR ? s->result_near : s->result_far;
}

/**
 * emb_share_give() - store a contribution
 * @part: the member that calls
 * @mark: mark of the reduction, see mark_of() in board.c
 * @head: operation, see ang_near_op()
 * @pi: SQ producer index after the entry of the reduction
 * @src: operand
 */
void emb_share_give(const struct emb_part *part, u64 mark, u64 head, u32 pi,
		    const void *src)
{
	struct emb_share *s = part->share;
	u32 len = emb_head_len(head);

	ang_store_release(&s->mark, 0);
	ang_store_release(&s->head, head);
	ang_store_release(&s->entry, (u64)part->life << 32 | pi);
	words_give(share_data(s, len), src, len);
	ang_store_release(&s->mark, mark);
}

/*
 * Copies some words of all contributions.  Return: false: a contribution is
 * missing, or has another operation.
 */
static bool piece_take(struct emb_plan *p, u64 mark, u64 head, u32 first, u32 words)
{
	u32 i;

	for (i = 0; i < p->n; i++) {
		struct emb_share *s = p->part[i].share;

		if (ang_load_acquire(&s->mark) != mark ||
		    ang_load_acquire(&s->head) != head)
			return false;
		words_take(p->sum[i], share_data(s, emb_head_len(head)) + first,
			   words);
		if (ang_load_acquire(&s->mark) != mark)
			return false;
	}
	return true;
}

/*
 * Combines a piece of all contributions, and stores its result in the share of
 * this member.  Return: as piece_take().
 */
static bool piece_sum(struct emb_plan *p, u64 mark, u64 head, u32 first, u32 words)
{
	struct emb_share *s = p->part[p->me].share;
	u64 *result = share_result(s, emb_head_len(head));
	u32 len = emb_head_len(head) - 8 * first;
	u32 i;

	if (!piece_take(p, mark, head, first, words))
		return false;
	len = ang_min(len, 8 * words);
	for (i = 0; len && i < p->steps; i++)
		ang_combine(p->sum[p->step[i].to], p->sum[p->step[i].from],
			    len, emb_head_type(head), emb_head_redop(head));
	ang_store_release(&s->result_mark, mark);
	words_give(result + first, p->sum[p->step[p->steps - 1].to], 8 * words);
	return true;
}

/**
 * emb_sum() - combine short contributions
 * @p: plan
 * @mark: mark of the reduction
 * @head: operation, of at most EMB_PIECE_WORDS words
 *
 * Return: false: members disagree.
 */
bool emb_sum(struct emb_plan *p, u64 mark, u64 head)
{
	return piece_sum(p, mark, head, 0, words_of(emb_head_len(head)));
}

/*
 * Upper bits of the word of a piece; the lower bits are 0 while no member has
 * taken the piece.
 */
static u64 piece_key(u64 mark)
{
	return mark & ~((1ULL << EMB_NUM_SHIFT) - 1);
}

static bool piece_is_of(u64 piece, u64 key)
{
	return piece >> EMB_NUM_SHIFT == key >> EMB_NUM_SHIFT;
}

static u32 pieces_of(u64 head)
{
	return (words_of(emb_head_len(head)) + EMB_PIECE_WORDS - 1) / EMB_PIECE_WORDS;
}

/* Words of piece @i.  The last piece may be shorter. */
static u32 piece_words(u64 head, u32 i)
{
	return ang_min(words_of(emb_head_len(head)) - i * EMB_PIECE_WORDS,
		       EMB_PIECE_WORDS);
}

/**
 * emb_pieces_clear() - clear old words of pieces, before this member contributes
 * to a long reduction
 * @p: plan
 * @mark: mark of the reduction
 * @head: operation
 *
 * Clears words of pieces that seem to belong to this reduction.  No piece of it
 * can be taken yet, so these words are left from the last reduction with the
 * same number.
 */
void emb_pieces_clear(struct emb_plan *p, u64 mark, u64 head)
{
	u64 key = piece_key(mark);
	u32 i;

	if (ang_load_acquire(&p->board->work) == key)
		ang_cmpxchg(&p->board->work, key, 0);
	for (i = 0; i < pieces_of(head); i++) {
		u64 old = ang_load_acquire(&p->board->piece[i]);

		if (piece_is_of(old, key))
			ang_cmpxchg(&p->board->piece[i], old, 0);
	}
}

/** emb_pieces_begin() - let members take pieces, after all have contributed */
void emb_pieces_begin(struct emb_plan *p, u64 mark)
{
	ang_store_release(&p->board->work, piece_key(mark));
}

/** emb_pieces_begun() - may members take pieces? */
bool emb_pieces_begun(const struct emb_plan *p, u64 mark)
{
	return ang_load_acquire(&p->board->work) == piece_key(mark);
}

/* Takes a piece.  Return: false: another member has taken it. */
static bool piece_claim(struct emb_plan *p, u64 key, u32 i)
{
	u64 old = ang_load_acquire(&p->board->piece[i]);

	return !piece_is_of(old, key) &&
	       ang_cmpxchg(&p->board->piece[i], old, key | (p->me + 1)) == old;
}

/**
 * emb_pieces_sum() - combine the pieces of long contributions that no other
 * member has taken
 * @p: plan
 * @mark: mark of the reduction, to which all have contributed
 * @head: operation
 *
 * Return: false: members disagree.
 */
bool emb_pieces_sum(struct emb_plan *p, u64 mark, u64 head)
{
	u64 key = piece_key(mark);
	u32 i;

	for (i = 0; i < pieces_of(head); i++) {
		if (!piece_claim(p, key, i))
			continue;
		if (!piece_sum(p, mark, head, i * EMB_PIECE_WORDS,
			       piece_words(head, i)))
			return false;
		ang_cmpxchg(&p->board->piece[i], key | (p->me + 1),
			    key | PIECE_DONE | (p->me + 1));
	}
	return true;
}

/** emb_pieces_done() - are the results of all pieces stored? */
bool emb_pieces_done(const struct emb_plan *p, u64 mark, u64 head)
{
	u64 key = piece_key(mark);
	u32 i;

	for (i = 0; i < pieces_of(head); i++) {
		u64 piece = ang_load_acquire(&p->board->piece[i]);

		if (!piece_is_of(piece, key) || !(piece & PIECE_DONE))
			return false;
	}
	return true;
}

/*
 * Copies @len bytes of a result from a share.  Return: false: the result is
 * lost.
 */
static bool result_take(const struct emb_share *s, u64 mark, const u64 *from,
			void *dst, u32 len)
{
	if (ang_load_acquire(&s->result_mark) != mark)
		return false;
	words_store(dst, from, len);
	return ang_load_acquire(&s->result_mark) == mark;
}

/**
 * emb_result_take() - store the result of a short reduction that is done
 * @p: plan
 * @mark: mark of the reduction
 * @len: bytes
 * @owner: member whose share has the result
 * @dst: destination of the result
 *
 * Return: false: the result is lost.
 */
bool emb_result_take(const struct emb_plan *p, u64 mark, u32 len, u32 owner,
		     void *dst)
{
	struct emb_share *s;

	if (owner >= p->n)
		return false;
	s = p->part[owner].share;
	return result_take(s, mark, share_result(s, len), dst, len);
}

/** emb_pieces_take() - as emb_result_take(), for a long reduction */
bool emb_pieces_take(const struct emb_plan *p, u64 mark, u32 len, void *dst)
{
	u32 at;

	for (at = 0; at < len; at += 8 * EMB_PIECE_WORDS) {
		u64 piece = ang_load_acquire(&p->board->piece[at / 8 /
							      EMB_PIECE_WORDS]);
		u32 member = (u32)(piece & PIECE_MEMBER) - 1;
		struct emb_share *s;

		if (!piece_is_of(piece, piece_key(mark)) || member >= p->n)
			return false;
		s = p->part[member].share;
		if (!result_take(s, mark, share_result(s, len) + at / 8,
				 (char *)dst + at,
				 ang_min(len - at, 8 * EMB_PIECE_WORDS)))
			return false;
	}
	return true;
}
