// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of memory regions: the contents of the adapter's table and lists,
 * when entries become valid, and that all pages are freed in the end.
 */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/pfn.h>
#include <linux/sizes.h>

#include "fake.h"

#define LIST	ANGARA_MR_LIST_ENTRIES

/* A region that starts @skip bytes into user memory and spans @pages pages. */
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

/* Return: entry of a key in the table of the domain created last. */
static struct angara_hw_mr *table_entry(struct fake *f, u64 key)
{
	u8 last = f->count[ANGARA_ADM_DOMAIN_TABLE] ? ANGARA_ADM_DOMAIN_TABLE :
						      ANGARA_ADM_DOMAIN_CREATE;
	u64 list = le64_to_cpu(f->last[last].domain.mrt);
	u32 per_page = PAGE_SIZE / sizeof(struct angara_hw_mr);
	unsigned long pfn = fake_list_pfn(f, list,
					  ANGARA_MR_SLOT(key) / per_page);

	KUNIT_ASSERT_TRUE(f->test, fake_is_mapped(f, pfn));
	return (struct angara_hw_mr *)page_address(pfn_to_page(pfn)) +
	       ANGARA_MR_SLOT(key) % per_page;
}

/*
 * Return: page frame number of the 4 KiB page @i of a region, from its lists.
 */
static unsigned long region_pfn(struct fake *f, const struct angara_hw_mr *e, u32 i)
{
	u64 size = 1ULL << e->page_shift;
	u64 at = (le32_to_cpu(e->first) & PAGE_MASK) + (u64)i * PAGE_SIZE;
	u32 n = at / size;
	u64 list = le64_to_cpu(e->addr);
	__le64 *entry;

	if (e->levels == 2) {
		__le64 *top = fake_at(f, list + n / LIST * sizeof(*top),
				      sizeof(*top));

		KUNIT_ASSERT_NOT_NULL(f->test, top);
		list = le64_to_cpu(*top);
	}
	entry = fake_at(f, list + n % LIST * sizeof(*entry), sizeof(*entry));
	KUNIT_ASSERT_NOT_NULL(f->test, entry);
	KUNIT_EXPECT_EQ(f->test, 0, le64_to_cpu(*entry) & (size - 1));
	return fake_pfn(f, le64_to_cpu(*entry) + (at & (size - 1)));
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
	u32 own, i;
	u64 key = 0;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	own = fake_pages(f);
	mem = fake_user(f, (r->pages + 1) * PAGE_SIZE);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(mem));
	KUNIT_ASSERT_EQ(test, 0, fake_mr(f, filp, mem + r->skip, r->length, 0,
					 &key));
	KUNIT_EXPECT_EQ(test, 0, ANGARA_MR_SLOT(key));
	KUNIT_EXPECT_EQ(test, key, le64_to_cpu(table_entry(f, key)->key));
	KUNIT_EXPECT_EQ(test, own + r->pages, fake_pages(f));
	KUNIT_EXPECT_EQ(test, pinned + r->pages, fake_pinned());
	e = table_entry(f, key);
	KUNIT_EXPECT_EQ(test, 1, e->valid);
	KUNIT_EXPECT_EQ(test, r->length, le64_to_cpu(e->length));
	KUNIT_EXPECT_EQ(test, r->skip, offset_in_page(le32_to_cpu(e->first)));
	KUNIT_EXPECT_EQ(test, ANGARA_ACCESS_ALL, e->access);
	KUNIT_EXPECT_LE(test, e->levels, r->pages > LIST ? 2 : 1);
	KUNIT_EXPECT_GE(test, e->page_shift, PAGE_SHIFT);
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

/**
 * struct piece - memory that is contiguous for the adapter
 * @at: DMA address
 * @pages: pages of 4 KiB
 * @shift: expected log2 of the adapter's page size
 * @lists: expected number of lists of pages
 */
struct piece {
	u64 at;
	u32 pages;
	u32 shift;
	u32 lists;
};

static const struct piece pieces[] = {
	{ SZ_1G, 1, 12, 1 },
	{ SZ_1G, 2, 13, 1 },
	{ SZ_1G + PAGE_SIZE, 2, 14, 1 },
	{ SZ_1G, LIST, 21, 1 },		/* a huge page */
	{ SZ_1G, 4 * LIST, 23, 1 },
	{ SZ_1G + SZ_2M, 3 * LIST, 23, 1 },
	{ 2 * (u64)SZ_1G - SZ_2M, 2 * LIST, 30, 1 },
};

static void piece_name(const struct piece *p, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "%u pages at %#llx", p->pages,
		 p->at);
}

KUNIT_ARRAY_PARAM(piece, pieces, piece_name);

/*
 * Contiguous memory needs one or two entries, one call of dma_unmap and one
 * FENCE.
 */
