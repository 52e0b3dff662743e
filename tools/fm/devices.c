// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-fm: devices, their rows and delegations.
 *
 * A module that is loaded again has another netlink family.  So after an error the
 * manager looks for the family before the next request; if there is none, the
 * manager ends, and its service starts it again every few seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fm.h"

static struct nl nl;
static bool fabric_connected;

/** fabric_connect() - find the netlink family.  Return: DONE; FAILED, with a message */
int fabric_connect(void)
{
	int status = fabric_connected ? DONE : ctl_start(&nl);

	fabric_connected = !status;
	return status;
}

static void fabric_need(void)
{
	if (fabric_connect())
		exit(FAILED);
}

static int fabric_ask(uint8_t command, const struct about *about, struct json_object **records)
{
	int ret;

	fabric_need();
	ret = ctl_dump(&nl, command, about, records);
	if (ret) {
		ctl_stop(&nl);
		fabric_connected = false;
	}
	return ret;
}

/* Return: number of trees of a device; 0: the device does not respond. */
static uint32_t fabric_trees(uint32_t dev)
{
	struct angara_query q = { .size = sizeof(q) };
	char path[32];
	int fd, ret;

	snprintf(path, sizeof(path), "/dev/angara%u", dev);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ret = ioctl(fd, ANGARA_IOCTL_QUERY, &q);
	close(fd);
	return ret || q.max_trees > ANGARA_MAX_TREES ? 0 : q.max_trees;
}

/** fabric_get() - find the devices of fabric @id; fabric_put() frees the result */
int fabric_get(uint64_t id, struct fm_fabric *fabric)
{
	const struct about about = { .has_fabric = true, .fabric = id };
	struct json_object *devs;
	int ret = fabric_ask(ANGARA_CMD_DEV_GET, &about, &devs);

	*fabric = (struct fm_fabric){ .id = id };
	if (ret)
		return ret;
	fabric->count = json_object_array_length(devs);
	fabric->devs = need_memory(fabric->count, sizeof(*fabric->devs));
	for (size_t i = 0; i < fabric->count; i++)
		fabric->devs[i] = record_dev(json_object_array_get_idx(devs, i));
	json_object_put(devs);
	fabric->trees = fabric->count ? fabric_trees(fabric->devs[0]) : 0;
	if (fabric->trees)
		return 0;
	fabric_put(fabric);
	return fabric->count ? -EIO : -ENODEV;
}

void fabric_put(struct fm_fabric *fabric)
{
	free(fabric->devs);
	fabric->devs = NULL;
}

/**
 * fabric_rows() - read rows and delegations
 * @id: fabric; 0: all
 * @tree: TreeId; -1: all
 * @rows: out; the caller frees them
 * @count: out
 */
int fabric_rows(uint64_t id, int tree, struct fm_row **rows, size_t *count)
{
	const struct about about = {
		.has_fabric = id, .fabric = id,
		.has_tree = tree >= 0, .tree = tree >= 0 ? (uint8_t)tree : 0,
	};
	struct json_object *records;
	int ret = fabric_ask(ANGARA_CMD_TREE_GET, &about, &records);

	if (ret)
		return ret;
	*count = json_object_array_length(records);
	*rows = need_memory(*count, sizeof(**rows));
	for (size_t i = 0; i < *count; i++) {
		struct json_object *r = json_object_array_get_idx(records, i);
		uint32_t node = (uint32_t)record_number(r, "node");

		(*rows)[i] = (struct fm_row){
			.fabric = record_fabric(r),
			.tree = (uint32_t)record_number(r, "tree") % ANGARA_MAX_TREES,
			.dev = record_dev(r),
			.router = (uint32_t)record_number(r, "router"),
			.is_switch = record_number(r, "router") != node,
			.pkey = (uint32_t)record_number(r, "pkey"),
			.delegated = (uint32_t)record_number(r, "delegated"),
			.down = !strcmp(record_string(r, "state"), "down"),
			.owned = record_number(r, "owned"),
		};
	}
	json_object_put(records);
	return 0;
}

/**
 * fabric_delegate() - delegate a tree on all devices, or take it back with @pkey 0
 *
 * Return: 0; the first error, after all devices were tried.
 */
int fabric_delegate(const struct fm_fabric *fabric, uint32_t tree, uint32_t pkey)
{
	int first = 0;

	fabric_need();
	for (size_t i = 0; i < fabric->count; i++) {
		int ret = ctl_delegate(&nl, fabric->devs[i], (uint8_t)tree, pkey);

		if (!first)
			first = ret;
	}
	return first;
}

void fabric_clear(const struct fm_row *row)
{
	const struct about about = {
		.has_dev = true, .dev = row->dev, .has_tree = true,
		.tree = (uint8_t)row->tree,
		.has_router = row->is_switch, .router = row->router,
	};

	fabric_need();
	ctl_get(&nl, ANGARA_CMD_TREE_CLEAR, &about, NULL);
}

/** fabric_in_use() - does a partition have contexts?  Return: 1; 0; -errno */
int fabric_in_use(uint64_t id, uint32_t pkey)
{
	const struct about about = { .has_fabric = true, .fabric = id };
	struct json_object *records;
	int ret = fabric_ask(ANGARA_CMD_CTX_GET, &about, &records);

	if (ret)
		return ret;
	for (size_t i = 0; !ret && i < json_object_array_length(records); i++)
		ret = record_number(json_object_array_get_idx(records, i), "pkey") == pkey;
	json_object_put(records);
	return ret;
}
