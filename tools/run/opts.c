// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line.
 */
#include <stdlib.h>
#include <unistd.h>

#include "complain.h"
#include "options.h"
#include "run.h"

#define RUN_GRACE_S	5

const char tool_name[] = "angara-run";

enum {
	OPT_PER_NODE = OPTS_LONG,
	OPT_NODES,
	OPT_FABRIC,
	OPT_TIMEOUT,
	OPT_GRACE,
	OPT_KEEP_GOING,
	OPT_NO_DEVICE,
	OPT_BIND,
};

static const struct opt options[] = {
	{ 'n', NULL, "N", "number of processes; also -np N", NULL },
	{ OPT_PER_NODE, "per-node", "P",
	  "processes per node (default: the least possible)", NULL },
	{ OPT_NODES, "nodes", "LIST",
	  "nodes to use, in this order, such as 0,2,4-7", NULL },
	{ OPT_FABRIC, "fabric", "FABRIC",
	  "fabric to use: its id, or a text such as embedded:2x2x2\n"
	  "(default: $ANGARA_FABRIC, else that of the first device,\n"
	  "else an embedded one)", "embedded embedded:" },
	{ OPT_TIMEOUT, "timeout", "S",
	  "end the job after S seconds, with exit status 124", NULL },
	{ OPT_GRACE, "grace", "S",
	  "end the other processes S seconds after one fails\n"
	  "(default 5)", NULL },
	{ OPT_KEEP_GOING, "keep-going", NULL,
	  "let other processes continue after one fails", NULL },
	{ OPT_NO_DEVICE, "no-device", NULL,
	  "start the processes without adapters", NULL },
	{ OPT_BIND, "bind", NULL, "bind each process to its own core", NULL },
	{ 'l', "tag-output", NULL, "print the rank before each line of output",
	  NULL },
	{ 0 },
};

static int want_number(const char *opt, const char *text, u32 min, u32 max,
		       u32 *val)
{
	uint64_t v = 0;
	int status = opts_number(opt, text, min, max, &v);

	*val = (u32)v;
	return status;
}

static int want_fabric(struct run_opts *opts, const char *text)
{
	uint64_t id = 0;
	const char *end = opts_digits(text, UINT64_MAX, &id);
	const char *why;

	opts->fabric = id;
	opts->has_fabric = end && !*end;
	opts->has_spec = !opts->has_fabric &&
			 !ang_spec_parse(text, &opts->spec, &why);
	if (opts->has_fabric || opts->has_spec)
		return -1;
	return misuse("--fabric wants an id such as 0x1f or a value of "
		      ANG_ENV_FABRIC ", not '%s': %s", text, why);
}

static bool add_nodes(struct run_opts *opts, u64 first, u64 last)
{
	size_t n = last - first + 1;
	u32 *nodes;

	if (last < first || opts->num_nodes + n > ANG_JOB_MAX_SIZE)
		return false;
	nodes = realloc(opts->nodes, (opts->num_nodes + n) * sizeof(*nodes));
	if (!nodes)
		return false;
	opts->nodes = nodes;
	for (; first <= last; first++)
		nodes[opts->num_nodes++] = (u32)first;
	return true;
}

static int want_nodes(struct run_opts *opts, const char *list)
{
	const char *text = list;
	uint64_t first, last;

	opts->num_nodes = 0;
	while (text) {
		text = opts_digits(text, 0xFFFFFFFE, &first);
		last = first;
		if (text && *text == '-')
			text = opts_digits(text + 1, 0xFFFFFFFE, &last);
		if (!text || !add_nodes(opts, first, last))
			break;
		if (!*text)
			return -1;
		text = *text == ',' ? text + 1 : NULL;
	}
	return misuse("--nodes wants a list such as 0,2,4-7, not '%s'", list);
}

static int run_option(void *to, int id, const char *value)
{
	struct run_opts *opts = to;

	switch (id) {
	case 'n':
		return want_number("-n", value, 1, RUN_MAX_PROCS, &opts->n);
	case 'l':
		opts->tag = true;
		return -1;
	case OPT_PER_NODE:
		return want_number("--per-node", value, 1, RUN_MAX_PROCS,
				   &opts->per_node);
	case OPT_NODES:
		return want_nodes(opts, value);
	case OPT_FABRIC:
		return want_fabric(opts, value);
	case OPT_TIMEOUT:
		return want_number("--timeout", value, 1, 1000000,
				   &opts->timeout_s);
	case OPT_GRACE:
		return want_number("--grace", value, 0, 1000000,
				   &opts->grace_s);
	case OPT_KEEP_GOING:
		opts->keep_going = true;
		return -1;
	case OPT_BIND:
		opts->bind = true;
		return -1;
	default:
		opts->no_device = true;
		return -1;
	}
}

static const struct opts_command run_command = {
	.version = ANG_RELEASE,
	.usage = " -n N [OPTION...] PROGRAM [ARG...]",
	.what = "Start N processes of a job on this machine.",
	.opts = options,
	.operands = "@command",
	.stop = true,
	.take = run_option,
};

static int check(const struct run_opts *opts)
{
	const char *placed = opts->per_node ? "--per-node" :
			     opts->nodes ? "--nodes" :
			     opts->has_fabric || opts->has_spec ? "--fabric" :
			     NULL;

	if (!opts->n)
		return misuse("number of processes is missing: give -n N; see angara-run --help");
	if (!opts->argv[0])
		return misuse("no program to run; see angara-run --help");
	if (opts->no_device && placed)
		return misuse("%s and --no-device exclude each other", placed);
	if (opts->bind && opts->n > run_cores())
		return misuse("--bind: %u processes, but there are %u cores",
			      opts->n, run_cores());
	return -1;
}

/**
 * run_opts_parse() - read the command line
 * @opts: out
 * @argc: arguments
 * @argv: arguments
 *
 * Return: -1 to continue, otherwise an exit status after a message.
 */
int run_opts_parse(struct run_opts *opts, int argc, char **argv)
{
	int status;

	*opts = (struct run_opts){ .grace_s = RUN_GRACE_S };
	status = opts_read(&run_command, opts, argc, argv);
	if (status >= 0)
		return status;
	opts->argv = argv + optind;
	if (ang_job_timeout(&opts->exchange_s))
		return misuse("ANGARA_JOB_TIMEOUT wants seconds from 0 to %u, not '%s'",
			      ANG_JOB_MAX_TIMEOUT_S, getenv("ANGARA_JOB_TIMEOUT"));
	return check(opts);
}
