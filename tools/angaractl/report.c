// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl report: a fabric as one HTML page, which needs no other file and no
 * script: cables between routers, load and faults of links, trees, processes.
 *
 * Texts of a fabric are untrusted: put_text() escapes all of them.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

#define CELL		64	/* distance of neighbors */
#define MOST_DRAWN	1024U	/* most routers in a readable picture */

struct place {
	double x, y;
};

struct report {
	struct fabric fabric;
	struct json_object *links;
	struct place *at;	/* position of each router; NULL: too many routers */
	double width, height;
	uint64_t most;		/* most flits that one link has sent */
};

/* Replaces characters that HTML interprets, and control characters. */
static void put_text(const char *text)
{
	for (; *text; text++)
		if (*text == '&')
			fputs("&amp;", stdout);
		else if (*text == '<')
			fputs("&lt;", stdout);
		else if (*text == '>')
			fputs("&gt;", stdout);
		else if (*text == '"')
			fputs("&quot;", stdout);
		else if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
			putchar('?');
		else
			putchar(*text);
}

static void put_router(const struct fabric *fabric, uint32_t router)
{
	char name[ROUTER_NAME];

	put_text(fabric_router(fabric, router, name));
}

/*
 * Fills in @size: for each coordinate, its largest value at any node, plus 1.
 * Returns the number of coordinates.
 */
static uint32_t digit_sizes(const struct fabric *fabric, uint32_t size[FABRIC_DIGITS])
{
	uint16_t digits[FABRIC_DIGITS];
	uint32_t most = 0;

	for (uint32_t d = 0; d < FABRIC_DIGITS; d++)
		size[d] = 1;
	for (uint32_t i = 0; i < fabric->nodes; i++) {
		uint32_t n = fabric_digits(fabric, i, digits);

		most = n > most ? n : most;
		for (uint32_t d = 0; d < n; d++)
			if (digits[d] >= size[d])
				size[d] = digits[d] + 1;
	}
	return most;
}

/*
 * Places a node by its coordinates: those with even indices move it to the right,
 * those with odd indices down, and each by a larger step than the one before.  Nodes
 * with a single coordinate are placed in rows.
 */
static void place_node(struct report *r, uint32_t node, uint32_t many,
		       const uint32_t size[FABRIC_DIGITS])
{
	uint32_t step[2] = { 1, 1 }, cell[2] = { 0, 0 };
	uint16_t digits[FABRIC_DIGITS];

	if (many > 1 && fabric_digits(&r->fabric, node, digits) == many) {
		for (uint32_t d = 0; d < many; d++) {
			cell[d % 2] += digits[d] * step[d % 2];
			step[d % 2] = step[d % 2] * size[d] + 1;
		}
	} else {
		uint32_t row = 1;

		while (row * row < r->fabric.nodes)
			row++;
		cell[0] = node % row;
		cell[1] = node / row;
	}
	r->at[node] = (struct place){ CELL * (cell[0] + 1.0), CELL * (cell[1] + 1.0) };
}

/* Switches are placed below the nodes, in rows of the same width. */
static void place_all(struct report *r)
{
	const struct fabric *f = &r->fabric;
	uint32_t size[FABRIC_DIGITS], many, columns;

	if (f->routers > MOST_DRAWN)
		return;
	many = digit_sizes(f, size);
	r->at = need_memory(f->routers, sizeof(*r->at));
	for (uint32_t i = 0; i < f->nodes; i++) {
		place_node(r, i, many, size);
		if (r->at[i].x > r->width)
			r->width = r->at[i].x;
		if (r->at[i].y > r->height)
			r->height = r->at[i].y;
	}
	columns = (uint32_t)(r->width / CELL);
	for (uint32_t i = f->nodes; i < f->routers; i++) {
		uint32_t nr = i - f->nodes;

		r->at[i] = (struct place){ CELL * (nr % columns + 1.5),
					   r->height + CELL * (nr / columns + 1.5) };
	}
	r->width += 2 * CELL;
	r->height += CELL * (f->routers > f->nodes ?
			     (f->routers - f->nodes - 1) / columns + 3.0 : 1.0);
}

/*
 * A line between two routers; a long line is bent, as a straight one would hide
 * others.
 */
static void put_line(const struct report *r, uint32_t a, uint32_t b)
{
	const struct place *p = &r->at[a], *q = &r->at[b];
	double dx = q->x - p->x, dy = q->y - p->y, bend = 0;

	if (dx * dx + dy * dy > 2.25 * CELL * CELL)
		bend = 0.15;
	printf("<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\"", p->x, p->y,
	       (p->x + q->x) / 2 - bend * dy, (p->y + q->y) / 2 + bend * dx, q->x, q->y);
}

