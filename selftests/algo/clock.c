// SPDX-License-Identifier: GPL-2.0-only
/*
 * A monotonic clock for LD_PRELOAD.  Each reading of a thread is TICK_NS ns after
 * its previous reading, whatever happens in between, so measured times are known.
 */
#include <stdlib.h>
#include <time.h>

static long long tick(void)
{
	static long long ns;

	if (!ns)
		ns = atoll(getenv("TICK_NS"));
	return ns;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	static _Thread_local long long now = 1000000000;

	(void)id;
	now += tick();
	*t = (struct timespec){ .tv_sec = now / 1000000000, .tv_nsec = now % 1000000000 };
	return 0;
}
