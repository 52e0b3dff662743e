// SPDX-License-Identifier: GPL-2.0-only
/*
 * Domains: contexts that share memory, keys that must match in all bits, and
 * jobs that cannot reach each other.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define THREADS	4
#define PIECE	8192U
#define MANY	10000U
#define JOB	0x0123456789ABCDEFULL
#define TREE	11
#define ALL	ANGARA_ACCESS_ALL

FIXTURE(domain) {
	struct at_fabric f;
	struct at_usage use;
	struct at_ctx x;
	struct at_ctx y;
	char *mem;
};

FIXTURE_SETUP(domain)
{
	ASSERT_EQ(0, at_fabric_find(&self->f, 8));
	ASSERT_EQ(0, at_usage(&self->use));
	ASSERT_EQ(0, at_ctx_open(&self->x, self->f.dev[0], NULL));
	ASSERT_EQ(0, at_ctx_open(&self->y, self->f.dev[7], NULL));
	self->mem = at_pages(2 * THREADS * PIECE);
	ASSERT_NE(NULL, self->mem);
}

FIXTURE_TEARDOWN(domain)
{
	at_ctx_close(&self->x);
	at_ctx_close(&self->y);
	EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
}

struct worker {
	pthread_t thread;
	struct at_ctx own;
	struct at_ctx *to;
	uint64_t key;
	unsigned int number;
	int failed;
};

/*
 * Does puts and gets between the thread's parts of two regions, a remote one
 * and a local one.
 */
static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t at = w->number * PIECE;
	struct angara_wqe wqe;
	unsigned int i;

	for (i = 0; i < 20 && !w->failed; i++) {
		wqe = at_put(w->to, w->key, at, 0, at, PIECE);
		w->failed = at_do(&w->own, &wqe, NULL);
		wqe = at_get(w->to, w->key, at, 0, (THREADS + w->number) * PIECE,
			     PIECE);
		if (!w->failed)
			w->failed = at_do(&w->own, &wqe, NULL);
	}
	return NULL;
}

TEST_F(domain, threads_share_a_region)
{
	char *there = at_pages(THREADS * PIECE);
	struct worker w[THREADS];
	struct at_ctx far[THREADS];
	uint64_t key;
	unsigned int i;
	int ret;

	ASSERT_EQ(0, at_mr(&self->x, self->mem, 2 * THREADS * PIECE, ALL));
	key = at_mr_any(&self->y, there, THREADS * PIECE, ALL, &ret);
	ASSERT_EQ(0, ret);
	for (i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ .number = i, .key = key, .to = &far[i] };
		ASSERT_EQ(0, at_ctx_add(&w[i].own, self->x.dom, NULL));
		ASSERT_EQ(0, at_ctx_add(&far[i], self->y.dom, NULL));
		at_fill(self->mem + i * PIECE, PIECE, i);
	}
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&w[i].thread, NULL, work, &w[i]));
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(w[i].thread, NULL));
		EXPECT_EQ(0, w[i].failed);
		EXPECT_TRUE(at_filled(there + i * PIECE, PIECE, i));
		EXPECT_TRUE(at_filled(self->mem + (THREADS + i) * PIECE, PIECE, i));
		at_ctx_close(&w[i].own);
		at_ctx_close(&far[i]);
	}
}

/* Files may be closed in any order; open ones keep working. */
TEST_F(domain, outlives_its_file)
{
	struct at_ctx second;
	struct angara_wqe put;
	struct at_usage use;

	ASSERT_EQ(0, at_ctx_add(&second, self->x.dom, NULL));
	ASSERT_EQ(0, at_mr(&self->x, self->mem, PIECE, ALL));
	ASSERT_EQ(0, at_mr(&self->y, self->mem + PIECE, PIECE, ALL));
	at_fill(self->mem, PIECE, 9);
	at_ctx_close(&self->x);
	put = at_put(&self->y, 0, 0, 0, 0, PIECE);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&second, &put, NULL));
	EXPECT_TRUE(at_filled(self->mem + PIECE, PIECE, 9));
	ASSERT_EQ(0, at_usage(&use));
	EXPECT_EQ(self->use.mrs + 2, use.mrs);
	put = at_put(&second, 0, 0, 0, 0, PIECE);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&self->y, &put, NULL));
	at_ctx_close(&second);
}

