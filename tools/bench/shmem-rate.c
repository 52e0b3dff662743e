// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shmem-rate [-c] [MILLISECONDS]: messages of 8 bytes per second from PE 0, by one
 * thread, and by two threads with a private context each.
 *
 * In each turn, only thread 0 sends, only thread 1 sends, and both send at
 * once, for MILLISECONDS (default 10) each.  Each thread has a processor of its
 * own, if there are two: processors of a virtual machine differ in speed from
 * moment to moment, and so the rate of one thread is the mean of both
 * processors.  A thread that does not send computes, since a processor may be
 * faster while another one has no work, and is slower for a while after it has
 * got work.  So the ratio shows how much the threads slow each other down in
 * the library.  Results are medians of all turns, and the median of their
 * ratios.  With -c, times of a message are printed as CSV of angara-bench:
 * shmem-thread by one thread, shmem-threads by two.
 *
 * The target words are in the symmetric heap: on an embedded fabric, remote writes to
 * variables take system calls.  PEs other than PE 0 sleep meanwhile, so they need no
 * processor.  Messages of a private context, and the quiet after them, take no lock:
 * the program counts calls of pthread_mutex_lock().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu.h"
#include "number.h"

#define THREADS	2
#define BATCH	64	/* messages between two quiets */
#define STEPS	4096	/* steps of computing between two checks for senders */
#define TURNS	15
#define MAX_MS	1000
#define LINE	64	/* bytes of a cache line */

/* The variables that PE 0 writes at its neighbor. */
struct target {
	_Alignas(LINE) long word[THREADS][BATCH];
	long sent[THREADS];	/* value of the last round */
};

struct sender {
	shmem_ctx_t ctx;
	long round;		/* number of rounds so far */
	long locks;		/* calls of pthread_mutex_lock() */
	double rate;		/* messages per second of the last turn */
};

static struct target *target;
static struct sender sender[THREADS];
static pthread_barrier_t ready;
static double seconds = 0.010;
static long got;
static int right;
static unsigned int sends;	/* set of threads that send, one bit each */
static atomic_int sending;	/* number of threads that still send */
static volatile uint64_t result;
static __thread long locks;

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t *m);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	locks++;
	return real(m);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Keeps the execution units of a processor busy until no thread sends. */
static void compute(void)
{
	uint64_t a = 1, b = 2, c = 3, d = 4;
	int i;

	while (sending) {
		for (i = 0; i < STEPS; i++) {
			a = a * 6364136223846793005ULL + 1;
			b ^= b << 7 ^ a;
			c += c >> 3 ^ (uint64_t)i;
			d = d * 5 + 1;
		}
		result = a ^ b ^ c ^ d;
	}
}

static void send_messages(long id)
{
	struct sender s = sender[id];	/* threads share no cache line */
	long first, before = locks, i;
	double start, end;

	first = s.round;
	start = now();
	do {
		s.round++;
		for (i = 0; i < BATCH; i++)
			shmem_ctx_long_p(s.ctx, &target->word[id][i], s.round, right);
		shmem_ctx_quiet(s.ctx);
		end = now();
	} while (end < start + seconds);
	s.rate = (double)((s.round - first) * BATCH) / (end - start);
	s.locks += locks - before;
	sender[id] = s;
}

static void *thread_run(void *arg)
{
	long id = (long)arg;

	cpu_bind(id);
	pthread_barrier_wait(&ready);
	if (sends >> id & 1) {
		send_messages(id);
		sending--;
	} else {
		compute();
	}
	return NULL;
}

/* Return: messages per second of the threads in the set @which of this PE. */
static double rate(unsigned int which)
{
	pthread_t t[THREADS];
	double sum = 0;
	long i;

	sends = which;
	sending = __builtin_popcount(which);
	pthread_barrier_init(&ready, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, thread_run, (void *)i))
			shmem_global_exit(1);
	for (i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		if (which >> i & 1)
			sum += sender[i].rate;
	}
	pthread_barrier_destroy(&ready);
	return sum;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *of)
{
	qsort(of, TURNS, sizeof(*of), by_size);
	return of[TURNS / 2];
}

static void print_row(const char *name, double *rates)
{
	double us = 1e6 / median(rates), least = 1e6 / rates[TURNS - 1];
	double most = 1e6 / rates[0];

	printf("%s,rate,%d,%zu,%d,%d,1,%.4f,%.4f,%.4f,%.0f,%.1f,%.4f,%.4f\n", name,
	       shmem_n_pes(), sizeof(long), BATCH, TURNS, least, us, most, 1e6 / us,
	       sizeof(long) / us, us, most);
}

static void measure(int csv)
{
	double one[TURNS], two[TURNS], ratio[TURNS], middle;
	int i;

	for (i = 0; i < TURNS; i++) {
		one[i] = (rate(1) + rate(2)) / 2;
		two[i] = rate(3);
		ratio[i] = two[i] / one[i];
	}
	if (csv) {
		print_row("shmem-thread", one);
		print_row("shmem-threads", two);
		return;
	}
	middle = median(ratio);
	printf("rate: ratio %.2f, from %.2f to %.2f in %d turns; ", middle, ratio[0],
	       ratio[TURNS - 1], TURNS);
	printf("%.0f messages/s by one thread, %.0f by two\n", median(one), median(two));
}

/*
 * Checks that the last values have arrived, and that senders took no locks.  All PEs call this
 * function.  Return: number of errors.
 */
static int check(int me)
{
	int i, wrong = 0;

	for (i = 0; !me && i < THREADS; i++) {
		shmem_long_p(&target->sent[i], sender[i].round, right);
		if (sender[i].locks) {
			fprintf(stderr, "rate: private contexts took %ld locks\n",
				sender[i].locks);
			wrong++;
		}
	}
	shmem_barrier_all();
	for (i = 0; me == 1 % shmem_n_pes() && i < THREADS * BATCH; i++)
		wrong += !target->sent[i / BATCH] ||
			 target->word[i / BATCH][i % BATCH] != target->sent[i / BATCH];
	return wrong;
}

int main(int argc, char **argv)
{
	int csv = argc > 1 && !strcmp(argv[1], "-c");
	int provided, i, me, wrong = 0;
	long counted;

	if (argc > 1 + csv)
		seconds = (double)number("milliseconds", argv[1 + csv], 1, MAX_MS) / 1e3;
	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	me = shmem_my_pe();
	right = (me + 1) % shmem_n_pes();
	target = shmem_align(LINE, sizeof(*target));
	if (!target)
		shmem_global_exit(1);
	memset(target, 0, sizeof(*target));
	shmem_barrier_all();
	for (i = 0; i < THREADS; i++)
		wrong += shmem_ctx_create(SHMEM_CTX_PRIVATE, &sender[i].ctx) != 0;
	/* The default context takes locks, so the program counts some. */
	counted = locks;
	shmem_long_p(&got, 1, right);
	wrong += locks == counted;
	if (!me)
		measure(csv);
	wrong += check(me);
	if (!csv || wrong)
		printf("rate: PE %d: %d errors\n", me, wrong);
	shmem_finalize();
	return wrong != 0;
}
