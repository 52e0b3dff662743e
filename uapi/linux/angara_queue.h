/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Angara collective-offload adapter: memory that a process and the adapter
 * share to transfer data without system calls.  Include linux/angara.h, not
 * this file.
 */
#ifndef _UAPI_LINUX_ANGARA_QUEUE_H
#define _UAPI_LINUX_ANGARA_QUEUE_H

#include <linux/types.h>

/**
 * struct angara_ctl - page written by the process, read by driver and device
 * @sq_pi: SQ producer index, free running
 * @cq_ci: CQ consumer index, free running
 * @seen: event sequence that the process has handled
 * @msg_ci: consumer index of the receive buffer, free running, in units of
 *	ANGARA_MSG_UNIT bytes
 */
struct angara_ctl {
	__le32 sq_pi;
	__le32 cq_ci;
	__le32 seen;
	__le32 msg_ci;
};

/*
 * Event counters: one page of __le64, written by the device.  For each event
 * the device writes the data first, then the counter of the event, then
 * ANGARA_CTR_EVSEQ.
 *
 * An event is a new CQE, a broadcast received or refused, a message, or an
 * increment of a user counter.  Changes of ANGARA_CTR_REDUCES and
 * ANGARA_CTR_SQ_CI alone are not events and wake no sleeper; the CQE that
 * follows them is an event.
 */
#define ANGARA_CTR_EVSEQ	0		/* events so far, see above */
#define ANGARA_CTR_SQ_CI	1		/* SQ entries fetched so far */
#define ANGARA_CTR_MSG_WAIT	2		/* 1: senders wait for room */
#define ANGARA_CTR_BCAST(t)	(64 + (t))	/* broadcasts received, per tree */
#define ANGARA_CTR_REDUCES(t)	(128 + (t))	/* packets of reductions finished, per tree */
#define ANGARA_CTR_RX_ERRORS(t)	(192 + (t))	/* trains of broadcasts not written, per tree */
#define ANGARA_CTR_USER(n)	(256 + (n))	/* incremented for ANGARA_WQE_NOTIFY */
#define ANGARA_CTR_USER_NUM	256
#define ANGARA_CTR_NUM		512

/* Operations. */
#define ANGARA_OP_NOP		0
#define ANGARA_OP_PUT		1
#define ANGARA_OP_GET		2
#define ANGARA_OP_BCAST		3
#define ANGARA_OP_REDUCE	4
#define ANGARA_OP_ALLREDUCE	5
#define ANGARA_OP_BARRIER	6
#define ANGARA_OP_SEND		7
#define ANGARA_OP_ATOMIC	8
#define ANGARA_OP_FETCH		9	/* as ATOMIC, and returns the old value */
#define ANGARA_OP_NUM		10

/* Flags of a queue entry. */
#define ANGARA_WQE_INLINE	(1U << 0) /* payload follows in the next entries */
#define ANGARA_WQE_FENCE	(1U << 1) /* wait for earlier entries */
#define ANGARA_WQE_QUIET	(1U << 2) /* no CQE on success */
#define ANGARA_WQE_NOTIFY	(1U << 3) /* increment user counter @counter at the target */
#define ANGARA_WQE_FLAGS	15U

/*
 * Reductions.  Integer types support all operations up to XOR, and wrap around;
 * floating-point types support SUM, MIN, MAX and PROD; pairs support MINLOC and
 * MAXLOC; see Documentation/reductions.rst.
 */
#define ANGARA_RED_SUM		0
#define ANGARA_RED_MIN		1
#define ANGARA_RED_MAX		2
#define ANGARA_RED_PROD		3
#define ANGARA_RED_AND		4
#define ANGARA_RED_OR		5
#define ANGARA_RED_XOR		6
#define ANGARA_RED_MINLOC	7	/* of equal values: the lower index */
#define ANGARA_RED_MAXLOC	8
#define ANGARA_RED_NUM		9

#define ANGARA_TYPE_INT32	0
#define ANGARA_TYPE_UINT32	1
#define ANGARA_TYPE_INT64	2
#define ANGARA_TYPE_UINT64	3
#define ANGARA_TYPE_FLOAT	4	/* IEEE 754 binary32 */
#define ANGARA_TYPE_DOUBLE	5	/* IEEE 754 binary64 */
/*
 * Pairs of a value and an INT32 index after it, laid out as a C structure: 8
 * bytes, or 16 with four bytes of padding at the end, which are set to 0.
 */
