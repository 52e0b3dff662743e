// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-topo compare --study mkns: tables 2 to 7 of document 001, by its
 * formulas, from the graphs, and as published; and the document's conclusions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "topo.h"

#define SIZES	5
#define KINDS	4

enum { DIAMETER, TREE, CONNECTIVITY, BISECTION, CABLES, PORTS, MEASURES };
enum { MKNS, TORUS4, TORUS6, FATTREE };

static const unsigned int modules[SIZES] = { 16, 64, 160, 1600, 16000 };
static const char *const kinds[KINDS] = { "MKNS", "4D torus", "6D torus", "fat tree" };
static const char *const measures[MEASURES] = {
	"diameter", "tree diameter", "connectivity", "bisection", "cables", "ports",
};

static const char *const fabrics[KINDS][SIZES] = {
	{ "mkns:8,m=2", "mkns:8x4,m=2", "mkns:8x10,m=2", "mkns:8x10x10,m=2",
	  "mkns:8x10x10x10,m=2" },
	{ "torus:2x2x2x2", "torus:4x4x2x2", "torus:5x4x4x2", "torus:8x8x5x5",
	  "torus:16x10x10x10" },
	{ "torus:2x2x2", "torus:2x2x2x2x2", "torus:5x2x2x2x2", "torus:5x5x4x2x2x2",
	  "torus:5x5x5x4x4x4" },
	{ "fattree:40,1,nodes=16", "fattree:40,2,nodes=64", "fattree:40,2,nodes=160",
	  "fattree:40,3,nodes=1600", "fattree:40,4,nodes=16000" },
};

static const uint32_t published[MEASURES][SIZES][KINDS] = {
	{ { 1, 4, 3, 2 }, { 2, 6, 5, 4 }, { 3, 7, 6, 4 }, { 5, 12, 7, 6 },
	  { 7, 21, 14, 8 } },
	{ { 2, 4, 3, 2 }, { 3, 8, 5, 4 }, { 4, 11, 8, 4 }, { 8, 22, 13, 6 },
	  { 12, 41, 19, 8 } },
	{ { 7, 8, 6, 16 }, { 10, 8, 10, 16 }, { 8, 8, 10, 20 }, { 9, 8, 12, 20 },
	  { 10, 8, 12, 20 } },
	{ { 4, 16, 8, 8 }, { 16, 32, 32, 32 }, { 40, 64, 32, 80 },
	  { 400, 420, 320, 800 }, { 4000, 2662, 2000, 8000 } },
	{ { 28, 32, 12, 16 }, { 160, 192, 80, 128 }, { 360, 640, 336, 320 },
	  { 4400, 6720, 4374, 3200 }, { 52000, 63888, 49152, 48000 } },
	{ { 80, 128, 96, 56 }, { 320, 512, 384, 264 }, { 880, 1280, 960, 640 },
	  { 9600, 12800, 9600, 9600 }, { 104000, 128000, 96000, 128000 } },
};

/* Ways to compute the number that an explanation gives. */
enum { GRAPH, FORMULA, PAIRS, CLIQUES, SWITCH_FLOW, NUMBER };

/**
 * struct reason - the reason why a published cell differs
 * @measure: measure
 * @size: index of the number of modules
 * @kind: topology
 * @how: how the published number is computed from @fabric
 * @fabric: description, or for CLIQUES the sizes of the lines
 * @number: NUMBER: the number that @why gives
 * @why: explanation in words
 */
struct reason {
	int measure, size, kind, how;
	const char *fabric;
	uint32_t number;
	const char *why;
};

