// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adapters on PCI Express that stop responding: their registers do not answer,
 * like those of a card whose memory space is off.  Such a card continues DMA,
 * so the driver disables it before it frees pages.  Or the card does not answer
 * commands, like a card without bus mastering: a process that waits for the
 * card can be killed.
 */
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/pci_regs.h>
#include <sys/mman.h>

#include "at_harness.h"
#include "cards.h"

AT_REQUIRE(AT_ROOT | AT_CARD)

#define ALL	ANGARA_ACCESS_ALL
#define LEN	AT_PAIR_LEN
/* A command has 60 s; no process may wait that long. */
#define KILLED_MS	20000U

FIXTURE(silent) {
	struct at_fabric f;
	char bdf[AT_BDF];
	int config;
	struct at_ctx x;	/* on the card that stops responding */
	struct at_ctx y;	/* on another card */
	char *mem;		/* region of x */
	char *from;		/* region of y */
	int key;
};

static int config_open(const char *bdf)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/config", bdf);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Reads PCI_COMMAND from the card's configuration space. */
static uint16_t command(int config)
{
	uint16_t val = 0xFFFF;

	if (pread(config, &val, sizeof(val), PCI_COMMAND) != sizeof(val))
		return 0xFFFF;
	return le16toh(val);
}

static int command_change(int config, uint16_t clear, uint16_t set)
{
	uint16_t val = htole16((command(config) & ~clear) | set);

	return pwrite(config, &val, sizeof(val), PCI_COMMAND) == sizeof(val) ?
	       0 : -EIO;
}

FIXTURE_SETUP(silent)
{
	ASSERT_EQ(0, at_fabric_find(&self->f, 2));
	ASSERT_EQ(0, at_card_bdf(self->f.dev[0], self->bdf));
	self->config = config_open(self->bdf);
	ASSERT_LE(0, self->config);
	self->mem = at_pages(LEN);
	self->from = at_pages(LEN);
	ASSERT_NE(NULL, self->mem);
	ASSERT_NE(NULL, self->from);
	memset(self->from, 0xAA, LEN);
	ASSERT_EQ(0, at_ctx_open(&self->x, self->f.dev[0], NULL));
	ASSERT_EQ(0, at_ctx_open(&self->y, self->f.dev[1], NULL));
	self->key = at_mr(&self->x, self->mem, LEN, ALL);
	ASSERT_EQ(0, self->key);
	ASSERT_EQ(0, at_mr(&self->y, self->from, LEN, ALL));
}

/* The card works again after its repair. */
FIXTURE_TEARDOWN(silent)
{
	struct at_ctx z[2];
	uint64_t since;

	EXPECT_EQ(0, command_change(self->config, 0, PCI_COMMAND_MEMORY));
	since = at_now_ms();
	EXPECT_EQ(0, at_card_reset(self->bdf));
	EXPECT_GT(KILLED_MS, at_now_ms() - since);
	at_ctx_close(&self->x);
	at_ctx_close(&self->y);
	ASSERT_EQ(0, at_pair_open(&self->f, z, self->mem));
	EXPECT_EQ(ANGARA_ST_OK, at_pair_move(z, self->mem, 1));
	EXPECT_TRUE(command(self->config) & PCI_COMMAND_MASTER);
	at_pair_close(z);
	close(self->config);
	munmap(self->mem, LEN);
	munmap(self->from, LEN);
}

/* Waits until the file reports that its device is broken. */
static bool is_lost(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, AT_DEADLINE_MS) == 1 && p.revents & POLLERR;
}

TEST_F(silent, registers)
{
	struct angara_wqe put = at_put(&self->x, self->key, 0, 0, 0, LEN);

	ASSERT_EQ(ANGARA_ST_OK, at_do(&self->y, &put, NULL));
	ASSERT_TRUE(at_all(self->mem, LEN, 0xAA));
	ASSERT_EQ(0, command_change(self->config, PCI_COMMAND_MEMORY, 0));
	/* The card still answers its peers. */
	ASSERT_EQ(ANGARA_ST_OK, at_do(&self->y, &put, NULL));
	ASSERT_TRUE(is_lost(self->x.fd));

	/* The device does not touch memory that was freed. */
	EXPECT_EQ(0, at_mr_dereg(&self->x, self->key));
	EXPECT_FALSE(command(self->config) & PCI_COMMAND_MASTER);
	memset(self->mem, 0x55, LEN);
	EXPECT_NE(ANGARA_ST_OK, at_do(&self->y, &put, NULL));
	EXPECT_TRUE(at_all(self->mem, LEN, 0x55));
}

static char state_of(pid_t pid)
{
	char path[64], text[256] = "", *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	end = strrchr(text, ')');
	return end ? end[2] : 0;
}

static int do_create(struct at_ctx *x, unsigned int dev, char *mem)
{
	struct at_ctx more;

	(void)x;
	(void)mem;
	return at_ctx_open(&more, dev, NULL);
}

static int do_reg(struct at_ctx *x, unsigned int dev, char *mem)
{
	(void)dev;
	return at_mr(x, mem, LEN, ALL);
}

static int do_dereg(struct at_ctx *x, unsigned int dev, char *mem)
{
	(void)dev;
	(void)mem;
	return at_mr_dereg(x, 0);
}

static int (*const waits[])(struct at_ctx *, unsigned int, char *) = {
	do_create, do_reg, do_dereg,
};

/*
 * Processes issue all kinds of commands at the same time, one each.  The driver
 * checks a card once a second: a process that is notified in time ends before
 * it is killed.
 */
TEST_F(silent, commands)
{
	struct at_ctx x[ARRAY_SIZE(waits)];
	pid_t pid[ARRAY_SIZE(waits)];
	uint64_t since;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		ASSERT_EQ(0, at_ctx_open(&x[i], self->f.dev[0], NULL));
		ASSERT_EQ(0, at_mr(&x[i], self->mem, LEN, ALL));
	}
	ASSERT_EQ(0, command_change(self->config, PCI_COMMAND_MASTER, 0));
	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i])
			_exit(waits[i](&x[i], self->f.dev[0], self->mem) > 0);
	}
	since = at_now_ms();
	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		while (!strchr("DZ", state_of(pid[i])) &&
		       at_now_ms() - since < KILLED_MS)
			at_sleep_ms(10);
		/* The killed process closes the context last. */
		at_ctx_close(&x[i]);
	}
	since = at_now_ms();
	for (i = 0; i < ARRAY_SIZE(waits); i++)
		kill(pid[i], SIGKILL);
	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		int ret = at_wait_child(pid[i], AT_DEADLINE_MS);

		EXPECT_TRUE(ret == -SIGKILL || ret == 0);
	}
	EXPECT_GT(KILLED_MS, at_now_ms() - since);
}

TEST_HARNESS_MAIN
