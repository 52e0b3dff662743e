/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: heads of packets.
 */
#ifndef ANG_PKT_H
#define ANG_PKT_H

#include "ang_model.h"

/* Types of packets.  REQ, RSP, UP, DOWN: virtual channels that the type uses. */
#define ANG_PKT_VOID		0	/* to be dropped, see ang_recover.c */
#define ANG_PKT_PUT		1	/* REQ */
#define ANG_PKT_GET		2	/* REQ */
#define ANG_PKT_ACK		3	/* RSP: answer to PUT, SEND or ATOMIC */
#define ANG_PKT_DATA		4	/* RSP: answer to GET, or ATOMIC with FETCH */
#define ANG_PKT_RESULT		5	/* RSP: result of a REDUCE, from the root */
#define ANG_PKT_BCAST		6	/* UP: to the root; DOWN: from it */
#define ANG_PKT_REDUCE		7	/* UP */
#define ANG_PKT_ALLREDUCE	8	/* UP; DOWN: result */
#define ANG_PKT_CREDIT		9	/* DOWN: seq credits, for 8 results each */
#define ANG_PKT_ABORT		10	/* UP, DOWN: the tree is down */
#define ANG_PKT_SEND		11	/* REQ: train of a message */
#define ANG_PKT_ATOMIC		12	/* REQ */
#define ANG_PKT_READY		13	/* REQ: there is room for messages again */
#define ANG_PKT_RNR		14	/* RSP: a message is refused for now */
#define ANG_PKT_READY_ACK	15	/* RSP: len: messages to come, 0 or 1 */
#define ANG_PKT_OPEN		16	/* UP, DOWN: life of a row */
#define ANG_PKT_MGMT		17	/* in trace records: see ang_mgmt.c */
#define ANG_PKT_NUM		18	/* ang_remote.c has a rule for each type */

#define ANG_PF_LAST		1	/* last train of its operation */
#define ANG_PF_NOTIFY		2	/* increment a counter of the target */
#define ANG_PF_FETCH		4	/* ATOMIC: answer with the previous value */
#define ANG_PF_TURN		8	/* SEND: sent in answer to a READY */
#define ANG_PF_MORE		16	/* READY_ACK: more messages follow */
#define ANG_PF_WHOLE		32	/* OPEN: UP: row is whole; DOWN: row is open */

#define ANG_MAX_HOPS		0xFFFFU	/* most links that a packet crosses */

/* Bytes before the payload of a message's first train: tag, immediate word. */
#define ANG_SEND_HEAD		16

/**
 * struct ang_pkt - head of a packet, or of a train of packets that travel
 * together and differ only in their place in the operation
 * @type: ANG_PKT_*
 * @flags: ANG_PF_*
 * @tree: TreeId
 * @npkts: number of packets in the train
 * @dtype: element type of a reduction or atomic operation
 * @redop: operation of a reduction or atomic operation
 * @status: ANGARA_ST_* of the operation
 * @reserved: 0
 * @src_node: node that injected the packet; with a status, the node at fault
 * @src_ctx: context that injected the packet
 * @slot: slot of that context's operation
 * @dst_node: target
 * @dst_ctx: context at the target
 * @counter: user counter to notify; SEND: code
 * @pkey: partition
 * @job: job key, 0 for none; in a tree, the job key of its rows
 * @len: bytes that the whole train transfers, requests or acknowledges
 * @key: key of the memory region at the target; SEND: bytes of the message;
 *	OPEN: epoch of the sender's row
 * @off: offset in the memory region; SEND, and its ACK: place in the receive
 *	buffer; REDUCE: from the receiver, ANG_TICKET() of its operation, from
 *	others 0; OPEN, from a parent that is open: the root
 * @gen: generation of @slot
 * @hops: links crossed
 * @seq: reductions: packet number in the tree, ReduceId is seq % 16; BCAST,
 *	GET, DATA and SEND: offset in the operation; CREDIT: number of credits;
 *	OPEN, ABORT: life of the sender's row
 * @life: trees: life of the row that receives the packet; RESULT: of the
 *	participant's row;
 *	SEND, RNR, READY, READY_ACK: life of the receiver's context; PUT, GET,
 *	ATOMIC: ang_op.era
 * @bytes: ATOMIC: bytes at the target; SEND: ang_op.era; READY, RESULT:
 *	ang_fabric.lost of the sender's host; answers: the era of the request
 * @buf: payload, see ang_buf_data(); 0 for none
 */
struct ang_pkt {
	u8 type;
	u8 flags;
	u8 tree;
	u8 npkts;
	u8 dtype;
	u8 redop;
	u8 status;
	u8 reserved;
	u32 src_node;
	u16 src_ctx;
	u16 slot;
	u32 dst_node;
	u16 dst_ctx;
	u16 counter;
	u32 pkey;
	u32 len;
	u64 job;
	u64 key;
	u64 off;
	u16 gen;
	u16 hops;
	u32 seq;
	u32 life;
	u32 bytes;
	u64 buf;
};

/**
 * ang_pkt_era() - get the field of a request that holds the era (ang_lost.c)
 * @p: request; a READY has the era in which it was sent, any other request the
 *	era in which its operation started
 */
static inline u32 *ang_pkt_era(struct ang_pkt *p)
{
	return p->type == ANG_PKT_SEND || p->type == ANG_PKT_READY ? &p->bytes :
								     &p->life;
}

/*
 * Ticket: the address to which the root sends the result of a REDUCE.  It
 * consists of the life of the receiver's row, and generation and slot of the
 * receiver's operation.  The receiver's own contribution carries the ticket to
 * the root.
 */
#define ANG_TICKET(life, gen, slot) \
	((u64)(life) << 32 | (u32)(gen) << 16 | (slot))
#define ANG_TICKET_LIFE(t)	((u32)((t) >> 32))
#define ANG_TICKET_GEN(t)	((u16)((t) >> 16))
#define ANG_TICKET_SLOT(t)	((u16)(t))

/**
 * struct ang_pass - record of the point-to-point packet that a node forwards;
 * see ang_recover.c
 * @key: bits 32 and up: ring that holds the packet, plus 1; bits below: head of
 *	that ring
 * @out: link and channel by which it leaves: dir * ANGARA_VC_NUM + vc
 * @tail: tail that the next ring has once it holds the packet
 */
struct ang_pass {
	u64 key;
	u32 out;
	u32 tail;
};

#endif /* ANG_PKT_H */
