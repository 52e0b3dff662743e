// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocations that fail, by AT_FAIL_NTH.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "angtest.h"
#include "fail.h"

void at_fail_require(unsigned int what)
{
	const char *missing;

	at_require(what);
	missing = at_failing_init();
	if (!missing)
		return;
	printf("TAP version 13\n1..0 # SKIP the kernel cannot make allocations fail: no %s\n",
	       missing);
	fflush(stdout);
	_exit(4);
}

int at_fail_open(void)
{
	int fd = open(AT_FAIL_NTH, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int at_fail_arm(int fd, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	return pwrite(fd, text, len, 0) == len ? 0 : -errno;
}

bool at_fail_disarm(int fd)
{
	char text[16] = "";
	bool hit = pread(fd, text, sizeof(text) - 1, 0) > 0 &&
		   !strtoul(text, NULL, 10);

	/*
	 * If the allocation to fail is one of this write(), the write fails:
	 * repeat it.
	 */
	while (pwrite(fd, "0", 1, 0) != 1)
		;
	return hit;
}

bool at_fail_says_so(int ret)
{
	switch (ret) {
	case -ENOMEM:
	case -EFAULT:	/* the kernel failed to copy from or to user space */
	case -ENFILE:	/* the kernel has no inode for a socket */
	case -ENOBUFS:	/* netlink has no message for the answer */
		return true;
	default:
		return false;
	}
}
