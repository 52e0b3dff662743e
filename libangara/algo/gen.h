/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types and functions that the generators of schedules share. */
#ifndef ANG_ALGO_GEN_H
#define ANG_ALGO_GEN_H

#include "algo.h"

/**
 * struct gen - a schedule under construction
 * @a: arguments
 * @s: schedule
 * @after: number of steps that have to end before the next step begins
 * @err: 0 or -ENOMEM
 */
struct gen {
	const struct ang_coll_args *a;
	struct ang_schedule *s;
	u32 after;
	int err;
};

static inline struct ang_range in_at(size_t off)
{
	return (struct ang_range){ .buf = ANG_BUF_IN, .off = off };
}

static inline struct ang_range out_at(size_t off)
{
	return (struct ang_range){ .buf = ANG_BUF_OUT, .off = off };
}

static inline struct ang_range temp_at(size_t off)
{
	return (struct ang_range){ .buf = ANG_BUF_TEMP, .off = off };
}

static inline struct ang_range at(struct ang_range r, size_t off)
{
	r.off += off;
	return r;
}

/* Bytes of the vector, or of one of several equal blocks. */
static inline size_t gen_len(const struct gen *g)
{
	return g->a->count * g->a->elem;
}

/* Round @i of a ring of @n: member @at sends part @out and receives part @in. */
static inline void gen_around(u32 at, u32 n, u32 i, u32 *out, u32 *in)
{
	*out = (at + 2 * n - 1 - i) % n;
	*in = (*out + n - 1) % n;
}

/* gen.c */
void gen_send(struct gen *g, u32 peer, u32 tag, struct ang_range src, size_t len);
void gen_recv(struct gen *g, u32 peer, u32 tag, struct ang_range dst, size_t len);
void gen_token(struct gen *g, u32 to, u32 from, u32 tag);
void gen_copy(struct gen *g, struct ang_range dst, struct ang_range src,
	      size_t len);
void gen_combine(struct gen *g, struct ang_range dst, struct ang_range src,
		 size_t len);
void gen_fence(struct gen *g);
struct ang_range gen_temp(struct gen *g, size_t len);
size_t gen_in_off(const struct gen *g, u32 i);
size_t gen_in_len(const struct gen *g, u32 i);
size_t gen_out_off(const struct gen *g, u32 i);
size_t gen_out_len(const struct gen *g, u32 i);
size_t gen_cut(size_t count, u32 i, u32 parts);
size_t gen_part(const struct gen *g, u32 i, u32 parts);

/* tree.c */
void ang_gen_bcast_binomial(struct gen *g);
void ang_gen_bcast_scatter(struct gen *g);
void ang_gen_reduce_binomial(struct gen *g);
void ang_gen_gather_binomial(struct gen *g);
void ang_gen_gather_linear(struct gen *g);
void ang_gen_scatter_binomial(struct gen *g);
void ang_gen_scatter_linear(struct gen *g);

/* reduce.c */
void ang_gen_allreduce_doubling(struct gen *g);
void ang_gen_allreduce_halving(struct gen *g);
void ang_gen_reduce_scatter_pairwise(struct gen *g);
void ang_gen_reduce_scatter_ring(struct gen *g);
void ang_gen_scan(struct gen *g);

/* exchange.c */
void ang_gen_barrier(struct gen *g);
void ang_gen_alltoall_pairwise(struct gen *g);
void ang_gen_alltoall_bruck(struct gen *g);

/* allgather.c */
void ang_gen_allgather_ring(struct gen *g);
void ang_gen_allgather_bruck(struct gen *g);
void ang_gen_allgather_doubling(struct gen *g);

/* ring.c */
void ang_gen_allreduce_ring(struct gen *g);

/* along.c */
void gen_bcast_along(struct gen *g, const struct ang_kin *kin);
void gen_reduce_along(struct gen *g, const struct ang_kin *kin);
void ang_gen_allreduce_tree(struct gen *g);

/* torus.c */
void ang_gen_bcast_torus(struct gen *g);
void ang_gen_reduce_torus(struct gen *g);

#endif /* ANG_ALGO_GEN_H */
