// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-fm: connections of clients.
 *
 * Clients are not trusted.  All sockets are non-blocking, and the answer is one
 * message: a client that does not take it is disconnected.  A client that sends
 * anything but one valid request, or nothing for SILENCE_NS, is disconnected, too.
 * One user has at most OF_USER connections, and some places are kept for root.
 *
 * The listening socket is the first in the array for poll(2): if a process closes a
 * connection and then opens another one, the manager sees the end of the first no
 * later than the second.  It handles that end before it accepts the second, so the
 * tree of the first is free for the second.
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fm.h"

#define CLIENTS		900	/* below the usual limit of 1024 open files */
#define OF_USER		96
#define OF_ROOT		16	/* places that only root gets */
#define SILENCE_NS	2000000000ULL	/* longest time until the request */
#define TICK_MS		200	/* ms between checks of orphans, at first */
#define TICK_MAX_MS	2000	/* ms between checks, if nothing changes */

_Static_assert(OF_USER > ANGARA_MAX_TREES, "a user may hold all trees of a fabric");

/*
 * Client i has the entry i + 1 of polled; the entry of a free place has no
 * socket.  The entries of routes.c follow.
 */
static struct pollfd polled[CLIENTS + 1 + FM_ROUTES_POLLED];
static uid_t uids[CLIENTS];
static bool answered[CLIENTS];
static uint64_t accepted[CLIENTS];	/* time */

static int client_fail(const char *what, const char *path)
{
	return fail("%s: %s: %s", path, what, strerror(errno));
}

/* Lets the members of the group connect; without such a group, all users. */
static int clients_permit(const struct fm_opts *opts)
{
	const struct group *group;

	errno = 0;
	group = getgrnam(opts->group);
	if (!group && errno && errno != ENOENT && errno != ESRCH)
		return client_fail("its group cannot be looked up", opts->socket);
	if (group && chown(opts->socket, (uid_t)-1, group->gr_gid))
		return client_fail("its group cannot be set", opts->socket);
	if (chmod(opts->socket, group ? 0660 : 0666))
		return client_fail("its mode cannot be set", opts->socket);
	return DONE;
}

/**
 * clients_listen() - make the socket; the caller has the lock
 *
 * Return: DONE; FAILED, with a message.
 */
int clients_listen(const struct fm_opts *opts)
{
	struct sockaddr_un at;
	int fd;

	if (fm_address(opts, &at))
		return FAILED;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* Only the owner can connect before the mode is set. */
	umask(0077);
	if (unlink(opts->socket) && errno != ENOENT)
		return client_fail("the old socket cannot be removed", opts->socket);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(fd, SOMAXCONN))
		return client_fail("no socket", opts->socket);
	polled[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
	for (int i = 0; i < CLIENTS; i++)
		polled[i + 1].fd = -1;
	return clients_permit(opts);
}

/* Return: whether the client had a lease. */
static bool client_close(int i)
{
	close(polled[i + 1].fd);
	polled[i + 1].fd = -1;
	return lease_drop(i);
}

static int client_place(uid_t uid)
{
	int place = -1, same = 0, unused = 0;

	for (int i = 0; i < CLIENTS; i++) {
		if (polled[i + 1].fd < 0) {
			place = i;
			unused++;
		} else {
			same += uids[i] == uid;
		}
	}
	return same < OF_USER && (!uid || unused > OF_ROOT) ? place : -1;
}

/* Return: whether there was a connection. */
static bool client_accept(void)
{
	int fd = accept4(polled[0].fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct ucred cred;
	socklen_t size = sizeof(cred);
	int i;

	if (fd < 0)
		return false;
	i = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) ? -1 :
	    client_place(cred.uid);
	if (i < 0) {
		close(fd);
		return true;
	}
	polled[i + 1] = (struct pollfd){ .fd = fd, .events = POLLIN };
	uids[i] = cred.uid;
	answered[i] = false;
	accepted[i] = fm_now();
	return true;
}

/* Return: whether the client has a lease. */
static bool client_grant(int i, const struct ang_fm_request *q)
{
	struct ang_fm_reply reply = { .version = ANG_FM_VERSION };
	int ret = lease_grant(q, uids[i], i, &reply);

	return send(polled[i + 1].fd, &reply, sizeof(reply), MSG_NOSIGNAL) ==
	       (ssize_t)sizeof(reply) && !ret;
}

