// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broadcast, reduce, allreduce and barrier in the network, over every root and
 * subset of eight nodes, against a reference computed by the test.
 *
 * This process holds a context on each node and starts each participant's part
 * in turn, so that failures are reproducible.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "at_harness.h"
#include "group.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define NODES	8
#define TREE	3
#define KEY	0
#define GUARD	64
#define SHORT	65536U
#define LONG	((1U << 20) + 8192)

/* One tree and its participants, in the order of nodes. */
FIXTURE(coll) {
	struct at_group g;
	struct at_member m[NODES];
	struct at_member *in[NODES];
	unsigned int n;
	unsigned int who[NODES];
	size_t half;		/* offset of the results in each region */
	char *want;
};

FIXTURE_VARIANT(coll) {
	unsigned int root;
};

FIXTURE_VARIANT_ADD(coll, root0) { .root = 0 };
FIXTURE_VARIANT_ADD(coll, root1) { .root = 1 };
FIXTURE_VARIANT_ADD(coll, root2) { .root = 2 };
FIXTURE_VARIANT_ADD(coll, root3) { .root = 3 };
FIXTURE_VARIANT_ADD(coll, root4) { .root = 4 };
FIXTURE_VARIANT_ADD(coll, root5) { .root = 5 };
FIXTURE_VARIANT_ADD(coll, root6) { .root = 6 };
FIXTURE_VARIANT_ADD(coll, root7) { .root = 7 };

/* Opens a context on each node, with room for operations of @half bytes. */
static int open_members(FIXTURE_DATA(coll) *self, size_t half)
{
	unsigned int i;
	int ret;

	for (i = 0; i < NODES; i++) {
		at_member_close(&self->m[i]);
		ret = at_member_open(&self->m[i], &self->g, i, 2 * half);
		if (ret != KEY)
			return ret;
	}
	self->half = half;
	free(self->want);
	self->want = malloc(half);
	return self->want ? 0 : -ENOMEM;
}

FIXTURE_SETUP(coll)
{
	ASSERT_EQ(0, at_group_open(&self->g));
	ASSERT_EQ(0, open_members(self, SHORT));
}

FIXTURE_TEARDOWN(coll)
{
	unsigned int i;

	at_tree_lift(&self->g, TREE);
	for (i = 0; i < NODES; i++)
		at_member_close(&self->m[i]);
	at_group_close(&self->g);
	free(self->want);
}

/* Sets up the tree over the nodes of @set, which all of their contexts join. */
static int lay(FIXTURE_DATA(coll) *self, unsigned int root, unsigned int set)
{
	uint16_t pe[AT_MAX_NODES] = { 0 };
	unsigned int i;
	int ret;

	at_tree_lift(&self->g, TREE);
	self->n = 0;
	for (i = 0; i < NODES; i++)
		pe[i] = set >> i & 1;
	ret = at_tree_lay(&self->g, TREE, root, pe);
	for (i = 0; i < NODES && ret > 0; i++) {
		if (!pe[i])
			continue;
		self->who[self->n] = i;
		self->in[self->n++] = &self->m[i];
		if (at_join(self->m[i].x.fd, TREE))
			return -ENOTCONN;
	}
	return ret;
}

static struct angara_wqe reduction(FIXTURE_DATA(coll) *self,
				   unsigned int opcode, unsigned int type,
				   unsigned int op, size_t bytes)
{
	struct angara_wqe w = at_coll(opcode, TREE, KEY, KEY, bytes);

	w.type = type;
	w.redop = op;
	at_coll_dst(&w, self->half);
	return w;
}

/* Waits for all participants. Return: the first bad status, or 0. */
static int finish_all(FIXTURE_DATA(coll) *self)
{
	unsigned int i;
	int ret, err = 0;

	for (i = 0; i < self->n; i++) {
		ret = at_finish(self->in[i]);
		if (ret && !err)
			err = ret;
	}
	return err;
}

static void clear_results(FIXTURE_DATA(coll) *self, size_t bytes)
{
	unsigned int i;

	for (i = 0; i < NODES; i++)
		memset(self->m[i].mem + self->half - GUARD, 0x5A, bytes + 2 * GUARD);
}

/*
 * Does member @i have exactly the @bytes expected, or no data if @bytes is 0?
 */
