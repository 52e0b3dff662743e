// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions: all types and operations, against results in C; rounding does not
 * depend on the order of arrival.
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "group.h"

#define N	5	/* number of members */
#define COUNT	7	/* number of elements */
#define LEN	(COUNT * 32)

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static const int in_order[MOST] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static struct team t;

/* Elements of all members; aligned for the largest type. */
static union {
	char bytes[LEN];
	long double aligned;
} in[N], out[N], want;

/*
 * Return: a small value of either sign or zero; products of all members'
 * values fit in eight bits.
 */
static int value(int r, int i)
{
	static const int v[] = { 1, 0, -1, 2, 1, -2, 3, 1, 0, -1, 1 };

	return v[(r * 3 + i) % 11];
}

/* Combines the contributions of all members in order. */
#define REFERENCE(name, type, min, bits)				\
static void name##_fill(void)						\
{									\
	int r, i;							\
									\
	for (r = 0; r < N; r++)						\
		for (i = 0; i < COUNT; i++)				\
			((type *)in[r].bytes)[i] = (type)value(r, i);	\
}									\
									\
static bool name##_want(enum fi_op op)					\
{									\
	int r, i;							\
									\
	for (i = 0; i < COUNT; i++) {					\
		type v = ((type *)in[0].bytes)[i];			\
									\
		for (r = 1; r < N; r++) {				\
			type w = ((type *)in[r].bytes)[i];		\
									\
			switch (op) {					\
			case FI_SUM:					\
				v = (type)(v + w);			\
				break;					\
			case FI_PROD:					\
				v = (type)(v * w);			\
				break;					\
			case FI_LOR:					\
				v = v != 0 || w != 0;			\
				break;					\
			case FI_LAND:					\
				v = v != 0 && w != 0;			\
				break;					\
			case FI_LXOR:					\
				v = (v != 0) != (w != 0);		\
				break;					\
			min						\
			bits						\
			default:					\
				return false;				\
			}						\
		}							\
		((type *)want.bytes)[i] = v;				\
	}								\
	return true;							\
}									\
									\
static bool name##_same(int r)						\
{									\
	int i;								\
									\
	for (i = 0; i < COUNT; i++)					\
		if (((type *)out[r].bytes)[i] != ((type *)want.bytes)[i]) \
			return false;					\
	return true;							\
}

#define ORDER								\
			case FI_MIN:					\
				v = w < v ? w : v;			\
				break;					\
			case FI_MAX:					\
				v = w > v ? w : v;			\
				break;

#define BITS								\
			case FI_BOR:					\
				v |= w;					\
				break;					\
			case FI_BAND:					\
				v &= w;					\
				break;					\
			case FI_BXOR:					\
				v ^= w;					\
				break;

#define NONE

REFERENCE(int8, int8_t, ORDER, BITS)
REFERENCE(uint8, uint8_t, ORDER, BITS)
REFERENCE(int16, int16_t, ORDER, BITS)
REFERENCE(uint16, uint16_t, ORDER, BITS)
REFERENCE(int32, int32_t, ORDER, BITS)
REFERENCE(uint32, uint32_t, ORDER, BITS)
REFERENCE(int64, int64_t, ORDER, BITS)
REFERENCE(uint64, uint64_t, ORDER, BITS)
REFERENCE(int128, int128, ORDER, BITS)
REFERENCE(uint128, uint128, ORDER, BITS)
REFERENCE(single, float, ORDER, NONE)
REFERENCE(twice, double, ORDER, NONE)
REFERENCE(extended, long double, ORDER, NONE)
REFERENCE(single_complex, float complex, NONE, NONE)
REFERENCE(twice_complex, double complex, NONE, NONE)
REFERENCE(extended_complex, long double complex, NONE, NONE)

