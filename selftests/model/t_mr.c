// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions: look-up, bounds, rights, and lists of pages at both levels.
 */
#include <string.h>

#include "test.h"

#define REGION	(20 * 4096ULL)

static struct host *h;
static struct tctx *t;
static struct ang_node *n;
static struct ang_ctx *c;

static void start(void)
{
	h = host_new("2", &cfg_default);
	t = ctx_new(h, 1, 2, PKEY, 3, 3);
	n = ang_node(h->fab, 1);
	c = ang_ctx(h->fab, n, 2);
}

static void end(void)
{
	ctx_del(t);
	host_free(h);
}

static void lookup(void)
{
	char buf[16];

	start();
	ctx_buffer(t, REGION);
	EXPECT_EQ(ang_mr_check(&h->v, n, c, BUF_KEY, 0, 1, 0), ANGARA_ST_OK);
	EXPECT_EQ(ang_mr_check(&h->v, n, c, 1, 0, 1, 0), ANGARA_ST_KEY);
	EXPECT_EQ(ang_mr_check(&h->v, n, c, MRS, 0, 1, 0), ANGARA_ST_KEY);
	EXPECT_EQ(ang_mr_check(&h->v, n, c, ~0U, 0, 1, 0), ANGARA_ST_KEY);
	t->mrt[BUF_KEY].valid = 2;
	EXPECT_EQ(ang_mr_read(&h->v, n, c, BUF_KEY, 0, 1, buf), ANGARA_ST_KEY);
	t->mrt[BUF_KEY].valid = 1;
	t->mrt[BUF_KEY].levels = 3;
	EXPECT_EQ(ang_mr_read(&h->v, n, c, BUF_KEY, 0, 1, buf), ANGARA_ST_DMA);
	t->mrt[BUF_KEY].levels = 1;
	t->mrt[BUF_KEY].page_shift = 11;
	EXPECT_EQ(ang_mr_read(&h->v, n, c, BUF_KEY, 0, 1, buf), ANGARA_ST_DMA);
	t->mrt[BUF_KEY].page_shift = 31;
	EXPECT_EQ(ang_mr_read(&h->v, n, c, BUF_KEY, 0, 1, buf), ANGARA_ST_DMA);
	EXPECT_EQ(h->faults, 0);
	end();
}

static void bounds(void)
{
	char buf[64];

	start();
	ctx_buffer(t, 1000);
#define CHECK(off, len) ang_mr_check(&h->v, n, c, BUF_KEY, off, len, 0)
	EXPECT_EQ(CHECK(0, 1000), ANGARA_ST_OK);
	EXPECT_EQ(CHECK(1000, 0), ANGARA_ST_OK);
	EXPECT_EQ(CHECK(999, 1), ANGARA_ST_OK);
	EXPECT_EQ(CHECK(0, 1001), ANGARA_ST_BOUNDS);
	EXPECT_EQ(CHECK(1000, 1), ANGARA_ST_BOUNDS);
	EXPECT_EQ(CHECK(1001, 0), ANGARA_ST_BOUNDS);
	EXPECT_EQ(CHECK(~0ULL, 1), ANGARA_ST_BOUNDS);
	EXPECT_EQ(CHECK(~0ULL - 9, 10), ANGARA_ST_BOUNDS);
	EXPECT_EQ(CHECK(1ULL << 63, 1U << 30), ANGARA_ST_BOUNDS);
#undef CHECK
	EXPECT_EQ(ang_mr_read(&h->v, n, c, BUF_KEY, 990, 11, buf),
		  ANGARA_ST_BOUNDS);
	EXPECT_EQ(ang_mr_write(&h->v, n, c, BUF_KEY, 990, 11, buf),
		  ANGARA_ST_BOUNDS);
	EXPECT_EQ(ang_mr_give(&h->v, n, c, BUF_KEY, 990, 11, buf),
		  ANGARA_ST_BOUNDS);
	EXPECT_EQ(ang_mr_keep(&h->v, n, c, BUF_KEY, 990, 11, buf),
		  ANGARA_ST_BOUNDS);
	EXPECT_EQ(h->faults, 0);
	end();
}

