// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N makers: threads that make and destroy teams at once, in
 * different orders at neighbours, while another thread calls collectives.  If a
 * thread locked the library until its team is made, it would wait forever.
 */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS	4
#define ROUNDS	10

static shmem_team_t parents[THREADS];
static long sum[THREADS][2];
static pthread_barrier_t start;
static int me, n, wrong;

static void look(int ok, const char *what)
{
	if (!ok && !__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED))
		fprintf(stderr, "makers: PE %d: %s\n", me, what);
}

/* Makes teams of all members in reverse order, and of the even ones. */
static void make(int id, int round)
{
	shmem_team_t all, even;
	shmem_ctx_t ctx;

	look(!shmem_team_split_strided(parents[id], n - 1, -1, n, NULL, 0, &all),
	     "no team of all");
	look(shmem_team_my_pe(all) == n - 1 - me, "a wrong number in the team of all");
	look(!shmem_team_split_strided(all, 0, 2, (n + 1) / 2, NULL, 0, &even),
	     "no team of even numbers");
	sum[id][0] = round + me;
	shmem_long_sum_reduce(all, &sum[id][1], &sum[id][0], 1);
	look(sum[id][1] == n * round + n * (n - 1) / 2, "a wrong sum");
	if (even != SHMEM_TEAM_INVALID) {
		look(!shmem_team_create_ctx(even, 0, &ctx), "no context");
		shmem_ctx_destroy(ctx);
		shmem_team_sync(even);
		shmem_team_destroy(even);
	}
	shmem_team_destroy(all);
}

static void *maker(void *arg)
{
	int id = (int)(long)arg, i;

	for (i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&start);
		/* The first thread at a PE is the last one at the next PE. */
		usleep((unsigned int)(me % 2 ? id : THREADS - id) * 1000);
		if (id)
			make(id, i);
		else
			shmem_team_sync(parents[0]);
	}
	return NULL;
}

/* An active set becomes a team at its first use. */
static void *setter(void *arg)
{
	static long psync[THREADS][SHMEM_BARRIER_SYNC_SIZE];
	int id = (int)(long)arg;

	pthread_barrier_wait(&start);
	usleep((unsigned int)(me % 2 ? id : THREADS - id) * 1000);
	if (me >= id % n)
		shmem_barrier(id % n, 0, n - id % n, psync[id]);
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
	me = shmem_my_pe();
	n = shmem_n_pes();
	pthread_barrier_init(&start, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &parents[i]);
	run(maker);
	run(setter);
	printf("makers: PE %d: %d errors\n", me, wrong);
	shmem_finalize();
	return wrong != 0;
}
