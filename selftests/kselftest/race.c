// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many threads on few files make random calls at random times: results may be
 * anything, but the device keeps working and nothing is left behind.
 */
#include <pthread.h>

#include "at_harness.h"
#include "angtest.h"
#include "randcalls.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define THREADS	6

FIXTURE(race) {
	struct at_fabric f;
	struct at_usage use;
	struct at_randcalls d;
	long charged;
	unsigned long seed;
};

FIXTURE_SETUP(race)
{
	ASSERT_EQ(0, at_fabric_find(&self->f, 8));
	ASSERT_EQ(0, at_usage(&self->use));
	self->charged = at_charged();
	self->seed = at_seed();
	TH_LOG("ANGARA_TEST_SEED=%lu", self->seed);
	/* All threads use one device, so that they collide. */
	ASSERT_EQ(0, at_randcalls_open(&self->d, self->f.dev[0], 1, false));
}

FIXTURE_TEARDOWN(race)
{
	at_randcalls_close(&self->d);
	EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
	EXPECT_EQ(self->charged, at_charged());
}

TEST_F(race, anything_at_any_time)
{
	struct at_caller w[THREADS];
	pthread_t t[THREADS];
	struct at_ctx x, y;
	struct angara_wqe put;
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		w[i] = (struct at_caller) {
			.d = &self->d, .seed = self->seed * 31 + i + 1,
		};
		ASSERT_EQ(0, pthread_create(&t[i], NULL, at_randcalls_work,
					    &w[i]));
	}
	at_sleep_ms(at_scale(4000));
	self->d.stop = true;
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(t[i], NULL));
		EXPECT_EQ(0, w[i].bad);
		EXPECT_LT(0, w[i].calls);
	}
	at_tree_clear(self->d.fd[0], AT_RANDCALLS_TREE);
	/* The device works as before. */
	ASSERT_EQ(0, at_ctx_open(&x, self->f.dev[0], NULL));
	ASSERT_EQ(0, at_ctx_open(&y, self->f.dev[7], NULL));
	ASSERT_EQ(0, at_mr(&x, self->d.mem, AT_RANDCALLS_MEM, ANGARA_ACCESS_ALL));
	ASSERT_EQ(0, at_mr(&y, self->d.mem, AT_RANDCALLS_MEM, ANGARA_ACCESS_ALL));
	at_fill(self->d.mem, 10000, 1);
	put = at_put(&y, 0, 20000, 0, 0, 10000);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&x, &put, NULL));
	EXPECT_TRUE(at_filled(self->d.mem + 20000, 10000, 1));
	at_ctx_close(&x);
	at_ctx_close(&y);
}

TEST_HARNESS_MAIN
