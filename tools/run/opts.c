// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define RUN_VERSION	"0.1.0"
#define RUN_GRACE_S	5

enum {
	OPT_PER_NODE = 256,
	OPT_NODES,
	OPT_FABRIC,
	OPT_TIMEOUT,
	OPT_GRACE,
	OPT_KEEP_GOING,
	OPT_NO_DEVICE,
	OPT_BIND,
};

static const char usage[] =
"Usage: angara-run -n N [OPTION...] PROGRAM [ARG...]\n"
"Start N processes of a job on this machine.\n"
"\n"
"  -n N              number of processes\n"
"  --per-node P      processes per node (default: the least possible)\n"
"  --nodes LIST      nodes to use, in this order, such as 0,2,4-7\n"
"  --fabric FABRIC   fabric to use: its id, or such as embedded:2x2x2\n"
"                    (default: $ANGARA_FABRIC, else that of the first device,\n"
"                    else an embedded one)\n"
"  --timeout S       end the job after S seconds, with exit status 124\n"
"  --grace S         end the other processes S seconds after one has failed\n"
"                    (default 5)\n"
"  --keep-going      let the others continue when a process fails\n"
"  --no-device       start the processes without adapters\n"
"  --bind            bind each process to its own core\n"
"  -l, --tag-output  print the rank before each line of output\n"
"  -h, --help        print this text\n"
"  -V, --version     print the version\n";

/* Return: the text after the number, NULL if there is none up to @max. */
static const char *number(const char *text, u64 max, u64 *val)
{
	int base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*val = strtoull(text, &end, base);
	return errno || *val > max ? NULL : end;
}

static int want_number(const char *opt, const char *text, u32 min, u32 max,
		       u32 *val)
{
	u64 v = 0;
	const char *end = number(text, max, &v);

	if (!end || *end || v < min) {
		run_say("%s wants a number from %u to %u, not '%s'", opt, min,
			max, text);
		return RUN_EXIT_USAGE;
	}
	*val = (u32)v;
	return -1;
}

static int want_fabric(struct run_opts *opts, const char *text)
{
	const char *end = number(text, ~0ULL, &opts->fabric);

	const char *why;

	opts->has_fabric = end && !*end;
	opts->has_spec = !opts->has_fabric &&
			 !ang_spec_parse(text, &opts->spec, &why);
	if (opts->has_fabric || opts->has_spec)
		return -1;
	run_say("--fabric wants a number such as 0x1f or what " ANG_ENV_FABRIC
		" may be, not '%s': %s", text, why);
	return RUN_EXIT_USAGE;
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
	u64 first, last;

	opts->num_nodes = 0;
	while (text) {
		text = number(text, 0xFFFFFFFE, &first);
		last = first;
		if (text && *text == '-')
			text = number(text + 1, 0xFFFFFFFE, &last);
		if (!text || !add_nodes(opts, first, last))
			break;
		if (!*text)
			return -1;
		text = *text == ',' ? text + 1 : NULL;
	}
	run_say("--nodes wants a list such as 0,2,4-7, not '%s'", list);
	return RUN_EXIT_USAGE;
}

/* Return: -1 to continue, else an exit status. */
static int option(struct run_opts *opts, int c)
{
	switch (c) {
	case 'n':
		return want_number("-n", optarg, 1, RUN_MAX_PROCS, &opts->n);
	case 'l':
		opts->tag = true;
		return -1;
	case 'h':
		fputs(usage, stdout);
		return 0;
	case 'V':
		puts("angara-run " RUN_VERSION);
		return 0;
	case OPT_PER_NODE:
		return want_number("--per-node", optarg, 1, RUN_MAX_PROCS,
				   &opts->per_node);
	case OPT_NODES:
		return want_nodes(opts, optarg);
	case OPT_FABRIC:
		return want_fabric(opts, optarg);
	case OPT_TIMEOUT:
		return want_number("--timeout", optarg, 1, 1000000,
				   &opts->timeout_s);
	case OPT_GRACE:
		return want_number("--grace", optarg, 0, 1000000,
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

static int unknown(int c, char **argv)
{
	/* A short option may be within a word; a long one is the whole word. */
	if (c == ':')
		run_say("option '%s' wants a value", argv[optind - 1]);
	else if (optopt && optopt < OPT_PER_NODE)
		run_say("unknown option '-%c'; see angara-run --help", optopt);
	else
		run_say("wrong option '%s'; see angara-run --help",
			argv[optind - 1]);
	return RUN_EXIT_USAGE;
}

static int check(const struct run_opts *opts)
{
	const char *placed = opts->per_node ? "--per-node" :
			     opts->nodes ? "--nodes" :
			     opts->has_fabric || opts->has_spec ? "--fabric" :
			     NULL;

	if (!opts->n)
		run_say("number of processes is missing: give -n N; see angara-run --help");
	else if (!opts->argv[0])
		run_say("no program to run; see angara-run --help");
	else if (opts->no_device && placed)
		run_say("%s and --no-device exclude each other", placed);
	else if (opts->bind && opts->n > run_cores())
		run_say("--bind: %u processes, but there are %u cores", opts->n,
			run_cores());
	else
		return -1;
	return RUN_EXIT_USAGE;
}

/**
 * run_opts_parse() - read the command line
 * @opts: out
 * @argc: arguments
 * @argv: arguments
 *
 * Return: -1 to continue, else an exit status after printing a message.
 */
int run_opts_parse(struct run_opts *opts, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "per-node", required_argument, NULL, OPT_PER_NODE },
		{ "nodes", required_argument, NULL, OPT_NODES },
		{ "fabric", required_argument, NULL, OPT_FABRIC },
		{ "timeout", required_argument, NULL, OPT_TIMEOUT },
		{ "grace", required_argument, NULL, OPT_GRACE },
		{ "keep-going", no_argument, NULL, OPT_KEEP_GOING },
		{ "no-device", no_argument, NULL, OPT_NO_DEVICE },
		{ "bind", no_argument, NULL, OPT_BIND },
		{ "tag-output", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c;

	*opts = (struct run_opts){ .grace_s = RUN_GRACE_S };
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:n:lhV", longs, NULL)) != -1) {
		int status = c == '?' || c == ':' ? unknown(c, argv) :
						    option(opts, c);

		if (status >= 0)
			return status;
	}
	opts->argv = argv + optind;
	if (ang_job_timeout(&opts->exchange_s)) {
		run_say("ANGARA_JOB_TIMEOUT wants seconds from 0 to %u, not '%s'",
			ANG_JOB_MAX_TIMEOUT_S, getenv("ANGARA_JOB_TIMEOUT"));
		return RUN_EXIT_USAGE;
	}
	return check(opts);
}
