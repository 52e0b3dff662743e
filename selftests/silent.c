// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adapters on PCI Express that fall silent: their registers do not answer, as
 * those of a card whose memory space is off.  Such a card goes on with DMA, so
 * the driver cuts it off before it gives pages back.
 */
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
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

FIXTURE(silent) {
	struct at_fabric f;
	char bdf[AT_BDF];
	int config;
	struct at_ctx x;	/* on the card that falls silent */
	struct at_ctx y;	/* on another one */
	char *mem;		/* a region of x */
	char *from;		/* a region of y */
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

/* What the card itself says of PCI_COMMAND. */
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

/* The card is there again, and works. */
FIXTURE_TEARDOWN(silent)
{
	struct at_ctx z[2];

	EXPECT_EQ(0, command_change(self->config, 0, PCI_COMMAND_MEMORY));
	EXPECT_EQ(0, at_card_reset(self->bdf));
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

/* Waits until the file is told that its device is broken. */
static bool told(int fd)
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
	/* It works all the same, as far as its peers can tell. */
	ASSERT_EQ(ANGARA_ST_OK, at_do(&self->y, &put, NULL));
	ASSERT_TRUE(told(self->x.fd));

	/* What is given back is nobody's but the process's. */
	EXPECT_EQ(0, at_mr_dereg(&self->x, self->key));
	EXPECT_FALSE(command(self->config) & PCI_COMMAND_MASTER);
	memset(self->mem, 0x55, LEN);
	EXPECT_NE(ANGARA_ST_OK, at_do(&self->y, &put, NULL));
	EXPECT_TRUE(at_all(self->mem, LEN, 0x55));
}

TEST_HARNESS_MAIN
