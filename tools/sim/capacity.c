// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capacity: upper bounds of the load that a fabric accepts with a pattern,
 * computed from its routes without a simulation (Dally & Towles, Principles and
 * Practices of Interconnection Networks, chapter 3).
 *
 * The load of a channel is the number of flits that it carries if each module
 * sends one.  With deterministic routing, a fabric accepts at most the rate of
 * a link divided by the load of the most loaded channel.  With any routing, it
 * accepts at most what all channels together carry, divided by the cables that
 * flits cross on shortest paths.  Hosts send and receive at most at the rate of
 * PCIe.
 */
#include <math.h>
#include "args.h"
#include "cmd.h"

/**
 * struct bounds - results for a pattern
 * @ranks: modules that send
 * @hops: cables that a flit crosses on the routes
 * @least: cables that a flit crosses on shortest paths
 * @most: load of the most loaded channel
 * @takes: greatest load of the channels into a host, per module
 */
struct bounds {
	u32 ranks;
	double hops;
	double least;
	double most;
	double takes;
};

static u32 walk(struct sim *s, u32 from, u32 to, double flits, double *load)
{
	u32 hops = 0;

	for (; from != to; hops++) {
		u32 port = sim_route(s, from, to);

		load[(size_t)from * s->nports + port] += flits;
		from = sim_end(s, from, port)->router;
	}
	return hops;
}

static u32 distance(struct sim *s, u32 from, u32 to)
{
	u32 hops = 0;

	for (; from != to; hops++)
		from = sim_end(s, from, ang_lowest(sim_shortest(s, from, to)))->router;
	return hops;
}

static void bounds_find(struct sim *s, u32 pattern, struct bounds *b)
{
	u32 n = s->topo.nodes * s->modules, rank, i;
	bool near = s->cfg.routing == SIM_ADAPTIVE;
	double *load = sim_zalloc((size_t)s->nodes * s->nports, sizeof(*load));
	double *in = sim_zalloc(s->topo.nodes, sizeof(*in));
	u32 *list = sim_zalloc(n + 6, sizeof(*list));

	for (rank = 0; rank < n; rank++) {
		u32 count = pattern_targets(s, pattern, rank, list);
		u32 from = rank / s->modules;

		b->ranks += count > 0;
		for (i = 0; i < count; i++) {
			u32 to = list[i] / s->modules;

			b->hops += walk(s, from, to, 1.0 / count, load) / (double)count;
			if (near)
				b->least += distance(s, from, to) / (double)count;
			in[to] += 1.0 / count / s->modules;
		}
	}
	for (i = 0; i < s->nodes * s->nports; i++)
		b->most = fmax(b->most, load[i]);
	for (i = 0; i < s->topo.nodes; i++)
		b->takes = fmax(b->takes, in[i]);
	free(load);
	free(in);
	free(list);
}

static u32 channels(const struct sim *s)
{
	u32 count = 0, i;

	for (i = 0; i < s->nodes * s->nports; i++)
		count += s->end[i].router != ANG_NONE;
	return count;
}

static void optional(struct out *o, bool known, double value)
{
	if (known)
		out_cell(o, "%.4f", value);
	else
		out_cell(o, "-");
}

static void capacity_row(struct env *e, struct out *o, struct sim *s,
			 const char *pattern)
{
	struct bounds b = { 0 };
	u32 flits = ang_flits_of(1, (u32)arg_number("bytes"));
	double link = (double)e->cfg.clock / (double)s->link_ps[1];
	double host = flits * (double)e->cfg.clock /
		      (double)sim_host_time(s, flits);
	bool near = e->cfg.routing == SIM_ADAPTIVE;
	double ranks;
	char buf[32];

	bounds_find(s, (u32)pattern_find(pattern), &b);
	ranks = b.ranks ? b.ranks : 1;
	out_cell(o, "%s", sim_cfg_name(&e->cfg, buf, sizeof(buf)));
	out_cell(o, "%s", pattern);
	out_cell(o, "%u", s->topo.nodes * s->modules);
	out_cell(o, "%.4f", b.hops / ranks);
	optional(o, near, b.least / ranks);
	out_cell(o, "%u", channels(s));
	out_cell(o, "%.4f", b.most);
	optional(o, b.most > 0, b.most > 0 ? link / b.most : 0);
	optional(o, near && b.least > 0,
		 b.least > 0 ? link * channels(s) / b.least : 0);
	out_cell(o, "%.4f", fmin(link, fmin(host, host / fmax(b.takes, 1e-9))));
}

static int capacity_cmd(struct env *e)
{
	char *copy = strdup(arg_text("pattern")), *rest = copy, *pattern;
	struct out *o = out_new("Capacity, flits per cycle and module",
				"fabric,pattern,modules,hops,shortest,channels,load,routes,distances,host");
	struct sim s;

	if (e->comm.size > 1)
		bad_usage("capacity: cannot run in several processes");
	e->threads = 1;
	work_begin(e, &s);
	if (s.down)
		bad_usage("capacity: does not support --faults with links that are down");
	while ((pattern = arg_list(&rest))) {
		need_pattern(e, pattern);
		if (!strcmp(pattern, "hotspot"))
			bad_usage("--pattern 'hotspot': capacity does not compute it; the command 'traffic' measures it");
		capacity_row(e, o, &s, pattern);
	}
	sim_free(&s);
	free(copy);
	out_end(o);
	return SIM_OK;
}

static const struct sim_opt capacity_opts[] = {
	{ "pattern", SIM_T_TEXT, "uniform,matrix,grid,alltoall",
	  "patterns as of 'traffic', separated by commas" },
	{ "bytes", SIM_T_BYTES, "256", "payload of a packet" },
	{ NULL },
};

const struct cmd cmd_capacity = {
	"capacity", "bounds of the load that a fabric accepts", capacity_opts,
	capacity_cmd, true,
};
