// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Creating and destroying the tree of a group.
 *
 * libangara creates a team in one call that waits for the other members, so a
 * separate thread makes this call, and holds no lock while it waits.
 *
 * A member that has the result of the last operation may close the group while
 * other members still wait for the operation on the tree.  So the member starts
 * a barrier, and leaves the team when the barrier has ended: all members that
 * have started the barrier have all results.  Only fi_close() of the domain
 * waits for this.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offload.h"

/* Rounds and interval of the wait for trees of other groups to be destroyed. */
#define AFI_ROUNDS	500
#define AFI_RETRY_NS	2000000L

static int tree_exchange(void *arg, const unsigned int *ranks, unsigned int n,
			 uint64_t tag, const void *mine, size_t len, void *all)
{
	struct afi_group *g = arg;

	(void)ranks;
	(void)n;
	(void)tag;
	return afi_group_exchange(g, mine, len, all, afi_group_end(g));
}

/*
 * Exchanges the results of one step among all members.  Return: 0; the error of
 * the failed member with the lowest rank; or the error of the exchange.
 */
static int tree_vote(struct afi_offload *o, int err, u32 value)
{
	const struct afi_vote mine = { .err = err, .value = value };
	struct afi_group *g = o->group;
	int ret = afi_group_exchange(g, &mine, sizeof(mine), o->votes,
				     afi_group_end(g));
	u32 i;

	for (i = 0; !ret && i < g->size; i++)
		ret = o->votes[i].err;
	return ret;
}

/*
 * Gives the stage the same key at all members.  Return: 0, or the same -errno
 * at all members.
 */
static int share_stage(struct afi_offload *o)
{
	int ret = angara_team_mr_reg(o->team, o->stage,
				     AFI_STAGE_PARTS * AFI_STAGE_BYTES,
				     ANGARA_ACCESS_REMOTE_WRITE, &o->common);

	return ret == -ENOSPC ? -ENOBUFS : ret;
}

static void tree_leave(struct afi_offload *o)
{
	angara_team_leave(o->team);
	o->team = NULL;
}

static void give_way(struct afi_domain *d)
{
	const struct timespec ts = { .tv_nsec = AFI_RETRY_NS };

	afi_unlock(d);
	nanosleep(&ts, NULL);
	afi_lock(d);
	afi_progress(d);
}

/*
 * @any: out: does any member still destroy trees of closed groups, or has any
 * destroyed one since afi_coll.given_back was @before?  Return: as tree_vote().
 */
static int others_end(struct afi_offload *o, u64 before, bool *any)
{
	const struct afi_coll *c = o->domain->coll;
	int ret = tree_vote(o, 0, !afi_list_empty(&c->ending) ||
			    c->given_back != before);
	u32 i;

	*any = false;
	for (i = 0; !ret && i < o->group->size; i++)
		*any |= o->votes[i].value != 0;
	return ret;
}

static int make_team(struct afi_offload *o)
{
	struct afi_domain *d = o->domain;
	struct afi_group *g = o->group;
	const struct angara_team_attr attr = {
		.size = sizeof(attr), .flags = ANGARA_TEAM_TREE, .stripes = 1,
	};
	struct angara_job *job;
	bool again = false;
	u32 round = 0;
	int ret;

	ret = tree_vote(o, angara_job_init_with(g->rank, g->size, tree_exchange, g, &job),
			0);
	while (!ret) {
		u64 before = d->coll->given_back;

		ret = angara_team_create(job, d->ctx, NULL, 0, &attr, &o->team);
		/*
		 * Limit the wait, since other members may not close their
		 * groups.
		 */
		if (ret != -ENOSPC || round++ == AFI_ROUNDS)
			break;
		ret = others_end(o, before, &again);
		if (!ret && !again)
			ret = -ENOSPC;
		if (!ret)
			give_way(d);
	}
	if (!ret)
		ret = share_stage(o);
	if (ret && o->team)
		tree_leave(o);
	angara_job_finalize(job);
	return ret;
}

/*
 * Do all members have different contexts? Members of a team are contexts, not
 * endpoints.
 */
static bool tree_distinct(const struct afi_group *g)
{
	u32 i, j;

	for (i = 0; i < g->size; i++)
		for (j = 0; j < i; j++)
			if (g->members[i].name.node == g->members[j].name.node &&
			    g->members[i].name.ctx == g->members[j].name.ctx)
				return false;
	return true;
}

static const char *tree_reason(int err)
{
	switch (err) {
	case -EPERM:
		return "the user may not program trees, and none is delegated";
	case -ENOSPC:
		return "all trees of the fabric are in use";
	case -ENODEV:
		return "a node of the tree has no device at any member";
	case -ENOBUFS:
		return "no memory key is free at all members";
	case -EINVAL:
		return "members are in several partitions, or over 16 on a node";
	case -EACCES:
		return "no permission to open a device of the tree";
	default:
		return strerror(-err);
	}
}

