// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping of queues and counters: offsets, protections, and use of the mapping
 * after the file is closed or the device is gone.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_DEVICE)

#define SQ	64
#define CQ	256

/* A mappable range of the device file. */
struct area {
	uint64_t off;
	size_t len;
	bool writable;
};

FIXTURE(map) {
	unsigned int dev;
	int dom;
	int fd;
	struct angara_ctx_create c;
	struct at_usage use;
	struct area area;
	void *p;
};

FIXTURE_VARIANT(map) {
	unsigned int which;
};

FIXTURE_VARIANT_ADD(map, sq) { .which = 0 };
FIXTURE_VARIANT_ADD(map, cq) { .which = 1 };
FIXTURE_VARIANT_ADD(map, ctl) { .which = 2 };
FIXTURE_VARIANT_ADD(map, ctr) { .which = 3 };

/* Makes a context in a new domain. Return: its file or -errno. */
static int create(int dom, struct angara_ctx_create *c)
{
	long ret = at_domain_create(dom, 0);

	if (ret < 0)
		return ret;
	memset(c, 0, sizeof(*c));
	c->size = sizeof(*c);
	c->sq_entries = SQ;
	c->cq_entries = CQ;
	ret = at_ioctl(dom, ANGARA_IOCTL_CTX_CREATE, c);
	return ret ? ret : c->fd;
}

static void areas(const struct angara_ctx_create *c, struct area a[4])
{
	a[0] = (struct area) { c->sq_offset, SQ * sizeof(struct angara_wqe), true };
	a[1] = (struct area) { c->cq_offset, CQ * sizeof(struct angara_cqe), false };
	a[2] = (struct area) { c->ctl_offset, AT_PAGE, true };
	a[3] = (struct area) { c->ctr_offset, AT_PAGE, false };
}

/* Return: the address, or -errno. */
static long try_map(int fd, uint64_t off, size_t len, int prot, int flags)
{
	void *p = mmap(NULL, len, prot, flags, fd, off);

	return p == MAP_FAILED ? -errno : (long)p;
}

static int prot_of(const struct area *a)
{
	return a->writable ? PROT_READ | PROT_WRITE : PROT_READ;
}

FIXTURE_SETUP(map)
{
	struct area all[4];
	long p;

	self->dom = -ENOENT;
	ASSERT_EQ(0, at_usage(&self->use));
	while (self->dev < at_devices() && self->dom < 0)
		self->dom = at_open(self->dev++);
	self->dev--;
	ASSERT_LE(0, self->dom);
	self->fd = create(self->dom, &self->c);
	ASSERT_LE(0, self->fd);
	areas(&self->c, all);
	self->area = all[variant->which];
	p = try_map(self->fd, self->area.off, self->area.len,
		    prot_of(&self->area), MAP_SHARED);
	ASSERT_LT(0, p);
	self->p = (void *)p;
}

FIXTURE_TEARDOWN(map)
{
	close(self->dom);
	close(self->fd);
	if (self->p)
		munmap(self->p, self->area.len);
	EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
}

static sigjmp_buf trap;

static void on_fault(int sig)
{
	siglongjmp(trap, sig);
}

/* Return: the signal that a read or write raises, or 0. */
static int touch(void *p, bool write)
{
	struct sigaction act = { .sa_handler = on_fault }, segv, bus;
	volatile char *c = p;
	int sig;

	sigaction(SIGSEGV, &act, &segv);
	sigaction(SIGBUS, &act, &bus);
	sig = sigsetjmp(trap, 1);
	if (!sig) {
		if (write)
			*c = 0;
		else
			(void)*c;
	}
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGBUS, &bus, NULL);
	return sig;
}

TEST_F(map, every_page_can_be_used)
{
	size_t off;

	for (off = 0; off < self->area.len; off += AT_PAGE) {
		EXPECT_EQ(0, touch((char *)self->p + off, false));
		EXPECT_EQ(self->area.writable ? 0 : SIGSEGV,
			  touch((char *)self->p + off, true));
	}
}

