// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another user's process cannot reach a context, a partition or a tree,
 * unless an administrator has delegated the tree to its partition.
 *
 * The attempts of the other user run in a child. Its exit status is the line of
 * the first attempt with a wrong result.
 */
#include <endian.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define ALL	ANGARA_ACCESS_ALL
#define TREE	9
#define KEYS	16
#define JOB	0x0123456789ABCDEFULL

/* Root's contexts: one on the child's node, one elsewhere. */
FIXTURE(isolation) {
	struct at_fabric f;
	struct at_ctx near;
	struct at_ctx far;
	mode_t mode[AT_MAX_NODES];
	char *mem;
	uint32_t *reported;		/* data that a child reports */
	int fd;
};

FIXTURE_SETUP(isolation)
{
	unsigned int i;
	char path[32];
	struct stat st;

	ASSERT_EQ(0, at_fabric_find(&self->f, 8));
	for (i = 0; i < self->f.nodes; i++) {
		at_dev_path(self->f.dev[i], path);
		ASSERT_EQ(0, stat(path, &st));
		self->mode[i] = st.st_mode & 07777;
		ASSERT_EQ(0, chmod(path, 0666));
	}
	ASSERT_EQ(0, at_ctx_open(&self->near, self->f.dev[0], NULL));
	ASSERT_EQ(0, at_ctx_open(&self->far, self->f.dev[7], NULL));
	self->mem = at_pages(AT_PAGE);
	memset(self->mem, 0x42, AT_PAGE);
	for (i = 0; i < KEYS; i++) {
		ASSERT_EQ(i, at_mr(&self->near, self->mem, AT_PAGE, ALL));
		ASSERT_EQ(i, at_mr(&self->far, self->mem, AT_PAGE, ALL));
	}
	self->reported = mmap(NULL, AT_PAGE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->reported);
	self->fd = at_open(self->f.dev[0]);
	at_tree_clear(self->fd, TREE);
}

FIXTURE_TEARDOWN(isolation)
{
	unsigned int i;
	char path[32];

	at_delegate(self->fd, TREE, 0);
	at_tree_clear(self->fd, TREE);
	close(self->fd);
	at_ctx_close(&self->near);
	at_ctx_close(&self->far);
	for (i = 0; i < self->f.nodes; i++) {
		at_dev_path(self->f.dev[i], path);
		chmod(path, self->mode[i]);
	}
}

typedef int (*attempt_fn)(FIXTURE_DATA(isolation) *self);

/* Runs @fn as user @uid.  Return: 0, or the failed line modulo 256. */
static int as_user(FIXTURE_DATA(isolation) *self, unsigned int uid,
		   attempt_fn fn)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		int line = at_become(uid) ? __LINE__ : fn(self);

		if (line)
			fprintf(stderr, "# failed at line %d\n", line);
		_exit(line ? 1 : 0);
	}
	return at_wait_child(pid, 3 * AT_DEADLINE_MS);
}

#define MUST(cond) do { if (!(cond)) return __LINE__; } while (0)

static struct angara_tree_row row_of(uint32_t pkey)
{
	return (struct angara_tree_row) {
		.tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE,
		.pe = 1, .pkey = pkey, .epoch = 1,
	};
}

/* Tries every context number of one node, and some keys of each. */
static int reach_node(struct at_ctx *x, unsigned int node)
{
	struct at_ctx target = { .q.node = node };
	unsigned int ctx, key, found = 0;
	struct angara_wqe put, get;
	int status;

	for (ctx = 0; ctx < x->q.max_contexts + 2; ctx++) {
		if (node == x->q.node && ctx == x->c.ctx)
			continue;
		target.c.ctx = ctx;
		for (key = 0; key < KEYS; key += 5) {
			put = at_put(&target, key, 0, 0, 0, 64);
			get = at_get(&target, key, 0, 0, 0, 64);
			status = at_do(x, &put, NULL);
			MUST(status == ANGARA_ST_PARTITION ||
			     status == ANGARA_ST_TARGET);
			MUST(at_do(x, &get, NULL) == status);
			found += status == ANGARA_ST_PARTITION;
		}
		/*
		 * The child may not increment a counter of the target context
		 * either.
		 */
		put = at_put(&target, 0, 0, 0, 0, 0);
		put.flags = ANGARA_WQE_NOTIFY;
		MUST(at_do(x, &put, NULL) != ANGARA_ST_OK);
	}
	MUST(found);
	return 0;
}

