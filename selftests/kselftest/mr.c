// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions: registration, keys, accounting, and whether the device stays
 * within the bounds and rights of a region.
 */
#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_DEVICE)

#define LW	ANGARA_ACCESS_LOCAL_WRITE
#define RR	ANGARA_ACCESS_REMOTE_READ
#define RW	ANGARA_ACCESS_REMOTE_WRITE
#define ALL	ANGARA_ACCESS_ALL

/* Two contexts: x on the first device, y on the last one. */
FIXTURE(mr) {
	unsigned int dev;
	struct at_ctx x;
	struct at_ctx y;
	struct at_usage use;
	long charged;
	char *mem;
	size_t len;
};

FIXTURE_SETUP(mr)
{
	unsigned int dev, end = at_devices();
	struct at_fabric f;

	self->len = 16 * AT_PAGE;
	self->mem = at_pages(self->len);
	ASSERT_NE(NULL, self->mem);
	ASSERT_EQ(0, at_usage(&self->use));
	self->charged = at_charged();
	if (!at_fabric_find(&f, 1)) {
		self->dev = f.dev[0];
		dev = f.dev[f.nodes - 1];
	} else {
		for (dev = 0; dev < end; dev++)
			if (!at_ctx_open(&self->x, dev, NULL))
				break;
		at_ctx_close(&self->x);
		self->dev = dev;
	}
	ASSERT_EQ(0, at_ctx_open(&self->x, self->dev, NULL));
	ASSERT_EQ(0, at_ctx_open(&self->y, dev, NULL));
}

FIXTURE_TEARDOWN(mr)
{
	at_ctx_close(&self->x);
	at_ctx_close(&self->y);
	EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
	EXPECT_EQ(self->charged, at_charged());
}

static int reg_raw(struct at_ctx *x, uint64_t addr, uint64_t len,
		   unsigned int access)
{
	struct angara_mr_register reg = {
		.size = sizeof(reg),
		.addr = addr,
		.length = len,
		.access = access,
	};
	int ret = at_ioctl(x->dom, ANGARA_IOCTL_MR_REG, &reg);

	return ret ? ret : (int)reg.key;
}

static int reg_key(struct at_ctx *x, void *addr, size_t len, uint64_t key)
{
	struct angara_mr_register reg = {
		.size = sizeof(reg),
		.flags = ANGARA_MR_KEY,
		.addr = (uintptr_t)addr,
		.length = len,
		.access = ALL,
		.key = key,
	};
	int ret = at_ioctl(x->dom, ANGARA_IOCTL_MR_REG, &reg);

	return ret ? ret : reg.key == key ? 0 : -EBADMSG;
}

/* After a failed call nothing is registered or charged. */
#define EXPECT_NOTHING(self) do {					\
	struct at_usage now_;						\
	ASSERT_EQ(0, at_usage(&now_));					\
	EXPECT_EQ((self)->use.mrs, now_.mrs);				\
	EXPECT_EQ((self)->use.pinned, now_.pinned);			\
	EXPECT_EQ((self)->charged, at_charged());			\
} while (0)

TEST_F(mr, bad_values)
{
	uintptr_t mem = (uintptr_t)self->mem;
	unsigned int bit;

	EXPECT_EQ(-EINVAL, reg_raw(&self->x, mem, 0, ALL));
	for (bit = 3; bit < 32; bit++) {
		EXPECT_EQ(-EINVAL, reg_raw(&self->x, mem, AT_PAGE, 1U << bit));
	}
	EXPECT_NOTHING(self);
}

TEST_F(mr, length_overflows)
{
	uintptr_t mem = (uintptr_t)self->mem;
	const uint64_t bad[][2] = {
		{ mem, ~0ULL }, { mem, ~0ULL - mem }, { mem, 0ULL - mem },
		{ mem, 1ULL << 63 }, { mem, (1ULL << 47) },
		{ ~0ULL, 1 }, { ~0ULL, 2 }, { ~0ULL - 4095, 4096 },
		{ ~0ULL - 4095, 8192 },
	};
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ret = reg_raw(&self->x, bad[i][0], bad[i][1], ALL);
		EXPECT_TRUE(ret == -EINVAL || ret == -EFAULT ||
			    ret == -ENOMEM) {
			TH_LOG("%llx + %llx: %d",
			       (unsigned long long)bad[i][0],
			       (unsigned long long)bad[i][1], ret);
		}
	}
	EXPECT_NOTHING(self);
}

