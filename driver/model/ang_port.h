/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The device model: a port of a router, with the outgoing link. */
#ifndef ANG_PORT_H
#define ANG_PORT_H

#include "ang_fault.h"

struct ang_link {
	u64 packets[ANGARA_VC_NUM];
	u64 flits[ANGARA_VC_NUM];
	u64 stalls[ANGARA_VC_NUM];
};

/**
 * struct ang_passed - counts of packets that left by a link while no view held
 * the router
 * @packets: packets of ANGARA_VC_REQ and ANGARA_VC_RSP, see ang_express.c
 * @flits: flits of these packets
 */
struct ang_passed {
	u64 packets[2];
	u64 flits[2];
};

/* Faults of a link: bits of ang_port.flaws. */
#define ANG_FLAW_RETRY	1U	/* may lose packets: see ang_retry.c */
#define ANG_FLAW_DOWN	2U	/* down: carries no packets */
#define ANG_FLAW_CAUSE	4U	/* with DOWN: this end took the link down */

/**
 * struct ang_port - a port of a router
 * @peer: router at the other end of the link, ANG_NONE if there is no link
 * @far: port at the other end
 * @flaws: ANG_FLAW_* of the outgoing link (any thread, atomically)
 * @fell: ang_fabric.lost when the link last went down (any thread)
 * @link: counters of packets that leave by the port
 * @passed: further counts of such packets (any thread, atomically); in a
 *	separate cache line
 * @retry: packets in flight, with ANG_FLAW_RETRY
 *
 * Any thread may access members marked "(any thread)".
 */
struct ang_port {
	u32 peer;
	u32 far;
	u32 flaws;
	u32 fell;
	struct ang_link link;
	struct ang_passed passed ____cacheline_aligned;
	struct ang_retry retry;
};

/** ang_later() - is era @a (a value of ang_fabric.lost) later than @b? */
static inline bool ang_later(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/** ang_port_link() - sum of the counters of a port's outgoing link */
static inline struct ang_link ang_port_link(const struct ang_port *port)
{
	struct ang_link l = port->link;
	u32 vc;

	for (vc = ANGARA_VC_REQ; vc <= ANGARA_VC_RSP; vc++) {
		l.packets[vc] += READ_ONCE(port->passed.packets[vc]);
		l.flits[vc] += READ_ONCE(port->passed.flits[vc]);
	}
	return l;
}

#endif /* ANG_PORT_H */
