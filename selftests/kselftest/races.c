// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes of several threads make random calls, are killed at random times,
 * and the fabric under them is removed and made again. The kernel finds errors
 * if it has lockdep, KASAN or KCSAN; the test only checks that nothing is left
 * at the end and that the adapters still work.
 *
 * ANGARA_TEST_ROUNDS is the number of times that a process is killed or a
 * fabric removed, by default 100; the interval is a number of calls, not a
 * time.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "angtest.h"
#include "randcalls.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS | AT_LOOP)

#define PROCESSES	3
#define THREADS		2
#define OTHER_DIMS	"2x2"
#define OTHER_NODES	4
/* Maximum number of calls, of all threads together, between two rounds. */
#define CALLS		400

/* Threads that are started again continue the counts of the killed ones. */
struct shared {
	volatile bool stop;
	struct at_caller caller[PROCESSES][THREADS];
};

FIXTURE(races) {
	struct at_fabric f;
	struct at_usage use;
	struct shared *shared;
	pid_t pid[PROCESSES];
	struct at_loop other;
	unsigned int killed;
	unsigned int removed;
	unsigned long seed;
	int fabrics;
};

static unsigned int rounds(void)
{
	const char *text = getenv("ANGARA_TEST_ROUNDS");

	return text ? strtoul(text, NULL, 10) : 100;
}

static unsigned long calls(const struct shared *shared)
{
	unsigned long sum = 0;
	unsigned int i, k;

	for (i = 0; i < PROCESSES; i++)
		for (k = 0; k < THREADS; k++)
			sum += shared->caller[i][k].calls;
	return sum;
}

static unsigned int bad_answers(const struct shared *shared)
{
	unsigned int sum = 0;
	unsigned int i, k;

	for (i = 0; i < PROCESSES; i++)
		for (k = 0; k < THREADS; k++)
			sum += shared->caller[i][k].bad;
	return sum;
}

/* Waits for @more further calls; the threads must not stop. */
static int wait_calls(const struct shared *shared, unsigned int more)
{
	unsigned long until = calls(shared) + more;
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;

	while (calls(shared) < until) {
		if (at_now_ms() > end)
			return -ETIMEDOUT;
		at_sleep_ms(1);
	}
	return 0;
}

FIXTURE_SETUP(races)
{
	struct at_loop list[AT_MAX_LOOPS];

	ASSERT_EQ(0, at_fabric_find(&self->f, 8));
	ASSERT_EQ(0, at_usage(&self->use));
	self->fabrics = at_loop_list(list, AT_MAX_LOOPS);
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	self->seed = at_seed();
	TH_LOG("ANGARA_TEST_SEED=%lu", self->seed);
}

FIXTURE_TEARDOWN(races)
{
	struct at_loop list[AT_MAX_LOOPS];

	if (self->other.nodes)
		at_loop_remove(&self->other);
	EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
	EXPECT_EQ(self->fabrics, at_loop_list(list, AT_MAX_LOOPS));
}

/* A process: runs its threads until it is killed. */
static void process(struct shared *shared, unsigned int number,
		    unsigned int first, unsigned long seed)
{
	struct at_caller *caller = shared->caller[number];
	pthread_t thread[THREADS];
	struct at_randcalls calls;
	unsigned int i;

	/* Devices of the other fabric have the next numbers. */
	if (at_randcalls_open(&calls, first, 1 + OTHER_NODES + 2, true))
		_exit(1);
	for (i = 0; i < THREADS; i++) {
		caller[i].d = &calls;
		caller[i].seed = seed * 31 + i + 1;
		if (pthread_create(&thread[i], NULL, at_randcalls_work, &caller[i]))
			_exit(1);
	}
	while (!shared->stop)
		at_sleep_ms(20);
	calls.stop = true;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}

/* Number of the last device of the first fabric. */
static unsigned int border(const struct at_fabric *f)
{
	return f->dev[f->nodes - 1];
}

static void start(FIXTURE_DATA(races) *self, unsigned int i)
{
	unsigned long seed = at_rand(&self->seed, 1U << 30) + 1;

	self->pid[i] = fork();
	if (!self->pid[i])
		process(self->shared, i, border(&self->f), seed);
}

static int kill_one(FIXTURE_DATA(races) *self)
{
	unsigned int i = at_rand(&self->seed, PROCESSES);
	int ret;

	kill(self->pid[i], SIGKILL);
	ret = at_wait_child(self->pid[i], AT_DEADLINE_MS);
	start(self, i);
	self->killed++;
	return ret == -SIGKILL ? 0 : ret;
}

/* Makes a new fabric at once: the processes still have files of the old one. */
static int renew(FIXTURE_DATA(races) *self)
{
	int ret;

	if (self->other.nodes) {
		ret = at_loop_remove(&self->other);
		self->other.nodes = 0;
		if (ret)
			return ret;
		self->removed++;
	}
	return at_loop_add(OTHER_DIMS, &self->other);
}

/* Clears the rows that the killed processes have left. */
static void tidy(const struct at_fabric *f)
{
	unsigned int i;
	int fd;

	for (i = 0; i < f->nodes; i++) {
		fd = at_open(f->dev[i]);
		at_tree_clear(fd, AT_RANDCALLS_TREE);
		close(fd);
	}
}

static int works(const struct at_fabric *f)
{
	char *mem = at_pages(AT_RANDCALLS_MEM);
	struct angara_wqe put;
	struct at_ctx x, y;
	int ret;

	at_fill(mem, 10000, 1);
	ret = at_ctx_open(&x, f->dev[0], NULL);
	if (!ret)
		ret = at_ctx_open(&y, border(f), NULL);
	if (ret || at_mr(&x, mem, AT_RANDCALLS_MEM, ANGARA_ACCESS_ALL) ||
	    at_mr(&y, mem, AT_RANDCALLS_MEM, ANGARA_ACCESS_ALL))
		return -EIO;
	put = at_put(&y, 0, 20000, 0, 0, 10000);
	ret = at_do(&x, &put, NULL);
	if (!at_filled(mem + 20000, 10000, 1))
		ret = -EIO;
	at_ctx_close(&x);
	at_ctx_close(&y);
	return ret;
}

TEST_F_TIMEOUT(races, killed_and_removed_at_any_time, 1200)
{
	unsigned int i, round;

	for (i = 0; i < PROCESSES; i++)
		start(self, i);
	for (round = rounds(); round; round--) {
		ASSERT_EQ(0, wait_calls(self->shared,
					at_rand(&self->seed, CALLS)));
		if (at_rand(&self->seed, 2)) {
			ASSERT_EQ(0, kill_one(self));
		} else {
			ASSERT_EQ(0, renew(self));
		}
	}
	self->shared->stop = true;
	for (i = 0; i < PROCESSES; i++)
		EXPECT_EQ(0, at_wait_child(self->pid[i], AT_DEADLINE_MS));
	TH_LOG("%lu calls, %u killed, %u fabrics removed", calls(self->shared),
	       self->killed, self->removed);
	EXPECT_EQ(0, bad_answers(self->shared));
	tidy(&self->f);
	EXPECT_EQ(0, works(&self->f));
}

TEST_HARNESS_MAIN
