// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of switches: they are set, read and cleared only through the device of
 * the node that keeps the switch, by ioctl and by netlink. Netlink also reports
 * the links of switches.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT)

#define KIND	"kns:2x2"
#define NODES	4
#define ROUTERS	8
#define TREE	6
#define SWITCH	4	/* a switch of the tree */
#define UNUSED	5	/* a switch outside of the tree */

/*
 * Nodes are 0 to 3. Switch 4 joins nodes 0 and 1, switch 5 nodes 2 and 3, switch
 * 6 nodes 0 and 2, switch 7 nodes 1 and 3: by its port 0 the first of them, by
 * port 1 the second. Port 0 of each node leads to switch 4 or 5, port 1 to
 * switch 6 or 7. The lowest node that a switch joins keeps it.
 */
static const unsigned int keepers[ROUTERS] = { 0, 1, 2, 3, 0, 2, 0, 1 };

/* Node 0 is the root; node 1 forwards to node 3. */
static const struct angara_tree_row tree_rows[ROUTERS] = {
	{ .is_root = 1, .to_root = ANGARA_PORT_NONE, .ports = 3, .port_sum = 2, .pe = 1 },
	{ .to_root = 0, .ports = 2, .port_sum = 1, .pe = 1 },
	{ .to_root = 1, .pe = 1 },
	{ .to_root = 1, .pe = 1 },
	{ .to_root = 0, .ports = 2, .port_sum = 1 },
	[UNUSED] = { .to_root = ANGARA_PORT_NONE },
	{ .to_root = 0, .ports = 2, .port_sum = 1 },
	{ .to_root = 0, .ports = 2, .port_sum = 1 },
};

/* A fabric with switches: an existing one, or one made for the test. */
FIXTURE(sw) {
	struct at_loop loop;
	bool made;
	unsigned int dev[NODES];
	int fd[NODES];
	unsigned int pkey;
	struct angara_tree_row rows[ROUTERS];	/* a tree over all nodes */
};

static bool is_kind(unsigned int dev)
{
	char path[64], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/class/angara/angara%u/fabric", dev);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return !strncmp(text, KIND, strlen(KIND)) && text[strlen(KIND)] < ' ';
}

static unsigned int devices_open(FIXTURE_DATA(sw) *self)
{
	unsigned int dev, end = at_devices(), found = 0;
	struct angara_query q;

	for (dev = 0; dev < end; dev++) {
		int fd = is_kind(dev) ? at_open(dev) : -1;

		if (fd < 0)
			continue;
		if (at_query(fd, &q) || q.node >= NODES || self->fd[q.node] >= 0 ||
		    (self->made && q.fabric_id != self->loop.id)) {
			close(fd);
			continue;
		}
		self->pkey = q.pkey;
		self->dev[q.node] = dev;
		self->fd[q.node] = fd;
		found++;
	}
	return found;
}

FIXTURE_SETUP(sw)
{
	unsigned int i;

	for (i = 0; i < NODES; i++)
		self->fd[i] = -1;
	self->made = !at_loop_add(KIND, &self->loop);
	if (devices_open(self) != NODES)
		SKIP(return, "no fabric " KIND " here, and none can be created");
	for (i = 0; i < ROUTERS; i++) {
		self->rows[i] = tree_rows[i];
		self->rows[i].tree = TREE;
		self->rows[i].pkey = self->pkey;
	}
}

FIXTURE_TEARDOWN(sw)
{
	unsigned int i;

	for (i = 0; i < NODES; i++)
		if (self->fd[i] >= 0)
			close(self->fd[i]);
	if (self->made)
		at_loop_remove(&self->loop);
}

static int set(int fd, const struct angara_tree_row *row, unsigned int router,
	       unsigned int flags)
{
	struct angara_tree_set set = {
		.size = sizeof(set), .flags = flags, .row = *row, .router = router,
	};

	return at_ioctl(fd, ANGARA_IOCTL_TREE_SET, &set);
}

static int get(int fd, unsigned int router, struct angara_tree_get *get)
{
	memset(get, 0, sizeof(*get));
	get->size = sizeof(*get);
	get->flags = ANGARA_TREE_ROUTER;
	get->row.tree = TREE;
	get->router = router;
	return at_ioctl(fd, ANGARA_IOCTL_TREE_GET, get);
}

static int clear(int fd, unsigned int router, unsigned int flags)
{
	struct angara_tree_clear clear = {
		.size = sizeof(clear), .flags = flags | ANGARA_TREE_ROUTER,
		.tree = TREE, .router = router,
	};

	return at_ioctl(fd, ANGARA_IOCTL_TREE_CLEAR, &clear);
}

