// SPDX-License-Identifier: GPL-2.0-only
/* angara-algo: schedules of collectives - cost, simulation, numbering, runs. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static const char usage[] =
"usage: angara-algo [OPTION]... COMMAND [ALGORITHM]...\n"
"\n"
"  list                 algorithms, and the formulas of their times\n"
"  cost ALGORITHM...    time by formula; messages and bytes through each level\n"
"  simulate ALGORITHM...  the same, beside the simulated time of the schedules\n"
"  map ALGORITHM        split the graph of an allgather over the system\n"
"  run ALGORITHM...     measured times beside formula and simulation: under\n"
"                       angara-run; angara-algo-mpi under mpirun\n"
"\n"
"  -l, --levels LIST    the system, from the top: COUNT:LATENCY:RATE[:LINKS],...\n"
"                       or file:PATH (8:1us:1GB/s; of run: one level, with fitted\n"
"                       times); or machine: the levels of the processes of this\n"
"                       job, with fitted times\n"
"      --place HOW      ranks on cores: block, cyclic, or a list of cores (block)\n"
"  -b, --bytes LIST     of the vector; of one block in an allgather (64KiB)\n"
"      --dims LIST      sizes of a torus, such as 4x4; best: two by the formula\n"
"      --packet BYTES   messages around a torus are cut into packets (0: whole)\n"
"      --root R         of a broadcast or reduction (0)\n"
"      --add RATE       at which a member combines, such as 2GB/s (0: in no time)\n"
"      --copy RATE      at which it copies within its memory (0: in no time)\n"
"      --repeat N       measurements of run, whose median counts (10)\n"
"  -j, --json           JSON instead of tables\n"
"      --markdown       tables as Markdown\n"
"  -h, --help           this text\n"
"  -V, --version        version\n";

const char tool_name[] = "angara-algo";

static const struct command {
	const char *name;
	int (*run)(const struct opts *o, int argc, char **argv);
	int least;
	int most;
} commands[] = {
	{ "list", cmd_list, 0, 0 },
	{ "cost", cmd_cost, 1, 100 },
	{ "simulate", cmd_simulate, 1, 100 },
	{ "map", cmd_map, 1, 1 },
	{ "run", cmd_run, 1, 100 },
	{ NULL, NULL, 0, 0 },
};

enum { OPT_PLACE = 256, OPT_DIMS, OPT_PACKET, OPT_ROOT, OPT_ADD, OPT_COPY, OPT_MARKDOWN,
	OPT_REPEAT };

static const struct option options[] = {
	{ "levels", required_argument, NULL, 'l' },
	{ "place", required_argument, NULL, OPT_PLACE },
	{ "bytes", required_argument, NULL, 'b' },
	{ "dims", required_argument, NULL, OPT_DIMS },
	{ "packet", required_argument, NULL, OPT_PACKET },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "add", required_argument, NULL, OPT_ADD },
	{ "copy", required_argument, NULL, OPT_COPY },
	{ "repeat", required_argument, NULL, OPT_REPEAT },
	{ "json", no_argument, NULL, 'j' },
	{ "markdown", no_argument, NULL, OPT_MARKDOWN },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static u32 need_number(const char *what, const char *text)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value > UINT32_MAX)
		exit(misuse("%s '%s': not a number", what, text));
	return (u32)value;
}

static void read_option(struct opts *o, int opt)
{
	switch (opt) {
	case 'l':
		o->levels = optarg;
		break;
	case OPT_PLACE:
		o->place = optarg;
		break;
	case 'b':
		o->bytes = optarg;
		break;
	case OPT_DIMS:
		o->dims = optarg;
		break;
	case OPT_PACKET:
		o->packet = need_bytes("--packet", optarg, 1U << 30);
		break;
	case OPT_ROOT:
		o->root = need_number("--root", optarg);
		break;
	case OPT_REPEAT:
		o->repeat = need_number("--repeat", optarg);
		if (!o->repeat)
			exit(misuse("--repeat 0: must be at least 1"));
		break;
	case OPT_ADD:
		o->add = need_byte_time("--add", optarg);
		break;
	case OPT_COPY:
		o->copy = need_byte_time("--copy", optarg);
		break;
	case 'j':
		o->json = true;
		break;
	case OPT_MARKDOWN:
		o->markdown = true;
		break;
	case 'h':
		fputs(usage, stdout);
		exit(0);
	case 'V':
		puts("angara-algo " ANG_RELEASE);
		exit(0);
	default:
		fputs(usage, stderr);
		exit(MISUSED);
	}
}

int main(int argc, char **argv)
{
	struct opts o = {
		.bytes = "64KiB", .repeat = 10, .add = -1, .copy = -1,
	};
	const struct command *c;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "l:b:jhV", options, NULL)) != -1)
		read_option(&o, opt);
	argc -= optind;
	argv += optind;
	if (!argc) {
		fputs(usage, stderr);
		return MISUSED;
	}
	for (c = commands; c->name; c++)
		if (!strcmp(c->name, argv[0]))
			break;
	if (!c->name)
		return misuse("unknown command '%s'; see angara-algo --help", argv[0]);
	if (argc - 1 < c->least || argc - 1 > c->most)
		return misuse("%s: %s", c->name, c->most ? "needs an algorithm" :
						 "takes no arguments");
	ret = c->run(&o, argc - 1, argv + 1);
	if (fflush(stdout) || ferror(stdout))
		return fail("standard output cannot be written: %s", strerror(errno));
	return ret;
}
