// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random scenarios: random tori or a given fabric, parameters, trees with
 * transit nodes, and messages, broadcasts and reductions at the same time.  All
 * packets must arrive with the right values, and no scenario may deadlock.
 */
#include "args.h"
#include "cmd.h"

/**
 * struct mix - a scenario
 * @msgs: messages of each node
 * @bytes: largest size of a message
 * @trees: trees
 * @bcasts: broadcasts of each participant over each of its trees
 * @packets: packets of the reduction on each tree
 * @reduce: node that gets the result of each tree's reduction, ANG_NONE for an allreduce
 * @sum: result of each tree's first packet
 * @members: number of nodes that take part in each tree
 */
struct mix {
	u32 msgs;
	u32 bytes;
	u32 trees;
	u32 bcasts;
	u32 packets[ANG_DEF_TREES];
	u32 reduce[ANG_DEF_TREES];
	u64 sum[ANG_DEF_TREES];
	u32 members[ANG_DEF_TREES];
};

static u64 draw(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1DULL;
}

static u32 below(u64 *state, u32 n)
{
	return (u32)((draw(state) >> 32) * n >> 32);
}

static u64 value_of(u32 src, u32 tree)
{
	return (src + 1) * 0x9E3779B97F4A7C15ULL + tree;
}

static void start_tree(struct sim_part *p, u32 node, u32 tree)
{
	struct sim *s = p->sim;
	const struct mix *m = s->arg;
	const struct angara_tree_row *row = sim_row(s, node, tree);
	struct sim_op op = { .dst = ANG_NONE, .tree = (u8)tree };
	u32 i;

	if (!row->pe)
		return;
	for (i = 0; i < m->bcasts; i++) {
		op.type = ANG_PKT_BCAST;
		op.left = m->bytes;
		op.value = value_of(s->base + node, tree);
		sim_send(p, node, &op);
	}
	if (!m->packets[tree])
		return;
	op.type = ANG_PKT_ALLREDUCE;
	op.dst = m->reduce[tree];
	if (op.dst != ANG_NONE)
		op.type = ANG_PKT_REDUCE;
	op.left = m->packets[tree] * (u32)s->cfg.packet;
	op.value = s->base + node + 1;
	op.many = 1;
	for (i = 0; i < row->pe; i++)
		sim_send(p, node, &op);
}

static void start(struct sim_part *p, u32 node)
{
	struct sim *s = p->sim;
	const struct mix *m = s->arg;
	u64 *rng = &s->nic[node].rng;
	u32 i;

	for (i = 0; i < m->msgs; i++) {
		struct sim_op op = {
			.type = i % 4 ? ANG_PKT_PUT : ANG_PKT_GET,
			.dst = below(rng, s->topo.nodes),
			.left = below(rng, m->bytes + 1),
		};

		sim_send(p, node, &op);
	}
	for (i = 0; i < m->trees; i++)
		start_tree(p, node, i);
}

/* Checks target and value of a packet: source and tree give a broadcast's value, sums are known. */
static void eject(struct sim_part *p, u32 node, const struct sim_pkt *k, u64 time)
{
	const struct mix *m = p->sim->arg;
	bool wrong = false;

	(void)time;
	if (k->dst != ANG_NONE && k->dst != p->sim->base + node)
		wrong = true;
	if (k->type == ANG_PKT_BCAST)
		wrong |= k->value != value_of(k->src, k->tree);
	else if (k->type == ANG_PKT_ALLREDUCE || k->type == ANG_PKT_RESULT)
		wrong |= k->value != m->sum[k->tree];
	p->acc.wrong += wrong;
	p->acc.done++;
}

static const struct sim_work work = {
	.name = "stress",
	.start = start,
	.eject = eject,
	.acks = true,
};

static void random_cfg(struct sim_cfg *c, u64 *rng)
{
	u32 d;

	sim_cfg_default(c);
	memset(&c->torus, 0, sizeof(c->torus));
	c->torus.ndims = 1 + below(rng, ANG_MAX_DIMS);
	for (d = 0; d < c->torus.ndims; d++)
		c->torus.dims[d] = (u16)(1 + below(rng, c->torus.ndims > 2 ? 4 : 7));
	c->buffer = 4 + below(rng, 15);
	c->vc = below(rng, 2);
	c->reduce = below(rng, 2);
	c->routing = below(rng, 2);
	c->acks = below(rng, 2);
	c->packet = 16U << below(rng, 5);
	c->link_latency = 2000 + below(rng, 200000);
	c->inject = below(rng, 400000);
	c->eject = below(rng, 400000);
	c->overhead = below(rng, 2) * 100000;
	c->router = below(rng, 5);
	c->pegroup = below(rng, 20);
	c->reducer = below(rng, 10);
	c->seed = draw(rng);
}

/*
 * Sets random parameters, but keeps the fabric and the faults that the command
 * line gives.
 */
static void scenario_cfg(struct env *e, const struct sim_cfg *given, u64 *rng)
{
	random_cfg(&e->cfg, rng);
	e->cfg.loss = given->loss;
	e->cfg.corrupt = given->corrupt;
	e->cfg.fault_delay = given->fault_delay;
	if (!given->fabric)
		return;
	e->cfg.fabric = given->fabric;
	memcpy(e->cfg.text, given->text, sizeof(e->cfg.text));
	e->cfg.modules = given->modules;
	e->cfg.switch_cycles = below(rng, 5);
	e->cfg.switch_latency = 2000 + below(rng, 200000);
	e->cfg.switch_buffer = 4 + below(rng, 15);
}