static int reach(FIXTURE_DATA(isolation) *self)
{
	char *mem = at_pages(AT_PAGE);
	struct at_ctx x;
	int line;

	MUST(!at_ctx_open(&x, self->f.dev[0], NULL));
	MUST(x.pkey == x.q.pkey && x.pkey != self->near.pkey);
	memset(mem, 0x13, AT_PAGE);
	MUST(at_mr(&x, mem, AT_PAGE, ALL) == 0);
	line = reach_node(&x, 0);
	if (!line)
		line = reach_node(&x, 7);
	MUST(at_all(mem, AT_PAGE, 0x13));
	at_ctx_close(&x);
	return line;
}

TEST_F(isolation, contexts)
{
	unsigned int i;

	EXPECT_EQ(0, as_user(self, AT_NOBODY, reach));
	EXPECT_TRUE(at_all(self->mem, AT_PAGE, 0x42));
	for (i = 0; i < ANGARA_CTR_USER_NUM; i++) {
		EXPECT_EQ(0, at_counter(&self->near, ANGARA_CTR_USER(i)));
		EXPECT_EQ(0, at_counter(&self->far, ANGARA_CTR_USER(i)));
	}
}

static int take_partition(FIXTURE_DATA(isolation) *self)
{
	struct at_attr attr = { .pkey = self->near.pkey };
	struct angara_query q;
	struct at_ctx x;
	int fd;

	MUST(at_ctx_open(&x, self->f.dev[0], &attr) == -EPERM);
	attr.pkey = 1;
	MUST(at_ctx_open(&x, self->f.dev[0], &attr) == -EPERM);
	fd = at_open(self->f.dev[0]);
	MUST(fd >= 0 && !at_query(fd, &q));
	attr.pkey = q.pkey + 1;
	MUST(at_ctx_open(&x, self->f.dev[0], &attr) == -EPERM);
	attr.pkey = q.pkey;
	MUST(!at_ctx_open(&x, self->f.dev[0], &attr));
	at_ctx_close(&x);
	close(fd);
	return 0;
}

TEST_F(isolation, partitions)
{
	EXPECT_EQ(0, as_user(self, AT_NOBODY, take_partition));
	EXPECT_EQ(0, as_user(self, AT_NOBODY - 1, take_partition));
}

/* Root's row is set: the child can neither see, join nor change it. */
static int touch_tree(FIXTURE_DATA(isolation) *self)
{
	struct angara_tree_verify check;
	struct angara_tree_row row;
	struct angara_tree_get get;
	struct at_ctx x;

	MUST(!at_ctx_open(&x, self->f.dev[0], NULL));
	row = row_of(x.pkey);
	MUST(at_tree_get(x.dom, TREE, &get) == -EPERM);
	MUST(!get.row.pe && !get.row.pkey && !get.state);
	MUST(at_tree_check(x.dom, TREE, &check) == -EPERM);
	MUST(at_join(x.fd, TREE) == -EPERM);
	MUST(at_tree_clear(x.dom, TREE) == -EPERM);
	MUST(at_tree_set(x.dom, &row, 0) == -EPERM);
	MUST(at_delegate(x.dom, TREE, x.pkey) == -EPERM);
	MUST(at_delegate(x.dom, TREE, 0) == -EPERM);
	/* The child may not use a tree that is not set either. */
	row.tree = TREE + 1;
	MUST(at_tree_set(x.dom, &row, 0) == -EPERM);
	row.pkey = self->near.pkey;
	MUST(at_tree_set(x.dom, &row, 0) == -EPERM);
	MUST(at_tree_clear(x.dom, TREE + 1) != 0);
	at_ctx_close(&x);
	return 0;
}

