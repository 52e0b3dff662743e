/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Angara adapter: internal header of the driver's core (angara.ko).
 *
 * Objects:
 *  - a transport (loopback, PCI) makes an &struct ang_dev, gives it
 *    &struct ang_bus_ops and registers it; it calls ang_irq() for interrupts;
 *  - &struct ang_file is an open /dev/angaraN, &struct ang_domain its domain,
 *    &struct ang_mr a memory region of the domain, &struct ang_uctx a context
 *    of the domain.  Each context has an open file of its own.
 *
 * Locks, in the order in which they are taken:
 *
 *   ang_dev.registration_lock  Read: the device stays registered; see
 *	ang_dev_enter().  Write: bring-up, unregistering, and both
 *	halves of a restart, ang_dev_down() and ang_dev_up().
 *   graphs_lock (graph.c)	The descriptions that devices share.
 *   ang_file.lock		Creation of the file's domain; the list of owned
 *	rows.
 *   ang_domain.mr_lock		The domain's memory regions and their table.
 *   ang_dev.tree_lock		The stored rows and delegations.
 *   ang_dev.mgmt_lock		The request of in-band management under way.
 *   ang_dev.kept_lock		Cached counters.
 *   ang_dev.adm_lock		Admin queue; held while a command is posted.
 *   ang_dev.break_lock		Held by ang_dev_break() during the reset.
 *   ang_dev.files_lock		Spinlock: the list of files, and the numbers of
 *	contexts and domains.
 *   ang_dev.map_lock		Read: page faults of doorbells.  Write: files become
 *	stale.
 *   ang_dev.acq_lock		Spinlock: slots of admin commands.
 *   ang_domain.watch_lock	Spinlock: a domain's watches, and its notice of
 *	stale regions.  Taken with locks of the address space held.
 *   ang_uctx.eventfd_lock	Spinlock, irq-safe.
 *
 * A thread "enters" a device with ang_dev_enter(), and leaves it with
 * ang_dev_exit(): the device stays registered and up in between.
 *
 * ang_irq() looks contexts up under RCU and takes only eventfd_lock.  No thread
 * takes mm->mmap_lock while it holds one of these locks, since a process can
 * hold its own mmap_lock for long: user memory is accessed before the device is
 * entered.  Under mm->mmap_lock only page faults of doorbells take one of these
 * locks: map_lock, which is never held for long; mmap() takes none of them.
 * ang_doorbells_unmap() takes the lock of the inode's mappings, with
 * registration_lock held and map_lock not held.  Locks of two devices are never
 * nested.
 */
#ifndef ANG_DEV_H
#define ANG_DEV_H

#include <linux/bitmap.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/dma-direction.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "ang_row.h"
#include "compat.h"

#define ANG_MAX_DEVS		(1U << 16)
#define ANG_MIN_ENTRIES		8U
#define ANG_MAX_SQ_ENTRIES	(1U << 15)
#define ANG_MAX_CQ_ENTRIES	(1U << 16)
#define ANG_MAX_MSG_BYTES	(1U << 22)
#define ANG_MAX_MRS		65536U	/* most memory regions of a domain */
#define ANG_FIRST_MRS		128U	/* entries of a new domain's table: one page */
#define ANG_ADM_ENTRIES		16U
#define ANG_AEQ_ENTRIES		128U

struct ang_dev;
struct seq_file;
struct sg_table;

enum ang_slot_state {
	ANG_SLOT_FREE,
	ANG_SLOT_WAITED,	/* no answer yet; the caller waits */
	ANG_SLOT_LEFT,		/* no answer yet; the caller no longer waits */
	ANG_SLOT_DONE,		/* the caller has not read the answer yet */
};

/**
 * struct ang_adm_slot - slot of an admin command in flight; under
 * ang_dev.acq_lock
 * @state: enum ang_slot_state
 * @tag: tag of the command
 * @cpl: answer to the command
 */
struct ang_adm_slot {
	enum ang_slot_state state;
	u16 tag;
	struct angara_adm_cpl cpl;
};

