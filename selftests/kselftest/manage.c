// SPDX-License-Identifier: GPL-2.0-only
/*
 * In-band management: a request reaches the routers of other devices and comes
 * back; wrong requests and users without the right are refused; a row that is
 * set in-band works as one that its own driver has set.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "angtest.h"

AT_REQUIRE(AT_ROOT | AT_DEVICE)

#define TREE	9
#define KEY	0x1F2E3D4C5B6A7988ULL
#define NOBODY	65534

FIXTURE(manage) {
	int fd;
	struct angara_query q;
	unsigned int port;		/* first port that leads to another router */
	unsigned int far;		/* router at the other end of that port */
};

static int ask(int fd, struct angara_mgmt *pkt)
{
	struct angara_manage m = {
		.size = sizeof(m), .timeout_ms = ANGARA_MANAGE_MAX_MS, .pkt = *pkt,
	};
	int ret = at_ioctl(fd, ANGARA_IOCTL_MANAGE, &m);

	if (!ret)
		*pkt = m.pkt;
	return ret;
}

static struct angara_mgmt request(unsigned int method, unsigned int attr,
				  unsigned int modifier)
{
	return (struct angara_mgmt){
		.method = method, .attr = attr, .modifier = htole32(modifier),
	};
}

/*
 * Asks the router behind @port, or the device's own router if @port is -1. Return: status or
 * -errno.
 */
static int ask_at(int fd, int port, struct angara_mgmt *pkt)
{
	int ret;

	pkt->hops = port >= 0;
	pkt->path[0] = port >= 0 ? port : 0;
	ret = ask(fd, pkt);
	return ret ? ret : pkt->status;
}

/* As ask_at() for a SET, which needs the router's count of writes. */
static int set_at(int fd, int port, struct angara_mgmt *pkt)
{
	struct angara_mgmt node = request(ANGARA_MGMT_GET, ANGARA_MGMT_NODE, 0);
	int ret;

	node.key = pkt->key;
	ret = ask_at(fd, port, &node);
	if (ret)
		return ret;
	pkt->writes = node.writes;
	return ask_at(fd, port, pkt);
}

static int node_at(int fd, int port, struct angara_mgmt_node *node)
{
	struct angara_mgmt pkt = request(ANGARA_MGMT_GET, ANGARA_MGMT_NODE, 0);
	int ret = ask_at(fd, port, &pkt);

	memcpy(node, pkt.data, sizeof(*node));
	return ret;
}

FIXTURE_SETUP(manage)
{
	struct angara_mgmt_node node;
	uint64_t joined;

	self->fd = at_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, at_query(self->fd, &self->q));
	ASSERT_EQ(0, node_at(self->fd, -1, &node));
	joined = le64toh(node.joined);
	if (!joined)
		SKIP(return, "the fabric has one node: it has no links");
	self->port = __builtin_ctzll(joined);
	ASSERT_EQ(0, node_at(self->fd, self->port, &node));
	self->far = le32toh(node.router);
}

FIXTURE_TEARDOWN(manage)
{
	close(self->fd);
}

TEST_F(manage, reads)
{
	struct angara_mgmt pkt = request(ANGARA_MGMT_GET, ANGARA_MGMT_PORT, 0);
	struct angara_mgmt_port port;
	struct angara_mgmt_node node;

	ASSERT_EQ(0, node_at(self->fd, -1, &node));
	EXPECT_EQ(self->q.node, le32toh(node.router));
	EXPECT_EQ(self->q.nodes, le32toh(node.nodes));
	EXPECT_EQ(self->q.fabric_id, le64toh(node.fabric_id));
	EXPECT_EQ(self->q.max_trees, node.trees);
	EXPECT_EQ(ANGARA_PORT_NONE, node.port);
	ASSERT_EQ(0, node_at(self->fd, self->port, &node));
	EXPECT_EQ(self->q.fabric_id, le64toh(node.fabric_id));
	EXPECT_EQ(1, le64toh(node.joined) >> node.port & 1);
	pkt.modifier = htole32(node.port);
	ASSERT_EQ(0, ask_at(self->fd, self->port, &pkt));
	memcpy(&port, pkt.data, sizeof(port));
	EXPECT_NE(ANGARA_MGMT_PORT_NONE, le32toh(port.state));
	pkt = request(ANGARA_MGMT_GET, ANGARA_MGMT_NODE, 0);
	EXPECT_EQ(ANGARA_MGMT_ST_PORT, ask_at(self->fd, 200, &pkt));
	EXPECT_EQ(self->q.node, le32toh(pkt.router));
}

