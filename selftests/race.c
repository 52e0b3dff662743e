// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many threads on few files, each doing anything at any time: whatever they
 * get for an answer, the device works on, and nothing stays behind.
 */
#include <endian.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define THREADS	6
#define FILES	3
#define TREE	13
#define MEM	(1U << 18)

FIXTURE(race) {
	struct at_fabric f;
	struct at_usage use;
	long charged;
	unsigned long seed;
	int fd[FILES];
	uint32_t pkey;
	char *mem;
	volatile uint64_t sq_offset;	/* alike for all contexts */
	volatile uint64_t ctl_offset;
	volatile bool stop;
};

FIXTURE_SETUP(race)
{
	struct angara_query q;
	unsigned int i;

	ASSERT_EQ(0, at_fabric_find(&self->f, 8));
	ASSERT_EQ(0, at_usage(&self->use));
	self->charged = at_charged();
	self->seed = at_seed();
	TH_LOG("ANGARA_TEST_SEED=%lu", self->seed);
	self->mem = at_pages(MEM);
	for (i = 0; i < FILES; i++)
		self->fd[i] = at_open(self->f.dev[0]);
	ASSERT_EQ(0, at_query(self->fd[0], &q));
	self->pkey = q.pkey;
}

FIXTURE_TEARDOWN(race)
{
	unsigned int i;

	for (i = 0; i < FILES; i++)
		close(self->fd[i]);
	EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
	EXPECT_EQ(self->charged, at_charged());
}

struct worker {
	FIXTURE_DATA(race) *self;
	unsigned long seed;
	unsigned int bad;	/* answers that no call may give */
	unsigned long calls;
};

static int make_ctx(struct worker *w, int fd)
{
	struct angara_ctx_create c = {
		.size = sizeof(c),
		.sq_entries = 8U << at_rand(&w->seed, 3),
		.cq_entries = 8U << at_rand(&w->seed, 3),
	};

	int ret = at_ioctl(fd, ANGARA_IOCTL_CTX_CREATE, &c);

	if (!ret) {
		w->self->sq_offset = c.sq_offset;
		w->self->ctl_offset = c.ctl_offset;
	}
	return ret;
}

static int reg(struct worker *w, int fd)
{
	struct angara_mr_reg r = {
		.size = sizeof(r),
		.flags = at_rand(&w->seed, 2) ? ANGARA_MR_KEY : 0,
		.addr = (uintptr_t)w->self->mem + at_rand(&w->seed, MEM / 2),
		.length = 1 + at_rand(&w->seed, MEM / 2),
		.access = at_rand(&w->seed, 8),
		.key = at_rand(&w->seed, 4),
	};

	return at_ioctl(fd, ANGARA_IOCTL_MR_REG, &r);
}

static int dereg(struct worker *w, int fd)
{
	struct angara_mr_dereg d = {
		.size = sizeof(d), .key = at_rand(&w->seed, 4),
	};

	return at_ioctl(fd, ANGARA_IOCTL_MR_DEREG, &d);
}

static int row(struct worker *w, int fd)
{
	struct angara_tree_row r = {
		.tree = TREE, .is_root = 1, .to_root = ANGARA_DIR_NONE,
		.pe = 1 + at_rand(&w->seed, 3), .pkey = w->self->pkey,
	};

	if (at_rand(&w->seed, 3))
		return at_tree_clear(fd, TREE);
	return at_tree_set(fd, &r, at_rand(&w->seed, 2));
}

static int membership(struct worker *w, int fd)
{
	return at_rand(&w->seed, 2) ? at_join(fd, TREE) : at_leave(fd, TREE);
}

static int ring(struct worker *w, int fd)
{
	struct angara_kick k = {
		.size = sizeof(k), .flags = 1 + at_rand(&w->seed, 3),
	};
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (at_rand(&w->seed, 4))
		return at_ioctl(fd, ANGARA_IOCTL_KICK, &k);
	return poll(&p, 1, 0) < 0 ? -errno : 0;
}

static int signal_fd(struct worker *w, int fd)
{
	struct angara_eventfd e = { .size = sizeof(e), .fd = -1 };
	int ret;

	if (at_rand(&w->seed, 2))
		e.fd = eventfd(0, EFD_CLOEXEC);
	ret = at_ioctl(fd, ANGARA_IOCTL_EVENTFD, &e);
	if (e.fd >= 0)
		close(e.fd);
	return ret;
}

