// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl: the devices that make up a fabric, and the cables between its
 * routers.
 *
 * A torus is represented by its sizes: it may be too large for a table.  All
 * other fabrics have a table.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/fabric.h>

#include "angaractl.h"

#define SHOWN_FABRICS	8

_Static_assert(FABRIC_DIGITS == ANGARA_FABRIC_DIGITS, "one number");

/* Collects the different fabrics of the devices, for an error message. */
static size_t list_fabrics(struct json_object *devs, uint64_t *ids, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < json_object_array_length(devs); i++) {
		uint64_t id = record_fabric(json_object_array_get_idx(devs, i));
		size_t k = 0;

		while (k < count && ids[k] != id)
			k++;
		if (k == count && count < max)
			ids[count++] = id;
	}
	return count;
}

static int choose(struct json_object *devs, uint64_t *id)
{
	uint64_t ids[SHOWN_FABRICS];
	size_t count = list_fabrics(devs, ids, SHOWN_FABRICS);
	char list[SHOWN_FABRICS * 24];
	size_t at = 0;

	if (!count)
		return fail("there are no devices: modprobe angara_loop fabric=torus:2x2x2 makes 8");
	*id = ids[0];
	if (count == 1)
		return DONE;
	for (size_t i = 0; i < count; i++)
		at += snprintf(list + at, sizeof(list) - at, "%s0x%llx",
			       i ? ", " : "", (unsigned long long)ids[i]);
	return misuse("there are several fabrics (%s): name one by \"fabric ID\"",
		      list);
}

/*
 * Reads the description of a fabric; false: it is invalid.  The text may come from a server, so
 * it is never opened as the name of a file.
 */
bool fabric_read(const char *text, struct fabric *fabric)
{
	if (!angara_topo_read(text, &fabric->torus)) {
		fabric->nodes = angara_topo_nodes(&fabric->torus);
		fabric->routers = fabric->nodes;
		fabric->ports = 2 * fabric->torus.ndims;
	} else if (strncmp(text, "file:", 5) &&
		   !angara_fabric_open(text, &fabric->graph, NULL, 0)) {
		fabric->nodes = angara_fabric_nodes(fabric->graph);
		fabric->routers = angara_fabric_routers(fabric->graph);
		fabric->ports = angara_fabric_ports(fabric->graph);
	} else {
		return false;
	}
	snprintf(fabric->name, sizeof(fabric->name), "%.*s",
		 (int)strcspn(text, "\n"), text);
	return true;
}

/* The fabric that device @dev describes; fabric_free() frees it. */
static bool read_fabric(struct nl *nl, uint32_t dev, struct fabric *fabric)
{
	const struct about about = { .has_dev = true, .dev = dev };
	struct json_object *reply;
	bool ok;

	memset(fabric, 0, sizeof(*fabric));
	if (ctl_get(nl, ANGARA_CMD_FABRIC_GET, &about, &reply))
		return false;
	ok = fabric_read(record_string(reply, "description"), fabric);
	fabric->id = record_fabric(reply);
	json_object_put(reply);
	return ok;
}

/*
 * Calls @add for each record whose fabric a device describes.  The records of a
 * fabric come one after another.
 */
static void each_of_fabrics(struct nl *nl, struct json_object *records,
			    void (*add)(const struct fabric *fabric,
					struct json_object *record))
{
	struct fabric fabric = { .nodes = 0 };

	for (size_t i = 0; i < json_object_array_length(records); i++) {
		struct json_object *r = json_object_array_get_idx(records, i);

		if (!i || record_fabric(r) != fabric.id) {
			fabric_free(&fabric);
			if (!read_fabric(nl, record_dev(r), &fabric))
				fabric.nodes = 0;
			fabric.id = record_fabric(r);
		}
		if (fabric.nodes)
			add(&fabric, r);
	}
	fabric_free(&fabric);
}

static struct json_object *numbers(const uint16_t *values, uint32_t count)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < count; i++)
		json_object_array_add(array, json_object_new_int(values[i]));
	return array;
}

