// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Places of all processes of an MPI program.  The MPI learns from its launcher which
 * processes share a node.
 */
#include <errno.h>

#include "place_all.h"

/**
 * ang_place_all() - exchange the places of processes; all of them call
 * @world: communicator of the processes
 * @places: out: of each rank, ANG_PLACE_LEVELS numbers from the top.  A node has
 *	the number of the lowest rank on it
 *
 * Return: 0; -EIO.
 */
int ang_place_all(MPI_Comm world, u32 *places)
{
	u32 own[ANG_PLACE_LEVELS] = { 0 };
	MPI_Comm node;
	int rank;

	PMPI_Comm_rank(world, &rank);
	own[0] = (u32)rank;
	PMPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
	PMPI_Bcast(own, 1, MPI_UINT32_T, 0, node);
	PMPI_Comm_free(&node);
	ang_place_own(own);
	return PMPI_Allgather(own, ANG_PLACE_LEVELS, MPI_UINT32_T, places,
			      ANG_PLACE_LEVELS, MPI_UINT32_T, world) ? -EIO : 0;
}
