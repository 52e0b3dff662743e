// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N queue: PEs take tasks from a counter, add each to a list at PE 0
 * under a lock, and at the end wait until the list has every task once.
 */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

#define TASKS	60

static int next, length, done[TASKS];
static long lock;

int main(void)
{
	int task, at, i, wrong = 0, times[TASKS] = { 0 };

	shmem_init();
	while ((task = shmem_atomic_fetch_inc(&next, 0)) < TASKS) {
		shmem_set_lock(&lock);
		at = shmem_g(&length, 0);
		/* Meanwhile a PE that did not wait for the lock would use the same place. */
		if (task % 16 == 0)
			usleep(1000);
		shmem_p(&done[at], task + 1, 0);
		shmem_p(&length, at + 1, 0);
		shmem_clear_lock(&lock);
	}
	if (!shmem_my_pe()) {
		shmem_wait_until(&length, SHMEM_CMP_EQ, TASKS);
		for (i = 0; i < TASKS; i++)
			times[done[i] - 1]++;
		for (i = 0; i < TASKS; i++)
			wrong += times[i] != 1;
	}
	shmem_barrier_all();
	printf("queue: PE %d: %d errors\n", shmem_my_pe(), wrong);
	shmem_finalize();
	return wrong != 0;
}
