// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receivers of events: only administrators receive events of trees and
 * contexts, and process and user ids are those of the namespaces of the reader.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS | AT_LOOP)

#define EVENTS	"events"	/* the two multicast groups */
#define ADMIN	"admin"
#define TREE	11
#define INSIDE	7	/* user id of AT_NOBODY in a namespace */

/* Events are numbered from 1 by the device, from 64 by the driver. */
#define BIT(event)	(1LL << ((event) < 64 ? (event) : (event) - 32))

FIXTURE(listen) {
	struct at_fabric f;
	unsigned int dev;
	int fd;
};

FIXTURE_SETUP(listen)
{
	ASSERT_EQ(0, at_fabric_find(&self->f, 8));
	self->dev = self->f.dev[0];
	self->fd = at_open(self->dev);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(listen)
{
	at_tree_clear(self->fd, TREE);
	close(self->fd);
}

static int listen_as(unsigned int uid, const char *group)
{
	int fd = seteuid(uid) ? -errno : at_nl_listen(group);

	return seteuid(0) ? -errno : fd;
}

/* Causes all events of trees and contexts; adds and removes a device. */
static int make_noise(FIXTURE_DATA(listen) *self)
{
	const struct angara_tree_row row = {
		.tree = TREE,
		.is_root = 1,
		.to_root = ANGARA_PORT_NONE,
		.pe = 1,
		.pkey = ANGARA_PKEY_UID(0),
	};
	struct at_loop loop;
	struct at_ctx x;
	int ret;

	ret = at_ctx_open(&x, self->dev, NULL);
	if (ret)
		return ret;
	ret = at_tree_set(self->fd, &row, 0);
	if (!ret)
		ret = at_join(x.fd, TREE);
	if (!ret)
		ret = at_leave(x.fd, TREE);
	at_ctx_close(&x);
	if (!ret)
		ret = at_tree_clear(self->fd, TREE);
	at_sleep_ms(200); /* the device's events go through a worker */
	if (!ret)
		ret = at_loop_add("1", &loop);
	return ret ? ret : at_loop_remove(&loop);
}

/*
 * Receives events until the device is removed.  Return: the set of events, or
 * -errno.
 */
static long long heard(int fd)
{
	unsigned long long set = 0, event;
	struct at_nl_obj obj;
	int ret;

	do {
		ret = at_nl_hear(fd, &obj);
		if (ret)
			return ret;
		event = obj.val[ANGARA_A_EVENT_TYPE];
		set |= BIT(event);
	} while (event != ANGARA_NLE_DEV_DEL);
	return set;
}

#define OF_DEVICES	(BIT(ANGARA_NLE_DEV_NEW) | BIT(ANGARA_NLE_DEV_DEL))
#define OF_TREES	(BIT(ANGARA_AEV_TREE_SET) | BIT(ANGARA_AEV_TREE_DOWN) | \
			 BIT(ANGARA_AEV_TREE_CLEAR))

TEST_F(listen, trees_are_told_to_administrators)
{
	int everybody = listen_as(AT_NOBODY, EVENTS);
	int admin = listen_as(0, ADMIN);

	EXPECT_EQ(-EPERM, listen_as(AT_NOBODY, ADMIN));
	ASSERT_LE(0, everybody);
	EXPECT_LE(0, admin);
	ASSERT_EQ(0, make_noise(self));
	EXPECT_EQ(OF_DEVICES, heard(everybody));
	EXPECT_EQ(OF_DEVICES | OF_TREES, heard(admin));
	close(everybody);
	close(admin);
}

/*
 * Runs @child in namespaces of its own, where it checks what it sees.  It exits
 * with 0 if that is right.
 */
static int run_child(int (*child)(FIXTURE_DATA(listen) *self, unsigned int ctx),
		     FIXTURE_DATA(listen) *self, unsigned int ctx)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(child(self, ctx));
	return at_wait_child(pid, AT_DEADLINE_MS);
}

/* Process 1 of a namespace reads its own context and an outer one. */
static int look_from_pid_ns(FIXTURE_DATA(listen) *self, unsigned int outside)
{
	struct at_nl_obj obj;
	struct at_ctx x;

	if (getpid() != 1 || at_ctx_open(&x, self->dev, NULL) ||
	    at_nl_ctx(self->dev, x.c.ctx, &obj))
		return 10;
	if (!obj.has[ANGARA_A_CTX_PID] || obj.val[ANGARA_A_CTX_PID] != 1)
		return 11;
	if (at_nl_ctx(self->dev, outside, &obj))
		return 12;
	return obj.has[ANGARA_A_CTX_PID] ? 13 : 0;
}

static int enter_pid_ns(FIXTURE_DATA(listen) *self, unsigned int ctx)
{
	return unshare(CLONE_NEWPID) ? 1 : run_child(look_from_pid_ns, self, ctx);
}

TEST_F(listen, process_ids_are_the_readers)
{
	struct at_nl_obj obj;
	struct at_ctx x;

	ASSERT_EQ(0, at_ctx_open(&x, self->dev, NULL));
	EXPECT_EQ(0, run_child(enter_pid_ns, self, x.c.ctx));
	ASSERT_EQ(0, at_nl_ctx(self->dev, x.c.ctx, &obj));
	EXPECT_EQ(1, obj.has[ANGARA_A_CTX_PID]);
	EXPECT_EQ(getpid(), obj.val[ANGARA_A_CTX_PID]);
	at_ctx_close(&x);
}

static int look_from_user_ns(FIXTURE_DATA(listen) *self, unsigned int ctx)
{
	struct at_nl_obj obj;
	char map[32];

	if (at_become(AT_NOBODY) || unshare(CLONE_NEWUSER) ||
	    prctl(PR_SET_DUMPABLE, 1))
		return 20;
	snprintf(map, sizeof(map), "%u %u 1\n", INSIDE, AT_NOBODY);
	if (at_write_file("/proc/self/uid_map", map) < 0)
		return 21;
	if (at_nl_ctx(self->dev, ctx, &obj))
		return 22;
	return obj.val[ANGARA_A_CTX_UID] == INSIDE ? 0 : 23;
}

TEST_F(listen, user_ids_are_the_readers)
{
	struct stat st;
	struct at_ctx x;
	char path[32];
	int ret;

	at_dev_path(self->dev, path);
	ASSERT_EQ(0, stat(path, &st));
	ASSERT_EQ(0, chmod(path, 0666));
	ASSERT_EQ(0, seteuid(AT_NOBODY));
	ret = at_ctx_open(&x, self->dev, NULL);
	ASSERT_EQ(0, seteuid(0));
	chmod(path, st.st_mode & 07777);
	ASSERT_EQ(0, ret);
	EXPECT_EQ(0, run_child(look_from_user_ns, self, x.c.ctx));
	at_ctx_close(&x);
}

TEST_HARNESS_MAIN
