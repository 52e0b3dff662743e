// SPDX-License-Identifier: GPL-2.0-only
/*
 * Put and get: data, completion, notification, and errors, which only the
 * initiator gets.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define ALL	ANGARA_ACCESS_ALL
#define MEM	((1U << 20) + 8192)
#define GUARD	64

/* @x starts operations, @y is their target; each has a region of MEM bytes. */
FIXTURE(p2p) {
	struct at_ends e;
};

FIXTURE_VARIANT(p2p) {
	enum at_where where;
};

FIXTURE_VARIANT_ADD(p2p, same_context) { .where = AT_SAME_CTX };
FIXTURE_VARIANT_ADD(p2p, same_node) { .where = AT_SAME_NODE };
FIXTURE_VARIANT_ADD(p2p, neighbour) { .where = AT_NEIGHBOUR };
FIXTURE_VARIANT_ADD(p2p, far) { .where = AT_FAR };

FIXTURE_SETUP(p2p)
{
	ASSERT_EQ(0, at_ends_open(&self->e, variant->where, NULL, MEM));
}

FIXTURE_TEARDOWN(p2p)
{
	at_ends_close(&self->e);
}

static const uint32_t lengths[] = {
	0, 1, 15, 16, 17, 255, 256, 257, 511, 512, 513, 4095, 4096, 4097,
	65536, (1U << 20) + 1,
};

/* Transfers data between guards. Return: true if data and guards are right. */
static bool transfer(FIXTURE_DATA(p2p) *self, unsigned int opcode,
		     uint32_t from, uint32_t to, uint32_t len)
{
	bool put = opcode == ANGARA_OP_PUT;
	char *src = put ? self->e.xmem : self->e.ymem;
	char *dst = put ? self->e.ymem : self->e.xmem;
	unsigned int seed = len + from * 3 + to * 5 + opcode;
	struct angara_cqe cqe;
	struct angara_wqe w;

	at_fill(src + from, len, seed);
	memset(dst + to - GUARD, 0x5A, len + 2 * GUARD);
	w = put ? at_put(self->e.y, self->e.ykey, to, self->e.xkey, from, len) :
		  at_get(self->e.y, self->e.ykey, from, self->e.xkey, to, len);
	w.cookie = htole64(0x1122334455667788ULL + seed);
	if (at_post(self->e.x, &w, NULL) || at_kick(self->e.x) ||
	    at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS))
		return false;
	return cqe.cookie == w.cookie && cqe.opcode == opcode &&
	       le16toh(cqe.status) == ANGARA_ST_OK &&
	       le32toh(cqe.length) == len && at_filled(dst + to, len, seed) &&
	       at_all(dst + to - GUARD, GUARD, 0x5A) &&
	       at_all(dst + to + len, GUARD, 0x5A);
}

TEST_F(p2p, lengths)
{
	unsigned int i, op;

	for (op = ANGARA_OP_PUT; op <= ANGARA_OP_GET; op++)
		for (i = 0; i < ARRAY_SIZE(lengths); i++) {
			EXPECT_TRUE(transfer(self, op, 128, 128, lengths[i])) {
				TH_LOG("operation %u, %u bytes", op,
				       lengths[i]);
			}
		}
}

TEST_F(p2p, alignments)
{
	static const uint32_t at[] = {
		64, 65, 71, 127, 255, 256, 257, 4031, 4095, 4096, 4097,
	};
	unsigned int i, j, op;

	for (op = ANGARA_OP_PUT; op <= ANGARA_OP_GET; op++)
		for (i = 0; i < ARRAY_SIZE(at); i++)
			for (j = 0; j < ARRAY_SIZE(at); j++) {
				EXPECT_TRUE(transfer(self, op, at[i], at[j],
						     600 + i)) {
					TH_LOG("operation %u, %u to %u", op,
					       at[i], at[j]);
				}
			}
}

TEST_F(p2p, inline_payload)
{
	unsigned char data[ANGARA_MAX_INLINE];
	struct angara_wqe w;
	uint32_t len;

	for (len = 0; len <= ANGARA_MAX_INLINE; len++) {
		at_fill(data, len, len);
		memset(self->e.ymem, 0x5A, len + GUARD);
		w = at_put(self->e.y, self->e.ykey, 0, ~0U, ~0ULL, len);
		w.flags = ANGARA_WQE_INLINE;
		ASSERT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, data));
		ASSERT_TRUE(at_filled(self->e.ymem, len, len)) {
			TH_LOG("%u bytes", len);
		}
		ASSERT_TRUE(at_all(self->e.ymem + len, GUARD, 0x5A));
	}
}

