// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Types and operations of reductions by software.
 *
 * Results equal those of the adapter for types and operations that it supports:
 * integers wrap around, minima and maxima of floats are those of IEEE 754-2019,
 * and a resulting NaN is quiet, positive and has no payload.
 */
#include <math.h>
#include <string.h>

#include "coll.h"

__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

size_t afi_type_size(enum fi_datatype type)
{
	static const u8 sizes[] = {
		[FI_INT8] = 1,
		[FI_UINT8] = 1,
		[FI_INT16] = 2,
		[FI_UINT16] = 2,
		[FI_INT32] = 4,
		[FI_UINT32] = 4,
		[FI_INT64] = 8,
		[FI_UINT64] = 8,
		[FI_FLOAT] = sizeof(float),
		[FI_DOUBLE] = sizeof(double),
		[FI_FLOAT_COMPLEX] = 2 * sizeof(float),
		[FI_DOUBLE_COMPLEX] = 2 * sizeof(double),
		[FI_LONG_DOUBLE] = sizeof(long double),
		[FI_LONG_DOUBLE_COMPLEX] = 2 * sizeof(long double),
		[FI_INT128] = 16,
		[FI_UINT128] = 16,
	};

	return (u32)type < sizeof(sizes) ? sizes[type] : 0;
}

static bool is_complex(enum fi_datatype type)
{
	return type == FI_FLOAT_COMPLEX || type == FI_DOUBLE_COMPLEX ||
	       type == FI_LONG_DOUBLE_COMPLEX;
}

static bool is_float(enum fi_datatype type)
{
	return type == FI_FLOAT || type == FI_DOUBLE || type == FI_LONG_DOUBLE;
}

/*
 * Does a type have an operation? Only integers have bitwise operations; complex
 * numbers have no order.
 */
bool afi_combine_valid(enum fi_datatype type, enum fi_op op)
{
	if (!afi_type_size(type))
		return false;
	switch (op) {
	case FI_MIN:
	case FI_MAX:
		return !is_complex(type);
	case FI_SUM:
	case FI_PROD:
	case FI_LOR:
	case FI_LAND:
	case FI_LXOR:
		return true;
	case FI_BOR:
	case FI_BAND:
	case FI_BXOR:
		return !is_complex(type) && !is_float(type);
	default:
		return false;
	}
}

/* Combines two elements; sums and products use @wide, which wraps around. */
#define INTEGER(name, type, wide)					\
static type name##_one(enum fi_op op, type a, type b)			\
{									\
	switch (op) {							\
	case FI_MIN:							\
		return a < b ? a : b;					\
	case FI_MAX:							\
		return a > b ? a : b;					\
	case FI_SUM:							\
		return (type)((wide)a + (wide)b);			\
	case FI_PROD:							\
		return (type)((wide)a * (wide)b);			\
	case FI_LOR:							\
		return a || b;						\
	case FI_LAND:							\
		return a && b;						\
	case FI_LXOR:							\
		return !a != !b;					\
	case FI_BOR:							\
		return (type)(a | b);					\
	case FI_BAND:							\
		return (type)(a & b);					\
	default:							\
		return (type)(a ^ b);					\
	}								\
}

/* Combines two floats; a NaN result always has the same bits. */
#define FLOAT(name, type)						\
static type name##_clean(type v)					\
{									\
	return isnan(v) ? (type)NAN : v;				\
}									\
									\
static type name##_first(type a, type b, bool least)			\
{									\
	if (isnan(a) || isnan(b))					\
		return (type)NAN;					\
	if (a == b)							\
		return !signbit(a) == least ? b : a;			\
	return (a < b) == least ? a : b;				\
}									\
									\
static type name##_one(enum fi_op op, type a, type b)			\
{									\
	switch (op) {							\
	case FI_MIN:							\
		return name##_first(a, b, true);			\
	case FI_MAX:							\
		return name##_first(a, b, false);			\
	case FI_SUM:							\
		return name##_clean(a + b);				\
	case FI_PROD:							\
		return name##_clean(a * b);				\
	case FI_LOR:							\
		return a != 0 || b != 0;				\
	case FI_LAND:							\
		return a != 0 && b != 0;				\
	default:							\
		return (a != 0) != (b != 0);				\
	}								\
}

