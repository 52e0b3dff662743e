// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Overlapping communicators of each kind, and random numbers. */
#include "world.h"

int rank, size;
MPI_Comm comms[COMMS];
const char *const comm_names[COMMS] = {
	"world", "dup", "split in reverse", "Cartesian", "create_group",
	"all but the first", "all in reverse", "self",
};

#define OWN	6	/* first communicator that comms_free() does not free */

void comms_make(void)
{
	int dims[2] = { 0, 0 }, periods[2] = { 1, 1 };
	int ranges[1][3] = { { 0, 0, 1 } };
	MPI_Group all, some;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comms[3]);
	ranges[0][1] = (size - 1) / 2;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_range_incl(all, 1, ranges, &some);
	comms[4] = MPI_COMM_NULL;
	if (rank <= (size - 1) / 2)
		MPI_Comm_create_group(MPI_COMM_WORLD, some, 3, &comms[4]);
	MPI_Comm_split(MPI_COMM_WORLD, rank ? 1 : MPI_UNDEFINED, 0, &comms[5]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[OWN]);
	comms[OWN + 1] = MPI_COMM_SELF;
	MPI_Group_free(&all);
	MPI_Group_free(&some);
}

void comms_free(void)
{
	int c;

	for (c = 1; c < OWN; c++)
		if (comms[c] != MPI_COMM_NULL)
			MPI_Comm_free(&comms[c]);
}

/* The sequence is the same at all processes with the same state. */
unsigned int draw(unsigned long *state)
{
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned int)(*state >> 33);
}
