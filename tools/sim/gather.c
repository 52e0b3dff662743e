// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives by messages between hosts, by the library's schedules
 * (libangara/algo); and an allgather by broadcasts of all nodes over trees whose
 * roots are spread over the fabric.
 *
 * A host begins a step when the steps that the schedule names have ended.  A
 * step that sends ends when its message is sent.  A step that receives ends
 * when it has begun and all its packets have arrived; packets may arrive before
 * the step begins.  Copying takes no time, combining takes the time --combine
 * per packet.
 */
#include <ctype.h>
#include <errno.h>
#include "algo/map.h"
#include "args.h"
#include "work.h"

#define STEP_ENDED	(1U << 31)
#define STEP_CAME	(1U << 30)	/* all packets of the step's message have arrived */
#define STEP_PACKETS	(STEP_CAME - 1)
#define STEPS_MOST	(1ULL << 26)	/* most steps in a process */

/**
 * struct progress - state of a node
 * @begun: the first @begun steps have begun
 * @prefix: the first @prefix steps have ended
 * @step: packets of each step, STEP_CAME, STEP_ENDED
 */
struct progress {
	u32 begun;
	u32 prefix;
	u32 step[];
};

/* Compares names without case; "-" stands for a space. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b) &&
		    !(*a == '-' && *b == ' '))
			return false;
	return *a == *b;
}

enum ang_algo gather_algo(const char *name)
{
	u32 i;

	if (!strcmp(name, "doubling"))
		return ANG_ALGO_RECURSIVE_DOUBLING;
	for (i = 0; i < ANG_ALGO_NUM; i++)
		if (same_name(name, ang_algo_name((enum ang_algo)i)))
			break;
	return (enum ang_algo)i;
}

static struct ang_coll_args args_of(const struct gather *g, u32 n)
{
	return (struct ang_coll_args){
		.coll = g->coll, .algo = g->algo, .size = n, .elem = 1,
		.count = g->bytes, .root = g->root, .dims = g->sizes,
		.ndims = g->dims.ndims, .packet = g->cut, .place = g->place,
		.rank_of = g->place ? g->place + n : NULL,
		.exchange = g->exchange,
	};
}

/** gather_valid() - check that the algorithm supports the number of nodes and the root */
bool gather_valid(const struct gather *g, u32 nodes)
{
	struct gather all = *g;
	struct ang_coll_args args;
	u32 d;

	for (d = 0; d < g->dims.ndims; d++)
		all.sizes[d] = g->dims.dims[d];
	all.root = g->root < nodes ? g->root : 0;
	args = args_of(&all, nodes);
	return g->bcasts ? g->coll == ANG_COLL_ALLGATHER : ang_algo_valid(&args);
}

/* Return: node of a rank; along the ranks, X changes fastest, or slowest with g->reverse. */
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

static u32 packets_of(const struct sim *s, size_t len)
{
	u32 size = (u32)s->cfg.packet;

	return len ? (u32)((len + size - 1) / size) : 1;
}

/* Return: identity of a message, which detects a message that arrives in place of another. */
static u64 value_of(u32 from, u32 to, u32 tag, size_t len)
{
	u64 value = ((u64)from << 32 | to) * 0x9E3779B97F4A7C15ULL;

	return (value ^ tag) * 0xBF58476D1CE4E5B9ULL + len;
}

static const struct ang_schedule *sched_of(const struct sim *s, u32 node)
{
	const struct gather *g = s->arg;

	return &g->sched[node];
}

static void step_send(struct sim_part *p, u32 node, const struct ang_step *step)
{
	struct sim *s = p->sim;
	u32 rank = rank_of(s, s->base + node);
	struct sim_op op = {
		.type = ANG_PKT_PUT, .tag = step->tag, .dst = node_of(s, step->peer),
		.left = (u32)step->len,
		.value = value_of(rank, step->peer, step->tag, step->len),
	};

	sim_send(p, node, &op);
}

/* Starts the operation of a step that begins. Return: has the step ended? */
static bool step_over(struct sim_part *p, u32 node, const struct ang_step *step, u32 state)
{
	struct sim_nic *n = &p->sim->nic[node];

	if (step->kind == ANG_STEP_RECV)
		return state & STEP_CAME;
	if (step->kind == ANG_STEP_SEND)
		step_send(p, node, step);
	else if (step->kind == ANG_STEP_COMBINE)
		n->cpu_free = sim_max(n->cpu_free, p->now) +
			      packets_of(p->sim, step->len) * p->sim->cfg.combine;
	return true;
}

