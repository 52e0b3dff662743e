/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Teams: declarations that the files about their creation, use and destruction
 * share.
 */
#ifndef ANG_TEAM_H
#define ANG_TEAM_H

#include <angara/fabric.h>
#include <angara/topo.h>

#include "lib.h"
#include "job.h"

/**
 * struct ang_rows - rows of a team's tree, and those that this process programs
 * @pool: devices that own the rows
 * @down: links that are down, which the tree avoids
 * @rows: rows, in ascending order of routers
 * @routers: per row: its router
 * @nodes: per row: node whose device programs it
 * @held: per row: this process programs the row, and holds its device
 * @n: routers in the tree
 * @missing: rows without a device on this machine
 * @why: error of the first device that is missing
 * @taken: TreeIds of other teams of the members, which this tree must not have;
 *	a bit for each
 * @reserved: TreeIds that need a lease of the fabric manager, a bit for each
 * @leased: the tree is leased from the fabric manager
 * @lease: if @leased, the connection to the manager
 * @max_trees: limit of TreeIds, exclusive
 * @set: number of rows handled so far; the rows of this process among them are
 *	set
 * @root: index of the root
 * @tree: TreeId
 * @epoch: incarnation
 * @turn: number of TreeIds tried so far
 * @busy: a TreeId that was tried in this round was in use
 */
struct ang_rows {
	struct ang_pool *pool;
	struct ang_links down;
	struct angara_tree_row *rows;
	u32 *routers;
	u32 *nodes;
	bool *held;
	u32 n;
	u32 missing;
	int why;
	u64 taken;
	u64 reserved;
	bool leased;
	int lease;
	u32 max_trees;
	u32 set;
	u32 root;
	u32 tree;
	u32 epoch;
	u32 turn;
	bool busy;
};

#define ANG_CUTS	31U	/* one per power of two: lengths of up to 2^30 bytes */

struct ang_coll_op;
struct ang_kin;
struct ang_stray;

/**
 * struct ang_made - count of the teams that were created from one parent with the same members
 * @list: hash of the members
 * @num: number of the last of these teams, from 0
 */
struct ang_made {
	u64 list;
	u32 num;
};

/**
 * struct ang_picks - members of a team that create another team, in the order
 * of the new team
 * @ranks: ranks of the members; NULL: each @stride-th rank from @start on
 * @start: first rank, without @ranks
 * @stride: distance of ranks, without @ranks
 * @n: number of members
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

#define ANG_RINGS_MOST	32U	/* dimensions of rings: one of size 1, and 31 of 2 or more */

/** enum ang_numbered - allgather algorithms that renumber members */
enum ang_numbered {
	ANG_NUMBERED_BRUCK,
	ANG_NUMBERED_DOUBLING,
	ANG_NUMBERED_NUM
};

/**
 * struct ang_tally - messages of schedules between two members.  The member whose adapter moves the
 * data counts a message: the sender of a short message, and the receiver of a long one, whose data
 * its adapter reads
 * @messages: number of messages
 * @bytes: bytes of data
 */
struct ang_tally {
	u64 messages;
	u64 bytes;
};

