// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands: collectives, traffic, parameters.
 */
#include <errno.h>
#include "cmd.h"
#include "origin.h"

u32 arg_choice(const char *option, const char *text, const char *const *list)
{
	char all[256] = "";
	u32 i;

	for (i = 0; list[i]; i++) {
		if (!strcmp(list[i], text))
			return i;
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			 i ? ", " : "", list[i]);
	}
	bad_usage("--%s '%s': not one of %s", option, text, all);
}

/** cfg_torus() - set the torus, from a list of the command line */
static void cfg_torus(struct env *e, const char *text)
{
	char err[256];

	if (sim_cfg_set(&e->cfg, "torus", text, err, sizeof(err)))
		bad_usage("--%s", err);
}

void need_torus(const struct env *e, const char *what)
{
	if (e->cfg.fabric)
		bad_usage("%s: needs a --torus, not the --fabric %s", what,
			  e->cfg.text);
}

/**
 * each_size() - run a command that prints a table on each torus of --sizes
 * @e: environment
 * @title: title of the table
 * @columns: columns of the table
 * @size: runs the command on the current fabric
 *
 * Return: SIM_OK or the first other status of @size.
 */
int each_size(struct env *e, const char *title, const char *columns,
	      int (*size)(struct env *e, struct out *o))
{
	const char *sizes = arg_text("sizes");
	char *copy = sizes ? strdup(sizes) : NULL, *rest = copy, *torus;
	int status = SIM_OK;
	struct out *o;

	o = out_new(title, columns);
	if (!sizes)
		status = size(e, o);
	while (status == SIM_OK && (torus = arg_list(&rest))) {
		cfg_torus(e, torus);
		status = size(e, o);
	}
	free(copy);
	if (!e->comm.rank && status == SIM_OK)
		out_end(o);
	return status;
}

static const struct sim_opt coll_opts[] = {
	{ "op", SIM_T_TEXT, "bcast", "bcast, reduce, allreduce or barrier" },
	{ "mode", SIM_T_TEXT, NULL,
	  "offload: to the network; p2p: messages along the tree (both, if there are no switches)" },
	{ "bytes", SIM_T_BYTES, "256", "size of the message, or of a contribution" },
	{ "trees", SIM_T_NUMBER, "1", "number of trees that share the packets",
	  1, ANG_DEF_TREES },
	{ "root", SIM_T_NUMBER, "0", "root of the first tree" },
	{ "roots", SIM_T_TEXT, "same",
	  "roots of the other trees: the same, or spread over the torus" },
	{ "source", SIM_T_NUMBER, NULL,
	  "source of a broadcast, or receiver of a reduce (default: root)" },
	{ "block", SIM_T_TEXT, NULL,
	  "sizes of the block of participating nodes, from node 0 on" },
	{ "children", SIM_T_TEXT, "deepest",
	  "subtree that gets messages first: deepest or shallowest" },
	{ "sizes", SIM_T_TEXT, NULL, "several tori, separated by commas" },
	{ NULL },
};

static const char * const coll_modes[] = { "offload", "p2p", NULL };
static const char * const coll_roots[] = { "same", "spread", NULL };
static const char * const coll_children[] = { "deepest", "shallowest", NULL };
static const char * const coll_names[] = {
	"bcast", "reduce", "allreduce", "barrier", NULL,
};

static void coll_row(struct env *e, struct out *o, const struct coll *c,
		     const char *op, const struct result *r)
{
	char buf[32];

	out_cell(o, "%s", sim_cfg_name(&e->cfg, buf, sizeof(buf)));
	out_cell(o, "%llu", (unsigned long long)r->nodes);
	out_cell(o, "%s", op);
	out_cell(o, "%s", coll_modes[c->mode]);
	out_cell(o, "%u", c->bytes);
	out_cell(o, "%.3f", (double)r->time * 1e-6);
	out_cell(o, "%llu", (unsigned long long)r->acc.sent);
	out_cell(o, "%llu", (unsigned long long)r->acc.events);
	out_cell(o, "%.3f", r->spent.wall);
	out_cell(o, "%.3f", r->balance);
}

u32 need_node(const struct env *e, const char *option)
{
	u64 node = arg_number(option);
	u32 nodes = sim_cfg_nodes(&e->cfg);

	if (node >= nodes)
		bad_usage("--%s '%s': not a node from 0 to %u", option,
			  arg_text(option), nodes - 1);
	return (u32)node;
}

bool coll_shallowest(void)
{
	return arg_choice("children", arg_text("children"), coll_children);
}

