/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The provider's limits.  fi_angara(7) documents them; selftests/host/ofi.t
 * compares the two.
 */
#ifndef AFI_LIMITS_H
#define AFI_LIMITS_H

#define AFI_EPS			1024	/* endpoints and contexts of a domain */
#define AFI_EP_CTXS		16	/* contexts of a scalable endpoint, per direction */
#define AFI_RX_CTX_BITS		44	/* bits of the index in an address */
#define AFI_TX_SIZE		256	/* reads and writes in progress, per endpoint */
#define AFI_OPS			2048	/* operations in progress, per domain */
#define AFI_PULL_OPS		512	/* operations not used by sends */
#define AFI_ASK_OPS		256	/* AFI_PULL_OPS that ask for data */
#define AFI_IOV_LIMIT		4	/* pieces of local memory */
#define AFI_RMA_IOV_LIMIT	4	/* pieces of remote memory */
#define AFI_PIECES		(AFI_IOV_LIMIT + AFI_RMA_IOV_LIMIT - 1)
#define AFI_AWAITS		512	/* adapter operations in progress */
#define AFI_AWAITS_SPARE	16	/* additional ones for closing groups */
#define AFI_INJECT_SIZE		256	/* bytes copied at once */
#define AFI_CQ_SIZE		1024	/* default number of entries */
#define AFI_CQ_MAX		(1U << 20)
#define AFI_CQ_TOLD		65536	/* most entries of a queue that grows for peers' events */
#define AFI_AV_MAX		(1U << 20)
#define AFI_SHARE_NAME		64	/* bytes of a shared vector's name */
#define AFI_SHARE_SIZE		4096	/* default number of entries */

/* Messages. */
#define AFI_MSG_AREA		(1U << 20)	/* receive buffer, bytes */
#define AFI_SMALL_NODES		64	/* nodes up to which adapters have 64 places */
#define AFI_SENDS		256	/* messages in flight or waiting */
#define AFI_OWED		(1U << 20)	/* waiting answers */
#define AFI_OWED_EACH		(2 * AFI_OPS)	/* waiting answers to one context */
#define AFI_MIN_MULTI		64	/* bytes left in a multi-receive buffer */
#define AFI_LINGER_MS		5000	/* ms to deliver before close */
#define AFI_LINGER_SPINS	100	/* checks before the caller sleeps */
#define AFI_LINGER_TICK_MS	10	/* ms between later checks */
#define AFI_KEEP_MIB		256	/* MiB of unexpected messages */
#define AFI_RX_SIZE		65536	/* receives of an endpoint */

/* Probes of peers. */
#define AFI_PROBE_MS		1000	/* ms between two rounds of probes */
#define AFI_LOOKS		16	/* peers probed in one round */

/*
 * Keys that the program chooses.  Those below AFI_DIRECT_KEYS are keys of the
 * adapter; others are in a directory, where AFI_DIR_WINDOW entries are
 * searched.
 */
#define AFI_DIRECT_KEYS		512
#define AFI_DIR_ENTRIES		16384
#define AFI_DIR_WINDOW		16
#define AFI_DIR_LATE_OPS	64	/* operations that wait for entries */
#define AFI_LISTED		1024	/* cached entries of peers' directories */

/* Limits of regions of a domain. */
#define AFI_CHOSEN_REGIONS	2048	/* with keys that the program chooses */
#define AFI_REGIONS		32768	/* with keys of the provider */
#define AFI_VIRT_REGIONS	8192	/* addressed by virtual address */

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
#define AFI_JOIN_WAYS		16	/* children of a member, while it joins */
#define AFI_BLOCK_MAX		4000	/* bytes of a message between members */
#define AFI_AHEAD		64	/* early messages kept for one member */
#define AFI_WANTS		65536	/* early requests to join */
#define AFI_WANTS_EACH		256	/* early requests from one context */
#define AFI_JOIN_S		30	/* default timeout of a join, seconds */
#define AFI_CALL_S		600	/* default timeout of an operation, seconds */

/* Collective operations that the adapters execute. */
#define AFI_STAGE_BYTES		65536	/* bytes of one operation at once */
#define AFI_TREES_MS		1000	/* ms for peers to close groups */

#define AFI_SERVICE_S		2	/* seconds that a client waits for a service's answer */

#endif /* AFI_LIMITS_H */
