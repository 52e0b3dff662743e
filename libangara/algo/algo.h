/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Software collectives as schedules.
 *
 * A schedule defines the work of one member of a collective: a list of steps
 * (send, receive, copy, combine) on byte ranges of three buffers.  Making a
 * schedule is a pure function of the arguments: no message is sent, no memory
 * of the caller is touched.  The runner (run.h) executes a schedule; teams
 * (coll_run.c), the libfabric provider (ofi/coll/schedule.c) and the test
 * (selftests/library/algo_sim.c) deliver its messages.
 *
 * Symbols: n members; p: the greatest power of two <= n; L = ceil(log2 n); m:
 * bytes of the vector (of one block if each member has a block of its own); r:
 * sizes of the dimensions of a ring; K: packets of a message (@packet); moved:
 * number of members that take part in an allgather under a number that differs
 * from their rank (@place).  Messages and bytes are sums over all members.
 *
 * | algorithm	       | used by		  | messages	 | bytes	  |
 * |-------------------|--------------------------|--------------|----------------|
 * | dissemination [H] | barrier		  | n L		 | 0		  |
 * | binomial [T]      | bcast, reduce		  | n-1		 | (n-1) m	  |
 * |		       | gather, scatter	  | n-1		 | m x subtrees   |
 * | linear	       | gather, scatter, v forms | n-1		 | (n-1) m	  |
 * | scatter-allgather | bcast			  | < n (n+L)	 | ~ (n+L/2) m    |
 * |	[V]	       |			  |		 |		  |
 * | recursive	       | allreduce		  | p log2 p +	 | as messages,	  |
 * |	doubling [T]   |			  |   2(n-p)	 |   m each	  |
 * |		       | scan, exscan [S]	  | sum n-2^k	 | as messages	  |
 * | Rabenseifner [R]  | allreduce		  | 2p log2 p +	 | 2(p-1) m +	  |
 * |		       |			  |   2(n-p)	 |   2(n-p) m	  |
 * | ring [P]	       | allreduce		  | n sum of	 | 2(n-1) m	  |
 * |		       |			  | (r-1)(K+1)	 |		  |
 * |		       | bcast, reduce		  | (n-1) K	 | (n-1) m	  |
 * |		       | allgather,		  | n(n-1)	 | n(n-1) m	  |
 * |		       |   reduce_scatter	  |		 |		  |
 * | tree	       | allreduce		  | 2(n-1) K	 | 2(n-1) m	  |
 * | Bruck [B],	       | allgather		  | n L		 | n(n-1) m	  |
 * |	doubling [T]   |   exchange first	  | + moved	 | + moved m	  |
 * | Bruck [B]	       |			  |		 |		  |
 * |		       | alltoall		  | n L		 | ~ n L m n/2	  |
 * | pairwise [T]      | alltoall, reduce_scatter | n(n-1)	 | n(n-1) m	  |
 *
 * [B] Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all
 *     communications in multiport message-passing systems, IEEE TPDS 8(11), 1997.
 * [H] Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, IJPP
 *     17(1), 1988.
 * [P] Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of
 *     workstations, JPDC 69(2), 2009.
 * [R] Rabenseifner: Optimization of collective reduction operations, ICCS 2004.
 * [S] Hillis, Steele: Data parallel algorithms, CACM 29(12), 1986.
 * [T] Thakur, Rabenseifner, Gropp: Optimization of collective communication
 *     operations in MPICH, IJHPCA 19(1), 2005.
 * [V] Barnett, Gupta, Payne, Shuler, van de Geijn, Watts: Interprocessor
 *     collective communication library, SHPCC 1994.
 *
 * The schedule alone determines the order in which contributions are combined;
 * timing has no influence: the same arguments give the same bits at all
 * members.
 */
#ifndef ANG_ALGO_H
#define ANG_ALGO_H

#include "ang_env.h"

/** enum ang_coll - collectives */
enum ang_coll {
	ANG_COLL_BARRIER,
	ANG_COLL_BCAST,
	ANG_COLL_REDUCE,
	ANG_COLL_ALLREDUCE,
	ANG_COLL_ALLGATHER,
	ANG_COLL_GATHER,
	ANG_COLL_SCATTER,
	ANG_COLL_ALLTOALL,
	ANG_COLL_REDUCE_SCATTER,
	ANG_COLL_SCAN,
	ANG_COLL_EXSCAN,
	ANG_COLL_NUM
};

/** enum ang_algo - algorithms; AUTO: see ang_algo_choose() */
enum ang_algo {
	ANG_ALGO_AUTO,
	ANG_ALGO_DISSEMINATION,
	ANG_ALGO_BINOMIAL,
	ANG_ALGO_LINEAR,
	ANG_ALGO_SCATTER_ALLGATHER,
	ANG_ALGO_RECURSIVE_DOUBLING,
	ANG_ALGO_RABENSEIFNER,
	ANG_ALGO_RING,
	ANG_ALGO_BRUCK,
	ANG_ALGO_PAIRWISE,
	ANG_ALGO_TREE,
	ANG_ALGO_NUM
};

/* Limit of packets of a message, since tags have to distinguish packets. */
#define ANG_ALGO_PACKETS	64U

