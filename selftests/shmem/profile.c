// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N profile: the generic name, too, calls the program's own
 * shmem_int_p(), which calls the library's function by its profiling name.
 */
#include <pshmem.h>
#include <stdio.h>

static int calls, word;

void shmem_int_p(int *dest, int value, int pe)
{
	calls++;
	pshmem_int_p(dest, value + 1, pe);
}

int main(void)
{
	shmem_init();
	shmem_p(&word, 4, shmem_my_pe());
	shmem_barrier_all();
	printf("calls %d, word %d\n", calls, word);
	shmem_finalize();
	return 0;
}
