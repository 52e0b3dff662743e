/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: in-band management.
 *
 * A manager reads and writes the tables of routers by packets that routers
 * forward along a list of ports.  A manager uses one adapter of the fabric, and
 * the caller needs CAP_NET_ADMIN; an embedded fabric needs no privilege.
 * linux/angara_mgmt.h defines what can be read and written.
 */
#ifndef ANGARA_MANAGE_H
#define ANGARA_MANAGE_H

#include <stddef.h>
#include <angara/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct angara_manager;

#define ANGARA_PATH_LINKS	64	/* links of the longest path */

/**
 * struct angara_path - how to reach a router from the manager's adapter
 * @key: key of the router, 0 for none
 * @hops: links, at most ANGARA_PATH_LINKS
 * @port: the port of each router by which the packet leaves it
 * @reserved: 0
 */
struct angara_path {
	uint64_t key;
	uint32_t hops;
	uint8_t port[ANGARA_PATH_LINKS];
	uint8_t reserved[4];
};

/**
 * angara_manager_open() - open an adapter for management
 * @device: as for angara_domain_open()
 * @out: out
 *
 * Return: 0; -ENODEV, -EACCES, -ENOMEM and other errors of angara_domain_open().
 */
int angara_manager_open(const char *device, struct angara_manager **out);
/** Closes a manager; NULL does nothing. */
void angara_manager_close(struct angara_manager *manager);
/**
 * angara_manager_describe() - get the description of the adapter's fabric
 * @manager: manager
 * @text: out: text for angara_fabric_open(), which the caller frees with free()
 *
 * Return: 0; -ENOMEM; -errno the description cannot be read.
 */
int angara_manager_describe(struct angara_manager *manager, char **text);

/**
 * angara_manage_get() - read an attribute of a router
 * @manager: manager
 * @path: router
 * @attr: ANGARA_MGMT_NODE, ANGARA_MGMT_PORT or ANGARA_MGMT_ROW
 * @modifier: port or tree, else 0
 * @value: out: struct angara_mgmt_node and so on; its fields are little endian
 * @size: bytes of @value
 * @router: out: number of the router that answered, even if the answer is an
 *	error; UINT32_MAX: none answered.  May be NULL
 *
 * A request that gets no answer is repeated for a second.
 *
 * Return: 0; errors of a router: -EACCES the key is wrong; -ENXIO the path
 * names a port that leads nowhere; -ENETDOWN a link of the path is down;
 * -ENOENT the row is not set; -EINVAL @modifier is out of range; -EOPNOTSUPP no
 * such attribute; other errors: -EPERM the caller lacks CAP_NET_ADMIN; -EINVAL the
 * path is too long, or @size is too large; -ETIMEDOUT no answer; -ENODEV the
 * adapter is gone.
 */
int angara_manage_get(struct angara_manager *manager, const struct angara_path *path,
		      unsigned int attr, uint32_t modifier, void *value, size_t size,
		      uint32_t *router);

/**
 * angara_manage_set() - write an attribute of a router
 * @manager: manager
 * @path: router
 * @attr: ANGARA_MGMT_ROW, ANGARA_MGMT_ROW_CLEAR or ANGARA_MGMT_KEY
 * @modifier: tree, else 0
 * @value: struct angara_mgmt_row, none, or struct angara_mgmt_key
 * @size: bytes of @value
 * @router: as for angara_manage_get()
 *
 * Repeats a request that gets no answer, and finds out whether an earlier copy
 * of it was carried out.
 *
 * Return: as angara_manage_get(); -EEXIST the row is set; -EBUSY the row cannot
 * be set now: packets of the previous tree on this row are still in the fabric,
 * or the router's adapter has no driver; -EINVAL the value is not valid, or the
 * row breaks a rule of trees; -EAGAIN other managers kept writing between the attempts.
 */
int angara_manage_set(struct angara_manager *manager, const struct angara_path *path,
		      unsigned int attr, uint32_t modifier, const void *value,
		      size_t size, uint32_t *router);

/* State of a router that was found. */
#define ANGARA_FOUND_OK		0	/* it has answered */
#define ANGARA_FOUND_REFUSED	1	/* it needs another key */
#define ANGARA_FOUND_SILENT	2	/* it did not answer */
#define ANGARA_FOUND_WRONG	3	/* contradicts other answers */

/* Properties of a router. */
#define ANGARA_ROUTER_SWITCH	1U	/* it has no processing element */
#define ANGARA_ROUTER_KEYED	2U	/* its key is not 0 */
#define ANGARA_ROUTER_SEALED	4U	/* without a key, nothing can be written */

/**
 * struct angara_router - answer of a router about itself
 * @joined: ports that lead to a router, one bit each
 * @down: ports of @joined whose link is down
 * @faulty: ports of @joined whose link loses, corrupts or delays packets
 * @taken: management packets that it has taken from its links
 * @dropped: management packets that it has dropped
 * @refused: requests with a wrong key
 * @trees: number of trees for which it has rows
 * @ports: number of its ports
 * @port: port by which the request arrived; UINT32_MAX: the router's own host
 *	sent the request
 * @flags: ANGARA_ROUTER_*
 */
