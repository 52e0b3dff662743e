// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of the memory that a context and the adapter share. */
#include <linux/log2.h>
#include <linux/mm.h>

#include "fake.h"

/* Numbers of entries of the two queues. */
struct queue_size {
	u32 sq;
	u32 cq;
};

static const struct queue_size sizes[] = {
	{ ANG_MIN_ENTRIES, ANG_MIN_ENTRIES },
	{ 64, 128 },		/* one page per queue */
	{ 128, 256 },		/* two pages per queue */
	{ 1024, ANG_MIN_ENTRIES },
	{ ANG_MIN_ENTRIES, 4096 },
};

static void size_name(const struct queue_size *s, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "sq %u, cq %u", s->sq, s->cq);
}

KUNIT_ARRAY_PARAM(size, sizes, size_name);

static u32 pages_of(size_t bytes)
{
	return DIV_ROUND_UP(bytes, PAGE_SIZE);
}

/*
 * Each page of a list is mapped for the adapter, zeroed, and in no other list.
 */
static void expect_pages(struct fake *f, struct xarray *seen, u64 list, u32 count)
{
	struct kunit *test = f->test;
	u32 i;

	for (i = 0; i < count; i++) {
		unsigned long pfn = fake_list_pfn(f, list, i);

		KUNIT_ASSERT_TRUE(test, fake_is_mapped(f, pfn));
		KUNIT_EXPECT_NULL(test, xa_load(seen, pfn));
		KUNIT_ASSERT_EQ(test, 0, xa_err(xa_store(seen, pfn, f,
							 GFP_KERNEL)));
		KUNIT_EXPECT_NULL(test, memchr_inv(page_address(pfn_to_page(pfn)),
						   0, PAGE_SIZE));
	}
}

static void lists_name_the_pages(struct kunit *test)
{
	const struct queue_size *s = test->param_value;
	struct fake *f = test->priv;
	struct angara_adm_domain *d = &f->last[ANGARA_ADM_DOMAIN_CREATE].domain;
	struct angara_adm_ctx *c = &f->last[ANGARA_ADM_CTX_CREATE].create;
	u32 sq = pages_of(s->sq * sizeof(struct angara_wqe));
	u32 cq = pages_of(s->cq * sizeof(struct angara_cqe));
	u32 mrt = pages_of(ANG_FIRST_MRS * sizeof(struct angara_hw_mr));
	struct xarray seen;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	KUNIT_ASSERT_EQ(test, 0, fake_ctx(f, filp, s->sq, s->cq));
	KUNIT_EXPECT_EQ(test, ilog2(s->sq), c->sq_log2);
	KUNIT_EXPECT_EQ(test, ilog2(s->cq), c->cq_log2);
	KUNIT_EXPECT_EQ(test, ANG_FIRST_MRS, le32_to_cpu(d->mrs));
	KUNIT_EXPECT_EQ(test, sq + cq + mrt + 2, fake_pages(f));

	xa_init(&seen);
	expect_pages(f, &seen, le64_to_cpu(c->sq), sq);
	expect_pages(f, &seen, le64_to_cpu(c->cq), cq);
	expect_pages(f, &seen, le64_to_cpu(d->mrt), mrt);
	xa_destroy(&seen);
	KUNIT_EXPECT_NOT_NULL(test, fake_at(f, le64_to_cpu(c->ctl), PAGE_SIZE));
	KUNIT_EXPECT_NOT_NULL(test, fake_at(f, le64_to_cpu(c->ctr), PAGE_SIZE));
}

/* Each kind of memory is at an offset of its own; there is no doorbell page. */
static void offsets_differ(struct kunit *test)
{
	struct angara_ctx_create c;
	struct fake *f = test->priv;
	struct file *filp;
	u64 longest;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	KUNIT_ASSERT_EQ(test, 0, fake_domain(f, filp, 0));
	KUNIT_ASSERT_EQ(test, 0, fake_ctx_in(f, filp, ANG_MAX_SQ_ENTRIES,
					     ANG_MAX_CQ_ENTRIES, &c));
	longest = ANG_MAX_SQ_ENTRIES * sizeof(struct angara_wqe);
	KUNIT_EXPECT_GE(test, c.cq_offset - c.sq_offset, longest);
	KUNIT_EXPECT_GE(test, c.ctl_offset - c.cq_offset, longest);
	KUNIT_EXPECT_GE(test, c.ctr_offset - c.ctl_offset, (u64)PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, 0ULL, c.db_offset);
}

