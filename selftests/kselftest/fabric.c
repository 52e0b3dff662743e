// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fabrics of the loopback: creation, invalid requests, removal under load;
 * unloading the modules, which fails while they are in use.
 */
#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "angtest.h"

AT_REQUIRE(AT_ROOT | AT_LOOP)

#define ALL	ANGARA_ACCESS_ALL

FIXTURE(fabric) {
	struct at_loop had[AT_MAX_LOOPS];
	int n;
};

FIXTURE_SETUP(fabric)
{
	self->n = at_loop_list(self->had, AT_MAX_LOOPS);
	ASSERT_LE(0, self->n);
}

/* Are the fabrics the same as at the start? */
static bool same(const FIXTURE_DATA(fabric) *self)
{
	struct at_loop now[AT_MAX_LOOPS];

	memset(now, 0, sizeof(now));
	return at_loop_list(now, AT_MAX_LOOPS) == self->n &&
	       !memcmp(now, self->had, self->n * sizeof(now[0]));
}

FIXTURE_TEARDOWN(fabric)
{
	EXPECT_TRUE(same(self));
}

TEST_F(fabric, bad_dims)
{
	static const char *const bad[] = {
		"", " ", "\n", "x", "0", "0x2", "2x0", "2x", "x2", "2xx2",
		"-1", "+2", "2x-2", "2.5", "2,2", "2X2", "2 x 2", "2x2 ",
		"2x2x2x2x2x2x2", "torus:", "torus", "cube:2x2", "mkns:9x4",
		"kns:", "fattree:5,2", "fattree:40,3,nodes=4000", "file:none",
		"graph g", "graph g\nnode a\nnode b\na:0 b:0\nb:0 a:1",
		"graph g\nnode a\nnode b",
		"65536", "65535", "64x65", "4097", "2x2049",
		"4294967296", "4294967297x1", "18446744073709551617", "0x10",
		"1e2", "two", "2x2;", "2x2\n2x2", "\xff", "%s%n",
	};
	struct at_loop loop;
	unsigned int i;
	char *text;
	int ret;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ret = at_loop_add(bad[i], &loop);
		/* echo leaves trailing white space, which may be accepted. */
		if (!strcmp(bad[i], "2x2 ")) {
			if (!ret)
				at_loop_remove(&loop);
			continue;
		}
		/* An empty write is not a request. */
		if (!bad[i][0])
			continue;
		EXPECT_EQ(-EINVAL, ret) {
			TH_LOG("'%s'", bad[i]);
			if (!ret)
				at_loop_remove(&loop);
		}
	}
	text = malloc(100001);
	memset(text, '2', 100000);
	text[100000] = 0;
	EXPECT_GT(0, at_write_file("/sys/bus/angara_loop/new_fabric", text));
	for (i = 1; i < 100000; i += 2)
		text[i] = 'x';
	EXPECT_GT(0, at_write_file("/sys/bus/angara_loop/new_fabric", text));
	free(text);
}

TEST_F(fabric, bad_numbers)
{
	static const char *const bad[] = {
		" ", "x", "-1", "0x0", "255", "99999", "4294967296", "1 2",
		"99999999999999999999", "2x2x2", "fabric0",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_GT(0, at_loop_del(bad[i])) {
			TH_LOG("case %u", i);
		}
	}
}

TEST_F(fabric, shapes)
{
	static const char *const good[] = {
		"1", "2", "7", "1x1x1x1", "2x2", "3x5", "2x3x4", "2x2x2x2",
		"1x8", "64",
	};
	static const unsigned int nodes[] = { 1, 2, 7, 1, 4, 15, 24, 16, 8, 64 };
	struct angara_query q;
	struct at_fabric f;
	struct at_loop loop;
	unsigned int i, d, n;
	char text[32];
	int fd;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ASSERT_EQ(0, at_loop_add(good[i], &loop)) {
			TH_LOG("'%s'", good[i]);
		}
		EXPECT_EQ(nodes[i], loop.nodes);
		ASSERT_EQ(0, at_fabric_find_id(&f, loop.id));
		fd = at_open(f.dev[f.nodes - 1]);
		EXPECT_EQ(0, at_query(fd, &q));
		close(fd);
		EXPECT_EQ(nodes[i], q.nodes);
		for (d = 0, n = 0; d < f.ndims; d++)
			n += snprintf(text + n, sizeof(text) - n, "%s%u",
				      d ? "x" : "", f.dims[d]);
		EXPECT_STREQ(good[i], text);
		EXPECT_EQ(0, at_loop_remove(&loop));
	}
}

