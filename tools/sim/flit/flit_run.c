// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flit engine: tick after tick, until all packets have arrived.
 */
#include "flit.h"

#define STUCK	20000U	/* ticks without motion, beyond the last delay: packets are stuck */
#define CHECK	61U	/* ticks between checks of invariants */

static void take_credit(struct flit_net *n, u32 out)
{
	u32 host = out & ~FLIT_TO_HOST;

	if (out & FLIT_TO_HOST)
		n->host[host / n->rule.hvc].room[host % n->rule.hvc]++;
	else
		n->out[out].room++;
}

static void receive(struct flit_net *n)
{
	struct flit_slot *t = &n->slot[n->now & (n->slots - 1)];
	u32 i;

	for (i = 0; i < t->credits; i++)
		take_credit(n, t->credit[i]);
	t->credits = 0;
	for (i = 0; i < t->arrivals; i++) {
		const struct flit_arrival *a = &t->arrival[i];

		if (a->in & FLIT_TO_HOST)
			n->rule.hosts->arrive(n, a->in & ~FLIT_TO_HOST, a->flit);
		else
			flit_put(n, a->in, a->flit);
	}
	t->arrivals = 0;
}

static void tick(struct flit_net *n)
{
	u32 w;

	receive(n);
	n->rule.hosts->tick(n);
	for (w = 0; w <= (n->routers - 1) / 64; w++) {
		u64 set = n->active[w];

		for (; set; set &= set - 1)
			flit_serve(n, w * 64 + ang_lowest(set));
	}
}

/**
 * flit_run() - run a network until its hosts are done and all flits have arrived
 * @n: network
 * @check: check invariants now and then, not only at the end
 *
 * Sets @n->wrong if an invariant does not hold, or packets are stuck.
 */
void flit_run(struct flit_net *n, bool check)
{
	n->rule.hosts->start(n);
	for (; (n->pkt_live || n->dues) && !n->wrong; n->now++) {
		tick(n);
		if (check && n->now % CHECK == 0 && !n->wrong)
			n->wrong = flit_check(n);
		if (!n->dues && n->now > n->count.moved + STUCK + n->slots)
			n->wrong = "packets are stuck";
	}
	/* Let the last credits arrive. */
	for (; check && !n->wrong && n->now % n->slots; n->now++)
		receive(n);
	if (!n->wrong)
		n->wrong = flit_check(n);
}
