// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives with a root: binomial trees, and one message per member.
 *
 * Members are numbered from the root: v = (rank - root) mod n.  In a binomial
 * tree the parent of v is v with its lowest set bit cleared.  If that bit is b,
 * the subtree of v has the numbers v to v + b - 1.
 */
#include "gen.h"

#define TAG_TREE	0
#define TAG_RING	1	/* tag of the first round; later rounds add their number */

static u32 number_of(const struct gen *g)
{
	return (g->a->rank + g->a->size - g->a->root) % g->a->size;
}

static u32 rank_of(const struct gen *g, u32 v)
{
	return (v + g->a->root) % g->a->size;
}

static bool is_root(const struct gen *g)
{
	return g->a->rank == g->a->root;
}

/*
 * Return: span of the subtree of @v: the lowest set bit of @v; for the root, the
 * first power of two that is not below the number of members.
 */
static u32 subtree_span(const struct gen *g, u32 v)
{
	u32 top = 1;

	if (v)
		return v & -v;
	while (top < g->a->size)
		top <<= 1;
	return top;
}

/* End of the subtree of @v with span @bit. */
static u32 subtree_end(const struct gen *g, u32 v, u32 bit)
{
	return v + bit < g->a->size ? v + bit : g->a->size;
}

void ang_gen_bcast_binomial(struct gen *g)
{
	u32 v = number_of(g);
	u32 bit;

	if (is_root(g))
		gen_copy(g, out_at(0), in_at(0), gen_len(g));
	else
		gen_recv(g, rank_of(g, v & (v - 1)), TAG_TREE, out_at(0),
			 gen_len(g));
	gen_fence(g);
	for (bit = subtree_span(g, v) >> 1; bit; bit >>= 1)
		if (v + bit < g->a->size)
			gen_send(g, rank_of(g, v + bit), TAG_TREE, out_at(0),
				 gen_len(g));
}

/*
 * Bytes of parts @from to @to - 1 if the vector is cut into one part per
 * member.
 */
static size_t parts_len(const struct gen *g, u32 from, u32 to)
{
	return gen_part(g, to, g->a->size) - gen_part(g, from, g->a->size);
}

/* Scatters parts along the binomial tree, then passes them around a ring. */
void ang_gen_bcast_scatter(struct gen *g)
{
	u32 n = g->a->size, v = number_of(g), end = subtree_end(g, v, subtree_span(g, v));
	u32 bit, i;

	if (is_root(g))
		gen_copy(g, out_at(0), in_at(0), gen_len(g));
	else
		gen_recv(g, rank_of(g, v & (v - 1)), TAG_TREE,
			 out_at(gen_part(g, v, n)), parts_len(g, v, end));
	gen_fence(g);
	for (bit = subtree_span(g, v) >> 1; bit; bit >>= 1) {
		u32 w = v + bit;

		if (w < n)
			gen_send(g, rank_of(g, w), TAG_TREE, out_at(gen_part(g, w, n)),
				 parts_len(g, w, subtree_end(g, w, bit)));
	}
	for (i = 0; i + 1 < n; i++) {
		u32 out = (v + n - i) % n, in = (out + n - 1) % n;
		/* Skip the parts that the member already got from the tree. */
		bool has = !v || (in >= v && in < end);
		u32 w = (v + 1) % n;
		bool its = !w || (out >= w && out < subtree_end(g, w, subtree_span(g, w)));

		if (!its)
			gen_send(g, rank_of(g, w), TAG_RING + i,
				 out_at(gen_part(g, out, n)),
				 parts_len(g, out, out + 1));
		if (!has)
			gen_recv(g, rank_of(g, (v + n - 1) % n), TAG_RING + i,
				 out_at(gen_part(g, in, n)),
				 parts_len(g, in, in + 1));
		gen_fence(g);
	}
}

void ang_gen_reduce_binomial(struct gen *g)
{
	u32 v = number_of(g), n = g->a->size;
	size_t len = gen_len(g);
	struct ang_range sum = out_at(0), from_child;
	u32 bit;

	/* A leaf has nothing to combine: it sends its own vector. */
	if (v & 1) {
		gen_send(g, rank_of(g, v - 1), TAG_TREE, in_at(0), len);
		return;
	}
	if (!is_root(g))
		sum = gen_temp(g, len);
	from_child = gen_temp(g, n > 1 ? len : 0);
	gen_copy(g, sum, in_at(0), len);
	for (bit = 1; bit < subtree_span(g, v); bit <<= 1) {
		if (v + bit >= n)
			break;
		gen_recv(g, rank_of(g, v + bit), TAG_TREE, from_child, len);
		gen_fence(g);
		gen_combine(g, sum, from_child, len);
		gen_fence(g);
	}
	gen_fence(g);
	if (v)
		gen_send(g, rank_of(g, v & (v - 1)), TAG_TREE, sum, len);
}

