// SPDX-License-Identifier: GPL-2.0-only
/*
 * Incoming connections of servers; each server has a few seconds for the
 * handshake of TLS, if there is a key, and to send its hello.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "peer.h"
#include "tls.h"

#define CALLERS		16U	/* most connections without a hello yet */
#define HELLO_MS	5000U
#define HELLO_BYTES	((u32)(sizeof(struct wire_head) + \
			       sizeof(struct wire_hello) + \
			       WIRE_MAX_RANGES * sizeof(struct wire_range)))
#define SAY_MS		1000U	/* ms between lines that unknown clients can provoke */

struct caller {
	struct stream *s;	/* NULL: none */
	bool begun;		/* the first byte has arrived */
	u64 since;
	struct address from;
	u32 got;
	u8 buf[HELLO_BYTES];
};

struct door {
	struct peers *ps;
	struct caller caller[CALLERS];
	bool *nodes;
	u64 said;
	u32 unsaid;
};

/*
 * The name lacks the interface of a link-local address: getnameinfo() would make
 * a socket to read its name, and the filter of system calls does not allow that
 * (sandbox.c).
 */
static void name(struct address *a)
{
	struct sockaddr_storage sa = a->sa;
	char host[48], port[8];

	if (sa.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&sa)->sin6_scope_id = 0;
	if (getnameinfo((struct sockaddr *)&sa, a->len, host, sizeof(host),
			port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(a->name, sizeof(a->name), "?");
	else
		snprintf(a->name, sizeof(a->name),
			 strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

/**
 * address_parse() - parse the address of a server
 * @text: HOST:PORT, [HOST]:PORT, or PORT on this machine
 * @out: out
 *
 * Return: NULL, or the error.
 */
const char *address_parse(const char *text, struct address *out)
{
	const char *colon = strrchr(text, ':');
	const char *port = colon ? colon + 1 : text;
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV,
	};
	struct addrinfo *found;
	char host[256] = "127.0.0.1";
	size_t len = colon ? (size_t)(colon - text) : 0;
	char *end;

	if (*port < '0' || *port > '9' || strtoul(port, &end, 10) > 65535 || *end)
		return "wants HOST:PORT, with a port from 0 to 65535";
	if (len > 1 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	if (len >= sizeof(host))
		return "wants HOST:PORT, with a shorter name";
	if (len) {
		memcpy(host, text, len);
		host[len] = 0;
	}
	if (getaddrinfo(host, port, &hints, &found))
		return "there is no such host";
	memset(out, 0, sizeof(*out));
	memcpy(&out->sa, found->ai_addr, found->ai_addrlen);
	out->len = found->ai_addrlen;
	freeaddrinfo(found);
	name(out);
	return NULL;
}

static bool is_local(const struct address *a)
{
	const struct sockaddr_in6 *six = (const void *)&a->sa;
	const struct sockaddr_in *four = (const void *)&a->sa;

	if (a->sa.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/**
 * peers_address() - parse the address of a link; without a key it must be on this
 * machine
 * @ps: peers
 * @text: see address_parse()
 * @out: out
 *
 * Return: NULL, or the error.
 */
const char *peers_address(const struct peers *ps, const char *text,
			  struct address *out)
{
	const char *flaw = address_parse(text, out);

	if (!flaw && !ps->key && !is_local(out))
		flaw = "links with other machines need --peer-key FILE";
	return flaw;
}

static void hang_up(struct caller *c)
{
	stream_free(c->s);
	c->s = NULL;
}

/* Return: whether to print a line about an unknown client now. */
static bool may_say(struct door *d)
{
	u64 now = peer_ms();

	if (now - d->said < SAY_MS) {
		d->unsaid++;
		return false;
	}
	d->said = now;
	return true;
}

static void report(struct door *d, struct caller *c, const char *why)
{
	if (!may_say(d))
		return;
	say("%s %s: refused%s", c->from.name, why,
	    d->unsaid ? " (and earlier connections that were not reported)" : "");
	d->unsaid = 0;
}

static void turn_away(struct door *d, struct caller *c, const char *why)
{
	u8 frame[sizeof(struct wire_head) + WIRE_MAX_TEXT];
	char text[WIRE_MAX_TEXT + 1];

	snprintf(text, sizeof(text), "your server %s", why);
	stream_send(c->s, frame, wire_text_put(frame, WIRE_REFUSE, text), false);
	report(d, c, why);
	hang_up(c);
}

static void hello(struct door *d, struct caller *c)
{
	struct wire_head head;
	struct hello h = { .nodes = d->nodes, .num_nodes = d->ps->num_nodes };
	char text[WIRE_MAX_TEXT];
	const char *flaw;

	memcpy(&head, c->buf, sizeof(head));
	flaw = wire_flaw(&head, c->buf + sizeof(head));
	if (flaw) {
		snprintf(text, sizeof(text), "sent %s", flaw);
		flaw = text;
	} else {
		flaw = wire_hello_get(&head, c->buf + sizeof(head), &d->ps->cfg,
				      &h);
	}
	if (!flaw)
		flaw = peers_admit(d->ps, &h, c->s, &c->from);
	if (flaw == rejoin_later) {
		report(d, c, flaw);
		hang_up(c);
	} else if (flaw) {
		turn_away(d, c, flaw);
	} else {
		c->s = NULL;
	}
}

/*
 * The first byte is TLS_RECORD, or the low byte of the length of a hello, which
 * is a multiple of eight.
 */
static void begin(struct door *d, struct caller *c)
{
	u8 first;
	ssize_t n = recv(c->s->fd, &first, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n <= 0) {
		if (!n || (errno != EAGAIN && errno != EINTR))
			hang_up(c);
		return;
	}
	c->begun = true;
	if (!d->ps->key != (first != TLS_RECORD))
		turn_away(d, c, d->ps->key ?
			  "does not use TLS: give both the same --peer-key" :
			  "uses TLS: give both the same --peer-key");
	else if (d->ps->key && stream_secure(c->s, d->ps->key, false))
		hang_up(c);
}

/* Return: false until the handshake is complete. */
static bool shake(struct door *d, struct caller *c)
{
	const char *flaw;
	int ret = stream_shake(c->s, &flaw);

	if (ret < 0) {
		if (flaw)
			report(d, c, flaw);
		hang_up(c);
	}
	return ret > 0;
}

static void listen_to(struct door *d, struct caller *c)
{
	struct wire_head head;
	u32 want = sizeof(head);
	ssize_t n;

	if (c->got >= sizeof(head)) {
		memcpy(&head, c->buf, sizeof(head));
		want += le32_to_cpu(head.length);
	}
	n = stream_recv(c->s, c->buf + c->got, want - c->got);
	if (n <= 0) {
		if (n != -EAGAIN)
			hang_up(c);
		return;
	}
	c->got += (u32)n;
	if (c->got < want)
		return;
	memcpy(&head, c->buf, sizeof(head));
	if (c->got == sizeof(head) &&
	    (head.type != WIRE_HELLO ||
	     le32_to_cpu(head.length) > HELLO_BYTES - sizeof(head)))
		turn_away(d, c, "does not use the protocol of angara-vfio");
	else if (c->got == sizeof(head) + le32_to_cpu(head.length))
		hello(d, c);
}

static void attend(struct door *d, struct caller *c)
{
	if (!c->begun)
		begin(d, c);
	if (!c->s || !c->begun || !shake(d, c))
		return;
	do {
		listen_to(d, c);
	} while (c->s && stream_pending(c->s));
}

/* Do two addresses belong to one host?  A host may use a whole /64 of IPv6. */
static bool same_host(const struct address *a, const struct address *b)
{
	const struct in6_addr *a6 = &((const struct sockaddr_in6 *)&a->sa)->sin6_addr;
	const struct in6_addr *b6 = &((const struct sockaddr_in6 *)&b->sa)->sin6_addr;

	if (a->sa.ss_family != b->sa.ss_family)
		return false;
	if (a->sa.ss_family == AF_INET)
		return ((const struct sockaddr_in *)&a->sa)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)&b->sa)->sin_addr.s_addr;
	return !memcmp(a6, b6, IN6_IS_ADDR_V4MAPPED(a6) ? sizeof(*a6) : 8);
}

/* Number of connections without a hello from the host of @c. */
static u32 crowd(const struct door *d, const struct caller *c)
{
	u32 num = 0, i;

	for (i = 0; i < CALLERS; i++)
		num += d->caller[i].s && same_host(&d->caller[i].from, &c->from);
	return num;
}

/*
 * Return: the connection to close if there is no room for a new one.  It is the
 * oldest one of the host that has the most, so that no host can keep others out.
 */
static struct caller *least_wanted(struct door *d)
{
	struct caller *c = d->caller, *o;

	for (o = c + 1; o < d->caller + CALLERS; o++) {
		u32 more = crowd(d, o), most = crowd(d, c);

		if (more > most || (more == most && o->since < c->since))
			c = o;
	}
	return c;
}

static void answer(struct door *d)
{
	struct caller *c = d->caller;
	struct address from = { .len = sizeof(from.sa) };
	int fd = stream_accept(d->ps->listener, (struct sockaddr *)&from.sa, &from.len,
			       SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	while (c < d->caller + CALLERS && c->s)
		c++;
	if (c == d->caller + CALLERS) {
		c = least_wanted(d);
		hang_up(c);
	}
	name(&from);
	c->s = stream_new(fd);
	c->begun = false;
	c->since = peer_ms();
	c->from = from;
	c->got = 0;
}

static void round_of(struct door *d)
{
	struct pollfd fds[CALLERS + 2];
	u32 i;

	fds[0] = (struct pollfd){ .fd = d->ps->listener_wake, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = d->ps->listener, .events = POLLIN };
	for (i = 0; i < CALLERS; i++) {
		const struct stream *s = d->caller[i].s;

		fds[i + 2] = (struct pollfd){ .fd = -1 };
		if (s)
			fds[i + 2] = (struct pollfd){
				.fd = s->fd,
				.events = POLLIN | (stream_owes(s) ? POLLOUT : 0),
			};
	}
	if (poll(fds, CALLERS + 2, 1000) < 0)
		return;
	for (i = 0; i < CALLERS; i++) {
		struct caller *c = &d->caller[i];

		if (c->s && fds[i + 2].revents)
			attend(d, c);
		if (c->s && peer_ms() - c->since > HELLO_MS)
			hang_up(c);
	}
	if (fds[1].revents)
		answer(d);
}

void *peers_listen(void *arg)
{
	struct peers *ps = arg;
	struct door *d = calloc(1, sizeof(*d));
	u32 i;

	if (d)
		d->nodes = calloc(ps->num_nodes, sizeof(*d->nodes));
	if (!d || !d->nodes) {
		peers_fail(ps, "links:", "no memory to listen for connections");
		free(d);
		return NULL;
	}
	d->ps = ps;
	while (!ang_load_acquire(&ps->stop))
		round_of(d);
	for (i = 0; i < CALLERS; i++)
		if (d->caller[i].s)
			hang_up(&d->caller[i]);
	free(d->nodes);
	free(d);
	return NULL;
}

/** peers_port() - return the port of the listener, 0 for none */
u32 peers_port(const struct peers *ps)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	if (ps->listener < 0 ||
	    getsockname(ps->listener, (struct sockaddr *)&sa, &len))
		return 0;
	return ntohs(sa.ss_family == AF_INET6 ?
		     ((struct sockaddr_in6 *)&sa)->sin6_port :
		     ((struct sockaddr_in *)&sa)->sin_port);
}

/** peers_listen_open() - listen for peers. Return: 0, or -errno after a message */
int peers_listen_open(struct peers *ps, const char *text)
{
	struct address a;
	const char *flaw = peers_address(ps, text, &a);
	int on = 1;
	int ret;

	if (flaw) {
		say("--listen '%s': %s", text, flaw);
		return -EINVAL;
	}
	ps->listener = socket(a.sa.ss_family,
			      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ps->listener_wake = eventfd(0, EFD_CLOEXEC);
	if (ps->listener < 0 || ps->listener_wake < 0 ||
	    setsockopt(ps->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(ps->listener, (struct sockaddr *)&a.sa, a.len) ||
	    listen(ps->listener, SOMAXCONN)) {
		ret = -errno;
		say("--listen '%s': %s", text, strerror(-ret));
		return ret;
	}
	ret = -pthread_create(&ps->listen_thread, NULL, peers_listen, ps);
	if (ret)
		say("cannot start the listening thread: %s", strerror(-ret));
	ps->listens = !ret;
	return ret;
}
