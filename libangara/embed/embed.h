/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Backend "embedded": a fabric modelled in memory that processes share.
 *
 * The segment is a file in memory: either one of memfd_create(2), inherited
 * from angara-run or private to a process, or one under /dev/shm, which
 * processes open by name.  Every process maps the whole file:
 *
 *   struct emb_head		properties
 *   struct emb_slot[procs]	one per process that uses the fabric
 *   struct emb_node[routers]	rows and contexts, see emb_node()
 *   struct emb_share[nodes][ctxs]	shares of contexts in reductions, see board.c
 *   struct emb_board[routers][trees]	boards of trees, by root
 *   copies			EMB_COPIES copies, of which one is used at a time:
 *				struct emb_left, admin queues, memory of the
 *				device model; see halt.c.  Only pages of copies
 *				that have been used exist.
 *   heap[procs]		one per slot, allocated by its process: queues
 *				of its contexts and memory of angara_malloc().
 *				Only pages that were allocated exist.
 *
 * Everything before the second copy is reserved when the segment is created,
 * the rest at its first use, so that access to a page cannot fail later.
 *
 * A DMA address whose upper 16 bits are 0 is an offset in the segment.  Other
 * DMA addresses have the slot of a process, plus 1, in these bits, and an
 * address in that process in the lower 48 bits; see dma.c.
 *
 * Progress: a process that rings a doorbell or waits runs the model on its own
 * view.  Nodes with remaining work go to the list in emb_left, from which
 * waiting processes take them; see run.c.  A waiting process sleeps on the word
 * emb_ctx.wake, which the model's interrupt increments; see wait.c.
 *
 * Locks, in the order in which they are taken:
 *
 *   registry (segment.c)	Mutex of the process: its list of fabrics.
 *   emb_fab.mutex		Mutex of the process: one of its commands at a
 *				time; its heap.
 *   gate			File lock: joining and leaving, recovery after
 *				deaths.
 *   node			File lock, one per node: rows, admin queue and
 *				owners of contexts of that node, and rows of the
 *				switches that it keeps.
 *   emb_fab.repair		Mutex of the process: one of its threads repairs
 *				the model.  No thread waits for this mutex: a
 *				thread that does not get it goes on.
 *   repair			File lock: the model's repair (halt.c).  No
 *				process waits for this lock, either.
 *   emb_left.lock		Spin lock in the segment: the lists of nodes
 *				with remaining work.  Held only while a list is
 *				changed.
 *
 * File locks belong to open file descriptions (F_OFD_SETLK), so each process
 * opens the segment itself.  The kernel releases them when the process dies,
 * including the lock on its slot, by which other processes detect its death.
 *
 * When a process dies, another process detects this, and frees the objects of
 * the dead process (death.c).  For peers, the death has the same effects as with
 * the driver.  A process marks sections in which it leaves data inconsistent:
 * emb_slot.seat counts its threads in the model, emb_slot.working names the node
 * for which it executes a command.  If a process dies in such a section, the
 * nodes that it worked on are reset (halt.c).  Their contexts end with -ENODEV
 * and can be opened again; all other nodes continue.  If the repair fails, the
 * fabric is broken: every wait and command on it ends with -ENODEV, and the next
 * process that opens it creates a new one.
 */
#ifndef ANG_EMBED_H
#define ANG_EMBED_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

#include "ang_env.h"
#include "ang_model.h"
#include "ang_row.h"

#include "backend.h"
#include "fabric.h"
#include "name.h"

