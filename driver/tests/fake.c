// SPDX-License-Identifier: GPL-2.0-only
/* The adapter emulated by KUnit tests: registers, admin queue, DMA. */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/pfn.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "fake.h"

/* Offset of DMA addresses without fake.merges: above all physical addresses. */
#define BUS_OFFSET	BIT_ULL(52)

static struct fake *to_fake(struct ang_dev *adev)
{
	return adev->priv;
}

static u64 bus_addr(const void *mem)
{
	return virt_to_phys((void *)mem) + BUS_OFFSET;
}

static u32 *reg(struct fake *f, u32 off)
{
	return &f->reg[off / 4];
}

static u64 reg64(struct fake *f, u32 off)
{
	return *reg(f, off) | (u64)*reg(f, off + 4) << 32;
}

static bool fails(struct fake *f)
{
	return f->fail && !--f->fail;
}

/* DMA */

static void fake_dma_enable(struct ang_dev *adev)
{
	to_fake(adev)->master = true;
}

static int fake_dma_disable(struct ang_dev *adev)
{
	struct fake *f = to_fake(adev);

	if (f->uncuttable)
		return -EIO;
	f->master = false;
	return 0;
}

static void expect_cut(struct fake *f)
{
	if (f->guarded)
		KUNIT_EXPECT_FALSE_MSG(f->test, f->master,
				       "memory is freed while the adapter can still access it");
}

static void *fake_dma_alloc(struct ang_dev *adev, size_t size, u64 *addr)
{
	struct fake *f = to_fake(adev);
	struct fake_mem *m;

	if (fails(f))
		return NULL;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return NULL;
	m->mem = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);
	if (!m->mem) {
		kfree(m);
		return NULL;
	}
	m->size = size;
	m->addr = bus_addr(m->mem);
	list_add(&m->entry, &f->mems);
	*addr = m->addr;
	return m->mem;
}

static void fake_dma_free(struct ang_dev *adev, size_t size, void *mem, u64 addr)
{
	struct fake *f = to_fake(adev);
	struct fake_mem *m;

	expect_cut(f);
	list_for_each_entry(m, &f->mems, entry)
		if (m->mem == mem && m->size == size && m->addr == addr)
			goto found;
	KUNIT_FAIL(f->test, "dma_free() of %zu bytes that were not allocated", size);
	return;

found:
	list_del(&m->entry);
	free_pages_exact(mem, size);
	kfree(m);
}

static unsigned long times_mapped(struct fake *f, unsigned long pfn)
{
	void *entry = xa_load(&f->mapped, pfn);

	return entry ? xa_to_value(entry) : 0;
}

static int set_mapped(struct fake *f, unsigned long pfn, unsigned long times)
{
	if (!times) {
		xa_erase(&f->mapped, pfn);
		return 0;
	}
	return xa_err(xa_store(&f->mapped, pfn, xa_mk_value(times), GFP_KERNEL));
}

static int page_map(struct fake *f, unsigned long pfn, unsigned long bus_pfn)
{
	int ret = set_mapped(f, pfn, times_mapped(f, pfn) + 1);

	return ret ? ret : xa_err(xa_store(&f->bus, bus_pfn, xa_mk_value(pfn),
					   GFP_KERNEL));
}

static void page_unmap(struct fake *f, unsigned long pfn, unsigned long bus_pfn)
{
	unsigned long times = times_mapped(f, pfn);
	void *entry = xa_load(&f->bus, bus_pfn);

	if (times && entry && xa_to_value(entry) == pfn)
		set_mapped(f, pfn, times - 1);
	else
		KUNIT_FAIL(f->test, "dma_unmap() of a page that is not mapped");
	if (!times_mapped(f, pfn) || PFN_PHYS(bus_pfn) < BUS_OFFSET)
		xa_erase(&f->bus, bus_pfn);
}

/*
 * Maps a table.  If fake.merges is set, the DMA addresses are contiguous, as an
 * IOMMU can make them.  Else they follow from the physical addresses.
 */
static int fake_dma_map(struct ang_dev *adev, struct sg_table *sgt,
			enum dma_data_direction dir)
{
	struct fake *f = to_fake(adev);
	struct scatterlist *sg;
	u64 begin = f->merges, bus = begin;
	u32 i, page;

