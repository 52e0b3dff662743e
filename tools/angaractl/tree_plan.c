// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl tree plan: costs of trees before they are created.
 *
 * The fabric is that of the devices, or the one that --fabric describes, which
 * needs neither devices nor the driver.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"
#include "plan.h"

#define BYTES		4096	/* bytes of the operations whose time is shown */
#define MAX_BYTES	(1U << 30)

static const struct column cost_columns[] = {
	{ "tree", "TREE" }, { "root", "ROOT" }, { "depth", "DEPTH" },
	{ "links", "LINKS" }, { "transit", "TRANSIT" },
	{ "children", "CHILDREN" }, { "load", "LOAD" },
};

static const struct column time_columns[] = {
	{ "trees", "TREES" }, { "broadcast us", "BROADCAST us" },
	{ "allreduce us", "ALLREDUCE us" }, { "best for", "BEST FOR" },
};

/* Options of the command, and the fabric. */
struct request {
	struct about about;
	const char *root;
	const char *list;
	const char *goal;
	uint64_t pe;
	uint64_t trees;
	uint64_t bytes;
	struct angara_fabric *fabric;
	uint16_t *load;		/* existing trees per channel */
};

static int plan_argument(struct request *r, int which, char *value)
{
	switch (which) {
	case 0:
		r->root = value;
		return DONE;
	case 1:
		r->list = value;
		return DONE;
	case 2:
		return parse_number(value, 1, ANGARA_MAX_LOCAL,
				    "pe, the participants of each node,", &r->pe);
	case 3:
		return parse_number(value, 1, ANGARA_MAX_TREES,
				    "the number of trees", &r->trees);
	case 4:
		r->goal = value;
		return plan_goal(value) < 0 ?
		       misuse("\"%s\": a goal is depth or load", value) : DONE;
	case 5:
		return parse_number(value, 1, MAX_BYTES,
				    "the length of an operation", &r->bytes);
	default:
		r->about.has_fabric = true;
		return parse_fabric(value, &r->about.fabric);
	}
}

static int plan_arguments(struct args *args, struct request *r)
{
	static const char *const words[] = { "root", "nodes", "pe", "trees",
					     "goal", "bytes", "fabric" };
	int status = DONE, which;
	char *value;

	while (!status &&
	       !(status = args_pair(args, words, ARRAY_SIZE(words), &which, &value)) &&
	       which >= 0)
		status = plan_argument(r, which, value);
	if (!status && r->about.has_fabric && options.fabric)
		return misuse("\"fabric ID\" plans on a fabric of devices, --fabric on a description: give only one");
	return status;
}

static int plan_describe(struct request *r)
{
	char why[160];

	if (angara_fabric_open(options.fabric, &r->fabric, why, sizeof(why)))
		return misuse("%s: %s", options.fabric, why);
	return DONE;
}

/* Reads a port of a record: its number, or the name of its direction. */
static unsigned int plan_port(struct json_object *port)
{
	unsigned int dir = 0;

	if (json_object_is_type(port, json_type_int))
		return (unsigned int)json_object_get_int(port);
	while (dir < ANGARA_MAX_DIRS &&
	       strcmp(json_object_get_string(port), angara_dir_name(dir)))
		dir++;
	return dir;
}

/* Counts the channels of an existing row. */
static void plan_count(struct request *r, struct json_object *record)
{
	uint32_t nports = angara_fabric_ports(r->fabric);
	struct json_object *value, *ports;
	uint64_t router = record_number(record, "node");

	if (json_object_object_get_ex(record, "router", &value))
		router = json_object_get_uint64(value);
	if (router >= angara_fabric_routers(r->fabric) ||
	    !json_object_object_get_ex(record, "ports", &ports))
		return;
	for (size_t i = 0; i < json_object_array_length(ports); i++) {
		unsigned int port = plan_port(json_object_array_get_idx(ports, i));

		if (port < nports)
			r->load[router * nports + port]++;
	}
}

static uint32_t plan_device(const struct fabric *fabric)
{
	uint32_t n = 0;

	while (n < fabric->nodes && fabric->dev[n] == NO_DEV)
		n++;
	return n < fabric->nodes ? fabric->dev[n] : NO_DEV;
}

