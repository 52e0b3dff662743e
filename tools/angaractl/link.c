// SPDX-License-Identifier: GPL-2.0-only
/* angaractl link: the links of nodes and switches, and their counters. */

#include <string.h>

#include "angaractl.h"

static const struct column columns[] = {
	{ "dev", "DEV" }, { "router", "ROUTER" }, { "name", "PORT" },
	{ "neighbor", "TO" }, { "packets", "PACKETS" }, { "flits", "FLITS" },
	{ "stalls", "STALLS" },
};

/* Sums the counters of one kind over the virtual channels. */
static int64_t sum(struct json_object *record, const char *kind)
{
	struct json_object *counters;
	int64_t total = 0;

	if (!json_object_object_get_ex(record, "counters", &counters))
		return 0;
	json_object_object_foreach(counters, name, value) {
		if (!strncmp(name, kind, strlen(kind)))
			total += json_object_get_int64(value);
	}
	return total;
}

static void add_sums(struct nl *nl, struct json_object *links)
{
	static const char *const kinds[] = { "packets", "flits", "stalls" };

	fabric_add_names(nl, links);
	for (size_t i = 0; i < json_object_array_length(links); i++) {
		struct json_object *link = json_object_array_get_idx(links, i);

		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			json_object_object_add(link, kinds[k],
				json_object_new_int64(sum(link, kinds[k])));
	}
}

static int link_show(struct args *args)
{
	return list_objects(args, ANGARA_CMD_PORT_GET, add_sums, columns,
			    ARRAY_SIZE(columns));
}

static const struct command commands[] = {
	{ "show", "[dev DEV] [fabric ID]", "links, with the traffic sent on each",
	  link_show, 0 },
};

const struct object link_object = {
	"link", "links between neighbours", commands, ARRAY_SIZE(commands),
};
