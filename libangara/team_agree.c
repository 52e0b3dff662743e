// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How the members of a team agree while it is made: by software collectives of
 * its own, so only they take part, and each exchanges with log n others.
 *
 * A job with an exchange of the program's own is asked instead: that may let
 * another thread use the context while it waits.
 */
#include <errno.h>
#include <stdlib.h>

#include "ang_model.h"
#include "coll_run.h"

#define AGREE_TAG	(2ULL << 32)

static int min_given(struct angara_team *team, void *v, size_t len, u32 type)
{
	int ret = ang_job_exchange(team->job, team->ranks, team->size, AGREE_TAG,
				   v, len, team->blocks);
	u32 i;

	for (i = 0; !ret && i < team->size; i++) {
		u64 in[ANG_AGREE_BYTES / 8];

		memcpy(in, team->blocks + i * len, len);
		ang_combine(v, in, (u32)len, type, ANGARA_RED_MIN);
	}
	return ret;
}

/**
 * ang_team_min() - the least of what the members have, element by element
 * @team: team
 * @v: elements, aligned to 8; out: the least
 * @count: elements, ANG_AGREE_BYTES at most
 * @type: ANGARA_TYPE_*
 *
 * Return: 0; -ECONNRESET a member is lost; -ENODEV; -ENOMEM; what an exchange of
 * the program's own gives.
 */
int ang_team_min(struct angara_team *team, void *v, size_t count, u32 type)
{
	struct ang_coll_args args = {
		.coll = ANG_COLL_ALLREDUCE, .algo = ANG_ALGO_RECURSIVE_DOUBLING,
		.elem = ang_reduction_size(type, ANGARA_RED_MIN), .count = count,
	};
	struct ang_coll_op *op;
	int ret;

	if (team->given)
		return min_given(team, v, count * args.elem, type);
	ret = ang_coll_new(team, &args, &op);
	if (ret)
		return ret;
	op->side[ANG_BUF_IN].at = v;
	op->side[ANG_BUF_OUT].at = v;
	op->type = type;
	op->redop = ANGARA_RED_MIN;
	return ang_coll_wait(op);
}

/**
 * ang_team_agree() - exchange what came out of a step
 * @team: team
 * @mine: here
 * @from: rank of the member whose outcome is wanted
 * @its: out: what came out there
 *
 * Return: 0 if it went well everywhere, else the error of the member with the
 * lowest rank; an error of exchanging, and then the team is broken.
 */
int ang_team_agree(struct angara_team *team, const struct ang_outcome *mine,
		   u32 from, struct ang_outcome *its)
{
	u64 v[4] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	int ret;

	if (mine->err)
		v[0] = (u64)team->rank << 32 | (u32)-mine->err;
	if (team->rank == from) {
		v[1] = (u64)mine->n << 32 | mine->missing;
		v[2] = (u64)mine->tree << 32 | (u32)-mine->why;
		v[3] = mine->epoch;
	}
	ret = ang_team_min(team, v, 4, ANGARA_TYPE_UINT64);
	if (ret) {
		team->broken = true;
		return ret;
	}
	*its = (struct ang_outcome){
		.n = (u32)(v[1] >> 32), .missing = (u32)v[1],
		.tree = (u32)(v[2] >> 32), .why = -(s32)(u32)v[2],
		.epoch = (u32)v[3],
	};
	return v[0] == UINT64_MAX ? 0 : -(int)(u32)v[0];
}

static int collect_given(struct angara_team *team, u64 mine, u64 *all)
{
	return ang_job_exchange(team->job, team->ranks, team->size, AGREE_TAG,
				&mine, sizeof(mine), all);
}

/**
 * ang_team_collect() - a number of each member
 * @team: team
 * @mine: this one's
 * @all: out: all, by rank
 *
 * Return: as ang_team_min().
 */
int ang_team_collect(struct angara_team *team, u64 mine, u64 *all)
{
	struct ang_coll_args args = {
		.coll = ANG_COLL_ALLGATHER, .algo = ANG_ALGO_BRUCK,
		.elem = sizeof(mine), .count = 1,
	};
	size_t len = team->size * sizeof(mine);
	struct ang_scratch *s;
	struct ang_coll_op *op;
	int ret;

	if (team->given)
		return collect_given(team, mine, all);
	s = ang_scratch_get(team->ctx, len);
	if (!s)
		return -ENOMEM;
	ret = ang_coll_new(team, &args, &op);
	if (!ret) {
		op->side[ANG_BUF_IN].at = (char *)&mine;
		op->side[ANG_BUF_OUT] = (struct ang_side){
			.at = s->mr->addr, .mr = s->mr,
		};
		ret = ang_coll_wait(op);
	}
	if (!ret)
		memcpy(all, s->mr->addr, len);
	ang_scratch_put(team->ctx, s);
	return ret;
}
