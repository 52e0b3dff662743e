// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family over a raw socket: rejected requests and their
 * messages; filtered, continued and disturbed dumps; visibility for each user.
 */
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "kselftest_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define TREE	13
#define NONE	0xFFFFFFFFFFULL		/* value that omits the attribute */
#define ROOM	32768
#define USER	12345
#define USER_PKEY	ANGARA_PKEY_UID(USER)

FIXTURE(nl) {
	int fd;
	unsigned int family;
	unsigned int dev;	/* a device on node 0 of a fabric */
	unsigned long long fabric;
	char said[256];		/* message of the last call's acknowledgement */
	size_t room;		/* size of the buffer for a datagram */
	unsigned int records;	/* objects in the answer to the last call */
	unsigned int flags;	/* message flags of the last call, combined */
	unsigned long long last[AT_NL_ATTRS];	/* last value of each attribute */
	unsigned int nest;		/* attribute with the counters */
	unsigned long long counters;	/* set of counters in the last record */
	unsigned int odd;		/* attributes of counters that are not u64 */
	struct {
		struct nlmsghdr n;
		struct genlmsghdr g;
		char attrs[512];
	} req;
};

static void put(FIXTURE_DATA(nl) *self, unsigned int type, const void *data,
		size_t len)
{
	struct nlattr *a = (void *)((char *)&self->req + self->req.n.nlmsg_len);

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy(a + 1, data, len);
	self->req.n.nlmsg_len += NLA_ALIGN(a->nla_len);
}

static void put8(FIXTURE_DATA(nl) *self, unsigned int type, uint8_t v)
{
	put(self, type, &v, sizeof(v));
}

static void put16(FIXTURE_DATA(nl) *self, unsigned int type, uint16_t v)
{
	put(self, type, &v, sizeof(v));
}

static void put32(FIXTURE_DATA(nl) *self, unsigned int type, uint32_t v)
{
	put(self, type, &v, sizeof(v));
}

static void put64(FIXTURE_DATA(nl) *self, unsigned int type, uint64_t v)
{
	put(self, type, &v, sizeof(v));
}

static void start(FIXTURE_DATA(nl) *self, unsigned int cmd, unsigned int flags)
{
	memset(&self->req, 0, sizeof(self->req));
	self->req.n.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	self->req.n.nlmsg_type = self->family;
	self->req.n.nlmsg_flags = NLM_F_REQUEST | flags;
	self->req.g.cmd = cmd;
	self->req.g.version = 1;
}

/* Starts a request about a device, and a tree if @tree is not negative. */
static void about(FIXTURE_DATA(nl) *self, unsigned int cmd, int tree)
{
	start(self, cmd, NLM_F_ACK);
	put32(self, AT_NL_DEV, self->dev);
	if (tree >= 0)
		put8(self, AT_NL_ID, tree);
}

static void read_attrs(const char *at, size_t len,
		       void (*fn)(void *arg, const struct nlattr *a), void *arg)
{
	while (len >= NLA_HDRLEN) {
		const struct nlattr *a = (const void *)at;
		size_t step = NLA_ALIGN(a->nla_len);

		if (a->nla_len < NLA_HDRLEN || a->nla_len > len)
			return;
		fn(arg, a);
		if (step >= len)
			return;
		at += step;
		len -= step;
	}
}

static void take_said(void *arg, const struct nlattr *a)
{
	FIXTURE_DATA(nl) *self = arg;

	if (a->nla_type == NLMSGERR_ATTR_MSG)
		snprintf(self->said, sizeof(self->said), "%s",
			 (const char *)(a + 1));
}

static void take_counter(void *arg, const struct nlattr *a)
{
	FIXTURE_DATA(nl) *self = arg;
	unsigned int type = a->nla_type & NLA_TYPE_MASK;

	if (type == ANGARA_A_NODE_COUNTER_PAD) /* padding; the type is the same in all sets */
		return;
	if (type > 63 || a->nla_len != NLA_HDRLEN + sizeof(uint64_t))
		self->odd++;
	else
		self->counters |= 1ULL << type;
}

static void take_value(void *arg, const struct nlattr *a)
{
	FIXTURE_DATA(nl) *self = arg;
	size_t len = a->nla_len - NLA_HDRLEN;
	unsigned int type = a->nla_type & NLA_TYPE_MASK;

	if (type == self->nest) {
		self->counters = 0;
		read_attrs((const char *)(a + 1), len, take_counter, self);
	}
	if (type >= AT_NL_ATTRS || len > 8)
		return;
	self->last[type] = 0;
	memcpy(&self->last[type], a + 1, len);
}

