// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exchanges between the processes; libangara/job.h states the protocol.
 *
 * A process sends nothing while it waits in an exchange or for its reply, so a
 * connection is in one of three states: receiving (epoll watches for input),
 * waiting (for the end of the connection only), sending (for room, if needed).
 * Data from a connection is checked: the launcher closes the connection of a
 * process that breaks the protocol, and does nothing else.
 *
 * A process is absent if it has not joined an exchange in time (it is late:
 * -ETIMEDOUT), or if its connection has ended (-EPIPE).  An exchange of a group
 * with an absent process ends.  A process that gets -ETIMEDOUT may exit, so
 * -ETIMEDOUT has priority over -EPIPE.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run.h"

/**
 * struct run_exchange - an exchange that some processes of its group have
 * started
 * @next: next exchange
 * @tag: tag
 * @n: processes in the group
 * @ranks: the group, NULL for the whole job
 * @arrived: number of processes that have started it
 * @until_ms: deadline, RUN_NEVER for none
 * @len: bytes of a block
 * @uneven: processes differ in @len
 */
struct run_exchange {
	struct run_exchange *next;
	u64 tag;
	u32 n;
	u32 *ranks;
	u32 arrived;
	u64 until_ms;
	u32 len;
	bool uneven;
};

/**
 * struct run_reply - a reply, shared by all its receivers
 * @refs: number of receivers that have not got it yet
 * @len: bytes in @data
 * @data: header and blocks
 */
struct run_reply {
	u32 refs;
	size_t len;
	char data[];
};

static size_t ranks_bytes(const struct ang_job_request *head)
{
	return head->nranks * sizeof(u32);
}

static const u32 *conn_ranks(const struct run_conn *conn)
{
	return conn->head.nranks ? (const u32 *)(const void *)conn->body : NULL;
}

static u32 member(const struct run_exchange *ex, u32 i)
{
	return ex->ranks ? ex->ranks[i] : i;
}

static void set_events(struct run_job *job, struct run_conn *conn, u32 events)
{
	struct epoll_event ev = {
		.events = events,
		.data.u64 = (u64)RUN_EV_CONN << 32 | conn->rank,
	};

	if (conn->fd < 0 || conn->events == events)
		return;
	conn->events = events;
	epoll_ctl(job->epfd, EPOLL_CTL_MOD, conn->fd, &ev);
}

/* Blocks may hold secrets, such as the key of the job: erase them. */
static void reply_put(struct run_reply *reply)
{
	if (--reply->refs)
		return;
	explicit_bzero(reply->data, reply->len);
	free(reply);
}

static void conn_send(struct run_job *job, struct run_conn *conn)
{
	struct run_reply *reply = conn->reply;

	while (conn->sent < reply->len) {
		ssize_t n = send(conn->fd, reply->data + conn->sent,
				 reply->len - conn->sent, MSG_NOSIGNAL);

		if (n > 0) {
			conn->sent += (size_t)n;
		} else if (errno == EAGAIN) {
			set_events(job, conn, EPOLLOUT);
			return;
		} else if (errno != EINTR) {
			run_conn_gone(job, conn);
			return;
		}
	}
	conn->reply = NULL;
	reply_put(reply);
	set_events(job, conn, EPOLLIN);
}

/* Allocate a reply with room for @len bytes after the header. */
static struct run_reply *reply_new(int status, u64 len)
{
	struct ang_job_reply head = {
		.magic = ANG_JOB_MAGIC,
		.status = status,
		.len = len,
	};
	struct run_reply *reply = malloc(sizeof(*reply) + sizeof(head) + len);

	if (!reply)
		return NULL;
	reply->refs = 1;
	reply->len = sizeof(head) + len;
	memcpy(reply->data, &head, sizeof(head));
	return reply;
}

static struct run_reply *reply_blocks(const struct run_job *job,
				      const struct run_exchange *ex)
{
	struct run_reply *reply = reply_new(0, (u64)ex->n * ex->len);
	char *to;
	u32 i;

	if (!reply)
		return NULL;
	to = reply->data + sizeof(struct ang_job_reply);
	for (i = 0; i < ex->n; i++, to += ex->len) {
		const struct run_conn *conn = &job->procs[member(ex, i)].conn;

		memcpy(to, conn->body + ranks_bytes(&conn->head), ex->len);
	}
	return reply;
}

static void conn_idle(struct run_conn *conn)
{
	if (conn->body)
		explicit_bzero(conn->body, ranks_bytes(&conn->head) + conn->head.len);
	free(conn->body);
	conn->body = NULL;
	conn->got = 0;
	conn->in = NULL;
}

