// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unprivileged users that read over netlink in a loop: the number of admin
 * commands that they cause, and the age of their data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define TREE	12
#define READERS	4
#define AGE_MS	100	/* time for which a result is cached */
#define PKEY	ANGARA_PKEY_UID(AT_NOBODY)

FIXTURE(flood) {
	struct at_fabric f;
	unsigned int dev;
	unsigned int links;
	mode_t mode;
	int fd;
	struct at_ctx x;	/* context of AT_NOBODY, in the partition of the row */
};

static int as_nobody(int (*fn)(unsigned int dev, unsigned int index,
			       struct at_nl_obj *obj),
		     unsigned int dev, unsigned int index, struct at_nl_obj *obj)
{
	int ret = seteuid(AT_NOBODY) ? -errno : fn(dev, index, obj);

	return seteuid(0) ? -errno : ret;
}

static void count_link(void *arg, const struct at_nl_obj *obj)
{
	FIXTURE_DATA(flood) *self = arg;

	self->links += obj->val[AT_NL_DEV] == self->dev;
}

FIXTURE_SETUP(flood)
{
	struct angara_tree_row row = {
		.tree = TREE,
		.is_root = 1,
		.to_root = ANGARA_PORT_NONE,
		.pe = 1,
		.pkey = PKEY,
	};
	struct stat st;
	char path[32];
	int ret;

	ASSERT_EQ(0, at_fabric_find(&self->f, 8));
	self->dev = self->f.dev[0];
	at_dev_path(self->dev, path);
	ASSERT_EQ(0, stat(path, &st));
	self->mode = st.st_mode & 07777;
	ASSERT_EQ(0, chmod(path, 0666));
	ASSERT_EQ(0, seteuid(AT_NOBODY));
	ret = at_ctx_open(&self->x, self->dev, NULL);
	ASSERT_EQ(0, seteuid(0));
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, at_nl_dump(ANGARA_CMD_PORT_GET, count_link, self));
	self->fd = at_open(self->dev);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, at_tree_set(self->fd, &row, 0));
}

FIXTURE_TEARDOWN(flood)
{
	char path[32];

	at_tree_clear(self->fd, TREE);
	close(self->fd);
	at_ctx_close(&self->x);
	at_dev_path(self->dev, path);
	chmod(path, self->mode);
}

/* Number of admin commands of the device so far, or -errno. */
static long commands(FIXTURE_DATA(flood) *self)
{
	char path[64];
	long n;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/angara/angara%u/commands",
		 self->dev);
	f = fopen(path, "r");
	if (!f)
		return -errno;
	if (fscanf(f, "%ld", &n) != 1)
		n = -EIO;
	fclose(f);
	return n;
}

/* Reads all objects of the device, @rounds times. */
static int read_all(FIXTURE_DATA(flood) *self, unsigned int rounds)
{
	static const unsigned int cmds[] = {
		ANGARA_CMD_DEV_GET, ANGARA_CMD_PORT_GET,
		ANGARA_CMD_TREE_GET, ANGARA_CMD_CTX_GET,
	};
	const struct at_nl_attr dev = { AT_NL_DEV, 4, self->dev };
	unsigned int i;
	int ret;

	for (; rounds; rounds--)
		for (i = 0; i < 4; i++) {
			ret = at_nl_ask(cmds[i], true, &dev, 1);
			if (ret)
				return 1;
		}
	return 0;
}

/*
 * Lets each reader read all objects @rounds times. Return: duration in ms, or
 * -errno.
 */
static long flood(FIXTURE_DATA(flood) *self, unsigned int rounds)
{
	uint64_t start = at_now_ms();
	pid_t pid[READERS];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < READERS; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			return -errno;
		if (!pid[i])
			_exit(at_become(AT_NOBODY) ? 2 : read_all(self, rounds));
	}
	for (i = 0; i < READERS; i++)
		if (at_wait_child(pid[i], AT_DEADLINE_MS))
			ret = -ECHILD;
	return ret ? ret : (long)(at_now_ms() - start);
}

/*
 * However many readers there are, the device gets one command per object, in
 * each period for which results are cached.
 */
