// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi-bench: the measurements of angara-bench over MPI, for tools/bench/run.
 *
 *	mpi-bench OPERATION SAMPLES BATCH BYTES...
 *
 * Operations are allreduce, bcast, bcast-barrier, barrier; memcpy: every
 * process except rank 0 copies from the memory of rank 0 to its own, the least
 * work of a broadcast; put: each process writes to the window of the next rank,
 * and waits for remote completion; and message: two processes exchange a
 * message, and rank 1 sends after it has received.  Samples, batches and timing
 * are those of angara-bench, and so is the CSV.  After the samples of a size,
 * one more operation is checked.
 */
#include <err.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bench.h"
#include "number.h"

#define WARMUP_MIN	4
#define MAX_BYTES	(1L << 30)

/**
 * struct work - data of an operation
 * @rank: rank of this process
 * @size: number of processes
 * @bytes: size of the operation
 * @src: source
 * @dst: destination
 * @shared: memory of rank 0 that all processes map, for memcpy
 * @win: window of @dst, for put; else MPI_WIN_NULL
 */
struct work {
	int rank;
	int size;
	size_t bytes;
	int64_t *src;
	int64_t *dst;
	int64_t *shared;
	MPI_Win win;
};

struct mpi_op {
	const char *name;
	enum bench_span span;
	bool window;
	void (*run)(struct work *w);
	int64_t (*want)(const struct work *w, size_t at);
};

static int64_t element(int rank, size_t at)
{
	return (rank + 1) * 1000003LL + (int64_t)at;
}

