// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shmem_global_exit(): a signal with the status ends the PEs on the same
 * machine; far.c ends the PEs on other machines.
 *
 * Each PE ends as by exit(): buffers of stdio are written, and functions of
 * atexit() run.  A signal handler must not call exit(), so a separate thread of
 * each PE calls it, while the thread that got the signal waits in the handler.  The waiting
 * thread may hold a lock that exit() needs; so the handler ends the process
 * after EXIT_LIMIT_S.  If all threads of the program block the signal, the PE's
 * own thread takes it.
 *
 * A PE may have ended already, and another process may have its process id.  So
 * the signal is sent to a pidfd, which always refers to the same process, and
 * only if the process has the start time of the PE.  Without a pidfd (before
 * Linux 5.3, in a sandbox, or without a free descriptor), reuse of an id
 * between the check and the signal is not detected.  Without /proc, the PE
 * cannot be distinguished from another process: it gets no signal, and ends when it
 * notices that the calling PE has ended.
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
#define EXIT_LIMIT_S	2	/* longest time of the functions of atexit() */
#define EXIT_SEND_MS	1000	/* longest wait for room in the queues of signals */
#define EXIT_FDS	2	/* descriptors that exit_send() needs at a time */
#define EXIT_LOOK_S	1	/* interval of checks for signals that could not be queued */

#define EXIT_NOT	INT64_MAX

/**
 * struct exit - the end of the PE by shmem_global_exit()
 * @thread: calls exit()
 * @status: status of this PE once it, or another one, has called
 *	shmem_global_exit(); EXIT_NOT before (atomic)
 * @handed: the signal handler leaves exit() to the thread (atomic)
 * @over: the thread returns (atomic)
 * @spare: descriptors in reserve, as the process may have no free ones
 */
static struct {
	pthread_t thread;
	int64_t status;
	bool handed;
	bool over;
	int spare[EXIT_FDS];
} end = {
	.status = EXIT_NOT,
	.spare = { -1, -1 },
};

/* This thread runs exit(). */
static __thread bool exiting;

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

/*
 * Does a signal come from a PE?  Before the exchange of cards the sender is unknown,
 * and the signal is ignored: this PE waits for the exchange, which fails when the
 * sender ends.
 */
static bool exit_from_pe(const siginfo_t *info)
{
	unsigned int i;

	for (i = 0; info->si_code == SI_QUEUE && shi.cards && i < shi.n; i++)
		if (shi.cards[i].pid == info->si_pid)
			return true;
	return false;
}

/* Records that this PE is ending.  Return: false if it was recorded before. */
static bool exit_begin(int status)
{
	int64_t before = EXIT_NOT;

	return __atomic_compare_exchange_n(&end.status, &before, status, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static int exit_status(void)
{
	return (int)__atomic_load_n(&end.status, __ATOMIC_ACQUIRE);
}

/* Has shmem_global_exit() been called, here or by another PE? */
bool shi_exit_begun(void)
{
	return __atomic_load_n(&end.status, __ATOMIC_ACQUIRE) != EXIT_NOT;
}

static __attribute__((noreturn)) void exit_run(int status)
{
	exiting = true;
	exit(status);
}

/* Waits until another thread has ended the process. */
static __attribute__((noreturn)) void exit_wait(void)
{
	struct timespec rest = { .tv_sec = EXIT_LIMIT_S };

	while (nanosleep(&rest, &rest) && errno == EINTR)
		;
	_exit(exit_status());
}

static void exit_signal(int sig, siginfo_t *info, void *unused)
{
	(void)unused;
	if (!exit_from_pe(info) || !exit_begin(info->si_value.sival_int))
		return;
	__atomic_store_n(&end.handed, true, __ATOMIC_RELEASE);
	pthread_kill(end.thread, sig);
	exit_wait();
}

/*
 * Waits for the signal; the thread has blocked all signals.  The signal of
 * pthread_kill() is not one of a PE: like a timeout, it only makes the thread check
 * @handed and @over.
 */
static void *exit_listen(void *unused)
{
	const struct timespec look = { .tv_sec = EXIT_LOOK_S };
	siginfo_t info;
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, EXIT_SIGNAL);
	while (!__atomic_load_n(&end.over, __ATOMIC_ACQUIRE)) {
		bool begun = sigtimedwait(&set, &info, &look) > 0 && exit_from_pe(&info) &&
			     exit_begin(info.si_value.sival_int);

		if (begun || __atomic_load_n(&end.handed, __ATOMIC_ACQUIRE))
			exit_run(exit_status());
	}
	return NULL;
}

void shi_exit_listen(void)
{
	struct sigaction sa = {
		.sa_sigaction = exit_signal,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};
	int i;

	for (i = 0; i < EXIT_FDS; i++)
		end.spare[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	shi_thread_start(&end.thread, exit_listen);
	sigaction(EXIT_SIGNAL, &sa, NULL);
}

static void spares_close(void)
{
	int i;

	for (i = 0; i < EXIT_FDS; i++) {
		if (end.spare[i] >= 0)
			close(end.spare[i]);
		end.spare[i] = -1;
	}
}

/* Ends this PE as if another PE of this machine had sent the signal. */
void shi_exit_self(int status)
{
	if (sigqueue(getpid(), EXIT_SIGNAL, (union sigval){ .sival_int = status }) &&
	    exit_begin(status))
		exit_run(status);
}

/* Ends the thread.  Called when no PE can call shmem_global_exit() any more. */
void shi_exit_ignore(void)
{
	signal(EXIT_SIGNAL, SIG_IGN);
	__atomic_store_n(&end.over, true, __ATOMIC_RELEASE);
	pthread_kill(end.thread, EXIT_SIGNAL);
	pthread_join(end.thread, NULL);
	spares_close();
}

/*
 * Sends a signal to a process. @fd: its pidfd; negative: use its id. The queue of the
 * process may be full (RLIMIT_SIGPENDING), so this retries until @until.
 */
static void exit_queue(int fd, pid_t pid, siginfo_t *info, int64_t until)
{
	while ((fd < 0 ? sigqueue(pid, EXIT_SIGNAL, info->si_value) :
		(int)syscall(SYS_pidfd_send_signal, fd, EXIT_SIGNAL, info, 0)) &&
	       errno == EAGAIN && shi_now_ms() < until)
		usleep(1000);
}

static void exit_send(const struct shi_card *card, int status, int64_t until)
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
	if ((fd >= 0 || missing) && card->begun && proc_begun(pid) == card->begun)
		exit_queue(fd, pid, &info, until);
	if (fd >= 0)
		close(fd);
}

/* Ends the other PEs, unless another thread does so, or another PE ends this one. */
static void exit_others(int status)
{
	int64_t until = shi_now_ms() + EXIT_SEND_MS;
	unsigned int i;

	if (!exit_begin(status)) {
		if (!exiting)
			exit_wait();
		/*
		 * This thread runs exit(), which runs a function that called
		 * this one.
		 */
		fflush(NULL);
		_exit(exit_status());
	}
	spares_close();
	for (i = 0; shi.cards && i < shi.n; i++)
		if ((int)i != shi.me && shi.cards[i].host == shi.cards[shi.me].host)
			exit_send(&shi.cards[i], status, until);
	shi_far_exit(status);
}

SHI_DEF(void, global_exit, (int status))
{
	exit_others(status);
	exit_run(status);
}

/*
 * Ends the program after an error.  The thread may hold locks, so functions of
 * atexit() do not run here.
 */
void shi_exit_now(int status)
{
	exit_others(status);
	fflush(NULL);
	_exit(status);
}
