// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-topo avoid: routes and trees around given failures, or around each
 * single failure; and the routes themselves, for the simulator.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo.h"

/* Reads "12", a router, or "12:3", one of its cables; "s4" is a switch. */
static bool read_failure(const struct angara_fabric *f, const char *text,
			 struct angara_failure *failure)
{
	uint32_t nodes = angara_fabric_nodes(f);
	uint32_t first = *text == 's' ? nodes : 0;
	uint32_t most = *text == 's' ? angara_fabric_routers(f) - nodes : nodes;
	char router[16];
	size_t len;

	text += *text == 's';
	len = strcspn(text, ":");
	if (!most || len >= sizeof(router))
		return false;
	memcpy(router, text, len);
	router[len] = 0;
	if (!read_number(router, most - 1, &failure->router))
		return false;
	failure->router += first;
	failure->port = ANGARA_FAILED_ROUTER;
	return !text[len] || (read_number(text + len + 1, angara_fabric_ports(f) - 1,
					  &failure->port) &&
			      angara_fabric_peer(f, failure->router, failure->port,
						 NULL) != UINT32_MAX);
}

static void need_routes(struct angara_fabric *f, const struct angara_failure *failed,
			uint32_t count, struct angara_detours *detours)
{
	int ret = angara_fabric_avoid(f, failed, count, detours);

	if (ret)
		exit(fail("routes cannot be computed: %s", ret == -EOPNOTSUPP ?
			  "all routes would have to change, and the fabric has more than 4096 routers" :
			  strerror(-ret)));
}

void avoid_failures(struct angara_fabric *f, const char *list,
		    struct angara_detours *detours)
{
	struct angara_failure *failed = NULL;
	uint32_t count = 0;

	while (list) {
		size_t len = strcspn(list, ",");
		char part[32];

		failed = realloc(failed, (count + 1) * sizeof(*failed));
		if (!failed)
			exit(fail("no memory for a list of %u failures", count + 1));
		memcpy(part, list, len < sizeof(part) ? len : 0);
		part[len < sizeof(part) ? len : 0] = 0;
		if (!read_failure(f, part, &failed[count++]))
			exit(misuse("--failed '%.*s': must be a router, such as 12 or s4, or one of its cables, such as 12:3",
				    (int)len, list));
		list = list[len] ? list + len + 1 : NULL;
	}
	need_routes(f, failed, count, detours);
	free(failed);
}

/**
 * struct outcome - results for cases of failures, each with its routes
 * @failures: number of cases
 * @updown: cases with up*down* routes
 * @circle: cases with channels that can wait for each other in a cycle
 * @no_tree: cases in which no tree joins all nodes that can reach each other
 * @lost: pairs of nodes without a route, in the worst case
 * @changed: entries of routing tables that changed, in the worst case
 * @longest: cables of the longest route
 * @cables: sum of the cables of all routes
 * @routes: number of routes
 */
struct outcome {
	uint64_t failures;
	uint64_t updown;
	uint64_t circle;
	uint64_t no_tree;
	uint64_t lost;
	uint64_t changed;
	uint64_t longest;
	uint64_t cables;
	uint64_t routes;
};

static void count_routes(const struct angara_fabric *f, struct outcome *o)
{
	uint32_t nodes = angara_fabric_nodes(f);
	uint32_t a, b;

	for (a = 0; a < nodes; a++)
		for (b = 0; b < nodes; b++) {
			uint32_t at = a, port = angara_fabric_route(f, a, b);
			uint64_t cables = 0;

			for (; port != UINT32_MAX; port = angara_fabric_route(f, at, b)) {
				at = angara_fabric_peer(f, at, port, NULL);
				cables++;
			}
			o->routes += cables > 0;
			o->cables += cables;
			o->longest = cables > o->longest ? cables : o->longest;
		}
}

/* Is there a tree over the nodes to which most nodes have routes? */
static bool has_tree(const struct angara_fabric *f)
{
	uint32_t nodes = angara_fabric_nodes(f), most = 0, centre = 0, a, b;
	uint16_t *pe = need_memory(nodes, sizeof(*pe));
	int64_t root;

	for (a = 0; a < nodes; a++) {
		uint32_t count = 0;

		for (b = 0; b < nodes; b++)
			count += angara_fabric_route(f, a, b) != UINT32_MAX;
		if (count > most) {
			most = count;
			centre = a;
		}
	}
	for (b = 0; b < nodes; b++)
		pe[b] = b == centre || angara_fabric_route(f, centre, b) != UINT32_MAX;
	root = angara_fabric_root(f, pe, NULL);
	free(pe);
	return root >= 0;
}