/**
 * struct ang_bus_ops - what a transport does for the core
 * @name: "loop", "pci"
 * @owner: module that is in use while a device is open
 * @read32: read a register of BAR 0
 * @write32: write a register or doorbell; may call ang_irq() before it returns
 * @dma_enable: let the device reach memory
 * @dma_disable: cut the device off from memory, whether or not it answers.
 *	Return: 0: the device cannot reach memory any more; -errno: it may.
 *	@dma_enable and @dma_disable are NULL if the device answers every reset
 * @dma_alloc: allocate zeroed memory that CPU and device both see, page aligned
 * @dma_free: free memory of @dma_alloc
 * @dma_map: map a table of whole pages for the device, as dma_map_sgtable();
 *	CPU and device see each other's writes without synchronization.  Return:
 *	0 or -errno
 * @dma_unmap: undo @dma_map, for the whole table, with the same direction
 * @doorbell: physical address of a context's doorbell page; NULL if processes
 *	cannot map that page.  Called under ang_dev.map_lock
 * @workers_show: print what the transport's workers have done; NULL if the
 *	transport has no workers
 *
 * Context: process.  The device may be broken.  The core calls operations only
 * from ang_dev_register() to the end of ang_dev_unregister(), except @dma_free
 * and @dma_unmap, which it may call up to ang_dev_put().
 */
struct ang_bus_ops {
	const char *name;
	struct module *owner;
	u32 (*read32)(struct ang_dev *adev, u32 off);
	void (*write32)(struct ang_dev *adev, u32 off, u32 val);
	void (*dma_enable)(struct ang_dev *adev);
	int (*dma_disable)(struct ang_dev *adev);
	void *(*dma_alloc)(struct ang_dev *adev, size_t size, u64 *addr);
	void (*dma_free)(struct ang_dev *adev, size_t size, void *mem, u64 addr);
	int (*dma_map)(struct ang_dev *adev, struct sg_table *sgt,
		       enum dma_data_direction dir);
	void (*dma_unmap)(struct ang_dev *adev, struct sg_table *sgt,
			  enum dma_data_direction dir);
	phys_addr_t (*doorbell)(struct ang_dev *adev, u32 ctx);
	void (*workers_show)(struct ang_dev *adev, struct seq_file *m);
};

/**
 * struct ang_row_seen - answer to ANGARA_ADM_TREE_GET
 * @read_at: jiffies at which the command returned
 * @known: the device has answered since the row was set or cleared
 * @downs: ang_dev.downs before the command
 * @ret: what the command returned
 * @cpl: the answer, if @ret is 0
 */
struct ang_row_seen {
	unsigned long read_at;
	bool known;
	int downs;
	int ret;
	struct angara_adm_cpl cpl;
};

/**
 * struct ang_router - rows of a router: the device's node, or a switch that
 * this node keeps (programs)
 * @router: number of the node or switch; constant
 * @rows: the routing table, as programmed
 * @seen: last answer of the device about each row
 */
struct ang_router {
	u32 router;
	struct ang_row_table rows;
	struct ang_row_seen seen[ANGARA_MAX_TREES];
};

/**
 * struct ang_graph - description of a fabric, shared by devices; see graph.c
 * @entry: entry in the list of graphs; @entry and @users are under graphs_lock
 * @users: devices that use the description
 * @text: description as the devices report it, without the newline at its end;
 *	constant, as all members below
 * @topo: the topology described by @text
 * @first: index in @kept of the first switch of each node, then the number of
 *	entries of @kept; NULL if the fabric has no switches
 * @kept: numbers of all switches, in the order of the nodes that keep them
 */
struct ang_graph {
	struct list_head entry;
	u32 users;
	char *text;
	struct ang_topo topo;
	u32 *first;
	u32 *kept;
};

#define ANG_DESCRIBE_BYTES	64U	/* bytes of the description per command */
#define ANG_MAX_TEXT		4095U	/* longest description; must fit into a sysfs file */

/**
 * struct ang_nums - numbers of contexts or domains, from 0 to
 * ang_dev.max_ctxs - 1, of which each user gets a share
 * @used: numbers in use, one bit each
 * @uids: per number in use, the user whose share it counts against
 */
struct ang_nums {
	unsigned long *used;
	kuid_t *uids;
};

