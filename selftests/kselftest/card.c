// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adapters on PCI Express: doorbells that processes ring by a store; resets,
 * unbinding and removal under traffic.
 */
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "cards.h"
#include "fail.h"

AT_REQUIRE(AT_ROOT | AT_CARD)

#define ALL	ANGARA_ACCESS_ALL
#define USERS	4
#define BIND	"/sys/bus/pci/drivers/angara/bind"

/**
 * struct shared - state that the users of cards share with the test
 * @stop: ends the users
 * @rounds: transfers of each user
 * @errors: errors of each user that report a missing device
 */
struct shared {
	int stop;
	unsigned int rounds[USERS];
	unsigned int errors[USERS];
};

FIXTURE(card) {
	struct at_fabric f;
	char bdf[2][AT_BDF];
	struct shared *sh;
	pid_t pid[USERS];
};

FIXTURE_SETUP(card)
{
	ASSERT_EQ(0, at_fabric_find(&self->f, 2));
	ASSERT_EQ(0, at_card_bdf(self->f.dev[0], self->bdf[0]));
	ASSERT_EQ(0, at_card_bdf(self->f.dev[1], self->bdf[1]));
	self->sh = mmap(NULL, AT_PAGE, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->sh);
}

FIXTURE_TEARDOWN(card)
{
	unsigned int i;

	for (i = 0; i < USERS; i++)
		if (self->pid[i] > 0)
			kill(self->pid[i], SIGKILL);
	munmap(self->sh, AT_PAGE);
}

