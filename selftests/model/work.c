// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Work for a torus that any number of fabrics host; see coll.h.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

static void p2p(struct group *g, u32 op, u32 from, u32 to, u32 len)
{
	struct angara_wqe w = wqe_p2p(op, g->ctx[to]->node, g->ctx[to]->id, 0,
				      8192, len);
	struct tctx *src = g->ctx[op == ANGARA_OP_PUT ? from : to];
	struct tctx *dst = g->ctx[op == ANGARA_OP_PUT ? to : from];

	memset(src->buf, (int)(from * 16 + to + len), len);
	memset(dst->buf + 8192, 0, 8192);
	post(g->ctx[from], &w, NULL);
	kick(g->ctx[from]);
	EXPECT_EQ(finish(g->ctx[from], NULL), ANGARA_ST_OK);
	EXPECT(!memcmp(src->buf, dst->buf + 8192, len));
	EXPECT(!dst->buf[8192 + len]);
}

/* Adds the traffic on links and at PEs since @before, except hops. */
static void traffic_since(struct host *h, const struct traffic *before,
			  struct traffic *sum)
{
	struct traffic now;
	u32 vc;

	traffic(h, &now);
	for (vc = 0; vc < ANGARA_VC_NUM; vc++)
		sum->link[vc] += now.link[vc] - before->link[vc];
	sum->credits += now.credits - before->credits;
	sum->injected += now.injected - before->injected;
	sum->ejected += now.ejected - before->ejected;
	sum->drops += now.drops - before->drops;
}

void work_everything(struct host *h, u32 step, struct traffic *sum)
{
	static const u16 pe[8] = { 1, 1, 1, 1, 1, 0, 1, 1 };
	struct group g = { .h = h };
	struct traffic before;
	struct ttree *t;
	u32 i;

	group_new(&g, 1, 8192);
	for (i = 0; i < 64; i += step) {
		p2p(&g, ANGARA_OP_PUT, i / 8, i % 8, 5000 - i);
		p2p(&g, ANGARA_OP_GET, i / 8, i % 8, 5000 - i);
	}
	/* The hops of a result are those of its first contributor. */
	traffic(h, sum);
	for (i = 0; i < 8; i += step) {
		if (!pe[i])
			continue;
		t = tree_over(h, i, i, g.ctx, g.n, pe, i);
		/* The number of packets that open a tree depends on timing. */
		host_run(h);
		traffic(h, &before);
		coll_bcast(t, (i + 3) % 7, 3000);
		coll_allreduce(t, 6 * 256);
		coll_reduce(t, (i + 5) % 7, 8);
		coll_barrier(t);
		traffic_since(h, &before, sum);
		tree_del(t);
	}
	group_del(&g);
}

void work_crowd(struct host *h)
{
	struct group g = { .h = h };
	struct angara_wqe w;
	u32 i, k;

	group_new(&g, 2, 8192);
	for (i = 0; i < g.n; i++) {
		for (k = 0; k < 40; k++) {
			struct tctx *to = g.ctx[(i * 7 + k * 3) % g.n];

			w = wqe_p2p(k % 3 ? ANGARA_OP_PUT : ANGARA_OP_GET,
				    to->node, to->id, 0, 8192, 8192 - k * 100);
			w.flags = k % 8 ? ANGARA_WQE_QUIET : 0;
			post(g.ctx[i], &w, NULL);
		}
		kick(g.ctx[i]);
	}
	host_run(g.h);
	for (i = 0; i < g.n; i++) {
		struct angara_cqe cqe;

		for (k = 0; k < 5; k++) {
			EXPECT(poll_cq(g.ctx[i], &cqe));
			EXPECT_EQ(cqe.status, 0);
		}
		EXPECT(!poll_cq(g.ctx[i], &cqe));
	}
	group_del(&g);
}
