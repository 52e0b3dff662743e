/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of the library share.  Nothing here is exported.
 *
 * A context and all that hangs on it belongs to one thread at a time, so
 * there are no locks but that of a domain; the only other party is the device, and queue.c states
 * what is ordered how against it.
 */
#ifndef ANG_LIB_H
#define ANG_LIB_H

#include <pthread.h>

#include "ang_env.h"

#include <angara/angara.h>

#include "backend.h"
#include "sized.h"

#define ANG_PUBLIC	__attribute__((visibility("default")))

/* Index of operations that belong to no tree; tree t counts at 1 + t. */
#define ANG_NO_TREE	0
#define ANG_TREE_SLOTS	(1 + ANGARA_MAX_TREES)

/* What a caller looks for, see ang_idle(). */
#define ANG_IDLE_POLL		1U
#define ANG_IDLE_MSG		2U
#define ANG_IDLE_WORDS		4U
#define ANG_IDLE_POST		8U

/* What becomes of the completion of an operation, see completion.c. */
#define ANG_SLOT_FREE		0
#define ANG_SLOT_COUNTED	1
#define ANG_SLOT_TOLD		2
#define ANG_SLOT_SILENT		3
#define ANG_SLOT_BLOCKED	4
#define ANG_SLOT_LINKED		5
#define ANG_SLOT_FLIGHT		6

/**
 * struct ang_posted - an operation that the device has
 * @cookie: the caller's; BLOCKED: address of the struct ang_blocked; LINKED:
 *	number of the slot of the operation behind it; FLIGHT: see
 *	ang_coll_landed()
 * @node: node at fault, with @status
 * @next: FREE: next free slot; FLIGHT: step
 * @tree: 1 + TreeId, or ANG_NO_TREE
 * @kind: ANG_SLOT_*
 * @status: how the operation before it has failed that is linked to it, or 0
 */
struct ang_posted {
	u64 cookie;
	u32 node;
	u32 next;
	u8 tree;
	u8 kind;
	u16 status;
};

/**
 * struct ang_blocked - operations that a call of the library waits for
 * @pending: not complete yet
 * @err: errno of the first that failed, 0 if none
 * @node: node at fault
 */
struct ang_blocked {
	u32 pending;
	int err;
	u32 node;
};

/* Messages with this code are between the libraries of a team's members. */
#define ANG_CODE_TEAM	0xFFFFU

struct ang_coll_op;
struct ang_scratch;
struct ang_stray;

#define ANG_ENDED_NUM	64U

/**
 * struct ang_colls - software collectives of a context
 * @teams: teams
 * @orphans: collectives of teams that are gone, of which the adapter has parts
 * @strays: messages to teams that are not made yet
 * @scratch: free memory
 * @ended: numbers of teams that are gone, so that what still comes is dropped
 * @nended: their number
 * @busy: collectives under way
 * @active: they are being moved on: not again from within
 */
struct ang_colls {
	struct angara_team *teams;
	struct ang_coll_op *orphans;
	struct ang_stray *strays;
	struct ang_scratch *scratch;
	u64 ended[ANG_ENDED_NUM];
	u32 nended;
	u32 busy;
	bool active;
};

#define ANG_SLOT_WORDS	1024U	/* 65536 slots */

/**
 * struct angara_domain - a domain
 * @dev: the open device
 * @spec: fabric
 * @query: what the device says of itself
 * @pkey: partition
 * @refs: its opener and its contexts (atomic)
 * @lock: of what follows
 * @mrs: memory regions
 * @slots: a bit for each that a key without a number of its own has taken
 *
 * Constant but for the last four.
 */
struct angara_domain {
	struct ang_dev dev;
	struct ang_spec spec;
	struct angara_query query;
	u32 pkey;
	u32 refs;
	pthread_mutex_t lock;
	struct angara_mr *mrs;
	u64 slots[ANG_SLOT_WORDS];
};

/**
 * struct angara_ctx - a context
 * @dev: its handle
 * @dom: domain
 * @create: what it got
 * @spin_ns: how long a wait spins
 * @dead: the device is gone
 * @sq: injection queue
 * @pi: its producer index, free running
 * @rung: what the device was last told of it
 * @cq: completion queue
 * @ci: its consumer index, free running
 * @ctl: page that tells the device our indices
 * @ctr: event counters
 * @doorbell: page of the device, NULL without ANGARA_CAP_DOORBELL_MMAP
 * @msg: message area, NULL without one
 * @msg_ci: its consumer index
 * @msg_at: the record behind the last that was handed out
 * @msg_heard: the record behind the last that was looked at for the library's
 *	own messages
 * @msg_held: a bit for each unit where one begins that is with the caller
 * @outstanding: operations posted and not reaped; at most cq_entries, so that
 *	the CQ cannot overflow
 * @by_tree: the same per tree
 * @first_err: of the first counted operation that failed, 0 if none
 * @idled: what a caller was told since that there is nothing of, ANG_IDLE_*
 * @slots: operations that the device has, cq_entries of them
 * @free_slot: first free one, cq_entries if none
 * @ready: completions that the caller has not been handed, cq_entries places
 * @ready_head: next to hand out, free running
 * @ready_tail: next to write, free running
 * @scratch: region of @scratch_mem, NULL before the first use
 * @scratch_mem: for calls that wait for a few bytes
 * @colls: software collectives
 * @flight: what operations of theirs are posted with; its cookie changes
 * @flight_step: step that the next one is for
 * @pool: devices of the fabric opened to program trees, NULL before the first
 * @trees: TreeIds of the teams it is in, a bit for each
 */
