/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: lanes of a node, see ang_lane.c.
 */
#ifndef ANG_LANE_H
#define ANG_LANE_H

#include "ang_model.h"

/* May threads enter the lanes of a node: ang_node.lanes. */
#define ANG_LANES_SHUT		0	/* no; none is in one */
#define ANG_LANES_OPEN		1	/* yes; no view holds the node */
#define ANG_LANES_CLOSING	2	/* no; some may not have left */

#define ANG_LANES	8U	/* source lanes of a node, and target lanes behind them */

/**
 * struct ang_lane - place in a node for a small operation; see ang_lane.c
 * @taken: a thread is in it (any thread); the rest is that thread's
 * @vc: virtual channel of what leaves the node by it
 * @port: port that @packets and @flits are of
 * @ctx: context that @rx_packets and @rx_bytes are of
 * @packets: packets that left by a link; it and all that follows are counted
 *	here until the node is held
 * @flits: flits of them
 * @rx_packets: as in ang_ctx.cnt; next, other counters
 * @rx_bytes: likewise
 * @injected_packets: as in ang_node.cnt
 * @injected_flits: likewise
 * @ejected_packets: likewise
 * @ejected_flits: likewise
 * @hops: likewise
 */
struct ang_lane {
	u32 taken ____cacheline_aligned;
	u32 vc;
	u32 port;
	u32 ctx;
	u64 packets;
	u64 flits;
	u64 rx_packets;
	u64 rx_bytes;
	u64 injected_packets;
	u64 injected_flits;
	u64 ejected_packets;
	u64 ejected_flits;
	u64 hops;
};

#endif /* ANG_LANE_H */
