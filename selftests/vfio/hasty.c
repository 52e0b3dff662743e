// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: reports every eventfd as writable.  So the server writes to a
 * full eventfd.  Without this library, the server does so only if a client fills
 * the eventfd after the check.
 */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	struct timespec ts = { timeout / 1000, timeout % 1000 * 1000000L };

	if (n == 1 && !timeout && fds->events == POLLOUT) {
		fds->revents = POLLOUT;
		return 1;
	}
	return (int)syscall(SYS_ppoll, fds, n, timeout < 0 ? NULL : &ts, NULL, 0);
}
