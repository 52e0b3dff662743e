/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups for tests: one process has all members, each with a domain of its own.
 */
#ifndef FI_TEST_GROUP_H
#define FI_TEST_GROUP_H

#include <rdma/fi_collective.h>

#include "fi.h"

#define MOST	8	/* members */

/**
 * struct member - a member of groups
 * @s: domain and what belongs to it
 * @addr: addresses of all, by number
 */
struct member {
	struct side s;
	fi_addr_t addr[MOST];
};

/**
 * struct team - a group
 * @n: members
 * @who: numbers of these, in the order of ranks
 * @set: addresses, of each
 * @mc: result of joining, at each
 * @coll: address, for each
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
/* Members whose operations are executed this way: FI_ANGARA_COLL. */
void open_members_for(int n, const char *way);
void close_members(int n);

/* All join; each gets the event. */
bool join(struct team *t, int n, const int *who);
/* Only members of a bit in @which call, without waiting. */
bool start_join(struct team *t, int n, const int *who, unsigned int which);
/* Rank @r gets the event that all have joined, or an error with its data. */
bool hears(struct team *t, int r, int err, const char *text);
void leave(struct team *t, unsigned int which);

static inline struct member *of(const struct team *t, int r)
{
	return &all[t->who[r]];
}

/* All but those of a bit in @not have a completion, without an error. */
bool ended(const struct team *t, unsigned int not, void *context);

#endif /* FI_TEST_GROUP_H */
