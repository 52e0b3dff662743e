/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Angara collective-offload adapter: packets of in-band management.
 *
 * A management packet reads or writes the tables of a router.  It needs no
 * addresses: its path lists the port by which it leaves each router on its way,
 * like the path of a directed-route SMP of InfiniBand.  The answer takes the
 * same path back.  Documentation/management.rst explains the rules.
 *
 * Programs, adapters and links use the same format.  All fields are little
 * endian; fields that a packet does not use are 0.
 */
#ifndef _UAPI_LINUX_ANGARA_MGMT_H
#define _UAPI_LINUX_ANGARA_MGMT_H

#include <linux/types.h>

#define ANGARA_MGMT_HOPS	64	/* links of the longest path */
#define ANGARA_MGMT_DATA	96	/* bytes of @data */

/* angara_mgmt.method */
#define ANGARA_MGMT_GET		1
#define ANGARA_MGMT_SET		2

/* angara_mgmt.attr: what is read (GET) or written (SET). */
#define ANGARA_MGMT_NODE	1	/* GET: struct angara_mgmt_node */
#define ANGARA_MGMT_PORT	2	/* GET, of port @modifier: struct angara_mgmt_port */
#define ANGARA_MGMT_ROW		3	/* GET, SET, of tree @modifier: struct angara_mgmt_row */
#define ANGARA_MGMT_ROW_CLEAR	4	/* SET, of tree @modifier: no data */
#define ANGARA_MGMT_KEY		5	/* SET: struct angara_mgmt_key */

/* angara_mgmt.status of an answer */
#define ANGARA_MGMT_ST_OK	0
#define ANGARA_MGMT_ST_METHOD	1	/* @attr is unknown or lacks @method */
#define ANGARA_MGMT_ST_PARAM	2	/* @modifier or a field of the value is out of range */
#define ANGARA_MGMT_ST_KEY	3	/* @key is not the key of the router */
#define ANGARA_MGMT_ST_STALE	4	/* SET: @writes is out of date */
#define ANGARA_MGMT_ST_PORT	5	/* a port of the path has no link */
#define ANGARA_MGMT_ST_DOWN	6	/* a link of the path is down */
#define ANGARA_MGMT_ST_BUSY	7	/* the row cannot change yet: repeat */
#define ANGARA_MGMT_ST_EXISTS	8	/* the row is set */
#define ANGARA_MGMT_ST_ABSENT	9	/* the row is not set */
#define ANGARA_MGMT_ST_RULE	10	/* the row breaks the rule in @modifier */
#define ANGARA_MGMT_ST_NUM	11

/**
 * struct angara_mgmt - management packet
 * @method: ANGARA_MGMT_GET or ANGARA_MGMT_SET
 * @attr: ANGARA_MGMT_*
 * @status: ANGARA_MGMT_ST_*; 0 in a request
 * @answer: 1: an answer, on its way back; 0: a request
 * @hops: entries of @path, at most ANGARA_MGMT_HOPS
 * @at: number of entries of @path that a request has passed, or that an answer
 *	has not passed yet; 0 in a request that a program makes
 * @reserved: 0
 * @modifier: port or tree; answer with ANGARA_MGMT_ST_RULE: ANGARA_TREE_RULE_*
 * @router: answer: number of the router that answers; else 0
 * @tid: number of the request, which the answer repeats; the driver chooses it
 * @key: request: key of the router, or 0; answer: 0
 * @writes: in an answer: number of SET requests that the router has accepted;
 *	in a SET request: the same number, as the sender knows it, so a copy of
 *	an old packet changes nothing
 * @path: port by which the packet leaves each router; a router replaces the
 *	port by which the packet left the previous router with the port that
 *	leads back there
 * @data: value of SET, or of an answer to GET
 */
struct angara_mgmt {
	__u8 method;
	__u8 attr;
	__u8 status;
	__u8 answer;
	__u8 hops;
	__u8 at;
	__u8 reserved[2];
	__le32 modifier;
	__le32 router;
	__le64 tid;
	__le64 key;
	__le64 writes;
	__u8 path[ANGARA_MGMT_HOPS];
	__u8 data[ANGARA_MGMT_DATA];
};

/* angara_mgmt_node.flags */
#define ANGARA_MGMT_IS_SWITCH	(1U << 0)	/* router without a processing element */
#define ANGARA_MGMT_HAS_KEY	(1U << 1)	/* the router's key is not 0 */
#define ANGARA_MGMT_SEALED	(1U << 2)	/* the router refuses SET while its key is 0 */