static bool result_is(FIXTURE_DATA(coll) *self, unsigned int i, size_t bytes)
{
	const char *dst = self->m[i].mem + self->half;

	return !memcmp(dst, self->want, bytes) &&
	       at_all(dst - GUARD, GUARD, 0x5A) &&
	       at_all(dst + bytes, GUARD, 0x5A);
}

static bool is_in(FIXTURE_DATA(coll) *self, unsigned int node)
{
	unsigned int i;

	for (i = 0; i < self->n; i++)
		if (self->who[i] == node)
			return true;
	return false;
}

/* Member number @src of the tree sends @len bytes. Return: 0 or the error. */
static int bcast(FIXTURE_DATA(coll) *self, unsigned int src, uint32_t len)
{
	struct angara_wqe w = at_coll(ANGARA_OP_BCAST, TREE, KEY, KEY, len);
	uint64_t before[NODES];
	unsigned int i;
	int ret;

	at_coll_dst(&w, self->half);
	clear_results(self, len);
	at_fill(self->in[src]->mem, len, len + src);
	memcpy(self->want, self->in[src]->mem, len);
	for (i = 0; i < NODES; i++)
		before[i] = at_counter(&self->m[i].x, ANGARA_CTR_BCAST(TREE));
	ret = at_start(self->in[src], &w);
	if (!ret)
		ret = at_finish(self->in[src]);
	for (i = 0; i < self->n && !ret; i++)
		ret = at_wait_counter(&self->in[i]->x, ANGARA_CTR_BCAST(TREE),
				      before[self->who[i]] + 1, AT_DEADLINE_MS);
	for (i = 0; i < NODES && !ret; i++) {
		bool in = is_in(self, i);

		if (!result_is(self, i, in ? len : 0))
			ret = -EBADMSG;
		if (at_counter(&self->m[i].x, ANGARA_CTR_BCAST(TREE)) !=
		    before[i] + in)
			ret = -ERANGE;
	}
	return ret;
}

/* Reduces @count elements; @to is a member, or n for all members. */
static int reduce(FIXTURE_DATA(coll) *self, unsigned int to, unsigned int type,
		  unsigned int op, size_t count)
{
	bool all = to == self->n;
	size_t bytes = count * at_elem_size(type);
	struct angara_wqe w = reduction(self, all ? ANGARA_OP_ALLREDUCE :
						    ANGARA_OP_REDUCE,
					type, op, bytes);
	unsigned int i;
	int ret;

	if (!all) {
		w.dst_node = htole32(self->in[to]->x.q.node);
		w.dst_ctx = htole16(self->in[to]->x.c.ctx);
	}
	clear_results(self, bytes);
	at_reduce(self->want, type, op, count, self->who, self->n);
	for (i = 0; i < self->n; i++) {
		at_give(self->in[i]->mem, type, count, self->who[i]);
		ret = at_start(self->in[i], &w);
		if (ret)
			return ret;
	}
	ret = finish_all(self);
	for (i = 0; i < NODES && !ret; i++)
		if (!result_is(self, i, (all && is_in(self, i)) ||
			       (!all && self->who[to] == i) ? bytes : 0))
			ret = -EBADMSG;
	return ret;
}

/* No member completes before the last one has started. */
static int barrier(FIXTURE_DATA(coll) *self)
{
	struct angara_wqe w = at_coll(ANGARA_OP_BARRIER, TREE, 0, 0, 0);
	struct angara_cqe cqe;
	unsigned int i;
	int ret;

	for (i = 0; i + 1 < self->n; i++) {
		ret = at_start(self->in[i], &w);
		if (ret)
			return ret;
	}
	for (i = 0; i + 1 < self->n; i++)
		if (at_poll_cqe(&self->in[i]->x, &cqe))
			return -EBADMSG;
	ret = at_start(self->in[i], &w);
	return ret ? ret : finish_all(self);
}

/* The @k-th operation of @type, wrapping around. */
static unsigned int operation(unsigned int type, unsigned int k)
{
	unsigned int op = k % ANGARA_RED_NUM;

	while (!at_reduction(type, op))
		op = (op + 1) % ANGARA_RED_NUM;
	return op;
}

