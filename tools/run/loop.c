// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a job: start, watch, end.
 *
 * The job ends when all processes have.  When one fails, or a signal asks for
 * the end, the others get a period of grace in which to notice and report,
 * then SIGTERM, then SIGKILL.  The launcher is the reaper of what its children
 * leave behind, and ends that, too.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define RUN_TERM_MS	2000	/* from SIGTERM to SIGKILL */
#define RUN_EVENTS	64
#define RUN_NEVER	(~0ULL)

/**
 * struct ending - what is going to be done to the processes that are left
 * @limit: when the time limit ends, ms
 * @next: when the next signal is due, ms
 * @sig: which one
 */
struct ending {
	u64 limit;
	u64 next;
	int sig;
};

static const int forwarded[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
};

static u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000;
}

int run_watch(struct run_job *job, int fd, u32 events, u32 kind, u32 rank)
{
	struct epoll_event ev = {
		.events = events,
		.data.u64 = (u64)kind << 32 | rank,
	};

	return epoll_ctl(job->epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

void run_kill_all(struct run_job *job, int sig)
{
	u32 rank;

	for (rank = 0; rank < job->n; rank++)
		if (job->procs[rank].pid > 0)
			kill(job->procs[rank].pid, sig);
}

static void end_in(struct ending *end, u64 ms, int sig)
{
	u64 at = now_ms() + ms;

	if (at < end->next) {
		end->next = at;
		end->sig = sig;
	}
}

static struct run_proc *find_proc(struct run_job *job, pid_t pid)
{
	u32 rank;

	for (rank = 0; rank < job->n; rank++)
		if (job->procs[rank].pid == pid)
			return &job->procs[rank];
	return NULL;
}

/* The first failure is the job's; later ones mostly follow from it. */
static void proc_ended(struct run_job *job, struct run_proc *proc, int wstatus,
		       struct ending *end)
{
	int status = WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) :
					    WEXITSTATUS(wstatus);

	if (status && !job->status) {
		job->status = status;
		/* One that exits has said why itself. */
		if (WIFSIGNALED(wstatus))
			run_say("process %u was killed by signal %d (%s)",
				proc->conn.rank, WTERMSIG(wstatus),
				strsignal(WTERMSIG(wstatus)));
	}
	proc->pid = 0;
	job->alive--;
	run_conn_gone(job, &proc->conn);
	if (status && !job->opts->keep_going && job->alive)
		end_in(end, job->opts->grace_s * 1000ULL, SIGTERM);
}

static void reap(struct run_job *job, struct ending *end)
{
	int wstatus;
	pid_t pid;

	while ((pid = waitpid(-1, &wstatus, WNOHANG)) > 0) {
		struct run_proc *proc = find_proc(job, pid);

		if (proc)
			proc_ended(job, proc, wstatus, end);
	}
}

/*
 * A signal from the terminal has reached the processes already, as they are in
 * the launcher's group.
 */
static void signal_event(struct run_job *job, struct ending *end)
{
	struct signalfd_siginfo si;

	if (read(job->sigfd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD) {
		reap(job, end);
		return;
	}
	if (si.ssi_code != SI_KERNEL)
		run_kill_all(job, (int)si.ssi_signo);
	if (si.ssi_signo != SIGUSR1 && si.ssi_signo != SIGUSR2)
		end_in(end, job->opts->grace_s * 1000ULL, SIGTERM);
}

static void handle(struct run_job *job, const struct epoll_event *ev,
		   struct ending *end)
{
	u32 kind = (u32)(ev->data.u64 >> 32);
	struct run_proc *proc = &job->procs[(u32)ev->data.u64];

	switch (kind) {
	case RUN_EV_SIGNAL:
		signal_event(job, end);
		break;
	case RUN_EV_CONN:
		run_conn_event(job, &proc->conn, ev->events);
		break;
	default:
		if (proc->out[kind - RUN_EV_OUT].from >= 0)
			run_stream_read(job, &proc->out[kind - RUN_EV_OUT]);
	}
}

static void deadlines(struct run_job *job, struct ending *end)
{
	u64 now = now_ms();

	if (now >= end->limit) {
		end->limit = RUN_NEVER;
		run_say("time limit of %u s reached", job->opts->timeout_s);
		job->status = RUN_EXIT_TIMEOUT;
		end_in(end, 0, SIGTERM);
	}
	if (now < end->next)
		return;
	run_kill_all(job, end->sig);
	end->next = end->sig == SIGTERM ? now + RUN_TERM_MS : RUN_NEVER;
	end->sig = SIGKILL;
}

static int until(const struct ending *end)
{
	u64 next = end->limit < end->next ? end->limit : end->next;
	u64 now = now_ms();

	if (next == RUN_NEVER)
		return -1;
	return next > now ? (int)(next - now) : 0;
}

static void step(struct run_job *job, struct ending *end)
{
	struct epoll_event evs[RUN_EVENTS];
	int n = epoll_wait(job->epfd, evs, RUN_EVENTS, until(end));
	int i;

	for (i = 0; i < n; i++)
		handle(job, &evs[i], end);
	deadlines(job, end);
}

/* Return: a process that a process of the job left behind, 0 for none. */
static pid_t leftover(void)
{
	char path[64];
	pid_t pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%d", &pid) != 1)
		pid = 0;
	fclose(f);
	return pid;
}

/* Ends what was left behind; its own children then come to us. */
static void kill_leftovers(void)
{
	pid_t pid;

	while ((pid = leftover()) > 0) {
		/* One that runs as somebody else is not ours to end. */
		if (kill(pid, SIGKILL))
			return;
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

/* All writers have ended: what is in the pipe is all that comes. */
static void drain_stream(struct run_job *job, struct run_stream *s)
{
	while (s->from >= 0) {
		struct pollfd p = { .fd = s->from, .events = POLLIN };

		if (poll(&p, 1, 0) > 0)
			run_stream_read(job, s);
		else
			run_stream_end(job, s);
	}
}

static void drain(struct run_job *job)
{
	u32 rank;

	for (rank = 0; rank < job->n; rank++) {
		drain_stream(job, &job->procs[rank].out[0]);
		drain_stream(job, &job->procs[rank].out[1]);
	}
}

static int prepare(struct run_job *job)
{
	sigset_t set;
	size_t i;
	u32 rank;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (i = 0; i < sizeof(forwarded) / sizeof(*forwarded); i++)
		sigaddset(&set, forwarded[i]);
	run_spawn_prepare(&set);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (rank = 0; rank < job->n; rank++) {
		job->procs[rank].conn.fd = -1;
		job->procs[rank].conn.rank = rank;
		job->procs[rank].out[0].from = -1;
		job->procs[rank].out[1].from = -1;
	}
	job->epfd = epoll_create1(EPOLL_CLOEXEC);
	job->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (job->epfd < 0 || job->sigfd < 0)
		return -errno;
	return run_watch(job, job->sigfd, EPOLLIN, RUN_EV_SIGNAL, 0);
}

static int start(struct run_job *job)
{
	u32 rank;

	for (rank = 0; rank < job->n; rank++) {
		int status = run_spawn(job, rank);

		if (status) {
			run_kill_all(job, SIGKILL);
			return status;
		}
	}
	return 0;
}

/**
 * run_loop() - run the job
 * @job: job, with its devices chosen
 *
 * Return: exit status: that of the first process that failed, 128 + signal if
 * it was killed, or 0.
 */
int run_loop(struct run_job *job)
{
	struct ending end = { .limit = RUN_NEVER, .next = RUN_NEVER };
	int ret = prepare(job);

	if (ret) {
		run_say("cannot set up: %s", strerror(-ret));
		return RUN_EXIT_FAILURE;
	}
	job->status = start(job);
	if (job->opts->timeout_s)
		end.limit = now_ms() + job->opts->timeout_s * 1000ULL;
	while (job->alive)
		step(job, &end);
	kill_leftovers();
	drain(job);
	close(job->sigfd);
	close(job->epfd);
	return job->status;
}
