// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared resources of which a single user cannot take all: contexts of an
 * adapter, links.
 */
#include <endian.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "group.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define NODES	8
#define TREE	6
#define KEY	0
#define BYTES	65536U	/* bytes of a collective operation */
#define PUT	16384U

FIXTURE(share) {
	struct at_group g;
	mode_t mode[AT_MAX_NODES];
	uint64_t *puts;		/* operations that another user has completed */
};

FIXTURE_SETUP(share)
{
	unsigned int i;
	char path[32];
	struct stat st;

	ASSERT_EQ(0, at_group_open(&self->g));
	for (i = 0; i < self->g.f.nodes; i++) {
		at_dev_path(self->g.f.dev[i], path);
		ASSERT_EQ(0, stat(path, &st));
		self->mode[i] = st.st_mode & 07777;
		ASSERT_EQ(0, chmod(path, 0666));
	}
	self->puts = mmap(NULL, AT_PAGE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->puts);
}

FIXTURE_TEARDOWN(share)
{
	unsigned int i;
	char path[32];

	at_tree_lift(&self->g, TREE);
	for (i = 0; i < self->g.f.nodes; i++) {
		at_dev_path(self->g.f.dev[i], path);
		chmod(path, self->mode[i]);
	}
	at_group_close(&self->g);
}

/* Opens a context on the first node as user @uid without privileges. */
static int open_as(FIXTURE_DATA(share) *self, struct at_ctx *x, uid_t uid)
{
	int ret = seteuid(uid) ? -errno : at_ctx_open(x, self->g.f.dev[0], NULL);

	return seteuid(0) ? -errno : ret;
}

/* Opens contexts as user @uid until that fails. Return: their number. */
static unsigned int take_all(FIXTURE_DATA(share) *self, struct at_ctx *x,
			     unsigned int max, uid_t uid, int *why)
{
	unsigned int held = 0;

	for (*why = 0; held < max; held++) {
		*why = open_as(self, &x[held], uid);
		if (*why)
			break;
	}
	return held;
}

/* Number of contexts that a user gets if @left are free. */
static unsigned int half(unsigned int left)
{
	return (left + 1) / 2;
}

/*
 * Users take contexts one after the other; each gets half of the free ones.  A
 * few contexts are reserved for the administrator.
 */
TEST_F(share, contexts)
{
	const struct at_attr small = { .sq = 8, .cq = 8 };
	struct at_ctx first, other, *x;
	unsigned int max, reserve, held, got, user;
	int ret;

	ASSERT_EQ(0, at_ctx_open(&first, self->g.f.dev[0], &small));
	max = first.q.max_contexts;
	reserve = max / 16;
	ASSERT_LE(12, max);
	x = calloc(max, sizeof(*x));
	ASSERT_NE(NULL, x);

	held = take_all(self, x, max, AT_NOBODY, &ret);
	EXPECT_EQ(-EBUSY, ret);
	EXPECT_EQ(half(max - reserve - 1), held);
	/* For a closed context the user may open another one. */
	at_ctx_close(&x[0]);
	EXPECT_EQ(0, open_as(self, &x[0], AT_NOBODY));
	EXPECT_EQ(-EBUSY, open_as(self, &other, AT_NOBODY));

	for (user = 1; user < 3; user++) {
		got = take_all(self, x + held, max - held, AT_NOBODY - user, &ret);
		EXPECT_EQ(-EBUSY, ret);
		EXPECT_EQ(half(max - reserve - 1 - held), got);
		held += got;
	}
	/*
	 * The users that follow still get contexts, and after them root does.
	 */
	EXPECT_GT(max - reserve - 1, held);
	for (; user < max && held < max; user++) {
		got = take_all(self, x + held, max - held, AT_NOBODY - user, &ret);
		held += got;
		if (!got)
			break;
	}
	EXPECT_EQ(max - reserve - 1, held);
	EXPECT_EQ(0, at_ctx_open(&other, self->g.f.dev[0], &small));
	at_ctx_close(&other);
	while (held)
		at_ctx_close(&x[--held]);

	/* The administrator may take all contexts. */
	for (; held < max - 1; held++)
		ASSERT_EQ(0, at_ctx_open(&x[held], self->g.f.dev[0], &small));
	EXPECT_EQ(-EBUSY, at_ctx_open(&other, self->g.f.dev[0], &small));
	while (held)
		at_ctx_close(&x[--held]);
	free(x);
	at_ctx_close(&first);
}

/* Opens contexts as users of a namespace. Return: number or -errno. */
static int take_in_namespace(FIXTURE_DATA(share) *self, unsigned int max,
			     int ready, int go)
{
	struct at_ctx *x = calloc(max, sizeof(*x));
	unsigned int held;
	char c;

	/* Switch to a user with the right to switch to others in a namespace. */
	if (!x || setresuid(AT_NOBODY, AT_NOBODY, AT_NOBODY) ||
	    prctl(PR_SET_DUMPABLE, 1) || unshare(CLONE_NEWUSER) ||
	    write(ready, "", 1) != 1 || read(go, &c, 1) != 1)
		return -errno;
	for (held = 0; held < max; held++) {
		if (setresuid(-1, held + 1, -1))
			return -errno;
		if (at_ctx_open(&x[held], self->g.f.dev[0], NULL))
			break;
		if (setresuid(-1, 0, -1))
			return -errno;
	}
	return held;
}

