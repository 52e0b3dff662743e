// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions: pinned pages of a process that the device may access, and the
 * table by which it finds them.  How a region's memory is pinned and mapped is
 * in mr_mem.c.
 *
 * The device may read the table's entries at any time.  The driver marks an
 * entry as invalid before it fills or removes the entry, then sends
 * ANGARA_ADM_FENCE: after that command the device no longer uses an entry that
 * it has read before, and sees complete entries.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ang_file.h"
#include "mr_mem.h"
#include "trace.h"
#include "watch.h"

/**
 * struct ang_mr - memory region; constant once it is in ang_domain.mrs
 * @mm: address space that the pages are charged to
 * @addr: start address
 * @length: bytes
 * @access: ANGARA_ACCESS_*
 * @key: key; ang_domain.mrs has the region at the slot of the key
 * @num_pages: pages charged to RLIMIT_MEMLOCK
 * @mem: pinned memory
 * @watch: notifies the process of changes of the region's addresses, or NULL
 */
struct ang_mr {
	struct mm_struct *mm;
	u64 addr;
	u64 length;
	u32 access;
	u64 key;
	u32 num_pages;
	struct ang_mr_mem mem;
	struct ang_watch *watch;
};

static bool mr_writable(const struct ang_mr *mr)
{
	return mr->access & (ANGARA_ACCESS_LOCAL_WRITE |
			     ANGARA_ACCESS_REMOTE_WRITE);
}

/*
 * Charges pinned pages.  They are counted in mm->pinned_vm, not in locked_vm:
 * unpinning needs no mmap_lock, which another process could hold for any time.
 */
static int mm_charge(struct mm_struct *mm, u32 pages)
{
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(pages, &mm->pinned_vm) <= limit ||
	    capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(pages, &mm->pinned_vm);
	return -ENOMEM;
}

/* Ends the watch of a region, if it has one. */
static void mr_unwatch(struct ang_mr *mr)
{
	if (mr->watch)
		ang_watch_end(mr->watch);
	mr->watch = NULL;
}

static void mr_release(struct ang_mr *mr)
{
	mr_unwatch(mr);
	atomic64_sub(mr->num_pages, &mr->mm->pinned_vm);
	mmdrop(mr->mm);
	kfree(mr);
}

/* Free a region that the device does not use. */
static void mr_free(struct ang_dev *adev, struct ang_mr *mr)
{
	ang_mr_mem_free(adev, &mr->mem);
	mr_release(mr);
}

/*
 * Free a region that was in the device's table.  If the device is stuck, the
 * pages stay pinned.
 */
static void mr_retire(struct ang_dev *adev, struct ang_mr *mr)
{
	if (READ_ONCE(adev->stuck))
		ang_mr_mem_forget(&mr->mem);
	else
		ang_mr_mem_free(adev, &mr->mem);
	mr_release(mr);
}

/* Return: number of pages of a region; 0 if it is empty or too long. */
static u32 count_pages(u64 addr, u64 length)
{
	u64 end, pages;

	if (!length || check_add_overflow(addr, length, &end))
		return 0;
	pages = ((end - 1) >> PAGE_SHIFT) - (addr >> PAGE_SHIFT) + 1;
	return pages <= ANG_MR_MAX_PAGES ? pages : 0;
}

/*
 * Pins a region.  Pinning may replace pages, for example the zero page by a
 * copy.  That marks a watched region as stale: then unpin and pin again, once.
 */
static int mr_pin(struct ang_dev *adev, struct ang_mr *mr)
{
	unsigned long addr = mr->addr & PAGE_MASK;
	int ret, tries;

	for (tries = 0; ; tries++) {
		if (mr->watch)
			ang_watch_begin(mr->watch);
		ret = ang_mr_pin(&mr->mem, addr, mr->num_pages, mr_writable(mr));
		if (ret || !mr->watch || tries || !ang_watch_changed(mr->watch))
			return ret;
		ang_mr_mem_free(adev, &mr->mem);
		mr->mem = (struct ang_mr_mem){};
	}
}

static int mr_watch(struct ang_mr *mr, struct ang_domain *dom)
{
	struct ang_watch *watch = ang_watch_new(dom, mr->addr & PAGE_MASK,
						mr->num_pages);

	if (IS_ERR(watch))
		return PTR_ERR(watch);
	mr->watch = watch;
	return 0;
}

