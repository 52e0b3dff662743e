// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Atomic operations, compared with results computed in C.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_atomic.h>

#include "fi.h"

#define N	5	/* elements of an operation */

static struct side s[2];
static uint64_t mem[64];
static struct fid_mr *mr;

static void setup(const struct how *how)
{
	open_pair(s, how);
	memset(mem, 0, sizeof(mem));
	mr = reg(&s[1], mem, sizeof(mem), FI_REMOTE_READ | FI_REMOTE_WRITE, 1);
}

static void teardown(void)
{
	closed(&mr->fid);
	close_pair(s);
}

static uint64_t there(size_t off)
{
	return start_of(&s[1], mem) + off;
}

static bool done(uint64_t kind)
{
	struct fi_cq_tagged_entry e = { 0 };

	return completion(&s[0], &e) && expect(e.op_context == &mem, true) &&
	       expect((long long)e.flags, (long long)(FI_ATOMIC | kind));
}

/* Return: the value of @t after the operation, by the rules of C. */
#define RULES(name, type, bits)						\
static type name(enum fi_op op, type t, type x, type y)			\
{									\
	switch ((int)op) {						\
	case FI_MIN: return x < t ? x : t;				\
	case FI_MAX: return x > t ? x : t;				\
	case FI_SUM: return t + x;					\
	case FI_PROD: return t * x;					\
	case FI_LOR: return t || x;					\
	case FI_LAND: return t && x;					\
	case FI_LXOR: return !t != !x;					\
	case FI_ATOMIC_WRITE: return x;					\
	case FI_CSWAP: return y == t ? x : t;				\
	case FI_CSWAP_NE: return y != t ? x : t;			\
	case FI_CSWAP_LE: return y <= t ? x : t;			\
	case FI_CSWAP_LT: return y < t ? x : t;				\
	case FI_CSWAP_GE: return y >= t ? x : t;			\
	case FI_CSWAP_GT: return y > t ? x : t;				\
	bits								\
	default: return t;						\
	}								\
}

#define BITS						\
	case FI_BOR: return t | x;			\
	case FI_BAND: return t & x;			\
	case FI_BXOR: return t ^ x;			\
	case FI_MSWAP: return (x & y) | (t & ~y);

RULES(rule_u32, uint32_t, BITS)
RULES(rule_u64, uint64_t, BITS)
RULES(rule_float, float, )
RULES(rule_double, double, )

/* Values wrap around in the unsigned type, which has the same bits. */
#define SIGNED(name, type, other, unsigned_rule)			\
static type name(enum fi_op op, type t, type x, type y)			\
{									\
	switch ((int)op) {						\
	case FI_MIN: return x < t ? x : t;				\
	case FI_MAX: return x > t ? x : t;				\
	case FI_CSWAP_LE: return y <= t ? x : t;			\
	case FI_CSWAP_LT: return y < t ? x : t;				\
	case FI_CSWAP_GE: return y >= t ? x : t;			\
	case FI_CSWAP_GT: return y > t ? x : t;				\
	default: return (type)unsigned_rule(op, (other)t, (other)x,	\
					    (other)y);			\
	}								\
}

SIGNED(rule_i32, int32_t, uint32_t, rule_u32)
SIGNED(rule_i64, int64_t, uint64_t, rule_u64)

#define STEP(type, rule) {						\
	type *pt = t, *px = x, *py = y;					\
	for (i = 0; i < N; i++)						\
		pt[i] = rule(op, pt[i], px[i], py[i]);			\
	break;								\
}

static void by_c(enum fi_datatype type, enum fi_op op, void *t, void *x, void *y)
{
	int i;

	switch ((int)type) {
	case FI_INT32: STEP(int32_t, rule_i32)
	case FI_UINT32: STEP(uint32_t, rule_u32)
	case FI_INT64: STEP(int64_t, rule_i64)
	case FI_UINT64: STEP(uint64_t, rule_u64)
	case FI_FLOAT: STEP(float, rule_float)
	case FI_DOUBLE: STEP(double, rule_double)
	}
}

