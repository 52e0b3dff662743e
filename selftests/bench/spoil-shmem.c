// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A profiling library that corrupts the results of shmem-bench at PE 1: it
 * flips the last bit of what PE 1 receives.
 */
#include <shmem.h>

static void spoil(void *dest, size_t len)
{
	if (shmem_my_pe() == 1 && len)
		((char *)dest)[len - 1] ^= 1;
}

/* PE 0 puts to PE 1: the last byte at the destination gets a wrong bit. */
void shmem_putmem(void *dest, const void *source, size_t len, int pe)
{
	char flip;

	pshmem_putmem(dest, source, len, pe);
	if (pe != 1 || len > 4096)
		return;
	flip = ((const char *)source)[len - 1] ^ 1;
	pshmem_quiet();
	pshmem_putmem((char *)dest + len - 1, &flip, 1, pe);
}

int shmem_int64_sum_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t n)
{
	int ret = pshmem_int64_sum_reduce(team, dest, source, n);

	spoil(dest, n * sizeof(*dest));
	return ret;
}

int shmem_int64_broadcast(shmem_team_t team, int64_t *dest, const int64_t *source, size_t n,
			  int root)
{
	int ret = pshmem_int64_broadcast(team, dest, source, n, root);

	spoil(dest, n * sizeof(*dest));
	return ret;
}
