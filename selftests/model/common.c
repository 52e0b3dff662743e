// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parts of the tests that are the same for all hosts: configurations, idleness,
 * random numbers; see host.h.
 */
#include "invariant.h"
#include "test.h"

const struct ang_cfg cfg_default = {
	.ctxs = 4, .trees = ANG_DEF_TREES, .ops = 16, .bufs = 32, .depth = 8, .train = 1,
	.fabric_id = 0x1122334455667788ULL,
};
const struct ang_cfg cfg_tight = {
	.ctxs = 4, .trees = ANG_DEF_TREES, .ops = 4, .bufs = 8, .depth = 4, .train = 1,
};

u64 rnd(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

void host_check_idle(struct host *h)
{
	host_run(h);
	invariants_idle(h->fab);
	if (h->twin && !h->twin->dead)
		invariants_idle(h->twin->fab);
}