#define EMB_MAGIC	0x444245474E41ULL	/* "ANGEBD" */
#define EMB_VERSION	1
#define EMB_LOOK_MS	50	/* interval at which sleepers check other processes */
#define EMB_LOCK_MS	10000	/* limit for a lock, command or repair */
#define EMB_HELP_MS	100	/* after this time any process takes a listed node */
#define EMB_STOP_MS	1000	/* limit for a stopped process to leave the model */
#define EMB_COPIES	4U	/* copies of the model, see halt.c */
#define EMB_HELPERS	8U	/* sleeping contexts that can be listed as helpers */
#define EMB_SEATS	8U	/* counters of threads, per process */
#define EMB_CALM	32U	/* initial ang_view.calm */
#define EMB_ADM_ENTRIES	16U
#define EMB_AEQ_ENTRIES	128U
#define EMB_ADDR_BITS	48	/* bits of a DMA address below the slot */
#define EMB_ADDR_LOOSE	(1ULL << 63)	/* flag: may be unmapped, see dma.c */
#define EMB_HEAP_MIN	(16ULL << 20)	/* default minimum size of a heap */

/**
 * struct emb_seat - one of several counters of a process's threads in the
 * model; threads use different seats, and so write different cache lines
 * @inside: number of its threads in the model (atomic)
 * @turns: number of times that threads have left the model
 */
struct emb_seat {
	u32 inside ____cacheline_aligned;
	u32 turns;
};

/**
 * struct emb_slot - a process
 * @used: a process has taken the slot, and some of its objects are not freed
 *	yet
 * @pid: process id
 * @working: node that the process has locked in order to change it, plus 1
 * @dying: the process is dead; the slot is locked only because another process
 *	is taking the slot
 * @life: incremented by each process that takes the slot
 * @repaired: @life of the last process whose death a repair has handled
 * @fenced: the process was stopped in the model, and the other processes
 *	continue without it; set by a repair, cleared when its last thread leaves
 * @copy: copy of the model in which the process was stopped
 * @looked_turns: turns of all seats at the last check by another process
 * @looks: number of consecutive checks at which a thread was in the model and
 *	the turns had not changed
 * @pidns: PID namespace of @pid
 * @seat: counters; each thread in the model is counted in one of them
 */
struct emb_slot {
	u32 used ____cacheline_aligned;
	u32 pid;
	u32 working;
	u32 dying;
	u32 life;
	u32 repaired;
	u32 fenced;
	u32 copy;
	u32 looked_turns;
	u32 looks;
	u64 pidns;
	struct emb_seat seat[EMB_SEATS];
};

/**
 * struct emb_ctx - a context: data in addition to the model's state
 * @wake: incremented by every interrupt; a futex
 * @owner: slot of its process, plus 1; 0: the context is free
 * @asleep: number of threads that sleep on @wake (atomic)
 * @domain: slot of the process that owns the node's domain with the number of
 *	this context, plus 1; 0: there is no such domain
 */
struct emb_ctx {
	u32 wake ____cacheline_aligned;
	u32 owner;
	u32 asleep;
	u32 domain;
};

/**
 * struct emb_node - a router: data in addition to the model's state; protected
 * by the lock of the node, or of the switch's keeper.  A switch has no contexts
 * and no admin queue
 * @rows: the routing table, as programmed
 * @owner: slot of the process that owns each row, plus 1
 * @adm_pi: number of admin commands so far
 * @num_ctx: contexts that have an owner; any process may read it
 * @torn: the router was reset: the next process that locks the router starts a
 *	node again, or clears the record of a switch's rows; set by a repair
 * @life: number of resets; incremented by a repair, any process may read it
 * @left_by: slot of the process that last put the node on a list of emb_left,
 *	plus 1; @left_by and @left_ms are under emb_left.lock
 * @left_ms: time at which the node was put on the list
 * @ctx: contexts, cfg.ctxs of them
 */
struct emb_node {
	struct ang_row_table rows;
	u32 owner[ANGARA_MAX_TREES];
	u32 adm_pi;
	u32 num_ctx;
	u32 torn;
	u32 life;
	u32 left_by;
	u64 left_ms;
	struct emb_ctx ctx[];
};