TEST_F(manage, wrong_requests)
{
	struct angara_manage good = {
		.size = sizeof(good), .timeout_ms = 1000,
		.pkt = request(ANGARA_MGMT_GET, ANGARA_MGMT_NODE, 0),
	};
	struct angara_manage m = good;

	m.timeout_ms = ANGARA_MANAGE_MAX_MS + 1;
	EXPECT_EQ(-EINVAL, at_ioctl(self->fd, ANGARA_IOCTL_MANAGE, &m));
	m = good;
	m.pkt.hops = ANGARA_MGMT_HOPS + 1;
	EXPECT_EQ(-EINVAL, at_ioctl(self->fd, ANGARA_IOCTL_MANAGE, &m));
	m = good;
	m.pkt.method = 7;
	EXPECT_EQ(-EINVAL, at_ioctl(self->fd, ANGARA_IOCTL_MANAGE, &m));
	m = good;
	m.pkt.answer = 1;
	EXPECT_EQ(-EINVAL, at_ioctl(self->fd, ANGARA_IOCTL_MANAGE, &m));
	m = good;
	m.pkt.tid = ~0ULL;
	EXPECT_EQ(0, at_ioctl(self->fd, ANGARA_IOCTL_MANAGE, &m));
	EXPECT_EQ(0, m.pkt.status);
	EXPECT_NE(~0ULL, m.pkt.tid);
}

