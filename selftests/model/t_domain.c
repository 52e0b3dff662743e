// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Domains: keys that cannot be guessed, jobs that do not reach each other,
 * tables that grow, contexts that share regions.
 */
#include <string.h>

#include "coll.h"
#include "test.h"

#define KEY	0x8C5A93E1F7420003ULL	/* key of entry 3 */
#define JOB	0xA5F00D5EC2E74321ULL
#define LEN	256U

static struct host *h;

/* Makes a context with memory, in a domain with @job; both have number @id. */
static struct tctx *in_job(u32 node, u32 id, u64 job)
{
	struct angara_hw_mr *mrt = dom_new(h, node, id, PKEY, job, MRS);
	struct tctx *c = ctx_in(h, node, id, id, mrt, 5, 5);

	c->own_dom = 1;
	ctx_buffer(c, 65536);
	ctx_mr(c, KEY, le64_to_cpu(mrt[BUF_KEY].addr), 65536,
	       ANGARA_ACCESS_ALL);
	return c;
}

static struct angara_wqe entry(u32 op, const struct tctx *to, u64 key)
{
	bool atomic = op == ANGARA_OP_ATOMIC || op == ANGARA_OP_FETCH;
	struct angara_wqe w = wqe_p2p(op, to->node, to->id, 0, 8192,
				      atomic ? 8 : LEN);

	w.rkey = cpu_to_le64(key);
	if (atomic)
		w.type = ANGARA_TYPE_UINT64;
	if (op == ANGARA_OP_FETCH)
		w.aux = cpu_to_le64(4096);
	return w;
}

static const u32 remote_ops[] = {
	ANGARA_OP_PUT, ANGARA_OP_GET, ANGARA_OP_ATOMIC, ANGARA_OP_FETCH,
};

/* With any single bit of the key wrong, nothing is read or written. */
static void wrong_keys(void)
{
	struct tctx *a, *b;
	u32 i, bit;

	h = host_new("2", &cfg_default);
	a = in_job(0, 0, 0);
	b = in_job(1, 0, 0);
	memset(a->buf, 0x11, 65536);
	memset(b->buf, 0x22, 65536);
	for (i = 0; i < NUM(remote_ops); i++)
		for (bit = 0; bit < 64; bit++)
			EXPECT_EQ(status_of(a, entry(remote_ops[i], b,
						     KEY ^ 1ULL << bit)),
				  ANGARA_ST_KEY);
	for (i = 0; i < 65536; i++)
		EXPECT(a->buf[i] == 0x11 && b->buf[i] == 0x22);
	for (i = 0; i < NUM(remote_ops); i++)
		EXPECT_EQ(status_of(a, entry(remote_ops[i], b, KEY)),
			  ANGARA_ST_OK);
	/* The entry gets another key when it is used again. */
	ctx_mr(b, KEY + (1ULL << 63), le64_to_cpu(b->mrt[3].addr), 65536,
	       ANGARA_ACCESS_ALL);
	EXPECT_EQ(status_of(a, entry(ANGARA_OP_PUT, b, KEY)), ANGARA_ST_KEY);
	EXPECT_EQ(h->faults, 0);
	ctx_del(a);
	ctx_del(b);
	host_free(h);
}

/* An operation names local memory by a slot number.  The adapter checks all bits of it. */
static void local_slots(void)
{
	struct angara_wqe w;
	struct tctx *a;

	h = host_new("2", &cfg_default);
	a = in_job(0, 0, 0);
	w = entry(ANGARA_OP_FETCH, a, KEY);
	w.lkey = cpu_to_le32(3);
	w.aux_key = cpu_to_le32(3);
	EXPECT_EQ(status_of(a, w), ANGARA_ST_OK);
	w.lkey = cpu_to_le32(0x10003);
	EXPECT_EQ(status_of(a, w), ANGARA_ST_KEY);
	w.lkey = cpu_to_le32(3);
	w.aux_key = cpu_to_le32(0x80000003);
	EXPECT_EQ(status_of(a, w), ANGARA_ST_KEY);
	w = entry(ANGARA_OP_GET, a, KEY);
	w.lkey = cpu_to_le32(0x10003);
	EXPECT_EQ(status_of(a, w), ANGARA_ST_KEY);
	ctx_del(a);
	host_free(h);
}

