// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command gather: allgather and allreduce by each algorithm.
 */
#include "cmd.h"

static const struct sim_opt opts[] = {
	{ "op", SIM_T_TEXT, "allgather", "allgather or allreduce" },
	{ "algo", SIM_T_TEXT, "trees,doubling",
	  "trees (allgather only), doubling, ring, bruck (allgather only)" },
	{ "bytes", SIM_T_BYTES, "4KiB", "bytes of each node" },
	{ "trees", SIM_T_NUMBER, "16", "for broadcasts" },
	{ "stripe", SIM_T_FLAG, NULL, "split each node's bytes over all trees" },
	{ "reverse", SIM_T_FLAG, NULL,
	  "neighbouring ranks are along the last dimension, not X" },
	{ "sizes", SIM_T_TEXT, NULL, "several tori, separated by commas" },
	{ NULL },
};

static const char * const ops[] = { "allgather", "allreduce", NULL };

static void row(struct env *e, struct out *o, const char *algo,
		const struct gather *g, const struct result *r)
{
	char buf[32];

	out_cell(o, "%s", sim_cfg_name(&e->cfg, buf, sizeof(buf)));
	out_cell(o, "%llu", (unsigned long long)r->nodes);
	out_cell(o, "%s", algo);
	out_cell(o, "%u", g->bytes);
	out_cell(o, "%.3f", (double)r->time * 1e-6);
	out_cell(o, "%llu", (unsigned long long)r->acc.ejected);
	out_cell(o, "%llu", (unsigned long long)r->acc.sent);
	out_cell(o, "%llu", (unsigned long long)r->acc.events);
	out_cell(o, "%.3f", r->wall);
}

static int size(struct env *e, struct out *o)
{
	bool reduce = arg_choice("op", arg_text("op"), ops);
	char algos[64], *rest = algos, *algo;

	snprintf(algos, sizeof(algos), "%s", arg_text("algo"));
	while ((algo = arg_list(&rest))) {
		struct gather g = {
			.algo = (u32)gather_algo(algo),
			.reduce = reduce,
			.bytes = (u32)arg_number("bytes"),
			.trees = (u32)arg_number("trees"),
			.stripe = arg_text("stripe"),
			.reverse = arg_text("reverse"),
		};
		struct result r;

		if (g.reverse)
			need_torus(e, "--reverse");
		if (gather_algo(algo) < 0)
			bad_usage("--algo '%s': not one of trees, doubling, ring, bruck",
				  algo);
		if (reduce && (g.algo == GATHER_TREES || g.algo == GATHER_BRUCK))
			bad_usage("--algo '%s': an allreduce by messages is doubling or ring; trees are 'coll --op allreduce'",
				  algo);
		if (gather_run(e, &g, &r))
			return SIM_FAILED;
		row(e, o, algo, &g, &r);
	}
	return SIM_OK;
}

static int run(struct env *e)
{
	return each_size(e, ops[arg_choice("op", arg_text("op"), ops)],
			 "torus,nodes,algorithm,bytes,us,ejected,links,events,seconds",
			 size);
}

const struct cmd cmd_gather = {
	"gather", "time of allgather and allreduce algorithms", opts, run,
};
