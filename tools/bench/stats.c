// SPDX-License-Identifier: GPL-2.0-only
/* Computation of results from stamps. */
#include <stdlib.h>
#include "bench.h"

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t at_least_0(uint64_t end, uint64_t start)
{
	return end > start ? end - start : 0;
}

/* Return: time of sample @i.  The stamps of process r start at index r * iters. */
static uint64_t sample(const struct bench_stamp *stamps, unsigned int procs,
		       unsigned int iters, enum bench_span span, unsigned int i)
{
	const struct bench_stamp *root = &stamps[i];
	uint64_t start = 0, end = 0, own = 0;
	unsigned int r;

	for (r = 0; r < procs; r++) {
		const struct bench_stamp *s = &stamps[(size_t)r * iters + i];

		if (s->start > start)
			start = s->start;
		if (s->end > end)
			end = s->end;
		if (s->end - s->start > own)
			own = s->end - s->start;
	}
	switch (span) {
	case BENCH_TO_LAST:
		return at_least_0(end, root->start);
	case BENCH_FROM_LAST:
		return at_least_0(root->end, start);
	default:
		return own;
	}
}

/**
 * bench_stats() - compute minimum, median, 99th percentile, mean and maximum
 * @stamps: stamps of all processes
 * @procs: number of processes
 * @span: how a sample is timed
 * @room: memory for @row->iters numbers
 * @row: in: iters, batch; out: all other members
 *
 * The 99th percentile is the least sample that 99 % of the samples do not
 * exceed; the median of an even number is the mean of the two in the middle.
 */
void bench_stats(const struct bench_stamp *stamps, unsigned int procs,
		 enum bench_span span, uint64_t *room, struct bench_row *row)
{
	unsigned int n = row->iters, i;
	double scale = 1.0 / row->batch, sum = 0;

	for (i = 0; i < n; i++) {
		room[i] = sample(stamps, procs, n, span, i);
		sum += (double)room[i];
	}
	qsort(room, n, sizeof(*room), compare);
	row->min = (double)room[0] * scale;
	row->median = ((double)room[(n - 1) / 2] + (double)room[n / 2]) / 2 *
		      scale;
	row->p99 = (double)room[((uint64_t)n * 99 + 99) / 100 - 1] * scale;
	row->avg = sum / n * scale;
	row->max = (double)room[n - 1] * scale;
}
