/* SPDX-License-Identifier: GPL-2.0-only */
/* Sparse matrices: rows of a square matrix in compressed form. */
#ifndef ANG_APPS_CSR_H
#define ANG_APPS_CSR_H

#include <stdint.h>

#define CSR_MAX_ROW	256U	/* elements per row of a generated matrix */

/**
 * struct csr - some rows of a square matrix
 * @n: rows and columns of the whole matrix
 * @first: first row held
 * @rows: rows held
 * @start: rows + 1 indices into the two arrays that follow
 * @col: column of each element
 * @val: its value
 */
struct csr {
	uint64_t n;
	uint64_t first;
	uint64_t rows;
	uint64_t *start;
	uint32_t *col;
	double *val;
};

/* One element, as a file lists them. */
struct csr_entry {
	uint32_t row;
	uint32_t col;
	double val;
};

/**
 * csr_generate() - make rows of a matrix that depends on its size only
 * @m: in: n, first and rows; out: the other members
 * @d: elements per row, 1..CSR_MAX_ROW, at most n
 *
 * Return: 0 or -ENOMEM.
 */
int csr_generate(struct csr *m, uint32_t d);

/**
 * csr_collect() - make rows of a matrix from a list of its elements
 * @m: in: n, first and rows; out: the other members
 * @list: elements of the whole matrix; those of a row keep their order
 * @count: number of them
 *
 * Return: 0 or -ENOMEM.
 */
int csr_collect(struct csr *m, const struct csr_entry *list, uint64_t count);
void csr_free(struct csr *m);

/** Compute y = A x for the rows that @m holds: y[0] is row m->first, x has n elements. */
void csr_multiply(const struct csr *m, const double *x, double *y);
/**
 * Divide @x by its largest magnitude, unless that is 0. Return: the magnitude.
 */
double csr_scale(double *x, uint64_t n);

#endif /* ANG_APPS_CSR_H */