TEST_F(domain, goes_on_without_contexts)
{
	struct at_ctx next;
	struct angara_wqe put;

	ASSERT_EQ(0, at_mr(&self->x, self->mem, PIECE, ALL));
	ASSERT_EQ(0, at_mr(&self->y, self->mem + PIECE, PIECE, ALL));
	self->x.shares = true;
	next.dom = self->x.dom;
	at_ctx_close(&self->x);
	ASSERT_EQ(0, at_ctx_add(&next, next.dom, NULL));
	next.shares = false;
	at_fill(self->mem, PIECE, 5);
	put = at_put(&self->y, 0, 0, 0, 0, PIECE);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&next, &put, NULL));
	EXPECT_TRUE(at_filled(self->mem + PIECE, PIECE, 5));
	at_ctx_close(&next);
}

/* A file exists until the last of its descriptors is closed. */
TEST_F(domain, lives_until_its_last_descriptor)
{
	int ctx = dup(self->x.fd), dom = dup(self->x.dom);
	struct at_usage use, rest = self->use;
	struct angara_wqe put;

	ASSERT_LE(0, ctx);
	ASSERT_LE(0, dom);
	ASSERT_EQ(0, close(self->x.fd));
	ASSERT_EQ(0, close(self->x.dom));
	self->x.fd = ctx;
	self->x.dom = dom;
	ASSERT_EQ(0, at_mr(&self->x, self->mem, PIECE, ALL));
	ASSERT_EQ(0, at_mr(&self->y, self->mem + PIECE, PIECE, ALL));
	at_fill(self->mem, PIECE, 6);
	put = at_put(&self->y, 0, 0, 0, 0, PIECE);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&self->x, &put, NULL));
	EXPECT_TRUE(at_filled(self->mem + PIECE, PIECE, 6));

	ctx = dup(self->x.fd);
	ASSERT_LE(0, ctx);
	at_ctx_close(&self->x);
	ASSERT_EQ(0, at_usage(&use));
	EXPECT_EQ(self->use.contexts + 2, use.contexts);
	EXPECT_EQ(self->use.mrs + 2, use.mrs);
	ASSERT_EQ(0, close(ctx));
	rest.contexts += 1;
	rest.mrs += 1;
	rest.pinned += PIECE;
	EXPECT_EQ(0, at_usage_wait(&rest, AT_DEADLINE_MS));
}

/* Sends a context and its file. */
static int pass(int sock, const struct at_ctx *x)
{
	union {
		struct cmsghdr hdr;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .hdr = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct iovec iov = { (void *)x, sizeof(*x) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.hdr), &x->fd, sizeof(int));
	return sendmsg(sock, &msg, 0) == sizeof(*x) ? 0 : -errno;
}

/* Receives a context, and maps its memory. */
static int take(int sock, struct at_ctx *x)
{
	union {
		struct cmsghdr hdr;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { x, sizeof(*x) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	if (recvmsg(sock, &msg, 0) != sizeof(*x) || !CMSG_FIRSTHDR(&msg))
		return -EBADMSG;
	memcpy(&x->fd, CMSG_DATA(&control.hdr), sizeof(int));
	x->dom = -1;
	return at_ctx_map(x);
}

/* Makes a domain, uses it, sends the context's file and exits. */
static int maker(const struct at_fabric *f, const struct at_ctx *to, int sock)
{
	char *mem = at_pages(PIECE);
	struct angara_wqe put;
	struct at_ctx x;

	if (at_ctx_open(&x, f->dev[0], NULL) || at_mr(&x, mem, PIECE, ALL))
		return 1;
	at_fill(mem, PIECE, 1);
	put = at_put(to, 0, 0, 0, 0, PIECE);
	if (at_do(&x, &put, NULL) != ANGARA_ST_OK)
		return 2;
	at_fill(mem, PIECE, 2);
	return pass(sock, &x) ? 3 : 0;
}

TEST_F(domain, outlives_its_maker)
{
	struct angara_wqe w;
	struct at_usage use;
	struct at_ctx x;
	int sock[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock));
	ASSERT_EQ(0, at_mr(&self->y, self->mem, PIECE, ALL));
	pid = fork();
	if (!pid)
		_exit(maker(&self->f, &self->y, sock[1]));
	ASSERT_EQ(0, at_wait_child(pid, AT_DEADLINE_MS));
	EXPECT_TRUE(at_filled(self->mem, PIECE, 1));
	/* The domain keeps the pages after its maker has exited. */
	ASSERT_EQ(0, at_usage(&use));
	EXPECT_EQ(self->use.contexts + 3, use.contexts);
	EXPECT_EQ(self->use.mrs + 2, use.mrs);
	ASSERT_EQ(0, take(sock[0], &x));
	w = at_put(&self->y, 0, 0, 0, 0, PIECE);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&x, &w, NULL));
	EXPECT_TRUE(at_filled(self->mem, PIECE, 2));
	memset(self->mem, 0, PIECE);
	w = at_get(&x, 0, 0, 0, 0, PIECE);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&self->y, &w, NULL));
	EXPECT_TRUE(at_filled(self->mem, PIECE, 2));
	at_ctx_close(&x);
	close(sock[0]);
	close(sock[1]);
}

