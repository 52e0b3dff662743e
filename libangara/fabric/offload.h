/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups whose operations the adapters do: what making a tree (tree.c) and
 * using it (offload.c) share.
 *
 * A group with a tree has a team of libangara and some memory that the adapter
 * works on, the stage: programs' memory is copied there and back.  So nothing
 * is registered while operations run, none of it can fail at one member alone,
 * and what is abandoned touches nothing of the program's.  The stage has the
 * same key at all members, as broadcasts need it:
 *
 *   0, 1   filled by broadcasts in turn
 *   2, 3   parts of a reduction, likewise
 */
#ifndef AFI_OFFLOAD_H
#define AFI_OFFLOAD_H

#include "coll.h"

#define AFI_STAGE_PARTS		4

/**
 * struct afi_vote - what a member says of a step of making a tree
 * @err: 0 or -errno
 * @value: what the step is about
 */
struct afi_vote {
	int32_t err;
	u32 value;
};

/* Requests of a group, each for one purpose. */
enum afi_offload_which {
	AFI_REQ_EVEN,		/* barriers and parts of reductions, in turn */
	AFI_REQ_ODD,
	AFI_REQ_BCAST,
	AFI_REQ_FREED,		/* all members have copied what is in part 0 */
	AFI_REQ_FREED_1,	/* in part 1 */
	AFI_REQ_LAST,		/* all members have closed the group */
	AFI_REQS
};

/**
 * struct afi_offload_req - a request of a group
 * @await: for its end
 * @err: how it has ended
 * @c: the same
 */
struct afi_offload_req {
	struct afi_await await;
	int err;
	struct angara_completion c;
};

/**
 * struct afi_offload - a group with a tree, or what is left of it
 * @link: among those of the domain that end, once the group is closed
 * @domain: whose
 * @group: group, NULL once it is closed
 * @thread: makes the tree
 * @votes: room for one of each member
 * @team: NULL: there is none, or it was left
 * @stage: memory
 * @mine: region of it that angara_malloc() made
 * @common: region of it with the key that all members have for it
 * @reqs: requests
 * @live: a bit for each that has been posted and not asked for
 * @call: operation under way, or NULL
 * @posted: bytes of it that were given to the adapter
 * @done: bytes that are where they belong
 * @part: of the stage that broadcasts go to now
 * @used: bytes of that
 * @arrived: broadcasts of the group so far, the member's own included
 * @look: when to look again whether the tree is still there
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

/* tree.c */
int afi_offload_form(struct afi_group *g);
void afi_offload_close(struct afi_group *g);
bool afi_offload_linger(struct afi_domain *d);
void afi_offload_drop(struct afi_domain *d);

/* offload.c */
const struct angara_op *afi_offload_how(struct afi_offload *o,
					enum afi_offload_which which);
int afi_offload_posted(struct afi_offload *o, enum afi_offload_which which,
		       int ret);
int afi_offload_ended(struct afi_offload *o, enum afi_offload_which which,
		      struct angara_completion *st);

#endif /* AFI_OFFLOAD_H */
