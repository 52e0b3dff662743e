// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Giving a group a tree, and taking it back.
 *
 * libangara makes teams in one call that waits for the other members, so that
 * has a thread of its own; while it waits for them it holds no lock.
 *
 * A member that closes the group may have what the last operation gave, while
 * others still wait for it on the tree.  So it starts a barrier, and leaves the
 * team when that has ended: whoever has started it has all.  Nobody waits for
 * that but the domain, when it is closed.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offload.h"

/* For groups that end to have ended: how often to look, and how long between. */
#define AFI_ROUNDS	500
#define AFI_RETRY_NS	2000000L

static int exchange(void *arg, const unsigned int *ranks, unsigned int n,
		    uint64_t tag, const void *mine, size_t len, void *all)
{
	struct afi_group *g = arg;

	(void)ranks;
	(void)n;
	(void)tag;
	return afi_group_exchange(g, mine, len, all, g->end);
}

/* Return: 0 or the error of the member with the lowest rank, or of exchanging. */
static int vote(struct afi_offload *o, int err, u32 value)
{
	const struct afi_vote mine = { .err = err, .value = value };
	struct afi_group *g = o->group;
	int ret = afi_group_exchange(g, &mine, sizeof(mine), o->votes, g->end);
	u32 i;

	for (i = 0; !ret && i < g->size; i++)
		ret = o->votes[i].err;
	return ret;
}

/* Registers the stage with the highest key below @limit that is free here. */
static int take_key(struct afi_offload *o, u32 limit, u32 *key)
{
	struct afi_domain *d = o->domain;
	int ret;

	while (limit-- > 0) {
		ret = angara_mr_reg_key(d->dom, o->stage,
					AFI_STAGE_PARTS * AFI_STAGE_BYTES,
					ANGARA_ACCESS_REMOTE_WRITE, limit,
					&o->common);
		*key = limit;
		if (ret != -EEXIST)
			return ret;
	}
	return -ENOBUFS;
}

/*
 * One key for the stage, at all members.  Who has a higher one than others
 * looks further down, so it ends.
 */
