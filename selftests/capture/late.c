// SPDX-License-Identifier: GPL-2.0-only
/*
 * To be preloaded: sends SIGINT right before the program's second wait for
 * data, that is, after the program has checked for signals.
 */
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void interrupt_second(void)
{
	static int waits;

	if (++waits == 2)
		raise(SIGINT);
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	struct timespec ts = { timeout / 1000, timeout % 1000 * 1000000L };

	interrupt_second();
	return (int)syscall(SYS_ppoll, fds, n, timeout < 0 ? NULL : &ts, NULL, 0);
}

/* The program reads answers to requests with MSG_WAITALL. */
ssize_t recv(int fd, void *buf, size_t size, int flags)
{
	if (!flags)
		interrupt_second();
	return syscall(SYS_recvfrom, fd, buf, size, flags, NULL, NULL);
}
