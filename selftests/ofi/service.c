// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Services: clients find an endpoint by host and TCP port, and do not mistake
 * other servers for an endpoint.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fi.h"

#define HOST	"127.0.0.1"

/*
 * A TCP server: listens at @port, sends @data to clients, keeps the
 * connections.
 */
struct stranger {
	int fd;
	char port[8];
	pthread_t thread;
	const char *data;
	size_t len;
};

/* Return: a socket that listens at a port of the system's choice. */
static int listen_any(char port[8])
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)) || listen(fd, 8) ||
	    getsockname(fd, (void *)&at, &len))
		return -1;
	snprintf(port, 8, "%u", ntohs(at.sin_port));
	return fd;
}

/* Finds a port without a listener; the port probably stays free during the test. */
static bool free_port(char port[8])
{
	int fd = listen_any(port);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int ask(const char *node, const char *port, uint64_t flags,
	       const struct fi_info *hints, struct fi_info **info)
{
	*info = NULL;
	return fi_getinfo(API, node, port, flags, hints, info);
}

/* Opens one more endpoint of @s, which listens at @port. */
static int serve(struct side *s, const struct fi_info *hints, const char *port,
		 struct fid_ep **ep)
{
	struct fi_info *info;
	int ret = ask(HOST, port, FI_SOURCE, hints, &info);

	*ep = NULL;
	if (!ret)
		ret = fi_endpoint(s->domain, info, ep, NULL);
	if (!ret)
		ret = fi_ep_bind(*ep, &s->av->fid, 0);
	if (!ret)
		ret = fi_ep_bind(*ep, &s->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(*ep);
	fi_freeinfo(info);
	return ret;
}

/* Does the endpoint at @port have this address? */
static bool found(const char *port, const struct fi_info *hints,
		  struct fid_ep *ep)
{
	struct ep_name name = name_of(ep);
	struct fi_info *info;
	bool ok = expect(ask(HOST, port, 0, hints, &info), 0) &&
		  expect(info->dest_addrlen, sizeof(name)) &&
		  expect(memcmp(info->dest_addr, &name, sizeof(name)), 0) &&
		  expect(info->src_addr != NULL, true);

	fi_freeinfo(info);
	return ok;
}

static bool not_found(const char *port, const struct fi_info *hints)
{
	struct fi_info *info;

	return expect(ask(HOST, port, 0, hints, &info), -FI_ENODATA);
}

/* A port belongs to an endpoint from fi_enable() until the endpoint is closed. */
static bool meets(void)
{
	const struct how how = { 0 };
	struct fi_info *hints = hints_of(&how, NULL);
	struct fid_ep *ep, *other;
	char port[8];
	struct side s;
	bool ok;

	open_side(&s, &how, NULL);
	ok = expect(free_port(port), true) && not_found(port, hints) &&
	     expect(serve(&s, hints, port, &ep), 0) &&
	     found(port, hints, ep) && found(port, hints, ep) &&
	     expect(serve(&s, hints, port, &other), 0) &&
	     found(port, hints, ep) &&
	     closed(&other->fid) && found(port, hints, ep) &&
	     closed(&ep->fid) && not_found(port, hints) &&
	     expect(serve(&s, hints, port, &ep), 0) &&
	     found(port, hints, ep) && closed(&ep->fid);
	close_side(&s);
	fi_freeinfo(hints);
	return ok;
}

/* Only the program's threads receive signals. */
static bool signals(void)
{
	const struct how how = { .wait = FI_WAIT_FD,
				 .progress = FI_PROGRESS_AUTO };
	struct fi_info *hints = hints_of(&how, NULL);
	struct fid_ep *ep;
	char port[8];
	struct side s;
	bool ok;

	open_side(&s, &how, NULL);
	ok = expect(free_port(port), true) &&
	     expect(serve(&s, hints, port, &ep), 0) &&
	     threads_take_no_signals(2) && closed(&ep->fid);
	close_side(&s);
	fi_freeinfo(hints);
	return ok;
}

/* A client can send to the address that it finds. */
static bool talks(void)
{
	const struct how how = { 0 };
	struct fi_info *hints = hints_of(&how, NULL), *info = NULL;
	struct fi_cq_tagged_entry entry;
	char port[8], text[] = "hello", got[sizeof(text)] = "";
	struct side s[2];
	struct fid_ep *ep;
	fi_addr_t peer;
	bool ok;

	open_side(&s[0], &how, NULL);
	open_side(&s[1], &how, NULL);
	ok = expect(free_port(port), true) &&
	     expect(serve(&s[0], hints, port, &ep), 0) &&
	     expect(fi_recv(ep, got, sizeof(got), NULL, FI_ADDR_UNSPEC, got), 0) &&
	     expect(ask(HOST, port, 0, hints, &info), 0) &&
	     expect(fi_av_insert(s[1].av, info->dest_addr, 1, &peer, 0, NULL), 1) &&
	     expect(when_room(&s[1], fi_send(s[1].ep, text, sizeof(text), NULL,
					     peer, text)), 0) &&
	     completion(&s[0], &entry) && expect(entry.op_context == got, true) &&
	     expect(memcmp(got, text, sizeof(text)), 0) &&
	     completion(&s[1], &entry) && closed(&ep->fid);
	fi_freeinfo(info);
	close_side(&s[1]);
	close_side(&s[0]);
	fi_freeinfo(hints);
	return ok;
}

/* Finds an endpoint by name and service; fails without a listener. */
static bool names(void)
{
	const struct how how = { 0 };
	struct fi_info *hints = hints_of(&how, NULL), *info;
	struct fid_ep *ep;
	fi_addr_t peer;
	char port[8];
	struct side s;
	bool ok;

	open_side(&s, &how, NULL);
	ok = expect(free_port(port), true) &&
	     expect(serve(&s, hints, port, &ep), 0) &&
	     expect(fi_av_insertsvc(s.av, "localhost", port, &peer, 0, NULL), 1) &&
	     expect(fi_av_insertsvc(s.av, "localhost", "no such service", &peer, 0,
				    NULL), -FI_EINVAL) &&
	     expect(fi_av_insert(s.av, NULL, 1, &peer, 0, NULL), -FI_EINVAL) &&
	     expect(ask(NULL, port, 0, hints, &info), -FI_ENODATA) &&
	     expect(ask("203.0.113.1", port, FI_SOURCE, hints, &info), 0) &&
	     expect(info->dest_addr == NULL, true);
	if (ok) {
		struct fid_ep *away;

		/* No host has the address above: it is for documentation (RFC 5737). */
		ok = expect(fi_endpoint(s.domain, info, &away, NULL), 0) &&
		     expect(fi_ep_bind(away, &s.av->fid, 0), 0) &&
		     expect(fi_ep_bind(away, &s.cq->fid, FI_TRANSMIT | FI_RECV),
			    0) &&
		     expect(fi_enable(away), -FI_EADDRNOTAVAIL) &&
		     closed(&away->fid);
	}
	fi_freeinfo(info);
	ok = ok && closed(&ep->fid);
	close_side(&s);
	fi_freeinfo(hints);
	return ok;
}

static void *keep(void *arg)
{
	struct stranger *st = arg;
	int fd = accept(st->fd, NULL, NULL);
	char c;

	if (fd < 0)
		return NULL;
	if (st->len && send(fd, st->data, st->len, MSG_NOSIGNAL) < 0)
		perror("send");
	while (recv(fd, &c, 1, 0) > 0)
		;
	close(fd);
	return NULL;
}

static bool is_taken(const char *port, const struct fi_info *hints)
{
	const struct how how = { 0 };
	struct fid_ep *ep;
	struct side s;
	bool ok;

	open_side(&s, &how, NULL);
	ok = expect(serve(&s, hints, port, &ep), -FI_EADDRINUSE) &&
	     closed(&ep->fid);
	close_side(&s);
	return ok;
}

/* A query of an unrelated server ends without a result. */
static bool is_no_service(const char *data, size_t len)
{
	const struct how how = { 0 };
	struct fi_info *hints = hints_of(&how, NULL);
	struct stranger st = { .data = data, .len = len };
	bool ok;

	st.fd = listen_any(st.port);
	if (!expect(st.fd >= 0, true) ||
	    !expect(pthread_create(&st.thread, NULL, keep, &st), 0))
		return false;
	ok = not_found(st.port, hints) && is_taken(st.port, hints);
	pthread_join(st.thread, NULL);
	close(st.fd);
	fi_freeinfo(hints);
	return ok;
}

static bool strangers(void)
{
	char text[4096];
	bool ok;

	memset(text, 'A', sizeof(text));
	ok = is_no_service(text, sizeof(text));
	memcpy(text, "AngaraFI", 8);	/* followed by an invalid address */
	ok = is_no_service(text, 32) && ok;
	ok = is_no_service(text, 31) && ok;
	return is_no_service(NULL, 0) && ok;
}

/* Clients that connect and send nothing do not block others. */
static bool silent_clients(void)
{
	const struct how how = { 0 };
	struct fi_info *hints = hints_of(&how, NULL);
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd[64], i, n = 0;
	struct fid_ep *ep;
	char port[8];
	struct side s;
	bool ok;

	open_side(&s, &how, NULL);
	ok = expect(free_port(port), true) &&
	     expect(serve(&s, hints, port, &ep), 0);
	to.sin_port = htons((uint16_t)atoi(port));
	for (i = 0; ok && i < 64; i++) {
		fd[n++] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		ok = expect(connect(fd[i], (void *)&to, sizeof(to)), 0);
	}
	ok = ok && found(port, hints, ep) && closed(&ep->fid);
	while (n > 0)
		close(fd[--n]);
	close_side(&s);
	fi_freeinfo(hints);
	return ok;
}

const struct part service_parts[] = {
	{ "service: found from enabling to closing", meets },
	{ "service: clients can send to the found address", talks },
	{ "service: names of hosts and services", names },
	{ "service: servers of other kinds", strangers },
	{ "service: threads take no signals", signals },
	{ "service: silent clients", silent_clients },
	{ 0 },
};
