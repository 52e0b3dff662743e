// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages and atomic operations: data, order, receivers that are slow or exit,
 * senders that exit, and errors, which only the initiator gets.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define MEM	65536
#define AREA	ANGARA_MIN_MSG_BYTES
#define LONG	3000	/* five such messages fit into an empty buffer */

/*
 * @x sends to @y, which has a receive buffer; @z is a third context, on the
 * node of @x.
 */
FIXTURE(msg) {
	struct at_ends e;
	struct at_usage use;
	struct at_ctx z;
};

FIXTURE_VARIANT(msg) {
	enum at_where where;
};

FIXTURE_VARIANT_ADD(msg, same_context) { .where = AT_SAME_CTX };
FIXTURE_VARIANT_ADD(msg, same_node) { .where = AT_SAME_NODE };
FIXTURE_VARIANT_ADD(msg, neighbour) { .where = AT_NEIGHBOUR };
FIXTURE_VARIANT_ADD(msg, far) { .where = AT_FAR };

FIXTURE_SETUP(msg)
{
	const struct at_attr attr = { .msg = AREA };

	ASSERT_EQ(0, at_usage(&self->use));
	ASSERT_EQ(0, at_ends_open(&self->e, variant->where, &attr, MEM));
	ASSERT_EQ(0, at_ctx_open(&self->z, self->e.f.dev[0], &attr));
}

FIXTURE_TEARDOWN(msg)
{
	at_ends_close(&self->e);
	at_ctx_close(&self->z);
	EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
}

static struct angara_wqe send_to(const struct at_ctx *to, unsigned int key,
				 uint64_t off, uint64_t tag, uint32_t len)
{
	struct angara_wqe w = at_put(to, 0, tag, key, off, len);

	w.opcode = ANGARA_OP_SEND;
	w.cookie = htole64(tag);
	w.aux = htole64(~tag);
	w.code = htole16((uint16_t)tag);
	return w;
}

static bool message_is(const struct at_ctx *from, const struct angara_msg *m,
		       uint64_t tag, uint32_t len, unsigned int seed)
{
	return m && le32toh(m->node) == from->q.node &&
	       le16toh(m->ctx) == from->c.ctx && le64toh(m->tag) == tag &&
	       le64toh(m->imm) == ~tag && le16toh(m->code) == (uint16_t)tag &&
	       le32toh(m->length) == len && at_filled(m + 1, len, seed);
}

static const uint32_t lengths[] = {
	0, 1, 63, 64, 65, 239, 240, 241, 496, 2032, 2033, 4095, 4096,
};

TEST_F(msg, lengths)
{
	unsigned int i, round;

	for (round = 0; round < 10; round++)
		for (i = 0; i < ARRAY_SIZE(lengths); i++) {
			uint64_t tag = 0x123400000000ULL + round * 100 + i;
			const struct angara_msg *m;
			struct angara_wqe w;

			at_fill(self->e.xmem + i, lengths[i], round + i);
			w = send_to(self->e.y, self->e.xkey, i, tag, lengths[i]);
			EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, NULL));
			m = at_wait_msg(self->e.y, AT_DEADLINE_MS);
			ASSERT_TRUE(message_is(self->e.x, m, tag, lengths[i],
					       round + i)) {
				TH_LOG("%u bytes", lengths[i]);
			}
			EXPECT_EQ(0, at_free_msg(self->e.y, m));
		}
}

TEST_F(msg, inline_payload)
{
	char data[ANGARA_MAX_INLINE];
	const struct angara_msg *m;
	struct angara_wqe w;
	uint32_t len;

	at_fill(data, sizeof(data), 3);
	for (len = 0; len <= sizeof(data); len += 32) {
		w = send_to(self->e.y, 1000, 0, len, len);
		w.flags = ANGARA_WQE_INLINE;
		EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, data));
		m = at_wait_msg(self->e.y, AT_DEADLINE_MS);
		ASSERT_TRUE(message_is(self->e.x, m, len, len, 3));
		EXPECT_EQ(0, at_free_msg(self->e.y, m));
	}
}

TEST_F(msg, area_is_read_only)
{
	struct at_ctx *y = self->e.y;
	void *p;

	p = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_SHARED, y->fd,
		 (off_t)y->c.msg_offset);
	EXPECT_EQ(MAP_FAILED, p);
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)y->msg, AREA, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	p = mmap(NULL, AREA / 2, PROT_READ, MAP_SHARED, y->fd,
		 (off_t)y->c.msg_offset);
	EXPECT_EQ(MAP_FAILED, p);
	EXPECT_EQ(EINVAL, errno);
}

/* Posts @n long messages of @from; some wait for the receive buffer. */
static int fill(struct at_ctx *from, const struct at_ctx *to, int key, char *mem,
		unsigned int first, unsigned int n)
{
	unsigned int i;
	int ret;

	for (i = first; i < first + n; i++) {
		struct angara_wqe w = send_to(to, key, i * LONG, i, LONG);

		at_fill(mem + i * LONG, LONG, i);
		ret = at_post(from, &w, NULL);
		if (!ret)
			ret = at_kick(from);
		if (ret)
			return ret;
	}
	return 0;
}

