// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Atomic operations: the view that holds the target's node reads, computes and
 * writes.
 *
 * A node executes atomic operations one after the other, so each is atomic with
 * respect to all others, whichever context they are for. In the host's memory
 * an operation is a read, then a write: a store by a processor between the two
 * is lost.
 */
#include "ang_int.h"

/* Data of a packet, aligned like the payload buffer. */
typedef __le32 __attribute__((may_alias)) ang_le32;
typedef __le64 __attribute__((may_alias)) ang_le64;

static u64 atomic_get(const void *data, u32 i, u32 size)
{
	if (size == 4)
		return le32_to_cpu(((const ang_le32 *)data)[i]);
	return le64_to_cpu(((const ang_le64 *)data)[i]);
}

static void atomic_put(void *data, u32 i, u32 size, u64 val)
{
	if (size == 4)
		((ang_le32 *)data)[i] = cpu_to_le32((u32)val);
	else
		((ang_le64 *)data)[i] = cpu_to_le64(val);
}

/* Result of comparing two elements. */
#define LESS	1U
#define SAME	2U
#define MORE	4U
#define NEITHER	8U	/* an element is NaN */

static const struct ang_format *format_of(u32 type)
{
	if (type == ANGARA_TYPE_FLOAT)
		return &ang_binary32;
	return type == ANGARA_TYPE_DOUBLE ? &ang_binary64 : NULL;
}

/* Zeros are equal, whatever their signs. */
static u32 compare_float(const struct ang_format *f, u64 x, u64 y)
{
	u64 a = ang_float_key(f, x), b = ang_float_key(f, y);

	if (ang_float_nan(f, x) || ang_float_nan(f, y))
		return NEITHER;
	if (a == b || (ang_float_zero(f, x) && ang_float_zero(f, y)))
		return SAME;
	return a < b ? LESS : MORE;
}

static u32 atomic_compare(u64 x, u64 y, u32 type)
{
	const struct ang_format *f = format_of(type);
	bool less = x < y;

	if (f)
		return compare_float(f, x, y);
	if (type == ANGARA_TYPE_INT32)
		less = (s32)x < (s32)y;
	else if (type == ANGARA_TYPE_INT64)
		less = (s64)x < (s64)y;
	return x == y ? SAME : less ? LESS : MORE;
}

/* Operations store x in the target t if comparing y with t has one of these results. */
static const u8 swaps[ANGARA_ATOMIC_NUM] = {
	[ANGARA_ATOMIC_CSWAP] = SAME,
	[ANGARA_ATOMIC_CSWAP_NE] = LESS | MORE | NEITHER,
	[ANGARA_ATOMIC_CSWAP_LE] = LESS | SAME,
	[ANGARA_ATOMIC_CSWAP_LT] = LESS,
	[ANGARA_ATOMIC_CSWAP_GE] = MORE | SAME,
	[ANGARA_ATOMIC_CSWAP_GT] = MORE,
};

static bool atomic_truth(u64 x, u32 type)
{
	const struct ang_format *f = format_of(type);

	return f ? !ang_float_zero(f, x) : x != 0;
}

/* Return: @result as 1 or 0, in the format of @type. */
static u64 atomic_logic(bool result, u32 type)
{
	const struct ang_format *f = format_of(type);

	return f && result ? ang_float_one(f) : result;
}

static u64 atomic_element(u64 t, u64 x, u64 y, u32 type, u32 aop)
{
	switch (aop) {
	case ANGARA_ATOMIC_LAND:
		return atomic_logic(atomic_truth(t, type) && atomic_truth(x, type), type);
	case ANGARA_ATOMIC_LOR:
		return atomic_logic(atomic_truth(t, type) || atomic_truth(x, type), type);
	case ANGARA_ATOMIC_LXOR:
		return atomic_logic(atomic_truth(t, type) != atomic_truth(x, type), type);
	case ANGARA_ATOMIC_WRITE:
		return x;
	case ANGARA_ATOMIC_MSWAP:
		return (x & y) | (t & ~y);
	default:
		return swaps[aop] & atomic_compare(y, t, type) ? x : t;
	}
}

static void atomic_compute(void *t, const char *operands, u32 len, u32 type, u32 aop)
{
	bool two = ang_atomic_operands(aop) == 2;
	u32 size = ang_type_size(type);
	u32 i;

	if (aop <= ANGARA_ATOMIC_XOR) {
		ang_combine(t, operands, len, type, aop);
		return;
	}
	for (i = 0; i < len / size; i++) {
		u64 x = atomic_get(operands, i, size);
		u64 y = two ? atomic_get(operands + len, i, size) : 0;

		atomic_put(t, i, size, atomic_element(atomic_get(t, i, size), x, y, type, aop));
	}
}

