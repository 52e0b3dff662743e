// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-bench: time, bandwidth and rate of operations.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "../apps/coll_offload.h"
#include "bench.h"

/*
 * A sample of operations that follow each other at once holds as many as take
 * this long: reading the clock twice costs a hundredth of it.
 */
#define BATCH_NS	5000
#define WARMUP_MIN	4
#define STAMPS_MAX	(1ULL << 30)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* A checked sample begins and ends with a barrier: nobody looks too early. */
static int measure(struct bench *b, size_t bytes, unsigned int iter,
		   unsigned int batch, struct bench_stamp *stamp)
{
	unsigned int i;
	int err = 0;

	if (b->check)
		bench_fill(b, bytes, iter);
	if (b->check || b->op->span != BENCH_OWN)
		err = bench_sync(b);
	stamp->start = now_ns();
	for (i = 0; i < batch && !err; i++)
		err = bench_window(b, bytes);
	stamp->end = now_ns();
	if (!err && b->check) {
		err = bench_sync(b);
		if (!err)
			err = bench_verify(b, bytes, iter);
	}
	return err;
}

/* Return: 0 and how many operations a sample has, equal in all processes. */
static int warm_up(struct bench *b, size_t bytes, unsigned int iters,
		   unsigned int *batch)
{
	unsigned int n = iters / 10 > WARMUP_MIN ? iters / 10 : WARMUP_MIN;
	uint64_t least = UINT64_MAX, longest = 0;
	struct bench_stamp s;
	unsigned int i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		err = measure(b, bytes, iters + i, 1, &s);
		if (s.end - s.start < least)
			least = s.end - s.start;
	}
	/* Who does nothing in an operation has no say. */
	if (b->op->from_root && b->app.rank)
		least = 0;
	if (!err)
		err = bench_agree_max(b, least, &longest);
	*batch = b->batch ? (unsigned int)b->batch : 1;
	if (b->batch || b->check || b->op->span != BENCH_OWN || longest >= BATCH_NS)
		return err;
	*batch = BATCH_NS / (unsigned int)(longest ? longest : 1) + 1;
	if (*batch > BENCH_MAX_BATCH)
		*batch = BENCH_MAX_BATCH;
	return err;
}

/* At the end, rank 0 has the stamps of all. */
static int gather(struct bench *b, unsigned int iters)
{
	size_t len = iters * sizeof(struct bench_stamp);
	int err = 0;

	if (b->app.rank)
		err = angara_put(b->app.ctx, b->app.peers[0],
				 angara_mr_key(b->stamps), b->app.rank * len,
				 b->stamps, 0, len);
	if (err)
		return app_fail(&b->app, err, "handing times to rank 0");
	return bench_sync(b);
}

static int report(struct bench *b, struct bench_row *row)
{
	uint64_t *room;

	if (b->app.rank)
		return 0;
	room = calloc(row->iters, sizeof(*room));
	if (!room)
		return app_fail(&b->app, -ENOMEM, "samples");
	/* One-sided operations are over when rank 0 says so. */
	bench_stats(angara_mr_addr(b->stamps),
		    b->op->one_sided ? 1 : b->app.size, b->op->span, room, row);
	free(room);
	bench_out_row(b, row);
	return 0;
}

static int run_size(struct bench *b, struct bench_row *row)
{
	struct bench_stamp *stamps = angara_mr_addr(b->stamps);
	unsigned int i;
	int err = warm_up(b, row->bytes, row->iters, &row->batch);

	for (i = 0; i < row->iters && !err; i++) {
		err = measure(b, row->bytes, i, row->batch, &stamps[i]);
		bench_progress(b, stamps[i].end, row->bytes, i, row->iters);
	}
	if (!err)
		err = gather(b, row->iters);
	return err ? err : report(b, row);
}

static int prepare_memory(struct bench *b)
{
	struct app *app = &b->app;
	uint64_t max = 8, stamps;
	unsigned int i;
	int err;

	for (i = 0; i < b->num_sizes; i++) {
		if (b->sizes[i] > max)
			max = b->sizes[i];
		if (bench_iters(b, b->sizes[i]) > b->max_iters)
			b->max_iters = bench_iters(b, b->sizes[i]);
	}
	stamps = (uint64_t)b->max_iters * sizeof(struct bench_stamp);
	if (stamps * app->size > STAMPS_MAX)
		return app_bad_input(app, "-n %u: times of so many samples of %u "
				     "processes need more than 1 GiB",
				     b->max_iters, app->size);
	b->dst_off = (max + 63) / 64 * 64;
	if (b->op->arrivals == BENCH_ARRIVE_ALL)
		max *= app->size;
	err = app_malloc(app, b->dst_off + max, &b->data);
	if (!err)
		err = app_malloc(app, 2 * sizeof(uint64_t), &b->flag);
	if (!err)
		err = app_malloc(app, app->rank ? stamps : stamps * app->size,
				 &b->stamps);
	return err;
}

static int prepare(struct bench *b)
{
	const struct angara_team_attr attr = {
		.size = sizeof(attr), .flags = ANGARA_TEAM_TREE,
	};
	int err = app_open(&b->app);

	if (err)
		return err;
	prepare_memory(b);
	err = app_agree(&b->app);
	if (err)
		return err;
	err = angara_team_create(b->app.job, b->app.ctx, NULL, b->app.size,
				 &attr, &b->team);
	if (err)
		coll_offload_explain(&b->app, err, 1);
	return app_agree(&b->app);
}

/*
 * Who fails leaves at once.  That ends the team, so the others learn of it and
 * leave, too; what is wrong says the first.
 */
static void leave(struct bench *b, int err)
{
	if (err != -ECONNRESET)
		fprintf(stderr, "angara-bench: rank %u: %s\n", b->app.rank,
			b->app.error);
	_Exit(b->app.exit);
}

static void run(struct bench *b)
{
	unsigned int i;
	int err = prepare(b);

	if (err)
		return;
	b->told = now_ns();
	if (!b->app.rank)
		bench_out_begin(b);
	for (i = 0; i < b->num_sizes && !err; i++) {
		b->rows[i].bytes = b->sizes[i];
		b->rows[i].iters = bench_iters(b, b->sizes[i]);
		err = run_size(b, &b->rows[i]);
	}
	if (err)
		leave(b, err);
	if (!b->app.rank)
		bench_out_end(b);
	angara_team_destroy(b->team);
}

int main(int argc, char **argv)
{
	static struct bench b;
	int status = app_start(&b.app, "angara-bench");

	if (status)
		return status;
	bench_parse(&b, argc, argv);
	if (!app_agree(&b.app)) {
		if (b.help && !b.app.rank)
			fputs(bench_usage, stdout);
		if (!b.help)
			run(&b);
	}
	return app_finish(&b.app);
}
