// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Allreduces around rings of chosen sizes, in packets. */
#include <errno.h>
#include <stdlib.h>

#include "lib.h"
#include "pending.h"

#define BLOCK	256U	/* elements of a member's part, 2 KiB: a message with its data */
#define MOST	33U	/* one dimension more than allowed */

static struct angara_team *team_new(void)
{
	const struct angara_team_attr attr = { .size = sizeof(attr),
					       .flags = ANGARA_TEAM_SOFTWARE };
	struct angara_team *team;

	if (!expect("team", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0))
		exit(1);
	return team;
}

static long long messages(struct angara_team *team)
{
	struct angara_team_info info = { .size = sizeof(info) };

	expect("query", angara_team_query(team, &info), 0);
	return (long long)info.messages;
}

/* Sums doubles with integer values, so results are exact; the element after the result must not change. */
static bool sums(struct angara_team *team, struct angara_mr *mr, uint32_t algo,
		 size_t count)
{
	double *in = angara_mr_addr(mr), *out = in + count;
	struct pending p;
	bool ok = true;
	size_t i;

	for (i = 0; i < count; i++)
		in[i] = (double)(rank + i);
	out[count] = -1;
	pending_op(&p);
	p.op.flags = algo;
	ok = expect("allreduce",
		    angara_allreduce_nbi(team, mr, count * sizeof(double), mr, 0, count,
					 ANGARA_TYPE_DOUBLE, ANGARA_RED_SUM, &p.op),
		    0) &&
	     expect("end of the allreduce", pending_wait(ctx, &p, LONG_MS), 0);
	for (i = 0; ok && i < count; i++)
		ok = expect("element", (long long)out[i],
			    (long long)(size * (size - 1) / 2 + size * i));
	return ok && expect("element after the result", (long long)out[count], -1);
}

/* Does a sum with a part for each member take @num messages of this member? */
static bool takes(uint32_t algo, const uint32_t *dims, unsigned int ndims, size_t packet,
		  long long num)
{
	struct angara_team *team = team_new();
	struct angara_mr *mr = own_region((2 * BLOCK * size + 1) * sizeof(double));
	long long before = messages(team);
	bool ok = expect("rings", angara_team_rings(team, dims, ndims, packet), 0) &&
		  sums(team, mr, algo, BLOCK * size) &&
		  expect("messages", messages(team) - before, num);

	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_mr_dereg(mr);
	return ok;
}

/*
 * In a ring of n members, each sends n - 1 parts to combine, in packets, and
 * then n - 1 results, whole.
 */
static bool counted(void)
{
	const size_t part = BLOCK * sizeof(double);
	const uint32_t one[] = { size }, three[] = { 1, size, 1 };
	long long n = (long long)size - 1;

	return takes(ANGARA_ALGO_RING, NULL, 0, 0, 2 * n) &&
	       takes(ANGARA_ALGO_RING, NULL, 0, part / 4, 5 * n) &&
	       takes(ANGARA_ALGO_RING, NULL, 0, part / 4 + 8, 5 * n) &&
	       takes(ANGARA_ALGO_RING, NULL, 0, 1, 65 * n) &&
	       takes(ANGARA_ALGO_RING2D, one, 1, 0, 2 * n) &&
	       takes(ANGARA_ALGO_RING2D, three, 3, part / 2, 3 * n);
}

/*
 * Tests the library's two dimensions, and the prime factors of the number of
 * members.
 */
static bool shapes(void)
{
	static const size_t packets[] = { 0, 8, 1000, 1 << 20 };
	static const size_t counts[] = { 1, 7, 1000, 9000 };
	struct angara_team *team = team_new();
	struct angara_mr *mr = own_region(18001 * sizeof(double));
	unsigned int n = size, num = 0, p, c;
	uint32_t dims[MOST];
	bool ok = true;

	for (p = 2; n > 1; p++)
		for (; n % p == 0; n /= p)
			dims[num++] = p;
	for (p = 0; p < 4; p++)
		for (c = 0; c < 4; c++)
			ok = ok &&
			     expect("default rings", angara_team_rings(team, NULL, 0, packets[p]),
				    0) &&
			     sums(team, mr, ANGARA_ALGO_RING, counts[c]) &&
			     sums(team, mr, ANGARA_ALGO_RING2D, counts[c]) &&
			     expect("factors", angara_team_rings(team, dims, num, packets[p]), 0) &&
			     sums(team, mr, ANGARA_ALGO_RING2D, counts[c]);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_mr_dereg(mr);
	return ok;
}

/* Invalid dimensions are refused, and leave the team unchanged. */
static bool refused(void)
{
	struct angara_team *team = team_new();
	struct angara_mr *mr = own_region((2 * BLOCK * size + 1) * sizeof(double));
	uint32_t dims[MOST] = { size, 2 }, one[] = { size };
	long long before;
	bool ok = expect("one ring", angara_team_rings(team, one, 1, 0), 0);
	unsigned int d;

	ok &= expect("product", angara_team_rings(team, dims, 2, 64), -EINVAL);
	dims[0] = size + 1;
	ok &= expect("greater", angara_team_rings(team, dims, 1, 64), -EINVAL);
	dims[0] = 1;
	if (size > 1)
		ok &= expect("fewer", angara_team_rings(team, dims, 1, 64), -EINVAL);
	dims[0] = 0;
	ok &= expect("rings of length 0", angara_team_rings(team, dims, 1, 64), -EINVAL);
	for (d = 0; d < MOST; d++)
		dims[d] = 1;
	dims[0] = size;
	ok &= expect("too many", angara_team_rings(team, dims, MOST, 64), -EINVAL);
	before = messages(team);
	ok = ok && sums(team, mr, ANGARA_ALGO_RING2D, BLOCK * size) &&
	     expect("messages", messages(team) - before, 2 * ((long long)size - 1)) &&
	     expect("most dimensions", angara_team_rings(team, dims, MOST - 1, 0), 0) &&
	     sums(team, mr, ANGARA_ALGO_RING2D, BLOCK * size);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_mr_dereg(mr);
	return ok;
}

const struct part rings_parts[] = {
	{ "rings in packets", counted },
	{ "rings of several dimensions", shapes },
	{ "rings that are refused", refused },
	{ NULL, NULL },
};
