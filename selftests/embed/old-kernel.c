// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * To be preloaded: emulates a kernel before 5.14, without MADV_POPULATE_READ
 * and MADV_POPULATE_WRITE.  OLD_KERNEL names a file that records whether the
 * program requested one of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int madvise(void *addr, size_t len, int advice)
{
	if (advice != 22 && advice != 23)
		return (int)syscall(SYS_madvise, addr, len, advice);
	close(open(getenv("OLD_KERNEL"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	errno = EINVAL;
	return -1;
}
