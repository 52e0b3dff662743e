// SPDX-License-Identifier: GPL-2.0-only
/*
 * To be preloaded: sends SIGINT right before the program waits for data for the
 * second time, or for time number $WAIT.  The program has checked for signals by
 * then.  With $WAIT the program gets data in pieces of at most PIECE bytes.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PIECE	7U

static void interrupt_late(void)
{
	const char *last = getenv("WAIT");
	static int waits;

	if (++waits == (last ? atoi(last) : 2))
		raise(SIGINT);
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	struct timespec ts = { timeout / 1000, timeout % 1000 * 1000000L };

	interrupt_late();
	return (int)syscall(SYS_ppoll, fds, n, timeout < 0 ? NULL : &ts, NULL, 0);
}

/* The program reads answers to requests with MSG_WAITALL. */
ssize_t recv(int fd, void *buf, size_t size, int flags)
{
	if (!flags) {
		interrupt_late();
		if (getenv("WAIT") && size > PIECE)
			size = PIECE;
	}
	return syscall(SYS_recvfrom, fd, buf, size, flags, NULL, NULL);
}