/**
 * struct ang_dev - one adapter
 * @dev: /dev/angaraN; its release frees this
 * @cdev: character device
 * @ops: transport; constant
 * @priv: private data of the transport; constant
 * @id: N of /dev/angaraN; constant
 * @timeout: jiffies within which the device has to answer; constant once
 *	registered
 * @keep: jiffies for which readers without privilege get a cached answer;
 *	constant once registered
 * @ctx_limit: contexts that the transport can carry; constant once registered
 * @node: number of the node; constant once registered, as all members down to
 *	@caps
 * @fabric_id: number of the fabric
 * @nodes: nodes in the fabric
 * @ports: ports of the router
 * @graph: description of the fabric
 * @max_ctxs: contexts that can be created; 0 until @ctxs is allocated, see
 *	ang_irq()
 * @caps: ANGARA_CAP_*
 * @registration_lock: see the head of this file
 * @gone: unregistered, or not registered yet; under @registration_lock, but
 *	read without the lock where an outdated value does no harm
 * @down: stopped, between ang_dev_down() and ang_dev_up(); under
 *	@registration_lock
 * @stopping: while the device is being stopped, the error with which commands
 *	end: -ESTALE, or -ENODEV if the device is removed; else 0
 * @break_lock: see the head of this file
 * @broken: the device did not answer a command, or did not restart.  Set under
 *	@break_lock or with @registration_lock held for writing; cleared with
 *	@registration_lock held for writing, when the device is stopped and
 *	when it is restarted
 * @stuck: a reset did not stop the device, and it could not be cut off from
 *	memory.  The device may still use all memory that the driver gave it, so
 *	that memory is never freed.  Set under the same locks as @broken,
 *	cleared at a restart; read after ang_dev_break()
 * @files_lock: see the head of this file
 * @files: open files, of the device and of contexts; under @files_lock
 * @late_files: number of closed files whose objects the device still has;
 *	atomic
 * @ctx_nums: numbers of contexts; under @files_lock
 * @dom_nums: numbers of domains; under @files_lock
 * @ctxs: contexts by number; written under @files_lock, read under RCU
 * @adm_lock: see the head of this file
 * @adm_mem: memory of the three queues and of counters; constant while the
 *	device is up
 * @adm_addr: DMA address of @adm_mem; constant
 * @asq: admin queue; under @adm_lock
 * @adm_pi: number of commands posted; under @adm_lock
 * @acq_lock: see the head of this file
 * @acq: completions of @asq, written by the device; NULL while the device is
 *	not up; under @acq_lock
 * @acq_ci: number of completions taken; under @acq_lock
 * @acq_flaw: a completion matched no command; written under @acq_lock
 * @adm_slot: commands in flight; under @acq_lock
 * @adm_wait: woken for every completion
 * @aeq: asynchronous events, written by the device
 * @aeq_ci: number of events taken; used by @aeq_work only
 * @aeq_work: takes events
 * @tree_lock: see the head of this file
 * @own: rows of this node; under @tree_lock
 * @switches: by number of the switch, struct ang_router of each switch whose rows
 *	were set, or were read by a caller that may set them; entries are freed
 *	only with this structure; under @tree_lock
 * @downs: number of ANGARA_AEV_TREE_DOWN events so far; atomic
 * @mgmt_lock: see the head of this file
 * @kept_lock: see the head of this file
 * @kept: cached counters, by router, kind and index; under @kept_lock
 * @map_lock: see the head of this file
 * @debugfs: directory; debugfs.c only
 */
struct ang_dev {
	struct device dev;
	struct cdev cdev;
	const struct ang_bus_ops *ops;
	void *priv;
	u32 id;
	unsigned long timeout;
	unsigned long keep;
	u32 ctx_limit;

	u32 node;
	u64 fabric_id;
	u32 nodes;
	u32 ports;
	struct ang_graph *graph;
	u32 max_ctxs;
	u32 caps;

	struct rw_semaphore registration_lock;
	bool gone;
	bool down;
	int stopping;
	struct mutex break_lock;
	bool broken;
	bool stuck;

	spinlock_t files_lock;
	struct list_head files;
	atomic_t late_files;
	struct ang_nums ctx_nums;
	struct ang_nums dom_nums;
	struct ang_uctx __rcu **ctxs;

	struct mutex adm_lock;
	void *adm_mem;
	u64 adm_addr;
	struct angara_adm_cmd *asq;
	u32 adm_pi;
	spinlock_t acq_lock;
	struct angara_adm_cpl *acq;
	u32 acq_ci;
	bool acq_flaw;
	struct ang_adm_slot adm_slot[ANG_ADM_ENTRIES];
	wait_queue_head_t adm_wait;