/**
 * struct emb_left - nodes that no process is advancing, in a page of each copy
 * @lock: protects the lists, see the head of this file
 * @left_any: there are nodes in @left; written under @lock, read without the
 *	lock
 * @timers_any: there are nodes in @timers; as @left_any
 * @left: nodes with work; under @lock
 * @timers: nodes with a credit timer; under @lock
 */
struct emb_left {
	u32 lock ____cacheline_aligned;
	u32 left_any;
	u32 timers_any;
	struct ang_list left;
	struct ang_list timers;
};

#define EMB_BOARD_ROUTERS 64U	/* fabrics with more routers have no boards */
#define EMB_SHARE_NEAR	5U	/* most words of a short contribution */
#define EMB_RESULT_NEAR	7U	/* most words of a short result */
#define EMB_BOARD_BYTES	4096U	/* bytes of the longest contribution */
#define EMB_SHARE_WORDS	(EMB_BOARD_BYTES / (u32)sizeof(u64))
#define EMB_PIECE_WORDS	64U	/* words of a piece, which one member combines */
#define EMB_PIECES	(EMB_SHARE_WORDS / EMB_PIECE_WORDS)

/**
 * struct emb_share - data of a context in a reduction on a board; only its
 * process writes it, see board.c
 * @mark: identifies the reduction of the contribution; 0: the contribution is
 *	being written
 * @head: length, type and kind of the operation, and a number of broadcasts, see
 *	head_make()
 * @entry: SQ producer index after the entry of the reduction, and in the upper
 *	bits the life of the context
 * @near: contribution of up to EMB_SHARE_NEAR words
 * @far: contribution of more words
 * @result_mark: identifies the reduction of the result; 0: there was no result
 *	yet
 * @result_near: result of up to EMB_RESULT_NEAR words
 * @result_far: result of more words, or pieces of it
 */
struct emb_share {
	u64 mark ____cacheline_aligned;
	u64 head;
	u64 entry;
	u64 near[EMB_SHARE_NEAR];
	u64 far[EMB_SHARE_WORDS];
	u64 result_mark ____cacheline_aligned;
	u64 result_near[EMB_RESULT_NEAR];
	u64 result_far[EMB_SHARE_WORDS];
};

/**
 * struct emb_board - board of a tree; see board.c
 * @word: decisions on reductions (atomic)
 * @work: long reduction whose pieces members may take (atomic)
 * @count: contributions to a reduction (atomic)
 * @aside: counts of all reductions that were done on the board; written only by
 *	the last contributor, read by any process
 * @piece: member that combines each piece of a long reduction, see board_sum.c
 *	(atomic)
 *
 * Fields of @word:
 *
 *	gen	life of the root's row; members with a plan for an earlier life do
 *		not change the word
 *	done	number of the last reduction that was done on the board
 *	owner	member that decided that reduction "done" is done, plus 1; 0: none.
 *		If the reduction is short, this member's share has the result
 *	by_pkt	reductions up to this number, except reduction "done", use packets
 */
struct emb_board {
	u64 word ____cacheline_aligned;
	u64 work;
	u64 count ____cacheline_aligned;
	struct ang_aside aside;
	u64 piece[EMB_PIECES] ____cacheline_aligned;
};

/* A node's admin queues, and a management packet, in one page. */
struct emb_admin {
	struct angara_adm_cmd asq[EMB_ADM_ENTRIES];
	struct angara_adm_cpl acq[EMB_ADM_ENTRIES];
	struct angara_hw_event aeq[EMB_AEQ_ENTRIES];
	struct angara_mgmt mgmt;
};

