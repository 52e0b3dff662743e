// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adapters on PCI Express that lose their state, and come back: by a reset, by
 * an error on the bus from which the PCI core recovers, by suspend.  In each
 * case files that were open stay stale, and no earlier operation writes to
 * memory afterwards.
 *
 * The machine suspends only if ANGARA_TEST_SUSPEND is set.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "at_harness.h"
#include "cards.h"

AT_REQUIRE(AT_ROOT | AT_CARD)

#define ALL		ANGARA_ACCESS_ALL
#define PUTS		8
#define POWER		"/sys/power/"
#define TEST_DELAY	"/sys/module/suspend/parameters/pm_test_delay"

/* Error bits of a root port, as in PCI_ERR_UNCOR_STATUS. */
#define ERR_LINK	0x10U		/* fatal: the port resets its link */
#define ERR_TIMEOUT	0x4000U		/* not fatal: the link is not reset */

/**
 * struct aer_error - an error to inject by /dev/aer_inject
 * @bus: bus number of the device with the error
 * @dev: its device number
 * @fn: its function number
 * @uncorrectable: error bits
 * @correctable: error bits
 * @header: header of the bad packet
 * @domain: PCI domain of the device
 */
struct aer_error {
	uint8_t bus;
	uint8_t dev;
	uint8_t fn;
	uint32_t uncorrectable;
	uint32_t correctable;
	uint32_t header[4];
	uint32_t domain;
};

/* Injects an error of the root port above a card. */
static int inject(const char *bdf, uint32_t error)
{
	struct aer_error e = { .uncorrectable = error };
	unsigned int domain, bus, dev, fn;
	char port[AT_BDF];
	ssize_t len;
	int fd, ret;

	ret = at_card_port(bdf, port);
	if (ret)
		return ret;
	if (sscanf(port, "%x:%x:%x.%x", &domain, &bus, &dev, &fn) != 4)
		return -ENXIO;
	e.domain = domain;
	e.bus = bus;
	e.dev = dev;
	e.fn = fn;
	fd = open("/dev/aer_inject", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = write(fd, &e, sizeof(e));
	ret = len == sizeof(e) ? 0 : -errno;
	close(fd);
	return ret;
}

static int fatal_error(const char *bdf)
{
	return inject(bdf, ERR_LINK);
}

static int other_error(const char *bdf)
{
	return inject(bdf, ERR_TIMEOUT);
}

static const char *no_errors(void)
{
	if (at_run_command("modprobe aer_inject"))
		return "there is no module aer_inject";
	return NULL;
}

/*
 * Runs a suspend up to the point where the machine would wait for a wake-up:
 * each device is suspended, then each is resumed.
 */
static int sleep_once(const char *bdf)
{
	int ret = at_write_file(POWER "pm_test", "platform");

	(void)bdf;
	if (ret > 0)
		ret = at_write_file(TEST_DELAY, "0");
	if (ret > 0)
		ret = at_write_file(POWER "state", "freeze");
	at_write_file(POWER "pm_test", "none");
	return ret < 0 ? ret : 0;
}

static const char *no_sleep(void)
{
	if (!getenv("ANGARA_TEST_SUSPEND"))
		return "ANGARA_TEST_SUSPEND is not set";
	if (access(POWER "pm_test", W_OK))
		return "the kernel has no " POWER "pm_test";
	return NULL;
}

FIXTURE(restart) {
	const char *missing;
	struct at_fabric f;
	char bdf[AT_BDF];
};

/**
 * @missing: why this variant cannot run here, or NULL
 * @happen: makes the card at @bdf lose its state, at once or soon
 * @all: all cards of the machine lose their state
 */
FIXTURE_VARIANT(restart) {
	const char *(*missing)(void);
	int (*happen)(const char *bdf);
	bool all;
};

FIXTURE_VARIANT_ADD(restart, reset) {
	.happen = at_card_reset,
};

FIXTURE_VARIANT_ADD(restart, fatal_error) {
	.missing = no_errors,
	.happen = fatal_error,
};

FIXTURE_VARIANT_ADD(restart, other_error) {
	.missing = no_errors,
	.happen = other_error,
};

FIXTURE_VARIANT_ADD(restart, sleep) {
	.missing = no_sleep,
	.happen = sleep_once,
	.all = true,
};

FIXTURE_SETUP(restart)
{
	/* SKIP in a setup does not keep the harness from running the test. */
	if (variant->missing)
		self->missing = variant->missing();
	ASSERT_EQ(0, at_fabric_find(&self->f, 2));
	ASSERT_EQ(0, at_card_bdf(self->f.dev[0], self->bdf));
}

FIXTURE_TEARDOWN(restart)
{
}

/* Waits until a file reports that its device has lost its state. */
static bool is_lost(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;

	while (poll(&p, 1, AT_DEADLINE_MS) == 1 && !(p.revents & POLLHUP)) {
		if (at_now_ms() > end)
			return false;
		at_sleep_ms(10);
	}
	return p.revents & POLLHUP;
}

/* Opens a pair as soon as the devices are back. */
static int open_again(const struct at_fabric *f, struct at_ctx *x, char *mem)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	int ret;

	for (;;) {
		ret = at_pair_open(f, x, mem);
		if (ret != -EBUSY || at_now_ms() > end)
			return ret;
		at_pair_close(x);
		at_sleep_ms(10);
	}
}

