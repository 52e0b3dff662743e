// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a region: pinned pages, their mapping for the device, and the lists
 * by which the device finds them.
 *
 * Pages are mapped as one scatter list, in which adjacent pages form one
 * segment, and unmapped as a whole.  The device's page size is as large as the
 * segments allow: huge pages, and pages that an IOMMU makes contiguous, need
 * few entries.  A list is one page of ANGARA_MR_LIST_ENTRIES entries; a region
 * with more than one list also has a list of its lists.
 */
#include <linux/bitops.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "ang_file.h"
#include "mr_mem.h"

#define BATCH		ANGARA_MR_LIST_ENTRIES	/* pages between reschedules */
#define LIST_BYTES	(ANGARA_MR_LIST_ENTRIES * sizeof(__le64))
#define MAX_SHIFT	30

static_assert(ANG_MR_MAX_PAGES / ANGARA_MR_LIST_ENTRIES <= 8192);

/**
 * ang_mr_pin() - pin the pages of a process
 * @mem: all zero; freed by ang_mr_mem_free(), also after an error
 * @addr: address of the first page
 * @num_pages: number of pages
 * @writable: the device may write to them
 *
 * Return: 0; -EINTR a fatal signal arrived; -EFAULT; -ENOMEM.
 * Context: process; may sleep and fault.
 */
int ang_mr_pin(struct ang_mr_mem *mem, unsigned long addr, u32 num_pages,
	       bool writable)
{
	unsigned int gup = FOLL_LONGTERM;

	gup |= writable ? FOLL_WRITE : ANG_GUP_READ;
	mem->writable = writable;
	mem->pages = kvmalloc_array(num_pages, sizeof(*mem->pages),
				    GFP_KERNEL_ACCOUNT);
	if (!mem->pages)
		return -ENOMEM;
	while (mem->num_pages < num_pages) {
		u32 left = num_pages - mem->num_pages;
		int got;

		if (fatal_signal_pending(current))
			return -EINTR;
		got = pin_user_pages_fast(addr + mem->num_pages * PAGE_SIZE,
					  min_t(u32, left, BATCH), gup,
					  mem->pages + mem->num_pages);
		if (got <= 0)
			return got ? got : -EFAULT;
		mem->num_pages += got;
		cond_resched();
	}
	return 0;
}

/* Return: log2 of the largest page size to which all segments are aligned. */
static u32 mem_page_shift(const struct sg_table *sgt)
{
	u64 begin = sg_dma_address(sgt->sgl);
	u64 end = begin, ends = 0;
	struct scatterlist *sg;
	u32 i, shift;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (sg_dma_address(sg) != end)
			ends |= end | sg_dma_address(sg);
		end = sg_dma_address(sg) + sg_dma_len(sg);
	}
	/* A single segment: use the smallest page that contains all of it. */
	shift = ends ? __ffs64(ends) : fls64(begin ^ (end - 1));
	return clamp_t(u32, shift, PAGE_SHIFT, MAX_SHIFT);
}

/* Count the device's pages; if mem->list is allocated, fill the lists. */
static u32 mem_list_pages(struct ang_mr_mem *mem)
{
	u64 size = 1ULL << mem->page_shift;
	u64 next = 0, end = 0;
	struct scatterlist *sg;
	u32 i, entry = 0;

	for_each_sgtable_dma_sg(&mem->sgt, sg, i) {
		if (!i || sg_dma_address(sg) != end)
			next = sg_dma_address(sg) & ~(size - 1);
		end = sg_dma_address(sg) + sg_dma_len(sg);
		for (; next < end; next += size, entry++) {
			u32 list = entry / ANGARA_MR_LIST_ENTRIES;

			if (mem->list)
				mem->list[list].mem[entry % ANGARA_MR_LIST_ENTRIES] =
					cpu_to_le64(next);
		}
	}
	return entry;
}

