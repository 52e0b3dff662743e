/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Angara-like adapter: the device interface.
 *
 * One definition for the driver, the device model and the server that shows the
 * model as a PCIe function.  Documentation/hardware.rst explains it.
 * All fields in memory are little endian.
 */
#ifndef ANG_HW_H
#define ANG_HW_H

#include <linux/angara.h>
#include <linux/angara_nl.h>

/* The PCI function; its ids are from a range for experiments. */
#define ANGARA_PCI_VENDOR	0x1af4
#define ANGARA_PCI_DEVICE	0x10f0
#define ANGARA_PCI_REVISION	1
#define ANGARA_PCI_CLASS	0x0280	/* network controller, other */
#define ANGARA_PCI_SUBVENDOR	0x1af4
#define ANGARA_PCI_SUBDEVICE	0x1100
#define ANGARA_PCI_BAR_REGS	0	/* registers and doorbells, 64 bits */
#define ANGARA_PCI_BAR_MSIX	2	/* MSI-X table and PBA, 64 bits */

/* BAR 0: a page of registers, then one doorbell page per context. */
#define ANGARA_PAGE_SIZE	4096
#define ANGARA_HW_MAGIC		0x52474E41	/* "ANGR" */
#define ANGARA_HW_VERSION	2

/* Registers, 32 bits each. */
#define ANGARA_REG_MAGIC	0x000	/* ro */
#define ANGARA_REG_VERSION	0x004	/* ro */
#define ANGARA_REG_STATUS	0x008	/* ro: ANGARA_STATUS_* */
#define ANGARA_REG_CONTROL	0x00C	/* rw: ANGARA_CONTROL_* */
#define ANGARA_REG_NODE		0x010	/* ro: number of this node */
#define ANGARA_REG_NODES	0x014	/* ro */
#define ANGARA_REG_PORTS	0x018	/* ro: ports of the router, 1..ANGARA_MAX_PORTS */
#define ANGARA_REG_CONTEXTS	0x01C	/* ro: contexts that can be created */
#define ANGARA_REG_TREES	0x020	/* ro: trees per node, 1..ANGARA_MAX_TREES */
#define ANGARA_REG_FABRIC_LO	0x028	/* ro: fabric id */
#define ANGARA_REG_FABRIC_HI	0x02C	/* ro */
#define ANGARA_REG_ASQ_LO	0x030	/* rw: admin queue, DMA address */
#define ANGARA_REG_ASQ_HI	0x034
#define ANGARA_REG_ACQ_LO	0x038	/* rw: admin completion queue */
#define ANGARA_REG_ACQ_HI	0x03C
#define ANGARA_REG_AEQ_LO	0x040	/* rw: asynchronous event queue */
#define ANGARA_REG_AEQ_HI	0x044
#define ANGARA_REG_ADM_ENTRIES	0x048	/* rw: entries of ASQ and ACQ, power of 2 */
#define ANGARA_REG_AEQ_ENTRIES	0x04C	/* rw: entries of AEQ, power of 2 */
#define ANGARA_REG_ASQ_DB	0x050	/* wo: ASQ producer index, free running */
#define ANGARA_REG_AEQ_CI	0x054	/* wo: AEQ consumer index, free running */
#define ANGARA_REG_ISR		0x058	/* ro: ANGARA_ISR_*; PCI function only */

#define ANGARA_STATUS_READY	(1U << 0)
#define ANGARA_STATUS_FATAL	(1U << 1)	/* a queue is inaccessible */
#define ANGARA_CONTROL_ENABLE	(1U << 0)	/* 0 resets the adapter */

/* Doorbell page of context c: ANGARA_DB_PAGE(c) + offset. */
#define ANGARA_DB_PAGE(c)	(((c) + 1U) * ANGARA_PAGE_SIZE)
#define ANGARA_DB_SQ		0x0	/* SQ producer index, free running */
#define ANGARA_DB_ARM		0x8	/* event sequence seen */

