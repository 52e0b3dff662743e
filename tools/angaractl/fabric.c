// SPDX-License-Identifier: GPL-2.0-only
/* angaractl: which devices make up a fabric. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

#define SHOWN_FABRICS	8

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
		return fail("there are no devices: modprobe angara_loop dims=2x2x2 makes 8");
	*id = ids[0];
	if (count == 1)
		return DONE;
	for (size_t i = 0; i < count; i++)
		at += snprintf(list + at, sizeof(list) - at, "%s0x%llx",
			       i ? ", " : "", (unsigned long long)ids[i]);
	return misuse("there are several fabrics (%s): name one by \"fabric ID\"",
		      list);
}

/* The torus that device @dev says it is in. */
static bool read_topo(struct nl *nl, uint32_t dev, struct angara_topo *topo)
{
	const struct about about = { .has_dev = true, .dev = dev };
	struct json_object *reply;
	bool ok;

	if (ctl_get(nl, ANGARA_CMD_FABRIC_GET, &about, &reply))
		return false;
	ok = !angara_topo_read(record_string(reply, "description"), topo);
	json_object_put(reply);
	return ok;
}

static struct json_object *numbers(const uint16_t *values, uint32_t count)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < count; i++)
		json_object_array_add(array, json_object_new_int(values[i]));
	return array;
}

/* Adds what the descriptions of the fabrics tell of devices. */
void fabric_add_places(struct nl *nl, struct json_object *devs)
{
	struct angara_topo topo = { .ndims = 0 };
	uint16_t coord[ANGARA_MAX_DIMS];
	uint64_t last = 0;

	for (size_t i = 0; i < json_object_array_length(devs); i++) {
		struct json_object *d = json_object_array_get_idx(devs, i);
		uint64_t id = record_fabric(d);

		if (!i || id != last)
			topo.ndims = 0;
		if ((!i || id != last) && !read_topo(nl, record_dev(d), &topo))
			topo.ndims = 0;
		last = id;
		if (!topo.ndims)
			continue;
		angara_topo_coord(&topo, record_number(d, "node"), coord);
		json_object_object_add(d, "dims", numbers(topo.dims, topo.ndims));
		json_object_object_add(d, "coord", numbers(coord, topo.ndims));
	}
}

/*
 * Finds the fabric that @about names, or the only one there is.
 */
int fabric_find(struct nl *nl, const struct about *about, struct fabric *fabric)
{
	struct about filter = { .has_fabric = about->has_fabric,
				.fabric = about->fabric };
	struct json_object *devs;
	int status;

	memset(fabric, 0, sizeof(*fabric));
	status = ctl_dump_or_fail(nl, ANGARA_CMD_DEV_GET, &filter, &devs);
	if (status)
		return status;
	status = choose(devs, &fabric->id);
	if (status)
		goto out;
	if (read_topo(nl, record_dev(json_object_array_get_idx(devs, 0)), &fabric->topo))
		fabric->nodes = angara_topo_nodes(&fabric->topo);
	if (!fabric->nodes ||
	    fabric->nodes != record_number(json_object_array_get_idx(devs, 0), "nodes")) {
		status = fail("fabric 0x%llx: its size and its devices disagree",
			      (unsigned long long)fabric->id);
		goto out;
	}
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

void fabric_free(struct fabric *fabric)
{
	free(fabric->dev);
	fabric->dev = NULL;
}

/* "(1,0,1)" */
const char *fabric_coord(const struct fabric *fabric, uint32_t node, char *buf,
			 size_t size)
{
	uint16_t coord[ANGARA_MAX_DIMS];
	size_t at = 0;

	angara_topo_coord(&fabric->topo, node, coord);
	for (uint32_t d = 0; d < fabric->topo.ndims && at < size; d++)
		at += snprintf(buf + at, size - at, "%c%u", d ? ',' : '(',
			       coord[d]);
	if (at < size)
		snprintf(buf + at, size - at, ")");
	return buf;
}