static int take_error(FIXTURE_DATA(nl) *self, const struct nlmsghdr *n)
{
	const struct nlmsgerr *err = NLMSG_DATA(n);
	size_t at = sizeof(*err);

	if (!(n->nlmsg_flags & NLM_F_ACK_TLVS))
		return err->error;
	if (!(n->nlmsg_flags & NLM_F_CAPPED))
		at += NLMSG_ALIGN(err->msg.nlmsg_len) - NLMSG_HDRLEN;
	read_attrs((const char *)err + at, n->nlmsg_len - NLMSG_HDRLEN - at,
		   take_said, self);
	return err->error;
}

/* Receives one datagram. Return: 1 if more follow, 0 or -errno. */
static int receive(FIXTURE_DATA(nl) *self)
{
	char buf[ROOM] __attribute__((aligned(8)));
	ssize_t len = recv(self->fd, buf, self->room, 0);
	struct nlmsghdr *n;

	if (len < 0)
		return -errno;
	for (n = (void *)buf; NLMSG_OK(n, (size_t)len); n = NLMSG_NEXT(n, len)) {
		self->flags |= n->nlmsg_flags;
		if (n->nlmsg_type == NLMSG_ERROR)
			return take_error(self, n);
		if (n->nlmsg_type == NLMSG_DONE)
			return *(int *)NLMSG_DATA(n);
		self->records++;
		read_attrs((char *)NLMSG_DATA(n) + GENL_HDRLEN,
			   n->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN),
			   take_value, self);
	}
	return 1;
}

static int submit(FIXTURE_DATA(nl) *self)
{
	self->said[0] = '\0';
	self->records = 0;
	self->flags = 0;
	self->counters = 0;
	self->odd = 0;
	memset(self->last, 0xFF, sizeof(self->last));
	return send(self->fd, &self->req, self->req.n.nlmsg_len, 0) < 0 ?
	       -errno : 0;
}

static int call(FIXTURE_DATA(nl) *self)
{
	int ret = submit(self);

	if (ret)
		return ret;
	do
		ret = receive(self);
	while (ret == 1);
	return ret;
}

static void take_family(void *arg, const struct nlattr *a)
{
	FIXTURE_DATA(nl) *self = arg;

	if ((a->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_FAMILY_ID)
		self->family = *(const uint16_t *)(a + 1);
}

static int find_family(FIXTURE_DATA(nl) *self)
{
	char buf[8192] __attribute__((aligned(8)));
	struct nlmsghdr *n = (void *)buf;

	self->family = GENL_ID_CTRL;
	start(self, CTRL_CMD_GETFAMILY, 0);
	put(self, CTRL_ATTR_FAMILY_NAME, ANGARA_GENL_NAME,
	    sizeof(ANGARA_GENL_NAME));
	if (send(self->fd, &self->req, self->req.n.nlmsg_len, 0) < 0 ||
	    recv(self->fd, buf, sizeof(buf), 0) < 0)
		return -errno;
	if (n->nlmsg_type == NLMSG_ERROR)
		return ((struct nlmsgerr *)NLMSG_DATA(n))->error;
	read_attrs((char *)NLMSG_DATA(n) + GENL_HDRLEN,
		   n->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), take_family, self);
	return 0;
}

static int open_socket(void)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	struct timeval limit = { .tv_sec = 10 };
	int one = 1;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	return bind(fd, (void *)&addr, sizeof(addr)) ? -errno : fd;
}

FIXTURE_SETUP(nl)
{
	self->room = ROOM;
	self->fd = open_socket();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, find_family(self));
	for (;; self->dev++) {
		ASSERT_LT(self->dev, 65536U);
		about(self, ANGARA_CMD_DEV_GET, -1);
		if (!call(self) && self->last[AT_NL_NODE] == 0 &&
		    self->last[ANGARA_A_DEV_NODES] >= 8)
			break;
	}
	self->fabric = self->last[AT_NL_FABRIC];
}

FIXTURE_TEARDOWN(nl)
{
	about(self, ANGARA_CMD_TREE_CLEAR, TREE);
	call(self);
	about(self, ANGARA_CMD_TREE_DELEGATE, TREE);
	put32(self, ANGARA_A_TREE_DELEGATED, 0);
	call(self);
	close(self->fd);
}

