// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions whose result goes to all members, whole or in parts.
 *
 * In the doubling algorithms, the left operand always comes from lower ranks,
 * so the operation need not be commutative.
 */
#include "gen.h"

/**
 * struct fold - which p of n members continue; p is a power of two
 * @p: number of members that continue
 * @rest: n - p; of the first 2 * rest ranks, the odd ones continue, each in
 *	place of two members
 * @id: number among members that continue; p: this member does not continue
 * @rounds: log2 p
 */
struct fold {
	u32 p;
	u32 rest;
	u32 id;
	u32 rounds;
};

#define TAG_FOLD	0
#define TAG_ROUND	1	/* tag of the first round; later rounds add their number */

static struct fold fold_of(const struct gen *g)
{
	u32 rank = g->a->rank;
	struct fold f = { .p = 1 };

	while (2 * f.p <= g->a->size) {
		f.p *= 2;
		f.rounds++;
	}
	f.rest = g->a->size - f.p;
	if (rank >= 2 * f.rest)
		f.id = rank - f.rest;
	else
		f.id = rank & 1 ? rank / 2 : f.p;
	return f;
}

static u32 fold_rank(const struct fold *f, u32 id)
{
	return id < f->rest ? 2 * id + 1 : id + f->rest;
}

/*
 * Copies the vector to OUT.  A member that continues in place of two members
 * combines both vectors there.
 */
static void fold_in(struct gen *g, const struct fold *f, struct ang_range temp)
{
	u32 rank = g->a->rank;
	size_t len = gen_len(g);

	gen_copy(g, out_at(0), in_at(0), len);
	gen_fence(g);
	if (rank >= 2 * f->rest)
		return;
	if (f->id == f->p) {
		gen_send(g, rank + 1, TAG_FOLD, out_at(0), len);
	} else {
		gen_recv(g, rank - 1, TAG_FOLD, temp, len);
		gen_fence(g);
		gen_combine(g, temp, out_at(0), len);
		gen_fence(g);
		gen_copy(g, out_at(0), temp, len);
	}
	gen_fence(g);
}

static void fold_out(struct gen *g, const struct fold *f)
{
	u32 rank = g->a->rank;

	gen_fence(g);
	if (rank >= 2 * f->rest)
		return;
	if (f->id == f->p)
		gen_recv(g, rank + 1, TAG_FOLD, out_at(0), gen_len(g));
	else
		gen_send(g, rank - 1, TAG_FOLD, out_at(0), gen_len(g));
}

void ang_gen_allreduce_doubling(struct gen *g)
{
	size_t len = gen_len(g);
	struct fold f = fold_of(g);
	struct ang_range sum = out_at(0), other = gen_temp(g, len), spare;
	u32 bit, tag = TAG_ROUND;

	fold_in(g, &f, other);
	for (bit = 1; f.id < f.p && bit < f.p; bit <<= 1, tag++) {
		u32 peer = fold_rank(&f, f.id ^ bit);

		gen_send(g, peer, tag, sum, len);
		gen_recv(g, peer, tag, other, len);
		gen_fence(g);
		if (f.id & bit) {
			gen_combine(g, other, sum, len);
			spare = sum;
			sum = other;
			other = spare;
		} else {
			gen_combine(g, sum, other, len);
		}
		gen_fence(g);
	}
	if (sum.buf != ANG_BUF_OUT)
		gen_copy(g, out_at(0), sum, len);
	fold_out(g, &f);
}

/* Bytes of parts @from to @to - 1 if the vector is cut into @parts parts. */
static size_t parts_len(const struct gen *g, u32 from, u32 to, u32 parts)
{
	return gen_part(g, to, parts) - gen_part(g, from, parts);
}