#define VALUES(type) {							\
	type *p = to;							\
	for (i = 0; i < N; i++)						\
		p[i] = (type)((int)((salt * 7 + i * 5) % 11) - 5);	\
	break;								\
}

static void values(enum fi_datatype type, void *to, unsigned int salt)
{
	unsigned int i;

	switch ((int)type) {
	case FI_INT32:
	case FI_UINT32: VALUES(int32_t)
	case FI_INT64:
	case FI_UINT64: VALUES(int64_t)
	case FI_FLOAT: VALUES(float)
	case FI_DOUBLE: VALUES(double)
	}
}

static uint64_t operand[N], other[N], old[N];

static ssize_t start(enum fi_datatype type, enum fi_op op, size_t n, int form)
{
	uint64_t key = fi_mr_key(mr);

	if (form == 2)
		return fi_compare_atomic(s[0].ep, operand, n, NULL, other, NULL,
					 old, NULL, s[0].peer, there(64), key,
					 type, op, &mem);
	if (form == 1)
		return fi_fetch_atomic(s[0].ep,
				       op == FI_ATOMIC_READ ? NULL : operand, n,
				       NULL, old, NULL, s[0].peer, there(64),
				       key, type, op, &mem);
	return fi_atomic(s[0].ep, operand, n, NULL, s[0].peer, there(64), key,
			 type, op, &mem);
}

/*
 * Runs one operation in one form; the elements next to its targets must not
 * change.
 */
static bool one(enum fi_datatype type, enum fi_op op, size_t size, int form)
{
	unsigned int salt = (unsigned int)(type * 31 + op);
	uint64_t t[N] = { 0 };

	values(type, t, salt);
	values(type, operand, salt + 1);
	values(type, other, op == FI_CSWAP ? salt : salt + 2);
	memset(mem, 0x55, sizeof(mem));
	memcpy(&mem[8], t, N * size);
	if (!expect(start(type, op, N, form), 0) ||
	    !done(form ? FI_READ : FI_WRITE) ||
	    (form && !expect(memcmp(old, t, N * size), 0)))
		return false;
	by_c(type, op, t, operand, other);
	return expect(memcmp(&mem[8], t, N * size), 0) &&
	       expect(mem[7] == 0x5555555555555555ULL, true) &&
	       expect(((char *)&mem[8])[N * size], 0x55);
}

/* Tries every operation on every type: valid ones work, all others fail. */
static bool all_ops(void)
{
	const struct how how = { .mr_mode = BASIC };
	int type, op, form, tried = 0;
	bool ok = true;

	setup(&how);
	for (type = FI_INT8; type <= FI_LONG_DOUBLE; type++)
		for (op = FI_MIN; op <= FI_MSWAP; op++)
			for (form = 0; ok && form < 3; form++) {
				static const uint64_t flags[] = {
					0, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC,
				};
				struct fi_atomic_attr attr = { 0 };
				int ret = fi_query_atomic(s[0].domain, type, op,
							  &attr, flags[form]);

				if (ret) {
					ok = expect(ret, -FI_EOPNOTSUPP) &&
					     expect(start(type, op, 1, form),
						    -FI_EOPNOTSUPP);
					continue;
				}
				ok = expect(attr.count * attr.size >= 128, true) &&
				     one(type, op, attr.size, form);
				if (!ok)
					printf("# type %d, operation %d, form %d\n",
					       type, op, form);
				tried++;
			}
	/* Four types have all operations, two have no bit operations. */
	ok = ok && expect(tried, 4 * (11 + 12 + 7) + 2 * (8 + 9 + 6));
	teardown();
	return ok;
}

