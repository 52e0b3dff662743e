// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets: one thread per card, which serves one client after another.
 *
 * A message is read in two parts, its header and then the rest, never more: so
 * file descriptors that arrive belong to the message that is read.  While a
 * client does not take a reply, the server reads nothing more from it.  The
 * server keeps at most one message and one reply of a client.
 *
 * A refused connection is closed by a thread of its own, since closing it may
 * block, and the card's client must not wait for that.  Meanwhile, the server
 * refuses no further connection: it leaves them in the listener's queue.
 *
 *   client	the card's thread alone
 *   closer	the card's thread alone; that thread starts and joins the closer
 *   stop	atomic; set by the main thread, which then wakes the card's thread
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto.h"
#include "stream.h"

#define BURST		64	/* messages between two checks of other events */
#define CLOSER_MS	100	/* ms between two looks at a closer */

struct client {
	int fd;
	u32 have;		/* bytes of the message in rx */
	u32 sent;		/* bytes of the reply that were sent */
	bool last;		/* close the connection after the reply is sent */
	struct vfu_msg msg;
	struct vfu_reply reply;
	_Alignas(8) u8 rx[VFU_MAX_MSG];
};

/*
 * Closing a socket may block for the SO_LINGER time that the client has set.
 * So may closing a socket whose queue has sockets that the server has not
 * received.
 */
static void fd_close(struct card *c, int fd)
{
	const struct linger off = { 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
	card_block(c);
	close(fd);
	card_unblock(c);
}

static void fds_close(struct card *c, struct client *cl)
{
	u32 i;

	for (i = 0; i < cl->msg.num_fds; i++)
		if (cl->msg.fds[i] >= 0)
			fd_close(c, cl->msg.fds[i]);
	cl->msg.num_fds = 0;
	cl->msg.more_fds = false;
}

static void fds_take(struct card *c, struct client *cl, struct msghdr *hdr)
{
	struct cmsghdr *at;
	size_t i, n;

	for (at = CMSG_FIRSTHDR(hdr); at; at = CMSG_NXTHDR(hdr, at)) {
		if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
			continue;
		n = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(at) + i * sizeof(int), sizeof(fd));
			if (cl->msg.num_fds < VFU_MAX_FDS) {
				cl->msg.fds[cl->msg.num_fds++] = fd;
			} else {
				fd_close(c, fd);
				cl->msg.more_fds = true;
			}
		}
	}
	if (hdr->msg_flags & MSG_CTRUNC)
		cl->msg.more_fds = true;
}

/* Return: 1: complete; 0: not yet; -1: close the connection. */
static int receive(struct card *c, struct client *cl, u32 want)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(VFU_MAX_FDS * sizeof(int))];
	} control;
	ssize_t n;

	while (cl->have < want) {
		struct iovec iov = { cl->rx + cl->have, want - cl->have };
		struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control) };

		/* recvmsg() closes descriptors that exceed the room for them, which may block. */
		card_block(c);
		n = recvmsg(cl->fd, &hdr, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		card_unblock(c);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		fds_take(c, cl, &hdr);
		if (!n)
			return -1;
		cl->have += (u32)n;
	}
	return 1;
}