TEST_F(map, starts_clean)
{
	/* A new context shows no data of an earlier one. */
	if (variant->which != 3) {
		EXPECT_TRUE(at_all(self->p, self->area.len, 0));
	}
}

TEST_F(map, too_long)
{
	static const size_t more[] = { 1, AT_PAGE, 16 * AT_PAGE, 1UL << 30 };
	size_t pages = (self->area.len + AT_PAGE - 1) & ~(AT_PAGE - 1);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(more); i++) {
		EXPECT_GT(0, try_map(self->fd, self->area.off, pages + more[i],
				     PROT_READ, MAP_SHARED)) {
			TH_LOG("mapping that is %zu bytes too long", more[i]);
		}
	}
}

TEST_F(map, not_shared)
{
	EXPECT_GT(0, try_map(self->fd, self->area.off, self->area.len,
			     PROT_READ | PROT_WRITE, MAP_PRIVATE));
}

/*
 * The rights of a mapping can be reduced, but not extended beyond those of the
 * range.
 */
TEST_F(map, protection)
{
	int want = self->area.writable ? 0 : -1;

	EXPECT_EQ(0, mprotect(self->p, self->area.len, PROT_READ));
	EXPECT_EQ(SIGSEGV, touch(self->p, true));
	EXPECT_EQ(want, mprotect(self->p, self->area.len,
				 PROT_READ | PROT_WRITE));
	if (self->area.writable) {
		EXPECT_EQ(0, touch(self->p, true));
		return;
	}
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(SIGSEGV, touch(self->p, true));
	EXPECT_GT(0, try_map(self->fd, self->area.off, self->area.len,
			     PROT_READ | PROT_WRITE, MAP_SHARED));
	EXPECT_GT(0, try_map(self->fd, self->area.off, self->area.len,
			     PROT_WRITE, MAP_SHARED));
}

/* Read-only areas cannot be written through /proc/self/mem either. */
TEST_F(map, write_through_proc_mem)
{
	char byte = 1;
	int fd;

	fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(self->area.writable,
		  pwrite(fd, &byte, 1, (off_t)(uintptr_t)self->p) == 1);
	close(fd);
	EXPECT_EQ(self->area.writable, *(volatile char *)self->p == 1);
}

/*
 * A file opened read-only permits neither writable mappings nor calls that
 * change something.
 */
TEST_F(map, read_only_file)
{
	char path[32];
	int dom, fd;
	long p;

	at_dev_path(self->dev, path);
	dom = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, dom);
	fd = create(dom, &self->c);
	ASSERT_LE(0, fd);
	close(dom);
	EXPECT_EQ(-EACCES, try_map(fd, self->area.off, self->area.len,
				   PROT_READ | PROT_WRITE, MAP_SHARED));
	p = try_map(fd, self->area.off, self->area.len, PROT_READ, MAP_SHARED);
	if (p > 0) {
		EXPECT_EQ(-1, mprotect((void *)p, self->area.len,
				       PROT_READ | PROT_WRITE));
		EXPECT_EQ(0, munmap((void *)p, self->area.len));
	}
	close(fd);
}

TEST_F(map, mremap)
{
	size_t pages = (self->area.len + AT_PAGE - 1) & ~(AT_PAGE - 1);
	void *p;

	p = mremap(self->p, pages, pages + AT_PAGE, MREMAP_MAYMOVE);
	EXPECT_EQ(MAP_FAILED, p);
	p = mremap(self->p, 0, pages + AT_PAGE, MREMAP_MAYMOVE);
	EXPECT_EQ(MAP_FAILED, p);
	EXPECT_EQ(0, touch(self->p, false));
}

TEST_F(map, not_inherited)
{
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(touch(self->p, false) == SIGSEGV ? 0 : 1);
	EXPECT_EQ(0, at_wait_child(pid, AT_DEADLINE_MS));
	EXPECT_EQ(0, touch(self->p, false));
}

