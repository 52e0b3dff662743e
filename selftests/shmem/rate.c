// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N rate [ROUNDS]: messages of 8 bytes per second from PE 0, by one
 * thread, and by two threads with a private context each, in the best of several
 * turns of each.  The words are in the heap: on an embedded fabric, variables are
 * written by system calls.  The other PEs sleep meanwhile: they need no processor.  Messages
 * of a private context, and the quiet after them, take no lock: the program counts
 * calls of pthread_mutex_lock().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS	2
#define BATCH	64	/* messages between two quiets */
#define TURNS	8	/* of one thread, and of two */

static long (*word)[BATCH], got;
static long rounds = 200;
static int right;
static __thread long locks;
static shmem_ctx_t ctx[THREADS];

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t *m);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	locks++;
	return real(m);
}

static void *put(void *arg)
{
	long id = (long)arg, round, i, before = locks;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i < BATCH; i++)
			shmem_ctx_long_p(ctx[id], &word[id][i], round + 1, right);
		shmem_ctx_quiet(ctx[id]);
	}
	return (void *)(locks - before);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Return: messages per second of @n threads of this PE. */
static double rate(long n, long *taken)
{
	pthread_t t[THREADS];
	double start = now();
	void *locked;
	long i;

	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, put, (void *)i);
	for (i = 0; i < n; i++) {
		pthread_join(t[i], &locked);
		*taken += (long)locked;
	}
	return (double)(n * rounds * BATCH) / (now() - start);
}

int main(int argc, char **argv)
{
	double best[THREADS + 1] = { 0 }, r;
	long taken = 0, counted;
	int provided, i, wrong = 0, me;

	if (argc > 1)
		rounds = atol(argv[1]);
	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	me = shmem_my_pe();
	right = (me + 1) % shmem_n_pes();
	word = shmem_calloc(THREADS, sizeof(*word));
	if (!word)
		shmem_global_exit(1);
	for (i = 0; i < THREADS; i++)
		wrong += shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx[i]) != 0;
	/* The default context takes locks, so the program counts some. */
	counted = locks;
	shmem_long_p(&got, 1, right);
	wrong += locks == counted;
	for (i = 0; !me && i < 2 * TURNS; i++) {
		int threads = i % 2 ? THREADS : 1;

		r = rate(threads, &taken);
		best[threads] = r > best[threads] ? r : best[threads];
	}
	shmem_barrier_all();
	for (i = 0; me == 1 % shmem_n_pes() && i < THREADS * BATCH; i++)
		wrong += word[i / BATCH][i % BATCH] != rounds;
	if (taken)
		fprintf(stderr, "rate: private contexts took %ld locks\n", taken);
	if (!me)
		printf("rate: %.0f messages/s by one thread, %.0f by two: %.2f\n", best[1],
		       best[THREADS], best[THREADS] / best[1]);
	printf("rate: PE %d: %d errors\n", me, wrong + (taken != 0));
	shmem_finalize();
	return wrong || taken;
}