static void add_outcome(const struct angara_fabric *f, const struct angara_detours *d,
			struct outcome *o)
{
	o->failures++;
	o->updown += d->updown;
	o->circle += d->circle > 0;
	o->no_tree += !has_tree(f);
	o->lost = d->lost > o->lost ? d->lost : o->lost;
	o->changed = d->changed > o->changed ? d->changed : o->changed;
	count_routes(f, o);
}

static void add_row(json_object *rows, const char *what, const struct outcome *o)
{
	json_object *row = json_object_new_object();

	add_text(row, "failed", "%s", what);
	add_number(row, "cases", o->failures);
	add_number(row, "up*down*", o->updown);
	add_number(row, "deadlocks", o->circle);
	add_number(row, "no tree", o->no_tree);
	add_number(row, "pairs lost", o->lost);
	add_number(row, "changed", o->changed);
	add_number(row, "longest", o->longest);
	add_real(row, "average", o->routes ? (double)o->cables / (double)o->routes : 0);
	json_object_array_add(rows, row);
}

static void try_failure(struct angara_fabric *f, uint32_t router, uint32_t port,
			struct outcome *o)
{
	const struct angara_failure failure = { router, port };
	struct angara_detours d = { .size = sizeof(d) };

	need_routes(f, &failure, 1, &d);
	add_outcome(f, &d, o);
}

/*
 * Adds the outcome of the failure of each cable, node and switch, one at a
 * time.
 */
static void add_each(struct angara_fabric *f, json_object *rows)
{
	uint32_t nodes = angara_fabric_nodes(f), routers = angara_fabric_routers(f);
	struct outcome cables = { 0 }, ends[2] = { { 0 }, { 0 } };
	uint32_t router, port;

	for (router = 0; router < routers; router++) {
		try_failure(f, router, ANGARA_FAILED_ROUTER, &ends[router >= nodes]);
		for (port = 0; port < angara_fabric_ports(f); port++) {
			uint32_t to = angara_fabric_peer(f, router, port, NULL);

			if (to != UINT32_MAX && to > router)
				try_failure(f, router, port, &cables);
		}
	}
	add_row(rows, "each cable", &cables);
	add_row(rows, "each node", &ends[0]);
	if (routers > nodes)
		add_row(rows, "each switch", &ends[1]);
}

/* Prints the routes around failures that differ from those of the whole fabric. */
static int print_routes(const struct opts *o, const char *text)
{
	struct angara_fabric *whole = need_fabric(text), *f = need_fabric(text);
	uint32_t nodes = angara_fabric_nodes(f), routers = angara_fabric_routers(f);
	uint32_t at, to;

	if (!o->failed)
		return misuse("avoid --routes needs --failed");
	if (o->json)
		return misuse("avoid --routes prints no JSON: omit -j");
	avoid_failures(f, o->failed, NULL);
	printf("# Routes of %s around %s: router, node, port.\n", text, o->failed);
	for (at = 0; at < routers; at++)
		for (to = 0; to < nodes; to++) {
			uint32_t port = angara_fabric_route(f, at, to);

			if (at == to || port == angara_fabric_route(whole, at, to))
				continue;
			if (port == UINT32_MAX)
				printf("# no route: %u %u\n", at, to);
			else
				printf("%u %u %u\n", at, to, port);
		}
	angara_fabric_close(whole);
	angara_fabric_close(f);
	return 0;
}

int cmd_avoid(const struct opts *o, int argc, char **argv)
{
	struct angara_detours d = { .size = sizeof(d) };
	struct outcome none = { 0 }, given = { 0 };
	struct angara_fabric *f;
	json_object *rows;

	(void)argc;
	if (o->routes)
		return print_routes(o, argv[0]);
	f = need_fabric(argv[0]);
	rows = json_object_new_array();
	add_outcome(f, &d, &none);
	add_row(rows, "nothing", &none);
	if (o->failed) {
		avoid_failures(f, o->failed, &d);
		add_outcome(f, &d, &given);
		add_row(rows, o->failed, &given);
	} else {
		add_each(f, rows);
	}
	out_rows(o, rows);
	angara_fabric_close(f);
	return 0;
}