/* Users of a user namespace share the limits of the user that created it. */
TEST_F(share, namespaces)
{
	int ready[2], go[2], status;
	struct angara_query q;
	char path[64], c;
	pid_t pid;
	int fd;

	fd = at_open(self->g.f.dev[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, at_query(fd, &q));
	close(fd);
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		status = take_in_namespace(self, q.max_contexts, ready[1], go[0]);
		_exit(status < 0 ? 255 : status);
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	ASSERT_LT(0, at_write_file(path, "0 65534 1\n1 100000 1000\n"));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(half(q.max_contexts - q.max_contexts / 16),
		  WEXITSTATUS(status));
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
}

/* Fills the queue of @from with puts to @to, and counts completed puts in @done. */
static int put_all(struct at_ctx *from, struct at_ctx *to, uint64_t *done)
{
	struct angara_wqe w = at_put(to, KEY, 0, KEY, 0, PUT);
	struct angara_cqe cqe;
	int ret;

	do {
		ret = at_post(from, &w, NULL);
	} while (!ret);
	if (ret != -EAGAIN)
		return ret;
	ret = at_kick(from);
	while (!ret && at_poll_cqe(from, &cqe)) {
		if (le16toh(cqe.status) != ANGARA_ST_OK)
			return -EIO;
		__atomic_add_fetch(done, 1, __ATOMIC_SEQ_CST);
	}
	return ret;
}

/* Puts in both directions as another user, until the process is killed. */
static int keep_putting(FIXTURE_DATA(share) *self)
{
	char *mem = at_pages(PUT);
	struct at_ctx x, y;
	int ret;

	if (!mem || at_become(AT_NOBODY) ||
	    at_ctx_open(&x, self->g.f.dev[0], NULL) ||
	    at_ctx_open(&y, self->g.f.dev[NODES - 1], NULL) ||
	    at_mr(&x, mem, PUT, ANGARA_ACCESS_ALL) != KEY ||
	    at_mr(&y, mem, PUT, ANGARA_ACCESS_ALL) != KEY)
		return 2;
	do {
		ret = put_all(&x, &y, self->puts);
		if (!ret)
			ret = put_all(&y, &x, self->puts);
	} while (!ret);
	fprintf(stderr, "# put: %s\n", strerror(-ret));
	return 1;
}

/* Waits until the other user has completed more than @n puts. */
static int more_puts(FIXTURE_DATA(share) *self, uint64_t n)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;

	while (__atomic_load_n(self->puts, __ATOMIC_SEQ_CST) <= n) {
		if (at_now_ms() > end)
			return -ETIMEDOUT;
		at_sleep_ms(1);
	}
	return 0;
}

static void allreduce(struct __test_metadata *_metadata,
		      struct at_member m[NODES], const void *want)
{
	struct angara_wqe w = at_coll(ANGARA_OP_ALLREDUCE, TREE, KEY, KEY, BYTES);
	unsigned int i;

	w.redop = ANGARA_RED_SUM;
	w.type = ANGARA_TYPE_INT64;
	at_coll_dst(&w, BYTES);
	for (i = 0; i < NODES; i++)
		ASSERT_EQ(0, at_start(&m[i], &w));
	for (i = 0; i < NODES; i++)
		ASSERT_EQ(ANGARA_ST_OK, at_finish(&m[i]));
	for (i = 0; i < NODES; i++)
		EXPECT_EQ(0, memcmp(m[i].mem + BYTES, want, BYTES));
}

TEST_F(share, collective_beside_puts)
{
	static char want[BYTES];
	uint16_t pe[AT_MAX_NODES] = {};
	struct at_member m[NODES];
	unsigned int who[NODES], i;
	uint64_t before;
	pid_t pid;

	for (i = 0; i < NODES; i++) {
		pe[i] = 1;
		who[i] = i;
		ASSERT_EQ(0, at_member_open(&m[i], &self->g, i, 2 * BYTES));
		at_give(m[i].mem, ANGARA_TYPE_INT64, BYTES / 8, i);
	}
	at_reduce(want, ANGARA_TYPE_INT64, ANGARA_RED_SUM, BYTES / 8, who, NODES);
	ASSERT_LT(0, at_tree_lay(&self->g, TREE, 0, pe));
	for (i = 0; i < NODES; i++)
		ASSERT_EQ(0, at_join(m[i].x.fd, TREE));

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(keep_putting(self));
	EXPECT_EQ(0, more_puts(self, 0));
	for (i = 0; i < at_scale(20); i++)
		allreduce(_metadata, m, want);
	/* The other user made progress as well, without an error. */
	before = __atomic_load_n(self->puts, __ATOMIC_SEQ_CST);
	EXPECT_EQ(0, more_puts(self, before));
	EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (i = 0; i < NODES; i++)
		at_member_close(&m[i]);
}

TEST_HARNESS_MAIN
