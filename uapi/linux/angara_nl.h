/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Angara: names of the generic netlink family.
 *
 * The specification is Documentation/netlink/specs/angara.yaml; a host test
 * compares it with this file.
 *
 * Errors common to all commands:
 *   -EINVAL      an attribute is missing, is unknown to the command, or breaks a rule
 *   -ERANGE      a number is out of range
 *   -EPERM       the command needs CAP_NET_ADMIN, or the object belongs to a
 *		  partition that is not the caller's
 *   -ENODEV      there is no such device, or it is gone
 *   -ENOENT      there is no such link, tree row or context
 *   -EBUSY       the row is set already, or another device is changing the routes
 *   -EOPNOTSUPP  the adapter does not allow it, or the fabric is too large for it
 *   -EIO         the device refused the command or does not respond
 * The extended acknowledgement says which attribute is wrong and why.
 */
#ifndef _UAPI_LINUX_ANGARA_NL_H
#define _UAPI_LINUX_ANGARA_NL_H

#define ANGARA_GENL_NAME	"angara"
#define ANGARA_GENL_VERSION	1

/*
 * Multicast groups.  Any user may join the first group, which carries events of
 * devices and links.  The second group carries all events; joining it needs
 * CAP_NET_ADMIN.
 */
#define ANGARA_GENL_MCGRP	"events"
#define ANGARA_GENL_MCGRP_ADMIN	"admin"

/*
 * Default partition of a user: a process of user @uid gets this partition, see
 * angara_query.pkey.  Users above ANGARA_PKEY_UID_MAX have no default
 * partition.
 */
#define ANGARA_PKEY_UID(uid)	(0x80000000U | (uid))
#define ANGARA_PKEY_UID_MAX	0x7FFFFFFFU

/*
 * Commands.  *_GET returns one object, or all objects with NLM_F_DUMP.  A dump
 * can be restricted to a device or a fabric, and a dump of rows also to
 * ANGARA_A_TREE_ID.  Trees and contexts of other partitions are visible with
 * CAP_NET_ADMIN only; TREE_SET, TREE_CLEAR, TREE_DELEGATE, PORT_SET and
 * ROUTE_SET need CAP_NET_ADMIN.
 *
 * The node of a device may keep switches, see ANGARA_TREE_ROUTER in
 * linux/angara.h.  Ports and rows of these switches are objects of the device,
 * identified by ANGARA_A_PORT_ROUTER and ANGARA_A_TREE_ROUTER.  Dumps contain
 * the objects of the node and of its switches.  Without that attribute, a
 * request for one object, TREE_SET, TREE_CLEAR and PORT_SET apply to the node
 * itself.  TREE_DELEGATE applies to the node and its switches.
 */
enum {
	ANGARA_CMD_UNSPEC,
	ANGARA_CMD_DEV_GET,
	ANGARA_CMD_PORT_GET,
	ANGARA_CMD_TREE_GET,
	ANGARA_CMD_CTX_GET,
	ANGARA_CMD_TREE_SET,
	ANGARA_CMD_TREE_CLEAR,
	ANGARA_CMD_TREE_CHECK,
	ANGARA_CMD_TREE_DELEGATE,
	ANGARA_CMD_EVENT,		/* sent to multicast groups */
	ANGARA_CMD_FABRIC_GET,
	ANGARA_CMD_PORT_SET,
	ANGARA_CMD_ROUTE_SET,
	__ANGARA_CMD_MAX
};

#define ANGARA_CMD_MAX (__ANGARA_CMD_MAX - 1)

/*
 * Attributes: one set for each kind of object.  Each set begins with PAD, then
 * the location of the object: DEV, NODE, FABRIC, and ID, the object's number on
 * that device.  These attributes have the same numbers in all sets.  In the
 * sets of devices and fabrics, ID is the number of the device or fabric.
 */