/**
 * struct emb_head - head of a segment; constant once @ready unless noted
 * @magic: EMB_MAGIC
 * @version: EMB_VERSION
 * @layout: hash of the sizes of the segment's structures
 * @ready: the head is complete
 * @procs: number of slots
 * @nodes: number of nodes
 * @routers: number of nodes and switches
 * @node_size: bytes of a struct emb_node with its contexts
 * @cfg: configuration of the model
 * @slot_at: offset in the segment of the slots
 * @node_at: offset of the structs emb_node
 * @share_at: offset of the shares
 * @board_at: offset of the boards; 0: the fabric is too large for boards
 * @copy_at: offset of the first copy of the model
 * @copy_span: bytes of each copy
 * @adm_off: offset in a copy of the admin queues, a page per node
 * @model_off: offset in a copy of the model's memory
 * @heap_at: offset of the heaps
 * @heap_span: bytes reserved for each heap
 * @size: bytes of the segment
 * @broken: a repair failed (any thread)
 * @halt: slot of the process that repairs the model, plus 1; 0: none.  During a
 *	repair no other process may enter the model; under the repair lock
 * @copy: copy in use; written by a repair
 * @here: number of processes that use the segment (atomic)
 * @cpus: union of the CPU affinity masks of its processes; under the gate
 * @num_cpus: number of @cpus; written under the gate, read without it
 * @looked_ms: time of the last check of other processes (atomic)
 * @helpers: sleeping contexts that can be woken to help: node << 8 | ctx, plus 1,
 *	0 for none (atomic)
 */
struct emb_head {
	u64 magic;
	u32 version;
	u32 layout;
	u32 ready;
	u32 procs;
	u32 nodes;
	u32 routers;
	u32 node_size;
	struct ang_cfg cfg;
	u64 slot_at;
	u64 node_at;
	u64 share_at;
	u64 board_at;
	u64 copy_at;
	u64 copy_span;
	u64 adm_off;
	u64 model_off;
	u64 heap_at;
	u64 heap_span;
	u64 size;
	u32 broken ____cacheline_aligned;
	u32 halt;
	u32 copy;
	u32 here;
	cpu_set_t cpus;
	u32 num_cpus;
	u64 looked_ms;
	u32 helpers[EMB_HELPERS] ____cacheline_aligned;
};

struct emb_boards;
struct emb_extent;
struct emb_watch;

/*
 * Values of emb_fab.boards: when reductions of a process use boards, see
 * ANG_ENV_EXPRESS.
 */
#define EMB_BOARDS_NEVER	0
#define EMB_BOARDS		1
#define EMB_BOARDS_LONG		2	/* also right after a reduction left its board */

/**
 * struct emb_fab - what one process knows of a fabric
 * @next: next fabric in the registry
 * @refs: number of open devices; under the registry's lock
 * @asked: specification with which the fabric was opened
 * @text: description of a graph, while the process joins; else NULL
 * @path: path of the segment's file, empty if it has none
 * @fd: the segment, opened by this process
 * @slot: slot of this process
 * @pidns: PID namespace of this process
 * @parent: parent of this process when it joined
 * @packets: ANG_ENV_PACKETS is set: operations of this process use packets only
 * @boards: EMB_BOARDS*
 * @unclean: objects of this process could not be freed
 * @head: the segment
 * @size: bytes of the segment
 * @topo: topology; its table is in the first copy of the model
 * @mutex: see the head of this file
 * @repair: see the head of this file
 * @mine: contexts of this process, by router; written under @mutex, read
 *	without it
 * @heap: allocated pages of this process's heap; under @mutex
 * @seats: number of seats assigned so far (atomic)
 */
struct emb_fab {
	struct emb_fab *next;
	u32 refs;
	struct ang_spec asked;
	char *text;
	char path[EMB_PATH_BYTES];
	int fd;
	u32 slot;
	u64 pidns;
	pid_t parent;
	bool packets;
	u32 boards;
	bool unclean;
	struct emb_head *head;
	u64 size;
	struct ang_topo topo;
	pthread_mutex_t mutex;
	pthread_mutex_t repair;
	u16 *mine;
	struct emb_extent *heap;
	u32 seats;
};

#define EMB_WAKES	16	/* contexts that one run can wake */

