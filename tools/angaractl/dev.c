// SPDX-License-Identifier: GPL-2.0-only
/* angaractl dev: the devices. */

#include "angaractl.h"

static const struct column list_columns[] = {
	{ "dev", "DEV" }, { "node", "NODE" }, { "coord", "COORD" },
	{ "fabric", "FABRIC" }, { "topology", "TOPOLOGY" }, { "bus", "BUS" },
	{ "contexts_used", "CONTEXTS" }, { "contexts", "OF" },
};

static const struct column show_columns[] = {
	{ "dev", "device" }, { "bus", "bus" }, { "fabric", "fabric" },
	{ "topology", "topology" }, { "nodes", "nodes" },
	{ "node", "node" }, { "coord", "coordinates" },
	{ "contexts_used", "contexts in use" },
	{ "contexts", "contexts at most" },
};

static const struct column counter_columns[] = {
	{ "injected_packets", "packets injected" },
	{ "ejected_packets", "packets ejected" },
	{ "hops", "hops" },
};

static int dev_list(struct args *args)
{
	return list_objects(args, ANGARA_CMD_DEV_GET, fabric_add_places, list_columns,
			    ARRAY_SIZE(list_columns));
}

static void show_one(struct json_object *dev)
{
	struct json_object *counters;

	if (!options.json &&
	    json_object_object_get_ex(dev, "counters", &counters)) {
		json_object_get(counters);
		out_details(dev, show_columns, ARRAY_SIZE(show_columns));
		out_details(counters, counter_columns,
			    ARRAY_SIZE(counter_columns));
	} else {
		out_details(dev, show_columns, ARRAY_SIZE(show_columns));
	}
}

static int dev_show(struct args *args)
{
	struct about about = { .has_dev = true };
	char *word = args_next(args);
	struct json_object *dev;
	struct nl nl;
	int status;

	if (!word)
		return dev_list(args);
	status = parse_dev(word, &about.dev);
	if (!status)
		status = args_end(args);
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	if (ctl_get(&nl, ANGARA_CMD_DEV_GET, &about, &dev)) {
		status = fail("angara%u: %s", about.dev, nl.error);
	} else {
		struct json_object *devs = json_object_new_array();

		json_object_array_add(devs, json_object_get(dev));
		fabric_add_places(&nl, devs);
		json_object_put(devs);
		show_one(dev);
	}
	ctl_stop(&nl);
	return status;
}

static const struct command commands[] = {
	{ "list", "[dev DEV] [fabric ID]", "all devices, one per line", dev_list, 0 },
	{ "show", "[DEV]", "one device in full", dev_show, 0 },
};

const struct object dev_object = {
	"dev", "devices: /dev/angaraN", commands, ARRAY_SIZE(commands),
};
