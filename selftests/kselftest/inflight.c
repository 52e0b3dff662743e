// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bounds of the collective network: 16 reductions in flight on each of 16
 * overlapping trees, and the credits that enforce this. Children get a credit
 * after 8 results, the processing element after 128 results or 4096 cycles.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "at_harness.h"
#include "group.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define NODES	8
#define KEY	0
#define LEN	(ANGARA_MAX_REDUCES * ANGARA_PACKET_BYTES)
#define HALF	(AT_TREES * LEN)

FIXTURE(inflight) {
	struct at_group g;
	struct at_member m[NODES];
	unsigned int who[NODES];
	char want[LEN];
};

/* Sets up tree @t from @root over all nodes and joins all members. */
static int lay(FIXTURE_DATA(inflight) *self, unsigned int t, unsigned int root)
{
	uint16_t pe[AT_MAX_NODES] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	unsigned int i;
	int ret;

	at_tree_lift(&self->g, t);
	ret = at_tree_lay(&self->g, t, root, pe);
	for (i = 0; i < NODES && ret > 0; i++)
		if (at_join(self->m[i].x.fd, t))
			return -ENOTCONN;
	return ret > 0 ? 0 : ret;
}

FIXTURE_SETUP(inflight)
{
	unsigned int i, t;

	ASSERT_EQ(0, at_group_open(&self->g));
	for (i = 0; i < NODES; i++) {
		ASSERT_EQ(KEY, at_member_open(&self->m[i], &self->g, i,
					      2 * HALF));
		self->who[i] = i;
	}
	for (t = 0; t < AT_TREES; t++) {
		ASSERT_EQ(0, lay(self, t, t % NODES));
	}
}

FIXTURE_TEARDOWN(inflight)
{
	unsigned int i, t;

	for (t = 0; t < AT_TREES; t++)
		at_tree_lift(&self->g, t);
	for (i = 0; i < NODES; i++)
		at_member_close(&self->m[i]);
	at_group_close(&self->g);
}

static struct angara_wqe sum(unsigned int tree, uint32_t bytes)
{
	struct angara_wqe w = at_coll(ANGARA_OP_ALLREDUCE, tree, KEY, KEY,
				      bytes);

	w.loff = htole64(tree * LEN);
	at_coll_dst(&w, HALF + tree * LEN);
	return w;
}

/* Counters of a row. */
enum {
	RESULTS = ANGARA_A_TREE_COUNTER_REDUCE_RESULTS,
	SENT = ANGARA_A_TREE_COUNTER_CREDITS_SENT,
	RECEIVED = ANGARA_A_TREE_COUNTER_CREDITS_RECEIVED,
	PE_COUNT = ANGARA_A_TREE_COUNTER_CREDITS_PE_COUNT,
	PE_TIMER = ANGARA_A_TREE_COUNTER_CREDITS_PE_TIMER,
	UP_CREDITS = ANGARA_A_TREE_COUNTER_UP_CREDITS,
	IN_FLIGHT = ANGARA_A_TREE_COUNTER_IN_FLIGHT,
	MAX_IN_FLIGHT = ANGARA_A_TREE_COUNTER_MAX_IN_FLIGHT,
};

/* Reads the row of @tree at @node. */
static struct at_nl_obj row_of(FIXTURE_DATA(inflight) *self, unsigned int node,
			       unsigned int tree)
{
	struct at_nl_obj obj;

	at_nl_tree(self->g.f.dev[node], tree, &obj);
	return obj;
}

static uint64_t counter(FIXTURE_DATA(inflight) *self, unsigned int node,
			unsigned int tree, unsigned int n)
{
	return row_of(self, node, tree).cnt[n];
}

/* Waits for @want: nodes may still be active when a system call returns. */
static uint64_t settled_in_flight(FIXTURE_DATA(inflight) *self,
				  unsigned int node, unsigned int tree,
				  uint64_t want)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS, now;

	while ((now = counter(self, node, tree, IN_FLIGHT)) != want &&
	       at_now_ms() < end)
		at_sleep_ms(1);
	return now;
}

