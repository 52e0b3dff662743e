// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Nodes whose server is lost: operations that need them end and name one of
 * them, others continue.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

static struct group g;
static u32 gone[64];
static u32 num_gone;
static int cut;		/* packets to lost routers are dropped at their links */

/* Carries packets; after the loss, drops packets to lost routers at their links. */
static int pump(struct host *h)
{
	int any = 0;
	u32 i;

	if (!cut)
		return twins_pump(h);
	for (i = 0; i < num_gone; i++)
		any |= host_drain(h, gone[i]);
	return any;
}

static void start(const char *dims, u64 here)
{
	struct ang_cfg cfg = cfg_tight;
	u32 i;

	cut = 0;
	num_gone = 0;
	cfg.train = 2;
	cfg.ops = 16;
	g.h = host_twins(dims, &cfg, here, pump);
	group_new(&g, 1, 8192);
	for (i = 0; i < g.h->v.topo.routers; i++)
		if (!(here >> host_keeper(g.h, i) & 1))
			gone[num_gone++] = i;
}

static int is_gone(u32 node)
{
	return !(g.h->here >> node & 1);
}

/* The process that hosts the other nodes is lost. */
static void lose(void)
{
	cut = 1;
	host_abandon_twin(g.h);
	ang_remote_lost(&g.h->v, gone, num_gone);
	host_run(g.h);
}

/* Checks and frees the fabric that remains.  Its twin is ignored from now on. */
static void end(void)
{
	struct host *h = g.h;
	u32 i;

	for (i = 0; i < g.n; i++) {
		if (is_gone(g.ctx[i]->node))
			free(g.ctx[i]);
		else
			ctx_del(g.ctx[i]);
	}
	free(g.ctx);
	EXPECT_EQ(h->faults, 0);
	host_run(h);
	host_free(h);
}