	if (fails(f))
		return -ENOMEM;
	for_each_sgtable_sg(sgt, sg, i) {
		if (!f->merges)
			bus = sg_phys(sg) + BUS_OFFSET;
		sg_dma_address(sg) = bus;
		sg_dma_len(sg) = sg->length;
		for (page = 0; page < sg->length / PAGE_SIZE; page++)
			KUNIT_EXPECT_EQ(f->test, 0,
					page_map(f, page_to_pfn(sg_page(sg)) + page,
						 PHYS_PFN(bus) + page));
		bus += sg->length;
	}
	sgt->nents = sgt->orig_nents;
	if (f->merges) {
		sg_dma_address(sgt->sgl) = begin;
		sg_dma_len(sgt->sgl) = bus - begin;
		sgt->nents = 1;
		f->merges = ALIGN(bus, SZ_1G) + (begin & (SZ_1G - 1));
	}
	return 0;
}

static void fake_dma_unmap(struct ang_dev *adev, struct sg_table *sgt,
			   enum dma_data_direction dir)
{
	struct fake *f = to_fake(adev);
	u64 bus = sg_dma_address(sgt->sgl);
	bool merged = bus < BUS_OFFSET;
	struct scatterlist *sg;
	u32 i, page;

	expect_cut(f);
	f->unmaps++;
	for_each_sgtable_sg(sgt, sg, i) {
		if (!merged)
			bus = sg_phys(sg) + BUS_OFFSET;
		for (page = 0; page < sg->length / PAGE_SIZE; page++)
			page_unmap(f, page_to_pfn(sg_page(sg)) + page,
				   PHYS_PFN(bus) + page);
		bus += sg->length;
	}
}

void *fake_at(struct fake *f, u64 addr, size_t len)
{
	void *entry = xa_load(&f->bus, PHYS_PFN(addr));
	struct fake_mem *m;

	list_for_each_entry(m, &f->mems, entry)
		if (addr >= m->addr && addr + len <= m->addr + m->size)
			return m->mem + (addr - m->addr);
	if (entry && offset_in_page(addr) + len <= PAGE_SIZE)
		return page_address(pfn_to_page(xa_to_value(entry))) +
		       offset_in_page(addr);
	KUNIT_FAIL(f->test, "the adapter has no access to %zu bytes at %#llx", len, addr);
	return NULL;
}

unsigned long fake_pfn(struct fake *f, u64 addr)
{
	void *entry = xa_load(&f->bus, PHYS_PFN(addr));

	return entry ? xa_to_value(entry) : 0;
}

unsigned long fake_list_pfn(struct fake *f, u64 list, u32 i)
{
	const __le64 *addr = fake_at(f, list + i * sizeof(*addr), sizeof(*addr));

	return addr ? fake_pfn(f, le64_to_cpu(*addr)) : 0;
}

bool fake_is_mapped(struct fake *f, unsigned long pfn)
{
	return times_mapped(f, pfn);
}

size_t fake_bytes(struct fake *f)
{
	struct fake_mem *m;
	size_t bytes = 0;

	list_for_each_entry(m, &f->mems, entry)
		bytes += m->size;
	return bytes;
}

unsigned long fake_pinned(void)
{
	return atomic64_read(&current->mm->pinned_vm);
}

u32 fake_pages(struct fake *f)
{
	unsigned long pfn;
	void *entry;
	u32 pages = 0;

	xa_for_each(&f->mapped, pfn, entry)
		pages += xa_to_value(entry);
	return pages;
}

/*
 * Frees a page.  A page of a region is pinned; a page of a queue has one
 * reference.
 */
static void page_forget(struct fake *f, struct page *page)
{
	if (PageAnon(page)) {
		unpin_user_page(page);
		return;
	}
	KUNIT_EXPECT_EQ(f->test, 1, page_count(page));
	put_page(page);
}

u32 fake_forget(struct fake *f)
{
	struct fake_mem *m, *next;
	unsigned long pfn;
	void *entry;
	u32 pages = 0;

	rcu_barrier(); /* contexts are freed by RCU callbacks */
	xa_for_each(&f->mapped, pfn, entry) {
		KUNIT_EXPECT_EQ(f->test, 1, xa_to_value(entry));
		page_forget(f, pfn_to_page(pfn));
		pages++;
	}
	xa_destroy(&f->mapped);
	xa_destroy(&f->bus);
	list_for_each_entry_safe(m, next, &f->mems, entry) {
		list_del(&m->entry);
		free_pages_exact(m->mem, m->size);
		kfree(m);
	}
	return pages;
}

/* Commands */

