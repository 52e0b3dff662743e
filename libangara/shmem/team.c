// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Teams.  Each is a team of libangara, which gets a tree if one is free.  An
 * active set of the deprecated collectives is also such a team, created when
 * the set is first used, and kept until the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "shi.h"

struct shmemi_team *shi_team(shmem_team_t team)
{
	shi_need();
	if (team == SHMEM_TEAM_WORLD)
		return &shi.world;
	if (team == SHMEM_TEAM_SHARED)
		return &shi.shared;
	if (team == SHMEM_TEAM_INVALID)
		shi_die("the team is SHMEM_TEAM_INVALID");
	return team;
}

int shi_team_open(struct shmemi_team *t, struct angara_team *a)
{
	struct angara_team_info info = { .size = sizeof(info) };
	int ret = angara_team_query(a, &info);

	t->a = a;
	t->rank = (int)angara_team_rank(a);
	t->size = (int)angara_team_size(a);
	t->offloaded = info.offloaded;
	t->bcasts = 0;
	return ret;
}

static int world_pe(const struct shmemi_team *t, int pe)
{
	return t->pes ? t->pes[pe] : pe;
}

/*
 * Allocates a team of members @start, @start + @stride ... of a parent.
 * Return: team; NULL: no memory.
 */
static struct shmemi_team *team_new(const struct shmemi_team *parent, int start, int stride,
				    int size)
{
	struct shmemi_team *t = calloc(1, sizeof(*t));
	int i;

	if (t)
		t->pes = malloc((size_t)size * sizeof(*t->pes));
	if (!t || !t->pes) {
		free(t);
		return NULL;
	}
	for (i = 0; i < size; i++)
		t->pes[i] = world_pe(parent, start + i * stride);
	return t;
}

static void team_free(struct shmemi_team *t)
{
	free(t->pes);
	free(t);
}

/* Creates a team; all of its members call.  The launcher is not involved. */
static int team_make(struct shmemi_team *parent, int start, int stride, int size,
		     struct shmemi_team **out)
{
	unsigned int *ranks = malloc((size_t)size * sizeof(*ranks));
	struct shmemi_team *t = team_new(parent, start, stride, size);
	/* A team of one member must not take a tree that another team could use. */
	const struct angara_team_attr attr = {
		.size = sizeof(attr), .flags = size == 1 ? ANGARA_TEAM_SOFTWARE : 0,
	};
	struct angara_team *a;
	int ret, i;

	/*
	 * End the program: if this PE returned an error, the other members
	 * would wait for it.
	 */
	if (!ranks || !t)
		shi_die("team: no memory for %d PEs", size);
	for (i = 0; i < size; i++)
		ranks[i] = (unsigned int)(start + i * stride);
	shi_ctx_lock(&shi.coll);
	ret = angara_team_subset(parent->a, ranks, (unsigned int)size, &attr, &a);
	shi_ctx_unlock(&shi.coll);
	if (!ret)
		ret = shi_team_open(t, a);
	free(ranks);
	if (ret) {
		team_free(t);
		return ret;
	}
	t->start = -1;
	pthread_mutex_lock(&shi.lock);
	t->next = shi.teams;
	shi.teams = t;
	pthread_mutex_unlock(&shi.lock);
	*out = t;
	return 0;
}

/* Return: true if all members @start + i * @stride are in the parent. */
static bool strided_valid(const struct shmemi_team *parent, int start, int stride, int size)
{
	int64_t last = start + (int64_t)(size - 1) * stride;

	return start >= 0 && start < parent->size && size >= 1 && last >= 0 &&
	       last < parent->size && (stride || size == 1);
}

/* Return: true if this PE is one of the members. */
static bool strided_has(int rank, int start, int stride, int size)
{
	int i;

	for (i = 0; i < size; i++)
		if (start + i * stride == rank)
			return true;
	return false;
}

static void team_configure(struct shmemi_team *t, const shmem_team_config_t *config, long mask)
{
	if (config && mask & SHMEM_TEAM_NUM_CONTEXTS)
		t->config = *config;
}

/*
 * Creates a team of members of the parent, if this PE is one of these members.  A PE
 * that gets two new teams creates one after the other, in the same order as other PEs.
 */
static int split_strided(struct shmemi_team *parent, int start, int stride, int size,
			 const shmem_team_config_t *config, long mask, shmem_team_t *out)
{
	struct shmemi_team *t = NULL;
	int ret = 0;

	*out = SHMEM_TEAM_INVALID;
	if (!strided_valid(parent, start, stride, size))
		return -EINVAL;
	if (strided_has(parent->rank, start, stride, size))
		ret = team_make(parent, start, stride, size, &t);
	if (ret)
		return ret;
	if (t)
		team_configure(t, config, mask);
	*out = t ? t : SHMEM_TEAM_INVALID;
	return 0;
}