TEST_F(flood, commands_are_bounded)
{
	/*
	 * Objects that are read: a node, its links, a row and its counters, a
	 * context.
	 */
	long objects = 1 + self->links + 2 + 1;
	unsigned int rounds = 50;
	long before, ms, cost, bound;

	ASSERT_LT(0, self->links);
	for (;; rounds *= 2) {
		before = commands(self);
		if (before == -ENOENT)
			SKIP(return, "no debugfs: commands are not counted");
		ASSERT_LE(0, before);
		ms = flood(self, rounds);
		ASSERT_LE(0, ms);
		cost = commands(self) - before;
		bound = (ms / AGE_MS + 2) * objects;
		TH_LOG("%ld readings in %ld ms: %ld commands, at most %ld",
		       READERS * rounds * objects, ms, cost, bound);
		EXPECT_GE(bound, cost);
		/* Stop if the bound is well below the number of requests. */
		if (2 * bound < READERS * rounds * objects)
			break;
		/* Continue only if twice as many rounds would end in time. */
		if (rounds > 1000 || ms > AT_DEADLINE_MS / 3)
			SKIP(return, "the machine is too slow to flood");
	}
}

static void put_self(struct __test_metadata *_metadata, struct at_ctx *x,
		     const void *mem)
{
	int key = at_mr(x, mem, AT_PAGE, ANGARA_ACCESS_ALL);
	struct angara_wqe w;

	ASSERT_LE(0, key);
	w = at_put(x, key, 64, key, 0, 64);
	ASSERT_EQ(ANGARA_ST_OK, at_do(x, &w, NULL));
	ASSERT_EQ(0, at_mr_dereg(x, key));
}

/* Cached data expires soon; an administrator always reads from the device. */
TEST_F(flood, counters_are_not_old)
{
	unsigned int ctx = self->x.c.ctx;
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	struct at_nl_obj obj;
	void *mem = at_pages(AT_PAGE);
	uint64_t was;

	ASSERT_NE(NULL, mem);
	ASSERT_EQ(0, as_nobody(at_nl_ctx, self->dev, ctx, &obj));
	ASSERT_EQ(1, obj.has[ANGARA_A_CTX_COUNTERS]);
	was = obj.cnt[ANGARA_A_CTX_COUNTER_WQES];
	put_self(_metadata, &self->x, mem);
	ASSERT_EQ(0, at_nl_ctx(self->dev, ctx, &obj));
	EXPECT_EQ(was + 1, obj.cnt[ANGARA_A_CTX_COUNTER_WQES]);
	do {
		ASSERT_EQ(0, as_nobody(at_nl_ctx, self->dev, ctx, &obj));
		at_sleep_ms(10);
	} while (obj.cnt[ANGARA_A_CTX_COUNTER_WQES] == was && at_now_ms() < end);
	EXPECT_EQ(was + 1, obj.cnt[ANGARA_A_CTX_COUNTER_WQES]);
}

/* The counters of a new context start at 0, for every reader. */
TEST_F(flood, counters_begin_with_the_context)
{
	unsigned int ctx = self->x.c.ctx;
	void *mem = at_pages(AT_PAGE);
	struct at_nl_obj obj;

	ASSERT_NE(NULL, mem);
	put_self(_metadata, &self->x, mem);
	ASSERT_EQ(0, as_nobody(at_nl_ctx, self->dev, ctx, &obj));
	at_ctx_close(&self->x);
	ASSERT_EQ(0, seteuid(AT_NOBODY));
	EXPECT_EQ(0, at_ctx_open(&self->x, self->dev, NULL));
	ASSERT_EQ(0, seteuid(0));
	ASSERT_EQ(ctx, self->x.c.ctx);
	ASSERT_EQ(0, as_nobody(at_nl_ctx, self->dev, ctx, &obj));
	ASSERT_EQ(1, obj.has[ANGARA_A_CTX_COUNTERS]);
	EXPECT_EQ(0, obj.cnt[ANGARA_A_CTX_COUNTER_WQES]);
}

/*
 * Readers see at once that a row is set or cleared, and soon that it is down.
 */
TEST_F(flood, rows_are_not_old)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	struct at_nl_obj obj;

	ASSERT_EQ(0, as_nobody(at_nl_tree, self->dev, TREE, &obj));
	EXPECT_EQ(ANGARA_TREE_STATE_UP, obj.val[ANGARA_A_TREE_STATE]);
	ASSERT_EQ(0, at_join(self->x.fd, TREE));
	ASSERT_EQ(0, at_leave(self->x.fd, TREE));
	do {
		ASSERT_EQ(0, as_nobody(at_nl_tree, self->dev, TREE, &obj));
	} while (obj.val[ANGARA_A_TREE_STATE] != ANGARA_TREE_STATE_DOWN &&
		 at_now_ms() < end);
	EXPECT_EQ(ANGARA_TREE_STATE_DOWN, obj.val[ANGARA_A_TREE_STATE]);
	EXPECT_EQ(0, at_tree_clear(self->fd, TREE));
	EXPECT_EQ(-ENOENT, as_nobody(at_nl_tree, self->dev, TREE, &obj));
}

TEST_HARNESS_MAIN