static void put_routers(const struct report *r, uint32_t root)
{
	const struct fabric *f = &r->fabric;

	for (uint32_t i = 0; i < f->routers; i++) {
		const char *kind = i == root ? "root" : i < f->nodes ? "node" : "switch";

		printf("<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"><title>", kind,
		       r->at[i].x, r->at[i].y);
		put_router(f, i);
		printf("</title></circle><text x=\"%.1f\" y=\"%.1f\">%u</text>\n", r->at[i].x,
		       r->at[i].y + 3, i < f->nodes ? i : i - f->nodes);
	}
}

static void svg_begin(const struct report *r, const char *title)
{
	printf("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 %.0f %.0f\"",
	       r->width, r->height);
	printf(" style=\"max-width:%.0fpx\">\n<title>%s</title>\n", r->width * 1.2, title);
}

static bool has_fault(struct json_object *link)
{
	return record_number(link, "loss") || record_number(link, "corrupt") ||
	       record_number(link, "delay");
}

/* Draws one direction of a link, from grey to red by its load. */
static void put_link(const struct report *r, struct json_object *link)
{
	uint64_t router = record_number(link, "router"), to = record_number(link, "neighbor");
	uint64_t flits = record_number(link, "flits");
	double load = r->most ? (double)flits / (double)r->most : 0;

	if (router >= r->fabric.routers || to >= r->fabric.routers)
		return;
	put_line(r, (uint32_t)router, (uint32_t)to);
	printf(" class=\"%s\" stroke=\"rgb(%d,%d,%d)\" stroke-width=\"%.1f\"><title>",
	       record_number(link, "down") ? "down" : has_fault(link) ? "bad" : "up",
	       (int)(170 + 30 * load), (int)(170 - 150 * load), (int)(170 - 150 * load),
	       1 + 3 * load);
	put_router(&r->fabric, (uint32_t)router);
	fputs(" port ", stdout);
	put_text(record_string(link, "name"));
	printf(": %llu flits</title></path>\n", (unsigned long long)flits);
}

static void put_fabric(const struct report *r)
{
	fputs("<h2>Links</h2>\n", stdout);
	if (!r->at) {
		printf("<p>Pictures show fabrics of at most %u nodes and switches.</p>\n",
		       MOST_DRAWN);
		return;
	}
	svg_begin(r, "Links by load");
	for (size_t i = 0; i < json_object_array_length(r->links); i++)
		put_link(r, json_object_array_get_idx(r->links, i));
	put_routers(r, r->fabric.routers);
	fputs("</svg>\n<p>Red links have sent most. ", stdout);
	fputs("Dashed ones are down, dotted ones have faults.</p>\n", stdout);
}

static const struct {
	const char *key, *heading;
} link_cells[] = {
	{ "state", "State" }, { "packets", "Packets" }, { "flits", "Flits" },
	{ "stalls", "Stalls" }, { "lost", "Lost" }, { "wrong", "Wrong" },
	{ "retransmitted", "Sent again" }, { "timeouts", "Timeouts" },
};

static void put_links(const struct report *r)
{
	fputs("<table>\n<tr><th>Router</th><th>Port</th><th>To</th>", stdout);
	for (size_t k = 0; k < ARRAY_SIZE(link_cells); k++)
		printf("<th>%s</th>", link_cells[k].heading);
	fputs("</tr>\n", stdout);
	for (size_t i = 0; i < json_object_array_length(r->links); i++) {
		struct json_object *link = json_object_array_get_idx(r->links, i);
		uint64_t router = record_number(link, "router");
		uint64_t to = record_number(link, "neighbor");

		if (router >= r->fabric.routers || to >= r->fabric.routers)
			continue;
		fputs("<tr><td>", stdout);
		put_router(&r->fabric, (uint32_t)router);
		fputs("</td><td>", stdout);
		put_text(record_string(link, "name"));
		fputs("</td><td>", stdout);
		put_router(&r->fabric, (uint32_t)to);
		fputs("</td>", stdout);
		for (size_t k = 0; k < ARRAY_SIZE(link_cells); k++) {
			fputs("<td>", stdout);
			if (k)
				printf("%llu", (unsigned long long)
				       record_number(link, link_cells[k].key));
			else
				put_text(record_string(link, link_cells[k].key));
			fputs("</td>", stdout);
		}
		fputs("</tr>\n", stdout);
	}
	fputs("</table>\n", stdout);
}