static const struct reason reasons[] = {
	{ DIAMETER, 1, MKNS, CLIQUES, "8x4", 0,
	  "8x4 with both dimensions joined directly, without switch blocks" },
	{ TREE, 1, MKNS, NUMBER, NULL, 3,
	  "the published diameter of that graph + 1; none of its trees has less than 4" },
	{ CONNECTIVITY, 1, MKNS, CLIQUES, "8x4", 0,
	  "8x4 with both dimensions joined directly: (8 - 1) + (4 - 1)" },
	{ CABLES, 1, MKNS, CLIQUES, "8x4", 0,
	  "8x4 with both dimensions joined directly" },
	{ PORTS, 1, MKNS, CLIQUES, "8x4", 0,
	  "8x4 with both dimensions joined directly: no ports of switch blocks" },
	{ CABLES, 0, TORUS4, PAIRS, "torus:2x2x2x2", 0,
	  "a ring of two is counted as one cable" },
	{ CABLES, 1, TORUS4, PAIRS, "torus:4x4x2x2", 0,
	  "a ring of two is counted as one cable" },
	{ BISECTION, 3, TORUS4, FORMULA, "torus:8x7x6x5", 0, "1680 modules: 8x7x6x5" },
	{ CABLES, 3, TORUS4, GRAPH, "torus:8x7x6x5", 0, "1680 modules: 8x7x6x5" },
	{ DIAMETER, 4, TORUS4, GRAPH, "torus:12x11x11x11", 0,
	  "15972 modules: 12x11x11x11" },
	{ TREE, 4, TORUS4, FORMULA, "torus:12x11x11x11", 0, "15972 modules: 12x11x11x11" },
	{ BISECTION, 4, TORUS4, FORMULA, "torus:12x11x11x11", 0,
	  "15972 modules: 12x11x11x11" },
	{ CABLES, 4, TORUS4, GRAPH, "torus:12x11x11x11", 0, "15972 modules: 12x11x11x11" },
	{ CABLES, 0, TORUS6, PAIRS, "torus:2x2x2", 0,
	  "a ring of two is counted as one cable" },
	{ CABLES, 1, TORUS6, PAIRS, "torus:2x2x2x2x2", 0,
	  "a ring of two is counted as one cable" },
	{ CABLES, 2, TORUS6, PAIRS, "torus:3x2x2x2x2x2", 0,
	  "192 modules: 3x2x2x2x2x2, a ring of two counted as one cable" },
	{ DIAMETER, 3, TORUS6, GRAPH, "torus:4x3x3x3x3x3", 0, "1944 modules: 4x3x3x3x3x3" },
	{ TREE, 3, TORUS6, FORMULA, "torus:4x3x3x3x3x3", 0, "1944 modules: 4x3x3x3x3x3" },
	{ CABLES, 3, TORUS6, GRAPH, "torus:3x3x3x3x3x3", 0, "1458 modules: 3x3x3x3x3x3" },
	{ DIAMETER, 4, TORUS6, GRAPH, "torus:8x4x4x4x4x4", 0,
	  "16384 modules: 8x4x4x4x4x4" },
	{ TREE, 4, TORUS6, FORMULA, "torus:5x4x4x4x4x4", 0, "10240 modules: 5x4x4x4x4x4" },
	{ BISECTION, 4, TORUS6, NUMBER, NULL, 2 * 8000 / 8,
	  "2 * 8000 / 8: 8000 nodes, but the largest size of 8x4x4x4x4x4" },
	{ CABLES, 4, TORUS6, GRAPH, "torus:8x4x4x4x4x4", 0,
	  "16384 modules: 8x4x4x4x4x4" },
	{ CONNECTIVITY, 0, FATTREE, SWITCH_FLOW, "fattree:32,2,nodes=64", 0,
	  "a switch with 16 modules has 16 cables up, though it has 40 ports" },
	{ CONNECTIVITY, 1, FATTREE, SWITCH_FLOW, "fattree:32,2,nodes=64", 0,
	  "a switch with 16 modules has 16 cables up, though it has 40 ports" },
	{ CABLES, 3, FATTREE, FORMULA, "fattree:40,2,nodes=400", 1600 / 400,
	  "levels rounded down: 1600 * 2" },
	{ CABLES, 4, FATTREE, FORMULA, "fattree:40,3,nodes=8000", 16000 / 8000,
	  "levels rounded down: 16000 * 3" },
	{ PORTS, 0, FATTREE, GRAPH, "fattree:40,1,nodes=16", 0,
	  "all ports of the switch and of the modules: 40 + 16" },
	{ PORTS, 1, FATTREE, NUMBER, NULL, 5 * 40 + 64,
	  "5 * 40 + 64: four switches below, one above; 64 cables up need two" },
};

