// SPDX-License-Identifier: GPL-2.0-only
/* Connections: accept them; with other servers, plain or with TLS. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tls.h"

/**
 * stream_accept() - accept a connection
 * @fd: listening socket
 * @from: out: address of the client, in @len bytes; or NULL
 * @len: in: room; out: bytes of the address; or NULL
 * @flags: as for accept4(2)
 *
 * EAGAIN and ECONNABORTED mean that no client is left to accept.  Any other error, such
 * as a lack of descriptors, would occur again at once, so the call then waits.
 *
 * Return: the socket, or -1.
 */
int stream_accept(int fd, struct sockaddr *from, socklen_t *len, int flags)
{
	int client = accept4(fd, from, len, flags);

	if (client < 0 && errno != EAGAIN && errno != ECONNABORTED)
		usleep(100000);
	return client;
}

/**
 * stream_new() - make a plain stream of a socket
 * @fd: socket that does not block; closed if this fails
 *
 * Return: the stream; NULL without memory.
 */
struct stream *stream_new(int fd)
{
	struct stream *s = calloc(1, sizeof(*s));
	const int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (!s) {
		close(fd);
		return NULL;
	}
	s->fd = fd;
	s->shaken = true;
	return s;
}

/**
 * stream_secure() - use TLS from now on; the handshake follows, see
 * stream_shake()
 * @s: stream
 * @key: must outlive the stream
 * @dials: this side has connected
 *
 * Return: 0, or -errno.
 */
int stream_secure(struct stream *s, const struct tls_key *key, bool dials)
{
	s->shaken = false;
	return tls_start(s, key, dials);
}

/** stream_free() - close the connection; NULL: there is none */
void stream_free(struct stream *s)
{
	if (!s)
		return;
	tls_end(s);
	close(s->fd);
	free(s);
}

/**
 * stream_shake() - continue the handshake
 * @s: stream
 * @flaw: out: NULL, or why the peer is rejected, for a message
 *
 * Return: 1: complete; 0: call again when the socket is ready; -errno: it
 * failed.
 */
int stream_shake(struct stream *s, const char **flaw)
{
	int ret = 1;

	*flaw = NULL;
	if (!s->shaken)
		ret = tls_shake(s, flaw);
	s->shaken |= ret > 0;
	return ret;
}

/** stream_recv() - receive. Return: bytes; 0: the end; -EAGAIN, -errno */
ssize_t stream_recv(struct stream *s, void *buf, size_t size)
{
	ssize_t n;

	if (s->tls)
		return tls_recv(s, buf, size);
	n = recv(s->fd, buf, size, MSG_DONTWAIT);
	if (n >= 0)
		return n;
	return errno == EINTR ? -EAGAIN : -errno;
}

/** stream_pending() - are there bytes to receive that poll(2) does not see? */
bool stream_pending(const struct stream *s)
{
	return s->tls && tls_pending(s);
}

/**
 * stream_send() - send
 * @s: stream
 * @buf: data
 * @size: not 0
 * @more: more data follows at once
 *
 * Return: bytes that were taken; -EAGAIN, -errno.
 */
ssize_t stream_send(struct stream *s, const void *buf, size_t size, bool more)
{
	ssize_t n;

	if (s->tls)
		return tls_send(s, buf, size, more);
	n = send(s->fd, buf, size,
		 MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
	if (n >= 0)
		return n;
	return errno == EINTR ? -EAGAIN : -errno;
}

/**
 * stream_flush() - send data that earlier calls could not send. Return: 0,
 * -EAGAIN, -errno
 */
int stream_flush(struct stream *s)
{
	return s->owed ? tls_flush(s) : 0;
}

/** stream_owes() - does the stream wait until the socket can be written? */
bool stream_owes(const struct stream *s)
{
	return s->owed || (!s->shaken && tls_writes(s));
}