static void team_ctxs_close(struct shmemi_team *t)
{
	while (t->ctxs)
		pshmem_ctx_destroy(t->ctxs);
}

static void team_unlist(struct shmemi_team *t)
{
	struct shmemi_team **at;

	pthread_mutex_lock(&shi.lock);
	for (at = &shi.teams; *at != t; at = &(*at)->next)
		;
	*at = t->next;
	pthread_mutex_unlock(&shi.lock);
}

/* Return: the reason why a team has no tree. */
static const char *team_why(const struct shmemi_team *t)
{
	return t->size == 1 ? "it has one PE" : "no free tree reaches all its PEs";
}

/*
 * With ANGARA_SHMEM_STATS: the first member prints whether adapters or software
 * executed the team's collectives.
 */
static void team_show(const struct shmemi_team *t)
{
	struct angara_team_info info = { .size = sizeof(info) };
	const char *name = t == &shi.world ? "SHMEM_TEAM_WORLD" :
			   t == &shi.shared ? "SHMEM_TEAM_SHARED" :
			   t->start >= 0 ? "active set" : "team";
	char tree[80];

	if (!shi.stats || t->rank || angara_team_query(t->a, &info))
		return;
	if (info.offloaded)
		snprintf(tree, sizeof(tree), "tree %u", info.tree);
	else
		snprintf(tree, sizeof(tree), "no tree, as %s", team_why(t));
	fprintf(stderr, "shmem: %s of %d PEs, first PE %d: %s; its collectives: %llu by the "
		"adapters, %llu by software, with %llu messages\n", name, t->size, shi.me,
		tree, (unsigned long long)info.by_device,
		(unsigned long long)info.by_software, (unsigned long long)info.messages);
}

static void team_leave(struct shmemi_team *t)
{
	team_show(t);
	team_ctxs_close(t);
	angara_team_leave(t->a);
}

/* Leaves a new team whose creation has failed at another PE. */
static void team_give_up(shmem_team_t *team)
{
	struct shmemi_team *t = *team;

	*team = SHMEM_TEAM_INVALID;
	if (t == SHMEM_TEAM_INVALID)
		return;
	team_unlist(t);
	shi_ctx_lock(&shi.coll);
	angara_team_leave(t->a);
	shi_ctx_unlock(&shi.coll);
	team_free(t);
}

/*
 * Agrees on the result of a split among all members of the parent: the creation
 * of a team of only some members may have failed.  Return: 0, or the least of the
 * errors at all members of the parent.
 */
static int split_worst(struct shmemi_team *parent, int error, const char *what)
{
	int64_t worst = error;

	SHI_RUN(parent, what,
		angara_allreduce_nbi(parent->a, NULL, (uintptr_t)&worst, NULL,
				     (uintptr_t)&worst, 1, ANGARA_TYPE_INT64, ANGARA_RED_MIN,
				     how));
	return (int)worst;
}

SHI_DEF(int, team_split_strided, (shmem_team_t parent, int start, int stride, int size,
				  const shmem_team_config_t *config, long config_mask,
				  shmem_team_t *new_team))
{
	struct shmemi_team *t;
	int ret;

	*new_team = SHMEM_TEAM_INVALID;
	if (parent == SHMEM_TEAM_INVALID)
		return -EINVAL;
	t = shi_team(parent);
	shi_same(t, (uint64_t)start, "shmem_team_split_strided");
	shi_same(t, (uint64_t)stride, "shmem_team_split_strided");
	shi_same(t, (uint64_t)size, "shmem_team_split_strided");
	ret = split_strided(t, start, stride, size, config, config_mask, new_team);
	ret = split_worst(t, ret, "shmem_team_split_strided");
	if (ret)
		team_give_up(new_team);
	return ret;
}

SHI_DEF(int, team_split_2d, (shmem_team_t parent, int xrange,
			     const shmem_team_config_t *xaxis_config, long xaxis_mask,
			     shmem_team_t *xaxis_team,
			     const shmem_team_config_t *yaxis_config, long yaxis_mask,
			     shmem_team_t *yaxis_team))
{
	struct shmemi_team *t;
	int x, y, left, of_x, of_y, ret;

	*xaxis_team = SHMEM_TEAM_INVALID;
	*yaxis_team = SHMEM_TEAM_INVALID;
	if (parent == SHMEM_TEAM_INVALID)
		return -EINVAL;
	t = shi_team(parent);
	shi_same(t, (uint64_t)xrange, "shmem_team_split_2d");
	if (xrange < 1)
		return -EINVAL;
	if (xrange > t->size)
		xrange = t->size;
	x = t->rank % xrange;
	y = t->rank / xrange;
	left = t->size - y * xrange;
	of_x = split_strided(t, y * xrange, 1, left < xrange ? left : xrange, xaxis_config,
			     xaxis_mask, xaxis_team);
	of_y = split_strided(t, x, xrange, (t->size - x + xrange - 1) / xrange, yaxis_config,
			     yaxis_mask, yaxis_team);
	ret = split_worst(t, of_x ? of_x : of_y, "shmem_team_split_2d");
	if (ret) {
		team_give_up(xaxis_team);
		team_give_up(yaxis_team);
	}
	return ret;
}

