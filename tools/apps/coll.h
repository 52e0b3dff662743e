/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two implementations of collectives behind one interface: offloaded to the
 * network, or by puts over the same trees with ejection and injection at every
 * node.
 *
 * All processes start the same operations in the same order and finish them in
 * that order; work of the processor (by puts: combining and forwarding) happens
 * in start and finish.  Destination regions have the same key and offset in all
 * processes.  Reductions and barriers run on tree 0, and one of them finishes
 * before the next one starts.
 */
#ifndef ANG_APPS_COLL_H
#define ANG_APPS_COLL_H

#include "app.h"

/*
 * First user counter that the application may use; collectives by puts use the
 * counters below.
 */
#define COLL_APP_COUNTER	224

/* Most trees that a program uses at a time. */
#define COLL_TREES	16

struct coll;

/**
 * struct coll_bcast - a broadcast
 * @tree: 0..trees - 1
 * @source: rank that has the data
 * @dst: region written, in every process
 * @dst_off: offset in it
 * @src: region read, at @source only
 * @src_off: offset in it
 * @len: bytes
 * @req: used by the implementation
 *
 * A tree carries one broadcast at a time; broadcasts on different trees, and a
 * barrier after a broadcast, may be in flight together.  A broadcast is
 * finished when the data has arrived and, at @source, @src may be written.
 */
struct coll_bcast {
	unsigned int tree;
	unsigned int source;
	const struct angara_mr *dst;
	uint64_t dst_off;
	const struct angara_mr *src;
	uint64_t src_off;
	uint64_t len;
	struct app_req req;
};

/**
 * struct coll_reduce - an allreduce of elements of eight bytes
 * @dst: region for the result
 * @dst_off: offset in it
 * @src: region with the contribution
 * @src_off: offset in it
 * @count: elements
 * @type: ANGARA_TYPE_INT64, or ANGARA_TYPE_DOUBLE of ANGARA_RED_MAX
 * @op: ANGARA_RED_SUM or ANGARA_RED_MAX
 * @req: used by the implementation
 */
struct coll_reduce {
	const struct angara_mr *dst;
	uint64_t dst_off;
	const struct angara_mr *src;
	uint64_t src_off;
	uint64_t count;
	unsigned int type;
	unsigned int op;
	struct app_req req;
};

/* An implementation; errors are recorded with app_fail(). */
struct coll_ops {
	const char *name;
	int (*bcast_start)(struct coll *c, struct coll_bcast *b);
	int (*bcast_finish)(struct coll *c, struct coll_bcast *b);
	int (*reduce_start)(struct coll *c, struct coll_reduce *r);
	int (*reduce_finish)(struct coll *c, struct coll_reduce *r);
	int (*barrier_start)(struct coll *c);
	int (*barrier_finish)(struct coll *c);
	void (*close)(struct coll *c);
};

/**
 * struct coll - an open set of trees; each implementation embeds it
 * @ops: implementation
 * @app: this process
 * @trees: number of trees, their roots spread evenly over the ranks
 */
struct coll {
	const struct coll_ops *ops;
	struct app *app;
	unsigned int trees;
};

/**
 * coll_open() - set up trees over all processes of the job
 * @app: this process, after app_open(); all processes have to call
 * @by_puts: without the collective network
 * @trees: 1..COLL_TREES
 *
 * Return: the trees; NULL and a message recorded.  The caller calls
 * app_agree().
 */
struct coll *coll_open(struct app *app, bool by_puts, unsigned int trees);

/** Return: rank whose node is the root of a tree. */
unsigned int coll_root(const struct app *app, unsigned int trees,
		       unsigned int tree);

/**
 * Close the trees.  All processes call it if none has failed; otherwise exiting
 * is enough.
 */
void coll_close(struct coll *c);

int coll_bcast(struct coll *c, struct coll_bcast *b);
int coll_allreduce(struct coll *c, struct coll_reduce *r);
int coll_barrier(struct coll *c);

/**
 * struct coll_gather - an allgather by broadcasts over all trees
 * @mr: region for all blocks, in every process
 * @offset: size + 1 offsets: block of rank r is [offset[r], offset[r + 1])
 *
 * Each process broadcasts its block in place, even an empty block: so when the
 * gather ends in a process, all processes have started it.  If there are fewer
 * processes than trees, each process cuts its block into pieces, so that every
 * tree has work.
 */
struct coll_gather {
	const struct angara_mr *mr;
	const uint64_t *offset;
};

int coll_allgather(struct coll *c, const struct coll_gather *g);

#endif /* ANG_APPS_COLL_H */
