// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Numbers under which members take part in an allgather. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"
#include "pending.h"

#define MAX_BLOCK	20000	/* bytes */

static const uint32_t forms[] = {
	ANGARA_ALGO_BRUCK_EXCH, ANGARA_ALGO_BRUCK_REORDER, ANGARA_ALGO_DOUBLING_EXCH,
	ANGARA_ALGO_DOUBLING_REORDER,
};

#define FORMS	(sizeof(forms) / sizeof(*forms))

static struct angara_team *team_new(void)
{
	const struct angara_team_attr attr = { .size = sizeof(attr),
					       .flags = ANGARA_TEAM_SOFTWARE };
	struct angara_team *team;

	if (!expect("team", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0))
		exit(1);
	return team;
}

/* Does the algorithm need a power of two of members? */
static bool doubles(uint32_t form)
{
	return form >= ANGARA_ALGO_DOUBLING_EXCH;
}

static bool gathers(struct angara_team *team, struct angara_mr *mr, uint32_t form,
		    size_t len)
{
	char *mem = angara_mr_addr(mr);
	struct pending p;
	unsigned int i;
	bool ok;

	fill(mem, len, rank + 1);
	memset(mem + MAX_BLOCK, 0x5A, len * size + 1);
	pending_op(&p);
	p.op.flags = form;
	ok = expect("allgather", angara_allgather_nbi(team, mr, MAX_BLOCK, mr, 0, len, &p.op), 0) &&
	     expect("end of the allgather", pending_wait(ctx, &p, LONG_MS), 0);
	for (i = 0; ok && i < size; i++)
		ok = filled("block", mem + MAX_BLOCK + i * len, len, i + 1);
	return ok && expect("byte after the result", mem[MAX_BLOCK + size * len], 0x5A);
}

/* Tests all forms that are valid for this number of members. */
static bool gather_all(struct angara_team *team, struct angara_mr *mr)
{
	static const size_t lens[] = { 1, 77, 4096, MAX_BLOCK };
	bool two = !(size & (size - 1)), ok = true;
	size_t f, l;

	for (f = 0; f < FORMS; f++)
		for (l = 0; l < sizeof(lens) / sizeof(*lens); l++)
			if (two || !doubles(forms[f]))
				ok = ok && gathers(team, mr, forms[f], lens[l]);
	return ok;
}

static bool set(struct angara_team *team, const uint32_t *numbers)
{
	return expect("bruck", angara_team_numbers(team, ANGARA_ALGO_BRUCK, numbers), 0) &
	       expect("doubling", angara_team_numbers(team, ANGARA_ALGO_RECURSIVE_DOUBLING,
						      numbers), 0);
}

/* Tests numbers in reverse order, swapped in pairs, and equal to the ranks. */
static bool numbered(void)
{
	struct angara_team *team = team_new();
	struct angara_mr *mr = own_region((size_t)MAX_BLOCK * (size + 1) + 1);
	uint32_t *numbers = calloc(size, sizeof(*numbers));
	bool ok = true;
	unsigned int way, i;

	if (!numbers)
		return false;
	for (way = 0; way < 3; way++) {
		for (i = 0; i < size; i++)
			numbers[i] = way == 0 ? size - 1 - i :
				     way == 1 && (i ^ 1) < size ? i ^ 1 : i;
		ok = ok && set(team, numbers) && gather_all(team, mr);
	}
	free(numbers);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_mr_dereg(mr);
	return ok;
}

static uint64_t messages(struct angara_team *team)
{
	struct angara_team_info info = { .size = sizeof(info) };

	expect("query", angara_team_query(team, &info), 0);
	return info.messages;
}

/*
 * All members except the middle one, if there is one, have a number that
 * differs from their rank: they send their block first, in the form with an
 * exchange.
 */
static bool exchanged(void)
{
	struct angara_team *team = team_new();
	struct angara_mr *mr = own_region((size_t)MAX_BLOCK * (size + 1) + 1);
	uint32_t *numbers = calloc(size, sizeof(*numbers));
	uint64_t made, plain, exch, reorder;
	unsigned int i;
	bool ok;

	if (!numbers)
		return false;
	for (i = 0; i < size; i++)
		numbers[i] = size - 1 - i;
	made = messages(team);
	ok = set(team, numbers) && gathers(team, mr, ANGARA_ALGO_BRUCK, 8);
	plain = messages(team) - made;
	ok = ok && gathers(team, mr, ANGARA_ALGO_BRUCK_EXCH, 8);
	exch = messages(team) - made - plain;
	ok = ok && gathers(team, mr, ANGARA_ALGO_BRUCK_REORDER, 8);
	reorder = messages(team) - made - plain - exch;
	free(numbers);
	ok = ok && expect("exchange", (long long)(exch - plain), rank != size - 1 - rank) &&
	     expect("reorder", (long long)reorder, (long long)plain);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_mr_dereg(mr);
	return ok;
}