/**
 * struct study - computed measures
 * @formula: measures computed by the formulas of the document
 * @graph: measures of the graph
 * @halves: whether METIS computed the bisection
 */
struct study {
	uint32_t formula[MEASURES][SIZES][KINDS];
	uint32_t graph[MEASURES][SIZES][KINDS];
	bool halves[SIZES][KINDS];
};

static void set_measures(uint32_t out[MEASURES], const struct angara_fabric_metrics *m)
{
	out[DIAMETER] = m->diameter;
	out[TREE] = m->tree_diameter;
	out[CONNECTIVITY] = m->connectivity;
	out[BISECTION] = m->bisection;
	out[CABLES] = m->cables;
	out[PORTS] = (uint32_t)m->ports;
}

static void measure(const char *text, uint32_t graph[MEASURES], uint32_t formula[MEASURES],
		    bool *halves)
{
	struct angara_fabric *f = need_fabric(text);
	struct angara_fabric_metrics m = { .size = sizeof(m) };

	if (angara_fabric_measure(f, &m))
		exit(fail("%s: no memory to measure the fabric", text));
	*halves = !m.bisection;
	if (*halves)
		m.bisection = metis_halves(f);
	set_measures(graph, &m);
	/* Level-0 switches of a fat tree are its first switches. */
	if (!strncmp(text, "fattree", 7)) {
		uint32_t nodes = angara_fabric_nodes(f);

		graph[PORTS] = (uint32_t)m.joined;
		if (nodes > 20)
			graph[CONNECTIVITY] = (uint32_t)angara_fabric_flow(f, nodes, nodes + 1);
	}
	angara_fabric_formula(f, &m);
	set_measures(formula, &m);
	angara_fabric_close(f);
}

static void compute(struct study *s)
{
	uint32_t graph[MEASURES], formula[MEASURES];
	int size, kind, i;

	for (size = 0; size < SIZES; size++)
		for (kind = 0; kind < KINDS; kind++) {
			measure(fabrics[kind][size], graph, formula, &s->halves[size][kind]);
			/* The document's 6D torus has 12 ports per node, used or not. */
			if (kind == TORUS6) {
				formula[PORTS] = modules[size] / 2 * 12;
				graph[PORTS] = formula[PORTS];
			}
			for (i = 0; i < MEASURES; i++) {
				s->formula[i][size][kind] = formula[i];
				s->graph[i][size][kind] = graph[i];
			}
		}
}

/* Counts parallel cables once. */
static uint32_t count_pairs(const struct angara_fabric *f)
{
	uint32_t pairs = 0;
	uint32_t router, port, other;

	for (router = 0; router < angara_fabric_routers(f); router++)
		for (port = 0; port < angara_fabric_ports(f); port++) {
			uint32_t to = angara_fabric_peer(f, router, port, NULL);

			if (to == UINT32_MAX || to < router)
				continue;
			for (other = 0; other < port; other++)
				if (angara_fabric_peer(f, router, other, NULL) == to)
					break;
			pairs += other == port;
		}
	return pairs;
}

/*
 * Return: description of a graph whose nodes form a grid, such as 8x4; all nodes of each row, and
 * of each column, are joined.
 */
static char *clique_text(const char *sizes)
{
	unsigned int x, y, a, b;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out || sscanf(sizes, "%ux%u", &x, &y) != 2)
		exit(fail("no memory for a graph of %s nodes", sizes));
	fputs("graph cliques\n", out);
	for (a = 0; a < x * y; a++)
		fprintf(out, "node n%u\n", a);
	for (a = 0; a < x * y; a++)
		for (b = a + 1; b < x * y; b++) {
			if (a / x == b / x)
				fprintf(out, "n%u:%u n%u:%u\n", a, b % x - 1, b, a % x);
			if (a % x == b % x)
				fprintf(out, "n%u:%u n%u:%u\n", a, x - 1 + b / x - 1, b,
					x - 1 + a / x);
		}
	fclose(out);
	return text;
}

