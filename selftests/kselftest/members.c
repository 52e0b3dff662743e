// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives beyond the simple case: several participants on a node,
 * participants that disagree, memory that does not fit, trees that go down or
 * are set again during operations.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "at_harness.h"
#include "group.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define NODES	8
#define TREE	7
#define KEY	0
#define HALF	16384U

/* Several participants per node, and one root. */
FIXTURE(members) {
	struct at_group g;
	struct at_member m[AT_MAX_MEMBERS];
	unsigned int node[AT_MAX_MEMBERS];
	unsigned int who[AT_MAX_MEMBERS];
	unsigned int n;
	uint16_t pe[AT_MAX_NODES];
	char want[HALF];
};

FIXTURE_VARIANT(members) {
	unsigned int root;
	uint16_t pe[NODES];
};

FIXTURE_VARIANT_ADD(members, one_each) {
	.root = 0, .pe = { 1, 1, 1, 1, 1, 1, 1, 1 },
};

FIXTURE_VARIANT_ADD(members, two_each) {
	.root = 5, .pe = { 2, 2, 2, 2, 2, 2, 2, 2 },
};

FIXTURE_VARIANT_ADD(members, three_each) {
	.root = 7, .pe = { 3, 3, 3, 3, 3, 3, 3, 3 },
};

FIXTURE_VARIANT_ADD(members, mixed) {
	.root = 3, .pe = { 2, 3, 1, 0, 2, 1, 0, 3 },
};

FIXTURE_VARIANT_ADD(members, full_node) {
	.root = 4, .pe = { 0, 0, 0, 0, 16, 0, 0, 0 },
};

FIXTURE_VARIANT_ADD(members, far_from_the_root) {
	.root = 0, .pe = { 0, 0, 0, 0, 0, 0, 0, 4 },
};

/* Sets the rows and joins all members. */
static int lay(FIXTURE_DATA(members) *self, unsigned int root)
{
	unsigned int i;
	int ret;

	ret = at_tree_lay(&self->g, TREE, root, self->pe);
	for (i = 0; i < self->n && ret > 0; i++)
		if (at_join(self->m[i].x.fd, TREE))
			return -ENOTCONN;
	return ret;
}

FIXTURE_SETUP(members)
{
	unsigned int i, k;

	ASSERT_EQ(0, at_group_open(&self->g));
	memcpy(self->pe, variant->pe, sizeof(variant->pe));
	for (i = 0; i < NODES; i++) {
		for (k = 0; k < variant->pe[i]; k++) {
			self->who[self->n] = self->n;
			self->node[self->n] = i;
			ASSERT_EQ(KEY, at_member_open(&self->m[self->n++],
						      &self->g, i, 2 * HALF));
		}
	}
	ASSERT_LT(0, lay(self, variant->root));
}

FIXTURE_TEARDOWN(members)
{
	unsigned int i;

	at_tree_lift(&self->g, TREE);
	for (i = 0; i < self->n; i++)
		at_member_close(&self->m[i]);
	at_group_close(&self->g);
}

static struct angara_wqe sum(unsigned int opcode, uint32_t bytes)
{
	struct angara_wqe w = at_coll(opcode, TREE, KEY, KEY, bytes);

	w.redop = ANGARA_RED_SUM;
	w.type = ANGARA_TYPE_INT32;
	at_coll_dst(&w, HALF);
	return w;
}

static int start_all(FIXTURE_DATA(members) *self, const struct angara_wqe *w)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < self->n && !ret; i++)
		ret = at_start(&self->m[i], w);
	return ret;
}

/* Have all members ended with @status? */
static bool all_end(FIXTURE_DATA(members) *self, int status)
{
	bool good = true;
	unsigned int i;

	for (i = 0; i < self->n; i++)
		if (at_finish(&self->m[i]) != status)
			good = false;
	return good;
}

static void give_all(FIXTURE_DATA(members) *self, uint32_t bytes)
{
	unsigned int i;

	for (i = 0; i < self->n; i++) {
		at_give(self->m[i].mem, ANGARA_TYPE_INT32, bytes / 4, i);
		memset(self->m[i].mem + HALF, 0x77, HALF);
	}
	at_reduce(self->want, ANGARA_TYPE_INT32, ANGARA_RED_SUM, bytes / 4,
		  self->who, self->n);
}

