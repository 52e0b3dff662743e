// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Teams on trees of the fabric manager, and clients of the manager that break its
 * rules.  selftests/fm/in-guest runs each case by name, as several users.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fm.h"
#include "lib.h"
#include "pending.h"

#define TEAMS	8U		/* most teams of a case */
#define FLOOD	200U		/* connections: more than a user may have */
#define SHOTS	3000U		/* messages of random length */

static unsigned int number(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned int)strtoul(text, NULL, 10) : otherwise;
}

static bool teams_open(struct angara_team **teams, unsigned int n)
{
	unsigned int trees = 0, i;

	for (i = 0; i < n; i++) {
		if (!expect("create", angara_team_create(job, ctx, NULL, 0, NULL,
							 &teams[i]), 0) ||
		    !works(teams[i]))
			return false;
		trees += angara_team_tree(teams[i]) != ANGARA_NO_TREE;
	}
	return expect("trees", trees, number("LIB_TREES", n));
}

/* Opens LIB_TEAMS teams at once; LIB_TREES of them have trees. */
static bool leased(void)
{
	struct angara_team *teams[TEAMS];
	unsigned int n = number("LIB_TEAMS", 1), i;
	bool ok = teams_open(teams, n);

	for (i = 0; ok && i < n; i++)
		ok = expect("destroy", angara_team_destroy(teams[i]), 0);
	return ok;
}

/*
 * As leased(), but keeps the teams until the file LIB_UNTIL exists, or the job
 * is killed.
 */
static bool leased_stay(void)
{
	struct angara_team *teams[TEAMS];
	unsigned int n = number("LIB_TEAMS", 1), i;
	bool ok = teams_open(teams, n);

	if (rank == 0)
		printf("# %s\n", ok ? "ready" : "failed");
	fflush(stdout);
	while (ok && access(getenv("LIB_UNTIL"), F_OK))
		usleep(20000);
	for (i = 0; ok && i < n; i++)
		ok = works(teams[i]) && expect("destroy", angara_team_destroy(teams[i]), 0);
	return ok;
}

/* Return: true at all processes if rank 0 sees the file LIB_UNTIL. */
static bool over(void)
{
	uint32_t mine = !rank && !access(getenv("LIB_UNTIL"), F_OK);
	uint32_t *seen = calloc(size, sizeof(*seen));
	bool end = !seen || angara_job_allgather(job, &mine, sizeof(mine), seen) || seen[0];

	free(seen);
	return end;
}

/* Opens and closes one team after another, until the file LIB_UNTIL exists. */
static bool leased_churn(void)
{
	unsigned int trees = 0, n = 0, i;
	struct angara_team *team;
	bool ok = true;

	if (rank == 0)
		printf("# ready\n");
	fflush(stdout);
	for (; ok && !over(); n++) {
		ok = expect("create", angara_team_create(job, ctx, NULL, 0, NULL, &team), 0);
		if (!ok)
			break;
		trees += angara_team_tree(team) != ANGARA_NO_TREE;
		for (i = 0; ok && i < 20; i++)
			ok = works(team);
		ok = ok && expect("destroy", angara_team_destroy(team), 0);
	}
	if (rank == 0)
		printf("# churn: %u teams, %u with a tree\n", n, trees);
	return ok && expect("trees", trees > 0, 1) && expect("teams", n > 3, 1);
}

/*
 * Sums over the team.  Return: 0; -ECONNRESET or -ENOTCONN: the team is lost;
 * -EBADMSG: the sum is wrong.
 */
static int heal_sum(struct angara_team *team)
{
	struct angara_mr *mr = own_region(8);
	uint64_t *v = angara_mr_addr(mr);
	struct pending req;
	int ret;

	*v = rank + 1;
	ret = angara_allreduce_nbi(team, mr, 0, mr, 0, 1, ANGARA_TYPE_UINT64,
				   ANGARA_RED_SUM, pending_op(&req));
	if (!ret)
		ret = pending_wait(ctx, &req, LONG_MS);
	if (!ret && *v != (uint64_t)size * (size + 1) / 2)
		ret = -EBADMSG;
	angara_free(mr);
	return ret;
}

/*
 * Opens one team after another while links go down and come up, until the file
 * LIB_UNTIL exists.  Teams may be lost, and a team may not come about, but no
 * result is wrong.
 */
static bool leased_heal(void)
{
	unsigned int trees = 0, lost = 0, n = 0, i;
	struct angara_team *team;
	bool ok = true;

	if (rank == 0)
		printf("# ready\n");
	fflush(stdout);
	while (ok && !over()) {
		int ret = angara_team_create(job, ctx, NULL, 0, NULL, &team);

		if (!ret) {
			n++;
			trees += angara_team_tree(team) != ANGARA_NO_TREE;
			for (i = 0; !ret && i < 20; i++)
				ret = heal_sum(team);
			if (ret)
				angara_team_leave(team);
			else
				ret = angara_team_destroy(team);
		}
		if (!ret)
			continue;
		ok = ret == -ENOTCONN || expect("team", ret, -ECONNRESET);
		lost++;
		usleep(20000);
	}
	if (rank == 0)
		printf("# heal: %u teams, %u with a tree, %u lost\n", n, trees, lost);
	return ok && expect("trees", trees > 0, 1) && expect("teams", n > 3, 1);
}

