// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reductions of floats: the adapter's results equal those of the processor, bit
 * for bit; a sum depends on the tree and on the participants' places in it, not
 * on the order of arrival.
 */
#include <endian.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "at_harness.h"
#include "group.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define TREE	7
#define KEY	0
#define HALF	65536U
#define PAIRS	2048U
#define ON_NODE	3U
#define NODES	4U
#define ALL	(ON_NODE * NODES)

static const unsigned int nodes[NODES] = { 0, 1, 3, 6 };

FIXTURE(floats) {
	struct at_group g;
	struct at_member m[ALL];
	unsigned int place[ALL];
	struct angara_tree_row rows[AT_MAX_NODES];
	unsigned long seed;
};

FIXTURE_SETUP(floats)
{
	unsigned int i;

	ASSERT_EQ(0, at_group_open(&self->g));
	for (i = 0; i < ALL; i++) {
		ASSERT_EQ(KEY, at_member_open(&self->m[i], &self->g,
					      nodes[i / ON_NODE], 2 * HALF));
	}
	self->seed = 41;
}

FIXTURE_TEARDOWN(floats)
{
	unsigned int i;

	at_tree_lift(&self->g, TREE);
	for (i = 0; i < ALL; i++)
		at_member_close(&self->m[i]);
	at_group_close(&self->g);
}

/* Sets up a tree with the first @pe members of each node. */
static int lay(FIXTURE_DATA(floats) *self, unsigned int root, unsigned int pe)
{
	uint16_t want[AT_MAX_NODES] = { 0 };
	unsigned int i;
	int ret;

	at_tree_lift(&self->g, TREE);
	for (i = 0; i < NODES; i++)
		want[nodes[i]] = (uint16_t)pe;
	ret = at_tree_rows(&self->g, TREE, root, want, self->rows);
	if (ret > 0)
		ret = at_tree_lay(&self->g, TREE, root, want);
	for (i = 0; i < ALL && ret > 0; i++)
		if (i % ON_NODE < pe &&
		    at_join_place(self->m[i].x.fd, TREE, self->place[i]))
			return -ENOTCONN;
	return ret > 0 ? 0 : ret;
}

static struct angara_wqe entry(unsigned int type, unsigned int op, uint32_t bytes)
{
	struct angara_wqe w = at_coll(ANGARA_OP_ALLREDUCE, TREE, KEY, KEY, bytes);

	w.type = (uint8_t)type;
	w.redop = (uint8_t)op;
	at_coll_dst(&w, HALF);
	return w;
}

static uint64_t bits(FIXTURE_DATA(floats) *self)
{
	return (uint64_t)at_rand(&self->seed, ~0U) << 40 ^
	       (uint64_t)at_rand(&self->seed, ~0U) << 20 ^
	       at_rand(&self->seed, ~0U);
}

static const double specials[] = {
	0.0, -0.0, 1.0, -1.0, 1.5, 0x1.fffffffffffffp0, 0x1p-53, -0x1p-53,
	0x1.fffffep0, 0x1p-24, -0x1p-25, 0x1p-1022, -0x1p-1074, 0x1p-1060,
	0x1p-126, -0x1p-149, 0x1p-140, 0x1.fffffffffffffp1023, 0x1.fffffep127,
	-0x1.fffffep127, 0x1p1000, 0x1p-1000, 0x1p100, 0x1p-100, INFINITY,
	-INFINITY, NAN, 0x1.5555555555555p-1, 0x1.555556p-2, 3.0, -0x1.8p-1074,
};

/*
 * Return: element @i of participant @who.  First come all pairs of special
 * values, then random numbers, half of them close together.
 */
static double term(FIXTURE_DATA(floats) *self, unsigned int i, unsigned int who)
{
	unsigned int n = ARRAY_SIZE(specials);
	uint64_t x = bits(self);
	double d;

	if (i < n * n)
		return specials[who ? i / n : i % n];
	if (i % 2)
		x = (x & 0x800FFFFFFFFFFFFFULL) |
		    (uint64_t)(990 + x % 66) << 52;
	memcpy(&d, &x, sizeof(d));
	return d;
}

