// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What does not depend on the host: configurations, idleness, chance; see
 * host.h.
 */
#include "test.h"

const struct ang_cfg cfg_default = {
	.ctxs = 4, .ops = 16, .bufs = 32, .depth = 8, .train = 1,
	.fabric_id = 0x1122334455667788ULL,
};
const struct ang_cfg cfg_tight = {
	.ctxs = 4, .ops = 4, .bufs = 8, .depth = 4, .train = 1,
};

u64 rnd(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void check_rings(struct host *h, struct ang_node *n)
{
	u32 dir, vc;

	for (dir = 0; dir < 2 * h->cfg.ndims; dir++) {
		for (vc = 0; vc < ANGARA_VC_NUM; vc++) {
			struct ang_ring *r = ang_ring(h->fab, n, dir, vc);

			EXPECT_EQ(r->head, r->tail);
			EXPECT_EQ(r->todo, 0);
		}
	}
}

static void check_fabric(struct host *h)
{
	u32 i, b, t;

	for (i = 0; i < h->nodes; i++) {
		struct ang_node *n = ang_node(h->fab, i);
		u32 bufs = (u32)((h->fab->stride - h->fab->off_buf) /
				 h->fab->buf_size);
		u32 *ref = (u32 *)((char *)n + h->fab->off_ref);

		check_rings(h, n);
		for (b = 0; b < bufs; b++)
			EXPECT_EQ(ref[b], 0);
		for (t = 0; t < ANGARA_MAX_TREES; t++)
			EXPECT(!n->tree[t].abort_todo);
		EXPECT_EQ(n->sched, n->remote ? ANG_SCHED_OWNED |
						ANG_SCHED_REMOTE : 0);
	}
}

void host_check_idle(struct host *h)
{
	host_run(h);
	check_fabric(h);
	if (h->twin && !h->twin->dead)
		check_fabric(h->twin);
}