/* Devices: ANGARA_CMD_DEV_GET. */
enum {
	ANGARA_A_DEV_UNSPEC,
	ANGARA_A_DEV_PAD,
	ANGARA_A_DEV_ID,		/* u32: N of /dev/angaraN */
	ANGARA_A_DEV_NODE,		/* u32: node number in the fabric */
	ANGARA_A_DEV_FABRIC,		/* u64 */
	ANGARA_A_DEV_NODES,		/* u32: nodes in the fabric */
	ANGARA_A_DEV_PORTS,		/* u32: ports of the router */
	ANGARA_A_DEV_BUS,		/* string: "loop", "pci" */
	ANGARA_A_DEV_CONTEXTS,		/* u32: contexts that can be created */
	ANGARA_A_DEV_CONTEXTS_USED,	/* u32: contexts that exist */
	ANGARA_A_DEV_COUNTERS,		/* nested: ANGARA_A_NODE_COUNTER_* */
	__ANGARA_A_DEV_MAX
};

#define ANGARA_A_DEV_MAX (__ANGARA_A_DEV_MAX - 1)

/* Fabrics, as their devices describe them: ANGARA_CMD_FABRIC_GET. */
enum {
	ANGARA_A_FABRIC_UNSPEC,
	ANGARA_A_FABRIC_PAD,
	ANGARA_A_FABRIC_DEV,		/* u32: device that describes the fabric */
	ANGARA_A_FABRIC_NODE,		/* u32: node of that device */
	ANGARA_A_FABRIC_ID,		/* u64 */
	ANGARA_A_FABRIC_NODES,		/* u32: nodes in the fabric */
	ANGARA_A_FABRIC_DESCRIPTION,	/* string: "torus:2x2x2" */
	__ANGARA_A_FABRIC_MAX
};

#define ANGARA_A_FABRIC_MAX (__ANGARA_A_FABRIC_MAX - 1)

/*
 * Faults that an administrator sets on a link, for tests: packets that leave by
 * the port, and their acknowledgements, are lost or corrupted with a given
 * probability, or delayed.  The adapters hide these faults by retransmission.
 * A link is down or up in both directions.
 */
#define ANGARA_FAULT_ONE	1000000000U	/* a probability of 1 */
#define ANGARA_FAULT_MAX_NS	1000000000U	/* the longest delay */

/* Ports and their links: ANGARA_CMD_PORT_GET, PORT_SET. */
enum {
	ANGARA_A_PORT_UNSPEC,
	ANGARA_A_PORT_PAD,
	ANGARA_A_PORT_DEV,		/* u32 */
	ANGARA_A_PORT_NODE,		/* u32 */
	ANGARA_A_PORT_FABRIC,		/* u64 */
	ANGARA_A_PORT_ID,		/* u8: number of the port */
	ANGARA_A_PORT_NEIGHBOR,		/* u32: router at the other end */
	ANGARA_A_PORT_NEIGHBOR_PORT,	/* u8: port at the other end */
	ANGARA_A_PORT_COUNTERS,		/* nested: ANGARA_A_PORT_COUNTER_* */
	ANGARA_A_PORT_ROUTER,		/* u32: router that has the port */
	ANGARA_A_PORT_DOWN,		/* u8: 1: the link is down */
	ANGARA_A_PORT_LOSS,		/* u32: packets lost, of ANGARA_FAULT_ONE */
	ANGARA_A_PORT_CORRUPT,		/* u32: packets corrupted, of ANGARA_FAULT_ONE */
	ANGARA_A_PORT_DELAY,		/* u64: additional delay, ns */
	ANGARA_A_PORT_SEED,		/* u64: seed of random faults */
	__ANGARA_A_PORT_MAX
};

#define ANGARA_A_PORT_MAX (__ANGARA_A_PORT_MAX - 1)

/*
 * Routes between nodes: ANGARA_CMD_ROUTE_SET.  A request either stores one
 * router's row of a new table, as angara_fabric_row() of libangara writes it, or
 * makes all routers of the fabric use the table.  Any device of the fabric accepts
 * the rows of all routers.
 */