#define NODES 8

/* Opens contexts on the nodes of a fabric, which may have any topology. */
static int open_all(struct at_ctx *x, uint64_t id)
{
	unsigned int dev, n = at_devices(), found = 0;

	for (dev = 0; dev < n; dev++) {
		struct angara_query q;
		int fd = at_open(dev), ret;

		if (fd < 0)
			continue;
		ret = at_query(fd, &q);
		close(fd);
		if (ret || q.fabric_id != id || q.node >= NODES)
			continue;
		if (at_ctx_open(&x[q.node], dev, NULL))
			break;
		found++;
	}
	return found;
}

/* Each node puts to each: every route works. */
TEST_F(fabric, kinds)
{
	static const char *const kinds[] = {
		"mesh:4x2", "hypercube:3",
	};
	enum { LEN = 3000 };
	unsigned int i, from, to;
	struct at_ctx x[NODES];
	struct at_loop loop;
	char *mem[NODES];
	int key[NODES];

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		ASSERT_EQ(0, at_loop_add(kinds[i], &loop)) {
			TH_LOG("'%s'", kinds[i]);
		}
		EXPECT_EQ(NODES, loop.nodes);
		ASSERT_EQ(NODES, open_all(x, loop.id));
		for (to = 0; to < NODES; to++) {
			mem[to] = at_pages((NODES + 1) * 4096);
			key[to] = at_mr(&x[to], mem[to], (NODES + 1) * 4096,
					ANGARA_ACCESS_ALL);
			EXPECT_LE(0, key[to]);
			at_fill(mem[to] + NODES * 4096, LEN, to);
		}
		for (from = 0; from < NODES; from++)
			for (to = 0; to < NODES; to++) {
				struct angara_wqe w = at_put(&x[to], key[to],
					from * 4096, key[from], NODES * 4096, LEN);

				EXPECT_EQ(ANGARA_ST_OK, at_do(&x[from], &w, NULL));
				EXPECT_TRUE(at_filled(mem[to] + from * 4096, LEN,
						      from));
			}
		for (to = 0; to < NODES; to++) {
			at_ctx_close(&x[to]);
			munmap(mem[to], (NODES + 1) * 4096);
		}
		EXPECT_EQ(0, at_loop_remove(&loop));
	}
}

TEST_F(fabric, many)
{
	struct at_loop made[24];
	struct at_fabric f;
	unsigned int i, k, n = at_scale(16);
	struct at_ctx x;

	if (n > ARRAY_SIZE(made))
		n = ARRAY_SIZE(made);
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, at_loop_add("2x2", &made[i]));
		for (k = 0; k < i; k++) {
			EXPECT_NE(made[k].id, made[i].id);
		}
	}
	/* Fabrics are separate from each other. */
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, at_fabric_find_id(&f, made[i].id));
		ASSERT_EQ(0, at_ctx_open(&x, f.dev[3], NULL));
		EXPECT_EQ(0, x.c.ctx);
		at_ctx_close(&x);
	}
	for (i = 0; i < n; i++) {
		EXPECT_EQ(0, at_loop_remove(&made[n - 1 - i]));
	}
}

/* What a child process does while its fabric is removed. */
struct load {
	unsigned int op;
	bool sleeps;
	bool creates;
};

static const struct load loads[] = {
	{ .op = ANGARA_OP_ALLREDUCE }, { .op = ANGARA_OP_ALLREDUCE },
	{ .op = ANGARA_OP_ALLREDUCE }, { .op = ANGARA_OP_ALLREDUCE },
	{ .op = ANGARA_OP_PUT }, { .op = ANGARA_OP_PUT },
	{ .sleeps = true }, { .creates = true },
};