/* Writes an entry into the queue, whatever it may hold, and rings. */
static int operate(struct worker *w, int fd)
{
	struct angara_ctl *ctl;
	struct angara_wqe *sq;

	sq = mmap(NULL, AT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  w->self->sq_offset);
	if (sq == MAP_FAILED)
		return 0;
	sq[0] = (struct angara_wqe) {
		.opcode = at_rand(&w->seed, ANGARA_OP_NUM),
		.tree = TREE,
		.dst_ctx = htole16(at_rand(&w->seed, 4)),
		.length = htole32(at_rand(&w->seed, 3000) & ~3U),
		.src_key = htole32(at_rand(&w->seed, 4)),
		.dst_key = htole32(at_rand(&w->seed, 4)),
	};
	memcpy(&sq[1], &sq[0], sizeof(sq[0]));
	ctl = mmap(NULL, AT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   w->self->ctl_offset);
	if (ctl != MAP_FAILED) {
		ctl->sq_pi = htole32(le32toh(ctl->sq_pi) + 1);
		ctl->cq_ci = ctl->sq_pi;
		munmap(ctl, AT_PAGE);
	}
	munmap(sq, AT_PAGE);
	return ring(w, fd);
}

static int look(struct worker *w, int fd)
{
	struct angara_tree_check check;
	struct angara_tree_get get;
	struct at_usage use;

	switch (at_rand(&w->seed, 3)) {
	case 0:
		return at_tree_get(fd, TREE, &get);
	case 1:
		return at_tree_check(fd, TREE, &check);
	default:
		return at_usage(&use);
	}
}

/* A new file in the place of an old one, which others may be using. */
static int reopen(struct worker *w, int fd)
{
	int fresh;

	if (at_rand(&w->seed, 8))
		return 0;
	fresh = at_open(w->self->f.dev[0]);
	if (fresh < 0)
		return fresh;
	dup2(fresh, fd);
	close(fresh);
	return 0;
}

static int (*const deeds[])(struct worker *w, int fd) = {
	make_ctx, reg, reg, dereg, dereg, row, membership, membership, ring,
	signal_fd, operate, operate, look, reopen,
};

static bool expected(int ret)
{
	switch (ret) {
	case 0: case -EBUSY: case -ENXIO: case -EEXIST: case -ENOENT:
	case -EALREADY: case -ENOTCONN: case -ENOSPC: case -ENETDOWN:
	case -EBADF: case -EINTR:
		return true;
	default:
		return false;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int ret;

	while (!w->self->stop) {
		ret = deeds[at_rand(&w->seed, ARRAY_SIZE(deeds))](w,
			w->self->fd[at_rand(&w->seed, FILES)]);
		w->calls++;
		if (!expected(ret)) {
			fprintf(stderr, "# unexpected answer %d\n", ret);
			w->bad++;
		}
	}
	return NULL;
}

TEST_F_TIMEOUT(race, anything_at_any_time, 90)
{
	struct worker w[THREADS];
	pthread_t t[THREADS];
	struct at_ctx x, y;
	struct angara_wqe put;
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		w[i] = (struct worker) {
			.self = self, .seed = self->seed * 31 + i + 1,
		};
		ASSERT_EQ(0, pthread_create(&t[i], NULL, work, &w[i]));
	}
	at_sleep_ms(at_scale(4000));
	self->stop = true;
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(t[i], NULL));
		EXPECT_EQ(0, w[i].bad);
		EXPECT_LT(10, w[i].calls);
	}
	at_tree_clear(self->fd[0], TREE);
	/* And the device is as good as before. */
	ASSERT_EQ(0, at_ctx_open(&x, self->f.dev[0], NULL));
	ASSERT_EQ(0, at_ctx_open(&y, self->f.dev[7], NULL));
	ASSERT_EQ(0, at_mr(&x, self->mem, MEM, ANGARA_ACCESS_ALL));
	ASSERT_EQ(0, at_mr(&y, self->mem, MEM, ANGARA_ACCESS_ALL));
	at_fill(self->mem, 10000, 1);
	put = at_put(&y, 0, 20000, 0, 0, 10000);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&x, &put, NULL));
	EXPECT_TRUE(at_filled(self->mem + 20000, 10000, 1));
	at_ctx_close(&x);
	at_ctx_close(&y);
}

TEST_HARNESS_MAIN
