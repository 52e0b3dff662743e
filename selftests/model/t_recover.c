// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A node is reset if its holder has died while running it. Packets pass through
 * it as before, and nothing is left over.
 */
#include <string.h>

#include "invariant.h"
#include "test.h"
#include "coll.h"

#define OPS	8	/* per context: one operation for each node */

static struct group g;

static void start(void)
{
	struct ang_cfg cfg = cfg_tight;
	u32 i, k;

	cfg.train = 2;
	cfg.ops = 16;
	g.h = host_new("2x2x2", &cfg);
	group_new(&g, 1, 8192);
	for (i = 0; i < g.n; i++) {
		for (k = 0; k < OPS; k++) {
			struct angara_wqe w =
				wqe_p2p(k % 2 ? ANGARA_OP_PUT : ANGARA_OP_GET,
					k, 0, 0, 8192, 8000);

			w.cookie = cpu_to_le64(k);
			post(g.ctx[i], &w, NULL);
		}
		kick(g.ctx[i]);
	}
}

/*
 * Simulates a thread that died after it forwarded a packet, before it removed
 * the packet from the incoming ring.  Return: 1; 0 if the last action of the
 * thread was another one.
 */
static u32 pass_half(u32 torn)
{
	struct ang_fabric *fab = g.h->fab;
	struct ang_node *n = ang_node(fab, torn);
	u32 head = (u32)n->pass.key;
	u32 in = (u32)(n->pass.key >> 32) - 1;
	const struct ang_port *out = ang_port(fab, n, n->pass.out / ANGARA_VC_NUM);
	struct ang_ring *r;

	if (!n->pass.key)
		return 0;
	r = ang_ring(fab, n, in / ANGARA_VC_NUM, in % ANGARA_VC_NUM);
	if (r->head != head + 1 || r->tail - head > fab->cfg.depth ||
	    ang_ring(fab, ang_node(fab, out->peer), out->far,
		     n->pass.out % ANGARA_VC_NUM)->put != n->pass.tail)
		return 0;
	r->head = head;
	return 1;
}

/*
 * Return: number of packets dropped as stale; a packet that is sent twice
 * counts there.
 */
static u64 stale(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < g.h->nodes; i++)
		sum += ang_node(g.h->fab, i)->drops[ANGARA_DROP_STALE];
	return sum;
}

/* Recovers after the death of the thread that held @torn.  The lists of its view are lost. */
static void recover(u32 torn)
{
	struct host *h = g.h;

	host_freeze(h, torn, 1);
	EXPECT_EQ(ang_recover_find(h->fab), 1);
	EXPECT(ang_recover_torn(h->fab, torn));
	ang_view_init(&h->v, h->fab, &h->ops, h);
	ang_recover(&h->v);
	EXPECT(!ang_recover_torn(h->fab, torn));
	EXPECT(torn >= h->nodes ||
	       !ang_dom(h->fab, ang_node(h->fab, torn), 0)->pkey);
	host_run(h);
}

static void end(u32 torn)
{
	u32 i;

	for (i = 0; i < g.n; i++) {
		if (i == torn)
			free(g.ctx[i]);
		else
			ctx_del(g.ctx[i]);
	}
	free(g.ctx);
	EXPECT_EQ(g.h->faults, 0);
	host_run(g.h);
	invariants(g.h->fab, 0);
	host_free(g.h);
}

/* All operations end, with an error if and only if they involve the node that was reset. */
static void transfers(void)
{
	struct angara_cqe cqe;
	u32 steps, i, k, failed = 0, halves = 0;

	for (steps = 0; steps < 200; steps += 3) {
		u32 torn = steps % 8;

		start();
		run_steps(&g.h->v, steps);
		halves += pass_half(torn);
		recover(torn);
		EXPECT_EQ(stale(), 0);
		for (i = 0; i < g.n; i++) {
			for (k = 0; i != torn && k < OPS; k++) {
				EXPECT(poll_cq(g.ctx[i], &cqe));
				if (cqe.status == ANGARA_ST_OK)
					continue;
				EXPECT_EQ(cqe.cookie, torn);
				/*
				 * The context of a later operation does not
				 * exist.
				 */
				EXPECT(cqe.status == ANGARA_ST_UNREACHABLE ||
				       cqe.status == ANGARA_ST_TARGET);
				EXPECT_EQ(cqe.node, torn);
				failed += cqe.status == ANGARA_ST_UNREACHABLE;
			}
			EXPECT(i == torn || !poll_cq(g.ctx[i], &cqe));
		}
		end(torn);
	}
	EXPECT(failed > 0 && halves > 0);
}

/*
 * If a tree loses the row of router @torn, and those of its switches if it is a
 * keeper, all other rows go down.
 */
static void tree_goes_down(u32 torn)
{
	struct ttree *t;
	u16 pe[64];
	u32 state, i;

	g.h = host_new("kns:4x2", &cfg_tight);
	group_new(&g, 1, 4096);
	for (i = 0; i < g.n; i++)
		pe[i] = 1;
	t = tree_over(g.h, 0, 5, g.ctx, g.n, pe, 1);
	coll_barrier(t);
	/* A switch that is not in the tree does not affect it. */
	state = angara_tree_has(&t->rows[torn]) ? ANGARA_TREE_STATE_DOWN :
						  ANGARA_TREE_STATE_UP;
	recover(torn);
	for (i = 0; i < g.h->v.topo.routers; i++) {
		u32 lost = i == torn || host_keeper(g.h, i) == torn;

		if (!angara_tree_has(&t->rows[i]))
			continue;
		EXPECT_EQ(ang_node(g.h->fab, i)->tree[t->tree].state,
			  lost ? ANGARA_TREE_STATE_UNSET : state);
		if (lost)
			t->rows[i] = (struct angara_tree_row){
				.to_root = ANGARA_PORT_NONE };
	}
	tree_del(t);
	end(torn);
}

/* Recover leaves below a switch, the root, and switches. */
static void switches(void)
{
	struct ang_topo_why why;
	struct ang_topo topo;
	u32 i;

	EXPECT(ang_topo_read(&topo, "kns:4x2", &why));
	for (i = 0; i < topo.routers; i++)
		tree_goes_down(i);
}

const struct test_case recover_cases[] = {
	{ "a node is reset among transfers", transfers },
	{ "a node or a switch is reset below a switch", switches },
	{ NULL, NULL },
};
