// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-collops: latency of collectives, offloaded and by puts.
 *
 * Offloaded operations and operations by puts alternate, so that other load of
 * the machine affects both equally.  All processes run on one machine and read
 * one clock.  The time of an operation begins with rank 0's start if only rank 0
 * starts the operation, otherwise with the start of the last process.  It ends
 * when the last process has finished the operation.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "coll.h"

#define WARMUP		2U
#define MAX_ITERS	2000U
#define MAX_BYTES	(64U << 10)
#define OFFLOAD		0
#define P2P		1

/* Start and end of an operation in a process. */
struct stamp {
	double start;
	double end;
};

/**
 * struct bench - state of the benchmark
 * @app: this process
 * @coll: by OFFLOAD and P2P
 * @mr: source, then destination
 * @iters: measured iterations
 * @run: all other options
 * @stamps: stamps of this process, by method and iteration
 * @all: stamps of all processes
 * @first: no line of JSON has been printed yet
 */
struct bench {
	struct app *app;
	struct coll *coll[2];
	struct angara_mr *mr;
	uint64_t iters;
	struct app_options run;
	struct stamp *stamps;
	struct stamp *all;
	bool first;
};

/* A measured operation; @run does the part of one process and checks the result. */
struct test {
	const char *name;
	bool from_root;		/* only rank 0 starts it */
	int (*run)(struct bench *b, struct coll *c, size_t bytes, uint64_t i);
};

static int run_bcast(struct bench *b, struct coll *c, size_t bytes, uint64_t i)
{
	char *dst = (char *)angara_mr_addr(b->mr) + MAX_BYTES;
	struct coll_bcast bc = {
		.dst = b->mr, .dst_off = MAX_BYTES, .src = b->mr, .len = bytes,
	};
	int err;

	if (!b->app->rank)
		memset(angara_mr_addr(b->mr), (int)(i & 0xFF), bytes);
	err = coll_bcast(c, &bc);
	if (!err && (dst[0] != (char)i || dst[bytes - 1] != (char)i))
		err = app_fail(b->app, 0, "broadcast (%s) of %zu bytes delivered "
			       "wrong data", c->ops->name, bytes);
	return err;
}

static int run_allreduce(struct bench *b, struct coll *c, size_t bytes,
			 uint64_t i)
{
	size_t n = bytes / sizeof(int64_t);
	int64_t *src = angara_mr_addr(b->mr), *dst = src + MAX_BYTES / 8;
	int64_t want = (int64_t)(i * b->app->size);
	struct coll_reduce r = {
		.dst = b->mr, .dst_off = MAX_BYTES, .src = b->mr, .count = n,
		.type = ANGARA_TYPE_INT64, .op = ANGARA_RED_SUM,
	};
	int err;

	src[0] = (int64_t)i;
	src[n - 1] = (int64_t)i;
	err = coll_allreduce(c, &r);
	if (!err && (dst[0] != want || dst[n - 1] != want))
		err = app_fail(b->app, 0, "allreduce (%s) of %zu bytes returned "
			       "a wrong sum", c->ops->name, bytes);
	return err;
}

static int run_barrier(struct bench *b, struct coll *c, size_t bytes, uint64_t i)
{
	(void)b;
	(void)bytes;
	(void)i;
	return coll_barrier(c);
}

static const struct test tests[] = {
	{ "broadcast", true, run_bcast },
	{ "allreduce", false, run_allreduce },
	{ "barrier", false, run_barrier },
};

static const size_t sizes[] = { 8, 256, 4096, MAX_BYTES };

const char tool_name[] = "angara-collops";

enum { OPT_ITERS = APP_OPT_OWN };

static const struct opt opts[] = {
	{ OPT_ITERS, "iters", "N", "measured iterations of each (default 100)", NULL },
	APP_OPT_JSON,
	{ 0 }
};

static int take(void *to, int id, const char *value)
{
	struct bench *b = to;

	if (id != OPT_ITERS)
		return app_option(b->app, id, value, &b->run);
	return app_taken(app_number(b->app, "--iters", value, 1, MAX_ITERS, &b->iters));
}

