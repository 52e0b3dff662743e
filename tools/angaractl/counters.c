// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl counters: the counters of the hardware.
 *
 * Counters of all devices of a fabric are added up per port and per tree,
 * separately for switches; with "dev DEV" the command shows the counters of one
 * device.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

static const struct kind {
	const char *name;
	uint8_t command;
	const char *of;		/* key that identifies an object */
} kinds[] = {
	{ "node", ANGARA_CMD_DEV_GET, NULL },
	{ "link", ANGARA_CMD_PORT_GET, "name" },
	{ "tree", ANGARA_CMD_TREE_GET, "tree" },
	{ "ctx", ANGARA_CMD_CTX_GET, "ctx" },
};

static const struct column columns[] = {
	{ "where", "WHERE" }, { "kind", "KIND" }, { "of", "OF" },
	{ "counter", "COUNTER" }, { "value", "VALUE" },
};

struct request {
	struct about about;
	bool kinds[ARRAY_SIZE(kinds)];
};

static int read_request(struct args *args, struct request *request)
{
	static const char *const words[] = { "node", "link", "tree", "ctx",
					     "dev", "fabric" };
	bool some = false;
	int status = DONE;
	char *word;

	while (!status && (word = args_next(args))) {
		int i = match_word(word, words, ARRAY_SIZE(words), "argument");

		if (i < 0)
			return MISUSED;
		if (i < (int)ARRAY_SIZE(kinds)) {
			request->kinds[i] = true;
			some = true;
			continue;
		}
		status = args_about(args, words[i], &request->about);
	}
	for (size_t k = 0; k < ARRAY_SIZE(kinds) && !some; k++)
		request->kinds[k] = true;
	return status;
}

/* The name of the object to which @record's counters are added. */
static void name_of(const struct request *request, const struct kind *kind,
		    struct json_object *record, char *of, size_t size)
{
	/* Contexts of different nodes are unrelated, even with equal numbers: one sum for all. */
	bool summed = !request->about.has_dev &&
		      kind->command == ANGARA_CMD_CTX_GET;
	struct json_object *value;

	if (!kind->of || summed ||
	    !json_object_object_get_ex(record, kind->of, &value))
		snprintf(of, size, "all");
	else
		snprintf(of, size, "%s", json_object_get_string(value));
}

static struct json_object *group_of(struct json_object *groups,
				    const char *where, const char *kind,
				    const char *of)
{
	struct json_object *g;

	for (size_t i = json_object_array_length(groups); i-- > 0;) {
		g = json_object_array_get_idx(groups, i);
		if (!strcmp(record_string(g, "where"), where) &&
		    !strcmp(record_string(g, "kind"), kind) &&
		    !strcmp(record_string(g, "of"), of))
			return g;
	}
	g = json_object_new_object();
	json_object_object_add(g, "where", json_object_new_string(where));
	json_object_object_add(g, "kind", json_object_new_string(kind));
	json_object_object_add(g, "of", json_object_new_string(of));
	json_object_object_add(g, "counters", json_object_new_object());
	json_object_array_add(groups, g);
	return g;
}

/* Clocks and high-water marks are not added up: their maximum is shown. */
static bool is_maximum(const char *counter)
{
	return !strcmp(counter, "cycles") || !strcmp(counter, "max_in_flight");
}

static void add_counters(struct json_object *group, struct json_object *record)
{
	struct json_object *from, *to;

	if (!json_object_object_get_ex(record, "counters", &from) ||
	    !json_object_object_get_ex(group, "counters", &to))
		return;
	json_object_object_foreach(from, name, value) {
		uint64_t had = record_number(to, name);
		uint64_t more = json_object_get_uint64(value);
		uint64_t now = !is_maximum(name) ? had + more :
			       had > more ? had : more;

		json_object_object_add(to, name, json_object_new_uint64(now));
	}
}

static bool is_of_switch(struct json_object *record)
{
	return json_object_object_get_ex(record, "router", NULL) &&
	       record_number(record, "router") != record_number(record, "node");
}

static int gather(struct nl *nl, const struct request *request,
		  const struct kind *kind, struct json_object *groups)
{
	struct json_object *records;
	char of[PORT_NAME], name[24];
	int status;

	status = ctl_dump_or_fail(nl, kind->command, &request->about, &records);
	if (status)
		return status;
	if (kind->command == ANGARA_CMD_PORT_GET)
		fabric_add_names(nl, records);
	for (size_t i = 0; i < json_object_array_length(records); i++) {
		struct json_object *r = json_object_array_get_idx(records, i);
		const char *where = record_string(r, request->about.has_dev ?
						  "dev" : "fabric");

		snprintf(name, sizeof(name), "%s%s",
			 is_of_switch(r) ? "switch-" : "", kind->name);
		name_of(request, kind, r, of, sizeof(of));
		add_counters(group_of(groups, where, name, of), r);
	}
	json_object_put(records);
	return DONE;
}

static void drop_zeros(struct json_object *groups)
{
	for (size_t i = 0; i < json_object_array_length(groups); i++) {
		struct json_object *group = json_object_array_get_idx(groups, i);
		struct json_object *all, *kept = json_object_new_object();

		json_object_object_get_ex(group, "counters", &all);
		json_object_object_foreach(all, name, value) {
			if (json_object_get_uint64(value))
				json_object_object_add(kept, name,
						       json_object_get(value));
		}
		json_object_object_add(group, "counters", kept);
	}
}

/* Return: one record per counter, for the table. */
static struct json_object *flatten(struct json_object *groups)
{
	struct json_object *flat = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(groups); i++) {
		struct json_object *group = json_object_array_get_idx(groups, i);
		struct json_object *counters;

		json_object_object_get_ex(group, "counters", &counters);
		json_object_object_foreach(counters, name, value) {
			struct json_object *line = json_object_new_object();

			for (size_t c = 0; c < 3; c++)
				json_object_object_add(line, columns[c].key,
					json_object_new_string(record_string(
						group, columns[c].key)));
			json_object_object_add(line, "counter",
					       json_object_new_string(name));
			json_object_object_add(line, "value",
					       json_object_get(value));
			json_object_array_add(flat, line);
		}
	}
	json_object_put(groups);
	return flat;
}

static int counters_show(struct args *args)
{
	struct request request = { .about = { 0 } };
	struct json_object *groups;
	struct nl nl;
	int status;

	status = read_request(args, &request);
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	groups = json_object_new_array();
	for (size_t k = 0; k < ARRAY_SIZE(kinds) && !status; k++) {
		if (request.kinds[k])
			status = gather(&nl, &request, &kinds[k], groups);
	}
	ctl_stop(&nl);
	if (status) {
		json_object_put(groups);
		return status;
	}
	if (!(options.given & OPT_ALL))
		drop_zeros(groups);
	if (options.json)
		out_json(groups);
	else
		out_records(flatten(groups), columns, ARRAY_SIZE(columns));
	return DONE;
}

static const struct command commands[] = {
	{ NULL, "[node] [link] [tree] [ctx] [dev DEV] [fabric ID] [--all]",
	  "sums over each fabric, or of one device; --all: zeros, too",
	  counters_show, OPT_ALL },
};

const struct object counters_object = {
	"counters", "counters that are not zero, by name", commands,
	ARRAY_SIZE(commands),
};
