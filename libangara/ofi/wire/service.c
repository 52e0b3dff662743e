// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Services.  An endpoint gets its address when it is created, so a client
 * cannot know the address in advance.  A client knows a host and a service, as
 * for a TCP server.  The endpoint's process listens at that TCP port and sends
 * the endpoint's address to each client that connects.  Clients send nothing.
 *
 * The address is not secret: it gives no access to memory.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service.h"

#define AFI_SERVICE_MAGIC	0x4946617261676e41ULL	/* "AngaraFI" */
#define AFI_SERVICE_MARK	1	/* value of afi_name.reserved in a source address */
#define AFI_SERVICE_PAUSE_MS	10	/* pause if descriptors run out, ms */

/* Answer to a client; all nodes have the same byte order. */
struct afi_service_answer {
	u64 magic;
	struct afi_name name;
};

/**
 * struct afi_service - service of an endpoint, at a TCP port
 * @thread: answers clients
 * @listen: port, non-blocking
 * @stop: eventfd, readable when the thread has to end
 * @next: next service of the process
 * @source: address and port at which it listens
 * @answer: answer to each client
 */
struct afi_service {
	pthread_t thread;
	int listen;
	int stop;
	struct afi_service *next;
	struct afi_name source;
	struct afi_service_answer answer;
};

/* Services of the process, and the lock of the list. */
static struct afi_service *services;
static pthread_mutex_t services_lock = PTHREAD_MUTEX_INITIALIZER;

static struct addrinfo *service_lookup(const char *node, const char *service,
				       int flags)
{
	const struct addrinfo hints = {
		.ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = flags,
	};
	struct addrinfo *list;

	return getaddrinfo(node, service, &hints, &list) ? NULL : list;
}

int afi_service_source(const char *node, const char *service,
		       struct afi_name *name)
{
	const struct sockaddr_in *at;
	struct addrinfo *list;

	*name = (struct afi_name){ .reserved = AFI_SERVICE_MARK };
	if (!node && !service)
		return 0;
	list = service_lookup(node, service, AI_PASSIVE);
	if (!list)
		return -FI_ENODATA;
	at = (const void *)list->ai_addr;
	name->node = at->sin_addr.s_addr;
	name->serial = ntohs(at->sin_port);
	freeaddrinfo(list);
	return 0;
}

int afi_service_host(const char *node)
{
	struct addrinfo *list = service_lookup(node, NULL, 0);

	if (!list)
		return -FI_ENODATA;
	freeaddrinfo(list);
	return 0;
}

/*
 * Waits for events. Return: 0; -1 with errno, ETIMEDOUT if none came before
 * @deadline.
 */
static int service_wait(int fd, short events, u64 deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	int left, ret;

	do {
		left = afi_left(deadline);
		ret = poll(&p, 1, left);
	} while ((ret < 0 && errno == EINTR) || (!ret && left));
	if (!ret)
		errno = ETIMEDOUT;
	return ret > 0 ? 0 : -1;
}

static int service_connect(const struct addrinfo *to, u64 deadline)
{
	int fd = socket(to->ai_family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(int);
	int err = 0;

	if (fd < 0)
		return -1;
	if (!connect(fd, to->ai_addr, to->ai_addrlen))
		return fd;
	if (errno == EINPROGRESS && !service_wait(fd, POLLOUT, deadline) &&
	    !getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) && !err)
		return fd;
	close(fd);
	return -1;
}

static int service_read(int fd, struct afi_service_answer *answer, u64 deadline)
{
	size_t at = 0;

	while (at < sizeof(*answer)) {
		ssize_t got = recv(fd, (char *)answer + at,
				   sizeof(*answer) - at, 0);

		if (got > 0)
			at += (size_t)got;
		else if (!got || (errno != EAGAIN && errno != EINTR) ||
			 service_wait(fd, POLLIN, deadline))
			return -1;
	}
	return 0;
}

int afi_service_ask(const char *node, const char *service,
		    struct afi_name *name)
{
	struct addrinfo *list = service_lookup(node, service, 0);
	struct afi_service_answer answer;
	struct addrinfo *a;
	int ret = -FI_ENODATA;