static void describe(struct fake *f, const struct angara_adm_cmd *cmd,
		     struct angara_adm_cpl *cpl)
{
	const char *text = f->text ? f->text : "torus:2x2x2\n";
	u32 offset = le32_to_cpu(cmd->text.offset);
	u32 len = min_t(u32, le32_to_cpu(cmd->text.length), strlen(text) - offset);
	void *to = fake_at(f, le64_to_cpu(cmd->text.addr), len);

	if (to)
		memcpy(to, text + offset, len);
	cpl->value = cpu_to_le32(strlen(text));
}

/* Executes TREE_SET, TREE_CLEAR or TREE_GET for a row of the adapter's node. */
static void row_command(struct fake *f, const struct angara_adm_cmd *cmd,
			struct angara_adm_cpl *cpl)
{
	bool set = cmd->opcode == ANGARA_ADM_TREE_SET;
	struct angara_hw_row *row;

	if (set ? cmd->set.row.tree >= FAKE_TREES : cmd->tree >= FAKE_TREES)
		return;
	row = &f->row[set ? cmd->set.row.tree : cmd->tree];
	if (set ? row->state : !row->state || (cmd->set.row.life &&
					       cmd->set.row.life != row->life)) {
		cpl->status = set ? ANGARA_ADM_ST_EXISTS : ANGARA_ADM_ST_ABSENT;
		return;
	}
	if (set) {
		*row = cmd->set.row;
		row->state = ANGARA_TREE_STATE_UP;
		row->life = cpu_to_le16(++f->lives);
	}
	if (cmd->opcode == ANGARA_ADM_TREE_CLEAR)
		row->state = ANGARA_TREE_STATE_UNSET;
	cpl->row = *row;
}

static void answer(struct fake *f, const struct angara_adm_cmd *cmd)
{
	u32 index = f->answers++;
	struct angara_adm_cpl cpl = {
		.tag = cmd->tag,
		.status = f->status[cmd->opcode],
		.phase = !((index / ANG_ADM_ENTRIES) & 1),
	};
	struct angara_adm_cpl *slot;

	if (f->wrong_tag)
		cpl.tag ^= cpu_to_le16(0x8000);
	if (!cpl.status && (cmd->opcode == ANGARA_ADM_TREE_SET ||
			    cmd->opcode == ANGARA_ADM_TREE_CLEAR ||
			    cmd->opcode == ANGARA_ADM_TREE_GET))
		row_command(f, cmd, &cpl);
	if (cmd->opcode == ANGARA_ADM_DESCRIBE && !cpl.status)
		describe(f, cmd, &cpl);
	slot = fake_at(f, reg64(f, ANGARA_REG_ACQ_LO) +
		       index % ANG_ADM_ENTRIES * sizeof(cpl), sizeof(cpl));
	if (slot)
		*slot = cpl;
	ang_irq(f->adev, ANGARA_VEC_ADMIN);
}

static void take_command(struct fake *f, u32 index)
{
	struct angara_adm_cmd *cmd;

	cmd = fake_at(f, reg64(f, ANGARA_REG_ASQ_LO) +
		      index % ANG_ADM_ENTRIES * sizeof(*cmd), sizeof(*cmd));
	if (!cmd)
		return;
	KUNIT_EXPECT_LT(f->test, cmd->opcode, ANGARA_ADM_NUM);
	KUNIT_EXPECT_TRUE(f->test, f->master);
	if (cmd->opcode >= ANGARA_ADM_NUM || f->mute)
		return;
	if (f->holds) {
		f->held[f->num_held] = *cmd;
		WRITE_ONCE(f->num_held, f->num_held + 1);
		return;
	}
	f->count[cmd->opcode]++;
	f->last[cmd->opcode] = *cmd;
	if (f->on_command)
		f->on_command(f, cmd);
	answer(f, cmd);
}

void fake_answer(struct fake *f)
{
	u32 i;

	f->holds = false;
	for (i = 0; i < f->num_held; i++)
		answer(f, &f->held[i]);
	f->num_held = 0;
}

void fake_event(struct fake *f, u8 type, u32 index, u32 value)
{
	u32 entry = f->aeq_pi++;
	struct angara_hw_event ev = {
		.index = cpu_to_le32(index),
		.value = cpu_to_le32(value),
		.type = type,
		.lost = f->lost,
		.phase = !((entry / ANG_AEQ_ENTRIES) & 1),
	};
	struct angara_hw_event *slot;

	slot = fake_at(f, reg64(f, ANGARA_REG_AEQ_LO) +
		       entry % ANG_AEQ_ENTRIES * sizeof(ev), sizeof(ev));
	if (slot)
		*slot = ev;
	ang_irq(f->adev, ANGARA_VEC_ADMIN);
}