u32 ang_atomic_operands(u32 aop)
{
	if (aop == ANGARA_ATOMIC_READ)
		return 0;
	return aop >= ANGARA_ATOMIC_CSWAP ? 2 : 1;
}

static_assert(ANGARA_ATOMIC_SUM == ANGARA_RED_SUM &&
	      ANGARA_ATOMIC_MIN == ANGARA_RED_MIN &&
	      ANGARA_ATOMIC_MAX == ANGARA_RED_MAX &&
	      ANGARA_ATOMIC_PROD == ANGARA_RED_PROD &&
	      ANGARA_ATOMIC_AND == ANGARA_RED_AND &&
	      ANGARA_ATOMIC_OR == ANGARA_RED_OR &&
	      ANGARA_ATOMIC_XOR == ANGARA_RED_XOR,
	      "an atomic operation and its reduction must have equal numbers");

bool ang_atomic_valid(u32 aop, u32 type)
{
	if (aop >= ANGARA_ATOMIC_NUM || type > ANGARA_TYPE_DOUBLE)
		return false;
	if (aop <= ANGARA_ATOMIC_XOR)
		return ang_reduction_valid(type, aop);
	return aop != ANGARA_ATOMIC_MSWAP || !format_of(type);
}

u32 ang_atomic_check(u32 aop, u32 type, u32 len)
{
	if (!ang_atomic_valid(aop, type) || !len || len > ANGARA_MAX_ATOMIC ||
	    len % ang_type_size(type) ||
	    len * ang_atomic_operands(aop) > ANGARA_MAX_ATOMIC)
		return ANGARA_ST_DESC;
	return ANGARA_ST_OK;
}

/**
 * ang_atomic_do() - execute an atomic operation at its target
 * @v: view
 * @n: node
 * @c: context at the target
 * @a: operation, which ang_atomic_check() accepts
 * @operands: @a->len bytes for each operand, aligned to 8 bytes
 * @old: out: previous value, @a->len bytes; may be NULL
 *
 * Return: ANGARA_ST_*.
 */
u32 ang_atomic_do(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		  const struct ang_atomic *a, const char *operands, void *old)
{
	bool reads = a->aop == ANGARA_ATOMIC_READ;
	u32 access = reads ? 0 : ANGARA_ACCESS_REMOTE_WRITE;
	u64 t[ANGARA_MAX_ATOMIC / 8];
	struct angara_hw_mr mr;
	u64 start;
	u32 status;

	if (a->fetch)
		access |= ANGARA_ACCESS_REMOTE_READ;
	status = ang_mr_find(v, n, c, a->key, a->off, a->len, access, &mr);
	if (status)
		return status;
	start = mr.levels ? le32_to_cpu(mr.first) : le64_to_cpu(mr.addr);
	if ((start + a->off) % ang_type_size(a->type))
		return ANGARA_ST_ALIGN;
	status = ang_mr_copy(v, n, &mr, a->off, a->len, t, NULL);
	if (status)
		return status;
	if (old)
		memcpy(old, t, a->len);
	if (reads)
		return ANGARA_ST_OK;
	ang_work(v, a->len);
	atomic_compute(t, operands, a->len, a->type, a->aop);
	return ang_mr_copy(v, n, &mr, a->off, a->len, NULL, t);
}

/**
 * ang_atomic_take() - execute the atomic operation of a packet
 * @v: view
 * @n: node
 * @c: context at the target
 * @p: request; a packet from another host may be invalid
 * @reply: answer; gets the previous value if it has a buffer
 *
 * Return: ANGARA_ST_*.
 */
u32 ang_atomic_take(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct ang_pkt *p, struct ang_pkt *reply)
{
	const struct ang_atomic a = {
		.aop = p->redop, .type = p->dtype, .fetch = p->flags & ANG_PF_FETCH,
		.len = p->bytes, .key = p->key, .off = p->off,
	};

	if (ang_atomic_check(a.aop, a.type, a.len) ||
	    p->len != a.len * ang_atomic_operands(a.aop) || (p->len && !p->buf))
		return ANGARA_ST_DESC;
	return ang_atomic_do(v, n, c, &a, p->buf ? ang_buf_data(v, p->buf) : NULL,
			     reply->buf ? ang_buf_data(v, reply->buf) : NULL);
}
