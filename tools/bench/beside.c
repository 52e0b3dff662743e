// SPDX-License-Identifier: GPL-2.0-only
/*
 * beside: runs a command beside computing processes, and counts context
 * switches.
 *
 *	beside HOGS COMMAND [ARGUMENT...]
 *
 * HOGS processes spin, each on its own processor while there are enough, from
 * the last processor down.  At the end one line goes to standard error: the
 * time that the command took in microseconds, and its number of context
 * switches.  The kernel adds those of the command's descendants that were waited
 * for.  Returns the command's status.
 */
#define _GNU_SOURCE
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"

#define MAX_HOGS	64
#define EXIT_USAGE	2
#define SETTLE_US	200000	/* time for the scheduler to move other processes */

static pid_t hogs[MAX_HOGS];
static long num_hogs;

static void hog_start(long number, pid_t parent)
{
	volatile unsigned long spins = 0;
	pid_t pid = fork();

	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	hogs[number] = pid;
	num_hogs = number + 1;
	if (pid)
		return;
	/* Spins until its parent ends, for any reason. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	cpu_bind(-1 - number);
	for (;;)
		spins++;
}

static void hogs_end(void)
{
	while (num_hogs) {
		kill(hogs[--num_hogs], SIGKILL);
		waitpid(hogs[num_hogs], NULL, 0);
	}
}

static long long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

/* Runs the command.  Return: its exit status. */
static int run(char **argv)
{
	long long start = now_us();
	struct rusage used;
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	if (!pid) {
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	/* @used has the counts of the command and its descendants, not those of the hogs. */
	if (wait4(pid, &status, 0, &used) != pid)
		err(EXIT_FAILURE, "wait4");
	fprintf(stderr, "%lld %ld\n", now_us() - start,
		used.ru_nvcsw + used.ru_nivcsw);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	char *end = NULL;
	long want = argc > 2 ? strtol(argv[1], &end, 10) : -1;
	int status;
	long i;

	if (want < 0 || want > MAX_HOGS || *end)
		errx(EXIT_USAGE, "usage: beside HOGS COMMAND [ARGUMENT...], with up to %d hogs",
		     MAX_HOGS);
	for (i = 0; i < want; i++)
		hog_start(i, getpid());
	if (want)
		usleep(SETTLE_US);
	status = run(argv + 2);
	hogs_end();
	return status;
}