static void rights(void)
{
	u32 has, wants;
	char buf[4] = { 0 };

	start();
	ctx_buffer(t, 100);
	for (has = 0; has <= ANGARA_ACCESS_ALL; has++) {
		for (wants = 0; wants <= ANGARA_ACCESS_ALL; wants++) {
			u32 want = wants & ~has ? ANGARA_ST_ACCESS : ANGARA_ST_OK;

			t->mrt[BUF_KEY].access = (u8)has;
			EXPECT_EQ(ang_mr_check(&h->v, n, c, BUF_KEY, 0, 4, wants),
				  want);
		}
		EXPECT_EQ(ang_mr_read(&h->v, n, c, BUF_KEY, 0, 4, buf),
			  has & ANGARA_ACCESS_REMOTE_READ ? ANGARA_ST_OK :
							    ANGARA_ST_ACCESS);
		EXPECT_EQ(ang_mr_write(&h->v, n, c, BUF_KEY, 0, 4, buf),
			  has & ANGARA_ACCESS_REMOTE_WRITE ? ANGARA_ST_OK :
							     ANGARA_ST_ACCESS);
		EXPECT_EQ(ang_mr_keep(&h->v, n, c, BUF_KEY, 0, 4, buf),
			  has & ANGARA_ACCESS_LOCAL_WRITE ? ANGARA_ST_OK :
							    ANGARA_ST_ACCESS);
		EXPECT_EQ(ang_mr_give(&h->v, n, c, BUF_KEY, 0, 4, buf),
			  ANGARA_ST_OK);
	}
	end();
}

/*
 * Makes a region over scattered pages, which starts @first bytes into the
 * first page.
 */
static char *scattered(u32 levels, u32 first, u64 len)
{
	u64 pages = (first + len + 4095) / 4096;
	u64 list, lists;
	__le64 *entry = host_alloc(h, 1, pages * 8, &list);
	char *mem = host_alloc_pages(h, 1, first + len, entry);
	struct angara_hw_mr *mr = &t->mrt[3];

	ctx_mr(t, 3, list, len, ANGARA_ACCESS_ALL);
	mr->first = cpu_to_le32(first);
	mr->levels = (u8)levels;
	if (levels == 2) {
		u64 i, tables = (pages + 511) / 512;
		__le64 *top = host_alloc(h, 1, tables * 8, &lists);

		for (i = 0; i < tables; i++)
			top[i] = cpu_to_le64(list + 4096 * i);
		mr->addr = cpu_to_le64(lists);
	}
	return mem + first;
}

static void copy_all(char *mem, u64 len, u64 seed)
{
	char buf[2048], back[2048];
	u32 i;

	for (i = 0; i < 300; i++) {
		u32 size = rnd(&seed) % sizeof(buf);
		u64 off = rnd(&seed) % (len - size + 1);
		u32 b;

		for (b = 0; b < size; b++)
			buf[b] = (char)rnd(&seed);
		EXPECT_EQ(ang_mr_write(&h->v, n, c, 3, off, size, buf),
			  ANGARA_ST_OK);
		EXPECT(!memcmp(mem + off, buf, size));
		EXPECT_EQ(ang_mr_read(&h->v, n, c, 3, off, size, back),
			  ANGARA_ST_OK);
		EXPECT(!memcmp(back, buf, size));
	}
	EXPECT_EQ(ang_mr_write(&h->v, n, c, 3, len - 5, 5, buf),
		  ANGARA_ST_OK);
	EXPECT_EQ(ang_mr_write(&h->v, n, c, 3, len - 5, 6, buf),
		  ANGARA_ST_BOUNDS);
}

static void levels(void)
{
	static const u32 firsts[] = { 0, 1, 100, 4095 };
	u32 i;

	start();
	for (i = 0; i < NUM(firsts); i++) {
		copy_all(scattered(1, firsts[i], REGION), REGION, i + 1);
		copy_all(scattered(2, firsts[i], REGION), REGION, i + 9);
	}
	EXPECT_EQ(h->faults, 0);
	end();
}

