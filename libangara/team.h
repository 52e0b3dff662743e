/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Teams: what creating, using and destroying them share.
 */
#ifndef ANG_TEAM_H
#define ANG_TEAM_H

#include "lib.h"
#include "job.h"

/**
 * struct ang_rows - rows of a team's tree, and those that this process programs
 * @pool: devices that own them
 * @rows: rows, in ascending order of nodes
 * @nodes: their nodes
 * @held: of each row, whether its device is held in the pool: it is ours
 * @n: nodes in the tree
 * @missing: rows whose device is not here
 * @why: why the first of them is not
 * @taken: TreeIds to leave alone, a bit for each
 * @max_trees: TreeIds are below this
 * @set: rows gone through, from the first on; ours among them are set
 * @root: index of the root
 * @tree: TreeId
 * @epoch: incarnation
 * @turn: TreeIds tried so far
 * @busy: one of this round's was another's
 */
struct ang_rows {
	struct ang_pool *pool;
	struct angara_tree_row *rows;
	u32 *nodes;
	bool *held;
	u32 n;
	u32 missing;
	int why;
	u64 taken;
	u32 max_trees;
	u32 set;
	u32 root;
	u32 tree;
	u32 epoch;
	u32 turn;
	bool busy;
};

/**
 * struct angara_team - a team
 * @job: job
 * @ctx: this process's context
 * @rank: index of this process in the team
 * @size: members
 * @tree: TreeId
 * @epoch: incarnation of the tree, equal at all members
 * @received: ANGARA_CTR_BCAST when the team was created
 * @rx_errors: ANGARA_CTR_RX_ERRORS then, or when the caller was told of it last
 * @rows: at who programs rows: these, else empty
 * @ranks: ranks of the members in the job
 * @peers: addresses of the members
 */
struct angara_team {
	struct angara_job *job;
	struct angara_ctx *ctx;
	u32 rank;
	u32 size;
	u32 tree;
	u32 epoch;
	u64 received;
	u64 rx_errors;
	struct ang_rows rows;
	u32 *ranks;
	struct angara_peer *peers;
};

/**
 * struct ang_outcome - what came out of a step of making a team
 * @err: 0 or -errno
 * @n: nodes in the tree, from the coordinator, as all that follows
 * @missing: of them, those whose devices it does not have
 * @why: why it does not have the first of them
 * @tree: TreeId
 * @epoch: incarnation of the tree
 */
struct ang_outcome {
	s32 err;
	u32 n;
	u32 missing;
	s32 why;
	u32 tree;
	u32 epoch;
};

static inline bool ang_team_is_member(const struct angara_team *team)
{
	return team->rank < team->size;
}

/* team.c */
int ang_team_agree(struct angara_job *job, const struct ang_outcome *mine,
		   u32 from, struct ang_outcome *its);

/* coll.c */
int ang_team_barrier(struct angara_team *team);

/* team_apart.c */
int ang_team_lay_apart(struct angara_team *team, u32 root, u32 want,
		       struct ang_outcome *its);

/* team_rows.c */
int ang_rows_plan(struct ang_rows *r, struct angara_ctx *ctx, u32 root,
		  const struct angara_peer *peers, u32 n);
void ang_rows_leave_to_others(struct ang_rows *r, u32 i);
int ang_rows_propose(struct ang_rows *r, u32 want);
int ang_rows_follow(struct ang_rows *r, u32 tree, u32 epoch);
void ang_rows_retract(struct ang_rows *r, int why);
void ang_rows_clear(struct ang_rows *r);

#endif /* ANG_TEAM_H */
