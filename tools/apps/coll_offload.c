// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives in the network: one team per tree.  A process that receives a
 * broadcast only waits for the team's count; the network forwards and combines.
 */
#include <errno.h>
#include <stdlib.h>
#include "coll_offload.h"

/**
 * struct offload - teams of one process
 * @base: interface
 * @team: team of each tree
 * @expected: broadcasts finished in this process so far, by tree
 * @barrier: barrier in flight
 */
struct offload {
	struct coll base;
	struct angara_team *team[COLL_TREES];
	uint64_t expected[COLL_TREES];
	struct app_req barrier;
};

static struct offload *offload_of(struct coll *c)
{
	return (struct offload *)c;	/* base is the first member */
}

static int bcast_start(struct coll *c, struct coll_bcast *b)
{
	struct offload *o = offload_of(c);
	int err;

	if (b->source != c->app->rank)
		return 0;
	err = APP_POST(angara_bcast_nbi(o->team[b->tree], angara_mr_key(b->dst),
			       b->dst_off, b->src, b->src_off, b->len, app_op(&b->req)));
	return err ? app_fail(c->app, err, "broadcast of %llu bytes failed",
			      (unsigned long long)b->len) : 0;
}

static int bcast_finish(struct coll *c, struct coll_bcast *b)
{
	struct offload *o = offload_of(c);
	int err;

	/* The network returns a copy to the source, so the source counts it, too. */
	o->expected[b->tree]++;
	if (b->source == c->app->rank)
		return app_wait(c->app, &b->req, "broadcast");
	err = angara_team_received_wait(o->team[b->tree], o->expected[b->tree],
					APP_TIMEOUT_MS);
	return err ? app_fail(c->app, err, "broadcast from rank %u on tree %u failed",
			      b->source, b->tree) : 0;
}

static int reduce_start(struct coll *c, struct coll_reduce *r)
{
	int err = APP_POST(angara_allreduce_nbi(offload_of(c)->team[0], r->dst,
				       r->dst_off, r->src, r->src_off, r->count,
				       r->type, r->op, app_op(&r->req)));

	return err ? app_fail(c->app, err, "allreduce of %llu elements failed",
			      (unsigned long long)r->count) : 0;
}

static int reduce_finish(struct coll *c, struct coll_reduce *r)
{
	return app_wait(c->app, &r->req, "allreduce");
}

static int barrier_start(struct coll *c)
{
	struct offload *o = offload_of(c);
	int err = APP_POST(angara_barrier_nbi(o->team[0], app_op(&o->barrier)));

	return err ? app_fail(c->app, err, "barrier") : 0;
}

static int barrier_finish(struct coll *c)
{
	return app_wait(c->app, &offload_of(c)->barrier, "barrier");
}

static void offload_close(struct coll *c)
{
	struct offload *o = offload_of(c);
	unsigned int t;

	for (t = 0; t < c->trees; t++)
		if (o->team[t])
			angara_team_destroy(o->team[t]);
	free(o);
}

static const struct coll_ops offload_ops = {
	.name = "offload",
	.bcast_start = bcast_start,
	.bcast_finish = bcast_finish,
	.reduce_start = reduce_start,
	.reduce_finish = reduce_finish,
	.barrier_start = barrier_start,
	.barrier_finish = barrier_finish,
	.close = offload_close,
};

void coll_offload_explain(struct app *app, int err, unsigned int trees)
{
	switch (err) {
	case -EPERM:
		app_fail(app, 0, "no permission to program collective trees: run as "
			 "root, or have %u delegated ('angaractl tree "
			 "delegate')", trees);
		break;
	case -ENOSPC:
		app_fail(app, 0, "%u free collective trees are needed; see "
			 "'angaractl tree show'", trees);
		break;
	default:
		app_fail(app, err, "cannot set up a collective tree");
	}
}

struct coll *coll_offload_open(struct app *app, unsigned int trees)
{
	struct offload *o = calloc(1, sizeof(*o));
	unsigned int t;
	int err;

	if (!o) {
		app_fail(app, -ENOMEM, "teams");
		return NULL;
	}
	o->base = (struct coll) { &offload_ops, app, trees };
	for (t = 0; t < trees; t++) {
		struct angara_team_attr attr = {
			.size = sizeof(attr),
			.flags = ANGARA_TEAM_TREE,
			.root = coll_root(app, trees, t),
		};

		err = angara_team_create(app->job, app->ctx, NULL, app->size,
					 &attr, &o->team[t]);
		if (err) {
			coll_offload_explain(app, err, trees);
			offload_close(&o->base);
			return NULL;
		}
	}
	return &o->base;
}
