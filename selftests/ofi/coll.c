// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collective operations: their results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"

static const int in_order[MOST] = { 0, 1, 2, 3, 4, 5, 6, 7 };

/* Lengths around the sizes of blocks, segments and members' buffers. */
static const size_t counts[] = { 0, 1, 3, 1001, 4001, 33333 };

#define NUM(a)	(sizeof(a) / sizeof(*(a)))

/* Input and output of each member. */
static char *in[MOST], *out[MOST];

static void buffers(size_t each)
{
	int i;

	for (i = 0; i < MOST; i++) {
		in[i] = calloc(MOST, each);
		out[i] = calloc(MOST, each);
	}
}

static void no_buffers(void)
{
	int i;

	for (i = 0; i < MOST; i++) {
		free(in[i]);
		free(out[i]);
	}
}

static void fill_all(int n, size_t len, unsigned int seed)
{
	int i;

	for (i = 0; i < n; i++) {
		fill(in[i], len, seed + (unsigned int)i);
		memset(out[i], 0xA5, len);
	}
}

/* Is the input of member @r, from byte @at on, at byte @its of the output of @to? */
static bool same(int r, size_t at, int to, size_t its, size_t len)
{
	return expect(memcmp(in[r] + at, out[to] + its, len), 0);
}

static bool barriers(struct team *t)
{
	bool ok = true;
	int r, n;

	for (n = 0; ok && n < 3; n++) {
		/* No member completes before the last has started. */
		for (r = 0; ok && r + 1 < t->n; r++)
			ok = expect(fi_barrier(of(t, r)->s.ep, t->coll[r], t), 0);
		for (r = 0; ok && r + 1 < 100 * t->n; r++)
			ok = expect(fi_cq_read(of(t, r % t->n)->s.cq, NULL, 0),
				    -FI_EAGAIN);
		r = t->n - 1;
		ok = ok && expect(fi_barrier2(of(t, r)->s.ep, t->coll[r],
					      FI_COMPLETION, t), 0) &&
		     ended(t, 0, t);
	}
	return ok;
}

static bool broadcasts(struct team *t, size_t len)
{
	bool ok = true;
	int root, r;

	for (root = 0; ok && root < t->n; root++) {
		fill_all(t->n, len, (unsigned int)root);
		memcpy(out[root], in[root], len);
		for (r = 0; ok && r < t->n; r++)
			ok = expect(fi_broadcast(of(t, r)->s.ep, out[r], len, NULL,
						 t->coll[r],
						 of(t, r)->addr[t->who[root]],
						 FI_UINT8, 0, t), 0);
		ok = ok && ended(t, 0, t);
		for (r = 0; ok && r < t->n; r++)
			ok = same(root, 0, r, 0, len);
	}
	return ok;
}

static bool gathers(struct team *t, size_t len)
{
	bool ok = true;
	int r, from;

	fill_all(t->n, len * (size_t)t->n, 1);
	for (r = 0; ok && r < t->n; r++)
		ok = expect(fi_allgather(of(t, r)->s.ep, in[r], len, NULL, out[r],
					 NULL, t->coll[r], FI_INT8, 0, t), 0);
	ok = ok && ended(t, 0, t);
	for (r = 0; ok && r < t->n * t->n; r++) {
		from = r / t->n;
		ok = same(from, 0, r % t->n, (size_t)from * len, len);
	}
	fill_all(t->n, len * (size_t)t->n, 2);
	for (r = 0; ok && r < t->n; r++)
		ok = expect(fi_gather(of(t, r)->s.ep, in[r], len, NULL,
				      r == t->n - 1 ? out[r] : NULL, NULL,
				      t->coll[r],
				      of(t, r)->addr[t->who[t->n - 1]], FI_INT8,
				      0, t), 0);
	ok = ok && ended(t, 0, t);
	for (r = 0; ok && r < t->n; r++)
		ok = same(r, 0, t->n - 1, (size_t)r * len, len);
	return ok;
}

