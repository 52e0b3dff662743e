// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Agreement of members during the creation of a team.  Members use software collectives of the
 * team itself, so only members take part, and each exchanges messages with log n others.
 *
 * In a job with an exchange function of the program, members use that function
 * instead; it may let another thread use the context while it waits.
 */
#include <errno.h>
#include <stdlib.h>

#include "ang_model.h"
#include "coll_run.h"

#define AGREE_TAG	(2ULL << 32)
#define AGREE_ERRNO	4095U	/* largest error code */

/**
 * Decodes an error that a member has sent.  Return: -errno; -EPROTO: the code
 * is not valid.
 */
int ang_team_error(u32 code)
{
	return code && code <= AGREE_ERRNO ? -(int)code : -EPROTO;
}

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
 * ang_team_min() - compute the minimum over all members, element by element
 * @team: team
 * @v: elements, aligned to 8; out: the minimum
 * @count: elements, ANG_AGREE_BYTES at most
 * @type: ANGARA_TYPE_*
 *
 * Return: 0; -ECONNRESET a member is lost; -ENODEV; -ENOMEM; errors of the
 * program's exchange function.
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
	if (!ret) {
		op->run.at[ANG_BUF_IN] = v;
		op->run.at[ANG_BUF_OUT] = v;
		op->type = type;
		op->redop = ANGARA_RED_MIN;
		ret = ang_coll_wait(op);
	}
	/*
	 * This member has failed, but the other members may wait for its messages: lose the team.
	 */
	if (ret)
		ang_coll_lose(team);
	return ret;
}

/**
 * ang_team_agree() - exchange the results of a step
 * @team: team
 * @mine: result of this member
 * @from: rank of the member whose result is returned
 * @its: out: result of that member
 *
 * Return: 0 if no member failed, else the error of the failed member with the
 * lowest rank; or an error of the exchange, after which the team is broken.
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
		.tree = (u32)(v[2] >> 32),
		.why = (u32)v[2] ? ang_team_error((u32)v[2]) : 0,
		.epoch = (u32)v[3],
	};
	return v[0] == UINT64_MAX ? 0 : ang_team_error((u32)v[0]);
}

/**
 * ang_team_agree_given() - check for failed members with the program's exchange
 * @team: team
 * @ranks: ranks of the members in the job, in ascending order
 * @n: number of members
 * @err: 0 or -errno
 *
 * Return: 0; the error of the failed member with the lowest rank; an error of
 * the exchange.
 */
int ang_team_agree_given(struct angara_team *team, const u32 *ranks, u32 n,
			 int err)
{
	s32 mine = err, its;
	int ret = ang_job_exchange(team->job, ranks, n, AGREE_TAG, &mine,
				   sizeof(mine), team->blocks);
	u32 i;

	for (i = 0; !ret && i < n; i++) {
		memcpy(&its, team->blocks + i * sizeof(its), sizeof(its));
		ret = its ? ang_team_error(-(u32)its) : 0;
	}
	return ret;
}

static int collect_given(struct angara_team *team, u64 mine, u64 *all)
{
	return ang_job_exchange(team->job, team->ranks, team->size, AGREE_TAG,
				&mine, sizeof(mine), all);
}

/**
 * ang_team_collect() - gather a number of each member
 * @team: team
 * @mine: number of this member
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
	struct ang_scratch *s = NULL;
	struct ang_coll_op *op;
	int ret;

	if (team->given)
		return collect_given(team, mine, all);
	ret = ang_scratch_get(team->ctx, len, &s);
	if (!ret)
		ret = ang_coll_new(team, &args, &op);
	if (!ret) {
		op->run.at[ANG_BUF_IN] = (char *)&mine;
		op->run.at[ANG_BUF_OUT] = s->mr->addr;
		op->side[ANG_BUF_OUT].mr = s->mr;
		ret = ang_coll_wait(op);
	}
	if (!ret)
		memcpy(all, s->mr->addr, len);
	else
		ang_coll_lose(team);
	if (s)
		ang_scratch_put(team->ctx, s);
	return ret;
}
