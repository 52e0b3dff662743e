/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages between the servers of one torus; Documentation/pcie.rst explains
 * them.  All numbers are little endian.
 *
 * Everything is a frame: a head, and a body of head.length bytes.
 */
#ifndef ANGARA_VFIO_WIRE_H
#define ANGARA_VFIO_WIRE_H

#include "ang_model.h"
#include "ang_rules.h"

#define WIRE_MAGIC	0x50474E41U	/* "ANGP" */
#define WIRE_VERSION	5

/* Types of frames.  Frames with a number (seq) are kept until they are acknowledged. */
#define WIRE_HELLO	1	/* first frame of each side: struct wire_hello */
#define WIRE_REFUSE	2	/* last frame: the reason, as text */
#define WIRE_ALIVE	3	/* no body: acknowledges frames and keeps the connection alive */
#define WIRE_JOIN	4	/* request of a new server to join: struct wire_join */
#define WIRE_JOINED	5	/* no body: the receiver of JOIN has accepted it */
#define WIRE_PACKET	6	/* numbered: struct wire_packet, payload */
#define WIRE_TAKEN	7	/* numbered: struct wire_taken, as many as fit */
#define WIRE_LOST	8	/* numbered: struct wire_lost, as many as fit */
#define WIRE_MGMT	9	/* numbered: struct wire_mgmt */

/*
 * Channels of a link: independent FIFOs.  Packets of ANGARA_VC_UP use UP,
 * except contributions to reductions, which use a channel per tree.
 */
#define WIRE_CH_REQ	ANGARA_VC_REQ
#define WIRE_CH_RSP	ANGARA_VC_RSP
#define WIRE_CH_UP	ANGARA_VC_UP
#define WIRE_CH_DOWN	ANGARA_VC_DOWN
#define WIRE_CH_RED(t)	(ANGARA_VC_NUM + (t))
#define WIRE_CHANNELS	(ANGARA_VC_NUM + ANGARA_MAX_TREES)

/* Most packets of a channel that are sent and not taken. */
#define WIRE_WINDOW	16U

#define WIRE_MAX_BODY	(ANG_MAX_TRAIN * ANGARA_PACKET_BYTES + 128U)
#define WIRE_MAX_RANGES	1024U
#define WIRE_MAX_TEXT	200U

/**
 * struct wire_head - head of a frame
 * @length: bytes of the body, at most WIRE_MAX_BODY
 * @crc: CRC-32 (of zlib) of head, with 0 here, and body
 * @type: WIRE_*
 * @reserved: 0
 * @seq: number of this frame, one more than that of the last numbered frame; 0:
 * none
 * @ack: number of the last numbered frame that the sender has received
 */
struct wire_head {
	__le32 length;
	__le32 crc;
	__u8 type;
	__u8 reserved[7];
	__le64 seq;
	__le64 ack;
};

/**
 * struct wire_hello - identity of a server
 * @magic: WIRE_MAGIC
 * @version: WIRE_VERSION
 * @ranges: number of ranges of nodes that follow, ascending
 * @self: random number of this incarnation of the server, not 0
 * @other: last known number of the receiver, 0: never met
 * @fabric: wire_fabric() of the topology
 * @ctxs: contexts per node; this and all members below are equal in all servers
 * @trees: trees per node
 * @ops: operations in flight per context
 * @train: packets that travel together
 * @depth: packets that a link buffers per virtual channel
 * @reserved: 0
 * @era: ang_fabric.lost
 * @fabric_id: id of the sender's fabric, which the receiver has to join; 0:
 * none
 * @lost: wire_nodes() of the nodes that are lost
 *
 * In the head, ack is the last frame received; the receiver of the hello
 * continues with the next frame.
 */
struct wire_hello {
	__le32 magic;
	__le16 version;
	__le16 ranges;
	__le64 self;
	__le64 other;
	__le64 fabric;
	__le16 ctxs;
	__le16 trees;
	__le16 ops;
	__le16 train;
	__le16 depth;
	__le16 reserved;
	__le32 era;
	__le64 fabric_id;
	__le64 lost;
};

