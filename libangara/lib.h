/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internal interfaces of the library; nothing here is exported.
 *
 * One thread at a time uses a context and its objects, so a context has no lock.  Threads share a
 * domain and its cache of registrations, so each of these has a lock.  The device accesses a
 * context's memory concurrently; queue.c describes the order of these accesses.
 */
#ifndef ANG_LIB_H
#define ANG_LIB_H

#include <pthread.h>
#include <time.h>

#include "ang_env.h"

#include <angara/angara.h>

#include "backend.h"
#include "sized.h"

#define ANG_PUBLIC	__attribute__((visibility("default")))

/*
 * Indices of angara_ctx.by_tree: ANG_NO_TREE: operations of no tree; 1 + t: those of tree t.
 */
#define ANG_NO_TREE	0
#define ANG_TREE_SLOTS	(1 + ANGARA_MAX_TREES)

/* Kinds of events for which the caller polls, see ang_idle(). */
#define ANG_IDLE_POLL		1U
#define ANG_IDLE_MSG		2U
#define ANG_IDLE_WORDS		4U
#define ANG_IDLE_POST		8U
#define ANG_IDLE_CHECK		16U

/* How the completion of an operation is handled, see completion.c. */
#define ANG_SLOT_FREE		0
#define ANG_SLOT_COUNTED	1
#define ANG_SLOT_POLLED		2
#define ANG_SLOT_SILENT		3
#define ANG_SLOT_BLOCKED	4
#define ANG_SLOT_LINKED		5
#define ANG_SLOT_FLIGHT		6
#define ANG_SLOT_PART		7
#define ANG_SLOT_HOLDS		0x80U	/* flag: the operation holds regions */
#define ANG_SLOT_PARTS		0x40U	/* flag: parts of the operation are in progress */

/**
 * struct ang_posted - an operation that was passed to the device
 * @cookie: cookie of the caller; BLOCKED: address of the struct ang_blocked;
 *	LINKED: number of the slot of the operation after it; PART: number of
 *	the slot of the whole operation; FLIGHT: see coll_landed() in coll_run.c
 * @node: node at fault, with @status
 * @next: FREE: next free slot; FLIGHT: step; with ANG_SLOT_PARTS: number of
 *	parts that are not complete
 * @tree: 1 + TreeId, or ANG_NO_TREE
 * @kind: ANG_SLOT_*
 * @status: error of the operation linked before this one, or of a part; 0: none
 * @length: bytes of the parts that are complete
 */
struct ang_posted {
	u64 cookie;
	u32 node;
	u32 next;
	u8 tree;
	u8 kind;
	u16 status;
	u32 length;
};

/**
 * struct ang_blocked - operations that a call of the library waits for
 * @pending: number of operations that are not complete
 * @err: errno of the first operation that failed, 0 if none has failed
 * @node: node at fault
 */
struct ang_blocked {
	u32 pending;
	int err;
	u32 node;
};

/**
 * struct ang_held - regions of the cache that an operation holds
 * @mr: the regions; NULL: none
 */
struct ang_held {
	struct angara_mr *mr[2];
};

/* Code of messages that the library itself sends to members of a team. */
#define ANG_CODE_TEAM	0xFFFFU

struct ang_cached;
struct ang_coll_op;
struct ang_mr_cache;
struct ang_scratch;
struct ang_stray;

#define ANG_ENDED_NUM	64U
#define ANG_MISSED_NUM	16U
#define ANG_STRAY_BITS	6U
#define ANG_STRAY_QUEUES	(1U << ANG_STRAY_BITS)

/**
 * struct ang_kept - messages that arrived before the library could use them
 * @first: oldest, or NULL
 * @last: address of the pointer to set to the next message
 * @num: number of these messages
 * @bytes: memory that these messages use
 */
struct ang_kept {
	struct ang_stray *first;
	struct ang_stray **last;
	u32 num;
	size_t bytes;
};

/**
 * struct ang_missed - record that a message to a team that does not exist here
 * was dropped
 * @team: number of the team
 * @peer: sender
 * @from: rank that the sender claims
 */
