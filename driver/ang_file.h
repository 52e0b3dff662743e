/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Angara adapter: open files of /dev/angaraN with their domains, and open files
 * of contexts.  Locks are explained in ang_dev.h.
 *
 * Lifetimes.  A context's file holds a reference to the file of its domain, so
 * a domain exists as long as its contexts.  handle.c implements close(2): the
 * file's objects on the device are destroyed before their memory is freed.
 */
#ifndef ANG_FILE_H
#define ANG_FILE_H

#include <linux/completion.h>
#include <linux/poll.h>
#include <linux/refcount.h>
#include <linux/scatterlist.h>

#include "ang_dev.h"

/* Kinds of memory that a context or domain shares with the device. */
#define ANG_MEM_SQ	0
#define ANG_MEM_CQ	1
#define ANG_MEM_CTL	2
#define ANG_MEM_CTR	3
#define ANG_MEM_MRT	4	/* a domain's table of regions; never mapped */
#define ANG_MEM_MSG	5	/* receive buffer; no pages if not requested */
#define ANG_MEM_NUM	6

/*
 * More areas that processes can map; their offsets follow those of the kinds
 * above.
 */
#define ANG_MAP_DB	ANG_MEM_NUM		/* the doorbell page */
#define ANG_MAP_WATCH	(ANG_MEM_NUM + 1)	/* notice of stale regions */

/*
 * The notice of stale regions: struct angara_watch, then a bit for each slot.
 */
#define ANG_WATCH_BYTES	(sizeof(struct angara_watch) + ANG_MAX_MRS / BITS_PER_BYTE)
#define ANG_WATCH_PAGES	DIV_ROUND_UP(ANG_WATCH_BYTES, PAGE_SIZE)

/*
 * Distance between the mmap offsets of two kinds of memory; no kind is larger.
 */
#define ANG_MMAP_STRIDE	(1UL << 28)

/**
 * struct ang_mem - pages shared with the device
 * @pages: the pages; a page is freed when neither the context nor a mapping
 *	refers to it
 * @sgt: the pages, mapped for the device
 * @list: DMA addresses of the pages; NULL once unmapped from the device
 * @list_addr: DMA address of @list
 * @count: number of pages
 * @first: index of the first page of each kind
 * @num: number of pages of each kind
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

struct ang_handle;

/**
 * struct ang_handle_ops - what differs between the two kinds of files
 * @take: destroy the objects that the file has on the device.  Afterwards the
 *	device uses none of the file's memory, or that memory is never freed.
 *	Return: true; false: another thread is about to stop the device, and
 *	will destroy the objects.  Called under ang_dev.registration_lock;
 *	succeeds once for each file
 * @wake: wake sleepers that are not on the wait queue; NULL if there are none.
 *	Called under ang_dev.files_lock, or with registration_lock held for
 *	writing
 * @mapping: get the address space that lists mappings of the doorbell; NULL for
 *	files without a doorbell.  Called with ang_dev.registration_lock held
 *	for writing
 * @free: free the file's structure; ang_irq() may still read the structure
 */
struct ang_handle_ops {
	bool (*take)(struct ang_handle *h);
	void (*wake)(struct ang_handle *h);
	struct address_space *(*mapping)(struct ang_handle *h);
	void (*free)(struct ang_handle *h);
};

/**
 * struct ang_handle - an open file, of a device or of a context
 * @adev: the device; constant
 * @ops: operations of its kind of file; constant
 * @entry: in ang_dev.files; under ang_dev.files_lock
 * @stale: the device was unregistered or stopped after the file was opened:
 *	only close(2) is allowed.  Written with ang_dev.registration_lock and
 *	map_lock held for writing; read under one of them, or without a lock
 *	where an outdated value does no harm
 * @taken: ang_handle_ops.take has returned true; under
 *	ang_dev.registration_lock
 * @wait: sleepers in poll(2)
 * @end: work item that calls ang_handle_ops.take when the file is closed
 * @ended: completed when @end is done
 * @over: set by close(2) when it stops waiting for @end, and by @end when it is
 *	done.  If both set it, the second finds @over set, and frees the handle;
 *	atomic
 */
struct ang_handle {
	struct ang_dev *adev;
	const struct ang_handle_ops *ops;
	struct list_head entry;
	bool stale;
	bool taken;
	wait_queue_head_t wait;
	struct work_struct end;
	struct completion ended;
	atomic_t over;
};

