// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The exchange between members that the creation of a tree needs. */
#include <stdlib.h>
#include <time.h>

#include "coll.h"

static void sleep_until(struct afi_domain *d, u64 end)
{
	const struct timespec ts = {
		.tv_sec = (time_t)(end / 1000000000ULL),
		.tv_nsec = (long)(end % 1000000000ULL),
	};

	if (end == UINT64_MAX)
		pthread_cond_wait(&d->coll->ended, &d->lock);
	else
		pthread_cond_timedwait(&d->coll->ended, &d->lock, &ts);
}

/* The thread of watchdog.c makes progress during this wait. */
int afi_group_exchange(struct afi_group *g, const void *mine, size_t len,
		       void *all, u64 end)
{
	struct afi_call *call;
	int ret;

	if (len > AFI_BLOCK_MAX)
		return -FI_EMSGSIZE;
	if (g->closing || g->state == AFI_GROUP_FAILED)
		return g->closing ? -FI_ECANCELED : -g->err;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -FI_ENOMEM;
	call->group = g;
	call->coll = len ? FI_ALLGATHER : FI_BARRIER;
	call->type = FI_UINT8;
	call->op = FI_NOOP;
	call->size = 1;
	call->count = len;
	call->len = len;
	call->in = mine;
	call->out = all;
	call->internal = true;
	call->end = end;
	ret = afi_schedule(call);
	if (ret) {
		free(call);
		return ret;
	}
	afi_call_add(call, g->inner_seq++);
	afi_progress(g->domain);
	while (!call->ended) {
		if (afi_past(end))
			afi_group_fail(g, FI_ETIMEDOUT, afi_call_waits_for(call));
		else
			sleep_until(g->domain, end);
	}
	ret = -call->done.err;
	free(call);
	return ret;
}
