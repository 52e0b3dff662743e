// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reductions compared with the MPI library alone; see coll.c. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reductions.h"
#include "world.h"

#define GUARD		0x5A
#define MOST_MEMBERS	32
#define MAX_BYTES	(MAX_COUNT * 16 + 64)

int bad;
unsigned char *mine, *got, *want;
const int counts[COUNTS] = { 0, 1, 2, 7, 64, 1000, 16384, 16390, MAX_COUNT };

void reductions_open(void)
{
	mine = malloc(MAX_BYTES);
	got = malloc(MAX_BYTES);
	want = malloc(MAX_BYTES);
}

void reductions_close(void)
{
	free(mine);
	free(got);
	free(want);
}

void check(int good, const char *what, const char *where, int n)
{
	if (good || bad > 20)
		return;
	printf("# rank %d: %s, %s, %d\n", rank, what, where, n);
	bad++;
}

/*
 * Functions that set element @i to a small whole number, so that sums and
 * products of floats are exact.
 */
#define SETTER(name, type)						\
	static void set_##name(void *buf, int i, int v)			\
	{								\
		((type *)buf)[i] = (type)v;				\
	}
SETTER(char, signed char)
SETTER(short, short)
SETTER(int, int)
SETTER(unsigned, unsigned int)
SETTER(long, long)
SETTER(ulong, unsigned long)
SETTER(float, float)
SETTER(double, double)
SETTER(ldouble, long double)
SETTER(llong, long long)
SETTER(ullong, unsigned long long)

#define PAIR_SETTER(name, type)						\
	static void set_##name(void *buf, int i, int v)			\
	{								\
		struct { type v; int at; } *p = buf;			\
									\
		p[i].v = (type)v;					\
		p[i].at = rank * 3 + i;					\
	}
PAIR_SETTER(2int, int)
PAIR_SETTER(float_int, float)
PAIR_SETTER(double_int, double)
PAIR_SETTER(long_int, long)

/*
 * Open MPI 4.1 itself orders two types wrongly: MPI_UNSIGNED_LONG as signed,
 * MPI_OFFSET as unsigned numbers.  So their elements are not negative, and only
 * extremes() tests their order.
 */
static void set_positive(void *buf, int i, int v)
{
	((long *)buf)[i] = v < 0 ? -v : v;
}

static void set_float_complex(void *buf, int i, int v)
{
	((float *)buf)[2 * i] = (float)v;
	((float *)buf)[2 * i + 1] = (float)(-v - i);
}

static void set_complex(void *buf, int i, int v)
{
	((double *)buf)[2 * i] = v;
	((double *)buf)[2 * i + 1] = -v - i;
}

const struct type types[] = {
	{ "char", MPI_SIGNED_CHAR, SIGNED, 1, set_char },
	{ "short", MPI_SHORT, SIGNED, 2, set_short },
	{ "int", MPI_INT, SIGNED, 4, set_int },
	{ "unsigned", MPI_UNSIGNED, UNSIGNED, 4, set_unsigned },
	{ "long", MPI_LONG, SIGNED, 8, set_long },
	{ "uint64_t", MPI_UINT64_T, UNSIGNED, 8, set_ulong },
	{ "float", MPI_FLOAT, REAL, 4, set_float },
	{ "double", MPI_DOUBLE, REAL, 8, set_double },
	{ "long double", MPI_LONG_DOUBLE, REAL, 16, set_ldouble },
	{ "double complex", MPI_C_DOUBLE_COMPLEX, COMPLEX, 16, set_complex },
	{ "2int", MPI_2INT, PAIR, 8, set_2int },
	{ "float_int", MPI_FLOAT_INT, PAIR, 8, set_float_int },
	{ "double_int", MPI_DOUBLE_INT, PAIR, 16, set_double_int },
	{ "long_int", MPI_LONG_INT, PAIR, 16, set_long_int },
	/* Here the first CLASSES types end. */
	{ "long long", MPI_LONG_LONG, SIGNED, 8, set_llong },
	{ "unsigned long", MPI_UNSIGNED_LONG, UNSIGNED, 8, set_positive },
	{ "unsigned long long", MPI_UNSIGNED_LONG_LONG, UNSIGNED, 8, set_ullong },
	{ "int32_t", MPI_INT32_T, SIGNED, 4, set_int },
	{ "int64_t", MPI_INT64_T, SIGNED, 8, set_long },
	{ "uint32_t", MPI_UINT32_T, UNSIGNED, 4, set_unsigned },
	{ "aint", MPI_AINT, INTEGER, 8, set_long },
	{ "offset", MPI_OFFSET, INTEGER, 8, set_positive },
	{ "count", MPI_COUNT, INTEGER, 8, set_long },
	{ "float complex", MPI_C_FLOAT_COMPLEX, COMPLEX, 8, set_float_complex },
	{ "integer", MPI_INTEGER, INTEGER, 4, set_int },
	{ "integer4", MPI_INTEGER4, INTEGER, 4, set_int },
	{ "integer8", MPI_INTEGER8, INTEGER, 8, set_long },
	{ "real", MPI_REAL, REAL, 4, set_float },
	{ "real4", MPI_REAL4, REAL, 4, set_float },
	{ "real8", MPI_REAL8, REAL, 8, set_double },
	{ "double precision", MPI_DOUBLE_PRECISION, REAL, 8, set_double },
	{ "complex", MPI_COMPLEX, COMPLEX, 8, set_float_complex },
	{ "complex of double precision", MPI_DOUBLE_COMPLEX, COMPLEX, 16, set_complex },
	{ "2integer", MPI_2INTEGER, PAIR, 8, set_2int },
};
static_assert(sizeof(types) == TYPES * sizeof(*types), "types");

