/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reductions compared with the MPI library alone: each datatype, each operation.
 */
#ifndef REDUCTIONS_H
#define REDUCTIONS_H

#include <mpi.h>
#include <stddef.h>

#define MAX_COUNT	40000
#define COUNTS		9
#define TYPES		34
#define CLASSES		14	/* number of first types, at least one of each class */
#define OPS		12

/*
 * SIGNED, UNSIGNED: integers of C; INTEGER: others, which are signed and have no
 * logical operations.
 */
enum kind { SIGNED, UNSIGNED, REAL, COMPLEX, PAIR, INTEGER };

struct type {
	const char *name;
	MPI_Datatype type;
	enum kind kind;
	size_t bytes;
	void (*set)(void *buf, int i, int v);
};

/* Kinds of types that have an operation, as bits. */
#define B(kind)	(1 << (kind))
struct op {
	const char *name;
	MPI_Op op;
	int kinds;
};

/* Reductions whose members get different results. */
enum scattering {
	SCAN, EXSCAN, REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, SCATTERINGS
};

extern int bad;
extern const int counts[COUNTS];
extern const struct type types[TYPES];
extern const struct op ops[OPS];
extern unsigned char *mine, *got, *want;

void reductions_open(void);
void reductions_close(void);
void check(int good, const char *what, const char *where, int n);
void allreduce(int c, const struct type *t, const struct op *op, int count,
	       int in_place);
void reduce(int c, const struct type *t, const struct op *op, int count, int in_place,
	    int root);
/* @count: elements of the vector, of the longest block if there are blocks */
void scattered(int c, enum scattering which, const struct type *t, const struct op *op,
	       int count, int in_place);
/*
 * Tests a datatype of each class with every operation, on one communicator, in
 * some lengths.
 */
void each_reduction(int c);
void each_scattering(int c);
/*
 * Tests every datatype with every operation.  Open MPI 4.1 alone fails: it
 * orders two types wrongly.
 */
void each_type(int c);

#endif /* REDUCTIONS_H */