TEST_F(p2p, notification)
{
	static const unsigned int use[] = { 0, 1, 200, ANGARA_CTR_USER_NUM - 1 };
	unsigned int i, n;
	struct angara_wqe w;
	uint64_t before;

	for (i = 0; i < ARRAY_SIZE(use); i++) {
		n = ANGARA_CTR_USER(use[i]);
		before = at_counter(self->e.y, n);
		at_fill(self->e.xmem, 3000, i);
		w = at_put(self->e.y, self->e.ykey, 0, self->e.xkey, 0, 3000);
		w.flags = ANGARA_WQE_NOTIFY;
		w.counter = htole16(use[i]);
		ASSERT_EQ(0, at_post(self->e.x, &w, NULL));
		ASSERT_EQ(0, at_kick(self->e.x));
		ASSERT_EQ(0, at_wait_counter(self->e.y, n, before + 1,
					     AT_DEADLINE_MS));
		EXPECT_TRUE(at_filled(self->e.ymem, 3000, i));

		w = at_get(self->e.y, self->e.ykey, 0, self->e.xkey, 0, 3000);
		w.flags = ANGARA_WQE_NOTIFY;
		w.counter = htole16(use[i]);
		ASSERT_EQ(0, at_post(self->e.x, &w, NULL));
		/* Only the notification counter changes. */
		w = at_put(self->e.y, self->e.ykey, 0, self->e.xkey, 0, 0);
		w.flags = ANGARA_WQE_NOTIFY | ANGARA_WQE_FENCE;
		w.counter = htole16(use[i]);
		ASSERT_EQ(0, at_post(self->e.x, &w, NULL));
		ASSERT_EQ(0, at_kick(self->e.x));
		ASSERT_EQ(0, at_wait_counter(self->e.y, n, before + 3,
					     AT_DEADLINE_MS));
	}
	for (i = 0; i < ANGARA_CTR_USER_NUM; i++) {
		before = i == 0 || i == 1 || i == 200 ||
			 i == ANGARA_CTR_USER_NUM - 1 ? 3 : 0;
		EXPECT_EQ(before, at_counter(self->e.y, ANGARA_CTR_USER(i)));
	}
}

/* A fenced operation sees the effects of all earlier ones. */
TEST_F(p2p, fence)
{
	const uint32_t len = 200000;
	unsigned int round, i;
	struct angara_cqe cqe;
	struct angara_wqe w;

	for (round = 0; round < at_scale(8); round++) {
		at_fill(self->e.xmem, len, round);
		memset(self->e.ymem, 0, len);
		w = at_put(self->e.y, self->e.ykey, 0, self->e.xkey, 0, len);
		ASSERT_EQ(0, at_post(self->e.x, &w, NULL));
		w = at_get(self->e.y, self->e.ykey, len - 4096, self->e.xkey, len,
			   4096);
		w.flags = ANGARA_WQE_FENCE;
		ASSERT_EQ(0, at_post(self->e.x, &w, NULL));
		ASSERT_EQ(0, at_kick(self->e.x));
		for (i = 0; i < 2; i++) {
			ASSERT_EQ(0, at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS));
			ASSERT_EQ(ANGARA_ST_OK, le16toh(cqe.status));
		}
		EXPECT_EQ(0, memcmp(self->e.xmem + len, self->e.xmem + len - 4096,
				    4096));
	}
}