/* Interrupt vectors. */
#define ANGARA_VEC_ADMIN	0	/* ACQ and AEQ */
#define ANGARA_VEC_CTX(c)	((c) + 1U)

/* ANGARA_REG_ISR: sources of INTx; reading clears it and deasserts the line. */
#define ANGARA_ISR_ADMIN	(1U << 0)
#define ANGARA_ISR_CTX(c)	(2U << (c) % 31U)

#define ANGARA_ADM_MAX_ENTRIES	256

/* Admin commands. */
#define ANGARA_ADM_NOP		0
#define ANGARA_ADM_CTX_CREATE	1
#define ANGARA_ADM_CTX_DESTROY	2
#define ANGARA_ADM_FENCE	3	/* end use of region entries read before */
#define ANGARA_ADM_TREE_SET	4
#define ANGARA_ADM_TREE_CLEAR	5
#define ANGARA_ADM_TREE_GET	6
#define ANGARA_ADM_JOIN		7
#define ANGARA_ADM_LEAVE	8
#define ANGARA_ADM_COUNTERS	9
#define ANGARA_ADM_MSG_AREA	10	/* gives a context a receive buffer */
#define ANGARA_ADM_DOMAIN_CREATE 11
#define ANGARA_ADM_DOMAIN_DESTROY 12
#define ANGARA_ADM_DOMAIN_TABLE	13	/* sets a new table of regions; also a FENCE */
#define ANGARA_ADM_DESCRIBE	14	/* reads the description of the fabric */
#define ANGARA_ADM_LINK_SET	15	/* sets faults of a link, or takes it down or up */
#define ANGARA_ADM_MGMT_SEND	16	/* sends a management packet */
#define ANGARA_ADM_MGMT_RECV	17	/* gets the answer to that packet */
#define ANGARA_ADM_ROUTE_SET	18	/* routes around failures */
#define ANGARA_ADM_NUM		19

/* Result of an admin command. */
#define ANGARA_ADM_ST_OK	0
#define ANGARA_ADM_ST_OPCODE	1	/* unknown command */
#define ANGARA_ADM_ST_PARAM	2	/* a field is out of range */
#define ANGARA_ADM_ST_EXISTS	3	/* the object exists, or is in use */
#define ANGARA_ADM_ST_ABSENT	4	/* no such object or membership */
#define ANGARA_ADM_ST_FULL	5	/* no room left */
#define ANGARA_ADM_ST_PARTITION	6	/* partitions or job keys differ */
#define ANGARA_ADM_ST_DOWN	7	/* the tree is down */
#define ANGARA_ADM_ST_DMA	8	/* access to host memory failed */
#define ANGARA_ADM_ST_RULE	9	/* the row breaks the rule in angara_adm_cpl.value */
#define ANGARA_ADM_ST_SEALED	10	/* nodes may not set link faults or routes */

/**
 * struct angara_adm_domain - argument of DOMAIN_CREATE and DOMAIN_TABLE
 * @job: DOMAIN_CREATE: job key, 0 for none; DOMAIN_TABLE: 0
 * @mrt: DMA address of the list of the memory region table's pages
 * @mrs: entries in that table, at most ANGARA_MR_MAX
 * @pkey: DOMAIN_CREATE: partition; DOMAIN_TABLE: 0
 *
 * A node has at most as many domains as contexts.  A domain can be destroyed
 * when it has no contexts.
 *
 * A list of pages is an array of __le64 DMA addresses of 4 KiB pages.
 */
struct angara_adm_domain {
	__le64 job;
	__le64 mrt;
	__le32 mrs;
	__le32 pkey;
};

/**
 * struct angara_adm_ctx - argument of ANGARA_ADM_CTX_CREATE
 * @dom: domain of the context
 * @sq_log2: log2 of the SQ entries, 3..15
 * @cq_log2: log2 of the CQ entries, 3..16
 * @reserved: 0
 * @sq: DMA address of the list of SQ pages
 * @cq: DMA address of the list of CQ pages
 * @ctl: DMA address of struct angara_ctl
 * @ctr: DMA address of the event counters
 */
