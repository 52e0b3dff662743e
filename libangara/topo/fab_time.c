// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Expected times of operations on planned trees, on an idle fabric.
 *
 * The model follows the first packet through the blocks, as the simulator does:
 * up the tree, a Reducer reads whole packets, one flit per cycle, one packet at
 * a time; down the tree, routers forward the flits of a packet as they arrive.
 * The other packets follow at the rate of PCIe or of the busiest Reducer.  In a
 * reduction the host also waits for credits: it has 16 ReduceIds on each tree,
 * and learns which are free after 128 results over all trees, or 4096 cycles.
 *
 * Channels and the FIFO of a root are not modelled as limits: on an idle fabric
 * they are never slower than PCIe.
 *
 * Times are in picoseconds.
 */
#include <errno.h>
#include <stdlib.h>

#include "ang_rules.h"
#include "fab.h"
#include "values.h"

#define NS		1000ULL
#define CYCLE		(1000000ULL / ANG_VALUE_CLOCK)
#define CYCLES(n)	((n) * CYCLE)
#define MAX_BYTES	(1U << 30)

static_assert(ANG_VALUE_LINK_RATE >= ANG_VALUE_HOST_RATE,
	      "PCIe limits a broadcast before channels do");
static_assert(ANGARA_FLIT_BYTES * 8 * ANG_VALUE_CLOCK >= ANG_VALUE_HOST_RATE * 1000,
	      "PCIe limits a broadcast before the root's FIFO does");

/**
 * struct time_op - an operation
 * @plan: plan
 * @trees: trees that share its packets
 * @op: ANGARA_OP_BCAST or ANGARA_OP_ALLREDUCE
 * @packets: packets
 * @flits: flits of the first packet
 * @queue: routers of a tree, parents first
 * @at: time at which the first packet is at each router
 * @tail: time at which the last flit of that packet is at each router
 * @reads: packets that each router's Reducer reads
 */
struct time_op {
	const struct angara_plan *plan;
	u32 trees;
	u32 op;
	u32 packets;
	u32 flits;
	u32 *queue;
	u64 *at;
	u64 *tail;
	u32 *reads;
};

static u64 time_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static u64 time_align(u64 t)
{
	return (t + CYCLE - 1) / CYCLE * CYCLE;
}

static u64 time_link(u32 flits)
{
	return flits * ANGARA_FLIT_BYTES * 8 * NS / ANG_VALUE_LINK_RATE;
}

static u64 time_host(u32 flits)
{
	return (flits * ANGARA_FLIT_BYTES + ANG_VALUE_HOST_HEADER) * 8 * NS /
	       ANG_VALUE_HOST_RATE;
}

/* Latency of the cable between two routers. */
static u64 time_cable(const struct ang_topo *t, u32 a, u32 b)
{
	return (ang_topo_is_switch(t, a) || ang_topo_is_switch(t, b) ?
		ANG_VALUE_SWITCH_LINK : ANG_VALUE_LINK) * NS;
}

static u64 time_router(const struct ang_topo *t, u32 router)
{
	return CYCLES(ang_topo_is_switch(t, router) ? ANG_VALUE_SWITCH :
						      ANG_VALUE_ROUTER);
}

/*
 * Time at which local participant @nth of a node has injected the first packet.
 */
static u64 time_inject(const struct time_op *o, u32 nth)
{
	u32 modules = o->plan->f->topo.modules;

	return ANG_VALUE_INJECT * NS +
	       (nth / (modules ? modules : 1) + 1) * time_host(o->flits);
}

/* Lists the routers of a tree in @o->queue, parents first.  Return: number of routers. */
static u32 time_walk(const struct time_op *o, const struct angara_tree_row *rows,
		     u32 root)
{
	const struct ang_topo *t = &o->plan->f->topo;
	u32 head, tail = 1;

	o->queue[0] = root;
	for (head = 0; head < tail; head++) {
		u32 at = o->queue[head];
		u64 set;

		for (set = rows[at].ports; set; set &= set - 1)
			o->queue[tail++] = ang_topo_peer(t, at, ang_lowest(set), NULL);
	}
	return tail;
}

static void time_sort(u64 *times, u32 n)
{
	u32 i, k;

	for (i = 1; i < n; i++)
		for (k = i; k && times[k - 1] > times[k]; k--) {
			u64 later = times[k - 1];

			times[k - 1] = times[k];
			times[k] = later;
		}
}

/*
 * Return: time at which a router's Reducer has the result of the first packet.
 */
