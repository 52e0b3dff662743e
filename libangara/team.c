// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Making and ending a team.
 *
 * Every step that can fail somewhere is followed by an exchange of what came
 * out of it, so all processes take the same way: either the team exists
 * everywhere, or nowhere.  No step in between allocates.
 *
 *   all           exchange cards, judge them (each by itself, all alike)
 *   coordinator   program the rows          all: exchange the outcome
 *		   (what it has no device for: see team_apart.c)
 *   members       JOIN                      all: exchange the outcome
 *
 * An exchange may let another thread use the context: teams of one context may
 * be under way side by side, each with a job of its own.  So nothing of the
 * context's is remembered across an exchange but the pool, which stays.
 */
#include <errno.h>
#include <stdlib.h>

#include "sized.h"
#include "team.h"

static_assert(sizeof(struct ang_outcome) <= sizeof(struct ang_team_card),
	      "outcomes are received in the room for cards");

static bool list_valid(const struct angara_job *job, const unsigned int *ranks,
		       unsigned int n)
{
	unsigned int i;

	if (!ranks)
		return true;
	if (!n || n > job->size)
		return false;
	for (i = 0; i < n; i++)
		if (ranks[i] >= job->size || (i && ranks[i] <= ranks[i - 1]))
			return false;
	return true;
}

static void team_free(struct angara_team *team)
{
	if (!team)
		return;
	free(team->ranks);
	free(team->peers);
	free(team);
}

/* Processes that are not members make the team too, to judge the cards. */
static int team_new(struct angara_job *job, struct angara_ctx *ctx,
		    const unsigned int *ranks, unsigned int n,
		    struct angara_team **out)
{
	struct angara_team *team;
	u32 i;

	if (!list_valid(job, ranks, n))
		return -EINVAL;
	team = calloc(1, sizeof(*team));
	if (!team)
		return -ENOMEM;
	team->job = job;
	team->ctx = ctx;
	team->size = ranks ? n : job->size;
	team->rank = team->size;
	team->ranks = calloc(team->size, sizeof(*team->ranks));
	team->peers = calloc(team->size, sizeof(*team->peers));
	if (!team->ranks || !team->peers) {
		team_free(team);
		return -ENOMEM;
	}
	for (i = 0; i < team->size; i++) {
		team->ranks[i] = ranks ? ranks[i] : i;
		if (team->ranks[i] == job->rank)
			team->rank = i;
	}
	*out = team;
	return 0;
}

static struct ang_team_card make_card(const struct angara_team *team,
				      const struct angara_team_attr *attr,
				      int err)
{
	struct ang_team_card card = { .err = err };

	if (err)
		return card;
	card.list = ang_ranks_hash(team->ranks, team->size);
	card.n = team->size;
	card.root = attr->root;
	card.tree = attr->tree;
	if (attr->root >= team->size || attr->tree > ANGARA_MAX_TREES ||
	    (ang_team_is_member(team) && !team->ctx))
		card.err = -EINVAL;
	if (ang_team_is_member(team) && team->ctx) {
		card.fabric_id = team->ctx->query.fabric_id;
		card.pkey = team->ctx->create.pkey;
		card.node = team->ctx->query.node;
		card.ctx = team->ctx->create.ctx;
		card.trees = team->ctx->trees;
	}
	return card;
}

/* Every process comes to the same verdict.  Return: 0 or -errno. */
static int judge_cards(const struct angara_job *job)
{
	const struct ang_team_card *cards = job->cards;
	u32 i;

	for (i = 0; i < job->size; i++)
		if (cards[i].err)
			return cards[i].err;
	for (i = 1; i < job->size; i++)
		if (cards[i].n != cards[0].n || cards[i].list != cards[0].list ||
		    cards[i].root != cards[0].root ||
		    cards[i].tree != cards[0].tree)
			return -EINVAL;
	return 0;
}

/* Members must be of one fabric and one partition. */
static int judge_members(struct angara_team *team)
{
	const struct ang_team_card *cards = team->job->cards;
	const struct ang_team_card *first = &cards[team->ranks[0]];
	u32 i;

	for (i = 0; i < team->size; i++) {
		const struct ang_team_card *card = &cards[team->ranks[i]];

		if (card->fabric_id != first->fabric_id ||
		    card->pkey != first->pkey)
			return -EINVAL;
		team->peers[i].node = card->node;
		team->peers[i].ctx = (u16)card->ctx;
		team->rows.taken |= card->trees;
	}
	return 0;
}

/**
 * ang_team_agree() - exchange what came out of a step
 * @job: job
 * @mine: here
 * @from: rank in the job
 * @its: out: what came out there
 *
 * Return: 0 if it went well everywhere, else the error of the process with the
 * lowest rank.
 */
int ang_team_agree(struct angara_job *job, const struct ang_outcome *mine,
		   u32 from, struct ang_outcome *its)
{
	struct ang_outcome *all = (struct ang_outcome *)(void *)job->cards;
	int ret = angara_job_allgather(job, mine, sizeof(*mine), all);
	u32 i;

	for (i = 0; !ret && i < job->size; i++)
		ret = all[i].err;
	*its = all[from];
	return ret;
}

