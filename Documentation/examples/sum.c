// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An allreduce by MPI: the sum of the ranks. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
	int rank, sum;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d: %d\n", rank, sum);
	MPI_Finalize();
	return 0;
}
