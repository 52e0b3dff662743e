// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every collective that MPI defines for intercommunicators, blocking and
 * non-blocking, between processes of even and of odd rank.  libangara-mpi
 * leaves them to the MPI library; the test computes the results.
 *
 * 	mpirun -n N inter		N even, from 4
 *
 * Rank 0 prints "N processes: good" at the end.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define MOST	16	/* most processes of a side */

static int rank, size, bad;
static int me, n;		/* rank on this side, and processes of each side */
static MPI_Comm inter;

/*
 * Return: element @i that the process with rank @r of this or the other side
 * contributes.
 */
static int given(int other, int r, int i)
{
	int side = other ? !(rank % 2) : rank % 2;

	return 1000 * side + 10 * r + i;
}

static void check(const char *what, int i, int got, int want)
{
	if (got == want)
		return;
	printf("rank %d: %s: element %d is %d, not %d\n", rank, what, i, got, want);
	bad = 1;
}

/* Calls the blocking form, or the non-blocking one if @form. */
#define BOTH(Name, name, ...)						\
	do {								\
		if (form)						\
			MPI_I##name(__VA_ARGS__, inter, &req);		\
		else							\
			MPI_##Name(__VA_ARGS__, inter);			\
		if (form)						\
			MPI_Wait(&req, MPI_STATUS_IGNORE);		\
	} while (0)

static int in[2 * MOST], out[2 * MOST], counts[MOST], displs[MOST];

static void wipe(void)
{
	memset(out, 0xFF, sizeof(out));
}

static int sum_of(int other, int i)
{
	int sum = 0, r;

	for (r = 0; r < n; r++)
		sum += given(other, r, i);
	return sum;
}

/* The root is the first process of even rank. */
static void rooted(int form)
{
	int root = rank ? rank % 2 ? 0 : MPI_PROC_NULL : MPI_ROOT, i;
	MPI_Request req;

	wipe();
	BOTH(Bcast, bcast, rank ? out : in, 2, MPI_INT, root);
	for (i = 0; rank % 2 && i < 2; i++)
		check("bcast", i, out[i], given(1, 0, i));
	wipe();
	BOTH(Reduce, reduce, in, out, 2, MPI_INT, MPI_SUM, root);
	for (i = 0; !rank && i < 2; i++)
		check("reduce", i, out[i], sum_of(1, i));
	wipe();
	BOTH(Gather, gather, in, 1, MPI_INT, out, 1, MPI_INT, root);
	for (i = 0; !rank && i < n; i++)
		check("gather", i, out[i], given(1, i, 0));
	wipe();
	BOTH(Gatherv, gatherv, in, 2, MPI_INT, out, counts, displs, MPI_INT, root);
	for (i = 0; !rank && i < 2 * n; i++)
		check("gatherv", i, out[i], given(1, n - 1 - i / 2, i % 2));
	wipe();
	BOTH(Scatter, scatter, in, 1, MPI_INT, out, 1, MPI_INT, root);
	if (rank % 2)
		check("scatter", 0, out[0], given(1, 0, me));
	wipe();
	BOTH(Scatterv, scatterv, in, counts, displs, MPI_INT, out, 2, MPI_INT, root);
	for (i = 0; rank % 2 && i < 2; i++)
		check("scatterv", i, out[i], given(1, 0, displs[me] + i));
}

static void all(int form)
{
	MPI_Request req;
	int i;

	if (form) {
		MPI_Ibarrier(inter, &req);
		MPI_Wait(&req, MPI_STATUS_IGNORE);
	} else {
		MPI_Barrier(inter);
	}
	wipe();
	BOTH(Allreduce, allreduce, in, out, 2, MPI_INT, MPI_SUM);
	for (i = 0; i < 2; i++)
		check("allreduce", i, out[i], sum_of(1, i));
	wipe();
	BOTH(Allgather, allgather, in, 2, MPI_INT, out, 2, MPI_INT);
	for (i = 0; i < 2 * n; i++)
		check("allgather", i, out[i], given(1, i / 2, i % 2));
	wipe();
	BOTH(Allgatherv, allgatherv, in, 2, MPI_INT, out, counts, displs, MPI_INT);
	for (i = 0; i < 2 * n; i++)
		check("allgatherv", i, out[i], given(1, n - 1 - i / 2, i % 2));
	wipe();
	BOTH(Alltoall, alltoall, in, 2, MPI_INT, out, 2, MPI_INT);
	for (i = 0; i < 2 * n; i++)
		check("alltoall", i, out[i], given(1, i / 2, 2 * me + i % 2));
	wipe();
	BOTH(Alltoallv, alltoallv, in, counts, displs, MPI_INT, out, counts, displs, MPI_INT);
	for (i = 0; i < 2 * n; i++)
		check("alltoallv", i, out[i],
		      given(1, n - 1 - i / 2, displs[me] + i % 2));
	wipe();
	BOTH(Reduce_scatter_block, reduce_scatter_block, in, out, 2, MPI_INT, MPI_SUM);
	for (i = 0; i < 2; i++)
		check("reduce_scatter_block", i, out[i], sum_of(1, 2 * me + i));
	wipe();
	BOTH(Reduce_scatter, reduce_scatter, in, out, counts, MPI_INT, MPI_SUM);
	for (i = 0; i < 2; i++)
		check("reduce_scatter", i, out[i], sum_of(1, 2 * me + i));
}

int main(int argc, char **argv)
{
	MPI_Comm side;
	int i, any;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &side);
	MPI_Comm_rank(side, &me);
	MPI_Comm_size(side, &n);
	if (size % 2 || n > MOST) {
		printf("not an even number of processes, up to %d\n", 2 * MOST);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, !(rank % 2), 4, &inter);
	for (i = 0; i < 2 * n; i++)
		in[i] = given(0, me, i);
	for (i = 0; i < n; i++) {
		counts[i] = 2;
		displs[i] = 2 * (n - 1 - i);
	}
	for (i = 0; i < 2; i++) {
		rooted(i);
		all(i);
	}
	MPI_Comm_free(&inter);
	MPI_Comm_free(&side);
	MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (!rank && !any)
		printf("%d processes: good\n", size);
	MPI_Finalize();
	return any;
}
