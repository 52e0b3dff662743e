/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drivers and processes that work on one fabric at the same time, each with its
 * own view.  They are coroutines whose schedule a seed decides (turns.c), or
 * threads (threads.c).
 *
 * An actor is the driver of one node and the processes that have its contexts.
 * A worker only runs work that actors hand over.  They share the fabric, host
 * memory, and words that are accessed atomically.
 */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include "host.h"
#include "test.h"

#define NODES		4U	/* maximum; one actor each */
#define CTXS		3U	/* per node */
#define WORKERS		2U
#define SLOTS		2U	/* transfers in flight per actor */
#define SLOT		800U	/* bytes of each transfer */
#define OUT(slot)	((slot) * SLOT)
#define IN(node, slot)	((SLOTS + (node) * SLOTS + (slot)) * SLOT)
#define WORD		IN(NODES, 0)	/* 8 bytes for atomic operations */
#define NAME		(WORD + 8)		/* 64 bytes that contain the owner's name */
#define NAME_LEN	64U
#define BUFFER		(NAME + NAME_LEN)
#define EXTRA_KEY	1U	/* region that is created and removed */
#define EXTRA		256U
#define COUNTERS	(ANGARA_CTR_USER(0) + 8U)	/* used counters of the counter page */
#define OPS		8U	/* entries of SQ and CQ */
#define AREA_LOG2	14U
#define TREE		0U
#define STEADY		1U	/* tree that is never cleared */

/*
 * Memory of a context.  Each context has two, and uses the other one each time
 * it is created.
 */
