// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives in which every member sends data to other members, and none
 * combines data.
 */
#include "gen.h"

void ang_gen_barrier(struct gen *g)
{
	u32 n = g->a->size, rank = g->a->rank, dist, tag = 0;

	for (dist = 1; dist < n; dist <<= 1, tag++) {
		gen_token(g, (rank + dist) % n, (rank + n - dist) % n, tag);
		gen_fence(g);
	}
}

void ang_gen_alltoall_pairwise(struct gen *g)
{
	u32 n = g->a->size, rank = g->a->rank;
	u32 i;

	gen_copy(g, out_at(gen_out_off(g, rank)), in_at(gen_in_off(g, rank)),
		 gen_out_len(g, rank));
	for (i = 1; i < n; i++) {
		u32 to = (rank + i) % n, from = (rank + n - i) % n;

		gen_send(g, to, i, in_at(gen_in_off(g, to)), gen_in_len(g, to));
		gen_recv(g, from, i, out_at(gen_out_off(g, from)),
			 gen_out_len(g, from));
		gen_fence(g);
	}
}

/*
 * Packs, or unpacks, the blocks whose number has the bit @dist set.  Return:
 * number of these blocks.
 */
static u32 blocks_pack(struct gen *g, struct ang_range packed, struct ang_range all,
		       u32 dist, bool unpack)
{
	size_t len = gen_len(g);
	u32 i, num = 0;

	for (i = 0; i < g->a->size; i++) {
		if (!(i & dist))
			continue;
		if (unpack)
			gen_copy(g, at(all, i * len), at(packed, num * len), len);
		else
			gen_copy(g, at(packed, num * len), at(all, i * len), len);
		num++;
	}
	gen_fence(g);
	return num;
}

/*
 * Block i has to move i members up.  In the round of each bit that is set in i,
 * the block moves up by the value of the bit.
 */
void ang_gen_alltoall_bruck(struct gen *g)
{
	u32 n = g->a->size, rank = g->a->rank, dist, tag = 0, num, i;
	size_t len = gen_len(g);
	struct ang_range all = gen_temp(g, n * len);
	struct ang_range out = gen_temp(g, n * len), in = gen_temp(g, n * len);

	gen_copy(g, all, in_at(rank * len), (n - rank) * len);
	gen_copy(g, at(all, (n - rank) * len), in_at(0), rank * len);
	gen_fence(g);
	for (dist = 1; dist < n; dist <<= 1, tag++) {
		num = blocks_pack(g, out, all, dist, false);
		gen_send(g, (rank + dist) % n, tag, out, num * len);
		gen_recv(g, (rank + n - dist) % n, tag, in, num * len);
		gen_fence(g);
		blocks_pack(g, in, all, dist, true);
	}
	for (i = 0; i < n; i++)
		gen_copy(g, out_at((rank + n - i) % n * len), at(all, i * len), len);
}
