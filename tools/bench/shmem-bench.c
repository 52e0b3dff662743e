// SPDX-License-Identifier: GPL-2.0-only
/*
 * shmem-bench: operations of OpenSHMEM, timed as mpi-bench times those of MPI, for
 * tools/bench/run.  It is compiled by the oshcc of each implementation.
 *
 *	shmem-bench OPERATION SAMPLES BATCH BYTES...
 *
 * Operations are put, by each PE to the next PE, with the quiet that completes
 * the put; barrier; reduce, a sum of 64-bit integers at all PEs; and broadcast,
 * followed by a barrier, as a PE may have its data long before other PEs.  The
 * output is the CSV of angara-bench.  After the samples of a size,
 * one more operation is checked.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Debian's build of Open MPI 4.1.4 crashes in shmem_finalize(): end by MPI_Finalize() instead. */
#ifdef BENCH_END_BY_MPI
#include <mpi.h>
#endif

#include "bench.h"

#define WARMUP_MIN	4
#define TEAMS		(SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5)

static int me, n;
static int64_t *src, *dst;	/* symmetric */
static long sync_reduce[2][SHMEM_REDUCE_SYNC_SIZE], sync_bcast[SHMEM_BCAST_SYNC_SIZE];

struct shmem_op {
	const char *name;
	void (*run)(size_t count);
	int64_t (*want)(size_t at);
};

static int64_t element(int pe, size_t at)
{
	return (pe + 1) * 1000003LL + (int64_t)at;
}

static void run_put(size_t count)
{
	shmem_putmem(dst, src, count * sizeof(*src), (me + 1) % n);
	shmem_quiet();
}

static int64_t want_left(size_t at)
{
	return element((me + n - 1) % n, at);
}

static void run_barrier(size_t count)
{
	(void)count;
	shmem_barrier_all();
}

static void run_reduce(size_t count)
{
#if TEAMS
	shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, dst, src, count);
#else
	static int64_t *work;
	static size_t room;
	static int turn;
	size_t need = count / 2 + 1;

	if (need < SHMEM_REDUCE_MIN_WRKDATA_SIZE)
		need = SHMEM_REDUCE_MIN_WRKDATA_SIZE;
	if (room < need) {
		work = shmem_malloc(need * sizeof(*work));
		room = need;
	}
	shmem_longlong_sum_to_all((long long *)dst, (long long *)src, (int)count, 0, 0, n,
				  (long long *)work, sync_reduce[turn]);
	turn = !turn;
#endif
}

static int64_t want_sum(size_t at)
{
	return n * (n + 1LL) / 2 * 1000003LL + n * (int64_t)at;
}

static void run_broadcast(size_t count)
{
#if TEAMS
	shmem_int64_broadcast(SHMEM_TEAM_WORLD, dst, src, count, 0);
#else
	shmem_broadcast64(dst, src, count, 0, 0, 0, n, sync_bcast);
#endif
	shmem_barrier_all();
}

/*
 * Before OpenSHMEM 1.5, a broadcast does not write the destination of the root.
 */
static int64_t want_first(size_t at)
{
	return TEAMS || me ? element(0, at) : -1;
}

static const struct shmem_op ops[] = {
	{ "put", run_put, want_left }, { "barrier", run_barrier, NULL },
	{ "reduce", run_reduce, want_sum }, { "broadcast", run_broadcast, want_first },
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static void finish(int status)
{
	fflush(NULL);
#ifdef BENCH_END_BY_MPI
	shmem_barrier_all();
	MPI_Finalize();
	_exit(status);
#else
	shmem_finalize();
	exit(status);
#endif
}

static void check(const struct shmem_op *op, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		src[i] = element(me, i);
		dst[i] = -1;
	}
	shmem_barrier_all();
	op->run(count);
	shmem_barrier_all();
	for (i = 0; op->want && i < count; i++)
		if (dst[i] != op->want(i)) {
			fprintf(stderr, "shmem-bench: PE %d: wrong result: %s, element %zu\n",
				me, op->name, i);
			shmem_global_exit(1);
		}
}

