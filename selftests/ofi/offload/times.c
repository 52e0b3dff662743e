// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Durations of operations, for tools/bench/ofi: the minimum over several
 * rounds of the slowest member's average.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "offload.h"

#define ROUNDS	7
#define MAX_LEN	(1U << 20)

static struct group all;
static char *buf;

static bool barrier(size_t len, unsigned int i)
{
	(void)len;
	(void)i;
	return expect(done(fi_barrier(ep, all.addr, buf), buf), 0);
}

/* Each member is the source in turn: one source would run ahead. */
static bool broadcast(size_t len, unsigned int i)
{
	return expect(done(fi_broadcast(ep, buf, len, NULL, all.addr,
					addr_of(&all, i % size), FI_UINT8, 0, buf),
			   buf), 0);
}

static bool allreduce(size_t len, unsigned int i)
{
	(void)i;
	return expect(done(fi_allreduce(ep, buf, len / 8, NULL, buf, NULL, all.addr,
					FI_DOUBLE, FI_SUM, 0, buf), buf), 0);
}

/* Return: the longest time of all processes, in microseconds. */
static double slowest(double mine)
{
	double each[MAX_RANKS];
	unsigned int i;

	if (angara_job_allgather(job, &mine, sizeof(mine), each))
		exit(1);
	for (i = 0; i < size; i++)
		if (each[i] > mine)
			mine = each[i];
	return mine * 1e6;
}

static bool time_of(const char *name, bool (*op)(size_t len, unsigned int i),
		    size_t len, unsigned int repeat)
{
	double best = 0, took;
	unsigned int round, i;
	bool ok = true;

	for (round = 0; ok && round <= ROUNDS; round++) {
		ok = together();
		took = now();
		for (i = 0; ok && i < repeat; i++)
			ok = op(len, i);
		took = slowest((now() - took) / repeat);
		/* Round 0 warms the caches. */
		if (round == 1 || (round && took < best))
			best = took;
	}
	if (!rank)
		printf("# %s %zu %.2f\n", name, len, best);
	return ok;
}

static bool times(void)
{
	const size_t lens[] = { 8, 4096, 65536, MAX_LEN };
	unsigned int i;
	bool ok = join(&all, NULL, 0);

	buf = calloc(1, MAX_LEN);
	ok = ok && time_of("fi_barrier", barrier, 0, 200);
	for (i = 0; ok && i < 4; i++)
		ok = time_of("fi_broadcast", broadcast, lens[i], i < 2 ? 200 : 20);
	for (i = 0; ok && i < 4; i++)
		ok = time_of("fi_allreduce", allreduce, lens[i], i < 2 ? 200 : 20);
	free(buf);
	return ok && leave(&all);
}

const struct part time_parts[] = {
	{ "times", times },
	{ NULL, NULL },
};
