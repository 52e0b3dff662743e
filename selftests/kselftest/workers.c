// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loopback's workers: several of them do the work that one caller has left.
 *
 * One thread on one processor starts more work on every node than it may do
 * itself, so all of the rest goes to one list.  debugfs shows which workers
 * have advanced nodes.
 */
#include <endian.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "at_harness.h"
#include "angtest.h"

AT_REQUIRE(AT_ROOT | AT_TORUS | AT_LOOP)

#define WORKERS	64
#define NODES	8
#define BYTES	(256UL << 10)
#define PUTS	32

/* A worker's counters in debugfs. */
struct counters {
	unsigned long long slices;
	unsigned long long taken;
};

FIXTURE(workers) {
	struct at_fabric f;
	struct at_ctx x[NODES];
	char *mem[NODES];
	int key[NODES];
	struct counters before[WORKERS];
	struct counters after[WORKERS];
};

FIXTURE_SETUP(workers)
{
	unsigned int i;

	ASSERT_EQ(0, at_fabric_find(&self->f, NODES));
	for (i = 0; i < NODES; i++) {
		ASSERT_EQ(0, at_ctx_open(&self->x[i], self->f.dev[i], NULL));
		self->mem[i] = at_pages(2 * BYTES);
		ASSERT_NE(NULL, self->mem[i]);
		self->key[i] = at_mr(&self->x[i], self->mem[i], 2 * BYTES, 7);
		ASSERT_LE(0, self->key[i]);
	}
}

FIXTURE_TEARDOWN(workers)
{
	unsigned int i;

	for (i = 0; i < NODES; i++)
		at_ctx_close(&self->x[i]);
}

/* Number of workers; -1 if debugfs is missing. */
static int look(unsigned int dev, struct counters *d)
{
	unsigned int num;
	char line[128];
	FILE *file;
	int n = 0;

	snprintf(line, sizeof(line), "/sys/kernel/debug/angara/angara%u/workers",
		 dev);
	file = fopen(line, "r");
	if (!file)
		return -1;
	while (n < WORKERS && fgets(line, sizeof(line), file))
		if (sscanf(line, "%u %llu %llu", &num, &d[n].slices,
			   &d[n].taken) == 3)
			n++;
	fclose(file);
	return n;
}

/* Starts, from one thread, puts of every node to the next one. */
static void start(struct __test_metadata *_metadata, FIXTURE_DATA(workers) *self)
{
	unsigned int i, k;

	for (i = 0; i < NODES; i++) {
		unsigned int to = (i + 1) % NODES;
		struct angara_wqe w = at_put(&self->x[to], self->key[to], BYTES,
					     self->key[i], 0, BYTES);

		at_fill(self->mem[i], BYTES, i + 1);
		for (k = 0; k < PUTS; k++)
			ASSERT_EQ(0, at_post(&self->x[i], &w, NULL));
	}
	for (i = 0; i < NODES; i++)
		ASSERT_EQ(0, at_kick(&self->x[i]));
}

static void finish(struct __test_metadata *_metadata, FIXTURE_DATA(workers) *self)
{
	struct angara_cqe cqe;
	unsigned int i, k;

	for (i = 0; i < NODES; i++) {
		for (k = 0; k < PUTS; k++) {
			ASSERT_EQ(0, at_wait_cqe(&self->x[i], &cqe,
						 AT_DEADLINE_MS));
			ASSERT_EQ(ANGARA_ST_OK, le16toh(cqe.status));
		}
	}
	for (i = 0; i < NODES; i++)
		EXPECT_TRUE(at_filled(self->mem[(i + 1) % NODES] + BYTES, BYTES,
				      i + 1));
}

TEST_F(workers, share_what_one_caller_leaves)
{
	unsigned int busy = 0, i, round;
	unsigned long long taken = 0;
	cpu_set_t one, all;
	int n;

	n = look(self->f.dev[0], self->before);
	ASSERT_LT(0, n) {
		TH_LOG("debugfs shows no workers");
	}
	if (n < 2)
		SKIP(return, "needs two workers: this machine has one processor");
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(all), &all));
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	for (round = 0; round < 4; round++) {
		ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
		start(_metadata, self);
		ASSERT_EQ(0, sched_setaffinity(0, sizeof(all), &all));
		finish(_metadata, self);
	}
	ASSERT_EQ(n, look(self->f.dev[0], self->after));
	for (i = 0; i < (unsigned int)n; i++) {
		TH_LOG("worker %u: %llu slices, %llu taken from others", i,
		       self->after[i].slices - self->before[i].slices,
		       self->after[i].taken - self->before[i].taken);
		busy += self->after[i].slices != self->before[i].slices;
		taken += self->after[i].taken - self->before[i].taken;
	}
	EXPECT_LE(2, busy);
	EXPECT_LT(0, taken);
}

TEST_HARNESS_MAIN