TEST_F(restart, old_files)
{
	char *mem = at_pages(AT_PAIR_LEN);
	struct at_ctx x[2], y[2];
	long charged = at_charged();
	int idle;

	if (self->missing)
		SKIP(return, "%s", self->missing);
	ASSERT_EQ(0, at_pair_open(&self->f, x, mem));
	idle = at_open(self->f.dev[0]);
	EXPECT_EQ(ANGARA_ST_OK, at_pair_move(x, mem, 1));
	ASSERT_EQ(0, variant->happen(self->bdf));
	ASSERT_TRUE(is_lost(x[0].fd));
	EXPECT_EQ(NULL, at_card_stale(&x[0]));
	EXPECT_EQ(-ESTALE, at_query(idle, &x[0].q));
	/*
	 * The other card is unchanged, apart from contexts whose peer was on
	 * this one.
	 */
	EXPECT_EQ(variant->all ? -ESTALE : 0, at_query(x[1].dom, &x[1].q));
	at_ctx_close(&x[1]);
	EXPECT_EQ(charged, at_charged());

	ASSERT_EQ(0, open_again(&self->f, y, mem));
	EXPECT_EQ(ANGARA_ST_OK, at_pair_move(y, mem, 2));
	EXPECT_EQ(NULL, at_card_stale(&x[0]));
	/* The old doorbell does not ring for the new context either. */
	EXPECT_EQ(x[0].c.ctx, y[0].c.ctx);
	*x[0].db = htole32(y[0].pi + 1);
	at_ctx_close(&x[0]);
	close(idle);
	EXPECT_EQ(ANGARA_ST_OK, at_pair_move(y, mem, 3));
	EXPECT_EQ(y[0].pi, at_counter(&y[0], ANGARA_CTR_SQ_CI));
	at_pair_close(y);
	munmap(mem, AT_PAIR_LEN);
}

/*
 * After a card has lost its state, no operation writes to a region that the card knew
 * before.
 */
TEST_F(restart, nothing_is_written)
{
	char *mem = at_pages(AT_PAIR_LEN), *from = at_pages(AT_PAIR_LEN);
	char *other = at_pages(AT_PAIR_LEN);
	unsigned int i, round;
	struct at_ctx x, y, z[2];
	struct angara_wqe put;
	struct angara_cqe cqe;

	if (self->missing)
		SKIP(return, "%s", self->missing);
	memset(from, 0xAA, AT_PAIR_LEN);
	ASSERT_EQ(0, at_ctx_open(&y, self->f.dev[1], NULL));
	ASSERT_EQ(0, at_mr(&y, from, AT_PAIR_LEN, ALL));
	for (round = 0; round < (variant->all ? 1 : at_scale(4)); round++) {
		ASSERT_EQ(0, at_ctx_open(&x, self->f.dev[0], NULL));
		ASSERT_EQ(0, at_mr(&x, mem, AT_PAIR_LEN, ALL));
		put = at_put(&x, 0, 0, 0, 0, AT_PAIR_LEN);
		for (i = 0; i < PUTS; i++)
			ASSERT_EQ(0, at_post(&y, &put, NULL));
		at_card_ring(&y);
		ASSERT_EQ(0, variant->happen(self->bdf));
		ASSERT_TRUE(is_lost(x.fd));
		memset(mem, 0x55, AT_PAIR_LEN);
		/* A queue of a card that has lost its state does not change. */
		for (i = 0; i < PUTS && !variant->all; i++)
			EXPECT_EQ(0, at_wait_cqe(&y, &cqe, AT_DEADLINE_MS));
		EXPECT_NE(ANGARA_ST_OK, at_do(&y, &put, NULL));
		/* The cards work again, with other memory. */
		ASSERT_EQ(0, open_again(&self->f, z, other));
		EXPECT_EQ(ANGARA_ST_OK, at_pair_move(z, other, round));
		at_pair_close(z);
		EXPECT_TRUE(at_all(mem, AT_PAIR_LEN, 0x55));
		at_ctx_close(&x);
	}
	at_ctx_close(&y);
}

TEST_HARNESS_MAIN
