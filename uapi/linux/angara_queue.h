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
 * @reserved: 0
 */
struct angara_ctl {
	__le32 sq_pi;
	__le32 cq_ci;
	__le32 seen;
	__le32 reserved;
};

/*
 * Event counters: one page of __le64, written by the device.  Data is visible
 * before the counter that tells of it, and that before ANGARA_CTR_EVSEQ.
 *
 * Events are CQEs, broadcasts received or refused, and user counters.  Nobody
 * can sleep on ANGARA_CTR_REDUCES and ANGARA_CTR_SQ_CI: what they tell of comes
 * before a CQE.
 */
#define ANGARA_CTR_BCAST(t)	(t)		/* broadcasts received, per tree */
#define ANGARA_CTR_REDUCES(t)	(16 + (t))	/* finished reduce packets: credits */
#define ANGARA_CTR_EVSEQ	32		/* events so far, see below */
#define ANGARA_CTR_SQ_CI	33		/* SQ entries fetched so far */
#define ANGARA_CTR_RX_ERRORS	34		/* trains of broadcasts not written */
#define ANGARA_CTR_USER(n)	(64 + (n))	/* put and get notifications */
#define ANGARA_CTR_USER_NUM	448
#define ANGARA_CTR_NUM		512

/* Operations. */
#define ANGARA_OP_NOP		0
#define ANGARA_OP_PUT		1
#define ANGARA_OP_GET		2
#define ANGARA_OP_BCAST		3
#define ANGARA_OP_REDUCE	4
#define ANGARA_OP_ALLREDUCE	5
#define ANGARA_OP_BARRIER	6
#define ANGARA_OP_NUM		7

/* Flags of a queue entry. */
#define ANGARA_WQE_INLINE	(1U << 0) /* payload follows in the next entries */
#define ANGARA_WQE_FENCE	(1U << 1) /* start when all earlier ones are done */
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

/**
 * struct angara_wqe - entry of the injection queue
 * @opcode: ANGARA_OP_*
 * @flags: ANGARA_WQE_*
 * @tree: TreeId of a collective
 * @redop: ANGARA_RED_* of a reduction
 * @type: ANGARA_TYPE_* of a reduction, one that has @redop
 * @reserved0: must be 0
 * @dst_ctx: PUT, GET: context at the target; REDUCE: that of the receiver
 * @dst_node: PUT, GET: target node; REDUCE: node of the receiver, a participant
 * @length: bytes, at most ANGARA_MAX_OP_BYTES; for a reduction a multiple of
 *	the element size; 0 is allowed
 * @cookie: handed back in the CQE
 * @src_key: region read: local, for GET at the target
 * @dst_key: region written: PUT at the target, BCAST at every participant
 *	(the same key at each), GET, REDUCE and ALLREDUCE local
 * @src_off: offset in the region read
 * @dst_off: offset in the region written
 * @counter: with ANGARA_WQE_NOTIFY: PUT, GET: user counter n of the target's
 *	context, ANGARA_CTR_USER(n), to count up when all has been written or read
 * @reserved1: must be 0
 *
 * INLINE: @length <= ANGARA_MAX_INLINE bytes of payload stand in the following
 * ceil(length / 64) entries; @src_key and @src_off are not used.
 */
struct angara_wqe {
	__u8 opcode;
	__u8 flags;
	__u8 tree;
	__u8 redop;
	__u8 type;
	__u8 reserved0;
	__le16 dst_ctx;
	__le32 dst_node;
	__le32 length;
	__le64 cookie;
	__le32 src_key;
	__le32 dst_key;
	__le64 src_off;
	__le64 dst_off;
	__le16 counter;
	__u8 reserved1[14];
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
#define ANGARA_ST_NUM		11

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
