// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Deadlines of waiting callers. */
#include <pthread.h>
#include <time.h>

#include "afi.h"

#define AFI_NS_PER_MS	1000000ULL

static u64 clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

/* Deadline @timeout milliseconds from now; < 0: never. */
u64 afi_deadline(int timeout)
{
	return timeout < 0 ? UINT64_MAX :
			     clock_now() + (u64)timeout * AFI_NS_PER_MS;
}

bool afi_past(u64 end)
{
	return end != UINT64_MAX && clock_now() >= end;
}

/* Waits for a condition until @end; the wait may also end earlier. */
void afi_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, u64 end)
{
	const struct timespec ts = {
		.tv_sec = (time_t)(end / 1000000000ULL),
		.tv_nsec = (long)(end % 1000000000ULL),
	};

	if (end == UINT64_MAX)
		pthread_cond_wait(cond, lock);
	else
		pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &ts);
}

/* Milliseconds until @end, for poll(2). */
int afi_left(u64 end)
{
	u64 now = clock_now();
	u64 ms = 0;

	if (end == UINT64_MAX)
		return -1;
	if (now < end)
		ms = (end - now + AFI_NS_PER_MS - 1) / AFI_NS_PER_MS;
	return ms > INT32_MAX ? INT32_MAX : (int)ms;
}
