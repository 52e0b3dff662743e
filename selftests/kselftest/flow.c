// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues under pressure, and all pairs of nodes: many operations in flight,
 * rings that wrap, a completion queue that is full.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define ALL	ANGARA_ACCESS_ALL
#define NODES	8
#define SLOT	1024

/* A context on each of the first eight nodes; each has NODES slots. */
FIXTURE(flow) {
	struct at_fabric f;
	struct at_ctx x[NODES];
	char *mem[NODES];
	struct at_attr attr;
};

FIXTURE_VARIANT(flow) {
	struct at_attr attr;
};

FIXTURE_VARIANT_ADD(flow, small) { .attr = { .sq = 8, .cq = 8 } };
FIXTURE_VARIANT_ADD(flow, small_sq) { .attr = { .sq = 8, .cq = 256 } };
FIXTURE_VARIANT_ADD(flow, small_cq) { .attr = { .sq = 256, .cq = 8 } };
FIXTURE_VARIANT_ADD(flow, large) { .attr = { .sq = 1024, .cq = 2048 } };

FIXTURE_SETUP(flow)
{
	unsigned int i;

	ASSERT_EQ(0, at_fabric_find(&self->f, NODES));
	for (i = 0; i < NODES; i++) {
		ASSERT_EQ(0, at_ctx_open(&self->x[i], self->f.dev[i],
					 &variant->attr));
		self->mem[i] = at_pages(2 * NODES * SLOT);
		ASSERT_EQ(0, at_mr(&self->x[i], self->mem[i],
				   2 * NODES * SLOT, ALL));
	}
}

FIXTURE_TEARDOWN(flow)
{
	unsigned int i;

	for (i = 0; i < NODES; i++)
		at_ctx_close(&self->x[i]);
}

TEST_F(flow, all_pairs)
{
	struct angara_wqe w;
	unsigned int i, j;

	for (i = 0; i < NODES; i++) {
		at_fill(self->mem[i], SLOT, i);
		for (j = 0; j < NODES; j++) {
			w = at_put(&self->x[j], 0, (1 + i) * SLOT, 0, 0, SLOT);
			ASSERT_EQ(ANGARA_ST_OK, at_do(&self->x[i], &w, NULL)) {
				TH_LOG("put from node %u to node %u", i, j);
			}
		}
	}
	for (i = 0; i < NODES; i++)
		for (j = 0; j < NODES; j++) {
			EXPECT_TRUE(at_filled(self->mem[i] + (1 + j) * SLOT,
					      SLOT, j)) {
				TH_LOG("put from node %u to node %u", j, i);
			}
		}
	for (i = 0; i < NODES; i++) {
		memset(self->mem[i] + SLOT, 0, NODES * SLOT);
		for (j = 0; j < NODES; j++) {
			w = at_get(&self->x[j], 0, 0, 0, (1 + j) * SLOT, SLOT);
			ASSERT_EQ(ANGARA_ST_OK, at_do(&self->x[i], &w, NULL)) {
				TH_LOG("get by node %u from node %u", i, j);
			}
			EXPECT_TRUE(at_filled(self->mem[i] + (1 + j) * SLOT,
					      SLOT, j));
		}
	}
}

/*
 * Posts up to operation @total while there is room; an operation's number is
 * its cookie.
 */
static unsigned int post_some(FIXTURE_DATA(flow) *self, unsigned int done,
			      unsigned int total)
{
	char payload[200];
	struct angara_wqe w;

	for (; done < total; done++) {
		at_fill(payload, sizeof(payload), done);
		w = at_put(&self->x[1 + done % (NODES - 1)], 0,
			   (done % 8) * SLOT, 0, 0, sizeof(payload));
		w.cookie = htole64(done);
		w.flags = done % 3 ? ANGARA_WQE_INLINE : 0;
		if (at_post(&self->x[0], &w, payload))
			break;
	}
	return done;
}