static void add_place(const struct fabric *fabric, struct json_object *dev)
{
	uint16_t coord[FABRIC_DIGITS];
	uint32_t n = fabric_digits(fabric, record_number(dev, "node"), coord);

	json_object_object_add(dev, "topology", json_object_new_string(fabric->name));
	if (!fabric->graph)
		json_object_object_add(dev, "dims", numbers(fabric->torus.dims,
							    fabric->torus.ndims));
	json_object_object_add(dev, "coord", numbers(coord, n));
}

/* Adds topology and coordinates from the descriptions of the fabrics to devices. */
void fabric_add_places(struct nl *nl, struct json_object *devs)
{
	each_of_fabrics(nl, devs, add_place);
}

static void add_name(const struct fabric *fabric, struct json_object *link)
{
	char name[PORT_NAME];

	fabric_port(fabric, record_number(link, "port"), name);
	json_object_object_add(link, "name", json_object_new_string(name));
}

/* Adds names of ports to links. */
void fabric_add_names(struct nl *nl, struct json_object *links)
{
	each_of_fabrics(nl, links, add_name);
}

/* Finds the fabric that @about names, or the only one. */
int fabric_find(struct nl *nl, const struct about *about, struct fabric *fabric)
{
	struct about filter = { .has_fabric = about->has_fabric,
				.fabric = about->fabric };
	struct json_object *devs;
	uint64_t id = 0;
	int status;

	memset(fabric, 0, sizeof(*fabric));
	status = ctl_dump_or_fail(nl, ANGARA_CMD_DEV_GET, &filter, &devs);
	if (status)
		return status;
	status = choose(devs, &id);
	if (status)
		goto out;
	if (!read_fabric(nl, record_dev(json_object_array_get_idx(devs, 0)), fabric))
		status = fail("fabric 0x%llx: its description cannot be read",
			      (unsigned long long)id);
	else if (fabric->nodes != record_number(json_object_array_get_idx(devs, 0), "nodes"))
		status = fail("fabric 0x%llx: its description has %u nodes, its devices report another number",
			      (unsigned long long)id, fabric->nodes);
	if (status) {
		fabric_free(fabric);
		goto out;
	}
	fabric->id = id;
	fabric->dev = need_memory(fabric->nodes, sizeof(*fabric->dev));
	for (uint32_t n = 0; n < fabric->nodes; n++)
		fabric->dev[n] = NO_DEV;
	for (size_t i = 0; i < json_object_array_length(devs); i++) {
		struct json_object *d = json_object_array_get_idx(devs, i);
		uint64_t node = record_number(d, "node");

		if (node < fabric->nodes && fabric->dev[node] == NO_DEV) {
			fabric->dev[node] = record_dev(d);
			fabric->present++;
		}
	}
out:
	json_object_put(devs);
	return status;
}

/**
 * fabric_avoid_links() - make trees of a fabric avoid links that are down
 * @nl: socket for requests; answers have only the links of routers with devices here
 * @id: number of the fabric
 * @graph: the fabric
 * @down: out: number of cables that are down
 * @detours: out: what has changed; its size is set here
 *
 * Return: DONE or FAILED, with a message.
 */
int fabric_avoid_links(struct nl *nl, uint64_t id, struct angara_fabric *graph,
		       uint32_t *down, struct angara_detours *detours)
{
	const struct about about = { .has_fabric = true, .fabric = id };
	struct angara_failure *failed;
	struct json_object *links;
	uint32_t count = 0;
	int status = ctl_dump_or_fail(nl, ANGARA_CMD_PORT_GET, &about, &links);
	int ret;

	*down = 0;
	*detours = (struct angara_detours){ .size = sizeof(*detours) };
	if (status)
		return status;
	failed = need_memory(json_object_array_length(links) + 1, sizeof(*failed));
	for (size_t i = 0; i < json_object_array_length(links); i++) {
		struct json_object *link = json_object_array_get_idx(links, i);
		struct angara_failure at = {
			.router = (uint32_t)record_number(link, "router"),
			.port = (uint32_t)record_number(link, "port"),
		};
		uint32_t to, far;

		if (!record_number(link, "down"))
			continue;
		/* Count a cable once, whether one end reports it, or both do. */
		to = angara_fabric_peer(graph, at.router, at.port, &far);
		for (uint32_t k = 0; k <= count; k++) {
			if (k == count) {
				failed[count++] = at;
				break;
			}
			if (failed[k].router == to && failed[k].port == far)
				break;
		}
	}
	json_object_put(links);
	ret = count ? angara_fabric_avoid(graph, failed, count, detours) : 0;
	free(failed);
	*down = count;
	return ret ? fail("fabric 0x%llx: the links that are down cannot be avoided: %s",
			  (unsigned long long)id, strerror(-ret)) : DONE;
}