#define WHOLE	(B(SIGNED) | B(UNSIGNED))
const struct op ops[] = {
	{ "sum", MPI_SUM, WHOLE | B(INTEGER) | B(REAL) | B(COMPLEX) },
	{ "prod", MPI_PROD, WHOLE | B(INTEGER) | B(REAL) | B(COMPLEX) },
	{ "min", MPI_MIN, WHOLE | B(INTEGER) | B(REAL) },
	{ "max", MPI_MAX, WHOLE | B(INTEGER) | B(REAL) },
	{ "band", MPI_BAND, WHOLE | B(INTEGER) },
	{ "bor", MPI_BOR, WHOLE | B(INTEGER) },
	{ "bxor", MPI_BXOR, WHOLE | B(INTEGER) },
	{ "land", MPI_LAND, WHOLE },
	{ "lor", MPI_LOR, WHOLE },
	{ "lxor", MPI_LXOR, WHOLE },
	{ "minloc", MPI_MINLOC, B(PAIR) },
	{ "maxloc", MPI_MAXLOC, B(PAIR) },
};
static_assert(sizeof(ops) == OPS * sizeof(*ops), "operations");

static int value(const struct op *op, int i, int salt)
{
	int v = (rank * 7 + i * 5 + salt * 3) % 11 - 5;

	/*
	 * Products of values must stay small; logical operations need zeros
	 * among the values.
	 */
	if (op->op == MPI_PROD)
		return v < 0 ? -1 : 1;
	return op->op == MPI_LAND || op->op == MPI_LOR ? v > 4 - salt % 10 : v;
}

static void fill(const struct type *t, const struct op *op, int count, int salt)
{
	int i;

	memset(mine, 0, (size_t)count * t->bytes);
	for (i = 0; i < count; i++)
		t->set(mine, i, value(op, i, salt));
}

/* Initializes both results: with the contribution for a call in place, else with zeros. */
static void prepare(const struct type *t, int count, int in_place)
{
	size_t len = (size_t)count * t->bytes;

	memset(got, GUARD, len + 64);
	if (!in_place)
		memset(got, 0, len);
	else
		memcpy(got, mine, len);
	memcpy(want, got, len + 64);
}

static void same(const struct type *t, const struct op *op, const char *what,
		 int c, int count)
{
	char text[96];

	snprintf(text, sizeof(text), "%s of %s, %s", what, t->name, op->name);
	check(!memcmp(got, want, (size_t)count * t->bytes + 64), text,
	      comm_names[c], count);
}

void allreduce(int c, const struct type *t, const struct op *op, int count,
		      int in_place)
{
	const void *in = in_place ? MPI_IN_PLACE : mine;

	fill(t, op, count, c + count);
	prepare(t, count, in_place);
	MPI_Allreduce(in, got, count, t->type, op->op, comms[c]);
	PMPI_Allreduce(in, want, count, t->type, op->op, comms[c]);
	same(t, op, in_place ? "allreduce in place" : "allreduce", c, count);
}

void reduce(int c, const struct type *t, const struct op *op, int count,
		   int in_place, int root)
{
	const void *in;
	int here;

	MPI_Comm_rank(comms[c], &here);
	in_place = in_place && here == root;
	in = in_place ? MPI_IN_PLACE : mine;
	fill(t, op, count, c + count);
	prepare(t, count, in_place);
	MPI_Reduce(in, got, count, t->type, op->op, root, comms[c]);
	PMPI_Reduce(in, want, count, t->type, op->op, root, comms[c]);
	same(t, op, in_place ? "reduce in place" : "reduce", c, count);
}

/* Elements of the block of member @to: blocks have different lengths, also 0. */
static int block_of(int to, int count)
{
	return count ? (count + to * 3) % (count + 1) : 0;
}

static int call(int c, enum scattering which, int profiled, const void *in, void *out,
		int count, const int *blocks, const struct type *t, const struct op *op)
{
	switch (which) {
	case SCAN:
		return (profiled ? PMPI_Scan : MPI_Scan)(in, out, count, t->type, op->op,
							 comms[c]);
	case EXSCAN:
		return (profiled ? PMPI_Exscan : MPI_Exscan)(in, out, count, t->type,
							     op->op, comms[c]);
	case REDUCE_SCATTER_BLOCK:
		return (profiled ? PMPI_Reduce_scatter_block : MPI_Reduce_scatter_block)(
			in, out, count, t->type, op->op, comms[c]);
	default:
		return (profiled ? PMPI_Reduce_scatter : MPI_Reduce_scatter)(
			in, out, blocks, t->type, op->op, comms[c]);
	}
}

