/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The provider's limits.  fi_angara(7) documents them; selftests/host/ofi.t
 * compares the two.
 */
#ifndef AFI_LIMITS_H
#define AFI_LIMITS_H

#define AFI_EPS			1024	/* endpoints and contexts of a domain */
#define AFI_EP_CTXS		16	/* contexts of a scalable endpoint, per direction */
#define AFI_RX_CTX_BITS		44	/* lower bits of an fi_addr_t: index in the vector */
#define AFI_TX_SIZE		256	/* reads and writes in progress, per endpoint */
#define AFI_OPS			2048	/* operations in progress, per domain */
#define AFI_PULL_OPS		512	/* of these, operations that sends must leave free */
#define AFI_ASK_OPS		256	/* most receives that wait for a sender to give access */
#define AFI_IOV_LIMIT		4	/* most pieces of local memory of an operation */
#define AFI_RMA_IOV_LIMIT	4	/* most pieces of remote memory of an operation */
#define AFI_PIECES		(AFI_IOV_LIMIT + AFI_RMA_IOV_LIMIT - 1)
#define AFI_AWAITS		512	/* the adapter's operations in progress */
#define AFI_AWAITS_SPARE	16	/* of these, reserved for closing groups */
#define AFI_INJECT_SIZE		256	/* most bytes of FI_INJECT, copied in the call */
#define AFI_CQ_SIZE		1024	/* default number of entries of a completion queue */
#define AFI_CQ_MAX		(1U << 20)
#define AFI_CQ_TOLD		65536	/* most entries of a queue that grows for peers' events */
#define AFI_AV_MAX		(1U << 20)
#define AFI_SHARE_NAME		64	/* bytes of the name of a shared address vector */
#define AFI_SHARE_SIZE		4096	/* default number of entries of a shared vector */

/* Messages. */
#define AFI_MSG_AREA		(1U << 20)	/* receive buffer, bytes */
#define AFI_SMALL_NODES		64	/* up to this number of nodes, adapters have 64 slots */
#define AFI_SENDS		256	/* messages in flight or waiting */
#define AFI_OWED		(1U << 20)	/* waiting answers */
#define AFI_OWED_EACH		(2 * AFI_OPS)	/* waiting answers to one context */
#define AFI_MIN_MULTI		64	/* default least free bytes of a multi-receive buffer */
#define AFI_LINGER_MS		5000	/* most ms to deliver messages before a close */
#define AFI_LINGER_SPINS	100	/* checks of delivery before the caller sleeps */
#define AFI_LINGER_TICK_MS	10	/* ms of sleep between later checks */
#define AFI_KEEP_MIB		256	/* most MiB of kept unexpected messages */
#define AFI_RX_SIZE		65536	/* receives of an endpoint */

/* Probes of peers. */
#define AFI_PROBE_MS		1000	/* ms between two rounds of probes */
#define AFI_LOOKS		16	/* peers probed in one round */
#define AFI_PROBE_MISSES	3	/* probes without a path before a peer is given up */

/*
 * Keys that the program chooses.  Those below AFI_DIRECT_KEYS are keys of the
 * adapter; others are in a directory, where AFI_DIR_WINDOW entries are
 * searched.
 */
#define AFI_DIRECT_KEYS		512
#define AFI_DIR_ENTRIES		16384
#define AFI_DIR_WINDOW		16
#define AFI_DIR_LATE_OPS	64	/* operations that wait for entries of peers' directories */
#define AFI_LISTED		1024	/* cached entries of peers' directories */

/* Limits of regions of a domain. */
#define AFI_CHOSEN_REGIONS	2048	/* most regions with keys that the program chooses */
#define AFI_REGIONS		32768	/* most regions with keys of the provider */
#define AFI_VIRT_REGIONS	8192	/* most regions addressed by virtual address */

/*
 * Regions that the provider registers for single operations, which pins their
 * memory.  After a region is taken for data of a message, 1/AFI_TEMPS_SHOWN of
 * them must still be free; for data that a receiver has requested,
 * 1/AFI_TEMPS_ASKED.
 */
#define AFI_TEMP_REGIONS	512
#define AFI_TEMPS_SHOWN		2
#define AFI_TEMPS_ASKED		8

/*
 * Pools of buffers for memory that is not registered.  Data longer than a few
 * buffers is registered for each operation.
 */
#define AFI_POOL_PLACES		64
#define AFI_PLACE_BYTES		16384
#define AFI_BOUNCE_BYTES	65536

/* Collective operations. */
#define AFI_MEMBERS		1024	/* members of a group */
#define AFI_JOIN_WAYS		16	/* children of a member in the tree of a join */
#define AFI_BLOCK_MAX		4000	/* bytes of a message between members */
#define AFI_AHEAD		64	/* early messages kept for one member */
#define AFI_WANTS		65536	/* early requests to join */
#define AFI_WANTS_EACH		256	/* early requests from one context */
#define AFI_JOIN_S		30	/* default timeout of a join, seconds */
#define AFI_CALL_S		600	/* default timeout of an operation, seconds */
#define AFI_IDLE_TICKS		3	/* seconds without work before the thread of groups ends */

/* Collective operations that the adapters execute. */
#define AFI_STAGE_BYTES		65536	/* bytes of a part of the stage, see offload.h */
#define AFI_TREES_MS		1000	/* most ms that a close waits for peers to close groups */

#define AFI_SERVICE_S		2	/* seconds that a client waits for a service's answer */

#endif /* AFI_LIMITS_H */