/* Sets fabric->around if links are down. */
int fabric_avoid(struct nl *nl, struct fabric *fabric)
{
	struct angara_fabric *graph = fabric->graph;
	int status;

	if (!graph && angara_fabric_open(fabric->name, &graph, NULL, 0))
		return fail("fabric 0x%llx: its description cannot be read",
			    (unsigned long long)fabric->id);
	status = fabric_avoid_links(nl, fabric->id, graph, &fabric->down,
				    &fabric->detours);
	if (!status && fabric->down)
		fabric->around = graph;
	else if (!fabric->graph)
		angara_fabric_close(graph);
	return status;
}

void fabric_free(struct fabric *fabric)
{
	if (fabric->around != fabric->graph)
		angara_fabric_close(fabric->around);
	angara_fabric_close(fabric->graph);
	fabric->graph = NULL;
	fabric->around = NULL;
	free(fabric->dev);
	fabric->dev = NULL;
}

/* Router at the other end of a port's cable; fabric->routers: none. */
uint32_t fabric_peer(const struct fabric *fabric, uint32_t router, uint32_t port)
{
	uint32_t peer = UINT32_MAX;

	if (port < fabric->ports)
		peer = fabric->graph ?
		       angara_fabric_peer(fabric->graph, router, port, NULL) :
		       angara_topo_neighbor(&fabric->torus, router, port);
	return peer < fabric->routers ? peer : fabric->routers;
}

/* The node that programs a router: the node itself, or the keeper of a switch. */
uint32_t fabric_keeper(const struct fabric *fabric, uint32_t router)
{
	return fabric->graph ? angara_fabric_keeper(fabric->graph, router) : router;
}

/* The device through which a router is programmed, or NO_DEV. */
uint32_t fabric_dev(const struct fabric *fabric, uint32_t router)
{
	return fabric->dev[fabric_keeper(fabric, router)];
}

/* Coordinates of a node.  Returns their number. */
uint32_t fabric_digits(const struct fabric *fabric, uint32_t node,
		       uint16_t digits[FABRIC_DIGITS])
{
	if (fabric->graph)
		return angara_fabric_digits(fabric->graph, node, digits);
	if (node >= fabric->nodes)
		return 0;
	angara_topo_coord(&fabric->torus, node, digits);
	return fabric->torus.ndims;
}

/* Text of a router: "1 (1,0,0)", or "switch 9". */
const char *fabric_router(const struct fabric *fabric, uint32_t router,
			  char buf[ROUTER_NAME])
{
	uint16_t digits[FABRIC_DIGITS];
	uint32_t n = fabric_digits(fabric, router, digits);
	int at;

	if (router >= fabric->nodes) {
		snprintf(buf, ROUTER_NAME, "switch %u", router);
		return buf;
	}
	at = snprintf(buf, ROUTER_NAME, "%u (", router);
	for (uint32_t d = 0; d < n; d++)
		at += snprintf(buf + at, ROUTER_NAME - at, "%s%u", d ? "," : "",
			       digits[d]);
	snprintf(buf + at, ROUTER_NAME - at, ")");
	return buf;
}

/* Text of a port: "X+" on a torus, otherwise the number. */
const char *fabric_port(const struct fabric *fabric, uint32_t port,
			char buf[PORT_NAME])
{
	if (fabric->graph)
		snprintf(buf, PORT_NAME, "%u", port);
	else
		snprintf(buf, PORT_NAME, "%s", angara_dir_name(port));
	return buf;
}

/* Text of a count: "8 nodes", or "8 nodes and 2 switches". */
const char *fabric_count(uint32_t nodes, uint32_t switches, char buf[COUNT_TEXT])
{
	int at = snprintf(buf, COUNT_TEXT, "%u node%s", nodes, nodes == 1 ? "" : "s");

	if (switches)
		snprintf(buf + at, COUNT_TEXT - at, " and %u switch%s", switches,
			 switches == 1 ? "" : "es");
	return buf;
}
