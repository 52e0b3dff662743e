// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * In-band management: discovery from every process, tables of remote routers,
 * keys.  It needs CAP_NET_ADMIN, except on embedded fabrics.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"

#define KEY	0xFEDCBA9876543210ULL
#define TREE	11

static struct angara_manager *manager;

static bool manager_start(void)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", alone_about(ctx).node);
	return expect("open", angara_manager_open(embedded() ? name :
						  getenv("ANGARA_DEVICE"), &manager), 0);
}

/* Every link is found once, and both of its ends are ports that lead somewhere. */
static bool links_add_up(const struct angara_map *map)
{
	uint64_t *ports = calloc(map->nrouters, sizeof(*ports));
	bool ok = true;
	uint32_t i;

	for (i = 0; ok && i < map->ncables; i++) {
		const struct angara_cable *c = &map->cables[i];

		ok = expect("end of a link", c->to < map->nrouters && c->far < 64, true) &&
		     expect("state", c->state, ANGARA_CABLE_UP) &&
		     expect("first end twice", ports[c->from] >> c->port & 1, 0);
		if (!ok)
			break;
		ports[c->from] |= 1ULL << c->port;
		ok = c->from == c->to || expect("other end twice",
						ports[c->to] >> c->far & 1, 0);
		ports[c->to] |= 1ULL << c->far;
	}
	for (i = 0; ok && i < map->nrouters; i++)
		ok = expect("ports", (long long)ports[i],
			    (long long)map->routers[i].about.joined);
	free(ports);
	return ok;
}

static bool map_is_whole(const struct angara_map *map)
{
	struct angara_domain_info mine = alone_about(ctx);
	bool *seen = calloc(map->size, sizeof(*seen));
	bool ok = expect("nodes", map->nodes, mine.nodes) &&
		  expect("fabric", (long long)map->fabric_id, (long long)mine.fabric_id) &&
		  expect("routers", map->nrouters, map->size) &&
		  expect("first", map->routers[0].router, mine.node);
	uint32_t i;

	for (i = 0; ok && i < map->nrouters; i++) {
		const struct angara_found *r = &map->routers[i];

		ok = expect("state", r->state, ANGARA_FOUND_OK) &&
		     expect("number", r->router < map->size && !seen[r->router], true) &&
		     expect("order", !i || r->path.hops >= map->routers[i - 1].path.hops, true) &&
		     expect("switch", !!(r->about.flags & ANGARA_ROUTER_SWITCH),
			    r->router >= map->nodes);
		if (ok)
			seen[r->router] = true;
	}
	free(seen);
	return ok && links_add_up(map);
}

static bool finds_all(void)
{
	struct angara_map *map = NULL;
	bool ok;

	ok = manager_start() && expect("discover", angara_discover(manager, 0, &map), 0) &&
	     map_is_whole(map);
	angara_map_free(map);
	angara_manager_close(manager);
	return ok;
}

/* Sets, reads and clears a row with one participant at the router that @path leads to. */
static bool row_there(const struct angara_path *path)
{
	struct angara_mgmt_row row = {
		.pkey = htole32(77), .pe = htole16(1), .epoch = htole16(9), .is_root = 1,
		.to_root = ANGARA_PORT_NONE,
	}, got;
	uint32_t router;
	bool ok;

	ok = expect("absent", angara_manage_get(manager, path, ANGARA_MGMT_ROW, TREE, &got,
						sizeof(got), &router), -ENOENT) &&
	     expect("set", angara_manage_set(manager, path, ANGARA_MGMT_ROW, TREE, &row,
					     sizeof(row), &router), 0) &&
	     expect("again", angara_manage_set(manager, path, ANGARA_MGMT_ROW, TREE, &row,
					       sizeof(row), NULL), -EEXIST) &&
	     expect("get", angara_manage_get(manager, path, ANGARA_MGMT_ROW, TREE, &got,
					     sizeof(got), NULL), 0) &&
	     expect("state", got.state, ANGARA_TREE_STATE_UP) &&
	     expect("epoch", le16toh(got.epoch), 9);
	row.port_sum = 1;
	ok = ok && expect("clear", angara_manage_set(manager, path, ANGARA_MGMT_ROW_CLEAR, TREE,
						     NULL, 0, NULL), 0) &&
	     expect("clear again", angara_manage_set(manager, path, ANGARA_MGMT_ROW_CLEAR,
						     TREE, NULL, 0, NULL), -ENOENT) &&
	     expect("rule", angara_manage_set(manager, path, ANGARA_MGMT_ROW, TREE, &row,
					      sizeof(row), NULL), -EINVAL);
	return ok;
}

static int key_there(const struct angara_path *path, uint64_t key, uint32_t flags)
{
	const struct angara_mgmt_key to = { .key = htole64(key), .flags = htole32(flags) };

	return angara_manage_set(manager, path, ANGARA_MGMT_KEY, 0, &to, sizeof(to), NULL);
}

/*
 * A key at the last router, which also protects reads, affects no other router.
 */
