/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection with another server: a socket that does not block, plain or with
 * TLS.  One thread at a time uses it.
 */
#ifndef ANGARA_VFIO_STREAM_H
#define ANGARA_VFIO_STREAM_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

struct tls_key;
struct gnutls_session_int;

/**
 * struct stream - a connection
 * @fd: socket, owned
 * @tls: session; NULL: plain
 * @more: flags of send(2) for the bytes that TLS sends
 * @owed: TLS keeps bytes for which the socket had no room
 * @shaken: the handshake is complete
 * @ended: the connection broke while TLS read from it
 */
struct stream {
	int fd;
	struct gnutls_session_int *tls;
	int more;
	bool owed;
	bool shaken;
	bool ended;
};

int stream_accept(int fd, struct sockaddr *from, socklen_t *len, int flags);
struct stream *stream_new(int fd);
int stream_secure(struct stream *s, const struct tls_key *key, bool dials);
void stream_free(struct stream *s);
int stream_shake(struct stream *s, const char **flaw);
ssize_t stream_recv(struct stream *s, void *buf, size_t size);
bool stream_pending(const struct stream *s);
ssize_t stream_send(struct stream *s, const void *buf, size_t size, bool more);
int stream_flush(struct stream *s);
bool stream_owes(const struct stream *s);

#endif /* ANGARA_VFIO_STREAM_H */