TEST_F(members, allreduce)
{
	static const uint32_t lens[] = { 0, 4, 256, 260, 4096, 10000 };
	unsigned int i, k;
	struct angara_wqe w;

	for (k = 0; k < ARRAY_SIZE(lens); k++) {
		w = sum(ANGARA_OP_ALLREDUCE, lens[k]);
		give_all(self, lens[k]);
		ASSERT_EQ(0, start_all(self, &w));
		EXPECT_TRUE(all_end(self, ANGARA_ST_OK));
		for (i = 0; i < self->n; i++) {
			EXPECT_EQ(0, memcmp(self->m[i].mem + HALF, self->want,
					    lens[k]));
		}
	}
}

TEST_F(members, reduce_to_each)
{
	const uint32_t len = 1000;
	unsigned int to, i;
	struct angara_wqe w;

	for (to = 0; to < self->n; to++) {
		w = sum(ANGARA_OP_REDUCE, len);
		w.dst_node = htole32(self->node[to]);
		w.dst_ctx = htole16(self->m[to].x.c.ctx);
		give_all(self, len);
		ASSERT_EQ(0, start_all(self, &w));
		EXPECT_TRUE(all_end(self, ANGARA_ST_OK));
		for (i = 0; i < self->n; i++) {
			if (i == to) {
				EXPECT_EQ(0, memcmp(self->m[i].mem + HALF,
						    self->want, len));
			} else {
				EXPECT_TRUE(at_all(self->m[i].mem + HALF, len,
						   0x77));
			}
		}
	}
}

TEST_F(members, bcast_from_each)
{
	const uint32_t len = 3001;
	struct angara_wqe w = sum(ANGARA_OP_BCAST, len);
	unsigned int from, i;

	w.redop = 0;
	w.type = 0;
	for (from = 0; from < self->n; from++) {
		at_fill(self->m[from].mem, len, from);
		ASSERT_EQ(0, at_start(&self->m[from], &w));
		EXPECT_EQ(ANGARA_ST_OK, at_finish(&self->m[from]));
		for (i = 0; i < self->n; i++) {
			EXPECT_EQ(0, at_wait_counter(&self->m[i].x,
						     ANGARA_CTR_BCAST(TREE),
						     from + 1, AT_DEADLINE_MS));
			EXPECT_TRUE(at_filled(self->m[i].mem + HALF, len,
					      from));
		}
	}	/* Each member gets exactly one completion. */
	at_sleep_ms(5);
	for (i = 0; i < self->n; i++) {
		EXPECT_EQ(self->n, at_counter(&self->m[i].x,
					      ANGARA_CTR_BCAST(TREE)));
	}
}

/* A broadcast started before a barrier has arrived when the barrier ends. */
TEST_F(members, barrier_follows_broadcast)
{
	struct angara_wqe b = sum(ANGARA_OP_BCAST, HALF);
	struct angara_wqe w = at_coll(ANGARA_OP_BARRIER, TREE, 0, 0, 0);
	unsigned int round, i, from;

	b.redop = 0;
	b.type = 0;
	b.flags = ANGARA_WQE_QUIET;
	for (round = 0; round < at_scale(8); round++) {
		from = round % self->n;
		at_fill(self->m[from].mem, HALF, round);
		ASSERT_EQ(0, at_post(&self->m[from].x, &b, NULL));
		ASSERT_EQ(0, start_all(self, &w));
		EXPECT_TRUE(all_end(self, ANGARA_ST_OK));
		for (i = 0; i < self->n; i++) {
			EXPECT_TRUE(at_filled(self->m[i].mem + HALF, HALF,
					      round));
		}
	}
}

/*
 * The last participant to start differs: all get an error, and the tree is down
 * until it is set again.
 */
