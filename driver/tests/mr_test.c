// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of memory regions: what the adapter finds in the table and in
 * lists, when it may rely on it, and that the pages are free afterwards.
 */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/pfn.h>

#include "fake.h"

#define LIST	ANGARA_MR_LIST_ENTRIES

/* @skip bytes into the memory, a region of @length; it touches @pages. */
struct region {
	u32 skip;
	u64 length;
	u32 pages;
};

static const struct region regions[] = {
	{ 0, 1, 1 },
	{ 4095, 1, 1 },
	{ 4095, 2, 2 },
	{ 0, 4096, 1 },
	{ 1, 4096, 2 },
	{ 0, LIST * PAGE_SIZE, LIST },
	{ 100, LIST * PAGE_SIZE - 100, LIST },
	{ 100, LIST * PAGE_SIZE, LIST + 1 },
	{ 0, LIST * PAGE_SIZE + 1, LIST + 1 },
	{ 8, 2 * LIST * PAGE_SIZE, 2 * LIST + 1 },
};

static void region_name(const struct region *r, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "%u + %llu", r->skip, r->length);
}

KUNIT_ARRAY_PARAM(region, regions, region_name);

/* The table's entry of a key, of the context created last. */
static struct angara_hw_mr *table_entry(struct fake *f, u32 key)
{
	u64 list = le64_to_cpu(f->last[ANGARA_ADM_CTX_CREATE].create.mrt);
	u32 per_page = PAGE_SIZE / sizeof(struct angara_hw_mr);
	unsigned long pfn = fake_list_pfn(f, list, key / per_page);

	KUNIT_ASSERT_TRUE(f->test, fake_is_mapped(f, pfn));
	return (struct angara_hw_mr *)page_address(pfn_to_page(pfn)) +
	       key % per_page;
}

/* Page @i of a region, by way of its lists. */
static unsigned long region_pfn(struct fake *f, const struct angara_hw_mr *e, u32 i)
{
	u64 list = le64_to_cpu(e->addr);

	if (e->levels == 2) {
		__le64 *top = fake_at(f, list + i / LIST * sizeof(*top),
				      sizeof(*top));

		KUNIT_ASSERT_NOT_NULL(f->test, top);
		list = le64_to_cpu(*top);
	}
	return fake_list_pfn(f, list, i % LIST);
}

static unsigned long user_pfn(struct fake *f, unsigned long addr)
{
	unsigned long pfn;
	struct page *page;

	KUNIT_ASSERT_EQ(f->test, 1, pin_user_pages_fast(addr, 1, 0, &page));
	pfn = page_to_pfn(page);
	unpin_user_page(page);
	return pfn;
}

static void lists_name_the_pages(struct kunit *test)
{
	const struct region *r = test->param_value;
	struct fake *f = test->priv;
	unsigned long mem, pinned = fake_pinned();
	struct angara_hw_mr *e;
	struct file *filp;
	u32 key, own, i;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	own = fake_pages(f);
	mem = fake_user(f, (r->pages + 1) * PAGE_SIZE);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(mem));
	KUNIT_ASSERT_EQ(test, 0, fake_mr(f, filp, mem + r->skip, r->length, 0,
					 &key));
	KUNIT_EXPECT_EQ(test, 0, key);
	KUNIT_EXPECT_EQ(test, own + r->pages, fake_pages(f));
	KUNIT_EXPECT_EQ(test, pinned + r->pages, fake_pinned());
	e = table_entry(f, key);
	KUNIT_EXPECT_EQ(test, 1, e->valid);
	KUNIT_EXPECT_EQ(test, r->length, le64_to_cpu(e->length));
	KUNIT_EXPECT_EQ(test, r->skip, le32_to_cpu(e->first));
	KUNIT_EXPECT_EQ(test, ANGARA_ACCESS_ALL, e->access);
	KUNIT_EXPECT_EQ(test, r->pages > LIST ? 2 : 1, e->levels);
	KUNIT_EXPECT_EQ(test, PAGE_SHIFT, e->page_shift);
	for (i = 0; i < r->pages; i++)
		if (region_pfn(f, e, i) != user_pfn(f, mem + i * PAGE_SIZE))
			break;
	KUNIT_EXPECT_EQ(test, r->pages, i);

	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, key));
	KUNIT_EXPECT_EQ(test, own, fake_pages(f));
	KUNIT_EXPECT_EQ(test, pinned, fake_pinned());
	KUNIT_EXPECT_EQ(test, 0, e->valid);
	vm_munmap(mem, (r->pages + 1) * PAGE_SIZE);
}

static void no_memory_no_region(struct kunit *test)
{
	static const struct {
		u64 addr;
		u64 length;
		int ret;
	} bad[] = {
		{ 0x1000, 0, -EINVAL },
		{ ULLONG_MAX - 4096, 8192, -EINVAL },
		{ 0x1000, 16ULL << 30 | 1, -EINVAL },
		{ 0x1000, ULLONG_MAX - 0x1000, -EINVAL },
		{ 0xFFFF800000000000, 4096, -EFAULT },
	};
	struct fake *f = test->priv;
	unsigned long pinned = fake_pinned();
	struct file *filp;
	u32 key = 0, own, i;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	own = fake_pages(f);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ(test, bad[i].ret, fake_mr(f, filp, bad[i].addr,
							  bad[i].length, 0, &key));
	/* Behind the page for arguments there is none. */
	KUNIT_EXPECT_EQ(test, -EFAULT, fake_mr(f, filp, f->ubuf, 2 * PAGE_SIZE,
					       0, &key));
	KUNIT_EXPECT_EQ(test, own, fake_pages(f));
	KUNIT_EXPECT_EQ(test, pinned, fake_pinned());
	KUNIT_EXPECT_EQ(test, 0, f->count[ANGARA_ADM_FENCE]);
}

