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
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

#define CONNECT_MS	1000U	/* limit for TCP to connect */
#define HELLO_MS	5000U	/* limit for a hello to arrive */
#define RETRY_MS	100U
#define REDIAL_MS	1000U	/* ms between attempts to find the successor of a lost server */
#define JOIN_MS		5000U	/* limit for a new server to join */
#define ALIVE_MS	200U	/* longest time between two frames */
#define SERVE_ROUNDS	8U	/* rounds of work before the socket is looked at */
#define IN_BYTES	(2U * (WIRE_MAX_BODY + (u32)sizeof(struct wire_head)))

static void conn_drop(struct peer *p)
{
	if (p->state == PEER_JOIN)
		rejoin_cancel(p);
	pthread_mutex_lock(&p->all->lock);
	p->linked = false;
	pthread_mutex_unlock(&p->all->lock);
	stream_free(p->s);
	p->s = NULL;
	p->in_size = 0;
	p->out_size = p->out_at = 0;
	/* A frame that was sent in part is sent again as a whole. */
	p->sent = 0;
	if (p->state == PEER_UP)
		p->since = peer_ms();
	p->state = PEER_IDLE;
	p->retry = peer_ms() + (p->lost ? REDIAL_MS : RETRY_MS);
}

static void conn_close(struct peer *p)
{
	conn_drop(p);
	if (rejoin_forget(p)) {
		link_free(&p->link);
		p->join_sent = false;
	}
}

/* Close a connection that failed; another one may replace it. */
static void conn_fail(struct peer *p)
{
	bool up = p->state == PEER_UP;

	conn_close(p);
	if (up)
		say("peer %s: connection lost; its nodes are lost if it does not reconnect in %u s",
		    p->addr.name, p->all->timeout_ms / 1000);
}

/* Best effort: report the reason to the other side. */
static void refuse(struct peer *p, const char *why)
{
	u32 size;

	/*
	 * If a frame is sent in part, the peer would read the text as the rest
	 * of the frame.
	 */
	if (!p->s || p->state < PEER_HELLO || p->sent || p->out_at)
		return;
	size = wire_text_put(p->out, WIRE_REFUSE, why);
	stream_send(p->s, p->out, size, false);
}

/* Print why a server cannot take the place of a lost peer, once per reason. */
static void report(struct peer *p, const char *why)
{
	if (!strcmp(p->said, why))
		return;
	snprintf(p->said, sizeof(p->said), "%s", why);
	say("peer %s: cannot join: it %s", p->addr.name, why);
}

/* Drop the peer.  If it was never linked, this server ends. */
static void leave(struct peer *p, const char *why)
{
	refuse(p, why);
	conn_close(p);
	if (p->lost) {
		report(p, why);
		return;
	}
	if (!p->met) {
		peers_fail(p->all, p->addr.name, why);
		p->since = peer_ms();
		return;
	}
	p->lost = true;
	p->retry = peer_ms() + REDIAL_MS;
	peer_lost(p, why);
	/* Make this peer's thread run the resulting work of the fabric. */
	peer_wake(p);
}

static void say_hello(struct peer *p)
{
	struct hello h;

	peers_hello(p->all, &h);
	h.other = p->other;
	/* The id asks the other server to join: only one in the place of a lost server has to. */
	if (!p->lost)
		h.fabric_id = 0;
	h.seen = p->lost ? 0 : p->link.seen;
	p->out_size = wire_hello_put(p->out, &h);
	p->out_at = 0;
	p->ack_told = p->link.seen;
}

static void conn_up(struct peer *p, u64 seen)
{
	const char *flaw = NULL;

	if (!p->link.view && link_init(&p->link, &p->view, p->nodes))
		flaw = "has links for which this server lacks memory";
	if (!flaw)
		flaw = link_resume(&p->link, seen);
	if (flaw) {
		leave(p, flaw);
		return;
	}
	p->state = PEER_UP;
	p->flaw = NULL;
	p->heard = p->spoke = peer_ms();
	p->sent = 0;
	pthread_mutex_lock(&p->all->lock);
	p->linked = true;
	pthread_mutex_unlock(&p->all->lock);
	peer_up(p);
}

/* A new server has connected: it may take the place of @p. */
static void rejoin_start(struct peer *p, const struct hello *h)
{
	if (!rejoin_begin(p, h->self, h->nodes)) {
		conn_close(p);
		return;
	}
	p->state = PEER_JOIN;
	p->relink = true;
	p->flaw = NULL;
	p->since = p->heard = p->spoke = peer_ms();
}