static void give_all(FIXTURE_DATA(inflight) *self)
{
	unsigned int i, t;

	for (i = 0; i < NODES; i++)
		for (t = 0; t < AT_TREES; t++)
			at_give(self->m[i].mem + t * LEN, ANGARA_TYPE_INT32,
				LEN / 4, i);
	at_reduce(self->want, ANGARA_TYPE_INT32, ANGARA_RED_SUM, LEN / 4,
		  self->who, NODES);
}

/* Member @i starts its part of one operation of @bytes on every tree. */
static int start_on_all_trees(FIXTURE_DATA(inflight) *self, unsigned int i,
			      uint32_t bytes)
{
	struct angara_wqe w;
	unsigned int t;
	int ret = 0;

	for (t = 0; t < AT_TREES && !ret; t++) {
		w = sum(t, bytes);
		ret = at_post(&self->m[i].x, &w, NULL);
	}
	return ret ? ret : at_kick(&self->m[i].x);
}

/*
 * Seven of eight members have contributed as much as is allowed: at its root,
 * each tree uses all 16 ReduceIds, and no more.  The eighth member's
 * contributions free all of them.
 */
TEST_F(inflight, all_reduce_ids)
{
	unsigned int i, t, round, late;
	struct angara_cqe cqe;

	for (round = 0; round < 3; round++) {
		late = (round * 3 + 1) % NODES;
		give_all(self);
		for (i = 0; i < NODES; i++)
			if (i != late) {
				ASSERT_EQ(0, start_on_all_trees(self, i, LEN));
			}
		for (t = 0; t < AT_TREES; t++) {
			EXPECT_EQ(ANGARA_MAX_REDUCES,
				  settled_in_flight(self, t % NODES, t,
						    ANGARA_MAX_REDUCES)) {
				TH_LOG("tree %u", t);
			}
		}
		for (i = 0; i < NODES; i++) {
			EXPECT_FALSE(at_poll_cqe(&self->m[i].x, &cqe));
		}
		ASSERT_EQ(0, start_on_all_trees(self, late, LEN));
		for (i = 0; i < NODES; i++)
			for (t = 0; t < AT_TREES; t++) {
				ASSERT_EQ(ANGARA_ST_OK, at_finish(&self->m[i]));
			}
		for (i = 0; i < NODES; i++)
			for (t = 0; t < AT_TREES; t++) {
				EXPECT_EQ(0, memcmp(self->m[i].mem + HALF +
						    t * LEN, self->want, LEN));
			}
	}
	for (t = 0; t < AT_TREES; t++) {
		for (i = 0; i < NODES; i++) {
			EXPECT_EQ(0, settled_in_flight(self, i, t, 0));
			EXPECT_GE(ANGARA_MAX_REDUCES,
				  counter(self, i, t, MAX_IN_FLIGHT));
		}
		EXPECT_EQ(ANGARA_MAX_REDUCES,
			  counter(self, t % NODES, t, MAX_IN_FLIGHT));
	}
}

/* More than 16 packets wait: the 17th stays with its context. */
TEST_F(inflight, never_more_than_16)
{
	const unsigned int tree = 3;
	struct angara_wqe w = sum(0, HALF);
	unsigned int i;

	w.tree = htole16(tree);
	for (i = 0; i < NODES; i++)
		if (i != tree) {
			ASSERT_EQ(0, at_start(&self->m[i], &w));
		}
	EXPECT_EQ(ANGARA_MAX_REDUCES,
		  settled_in_flight(self, tree, tree, ANGARA_MAX_REDUCES));
	at_sleep_ms(20);
	EXPECT_EQ(ANGARA_MAX_REDUCES, counter(self, tree, tree, IN_FLIGHT));
	ASSERT_EQ(0, at_start(&self->m[tree], &w));
	for (i = 0; i < NODES; i++) {
		EXPECT_EQ(ANGARA_ST_OK, at_finish(&self->m[i]));
	}
	for (i = 0; i < NODES; i++) {
		EXPECT_GE(ANGARA_MAX_REDUCES,
			  counter(self, i, tree, MAX_IN_FLIGHT));
		EXPECT_EQ(HALF / ANGARA_PACKET_BYTES,
			  counter(self, i, tree, RESULTS));
	}
}