/*
 * Combines complex numbers in the layout of C.  Products use the plain formula,
 * without the special treatment of infinities that C has.
 */
#define PAIR(name, type, part)						\
struct name {								\
	type re;							\
	type im;							\
};									\
									\
static struct name name##_truth(bool truth)				\
{									\
	return (struct name){ .re = truth };				\
}									\
									\
static struct name name##_one(enum fi_op op, struct name a, struct name b) \
{									\
	bool x = a.re != 0 || a.im != 0;				\
	bool y = b.re != 0 || b.im != 0;				\
									\
	switch (op) {							\
	case FI_SUM:							\
		return (struct name){					\
			.re = part##_clean(a.re + b.re),		\
			.im = part##_clean(a.im + b.im),		\
		};							\
	case FI_PROD:							\
		return (struct name){					\
			.re = part##_clean(a.re * b.re - a.im * b.im),	\
			.im = part##_clean(a.re * b.im + a.im * b.re),	\
		};							\
	case FI_LOR:							\
		return name##_truth(x || y);				\
	case FI_LAND:							\
		return name##_truth(x && y);				\
	default:							\
		return name##_truth(x != y);				\
	}								\
}

/* Combines all elements, which need not be aligned. */
#define ALL(name, type)							\
static void name(enum fi_op op, char *acc, const char *with, size_t count) \
{									\
	type a, b;							\
									\
	for (; count--; acc += sizeof(a), with += sizeof(b)) {		\
		memcpy(&a, acc, sizeof(a));				\
		memcpy(&b, with, sizeof(b));				\
		a = name##_one(op, a, b);				\
		memcpy(acc, &a, sizeof(a));				\
	}								\
}

INTEGER(int8, int8_t, u32)
INTEGER(uint8, u8, u32)
INTEGER(int16, int16_t, u32)
INTEGER(uint16, u16, u32)
INTEGER(int32, int32_t, u32)
INTEGER(uint32, u32, u32)
INTEGER(int64, int64_t, u64)
INTEGER(uint64, u64, u64)
INTEGER(int128, s128, u128)
INTEGER(uint128, u128, u128)
FLOAT(single, float)
FLOAT(twice, double)
FLOAT(extended, long double)
PAIR(single_complex, float, single)
PAIR(twice_complex, double, twice)
PAIR(extended_complex, long double, extended)
ALL(int8, int8_t)
ALL(uint8, u8)
ALL(int16, int16_t)
ALL(uint16, u16)
ALL(int32, int32_t)
ALL(uint32, u32)
ALL(int64, int64_t)
ALL(uint64, u64)
ALL(int128, s128)
ALL(uint128, u128)
ALL(single, float)
ALL(twice, double)
ALL(extended, long double)
ALL(single_complex, struct single_complex)
ALL(twice_complex, struct twice_complex)
ALL(extended_complex, struct extended_complex)

/**
 * afi_combine() - combine elements with others
 * @type: type of elements; afi_combine_valid() is true for @type and @op
 * @op: FI_MIN .. FI_BXOR
 * @acc: elements of lower ranks; out: results
 * @with: elements of higher ranks
 * @count: elements
 */
void afi_combine(enum fi_datatype type, enum fi_op op, void *acc,
		 const void *with, size_t count)
{
	static void (*const all[])(enum fi_op op, char *acc, const char *with,
				   size_t count) = {
		[FI_INT8] = int8,
		[FI_UINT8] = uint8,
		[FI_INT16] = int16,
		[FI_UINT16] = uint16,
		[FI_INT32] = int32,
		[FI_UINT32] = uint32,
		[FI_INT64] = int64,
		[FI_UINT64] = uint64,
		[FI_FLOAT] = single,
		[FI_DOUBLE] = twice,
		[FI_FLOAT_COMPLEX] = single_complex,
		[FI_DOUBLE_COMPLEX] = twice_complex,
		[FI_LONG_DOUBLE] = extended,
		[FI_LONG_DOUBLE_COMPLEX] = extended_complex,
		[FI_INT128] = int128,
		[FI_UINT128] = uint128,
	};

	all[type](op, acc, with, count);
}