TEST_F(members, disagreement)
{
	struct angara_wqe good = sum(ANGARA_OP_ALLREDUCE, 512), bad[4];
	struct angara_tree_get get;
	unsigned int i, k, last = self->n - 1;

	for (k = 0; k < ARRAY_SIZE(bad); k++)
		bad[k] = good;
	bad[0].redop = ANGARA_RED_MAX;
	bad[1].type = ANGARA_TYPE_UINT32;
	bad[2].length = htole32(256);
	bad[3].length = htole32(516);
	for (k = 0; k < ARRAY_SIZE(bad); k++) {
		for (i = 0; i < last; i++) {
			ASSERT_EQ(0, at_begin(&self->m[i], &good));
		}
		ASSERT_EQ(0, at_start(&self->m[last], &bad[k]));
		EXPECT_TRUE(all_end(self, ANGARA_ST_MISMATCH)) {
			TH_LOG("disagreement %u", k);
		}
		ASSERT_EQ(0, start_all(self, &good));
		EXPECT_TRUE(all_end(self, ANGARA_ST_TREE_DOWN));
		EXPECT_EQ(0, at_tree_get(self->g.fd[self->node[0]], TREE,
					 &get));
		EXPECT_EQ(ANGARA_TREE_STATE_DOWN, get.state);
		at_tree_lift(&self->g, TREE);
		ASSERT_LT(0, lay(self, variant->root));
		ASSERT_EQ(0, start_all(self, &good));
		EXPECT_TRUE(all_end(self, ANGARA_ST_OK));
	}
}

/* If a contribution cannot be read, all members get the error. */
TEST_F(members, bad_contribution)
{
	struct angara_wqe good = sum(ANGARA_OP_ALLREDUCE, 600), bad = good;
	unsigned int i, last = self->n - 1;

	bad.lkey = htole32(99);
	for (i = 0; i < last; i++) {
		ASSERT_EQ(0, at_start(&self->m[i], &good));
	}
	ASSERT_EQ(0, at_start(&self->m[last], &bad));
	EXPECT_TRUE(all_end(self, ANGARA_ST_KEY));
	give_all(self, 600);
	ASSERT_EQ(0, start_all(self, &good));
	EXPECT_TRUE(all_end(self, ANGARA_ST_OK));
	for (i = 0; i < self->n; i++) {
		EXPECT_EQ(0, memcmp(self->m[i].mem + HALF, self->want, 600));
	}
}

/* A result that cannot be written concerns only its receiver. */
TEST_F(members, bad_destination)
{
	struct angara_wqe good = sum(ANGARA_OP_ALLREDUCE, 600), bad[3];
	unsigned int i, k, last = self->n - 1, want;
	int ro;

	ro = at_mr(&self->m[last].x, self->m[last].mem, 2 * HALF,
		   ANGARA_ACCESS_REMOTE_WRITE | ANGARA_ACCESS_REMOTE_READ);
	ASSERT_LT(0, ro);
	for (k = 0; k < ARRAY_SIZE(bad); k++)
		bad[k] = good;
	bad[0].aux_key = htole32(99);
	bad[1].aux = htole64(2 * HALF - 599);
	bad[2].aux_key = htole32(ro);
	for (k = 0; k < ARRAY_SIZE(bad); k++) {
		want = k == 0 ? ANGARA_ST_KEY :
		       k == 1 ? ANGARA_ST_BOUNDS : ANGARA_ST_ACCESS;
		give_all(self, 600);
		for (i = 0; i < last; i++) {
			ASSERT_EQ(0, at_start(&self->m[i], &good));
		}
		ASSERT_EQ(0, at_start(&self->m[last], &bad[k]));
		EXPECT_EQ(want, at_finish(&self->m[last]));
		EXPECT_TRUE(at_all(self->m[last].mem + HALF, HALF, 0x77));
		for (i = 0; i < last; i++) {
			EXPECT_EQ(ANGARA_ST_OK, at_finish(&self->m[i]));
			EXPECT_EQ(0, memcmp(self->m[i].mem + HALF, self->want,
					    600));
		}
	}
}

