/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Boards: declarations for board.c, board_word.c, board_plan.c and board_sum.c.
 */
#ifndef ANG_EMBED_BOARD_H
#define ANG_EMBED_BOARD_H

#include "embed.h"

#define EMB_BOARD_MEMBERS	64U
#define EMB_GEN_SHIFT	48	/* in words, counts and marks: position of the tree's life */
#define EMB_NUM_SHIFT	28	/* in counts and marks: position of a reduction's number */
#define EMB_NUM_BITS	20	/* in words, counts and marks: bits of that number */
#define EMB_NUM_MASK	((1U << EMB_NUM_BITS) - 1)
#define EMB_OWNER_SHIFT	40	/* in words: position of the member that stored the result */

/**
 * enum emb_verdict - state of a reduction, from the word of its board
 * @EMB_OPEN: there is no decision
 * @EMB_DONE: done on the board
 * @EMB_PACKETS: done by the adapters
 */
enum emb_verdict { EMB_OPEN, EMB_DONE, EMB_PACKETS };

/**
 * struct emb_part - a member of a tree
 * @share: share of its context
 * @beside: state of its context that is not in the model
 * @node: node
 * @ctx: context
 * @life: life of the context
 */
struct emb_part {
	struct emb_share *share;
	struct emb_ctx *beside;
	u32 node;
	u16 ctx;
	u16 life;
};

/**
 * struct emb_step - combine the contribution of member @from into that of @to
 */
struct emb_step {
	u8 to;
	u8 from;
};

/**
 * struct emb_plan - how to combine the contributions of a tree
 * @root: router at the root
 * @life: life of its row
 * @own_life: life of the row at the node of this member
 * @board: board
 * @me: index of this member
 * @n: members
 * @steps: number of steps
 * @part: members
 * @step: steps, in order
 * @sum: room for a piece of the contribution of each member
 */
struct emb_plan {
	u32 root;
	u32 life;
	u32 own_life;
	struct emb_board *board;
	u32 me;
	u32 n;
	u32 steps;
	struct emb_part part[EMB_BOARD_MEMBERS];
	struct emb_step step[EMB_BOARD_MEMBERS];
	u64 sum[EMB_BOARD_MEMBERS][EMB_PIECE_WORDS];
};

/* Life of the tree, shifted to its position in words, counts and marks. */
static inline u64 emb_plan_gen(const struct emb_plan *p)
{
	return (u64)(u16)p->life << EMB_GEN_SHIFT;
}

/* Does a word, count or mark belong to this life of the tree? */
static inline bool emb_plan_is_of(const struct emb_plan *p, u64 word)
{
	return word >> EMB_GEN_SHIFT == (u16)p->life;
}

/* Does a word or count belong to a later life of the tree?  A life wraps after 16 bits. */
static inline bool emb_plan_is_before(const struct emb_plan *p, u64 word)
{
	return word && (s16)(u16)((word >> EMB_GEN_SHIFT) - p->life) > 0;
}

/* Member, plus 1, whose share has the last result; 0: there is none. */
static inline u32 emb_word_owner(u64 word)
{
	return (u32)(word >> EMB_OWNER_SHIFT) & 0xFF;
}

/* Number of the last reduction that was done on the board. */
static inline u32 emb_word_done(u64 word)
{
	return (u32)(word >> EMB_NUM_BITS) & EMB_NUM_MASK;
}

/* Number of the last reduction that used packets. */
static inline u32 emb_word_by_pkt(u64 word)
{
	return (u32)word & EMB_NUM_MASK;
}

/* Is number @a at least @b?  Numbers wrap around after EMB_NUM_BITS bits. */
static inline bool emb_num_reached(u32 a, u32 b)
{
	return ((a - b) & EMB_NUM_MASK) < 1U << (EMB_NUM_BITS - 1);
}

/*
 * Return: state of reduction @number.  @gen: life of the reduction's tree, in the
 * upper bits; other bits are ignored.
 */
static inline enum emb_verdict emb_word_verdict(u64 gen, u64 word, u32 number)
{
	if ((word ^ gen) >> EMB_GEN_SHIFT)
		return EMB_PACKETS;
	if (emb_word_owner(word) && emb_word_done(word) == (number & EMB_NUM_MASK))
		return EMB_DONE;
	return emb_num_reached(emb_word_by_pkt(word), number) ? EMB_PACKETS : EMB_OPEN;
}

/* Bytes of an operation, see head_make() in board.c. */
static inline u32 emb_head_len(u64 head)
{
	return (u32)head;
}

static inline u32 emb_head_type(u64 head)
{
	return (u8)(head >> 40);
}

static inline u32 emb_head_redop(u64 head)
{
	return (u8)(head >> 32);
}

/* Is the operation combined in pieces? */
static inline bool emb_is_long(u64 head)
{
	return emb_head_len(head) > 8 * EMB_PIECE_WORDS;
}

/* board_word.c */
enum emb_verdict emb_decide_packets(struct emb_board *b, u64 gen, u32 number);
bool emb_decide_done(struct emb_plan *p, u32 number);
u32 emb_count_in(struct emb_plan *p, u32 number);
void emb_aside_add(struct ang_aside *a, u64 head, bool back);

/* board_sum.c */
void emb_share_give(const struct emb_part *part, u64 mark, u64 head, u32 pi,
		    const void *src);
bool emb_sum(struct emb_plan *p, u64 mark, u64 head);
void emb_pieces_clear(struct emb_plan *p, u64 mark, u64 head);
void emb_pieces_begin(struct emb_plan *p, u64 mark);
bool emb_pieces_begun(const struct emb_plan *p, u64 mark);
bool emb_pieces_sum(struct emb_plan *p, u64 mark, u64 head);
bool emb_pieces_done(const struct emb_plan *p, u64 mark, u64 head);
bool emb_result_take(const struct emb_plan *p, u64 mark, u32 len, u32 owner,
		     void *dst);
bool emb_pieces_take(const struct emb_plan *p, u64 mark, u32 len, void *dst);

/* board_plan.c */
int emb_plan_make(struct emb_dev *d, u32 tree, struct emb_plan **plan);

#endif /* ANG_EMBED_BOARD_H */