struct angara_adm_ctx {
	__le16 dom;
	__u8 sq_log2;
	__u8 cq_log2;
	__u8 reserved[4];
	__le64 sq;
	__le64 cq;
	__le64 ctl;
	__le64 ctr;
};

/**
 * struct angara_adm_msg - argument of ANGARA_ADM_MSG_AREA
 * @pages: DMA address of the list of the buffer's pages, which are zeroed
 * @log2: log2 of the buffer's bytes, 14..22
 * @reserved: 0
 */
struct angara_adm_msg {
	__le64 pages;
	__u8 log2;
	__u8 reserved[7];
};

/**
 * struct angara_hw_row - struct angara_tree_row in the device's format
 * @tree: TreeId
 * @is_root: 1: this node is the root
 * @to_root: port to the parent, ANGARA_PORT_NONE at the root
 * @port_sum: number of ports to children
 * @pe: local participants
 * @epoch: equal in all rows of the tree
 * @ports: set of ports to children
 * @pkey: partition
 * @state: TREE_GET: ANGARA_TREE_STATE_*; else 0
 * @members: TREE_GET: joined participants; else 0
 * @life: answers to TREE_SET and TREE_GET: number of the row's life, the time from
 *	TREE_SET to TREE_CLEAR, 1..65535, wraps; TREE_CLEAR: the life to end, 0:
 *	any; else 0
 */
struct angara_hw_row {
	__u8 tree;
	__u8 is_root;
	__u8 to_root;
	__u8 port_sum;
	__le16 pe;
	__le16 epoch;
	__le64 ports;
	__le32 pkey;
	__u8 state;
	__u8 members;
	__le16 life;
};

/**
 * struct angara_adm_row - argument of ANGARA_ADM_TREE_SET, TREE_CLEAR, TREE_GET
 * @row: TREE_SET: the row
 * @job: job key of contexts that may join, equal in all rows of the tree; 0:
 *	any job of the partition.  ANGARA_ADM_TREE_GET does not return the job
 *	key.
 * @router: router that has the row: this node, or a switch that it keeps
 * @reserved: 0
 */
struct angara_adm_row {
	struct angara_hw_row row;
	__le64 job;
	__le32 router;
	__le32 reserved;
};

/* angara_adm_counters.kind: counters to read. */
#define ANGARA_CNT_NODE		0	/* struct angara_hw_node_counters */
#define ANGARA_CNT_LINK		1	/* index: port; angara_hw_link_counters */
#define ANGARA_CNT_TREE		2	/* index: tree; angara_hw_tree_counters */
#define ANGARA_CNT_CTX		3	/* index: context; angara_hw_ctx_counters */

/**
 * struct angara_adm_counters - argument of ANGARA_ADM_COUNTERS
 * @kind: ANGARA_CNT_*
 * @index: number of the link, tree or context
 * @addr: DMA address of the buffer
 * @length: bytes of the buffer, at least those of the structure
 * @router: this node, or a switch that it keeps; a switch has no contexts
 */
struct angara_adm_counters {
	__le32 kind;
	__le32 index;
	__le64 addr;
	__le32 length;
	__le32 router;
};

/* angara_adm_link.what: which settings change. */
#define ANGARA_LINK_FAULT	(1U << 0)	/* loss, corrupt, delay, seed */
#define ANGARA_LINK_DOWN	(1U << 1)	/* take the link down, in both directions */
#define ANGARA_LINK_UP		(1U << 2)	/* bring the link up, in both directions */

#define ANGARA_FAULT_MAX_DELAY	500000000U	/* longest delay, in cycles */
#define ANGARA_CYCLE_NS		2U		/* length of a router's clock cycle */

/**
 * struct angara_adm_link - argument of ANGARA_ADM_LINK_SET
 * @port: port
 * @router: this node, or a switch that it keeps
 * @loss: packets lost, of ANGARA_FAULT_ONE packets that leave by the port
 * @corrupt: packets corrupted, of ANGARA_FAULT_ONE packets; @loss and @corrupt
 *	together at most ANGARA_FAULT_ONE
 * @delay: additional delay of packets, in cycles, at most
 *	ANGARA_FAULT_MAX_DELAY
 * @what: ANGARA_LINK_*, at least one, and not both DOWN and UP
 * @reserved: 0
 * @seed: seed of the link's random generator
 */
