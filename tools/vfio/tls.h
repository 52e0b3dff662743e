/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TLS 1.3 with a key that all servers of a fabric share.
 */
#ifndef ANGARA_VFIO_TLS_H
#define ANGARA_VFIO_TLS_H

#include <errno.h>

#include "peer.h"
#include "stream.h"

#define TLS_KEY_MIN	16U	/* bytes of a key */
#define TLS_KEY_MAX	64U
#define TLS_RECORD	0x16	/* first byte of a client that uses TLS */

#ifdef VFIO_TLS
struct tls_key *tls_key_load(const char *path);
void tls_key_free(struct tls_key *key);
int tls_start(struct stream *s, const struct tls_key *key, bool dials);
void tls_end(struct stream *s);
int tls_shake(struct stream *s, const char **flaw);
ssize_t tls_recv(struct stream *s, void *buf, size_t size);
bool tls_pending(const struct stream *s);
ssize_t tls_send(struct stream *s, const void *buf, size_t size, bool more);
int tls_flush(struct stream *s);
bool tls_writes(const struct stream *s);
#else
/* Without GnuTLS no key can be loaded, so no stream has a session. */
static inline struct tls_key *tls_key_load(const char *path)
{
	say("--peer-key '%s': this angara-vfio is built without GnuTLS", path);
	return NULL;
}

static inline void tls_key_free(struct tls_key *key)
{
}

static inline int tls_start(struct stream *s, const struct tls_key *key,
			    bool dials)
{
	return -EOPNOTSUPP;
}

static inline void tls_end(struct stream *s)
{
}

static inline int tls_shake(struct stream *s, const char **flaw)
{
	return -EOPNOTSUPP;
}

static inline ssize_t tls_recv(struct stream *s, void *buf, size_t size)
{
	return -EOPNOTSUPP;
}

static inline bool tls_pending(const struct stream *s)
{
	return false;
}

static inline ssize_t tls_send(struct stream *s, const void *buf, size_t size,
			       bool more)
{
	return -EOPNOTSUPP;
}

static inline int tls_flush(struct stream *s)
{
	return 0;
}

static inline bool tls_writes(const struct stream *s)
{
	return false;
}
#endif

#endif /* ANGARA_VFIO_TLS_H */
