// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every entry into the driver with allocations that fail: the first fails, then
 * the second, and so on until the call succeeds. Each time it must return an
 * error that reports the failure, leave the state as it was, and succeed when
 * retried.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "at_harness.h"
#include "calls.h"
#include "fail.h"
#include "nl.h"

#define REQUEST		512
/* Region that needs two lists of pages. */
#define LONG_REGION	(600 * AT_PAGE)

static void __attribute__((constructor)) require_injection(void)
{
	at_fail_require(AT_ROOT | AT_DEVICE | AT_LOOP);
}

/*
 * State that a failed call must not change: contexts, regions, pinned pages,
 * rows of trees and delegations, fabrics, devices.
 */
struct before {
	struct at_usage use;
	struct at_trees trees;
	long charged;
	int fabrics;
	unsigned int devices;
};

static int look(struct before *b)
{
	struct at_loop list[AT_MAX_LOOPS];
	int ret = at_usage(&b->use);

	if (!ret)
		ret = at_trees(&b->trees);
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
	       !memcmp(&b->trees, &now.trees, sizeof(now.trees)) &&
	       b->charged == now.charged && b->fabrics == now.fabrics &&
	       b->devices == now.devices;
}

struct sweep;

/**
 * struct way - one entry into the driver
 * @before: prepares the call; may be NULL
 * @call: the call: 0 or -errno
 * @after: undoes a successful call
 * @answers: the answer may fail after the call has taken effect
 */
struct way {
	int (*before)(struct sweep *s);
	int (*call)(struct sweep *s);
	int (*after)(struct sweep *s);
	bool answers;
};

struct sweep {
	const struct way *way;
	const struct call *ioctl;
	const struct request *nl;
	struct state s;
	struct at_loop made;
	struct at_ctx x;
	int nth_fd;
	int fd;
	int dom;
	void *mem;
	char request[REQUEST] __attribute__((aligned(8)));
	struct before start;
	unsigned int tried;
	unsigned int failed;
	int ret;
};

static int one(struct sweep *s, unsigned int nth, bool *hit)
{
	int ret;

	ret = at_fail_arm(s->nth_fd, nth);
	if (ret)
		return ret;
	ret = s->way->call(s);
	*hit = at_fail_disarm(s->nth_fd);
	return ret;
}

/*
 * Did only the answer fail, so that the call had its effect?  An object made by
 * an ioctl ends with the file; any other change can be reverted to @b.
 */
static bool untold(struct sweep *s, int ret, const struct before *b)
{
	if (s->way->answers && (ret == -EFAULT || ret == -ENOBUFS))
		return !s->way->after(s) && !s->way->before(s) && same(b);
	if (!s->ioctl || !s->ioctl->answers || ret != -EFAULT)
		return false;
	state_close(&s->s);
	s->s.ctx = -1;
	s->s.fd = at_open(s->s.dev);
	return s->s.fd >= 0 && same(&s->start);
}

