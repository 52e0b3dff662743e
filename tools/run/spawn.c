// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting a process: its environment, connection, output and input.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run.h"

/*
 * Limit of open files that the launcher raises for itself and restores in its
 * children.
 */
static struct rlimit old_files;
static sigset_t old_mask;
static struct sigaction old_pipe, old_child;
/* Standard error is a terminal; processes see a pipe instead. */
static bool on_terminal;

/* Both ends of pipes and sockets between process and launcher; the launcher's end first. */
struct ends {
	int job[2];
	int out[2];
	int err[2];
	int exec[2];
};

/**
 * run_spawn_prepare() - save the state for children, then change it
 * @block: signals to block
 *
 * The launcher gets signals through a descriptor, ignores SIGPIPE, and needs
 * several files per process.  It sets SIGCHLD to the default: if SIGCHLD stayed
 * ignored, the kernel would reap the children, and their statuses would be lost.
 */
void run_spawn_prepare(const sigset_t *block)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction usual = { .sa_handler = SIG_DFL };
	struct rlimit lim;

	on_terminal = isatty(STDERR_FILENO);
	sigprocmask(SIG_BLOCK, block, &old_mask);
	sigaction(SIGPIPE, &ignore, &old_pipe);
	sigaction(SIGCHLD, &usual, &old_child);
	if (getrlimit(RLIMIT_NOFILE, &old_files))
		return;
	lim = old_files;
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
}

/*
 * Sets a variable of the environment; @val NULL: removes it, even if the
 * launcher has it.
 */
static int set_var(const char *name, const char *val)
{
	return (val ? setenv(name, val, 1) : unsetenv(name)) ? -errno : 0;
}

static int set_number(const char *name, u64 val)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", val);
	return set_var(name, text);
}

/* Tells the process the embedded fabric, which without a name is passed as an open file. */
static int set_fabric(const struct ang_spec *spec)
{
	char text[ANG_SPEC_BYTES];

	if (spec->kind != ANG_FABRIC_EMBEDDED)
		return 0;
	if (ang_spec_print(spec, text, sizeof(text)))
		return -ENAMETOOLONG;
	if (spec->fd >= 0 && fcntl(spec->fd, F_SETFD, 0))
		return -errno;
	return set_var(ANG_ENV_FABRIC, text);
}

static int set_env(const struct run_job *job, u32 rank, int job_fd, pid_t launcher)
{
	const char *device = job->procs[rank].device;
	int ret = set_number(ANG_ENV_RANK, rank);

	if (!ret)
		ret = set_number(ANG_ENV_SIZE, job->n);
	if (!ret)
		ret = set_number(ANG_ENV_FD, (u64)job_fd);
	if (!ret)
		ret = set_var(ANG_ENV_TTY, on_terminal ? "1" : NULL);
	if (!ret)
		ret = set_var(ANG_ENV_DEVICE, device[0] ? device : NULL);
	if (!ret)
		ret = set_fabric(&job->spec);
	return ret ? ret : set_number(ANG_ENV_PTRACER, (u64)launcher);
}

/* Rank 0 inherits standard input, other ranks get /dev/null. */
static int set_files(u32 rank, const struct ends *e)
{
	if (rank) {
		int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

		if (null < 0 || dup2(null, 0) < 0)
			return -errno;
	}
	if (dup2(e->out[1], 1) < 0 || dup2(e->err[1], 2) < 0 ||
	    fcntl(e->job[1], F_SETFD, 0))
		return -errno;
	return 0;
}

/** run_cores() - count the cores that the launcher may use */
u32 run_cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 :
	       (u32)CPU_COUNT(&set);
}

/* Binds this process to the @rank-th of the usable cores. */
static int bind_core(u32 rank)
{
	cpu_set_t set, own;
	u32 core, left = rank;

	CPU_ZERO(&own);
	if (sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	for (core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, &set) && !left--)
			CPU_SET(core, &own);
	return sched_setaffinity(0, sizeof(own), &own) ? -errno : 0;
}