#define LOADS	ARRAY_SIZE(loads)
#define TREE	1

static int create_forever(unsigned int dev)
{
	struct at_ctx x;
	void *mem = at_pages(1 << 16);
	int ret;

	for (;;) {
		ret = at_ctx_open(&x, dev, NULL);
		if (!ret) {
			ret = at_mr(&x, mem, 1 << 16, ALL);
			at_ctx_close(&x);
		}
		if (ret < 0)
			return ret;
	}
}

static int work(const struct load *load, struct at_ctx *x)
{
	struct angara_wqe w = at_put(x, 0, 8192, 0, 0, 4000);
	struct pollfd p = { .fd = x->fd, .events = POLLIN };
	int ret;

	if (load->sleeps) {
		ret = poll(&p, 1, AT_DEADLINE_MS);
		return ret == 1 && (p.revents & POLLHUP) ? -ENODEV : -ETIMEDOUT;
	}
	if (load->op == ANGARA_OP_ALLREDUCE) {
		w = at_coll(load->op, TREE, 0, 0, 4000);
		at_coll_dst(&w, 8192);
	}
	do {
		ret = at_do(x, &w, NULL);
	} while (!ret);
	/* The tree goes down when its first node is removed. */
	while (ret == ANGARA_ST_TREE_DOWN) {
		at_sleep_ms(1);
		ret = at_kick(x);
		if (!ret)
			ret = ANGARA_ST_TREE_DOWN;
	}
	return ret;
}

/*
 * Uses the fabric in a child, until an error.  The child's exit status is 0 if the
 * error is -ENODEV, else another value.
 */
static int child(const struct load *load, unsigned int dev, int ready)
{
	struct at_ctx x;
	struct angara_query q;
	int ret;

	if (load->creates) {
		if (write(ready, "r", 1) != 1)
			return 2;
		ret = create_forever(dev);
		return ret == -ENODEV || ret == -ENOENT || ret == -ENXIO ?
		       0 : 3;
	}
	if (at_ctx_open(&x, dev, NULL) ||
	    at_mr(&x, at_pages(1 << 16), 1 << 16, ALL) != 0)
		return 4;
	if (load->op == ANGARA_OP_ALLREDUCE && at_join(x.fd, TREE))
		return 5;
	if (write(ready, "r", 1) != 1)
		return 6;
	ret = work(load, &x);
	if (ret != -ENODEV) {
		fprintf(stderr, "# load %u ended with %d\n", load->op, ret);
		return 7;
	}
	/* Only close() works. */
	if (at_query(x.dom, &q) != -ENODEV || at_leave(x.fd, 0) != -ENODEV)
		return 8;
	at_ctx_close(&x);
	return 0;
}

static void lay(struct __test_metadata *_metadata, struct at_fabric *f)
{
	const struct angara_tree_row rows[4] = {
		{ .tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE,
		  .port_sum = 2, .ports = 5, .pe = 1 },
		{ .tree = TREE, .to_root = 1, .port_sum = 1, .ports = 4,
		  .pe = 1 },
		{ .tree = TREE, .to_root = 3, .pe = 1 },
		{ .tree = TREE, .to_root = 3, .pe = 1 },
	};
	struct angara_tree_row row;
	struct angara_query q;
	unsigned int i;
	int fd;

	for (i = 0; i < 4; i++) {
		fd = at_open(f->dev[i]);
		ASSERT_EQ(0, at_query(fd, &q));
		row = rows[i];
		row.pkey = q.pkey;
		ASSERT_EQ(0, at_tree_set(fd, &row, 0));
		close(fd);
	}
}