/* Operands and targets are in several pieces of memory. */
static bool pieces(void)
{
	const struct how how = { 0 };
	int32_t x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8] = { 0 };
	struct fi_ioc from[2] = { { x, 3 }, { x + 3, 5 } };
	struct fi_ioc to[3] = { { got, 1 }, { got + 1, 0 }, { got + 1, 7 } };
	struct fi_rma_ioc remote[2];
	struct fi_msg_atomic msg = { from, NULL, 2, 0, remote, 2, FI_INT32,
				     FI_SUM, &mem, 0 };
	int32_t *t = (int32_t *)(void *)mem;
	bool ok;
	int i;

	setup(&how);
	remote[0] = (struct fi_rma_ioc){ there(0), 6, fi_mr_key(mr) };
	remote[1] = (struct fi_rma_ioc){ there(100), 2, fi_mr_key(mr) };
	msg.addr = s[0].peer;
	for (i = 0; i < 64; i++)
		t[i] = 100 + i;
	ok = expect(fi_fetch_atomicmsg(s[0].ep, &msg, to, NULL, 3, 0), 0) &&
	     done(FI_READ);
	for (i = 0; ok && i < 8; i++) {
		int at = i < 6 ? i : 25 + i - 6;

		ok = expect(got[i], 100 + at) && expect(t[at], 101 + at + i);
	}
	to[2].count = 6;
	ok = ok && expect(fi_fetch_atomicmsg(s[0].ep, &msg, to, NULL, 3, 0),
			  -FI_EINVAL);
	teardown();
	return ok;
}

static bool refused(void)
{
	const struct how how = { 0 };
	uint64_t x[40] = { 0 }, got[40];
	struct fid_mr *ro;
	bool ok;

	setup(&how);
	ro = reg(&s[1], mem, sizeof(mem), FI_REMOTE_READ, 2);
	ok = expect(fi_atomic(s[0].ep, x, 1, NULL, s[0].peer, there(0), 9,
			      FI_UINT64, FI_SUM, x), 0) &&
	     error(&s[0], FI_ENOKEY, x) &&
	     expect(fi_atomic(s[0].ep, x, 1, NULL, s[0].peer, there(0), 2,
			      FI_UINT64, FI_SUM, x), 0) &&
	     error(&s[0], FI_EACCES, x) &&
	     expect(fi_atomic(s[0].ep, x, 2, NULL, s[0].peer,
			      there(sizeof(mem) - 8), 1, FI_UINT64, FI_SUM, x),
		    0) && error(&s[0], FI_EINVAL, x) &&
	     expect(fi_fetch_atomic(s[0].ep, x, 1, NULL, got, NULL, s[0].peer,
				    there(4), 1, FI_UINT64, FI_SUM, x), 0) &&
	     error(&s[0], FI_EINVAL, x) &&
	     expect(fi_atomic(s[0].ep, x, 33, NULL, s[0].peer, there(0), 1,
			      FI_UINT64, FI_SUM, x), -FI_EMSGSIZE) &&
	     expect(fi_atomic(s[0].ep, x, 0, NULL, s[0].peer, there(0), 1,
			      FI_UINT64, FI_SUM, x), -FI_EINVAL) &&
	     expect(fi_fetch_atomic(s[0].ep, NULL, 32, NULL, got, NULL,
				    s[0].peer, there(0), 2, FI_UINT64,
				    FI_ATOMIC_READ, &mem), 0) && done(FI_READ);
	closed(&ro->fid);
	teardown();
	return ok;
}

/* Concurrent operations of both sides add to the same element. */
static bool together(void)
{
	const struct how how = { 0 };
	uint64_t one_more = 1;
	int i, side;
	bool ok = true;

	setup(&how);
	for (i = 0; ok && i < 500; i++)
		for (side = 0; ok && side < 2; side++)
			ok = expect(when_room(&s[side], fi_inject_atomic(
				s[side].ep, &one_more, 1,
				side ? s[1].self : s[0].peer, there(0),
				fi_mr_key(mr), FI_UINT64, FI_SUM)), 0);
	for (side = 0; side < 2; side++)
		while (ok && fi_cntr_read(s[side].cntr) < 500)
			ok = expect(fi_cntr_readerr(s[side].cntr), 0);
	ok = ok && expect((long long)mem[0], 1000) && nothing(&s[0]);
	teardown();
	return ok;
}

const struct part atomic_parts[] = {
	{ "atomic: all operations and types", all_ops },
	{ "atomic: memory in pieces", pieces },
	{ "atomic: refused operations", refused },
	{ "atomic: concurrent operations", together },
	{ 0 },
};
