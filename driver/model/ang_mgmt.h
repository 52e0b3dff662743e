/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The device model: in-band management, see ang_mgmt.c. */
#ifndef ANG_MGMT_H
#define ANG_MGMT_H

#include "ang_env.h"
#include <linux/angara_mgmt.h>

/*
 * Channel number in trace records.  The simulator uses ANGARA_VC_NUM for
 * another channel.
 */
#define ANG_VC_MGMT	(ANGARA_VC_NUM + 1)
#define ANG_MGMT_DEPTH	2U	/* packets that a link holds, a power of two */
#define ANG_MGMT_TURN	8U	/* packets that a router handles before data has its turn */

/**
 * struct ang_mgmt_box - queue of management packets from one link, or from the
 * node's own host
 * @head: consumer index
 * @tail: producer index
 * @pkt: packets
 */
struct ang_mgmt_box {
	u32 head;
	u32 tail;
	struct angara_mgmt pkt[ANG_MGMT_DEPTH];
};

#define ANG_MGMT_IDLE	0	/* the node has no request under way */
#define ANG_MGMT_WAITS	1	/* the node waits for the answer */
#define ANG_MGMT_DONE	2	/* the answer has arrived */

/**
 * struct ang_mgmt - management of a router
 * @mail: a box may hold packets; any thread may set this
 * @at: box that has the next turn
 * @state: ANG_MGMT_IDLE, WAITS or DONE
 * @flags: ANGARA_MGMT_KEY_*
 * @key: key of the router, which SET requests must name, 0 for none; resets
 *	change neither @key nor @writes
 * @writes: number of SET requests accepted so far
 * @tid: number of the node's own request under way
 * @taken: number of packets taken from boxes of links
 * @dropped: number of packets dropped at this router
 * @refused: number of requests with a wrong key
 * @answer: answer to the node's own request, in state ANG_MGMT_DONE
 * @box: per port, and one for the node's own host
 */
struct ang_mgmt {
	u32 mail;
	u32 at;
	u32 state;
	u32 flags;
	u64 key;
	u64 writes;
	u64 tid;
	u64 taken;
	u64 dropped;
	u64 refused;
	struct angara_mgmt answer;
	struct ang_mgmt_box box[];
};

#endif /* ANG_MGMT_H */