/* Reads the fabric of a device, and the load of the existing trees. */
static int plan_ask(struct nl *nl, struct request *r, uint32_t dev)
{
	const struct about one = { .has_dev = true, .dev = dev };
	struct json_object *reply, *rows;
	const char *text;
	struct angara_detours detours;
	uint32_t down;
	int status;

	if (ctl_get(nl, ANGARA_CMD_FABRIC_GET, &one, &reply))
		return fail("angara%u: %s", dev, nl->error);
	text = record_string(reply, "description");
	/* The text comes from a server: do not open it as the name of a file. */
	if (strncmp(text, "file:", 5) &&
	    !angara_fabric_open(text, &r->fabric, NULL, 0))
		status = DONE;
	else
		status = fail("angara%u: its description of the fabric cannot be read",
			      dev);
	json_object_put(reply);
	if (status)
		return status;
	status = fabric_avoid_links(nl, r->about.fabric, r->fabric, &down, &detours);
	if (status)
		return status;
	r->load = need_memory((size_t)angara_fabric_routers(r->fabric) *
			      angara_fabric_ports(r->fabric), sizeof(*r->load));
	status = ctl_dump_or_fail(nl, ANGARA_CMD_TREE_GET, &r->about, &rows);
	if (status)
		return status;
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		plan_count(r, json_object_array_get_idx(rows, i));
	json_object_put(rows);
	return DONE;
}

static int plan_present(struct request *r)
{
	struct fabric fabric;
	struct nl nl;
	int status = ctl_start(&nl);

	if (status)
		return status;
	status = fabric_find(&nl, &r->about, &fabric);
	if (!status) {
		r->about.has_fabric = true;
		r->about.fabric = fabric.id;
		status = plan_ask(&nl, r, plan_device(&fabric));
		fabric_free(&fabric);
	}
	ctl_stop(&nl);
	return status;
}

static int plan_make(struct request *r, struct angara_plan **plan)
{
	struct angara_plan_attr attr = {
		.size = sizeof(attr), .trees = r->trees, .load = r->load,
		.root = ANGARA_PLAN_ROOT_ANY,
		.goal = r->goal ? plan_goal(r->goal) :
			r->trees > 1 ? ANGARA_PLAN_LOAD : ANGARA_PLAN_DEPTH,
	};
	uint16_t *pe = need_memory(angara_fabric_nodes(r->fabric), sizeof(*pe));
	int status = DONE, ret;
	char why[160];

	if (!plan_members(r->fabric, r->list, r->pe, pe, why, sizeof(why)))
		status = misuse("nodes: %s", why);
	else if (strcmp(r->root, "best") &&
		 !plan_node(r->fabric, r->root, &attr.root))
		status = misuse("\"%s\": a root is \"best\", a node from 0 to %u, or its coordinates",
				r->root, angara_fabric_nodes(r->fabric) - 1);
	if (!status) {
		ret = angara_plan_open(r->fabric, pe, &attr, plan);
		if (ret == -EHOSTUNREACH)
			status = fail("links that are down separate participants");
		else if (ret)
			status = fail("the trees cannot be planned: %s",
				      strerror(-ret));
	}
	free(pe);
	return status;
}

static int plan_print(const struct request *r, const struct angara_plan *plan)
{
	struct json_object *costs = plan_costs(r->fabric, plan);
	struct json_object *times = plan_times(plan, r->bytes);
	char *sources;

	if (!costs || !times)
		return fail("no memory for the costs of the plan");
	if (options.json) {
		struct json_object *all = json_object_new_object();

		json_object_object_add(all, "rows", plan_rows(r->fabric, plan));
		json_object_object_add(all, "costs", costs);
		json_object_object_add(all, "times", times);
		json_object_object_add(all, "parameters", plan_values());
		out_json(all);
		return DONE;
	}
	out_records(costs, cost_columns, ARRAY_SIZE(cost_columns));
	printf("\noperations of %llu bytes:\n", (unsigned long long)r->bytes);
	out_records(times, time_columns, ARRAY_SIZE(time_columns));
	sources = plan_sources();
	printf("\n%s\n", sources ? sources : "");
	free(sources);
	return DONE;
}

int tree_plan(struct args *args)
{
	struct request r = { .root = "best", .list = "all", .pe = 1,
			     .trees = 1, .bytes = BYTES };
	struct angara_plan *plan;
	int status = plan_arguments(args, &r);

	if (!status)
		status = options.fabric ? plan_describe(&r) : plan_present(&r);
	if (!status)
		status = plan_make(&r, &plan);
	if (!status) {
		status = plan_print(&r, plan);
		angara_plan_close(plan);
	}
	angara_fabric_close(r.fabric);
	free(r.load);
	return status;
}