static double combine(unsigned int op, double a, double b)
{
	switch (op) {
	case ANGARA_RED_SUM:
		return a + b;
	case ANGARA_RED_PROD:
		return a * b;
	default:
		if (isnan(a) || isnan(b))
			return NAN;
		if (a == b)
			return (op == ANGARA_RED_MIN) == !!signbit(a) ? a : b;
		return (op == ANGARA_RED_MIN) == (a < b) ? a : b;
	}
}

static bool same_double(double got, double want)
{
	const uint64_t quiet = 0x7FF8000000000000ULL;

	return !memcmp(&got, isnan(want) ? (const void *)&quiet : &want, 8);
}

static bool same_float(float got, float want)
{
	const uint32_t quiet = 0x7FC00000U;

	return !memcmp(&got, isnan(want) ? (const void *)&quiet : &want, 4);
}

/* The sum or product of two numbers, rounded once, as by the processor. */
static float combine_float(unsigned int op, float a, float b)
{
	volatile float x = a, y = b, z;

	if (op == ANGARA_RED_SUM)
		z = x + y;
	else if (op == ANGARA_RED_PROD)
		z = x * y;
	else
		z = (float)combine(op, a, b);
	return z;
}

/* Two participants: their order does not matter. */
static int all_pairs(FIXTURE_DATA(floats) *self, unsigned int type,
		     unsigned int op)
{
	struct at_member *a = &self->m[0], *b = &self->m[1];
	struct angara_wqe w = entry(type, op, PAIRS *
				    (type == ANGARA_TYPE_FLOAT ? 4 : 8));
	unsigned int i;
	int ret;

	for (i = 0; i < PAIRS; i++) {
		double x = term(self, i, 0), y = term(self, i, 1);

		if (type == ANGARA_TYPE_FLOAT) {
			((float *)a->mem)[i] = (float)x;
			((float *)b->mem)[i] = (float)y;
		} else {
			((double *)a->mem)[i] = x;
			((double *)b->mem)[i] = y;
		}
	}
	ret = at_start(a, &w);
	if (!ret)
		ret = at_start(b, &w);
	if (!ret)
		ret = at_finish(a);
	if (!ret)
		ret = at_finish(b);
	for (i = 0; i < PAIRS && !ret; i++) {
		double *d = (double *)a->mem, *e = (double *)b->mem;
		float *f = (float *)a->mem, *g = (float *)b->mem;
		float *got = (float *)(b->mem + HALF);

		if (type == ANGARA_TYPE_FLOAT ?
		    !same_float(got[i], combine_float(op, f[i], g[i])) :
		    !same_double(((double *)got)[i], combine(op, d[i], e[i])))
			ret = -EBADMSG;
	}
	return ret;
}

TEST_F(floats, as_the_processor)
{
	static const unsigned int types[] = {
		ANGARA_TYPE_FLOAT, ANGARA_TYPE_DOUBLE,
	};
	uint16_t pe[AT_MAX_NODES] = { 2 };
	unsigned int t, op;

	ASSERT_EQ(1, at_tree_lay(&self->g, TREE, 0, pe));
	ASSERT_EQ(0, at_join(self->m[0].x.fd, TREE));
	ASSERT_EQ(0, at_join(self->m[1].x.fd, TREE));
	for (t = 0; t < ARRAY_SIZE(types); t++)
		for (op = ANGARA_RED_SUM; op <= ANGARA_RED_PROD; op++) {
			EXPECT_EQ(0, all_pairs(self, types[t], op)) {
				TH_LOG("type %u, operation %u", types[t], op);
			}
		}
}