TEST_F(sw, kept_by_one_node)
{
	unsigned int s = SWITCH, i;
	struct angara_tree_get is;
	int fd = self->fd[keepers[s]];

	for (i = 0; i < NODES; i++) {
		if (i == keepers[s])
			continue;
		EXPECT_EQ(-EPERM, set(self->fd[i], &self->rows[s], s,
				      ANGARA_TREE_ROUTER));
		EXPECT_EQ(-EPERM, get(self->fd[i], s, &is));
		EXPECT_EQ(-EPERM, clear(self->fd[i], s, 0));
		EXPECT_EQ(-EPERM, clear(self->fd[i], s, ANGARA_TREE_CLEAR_OWNED));
		/* A node does not set rows of another node either. */
		EXPECT_EQ(-EPERM, set(self->fd[i], &self->rows[i], (i + 1) % NODES,
				      ANGARA_TREE_ROUTER));
	}
	EXPECT_EQ(-EINVAL, set(fd, &self->rows[s], ROUTERS, ANGARA_TREE_ROUTER));
	EXPECT_EQ(-EINVAL, set(fd, &self->rows[s], ~0U, ANGARA_TREE_ROUTER));
	EXPECT_EQ(-EINVAL, clear(fd, ROUTERS, 0));
	EXPECT_EQ(-EOPNOTSUPP, set(fd, &self->rows[s], s, 0));
	EXPECT_EQ(-ENOENT, get(fd, s, &is));
	EXPECT_EQ(-ENOENT, clear(fd, s, 0));
	ASSERT_EQ(0, set(fd, &self->rows[s], s, ANGARA_TREE_ROUTER));
	EXPECT_EQ(-EBUSY, set(fd, &self->rows[s], s, ANGARA_TREE_ROUTER));
	ASSERT_EQ(0, get(fd, s, &is));
	EXPECT_EQ(0, memcmp(&is.row, &self->rows[s], sizeof(is.row)));
	EXPECT_EQ(ANGARA_TREE_STATE_UP, is.state);
	EXPECT_EQ(s, is.router);
	/* The node's own row of that tree is separate, and unset. */
	EXPECT_EQ(-ENOENT, at_tree_get(fd, TREE, &is));
	EXPECT_EQ(0, clear(fd, s, 0));
	EXPECT_EQ(-ENOENT, get(fd, s, &is));
}

TEST_F(sw, rules)
{
	unsigned int s = SWITCH;
	int fd = self->fd[keepers[s]];
	struct angara_tree_row row = self->rows[s];
	struct angara_tree_get is;

	row.pe = 1;
	EXPECT_EQ(-EINVAL, set(fd, &row, s, ANGARA_TREE_ROUTER));
	row.pe = 0;
	row.ports |= 1ULL << 40;
	row.port_sum++;
	EXPECT_EQ(-EINVAL, set(fd, &row, s, ANGARA_TREE_ROUTER));
	EXPECT_EQ(-ENOENT, get(fd, s, &is));
}

/* A node may name itself as router. */
TEST_F(sw, own_number)
{
	struct angara_tree_get is;

	ASSERT_EQ(0, set(self->fd[0], &self->rows[0], 0, ANGARA_TREE_ROUTER));
	ASSERT_EQ(0, at_tree_get(self->fd[0], TREE, &is));
	EXPECT_EQ(0, memcmp(&is.row, &self->rows[0], sizeof(is.row)));
	EXPECT_EQ(0, get(self->fd[0], 0, &is));
	EXPECT_EQ(0, clear(self->fd[0], 0, 0));
	EXPECT_EQ(-ENOENT, at_tree_get(self->fd[0], TREE, &is));
}

TEST_F(sw, owned)
{
	unsigned int s = SWITCH;
	unsigned int dev = self->dev[keepers[s]];
	const unsigned int owned = ANGARA_TREE_ROUTER | ANGARA_TREE_OWNED;
	struct angara_tree_get is;
	int one = at_open(dev), two = at_open(dev);

	ASSERT_LE(0, one);
	ASSERT_LE(0, two);
	ASSERT_EQ(0, set(one, &self->rows[s], s, owned));
	EXPECT_EQ(-ENOENT, clear(two, s, ANGARA_TREE_CLEAR_OWNED));
	EXPECT_EQ(0, clear(one, s, ANGARA_TREE_CLEAR_OWNED));
	EXPECT_EQ(-ENOENT, clear(one, s, ANGARA_TREE_CLEAR_OWNED));
	ASSERT_EQ(0, set(one, &self->rows[s], s, owned));
	close(one);
	EXPECT_EQ(-ENOENT, get(two, s, &is));
	close(two);
}

