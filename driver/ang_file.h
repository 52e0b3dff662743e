/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Angara adapter: an open /dev/angaraN, its context and memory regions.
 * Locks are explained in ang_dev.h.
 */
#ifndef ANG_FILE_H
#define ANG_FILE_H

#include <linux/completion.h>
#include <linux/poll.h>
#include <linux/refcount.h>
#include <linux/scatterlist.h>

#include "ang_dev.h"

/* Memory that a context and the device share. */
#define ANG_MEM_SQ	0
#define ANG_MEM_CQ	1
#define ANG_MEM_CTL	2
#define ANG_MEM_CTR	3
#define ANG_MEM_MRT	4	/* memory region table: never mapped to users */
#define ANG_MEM_MSG	5	/* message area; of no pages where nobody asked */
#define ANG_MEM_NUM	6

#define ANG_MAP_DB	ANG_MEM_NUM /* no memory: the doorbell page is mapped there */

/* Distance of the mmap offsets of two kinds of memory; none is that long. */
#define ANG_MMAP_STRIDE	(1UL << 28)

/**
 * struct ang_mem - pages shared with the device
 * @pages: the pages; they live as long as the context or a mapping of them
 * @sgt: the pages, mapped for the device
 * @list: their DMA addresses; NULL once unmapped from the device
 * @list_addr: DMA address of @list
 * @count: number of pages
 * @first: first page of each kind
 * @num: pages of each kind
 */
struct ang_mem {
	struct page **pages;
	struct sg_table sgt;
	__le64 *list;
	u64 list_addr;
	u32 count;
	u32 first[ANG_MEM_NUM];
	u32 num[ANG_MEM_NUM];
};

/**
 * struct ang_uctx - context of an open file
 * @file: whose; constant, as all down to @ctr
 * @num: number on the device
 * @pkey: partition
 * @pid: process that created it, referenced
 * @uid: user that created it
 * @mem: queues, control page, counters, memory region table, message area
 * @ctl: kernel address of the control page; the process writes it at any time
 * @ctr: kernel address of the counters; the device writes them at any time
 * @sink: page that takes what is written to the doorbell once that is not the
 *	context's any more; NULL without ANGARA_CAP_DOORBELL_MMAP; constant
 * @in_doubt: its process was killed before the device had answered CTX_CREATE
 * @dead: no longer on the device; written when the file is closed, or with
 *	ang_dev.registration_lock held for writing
 * @mr_lock: see ang_dev.h
 * @mrs: memory regions by key; under @mr_lock
 * @num_mrs: how many; written under @mr_lock
 * @pinned: bytes that they pin; written under @mr_lock
 * @eventfd_lock: see ang_dev.h
 * @eventfd: signalled together with @file's wait queue; under @eventfd_lock
 * @rcu: for ang_irq()
 */
struct ang_uctx {
	struct ang_file *file;
	u32 num;
	u32 pkey;
	struct pid *pid;
	kuid_t uid;
	struct ang_mem mem;
	struct angara_ctl *ctl;
	__le64 *ctr;
	struct page *sink;

	bool in_doubt;
	bool dead;

	struct mutex mr_lock;
	struct xarray mrs;
	u32 num_mrs;
	u64 pinned;

	spinlock_t eventfd_lock;
	struct eventfd_ctx *eventfd;

	struct rcu_head rcu;
};

/**
 * struct ang_file - an open /dev/angaraN
 * @adev: the device; constant
 * @entry: in ang_dev.files; under ang_dev.files_lock
 * @mapping: where its mappings are listed; constant
 * @stale: the device was unregistered or stopped after the file was opened:
 *	close(2) is all that is left.  Written with ang_dev.registration_lock and
 *	map_lock held for writing; read under either, or without where a late
 *	answer does no harm
 * @lock: see ang_dev.h
 * @wait: who sleeps in poll(2)
 * @uctx: the context; set once under @lock, read with ang_file_uctx()
 * @owned: serial of each tree's row that goes with this file, or 0; under @lock
 * @refs: close(2) and @end
 * @end: takes from the device what the file has there
 * @ended: @end has done so
 * @rcu: for ang_irq(), which finds @wait through the context
 */
struct ang_file {
	struct ang_dev *adev;
	struct list_head entry;
	struct address_space *mapping;
	bool stale;
	struct mutex lock;
	wait_queue_head_t wait;
	struct ang_uctx *uctx;
	u64 owned[ANGARA_MAX_TREES];
	refcount_t refs;
	struct work_struct end;
	struct completion ended;
	struct rcu_head rcu;
};

static inline struct ang_uctx *ang_file_uctx(struct ang_file *file)
{
	/* Pairs with the release in ang_ioctl_ctx_create(). */
	return smp_load_acquire(&file->uctx);
}

/**
 * struct ang_ucmd - an ioctl under way
 * @file: the open file
 * @ubuffer: the argument
 * @user_size: bytes of it that the caller knows
 * @cmd: kernel copy of it, as long as this kernel's structure
 */
struct ang_ucmd {
	struct ang_file *file;
	void __user *ubuffer;
	u32 user_size;
	void *cmd;
};

/* main.c */
u32 ang_default_pkey(void);
void ang_file_cred(struct ang_file *file, struct ang_cred *cred);
int ang_file_glance(const struct ang_file *file);
int ang_file_enter(struct ang_file *file);

/* ctx.c */
int ang_ioctl_ctx_create(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_kick(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_eventfd(struct ang_ucmd *ucmd, void *arg);
__poll_t ang_uctx_poll(struct ang_uctx *uctx);
void ang_uctx_signal(struct ang_uctx *uctx);
bool ang_uctx_kill(struct ang_uctx *uctx);
void ang_uctx_free(struct ang_uctx *uctx);

/* queue.c */
int ang_dma_map_pages(struct ang_dev *adev, struct sg_table *sgt,
		      struct page **pages, u32 count);
int ang_mem_alloc(struct ang_dev *adev, struct ang_mem *mem, const u32 *sizes);
void ang_mem_unmap(struct ang_dev *adev, struct ang_mem *mem);
void ang_mem_free(struct ang_mem *mem);
void *ang_mem_at(const struct ang_mem *mem, u32 kind, size_t offset);
u64 ang_mem_list(const struct ang_mem *mem, u32 kind);
u64 ang_mmap_offset(u32 kind);
int ang_mmap(struct file *filp, struct vm_area_struct *vma);
void ang_file_unmap_doorbell(struct ang_file *file);

/* mr.c */
int ang_ioctl_mr_reg(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_mr_dereg(struct ang_ucmd *ucmd, void *arg);
void ang_mrs_free(struct ang_uctx *uctx);

/* tree_ioctl.c */
int ang_ioctl_tree_set(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_tree_get(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_tree_clear(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_tree_delegate(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_tree_check(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_join(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_leave(struct ang_ucmd *ucmd, void *arg);
void ang_file_disown_trees(struct ang_file *file);

/* main.c */
extern const struct file_operations ang_fops;

extern struct class ang_class;
extern dev_t ang_devt;

#endif /* ANG_FILE_H */
