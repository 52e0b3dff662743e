// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allgather and allreduce by messages between hosts: recursive doubling, ring,
 * Bruck (document 004; the ring of document 003), and allgather by broadcasts
 * of all nodes over trees whose roots are spread over the fabric.
 *
 * A rank starts its next step when it has received all data of this one;
 * packets that partners have sent ahead are counted already.
 */
#include <errno.h>
#include "work.h"

#define STEPS	24	/* of algorithms with log2(n) steps */

/**
 * struct rank - state of a node
 * @sum: of its values, see value()
 * @step: current step
 * @count: packets received, by step; a ring has one count
 * @ready: bit set of steps that are complete; for a ring their number
 */
struct rank {
	u64 sum;
	u32 step;
	u32 ready;
	u32 count[STEPS];
};

static const char * const names[] = {
	"trees", "doubling", "ring", "bruck", NULL,
};

/** gather_algo() - number of an algorithm, -1 if there is no such name */
int gather_algo(const char *name)
{
	int i;

	for (i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

/* Nodes are ranks, X fastest or X slowest. */
static u32 node_of(const struct sim *s, u32 rank)
{
	const struct gather *g = s->arg;
	u16 at[ANG_MAX_DIMS] = { 0 };
	u32 d;

	if (!g->reverse)
		return rank;
	for (d = s->topo.ndims; d-- > 0;) {
		at[d] = (u16)(rank % s->topo.dims[d]);
		rank /= s->topo.dims[d];
	}
	return ang_topo_node(&s->topo, at);
}

static u32 rank_of(const struct sim *s, u32 node)
{
	const struct gather *g = s->arg;
	u32 rank = 0, d;

	if (!g->reverse)
		return node;
	for (d = 0; d < s->topo.ndims; d++)
		rank = rank * s->topo.dims[d] + s->coord[node][d];
	return rank;
}

static u32 steps_of(const struct gather *g, u32 n)
{
	u32 steps = 0;

	if (g->algo == GATHER_RING)
		return g->reduce ? 2 * (n - 1) : n - 1;
	while (1U << steps < n)
		steps++;
	return steps;
}

/* Bytes that a rank sends in a step. */
static u32 step_bytes(const struct sim *s, u32 step)
{
	const struct gather *g = s->arg;
	u32 n = s->topo.nodes, have = 1U << step;

	if (g->algo == GATHER_RING)
		return g->reduce ? (g->bytes + n - 1) / n : g->bytes;
	if (g->reduce)
		return g->bytes;
	return g->bytes * (have < n - have ? have : n - have);
}

static u32 packets_of(const struct sim *s, u32 len)
{
	u32 size = (u32)s->cfg.packet;

	return len ? (len + size - 1) / size : 1;
}

static u32 partner(const struct sim *s, u32 rank, u32 step)
{
	const struct gather *g = s->arg;
	u32 n = s->topo.nodes;

	switch (g->algo) {
	case GATHER_RING:
		return (rank + 1) % n;
	case GATHER_BRUCK:
		return (rank + n - (1U << step)) % n;
	default:
		return rank ^ 1U << step;
	}
}

/*
 * Doubling sends the sum of all values of a rank; the sums are of disjoint sets
 * of ranks, so at the end a rank has the sum of all.  A ring passes on the last
 * block received.  Bruck's last message is partial: blocks are counted.
 */
static u64 value(struct sim *s, const struct rank *r, u32 rank, u32 step)
{
	const struct gather *g = s->arg;
	u32 n = s->topo.nodes;

	switch (g->algo) {
	case GATHER_RING:
		return (rank + n - step % n) % n + 1;
	case GATHER_BRUCK:
		return step_bytes(s, step) / (g->bytes ? g->bytes : 1);
	default:
		return r->sum;
	}
}

static void step_send(struct sim_part *p, u32 node)
{
	struct sim *s = p->sim;
	struct rank *r = sim_state(s, node);
	u32 rank = rank_of(s, s->base + node);
	struct sim_op op = {
		.type = ANG_PKT_PUT, .tag = r->step,
		.dst = node_of(s, partner(s, rank, r->step)),
		.left = step_bytes(s, r->step),
		.value = value(s, r, rank, r->step),
	};

	sim_send(p, node, &op);
}

static void start(struct sim_part *p, u32 node)
{
	struct sim *s = p->sim;
	const struct gather *g = s->arg;
	struct rank *r = sim_state(s, node);
	u32 i;

	if (g->algo == GATHER_TREES) {
		/* Blocks are split over all trees, or each uses one tree. */
		for (i = 0; i < (g->stripe ? g->trees : 1); i++) {
			u32 cut = g->stripe ? g->trees : 1;
			struct sim_op op = {
				.type = ANG_PKT_BCAST, .dst = ANG_NONE,
				.tree = (u8)(g->stripe ? i : (s->base + node) %
							     g->trees),
				.left = g->bytes / cut + (i < g->bytes % cut),
			};

			sim_send(p, node, &op);
		}
		return;
	}
	r->sum = g->algo == GATHER_BRUCK ? 1 :
		 rank_of(s, s->base + node) + 1;
	if (s->topo.nodes > 1)
		step_send(p, node);
}

/* The last packet of a step's message has arrived. */
static void step_received(struct sim_part *p, u32 node, const struct sim_pkt *k,
			  u64 time)
{
	struct rank *r = sim_state(p->sim, node);
	const struct gather *g = p->sim->arg;

	/* A ring that reduces goes round twice, and counts once. */
	if (g->algo != GATHER_DOUBLING && k->seq < p->sim->topo.nodes - 1)
		r->sum += k->value;
	sim_push(p, time, node, SIM_EV_HOST, 0,
		 g->algo == GATHER_DOUBLING ? (u32)k->value << 5 | k->seq :
					      k->seq);
}

static void eject(struct sim_part *p, u32 node, const struct sim_pkt *k, u64 time)
{
	struct sim *s = p->sim;
	const struct gather *g = s->arg;
	struct rank *r = sim_state(s, node);
	u32 *count = &r->count[g->algo == GATHER_RING ? 0 : k->seq];

	p->acc.done += k->npkts;
	if (g->algo == GATHER_TREES)
		return;
	*count += k->npkts;
	if (*count < packets_of(s, step_bytes(s, k->seq)))
		return;
	*count = 0;
	step_received(p, node, k, time);
}

static void host(struct sim_part *p, u32 node, u32 arg)
{
	struct sim *s = p->sim;
	const struct gather *g = s->arg;
	struct rank *r = sim_state(s, node);
	struct sim_nic *n = &s->nic[node];
	u32 steps = steps_of(g, s->topo.nodes);
	u64 all = s->topo.nodes;

	if (g->reduce)
		n->cpu_free = sim_max(n->cpu_free, p->now) + s->cfg.combine;
	if (g->algo == GATHER_RING) {
		r->ready++;
	} else {
		u32 step = g->algo == GATHER_DOUBLING ? arg & 31 : arg;

		if (g->algo == GATHER_DOUBLING)
			r->count[step] = arg >> 5;	/* its value */
		r->ready |= 1U << step;
	}
	while (r->step < steps && (g->algo == GATHER_RING ? r->ready > r->step :
				   r->ready >> r->step & 1)) {
		if (g->algo == GATHER_DOUBLING)
			r->sum += r->count[r->step];
		if (++r->step < steps)
			step_send(p, node);
	}
	if (r->step < steps)
		return;
	if (r->sum != (g->algo == GATHER_BRUCK ? all : all * (all + 1) / 2))
		p->acc.wrong++;
}

static const struct sim_work work = {
	.name = "gather",
	.start = start,
	.eject = eject,
	.host = host,
};

static u64 expected(struct sim *s)
{
	const struct gather *g = s->arg;
	u64 n = s->topo.nodes, sum = 0;
	u32 i;

	if (g->algo == GATHER_TREES) {
		u32 cut = g->stripe ? g->trees : 1;

		for (i = 0; i < cut; i++)
			sum += packets_of(s, g->bytes / cut +
					     (i < g->bytes % cut));
		return sum * n * n;
	}
	for (i = 0; i < steps_of(g, s->topo.nodes); i++)
		sum += packets_of(s, step_bytes(s, i));
	return sum * n;
}

/**
 * gather_run() - one allgather or allreduce on a new fabric
 * @e: environment
 * @g: operation
 * @r: out
 *
 * Return: 0, or a negative errno after printing a message.
 */
int gather_run(struct env *e, struct gather *g, struct result *r)
{
	u32 nodes = sim_cfg_nodes(&e->cfg);
	struct sim s;
	int err;

	if (g->algo == GATHER_DOUBLING && nodes & (nodes - 1)) {
		fprintf(stderr, "angara-sim: recursive doubling needs a power of two of nodes, not %u\n",
			nodes);
		return -EINVAL;
	}
	if ((u64)g->bytes * nodes > UINT32_MAX) {
		fprintf(stderr, "angara-sim: %u bytes from each of %u nodes exceed 4 GiB\n",
			g->bytes, nodes);
		return -EINVAL;
	}
	err = work_begin(e, &s);
	if (err)
		return err;
	s.work = &work;
	s.arg = g;
	sim_need_state(&s, sizeof(struct rank));
	if (g->algo == GATHER_TREES && work_trees(&s, g->trees, 0, true)) {
		sim_free(&s);
		return -EINVAL;
	}
	s.expect = expected(&s);
	return work_end(e, &s, r);
}
