// SPDX-License-Identifier: GPL-2.0-only
/* angara-topo show, metrics, compare. */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "topo.h"

struct prices {
	double cable, port, swtch, node;
};

static struct prices read_prices(const char *list)
{
	static const char form[] = "must be cable=,port=,switch=,node= with numbers from 0 to 1e9";
	struct prices p = { 0 };
	const char *at = list;

	while (at && *at) {
		static const char *const names[] = { "cable=", "port=", "switch=", "node=" };
		double *const prices[] = { &p.cable, &p.port, &p.swtch, &p.node };
		char *end;
		size_t i;

		for (i = 0; i < 4 && strncmp(at, names[i], strlen(names[i])); i++)
			;
		if (i == 4)
			exit(misuse("--prices '%s': %s", list, form));
		at += strlen(names[i]);
		*prices[i] = strtod(at, &end);
		if (end == at || !(*prices[i] >= 0 && *prices[i] <= 1e9) || (*end && *end != ','))
			exit(misuse("--prices '%s': %s", list, form));
		at = *end ? end + 1 : end;
	}
	return p;
}

static double cost_of(const struct prices *p, uint32_t nodes,
		      const struct angara_fabric_metrics *m)
{
	return p->cable * m->cables + p->port * (double)m->ports +
	       p->swtch * m->switches + p->node * nodes;
}

int cmd_show(const struct opts *o, int argc, char **argv)
{
	struct angara_fabric *f = need_fabric(argv[0]);
	json_object *rows = json_object_new_array();
	uint32_t router, port;

	(void)argc;
	for (router = 0; router < angara_fabric_routers(f); router++)
		for (port = 0; port < angara_fabric_ports(f); port++) {
			uint32_t far;
			uint32_t to = angara_fabric_peer(f, router, port, &far);
			json_object *row;

			if (to == UINT32_MAX)
				continue;
			row = json_object_new_object();
			add_text(row, "router", "%s", plan_router(f, router));
			add_number(row, "port", port);
			add_text(row, "joined to", "%s", plan_router(f, to));
			add_number(row, "far port", far);
			add_text(row, "kept by", "%s",
				 plan_router(f, angara_fabric_keeper(f, router)));
			json_object_array_add(rows, row);
		}
	out_rows(o, rows);
	angara_fabric_close(f);
	return 0;
}

static void add_row(json_object *rows, const char *name, uint64_t formula,
		    uint64_t graph, const char *note)
{
	json_object *row = json_object_new_object();

	add_text(row, "measure", "%s", name);
	if (formula)
		add_number(row, "formula", formula);
	else
		add_text(row, "formula", "-");
	if (graph)
		add_number(row, "graph", graph);
	else
		add_text(row, "graph", "-");
	add_text(row, "how", "%s", note);
	json_object_array_add(rows, row);
}

int cmd_metrics(const struct opts *o, int argc, char **argv)
{
	struct angara_fabric_metrics m = { .size = sizeof(m) }, g = m;
	struct angara_fabric *f = need_fabric(argv[0]);
	uint32_t nodes = angara_fabric_nodes(f);
	json_object *rows = json_object_new_array();
	struct prices p = read_prices(o->prices);
	const char *how = "every half tried";
	uint32_t halves;
	char note[80];

	(void)argc;
	if (angara_fabric_measure(f, &m) || angara_fabric_formula(f, &g))
		return fail("%s: no memory to measure the fabric", argv[0]);
	halves = m.bisection;
	if (!halves && nodes > 1) {
		halves = metis_halves(f);
		how = halves ? "upper bound: the best half that METIS found" :
			       "not known: built without METIS";
	}
	snprintf(note, sizeof(note), m.pairs ? "max-flow from node 0 to %u others" :
		 "max-flow between all", m.pairs);
	add_row(rows, "nodes", 0, nodes, "counted");
	add_row(rows, "switches", g.switches, m.switches, "counted");
	add_row(rows, "diameter", g.diameter, m.diameter, "breadth-first search from all");
	add_row(rows, "tree diameter", g.tree_diameter, m.tree_diameter,
		"least of all spanning trees");
	add_row(rows, "connectivity", g.connectivity, m.connectivity, note);
	add_row(rows, "bisection", g.bisection, halves, how);
	add_row(rows, "cables", g.cables, m.cables, "counted");
	add_row(rows, "ports", g.ports, m.ports, "counted, joined or not");
	add_row(rows, "joined ports", 0, m.joined, "counted");
	add_row(rows, "distance x 1000", 0, (uint64_t)(m.distance * 1000 + 0.5),
		"average over pairs of nodes");
	if (o->prices)
		add_row(rows, "cost", (uint64_t)cost_of(&p, nodes, &g),
			(uint64_t)cost_of(&p, nodes, &m), o->prices);
	out_rows(o, rows);
	angara_fabric_close(f);
	return 0;
}

/* Adds the bisection to a row: exact, the best that METIS finds, or unknown. */
static void add_halves(json_object *row, const struct angara_fabric *f, uint32_t exact)
{
	uint32_t halves = exact ? exact : metis_halves(f);

	if (halves)
		add_number(row, "bisection", halves);
	else
		add_text(row, "bisection", "-");
	add_text(row, "bisection is", exact ? "exact" : halves ? "METIS's best" : "not known");
}

int cmd_compare(const struct opts *o, int argc, char **argv)
{
	struct prices p = read_prices(o->prices);
	json_object *rows;
	int i;

	if (o->study) {
		if (strcmp(o->study, "mkns"))
			return misuse("--study '%s': must be mkns", o->study);
		if (argc)
			return misuse("--study takes no fabrics");
		return study_mkns(o);
	}
	if (!argc)
		return misuse("compare: needs a fabric");
	rows = json_object_new_array();
	for (i = 0; i < argc; i++) {
		struct angara_fabric_metrics m = { .size = sizeof(m) };
		struct angara_fabric *f = need_fabric(argv[i]);
		json_object *row = json_object_new_object();

		if (angara_fabric_measure(f, &m))
			return fail("%s: no memory to measure the fabric", argv[i]);
		add_text(row, "fabric", "%s", argv[i]);
		add_number(row, "nodes", angara_fabric_nodes(f));
		add_number(row, "switches", m.switches);
		add_number(row, "diameter", m.diameter);
		add_real(row, "distance", m.distance);
		add_number(row, "tree", m.tree_diameter);
		add_number(row, "connectivity", m.connectivity);
		add_halves(row, f, m.bisection);
		add_number(row, "cables", m.cables);
		add_number(row, "ports", m.ports);
		if (o->prices)
			add_number(row, "cost", (uint64_t)cost_of(&p,
				   angara_fabric_nodes(f), &m));
		json_object_array_add(rows, row);
		angara_fabric_close(f);
	}
	out_rows(o, rows);
	return 0;
}
