// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Program that angara-mpi-tune runs: measures collectives of an MPI, or of a
 * library loaded before it.
 *
 *	angara-mpi-measure-NAME ROUNDS BYTES... -- COLLECTIVE...
 *
 * It prints a line for each collective and length: COLLECTIVE MEMBERS BYTES
 * MICROSECONDS. A round takes the mean of some calls at the slowest process;
 * the line has the time of the fastest round. Bytes are counted as in the table
 * of libangara-mpi: of the vector, of one block, or of all blocks
 * (reduce_scatter, allgatherv).
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS		20
#define MAX_BYTES	(16L << 20)
#define MAX_PROCS	4096
#define EXIT_USAGE	2

static int rank, size, counts[MAX_PROCS], displs[MAX_PROCS];
static char *in, *out;

static void run_barrier(int n)
{
	(void)n;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void run_bcast(int n)
{
	MPI_Bcast(out, n * 8, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void run_reduce(int n)
{
	MPI_Reduce(in, out, n, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void run_allreduce(int n)
{
	MPI_Allreduce(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void run_scan(int n)
{
	MPI_Scan(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void run_exscan(int n)
{
	MPI_Exscan(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void run_reduce_scatter_block(int n)
{
	MPI_Reduce_scatter_block(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

/*
 * Cuts @n elements into equal blocks; the remaining elements go to the last
 * block.
 */
static void set_counts(int n)
{
	int i;

	for (i = 0; i < size; i++) {
		counts[i] = i < size - 1 ? n / size : n - n / size * (size - 1);
		displs[i] = i ? displs[i - 1] + counts[i - 1] : 0;
	}
}

static void run_reduce_scatter(int n)
{
	set_counts(n);
	MPI_Reduce_scatter(in, out, counts, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void run_gather(int n)
{
	MPI_Gather(in, n, MPI_INT64_T, out, n, MPI_INT64_T, 0, MPI_COMM_WORLD);
}

static void run_scatter(int n)
{
	MPI_Scatter(in, n, MPI_INT64_T, out, n, MPI_INT64_T, 0, MPI_COMM_WORLD);
}

static void run_allgather(int n)
{
	MPI_Allgather(in, n, MPI_INT64_T, out, n, MPI_INT64_T, MPI_COMM_WORLD);
}

static void run_allgatherv(int n)
{
	set_counts(n);
	MPI_Allgatherv(in, counts[rank], MPI_INT64_T, out, counts, displs,
		       MPI_INT64_T, MPI_COMM_WORLD);
}

static void run_alltoall(int n)
{
	MPI_Alltoall(in, n, MPI_INT64_T, out, n, MPI_INT64_T, MPI_COMM_WORLD);
}

static const struct coll {
	const char *name;
	void (*run)(int n);
} colls[] = {
	{ "barrier", run_barrier },
	{ "bcast", run_bcast },
	{ "reduce", run_reduce },
	{ "allreduce", run_allreduce },
	{ "scan", run_scan },
	{ "exscan", run_exscan },
	{ "reduce_scatter_block", run_reduce_scatter_block },
	{ "reduce_scatter", run_reduce_scatter },
	{ "gather", run_gather },
	{ "scatter", run_scatter },
	{ "allgather", run_allgather },
	{ "allgatherv", run_allgatherv },
	{ "alltoall", run_alltoall },
};
#define COLLS	(sizeof(colls) / sizeof(*colls))

static int measure_usage(const char *what, const char *word)
{
	if (!rank)
		fprintf(stderr, "angara-mpi-measure: %s '%s'\n", what, word);
	return EXIT_USAGE;
}

static const struct coll *measure_find(const char *name)
{
	size_t i;

	for (i = 0; i < COLLS; i++)
		if (!strcmp(colls[i].name, name))
			return &colls[i];
	return NULL;
}

/*
 * Measures consecutive calls, which may overlap, since no barrier separates
 * them. Return: microseconds per call at the slowest process.
 */
static double time_round(const struct coll *coll, int n)
{
	double start, mine, all;
	int i;

	coll->run(n);
	PMPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (i = 0; i < CALLS; i++)
		coll->run(n);
	mine = (MPI_Wtime() - start) / CALLS * 1e6;
	PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

static void measure_coll(const struct coll *coll, long bytes, long rounds)
{
	double best = 0, us;
	long i;

	for (i = 0; i < rounds; i++) {
		us = time_round(coll, (int)(bytes / 8));
		if (!i || us < best)
			best = us;
	}
	if (rank)
		return;
	printf("%s %d %ld %.2f\n", coll->name, size,
	       coll->run == run_barrier ? 0 : bytes, best);
	fflush(stdout);
}

/* Return: the number; -1: no number from 1 to @max. */
static long measure_number(const char *text, long max)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	return *end || end == text || errno || v < 1 || v > max ? -1 : v;
}

static int measure_run(int argc, char **argv)
{
	long rounds = argc > 1 ? measure_number(argv[1], 1000000) : -1, longest = 8;
	int dashes, i, k;

	for (dashes = 2; dashes < argc && strcmp(argv[dashes], "--"); dashes++) {
		long bytes = measure_number(argv[dashes], MAX_BYTES);

		if (bytes < 0 || bytes % 8)
			return measure_usage("BYTES must be a multiple of 8 up to 16 MiB, not",
					     argv[dashes]);
		longest = bytes > longest ? bytes : longest;
	}
	if (rounds < 0 || dashes == 2 || dashes >= argc - 1)
		return measure_usage("expected ROUNDS BYTES... -- COLLECTIVE..., not",
				     argc > 1 ? argv[1] : "");
	if (size > MAX_PROCS) {
		char text[12];

		snprintf(text, sizeof(text), "%d", size);
		return measure_usage("must have at most 4096 processes, not", text);
	}
	in = calloc((size_t)size, (size_t)longest);
	out = calloc((size_t)size, (size_t)longest);
	if (!in || !out)
		return measure_usage("no memory for", "buffers");
	for (i = dashes + 1; i < argc; i++) {
		const struct coll *coll = measure_find(argv[i]);

		if (!coll)
			return measure_usage("unknown COLLECTIVE", argv[i]);
		for (k = 2; k < dashes; k++)
			if (k == 2 || coll->run != run_barrier)
				measure_coll(coll, measure_number(argv[k], MAX_BYTES), rounds);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int ret;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	ret = measure_run(argc, argv);
	free(in);
	free(out);
	MPI_Finalize();
	return ret;
}