/*
 * Copies blocks between @all, where they are in tree order, and @ranks, where
 * they are in rank order: two contiguous pieces.
 */
static void blocks_rotate(struct gen *g, struct ang_range all, struct ang_range ranks,
			  bool to_ranks)
{
	u32 root = g->a->root, tail = g->a->size - root;
	size_t len = gen_len(g);

	if (to_ranks) {
		gen_copy(g, at(ranks, root * len), all, tail * len);
		gen_copy(g, ranks, at(all, tail * len), root * len);
	} else {
		gen_copy(g, all, at(ranks, root * len), tail * len);
		gen_copy(g, at(all, tail * len), ranks, root * len);
	}
	gen_fence(g);
}

void ang_gen_gather_binomial(struct gen *g)
{
	u32 v = number_of(g), end = subtree_end(g, v, subtree_span(g, v));
	size_t len = gen_len(g);
	struct ang_range all;
	u32 bit;

	if (end == v + 1 && v) {
		gen_send(g, rank_of(g, v & (v - 1)), TAG_TREE, in_at(0), len);
		return;
	}
	all = is_root(g) && !g->a->root ? out_at(0) : gen_temp(g, (end - v) * len);
	gen_copy(g, all, in_at(0), len);
	for (bit = 1; bit < subtree_span(g, v) && v + bit < g->a->size; bit <<= 1)
		gen_recv(g, rank_of(g, v + bit), TAG_TREE, at(all, bit * len),
			 (subtree_end(g, v + bit, bit) - v - bit) * len);
	gen_fence(g);
	if (v)
		gen_send(g, rank_of(g, v & (v - 1)), TAG_TREE, all, (end - v) * len);
	else if (g->a->root)
		blocks_rotate(g, all, out_at(0), true);
}

void ang_gen_scatter_binomial(struct gen *g)
{
	u32 v = number_of(g), end = subtree_end(g, v, subtree_span(g, v));
	size_t len = gen_len(g);
	struct ang_range all;
	u32 bit;

	if (end == v + 1 && v) {
		gen_recv(g, rank_of(g, v & (v - 1)), TAG_TREE, out_at(0), len);
		return;
	}
	all = is_root(g) && !g->a->root ? in_at(0) : gen_temp(g, (end - v) * len);
	if (v)
		gen_recv(g, rank_of(g, v & (v - 1)), TAG_TREE, all, (end - v) * len);
	else if (g->a->root)
		blocks_rotate(g, all, in_at(0), false);
	gen_fence(g);
	for (bit = subtree_span(g, v) >> 1; bit; bit >>= 1)
		if (v + bit < g->a->size)
			gen_send(g, rank_of(g, v + bit), TAG_TREE, at(all, bit * len),
				 (subtree_end(g, v + bit, bit) - v - bit) * len);
	gen_copy(g, out_at(0), all, len);
}

void ang_gen_gather_linear(struct gen *g)
{
	u32 root = g->a->root;
	u32 i;

	if (!is_root(g)) {
		gen_send(g, root, TAG_TREE, in_at(0), gen_len(g));
		return;
	}
	gen_copy(g, out_at(gen_out_off(g, root)), in_at(0), gen_out_len(g, root));
	for (i = 0; i < g->a->size; i++)
		if (i != root)
			gen_recv(g, i, TAG_TREE, out_at(gen_out_off(g, i)),
				 gen_out_len(g, i));
}

void ang_gen_scatter_linear(struct gen *g)
{
	u32 root = g->a->root;
	u32 i;

	if (!is_root(g)) {
		gen_recv(g, root, TAG_TREE, out_at(0), gen_len(g));
		return;
	}
	gen_copy(g, out_at(0), in_at(gen_in_off(g, root)), gen_in_len(g, root));
	for (i = 0; i < g->a->size; i++)
		if (i != root)
			gen_send(g, i, TAG_TREE, in_at(gen_in_off(g, i)),
				 gen_in_len(g, i));
}
