// SPDX-License-Identifier: GPL-2.0-only
/*
 * TLS 1.3 with a key that all servers of a fabric share.
 *
 * Both sides prove that they have the key; the keys of a session come from a
 * fresh key exchange, so if the key leaks later, earlier traffic stays secret.
 * No other method of authentication is offered or accepted: no certificates, no
 * resumption.
 */
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tls.h"

#define NAME		"angara"	/* name of the key, for GnuTLS */
/*
 * The ciphers are those with SHA-256, the hash of the key in TLS.  GnuTLS demands
 * signatures in the list, although only certificates use them.
 */
#define CIPHERS		"NONE:+VERS-TLS1.3:+ECDHE-PSK:+AES-128-GCM:" \
			"+CHACHA20-POLY1305:+AEAD:+SIGN-ALL:" \
			"+GROUP-X25519:+GROUP-SECP256R1"
#define RECORD_MOST	16384U	/* bytes of data in a record */
#define DIGITS		(2U * TLS_KEY_MAX)

/* @bytes: read by the callbacks of sessions; constant */
struct tls_key {
	gnutls_priority_t ciphers;
	gnutls_psk_client_credentials_t client;
	gnutls_psk_server_credentials_t server;
	u8 bytes[TLS_KEY_MAX];
	u32 size;
};

static int give_key(gnutls_session_t session, const char *name,
		    gnutls_datum_t *out)
{
	const struct tls_key *key = gnutls_session_get_ptr(session);

	if (strcmp(name, NAME))
		return -1;
	out->data = gnutls_malloc(key->size);
	if (!out->data)
		return -1;
	memcpy(out->data, key->bytes, key->size);
	out->size = key->size;
	return 0;
}