TEST_F(mr, not_mapped)
{
	static const uint64_t bad[] = {
		0, 4096, 0xFFFF888000000000ULL, 0xFFFFFFFF81000000ULL,
		1ULL << 63,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EFAULT, reg_raw(&self->x, bad[i], AT_PAGE, ALL));
	}
	/*
	 * Make a hole at each place in turn: the pages before it are unpinned
	 * again.
	 */
	for (i = 0; i < self->len / AT_PAGE; i++) {
		char *hole = self->mem + i * AT_PAGE;

		ASSERT_EQ(0, munmap(hole, AT_PAGE));
		EXPECT_EQ(-EFAULT, at_mr(&self->x, self->mem, self->len, ALL));
		ASSERT_EQ(hole, mmap(hole, AT_PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				     -1, 0));
	}
	EXPECT_NOTHING(self);
	EXPECT_EQ(0, at_mr(&self->x, self->mem, self->len, ALL));
}

TEST_F(mr, read_only_memory)
{
	unsigned int access;

	memset(self->mem, 1, self->len);
	ASSERT_EQ(0, mprotect(self->mem, self->len, PROT_READ));
	for (access = 0; access <= ALL; access++)
		if (access & (LW | RW)) {
			EXPECT_EQ(-EFAULT, at_mr(&self->x, self->mem,
						 self->len, access));
		}
	EXPECT_NOTHING(self);
	EXPECT_EQ(0, at_mr(&self->x, self->mem, self->len, 0));
	EXPECT_EQ(1, at_mr(&self->x, self->mem, self->len, RR));
}

/* The device does not write to a file that is open read-only. */
TEST_F(mr, read_only_file)
{
	int fd = memfd_create("angara", MFD_CLOEXEC);
	char path[32], *p;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, AT_PAGE));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	p = mmap(NULL, AT_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	EXPECT_EQ(-EFAULT, at_mr(&self->x, p, AT_PAGE, LW));
	EXPECT_EQ(-EFAULT, at_mr(&self->x, p, AT_PAGE, RW));
	EXPECT_NOTHING(self);
	close(fd);
}

TEST_F(mr, any_alignment)
{
	static const struct {
		unsigned int off;
		unsigned int len;
	} at[] = {
		{ 0, 1 }, { 1, 1 }, { 4095, 1 }, { 4095, 2 }, { 1, 4095 },
		{ 1, 4096 }, { 4094, 4099 }, { 63, 8193 }, { 0, 65536 },
	};
	struct angara_wqe w;
	unsigned int i;
	int key, back;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		char *p = self->mem + at[i].off, *copy = at_pages(at[i].len);

		key = at_mr(&self->y, p, at[i].len, ALL);
		back = at_mr(&self->x, copy, at[i].len, ALL);
		ASSERT_LE(0, key);
		ASSERT_LE(0, back);
		at_fill(p, at[i].len, i);
		w = at_get(&self->y, key, 0, back, 0, at[i].len);
		EXPECT_EQ(ANGARA_ST_OK, at_do(&self->x, &w, NULL));
		EXPECT_TRUE(at_filled(copy, at[i].len, i));
		EXPECT_EQ(0, at_mr_dereg(&self->y, key));
		EXPECT_EQ(0, at_mr_dereg(&self->x, back));
	}
}