/* Let a new server join as soon as rejoin_accept() allows it. */
static void rejoin_try(struct peer *p)
{
	int ret;

	if (!p->join_era || p->out_size || !rejoin_alone(p))
		return;
	/* Drop the frames of the lost server. */
	link_free(&p->link);
	ret = link_init(&p->link, &p->view, p->nodes) ? 0 : rejoin_accept(p);
	if (ret < 0)
		conn_close(p);
	if (ret <= 0)
		return;
	p->lost = false;
	p->said[0] = 0;
	wire_seal(p->out, WIRE_JOINED, 0, 0, 0);
	p->out_size = sizeof(struct wire_head);
	conn_up(p, 0);
}

/*
 * Is @h a delayed hello of an earlier connection?  It reports fewer frames than
 * the peer has acknowledged since, or that the servers have never met.  Such a hello
 * must not drop the peer; if the peer has really lost frames, the timeout drops it.
 */
static bool is_outdated(const struct peer *p, const struct hello *h)
{
	if (p->lost || !p->link.view)
		return false;
	return h->other ? h->other == p->all->self && h->seen < p->link.acked :
			  p->link.seen || p->link.acked;
}

/* A connection from the listener replaces the previous connection. */
static void take_handed(struct peer *p)
{
	struct stream *s;
	struct hello h;

	pthread_mutex_lock(&p->all->lock);
	s = p->handed;
	p->handed = NULL;
	h = p->handed_hello;
	h.nodes = p->scratch;
	memcpy(h.nodes, p->handed_nodes, p->all->num_nodes * sizeof(*h.nodes));
	p->lost |= p->gone;
	pthread_mutex_unlock(&p->all->lock);
	if (!s)
		return;
	if (is_outdated(p, &h)) {
		stream_free(s);
		return;
	}
	conn_drop(p);
	p->s = s;
	p->state = PEER_HELLO;
	if (p->join_sent && !ang_load_acquire(&p->all->whole))
		leave(p, "left while this server joined");
	if (!p->s)
		return;
	if (p->lost) {
		/* From now on the other side dials. */
		p->dials = false;
		rejoin_start(p, &h);
		if (p->state == PEER_JOIN)
			say_hello(p);
		return;
	}
	if (h.other && h.other != p->all->self) {
		leave(p, "was linked with an earlier server here");
		return;
	}
	say_hello(p);
	conn_up(p, h.seen);
}