TEST_F(fabric, removed_under_load)
{
	unsigned int round, i, rounds = at_scale(5);
	struct at_fabric f;
	struct at_loop loop;
	pid_t pid[LOADS];
	int ready[2], ret;
	char c;

	for (round = 0; round < rounds; round++) {
		ASSERT_EQ(0, at_loop_add("2x2", &loop));
		ASSERT_EQ(0, at_fabric_find_id(&f, loop.id));
		lay(_metadata, &f);
		ASSERT_EQ(0, pipe(ready));
		for (i = 0; i < LOADS; i++) {
			pid[i] = fork();
			ASSERT_LE(0, pid[i]);
			if (!pid[i])
				_exit(child(&loads[i], f.dev[i % 4],
					    ready[1]));
		}
		close(ready[1]);
		for (i = 0; i < LOADS; i++) {
			ASSERT_EQ(1, read(ready[0], &c, 1));
		}
		close(ready[0]);
		at_sleep_ms(1 + 13 * round);
		EXPECT_EQ(0, at_loop_remove(&loop));
		for (i = 0; i < LOADS; i++) {
			ret = at_wait_child(pid[i], AT_DEADLINE_MS);
			EXPECT_EQ(0, ret) {
				TH_LOG("round %u, process %u", round, i);
			}
		}
		EXPECT_TRUE(same(self));
	}
}

/* A device that is removed while it is open: nothing but close() works. */
TEST_F(fabric, open_device_removed)
{
	struct angara_tree_verify check;
	struct angara_tree_get get;
	struct at_fabric f;
	struct at_loop loop;
	struct at_ctx x;
	char path[32];
	int fresh;

	ASSERT_EQ(0, at_loop_add("2", &loop));
	ASSERT_EQ(0, at_fabric_find_id(&f, loop.id));
	fresh = at_open(f.dev[0]);	/* has no domain */
	ASSERT_LE(0, fresh);
	ASSERT_EQ(0, at_ctx_open(&x, f.dev[0], NULL));
	ASSERT_EQ(0, at_mr(&x, at_pages(AT_PAGE), AT_PAGE, ALL));
	EXPECT_EQ((long)AT_PAGE, at_charged());
	EXPECT_EQ(0, at_loop_remove(&loop));
	/* The pages are uncharged before the process closes anything. */
	EXPECT_EQ(0, at_charged());
	EXPECT_EQ(-ENODEV, at_kick(&x));
	EXPECT_EQ(-ENODEV, at_arm(&x));
	EXPECT_EQ(-ENODEV, at_mr_dereg(&x, 0));
	EXPECT_EQ(-ENODEV, at_join(x.fd, 0));
	EXPECT_EQ(-ENODEV, at_tree_get(x.dom, 0, &get));
	EXPECT_EQ(-ENODEV, at_tree_check(x.dom, 0, &check));
	EXPECT_EQ(-ENODEV, at_mr(&x, x.sq, AT_PAGE, 0));
	EXPECT_EQ(-ENODEV, at_domain_create(fresh, 0));
	EXPECT_EQ(0, close(fresh));
	at_dev_path(f.dev[0], path);
	EXPECT_EQ(-1, access(path, F_OK));
	at_ctx_close(&x);
	EXPECT_EQ(0, at_charged());
}

/* A leak grows with every round; the load of other programs does not. */
TEST_F(fabric, memory_comes_back)
{
	unsigned int i, round, n = at_scale(8);
	struct at_loop loop;
	long before, lost = LONG_MAX;

	/* The first round may fill caches. */
	ASSERT_EQ(0, at_loop_add("4x4x4", &loop));
	EXPECT_EQ(0, at_loop_remove(&loop));
	for (round = 0; round < 3 && lost > 16L << 20; round++) {
		before = at_memory();
		for (i = 0; i < n; i++) {
			ASSERT_EQ(0, at_loop_add("4x4x4", &loop));
			EXPECT_EQ(0, at_loop_remove(&loop));
		}
		lost = at_memory_lost(before, 16L << 20);
		if (lost > 16L << 20)
			TH_LOG("%ld MiB less memory is available after %u fabrics", lost >> 20,
			       n);
	}
	EXPECT_GE(16L << 20, lost);
}

