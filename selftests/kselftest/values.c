// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ioctl numbers that do not exist, and values of fields that are out of range.
 * Memory regions and trees have their own tests.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_DEVICE)

#define LAST_NR	10	/* ANGARA_IOCTL_MANAGE */

FIXTURE(values) {
	unsigned int dev;
	int fd;
	struct angara_query q;
	struct at_usage use;
};

FIXTURE_SETUP(values)
{
	self->fd = -ENOENT;
	while (self->dev < at_devices() && self->fd < 0)
		self->fd = at_open(self->dev++);
	self->dev--;
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, at_query(self->fd, &self->q));
	ASSERT_LE(0, at_domain_create(self->fd, 0));
	ASSERT_EQ(0, at_usage(&self->use));
}

FIXTURE_TEARDOWN(values)
{
	close(self->fd);
	EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
}

/* Makes a context. Return: its file, or -errno. */
static int create_area(int fd, unsigned int sq, unsigned int cq,
		       unsigned int msg)
{
	struct angara_ctx_create c = {
		.size = sizeof(c),
		.sq_entries = sq,
		.cq_entries = cq,
		.msg_bytes = msg,
	};
	int ret = at_ioctl(fd, ANGARA_IOCTL_CTX_CREATE, &c);

	return ret ? ret : c.fd;
}

static int create(int fd, unsigned int sq, unsigned int cq)
{
	return create_area(fd, sq, cq, 0);
}

TEST_F(values, unknown_numbers)
{
	union {
		uint32_t size;
		char raw[256];
	} arg = { .size = 64 };
	unsigned int nr, type;

	for (nr = LAST_NR + 1; nr < 256; nr++) {
		EXPECT_EQ(-ENOTTY, at_ioctl(self->fd, _IO(ANGARA_IOC_TYPE, nr),
					    &arg));
	}
	for (type = 0; type < 256; type++)
		if (type != ANGARA_IOC_TYPE) {
			EXPECT_EQ(-ENOTTY, at_ioctl(self->fd, _IO(type, 11),
						    &arg));
		}
	for (nr = 0; nr <= LAST_NR; nr++) {
		EXPECT_EQ(-ENOTTY, at_ioctl(self->fd,
					    _IOWR(ANGARA_IOC_TYPE, nr, arg), &arg));
		EXPECT_EQ(-ENOTTY, at_ioctl(self->fd,
					    _IOW(ANGARA_IOC_TYPE, nr, int), &arg));
	}
}

/* Fields that only the kernel writes may have any value. */
TEST_F(values, output_fields_are_ignored)
{
	struct angara_query q;

	memset(&q, 0xFF, sizeof(q));
	q.size = sizeof(q);
	q.flags = 0;
	EXPECT_EQ(0, at_ioctl(self->fd, ANGARA_IOCTL_QUERY, &q));
	EXPECT_EQ(0, memcmp(&q, &self->q, sizeof(q)));
}

TEST_F(values, query)
{
	const struct angara_query *q = &self->q;

	EXPECT_EQ(ANGARA_ABI_VERSION, q->abi);
	EXPECT_GE(ANGARA_MAX_PORTS, q->ports);
	EXPECT_LE(1, q->ports);
	EXPECT_GE(ANGARA_MAX_TREES, q->max_trees);
	EXPECT_LE(1, q->max_trees);
	EXPECT_LT(q->node, q->nodes);
	EXPECT_LE(1, q->max_contexts);
	EXPECT_LE(8, q->max_sq_entries);
	EXPECT_LE(8, q->max_cq_entries);
	EXPECT_LE(1, q->max_mrs);
	EXPECT_EQ(ANGARA_MAX_OP_BYTES, q->max_op_bytes);
	EXPECT_NE(0, q->pkey);
}

TEST_F(values, queue_lengths)
{
	const unsigned int bad[] = {
		0, 1, 4, 7, 9, 24, 100, 3 * 1024, 0x80000000U, 0xFFFFFFFFU,
		2 * self->q.max_sq_entries, 2 * self->q.max_cq_entries,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (bad[i] != self->q.max_cq_entries) {
			EXPECT_EQ(-EINVAL, create(self->fd, 8, bad[i])) {
				TH_LOG("CQ of %u entries", bad[i]);
			}
		}
		if (bad[i] == self->q.max_sq_entries ||
		    bad[i] == self->q.max_sq_entries / 2)
			continue;
		EXPECT_EQ(-EINVAL, create(self->fd, bad[i], 8)) {
			TH_LOG("SQ of %u entries", bad[i]);
		}
	}
	EXPECT_EQ(0, at_usage_wait(&self->use, 0));
	EXPECT_EQ(0, close(create(self->fd, self->q.max_sq_entries,
				  self->q.max_cq_entries)));
}