/** enum ang_buf - buffer of a byte range */
enum ang_buf {
	ANG_BUF_IN,	/* contribution of the member; read only */
	ANG_BUF_OUT,	/* result of the member */
	ANG_BUF_TEMP,	/* scratch, ang_schedule.temp bytes */
	ANG_BUF_NUM
};

/**
 * struct ang_blocks - blocks of a buffer, one per member
 * @counts: elements of each block; NULL: each block has ang_coll_args.count
 * @displs: start of each block, in elements; NULL: blocks are contiguous
 */
struct ang_blocks {
	const size_t *counts;
	const size_t *displs;
};

/**
 * struct ang_kin - a member's neighbours in a tree of all members
 * @parent: rank of the member's parent; at the root, its own rank
 * @children: ranks of the member's children, in the order in which the member
 *	combines their contributions with its own
 * @num: number of @children
 * @arrivals: largest number of neighbours (parent and children) that any member
 *	has; equal at all members
 */
struct ang_kin {
	u32 parent;
	const u32 *children;
	u32 num;
	u32 arrivals;
};

/**
 * struct ang_coll_args - arguments of a collective at one member
 * @coll: ANG_COLL_*
 * @algo: ANG_ALGO_*
 * @rank: rank of this member
 * @size: members, at least 1
 * @root: rank of the root, in collectives that have one
 * @elem: bytes of an element, not 0
 * @count: elements of the vector, or of one block if members have blocks
 * @in: blocks of IN: ALLTOALL, REDUCE_SCATTER, and SCATTER at the root
 * @out: blocks of OUT: ALLGATHER, ALLTOALL, and GATHER at the root
 * @dims: RING of BCAST, REDUCE and ALLREDUCE: the members are a torus of these
 *	sizes, whose product is @size; the coordinate of the first dimension
 *	changes most quickly with the rank.  Sizes of 2 make a hypercube
 * @ndims: number of @dims; 0: one ring of all members
 * @packet: RING of BCAST, REDUCE and ALLREDUCE, and TREE: bytes of a packet; 0:
 *	messages are whole
 * @kin: TREE: the tree; another algorithm: NULL
 * @place: BRUCK and RECURSIVE_DOUBLING of ALLGATHER: number under which each
 *	rank takes part; NULL: its rank
 * @rank_of: the inverse of @place, which is a permutation
 * @exchange: with @place: members exchange their blocks first, instead of
 *	reordering all blocks at the end
 *
 * If block lengths differ, all members name the algorithm in @algo, or all set
 * @irregular and pass counts: otherwise AUTO may choose different algorithms.
 * With @irregular, @count is the member's own block in GATHER and SCATTER.
 */
struct ang_coll_args {
	enum ang_coll coll;
	enum ang_algo algo;
	u32 rank;
	u32 size;
	u32 root;
	u32 elem;
	size_t count;
	bool irregular;
	struct ang_blocks in;
	struct ang_blocks out;
	const u32 *dims;
	u32 ndims;
	size_t packet;
	const struct ang_kin *kin;
	const u32 *place;
	const u32 *rank_of;
	bool exchange;
};

/** enum ang_step_kind - kinds of steps */
enum ang_step_kind {
	ANG_STEP_SEND,		/* send @src to member @peer */
	ANG_STEP_RECV,		/* receive from member @peer to @dst */
	ANG_STEP_COPY,		/* dst = src; the ranges may be the same */
	ANG_STEP_COMBINE,	/* dst = dst op src */
};

/** struct ang_range - bytes of a buffer; ang_step.len is the length */
struct ang_range {
	enum ang_buf buf;
	size_t off;
};

/**
 * struct ang_step - a step of a schedule
 * @kind: ANG_STEP_*
 * @peer: rank, SEND and RECV
 * @tag: SEND and RECV: distinguishes the messages from one member to another;
 *	below 2 * size + 64
 * @after: this step may begin when the first @after steps have ended; never
 *	less than in the step before
 * @dst: RECV, COPY, COMBINE
 * @src: SEND, COPY, COMBINE
 * @len: bytes
 */
struct ang_step {
	enum ang_step_kind kind;
	u32 peer;
	u32 tag;
	u32 after;
	struct ang_range dst;
	struct ang_range src;
	size_t len;
};

/**
 * struct ang_schedule - the steps of one member
 * @steps: steps; steps that may run at once share only bytes that they read
 * @n: number of steps
 * @room: capacity of @steps
 * @width: maximum number of steps in progress at once
 * @temp: bytes of ANG_BUF_TEMP
 */
struct ang_schedule {
	struct ang_step *steps;
	u32 n;
	u32 room;
	u32 width;
	size_t temp;
};

int ang_schedule_make(const struct ang_coll_args *args,
		      struct ang_schedule *sched);
void ang_schedule_free(struct ang_schedule *sched);
enum ang_algo ang_algo_choose(const struct ang_coll_args *args);
u64 ang_algo_arrivals(const struct ang_coll_args *args, size_t *longest);
void ang_algo_square(u32 n, u32 dims[2]);
u32 ang_algo_packets(size_t len, size_t packet);
bool ang_algo_valid(const struct ang_coll_args *args);
const char *ang_algo_name(enum ang_algo algo);

#endif /* ANG_ALGO_H */