	struct angara_hw_event *aeq;
	u32 aeq_ci;
	struct work_struct aeq_work;

	struct mutex tree_lock;
	struct ang_router own;
	struct xarray switches;
	atomic_t downs;

	struct mutex mgmt_lock;

	struct mutex kept_lock;
	struct xarray kept;

	struct rw_semaphore map_lock;

	struct dentry *debugfs;
};

static inline struct ang_dev *to_ang_dev(struct device *dev)
{
	return container_of(dev, struct ang_dev, dev);
}

/* device.c */
struct ang_dev *ang_dev_alloc(const struct ang_bus_ops *ops,
			      struct device *parent, void *priv);
int ang_dev_register(struct ang_dev *adev);
void ang_dev_unregister(struct ang_dev *adev);
void ang_dev_down(struct ang_dev *adev);
int ang_dev_up(struct ang_dev *adev);
void ang_dev_put(struct ang_dev *adev);
void ang_irq(struct ang_dev *adev, u32 vector);

/* reset.c */
int ang_dev_wait_ready(struct ang_dev *adev, u32 want);
void ang_dev_reset(struct ang_dev *adev);
void ang_dev_break(struct ang_dev *adev, const char *why);

/* registry.c */
int ang_dev_add(struct ang_dev *adev);
void ang_dev_del(struct ang_dev *adev);
int ang_dev_enter(struct ang_dev *adev);
void ang_dev_exit(struct ang_dev *adev);
struct ang_dev *ang_dev_next(u32 *id);
struct ang_dev *ang_dev_find(u32 id);
void ang_dev_release(struct ang_dev *adev);

/*
 * Is the device reset and cut off from memory?  If so, it needs no DESTROY
 * commands.
 */
static inline bool ang_dev_stopped(const struct ang_dev *adev)
{
	lockdep_assert_held(&adev->registration_lock);

	return adev->gone || adev->down;
}

static inline u32 ang_read32(struct ang_dev *adev, u32 off)
{
	return adev->ops->read32(adev, off);
}

static inline void ang_write32(struct ang_dev *adev, u32 off, u32 val)
{
	adev->ops->write32(adev, off, val);
}

/* Does @phase, read from entry @index, show that the device wrote the entry? */
static inline bool ang_phase_is(u8 phase, u32 index, u32 entries)
{
	return (phase & 1) == !((index / entries) & 1);
}

/* graph.c */
struct ang_graph *ang_graph_get(const char *text, struct ang_topo_why *why);
void ang_graph_put(struct ang_graph *g);
u32 ang_graph_kept(const struct ang_graph *g, u32 node, const u32 **kept);

/* admin.c; enter the device before sending commands */
void ang_adm_setup(struct ang_dev *adev);
int ang_adm_init(struct ang_dev *adev);
void ang_adm_free(struct ang_dev *adev);
int ang_adm_exec(struct ang_dev *adev, struct angara_adm_cmd *cmd,
		 struct angara_adm_cpl *cpl);
int ang_adm_simple(struct ang_dev *adev, u8 opcode, u16 ctx, u8 tree);
int ang_adm_destroy(struct ang_dev *adev, u8 opcode, u16 num);
int ang_adm_describe(struct ang_dev *adev, u32 offset, void *buf, u32 *size);
int ang_adm_mgmt(struct ang_dev *adev, u8 opcode, u64 tid, struct angara_mgmt *pkt);
int ang_adm_route_row(struct ang_dev *adev, u32 router, const void *row, u32 len);
int ang_adm_route_use(struct ang_dev *adev, u8 what);
int ang_adm_counters(struct ang_dev *adev, u32 router, u32 kind, u32 index,
		     void *buf, size_t len);
void ang_adm_irq(struct ang_dev *adev);

/* aeq.c */
void ang_aeq_setup(struct ang_dev *adev);

/*
 * Does the error say that the wait ended before the device answered?  Then the
 * device may still execute the command until it is reset.  Until the reset, all
 * memory that the command names must stay.
 */
static inline bool ang_adm_undecided(int ret)
{
	return ret == -EINTR || ret == -ESTALE || ret == -ENODEV;
}

