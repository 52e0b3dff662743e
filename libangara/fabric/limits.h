/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The provider's limits.  fi_angara(7) tells of them, and selftests/host/fabric.t
 * compares.
 */
#ifndef AFI_LIMITS_H
#define AFI_LIMITS_H

#define AFI_EPS			64	/* endpoints of a domain, and contexts */
#define AFI_EP_CTXS		16	/* of a scalable endpoint, each way */
#define AFI_RX_CTX_BITS		44	/* of an address; its entry has the rest */
#define AFI_TX_SIZE		256	/* operations of an endpoint under way */
#define AFI_OPS			2048	/* operations of a domain under way */
#define AFI_PULL_OPS		512	/* of them, those that sends leave */
#define AFI_ASK_OPS		256	/* of these, those that ask senders for data */
#define AFI_IOV_LIMIT		4	/* pieces of local memory */
#define AFI_RMA_IOV_LIMIT	4	/* pieces of remote memory */
#define AFI_PIECES		(AFI_IOV_LIMIT + AFI_RMA_IOV_LIMIT - 1)
#define AFI_AWAITS		512	/* operations of the adapter under way */
#define AFI_AWAITS_SPARE	16	/* of them, those that end groups */
#define AFI_INJECT_SIZE		256	/* bytes that are taken at once */
#define AFI_CQ_SIZE		1024	/* entries of a queue if nobody says */
#define AFI_CQ_MAX		(1U << 20)
#define AFI_CQ_TOLD		65536	/* that it grows to for what nobody has asked for */
#define AFI_AV_MAX		(1U << 20)
#define AFI_SHARE_NAME		64	/* bytes of a shared one's name */
#define AFI_SHARE_SIZE		4096	/* entries of it if nobody says */
#define AFI_AV_CHAINS		1024
#define AFI_FLOW_CHAINS		256

/* Messages. */
#define AFI_MSG_AREA		(1U << 20)	/* bytes of what has arrived */
#define AFI_SMALL_NODES		64	/* fabrics whose adapters have more places */
#define AFI_SENDS		256	/* under way, or waiting for their turn */
#define AFI_OWED		(1U << 20)	/* answers that wait for room there */
#define AFI_OWED_EACH		(2 * AFI_OPS)	/* of these, to one context */
#define AFI_MIN_MULTI		64	/* bytes that are left of such a buffer */
#define AFI_LINGER_MS		5000	/* for what was sent before a domain is closed */
#define AFI_KEEP_MIB		256	/* of messages that nobody has asked for */
#define AFI_RX_SIZE		65536	/* receives of an endpoint */

/* Peers that are waited for. */
#define AFI_PROBE_MS		1000	/* from one look at them to the next */
#define AFI_LOOKS		16	/* of them in one look */

/*
 * Keys: those below AFI_DIRECT_KEYS are keys of the adapter, others stand in
 * a directory, where AFI_DIR_WINDOW places are looked at.
 */
#define AFI_DIRECT_KEYS		512
#define AFI_LOW_KEYS		512	/* that the provider uses itself */
#define AFI_DIR_ENTRIES		4096
#define AFI_DIR_WINDOW		16
#define AFI_KEY_BITS		16	/* of a key that the provider chooses */
#define AFI_DIR_MS		1000	/* for a look, while others cannot use the domain */

/*
 * Keys of the provider's own, half of all, that are left: one part of so many,
 * by data of messages, by keys in the directory, and by data that was asked for.
 */
#define AFI_KEYS_SHOWN		2
#define AFI_KEYS_LISTED		5
#define AFI_KEYS_ASKED		8

/*
 * Pools of buffers for memory that is not registered: what is longer than a few
 * of a pool's places is registered each time.
 */
#define AFI_POOL_PLACES		64
#define AFI_PLACE_BYTES		16384
#define AFI_BOUNCE_BYTES	65536

/* Collective operations. */
#define AFI_MEMBERS		16384	/* of a group */
#define AFI_BLOCK_MAX		4000	/* bytes of a message between members */
#define AFI_AHEAD		64	/* messages that a member keeps of another */
#define AFI_WANTS		65536	/* joins that others have called first */
#define AFI_WANTS_EACH		256	/* of these, from one context */
#define AFI_JOIN_S		30	/* seconds for a join if nobody says */
#define AFI_CALL_S		600	/* for an operation */
#define AFI_GROUP_CHAINS	64

/* Collective operations that the adapters do. */
#define AFI_STAGE_BYTES		65536	/* of an operation that are under way at once */
#define AFI_TREES_MS		1000	/* for others to close the groups of a domain */

#endif /* AFI_LIMITS_H */
