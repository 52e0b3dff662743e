// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Laying a team's tree over several machines.
 *
 * A process can program rows of nodes whose devices are on its machine.  Where
 * the coordinator does not have them all, every row is programmed by the first
 * who can: the coordinator, else the member with the lowest rank.
 *
 *   members       find their devices     all: exchange which rows they can set
 *   coordinator   set its rows           all: exchange the TreeId
 *   members       set theirs             all: exchange the outcome
 *
 * The last two steps are repeated for as long as a TreeId is another's
 * somewhere.  All processes of the job take part in the exchanges.
 */
#include <errno.h>

#include "team.h"

#define CHUNK_BYTES	32
#define CHUNK_ROWS	(8 * CHUNK_BYTES)

/**
 * struct chunk - what a process has of CHUNK_ROWS rows
 * @err: why it cannot take part, or 0
 * @reserved: 0
 * @has: a bit for each row whose device is here
 */
struct chunk {
	s32 err;
	u32 reserved;
	u8 has[CHUNK_BYTES];
};

static_assert(sizeof(struct chunk) <= sizeof(struct ang_team_card),
	      "chunks are received in the room for cards");

static bool has(const struct chunk *c, u32 i)
{
	return c->has[i / 8] >> i % 8 & 1;
}

static void chunk_fill(struct chunk *c, const struct ang_rows *r, u32 first)
{
	u32 i;

	*c = (struct chunk){ 0 };
	for (i = 0; i < CHUNK_ROWS && first + i < r->n; i++)
		if (r->held[first + i])
			c->has[i / 8] |= (u8)(1U << i % 8);
}

/* Return: the member that sets row @i of the chunks @all, or team->size. */
static u32 who_sets(const struct angara_team *team, u32 root,
		    const struct chunk *all, u32 i)
{
	u32 m;

	if (has(&all[team->ranks[root]], i))
		return root;
	for (m = 0; m < team->size; m++)
		if (has(&all[team->ranks[m]], i))
			return m;
	return team->size;
}

/* Keeps those rows that are ours.  Return: false: one is nobody's. */
static bool chunk_share(struct angara_team *team, u32 root,
			const struct chunk *all, u32 first, u32 n)
{
	struct ang_rows *r = &team->rows;
	u32 i;

	for (i = 0; i < CHUNK_ROWS && first + i < n; i++) {
		u32 who = who_sets(team, root, all, i);

		if (who == team->size)
			return false;
		if (who != team->rank && first + i < r->n)
			ang_rows_leave_to_others(r, first + i);
	}
	return true;
}

/*
 * Who sets which of the @n rows.  Return: the same everywhere: 0; @why if one is
 * nobody's; -errno.
 */
static int share_rows(struct angara_team *team, u32 root, u32 n, int why)
{
	struct angara_job *job = team->job;
	struct chunk *all = (struct chunk *)(void *)job->cards;
	struct chunk mine;
	u32 first, i;
	int err = 0;
	int ret;

	if (ang_team_is_member(team) && team->rank != root)
		err = ang_rows_plan(&team->rows, team->ctx,
				    team->peers[root].node, team->peers,
				    team->size);
	for (first = 0; first < n; first += CHUNK_ROWS) {
		chunk_fill(&mine, &team->rows, first);
		mine.err = err;
		ret = angara_job_allgather(job, &mine, sizeof(mine), all);
		for (i = 0; !ret && i < job->size; i++)
			ret = all[i].err;
		if (!ret && !chunk_share(team, root, all, first, n))
			ret = why;
		if (ret)
			return ret;
	}
	return 0;
}

/* Another TreeId.  @over: out: it is the last. */
static int try_next(struct angara_team *team, u32 root, u32 want,
		    struct ang_outcome *its, bool *over)
{
	struct ang_outcome mine = { 0 };
	struct ang_outcome others;
	int ret;

	if (team->rank == root) {
		mine.err = ang_rows_propose(&team->rows, want);
		mine.tree = team->rows.tree;
		mine.epoch = team->rows.epoch;
	}
	ret = ang_team_agree(team->job, &mine, team->ranks[root], its);
	*over = ret;
	if (ret)
		return ret;
	mine.err = 0;
	if (ang_team_is_member(team) && team->rank != root)
		mine.err = ang_rows_follow(&team->rows, its->tree, its->epoch);
	ret = ang_team_agree(team->job, &mine, 0, &others);
	if (ret)
		ang_rows_retract(&team->rows, ret);
	*over = ret != -EBUSY && ret != -EPERM;
	return ret;
}

/**
 * ang_team_lay_apart() - lay a tree whose devices are not all at the coordinator
 * @team: team; at the coordinator ang_rows_plan() has been done
 * @root: member that is the coordinator
 * @want: TreeId + 1, or 0 for any
 * @its: what came out at the coordinator; out: TreeId and epoch
 *
 * Return: as angara_team_create(), the same everywhere.
 */
int ang_team_lay_apart(struct angara_team *team, u32 root, u32 want,
		       struct ang_outcome *its)
{
	int ret = share_rows(team, root, its->n, its->why);
	bool over = ret;

	while (!over)
		ret = try_next(team, root, want, its, &over);
	return ret;
}