static struct angara_tree_set row_of(unsigned int tree)
{
	return (struct angara_tree_set){
		.size = sizeof(struct angara_tree_set),
		.row = {
			.tree = (uint8_t)tree, .is_root = 1, .to_root = ANGARA_PORT_NONE,
			.pe = 1, .epoch = 1, .pkey = alone_about(ctx).pkey,
		},
	};
}

/* The tree LIB_TREE is leased to another user: neither a team nor a row gets it. */
static bool leased_steal(void)
{
	unsigned int tree = number("LIB_TREE", 0);
	struct angara_team_attr attr = { .size = sizeof(attr), .tree = tree + 1 };
	struct angara_tree_set row = row_of(tree);
	struct angara_team *team;

	return expect("team", angara_team_create(job, ctx, NULL, 0, &attr, &team), -EPERM) &&
	       expect("row", device_ioctl(ANGARA_IOCTL_TREE_SET, &row), -EPERM);
}

static int fm_socket(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = ANG_FM_SOCKET };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static struct ang_fm_request request(void)
{
	return (struct ang_fm_request){
		.version = ANG_FM_VERSION, .op = ANG_FM_GET,
		.fabric = alone_about(ctx).fabric_id, .pkey = alone_about(ctx).pkey,
	};
}

/*
 * Sends @q to the manager. Return: the error in the answer; 1: the manager
 * closed the connection.
 */
static int ask(const struct ang_fm_request *q, struct ang_fm_reply *reply, int *fd)
{
	*fd = fm_socket();
	if (*fd < 0 || send(*fd, q, sizeof(*q), MSG_NOSIGNAL) != (ssize_t)sizeof(*q) ||
	    recv(*fd, reply, sizeof(*reply), 0) != (ssize_t)sizeof(*reply))
		return 1;
	return reply->err;
}

/* An administrator clears one row of the tree LIB_TREE. */
static bool leased_drop(void)
{
	struct angara_tree_clear arg = {
		.size = sizeof(arg), .tree = (uint8_t)number("LIB_TREE", 0),
	};

	return expect("clear", device_ioctl(ANGARA_IOCTL_TREE_CLEAR, &arg), 0);
}

/* Leaves a row that stays when its process ends. */
static bool leased_litter(void)
{
	const struct ang_fm_request q = request();
	struct ang_fm_reply reply;
	struct angara_tree_set row;
	int fd;

	if (!expect("lease", ask(&q, &reply, &fd), 0))
		return false;
	row = row_of(reply.tree);
	return expect("row", device_ioctl(ANGARA_IOCTL_TREE_SET, &row), 0);
}

/* Holds a lease, but sets no row, until the file LIB_UNTIL exists. */
static bool leased_idle(void)
{
	const struct ang_fm_request q = request();
	struct ang_fm_reply reply;
	int fd;

	if (!expect("lease", ask(&q, &reply, &fd), 0))
		return false;
	printf("# ready\n");
	fflush(stdout);
	while (access(getenv("LIB_UNTIL"), F_OK))
		usleep(20000);
	return true;
}

/* Sends requests with wrong content; the first one is for the partition of another user. */
static bool leased_wrong(void)
{
	struct ang_fm_reply reply;
	struct ang_fm_request q;
	bool ok = true;
	int fd;

	q = request();
	q.pkey++;
	ok &= expect("partition", ask(&q, &reply, &fd), -EPERM);
	close(fd);
	q = request();
	q.fabric ^= 0x55;
	ok &= expect("fabric", ask(&q, &reply, &fd), -ENODEV);
	close(fd);
	q = request();
	q.avoid = ~0ULL;
	ok &= expect("avoid", ask(&q, &reply, &fd), -EAGAIN);
	close(fd);
	q = request();
	q.version++;
	ok &= expect("version", ask(&q, &reply, &fd), 1);
	close(fd);
	q = request();
	q.op = 77;
	ok &= expect("op", ask(&q, &reply, &fd), 1);
	close(fd);
	return ok;
}

/* Opens more connections than allowed, sends random messages, and reads no answer. */
static bool leased_hostile(void)
{
	struct ang_fm_request q = request();
	int fds[FLOOD];
	unsigned char junk[4096];
	unsigned int i;

	for (i = 0; i < FLOOD; i++)
		fds[i] = fm_socket();
	srand(1);
	for (i = 0; i < SHOTS; i++) {
		size_t len = (size_t)rand() % (i % 3 ? 64 : sizeof(junk));
		int *fd = &fds[(unsigned int)rand() % FLOOD];

		for (size_t k = 0; k < len; k++)
			junk[k] = (unsigned char)rand();
		if (i % 4 == 0)
			memcpy(junk, &q, sizeof(q));
		if (*fd >= 0 && send(*fd, junk, i % 8 ? len : sizeof(q),
				     MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
			close(*fd);
			*fd = fm_socket();
		}
	}
	/* These connections stay open, and send nothing. */
	for (i = 0; i < FLOOD; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = fm_socket();
	}
	printf("# ready\n");
	fflush(stdout);
	while (access(getenv("LIB_UNTIL"), F_OK))
		usleep(20000);
	return true;
}

const struct part lease_parts[] = {
	{ "leased", leased },
	{ "leased stay", leased_stay },
	{ "leased churn", leased_churn },
	{ "leased heal", leased_heal },
	{ "leased steal", leased_steal },
	{ "leased idle", leased_idle },
	{ "leased litter", leased_litter },
	{ "leased drop", leased_drop },
	{ "leased wrong", leased_wrong },
	{ "leased hostile", leased_hostile },
	{ NULL, NULL },
};