/**
 * struct emb_run - state of a thread that runs the model
 * @fab: fabric, in which the process has its slot
 * @own: slot of the process
 * @seat: counter of the thread
 * @copy: copy of the model that @view uses
 * @view: the thread's view of the model
 * @wakes: contexts to wake after the run
 * @num_wakes: number of @wakes
 * @looks: number of calls of emb_relax()
 * @in_vain: number of further calls of emb_help() that do not look at the list,
 *	since at the last look all its nodes were reserved for other processes
 * @sleep_until: time until which waits sleep and do not yield, see emb_relax()
 * @rest: length of the pause until @sleep_until, as a multiple of the yield
 *	before the pause
 * @beside: during the last yield, another thread ran on this processor
 */
struct emb_run {
	struct emb_fab *fab;
	struct emb_slot *own;
	struct emb_seat *seat;
	u32 copy;
	struct ang_view view;
	struct emb_ctx *wakes[EMB_WAKES];
	u32 num_wakes;
	u32 looks;
	u32 in_vain;
	u64 sleep_until;
	u32 rest;
	bool beside;
};

/**
 * struct emb_owned - a row that a device owns, and a number that changes each
 * time the row is set
 */
struct emb_owned {
	u32 router;
	u32 tree;
	u64 serial;
};

/** struct emb_rows - rows that a device owns: @n of them, room for @room */
struct emb_rows {
	struct emb_owned *row;
	u32 n;
	u32 room;
};

/**
 * struct emb_domain - shared by the contexts of a device; under emb_fab.mutex
 * @refs: number of handles that use the domain: the handle of the device and
 *	those of contexts
 * @node: node
 * @num: number of the domain on the node
 * @pkey: partition
 * @job: key of the job, 0 for none
 * @life: emb_node.life when the domain was created
 * @mrt: table of memory regions
 * @mrs: entries of @mrt
 * @low: no entry below this one is free
 * @mem: offset in the segment of the table and of the list of its pages
 * @spare: offset of a longer table that the device may use instead of @mrt, or
 *	0
 * @owned: rows of a device that was closed before its contexts, from
 *	emb_dev.owned
 * @in_doubt: the device has not confirmed the creation of the domain
 */
struct emb_domain {
	u32 refs;
	u32 node;
	u32 num;
	u32 pkey;
	u64 job;
	u32 life;
	struct angara_hw_mr *mrt;
	u32 mrs;
	u32 low;
	u64 mem;
	u64 spare;
	struct emb_rows owned;
	bool in_doubt;
};

/**
 * struct emb_dev - a handle of an open device, or of a context
 * @fab: fabric
 * @node: node
 * @dom: its domain, NULL if there is none
 * @num: number of its context, ANG_NONE for a device
 * @life: emb_node.life when the domain was created
 * @life_now: points to emb_node.life of the node; without a domain, to @life
 * @ctx: the context; @ctx and the pointers below are NULL for a device
 * @ctl: control page
 * @ctr: counters
 * @sq_entries: entries of the SQ
 * @mem: offset in the segment of the context's memory
 * @mem_len: bytes of @mem
 * @at: offset in the segment of each mappable part, by EMB_MEM_*
 * @run: runs the model
 * @owned: rows that this device owns; empty for a context
 * @forks: emb_forks() when the handle was opened
 * @watch: its descriptor for poll(2), NULL before first use
 * @boards: trees that the context has joined, NULL before the first join
 * @by_board: number of reductions of the context that boards have completed
 */
struct emb_dev {
	struct emb_fab *fab;
	u32 node;
	struct emb_domain *dom;
	u32 num;
	u32 life;
	const u32 *life_now;
	struct emb_ctx *ctx;
	struct angara_ctl *ctl;
	const __le64 *ctr;
	u32 sq_entries;
	u64 mem;
	u64 mem_len;
	u64 at[5];
	struct emb_run run;
	struct emb_rows owned;
	u32 forks;
	struct emb_watch *watch;
	struct emb_boards *boards;
	u64 by_board;
};

