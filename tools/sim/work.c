// SPDX-License-Identifier: GPL-2.0-only
/*
 * Common parts of workloads: they make the fabric and its trees, run the
 * simulation, and check its end.
 */
#include <errno.h>
#include <math.h>
#include <time.h>
#include "args.h"
#include "work.h"

/** work_begin() - make the fabric, or exit if options or files are bad */
void work_begin(struct env *e, struct sim *s)
{
	u32 nodes = e->cfg.fabric ? angara_fabric_routers(e->cfg.fabric) :
				    sim_cfg_nodes(&e->cfg);
	u32 threads = e->threads;
	char why[128];

	if (e->runs++ && (e->trace || e->heatmap || e->checkpoint || e->restore))
		bad_usage("--trace, --heatmap, --checkpoint and --restore need a single simulation: one mode, one fabric, one load");
	/* There are at most as many partitions as nodes, so each has one. */
	while (threads > 1 && threads * e->comm.size > nodes)
		threads--;
	if (threads * e->comm.size > nodes)
		bad_usage("%u processes, but only %u nodes", e->comm.size, nodes);
	if (sim_init(s, &e->cfg, e->comm.rank * threads,
		     e->comm.size * threads, threads,
		     e->trees > ANG_DEF_TREES ? e->trees : ANG_DEF_TREES))
		bad_usage("the fabric is too large for adaptive routing; try --routing deterministic");
	if (e->routes && sim_routes_read(s, e->routes, why, sizeof(why)))
		bad_usage("--routes %s", why);
	if (sim_faults(s, e->faults, why, sizeof(why)))
		bad_usage("%s%s", e->faults ? "--faults " : "", why);
	if (e->trace && sim_trace_start(s, e->watch))
		bad_usage("--watch '%s': not nodes from 0 to %u, joined by commas",
			  e->watch, s->topo.nodes - 1);
}

/* Is a node in the block with sizes @block that starts at node 0? */
static bool in_block(const struct sim *s, u32 node,
		     const struct angara_topo *block)
{
	u32 d;

	for (d = 0; d < block->ndims; d++)
		if (s->coord[node][d] >= block->dims[d])
			return false;
	return true;
}

/** work_local() - count the participants of a node */
u32 work_local(const struct sim *s)
{
	return (u32)s->cfg.local * s->modules;
}

/**
 * work_trees_on() - add trees over a block of nodes
 * @s: simulation
 * @trees: number of trees, from TreeId 0 on
 * @first_root: root of the first tree
 * @spread: roots of the other trees are spread evenly, instead of being the
 *	root of the first tree
 * @block: sizes of the block, from node 0 on; no dimensions: all nodes
 *
 * Return: 0 or -EINVAL.
 */
int work_trees_on(struct sim *s, u32 trees, u32 first_root, bool spread,
		  const struct angara_topo *block)
{
	u16 *pe = sim_zalloc(s->topo.nodes, sizeof(*pe));
	u32 i, root;
	int err = 0;

	for (i = 0; i < s->topo.nodes; i++)
		pe[i] = in_block(s, i, block) ? (u16)work_local(s) : 0;
	for (i = 0; i < trees && !err; i++) {
		root = first_root;
		if (spread)
			root = (u32)((root + (u64)s->topo.nodes * i / trees) %
				     s->topo.nodes);
		err = sim_add_tree(s, i, root, pe);
	}
	free(pe);
	return err;
}

/** work_trees_planned() - add the first trees of a plan.  Return: 0 or -EINVAL. */
int work_trees_planned(struct sim *s, u32 trees, const struct angara_plan *plan)
{
	u32 i;

	for (i = 0; i < trees; i++) {
		struct angara_tree_row *rows = sim_zalloc(s->topo.routers,
							  sizeof(*rows));

		memcpy(rows, angara_plan_rows(plan, i),
		       s->topo.routers * sizeof(*rows));
		if (sim_set_rows(s, i, rows))
			return -EINVAL;
	}
	return 0;
}

/** work_trees() - as work_trees_on(), over all nodes */
int work_trees(struct sim *s, u32 trees, u32 first_root, bool spread)
{
	static const struct angara_topo all;

	return work_trees_on(s, trees, first_root, spread, &all);
}

static void totals(struct sim *s, struct sim_acc *sum, u64 *live, double *balance)
{
	u64 max[2] = { 0 };
	u32 i, j;

	memset(sum, 0, sizeof(*sum));
	*live = 0;
	for (i = 0; i < s->threads; i++) {
		const u64 *from = (const u64 *)&s->part[i].acc;
		u64 *to = (u64 *)sum;

		for (j = 0; j < sizeof(*sum) / sizeof(u64); j++)
			to[j] += from[j];
		max[0] = sim_max(max[0], s->part[i].acc.last);
		max[1] = sim_max(max[1], s->part[i].acc.lat_max);
		*live += s->part[i].pkt_live + s->part[i].op_live;
	}
	sim_comm_sum((u64 *)sum, sizeof(*sum) / sizeof(u64));
	sim_comm_sum(live, 1);
	sim_comm_max(max, 2);
	*balance = s->busiest ? (double)sum->events / s->nparts / (double)s->busiest : 1;
	sum->last = max[0];
	sum->lat_max = max[1];
}