enum {
	ANGARA_A_ROUTE_UNSPEC,
	ANGARA_A_ROUTE_PAD,
	ANGARA_A_ROUTE_DEV,		/* u32 */
	ANGARA_A_ROUTE_NODE,		/* u32 */
	ANGARA_A_ROUTE_FABRIC,		/* u64 */
	ANGARA_A_ROUTE_ID,		/* u32: router of the row */
	ANGARA_A_ROUTE_ROW,		/* binary: the row */
	ANGARA_A_ROUTE_USE,		/* u8: 1: use the table; 0: use the topology's routes */
	__ANGARA_A_ROUTE_MAX
};

#define ANGARA_A_ROUTE_MAX (__ANGARA_A_ROUTE_MAX - 1)

/* Tree rows: ANGARA_CMD_TREE_GET, TREE_SET, TREE_CLEAR, TREE_DELEGATE. */
enum {
	ANGARA_A_TREE_UNSPEC,
	ANGARA_A_TREE_PAD,
	ANGARA_A_TREE_DEV,		/* u32 */
	ANGARA_A_TREE_NODE,		/* u32 */
	ANGARA_A_TREE_FABRIC,		/* u64 */
	ANGARA_A_TREE_ID,		/* u8: TreeId */
	ANGARA_A_TREE_STATE,		/* u8: ANGARA_TREE_STATE_* */
	ANGARA_A_TREE_IS_ROOT,		/* u8 */
	ANGARA_A_TREE_TO_ROOT,		/* u8: port to the parent, or ANGARA_PORT_NONE */
	ANGARA_A_TREE_PORTS,		/* u64: set of ports to children */
	ANGARA_A_TREE_PE,		/* u16: local participants */
	ANGARA_A_TREE_PKEY,		/* u32: partition */
	ANGARA_A_TREE_EPOCH,		/* u16 */
	ANGARA_A_TREE_MEMBERS,		/* u8: joined participants */
	ANGARA_A_TREE_DOWN_NODE,	/* u32: node that took the tree down */
	ANGARA_A_TREE_DELEGATED,	/* u32: partition that the tree is delegated to, or 0 */
	ANGARA_A_TREE_COUNTERS,		/* nested: ANGARA_A_TREE_COUNTER_* */
	ANGARA_A_TREE_ROUTER,		/* u32: router of the row */
	ANGARA_A_TREE_OWNED,		/* u8: 1: a process owns the row (ANGARA_TREE_OWNED) */
	__ANGARA_A_TREE_MAX
};

#define ANGARA_A_TREE_MAX (__ANGARA_A_TREE_MAX - 1)

/* Result of a check of a tree's rows on all nodes: ANGARA_CMD_TREE_CHECK. */
enum {
	ANGARA_A_CHECK_UNSPEC,
	ANGARA_A_CHECK_PAD,
	ANGARA_A_CHECK_DEV,		/* u32: any device of the fabric */
	ANGARA_A_CHECK_NODE,		/* u32: router that breaks the rule */
	ANGARA_A_CHECK_FABRIC,		/* u64 */
	ANGARA_A_CHECK_ID,		/* u8: TreeId */
	ANGARA_A_CHECK_RULE,		/* u8: ANGARA_TREE_RULE_* */
	ANGARA_A_CHECK_NODES,		/* u32: routers in the tree */
	__ANGARA_A_CHECK_MAX
};

#define ANGARA_A_CHECK_MAX (__ANGARA_A_CHECK_MAX - 1)

/* Contexts: ANGARA_CMD_CTX_GET. */
enum {
	ANGARA_A_CTX_UNSPEC,
	ANGARA_A_CTX_PAD,
	ANGARA_A_CTX_DEV,		/* u32 */
	ANGARA_A_CTX_NODE,		/* u32 */
	ANGARA_A_CTX_FABRIC,		/* u64 */
	ANGARA_A_CTX_ID,		/* u32: number of the context */
	ANGARA_A_CTX_PKEY,		/* u32: partition */
	ANGARA_A_CTX_PID,		/* u32: creator, in the caller's pid namespace */
	ANGARA_A_CTX_UID,		/* u32: creator, in the caller's user namespace */
	ANGARA_A_CTX_MRS,		/* u32: memory regions in use */
	ANGARA_A_CTX_PINNED,		/* u64: bytes pinned */
	ANGARA_A_CTX_COUNTERS,		/* nested: ANGARA_A_CTX_COUNTER_* */
	__ANGARA_A_CTX_MAX
};

