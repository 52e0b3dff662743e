/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters that depend on timing: they may differ between two runs of the same
 * operations.
 */
#ifndef TIMING_H
#define TIMING_H

#include <string.h>

#include "ang_model.h"

/* Sets these counters of an object to 0. */
static inline void timing_drop(u32 kind, union ang_counters *c)
{
	switch (kind) {
	case ANGARA_CNT_NODE:
		c->node.no_buffer = 0;
		/* The clock jumps to a timer's end from different times. */
		c->node.cycles = 0;
		break;
	case ANGARA_CNT_LINK:
		memset(c->link.stalls, 0, sizeof(c->link.stalls));
		break;
	case ANGARA_CNT_TREE:
		c->tree.max_in_flight = 0;
		c->tree.credits_pe_count = 0;
		c->tree.credits_pe_timer = 0;
		break;
	}
}

#endif /* TIMING_H */