/* Root has opened the file, but the process that calls needs the right itself. */
TEST_F(manage, needs_the_right)
{
	struct angara_mgmt pkt = request(ANGARA_MGMT_GET, ANGARA_MGMT_NODE, 0);
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(setgid(NOBODY) || setuid(NOBODY) ? 2 :
		      ask(self->fd, &pkt) == -EPERM ? 0 : 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

static struct angara_mgmt key_set(uint64_t old, uint64_t new, uint32_t flags)
{
	struct angara_mgmt pkt = request(ANGARA_MGMT_SET, ANGARA_MGMT_KEY, 0);
	const struct angara_mgmt_key to = {
		.key = htole64(new), .flags = htole32(flags),
	};

	pkt.key = htole64(old);
	memcpy(pkt.data, &to, sizeof(to));
	return pkt;
}

TEST_F(manage, keys)
{
	struct angara_mgmt pkt = key_set(0, KEY, ANGARA_MGMT_KEY_READ);
	struct angara_mgmt_node node;

	ASSERT_EQ(0, set_at(self->fd, self->port, &pkt));
	EXPECT_EQ(ANGARA_MGMT_ST_KEY, node_at(self->fd, self->port, &node));
	pkt = request(ANGARA_MGMT_GET, ANGARA_MGMT_NODE, 0);
	pkt.key = htole64(KEY);
	EXPECT_EQ(0, ask_at(self->fd, self->port, &pkt));
	EXPECT_EQ(0, pkt.key);
	pkt = key_set(KEY, 0, 0);
	EXPECT_EQ(0, set_at(self->fd, self->port, &pkt));
	EXPECT_EQ(0, node_at(self->fd, self->port, &node));
}

/* Opens the device whose router is at the other end of the link.  Return: -1: none. */
static int open_far(const struct angara_query *here, unsigned int node)
{
	unsigned int dev, end = at_devices();

	for (dev = 0; dev < end; dev++) {
		struct angara_query q = { 0 };
		int fd = at_open(dev);

		if (fd < 0)
			continue;
		if (!at_query(fd, &q) && q.node == node &&
		    q.fabric_id == here->fabric_id)
			return fd;
		close(fd);
	}
	return -1;
}

static struct angara_mgmt row_set(uint32_t pkey, unsigned int epoch)
{
	struct angara_mgmt pkt = request(ANGARA_MGMT_SET, ANGARA_MGMT_ROW, TREE);
	const struct angara_mgmt_row row = {
		.pkey = htole32(pkey), .pe = htole16(1), .epoch = htole16(epoch),
		.is_root = 1, .to_root = ANGARA_PORT_NONE,
	};

	memcpy(pkt.data, &row, sizeof(row));
	return pkt;
}

static struct angara_mgmt row_clear(void)
{
	return request(ANGARA_MGMT_SET, ANGARA_MGMT_ROW_CLEAR, TREE);
}

/* A context of the other device joins a row that its driver has not set. */
TEST_F(manage, a_row_of_another_device)
{
	struct angara_mgmt set = row_set(self->q.pkey, 5);
	struct angara_mgmt clear = row_clear();
	struct angara_join join = { .size = sizeof(join), .tree = TREE };
	struct angara_ctx_create ctx = {
		.size = sizeof(ctx), .sq_entries = 8, .cq_entries = 8,
	};
	struct angara_tree_get get;
	int fd = open_far(&self->q, self->far);

	if (fd < 0)
		SKIP(return, "the router at the other end of the link has no device here");
	ASSERT_LE(0, at_domain_create(fd, 0));
	ASSERT_EQ(0, at_ioctl(fd, ANGARA_IOCTL_CTX_CREATE, &ctx));
	EXPECT_EQ(-ENOENT, at_ioctl(ctx.fd, ANGARA_IOCTL_JOIN, &join));
	ASSERT_EQ(0, set_at(self->fd, self->port, &set));
	EXPECT_EQ(0, at_ioctl(ctx.fd, ANGARA_IOCTL_JOIN, &join));
	EXPECT_EQ(0, at_tree_get(fd, TREE, &get));
	EXPECT_EQ(ANGARA_TREE_STATE_UP, get.state);
	EXPECT_EQ(1, get.members);
	EXPECT_EQ(5, get.row.epoch);
	EXPECT_EQ(0, set_at(self->fd, self->port, &clear));
	EXPECT_EQ(-ENOENT, at_ioctl(ctx.fd, ANGARA_IOCTL_JOIN, &join));
	EXPECT_EQ(-ENOENT, at_tree_get(fd, TREE, &get));
	EXPECT_EQ(-ENOENT, at_tree_clear(fd, TREE));
	close(ctx.fd);
	close(fd);
}

/*
 * If in-band management clears or replaces a row of another device, its driver accepts
 * the change.
 */
TEST_F(manage, a_row_that_is_replaced)
{
	struct angara_mgmt set = row_set(self->q.pkey, 6);
	struct angara_mgmt clear = row_clear();
	const struct angara_tree_row row = {
		.tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE, .pe = 1,
		.pkey = self->q.pkey, .epoch = 6,
	};
	int fd = open_far(&self->q, self->far);
	int owner = open_far(&self->q, self->far);
	struct angara_tree_get get;

	if (fd < 0)
		SKIP(return, "the router at the other end of the link has no device here");
	ASSERT_EQ(0, at_tree_set(owner, &row, ANGARA_TREE_OWNED));
	EXPECT_EQ(-EBUSY, at_tree_set(fd, &row, 0));
	/* After the row is cleared, the tree can be used again. */
	ASSERT_EQ(0, set_at(self->fd, self->port, &clear));
	EXPECT_EQ(-ENOENT, at_tree_get(fd, TREE, &get));
	EXPECT_EQ(0, at_tree_set(owner, &row, ANGARA_TREE_OWNED));
	/*
	 * An equal row replaces the row: closing the file of the owner does not clear the
	 * new row.
	 */
	clear = row_clear();
	ASSERT_EQ(0, set_at(self->fd, self->port, &clear));
	ASSERT_EQ(0, set_at(self->fd, self->port, &set));
	close(owner);
	EXPECT_EQ(0, at_tree_get(fd, TREE, &get));
	EXPECT_EQ(ANGARA_TREE_STATE_UP, get.state);
	EXPECT_EQ(-EBUSY, at_tree_set(fd, &row, 0));
	EXPECT_EQ(0, at_tree_clear(fd, TREE));
	EXPECT_EQ(-ENOENT, at_tree_get(fd, TREE, &get));
	close(fd);
}

TEST_HARNESS_MAIN
