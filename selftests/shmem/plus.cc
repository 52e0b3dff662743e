// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// oshrun -np N plus: a program in C++, where typed names stand for generic ones.
#include <shmemx.h>

#include <cstdio>

static long sum, word;

SHMEMX_SYMMETRIC_LIBRARY;

int main()
{
	shmemx_req_t req;

	start_pes(0);
	shmem_long_atomic_add(&word, shmem_my_pe() + 1, 0);
	shmem_barrier_all();
	shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, &sum, &word, 1, &req);
	shmemx_req_wait(&req);
	std::printf("sum %ld\n", sum);
	return 0;
}