/**
 * struct emb_create - arguments for the creation of a context
 * @arg: argument of ANGARA_IOCTL_CTX_CREATE
 * @handle: newly opened handle, for the context
 */
struct emb_create {
	struct angara_ctx_create arg;
	struct emb_dev *handle;
};

#define EMB_MEM_SQ	0
#define EMB_MEM_CQ	1
#define EMB_MEM_CTL	2
#define EMB_MEM_CTR	3
#define EMB_MEM_MSG	4
#define EMB_MEM_WATCH	5	/* notice of stale regions of a domain, see emb_map() */
#define EMB_WATCH_BYTES	(sizeof(struct angara_watch) + ANGARA_MR_MAX / 8)
#define EMB_MEM_STRIDE	(1ULL << 28)	/* distance of mmap offsets, as in the driver */

static inline void *emb_at(const struct emb_fab *fab, u64 off)
{
	return (char *)fab->head + off;
}

static inline struct emb_slot *emb_slot(const struct emb_fab *fab, u32 slot)
{
	return (struct emb_slot *)emb_at(fab, fab->head->slot_at) + slot;
}

static inline struct emb_share *emb_share(const struct emb_fab *fab, u32 node,
					  u32 ctx)
{
	return (struct emb_share *)emb_at(fab, fab->head->share_at) +
	       node * fab->head->cfg.ctxs + ctx;
}

static inline struct emb_board *emb_board(const struct emb_fab *fab, u32 root,
					  u32 tree)
{
	return (struct emb_board *)emb_at(fab, fab->head->board_at) +
	       root * fab->head->cfg.trees + tree;
}

static inline struct emb_node *emb_node(const struct emb_fab *fab, u32 node)
{
	return emb_at(fab, fab->head->node_at +
		      (u64)node * fab->head->node_size);
}

/*
 * Address of offset @off in copy @copy, even if that copy is not in use any
 * more.
 */
static inline void *emb_in_copy(const struct emb_fab *fab, u32 copy, u64 off)
{
	const struct emb_head *head = fab->head;

	return emb_at(fab, head->copy_at + copy * head->copy_span + off);
}

/*
 * Number of the copy in use now.  A thread in the model uses emb_run.copy
 * instead.
 */
static inline u32 emb_copy(const struct emb_fab *fab)
{
	return READ_ONCE(fab->head->copy);
}

static inline struct emb_left *emb_left(const struct emb_fab *fab, u32 copy)
{
	return emb_in_copy(fab, copy, 0);
}

static inline struct emb_admin *emb_admin(const struct emb_fab *fab, u32 copy,
					  u32 node)
{
	return emb_in_copy(fab, copy, fab->head->adm_off +
			   (u64)node * ANGARA_PAGE_SIZE);
}

static inline struct ang_fabric *emb_model(const struct emb_fab *fab, u32 copy)
{
	return emb_in_copy(fab, copy, fab->head->model_off);
}

static inline u64 emb_heap_at(const struct emb_fab *fab, u32 slot)
{
	return fab->head->heap_at + slot * fab->head->heap_span;
}

static inline bool emb_broken(const struct emb_fab *fab)
{
	return READ_ONCE(fab->head->broken);
}

/* Has the node been reset since the domain was created? */
static inline bool emb_lost(const struct emb_dev *d)
{
	return READ_ONCE(*d->life_now) != d->life;
}

/* Is the device permanently unusable? */
static inline bool emb_gone(const struct emb_dev *d)
{
	return emb_broken(d->fab) || emb_lost(d);
}

/*
 * Counts a thread that sleeps, or is about to sleep, on emb_ctx.wake: @n is 1 before the
 * sleep, -1 after it.  After a reset of the node, the counter may belong to another
 * context, so it is left alone.
 */