TEST_F(mr, keys)
{
	uint32_t max = self->x.q.max_mrs;
	int key;

	for (key = 0; key < 4; key++) {
		EXPECT_EQ(key, at_mr(&self->x, self->mem, AT_PAGE, ALL));
	}
	EXPECT_EQ(0, at_mr_dereg(&self->x, 1));
	EXPECT_EQ(0, at_mr_dereg(&self->x, 2));
	EXPECT_EQ(1, at_mr(&self->x, self->mem, AT_PAGE, ALL));
	EXPECT_EQ(-EEXIST, reg_key(&self->x, self->mem, AT_PAGE, 1));
	EXPECT_EQ(0, reg_key(&self->x, self->mem, AT_PAGE, 2));
	EXPECT_EQ(0, reg_key(&self->x, self->mem, AT_PAGE, max - 1));
	EXPECT_EQ(-EEXIST, reg_key(&self->x, self->mem, AT_PAGE, max - 1));
	/* Two keys cannot have the same slot. */
	EXPECT_EQ(-EEXIST, reg_key(&self->x, self->mem, AT_PAGE, 0xABCDEF0001ULL));
	EXPECT_EQ(0, reg_key(&self->x, self->mem, AT_PAGE, ~0ULL << 16 | 5));
	EXPECT_EQ(4, at_mr(&self->x, self->mem, AT_PAGE, ALL));
	/* Keys belong to the domain. */
	EXPECT_EQ(0, at_mr(&self->y, self->mem, AT_PAGE, ALL));
}

TEST_F(mr, dereg_unknown)
{
	static const uint64_t bad[] = { 0, 1, 0x7FFFFFFFU, ~0U, ~0ULL };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-ENOENT, at_mr_dereg(&self->x, bad[i]));
	}
	EXPECT_EQ(-ENOENT, at_mr_dereg(&self->x, self->x.q.max_mrs));
	EXPECT_EQ(0, at_mr(&self->x, self->mem, AT_PAGE, ALL));
	EXPECT_EQ(-ENOENT, at_mr_dereg(&self->y, 0));
	EXPECT_EQ(0, at_mr_dereg(&self->x, 0));
	EXPECT_EQ(-ENOENT, at_mr_dereg(&self->x, 0));
}

TEST_F(mr, accounting)
{
	long pinned = at_proc_bytes("/proc/self/status", "VmPin");
	struct at_usage use;
	struct at_nl_obj obj;

	ASSERT_EQ(0, at_mr(&self->x, self->mem, 4 * AT_PAGE, ALL));
	EXPECT_EQ(self->charged + 4 * AT_PAGE, at_charged());
	/* VmPin, not VmLck: uncharging VmLck takes the mmap_lock. */
	EXPECT_EQ(pinned + 4 * AT_PAGE,
		  at_proc_bytes("/proc/self/status", "VmPin"));
	/* Two bytes on two pages cost two pages. */
	ASSERT_EQ(1, at_mr(&self->x, self->mem + AT_PAGE - 1, 2, ALL));
	EXPECT_EQ(self->charged + 6 * AT_PAGE, at_charged());
	ASSERT_EQ(0, at_usage(&use));
	EXPECT_EQ(self->use.mrs + 2, use.mrs);
	EXPECT_EQ(self->use.pinned + 6 * AT_PAGE, use.pinned);
	ASSERT_EQ(0, at_nl_ctx(self->dev, self->x.c.ctx, &obj));
	EXPECT_EQ(2, obj.val[ANGARA_A_CTX_MRS]);
	EXPECT_EQ(6 * AT_PAGE, obj.val[ANGARA_A_CTX_PINNED]);
	EXPECT_EQ(getpid(), obj.val[ANGARA_A_CTX_PID]);
	EXPECT_EQ(0, at_mr_dereg(&self->x, 1));
	EXPECT_EQ(self->charged + 4 * AT_PAGE, at_charged());
	EXPECT_EQ(0, at_mr_dereg(&self->x, 0));
	EXPECT_NOTHING(self);
	/* Closing the context uncharges the pages as well. */
	ASSERT_EQ(0, at_mr(&self->x, self->mem, self->len, ALL));
	at_ctx_close(&self->x);
	EXPECT_EQ(self->charged, at_charged());
}