static void failing_dma_undoes_all(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;
	size_t bytes;
	u32 n, pages;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	bytes = fake_bytes(f);
	for (n = 1; ; n++) {
		f->fail = n;
		if (!fake_domain(f, filp, 0))
			break;
		KUNIT_ASSERT_EQ(test, 0, f->fail);
		KUNIT_EXPECT_EQ(test, bytes, fake_bytes(f));
		KUNIT_EXPECT_EQ(test, 0, fake_pages(f));
	}
	KUNIT_EXPECT_EQ(test, 3, n); /* two calls can fail: dma_alloc, dma_map */
	f->fail = 0;
	bytes = fake_bytes(f);
	pages = fake_pages(f);
	for (n = 1; ; n++) {
		f->fail = n;
		if (!fake_ctx(f, filp, 64, 64))
			break;
		KUNIT_ASSERT_EQ(test, 0, f->fail);
		KUNIT_EXPECT_EQ(test, bytes, fake_bytes(f));
		KUNIT_EXPECT_EQ(test, pages, fake_pages(f));
		KUNIT_EXPECT_EQ(test, 0, f->count[ANGARA_ADM_CTX_CREATE]);
	}
	f->fail = 0;
	KUNIT_EXPECT_EQ(test, 3, n); /* two calls can fail: dma_alloc, dma_map */
}

static void refused_by_the_adapter(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;
	size_t bytes;
	u32 pages;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	KUNIT_ASSERT_EQ(test, 0, fake_domain(f, filp, 0));
	bytes = fake_bytes(f);
	pages = fake_pages(f);
	f->status[ANGARA_ADM_CTX_CREATE] = ANGARA_ADM_ST_FULL;
	KUNIT_EXPECT_EQ(test, -EBUSY, fake_ctx(f, filp, 8, 8));
	f->status[ANGARA_ADM_CTX_CREATE] = ANGARA_ADM_ST_EXISTS;
	KUNIT_EXPECT_EQ(test, -EBUSY, fake_ctx(f, filp, 8, 8));
	f->status[ANGARA_ADM_CTX_CREATE] = ANGARA_ADM_ST_DMA;
	KUNIT_EXPECT_EQ(test, -EIO, fake_ctx(f, filp, 8, 8));
	KUNIT_EXPECT_EQ(test, bytes, fake_bytes(f));
	KUNIT_EXPECT_EQ(test, pages, fake_pages(f));
	f->status[ANGARA_ADM_CTX_CREATE] = 0;
	KUNIT_EXPECT_EQ(test, 0, fake_ctx(f, filp, 8, 8));
}

/* Called before the adapter answers: memory is still mapped when objects are destroyed. */
static void expect_all_mapped(struct fake *f, const struct angara_adm_cmd *cmd)
{
	if (cmd->opcode == ANGARA_ADM_CTX_DESTROY ||
	    cmd->opcode == ANGARA_ADM_DOMAIN_DESTROY)
		KUNIT_EXPECT_GT(f->test, fake_pages(f), 0);
}

static void kept_until_destroyed(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;
	size_t bytes;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	bytes = fake_bytes(f);
	filp = fake_open_ctx(f);
	f->on_command = expect_all_mapped;
	fake_close(f, filp);
	KUNIT_EXPECT_EQ(test, 1, f->count[ANGARA_ADM_CTX_DESTROY]);
	KUNIT_EXPECT_EQ(test, 1, f->count[ANGARA_ADM_DOMAIN_DESTROY]);
	KUNIT_EXPECT_EQ(test, 0, fake_pages(f));
	KUNIT_EXPECT_EQ(test, bytes, fake_bytes(f));
}

/*
 * The adapter is removed before its files are closed: the contexts are
 * destroyed with the reset, and files can still be closed.
 */
static void unregistered_under_a_file(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	f->guarded = true;
	fake_unregister(f);
	KUNIT_EXPECT_EQ(test, 0, f->count[ANGARA_ADM_CTX_DESTROY]);
	KUNIT_EXPECT_EQ(test, 0, fake_pages(f));
	KUNIT_EXPECT_EQ(test, 0, fake_bytes(f));
	KUNIT_EXPECT_EQ(test, -ENODEV, fake_ctx(f, filp, 8, 8));
	KUNIT_EXPECT_EQ(test, EPOLLHUP | EPOLLERR,
			(__force int)fake_poll(filp, NULL));
	KUNIT_EXPECT_EQ(test, EPOLLHUP | EPOLLERR,
			(__force int)fake_poll(fake_ctx_of(f, filp), NULL));
	fake_close(f, filp);
	KUNIT_EXPECT_EQ(test, 0, f->count[ANGARA_ADM_CTX_DESTROY]);
}

