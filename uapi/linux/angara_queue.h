/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Angara collective-offload adapter: what a process and the adapter share
 * without the kernel's help.  Include linux/angara.h.
 */
#ifndef _UAPI_LINUX_ANGARA_QUEUE_H
#define _UAPI_LINUX_ANGARA_QUEUE_H

#include <linux/types.h>

/**
 * struct angara_ctl - page written by the process, read by driver and device
 * @sq_pi: SQ producer index, free running
 * @cq_ci: CQ consumer index, free running
 * @seen: event sequence that the process has dealt with
 * @msg_ci: consumer index of the message area, free running, in units of
 *	ANGARA_MSG_UNIT bytes
 */
struct angara_ctl {
	__le32 sq_pi;
	__le32 cq_ci;
	__le32 seen;
	__le32 msg_ci;
};

/*
 * Event counters: one page of __le64, written by the device.  Data is visible
 * before the counter that tells of it, and that before ANGARA_CTR_EVSEQ.
 *
 * Events are CQEs, broadcasts received or refused, messages, and user counters.
 * Nobody can sleep on ANGARA_CTR_REDUCES and ANGARA_CTR_SQ_CI: what they tell of
 * comes before a CQE.
 */
#define ANGARA_CTR_EVSEQ	0		/* events so far, see below */
#define ANGARA_CTR_SQ_CI	1		/* SQ entries fetched so far */
#define ANGARA_CTR_MSG_WAIT	2		/* 1: senders wait, see struct angara_msg */
#define ANGARA_CTR_BCAST(t)	(64 + (t))	/* broadcasts received, per tree */
#define ANGARA_CTR_REDUCES(t)	(128 + (t))	/* finished reduce packets: credits */
#define ANGARA_CTR_RX_ERRORS(t)	(192 + (t))	/* trains of broadcasts not written */
#define ANGARA_CTR_USER(n)	(256 + (n))	/* put and get notifications */
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
#define ANGARA_OP_FETCH		9	/* as ATOMIC, and bring what was there */
#define ANGARA_OP_NUM		10

/* Flags of a queue entry. */
#define ANGARA_WQE_INLINE	(1U << 0) /* payload follows in the next entries */
#define ANGARA_WQE_FENCE	(1U << 1) /* start after earlier ones to the node, see below */
#define ANGARA_WQE_QUIET	(1U << 2) /* no CQE on success */
#define ANGARA_WQE_NOTIFY	(1U << 3) /* count at the target, see counter */
#define ANGARA_WQE_FLAGS	15U

/*
 * Reductions.  Integers, unsigned and signed, have all up to XOR and wrap
 * around; floats have SUM, MIN, MAX and PROD, pairs MINLOC and MAXLOC; see
 * Documentation/reductions.rst.
 */
#define ANGARA_RED_SUM		0
#define ANGARA_RED_MIN		1
#define ANGARA_RED_MAX		2
#define ANGARA_RED_PROD		3
#define ANGARA_RED_AND		4
#define ANGARA_RED_OR		5
#define ANGARA_RED_XOR		6
#define ANGARA_RED_MINLOC	7	/* equal values: the lower index */
#define ANGARA_RED_MAXLOC	8
#define ANGARA_RED_NUM		9

#define ANGARA_TYPE_INT32	0
#define ANGARA_TYPE_UINT32	1
#define ANGARA_TYPE_INT64	2
#define ANGARA_TYPE_UINT64	3
#define ANGARA_TYPE_FLOAT	4	/* IEEE 754 binary32 */
#define ANGARA_TYPE_DOUBLE	5	/* IEEE 754 binary64 */
/*
 * Pairs of a value and an index, an INT32 behind it, as a C structure has them:
 * 8 bytes, or 16 with four of padding at the end, which become 0.
 */
#define ANGARA_TYPE_INT32_LOC	6
#define ANGARA_TYPE_INT64_LOC	7
#define ANGARA_TYPE_FLOAT_LOC	8
#define ANGARA_TYPE_DOUBLE_LOC	9
#define ANGARA_TYPE_NUM		10

/*
 * Atomic operations, element by element: t is at the target, x the operand, y
 * the second operand of those from ANGARA_ATOMIC_CSWAP on.  The first seven are
 * the reductions of the same number.
 */