#define ANGARA_TYPE_INT32_LOC	6
#define ANGARA_TYPE_INT64_LOC	7
#define ANGARA_TYPE_FLOAT_LOC	8
#define ANGARA_TYPE_DOUBLE_LOC	9
#define ANGARA_TYPE_NUM		10

/*
 * Atomic operations, element by element: t is the element at the target, x the
 * operand, y the second operand of ANGARA_ATOMIC_CSWAP and of the operations
 * after it.  The first seven operations are the reductions with the same
 * numbers.
 */
#define ANGARA_ATOMIC_SUM	0
#define ANGARA_ATOMIC_MIN	1
#define ANGARA_ATOMIC_MAX	2
#define ANGARA_ATOMIC_PROD	3
#define ANGARA_ATOMIC_AND	4	/* bitwise: not for FLOAT and DOUBLE */
#define ANGARA_ATOMIC_OR	5	/* bitwise: not for FLOAT and DOUBLE */
#define ANGARA_ATOMIC_XOR	6	/* bitwise: not for FLOAT and DOUBLE */
#define ANGARA_ATOMIC_LAND	7	/* t = t && x */
#define ANGARA_ATOMIC_LOR	8
#define ANGARA_ATOMIC_LXOR	9
#define ANGARA_ATOMIC_READ	10	/* no operand; FETCH only */
#define ANGARA_ATOMIC_WRITE	11	/* t = x */
#define ANGARA_ATOMIC_CSWAP	12	/* if (y == t) t = x */
#define ANGARA_ATOMIC_CSWAP_NE	13	/* if (y != t) t = x */
#define ANGARA_ATOMIC_CSWAP_LE	14	/* if (y <= t) t = x */
#define ANGARA_ATOMIC_CSWAP_LT	15	/* if (y < t) t = x */
#define ANGARA_ATOMIC_CSWAP_GE	16	/* if (y >= t) t = x */
#define ANGARA_ATOMIC_CSWAP_GT	17	/* if (y > t) t = x */
#define ANGARA_ATOMIC_MSWAP	18	/* t = (x & y) | (t & ~y); integers */
#define ANGARA_ATOMIC_NUM	19

/**
 * struct angara_wqe - entry of the injection queue
 * @opcode: ANGARA_OP_*
 * @flags: ANGARA_WQE_*
 * @redop: ANGARA_RED_* of a reduction; ATOMIC, FETCH: ANGARA_ATOMIC_*
 * @type: ANGARA_TYPE_* of the elements of a reduction, ATOMIC or FETCH; it must
 *	support @redop
 * @tree: collective: TreeId
 * @counter: PUT, GET, ATOMIC, FETCH with ANGARA_WQE_NOTIFY: user counter n of
 *	the target's context, ANGARA_CTR_USER(n); it is incremented when all
 *	bytes have been written or read
 * @code: SEND: angara_msg.code
 * @dst_ctx: context at the target; REDUCE: context of the receiver
 * @dst_node: target node; REDUCE: node of the receiver, a participant
 * @length: bytes, at most ANGARA_MAX_OP_BYTES; for a reduction a multiple of
 *	the element size; 0 is allowed.  SEND: at most ANGARA_MAX_MSG.  ATOMIC,
 *	FETCH: bytes at the target, a multiple of the element size and not 0; x
 *	and y together have at most ANGARA_MAX_ATOMIC bytes
 * @cookie: returned in the CQE
 * @rkey: key of the region at the target.  PUT, ATOMIC and FETCH write to it,
 *	GET reads from it.  BCAST: every participant writes to its own region,
 *	which must have this key
 * @roff: offset in the region of @rkey; SEND: angara_msg.tag
 * @lkey: slot of the local region that is read; GET: of the local region that
 *	is written.  ATOMIC, FETCH: region of x, @length bytes, with y after it
 * @aux_key: FETCH: slot of the local region for the old value; ALLREDUCE, and
 *	REDUCE at the receiver: slot of the region for the result; else must
 *	be 0
 * @loff: offset in the region of @lkey
 * @aux: FETCH, REDUCE, ALLREDUCE: offset in the region of @aux_key; SEND:
 *	angara_msg.imm; else must be 0
 *
 * FENCE: the operation starts when the earlier operations of the context to the
 * same node have ended; an earlier collective counts as an operation to every
 * node.  A NOP or a collective with FENCE waits for all earlier operations.
 *
 * INLINE: @length <= ANGARA_MAX_INLINE bytes of payload follow in the next
 * ceil(length / 64) entries; @lkey and @loff are not used.  ATOMIC and FETCH:
 * the payload is x, then y.
 */
