// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A typical MPI program: a ring, halos, reductions, one-sided operations, many
 * messages at a time.
 *
 *	mpirun -n N mpi-test messages|one-sided MEBIBYTES
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY	300

static int rank, size, bad;

static void check(int good, const char *what, size_t n)
{
	if (good)
		return;
	printf("# rank %d: %s, %zu\n", rank, what, n);
	bad = 1;
}

static int left(void)
{
	return (rank + size - 1) % size;
}

static int right(void)
{
	return (rank + 1) % size;
}

static void ring(void)
{
	long token = 0;
	int i;

	for (i = 0; i < 3; i++) {
		if (rank)
			MPI_Recv(&token, 1, MPI_LONG, left(), 7, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		token++;
		MPI_Send(&token, 1, MPI_LONG, right(), 7, MPI_COMM_WORLD);
		if (!rank)
			MPI_Recv(&token, 1, MPI_LONG, left(), 7, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	}
	check(rank || token == 3 * size, "ring", (size_t)token);
}

static unsigned char at(size_t i, int who)
{
	return (unsigned char)(i * 131 + i / 256 + (size_t)who * 29);
}

/* Exchanges halos of @len bytes with both neighbours at once. */
static void halo(size_t len)
{
	unsigned char *own = malloc(len), *in[2] = { malloc(len), malloc(len) };
	const int from[2] = { left(), right() };
	MPI_Request req[4];
	size_t i;
	int k;

	for (i = 0; i < len; i++)
		own[i] = at(i, rank);
	for (k = 0; k < 2; k++) {
		MPI_Irecv(in[k], (int)len, MPI_BYTE, from[k], k, MPI_COMM_WORLD,
			  &req[k]);
		MPI_Isend(own, (int)len, MPI_BYTE, from[k], !k, MPI_COMM_WORLD,
			  &req[2 + k]);
	}
	MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
	for (k = 0; k < 2; k++)
		for (i = 0; i < len; i++)
			if (in[k][i] != at(i, from[k])) {
				check(0, "halo", len);
				break;
			}
	free(own);
	free(in[0]);
	free(in[1]);
}

static void allreduce(size_t n)
{
	double *x = calloc(n, sizeof(*x)), *sum = calloc(n, sizeof(*sum));
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = rank + (double)i;
	MPI_Allreduce(x, sum, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		if (sum[i] != size * (size - 1) / 2.0 + (double)size * i) {
			check(0, "allreduce", n);
			break;
		}
	free(x);
	free(sum);
}

/* Sends @len bytes to the right neighbour and back. */
static void there_and_back(size_t len)
{
	unsigned char *window, *own = malloc(len), *back = malloc(len);
	MPI_Win win;
	size_t i;

	for (i = 0; i < len; i++)
		own[i] = at(i, rank);
	MPI_Win_allocate((MPI_Aint)len, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
			 &window, &win);
	MPI_Win_fence(0, win);
	MPI_Put(own, (int)len, MPI_BYTE, right(), 0, (int)len, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	MPI_Get(back, (int)len, MPI_BYTE, right(), 0, (int)len, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	for (i = 0; i < len; i++)
		if (window[i] != at(i, left()) || back[i] != own[i]) {
			check(0, "put and get", len);
			break;
		}
	MPI_Win_free(&win);
	free(own);
	free(back);
}

static void one_sided(size_t most)
{
	long *window, value = rank + 100, one = 1, got = 0;
	MPI_Win win;
	size_t len;

	for (len = 1; len < most; len *= 64)
		there_and_back(len);
	there_and_back(most);

	MPI_Win_allocate(1000 * sizeof(long), sizeof(long), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &window, &win);
	memset(window, 0, 1000 * sizeof(long));
	MPI_Win_fence(0, win);
	MPI_Put(&value, 1, MPI_LONG, right(), rank, 1, MPI_LONG, win);
	MPI_Accumulate(&one, 1, MPI_LONG, 0, 999, 1, MPI_LONG, MPI_SUM, win);
	MPI_Win_fence(0, win);
	MPI_Get(&got, 1, MPI_LONG, right(), rank, 1, MPI_LONG, win);
	MPI_Win_fence(0, win);
	check(window[left()] == left() + 100, "put", (size_t)left());
	check(got == value, "get", (size_t)got);
	check(rank || window[999] == size, "accumulate", (size_t)window[999]);
	MPI_Win_free(&win);
}

/* Sends messages in one order and receives them in another. */
static void many(void)
{
	static int out[MANY], in[MANY];
	MPI_Request req[2 * MANY];
	int i;

	for (i = 0; i < MANY; i++) {
		out[i] = rank * 1000 + i;
		MPI_Isend(&out[i], 1, MPI_INT, right(), i, MPI_COMM_WORLD,
			  &req[i]);
	}
	for (i = MANY; i--;)
		MPI_Irecv(&in[i], 1, MPI_INT, left(), i, MPI_COMM_WORLD,
			  &req[MANY + i]);
	MPI_Waitall(2 * MANY, req, MPI_STATUSES_IGNORE);
	for (i = 0; i < MANY; i++)
		check(in[i] == left() * 1000 + i, "many", (size_t)i);
}

#define COMMS	3	/* communicators besides MPI_COMM_WORLD; see ofi.t */

/* Sends messages with the same tags on several communicators at once. */
static void communicators(void)
{
	MPI_Request req[2 * COMMS];
	int out[COMMS], in[COMMS], i;
	MPI_Comm comm[COMMS];

	for (i = 0; i < COMMS; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
		out[i] = rank * 100 + i;
	}
	for (i = COMMS; i--;)
		MPI_Irecv(&in[i], 1, MPI_INT, left(), 3, comm[i], &req[i]);
	for (i = 0; i < COMMS; i++)
		MPI_Isend(&out[i], 1, MPI_INT, right(), 3, comm[i],
			  &req[COMMS + i]);
	MPI_Waitall(2 * COMMS, req, MPI_STATUSES_IGNORE);
	for (i = 0; i < COMMS; i++) {
		check(in[i] == left() * 100 + i, "communicators", (size_t)i);
		MPI_Comm_free(&comm[i]);
	}
}

static void messages(size_t most)
{
	size_t len;

	ring();
	for (len = 1; len <= most; len *= 4)
		halo(len);
	for (len = 1; len * sizeof(double) < most; len *= 8)
		allreduce(len);
	allreduce(most / sizeof(double));
	many();
	communicators();
}

int main(int argc, char **argv)
{
	int all = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc == 3 && !strcmp(argv[1], "messages"))
		messages(strtoul(argv[2], NULL, 10) << 20);
	else if (argc == 3 && !strcmp(argv[1], "one-sided"))
		one_sided(strtoul(argv[2], NULL, 10) << 20);
	else
		check(0, "mpi-test messages|one-sided MEBIBYTES", 0);
	MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (!rank && !all)
		printf("%d processes: good\n", size);
	MPI_Finalize();
	return bad;
}
