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

struct ang_coll_op;
struct ang_stray;

/** struct ang_made - teams of the same members that a team has been the parent of */
struct ang_made {
	u64 list;
	u32 num;
};

/**
 * struct angara_team - a team
 * @next: the next of the context
 * @job: job that it was made of, or NULL
 * @broken: an exchange has failed while it was made
 * @given: that has an exchange of the program's own, which is used to agree
 * @ctx: this process's context
 * @id: number, the same at all members and at no other team of theirs
 * @rank: index of this process in the team
 * @size: members
 * @offloaded: it has a tree
 * @tree: TreeId
 * @epoch: incarnation of the tree, equal at all members
 * @received: ANGARA_CTR_BCAST when the team was created
 * @rx_errors: ANGARA_CTR_RX_ERRORS then, or when the caller was told of it last
 * @rows: at the members that program rows: these, else empty
 * @ranks: ranks of the members in the job, if @given
 * @blocks: room for what is exchanged, if @given
 * @peers: addresses of the members
 * @made: teams made of this one
 * @nmade: entries of that
 * @messages: that this member has sent to others for it
 * @by_device: collectives of this member that the adapter has done
 * @by_software: those that the library has
 *
 * Software collectives:
 * @seq: number of the next
 * @ops: those under way, oldest first
 * @early: messages that nobody has asked for yet
 * @lost: ANGARA_ST_* of why the team is lost, 0: it is not
 * @culprit: rank of the member that it was lost by
 * @doomed: the same, found out while completions are gone through
 * @doomed_by: the same
 * @spread: members that have been told, as a power of two
 * @looker: what members are looked at with
 * @look: when they are next
 * @turn: which
 */
struct angara_team {
	struct angara_team *next;
	struct angara_job *job;
	bool given;
	bool broken;
	struct angara_ctx *ctx;
	u64 id;
	u32 rank;
	u32 size;
	bool offloaded;
	u32 tree;
	u32 epoch;
	u64 received;
	u64 rx_errors;
	struct ang_rows rows;
	u32 *ranks;
	char *blocks;
	struct angara_peer *peers;
	struct ang_made *made;
	u32 nmade;
	u64 messages;
	u64 by_device;
	u64 by_software;

	u32 seq;
	struct ang_coll_op *ops;
	struct ang_stray *early;
	u32 lost;
	u32 culprit;
	u32 doomed;
	u32 doomed_by;
	u32 spread;
	struct ang_coll_op *looker;
	u64 look;
	u32 turn;
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

#define ANG_AGREE_BYTES	256U	/* that members agree on at once, at most */

/* team_agree.c */
int ang_team_min(struct angara_team *team, void *v, size_t count, u32 type);
int ang_team_agree(struct angara_team *team, const struct ang_outcome *mine,
		   u32 from, struct ang_outcome *its);
int ang_team_collect(struct angara_team *team, u64 mine, u64 *all);

/* coll_run.c */
void ang_coll_leave(struct angara_team *team, bool quietly);

/* coll_talk.c */
int ang_talk_open(struct angara_team *team);

/* coll.c */
int ang_team_barrier(struct angara_team *team);
int ang_team_meet(struct angara_team *team);

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
