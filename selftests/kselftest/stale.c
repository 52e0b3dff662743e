// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watched regions: which changes of a process's addresses make a region stale,
 * which do not, and that no change is missed while threads make changes.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "angtest.h"

AT_REQUIRE(AT_ROOT | AT_DEVICE)

#define LW	ANGARA_ACCESS_LOCAL_WRITE
#define PAGES	8
#define LEN	(PAGES * AT_PAGE)
#define SLOTS	65536	/* slots of a domain */
#define NOTICE	(sizeof(struct angara_watch) + SLOTS / 8)
#define MAPPED	((NOTICE + AT_PAGE - 1) & ~(AT_PAGE - 1))
#define RW	(PROT_READ | PROT_WRITE)
#define FLAGS	(MAP_PRIVATE | MAP_ANONYMOUS)

/* Maps pages outside of huge pages, which change as a whole. */
static char *pages(size_t len, int prot)
{
	char *p = mmap(NULL, len, prot, FLAGS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, len, MADV_NOHUGEPAGE);
	return p;
}

FIXTURE(stale) {
	int fd;
	uint64_t offset;
	uint64_t bytes;
	const volatile struct angara_watch *notice;
	long charged;
	char *mem;
};

static int open_domain(uint64_t *offset, uint64_t *bytes)
{
	struct angara_domain_create d = { .size = sizeof(d) };
	unsigned int dev, end = at_devices();
	int fd = -ENODEV, ret;

	for (dev = 0; dev < end && fd < 0; dev++)
		fd = at_open(dev);
	if (fd < 0)
		return fd;
	ret = at_ioctl(fd, ANGARA_IOCTL_DOMAIN_CREATE, &d);
	*offset = d.watch_offset;
	*bytes = d.watch_bytes;
	return ret ? ret : fd;
}

/* Return: slot of the new region, or -errno. */
static int reg(int fd, void *addr, size_t len, unsigned int access,
	       unsigned int flags, uint64_t *key)
{
	struct angara_mr_register arg = {
		.size = sizeof(arg), .flags = flags, .addr = (uintptr_t)addr,
		.length = len, .access = access,
	};
	int ret;

	do {
		ret = at_ioctl(fd, ANGARA_IOCTL_MR_REG, &arg);
	} while (ret == -EINTR);
	*key = arg.key;
	return ret ? ret : (int)(arg.key & 0xFFFF);
}

static int dereg(int fd, uint64_t key)
{
	struct angara_mr_deregister arg = { .size = sizeof(arg), .key = key };

	return at_ioctl(fd, ANGARA_IOCTL_MR_DEREG, &arg);
}

static bool is_stale(const volatile struct angara_watch *n, int slot)
{
	return ((const volatile uint64_t *)(n + 1))[slot / 64] >> slot % 64 & 1;
}

/*
 * Without CONFIG_MMU_NOTIFIER the kernel does not notify the driver, and every
 * region is stale.  The driver's own report is under test, so ask the kernel.
 */
static bool has_notifiers(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	bool has = !f;
	char line[512], name[256];

	while (!has && fgets(line, sizeof(line), f))
		has = sscanf(line, "%*s %*s %255s", name) == 1 &&
		      !strcmp(name, "mmu_interval_notifier_insert");
	if (f)
		fclose(f);
	return has;
}

static bool told_at_once(int fd, const volatile struct angara_watch *n, void *mem)
{
	uint64_t key;
	int slot = reg(fd, mem, LEN, LW, ANGARA_MR_WATCH, &key);
	bool stale = slot >= 0 && is_stale(n, slot);

	if (slot >= 0)
		dereg(fd, key);
	return stale;
}

FIXTURE_SETUP(stale)
{
	void *p;

	self->charged = at_charged();
	self->fd = open_domain(&self->offset, &self->bytes);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(NOTICE, self->bytes);
	p = mmap(NULL, NOTICE, PROT_READ, MAP_SHARED, self->fd, self->offset);
	ASSERT_NE(MAP_FAILED, p);
	self->notice = p;
	self->mem = pages(LEN, RW);
	ASSERT_NE(NULL, self->mem);
	memset(self->mem, 1, LEN);
	if (told_at_once(self->fd, self->notice, self->mem)) {
		ASSERT_FALSE(has_notifiers());
		SKIP(return, "the kernel has no MMU notifiers");
	}
}