static void put_tree(const struct report *r, const struct tree *tree)
{
	uint32_t down = 0, joined = 0, pe = 0;

	for (uint32_t i = 0; i < r->fabric.routers; i++) {
		const struct tree_router *at = &tree->at[i];

		down += at->state == ANGARA_TREE_STATE_DOWN;
		joined += at->members;
		pe += at->state != ANGARA_TREE_STATE_UNSET ? at->row.pe : 0;
	}
	printf("<h3>Tree %u</h3>\n<p>%u routers, %u of them switches; ", tree->id, tree->set,
	       tree->switches);
	printf("%u of %u participants have joined; ", joined, pe);
	printf(down ? "down at %u.</p>\n" : "up.</p>\n", down);
	if (!r->at)
		return;
	svg_begin(r, "Tree");
	for (uint32_t i = 0; i < r->fabric.routers; i++) {
		const struct tree_router *at = &tree->at[i];
		uint32_t peer;

		if (at->state == ANGARA_TREE_STATE_UNSET || at->row.is_root)
			continue;
		peer = fabric_peer(&r->fabric, i, at->row.to_root);
		if (peer >= r->fabric.routers)
			continue;
		put_line(r, i, peer);
		printf(" class=\"%s\"/>\n", at->state == ANGARA_TREE_STATE_UP ? "tree" :
		       "tree down");
	}
	put_routers(r, tree->root);
	fputs("</svg>\n", stdout);
}

static int put_trees(struct nl *nl, const struct report *r)
{
	struct about about = { .has_fabric = true, .fabric = r->fabric.id };
	bool seen[ANGARA_MAX_TREES] = { false };
	struct json_object *rows;
	bool any = false;
	int status = ctl_dump_or_fail(nl, ANGARA_CMD_TREE_GET, &about, &rows);

	if (status)
		return status;
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		uint64_t id = record_number(json_object_array_get_idx(rows, i), "tree");

		if (id < ANGARA_MAX_TREES)
			seen[id] = true;
	}
	json_object_put(rows);
	fputs("<h2>Trees</h2>\n", stdout);
	for (unsigned int id = 0; id < ANGARA_MAX_TREES && !status; id++) {
		struct tree tree;

		about.tree = (uint8_t)id;
		if (!seen[id])
			continue;
		status = tree_load(nl, &about, &tree);
		if (status)
			break;
		if (tree.set && tree.fabric.routers == r->fabric.routers) {
			put_tree(r, &tree);
			any = true;
		}
		tree_free(&tree);
	}
	if (!status && !any)
		fputs("<p>None is set.</p>\n", stdout);
	return status;
}

/* Compares contexts: by process, then by node. */
static int by_process(const void *a, const void *b)
{
	static const char *const keys[] = { "uid", "pid", "pkey", "node" };
	struct json_object *const *x = a, *const *y = b;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint64_t p = record_number(*x, keys[i]), q = record_number(*y, keys[i]);

		if (p != q)
			return p < q ? -1 : 1;
	}
	return 0;
}

/*
 * Do two contexts belong to one process?  A server does not know processes, and a
 * reader in another pid namespace does not see them: the pid is 0.  Then contexts of one
 * partition at one node count as one process.
 */
static bool same_process(struct json_object *x, struct json_object *y)
{
	uint64_t pid = record_number(x, "pid");

	return pid == record_number(y, "pid") &&
	       record_number(x, "uid") == record_number(y, "uid") &&
	       record_number(x, "pkey") == record_number(y, "pkey") &&
	       (pid || record_number(x, "node") == record_number(y, "node"));
}

static void put_cell(const char *text)
{
	fputs("<td>", stdout);
	put_text(strcmp(text, "-") ? text : "unknown");
	fputs("</td>", stdout);
}

/* Prints the row of a process.  @ctx: its first context.  Return: index after its last one. */
static size_t put_process(struct json_object *ctxs, size_t ctx)
{
	struct json_object *c = json_object_array_get_idx(ctxs, ctx), *pkey = NULL;
	uint64_t last = UINT64_MAX;
	char name[32];
	size_t i;

	json_object_object_get_ex(c, "pkey", &pkey);
	fputs("<tr>", stdout);
	put_cell(record_string(c, "uid"));
	put_cell(record_string(c, "pid"));
	put_cell(pkey_text(pkey, name, sizeof(name)));
	fputs("<td>", stdout);
	for (i = ctx; i < json_object_array_length(ctxs); i++) {
		struct json_object *next = json_object_array_get_idx(ctxs, i);
		uint64_t node = record_number(next, "node");

		if (!same_process(c, next))
			break;
		if (node != last)
			printf("%s%llu", i == ctx ? "" : " ", (unsigned long long)node);
		last = node;
	}
	printf("</td><td>%zu</td></tr>\n", i - ctx);
	return i;
}