/* Rabenseifner: combine halves, then distribute the parts in reverse order. */
void ang_gen_allreduce_halving(struct gen *g)
{
	struct fold f = fold_of(g);
	struct ang_range temp = gen_temp(g, gen_len(g));
	u32 lo = 0, num = f.p, bit, tag = TAG_ROUND;

	fold_in(g, &f, temp);
	for (bit = f.p / 2; f.id < f.p && bit; bit /= 2, tag++) {
		u32 peer = fold_rank(&f, f.id ^ bit);
		u32 keep = f.id & bit ? lo + bit : lo;
		u32 give = f.id & bit ? lo : lo + bit;
		size_t kept = gen_part(g, keep, f.p);
		size_t len = parts_len(g, keep, keep + bit, f.p);

		gen_send(g, peer, tag, out_at(gen_part(g, give, f.p)),
			 parts_len(g, give, give + bit, f.p));
		gen_recv(g, peer, tag, temp, len);
		gen_fence(g);
		gen_combine(g, out_at(kept), temp, len);
		gen_fence(g);
		lo = keep;
		num = bit;
	}
	for (bit = 1; f.id < f.p && bit < f.p; bit *= 2, tag++) {
		u32 peer = fold_rank(&f, f.id ^ bit);
		u32 other = lo ^ bit;

		gen_send(g, peer, tag, out_at(gen_part(g, lo, f.p)),
			 parts_len(g, lo, lo + num, f.p));
		gen_recv(g, peer, tag, out_at(gen_part(g, other, f.p)),
			 parts_len(g, other, other + num, f.p));
		gen_fence(g);
		lo &= ~bit;
		num *= 2;
	}
	fold_out(g, &f);
}

void ang_gen_reduce_scatter_pairwise(struct gen *g)
{
	u32 n = g->a->size, rank = g->a->rank;
	size_t len = gen_in_len(g, rank);
	struct ang_range temp = gen_temp(g, len);
	u32 i;

	gen_copy(g, out_at(0), in_at(gen_in_off(g, rank)), len);
	for (i = 1; i < n; i++) {
		u32 to = (rank + i) % n, from = (rank + n - i) % n;

		gen_send(g, to, i, in_at(gen_in_off(g, to)), gen_in_len(g, to));
		gen_recv(g, from, i, temp, len);
		gen_fence(g);
		gen_combine(g, out_at(0), temp, len);
		gen_fence(g);
	}
}

void ang_gen_reduce_scatter_ring(struct gen *g)
{
	u32 n = g->a->size, rank = g->a->rank;
	struct ang_range has, gets, spare;
	size_t max = 0;
	u32 i, out, in;

	for (i = 0; i < n; i++)
		if (gen_in_len(g, i) > max)
			max = gen_in_len(g, i);
	has = gen_temp(g, max);
	gets = gen_temp(g, max);
	gen_around(rank, n, 0, &out, &in);
	gen_copy(g, has, in_at(gen_in_off(g, out)), gen_in_len(g, out));
	gen_fence(g);
	for (i = 0; i + 1 < n; i++) {
		gen_around(rank, n, i, &out, &in);
		gen_send(g, (rank + 1) % n, i, has, gen_in_len(g, out));
		gen_recv(g, (rank + n - 1) % n, i, gets, gen_in_len(g, in));
		gen_fence(g);
		gen_combine(g, gets, in_at(gen_in_off(g, in)), gen_in_len(g, in));
		gen_fence(g);
		spare = has;
		has = gets;
		gets = spare;
	}
	gen_copy(g, out_at(0), has, gen_in_len(g, rank));
}

/*
 * In round k a member sends its partial result, which covers ranks up to its
 * own, to the member 2^k above.  That member combines it as the left operand.
 * An exclusive scan keeps received results apart from the member's own
 * contribution.
 */
void ang_gen_scan(struct gen *g)
{
	bool exclusive = g->a->coll == ANG_COLL_EXSCAN;
	u32 n = g->a->size, rank = g->a->rank, dist, tag = 0;
	size_t len = gen_len(g);
	struct ang_range sum = gen_temp(g, len), came = gen_temp(g, len), spare;
	struct ang_range before = gen_temp(g, exclusive ? len : 0);
	bool first = true;

	gen_copy(g, sum, in_at(0), len);
	gen_fence(g);
	for (dist = 1; dist < n; dist <<= 1, tag++) {
		if (rank + dist < n)
			gen_send(g, rank + dist, tag, sum, len);
		if (rank < dist) {
			gen_fence(g);
			continue;
		}
		gen_recv(g, rank - dist, tag, came, len);
		gen_fence(g);
		if (exclusive && first) {
			gen_copy(g, out_at(0), came, len);
			first = false;
		} else if (exclusive) {
			gen_copy(g, before, came, len);
			gen_fence(g);
			gen_combine(g, before, out_at(0), len);
			gen_fence(g);
			gen_copy(g, out_at(0), before, len);
		}
		gen_fence(g);
		gen_combine(g, came, sum, len);
		gen_fence(g);
		spare = sum;
		sum = came;
		came = spare;
	}
	if (!exclusive)
		gen_copy(g, out_at(0), sum, len);
}
