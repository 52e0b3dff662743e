// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions: acc[i] = acc[i] op in[i].
 *
 * Elements are little endian, as they stand in host memory.  Sums and products
 * wrap around, in signed types too.
 */
#include "ang_int.h"

/* Data of a packet; its alignment is that of the payload buffer. */
typedef __le32 __attribute__((may_alias)) ang_le32;
typedef __le64 __attribute__((may_alias)) ang_le64;

static u32 get32(const void *data, u32 i)
{
	return le32_to_cpu(((const ang_le32 *)data)[i]);
}

static u64 get64(const void *data, u32 i)
{
	return le64_to_cpu(((const ang_le64 *)data)[i]);
}

static void put32(void *data, u32 i, u32 val)
{
	((ang_le32 *)data)[i] = cpu_to_le32(val);
}

static void put64(void *data, u32 i, u64 val)
{
	((ang_le64 *)data)[i] = cpu_to_le64(val);
}

#define LOOP(bits, T, expr)						\
do {									\
	u32 i;								\
									\
	for (i = 0; i < len / (bits / 8); i++) {			\
		T x = (T)get##bits(acc, i);				\
		T y = (T)get##bits(in, i);				\
									\
		put##bits(acc, i, (u##bits)(expr));			\
	}								\
} while (0)

#define BY_OP(bits, T)							\
do {									\
	switch (redop) {						\
	case ANGARA_RED_SUM:						\
		LOOP(bits, u##bits, x + y);				\
		break;							\
	case ANGARA_RED_MIN:						\
		LOOP(bits, T, x < y ? x : y);				\
		break;							\
	case ANGARA_RED_MAX:						\
		LOOP(bits, T, x > y ? x : y);				\
		break;							\
	case ANGARA_RED_PROD:						\
		LOOP(bits, u##bits, x * y);				\
		break;							\
	case ANGARA_RED_AND:						\
		LOOP(bits, u##bits, x & y);				\
		break;							\
	case ANGARA_RED_OR:						\
		LOOP(bits, u##bits, x | y);				\
		break;							\
	case ANGARA_RED_XOR:						\
		LOOP(bits, u##bits, x ^ y);				\
		break;							\
	}								\
} while (0)

static void combine_int32(void *acc, const void *in, u32 len, u32 redop)
{
	BY_OP(32, s32);
}

static void combine_uint32(void *acc, const void *in, u32 len, u32 redop)
{
	BY_OP(32, u32);
}

static void combine_int64(void *acc, const void *in, u32 len, u32 redop)
{
	BY_OP(64, s64);
}

static void combine_uint64(void *acc, const void *in, u32 len, u32 redop)
{
	BY_OP(64, u64);
}

static const struct {
	void (*combine)(void *acc, const void *in, u32 len, u32 redop);
	u32 size;
} types[ANGARA_TYPE_NUM] = {
	[ANGARA_TYPE_INT32] = { combine_int32, 4 },
	[ANGARA_TYPE_UINT32] = { combine_uint32, 4 },
	[ANGARA_TYPE_INT64] = { combine_int64, 8 },
	[ANGARA_TYPE_UINT64] = { combine_uint64, 8 },
};

/**
 * ang_combine() - apply a reduction to a packet's payload
 * @acc: first operand and result, aligned to 8
 * @in: second operand, aligned to 8
 * @len: bytes, a multiple of the element size
 * @type: ANGARA_TYPE_*, in range
 * @redop: ANGARA_RED_*, in range
 */
void ang_combine(void *acc, const void *in, u32 len, u32 type, u32 redop)
{
	types[type].combine(acc, in, len, redop);
}

u32 ang_type_size(u32 type)
{
	return types[type].size;
}
