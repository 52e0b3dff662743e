// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Regions with one key at all members of a team, as broadcasts need.
 *
 *   slot	  the lowest that is free at all members: each member searches
 *		  on from the highest slot that any member has found, until all
 *		  have found the same slot
 *   upper bits	  48 random bits, drawn by the member with rank 0
 *
 * Another thread may register memory of the domain meanwhile, and take the
 * agreed slot.  Then all members continue the search above that slot.
 */
#include <errno.h>

#include "team.h"

#define NOTHING	UINT64_MAX

/**
 * struct bid - proposal of a member in a round, and the result over all members
 */
struct bid {
	u64 err;	/* in: rank and errno of a failed member, or NOTHING; out: minimum */
	u64 low;	/* in: slot; out: minimum */
	u64 high;	/* in: ~slot; out: ~maximum */
	u64 upper;	/* in: random bits at rank 0, NOTHING at other ranks; out: the bits */
};

/*
 * Exchanges the bids of a round.  @verdict: out: 0, or the error of the failed
 * member with the lowest rank
 * Return: 0; an error of the exchange.
 */
static int bid_all(struct angara_team *team, int err, u32 slot, u64 upper,
		   struct bid *all, int *verdict)
{
	int ret;

	*verdict = 0;
	*all = (struct bid){
		.err = err ? (u64)team->rank << 32 | (u32)-err : NOTHING,
		.low = slot, .high = ~(u64)slot,
		.upper = team->rank ? NOTHING : upper,
	};
	ret = ang_team_min(team, all, sizeof(*all) / sizeof(u64),
			   ANGARA_TYPE_UINT64);
	if (!ret && all->err != NOTHING)
		*verdict = ang_team_error((u32)all->err);
	return ret;
}

/*
 * Agrees on a key: a slot from @slot on that is free at all members, below the
 * random bits of rank 0.
 * Return: 0; an error of a member, or of the exchange; -ENOSPC.
 */
static int key_agree(struct angara_team *team, int err, u32 slot, u64 upper,
		     u64 *key)
{
	struct bid all;
	int ret, verdict;

	for (;;) {
		u32 highest;

		if (!err)
			err = ang_mr_free_slot(team->ctx->dom, &slot);
		ret = bid_all(team, err, slot, upper, &all, &verdict);
		if (!ret)
			ret = verdict;
		if (ret)
			return ret;
		highest = (u32)~all.high;
		if (all.low == highest)
			break;
		slot = highest;
	}
	*key = all.upper | slot;
	return 0;
}

/*
 * Registers memory with one key at all members.  @err: an earlier error of this
 * member: then no member registers the memory.
 */
static int team_reg(struct angara_team *team, int err, void *addr, size_t len,
		    unsigned int access, struct angara_mr **mr)
{
	u32 slot = team->ctx->dom->first_slot;
	u64 key, upper = 0;
	struct bid all;
	int ret, verdict;

	*mr = NULL;
	if (!err)
		err = ang_mr_draw(&upper);
	do {
		ret = key_agree(team, err, slot, upper, &key);
		if (ret)
			return ret;
		err = angara_mr_reg_key(team->ctx->dom, addr, len, access, key,
					mr);
		ret = bid_all(team, err, 0, 0, &all, &verdict);
		if (!ret && !verdict)
			return 0;
		angara_mr_dereg(*mr);
		*mr = NULL;
		err = 0;
		slot = ANG_MR_SLOT(key) + 1;
	} while (!ret && verdict == -EEXIST);
	return ret ? ret : verdict;
}

ANG_PUBLIC int angara_team_mr_reg(struct angara_team *team, void *addr,
				  size_t len, unsigned int access,
				  struct angara_mr **mr)
{
	return team_reg(team, 0, addr, len, access, mr);
}

/*
 * Allocates memory, aligned if there are free addresses for this, so that a
 * program can place aligned blocks in it.
 * Return: as ang_mr_map().
 */
static int team_map(struct angara_domain *dom, size_t len, void **addr, size_t *mapped)
{
	size_t align = len ? (size_t)1 << (63 - __builtin_clzll(len)) : 1;
	int ret = ang_mr_map(dom, len, align, addr, mapped);

	return ret == -ENOMEM ? ang_mr_map(dom, len, 1, addr, mapped) : ret;
}

ANG_PUBLIC int angara_team_malloc(struct angara_team *team, size_t len,
				  struct angara_mr **mr)
{
	struct ang_dev *dev = &team->ctx->dom->dev;
	size_t mapped;
	void *addr;
	int err = team_map(team->ctx->dom, len, &addr, &mapped);
	int ret = team_reg(team, err, addr, len, ANGARA_ACCESS_ALL, mr);

	if (!ret)
		(*mr)->mapped = mapped;
	else if (!err)
		dev->ops->free(dev, addr, mapped);
	return ret;
}