struct ctx_memory {
	struct angara_wqe sq[OPS];
	struct angara_cqe cq[OPS];
	struct angara_hw_mr mrt[MRS];
	struct angara_ctl ctl;
	__le64 list[8];
	__le64 ctr[COUNTERS];
	u8 extra[EXTRA] __attribute__((aligned(64)));
	u8 buf[BUFFER] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

/* Table of a domain that the contexts of a node share. */
struct dom_memory {
	struct angara_hw_mr mrt[MRS];
	__le64 list;
} __attribute__((aligned(64)));

struct actor;
struct context;

/* An operation that was posted and has not completed. */
struct posted {
	u8 used;
	u8 opcode;
	u8 slot;		/* slot of the actor, plus 1; 0 for none */
	u32 len;
	u32 to;			/* target: node * CTXS + context */
	u32 life;		/* life of the target */
	u64 value;
	u64 cookie;
	/* Called for the expected completion of this operation; or NULL. */
	void (*end)(struct actor *a, struct context *c, const struct posted *p,
		    u32 status);
};

struct context {
	struct tctx t;
	struct tarea area;
	u32 cid;		/* node * CTXS + context */
	u32 life;		/* odd: the context exists (other actors read it) */
	u32 pending;
	u32 posts;		/* number of posts so far */
	struct posted op[OPS];
	u32 msgs;		/* messages sent so far */
	u32 got[NODES * CTXS];	/* last message from each context, plus 1 */
	u32 joined;		/* joined trees */
	u32 number;		/* reductions posted since the context joined TREE */
	u64 added;		/* sum added by the context's atomic operations */
};

struct actor {
	struct host h;		/* host; only its view is private to the actor */
	u32 index;		/* node; from NODES on for a worker */
	u64 seed;
	u32 asq_pi, acq_ci;
	struct context ctx[CTXS];
	u32 slots;		/* slots in use */
	u32 row_life;		/* life of the row of TREE; odd: the row is set */
	u32 dom_ctxs;		/* contexts of the domain that the actor's contexts share */
	u32 done;
};

struct family {
	const char *name;
	const char *what;
	u32 nodes;		/* nodes of the ring */
	u32 ctxs;		/* contexts per node that exist from the start */
	u16 bufs;		/* buffers per node; 0: the minimum */
	u16 depth;		/* depth of links; 0: the minimum */
	bool areas;		/* contexts have receive buffers */
	bool lives;		/* contexts are created and destroyed */
	bool share;		/* contexts of a node share one domain */
	void (*set_up)(void);	/* called by one view before all actors start, or NULL */
	void (*act)(struct actor *a);
	void (*end)(void);	/* called when the fabric is idle again, or NULL */
};

extern const struct family transfers, transfers_lives, sharing, messages,
	messages_lives, fences, collectives, rooms, buffers, trees_lives, tree_again;

#define FAMILIES							\
	&transfers, &transfers_lives, &sharing, &messages,		\
	&messages_lives, &fences,					\
	&collectives, &rooms, &buffers, &trees_lives, &tree_again

/* State of a scenario, reset each time. */
struct shared {
	struct actor actor[NODES + WORKERS];
	struct ang_list runq;
	struct ang_list timers;
	u64 plan;		/* random bits, the same for all actors */
	u64 family[1024];	/* for the family's own use */
};

extern struct shared shared;
extern struct ang_fabric *fabric;
extern const struct family *family;
extern u32 nworkers;
extern const bool threads;	/* actors run at the same time */

/* world.c */
void world_new(const struct family *f);
/*
 * Restores the state after world_new(); every actor draws its own numbers from
 * @seed.
 */
void world_restore(u64 seed);
/* Runs work that no worker has taken; afterwards no work may be left. */
void world_settle(void);
struct ctx_memory *ctx_memory(u32 node, u32 id, u32 life);
struct dom_memory *dom_memory(u32 node);
void memory_live(void *at, u32 len, bool live);
u64 memory_addr(u32 node, const void *at);
struct context *context_of(u32 cid);
u8 *area_memory(u32 node, u32 id, u32 life);
void area_live(u32 node, u32 id, u32 life, bool live);
struct angara_adm_cmd *asq_entry(u32 node, u32 index);
struct angara_adm_cpl *acq_entry(u32 node, u32 index);
u32 acq_phase(u32 index);
void enable(struct actor *a);

/* turns.c or threads.c */
/* Lets other actors run, since the caller has no work and waits for @what. */
void idle(const char *what);
/* A point: lets other actors run. */
void moment(const char *what);
/* Called after each step of a node. */
void stepped(void);
bool all_done(void);
/* A lock for data that actors share outside of the fabric. */
void shared_lock(void);
void shared_unlock(void);
void tell_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern bool tracing;
#define TRACE(...)							\
do {									\
	if (tracing)							\
		tell_of(__VA_ARGS__);					\
} while (0)

/* actor.c */
u32 pick(struct actor *a, u32 n);
void run(struct actor *a, u32 budget);
void run_some(struct actor *a);
void hand_on(struct actor *a);
void actor_wait(struct actor *a, bool (*cond)(struct actor *a), const char *what);
void work(struct actor *w);
/* Runs one command.  Return: ANGARA_ADM_ST_* */
u32 command(struct actor *a, const struct angara_adm_cmd *cmd);
u32 command_op(struct actor *a, u32 opcode, u32 ctx, u32 tree);
u32 command_row(struct actor *a, const struct angara_tree_row *row);
/* Runs @count commands with one doorbell. */
void commands(struct actor *a, const struct angara_adm_cmd *cmd, u32 count,
	      u32 *status);
struct angara_adm_cmd cmd_row(const struct angara_tree_row *row);
struct angara_adm_cmd cmd_op(u32 opcode, u32 ctx, u32 tree);
void context_create(struct actor *a, struct context *c);
void context_destroy(struct actor *a, struct context *c);
/* Return: the entry of region BUF_KEY or EXTRA_KEY of an existing context. */
struct angara_hw_mr *region_entry(struct context *c, u32 key);
/*
 * Return: the region's key in a life of the context, as contexts of other
 * nodes know it.
 */
u64 region_key(u32 cid, u32 life, u32 key);
/* Is there room for one more operation? */
bool may_post(const struct context *c);
struct posted *post_op(struct actor *a, struct context *c, struct angara_wqe w,
		       const void *payload);
void ring(struct actor *a, struct context *c);
void reap(struct actor *a);
bool nothing_pending(struct actor *a);

/* Rows of a tree over all nodes of the ring, with node 0 as root. */
void tree_rows(u32 tree, const u16 *pe, struct angara_tree_row *rows);
/* Sets the rows of tree_rows(); the tree has context @ctx of each node. */
void tree_steady(u32 tree, u32 ctx);

#endif /* EXPLORE_EXPLORE_H */