/* Begins the steps that can begin. */
static void steps_go(struct sim_part *p, u32 node)
{
	const struct ang_schedule *sched = sched_of(p->sim, node);
	struct progress *r = sim_state(p->sim, node);

	while (r->begun < sched->n && sched->steps[r->begun].after <= r->prefix) {
		u32 i = r->begun++;

		if (step_over(p, node, &sched->steps[i], r->step[i]))
			r->step[i] |= STEP_ENDED;
		while (r->prefix < r->begun && r->step[r->prefix] & STEP_ENDED)
			r->prefix++;
	}
}

static void start(struct sim_part *p, u32 node)
{
	struct sim *s = p->sim;
	const struct gather *g = s->arg;
	u32 i;

	if (!g->bcasts) {
		steps_go(p, node);
		return;
	}
	/*
	 * With g->stripe a block is split over all trees, otherwise it uses one
	 * tree.
	 */
	for (i = 0; i < (g->stripe ? g->trees : 1); i++) {
		u32 cut = g->stripe ? g->trees : 1;
		struct sim_op op = {
			.type = ANG_PKT_BCAST, .dst = ANG_NONE,
			.tree = (u8)(g->stripe ? i : (s->base + node) % g->trees),
			.left = g->bytes / cut + (i < g->bytes % cut),
		};

		sim_send(p, node, &op);
	}
}

/*
 * Return: the step that receives a message.  The step has begun or begins soon, so the search is
 * short.
 */
static u32 step_find(const struct sim *s, u32 node, u32 peer, u32 tag)
{
	const struct ang_schedule *sched = sched_of(s, node);
	const struct progress *r = sim_state((struct sim *)s, node);
	u32 i;

	for (i = r->prefix; i < sched->n; i++) {
		const struct ang_step *step = &sched->steps[i];

		if (step->kind == ANG_STEP_RECV && step->peer == peer &&
		    step->tag == tag &&
		    (r->step[i] & STEP_PACKETS) < packets_of(s, step->len))
			return i;
	}
	return ANG_NONE;
}

static void eject(struct sim_part *p, u32 node, const struct sim_pkt *k, u64 time)
{
	struct sim *s = p->sim;
	const struct gather *g = s->arg;
	struct progress *r = sim_state(s, node);
	u32 from = rank_of(s, k->src), i;
	const struct ang_step *step;

	p->acc.done++;
	p->acc.bytes += k->bytes;
	if (g->bcasts)
		return;
	i = step_find(s, node, from, k->seq);
	step = i == ANG_NONE ? NULL : &sched_of(s, node)->steps[i];
	if (!step || k->value != value_of(from, rank_of(s, s->base + node), k->seq,
					  step->len)) {
		p->acc.wrong++;
		return;
	}
	r->step[i]++;
	if (r->step[i] == packets_of(s, step->len))
		sim_push(p, time, node, SIM_EV_HOST, 0, i);
}

/*
 * All packets of a message have arrived: if the step that receives it has
 * begun, the step ends.
 */
static void host(struct sim_part *p, u32 node, u32 i)
{
	struct progress *r = sim_state(p->sim, node);

	r->step[i] |= STEP_CAME;
	if (i >= r->begun)
		return;
	r->step[i] |= STEP_ENDED;
	while (r->prefix < r->begun && r->step[r->prefix] & STEP_ENDED)
		r->prefix++;
	steps_go(p, node);
}

static const struct sim_work work = {
	.name = "gather",
	.start = start,
	.eject = eject,
	.host = host,
};

static u64 trees_packets(const struct sim *s)
{
	const struct gather *g = s->arg;
	u64 n = s->topo.nodes, sum = 0;
	u32 cut = g->stripe ? g->trees : 1, i;

	for (i = 0; i < cut; i++)
		sum += packets_of(s, g->bytes / cut + (i < g->bytes % cut));
	return sum * n * n;
}