static int agree_key(struct afi_offload *o)
{
	u32 limit = afi_low_keys(o->domain);
	u32 key = 0, lowest, highest, i;
	int err, ret;

	for (;;) {
		err = o->common ? 0 : take_key(o, limit, &key);
		ret = vote(o, err, key);
		if (ret)
			return ret;
		lowest = key;
		highest = key;
		for (i = 0; i < o->group->size; i++) {
			u32 its = o->votes[i].value;

			lowest = its < lowest ? its : lowest;
			highest = its > highest ? its : highest;
		}
		if (lowest == highest)
			return 0;
		if (key == lowest)
			continue;
		angara_mr_dereg(o->common);
		o->common = NULL;
		limit = lowest + 1;
	}
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
 * Is a member still about to give back trees of groups that it has closed, or has
 * it since it had given back @before of them?
 */
static int others_end(struct afi_offload *o, u64 before, bool *any)
{
	const struct afi_coll *c = o->domain->coll;
	int ret = vote(o, 0, !afi_list_empty(&c->ending) ||
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
		.size = sizeof(attr), .flags = ANGARA_TEAM_TREE,
	};
	struct angara_job *job;
	bool again = false;
	u32 round = 0;
	int ret;

	ret = vote(o, angara_job_init_with(g->rank, g->size, exchange, g, &job),
		   0);
	while (!ret) {
		u64 before = d->coll->given_back;

		ret = angara_team_create(job, d->ctx, NULL, 0, &attr, &o->team);
		/* Groups that others do not close are not waited for long. */
		if (ret != -ENOSPC || round++ == AFI_ROUNDS)
			break;
		ret = others_end(o, before, &again);
		if (!ret && !again)
			ret = -ENOSPC;
		if (!ret)
			give_way(d);
	}
	angara_job_finalize(job);
	return ret;
}

/* The adapter knows contexts, not endpoints. */
static bool distinct(const struct afi_group *g)
{
	u32 i, j;

	for (i = 0; i < g->size; i++)
		for (j = 0; j < i; j++)
			if (g->members[i].name.node == g->members[j].name.node &&
			    g->members[i].name.ctx == g->members[j].name.ctx)
				return false;
	return true;
}

static const char *reason(int err)
{
	switch (err) {
	case -EPERM:
		return "its user may not program trees, and none is delegated";
	case -ENOSPC:
		return "all trees of the fabric are taken";
	case -ENODEV:
		return "a node on the way has no device at any member";
	case -ENOBUFS:
		return "no key of memory is free at all members";
	case -EINVAL:
		return "members of several partitions, or over 16 on a node";
	case -EACCES:
		return "a device on the way may not be opened";
	default:
		return strerror(-err);
	}
}

/* Nobody gives up alone, unless the exchange fails: then all do. */
static int make(struct afi_offload *o)
{
	int ret = angara_malloc(o->domain->dom,
				AFI_STAGE_PARTS * AFI_STAGE_BYTES, &o->mine);

	if (!ret)
		o->stage = angara_mr_addr(o->mine);
	ret = vote(o, ret, 0);
	if (!ret)
		ret = agree_key(o);
	return ret ? ret : make_team(o);
}

static void free_stage(struct afi_offload *o)
{
	angara_mr_dereg(o->common);
	angara_free(o->mine);
	o->common = NULL;
	o->mine = NULL;
}

static void leave(struct afi_offload *o)
{
	angara_team_leave(o->team);
	o->team = NULL;
}

static void *join_thread(void *arg)
{
	struct afi_offload *o = arg;
	struct afi_group *g = o->group;
	const char *why = "two members are one context";

	afi_lock(o->domain);
	if (distinct(g)) {
		int ret = make(o);

		why = ret ? reason(ret) : NULL;
	}
	if (o->team && g->state == AFI_GROUP_FAILED) {
		leave(o);
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

int afi_offload_form(struct afi_group *g)
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
		ret = -pthread_create(&o->thread, NULL, join_thread, o);
	if (ret) {
		offload_free(o);
		return ret;
	}
	g->maker = o;
	return 0;
}

/* Return: has all ended that the adapter had to do? */
static bool settled(struct afi_offload *o)
{
	u32 i;

	for (i = 0; i < AFI_REQS; i++)
		afi_offload_ended(o, i, NULL);
	if (o->team && (!(o->live & 1U << AFI_REQ_LAST) || o->domain->dead))
		leave(o);
	return !o->team && (!o->live || o->domain->dead);
}

void afi_offload_close(struct afi_group *g)
{
	struct afi_offload *o = g->maker;
	struct afi_domain *d = o->domain;

	pthread_join(o->thread, NULL);
	afi_lock(d);
	g->maker = NULL;
	o->group = NULL;
	/* The others of one that has failed end it each by itself. */
	if (o->team && g->state != AFI_GROUP_FAILED &&
	    !o->domain->dead)
		afi_offload_posted(o, AFI_REQ_LAST, angara_barrier_nbi(
			o->team, afi_offload_how(o, AFI_REQ_LAST)));
	o->call = NULL;
	afi_list_add(&d->coll->ending, &o->link);
	afi_offload_linger(d);
	afi_unlock(d);
}

/**
 * afi_offload_linger() - go on with the end of groups that have been closed
 * @d: domain, locked
 *
 * Return: was there anything?
 */
bool afi_offload_linger(struct afi_domain *d)
{
	struct afi_link *link, *next;
	bool any = false;

	for (link = d->coll->ending.next; link != &d->coll->ending; link = next) {
		struct afi_offload *o = afi_of(link, struct afi_offload, link);

		next = link->next;
		if (!settled(o))
			continue;
		afi_list_del(&o->link);
		offload_free(o);
		d->coll->given_back++;
		any = true;
	}
	return any;
}

/* The domain is being closed: the context takes along what has not ended. */
void afi_offload_drop(struct afi_domain *d)
{
	while (!afi_list_empty(&d->coll->ending)) {
		struct afi_offload *o = afi_of(d->coll->ending.next,
					       struct afi_offload, link);

		angara_team_leave(o->team);
		afi_list_del(&o->link);
		offload_free(o);
	}
}