	for (a = list; a && ret; a = a->ai_next) {
		u64 deadline = afi_deadline(AFI_SERVICE_S * 1000);
		int fd = service_connect(a, deadline);

		if (fd < 0)
			continue;
		if (!service_read(fd, &answer, deadline) &&
		    answer.magic == AFI_SERVICE_MAGIC && !answer.name.reserved) {
			*name = answer.name;
			ret = 0;
		}
		close(fd);
	}
	if (list)
		freeaddrinfo(list);
	return ret;
}

/*
 * Answers a client. The answer fits into the socket's buffer, so no client
 * blocks the thread.
 */
static void service_answer(const struct afi_service *s)
{
	int fd = accept4(s->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		send(fd, &s->answer, sizeof(s->answer), MSG_NOSIGNAL);
		close(fd);
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		   errno == ENOMEM) {
		poll(NULL, 0, AFI_SERVICE_PAUSE_MS);
	}
}

static void *service_run(void *arg)
{
	const struct afi_service *s = arg;
	struct pollfd p[2] = {
		{ .fd = s->stop, .events = POLLIN },
		{ .fd = s->listen, .events = POLLIN },
	};

	while (!p[0].revents)
		if (poll(p, 2, -1) > 0 && p[1].revents)
			service_answer(s);
	return NULL;
}

static int service_listen(struct afi_service *s, const struct afi_name *source)
{
	const struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons((u16)source->serial),
		.sin_addr.s_addr = source->node,
	};
	const int on = 1;

	s->stop = eventfd(0, EFD_CLOEXEC);
	s->listen = socket(AF_INET,
			   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->stop < 0 || s->listen < 0 ||
	    setsockopt(s->listen, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(s->listen, (const void *)&at, sizeof(at)) ||
	    listen(s->listen, SOMAXCONN))
		return -errno;
	return 0;
}

static void service_free(struct afi_service *s)
{
	if (s->listen >= 0)
		close(s->listen);
	if (s->stop >= 0)
		close(s->stop);
	free(s);
}

static bool service_exists(const struct afi_name *source)
{
	const struct afi_service *s;

	for (s = services; s; s = s->next)
		if (s->source.node == source->node &&
		    s->source.serial == source->serial)
			return true;
	return false;
}

static int service_make(const struct afi_name *source,
			const struct afi_name *name,
			struct afi_service **service)
{
	struct afi_service *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -FI_ENOMEM;
	s->listen = -1;
	s->source = *source;
	s->answer.magic = AFI_SERVICE_MAGIC;
	s->answer.name = *name;
	ret = service_listen(s, source);
	if (!ret)
		ret = afi_thread_start(&s->thread, service_run, s);
	if (ret) {
		AFI_WARN(EP_CTRL, "TCP port %u: %s\n", source->serial,
			 strerror(-ret));
		service_free(s);
		return ret;
	}
	s->next = services;
	services = s;
	*service = s;
	return 0;
}

int afi_service_start(const struct afi_name *source,
		      const struct afi_name *name,
		      struct afi_service **service)
{
	int ret = 0;

	*service = NULL;
	if (source->reserved != AFI_SERVICE_MARK || !source->serial)
		return 0;
	pthread_mutex_lock(&services_lock);
	if (!service_exists(source))
		ret = service_make(source, name, service);
	pthread_mutex_unlock(&services_lock);
	return ret;
}

void afi_service_stop(struct afi_service *service)
{
	struct afi_service **at;
	const u64 one = 1;

	if (!service)
		return;
	if (write(service->stop, &one, sizeof(one)) != sizeof(one))
		AFI_WARN(EP_CTRL, "eventfd: %s\n", strerror(errno));
	pthread_join(service->thread, NULL);
	pthread_mutex_lock(&services_lock);
	for (at = &services; *at != service; at = &(*at)->next)
		;
	*at = service->next;
	service_free(service);
	pthread_mutex_unlock(&services_lock);
}
