// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls by which programs create, query and end teams: a team has a tree
 * (team.c), and may have further trees of the same members (team_stripes.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "coll_run.h"
#include "sized.h"

#define END_TAG		(1ULL << 32)

/* Reads the caller's attributes.  Return: 0; -EINVAL; -E2BIG. */
static int attr_take(struct angara_team_attr *known,
		     const struct angara_team_attr *attr)
{
	return ang_sized_take(known, sizeof(*known), attr,
			      ANG_SIZED_FIRST(angara_team_attr, stripes));
}

static void team_close(struct angara_team *team, bool quietly)
{
	ang_stripes_close(team, quietly);
	ang_team_end(team, quietly);
}

/* Adds further trees.  Return: as ang_stripes_open(); after an error the team is freed. */
static int team_complete(struct angara_team *team, u32 root,
			 struct angara_team **out)
{
	int ret = ang_stripes_open(team, root);

	team->parent = NULL;
	if (ret)
		team_close(team, team->given);
	else
		*out = team;
	return ret;
}

ANG_PUBLIC int angara_team_create(struct angara_job *job, struct angara_ctx *ctx,
				  const unsigned int *ranks, unsigned int n,
				  const struct angara_team_attr *attr,
				  struct angara_team **out)
{
	struct angara_team_attr known;
	struct angara_team *team;
	int ret, err;

	*out = NULL;
	err = attr_take(&known, attr);
	if (!err && !known.stripes)
		err = ang_stripes_env(&known.stripes);
	ret = ang_team_of_job(job, ctx, ranks, n, &known, err, &team);
	return ret ? ret : team_complete(team, known.root, out);
}

static int team_picked(struct angara_team *parent, const struct ang_picks *p,
		       const struct angara_team_attr *attr,
		       struct angara_team **out)
{
	struct angara_team_attr known;
	struct angara_team *team;
	int ret = attr_take(&known, attr);

	if (!ret)
		ret = ang_team_of_team(parent, p, &known, &team);
	return ret ? ret : team_complete(team, known.root, out);
}

ANG_PUBLIC int angara_team_subset(struct angara_team *parent,
				  const unsigned int *ranks, unsigned int n,
				  const struct angara_team_attr *attr,
				  struct angara_team **out)
{
	const struct ang_picks picks = {
		.ranks = ranks, .stride = 1, .n = ranks ? n : parent->size,
	};

	*out = NULL;
	return team_picked(parent, &picks, attr, out);
}

ANG_PUBLIC int angara_team_strided(struct angara_team *parent,
				   unsigned int start, unsigned int stride,
				   unsigned int n,
				   const struct angara_team_attr *attr,
				   struct angara_team **out)
{
	const struct ang_picks picks = { .start = start, .stride = stride, .n = n };

	*out = NULL;
	if (!n || !stride || start >= parent->size ||
	    n - 1 > (parent->size - 1 - start) / stride)
		return -EINVAL;
	if (parent->rank < start || (parent->rank - start) % stride ||
	    (parent->rank - start) / stride >= n)
		return 0;
	return team_picked(parent, &picks, attr, out);
}

/**
 * struct seat - a member of the parent team, with its key in
 * angara_team_split()
 */
struct seat {
	u32 key;
	u32 rank;
};

static int compare_seats(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

ANG_PUBLIC int angara_team_split(struct angara_team *parent, unsigned int color,
				 unsigned int key,
				 const struct angara_team_attr *attr,
				 struct angara_team **out)
{
	u64 *all = calloc(parent->size, sizeof(*all));
	struct seat *seats = calloc(parent->size, sizeof(*seats));
	u32 *ranks = calloc(parent->size, sizeof(*ranks));
	struct ang_outcome mine = { 0 }, its;
	u32 i, n = 0;
	int ret;

	*out = NULL;
	if (!all || !seats || !ranks)
		mine.err = -ENOMEM;
	ret = mine.err;
	if (parent->given)
		ret = ang_team_agree(parent, &mine, 0, &its);
	else if (ret)
		ang_coll_lose(parent);
	if (ret)
		goto out;
	ret = ang_team_collect(parent, (u64)color << 32 | key, all);
	if (ret || color == ANGARA_NO_COLOR)
		goto out;
	for (i = 0; i < parent->size; i++)
		if (all[i] >> 32 == color)
			seats[n++] = (struct seat){ .key = (u32)all[i], .rank = i };
	qsort(seats, n, sizeof(*seats), compare_seats);
	for (i = 0; i < n; i++)
		ranks[i] = seats[i].rank;
	ret = angara_team_subset(parent, ranks, n, attr, out);
out:
	free(ranks);
	free(seats);
	free(all);
	return ret;
}

static bool team_drained(struct angara_ctx *ctx, const void *arg)
{
	const struct angara_team *team = arg;

	return !team->ops && (!team->offloaded ||
			      (ctx->by_tree[1 + team->tree] == 0 &&
			       ang_stripes_drained(team)));
}

/* Waits until no operation of any member is in progress. */
static int finish_ops(struct angara_team *team)
{
	u64 tag = END_TAG | (u64)team->epoch << 8 | team->tree;
	int ret, err;

	ret = ang_wait_until(team->ctx, team_drained, team, ANGARA_FOREVER);
	if (!ret && team->offloaded)
		ret = angara_barrier(team);
	if (team->given)
		err = ang_job_exchange(team->job, team->ranks, team->size, tag,
				       NULL, 0, NULL);
	else
		err = team->lost ? -ECONNRESET : ang_team_meet(team);
	return ret ? ret : err;
}

ANG_PUBLIC int angara_team_destroy(struct angara_team *team)
{
	int ret;

	if (!team)
		return 0;
	ret = finish_ops(team);
	team_close(team, !ret || team->given);
	return ret;
}

ANG_PUBLIC void angara_team_leave(struct angara_team *team)
{
	/*
	 * When this member leaves its tree, other members' operations on the tree end with an
	 * error.  Messages tell the other members to end their collectives in software.
	 */
	if (team)
		team_close(team, false);
}

ANG_PUBLIC unsigned int angara_team_rank(const struct angara_team *team)
{
	return team->rank;
}

ANG_PUBLIC unsigned int angara_team_size(const struct angara_team *team)
{
	return team->size;
}

ANG_PUBLIC unsigned int angara_team_tree(const struct angara_team *team)
{
	return team->offloaded ? team->tree : ANGARA_NO_TREE;
}

ANG_PUBLIC int angara_team_query(const struct angara_team *team,
				 struct angara_team_info *info)
{
	const struct angara_team_info known = {
		.rank = team->rank,
		.members = team->size,
		.offloaded = team->offloaded,
		.tree = angara_team_tree(team),
		.lost = team->lost ? team->culprit : ANGARA_NO_RANK,
		.by_device = team->by_device,
		.by_software = team->by_software,
		.messages = team->messages + ang_stripes_messages(team),
		.trees = team->offloaded ? 1 + team->nstripes : 0,
	};

	return ang_sized_give(info, &known, sizeof(known),
			      ANG_SIZED_FIRST(angara_team_info, reserved));
}

ANG_PUBLIC struct angara_peer angara_team_peer(const struct angara_team *team,
					       unsigned int rank)
{
	if (rank >= team->size)
		return (struct angara_peer){ .node = 0xFFFFFFFFU, .ctx = 0xFFFF };
	return team->peers[rank];
}