static int touch_tree_by_netlink(FIXTURE_DATA(isolation) *self)
{
	unsigned int dev = self->f.dev[0];
	struct at_nl_obj obj;

	MUST(at_nl_tree_cmd(ANGARA_CMD_TREE_CLEAR, dev, TREE) == -EPERM);
	MUST(at_nl_tree_cmd(ANGARA_CMD_TREE_SET, dev, TREE + 1) == -EPERM);
	MUST(at_nl_tree_cmd(ANGARA_CMD_TREE_DELEGATE, dev, TREE) == -EPERM);
	MUST(at_nl_tree(dev, TREE, &obj) == -EPERM);
	MUST(!obj.has[ANGARA_A_TREE_PKEY] && !obj.has[ANGARA_A_TREE_COUNTERS]);
	return 0;
}

TEST_F(isolation, trees)
{
	struct angara_tree_row row = row_of(self->near.pkey);
	struct angara_tree_get get;

	ASSERT_EQ(0, at_tree_set(self->fd, &row, 0));
	ASSERT_EQ(0, at_join(self->near.fd, TREE));
	EXPECT_EQ(0, as_user(self, AT_NOBODY, touch_tree));
	EXPECT_EQ(0, as_user(self, AT_NOBODY, touch_tree_by_netlink));
	EXPECT_EQ(0, at_tree_get(self->fd, TREE, &get));
	EXPECT_EQ(0, memcmp(&row, &get.row, sizeof(row)));
	EXPECT_EQ(ANGARA_TREE_STATE_UP, get.state);
	EXPECT_EQ(1, get.members);
	EXPECT_EQ(0, get.delegated);
	EXPECT_EQ(-ENOENT, at_tree_get(self->fd, TREE + 1, &get));
}

/* A delegated tree can be set for the user's own partition only. */
static int use_delegated(FIXTURE_DATA(isolation) *self)
{
	struct angara_tree_verify check;
	struct angara_tree_row row;
	struct angara_tree_get get;
	struct at_ctx x;

	MUST(!at_ctx_open(&x, self->f.dev[0], NULL));
	row = row_of(self->near.pkey);
	MUST(at_tree_set(x.dom, &row, 0) == -EPERM);
	row.pkey = x.pkey;
	MUST(!at_tree_get(x.dom, TREE, &get));
	MUST(get.delegated == x.pkey);
	MUST(at_delegate(x.dom, TREE, x.pkey) == -EPERM);
	MUST(!at_tree_set(x.dom, &row, ANGARA_TREE_OWNED));
	MUST(!at_tree_get(x.dom, TREE, &get));
	MUST(get.row.pkey == x.pkey);
	MUST(!at_tree_check(x.dom, TREE, &check) && !check.rule);
	MUST(!at_join(x.fd, TREE));
	MUST(!at_tree_clear(x.dom, TREE));
	MUST(!at_tree_set(x.dom, &row, ANGARA_TREE_OWNED));
	row.tree = TREE + 1;
	MUST(at_tree_set(x.dom, &row, 0) == -EPERM);
	at_ctx_close(&x);
	return 0;
}