/* Only the user of the server may read the key. */
static const char *file_flaw(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "is not a regular file";
	if (st.st_uid && st.st_uid != geteuid())
		return "belongs to another user";
	if (st.st_mode & 0077)
		return "is open to other users: chmod 600";
	return NULL;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *parse(struct tls_key *key, const char *text, size_t len)
{
	size_t i;

	if (len && text[len - 1] == '\n')
		len--;
	for (i = 0; i < len; i++)
		if (digit(text[i]) < 0)
			return "wants a line of hexadecimal digits only";
	if (len % 2 || len < 2 * TLS_KEY_MIN || len > DIGITS)
		return "wants 32 to 128 hexadecimal digits, an even number";
	for (i = 0; i < len; i += 2)
		key->bytes[i / 2] = (u8)(digit(text[i]) << 4 | digit(text[i + 1]));
	key->size = (u32)len / 2;
	return NULL;
}

static const char *load(struct tls_key *key, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *flaw = file_flaw(fd);
	char text[DIGITS + 2];	/* digits, a newline, and a byte that shows excess */
	ssize_t n = 0;

	if (!flaw) {
		n = read(fd, text, sizeof(text));
		flaw = n < 0 ? strerror(errno) : parse(key, text, (size_t)n);
	}
	explicit_bzero(text, sizeof(text));
	if (fd >= 0)
		close(fd);
	return flaw;
}

static int credentials(struct tls_key *key)
{
	const gnutls_datum_t bytes = { key->bytes, key->size };
	int ret = gnutls_priority_init(&key->ciphers, CIPHERS, NULL);

	if (!ret)
		ret = gnutls_psk_allocate_client_credentials(&key->client);
	if (!ret)
		ret = gnutls_psk_allocate_server_credentials(&key->server);
	if (!ret)
		ret = gnutls_psk_set_client_credentials(key->client, NAME, &bytes,
							GNUTLS_PSK_KEY_RAW);
	if (!ret)
		gnutls_psk_set_server_credentials_function(key->server, give_key);
	return ret;
}

/**
 * tls_key_load() - read the key that all servers share
 * @path: file of hexadecimal digits, which only its owner may read
 *
 * Return: the key; NULL after a message.
 */
struct tls_key *tls_key_load(const char *path)
{
	struct tls_key *key = calloc(1, sizeof(*key));
	const char *flaw = key ? load(key, path) : strerror(ENOMEM);
	int ret = flaw ? 0 : credentials(key);

	if (ret)
		flaw = gnutls_strerror(ret);
	if (!flaw)
		return key;
	say("--peer-key '%s': %s", path, flaw);
	tls_key_free(key);
	return NULL;
}

/** tls_key_free() - free a key that no stream uses any more; NULL: none */
void tls_key_free(struct tls_key *key)
{
	if (!key)
		return;
	if (key->server)
		gnutls_psk_free_server_credentials(key->server);
	if (key->client)
		gnutls_psk_free_client_credentials(key->client);
	if (key->ciphers)
		gnutls_priority_deinit(key->ciphers);
	explicit_bzero(key, sizeof(*key));
	free(key);
}

/*
 * The filter of system calls allows send(2) and recv(2), but not GnuTLS's
 * calls.
 */
static ssize_t push(gnutls_transport_ptr_t ptr, const void *buf, size_t size)
{
	const struct stream *s = ptr;

	return send(s->fd, buf, size, MSG_NOSIGNAL | MSG_DONTWAIT | s->more);
}

static ssize_t pull(gnutls_transport_ptr_t ptr, void *buf, size_t size)
{
	struct stream *s = ptr;
	ssize_t n = recv(s->fd, buf, size, MSG_DONTWAIT);

	s->ended |= !n || (n < 0 && errno != EAGAIN && errno != EINTR);
	return n;
}

/** tls_start() - begin a session on a stream. Return: 0, or -ENOMEM */
int tls_start(struct stream *s, const struct tls_key *key, bool dials)
{
	const u32 flags = GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS;

	if (gnutls_init(&s->tls, flags | (dials ? GNUTLS_CLIENT : GNUTLS_SERVER))) {
		s->tls = NULL;
		return -ENOMEM;
	}
	gnutls_session_set_ptr(s->tls, (void *)key);
	gnutls_transport_set_ptr(s->tls, s);
	gnutls_transport_set_push_function(s->tls, push);
	gnutls_transport_set_pull_function(s->tls, pull);
	if (gnutls_priority_set(s->tls, key->ciphers) ||
	    gnutls_credentials_set(s->tls, GNUTLS_CRD_PSK,
				   dials ? (void *)key->client :
					   (void *)key->server))
		return -ENOMEM;
	return 0;
}

void tls_end(struct stream *s)
{
	if (s->tls)
		gnutls_deinit(s->tls);
	s->tls = NULL;
}

static bool is_again(ssize_t ret)
{
	return ret == GNUTLS_E_AGAIN || ret == GNUTLS_E_INTERRUPTED ||
	       ret == GNUTLS_E_WARNING_ALERT_RECEIVED;
}

/* Return: what is wrong with the other side; NULL: the connection broke. */
static const char *shake_flaw(const struct stream *s, int ret)
{
	if (s->ended)
		return NULL;
	switch (ret) {
	case GNUTLS_E_PUSH_ERROR:
	case GNUTLS_E_MEMORY_ERROR:
		return NULL;
	case GNUTLS_E_SUCCESS:
	case GNUTLS_E_FATAL_ALERT_RECEIVED:
	case GNUTLS_E_RECEIVED_ILLEGAL_PARAMETER:
	case GNUTLS_E_INSUFFICIENT_CREDENTIALS:
	case GNUTLS_E_DECRYPTION_FAILED:
		return "has another key: give both the same --peer-key";
	default:
		return "does not use TLS: give both the same --peer-key";
	}
}

/**
 * tls_shake() - continue the handshake
 * @s: stream with a session
 * @flaw: out: NULL, or why the peer is rejected, for a message
 *
 * Return: 1: complete; 0: call again when the socket is ready; -EPROTO: it
 * failed.
 */
int tls_shake(struct stream *s, const char **flaw)
{
	int ret = gnutls_handshake(s->tls);

	if (is_again(ret))
		return 0;
	if (!ret && gnutls_auth_get_type(s->tls) == GNUTLS_CRD_PSK)
		return 1;
	*flaw = shake_flaw(s, ret);
	/* Best effort: let the other side print the reason, too. */
	if (ret)
		gnutls_alert_send_appropriate(s->tls, ret);
	return -EPROTO;
}

ssize_t tls_recv(struct stream *s, void *buf, size_t size)
{
	ssize_t n = gnutls_record_recv(s->tls, buf, size);

	if (n >= 0)
		return n;
	return is_again(n) ? -EAGAIN : -EPROTO;
}

bool tls_pending(const struct stream *s)
{
	return gnutls_record_check_pending(s->tls);
}

/** tls_flush() - send the record that tls_send() owes. Return: 0, -EAGAIN, -EPROTO */
int tls_flush(struct stream *s)
{
	ssize_t n = gnutls_record_send(s->tls, NULL, 0);

	s->owed = is_again(n);
	if (s->owed)
		return -EAGAIN;
	return n < 0 ? -EPROTO : 0;
}

/*
 * If the socket has no room for a record, the session keeps the record, and its
 * data counts as sent: tls_flush() sends it later.
 */
ssize_t tls_send(struct stream *s, const void *buf, size_t size, bool more)
{
	ssize_t n = s->owed ? tls_flush(s) : 0;

	if (n < 0)
		return n;
	if (size > RECORD_MOST)
		size = RECORD_MOST;
	s->more = more ? MSG_MORE : 0;
	n = gnutls_record_send(s->tls, buf, size);
	s->more = 0;
	s->owed = is_again(n);
	if (s->owed)
		return (ssize_t)size;
	return n < 0 ? -EPROTO : n;
}

/** tls_writes() - does the handshake wait until the socket can be written? */
bool tls_writes(const struct stream *s)
{
	return gnutls_record_get_direction(s->tls);
}