TEST_F(values, message_areas)
{
	const unsigned int bad[] = {
		1, 4096, ANGARA_MIN_MSG_BYTES / 2, ANGARA_MIN_MSG_BYTES + 1,
		3 * ANGARA_MIN_MSG_BYTES, 2 * self->q.max_msg_bytes,
		0x80000000U, 0xFFFFFFFFU,
	};
	unsigned int i;

	ASSERT_TRUE(self->q.caps & ANGARA_CAP_MSG);
	ASSERT_LE(ANGARA_MIN_MSG_BYTES, self->q.max_msg_bytes);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, create_area(self->fd, 8, 8, bad[i])) {
			TH_LOG("receive buffer of %u bytes", bad[i]);
		}
	}
	EXPECT_EQ(0, at_usage_wait(&self->use, 0));
	EXPECT_EQ(0, close(create_area(self->fd, self->q.max_sq_entries,
				       self->q.max_cq_entries,
				       self->q.max_msg_bytes)));
}

TEST_F(values, one_domain_per_file)
{
	EXPECT_EQ(-EBUSY, at_domain_create(self->fd, 0));
}

TEST_F(values, all_contexts)
{
	int fds[ANGARA_MAX_LOCAL * 64];
	unsigned int n = 0, max = self->q.max_contexts;
	int ret = 0;

	ASSERT_GE(ARRAY_SIZE(fds), max);
	for (; n < max; n++) {
		ret = create(self->fd, 8, 8);
		if (ret < 0)
			break;
		fds[n] = ret;
	}
	if (n == max) {
		EXPECT_EQ(-EBUSY, create(self->fd, 8, 8));
		close(fds[--n]);
		EXPECT_EQ(0, close(create(self->fd, 8, 8)));
	} else {
		/* Other processes hold some contexts already. */
		EXPECT_EQ(-EBUSY, ret);
		EXPECT_LT(0, self->use.contexts);
	}
	while (n--)
		close(fds[n]);
}

TEST_F(values, tree_numbers)
{
	static const unsigned int bad[] = { 16, 17, 255, 256, 0xFFFFFFFFU };
	struct angara_tree_verify check;
	struct angara_tree_get get;
	unsigned int i;
	int fd;

	fd = create(self->fd, 8, 8);
	ASSERT_LE(0, fd);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, at_tree_clear(self->fd, bad[i]));
		EXPECT_EQ(-EINVAL, at_delegate(self->fd, bad[i], 1));
		EXPECT_EQ(-EINVAL, at_tree_check(self->fd, bad[i], &check));
		EXPECT_EQ(-EINVAL, at_join(fd, bad[i]));
		EXPECT_EQ(-EINVAL, at_leave(fd, bad[i]));
		if (bad[i] < 256) {
			EXPECT_EQ(-EINVAL, at_tree_get(self->fd, bad[i], &get));
		}
	}
	close(fd);
}

static int use_eventfd(int fd, int efd)
{
	struct angara_eventfd e = { .size = sizeof(e), .fd = efd };

	return at_ioctl(fd, ANGARA_IOCTL_EVENTFD, &e);
}

TEST_F(values, eventfd)
{
	int fd = create(self->fd, 8, 8);
	int efd, file;

	ASSERT_LE(0, fd);
	efd = eventfd(0, EFD_CLOEXEC);
	file = open("/dev/null", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, efd);
	ASSERT_LE(0, file);
	EXPECT_EQ(0, use_eventfd(fd, efd));
	EXPECT_EQ(-EINVAL, use_eventfd(fd, file));
	EXPECT_EQ(-EINVAL, use_eventfd(fd, fd));
	close(file);
	EXPECT_EQ(-EBADF, use_eventfd(fd, file));
	EXPECT_EQ(-EBADF, use_eventfd(fd, 1 << 20));
	EXPECT_EQ(0, use_eventfd(fd, -1));
	EXPECT_EQ(0, use_eventfd(fd, -1));
	close(efd);
	close(fd);
}

TEST_F(values, kick_needs_a_flag)
{
	struct angara_kick k = { .size = sizeof(k) };
	int fd = create(self->fd, 8, 8);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EINVAL, at_ioctl(fd, ANGARA_IOCTL_KICK, &k));
	close(fd);
}

TEST_HARNESS_MAIN
