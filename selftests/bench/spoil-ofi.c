// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Corrupts the memory of ofi-rate: clears the last byte of its buffer each time
 * the two processes meet, also after the messages that are checked. That byte is
 * the last one of a destination of SPOILT bytes, where no process sends a 0. The
 * data of a message may arrive after the processes have met and replace the
 * cleared byte, so the library first waits for the data.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#define SPOILT		4096
#define LATE_US		1000000

static char *buffer;

int posix_memalign(void **mem, size_t align, size_t len)
{
	int (*next)(void **mem, size_t align, size_t len);
	int ret;

	*(void **)&next = dlsym(RTLD_NEXT, "posix_memalign");
	ret = next(mem, align, len);
	if (!ret && !buffer && len == 2 * SPOILT)
		buffer = *mem;
	return ret;
}

ssize_t recv(int fd, void *data, size_t len, int flags)
{
	ssize_t (*next)(int fd, void *data, size_t len, int flags);
	ssize_t ret;

	*(void **)&next = dlsym(RTLD_NEXT, "recv");
	ret = next(fd, data, len, flags);
	if (ret == 1 && buffer) {
		usleep(LATE_US);
		buffer[2 * SPOILT - 1] = 0;
	}
	return ret;
}