struct row {
	unsigned long long is_root, to_root, ports, pe, pkey;
};

static const struct row good = { NONE, 1, 4, 1, USER_PKEY };

static int set_row(FIXTURE_DATA(nl) *self, const struct row *row)
{
	about(self, ANGARA_CMD_TREE_SET, TREE);
	if (row->is_root != NONE)
		put8(self, ANGARA_A_TREE_IS_ROOT, row->is_root);
	if (row->to_root != NONE)
		put8(self, ANGARA_A_TREE_TO_ROOT, row->to_root);
	if (row->ports != NONE)
		put64(self, ANGARA_A_TREE_PORTS, row->ports);
	if (row->pe != NONE)
		put16(self, ANGARA_A_TREE_PE, row->pe);
	if (row->pkey != NONE)
		put32(self, ANGARA_A_TREE_PKEY, row->pkey);
	return call(self);
}

#define REFUSED(ret, text, call) do {					\
	EXPECT_EQ(ret, call);						\
	EXPECT_NE(NULL, strstr(self->said, text))			\
		TH_LOG("said: \"%s\"", self->said);			\
} while (0)

#define REFUSED_ROW(ret, text, what) do {				\
	struct row r = good;						\
	what;								\
	REFUSED(ret, text, set_row(self, &r));				\
	about(self, ANGARA_CMD_TREE_GET, TREE);				\
	EXPECT_EQ(-ENOENT, call(self));					\
} while (0)

TEST_F(nl, rows_are_checked)
{
	REFUSED_ROW(-ERANGE, "range", r.is_root = 2);
	REFUSED_ROW(-EINVAL, "ports: there is no such port", r.ports = 0x100);
	REFUSED_ROW(-ERANGE, "range", r.pe = ANGARA_MAX_LOCAL + 1);
	REFUSED_ROW(-ERANGE, "range", r.pkey = 0);
	REFUSED_ROW(-EINVAL, "to_root: there is no such port", r.to_root = 8);
	REFUSED_ROW(-EINVAL, "to_root: there is no such port", r.to_root = 200);
	REFUSED_ROW(-EINVAL, "to_root: required", r.to_root = NONE);
	REFUSED_ROW(-EINVAL, "to_root: must be NONE", r.is_root = 1);
	REFUSED_ROW(-EINVAL, "ports: contains the port up", r.ports = 2);
	REFUSED_ROW(-EINVAL, "ports: the ports to the children are needed", r.ports = NONE);
	REFUSED_ROW(-EINVAL, "pe: the number of local", r.pe = NONE);
	/* The row goes up along Y, so a port down along X comes too early. */
	REFUSED_ROW(-EINVAL, "order", r.to_root = 2; r.ports = 1);
}

TEST_F(nl, rows_are_kept)
{
	EXPECT_EQ(0, set_row(self, &good));
	REFUSED(-EBUSY, "the row is set", set_row(self, &good));

	about(self, ANGARA_CMD_TREE_GET, TREE);
	EXPECT_EQ(0, call(self));
	EXPECT_EQ(1, self->last[ANGARA_A_TREE_TO_ROOT]);
	EXPECT_EQ(4, self->last[ANGARA_A_TREE_PORTS]);
	EXPECT_EQ(USER_PKEY, self->last[ANGARA_A_TREE_PKEY]);
	EXPECT_EQ(ANGARA_TREE_STATE_UP, self->last[ANGARA_A_TREE_STATE]);
	EXPECT_EQ(0, self->last[ANGARA_A_TREE_OWNED]);

	/* A single node is not a tree. */
	about(self, ANGARA_CMD_TREE_CHECK, TREE);
	EXPECT_EQ(0, call(self));
	EXPECT_NE(ANGARA_TREE_VALID, self->last[ANGARA_A_CHECK_RULE]);

	about(self, ANGARA_CMD_TREE_CLEAR, TREE);
	EXPECT_EQ(0, call(self));
	about(self, ANGARA_CMD_TREE_CLEAR, TREE);
	REFUSED(-ENOENT, "the row is not set", call(self));
}