/*
 * Makes the results of logical operations 0 or 1, as libangara-mpi does.  Of the MPI
 * library, the first member's result of a scan is its own contribution, with any value.
 */
static void truths(const struct type *t, const struct op *op, unsigned char *at,
		   int count)
{
	int i;

	if (op->op != MPI_LAND && op->op != MPI_LOR && op->op != MPI_LXOR)
		return;
	for (i = 0; i < count; i++) {
		static const unsigned char zeros[16];
		int v = memcmp(at + (size_t)i * t->bytes, zeros, t->bytes) != 0;

		t->set(at, i, v);
	}
}

void scattered(int c, enum scattering which, const struct type *t, const struct op *op,
	       int count, int in_place)
{
	static const char *const names[2][SCATTERINGS] = {
		{ "scan", "exscan", "reduce_scatter_block", "reduce_scatter" },
		{ "scan in place", "exscan in place", "reduce_scatter_block in place",
		  "reduce_scatter in place" },
	};
	int blocks[MOST_MEMBERS], n, here, i, all = 0, result = count;
	const void *in = in_place ? MPI_IN_PLACE : mine;

	MPI_Comm_size(comms[c], &n);
	MPI_Comm_rank(comms[c], &here);
	for (i = 0; i < n; i++) {
		blocks[i] = block_of(i, count);
		all += which == REDUCE_SCATTER ? blocks[i] : count;
	}
	if (which == SCAN || which == EXSCAN)
		all = count;
	else if (which == REDUCE_SCATTER)
		result = blocks[here];
	fill(t, op, all, c + count);
	prepare(t, all, in_place);
	call(c, which, 0, in, got, count, blocks, t, op);
	call(c, which, 1, in, want, count, blocks, t, op);
	/*
	 * MPI leaves undefined what follows the block of a result in place, and
	 * the first member's result of exscan.
	 */
	if (in_place)
		memcpy(got + (size_t)result * t->bytes, want + (size_t)result * t->bytes,
		       (size_t)(all - result) * t->bytes);
	if (which == EXSCAN && !here)
		memcpy(got, want, (size_t)result * t->bytes);
	truths(t, op, got, result);
	truths(t, op, want, result);
	same(t, op, names[in_place][which], c, all);
}

void each_reduction(int c)
{
	int n, t, o, i;

	MPI_Comm_size(comms[c], &n);
	for (t = 0; t < CLASSES; t++)
		for (o = 0; o < OPS; o++) {
			if (!(ops[o].kinds & B(types[t].kind)))
				continue;
			for (i = 0; i < 2; i++) {
				int count = counts[(t + o + 4 * i) % COUNTS];

				allreduce(c, &types[t], &ops[o], count, i);
				reduce(c, &types[t], &ops[o], count, i,
				       (t + o) % n);
			}
		}
}

void each_scattering(int c)
{
	int n, t, o, i, which;

	MPI_Comm_size(comms[c], &n);
	for (t = 0; t < CLASSES; t++)
		for (o = 0; o < OPS; o++) {
			if (!(ops[o].kinds & B(types[t].kind)))
				continue;
			for (which = 0; which < SCATTERINGS; which++)
				for (i = 0; i < 2; i++) {
					int count = counts[(t + o + which + 4 * i) % COUNTS];

					if (which >= REDUCE_SCATTER_BLOCK)
						count /= n;
					scattered(c, which, &types[t], &ops[o], count, i);
				}
		}
}

/* Sets an element of an integer type to 1, or all its bits to ones. */
static void set_ones(const struct type *t, unsigned char *at, int ones)
{
	if (ones)
		memset(at, 0xFF, t->bytes);
	else
		t->set(at, 0, 1);
}

/*
 * Compares the minimum or maximum of 1 and all ones (-1 in a signed type) with
 * a constant, since the MPI library's own result can be wrong.
 */
static void extremes(int c, const struct type *t, const struct op *op)
{
	int here, n;

	MPI_Comm_rank(comms[c], &here);
	MPI_Comm_size(comms[c], &n);
	if (n < 2 || (op->op != MPI_MIN && op->op != MPI_MAX) ||
	    !(B(t->kind) & (WHOLE | B(INTEGER))))
		return;
	set_ones(t, mine, here % 2);
	prepare(t, 1, 0);
	set_ones(t, want, (op->op == MPI_MAX) == (t->kind == UNSIGNED));
	MPI_Allreduce(mine, got, 1, t->type, op->op, comms[c]);
	same(t, op, "allreduce of 1 and all ones", c, 1);
}

void each_type(int c)
{
	int t, o;

	for (t = 0; t < TYPES; t++)
		for (o = 0; o < OPS; o++)
			if (ops[o].kinds & B(types[t].kind)) {
				allreduce(c, &types[t], &ops[o], 7, o % 2);
				scattered(c, SCAN, &types[t], &ops[o], 7, o % 2);
				extremes(c, &types[t], &ops[o]);
			}
}