/* Becomes the program, in the child.  Never returns; writes the errno of a failure to @e->exec. */
static void child(const struct run_job *job, u32 rank, const struct ends *e,
		  pid_t launcher)
{
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != launcher)
		_exit(RUN_EXIT_FAILURE);
	err = -set_files(rank, e);
	if (!err && job->opts->bind)
		err = -bind_core(rank);
	if (!err)
		err = -set_env(job, rank, e->job[1], launcher);
	if (!err) {
		setrlimit(RLIMIT_NOFILE, &old_files);
		sigaction(SIGPIPE, &old_pipe, NULL);
		sigaction(SIGCHLD, &old_child, NULL);
		sigprocmask(SIG_SETMASK, &old_mask, NULL);
		execvp(job->opts->argv[0], job->opts->argv);
		err = errno;
	}
	if (write(e->exec[1], &err, sizeof(err)) < 0)
		_exit(RUN_EXIT_FAILURE);
	_exit(RUN_EXIT_NOT_FOUND);
}

static void close_ends(struct ends *e, int side)
{
	int *pairs[] = { e->job, e->out, e->err, e->exec };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		if (pairs[i][side] >= 0)
			close(pairs[i][side]);
		pairs[i][side] = -1;
	}
}

/*
 * Opens the pipes and sockets of a process.  Descriptors 0, 1 and 2 are open already, so no end
 * gets one of these numbers.
 */
static int open_ends(struct ends *e)
{
	*e = (struct ends){ { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, e->job) ||
	    pipe2(e->out, O_CLOEXEC) || pipe2(e->err, O_CLOEXEC) ||
	    pipe2(e->exec, O_CLOEXEC) ||
	    fcntl(e->job[0], F_SETFL, O_NONBLOCK) ||
	    fcntl(e->out[0], F_SETFL, O_NONBLOCK) ||
	    fcntl(e->err[0], F_SETFL, O_NONBLOCK)) {
		int err = errno;

		close_ends(e, 0);
		close_ends(e, 1);
		return -err;
	}
	return 0;
}

/* Wait until the program runs or cannot run.  Return: 0, or the errno of the failure. */
static int exec_result(int fd)
{
	int err = 0;
	ssize_t n;

	do {
		n = read(fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(err) ? err : 0;
}

/*
 * Give the launcher's ends to the loop; ends that stay in @e are not watched.
 */
static int watch_proc(struct run_job *job, u32 rank, struct ends *e)
{
	struct run_proc *proc = &job->procs[rank];
	int *fds[2] = { &e->out[0], &e->err[0] };
	int i;

	for (i = 0; i < 2; i++) {
		struct run_stream *s = &proc->out[i];

		if (run_stream_init(s) ||
		    run_watch(job->outfd, *fds[i], EPOLLIN, RUN_EV_OUT + (u32)i, rank))
			return -ENOMEM;
		s->from = *fds[i];
		*fds[i] = -1;
		s->to = i + 1;
		s->rank = rank;
	}
	proc->conn.events = EPOLLIN;
	if (run_watch(job->epfd, e->job[0], EPOLLIN, RUN_EV_CONN, rank))
		return -ENOMEM;
	proc->conn.fd = e->job[0];
	e->job[0] = -1;
	return 0;
}

static int cannot_start(u32 rank, int err)
{
	run_say("cannot start process %u: %s", rank, strerror(err));
	return RUN_EXIT_FAILURE;
}

static int cannot_run(const char *program, int err)
{
	run_say("cannot run '%s': %s", program, strerror(err));
	return err == ENOENT ? RUN_EXIT_NOT_FOUND : RUN_EXIT_CANNOT_EXEC;
}

/**
 * run_spawn() - start a process
 * @job: job
 * @rank: its rank
 *
 * Return: 0, otherwise an exit status after printing a message.
 */
int run_spawn(struct run_job *job, u32 rank)
{
	pid_t launcher = getpid();
	struct ends e;
	pid_t pid;
	int ret;

	ret = open_ends(&e);
	if (ret)
		return cannot_start(rank, -ret);
	pid = fork();
	if (pid == 0)
		child(job, rank, &e, launcher);
	ret = pid < 0 ? errno : 0;
	close_ends(&e, 1);
	if (ret) {
		close_ends(&e, 0);
		return cannot_start(rank, ret);
	}
	job->procs[rank].pid = pid;
	job->alive++;
	ret = exec_result(e.exec[0]);
	if (ret) {
		close_ends(&e, 0);
		return cannot_run(job->opts->argv[0], ret);
	}
	ret = watch_proc(job, rank, &e);
	close_ends(&e, 0);
	return ret ? cannot_start(rank, -ret) : 0;
}
