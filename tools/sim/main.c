// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-sim: commands.
 */
#include <errno.h>
#include <unistd.h>
#include "args.h"
#include "cmd.h"

static const struct sim_opt common_opts[] = {
	{ "config", SIM_T_TEXT, NULL, "file of parameters" },
	{ "threads", SIM_T_NUMBER, "0", "threads; 0: one per processor" },
	{ "format", SIM_T_TEXT, "table", "table, csv or json" },
	{ "output", SIM_T_TEXT, NULL, "file for the output" },
	{ "trace", SIM_T_TEXT, NULL,
	  "file for a trace of packets: .vcd, .json (Perfetto) or text" },
	{ "watch", SIM_T_TEXT, NULL, "nodes in the trace, separated by commas" },
	{ "heatmap", SIM_T_TEXT, NULL, "file for the load of each link (CSV)" },
	{ "routes", SIM_T_TEXT, NULL,
	  "file of ways to take instead of the topology's: router, node, port" },
	{ "checkpoint", SIM_T_TEXT, NULL, "file that --restore continues from" },
	{ "every", SIM_T_TIME, "600s", "wall-clock time between checkpoints" },
	{ "stop-at", SIM_T_TIME, NULL, "simulated time: write a checkpoint and stop" },
	{ "restore", SIM_T_TEXT, NULL, "checkpoint to continue from" },
	{ "help", SIM_T_FLAG, NULL, "this" },
	{ NULL },
};

static const struct cmd * const cmds[] = {
	&cmd_coll, &cmd_gather, &cmd_stripe, &cmd_traffic, &cmd_curve,
	&cmd_capacity, &cmd_pairs, &cmd_spmv, &cmd_heat, &cmd_replay,
	&cmd_stress, &cmd_params, NULL,
};

static void usage(void)
{
	u32 i;

	printf("angara-sim COMMAND [--OPTION VALUE]...\n\nCommands:\n");
	for (i = 0; cmds[i]; i++)
		printf("  %-12s%s\n", cmds[i]->name, cmds[i]->help);
	printf("\nangara-sim COMMAND --help lists the options of a command;\n"
	       "angara-sim params the parameters, which all commands take as options.\n");
}

static void print_opts(const struct sim_opt *o)
{
	for (; o->name; o++)
		printf("  --%-14s %s%s%s%s\n", o->name, o->help,
		       o->value ? " (" : "", o->value ? o->value : "",
		       o->value ? ")" : "");
}

static int run(struct env *e, const struct cmd *c, int argc, char **argv)
{
	const char *format;

	args_read(argc, argv, &e->cfg, c->opts, common_opts);
	if (arg_text("help")) {
		printf("angara-sim %s: %s\n\n", c->name, c->help);
		print_opts(c->opts);
		print_opts(common_opts);
		printf("and all parameters of 'angara-sim params'\n");
		return SIM_OK;
	}
	format = arg_text("format");
	if (strcmp(format, "table") && strcmp(format, "csv") &&
	    strcmp(format, "json"))
		bad_usage("--format '%s': not table, csv or json", format);
	if (arg_number("threads") > 256)
		bad_usage("--threads '%s': not a number up to 256",
			  arg_text("threads"));
	e->threads = (u32)arg_number("threads");
	if (!e->threads)
		e->threads = e->comm.size > 1 ? 1 :
			     (u32)sysconf(_SC_NPROCESSORS_ONLN);
	e->trace = arg_text("trace");
	e->watch = arg_text("watch");
	e->heatmap = arg_text("heatmap");
	e->routes = arg_text("routes");
	e->what = args_what(c->name, c->opts, &e->cfg);
	e->checkpoint = arg_text("checkpoint");
	e->restore = arg_text("restore");
	e->every = arg_number("every") / 1000000000000ULL;
	e->stop_at = arg_text("stop-at") ? arg_number("stop-at") : 0;
	if (e->stop_at && !e->checkpoint)
		bad_usage("--stop-at needs a --checkpoint");
	if (e->trace && sim_trace_is_text(e->trace))
		need_torus(e, "--trace as text");
	if (e->trace && e->restore)
		bad_usage("--trace: a restored simulation has no start to trace");
	if (e->comm.size > 1 && (e->trace || e->heatmap))
		bad_usage("--trace, --heatmap: one process only");
	return c->run(e);
}

int main(int argc, char **argv)
{
	struct env e = { .threads = 1 };
	int i, status = -1;

	sim_comm_init(&e.comm, &argc, &argv);
	sim_cfg_default(&e.cfg);
	if (argc < 2)
		bad_usage("no command; try --help");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		usage();
		status = SIM_OK;
	}
	for (i = 0; cmds[i] && status < 0; i++)
		if (!strcmp(cmds[i]->name, argv[1]))
			status = run(&e, cmds[i], argc - 2, argv + 2);
	if (status < 0)
		bad_usage("unknown command '%s'; try --help", argv[1]);
	sim_comm_end();
	return status;
}