static int mem_lists_alloc(struct ang_dev *adev, struct ang_mr_mem *mem)
{
	u32 lists = DIV_ROUND_UP(mem_list_pages(mem), ANGARA_MR_LIST_ENTRIES);

	mem->list = kvcalloc(lists, sizeof(*mem->list), GFP_KERNEL_ACCOUNT);
	if (!mem->list)
		return -ENOMEM;
	for (; mem->num_lists < lists; mem->num_lists++) {
		struct ang_mr_list *list = &mem->list[mem->num_lists];

		list->mem = adev->ops->dma_alloc(adev, LIST_BYTES, &list->addr);
		if (!list->mem)
			return -ENOMEM;
		cond_resched();
	}
	return 0;
}

/* The device gets no more rights than the process has. */
static enum dma_data_direction mem_direction(const struct ang_mr_mem *mem)
{
	return mem->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
}

static int mem_top_alloc(struct ang_dev *adev, struct ang_mr_mem *mem)
{
	u32 i;

	mem->top = adev->ops->dma_alloc(adev, mem->num_lists * sizeof(*mem->top),
					&mem->top_addr);
	if (!mem->top)
		return -ENOMEM;
	for (i = 0; i < mem->num_lists; i++)
		mem->top[i] = cpu_to_le64(mem->list[i].addr);
	return 0;
}

/**
 * ang_mr_map() - map pinned pages for the device, and list them
 * @adev: device, after ang_dev_enter()
 * @mem: pinned pages
 *
 * Return: 0; -ENOMEM; -EREMOTEIO the device could reach the pages through
 * bounce buffers only.
 * Context: process; may sleep.
 */
int ang_mr_map(struct ang_dev *adev, struct ang_mr_mem *mem)
{
	int ret;

	ret = ang_dma_map_pages(adev, &mem->sgt, mem->pages, mem->num_pages,
				mem_direction(mem));
	if (ret)
		return ret;
	mem->mapped = true;
	mem->page_shift = mem_page_shift(&mem->sgt);
	mem->first = sg_dma_address(mem->sgt.sgl) &
		     ((1ULL << mem->page_shift) - 1);
	ret = mem_lists_alloc(adev, mem);
	if (!ret && mem->num_lists > 1)
		ret = mem_top_alloc(adev, mem);
	if (ret)
		return ret;
	mem_list_pages(mem);
	return 0;
}

static void mem_unpin(struct ang_mr_mem *mem)
{
	u32 i;

	for (i = 0; i < mem->num_pages; i += BATCH) {
		unpin_user_pages_dirty_lock(mem->pages + i,
					    min_t(u32, mem->num_pages - i, BATCH),
					    mem->writable);
		cond_resched();
	}
}

/**
 * ang_mr_mem_free() - unmap pages, unpin them, free the lists
 * @adev: device, which does not use the memory
 * @mem: set up by ang_mr_pin() and ang_mr_map(), completely or in part
 *
 * Context: process; may sleep.
 */
void ang_mr_mem_free(struct ang_dev *adev, struct ang_mr_mem *mem)
{
	u32 i;

	if (mem->mapped)
		adev->ops->dma_unmap(adev, &mem->sgt, mem_direction(mem));
	mem_unpin(mem);
	for (i = 0; i < mem->num_lists; i++)
		adev->ops->dma_free(adev, LIST_BYTES, mem->list[i].mem,
				    mem->list[i].addr);
	if (mem->top)
		adev->ops->dma_free(adev, mem->num_lists * sizeof(*mem->top),
				    mem->top, mem->top_addr);
	ang_mr_mem_forget(mem);
}

/**
 * ang_mr_mem_forget() - never free pages and lists, since a stuck device may
 * use them
 * @mem: memory, after ang_mr_map()
 */
void ang_mr_mem_forget(struct ang_mr_mem *mem)
{
	if (mem->mapped)
		sg_free_table(&mem->sgt);
	kvfree(mem->list);
	kvfree(mem->pages);
}