struct ang_missed {
	u64 team;
	struct angara_peer peer;
	u32 from;
};

/**
 * struct ang_strays - messages to teams that do not exist here yet, from senders
 * with the same hash, see strays_of()
 * @kept: the messages
 * @missed: records of the last dropped messages, at most ANG_MISSED_NUM
 * @nmissed: number of all dropped messages
 */
struct ang_strays {
	struct ang_kept kept;
	struct ang_missed missed[ANG_MISSED_NUM];
	u32 nmissed;
};

/**
 * struct ang_coll_calls - what lower layers tell software collectives
 * @progress: advance all collectives of the context
 * @landed: an operation that the library posted for a collective is complete. Arguments: cookie
 *	and step of the operation, and its status, ANGARA_ST_*
 * @hear: a message with the code ANG_CODE_TEAM has arrived
 */
struct ang_coll_calls {
	void (*progress)(struct angara_ctx *ctx);
	void (*landed)(struct angara_ctx *ctx, u64 cookie, u32 step, u32 status);
	void (*hear)(struct angara_ctx *ctx, const struct angara_message *msg);
};

/**
 * struct ang_colls - software collectives of a context
 * @calls: functions of software collectives for the layers below them
 * @teams: teams
 * @orphans: collectives of destroyed teams of which the adapter still executes
 *	parts
 * @strays: messages to teams that do not exist here yet, by sender
 * @scratch: free memory
 * @ended: numbers of destroyed teams, to drop late messages to them
 * @nended: number of @ended
 * @busy: collectives in progress
 * @active: the collectives are being advanced; prevents recursion
 * @still: apart from collectives in progress, teams have no work until a message
 *	arrives, an operation of the library completes, or a team fails
 */
struct ang_colls {
	const struct ang_coll_calls *calls;
	struct angara_team *teams;
	struct ang_coll_op *orphans;
	struct ang_strays strays[ANG_STRAY_QUEUES];
	struct ang_scratch *scratch;
	u64 ended[ANG_ENDED_NUM];
	u32 nended;
	u32 busy;
	bool active;
	bool still;
};

#define ANG_SLOT_WORDS	1024U	/* a bit for each of 65536 slots */
#define ANG_WATCHED_SLOT	4096U	/* lowest slot for regions of the cache */

/**
 * struct angara_domain - a domain
 * @dev: the open device
 * @spec: fabric
 * @query: properties of the device
 * @pkey: partition
 * @first_slot: lowest slot for keys that the caller does not choose
 * @watch_offset: mmap offset of the notice of stale regions, 0: there is none
 * @watch_bytes: length of that notice
 * @cache: cache of registrations, NULL before the first; set once under @lock
 * @refs: references: its opener and its contexts (atomic)
 * @lock: protects the members that follow
 * @mrs: memory regions
 * @slots: a bit for each slot in use
 *
 * All but the last four are constant.
 */
struct angara_domain {
	struct ang_dev dev;
	struct ang_spec spec;
	struct angara_query query;
	u32 pkey;
	u32 first_slot;
	u64 watch_offset;
	size_t watch_bytes;
	struct ang_mr_cache *cache;
	u32 refs;
	pthread_mutex_t lock;
	struct angara_mr *mrs;
	u64 slots[ANG_SLOT_WORDS];
};

