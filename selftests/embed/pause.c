// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A random scheduler: threads and processes pause at points of interaction, as
 * determined by a seed; see env/ang_env.h.  PAUSE_SEED is the seed, 0 stands
 * for no pauses.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "ang_env.h"

#define YIELD	64	/* one call of test_pause() in YIELD yields */
#define SLEEP	16384	/* one call of test_pause() in SLEEP sleeps */

static unsigned long seed_of_thread(void)
{
	static atomic_ulong threads;
	const char *text = getenv("PAUSE_SEED");
	const char *rank = getenv("ANGARA_RANK");
	unsigned long seed = text ? strtoul(text, NULL, 0) : 0;

	if (!seed)
		return 0;
	return seed * 1000003 + (rank ? strtoul(rank, NULL, 0) * 7919 : 0) +
	       atomic_fetch_add(&threads, 1) * 104729 + 1;
}

void test_pause(void)
{
	static __thread unsigned long state;
	static __thread bool known;
	const struct timespec nap = { .tv_nsec = 50000 };
	unsigned int chance;

	if (!known) {
		known = true;
		state = seed_of_thread();
	}
	if (!state)
		return;
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	chance = (unsigned int)(state >> 33);
	if (chance % SLEEP == 0)
		nanosleep(&nap, NULL);
	else if (chance % YIELD == 0)
		sched_yield();
}