struct angara_router {
	uint64_t joined;
	uint64_t down;
	uint64_t faulty;
	uint64_t taken;
	uint64_t dropped;
	uint64_t refused;
	uint32_t trees;
	uint32_t ports;
	uint32_t port;
	uint32_t flags;
};

/**
 * struct angara_found - a router that was found
 * @router: its number; UINT32_MAX: not known
 * @state: ANGARA_FOUND_*
 * @path: shortest path to it
 * @about: the answer of the router, if @state is OK
 */
struct angara_found {
	uint32_t router;
	uint32_t state;
	struct angara_path path;
	struct angara_router about;
};

/* State of a link. */
#define ANGARA_CABLE_UP		0
#define ANGARA_CABLE_DOWN	1	/* far end not known */
#define ANGARA_CABLE_FAULTY	2	/* it loses, corrupts or delays packets */

/**
 * struct angara_cable - a link between two routers
 * @from: index in angara_map.routers
 * @port: port there
 * @to: index at the other end; UINT32_MAX: not known
 * @far: port there; UINT32_MAX: not known
 * @state: ANGARA_CABLE_*
 */
struct angara_cable {
	uint32_t from;
	uint32_t port;
	uint32_t to;
	uint32_t far;
	uint32_t state;
};

/**
 * struct angara_map - the part of a fabric that requests can reach
 * @fabric_id: number of the fabric
 * @nodes: nodes of the fabric
 * @size: nodes and switches of the fabric
 * @nrouters: entries of @routers
 * @ncables: entries of @cables
 * @routers: routers by distance; the first is that of the manager's adapter
 * @cables: each link once; a link that is down once per end, since no packet
 *	can find what its other end is
 */
struct angara_map {
	uint64_t fabric_id;
	uint32_t nodes;
	uint32_t size;
	uint32_t nrouters;
	uint32_t ncables;
	struct angara_found *routers;
	struct angara_cable *cables;
};

/**
 * angara_discover() - find all routers of the fabric and their links
 * @manager: manager
 * @key: key of all routers, 0 for none
 * @out: out: the map, which the caller frees with angara_map_free()
 *
 * Routers more than ANGARA_PATH_LINKS links away are not found.
 *
 * Return: 0, also if routers do not answer; errors of angara_manage_get() for the
 * router of the manager's adapter; -ENOMEM.
 */
int angara_discover(struct angara_manager *manager, uint64_t key,
		    struct angara_map **out);
void angara_map_free(struct angara_map *map);

struct angara_tree_row;

/**
 * struct angara_tree_failure - why a tree is not set or not cleared
 * @size: sizeof(struct angara_tree_failure)
 * @router: number of the router whose row caused the error; UINT32_MAX: none
 * @answered: number of the router that answered with the error: @router, or one
 *	on the way to it; UINT32_MAX: none answered
 * @rule: ANGARA_TREE_RULE_* that the rows break, or 0
 * @left: number of routers that may still have a row of the tree, since they did
 *	not confirm that it is cleared
 */
struct angara_tree_failure {
	uint32_t size;
	uint32_t router;
	uint32_t answered;
	uint32_t rule;
	uint32_t left;
};

/**
 * angara_manage_tree_set() - set the rows of a tree at all of its routers, or at
 * none
 * @manager: manager
 * @map: routers and the paths and keys by which they are reached
 * @rows: one per router of the fabric, map->size, as from angara_fabric_tree(),
 *	with tree, partition and epoch.  Managers choose the epoch at random
 * @failure: out, after an error; the caller sets its size.  May be NULL
 *
 * Checks all rows together before the first is set; reads all of them afterwards.
 * If a router refuses its row or does not answer, clears the rows that were set.
 *
 * Return: 0; -EINVAL the rows are not a valid tree (@failure.rule), or a size
 * is wrong; -EHOSTUNREACH the map has no path to a router of the tree;
 * -ENETDOWN a link of the tree or on the way to a router is down; -EIO a router
 * other than the router of the row answered, or the description of the fabric
 * does not match the map; -EBUSY, -EEXIST a row changed or was set by others;
 * -ENOMEM; errors of angara_manage_set().
 */
int angara_manage_tree_set(struct angara_manager *manager,
			   const struct angara_map *map,
			   const struct angara_tree_row *rows,
			   struct angara_tree_failure *failure);

/**
 * angara_manage_tree_clear() - clear the rows of a tree at all routers of a map
 * @manager: manager
 * @map: routers and the paths and keys by which they are reached
 * @tree: tree
 * @failure: as for angara_manage_tree_set()
 *
 * A router that refuses or does not answer does not keep the other rows from
 * being cleared.
 *
 * Return: number of rows that were cleared; else the first error, of
 * angara_manage_get() and angara_manage_set().
 */
int angara_manage_tree_clear(struct angara_manager *manager,
			     const struct angara_map *map, unsigned int tree,
			     struct angara_tree_failure *failure);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_MANAGE_H */