/**
 * struct angara_ctx - a context
 * @dev: handle of the context
 * @dom: domain
 * @create: parameters and results of the creation of the context
 * @spin_ns: how long the next wait spins
 * @spin_least: smallest value of @spin_ns
 * @spin_most: largest value of @spin_ns
 * @dead: the device is gone
 * @sq: injection queue
 * @pi: producer index of @sq, free running
 * @rung: producer index at the last doorbell
 * @cq: completion queue
 * @ci: consumer index of @cq, free running
 * @ctl: page with the library's indices, which the device reads
 * @ctr: event counters
 * @doorbell: page of the device, NULL without ANGARA_CAP_DOORBELL_MMAP
 * @msg: receive buffer, NULL without one
 * @msg_ci: consumer index of @msg
 * @msg_at: end of the last record returned to the caller
 * @msg_heard: end of the last record checked for the library's own messages
 * @msg_held: a bit per unit; set if a record begins there that the caller has
 *	not freed
 * @outstanding: operations posted and not reaped; at most cq_entries, so that
 *	the CQ cannot overflow
 * @by_tree: operations posted and not reaped, per tree
 * @first_err: errno of the first counted operation that failed, 0 if none has
 *	failed
 * @failed_node: node at fault of the last counted operation that failed;
 *	UINT32_MAX: none has failed
 * @idled: kinds of events, ANG_IDLE_*, for which polls found nothing since other
 *	threads last ran
 * @slots: operations that were passed to the device; cq_entries slots
 * @free_slot: first free slot, cq_entries if none is free
 * @held: regions that operations hold, by slot; NULL before the first
 * @ready: completions that the caller has yet to get, cq_entries places
 * @ready_head: index of the next completion to return, free running
 * @ready_tail: index of the next completion to write, free running
 * @scratch: region of @scratch_mem, NULL before the first use
 * @scratch_mem: buffer for blocking calls that fetch a few bytes
 * @stage: memory through which elements are copied, see strided.c; NULL before
 *	its first use
 * @colls: software collectives
 * @flight: options of the operations of software collectives; its cookie
 *	changes
 * @flight_step: step of the next operation with options @flight
 * @pool: devices of the fabric opened to program trees, NULL before the first
 * @trees: TreeIds that the context has joined, a bit for each
 * @turn: function of the program that lets other threads use the context while a
 *	call waits; NULL: there is none
 * @turn_arg: argument of @turn
 */
struct angara_ctx {
	struct ang_dev dev;
	struct angara_domain *dom;
	struct angara_ctx_create create;
	u64 spin_ns;
	u64 spin_least;
	u64 spin_most;
	bool dead;

	struct angara_wqe *sq;
	u32 pi;
	u32 rung;
	const struct angara_cqe *cq;
	u32 ci;
	struct angara_ctl *ctl;
	const __le64 *ctr;
	void *doorbell;

	const char *msg;
	u32 msg_ci;
	u32 msg_at;
	u32 msg_heard;
	u64 *msg_held;

	u32 outstanding;
	u32 by_tree[ANG_TREE_SLOTS];
	int first_err;
	u32 failed_node;
	u8 idled;

	struct ang_posted *slots;
	u32 free_slot;
	struct ang_held *held;
	struct angara_completion *ready;
	u32 ready_head;
	u32 ready_tail;

	struct angara_mr *scratch;
	char scratch_mem[ANGARA_MAX_INLINE];
	struct angara_mr *stage;
	struct ang_colls colls;
	struct angara_op flight;
	u32 flight_step;
	struct ang_pool *pool;
	u64 trees;
	angara_turn_fn turn;
	void *turn_arg;
};

/* Slot of a key; queue entries refer to local regions by their slots. */
#define ANG_MR_SLOT(key)	((u32)(key) & 0xFFFFU)

/**
 * struct angara_mr - a memory region
 * @dom: domain
 * @prev: pointer in the list that points here
 * @next: next region of the domain
 * @addr: start
 * @len: bytes
 * @mapped: bytes that angara_malloc() mapped, 0 for the caller's own memory
 * @key: key
 * @access: ANGARA_ACCESS_*
 * @cached: range of the cache to which the region belongs; NULL: the caller
 *	registered it
 * @revoked: the region was removed from the device
 */
struct angara_mr {
	struct angara_domain *dom;
	struct angara_mr **prev;
	struct angara_mr *next;
	void *addr;
	size_t len;
	size_t mapped;
	u64 key;
	u32 access;
	struct ang_cached *cached;
	bool revoked;
};

/* Time of the monotonic clock, nanoseconds. */
static inline u64 ang_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