static inline void emb_sleeps(const struct emb_dev *d, int n)
{
	if (!emb_lost(d))
		ang_fetch_add(&d->ctx->asleep, (u32)n);
}

/* lock.c */
#define EMB_GATE	0U
#define EMB_REPAIR	1U
#define EMB_LOCK_NODE(n)	(0x10000000U + (n))
#define EMB_LOCK_SLOT(s)	(0x20000000U + (s))

int emb_try_lock(int fd, u32 what);
int emb_lock(int fd, u32 what, const struct emb_head *head);
void emb_unlock(int fd, u32 what);
bool emb_locked(int fd, u32 first, u32 count);
bool emb_is_dead(const struct emb_fab *fab, u32 slot);
u64 emb_now_ns(void);
u64 emb_now_ms(void);
void emb_nap(u32 *turn);

/* layout.c */
int emb_layout(struct emb_head *head, const struct ang_spec *spec,
	       const char *text, u64 room);
int emb_reserve(int fd, u64 at, u64 len);
u32 emb_layout_hash(void);

/* segment.c */
int emb_attach(const struct ang_spec *spec, struct emb_fab **fab);
void emb_hold(struct emb_fab *fab);
void emb_detach(struct emb_fab *fab);
u32 emb_forks(void);

/* death.c */
int emb_repair_after(struct emb_fab *fab, u32 slot);
int emb_give_back(struct emb_fab *fab, u32 slot);
int emb_recover(struct emb_fab *fab, u32 slot);
void emb_recover_all(struct emb_fab *fab);
void emb_recover_dead(struct emb_fab *fab);
void emb_look_after(struct emb_fab *fab);

/* halt.c */
void emb_break(struct emb_fab *fab);
bool emb_halted(const struct emb_fab *fab);
bool emb_halt_wait(struct emb_fab *fab);
bool emb_needs_repair(const struct emb_fab *fab, u32 slot);
int emb_repair(struct emb_fab *fab);
void emb_count_out(struct emb_slot *slot, struct emb_seat *seat);
bool emb_has_fenced(const struct emb_fab *fab);
bool emb_is_stuck(struct emb_fab *fab, u32 slot);
bool emb_look_due(const struct emb_fab *fab, u64 now_ms);
bool emb_look_take(struct emb_fab *fab);
u32 emb_slot_taken(const struct emb_fab *fab, u32 slot);
void emb_look_inside(struct emb_fab *fab);

/* wake.c */
bool emb_wake(struct emb_ctx *ctx);
void emb_wake_all(struct emb_run *r);

/* dma.c */
extern const struct ang_ops emb_ops;

/* view.c */
void emb_view_init(struct emb_run *r);
void emb_run_init(struct emb_run *r, struct emb_fab *fab);

/* run.c */
bool emb_ring(struct emb_run *r, const struct emb_dev *of, u32 node, u32 off, u32 val);
void emb_submit(struct emb_run *r, u32 node, const struct angara_adm_cmd *cmd,
		u32 pi);
void emb_nudge(struct emb_run *r, u32 node, u32 ctx, u16 life, u32 pi);
bool emb_tree_look(struct emb_run *r, u32 router, u32 tree,
		   struct ang_tree_look *look);
bool emb_tree_aside(struct emb_run *r, u32 router, u32 tree, u32 life, u32 hops);
void emb_tree_report(struct emb_run *r, u32 router, u32 tree);
bool emb_help(struct emb_run *r, bool timers);
bool emb_relax(struct emb_run *r, bool can_sleep, u64 *yielded_ms);

/* node.c; under fab->mutex */
int emb_node_lock(struct emb_run *r, u32 node);
void emb_node_unlock(struct emb_run *r, u32 node);

/* admin.c; under fab->mutex and the node's lock */
int emb_node_start(struct emb_run *r, u32 node);
int emb_exec(struct emb_run *r, u32 node, struct angara_adm_cmd *cmd,
	     struct angara_adm_cpl *cpl);