/*
 * Computes the number that an explanation gives.  The explanation holds if the result is the
 * published number.
 */
static uint32_t recompute(const struct reason *r)
{
	uint32_t graph[MEASURES], formula[MEASURES];
	char *cliques = r->how == CLIQUES ? clique_text(r->fabric) : NULL;
	struct angara_fabric *f;
	uint32_t value = 0;
	bool halves;

	if (r->how == NUMBER)
		return r->number;
	if (r->how == GRAPH || r->how == FORMULA || r->how == CLIQUES)
		measure(cliques ? cliques : r->fabric, graph, formula, &halves);
	f = need_fabric(cliques ? cliques : r->fabric);
	switch (r->how) {
	case PAIRS:
		value = count_pairs(f);
		break;
	case SWITCH_FLOW:
		value = (uint32_t)angara_fabric_flow(f, angara_fabric_nodes(f),
						     angara_fabric_nodes(f) + 1);
		break;
	case FORMULA:
		value = formula[r->measure] * (r->number ? r->number : 1);
		break;
	default:
		value = graph[r->measure];
	}
	/* The document's table counts the ports of modules and switches. */
	if (r->kind == FATTREE && r->measure == PORTS) {
		struct angara_fabric_metrics m = { .size = sizeof(m) };

		angara_fabric_measure(f, &m);
		value = (uint32_t)m.ports;
	}
	angara_fabric_close(f);
	free(cliques);
	return value;
}

static void add_cell(json_object *row, const struct study *s, int i, int size, int kind)
{
	uint32_t formula = s->formula[i][size][kind], print = published[i][size][kind];
	char graph[16] = "-";

	if (s->graph[i][size][kind])
		snprintf(graph, sizeof(graph), "%u%s", s->graph[i][size][kind],
			 i == BISECTION && s->halves[size][kind] ? "~" : "");
	add_text(row, kinds[kind], "%u/%s/%u%s", formula, graph, print,
		 formula == print ? "" : "*");
}

static void heading(const struct opts *o, const char *text)
{
	if (!o->json)
		printf(o->markdown ? "\n### %s\n\n" : "\n%s\n", text);
}

static json_object *table_rows(const struct study *s, int i)
{
	json_object *rows = json_object_new_array();
	int size, kind;

	for (size = 0; size < SIZES; size++) {
		json_object *row = json_object_new_object();

		add_number(row, "modules", modules[size]);
		for (kind = 0; kind < KINDS; kind++)
			add_cell(row, s, i, size, kind);
		json_object_array_add(rows, row);
	}
	return rows;
}

static const struct reason *reason_of(int i, int size, int kind)
{
	size_t n;

	for (n = 0; n < sizeof(reasons) / sizeof(*reasons); n++)
		if (reasons[n].measure == i && reasons[n].size == size &&
		    reasons[n].kind == kind)
			return &reasons[n];
	return NULL;
}

/*
 * Prints every published cell that differs from the formula.  Return: whether
 * all are explained.
 */
static bool add_reasons(const struct study *s, json_object *rows)
{
	bool all = true;
	int i, size, kind;

	for (i = 0; i < MEASURES; i++)
		for (size = 0; size < SIZES; size++)
			for (kind = 0; kind < KINDS; kind++) {
				const struct reason *r = reason_of(i, size, kind);
				json_object *row;
				uint32_t again;

				if (s->formula[i][size][kind] == published[i][size][kind]) {
					all &= !r;
					continue;
				}
				row = json_object_new_object();
				again = r ? recompute(r) : 0;
				add_number(row, "table", (uint64_t)i + 2);
				add_text(row, "cell", "%s, %u", kinds[kind], modules[size]);
				add_number(row, "formula", s->formula[i][size][kind]);
				add_number(row, "published", published[i][size][kind]);
				add_number(row, "recomputed", again);
				add_text(row, "why", "%s", r ? r->why : "not known");
				json_object_array_add(rows, row);
				all &= again == published[i][size][kind];
			}
	return all;
}