/* A context goes to another process by fork(2); the domain's file does not. */
TEST_F(domain, inherited_by_a_child)
{
	struct at_usage use;
	int fd = self->x.fd;
	pid_t pid;

	munmap(self->x.sq, self->x.c.sq_entries * sizeof(*self->x.sq));
	self->x.sq = NULL;
	pid = fork();
	if (!pid) {
		struct angara_kick k = {
			.size = sizeof(k), .flags = ANGARA_KICK_SQ,
		};

		_exit(at_ioctl(fd, ANGARA_IOCTL_KICK, &k) ? 1 : 0);
	}
	EXPECT_EQ(0, at_wait_child(pid, AT_DEADLINE_MS));
	ASSERT_EQ(0, at_usage(&use));
	EXPECT_EQ(self->use.contexts + 2, use.contexts);
}

/* Adds 8 inline bytes at the start of @key; a fetch goes to @aux. */
static struct angara_wqe add(const struct at_ctx *to, unsigned int opcode,
			     uint64_t key, uint64_t aux)
{
	struct angara_wqe w = at_put(to, key, 0, 0, 0, 8);

	w.opcode = opcode;
	w.flags = ANGARA_WQE_INLINE;
	w.redop = ANGARA_ATOMIC_SUM;
	w.type = ANGARA_TYPE_UINT64;
	w.aux = opcode == ANGARA_OP_FETCH ? htole64(aux) : 0;
	return w;
}

TEST_F(domain, keys_are_known_whole)
{
	const uint64_t one = htole64(1);
	struct angara_wqe put, get, w;
	unsigned int bit;
	uint64_t key, other;
	int ret;

	ASSERT_EQ(0, at_mr(&self->x, self->mem, PIECE, ALL));
	key = at_mr_any(&self->y, self->mem + PIECE, PIECE, ALL, &ret);
	ASSERT_EQ(0, ret);
	other = at_mr_any(&self->y, self->mem + PIECE, PIECE, ALL, &ret);
	ASSERT_EQ(0, ret);
	EXPECT_EQ(key % 65536 + 1, other % 65536);
	EXPECT_NE(key >> 16, other >> 16);
	EXPECT_EQ(-ENOENT, at_mr_dereg(&self->y, other ^ (1ULL << 63)));
	ASSERT_EQ(0, at_mr_dereg(&self->y, other));
	memset(self->mem, 1, PIECE);
	for (bit = 0; bit < 64; bit++) {
		put = at_put(&self->y, key ^ (1ULL << bit), 0, 0, 0, 64);
		EXPECT_EQ(ANGARA_ST_KEY, at_do(&self->x, &put, NULL)) {
			TH_LOG("key with bit %u wrong", bit);
		}
		get = at_get(&self->y, key ^ (1ULL << bit), 0, 0, 0, 64);
		EXPECT_EQ(ANGARA_ST_KEY, at_do(&self->x, &get, NULL));
		w = add(&self->y, ANGARA_OP_ATOMIC, key ^ (1ULL << bit), 0);
		EXPECT_EQ(ANGARA_ST_KEY, at_do(&self->x, &w, &one)) {
			TH_LOG("key with bit %u wrong", bit);
		}
		w = add(&self->y, ANGARA_OP_FETCH, key ^ (1ULL << bit), 0);
		EXPECT_EQ(ANGARA_ST_KEY, at_do(&self->x, &w, &one)) {
			TH_LOG("key with bit %u wrong", bit);
		}
	}
	EXPECT_TRUE(at_all(self->mem, PIECE, 1));
	EXPECT_TRUE(at_all(self->mem + PIECE, PIECE, 0));
	w = add(&self->y, ANGARA_OP_FETCH, key, 0);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&self->x, &w, &one));
	EXPECT_TRUE(at_all(self->mem, 8, 0));
	EXPECT_EQ(1, self->mem[PIECE]);
	put = at_put(&self->y, key, 0, 0, 0, 64);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&self->x, &put, NULL));
}