TEST_F(p2p, quiet)
{
	struct angara_cqe cqe;
	struct angara_wqe w;
	unsigned int i;

	at_fill(self->e.xmem, 20 * 300, 1);
	for (i = 0; i < 20; i++) {
		w = at_put(self->e.y, self->e.ykey, i * 300, self->e.xkey, i * 300,
			   300);
		w.flags = ANGARA_WQE_QUIET;
		w.cookie = htole64(i);
		ASSERT_EQ(0, at_post(self->e.x, &w, NULL));
	}
	/* The failure and the fenced operation after it are both reported. */
	w = at_put(self->e.y, 77, 0, self->e.xkey, 0, 300);
	w.flags = ANGARA_WQE_QUIET;
	w.cookie = htole64(100);
	ASSERT_EQ(0, at_post(self->e.x, &w, NULL));
	w = at_put(self->e.y, self->e.ykey, 0, self->e.xkey, 0, 1);
	w.flags = ANGARA_WQE_FENCE;
	w.cookie = htole64(101);
	ASSERT_EQ(0, at_post(self->e.x, &w, NULL));
	ASSERT_EQ(0, at_kick(self->e.x));
	ASSERT_EQ(0, at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS));
	EXPECT_EQ(100, le64toh(cqe.cookie));
	EXPECT_EQ(ANGARA_ST_KEY, le16toh(cqe.status));
	ASSERT_EQ(0, at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS));
	EXPECT_EQ(101, le64toh(cqe.cookie));
	EXPECT_EQ(ANGARA_ST_OK, le16toh(cqe.status));
	EXPECT_FALSE(at_poll_cqe(self->e.x, &cqe));
	EXPECT_TRUE(at_filled(self->e.ymem, 20 * 300, 1));
}

static struct angara_wqe good_put(const FIXTURE_DATA(p2p) *self)
{
	return at_put(self->e.y, self->e.ykey, 0, self->e.xkey, 0, 1000);
}

/* A refused transfer has no effect at the target. */
TEST_F(p2p, refused)
{
	struct angara_wqe put = good_put(self), get, w;
	uint32_t nodes = self->e.f.nodes;
	struct at_nl_obj obj;
	struct angara_cqe cqe;
	unsigned int i;
	struct {
		struct angara_wqe w;
		unsigned int want;
	} bad[12];

	get = at_get(self->e.y, self->e.ykey, 0, self->e.xkey, 0, 1000);
	for (i = 0; i < 12; i++)
		bad[i].w = i < 6 ? put : get;
	bad[0].w.rkey = htole64(self->e.ykey + 1);
	bad[1].w.roff = htole64(MEM - 999);
	bad[2].w.dst_node = htole32(nodes);
	bad[3].w.dst_node = htole32(~0U);
	bad[4].w.dst_ctx = htole16(self->e.y->c.ctx + 17);
	bad[5].w.dst_ctx = htole16(0xFFFF);
	bad[6].w.rkey = htole64(~0ULL);
	bad[7].w.roff = htole64(MEM - 999);
	bad[8].w.dst_node = htole32(nodes);
	bad[9].w.dst_ctx = htole16(0xFFFF);
	bad[10].w.lkey = htole32(~0U);
	bad[11].w.loff = htole64(MEM);
	for (i = 0; i < 12; i++)
		bad[i].want = i % 6 == 0 ? ANGARA_ST_KEY : ANGARA_ST_TARGET;
	bad[1].want = bad[7].want = bad[11].want = ANGARA_ST_BOUNDS;
	bad[10].want = ANGARA_ST_KEY;
	memset(self->e.ymem, 0xA5, MEM);
	for (i = 0; i < 12; i++) {
		memset(self->e.xmem, 0x11, 1000);
		bad[i].w.cookie = htole64(i);
		EXPECT_EQ(bad[i].want, at_do(self->e.x, &bad[i].w, NULL)) {
			TH_LOG("case %u", i);
		}
		EXPECT_TRUE(at_all(self->e.xmem, 1000, 0x11));
	}
	EXPECT_TRUE(at_all(self->e.ymem, MEM, 0xA5));
	EXPECT_FALSE(at_poll_cqe(self->e.y, &cqe));
	if (self->e.y != self->e.x) {
		EXPECT_EQ(0, at_counter(self->e.y, ANGARA_CTR_EVSEQ));
	}
	/* Operations 0, 1, 6 and 7 reached the target's context. */
	ASSERT_EQ(0, at_nl_ctx(self->e.f.dev[self->e.y->q.node], self->e.y->c.ctx,
			       &obj));
	EXPECT_EQ(4, obj.cnt[ANGARA_A_CTX_COUNTER_RX_ERRORS]);
	w = good_put(self);
	EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, NULL));
}

