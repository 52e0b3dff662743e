// SPDX-License-Identifier: GPL-2.0-only
/* Collectives: common code of both implementations. */
#include <errno.h>
#include <stdlib.h>
#include "coll.h"
#include "coll_offload.h"
#include "coll_p2p.h"

struct coll *coll_open(struct app *app, bool by_puts, unsigned int trees)
{
	return by_puts ? coll_p2p_open(app, trees) :
			 coll_offload_open(app, trees);
}

unsigned int coll_root(const struct app *app, unsigned int trees,
		       unsigned int tree)
{
	return (unsigned int)((uint64_t)tree * app->size / trees);
}

void coll_close(struct coll *c)
{
	if (c)
		c->ops->close(c);
}

int coll_bcast(struct coll *c, struct coll_bcast *b)
{
	int err = c->ops->bcast_start(c, b);

	return err ? err : c->ops->bcast_finish(c, b);
}

int coll_allreduce(struct coll *c, struct coll_reduce *r)
{
	int err = c->ops->reduce_start(c, r);

	return err ? err : c->ops->reduce_finish(c, r);
}

int coll_barrier(struct coll *c)
{
	int err = c->ops->barrier_start(c);

	return err ? err : c->ops->barrier_finish(c);
}

/* Return: broadcast of piece @piece of @pieces of the block of @source. */
static struct coll_bcast piece_of(const struct coll *c,
				  const struct coll_gather *g,
				  unsigned int source, unsigned int piece,
				  unsigned int pieces)
{
	uint64_t first = g->offset[source];
	uint64_t len = g->offset[source + 1] - first;
	uint64_t from = len * piece / pieces;
	uint64_t to = len * (piece + 1) / pieces;

	return (struct coll_bcast) {
		.tree = (source + piece * c->app->size) % c->trees,
		.source = source,
		.dst = g->mr,
		.dst_off = first + from,
		.src = g->mr,
		.src_off = first + from,
		.len = to - from,
	};
}

/*
 * Broadcast all pieces of sources first..last - 1, with at most one broadcast
 * per tree.
 */
static int gather_round(struct coll *c, const struct coll_gather *g,
			unsigned int first, unsigned int last,
			unsigned int pieces)
{
	struct coll_bcast all[COLL_TREES];
	unsigned int n = 0, i, r, p;
	int err;

	for (r = first; r < last; r++)
		for (p = 0; p < pieces; p++)
			all[n++] = piece_of(c, g, r, p, pieces);
	/* All processes inject before any process waits. */
	for (i = 0; i < n; i++) {
		err = c->ops->bcast_start(c, &all[i]);
		if (err)
			return err;
	}
	/*
	 * All processes use the same order, so a forwarding process never waits
	 * for a process below it.
	 */
	for (i = 0; i < n; i++) {
		err = c->ops->bcast_finish(c, &all[i]);
		if (err)
			return err;
	}
	return 0;
}

int coll_allgather(struct coll *c, const struct coll_gather *g)
{
	unsigned int size = c->app->size;
	unsigned int pieces = size < c->trees ? c->trees / size : 1;
	unsigned int first, last;
	int err;

	for (first = 0; first < size; first = last) {
		last = size - first < c->trees ? size : first + c->trees;
		err = gather_round(c, g, first, last, pieces);
		if (err)
			return err;
	}
	return 0;
}
