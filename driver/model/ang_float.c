// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Arithmetic of IEEE 754 on bit patterns, with integer instructions only.
 *
 * Binary32 and binary64 differ only in two widths, so one function per
 * operation serves both.  Rounding is to nearest, ties to even; subnormals are
 * not flushed to 0.  A sum or product that is not a number is always the same
 * NaN, quiet and positive.  The NaN that a processor returns depends on the
 * processor, and on the order of operands.
 */
#include "ang_int.h"

/*
 * A significand has 64 bits, with the leading 1 at bit TOP. There is one bit
 * for a carry above, and ten bits for rounding below a significand of binary64.
 */
#define TOP	62

const struct ang_format ang_binary32 = { .frac = 23, .exp = 8 };
const struct ang_format ang_binary64 = { .frac = 52, .exp = 11 };

/**
 * struct num - a finite number that is not 0: sig / 2^TOP * 2^(exp - bias)
 * @sig: significand
 * @exp: biased exponent, as in the format; may be below 1 for subnormals
 */
struct num {
	u64 sig;
	s32 exp;
};

static u64 sign_bit(const struct ang_format *f)
{
	return 1ULL << (f->frac + f->exp);
}

static u64 float_magnitude(const struct ang_format *f, u64 x)
{
	return x & (sign_bit(f) - 1);
}

static u64 float_infinity(const struct ang_format *f)
{
	return ((1ULL << f->exp) - 1) << f->frac;
}

static u64 no_number(const struct ang_format *f)
{
	return float_infinity(f) | 1ULL << (f->frac - 1);
}

bool ang_float_nan(const struct ang_format *f, u64 x)
{
	return float_magnitude(f, x) > float_infinity(f);
}

bool ang_float_zero(const struct ang_format *f, u64 x)
{
	return !float_magnitude(f, x);
}

/** ang_float_one() - return the number 1 */
u64 ang_float_one(const struct ang_format *f)
{
	return ((1ULL << (f->exp - 1)) - 1) << f->frac;
}

/** ang_float_quiet() - return @x; if @x is any NaN, the canonical NaN */
u64 ang_float_quiet(const struct ang_format *f, u64 x)
{
	return ang_float_nan(f, x) ? no_number(f) : x;
}

/* Shift right; if a 1 is shifted out, the last bit is set (sticky bit). */
static u64 shift_mark(u64 sig, u32 n)
{
	if (n >= 64)
		return sig != 0;
	return sig >> n | ((sig & ((1ULL << n) - 1)) != 0);
}

static struct num float_normal(u64 sig, s32 exp)
{
	s32 shift = __builtin_clzll(sig) - (63 - TOP);

	return (struct num){ .sig = sig << shift, .exp = exp - shift };
}

static struct num float_unpack(const struct ang_format *f, u64 mag)
{
	u64 hidden = 1ULL << f->frac;
	u64 sig = mag & (hidden - 1);
	s32 exp = (s32)(mag >> f->frac);

	if (exp)
		sig |= hidden;
	else
		exp = 1;
	return float_normal(sig, exp + (s32)(TOP - f->frac));
}

/* Round and encode; a carry out of the fraction increments the exponent. */
static u64 round_pack(const struct ang_format *f, u64 sign, struct num x)
{
	u32 drop = TOP - f->frac;
	u64 half = 1ULL << (drop - 1);
	u64 rest, mag;

	if (x.exp < 1) {
		x.sig = shift_mark(x.sig, (u32)(1 - x.exp));
		x.exp = 1;
	}
	rest = x.sig & (2 * half - 1);
	mag = ((u64)(x.exp - 1) << f->frac) + (x.sig >> drop);
	if (rest > half || (rest == half && mag & 1))
		mag++;
	return sign | (mag < float_infinity(f) ? mag : float_infinity(f));
}

