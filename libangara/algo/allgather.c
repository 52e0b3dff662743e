// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Allgather by messages.
 *
 * In Bruck's algorithm and in recursive doubling a member may take part under a
 * number that differs from its rank, so that members that exchange much data
 * are near each other (Kurnosov: structure-aware allgather for hierarchical
 * distributed systems, 2011).  There are two forms.  In one, members exchange
 * their blocks first, so the member with number v begins with block v.  In the
 * other, this member begins with its own block, and each member reorders all
 * blocks at the end.
 */
#include "gen.h"

#define TAG_EXCHANGE	0
#define TAG_ROUND	1	/* tag of the first round; later rounds add their number */

static u32 number_of(const struct gen *g)
{
	return g->a->place ? g->a->place[g->a->rank] : g->a->rank;
}

static u32 rank_of(const struct gen *g, u32 number)
{
	return g->a->rank_of ? g->a->rank_of[number] : number;
}

/*
 * Stores the block with which the member begins at @where: its own block, or the
 * block of another member if members exchange their blocks first.
 */
static void blocks_begin(struct gen *g, struct ang_range where)
{
	u32 to = rank_of(g, g->a->rank), from = number_of(g);
	size_t len = gen_len(g);

	if (g->a->exchange && from != g->a->rank) {
		gen_send(g, to, TAG_EXCHANGE, in_at(0), len);
		gen_recv(g, from, TAG_EXCHANGE, where, len);
	} else {
		gen_copy(g, where, in_at(0), len);
	}
	gen_fence(g);
}

/* Are blocks collected in the order of numbers instead of ranks? */
static bool rank_reorders(const struct gen *g)
{
	return g->a->place && !g->a->exchange;
}

void ang_gen_allgather_ring(struct gen *g)
{
	u32 n = g->a->size, rank = g->a->rank;
	u32 i;

	gen_copy(g, out_at(gen_out_off(g, rank)), in_at(0), gen_out_len(g, rank));
	gen_fence(g);
	for (i = 0; i + 1 < n; i++) {
		u32 out = (rank + n - i) % n, in = (out + n - 1) % n;

		gen_send(g, (rank + 1) % n, i, out_at(gen_out_off(g, out)),
			 gen_out_len(g, out));
		gen_recv(g, (rank + n - 1) % n, i, out_at(gen_out_off(g, in)),
			 gen_out_len(g, in));
		gen_fence(g);
	}
}

/*
 * Each member collects blocks, beginning with its own.  The number of its
 * blocks doubles in each round.
 */
void ang_gen_allgather_bruck(struct gen *g)
{
	u32 n = g->a->size, v = number_of(g), dist, tag = TAG_ROUND, j;
	size_t len = gen_len(g);
	bool direct = !v && !rank_reorders(g);
	struct ang_range all = direct ? out_at(0) : gen_temp(g, n * len);

	blocks_begin(g, all);
	for (dist = 1; dist < n; dist <<= 1, tag++) {
		u32 num = dist < n - dist ? dist : n - dist;

		gen_send(g, rank_of(g, (v + n - dist) % n), tag, all, num * len);
		gen_recv(g, rank_of(g, (v + dist) % n), tag, at(all, dist * len),
			 num * len);
		gen_fence(g);
	}
	if (direct)
		return;
	if (!rank_reorders(g)) {
		gen_copy(g, out_at(v * len), all, (n - v) * len);
		gen_copy(g, out_at(0), at(all, (n - v) * len), v * len);
		return;
	}
	for (j = 0; j < n; j++)
		gen_copy(g, out_at(rank_of(g, (j + v) % n) * len), at(all, j * len),
			 len);
}

/*
 * Blocks are kept in the order of numbers.  The number of members is a power of
 * two.
 */
void ang_gen_allgather_doubling(struct gen *g)
{
	u32 n = g->a->size, v = number_of(g), dist, tag = TAG_ROUND, j;
	size_t len = gen_len(g);
	struct ang_range all = rank_reorders(g) ? gen_temp(g, n * len) : out_at(0);

	blocks_begin(g, at(all, v * len));
	for (dist = 1; dist < n; dist <<= 1, tag++) {
		u32 own = v & -dist, other = own ^ dist;

		gen_send(g, rank_of(g, v ^ dist), tag, at(all, own * len), dist * len);
		gen_recv(g, rank_of(g, v ^ dist), tag, at(all, other * len),
			 dist * len);
		gen_fence(g);
	}
	for (j = 0; rank_reorders(g) && j < n; j++)
		gen_copy(g, out_at(rank_of(g, j) * len), at(all, j * len), len);
}
