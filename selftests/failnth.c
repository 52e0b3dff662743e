// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every way into the driver with allocations that fail: the first fails, then
 * the second, and so on until the call gets through. Each time it must answer
 * with an error that says so, leave all as it was, and work at the next try.
 *
 * The kernel counts the allocations of one thread and fails the one that
 * AT_FAIL_NTH names; copies from and to user space count as well.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "calls.h"
#include "nl.h"

#define REQUEST		512
/* More than any call needs; at which a sweep has gone wrong. */
#define ENDLESS		20000

/* What a call may answer when an allocation fails. */
static bool says_so(int ret)
{
	switch (ret) {
	case -ENOMEM:
	case -EFAULT:	/* a copy failed */
	case -ENFILE:	/* the kernel has no inode for a socket */
	case -ENOBUFS:	/* netlink has no message for the answer */
		return true;
	default:
		return false;
	}
}

static void __attribute__((constructor)) require_injection(void)
{
	const char *missing;

	at_require(AT_ROOT | AT_DEVICE | AT_LOOP);
	missing = at_failing_init();
	if (missing) {
		printf("TAP version 13\n1..0 # SKIP the kernel cannot make allocations fail: no %s\n",
		       missing);
		fflush(stdout);
		_exit(4);
	}
}

/* What must be as it was: contexts, regions, pinned pages, fabrics, devices. */
struct before {
	struct at_usage use;
	long charged;
	int fabrics;
	unsigned int devices;
};

static int look(struct before *b)
{
	struct at_loop list[AT_MAX_LOOPS];
	int ret = at_usage(&b->use);

	b->charged = at_charged();
	b->fabrics = at_loop_list(list, AT_MAX_LOOPS);
	b->devices = at_devices();
	return ret;
}

static bool same(const struct before *b)
{
	struct before now;

	memset(&now, 0, sizeof(now));
	if (look(&now))
		return false;
	return !memcmp(&b->use, &now.use, sizeof(now.use)) &&
	       b->charged == now.charged && b->fabrics == now.fabrics &&
	       b->devices == now.devices;
}

struct sweep;

/**
 * struct way - one way into the driver
 * @name: for the log
 * @before: makes the call possible; may be NULL
 * @call: the call: 0 or -errno
 * @after: undoes a call that got through
 */
struct way {
	const char *name;
	int (*before)(struct sweep *s);
	int (*call)(struct sweep *s);
	int (*after)(struct sweep *s);
};

struct sweep {
	const struct way *way;
	const struct call *ioctl;
	struct state s;
	struct at_loop made;
	struct at_ctx x;
	int nth_fd;
	int fd;
	void *mem;
	char request[REQUEST] __attribute__((aligned(8)));
	struct before start;
	unsigned int tried;
	unsigned int failed;
};

/* The next allocations and copies are counted, number @nth fails. */
static int arm(struct sweep *s, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	return pwrite(s->nth_fd, text, len, 0) == len ? 0 : -errno;
}

/* Has one failed? Ends the counting, which may hit the calls it takes. */
static bool disarm(struct sweep *s)
{
	char text[16] = "";
	bool hit = pread(s->nth_fd, text, sizeof(text) - 1, 0) > 0 &&
		   !strtoul(text, NULL, 10);

	while (pwrite(s->nth_fd, "0", 1, 0) != 1)
		;
	return hit;
}

static int one(struct sweep *s, unsigned int nth, bool *hit)
{
	int ret;

	ret = arm(s, nth);
	if (ret)
		return ret;
	ret = s->way->call(s);
	*hit = disarm(s);
	return ret;
}

/*
 * Only the answer could not be copied: the call was made, and what it made goes
 * with the file.
 */
static bool untold(struct sweep *s, int ret)
{
	if (!s->ioctl || !s->ioctl->answers || ret != -EFAULT)
		return false;
	close(s->s.fd);
	s->s.fd = at_open(s->s.dev);
	return s->s.fd >= 0 && same(&s->start);
}

