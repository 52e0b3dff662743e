// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage data from the shim, which the kernel would report over netlink.  A
 * kselftest program that is linked with this file uses the functions of this
 * file instead of its own.
 */
#include <dlfcn.h>
#include <string.h>

#include "angtest.h"
#include "nl.h"

int __wrap_at_usage(struct at_usage *use);
int __wrap_at_usage_wait(const struct at_usage *want, unsigned int ms);

int __wrap_at_usage(struct at_usage *use)
{
	int (*usage)(unsigned long *ctxs, unsigned long *mrs,
		     unsigned long *bytes) = dlsym(RTLD_DEFAULT, "shim_usage");
	unsigned long ctxs = 0, mrs = 0, bytes = 0;
	int ret = usage ? usage(&ctxs, &mrs, &bytes) : -ENOSYS;

	memset(use, 0, sizeof(*use));
	use->contexts = ctxs;
	use->mrs = mrs;
	use->pinned = bytes;
	return ret;
}

int __wrap_at_usage_wait(const struct at_usage *want, unsigned int ms)
{
	uint64_t end = at_now_ms() + ms;
	struct at_usage use;
	int ret;

	do {
		ret = __wrap_at_usage(&use);
		if (ret || (use.contexts <= want->contexts &&
			    use.mrs <= want->mrs && use.pinned <= want->pinned))
			return ret;
		at_sleep_ms(5);
	} while (at_now_ms() < end);
	return -ETIMEDOUT;
}
