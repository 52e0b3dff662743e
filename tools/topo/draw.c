// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-topo dot, svg: the graph, or a summary of a graph with many routers:
 * nodes are grouped in boxes by their coordinates, switches by the coordinates
 * of the nodes that manage them.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan.h"
#include "topo.h"

#define WHOLE	200U	/* most routers that are drawn one by one */

#define GROUPS	64U	/* approximate number of boxes of nodes in a summary */

/* Return: number of cables from each router to the nearest node. */
static uint32_t *layers(const struct angara_fabric *f)
{
	uint32_t routers = angara_fabric_routers(f), nodes = angara_fabric_nodes(f);
	uint32_t *queue = need_memory(routers, sizeof(*queue));
	uint32_t *layer = need_memory(routers, sizeof(*layer));
	uint32_t head, tail, port;

	for (tail = 0; tail < nodes; tail++)
		queue[tail] = tail;
	for (head = 0; head < tail; head++)
		for (port = 0; port < angara_fabric_ports(f); port++) {
			uint32_t to = angara_fabric_peer(f, queue[head], port, NULL);

			if (to == UINT32_MAX || to < nodes || layer[to])
				continue;
			layer[to] = layer[queue[head]] + 1;
			queue[tail++] = to;
		}
	free(queue);
	return layer;
}

/**
 * struct grouping - grouping of nodes into boxes
 * @first: first digit that counts
 * @last: last digit that counts
 * @values: values of each digit
 * @digits: number of digits
 * @product: values of the digits that count, multiplied
 */
struct grouping {
	unsigned int first, last, digits;
	uint32_t product;
	uint32_t values[ANGARA_FABRIC_DIGITS];
};

/*
 * Groups by the digit with most values, and by digits before that one as long
 * as there are at most GROUPS boxes.
 */
static struct grouping choose(const struct angara_fabric *f)
{
	struct grouping g = { 0 };
	uint16_t digits[ANGARA_FABRIC_DIGITS];
	uint32_t node;
	unsigned int d;

	for (node = 0; node < angara_fabric_nodes(f); node++) {
		g.digits = angara_fabric_digits(f, node, digits);
		for (d = 0; d < g.digits; d++)
			if (digits[d] >= g.values[d])
				g.values[d] = digits[d] + 1U;
	}
	for (d = 1; d < g.digits; d++)
		if (g.values[d] > g.values[g.last])
			g.last = d;
	g.product = g.values[g.last];
	for (g.first = g.last; g.first && g.product * g.values[g.first - 1] <= GROUPS;)
		g.product *= g.values[--g.first];
	return g;
}

static uint32_t group_of(const struct angara_fabric *f, const struct grouping *g,
			 uint32_t router)
{
	uint16_t digits[ANGARA_FABRIC_DIGITS];
	uint32_t node = angara_fabric_keeper(f, router);
	uint32_t group = 0;
	unsigned int d;

	if (g->digits == 1)
		return (uint32_t)((uint64_t)node * GROUPS / 4 / angara_fabric_nodes(f));
	angara_fabric_digits(f, node, digits);
	for (d = g->first; d <= g->last; d++)
		group = group * g->values[d] + digits[d];
	/* The first digit may have more values than there are groups. */
	if (g->product > GROUPS)
		group = (uint32_t)((uint64_t)group * GROUPS / g->product);
	return group;
}

static void draw_whole(const struct angara_fabric *f, FILE *out)
{
	uint32_t router, port;

	for (router = 0; router < angara_fabric_routers(f); router++)
		fprintf(out, "\tr%u [label=\"%s\"%s];\n", router, plan_router(f, router),
			router < angara_fabric_nodes(f) ? "" : ", kind=switch, shape=box, style=filled");
	for (router = 0; router < angara_fabric_routers(f); router++)
		for (port = 0; port < angara_fabric_ports(f); port++) {
			uint32_t far;
			uint32_t to = angara_fabric_peer(f, router, port, &far);

			if (to == UINT32_MAX || to < router)
				continue;
			fprintf(out, "\tr%u -- r%u [taillabel=%u, headlabel=%u];\n", router, to,
				port, far);
		}
}

/*
 * Draws a box for each group of nodes, and for each group and layer of
 * switches.
 */