TEST_F(nl, owned_rows)
{
	struct angara_tree_row row = {
		.tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE, .pe = 1,
		.epoch = 1, .pkey = USER_PKEY,
	};
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/angara%u", self->dev);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	for (unsigned int owned = 0; owned < 2; owned++) {
		EXPECT_EQ(0, at_tree_set(fd, &row, owned ? ANGARA_TREE_OWNED : 0));
		about(self, ANGARA_CMD_TREE_GET, TREE);
		EXPECT_EQ(0, call(self));
		EXPECT_EQ(owned, self->last[ANGARA_A_TREE_OWNED]);
		about(self, ANGARA_CMD_TREE_CLEAR, TREE);
		EXPECT_EQ(0, call(self));
	}
	close(fd);
}

TEST_F(nl, requests_are_checked)
{
	start(self, ANGARA_CMD_DEV_GET, NLM_F_ACK);
	REFUSED(-EINVAL, "dev: required", call(self));
	start(self, ANGARA_CMD_DEV_GET, NLM_F_ACK);
	put32(self, AT_NL_DEV, 4000000);
	REFUSED(-ENODEV, "dev: there is no such device", call(self));
	about(self, ANGARA_CMD_TREE_GET, -1);
	REFUSED(-EINVAL, "tree: required", call(self));
	about(self, ANGARA_CMD_TREE_GET, ANGARA_MAX_TREES);
	REFUSED(-ERANGE, "range", call(self));
	about(self, ANGARA_CMD_PORT_GET, -1);
	put8(self, ANGARA_A_PORT_ID, ANGARA_MAX_PORTS);
	REFUSED(-ERANGE, "range", call(self));
	about(self, ANGARA_CMD_CTX_GET, -1);
	put32(self, ANGARA_A_CTX_ID, 0xFFFFFFFF);
	REFUSED(-ENOENT, "no such object", call(self));
	about(self, ANGARA_CMD_TREE_DELEGATE, TREE);
	REFUSED(-EINVAL, "delegated: the partition is needed", call(self));
	about(self, ANGARA_CMD_EVENT, -1);
	EXPECT_EQ(-EOPNOTSUPP, call(self));
	about(self, 200, -1);
	EXPECT_EQ(-EOPNOTSUPP, call(self));
}

TEST_F(nl, attributes_are_strict)
{
	uint8_t one = 1;

	/*
	 * The attribute does not belong to the request, is unknown, or is too
	 * short.
	 */
	about(self, ANGARA_CMD_DEV_GET, -1);
	put32(self, ANGARA_A_DEV_NODE, 1);
	EXPECT_EQ(-EINVAL, call(self));
	about(self, ANGARA_CMD_DEV_GET, -1);
	put32(self, ANGARA_A_DEV_NODES, 1);
	EXPECT_EQ(-EINVAL, call(self));
	about(self, ANGARA_CMD_TREE_CLEAR, TREE);
	put8(self, ANGARA_A_TREE_STATE, 1);
	EXPECT_EQ(-EINVAL, call(self));
	about(self, ANGARA_CMD_TREE_CHECK, TREE);
	put8(self, ANGARA_A_CHECK_RULE, 1);
	EXPECT_EQ(-EINVAL, call(self));
	about(self, ANGARA_CMD_DEV_GET, -1);
	put8(self, AT_NL_ATTRS, 1);
	EXPECT_EQ(-EINVAL, call(self));
	start(self, ANGARA_CMD_DEV_GET, NLM_F_ACK);
	put(self, AT_NL_DEV, &one, sizeof(one));
	EXPECT_NE(0, call(self));
	about(self, ANGARA_CMD_DEV_GET, -1);
	put64(self, AT_NL_FABRIC, self->fabric);
	REFUSED(-EINVAL, "fabric: allowed in dumps only", call(self));
}

TEST_F(nl, dumps_are_narrowed)
{
	start(self, ANGARA_CMD_PORT_GET, NLM_F_DUMP);
	put32(self, AT_NL_DEV, self->dev);
	EXPECT_EQ(0, call(self));
	EXPECT_LT(0U, self->records);
	EXPECT_GE(8U, self->records);
	EXPECT_EQ(self->dev, self->last[AT_NL_DEV]);

	start(self, ANGARA_CMD_DEV_GET, NLM_F_DUMP);
	put64(self, AT_NL_FABRIC, self->fabric);
	EXPECT_EQ(0, call(self));
	EXPECT_LE(8U, self->records);
	start(self, ANGARA_CMD_DEV_GET, NLM_F_DUMP);
	put64(self, AT_NL_FABRIC, ~self->fabric);
	EXPECT_EQ(0, call(self));
	EXPECT_EQ(0U, self->records);

	EXPECT_EQ(0, set_row(self, &good));
	start(self, ANGARA_CMD_TREE_GET, NLM_F_DUMP);
	put8(self, AT_NL_ID, TREE);
	EXPECT_EQ(0, call(self));
	EXPECT_EQ(1U, self->records);
	EXPECT_EQ(TREE, self->last[AT_NL_ID]);

	start(self, ANGARA_CMD_DEV_GET, NLM_F_DUMP);
	put32(self, AT_NL_DEV, 4000000);
	EXPECT_EQ(-ENODEV, call(self));
	start(self, ANGARA_CMD_PORT_GET, NLM_F_DUMP);
	put8(self, ANGARA_A_PORT_ID, 1);
	EXPECT_EQ(-EINVAL, call(self));
}

