// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: when the server checks whether a descriptor is an eventfd, it
 * makes the system call in VFIO_FORBIDDEN, as injected code would.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void misbehave(const char *what)
{
	static const char * const argv[] = { "/bin/true", NULL };

	if (!strcmp(what, "execve"))
		syscall(SYS_execve, argv[0], argv, NULL);
	if (!strcmp(what, "fork"))
		syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (!strcmp(what, "socket"))
		syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
	if (!strcmp(what, "connect"))
		syscall(SYS_connect, 0, NULL, 0);
	if (!strcmp(what, "kill"))
		syscall(SYS_kill, getppid(), 0);
	if (!strcmp(what, "tgkill"))
		syscall(SYS_tgkill, 1, 1, 0);
	if (!strcmp(what, "ioctl"))
		syscall(SYS_ioctl, 0, 0x5412 /* TIOCSTI */, "x");
	if (!strcmp(what, "mprotect"))
		syscall(SYS_mprotect, NULL, 4096, PROT_READ | PROT_EXEC);
	if (!strcmp(what, "mmap"))
		syscall(SYS_mmap, NULL, 4096, PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/*
	 * Opening a file must fail, too, but only with an error; see sandbox.c.
	 */
	if (!strcmp(what, "openat") &&
	    syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY) >= 0)
		abort();
}

ssize_t readlink(const char *path, char *buf, size_t len)
{
	const char *what = getenv("VFIO_FORBIDDEN");

	if (what)
		misbehave(what);
	return syscall(SYS_readlinkat, AT_FDCWD, path, buf, len);
}
