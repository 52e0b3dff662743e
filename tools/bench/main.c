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
 * Time of a batch of operations without a barrier between them: two readings of
 * the clock take a hundredth of this time.
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

/*
 * Measures a sample.  A checked sample is between two barriers, so no process reads data too
 * early.
 */
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

/*
 * Runs samples that do not count.  @batch: out: operations of a sample, equal in all processes.
 * Return: 0 or an error.
 */
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
	/*
	 * The batch depends only on processes that take part in the operation.
	 */
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

static unsigned int ways_of(const struct bench *b)
{
	return b->trees > 1 ? 2 : 1;
}

static unsigned int teams_of(const struct bench *b)
{
	return b->op->elements ? ways_of(b) : (unsigned int)b->trees;
}

/* Number of trees of all teams together. */
static unsigned int trees_of(const struct bench *b)
{
	return (unsigned int)b->trees + (b->op->elements && b->trees > 1);
}

/*
 * Stamps of this process for operations over one tree, or over several.  Rank 0
 * has the stamps of all processes, by rank.
 */
static struct bench_stamp *stamps_of(struct bench *b, unsigned int way,
				     unsigned int iters)
{
	struct bench_stamp *stamps = angara_mr_addr(b->stamps);

	return stamps + (size_t)iters * way * (b->app.rank ? 1 : b->app.size);
}

/* Puts the stamps of each process into the memory of rank 0. */
static int gather(struct bench *b, unsigned int iters)
{
	size_t len = iters * sizeof(struct bench_stamp);
	unsigned int way;
	int err = 0;

	for (way = 0; b->app.rank && way < ways_of(b) && !err; way++)
		err = angara_put(b->app.ctx, b->app.peers[0],
				 angara_mr_key(b->stamps),
				 (way * b->app.size + b->app.rank) * len,
				 b->stamps, way * len, len);
	if (err)
		return app_fail(&b->app, err, "cannot send the measured times to rank 0");
	return bench_sync(b);
}

static int report(struct bench *b, struct bench_row *rows)
{
	unsigned int way;
	uint64_t *room;

	if (b->app.rank)
		return 0;
	room = calloc(rows->iters, sizeof(*room));
	if (!room)
		return app_fail(&b->app, -ENOMEM, "samples");
	for (way = 0; way < ways_of(b); way++) {
		/* Only rank 0 measures a one-sided operation. */
		bench_stats(stamps_of(b, way, rows->iters),
			    b->op->one_sided ? 1 : b->app.size, b->op->span,
			    room, &rows[way]);
		rows[way].gain = rows[way].median > 0 ?
				 rows[0].median / rows[way].median : 1;
		bench_out_row(b, &rows[way]);
	}
	free(room);
	return 0;
}

/*
 * Measures over one tree and over several in turn, so that other load of the
 * machine affects both.
 */
static int run_size(struct bench *b, struct bench_row *rows)
{
	unsigned int ways = ways_of(b), iters = rows->iters, way, i;
	int err = 0;

	for (way = 0; way < ways && !err; way++) {
		b->spread = rows[way].trees;
		err = warm_up(b, rows->bytes, iters, &rows[way].batch);
	}
	for (i = 0; i < iters * ways && !err; i++) {
		struct bench_row *row = &rows[i % ways];
		struct bench_stamp *s = stamps_of(b, i % ways, iters) + i / ways;

		b->spread = row->trees;
		err = measure(b, row->bytes, i / ways, row->batch, s);
		bench_progress(b, s->end, row->bytes, i / ways, iters);
	}
	if (!err)
		err = gather(b, iters);
	return err ? err : report(b, rows);
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
	stamps = (uint64_t)b->max_iters * sizeof(struct bench_stamp) * ways_of(b);
	if (stamps * app->size > STAMPS_MAX)
		return app_bad_input(app, "-n %u: the times of %u processes "
				     "need more than 1 GiB",
				     b->max_iters, app->size);
	b->dst_off = (max + 63) / 64 * 64;
	if (b->op->arrivals == BENCH_ARRIVE_ALL)
		max *= app->size;
	err = app_malloc_all(app, b->dst_off + max, &b->data);
	if (!err)
		err = app_malloc_all(app, 2 * sizeof(uint64_t), &b->flag);
	if (!err)
		err = app_malloc_all(app, app->rank ? stamps : stamps * app->size,
				 &b->stamps);
	return err;
}

/* Checks that a team got the trees that it asked for.  Return: 0; -ENOSPC. */
static int all_trees(const struct angara_team *team, unsigned int stripes)
{
	struct angara_team_info info = { .size = sizeof(info) };
	int err = angara_team_query(team, &info);

	if (!err && info.members > 1 && info.trees < stripes)
		err = -ENOSPC;
	return err;
}

/*
 * Creates teams of all processes.  For reductions the second team has several trees.  For
 * broadcasts each team has one tree, and the roots of these trees are spread over the ranks.
 */
static int prepare_teams(struct bench *b)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < teams_of(b) && !err; i++) {
		const struct angara_team_attr attr = {
			.size = sizeof(attr), .flags = ANGARA_TEAM_TREE,
			.root = b->op->elements ? 0 :
				(uint32_t)(i * b->app.size / b->trees),
			.stripes = b->op->elements && i ? (uint32_t)b->trees : 1,
		};

		err = angara_team_create(b->app.job, b->app.ctx, NULL,
					 b->app.size, &attr, &b->teams[i]);
		if (!err)
			err = all_trees(b->teams[i], attr.stripes);
	}
	if (err)
		coll_offload_explain(&b->app, err, trees_of(b));
	b->team = b->teams[0];
	return app_agree(&b->app);
}

static int prepare(struct bench *b)
{
	int err = app_open(&b->app);

	if (err)
		return err;
	prepare_memory(b);
	err = app_agree(&b->app);
	return err ? err : prepare_teams(b);
}

/*
 * A process that fails exits at once.  That ends the team, so all other
 * processes get an error and exit, too; the first process prints the cause.
 */
static void leave(struct bench *b, int err)
{
	if (err != -ECONNRESET)
		fprintf(stderr, "angara-bench: rank %u: %s\n", b->app.rank,
			b->app.error);
	_Exit(b->app.exit);
}

static int run_sizes(struct bench *b)
{
	unsigned int i, way;
	int err = 0;

	for (i = 0; i < b->num_sizes && !err; i++) {
		struct bench_row *rows = &b->rows[b->num_rows];

		for (way = 0; way < ways_of(b); way++) {
			rows[way].bytes = b->sizes[i];
			rows[way].iters = bench_iters(b, b->sizes[i]);
			rows[way].trees = way ? (unsigned int)b->trees : 1;
		}
		b->num_rows += ways_of(b);
		err = run_size(b, rows);
	}
	return err;
}

static void run(struct bench *b)
{
	unsigned int i;
	int err = prepare(b);

	if (err)
		return;
	b->printed = now_ns();
	if (!b->app.rank)
		bench_out_begin(b);
	err = run_sizes(b);
	if (err)
		leave(b, err);
	if (!b->app.rank)
		bench_out_end(b);
	for (i = 0; i < teams_of(b); i++)
		angara_team_destroy(b->teams[i]);
}

int main(int argc, char **argv)
{
	static struct bench b;
	int status = app_start(&b.app);

	if (status)
		return status;
	if (bench_parse(&b, argc, argv) && !app_agree(&b.app))
		run(&b);
	return app_finish(&b.app);
}
