/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * angara-run: declarations for all its files.
 *
 * One thread, one epoll loop.  Each process of the job has a connection for
 * exchanges (exchange.c) and two pipes for its output (output.c).
 */
#ifndef RUN_H
#define RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fabric.h"
#include "job.h"
#include "say.h"
#include "scan.h"

#define RUN_MAX_PROCS	4096U

#define RUN_EXIT_FAILURE	1
#define RUN_EXIT_USAGE		2
#define RUN_EXIT_TIMEOUT	124	/* statuses as in timeout(1) and env(1) */
#define RUN_EXIT_CANNOT_EXEC	126
#define RUN_EXIT_NOT_FOUND	127

/**
 * struct run_opts - the command line
 * @n: processes
 * @per_node: processes per node, 0: as many as needed
 * @nodes: nodes to use, in this order; NULL: all, ascending
 * @num_nodes: nodes in @nodes
 * @fabric: id of the fabric to use
 * @has_fabric: @fabric is set
 * @spec: fabric to use
 * @has_spec: @spec is set
 * @timeout_s: time limit, 0 for none
 * @grace_s: time for the remaining processes to end after a process has failed
 * @exchange_s: time limit of an exchange, 0 for none
 * @tag: write the rank before each line
 * @keep_going: a failed process does not end the others
 * @no_device: processes get no device
 * @bind: bind each process to its own core
 * @argv: program and its arguments
 */
struct run_opts {
	u32 n;
	u32 per_node;
	u32 *nodes;
	size_t num_nodes;
	u64 fabric;
	bool has_fabric;
	struct ang_spec spec;
	bool has_spec;
	u32 timeout_s;
	u32 grace_s;
	u32 exchange_s;
	bool tag;
	bool keep_going;
	bool no_device;
	bool bind;
	char **argv;
};

#define RUN_TAG_BYTES	16		/* room for "[4095] " */
#define RUN_LINE_FIRST	4096		/* initial room for a line */
#define RUN_LINE_MAX	(1U << 20)	/* greatest room for a line */

/**
 * struct run_stream - a pipe with output of a process
 * @from: the pipe, -1 at its end
 * @to: where lines go: 1 or 2
 * @rank: process
 * @inside: part of a line has been written
 * @len: bytes of output in @buf that do not end a line
 * @size: room for output in @buf
 * @buf: room for a tag, then output
 */
struct run_stream {
	int from;
	int to;
	u32 rank;
	bool inside;
	size_t len;
	size_t size;
	char *buf;
};

struct run_exchange;
struct run_reply;

/**
 * struct run_conn - a process's connection
 * @fd: socket, -1 once the process has ended
 * @rank: process
 * @late: an exchange has timed out because the process had not joined it
 * @events: what epoll watches for
 * @got: bytes of the request received
 * @head: header of the request
 * @body: ranks and block of the request
 * @in: exchange in which the process waits
 * @reply: reply being sent, or NULL
 * @sent: bytes of @reply sent
 */
struct run_conn {
	int fd;
	u32 rank;
	bool late;
	u32 events;
	size_t got;
	struct ang_job_request head;
	u8 *body;
	struct run_exchange *in;
	struct run_reply *reply;
	size_t sent;
};

/**
 * struct run_proc - a process of the job
 * @pid: process, 0 once reaped
 * @device: its device; empty: none
 * @conn: connection
 * @out: output and error output
 */
struct run_proc {
	pid_t pid;
	char device[ANG_DEV_PATH];
	struct run_conn conn;
	struct run_stream out[2];
};

/**
 * struct run_ending - pending end of the remaining processes
 * @limit: end of the time limit, in ms
 * @next: time of the next signal, in ms
 * @sig: next signal
 * @asked: a signal or the time limit ends the job, not a process that failed
 * @forced: SIGKILL was sent
 */
struct run_ending {
	u64 limit;
	u64 next;
	int sig;
	bool asked;
	bool forced;
};

/**
 * struct run_job - the job
 * @opts: command line
 * @procs: processes, by rank
 * @n: number of processes
 * @alive: processes not reaped
 * @absent: some processes are absent, see exchange.c
 * @unread: the output was not read for a while after the job was ended by force
 * @before: children of the launcher that are not processes of the job, as a list of pids
 * @num_before: number of pids in @before
 * @epfd: epoll
 * @outfd: epoll of the pipes, which @epfd watches
 * @sigfd: signals
 * @end: pending end of the processes
 * @spec: fabric, if it is embedded
 * @exchanges: exchanges in progress, the oldest first
 * @status: exit status so far
 */
struct run_job {
	const struct run_opts *opts;
	struct run_proc *procs;
	u32 n;
	u32 alive;
	bool absent;
	bool unread;
	pid_t *before;
	size_t num_before;
	int epfd;
	int outfd;
	int sigfd;
	struct run_ending end;
	struct ang_spec spec;
	struct run_exchange *exchanges;
	int status;
};

/* User data of an epoll event: kind in the upper half, rank in the lower. */
#define RUN_EV_SIGNAL	0U
#define RUN_EV_CONN	1U
#define RUN_EV_OUT	2U
#define RUN_EV_ERR	3U
#define RUN_EV_OUTPUTS	4U

/* Prints nothing if standard error is not read: the launcher must not wait for a reader. */
#define run_say(...)							\
	(run_heard() ? ang_say("angara-run", __VA_ARGS__) : (void)0)

#define RUN_NEVER	(~0ULL)

/* opts.c */
int run_opts_parse(struct run_opts *opts, int argc, char **argv);

/* place.c */
int run_place(struct run_job *job);

/* fabric.c */
int run_fabric(struct run_job *job);
void run_fabric_end(const struct run_job *job);

/* spawn.c */
int run_spawn(struct run_job *job, u32 rank);
void run_spawn_prepare(const sigset_t *block);
u32 run_cores(void);

/* loop.c */
int run_loop(struct run_job *job);
void run_kill_all(struct run_job *job, int sig);
int run_watch(int epfd, int fd, u32 events, u32 kind, u32 rank);
bool run_writable(struct run_job *job, int fd);
u64 run_now_ms(void);

/* exchange.c */
void run_conn_event(struct run_job *job, struct run_conn *conn, u32 events);
void run_conn_gone(struct run_job *job, struct run_conn *conn);
u64 run_exchanges_until(const struct run_job *job);
void run_exchanges_expire(struct run_job *job, u64 now);

/* output.c */
bool run_heard(void);
int run_stream_init(struct run_stream *s);
size_t run_stream_read(struct run_job *job, struct run_stream *s);
void run_stream_end(struct run_job *job, struct run_stream *s);

#endif /* RUN_H */
