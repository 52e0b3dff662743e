// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The contributions of members to a collective, and the results, both computed
 * from the members' numbers, without the MPI library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

int bad;
MPI_Op user_op;

static const char *const coll_names[COLLS] = {
	"barrier", "bcast", "reduce", "allreduce", "scan", "exscan",
	"reduce_scatter_block", "reduce_scatter", "gather", "gatherv", "scatter",
	"scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
};

static const char *const form_names[FORMS] = {
	"blocking", "non-blocking", "persistent", "not chosen",
};

static void put(int type, char *at, int i, int v)
{
	if (type == INT)
		((int *)at)[i] = v;
	else if (type == DOUBLE)
		((double *)at)[i] = v;
	else
		((short *)at)[i] = (short)v;
}

/* Composes two maps x -> p x + q modulo a prime; an int holds p and q. */
static int compose(int first, int second)
{
	int p = (second >> 8) * (first >> 8) % 251;
	int q = ((second >> 8) * (first & 255) + (second & 255)) % 251;

	return p << 8 | q;
}

static void user_function(void *in, void *out, int *n, MPI_Datatype *type)
{
	int i;

	for (i = 0; i < *n; i++)
		if (*type == MPI_INT)
			((int *)out)[i] = compose(((int *)in)[i], ((int *)out)[i]);
}

void ops_make(void)
{
	MPI_Op_create(user_function, 0, &user_op);
}

void ops_free(void)
{
	MPI_Op_free(&user_op);
}

MPI_Op op_of(const struct job *j)
{
	const MPI_Op ops[OPS] = { MPI_SUM, MPI_MAX, MPI_LAND, user_op };

	return ops[j->op];
}

/* Return: element @e of the contribution of member @i to a reduction. */
static int part(const struct job *j, int i, int e)
{
	int v = (i * 5 + e * 3 + j->salt) % 11 - 4;

	if (j->op == USER)
		return (v + 5) << 8 | (v * v + e) % 251;
	return j->op == LAND ? v > -4 : v;
}

/* Return: element @e of the reduction over members 0 to @last. */
static int reduced(const struct job *j, int last, int e)
{
	int v = part(j, 0, e), i;

	for (i = 1; i <= last; i++) {
		int x = part(j, i, e);

		if (j->op == USER)
			v = compose(v, x);
		else if (j->op == MAX)
			v = v > x ? v : x;
		else
			v = j->op == SUM ? v + x : v && x;
	}
	return v;
}

/* Return: element @e of the data of member @from for member @to. */
static int item(const struct job *j, int from, int to, int e)
{
	return j->salt * 1000 + from * 97 + to * 31 + e;
}

int is_v(enum coll coll)
{
	return coll == GATHERV || coll == SCATTERV || coll == ALLGATHERV ||
	       coll == ALLTOALLV;
}

/*
 * Return: number of elements from @from for @to; symmetric in @from and @to where
 * calls in place need that.
 */
int num(const struct job *j, int from, int to)
{
	if (j->coll == ALLGATHERV || j->coll == REDUCE_SCATTER)
		return (j->count + from * 7 + j->salt) % (j->count + 3);
	return is_v(j->coll) ? (j->count + (from + to) * 7) % (j->count + 3) :
			       j->count;
}

static int scale(const struct job *j, int side)
{
	return j->gaps[side] ? 3 : 1;
}

/* Writes the data from member @from for @to to block @b of the input (side 0) or output. */
static void write_block(const struct job *j, char *at, int side, int b, int from,
			int to)
{
	const int *displs = side ? j->odispls : j->idispls;
	int e, n = num(j, from, to);
	int first = is_v(j->coll) ? displs[b] : b * j->count;

	for (e = 0; e < n; e++)
		((int *)at)[(first + e) * scale(j, side)] = item(j, from, to, e);
}

static int own_only(const struct job *j, int side)
{
	switch (j->coll) {
	case GATHER: case GATHERV: case ALLGATHER: case ALLGATHERV:
		return !side;
	case SCATTER: case SCATTERV:
		return side;
	default:
		return 0;
	}
}

/* Counts and displacements: blocks in reverse order, one element between them. */
static void set_arrays(struct job *j)
{
	int at[2] = { 0, 0 }, b, from, to;

	for (b = j->n - 1; b >= 0; b--) {
		from = j->coll == SCATTERV ? j->root : j->coll == ALLTOALLV ?
		       j->me : b;
		to = j->coll == GATHERV ? j->root : b;
		j->icounts[b] = num(j, from, to);
		from = j->coll == SCATTERV ? j->root : b;
		to = j->coll == GATHERV ? j->root : j->coll == REDUCE_SCATTER ?
		     b : j->me;
		j->ocounts[b] = num(j, from, to);
		j->idispls[b] = at[0];
		j->odispls[b] = at[1];
		at[0] += j->icounts[b] + 1;
		at[1] += j->ocounts[b] + 1;
	}
	if (own_only(j, 0))
		memset(j->idispls, 0, sizeof(j->idispls));
	if (own_only(j, 1))
		memset(j->odispls, 0, sizeof(j->odispls));
}

static int is_reduction(const struct job *j)
{
	return j->coll >= REDUCE && j->coll <= REDUCE_SCATTER;
}