/* counters.c; enter the device before ang_dev_counters() */
bool ang_is_kept(const struct ang_dev *adev, unsigned long read_at);
int ang_dev_counters(struct ang_dev *adev, const struct ang_cred *cred, u32 router,
		     u32 kind, u32 index, void *buf, size_t len);
void ang_dev_counters_forget(struct ang_dev *adev, u32 router, u32 kind, u32 index);
void ang_dev_counters_forget_all(struct ang_dev *adev);

/* tree.c; enter the device first, except for ang_dev_tree_check() */
int ang_dev_tree_set(struct ang_dev *adev, const struct ang_cred *cred,
		     u32 router, const struct angara_tree_row *row, u64 job,
		     u64 *serial);
int ang_dev_tree_get(struct ang_dev *adev, const struct ang_cred *cred,
		     struct angara_tree_get *get);
int ang_dev_tree_look(struct ang_dev *adev, const struct ang_cred *cred,
		      struct angara_tree_get *get, bool *owned);
int ang_dev_tree_clear(struct ang_dev *adev, const struct ang_cred *cred,
		       u32 router, u32 tree, u64 job);
int ang_dev_tree_delegate(struct ang_dev *adev, const struct ang_cred *cred,
			  u32 tree, u32 pkey);
int ang_dev_tree_check(struct ang_dev *adev, const struct ang_cred *cred,
		       struct angara_tree_verify *check);
int ang_dev_tree_learn(struct ang_dev *adev, u32 tree);
void ang_dev_tree_event(struct ang_dev *adev, u32 tree, bool set);
void ang_dev_trees_lost(struct ang_dev *adev);
int ang_dev_tree_disown(struct ang_dev *adev, u32 router, u32 tree, u64 serial);
void ang_dev_trees_forget(struct ang_dev *adev);
void ang_dev_trees_free(struct ang_dev *adev);

/**
 * struct ang_ctx_info - a context, as netlink shows it
 * @ctx: number
 * @pid: process that created the context, 0 if that process has no number in
 *	the reader's namespace
 * @uid: user that created the context
 * @pkey: partition
 * @mrs: memory regions of its domain
 * @pinned: bytes that these regions pin
 */
struct ang_ctx_info {
	u32 ctx;
	u32 pid;
	kuid_t uid;
	u32 pkey;
	u32 mrs;
	u64 pinned;
};

/* ctx.c */
int ang_dev_ctx_info(struct ang_dev *adev, u32 ctx, struct pid_namespace *pid_ns,
		     struct ang_ctx_info *info);

/* ctx_num.c */
int ang_num_alloc(struct ang_dev *adev, struct ang_nums *nums, u32 *num);
void ang_num_free(struct ang_dev *adev, struct ang_nums *nums, u32 num);
u32 ang_dev_ctxs_used(struct ang_dev *adev);

/* event.c.  type: ANGARA_AEV_* or ANGARA_NLE_*.  Context: process */
void ang_nl_changed(void);
void ang_nl_event(struct ang_dev *adev, u8 type, u32 index, u32 value);
void ang_nl_dev_new(struct ang_dev *adev);
void ang_nl_dev_del(struct ang_dev *adev);

/* netlink.c */
int ang_nl_init(void);
void ang_nl_exit(void);

/* pci.c */
#ifdef CONFIG_PCI
int ang_pci_init(void);
void ang_pci_exit(void);
#else
static inline int ang_pci_init(void) { return 0; }
static inline void ang_pci_exit(void) { }
#endif

/* debugfs.c */
void ang_debugfs_init(void);
void ang_debugfs_exit(void);
void ang_debugfs_dev_new(struct ang_dev *adev);
void ang_debugfs_dev_del(struct ang_dev *adev);

/*
 * trace.h, instantiated in trace.c:
 *   trace_angara_doorbell(adev, ctx, sq_pi)	the driver rings a doorbell
 *   trace_angara_completion(adev, ctx, evseq)	interrupt of a context
 *   trace_angara_tree(adev, event, tree, value)	ANGARA_AEV_TREE_*, ANG_TRACE_JOIN or _LEAVE
 *   trace_angara_mr(adev, slot, length, mem)	a memory region was registered
 *   trace_angara_packet(fabric_id, rec)	record of the model, exported
 * length, fabric_id: u64; mem: const struct ang_mr_mem *; rec: const struct ang_trace *;
 * the others: u32.
 */

#endif /* ANG_DEV_H */