static const struct opts_command command = {
	.version = ANG_RELEASE,
	.usage = " [OPTION]...",
	.what = "Measures collectives offloaded to the network and by puts over the same tree.",
	.opts = opts,
	.take = take,
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median over the iterations of one method, in microseconds. */
static double median(const struct bench *b, const struct test *t, unsigned int way)
{
	double took[MAX_ITERS];
	uint64_t i;
	unsigned int r;

	for (i = 0; i < b->iters; i++) {
		double start = 0, end = 0;

		for (r = 0; r < b->app->size; r++) {
			const struct stamp *s =
				&b->all[(r * 2 + way) * b->iters + i];

			if ((!t->from_root || !r) && s->start > start)
				start = s->start;
			if (s->end > end)
				end = s->end;
		}
		took[i] = end - start;
	}
	qsort(took, b->iters, sizeof(took[0]), compare_doubles);
	return took[b->iters / 2] * 1e6;
}

/* Gives every process the stamps of all processes, in blocks of at most 16 KiB. */
static int exchange(struct bench *b)
{
	size_t all = 2 * b->iters * sizeof(struct stamp), part, off;
	char *block = malloc(16384 * (size_t)b->app->size);
	unsigned int r;
	int err = block ? 0 : app_fail(b->app, -ENOMEM, "times");

	for (off = 0; off < all && !err; off += part) {
		part = all - off < 16384 ? all - off : 16384;
		err = app_allgather(b->app, (char *)b->stamps + off, part, block);
		for (r = 0; r < b->app->size && !err; r++)
			memcpy((char *)b->all + r * all + off, block + r * part,
			       part);
	}
	free(block);
	return err;
}

static void report(struct bench *b, const struct test *t, size_t bytes)
{
	double offload, p2p;
	char size[24] = "-";

	if (b->app->rank)
		return;
	offload = median(b, t, OFFLOAD);
	p2p = median(b, t, P2P);
	if (bytes)
		snprintf(size, sizeof(size), "%zu B", bytes);
	if (b->run.json)
		printf("%s{\"op\":\"%s\",\"bytes\":%zu,\"offload_us\":%.1f,"
		       "\"p2p_us\":%.1f,\"ratio\":%.2f}", b->first ? "[" : ",\n",
		       t->name, bytes, offload, p2p, p2p / offload);
	else
		printf("%-12s %10s %14.1f %14.1f %8.2f\n", t->name, size,
		       offload, p2p, p2p / offload);
	b->first = false;
}

/*
 * The barrier before an operation uses the other implementation, so the
 * measured implementation has nothing in flight.
 */
static int measure_one(struct bench *b, const struct test *t, size_t bytes,
		       unsigned int way, uint64_t i)
{
	struct stamp s;
	int err = coll_barrier(b->coll[!way]);

	s.start = app_now();
	if (!err)
		err = t->run(b, b->coll[way], bytes, i);
	s.end = app_now();
	if (i >= WARMUP)
		b->stamps[way * b->iters + i - WARMUP] = s;
	return err;
}

static int measure(struct bench *b, const struct test *t, size_t bytes)
{
	uint64_t i;
	int err = 0;

	for (i = 0; i < b->iters + WARMUP && !err; i++) {
		err = measure_one(b, t, bytes, OFFLOAD, i);
		if (!err)
			err = measure_one(b, t, bytes, P2P, i);
	}
	if (app_agree(b->app))
		return -ECANCELED;
	err = exchange(b);
	if (!err)
		report(b, t, bytes);
	return err ? err : app_agree(b->app);
}

static int prepare(struct bench *b)
{
	int err = app_open(b->app);
	size_t stamps = 2 * b->iters;

	if (err)
		return err;
	b->stamps = calloc(stamps, sizeof(*b->stamps));
	b->all = calloc(stamps * b->app->size, sizeof(*b->all));
	if (!b->stamps || !b->all)
		app_fail(b->app, -ENOMEM, "times");
	else if (!app_malloc_all(b->app, 2 * (size_t)MAX_BYTES, &b->mr)) {
		b->coll[OFFLOAD] = coll_open(b->app, false, 1);
		if (b->coll[OFFLOAD])
			b->coll[P2P] = coll_open(b->app, true, 1);
	}
	return app_agree(b->app);
}

static int run_test(struct bench *b, const struct test *t)
{
	unsigned int i;
	int err = 0;

	if (t->run == run_barrier)
		return measure(b, t, 0);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !err; i++)
		err = measure(b, t, sizes[i]);
	return err;
}

static void run(struct bench *b)
{
	unsigned int i;
	int err = prepare(b);

	if (err)
		return;
	if (!b->run.json && !b->app->rank)
		printf("%-12s %10s %14s %14s %8s\n", "operation", "size",
		       "offloaded us", "by puts us", "ratio");
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]) && !err; i++)
		err = run_test(b, &tests[i]);
	if (err)
		return;
	if (b->run.json && !b->app->rank)
		puts("]");
	coll_close(b->coll[P2P]);
	coll_close(b->coll[OFFLOAD]);
}

int main(int argc, char **argv)
{
	struct bench b = { .iters = 100, .first = true };
	struct app app;
	int err = app_start(&app);

	if (err)
		return err;
	b.app = &app;
	if (!app_read(&app, &command, &b, argc, argv))
		return app_finish(&app);
	app_no_more(&app, argc, argv);
	if (!app_agree(&app)) {
		run(&b);
		app_agree(&app);
	}
	free(b.stamps);
	free(b.all);
	return app_finish(&app);
}