struct angara_ctx {
	struct ang_dev dev;
	struct angara_domain *dom;
	struct angara_ctx_create create;
	u64 spin_ns;
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
	u8 idled;

	struct ang_posted *slots;
	u32 free_slot;
	struct angara_completion *ready;
	u32 ready_head;
	u32 ready_tail;

	struct angara_mr *scratch;
	char scratch_mem[ANGARA_MAX_INLINE];
	struct ang_colls colls;
	struct angara_op flight;
	u32 flight_step;
	struct ang_pool *pool;
	u64 trees;
};

/* Entries name regions of the own domain by the low bits of their keys. */
#define ANG_MR_SLOT(key)	((u32)(key) & 0xFFFFU)

/**
 * struct angara_mr - a memory region
 * @dom: domain
 * @prev: where the list points here
 * @next: next region of the domain
 * @addr: start
 * @len: bytes
 * @mapped: bytes that angara_malloc() mapped, 0 for the caller's own memory
 * @key: key
 * @access: ANGARA_ACCESS_*
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
};

/* queue.c */
int ang_post(struct angara_ctx *ctx, struct angara_wqe *wqe, const void *data,
	     size_t len, const struct angara_op *op);
int ang_post_two(struct angara_ctx *ctx, struct angara_wqe *first,
		 const void *data, size_t len, struct angara_wqe *second,
		 const void *data2, size_t len2, const struct angara_op *op);
int ang_blocked_post(struct angara_ctx *ctx, struct angara_wqe *wqe, const void *data,
	      size_t len, struct ang_blocked *b);
int ang_kick(struct angara_ctx *ctx);
int ang_flush(struct angara_ctx *ctx);
int ang_slot_take(struct angara_ctx *ctx, const struct angara_op *op,
		  struct ang_blocked *b, u32 *number);

/* completion.c */
int ang_slots_init(struct angara_ctx *ctx);
void ang_slots_free(struct angara_ctx *ctx);
bool ang_reap(struct angara_ctx *ctx);
void ang_slot_finish(struct angara_ctx *ctx, u32 number, u32 status, u32 node,
		     u64 length);
bool ang_has_completion(const struct angara_ctx *ctx);
int ang_blocked_wait(struct angara_ctx *ctx, struct ang_blocked *b);
int ang_post_wait(struct angara_ctx *ctx, struct angara_wqe *wqe, const void *data,
	    size_t len);

/* wait.c */
typedef bool (*ang_done_fn)(struct angara_ctx *ctx, const void *arg);

u64 ang_now_ns(void);
u64 ang_counter(const struct angara_ctx *ctx, unsigned int index);
int ang_wait_until(struct angara_ctx *ctx, ang_done_fn done, const void *arg,
		   int timeout_ms);
int ang_wait_counter(struct angara_ctx *ctx, unsigned int index, u64 value,
		     int timeout_ms);
int ang_wait_event(struct angara_ctx *ctx, int timeout_ms);
bool ang_ctx_look(struct angara_ctx *ctx);
void ang_turn(struct angara_ctx *ctx);

/*
 * A caller that looks again for the same thing has found nothing: others may go
 * on.  It gets the first such answer at once, as it has yet to see to what came
 * before; and one that looks for several things by turns lets others go on once
 * in a turn.
 *
 * Return: have others gone on?  Then it is also known whether the device is gone.
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
bool ang_has_message(struct angara_ctx *ctx);
void ang_msg_hear(struct angara_ctx *ctx);

/* coll_run.c, coll_talk.c, scratch.c */
struct angara_message;
void ang_coll_progress(struct angara_ctx *ctx);
void ang_coll_landed(struct angara_ctx *ctx, u64 cookie, u32 step, u32 status);
void ang_talk_hear(struct angara_ctx *ctx, const struct angara_message *msg);
void ang_coll_end(struct angara_ctx *ctx);

/* rma.c */
int ang_put_wqe(const struct angara_ctx *ctx, struct angara_peer peer,
		u64 dst_key, u64 dst_off, const struct angara_mr *src,
		u64 src_off, size_t len, struct angara_wqe *wqe);
int ang_get_wqe(const struct angara_ctx *ctx, struct angara_peer peer,
		u64 src_key, u64 src_off, const struct angara_mr *dst,
		u64 dst_off, size_t len, struct angara_wqe *wqe);
int ang_inline_wqe(struct angara_peer peer, u64 dst_key, u64 dst_off,
		   const void *data, size_t len, struct angara_wqe *wqe);
int ang_scratch(struct angara_ctx *ctx, const struct angara_mr **mr);

/* domain.c */
struct angara_domain *ang_dom_hold(struct angara_domain *dom);
void ang_dom_drop(struct angara_domain *dom);

/* mem.c */
bool ang_mr_fits(const struct angara_ctx *ctx, const struct angara_mr *mr,
		 u64 off, u64 len);

#endif /* ANG_LIB_H */
