// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Floats computed with integers, compared with the processor of the test: equal
 * bit for bit, except for NaNs, of which the model has only one.
 */
#include <math.h>
#include <string.h>

#include "test.h"

#define PAIRS	(1U << 20)

/* Fractions and exponents at the edges of both formats. */
static const u64 fractions64[] = {
	0, 1, 2, 3, 0x7FFFFFFFFFFFFULL, 0x8000000000000ULL, 0x8000000000001ULL,
	0x5555555555555ULL, 0xFFFFFFFFFFFFEULL, 0xFFFFFFFFFFFFFULL,
	0x0000020000000ULL, 0x0000010000000ULL, 0x000001FFFFFFFULL,
};

static const u32 exponents64[] = {
	0, 1, 2, 52, 53, 54, 511, 512, 969, 970, 1021, 1022, 1023, 1024, 1075,
	1076, 1077, 1534, 1535, 2045, 2046, 2047,
};

static const u64 fractions32[] = {
	0, 1, 2, 3, 0x3FFFFF, 0x400000, 0x400001, 0x2AAAAA, 0x7FFFFE, 0x7FFFFF,
	0x1000, 0x800, 0xFFF,
};

static const u32 exponents32[] = {
	0, 1, 2, 23, 24, 25, 63, 64, 102, 103, 125, 126, 127, 128, 150, 151,
	152, 190, 191, 253, 254, 255,
};

static double to_double(u64 x)
{
	double d;

	memcpy(&d, &x, sizeof(d));
	return d;
}

static u64 of_double(double d)
{
	u64 x;

	memcpy(&x, &d, sizeof(x));
	return isnan(d) ? 0x7FF8000000000000ULL : x;
}

static float to_float(u64 x)
{
	u32 word = (u32)x;
	float f;

	memcpy(&f, &word, sizeof(f));
	return f;
}

static u64 of_float(float f)
{
	u32 x;

	memcpy(&x, &f, sizeof(x));
	return isnan(f) ? 0x7FC00000 : x;
}

/*
 * Return: the smaller number, where -0 is smaller than +0; NaN if one is NaN.
 */
static double smaller(double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	if (a == b)
		return signbit(a) ? a : b;
	return a < b ? a : b;
}

static double greater(double a, double b)
{
	return -smaller(-a, -b);
}

static void same(u64 got, u64 want, const char *op, u64 a, u64 b)
{
	if (got == want)
		return;
	test_fail(__FILE__, __LINE__, "%llx %s %llx is %llx, not %llx",
		  (unsigned long long)a, op, (unsigned long long)b,
		  (unsigned long long)got, (unsigned long long)want);
}

static void compare64(u64 a, u64 b)
{
	const struct ang_format *f = &ang_binary64;
	volatile double x = to_double(a), y = to_double(b);

	same(ang_float_add(f, a, b), of_double(x + y), "+", a, b);
	same(ang_float_mul(f, a, b), of_double(x * y), "*", a, b);
	same(ang_float_pick(f, a, b, false), of_double(smaller(x, y)), "min", a, b);
	same(ang_float_pick(f, a, b, true), of_double(greater(x, y)), "max", a, b);
	same(ang_float_nan(f, a), isnan(x), "NaN", a, b);
	same(ang_float_quiet(f, a), of_double(x), "quiet", a, b);
	if (!isnan(x) && !isnan(y) && x != y)
		same(ang_float_key(f, a) < ang_float_key(f, b), x < y, "<", a, b);
}

static void compare32(u64 a, u64 b)
{
	const struct ang_format *f = &ang_binary32;
	volatile float x = to_float(a), y = to_float(b);

	same(ang_float_add(f, a, b), of_float(x + y), "+", a, b);
	same(ang_float_mul(f, a, b), of_float(x * y), "*", a, b);
	same(ang_float_pick(f, a, b, false), of_float((float)smaller(x, y)), "min", a, b);
	same(ang_float_pick(f, a, b, true), of_float((float)greater(x, y)), "max", a, b);
	same(ang_float_nan(f, a), isnan(x), "NaN", a, b);
	same(ang_float_quiet(f, a), of_float(x), "quiet", a, b);
	if (!isnan(x) && !isnan(y) && x != y)
		same(ang_float_key(f, a) < ang_float_key(f, b), x < y, "<", a, b);
}

/* Compares every special value with every other, in both signs. */
static void specials(void (*compare)(u64 a, u64 b), const u64 *fractions,
		     u32 nfractions, const u32 *exponents, u32 nexponents,
		     u32 frac, u32 width)
{
	u32 n = 2 * nfractions * nexponents;
	u64 *all = malloc(n * sizeof(*all));
	u32 i, k = 0, e, m;

	for (e = 0; e < nexponents; e++)
		for (m = 0; m < nfractions; m++) {
			u64 x = (u64)exponents[e] << frac | fractions[m];

			all[k++] = x;
			all[k++] = x | 1ULL << (width - 1);
		}
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			compare(all[i], all[k]);
	free(all);
}

static void special32(void)
{
	specials(compare32, fractions32, NUM(fractions32), exponents32,
		 NUM(exponents32), 23, 32);
}

static void special64(void)
{
	specials(compare64, fractions64, NUM(fractions64), exponents64,
		 NUM(exponents64), 52, 64);
}

/* Return: @x with zeros in the last bits of its fraction, or in all other bits of it. */
static u64 sparse(u64 x, u64 *seed, u32 frac)
{
	u32 bits = (u32)(rnd(seed) >> 32) % (frac + 1);
	u64 mask = (1ULL << bits) - 1;

	return rnd(seed) >> 40 & 1 ? x & ~mask :
	       x & ~((1ULL << frac) - 1 - mask);
}

/*
 * Pairs of random bits; pairs whose exponents are so close that sums cancel or
 * round; pairs with few bits, for ties; and subnormals with numbers that make
 * them normal.
 */
static void random_pairs(void (*compare)(u64 a, u64 b), u32 frac, u32 width)
{
	u64 mask = width == 64 ? ~0ULL : (1ULL << width) - 1;
	u64 fraction = (1ULL << frac) - 1;
	u64 seed = 4711 + width;
	u32 i;

	for (i = 0; i < PAIRS; i++) {
		u64 a = rnd(&seed) ^ rnd(&seed) << 32;
		u64 b = rnd(&seed) ^ rnd(&seed) << 32;
		u64 near = (a & ~fraction) + ((u64)(i / 8 % 120) << frac) -
			   (60ULL << frac);

		a &= mask;
		b &= mask;
		switch (i % 8) {
		case 0:
		case 1:
			break;
		case 2:
			a = sparse(a, &seed, frac);
			b = sparse(b, &seed, frac);
			break;
		case 3:
		case 4:
			b = (near & mask) | (b & fraction);
			break;
		case 5:
			a = sparse(a, &seed, frac);
			b = (near & mask) | (sparse(b, &seed, frac) & fraction);
			break;
		case 6:
			a &= fraction | 1ULL << (width - 1);
			break;
		default:
			b = (a ^ 1ULL << (width - 1)) + i / 8 % 5 - 2;
			b &= mask;
			break;
		}
		compare(a, b);
		compare(b, a);
	}
}

static void random32(void)
{
	random_pairs(compare32, 23, 32);
}

static void random64(void)
{
	random_pairs(compare64, 52, 64);
}

const struct test_case float_cases[] = {
	{ "float: special values, 32 bits", special32 },
	{ "float: special values, 64 bits", special64 },
	{ "float: two million random pairs, 32 bits", random32 },
	{ "float: two million random pairs, 64 bits", random64 },
	{ NULL, NULL },
};
