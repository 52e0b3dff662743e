// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions of all types, against plain C.
 */
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

/* Operands as they are in their type, extended to 64 bits. */
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
		/* Nothing behind the length. */
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
	for (type = 0; type < ANGARA_TYPE_NUM; type++)
		for (op = 0; op < ANGARA_RED_NUM; op++)
			all_values(type, op);
}

const struct test_case combine_cases[] = {
	{ "combine: all types, operations and edges of range", all_types },
	{ NULL, NULL },
};
