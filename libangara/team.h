/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Teams: shared by their creation, use and destruction. */
#ifndef ANG_TEAM_H
#define ANG_TEAM_H

#include "lib.h"
#include "job.h"

/**
 * struct ang_rows - rows of a team's tree, and those that this process programs
 * @pool: devices that own them
 * @rows: rows, in ascending order of routers
 * @routers: their routers
 * @nodes: the nodes whose devices program them
 * @held: of each row, whether this process programs it and holds its device
 * @n: routers in the tree
 * @missing: rows without a device on this machine
 * @why: error of the first of them
 * @taken: TreeIds not to use, a bit for each
 * @max_trees: TreeIds are below this
 * @set: rows handled, from the first on; those of this process among them are
 *	set
 * @root: index of the root
 * @tree: TreeId
 * @epoch: incarnation
 * @turn: TreeIds tried so far
 * @busy: another user had one of this round's
 */
struct ang_rows {
	struct ang_pool *pool;
	struct angara_tree_row *rows;
	u32 *routers;
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

#define ANG_CUTS	31U	/* lengths of operations: up to 2^30 bytes */

struct angara_fabric;
struct ang_coll_op;
struct ang_stray;

/** struct ang_made - teams of the same members created from one parent */
struct ang_made {
	u64 list;
	u32 num;
};

/**
 * struct ang_picks - members of a team that create another, in its order
 * @ranks: theirs, or NULL: each @stride-th from @start on
 * @start: see there
 * @stride: see there
 * @n: number of them
 */
struct ang_picks {
	const u32 *ranks;
	u32 start;
	u32 stride;
	u32 n;
};

static inline u32 ang_pick(const struct ang_picks *p, u32 i)
{
	return p->ranks ? p->ranks[i] : p->start + i * p->stride;
}

#define ANG_RINGS_MOST	32U	/* dimensions: each but one divides the members by 2 or more */

/** enum ang_numbered - algorithms of an allgather that have numbers of members */
enum ang_numbered {
	ANG_NUMBERED_BRUCK,
	ANG_NUMBERED_DOUBLING,
	ANG_NUMBERED_NUM
};

/**
 * struct ang_tally - messages of schedules between two members, counted by the one
 * whose adapter moves the data: a short message by its sender, a long one, which
 * is read, by its receiver
 * @messages: their number
 * @bytes: bytes of data
 */
struct ang_tally {
	u64 messages;
	u64 bytes;
};

/**
 * struct angara_team - a team
 * @next: the next of the context
 * @parent: parent team, during creation: if it is lost, so is this one
 * @job: job that it was created from, or NULL
 * @broken: an exchange failed during creation
 * @given: the job has an exchange function of the program, used to agree
 * @ctx: this process's context
 * @id: number, the same at all members and different from their other teams'
 * @rank: index of this process in the team
 * @size: members
 * @offloaded: it has a tree
 * @tree: TreeId
 * @epoch: incarnation of the tree, equal at all members
 * @received: ANGARA_CTR_BCAST when the team was created
 * @rx_errors: ANGARA_CTR_RX_ERRORS then, or at the last error reported to the
 *	caller
 * @rows: rows that this member programs, else empty
 * @wanted: angara_team_attr.stripes, not 0
 * @part: which of the trees of the same members it has, see team_stripes.c
 * @parts: number of these trees
 * @stripes: teams that have the trees after the first
 * @cut: trees for reductions of 2^i bytes and more, but less than 2^(i + 1)
 * @nstripes: number of @stripes
 * @ranks: ranks of the members in the job, if @given
 * @blocks: room for exchanged blocks, if @given
 * @peers: addresses of the members
 * @order: room for ranks of members, when one of them creates a team from this
 *	one
 * @made: teams created from this one
 * @nmade: entries of that
 * @messages: messages that this member has sent to others for the team
 * @tally: messages between this member and each one, by rank, except those of
 *	internal barriers; NULL: not counted
 * @by_device: collectives of this member that the adapter has done
 * @by_software: collectives of this member that the library has done
 * @rings: sizes of the dimensions of ANGARA_ALGO_RING2D
 * @nrings: number of these; 0: not set
 * @packet: bytes of a packet around the rings of an allreduce; 0: whole messages
 * @numbers: of each member, then the member of each number, by enum ang_numbered;
 *	NULL: not set
 *
 * Software collectives:
 * @seq: number of the next
 * @ahead: bytes that collectives since the last internal barrier may make a
 *	member keep
 * @ops: those in progress, oldest first
 * @early: messages whose step has not begun
 * @asked: a step has begun since these were last offered
 * @lost: ANGARA_ST_* of why the team is lost, 0: it is not
 * @culprit: rank of the member whose loss caused it
 * @doomed: as @lost, set while completions are processed
 * @doomed_by: as @culprit, likewise
 * @spread: members notified so far, as a power of two
 * @checker: options of the operations that check members
 * @check_ns: time of the next check
 * @turn: member to check next
 */
struct angara_team {
	struct angara_team *next;
	const struct angara_team *parent;
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
	u32 wanted;
	u32 part;
	u32 parts;
	struct angara_team *stripes[ANGARA_MAX_STRIPES - 1];
	u32 cut[ANG_CUTS];
	u32 nstripes;
	u32 *ranks;
	char *blocks;
	struct angara_peer *peers;
	u32 *order;
	struct ang_made *made;
	u32 nmade;
	u64 messages;
	struct ang_tally *tally;
	u64 by_device;
	u64 by_software;
	u32 rings[ANG_RINGS_MOST];
	u32 nrings;
	size_t packet;
	u32 *numbers[ANG_NUMBERED_NUM];

