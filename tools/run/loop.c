// SPDX-License-Identifier: GPL-2.0-only
/*
 * The job: start, watch, end.
 *
 * The job ends when all processes have ended.  If a process fails, or a signal
 * requests the end, the remaining processes get a grace period in which they
 * can report errors, then SIGTERM, then SIGKILL.  The launcher becomes the
 * parent of processes that its children leave behind, and ends these processes,
 * too.
 *
 * While the reader of the output does not read, the launcher takes no more
 * output, but serves everything else.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define RUN_TERM_MS	2000	/* time from SIGTERM to SIGKILL */
#define RUN_EVENTS	64

static const int forwarded[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
};

u64 run_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000;
}

int run_watch(int epfd, int fd, u32 events, u32 kind, u32 rank)
{
	struct epoll_event ev = {
		.events = events,
		.data.u64 = (u64)kind << 32 | rank,
	};

	return epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

void run_kill_all(struct run_job *job, int sig)
{
	u32 rank;

	for (rank = 0; rank < job->n; rank++)
		if (job->procs[rank].pid > 0)
			kill(job->procs[rank].pid, sig);
}

/*
 * Schedules SIGTERM for the remaining processes in @ms milliseconds, unless it has been sent or
 * is due earlier.
 */
static void end_in(struct run_ending *end, u64 ms)
{
	u64 at = run_now_ms() + ms;

	if (end->sig != SIGKILL && at < end->next) {
		end->next = at;
		end->sig = SIGTERM;
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

/*
 * Handles the end of a process.  The exit status of the job is that of the first process that
 * fails; later failures are mostly consequences of the first.
 */
static void proc_ended(struct run_job *job, struct run_proc *proc, int wstatus)
{
	int status = WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) :
					    WEXITSTATUS(wstatus);

	if (status && !job->status) {
		job->status = status;
		/* A process that exits with an error has printed the reason itself. */
		if (WIFSIGNALED(wstatus))
			run_say("process %u was killed by signal %d (%s)",
				proc->conn.rank, WTERMSIG(wstatus),
				strsignal(WTERMSIG(wstatus)));
	}
	proc->pid = 0;
	job->alive--;
	run_conn_gone(job, &proc->conn);
	if (status && !job->opts->keep_going && job->alive)
		end_in(&job->end, job->opts->grace_s * 1000ULL);
	/*
	 * All processes have ended in time.  The reader of the output may take longer, unless a
	 * signal or the time limit has ended the job.
	 */
	if (!job->alive)
		job->end.limit = RUN_NEVER;
	if (!job->alive && !job->end.asked)
		job->end.next = RUN_NEVER;
}

/* Opens the list of the launcher's children.  Return: NULL if there is none. */
static FILE *children_open(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	return fopen(path, "re");
}

/*
 * Notes the children that this process had before it became the launcher: a shell
 * may have started them before exec.
 */
static int children_note(struct run_job *job)
{
	FILE *f = children_open();
	pid_t pid, *list;
	int ret = 0;

	while (f && fscanf(f, "%d", &pid) == 1) {
		list = realloc(job->before, (job->num_before + 1) * sizeof(*list));
		if (!list) {
			ret = -ENOMEM;
			break;
		}
		job->before = list;
		list[job->num_before++] = pid;
	}
	if (f)
		fclose(f);
	return ret;
}

/* Return: the place of a process in the list of earlier children, or NULL. */
static pid_t *find_before(const struct run_job *job, pid_t pid)
{
	size_t i;

	for (i = 0; i < job->num_before; i++)
		if (job->before[i] == pid)
			return &job->before[i];
	return NULL;
}

static void reap(struct run_job *job)
{
	int wstatus;
	pid_t pid;

	while ((pid = waitpid(-1, &wstatus, WNOHANG)) > 0) {
		struct run_proc *proc = find_proc(job, pid);
		pid_t *before = find_before(job, pid);

		if (proc)
			proc_ended(job, proc, wstatus);
		else if (before)
			*before = 0;
	}
}

/*
 * Forwards a signal to the processes, unless it comes from the terminal: as they are in the
 * launcher's process group, they have got that signal already.
 */
static void signal_event(struct run_job *job)
{
	struct signalfd_siginfo si;

	if (read(job->sigfd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD) {
		reap(job);
		return;
	}
	if (si.ssi_code != SI_KERNEL)
		run_kill_all(job, (int)si.ssi_signo);
	if (si.ssi_signo == SIGUSR1 || si.ssi_signo == SIGUSR2)
		return;
	job->end.asked = true;
	end_in(&job->end, job->opts->grace_s * 1000ULL);
}

static void outputs_event(struct run_job *job)
{
	struct epoll_event evs[RUN_EVENTS];
	int n = epoll_wait(job->outfd, evs, RUN_EVENTS, 0);
	int i;

	for (i = 0; i < n; i++) {
		u32 kind = (u32)(evs[i].data.u64 >> 32);
		struct run_proc *proc = &job->procs[(u32)evs[i].data.u64];

		run_stream_read(job, &proc->out[kind - RUN_EV_OUT]);
	}
}

static void handle(struct run_job *job, const struct epoll_event *ev)
{
	u32 kind = (u32)(ev->data.u64 >> 32);

	switch (kind) {
	case RUN_EV_SIGNAL:
		signal_event(job);
		break;
	case RUN_EV_CONN:
		run_conn_event(job, &job->procs[(u32)ev->data.u64].conn, ev->events);
		break;
	default:
		outputs_event(job);
	}
}

static void deadlines(struct run_job *job)
{
	struct run_ending *end = &job->end;
	u64 now = run_now_ms();

	run_exchanges_expire(job, now);
	if (now >= end->limit) {
		end->limit = RUN_NEVER;
		run_say("time limit of %u s reached", job->opts->timeout_s);
		job->status = RUN_EXIT_TIMEOUT;
		end->asked = true;
		end_in(end, 0);
	}
	if (now < end->next)
		return;
	run_kill_all(job, end->sig);
	end->forced |= end->sig == SIGKILL;
	end->next = end->sig == SIGTERM ? now + RUN_TERM_MS : RUN_NEVER;
	end->sig = SIGKILL;
}

/* Return: milliseconds to the next deadline, -1 for none. */
static int until(const struct run_job *job)
{
	const struct run_ending *end = &job->end;
	u64 next = end->limit < end->next ? end->limit : end->next;
	u64 exchange = run_exchanges_until(job);
	u64 now = run_now_ms();

	if (exchange < next)
		next = exchange;
	if (next == RUN_NEVER)
		return -1;
	return next > now ? (int)(next - now) : 0;
}

static void step(struct run_job *job, int wait_ms)
{
	struct epoll_event evs[RUN_EVENTS];
	int n = epoll_wait(job->epfd, evs, RUN_EVENTS, wait_ms);
	int i;

	for (i = 0; i < n; i++)
		handle(job, &evs[i]);
	deadlines(job);
}

static void outputs_watch(struct run_job *job, u32 events)
{
	struct epoll_event ev = {
		.events = events, .data.u64 = (u64)RUN_EV_OUTPUTS << 32,
	};

	epoll_ctl(job->epfd, EPOLL_CTL_MOD, job->outfd, &ev);
}

/**
 * run_writable() - wait until there is room for output
 * @job: job
 * @fd: descriptor to write output to
 *
 * Serves everything but the output of the processes.  After the job was ended by
 * force, the reader gets RUN_TERM_MS once.
 *
 * Return: true if there is room; false if the job was ended by force and its
 * output is not read.
 */
bool run_writable(struct run_job *job, int fd)
{
	struct pollfd p[2] = {
		{ .fd = fd, .events = POLLOUT },
		{ .fd = job->epfd, .events = POLLIN },
	};

	if (poll(p, 1, 0) > 0)
		return true;
	outputs_watch(job, 0);
	while (!p[0].revents && (job->alive || !job->end.forced)) {
		poll(p, 2, until(job));
		step(job, 0);
	}
	outputs_watch(job, EPOLLIN);
	if (!p[0].revents && !job->unread)
		job->unread = poll(p, 1, RUN_TERM_MS) <= 0;
	return p[0].revents;
}

/*
 * Kills the children that the launcher has now: processes of the job have ended and left them
 * behind. The children of a killed process then become children of the launcher.
 * Return: whether any were killed.
 */
static bool kill_some(const struct run_job *job)
{
	FILE *f = children_open();
	bool some = false;
	pid_t pid;

	while (f && fscanf(f, "%d", &pid) == 1) {
		/* A process of another user cannot be ended. */
		if (find_before(job, pid) || kill(pid, SIGKILL))
			continue;
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		some = true;
	}
	if (f)
		fclose(f);
	return some;
}

static void kill_leftovers(const struct run_job *job)
{
	while (kill_some(job))
		;
}

/*
 * Pass on the output that is in the pipe now, and no more: a process of another user, which the
 * launcher cannot end, may write for ever.
 */
static void drain_stream(struct run_job *job, struct run_stream *s)
{
	size_t n;
	int left = 0;

	if (s->from < 0)
		return;
	ioctl(s->from, FIONREAD, &left);
	while (s->from >= 0 && left > 0) {
		n = run_stream_read(job, s);
		if (!n)
			break;
		left -= (int)n;
	}
	if (s->from >= 0)
		run_stream_end(job, s);
}

static void drain(struct run_job *job)
{
	u32 rank;

	for (rank = 0; rank < job->n; rank++) {
		drain_stream(job, &job->procs[rank].out[0]);
		drain_stream(job, &job->procs[rank].out[1]);
	}
}

/*
 * Fills in the signals that the launcher blocks and reads.  A signal that it inherits ignored, as
 * from nohup(1), is left out: if the signal were blocked, the launcher would get it.
 */
static void signals_taken(sigset_t *set)
{
	struct sigaction now;
	size_t i;

	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (i = 0; i < sizeof(forwarded) / sizeof(*forwarded); i++)
		if (!sigaction(forwarded[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(set, forwarded[i]);
}

static int prepare(struct run_job *job)
{
	sigset_t set;
	u32 rank;
	int ret = children_note(job);

	if (ret)
		return ret;
	signals_taken(&set);
	run_spawn_prepare(&set);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (rank = 0; rank < job->n; rank++) {
		job->procs[rank].conn.fd = -1;
		job->procs[rank].conn.rank = rank;
		job->procs[rank].out[0].from = -1;
		job->procs[rank].out[1].from = -1;
	}
	job->end = (struct run_ending){ .limit = RUN_NEVER, .next = RUN_NEVER };
	job->epfd = epoll_create1(EPOLL_CLOEXEC);
	job->outfd = epoll_create1(EPOLL_CLOEXEC);
	job->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (job->epfd < 0 || job->outfd < 0 || job->sigfd < 0 ||
	    run_watch(job->epfd, job->outfd, EPOLLIN, RUN_EV_OUTPUTS, 0))
		return -errno;
	return run_watch(job->epfd, job->sigfd, EPOLLIN, RUN_EV_SIGNAL, 0);
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
	int ret = prepare(job);

	if (ret) {
		run_say("cannot prepare the job: %s", strerror(-ret));
		return RUN_EXIT_FAILURE;
	}
	job->status = start(job);
	if (job->opts->timeout_s)
		job->end.limit = run_now_ms() + job->opts->timeout_s * 1000ULL;
	while (job->alive)
		step(job, until(job));
	kill_leftovers(job);
	drain(job);
	free(job->before);
	close(job->sigfd);
	close(job->outfd);
	close(job->epfd);
	return job->status;
}
