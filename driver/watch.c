// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watched regions: a process that caches registrations is notified when the
 * addresses of a region no longer map the pinned pages.
 *
 * Pages of a region stay pinned, and the device keeps using them, whatever the
 * process does to its address space: the device never reaches memory of another
 * process.  But if the allocator or a file mapping puts new memory at the same
 * addresses, the process expects operations to use the new pages.  Then the
 * region is stale.  The process maps the notice: a bit for each slot of the
 * domain, set if its region is stale, and a count that is incremented whenever
 * a bit is set.  So a process that checks the count before each use needs only
 * one load.
 *
 * Events that leave the pages in place are ignored: changes of protection by
 * mprotect(2), fork(2) and NUMA balancing, and pages marked clean.  All other
 * events make a region stale, even if the addresses may map the same pages
 * again afterwards: registering the region again unnecessarily costs only time.
 *
 * Removing a notifier waits for changes of the address space in progress.
 * Threads of the process can prolong this wait by changing other addresses
 * repeatedly, and the wait cannot be killed.  MR_DEREG and close(2) must not
 * wait for that: another process may have got the domain's file, and a thread
 * of the kernel may drop the file's last reference.  So they only end a watch:
 * the watch sends no more notices, and a work item of its domain removes the
 * watch later.  Until then the watch counts as one of ANGARA_MAX_WATCHED.  A
 * registration that would exceed this limit removes an ended watch itself, so
 * no process depends on the work item.
 *
 * The work item holds a reference to its domain, but no reference to the device
 * and no lock.  Pinned pages are unpinned and uncharged before it runs.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "ang_file.h"
#include "watch.h"

#define STALE_AT	sizeof(struct angara_watch)

/*
 * No word crosses the end of a page, and the notice ends before the next mmap
 * offset.
 */
static_assert(STALE_AT % sizeof(u64) == 0 && ANG_MAX_MRS % BITS_PER_LONG == 0);
static_assert(ANG_WATCH_BYTES <= ANG_MMAP_STRIDE);

static struct workqueue_struct *watch_wq;