static void one_piece_few_pages(struct kunit *test)
{
	const struct piece *p = test->param_value;
	struct fake *f = test->priv;
	struct angara_hw_mr *e;
	unsigned long mem;
	struct file *filp;
	u64 key = 0;
	u32 i;
	size_t bytes;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	mem = fake_user(f, p->pages * PAGE_SIZE);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(mem));
	bytes = fake_bytes(f);
	f->merges = p->at;
	KUNIT_ASSERT_EQ(test, 0, fake_mr(f, filp, mem, p->pages * PAGE_SIZE, 0,
					 &key));
	e = table_entry(f, key);
	KUNIT_EXPECT_EQ(test, p->shift, e->page_shift);
	KUNIT_EXPECT_EQ(test, p->at & ((1ULL << p->shift) - 1),
			le32_to_cpu(e->first));
	KUNIT_EXPECT_EQ(test, 1, e->levels);
	KUNIT_EXPECT_EQ(test, bytes + p->lists * LIST * sizeof(__le64),
			fake_bytes(f));
	for (i = 0; i < p->pages; i++)
		if (region_pfn(f, e, i) != user_pfn(f, mem + i * PAGE_SIZE))
			break;
	KUNIT_EXPECT_EQ(test, p->pages, i);

	memset(f->count, 0, sizeof(f->count));
	f->unmaps = 0;
	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, key));
	KUNIT_EXPECT_EQ(test, 1, f->unmaps);
	KUNIT_EXPECT_EQ(test, 1, f->count[ANGARA_ADM_FENCE]);
	KUNIT_EXPECT_EQ(test, bytes, fake_bytes(f));
	vm_munmap(mem, p->pages * PAGE_SIZE);
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
	u64 key = 0;
	u32 own, i;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	own = fake_pages(f);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ(test, bad[i].ret, fake_mr(f, filp, bad[i].addr,
							  bad[i].length, 0, &key));
	/* The page after the page for arguments is not mapped. */
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
	u64 key = 0;
	u32 own, n;
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
	/*
	 * Registering makes one mapping and one to four lists: four if no pages
	 * are adjacent.
	 */
	KUNIT_EXPECT_GE(test, n, 3);
	KUNIT_EXPECT_LE(test, n, 6);
	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, key));
	vm_munmap(mem, 3 * LIST * PAGE_SIZE);
}

/* Called at a fence. During registration the entry is complete but not valid
 * yet; during deregistration it is no longer valid. In both cases the pages are
 * still mapped.
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
	u64 key = 0;

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
	u64 key = 0;
	u32 own;

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

	/* The fence fails: the region can be freed only after a reset. */
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
	u64 key, first;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	KUNIT_EXPECT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, 0, &first));
	KUNIT_EXPECT_EQ(test, 0, ANGARA_MR_SLOT(first));
	KUNIT_EXPECT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, 0, &key));
	KUNIT_EXPECT_EQ(test, 1, ANGARA_MR_SLOT(key));
	KUNIT_EXPECT_NE(test, key >> 16, first >> 16);
	/* A key with the same slot is refused, whatever its random bits are. */
	key = 1ULL << 63 | 1;
	KUNIT_EXPECT_EQ(test, -EEXIST, fake_mr(f, filp, f->ubuf, 1,
					       ANGARA_MR_KEY, &key));
	key = 1ULL << 63 | 2;
	KUNIT_EXPECT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, ANGARA_MR_KEY, &key));
	KUNIT_EXPECT_EQ(test, 1ULL << 63 | 2, key);
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_dereg(f, filp, 2));
	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, key));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_dereg(f, filp, key));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_dereg(f, filp, first ^ BIT_ULL(40)));
	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, first));
	/* Closing the file frees the second region. */
}

/* A table that grows keeps its entries, and the previous table is freed. */
static void table_grows(struct kunit *test)
{
	struct fake *f = test->priv;
	struct angara_adm_cmd *last = &f->last[ANGARA_ADM_DOMAIN_TABLE];
	struct angara_hw_mr *e;
	struct file *filp;
	u64 first, key;
	u32 pages, n;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	KUNIT_EXPECT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, 0, &first));
	pages = fake_pages(f);
	/* After a failure of any allocation, nothing has changed. */
	key = 5ULL << 16 | ANG_FIRST_MRS;
	for (n = 2; n < 4; n++) {
		f->fail = n + 1;
		KUNIT_EXPECT_EQ(test, -ENOMEM, fake_mr(f, filp, f->ubuf, 1,
						       ANGARA_MR_KEY, &key));
		KUNIT_EXPECT_EQ(test, pages, fake_pages(f));
	}
	f->fail = 0;
	f->status[ANGARA_ADM_DOMAIN_TABLE] = ANGARA_ADM_ST_DMA;
	KUNIT_EXPECT_EQ(test, -EIO, fake_mr(f, filp, f->ubuf, 1, ANGARA_MR_KEY,
					    &key));
	KUNIT_EXPECT_EQ(test, pages, fake_pages(f));
	f->status[ANGARA_ADM_DOMAIN_TABLE] = 0;
	KUNIT_EXPECT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, ANGARA_MR_KEY, &key));
	KUNIT_EXPECT_EQ(test, 2 * ANG_FIRST_MRS, le32_to_cpu(last->domain.mrs));
	KUNIT_EXPECT_EQ(test, pages + 2, fake_pages(f));
	e = table_entry(f, first);
	KUNIT_EXPECT_EQ(test, 1, e->valid);
	KUNIT_EXPECT_EQ(test, first, le64_to_cpu(e->key));
	KUNIT_EXPECT_EQ(test, 1, table_entry(f, key)->valid);
	key = ANG_MAX_MRS - 1;
	KUNIT_EXPECT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, ANGARA_MR_KEY, &key));
	KUNIT_EXPECT_EQ(test, ANG_MAX_MRS, le32_to_cpu(last->domain.mrs));
	KUNIT_EXPECT_EQ(test, 1, table_entry(f, first)->valid);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(lists_name_the_pages, region_gen_params),
	KUNIT_CASE_PARAM(one_piece_few_pages, piece_gen_params),
	KUNIT_CASE(no_memory_no_region),
	KUNIT_CASE(failing_dma_undoes_all),
	KUNIT_CASE(fenced_both_ways),
	KUNIT_CASE(no_fence_no_region),
	KUNIT_CASE(keys),
	KUNIT_CASE(table_grows),
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