TEST_F(msg, full_area)
{
	const struct angara_msg *m;
	struct angara_cqe cqe;
	struct angara_wqe w;
	unsigned int i;

	ASSERT_EQ(0, fill(self->e.x, self->e.y, self->e.xkey, self->e.xmem, 0, 12));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS));
		EXPECT_EQ(i, le64toh(cqe.cookie));
	}
	ASSERT_EQ(0, at_wait_counter(self->e.y, ANGARA_CTR_MSG_WAIT, 1,
				     AT_DEADLINE_MS));
	EXPECT_FALSE(at_poll_cqe(self->e.x, &cqe));
	/* Other contexts and other operations are not blocked. */
	w = at_put(self->e.y, self->e.ykey, 60000, self->e.xkey, 60000, 5000);
	EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, NULL));
	w = send_to(&self->z, self->e.xkey, 0, 77, 8);
	EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, NULL));
	EXPECT_NE(NULL, at_wait_msg(&self->z, AT_DEADLINE_MS));
	for (i = 0; i < 12; i++) {
		m = at_wait_msg(self->e.y, AT_DEADLINE_MS);
		ASSERT_TRUE(message_is(self->e.x, m, i, LONG, i));
		EXPECT_EQ(0, at_free_msg(self->e.y, m));
	}
	for (i = 5; i < 12; i++) {
		ASSERT_EQ(0, at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS));
		EXPECT_EQ(i, le64toh(cqe.cookie));
		EXPECT_EQ(ANGARA_ST_OK, le16toh(cqe.status));
	}
}

TEST_F(msg, receiver_closes)
{
	struct angara_cqe cqe;
	unsigned int i;

	if (self->e.x == self->e.y)
		SKIP(return, "the receiver is the sender, too: it cannot close alone");
	ASSERT_EQ(0, fill(self->e.x, self->e.y, self->e.xkey, self->e.xmem, 0, 9));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS));
	at_ctx_close(self->e.y);
	for (; i < 9; i++) {
		ASSERT_EQ(0, at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS));
		EXPECT_EQ(i, le64toh(cqe.cookie));
		EXPECT_EQ(ANGARA_ST_TARGET, le16toh(cqe.status));
	}
}

TEST_F(msg, sender_closes)
{
	struct angara_wqe w = send_to(self->e.y, 0, 0, 99, 8);
	const struct angara_msg *m;
	struct angara_cqe cqe;
	unsigned int i, own = 0;

	if (self->e.x == self->e.y)
		SKIP(return, "the sender is the receiver, too: it cannot close alone");
	ASSERT_EQ(0, fill(self->e.x, self->e.y, self->e.xkey, self->e.xmem, 0, 9));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS));
	w.flags = ANGARA_WQE_INLINE;
	ASSERT_EQ(0, at_post(&self->z, &w, "message"));
	ASSERT_EQ(0, at_kick(&self->z));
	at_ctx_close(self->e.x);
	while (!own) {
		m = at_wait_msg(self->e.y, AT_DEADLINE_MS);
		ASSERT_NE(NULL, m);
		own = le64toh(m->tag) == 99;
		EXPECT_EQ(0, at_free_msg(self->e.y, m));
	}
	EXPECT_EQ(0, at_wait_cqe(&self->z, &cqe, AT_DEADLINE_MS));
	EXPECT_EQ(ANGARA_ST_OK, le16toh(cqe.status));
}

/* A receiver that writes an invalid index harms only itself. */
TEST_F(msg, hostile_index)
{
	const struct angara_msg *m = NULL;
	uint64_t seed = at_seed();
	struct angara_wqe w;
	struct angara_cqe cqe;
	unsigned int i;

	if (self->e.x == self->e.y)
		SKIP(return, "the receiver is the sender, too, and would stop itself");
	for (i = 0; i < 300; i++) {
		seed = seed * 6364136223846793005ULL + 1;
		w = send_to(self->e.y, self->e.xkey, 0, i, (seed >> 40) % 4097);
		at_post(self->e.x, &w, NULL);
		EXPECT_EQ(0, at_kick(self->e.x));
		__atomic_store_n(&self->e.y->ctl->msg_ci, htole32(seed >> 32),
				 __ATOMIC_RELEASE);
		EXPECT_EQ(0, at_kick(self->e.y));
		while (at_poll_cqe(self->e.x, &cqe))
			;
	}
	at_ctx_close(self->e.y);
	w = send_to(self->e.x, self->e.xkey, 0, 5, 8);
	for (i = 0; i < 1000 && at_post(self->e.x, &w, NULL); i++)
		at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS);
	EXPECT_EQ(0, at_kick(self->e.x));
	/*
	 * The adapter fetches the entry when the context's completion queue has
	 * room.
	 */
	for (i = 0; i < AT_DEADLINE_MS / 100 && !m; i++) {
		while (at_poll_cqe(self->e.x, &cqe))
			;
		m = at_wait_msg(self->e.x, 100);
	}
	EXPECT_NE(NULL, m);
}