TEST_F(card, doorbell)
{
	char *mem = at_pages(AT_PAIR_LEN);
	struct at_ctx x[2];
	unsigned int i;

	ASSERT_EQ(0, at_pair_open(&self->f, x, mem));
	ASSERT_NE(NULL, x[0].db);
	for (i = 0; i < 3 * x[0].c.sq_entries; i++)
		ASSERT_EQ(ANGARA_ST_OK, at_pair_move(x, mem, i));
	/* The kick ioctl has the same effect as the doorbell. */
	for (i = 0; i < 4; i++) {
		struct angara_wqe put = at_put(&x[1], 0, AT_PAIR_HALF, 0, 0, AT_PAIR_HALF);

		ASSERT_EQ(ANGARA_ST_OK, at_do(&x[0], &put, NULL));
		ASSERT_EQ(ANGARA_ST_OK, at_pair_move(x, mem, i));
	}
	/* Invalid stores ring no doorbell. */
	for (i = 0; i < AT_PAGE / 4; i++)
		x[0].db[i] = 0xDEADBEEF;
	EXPECT_EQ(ANGARA_ST_OK, at_pair_move(x, mem, 77));
	/* The page stays a doorbell when its protection changes. */
	ASSERT_EQ(0, mprotect((void *)x[0].db, AT_PAGE, PROT_READ));
	EXPECT_EQ(~0U, x[0].db[1]);
	ASSERT_EQ(0, mprotect((void *)x[0].db, AT_PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(ANGARA_ST_OK, at_pair_move(x, mem, 78));
	at_pair_close(x);
}

/* A process can map exactly the context's own doorbell page. */
TEST_F(card, doorbell_mappings)
{
	char *mem = at_pages(AT_PAIR_LEN);
	struct at_ctx x[2];
	pid_t pid;
	int fd;

	ASSERT_EQ(0, at_pair_open(&self->f, x, mem));
	EXPECT_EQ(0, at_card_map(x, AT_PAGE, MAP_SHARED, 0));
	EXPECT_EQ(-EINVAL, at_card_map(x, 2 * AT_PAGE, MAP_SHARED, 0));
	EXPECT_EQ(-EINVAL, at_card_map(x, AT_PAGE, MAP_PRIVATE, 0));
	EXPECT_EQ(-EINVAL, at_card_map(x, AT_PAGE, MAP_SHARED, AT_PAGE));
	EXPECT_EQ(-EINVAL, at_card_map(x, AT_PAGE, MAP_SHARED, (uint64_t)1 << 28));
	fd = x[0].fd;
	x[0].fd = x[0].dom;
	EXPECT_EQ(-EINVAL, at_card_map(x, AT_PAGE, MAP_SHARED, 0));
	x[0].fd = fd;
	EXPECT_EQ(MAP_FAILED, mremap((void *)x[0].db, AT_PAGE, 2 * AT_PAGE,
				     MREMAP_MAYMOVE));
	/*
	 * The page cannot be registered as memory, and a child does not get it.
	 */
	EXPECT_EQ(-EFAULT, at_mr(&x[0], (void *)x[0].db, AT_PAGE, ALL));
	pid = fork();
	if (!pid) {
		at_card_ring(&x[0]);
		_exit(0);
	}
	EXPECT_EQ(-SIGSEGV, at_wait_child(pid, AT_DEADLINE_MS));
	EXPECT_EQ(ANGARA_ST_OK, at_pair_move(x, mem, 1));
	at_pair_close(x);
}

/* Opens the same device by another file name. */
static int open_twin(unsigned int dev)
{
	static const char twin[] = "/dev/angara-twin";
	struct stat st;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/angara%u", dev);
	if (stat(path, &st) || mknod(twin, S_IFCHR | 0600, st.st_rdev))
		return -1;
	fd = open(twin, O_RDWR | O_CLOEXEC);
	unlink(twin);
	return fd;
}

/* A reset takes the doorbells from all files, whatever their name. */
TEST_F(card, reset_takes_doorbells)
{
	struct at_ctx x[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		int fd = i % 2 ? open_twin(self->f.dev[0]) :
				 at_open(self->f.dev[0]);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, at_ctx_create(&x[i], fd, NULL));
		at_card_ring(&x[i]);
		/* The card returns all ones for a read in the doorbell page. */
		EXPECT_EQ(~0U, x[i].db[1]);
	}
	ASSERT_EQ(0, at_card_reset(self->bdf[0]));
	for (i = 0; i < 4; i++) {
		x[i].db[1] = i;
		EXPECT_EQ(i, x[i].db[1]);
		at_ctx_close(&x[i]);
	}
}

/* Errors that report the removal of a device. */
static bool is_told(int ret)
{
	return ret == -ENODEV || ret == -ESTALE || ret == -EIO ||
	       ret == -EBUSY || ret == -ENOENT || ret == -ENXIO || ret > 0;
}

static int use(const struct at_fabric *f, struct shared *sh, unsigned int n)
{
	char *mem = at_pages(AT_PAIR_LEN);
	struct at_ctx x[2];
	unsigned int seed = n;
	int ret = 0;

	while (!__atomic_load_n(&sh->stop, __ATOMIC_RELAXED)) {
		ret = at_pair_open(f, x, mem);
		while (!ret && !__atomic_load_n(&sh->stop, __ATOMIC_RELAXED)) {
			ret = at_pair_move(x, mem, seed++);
			if (!ret)
				__atomic_add_fetch(&sh->rounds[n], 1,
						   __ATOMIC_RELAXED);
		}
		at_pair_close(x);
		if (ret && !is_told(ret)) {
			fprintf(stderr, "# user %u: %d\n", n, ret);
			return 1;
		}
		if (ret)
			__atomic_add_fetch(&sh->errors[n], 1, __ATOMIC_RELAXED);
		at_sleep_ms(ret ? 10 : 0);
	}
	return 0;
}

static void users_start(struct __test_metadata *_metadata,
			FIXTURE_DATA(card) *self)
{
	unsigned int i;

	for (i = 0; i < USERS; i++) {
		self->pid[i] = fork();
		ASSERT_LE(0, self->pid[i]);
		if (!self->pid[i])
			_exit(use(&self->f, self->sh, i));
	}
}

/* Waits until each user has completed another transfer. */
static bool users_go_on(FIXTURE_DATA(card) *self)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	unsigned int before[USERS];
	unsigned int i;

	memcpy(before, self->sh->rounds, sizeof(before));
	for (i = 0; i < USERS; i++)
		while (__atomic_load_n(&self->sh->rounds[i], __ATOMIC_RELAXED) <
		       before[i] + 2) {
			if (at_now_ms() > end)
				return false;
			at_sleep_ms(5);
		}
	return true;
}

static void users_end(struct __test_metadata *_metadata,
		      FIXTURE_DATA(card) *self)
{
	unsigned int i;

	__atomic_store_n(&self->sh->stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < USERS; i++) {
		EXPECT_EQ(0, at_wait_child(self->pid[i], AT_DEADLINE_MS));
		self->pid[i] = 0;
		EXPECT_LT(0, self->sh->errors[i]);
	}
}

TEST_F(card, reset_under_traffic)
{
	unsigned int i;

	users_start(_metadata, self);
	for (i = 0; i < at_scale(6); i++) {
		ASSERT_TRUE(users_go_on(self));
		ASSERT_EQ(0, at_card_reset(self->bdf[i % 2]));
	}
	EXPECT_TRUE(users_go_on(self));
	users_end(_metadata, self);
}

