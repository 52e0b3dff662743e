// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl discover: routers and links of a fabric, as management packets find
 * them from one adapter.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/manage.h>

#include "angaractl.h"
#include "manager.h"

#define PATH_TEXT	(4 * ANGARA_PATH_LINKS + 2)

static const struct column router_columns[] = {
	{ "router", "ROUTER" }, { "kind", "KIND" }, { "hops", "HOPS" },
	{ "path", "PATH" }, { "ports", "PORTS" }, { "down", "DOWN" },
	{ "refused", "REFUSED" }, { "dropped", "DROPPED" }, { "state", "STATE" },
};

static const struct column link_columns[] = {
	{ "router", "ROUTER" }, { "port", "PORT" }, { "peer", "PEER" },
	{ "peer_port", "PEER-PORT" }, { "state", "STATE" },
};

static const char *const found_names[] = {
	[ANGARA_FOUND_OK] = "ok",
	[ANGARA_FOUND_REFUSED] = "key refused",
	[ANGARA_FOUND_SILENT] = "silent",
	[ANGARA_FOUND_WRONG] = "contradicts",
};

static const char *const cable_names[] = {
	[ANGARA_CABLE_UP] = "up",
	[ANGARA_CABLE_DOWN] = "down",
	[ANGARA_CABLE_FAULTY] = "faulty",
};

static void put_number(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static void put_string(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, json_object_new_string(value));
}

/* Ports of a path with dots between them, "-" for none. */
static const char *path_text(const struct angara_path *path, char buf[PATH_TEXT])
{
	size_t at = 0;

	snprintf(buf, PATH_TEXT, "-");
	for (uint32_t i = 0; i < path->hops; i++)
		at += (size_t)snprintf(buf + at, PATH_TEXT - at, "%s%u", i ? "." : "",
				       path->port[i]);
	return buf;
}

static struct json_object *ports_of(uint64_t set)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int port = 0; set; port++, set >>= 1)
		if (set & 1)
			json_object_array_add(list, json_object_new_int((int)port));
	return list;
}

static void put_known(struct json_object *o, const struct angara_router *n)
{
	put_string(o, "kind", n->flags & ANGARA_ROUTER_SWITCH ? "switch" : "node");
	put_number(o, "ports", (uint64_t)__builtin_popcountll(n->joined));
	json_object_object_add(o, "down", ports_of(n->down));
	json_object_object_add(o, "faulty", ports_of(n->faulty));
	put_number(o, "trees", n->trees);
	json_object_object_add(o, "key", json_object_new_boolean(
			       n->flags & ANGARA_ROUTER_KEYED));
	put_number(o, "taken", n->taken);
	put_number(o, "dropped", n->dropped);
	put_number(o, "refused", n->refused);
}

static struct json_object *router_record(const struct angara_found *r)
{
	struct json_object *o = json_object_new_object();
	char text[PATH_TEXT];

	if (r->router != UINT32_MAX)
		put_number(o, "router", r->router);
	put_number(o, "hops", r->path.hops);
	put_string(o, "path", path_text(&r->path, text));
	put_string(o, "state", found_names[r->state]);
	if (r->state == ANGARA_FOUND_OK)
		put_known(o, &r->about);
	return o;
}

static struct json_object *link_record(const struct angara_map *map,
				       const struct angara_cable *c)
{
	struct json_object *o = json_object_new_object();

	put_number(o, "router", map->routers[c->from].router);
	put_number(o, "port", c->port);
	if (c->to != UINT32_MAX && map->routers[c->to].router != UINT32_MAX)
		put_number(o, "peer", map->routers[c->to].router);
	if (c->far != UINT32_MAX)
		put_number(o, "peer_port", c->far);
	put_string(o, "state", cable_names[c->state]);
	return o;
}

static struct json_object *routers_of(const struct angara_map *map)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < map->nrouters; i++)
		json_object_array_add(list, router_record(&map->routers[i]));
	return list;
}

static struct json_object *links_of(const struct angara_map *map)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < map->ncables; i++)
		json_object_array_add(list, link_record(map, &map->cables[i]));
	return list;
}

static uint32_t count_state(const struct angara_map *map, uint32_t state)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < map->nrouters; i++)
		count += map->routers[i].state == state;
	return count;
}

/* Warns of routers that the table lacks. */
static void tell_rest(const struct angara_map *map)
{
	uint32_t refused = count_state(map, ANGARA_FOUND_REFUSED);
	uint32_t known = count_state(map, ANGARA_FOUND_OK) + refused;

	if (refused)
		warn("%u of %u routers need another key (key FILE)", refused, map->size);
	if (known < map->size)
		warn("%u of %u routers were not found", map->size - known, map->size);
}

static void print_all(const struct angara_map *map)
{
	struct json_object *o = json_object_new_object();
	char id[24];

	snprintf(id, sizeof(id), "0x%llx", (unsigned long long)map->fabric_id);
	put_string(o, "fabric", id);
	put_number(o, "nodes", map->nodes);
	put_number(o, "switches", map->size - map->nodes);
	json_object_object_add(o, "routers", routers_of(map));
	json_object_object_add(o, "links", links_of(map));
	out_json(o);
}

static int discover(struct args *args, struct angara_map **map)
{
	struct manager_args given = { 0 };
	struct angara_manager *manager;
	int status;

	status = manager_args(args, &given);
	if (!status)
		status = manager_open(&given, &manager);
	if (status)
		return status;
	status = manager_map(manager, given.key, map);
	angara_manager_close(manager);
	return status;
}

static int discover_routers(struct args *args)
{
	struct angara_map *map;
	int status = discover(args, &map);

	if (status)
		return status;
	if (options.json)
		print_all(map);
	else
		out_records(routers_of(map), router_columns, ARRAY_SIZE(router_columns));
	tell_rest(map);
	angara_map_free(map);
	return DONE;
}

static int discover_links(struct args *args)
{
	struct angara_map *map;
	int status = discover(args, &map);

	if (status)
		return status;
	out_records(links_of(map), link_columns, ARRAY_SIZE(link_columns));
	tell_rest(map);
	angara_map_free(map);
	return DONE;
}

static const struct command commands[] = {
	{ "routers", "[dev DEV] [key FILE]",
	  "routers by distance; with -j also all links", discover_routers, 0 },
	{ "links", "[dev DEV] [key FILE]", "links, one per line", discover_links, 0 },
};

const struct object discover_object = {
	.name = "discover",
	.what = "routers and links, found by management packets from one device",
	.commands = commands,
	.count = ARRAY_SIZE(commands),
};