/**
 * struct claim - a statement of the document: MKNS compared with another
 * topology
 * @text: text of the statement
 * @measure: measure
 * @other: topology that MKNS is compared with
 * @first: index of the smallest size
 * @last: index of the largest size
 * @least: least quotient of the other topology by MKNS
 * @most: greatest quotient
 * @mean: the statement is about the average over the sizes, not about each size
 */
static const struct claim {
	const char *text;
	int measure, other, first, last;
	double least, most;
	bool mean;
} claims[] = {
	{ "diameter: 2 to 3 times less than 4D torus", DIAMETER, TORUS4, 0, 4, 2, 3.05, 0 },
	{ "diameter: 1.4 to 2 times less than 6D torus", DIAMETER, TORUS6, 0, 4, 1.35, 2.05, 0 },
	{ "diameter: even less than fat tree", DIAMETER, FATTREE, 0, 4, 1.001, 99, 0 },
	{ "tree: 2 to 3.4 times less than 4D torus", TREE, TORUS4, 0, 4, 2, 3.45, 0 },
	{ "tree: 1.5 to 2 times less than 6D torus", TREE, TORUS6, 0, 4, 1.45, 2.05, 0 },
	{ "tree: comparable with fat tree (within a half)", TREE, FATTREE, 0, 4, 0.66, 1.5, 0 },
	{ "connectivity: not less than 4D torus", CONNECTIVITY, TORUS4, 0, 4, 0, 1, 0 },
	{ "connectivity: 6D torus has more", CONNECTIVITY, TORUS6, 0, 4, 1.001, 99, 0 },
	{ "connectivity: fat tree has more", CONNECTIVITY, FATTREE, 0, 4, 1.001, 99, 0 },
	{ "bisection: half of fat tree", BISECTION, FATTREE, 0, 4, 1.95, 2.05, 0 },
	{ "bisection, 16 to 160: less than 4D torus", BISECTION, TORUS4, 0, 2, 1.001, 99, 0 },
	{ "bisection, 16 to 160: less than 6D torus", BISECTION, TORUS6, 0, 2, 1.001, 99, 0 },
	{ "bisection, 1600: less than 4D torus", BISECTION, TORUS4, 3, 3, 1.001, 99, 0 },
	{ "bisection, 1600: more than 6D torus", BISECTION, TORUS6, 3, 3, 0, 0.999, 0 },
	{ "bisection, 16000: 1.5 times more than 4D torus",
	  BISECTION, TORUS4, 4, 4, 0.64, 0.69, 0 },
	{ "bisection, 16000: 2 times more than 6D torus",
	  BISECTION, TORUS6, 4, 4, 0.47, 0.53, 0 },
	{ "cables, 16000: 6 % more than 6D torus", CABLES, TORUS6, 4, 4, 0.935, 0.948, 0 },
	{ "cables, 16000: 8 % more than fat tree", CABLES, FATTREE, 4, 4, 0.915, 0.93, 0 },
	{ "cables, 16000: 4D torus has 22 % more (\"22 % less\")",
	  CABLES, TORUS4, 4, 4, 1.215, 1.235, 0 },
	{ "ports: 4D torus has on average 44 % more (\"44 % less\")",
	  PORTS, TORUS4, 0, 4, 1.435, 1.45, 1 },
	{ "ports, 16 to 160: 6D torus has on average 16.3 % more (\"16.3 % less\")",
	  PORTS, TORUS6, 0, 2, 1.16, 1.166, 1 },
	{ "ports, 16 to 160: on average 33 % more than fat tree",
	  PORTS, FATTREE, 0, 2, 0.74, 0.77, 1 },
	{ "ports, 1600: as many as 6D torus", PORTS, TORUS6, 3, 3, 0.999, 1.001, 0 },
	{ "ports, 1600: as many as fat tree", PORTS, FATTREE, 3, 3, 0.999, 1.001, 0 },
	{ "ports, 16000: 8 % more than 6D torus", PORTS, TORUS6, 4, 4, 0.915, 0.93, 0 },
	{ "ports, 16000: fat tree has 23 % more (\"23 % less\")",
	  PORTS, FATTREE, 4, 4, 1.225, 1.235, 0 },
};