struct wire_range {
	__le32 first;
	__le32 last;
};

/**
 * struct wire_join - a new server takes over lost nodes
 * @era: era of the fabric that begins when the server joins, see
 * ang_remote_back()
 * @reserved: 0
 * @lost: equal to @lost in the hello that the receiver has sent
 */
struct wire_join {
	__le32 era;
	__le32 reserved;
	__le64 lost;
};

/**
 * struct wire_lost - report that the sender has lost a server
 * @node: a node of that server
 * @era: value of ang_fabric.lost after the loss
 */
struct wire_lost {
	__le32 node;
	__le32 era;
};

/**
 * struct wire_packet - struct ang_pkt on a link
 * @node: node at which the packet arrives
 * @dir: port of that node at which the packet arrives
 * @vc: virtual channel, ANGARA_VC_*
 * @reserved: 0
 *
 * The other members are those of struct ang_pkt.  The payload follows, up to the
 * end of the frame.
 */
struct wire_packet {
	__le64 off;
	__le64 key;
	__le64 job;
	__le32 node;
	__le32 src_node;
	__le32 dst_node;
	__le32 pkey;
	__le32 len;
	__le32 seq;
	__le32 life;
	__le32 bytes;
	__le16 src_ctx;
	__le16 dst_ctx;
	__le16 slot;
	__le16 counter;
	__le16 gen;
	__le16 hops;
	__u8 dir;
	__u8 vc;
	__u8 type;
	__u8 flags;
	__u8 tree;
	__u8 npkts;
	__u8 dtype;
	__u8 redop;
	__u8 status;
	__u8 reserved[3];
};

/**
 * struct wire_mgmt - management packet on a link
 * @node: node at which the packet arrives
 * @dir: port of that node at which the packet arrives
 * @reserved: 0
 * @pkt: the packet
 *
 * There is no flow control: the receiver drops packets for which it has no
 * room.
 */
struct wire_mgmt {
	__le32 node;
	__u8 dir;
	__u8 reserved[3];
	struct angara_mgmt pkt;
};

/**
 * struct wire_taken - report that packets have left a channel and made room
 * @node: node at which the link ends
 * @dir: port of that node at which the link ends
 * @channel: WIRE_CH_*
 * @count: packets, not 0
 */
struct wire_taken {
	__le32 node;
	__u8 dir;
	__u8 channel;
	__le16 count;
};

/* The content of a hello; @nodes has one bool for each node. */
struct hello {
	u64 self;
	u64 other;
	u64 seen;
	struct ang_cfg cfg;
	bool *nodes;
	u32 num_nodes;
	u32 era;
	u64 fabric_id;
	u64 lost;
};

void wire_seal(void *frame, u32 type, u32 length, u64 seq, u64 ack);
const char *wire_head_flaw(const struct wire_head *h);
extern const char wire_torn[];
const char *wire_flaw(const struct wire_head *h, const void *body);

u64 wire_fabric(const struct ang_topo *topo);
u64 wire_nodes(const bool *nodes, u32 num_nodes);
u32 wire_hello_put(void *frame, const struct hello *h);
const char *wire_hello_get(const struct wire_head *h, const void *body,
			   const struct ang_cfg *cfg, struct hello *out);
u32 wire_join_put(void *frame, u32 era, u64 lost);
u32 wire_text_put(void *frame, u32 type, const char *text);
void wire_text_get(const struct wire_head *h, const void *body, char *text);

u32 wire_channel(const struct ang_pkt *p, u32 vc);
void wire_packet_put(struct wire_packet *w, u32 node, u32 dir, u32 vc,
		     const struct ang_pkt *p);
void wire_packet_get(const struct wire_packet *w, struct ang_pkt *p);

#endif /* ANGARA_VFIO_WIRE_H */