/* Two jobs of one user share a partition and a delegated tree. */
static int keep_from_other_job(FIXTURE_DATA(isolation) *self)
{
	struct at_attr one = { .job = JOB }, two = { .job = JOB ^ 1 };
	struct angara_tree_row row;
	struct at_ctx a, b, c;

	MUST(!at_ctx_open(&a, self->f.dev[0], &one));
	MUST(!at_ctx_open(&b, self->f.dev[0], &two));
	MUST(!at_ctx_open(&c, self->f.dev[0], NULL));
	row = row_of(a.pkey);
	MUST(!at_tree_set(a.dom, &row, ANGARA_TREE_JOB));
	MUST(at_tree_clear(b.dom, TREE) == -EPERM);
	MUST(at_tree_clear(c.dom, TREE) == -EPERM);
	MUST(!at_tree_clear(a.dom, TREE));
	MUST(at_tree_clear(b.dom, TREE) == -ENOENT);
	/* Without ANGARA_TREE_JOB the row belongs to the partition. */
	MUST(!at_tree_set(a.dom, &row, 0));
	MUST(!at_tree_clear(b.dom, TREE));
	MUST(!at_tree_set(a.dom, &row, ANGARA_TREE_JOB));
	at_ctx_close(&a);
	at_ctx_close(&b);
	at_ctx_close(&c);
	return 0;
}

static int not_delegated(FIXTURE_DATA(isolation) *self)
{
	struct angara_tree_row row;
	struct angara_query q;
	int fd;

	fd = at_open(self->f.dev[0]);
	MUST(fd >= 0 && !at_query(fd, &q));
	row = row_of(q.pkey);
	MUST(at_tree_set(fd, &row, 0) == -EPERM);
	return 0;
}

static int tell_pkey(FIXTURE_DATA(isolation) *self)
{
	struct angara_query q;
	int fd = at_open(self->f.dev[0]);

	MUST(fd >= 0 && !at_query(fd, &q));
	*self->reported = q.pkey;
	return 0;
}

TEST_F(isolation, jobs)
{
	ASSERT_EQ(0, as_user(self, AT_NOBODY, tell_pkey));
	ASSERT_EQ(0, at_delegate(self->fd, TREE, *self->reported));
	EXPECT_EQ(0, as_user(self, AT_NOBODY, keep_from_other_job));
	/* An administrator may clear rows that a job has left. */
	EXPECT_EQ(0, at_tree_clear(self->fd, TREE));
}

TEST_F(isolation, delegation)
{
	struct angara_tree_get get;
	uint32_t pkey;

	ASSERT_EQ(0, as_user(self, AT_NOBODY, tell_pkey));
	pkey = *self->reported;
	EXPECT_NE(pkey, self->near.pkey);
	ASSERT_EQ(0, at_delegate(self->fd, TREE, pkey));
	EXPECT_EQ(0, as_user(self, AT_NOBODY - 1, not_delegated));
	EXPECT_EQ(0, as_user(self, AT_NOBODY, use_delegated));
	/* Closing the owner's file cleared the row; the delegation stays. */
	EXPECT_EQ(0, at_tree_get(self->fd, TREE, &get));
	EXPECT_EQ(ANGARA_TREE_STATE_UNSET, get.state);
	EXPECT_EQ(pkey, get.delegated);
	EXPECT_EQ(0, at_delegate(self->fd, TREE, 0));
	EXPECT_EQ(0, as_user(self, AT_NOBODY, not_delegated));
}

/* A user's row that conflicts with another one is not hidden from root. */
static int leave_a_row(FIXTURE_DATA(isolation) *self)
{
	struct angara_tree_row row;
	struct angara_query q;
	int fd;

	fd = at_open(self->f.dev[0]);
	MUST(fd >= 0 && !at_query(fd, &q));
	row = row_of(q.pkey);
	MUST(!at_tree_set(fd, &row, 0));
	close(fd);
	return 0;
}

TEST_F(isolation, root_rules)
{
	struct angara_tree_get get;
	uint32_t pkey;

	ASSERT_EQ(0, as_user(self, AT_NOBODY, tell_pkey));
	pkey = *self->reported;
	ASSERT_EQ(0, at_delegate(self->fd, TREE, pkey));
	EXPECT_EQ(0, as_user(self, AT_NOBODY, leave_a_row));
	EXPECT_EQ(0, at_tree_get(self->fd, TREE, &get));
	EXPECT_EQ(pkey, get.row.pkey);
	EXPECT_EQ(-EPERM, at_join(self->near.fd, TREE));
	EXPECT_EQ(0, at_tree_clear(self->fd, TREE));
}