/* Registers as AT_NOBODY, limited to 16 pages. Return: failed step. */
static int limited(unsigned int dev, char *mem)
{
	struct rlimit limit = { 16 * AT_PAGE, 16 * AT_PAGE };
	struct at_ctx x;
	long before;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || at_become(AT_NOBODY))
		return 1;
	before = at_charged();
	if (before || at_ctx_open(&x, dev, NULL))
		return 2;
	if (at_mr(&x, mem, 16 * AT_PAGE, ALL) != 0)
		return 3;
	if (at_mr(&x, mem, 1, ALL) != -ENOMEM)
		return 4;
	if (at_charged() != 16 * (long)AT_PAGE)
		return 5;
	if (at_mr_dereg(&x, 0) || at_charged())
		return 6;
	if (at_mr(&x, mem, 16 * AT_PAGE + 1, ALL) != -ENOMEM)
		return 7;
	if (at_mr(&x, mem, 8 * AT_PAGE, ALL) != 0 ||
	    at_mr(&x, mem, 8 * AT_PAGE, ALL) != 1 ||
	    at_mr(&x, mem, 1, ALL) != -ENOMEM)
		return 8;
	/* Impossible lengths are refused before a page is touched. */
	if (reg_raw(&x, (uintptr_t)mem, 1ULL << 33, ALL) != -ENOMEM)
		return 9;
	at_ctx_close(&x);
	if (at_charged())
		return 10;
	return 0;
}

TEST_F(mr, rlimit_memlock)
{
	char path[32], *mem = at_pages(32 * AT_PAGE);
	struct stat st;
	pid_t pid;

	at_dev_path(self->dev, path);
	ASSERT_EQ(0, stat(path, &st));
	ASSERT_EQ(0, chmod(path, 0666));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(limited(self->dev, mem));
	EXPECT_EQ(0, at_wait_child(pid, AT_DEADLINE_MS));
	EXPECT_EQ(0, chmod(path, st.st_mode & 07777));
}

/* Tests each access without the right that it needs. */
TEST_F(mr, rights)
{
	char *far = at_pages(AT_PAGE), *near = at_pages(AT_PAGE);
	unsigned int access, key, want;
	struct angara_wqe w;

	ASSERT_EQ(0, at_mr(&self->x, near, AT_PAGE, ALL));
	for (access = 0; access <= ALL; access++) {
		key = at_mr(&self->y, far, AT_PAGE, access);
		memset(far, 0xAA, AT_PAGE);
		at_fill(near, AT_PAGE, access);

		want = access & RW ? ANGARA_ST_OK : ANGARA_ST_ACCESS;
		w = at_put(&self->y, key, 0, 0, 0, 600);
		EXPECT_EQ(want, at_do(&self->x, &w, NULL)) {
			TH_LOG("put to a region with rights %u", access);
		}
		EXPECT_EQ(want == ANGARA_ST_OK, at_filled(far, 600, access));
		EXPECT_EQ(want != ANGARA_ST_OK, at_all(far, AT_PAGE, 0xAA));

		want = access & RR ? ANGARA_ST_OK : ANGARA_ST_ACCESS;
		memset(near, 0xBB, AT_PAGE);
		w = at_get(&self->y, key, 0, 0, 0, 600);
		EXPECT_EQ(want, at_do(&self->x, &w, NULL)) {
			TH_LOG("get from a region with rights %u", access);
		}
		EXPECT_EQ(want != ANGARA_ST_OK, at_all(near, AT_PAGE, 0xBB));
		EXPECT_EQ(0, at_mr_dereg(&self->y, key));
	}
}

