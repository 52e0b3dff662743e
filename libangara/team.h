/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Teams: what creating, using and destroying them share.
 */
#ifndef ANG_TEAM_H
#define ANG_TEAM_H

#include "lib.h"
#include "job.h"

/**
 * struct ang_rows - rows that the coordinator of a team has programmed
 * @pool: devices that own them
 * @rows: rows, in ascending order of nodes
 * @nodes: their nodes
 * @n: nodes in the tree
 * @taken: TreeIds to leave alone, a bit for each
 * @held: devices held in the pool, from the first on
 * @set: rows set, from the first on
 * @root: index of the root
 * @tree: TreeId
 * @epoch: incarnation
 */
struct ang_rows {
	struct ang_pool *pool;
	struct angara_tree_row *rows;
	u32 *nodes;
	u32 n;
	u32 taken;
	u32 held;
	u32 set;
	u32 root;
	u32 tree;
	u32 epoch;
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
 * @rows: at the coordinator: the rows, else empty
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
	struct ang_rows rows;
	u32 *ranks;
	struct angara_peer *peers;
};

/* team_rows.c */
int ang_rows_program(struct ang_rows *r, struct angara_ctx *ctx, u32 root,
		     const struct angara_peer *peers, u32 n, u32 want);
void ang_rows_clear(struct ang_rows *r);

#endif /* ANG_TEAM_H */
