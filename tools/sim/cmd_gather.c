// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command gather: every collective by each algorithm of the library, and an
 * allgather by broadcasts.
 */
#include "cmd.h"

static const struct sim_opt opts[] = {
	{ "op", SIM_T_TEXT, "allgather",
	  "barrier, bcast, reduce, allreduce, allgather, gather, scatter, alltoall, reduce_scatter, scan or exscan" },
	{ "algo", SIM_T_TEXT, NULL,
	  "trees (allgather only), auto, or those of 'angara-algo list', separated by commas" },
	{ "bytes", SIM_T_BYTES, "4KiB", "bytes of the vector, or of each node's block" },
	{ "root", SIM_T_NUMBER, "0", "of bcast, reduce, gather, scatter" },
	{ "dims", SIM_T_TEXT, NULL,
	  "ring: the torus of the algorithm, as 4x4; 'torus': that of the network" },
	{ "cut", SIM_T_BYTES, "0",
	  "ring with dimensions: bytes of a packet of the algorithm; 0: whole messages" },
	{ "moved", SIM_T_FLAG, NULL,
	  "allgather by doubling or Bruck: nodes take part under numbers that suit the torus" },
	{ "exchange", SIM_T_FLAG, NULL,
	  "with --moved: exchange blocks first, instead of reordering them at the end" },
	{ "trees", SIM_T_NUMBER, "16", "for broadcasts", 1, ANG_DEF_TREES },
	{ "stripe", SIM_T_FLAG, NULL, "split each node's bytes over all trees" },
	{ "ranks", SIM_T_TEXT, "first",
	  "dimension along which neighbouring ranks are: first or last" },
	{ "sizes", SIM_T_TEXT, NULL, "several tori, separated by commas" },
	{ NULL },
};

static const char * const ops[ANG_COLL_NUM + 1] = {
	[ANG_COLL_BARRIER] = "barrier", [ANG_COLL_BCAST] = "bcast",
	[ANG_COLL_REDUCE] = "reduce", [ANG_COLL_ALLREDUCE] = "allreduce",
	[ANG_COLL_ALLGATHER] = "allgather", [ANG_COLL_GATHER] = "gather",
	[ANG_COLL_SCATTER] = "scatter", [ANG_COLL_ALLTOALL] = "alltoall",
	[ANG_COLL_REDUCE_SCATTER] = "reduce_scatter", [ANG_COLL_SCAN] = "scan",
	[ANG_COLL_EXSCAN] = "exscan", NULL,
};

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
	out_cell(o, "%llu", (unsigned long long)r->acc.bytes);
	out_cell(o, "%llu", (unsigned long long)r->acc.events);
	out_cell(o, "%.3f", r->spent.wall);
}

static const char * const dimensions[] = { "first", "last", NULL };

bool gather_reverse(void)
{
	return arg_choice("ranks", arg_text("ranks"), dimensions);
}

static u32 op_of(void)
{
	return arg_choice("op", arg_text("op"), ops);
}

static void need_dims(const struct env *e, struct gather *g)
{
	const char *text = arg_text("dims");
	u32 nodes = sim_cfg_nodes(&e->cfg);

	if (!text)
		return;
	if (!strcmp(text, "torus")) {
		need_torus(e, "--dims torus");
		g->dims = e->cfg.torus;
	} else if (angara_topo_parse(text, &g->dims) ||
		   angara_topo_nodes(&g->dims) != nodes) {
		bad_usage("--dims '%s': not 1 to 4 sizes whose product is %u", text,
			  nodes);
	}
	if (g->algo != ANG_ALGO_RING ||
	    (g->coll != ANG_COLL_BCAST && g->coll != ANG_COLL_REDUCE &&
	     g->coll != ANG_COLL_ALLREDUCE))
		bad_usage("--dims: only with --op bcast, reduce or allreduce and --algo ring");
}

static void need_moved(const struct env *e, const struct gather *g)
{
	if (g->exchange && !g->moved)
		bad_usage("--exchange: only with --moved");
	if (!g->moved)
		return;
	need_torus(e, "--moved");
	if (g->bcasts || g->coll != ANG_COLL_ALLGATHER ||
	    (g->algo != ANG_ALGO_BRUCK && g->algo != ANG_ALGO_RECURSIVE_DOUBLING))
		bad_usage("--moved: only with --op allgather and --algo doubling or bruck");
}

static void need_valid(const struct env *e, const struct gather *g, const char *algo)
{
	const char *op = ops[g->coll];

	if (g->bcasts && g->coll != ANG_COLL_ALLGATHER)
		bad_usage("--algo trees: simulates an allgather, not %s; 'coll --op' has other collectives",
			  op);
	if (!gather_valid(g, 1))
		bad_usage("--algo '%s': the library has no %s of this name", algo, op);
	if (!g->bcasts && !g->bytes && g->coll != ANG_COLL_BARRIER)
		bad_usage("--bytes 0: there is nothing to send by '%s'", algo);
	if (gather_valid(g, sim_cfg_nodes(&e->cfg)))
		return;
	bad_usage("--algo '%s': the number of nodes must be a power of two, not %u",
		  algo, sim_cfg_nodes(&e->cfg));
}

static struct gather gather_of(const struct env *e, const char *algo)
{
	struct gather g = {
		.bcasts = !strcmp(algo, "trees"),
		.coll = (enum ang_coll)op_of(),
		.bytes = (u32)arg_number("bytes"),
		.cut = (u32)arg_number("cut"),
		.root = need_node(e, "root"),
		.moved = arg_text("moved"),
		.exchange = arg_text("exchange"),
		.trees = (u32)arg_number("trees"),
		.stripe = arg_text("stripe"),
		.reverse = gather_reverse(),
	};

	if (g.coll == ANG_COLL_BARRIER)
		g.bytes = 0;
	g.algo = g.bcasts ? ANG_ALGO_AUTO : gather_algo(algo);
	if (g.algo == ANG_ALGO_NUM)
		bad_usage("--algo '%s': neither trees nor an algorithm of 'angara-algo list'",
			  algo);
	if (g.reverse)
		need_torus(e, "--ranks last");
	need_moved(e, &g);
	need_valid(e, &g, algo);
	need_dims(e, &g);
	if (g.cut && !g.dims.ndims)
		bad_usage("--cut: only with --dims");
	return g;
}

static int size(struct env *e, struct out *o)
{
	const char *text = arg_text("algo");
	char *copy, *rest, *algo;
	int status = SIM_OK;

	if (!text)
		text = op_of() == ANG_COLL_ALLGATHER ? "trees,doubling" : "auto";
	copy = rest = strdup(text);
	while (status == SIM_OK && (algo = arg_list(&rest))) {
		struct gather g = gather_of(e, algo);
		struct result r;

		if (gather_run(e, &g, &r))
			status = SIM_FAILED;
		else
			row(e, o, algo, &g, &r);
	}
	free(copy);
	return status;
}

static int run(struct env *e)
{
	return each_size(e, ops[op_of()],
			 "torus,nodes,algorithm,bytes,us,ejected,links,delivered,events,seconds",
			 size);
}

const struct cmd cmd_gather = {
	"gather", "time of collectives by messages, by each algorithm", opts, run,
};