#define ANGARA_A_CTX_MAX (__ANGARA_A_CTX_MAX - 1)

/* Events: ANGARA_CMD_EVENT. */
enum {
	ANGARA_A_EVENT_UNSPEC,
	ANGARA_A_EVENT_PAD,
	ANGARA_A_EVENT_DEV,		/* u32 */
	ANGARA_A_EVENT_NODE,		/* u32 */
	ANGARA_A_EVENT_FABRIC,		/* u64 */
	ANGARA_A_EVENT_TYPE,		/* u8: ANGARA_AEV_* or ANGARA_NLE_* */
	ANGARA_A_EVENT_INDEX,		/* u32: number of the object */
	ANGARA_A_EVENT_VALUE,		/* u32 */
	__ANGARA_A_EVENT_MAX
};

#define ANGARA_A_EVENT_MAX (__ANGARA_A_EVENT_MAX - 1)

/* ANGARA_A_DEV_COUNTERS, nested: u64 each. */
enum {
	ANGARA_A_NODE_COUNTER_UNSPEC,
	ANGARA_A_NODE_COUNTER_PAD,
	ANGARA_A_NODE_COUNTER_DROPS_NO_TREE,
	ANGARA_A_NODE_COUNTER_DROPS_STALE,
	ANGARA_A_NODE_COUNTER_DROPS_PARTITION,
	ANGARA_A_NODE_COUNTER_DROPS_PORT,
	ANGARA_A_NODE_COUNTER_DROPS_TARGET,
	ANGARA_A_NODE_COUNTER_DROPS_MEMORY,
	ANGARA_A_NODE_COUNTER_DROPS_ORDER,
	ANGARA_A_NODE_COUNTER_DROPS_LINK,
	ANGARA_A_NODE_COUNTER_INJECTED_PACKETS,
	ANGARA_A_NODE_COUNTER_EJECTED_PACKETS,
	ANGARA_A_NODE_COUNTER_INJECTED_FLITS,
	ANGARA_A_NODE_COUNTER_EJECTED_FLITS,
	ANGARA_A_NODE_COUNTER_HOPS,
	ANGARA_A_NODE_COUNTER_NO_BUFFER,
	ANGARA_A_NODE_COUNTER_CYCLES,
	__ANGARA_A_NODE_COUNTER_MAX
};

#define ANGARA_A_NODE_COUNTER_MAX (__ANGARA_A_NODE_COUNTER_MAX - 1)

/* ANGARA_A_PORT_COUNTERS, nested: u64 each. */
enum {
	ANGARA_A_PORT_COUNTER_UNSPEC,
	ANGARA_A_PORT_COUNTER_PAD,
	ANGARA_A_PORT_COUNTER_PACKETS_REQ,
	ANGARA_A_PORT_COUNTER_PACKETS_RSP,
	ANGARA_A_PORT_COUNTER_PACKETS_UP,
	ANGARA_A_PORT_COUNTER_PACKETS_DOWN,
	ANGARA_A_PORT_COUNTER_FLITS_REQ,
	ANGARA_A_PORT_COUNTER_FLITS_RSP,
	ANGARA_A_PORT_COUNTER_FLITS_UP,
	ANGARA_A_PORT_COUNTER_FLITS_DOWN,
	ANGARA_A_PORT_COUNTER_STALLS_REQ,
	ANGARA_A_PORT_COUNTER_STALLS_RSP,
	ANGARA_A_PORT_COUNTER_STALLS_UP,
	ANGARA_A_PORT_COUNTER_STALLS_DOWN,
	ANGARA_A_PORT_COUNTER_LOST,
	ANGARA_A_PORT_COUNTER_CORRUPT,
	ANGARA_A_PORT_COUNTER_RETRANSMITTED,
	ANGARA_A_PORT_COUNTER_TIMEOUTS,
	__ANGARA_A_PORT_COUNTER_MAX
};