/* Contexts of other users are visible, but not their operations. */
static int look_at_contexts(FIXTURE_DATA(isolation) *self)
{
	struct at_nl_obj obj;
	int ret;

	ret = at_nl_ctx(self->f.dev[0], self->near.c.ctx, &obj);
	MUST(ret == -EPERM || ret == -ENOENT);
	MUST(!obj.has[ANGARA_A_CTX_PID] && !obj.has[ANGARA_A_CTX_COUNTERS]);
	return 0;
}

TEST_F(isolation, context_details)
{
	EXPECT_EQ(0, as_user(self, AT_NOBODY, look_at_contexts));
}

/* Fills queues and indices with random data, and kicks, for a second. */
static int make_noise(FIXTURE_DATA(isolation) *self)
{
	unsigned long seed = at_seed();
	struct at_ctx x;
	uint64_t end;
	unsigned char *sq;
	size_t i;

	MUST(!at_ctx_open(&x, self->f.dev[0], NULL));
	sq = (void *)x.sq;
	*self->reported = 1;
	for (end = at_now_ms() + 1500; at_now_ms() < end;) {
		for (i = 0; i < x.c.sq_entries * sizeof(*x.sq); i++)
			sq[i] = at_rand(&seed, 256);
		/* Give half of the entries a valid operation code. */
		for (i = 0; i < x.c.sq_entries; i += 2) {
			x.sq[i].opcode = at_rand(&seed, ANGARA_OP_NUM);
			x.sq[i].flags &= ANGARA_WQE_FLAGS;
			x.sq[i].length = htole32(at_rand(&seed, 5000));
			x.sq[i].dst_node = htole32(at_rand(&seed, 9));
			x.sq[i].dst_ctx = htole16(at_rand(&seed, 17));
		}
		x.ctl->sq_pi = htole32(at_counter(&x, ANGARA_CTR_SQ_CI) +
				       at_rand(&seed, 2 * x.c.sq_entries));
		x.ctl->cq_ci = htole32(at_rand(&seed, 3) ?
				       at_rand(&seed, 1U << 30) : 0);
		x.ctl->seen = htole32(at_rand(&seed, 1U << 30));
		MUST(!at_kick(&x));
		MUST(!at_arm(&x));
	}
	return 0;
}

/* Other processes are not disturbed. */
TEST_F(isolation, noise)
{
	struct angara_wqe w = at_put(&self->far, 0, 1024, 0, 0, 1000);
	unsigned int n = 0;
	pid_t pid = fork();
	siginfo_t end = { 0 };

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(at_become(AT_NOBODY) || make_noise(self) ? 1 : 0);
	while (!*(volatile uint32_t *)self->reported)
		at_sleep_ms(1);
	do {
		at_fill(self->mem, 1000, n);
		ASSERT_EQ(ANGARA_ST_OK, at_do(&self->near, &w, NULL));
		ASSERT_TRUE(at_filled(self->mem + 1024, 1000, n++)) {
			kill(pid, SIGKILL);
		}
		ASSERT_EQ(0, waitid(P_PID, pid, &end,
				    WEXITED | WNOHANG | WNOWAIT));
	} while (!end.si_pid);
	EXPECT_EQ(0, at_wait_child(pid, AT_DEADLINE_MS));
	EXPECT_LT(50, n) {
		TH_LOG("only %u transfers meanwhile", n);
	}
	EXPECT_TRUE(at_all(self->mem + 2024, AT_PAGE - 2024, 0x42));
}

static int open_device(FIXTURE_DATA(isolation) *self)
{
	MUST(at_open(self->f.dev[0]) == -EACCES);
	return 0;
}

TEST_F(isolation, device_mode)
{
	char path[32];

	at_dev_path(self->f.dev[0], path);
	ASSERT_EQ(0, chmod(path, 0660));
	EXPECT_EQ(0, as_user(self, AT_NOBODY, open_device));
}

TEST_HARNESS_MAIN