int ang_watch_start(void)
{
	watch_wq = alloc_workqueue("angara_watch", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return watch_wq ? 0 : -ENOMEM;
}

/* Waits until all watches that have ended are removed. */
void ang_watch_stop(void)
{
	destroy_workqueue(watch_wq);
}

/**
 * struct ang_watch - watch of a region; constant except @entry, @slot and
 * @shown
 * @mni: notifier of the region's addresses
 * @dom: domain of the region
 * @seq: result of mmu_interval_read_begin() before the pages were pinned
 * @entry: entry in ang_domain.ended; under ang_domain.watch_lock, as @slot and
 *	@shown
 * @slot: slot of the region, valid while @shown
 * @shown: the process may know the region's key, so changes have to be reported
 */
struct ang_watch {
	struct mmu_interval_notifier mni;
	struct ang_domain *dom;
	unsigned long seq;
	struct list_head entry;
	u32 slot;
	bool shown;
};

/*
 * Return: address of a word of the notice; no word crosses the end of a page.
 */
static void *notice_at(struct ang_domain *dom, size_t off)
{
	return page_address(dom->watch_pages[off / PAGE_SIZE]) + off % PAGE_SIZE;
}

static unsigned long *stale_word(struct ang_domain *dom, u32 slot)
{
	return notice_at(dom, STALE_AT + BIT_WORD(slot) * sizeof(u64));
}

static void watch_tell(struct ang_watch *w)
{
	u64 *seq = notice_at(w->dom, offsetof(struct angara_watch, seq));

	lockdep_assert_held(&w->dom->watch_lock);

	set_bit(w->slot % BITS_PER_LONG, stale_word(w->dom, w->slot));
	/*
	 * Pairs with the process's acquire: a process that sees the new count
	 * also sees the bit.
	 */
	smp_store_release(seq, *seq + 1);
}

static bool event_counts(enum mmu_notifier_event event)
{
	switch (event) {
	case MMU_NOTIFY_PROTECTION_VMA:
	case MMU_NOTIFY_PROTECTION_PAGE:
	case MMU_NOTIFY_SOFT_DIRTY:
		return false;
	default:
		return true;
	}
}

/*
 * Marks a region as stale. May be called in atomic context, and with locks of
 * the address space held.
 */
static bool watch_invalidate(struct mmu_interval_notifier *mni,
			     const struct mmu_notifier_range *range,
			     unsigned long cur_seq)
{
	struct ang_watch *w = container_of(mni, struct ang_watch, mni);

	if (!event_counts(ang_range_event(range)))
		return true;
	spin_lock(&w->dom->watch_lock);
	mmu_interval_set_seq(mni, cur_seq);
	if (w->shown)
		watch_tell(w);
	spin_unlock(&w->dom->watch_lock);
	return true;
}

static const struct mmu_interval_notifier_ops watch_ops = {
	.invalidate = watch_invalidate,
};

/* Return: a watch that has ended, which the caller removes; or NULL. */
static struct ang_watch *watch_next_ended(struct ang_domain *dom)
{
	struct ang_watch *w;

	spin_lock(&dom->watch_lock);
	w = list_first_entry_or_null(&dom->ended, struct ang_watch, entry);
	if (w)
		list_del(&w->entry);
	spin_unlock(&dom->watch_lock);
	return w;
}

/* Stop counting a watch that was removed, or could not be created. */
static void watch_count_out(struct ang_domain *dom, bool ended)
{
	spin_lock(&dom->watch_lock);
	WRITE_ONCE(dom->num_watches, dom->num_watches - 1);
	dom->num_ended -= ended;
	spin_unlock(&dom->watch_lock);
	wake_up(&dom->watch_wait);
}

/*
 * Removes a watch; sleeps as long as the watched process changes its address
 * space.
 */
static void watch_remove(struct ang_watch *w)
{
	struct ang_domain *dom = w->dom;

	mmu_interval_notifier_remove(&w->mni);
	kfree(w);
	watch_count_out(dom, true);
}

static void watch_work(struct work_struct *work)
{
	struct ang_domain *dom = container_of(work, struct ang_domain, watch_work);
	struct ang_watch *w;

	while ((w = watch_next_ended(dom)))
		watch_remove(w);
	ang_domain_put(dom);
}

/*
 * Counts a new watch.  Return: 0; -ENOSPC the domain has ANGARA_MAX_WATCHED
 * watches; -EBUSY it has that many, but some of these watches have ended and
 * can be removed.
 */
static int watch_count_in(struct ang_domain *dom)
{
	int ret = 0;

	spin_lock(&dom->watch_lock);
	if (dom->num_watches < ANGARA_MAX_WATCHED)
		WRITE_ONCE(dom->num_watches, dom->num_watches + 1);
	else
		ret = dom->num_ended ? -EBUSY : -ENOSPC;
	spin_unlock(&dom->watch_lock);
	return ret;
}

static int watch_reserve(struct ang_domain *dom)
{
	struct ang_watch *w;
	int ret;

	while ((ret = watch_count_in(dom)) == -EBUSY) {
		w = watch_next_ended(dom);
		if (w)
			watch_remove(w);
		else if (wait_event_killable(dom->watch_wait,
					     READ_ONCE(dom->num_watches) <
					     ANGARA_MAX_WATCHED))
			return -EINTR;
	}
	return ret;
}

/**
 * ang_watch_new() - watch addresses of the current process
 * @dom: domain
 * @addr: start of a page
 * @num_pages: number of pages to watch
 *
 * Return: the watch, undo with ang_watch_end(); -ENOSPC the domain has
 * ANGARA_MAX_WATCHED watches; -ENOMEM; -EINTR a signal arrived.
 * Context: process; may sleep; no lock held.
 */
struct ang_watch *ang_watch_new(struct ang_domain *dom, unsigned long addr,
				u32 num_pages)
{
	struct ang_watch *w;
	int ret = watch_reserve(dom);

	if (ret)
		return ERR_PTR(ret);
	ret = -ENOMEM;
	w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);
	if (!w)
		goto err_count;
	w->dom = dom;
	ret = mmu_interval_notifier_insert(&w->mni, current->mm, addr,
					   (unsigned long)num_pages << PAGE_SHIFT,
					   &watch_ops);
	if (ret)
		goto err_free;
	return w;

err_free:
	kfree(w);
err_count:
	watch_count_out(dom, false);
	return ERR_PTR(ret);
}

