/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: lanes of a node, see ang_lane.c.
 */
#ifndef ANG_LANE_H
#define ANG_LANE_H

#include "ang_model.h"

/* Values of ang_node.lanes: may threads enter the lanes of the node? */
#define ANG_LANES_SHUT		0	/* no, and no thread is in a lane */
#define ANG_LANES_OPEN		1	/* yes, and no view holds the node */
#define ANG_LANES_CLOSING	2	/* no; threads may still be in lanes */

#define ANG_CALM_SPELLS	8U	/* limit of ang_node.calm, see calm_add() */
#define ANG_LANES	8U	/* number of source lanes, and of target lanes */

/**
 * struct ang_lane - place in a node for a small operation; see ang_lane.c
 * @taken: a thread is in the lane.  Any thread may write @taken; only the
 *	thread in the lane accesses the other members
 * @vc: virtual channel of packets that leave the node from this lane
 * @port: port whose packets @packets and @flits count
 * @ctx: context whose packets @rx_packets and @rx_bytes count
 * @packets: packets that left by @port; this and all counters below are added
 *	to those of the node when a view takes the node
 * @flits: flits of these packets
 * @rx_packets: as in ang_ctx.cnt
 * @rx_bytes: as in ang_ctx.cnt
 * @injected_packets: as in ang_node.cnt
 * @injected_flits: as in ang_node.cnt
 * @ejected_packets: as in ang_node.cnt
 * @ejected_flits: as in ang_node.cnt
 * @hops: as in ang_node.cnt
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