static void fill_reduction(struct job *j)
{
	int scatters = j->coll == REDUCE_SCATTER_BLOCK || j->coll == REDUCE_SCATTER;
	int all = scatters && j->coll == REDUCE_SCATTER ? 0 :
		  scatters ? j->count * j->n : j->count, first = 0, e, b, mine;
	char *in = j->in_place ? j->out : j->in;
	int last = j->coll == SCAN ? j->me : j->coll == EXSCAN ? j->me - 1 :
		   j->n - 1;

	if (j->coll == REDUCE_SCATTER)
		for (b = 0; b < j->n; b++) {
			if (b < j->me)
				first += j->ocounts[b];
			all += j->ocounts[b];
		}
	else if (scatters)
		first = j->me * j->count;
	for (e = 0; e < all; e++)
		put(j->type, in, e, part(j, j->me, e));
	memcpy(j->want, j->out, j->len);
	if (j->coll == REDUCE && j->me != j->root)
		return;
	mine = j->coll == REDUCE_SCATTER ? j->ocounts[j->me] : j->count;
	for (e = 0; e < mine && last >= 0; e++)
		put(j->type, j->want, e, reduced(j, last, first + e));
}

/* Does this member send (side 0), or receive (side 1)? */
static int takes_part(const struct job *j, int side)
{
	switch (j->coll) {
	case GATHER: case GATHERV:
		return !side || j->me == j->root;
	case SCATTER: case SCATTERV:
		return side || j->me == j->root;
	default:
		return 1;
	}
}

static void fill_blocks(struct job *j)
{
	int scatter = j->coll == SCATTER || j->coll == SCATTERV;
	int all = j->coll == ALLGATHER || j->coll == ALLGATHERV;
	int to_all = j->coll == ALLTOALL || j->coll == ALLTOALLV;
	int b, side = j->in_place && !scatter;
	char *in = side ? j->out : j->in;

	if (takes_part(j, 0)) {
		if (own_only(j, 0))
			write_block(j, in, side, side ? j->me : 0, j->me,
				    all ? 0 : j->root);
		else
			for (b = 0; b < j->n; b++)
				write_block(j, in, side, b, j->me, b);
	}
	memcpy(j->want, j->out, j->len);
	if (!takes_part(j, 1) || (scatter && j->in_place))
		return;
	if (scatter) {
		write_block(j, j->want, 1, 0, j->root, j->me);
		return;
	}
	for (b = 0; b < j->n; b++)
		write_block(j, j->want, 1, b, b, all ? 0 : to_all ? j->me : j->root);
}

static void fill_bcast(struct job *j)
{
	if (j->me == j->root)
		write_block(j, j->out, 1, 0, j->root, 0);
	memcpy(j->want, j->out, j->len);
	write_block(j, j->want, 1, 0, j->root, 0);
}

void fill(struct job *j)
{
	size_t i;

	for (i = 0; i < j->len / sizeof(int); i++) {
		((int *)j->in)[i] = GUARD;
		((int *)j->out)[i] = GUARD;
	}
	if (is_reduction(j))
		fill_reduction(j);
	else if (j->coll == BCAST)
		fill_bcast(j);
	else if (j->coll != BARRIER)
		fill_blocks(j);
	else
		memcpy(j->want, j->out, j->len);
}

/* May this member call the collective in place? */
static int place_ok(const struct job *j)
{
	switch (j->coll) {
	case REDUCE: case GATHER: case GATHERV: case SCATTER: case SCATTERV:
		return j->me == j->root;
	case BCAST: case BARRIER:
		return 0;
	default:
		return 1;
	}
}

void prepare(struct job *j)
{
	size_t most;

	MPI_Comm_size(comms[j->c], &j->n);
	MPI_Comm_rank(comms[j->c], &j->me);
	most = ((size_t)j->count + 4) * ((size_t)j->n + 1) + 8;
	j->root %= j->n;
	if ((j->op == USER && j->type != INT) || (j->op == LAND && j->type == DOUBLE))
		j->op = SUM;
	j->in_place = j->in_place && place_ok(j);
	/* In this call, Open MPI 4.1 itself overwrites data that it still needs. */
	if (j->op == USER && j->coll == REDUCE_SCATTER)
		j->in_place = 0;
	if (is_reduction(j))
		j->gaps[0] = j->gaps[1] = 0;
	j->len = most * 3 * sizeof(int);
	j->in = malloc(j->len);
	j->out = malloc(j->len);
	j->want = malloc(j->len);
	set_arrays(j);
	fill(j);
}

void check(int good, const char *what, int n)
{
	if (good || bad++ > 20)
		return;
	printf("# rank %d: %s, %d\n", rank, what, n);
	fflush(stdout);
}

void verify(struct job *j)
{
	char text[160];

	snprintf(text, sizeof(text), "%s%s %s, communicator %d, root %d, count %d,%s type %d, op %d, gaps %d %d, salt",
		 form_names[j->form], j->large ? " large" : "", coll_names[j->coll], j->c, j->root, j->count,
		 j->in_place ? " in place," : "", j->type, j->op, j->gaps[0],
		 j->gaps[1]);
	check(!memcmp(j->out, j->want, j->len), text, j->salt);
}

void release(struct job *j)
{
	free(j->in);
	free(j->out);
	free(j->want);
	j->in = NULL;
}