static u64 time_reduce(const struct time_op *o, const struct angara_tree_row *row,
		       u32 router)
{
	const struct ang_topo *t = &o->plan->f->topo;
	u64 come[ANGARA_MAX_LOCAL + ANGARA_MAX_PORTS];
	u64 now = 0;
	u32 n = 0, i;
	u64 set;

	for (; n < row->pe; n++)
		come[n] = time_inject(o, n);
	for (set = row->ports; set; set &= set - 1) {
		u32 child = ang_topo_peer(t, router, ang_lowest(set), NULL);

		come[n++] = o->at[child] + time_link(o->flits) +
			    time_cable(t, router, child);
	}
	time_sort(come, n);
	for (i = 0; i < n; i++)
		now = time_max(now, come[i]) + CYCLES(o->flits);
	return time_align(now + CYCLES(ANG_VALUE_REDUCER));
}

/*
 * Follows the first packet down from the root, for which @o->at and @o->tail
 * are set.
 */
static u64 time_down(const struct time_op *o, const struct angara_tree_row *rows,
		     u32 count)
{
	const struct ang_topo *t = &o->plan->f->topo;
	u64 last = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		u32 at = o->queue[i];
		u64 sent = time_max(o->at[at] + time_link(o->flits), o->tail[at]);
		u64 set;

		for (set = rows[at].ports; set; set &= set - 1) {
			u32 to = ang_topo_peer(t, at, ang_lowest(set), NULL);
			u64 cable = time_cable(t, at, to);

			o->tail[to] = sent + cable;
			o->at[to] = time_align(o->at[at] + cable) +
				    time_router(t, to);
		}
		if (rows[at].pe)
			last = time_max(last, time_max(o->at[at] +
						       time_host(o->flits),
						       o->tail[at]));
	}
	return last + ANG_VALUE_EJECT * NS;
}

/*
 * Return: the node that broadcasts: the root of the first tree if it has
 * participants, else the first node that has some.  Nodes with participants are
 * in every tree; another root may be in the first tree only.
 */
static u32 time_source(const struct time_op *o, const struct angara_tree_row *rows)
{
	u32 at = o->plan->roots[0];

	if (rows[at].pe)
		return at;
	for (at = 0; !rows[at].pe; at++)
		;
	return at;
}

/*
 * Time until the first packet of a broadcast is at all participants.  A source
 * other than the root sends the packet up to the root first.
 */
static u64 time_bcast(const struct time_op *o, const struct angara_tree_row *rows,
		      u32 root, u32 count)
{
	const struct ang_topo *t = &o->plan->f->topo;
	u64 now = time_align(ANG_VALUE_INJECT * NS) + CYCLES(ANG_VALUE_PEGROUP);
	u64 tail = time_inject(o, 0);
	u32 at = time_source(o, rows);

	while (at != root) {
		u32 up = ang_topo_peer(t, at, rows[at].to_root, NULL);
		u64 cable = time_cable(t, at, up);

		tail = time_max(now + time_link(o->flits), tail) + cable;
		now = time_align(now + cable) + time_router(t, up);
		at = up;
		if (at == root)
			now += CYCLES(ANG_VALUE_PEGROUP);
	}
	o->at[root] = now;
	o->tail[root] = time_max(now + CYCLES(o->flits), tail);
	return time_down(o, rows, count);
}

static u64 time_allreduce(const struct time_op *o,
			  const struct angara_tree_row *rows, u32 root, u32 count)
{
	u32 i;

	for (i = count; i-- > 0;)
		o->at[o->queue[i]] = time_reduce(o, &rows[o->queue[i]],
						 o->queue[i]);
	o->tail[root] = o->at[root] + CYCLES(o->flits);
	o->at[root] += CYCLES(ANG_VALUE_PEGROUP);
	return time_down(o, rows, count);
}

/* Adds the packets of a tree to the packets that each Reducer reads. */
static void time_add(struct time_op *o, const struct angara_tree_row *rows,
		     u32 count, u32 share)
{
	u32 i;

	for (i = 0; i < count; i++) {
		const struct angara_tree_row *row = &rows[o->queue[i]];

		o->reads[o->queue[i]] += share * (row->pe + row->port_sum);
	}
}

/*
 * Return: the time that PCIe needs for all packets, or that the busiest Reducer
 * needs for its packets, whichever is longer.
 */
