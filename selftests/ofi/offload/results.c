// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests of results: for all types, operations, lengths and roots; the same bits each
 * time; with members that are late.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "offload.h"

#define MEM	(1U << 20)
#define STREAM	24	/* operations in flight */

static struct group all;
static char *in, *out, *want;

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 31) * 0x9E3779B97F4A7C15ULL;
	return v ^ v >> 29;
}

/* Return: a whole number, for products from 1 to 3. */
static uint64_t number(unsigned int who, size_t i, unsigned int seed, enum fi_op op)
{
	uint64_t v = mix(mix(who * 1000003ULL + seed) + i);

	return op == FI_PROD ? v % 3 + 1 : v;
}

/* Integers are computed in the unsigned type @T, but compared in the type @is. */
#define FOLD(name, T, is)						\
static T name(enum fi_op op, T a, T x)					\
{									\
	switch (op) {							\
	case FI_SUM:							\
		return a + x;						\
	case FI_PROD:							\
		return a * x;						\
	case FI_MIN:							\
		return (is)x < (is)a ? x : a;				\
	case FI_MAX:							\
		return (is)x > (is)a ? x : a;				\
	case FI_BAND:							\
		return (T)((uint64_t)a & (uint64_t)x);			\
	case FI_BOR:							\
		return (T)((uint64_t)a | (uint64_t)x);			\
	default:							\
		return (T)((uint64_t)a ^ (uint64_t)x);			\
	}								\
}

FOLD(fold_i32, uint32_t, int32_t)
FOLD(fold_u32, uint32_t, uint32_t)
FOLD(fold_i64, uint64_t, int64_t)
FOLD(fold_u64, uint64_t, uint64_t)
FOLD(fold_float, float, float)
FOLD(fold_double, double, double)

static const struct {
	enum fi_datatype type;
	size_t size;
	bool whole;
} types[] = {
	{ FI_INT32, 4, true }, { FI_UINT32, 4, true }, { FI_INT64, 8, true },
	{ FI_UINT64, 8, true }, { FI_FLOAT, 4, false }, { FI_DOUBLE, 8, false },
};

static const enum fi_op ops[] = {
	FI_SUM, FI_PROD, FI_MIN, FI_MAX, FI_BAND, FI_BOR, FI_BXOR,
};

#define NUM(a)	(sizeof(a) / sizeof(*(a)))

/* Stores an element if @first, else combines it with the stored one. */
static void put(void *at, unsigned int t, size_t i, enum fi_op op, bool first,
		uint64_t v)
{
	uint32_t *w = (uint32_t *)at + i;
	uint64_t *q = (uint64_t *)at + i;
	float *f = (float *)at + i, small = (float)(v % 1000);
	double *d = (double *)at + i;

	switch (types[t].type) {
	case FI_INT32:
		*w = first ? (uint32_t)v : fold_i32(op, *w, (uint32_t)v);
		break;
	case FI_UINT32:
		*w = first ? (uint32_t)v : fold_u32(op, *w, (uint32_t)v);
		break;
	case FI_INT64:
		*q = first ? v : fold_i64(op, *q, v);
		break;
	case FI_UINT64:
		*q = first ? v : fold_u64(op, *q, v);
		break;
	case FI_FLOAT:
		*f = first ? small : fold_float(op, *f, small);
		break;
	default:
		*d = first ? small : fold_double(op, *d, small);
		break;
	}
}

/* Prepares this member's input and the expected result. */
static void prepare(unsigned int t, enum fi_op op, size_t count, unsigned int seed)
{
	unsigned int r;
	size_t i;

	for (i = 0; i < count; i++) {
		put(in, t, i, op, true, number(all.rank, i, seed, op));
		for (r = 0; r < all.size; r++)
			put(want, t, i, op, !r, number(r, i, seed, op));
	}
}

static bool reduced(unsigned int t, enum fi_op op, size_t count, unsigned int seed)
{
	size_t len = count * types[t].size;
	unsigned int root = seed % all.size;
	bool ok;

	prepare(t, op, count, seed);
	memset(out, 0x55, len);
	ok = expect(done(fi_allreduce(ep, in, count, NULL, out, NULL, all.addr,
				      types[t].type, op, 0, out), out), 0) &&
	     expect(memcmp(out, want, len), 0);
	memset(out, 0x55, len);
	ok = ok && expect(done(fi_reduce(ep, in, count, NULL, out, NULL, all.addr,
					 addr_of(&all, root), types[t].type, op, 0,
					 out), out), 0);
	if (ok && all.rank == root)
		ok = expect(memcmp(out, want, len), 0);
	else
		ok = ok && expect(out[0], 0x55) && expect(out[len - 1], 0x55);
	/* Now call operations in place. */
	ok = ok && expect(done(fi_allreduce(ep, in, count, NULL, in, NULL, all.addr,
					    types[t].type, op, 0, in), in), 0) &&
	     expect(memcmp(in, want, len), 0);
	if (!ok)
		printf("# rank %u: type %d, operation %d, %zu elements\n", rank,
		       (int)types[t].type, (int)op, count);
	return ok;
}