struct angara_adm_link {
	__le32 port;
	__le32 router;
	__le32 loss;
	__le32 corrupt;
	__le32 delay;
	__u8 what;
	__u8 reserved[3];
	__le64 seed;
};

/* angara_adm_route.what */
#define ANGARA_ROUTE_ROW	1	/* give a router's row of a new table */
#define ANGARA_ROUTE_USE	2	/* route packets by the new table */
#define ANGARA_ROUTE_OWN	3	/* route packets by the topology's routes */

/**
 * struct angara_adm_route - argument of ANGARA_ADM_ROUTE_SET
 * @router: ROW: any router of the fabric
 * @length: ROW: bytes of a part of the row
 * @addr: ROW: DMA address of this part, which crosses no page
 * @offset: ROW: first byte of the row that is in this part
 * @what: ANGARA_ROUTE_*
 * @reserved: 0
 *
 * A row has a height (16 bits) per port of the largest router of the fabric,
 * then, per node, the port by which packets to that node leave the router;
 * ANGARA_PORT_NONE if there is no route.  On each route the heights of its ports
 * decrease; straight on along a ring of a torus they may also be equal.  So
 * packets cannot wait for each other in a cycle.  If there is a route from one
 * node to another, there is one back, too.
 *
 * The node checks the table before it is used, and answers after packets follow
 * it.  The table stays in use until another one, or the topology's routes, are
 * used, even if the node is reset.
 */
struct angara_adm_route {
	__le32 router;
	__le32 length;
	__le64 addr;
	__le32 offset;
	__u8 what;
	__u8 reserved[3];
};

/**
 * struct angara_adm_text - argument of ANGARA_ADM_DESCRIBE
 * @offset: first byte of the text to read
 * @length: bytes of the buffer
 * @addr: DMA address of the buffer
 *
 * The description is a text without a NUL.  Its first line says what the fabric
 * is, such as "torus:4x4x2"; Documentation/hardware.rst explains the rest.
 */
struct angara_adm_text {
	__le32 offset;
	__le32 length;
	__le64 addr;
};

/**
 * struct angara_adm_mgmt - argument of ANGARA_ADM_MGMT_SEND and MGMT_RECV
 * @tid: MGMT_RECV: number of the request (angara_mgmt.tid); MGMT_SEND: 0
 * @addr: DMA address of struct angara_mgmt: MGMT_SEND: request; MGMT_RECV:
 *	buffer for the answer
 *
 * A node keeps the answer to its last request only.  MGMT_RECV ends with the
 * status ABSENT until the answer has arrived; it never arrives if a packet was
 * lost.
 */
struct angara_adm_mgmt {
	__le64 tid;
	__le64 addr;
};

/**
 * struct angara_adm_cmd - entry of the admin queue
 * @opcode: ANGARA_ADM_*
 * @reserved: 0
 * @tag: returned in the completion
 * @ctx: context: CTX_CREATE, CTX_DESTROY, JOIN, LEAVE, MSG_AREA; domain:
 *	DOMAIN_CREATE, DOMAIN_DESTROY, DOMAIN_TABLE
 * @tree: tree: TREE_CLEAR, TREE_GET, JOIN, LEAVE
 * @place: JOIN: place among the participants of this node, plus 1; 0: the
 *	lowest free place
 * @create: CTX_CREATE
 * @domain: DOMAIN_CREATE, DOMAIN_TABLE
 * @set: TREE_SET; TREE_CLEAR uses only the router and row.life, TREE_GET only
 *	the router
 * @counters: COUNTERS
 * @msg: MSG_AREA
 * @text: DESCRIBE
 * @link: LINK_SET
 * @mgmt: MGMT_SEND, MGMT_RECV
 * @route: ROUTE_SET
 * @raw: reserves the size of the largest argument
 */