/* Every operation completes once, without error; the rings wrap often. */
TEST_F(flow, wrap)
{
	const unsigned int total = at_scale(3000);
	unsigned int posted = 0, ended = 0;
	unsigned char *seen;
	struct angara_cqe cqe;
	uint64_t n;

	seen = calloc(total, 1);
	while (ended < total) {
		posted = post_some(self, posted, total);
		ASSERT_EQ(0, at_kick(&self->x[0]));
		ASSERT_EQ(0, at_wait_cqe(&self->x[0], &cqe, AT_DEADLINE_MS)) {
			TH_LOG("%u operations posted, %u completed", posted, ended);
		}
		do {
			n = le64toh(cqe.cookie);
			ASSERT_LT(n, posted);
			ASSERT_EQ(0, seen[n]++);
			ASSERT_EQ(ANGARA_ST_OK, le16toh(cqe.status));
			ended++;
		} while (at_poll_cqe(&self->x[0], &cqe));
	}
	EXPECT_FALSE(at_poll_cqe(&self->x[0], &cqe));
	EXPECT_EQ(self->x[0].pi, at_counter(&self->x[0], ANGARA_CTR_SQ_CI));
}

/* A full completion queue stops its context, and no completion is lost. */
TEST_F(flow, full_completion_queue)
{
	struct at_ctx *x = &self->x[0], *other = &self->x[2];
	const unsigned int total = x->c.sq_entries;
	unsigned int i, room = x->c.cq_entries;
	struct at_nl_obj obj;
	struct angara_cqe cqe;
	struct angara_wqe w;

	for (i = 0; i < total; i++) {
		w = at_put(&self->x[1], 0, 0, 0, 0, 8);
		w.cookie = htole64(i);
		ASSERT_EQ(0, at_post(x, &w, NULL));
	}
	ASSERT_EQ(0, at_kick(x));
	/* Other contexts on the same path are not delayed. */
	w = at_put(&self->x[1], 0, SLOT, 0, 0, SLOT);
	EXPECT_EQ(ANGARA_ST_OK, at_do(other, &w, NULL));
	at_sleep_ms(50);
	ASSERT_EQ(0, at_nl_ctx(self->f.dev[0], x->c.ctx, &obj));
	if (room < total) {
		EXPECT_GE(room, obj.cnt[ANGARA_A_CTX_COUNTER_CQES]);
		EXPECT_LT(0, obj.cnt[ANGARA_A_CTX_COUNTER_CQ_FULL]);
	}
	for (i = 0; i < total; i++) {
		ASSERT_EQ(0, at_wait_cqe(x, &cqe, AT_DEADLINE_MS)) {
			TH_LOG("completion %u of %u", i, total);
		}
		EXPECT_EQ(ANGARA_ST_OK, le16toh(cqe.status));
		/* The device sees the free entry at the next kick. */
		ASSERT_EQ(0, at_kick(x));
	}
	EXPECT_FALSE(at_poll_cqe(x, &cqe));
	ASSERT_EQ(0, at_nl_ctx(self->f.dev[0], x->c.ctx, &obj));
	EXPECT_EQ(total, obj.cnt[ANGARA_A_CTX_COUNTER_CQES]);
	EXPECT_EQ(total, obj.cnt[ANGARA_A_CTX_COUNTER_WQES]);
	EXPECT_EQ(0, obj.cnt[ANGARA_A_CTX_COUNTER_CQE_ERRORS]);
}

/* All nodes at once put to all other nodes, short and long messages. */
TEST_F(flow, all_to_all)
{
	const unsigned int rounds = at_scale(20);
	unsigned int round, i, j;
	struct angara_cqe cqe;
	struct angara_wqe w;

	for (i = 0; i < NODES; i++)
		at_fill(self->mem[i], SLOT, i);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < NODES; i++) {
			for (j = 0; j < NODES; j++) {
				w = at_put(&self->x[j], 0, (1 + i) * SLOT, 0,
					   0, 1 + round * 997 % SLOT);
				ASSERT_EQ(0, at_post(&self->x[i], &w, NULL));
			}
			ASSERT_EQ(0, at_kick(&self->x[i]));
		}
		for (i = 0; i < NODES * NODES; i++) {
			ASSERT_EQ(0, at_wait_cqe(&self->x[i % NODES], &cqe,
						 AT_DEADLINE_MS));
			ASSERT_EQ(ANGARA_ST_OK, le16toh(cqe.status));
		}
	}
	for (i = 0; i < NODES; i++)
		for (j = 0; j < NODES; j++) {
			EXPECT_TRUE(at_filled(self->mem[i] + (1 + j) * SLOT,
					      1 + 19 * 997 % SLOT, j) ||
				    rounds != 20);
		}
}

TEST_HARNESS_MAIN