/* Registers */

static u32 fake_read32(struct ang_dev *adev, u32 off)
{
	struct fake *f = to_fake(adev);

	if (f->absent)
		return U32_MAX;
	if (off == ANGARA_REG_STATUS) {
		if (f->unready)
			return 0;
		return f->unstoppable || *reg(f, ANGARA_REG_CONTROL) ?
		       ANGARA_STATUS_READY : 0;
	}
	KUNIT_EXPECT_LT(f->test, off / 4, FAKE_REGS);
	return off / 4 < FAKE_REGS ? *reg(f, off) : 0;
}

static void fake_doorbell(struct fake *f, u32 off, u32 val)
{
	u32 ctx = off / ANGARA_PAGE_SIZE - 1;

	KUNIT_EXPECT_LT(f->test, ctx, FAKE_CTXS);
	if (ctx >= FAKE_CTXS)
		return;
	if (off % ANGARA_PAGE_SIZE == ANGARA_DB_SQ)
		f->db_sq[ctx] = val;
	else
		f->db_arm[ctx] = val;
}

static void fake_write32(struct ang_dev *adev, u32 off, u32 val)
{
	struct fake *f = to_fake(adev);
	u32 index;

	if (f->absent)
		return;
	if (off >= ANGARA_PAGE_SIZE) {
		fake_doorbell(f, off, val);
		return;
	}
	KUNIT_EXPECT_LT(f->test, off / 4, FAKE_REGS);
	if (off / 4 >= FAKE_REGS)
		return;
	index = *reg(f, off);
	*reg(f, off) = val;
	f->ci_writes += off == ANGARA_REG_AEQ_CI;
	if (off == ANGARA_REG_CONTROL && !val && !f->unstoppable) {
		/* The queues start again at entry 0. */
		*reg(f, ANGARA_REG_ASQ_DB) = 0;
		f->answers = 0;
		f->aeq_pi = 0;
		memset(f->row, 0, sizeof(f->row));
	}
	if (off == ANGARA_REG_ASQ_DB)
		while (index != val)
			take_command(f, index++);
}

static const struct ang_bus_ops fake_bus_ops = {
	.name = "fake",
	.owner = THIS_MODULE,
	.read32 = fake_read32,
	.write32 = fake_write32,
	.dma_enable = fake_dma_enable,
	.dma_disable = fake_dma_disable,
	.dma_alloc = fake_dma_alloc,
	.dma_free = fake_dma_free,
	.dma_map = fake_dma_map,
	.dma_unmap = fake_dma_unmap,
};

static void regs_init(struct fake *f)
{
	*reg(f, ANGARA_REG_MAGIC) = ANGARA_HW_MAGIC;
	*reg(f, ANGARA_REG_VERSION) = ANGARA_HW_VERSION;
	*reg(f, ANGARA_REG_NODE) = FAKE_NODE;
	*reg(f, ANGARA_REG_NODES) = 8;
	*reg(f, ANGARA_REG_PORTS) = 6;
	*reg(f, ANGARA_REG_CONTEXTS) = FAKE_CTXS;
	*reg(f, ANGARA_REG_TREES) = FAKE_TREES;
	*reg(f, ANGARA_REG_FABRIC_LO) = lower_32_bits(FAKE_FABRIC);
	*reg(f, ANGARA_REG_FABRIC_HI) = upper_32_bits(FAKE_FABRIC);
}

int fake_register(struct fake *f)
{
	int ret = ang_dev_register(f->adev);

	f->registered = !ret;
	return ret;
}

void fake_unregister(struct fake *f)
{
	ang_dev_unregister(f->adev);
	f->registered = false;
}

/* Makes an adapter that is not registered yet. */
struct fake *fake_new(struct kunit *test)
{
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return ERR_PTR(-ENOMEM);
	f->test = test;
	INIT_LIST_HEAD(&f->mems);
	xa_init(&f->mapped);
	xa_init(&f->bus);
	regs_init(f);
	/* Pass no module as owner: this one is not in sysfs yet while its tests run. */
	f->parent = __root_device_register("angara_test", NULL);
	if (IS_ERR(f->parent))
		return ERR_CAST(f->parent);
	f->adev = ang_dev_alloc(&fake_bus_ops, f->parent, f);
	if (IS_ERR(f->adev)) {
		root_device_unregister(f->parent);
		return ERR_CAST(f->adev);
	}
	f->adev->timeout = HZ;
	return f;
}