static bool scatters(struct team *t, size_t len)
{
	int root = t->n / 2;
	bool ok = true;
	int r, i;

	fill_all(t->n, len * (size_t)t->n, 3);
	for (r = 0; ok && r < t->n; r++)
		ok = expect(fi_scatter(of(t, r)->s.ep, r == root ? in[r] : NULL,
				       len, NULL, out[r], NULL, t->coll[r],
				       of(t, r)->addr[t->who[root]], FI_UINT8, 0,
				       t), 0);
	ok = ok && ended(t, 0, t);
	for (r = 0; ok && r < t->n; r++)
		ok = same(root, (size_t)r * len, r, 0, len);
	fill_all(t->n, len * (size_t)t->n, 4);
	for (r = 0; ok && r < t->n; r++)
		ok = expect(fi_alltoall(of(t, r)->s.ep, in[r], len, NULL, out[r],
					NULL, t->coll[r], FI_UINT8, 0, t), 0);
	ok = ok && ended(t, 0, t);
	for (i = 0; ok && i < t->n * t->n; i++) {
		r = i / t->n;
		ok = same(r, (size_t)(i % t->n) * len, i % t->n,
			  (size_t)r * len, len);
	}
	return ok;
}

/* Tests sums: for all members, for one member, and one part for each member. */
static bool sums(struct team *t, size_t count)
{
	size_t i, len = count * sizeof(uint16_t);
	uint16_t want;
	bool ok = true;
	int r, kind;

	for (kind = 0; ok && kind < 3; kind++) {
		fill_all(t->n, len * (size_t)t->n, 5);
		for (r = 0; ok && r < t->n; r++) {
			struct fid_ep *ep = of(t, r)->s.ep;
			fi_addr_t root = of(t, r)->addr[t->who[t->n - 1]];

			if (kind == 0)
				ok = expect(fi_allreduce(ep, in[r], count, NULL,
							 out[r], NULL, t->coll[r],
							 FI_UINT16, FI_SUM, 0, t),
					    0);
			if (kind == 1)
				ok = expect(fi_reduce(ep, in[r], count, NULL,
						      r == t->n - 1 ? out[r] :
						      NULL, NULL, t->coll[r],
						      root, FI_UINT16, FI_SUM, 0,
						      t), 0);
			if (kind == 2)
				ok = expect(fi_reduce_scatter(ep, in[r], count,
							      NULL, out[r], NULL,
							      t->coll[r],
							      FI_UINT16, FI_SUM,
							      0, t), 0);
		}
		ok = ok && ended(t, 0, t);
		for (r = kind == 1 ? t->n - 1 : 0; ok && r < t->n; r++)
			for (i = 0; ok && i < count; i++) {
				size_t at = kind == 2 ? (size_t)r * count + i : i;
				int from;

				want = 0;
				for (from = 0; from < t->n; from++)
					want += ((uint16_t *)in[from])[at];
				if (((uint16_t *)out[r])[i] != want)
					ok = expect(((uint16_t *)out[r])[i], want);
			}
	}
	return ok;
}

static bool of_size(int n, const char *way)
{
	struct team t;
	bool ok;
	size_t i;

	buffers(2 * counts[NUM(counts) - 1]);
	open_members_for(n, way);
	ok = join(&t, n, in_order) && barriers(&t);
	for (i = 0; ok && i < NUM(counts); i++)
		ok = broadcasts(&t, counts[i]) && gathers(&t, counts[i]) &&
		     scatters(&t, counts[i]) && sums(&t, counts[i]);
	leave(&t, ~0U);
	close_members(n);
	no_buffers();
	return ok;
}

static bool one(void)
{
	return of_size(1, "software");
}

static bool two(void)
{
	return of_size(2, "software");
}

static bool three(void)
{
	return of_size(3, "software") && of_size(3, "auto");
}

static bool five(void)
{
	return of_size(5, "software");
}

static bool eight(void)
{
	return of_size(8, "software") && of_size(8, "auto");
}

#define LONG	(1U << 20)

/* Tests long data, which is subject to the flow control between members. */
static bool mebibytes(void)
{
	struct team t;
	bool ok;

	buffers(LONG);
	open_members_for(3, "software");
	/* The thread that supervises groups starts at the first join. */
	ok = join(&t, 3, in_order) && threads_take_no_signals(3) &&
	     broadcasts(&t, LONG) && gathers(&t, LONG) &&
	     scatters(&t, LONG / MOST) && sums(&t, LONG / sizeof(uint16_t));
	leave(&t, ~0U);
	close_members(3);
	no_buffers();
	return ok;
}

const struct part coll_parts[] = {
	{ "collective operations of one", one },
	{ "collective operations of two", two },
	{ "collective operations of three", three },
	{ "collective operations of five", five },
	{ "collective operations of eight", eight },
	{ "collective operations on mebibytes", mebibytes },
	{ NULL, NULL },
};