/* Adds a tree with a random root and random participants. */
static int random_tree(struct sim *s, struct mix *m, u32 tree, u64 *rng)
{
	u32 n = s->topo.nodes, percent = 20 + below(rng, 81), i;
	u16 *pe = sim_zalloc(n, sizeof(*pe));
	u32 sure = below(rng, n);
	int err;

	m->packets[tree] = below(rng, 40);
	m->reduce[tree] = below(rng, 3) ? ANG_NONE : sure;
	for (i = 0; i < n; i++) {
		if (i == sure || below(rng, 100) < percent)
			pe[i] = (u16)(1 + (below(rng, 8) ? 0 : below(rng, 3)));
		m->sum[tree] += (u64)pe[i] * (i + 1);
		m->members[tree] += pe[i] > 0;
	}
	err = sim_add_tree(s, tree, below(rng, n), pe);
	free(pe);
	return err;
}

static u64 packets_of(u64 len, u64 size)
{
	return len ? (len + size - 1) / size : 1;
}

/*
 * Counts the packets to expect: draws the same message lengths as the nodes
 * will draw.
 */
static u64 expected(const struct sim *s, const struct mix *m, const u64 *seeds)
{
	u64 sum = 0, size = s->cfg.packet;
	u32 i, j;

	for (i = 0; i < s->topo.nodes; i++) {
		u64 rng = seeds[i];

		for (j = 0; j < m->msgs; j++) {
			u64 n;

			below(&rng, s->topo.nodes);
			n = packets_of(below(&rng, m->bytes + 1), size);
			/* A message arrives as a request and its answer. */
			sum += j % 4 && !s->cfg.acks ? n : 2 * n;
		}
	}
	for (i = 0; i < m->trees; i++) {
		sum += (u64)m->members[i] * m->members[i] * m->bcasts *
		       packets_of(m->bytes, size);
		sum += m->packets[i] *
		       (u64)(m->reduce[i] == ANG_NONE ? m->members[i] : 1);
	}
	return sum;
}

static int scenario(struct env *e, const struct sim_cfg *given, u64 seed,
		    struct result *r)
{
	u64 rng = (seed + 1) * 0x9E3779B97F4A7C15ULL;
	struct mix m = { 0 };
	u64 *seeds;
	struct sim s;
	u32 i;

	for (i = 0; i < 8; i++)
		draw(&rng);
	scenario_cfg(e, given, &rng);
	e->runs = 0;
	memset(r, 0, sizeof(*r));
	/* Skip tori with fewer nodes than processes. */
	if (sim_cfg_nodes(&e->cfg) < e->comm.size)
		return 0;
	work_begin(e, &s);
	m.msgs = below(&rng, 12);
	m.bytes = below(&rng, 3000);
	m.trees = below(&rng, ANG_DEF_TREES + 1);
	m.bcasts = below(&rng, 3);
	for (i = 0; i < m.trees; i++)
		if (random_tree(&s, &m, i, &rng))
			return -1;
	if (m.trees)
		sim_need_reducers(&s);
	/* Seeds of all nodes; each process computes the same seeds. */
	seeds = sim_zalloc(s.topo.nodes, sizeof(*seeds));
	for (i = 0; i < s.topo.nodes; i++)
		seeds[i] = sim_seed(&s.cfg, i);
	s.work = &work;
	s.arg = &m;
	s.expect = expected(&s, &m, seeds);
	free(seeds);
	return work_end(e, &s, r);
}

static const struct sim_opt opts[] = {
	{ "count", SIM_T_NUMBER, "100", "scenarios", 1 },
	{ "first", SIM_T_NUMBER, "0", "number of the first scenario" },
	{ NULL },
};

static int stress_cmd(struct env *e)
{
	u64 count = arg_number("count"), first = arg_number("first"), i;
	u64 packets = 0, events = 0;
	const struct sim_cfg given = e->cfg;
	struct out *o;

	if (first + count < first)
		bad_usage("--first '%s': not a number from 0 to %llu, for --count '%s'",
			  arg_text("first"), (unsigned long long)(UINT64_MAX - count), arg_text("count"));
	for (i = first; i < first + count; i++) {
		struct result r;

		if (scenario(e, &given, i, &r)) {
			fprintf(stderr, "angara-sim: scenario %llu failed; repeat it with --first %llu --count 1\n",
				(unsigned long long)i, (unsigned long long)i);
			return SIM_FAILED;
		}
		packets += r.acc.ejected;
		events += r.acc.events;
	}
	o = out_new("Stress", "scenarios,packets,events");
	out_cell(o, "%llu", (unsigned long long)count);
	out_cell(o, "%llu", (unsigned long long)packets);
	out_cell(o, "%llu", (unsigned long long)events);
	if (!e->comm.rank)
		out_end(o);
	return SIM_OK;
}

const struct cmd cmd_stress = {
	"stress", "random scenarios; all packets have to arrive", opts,
	stress_cmd,
};