/* A broadcast is written on nodes that have its key, and refused on others. */
static void wrong_key_of_broadcast(void)
{
	static const u16 pe[2] = { 1, 1 };
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 2, 0, 8192, LEN);
	struct tctx *c[2];
	struct ttree *t;
	u32 bit;

	h = host_new("2", &cfg_default);
	c[0] = in_job(0, 0, 0);
	c[1] = in_job(1, 0, 0);
	t = tree_new(h, 2, 0, pe, c, 2, 1);
	w.rkey = cpu_to_le64(KEY);
	memset(c[0]->buf, 0x11, LEN);
	for (bit = 0; bit < 64; bit++) {
		c[1]->mrt[3].key = cpu_to_le64(KEY ^ 1ULL << bit);
		EXPECT_EQ(status_of(c[0], w), ANGARA_ST_OK);
		EXPECT_EQ(ctx_counter(c[1], ANGARA_CTR_RX_ERRORS(2)), bit + 1);
		EXPECT_EQ(c[1]->buf[8192], 0);
	}
	c[1]->mrt[3].key = cpu_to_le64(KEY);
	EXPECT_EQ(status_of(c[0], w), ANGARA_ST_OK);
	EXPECT(!memcmp(c[1]->buf + 8192, c[0]->buf, LEN));
	tree_del(t);
	ctx_del(c[0]);
	ctx_del(c[1]);
	host_free(h);
}

static const u64 other_jobs[] = {
	0, JOB ^ 1, JOB ^ 1ULL << 31, JOB ^ 1ULL << 32, JOB ^ 1ULL << 63,
};

/* Both contexts know the keys, but they are in different jobs. */
static void jobs_apart(void)
{
	struct tctx *a, *b;
	struct tarea *area;
	u32 i, k;

	h = host_new("2", &cfg_default);
	b = in_job(1, 0, JOB);
	area = area_new(b, 14);
	memset(b->buf, 0x22, 65536);
	for (k = 0; k < NUM(other_jobs); k++) {
		a = in_job(0, 0, other_jobs[k]);
		memset(a->buf, 0x11, 65536);
		for (i = 0; i < NUM(remote_ops); i++) {
			EXPECT_EQ(status_of(a, entry(remote_ops[i], b, KEY)),
				  ANGARA_ST_PARTITION);
			EXPECT_EQ(status_of(b, entry(remote_ops[i], a, KEY)),
				  ANGARA_ST_PARTITION);
		}
		EXPECT_EQ(status_of(a, entry(ANGARA_OP_SEND, b, 0)),
			  ANGARA_ST_PARTITION);
		EXPECT(!area_next(area, NULL));
		for (i = 0; i < 65536; i++)
			EXPECT(a->buf[i] == 0x11 && b->buf[i] == 0x22);
		ctx_del(a);
	}
	a = in_job(0, 0, JOB);
	for (i = 0; i < NUM(remote_ops); i++)
		EXPECT_EQ(status_of(a, entry(remote_ops[i], b, KEY)),
			  ANGARA_ST_OK);
	EXPECT_EQ(status_of(a, entry(ANGARA_OP_SEND, b, 0)), ANGARA_ST_OK);
	EXPECT(area_next(area, NULL));
	ctx_del(a);
	ctx_del(b);
	free(area);
	host_free(h);
}

/* Fills the two rows of a tree over both nodes, with root 0. */
static void rows_of(struct angara_tree_row rows[2])
{
	struct angara_topo topo = { .ndims = 1, .dims = { 2 } };
	static const u16 pe[2] = { 2, 1 };
	u32 i;

	EXPECT_EQ(angara_tree_build(&topo, 0, pe, 5, rows), 2);
	for (i = 0; i < 2; i++) {
		rows[i].pkey = PKEY;
		rows[i].epoch = 1;
	}
}