FIXTURE_TEARDOWN(stale)
{
	if (self->notice)
		munmap((void *)self->notice, NOTICE);
	close(self->fd);
	/* The kernel may remove the notifier after the call. */
	EXPECT_EQ(self->charged, at_charged_soon(self->charged));
}

/* Calls that replace the pages from @p on; some may replace all pages. */
static int by_munmap(char *p, size_t len)
{
	return munmap(p, len);
}

static int by_mmap(char *p, size_t len)
{
	return mmap(p, len, RW, FLAGS | MAP_FIXED, -1, 0) == p ? 0 : -1;
}

static int by_mremap(char *p, size_t len)
{
	char *to = pages(len, PROT_NONE);

	return mremap(p, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to ? 0 : -1;
}

static int by_shrinking(char *p, size_t len)
{
	return mremap(p, len, len - AT_PAGE, 0) == p ? 0 : -1;
}

static int by_dontneed(char *p, size_t len)
{
	return madvise(p, len, MADV_DONTNEED);
}

static const struct {
	const char *name;
	int (*change)(char *p, size_t len);
} changes[] = {
	{ "munmap", by_munmap },
	{ "mmap", by_mmap },
	{ "mremap", by_mremap },
	{ "mremap, shorter", by_shrinking },
	{ "MADV_DONTNEED", by_dontneed },
};

/* A change of the region, or of one page of it, notifies. */
TEST_F(stale, notified)
{
	uint64_t key, other;
	unsigned int i, whole;
	int slot, beside;

	for (i = 0; i < 2 * ARRAY_SIZE(changes); i++) {
		char *p = pages(3 * LEN, RW);
		uint64_t seq = self->notice->seq;
		const char *name = changes[i / 2].name;

		ASSERT_NE(NULL, p);
		memset(p, 2, 3 * LEN);
		whole = i % 2;
		slot = reg(self->fd, p + LEN, LEN, LW, ANGARA_MR_WATCH, &key);
		beside = reg(self->fd, p, LEN, LW, ANGARA_MR_WATCH, &other);
		ASSERT_LE(0, slot);
		ASSERT_LE(0, beside);
		EXPECT_FALSE(is_stale(self->notice, slot));
		EXPECT_EQ(seq, self->notice->seq);
		ASSERT_EQ(0, changes[i / 2].change(p + LEN + (whole ? 0 : AT_PAGE),
						   whole ? LEN : 2 * AT_PAGE));
		EXPECT_TRUE(is_stale(self->notice, slot)) {
			TH_LOG("%s, %s", name, whole ? "all" : "two pages");
		}
		EXPECT_FALSE(is_stale(self->notice, beside)) {
			TH_LOG("%s, %s", name, whole ? "all" : "two pages");
		}
		EXPECT_LT(seq, self->notice->seq);
		EXPECT_EQ(0, dereg(self->fd, key));
		EXPECT_EQ(0, dereg(self->fd, other));
		munmap(p, 3 * LEN);
	}
}

/* A change counts for whole pages, also if the region is not page-aligned. */
TEST_F(stale, told_of_whole_pages)
{
	uint64_t key;
	int slot = reg(self->fd, self->mem + AT_PAGE - 1, 2, LW, ANGARA_MR_WATCH,
		       &key);

	ASSERT_LE(0, slot);
	ASSERT_EQ(0, munmap(self->mem + 2 * AT_PAGE, AT_PAGE));
	EXPECT_FALSE(is_stale(self->notice, slot));
	ASSERT_EQ(0, munmap(self->mem, AT_PAGE));
	EXPECT_TRUE(is_stale(self->notice, slot));
}

/* Truncating a file and punching a hole in it are changes. */
TEST_F(stale, told_of_files)
{
	uint64_t key[2];
	int slot[2], fd = memfd_create("angara", MFD_CLOEXEC);
	char *p;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, LEN));
	p = mmap(NULL, LEN, RW, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	memset(p, 3, LEN);
	slot[0] = reg(self->fd, p, AT_PAGE, LW, ANGARA_MR_WATCH, &key[0]);
	slot[1] = reg(self->fd, p + LEN - AT_PAGE, AT_PAGE, 0, ANGARA_MR_WATCH,
		      &key[1]);
	ASSERT_LE(0, slot[0]);
	ASSERT_LE(0, slot[1]);
	ASSERT_EQ(0, fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			       AT_PAGE));
	EXPECT_TRUE(is_stale(self->notice, slot[0]));
	EXPECT_FALSE(is_stale(self->notice, slot[1]));
	ASSERT_EQ(0, ftruncate(fd, AT_PAGE));
	EXPECT_TRUE(is_stale(self->notice, slot[1]));
	munmap(p, LEN);
	close(fd);
}