/* The coordinator is the process whose node is the root. */
static int lay_tree(struct angara_team *team, const struct angara_team_attr *attr)
{
	struct ang_outcome mine = { 0 }, its;
	struct ang_rows *rows = &team->rows;
	int ret;

	if (team->rank == attr->root) {
		mine.err = ang_rows_plan(rows, team->ctx,
					 team->peers[attr->root].node,
					 team->peers, team->size);
		if (!mine.err && !rows->missing)
			mine.err = ang_rows_propose(rows, attr->tree);
		mine.n = rows->n;
		mine.missing = rows->missing;
		mine.why = rows->why;
		mine.tree = rows->tree;
		mine.epoch = rows->epoch;
	}
	ret = ang_team_agree(team->job, &mine, team->ranks[attr->root], &its);
	if (!ret && its.missing)
		ret = ang_team_lay_apart(team, attr->root, attr->tree, &its);
	if (!ret) {
		team->tree = its.tree;
		team->epoch = its.epoch;
	}
	return ret;
}

static void leave(struct angara_team *team)
{
	struct angara_join arg = ANG_CMD_INIT(struct angara_join);

	arg.tree = team->tree;
	ang_dev_cmd(&team->ctx->dev, ANGARA_IOCTL_LEAVE, &arg);
	team->ctx->trees &= ~(1ULL << team->tree);
}

/*
 * Its place among the members on its node goes by rank, not by who joins first:
 * the same members on the same nodes sum floats up in the same order.
 */
static u32 place(const struct angara_team *team)
{
	u32 before = 0;
	u32 i;

	for (i = 0; i < team->rank; i++)
		before += team->peers[i].node == team->peers[team->rank].node;
	return before;
}

/* Return: 0 or -errno; then it is no member. */
static int enter(struct angara_team *team)
{
	struct angara_join arg = ANG_CMD_INIT(struct angara_join);
	const struct angara_peer *self = &team->peers[team->rank];
	struct angara_ctx *ctx = team->ctx;
	u32 i;
	int ret;

	for (i = 0; i < team->size; i++)
		if (i != team->rank && team->peers[i].node == self->node &&
		    team->peers[i].ctx == self->ctx)
			return -EINVAL;
	/* One that was made meanwhile, and whose rows were cleared already. */
	if (ctx->trees >> team->tree & 1)
		return -EBUSY;
	arg.tree = team->tree;
	arg.flags = ANGARA_JOIN_PLACE;
	arg.place = place(team);
	ret = ang_dev_cmd(&ctx->dev, ANGARA_IOCTL_JOIN, &arg);
	if (ret)
		return ret;
	ctx->trees |= 1ULL << team->tree;
	/* Nobody broadcasts before all know that all have joined. */
	team->received = ang_counter(ctx, ANGARA_CTR_BCAST(team->tree));
	team->rx_errors = ang_counter(ctx, ANGARA_CTR_RX_ERRORS(team->tree));
	return 0;
}

static int join(struct angara_team *team)
{
	struct ang_outcome mine = { 0 }, its;
	int ret;

	if (ang_team_is_member(team))
		mine.err = enter(team);
	ret = ang_team_agree(team->job, &mine, 0, &its);
	if (ret && ang_team_is_member(team) && !mine.err)
		leave(team);
	return ret;
}

ANG_PUBLIC int angara_team_create(struct angara_job *job, struct angara_ctx *ctx,
				  const unsigned int *ranks, unsigned int n,
				  const struct angara_team_attr *attr,
				  struct angara_team **out)
{
	const size_t first = ANG_SIZED_FIRST(angara_team_attr, tree);
	struct angara_team_attr known;
	struct angara_team *team = NULL;
	struct ang_team_card card;
	int ret;

	*out = NULL;
	ret = ang_sized_take(&known, sizeof(known), attr, first);
	if (!ret)
		ret = team_new(job, ctx, ranks, n, &team);
	card = make_card(team, &known, ret);
	ret = angara_job_allgather(job, &card, sizeof(card), job->cards);
	if (!ret)
		ret = judge_cards(job);
	if (!ret)
		ret = judge_members(team);
	if (ret)
		goto free_team;
	ret = lay_tree(team, &known);
	if (!ret)
		ret = join(team);
	if (ret)
		goto clear_rows;
	if (ang_team_is_member(team))
		*out = team;
	else
		team_free(team);
	return 0;

clear_rows:
	ang_rows_clear(&team->rows);
free_team:
	team_free(team);
	return ret;
}

static bool drained(struct angara_ctx *ctx, const void *arg)
{
	const struct angara_team *team = arg;

	return ctx->by_tree[1 + team->tree] == 0;
}

/* After this no operation of any member is under way, and all have arrived. */
static int finish_ops(struct angara_team *team)
{
	u64 tag = (u64)1 << 32 | team->epoch << 8 | team->tree;
	int ret, err;

	ret = ang_wait_until(team->ctx, drained, team, ANGARA_FOREVER);
	if (!ret)
		ret = ang_team_barrier(team);
	err = ang_job_exchange(team->job, team->ranks, team->size, tag, NULL, 0,
			       NULL);
	return ret ? ret : err;
}

ANG_PUBLIC int angara_team_destroy(struct angara_team *team)
{
	int ret;

	if (!team)
		return 0;
	ret = finish_ops(team);
	angara_team_leave(team);
	return ret;
}

ANG_PUBLIC void angara_team_leave(struct angara_team *team)
{
	if (!team)
		return;
	leave(team);
	ang_rows_clear(&team->rows);
	team_free(team);
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
	return team->tree;
}

ANG_PUBLIC struct angara_peer angara_team_peer(const struct angara_team *team,
					       unsigned int rank)
{
	if (rank >= team->size)
		return (struct angara_peer){ .node = 0xFFFFFFFFU, .ctx = 0xFFFF };
	return team->peers[rank];
}
