/* SPDX-License-Identifier: GPL-2.0-only */
/* Matrix Market files. */
#ifndef ANG_APPS_MTX_H
#define ANG_APPS_MTX_H

#include "app.h"
#include "csr.h"

/**
 * struct mtx - a square matrix as a list of elements
 * @n: rows and columns
 * @list: elements; an element that symmetry implies follows its mirror image
 * @count: number of them
 */
struct mtx {
	uint64_t n;
	struct csr_entry *list;
	uint64_t count;
};

/**
 * mtx_read() - read a Matrix Market file
 * @app: process that records errors, with the number of the line
 * @path: file: coordinate, real, integer or pattern, general or symmetric
 * @m: out
 *
 * Return: 0 or a negative errno.
 */
int mtx_read(struct app *app, const char *path, struct mtx *m);
void mtx_free(struct mtx *m);

#endif /* ANG_APPS_MTX_H */
