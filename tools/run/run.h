/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * angara-run: what its files share.
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
#include "scan.h"

#define RUN_MAX_PROCS	4096U

#define RUN_EXIT_FAILURE	1
#define RUN_EXIT_USAGE		2
#define RUN_EXIT_TIMEOUT	124	/* these as timeout(1) and env(1) do */
#define RUN_EXIT_CANNOT_EXEC	126
#define RUN_EXIT_NOT_FOUND	127

/**
 * struct run_opts - the command line
 * @n: processes
 * @per_node: processes per node, 0: as many as needed
 * @nodes: nodes to use, in this order; NULL: all, ascending
 * @num_nodes: nodes in @nodes
 * @fabric: id of the fabric to use
 * @has_fabric: one was named so
 * @spec: fabric to use
 * @has_spec: one was named so
 * @timeout_s: time limit, 0 for none
 * @grace_s: how long the others may live on when a process has failed
 * @tag: write the rank before each line
 * @keep_going: a failed process does not end the others
 * @no_device: processes get no device
 * @bind: each process gets a core of its own
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
	bool tag;
	bool keep_going;
	bool no_device;
	bool bind;
	char **argv;
};

#define RUN_TAG_BYTES	16		/* room for "[4095] " */
#define RUN_LINE_FIRST	4096		/* room for a line, at first */
#define RUN_LINE_MAX	(1U << 20)	/* and at the most */

/**
 * struct run_stream - a pipe with output of a process
 * @from: the pipe, -1 at its end
 * @to: where lines go: 1 or 2
 * @rank: process
 * @inside: a part of the line has been written
 * @len: bytes of output in @buf, what has no end of line yet
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
 * @events: what epoll watches for
 * @got: bytes of the request received
 * @head: its header
 * @body: ranks and block
 * @in: exchange that waits for others
 * @reply: what is being sent, or NULL
 * @sent: bytes of it sent
 */
struct run_conn {
	int fd;
	u32 rank;
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
 * @device: its device, empty without
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
 * struct run_job - the job
 * @opts: command line
 * @procs: processes, by rank
 * @n: number of processes
 * @alive: processes not reaped
 * @gone: processes whose connection has ended
 * @streams: pipes open
 * @epfd: epoll
 * @sigfd: signals
 * @spec: fabric, if it is embedded
 * @exchanges: exchanges under way
 * @status: exit status so far
 */
struct run_job {
	const struct run_opts *opts;
	struct run_proc *procs;
	u32 n;
	u32 alive;
	u32 gone;
	u32 streams;
	int epfd;
	int sigfd;
	struct ang_spec spec;
	struct run_exchange *exchanges;
	int status;
};

/* What an epoll event is about: kind in the upper half, rank in the lower. */
#define RUN_EV_SIGNAL	0U
#define RUN_EV_CONN	1U
#define RUN_EV_OUT	2U
#define RUN_EV_ERR	3U

/* main.c */
void run_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

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
int run_watch(struct run_job *job, int fd, u32 events, u32 kind, u32 rank);

/* exchange.c */
void run_conn_event(struct run_job *job, struct run_conn *conn, u32 events);
void run_conn_gone(struct run_job *job, struct run_conn *conn);

/* output.c */
int run_stream_init(struct run_stream *s);
void run_stream_read(struct run_job *job, struct run_stream *s);
void run_stream_end(struct run_job *job, struct run_stream *s);

#endif /* RUN_H */