/* Runs @count one-packet allreduces on @tree, one after another. */
static int results(FIXTURE_DATA(inflight) *self, unsigned int tree,
		   unsigned int count)
{
	struct angara_wqe w = sum(tree, 4);
	unsigned int i, k;
	int ret;

	for (k = 0; k < count; k++) {
		for (i = 0; i < NODES; i++) {
			ret = at_start(&self->m[i], &w);
			if (ret)
				return ret;
		}
		for (i = 0; i < NODES; i++) {
			ret = at_finish(&self->m[i]);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static unsigned int parent(FIXTURE_DATA(inflight) *self, unsigned int node,
			   unsigned int tree)
{
	struct angara_tree_get get;

	at_tree_get(self->g.fd[node], tree, &get);
	return get.row.is_root ? node :
	       at_neighbor(&self->g.f, node, get.row.to_root);
}

/*
 * Has the router sent the credits for all its results?  It counts a result before it
 * sends the credit.
 */
static bool has_sent_credits(const struct at_nl_obj *row)
{
	return row->cnt[SENT] >= row->cnt[RESULTS] / 8;
}

/* Waits until all credits of the row of @node are sent and received.  Return: the row. */
static struct at_nl_obj settled_credits(FIXTURE_DATA(inflight) *self,
					unsigned int node, unsigned int tree)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	unsigned int above = parent(self, node, tree);
	struct angara_tree_get get;
	struct at_nl_obj row, up;
	bool done;

	at_tree_get(self->g.fd[node], tree, &get);
	do {
		row = row_of(self, node, tree);
		up = row_of(self, above, tree);
		done = (!get.row.ports || has_sent_credits(&row)) &&
		       (get.row.is_root ||
			(has_sent_credits(&up) &&
			 row.cnt[RECEIVED] == up.cnt[SENT]));
	} while (!done && at_now_ms() < end);
	return row;
}

/* Children get a credit after every 8 results, not earlier. */
TEST_F(inflight, credits_after_8)
{
	static const unsigned int more[] = { 1, 6, 1, 1, 7, 8 };
	unsigned int k, i, done = 0, tree = 5;
	struct angara_tree_get get;
	struct at_nl_obj row;

	for (k = 0; k < ARRAY_SIZE(more); k++) {
		ASSERT_EQ(0, results(self, tree, more[k]));
		done += more[k];
		for (i = 0; i < NODES; i++) {
			row = settled_credits(self, i, tree);
			ASSERT_EQ(0, at_tree_get(self->g.fd[i], tree, &get));
			EXPECT_EQ(done, row.cnt[RESULTS]);
			EXPECT_EQ(get.row.ports ? done / 8 : 0, row.cnt[SENT]) {
				TH_LOG("node %u after %u results", i, done);
			}
			if (get.row.is_root)
				continue;
			EXPECT_EQ(counter(self, parent(self, i, tree), tree, SENT),
				  row.cnt[RECEIVED]);
			EXPECT_EQ(16 + 8 * row.cnt[RECEIVED],
				  done + row.cnt[UP_CREDITS]);
		}
	}
}

/* Numbers of credit packets to the processing element of node 0, by cause. */
struct sums {
	uint64_t by_count, by_timer;
};

static struct sums credit_sums(FIXTURE_DATA(inflight) *self)
{
	struct sums sum = {};
	struct at_nl_obj row;
	unsigned int t;

	for (t = 0; t < AT_TREES; t++) {
		row = row_of(self, 0, t);
		sum.by_count += row.cnt[PE_COUNT];
		sum.by_timer += row.cnt[PE_TIMER];
	}
	return sum;
}

/* Waits until node 0 has credits for @count results of each tree. */
static int told_all(FIXTURE_DATA(inflight) *self, uint64_t count)
{
	unsigned int t;
	int ret = 0;

	for (t = 0; t < AT_TREES && !ret; t++)
		ret = at_wait_counter(&self->m[0].x, ANGARA_CTR_REDUCES(t),
				      count, AT_DEADLINE_MS);
	return ret;
}

/* Causes @count results on each tree, all when the last node starts. */
static void on_all_trees(struct __test_metadata *_metadata,
			 FIXTURE_DATA(inflight) *self, unsigned int count)
{
	unsigned int i, k;
	struct angara_wqe w;

	for (i = 0; i < NODES; i++) {
		for (k = 0; k < count * AT_TREES; k++) {
			w = sum(k % AT_TREES, 4);
			ASSERT_EQ(0, at_post(&self->m[i].x, &w, NULL));
		}
		ASSERT_EQ(0, at_kick(&self->m[i].x));
	}
	for (i = 0; i < NODES; i++) {
		for (k = 0; k < count * AT_TREES; k++) {
			ASSERT_EQ(ANGARA_ST_OK, at_finish(&self->m[i]));
		}
	}
}

/*
 * The processing element gets credits after 128 results over all trees.
 *
 * All trees have their root at node 0, so its results come together, unless the
 * fabric's threads wait for a processor. In that case the timer may send the
 * credits before all results have come; such a round is repeated.
 */
TEST_F(inflight, credits_after_128)
{
	unsigned int t, round, whole = 0;
	struct sums before, after;

	for (t = 0; t < AT_TREES; t++) {
		ASSERT_EQ(0, lay(self, t, 0));
	}
	/* 112 results are too few: no credits follow. */
	on_all_trees(_metadata, self, 7);
	ASSERT_EQ(0, told_all(self, 7));
	after = credit_sums(self);
	EXPECT_EQ(0, after.by_count);
	for (round = 1; round <= 100 && whole < 3; round++) {
		before = after;
		on_all_trees(_metadata, self, 8);
		ASSERT_EQ(0, told_all(self, 7 + 8 * round));
		after = credit_sums(self);
		if (after.by_timer != before.by_timer)
			continue;
		whole++;
		EXPECT_EQ(AT_TREES, after.by_count - before.by_count);
	}
	EXPECT_EQ(3, whole);
}

/* The processing element also gets credits 4096 cycles after a result. */
TEST_F(inflight, credits_after_4096_cycles)
{
	const unsigned int tree = 2;
	struct at_nl_obj row;
	unsigned int i;

	for (i = 0; i < NODES; i++) {
		EXPECT_EQ(0, counter(self, i, tree, PE_TIMER));
		EXPECT_EQ(0, at_counter(&self->m[i].x, ANGARA_CTR_REDUCES(tree)));
	}
	ASSERT_EQ(0, results(self, tree, 5));
	for (i = 0; i < NODES; i++) {
		EXPECT_EQ(0, at_wait_counter(&self->m[i].x,
					     ANGARA_CTR_REDUCES(tree), 5,
					     AT_DEADLINE_MS));
		row = row_of(self, i, tree);
		EXPECT_LE(1, row.cnt[PE_TIMER]);
		EXPECT_GE(5, row.cnt[PE_TIMER]);
		EXPECT_EQ(0, row.cnt[PE_COUNT]);
	}
	/* Without results there are no credits. */
	at_sleep_ms(50);
	for (i = 0; i < NODES; i++) {
		EXPECT_GE(5, counter(self, i, tree, PE_TIMER));
		EXPECT_EQ(5, at_counter(&self->m[i].x,
					ANGARA_CTR_REDUCES(tree)));
	}
}

TEST_HARNESS_MAIN
