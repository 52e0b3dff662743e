// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions by a function of the program, on teams with and without a tree.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"

#define MAX_PAIRS	10000

static const size_t counts[] = { 0, 1, 5, 40, 700, MAX_PAIRS };

#define NUM_COUNTS	(sizeof(counts) / sizeof(*counts))

static struct angara_team *team_new(unsigned int flags)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .flags = flags };
	struct angara_team *team;

	if (!expect("team", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0))
		exit(1);
	return team;
}

/* A Gaussian integer; the adapter does not support its products. */
struct pair {
	uint64_t re;
	uint64_t im;
};

static struct pair product(struct pair a, struct pair b)
{
	return (struct pair){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

/* Multiplies elements; @arg counts the elements so far. */
static void multiply(void *dst, const void *src, size_t count, void *arg)
{
	struct pair *to = dst;
	const struct pair *from = src;
	size_t *all = arg, i;

	for (i = 0; i < count; i++)
		to[i] = product(to[i], from[i]);
	*all += count;
}

static struct pair pair_given(unsigned int from, size_t i)
{
	return (struct pair){ i * 2654435761U + from * 97 + 1, i * 40503 + from * 1009 };
}

static bool products(struct angara_team *team, struct angara_mr *mr, size_t count)
{
	struct pair *v = angara_mr_addr(mr), want;
	size_t calls = 0, out = count * sizeof(*v), i;
	const struct angara_reducer by = {
		.size = sizeof(by), .elem = sizeof(*v), .combine = multiply, .arg = &calls,
	};
	const struct angara_op ring = {
		.size = sizeof(ring), .flags = ANGARA_ALGO_RING | ANGARA_SILENT,
	};
	unsigned int m;
	bool ok;

	for (i = 0; i < count; i++)
		v[i] = pair_given(rank, i);
	ok = expect("a named algorithm",
		    angara_allreduce_fn_nbi(team, mr, out, mr, 0, count, &by, &ring), 0) &&
	     expect("quiet", angara_quiet(ctx, LONG_MS), 0);
	calls = 0;
	ok = ok &&
	     expect("products", angara_allreduce_fn(team, mr, out, mr, 0, count, &by), 0) &&
	     expect("memory that is not registered",
		    angara_allreduce_fn(team, NULL, (uintptr_t)v, NULL, (uintptr_t)v, count,
					&by), 0) &&
	     expect("calls", angara_allreduce(team, NULL, (uintptr_t)&calls, NULL,
					      (uintptr_t)&calls, 1, ANGARA_TYPE_UINT64,
					      ANGARA_RED_SUM), 0) &&
	     expect("called", (long long)calls, (long long)(2 * (size - 1) * count));
	for (i = 0; ok && i < count; i++) {
		want = pair_given(0, i);
		for (m = 1; m < size; m++)
			want = product(want, pair_given(m, i));
		ok = expect("real part", (long long)v[count + i].re, (long long)want.re) &&
		     expect("imaginary part", (long long)v[count + i].im, (long long)want.im) &&
		     expect("in place", memcmp(v + i, v + count + i, sizeof(*v)), 0);
	}
	return ok;
}

/* Wrong operations are refused before any message is sent. */
static bool products_wrong(struct angara_team *team, struct angara_mr *mr)
{
	struct angara_reducer by = {
		.size = sizeof(by), .elem = 16, .combine = multiply,
	};
	bool ok = expect("none", angara_allreduce_fn(team, mr, 0, mr, 0, 1, NULL), -EINVAL) &&
		  expect("too many", angara_allreduce_fn(team, mr, 0, mr, 0, SIZE_MAX / 16 + 2,
							 &by), -EINVAL) &&
		  expect("range", angara_allreduce_fn(team, mr, 0, mr, UINT64_MAX - 15, 1, &by),
			 -EINVAL);

	by.elem = 0;
	ok = ok && expect("no element", angara_allreduce_fn(team, mr, 0, mr, 0, 1, &by),
			  -EINVAL);
	by.elem = 16;
	by.combine = NULL;
	ok = ok && expect("no function", angara_allreduce_fn(team, mr, 0, mr, 0, 1, &by),
			  -EINVAL);
	by.combine = multiply;
	by.size = sizeof(by) - 8;
	return ok && expect("size", angara_allreduce_fn(team, mr, 0, mr, 0, 1, &by), -EINVAL);
}

/* Numbers whose sum depends on the order in which they are added. */
static double number_given(unsigned int from, size_t i)
{
	uint64_t x = ((uint64_t)from * 2654435761U + i + 1) * 0x9E3779B97F4A7C15ULL;

	x ^= x >> 29;
	return (double)(int64_t)x * (x % 5 ? 1.0 : 0x1p-20);
}

static void add(void *dst, const void *src, size_t count, void *arg)
{
	double *to = dst;
	const double *from = src;
	size_t i;

	(void)arg;
	for (i = 0; i < count; i++)
		to[i] += from[i];
}

/* Sums by the function are bit-identical to sums by the adapter, which are at @want. */
static bool same_bits(struct angara_team *team, struct angara_mr *mr, size_t want, size_t count)
{
	const struct angara_reducer by = {
		.size = sizeof(by), .elem = sizeof(double), .combine = add,
	};
	size_t in = 0, out = count * sizeof(double);
	char *v = angara_mr_addr(mr);

	return expect("sums", angara_allreduce_fn(team, mr, out, mr, in, count, &by), 0) &&
	       expect("the adapter's bits", memcmp(v + out, v + want, count * sizeof(double)), 0);
}

/*
 * Sums over some members, by a team with a tree of root @root, and by a team
 * without a tree.
 */
static bool in_order_of(const unsigned int *ranks, unsigned int n, unsigned int root,
			struct angara_mr *mr)
{
	struct angara_team_attr attr = {
		.size = sizeof(attr), .root = root, .flags = ANGARA_TEAM_TREE, .stripes = 1,
	};
	const size_t counts_of[] = { 1, 700, MAX_PAIRS };
	struct angara_team *tree, *software;
	double *v = angara_mr_addr(mr);
	bool ok = true;
	size_t c, i;

	if (!expect("tree", angara_team_create(job, ctx, ranks, n, &attr, &tree), 0))
		exit(1);
	attr.flags = ANGARA_TEAM_SOFTWARE;
	if (!expect("software", angara_team_create(job, ctx, ranks, n, &attr, &software), 0))
		exit(1);
	for (c = 0; ok && c < 3; c++) {
		size_t count = counts_of[c], want = 2 * count * sizeof(double);

		for (i = 0; i < count; i++)
			v[i] = number_given(rank, i);
		ok = expect("by the adapter",
			    angara_allreduce(tree, mr, want, mr, 0, count, ANGARA_TYPE_DOUBLE,
					     ANGARA_RED_SUM), 0) &&
		     same_bits(tree, mr, want, count) && same_bits(software, mr, want, count);
	}
	ok &= expect("destroy", angara_team_destroy(software), 0);
	return expect("destroy", angara_team_destroy(tree), 0) && ok;
}

/*
 * Teams of all members, in both orders of ranks; of every second member; of
 * all but the first.
 */
static bool order(void)
{
	struct angara_mr *mr = own_region(3UL * MAX_PAIRS * sizeof(double));
	unsigned int *ranks = calloc(size, sizeof(*ranks)), n, i;
	bool ok = ranks && in_order_of(NULL, size, 0, mr) &&
		  in_order_of(NULL, size, size - 1, mr);

	for (i = 0; i < size; i++)
		ranks[i] = size - 1 - i;
	ok = ok && in_order_of(ranks, size, size / 2, mr);
	for (n = 0, i = 0; i < size; i += 2)
		ranks[n++] = i;
	ok = ok && (rank % 2 || in_order_of(ranks, n, n - 1, mr));
	for (n = 0, i = 1; i < size; i++)
		ranks[n++] = i;
	ok = ok && (!rank || in_order_of(ranks, n, 0, mr));
	free(ranks);
	angara_free(mr);
	return ok;
}

static bool by_function(void)
{
	const unsigned int flags[] = { ANGARA_TEAM_SOFTWARE, ANGARA_TEAM_TREE };
	struct angara_mr *mr = own_region(2UL * MAX_PAIRS * sizeof(struct pair));
	bool ok = true;
	unsigned int i;
	size_t c;

	for (i = 0; ok && i < 2; i++) {
		struct angara_team *team = team_new(flags[i]);

		for (c = 0; ok && c < NUM_COUNTS; c++)
			ok = products(team, mr, counts[c]);
		ok = ok && products_wrong(team, mr);
		ok &= expect("destroy", angara_team_destroy(team), 0);
	}
	angara_free(mr);
	return ok;
}

const struct part reducer_parts[] = {
	{ "reductions by a function of the program", by_function },
	{ "their order is the adapter's", order },
	{ NULL, NULL },
};