static void joining_job(void)
{
	struct angara_tree_row rows[2];
	struct tctx *c;
	u32 i;

	h = host_new("2", &cfg_default);
	rows_of(rows);
	EXPECT_EQ(adm_job_row(h, 0, &rows[0], JOB), ANGARA_ADM_ST_OK);
	for (i = 0; i < NUM(other_jobs); i++) {
		c = in_job(0, 1, other_jobs[i]);
		EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 1, 5),
			  ANGARA_ADM_ST_PARTITION);
		ctx_del(c);
	}
	c = in_job(0, 1, JOB);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 1, 5), ANGARA_ADM_ST_OK);
	ctx_del(c);
	/* A row without a job belongs to the whole partition. */
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_TREE_CLEAR, 0, 5), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_job_row(h, 0, &rows[0], 0), ANGARA_ADM_ST_OK);
	c = in_job(0, 1, JOB);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 1, 5), ANGARA_ADM_ST_OK);
	ctx_del(c);
	c = in_job(0, 1, 0);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 1, 5), ANGARA_ADM_ST_DOWN);
	ctx_del(c);
	host_free(h);
}

static u64 dropped(u32 node)
{
	return ang_node(h->fab, node)->drops[ANGARA_DROP_PARTITION];
}

/* Rows of two jobs do not form one tree: no packet passes between them. */
static void trees_apart(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 5, 0, 8192, LEN);
	struct angara_tree_row rows[2];
	struct angara_cqe cqe;
	struct tctx *a, *b;

	h = host_new("2", &cfg_default);
	rows_of(rows);
	rows[0].pe = 1;
	a = in_job(0, 0, JOB);
	b = in_job(1, 0, JOB ^ 1ULL << 40);
	EXPECT_EQ(adm_job_row(h, 0, &rows[0], JOB), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_job_row(h, 1, &rows[1], JOB ^ 1ULL << 40),
		  ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 0, 5), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(h, 1, ANGARA_ADM_JOIN, 0, 5), ANGARA_ADM_ST_OK);
	w.rkey = cpu_to_le64(KEY);
	post(a, &w, NULL);
	kick(a);
	host_run(h);
	EXPECT(!poll_cq(a, &cqe));
	EXPECT(dropped(0) || dropped(1));
	EXPECT_EQ(ctx_counter(b, ANGARA_CTR_BCAST(5)), 0);
	EXPECT_EQ(b->buf[8192], 0);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_TREE_CLEAR, 0, 5), ANGARA_ADM_ST_OK);
	EXPECT_EQ(finish(a, &cqe), ANGARA_ST_TREE_DOWN);
	ctx_del(a);
	ctx_del(b);
	host_free(h);
}

/*
 * A forged result that does not name the job of the waiting operation is
 * dropped.
 */