/**
 * struct angara_mgmt_node - value of ANGARA_MGMT_NODE: a router
 * @router: number of the router; numbers of nodes precede those of switches
 * @nodes: number of nodes of the fabric
 * @routers: number of nodes and switches of the fabric
 * @flags: ANGARA_MGMT_IS_SWITCH, ANGARA_MGMT_HAS_KEY, ANGARA_MGMT_SEALED
 * @fabric_id: number of the fabric
 * @joined: ports that have a link to another router, one bit each
 * @down: ports of @joined whose link is down
 * @faulty: ports of @joined whose link loses, corrupts or delays packets
 * @taken: number of management packets that the router has received from links
 * @dropped: number of management packets that the router has dropped: no room
 *	at the next router, a link with faults, an answer without a request, or
 *	a wrong format
 * @refused: number of requests with a wrong key
 * @trees: number of rows of the router's table
 * @ports: number of ports, with or without a link
 * @port: port by which the request came, ANGARA_PORT_NONE: from the node's own
 *	host
 * @reserved: 0
 */
struct angara_mgmt_node {
	__le32 router;
	__le32 nodes;
	__le32 routers;
	__le32 flags;
	__le64 fabric_id;
	__le64 joined;
	__le64 down;
	__le64 faulty;
	__le64 taken;
	__le64 dropped;
	__le64 refused;
	__u8 trees;
	__u8 ports;
	__u8 port;
	__u8 reserved[5];
};

/* angara_mgmt_port.state */
#define ANGARA_MGMT_PORT_NONE	0	/* the port has no link */
#define ANGARA_MGMT_PORT_UP	1
#define ANGARA_MGMT_PORT_DOWN	2

/**
 * struct angara_mgmt_port - value of ANGARA_MGMT_PORT: packets that leave by a
 * port
 * @state: ANGARA_MGMT_PORT_*
 * @loss: packets lost, of 10^9
 * @corrupt: packets with wrong bits, of 10^9
 * @delay: additional delay, in cycles
 * @packets: packets, without those of management
 * @flits: flits of these packets
 * @stalls: times that a packet had to wait for room at the next router
 * @lost: packets that were lost
 * @corrupted: packets that arrived with wrong bits
 * @retransmitted: packets sent again
 * @timeouts: times that no acknowledgement came in time
 */
struct angara_mgmt_port {
	__le32 state;
	__le32 loss;
	__le32 corrupt;
	__le32 delay;
	__le64 packets;
	__le64 flits;
	__le64 stalls;
	__le64 lost;
	__le64 corrupted;
	__le64 retransmitted;
	__le64 timeouts;
};

/**
 * struct angara_mgmt_row - value of ANGARA_MGMT_ROW, see struct angara_tree_row
 * @ports: set of ports to children
 * @pkey: partition, not 0
 * @down_node: GET: router that took the tree down; SET: 0
 * @pe: local participants
 * @epoch: equal in all rows of the tree
 * @is_root: 1: this router is the root
 * @to_root: port to the parent, ANGARA_PORT_NONE at the root
 * @port_sum: number of ports to children
 * @state: GET: ANGARA_TREE_STATE_UP or ANGARA_TREE_STATE_DOWN; SET: 0
 * @members: GET: local participants that have joined; SET: 0
 * @reserved: 0
 *
 * Contexts of the partition may join, whatever their job.
 */
struct angara_mgmt_row {
	__le64 ports;
	__le32 pkey;
	__le32 down_node;
	__le16 pe;
	__le16 epoch;
	__u8 is_root;
	__u8 to_root;
	__u8 port_sum;
	__u8 state;
	__u8 members;
	__u8 reserved[7];
};

/* angara_mgmt_key.flags */
#define ANGARA_MGMT_KEY_READ	(1U << 0)	/* GET needs the key, too */

/**
 * struct angara_mgmt_key - value of ANGARA_MGMT_KEY
 * @key: new key of the router, 0 for none
 * @flags: ANGARA_MGMT_KEY_READ or 0
 * @reserved: 0
 */
struct angara_mgmt_key {
	__le64 key;
	__le32 flags;
	__le32 reserved;
};

#define ANGARA_MANAGE_MAX_MS	1000U

/**
 * struct angara_manage - ioctl(ANGARA_IOCTL_MANAGE)
 * @size: sizeof(struct angara_manage)
 * @flags: must be 0
 * @timeout_ms: time to wait for the answer, in milliseconds, at most
 *	ANGARA_MANAGE_MAX_MS
 * @reserved: must be 0
 * @pkt: in: request, whose @tid the driver chooses; out: the answer
 *
 * Sends a management packet and waits for its answer.  A device handles one
 * request at a time; other callers wait.  Packets can be lost: if no answer
 * comes, the router may have executed the request or not.
 *
 * Needs CAP_NET_ADMIN, and no domain.  Returns 0 for every answer; the status
 * in the answer is the result of the request.
 * Errors: -EPERM the caller lacks CAP_NET_ADMIN; -EINVAL @pkt has a wrong
 * format, or @timeout_ms is too long; -ETIMEDOUT no answer; -EINTR a fatal
 * signal.
 */
struct angara_manage {
	__u32 size;
	__u32 flags;
	__u32 timeout_ms;
	__u32 reserved;
	struct angara_mgmt pkt;
};

#endif /* _UAPI_LINUX_ANGARA_MGMT_H */
