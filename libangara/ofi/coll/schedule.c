// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collective operations as schedules of libangara/algo, which libangara's teams
 * use, too.
 */
#include "coll.h"

static const enum ang_coll colls[] = {
	[FI_BARRIER] = ANG_COLL_BARRIER,
	[FI_BROADCAST] = ANG_COLL_BCAST,
	[FI_ALLTOALL] = ANG_COLL_ALLTOALL,
	[FI_ALLREDUCE] = ANG_COLL_ALLREDUCE,
	[FI_ALLGATHER] = ANG_COLL_ALLGATHER,
	[FI_REDUCE_SCATTER] = ANG_COLL_REDUCE_SCATTER,
	[FI_REDUCE] = ANG_COLL_REDUCE,
	[FI_SCATTER] = ANG_COLL_SCATTER,
	[FI_GATHER] = ANG_COLL_GATHER,
};

static void step_combine(void *arg, void *dst, const void *src, size_t len)
{
	const struct afi_call *call = arg;

	afi_combine(call->type, call->op, dst, src, len / call->size);
}

static const struct ang_run_ops run_ops = {
	.send = afi_talk_send,
	.recv = afi_talk_begin,
	.combine = step_combine,
};

/**
 * afi_schedule() - make the schedule of a member for an operation by software
 * @call: operation; ang_run_free() frees its run
 *
 * Return: 0; -FI_ENOMEM.
 */
int afi_schedule(struct afi_call *call)
{
	const struct ang_coll_args args = {
		.coll = colls[call->coll],
		.rank = call->group->rank,
		.size = call->group->size,
		.root = call->root,
		.elem = call->size ? (u32)call->size : 1,
		.count = call->count,
	};

	if (ang_run_init(&call->run, &args, &run_ops, call))
		return -FI_ENOMEM;
	call->run.at[ANG_BUF_IN] = (char *)(uintptr_t)call->in;
	call->run.at[ANG_BUF_OUT] = call->out;
	return 0;
}