TEST_F(card, unbind_under_traffic)
{
	unsigned int i;

	users_start(_metadata, self);
	for (i = 0; i < at_scale(4); i++) {
		ASSERT_TRUE(users_go_on(self));
		ASSERT_EQ(0, at_card_poke(self->bdf[i % 2], "driver/unbind",
				  self->bdf[i % 2]));
		ASSERT_LT(0, at_write_file(BIND, self->bdf[i % 2]));
	}
	EXPECT_TRUE(users_go_on(self));
	users_end(_metadata, self);
}

TEST_F(card, remove_and_rescan)
{
	unsigned int i;

	users_start(_metadata, self);
	for (i = 0; i < at_scale(2); i++) {
		ASSERT_TRUE(users_go_on(self));
		ASSERT_EQ(0, at_card_poke(self->bdf[i % 2], "remove", "1"));
		ASSERT_LT(0, at_write_file("/sys/bus/pci/rescan", "1"));
	}
	EXPECT_TRUE(users_go_on(self));
	users_end(_metadata, self);
}

/* A reset wakes a process that sleeps in poll(2). */
TEST_F(card, sleepers_wake)
{
	struct pollfd p = { .events = POLLIN };
	struct at_ctx x;
	pid_t pid;
	int ready[2];
	char c;

	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	if (!pid) {
		if (at_ctx_open(&x, self->f.dev[0], NULL))
			_exit(2);
		p.fd = x.fd;
		if (write(ready[1], "", 1) != 1)
			_exit(3);
		_exit(poll(&p, 1, AT_DEADLINE_MS) == 1 && p.revents & POLLHUP ?
		      0 : 4);
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	at_sleep_ms(100);
	ASSERT_EQ(0, at_card_reset(self->bdf[0]));
	EXPECT_EQ(0, at_wait_child(pid, AT_DEADLINE_MS));
}

/* Makes the kernel keep a card enabled while it has no driver. */
static int rebind(const char *bdf, const char *enable)
{
	int ret = at_card_poke(bdf, "driver/unbind", bdf);

	if (!ret)
		ret = at_card_poke(bdf, "enable", enable);
	if (!ret)
		ret = at_write_file(BIND, bdf);
	return ret < 0 ? ret : 0;
}

/*
 * The first allocation fails while the driver binds to a card, then the second,
 * and so on until binding succeeds.  The driver works without some allocations,
 * such as those of vectors.  The card is enabled beforehand: enabling it asks
 * ACPI for the route of its interrupt, and ACPI uses freed memory if an
 * allocation fails there.
 */
TEST_F_TIMEOUT(card, bind_without_memory, 1800)
{
	const char *missing = at_failing_init();
	char *mem = at_pages(AT_PAIR_LEN);
	unsigned int nth, failed = 0;
	struct at_ctx x[2];
	bool hit = true;
	int fd, ret;

	if (missing)
		SKIP(return, "the kernel cannot make allocations fail: no %s",
		     missing);
	fd = at_fail_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rebind(self->bdf[0], "1"));
	for (nth = 1; hit && nth < AT_ENDLESS; nth++) {
		ASSERT_EQ(0, at_card_poke(self->bdf[0], "driver/unbind", self->bdf[0]));
		ASSERT_EQ(0, at_fail_arm(fd, nth));
		ret = at_write_file(BIND, self->bdf[0]);
		hit = at_fail_disarm(fd);
		failed += ret < 0;
		EXPECT_TRUE(ret > 0 || (hit && (at_fail_says_so(ret) ||
						ret == -ENOSPC || ret == -EBUSY))) {
			TH_LOG("try %u: %d", nth, ret);
		}
		if (ret < 0)
			ASSERT_LT(0, at_write_file(BIND, self->bdf[0]));
	}
	close(fd);
	TH_LOG("%u tries, %u failed", nth, failed);
	EXPECT_LT(nth, AT_ENDLESS);
	EXPECT_LT(0, failed);
	ASSERT_EQ(0, rebind(self->bdf[0], "0"));
	ASSERT_EQ(0, at_pair_open(&self->f, x, mem));
	EXPECT_EQ(ANGARA_ST_OK, at_pair_move(x, mem, 1));
	at_pair_close(x);
}

TEST_HARNESS_MAIN