/* The sum of element @i over the subtree of @node, in the tree's order. */
static double tree_sum(FIXTURE_DATA(floats) *self, unsigned int node,
		       unsigned int pe, unsigned int i, int *some)
{
	const struct angara_tree_row *row = &self->rows[node];
	double sum = 0, part;
	unsigned int k, m;
	int any = 0, below;

	for (k = 0; k < pe; k++)
		for (m = 0; m < ALL; m++) {
			if (nodes[m / ON_NODE] != node || m % ON_NODE >= pe ||
			    self->place[m] != k)
				continue;
			part = ((double *)self->m[m].mem)[i];
			sum = any++ ? sum + part : part;
		}
	for (k = 0; k < 2 * self->g.f.ndims; k++) {
		if (!(row->ports & 1U << k))
			continue;
		part = tree_sum(self, at_neighbor(&self->g.f, node, k),
				pe, i, &below);
		if (below)
			sum = any++ ? sum + part : part;
	}
	*some = any;
	return sum;
}

/* Starts all participants, from number @first in steps of @step. */
static int sum_up(FIXTURE_DATA(floats) *self, unsigned int first,
		  unsigned int step, unsigned int n)
{
	struct angara_wqe w = entry(ANGARA_TYPE_DOUBLE, ANGARA_RED_SUM, n * 8);
	unsigned int i;
	int ret = 0, err = 0;

	for (i = 0; i < ALL && !ret; i++)
		ret = at_start(&self->m[(first + i * step) % ALL], &w);
	for (i = 0; i < ALL && !ret; i++) {
		ret = at_finish(&self->m[i]);
		err = err ? err : ret;
	}
	return ret ? ret : err;
}

TEST_F(floats, any_order_of_arrival)
{
	static const unsigned int steps[] = { 1, 5, 7, 11 };
	const unsigned int n = 600;
	unsigned int i, k, first;
	double want[600];
	int some;

	for (i = 0; i < ALL; i++) {
		self->place[i] = (2 * (i % ON_NODE) + i / ON_NODE) % ON_NODE;
		for (k = 0; k < n; k++)
			((double *)self->m[i].mem)[k] =
				(k % 2 ? 1.0 : -1.0) * (i + 1) / (3 + k + i * i);
	}
	ASSERT_EQ(0, lay(self, 3, ON_NODE));
	for (k = 0; k < n; k++)
		want[k] = tree_sum(self, 3, ON_NODE, k, &some);
	for (first = 0; first < ALL; first++)
		for (i = 0; i < ARRAY_SIZE(steps); i++) {
			memset(self->m[first].mem + HALF, 0, n * 8);
			ASSERT_EQ(0, sum_up(self, first, steps[i], n));
			EXPECT_EQ(0, memcmp(self->m[first].mem + HALF, want,
					    n * 8)) {
				TH_LOG("participants start from %u, in steps of %u",
				       first, steps[i]);
			}
		}
}

TEST_F(floats, places)
{
	uint16_t pe[AT_MAX_NODES] = { ON_NODE };

	ASSERT_EQ(1, at_tree_lay(&self->g, TREE, 0, pe));
	EXPECT_EQ(-EINVAL, at_join_place(self->m[0].x.fd, TREE, ON_NODE));
	EXPECT_EQ(-EINVAL, at_join_place(self->m[0].x.fd, TREE, ANGARA_MAX_LOCAL));
	EXPECT_EQ(-EINVAL, at_join_place(self->m[0].x.fd, TREE, ~0U));
	EXPECT_EQ(0, at_join_place(self->m[0].x.fd, TREE, 1));
	EXPECT_EQ(-EALREADY, at_join_place(self->m[0].x.fd, TREE, 1));
	EXPECT_EQ(-ENOSPC, at_join_place(self->m[1].x.fd, TREE, 1));
	EXPECT_EQ(0, at_join(self->m[1].x.fd, TREE));
	EXPECT_EQ(-ENOSPC, at_join_place(self->m[2].x.fd, TREE, 0));
	EXPECT_EQ(0, at_join_place(self->m[2].x.fd, TREE, 2));
}

TEST_HARNESS_MAIN