/**
 * struct ang_domain - partition and memory regions that contexts share
 * @adev: device; constant, as all members down to @job
 * @num: number on the device
 * @pkey: partition
 * @job: key of the job, 0 for none
 * @in_doubt: it is unknown whether the device has the domain, since the process
 *	was killed before the device had answered
 * @mr_lock: see ang_dev.h
 * @mem: table of regions; under @mr_lock, as all members down to @pinned
 * @spare: table that the device may use instead of @mem: the process was killed
 *	before the device answered.  Without pages if there is no such table
 * @slots: entries of the table
 * @mrs: memory regions by slot
 * @num_mrs: number of memory regions; read without the lock, too
 * @pinned: bytes that the regions pin; read without the lock, too
 * @watch_lock: see ang_dev.h
 * @watch_pages: notice of stale regions, starts with struct angara_watch;
 *	written under @watch_lock
 * @num_watches: watches that are not removed; written under @watch_lock
 * @ended: watches that have ended and are to be removed; under @watch_lock
 * @num_ended: number of watches that have ended; under @watch_lock
 * @watch_wait: woken when a watch is removed
 * @watch_work: removes the watches in @ended
 * @refs: references of the file, and of @watch_work while it is queued or runs
 * @rcu: delays freeing until ang_dev_ctx_info(), which finds the domain through
 *	a context, no longer reads it
 */
struct ang_domain {
	struct ang_dev *adev;
	u32 num;
	u32 pkey;
	u64 job;
	bool in_doubt;
	struct mutex mr_lock;
	struct ang_mem mem;
	struct ang_mem spare;
	u32 slots;
	struct xarray mrs;
	u32 num_mrs;
	u64 pinned;
	spinlock_t watch_lock;
	struct page *watch_pages[ANG_WATCH_PAGES];
	u32 num_watches;
	struct list_head ended;
	u32 num_ended;
	wait_queue_head_t watch_wait;
	struct work_struct watch_work;
	refcount_t refs;
	struct rcu_head rcu;
};

/**
 * struct ang_file - an open /dev/angaraN
 * @h: the file
 * @lock: see ang_dev.h
 * @dom: the domain; set once under @lock, read with ang_file_domain()
 * @owned: rows to clear when this file is closed, struct ang_owned; under @lock
 */
struct ang_file {
	struct ang_handle h;
	struct mutex lock;
	struct ang_domain *dom;
	struct list_head owned;
};

static inline struct ang_file *to_ang_file(struct ang_handle *h)
{
	return container_of(h, struct ang_file, h);
}

static inline struct ang_domain *ang_file_domain(struct ang_file *file)
{
	/* Pairs with the release in ang_ioctl_domain_create(). */
	return smp_load_acquire(&file->dom);
}

/**
 * struct ang_uctx - a context and its open file
 * @h: the file
 * @of: the domain's file, referenced; its f_mapping, which is that of the
 *	device's inode, lists mappings of the doorbell; constant, as all members
 *	down to @sink
 * @dom: the domain
 * @num: number on the device
 * @pid: process that created the context, referenced
 * @uid: user that created the context
 * @mem: queues, control page, counters, receive buffer
 * @ctl: kernel address of the control page; the process writes it at any time
 * @ctr: kernel address of the counters; the device writes them at any time
 * @sink: page that replaces the doorbell page when the device is stopped; NULL
 *	without ANGARA_CAP_DOORBELL_MMAP
 * @posted: the command that creates the context was sent, and the device has
 *	not refused it; constant once the context has a file
 * @in_doubt: it is unknown whether the device has the context, since the
 *	process was killed before the device had answered; constant once the
 *	context has a file
 * @eventfd_lock: see ang_dev.h
 * @eventfd: signalled together with @h's wait queue; under @eventfd_lock
 * @rcu: delays freeing until ang_irq() no longer reads the context
 */
struct ang_uctx {
	struct ang_handle h;
	struct file *of;
	struct ang_domain *dom;
	u32 num;
	struct pid *pid;
	kuid_t uid;
	struct ang_mem mem;
	struct angara_ctl *ctl;
	__le64 *ctr;
	struct page *sink;

	bool posted;
	bool in_doubt;

	spinlock_t eventfd_lock;
	struct eventfd_ctx *eventfd;