int emb_simple(struct emb_run *r, u32 node, u8 opcode, u32 ctx, u32 tree);

/* heap.c; under fab->mutex */
int emb_heap_claim(struct emb_fab *fab, u64 len, u64 align, u64 *off);
int emb_heap_fill(struct emb_fab *fab, u64 off, u64 len);
void emb_heap_empty(struct emb_fab *fab, u64 off, u64 len);
void emb_heap_unclaim(struct emb_fab *fab, u64 off);
int emb_heap_alloc(struct emb_fab *fab, u64 len, u64 *off);
void emb_heap_free(struct emb_fab *fab, u64 off);
bool emb_heap_has(const struct emb_fab *fab, u64 off, u64 len);
bool emb_heap_is_other(const struct emb_fab *fab, u64 off, u64 len);
void emb_heap_drop(struct emb_fab *fab, u32 slot);
void emb_heap_forget(struct emb_fab *fab);

/* tracer.c */
void emb_tracer_get(const struct emb_fab *fab);
void emb_tracer_put(void);
void emb_tracer_forget(void);

/* domain.c, ctx.c, mr.c, tree.c: commands; under fab->mutex */
struct ang_cred emb_cred(const struct emb_dev *d);
int emb_query(struct emb_dev *d, void *arg);
int emb_domain_create(struct emb_dev *d, void *arg);
int emb_domain_grow(struct emb_dev *d, u32 slots);
bool emb_domain_put(struct emb_dev *d);
bool emb_mr_is_outside(const struct angara_hw_mr *entry);
int emb_domain_reap(struct emb_run *r, u32 node, u32 num, u32 owner);
u32 emb_own_pkey(void);
int emb_ctx_create(struct emb_dev *d, void *arg);
void emb_ctx_destroy(struct emb_dev *d);
int emb_ctx_reap(struct emb_run *r, u32 node, u32 num, u32 owner);
int emb_kick(struct emb_dev *d, void *arg);
int emb_mr_prepare(struct emb_dev *d, void *arg);
int emb_mr_reg(struct emb_dev *d, void *arg);
int emb_mr_dereg(struct emb_dev *d, void *arg);
int emb_tree_set(struct emb_dev *d, const struct angara_tree_set *given, u32 *owner);
int emb_tree_get(struct emb_dev *d, void *arg);
int emb_tree_clear(struct emb_dev *d, void *arg);
int emb_tree_delegate(struct emb_dev *d, void *arg);
int emb_tree_check(struct emb_dev *d, void *arg);
int emb_manage(struct emb_dev *d, void *arg);
int emb_join(struct emb_dev *d, void *arg);
int emb_leave(struct emb_dev *d, void *arg);
void emb_trees_disown(struct emb_dev *d);
int emb_rows_reap(struct emb_run *r, u32 router, u32 owner);

/* board.c */
void emb_board_join(struct emb_dev *d, u32 tree);
void emb_board_leave(struct emb_dev *d, u32 tree);
void emb_boards_free(struct emb_dev *d);
void emb_boards_settle(struct emb_run *r, u32 router, u32 tree);
bool emb_boards_take(struct ang_dev *dev, u32 pi);
bool emb_board_look(struct ang_dev *dev, bool end);
bool emb_board_end(struct ang_dev *dev);
bool emb_board_open(struct ang_dev *dev);
bool emb_board_wait(struct ang_dev *dev);

/* wait.c */
bool emb_news(const struct emb_dev *d);
void emb_offer_help(struct emb_dev *d);
int emb_wait(struct ang_dev *dev, int timeout_ms);

/* segment.c */
void emb_seal(struct ang_dev *dev);

/* fd.c */
int emb_fd(struct ang_dev *dev);
int emb_arm(struct ang_dev *dev);
void emb_watch_end(struct emb_dev *d);

#endif /* ANG_EMBED_H */