/* The rows of all routers make a valid tree, but not without a switch. */
TEST_F(sw, whole_tree)
{
	struct angara_tree_verify check = { .size = sizeof(check), .tree = TREE };
	unsigned int i, s = SWITCH;

	for (i = 0; i < ROUTERS; i++) {
		if (i == UNUSED)
			continue;
		ASSERT_EQ(0, set(self->fd[keepers[i]], &self->rows[i], i,
				 ANGARA_TREE_ROUTER | ANGARA_TREE_OWNED));
	}
	ASSERT_EQ(0, at_ioctl(self->fd[0], ANGARA_IOCTL_TREE_CHECK, &check));
	EXPECT_EQ(ANGARA_TREE_VALID, check.rule);
	EXPECT_EQ(ROUTERS - 1, check.nodes);
	EXPECT_EQ(0, clear(self->fd[keepers[s]], s, 0));
	ASSERT_EQ(0, at_ioctl(self->fd[1], ANGARA_IOCTL_TREE_CHECK, &check));
	EXPECT_EQ(ANGARA_TREE_RULE_LINK, check.rule);
	EXPECT_EQ(ROUTERS - 2, check.nodes);
}

/* Which of set, get and clear work for another user? Return: a bit for each. */
static int other_user(unsigned int dev, const struct angara_tree_row *from,
		      unsigned int router)
{
	struct angara_tree_row row = *from;
	struct angara_tree_get is;
	struct angara_query q;
	int fd, got;

	if (at_become(AT_NOBODY))
		return 64;
	fd = at_open(dev);
	if (fd < 0 || at_query(fd, &q))
		return 65;
	row.pkey = q.pkey;
	got = !set(fd, &row, router, ANGARA_TREE_ROUTER);
	got |= !get(fd, router, &is) << 1;
	got |= !clear(fd, router, 0) << 2;
	close(fd);
	return got;
}

static int try_as_other(unsigned int dev, const struct angara_tree_row *row,
			unsigned int router)
{
	pid_t pid = fork();

	if (!pid)
		_exit(other_user(dev, row, router));
	return pid < 0 ? -errno : at_wait_child(pid, AT_DEADLINE_MS);
}

/* Delegating a tree of a node covers the switches that it keeps. */
TEST_F(sw, delegated)
{
	unsigned int s = SWITCH;
	unsigned int keeper = keepers[s];
	struct angara_tree_delegate to = {
		.size = sizeof(to), .tree = TREE, .pkey = 0x80000000U | AT_NOBODY,
	};
	struct stat st;
	char path[32];

	if (!self->made)
		SKIP(return, "an embedded fabric has one user, and no device files");
	at_dev_path(self->dev[keeper], path);
	ASSERT_EQ(0, stat(path, &st));
	ASSERT_EQ(0, chmod(path, 0666));
	EXPECT_EQ(0, try_as_other(self->dev[keeper], &self->rows[s], s));
	EXPECT_EQ(0, at_ioctl(self->fd[keeper], ANGARA_IOCTL_TREE_DELEGATE, &to));
	EXPECT_EQ(7, try_as_other(self->dev[keeper], &self->rows[s], s));
	to.pkey = 0;
	EXPECT_EQ(0, at_ioctl(self->fd[keeper], ANGARA_IOCTL_TREE_DELEGATE, &to));
	EXPECT_EQ(0, try_as_other(self->dev[keeper], &self->rows[s], s));
	chmod(path, st.st_mode & 07777);
}

#define NO_ROUTER	(ROUTERS + 1U)	/* value that omits the attribute */

static int nl_set(unsigned int dev, const struct angara_tree_row *row,
		  unsigned int router)
{
	const struct at_nl_attr attrs[] = {
		{ ANGARA_A_TREE_DEV, 4, dev }, { ANGARA_A_TREE_ID, 1, TREE },
		{ ANGARA_A_TREE_TO_ROOT, 1, row->to_root },
		{ ANGARA_A_TREE_PORTS, 8, row->ports },
		{ ANGARA_A_TREE_PE, 2, row->pe },
		{ ANGARA_A_TREE_EPOCH, 2, 3 },
		{ ANGARA_A_TREE_ROUTER, 4, router },
	};

	return at_nl_ask(ANGARA_CMD_TREE_SET, false, attrs,
			 7 - (router == NO_ROUTER));
}

/* @cmd: TREE_GET or TREE_CLEAR */
static int nl_row(unsigned int cmd, unsigned int dev, unsigned int router,
		  struct at_nl_obj *obj)
{
	const struct at_nl_attr attrs[] = {
		{ ANGARA_A_TREE_DEV, 4, dev }, { ANGARA_A_TREE_ID, 1, TREE },
		{ ANGARA_A_TREE_ROUTER, 4, router },
	};

