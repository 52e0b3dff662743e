// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collective operations in progress.
 */
#include <stdlib.h>
#include <string.h>

#include "coll.h"

static struct afi_call *call_of(struct afi_link *link)
{
	return afi_of(link, struct afi_call, link);
}

static struct afi_call *first_of(const struct afi_group *g)
{
	return afi_list_empty(&g->calls) ? NULL : call_of(g->calls.next);
}

void afi_call_add(struct afi_call *call, u32 seq)
{
	call->seq = seq;
	afi_list_add(&call->group->calls, &call->link);
	afi_group_set_busy(call->group);
}

static void coll_report(struct afi_call *call)
{
	struct afi_ep *ep = call->group->ep;

	if (call->cq && (call->report || call->done.err))
		afi_cq_put(call->cq, &call->done);
	else if (call->cq)
		call->cq->promised--;
	afi_cntr_count(ep->cntrs[AFI_COUNT_WRITE], call->done.err);
}

/* Ends an operation, and wakes the threads that wait for it. */
static void coll_finish(struct afi_call *call)
{
	struct afi_call *parent = call->parent;
	struct afi_group *g = call->group;

	if (parent && !parent->done.err) {
		parent->done.err = call->done.err;
		parent->done.prov_err = call->done.prov_err;
	}
	ang_run_free(&call->run);
	if (call->internal) {
		call->ended = true;
		pthread_cond_broadcast(&g->domain->coll->ended);
		return;
	}
	if (!parent)
		coll_report(call);
	free(call);
	if (parent && !--parent->parts)
		coll_finish(parent);
}

static void coll_end(struct afi_call *call, int err, u32 culprit)
{
	afi_list_del(&call->link);
	call->done.err = err;
	call->done.prov_err = err ? afi_culprit_of(call->group, culprit) : 0;
	coll_finish(call);
}

void afi_call_end(struct afi_call *call, int err, u32 culprit)
{
	struct afi_group *g = call->group;

	coll_end(call, err, culprit);
	if (err)
		afi_group_fail(g, err, culprit);
}

/* Ends the operations in progress of a failed group with its error. */
void afi_calls_fail(struct afi_group *g)
{
	struct afi_call *call;

	while ((call = first_of(g)))
		coll_end(call, g->err, g->culprit);
}

/*
 * Advances a software operation as far as possible.  The operation is complete
 * when its messages have arrived at the other members' domains, too.  After an
 * error the group has failed, and the operation has ended.  Return: true if
 * there was any progress.
 */
static bool coll_step(struct afi_call *call)
{
	int ret = ang_run_go(&call->run);

	if (ret < 0)
		return true;
	if (!ang_run_done(&call->run) || call->flying)
		return ret;
	afi_call_end(call, 0, call->group->size);
	return true;
}

/*
 * Starts an operation that the adapters execute. Return: true if there was any
 * progress.
 */
static bool start_offload(struct afi_group *g, struct afi_call *call)
{
	int ret = g->ops->start(g, call);

	if (ret == -FI_EAGAIN)
		return false;
	call->begun = true;
	if (ret)
		afi_call_end(call, -ret, g->size);
	return true;
}

/*
 * Advances all operations of a group. Return: true if there was any progress.
 */
static bool calls_progress(struct afi_group *g)
{
	struct afi_link *link, *next;
	bool any = g->offload && g->ops->progress(g);
	bool waits = false;

	for (link = g->calls.next;
	     link != &g->calls && g->state != AFI_GROUP_FAILED; link = next) {
		struct afi_call *call = call_of(link);

		next = link->next;
		if (!call->offloaded) {
			any |= coll_step(call);
		} else if (!call->begun && !waits) {
			/*
			 * Operations start in the order of calls: later ones
			 * wait for this one.
			 */
			waits = !start_offload(g, call);
			any |= !waits;
		}
	}
	return any;
}

/* Advances all groups.  Return: true if there was any progress. */
bool afi_coll_progress(struct afi_domain *d)
{
	struct afi_link *busy = &d->coll->busy, *link, *next;
	bool any = false;

	for (link = busy->next; link != busy; link = next) {
		struct afi_group *g = afi_of(link, struct afi_group, busy);

		any |= afi_group_progress(g);
		if (g->state >= AFI_GROUP_AGREED)
			any |= calls_progress(g) | afi_talk_credit(g);
		next = link->next;
		if (g->state < AFI_GROUP_JOINED || g->tell || g->owes ||
		    !afi_list_empty(&g->calls))
			continue;
		g->is_busy = false;
		afi_list_del(&g->busy);
	}
	return any | d->coll->offload->linger(d);
}
