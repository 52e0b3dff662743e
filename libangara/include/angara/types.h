/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: types that all its headers share: addresses, operations, status.
 *
 * Conventions are those of angara/angara.h.
 */
#ifndef ANGARA_TYPES_H
#define ANGARA_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Version of these headers; angara_version() returns the version of the
 * library.
 */
#define ANGARA_VERSION_MAJOR	1
#define ANGARA_VERSION_MINOR	0
#define ANGARA_VERSION_PATCH	0
#define ANGARA_VERSION_NUMBER(major, minor, patch) \
	((major) << 16 | (minor) << 8 | (patch))
#define ANGARA_VERSION \
	ANGARA_VERSION_NUMBER(ANGARA_VERSION_MAJOR, ANGARA_VERSION_MINOR, \
			      ANGARA_VERSION_PATCH)

/*
 * Structures that begin with @size can grow: the caller sets @size to sizeof()
 * and zeroes the rest.  The library treats fields that an older program does
 * not have as 0.  A program that sets a field that an older library does not
 * know gets -E2BIG.
 */

/*
 * Constants, equal to those of linux/angara.h, which programs need not include:
 * the queues of the adapter carry these values unchanged.
 */
#define ANGARA_MAX_INLINE	256		/* bytes that a call can copy */
#define ANGARA_MAX_OP_BYTES	(1U << 30)	/* bytes of one operation */
#define ANGARA_MAX_MSG		4096		/* payload of a message */
#define ANGARA_MAX_ATOMIC	256		/* operands of an atomic operation */
#define ANGARA_MIN_MSG_BYTES	16384		/* bytes of a receive buffer */
#define ANGARA_MAX_DIMS		4		/* torus dimensions X, Y, Z, W */
#define ANGARA_CTR_USER_NUM	256		/* user counters of a context */

/*
 * Access rights of a memory region; contexts of its domain can always read it.
 */
#define ANGARA_ACCESS_LOCAL_WRITE	(1U << 0)
#define ANGARA_ACCESS_REMOTE_READ	(1U << 1)
#define ANGARA_ACCESS_REMOTE_WRITE	(1U << 2)
#define ANGARA_ACCESS_ALL		7U

/*
 * Reductions.  Integers, unsigned and signed, have all operations up to XOR and
 * wrap around; floats have SUM, MIN, MAX and PROD, pairs MINLOC and MAXLOC; see
 * Documentation/reductions.rst.
 */
#define ANGARA_RED_SUM		0
#define ANGARA_RED_MIN		1
#define ANGARA_RED_MAX		2
#define ANGARA_RED_PROD		3
#define ANGARA_RED_AND		4
#define ANGARA_RED_OR		5
#define ANGARA_RED_XOR		6
#define ANGARA_RED_MINLOC	7 /* the lower index if values are equal */
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
 * operand, y the second operand of ANGARA_ATOMIC_CSWAP and above.  The first
 * seven have the numbers of the same reductions.
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

/* Status of a completion. */
#define ANGARA_ST_OK		0
#define ANGARA_ST_DESC		1 /* malformed queue entry */
#define ANGARA_ST_KEY		2 /* no such memory region */
#define ANGARA_ST_BOUNDS	3 /* outside of the memory region */
#define ANGARA_ST_ACCESS	4 /* the region does not grant this access */
#define ANGARA_ST_PARTITION	5 /* the target is of another partition */
#define ANGARA_ST_TARGET	6 /* no such node or context */
#define ANGARA_ST_NO_TREE	7 /* the tree is not set, or not joined */
#define ANGARA_ST_MISMATCH	8 /* participants disagree on the operation */
#define ANGARA_ST_TREE_DOWN	9 /* a participant or a row is gone */
#define ANGARA_ST_DMA		10 /* host memory could not be reached */
#define ANGARA_ST_UNREACHABLE	11 /* no path to the node or back */
#define ANGARA_ST_ALIGN		12 /* atomic: the target is not aligned */
#define ANGARA_ST_NUM		13