/* A broadcast that one participant refuses reaches the others. */
TEST_F(members, broadcast_refused_by_one)
{
	struct angara_wqe w = at_coll(ANGARA_OP_BCAST, TREE, KEY, 1, 700);
	unsigned int i, refuser = self->n / 2;
	int key;

	if (self->n < 2)
		SKIP(return, "needs two participants, the tree has %u", self->n);
	for (i = 0; i < self->n; i++) {
		key = at_mr(&self->m[i].x, self->m[i].mem + HALF, HALF,
			    i == refuser ? ANGARA_ACCESS_LOCAL_WRITE :
					   ANGARA_ACCESS_ALL);
		ASSERT_EQ(1, key);
		memset(self->m[i].mem + HALF, 0x77, HALF);
	}
	at_fill(self->m[0].mem, 700, 3);
	ASSERT_EQ(0, at_start(&self->m[0], &w));
	EXPECT_EQ(ANGARA_ST_OK, at_finish(&self->m[0]));
	for (i = 0; i < self->n; i++) {
		EXPECT_EQ(0, at_wait_counter(&self->m[i].x,
					     ANGARA_CTR_BCAST(TREE), 1,
					     AT_DEADLINE_MS));
		if (i != refuser) {
			EXPECT_TRUE(at_filled(self->m[i].mem + HALF, 700, 3));
		}
	}
	EXPECT_TRUE(at_all(self->m[refuser].mem + HALF, HALF, 0x77));
	EXPECT_LE(1, at_counter(&self->m[refuser].x,
				ANGARA_CTR_RX_ERRORS(TREE)));
}

TEST_F(members, malformed)
{
	struct angara_wqe good = sum(ANGARA_OP_ALLREDUCE, 64), w;

#define BROKEN(what) do {						\
	w = good;							\
	what;								\
	EXPECT_EQ(ANGARA_ST_DESC, at_do(&self->m[0].x, &w, NULL)) {	\
		TH_LOG("%s", #what);					\
	}								\
} while (0)
	BROKEN(w.redop = ANGARA_RED_NUM);
	BROKEN(w.redop = 255);
	BROKEN(w.type = ANGARA_TYPE_NUM);
	BROKEN(w.type = 255);
	BROKEN(w.type = ANGARA_TYPE_DOUBLE; w.redop = ANGARA_RED_AND);
	BROKEN(w.type = ANGARA_TYPE_FLOAT; w.redop = ANGARA_RED_MINLOC);
	BROKEN(w.type = ANGARA_TYPE_FLOAT_LOC);
	BROKEN(w.redop = ANGARA_RED_MAXLOC);
	BROKEN(w.tree = htole16(ANGARA_MAX_TREES));
	BROKEN(w.tree = htole16(0xFF00));
	BROKEN(w.length = htole32(63));
	BROKEN(w.type = ANGARA_TYPE_INT64; w.length = htole32(68));
	BROKEN(w.length = htole32(ANGARA_MAX_OP_BYTES + 4));
#undef BROKEN
	w = good;
	w.tree = htole16(TREE + 1);
	EXPECT_EQ(ANGARA_ST_NO_TREE, at_do(&self->m[0].x, &w, NULL));
	ASSERT_EQ(0, start_all(self, &good));
	EXPECT_TRUE(all_end(self, ANGARA_ST_OK));
}

/* All waits end when a row is cleared. */
TEST_F(members, row_cleared_under_way)
{
	struct angara_wqe w = sum(ANGARA_OP_ALLREDUCE, 4096);
	unsigned int i, last = self->n - 1;

	if (self->n < 2)
		SKIP(return, "needs two participants, the tree has %u", self->n);
	for (i = 0; i < last; i++) {
		ASSERT_EQ(0, at_begin(&self->m[i], &w));
	}
	ASSERT_EQ(0, at_tree_clear(self->g.fd[variant->root], TREE));
	for (i = 0; i < last; i++) {
		EXPECT_EQ(ANGARA_ST_TREE_DOWN, at_finish(&self->m[i]));
	}
}

TEST_F(members, one_leaves_under_way)
{
	struct angara_wqe w = sum(ANGARA_OP_ALLREDUCE, 4096);
	unsigned int i, last = self->n - 1;
	struct angara_tree_get get;

	if (self->n < 2)
		SKIP(return, "needs two participants, the tree has %u", self->n);
	for (i = 0; i < last; i++) {
		ASSERT_EQ(0, at_begin(&self->m[i], &w));
	}
	ASSERT_EQ(0, at_leave(self->m[last].x.fd, TREE));
	for (i = 0; i < last; i++) {
		EXPECT_EQ(ANGARA_ST_TREE_DOWN, at_finish(&self->m[i]));
	}
	ASSERT_EQ(0, at_tree_get(self->g.fd[self->node[0]], TREE, &get));
	EXPECT_EQ(ANGARA_TREE_STATE_DOWN, get.state);
	EXPECT_EQ(self->node[last], get.down_node);
}

TEST_HARNESS_MAIN
