// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control socket: one thread accepts connections, and each connection has a
 * thread.
 *
 * Only the user that runs the server may connect.  A session is a thread that
 * reads requests and answers them.  If its client does not read, the session
 * blocks for a limited time, without blocking other sessions.
 *
 *   control.lock	sessions, count; no other lock is taken under it
 *   control.stop	atomic; set once, then all sockets are shut down
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <linux/angara_nl.h>

#include "control.h"
#include "show.h"
#include "stream.h"
#include "trace.h"

#define SEND_S		10	/* time within which a client must read */
#define LINGER_MS	200	/* longest delay of a captured packet */
#define BATCH		64U

struct control {
	struct fabric *fabric;
	struct listener listener;
	int kick;		/* eventfd */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t gone;
	struct session *sessions;
	u32 count;
	bool stop;
};

struct session {
	struct session *next;
	struct control *control;
	int fd;
	FILE *out;
	union {
		struct nlmsghdr hdr;
		u8 bytes[CONTROL_MAX_MSG];
	} msg;
};

static bool read_all(int fd, void *buf, size_t len)
{
	return recv(fd, buf, len, MSG_WAITALL) == (ssize_t)len;
}

static bool read_request(struct session *s)
{
	struct nlmsghdr *hdr = &s->msg.hdr;

	if (!read_all(s->fd, hdr, sizeof(*hdr)) ||
	    hdr->nlmsg_len < sizeof(*hdr) || hdr->nlmsg_len > sizeof(s->msg))
		return false;
	return read_all(s->fd, s->msg.bytes + sizeof(*hdr),
			hdr->nlmsg_len - sizeof(*hdr));
}

/* Is an idle client still connected? */
static bool connected(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       errno == EAGAIN;
}

/* Write a router's interface block before its first packet. */
static bool put_interface(FILE *out, u32 *numbers, u32 *count, u32 node)
{
	u8 block[PCAPNG_MAX_BLOCK];

	if (numbers[node])
		return true;
	numbers[node] = ++*count;
	return fwrite(block, pcapng_interface(block, node), 1, out);
}

static bool put_packets(FILE *out, u32 *numbers, u32 *count,
			const struct trace_rec *recs, u32 n)
{
	u8 block[PCAPNG_MAX_BLOCK];
	u32 i;

	for (i = 0; i < n; i++) {
		u32 node = recs[i].rec.node;

		if (!put_interface(out, numbers, count, node) ||
		    !fwrite(block, pcapng_packet(block, numbers[node] - 1,
						 &recs[i]), 1, out))
			return false;
	}
	return n == BATCH || !fflush(out);
}

static void stream(struct session *s, struct traces *traces,
		   struct tracer *tracer, u32 *numbers)
{
	struct trace_rec recs[BATCH];
	u8 block[PCAPNG_MAX_BLOCK];
	u32 count = 0, n;

	if (!fwrite(block, pcapng_header(block), 1, s->out) || fflush(s->out))
		return;
	do {
		n = traces_take(traces, tracer, recs, BATCH, LINGER_MS);
		if (!n && !connected(s->fd))
			return;
	} while (put_packets(s->out, numbers, &count, recs, n) &&
		 !ang_load_acquire(&s->control->stop));
}

/* Return: always -EPIPE: the session ends after a capture. */
static int capture(struct session *s, struct show *show)
{
	const struct nlattr *dev = show->attr[ANG_NL_DEV];
	struct traces *traces = fabric_traces(show->fabric);
	u32 nodes = ang_cfg_check(fabric_cfg(show->fabric));
	u32 node = dev ? nla_get_u32(dev) : TRACE_ALL;
	struct tracer *tracer;
	u32 *numbers;

	if (dev && node >= nodes) {
		show_end(show, -ENODEV, "there is no such node");
		return -EPIPE;
	}
	numbers = calloc(fabric_cfg(show->fabric)->topo.routers,
			 sizeof(*numbers));
	tracer = numbers ? traces_add(traces, node) : NULL;
	if (!tracer) {
		show_end(show, -ENOMEM, "the server has no memory left");
	} else {
		if (!show_end(show, 0, NULL))
			stream(s, traces, tracer, numbers);
		traces_remove(traces, tracer);
	}
	free(numbers);
	return -EPIPE;
}

