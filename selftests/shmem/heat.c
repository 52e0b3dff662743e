// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N heat: the heat equation on a square, in stripes of rows.  A PE
 * puts its first and last row to its neighbours, with a signal that counts
 * steps.  PE 0 compares the result with that of a single process, bit by bit.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE	96	/* rows and columns, with the fixed edge */
#define STEPS	60

static uint64_t above, below;	/* steps completed by the neighbours' rows */

static double at_start(int row, int column)
{
	return row == 0 ? 100.0 : (double)((row * 7 + column * 3) % 11);
}

/* Computes rows 1 to @rows of @to from all rows of @from. */
static void step(double *to, const double *from, int rows)
{
	int i, j;

	for (i = 1; i <= rows; i++)
		for (j = 1; j < SIDE - 1; j++) {
			const double *c = from + i * SIDE + j;

			to[i * SIDE + j] = *c + 0.2 * (c[-SIDE] + c[SIDE] + c[-1] + c[1] -
						       4 * *c);
		}
}

static void fill(double *u, int first, int rows)
{
	int i, j;

	for (i = 0; i < rows + 2; i++)
		for (j = 0; j < SIDE; j++)
			u[i * SIDE + j] = at_start(first - 1 + i, j);
}

/* Return: number of cells that differ. */
static int compare(const double *all)
{
	static double u[2][SIDE * SIDE];
	int i, wrong = 0;

	fill(u[0], 1, SIDE - 2);
	fill(u[1], 1, SIDE - 2);
	for (i = 0; i < STEPS; i++)
		step(u[(i + 1) % 2], u[i % 2], SIDE - 2);
	for (i = SIDE; i < SIDE * (SIDE - 1); i++)
		wrong += memcmp(&u[STEPS % 2][i], &all[i], sizeof(double)) != 0;
	return wrong;
}

int main(void)
{
	double *u[2], *all;
	int me, n, first, rows, most, i, wrong = 0;

	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	first = 1 + (SIDE - 2) * me / n;
	rows = 1 + (SIDE - 2) * (me + 1) / n - first;
	most = (SIDE - 2) / n + 3;
	for (i = 0; i < 2; i++) {
		u[i] = shmem_malloc((size_t)most * SIDE * sizeof(double));
		fill(u[i], first, rows);
	}
	all = shmem_calloc(SIDE * SIDE, sizeof(double));
	for (i = 0; i < STEPS; i++) {
		double *now = u[i % 2], *next = u[(i + 1) % 2];
		int of_above = 1 + (SIDE - 2) * me / n - (1 + (SIDE - 2) * (me - 1) / n);

		step(next, now, rows);
		if (me)
			shmem_put_signal(next + (of_above + 1) * SIDE, next + SIDE, SIDE, &below, 1,
					 SHMEM_SIGNAL_ADD, me - 1);
		if (me < n - 1)
			shmem_put_signal(next, next + rows * SIDE, SIDE, &above, 1,
					 SHMEM_SIGNAL_ADD, me + 1);
		if (me)
			shmem_wait_until(&above, SHMEM_CMP_GE, (uint64_t)i + 1);
		if (me < n - 1)
			shmem_wait_until(&below, SHMEM_CMP_GE, (uint64_t)i + 1);
	}
	shmem_put(all + first * SIDE, u[STEPS % 2] + SIDE, (size_t)rows * SIDE, 0);
	shmem_barrier_all();
	if (!me)
		wrong = compare(all);
	printf("heat: PE %d: %d errors\n", me, wrong);
	shmem_finalize();
	return wrong != 0;
}