/* Two jobs of a user in one partition cannot reach each other. */
TEST_F(domain, jobs_do_not_reach_each_other)
{
	struct at_attr one = { .job = JOB, .msg = ANGARA_MIN_MSG_BYTES };
	struct at_attr two = { .job = JOB ^ 1, .msg = ANGARA_MIN_MSG_BYTES };
	struct angara_tree_row row = {
		.tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE, .pe = 1,
		.epoch = 1,
	};
	struct angara_wqe w;
	struct at_ctx a, b, c;

	ASSERT_EQ(0, at_ctx_open(&a, self->f.dev[0], &one));
	ASSERT_EQ(0, at_ctx_open(&b, self->f.dev[7], &two));
	ASSERT_EQ(0, at_ctx_open(&c, self->f.dev[7], &one));
	ASSERT_EQ(a.pkey, b.pkey);
	ASSERT_EQ(0, at_mr(&a, self->mem, PIECE, ALL));
	ASSERT_EQ(0, at_mr(&b, self->mem + PIECE, PIECE, ALL));
	ASSERT_EQ(0, at_mr(&c, self->mem + 2 * PIECE, PIECE, ALL));
	memset(self->mem, 3, PIECE);

	w = at_put(&b, 0, 0, 0, 0, 64);
	EXPECT_EQ(ANGARA_ST_PARTITION, at_do(&a, &w, NULL));
	w = at_get(&b, 0, 0, 0, 0, 64);
	EXPECT_EQ(ANGARA_ST_PARTITION, at_do(&a, &w, NULL));
	w = at_put(&self->y, 0, 0, 0, 0, 64);
	EXPECT_EQ(ANGARA_ST_PARTITION, at_do(&a, &w, NULL));
	w = at_put(&b, 0, 0, 0, 0, 0);
	w.opcode = ANGARA_OP_SEND;
	EXPECT_EQ(ANGARA_ST_PARTITION, at_do(&a, &w, NULL));
	EXPECT_TRUE(at_all(self->mem + PIECE, PIECE, 0));
	EXPECT_TRUE(at_all(self->mem, PIECE, 3));
	w = at_put(&c, 0, 0, 0, 0, 64);
	EXPECT_EQ(ANGARA_ST_OK, at_do(&a, &w, NULL));

	row.pkey = a.pkey;
	EXPECT_EQ(-EINVAL, at_tree_set(self->y.dom, &row, ANGARA_TREE_JOB));
	ASSERT_EQ(0, at_tree_set(c.dom, &row, ANGARA_TREE_JOB));
	EXPECT_EQ(-EPERM, at_join(b.fd, TREE));
	EXPECT_EQ(-EPERM, at_join(self->y.fd, TREE));
	EXPECT_EQ(0, at_join(c.fd, TREE));
	EXPECT_EQ(0, at_tree_clear(c.dom, TREE));
	at_ctx_close(&a);
	at_ctx_close(&b);
	at_ctx_close(&c);
}

/*
 * Atomic operations reach contexts of the sender's job only, on another node or on the
 * same one.
 */