static bool reductions(void)
{
	const size_t counts[] = { 1, 5, 1000 };
	unsigned int t, o, c;
	bool ok = join(&all, NULL, 0);

	for (t = 0; ok && t < NUM(types); t++)
		for (o = 0; ok && o < NUM(ops); o++)
			for (c = 0; ok && c < NUM(counts); c++)
				ok = (!types[t].whole && o >= 4) ||
				     reduced(t, ops[o], counts[c], t + 7 * o + c);
	return ok && leave(&all);
}

static bool long_reductions(void)
{
	const size_t lens[] = { 65528, 65536, 65544, 3 * 65536, 200000, MEM };
	unsigned int i;
	bool ok = join(&all, NULL, 0);

	for (i = 0; ok && i < NUM(lens); i++)
		ok = reduced(i % 2 ? 0 : 5, FI_SUM, lens[i] / types[i % 2 ? 0 : 5].size, i);
	return ok && leave(&all);
}

/* Tests sums that depend on the order; each member is late in turn. */
static bool same_bits(void)
{
	const size_t count = 20000;
	double *v = (double *)in;
	unsigned int round;
	bool ok = join(&all, NULL, 0);
	char *others = malloc(size * 4096);
	size_t i;

	for (i = 0; i < count; i++)
		v[i] = (double)mix(rank + 77 * i) / 1e3 - (double)mix(i) / 1e5;
	for (round = 0; ok && round < size + 1; round++) {
		if (round == rank + 1)
			usleep(20000);
		ok = expect(done(fi_allreduce(ep, v, count, NULL, out, NULL, all.addr,
					      FI_DOUBLE, FI_SUM, 0, out), out), 0);
		if (!round)
			memcpy(want, out, count * sizeof(*v));
		ok = ok && expect(memcmp(out, want, count * sizeof(*v)), 0);
	}
	ok = ok && expect(angara_job_allgather(job, out, 4096, others), 0);
	for (i = 0; ok && i < size; i++)
		ok = expect(memcmp(others + i * 4096, out, 4096), 0);
	free(others);
	return ok && leave(&all);
}

static void fill(char *at, size_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		at[i] = (char)(i * 131 + i / 256 + seed * 29);
}

static bool broadcasts(void)
{
	const size_t lens[] = { 1, 63, 64, 65, 1000, 65535, 65536, 65537, 150001, MEM };
	unsigned int root, i;
	bool ok = join(&all, NULL, 0);

	for (root = 0; ok && root < size; root++)
		for (i = 0; ok && i < NUM(lens); i++) {
			fill(want, lens[i], root + i);
			if (rank == root)
				fill(out, lens[i], root + i);
			else
				memset(out, 0, lens[i]);
			ok = expect(done(fi_broadcast(ep, out, lens[i], NULL, all.addr,
						      addr_of(&all, root), FI_UINT8, 0,
						      out), out), 0) &&
			     expect(memcmp(out, want, lens[i]), 0);
		}
	return ok && leave(&all);
}

/* Streams broadcasts, while member @late waits for @pause us before each of its calls. */
static bool stream(unsigned int late, unsigned int pause)
{
	const size_t len = 10000;
	unsigned int i, root;
	bool ok = true;

	for (i = 0; ok && i < STREAM; i++) {
		root = i % 5 ? late == 0 : i % size;
		if (rank == late)
			usleep(pause);
		if (rank == root)
			fill(out + i * len, len, i);
		else
			memset(out + i * len, 0, len);
		ok = expect(fi_broadcast(ep, out + i * len, len, NULL, all.addr,
					 addr_of(&all, root), FI_UINT8, 0,
					 out + i * len), 0);
	}
	for (i = 0; ok && i < STREAM; i++) {
		fill(want, len, i);
		ok = expect(await(out + i * len), 0) &&
		     expect(memcmp(out + i * len, want, len), 0);
	}
	return ok;
}

/* Starts more operations than there is room for, with a slow member. */
static bool slow(void)
{
	unsigned int late;
	bool ok = join(&all, NULL, 0);

	for (late = 0; ok && late < size; late++)
		ok = stream(late, 3000);
	return ok && leave(&all);
}