#define ANGARA_ATOMIC_SUM	0
#define ANGARA_ATOMIC_MIN	1
#define ANGARA_ATOMIC_MAX	2
#define ANGARA_ATOMIC_PROD	3
#define ANGARA_ATOMIC_AND	4	/* bit by bit: not for FLOAT and DOUBLE */
#define ANGARA_ATOMIC_OR	5	/* likewise */
#define ANGARA_ATOMIC_XOR	6	/* likewise */
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
 * @type: ANGARA_TYPE_* of a reduction, one that has @redop; ATOMIC, FETCH
 * @tree: collective: TreeId
 * @counter: PUT, GET, ATOMIC, FETCH with ANGARA_WQE_NOTIFY: user counter n of
 *	the target's context, ANGARA_CTR_USER(n), to count up when all has been
 *	written or read
 * @code: SEND: angara_msg.code
 * @dst_ctx: context at the target; REDUCE: that of the receiver
 * @dst_node: target node; REDUCE: node of the receiver, a participant
 * @length: bytes, at most ANGARA_MAX_OP_BYTES; for a reduction a multiple of
 *	the element size; 0 is allowed.  SEND: at most ANGARA_MAX_MSG.  ATOMIC,
 *	FETCH: bytes at the target, a multiple of the element size and not 0; x
 *	and y together take at most ANGARA_MAX_ATOMIC
 * @cookie: handed back in the CQE
 * @rkey: key of the region at the target: written by PUT, ATOMIC and FETCH,
 *	by BCAST at every participant (the same key at each), read by GET
 * @roff: offset in that region; SEND: angara_msg.tag
 * @lkey: slot of the local region: read, by GET written.  ATOMIC, FETCH: of x,
 *	@length bytes, and y behind it
 * @aux_key: FETCH: slot of the local region for what was at the target; REDUCE
 *	at the receiver, ALLREDUCE: for the result; else must be 0
 * @loff: offset in the region of @lkey
 * @aux: FETCH, REDUCE, ALLREDUCE: offset in the region of @aux_key; SEND:
 *	angara_msg.imm; else must be 0
 *
 * FENCE: the operation starts when the earlier ones of the context to the same
 * node have ended; collectives are for every node.  A NOP and a collective wait for
 * all earlier operations.
 *
 * INLINE: @length <= ANGARA_MAX_INLINE bytes of payload stand in the following
 * ceil(length / 64) entries; @lkey and @loff are not used.  ATOMIC and FETCH: x
 * and y stand there, one behind the other.
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
 * The message area: a ring of units of ANGARA_MSG_UNIT bytes, in which each
 * record is a struct angara_msg and the payload behind it, in whole units and
 * in one piece.  Indices run freely, the place is the index modulo the units.
 */
#define ANGARA_MSG_UNIT		64

#define ANGARA_MSG_NONE		0 /* nothing has arrived here yet */
#define ANGARA_MSG_DATA		1 /* a message */
#define ANGARA_MSG_PAD		2 /* the next record is where the area begins */
#define ANGARA_MSG_VOID		3 /* a message whose sender could not finish it */

/**
 * struct angara_msg - head of a record in the message area
 * @tag: chosen by the sender
 * @imm: chosen by the sender
 * @node: sender
 * @ctx: its context
 * @code: chosen by the sender
 * @reserved: 0
 * @length: bytes behind the head; the record is that and the head, in whole
 *	units
 * @reserved1: 0
 * @kind: ANGARA_MSG_*
 *
 * The last eight bytes are written last and at once: where the next record will
 * be, @kind is NONE until all of it is there.  Of PAD and VOID only @length
 * means something.
 *
 * The process gives records back in order, by counting angara_ctl.msg_ci up by
 * their units.  Then, behind a full barrier, it looks at ANGARA_CTR_MSG_WAIT: if
 * that is 1, senders found no room, and ringing the doorbell of the SQ
 * (ANGARA_KICK_SQ) makes the device tell them.
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
#define ANGARA_ST_ACCESS	4 /* the region does not grant it */
#define ANGARA_ST_PARTITION	5 /* the target is of another partition */
#define ANGARA_ST_TARGET	6 /* no such node or context */
#define ANGARA_ST_NO_TREE	7 /* the tree is not set, or not joined */
#define ANGARA_ST_MISMATCH	8 /* participants disagree on the operation */
#define ANGARA_ST_TREE_DOWN	9 /* a participant left or died, or a row went */
#define ANGARA_ST_DMA		10 /* host memory could not be reached */
#define ANGARA_ST_UNREACHABLE	11 /* a node on the way there or back is gone */
#define ANGARA_ST_ALIGN		12 /* atomic: the target is not aligned */
#define ANGARA_ST_NUM		13

/**
 * struct angara_cqe - entry of the completion queue
 * @cookie: of the queue entry
 * @length: bytes done
 * @node: node at fault, for a status other than ANGARA_ST_OK
 * @reserved: 0
 * @status: ANGARA_ST_*
 * @opcode: ANGARA_OP_*
 * @reserved1: 0
 * @reserved2: 0
 * @phase: bit 0 differs from lap to lap, 1 in the first
 *
 * The last eight bytes are written last and at once.
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
