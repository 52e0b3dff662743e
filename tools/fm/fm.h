/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * angara-fm: the fabric manager of one machine.
 *
 * The manager leads routes and trees around links that are down: see routes.c and
 * trees.c.
 *
 * It leases trees to users that may not program trees: a lease is the delegation
 * of a free tree to the user's partition, on all devices of a fabric on this
 * machine.  The messages are in libangara/fm.h.
 *
 *   clients.c	clients: connections, limits, requests
 *   lease.c	leases: which user gets a tree, and when the tree is taken back
 *   devices.c	devices and delegations, by netlink
 *   routes.c	links that go down or come up; routes around those that are down
 *   trees.c	trees of administrators that went down
 *   list.c	"angara-fm status"
 *
 * States of a tree that the manager may lease (--trees):
 *
 *   free	no device has a row of it or a delegation
 *   held	leased, and the connection of the holder is open
 *   orphan	leased without a connection: the holder has closed it, or it was a
 *		connection to an earlier manager
 *
 * An orphan becomes free when no device has a row with the user's partition, and
 * its time of grace is over.  The kernel clears the rows of libangara when their
 * process ends, so rows show that a job lives.  The manager clears rows only if the
 * user has no context in the fabric: then no job can use the tree.
 *
 * All state is in the devices.  A new manager reads the delegations to users, and
 * treats them as orphans: their jobs continue, and need not connect again.
 */
#ifndef FM_H
#define FM_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include "angaractl.h"
#include "../../libangara/fm.h"

#define FM_NS		1000000000ULL
#define FM_MS		1000000ULL
#define FM_NO_CLIENT	(-1)

/**
 * struct fm_opts - command line
 * @socket: path of the socket
 * @group: group of the socket
 * @trees: TreeIds that the manager may lease, a bit for each
 * @quota: leases of a user per fabric; 0: half of the trees
 * @grace_ns: see struct fm_lease
 * @keep_routes: do not change routes when links go down or come up
 * @keep_trees: do not repair trees that are down
 */
struct fm_opts {
	const char *socket;
	const char *group;
	uint64_t trees;
	uint64_t quota;
	uint64_t grace_ns;
	bool keep_routes;
	bool keep_trees;
};

/**
 * struct fm_lease - a leased tree
 * @fabric: fabric
 * @tree: TreeId
 * @uid: user
 * @client: number of the holder's connection, or FM_NO_CLIENT
 * @fresh: the connection was closed since the last check of orphans
 * @grace_end: time until which an orphan stays without rows
 */
struct fm_lease {
	uint64_t fabric;
	uint32_t tree;
	uid_t uid;
	int client;
	bool fresh;
	uint64_t grace_end;
};

/**
 * struct fm_fabric - devices of a fabric on this machine
 * @id: fabric
 * @devs: numbers of the devices
 * @count: number of @devs
 * @trees: number of trees of each device
 */
struct fm_fabric {
	uint64_t id;
	uint32_t *devs;
	size_t count;
	uint32_t trees;
};

/**
 * struct fm_row - a row or a delegation
 * @fabric: fabric
 * @tree: TreeId
 * @dev: device
 * @router: router to which the row belongs
 * @is_switch: the router is a switch
 * @pkey: partition of the row; 0: the row is not set
 * @delegated: partition to which the tree is delegated; 0: none
 * @down: the tree is down at the router
 * @owned: a process owns the row
 */
struct fm_row {
	uint64_t fabric;
	uint32_t tree;
	uint32_t dev;
	uint32_t router;
	bool is_switch;
	uint32_t pkey;
	uint32_t delegated;
	bool down;
	bool owned;
};

/**
 * struct fm_down - trees of administrators that are down
 * @fabric: fabric
 * @trees: a bit for each TreeId
 */
struct fm_down {
	uint64_t fabric;
	uint64_t trees;
};

/**
 * struct fm_list - the reply to ANG_FM_LIST, of which the first @head.count leases are sent
 */
struct fm_list {
	struct ang_fm_reply head;
	struct ang_fm_lease leases[ANG_FM_MOST];
};

/* main.c; fm_address() returns DONE, or FAILED with a message */
uint64_t fm_now(void);
int fm_address(const struct fm_opts *opts, struct sockaddr_un *at);

/*
 * clients.c: both return FAILED, with a message, after an error; else
 * clients_listen() returns DONE
 */
int clients_listen(const struct fm_opts *opts);
int clients_run(void);

/* lease.c */
int lease_start(const struct fm_opts *opts);
int lease_grant(const struct ang_fm_request *q, uid_t uid, int client,
		struct ang_fm_reply *reply);
bool lease_drop(int client);
uint32_t lease_list(uid_t uid, struct ang_fm_lease *list);
bool lease_orphans(void);
void lease_tick(bool fresh);
void lease_devices(void);

/* devices.c: functions return 0 or -errno, unless their comments say something else */
int fabric_connect(void);
int fabric_get(uint64_t id, struct fm_fabric *fabric);
void fabric_put(struct fm_fabric *fabric);
int fabric_rows(uint64_t id, int tree, struct fm_row **rows, size_t *count);
int fabric_delegate(const struct fm_fabric *fabric, uint32_t tree, uint32_t pkey);
void fabric_clear(const struct fm_row *row);
int fabric_in_use(uint64_t id, uint32_t pkey);

/* routes.c */
#define FM_ROUTES_POLLED	2
int routes_start(const struct fm_opts *opts, int lock);
int routes_poll(struct pollfd *polled);
int routes_run(const struct pollfd *polled);
uint64_t routes_repaired(uint64_t fabric);
bool routes_devices(void);

/* trees.c */
size_t trees_down(struct fm_down *down, size_t most);
int trees_heal(const struct fm_down *down, size_t count);

/* list.c; list_status() returns an exit status */
int list_status(const struct fm_opts *opts);

#endif /* FM_H */