static void client_list(int i)
{
	static struct fm_list reply;

	reply.head = (struct ang_fm_reply){ .version = ANG_FM_VERSION };
	reply.head.count = lease_list(uids[i], reply.leases);
	send(polled[i + 1].fd, &reply, sizeof(reply.head) +
	     reply.head.count * sizeof(reply.leases[0]), MSG_NOSIGNAL);
}

/* Return: whether the connection stays: the client has a lease. */
static bool client_serve(int i)
{
	struct ang_fm_request q;
	ssize_t n = recv(polled[i + 1].fd, &q, sizeof(q), MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n != (ssize_t)sizeof(q) || answered[i] || q.version != ANG_FM_VERSION || q.zero)
		return false;
	answered[i] = true;
	if (q.op == ANG_FM_GET)
		return client_grant(i, &q);
	if (q.op == ANG_FM_LIST)
		client_list(i);
	return false;
}

/* Return: whether a closed client had a lease. */
static bool clients_close(void)
{
	bool ended = false;

	for (int i = 0; i < CLIENTS; i++)
		if (polled[i + 1].fd >= 0 && polled[i + 1].revents & (POLLHUP | POLLERR))
			ended |= client_close(i);
	return ended;
}

/*
 * Disconnects clients that send no request.  Return: whether a client still has
 * to send its request.
 */
static bool clients_silent(void)
{
	bool some = false;

	for (int i = 0; i < CLIENTS; i++) {
		if (polled[i + 1].fd < 0 || answered[i])
			continue;
		if (fm_now() - accepted[i] > SILENCE_NS)
			client_close(i);
		else
			some = true;
	}
	return some;
}

/*
 * Serves one client of each user, so many requests of a user delay other users no
 * more than one request does.  Return: whether a lease has ended.
 */
static bool clients_serve(void)
{
	uid_t served[CLIENTS];
	bool ended = false;
	int n = 0;

	for (int i = 0; i < CLIENTS; i++) {
		int k = 0;

		if (polled[i + 1].fd < 0 || !polled[i + 1].revents)
			continue;
		while (k < n && served[k] != uids[i])
			k++;
		if (k < n)
			continue;
		served[n++] = uids[i];
		if (!client_serve(i))
			ended |= client_close(i);
	}
	return ended;
}

/**
 * clients_run() - serve clients, and change routes when links go down or come up
 *
 * Return: FAILED, with a message; otherwise it runs until a signal ends the process.
 */
int clients_run(void)
{
	uint64_t pause_ms = TICK_MS, next = 0;
	bool silent = false;

	for (;;) {
		struct pollfd *of_routes = &polled[CLIENTS + 1];
		int wait_ms = routes_poll(of_routes), n;
		bool ended = false;

		if ((lease_orphans() || silent) && (wait_ms < 0 || wait_ms > TICK_MS))
			wait_ms = TICK_MS;
		n = poll(polled, CLIENTS + 1 + FM_ROUTES_POLLED, wait_ms);
		if (n < 0 && errno != EINTR)
			return fail("poll: %s", strerror(errno));
		if (n >= 0 && routes_run(of_routes))
			return FAILED;
		if (routes_devices())
			lease_devices();
		if (n > 0) {
			ended = clients_close();
			ended |= clients_serve();
		}
		/*
		 * The end of a connection makes the manager check new orphans
		 * only. Orphans that stay are checked less and less often.
		 */
		if (ended) {
			lease_tick(true);
			pause_ms = TICK_MS;
			if (next > fm_now() + pause_ms * FM_MS)
				next = fm_now() + pause_ms * FM_MS;
		}
		if (lease_orphans() && fm_now() >= next) {
			lease_tick(false);
			pause_ms = pause_ms * 2 < TICK_MAX_MS ? pause_ms * 2 : TICK_MAX_MS;
			next = fm_now() + pause_ms * FM_MS;
		}
		silent = clients_silent();
		for (int i = 0; n > 0 && polled[0].revents && i < CLIENTS; i++)
			if (!client_accept())
				break;
	}
}
