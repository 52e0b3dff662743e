// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sparse matrices: see csr.h.  Compiled with -ffp-contract=off, so that a row
 * gives the same bits in every process.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "csr.h"

static int csr_alloc(struct csr *m, uint64_t elements)
{
	/*
	 * Allocate one more element: NULL then means a failure, also for an
	 * empty matrix.
	 */
	m->col = malloc((elements + 1) * sizeof(*m->col));
	m->val = malloc((elements + 1) * sizeof(*m->val));
	if (m->col && m->val)
		return 0;
	csr_free(m);
	return -ENOMEM;
}

void csr_free(struct csr *m)
{
	free(m->start);
	free(m->col);
	free(m->val);
	m->start = NULL;
	m->col = NULL;
	m->val = NULL;
}

/* splitmix64: element @i of a pseudo-random sequence. */
static uint64_t mix(uint64_t i)
{
	uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ULL;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
	return z ^ (z >> 31);
}

/* Insert @col into the ascending columns of a row.  Return: false: the row has @col already. */
static bool insert(uint32_t *cols, uint32_t count, uint32_t col)
{
	uint32_t i = count;

	while (i && cols[i - 1] > col)
		i--;
	if (i && cols[i - 1] == col)
		return false;
	memmove(cols + i + 1, cols + i, (count - i) * sizeof(*cols));
	cols[i] = col;
	return true;
}

/* Make the elements of a row: the diagonal and d - 1 other columns, in ascending order. */
static void generate_row(uint64_t n, uint64_t row, uint32_t d, uint32_t *cols,
			 double *vals)
{
	uint64_t seed = mix(row) ^ n;
	uint32_t count = 1, j;
	uint64_t k = 0;

	cols[0] = (uint32_t)row;
	while (count < d)
		count += insert(cols, count, (uint32_t)(mix(seed + k++) % n));
	for (j = 0; j < d; j++)
		vals[j] = (double)((mix(seed ^ cols[j]) >> 11) + 1) * 0x1p-53;
}

int csr_generate(struct csr *m, uint32_t d)
{
	uint64_t i;

	m->start = calloc(m->rows + 1, sizeof(*m->start));
	if (!m->start || csr_alloc(m, m->rows * d)) {
		csr_free(m);
		return -ENOMEM;
	}
	for (i = 0; i < m->rows; i++) {
		generate_row(m->n, m->first + i, d, m->col + i * d,
			     m->val + i * d);
		m->start[i + 1] = (i + 1) * d;
	}
	return 0;
}

static bool held(const struct csr *m, uint32_t row)
{
	return row >= m->first && row - m->first < m->rows;
}

int csr_collect(struct csr *m, const struct csr_entry *list, uint64_t count)
{
	uint64_t i, at, n = 0;

	m->start = calloc(m->rows + 2, sizeof(*m->start));
	if (!m->start)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		if (held(m, list[i].row))
			m->start[list[i].row - m->first + 2]++;
	for (i = 2; i <= m->rows + 1; i++)
		m->start[i] += m->start[i - 1];
	n = m->start[m->rows + 1];
	if (csr_alloc(m, n))
		return -ENOMEM;
	/*
	 * start[row + 1]: place of the row's next element; after the loop, the
	 * end of the row.
	 */
	for (i = 0; i < count; i++) {
		if (!held(m, list[i].row))
			continue;
		at = m->start[list[i].row - m->first + 1]++;
		m->col[at] = list[i].col;
		m->val[at] = list[i].val;
	}
	return 0;
}

void csr_multiply(const struct csr *m, const double *x, double *y)
{
	uint64_t i, k;

	for (i = 0; i < m->rows; i++) {
		double sum = 0;

		for (k = m->start[i]; k < m->start[i + 1]; k++)
			sum += m->val[k] * x[m->col[k]];
		y[i] = sum;
	}
}

double csr_scale(double *x, uint64_t n)
{
	double max = 0;
	uint64_t i;

	for (i = 0; i < n; i++) {
		double a = x[i] < 0 ? -x[i] : x[i];

		if (a > max)
			max = a;
	}
	if (max > 0)
		for (i = 0; i < n; i++)
			x[i] /= max;
	return max;
}
