/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups whose operations the adapters execute: declarations that the creation
 * of trees (tree.c) and their use (offload.c) share.
 *
 * A group with a tree has a team of libangara and a buffer for the adapter, the
 * stage; data is copied between the stage and the program's memory.  So an
 * operation registers nothing and cannot fail at one member alone, and
 * abandoned operations do not access the program's memory.  The stage has the
 * same key at all members, as broadcasts need.  Its parts are:
 *
 *   0, 1   filled by broadcasts in turn
 *   2, 3   parts of reductions, in turn
 */
#ifndef AFI_OFFLOAD_H
#define AFI_OFFLOAD_H

#include "coll.h"

#define AFI_STAGE_PARTS		4

/**
 * struct afi_vote - result of one member in a step of creating a tree
 * @err: 0 or -errno
 * @value: meaning depends on the step
 */
struct afi_vote {
	int32_t err;
	u32 value;
};

/* Requests of a group to the adapter, one for each purpose. */
enum afi_offload_which {
	AFI_REQ_EVEN,		/* barriers and parts of reductions */
	AFI_REQ_ODD,
	AFI_REQ_BCAST,
	AFI_REQ_FREED,		/* barrier: all members have copied part 0 */
	AFI_REQ_FREED_1,	/* barrier: all members have copied part 1 */
	AFI_REQ_LAST,		/* barrier: all members have closed the group */
	AFI_REQS
};

/**
 * struct afi_offload_req - a request of a group
 * @await: continuation
 * @err: result
 * @c: completion
 */
struct afi_offload_req {
	struct afi_await await;
	int err;
	struct angara_completion c;
};

/**
 * struct afi_offload - tree of a group; it is destroyed some time after the
 * group is closed
 * @link: once the group is closed: link among the ending groups of the domain
 * @domain: its domain
 * @group: group, NULL once it is closed
 * @thread: creates the tree
 * @votes: room for a vote of each member
 * @team: team; NULL: none, or this member has left it
 * @stage: memory
 * @mine: region of @stage from angara_malloc()
 * @common: region of @stage with the key that is equal at all members
 * @reqs: requests
 * @live: a bit for each posted request whose end was not handled yet
 * @call: operation in progress, or NULL
 * @posted: bytes of @call that were passed to the adapter
 * @done: bytes of @call that are complete
 * @part: part of the stage that broadcasts use now
 * @used: bytes used in @part
 * @arrived: number of broadcasts of the group so far, including the member's
 *	own
 * @look: time of the next check of the tree
 */
struct afi_offload {
	struct afi_link link;
	struct afi_domain *domain;
	struct afi_group *group;
	pthread_t thread;
	struct afi_vote *votes;
	struct angara_team *team;
	char *stage;
	struct angara_mr *mine;
	struct angara_mr *common;
	struct afi_offload_req reqs[AFI_REQS];
	u32 live;
	struct afi_call *call;
	size_t posted;
	size_t done;
	u32 part;
	size_t used;
	u64 arrived;
	u64 look;
};

/* offload.c; see struct afi_offload_ops */
bool afi_offload_supports(const struct afi_group *g, enum fi_collective_op coll,
			  enum fi_datatype type, enum fi_op op, size_t count);
int afi_offload_start(struct afi_group *g, struct afi_call *call);
bool afi_offload_progress(struct afi_group *g);
void afi_offload_stop(struct afi_group *g);
bool afi_offload_query(const struct afi_domain *d, enum fi_collective_op coll,
		       enum fi_datatype type, enum fi_op op);
const struct angara_op *afi_offload_how(struct afi_offload *o,
					enum afi_offload_which which);
int afi_offload_posted(struct afi_offload *o, enum afi_offload_which which,
		       int ret);
int afi_offload_ended(struct afi_offload *o, enum afi_offload_which which,
		      struct angara_completion *st);

#endif /* AFI_OFFLOAD_H */