/* Says what went wrong, NULL if nothing did. */
static const char *sweep(struct sweep *s)
{
	struct before b;
	bool hit = true;
	unsigned int nth;
	int ret;

	memset(&b, 0, sizeof(b));
	for (nth = 1; hit; nth++) {
		if (nth == ENDLESS)
			return "there is no end of allocations";
		if (s->way->before && s->way->before(s))
			return "it does not come back to its start";
		if (look(&b))
			return "the state cannot be told";
		ret = one(s, nth, &hit);
		s->tried++;
		if (!ret) {
			if (s->way->after && s->way->after(s))
				return "it cannot be undone";
			continue;
		}
		s->failed++;
		if (!hit)
			return "it fails without a reason";
		if (!says_so(ret))
			return strerror(-ret);
		if (!same(&b) && !untold(s, ret))
			return "something has changed";
	}
	return NULL;
}

FIXTURE(fail) {
	struct sweep s;
};

FIXTURE_VARIANT(fail) {
	const struct way *way;
	const struct call *call;
};

FIXTURE_SETUP(fail)
{
	self->s.way = variant->way;
	self->s.ioctl = variant->call;
	self->s.nth_fd = open(AT_FAIL_NTH, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->s.nth_fd);
	ASSERT_EQ(0, look(&self->s.start));
}

FIXTURE_TEARDOWN(fail)
{
	close(self->s.nth_fd);
	EXPECT_EQ(0, at_usage_wait(&self->s.start.use, AT_DEADLINE_MS));
	EXPECT_TRUE(same(&self->s.start));
}

/* ioctl */

static int before_ioctl(struct sweep *s)
{
	uint32_t size = s->ioctl->size;

	if (!s->s.mem && state_init(&s->s))
		return -ENODEV;
	memset(s->request, 0, sizeof(s->request));
	if (s->ioctl->before && s->ioctl->before(&s->s))
		return -EIO;
	s->ioctl->fill(&s->s, s->request);
	memcpy(s->request, &size, sizeof(size));
	return 0;
}

static int do_ioctl(struct sweep *s)
{
	return at_ioctl(s->s.fd, s->ioctl->cmd, s->request);
}

static int after_ioctl(struct sweep *s)
{
	return s->ioctl->after(&s->s, s->request);
}

static const struct way way_ioctl = {
	.before = before_ioctl, .call = do_ioctl, .after = after_ioctl,
};

#define IOCTL(_name)							\
	FIXTURE_VARIANT_ADD(fail, ioctl_##_name) {			\
		.way = &way_ioctl, .call = &call_##_name,		\
	}

IOCTL(query);
IOCTL(ctx_create);
IOCTL(mr_reg);
IOCTL(mr_dereg);
IOCTL(tree_set);
IOCTL(tree_get);
IOCTL(tree_clear);
IOCTL(tree_delegate);
IOCTL(tree_check);
IOCTL(join);
IOCTL(leave);
IOCTL(kick);
IOCTL(eventfd);

/* open, mmap, poll, close */

static int do_open(struct sweep *s)
{
	s->fd = at_open(0);
	return s->fd < 0 ? s->fd : 0;
}

static int after_open(struct sweep *s)
{
	return close(s->fd);
}

static const struct way way_open = {
	.call = do_open, .after = after_open,
};

static int before_mmap(struct sweep *s)
{
	return s->x.fd ? 0 : at_ctx_open(&s->x, 0, NULL);
}

static int do_mmap(struct sweep *s)
{
	s->mem = mmap(NULL, AT_PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_POPULATE, s->x.fd, s->x.c.sq_offset);
	return s->mem == MAP_FAILED ? -errno : 0;
}

static int after_mmap(struct sweep *s)
{
	return munmap(s->mem, AT_PAGE);
}

static const struct way way_mmap = {
	.before = before_mmap, .call = do_mmap, .after = after_mmap,
};