static int answer(struct session *s)
{
	struct show show = { .fabric = s->control->fabric, .out = s->out,
			     .msg = &s->msg.hdr };

	if (s->msg.hdr.nlmsg_type != CONTROL_TYPE ||
	    !genlmsg_valid_hdr(&s->msg.hdr, 0))
		return show_end(&show, -EINVAL, "not a request of angaractl");
	show.command = genlmsg_hdr(&s->msg.hdr)->cmd;
	switch (show_parse(&show)) {
	case -EOPNOTSUPP:
		return show_end(&show, -EOPNOTSUPP,
				"a server is read-only: make changes in a guest");
	case -EINVAL:
		return show_end(&show, -EINVAL, "an attribute of the request is malformed");
	}
	if (show.command == CONTROL_CMD_CAPTURE)
		return capture(s, &show);
	return show_answer(&show);
}

static void session_end(struct session *s)
{
	struct control *c = s->control;
	struct session **at;

	pthread_mutex_lock(&c->lock);
	for (at = &c->sessions; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	/* Close after removal: another connection may get the number of the descriptor. */
	fclose(s->out);
	free(s);
	c->count--;
	pthread_cond_signal(&c->gone);
	pthread_mutex_unlock(&c->lock);
}

static void *session_main(void *arg)
{
	struct session *s = arg;

	while (read_request(s) && !answer(s) && !fflush(s->out))
		;
	session_end(s);
	return NULL;
}

static int session_start(struct control *c, int fd)
{
	const struct timeval limit = { .tv_sec = SEND_S };
	struct session *s = calloc(1, sizeof(*s));
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	if (!s)
		return -ENOMEM;
	s->control = c;
	s->fd = fd;
	s->out = fdopen(fd, "w");
	if (!s->out) {
		free(s);
		return -ENOMEM;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	pthread_mutex_lock(&c->lock);
	s->next = c->sessions;
	c->sessions = s;
	c->count++;
	pthread_mutex_unlock(&c->lock);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ret = pthread_create(&thread, &attr, session_main, s);
	pthread_attr_destroy(&attr);
	if (ret)
		session_end(s);
	return 0;
}

static void take_connection(struct control *c)
{
	int fd = stream_accept(c->listener.fd, NULL, NULL, SOCK_CLOEXEC);
	bool full;

	if (fd < 0)
		return;
	pthread_mutex_lock(&c->lock);
	full = c->count == CONTROL_SESSIONS;
	pthread_mutex_unlock(&c->lock);
	if (full || session_start(c, fd))
		close(fd);
}

static void *control_main(void *arg)
{
	struct control *c = arg;
	struct pollfd p[] = {
		{ .fd = c->kick, .events = POLLIN },
		{ .fd = c->listener.fd, .events = POLLIN },
	};

	while (!ang_load_acquire(&c->stop))
		if (poll(p, 2, -1) > 0 && p[1].revents)
			take_connection(c);
	return NULL;
}

static void control_free(struct control *c, const char *dir)
{
	listener_close(&c->listener, dir, CONTROL_SOCKET);
	if (c->kick >= 0)
		close(c->kick);
	pthread_cond_destroy(&c->gone);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/**
 * control_start() - serve queries about a fabric at a socket
 * @f: fabric
 * @dir: folder of the socket
 *
 * Return: argument of control_stop(); NULL after an error message.
 */
struct control *control_start(struct fabric *f, const char *dir)
{
	struct control *c = calloc(1, sizeof(*c));

	if (!c) {
		say("no memory for the control socket");
		return NULL;
	}
	c->fabric = f;
	c->listener.fd = -1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->gone, NULL);
	c->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->kick < 0)
		say("cannot create an eventfd for the control socket");
	else if (!listener_open(&c->listener, dir, CONTROL_SOCKET, 0600) &&
		 !pthread_create(&c->thread, NULL, control_main, c))
		return c;
	control_free(c, dir);
	return NULL;
}

/** control_stop() - end all sessions; the fabric must still exist */
void control_stop(struct control *c, const char *dir)
{
	struct session *s;
	u64 one = 1;

	ang_store_release(&c->stop, true);
	if (write(c->kick, &one, sizeof(one)) < 0)
		say("the control socket cannot be stopped");
	pthread_join(c->thread, NULL);
	pthread_mutex_lock(&c->lock);
	for (s = c->sessions; s; s = s->next)
		shutdown(s->fd, SHUT_RDWR);
	while (c->count)
		pthread_cond_wait(&c->gone, &c->lock);
	pthread_mutex_unlock(&c->lock);
	control_free(c, dir);
}