static int write_files(struct env *e, struct sim *s)
{
	int err = e->trace ? sim_trace_write(s, e->trace) : 0;

	if (err) {
		fprintf(stderr, "angara-sim: --trace %s: %s\n", e->trace,
			strerror(-err));
		return err;
	}
	err = e->heatmap ? sim_heatmap_write(s, e->heatmap) : 0;
	if (err)
		fprintf(stderr, "angara-sim: --heatmap %s: %s\n", e->heatmap,
			strerror(-err));
	return err;
}

static void restore(struct env *e, struct sim *s)
{
	const char *wrong;

	s->what = e->what;
	s->checkpoint = e->checkpoint;
	s->restore = e->restore;
	s->every = e->every;
	s->stop_at = e->stop_at;
	if (!s->restore)
		return;
	wrong = sim_checkpoint_read(s, s->restore);
	if (!wrong)
		return;
	fprintf(stderr, "angara-sim: --restore %s: %s\n", s->restore, wrong);
	exit(2);
}

static bool is_complete(const struct sim *s, const struct result *r)
{
	return !r->lost && !r->acc.wrong && !r->acc.refused && r->acc.posted == r->acc.fetched &&
	       (!s->expect || r->acc.done == s->expect);
}

static void complain(struct sim *s, const struct result *r)
{
	if (r->acc.refused) {
		fprintf(stderr, "angara-sim: %llu operations failed: their routes cross links that are down; give other routes with --routes FILE\n",
			(unsigned long long)r->acc.refused);
		return;
	}
	fprintf(stderr, "angara-sim: %llu packets stuck, %llu wrong",
		(unsigned long long)r->lost, (unsigned long long)r->acc.wrong);
	if (s->expect)
		fprintf(stderr, ", %llu of %llu deliveries",
			(unsigned long long)r->acc.done,
			(unsigned long long)s->expect);
	if (r->lost)
		sim_deadlock(s);
	else if (r->acc.posted != r->acc.fetched)
		fprintf(stderr, ", some lost or delivered twice");
	fputc('\n', stderr);
}

/* Are all links of all trees up?  Prints a message if not. */
static bool trees_up(const struct env *e, const struct sim *s)
{
	u32 tree, i;

	for (tree = 0; s->down && tree < s->ntrees; tree++) {
		const struct angara_tree_row *rows = s->rows[tree];

		for (i = 0; rows && i < s->topo.routers; i++) {
			if (!(rows[i].ports & s->down[i]))
				continue;
			if (!e->comm.rank)
				fprintf(stderr, "angara-sim: tree %u needs port %u of router %u, whose link is down\n",
					tree, ang_lowest(rows[i].ports & s->down[i]),
					i);
			return false;
		}
	}
	return true;
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/** work_now() - read the clocks, whose zero is unspecified */
struct span work_now(void)
{
	return (struct span){
		seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID),
	};
}

/**
 * work_since() - get the time since @start, and the processor time of all
 * processes; each process has to call it
 */
struct span work_since(const struct span *start)
{
	struct span now = work_now();
	u64 ns = (u64)llround((now.cpu - start->cpu) * 1e9);

	sim_comm_sum(&ns, 1);
	return (struct span){ now.wall - start->wall, (double)ns * 1e-9 };
}

/**
 * work_end() - run, and check that all packets have arrived
 * @e: environment
 * @s: simulation, freed
 * @r: out
 *
 * Return: 0; -EIO after printing a message if packets were lost, stuck or
 * wrong.
 */
int work_end(struct env *e, struct sim *s, struct result *r)
{
	struct span start;
	int err;

	if (!trees_up(e, s)) {
		sim_free(s);
		return -EIO;
	}
	restore(e, s);
	start = work_now();
	sim_run(s);
	if (s->stopped) {
		if (!e->comm.rank)
			fprintf(stderr, "angara-sim: stopped; --restore %s continues\n",
				s->checkpoint);
		sim_free(s);
		sim_comm_end();
		exit(0);
	}
	memset(r, 0, sizeof(*r));
	r->spent = work_since(&start);
	totals(s, &r->acc, &r->lost, &r->balance);
	r->time = r->acc.last;
	r->nodes = s->topo.nodes;
	r->ranks = r->nodes * s->modules;
	if (!is_complete(s, r)) {
		if (!e->comm.rank)
			complain(s, r);
		sim_free(s);
		return -EIO;
	}
	err = write_files(e, s);
	sim_free(s);
	return err;
}