/* If the first lost router is a switch, the error names its keeper. */
static void behind_switches(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 8192, 8);
	struct angara_cqe cqe;
	u32 at;

	start("kns:4x2", 0xF0);
	at = ang_topo_neighbor(&g.h->v.topo, 5,
			       ang_topo_route(&g.h->v.topo, 5, 1));
	EXPECT(at >= g.h->nodes && is_gone(host_keeper(g.h, at)));
	post(g.ctx[5], &w, NULL);
	kick(g.ctx[5]);
	run_steps(&g.h->v, 3);
	lose();
	EXPECT_EQ(finish(g.ctx[5], &cqe), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(cqe.node, host_keeper(g.h, at));
	/* Operations that are posted after the loss get the same error. */
	post(g.ctx[5], &w, NULL);
	kick(g.ctx[5]);
	EXPECT_EQ(finish(g.ctx[5], &cqe), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(cqe.node, host_keeper(g.h, at));
	end();
}

static u32 link_events(u32 node, u32 *links)
{
	struct angara_hw_event ev;
	u32 n = 0;

	*links = 0;
	while (aeq_poll(g.h, node, &ev)) {
		if (ev.type != ANGARA_AEV_LINK_DOWN)
			continue;
		n++;
		*links |= 1U << le32_to_cpu(ev.index);
		EXPECT_EQ(le32_to_cpu(ev.value),
			  ang_topo_neighbor(&g.h->v.topo, node,
					    le32_to_cpu(ev.index)));
		EXPECT(is_gone(le32_to_cpu(ev.value)));
	}
	return n;
}

/*
 * Each node puts to or gets from each node, until some nodes are lost.  An operation on a
 * lost node may end with an error, all others succeed.
 */
static void transfers(void)
{
	u32 steps, i, k, lost;
	struct angara_cqe cqe;

	for (steps = 0; steps < 120; steps += 7) {
		start("2x2x2", steps % 2 ? 0x0F : 0x33);
		for (i = 0; i < 8; i++) {
			for (k = 0; k < 8; k++) {
				struct angara_wqe w =
					wqe_p2p(k % 2 ? ANGARA_OP_PUT :
							ANGARA_OP_GET, k, 0, 0,
						8192, 8000);

				w.cookie = cpu_to_le64(k);
				post(g.ctx[i], &w, NULL);
			}
			kick(g.ctx[i]);
		}
		for (k = 0; k < steps; k++) {
			run_steps(&g.h->v, 1);
			run_steps(&g.h->twin->v, 1);
			twins_pump(g.h);
		}
		lose();
		for (i = 0, lost = 0; i < 8; i++) {
			if (is_gone(i))
				continue;
			for (k = 0; k < 8; k++) {
				EXPECT(poll_cq(g.ctx[i], &cqe));
				if (!is_gone((u32)cqe.cookie))
					EXPECT_EQ(cqe.status, ANGARA_ST_OK);
				if (cqe.status == ANGARA_ST_OK)
					continue;
				EXPECT_EQ(cqe.status, ANGARA_ST_UNREACHABLE);
				EXPECT(is_gone(cqe.node));
				lost++;
			}
			EXPECT(!poll_cq(g.ctx[i], &cqe));
		}
		EXPECT(lost > 0 && lost <= 16);
		end();
	}
}

/* Trees with a link to a lost node go down, others do not. */
static void trees(void)
{
	static const u16 all[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	static const u16 half[8] = { 1, 1, 1, 1 };
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, 1, 0, 8192, 4096);
	struct ttree *t, *own;
	struct angara_cqe cqe;
	u32 steps, i, links;

	for (steps = 0; steps < 60; steps += 3) {
		start("2x2x2", 0x0F);
		t = tree_over(g.h, 1, steps % 8, g.ctx, g.n, all, 1);
		own = tree_over(g.h, 2, steps % 4, g.ctx, g.n, half, 1);
		for (i = 0; i < 8; i++) {
			post(g.ctx[i], &w, NULL);
			kick(g.ctx[i]);
		}
		for (i = 0; i < steps; i++) {
			run_steps(&g.h->v, 1);
			run_steps(&g.h->twin->v, 1);
			twins_pump(g.h);
		}
		lose();
		for (i = 0; i < 4; i++) {
			EXPECT(poll_cq(g.ctx[i], &cqe));
			EXPECT(cqe.status == ANGARA_ST_OK ||
			       (cqe.status == ANGARA_ST_TREE_DOWN &&
				is_gone(cqe.node)));
			EXPECT_EQ(link_events(i, &links), 2);
			EXPECT_EQ(links, 0x30);
			EXPECT_EQ(adm_op(g.h, i, ANGARA_ADM_JOIN, 0, 1),
				  ANGARA_ADM_ST_DOWN);
		}
		coll_allreduce(own, 3000);
		coll_reduce(own, 3, 8);
		for (i = 0; i < 8; i++)
			if (is_gone(i))
				t->rows[i].is_root = 0,
				t->rows[i].to_root = ANGARA_PORT_NONE;
		tree_del(t);
		tree_del(own);
		end();
	}
}

/* Operations that are posted after the loss fail at once. */
static void afterwards(void)
{
	static const u16 pe[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct angara_tree_row rows[8];
	struct angara_topo topo = { .ndims = 3, .dims = { 2, 2, 2, 1 } };
	struct angara_cqe cqe;
	struct angara_wqe w;
	u32 op, links;

	start("2x2x2", 0x0F);
	lose();
	for (op = ANGARA_OP_PUT; op <= ANGARA_OP_GET; op++) {
		w = wqe_p2p(op, 6, 0, 0, 8192, 100);
		post(g.ctx[1], &w, NULL);
		kick(g.ctx[1]);
		EXPECT_EQ(finish(g.ctx[1], &cqe), ANGARA_ST_UNREACHABLE);
		/* The path takes X first, so the first lost node on it is 6. */
		EXPECT_EQ(cqe.node, 6);
		w = wqe_p2p(op, 2, 0, 0, 8192, 100);
		post(g.ctx[1], &w, NULL);
		kick(g.ctx[1]);
		EXPECT_EQ(finish(g.ctx[1], &cqe), ANGARA_ST_OK);
	}
	memset(rows, 0, sizeof(rows));
	EXPECT(angara_tree_build(&topo, 1, pe, 5, rows) == 8);
	rows[1].pkey = PKEY;
	EXPECT_EQ(adm_row(g.h, 1, &rows[1]), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(g.h, 1, ANGARA_ADM_JOIN, 0, 5), ANGARA_ADM_ST_DOWN);
	/* The loss is reported once, and again to a driver that restarts. */
	EXPECT_EQ(link_events(2, &links), 2);
	ang_remote_lost(&g.h->v, gone, num_gone);
	host_run(g.h);
	EXPECT_EQ(link_events(2, &links), 0);
	host_reg(g.h, 2, ANGARA_REG_CONTROL, 0);
	host_run(g.h);
	memset(g.h->node[2].aeq, 0, AEQ_ENTRIES * sizeof(*g.h->node[2].aeq));
	memset(g.h->node[2].acq, 0, ADM_ENTRIES * sizeof(*g.h->node[2].acq));
	g.h->node[2].asq_pi = g.h->node[2].acq_ci = g.h->node[2].aeq_ci = 0;
	host_reg(g.h, 2, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	host_run(g.h);
	EXPECT_EQ(link_events(2, &links), 2);
	free(g.ctx[2]);
	g.ctx[2] = ctx_new(g.h, 2, 0, PKEY, 3, 3);
	end();
}

/*
 * Nodes 0 and 2 of a ring of 5 remain.  They are not adjacent, and no intact
 * path connects them.
 */
static void apart(void)
{
	static const u16 pe[5] = { 1 };
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 0, 0, 0, 8192, 8);
	struct angara_adm_cmd get = { .opcode = ANGARA_ADM_TREE_GET };
	struct angara_adm_cpl cpl;
	struct angara_cqe cqe;
	struct ttree *t;

	start("5", 0x05);
	t = tree_over(g.h, 0, 0, g.ctx, 1, pe, 1);
	lose();
	post(g.ctx[2], &w, NULL);
	kick(g.ctx[2]);
	EXPECT_EQ(finish(g.ctx[2], &cqe), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(cqe.node, 1);
	/* A tree that has no lost node stays up. */
	EXPECT_EQ(adm(g.h, 0, &get, &cpl), ANGARA_ADM_ST_OK);
	EXPECT_EQ(cpl.row.state, ANGARA_TREE_STATE_UP);
	tree_del(t);
	end();
	/* On a ring of 4 the path from 0 to 2 is over 1, the path back over 3. */
	start("4", 0x07);
	lose();
	w.dst_node = cpu_to_le32(2);
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	EXPECT_EQ(finish(g.ctx[0], &cqe), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(cqe.node, 3);
	end();
}

/*
 * Lets a packet of node 1 arrive at node 0, over the link from port 1 of node
 * 1.
 */
static void arrive(const struct ang_pkt *p, u32 vc, const void *data)
{
	EXPECT(ang_remote_give(&g.h->v, 1, 1, vc, p, data));
	run_steps(&g.h->v, 10000);
}

/* Takes the packet that node 0 has sent to node 1. */
static struct ang_pkt leaves(u32 vc)
{
	const void *data;
	struct ang_pkt p;
	const struct ang_pkt *head;

	ang_remote_look(&g.h->v, 1);
	head = ang_remote_head(&g.h->v, 1, 1, vc, &data);
	EXPECT(head);
	p = *head;
	ang_remote_pop(&g.h->v, 1, 1, vc);
	return p;
}

/*
 * The nodes behind node 0 of a ring return in a later era.  Requests of the
 * earlier era are dropped.
 */
static void return_to_one(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 8192, 8);
	struct ang_pkt p, put = {
		.type = ANG_PKT_PUT, .npkts = 1, .src_node = 1, .len = 8,
		.flags = ANG_PF_LAST, .pkey = PKEY, .off = 4096,
	};
	struct angara_cqe cqe;
	struct ang_node *n;
	u32 links, era;

	start("3", 1);
	n = ang_node(g.h->fab, 0);
	lose();
	EXPECT(ang_remote_settled(&g.h->v));
	EXPECT_EQ(link_events(0, &links), 2);
	era = g.h->fab->lost + 3;
	ang_remote_back(&g.h->v, gone, num_gone, era);
	run_steps(&g.h->v, 10000);
	EXPECT(ang_links_perfect(g.h->fab) && !g.h->fab->broken);
	EXPECT_EQ(g.h->fab->lost, era);
	EXPECT_EQ(n->lost, era);
	EXPECT_EQ(n->dead_links, 0);
	put.life = era - 1;
	arrive(&put, ANGARA_VC_REQ, "earlier");
	EXPECT_EQ(n->drops[ANGARA_DROP_STALE], 1);
	put.life = era;
	arrive(&put, ANGARA_VC_REQ, "present");
	EXPECT_EQ(n->drops[ANGARA_DROP_STALE], 1);
	EXPECT(!memcmp(g.ctx[0]->buf + 4096, "present", 8));
	p = leaves(ANGARA_VC_RSP);
	EXPECT(p.type == ANG_PKT_ACK && !p.status);
	EXPECT_EQ(p.bytes, era);
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	run_steps(&g.h->v, 10000);
	EXPECT(!poll_cq(g.ctx[0], &cqe));
	p = leaves(ANGARA_VC_REQ);
	EXPECT(p.type == ANG_PKT_PUT && p.life == era);
	/* The operation ends if the nodes are lost again. */
	cut = 1;
	ang_remote_lost(&g.h->v, gone, num_gone);
	EXPECT_EQ(finish(g.ctx[0], &cqe), ANGARA_ST_UNREACHABLE);
	end();
}

/* A node that joins a running fabric takes no answer of an earlier era. */
static void one_joins(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 8192, 8);
	struct angara_cqe cqe;
	struct ang_pkt p, ack = {
		.type = ANG_PKT_ACK, .npkts = 1, .src_node = 1, .len = 8,
		.pkey = PKEY,
	};
	struct ang_node *n;

	start("3", 1);
	n = ang_node(g.h->fab, 0);
	ang_remote_join(&g.h->v, 7);
	run_steps(&g.h->v, 10000);
	cut = 1;
	host_abandon_twin(g.h);
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	run_steps(&g.h->v, 10000);
	p = leaves(ANGARA_VC_REQ);
	EXPECT_EQ(p.life, 7);
	ack.gen = p.gen;
	ack.slot = p.slot;
	ack.bytes = 6;
	arrive(&ack, ANGARA_VC_RSP, NULL);
	EXPECT_EQ(n->drops[ANGARA_DROP_STALE], 1);
	EXPECT(!poll_cq(g.ctx[0], &cqe));
	ack.bytes = 7;
	arrive(&ack, ANGARA_VC_RSP, NULL);
	EXPECT_EQ(n->drops[ANGARA_DROP_STALE], 1);
	EXPECT(poll_cq(g.ctx[0], &cqe) && !cqe.status);
	ang_remote_lost(&g.h->v, gone, num_gone);
	host_run(g.h);
	end();
}

const struct test_case lost_cases[] = {
	{ "lost: puts and gets", transfers },
	{ "lost: trees", trees },
	{ "lost: operations after the loss", afterwards },
	{ "lost: remaining nodes may be cut off", apart },
	{ "lost: nodes return", return_to_one },
	{ "lost: a node joins", one_joins },
	{ "lost: nodes behind switches", behind_switches },
	{ NULL, NULL },
};