static void draw_summary(const struct angara_fabric *f, FILE *out)
{
	uint32_t routers = angara_fabric_routers(f), nodes = angara_fabric_nodes(f);
	uint32_t *box = need_memory(routers, sizeof(*box)), *layer = layers(f);
	struct grouping g = choose(f);
	uint32_t boxes = 0, router, port, a, b;
	uint32_t *count, *cables;

	for (router = 0; router < routers; router++) {
		box[router] = group_of(f, &g, router) + 2 * GROUPS * layer[router];
		if (box[router] >= boxes)
			boxes = box[router] + 1;
	}
	count = need_memory(boxes, sizeof(*count));
	cables = need_memory((size_t)boxes * boxes, sizeof(*cables));
	for (router = 0; router < routers; router++) {
		a = box[router];
		count[a]++;
		for (port = 0; port < angara_fabric_ports(f); port++) {
			uint32_t to = angara_fabric_peer(f, router, port, NULL);

			if (to == UINT32_MAX || to < router)
				continue;
			b = box[to];
			cables[a < b ? a * boxes + b : b * boxes + a]++;
		}
	}
	for (router = 0; router < routers; router++) {
		a = box[router];
		if (!count[a])
			continue;
		fprintf(out, "\tg%u [shape=box%s, label=\"%u %s\\n%u cables inside\"];\n", a,
			router < nodes ? "" : ", style=filled", count[a],
			router < nodes ? "nodes" : "switches", cables[a * boxes + a]);
		count[a] = 0;
	}
	for (a = 0; a < boxes; a++)
		for (b = a + 1; b < boxes; b++)
			if (cables[a * boxes + b])
				fprintf(out, "\tg%u -- g%u [label=\"%u\"];\n", a, b,
					cables[a * boxes + b]);
	free(layer);
	free(box);
	free(count);
	free(cables);
}

/* Draws a fabric, which @text describes, and closes it. */
static void draw(struct angara_fabric *f, const char *text, FILE *out)
{
	fprintf(out, "graph fabric {\n\tlayout=%s;\n\tlabel=\"%s: %u nodes, %u switches\";\n",
		angara_fabric_routers(f) <= WHOLE ? "neato" : "circo", text,
		angara_fabric_nodes(f), angara_fabric_routers(f) - angara_fabric_nodes(f));
	fputs("\tnode [fontsize=10];\n\tedge [fontsize=8];\n\toverlap=false;\n", out);
	if (angara_fabric_routers(f) <= WHOLE)
		draw_whole(f, out);
	else
		draw_summary(f, out);
	fputs("}\n", out);
	angara_fabric_close(f);
}

static int close_output(FILE *out, const char *name)
{
	int bad = ferror(out) | fflush(out);

	if (out != stdout)
		bad |= fclose(out);
	return bad ? fail("%s: %s", name, strerror(errno)) : 0;
}

int cmd_dot(const struct opts *o, int argc, char **argv)
{
	/* A wrong fabric ends the program, before the file loses what it has. */
	struct angara_fabric *f = need_fabric(argv[0]);
	FILE *out;

	(void)argc;
	out = o->output ? fopen(o->output, "we") : stdout;
	if (!out)
		return fail("%s: %s", o->output, strerror(errno));
	draw(f, argv[0], out);
	return close_output(out, o->output ? o->output : "standard output");
}

/* Lets dot draw a fabric, which @text describes, to standard output. */
static int draw_svg(struct angara_fabric *f, const char *text)
{
	FILE *dot = popen("dot -Tsvg", "we");

	if (!dot)
		return fail("dot: %s", strerror(errno));
	/* If dot ends early, pclose() reports it.  dot has started with the default action. */
	signal(SIGPIPE, SIG_IGN);
	draw(f, text, dot);
	return pclose(dot) ? fail("dot failed: install graphviz") : 0;
}

/* Draws to a temporary file first: an error leaves @path as it is. */
static int draw_file(struct angara_fabric *f, const char *text, const char *path)
{
	size_t size = strlen(path) + sizeof(".tmp");
	char *temp = need_memory(size, 1);
	int ret;

	snprintf(temp, size, "%s.tmp", path);
	/* The drawing program inherits standard output. */
	if (!freopen(temp, "w", stdout)) {
		ret = fail("%s: %s", temp, strerror(errno));
	} else {
		ret = draw_svg(f, text);
		if (!ret && rename(temp, path))
			ret = fail("%s: %s", path, strerror(errno));
		if (ret)
			unlink(temp);
	}
	free(temp);
	return ret;
}

int cmd_svg(const struct opts *o, int argc, char **argv)
{
	struct angara_fabric *f = need_fabric(argv[0]);
	struct stat st;
	char *path;
	int ret;

	(void)argc;
	if (!o->output)
		return draw_svg(f, argv[0]);
	/* A device or a pipe cannot be replaced. */
	if (!stat(o->output, &st) && !S_ISREG(st.st_mode))
		return freopen(o->output, "w", stdout) ? draw_svg(f, argv[0]) :
		       fail("%s: %s", o->output, strerror(errno));
	/* Replace the file that a symbolic link names, not the link. */
	path = realpath(o->output, NULL);
	ret = draw_file(f, argv[0], path ? path : o->output);
	free(path);
	return ret;
}