/* Computes quotients of the other topology by MKNS. Return: whether the claim holds. */
static bool holds(const struct claim *c, const uint32_t cells[MEASURES][SIZES][KINDS],
		  char *text, size_t room)
{
	double low = INFINITY, high = 0, sum = 0;
	int size, n = c->last - c->first + 1;

	for (size = c->first; size <= c->last; size++) {
		uint32_t other = cells[c->measure][size][c->other];
		uint32_t mkns = cells[c->measure][size][MKNS];
		double q = (double)other / mkns;

		if (!other || !mkns) {
			snprintf(text, room, "not known:");
			return false;
		}
		sum += q;
		low = fmin(low, q);
		high = fmax(high, q);
	}
	if (c->mean)
		low = high = sum / n;
	if (high - low < 0.0005)
		snprintf(text, room, "%.2f", low);
	else
		snprintf(text, room, "%.2f to %.2f", low, high);
	return low >= c->least && high <= c->most;
}

static json_object *claim_rows(const struct study *s)
{
	json_object *rows = json_object_new_array();
	size_t i;

	for (i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
		json_object *row = json_object_new_object();
		char print[40], formula[40], graph[40];
		bool by_print = holds(&claims[i], published, print, sizeof(print));
		bool by_formula = holds(&claims[i], s->formula, formula, sizeof(formula));
		bool by_graph = holds(&claims[i], s->graph, graph, sizeof(graph));

		add_text(row, "MKNS", "%s", claims[i].text);
		add_text(row, "published", "%s %s", print, by_print ? "yes" : "no");
		add_text(row, "formula", "%s %s", formula, by_formula ? "yes" : "no");
		add_text(row, "graph", "%s %s", graph, by_graph ? "yes" : "no");
		add_text(row, "verdict", "%s", by_formula && by_graph ? "confirmed" :
			 by_formula || by_graph ? "in part" : "not confirmed");
		json_object_array_add(rows, row);
	}
	return rows;
}

static json_object *fabric_rows(void)
{
	json_object *rows = json_object_new_array();
	int size, kind;

	for (size = 0; size < SIZES; size++) {
		json_object *row = json_object_new_object();

		add_number(row, "modules", modules[size]);
		for (kind = 0; kind < KINDS; kind++)
			add_text(row, kinds[kind], "%s", fabrics[kind][size]);
		json_object_array_add(rows, row);
	}
	return rows;
}

static const char legend[] =
	"Each cell: formula/graph/published; * the published number is not that of the formula;\n"
	"~ METIS's best half, an upper bound (-: METIS is not installed).  A fat tree's\n"
	"connectivity is that of its lowest switches, as a module has one cable.  Ports of a fat\n"
	"tree are those with a cable.\n";

int study_mkns(const struct opts *o)
{
	struct study *s = need_memory(1, sizeof(*s));
	json_object *all = json_object_new_object();
	json_object *why = json_object_new_array();
	bool explained;
	int i;

	compute(s);
	explained = add_reasons(s, why);
	if (o->json) {
		for (i = 0; i < MEASURES; i++)
			json_object_object_add(all, measures[i], table_rows(s, i));
		json_object_object_add(all, "differences", why);
		json_object_object_add(all, "conclusions", claim_rows(s));
		out_rows(o, all);
	} else {
		heading(o, "Fabrics");
		out_rows(o, fabric_rows());
		printf("\n%s", legend);
		for (i = 0; i < MEASURES; i++) {
			char text[64];

			snprintf(text, sizeof(text), "Table %d: %s", i + 2, measures[i]);
			heading(o, text);
			out_rows(o, table_rows(s, i));
		}
		heading(o, "Published numbers that the formulas do not give");
		i = (int)json_object_array_length(why);
		out_rows(o, why);
		printf("\n%d cells differ.\n", i);
		heading(o, "Conclusions: the other topology's number divided by that of MKNS");
		out_rows(o, claim_rows(s));
		json_object_put(all);
	}
	free(s);
	return explained ? 0 : fail("a published number differs from its formula, and the table has no reason");
}