/**
 * ang_watch_begin() - start to record changes, before the pages are pinned
 * @w: watch, before ang_watch_show()
 *
 * Waits for changes of the addresses that are in progress.
 */
void ang_watch_begin(struct ang_watch *w)
{
	w->seq = mmu_interval_read_begin(&w->mni);
}

/**
 * ang_watch_changed() - have the addresses changed since ang_watch_begin()?
 * @w: watch, before ang_watch_show()
 */
bool ang_watch_changed(struct ang_watch *w)
{
	bool changed;

	spin_lock(&w->dom->watch_lock);
	changed = mmu_interval_read_retry(&w->mni, w->seq);
	spin_unlock(&w->dom->watch_lock);
	return changed;
}

/**
 * ang_watch_show() - start to report changes, before the process gets the key
 * @w: watch
 * @slot: slot of the region
 */
void ang_watch_show(struct ang_watch *w, u32 slot)
{
	spin_lock(&w->dom->watch_lock);
	clear_bit(slot % BITS_PER_LONG, stale_word(w->dom, slot));
	w->slot = slot;
	w->shown = true;
	if (mmu_interval_read_retry(&w->mni, w->seq))
		watch_tell(w);
	spin_unlock(&w->dom->watch_lock);
}

/**
 * ang_watch_none() - clear the stale bit of a slot, before the process gets the
 * key of a region without a watch
 * @dom: domain
 * @slot: slot of the region; no watch reports changes for this slot
 */
void ang_watch_none(struct ang_domain *dom, u32 slot)
{
	clear_bit(slot % BITS_PER_LONG, stale_word(dom, slot));
}

/**
 * ang_watch_end() - end a watch
 * @w: watch; freed
 *
 * The watch sends no more notices, so another region can use its slot.
 * Context: process; the domain's file exists.
 */
void ang_watch_end(struct ang_watch *w)
{
	struct ang_domain *dom = w->dom;

	spin_lock(&dom->watch_lock);
	w->shown = false;
	list_add_tail(&w->entry, &dom->ended);
	dom->num_ended++;
	spin_unlock(&dom->watch_lock);
	/* Take a reference for the work item. */
	refcount_inc(&dom->refs);
	if (!queue_work(watch_wq, &dom->watch_work))
		ang_domain_put(dom);
}

/**
 * ang_watch_init() - allocate a domain's notice
 * @dom: domain
 *
 * Return: 0 or -ENOMEM.
 */
int ang_watch_init(struct ang_domain *dom)
{
	u32 i;

	spin_lock_init(&dom->watch_lock);
	INIT_LIST_HEAD(&dom->ended);
	init_waitqueue_head(&dom->watch_wait);
	INIT_WORK(&dom->watch_work, watch_work);
	for (i = 0; i < ANG_WATCH_PAGES; i++) {
		dom->watch_pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!dom->watch_pages[i]) {
			ang_watch_exit(dom);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * ang_watch_exit() - free a domain's notice
 * @dom: domain whose watches have ended; some may not be removed yet
 */
void ang_watch_exit(struct ang_domain *dom)
{
	u32 i;

	for (i = 0; i < ANG_WATCH_PAGES && dom->watch_pages[i]; i++)
		put_page(dom->watch_pages[i]);
}

/**
 * ang_watch_mmap() - map the notice of a domain
 * @filp: file of a device
 * @vma: shared mapping of the notice, or of its first pages
 *
 * Return: 0; -ENODEV the device is gone; -ESTALE it was stopped since the file
 * was opened; -ENXIO the file has no domain; -EINVAL the mapping is longer than
 * the notice, does not start at its beginning, or is private; -EACCES the notice
 * is read only.
 * Context: as ang_mmap().
 */
int ang_watch_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct ang_handle *h = filp->private_data;
	struct ang_domain *dom = ang_file_domain(to_ang_file(h));
	unsigned long num = vma_pages(vma);
	int ret = ang_handle_glance(h);

	if (ret)
		return ret;
	if (!dom)
		return -ENXIO;
	if (vma->vm_pgoff != PHYS_PFN(ang_mmap_offset(ANG_MAP_WATCH)) ||
	    num > ANG_WATCH_PAGES || !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	ang_vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND, VM_MAYWRITE);
	return vm_insert_pages(vma, vma->vm_start, dom->watch_pages, &num);
}
