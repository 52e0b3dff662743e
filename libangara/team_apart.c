// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programming a team's tree across several machines.
 *
 * A process can program rows of nodes whose devices are on its machine.  If the
 * coordinator does not have all devices, each row is programmed by the first
 * process that has its device: the coordinator, or else the member with the
 * lowest rank.
 *
 *   members	  look for links that are down	all: agree on these links
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

/* Return: rank of a member on the root node of the planned tree; @root if there is none. */
static u32 rank_at_root(const struct angara_team *team, u32 root)
{
	const struct ang_rows *r = &team->rows;
	u32 node = r->nodes[r->root];
	u32 i;

	if (team->peers[root].node == node)
		return root;
	for (i = 0; i < team->size; i++)
		if (team->peers[i].node == node)
			return i;
	return root;
}

/*
 * Plans the same tree at all members.  The coordinator has a plan already, but not for links that
 * only other members see down.  These links may change the plan and even its root; then a member on
 * the new root node becomes the coordinator.
 * @at: in: rank of the coordinator; out: rank of the new coordinator
 * @its: out: result of the new coordinator
 */
static int plan_together(struct angara_team *team, u32 *at, struct ang_outcome *its)
{
	struct ang_outcome mine = { .err = team->rank == *at ? 0 : ang_down_look(team) };
	struct ang_rows *r = &team->rows;
	u32 known = r->down.n;
	int ret = ang_down_agree(team);

	if (team->broken)
		return ret;
	if (!mine.err)
		mine.err = ret;
	if (!mine.err && (team->rank != *at || r->down.n != known))
		mine.err = ang_rows_plan(r, team, *at);
	if (!mine.err)
		*at = rank_at_root(team, *at);
	if (!mine.err && team->rank == *at && !r->held[r->root])
		mine.err = r->why;
	mine.n = r->n;
	mine.why = r->why;
	return ang_team_agree(team, &mine, *at, its);
}

/*
 * Assigns each row to the first process that has its device.  @at: as for plan_together()
 * Return: 0; if no process has the device of a row, the error of the first device that the
 * coordinator lacks; another error.  All members get the same result.
 */
static int share_rows(struct angara_team *team, u32 *at)
{
	struct ang_rows *r = &team->rows;
	struct ang_outcome its;
	u32 first, i, n;
	int ret = plan_together(team, at, &its);

	n = ret ? 0 : its.n;
	for (first = 0; !ret && first < n; first += CHUNK_ROWS) {
		u32 turns[CHUNK_ROWS];
		u32 num = n - first < CHUNK_ROWS ? n - first : CHUNK_ROWS;

		for (i = 0; i < CHUNK_ROWS; i++)
			turns[i] = i < num && first + i < r->n &&
				   r->held[first + i] ? turn_of(team, *at) :
							NOBODY;
		ret = ang_team_min(team, turns, CHUNK_ROWS, ANGARA_TYPE_UINT32);
		if (ret)
			team->broken = true;
		for (i = 0; !ret && i < num; i++) {
			if (turns[i] == NOBODY)
				ret = its.why;
			else if (turns[i] != turn_of(team, *at) &&
				 first + i < r->n)
				ang_rows_leave_to_others(r, first + i);
		}
	}
	return ret;
}

/*
 * Tries the next TreeId.  @over: out: do not try another one, since the rows are set or the error
 * is not that of the TreeId
 */
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
 * @root: rank of the coordinator; another member takes over if links that are down keep
 *	the tree from having its root at the coordinator's node
 * @want: TreeId + 1, or 0 for any
 * @its: out: TreeId and epoch
 *
 * Return: as angara_team_create(), the same at all members.
 */
int ang_team_lay_apart(struct angara_team *team, u32 root, u32 want,
		       struct ang_outcome *its)
{
	int ret = share_rows(team, &root);
	bool over = ret;

	while (!over)
		ret = try_next(team, root, want, its, &over);
	return ret;
}
