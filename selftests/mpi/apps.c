// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Applications as plain MPI programs, independent of adapters.
 *
 * 	mpirun -n N apps heat2d CELLS STEPS	non-linear heat equation: halos by
 * 				messages, the time step by a maximum over all
 * 	mpirun -n N apps spmv ROWS STEPS	conjugate gradients: vectors by
 * 				MPI_Iallgatherv, products by sums over all
 *
 * Rank 0 prints "bits HASH" of all bits of the result, and of the remaining
 * error, so that two runs can be compared.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/*
 * Return: the first row of a process; the rows of the last process end before
 * @n.
 */
static int first_row(int n, int process)
{
	return (int)((long)n * process / size);
}

static uint64_t hash_bytes(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 14695981039346656037ULL;

	while (len--)
		h = (h ^ *p++) * 1099511628211ULL;
	return h;
}

/* Prints a hash of the bits of all rows and of @rest. */
static void print_bits(const double *mine, int n, int width, double rest)
{
	int *counts = calloc((size_t)size, sizeof(int));
	int *displs = calloc((size_t)size, sizeof(int)), i;
	double *all = calloc((size_t)n * (size_t)width + 1, sizeof(double));

	for (i = 0; i < size; i++) {
		displs[i] = first_row(n, i) * width;
		counts[i] = first_row(n, i + 1) * width - displs[i];
	}
	MPI_Gatherv(mine, counts[rank], MPI_DOUBLE, all, counts, displs,
		    MPI_DOUBLE, 0, MPI_COMM_WORLD);
	all[(size_t)n * (size_t)width] = rest;
	if (!rank)
		printf("bits %016llx, rest %.3g\n", (unsigned long long)
		       hash_bytes(all, ((size_t)n * (size_t)width + 1) *
				  sizeof(double)), rest);
	free(counts);
	free(displs);
	free(all);
}

/* Gets the rows above and below those of this process from the neighbours. */
static void exchange(double *t, int rows, int width)
{
	int up = rank ? rank - 1 : MPI_PROC_NULL;
	int down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	MPI_Request reqs[4];

	MPI_Irecv(t, width, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &reqs[0]);
	MPI_Irecv(t + (rows + 1) * width, width, MPI_DOUBLE, down, 2,
		  MPI_COMM_WORLD, &reqs[1]);
	MPI_Isend(t + width, width, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &reqs[2]);
	MPI_Isend(t + rows * width, width, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
		  &reqs[3]);
	MPI_Waitall(4, reqs, MPI_STATUSES_IGNORE);
}

static double diffusivity(double t)
{
	return 0.1 + 0.05 * t * t;
}

/* Return: the maximum diffusivity over all processes. */
static double greatest(const double *t, int rows, int width)
{
	double mine = 0, all;
	int i;

	for (i = width; i < (rows + 1) * width; i++)
		if (diffusivity(t[i]) > mine)
			mine = diffusivity(t[i]);
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

static void step(const double *t, double *next, int first, int rows, int n, double dt)
{
	int i, k;

	for (i = 1; i <= rows; i++)
		for (k = 0; k < n; k++) {
			int at = i * n + k, row = first + i - 1;

			/* The border of the plate keeps its temperature. */
			next[at] = t[at];
			if (row && row < n - 1 && k && k < n - 1)
				next[at] += dt * diffusivity(t[at]) *
					(t[at - 1] + t[at + 1] + t[at - n] +
					 t[at + n] - 4 * t[at]);
		}
}

static void heat2d(int n, int steps)
{
	int first = first_row(n, rank), rows = first_row(n, rank + 1) - first;
	double *t = calloc((size_t)(rows + 2) * (size_t)n, sizeof(double)), *swap;
	double *next = calloc((size_t)(rows + 2) * (size_t)n, sizeof(double));
	double time = 0, dt;
	int i;

	for (i = 0; i < rows * n; i++)
		t[n + i] = (double)((first * n + i) * 7 % 13) / 13;
	while (steps--) {
		exchange(t, rows, n);
		dt = 0.2 / greatest(t, rows, n);
		step(t, next, first, rows, n, dt);
		swap = t;
		t = next;
		next = swap;
		time += dt;
	}
	MPI_Bcast(&time, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
	print_bits(t + n, n, 1 * n, time);
	free(t);
	free(next);
}

static double dot(const double *a, const double *b, int n)
{
	double mine = 0, all;
	int i;

	for (i = 0; i < n; i++)
		mine += a[i] * b[i];
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

/*
 * Return: the product of @x and row @i of a symmetric matrix that is dominated
 * by its diagonal.
 */
static double row_times(int i, int n, const double *x)
{
	const int far[] = { 1, 7, 31 };
	double sum = 7.5 * x[i];
	unsigned int k;

	for (k = 0; k < 3; k++) {
		if (i >= far[k])
			sum -= x[i - far[k]];
		if (i + far[k] < n)
			sum -= x[i + far[k]];
	}
	return sum;
}

static void spmv(int n, int steps)
{
	int first = first_row(n, rank), rows = first_row(n, rank + 1) - first, i;
	int *counts = calloc((size_t)size, sizeof(int));
	int *displs = calloc((size_t)size, sizeof(int));
	double *v = calloc((size_t)n * 5, sizeof(double));
	double *all = v, *x = v + n, *r = v + 2 * n, *p = v + 3 * n, *q = v + 4 * n;
	double rr, old, alpha;
	MPI_Request req;

	for (i = 0; i < size; i++) {
		displs[i] = first_row(n, i);
		counts[i] = first_row(n, i + 1) - displs[i];
	}
	for (i = 0; i < rows; i++)
		p[i] = r[i] = (double)((first + i) % 10) / 3;
	rr = dot(r, r, rows);
	while (steps--) {
		MPI_Iallgatherv(p, rows, MPI_DOUBLE, all, counts, displs,
				MPI_DOUBLE, MPI_COMM_WORLD, &req);
		MPI_Wait(&req, MPI_STATUS_IGNORE);
		for (i = 0; i < rows; i++)
			q[i] = row_times(first + i, n, all);
		alpha = rr / dot(p, q, rows);
		for (i = 0; i < rows; i++) {
			x[i] += alpha * p[i];
			r[i] -= alpha * q[i];
		}
		old = rr;
		rr = dot(r, r, rows);
		for (i = 0; i < rows; i++)
			p[i] = r[i] + rr / old * p[i];
	}
	print_bits(x, n, 1, rr);
	free(counts);
	free(displs);
	free(v);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 64, steps = argc > 3 ? atoi(argv[3]) : 20;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 1 && !strcmp(argv[1], "heat2d"))
		heat2d(n, steps);
	else if (argc > 1 && !strcmp(argv[1], "spmv"))
		spmv(n, steps);
	else
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Finalize();
	return 0;
}