/* Take the exchange off the list and answer all processes in it. */
static void exchange_end(struct run_job *job, struct run_exchange *ex, int status)
{
	struct run_exchange **at = &job->exchanges;
	struct run_reply *reply;
	u32 i;

	while (*at != ex)
		at = &(*at)->next;
	*at = ex->next;
	reply = status ? reply_new(status, 0) : reply_blocks(job, ex);
	if (!reply)
		reply = reply_new(-ENOMEM, 0);
	for (i = 0; i < ex->n; i++) {
		struct run_conn *conn = &job->procs[member(ex, i)].conn;

		if (conn->in != ex)
			continue;
		conn_idle(conn);
		if (reply) {
			conn->reply = reply;
			conn->sent = 0;
			reply->refs++;
		} else {
			/* No memory for the error reply: end the connection. */
			shutdown(conn->fd, SHUT_RDWR);
		}
	}
	/* Sending may end a connection, which ends other exchanges. */
	for (i = 0; reply && i < ex->n; i++) {
		struct run_conn *conn = &job->procs[member(ex, i)].conn;

		if (conn->reply == reply)
			conn_send(job, conn);
	}
	if (reply)
		reply_put(reply);
	free(ex->ranks);
	free(ex);
}

static bool same_group(const struct run_exchange *ex, const struct run_conn *conn)
{
	const u32 *ranks = conn_ranks(conn);

	if (ex->tag != conn->head.tag || !ex->ranks != !ranks)
		return false;
	return !ranks || (ex->n == conn->head.nranks &&
			  !memcmp(ex->ranks, ranks, ranks_bytes(&conn->head)));
}

static struct run_exchange *exchange_new(const struct run_job *job,
					 const struct run_conn *conn)
{
	struct run_exchange *ex = calloc(1, sizeof(*ex));
	const u32 *ranks = conn_ranks(conn);

	if (!ex)
		return NULL;
	ex->tag = conn->head.tag;
	ex->len = conn->head.len;
	ex->until_ms = RUN_NEVER;
	if (job->opts->exchange_s)
		ex->until_ms = run_now_ms() + job->opts->exchange_s * 1000ULL;
	ex->n = ranks ? conn->head.nranks : job->n;
	if (ranks) {
		ex->ranks = malloc(ranks_bytes(&conn->head));
		if (!ex->ranks) {
			free(ex);
			return NULL;
		}
		memcpy(ex->ranks, ranks, ranks_bytes(&conn->head));
	}
	return ex;
}

/* Return: 0; -ETIMEDOUT a process of the group is late; -EPIPE a process has ended. */
static int exchange_absent(const struct run_job *job, const struct run_exchange *ex)
{
	int ret = 0;
	u32 i;

	for (i = 0; job->absent && i < ex->n; i++) {
		const struct run_conn *conn = &job->procs[member(ex, i)].conn;

		if (conn->late)
			return -ETIMEDOUT;
		if (conn->fd < 0)
			ret = -EPIPE;
	}
	return ret;
}

/* Ends exchanges of groups with absent processes. */
static void exchanges_recheck(struct run_job *job)
{
	struct run_exchange *ex;
	int status;

	/*
	 * The end of an exchange may end other exchanges: restart the search.
	 */
	do {
		status = 0;
		for (ex = job->exchanges; ex; ex = ex->next) {
			status = exchange_absent(job, ex);
			if (status)
				break;
		}
		if (status)
			exchange_end(job, ex, status);
	} while (status);
}

static void exchange_join(struct run_job *job, struct run_conn *conn)
{
	struct run_exchange **at = &job->exchanges, *ex;
	int status;

	while (*at && !same_group(*at, conn))
		at = &(*at)->next;
	if (!*at)
		*at = exchange_new(job, conn);
	ex = *at;
	if (!ex) {
		run_conn_gone(job, conn);
		return;
	}
	conn->in = ex;
	set_events(job, conn, 0);
	ex->arrived++;
	if (conn->head.len != ex->len)
		ex->uneven = true;
	status = exchange_absent(job, ex);
	if (status)
		exchange_end(job, ex, status);
	else if (ex->arrived == ex->n)
		exchange_end(job, ex, ex->uneven ? -EMSGSIZE : 0);
}

static bool head_valid(const struct run_job *job, const struct ang_job_request *head)
{
	return head->magic == ANG_JOB_MAGIC && !head->reserved &&
	       head->nranks <= job->n && head->len <= ANG_JOB_MAX_BLOCK;
}