static void failing_dma_undoes_all(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned long mem, pinned = fake_pinned();
	struct file *filp;
	u32 key = 0, own, n;
	size_t bytes;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	mem = fake_user(f, 3 * LIST * PAGE_SIZE);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(mem));
	own = fake_pages(f);
	bytes = fake_bytes(f);
	for (n = 1; ; n++) {
		f->fail = n;
		if (!fake_mr(f, filp, mem, 3 * LIST * PAGE_SIZE, 0, &key))
			break;
		KUNIT_ASSERT_EQ(test, 0, f->fail);
		KUNIT_EXPECT_EQ(test, bytes, fake_bytes(f));
		KUNIT_EXPECT_EQ(test, own, fake_pages(f));
		KUNIT_EXPECT_EQ(test, pinned, fake_pinned());
	}
	f->fail = 0;
	KUNIT_EXPECT_EQ(test, 8, n); /* the upper list; three lists, mapped */
	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, key));
	vm_munmap(mem, 3 * LIST * PAGE_SIZE);
}

/* The fence: on the way in the entry is whole and not valid yet, on the way
 * out not valid any more, and in both the pages are there.
 */
static void expect_fenced(struct fake *f, const struct angara_adm_cmd *cmd)
{
	struct angara_hw_mr *e;

	if (cmd->opcode != ANGARA_ADM_FENCE)
		return;
	e = table_entry(f, 0);
	KUNIT_EXPECT_EQ(f->test, 0, e->valid);
	KUNIT_EXPECT_EQ(f->test, 100, le64_to_cpu(e->length));
	KUNIT_EXPECT_TRUE(f->test, fake_is_mapped(f, region_pfn(f, e, 0)));
}

static void fenced_both_ways(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;
	u32 key = 0;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	f->on_command = expect_fenced;
	KUNIT_ASSERT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 100, 0, &key));
	KUNIT_EXPECT_EQ(test, 1, f->count[ANGARA_ADM_FENCE]);
	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, key));
	KUNIT_EXPECT_EQ(test, 2, f->count[ANGARA_ADM_FENCE]);
}

static void no_fence_no_region(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned long pinned = fake_pinned();
	struct file *filp;
	u32 key = 0, own;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	own = fake_pages(f);
	f->status[ANGARA_ADM_FENCE] = ANGARA_ADM_ST_OPCODE;
	KUNIT_EXPECT_EQ(test, -EIO, fake_mr(f, filp, f->ubuf, 100, 0, &key));
	KUNIT_EXPECT_EQ(test, 0, table_entry(f, 0)->valid);
	KUNIT_EXPECT_EQ(test, own, fake_pages(f));
	KUNIT_EXPECT_EQ(test, pinned, fake_pinned());
	f->status[ANGARA_ADM_FENCE] = 0;
	KUNIT_EXPECT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 100, 0, &key));

	/* That one cannot be taken back but by a reset. */
	f->status[ANGARA_ADM_FENCE] = ANGARA_ADM_ST_OPCODE;
	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, key));
	KUNIT_EXPECT_TRUE(test, f->adev->broken);
	KUNIT_EXPECT_FALSE(test, f->adev->stuck);
	KUNIT_EXPECT_EQ(test, 0, f->reg[ANGARA_REG_CONTROL / 4]);
	KUNIT_EXPECT_EQ(test, own, fake_pages(f));
	KUNIT_EXPECT_EQ(test, -EIO, fake_mr(f, filp, f->ubuf, 100, 0, &key));
}

static void keys(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;
	u32 key, i;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	key = ANG_MAX_MRS - 1;
	KUNIT_EXPECT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, ANGARA_MR_KEY, &key));
	KUNIT_EXPECT_EQ(test, -EEXIST, fake_mr(f, filp, f->ubuf, 1,
					       ANGARA_MR_KEY, &key));
	key = ANG_MAX_MRS;
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_mr(f, filp, f->ubuf, 1,
					       ANGARA_MR_KEY, &key));
	for (i = 0; i < ANG_MAX_MRS - 1; i++) {
		if (fake_mr(f, filp, f->ubuf, 1, 0, &key) || key != i)
			break;
	}
	KUNIT_EXPECT_EQ(test, ANG_MAX_MRS - 1, i);
	KUNIT_EXPECT_EQ(test, -ENOSPC, fake_mr(f, filp, f->ubuf, 1, 0, &key));
	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, 7));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_dereg(f, filp, 7));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_dereg(f, filp, ANG_MAX_MRS));
	KUNIT_EXPECT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, 0, &key));
	KUNIT_EXPECT_EQ(test, 7, key);
	/* The rest goes with the file. */
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(lists_name_the_pages, region_gen_params),
	KUNIT_CASE(no_memory_no_region),
	KUNIT_CASE(failing_dma_undoes_all),
	KUNIT_CASE(fenced_both_ways),
	KUNIT_CASE(no_fence_no_region),
	KUNIT_CASE(keys),
	{}
};

struct kunit_suite mr_suite = {
	.name = "angara_mr",
	.suite_init = fake_suite_init,
	.suite_exit = fake_suite_exit,
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = mr_cases,
};