/*
 * The domain stays until its contexts are destroyed, in any order of closing.
 */
static void contexts_keep_their_domain(struct kunit *test)
{
	struct fake *f = test->priv;
	struct angara_ctx_create c;
	struct file *filp, *first, *second;
	u64 key = 0;
	size_t bytes;
	u32 pages;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	bytes = fake_bytes(f);
	filp = fake_open(f);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	KUNIT_ASSERT_EQ(test, -ENXIO, fake_ctx_in(f, filp, 8, 8, &c));
	KUNIT_ASSERT_EQ(test, 0, fake_domain(f, filp, 0));
	KUNIT_EXPECT_EQ(test, -EBUSY, fake_domain(f, filp, 0));
	KUNIT_ASSERT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, 0, &key));
	pages = fake_pages(f);
	KUNIT_ASSERT_EQ(test, 0, fake_ctx_in(f, filp, 8, 8, &c));
	first = get_file(fake_ctx_of(f, filp));
	KUNIT_ASSERT_EQ(test, 0, fake_ctx_in(f, filp, 8, 8, &c));
	second = get_file(fake_ctx_of(f, filp));

	fake_close(f, filp);
	KUNIT_EXPECT_EQ(test, 0, f->count[ANGARA_ADM_CTX_DESTROY]);
	KUNIT_EXPECT_LT(test, pages, fake_pages(f));
	fake_fput(first);
	KUNIT_EXPECT_EQ(test, 1, f->count[ANGARA_ADM_CTX_DESTROY]);
	KUNIT_EXPECT_LT(test, pages, fake_pages(f));
	KUNIT_EXPECT_EQ(test, 0, (__force int)fake_poll(second, NULL));
	fake_fput(second);
	fake_settle(f);
	KUNIT_EXPECT_EQ(test, 2, f->count[ANGARA_ADM_CTX_DESTROY]);
	KUNIT_EXPECT_EQ(test, 0, fake_pages(f));
	KUNIT_EXPECT_EQ(test, bytes, fake_bytes(f));
}

static void doorbells_of_the_context(struct kunit *test)
{
	struct angara_kick k = {
		.size = sizeof(k), .flags = ANGARA_KICK_SQ | ANGARA_KICK_ARM,
	};
	struct fake *f = test->priv;
	struct angara_adm_ctx *c = &f->last[ANGARA_ADM_CTX_CREATE].create;
	struct angara_ctl *ctl;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	fake_open_ctx(f);
	filp = fake_open_ctx(f);
	ctl = fake_at(f, le64_to_cpu(c->ctl), sizeof(*ctl));
	KUNIT_ASSERT_NOT_NULL(test, ctl);
	ctl->sq_pi = cpu_to_le32(0xFFFFFFFE);
	ctl->seen = cpu_to_le32(77);
	KUNIT_EXPECT_EQ(test, 0, fake_ioctl(f, fake_ctx_of(f, filp),
					    ANGARA_IOCTL_KICK, &k, sizeof(k)));
	KUNIT_EXPECT_EQ(test, 0xFFFFFFFE, f->db_sq[1]);
	KUNIT_EXPECT_EQ(test, 77, f->db_arm[1]);
	KUNIT_EXPECT_EQ(test, 0, f->db_sq[0]);
	KUNIT_EXPECT_EQ(test, 0, f->db_arm[0]);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE_PARAM(lists_name_the_pages, size_gen_params),
	KUNIT_CASE(offsets_differ),
	KUNIT_CASE(failing_dma_undoes_all),
	KUNIT_CASE(refused_by_the_adapter),
	KUNIT_CASE(kept_until_destroyed),
	KUNIT_CASE(unregistered_under_a_file),
	KUNIT_CASE(contexts_keep_their_domain),
	KUNIT_CASE(doorbells_of_the_context),
	{}
};

struct kunit_suite queue_suite = {
	.name = "angara_queue",
	.suite_init = fake_suite_init,
	.suite_exit = fake_suite_exit,
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = queue_cases,
};
