/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts on all nodes, and collectives among them with known results.
 */
#ifndef TEST_COLL_H
#define TEST_COLL_H

#include "host.h"

struct group {
	struct host *h;
	u32 n;			/* contexts, @local on each node */
	struct tctx **ctx;
};

/* Every context has a buffer of 2 * @len: the first half to send. */
void group_new(struct group *g, u32 local, u64 len);
/* Also frees the host, which checks that the fabric is idle. */
void group_del(struct group *g);

/* One operation from posting to the check of all buffers and completions. */
void coll_bcast(struct ttree *t, u32 source, u32 len);
void coll_reduce(struct ttree *t, u32 receiver, u32 len);
/* The fabric runs after each posting, like a host whose doorbell runs it. */
void coll_reduce_in_turn(struct ttree *t, u32 receiver, u32 len);
void coll_allreduce(struct ttree *t, u32 len);
void coll_barrier(struct ttree *t);

/* Fills the send halves with words from which any reduction can be checked. */
void coll_fill(struct ttree *t, u64 seed);
/* Word @i of the sum of all participants' first halves. */
u32 coll_sum(struct ttree *t, u32 i);

/*
 * The result of the contributions at @off of all participants' buffers,
 * combined in the order of the tree: at each node its own by their places, then
 * the children's by direction.
 */
void coll_fold(struct ttree *t, u32 type, u32 op, u64 off, void *out, u32 len);

/* Sums over the fabric. */
struct traffic {
	u64 link[ANGARA_VC_NUM];	/* packets on links, including
					 * credits */
	u64 credits;			/* credit packets on links */
	u64 injected;
	u64 ejected;
	u64 hops;
	u64 drops;
};

void traffic(struct host *h, struct traffic *sum);

/*
 * All operations, with data checked, on 8 nodes; @step 1 for all pairs and
 * roots, more for fewer.  Frees the host.
 */
void work_everything(struct host *h, u32 step, struct traffic *sum);
/* All send to all at once.  Frees the host. */
void work_crowd(struct host *h);

#endif /* TEST_COLL_H */