TEST_F(coll, every_subset)
{
	static const uint32_t lens[] = { 0, 1, 255, 256, 257, 600 };
	unsigned int set, k, type, root = variant->root;
	unsigned int step = 100 / at_scale(100);

	for (set = 1; set < 1U << NODES; set += step ? step : 1) {
		ASSERT_LT(0, lay(self, root, set));
		k = set + root;
		ASSERT_EQ(0, bcast(self, k % self->n, lens[k % 6])) {
			TH_LOG("broadcast over the nodes %02x", set);
		}
		type = k % ANGARA_TYPE_NUM;
		ASSERT_EQ(0, reduce(self, k % self->n, type, operation(type, k),
				    lens[(k + 1) % 6] / 4)) {
			TH_LOG("reduce over the nodes %02x", set);
		}
		type = k / 2 % ANGARA_TYPE_NUM;
		ASSERT_EQ(0, reduce(self, self->n, type, operation(type, k / 2),
				    1 + lens[(k + 3) % 6] / 8)) {
			TH_LOG("allreduce over the nodes %02x", set);
		}
		ASSERT_EQ(0, barrier(self)) {
			TH_LOG("barrier over the nodes %02x", set);
		}
	}
}

TEST_F(coll, lengths)
{
	static const uint32_t lens[] = {
		0, 1, 4, 255, 256, 257, 264, 1024, 4096, 4104, 16384,
	};
	unsigned int i;

	ASSERT_LT(0, lay(self, variant->root, 0xFF));
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		EXPECT_EQ(0, bcast(self, i % NODES, lens[i])) {
			TH_LOG("broadcast of %u bytes", lens[i]);
		}
		EXPECT_EQ(0, reduce(self, (i + 3) % NODES, ANGARA_TYPE_INT32,
				    ANGARA_RED_SUM, lens[i] / 4)) {
			TH_LOG("reduce of %u bytes", lens[i] / 4 * 4);
		}
		EXPECT_EQ(0, reduce(self, NODES, ANGARA_TYPE_UINT64,
				    ANGARA_RED_MAX, lens[i] / 8)) {
			TH_LOG("allreduce of %u bytes", lens[i] / 8 * 8);
		}
	}
}

/* Tests operations of more than a megabyte, over all nodes and over a few. */
TEST_F(coll, long_ones)
{
	ASSERT_EQ(0, open_members(self, LONG));
	ASSERT_LT(0, lay(self, variant->root, variant->root % 2 ? 0x93 : 0xFF));
	EXPECT_EQ(0, bcast(self, 1, (1U << 20) + 1));
	EXPECT_EQ(0, reduce(self, 2, ANGARA_TYPE_INT32, ANGARA_RED_MIN,
			    (1U << 18) + 1));
	EXPECT_EQ(0, reduce(self, self->n, ANGARA_TYPE_INT64, ANGARA_RED_SUM,
			    (1U << 17) + 1));
}

TEST_F(coll, types_and_operations)
{
	unsigned int type, op;

	ASSERT_LT(0, lay(self, variant->root, 0xFF));
	for (type = 0; type < ANGARA_TYPE_NUM; type++)
		for (op = 0; op < ANGARA_RED_NUM; op++) {
			if (!at_reduction(type, op))
				continue;
			EXPECT_EQ(0, reduce(self, op == variant->root % 7 ?
					    NODES : op % NODES, type, op, 150)) {
				TH_LOG("type %u, operation %u", type, op);
			}
		}
}

TEST_F(coll, every_receiver)
{
	unsigned int i;

	ASSERT_LT(0, lay(self, variant->root, 0xFF));
	for (i = 0; i < NODES; i++) {
		EXPECT_EQ(0, reduce(self, i, ANGARA_TYPE_INT64, ANGARA_RED_SUM,
				    77)) {
			TH_LOG("reduce to node %u", i);
		}
		EXPECT_EQ(0, bcast(self, i, 1000)) {
			TH_LOG("broadcast from node %u", i);
		}
	}
}