/* Acquire: the caller may then read data that the counter covers. */
static inline u64 ang_counter(const struct angara_ctx *ctx, unsigned int index)
{
	return le64_to_cpu(ang_load_acquire(&ctx->ctr[index]));
}

/* doorbell.c */
int ang_kick(struct angara_ctx *ctx);

/* Rings the doorbell if ANGARA_MORE has deferred it.  Return: 0 or -errno. */
static inline int ang_flush(struct angara_ctx *ctx)
{
	return ctx->pi == ctx->rung ? 0 : ang_kick(ctx);
}

/* queue.c */
int ang_room(struct angara_ctx *ctx, u32 n, size_t len,
	     const struct angara_op *op);
int ang_post(struct angara_ctx *ctx, struct angara_wqe *wqe, const void *data,
	     size_t len, const struct angara_op *op);
int ang_post_two(struct angara_ctx *ctx, struct angara_wqe *first,
		 const void *data, size_t len, struct angara_wqe *second,
		 const void *data2, size_t len2, const struct angara_op *op);
int ang_post_parts(struct angara_ctx *ctx, struct angara_wqe *wqes, u32 n,
		   const struct angara_op *op, struct ang_blocked *b);
int ang_blocked_post(struct angara_ctx *ctx, struct angara_wqe *wqe, const void *data,
	      size_t len, struct ang_blocked *b);
int ang_slot_take(struct angara_ctx *ctx, const struct angara_op *op,
		  struct ang_blocked *b, u32 *number);

/* completion.c */
int ang_slots_init(struct angara_ctx *ctx);
void ang_slots_free(struct angara_ctx *ctx);
void ang_slots_unhold(struct angara_ctx *ctx);
bool ang_reap(struct angara_ctx *ctx);
bool ang_board_reap(struct angara_ctx *ctx, bool end);

/*
 * If the last entry of the SQ is on a board, takes it off the board.  Called before another entry
 * is written or the doorbell rings.
 */
static inline void ang_board_settle(struct angara_ctx *ctx)
{
	if (__builtin_expect(ctx->dev.boarded, 0))
		ang_board_reap(ctx, true);
}

void ang_slot_finish(struct angara_ctx *ctx, u32 number, u32 status, u32 node,
		     u64 length);
bool ang_has_completion(const struct angara_ctx *ctx);
unsigned int ang_harvest(struct angara_ctx *ctx, struct angara_completion *out,
			 unsigned int n);

/* blocking.c */
int ang_blocked_wait(struct angara_ctx *ctx, struct ang_blocked *b);
int ang_post_wait(struct angara_ctx *ctx, struct angara_wqe *wqe, const void *data,
		  size_t len);

/* wait.c */
typedef bool (*ang_done_fn)(struct angara_ctx *ctx, const void *arg);

int ang_wait_until(struct angara_ctx *ctx, ang_done_fn done, const void *arg,
		   int timeout_ms);
int ang_wait_counter(struct angara_ctx *ctx, unsigned int index, u64 value,
		     int timeout_ms);

/*
 * Lets other threads run, and checks whether the device is gone.  Does not sleep, since the caller
 * polls.
 */
static inline void ang_turn(struct angara_ctx *ctx)
{
	ctx->dev.ops->relax(&ctx->dev, false);
	if (ctx->dev.ops->gone(&ctx->dev))
		ctx->dead = true;
}

/*
 * Lets other threads run if the caller polls again for the same kind of event,
 * since the caller then has nothing else to do.  The first poll that finds
 * nothing returns at once, since the caller may still handle earlier events.  A
 * caller that polls for several kinds of events in turn yields once per round.
 *
 * Return: true if other threads have run; then @dead is up to date.
 */
static inline bool ang_idle(struct angara_ctx *ctx, unsigned int what)
{
	if (!(ctx->idled & what)) {
		ctx->idled |= (u8)what;
		return false;
	}
	ctx->idled = (u8)what;
	ang_turn(ctx);
	return true;
}