/* A transfer that fails half-way has exactly one completion. */
TEST_F(p2p, error_names_the_node)
{
	struct angara_wqe w = good_put(self);
	struct angara_cqe cqe;

	w.rkey = htole64(self->e.ykey + 1);
	w.length = htole32(100000);
	w.cookie = htole64(9);
	ASSERT_EQ(0, at_post(self->e.x, &w, NULL));
	ASSERT_EQ(0, at_kick(self->e.x));
	ASSERT_EQ(0, at_wait_cqe(self->e.x, &cqe, AT_DEADLINE_MS));
	EXPECT_EQ(ANGARA_ST_KEY, le16toh(cqe.status));
	EXPECT_EQ(self->e.y->q.node, le32toh(cqe.node));
	EXPECT_EQ(9, le64toh(cqe.cookie));
	w = good_put(self);
	EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, NULL));
	EXPECT_FALSE(at_poll_cqe(self->e.x, &cqe));
}

TEST_F(p2p, partition)
{
	struct at_attr attr = { .pkey = self->e.x->pkey + 1 };
	struct at_ctx z;
	struct angara_wqe w;
	struct angara_cqe cqe;

	ASSERT_EQ(0, at_ctx_open(&z, self->e.f.dev[self->e.y->q.node], &attr));
	EXPECT_EQ(attr.pkey, z.pkey);
	memset(self->e.ymem, 0xA5, AT_PAGE);
	ASSERT_EQ(0, at_mr(&z, self->e.ymem, AT_PAGE, ALL));
	w = at_put(&z, 0, 0, self->e.xkey, 0, 100);
	EXPECT_EQ(ANGARA_ST_PARTITION, at_do(self->e.x, &w, NULL));
	w = at_get(&z, 0, 0, self->e.xkey, 0, 100);
	EXPECT_EQ(ANGARA_ST_PARTITION, at_do(self->e.x, &w, NULL));
	w = at_put(&z, 0, 0, self->e.xkey, 0, 0);
	w.flags = ANGARA_WQE_NOTIFY;
	EXPECT_EQ(ANGARA_ST_PARTITION, at_do(self->e.x, &w, NULL));
	EXPECT_EQ(0, at_counter(&z, ANGARA_CTR_USER(0)));
	EXPECT_FALSE(at_poll_cqe(&z, &cqe));
	EXPECT_TRUE(at_all(self->e.ymem, AT_PAGE, 0xA5));
	at_ctx_close(&z);
}

TEST_F(p2p, malformed)
{
	struct angara_wqe w, good = good_put(self);
	unsigned int i;

#define BROKEN(what) do {						\
	w = good;							\
	what;								\
	EXPECT_EQ(ANGARA_ST_DESC, at_do(self->e.x, &w, NULL)) {		\
		TH_LOG("%s", #what);					\
	}								\
} while (0)
	for (i = ANGARA_OP_NUM; i < 256; i += 31)
		BROKEN(w.opcode = i);
	for (i = 4; i < 8; i++)
		BROKEN(w.flags = 1U << i);
	BROKEN(w.aux = 1);
	BROKEN(w.aux_key = 1);
	BROKEN(w.length = htole32(ANGARA_MAX_OP_BYTES + 1));
	BROKEN(w.length = htole32(~0U));
	BROKEN(w.flags = ANGARA_WQE_NOTIFY;
	       w.counter = htole16(ANGARA_CTR_USER_NUM));
	BROKEN(w.flags = ANGARA_WQE_NOTIFY; w.counter = htole16(0xFFFF));
	BROKEN(w.flags = ANGARA_WQE_INLINE;
	       w.length = htole32(ANGARA_MAX_INLINE + 1));
	BROKEN(w.flags = ANGARA_WQE_INLINE; w.length = htole32(~0U));
#undef BROKEN
	EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &good, NULL));
}

TEST_F(p2p, nop)
{
	struct angara_wqe w = { .opcode = ANGARA_OP_NOP, .cookie = 5 };
	struct angara_cqe cqe;

	EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, NULL));
	w.flags = ANGARA_WQE_QUIET;
	ASSERT_EQ(0, at_post(self->e.x, &w, NULL));
	w.flags = ANGARA_WQE_FENCE;
	EXPECT_EQ(ANGARA_ST_OK, at_do(self->e.x, &w, NULL));
	EXPECT_FALSE(at_poll_cqe(self->e.x, &cqe));
}

TEST_HARNESS_MAIN
