// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-topo: graphs of Graphviz, read by its library if it is installed.
 *
 * A router with attribute kind=switch is a switch, others are nodes.  Ports are
 * the labels at the ends of an edge, taillabel and headlabel; an end without a label gets the
 * lowest free port.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo.h"

bool is_graphviz(const char *text)
{
	const char *dot = strncmp(text, "file:", 5) ? NULL : strrchr(text, '.');

	return dot && (!strcmp(dot, ".gv") || !strcmp(dot, ".dot"));
}

#ifdef ANG_HAVE_CGRAPH
#include <graphviz/cgraph.h>

#define PORTS	64U	/* most ports of a router */

/* The library's parameters are not const. */
static char record[] = "router";

/**
 * struct router - a router of the graph
 * @head: data of the library
 * @number: number of the router in the order of the file
 * @used: ports, one bit each
 */
struct router {
	Agrec_t head;
	uint32_t number;
	uint64_t used;
};

/* Return: port that a label gives, PORTS without a label; an invalid label ends the program. */
static uint32_t label_port(const char *path, Agedge_t *edge, char *name)
{
	const char *label = agget(edge, name);
	uint32_t port = PORTS;

	if (!label || !*label)
		return PORTS;
	if (!read_number(label, PORTS - 1, &port))
		exit(misuse("%s: %s -- %s: %s '%s': must be a port from 0 to %u", path,
			    agnameof(agtail(edge)), agnameof(aghead(edge)), name, label,
			    PORTS - 1));
	return port;
}

static struct router *router_of(Agnode_t *node)
{
	return (struct router *)aggetrec(node, record, 0);
}

static void take_port(const char *path, Agnode_t *node, uint32_t port)
{
	struct router *r = router_of(node);

	if (r->used >> port & 1)
		exit(misuse("%s: port %u of %s is used twice", path, port, agnameof(node)));
	r->used |= 1ULL << port;
}

static uint32_t free_port(const char *path, Agnode_t *node)
{
	struct router *r = router_of(node);

	if (!~r->used)
		exit(misuse("%s: %s has more than %u cables", path, agnameof(node), PORTS));
	return (uint32_t)__builtin_ctzll(~r->used);
}

static char tail[] = "taillabel", head[] = "headlabel";

/* Takes the ports that the labels of a cable give. */
static void take_labels(const char *path, Agedge_t *edge)
{
	uint32_t p = label_port(path, edge, tail), q = label_port(path, edge, head);
	Agnode_t *a = agtail(edge), *b = aghead(edge);

	if (a == b)
		exit(misuse("%s: %s -- %s is a loop: both ends are at the same router", path,
			    agnameof(a), agnameof(b)));
	if (p < PORTS)
		take_port(path, a, p);
	if (q < PORTS)
		take_port(path, b, q);
}

/* Return: port of one end of a cable; without a label the lowest free one. */
static uint32_t end_port(const char *path, Agedge_t *edge, char *name, Agnode_t *node)
{
	uint32_t port = label_port(path, edge, name);

	if (port == PORTS) {
		port = free_port(path, node);
		take_port(path, node, port);
	}
	return port;
}

static void put_cable(const char *path, Agedge_t *edge, FILE *out)
{
	Agnode_t *a = agtail(edge), *b = aghead(edge);
	uint32_t p = end_port(path, edge, tail, a), q = end_port(path, edge, head, b);

	fprintf(out, "r%u:%u r%u:%u\n", router_of(a)->number, p, router_of(b)->number, q);
}

static void put_graph(const char *path, Agraph_t *graph, FILE *out)
{
	static char kind[] = "kind";
	uint32_t number = 0;
	Agnode_t *node;
	Agedge_t *edge;

	fputs("graph graphviz\n", out);
	for (node = agfstnode(graph); node; node = agnxtnode(graph, node)) {
		const char *value = agget(node, kind);
		struct router *r = agbindrec(node, record, sizeof(*r), 0);

		r->number = number++;
		fprintf(out, "%s r%u\n",
			value && !strcmp(value, "switch") ? "switch" : "node", r->number);
	}
	for (node = agfstnode(graph); node; node = agnxtnode(graph, node))
		for (edge = agfstout(graph, node); edge; edge = agnxtout(graph, edge))
			take_labels(path, edge);
	for (node = agfstnode(graph); node; node = agnxtnode(graph, node))
		for (edge = agfstout(graph, node); edge; edge = agnxtout(graph, edge))
			put_cable(path, edge, out);
}

/*
 * The library itself prints what is wrong with the text: do not print a second
 * message.
 */
static int quiet(char *text)
{
	(void)text;
	return 0;
}

char *graphviz_text(const char *path)
{
	FILE *file = fopen(path, "re");
	Agraph_t *graph;
	size_t size;
	char *text;
	FILE *out;

	if (!file)
		exit(misuse("%s: %s", path, strerror(errno)));
	agseterrf(quiet);
	graph = agread(file, NULL);
	fclose(file);
	if (!graph)
		exit(misuse("%s: not a graph of Graphviz", path));
	out = open_memstream(&text, &size);
	if (!out)
		exit(fail("%s: no memory for the graph", path));
	put_graph(path, graph, out);
	agclose(graph);
	if (fclose(out))
		exit(fail("%s: no memory for the graph", path));
	return text;
}
#else
char *graphviz_text(const char *path)
{
	exit(fail("%s: built without Graphviz's library; install libgraphviz-dev and build again",
		  path));
}
#endif