/* Parent and child write after fork(): only the child gets copies. */
static int fork_and_write(char *mem)
{
	pid_t pid = fork();

	if (!pid) {
		memset(mem, 4, LEN);
		_exit(0);
	}
	memset(mem, 5, LEN);
	return pid < 0 ? -1 : at_wait_child(pid, AT_DEADLINE_MS);
}

/* Calls that leave the pages the same do not notify. */
TEST_F(stale, not_told)
{
	uint64_t key[2];
	int slot[2];

	slot[0] = reg(self->fd, self->mem, LEN, LW, ANGARA_MR_WATCH, &key[0]);
	slot[1] = reg(self->fd, self->mem, LEN, 0, ANGARA_MR_WATCH, &key[1]);
	ASSERT_LE(0, slot[0]);
	ASSERT_LE(0, slot[1]);
	memset(self->mem, 6, LEN);
	EXPECT_EQ(0, self->notice->seq);
	ASSERT_EQ(0, mprotect(self->mem, LEN, PROT_READ));
	ASSERT_EQ(0, mprotect(self->mem, LEN, RW));
	memset(self->mem, 7, LEN);
	EXPECT_EQ(0, self->notice->seq) TH_LOG("mprotect");
	ASSERT_EQ(0, fork_and_write(self->mem));
	EXPECT_EQ(0, self->notice->seq) TH_LOG("fork");
	at_write_file("/proc/self/clear_refs", "4");
	memset(self->mem, 8, LEN);
	EXPECT_EQ(0, self->notice->seq) TH_LOG("soft dirty");
	at_write_file("/proc/self/clear_refs", "1");
	EXPECT_EQ(0, self->notice->seq) TH_LOG("referenced");
	ASSERT_EQ(0, mlock(self->mem, LEN));
	ASSERT_EQ(0, munlock(self->mem, LEN));
	EXPECT_EQ(0, self->notice->seq) TH_LOG("mlock");
	EXPECT_FALSE(is_stale(self->notice, slot[0]));
	EXPECT_FALSE(is_stale(self->notice, slot[1]));
}

/* Pinning itself replaces the zero page and a page shared with a child. */
TEST_F(stale, pinning_is_no_change)
{
	char *p = pages(LEN, RW), sum = 0;
	uint64_t key;
	unsigned int i;
	int slot, go[2];
	pid_t pid;

	for (i = 0; i < LEN; i++)
		sum |= p[i];
	EXPECT_EQ(0, sum);
	slot = reg(self->fd, p, LEN, LW, ANGARA_MR_WATCH, &key);
	ASSERT_LE(0, slot);
	EXPECT_FALSE(is_stale(self->notice, slot)) TH_LOG("the zero page");

	ASSERT_EQ(0, pipe(go));
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &sum, 1) != 0);
	}
	close(go[0]);
	slot = reg(self->fd, self->mem, LEN, LW, ANGARA_MR_WATCH, &key);
	ASSERT_LE(0, slot);
	EXPECT_FALSE(is_stale(self->notice, slot)) TH_LOG("a shared page");
	close(go[1]);
	EXPECT_EQ(0, at_wait_child(pid, AT_DEADLINE_MS));
	munmap(p, LEN);
}

