// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Preloaded into an application: on rank HASTY_RANK the program's own clock runs
 * a million times as fast.  The clocks of the libraries, which have timeouts,
 * run as usual.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FACTOR	1000000ULL

static int from_program(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_fname &&
	       !strstr(info.dli_fname, ".so");
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*real)(clockid_t id, struct timespec *ts);
	static unsigned long long first;
	const char *mine = getenv("ANGARA_RANK"), *hasty = getenv("HASTY_RANK");
	unsigned long long ns;
	int ret;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	ret = real(id, ts);
	if (ret || !mine || !hasty || strcmp(mine, hasty) ||
	    !from_program(__builtin_return_address(0)))
		return ret;
	ns = (unsigned long long)ts->tv_sec * 1000000000 +
	     (unsigned long long)ts->tv_nsec;
	if (!first)
		first = ns;
	ns = (ns - first) * FACTOR;
	ts->tv_sec = (time_t)(ns / 1000000000);
	ts->tv_nsec = (long)(ns % 1000000000);
	return 0;
}
