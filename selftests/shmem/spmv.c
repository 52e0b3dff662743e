// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N spmv: powers of a sparse matrix, in stripes of rows.  A PE holds
 * the elements of the vector that belong to its rows, and gets other elements
 * that its rows need from their PEs.  The vector is divided by its largest
 * element after each product.  Each PE compares its elements with the result of a
 * single process, bit by bit.
 */
#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS	700
#define MOST	9	/* most non-zero elements of a row */
#define STEPS	12

/**
 * struct matrix - rows of a sparse matrix
 * @n: rows
 * @begin: first element of each row, and end of the last row
 * @column: of each element
 * @value: of each element
 */
struct matrix {
	int n;
	int begin[ROWS + 1];
	int column[ROWS * MOST];
	double value[ROWS * MOST];
};

static struct matrix all, mine;
static double largest;

static unsigned long mix(unsigned long x)
{
	x *= 0x9e3779b97f4a7c15UL;
	x ^= x >> 29;
	return x * 0xbf58476d1ce4e5b9UL >> 40;
}

/* Rows have one to MOST elements, in any columns. */
static void fill(struct matrix *a, int first, int n)
{
	int row, k;

	a->n = n;
	for (row = 0; row < n; row++) {
		unsigned long seed = (unsigned long)(first + row) * MOST;
		int length = 1 + (int)(mix(seed + 1000003) % MOST);

		for (k = 0; k < length; k++) {
			int at = a->begin[row] + k;
			unsigned long x = mix(seed + (unsigned long)k);

			a->column[at] = (int)(x % ROWS);
			a->value[at] = (double)(x % 1000) / 7.0 - 60.0;
		}
		a->begin[row + 1] = a->begin[row] + length;
	}
}

static double row_times(const struct matrix *a, int row, const double *x)
{
	double sum = 0;
	int at;

	for (at = a->begin[row]; at < a->begin[row + 1]; at++)
		sum += a->value[at] * x[a->column[at]];
	return sum;
}

static void divide(double *x, int n, double by)
{
	while (n--)
		x[n] /= by;
}

static double greatest(const double *x, int n)
{
	double most = 0;

	while (n--)
		if (fabs(x[n]) > most)
			most = fabs(x[n]);
	return most;
}

static void serial(double *x)
{
	double y[ROWS];
	int step, row;

	fill(&all, 0, ROWS);
	for (step = 0; step < STEPS; step++) {
		for (row = 0; row < ROWS; row++)
			y[row] = row_times(&all, row, x);
		divide(y, ROWS, greatest(y, ROWS));
		memcpy(x, y, sizeof(y));
	}
}

/* Return: the first row of the stripe of @pe. */
static int stripe(int pe, int n)
{
	return (int)((long)ROWS * pe / n);
}

static int owner(int row, int n)
{
	int pe = (int)((long)row * n / ROWS);

	while (stripe(pe + 1, n) <= row)
		pe++;
	return pe;
}

/* Gets the elements that the rows need into @x; marks them in @have. */
static void gather(double *x, const double *part, char *have, int n)
{
	int i;

	memset(have, 0, ROWS);
	for (i = 0; i < mine.begin[mine.n]; i++) {
		int row = mine.column[i], pe = owner(row, n);

		if (!have[row])
			shmem_get_nbi(&x[row], &part[row - stripe(pe, n)], 1, pe);
		have[row] = 1;
	}
	shmem_quiet();
}

int main(void)
{
	static double want[ROWS], x[ROWS];
	static char have[ROWS];
	int me, n, first, step, row, wrong = 0;
	double *part;

	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	first = stripe(me, n);
	fill(&mine, first, stripe(me + 1, n) - first);
	part = shmem_malloc((ROWS / (size_t)n + 1) * sizeof(*part));
	for (row = 0; row < ROWS; row++)
		want[row] = 1 + row % 3;
	for (row = 0; row < mine.n; row++)
		part[row] = want[first + row];
	for (step = 0; step < STEPS; step++) {
		shmem_barrier_all();
		gather(x, part, have, n);
		shmem_barrier_all();
		for (row = 0; row < mine.n; row++)
			part[row] = row_times(&mine, row, x);
		largest = greatest(part, mine.n);
		shmem_max_reduce(SHMEM_TEAM_WORLD, &largest, &largest, 1);
		divide(part, mine.n, largest);
	}
	serial(want);
	for (row = 0; row < mine.n; row++)
		wrong += memcmp(&part[row], &want[first + row], sizeof(*part)) != 0;
	printf("spmv: PE %d: %d errors\n", me, wrong);
	shmem_finalize();
	return wrong != 0;
}