/* The next region in a slot does not inherit the bit of the previous one. */
static void use_slot_again(struct __test_metadata *_metadata,
			   FIXTURE_DATA(stale) *self, unsigned int flags)
{
	bool watched = flags & ANGARA_MR_WATCH;
	uint64_t key;
	int slot = reg(self->fd, self->mem, LEN, LW, ANGARA_MR_WATCH, &key);

	ASSERT_LE(0, slot);
	ASSERT_EQ(0, by_mmap(self->mem, LEN));
	EXPECT_TRUE(is_stale(self->notice, slot));
	ASSERT_EQ(0, dereg(self->fd, key));
	ASSERT_EQ(slot, reg(self->fd, self->mem, LEN, LW, flags, &key));
	EXPECT_FALSE(is_stale(self->notice, slot));
	EXPECT_EQ(1, self->notice->seq);
	/* Each change is counted, although the bit is set only once. */
	ASSERT_EQ(0, munmap(self->mem, LEN));
	EXPECT_EQ(watched, is_stale(self->notice, slot));
	EXPECT_EQ(1 + watched, self->notice->seq);
}

TEST_F(stale, slot_used_again)
{
	use_slot_again(_metadata, self, ANGARA_MR_WATCH);
}

TEST_F(stale, slot_used_again_unwatched)
{
	use_slot_again(_metadata, self, 0);
}

/* Regions that are not watched, or already deregistered, are not notified. */
TEST_F(stale, nobody_to_tell)
{
	uint64_t key;

	ASSERT_LE(0, reg(self->fd, self->mem, LEN, LW, 0, &key));
	ASSERT_LE(0, reg(self->fd, self->mem, LEN, LW, ANGARA_MR_WATCH, &key));
	ASSERT_EQ(0, dereg(self->fd, key));
	ASSERT_EQ(0, munmap(self->mem, LEN));
	EXPECT_EQ(0, self->notice->seq);
}

TEST_F(stale, last_slot)
{
	const int slot = SLOTS - 1;
	struct angara_mr_register arg = {
		.size = sizeof(arg), .addr = (uintptr_t)self->mem,
		.flags = ANGARA_MR_WATCH | ANGARA_MR_KEY, .length = LEN,
		.access = LW, .key = slot,
	};

	ASSERT_EQ(0, at_ioctl(self->fd, ANGARA_IOCTL_MR_REG, &arg));
	EXPECT_FALSE(is_stale(self->notice, slot));
	ASSERT_EQ(0, munmap(self->mem, LEN));
	EXPECT_TRUE(is_stale(self->notice, slot));
}

/* Only changes in the process that has registered the region count. */
TEST_F(stale, another_process)
{
	volatile int *slot = mmap(NULL, AT_PAGE, RW, MAP_SHARED | MAP_ANONYMOUS,
				  -1, 0);
	uint64_t key;
	int own;
	pid_t pid;

	own = reg(self->fd, self->mem, LEN, LW, ANGARA_MR_WATCH, &key);
	ASSERT_LE(0, own);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		munmap(self->mem, LEN / 2);
		*slot = reg(self->fd, self->mem + LEN / 2, LEN / 2, LW,
			    ANGARA_MR_WATCH, &key);
		_exit(*slot < 0);
	}
	ASSERT_EQ(0, at_wait_child(pid, AT_DEADLINE_MS));
	EXPECT_FALSE(is_stale(self->notice, own));
	EXPECT_TRUE(is_stale(self->notice, *slot)) TH_LOG("region of a process that has ended");
	munmap((void *)slot, AT_PAGE);
}

static void *try_map(int fd, uint64_t offset, size_t len, int prot, int flags)
{
	void *p = mmap(NULL, len, prot, flags, fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

TEST_F(stale, notice_is_read_only)
{
	uint64_t off = self->offset, none;
	void *p = (void *)self->notice;
	struct angara_query q;
	int fd;

	EXPECT_EQ(NULL, try_map(self->fd, off, NOTICE, RW, MAP_SHARED));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(p, NOTICE, RW));
	EXPECT_EQ(NULL, try_map(self->fd, off, NOTICE, PROT_READ, MAP_PRIVATE));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, try_map(self->fd, off, MAPPED + AT_PAGE, PROT_READ,
				MAP_SHARED));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, try_map(self->fd, 0, NOTICE, PROT_READ, MAP_SHARED));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, try_map(self->fd, off + AT_PAGE, AT_PAGE, PROT_READ,
				MAP_SHARED));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mremap(p, MAPPED, 2 * MAPPED, MREMAP_MAYMOVE));
	/* Without a domain there is no watch page. */
	for (fd = -1, none = 0; fd < 0 && none < at_devices(); none++)
		fd = at_open(none);
	ASSERT_EQ(0, at_query(fd, &q));
	EXPECT_EQ(NULL, try_map(fd, off, NOTICE, PROT_READ, MAP_SHARED));
	EXPECT_EQ(ENXIO, errno);
	close(fd);
}