static bool keys_there(const struct angara_map *map)
{
	struct angara_path path = map->routers[map->nrouters - 1].path;
	struct angara_map *less = NULL;
	uint64_t row[4] = { 0 };
	bool ok;

	ok = expect("new key", key_there(&path, KEY, ANGARA_MGMT_KEY_READ), 0);
	if (!ok)
		return false;
	ok = expect("get without the key",
		    angara_manage_get(manager, &path, ANGARA_MGMT_ROW, TREE, row, sizeof(row),
				      NULL),
		    -EACCES) &&
	     expect("new key without the old one", key_there(&path, 1, 0), -EACCES) &&
	     expect("discover", angara_discover(manager, 0, &less), 0) &&
	     expect("refused", less->routers[less->nrouters - 1].state, ANGARA_FOUND_REFUSED) &&
	     expect("found", less->nrouters, map->nrouters) &&
	     expect("state of another router", less->routers[less->nrouters - 2].state,
		    ANGARA_FOUND_OK);
	angara_map_free(less);
	path.key = KEY;
	return expect("no key", key_there(&path, 0, 0), 0) && ok;
}

/* Do routers refuse to be written without a key? */
static bool sealed(const struct angara_path *path)
{
	struct angara_mgmt_node node = { 0 };

	return !angara_manage_get(manager, path, ANGARA_MGMT_NODE, 0, &node, sizeof(node),
				  NULL) && le32toh(node.flags) & ANGARA_MGMT_SEALED;
}

static bool refused_there(const struct angara_path *path)
{
	return expect("set without the key",
		      angara_manage_set(manager, path, ANGARA_MGMT_ROW_CLEAR, TREE, NULL, 0, NULL),
		      -EACCES) &&
	       expect("key", key_there(path, KEY, 0), -EACCES);
}

static bool written_there(const struct angara_map *map)
{
	const struct angara_path *far = &map->routers[map->nrouters - 1].path;

	if (sealed(far))
		return refused_there(far);
	return row_there(&map->routers[0].path) && row_there(far) && keys_there(map);
}

static bool writes(void)
{
	struct angara_map *map = NULL;
	bool ok = true;

	if (alone_about(ctx).nodes < 2)
		return true;
	ok = manager_start() && expect("discover", angara_discover(manager, 0, &map), 0) &&
	     written_there(map);
	angara_map_free(map);
	angara_manager_close(manager);
	return ok;
}

static bool wrong_requests(void)
{
	struct angara_path path = { .hops = ANGARA_PATH_LINKS + 1 };
	uint8_t big[ANGARA_MGMT_DATA + 1];
	uint32_t router;
	bool ok;

	if (!manager_start())
		return false;
	ok = expect("long path",
		    angara_manage_get(manager, &path, ANGARA_MGMT_NODE, 0, big, 8, &router),
		    -EINVAL) &&
	     expect("router that answered", router, UINT32_MAX);
	path.hops = 0;
	ok = ok &&
	     expect("large",
		    angara_manage_get(manager, &path, ANGARA_MGMT_NODE, 0, big, sizeof(big), NULL),
		    -EINVAL) &&
	     expect("attribute", angara_manage_get(manager, &path, 99, 0, big, 8, &router),
		    -EOPNOTSUPP) &&
	     expect("router that answered", router, alone_about(ctx).node) &&
	     expect("number", angara_manage_get(manager, &path, 300, 0, big, 8, NULL), -EINVAL) &&
	     expect("port", angara_manage_get(manager, &path, ANGARA_MGMT_PORT, 64, big, 8, NULL),
		    -EINVAL);
	path.hops = 1;
	path.port[0] = 63;
	ok = ok &&
	     expect("get by a port without a link",
		    angara_manage_get(manager, &path, ANGARA_MGMT_NODE, 0, big, 8, &router),
		    -ENXIO) &&
	     expect("router that answered", router, alone_about(ctx).node);
	angara_manager_close(manager);
	angara_manager_close(NULL);
	angara_map_free(NULL);
	return ok && expect("no device", angara_manager_open("/dev/null/none", &manager),
			    -ENODEV);
}

/* Asks this node's router for its attributes; no link carries the request. */
static int about_here(struct angara_mgmt_node *node)
{
	static const struct angara_path here;
	int ret;

	if (!manager_start())
		return -ENODEV;
	ret = angara_manage_get(manager, &here, ANGARA_MGMT_NODE, 0, node, sizeof(*node), NULL);
	angara_manager_close(manager);
	return ret;
}

/*
 * Runs a part if the process has the right to manage.  Links with faults lose
 * management packets.  @lossless: this would change the results of the part, so
 * it is skipped on such links.
 */
static bool managed(bool (*part)(void), bool lossless)
{
	struct angara_mgmt_node node = { 0 };
	int ret = about_here(&node);

	if (ret == -EPERM)
		return parts_skip("no CAP_NET_ADMIN");
	if (!ret && lossless && node.faulty)
		return parts_skip("links with faults lose management packets");
	return expect("own router", ret, 0) && part();
}

static bool finds_all_managed(void)
{
	return managed(finds_all, true);
}

/*
 * Only one process sends requests: a key affects the requests of all processes.
 */
static bool writes_managed(void)
{
	return rank || managed(writes, true);
}

static bool wrong_requests_managed(void)
{
	return managed(wrong_requests, false);
}

const struct part manage_parts[] = {
	{ "manage: discovery", finds_all_managed },
	{ "manage: rows and keys of other routers", writes_managed },
	{ "manage: wrong requests", wrong_requests_managed },
	{ NULL, NULL },
};
