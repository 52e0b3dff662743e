// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer's thread: its connection, and its part of the fabric.
 *
 * When a connection breaks, a new one may replace it; the links continue at the
 * frame that the other side reports.  If no connection replaces it in time, the
 * peer is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

#define HELLO_MS	5000U	/* limit for a hello to arrive */
#define RETRY_MS	100U
#define ALIVE_MS	200U	/* longest time between two frames */
#define IN_BYTES	(2U * (WIRE_MAX_BODY + (u32)sizeof(struct wire_head)))

static void conn_close(struct peer *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	p->in_size = 0;
	p->out_size = p->out_at = 0;
	p->sent = 0;
	/* A partly sent frame is sent again. */
	if (p->state == PEER_UP)
		p->since = peer_ms();
	p->state = PEER_IDLE;
	p->retry = peer_ms() + RETRY_MS;
}

/* Best effort: report the reason to the other side. */
static void refuse(struct peer *p, const char *why)
{
	u32 size;

	/* In the middle of a frame, the peer would read the text as part of the frame. */
	if (p->fd < 0 || p->sent || p->out_at)
		return;
	size = wire_text_put(p->out, WIRE_REFUSE, why);
	send(p->fd, p->out, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Remove the peer permanently. */
static void leave(struct peer *p, const char *why)
{
	refuse(p, why);
	conn_close(p);
	if (!p->met) {
		peers_fail(p->all, p->addr.name, why);
		p->since = peer_ms();
		return;
	}
	p->state = PEER_GONE;
	peer_lost(p, why);
	/* The caller then runs the fabric's work that results. */
	peer_wake(p);
}

static void say_hello(struct peer *p)
{
	struct hello h;

	peers_hello(p->all, &h);
	h.other = p->other;
	h.seen = p->link.seen;
	p->out_size = wire_hello_put(p->out, &h);
	p->out_at = 0;
	p->ack_told = p->link.seen;
}

static void conn_up(struct peer *p, u64 seen)
{
	const char *flaw = NULL;

	if (!p->link.view && link_init(&p->link, &p->view, p->nodes))
		flaw = "has links for which there is no memory";
	if (!flaw)
		flaw = link_resume(&p->link, seen);
	if (flaw) {
		leave(p, flaw);
		return;
	}
	p->state = PEER_UP;
	p->heard = p->spoke = peer_ms();
	p->sent = 0;
	peer_up(p);
}

static void tune(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* A connection from the listener replaces the previous connection. */
static void take_handed(struct peer *p)
{
	struct hello h;
	int fd;

	pthread_mutex_lock(&p->all->lock);
	fd = p->handed;
	p->handed = -1;
	h = p->handed_hello;
	pthread_mutex_unlock(&p->all->lock);
	if (fd < 0)
		return;
	if (p->state == PEER_GONE) {
		close(fd);
		return;
	}
	conn_close(p);
	p->fd = fd;
	tune(fd);
	if (h.other ? h.other != p->all->self : p->link.seen || p->link.acked) {
		leave(p, "was linked with an earlier server here: restart all servers");
		return;
	}
	say_hello(p);
	conn_up(p, h.seen);
}

static void dial(struct peer *p)
{
	p->fd = socket(p->addr.sa.ss_family,
		       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	p->state = PEER_CONNECT;
	if (p->fd < 0 ||
	    (connect(p->fd, (struct sockaddr *)&p->addr.sa, p->addr.len) &&
	     errno != EINPROGRESS)) {
		conn_close(p);
		return;
	}
	p->heard = peer_ms();
}

/*
 * If no process listens at an ephemeral port, the system may choose the same
 * port for the outgoing connection: TCP then connects the socket to itself.
 * Such a connection is reset: in TIME_WAIT it would occupy the port, and the
 * server could not listen there.
 */
static bool connected_to_itself(int fd)
{
	const struct linger reset = { .l_onoff = 1 };
	struct sockaddr_storage here = { 0 }, there = { 0 };
	socklen_t here_len = sizeof(here), there_len = sizeof(there);

	return !getsockname(fd, (struct sockaddr *)&here, &here_len) &&
	       !getpeername(fd, (struct sockaddr *)&there, &there_len) &&
	       here_len == there_len && !memcmp(&here, &there, here_len) &&
	       !setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

static void connected(struct peer *p)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &err, &len) || err ||
	    connected_to_itself(p->fd)) {
		conn_close(p);
		return;
	}
	tune(p->fd);
	p->state = PEER_HELLO;
	p->heard = peer_ms();
	say_hello(p);
}

static void hello_arrives(struct peer *p, const struct wire_head *h,
			  const void *body)
{
	struct hello hello = {
		.nodes = p->scratch, .num_nodes = p->all->num_nodes,
	};
	const char *flaw = wire_hello_get(h, body, &p->all->cfg, &hello);

	if (!flaw && p->met && hello.self != p->other)
		flaw = "was restarted: restart all servers";
	if (!flaw && hello.other != p->all->self)
		flaw = "expects another server here";
	if (!flaw && !p->met)
		flaw = peer_meet(p, &hello);
	if (flaw)
		leave(p, flaw);
	else
		conn_up(p, hello.seen);
}

static void refused(struct peer *p, const struct wire_head *h, const void *body)
{
	char text[WIRE_MAX_TEXT + 16];

	memcpy(text, "says: ", 6);
	wire_text_get(h, body, text + 6);
	leave(p, text);
}

/* Return: false if the connection is closed. */
static bool frame_arrives(struct peer *p, const struct wire_head *h,
			  const void *body)
{
	const char *flaw = wire_flaw(h, body);
	u32 i;

	if (flaw) {
		conn_close(p);
		return false;
	}
	p->heard = peer_ms();
	if (h->type == WIRE_REFUSE) {
		refused(p, h, body);
	} else if (p->state == PEER_HELLO) {
		hello_arrives(p, h, body);
	} else if (h->type == WIRE_HELLO) {
		leave(p, "sends a second hello");
	} else {
		flaw = link_receive(&p->link, h, body);
		if (flaw) {
			char text[WIRE_MAX_TEXT];

			snprintf(text, sizeof(text), "sent %s", flaw);
			leave(p, text);
		}
		for (i = 0; !flaw && h->type == WIRE_LOST &&
		     i < le32_to_cpu(h->length) / 4; i++) {
			__le32 node;

			memcpy(&node, (const u8 *)body + 4 * i, 4);
			peer_heard_lost(p, le32_to_cpu(node));
		}
	}
	return p->fd >= 0;
}

static void conn_read(struct peer *p)
{
	ssize_t n = recv(p->fd, p->in + p->in_size, IN_BYTES - p->in_size, 0);
	struct wire_head h;
	u32 at = 0;

	if (n <= 0) {
		if (!n || (errno != EAGAIN && errno != EINTR))
			conn_close(p);
		return;
	}
	p->in_size += (u32)n;
	while (p->in_size - at >= sizeof(h)) {
		u32 size;

		memcpy(&h, p->in + at, sizeof(h));
		if (wire_head_flaw(&h)) {
			conn_close(p);
			return;
		}
		size = (u32)sizeof(h) + le32_to_cpu(h.length);
		if (p->in_size - at < size)
			break;
		if (!frame_arrives(p, &h, p->in + at + sizeof(h)))
			return;
		at += size;
	}
	memmove(p->in, p->in + at, p->in_size - at);
	p->in_size -= at;
}

/* Return: false if the connection would block, or broke. */
static bool put(struct peer *p, const u8 *from, u32 size, u32 *at, int more)
{
	ssize_t n = send(p->fd, from + *at, size - *at,
			 MSG_NOSIGNAL | MSG_DONTWAIT | more);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		conn_close(p);
	if (n <= 0)
		return false;
	*at += (u32)n;
	p->spoke = peer_ms();
	return *at == size;
}

static void conn_write(struct peer *p)
{
	struct link *l = &p->link;

	while (p->fd >= 0 && p->state >= PEER_HELLO) {
		struct link_frame *f = l->next;

		if (p->out_size && !p->sent) {
			if (!put(p, p->out, p->out_size, &p->out_at, 0))
				return;
			p->out_size = p->out_at = 0;
		} else if (f && p->state == PEER_UP) {
			u64 ack = le64_to_cpu(((struct wire_head *)
					       f->bytes)->ack);

			if (!put(p, f->bytes, f->size, &p->sent,
				 f->next ? MSG_MORE : 0))
				return;
			p->sent = 0;
			l->next = f->next;
			l->written = f->seq > l->written ? f->seq : l->written;
			p->ack_told = ack > p->ack_told ? ack : p->ack_told;
		} else if (p->state == PEER_UP &&
			   (l->seen > p->ack_told ||
			    peer_ms() - p->spoke >= ALIVE_MS)) {
			wire_seal(p->out, WIRE_ALIVE, 0, 0, l->seen);
			p->out_size = sizeof(struct wire_head);
			p->ack_told = l->seen;
		} else {
			return;
		}
	}
}

static void orders(struct peer *p)
{
	char doom[sizeof(p->doom)];
	u64 lost;
	u32 i, node;

	pthread_mutex_lock(&p->all->lock);
	memcpy(doom, p->doom, sizeof(doom));
	p->doom[0] = 0;
	lost = p->state == PEER_GONE ? 0 : p->tell_lost;
	p->tell_lost = 0;
	pthread_mutex_unlock(&p->all->lock);
	for (; lost; lost &= lost - 1) {
		i = ang_lowest(lost);
		for (node = 0; !p->all->peer[i]->nodes[node]; node++)
			;
		if (link_report_lost(&p->link, node))
			leave(p, "cannot be notified of lost servers: no memory");
	}
	if (doom[0] && p->state != PEER_GONE)
		leave(p, doom);
}

/* Run the fabric's side until there is no work. */
static void serve(struct peer *p)
{
	do {
		ang_store_release(&p->idle, 0);
		ang_xchg(&p->notified, 0);
		orders(p);
		take_handed(p);
		if (!p->link.view)
			return;
		if (p->state == PEER_GONE) {
			link_drop(&p->link);
		} else {
			link_collect(&p->link);
			link_deliver(&p->link);
		}
		p->all->host.run(p->all->host.host, &p->view);
	} while (READ_ONCE(p->notified) && !READ_ONCE(p->all->stop));
}

static void timers(struct peer *p)
{
	u64 now = peer_ms();
	u32 limit = p->all->timeout_ms;

	if (p->state == PEER_UP && now - p->heard > limit / 2)
		conn_close(p);
	if ((p->state == PEER_CONNECT || p->state == PEER_HELLO) &&
	    now - p->heard > HELLO_MS)
		conn_close(p);
	if (p->state < PEER_UP && p->met && now - p->since > limit)
		leave(p, "could not be reached in time");
	if (p->state == PEER_IDLE && p->dials && now >= p->retry)
		dial(p);
}

static void wait_for_more(struct peer *p)
{
	struct pollfd fds[2] = {
		{ .fd = p->wake, .events = POLLIN },
		{ .fd = p->fd, .events = POLLIN },
	};
	int ms = RETRY_MS;
	u64 count;

	if (p->state == PEER_UP)
		ms = ALIVE_MS;
	else if (p->state == PEER_GONE || (!p->dials && !p->met))
		ms = -1;
	if (p->state == PEER_CONNECT)
		fds[1].events = POLLOUT;
	else if (p->out_size || (p->state == PEER_UP && p->link.next))
		fds[1].events |= POLLOUT;
	ang_store_release(&p->idle, !p->link.view || p->state == PEER_GONE ||
				    link_idle(&p->link));
	if (poll(fds, 2, ms) <= 0)
		return;
	if (fds[0].revents && read(p->wake, &count, sizeof(count)) < 0)
		return;
	if (!fds[1].revents || p->fd < 0)
		return;
	if (p->state == PEER_CONNECT)
		connected(p);
	else if (fds[1].revents & (POLLIN | POLLHUP | POLLERR))
		conn_read(p);
}

void *peer_main(void *arg)
{
	struct peer *p = arg;

	while (!ang_load_acquire(&p->all->stop)) {
		serve(p);
		timers(p);
		conn_write(p);
		if (!READ_ONCE(p->notified))
			wait_for_more(p);
	}
	refuse(p, "has ended");
	conn_close(p);
	return NULL;
}