/* A table of the processes that have contexts, as far as the caller may see them. */
static int put_processes(struct nl *nl, const struct report *r)
{
	const struct about about = { .has_fabric = true, .fabric = r->fabric.id };
	struct json_object *ctxs;
	int status = ctl_dump_or_fail(nl, ANGARA_CMD_CTX_GET, &about, &ctxs);
	size_t i = 0;

	if (status)
		return status;
	fputs("<h2>Processes</h2>\n", stdout);
	json_object_array_sort(ctxs, by_process);
	if (!json_object_array_length(ctxs))
		fputs("<p>None has a context that you may see.</p>\n", stdout);
	else
		fputs("<table id=\"processes\"><tr><th>User</th><th>Process</th>"
		      "<th>Partition</th><th>Nodes</th><th>Contexts</th></tr>\n", stdout);
	while (i < json_object_array_length(ctxs))
		i = put_process(ctxs, i);
	if (i)
		fputs("</table>\n", stdout);
	json_object_put(ctxs);
	return DONE;
}

static void put_head(const struct report *r)
{
	char count[COUNT_TEXT];

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n<title>Fabric ",
	      stdout);
	put_text(r->fabric.name);
	fputs("</title>\n<style>\n"
	      "body{font:14px sans-serif;margin:2em}svg{display:block;width:100%}\n"
	      "path{fill:none}.down{stroke-dasharray:6 4;stroke:#000}\n"
	      ".bad{stroke-dasharray:1 3}.tree{stroke:#06c;stroke-width:3}\n"
	      "circle{fill:#def;stroke:#333}.switch{fill:#fed}.root{fill:#fc0}\n"
	      "text{font-size:8px;text-anchor:middle}\n"
	      "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:2px 8px}\n"
	      "</style></head><body>\n<h1>Fabric ", stdout);
	put_text(r->fabric.name);
	printf("</h1>\n<p>%s; %u with a device here; fabric 0x%llx.</p>\n",
	       fabric_count(r->fabric.nodes, r->fabric.routers - r->fabric.nodes, count),
	       r->fabric.present, (unsigned long long)r->fabric.id);
}

static int report_write(struct nl *nl, struct report *r)
{
	struct about about = { .has_fabric = true, .fabric = r->fabric.id };
	int status = ctl_dump_or_fail(nl, ANGARA_CMD_PORT_GET, &about, &r->links);

	if (status)
		return status;
	link_add_faults(nl, r->links);
	for (size_t i = 0; i < json_object_array_length(r->links); i++) {
		uint64_t flits = record_number(json_object_array_get_idx(r->links, i), "flits");

		r->most = flits > r->most ? flits : r->most;
	}
	place_all(r);
	put_head(r);
	put_fabric(r);
	status = put_trees(nl, r);
	if (!status)
		status = put_processes(nl, r);
	if (!status) {
		fputs("<h2>Counters of links</h2>\n", stdout);
		put_links(r);
		fputs("</body></html>\n", stdout);
	}
	free(r->at);
	json_object_put(r->links);
	return status;
}

static int report_run(struct args *args)
{
	struct report r = { .at = NULL };
	struct about about = { 0 };
	const char *word;
	struct nl nl;
	int status = DONE;

	if (options.json)
		return misuse("report does not take -j: it writes HTML");
	while (!status && (word = args_next(args)))
		status = strcmp(word, "fabric") ? misuse("\"%s\": expected fabric ID", word) :
						  args_about(args, word, &about);
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = fabric_find(&nl, &about, &r.fabric);
	if (!status) {
		status = report_write(&nl, &r);
		fabric_free(&r.fabric);
	}
	ctl_stop(&nl);
	return status;
}

static const struct command commands[] = {
	{ NULL, "[fabric ID]", "a page in HTML on stdout: links, loads, faults, trees, processes",
	  report_run, 0 },
};

const struct object report_object = {
	"report", "a fabric as a page with pictures", commands, ARRAY_SIZE(commands),
};