/* Makes the schedules of this process's nodes, and counts the packets of each step. */
static int make(struct sim *s, struct gather *g, u32 *most)
{
	struct ang_coll_args args = args_of(g, s->topo.nodes);
	struct ang_schedule sched;
	u64 steps = 0;
	u32 rank, i;

	for (rank = 0; rank < args.size; rank++) {
		u32 node = node_of(s, rank);

		args.rank = rank;
		if (ang_schedule_make(&args, &sched))
			return -ENOMEM;
		for (i = 0; i < sched.n; i++)
			if (sched.steps[i].kind == ANG_STEP_SEND) {
				s->expect += packets_of(s, sched.steps[i].len);
				g->sum += sched.steps[i].len;
			}
		*most = sched.n > *most ? sched.n : *most;
		if (node < s->base || node >= s->base + s->nodes) {
			ang_schedule_free(&sched);
			continue;
		}
		g->sched[node - s->base] = sched;
		steps += sched.n;
		if (steps > STEPS_MOST) {
			fprintf(stderr, "angara-sim: schedules of %u nodes have more than %llu steps\n",
				args.size, STEPS_MOST);
			return -EINVAL;
		}
	}
	return 0;
}

/*
 * Numbers the nodes: splits the graph of the algorithm over the last dimension
 * of the torus, then each part over the preceding dimension, and so on.
 */
static int renumber(struct sim *s, struct gather *g)
{
	u32 n = s->topo.nodes, levels = s->topo.ndims, rank, d;
	u32 *modules = sim_zalloc((size_t)n * levels, sizeof(*modules));
	struct ang_graph graph;
	int err;

	for (rank = 0; rank < n; rank++)
		for (d = 0; d < levels; d++)
			modules[rank * levels + d] =
				s->coord[node_of(s, rank)][levels - 1 - d];
	g->place = sim_zalloc(2 * (size_t)n, sizeof(*g->place));
	err = ang_graph_make(&graph, g->coll, g->algo, n);
	if (!err) {
		err = ang_map(&graph, modules, levels, g->place, g->place + n);
		ang_graph_free(&graph);
	}
	free(modules);
	if (err)
		fprintf(stderr, "angara-sim: --moved: cannot compute numbers for the nodes: %s\n", strerror(-err));
	return err;
}

static int prepare(struct sim *s, struct gather *g)
{
	u32 most = 0, d;
	int err = 0;

	g->sum = 0;
	if (g->bcasts) {
		s->expect = trees_packets(s);
		g->sum = (u64)g->bytes * s->topo.nodes * s->topo.nodes;
		sim_need_state(s, 0);
		return work_trees(s, g->trees, 0, true) ? -EINVAL : 0;
	}
	for (d = 0; d < g->dims.ndims; d++)
		g->sizes[d] = g->dims.dims[d];
	if (g->moved)
		err = renumber(s, g);
	if (!err)
		err = make(s, g, &most);
	if (!err)
		sim_need_state(s, (u32)(sizeof(struct progress) + most * sizeof(u32)));
	return err;
}

/* Have the hosts received all bytes that the schedules send? */
static int gather_check(const struct env *e, const struct gather *g,
			const struct result *r)
{
	if (r->acc.bytes == g->sum)
		return 0;
	if (!e->comm.rank)
		fprintf(stderr, "angara-sim: %llu bytes arrived, expected %llu\n",
			(unsigned long long)r->acc.bytes, (unsigned long long)g->sum);
	return -EIO;
}

/**
 * gather_run() - one collective on a new fabric
 * @e: environment
 * @g: operation, valid on its nodes
 * @r: out
 *
 * Return: 0, or a negative errno after printing a message.
 */
int gather_run(struct env *e, struct gather *g, struct result *r)
{
	u32 nodes = sim_cfg_nodes(&e->cfg), i, mine;
	struct sim s;
	int err;

	if ((u64)g->bytes * nodes > UINT32_MAX)
		bad_usage("%u bytes from each of %u nodes exceed 4 GiB", g->bytes,
			  nodes);
	work_begin(e, &s);
	s.work = &work;
	s.arg = g;
	mine = s.nodes;
	g->sched = sim_zalloc(mine, sizeof(*g->sched));
	err = prepare(&s, g);
	if (err)
		sim_free(&s);
	else
		err = work_end(e, &s, r);
	for (i = 0; i < mine; i++)
		ang_schedule_free(&g->sched[i]);
	free(g->sched);
	free(g->place);
	g->place = NULL;
	return err ? err : gather_check(e, g, r);
}
