// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N beside [full]: a thread waits while another one puts by the same
 * context, or calls collectives.  A waiting thread must sleep without a lock:
 * this program interposes calls between the libraries, counts the locks of each
 * thread, and checks the count when a thread sleeps.  The working thread
 * continues until the other one has slept often.  With "full", the process has
 * no free file descriptor.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <shmem.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLEEPS	20	/* sleeps of the waiting thread before it is woken */

static __thread int held;		/* locks that this thread holds */
static __thread int waits;		/* this thread waits for another one */
static int sleeps, asleep_with_lock;	/* counts of the waiting thread */
static int me, wrong;
static long word, done;
static shmem_team_t waiters, workers;

#define NEXT(name)	((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

int pthread_mutex_lock(pthread_mutex_t *m)
{
	int ret = NEXT(pthread_mutex_lock)(m);

	held += !ret;
	return ret;
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
	int ret = NEXT(pthread_mutex_trylock)(m);

	held += !ret;
	return ret;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	held--;
	return NEXT(pthread_mutex_unlock)(m);
}

static void sleeping(void)
{
	if (!waits)
		return;
	__atomic_fetch_add(&sleeps, 1, __ATOMIC_RELAXED);
	if (held)
		asleep_with_lock++;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (timeout)
		sleeping();
	return NEXT(poll)(fds, n, timeout);
}

int nanosleep(const struct timespec *for_time, struct timespec *rest)
{
	sleeping();
	return NEXT(nanosleep)(for_time, rest);
}

/* The embedded fabric sleeps on a futex. */
long syscall(long number, ...)
{
	va_list ap;
	long a[6];
	int i;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT)
		sleeping();
	return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void *wait_word(void *unused)
{
	(void)unused;
	waits = 1;
	shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
	return NULL;
}

static void *wait_short(void *unused)
{
	(void)unused;
	waits = 1;
	shmem_short_wait_until((short *)&word, SHMEM_CMP_EQ, 1);
	return NULL;
}

/* PE 0 waits in a team; the other PEs follow when the working thread of PE 0 is done. */
static void *wait_team(void *unused)
{
	(void)unused;
	waits = !me;
	if (me)
		shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
	shmem_team_sync(waiters);
	return NULL;
}

static void *wait_broadcast(void *unused)
{
	static long to, from;

	(void)unused;
	waits = !me;
	if (me)
		shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
	shmem_long_broadcast(waiters, &to, &from, 1, shmem_n_pes() - 1);
	return NULL;
}

static int enough(void)
{
	return __atomic_load_n(&sleeps, __ATOMIC_RELAXED) >= SLEEPS;
}

/* Return: number of operations. */
static long puts_beside(void)
{
	long ops = 0;

	do {
		shmem_long_atomic_inc(&done, me);
		shmem_quiet();
		ops++;
	} while (!enough());
	shmem_long_p(&word, 1, me);
	shmem_quiet();
	return ops;
}

/* PE 0 decides when to stop; the reduced word notifies the other PEs. */
static long reductions_beside(void)
{
	static long more, all;
	long ops = 0;
	int pe;

	do {
		more = !me && !enough();
		shmem_long_sum_reduce(workers, &all, &more, 1);
		ops++;
	} while (all);
	for (pe = 1; !me && pe < shmem_n_pes(); pe++)
		shmem_long_p(&word, 1, pe);
	shmem_quiet();
	return ops;
}

static void beside(const char *what, void *(*wait)(void *), long (*work)(void))
{
	pthread_t t;
	long ops;

	word = 0;
	sleeps = asleep_with_lock = 0;
	shmem_barrier_all();
	pthread_create(&t, NULL, wait, NULL);
	ops = work();
	pthread_join(t, NULL);
	/*
	 * The model may also sleep, with a lock, until a node is free.  Such
	 * sleeps are not waits of this program.
	 */
	if (asleep_with_lock > sleeps / 4) {
		fprintf(stderr, "beside: PE %d: %s: a lock was held in %d of %d sleeps\n", me, what,
			asleep_with_lock, sleeps);
		wrong++;
	}
	if (!me)
		printf("beside: %s: %ld operations beside %d sleeps\n", what, ops, sleeps);
	shmem_barrier_all();
}

/* Takes all file descriptors that the process may still have. */
static void descriptors_take(void)
{
	struct rlimit few = { .rlim_cur = 64, .rlim_max = 64 };

	wrong += setrlimit(RLIMIT_NOFILE, &few) != 0;
	while (dup(STDOUT_FILENO) >= 0)
		;
}

int main(int argc, char **argv)
{
	int provided;

	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	me = shmem_my_pe();
	shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &waiters);
	shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &workers);
	if (argc > 1 && !strcmp(argv[1], "full"))
		descriptors_take();
	beside("puts beside a wait", wait_word, puts_beside);
	beside("puts beside a wait for a short word", wait_short, puts_beside);
	beside("reductions beside a synchronization", wait_team, reductions_beside);
	beside("reductions beside a broadcast", wait_broadcast, reductions_beside);
	printf("beside: PE %d: %d errors\n", me, wrong);
	shmem_finalize();
	return wrong != 0;
}