/* Distant members only: the nodes between them forward and get no data. */
TEST_F(coll, transit_nodes)
{
	static const unsigned int sets[] = { 0x81, 0x42, 0x24, 0x18, 0x80, 0x01 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		ASSERT_LT(0, lay(self, variant->root, sets[i]));
		for (j = 0; j < self->n; j++) {
			EXPECT_EQ(0, bcast(self, j, 3000));
			EXPECT_EQ(0, reduce(self, j, ANGARA_TYPE_INT32,
					    ANGARA_RED_SUM, 700));
		}
		EXPECT_EQ(0, reduce(self, self->n, ANGARA_TYPE_UINT32,
				    ANGARA_RED_XOR, 700));
		EXPECT_EQ(0, barrier(self));
	}
}

TEST_F(coll, in_place)
{
	struct angara_wqe w = reduction(self, ANGARA_OP_ALLREDUCE,
					ANGARA_TYPE_INT32, ANGARA_RED_SUM, 4000);
	unsigned int i;

	ASSERT_LT(0, lay(self, variant->root, 0xFF));
	at_coll_dst(&w, 0);
	at_reduce(self->want, ANGARA_TYPE_INT32, ANGARA_RED_SUM, 1000,
		  self->who, self->n);
	for (i = 0; i < NODES; i++) {
		at_give(self->m[i].mem, ANGARA_TYPE_INT32, 1000, i);
		ASSERT_EQ(0, at_start(&self->m[i], &w));
	}
	EXPECT_EQ(0, finish_all(self));
	for (i = 0; i < NODES; i++) {
		EXPECT_EQ(0, memcmp(self->m[i].mem, self->want, 4000));
	}
}

/* All members broadcast at once, each to its own destination. */
TEST_F(coll, all_broadcast)
{
	const uint32_t len = 5000;
	struct angara_wqe w = at_coll(ANGARA_OP_BCAST, TREE, KEY, KEY, len);
	uint64_t before[NODES];
	unsigned int i, j, round;

	ASSERT_LT(0, lay(self, variant->root, 0xFF));
	for (round = 0; round < at_scale(4); round++) {
		for (i = 0; i < NODES; i++) {
			before[i] = at_counter(&self->m[i].x,
					       ANGARA_CTR_BCAST(TREE));
			at_fill(self->m[i].mem, len, i + round);
		}
		for (i = 0; i < NODES; i++) {
			at_coll_dst(&w, self->half + i * len);
			ASSERT_EQ(0, at_start(&self->m[i], &w));
		}
		EXPECT_EQ(0, finish_all(self));
		for (i = 0; i < NODES; i++) {
			EXPECT_EQ(0, at_wait_counter(&self->m[i].x,
						     ANGARA_CTR_BCAST(TREE),
						     before[i] + NODES,
						     AT_DEADLINE_MS));
			for (j = 0; j < NODES; j++) {
				EXPECT_TRUE(at_filled(self->m[i].mem + self->half +
						      j * len, len, j + round));
			}
		}
	}
}

/* Many reductions and broadcasts start before the first is completed. */
TEST_F(coll, many_under_way)
{
	enum { DEEP = 24, LEN = 1200 };
	struct angara_wqe w = reduction(self, ANGARA_OP_ALLREDUCE,
					ANGARA_TYPE_INT32, ANGARA_RED_SUM, LEN);
	unsigned int i, k;

	ASSERT_LT(0, lay(self, variant->root, 0xFF));
	for (i = 0; i < NODES; i++) {
		for (k = 0; k < DEEP; k++) {
			at_give(self->m[i].mem + k * LEN, ANGARA_TYPE_INT32,
				LEN / 4, i + k * 100);
			w.loff = htole64(k * LEN);
			at_coll_dst(&w, self->half + k * LEN);
			ASSERT_EQ(0, at_start(&self->m[i], &w));
		}
	}
	for (k = 0; k < DEEP; k++) {
		EXPECT_EQ(0, finish_all(self));
	}
	for (k = 0; k < DEEP; k++) {
		for (i = 0; i < NODES; i++)
			self->who[i] = i + k * 100;
		at_reduce(self->want, ANGARA_TYPE_INT32, ANGARA_RED_SUM,
			  LEN / 4, self->who, NODES);
		for (i = 0; i < NODES; i++) {
			EXPECT_EQ(0, memcmp(self->m[i].mem + self->half + k * LEN,
					    self->want, LEN));
		}
	}
}

TEST_HARNESS_MAIN