/* Invalid numbers are refused at all members, and leave the team unchanged. */
static bool refused(void)
{
	struct angara_team *team = team_new();
	struct angara_mr *mr = own_region(64 * (size + 1));
	uint32_t *numbers = calloc(size, sizeof(*numbers));
	struct pending p;
	bool ok = true;
	size_t f;

	if (!numbers)
		return false;
	for (f = 0; f < FORMS; f++) {
		pending_op(&p);
		p.op.flags = forms[f];
		ok &= expect("allgather without numbers",
			     angara_allgather_nbi(team, mr, 64, mr, 0, 8, &p.op), -EINVAL);
		ok &= expect("alltoall", angara_alltoall_nbi(team, mr, 0, mr, 0, 0, &p.op),
			     -EINVAL);
	}
	numbers[0] = size;
	ok &= expect("range", angara_team_numbers(team, ANGARA_ALGO_BRUCK, numbers), -EINVAL);
	numbers[0] = 0;
	if (size > 1)
		ok &= expect("twice", angara_team_numbers(team, ANGARA_ALGO_BRUCK, numbers),
			     -EINVAL);
	ok &= expect("ring", angara_team_numbers(team, ANGARA_ALGO_RING, numbers), -EINVAL) &
	      expect("numbers of a ring", angara_numbers(ANGARA_ALGO_RING, 2, NULL, 0, numbers),
		     -EINVAL) &
	      expect("numbers of no members",
		     angara_numbers(ANGARA_ALGO_BRUCK, 0, NULL, 0, numbers), -EINVAL) &
	      expect("levels", angara_numbers(ANGARA_ALGO_BRUCK, 1, NULL, 17, numbers), -EINVAL) &
	      works(team) & expect("destroy", angara_team_destroy(team), 0);
	free(numbers);
	angara_mr_dereg(mr);
	return ok;
}

#define MEMBERS	32U

/*
 * Bytes between modules in Bruck's algorithm, if each member contributes one
 * byte.
 */
static unsigned int between(const uint32_t *modules, const uint32_t *numbers)
{
	uint32_t member[MEMBERS] = { 0 };
	unsigned int sum = 0, dist, v;

	for (v = 0; v < MEMBERS; v++)
		member[numbers[v]] = v;
	for (dist = 1; dist < MEMBERS; dist *= 2)
		for (v = 0; v < MEMBERS; v++)
			if (modules[member[v]] != modules[member[(v + MEMBERS - dist) % MEMBERS]])
				sum += dist;
	return sum;
}

/* Modules of 12, 4 and 16 members in a mixed order: each number occurs once. */
static bool by_modules(void)
{
	uint32_t modules[MEMBERS], numbers[MEMBERS], ranks[MEMBERS];
	bool used[MEMBERS] = { false };
	unsigned int i;
	int ret;

	for (i = 0; i < MEMBERS; i++) {
		modules[i] = i % 2 ? 7 : i < 24 ? 3 : 900;
		ranks[i] = i;
	}
	ret = angara_numbers(ANGARA_ALGO_BRUCK, MEMBERS, modules, 1, numbers);
	if (ret == -EOPNOTSUPP)
		return parts_skip("METIS is missing: install libmetis-dev");
	if (!expect("numbers", ret, 0))
		return false;
	for (i = 0; i < MEMBERS; i++) {
		if (!expect("range", numbers[i] < MEMBERS, 1) ||
		    !expect("a number is used again", used[numbers[i]], 0))
			return false;
		used[numbers[i]] = true;
	}
	return expect("fewer bytes between modules",
		      between(modules, numbers) < between(modules, ranks), 1) &&
	       expect("no levels", angara_numbers(ANGARA_ALGO_RECURSIVE_DOUBLING, MEMBERS,
						  NULL, 0, numbers), 0) &&
	       expect("numbers without levels", !memcmp(numbers, ranks, sizeof(ranks)), 1);
}

/* angara_numbers() does not change the program's pseudo-random numbers. */
static bool random_left(void)
{
	uint32_t modules[MEMBERS], numbers[MEMBERS];
	long want[3];
	unsigned int i;
	int ret;

	for (i = 0; i < MEMBERS; i++)
		modules[i] = i % 4;
	srand(7);
	for (i = 0; i < 3; i++)
		want[i] = rand();
	srand(7);
	if (!expect("first", rand(), want[0]))
		return false;
	ret = angara_numbers(ANGARA_ALGO_BRUCK, MEMBERS, modules, 1, numbers);
	if (ret == -EOPNOTSUPP)
		return parts_skip("METIS is missing: install libmetis-dev");
	return expect("numbers", ret, 0) & expect("second", rand(), want[1]) &
	       expect("third", random(), want[2]);
}

const struct part numbers_parts[] = {
	{ "allgather by numbers", numbered },
	{ "blocks exchanged before", exchanged },
	{ "numbers that are refused", refused },
	{ "numbers by modules", by_modules },
	{ "random numbers of the program", random_left },
	{ NULL, NULL },
};