/* Return: 1: all is sent; 0: not yet; -1: close the connection. */
static int flush(struct client *cl)
{
	while (cl->sent < cl->reply.len) {
		ssize_t n = send(cl->fd, cl->reply.bytes + cl->sent,
				 cl->reply.len - cl->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		cl->sent += (u32)n;
	}
	cl->sent = 0;
	cl->reply.len = 0;
	return cl->last ? -1 : 1;
}

static void dispatch(struct card *c, struct client *cl)
{
	struct vfu_msg *m = &cl->msg;

	m->body = cl->rx + sizeof(m->hdr);
	m->len = m->hdr.size - (u32)sizeof(m->hdr);
	cl->last = proto_handle(c, m, &cl->reply) != 0;
	fds_close(c, cl);
	cl->have = 0;
}

/* Receive and handle one message.  Return: as receive(). */
static int message(struct card *c, struct client *cl)
{
	int ret = flush(cl);

	if (ret == 1)
		ret = receive(c, cl, sizeof(cl->msg.hdr));
	if (ret != 1)
		return ret;
	memcpy(&cl->msg.hdr, cl->rx, sizeof(cl->msg.hdr));
	if (!proto_size_ok(c, &cl->msg.hdr))
		return -1;
	ret = receive(c, cl, cl->msg.hdr.size);
	if (ret != 1)
		return ret;
	dispatch(c, cl);
	return flush(cl);
}

static void hang_up(struct card *c)
{
	struct client *cl = c->client;

	c->client = NULL;
	ang_store_release(&c->attached, false);
	fds_close(c, cl);
	fd_close(c, cl->fd);
	free(cl);
	card_detach(c);
}

static void serve(struct card *c)
{
	int i, ret = 1;

	for (i = 0; i < BURST && ret == 1 && !c->stuck; i++)
		ret = message(c, c->client);
	if (ret < 0)
		hang_up(c);
}

static void *closer_main(void *arg)
{
	close((int)(intptr_t)arg);
	return NULL;
}

/* Closes a connection that is not the client's: if this takes long, the client stays. */
static void close_other(struct card *c, int fd)
{
	bool stuck = c->stuck;

	fd_close(c, fd);
	c->stuck = stuck;
}

/* A card belongs to one machine: close the socket of a second client. */
static void refuse(struct card *c, int fd)
{
	card_say(c, "in use: refused a second client");
	c->closes = !pthread_create(&c->closer, NULL, closer_main,
				    (void *)(intptr_t)fd);
	c->closing_since = seconds();
	if (!c->closes)
		close_other(c, fd);
}

/* Join the closer if it has ended; interrupt it if it takes too long. */
static void closer_look(struct card *c)
{
	if (!c->closes)
		return;
	if (!pthread_tryjoin_np(c->closer, NULL))
		c->closes = false;
	else if (seconds() - c->closing_since > CARD_STUCK_S)
		pthread_kill(c->closer, SIGUSR1);
}

static void closer_end(struct card *c)
{
	while (c->closes) {
		c->closing_since = 0;
		closer_look(c);
		usleep(1000);
	}
}

static void answer(struct card *c)
{
	int fd = stream_accept(c->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (c->client) {
		refuse(c, fd);
		return;
	}
	c->client = calloc(1, sizeof(*c->client));
	if (!c->client) {
		card_say(c, "no memory for a client");
		close_other(c, fd);
		return;
	}
	c->client->fd = fd;
	ang_store_release(&c->attached, true);
}

static void *card_main(void *arg)
{
	struct card *c = arg;
	u64 count;

	irq_enter(&c->irq);
	while (!ang_load_acquire(&c->stop)) {
		struct client *cl = c->client;
		struct pollfd p[] = {
			{ .fd = c->irq.kick, .events = POLLIN },
			{ .fd = cl && c->closes ? -1 : c->listener.fd,
			  .events = POLLIN },
			{ .fd = cl ? cl->fd : -1,
			  .events = cl && cl->reply.len ? POLLOUT : POLLIN },
		};

		if (poll(p, 3, c->closes ? CLOSER_MS : -1) < 0)
			continue;
		if (p[0].revents && read(c->irq.kick, &count, sizeof(count)) > 0)
			irq_deliver(c);
		closer_look(c);
		if (p[2].revents)
			serve(c);
		if (c->stuck && c->client) {
			card_say(c, "the client does not answer the server: connection closed");
			hang_up(c);
		}
		if (p[1].revents)
			answer(c);
	}
	if (c->client)
		hang_up(c);
	closer_end(c);
	return NULL;
}

int server_start(struct card *c)
{
	return -pthread_create(&c->thread, NULL, card_main, c);
}

/** server_stop() - end a card's thread; its client sees the socket closed */
void server_stop(struct card *c)
{
	u64 one = 1;

	ang_store_release(&c->stop, true);
	if (write(c->irq.kick, &one, sizeof(one)) < 0)
		say("node %u: its thread cannot be stopped", c->node);
	/* Interrupt a write that a client has blocked. */
	while (pthread_tryjoin_np(c->thread, NULL)) {
		pthread_kill(c->thread, SIGUSR1);
		usleep(1000);
	}
}