/*
 * The device changes between two parts of a dump. The size of a part is the
 * largest buffer with which the socket was ever read.
 */
TEST_F(nl, a_disturbed_dump_tells)
{
	FIXTURE_DATA(nl) other = *self;
	unsigned int before;
	int ret;

	other.fd = open_socket();
	ASSERT_LE(0, other.fd);
	other.room = 4096;
	start(&other, ANGARA_CMD_PORT_GET, NLM_F_DUMP);
	EXPECT_EQ(0, call(&other));
	before = other.records;
	EXPECT_EQ(0U, other.flags & NLM_F_DUMP_INTR);

	EXPECT_EQ(0, submit(&other));
	EXPECT_EQ(1, receive(&other));
	EXPECT_GT(before, other.records);
	EXPECT_EQ(0, set_row(self, &good));
	at_sleep_ms(500); /* the device's event goes through a worker */
	do
		ret = receive(&other);
	while (ret == 1);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(before, other.records);
	EXPECT_NE(0U, other.flags & NLM_F_DUMP_INTR);
	close(other.fd);
}

static unsigned int seen(FIXTURE_DATA(nl) *self)
{
	start(self, ANGARA_CMD_TREE_GET, NLM_F_DUMP);
	put8(self, AT_NL_ID, TREE);
	return call(self) ? 99 : self->records;
}

TEST_F(nl, others_are_not_shown)
{
	int opened_by_root = self->fd;
	struct row row = good;

	EXPECT_EQ(0, set_row(self, &row));
	ASSERT_EQ(0, seteuid(USER));
	/* On a socket that another user opened, partitions do not match. */
	EXPECT_EQ(0U, seen(self));
	self->fd = open_socket();
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(1U, seen(self));
	about(self, ANGARA_CMD_TREE_CLEAR, TREE);
	EXPECT_EQ(-EPERM, call(self));
	EXPECT_EQ(-EPERM, set_row(self, &row));
	about(self, ANGARA_CMD_TREE_DELEGATE, TREE);
	put32(self, ANGARA_A_TREE_DELEGATED, USER_PKEY);
	EXPECT_EQ(-EPERM, call(self));
	ASSERT_EQ(0, seteuid(0));
	close(self->fd);
	self->fd = opened_by_root;

	ASSERT_EQ(0, seteuid(USER + 1));
	EXPECT_EQ(0U, seen(self));
	about(self, ANGARA_CMD_TREE_GET, TREE);
	REFUSED(-EPERM, "another partition", call(self));
	about(self, ANGARA_CMD_TREE_CHECK, TREE);
	REFUSED(-EPERM, "another partition", call(self));

	/*
	 * The rights are those of the process that requests the dump, not of
	 * the process that reads it.
	 */
	start(self, ANGARA_CMD_TREE_GET, NLM_F_DUMP);
	put8(self, AT_NL_ID, TREE);
	EXPECT_EQ(0, submit(self));
	ASSERT_EQ(0, seteuid(0));
	while (receive(self) == 1)
		;
	EXPECT_EQ(0U, self->records);
	EXPECT_EQ(1U, seen(self));
}

/* Processes that a dump reports for contexts. */
struct pids {
	unsigned int dev;
	unsigned int outside, inside;		/* contexts of @dev */
	unsigned long long of_outside, of_inside;	/* 0: no process
							 * reported */
	unsigned int seen;			/* records of both contexts */
	unsigned int others;			/* processes reported other than 1 */
};

static void take_pid(void *arg, const struct at_nl_obj *obj)
{
	unsigned long long pid = obj->val[ANGARA_A_CTX_PID];
	struct pids *pids = arg;

	pids->others += obj->has[ANGARA_A_CTX_PID] && pid != 1;
	if (obj->val[AT_NL_DEV] != pids->dev)
		return;
	if (obj->val[ANGARA_A_CTX_ID] == pids->outside) {
		pids->of_outside = pid;
		pids->seen++;
	} else if (obj->val[ANGARA_A_CTX_ID] == pids->inside) {
		pids->of_inside = pid;
		pids->seen++;
	}
}

