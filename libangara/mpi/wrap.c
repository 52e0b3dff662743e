// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Functions of MPI that create and free objects for which this library keeps
 * data.
 */
#include "ami.h"

EXPORT int MPI_Init(int *argc, char ***argv)
{
	int ret = PMPI_Init(argc, argv);

	if (!ret)
		ami_open();
	return ret;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
	int ret = PMPI_Init_thread(argc, argv, wanted, given);

	if (!ret)
		ami_open();
	return ret;
}

EXPORT int MPI_Comm_free(MPI_Comm *comm)
{
	ami_comm_end(*comm);
	return PMPI_Comm_free(comm);
}

EXPORT int MPI_Comm_disconnect(MPI_Comm *comm)
{
	ami_comm_end(*comm);
	return PMPI_Comm_disconnect(comm);
}