#define ANGARA_A_PORT_COUNTER_MAX (__ANGARA_A_PORT_COUNTER_MAX - 1)

/* ANGARA_A_TREE_COUNTERS, nested: u64 each. */
enum {
	ANGARA_A_TREE_COUNTER_UNSPEC,
	ANGARA_A_TREE_COUNTER_PAD,
	ANGARA_A_TREE_COUNTER_BCAST_REQUESTS,
	ANGARA_A_TREE_COUNTER_BCAST_PACKETS,
	ANGARA_A_TREE_COUNTER_REDUCE_PACKETS,
	ANGARA_A_TREE_COUNTER_REDUCE_RESULTS,
	ANGARA_A_TREE_COUNTER_CREDITS_SENT,
	ANGARA_A_TREE_COUNTER_CREDITS_RECEIVED,
	ANGARA_A_TREE_COUNTER_CREDITS_PE_COUNT,
	ANGARA_A_TREE_COUNTER_CREDITS_PE_TIMER,
	ANGARA_A_TREE_COUNTER_UP_CREDITS,
	ANGARA_A_TREE_COUNTER_IN_FLIGHT,
	ANGARA_A_TREE_COUNTER_MAX_IN_FLIGHT,
	__ANGARA_A_TREE_COUNTER_MAX
};

#define ANGARA_A_TREE_COUNTER_MAX (__ANGARA_A_TREE_COUNTER_MAX - 1)

/* ANGARA_A_CTX_COUNTERS, nested: u64 each. */
enum {
	ANGARA_A_CTX_COUNTER_UNSPEC,
	ANGARA_A_CTX_COUNTER_PAD,
	ANGARA_A_CTX_COUNTER_WQES,
	ANGARA_A_CTX_COUNTER_CQES,
	ANGARA_A_CTX_COUNTER_CQE_ERRORS,
	ANGARA_A_CTX_COUNTER_TX_PACKETS,
	ANGARA_A_CTX_COUNTER_TX_BYTES,
	ANGARA_A_CTX_COUNTER_RX_PACKETS,
	ANGARA_A_CTX_COUNTER_RX_BYTES,
	ANGARA_A_CTX_COUNTER_RX_ERRORS,
	ANGARA_A_CTX_COUNTER_CQ_FULL,
	ANGARA_A_CTX_COUNTER_INTERRUPTS,
	ANGARA_A_CTX_COUNTER_RX_MSGS,
	ANGARA_A_CTX_COUNTER_NOT_READY,
	__ANGARA_A_CTX_COUNTER_MAX
};

#define ANGARA_A_CTX_COUNTER_MAX (__ANGARA_A_CTX_COUNTER_MAX - 1)

/*
 * ANGARA_A_EVENT_TYPE: events that a device reports.  Events of links go to
 * both groups, other events to ANGARA_GENL_MCGRP_ADMIN only.
 */
#define ANGARA_AEV_TREE_DOWN	1	/* index: tree, value: node */
#define ANGARA_AEV_RX_ERROR	2	/* index: context, value: status */
#define ANGARA_AEV_TREE_SET	3	/* index: tree */
#define ANGARA_AEV_TREE_CLEAR	4	/* index: tree */
#define ANGARA_AEV_LINK_DOWN	5	/* index: port, value: its neighbor */
#define ANGARA_AEV_LINK_UP	6	/* index: port, value: its neighbor */

/* Events that the driver generates; they go to both groups. */
#define ANGARA_NLE_DEV_NEW	64
#define ANGARA_NLE_DEV_DEL	65
#define ANGARA_NLE_LOST		66	/* value: events lost, saturating; 0: not known */

#endif /* _UAPI_LINUX_ANGARA_NL_H */