	u32 seq;
	u64 ahead;
	struct ang_coll_op *ops;
	struct ang_kept early;
	bool asked;
	u32 lost;
	u32 culprit;
	u32 doomed;
	u32 doomed_by;
	u32 spread;
	struct ang_coll_op *checker;
	u64 check_ns;
	u32 turn;
};

/**
 * struct ang_outcome - result of a step of creating a team
 * @err: 0 or -errno
 * @n: nodes in the tree; this and all that follows is from the coordinator
 * @missing: of them, nodes whose devices the coordinator does not have
 * @why: error of the first of them
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

#define ANG_AGREE_BYTES	256U	/* limit of one agreement */

/* team_agree.c */
int ang_team_error(u32 code);
int ang_team_min(struct angara_team *team, void *v, size_t count, u32 type);
int ang_team_agree(struct angara_team *team, const struct ang_outcome *mine,
		   u32 from, struct ang_outcome *its);
int ang_team_agree_given(struct angara_team *team, const u32 *ranks, u32 n,
			 int err);
int ang_team_collect(struct angara_team *team, u64 mine, u64 *all);

/* coll_run.c */
void ang_coll_lose(struct angara_team *team);
void ang_coll_leave(struct angara_team *team, bool quietly);

/* coll.c */
int ang_team_barrier(struct angara_team *team);
int ang_team_meet(struct angara_team *team);

/* team_rings.c */
struct ang_coll_args;
void ang_team_torus(struct angara_team *team, struct ang_coll_args *a);

/* team_apart.c */
int ang_team_lay_apart(struct angara_team *team, u32 root, u32 want,
		       struct ang_outcome *its);

/* team.c */
struct ang_picks;
int ang_team_of_job(struct angara_job *job, struct angara_ctx *ctx,
		    const unsigned int *ranks, unsigned int n,
		    const struct angara_team_attr *attr, int err,
		    struct angara_team **out);
int ang_team_of_team(struct angara_team *parent, const struct ang_picks *p,
		     const struct angara_team_attr *attr,
		     struct angara_team **out);
int ang_team_twin(struct angara_team *team, u32 root, u32 part, u32 parts,
		  struct angara_team **twin);
void ang_team_end(struct angara_team *team, bool quietly);

/* team_stripes.c */
int ang_stripes_env(u32 *stripes);
int ang_stripes_open(struct angara_team *team, u32 root);
void ang_stripes_close(struct angara_team *team, bool quietly);
bool ang_stripes_drained(const struct angara_team *team);
u64 ang_stripes_messages(const struct angara_team *team);
int ang_stripes_post(struct angara_team *team, struct angara_wqe *wqe, u32 n,
		     u32 elem, const struct angara_op *how,
		     struct ang_blocked *b);

/* Trees that a reduction of @len bytes is spread over. */
static inline u32 ang_stripes(const struct angara_team *team, u64 len)
{
	return team->nstripes && len ?
	       team->cut[63 - (u32)__builtin_clzll(len)] : 1;
}

/* team_rows.c */
u32 ang_stripe_distance(u32 size, u32 i, u32 parts);
u32 ang_stripe_root(const struct angara_team *team, u32 root, u32 i);
int ang_rows_fabric(struct angara_domain *dom, struct angara_fabric **fabric);
int ang_rows_plan(struct ang_rows *r, const struct angara_team *team, u32 root);
void ang_rows_leave_to_others(struct ang_rows *r, u32 i);
int ang_rows_propose(struct ang_rows *r, u32 want);
int ang_rows_follow(struct ang_rows *r, u32 tree, u32 epoch);
void ang_rows_retract(struct ang_rows *r, int why);
void ang_rows_clear(struct ang_rows *r);

#endif /* ANG_TEAM_H */
