/* SPDX-License-Identifier: GPL-2.0-only */
/* Angara adapter: memory of a region; see mr_mem.c. */
#ifndef ANG_MR_MEM_H
#define ANG_MR_MEM_H

#include <linux/scatterlist.h>

#include "ang_dev.h"

#define ANG_MR_MAX_PAGES	(1U << 22)	/* 16 GiB, in 8192 lists */

/**
 * struct ang_mr_list - a list of the device's pages
 * @mem: ANGARA_MR_LIST_ENTRIES addresses
 * @addr: DMA address of @mem
 */
struct ang_mr_list {
	__le64 *mem;
	u64 addr;
};

/**
 * struct ang_mr_mem - memory of a region
 * @pages: pinned pages
 * @num_pages: number of @pages
 * @writable: the device may write to @pages
 * @mapped: @sgt is mapped for the device
 * @sgt: scatter list of @pages, with adjacent pages in one segment
 * @page_shift: log2 of the device's page size
 * @first: offset of the first pinned page in the first of the device's pages
 * @num_lists: number of lists
 * @list: lists of the device's pages
 * @top: list of the lists, if there is more than one list
 * @top_addr: DMA address of @top
 */
struct ang_mr_mem {
	struct page **pages;
	u32 num_pages;
	bool writable;
	bool mapped;
	struct sg_table sgt;
	u32 page_shift;
	u32 first;
	u32 num_lists;
	struct ang_mr_list *list;
	__le64 *top;
	u64 top_addr;
};

int ang_mr_pin(struct ang_mr_mem *mem, unsigned long addr, u32 num_pages,
	       bool writable);
int ang_mr_map(struct ang_dev *adev, struct ang_mr_mem *mem);
void ang_mr_mem_free(struct ang_dev *adev, struct ang_mr_mem *mem);
void ang_mr_mem_forget(struct ang_mr_mem *mem);

#endif /* ANG_MR_MEM_H */
