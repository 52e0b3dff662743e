// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command flits: a torus of textbook routers (Dally & Towles, chapters 16 to 19),
 * moved flit by flit, cycle by cycle.
 *
 * The routers use dimension order, two virtual channels with a date line on each
 * ring, and wormhole flow control by credits.  They compute routes one hop ahead,
 * which takes no time.  Allocation of a virtual channel, allocation of the switch,
 * traversal of the switch, and the link take a cycle each.  A terminal draws a
 * random number each cycle to generate a packet. booksim2.csv has the results
 * of another simulator, BookSim 2, for the same networks.
 */
#include <errno.h>
#include <math.h>
#include "cmd.h"
#include "flit.h"

#define LOAD_LEAST	1e-6
#define LATENCY_MOST	1000	/* cycles; a longer delay means saturation, as in booksim2.csv */

#define CYCLES_MOST	100000000U

static const struct sim_opt flits_opts[] = {
	{ "pattern", SIM_T_TEXT, "uniform",
	  "uniform (with the node itself), transpose, neighbor or reverse" },
	{ "load", SIM_T_TEXT, "0.05,0.2,0.4", "flits per cycle and node" },
	{ "flits", SIM_T_NUMBER, "17", "length of a packet, 1 to 1000", 1, 1000 },
	{ "depth", SIM_T_NUMBER, "64", "flits of a virtual channel's buffer, 1 to 10000",
	  1, 10000 },
	{ "date-line", SIM_T_TEXT, "path",
	  "VC 1 on the whole 'path' along a ring that crosses the date line, or from the 'crossing' on" },
	{ "warmup", SIM_T_NUMBER, "10000", "cycles, not measured", 0, CYCLES_MOST },
	{ "cycles", SIM_T_NUMBER, "20000", "measured", 1, CYCLES_MOST },
	{ "check", SIM_T_FLAG, NULL, "compare flits and credits every 61 cycles" },
	{ NULL },
};

static void flits_row(struct out *o, const struct flit_net *n,
		      const struct span *spent)
{
	const struct sim_acc *a = n->acc;
	double cycles = (double)(n->c->end - n->c->warmup) / (double)n->rule.tick;
	double packets = (double)sim_max(a->lat_n, 1);
	double latency = (double)a->lat_sum / (double)n->rule.tick / packets;
	double accepted = (double)a->meas_flits / cycles / n->hosts;

	out_cell(o, "%g", n->c->load);
	out_cell(o, "%.4f", accepted);
	out_cell(o, "%.2f", latency);
	out_cell(o, "%.2f", (double)n->count.net_sum / packets);
	out_cell(o, "%.2f", 1 + (double)a->hops / (double)sim_max(a->ejected, 1));
	out_cell(o, "%llu", (unsigned long long)a->lat_n);
	out_cell(o, "%s", latency > LATENCY_MOST || accepted < 0.95 * n->c->load ?
			  "yes" : "no");
	out_cell(o, "%llu", (unsigned long long)n->now);
	out_cell(o, "%.3f", spent->wall);
	out_cell(o, "%.3f", spent->cpu);
	out_cell(o, "%.2f", (double)n->now * n->routers / spent->cpu * 1e-6);
	out_cell(o, "%.2f", (double)n->count.worked / spent->cpu * 1e-6);
	out_cell(o, "%.2f", (double)n->count.crossed / spent->cpu * 1e-6);
}

static int flits_one(struct env *e, struct out *o, struct traffic *c,
		     const struct flit_rule *rule)
{
	struct span start, spent;
	struct flit_net n;
	struct sim s;
	int err;

	work_begin(e, &s);
	err = flit_init(&n, &s, c, rule);
	if (!err) {
		start = work_now();
		flit_run(&n, arg_text("check"));
		spent = work_since(&start);
		if (!n.wrong && n.acc->posted != n.acc->fetched)
			n.wrong = "packets are lost or duplicated";
		if (n.wrong) {
			fprintf(stderr, "angara-sim: --load %g: %s\n", c->load,
				n.wrong);
			err = -EIO;
		} else if (!n.acc->lat_n) {
			fprintf(stderr, "angara-sim: --load %g: no packet is measured in %s cycles; more --cycles or --load is needed\n",
				c->load, arg_text("cycles"));
			err = -ENODATA;
		} else {
			flits_row(o, &n, &spent);
		}
	}
	flit_free(&n);
	sim_free(&s);
	return err;
}

static void flits_args(const struct env *e)
{
	static const char * const used[] = { "torus", "fabric", "modules", "seed", NULL };
	const char *pattern = arg_text("pattern"), *unused = args_unused(used);
	u32 d;

	need_torus(e, "flits");
	if (unused)
		bad_usage("--%s: the routers of 'flits' do not use it", unused);
	if (e->comm.size > 1)
		bad_usage("flits: cannot run in several processes");
	if (e->trace || e->heatmap || e->checkpoint || e->restore || e->routes || e->faults)
		bad_usage("flits: does not support --trace, --heatmap, --checkpoint, --restore, --routes, --faults");
	if (strcmp(pattern, "uniform") && strcmp(pattern, "transpose") &&
	    strcmp(pattern, "neighbor") && strcmp(pattern, "reverse"))
		bad_usage("--pattern '%s': not uniform, transpose, neighbor or reverse",
			  pattern);
	if (sim_cfg_modules(&e->cfg) > 1)
		bad_usage("--modules: nodes of 'flits' have one module");
	for (d = 0; d < e->cfg.torus.ndims; d++)
		if (e->cfg.torus.dims[d] > 1)
			return;
	bad_usage("--torus: 'flits' needs two nodes or more");
}

static int flits_cmd(struct env *e)
{
	static const char *const lines[] = { "path", "crossing", NULL };
	char *copy = strdup(arg_text("load")), *rest = copy, *item;
	struct flit_rule rule = {
		.tick = e->cfg.clock, .nvc = 2, .hvc = 2, .alloc = 1,
		.one_way = true, .date_line = true, .hosts = &flit_terminals,
	};
	struct traffic c = { .self = true };
	struct out *o;

	flits_args(e);
	c.pattern = (u32)pattern_find(arg_text("pattern"));
	c.flits = (u32)arg_number("flits");
	rule.longest = c.flits;
	rule.crossing = arg_choice("date-line", arg_text("date-line"), lines) == 1;
	rule.host_in = (u32)arg_number("depth");
	c.warmup = arg_number("warmup") * rule.tick;
	c.end = c.warmup + arg_number("cycles") * rule.tick;
	c.stop = c.end;
	e->threads = 1;
	e->cfg.routing = SIM_DETERMINISTIC;
	o = out_new("flits", "load,accepted,latency,in the network,routers,packets,saturated,cycles,seconds,processor s,Mrouter-cycles/s,Mbusy/s,Mflit-hops/s");
	while ((item = arg_list(&rest))) {
		c.load = need_load(item);
		if (c.load > 1 || c.load < LOAD_LEAST)
			bad_usage("--load '%s': not from %g to 1 flit per cycle", item,
				  LOAD_LEAST);
		if (flits_one(e, o, &c, &rule))
			return SIM_FAILED;
	}
	free(copy);
	out_end(o);
	return SIM_OK;
}

const struct cmd cmd_flits = {
	"flits", "a torus of textbook routers, flit by flit", flits_opts, flits_cmd,
};
