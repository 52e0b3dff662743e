// SPDX-License-Identifier: GPL-2.0-only
/* angara-topo: topologies - what they are, cost and reach; routes and trees. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "topo.h"

static const char usage[] =
"usage: angara-topo [OPTION]... COMMAND FABRIC...\n"
"\n"
"  show FABRIC          routers, ports, cables\n"
"  metrics FABRIC       measures: by formula, and from the graph\n"
"  compare FABRIC...    measures of several, side by side\n"
"  compare --study mkns tables 2 to 7 of the MKNS study, and its conclusions\n"
"  route FABRIC A B     the way from a node to another\n"
"  tree FABRIC          a tree, and what it costs\n"
"  dot FABRIC           the graph for Graphviz\n"
"  svg FABRIC           the same, drawn by Graphviz\n"
"\n"
"  -j, --json           JSON instead of tables\n"
"  -o, --output FILE    write a picture there\n"
"      --markdown       tables of a study as Markdown\n"
"      --prices LIST    cable=,port=,switch=,node=: adds the cost\n"
"      --nodes LIST     participants of a tree, such as 0,4-7:2; default: all\n"
"      --local N        participants on each of them without \":2\" (1)\n"
"      --root R         root of a tree: a node, or best (the default)\n"
"      --trees N        so many trees (1)\n"
"      --goal GOAL      depth or load: what is minimised first (depth; load of several)\n"
"      --bytes N        of the operation whose time is estimated (4096)\n"
"  -h, --help           this text\n"
"  -V, --version        version\n"
"\n"
"FABRIC: torus:4x4x2, mesh:4x4, hypercube:10, mkns:8x10x10, kns:4x4,\n"
"fattree:40,3, or file:PATH of a list of cables; see angara-topo(1).\n";

const char tool_name[] = "angara-topo";

struct angara_fabric *need_fabric(const char *text)
{
	char *list = is_graphviz(text) ? graphviz_text(text + 5) : NULL;
	struct angara_fabric *f;
	const char *what;
	char why[160];

	if (angara_fabric_open(list ? list : text, &f, why, sizeof(why))) {
		/* Lines are those of the list, which is not what the user wrote. */
		what = list ? strstr(why, ": ") : NULL;
		exit(misuse("%s: %s", text, what ? what + 2 : why));
	}
	free(list);
	return f;
}

bool read_number(const char *text, uint32_t most, uint32_t *value)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text < '0' || *text > '9' || number > most)
		return false;
	*value = (uint32_t)number;
	return true;
}

static const struct command {
	const char *name;
	int (*run)(const struct opts *o, int argc, char **argv);
	int least;
	int most;
} commands[] = {
	{ "show", cmd_show, 1, 1 },
	{ "metrics", cmd_metrics, 1, 1 },
	{ "compare", cmd_compare, 0, 1000 },
	{ "route", cmd_route, 3, 3 },
	{ "tree", cmd_tree, 1, 1 },
	{ "dot", cmd_dot, 1, 1 },
	{ "svg", cmd_svg, 1, 1 },
	{ NULL, NULL, 0, 0 },
};

enum { OPT_STUDY = 256, OPT_MARKDOWN, OPT_PRICES, OPT_NODES, OPT_ROOT, OPT_TREES,
	OPT_BYTES, OPT_LOCAL, OPT_GOAL };

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "output", required_argument, NULL, 'o' },
	{ "study", required_argument, NULL, OPT_STUDY },
	{ "markdown", no_argument, NULL, OPT_MARKDOWN },
	{ "prices", required_argument, NULL, OPT_PRICES },
	{ "nodes", required_argument, NULL, OPT_NODES },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "goal", required_argument, NULL, OPT_GOAL },
	{ "trees", required_argument, NULL, OPT_TREES },
	{ "bytes", required_argument, NULL, OPT_BYTES },
	{ "local", required_argument, NULL, OPT_LOCAL },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static void need_number(const char *name, uint32_t most, uint32_t *value)
{
	if (!read_number(optarg, most, value) || !*value)
		exit(misuse("--%s '%s': must be from 1 to %u", name, optarg, most));
}

static void read_options(struct opts *o, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "jo:hV", options, NULL)) != -1) {
		switch (opt) {
		case 'j':
			o->json = true;
			break;
		case 'o':
			o->output = optarg;
			break;
		case OPT_STUDY:
			o->study = optarg;
			break;
		case OPT_MARKDOWN:
			o->markdown = true;
			break;
		case OPT_PRICES:
			o->prices = optarg;
			break;
		case OPT_NODES:
			o->nodes = optarg;
			break;
		case OPT_ROOT:
			o->root = optarg;
			break;
		case OPT_GOAL:
			o->goal = optarg;
			break;
		case OPT_TREES:
			need_number("trees", ANGARA_MAX_TREES, &o->trees);
			break;
		case OPT_BYTES:
			need_number("bytes", 1U << 30, &o->bytes);
			break;
		case OPT_LOCAL:
			need_number("local", ANGARA_MAX_LOCAL, &o->local);
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 'V':
			printf("angara-topo %s\n", ANG_RELEASE);
			exit(0);
		default:
			exit(MISUSED);
		}
	}
}

int main(int argc, char **argv)
{
	struct opts o = { .nodes = "all", .root = "best", .trees = 1, .bytes = 4096, .local = 1 };
	const struct command *c;
	int ret;

	read_options(&o, argc, argv);
	argc -= optind;
	argv += optind;
	if (!argc)
		return misuse("no command; --help lists them");
	for (c = commands; c->name && strcmp(c->name, argv[0]); c++)
		;
	if (!c->name)
		return misuse("'%s': no such command; --help lists them", argv[0]);
	if (argc - 1 < c->least || argc - 1 > c->most)
		return misuse("%s: needs %s", c->name,
			      c->least == 3 ? "a fabric and two nodes" : "one fabric");
	ret = c->run(&o, argc - 1, argv + 1);
	if (fflush(stdout) || ferror(stdout))
		return fail("standard output: %s", strerror(errno));
	return ret;
}
