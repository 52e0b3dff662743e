// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programming a team's tree across several machines.
 *
 * A process can program rows of nodes whose devices are on its machine.  If the
 * coordinator does not have all devices, each row is programmed by the first
 * process that has its device: the coordinator, or else the member with the
 * lowest rank.
 *
 *   members	  find their devices	all: agree on a process per row
 *   coordinator  set its rows		all: agree on the TreeId
 *   members	  set their rows	all: agree on the outcome
 *
 * The last two steps repeat with another TreeId while the chosen one is in use
 * at some node.
 */
#include <errno.h>

#include "team.h"

#define CHUNK_ROWS	(ANG_AGREE_BYTES / sizeof(u32))
#define NOBODY		UINT32_MAX

/*
 * Return: priority of this member for rows: the coordinator is first, then the
 * others by rank.
 */
static u32 turn_of(const struct angara_team *team, u32 root)
{
	return team->rank == root ? 0 : team->rank + 1;
}

/*
 * Assigns each of the @n rows to the first process that can set it.  Return: 0;
 * @why if no process can set a row; -errno; the same at all members.
 */
static int share_rows(struct angara_team *team, u32 root, u32 n, int why)
{
	struct ang_rows *r = &team->rows;
	struct ang_outcome mine = { 0 }, its;
	u32 first, i;
	int ret;

	if (team->rank != root)
		mine.err = ang_rows_plan(r, team, root);
	ret = ang_team_agree(team, &mine, root, &its);
	for (first = 0; !ret && first < n; first += CHUNK_ROWS) {
		u32 turns[CHUNK_ROWS];
		u32 num = n - first < CHUNK_ROWS ? n - first : CHUNK_ROWS;

		for (i = 0; i < CHUNK_ROWS; i++)
			turns[i] = i < num && first + i < r->n &&
				   r->held[first + i] ? turn_of(team, root) :
							NOBODY;
		ret = ang_team_min(team, turns, CHUNK_ROWS, ANGARA_TYPE_UINT32);
		if (ret)
			team->broken = true;
		for (i = 0; !ret && i < num; i++) {
			if (turns[i] == NOBODY)
				ret = why;
			else if (turns[i] != turn_of(team, root) &&
				 first + i < r->n)
				ang_rows_leave_to_others(r, first + i);
		}
	}
	return ret;
}

/* Tries another TreeId.  @over: out: there is no further TreeId to try. */
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
	ret = ang_team_agree(team, &mine, root, its);
	*over = ret;
	if (ret)
		return ret;
	mine.err = 0;
	if (team->rank != root)
		mine.err = ang_rows_follow(&team->rows, its->tree, its->epoch);
	ret = ang_team_agree(team, &mine, 0, &others);
	if (ret)
		ang_rows_retract(&team->rows, ret);
	*over = team->broken || (ret != -EBUSY && ret != -EPERM);
	return ret;
}

/**
 * ang_team_lay_apart() - program a tree if the coordinator lacks some devices
 * @team: team; the coordinator has called ang_rows_plan()
 * @root: rank of the coordinator
 * @want: TreeId + 1, or 0 for any
 * @its: result of the coordinator; out: TreeId and epoch
 *
 * Return: as angara_team_create(), the same at all members.
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