struct angara_adm_cmd {
	__u8 opcode;
	__u8 reserved;
	__le16 tag;
	__le16 ctx;
	__u8 tree;
	__u8 place;
	union {
		struct angara_adm_ctx create;
		struct angara_adm_domain domain;
		struct angara_adm_row set;
		struct angara_adm_counters counters;
		struct angara_adm_msg msg;
		struct angara_adm_text text;
		struct angara_adm_link link;
		struct angara_adm_mgmt mgmt;
		struct angara_adm_route route;
		__u8 raw[56];
	};
};

/**
 * struct angara_adm_cpl - entry of the admin completion queue
 * @row: TREE_GET; TREE_SET: only the life
 * @value: TREE_GET: node that took the tree down; TREE_SET: rule that the row
 *	breaks; DESCRIBE: bytes of the whole text; ROUTE_SET: router from
 *	which a route breaks a rule
 * @tag: tag of the command
 * @status: ANGARA_ADM_ST_*
 * @phase: bit 0 toggles each time the ring wraps, 1 in the first pass
 *
 * The device writes the last eight bytes last, with one store.
 */
struct angara_adm_cpl {
	struct angara_hw_row row;
	__le32 value;
	__le16 tag;
	__u8 status;
	__u8 phase;
};

/* Asynchronous events: ANGARA_AEV_* of linux/angara_nl.h. */

/**
 * struct angara_hw_event - entry of the asynchronous event queue
 * @index: object of the event, see ANGARA_AEV_*
 * @value: see ANGARA_AEV_*
 * @type: ANGARA_AEV_*
 * @lost: events dropped since the previous one because the queue was full,
 *	saturating
 * @reserved: 0
 * @phase: bit 0 toggles each time the ring wraps, 1 in the first pass
 */
struct angara_hw_event {
	__le32 index;
	__le32 value;
	__u8 type;
	__u8 lost;
	__u8 reserved[5];
	__u8 phase;
};

/**
 * struct angara_hw_mr - entry of a domain's memory region table
 * @addr: DMA address.  @levels is 0: of the region; 1: of the list of the
 *	region's pages; 2: of a list of such lists, each of 512 pages
 * @length: bytes
 * @first: bytes in the first page before the region starts (levels 1 and 2)
 * @access: ANGARA_ACCESS_*
 * @levels: levels of lists: 0, 1 or 2
 * @valid: 1: the entry is in use
 * @page_shift: log2 of the page size, 12..30
 * @key: key of the region: slot in the low 16 bits, random bits above.  The
 *	device compares the whole key with the key that a packet carries.
 */
struct angara_hw_mr {
	__le64 addr;
	__le64 length;
	__le32 first;
	__u8 access;
	__u8 levels;
	__u8 valid;
	__u8 page_shift;
	__le64 key;
};

#define ANGARA_MR_LIST_ENTRIES	512
#define ANGARA_MR_MAX		65536U
#define ANGARA_MR_SLOT(key)	((key) & 0xFFFFU)	/* slot of a key */

/* Virtual channels. */
#define ANGARA_VC_REQ		0	/* point to point, requests */
#define ANGARA_VC_RSP		1	/* point to point, responses */
#define ANGARA_VC_UP		2	/* collective, towards the root */
#define ANGARA_VC_DOWN		3	/* collective, away from the root */
#define ANGARA_VC_NUM		4

/* Why a packet was dropped. */
#define ANGARA_DROP_NO_TREE	0	/* row not set, or tree down */
#define ANGARA_DROP_STALE	1	/* for an earlier row or context */
#define ANGARA_DROP_PARTITION	2	/* partition or job key differs */
#define ANGARA_DROP_PORT	3	/* came from a wrong neighbor */
#define ANGARA_DROP_TARGET	4	/* no such context */
#define ANGARA_DROP_MEMORY	5	/* key, bounds, access, DMA */
#define ANGARA_DROP_ORDER	6	/* ReduceId not expected */
#define ANGARA_DROP_LINK	7	/* the link is down, or there is no route */
#define ANGARA_DROP_NUM		8