static struct ang_mr *mr_new(struct ang_domain *dom,
			     const struct angara_mr_register *cmd)
{
	u64 addr = untagged_addr(cmd->addr);
	u32 pages = count_pages(addr, cmd->length);
	struct ang_mr *mr;
	int ret;

	if (!pages)
		return ERR_PTR(-EINVAL);
	/* access_ok() accepts a tag only if the process may pass tagged addresses. */
	if (!access_ok(u64_to_user_ptr(cmd->addr), cmd->length))
		return ERR_PTR(-EFAULT);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->addr = addr;
	mr->length = cmd->length;
	mr->access = cmd->access;
	mr->num_pages = pages;
	ret = mm_charge(current->mm, pages);
	if (ret) {
		kfree(mr);
		return ERR_PTR(ret);
	}
	mr->mm = current->mm;
	mmgrab(mr->mm);
	/*
	 * The device is not entered here, since pinning waits for page faults.
	 */
	ret = cmd->flags & ANGARA_MR_WATCH ? mr_watch(mr, dom) : 0;
	if (!ret)
		ret = mr_pin(dom->adev, mr);
	if (ret) {
		mr_free(dom->adev, mr);
		return ERR_PTR(ret);
	}
	return mr;
}

static struct angara_hw_mr *table_entry(struct ang_mem *table, u64 key)
{
	return ang_mem_at(table, ANG_MEM_MRT,
			  ANGARA_MR_SLOT(key) * sizeof(struct angara_hw_mr));
}

static int mr_fence(struct ang_domain *dom)
{
	return ang_adm_simple(dom->adev, ANGARA_ADM_FENCE, 0, 0);
}

static int entry_publish(struct ang_domain *dom, const struct ang_mr *mr)
{
	struct angara_hw_mr *entry = table_entry(&dom->mem, mr->key);
	const struct ang_mr_mem *mem = &mr->mem;
	int ret;

	*entry = (struct angara_hw_mr){
		.addr = cpu_to_le64(mem->top ? mem->top_addr :
				    mem->list[0].addr),
		.length = cpu_to_le64(mr->length),
		.first = cpu_to_le32(mem->first + offset_in_page(mr->addr)),
		.access = mr->access,
		.levels = mem->top ? 2 : 1,
		.page_shift = mem->page_shift,
		.key = cpu_to_le64(mr->key),
	};
	ret = mr_fence(dom);
	if (!ret)
		WRITE_ONCE(entry->valid, 1);
	return ret;
}

/*
 * Invalidates an entry.  If the fence fails, only a reset ensures that the
 * device does not use the region.
 *
 * Return: 0: the device does not use the region; an error for which
 * ang_adm_undecided() is true: the region must stay allocated, but has no valid
 * entry.
 */
static int entry_withdraw(struct ang_domain *dom, u64 key)
{
	int ret;

	WRITE_ONCE(table_entry(&dom->mem, key)->valid, 0);
	if (dom->spare.count)
		WRITE_ONCE(table_entry(&dom->spare, key)->valid, 0);
	ret = mr_fence(dom);
	if (ang_adm_undecided(ret))
		return ret;
	if (ret)
		ang_dev_break(dom->adev, "the adapter failed to withdraw a memory region");
	return 0;
}

/*
 * Inserts a region under the requested key, or under a new key: the lowest free
 * slot, and random bits above the slot.
 */
static int key_insert(struct ang_domain *dom, struct angara_mr_register *cmd,
		      struct ang_mr *mr)
{
	u32 slot = 0;
	int ret;

	if (cmd->flags & ANGARA_MR_KEY) {
		mr->key = cmd->key;
		ret = xa_insert(&dom->mrs, ANGARA_MR_SLOT(cmd->key), mr,
				GFP_KERNEL_ACCOUNT);
		return ret == -EBUSY ? -EEXIST : ret;
	}
	ret = xa_alloc(&dom->mrs, &slot, mr, XA_LIMIT(0, ANG_MAX_MRS - 1),
		       GFP_KERNEL_ACCOUNT);
	mr->key = (get_random_u64() & ~(u64)(ANG_MAX_MRS - 1)) | slot;
	cmd->key = mr->key;
	return ret == -EBUSY ? -ENOSPC : ret;
}