/* Are the ranks ascending and in the job, and do they include the process? */
static bool group_valid(const struct run_job *job, const struct run_conn *conn)
{
	const u32 *ranks = conn_ranks(conn);
	bool own = !ranks;
	u32 i;

	for (i = 0; i < conn->head.nranks; i++) {
		if (ranks[i] >= job->n || (i && ranks[i] <= ranks[i - 1]))
			return false;
		own |= ranks[i] == conn->rank;
	}
	return own;
}

/* Return: where to store the next bytes of a request.  @len: out: how many are missing. */
static char *want(struct run_conn *conn, size_t *len)
{
	size_t head = sizeof(conn->head);

	if (conn->got < head) {
		*len = head - conn->got;
		return (char *)&conn->head + conn->got;
	}
	*len = head + ranks_bytes(&conn->head) + conn->head.len - conn->got;
	return (char *)conn->body + (conn->got - head);
}

/* Checks a complete header, and makes room for the body.  Return: false to end the connection. */
static bool head_done(const struct run_job *job, struct run_conn *conn)
{
	if (!head_valid(job, &conn->head))
		return false;
	conn->body = malloc(ranks_bytes(&conn->head) + conn->head.len + 1);
	return conn->body != NULL;
}

/* Receives a request, and joins its exchange.  Return: false to end the connection. */
static bool conn_recv(struct run_job *job, struct run_conn *conn)
{
	while (!conn->in && !conn->reply) {
		size_t len;
		char *to = want(conn, &len);

		if (len) {
			ssize_t n = recv(conn->fd, to, len, 0);

			if (n < 0 && (errno == EAGAIN || errno == EINTR))
				return true;
			if (n <= 0)
				return false;
			conn->got += (size_t)n;
			if (conn->got == sizeof(conn->head) &&
			    !head_done(job, conn))
				return false;
			continue;
		}
		if (!group_valid(job, conn))
			return false;
		exchange_join(job, conn);
		if (conn->fd < 0)
			return true;
	}
	return true;
}

/**
 * run_conn_event() - handle input, room or the end of a connection
 * @job: job
 * @conn: connection of a process
 * @events: as from epoll
 */
void run_conn_event(struct run_job *job, struct run_conn *conn, u32 events)
{
	bool ok = true;

	if (conn->fd < 0)
		return;
	if (events & EPOLLIN)
		ok = conn_recv(job, conn);
	else if (!(events & EPOLLOUT))
		ok = false;
	else if (conn->reply)
		conn_send(job, conn);
	if (!ok)
		run_conn_gone(job, conn);
}

/**
 * run_conn_gone() - remove a process from exchanges
 * @job: job
 * @conn: connection of the process
 *
 * All exchanges that wait for the process end with -EPIPE.
 */
void run_conn_gone(struct run_job *job, struct run_conn *conn)
{
	if (conn->fd < 0)
		return;
	close(conn->fd);
	conn->fd = -1;
	job->absent = true;
	if (conn->reply)
		reply_put(conn->reply);
	conn->reply = NULL;
	conn_idle(conn);
	exchanges_recheck(job);
}

/**
 * run_exchanges_until() - find the next deadline of an exchange
 * @job: job
 *
 * Return: ms as of run_now_ms(), RUN_NEVER for none.
 */
u64 run_exchanges_until(const struct run_job *job)
{
	/*
	 * All exchanges have the same time limit, and the oldest is the first
	 * in the list.
	 */
	return job->exchanges ? job->exchanges->until_ms : RUN_NEVER;
}

/* Mark members that have not joined as late, and print their ranks. */
static void exchange_late(struct run_job *job, const struct run_exchange *ex)
{
	struct ang_ranks late = { 0 };
	u32 i;

	for (i = 0; i < ex->n; i++) {
		struct run_conn *conn = &job->procs[member(ex, i)].conn;

		if (conn->in == ex)
			continue;
		conn->late = true;
		ang_ranks_add(&late, conn->rank);
	}
	job->absent = true;
	run_say("rank%s %s %s not joined an exchange of %u processes within %u s",
		late.n > 1 ? "s" : "", ang_ranks_text(&late),
		late.n > 1 ? "have" : "has", ex->n, job->opts->exchange_s);
}

/**
 * run_exchanges_expire() - end exchanges whose deadline has passed
 * @job: job
 * @now: ms as of run_now_ms()
 *
 * The exchanges end with -ETIMEDOUT, and a line names the late processes.
 */
void run_exchanges_expire(struct run_job *job, u64 now)
{
	while (run_exchanges_until(job) <= now) {
		exchange_late(job, job->exchanges);
		exchanges_recheck(job);
	}
}
