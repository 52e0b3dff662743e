// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl: requests to the control socket of an angara-vfio instead of the
 * kernel.
 *
 * The messages are those of the netlink family; libnl gets functions that send and
 * receive them at the control socket.  These functions get no context but libnl's
 * socket, so the descriptor of the control socket is a global variable.
 */

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "angaractl.h"
#include "../vfio/control.h"

#define MAX_ANSWER	(1U << 20)

static int server = -1;

static int server_send(struct nl_sock *sock, struct nl_msg *msg)
{
	const struct nlmsghdr *hdr = nlmsg_hdr(msg);

	(void)sock;
	if (send(server, hdr, hdr->nlmsg_len, MSG_NOSIGNAL) != hdr->nlmsg_len)
		return -NLE_FAILURE;
	return (int)hdr->nlmsg_len;
}

/* Receives one message, which libnl frees.  -NLE_FAILURE: there is no connection. */
static int server_receive(struct nl_sock *sock, struct sockaddr_nl *from,
			  unsigned char **buf, struct ucred **creds)
{
	struct nlmsghdr hdr;
	size_t rest;

	(void)sock;
	(void)creds;
	memset(from, 0, sizeof(*from));
	from->nl_family = AF_NETLINK;
	if (recv(server, &hdr, sizeof(hdr), MSG_WAITALL) != sizeof(hdr))
		return -NLE_FAILURE;
	if (hdr.nlmsg_len < sizeof(hdr) || hdr.nlmsg_len > MAX_ANSWER)
		return -NLE_MSGSIZE;
	*buf = malloc(hdr.nlmsg_len);
	if (!*buf)
		return -NLE_NOMEM;
	memcpy(*buf, &hdr, sizeof(hdr));
	rest = hdr.nlmsg_len - sizeof(hdr);
	if (recv(server, *buf + sizeof(hdr), rest, MSG_WAITALL) == (ssize_t)rest)
		return (int)hdr.nlmsg_len;
	free(*buf);
	*buf = NULL;
	return -NLE_FAILURE;
}

/* Connects to the server in @dir.  Returns an exit status. */
int server_start(struct nl *nl, const char *dir)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	if (snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/" CONTROL_SOCKET,
		     dir) >= (int)sizeof(addr.sun_path))
		return misuse("--server %s: the name is too long for a folder with sockets",
			      dir);
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server < 0)
		return fail("cannot create a socket: %s", strerror(errno));
	if (connect(server, (struct sockaddr *)&addr, sizeof(addr))) {
		int error = errno;

		server_stop();
		return fail("--server %s: %s", dir,
			    error == ENOENT || error == ENOTDIR ?
			    "no angara-vfio has its sockets there (--socket-dir)" :
			    error == ECONNREFUSED ?
			    "the angara-vfio that made the sockets there is gone" :
			    strerror(error));
	}
	nl->family = CONTROL_TYPE;
	return DONE;
}

void server_stop(void)
{
	if (server >= 0)
		close(server);
	server = -1;
}

/* Makes @cb receive from the server, and @nl send to it. */
void server_attach(struct nl *nl, struct nl_cb *cb)
{
	struct nl_cb *own;

	if (server < 0)
		return;
	own = nl_socket_get_cb(nl->sock);
	nl_cb_overwrite_send(own, server_send);
	nl_cb_put(own);
	nl_cb_overwrite_recv(cb, server_receive);
}

/* Waits for data of the server.  Returns false if @end is readable first. */
bool server_wait(int end)
{
	struct pollfd fds[] = {
		{ .fd = server, .events = POLLIN },
		{ .fd = end, .events = POLLIN },
	};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !fds[1].revents;
}

/* Reads the data after the answers.  Returns bytes, 0 at the end. */
size_t server_read(void *buf, size_t size)
{
	ssize_t n = recv(server, buf, size, 0);

	return n < 0 ? 0 : (size_t)n;
}