/* A program that knows fewer slots may map fewer words. */
TEST_F(stale, beginning_of_notice)
{
	const volatile struct angara_watch *n;
	uint64_t key;
	size_t len;
	int slot;

	for (len = AT_PAGE; len < MAPPED; len += AT_PAGE) {
		char *p = pages(AT_PAGE, RW);

		ASSERT_NE(NULL, p);
		n = try_map(self->fd, self->offset, len, PROT_READ, MAP_SHARED);
		ASSERT_NE(NULL, n);
		slot = reg(self->fd, p, AT_PAGE, LW, ANGARA_MR_WATCH, &key);
		ASSERT_LE(0, slot);
		EXPECT_EQ(self->notice->seq, n->seq);
		ASSERT_EQ(0, munmap(p, AT_PAGE));
		EXPECT_EQ(self->notice->seq, n->seq);
		EXPECT_TRUE(is_stale(n, slot));
		munmap((void *)n, len);
	}
}

/* A mapping keeps the file, and with it the domain. */
TEST_F(stale, file_is_closed)
{
	uint64_t key;
	int slot = reg(self->fd, self->mem, LEN, LW, ANGARA_MR_WATCH, &key);

	ASSERT_LE(0, slot);
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	ASSERT_EQ(0, munmap(self->mem, LEN));
	EXPECT_TRUE(is_stale(self->notice, slot));
}

/**
 * struct changer - a thread that replaces pages repeatedly
 * @mem: address of the pages
 * @begun: changes started
 * @done: changes completed
 * @stop: ends the thread
 */
struct changer {
	char *mem;
	unsigned long begun;
	unsigned long done;
	bool stop;
};

#define PAUSE_US	20000

static void *change(void *arg)
{
	struct changer *c = arg;

	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&c->begun, 1, __ATOMIC_SEQ_CST);
		mmap(c->mem, LEN, RW, FLAGS | MAP_FIXED | MAP_POPULATE, -1, 0);
		__atomic_add_fetch(&c->done, 1, __ATOMIC_SEQ_CST);
		/* Every eighth pause leaves time to register. */
		usleep(c->done % 8 ? c->done % 8 * 50 : PAUSE_US);
	}
	return NULL;
}

/*
 * A change that begins after registering is notified, a change that ended
 * before registering is not.
 */
static int round_of(int fd, const volatile struct angara_watch *n,
		    struct changer *c, unsigned int *unchanged)
{
	unsigned long done = __atomic_load_n(&c->done, __ATOMIC_SEQ_CST);
	unsigned long begun = __atomic_load_n(&c->begun, __ATOMIC_SEQ_CST);
	uint64_t key;
	int slot = reg(fd, c->mem, LEN, LW, ANGARA_MR_WATCH, &key);
	bool stale = slot >= 0 && is_stale(n, slot);
	unsigned long after = __atomic_load_n(&c->begun, __ATOMIC_SEQ_CST);

	if (slot < 0)
		return slot;
	if (begun == done && begun == after) {
		++*unchanged;
		if (stale)
			return 1;
	}
	while (__atomic_load_n(&c->done, __ATOMIC_SEQ_CST) <= after)
		usleep(100);
	if (!is_stale(n, slot))
		return 2;
	return dereg(fd, key);
}

TEST_F(stale, races)
{
	unsigned int i, rounds = at_scale(500), unchanged = 0;
	struct changer c = { .mem = self->mem };
	pthread_t thread;
	int ret = 0;

	ASSERT_EQ(0, pthread_create(&thread, NULL, change, &c));
	for (i = 0; i < rounds && !ret; i++)
		ret = round_of(self->fd, self->notice, &c, &unchanged);
	__atomic_store_n(&c.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, ret) TH_LOG("round %u", i);
	EXPECT_LT(0, unchanged);
}