	return at_nl_get(cmd, attrs, 3 - (router == NO_ROUTER), obj);
}

static int nl_port(unsigned int dev, unsigned int router, unsigned int port,
		   struct at_nl_obj *obj)
{
	const struct at_nl_attr attrs[] = {
		{ ANGARA_A_PORT_DEV, 4, dev }, { ANGARA_A_PORT_ID, 1, port },
		{ ANGARA_A_PORT_ROUTER, 4, router },
	};

	return at_nl_get(ANGARA_CMD_PORT_GET, attrs, 3, obj);
}

/* Objects of a fabric that a dump reports. */
struct seen {
	unsigned long long fabric;
	unsigned int router;		/* attribute that has the router's number */
	unsigned int of_nodes;
	unsigned int of_switches;
	unsigned int wrong;		/* wrong keepers and duplicates */
	unsigned long long which;	/* router * 8 + number, one bit each */
};

static void see(void *arg, const struct at_nl_obj *obj)
{
	unsigned long long router, bit;
	struct seen *seen = arg;

	if (obj->val[AT_NL_FABRIC] != seen->fabric)
		return;
	router = obj->val[seen->router];
	bit = 1ULL << (router * 8 + obj->val[AT_NL_ID]) % 64;
	if (router >= ROUTERS || !obj->has[seen->router] || seen->which & bit ||
	    keepers[router] != obj->val[AT_NL_NODE])
		seen->wrong++;
	seen->which |= bit;
	if (router < NODES)
		seen->of_nodes++;
	else
		seen->of_switches++;
}

static struct seen seen_by_dump(FIXTURE_DATA(sw) *self, unsigned int cmd)
{
	struct seen seen = {
		.fabric = self->loop.id,
		.router = cmd == ANGARA_CMD_PORT_GET ? ANGARA_A_PORT_ROUTER :
						       ANGARA_A_TREE_ROUTER,
	};

	seen.wrong += !!at_nl_dump(cmd, see, &seen);
	return seen;
}

TEST_F(sw, netlink_rows)
{
	unsigned int s = SWITCH, keeper = keepers[s], i;
	unsigned int dev = self->dev[keeper];
	struct angara_tree_get is;
	struct at_nl_obj obj;
	struct seen seen;

	if (!self->made || at_nl_family() < 0)
		SKIP(return, "no netlink family for this fabric");
	for (i = 0; i < NODES; i++) {
		if (i == keeper)
			continue;
		EXPECT_EQ(-EPERM, nl_set(self->dev[i], &self->rows[s], s));
		EXPECT_EQ(-EPERM, nl_row(ANGARA_CMD_TREE_GET, self->dev[i], s, &obj));
		EXPECT_EQ(-EPERM, nl_row(ANGARA_CMD_TREE_CLEAR, self->dev[i], s, &obj));
	}
	EXPECT_EQ(-EINVAL, nl_set(dev, &self->rows[s], ROUTERS));
	EXPECT_EQ(-EINVAL, nl_row(ANGARA_CMD_TREE_GET, dev, ~0U, &obj));
	EXPECT_EQ(-ENOENT, nl_row(ANGARA_CMD_TREE_GET, dev, s, &obj));
	EXPECT_EQ(-ENOENT, nl_row(ANGARA_CMD_TREE_CLEAR, dev, s, &obj));
	ASSERT_EQ(0, nl_set(dev, &self->rows[s], s));
	EXPECT_EQ(-EBUSY, nl_set(dev, &self->rows[s], s));
	ASSERT_EQ(0, get(self->fd[keeper], s, &is));
	EXPECT_EQ(self->rows[s].ports, is.row.ports);
	ASSERT_EQ(0, nl_row(ANGARA_CMD_TREE_GET, dev, s, &obj));
	EXPECT_EQ(s, obj.val[ANGARA_A_TREE_ROUTER]);
	EXPECT_EQ(keeper, obj.val[AT_NL_NODE]);
	EXPECT_EQ(self->rows[s].ports, obj.val[ANGARA_A_TREE_PORTS]);
	EXPECT_EQ(self->rows[s].to_root, obj.val[ANGARA_A_TREE_TO_ROOT]);
	EXPECT_EQ(ANGARA_TREE_STATE_UP, obj.val[ANGARA_A_TREE_STATE]);
	EXPECT_EQ(1, obj.has[ANGARA_A_TREE_COUNTERS]);
	/*
	 * The keeper itself has no row of this tree, whether the request names it as
	 * router or not.
	 */
	EXPECT_EQ(-ENOENT, nl_row(ANGARA_CMD_TREE_GET, dev, NO_ROUTER, &obj));
	EXPECT_EQ(-ENOENT, nl_row(ANGARA_CMD_TREE_GET, dev, keeper, &obj));
	seen = seen_by_dump(self, ANGARA_CMD_TREE_GET);
	EXPECT_EQ(0, seen.wrong);
	EXPECT_EQ(0, seen.of_nodes);
	EXPECT_EQ(1, seen.of_switches);
	EXPECT_EQ(1ULL << (s * 8 + TREE) % 64, seen.which);
	EXPECT_EQ(-ENOENT, nl_row(ANGARA_CMD_TREE_CLEAR, dev, NO_ROUTER, &obj));
	EXPECT_EQ(0, nl_row(ANGARA_CMD_TREE_CLEAR, dev, s, &obj));
	EXPECT_EQ(-ENOENT, get(self->fd[keeper], s, &is));
}

