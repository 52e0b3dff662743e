// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions in huge pages: the device gets few long pages, and data arrives at
 * their ends and at borders to ordinary pages. The tracepoint angara_mr shows
 * how the driver describes a region to the device.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "at_harness.h"
#include "angtest.h"

AT_REQUIRE(AT_ROOT | AT_DEVICE | AT_HUGE)

#define HUGE		(2UL << 20)
#define HUGE_SHIFT	21
#define COUNT		4	/* huge pages of a region */
#define SPARE		2	/* more, in case some cannot be allocated */
#define LEN		5000	/* bytes of a transfer: more than a page */
#define TRACING		"/sys/kernel/tracing/instances/angara-huge"
#define POOL		"/proc/sys/vm/nr_hugepages"

/* The driver's description of a region to the device. */
struct shape {
	unsigned int page_shift;
	unsigned int lists;
};

/* @had: the system's huge pages before; @mem: @COUNT contiguous ones */
FIXTURE(huge) {
	struct at_ctx x;
	unsigned int dev;
	long had;
	char *mem;
	char *near;
};

static int put_number(const char *path, long value)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%ld", value);
	int fd = open(path, O_WRONLY | O_TRUNC);
	int ret = fd >= 0 && write(fd, text, len) == len ? 0 : -1;

	if (fd >= 0)
		close(fd);
	return ret;
}

static long get_number(const char *path)
{
	FILE *f = fopen(path, "r");
	long value = -1;

	if (f) {
		if (fscanf(f, "%ld", &value) != 1)
			value = -1;
		fclose(f);
	}
	return value;
}

static void *huge_map(void)
{
	void *p = mmap(NULL, COUNT * HUGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB |
		       HUGE_SHIFT << MAP_HUGE_SHIFT, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Reads from the trace how the last region of @dev in @slot was described. */
static int shape_of(unsigned int dev, int slot, struct shape *shape)
{
	FILE *f = fopen(TRACING "/trace", "r");
	char line[512], want[64];
	int found = -1;

	snprintf(want, sizeof(want), "angara_mr: dev=angara%u ", dev);
	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, want);
		struct shape got;
		int number;

		at = at ? strstr(at, " slot=") : NULL;
		if (at && sscanf(at, " slot=%d length=%*u page_shift=%u lists=%u",
				 &number, &got.page_shift, &got.lists) == 3 &&
		    number == slot) {
			*shape = got;
			found = 0;
		}
	}
	if (f)
		fclose(f);
	return found;
}

FIXTURE_SETUP(huge)
{
	unsigned int end = at_devices();

	self->had = get_number(POOL);
	ASSERT_LE(0, self->had);
	ASSERT_EQ(0, put_number(POOL, self->had + COUNT + SPARE));
	self->mem = huge_map();
	if (!self->mem) {
		put_number(POOL, self->had);
		SKIP(return, "cannot map %d huge pages", COUNT);
	}
	for (self->dev = 0; self->dev < end; self->dev++)
		if (!at_ctx_open(&self->x, self->dev, NULL))
			break;
	ASSERT_LT(self->dev, end);
	self->near = at_pages(2 * AT_PAGE);
	ASSERT_NE(NULL, self->near);
	ASSERT_EQ(0, at_mr(&self->x, self->near, 2 * AT_PAGE, ANGARA_ACCESS_ALL));
	if (mkdir(TRACING, 0700)) {
		SKIP(return, "needs tracefs: cannot make " TRACING);
	}
	ASSERT_EQ(0, put_number(TRACING "/events/angara/angara_mr/enable", 1));
}

FIXTURE_TEARDOWN(huge)
{
	rmdir(TRACING);
	at_ctx_close(&self->x);
	if (self->mem)
		munmap(self->mem, COUNT * HUGE);
	if (self->had >= 0)
		EXPECT_EQ(0, put_number(POOL, self->had));
}

/* Puts and gets @LEN bytes at each of @at in region 1, which begins at @mem. */
static void move_at(struct __test_metadata *_metadata, struct at_ctx *x,
		    char *near, const char *mem, const size_t *at,
		    unsigned int count)
{
	struct angara_wqe w;
	unsigned int i;

	for (i = 0; i < count; i++) {
		at_fill(near, LEN, i);
		w = at_put(x, 1, at[i], 0, 0, LEN);
		EXPECT_EQ(ANGARA_ST_OK, at_do(x, &w, NULL));
		EXPECT_TRUE(at_filled(mem + at[i], LEN, i)) {
			TH_LOG("put to offset %zu", at[i]);
		}
		memset(near, 0, LEN);
		w = at_get(x, 1, at[i], 0, 0, LEN);
		EXPECT_EQ(ANGARA_ST_OK, at_do(x, &w, NULL));
		EXPECT_TRUE(at_filled(near, LEN, i)) {
			TH_LOG("get from offset %zu", at[i]);
		}
	}
}

/* A list holds 512 pages: with ordinary pages the region would need four. */
TEST_F(huge, whole)
{
	const size_t at[] = {
		0, HUGE - LEN, HUGE - 1, 2 * HUGE - 4000, COUNT * HUGE - LEN,
	};
	struct shape shape = { 0 };
	struct angara_wqe w;

	ASSERT_EQ(1, at_mr(&self->x, self->mem, COUNT * HUGE, ANGARA_ACCESS_ALL));
	ASSERT_EQ(0, shape_of(self->dev, 1, &shape));
	EXPECT_LE(HUGE_SHIFT, shape.page_shift);
	EXPECT_EQ(1, shape.lists);
	move_at(_metadata, &self->x, self->near, self->mem, at, ARRAY_SIZE(at));
	w = at_put(&self->x, 1, COUNT * HUGE - LEN + 1, 0, 0, LEN);
	EXPECT_EQ(ANGARA_ST_BOUNDS, at_do(&self->x, &w, NULL));
	EXPECT_EQ(0, at_mr_dereg(&self->x, 1));
}

/* A region may begin and end within huge pages. */
TEST_F(huge, part)
{
	const size_t skip = 3 * AT_PAGE + 123, len = 2 * HUGE + 777;
	const size_t at[] = {
		0, HUGE - skip - 2500, 2 * HUGE - skip - 1, len - LEN,
	};
	char *mem = self->mem + skip;
	struct shape shape = { 0 };

	ASSERT_EQ(1, at_mr(&self->x, mem, len, ANGARA_ACCESS_ALL));
	ASSERT_EQ(0, shape_of(self->dev, 1, &shape));
	EXPECT_LE(HUGE_SHIFT, shape.page_shift);
	EXPECT_EQ(1, shape.lists);
	move_at(_metadata, &self->x, self->near, mem, at, ARRAY_SIZE(at));
	EXPECT_EQ(0, at_mr_dereg(&self->x, 1));
}

/* Ordinary pages that follow a huge one: the data stays in order. */
TEST_F(huge, beside_ordinary_pages)
{
	const size_t tail = 8 * AT_PAGE;
	const size_t at[] = { 0, HUGE - 2500, HUGE, HUGE + tail - LEN };
	char *mem = self->mem + (COUNT - 1) * HUGE;
	char *after = self->mem + COUNT * HUGE;

	after = mmap(after, tail, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (after == MAP_FAILED)
		SKIP(return, "the addresses after the huge pages are in use");
	ASSERT_EQ(1, at_mr(&self->x, mem, HUGE + tail, ANGARA_ACCESS_ALL));
	move_at(_metadata, &self->x, self->near, mem, at, ARRAY_SIZE(at));
	EXPECT_EQ(0, at_mr_dereg(&self->x, 1));
	munmap(after, tail);
}

TEST_HARNESS_MAIN
