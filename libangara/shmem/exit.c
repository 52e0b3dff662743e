// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shmem_global_exit(): a signal with the status ends the PEs on the same
 * machine; far.c ends the others.
 *
 * A PE may have ended already, and another process may have its process id.  So
 * the signal is sent to a pidfd, which always refers to the same process, and
 * only if the process has the start time of the PE.  Without a pidfd (before
 * Linux 5.3, in a sandbox, or without a free descriptor), reuse of an id
 * between the check and the signal is not detected.  Without /proc, the PE
 * cannot be distinguished from another process, so the launcher ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shi.h"

#define EXIT_SIGNAL	(SIGRTMAX - 1)
#define EXIT_FIELD	22	/* field of /proc/PID/stat: start time */

/*
 * Return: a number that is equal for processes that can send each other
 * signals: processes of one boot of one machine, in one PID namespace.
 */
static uint64_t host_id(void)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	uint64_t hash = 14695981039346656037ULL;
	struct stat st = { 0 };
	char name[256] = "";
	const char *p;

	if (fd < 0 || read(fd, name, sizeof(name) - 1) <= 0)
		gethostname(name, sizeof(name) - 1);
	if (fd >= 0)
		close(fd);
	for (p = name; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211ULL;
	if (!stat("/proc/self/ns/pid", &st))
		hash ^= st.st_ino;
	return hash;
}

/* Return: start time of a process; 0: not known. */
static uint64_t proc_begun(pid_t pid)
{
	char path[32], text[1024];
	const char *at;
	ssize_t n;
	int fd, field;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* Field 2, the name, is in parentheses, and may contain parentheses. */
	at = strrchr(text, ')');
	for (field = 2; at && field < EXIT_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

void shi_exit_card(struct shi_card *mine)
{
	mine->pid = getpid();
	mine->begun = proc_begun(getpid());
	mine->host = host_id();
}

/* Signal handler: ends this PE if another PE has called shmem_global_exit(). */
static void exit_signal(int sig, siginfo_t *info, void *unused)
{
	unsigned int i;

	(void)sig;
	(void)unused;
	if (info->si_code != SI_QUEUE)
		return;
	/*
	 * Before the exchange of cards the sender is unknown: ignore the
	 * signal.  This PE then waits for the exchange, which fails when the
	 * sender ends.
	 */
	for (i = 0; shi.cards && i < shi.n; i++)
		if (shi.cards[i].pid == info->si_pid)
			_exit(info->si_value.sival_int);
}

void shi_exit_listen(void)
{
	struct sigaction sa = {
		.sa_sigaction = exit_signal,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};

	sigaction(EXIT_SIGNAL, &sa, NULL);
}

static void exit_send(const struct shi_card *card, int status)
{
	pid_t pid = (pid_t)card->pid;
	siginfo_t info = {
		.si_signo = EXIT_SIGNAL,
		.si_code = SI_QUEUE,
	};
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool missing = fd < 0 && errno != ESRCH;

	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = status;
	if ((fd >= 0 || missing) && card->begun && proc_begun(pid) == card->begun) {
		if (missing)
			sigqueue(pid, EXIT_SIGNAL, info.si_value);
		else
			syscall(SYS_pidfd_send_signal, fd, EXIT_SIGNAL, &info, 0);
	}
	if (fd >= 0)
		close(fd);
}

SHI_DEF(void, global_exit, (int status))
{
	unsigned int i;

	fflush(NULL);
	/*
	 * Free a descriptor: the loop below needs some, and the process may
	 * have no free one.
	 */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	for (i = 0; shi.cards && i < shi.n; i++)
		if ((int)i != shi.me && shi.cards[i].host == shi.cards[shi.me].host)
			exit_send(&shi.cards[i], status);
	shi_far_exit(status);
	_exit(status);
}