struct angara_job;
struct angara_ctx;
struct angara_mr;
struct angara_team;

#define ANGARA_FOREVER		(-1)	/* timeout_ms: no deadline */

/** Address of a peer. */
struct angara_peer {
	uint32_t node;
	uint16_t ctx;
	uint16_t reserved;
};

/* angara_op.flags */
#define ANGARA_MORE		(1U << 0) /* do not ring the doorbell yet */
#define ANGARA_FENCE		(1U << 1) /* start after earlier operations to the same node */
#define ANGARA_SILENT		(1U << 2) /* no completion unless it fails */
#define ANGARA_NOTIFY		(1U << 3) /* count at the target: see @notify */
#define ANGARA_OP_FLAGS		15U

/*
 * One of these values in angara_op.flags selects the algorithm of a collective,
 * which the members then execute by software; all members must select the same.
 * -EINVAL: the collective does not have the algorithm, or not for blocks of
 * different lengths, or adapters execute the collective.
 */
#define ANGARA_ALGO_DISSEMINATION	(1U << 8)
#define ANGARA_ALGO_BINOMIAL		(2U << 8)
#define ANGARA_ALGO_LINEAR		(3U << 8)
#define ANGARA_ALGO_SCATTER_ALLGATHER	(4U << 8)
#define ANGARA_ALGO_RECURSIVE_DOUBLING	(5U << 8)
#define ANGARA_ALGO_RABENSEIFNER	(6U << 8)
#define ANGARA_ALGO_RING		(7U << 8)
#define ANGARA_ALGO_BRUCK		(8U << 8)
#define ANGARA_ALGO_PAIRWISE		(9U << 8)
#define ANGARA_ALGO_RING2D		(10U << 8) /* rings of two dimensions, or angara_team_rings() */
/* allgather, with the numbers of angara_team_numbers() */
#define ANGARA_ALGO_BRUCK_EXCH		(11U << 8) /* blocks are exchanged first */
#define ANGARA_ALGO_BRUCK_REORDER	(12U << 8) /* blocks are reordered last */
#define ANGARA_ALGO_DOUBLING_EXCH	(13U << 8)
#define ANGARA_ALGO_DOUBLING_REORDER	(14U << 8)
#define ANGARA_ALGO_MASK		(0xFFU << 8)
#define ANGARA_ALGO_SHIFT		8 /* of the numbers above, which begin at 1 */

/**
 * struct angara_op - options of an operation
 * @size: sizeof(struct angara_op)
 * @flags: ANGARA_MORE, ANGARA_FENCE, ANGARA_SILENT, ANGARA_NOTIFY; ANGARA_ALGO_*
 * @cookie: returned by angara_poll()
 * @notify: with ANGARA_NOTIFY: user counter of the target, below
 *	ANGARA_CTR_USER_NUM, to increment when the operation is complete there;
 *	for puts, gets and atomic operations
 * @reserved: must be 0
 *
 * The last argument of every call whose name ends in _nbi.  With NULL the
 * operation has no completion; angara_quiet() waits for it, and returns its
 * error.
 *
 * ANGARA_MORE: the doorbell is not rung for this operation.  The device
 * receives it with the next operation without the flag, angara_flush(), or any
 * call that waits.
 *
 * ANGARA_FENCE: the device starts the operation after it has completed all
 * earlier operations of the context to the same node, and all earlier
 * collectives of the context, of any team, that the device executes.
 */
struct angara_op {
	uint32_t size;
	uint32_t flags;
	uint64_t cookie;
	uint32_t notify;
	uint32_t reserved;
};

/** angara_version() - version of the library, in the form of ANGARA_VERSION */
uint32_t angara_version(void);

int angara_status_errno(uint32_t status);
const char *angara_status_str(uint32_t status);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_TYPES_H */