TEST_F(map, outlives_the_file)
{
	struct at_usage use;

	close(self->dom);
	close(self->fd);
	self->dom = self->fd = -1;
	EXPECT_EQ(0, touch(self->p, false));
	if (self->area.writable) {
		EXPECT_EQ(0, touch(self->p, true));
	}
	ASSERT_EQ(0, at_usage(&use));
	/* The mapping keeps the file open, so the context exists. */
	EXPECT_EQ(self->use.contexts + 1, use.contexts);
	EXPECT_EQ(0, munmap(self->p, self->area.len));
	self->p = NULL;
	EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
}

FIXTURE(offsets) {
	unsigned int dev;
	int dom;
	int fd;
	struct angara_ctx_create c;
	struct area area[4];
};

FIXTURE_SETUP(offsets)
{
	self->dom = -ENOENT;
	while (self->dev < at_devices() && self->dom < 0)
		self->dom = at_open(self->dev++);
	self->dev--;
	ASSERT_LE(0, self->dom);
	self->fd = create(self->dom, &self->c);
	ASSERT_LE(0, self->fd);
	areas(&self->c, self->area);
}

FIXTURE_TEARDOWN(offsets)
{
	close(self->dom);
	close(self->fd);
}

/* Is the page at @off inside of a range? */
static bool inside(const struct area a[4], uint64_t off)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (off >= a[i].off && off < a[i].off + a[i].len)
			return true;
	return false;
}

/*
 * Searches @pages pages from offset @from for one that can be mapped although
 * it is in no range.  Return: its offset.
 */
static int64_t stray(const FIXTURE_DATA(offsets) *self, uint64_t from,
		     unsigned int pages)
{
	uint64_t off = from & ~(AT_PAGE - 1);
	long p;

	for (; pages; pages--, off += AT_PAGE) {
		if ((int64_t)off < 0 || inside(self->area, off) ||
		    (self->c.db_offset && off == self->c.db_offset))
			continue;
		p = try_map(self->fd, off, AT_PAGE, PROT_READ, MAP_SHARED);
		if (p > 0) {
			munmap((void *)p, AT_PAGE);
			return off;
		}
	}
	return -1;
}

TEST_F(offsets, outside_of_areas)
{
	const unsigned int around = 64;
	const struct area *a = self->area;
	unsigned int i;

	EXPECT_EQ(-1, stray(self, 0, at_scale(1024)));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(-1, stray(self, a[i].off - around * AT_PAGE,
				    2 * around + a[i].len / AT_PAGE));
	}
	for (i = 12; i < 63; i++) {
		EXPECT_EQ(-1, stray(self, 1ULL << i, 2));
	}
	EXPECT_EQ(-1, stray(self, INT64_MAX - 4 * AT_PAGE, 4));
}

/* A device's file has only the watch page of its domain. */
TEST_F(offsets, without_a_context)
{
	int fd = self->dom;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		EXPECT_EQ(-EINVAL, try_map(fd, self->area[i].off,
					   self->area[i].len, PROT_READ,
					   MAP_SHARED));
	}
}

TEST_F(offsets, map_survives_the_fabric)
{
	struct at_fabric f;
	struct at_loop loop;
	struct at_ctx x;

	if (at_loop_add("2", &loop))
		SKIP(return, "cannot create a fabric: is angara_loop loaded?");
	ASSERT_EQ(0, at_fabric_find_id(&f, loop.id));
	ASSERT_EQ(0, at_ctx_open(&x, f.dev[0], NULL));
	ASSERT_EQ(0, at_loop_remove(&loop));
	EXPECT_EQ(0, touch(x.sq, true));
	EXPECT_EQ(0, touch(x.ctl, true));
	EXPECT_EQ(0, touch((void *)x.cq, false));
	EXPECT_EQ(0, touch((void *)x.ctr, false));
	EXPECT_EQ(-ENODEV, at_kick(&x));
	EXPECT_GT(0, try_map(x.fd, x.c.sq_offset, AT_PAGE, PROT_READ,
			     MAP_SHARED));
	at_ctx_close(&x);
}

TEST_HARNESS_MAIN