static u64 add_finite(const struct ang_format *f, u64 a, u64 b)
{
	bool minus = (a ^ b) & sign_bit(f);
	struct num x = float_unpack(f, float_magnitude(f, a));
	struct num y = float_unpack(f, float_magnitude(f, b));

	y.sig = shift_mark(y.sig, (u32)(x.exp - y.exp));
	if (!minus) {
		x.sig += y.sig;
		if (x.sig >> (TOP + 1)) {
			x.sig = shift_mark(x.sig, 1);
			x.exp++;
		}
	} else {
		x.sig -= y.sig;
		if (!x.sig)
			return 0;
		x = float_normal(x.sig, x.exp);
	}
	return round_pack(f, a & sign_bit(f), x);
}

/**
 * ang_float_add() - compute a sum
 * @f: format of both terms and of the sum
 * @a: first term
 * @b: second term
 *
 * Return: the sum; +0 if the terms cancel; -0 for two -0.
 */
u64 ang_float_add(const struct ang_format *f, u64 a, u64 b)
{
	u64 inf = float_infinity(f);
	u64 big = a, small = b;

	if (float_magnitude(f, a) < float_magnitude(f, b)) {
		big = b;
		small = a;
	}
	if (float_magnitude(f, big) > inf)
		return no_number(f);
	if (float_magnitude(f, big) == inf)
		return float_magnitude(f, small) == inf && a != b ? no_number(f) : big;
	if (!float_magnitude(f, big))
		return a & b;
	if (!float_magnitude(f, small))
		return big;
	return add_finite(f, big, small);
}

/* Upper half of a product; if the lower half is not 0, the last bit is set. */
static u64 multiply_mark(u64 a, u64 b)
{
	u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
	u64 low = a0 * b0;
	u64 mid = a1 * b0 + (low >> 32);
	u64 mid2 = a0 * b1 + (u32)mid;

	return (a1 * b1 + (mid >> 32) + (mid2 >> 32)) |
	       ((u32)mid2 || (u32)low);
}

/**
 * ang_float_mul() - compute a product
 * @f: format of both factors and of the product
 * @a: first factor
 * @b: second factor
 *
 * Return: the product.
 */
u64 ang_float_mul(const struct ang_format *f, u64 a, u64 b)
{
	u64 sign = (a ^ b) & sign_bit(f);
	u64 am = float_magnitude(f, a), bm = float_magnitude(f, b);
	u64 inf = float_infinity(f);
	struct num x, y;

	if (am > inf || bm > inf)
		return no_number(f);
	if (am == inf || bm == inf)
		return am && bm ? sign | inf : no_number(f);
	if (!am || !bm)
		return sign;
	x = float_unpack(f, am);
	y = float_unpack(f, bm);
	/*
	 * Product of two doubled significands: its leading 1 is at bit 62 or 63
	 * of the upper half.
	 */
	x.sig = multiply_mark(x.sig << 1, y.sig << 1);
	x.exp += y.exp - (s32)((1U << (f->exp - 1)) - 1);
	if (x.sig >> (TOP + 1)) {
		x.sig = shift_mark(x.sig, 1);
		x.exp++;
	}
	return round_pack(f, sign, x);
}

/**
 * ang_float_key() - convert a number to an integer for comparing
 * @f: format
 * @x: a number, not a NaN
 *
 * Return: an unsigned integer that increases with the number; -0 is below +0.
 */
u64 ang_float_key(const struct ang_format *f, u64 x)
{
	return x & sign_bit(f) ? sign_bit(f) - 1 - float_magnitude(f, x) :
				 x | sign_bit(f);
}

/**
 * ang_float_pick() - return the smaller or the greater of two numbers
 * @f: format of both numbers
 * @a: first number
 * @b: second number
 * @max: true: the greater; false: the smaller
 *
 * Return: that number; a NaN if one of the two is a NaN.
 */
u64 ang_float_pick(const struct ang_format *f, u64 a, u64 b, bool max)
{
	if (ang_float_nan(f, a) || ang_float_nan(f, b))
		return no_number(f);
	return (ang_float_key(f, a) < ang_float_key(f, b)) != max ? a : b;
}
