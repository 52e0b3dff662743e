// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the statistics of angara-bench with known time stamps. */
#include <stdio.h>
#include <stdlib.h>
#include "bench.h"

static int bad;

static void expect(const char *what, double got, double want)
{
	if (got > want - 1e-9 && got < want + 1e-9)
		return;
	printf("%s: %g, expected %g\n", what, got, want);
	bad = 1;
}

/*
 * Two processes with three samples each: first those of rank 0, then those of
 * rank 1.
 */
static void spans(void)
{
	const struct bench_stamp stamps[] = {
		{ 100, 130 }, { 200, 210 }, { 300, 390 },
		{ 120, 160 }, { 190, 260 }, { 310, 320 },
	};
	static const struct {
		enum bench_span span;
		double min, median, p99, avg;
	} want[] = {
		{ BENCH_OWN, 40, 70, 90, 200 / 3.0 },
		{ BENCH_TO_LAST, 60, 60, 90, 70 },
		{ BENCH_FROM_LAST, 10, 10, 80, 100 / 3.0 },
	};
	uint64_t room[3];

	for (unsigned int i = 0; i < 3; i++) {
		struct bench_row row = { .iters = 3, .batch = 1 };

		bench_stats(stamps, 2, want[i].span, room, &row);
		expect("least", row.min, want[i].min);
		expect("median", row.median, want[i].median);
		expect("99th percentile", row.p99, want[i].p99);
		expect("mean", row.avg, want[i].avg);
		expect("greatest", row.max, want[i].p99);
	}
}

/* Samples of 1 to 200 in mixed order; each sample is a batch of four operations. */
static void percentiles(void)
{
	struct bench_row row = { .iters = 200, .batch = 4 };
	struct bench_stamp stamps[200];
	uint64_t room[200];

	for (unsigned int i = 0; i < 200; i++) {
		stamps[i].start = 1000;
		stamps[i].end = 1000 + 1 + i * 77 % 200;
	}
	bench_stats(stamps, 1, BENCH_OWN, room, &row);
	expect("least of many", row.min, 1 / 4.0);
	expect("median of many", row.median, 100.5 / 4);
	expect("99th percentile of many", row.p99, 198 / 4.0);
	expect("mean of many", row.avg, 100.5 / 4);
	expect("greatest of many", row.max, 200 / 4.0);
}

static void single(void)
{
	struct bench_row row = { .iters = 1, .batch = 1 };
	struct bench_stamp stamp = { 5, 12 };
	uint64_t room;

	bench_stats(&stamp, 1, BENCH_OWN, &room, &row);
	expect("least of one", row.min, 7);
	expect("median of one", row.median, 7);
	expect("99th percentile of one", row.p99, 7);
	expect("mean of one", row.avg, 7);
	expect("greatest of one", row.max, 7);
}

int main(void)
{
	spans();
	percentiles();
	single();
	return bad;
}
