// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that a context or domain and the device share, and the mapping of a
 * context's memory into the process.
 *
 * All pages of a context are in one array, and their DMA addresses in one list,
 * ordered by kind (ANG_MEM_*); the list of a kind is a part of that list.  A
 * mapping holds references to its pages: they outlive the context, and the
 * device.
 *
 * A doorbell page belongs to the device; the page fault of the first access
 * inserts it into the mapping.  When the device is stopped, the page is removed
 * from the mapping, and the next access gets a page of memory, the context's
 * sink.  So a write to the doorbell then has no effect, and the process gets no
 * signal.  Its next system call reports that the device was stopped.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "ang_file.h"

static_assert(PAGE_SIZE == ANGARA_PAGE_SIZE);

static void pages_free(struct ang_mem *mem)
{
	u32 i;

	for (i = 0; i < mem->count && mem->pages[i]; i++)
		put_page(mem->pages[i]);
	kvfree(mem->pages);
	mem->pages = NULL;
}

static int pages_alloc(struct ang_mem *mem)
{
	u32 i;

	mem->pages = kvcalloc(mem->count, sizeof(*mem->pages),
			      GFP_KERNEL_ACCOUNT);
	if (!mem->pages)
		return -ENOMEM;
	for (i = 0; i < mem->count; i++) {
		mem->pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!mem->pages[i]) {
			pages_free(mem);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * ang_dma_map_pages() - map pages for the device as one scatter list
 * @adev: device, after ang_dev_enter()
 * @sgt: out: the list; undo with ang_bus_ops.dma_unmap and sg_free_table()
 * @pages: the pages
 * @count: number of pages
 * @dir: what the device may do: DMA_TO_DEVICE or DMA_BIDIRECTIONAL
 *
 * Return: 0; -ENOMEM; -EREMOTEIO the device would need bounce buffers.
 * Context: process; may sleep.
 */
int ang_dma_map_pages(struct ang_dev *adev, struct sg_table *sgt,
		      struct page **pages, u32 count, enum dma_data_direction dir)
{
	int ret;

	ret = sg_alloc_table_from_pages(sgt, pages, count, 0,
					(size_t)count << PAGE_SHIFT,
					GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	ret = adev->ops->dma_map(adev, sgt, dir);
	if (ret)
		sg_free_table(sgt);
	return ret;
}

/* Map the pages, and list their addresses. */
static int mem_map_pages(struct ang_dev *adev, struct ang_mem *mem)
{
	struct sg_dma_page_iter iter;
	u32 i = 0;
	int ret;

	ret = ang_dma_map_pages(adev, &mem->sgt, mem->pages, mem->count,
				DMA_BIDIRECTIONAL);
	if (ret)
		return ret;
	for_each_sgtable_dma_page(&mem->sgt, &iter, 0)
		mem->list[i++] = cpu_to_le64(sg_page_iter_dma_address(&iter));
	return 0;
}

/**
 * ang_mem_alloc() - allocate memory that is shared with the device
 * @adev: device, after ang_dev_enter()
 * @mem: all zero
 * @sizes: bytes of each kind
 *
 * Return: 0 or -ENOMEM.
 * Context: process; may sleep.
 */
int ang_mem_alloc(struct ang_dev *adev, struct ang_mem *mem, const u32 *sizes)
{
	u32 kind;
	int ret;

	for (kind = 0; kind < ANG_MEM_NUM; kind++) {
		mem->first[kind] = mem->count;
		mem->num[kind] = DIV_ROUND_UP(sizes[kind], PAGE_SIZE);
		mem->count += mem->num[kind];
	}
	ret = pages_alloc(mem);
	if (ret)
		return ret;
	mem->list = adev->ops->dma_alloc(adev, mem->count * sizeof(*mem->list),
					 &mem->list_addr);
	if (!mem->list) {
		ret = -ENOMEM;
		goto err_pages;
	}
	ret = mem_map_pages(adev, mem);
	if (ret)
		goto err_list;
	return 0;

err_list:
	adev->ops->dma_free(adev, mem->count * sizeof(*mem->list), mem->list,
			    mem->list_addr);
	mem->list = NULL;
err_pages:
	pages_free(mem);
	return ret;
}

/**
 * ang_mem_unmap() - unmap shared memory from the device
 * @adev: device after ang_dev_enter(); it no longer uses @mem, or is stuck
 * @mem: memory; if the device is stuck, the pages keep a reference, so
 *	ang_mem_free() does not return them to the system
 */
void ang_mem_unmap(struct ang_dev *adev, struct ang_mem *mem)
{
	u32 i;

	if (READ_ONCE(adev->stuck)) {
		for (i = 0; i < mem->count; i++)
			get_page(mem->pages[i]);
		sg_free_table(&mem->sgt);
		mem->list = NULL;
		return;
	}
	adev->ops->dma_unmap(adev, &mem->sgt, DMA_BIDIRECTIONAL);
	sg_free_table(&mem->sgt);
	adev->ops->dma_free(adev, mem->count * sizeof(*mem->list), mem->list,
			    mem->list_addr);
	mem->list = NULL;
}

/**
 * ang_mem_free() - free shared memory
 * @mem: memory, unmapped from the device
 */
void ang_mem_free(struct ang_mem *mem)
{
	pages_free(mem);
}

/**
 * ang_mem_at() - get the kernel address of a byte of shared memory
 * @mem: memory
 * @kind: ANG_MEM_*
 * @offset: offset in the memory of that kind
 *
 * Return: the address, valid up to the end of the page.
 */
void *ang_mem_at(const struct ang_mem *mem, u32 kind, size_t offset)
{
	struct page *page = mem->pages[mem->first[kind] + offset / PAGE_SIZE];

	return page_address(page) + offset % PAGE_SIZE;
}

/**
 * ang_mem_list() - get the DMA address of the list of pages of a kind
 * @mem: memory
 * @kind: ANG_MEM_*
 */
u64 ang_mem_list(const struct ang_mem *mem, u32 kind)
{
	return mem->list_addr + mem->first[kind] * sizeof(*mem->list);
}

/**
 * ang_mmap_offset() - get the mmap offset of a kind of memory
 * @kind: ANG_MEM_*
 */
u64 ang_mmap_offset(u32 kind)
{
	return kind * ANG_MMAP_STRIDE;
}

static const struct {
	bool mapped;
	bool writable;
} mmap_kinds[ANG_MEM_NUM] = {
	[ANG_MEM_SQ]	= { .mapped = true, .writable = true },
	[ANG_MEM_CQ]	= { .mapped = true },
	[ANG_MEM_CTL]	= { .mapped = true, .writable = true },
	[ANG_MEM_CTR]	= { .mapped = true },
	[ANG_MEM_MSG]	= { .mapped = true },
};

static vm_fault_t doorbell_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct ang_uctx *uctx = to_ang_uctx(vma->vm_file->private_data);
	struct ang_dev *adev = uctx->h.adev;
	pgprot_t prot = vma->vm_page_prot;	/* not cached, see map_doorbell() */
	unsigned long pfn;
	vm_fault_t ret;

	/*
	 * files_make_stale() sets @stale under the same lock, then removes all
	 * pages that were inserted before.
	 */
	down_read(&adev->map_lock);
	if (uctx->h.stale) {
		pfn = page_to_pfn(uctx->sink);
		prot = vm_get_page_prot(vma->vm_flags);
	} else {
		pfn = PHYS_PFN(adev->ops->doorbell(adev, uctx->num));
	}
	ret = vmf_insert_pfn_prot(vma, vmf->address, pfn, prot);
	up_read(&adev->map_lock);
	return ret;
}

static const struct vm_operations_struct doorbell_vm_ops = {
	.fault = doorbell_fault,
};

static int map_doorbell(struct ang_uctx *uctx, struct vm_area_struct *vma)
{
	if (!uctx->sink || vma_pages(vma) != 1 || !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	ang_vm_flags_mod(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND |
			 VM_DONTDUMP, 0);
	/*
	 * On some architectures mprotect() gives a mapped page the cacheability of
	 * vm_page_prot.
	 */
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	vma->vm_ops = &doorbell_vm_ops;
	return 0;
}

/**
 * ang_doorbells_unmap() - remove all mappings of doorbells
 * @adev: device whose files are stale
 *
 * All contexts whose device was opened through the same inode share one address
 * space (f_mapping), so one call for it removes all their mappings.
 */
void ang_doorbells_unmap(struct ang_dev *adev)
{
	struct address_space *done = NULL;
	struct ang_handle *h;

	lockdep_assert_held_write(&adev->registration_lock);

	list_for_each_entry(h, &adev->files, entry) {
		struct address_space *mapping;

		mapping = h->ops->mapping ? h->ops->mapping(h) : NULL;
		if (!mapping || mapping == done)
			continue;
		unmap_mapping_range(mapping, ang_mmap_offset(ANG_MAP_DB),
				    PAGE_SIZE, 1);
		done = mapping;
	}
}

/**
 * ang_mmap() - map queue, control page, counters, receive buffer or doorbell
 * @filp: file of a context
 * @vma: shared mapping of exactly one kind of memory
 *
 * Return: 0; -ENODEV the device is gone; -ESTALE it was stopped since the
 * domain's file was opened; -EINVAL the mapping is not exactly one kind of
 * memory, or is private; -EACCES this kind is read only.
 * Context: process, with mmap_lock held for writing: this takes no lock of the
 * driver.  The pages stay even if the device is removed meanwhile.
 */
int ang_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct ang_uctx *uctx = to_ang_uctx(filp->private_data);
	unsigned long kind = vma->vm_pgoff / (ANG_MMAP_STRIDE / PAGE_SIZE);
	unsigned long clear = 0;
	unsigned long num;
	int ret = ang_handle_glance(&uctx->h);

	if (ret)
		return ret;
	if (vma->vm_pgoff == ANG_MAP_DB * (ANG_MMAP_STRIDE / PAGE_SIZE))
		return map_doorbell(uctx, vma);
	if (kind >= ANG_MEM_NUM || !mmap_kinds[kind].mapped ||
	    vma->vm_pgoff % (ANG_MMAP_STRIDE / PAGE_SIZE) ||
	    vma_pages(vma) != uctx->mem.num[kind] ||
	    !(vma->vm_flags & VM_MAYSHARE)) /* set for any shared mapping, unlike VM_SHARED */
		return -EINVAL;
	if (!mmap_kinds[kind].writable) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		clear = VM_MAYWRITE;
	}
	ang_vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND, clear);
	num = uctx->mem.num[kind];
	return vm_insert_pages(vma, vma->vm_start,
			       uctx->mem.pages + uctx->mem.first[kind], &num);
}