struct angara_wqe {
	__u8 opcode;
	__u8 flags;
	__u8 redop;
	__u8 type;
	union {
		__le16 tree;
		__le16 counter;
		__le16 code;
	};
	__le16 dst_ctx;
	__le32 dst_node;
	__le32 length;
	__le64 cookie;
	__le64 rkey;
	__le64 roff;
	__le32 lkey;
	__le32 aux_key;
	__le64 loff;
	__le64 aux;
};

/*
 * The receive buffer: a ring of units of ANGARA_MSG_UNIT bytes.  A record is a
 * struct angara_msg and the payload after it, in contiguous whole units.
 * Indices run freely; the position of a record is its index modulo the number
 * of units.
 */
#define ANGARA_MSG_UNIT		64

#define ANGARA_MSG_NONE		0 /* no record here yet */
#define ANGARA_MSG_DATA		1 /* a message */
#define ANGARA_MSG_PAD		2 /* the next record begins at offset 0 */
#define ANGARA_MSG_VOID		3 /* a message that was not completed */

/**
 * struct angara_msg - head of a record in the receive buffer
 * @tag: chosen by the sender
 * @imm: chosen by the sender
 * @node: node of the sender
 * @ctx: context of the sender
 * @code: chosen by the sender
 * @reserved: 0
 * @length: bytes of the record after this head, not rounded up to whole units
 * @reserved1: 0
 * @kind: ANGARA_MSG_*
 *
 * The device writes the last eight bytes of the head last, with one store:
 * until a record is complete, its @kind is NONE.  In PAD and VOID records only
 * @length is valid.
 *
 * To free records, in their order, the process adds their units to
 * angara_ctl.msg_ci, and after a full barrier reads ANGARA_CTR_MSG_WAIT.  If
 * the counter is 1, senders wait for room: the process rings the doorbell of
 * the SQ (ANGARA_KICK_SQ), and the device notifies these senders that there is
 * room.
 */
struct angara_msg {
	__le64 tag;
	__le64 imm;
	__le32 node;
	__le16 ctx;
	__le16 code;
	__le64 reserved[4];
	__le32 length;
	__u8 reserved1[3];
	__u8 kind;
};

/* Status of a completion. */
#define ANGARA_ST_OK		0
#define ANGARA_ST_DESC		1 /* malformed queue entry */
#define ANGARA_ST_KEY		2 /* no such memory region */
#define ANGARA_ST_BOUNDS	3 /* outside of the memory region */
#define ANGARA_ST_ACCESS	4 /* the region does not allow the access */
#define ANGARA_ST_PARTITION	5 /* the target is of another partition */
#define ANGARA_ST_TARGET	6 /* no such node or context */
#define ANGARA_ST_NO_TREE	7 /* row not set, or context not joined */
#define ANGARA_ST_MISMATCH	8 /* participants disagree on the operation */
#define ANGARA_ST_TREE_DOWN	9 /* a participant or a row is gone */
#define ANGARA_ST_DMA		10 /* host memory could not be reached */
#define ANGARA_ST_UNREACHABLE	11 /* no path to the node or back */
#define ANGARA_ST_ALIGN		12 /* atomic: the target is not aligned */
#define ANGARA_ST_NUM		13

/**
 * struct angara_cqe - entry of the completion queue
 * @cookie: cookie of the queue entry
 * @length: bytes completed
 * @node: node at fault, for a status other than ANGARA_ST_OK; if a switch is at
 *	fault, the node that programs it
 * @reserved: 0
 * @status: ANGARA_ST_*
 * @opcode: ANGARA_OP_*
 * @reserved1: 0
 * @reserved2: 0
 * @phase: bit 0 toggles each time the ring wraps; it is 1 in the first pass
 *
 * The device writes the last eight bytes of the entry last, with one store.
 */
struct angara_cqe {
	__le64 cookie;
	__le32 length;
	__le32 node;
	__le64 reserved;
	__le16 status;
	__u8 opcode;
	__u8 reserved1;
	__u8 reserved2[3];
	__u8 phase;
};

#endif /* _UAPI_LINUX_ANGARA_QUEUE_H */
