// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N wrong WAY: a program that uses SHMEM wrongly, or ends early.  It
 * returns 0 if the library has not noticed.
 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int me, n, word;
static long flag;

static void bad_pe(void)
{
	shmem_p(&word, 1, n);
}

static void negative_pe(void)
{
	shmem_g(&word, -1);
}

static void not_symmetric(void)
{
	int local;

	shmem_put(&local, &word, 1, 0);
}

static void too_long(void)
{
	char *p = shmem_malloc(100);

	shmem_putmem(p, p, (size_t)1 << 40, 0);
}

static void bad_stride(void)
{
	shmem_iput(&word, &word, 0, 1, 2, 0);
}

static void bad_signal(void)
{
	static uint64_t sig;

	shmem_put_signal(&word, &word, 1, &sig, 1, 7, 0);
}

static void bad_cmp(void)
{
	shmem_wait_until(&flag, 9, 0);
}

static void bad_free(void)
{
	shmem_free((char *)shmem_malloc(100) + 64);
}

static void unaligned(void)
{
	shmem_atomic_inc((int *)(void *)((char *)&flag + 2), 0);
}

static void bad_set(void)
{
	shmem_barrier(0, 0, n + 1, NULL);
}

static void bad_root(void)
{
	shmem_broadcast(SHMEM_TEAM_WORLD, &word, &word, 1, n);
}

static void no_context(void)
{
	shmem_p(SHMEM_CTX_INVALID, &word, 1, 0);
}

static void finalized(void)
{
	shmem_finalize();
	shmem_barrier_all();
}

static void unequal_malloc(void)
{
	shmem_malloc(me ? 100 : 200);
}

static void unequal_root(void)
{
	shmem_broadcast(SHMEM_TEAM_WORLD, &word, &word, 1, me);
}

/* The others wait for a PE that is killed. */
static void killed(void)
{
	if (me == 1)
		raise(SIGKILL);
	shmem_barrier_all();
}

static void exits(int status)
{
	if (me == n - 1)
		shmem_global_exit(status);
	shmem_wait_until(&flag, SHMEM_CMP_EQ, 1);
}

static void exit_0(void)
{
	exits(0);
	_exit(5);
}

static void exit_7(void)
{
	exits(7);
}

static double processor_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void lazy(const char *what, double since)
{
	double used = processor_time() - since;

	if (used > 0.4) {
		printf("PE %d burnt %g s of 1 s in a %s\n", me, used, what);
		shmem_global_exit(3);
	}
}

/* PE 0 lets the others wait for a second, in several ways. */
static void waiting(void)
{
	static long lock;
	double since = processor_time();

	if (!me) {
		sleep(1);
		for (int i = 1; i < n; i++)
			shmem_p(&flag, 1, i);
	}
	shmem_wait_until(&flag, SHMEM_CMP_EQ, me ? 1 : 0);
	lazy("wait", since);
	if (!me)
		shmem_set_lock(&lock);
	shmem_barrier_all();
	since = processor_time();
	if (!me)
		sleep(1);
	else
		shmem_set_lock(&lock);
	shmem_clear_lock(&lock);
	lazy("lock", since);
	since = processor_time();
	if (!me)
		sleep(1);
	shmem_barrier_all();
	lazy("barrier", since);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "bad-pe", bad_pe }, { "negative-pe", negative_pe },
	{ "not-symmetric", not_symmetric }, { "too-long", too_long },
	{ "bad-stride", bad_stride }, { "bad-signal", bad_signal }, { "bad-cmp", bad_cmp },
	{ "bad-free", bad_free }, { "unaligned", unaligned }, { "bad-set", bad_set },
	{ "bad-root", bad_root }, { "no-context", no_context }, { "finalized", finalized },
	{ "unequal-malloc", unequal_malloc }, { "unequal-root", unequal_root },
	{ "killed", killed }, { "exit-0", exit_0 }, { "exit-7", exit_7 },
	{ "waiting", waiting },
};

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc > 1 && !strcmp(argv[1], "before")) {
		shmem_barrier_all();
		return 0;
	}
	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (argc > 1 && !strcmp(argv[1], ways[i].name))
			ways[i].run();
	shmem_finalize();
	return 0;
}