TEST_F(msg, refused)
{
	const struct at_attr none = { .msg = 0 };
	struct angara_wqe good, w;
	struct at_ctx bare;

	ASSERT_EQ(0, at_ctx_open(&bare, self->e.f.dev[1], &none));
	EXPECT_EQ(0, bare.c.msg_offset);
	w = send_to(&bare, self->e.xkey, 0, 0, 8);
	EXPECT_EQ(ANGARA_ST_ACCESS, at_do(self->e.x, &w, NULL));
	at_ctx_close(&bare);
	good = send_to(self->e.y, self->e.xkey, 0, 0, 8);
	w = good;
	w.dst_ctx = htole16(0x7FFF);
	EXPECT_EQ(ANGARA_ST_TARGET, at_do(self->e.x, &w, NULL));
	w = good;
	w.length = htole32(ANGARA_MAX_MSG + 1);
	EXPECT_EQ(ANGARA_ST_DESC, at_do(self->e.x, &w, NULL));
	w = good;
	w.lkey = htole32(500);
	EXPECT_EQ(ANGARA_ST_KEY, at_do(self->e.x, &w, NULL));
	w = good;
	w.loff = htole64(MEM - 7);
	EXPECT_EQ(ANGARA_ST_BOUNDS, at_do(self->e.x, &w, NULL));
}

static struct angara_wqe atomic(const struct at_ctx *to, int key, uint64_t off,
				unsigned int op, unsigned int type, uint32_t len)
{
	struct angara_wqe w = at_put(to, key, off, 0, 0, len);

	w.opcode = ANGARA_OP_FETCH;
	w.flags = ANGARA_WQE_INLINE;
	w.redop = op;
	w.type = type;
	return w;
}

TEST_F(msg, fetch_add)
{
	struct angara_wqe w = atomic(self->e.y, self->e.ykey, 64, ANGARA_ATOMIC_SUM,
				     ANGARA_TYPE_UINT64, 8);
	uint64_t *seen = (uint64_t *)self->e.xmem;
	uint64_t *there = (uint64_t *)self->e.ymem;
	const uint64_t two = htole64(2);
	unsigned int i;

	w.aux_key = htole32(self->e.xkey);
	there[8] = htole64(5);
	for (i = 0; i < 100; i++) {
		w.aux = htole64(8 * (100 + i));
		ASSERT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, &two));
		EXPECT_EQ(5 + 2 * i, le64toh(seen[100 + i]));
	}
	EXPECT_EQ(205, le64toh(there[8]));
}

TEST_F(msg, atomics_refused)
{
	struct angara_wqe good = atomic(self->e.y, self->e.ykey, 0, ANGARA_ATOMIC_SUM,
					ANGARA_TYPE_INT32, 4);
	int reads = at_mr(self->e.y, self->e.ymem, MEM, ANGARA_ACCESS_REMOTE_READ);
	int writes = at_mr(self->e.y, self->e.ymem, MEM, ANGARA_ACCESS_REMOTE_WRITE);
	const uint32_t one = htole32(1);
	struct angara_wqe w;

	ASSERT_LE(0, reads);
	ASSERT_LE(0, writes);
	good.aux_key = htole32(self->e.xkey);
	good.aux = htole64(4096);
	EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &good, &one));
	w = good;
	w.roff = htole64(2);
	EXPECT_EQ(ANGARA_ST_ALIGN, at_do(self->e.x, &w, &one));
	w = good;
	w.roff = htole64(MEM);
	EXPECT_EQ(ANGARA_ST_BOUNDS, at_do(self->e.x, &w, &one));
	w = good;
	w.redop = ANGARA_ATOMIC_NUM;
	EXPECT_EQ(ANGARA_ST_DESC, at_do(self->e.x, &w, &one));
	w = good;
	w.rkey = htole64(writes);
	EXPECT_EQ(ANGARA_ST_ACCESS, at_do(self->e.x, &w, &one));
	w.opcode = ANGARA_OP_ATOMIC;
	w.aux_key = 0;
	w.aux = 0;
	EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, &one));
	w.rkey = htole64(reads);
	EXPECT_EQ(ANGARA_ST_ACCESS, at_do(self->e.x, &w, &one));
	w = good;
	w.rkey = htole64(reads);
	w.flags = 0;
	w.redop = ANGARA_ATOMIC_READ;
	EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, NULL));
	EXPECT_EQ(2, le32toh(*(uint32_t *)self->e.ymem));
	EXPECT_EQ(2, le32toh(*(uint32_t *)(self->e.xmem + 4096)));
}

TEST_HARNESS_MAIN