TEST_F(mr, rights_of_the_local_side)
{
	char *far = at_pages(AT_PAGE), *near = at_pages(AT_PAGE);
	unsigned int access, want;
	struct angara_wqe w;
	int key;

	ASSERT_EQ(0, at_mr(&self->y, far, AT_PAGE, ALL));
	for (access = 0; access <= ALL; access++) {
		key = at_mr(&self->x, near, AT_PAGE, access);
		want = access & LW ? ANGARA_ST_OK : ANGARA_ST_ACCESS;
		memset(far, 0xAA, AT_PAGE);
		memset(near, 0xBB, AT_PAGE);
		w = at_get(&self->y, 0, 0, key, 0, 600);
		EXPECT_EQ(want, at_do(&self->x, &w, NULL)) {
			TH_LOG("get into a region with rights %u", access);
		}
		EXPECT_EQ(want != ANGARA_ST_OK, at_all(near, AT_PAGE, 0xBB));
		/*
		 * A context may read a source in its own region whatever the
		 * region's rights are.
		 */
		w = at_put(&self->y, 0, 0, key, 0, 600);
		EXPECT_EQ(ANGARA_ST_OK, at_do(&self->x, &w, NULL));
		EXPECT_EQ(0, at_mr_dereg(&self->x, key));
	}
}

TEST_F(mr, bounds)
{
	const uint32_t len = 5000;
	const struct {
		uint64_t off;
		uint32_t len;
		unsigned int want;
	} at[] = {
		{ 0, len, ANGARA_ST_OK },
		{ 0, len + 1, ANGARA_ST_BOUNDS },
		{ 1, len, ANGARA_ST_BOUNDS },
		{ len - 1, 1, ANGARA_ST_OK },
		{ len - 1, 2, ANGARA_ST_BOUNDS },
		{ len, 1, ANGARA_ST_BOUNDS },
		{ len, 0, ANGARA_ST_OK },
		{ ~0ULL, 1, ANGARA_ST_BOUNDS },
		{ ~0ULL, 2, ANGARA_ST_BOUNDS },
		{ ~0ULL - 255, 256, ANGARA_ST_BOUNDS },
		{ ~0ULL - 255, 512, ANGARA_ST_BOUNDS },
		{ 1ULL << 32, 1, ANGARA_ST_BOUNDS },
		{ 1ULL << 63, 1, ANGARA_ST_BOUNDS },
		{ 0, ANGARA_MAX_OP_BYTES, ANGARA_ST_BOUNDS },
	};
	char *far = at_pages(2 * AT_PAGE), *near = at_pages(2 * AT_PAGE);
	struct angara_wqe w;
	unsigned int i;

	ASSERT_EQ(0, at_mr(&self->y, far + 100, len, ALL));
	ASSERT_EQ(0, at_mr(&self->x, near, 2 * AT_PAGE, ALL));
	ASSERT_EQ(1, at_mr(&self->x, near + 100, len, ALL));
	memset(far, 0xCC, 2 * AT_PAGE);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		w = at_put(&self->y, 0, at[i].off, 0, 0, at[i].len);
		if (at[i].len <= 2 * AT_PAGE) {
			EXPECT_EQ(at[i].want, at_do(&self->x, &w, NULL)) {
				TH_LOG("put to the remote region, entry %u", i);
			}
		}
		w = at_get(&self->y, 0, at[i].off, 0, 0, at[i].len);
		EXPECT_EQ(at[i].want, at_do(&self->x, &w, NULL)) {
			TH_LOG("get from the remote region, entry %u", i);
		}
		w = at_put(&self->y, 0, 0, 1, at[i].off, at[i].len);
		EXPECT_EQ(at[i].want, at_do(&self->x, &w, NULL)) {
			TH_LOG("put from the local region, entry %u", i);
		}
		w = at_get(&self->y, 0, 0, 1, at[i].off, at[i].len);
		EXPECT_EQ(at[i].want, at_do(&self->x, &w, NULL)) {
			TH_LOG("get to the local region, entry %u", i);
		}
	}
	EXPECT_TRUE(at_all(far, 100, 0xCC));
	EXPECT_TRUE(at_all(far + 100 + len, 2 * AT_PAGE - 100 - len, 0xCC));
}

/*
 * Transfers across each 2 MiB and at both ends of a region that is longer than
 * one list of pages and not page-aligned.
 */
