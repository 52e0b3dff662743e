// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command stripe: simulates broadcasts and allreduces whose packets are spread over
 * planned trees.  It prints the simulated times, the times that the plan expects, and
 * the speedup over one tree.
 */
#include <errno.h>
#include "cmd.h"

static const struct sim_opt opts[] = {
	{ "op", SIM_T_TEXT, "bcast,allreduce", "bcast, allreduce, or both" },
	{ "bytes", SIM_T_TEXT, "64KiB", "lengths, separated by commas" },
	{ "trees", SIM_T_TEXT, "1,2,4,8,16",
	  "numbers of trees, in ascending order, separated by commas" },
	{ "root", SIM_T_NUMBER, NULL,
	  "root of all trees (default: the best for each)" },
	{ "goal", SIM_T_TEXT, "load",
	  "what the plan minimises first: depth or load" },
	{ NULL },
};

static const char * const goals[] = { "depth", "load", NULL };
static const char * const ops[] = { "bcast", "allreduce", NULL };

/*
 * Opens the fabric that the parameters name; for a small torus they hold only
 * its sizes.
 */
static struct angara_fabric *stripe_fabric(const struct sim_cfg *cfg)
{
	struct angara_fabric *f;
	char name[32], text[SIM_TEXT];

	snprintf(text, sizeof(text), "%s%s", cfg->fabric ? "" : "torus:",
		 sim_cfg_name(cfg, name, sizeof(name)));
	if (angara_fabric_open(text, &f, NULL, 0)) {
		fprintf(stderr, "angara-sim: no memory for %s\n", text);
		exit(SIM_FAILED);
	}
	return f;
}

static u32 stripe_trees(const char *text)
{
	uint64_t value;
	char why[128];

	if (sim_value(SIM_T_NUMBER, text, 1, ANG_DEF_TREES, &value, why, sizeof(why)))
		bad_usage("--trees '%s': %s", text, why);
	return (u32)value;
}

static u32 stripe_bytes(const char *text)
{
	uint64_t value;
	char why[128];

	if (sim_value(SIM_T_BYTES, text, 0, SIM_BYTES_MOST, &value, why, sizeof(why)))
		bad_usage("--bytes '%s': %s", text, why);
	return (u32)value;
}

static struct angara_plan *stripe_plan(struct env *e,
				       const struct angara_fabric *f)
{
	struct angara_plan_attr attr = {
		.size = sizeof(attr), .root = ANGARA_PLAN_ROOT_ANY,
		.goal = arg_choice("goal", arg_text("goal"), goals),
	};
	u32 nodes = angara_fabric_nodes(f), local, i;
	char *copy = strdup(arg_text("trees")), *rest = copy, *item;
	u16 *pe = sim_zalloc(nodes, sizeof(*pe));
	struct angara_plan *plan;

	while ((item = arg_list(&rest))) {
		if (stripe_trees(item) <= attr.trees)
			bad_usage("--trees '%s': not in ascending order",
				  arg_text("trees"));
		attr.trees = stripe_trees(item);
	}
	free(copy);
	if (arg_text("root"))
		attr.root = need_node(e, "root");
	local = (u32)e->cfg.local * sim_cfg_modules(&e->cfg);
	for (i = 0; i < nodes; i++)
		pe[i] = (u16)local;
	if (angara_plan_open(f, pe, &attr, &plan)) {
		fprintf(stderr, "angara-sim: no memory for a plan\n");
		exit(SIM_FAILED);
	}
	free(pe);
	return plan;
}

static void stripe_row(struct env *e, struct out *o, const struct coll *c,
		       const char *op, const struct result *r, u64 one)
{
	u64 expected = angara_plan_time(c->plan, c->trees,
					c->type == ANG_PKT_BCAST ?
					ANGARA_OP_BCAST : ANGARA_OP_ALLREDUCE,
					c->bytes);
	char buf[32];

	out_cell(o, "%s", sim_cfg_name(&e->cfg, buf, sizeof(buf)));
	out_cell(o, "%llu", (unsigned long long)r->nodes);
	out_cell(o, "%s", op);
	out_cell(o, "%u", c->bytes);
	out_cell(o, "%u", c->trees);
	out_cell(o, "%.3f", (double)r->time * 1e-6);
	out_cell(o, "%.3f", (double)expected * 1e-6);
	out_cell(o, "%.2f", (double)one / (double)r->time);
}

/* Simulates one operation of one length over each number of trees. */
static int stripe_length(struct env *e, struct out *o,
			 const struct angara_plan *plan, const char *op, u32 bytes)
{
	char *copy = strdup(arg_text("trees")), *rest = copy, *item;
	u64 one = 0;

	while ((item = arg_list(&rest))) {
		struct coll c = {
			.type = arg_choice("op", op, ops) ? ANG_PKT_ALLREDUCE :
							    ANG_PKT_BCAST,
			.mode = WORK_OFFLOAD, .bytes = bytes, .plan = plan,
			.trees = stripe_trees(item),
			.source = angara_plan_root(plan, 0),
		};
		struct result r;

		if (coll_run(e, &c, &r))
			return SIM_FAILED;
		if (!one)
			one = r.time;
		stripe_row(e, o, &c, op, &r, one);
	}
	free(copy);
	return SIM_OK;
}

static int stripe_op(struct env *e, struct out *o, const struct angara_plan *plan,
		     const char *op)
{
	char *copy = strdup(arg_text("bytes")), *rest = copy, *item;
	int status = SIM_OK;

	while (status == SIM_OK && (item = arg_list(&rest)))
		status = stripe_length(e, o, plan, op, stripe_bytes(item));
	free(copy);
	return status;
}

static int stripe_cmd(struct env *e)
{
	struct angara_fabric *f = stripe_fabric(&e->cfg);
	struct angara_plan *plan = stripe_plan(e, f);
	char *copy = strdup(arg_text("op")), *rest = copy, *item;
	struct out *o = out_new("Stripes", "fabric,nodes,op,bytes,trees,us,expected us,gain");
	int status = SIM_OK;

	while (status == SIM_OK && (item = arg_list(&rest)))
		status = stripe_op(e, o, plan, item);
	free(copy);
	if (!e->comm.rank && status == SIM_OK)
		out_end(o);
	angara_plan_close(plan);
	angara_fabric_close(f);
	return status;
}

const struct cmd cmd_stripe = {
	"stripe", "operations spread over several planned trees", opts, stripe_cmd,
};