/* Read the roots of the trees, and the participants. */
static void coll_lay(struct env *e, struct coll *c)
{
	const struct angara_topo *t = &e->cfg.torus;
	const char *block = arg_text("block");
	u16 at[ANG_MAX_DIMS];
	bool fits = true;
	u32 d;

	c->root = need_node(e, "root");
	c->source = arg_text("source") ? need_node(e, "source") : c->root;
	c->trees = (u32)arg_number("trees");
	c->spread = arg_choice("roots", arg_text("roots"), coll_roots);
	c->shallowest = coll_shallowest();
	if (!block)
		return;
	need_torus(e, "--block");
	if (angara_topo_parse(block, &c->block) || c->block.ndims != t->ndims)
		fits = false;
	angara_topo_coord(t, c->source, at);
	for (d = 0; d < t->ndims && fits; d++) {
		fits = c->block.dims[d] <= t->dims[d];
		if (fits && at[d] >= c->block.dims[d])
			bad_usage("--source '%u': outside of the block",
				  c->source);
	}
	if (!fits)
		bad_usage("--block '%s': not sizes that fit the torus", block);
}

static bool has_switches(const struct sim_cfg *cfg)
{
	return cfg->fabric && angara_fabric_routers(cfg->fabric) >
			      angara_fabric_nodes(cfg->fabric);
}

static int coll_size(struct env *e, struct out *o)
{
	static const u32 types[] = {
		ANG_PKT_BCAST, ANG_PKT_REDUCE, ANG_PKT_ALLREDUCE,
		ANG_PKT_ALLREDUCE,
	};
	const char *op = arg_text("op");
	u32 number = arg_choice("op", op, coll_names);
	char modes[64], *rest = modes, *mode;
	const char *text = arg_text("mode");

	if (!text)
		text = has_switches(&e->cfg) ? "offload" : "offload,p2p";
	snprintf(modes, sizeof(modes), "%s", text);
	while ((mode = arg_list(&rest))) {
		struct coll c = {
			.type = types[number],
			.mode = arg_choice("mode", mode, coll_modes),
			.bytes = number == 3 ? 0 : (u32)arg_number("bytes"),
		};
		struct result r;

		coll_lay(e, &c);
		if (coll_run(e, &c, &r))
			return SIM_FAILED;
		coll_row(e, o, &c, op, &r);
	}
	return SIM_OK;
}

static int coll_cmd(struct env *e)
{
	return each_size(e, "Collectives",
			 "torus,nodes,op,mode,bytes,us,packets,events,seconds,balance",
			 coll_size);
}

const struct cmd cmd_coll = {
	"coll", "time of collective operations", coll_opts, coll_cmd,
};

static const struct sim_opt traffic_opts[] = {
	{ "pattern", SIM_T_TEXT, "uniform",
	  "uniform, transpose, hotspot, neighbor, reverse, matrix, grid or alltoall" },
	{ "load", SIM_T_TEXT, "0.05,0.1,0.2,0.3,0.4,0.5",
	  "flits per cycle and computing module, separated by commas" },
	{ "bytes", SIM_T_BYTES, "256", "payload, at most one packet" },
	{ "brief", SIM_T_NUMBER, "0",
	  "percentage of packets with 16 bytes of payload at most", 0, 100 },
	{ "hot", SIM_T_NUMBER, "10", "percentage of packets to the hot spot", 0, 100 },
	{ "warmup", SIM_T_TIME, "5us", "not measured" },
	{ "time", SIM_T_TIME, "20us", "measured", 1 },
	{ NULL },
};

static void traffic_row(struct env *e, struct out *o, const struct traffic *c,
			const struct result *r)
{
	double cycles = (double)(c->end - c->warmup) / (double)e->cfg.clock;

	out_cell(o, "%g", c->load);
	out_cell(o, "%.4f", (double)r->acc.meas_flits / cycles /
			    (double)r->ranks);
	/*
	 * Far above saturation, packets that are generated in the window arrive
	 * after it, and none is measured.
	 */
	if (r->acc.lat_n) {
		out_cell(o, "%.1f", (double)r->acc.lat_sum /
				    (double)r->acc.lat_n * 1e-3);
		out_cell(o, "%.1f", (double)r->acc.lat_max * 1e-3);
	} else {
		out_cell(o, "-");
		out_cell(o, "-");
	}
	out_cell(o, "%.2f", (double)r->acc.hops / (double)r->acc.ejected);
	out_cell(o, "%llu", (unsigned long long)r->acc.ejected);
	out_cell(o, "%llu", (unsigned long long)r->acc.events);
	out_cell(o, "%.3f", r->spent.wall);
	out_cell(o, "%.3f", r->spent.cpu);
	out_cell(o, "%.2f", (double)r->nodes * (double)r->time /
			    (double)e->cfg.clock / r->spent.cpu * 1e-6);
	/*
	 * acc.hops includes hops of acknowledgements, which are shorter than packets: the number of
	 * links crossed by flits is unknown.
	 */
	if (e->cfg.acks)
		out_cell(o, "-");
	else
		out_cell(o, "%.2f", (double)r->acc.hops * traffic_flits(c) /
				    r->spent.cpu * 1e-6);
	/* Only the flit engine counts busy routers. */
	if (r->busy > 0)
		out_cell(o, "%.1f", 100 * r->busy);
	else
		out_cell(o, "-");
}

