/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups for tests: one process has all members, each with a domain of its own.
 */
#ifndef FI_TEST_GROUP_H
#define FI_TEST_GROUP_H

#include <rdma/fi_collective.h>

#include "fi.h"

#define MOST	8	/* most members */

/**
 * struct member - a member of groups
 * @s: domain and its objects
 * @addr: addresses of all members, by number
 */
struct member {
	struct side s;
	fi_addr_t addr[MOST];
};

/**
 * struct team - a group
 * @n: members
 * @who: their numbers, in the order of ranks
 * @set: address set of each member
 * @mc: result of joining, of each member
 * @coll: group address, of each member
 */
struct team {
	int n;
	int who[MOST];
	struct fid_av_set *set[MOST];
	struct fid_mc *mc[MOST];
	fi_addr_t coll[MOST];
};

extern struct member all[MOST];
extern const struct how with_groups;

void open_members(int n, const struct how *how);
/* Opens members with the value @way of FI_ANGARA_COLL. */
void open_members_for(int n, const char *way);
void close_members(int n);

/* All members join; each gets the event. */
bool join(struct team *t, int n, const int *who);
/* Members with a bit in @which start to join, without waiting. */
bool start_join(struct team *t, int n, const int *who, unsigned int which);
/* Does rank @r get the event of the join, or an error with this text? */
bool hears(struct team *t, int r, int err, const char *text);
void leave(struct team *t, unsigned int which);

static inline struct member *of(const struct team *t, int r)
{
	return &all[t->who[r]];
}

/* Does each member but those in @not get a completion of @context, without error? */
bool ended(const struct team *t, unsigned int not, void *context);

#endif /* FI_TEST_GROUP_H */
