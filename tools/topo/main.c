// SPDX-License-Identifier: GPL-2.0-only
/* angara-topo: topologies - their properties and costs; routes and trees. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "topo.h"

const char tool_name[] = "angara-topo";

struct angara_fabric *need_fabric(const char *text)
{
	char *list = is_graphviz(text) ? graphviz_text(text + 5) : NULL;
	struct angara_fabric *f;
	const char *what;
	char why[160];

	if (angara_fabric_open(list ? list : text, &f, why, sizeof(why))) {
		/*
		 * Line numbers refer to the list of cables, not to the file of
		 * the user: omit them.
		 */
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
	{ "avoid", cmd_avoid, 1, 1 },
	{ "dot", cmd_dot, 1, 1 },
	{ "svg", cmd_svg, 1, 1 },
	{ NULL, NULL, 0, 0 },
};

enum {
	OPT_MARKDOWN = OPTS_LONG,
	OPT_PRICES,
	OPT_STUDY,
	OPT_NODES,
	OPT_LOCAL,
	OPT_ROOT,
	OPT_TREES,
	OPT_GOAL,
	OPT_BYTES,
	OPT_FAILED,
	OPT_ROUTES,
};

static const struct opt options[] = {
	{ 'j', "json", NULL, "JSON instead of tables", NULL },
	{ 'o', "output", "FILE", "file for a picture", "@file" },
	{ OPT_STUDY, "study", "mkns", "of compare: tables 2 to 7 of the MKNS study, and\n"
	  "its conclusions", "mkns" },
	{ OPT_MARKDOWN, "markdown", NULL, "tables of a study as Markdown", NULL },
	{ OPT_PRICES, "prices", "LIST", "cable=,port=,switch=,node=: adds the cost", NULL },
	{ OPT_NODES, "nodes", "LIST",
	  "participants of a tree, such as 0,4-7:2 (default: all)", NULL },
	{ OPT_LOCAL, "local", "N",
	  "participants on each node without \":2\" (default 1)", NULL },
	{ OPT_ROOT, "root", "R", "root of a tree: a node, or best (the default)", NULL },
	{ OPT_TREES, "trees", "N", "number of trees (default 1)", NULL },
	{ OPT_GOAL, "goal", "GOAL",
	  "depth or load: what is minimised first (default: depth;\n"
	  "load for several trees)", "depth load" },
	{ OPT_BYTES, "bytes", "SIZE",
	  "bytes of the operation whose time is estimated (default 4096)", NULL },
	{ OPT_FAILED, "failed", "LIST",
	  "of avoid, route, tree: routers and cables that have failed,\n"
	  "such as 12,s4 and 12:3 (port 3 of router 12)", NULL },
	{ OPT_ROUTES, "routes", NULL,
	  "of avoid: print the routes that --failed changes, as\n"
	  "angara-sim --routes reads them", NULL },
	{ 0 }
};

static const struct opts_word words[] = {
	{ "show", NULL }, { "metrics", NULL }, { "compare", NULL }, { "route", NULL },
	{ "tree", NULL }, { "avoid", NULL }, { "dot", NULL }, { "svg", NULL }, { NULL, NULL }
};

static int take_number(const char *name, const char *value, uint32_t most, uint32_t *to)
{
	uint64_t number;

	if (!opts_scaled(value, &number) || !number || number > most)
		return misuse("--%s '%s': must be from 1 to %u", name, value, most);
	*to = (uint32_t)number;
	return -1;
}

static int take(void *to, int id, const char *value)
{
	struct opts *o = to;

	switch (id) {
	case 'j':
		o->json = true;
		break;
	case 'o':
		o->output = value;
		break;
	case OPT_STUDY:
		o->study = value;
		break;
	case OPT_MARKDOWN:
		o->markdown = true;
		break;
	case OPT_PRICES:
		o->prices = value;
		break;
	case OPT_NODES:
		o->nodes = value;
		break;
	case OPT_ROOT:
		o->root = value;
		break;
	case OPT_FAILED:
		o->failed = value;
		break;
	case OPT_ROUTES:
		o->routes = true;
		break;
	case OPT_GOAL:
		o->goal = value;
		break;
	case OPT_TREES:
		return take_number("trees", value, ANGARA_MAX_TREES, &o->trees);
	case OPT_BYTES:
		return take_number("bytes", value, 1U << 30, &o->bytes);
	case OPT_LOCAL:
		return take_number("local", value, ANGARA_MAX_LOCAL, &o->local);
	}
	return -1;
}

static const struct opts_command command = {
	.version = ANG_RELEASE,
	.usage = " [OPTION]... COMMAND FABRIC...",
	.what =
"\n"
"  show FABRIC          routers, ports, cables\n"
"  metrics FABRIC       measures: by formula, and from the graph\n"
"  compare FABRIC...    measures of several, side by side\n"
"  route FABRIC A B     the route from a node to another\n"
"  tree FABRIC          a tree, and what it costs\n"
"  avoid FABRIC         routes around --failed, or around each single failure\n"
"  dot FABRIC           the graph for Graphviz\n"
"  svg FABRIC           the same, drawn by Graphviz\n"
"\n"
"FABRIC: torus:4x4x2, mesh:4x4, hypercube:10, mkns:8x10x10, kns:4x4,\n"
"fattree:40,3, or file:PATH of a list of cables; see angara-topo(1).",
	.opts = options,
	.words = words,
	.take = take,
};

int main(int argc, char **argv)
{
	struct opts o = { .nodes = "all", .root = "best", .trees = 1, .bytes = 4096, .local = 1 };
	const struct command *c;
	int ret;

	ret = opts_read(&command, &o, argc, argv);
	if (ret >= 0)
		return ret;
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
