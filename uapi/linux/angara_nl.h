/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Angara: names of the generic netlink family.
 *
 * Documentation/netlink/specs/angara.yaml is the specification; a test of the
 * host compares it with this file.
 *
 * Errors common to all commands:
 *   -EINVAL      an attribute is missing, unknown here, or breaks a rule
 *   -ERANGE      a number is out of range
 *   -EPERM       the command needs CAP_NET_ADMIN, or the object belongs to a
 *		  partition that is not the caller's
 *   -ENODEV      there is no such device, or it is gone
 *   -ENOENT      there is no such link, tree row or context
 *   -EIO         the device refused or does not answer
 * The extended acknowledgement says which attribute is wrong and why.
 */
#ifndef _UAPI_LINUX_ANGARA_NL_H
#define _UAPI_LINUX_ANGARA_NL_H

#define ANGARA_GENL_NAME	"angara"
#define ANGARA_GENL_VERSION	1

/*
 * Multicast groups.  The first is open to everybody, and tells of devices and
 * links; the second tells of all, and joining it needs CAP_NET_ADMIN.
 */
#define ANGARA_GENL_MCGRP	"events"
#define ANGARA_GENL_MCGRP_ADMIN	"admin"

/*
 * Partitions of users: what a process of user @uid gets without asking, see
 * angara_query.pkey.  Users above ANGARA_PKEY_UID_MAX have none.
 */
#define ANGARA_PKEY_UID(uid)	(0x80000000U | (uid))
#define ANGARA_PKEY_UID_MAX	0x7FFFFFFFU

/*
 * Commands.  *_GET: one object, or with NLM_F_DUMP all of them.  A dump can be
 * narrowed by ANGARA_A_DEV and ANGARA_A_FABRIC, and that of trees by
 * ANGARA_A_TREE.  Trees and contexts of other partitions are only seen with
 * CAP_NET_ADMIN; TREE_SET, TREE_CLEAR and TREE_DELEGATE need it.
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
	ANGARA_CMD_EVENT,		/* multicast */
	ANGARA_CMD_FABRIC_GET,		/* what the device says of its fabric */
	__ANGARA_CMD_MAX
};

#define ANGARA_CMD_MAX (__ANGARA_CMD_MAX - 1)

/* Attributes; one flat space, so that a program needs one policy. */
enum {
	ANGARA_A_UNSPEC,
	ANGARA_A_PAD,
	ANGARA_A_DEV,			/* u32: N of /dev/angaraN */
	ANGARA_A_NODE,			/* u32 */
	ANGARA_A_NODES,			/* u32: in the fabric, or in the tree */
	ANGARA_A_FABRIC,		/* u64 */
	ANGARA_A_NUM_PORTS,		/* u32: ports of the router */
	ANGARA_A_DESCRIPTION,		/* string: of the fabric */
	ANGARA_A_BUS,			/* string: "loop", "pci" */
	ANGARA_A_CONTEXTS,		/* u32: that can be created */
	ANGARA_A_CONTEXTS_USED,		/* u32 */
	ANGARA_A_NODE_COUNTERS,		/* nested: ANGARA_A_NODE_COUNTER_* */
	ANGARA_A_PORT_COUNTERS,		/* nested: ANGARA_A_PORT_COUNTER_* */
	ANGARA_A_TREE_COUNTERS,		/* nested: ANGARA_A_TREE_COUNTER_* */
	ANGARA_A_CTX_COUNTERS,		/* nested: ANGARA_A_CTX_COUNTER_* */
	ANGARA_A_PORT,			/* u8 */
	ANGARA_A_NEIGHBOR,		/* u32: node at the far end */
	ANGARA_A_NEIGHBOR_PORT,		/* u8: its port */
	ANGARA_A_TREE,			/* u8: TreeId */
	ANGARA_A_STATE,			/* u8: ANGARA_TREE_STATE_* */
	ANGARA_A_IS_ROOT,		/* u8 */
	ANGARA_A_TO_ROOT,		/* u8: port up or ANGARA_PORT_NONE */
	ANGARA_A_PORTS,			/* u64: set of ports down */
	ANGARA_A_PE,			/* u16: local participants */
	ANGARA_A_PKEY,			/* u32: partition */
	ANGARA_A_EPOCH,			/* u16 */
	ANGARA_A_MEMBERS,		/* u8: joined participants */
	ANGARA_A_DOWN_NODE,		/* u32: node that took the tree down */
	ANGARA_A_DELEGATED,		/* u32: partition, 0 for none */
	ANGARA_A_RULE,			/* u8: ANGARA_TREE_RULE_* */
	ANGARA_A_CTX,			/* u32: number of a context */
	ANGARA_A_PID,			/* u32: who opened it, as the reader calls it */
	ANGARA_A_UID,			/* u32: likewise */
	ANGARA_A_MRS,			/* u32: memory regions in use */
	ANGARA_A_PINNED,		/* u64: bytes pinned */
	ANGARA_A_EVENT,			/* u8: ANGARA_AEV_* or ANGARA_NLE_* */
	ANGARA_A_INDEX,			/* u32: what the event is about */
	ANGARA_A_VALUE,			/* u32: of the event */
	__ANGARA_A_MAX
};

#define ANGARA_A_MAX (__ANGARA_A_MAX - 1)

/* ANGARA_A_NODE_COUNTERS, nested: u64 each. */
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
 * Events that come from the driver, beside ANGARA_AEV_* of the device.  These
 * and ANGARA_AEV_LINK_DOWN are told in ANGARA_GENL_MCGRP too; those of trees and
 * contexts in ANGARA_GENL_MCGRP_ADMIN only.
 */
#define ANGARA_NLE_DEV_NEW	64
#define ANGARA_NLE_DEV_DEL	65
#define ANGARA_NLE_LOST		66	/* value: events lost, saturating */

#endif /* _UAPI_LINUX_ANGARA_NL_H */