/* More than 512 pages: the second list of the second level is used. */
static void many_pages(void)
{
	u64 pages = 600, list, lists, addr;
	__le64 *entry, *top;
	char buf[300];
	char *mem;
	u64 i;

	start();
	entry = host_alloc(h, 1, 1024 * 8, &list);
	top = host_alloc(h, 1, 2 * 8, &lists);
	mem = host_alloc(h, 1, pages * 4096, &addr);
	for (i = 0; i < pages; i++)
		entry[i] = cpu_to_le64(addr + 4096 * (pages - 1 - i));
	top[0] = cpu_to_le64(list);
	top[1] = cpu_to_le64(list + 4096);
	ctx_mr(t, 3, lists, pages * 4096, ANGARA_ACCESS_ALL);
	t->mrt[3].levels = 2;
	memset(mem + 4096 * (pages - 1 - 511) + 4096 - 100, 'a', 100);
	memset(mem + 4096 * (pages - 1 - 512), 'b', 200);
	EXPECT_EQ(ang_mr_read(&h->v, n, c, 3, 512 * 4096 - 100, 300, buf),
		  ANGARA_ST_OK);
	for (i = 0; i < 300; i++)
		EXPECT_EQ(buf[i], i < 100 ? 'a' : 'b');
	EXPECT_EQ(h->faults, 0);
	end();
}

static void big_pages(void)
{
	u64 addr[3], list;
	__le64 *entry;
	char *mem[3];
	char buf[200];
	u32 i;

	start();
	entry = host_alloc(h, 1, 3 * 8, &list);
	for (i = 0; i < 3; i++) {
		mem[i] = host_alloc(h, 1, 1 << 16, &addr[i]);
		entry[i] = cpu_to_le64(addr[i]);
	}
	ctx_mr(t, 3, list, 3ULL << 16, ANGARA_ACCESS_ALL);
	t->mrt[3].levels = 1;
	t->mrt[3].page_shift = 16;
	memset(buf, 'x', sizeof(buf));
	EXPECT_EQ(ang_mr_write(&h->v, n, c, 3, (1 << 16) - 50, 200, buf),
		  ANGARA_ST_OK);
	EXPECT_EQ(mem[0][65535], 'x');
	EXPECT_EQ(mem[1][149], 'x');
	EXPECT_EQ(mem[1][150], 0);
	EXPECT_EQ(ang_mr_write(&h->v, n, c, 3, 9000, 200, buf), ANGARA_ST_OK);
	EXPECT_EQ(mem[0][9199], 'x');
	EXPECT_EQ(h->faults, 0);
	end();
}

/* The table, a list or a page is at an address that the host cannot reach. */
static void unreachable(void)
{
	struct ang_dom *d;
	__le64 *entry;
	char buf[64];
	u64 list;

	start();
	entry = host_alloc(h, 1, 8, &list);
	entry[0] = cpu_to_le64(0xDEAD0000);
	ctx_mr(t, 3, list, 8192, ANGARA_ACCESS_ALL);
	t->mrt[3].levels = 1;
	EXPECT_EQ(ang_mr_read(&h->v, n, c, 3, 0, 8, buf), ANGARA_ST_DMA);
	EXPECT_EQ(ang_mr_write(&h->v, n, c, 3, 4090, 8, buf), ANGARA_ST_DMA);
	t->mrt[3].levels = 2;
	t->mrt[3].addr = cpu_to_le64(0xDEAD0000);
	EXPECT_EQ(ang_mr_read(&h->v, n, c, 3, 0, 8, buf), ANGARA_ST_DMA);
	t->mrt[3].levels = 0;
	EXPECT_EQ(ang_mr_write(&h->v, n, c, 3, 0, 8, buf), ANGARA_ST_DMA);
	d = ang_dom(h->fab, n, c->dom);
	d->mrt.list = 0xDEAD0000;
	d->mrt.index = 0;
	EXPECT_EQ(ang_mr_read(&h->v, n, c, 3, 0, 8, buf), ANGARA_ST_DMA);
	end();
}

const struct test_case mr_cases[] = {
	{ "mr: look-up and malformed entries", lookup },
	{ "mr: bounds", bounds },
	{ "mr: access rights", rights },
	{ "mr: lists of pages, levels 1 and 2", levels },
	{ "mr: more than one list", many_pages },
	{ "mr: pages of 64 KiB", big_pages },
	{ "mr: unreachable memory", unreachable },
	{ NULL, NULL },
};