static int do_poll(struct sweep *s)
{
	struct pollfd p = { .fd = s->x.fd, .events = POLLIN };

	return poll(&p, 1, 0) < 0 ? -errno : 0;
}

static const struct way way_poll = { .before = before_mmap, .call = do_poll };

/* Closing cannot fail, whatever does. */
static int before_close(struct sweep *s)
{
	struct at_ctx x;

	if (!s->mem)
		s->mem = at_pages(AT_PAGE);
	if (at_ctx_open(&x, 0, NULL) ||
	    at_mr(&x, s->mem, AT_PAGE, ANGARA_ACCESS_ALL) < 0)
		return -EIO;
	s->fd = x.fd;
	munmap((void *)x.sq, x.c.sq_entries * sizeof(*x.sq));
	munmap((void *)x.cq, x.c.cq_entries * sizeof(*x.cq));
	munmap((void *)x.ctl, AT_PAGE);
	munmap((void *)x.ctr, AT_PAGE);
	return 0;
}

static int do_close(struct sweep *s)
{
	return close(s->fd) ? -EIO : 0;
}

static const struct way way_close = { .before = before_close, .call = do_close };

FIXTURE_VARIANT_ADD(fail, open) { .way = &way_open };
FIXTURE_VARIANT_ADD(fail, mmap) { .way = &way_mmap };
FIXTURE_VARIANT_ADD(fail, poll) { .way = &way_poll };
FIXTURE_VARIANT_ADD(fail, close) { .way = &way_close };

/* netlink: asking for an object, for all of them; changing a tree */

static int do_nl_dev(struct sweep *s)
{
	struct at_nl_obj obj;

	(void)s;
	return at_nl_dev(0, &obj);
}

static int do_nl_dump(struct sweep *s)
{
	struct at_usage use;

	(void)s;
	return at_usage(&use);
}

static int before_nl_tree(struct sweep *s)
{
	if (!s->s.mem && state_init(&s->s))
		return -ENODEV;
	return call_tree_clear.before(&s->s);
}

static int do_nl_tree(struct sweep *s)
{
	struct at_nl_obj obj;

	return at_nl_tree(s->s.dev, s->s.tree, &obj);
}

static int do_nl_clear(struct sweep *s)
{
	return at_nl_tree_cmd(ANGARA_CMD_TREE_CLEAR, s->s.dev, s->s.tree);
}

static const struct way way_nl_dev = { .call = do_nl_dev };
static const struct way way_nl_dump = { .call = do_nl_dump };
static const struct way way_nl_tree = {
	.before = before_nl_tree, .call = do_nl_tree,
};
static const struct way way_nl_clear = {
	.before = before_nl_tree, .call = do_nl_clear,
};

FIXTURE_VARIANT_ADD(fail, nl_dev_get) { .way = &way_nl_dev };
FIXTURE_VARIANT_ADD(fail, nl_dump) { .way = &way_nl_dump };
FIXTURE_VARIANT_ADD(fail, nl_tree_get) { .way = &way_nl_tree };
FIXTURE_VARIANT_ADD(fail, nl_tree_clear) { .way = &way_nl_clear };

/* Fabrics through sysfs: two nodes, so that the first has to be taken back. */

static int do_fabric(struct sweep *s)
{
	int ret = at_write_file("/sys/bus/angara_loop/new_fabric", "2");

	(void)s;
	return ret < 0 ? ret : 0;
}

static int after_fabric(struct sweep *s)
{
	struct at_loop list[AT_MAX_LOOPS];
	int n = at_loop_list(list, AT_MAX_LOOPS);

	(void)s;
	return n > 0 ? at_loop_remove(&list[n - 1]) : -ENOENT;
}

static int before_del(struct sweep *s)
{
	if (s->made.nodes)
		return 0;
	return at_loop_add("2", &s->made);
}

static int do_del(struct sweep *s)
{
	return at_loop_remove(&s->made);
}

