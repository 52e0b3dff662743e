// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Atomic operations, compared with the compiler's arithmetic.
 */
#include <string.h>

#include "msgs.h"

#define T_AT	0	/* offsets in a context's memory: target, operands,
			 * result */
#define X_AT	512
#define OLD_AT	1024

static const u32 sizes[] = { 4, 4, 8, 8, 4, 8 };

/* A word of any type. */
union value {
	s32 s32;
	u32 u32;
	s64 s64;
	u64 u64;
	float f;
	double d;
};

static const u64 special32[] = {
	0, 0x80000000, 0x7FC00000, 0x3F800000, 0xBF800000, 1, 0xFFFFFFFF,
	0x7F800000,
};
static const u64 special64[] = {
	0, 1ULL << 63, 0x7FF8ULL << 48, 0x3FF0ULL << 48, 0xBFF0ULL << 48, 1,
	~0ULL, 0x7FF0ULL << 48,
};

static union value pick(u64 *seed, u32 type)
{
	union value v = { .u64 = rnd(seed) };
	u32 which = rnd(seed) % 16;

	if (which < 8)
		v.u64 = sizes[type] == 4 ? special32[which] : special64[which];
	else if (which < 12)
		v.u64 &= 3;
	return v;
}

#define CMP(op) do {							\
	switch (type) {							\
	case ANGARA_TYPE_INT32: return y.s32 op t.s32;			\
	case ANGARA_TYPE_UINT32: return y.u32 op t.u32;			\
	case ANGARA_TYPE_INT64: return y.s64 op t.s64;			\
	case ANGARA_TYPE_UINT64: return y.u64 op t.u64;			\
	case ANGARA_TYPE_FLOAT: return y.f op t.f;			\
	default: return y.d op t.d;					\
	}								\
} while (0)

static bool swaps(union value t, union value y, u32 type, u32 op)
{
	switch (op) {
	case ANGARA_ATOMIC_CSWAP: CMP(==);
	case ANGARA_ATOMIC_CSWAP_NE: CMP(!=);
	case ANGARA_ATOMIC_CSWAP_LE: CMP(<=);
	case ANGARA_ATOMIC_CSWAP_LT: CMP(<);
	case ANGARA_ATOMIC_CSWAP_GE: CMP(>=);
	default: CMP(>);
	}
}

static bool truth(union value t, u32 type)
{
	switch (type) {
	case ANGARA_TYPE_FLOAT:
		return t.f != 0;
	case ANGARA_TYPE_DOUBLE:
		return t.d != 0;
	default:
		return sizes[type] == 4 ? t.u32 : t.u64;
	}
}

static union value number(bool one, u32 type)
{
	union value v = { .u64 = one };

	if (type == ANGARA_TYPE_FLOAT)
		v.f = one;
	if (type == ANGARA_TYPE_DOUBLE)
		v.d = one;
	return v;
}

/*
 * Return: the result of an operation. ang_combine(), which has a test of its
 * own, computes those that it implements.
 */
static union value expected(union value t, union value x, union value y,
			    u32 type, u32 op)
{
	union value v = { .u64 = (x.u64 & y.u64) | (t.u64 & ~y.u64) };

	switch (op) {
	case ANGARA_ATOMIC_LAND:
		return number(truth(t, type) && truth(x, type), type);
	case ANGARA_ATOMIC_LOR:
		return number(truth(t, type) || truth(x, type), type);
	case ANGARA_ATOMIC_LXOR:
		return number(truth(t, type) != truth(x, type), type);
	case ANGARA_ATOMIC_READ:
		return t;
	case ANGARA_ATOMIC_WRITE:
		return x;
	case ANGARA_ATOMIC_MSWAP:
		return v;
	default:
		break;
	}
	if (op > ANGARA_ATOMIC_MSWAP || op < ANGARA_ATOMIC_LAND) {
		ang_combine(&t, &x, sizes[type], type, op);
		return t;
	}
	return swaps(t, y, type, op) ? x : t;
}

static u32 operands(u32 op)
{
	if (op == ANGARA_ATOMIC_READ)
		return 0;
	return op < ANGARA_ATOMIC_CSWAP ? 1 : 2;
}

static struct angara_wqe wqe_atomic(const struct tctx *to, u32 type, u32 op,
				    u32 len, bool fetch)
{
	struct angara_wqe w = wqe_p2p(fetch ? ANGARA_OP_FETCH :
					      ANGARA_OP_ATOMIC,
				      to->node, to->id, X_AT, T_AT, len);

	w.type = (u8)type;
	w.redop = (u8)op;
	if (fetch)
		w.aux = cpu_to_le64(OLD_AT);
	return w;
}

