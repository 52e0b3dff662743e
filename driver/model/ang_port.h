/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: a port of a router, with the link that leaves by it.
 */
#ifndef ANG_PORT_H
#define ANG_PORT_H

#include "ang_fault.h"

struct ang_link {
	u64 packets[ANGARA_VC_NUM];
	u64 flits[ANGARA_VC_NUM];
	u64 stalls[ANGARA_VC_NUM];
};

/**
 * struct ang_passed - what has left by a link without a turn of the router
 * @packets: of ANGARA_VC_REQ and ANGARA_VC_RSP, see ang_express.c
 * @flits: likewise
 */
struct ang_passed {
	u64 packets[2];
	u64 flits[2];
};

/* What is wrong with a link: ang_port.flaws. */
#define ANG_FLAW_RETRY	1U	/* its packets pass ang_retry.c */
#define ANG_FLAW_DOWN	2U	/* it carries nothing */
#define ANG_FLAW_CAUSE	4U	/* with DOWN: this end had it go down */

/**
 * struct ang_port - a port of a router
 * @peer: router that it is joined to, ANG_NONE if to none
 * @far: port there
 * @flaws: ANG_FLAW_* of what leaves by it (any thread, atomically)
 * @fell: ang_fabric.lost as the link went down last (any thread)
 * @link: counters of what leaves by it
 * @passed: more of the same (any thread, atomically); in a cache line of its own
 * @retry: what is under way, with ANG_FLAW_RETRY
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

/** ang_later() - does one number of losses (ang_fabric.lost) come after another? */
static inline bool ang_later(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/** ang_port_link() - counters of all that leaves by a port */
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
