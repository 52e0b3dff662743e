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

/* A Gaussian integer, whose products the adapter does not know. */
struct pair {
	uint64_t re;
	uint64_t im;
};

static struct pair product(struct pair a, struct pair b)
{
	return (struct pair){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

/* Called with @arg the number of elements so far. */
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
	unsigned int m;
	bool ok;

	for (i = 0; i < count; i++)
		v[i] = pair_given(rank, i);
	ok = expect("products", angara_allreduce_fn(team, mr, out, mr, 0, count, &by), 0) &&
	     expect("memory that is not registered",
		    angara_allreduce_fn(team, NULL, (uintptr_t)v, NULL, (uintptr_t)v, count,
					&by), 0) &&
	     expect("called", size == 1 || !count || rank % 2 == 0 || calls, 1);
	for (i = 0; ok && i < count; i++) {
		want = pair_given(0, i);
		for (m = 1; m < size; m++)
			want = product(want, pair_given(m, i));
		ok = expect("re", (long long)v[count + i].re, (long long)want.re) &&
		     expect("im", (long long)v[count + i].im, (long long)want.im) &&
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
	{ NULL, NULL },
};