TEST_F(domain, jobs_do_not_count_for_each_other)
{
	static const unsigned int opcodes[] = {
		ANGARA_OP_ATOMIC, ANGARA_OP_FETCH,
	};
	struct at_attr one = { .job = JOB }, two = { .job = JOB ^ (1ULL << 63) };
	const uint64_t five = htole64(5);
	uint64_t *there = (uint64_t *)(self->mem + PIECE);
	struct at_ctx from, own, none, to[4];
	struct angara_wqe w;
	unsigned int i, n;

	ASSERT_EQ(0, at_ctx_open(&from, self->f.dev[0], &one));
	ASSERT_EQ(0, at_ctx_open(&own, self->f.dev[7], &one));
	ASSERT_EQ(0, at_ctx_open(&none, self->f.dev[0], NULL));
	ASSERT_EQ(0, at_ctx_open(&to[0], self->f.dev[7], &two));
	ASSERT_EQ(0, at_ctx_open(&to[1], self->f.dev[0], &two));
	to[2] = self->y;
	to[3] = none;
	ASSERT_EQ(0, at_mr(&from, self->mem, PIECE, ALL));
	ASSERT_EQ(0, at_mr(&own, there, PIECE, ALL));
	for (n = 0; n < 4; n++) {
		ASSERT_EQ(from.pkey, to[n].pkey);
		ASSERT_EQ(0, at_mr(&to[n], there, PIECE, ALL));
	}
	memset(self->mem, 0xFF, PIECE);
	for (i = 0; i < 2; i++) {
		for (n = 0; n < 4; n++) {
			w = add(&to[n], opcodes[i], 0, 64);
			EXPECT_EQ(ANGARA_ST_PARTITION, at_do(&from, &w, &five)) {
				TH_LOG("opcode %u to context %u", opcodes[i], n);
			}
		}
		EXPECT_EQ(5 * i, le64toh(*there));
		EXPECT_TRUE(at_all(self->mem, PIECE, 0xFF));
		w = add(&own, opcodes[i], 0, 64);
		EXPECT_EQ(ANGARA_ST_OK, at_do(&from, &w, &five));
		EXPECT_EQ(5 * i + 5, le64toh(*there));
	}
	EXPECT_EQ(5, le64toh(*(uint64_t *)(self->mem + 64)));
	at_ctx_close(&from);
	at_ctx_close(&own);
	at_ctx_close(&none);
	at_ctx_close(&to[0]);
	at_ctx_close(&to[1]);
}

TEST_F(domain, ten_thousand_regions)
{
	unsigned int i, n = self->y.q.max_mrs < MANY ? self->y.q.max_mrs : MANY;
	uint64_t *key = calloc(n, sizeof(*key));
	struct angara_wqe put;
	struct at_usage use;
	int ret;

	ASSERT_NE(NULL, key);
	ASSERT_EQ(0, at_mr(&self->x, self->mem, PIECE, ALL));
	for (i = 0; i < n; i++) {
		key[i] = at_mr_any(&self->y, self->mem + PIECE + i % PIECE, 1,
				   ALL, &ret);
		ASSERT_EQ(0, ret) {
			TH_LOG("region %u", i);
		}
		ASSERT_EQ(i, key[i] % 65536);
	}
	ASSERT_EQ(0, at_usage(&use));
	EXPECT_EQ(self->use.mrs + 1 + n, use.mrs);
	memset(self->mem, 7, PIECE);
	for (i = 0; i < n; i += 7) {
		self->mem[PIECE + i % PIECE] = 0;
		put = at_put(&self->y, key[i], 0, 0, 0, 1);
		ASSERT_EQ(ANGARA_ST_OK, at_do(&self->x, &put, NULL)) {
			TH_LOG("region %u", i);
		}
		ASSERT_EQ(7, self->mem[PIECE + i % PIECE]);
	}
	for (i = 0; i < n; i += 3) {
		ASSERT_EQ(0, at_mr_dereg(&self->y, key[i]));
	}
	put = at_put(&self->y, key[0], 0, 0, 0, 1);
	EXPECT_EQ(ANGARA_ST_KEY, at_do(&self->x, &put, NULL));
	free(key);
	/* Closing the file releases the other regions. */
}

TEST_HARNESS_MAIN