static int read_pids(struct pids *pids)
{
	pids->of_outside = 0;
	pids->of_inside = 0;
	pids->seen = 0;
	pids->others = 0;
	return at_nl_dump(ANGARA_CMD_CTX_GET, take_pid, pids);
}

/*
 * Process 1 of a namespace has its own context.  Return: 0 if dumps and
 * requests for one context report that process only.
 */
static int look_as_process_1(struct pids *pids, int up, int down)
{
	struct at_nl_obj obj;
	struct at_ctx x;
	char end;

	if (getpid() != 1 || at_ctx_open(&x, pids->dev, NULL))
		return 10;
	pids->inside = x.c.ctx;
	if (read_pids(pids) || pids->seen != 2)
		return 11;
	if (pids->of_inside != 1)
		return 12;
	if (pids->of_outside || pids->others)
		return 13;
	if (at_nl_ctx(pids->dev, pids->outside, &obj) || obj.has[ANGARA_A_CTX_PID])
		return 14;
	if (write(up, &pids->inside, sizeof(pids->inside)) < 0)
		return 15;
	return read(down, &end, 1) ? 16 : 0;	/* until the pipe is closed */
}

TEST_F(nl, processes_are_those_of_the_readers_namespace)
{
	struct pids pids = { .dev = self->dev };
	int up[2], down[2];
	struct at_ctx x;
	pid_t child;

	ASSERT_EQ(0, at_ctx_open(&x, self->dev, NULL));
	pids.outside = x.c.ctx;
	ASSERT_EQ(0, pipe(up));
	ASSERT_EQ(0, pipe(down));
	ASSERT_EQ(0, unshare(CLONE_NEWPID));	/* takes effect for children only */
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		close(up[0]);
		close(down[1]);
		_exit(look_as_process_1(&pids, up[1], down[0]));
	}
	close(up[1]);
	close(down[0]);

	/* The outer namespace has process numbers for both. */
	if (read(up[0], &pids.inside, sizeof(pids.inside)) == sizeof(pids.inside)) {
		EXPECT_EQ(0, read_pids(&pids));
		EXPECT_EQ(2U, pids.seen);
		EXPECT_EQ(getpid(), pids.of_outside);
		EXPECT_EQ(child, pids.of_inside);
	}
	close(down[1]);
	EXPECT_EQ(0, at_wait_child(child, AT_DEADLINE_MS));
	close(up[0]);
	at_ctx_close(&x);
}

/* The set of all attributes from 2 to @max; 0 and 1 are not used. */
#define ALL(max)	((2ULL << (max)) - 4)

#define EXPECT_COUNTERS(_nest, max) do {				\
	self->nest = (_nest);						\
	EXPECT_EQ(0, call(self));					\
	EXPECT_EQ(ALL(max), self->counters);				\
	EXPECT_EQ(0U, self->odd);					\
} while (0)

TEST_F(nl, counters_are_numbers)
{
	struct at_ctx x;

	about(self, ANGARA_CMD_DEV_GET, -1);
	EXPECT_COUNTERS(ANGARA_A_DEV_COUNTERS, ANGARA_A_NODE_COUNTER_MAX);
	about(self, ANGARA_CMD_PORT_GET, -1);
	put8(self, ANGARA_A_PORT_ID, 0);
	EXPECT_COUNTERS(ANGARA_A_PORT_COUNTERS, ANGARA_A_PORT_COUNTER_MAX);
	EXPECT_EQ(0, set_row(self, &good));
	about(self, ANGARA_CMD_TREE_GET, TREE);
	EXPECT_COUNTERS(ANGARA_A_TREE_COUNTERS, ANGARA_A_TREE_COUNTER_MAX);
	ASSERT_EQ(0, at_ctx_open(&x, self->dev, NULL));
	about(self, ANGARA_CMD_CTX_GET, -1);
	put32(self, ANGARA_A_CTX_ID, x.c.ctx);
	EXPECT_COUNTERS(ANGARA_A_CTX_COUNTERS, ANGARA_A_CTX_COUNTER_MAX);
	at_ctx_close(&x);
}

TEST_HARNESS_MAIN