static void forged_result(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_REDUCE, 5, 0, 8192, LEN);
	struct angara_tree_row rows[2];
	struct ang_node *n;
	struct ang_pkt p;
	struct ang_op *op;
	struct tctx *c[2];
	u32 i, dir;

	h = host_new("2", &cfg_default);
	n = ang_node(h->fab, 1);
	rows_of(rows);
	rows[0].pe = 1;
	for (i = 0; i < 2; i++) {
		c[i] = in_job(i, 0, JOB);
		EXPECT_EQ(adm_job_row(h, i, &rows[i], JOB), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_op(h, i, ANGARA_ADM_JOIN, 0, 5), ANGARA_ADM_ST_OK);
	}
	host_run(h);
	w.dst_node = cpu_to_le32(1);
	op = ang_op(n, ang_ctx(h->fab, n, 0),
		    ang_lowest(ang_ctx(h->fab, n, 0)->free));
	post(c[1], &w, NULL);
	kick(c[1]);
	host_run(h);
	EXPECT_EQ(n->tree[5].done, 1);
	p = (struct ang_pkt){
		.type = ANG_PKT_RESULT, .tree = 5, .npkts = 1, .len = LEN,
		.dtype = op->type, .redop = op->redop, .pkey = PKEY,
		.job = JOB ^ 1ULL << 33, .dst_node = 1, .gen = op->gen,
		.slot = (u16)ang_op_slot(n, ang_ctx(h->fab, n, 0), op),
		.life = n->tree[5].life, .seq = op->seq,
		.status = ANGARA_ST_DMA,
	};
	dir = rows[1].to_root;
	EXPECT(ang_remote_give(&h->v, ang_port(h->fab, n, dir)->peer, dir ^ 1, ANGARA_VC_RSP,
			       &p, NULL));
	host_run(h);
	EXPECT_EQ(n->drops[ANGARA_DROP_ORDER], 1);
	EXPECT_EQ(op->status, ANGARA_ST_OK);
	post(c[0], &w, NULL);
	kick(c[0]);
	EXPECT_EQ(finish(c[0], NULL), ANGARA_ST_OK);
	EXPECT_EQ(finish(c[1], NULL), ANGARA_ST_OK);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(adm_op(h, i, ANGARA_ADM_TREE_CLEAR, 0, 5),
			  ANGARA_ADM_ST_OK);
	ctx_del(c[0]);
	ctx_del(c[1]);
	host_free(h);
}

/* Contexts share a domain, whose regions outlive its contexts. */
static void sharing(void)
{
	struct angara_wqe w;
	struct angara_hw_mr *mrt;
	struct tctx *a, *b[2];
	u32 i;

	h = host_new("2", &cfg_default);
	a = in_job(0, 0, JOB);
	mrt = dom_new(h, 1, 3, PKEY, JOB, MRS);
	for (i = 0; i < 2; i++)
		b[i] = ctx_in(h, 1, i, 3, mrt, 5, 5);
	ctx_buffer(b[0], 65536);
	ctx_mr(b[0], KEY, le64_to_cpu(mrt[BUF_KEY].addr), 65536,
	       ANGARA_ACCESS_ALL);
	memset(a->buf, 0x33, LEN);
	for (i = 0; i < 2; i++) {
		memset(b[0]->buf + 8192, 0, LEN);
		w = entry(ANGARA_OP_PUT, b[i], KEY);
		w.flags = ANGARA_WQE_NOTIFY;
		w.counter = cpu_to_le16(7);
		EXPECT_EQ(status_of(a, w), ANGARA_ST_OK);
		EXPECT(!memcmp(b[0]->buf + 8192, a->buf, LEN));
		EXPECT_EQ(ctx_counter(b[i], ANGARA_CTR_USER(7)), 1);
		EXPECT_EQ(ctx_counter(b[!i], ANGARA_CTR_USER(7)), i);
		/*
		 * Each context sends from the buffer of the other one, which
		 * the domain owns.
		 */
		EXPECT_EQ(status_of(b[i], entry(ANGARA_OP_PUT, a, KEY)),
			  ANGARA_ST_OK);
	}
	EXPECT_EQ(adm_op(h, 1, ANGARA_ADM_DOMAIN_DESTROY, 3, 0),
		  ANGARA_ADM_ST_EXISTS);
	memset(b[0]->buf + 8192, 0, LEN);
	EXPECT_EQ(adm_op(h, 1, ANGARA_ADM_CTX_DESTROY, 0, 0), ANGARA_ADM_ST_OK);
	EXPECT_EQ(status_of(a, entry(ANGARA_OP_PUT, b[1], KEY)), ANGARA_ST_OK);
	EXPECT(!memcmp(b[0]->buf + 8192, a->buf, LEN));
	EXPECT_EQ(status_of(a, entry(ANGARA_OP_PUT, b[0], KEY)),
		  ANGARA_ST_TARGET);
	mrt[3].valid = 0;
	EXPECT_EQ(status_of(a, entry(ANGARA_OP_PUT, b[1], KEY)), ANGARA_ST_KEY);
	EXPECT_EQ(h->faults, 0);
	free(b[0]);
	ctx_del(b[1]);
	EXPECT_EQ(adm_op(h, 1, ANGARA_ADM_DOMAIN_DESTROY, 3, 0),
		  ANGARA_ADM_ST_OK);
	ctx_del(a);
	host_free(h);
}