void need_pattern(const struct env *e, const char *pattern)
{
	if (pattern_find(pattern) < 0)
		bad_usage("--pattern '%s': not one of uniform, transpose, hotspot, neighbor, reverse, matrix, grid, alltoall",
			  pattern);
	if (sim_cfg_nodes(&e->cfg) * sim_cfg_modules(&e->cfg) < 2)
		bad_usage("--torus: traffic needs two nodes or more");
	need_one_packet(e);
}

void need_one_packet(const struct env *e)
{
	if (arg_number("bytes") > e->cfg.packet)
		bad_usage("--bytes '%s': not a number of bytes from 0 to %llu, the longest packet (--packet)",
			  arg_text("bytes"), (unsigned long long)e->cfg.packet);
}

double need_load(const char *text)
{
	char *end;
	double load = strtod(text, &end);

	if (*end || !(load > 0 && load < 100))
		bad_usage("--load '%s': not a number above 0 and below 100", text);
	return load;
}

static int no_packets(const char *load)
{
	fprintf(stderr, "angara-sim: --load %s: no packet is measured in %s; more --time or --load is needed\n",
		load, arg_text("time"));
	return SIM_FAILED;
}

static int traffic_cmd(struct env *e)
{
	const char *pattern = arg_text("pattern");
	struct traffic c = { .pattern = (u32)pattern_find(pattern) };
	char *copy = strdup(arg_text("load")), *rest = copy, *item;
	struct out *o;

	need_pattern(e, pattern);
	c.brief = (u32)arg_number("brief");
	c.bytes = (u32)arg_number("bytes");
	c.hot = (u32)arg_number("hot");
	c.warmup = arg_number("warmup");
	c.end = c.warmup + arg_number("time");
	c.stop = c.end;
	o = out_new(pattern, "load,accepted,latency ns,longest ns,hops,packets,events,seconds,processor s,Mcycles/s,Mflit-hops/s,busy routers %");
	while ((item = arg_list(&rest))) {
		struct result r;

		c.load = need_load(item);
		if (traffic_run(e, &c, &r))
			return SIM_FAILED;
		if (!r.acc.meas_flits)
			return no_packets(item);
		traffic_row(e, o, &c, &r);
	}
	free(copy);
	if (!e->comm.rank)
		out_end(o);
	return SIM_OK;
}

const struct cmd cmd_traffic = {
	"traffic", "delay and throughput of random traffic", traffic_opts,
	traffic_cmd,
};

static const struct sim_opt params_opts[] = {
	{ "origins", SIM_T_FLAG, NULL,
	  "print a table of the origins of defaults instead: given, fitted, chosen or free" },
	{ NULL },
};

/* Return: default of an option or parameter, as text in @buf or as a constant. */
static const char *origin_default(const struct sim_origin *o, char *buf,
				  size_t len)
{
	static const struct cmd * const cmds[] = {
		&cmd_coll, &cmd_spmv, &cmd_heat,
	};
	const struct sim_param *p = sim_params;
	const struct sim_opt *opt;
	u32 i;

	if (o->rule)
		return o->rule;
	if (!o->command) {
		while (strcmp(p->name, o->name))
			p++;
		return sim_param_default(p, buf, len);
	}
	for (i = 0; strcmp(cmds[i]->name, o->command); i++)
		;
	for (opt = cmds[i]->opts; strcmp(opt->name, o->name); opt++)
		;
	return opt->value;
}

static int origins(void)
{
	struct out *out = out_new("Where defaults come from",
				  "command,parameter,default,origin,range,basis");
	const struct sim_origin *o;
	char buf[32];

	for (o = sim_origins; o->name; o++) {
		out_cell(out, "%s", o->command ? o->command : "");
		out_cell(out, "%s", o->name);
		out_cell(out, "%s", origin_default(o, buf, sizeof(buf)));
		out_cell(out, "%s", o->kind);
		out_cell(out, "%s", o->range ? o->range : "");
		out_cell(out, "%s", o->basis);
	}
	out_end(out);
	return SIM_OK;
}

static int params_cmd(struct env *e)
{
	const struct sim_param *p;
	FILE *to;

	if (arg_text("origins"))
		return origins();
	if (strcmp(arg_text("format"), "table"))
		bad_usage("--format '%s': params prints only the format of --config; use --origins for a table",
			  arg_text("format"));
	to = out_open();
	fprintf(to, "# Parameters; --config reads this format.\n");
	for (p = sim_params; p->name; p++) {
		const struct sim_origin *o = sim_origin(NULL, p->name);
		char buf[32];
		const char *value = sim_param_default(p, buf, sizeof(buf));

		fprintf(to, "# %-14s %s%s%s (%s%s%s)\n", p->name, sim_param_help(p),
			p->choices ? ": " : "", p->choices ? p->choices : "",
			value ? value : "none", o ? ", " : "",
			o ? o->kind : "");
	}
	sim_cfg_print(&e->cfg, to);
	out_close(to);
	return SIM_OK;
}

const struct cmd cmd_params = {
	"params", "list parameters and their values", params_opts, params_cmd,
	true,
};
