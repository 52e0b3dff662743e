// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The scenarios with one thread for each actor and worker.  Unlike coroutines,
 * threads run at the same time, each on a processor with its own view of
 * memory.  Between two rounds the fabric has to be idle, and is checked.
 *
 *   explore-threads ROUNDS [FAMILY]...		TAP on stdout
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "explore.h"

#define SECONDS		300	/* limit for a family, which hangs if it takes longer */

static const struct family *const all[] = { FAMILIES, NULL };

const bool threads = true;
bool tracing;

static pthread_barrier_t round_begins, round_ends;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t handles[NODES + WORKERS];
static u32 ended;		/* actors that have ended in this round */
static u64 seed;
static bool over;
static __thread u64 chance = 1;

void test_fail(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	va_list args;

	printf("# %s, round %llu: %s:%d: ", family->name,
	       (unsigned long long)seed, base ? base + 1 : file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\nnot ok - %s\n", family->name);
	fflush(stdout);
	_exit(1);
}

void tell_of(const char *format, ...)
{
}

/* Yields also in the middle of a step. */
void moment(const char *what)
{
	if (!(rnd(&chance) & 0x7F0000))
		sched_yield();
}

void idle(const char *what)
{
	sched_yield();
}

void stepped(void)
{
}

void shared_lock(void)
{
	pthread_mutex_lock(&lock);
}

void shared_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool all_done(void)
{
	return __atomic_load_n(&ended, __ATOMIC_ACQUIRE) == family->nodes;
}

static void *thread(void *arg)
{
	struct actor *a = arg;
	u32 index = (u32)(a - shared.actor);

	for (;;) {
		pthread_barrier_wait(&round_begins);
		if (over)
			return NULL;
		chance = seed * (NODES + WORKERS) + index + 1;
		if (index < NODES) {
			family->act(a);
			hand_on(a);
			__atomic_fetch_add(&ended, 1, __ATOMIC_ACQ_REL);
		} else {
			work(a);
			hand_on(a);
		}
		pthread_barrier_wait(&round_ends);
	}
}

static void rounds(const struct family *f, u64 count)
{
	u32 n = 0;
	u32 i;

	world_new(f);
	nworkers = f->nodes < 4 ? 1 : 0;
	over = false;
	pthread_barrier_init(&round_begins, NULL, f->nodes + nworkers + 1);
	pthread_barrier_init(&round_ends, NULL, f->nodes + nworkers + 1);
	for (i = 0; i < f->nodes + nworkers; i++)
		if (pthread_create(&handles[n++], NULL, thread, &shared.actor[
				   i < f->nodes ? i : NODES + i - f->nodes]))
			test_fail(__FILE__, __LINE__, "cannot create a thread");
	for (seed = 1; seed <= count; seed++) {
		world_restore(seed);
		__atomic_store_n(&ended, 0, __ATOMIC_RELEASE);
		pthread_barrier_wait(&round_begins);
		pthread_barrier_wait(&round_ends);
		world_settle();
		if (family->end)
			family->end();
	}
	over = true;
	pthread_barrier_wait(&round_begins);
	for (i = 0; i < n; i++)
		pthread_join(handles[i], NULL);
	pthread_barrier_destroy(&round_begins);
	pthread_barrier_destroy(&round_ends);
}

static void hangs(int sig)
{
	test_fail(__FILE__, __LINE__, "hangs");
}

static bool wanted(const struct family *f, int argc, char **argv)
{
	int i;

	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], f->name))
			return true;
	return argc == 2;
}

int main(int argc, char **argv)
{
	u64 count = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	u32 number = 0;
	u32 i;

	if (!count) {
		fprintf(stderr, "usage: explore-threads ROUNDS [FAMILY]...\n");
		return 2;
	}
	signal(SIGALRM, hangs);
	for (i = 0; all[i]; i++) {
		if (!wanted(all[i], argc, argv))
			continue;
		alarm(SECONDS);
		rounds(all[i], count);
		printf("ok %u - %s: %llu rounds of %u threads (%s)\n", ++number,
		       all[i]->name, (unsigned long long)count,
		       all[i]->nodes + nworkers, all[i]->what);
		fflush(stdout);
	}
	printf("1..%u\n", number);
	return 0;
}
