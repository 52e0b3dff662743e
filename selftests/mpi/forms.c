// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls of collectives in all forms that the MPI library has: blocking,
 * non-blocking, persistent, each also with large counts.  Elements with gaps have one
 * of several datatypes, which all have the data at the same places.
 */
#include "forms.h"

/* Datatypes that hold one of three ints, one made by each constructor. */
#define GAPPY	6
static MPI_Datatype gappy[GAPPY];
static const MPI_Datatype types[TYPES] = { MPI_INT, MPI_DOUBLE, MPI_SHORT };

#ifdef PERSISTENT
#define WITH_INIT(Name, ...)						\
	case PERSIST:							\
		INIT(Name)(__VA_ARGS__, MPI_INFO_NULL, &j->req);	\
		break;
#else
#define WITH_INIT(Name, ...)
#endif

/*
 * Return: the datatype of the input (side 0) or output (side 1); members of a call use
 * datatypes made by different constructors.
 */
static MPI_Datatype type_of(const struct job *j, int side)
{
	return j->gaps[side] ? gappy[(j->me + j->salt + side) % GAPPY] : MPI_INT;
}

#define CALL(COLL, Name, name, ...)					\
	case COLL:							\
		switch (j->form) {					\
		case NONBLOCKING:					\
			MPI_I##name(__VA_ARGS__, &j->req);		\
			break;						\
		WITH_INIT(Name, __VA_ARGS__)				\
		default:						\
			MPI_##Name(__VA_ARGS__);			\
		}							\
		break;

static void call(struct job *j)
{
	MPI_Comm comm = comms[j->c];
	MPI_Datatype it = type_of(j, 0), otype = type_of(j, 1);
	int scatter = j->coll == SCATTER || j->coll == SCATTERV;
	void *in = j->in_place && !scatter ? MPI_IN_PLACE : j->in;
	void *out = j->in_place && scatter ? MPI_IN_PLACE : j->out;
	int n = j->count, own = num(j, j->me, j->coll == ALLGATHERV ? 0 : j->root);
	int get = num(j, j->root, j->me), root = j->root;
	int *ic = j->icounts, *id = j->idispls, *oc = j->ocounts, *od = j->odispls;
	MPI_Datatype type = types[j->type];
	MPI_Op op = op_of(j);

	switch (j->coll) {
	CALL(BARRIER, Barrier, barrier, comm)
	CALL(BCAST, Bcast, bcast, out, n, otype, root, comm)
	CALL(REDUCE, Reduce, reduce, in, out, n, type, op, root, comm)
	CALL(ALLREDUCE, Allreduce, allreduce, in, out, n, type, op, comm)
	CALL(SCAN, Scan, scan, in, out, n, type, op, comm)
	CALL(EXSCAN, Exscan, exscan, in, out, n, type, op, comm)
	CALL(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block, in,
	     out, n, type, op, comm)
	CALL(REDUCE_SCATTER, Reduce_scatter, reduce_scatter, in, out, oc, type, op,
	     comm)
	CALL(GATHER, Gather, gather, in, n, it, out, n, otype, root, comm)
	CALL(GATHERV, Gatherv, gatherv, in, own, it, out, oc, od, otype, root, comm)
	CALL(SCATTER, Scatter, scatter, in, n, it, out, n, otype, root, comm)
	CALL(SCATTERV, Scatterv, scatterv, in, ic, id, it, out, get, otype, root, comm)
	CALL(ALLGATHER, Allgather, allgather, in, n, it, out, n, otype, comm)
	CALL(ALLGATHERV, Allgatherv, allgatherv, in, own, it, out, oc, od, otype, comm)
	CALL(ALLTOALL, Alltoall, alltoall, in, n, it, out, n, otype, comm)
	CALL(ALLTOALLV, Alltoallv, alltoallv, in, ic, id, it, out, oc, od, otype, comm)
	default:
		break;
	}
}

#if MPI_VERSION >= 4
#define CALL_LARGE(COLL, Name, name, ...)				\
	case COLL:							\
		if (j->form == NONBLOCKING)				\
			MPI_I##name##_c(__VA_ARGS__, &j->req);		\
		else if (j->form == PERSIST)				\
			MPI_##Name##_init_c(__VA_ARGS__, MPI_INFO_NULL,	\
					    &j->req);			\
		else							\
			MPI_##Name##_c(__VA_ARGS__);			\
		break;

