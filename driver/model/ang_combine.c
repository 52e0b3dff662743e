// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions: acc[i] = acc[i] op in[i].
 *
 * Elements are little endian, as in host memory.  Sums and products of integers
 * wrap around, for signed types, too.  Except for sums and products of floats,
 * the result does not depend on the order of combining.
 */
#include "ang_int.h"

/* Data of a packet, aligned like the payload buffer. */
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

#define BY_FLOAT_OP(bits)						\
do {									\
	const struct ang_format *f = &ang_binary##bits;			\
									\
	switch (redop) {						\
	case ANGARA_RED_SUM:						\
		LOOP(bits, u##bits, ang_float_add(f, x, y));		\
		break;							\
	case ANGARA_RED_MIN:						\
		LOOP(bits, u##bits, ang_float_pick(f, x, y, false));	\
		break;							\
	case ANGARA_RED_MAX:						\
		LOOP(bits, u##bits, ang_float_pick(f, x, y, true));	\
		break;							\
	case ANGARA_RED_PROD:						\
		LOOP(bits, u##bits, ang_float_mul(f, x, y));		\
		break;							\
	}								\
} while (0)

static void combine_float(void *acc, const void *in, u32 len, u32 redop)
{
	BY_FLOAT_OP(32);
}

static void combine_double(void *acc, const void *in, u32 len, u32 redop)
{
	BY_FLOAT_OP(64);
}

/**
 * struct loc - an operand of MINLOC and MAXLOC, converted for comparing
 * @value: bits of the value; the same bits for all NaNs
 * @rank: integer for comparing; the operand with the lower rank is the result;
 *	NaN has the lowest rank, -0 and +0 have the same
 * @exact: as @rank, but -0 and +0 differ
 * @index: index; of operands with equal ranks, the lower index is the result
 */
struct loc {
	u64 value;
	u64 rank;
	u64 exact;
	s32 index;
};

static struct loc loc_of(const struct ang_format *f, u64 value, u32 bits,
			 u32 index, bool max)
{
	u64 top = 1ULL << (bits - 1);
	struct loc at = { .value = value, .index = (s32)index };

	if (f && ang_float_nan(f, value)) {
		at.value = ang_float_quiet(f, value);
		return at;
	}
	at.exact = f ? ang_float_key(f, value) : value ^ top;
	at.rank = f && !(value & (top - 1)) ? top : at.exact;
	if (max) {
		at.rank = ~at.rank;
		at.exact = ~at.exact;
	}
	return at;
}

static bool loc_before(const struct loc *a, const struct loc *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	if (a->index != b->index)
		return a->index < b->index;
	return a->exact < b->exact;
}

/* The padding after the index is set to 0. */
#define LOCS(bits, f)							\
do {									\
	bool max = redop == ANGARA_RED_MAXLOC;				\
	u32 words = bits / 32;						\
	u32 i;								\
									\
	for (i = 0; i < len / (2 * bits / 8); i++) {			\
		u32 at = 2 * words * i + words;				\
		struct loc x = loc_of(f, get##bits(acc, 2 * i), bits,	\
				      get32(acc, at), max);		\
		struct loc y = loc_of(f, get##bits(in, 2 * i), bits,	\
				      get32(in, at), max);		\
		const struct loc *best = loc_before(&y, &x) ? &y : &x;	\
									\
		put##bits(acc, 2 * i, (u##bits)best->value);		\
		put##bits(acc, 2 * i + 1, (u32)best->index);		\
	}								\
} while (0)

static void combine_int32_loc(void *acc, const void *in, u32 len, u32 redop)
{
	LOCS(32, NULL);
}

static void combine_int64_loc(void *acc, const void *in, u32 len, u32 redop)
{
	LOCS(64, NULL);
}

static void combine_float_loc(void *acc, const void *in, u32 len, u32 redop)
{
	LOCS(32, &ang_binary32);
}

static void combine_double_loc(void *acc, const void *in, u32 len, u32 redop)
{
	LOCS(64, &ang_binary64);
}

#define ROUNDED_WORK	16U	/* units of work per element whose result is rounded */

#define NUMBERS	(1U << ANGARA_RED_SUM | 1U << ANGARA_RED_PROD |		\
		 1U << ANGARA_RED_MIN | 1U << ANGARA_RED_MAX)
#define BITS	(1U << ANGARA_RED_AND | 1U << ANGARA_RED_OR |		\
		 1U << ANGARA_RED_XOR)
#define PAIRS	(1U << ANGARA_RED_MINLOC | 1U << ANGARA_RED_MAXLOC)

static const struct {
	void (*combine)(void *acc, const void *in, u32 len, u32 redop);
	u32 size;
	u32 ops;
	u32 work;	/* units of work per element whose result is not rounded */
} types[ANGARA_TYPE_NUM] = {
	[ANGARA_TYPE_INT32] = { combine_int32, 4, NUMBERS | BITS, 1 },
	[ANGARA_TYPE_UINT32] = { combine_uint32, 4, NUMBERS | BITS, 1 },
	[ANGARA_TYPE_INT64] = { combine_int64, 8, NUMBERS | BITS, 1 },
	[ANGARA_TYPE_UINT64] = { combine_uint64, 8, NUMBERS | BITS, 1 },
	[ANGARA_TYPE_FLOAT] = { combine_float, 4, NUMBERS, 4 },
	[ANGARA_TYPE_DOUBLE] = { combine_double, 8, NUMBERS, 4 },
	[ANGARA_TYPE_INT32_LOC] = { combine_int32_loc, 8, PAIRS, 3 },
	[ANGARA_TYPE_INT64_LOC] = { combine_int64_loc, 16, PAIRS, 3 },
	[ANGARA_TYPE_FLOAT_LOC] = { combine_float_loc, 8, PAIRS, 10 },
	[ANGARA_TYPE_DOUBLE_LOC] = { combine_double_loc, 16, PAIRS, 10 },
};

/**
 * ang_combine() - apply a reduction to a packet's payload
 * @acc: first operand and result, aligned to 8
 * @in: second operand, aligned to 8
 * @len: bytes, a multiple of the element size
 * @type: ANGARA_TYPE_*
 * @redop: ANGARA_RED_*, valid for @type
 */
void ang_combine(void *acc, const void *in, u32 len, u32 type, u32 redop)
{
	types[type].combine(acc, in, len, redop);
}

/** ang_combine_work() - units of work of ang_combine(), see ang_work.h */
u32 ang_combine_work(u32 len, u32 type, u32 redop)
{
	u32 each = ang_ordered(type, redop) ? ROUNDED_WORK : types[type].work;

	return len / types[type].size * each;
}

u32 ang_type_size(u32 type)
{
	return types[type].size;
}

u32 ang_reduction_size(u32 type, u32 redop)
{
	if (type >= ANGARA_TYPE_NUM || redop >= ANGARA_RED_NUM ||
	    !(types[type].ops >> redop & 1))
		return 0;
	return types[type].size;
}