#define TYPE(type, name, ctype) \
	{ type, sizeof(ctype), name##_fill, name##_want, name##_same }

static const struct {
	enum fi_datatype type;
	size_t size;
	void (*fill)(void);
	bool (*want)(enum fi_op op);
	bool (*same)(int r);
} types[] = {
	TYPE(FI_INT8, int8, int8_t),
	TYPE(FI_UINT8, uint8, uint8_t),
	TYPE(FI_INT16, int16, int16_t),
	TYPE(FI_UINT16, uint16, uint16_t),
	TYPE(FI_INT32, int32, int32_t),
	TYPE(FI_UINT32, uint32, uint32_t),
	TYPE(FI_INT64, int64, int64_t),
	TYPE(FI_UINT64, uint64, uint64_t),
	TYPE(FI_INT128, int128, int128),
	TYPE(FI_UINT128, uint128, uint128),
	TYPE(FI_FLOAT, single, float),
	TYPE(FI_DOUBLE, twice, double),
	TYPE(FI_LONG_DOUBLE, extended, long double),
	TYPE(FI_FLOAT_COMPLEX, single_complex, float complex),
	TYPE(FI_DOUBLE_COMPLEX, twice_complex, double complex),
	TYPE(FI_LONG_DOUBLE_COMPLEX, extended_complex, long double complex),
};

static ssize_t reduce(int r, size_t count, enum fi_datatype type, enum fi_op op)
{
	return fi_allreduce(of(&t, r)->s.ep, in[r].bytes, count, NULL,
			    out[r].bytes, NULL, t.coll[r], type, op, 0, &t);
}

/* Queries and calls agree. */
static bool one(size_t i, enum fi_op op)
{
	struct fi_collective_attr attr = {
		.op = op,
		.datatype = types[i].type,
	};
	bool known, ok;
	int r;

	types[i].fill();
	known = types[i].want(op);
	ok = expect(fi_query_collective(of(&t, 0)->s.domain, FI_ALLREDUCE, &attr,
					0), known ? 0 : -FI_EOPNOTSUPP) &&
	     (!known || expect(attr.datatype_attr.size, types[i].size));
	for (r = 0; ok && r < N; r++)
		ok = expect(reduce(r, COUNT, types[i].type, op),
			    known ? 0 : -FI_EOPNOTSUPP);
	ok = ok && (!known || ended(&t, 0, &t));
	for (r = 0; ok && known && r < N; r++)
		ok = expect(types[i].same(r), true);
	if (!ok)
		printf("# type %d, operation %d\n", types[i].type, op);
	return ok;
}

static bool types_done(const char *way)
{
	enum fi_op op;
	bool ok;
	size_t i;

	open_members_for(N, way);
	ok = join(&t, N, in_order);
	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		for (op = FI_MIN; ok && op <= FI_MSWAP; op++)
			ok = one(i, op);
	leave(&t, ~0U);
	close_members(N);
	return ok;
}

static bool all_types(void)
{
	return types_done("software") && types_done("auto");
}

static bool double_sums(const int *order, enum fi_op op)
{
	bool ok = true;
	int r;

	for (r = 0; ok && r < N; r++) {
		memset(out[r].bytes, 0, LEN);
		ok = true;
	}
	for (r = 0; ok && r < N; r++) {
		ok = expect(reduce(order[r], COUNT, FI_DOUBLE, op), 0);
		/*
		 * Let this member make all progress that it can before the next
		 * one calls.
		 */
		fi_cq_read(of(&t, order[r])->s.cq, NULL, 0);
	}
	return ok && ended(&t, 0, &t);
}

/* Computes the sum over a binomial tree of five members with root @root. */
static void want_of(int root)
{
	int r, i;

	for (i = 0; i < COUNT; i++) {
		double v[N];

		for (r = 0; r < N; r++)
			v[r] = ((double *)in[(root + r) % N].bytes)[i];
		((double *)want.bytes)[i] = ((v[0] + v[1]) + (v[2] + v[3])) + v[4];
	}
}

/*
 * The documented order: an allreduce by recursive doubling computes ((0 + 1) +
 * 2) + (3 + 4), a reduce follows the binomial tree of its root.
 */
static bool rounding(void)
{
	static const int orders[][N] = {
		{ 0, 1, 2, 3, 4 }, { 4, 3, 2, 1, 0 }, { 2, 0, 4, 1, 3 },
	};
	bool ok;
	int r, i, k;

	open_members_for(N, "software");
	ok = join(&t, N, in_order);
	for (i = 0; i < COUNT; i++) {
		double v[N];

		for (r = 0; r < N; r++) {
			v[r] = (r % 2 ? -1e17 : 1e17) + (r + 1) * 1e5 / (i + 3);
			((double *)in[r].bytes)[i] = v[r];
		}
		((double *)want.bytes)[i] = ((v[0] + v[1]) + v[2]) + (v[3] + v[4]);
	}
	for (k = 0; ok && k < 3; k++) {
		ok = double_sums(orders[k], FI_SUM);
		for (r = 0; ok && r < N; r++)
			ok = expect(memcmp(out[r].bytes, want.bytes,
					   COUNT * sizeof(double)), 0);
	}
	for (k = 0; ok && k < N; k++) {
		want_of(k);
		for (r = 0; ok && r < N; r++)
			ok = expect(fi_reduce(of(&t, r)->s.ep, in[r].bytes, COUNT,
					      NULL, out[r].bytes, NULL, t.coll[r],
					      of(&t, r)->addr[k], FI_DOUBLE,
					      FI_SUM, 0, &t), 0);
		ok = ok && ended(&t, 0, &t) &&
		     expect(memcmp(out[k].bytes, want.bytes,
				   COUNT * sizeof(double)), 0);
	}
	leave(&t, ~0U);
	close_members(N);
	return ok;
}

/* Reduces zeros of both signs, NaNs and infinities. */
static bool odd_done(const char *way)
{
	static const double odd[][2] = {
		{ 0.0, -0.0 }, { -0.0, 0.0 }, { 1.0, NAN }, { -NAN, 1.0 },
		{ INFINITY, -INFINITY },
	};
	static const int order[N] = { 0, 1, 2, 3, 4 };
	const uint64_t nan_bits = 0x7FF8000000000000ULL;
	uint64_t bits;
	bool ok;
	int r, i;

	open_members_for(N, way);
	ok = join(&t, N, in_order);
	for (r = 0; r < N; r++)
		for (i = 0; i < 5; i++)
			((double *)in[r].bytes)[i] = odd[i][r % 2];
	ok = ok && double_sums(order, FI_MIN);
	for (r = 0; ok && r < N; r++) {
		const double *v = (double *)out[r].bytes;

		memcpy(&bits, &v[2], sizeof(bits));
		ok = expect(!!signbit(v[0]), 1) && expect(!!signbit(v[1]), 1) &&
		     expect(bits == nan_bits, true) &&
		     expect(v[4] == -INFINITY, true);
	}
	ok = ok && double_sums(order, FI_MAX);
	for (r = 0; ok && r < N; r++) {
		const double *v = (double *)out[r].bytes;

		memcpy(&bits, &v[3], sizeof(bits));
		ok = expect(!!signbit(v[0]), 0) && expect(!!signbit(v[1]), 0) &&
		     expect(bits == nan_bits, true) &&
		     expect(v[4] == INFINITY, true);
	}
	ok = ok && double_sums(order, FI_SUM);
	for (r = 0; ok && r < N; r++) {
		memcpy(&bits, out[r].bytes + 4 * sizeof(double), sizeof(bits));
		ok = expect(bits == nan_bits, true);
	}
	leave(&t, ~0U);
	close_members(N);
	return ok;
}

static bool odd_floats(void)
{
	return odd_done("software") && odd_done("auto");
}

const struct part colltype_parts[] = {
	{ "reductions of all types", all_types },
	{ "the order of rounding", rounding },
	{ "NaNs and zeros of both signs", odd_floats },
	{ NULL, NULL },
};
