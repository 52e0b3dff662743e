// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* OpenSHMEM: each PE puts its number to the next one; the network adds them up. */
#include <shmem.h>
#include <stdio.h>

static int from, sum;

int main(void)
{
	int me, n;

	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	shmem_p(&from, me, (me + 1) % n);
	shmem_barrier_all();
	shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &from, 1);
	printf("PE %d of %d: from %d, sum %d\n", me, n, from, sum);
	shmem_finalize();
	return 0;
}