static void call_large(struct job *j)
{
	MPI_Count n = j->count, *ic = j->wide_icounts, *oc = j->wide_ocounts;
	MPI_Aint *id = j->wide_idispls, *od = j->wide_odispls;
	int scatter = j->coll == SCATTER || j->coll == SCATTERV, root = j->root, i;
	MPI_Datatype it = type_of(j, 0), otype = type_of(j, 1), type = types[j->type];
	void *in = j->in_place && !scatter ? MPI_IN_PLACE : j->in;
	void *out = j->in_place && scatter ? MPI_IN_PLACE : j->out;
	MPI_Count own = num(j, j->me, j->coll == ALLGATHERV ? 0 : root);
	MPI_Count get = num(j, root, j->me);
	MPI_Comm comm = comms[j->c];
	MPI_Op op = op_of(j);

	for (i = 0; i < j->n; i++) {
		ic[i] = j->icounts[i];
		oc[i] = j->ocounts[i];
		id[i] = j->idispls[i];
		od[i] = j->odispls[i];
	}
	switch (j->coll) {
	CALL_LARGE(BCAST, Bcast, bcast, out, n, otype, root, comm)
	CALL_LARGE(REDUCE, Reduce, reduce, in, out, n, type, op, root, comm)
	CALL_LARGE(ALLREDUCE, Allreduce, allreduce, in, out, n, type, op, comm)
	CALL_LARGE(SCAN, Scan, scan, in, out, n, type, op, comm)
	CALL_LARGE(EXSCAN, Exscan, exscan, in, out, n, type, op, comm)
	CALL_LARGE(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block, in,
		   out, n, type, op, comm)
	CALL_LARGE(REDUCE_SCATTER, Reduce_scatter, reduce_scatter, in, out, oc, type, op,
		   comm)
	CALL_LARGE(GATHER, Gather, gather, in, n, it, out, n, otype, root, comm)
	CALL_LARGE(GATHERV, Gatherv, gatherv, in, own, it, out, oc, od, otype, root, comm)
	CALL_LARGE(SCATTER, Scatter, scatter, in, n, it, out, n, otype, root, comm)
	CALL_LARGE(SCATTERV, Scatterv, scatterv, in, ic, id, it, out, get, otype, root,
		   comm)
	CALL_LARGE(ALLGATHER, Allgather, allgather, in, n, it, out, n, otype, comm)
	CALL_LARGE(ALLGATHERV, Allgatherv, allgatherv, in, own, it, out, oc, od, otype,
		   comm)
	CALL_LARGE(ALLTOALL, Alltoall, alltoall, in, n, it, out, n, otype, comm)
	CALL_LARGE(ALLTOALLV, Alltoallv, alltoallv, in, ic, id, it, out, oc, od, otype,
		   comm)
	default:
		call(j);
	}
}
#else
static void call_large(struct job *j)
{
	call(j);
}
#endif

void start(struct job *j)
{
	j->req = MPI_REQUEST_NULL;
	if (j->form == LARGE) {
		/*
		 * LARGE stands for each other form in turn; every second member
		 * uses int counts, the others large counts.
		 */
		j->form = j->salt % LARGE;
		j->large = !(j->me % 2);
	}
	if (j->large)
		call_large(j);
	else
		call(j);
#ifdef PERSISTENT
	if (j->form == PERSIST)
		MPI_Start(&j->req);
#endif
}

void forms_make(void)
{
	const int whole = 3, part = 1, start = 0, one = 1;
	const MPI_Aint none = 0;
	MPI_Datatype raw[GAPPY], it = MPI_INT;
	int k;

	MPI_Type_dup(MPI_INT, &raw[0]);
	MPI_Type_vector(1, 1, 3, MPI_INT, &raw[1]);
	MPI_Type_create_indexed_block(1, 1, &start, MPI_INT, &raw[2]);
	MPI_Type_create_hindexed(1, &one, &none, MPI_INT, &raw[3]);
	MPI_Type_create_struct(1, &one, &none, &it, &raw[4]);
	/* A subarray extends over all three ints. */
	MPI_Type_create_subarray(1, &whole, &part, &start, MPI_ORDER_C, MPI_INT, &raw[5]);
	for (k = 0; k < GAPPY; k++) {
		/* The type of the structure begins before its data. */
		MPI_Type_create_resized(raw[k], k == 4 ? -4 : 0, 12, &gappy[k]);
		MPI_Type_commit(&gappy[k]);
		MPI_Type_free(&raw[k]);
	}
}

void forms_free(void)
{
	int k;

	for (k = 0; k < GAPPY; k++)
		MPI_Type_free(&gappy[k]);
}