/*
 * 10 000 regions of 8 bytes, for two contexts of one domain.  The table doubles
 * while puts are in flight, and the old table is invalidated at once.
 */
static void growing_table(void)
{
	enum { REGIONS = 10000, FIRST = 16 };
	struct angara_hw_mr *mrt, *old;
	u32 entries = FIRST, i, k, done = 0;
	struct tctx *a, *b[2];
	struct angara_cqe cqe;
	u64 seed = 77, addr, *mem;
	u64 *key = calloc(REGIONS, sizeof(*key));

	h = host_new("2", &cfg_default);
	a = in_job(0, 0, JOB);
	mrt = dom_new(h, 1, 2, PKEY, JOB, entries);
	for (i = 0; i < 2; i++)
		b[i] = ctx_in(h, 1, i, 2, mrt, 5, 5);
	mem = host_alloc(h, 1, REGIONS * 8, &addr);
	for (i = 0; i < REGIONS; i++) {
		struct angara_wqe w;
		u64 value;

		if (i == entries) {
			run_steps(&h->v, 1 + rnd(&seed) % 3);
			old = mrt;
			mrt = dom_table(h, 1, 2, 2 * entries, old, entries);
			memset(old, 0xFF, entries * sizeof(*old));
			b[0]->mrt = b[1]->mrt = mrt;
			entries *= 2;
		}
		key[i] = rnd(&seed) << 16 | i;
		ctx_mr(b[0], key[i], addr + 8 * i, 8, ANGARA_ACCESS_ALL);
		for (k = 0; k < 2; k++) {
			u32 which = k ? (u32)(rnd(&seed) % (i + 1)) : i;

			value = ~(u64)which;
			w = wqe_p2p(ANGARA_OP_PUT, 1, k, 0, 0, 8);
			w.rkey = cpu_to_le64(key[which]);
			w.flags = ANGARA_WQE_INLINE;
			post(a, &w, &value);
		}
		kick(a);
		if (i % 4 == 3) {
			host_run(h);
			for (; poll_cq(a, &cqe); done++)
				EXPECT_EQ(le16_to_cpu(cqe.status), 0);
		}
	}
	host_run(h);
	for (; poll_cq(a, &cqe); done++)
		EXPECT_EQ(le16_to_cpu(cqe.status), 0);
	EXPECT_EQ(done, 2 * REGIONS);
	for (i = 0; i < REGIONS; i++)
		EXPECT_EQ(mem[i], ~(u64)i);
	EXPECT_EQ(h->faults, 0);
	free(key);
	ctx_del(a);
	ctx_del(b[0]);
	ctx_del(b[1]);
	EXPECT_EQ(adm_op(h, 1, ANGARA_ADM_DOMAIN_DESTROY, 2, 0),
		  ANGARA_ADM_ST_OK);
	host_free(h);
}

const struct test_case domain_cases[] = {
	{ "domain: a key with one bit wrong", wrong_keys },
	{ "domain: own regions by their slots", local_slots },
	{ "domain: a broadcast with another key", wrong_key_of_broadcast },
	{ "domain: jobs do not reach each other", jobs_apart },
	{ "domain: joining the tree of a job", joining_job },
	{ "domain: rows of two jobs", trees_apart },
	{ "domain: a result of another job", forged_result },
	{ "domain: contexts share regions", sharing },
	{ "domain: 10 000 regions, a table that grows", growing_table },
	{ NULL, NULL },
};
