// SPDX-License-Identifier: GPL-2.0-only
/* angara-topo route, tree. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "topo.h"

static uint32_t need_node(const struct angara_fabric *f, const char *what, const char *text)
{
	uint32_t node;

	if (!plan_node(f, text, &node))
		exit(misuse("%s '%s': must be a node from 0 to %u", what, text,
			    angara_fabric_nodes(f) - 1));
	return node;
}

int cmd_route(const struct opts *o, int argc, char **argv)
{
	struct angara_fabric *f = need_fabric(argv[0]);
	uint32_t at = need_node(f, "route: from", argv[1]);
	uint32_t to = need_node(f, "route: to", argv[2]);
	json_object *rows = json_object_new_array();
	uint32_t step = 0;

	(void)argc;
	avoid_failures(f, o->failed, NULL);
	for (;; step++) {
		json_object *row = json_object_new_object();
		uint32_t port = angara_fabric_route(f, at, to);

		if (at != to && port == UINT32_MAX)
			return fail("there is no route from %s to %s", argv[1], argv[2]);
		add_number(row, "cables", step);
		add_text(row, "router", "%s", plan_router(f, at));
		if (at == to)
			add_text(row, "port", "-");
		else
			add_text(row, "port", "%u", port);
		json_object_array_add(rows, row);
		if (at == to)
			break;
		at = angara_fabric_peer(f, at, port, NULL);
	}
	out_rows(o, rows);
	angara_fabric_close(f);
	return 0;
}

/* Makes the plan that the options describe, for a fabric without trees. */
static struct angara_plan *need_plan(const struct opts *o, const struct angara_fabric *f)
{
	struct angara_plan_attr attr = {
		.size = sizeof(attr), .trees = o->trees,
		.root = ANGARA_PLAN_ROOT_ANY,
		.goal = o->trees > 1 ? ANGARA_PLAN_LOAD : ANGARA_PLAN_DEPTH,
	};
	uint16_t *pe = need_memory(angara_fabric_nodes(f), sizeof(*pe));
	int goal = o->goal ? plan_goal(o->goal) : (int)attr.goal;
	struct angara_plan *plan;
	char why[160];
	int ret;

	if (!plan_members(f, o->nodes, o->local, pe, why, sizeof(why)))
		exit(misuse("--nodes: %s", why));
	if (goal < 0)
		exit(misuse("--goal '%s': must be depth or load", o->goal));
	attr.goal = (uint32_t)goal;
	if (strcmp(o->root, "best"))
		attr.root = need_node(f, "--root", o->root);
	ret = angara_plan_open(f, pe, &attr, &plan);
	if (ret == -EHOSTUNREACH)
		exit(fail("no tree reaches all participants by the turns that the network allows"));
	if (ret)
		exit(fail("trees cannot be planned: %s", strerror(-ret)));
	free(pe);
	return plan;
}

static void print_plan(const struct opts *o, json_object *rows, json_object *costs,
		       json_object *times)
{
	char *sources = plan_sources();

	out_rows(o, rows);
	puts("");
	out_rows(o, costs);
	puts("");
	out_rows(o, times);
	puts("");
	puts(sources ? sources : "");
	free(sources);
}

int cmd_tree(const struct opts *o, int argc, char **argv)
{
	struct angara_fabric *f = need_fabric(argv[0]);
	json_object *rows, *costs, *times;
	struct angara_plan *plan;

	(void)argc;
	avoid_failures(f, o->failed, NULL);
	plan = need_plan(o, f);
	rows = plan_rows(f, plan);
	costs = plan_costs(f, plan);
	times = plan_times(plan, o->bytes);
	if (!costs || !times)
		return fail("no memory for the costs of the plan");
	if (o->json) {
		json_object *all = json_object_new_object();

		json_object_object_add(all, "rows", rows);
		json_object_object_add(all, "costs", costs);
		json_object_object_add(all, "times", times);
		json_object_object_add(all, "parameters", plan_values());
		out_rows(o, all);
	} else {
		print_plan(o, rows, costs, times);
	}
	angara_plan_close(plan);
	angara_fabric_close(f);
	return 0;
}