/* Return: NULL, or what failed. */
static const char *sweep(struct sweep *s)
{
	struct before b;
	bool hit = true;
	unsigned int nth;
	int ret;

	memset(&b, 0, sizeof(b));
	for (nth = 1; hit; nth++) {
		if (nth == AT_ENDLESS)
			return "the call makes too many allocations";
		if (s->way->before && s->way->before(s))
			return "the call cannot be prepared";
		if (look(&b))
			return "the driver's state cannot be read";
		ret = one(s, nth, &hit);
		s->tried++;
		s->ret = ret;
		if (!ret) {
			if (s->way->after && s->way->after(s))
				return "the call cannot be undone";
			continue;
		}
		s->failed++;
		if (!hit)
			return "the call fails, but no allocation has failed";
		if (!at_fail_says_so(ret))
			return strerror(-ret);
		if (!same(&b) && !untold(s, ret, &b))
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
	const struct request *nl;
};

FIXTURE_SETUP(fail)
{
	self->s.way = variant->way;
	self->s.ioctl = variant->call;
	self->s.nl = variant->nl;
	self->s.nth_fd = at_fail_open();
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
	return state_call(&s->s, s->ioctl, s->request);
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
IOCTL(domain_create);
IOCTL(ctx_create);
IOCTL(mr_reg);
IOCTL(mr_dereg);
IOCTL(tree_set);
IOCTL(tree_get);
IOCTL(tree_clear);
IOCTL(tree_delegate);
IOCTL(tree_check);
IOCTL(manage);
IOCTL(join);
IOCTL(leave);
IOCTL(kick);
IOCTL(eventfd);

/* A region with two lists of pages and a requested key. */

static int before_region(struct sweep *s)
{
	if (!s->x.fd && at_ctx_open(&s->x, 0, NULL))
		return -EIO;
	if (!s->mem)
		s->mem = at_pages(LONG_REGION);
	return s->mem ? 0 : -ENOMEM;
}

static int do_region(struct sweep *s)
{
	struct angara_mr_register reg = {
		.size = sizeof(reg),
		.flags = ANGARA_MR_KEY,
		.addr = (uintptr_t)s->mem,
		.length = LONG_REGION,
		.access = ANGARA_ACCESS_ALL,
		.key = 1000,
	};

	return at_ioctl(s->x.dom, ANGARA_IOCTL_MR_REG, &reg);
}

static int after_region(struct sweep *s)
{
	return at_mr_dereg(&s->x, 1000);
}

static const struct way way_region = {
	.before = before_region, .call = do_region, .after = after_region,
	.answers = true,
};

FIXTURE_VARIANT_ADD(fail, ioctl_mr_reg_long) { .way = &way_region };

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

/* Closing cannot fail, even if every allocation fails. */
static int before_close(struct sweep *s)
{
	struct at_ctx x;

	if (!s->mem)
		s->mem = at_pages(AT_PAGE);
	if (at_ctx_open(&x, 0, NULL) ||
	    at_mr(&x, s->mem, AT_PAGE, ANGARA_ACCESS_ALL) < 0)
		return -EIO;
	s->fd = x.fd;
	s->dom = x.dom;
	munmap((void *)x.sq, x.c.sq_entries * sizeof(*x.sq));
	munmap((void *)x.cq, x.c.cq_entries * sizeof(*x.cq));
	munmap((void *)x.ctl, AT_PAGE);
	munmap((void *)x.ctr, AT_PAGE);
	return 0;
}

static int do_close(struct sweep *s)
{
	return close(s->fd) | close(s->dom) ? -EIO : 0;
}

static const struct way way_close = { .before = before_close, .call = do_close };

FIXTURE_VARIANT_ADD(fail, open) { .way = &way_open };
FIXTURE_VARIANT_ADD(fail, mmap) { .way = &way_mmap };
FIXTURE_VARIANT_ADD(fail, poll) { .way = &way_poll };
FIXTURE_VARIANT_ADD(fail, close) { .way = &way_close };

/* netlink */

/* A request: its command, and attributes besides those of device and object. */
struct request {
	unsigned int cmd;
	bool dump;
	bool no_dev;
	unsigned int id;	/* bytes of attribute AT_NL_ID, 0: omitted */
	struct at_nl_attr more[3];
};

static int do_nl(struct sweep *s)
{
	const struct request *r = s->nl;
	struct at_nl_attr list[2 + ARRAY_SIZE(r->more)];
	unsigned int i, n = 0;

	if (!r->no_dev)
		list[n++] = (struct at_nl_attr) { AT_NL_DEV, 4, s->s.dev };
	if (r->id)
		list[n++] = (struct at_nl_attr) {
			AT_NL_ID, r->id,
			r->cmd == ANGARA_CMD_PORT_GET ||
			r->cmd == ANGARA_CMD_CTX_GET ? 0 : s->s.tree,
		};
	for (i = 0; i < ARRAY_SIZE(r->more) && r->more[i].size; i++)
		list[n++] = r->more[i];
	return at_nl_ask(r->cmd, r->dump, list, n);
}

static int before_nl(struct sweep *s)
{
	if (!s->x.fd && at_ctx_open(&s->x, 0, NULL))
		return -EIO;
	return !s->s.mem && state_init(&s->s) ? -ENODEV : 0;
}

static int before_row(struct sweep *s)
{
	int ret = before_nl(s);

	return ret ? ret : call_tree_clear.before(&s->s);
}

static int no_row(struct sweep *s)
{
	int ret = at_tree_clear(s->s.fd, s->s.tree);

	return ret == -ENOENT ? 0 : ret;
}

static int no_delegation(struct sweep *s)
{
	return at_delegate(s->s.fd, s->s.tree, 0);
}

static const struct way way_nl = { .before = before_nl, .call = do_nl };
static const struct way way_nl_row = { .before = before_row, .call = do_nl };
static const struct way way_nl_set = {
	.before = before_nl, .call = do_nl, .after = no_row,
	.answers = true,
};
/* The call may have cleared the row, though its answer failed. */
static const struct way way_nl_clear = {
	.before = before_row, .call = do_nl, .after = no_row,
	.answers = true,
};
static const struct way way_nl_delegate = {
	.before = before_nl, .call = do_nl, .after = no_delegation,
	.answers = true,
};

#define NETLINK(_name, _way, _cmd, ...)					\
	static const struct request nl_##_name = {			\
		.cmd = ANGARA_CMD_##_cmd, __VA_ARGS__			\
	};								\
	FIXTURE_VARIANT_ADD(fail, nl_##_name) {				\
		.way = &(_way), .nl = &nl_##_name,			\
	}

NETLINK(dev_get, way_nl, DEV_GET, .dump = false);
NETLINK(dev_dump, way_nl, DEV_GET, .dump = true, .no_dev = true);
NETLINK(fabric_get, way_nl, FABRIC_GET, .dump = false);
NETLINK(link_get, way_nl, PORT_GET, .id = 1);
NETLINK(link_dump, way_nl, PORT_GET, .dump = true);
NETLINK(tree_get, way_nl_row, TREE_GET, .id = 1);
NETLINK(tree_dump, way_nl_row, TREE_GET, .dump = true, .no_dev = true);
NETLINK(ctx_get, way_nl, CTX_GET, .id = 4);
NETLINK(ctx_dump, way_nl, CTX_GET, .dump = true, .no_dev = true);
NETLINK(tree_set, way_nl_set, TREE_SET, .id = 1, .more = {
	{ ANGARA_A_TREE_IS_ROOT, 1, 1 }, { ANGARA_A_TREE_PORTS, 8, 0 },
	{ ANGARA_A_TREE_PE, 2, 1 } });
NETLINK(tree_clear, way_nl_clear, TREE_CLEAR, .id = 1);
NETLINK(tree_check, way_nl_row, TREE_CHECK, .id = 1);
NETLINK(tree_delegate, way_nl_delegate, TREE_DELEGATE, .id = 1, .more = {
	{ ANGARA_A_TREE_DELEGATED, 4, 0x5A5A5A } });

/*
 * Fabrics through sysfs: with two nodes, the first has to be removed again if
 * the second one fails.
 */

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

TEST_F_TIMEOUT(fail, until_it_gets_through, 900)
{
	const char *why = sweep(&self->s);

	TH_LOG("%u tries, %u failed", self->s.tried, self->s.failed);
	EXPECT_EQ(NULL, why) {
		TH_LOG("try %u, answer %d: %s", self->s.tried, self->s.ret, why);
	}
	if (self->s.x.fd)
		at_ctx_close(&self->s.x);
	if (self->s.s.mem) {
		at_tree_clear(self->s.s.fd, self->s.s.tree);
		state_close(&self->s.s);
	}
}

TEST_HARNESS_MAIN