SHI_DEF(void, team_destroy, (shmem_team_t team))
{
	int ret;

	if (team == SHMEM_TEAM_INVALID)
		return;
	if (team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED)
		shi_die("shmem_team_destroy: a predefined team cannot be destroyed");
	team_ctxs_close(team);
	team_unlist(team);
	team_show(team);
	shi_ctx_lock(&shi.coll);
	ret = angara_team_destroy(team->a);
	shi_ctx_unlock(&shi.coll);
	team_free(team);
	shi_check(ret, "shmem_team_destroy");
}

/**
 * shi_set() - the team of an active set
 * @start: PE_start
 * @log_stride: logPE_stride
 * @size: PE_size
 */
struct shmemi_team *shi_set(int start, int log_stride, int size)
{
	struct shmemi_team *t;
	int stride, ret;

	shi_need();
	if (start == 0 && log_stride == 0 && size == (int)shi.n)
		return &shi.world;
	if (log_stride < 0 || log_stride > 30 ||
	    !strided_valid(&shi.world, start, 1 << log_stride, size))
		shi_die("active set: start %d, stride 2^%d and size %d: not all of its PEs "
			"are from 0 to %u", start, log_stride, size, shi.n - 1);
	if (!strided_has(shi.me, start, 1 << log_stride, size))
		shi_die("active set: start %d, stride 2^%d and size %d: this PE is not in "
			"it", start, log_stride, size);
	stride = 1 << log_stride;
	pthread_mutex_lock(&shi.lock);
	for (t = shi.teams; t; t = t->next)
		if (t->start == start && t->log_stride == log_stride && t->size == size)
			break;
	pthread_mutex_unlock(&shi.lock);
	if (t)
		return t;
	ret = team_make(&shi.world, start, stride, size, &t);
	if (ret)
		shi_coll_failed(&shi.world, ret, UINT32_MAX, "active set");
	pthread_mutex_lock(&shi.lock);
	t->start = start;
	t->log_stride = log_stride;
	pthread_mutex_unlock(&shi.lock);
	return t;
}

static void team_quiet(const struct shmemi_team *t)
{
	struct shmemi_ctx *c;

	for (c = t->ctxs; c; c = c->next)
		shi_quiet(c);
}

/* Completes the operations of all contexts but the default one. */
void shi_teams_quiet(void)
{
	const struct shmemi_team *t;

	team_quiet(&shi.world);
	team_quiet(&shi.shared);
	for (t = shi.teams; t; t = t->next)
		team_quiet(t);
}

/* Leaves all teams, at the end, when no PE has a collective in progress. */
void shi_teams_leave(void)
{
	while (shi.teams) {
		struct shmemi_team *t = shi.teams;

		shi.teams = t->next;
		team_leave(t);
		team_free(t);
	}
	team_leave(&shi.shared);
	free(shi.shared.pes);
	team_leave(&shi.world);
}

SHI_DEF(int, team_my_pe, (shmem_team_t team))
{
	return team == SHMEM_TEAM_INVALID ? -1 : shi_team(team)->rank;
}

SHI_DEF(int, team_n_pes, (shmem_team_t team))
{
	return team == SHMEM_TEAM_INVALID ? -1 : shi_team(team)->size;
}

SHI_DEF(int, team_get_config, (shmem_team_t team, long config_mask,
			       shmem_team_config_t *config))
{
	if (team == SHMEM_TEAM_INVALID)
		return -EINVAL;
	if (config && config_mask & SHMEM_TEAM_NUM_CONTEXTS)
		*config = shi_team(team)->config;
	return 0;
}

SHI_DEF(int, team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))
{
	const struct shmemi_team *from, *to;
	int pe, i;

	if (src_team == SHMEM_TEAM_INVALID || dest_team == SHMEM_TEAM_INVALID)
		return -1;
	from = shi_team(src_team);
	to = shi_team(dest_team);
	if (src_pe < 0 || src_pe >= from->size)
		return -1;
	pe = world_pe(from, src_pe);
	for (i = 0; i < to->size; i++)
		if (world_pe(to, i) == pe)
			return i;
	return -1;
}
