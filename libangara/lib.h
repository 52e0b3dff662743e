/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of the library share.  Nothing here is exported.
 *
 * A context and all that hangs on it belongs to one thread at a time, so
 * there are no locks; the only other party is the device, and queue.c states
 * what is ordered how against it.
 */
#ifndef ANG_LIB_H
#define ANG_LIB_H

#include "ang_env.h"

#include <angara/angara.h>

#include "backend.h"

#define ANG_PUBLIC	__attribute__((visibility("default")))

/* Index of operations that belong to no tree; tree t counts at 1 + t. */
#define ANG_NO_TREE	0
#define ANG_TREE_SLOTS	(1 + ANGARA_MAX_TREES)

/**
 * struct ang_req - an operation that the caller holds a request for
 * @gen: incarnation of the slot, in the upper half of the request; never 0
 * @next: next free slot
 * @tree: 1 + TreeId, or ANG_NO_TREE
 * @state: ANG_REQ_*
 * @status: how it ended, in state DONE
 */
struct ang_req {
	u32 gen;
	u32 next;
	u8 tree;
	u8 state;
	struct angara_status status;
};

#define ANG_REQ_FREE	0
#define ANG_REQ_PENDING	1
#define ANG_REQ_DONE	2
#define ANG_REQ_END	0xFFFFFFFFU	/* end of the list of free slots */

/**
 * struct angara_ctx - a context
 * @dev: the open device
 * @spec: fabric
 * @query: what it said of itself
 * @create: what it gave
 * @spin_ns: how long a wait spins
 * @dead: the device is gone
 * @sq: injection queue
 * @pi: its producer index, free running
 * @cq: completion queue
 * @ci: its consumer index, free running
 * @ctl: page that tells the device our indices
 * @ctr: event counters
 * @doorbell: page of the device, NULL without ANGARA_CAP_DOORBELL_MMAP
 * @msg: message area, NULL without one
 * @msg_ci: its consumer index
 * @msg_at: the record behind the last that was handed out
 * @msg_held: a bit for each unit where one begins that is with the caller
 * @outstanding: operations posted and not reaped; at most cq_entries, so that
 *	the CQ cannot overflow
 * @by_tree: the same per tree
 * @first_err: of the first operation without request that failed, 0 if none
 * @fresh: something has come since a caller was last told that nothing has
 * @idle_tests: unsuccessful angara_test() calls since the device was looked at
 * @reqs: table of requests
 * @nreqs: slots in it
 * @free_req: first free slot
 * @mrs: memory regions
 * @pool: devices of the fabric opened to program trees, NULL before the first
 * @trees: TreeIds of the teams it is in, a bit for each
 */
struct angara_ctx {
	struct ang_dev dev;
	struct ang_spec spec;
	struct angara_query query;
	struct angara_ctx_create create;
	u64 spin_ns;
	bool dead;

	struct angara_wqe *sq;
	u32 pi;
	const struct angara_cqe *cq;
	u32 ci;
	struct angara_ctl *ctl;
	const __le64 *ctr;
	void *doorbell;

	const char *msg;
	u32 msg_ci;
	u32 msg_at;
	u64 *msg_held;

	u32 outstanding;
	u32 by_tree[ANG_TREE_SLOTS];
	int first_err;
	bool fresh;
	u32 idle_tests;

	struct ang_req *reqs;
	u32 nreqs;
	u32 free_req;

	struct angara_mr *mrs;
	struct ang_pool *pool;
	u64 trees;
};

/**
 * struct angara_mr - a memory region
 * @ctx: context
 * @prev: where the list points here
 * @next: next region of the context
 * @addr: start
 * @len: bytes
 * @mapped: bytes that angara_malloc() mapped, 0 for the caller's own memory
 * @key: key
 */
struct angara_mr {
	struct angara_ctx *ctx;
	struct angara_mr **prev;
	struct angara_mr *next;
	void *addr;
	size_t len;
	size_t mapped;
	u32 key;
};

/* queue.c */
int ang_post(struct angara_ctx *ctx, struct angara_wqe *wqe, const void *data,
	     size_t len, angara_req_t *req);
int ang_kick(struct angara_ctx *ctx);
unsigned int ang_reap(struct angara_ctx *ctx);

/* request.c */
int ang_req_new(struct angara_ctx *ctx, unsigned int tree, angara_req_t *req);
void ang_req_cancel(struct angara_ctx *ctx, angara_req_t req);
void ang_req_complete(struct angara_ctx *ctx, u64 cookie,
		      const struct angara_status *status);
int ang_req_take(struct angara_ctx *ctx, angara_req_t req,
		 struct angara_status *status);

/* wait.c */
typedef bool (*ang_done_fn)(struct angara_ctx *ctx, const void *arg);

u64 ang_now_ns(void);
u64 ang_counter(const struct angara_ctx *ctx, unsigned int index);
int ang_wait_until(struct angara_ctx *ctx, ang_done_fn done, const void *arg,
		   int timeout_ms);
int ang_wait_counter(struct angara_ctx *ctx, unsigned int index, u64 value,
		     int timeout_ms);
int ang_wait_event(struct angara_ctx *ctx, int timeout_ms);
unsigned int ang_ctx_look(struct angara_ctx *ctx);
bool ang_is_gone(struct angara_ctx *ctx);
void ang_idle(struct angara_ctx *ctx);

/* msg.c */
int ang_msg_open(struct angara_ctx *ctx);
void ang_msg_close(struct angara_ctx *ctx);

/* rma.c */
int ang_set_notify(struct angara_wqe *wqe, int notify);

/* mem.c */
bool ang_mr_fits(const struct angara_ctx *ctx, const struct angara_mr *mr,
		 u64 off, u64 len);
void ang_mr_free(struct angara_mr *mr);

#endif /* ANG_LIB_H */