static void sample(const struct shmem_op *op, size_t count, unsigned int batch,
		   struct bench_stamp *stamp)
{
	stamp->start = now_ns();
	while (batch--)
		op->run(count);
	stamp->end = now_ns();
}

static void print(const char *name, const struct bench_row *row)
{
	printf("shmem-%s,lat,%d,%zu,1,%u,%u,%.3f,%.3f,%.3f,%.0f,%.1f,%.3f,%.3f\n", name, n, row->bytes,
	       row->iters, row->batch, row->min / 1e3, row->median / 1e3, row->p99 / 1e3,
	       row->median > 0 ? 1e9 / row->median : 0,
	       row->median > 0 ? (double)row->bytes * 1e3 / row->median : 0,
	       row->avg / 1e3, row->max / 1e3);
}

/* Measures the samples of a size.  Each PE puts its stamps into @all of PE 0. */
static void measure(const struct shmem_op *op, struct bench_row *row,
		    struct bench_stamp *mine, struct bench_stamp *all)
{
	size_t count = row->bytes / sizeof(*src);
	unsigned int i, warmup = row->iters / 10;
	uint64_t *room = calloc(row->iters, sizeof(*room));

	if (!room)
		shmem_global_exit(1);
	shmem_barrier_all();
	for (i = 0; i < warmup || i < WARMUP_MIN; i++)
		sample(op, count, 1, mine);
	for (i = 0; i < row->iters; i++)
		sample(op, count, row->batch, &mine[i]);
	shmem_putmem(all + (size_t)me * row->iters, mine, row->iters * sizeof(*mine), 0);
	shmem_barrier_all();
	if (!me) {
		bench_stats(all, (unsigned int)n, BENCH_OWN, room, row);
		print(op->name, row);
	}
	free(room);
	check(op, count);
}

static long number(const char *text, long min, long max)
{
	char *end;
	long val = strtol(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && val >= min && val <= max)
		return val;
	fprintf(stderr, "shmem-bench: '%s': not a number from %ld to %ld\n", text, min, max);
	exit(2);
}

int main(int argc, char **argv)
{
	struct bench_row row = { 0 };
	struct bench_stamp *mine, *all;
	const struct shmem_op *op = NULL;
	long max = sizeof(*src);
	size_t i;
	int arg;

	for (i = 0; argc > 4 && i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(ops[i].name, argv[1]))
			op = &ops[i];
	if (!op) {
		fprintf(stderr, "usage: shmem-bench put|barrier|reduce|broadcast SAMPLES "
			"BATCH BYTES...\n");
		return 2;
	}
	row.iters = (unsigned int)number(argv[2], 1, BENCH_MAX_ITERS);
	row.batch = (unsigned int)number(argv[3], 1, BENCH_MAX_BATCH);
	for (arg = 4; arg < argc; arg++)
		if (number(argv[arg], 0, 1 << 20) > max)
			max = atol(argv[arg]);
	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	for (i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
		sync_reduce[0][i] = sync_reduce[1][i] = SHMEM_SYNC_VALUE;
	for (i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++)
		sync_bcast[i] = SHMEM_SYNC_VALUE;
	src = shmem_malloc((size_t)max);
	dst = shmem_malloc((size_t)max);
	mine = shmem_malloc(row.iters * sizeof(*mine));
	all = shmem_malloc(row.iters * sizeof(*all) * (size_t)n);
	if (!src || !dst || !mine || !all)
		shmem_global_exit(1);
	memset(src, 0, (size_t)max);
	for (arg = 4; arg < argc; arg++) {
		row.bytes = (size_t)atol(argv[arg]);
		measure(op, &row, mine, all);
	}
	finish(0);
	return 0;
}