static void run_allreduce(struct work *w)
{
	MPI_Allreduce(w->src, w->dst, (int)(w->bytes / sizeof(*w->src)),
		      MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static int64_t want_sum(const struct work *w, size_t at)
{
	return w->size * (w->size + 1LL) / 2 * 1000003LL +
	       w->size * (int64_t)at;
}

static void run_bcast(struct work *w)
{
	MPI_Bcast(w->dst, (int)w->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int64_t want_first(const struct work *w, size_t at)
{
	(void)w;
	return element(0, at);
}

static void run_bcast_barrier(struct work *w)
{
	run_bcast(w);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void run_barrier(struct work *w)
{
	(void)w;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void run_memcpy(struct work *w)
{
	if (w->rank)
		memcpy(w->dst, w->shared, w->bytes);
}

static void run_put(struct work *w)
{
	int next = (w->rank + 1) % w->size;

	MPI_Put(w->src, (int)w->bytes, MPI_BYTE, next, 0, (int)w->bytes, MPI_BYTE, w->win);
	MPI_Win_flush(next, w->win);
}

static void run_message(struct work *w)
{
	int bytes = (int)w->bytes, other = !w->rank;

	if (!w->rank)
		MPI_Send(w->src, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
	MPI_Recv(w->dst, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (w->rank)
		MPI_Send(w->src, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
}

static int64_t want_left(const struct work *w, size_t at)
{
	return element((w->rank + w->size - 1) % w->size, at);
}

static const struct mpi_op ops[] = {
	{ "allreduce", BENCH_OWN, false, run_allreduce, want_sum },
	{ "bcast", BENCH_TO_LAST, false, run_bcast, want_first },
	{ "bcast-barrier", BENCH_OWN, false, run_bcast_barrier, want_first },
	{ "barrier", BENCH_OWN, false, run_barrier, NULL },
	{ "memcpy", BENCH_TO_LAST, false, run_memcpy, want_first },
	{ "put", BENCH_OWN, true, run_put, want_left },
	{ "message", BENCH_OWN, false, run_message, want_left },
};

#define NUM_OPS (sizeof(ops) / sizeof(ops[0]))

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static void fill(struct work *w)
{
	size_t i;

	for (i = 0; i < w->bytes / sizeof(*w->src); i++) {
		w->src[i] = element(w->rank, i);
		w->dst[i] = w->rank ? -1 : element(0, i);
		if (!w->rank)
			w->shared[i] = element(0, i);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void check(struct work *w, const struct mpi_op *op)
{
	size_t i;

	if (!op->want)
		return;
	fill(w);
	op->run(w);
	if (op->window) {
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Win_sync(w->win);
	}
	for (i = 0; i < w->bytes / sizeof(*w->dst); i++)
		if (w->dst[i] != op->want(w, i)) {
			warnx("rank %d: wrong result: %s of %zu bytes, element %zu",
			      w->rank, op->name, w->bytes, i);
			MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
		}
}

static void sample(struct work *w, const struct mpi_op *op, unsigned int batch,
		   struct bench_stamp *stamp)
{
	unsigned int i;

	if (op->span != BENCH_OWN)
		MPI_Barrier(MPI_COMM_WORLD);
	stamp->start = now_ns();
	for (i = 0; i < batch; i++)
		op->run(w);
	stamp->end = now_ns();
}

static void report(const struct work *w, const struct mpi_op *op,
		   const struct bench_stamp *all, struct bench_row *row)
{
	uint64_t *room = calloc(row->iters, sizeof(*room));

	if (!room)
		err(EXIT_FAILURE, "samples");
	bench_stats(all, (unsigned int)w->size, op->span, room, row);
	printf("%s,lat,%d,%zu,1,%u,%u,%.3f,%.3f,%.3f,%.0f,%.1f,%.3f,%.3f\n", op->name,
	       w->size, row->bytes, row->iters, row->batch, row->min / 1e3,
	       row->median / 1e3, row->p99 / 1e3,
	       row->median > 0 ? 1e9 / row->median : 0,
	       row->median > 0 ? (double)row->bytes * 1e3 / row->median : 0,
	       row->avg / 1e3, row->max / 1e3);
	fflush(stdout);
	free(room);
}

static void measure(struct work *w, const struct mpi_op *op,
		    struct bench_row *row)
{
	unsigned int n = row->iters, i;
	unsigned int warmup = n / 10 > WARMUP_MIN ? n / 10 : WARMUP_MIN;
	struct bench_stamp *mine = calloc(n, sizeof(*mine));
	struct bench_stamp *all = calloc((size_t)n * (size_t)w->size,
					 sizeof(*all));
	struct bench_stamp unused;
	int len = (int)(n * sizeof(*mine));

	if (!mine || !all)
		err(EXIT_FAILURE, "samples");
	w->bytes = row->bytes;
	fill(w);
	for (i = 0; i < warmup; i++)
		sample(w, op, 1, &unused);
	for (i = 0; i < n; i++)
		sample(w, op, row->batch, &mine[i]);
	MPI_Gather(mine, len, MPI_BYTE, all, len, MPI_BYTE, 0, MPI_COMM_WORLD);
	if (!w->rank)
		report(w, op, all, row);
	check(w, op);
	free(mine);
	free(all);
}

static const struct mpi_op *find_op(const char *name)
{
	size_t i;

	for (i = 0; i < NUM_OPS; i++)
		if (!strcmp(name, ops[i].name))
			return &ops[i];
	errx(EXIT_USAGE, "unknown operation '%s': there are allreduce, bcast, "
	     "bcast-barrier, barrier, memcpy, put, message", name);
}

static void run(const struct mpi_op *op, int argc, char **argv)
{
	struct bench_row row = { 0 };
	struct work w;
	size_t max = sizeof(int64_t);
	MPI_Aint at_zero;
	MPI_Win win;
	int i, unit;

	for (i = 4; i < argc; i++)
		if ((size_t)atol(argv[i]) > max)
			max = (size_t)atol(argv[i]);
	MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &w.size);
	if (op->run == run_message && w.size != 2)
		errx(EXIT_USAGE, "'message' needs two processes, not %d", w.size);
	w.win = MPI_WIN_NULL;
	if (op->window) {
		MPI_Win_allocate((MPI_Aint)max, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.dst,
				 &w.win);
		MPI_Win_lock_all(0, w.win);
	}
	if (posix_memalign((void **)&w.src, 4096, max) ||
	    (!op->window && posix_memalign((void **)&w.dst, 4096, max)))
		errx(EXIT_FAILURE, "no memory for buffers");
	MPI_Win_allocate_shared(w.rank ? 0 : (MPI_Aint)max, 1, MPI_INFO_NULL,
				MPI_COMM_WORLD, &w.shared, &win);
	MPI_Win_shared_query(win, 0, &at_zero, &unit, &w.shared);
	row.iters = (unsigned int)atol(argv[2]);
	row.batch = op->span == BENCH_OWN ? (unsigned int)atol(argv[3]) : 1;
	for (i = 4; i < argc; i++) {
		row.bytes = (size_t)atol(argv[i]);
		measure(&w, op, &row);
	}
	MPI_Win_free(&win);
	free(w.src);
	if (op->window) {
		MPI_Win_unlock_all(w.win);
		MPI_Win_free(&w.win);
	} else {
		free(w.dst);
	}
}

int main(int argc, char **argv)
{
	const struct mpi_op *op;
	int i;

	if (argc < 5)
		errx(EXIT_USAGE, "usage: mpi-bench OPERATION SAMPLES BATCH BYTES...");
	op = find_op(argv[1]);
	number("samples", argv[2], 1, BENCH_MAX_ITERS);
	number("batch", argv[3], 1, BENCH_MAX_BATCH);
	for (i = 4; i < argc; i++)
		if (number("bytes", argv[i], 0, MAX_BYTES) % (long)sizeof(int64_t))
			errx(EXIT_USAGE, "bytes '%s': not a multiple of 8", argv[i]);
	MPI_Init(&argc, &argv);
	run(op, argc, argv);
	MPI_Finalize();
	return 0;
}