static void count_mr(struct ang_domain *dom, const struct ang_mr *mr, int sign)
{
	lockdep_assert_held(&dom->mr_lock);

	WRITE_ONCE(dom->num_mrs, dom->num_mrs + sign);
	WRITE_ONCE(dom->pinned,
		   dom->pinned + sign * (s64)mr->num_pages * PAGE_SIZE);
}

static int mr_insert(struct ang_domain *dom, struct angara_mr_register *cmd,
		     struct ang_mr *mr)
{
	int ret;

	lockdep_assert_held(&dom->mr_lock);

	ret = key_insert(dom, cmd, mr);
	if (ret)
		return ret;
	ret = ang_domain_grow(dom, ANGARA_MR_SLOT(mr->key) + 1);
	if (!ret)
		ret = entry_publish(dom, mr);
	if (ret) {
		xa_erase(&dom->mrs, ANGARA_MR_SLOT(mr->key));
		return ret;
	}
	if (mr->watch)
		ang_watch_show(mr->watch, ANGARA_MR_SLOT(mr->key));
	else
		ang_watch_none(dom, ANGARA_MR_SLOT(mr->key));
	count_mr(dom, mr, 1);
	trace_angara_mr(dom->adev, ANGARA_MR_SLOT(mr->key), mr->length,
			&mr->mem);
	return 0;
}

int ang_ioctl_mr_reg(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_domain *dom = ang_file_domain(ucmd->file);
	struct ang_dev *adev = ucmd->h->adev;
	struct angara_mr_register *cmd = arg;
	struct ang_mr *mr;
	int ret;

	if (cmd->flags & ~(ANGARA_MR_KEY | ANGARA_MR_WATCH) || cmd->reserved)
		return -EOPNOTSUPP;
	if (cmd->access & ~ANGARA_ACCESS_ALL)
		return -EINVAL;
	if (!dom)
		return -ENXIO;
	if (READ_ONCE(adev->broken))
		return -EIO;

	mr = mr_new(dom, cmd);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	ret = ang_handle_enter(ucmd->h);
	if (ret) {
		mr_free(adev, mr);
		return ret;
	}
	ret = ang_mr_map(adev, &mr->mem);
	if (ret)
		goto err_free;
	ret = mutex_lock_killable(&dom->mr_lock);
	if (ret)
		goto err_free;
	ret = mr_insert(dom, cmd, mr);
	mutex_unlock(&dom->mr_lock);
	if (ret)
		goto err_free;
	ang_dev_exit(adev);
	return 0;

err_free:
	mr_free(adev, mr);
	ang_dev_exit(adev);
	return ret;
}

static int mr_remove(struct ang_domain *dom, u64 key)
{
	struct ang_mr *mr;
	int ret;

	ret = mutex_lock_killable(&dom->mr_lock);
	if (ret)
		return ret;
	mr = xa_load(&dom->mrs, ANGARA_MR_SLOT(key));
	ret = mr && mr->key == key ? entry_withdraw(dom, key) : -ENOENT;
	if (!ret) {
		mr_unwatch(mr);
		xa_erase(&dom->mrs, ANGARA_MR_SLOT(key));
		count_mr(dom, mr, -1);
	}
	mutex_unlock(&dom->mr_lock);
	if (!ret)
		mr_retire(dom->adev, mr);
	return ret;
}

int ang_ioctl_mr_dereg(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_domain *dom = ang_file_domain(ucmd->file);
	struct angara_mr_deregister *cmd = arg;
	int ret;

	ret = ang_handle_enter(ucmd->h);
	if (ret)
		return ret;
	if (cmd->flags)
		ret = -EOPNOTSUPP;
	else
		ret = dom ? mr_remove(dom, cmd->key) : -ENXIO;
	ang_dev_exit(ucmd->h->adev);
	return ret;
}

/**
 * ang_mrs_free() - free all regions of a domain
 * @dom: domain that the device no longer uses, or whose device is stuck
 *
 * Context: process; may sleep.
 */
void ang_mrs_free(struct ang_domain *dom)
{
	struct ang_mr *mr;
	unsigned long key;

	mutex_lock(&dom->mr_lock);
	xa_for_each(&dom->mrs, key, mr) {
		count_mr(dom, mr, -1);
		mr_retire(dom->adev, mr);
	}
	xa_destroy(&dom->mrs);
	mutex_unlock(&dom->mr_lock);
}
