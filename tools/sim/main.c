// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-sim: commands.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sys/stat.h>
#include <unistd.h>
#include "args.h"
#include "cmd.h"
#include "complain.h"

const char tool_name[] = "angara-sim";

#define OPT_ROUTES	7
#define OPT_FAULTS	8

static const struct sim_opt common_opts[] = {
	{ "config", SIM_T_FILE, NULL, "file of parameters" },
	{ "threads", SIM_T_NUMBER, "0", "threads; 0: one per processor", 0, 256 },
	{ "format", SIM_T_TEXT, "table", "table, csv or json" },
	{ "output", SIM_T_TEXT, NULL, "file for the output" },
	{ "trace", SIM_T_TEXT, NULL,
	  "file for a trace of packets: .vcd, .json (Perfetto) or text" },
	{ "watch", SIM_T_TEXT, NULL, "nodes in the trace, separated by commas" },
	{ "heatmap", SIM_T_TEXT, NULL, "file for the load of each link (CSV)" },
	[OPT_ROUTES] = { "routes", SIM_T_FILE, NULL,
	  "file of routes that replace the topology's: router, node, port" },
	[OPT_FAULTS] = { "faults", SIM_T_FILE, NULL,
	  "file of faults of links: router, port, loss, corrupt, delay; or router, port, down" },
	{ "checkpoint", SIM_T_TEXT, NULL, "file that --restore continues from" },
	{ "every", SIM_T_TIME, "600s", "wall-clock time between checkpoints" },
	{ "stop-at", SIM_T_TIME, NULL, "simulated time: write a checkpoint and stop", 1 },
	{ "restore", SIM_T_FILE, NULL, "checkpoint to continue from" },
	{ "help", SIM_T_FLAG, NULL, "this" },
	{ NULL },
};

static const struct cmd * const cmds[] = {
	&cmd_coll, &cmd_gather, &cmd_stripe, &cmd_traffic, &cmd_curve,
	&cmd_flits, &cmd_capacity, &cmd_pairs, &cmd_spmv, &cmd_heat, &cmd_replay,
	&cmd_stress, &cmd_params, NULL,
};

#define CMDS	(sizeof(cmds) / sizeof(*cmds))

/* Reads the options before the command.  Return: -1, or the exit status. */
static int first(int argc, char **argv)
{
	const struct sim_opt *opts[CMDS + 1] = { common_opts };
	struct opts_word words[CMDS] = { { 0 } };
	char what[2048] = "\nCommands:\n";
	u32 i;

	for (i = 0; cmds[i]; i++) {
		opts[i + 1] = cmds[i]->opts;
		words[i].name = cmds[i]->name;
		snprintf(what + strlen(what), sizeof(what) - strlen(what),
			 "  %-12s%s\n", cmds[i]->name, cmds[i]->help);
	}
	snprintf(what + strlen(what), sizeof(what) - strlen(what),
		 "\nangara-sim COMMAND --help lists the options of a command;\n"
		 "angara-sim params the parameters, which all commands take as options.");
	return args_first(argc, argv, what, words, opts);
}

static void print_opts(const struct sim_opt *o)
{
	for (; o->name; o++)
		printf("  --%-14s %s%s%s%s\n", o->name, o->help,
		       o->value ? " (" : "", o->value ? o->value : "",
		       o->value ? ")" : "");
}

/* Rejects options and parameters that the flit engine cannot simulate. */
static void flits_refuse(const struct env *e, const struct cmd *c)
{
	if (e->cfg.accuracy != SIM_BY_FLITS || c == &cmd_params || c == &cmd_flits)
		return;
	if (c != &cmd_traffic && c != &cmd_curve)
		bad_usage("--accuracy flit: 'traffic' and 'curve' support it, '%s' does not",
			  c->name);
	if (e->comm.size > 1)
		bad_usage("--accuracy flit: cannot run in several processes");
	if (e->trace || e->heatmap || e->checkpoint || e->restore)
		bad_usage("--accuracy flit: does not support --trace, --heatmap, --checkpoint, --restore");
	if (e->cfg.acks)
		bad_usage("--accuracy flit: does not support --acks");
	if (e->cfg.loss || e->cfg.corrupt || e->cfg.fault_delay || e->faults)
		bad_usage("--accuracy flit: does not support --loss, --corrupt, --fault-delay, --faults");
	if (e->cfg.copies != SIM_LINKS_FIRST)
		bad_usage("--accuracy flit: does not support --copies at-once");
	if (e->cfg.vc != SIM_CUT_THROUGH)
		bad_usage("--accuracy flit: does not support --vc store-and-forward");
}