/* msg.c */
int ang_msg_open(struct angara_ctx *ctx);
void ang_msg_close(struct angara_ctx *ctx);
void ang_msg_hear(struct angara_ctx *ctx);

/* coll_run.c */
void ang_coll_open(struct angara_ctx *ctx);
void ang_coll_end(struct angara_ctx *ctx);

/* rma.c */
int ang_rma_wqe(const struct angara_ctx *ctx, unsigned int op, struct angara_peer peer,
		u64 key, u64 off, const struct angara_mr *mr, u64 loff, size_t len,
		struct angara_wqe *wqe);
int ang_inline_wqe(struct angara_peer peer, u64 dst_key, u64 dst_off,
		   const void *data, size_t len, struct angara_wqe *wqe);

/* scratch.c */
int ang_scratch(struct angara_ctx *ctx, const struct angara_mr **mr);

#define ANG_NUMBER_BYTES	16	/* bytes of a device number as text, with NUL */

/* domain.c */
int ang_dev_find(const char *device, struct ang_spec *spec,
		 char buf[ANG_NUMBER_BYTES], const char **name);
int ang_device_open(const char *device, struct ang_spec *spec, struct ang_dev *dev);
struct angara_domain *ang_dom_hold(struct angara_domain *dom);
void ang_dom_drop(struct angara_domain *dom);

int ang_send_wqe(const struct angara_ctx *ctx, struct angara_peer peer,
		 const struct angara_head *head, const struct angara_mr *src,
		 u64 src_off, size_t len, struct angara_wqe *wqe);

/* manage.c */
struct angara_manager;
struct angara_path;
int ang_manage_set(struct angara_manager *m, const struct angara_path *path,
		   unsigned int attr, u32 modifier, const void *value, size_t size,
		   u32 *router, bool *doubt);
int ang_manage_clear(struct angara_manager *m, const struct angara_path *path,
		     u32 tree, u16 epoch);

/* hold.c */
int ang_hold_begin(struct angara_ctx *ctx, u64 *off, size_t len,
		   unsigned int access, struct angara_mr **mr);
int ang_hold_begin_nbi(struct angara_ctx *ctx, u32 n, size_t inl,
		       const struct angara_op *op, u64 *off, size_t len,
		       unsigned int access, struct angara_mr **mr);
int ang_hold_posted(struct angara_ctx *ctx, const struct angara_wqe *wqe,
		    const struct ang_held *held, int ret);
int ang_hold_post(struct angara_ctx *ctx, int ret, struct angara_wqe *wqe,
		  const void *data, size_t len, const struct angara_op *op,
		  struct angara_mr *mr);

/* Releases the regions that an operation holds. */
static inline void ang_held_release(struct ang_held *held)
{
	angara_mr_release(held->mr[0]);
	angara_mr_release(held->mr[1]);
	*held = (struct ang_held){ { NULL } };
}

/* mr_slot.c */
bool ang_mr_fits(const struct angara_ctx *ctx, const struct angara_mr *mr,
		 u64 off, u64 len);
int ang_mr_free_slot(struct angara_domain *dom, u32 *slot);
int ang_mr_draw(u64 *upper);
int ang_mr_new(struct angara_domain *dom, void *addr, size_t len,
	       unsigned int access, u32 flags, u64 key, struct angara_mr **out);
int ang_mr_new_random(struct angara_domain *dom, void *addr, size_t len,
		      unsigned int access, u32 flags, u32 slot,
		      struct angara_mr **mr);
int ang_mr_reg_watched(struct angara_domain *dom, void *addr, size_t len,
		       unsigned int access, struct angara_mr **mr);
void ang_mr_revoke(struct angara_mr *mr);
void ang_mr_end(struct angara_mr *mr);

/* mr_cache.c */
void ang_mr_cache_free(struct angara_domain *dom);
bool ang_mr_cache_yield(struct angara_domain *dom);

/* mem.c */
int ang_mr_map(struct angara_domain *dom, size_t len, size_t align, void **addr,
	       size_t *mapped);

#endif /* ANG_LIB_H */