TEST_F(mr, large_region)
{
	const size_t list = 512 * AT_PAGE, len = 3 * list + 5000;
	char *far = at_pages(len + AT_PAGE), *near = at_pages(3 * AT_PAGE);
	const uint64_t at[] = {
		0, 4095, list - 5000, list - 4001, 2 * list - 4500,
		3 * list - 4096 - 1001, len - 5000,
	};
	struct angara_wqe w;
	unsigned int i;

	ASSERT_EQ(0, at_mr(&self->y, far + 1001, len, ALL));
	ASSERT_EQ(0, at_mr(&self->x, near, 3 * AT_PAGE, ALL));
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		at_fill(near, 5000, i);
		w = at_put(&self->y, 0, at[i], 0, 0, 5000);
		EXPECT_EQ(ANGARA_ST_OK, at_do(&self->x, &w, NULL));
		EXPECT_TRUE(at_filled(far + 1001 + at[i], 5000, i)) {
			TH_LOG("put to offset %llu", (unsigned long long)at[i]);
		}
		memset(near, 0, 5000);
		w = at_get(&self->y, 0, at[i], 0, 0, 5000);
		EXPECT_EQ(ANGARA_ST_OK, at_do(&self->x, &w, NULL));
		EXPECT_TRUE(at_filled(near, 5000, i)) {
			TH_LOG("get from offset %llu", (unsigned long long)at[i]);
		}
	}
	w = at_put(&self->y, 0, len - 4999, 0, 0, 5000);
	EXPECT_EQ(ANGARA_ST_BOUNDS, at_do(&self->x, &w, NULL));
	EXPECT_EQ(0, far[1000]);
	EXPECT_EQ(0, far[1001 + len]);
}

/* After deregistering the device no longer touches the memory. */
TEST_F(mr, dereg_in_use)
{
	const size_t len = 1 << 20;
	char *far = at_pages(len), *near = at_pages(len);
	unsigned int round, rounds = at_scale(8);
	struct angara_cqe cqe;
	struct angara_wqe w;
	int key, status;

	ASSERT_EQ(0, at_mr(&self->y, far, len, ALL));
	for (round = 0; round < rounds; round++) {
		key = at_mr(&self->x, near, len, ALL);
		ASSERT_LE(0, key);
		memset(far, 1 + round, len);
		w = at_get(&self->y, 0, 0, key, 0, len);
		ASSERT_EQ(0, at_post(&self->x, &w, NULL));
		if (round % 2) {
			ASSERT_EQ(0, at_kick(&self->x));
		}
		ASSERT_EQ(0, at_mr_dereg(&self->x, key));
		memset(near, 0xEE, len);
		ASSERT_EQ(0, at_kick(&self->x));
		ASSERT_EQ(0, at_wait_cqe(&self->x, &cqe, AT_DEADLINE_MS));
		status = le16toh(cqe.status);
		EXPECT_TRUE(status == ANGARA_ST_KEY ||
			    (round % 2 && status == ANGARA_ST_OK)) {
			TH_LOG("round %u: status %d", round, status);
		}
		EXPECT_TRUE(at_all(near, len, 0xEE));
	}
}

/* The region keeps its pages when the process unmaps them. */
TEST_F(mr, unmapped_afterwards)
{
	char *far = at_pages(AT_PAGE), *near = at_pages(2 * AT_PAGE);
	struct angara_wqe w;

	ASSERT_EQ(0, at_mr(&self->y, far, AT_PAGE, ALL));
	ASSERT_EQ(0, at_mr(&self->x, near, 2 * AT_PAGE, ALL));
	at_fill(near, 2 * AT_PAGE, 5);
	ASSERT_EQ(0, munmap(near, 2 * AT_PAGE));
	w = at_put(&self->y, 0, 0, 0, 0, AT_PAGE);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&self->x, &w, NULL));
	EXPECT_TRUE(at_filled(far, AT_PAGE, 5));
	EXPECT_EQ(0, at_mr_dereg(&self->x, 0));
}

TEST_HARNESS_MAIN