static u64 time_busiest(const struct time_op *o, const struct angara_tree_row *rows,
			u32 flits)
{
	const struct ang_topo *t = &o->plan->f->topo;
	u32 modules = t->modules ? t->modules : 1;
	u64 most = (u64)o->packets * time_host(flits);
	u32 i;

	for (i = 0; i < t->routers; i++) {
		u32 turns = (rows[i].pe + modules - 1) / modules;

		if (o->op != ANGARA_OP_ALLREDUCE)
			continue;
		most = time_max(most, (u64)o->packets * turns * time_host(flits));
		most = time_max(most, o->reads[i] * CYCLES((u64)flits));
	}
	return most;
}

/*
 * Time of all packets after the first one, with @gap for each.  Reductions also
 * wait for credits.
 */
static u64 time_rest(const struct time_op *o, u64 gap)
{
	u32 each = (o->packets + o->trees - 1) / o->trees;
	u32 window = ANGARA_MAX_REDUCES * o->trees;
	u64 rest = (o->packets - 1) * gap;
	/*
	 * Delay until the credit packet reaches the host and the host's next
	 * packet reaches the Reducer.
	 */
	u64 news = ANG_VALUE_EJECT * NS +
		   time_host(ang_flits_of(1, ANG_DEF_TREES * sizeof(u64))) +
		   time_inject(o, 0) + CYCLES(o->flits) +
		   CYCLES(ANG_VALUE_REDUCER);
	u32 rounds;
	u64 held;

	if (o->op != ANGARA_OP_ALLREDUCE || each <= ANGARA_MAX_REDUCES)
		return rest;
	if (window < ANG_VALUE_CREDIT_RESULTS) {
		rounds = (each - 1) / ANGARA_MAX_REDUCES;
		held = rounds * (CYCLES((u64)ANG_VALUE_CREDIT_CYCLES) + news) +
		       (o->packets - rounds * window - 1) * gap;
		return time_max(held, rest);
	}
	rounds = (o->packets - window + ANG_VALUE_CREDIT_RESULTS - 1) /
		 ANG_VALUE_CREDIT_RESULTS;
	held = (window - ANG_VALUE_CREDIT_RESULTS) * gap;
	return rest + (held < news ? rounds * (news - held) : 0);
}

static int time_init(struct time_op *o, const struct angara_plan *plan)
{
	size_t routers = plan->f->topo.routers;

	o->plan = plan;
	o->at = calloc(routers, 2 * sizeof(u64) + 2 * sizeof(u32));
	if (!o->at)
		return -ENOMEM;
	o->tail = o->at + routers;
	o->queue = (u32 *)(o->tail + routers);
	o->reads = o->queue + routers;
	return 0;
}

ANG_PUBLIC uint64_t angara_plan_time(const struct angara_plan *plan, uint32_t trees,
				     unsigned int op, uint64_t bytes)
{
	struct time_op o = { .trees = trees, .op = op };
	u64 first = 0, gap;
	u32 i;

	if (!trees || trees > plan->trees || bytes > MAX_BYTES ||
	    (op != ANGARA_OP_BCAST && op != ANGARA_OP_ALLREDUCE) ||
	    time_init(&o, plan))
		return 0;
	o.packets = ang_packets((u32)bytes);
	o.flits = ang_flits_of(1, bytes < ANG_VALUE_PACKET ? (u32)bytes :
							      ANG_VALUE_PACKET);
	for (i = 0; i < trees && i < o.packets; i++) {
		const struct angara_tree_row *rows = angara_plan_rows(plan, i);
		u32 root = plan->roots[i];
		u32 count = time_walk(&o, rows, root);

		first = time_max(first, op == ANGARA_OP_BCAST ?
				 time_bcast(&o, rows, root, count) :
				 time_allreduce(&o, rows, root, count));
		time_add(&o, rows, count, (o.packets - i + trees - 1) / trees);
	}
	/* The mean time of a packet; rounding makes it up to 1 ps too short. */
	gap = time_busiest(&o, plan->rows, o.flits) / o.packets;
	first += time_rest(&o, gap);
	free(o.at);
	return first;
}

ANG_PUBLIC uint32_t angara_plan_stripes(const struct angara_plan *plan,
					unsigned int op, uint64_t bytes)
{
	u64 time[ANGARA_MAX_TREES];
	u64 least = 0;
	u32 i;

	for (i = 0; i < plan->trees; i++) {
		time[i] = angara_plan_time(plan, i + 1, op, bytes);
		if (!time[i])
			return 0;
		if (!least || time[i] < least)
			least = time[i];
	}
	for (i = 0; time[i] > least + least / 100; i++)
		;
	return i + 1;
}
