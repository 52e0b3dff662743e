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

/*
 * Makes @local contexts on each node.  Each has a buffer of 2 * @len bytes,
 * and sends from its first half.
 */
void group_new(struct group *g, u32 local, u64 len);
/* Frees the group and its host, and checks that the fabric is idle. */
void group_del(struct group *g);

/* Posts one operation, runs it, and checks all buffers and completions. */
void coll_bcast(struct ttree *t, u32 source, u32 len);
void coll_reduce(struct ttree *t, u32 receiver, u32 len);
/*
 * As coll_reduce(), but runs the fabric after each posting, as a doorbell may
 * do.
 */
void coll_reduce_in_turn(struct ttree *t, u32 receiver, u32 len);
void coll_allreduce(struct ttree *t, u32 len);
void coll_barrier(struct ttree *t);

/* Fills the send halves with words from which any reduction can be checked. */
void coll_fill(struct ttree *t, u64 seed);
/* Return: word @i of the sum of all participants' first halves. */
u32 coll_sum(struct ttree *t, u32 i);

/*
 * Computes the result of all contributions, which are at @off of the
 * participants' buffers, combined in the order of the tree.  Each node
 * combines its own contributions by place, then those of its children by
 * direction.
 */
void coll_fold(struct ttree *t, u32 type, u32 op, u64 off, void *out, u32 len);

/* Counts of packets, hops and drops, summed over the fabric. */
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
 * Runs all operations on 8 nodes and checks their data.  @step 1 covers all
 * pairs and roots, a larger step fewer of them.  Frees the host.
 */
void work_everything(struct host *h, u32 step, struct traffic *sum);
/* All contexts send to all others at once.  Frees the host. */
void work_crowd(struct host *h);

#endif /* TEST_COLL_H */