/* The largest fabric has 4096 nodes, unless sweeps are scaled down. */
TEST_F(fabric, large)
{
	unsigned int before = at_devices(), rows = at_scale(64);
	unsigned int nodes = 64 * rows, first;
	char dims[16];
	struct at_ctx x, y;
	struct at_loop loop;
	struct angara_wqe w;
	char *mem = at_pages(AT_PAGE);
	int ret;

	if (at_memory() < 640L << 20)
		SKIP(return, "needs 640 MiB of memory");
	snprintf(dims, sizeof(dims), "64x%u", rows);
	ret = at_loop_add(dims, &loop);
	ASSERT_EQ(0, ret);
	EXPECT_EQ(nodes, loop.nodes);
	EXPECT_EQ(before + nodes, at_devices());
	first = at_devices() - nodes;
	ASSERT_EQ(0, at_ctx_open(&x, first, NULL));
	ASSERT_EQ(0, at_ctx_open(&y, first + nodes - 1, NULL));
	EXPECT_EQ(nodes, y.q.nodes);
	ASSERT_EQ(0, at_mr(&x, mem, AT_PAGE, ALL));
	ASSERT_EQ(0, at_mr(&y, mem, AT_PAGE, ALL));
	at_fill(mem, 1000, 5);
	w = at_put(&y, 0, 2000, 0, 0, 1000);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&x, &w, NULL));
	EXPECT_TRUE(at_filled(mem + 2000, 1000, 5));
	at_ctx_close(&x);
	at_ctx_close(&y);
	EXPECT_EQ(0, at_loop_remove(&loop));
	EXPECT_EQ(before, at_devices());
}

static int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? -errno : 0;
}

TEST_F(fabric, unload_refused_while_open)
{
	struct angara_query q;
	struct at_fabric f;
	struct at_loop loop;
	int fd, ret;

	ASSERT_EQ(0, at_loop_add("2", &loop));
	ASSERT_EQ(0, at_fabric_find_id(&f, loop.id));
	fd = at_open(f.dev[1]);
	ASSERT_LE(0, fd);
	ret = unload("angara_loop");
	EXPECT_TRUE(ret == -EAGAIN || ret == -EBUSY);
	ret = unload("angara");
	EXPECT_TRUE(ret == -EAGAIN || ret == -EBUSY);
	EXPECT_EQ(0, at_query(fd, &q));
	/* The modules stay loaded when the fabric is removed, too. */
	EXPECT_EQ(0, at_loop_remove(&loop));
	EXPECT_EQ(-ENODEV, at_query(fd, &q));
	ret = unload("angara_loop");
	EXPECT_TRUE(ret == -EAGAIN || ret == -EBUSY);
	close(fd);
}

FIXTURE(module) {
	int unused;
};

FIXTURE_SETUP(module)
{
}

FIXTURE_TEARDOWN(module)
{
}

TEST_F(module, load_and_unload)
{
	struct at_loop list[AT_MAX_LOOPS];
	unsigned int i, devices = at_devices();
	int n = at_loop_list(list, AT_MAX_LOOPS);

	for (i = 0; i < at_scale(3); i++) {
		ASSERT_EQ(0, at_reload());
		EXPECT_EQ(n, at_loop_list(list, AT_MAX_LOOPS));
		EXPECT_EQ(devices, at_devices());
	}
}

static const char *const bad_params[] = {
	"fabric=0x2", "fabric=2x", "fabric=x", "fabric=65536", "fabric=64x65",
	"fabric=2x2x2x2x2x2x2", "contexts=129 fabric=2", "contexts=-1",
};

/*
 * With invalid parameters the module does not load; afterwards it loads without
 * them.
 */
TEST_F(module, bad_parameters)
{
	char command[128], dims[64] = "";
	unsigned int i, devices = at_devices();

	at_loop_dims(dims, sizeof(dims));
	ASSERT_EQ(0, at_run_command("modprobe -r angara_loop"));
	for (i = 0; i < ARRAY_SIZE(bad_params); i++) {
		snprintf(command, sizeof(command),
			 "modprobe angara_loop %s 2>/dev/null", bad_params[i]);
		EXPECT_NE(0, at_run_command(command)) {
			TH_LOG("loaded with %s", bad_params[i]);
			at_run_command("modprobe -r angara_loop");
		}
	}
	snprintf(command, sizeof(command), "modprobe angara_loop %s%s",
		 dims[0] ? "fabric=" : "", dims);
	EXPECT_EQ(0, at_run_command(command));
	EXPECT_EQ(devices, at_devices());
}

TEST_HARNESS_MAIN