static void set(void *at, u32 type, u32 i, union value v)
{
	memcpy((char *)at + i * sizes[type], &v, sizes[type]);
}

static union value get(const void *at, u32 type, u32 i)
{
	union value v = { .u64 = 0 };

	memcpy(&v, (const char *)at + i * sizes[type], sizes[type]);
	return v;
}

static void one(struct tctx *a, struct tctx *b, u32 type, u32 op, u64 *seed)
{
	u32 two = operands(op) == 2;
	u32 n = 1 + (u32)(rnd(seed) % (ANGARA_MAX_ATOMIC / sizes[type] >> two));
	bool fetch = op == ANGARA_ATOMIC_READ || rnd(seed) & 1;
	bool inl = rnd(seed) & 1;
	struct angara_wqe w = wqe_atomic(b, type, op, n * sizes[type], fetch);
	char t[ANGARA_MAX_ATOMIC], x[ANGARA_MAX_ATOMIC];
	struct angara_cqe cqe;
	u32 i;

	for (i = 0; i < n; i++)
		set(t, type, i, pick(seed, type));
	for (i = 0; i < n * operands(op); i++)
		set(x, type, i, pick(seed, type));
	memcpy(b->buf + T_AT, t, n * sizes[type]);
	memset(a->buf + OLD_AT, 0x5A, 512);
	memcpy(a->buf + X_AT, x, n * sizes[type] * operands(op));
	w.flags = inl ? ANGARA_WQE_INLINE : 0;
	w.lkey = cpu_to_le32(inl ? 99 : BUF_KEY);
	post_bytes(a, &w, x, inl ? n * sizes[type] * operands(op) : 0);
	kick(a);
	EXPECT_EQ(finish(a, &cqe), ANGARA_ST_OK);
	EXPECT_EQ(le32_to_cpu(cqe.length), n * sizes[type]);
	for (i = 0; i < n; i++) {
		union value was = get(t, type, i);
		union value y = two ? get(x, type, n + i) : was;
		union value want = { .u64 = 0 };
		union value got = get(b->buf + T_AT, type, i);

		set(&want, type, 0, expected(was, get(x, type, i), y, type, op));
		EXPECT_EQ(got.u64, want.u64);
		if (fetch)
			EXPECT_EQ(get(a->buf + OLD_AT, type, i).u64, was.u64);
	}
	if (!fetch)
		EXPECT_EQ((u8)a->buf[OLD_AT], 0x5A);
	EXPECT_EQ((u8)a->buf[OLD_AT + 256], 0x5A);
}

static bool valid(u32 type, u32 op)
{
	bool bits = (op >= ANGARA_ATOMIC_AND && op <= ANGARA_ATOMIC_XOR) ||
		    op == ANGARA_ATOMIC_MSWAP;

	return type < ANGARA_TYPE_FLOAT || !bits;
}