/*
 * Creates the tree.  Members agree on the result of each step, so that all of
 * them give up if one member or the exchange fails.
 */
static int tree_make(struct afi_offload *o)
{
	int ret = angara_malloc(o->domain->dom,
				AFI_STAGE_PARTS * AFI_STAGE_BYTES, &o->mine);

	if (!ret)
		o->stage = angara_mr_addr(o->mine);
	ret = tree_vote(o, ret, 0);
	return ret ? ret : make_team(o);
}

static void free_stage(struct afi_offload *o)
{
	angara_mr_dereg(o->common);
	angara_free(o->mine);
	o->common = NULL;
	o->mine = NULL;
}

static void *join_thread(void *arg)
{
	struct afi_offload *o = arg;
	struct afi_group *g = o->group;
	const char *why = "two members share a context";

	afi_lock(o->domain);
	if (tree_distinct(g)) {
		int ret = tree_make(o);

		why = ret ? tree_reason(ret) : NULL;
	}
	if (o->team && g->state == AFI_GROUP_FAILED) {
		tree_leave(o);
		why = "the group has failed";
	}
	if (why)
		free_stage(o);
	afi_group_formed(g, why ? NULL : o, why);
	afi_unlock(o->domain);
	return NULL;
}

static void offload_free(struct afi_offload *o)
{
	u32 i;

	for (i = 0; i < AFI_REQS; i++)
		afi_await_drop(o->domain, &o->reqs[i].await);
	free_stage(o);
	free(o->votes);
	free(o);
}

static int tree_form(struct afi_group *g)
{
	struct afi_offload *o = calloc(1, sizeof(*o));
	int ret = -FI_ENOMEM;

	if (!o)
		return ret;
	afi_list_init(&o->link);
	o->domain = g->domain;
	o->group = g;
	o->votes = calloc(g->size, sizeof(*o->votes));
	if (o->votes)
		ret = afi_thread_start(&o->thread, join_thread, o);
	if (ret) {
		offload_free(o);
		return ret;
	}
	g->maker = o;
	return 0;
}

/* Return: true if all requests to the adapter have ended. */
static bool tree_settled(struct afi_offload *o)
{
	u32 i;

	for (i = 0; i < AFI_REQS; i++)
		afi_offload_ended(o, i, NULL);
	if (o->team && (!(o->live & 1U << AFI_REQ_LAST) || o->domain->dead))
		tree_leave(o);
	return !o->team && (!o->live || o->domain->dead);
}

/* Return: whether there was any progress. */
static bool tree_linger(struct afi_domain *d)
{
	struct afi_link *link, *next;
	bool any = false;

	for (link = d->coll->ending.next; link != &d->coll->ending; link = next) {
		struct afi_offload *o = afi_of(link, struct afi_offload, link);

		next = link->next;
		if (!tree_settled(o))
			continue;
		afi_list_del(&o->link);
		offload_free(o);
		d->coll->given_back++;
		any = true;
	}
	return any;
}

static void tree_close(struct afi_group *g)
{
	struct afi_offload *o = g->maker;
	struct afi_domain *d = o->domain;

	pthread_join(o->thread, NULL);
	afi_lock(d);
	g->maker = NULL;
	o->group = NULL;
	/* A member of a failed group leaves without a barrier with the other members. */
	if (o->team && g->state != AFI_GROUP_FAILED &&
	    !o->domain->dead)
		afi_offload_posted(o, AFI_REQ_LAST, angara_barrier_nbi(
			o->team, afi_offload_how(o, AFI_REQ_LAST)));
	o->call = NULL;
	afi_list_add(&d->coll->ending, &o->link);
	tree_linger(d);
	afi_unlock(d);
}

/*
 * Forgets trees when the domain is closed: closing the context drops requests
 * in progress.
 */
static void tree_drop(struct afi_domain *d)
{
	while (!afi_list_empty(&d->coll->ending)) {
		struct afi_offload *o = afi_of(d->coll->ending.next,
					       struct afi_offload, link);

		angara_team_leave(o->team);
		afi_list_del(&o->link);
		offload_free(o);
	}
}

const struct afi_offload_ops afi_offload_ops = {
	.form = tree_form,
	.supports = afi_offload_supports,
	.start = afi_offload_start,
	.progress = afi_offload_progress,
	.stop = afi_offload_stop,
	.close = tree_close,
	.linger = tree_linger,
	.drop = tree_drop,
	.query = afi_offload_query,
};