	struct rcu_head rcu;
};

static inline struct ang_uctx *to_ang_uctx(struct ang_handle *h)
{
	return container_of(h, struct ang_uctx, h);
}

/**
 * struct ang_ucmd - an ioctl in progress
 * @filp: the open file
 * @h: handle of @filp
 * @file: the open file of a device, or NULL
 * @uctx: the open file of a context, or NULL
 * @ubuffer: user address of the argument
 * @user_size: bytes of the argument that the caller knows
 * @cmd: kernel copy of the argument, as long as this kernel's structure
 * @new_file: out: file to install as @new_fd if the ioctl succeeds, or NULL
 * @new_fd: out: descriptor reserved for @new_file
 */
struct ang_ucmd {
	struct file *filp;
	struct ang_handle *h;
	struct ang_file *file;
	struct ang_uctx *uctx;
	void __user *ubuffer;
	u32 user_size;
	void *cmd;
	struct file *new_file;
	int new_fd;
};

/* cred.c */
u32 ang_default_pkey(void);
void ang_file_cred(struct ang_file *file, struct ang_cred *cred);

/* handle.c */
int ang_handle_start(void);
void ang_handle_stop(void);
void ang_handle_init(struct ang_handle *h, struct ang_dev *adev,
		     const struct ang_handle_ops *ops);
void ang_handle_undo(struct ang_handle *h);
int ang_handle_release(struct inode *inode, struct file *filp);
bool ang_handle_take(struct ang_handle *h);
void ang_handle_wake(struct ang_handle *h, __poll_t why);
int ang_handle_glance(const struct ang_handle *h);
int ang_handle_enter(struct ang_handle *h);
__poll_t ang_handle_poll(struct file *filp, poll_table *wait,
			 __poll_t (*events)(struct ang_handle *h));

/* domain_table.c */
int ang_table_alloc(struct ang_domain *dom, struct ang_mem *mem, u32 slots);
void ang_table_free(struct ang_domain *dom, struct ang_mem *mem);
int ang_table_post(struct ang_domain *dom, u8 opcode, const struct ang_mem *mem,
		   u32 slots);
int ang_domain_grow(struct ang_domain *dom, u32 slots);
void ang_domain_put(struct ang_domain *dom);

/* domain.c */
int ang_ioctl_domain_create(struct ang_ucmd *ucmd, void *arg);
bool ang_domain_take(struct ang_domain *dom);
void ang_domain_free(struct ang_domain *dom);

/* ctx.c */
int ang_ioctl_ctx_create(struct ang_ucmd *ucmd, void *arg);
void ang_uctx_signal(struct ang_uctx *uctx);

/* queue.c */
int ang_dma_map_pages(struct ang_dev *adev, struct sg_table *sgt,
		      struct page **pages, u32 count, enum dma_data_direction dir);
int ang_mem_alloc(struct ang_dev *adev, struct ang_mem *mem, const u32 *sizes);
void ang_mem_unmap(struct ang_dev *adev, struct ang_mem *mem);
void ang_mem_free(struct ang_mem *mem);
void *ang_mem_at(const struct ang_mem *mem, u32 kind, size_t offset);
u64 ang_mem_list(const struct ang_mem *mem, u32 kind);
u64 ang_mmap_offset(u32 kind);
int ang_mmap(struct file *filp, struct vm_area_struct *vma);
void ang_doorbells_unmap(struct ang_dev *adev);

/* mr.c */
int ang_ioctl_mr_reg(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_mr_dereg(struct ang_ucmd *ucmd, void *arg);
void ang_mrs_free(struct ang_domain *dom);

/* tree_ioctl.c */
int ang_ioctl_tree_set(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_tree_get(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_tree_clear(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_tree_delegate(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_tree_check(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_join(struct ang_ucmd *ucmd, void *arg);
int ang_ioctl_leave(struct ang_ucmd *ucmd, void *arg);
void ang_file_disown_trees(struct ang_file *file);
void ang_file_owned_free(struct ang_file *file);

/* manage.c */
int ang_ioctl_manage(struct ang_ucmd *ucmd, void *arg);

/* file.c */
int ang_file_start(void);
void ang_file_stop(void);
int ang_file_name(struct ang_dev *adev);
int ang_file_add(struct ang_dev *adev);

#endif /* ANG_FILE_H */
