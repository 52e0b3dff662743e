/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans of boards: between board.c, which uses them, and board_plan.c. */
#ifndef ANG_EMBED_BOARD_H
#define ANG_EMBED_BOARD_H

#include "embed.h"

#define EMB_BOARD_MEMBERS	64U
#define EMB_GEN_SHIFT		48	/* of the life in words, counts and marks */

/**
 * struct emb_part - a member of a tree
 * @share: of its context
 * @node: node
 * @ctx: context
 * @life: its incarnation
 */
struct emb_part {
	struct emb_share *share;
	u32 node;
	u16 ctx;
	u16 life;
};

/** struct emb_step - @from is combined into @to; members, by their index */
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
 * @sum: room for the contribution of each member
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
	u64 sum[EMB_BOARD_MEMBERS][EMB_SHARE_WORDS];
};

/* Life of the tree, as in words, counts and marks. */
static inline u64 emb_plan_gen(const struct emb_plan *p)
{
	return (u64)(u16)p->life << EMB_GEN_SHIFT;
}

/* Is a word, count or mark of this life of the tree? */
static inline bool emb_plan_is_of(const struct emb_plan *p, u64 word)
{
	return word >> EMB_GEN_SHIFT == (u16)p->life;
}

/* board_plan.c */
int emb_plan_make(struct emb_dev *d, u32 tree, struct emb_plan **plan);

#endif /* ANG_EMBED_BOARD_H */