static int after_del(struct sweep *s)
{
	s->made.nodes = 0;
	return 0;
}

static const struct way way_fabric = {
	.call = do_fabric, .after = after_fabric,
};
static const struct way way_del = {
	.before = before_del, .call = do_del, .after = after_del,
};

FIXTURE_VARIANT_ADD(fail, new_fabric) { .way = &way_fabric };
FIXTURE_VARIANT_ADD(fail, del_fabric) { .way = &way_del };

/* Modules: the one with the fabrics, then the one below it as well. */

static int module_path(const char *name, char *path, size_t len)
{
	const char *dir = getenv("ANGARA_MODULES");

	snprintf(path, len, "%s/%s.ko", dir ? dir : "", name);
	return dir ? open(path, O_RDONLY | O_CLOEXEC) : -ENOENT;
}

static int finit(int fd, const char *args)
{
	return syscall(SYS_finit_module, fd, args, 0) ? -errno : 0;
}

static int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? -errno : 0;
}

/* Says what went wrong with @module, which @args are for. */
static const char *sweep_module(struct sweep *s, const char *module,
				const char *args)
{
	unsigned int nth;
	bool hit = true;
	char path[256];
	int fd, ret;

	fd = module_path(module, path, sizeof(path));
	if (fd < 0)
		return "it cannot be opened";
	for (nth = 1; hit && nth < ENDLESS; nth++) {
		ret = arm(s, nth);
		if (!ret)
			ret = finit(fd, args);
		hit = disarm(s);
		s->tried++;
		if (!ret && unload(module))
			return "it cannot be unloaded";
		if (!ret)
			continue;
		s->failed++;
		if (!hit)
			return "it fails without a reason";
		if (!says_so(ret))
			return strerror(-ret);
	}
	close(fd);
	return hit ? "there is no end of allocations" : NULL;
}

FIXTURE(module) {
	char reload[128];
};

FIXTURE_SETUP(module)
{
	char dims[64];

	at_loop_dims(dims, sizeof(dims));
	snprintf(self->reload, sizeof(self->reload), "modprobe angara_loop %s%s",
		 dims[0] ? "dims=" : "", dims);
}

FIXTURE_TEARDOWN(module)
{
}

TEST_F_TIMEOUT(module, until_it_loads, 1200)
{
	const char *why;
	struct sweep s = {
		.nth_fd = open(AT_FAIL_NTH, O_RDWR | O_CLOEXEC),
	};
	char path[256];
	int fd;

	fd = module_path("angara_loop", path, sizeof(path));
	if (fd < 0)
		SKIP(return, "ANGARA_MODULES does not name the folder of the modules");
	close(fd);
	ASSERT_EQ(0, at_run_command("modprobe -r angara_loop"));
	why = sweep_module(&s, "angara_loop", "dims=2");
	EXPECT_EQ(NULL, why) {
		TH_LOG("angara_loop, try %u: %s", s.tried, why);
	}
	EXPECT_EQ(0, at_run_command("modprobe -r angara"));
	why = sweep_module(&s, "angara", "");
	EXPECT_EQ(NULL, why) {
		TH_LOG("angara, try %u: %s", s.tried, why);
	}
	TH_LOG("%u tries, %u failed", s.tried, s.failed);
	close(s.nth_fd);
	EXPECT_EQ(0, at_run_command(self->reload));
}

TEST_F_TIMEOUT(fail, until_it_gets_through, 900)
{
	const char *why = sweep(&self->s);

	TH_LOG("%u tries, %u failed", self->s.tried, self->s.failed);
	EXPECT_EQ(NULL, why) {
		TH_LOG("try %u: %s", self->s.tried, why);
	}
	if (self->s.x.fd)
		at_ctx_close(&self->s.x);
	if (self->s.s.mem) {
		at_tree_clear(self->s.s.fd, self->s.s.tree);
		close(self->s.s.fd);
	}
}

TEST_HARNESS_MAIN