/**
 * struct angara_team - a team
 * @next: next team of the context
 * @parent: parent team, during creation: if the parent is lost, this team is
 *	lost, too
 * @job: job that the team was created from, or NULL
 * @broken: an exchange failed during creation
 * @given: the job has an exchange function of the program, used to agree
 * @ctx: this process's context
 * @id: number, the same at all members and different from the numbers of their
 *	other teams
 * @rank: index of this process in the team
 * @size: members
 * @offloaded: the team has a tree
 * @tree: TreeId
 * @epoch: number that distinguishes successive trees with this TreeId, equal at
 *	all members
 * @received: ANGARA_CTR_BCAST when the team was created
 * @rx_errors: ANGARA_CTR_RX_ERRORS when the team was created, or at the last
 *	error reported to the caller
 * @rows: rows that this member programs; empty if there are none
 * @wanted: angara_team_attr.stripes, not 0
 * @part: index of this team's tree among the trees of the same members, see
 *	team_stripes.c
 * @parts: number of these trees
 * @stripes: teams that have the trees after the first
 * @cut: number of trees for reductions of 2^i to 2^(i + 1) - 1 bytes
 * @nstripes: number of @stripes
 * @ranks: ranks of the members in the job, if @given
 * @blocks: room for exchanged blocks, if @given
 * @peers: addresses of the members
 * @order: room for ranks, used when members create a team from this team
 * @made: teams created from this one
 * @nmade: entries of @made
 * @messages: messages that this member has sent to others for the team
 * @tally: messages between this member and each member, by rank, except those
 *	of internal barriers; NULL: not counted
 * @by_device: collectives of this member that the adapter has executed
 * @by_software: collectives of this member that the library has executed
 * @rings: sizes of the dimensions of ANGARA_ALGO_RING2D
 * @nrings: number of @rings; 0: not set
 * @packet: bytes of the packets of a message in a ring allreduce; 0: messages are
 *	not divided
 * @root: rank whose node is the root of the tree
 * @kin: neighbours of this member in a software tree, see team_kin.c; NULL: not
 *	yet needed
 * @numbers: number of each member, then the member with each number; indexed by
 *	enum ang_numbered; NULL: not set
 *
 * Software collectives:
 * @seq: number of the next collective
 * @ahead: bytes of early messages that collectives since the last internal
 *	barrier can cause at a member
 * @ops: collectives in progress, oldest first
 * @early: messages whose step has not begun
 * @asked: a step has begun since early messages were last processed
 * @lost: ANGARA_ST_*, cause of the loss of the team; 0: it is not lost
 * @culprit: rank of the member whose loss caused @lost
 * @doomed: next value of @lost, set while completions are processed; 0: none
 * @doomed_by: next value of @culprit, set together with @doomed
 * @spread: number of members notified of the loss so far: for each power of two,
 *	one that many ranks above this member and one that many below
 * @checker: stands for a collective in operations that check members
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
	u32 root;
	struct ang_kin *kin;
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
 * @n: rows of the tree; only the coordinator sets this field and those below
 * @missing: rows whose devices the coordinator does not have
 * @why: error of the first missing device
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

#define ANG_AGREE_BYTES	256U	/* most bytes that one agreement exchanges */

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

/* team_kin.c */
int ang_team_kin(struct angara_team *team, const struct ang_kin **kin);

/* team_down.c */
int ang_down_look(struct angara_team *team);
int ang_down_agree(struct angara_team *team);
void ang_down_say(const struct angara_team *team, u32 root);

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

/* Number of trees over which a reduction of @len bytes is spread. */
static inline u32 ang_stripes(const struct angara_team *team, u64 len)
{
	return team->nstripes && len ?
	       team->cut[63 - (u32)__builtin_clzll(len)] : 1;
}

/* team_plan.c */

/**
 * struct ang_plan - the shape of a tree
 * @torus: fabric, if it is a torus
 * @is_torus: the fabric is a torus
 * @fabric: fabric; NULL: it is a torus, there is one tree, and no link is down
 * @avoids: links are down, and trees avoid them
 * @routers: routers of the fabric
 * @rows: a row for each router
 * @load: trees on each channel, as angara_fabric_tree() has it; NULL: there is
 *	one tree
 */
struct ang_plan {
	struct angara_topo torus;
	bool is_torus;
	struct angara_fabric *fabric;
	bool avoids;
	u32 routers;
	struct angara_tree_row *rows;
	u16 *load;
};

#define ANG_PLAN_ALL	0xFFFFU	/* @most of ang_plan_make(): count all members of a node */

u32 ang_stripe_distance(u32 size, u32 i, u32 parts);
u32 ang_stripe_root(const struct angara_team *team, u32 root, u32 i);
int ang_plan_fabric(struct angara_domain *dom, struct angara_fabric **fabric);
int ang_plan_make(struct ang_plan *plan, const struct angara_team *team, u32 root,
		  u32 most, const struct ang_links *down);
u32 ang_plan_peer(const struct ang_plan *plan, u32 router, u32 port);
void ang_plan_free(struct ang_plan *plan);

/* team_rows.c */
int ang_rows_plan(struct ang_rows *r, const struct angara_team *team, u32 root);
void ang_rows_leave_to_others(struct ang_rows *r, u32 i);
int ang_rows_propose(struct ang_rows *r, u32 want);
void ang_rows_restart(struct ang_rows *r);
void ang_lease_end(struct ang_rows *r);
int ang_rows_follow(struct ang_rows *r, u32 tree, u32 epoch);
void ang_rows_retract(struct ang_rows *r, int why);
void ang_rows_clear(struct ang_rows *r);

/* team_lease.c */
int ang_lease_lay(struct angara_team *team, u32 want);

#endif /* ANG_TEAM_H */