/* Starts an operation, selected by @v, which is random, but equal at all members. */
static bool one_mixed(unsigned int i, char *at, uint64_t v)
{
	unsigned int root = (unsigned int)(v >> 8) % size;
	size_t count = (v >> 16) % 3000 + 1;
	uint32_t *x = (uint32_t *)at;
	size_t k;

	(void)i;
	switch (v % 4) {
	case 0:
		return expect(fi_barrier(ep, all.addr, at), 0);
	case 1:
		for (k = 0; k < count; k++)
			x[k] = rank == root ? (uint32_t)(k + v) : 0;
		return expect(fi_broadcast(ep, at, count, NULL, all.addr,
					   addr_of(&all, root), FI_UINT32, 0, at), 0);
	case 2:
		for (k = 0; k < count; k++)
			x[k] = (uint32_t)(k + rank + v);
		return expect(fi_allreduce(ep, at, count, NULL, at, NULL, all.addr,
					   FI_UINT32, FI_SUM, 0, at), 0);
	default:
		for (k = 0; k < count; k++)
			x[k] = (uint32_t)(k + rank + v);
		return expect(fi_reduce(ep, at, count, NULL, at, NULL, all.addr,
					addr_of(&all, root), FI_UINT32, FI_SUM, 0,
					at), 0);
	}
}

static bool right_mixed(const char *at, uint64_t v)
{
	unsigned int root = (unsigned int)(v >> 8) % size;
	size_t count = (v >> 16) % 3000 + 1;
	const uint32_t *x = (const uint32_t *)at;
	uint32_t value;
	size_t k;

	if (v % 4 == 0 || (v % 4 == 3 && rank != root))
		return true;
	for (k = 0; k < count; k++) {
		value = (uint32_t)(k + v);
		if (v % 4 > 1)
			value = size * value + size * (size - 1) / 2;
		if (x[k] != value)
			return expect(x[k], value);
	}
	return true;
}

static bool mixed(void)
{
	const unsigned int depth = 8, n = 160;
	const size_t room = 16384;
	unsigned int i;
	bool ok = join(&all, NULL, 0);

	for (i = 0; ok && i < n + depth; i++) {
		char *at = in + i % depth * room;

		if (i >= depth)
			ok = expect(await(at), 0) &&
			     right_mixed(at, mix(i - depth + 5));
		if (ok && mix(rank * 31 + i) % 16 == 0)
			usleep(500);
		if (ok && i < n)
			ok = one_mixed(i, at, mix(i + 5));
	}
	return ok && leave(&all);
}

/* Routers alone execute the operations, apart from those that they lack. */
static bool routers(void)
{
	const unsigned int n = 50;
	struct links before, after;
	unsigned long long least = n * (nodes - 1ULL);
	uint16_t word = 1, sum;
	unsigned int i;
	bool ok = join(&all, NULL, 0) && links(&before);

	for (i = 0; ok && i < n; i++)
		ok = expect(done(fi_barrier(ep, all.addr, in), in), 0);
	ok = ok && links(&after);
	ok = ok && (rank || expect(after.up - before.up >= least &&
				   after.down - before.down >= least, 1));
	before = after;
	for (i = 0; ok && i < n; i++)
		ok = expect(done(fi_broadcast(ep, in, 16, NULL, all.addr,
					      addr_of(&all, i % size), FI_UINT8, 0,
					      in), in), 0);
	ok = ok && links(&after) &&
	     (rank || expect(after.down - before.down >= least, 1));
	before = after;
	ok = ok && expect(done(fi_allreduce(ep, &word, 1, NULL, &sum, NULL, all.addr,
					    FI_UINT16, FI_SUM, 0, &sum), &sum), 0) &&
	     expect(sum, (uint16_t)size) && links(&after) &&
	     (rank || expect(after.up, before.up));
	return ok && leave(&all);
}

static bool with_memory(bool (*run)(void))
{
	bool ok;

	in = aligned_alloc(64, MEM);
	out = aligned_alloc(64, MEM);
	want = aligned_alloc(64, MEM);
	memset(in, 0, MEM);
	ok = run();
	free(in);
	free(out);
	free(want);
	return ok;
}

#define PART(f)					\
static bool part_ ## f(void)			\
{						\
	return with_memory(f);			\
}

PART(routers)
PART(reductions)
PART(long_reductions)
PART(same_bits)
PART(broadcasts)
PART(slow)
PART(mixed)

const struct part result_parts[] = {
	{ "routers execute the operations", part_routers },
	{ "reductions", part_reductions },
	{ "long reductions", part_long_reductions },
	{ "the same bits", part_same_bits },
	{ "broadcasts", part_broadcasts },
	{ "slow members", part_slow },
	{ "all mixed", part_mixed },
	{ NULL, NULL },
};
