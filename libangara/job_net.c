// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Addresses at which processes of a job listen, see job_net.h.
 *
 * The text is "-PORT-ADDRESS-ADDRESS...", the port in hex.  If all processes of a job are on one
 * machine, they listen on its loopback interface only, otherwise on all interfaces.  A machine with
 * IPv6 takes connections of IPv4 on the same socket.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job_net.h"

#define NET_ADDRS	8	/* most addresses that a process announces */

union net_addr {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage room;
};

/*
 * ang_net_nonblocking() - make a socket non-blocking, and set TCP_NODELAY.
 * Return: 0 or -errno
 */
int ang_net_nonblocking(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fcntl(fd, F_SETFL, O_NONBLOCK) ? -errno : 0;
}

static int net_listen_on(const char *host, int *out)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *addr;
	int ret = 0, off = 0, fd;

	if (getaddrinfo(host, "0", &hints, &addr))
		return -EADDRNOTAVAIL;
	fd = socket(addr->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && addr->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (fd < 0 || bind(fd, addr->ai_addr, addr->ai_addrlen) ||
	    listen(fd, SOMAXCONN))
		ret = -errno;
	freeaddrinfo(addr);
	if (!ret)
		*out = fd;
	else if (fd >= 0)
		close(fd);
	return ret;
}

/**
 * ang_net_listen() - listen for other processes
 * @here: all processes of the job are on this machine
 * @fd: out
 *
 * Return: 0; -EADDRNOTAVAIL; -errno.
 */
int ang_net_listen(bool here, int *fd)
{
	int ret = net_listen_on(here ? "127.0.0.1" : "::", fd);

	return ret ? net_listen_on(here ? "::1" : "0.0.0.0", fd) : 0;
}

/*
 * Adds "-ADDRESS" to a text. Return: true; false the address cannot be used.
 */
static bool net_add(char *text, size_t size, const struct sockaddr *addr)
{
	const union net_addr *a = (const union net_addr *)addr;
	bool six = addr->sa_family == AF_INET6;
	char host[INET6_ADDRSTRLEN];
	size_t at = strlen(text);

	/* A link-local address is not valid on another machine. */
	if (six && IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr))
		return false;
	if (getnameinfo(addr, six ? sizeof(a->in6) : sizeof(a->in), host,
			sizeof(host), NULL, 0, NI_NUMERICHOST) ||
	    at + 1 + strlen(host) >= size)
		return false;
	snprintf(text + at, size - at, "-%s", host);
	return true;
}

/**
 * ang_net_place() - describe where a socket listens
 * @fd: socket of ang_net_listen()
 * @here: as for ang_net_listen()
 * @text: out: addresses
 * @size: bytes of @text
 *
 * Return: 0; -EADDRNOTAVAIL the machine has no address; -errno.
 */
int ang_net_place(int fd, bool here, char *text, size_t size)
{
	struct ifaddrs *all = NULL, *i;
	union net_addr self;
	socklen_t len = sizeof(self);
	bool six;
	u32 n = 0;

	if (getsockname(fd, &self.any, &len))
		return -errno;
	six = self.any.sa_family == AF_INET6;
	snprintf(text, size, "-%04x",
		 ntohs(six ? self.in6.sin6_port : self.in.sin_port));
	if (here)
		return net_add(text, size, &self.any) ? 0 : -EADDRNOTAVAIL;
	if (getifaddrs(&all))
		return -errno;
	for (i = all; i && n < NET_ADDRS; i = i->ifa_next) {
		int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;

		if ((family == AF_INET || (six && family == AF_INET6)) &&
		    i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK))
			n += net_add(text, size, i->ifa_addr);
	}
	freeifaddrs(all);
	return n ? 0 : -EADDRNOTAVAIL;
}

/*
 * Reads from a text the port and the address with index @which.  Return: 0;
 * -ENOENT the text has fewer addresses, or is invalid.
 */
static int net_part(const char *text, u32 which, unsigned int *port,
		    char host[INET6_ADDRSTRLEN])
{
	int n;

	if (sscanf(text, "-%4x%n", port, &n) != 1)
		return -ENOENT;
	do {
		text += n;
		if (sscanf(text, "-%45[0-9a-fA-F.:]%n", host, &n) != 1)
			return -ENOENT;
	} while (which--);
	return 0;
}

/*
 * Begins a connection to one address.  Return: 0 the connection is made or in
 * progress; -errno.
 */
static int net_dial_addr(const struct addrinfo *addr, int *out)
{
	int fd = socket(addr->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret = 0;

	if (fd < 0)
		return -errno;
	/* connect(2) continues in the background after a signal, as after EINPROGRESS. */
	if (connect(fd, addr->ai_addr, addr->ai_addrlen) && errno != EINPROGRESS &&
	    errno != EINTR)
		ret = -errno;
	if (!ret)
		ret = ang_net_nonblocking(fd);
	if (ret)
		close(fd);
	else
		*out = fd;
	return ret;
}

/**
 * ang_net_dial() - begin a connection to a process
 * @text: addresses of the process
 * @which: index of the address, from 0
 * @fd: out: socket, for ang_net_dialled()
 *
 * Does not block.
 *
 * Return: 0; -ENOENT there are fewer addresses, or @text is invalid; -errno.
 */
int ang_net_dial(const char *text, u32 which, int *fd)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	char host[INET6_ADDRSTRLEN], service[12];
	struct addrinfo *addr;
	unsigned int port;
	int ret = net_part(text, which, &port, host);

	if (ret)
		return ret;
	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(host, service, &hints, &addr))
		return -EPIPE;
	ret = net_dial_addr(addr, fd);
	freeaddrinfo(addr);
	return ret;
}

/**
 * ang_net_dialled() - check whether a connection is made
 * @fd: socket from ang_net_dial()
 *
 * Return: 0; -EINPROGRESS not yet; -errno it cannot be made.
 */
int ang_net_dialled(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int err = 0;
	socklen_t len = sizeof(err);

	if (poll(&p, 1, 0) <= 0)
		return -EINPROGRESS;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) ? -errno : -err;
}

/**
 * ang_net_name() - format one of the addresses in a text, for messages
 * @text: addresses of a process
 * @which: index of the address, from 0
 * @name: out: "[ADDRESS]:PORT", the brackets with IPv6 only
 */
void ang_net_name(const char *text, u32 which, char name[ANG_NET_NAME])
{
	char host[INET6_ADDRSTRLEN];
	unsigned int port;
	bool six;

	if (net_part(text, which, &port, host)) {
		snprintf(name, ANG_NET_NAME, "no address");
		return;
	}
	six = !!strchr(host, ':');
	snprintf(name, ANG_NET_NAME, "%s%s%s:%u", six ? "[" : "", host,
		 six ? "]" : "", port);
}

/**
 * ang_net_peer() - format the address of a connection's peer, for messages
 * @fd: socket
 * @name: out
 */
void ang_net_peer(int fd, char name[ANG_NET_NAME])
{
	char text[ANG_NET_NAME] = "";
	union net_addr peer;
	socklen_t len = sizeof(peer);
	bool six;

	if (!getpeername(fd, &peer.any, &len)) {
		six = peer.any.sa_family == AF_INET6;
		snprintf(text, sizeof(text), "-%04x",
			 ntohs(six ? peer.in6.sin6_port : peer.in.sin_port));
		net_add(text, sizeof(text), &peer.any);
	}
	ang_net_name(text, 0, name);
}