TEST_F(sw, netlink_links)
{
	unsigned int s = SWITCH, keeper = keepers[s];
	unsigned int dev = self->dev[keeper];
	const struct at_nl_attr odd[] = { { ANGARA_A_PORT_ROUTER, 4, s } };
	struct at_nl_obj obj;
	struct seen seen;

	if (!self->made || at_nl_family() < 0)
		SKIP(return, "no netlink family for this fabric");
	seen = seen_by_dump(self, ANGARA_CMD_PORT_GET);
	EXPECT_EQ(0, seen.wrong);
	EXPECT_EQ(2 * NODES, seen.of_nodes);
	EXPECT_EQ(2 * NODES, seen.of_switches);
	ASSERT_EQ(0, nl_port(dev, s, 1, &obj));
	EXPECT_EQ(s, obj.val[ANGARA_A_PORT_ROUTER]);
	EXPECT_GT(NODES, obj.val[ANGARA_A_PORT_NEIGHBOR]);
	EXPECT_EQ(1, obj.has[ANGARA_A_PORT_COUNTERS]);
	EXPECT_EQ(-EPERM, nl_port(self->dev[(keeper + 1) % NODES], s, 1, &obj));
	EXPECT_EQ(-EINVAL, nl_port(dev, ROUTERS, 1, &obj));
	EXPECT_EQ(-ENOENT, nl_port(dev, s, 9, &obj));
	EXPECT_EQ(-EINVAL, at_nl_ask(ANGARA_CMD_PORT_GET, true, odd, 1));
}

/*
 * Return: what another user sees, as bits: rows in a dump, links in a dump, a
 * row by request.
 */
static int other_sees(FIXTURE_DATA(sw) *self, unsigned int s)
{
	struct at_nl_obj obj;
	int got = 0;

	if (at_become(AT_NOBODY))
		return 64;
	got |= !!seen_by_dump(self, ANGARA_CMD_TREE_GET).of_switches;
	got |= (seen_by_dump(self, ANGARA_CMD_PORT_GET).of_switches == 2 * NODES) << 1;
	got |= !nl_row(ANGARA_CMD_TREE_GET, self->dev[keepers[s]], s, &obj) << 2;
	got |= !nl_set(self->dev[keepers[s]], &self->rows[s], s) << 3;
	got |= !nl_row(ANGARA_CMD_TREE_CLEAR, self->dev[keepers[s]], s, &obj) << 4;
	return got;
}

static int as_other(FIXTURE_DATA(sw) *self, unsigned int s)
{
	pid_t pid = fork();

	if (!pid)
		_exit(other_sees(self, s));
	return pid < 0 ? -errno : at_wait_child(pid, AT_DEADLINE_MS);
}

/* Links are public; a partition sees its rows; only root changes them. */
TEST_F(sw, netlink_users)
{
	unsigned int s = SWITCH, keeper = keepers[s];
	struct angara_tree_row row = self->rows[s];

	if (!self->made || at_nl_family() < 0)
		SKIP(return, "no netlink family for this fabric");
	ASSERT_EQ(0, set(self->fd[keeper], &row, s, ANGARA_TREE_ROUTER));
	EXPECT_EQ(2, as_other(self, s));
	EXPECT_EQ(0, clear(self->fd[keeper], s, 0));
	row.pkey = ANGARA_PKEY_UID(AT_NOBODY);
	ASSERT_EQ(0, set(self->fd[keeper], &row, s, ANGARA_TREE_ROUTER));
	EXPECT_EQ(7, as_other(self, s));
	EXPECT_EQ(0, clear(self->fd[keeper], s, 0));
}

TEST_HARNESS_MAIN
