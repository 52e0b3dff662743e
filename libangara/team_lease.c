// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trees from the fabric manager, for processes that may not program trees.
 *
 * Only the coordinator of a team asks for a lease, and only if it has the devices of all rows: each
 * machine has its own manager, and managers do not agree on a TreeId.  The other members learn only
 * the TreeId, not that there is a lease.
 *
 * If there is no manager, or it refuses, the team tries to program a tree
 * without a lease.  A manager that does not answer delays a team by ANSWER_NS
 * at most.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fm.h"
#include "team.h"

#define ANSWER_NS	1000000000U

/* Connects to the manager.  Return: the socket; -errno. */
static int lease_connect(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const char *path = secure_getenv(ANG_FM_ENV);
	int fd, ret;

	if (!path)
		path = ANG_FM_SOCKET;
	if (!*path || strlen(path) >= sizeof(at.sun_path))
		return -ENOENT;
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* Waits for an answer.  Return: 0; -ETIMEDOUT. */
static int lease_await(int fd)
{
	u64 end = ang_now_ns() + ANSWER_NS, now;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while ((now = ang_now_ns()) < end)
		if (poll(&p, 1, (int)((end - now) / 1000000) + 1) > 0)
			return 0;
	return -ETIMEDOUT;
}

/*
 * Sends a request.  Return: 0; the error of the reply; -errno there is no
 * usable manager.
 */
static int lease_ask(int fd, const struct ang_fm_request *q, struct ang_fm_reply *reply)
{
	struct ang_fm_reply got;
	int ret;

	if (send(fd, q, sizeof(*q), MSG_NOSIGNAL) != (ssize_t)sizeof(*q))
		return -ECONNRESET;
	ret = lease_await(fd);
	if (ret)
		return ret;
	if (recv(fd, &got, sizeof(got), 0) != (ssize_t)sizeof(got) ||
	    got.version != ANG_FM_VERSION)
		return -EPROTO;
	*reply = got;
	if (got.err)
		return ang_team_error(-(u32)got.err);
	return got.tree < ANGARA_MAX_TREES && !(q->avoid >> got.tree & 1) ? 0 : -EPROTO;
}

/*
 * Gets a lease of a tree that is not in @avoid.  Return: 0; after -errno, @r->reserved has the
 * TreeIds that need a lease, if the manager has answered.
 */
static int lease_get(struct ang_rows *r, const struct angara_domain *dom, u64 avoid,
		     u32 *tree)
{
	const struct ang_fm_request q = {
		.version = ANG_FM_VERSION, .op = ANG_FM_GET,
		.fabric = dom->query.fabric_id, .avoid = avoid, .pkey = dom->pkey,
	};
	struct ang_fm_reply reply = { 0 };
	int fd = lease_connect();
	int ret = fd < 0 ? fd : lease_ask(fd, &q, &reply);

	r->reserved = ret ? reply.reserved : 0;
	*tree = reply.tree;
	r->leased = !ret;
	if (!ret)
		r->lease = fd;
	else if (fd >= 0)
		close(fd);
	return ret;
}

/**
 * ang_lease_lay() - program the rows of a team, on a tree of the manager if there
 * is one
 * @team: team; the coordinator has called ang_rows_plan(), and has all devices
 * @want: TreeId + 1, or 0 for any
 *
 * Return: as angara_team_create().
 */
int ang_lease_lay(struct angara_team *team, u32 want)
{
	const struct angara_domain *dom = team->ctx->dom;
	struct ang_rows *r = &team->rows;
	u64 avoid = r->taken | (want ? ~(1ULL << (want - 1)) : 0);
	u32 tree;
	int ret;

	if (dom->spec.kind != ANG_FABRIC_CDEV)
		return ang_rows_propose(r, want);
	/* Each turn adds a tree to @avoid, so the loop ends. */
	while (!lease_get(r, dom, avoid, &tree)) {
		ret = ang_rows_propose(r, tree + 1);
		if (!ret)
			return 0;
		ang_lease_end(r);
		ang_rows_restart(r);
		if (ret != -EBUSY && ret != -EPERM)
			return ret;
		avoid |= 1ULL << tree;
	}
	return ang_rows_propose(r, want);
}
