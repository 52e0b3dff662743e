// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N threads: SHMEM_THREAD_MULTIPLE.  Threads with their own
 * contexts; all threads on the default context; one thread waiting while others
 * write; collectives of different teams at once.
 */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>

#define THREADS	3
#define ROUNDS	100

static long mine[THREADS], shared, flag, sum[THREADS];
static int n, right, wrong;
static shmem_team_t teams[THREADS];

static void look(int ok, const char *what)
{
	if (!ok && !__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED))
		fprintf(stderr, "threads: PE %d: %s\n", shmem_my_pe(), what);
}

static void *own_context(void *arg)
{
	long i, id = (long)arg;
	shmem_ctx_t ctx;

	look(!shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), "a context cannot be made");
	for (i = 0; i < ROUNDS; i++) {
		shmem_atomic_inc(ctx, &mine[id], right);
		shmem_atomic_inc(&shared, right);
	}
	shmem_ctx_quiet(ctx);
	shmem_quiet();
	shmem_ctx_destroy(ctx);
	return NULL;
}

/* Thread 0 waits for words that the neighbour's other threads write. */
static void *waits(void *arg)
{
	long i, id = (long)arg;

	for (i = 1; i <= ROUNDS; i++) {
		if (id == 0)
			shmem_wait_until(&flag, SHMEM_CMP_GE, i * (THREADS - 1));
		else
			shmem_atomic_inc(&flag, right);
	}
	shmem_quiet();
	return NULL;
}

static void *collectives(void *arg)
{
	long i, id = (long)arg;

	for (i = 0; i < ROUNDS; i++) {
		sum[id] = 1;
		shmem_team_sync(teams[id]);
		shmem_sum_reduce(teams[id], &sum[id], &sum[id], 1);
		look(sum[id] == n, "a wrong sum");
	}
	return NULL;
}

static void run(void *(*body)(void *))
{
	pthread_t t[THREADS];
	long i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, body, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	shmem_barrier_all();
}

int main(void)
{
	int provided, i;

	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	look(provided == SHMEM_THREAD_MULTIPLE, "SHMEM_THREAD_MULTIPLE is not provided");
	n = shmem_n_pes();
	right = (shmem_my_pe() + 1) % n;
	run(own_context);
	for (i = 0; i < THREADS; i++)
		look(mine[i] == ROUNDS, "lost operations of a context");
	look(shared == THREADS * ROUNDS, "lost operations of the default context");
	run(waits);
	for (i = 0; i < THREADS; i++)
		shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &teams[i]);
	run(collectives);
	printf("threads: PE %d: %d errors\n", shmem_my_pe(), wrong);
	shmem_finalize();
	return wrong != 0;
}