static void every(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("3", &cfg);
	struct tctx *c[3];
	u32 type, op, i;
	u64 seed = 99;

	for (i = 0; i < 3; i++)
		c[i] = member(h, i, i);
	for (type = 0; type < NUM(sizes); type++)
		for (op = 0; op < ANGARA_ATOMIC_NUM; op++) {
			EXPECT_EQ(ang_atomic_valid(op, type), valid(type, op));
			for (i = 0; i < 12 && valid(type, op); i++)
				one(c[0], c[i % 3], type, op, &seed);
		}
	for (type = NUM(sizes); type < 256; type++)
		EXPECT(!ang_atomic_valid(ANGARA_ATOMIC_SUM, type));
	for (op = ANGARA_ATOMIC_NUM; op < 256; op++)
		EXPECT(!ang_atomic_valid(op, ANGARA_TYPE_INT32));
	for (i = 0; i < 3; i++)
		ctx_del(c[i]);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

/* All contexts add to one word, and no two of them read the same value. */
static void counts(const char *dims, const struct ang_cfg *cfg)
{
	struct host *h = host_new(dims, cfg);
	struct tctx *c[16];
	u8 seen[16 * 24] = { 0 };
	const u64 one = cpu_to_le64(1);
	struct angara_cqe cqe;
	u64 total;
	u32 i, k;

	EXPECT(h->nodes <= NUM(c));
	for (i = 0; i < h->nodes; i++)
		c[i] = member(h, i, 0);
	for (k = 0; k < 24; k++)
		for (i = 0; i < h->nodes; i++) {
			struct angara_wqe w = wqe_atomic(c[0],
				ANGARA_TYPE_UINT64, ANGARA_ATOMIC_SUM, 8, true);

			w.flags = ANGARA_WQE_INLINE | ANGARA_WQE_NOTIFY;
			w.counter = cpu_to_le16(7);
			w.aux = cpu_to_le64(OLD_AT + 8 * k);
			post(c[i], &w, &one);
			kick(c[i]);
			if (k % 3 == 2) {
				host_run(h);
				while (poll_cq(c[i], &cqe))
					EXPECT_EQ(le16_to_cpu(cqe.status),
						  ANGARA_ST_OK);
			}
		}
	host_run(h);
	for (i = 0; i < h->nodes; i++)
		for (k = 0; k < 24; k++) {
			memcpy(&total, c[i]->buf + OLD_AT + 8 * k, 8);
			EXPECT(total < 24 * h->nodes && !seen[total]);
			seen[total] = 1;
		}
	memcpy(&total, c[0]->buf + T_AT, 8);
	EXPECT_EQ(total, 24 * h->nodes);
	EXPECT_EQ(ctx_counter(c[0], ANGARA_CTR_USER(7)), 24 * h->nodes);
	for (i = 0; i < h->nodes; i++)
		ctx_del(c[i]);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

static void counts_all(void)
{
	counts("4x4", &cfg_default);
	counts("3", &cfg_tight);
	counts("2x2x2", &cfg_tight);
	counts("1", &cfg_tight);
}

static void refused(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("2", &cfg);
	struct tctx *a = member(h, 0, 0), *b = member(h, 1, 0);
	struct tctx *other = ctx_new(h, 1, 1, PKEY + 1, 3, 3);
	struct angara_hw_mr *mr = &b->mrt[BUF_KEY];
	struct angara_wqe good = wqe_atomic(b, ANGARA_TYPE_INT64,
					    ANGARA_ATOMIC_SUM, 16, true);
	struct angara_wqe cas = wqe_atomic(b, ANGARA_TYPE_INT32,
					   ANGARA_ATOMIC_CSWAP, 16, false);
	struct angara_wqe w;
	u32 i;

#define IS(base, member, value, status)				\
do {									\
	w = base;							\
	w.member = value;						\
	EXPECT_EQ(status_of(a, w), status);				\
} while (0)
	IS(good, redop, ANGARA_ATOMIC_NUM, ANGARA_ST_DESC);
	IS(good, type, ANGARA_TYPE_INT32_LOC, ANGARA_ST_DESC);
	IS(good, length, 0, ANGARA_ST_DESC);
	IS(good, length, cpu_to_le32(12), ANGARA_ST_DESC);
	IS(good, length, cpu_to_le32(264), ANGARA_ST_DESC);
	IS(cas, length, cpu_to_le32(132), ANGARA_ST_DESC);
	IS(cas, aux, cpu_to_le64(8), ANGARA_ST_DESC);
	IS(cas, aux_key, cpu_to_le32(1), ANGARA_ST_DESC);
	IS(cas, redop, ANGARA_ATOMIC_READ, ANGARA_ST_DESC);
	IS(good, dst_node, cpu_to_le32(2), ANGARA_ST_TARGET);
	IS(good, dst_ctx, cpu_to_le16(3), ANGARA_ST_TARGET);
	IS(good, dst_ctx, cpu_to_le16((u16)other->id), ANGARA_ST_PARTITION);
	IS(good, rkey, cpu_to_le64(5), ANGARA_ST_KEY);
	IS(good, lkey, cpu_to_le32(5), ANGARA_ST_KEY);
	IS(good, aux_key, cpu_to_le32(5), ANGARA_ST_KEY);
	IS(good, roff, cpu_to_le64(MSG_MEMORY - 8), ANGARA_ST_BOUNDS);
	IS(good, loff, cpu_to_le64(MSG_MEMORY - 8), ANGARA_ST_BOUNDS);
	IS(good, aux, cpu_to_le64(MSG_MEMORY - 8), ANGARA_ST_BOUNDS);
	IS(cas, loff, cpu_to_le64(MSG_MEMORY - 24), ANGARA_ST_BOUNDS);
	for (i = 1; i < 8; i++)
		IS(good, roff, cpu_to_le64(i), ANGARA_ST_ALIGN);
	IS(cas, roff, cpu_to_le64(4), ANGARA_ST_OK);
	IS(cas, roff, cpu_to_le64(2), ANGARA_ST_ALIGN);
	/* The alignment depends on the start of the region, too. */
	mr->addr = cpu_to_le64(le64_to_cpu(mr->addr) + 4);
	mr->length = cpu_to_le64(MSG_MEMORY - 8);
	EXPECT_EQ(status_of(a, good), ANGARA_ST_ALIGN);
	IS(good, roff, cpu_to_le64(4), ANGARA_ST_OK);
	mr->access = ANGARA_ACCESS_REMOTE_WRITE;
	EXPECT_EQ(status_of(a, w), ANGARA_ST_ACCESS);
	EXPECT_EQ(status_of(a, cas), ANGARA_ST_OK);
	mr->access = ANGARA_ACCESS_REMOTE_READ;
	EXPECT_EQ(status_of(a, w), ANGARA_ST_ACCESS);
	EXPECT_EQ(status_of(a, cas), ANGARA_ST_ACCESS);
	w.redop = ANGARA_ATOMIC_READ;
	EXPECT_EQ(status_of(a, w), ANGARA_ST_OK);
	a->mrt[BUF_KEY].access = 0;
	EXPECT_EQ(status_of(a, w), ANGARA_ST_ACCESS);
#undef IS
	EXPECT_EQ(h->faults, 0);
	/* The target is unreachable memory: first for reads, then for writes. */
	mr->access = ANGARA_ACCESS_ALL;
	mr->addr = cpu_to_le64(1ULL << 40);
	EXPECT_EQ(status_of(a, cas), ANGARA_ST_DMA);
	EXPECT(h->faults);
	ctx_del(a);
	ctx_del(b);
	ctx_del(other);
	host_free(h);
}

/* The target is in a read-only page: the operation must not report success. */
static void readonly(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("2", &cfg);
	struct tctx *a = member(h, 0, 0), *b = member(h, 1, 0);
	struct host_node *n = &h->node[1];
	struct angara_wqe w = wqe_atomic(b, ANGARA_TYPE_INT64,
					 ANGARA_ATOMIC_SUM, 16, true);

	n->seg[n->nsegs - 1].readonly = 1;
	EXPECT_EQ(status_of(a, w), ANGARA_ST_DMA);
	EXPECT(h->faults);
	n->seg[n->nsegs - 1].readonly = 0;
	EXPECT_EQ(status_of(a, w), ANGARA_ST_OK);
	ctx_del(a);
	ctx_del(b);
	host_free(h);
}

/* The target checks packets from other nodes again. */
static void packets(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("2", &cfg);
	struct tctx *b = member(h, 1, 0);
	struct ang_node *n = ang_node(h->fab, 1);
	struct ang_ctx *c = ang_ctx(h->fab, n, 0);
	u64 buf = ang_buf_get(&h->v, n, ANG_BUF_REQ);
	struct ang_pkt good = {
		.type = ANG_PKT_ATOMIC, .dtype = ANGARA_TYPE_INT64,
		.redop = ANGARA_ATOMIC_SUM, .npkts = 1, .len = 16, .bytes = 16,
		.buf = buf,
	};
	struct ang_pkt reply = { .type = 0 };
	struct ang_pkt p;

#define IS(member, value, status)					\
do {									\
	p = good;							\
	p.member = value;						\
	EXPECT_EQ(ang_atomic_take(&h->v, n, c, &p, &reply), status);	\
} while (0)
	IS(len, 16, ANGARA_ST_OK);
	IS(len, 8, ANGARA_ST_DESC);
	IS(len, 32, ANGARA_ST_DESC);
	IS(bytes, 24, ANGARA_ST_DESC);
	IS(bytes, 0, ANGARA_ST_DESC);
	IS(bytes, 4096, ANGARA_ST_DESC);
	IS(redop, 77, ANGARA_ST_DESC);
	IS(dtype, 77, ANGARA_ST_DESC);
	IS(buf, 0, ANGARA_ST_DESC);
#undef IS
	ang_buf_put(&h->v, buf, 1);
	ctx_del(b);
	host_free(h);
}

const struct test_case atomic_cases[] = {
	{ "atomic: every operation on every type", every },
	{ "atomic: all add to one word", counts_all },
	{ "atomic: refused operations", refused },
	{ "atomic: memory that cannot be written", readonly },
	{ "atomic: forged packets", packets },
	{ NULL, NULL },
};