/* Rejects parameters that the command would ignore. */
static void unused_refuse(const struct env *e, const struct cmd *c)
{
	if ((c == &cmd_traffic || c == &cmd_curve) && e->cfg.overhead)
		bad_usage("--overhead: %s sends packets at a given rate, not messages of hosts",
			  c->name);
}

/* Rejects options that the command would ignore. */
static void needless_refuse(const struct cmd *c)
{
	static const char * const of_runs[] = {
		"trace", "watch", "heatmap", "checkpoint", "stop-at", "restore",
	};
	u32 i;

	for (i = 0; c->idle && i < sizeof(of_runs) / sizeof(*of_runs); i++)
		if (arg_text(of_runs[i]))
			bad_usage("--%s: %s runs no simulation", of_runs[i], c->name);
	if (c == &cmd_params && (arg_text("routes") || arg_text("faults")))
		bad_usage("--routes, --faults: params does not use them");
	if (arg_text("watch") && !arg_text("trace"))
		bad_usage("--watch needs a --trace");
	if (arg_text("stop-at") && !arg_text("checkpoint"))
		bad_usage("--stop-at needs a --checkpoint");
}

/*
 * Exits if a file of an option cannot be written: the user learns of it before the simulation.
 * Pipes and devices are not opened, as their readers would see the end of the output.
 */
static void need_writable(const char *option)
{
	const char *path = arg_text(option);
	struct stat st;
	bool there;
	int fd;

	if (!path)
		return;
	there = !stat(path, &st);
	if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		bad_usage("--%s %s: %s", option, path, strerror(errno));
	close(fd);
	if (!there)
		unlink(path);
}

static int run(struct env *e, const struct cmd *c, int argc, char **argv)
{
	static const char * const written[] = {
		"output", "trace", "heatmap", "checkpoint",
	};
	u32 i;
	const char *format;
	int status = args_read(argc, argv, &e->cfg, c->opts, common_opts);

	if (status >= 0)
		return status;
	if (arg_text("help")) {
		printf("angara-sim %s: %s\n\n", c->name, c->help);
		print_opts(c->opts);
		print_opts(common_opts);
		printf("  -h, -V, -j       --help, the version, --format json\n"
		       "and all parameters of 'angara-sim params'\n");
		return SIM_OK;
	}
	format = arg_text("format");
	if (strcmp(format, "table") && strcmp(format, "csv") &&
	    strcmp(format, "json"))
		bad_usage("--format '%s': not table, csv or json", format);
	needless_refuse(c);
	e->threads = (u32)arg_number("threads");
	if (!e->threads)
		e->threads = e->comm.size > 1 ? 1 :
			     (u32)sysconf(_SC_NPROCESSORS_ONLN);
	e->trace = arg_text("trace");
	e->watch = arg_text("watch");
	e->heatmap = arg_text("heatmap");
	e->routes = arg_text("routes");
	e->faults = arg_text("faults");
	e->checkpoint = arg_text("checkpoint");
	e->restore = arg_text("restore");
	if (e->checkpoint || e->restore)
		e->what = args_what(c->name, c->opts, &common_opts[OPT_ROUTES],
				    &common_opts[OPT_FAULTS], &e->cfg);
	e->every = arg_number("every") / 1000000000000ULL;
	e->stop_at = arg_text("stop-at") ? arg_number("stop-at") : 0;
	if (e->trace && e->restore)
		bad_usage("--trace: a restored simulation cannot be traced, as its start is missing");
	if (e->comm.size > 1 && (e->trace || e->heatmap))
		bad_usage("--trace, --heatmap: cannot be written by several processes");
	flits_refuse(e, c);
	unused_refuse(e, c);
	for (i = 0; !e->comm.rank && i < sizeof(written) / sizeof(*written); i++)
		need_writable(written[i]);
	return c->run(e);
}

int main(int argc, char **argv)
{
	struct env e = { .threads = 1 };
	int i, at, status;

	sim_comm_init(&e.comm, &argc, &argv);
	sim_cfg_default(&e.cfg);
	status = first(argc, argv);
	at = optind;
	if (status < 0 && at >= argc)
		bad_usage("no command; try --help");
	optind = 0;	/* restart getopt_long() */
	for (i = 0; cmds[i] && status < 0; i++)
		if (!strcmp(cmds[i]->name, argv[at]))
			status = run(&e, cmds[i], argc - at, argv + at);
	if (status < 0)
		bad_usage("unknown command '%s'; try --help", argv[at]);
	sim_comm_end();
	return status;
}