/*
 * Counters, each structure with a list of the names of its members; NULL: the
 * member is not shown.
 */
struct angara_hw_node_counters {
	__le64 drops[ANGARA_DROP_NUM];
	__le64 injected_packets;
	__le64 ejected_packets;
	__le64 injected_flits;
	__le64 ejected_flits;
	__le64 hops;		/* links crossed by all ejected packets */
	__le64 no_buffer;	/* times injection waited for a buffer */
	__le64 cycles;		/* clock of the node */
	__le64 reserved;
};

#define ANGARA_NODE_COUNTER_NAMES {					\
	"drops_no_tree", "drops_stale", "drops_partition",		\
	"drops_port", "drops_target", "drops_memory",		\
	"drops_order", "drops_link",					\
	"injected_packets", "ejected_packets", "injected_flits",	\
	"ejected_flits", "hops", "no_buffer", "cycles", NULL,		\
}

struct angara_hw_link_counters {
	__le64 packets[ANGARA_VC_NUM];	/* sent on this link */
	__le64 flits[ANGARA_VC_NUM];
	__le64 stalls[ANGARA_VC_NUM];	/* waits for room at the neighbour */
	__le64 lost;		/* lost packets and acknowledgements */
	__le64 corrupt;		/* packets with a wrong checksum */
	__le64 retransmitted;	/* packets sent again */
	__le64 timeouts;	/* times without acknowledgement */
	__le32 fault_loss;	/* settings: see struct angara_adm_link */
	__le32 fault_corrupt;
	__le32 fault_delay;
	__le32 down;		/* 1: the link is down */
};

#define ANGARA_LINK_COUNTER_NAMES {					\
	"packets_req", "packets_rsp", "packets_up", "packets_down",	\
	"flits_req", "flits_rsp", "flits_up", "flits_down",		\
	"stalls_req", "stalls_rsp", "stalls_up", "stalls_down",		\
	"lost", "corrupt", "retransmitted", "timeouts", NULL, NULL,	\
}

struct angara_hw_tree_counters {
	__le64 bcast_requests;	/* requests passed up or taken at the root */
	__le64 bcast_packets;	/* packets copied to children and the PE */
	__le64 reduce_packets;	/* packets taken by the Reducer */
	__le64 reduce_results;	/* results sent up, or from the root */
	__le64 credits_sent;	/* credits, for 8 results each, sent to each child */
	__le64 credits_received;/* credits from the parent */
	__le64 credits_pe_count;/* credit packets to the PE after 128 results */
	__le64 credits_pe_timer;/* credit packets to the PE after 4096 cycles */
	__le64 up_credits;	/* results that may be sent up now */
	__le64 in_flight;	/* ReduceIds in use now */
	__le64 max_in_flight;
	__le64 reserved;
};

#define ANGARA_TREE_COUNTER_NAMES {					\
	"bcast_requests", "bcast_packets", "reduce_packets",		\
	"reduce_results", "credits_sent", "credits_received",		\
	"credits_pe_count", "credits_pe_timer", "up_credits",		\
	"in_flight", "max_in_flight", NULL,				\
}

struct angara_hw_ctx_counters {
	__le64 wqes;
	__le64 cqes;
	__le64 cqe_errors;
	__le64 tx_packets;
	__le64 tx_bytes;
	__le64 rx_packets;
	__le64 rx_bytes;
	__le64 rx_errors;
	__le64 cq_full;		/* times the SQ stopped at a full CQ */
	__le64 interrupts;
	__le64 rx_msgs;		/* messages that arrived */
	__le64 not_ready;	/* messages refused for want of room */
};

#define ANGARA_CTX_COUNTER_NAMES {					\
	"wqes", "cqes", "cqe_errors", "tx_packets", "tx_bytes",		\
	"rx_packets", "rx_bytes", "rx_errors", "cq_full",		\
	"interrupts", "rx_msgs", "not_ready",				\
}

#endif /* ANG_HW_H */
