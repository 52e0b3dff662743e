// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reductions of all types, compared with plain C. */
#include <math.h>
#include <string.h>

#include "test.h"

static const u64 values[] = {
	0, 1, 2, 3, 7, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF,
	0xFFFFFFFE, 0x100000000ULL, 0x7FFFFFFFFFFFFFFFULL,
	0x8000000000000000ULL, 0x8000000000000001ULL, 0xFFFFFFFFFFFFFFFFULL,
	0xFFFFFFFFFFFFFFFEULL, 0x123456789ABCDEF0ULL, 0xFEDCBA9876543210ULL,
};

static u64 arithmetic(u32 op, u64 a, u64 b)
{
	switch (op) {
	case ANGARA_RED_SUM:
		return a + b;
	case ANGARA_RED_PROD:
		return a * b;
	case ANGARA_RED_AND:
		return a & b;
	case ANGARA_RED_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

/*
 * Return: the result of an operation on operands of its type, extended to 64
 * bits.
 */
static u64 reference(u32 type, u32 op, u64 a, u64 b)
{
	int less;

	switch (type) {
	case ANGARA_TYPE_INT32:
		less = (s32)a < (s32)b;
		break;
	case ANGARA_TYPE_UINT32:
		less = (u32)a < (u32)b;
		break;
	case ANGARA_TYPE_INT64:
		less = (s64)a < (s64)b;
		break;
	default:
		less = a < b;
		break;
	}
	if (op == ANGARA_RED_MIN)
		return less ? a : b;
	if (op == ANGARA_RED_MAX)
		return less ? b : a;
	return arithmetic(op, a, b);
}

static void put(char *mem, u32 size, u32 i, u64 val)
{
	memcpy(mem + (u64)size * i, &val, size);
}

static u64 get(const char *mem, u32 size, u32 i)
{
	u64 val = 0;

	memcpy(&val, mem + (u64)size * i, size);
	return val;
}

static void all_values(u32 type, u32 op)
{
	u32 size = ang_type_size(type);
	u64 mask = size == 4 ? 0xFFFFFFFFULL : ~0ULL;
	u64 acc[32], in[32];
	u32 a, i;

	for (a = 0; a < NUM(values); a++) {
		memset(acc, 0xA5, sizeof(acc));
		for (i = 0; i < NUM(values); i++) {
			put((char *)acc, size, i, values[a]);
			put((char *)in, size, i, values[i]);
		}
		ang_combine(acc, in, NUM(values) * size, type, op);
		for (i = 0; i < NUM(values); i++)
			EXPECT_EQ(get((char *)acc, size, i),
				  reference(type, op, values[a] & mask,
					    values[i] & mask) & mask);
		/* ang_combine() writes nothing beyond the length. */
		EXPECT_EQ(((u8 *)acc)[NUM(values) * size], 0xA5);
		ang_combine(acc, in, 0, type, op);
		EXPECT_EQ(get((char *)acc, size, 0),
			  reference(type, op, values[a] & mask,
				    values[0] & mask) & mask);
	}
}

static void all_types(void)
{
	u32 type, op;

	EXPECT_EQ(ang_type_size(ANGARA_TYPE_INT32), 4);
	EXPECT_EQ(ang_type_size(ANGARA_TYPE_UINT32), 4);
	EXPECT_EQ(ang_type_size(ANGARA_TYPE_INT64), 8);
	EXPECT_EQ(ang_type_size(ANGARA_TYPE_UINT64), 8);
	for (type = 0; type <= ANGARA_TYPE_UINT64; type++)
		for (op = 0; op <= ANGARA_RED_XOR; op++)
			all_values(type, op);
}

/* Each type has its operations and no others. */
static void valid(void)
{
	static const char * const table[ANGARA_TYPE_NUM + 1] = {
		"1111111000", "1111111000", "1111111000", "1111111000",
		"1111000000", "1111000000",
		"0000000110", "0000000110", "0000000110", "0000000110",
		"0000000000",
	};
	u32 type, op;

	for (type = 0; type <= ANGARA_TYPE_NUM; type++)
		for (op = 0; op <= ANGARA_RED_NUM; op++)
			EXPECT_EQ(ang_reduction_size(type, op),
				  table[type][op] == '1' ?
				  ang_type_size(type) : 0);
	EXPECT(!ang_reduction_size(255, 0) && !ang_reduction_size(0, 255));
	EXPECT(!ang_reduction_size(0, 32 + ANGARA_RED_SUM));
}

/* The structures are little-endian, as the machines that run this test. */
struct double_loc {
	double value;
	s32 index;
	u32 pad;
};

struct int64_loc {
	s64 value;
	s32 index;
	u32 pad;
};

struct float_loc {
	float value;
	s32 index;
};

struct int32_loc {
	s32 value;
	s32 index;
};

#define QUIET64	0x7FF8000000000000ULL
#define QUIET32	0x7FC00000U

static u64 bits_of(const void *value, u32 size)
{
	u64 x = 0;

	memcpy(&x, value, size);
	return x;
}

/*
 * Order of preference: a NaN, the better value, the lower index.  -0 and +0 are
 * equal values, but one is better than the other if the indices are equal.
 */
static int first_wins(double a, s32 ai, double b, s32 bi, int max)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && (!isnan(b) || ai <= bi);
	if (a != b)
		return max ? a > b : a < b;
	if (ai != bi)
		return ai < bi;
	return max ? !signbit(a) : !!signbit(a);
}

static const double floats[] = {
	0.0, -0.0, 1.5, -1.5, 0x1p-149, -0x1p-149, 0x1p100, -0x1p100,
	INFINITY, -INFINITY, NAN, -NAN,
};

static const s32 indices[] = { 0, 1, -1, 7, 0x7FFFFFFF, -0x7FFFFFFF - 1 };

static void one_float_pair(double a, s32 ai, double b, s32 bi, int max)
{
	u32 op = max ? ANGARA_RED_MAXLOC : ANGARA_RED_MINLOC;
	int first = first_wins(a, ai, b, bi, max);
	struct double_loc x[2] = { { a, ai, 5 }, { b, bi, 6 } }, y = { b, bi, 7 };
	struct float_loc f = { (float)a, ai }, g = { (float)b, bi };
	double v = first ? a : b;
	float w = (float)v;

	ang_combine(x, &y, sizeof(y), ANGARA_TYPE_DOUBLE_LOC, op);
	EXPECT_EQ(bits_of(&x[0].value, 8), isnan(v) ? QUIET64 : bits_of(&v, 8));
	EXPECT_EQ(x[0].index, first ? ai : bi);
	EXPECT_EQ(x[0].pad, 0);
	EXPECT_EQ(x[1].pad, 6);
	ang_combine(&f, &g, sizeof(g), ANGARA_TYPE_FLOAT_LOC, op);
	EXPECT_EQ(bits_of(&f.value, 4), isnan(w) ? QUIET32 : bits_of(&w, 4));
	EXPECT_EQ(f.index, first ? ai : bi);
}

static void float_pairs(void)
{
	u32 a, b, i, k;

	for (a = 0; a < NUM(floats); a++)
		for (b = 0; b < NUM(floats); b++)
			for (i = 0; i < NUM(indices); i++)
				for (k = 0; k < NUM(indices); k++) {
					one_float_pair(floats[a], indices[i],
						       floats[b], indices[k], 0);
					one_float_pair(floats[a], indices[i],
						       floats[b], indices[k], 1);
				}
}

static void one_integer_pair(s64 a, s32 ai, s64 b, s32 bi, int max)
{
	u32 op = max ? ANGARA_RED_MAXLOC : ANGARA_RED_MINLOC;
	struct int64_loc x[2] = { { a, ai, 5 }, { b, bi, 6 } }, y = { b, bi, 7 };
	struct int32_loc f = { (s32)a, ai }, g = { (s32)b, bi };
	int first = a == b ? ai <= bi : max ? a > b : a < b;

	ang_combine(x, &y, sizeof(y), ANGARA_TYPE_INT64_LOC, op);
	EXPECT_EQ(x[0].value, first ? a : b);
	EXPECT_EQ(x[0].index, first ? ai : bi);
	EXPECT_EQ(x[0].pad, 0);
	EXPECT_EQ(x[1].pad, 6);
	first = f.value == g.value ? ai <= bi :
		max ? f.value > g.value : f.value < g.value;
	ang_combine(&f, &g, sizeof(g), ANGARA_TYPE_INT32_LOC, op);
	EXPECT_EQ(f.value, first ? (s32)a : (s32)b);
	EXPECT_EQ(f.index, first ? ai : bi);
}

static void integer_pairs(void)
{
	u32 a, b, i, k;

	for (a = 0; a < NUM(values); a++)
		for (b = 0; b < NUM(values); b++)
			for (i = 0; i < NUM(indices); i++)
				for (k = 0; k < NUM(indices); k++) {
					one_integer_pair((s64)values[a], indices[i],
							 (s64)values[b], indices[k], 0);
					one_integer_pair((s64)values[a], indices[i],
							 (s64)values[b], indices[k], 1);
				}
}

/* Sizes and offsets of the elements; t_float.c tests the results. */
static void float_elements(void)
{
	double acc[4] = { 1.5, -2, 3, 99 }, in[4] = { 0.25, 4, -3, 99 };
	float f[4] = { 1.5, -2, 3, 99 }, g[4] = { 0.25, 4, -3, 99 };

	EXPECT_EQ(ang_type_size(ANGARA_TYPE_FLOAT), sizeof(float));
	EXPECT_EQ(ang_type_size(ANGARA_TYPE_DOUBLE), sizeof(double));
	EXPECT_EQ(ang_type_size(ANGARA_TYPE_INT32_LOC), sizeof(struct int32_loc));
	EXPECT_EQ(ang_type_size(ANGARA_TYPE_INT64_LOC), sizeof(struct int64_loc));
	EXPECT_EQ(ang_type_size(ANGARA_TYPE_FLOAT_LOC), sizeof(struct float_loc));
	EXPECT_EQ(ang_type_size(ANGARA_TYPE_DOUBLE_LOC), sizeof(struct double_loc));
	ang_combine(acc, in, 24, ANGARA_TYPE_DOUBLE, ANGARA_RED_SUM);
	EXPECT(acc[0] == 1.75 && acc[1] == 2 && acc[2] == 0 && acc[3] == 99);
	ang_combine(acc, in, 24, ANGARA_TYPE_DOUBLE, ANGARA_RED_PROD);
	EXPECT(acc[0] == 0.4375 && acc[1] == 8 && acc[2] == 0);
	ang_combine(acc, in, 24, ANGARA_TYPE_DOUBLE, ANGARA_RED_MIN);
	EXPECT(acc[0] == 0.25 && acc[1] == 4 && acc[2] == -3);
	ang_combine(f, g, 12, ANGARA_TYPE_FLOAT, ANGARA_RED_SUM);
	EXPECT(f[0] == 1.75 && f[1] == 2 && f[2] == 0 && f[3] == 99);
	ang_combine(f, g, 12, ANGARA_TYPE_FLOAT, ANGARA_RED_PROD);
	EXPECT(f[0] == 0.4375 && f[1] == 8 && f[2] == 0);
	ang_combine(f, g, 12, ANGARA_TYPE_FLOAT, ANGARA_RED_MAX);
	EXPECT(f[0] == 0.4375 && f[1] == 8 && f[2] == 0 && f[3] == 99);
	ang_combine(f, g, 12, ANGARA_TYPE_FLOAT, ANGARA_RED_MIN);
	EXPECT(f[0] == 0.25 && f[1] == 4 && f[2] == -3);
	ang_combine(acc, in, 24, ANGARA_TYPE_DOUBLE, ANGARA_RED_MAX);
	EXPECT(acc[0] == 0.25 && acc[1] == 4 && acc[2] == -3 && acc[3] == 99);
}

const struct test_case combine_cases[] = {
	{ "combine: integers, all operations and edges of range", all_types },
	{ "combine: each type has its operations", valid },
	{ "combine: elements of floats", float_elements },
	{ "combine: the place of the least and the greatest float", float_pairs },
	{ "combine: the place of the least and the greatest integer", integer_pairs },
	{ NULL, NULL },
};