static void dial(struct peer *p)
{
	int fd = socket(p->addr.sa.ss_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	p->s = fd < 0 ? NULL : stream_new(fd);
	p->state = PEER_CONNECT;
	if (!p->s || (p->all->key && stream_secure(p->s, p->all->key, true)) ||
	    (connect(fd, (struct sockaddr *)&p->addr.sa, p->addr.len) &&
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

/*
 * Any host on the path can break a handshake.  If the servers have not been
 * linked yet, this server prints a message and ends.  Otherwise it tries again
 * until the timeout.
 */
static void shake(struct peer *p)
{
	int ret = stream_shake(p->s, &p->flaw);

	if (ret > 0) {
		p->state = PEER_HELLO;
		p->heard = peer_ms();
		say_hello(p);
	} else if (ret && p->flaw && !p->met) {
		leave(p, p->flaw);
	} else if (ret) {
		conn_close(p);
	}
}

static void connected(struct peer *p)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (getsockopt(p->s->fd, SOL_SOCKET, SO_ERROR, &err, &len) || err ||
	    connected_to_itself(p->s->fd)) {
		p->flaw = NULL;
		conn_close(p);
		return;
	}
	p->state = PEER_SHAKE;
	p->heard = peer_ms();
	shake(p);
}

static void hello_arrives(struct peer *p, const struct wire_head *h,
			  const void *body)
{
	struct hello hello = {
		.nodes = p->scratch, .num_nodes = p->all->num_nodes,
	};
	const char *flaw = wire_hello_get(h, body, &p->all->cfg, &hello);

	if (!flaw && p->lost)
		flaw = rejoin_fits(p, &hello);
	else if (!flaw && p->met && hello.self != p->other)
		flaw = "was restarted";
	if (!flaw && hello.other != p->all->self)
		flaw = "is still linked with an earlier server here: start this one again in a while";
	if (!flaw && !p->lost && !p->met)
		flaw = peer_meet(p, &hello);
	if (flaw == rejoin_later)
		conn_close(p);
	else if (flaw)
		leave(p, flaw);
	else if (p->lost)
		rejoin_start(p, &hello);
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

static void lost_arrives(struct peer *p, const struct wire_head *h,
			 const void *body)
{
	u32 count = le32_to_cpu(h->length) / (u32)sizeof(struct wire_lost);
	const u8 *at = body;

	for (; count; count--, at += sizeof(struct wire_lost)) {
		struct wire_lost w;

		memcpy(&w, at, sizeof(w));
		peer_heard_lost(p, le32_to_cpu(w.node), le32_to_cpu(w.era));
	}
}

/* Return: NULL, or the error. */
static const char *link_frame_arrives(struct peer *p, const struct wire_head *h,
				      const void *body)
{
	const char *flaw;

	if (p->state == PEER_JOIN)
		return h->type == WIRE_JOIN ? rejoin_asked(p, body) :
		       h->type == WIRE_ALIVE ? NULL : "a frame before it has joined";
	if (h->type == WIRE_JOINED)
		return rejoin_answered(p);
	if (h->type == WIRE_JOIN)
		return "a JOIN, but is not lost";
	flaw = link_receive(&p->link, h, body);
	if (!flaw && h->type == WIRE_LOST)
		lost_arrives(p, h, body);
	return flaw;
}

/* Drops the peer, which has sent @what. */
static void leave_for(struct peer *p, const char *what)
{
	char text[WIRE_MAX_TEXT];

	snprintf(text, sizeof(text), "sent %s", what);
	leave(p, text);
}

/* Return: false if the connection is closed. */
static bool frame_arrives(struct peer *p, const struct wire_head *h,
			  const void *body)
{
	const char *flaw = wire_flaw(h, body);

	if (flaw == wire_torn) {
		conn_fail(p);
		return false;
	}
	if (flaw) {
		leave_for(p, flaw);
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
		flaw = link_frame_arrives(p, h, body);
		if (flaw)
			leave_for(p, flaw);
	}
	return p->s != NULL;
}

static void conn_read(struct peer *p)
{
	ssize_t n = stream_recv(p->s, p->in + p->in_size,
				IN_BYTES - p->in_size);
	struct wire_head h;
	u32 at = 0;

	if (n <= 0) {
		if (n != -EAGAIN)
			conn_fail(p);
		return;
	}
	p->in_size += (u32)n;
	while (p->in_size - at >= sizeof(h)) {
		u32 size;

		memcpy(&h, p->in + at, sizeof(h));
		if (wire_head_flaw(&h)) {
			conn_fail(p);
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
static bool put(struct peer *p, const u8 *from, u32 size, u32 *at, bool more)
{
	ssize_t n = stream_send(p->s, from + *at, size - *at, more);

	if (n < 0 && n != -EAGAIN)
		conn_fail(p);
	if (n <= 0)
		return false;
	*at += (u32)n;
	p->spoke = peer_ms();
	return *at == size;
}

static void conn_write(struct peer *p)
{
	struct link *l = &p->link;
	int ret = 0;

	if (p->s && p->state >= PEER_HELLO)
		ret = stream_flush(p->s);
	if (ret && ret != -EAGAIN)
		conn_fail(p);
	if (ret)
		return;
	while (p->s && p->state >= PEER_HELLO) {
		struct link_frame *f = l->next;

		if (p->out_size && !p->sent) {
			if (!put(p, p->out, p->out_size, &p->out_at, false))
				return;
			p->out_size = p->out_at = 0;
		} else if (f && p->state == PEER_UP) {
			u64 ack = le64_to_cpu(((struct wire_head *)
					       f->bytes)->ack);

			if (!put(p, f->bytes, f->size, &p->sent,
				 f->next))
				return;
			p->sent = 0;
			l->next = f->next;
			l->written = f->seq > l->written ? f->seq : l->written;
			p->ack_told = ack > p->ack_told ? ack : p->ack_told;
		} else if (p->state == PEER_UP && !p->join_sent &&
			   ang_load_acquire(&p->all->join_era) &&
			   !ang_load_acquire(&p->all->whole)) {
			p->out_size = rejoin_put(p->all, p->out);
			p->join_sent = p->out_size;
			if (!p->join_sent)
				return;
		} else if (p->state >= PEER_JOIN &&
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
	bool part, ceded;
	u64 lost;
	u32 era;

	pthread_mutex_lock(&p->all->lock);
	memcpy(doom, p->doom, sizeof(doom));
	p->doom[0] = 0;
	lost = p->lost ? 0 : p->tell_lost;
	p->tell_lost = 0;
	era = READ_ONCE(p->all->host.mem->lost);
	part = p->part;
	p->lost |= p->gone;
	ceded = p->lost && rejoin_cede(p);
	pthread_mutex_unlock(&p->all->lock);
	if (part)
		conn_close(p);
	if (ceded)
		link_free(&p->link);
	/* The thread of a lost peer empties the rings of the lost nodes. */
	if (p->lost && (ceded || p->relink || !p->link.view) && rejoin_alone(p)) {
		link_free(&p->link);
		p->relink = link_init(&p->link, &p->view, p->nodes);
	}
	for (; lost; lost &= lost - 1) {
		const struct peer *q = p->all->peer[ang_lowest(lost)];

		/* A new server may have taken the nodes of @q meanwhile: report one that @q had. */
		if (link_report_lost(&p->link, READ_ONCE(q->fell), era))
			leave(p, "cannot be notified of lost servers: no memory");
	}
	if (doom[0] && !p->lost)
		leave(p, doom);
}

/*
 * Move packets between the fabric and the peer until there is no work, or for
 * SERVE_ROUNDS rounds.  Management packets wait for no room, so they can make work
 * as fast as this thread does it, but the thread must also read its socket.
 */
static void serve(struct peer *p)
{
	u32 rounds = 0;

	do {
		ang_store_release(&p->idle, 0);
		ang_xchg(&p->notified, 0);
		orders(p);
		take_handed(p);
		if (p->state == PEER_JOIN)
			rejoin_try(p);
		if (!p->link.view)
			return;
		if (p->lost) {
			link_drop(&p->link);
		} else if (ang_load_acquire(&p->all->whole)) {
			link_collect(&p->link);
			link_deliver(&p->link);
		}
		p->all->host.run(p->all->host.host, &p->view);
	} while (READ_ONCE(p->notified) && ++rounds < SERVE_ROUNDS &&
		 !READ_ONCE(p->all->stop));
}

/* Reads the clock again: @since may have been set after an earlier reading. */
static bool passed(u64 since, u32 ms)
{
	return peer_ms() > since + ms;
}

static void timers(struct peer *p)
{
	u32 limit = p->all->timeout_ms;

	if (p->state == PEER_UP && passed(p->heard, limit / 2))
		conn_fail(p);
	/*
	 * TCP repeats its first packet after 1, 2 and 4 s. When the network
	 * works again, a new attempt connects sooner.
	 */
	if (p->state > PEER_IDLE && p->state < PEER_JOIN &&
	    passed(p->heard, p->state == PEER_CONNECT ? CONNECT_MS : HELLO_MS))
		conn_fail(p);
	if (p->state == PEER_JOIN && passed(p->since, JOIN_MS))
		conn_close(p);
	if (p->state < PEER_UP && p->met && !p->lost && passed(p->since, limit))
		leave(p, p->flaw ? p->flaw : "could not be reached in time");
	if (p->state == PEER_IDLE && p->dials && peer_ms() >= p->retry)
		dial(p);
}

static void wait_for_more(struct peer *p)
{
	struct pollfd fds[2] = {
		{ .fd = p->wake, .events = POLLIN },
		{ .fd = p->s ? p->s->fd : -1, .events = POLLIN },
	};
	bool pending = p->s && p->state >= PEER_HELLO && stream_pending(p->s);
	int ms = RETRY_MS;
	u64 count;

	/*
	 * peer_wake() writes to the eventfd only if @notified is clear.  If it is
	 * set, this thread may have read the eventfd already, and must not wait.
	 */
	if (pending || READ_ONCE(p->notified) || ang_load_acquire(&p->all->stop))
		ms = 0;
	else if (p->state == PEER_UP)
		ms = ALIVE_MS;
	else if (p->state == PEER_IDLE && !p->dials && (p->lost || !p->met))
		ms = -1;
	if (p->state == PEER_CONNECT)
		fds[1].events = POLLOUT;
	else if (p->out_size || (p->state == PEER_UP && p->link.next) ||
		 (p->s && stream_owes(p->s)))
		fds[1].events |= POLLOUT;
	ang_store_release(&p->idle, !p->link.view || p->lost ||
				    link_idle(&p->link));
	if (poll(fds, 2, ms) <= 0 && !pending)
		return;
	if (fds[0].revents && read(p->wake, &count, sizeof(count)) < 0)
		return;
	if (pending)
		fds[1].revents |= POLLIN;
	if (!fds[1].revents || !p->s)
		return;
	if (p->state == PEER_CONNECT)
		connected(p);
	else if (p->state == PEER_SHAKE)
		shake(p);
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
		wait_for_more(p);
	}
	refuse(p, "this server has ended");
	conn_close(p);
	return NULL;
}
