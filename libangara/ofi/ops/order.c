// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ordering of reads, writes and atomic operations to one peer.
 *
 * The adapter executes operations concurrently.  So an operation that must
 * follow others is not started before they have ended.
 */
#include "op.h"

#define NUM(a)	(sizeof(a) / sizeof(*(a)))

/*
 * Accesses @later wait for accesses @earlier if the program has requested a flag:
 * @rma for reads and writes, @atomic for atomic operations, @both for all of these.
 */
static const struct {
	u32 later;
	u32 earlier;
	u64 rma;
	u64 atomic;
	u64 both;
} orders[] = {
	{ AFI_READS, AFI_READS, FI_ORDER_RMA_RAR, FI_ORDER_ATOMIC_RAR,
	  FI_ORDER_RAR },
	{ AFI_READS, AFI_WRITES, FI_ORDER_RMA_RAW, FI_ORDER_ATOMIC_RAW,
	  FI_ORDER_RAW },
	{ AFI_WRITES, AFI_READS, FI_ORDER_RMA_WAR, FI_ORDER_ATOMIC_WAR,
	  FI_ORDER_WAR },
	{ AFI_WRITES, AFI_WRITES, FI_ORDER_RMA_WAW, FI_ORDER_ATOMIC_WAW,
	  FI_ORDER_WAW },
};

/*
 * Are two addresses of the same endpoint? All contexts of a scalable endpoint
 * count as one endpoint.
 */
static bool same_endpoint(const struct afi_name *a, const struct afi_name *b)
{
	return a->node == b->node && a->ctx == b->ctx && a->serial == b->serial;
}

static bool comes_after(u64 order, u32 later, u32 earlier)
{
	bool atomic = later & earlier & AFI_ATOMICS;
	bool rma = !((later | earlier) & AFI_ATOMICS);
	size_t i;

	for (i = 0; i < NUM(orders); i++)
		if ((later & orders[i].later) && (earlier & orders[i].earlier) &&
		    ((order & orders[i].both) ||
		     (rma && (order & orders[i].rma)) ||
		     (atomic && (order & orders[i].atomic))))
			return true;
	return false;
}

/**
 * afi_must_wait() - must an operation wait for earlier ones?
 * @ep: endpoint, its domain locked
 * @peer: target
 * @does: AFI_READS, AFI_WRITES, AFI_ATOMICS
 * @flags: FI_FENCE: the operation waits for all earlier ones
 *
 * Return: true if it must not be started now.
 */
bool afi_must_wait(const struct afi_ep *ep, const struct afi_name *peer,
		   u32 does, u64 flags)
{
	const struct afi_domain *d = ep->domain;
	const struct afi_link *link;

	if ((flags & FI_FENCE) && ep->pending)
		return true;
	if (!(ep->order & AFI_ORDER_MEM) || !ep->rma)
		return false;
	for (link = d->ops.next; link != &d->ops; link = link->next) {
		const struct afi_op *op = afi_of(link, struct afi_op, link);

		if (op->ep == ep && op->does &&
		    same_endpoint(&op->peer, peer) &&
		    comes_after(ep->order, does, op->does))
			return true;
	}
	return false;
}