/* All regions are on one page, so a change of the page checks each region. */
TEST_F(stale, as_many_as_there_may_be)
{
	uint64_t *keys = calloc(ANGARA_MAX_WATCHED, sizeof(*keys));
	uint64_t key;
	int i, slot;

	ASSERT_NE(NULL, keys);
	for (i = 0; i < ANGARA_MAX_WATCHED; i++)
		ASSERT_EQ(i, reg(self->fd, self->mem, AT_PAGE, LW,
				 ANGARA_MR_WATCH, &keys[i]));
	EXPECT_EQ(-ENOSPC, reg(self->fd, self->mem, AT_PAGE, LW, ANGARA_MR_WATCH,
			       &key));
	EXPECT_EQ(i, reg(self->fd, self->mem, AT_PAGE, LW, 0, &key));
	ASSERT_EQ(0, munmap(self->mem, AT_PAGE));
	EXPECT_EQ(ANGARA_MAX_WATCHED, self->notice->seq);
	/* Deregistering makes room, at once or soon. */
	for (i = 0; i < ANGARA_MAX_WATCHED; i++)
		ASSERT_EQ(0, dereg(self->fd, keys[i]));
	for (i = 0; i < ANGARA_MAX_WATCHED; i++) {
		slot = reg(self->fd, self->mem + AT_PAGE, AT_PAGE, LW,
			   ANGARA_MR_WATCH, &keys[i]);
		ASSERT_LE(0, slot);
		EXPECT_FALSE(is_stale(self->notice, slot));
	}
	free(keys);
}

#define DROPPERS	4
#define DROPPED		(64U << 20)	/* bytes of each thread */
#define DROPS_MS	30000		/* duration of the threads */
#define SOON_MS		15000		/* limit of a call that must not wait */

/**
 * struct droppers - threads whose changes of addresses overlap all the time
 * @mem: DROPPED bytes for each thread
 * @end: time at which the threads end, by at_now_ms()
 * @running: number of threads that have started
 */
struct droppers {
	char *mem;
	uint64_t end;
	unsigned int running;
};

/*
 * Changes addresses again and again.  MADV_FREE keeps pages that are not written, so each
 * change takes long.
 */
static void *drop(void *arg)
{
	struct droppers *d = arg;
	unsigned int i = __atomic_fetch_add(&d->running, 1, __ATOMIC_SEQ_CST);

	while (at_now_ms() < __atomic_load_n(&d->end, __ATOMIC_RELAXED))
		madvise(d->mem + i * (size_t)DROPPED, DROPPED, MADV_FREE);
	return NULL;
}

/* Deregistering and closing do not wait for changes of other addresses. */
TEST_F(stale, changes_without_end)
{
	struct droppers d = { .mem = pages(DROPPERS * (size_t)DROPPED, RW) };
	pthread_t thread[DROPPERS];
	uint64_t key, other, start;
	unsigned int i;

	ASSERT_NE(NULL, d.mem);
	memset(d.mem, 1, DROPPERS * (size_t)DROPPED);
	ASSERT_LE(0, reg(self->fd, self->mem, LEN, LW, ANGARA_MR_WATCH, &key));
	/* Every change concerns a watched region. */
	for (i = 0; i < DROPPERS; i++)
		ASSERT_LE(0, reg(self->fd, d.mem + i * (size_t)DROPPED, AT_PAGE,
				 LW, ANGARA_MR_WATCH, &other));
	d.end = at_now_ms() + DROPS_MS;
	for (i = 0; i < DROPPERS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, drop, &d));
	while (__atomic_load_n(&d.running, __ATOMIC_SEQ_CST) < DROPPERS)
		at_sleep_ms(1);
	at_sleep_ms(200);
	start = at_now_ms();
	EXPECT_EQ(0, dereg(self->fd, key));
	EXPECT_GT(SOON_MS, at_now_ms() - start) TH_LOG("deregistering");
	start = at_now_ms();
	/* A mapping would keep the file open. */
	munmap((void *)self->notice, NOTICE);
	self->notice = NULL;
	EXPECT_EQ(0, close(self->fd));
	EXPECT_GT(SOON_MS, at_now_ms() - start) TH_LOG("closing");
	/* Pages and charges are released. */
	EXPECT_EQ(self->charged, at_charged());
	self->fd = -1;
	__atomic_store_n(&d.end, 0, __ATOMIC_RELAXED);
	for (i = 0; i < DROPPERS; i++)
		pthread_join(thread[i], NULL);
	munmap(d.mem, DROPPERS * (size_t)DROPPED);
}

TEST_HARNESS_MAIN
