// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Links that go down or have faults: which operations end, which packets are
 * dropped, what continues, and how long a fault lasts.
 */
#include <string.h>

#include "test.h"
#include "coll.h"
#include "msgs.h"

#define TENTH	(ANGARA_FAULT_ONE / 10)

static struct group g;

/* Sets a link without running the fabric. */
static void set_now(u32 router, u32 port, const struct angara_adm_link *link)
{
	struct angara_adm_link arg = *link;

	arg.port = cpu_to_le32(port);
	EXPECT_EQ(ang_link_set(&g.h->v, ang_node(g.h->fab, router), &arg),
		  ANGARA_ADM_ST_OK);
}

static void order_now(u32 router, u32 port, u32 what)
{
	struct angara_adm_link link = { .what = (u8)what };

	set_now(router, port, &link);
}

static void order(u32 router, u32 port, u32 what)
{
	struct angara_adm_link link = { .what = (u8)what };

	EXPECT_EQ(adm_link(g.h, router, port, &link), ANGARA_ADM_ST_OK);
}

static struct angara_adm_link delayed(u32 cycles)
{
	return (struct angara_adm_link){ .delay = cpu_to_le32(cycles),
					 .what = ANGARA_LINK_FAULT };
}

/*
 * On a torus of 3x3 the route from node 0 to 4 is over 1, the route back over
 * 3.  The link from 0 to 1 delays a request.  The link between 3 and 0 goes
 * down, which ends the operation of that request, and then comes up again.
 * Then the request arrives, and node 4 must not execute it.
 */
static void late_request(u32 op)
{
	struct angara_adm_link slow = delayed(100000);
	struct angara_wqe w = wqe_p2p(op, 4, 0, 0, 8192, 64);
	struct tarea *area = NULL;
	struct angara_cqe cqe;
	u64 stale;

	g.h = host_new("3x3", &cfg_tight);
	group_new(&g, 1, 8192);
	if (op == ANGARA_OP_SEND)
		area = area_new(g.ctx[4], 14);
	if (op == ANGARA_OP_ATOMIC) {
		w.redop = ANGARA_ATOMIC_SUM;
		w.type = ANGARA_TYPE_UINT32;
	}
	memset(g.ctx[0]->buf, 1, 8192);
	EXPECT_EQ(adm_link(g.h, 0, 0, &slow), ANGARA_ADM_ST_OK);
	g.h->v.patient = true;
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	run_steps(&g.h->v, 50);
	EXPECT(ang_port(g.h->fab, ang_node(g.h->fab, 0), 0)->retry.held > 0);
	order_now(0, 2, ANGARA_LINK_DOWN);
	run_steps(&g.h->v, 200);
	EXPECT(poll_cq(g.ctx[0], &cqe));
	EXPECT_EQ(cqe.status, ANGARA_ST_UNREACHABLE);
	EXPECT(ang_lost_seen(&g.h->v));
	order_now(3, 3, ANGARA_LINK_UP);
	run_steps(&g.h->v, 200);
	memset(g.ctx[4]->buf, 7, 2 * 8192);
	stale = ang_node(g.h->fab, 4)->drops[ANGARA_DROP_STALE];
	g.h->v.patient = false;
	host_run(g.h);
	EXPECT_EQ(ang_node(g.h->fab, 4)->drops[ANGARA_DROP_STALE], stale + 1);
	EXPECT_EQ(g.ctx[4]->buf[8192], 7);
	EXPECT(!area || !area_next(area, NULL));
	g.h->dropped += 1;
	/* An operation that starts now is carried out. */
	EXPECT_EQ(status_of(g.ctx[0], w), ANGARA_ST_OK);
	EXPECT(area || g.ctx[4]->buf[8192] != 7);
	if (area)
		area_free(area, area_next(area, NULL));
	group_del(&g);
	free(area);
}

static void late_requests(void)
{
	late_request(ANGARA_OP_PUT);
	late_request(ANGARA_OP_ATOMIC);
	late_request(ANGARA_OP_SEND);
}

/*
 * Packets that a link has kept when it goes down do not arrive, even if the
 * link is up again before its next turn.
 */
static void up_at_once(void)
{
	struct angara_adm_link slow = delayed(100000);
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 8192, 64);
	struct ang_retry *r;
	struct angara_cqe cqe;

	g.h = host_new("4", &cfg_tight);
	group_new(&g, 1, 8192);
	r = &ang_port(g.h->fab, ang_node(g.h->fab, 0), 0)->retry;
	EXPECT_EQ(adm_link(g.h, 0, 0, &slow), ANGARA_ADM_ST_OK);
	g.h->v.patient = true;
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	run_steps(&g.h->v, 50);
	EXPECT(r->held > 0);
	order_now(0, 0, ANGARA_LINK_DOWN);
	/* All nodes act on the change, while the links have no turn. */
	while (!ang_lost(&g.h->v, ang_node(g.h->fab, 0)))
		g.h->v.stop = ~0ULL;
	EXPECT_EQ(r->held, 0);
	g.h->v.patient = false;
	EXPECT_EQ(finish(g.ctx[0], &cqe), ANGARA_ST_UNREACHABLE);
	order(0, 0, ANGARA_LINK_UP);
	EXPECT(ang_node(g.h->fab, 0)->drops[ANGARA_DROP_LINK] > 0);
	g.h->dropped += ang_node(g.h->fab, 0)->drops[ANGARA_DROP_LINK];
	EXPECT_EQ(status_of(g.ctx[0], w), ANGARA_ST_OK);
	group_del(&g);
}

/* Node 0 reaches node 2 by a link that a tree over 0 and 1 does not use. */
static void other_links(void)
{
	static const u16 pe[9] = { 1, 1 };
	struct ttree *t;

	g.h = host_new("3x3", &cfg_tight);
	group_new(&g, 1, 8192);
	t = tree_over(g.h, 0, 0, g.ctx, g.n, pe, 1);
	order(0, 1, ANGARA_LINK_DOWN);
	order(4, 0, ANGARA_LINK_DOWN);
	coll_allreduce(t, 4096);
	coll_reduce(t, 1, 1000);
	coll_reduce(t, 0, 1000);
	coll_bcast(t, 0, 5000);
	tree_del(t);
	/* A tree may also be set while links that it does not use are down. */
	t = tree_over(g.h, 0, 0, g.ctx, g.n, pe, 2);
	coll_allreduce(t, 4096);
	order(0, 0, ANGARA_LINK_DOWN);
	EXPECT_EQ(ang_node(g.h->fab, 0)->tree[0].state, ANGARA_TREE_STATE_DOWN);
	EXPECT_EQ(ang_node(g.h->fab, 1)->tree[0].state, ANGARA_TREE_STATE_DOWN);
	tree_del(t);
	group_del(&g);
}

/* On a ring of 4, sets a tree from 2 over 3 to the root 0; results go over 1. */
static void rows_set(u32 from, u32 epoch)
{
	static const struct {
		u32 node, root, to_root, ports, pe;
	} rows[] = {
		{ 2, 0, 0, 0, 1 }, { 3, 0, 0, 2, 0 }, { 0, 1, ANGARA_PORT_NONE, 2, 1 },
	};
	u32 i;

	for (i = from; i < NUM(rows); i++) {
		struct angara_tree_row row = {
			.is_root = (u8)rows[i].root, .to_root = (u8)rows[i].to_root,
			.ports = rows[i].ports, .port_sum = (u8)ang_count(rows[i].ports),
			.pe = (u16)rows[i].pe, .pkey = PKEY, .epoch = (u16)epoch,
		};

		EXPECT_EQ(adm_row(g.h, rows[i].node, &row), ANGARA_ADM_ST_OK);
		/*
		 * If the leaf's row is set already, the root's row opens the
		 * tree, which then goes down: it cannot be joined.
		 */
		if (row.pe && !from)
			EXPECT_EQ(adm_join(g.h, rows[i].node, 0, 0, 0), ANGARA_ADM_ST_OK);
	}
}

static void rows_clear(void)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_TREE_CLEAR };
	u32 i;

	for (i = 0; i < 4; i++)
		if (i != 1) {
			cmd.set.router = cpu_to_le32(i);
			EXPECT_EQ(adm(g.h, i, &cmd, NULL), ANGARA_ADM_ST_OK);
		}
}

static void reduce_post(u32 node)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_REDUCE, 0, 0, 8192, 512);

	w.dst_node = cpu_to_le32(2);
	post(g.ctx[node], &w, NULL);
	kick(g.ctx[node]);
}

/* Return: status of the next completion at a node; an error must name node 2. */
static u32 ended(u32 node)
{
	struct angara_cqe cqe;

	host_run(g.h);
	EXPECT(poll_cq(g.ctx[node], &cqe));
	EXPECT(cqe.status == ANGARA_ST_OK || le32_to_cpu(cqe.node) == 2);
	return le16_to_cpu(cqe.status);
}

static void results(void)
{
	struct angara_wqe all = wqe_coll(ANGARA_OP_ALLREDUCE, 0, 0, 8192, 512);

	g.h = host_new("4", &cfg_tight);
	group_new(&g, 1, 8192);
	rows_set(0, 1);
	reduce_post(2);
	reduce_post(0);
	EXPECT(ended(0) == ANGARA_ST_OK && ended(2) == ANGARA_ST_OK);
	/* Only a result to node 2 uses the link between 1 and 2. */
	order(1, 0, ANGARA_LINK_DOWN);
	post(g.ctx[2], &all, NULL);
	kick(g.ctx[2]);
	post(g.ctx[0], &all, NULL);
	kick(g.ctx[0]);
	EXPECT(ended(0) == ANGARA_ST_OK && ended(2) == ANGARA_ST_OK);
	reduce_post(0);
	host_run(g.h);
	EXPECT_EQ(ang_node(g.h->fab, 2)->tree[0].state, ANGARA_TREE_STATE_UP);
	reduce_post(2);
	EXPECT_EQ(ended(2), ANGARA_ST_TREE_DOWN);
	ended(0);
	EXPECT_EQ(ang_node(g.h->fab, 0)->tree[0].state, ANGARA_TREE_STATE_DOWN);
	rows_clear();
	order(1, 0, ANGARA_LINK_UP);
	/* The operation is in flight when the link goes down. */
	rows_set(0, 2);
	reduce_post(2);
	host_run(g.h);
	order(1, 0, ANGARA_LINK_DOWN);
	EXPECT_EQ(ended(2), ANGARA_ST_TREE_DOWN);
	rows_clear();
	/* The operation is posted before the tree is open. */
	{
		struct angara_tree_row row = {
			.to_root = 0, .pe = 1, .pkey = PKEY, .epoch = 3,
		};

		EXPECT_EQ(adm_row(g.h, 2, &row), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_join(g.h, 2, 0, 0, 0), ANGARA_ADM_ST_OK);
		reduce_post(2);
		host_run(g.h);
		EXPECT_EQ(ang_node(g.h->fab, 2)->tree[0].state, ANGARA_TREE_STATE_UP);
		rows_set(1, 3);
	}
	EXPECT_EQ(ended(2), ANGARA_ST_TREE_DOWN);
	rows_clear();
	group_del(&g);
}

/* The root of a tree may be a switch, from which results of REDUCE go point to point. */
static void switch_root(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_REDUCE, 0, 0, 8192, 512);
	struct angara_tree_row root = {
		.is_root = 1, .to_root = ANGARA_PORT_NONE, .port_sum = 2,
		.pkey = PKEY, .epoch = 1,
	};
	const struct angara_tree_row leaf = { .pe = 1, .pkey = PKEY, .epoch = 1 };
	struct angara_cqe cqe;
	u32 sw = 0, i;

	g.h = host_new("kns:4x2", &cfg_tight);
	group_new(&g, 1, 8192);
	for (i = 0; i < 2; i++) {
		u32 far;

		sw = ang_topo_peer(&g.h->v.topo, i, 0, &far);
		root.ports |= 1ULL << far;
		EXPECT_EQ(adm_row(g.h, i, &leaf), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_join(g.h, i, 0, 0, 0), ANGARA_ADM_ST_OK);
	}
	EXPECT_EQ(adm_row(g.h, sw, &root), ANGARA_ADM_ST_OK);
	host_run(g.h);
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	host_run(g.h);
	/* The tree does not use the link of node 2. */
	order(2, 0, ANGARA_LINK_DOWN);
	EXPECT(!poll_cq(g.ctx[0], &cqe));
	EXPECT_EQ(ang_node(g.h->fab, 0)->tree[0].state, ANGARA_TREE_STATE_UP);
	post(g.ctx[1], &w, NULL);
	kick(g.ctx[1]);
	host_run(g.h);
	for (i = 0; i < 2; i++) {
		EXPECT(poll_cq(g.ctx[i], &cqe));
		EXPECT_EQ(cqe.status, ANGARA_ST_OK);
	}
	/* There are no routes to a switch. */
	for (i = 0; i < ANG_WAYS; i++)
		EXPECT(ang_node(g.h->fab, 0)->way[i].to != sw + 1);
	group_del(&g);
}

static void lifetime(void)
{
	struct angara_adm_link bad = { .loss = cpu_to_le32(TENTH),
				       .what = ANGARA_LINK_FAULT };
	u32 sw;

	g.h = host_new("4", &cfg_tight);
	EXPECT_EQ(adm_link(g.h, 1, 0, &bad), ANGARA_ADM_ST_OK);
	order(2, 0, ANGARA_LINK_DOWN);
	driver_new(g.h, 0);
	EXPECT_EQ(g.h->fab->flawed, 3);
	driver_new(g.h, 1);
	EXPECT_EQ(g.h->fab->flawed, 2);
	EXPECT_EQ(g.h->fab->broken, 2);
	/* At first both ends have set the link down, later only one end. */
	order(3, 1, ANGARA_LINK_DOWN);
	driver_new(g.h, 2);
	EXPECT_EQ(g.h->fab->broken, 2);
	driver_new(g.h, 3);
	EXPECT(ang_links_perfect(g.h->fab) && !g.h->fab->broken);
	host_free(g.h);
	/* The driver of a switch's keeper is replaced: the faults of the switch end. */
	g.h = host_new("kns:4x2", &cfg_tight);
	sw = g.h->nodes;
	order(sw, 0, ANGARA_LINK_DOWN);
	EXPECT_EQ(adm_link(g.h, sw, 1, &bad), ANGARA_ADM_ST_OK);
	driver_new(g.h, host_keeper(g.h, sw));
	EXPECT(ang_links_perfect(g.h->fab) && !g.h->fab->broken);
	host_free(g.h);
}

/*
 * A thread dies while it holds node 0.  A link of the node has become perfect,
 * but still holds packets from the time when it had faults.
 */
static void torn(void)
{
	struct angara_adm_link slow = delayed(100000), fine = delayed(0);
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 8192, 64);
	struct host *h = g.h = host_new("4", &cfg_tight);
	u32 i;

	group_new(&g, 1, 8192);
	EXPECT_EQ(adm_link(h, 0, 0, &slow), ANGARA_ADM_ST_OK);
	order(0, 1, ANGARA_LINK_DOWN);
	h->v.patient = true;
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	run_steps(&h->v, 50);
	EXPECT(ang_port(h->fab, ang_node(h->fab, 0), 0)->retry.held > 0);
	set_now(0, 0, &fine);
	EXPECT_EQ(h->fab->flawed, 3);
	host_freeze(h, 0, 1);
	EXPECT_EQ(ang_recover_find(h->fab), 1);
	ang_view_init(&h->v, h->fab, &h->ops, h);
	ang_recover(&h->v);
	host_run(h);
	EXPECT(ang_links_perfect(h->fab) && !h->fab->broken);
	free(g.ctx[0]);
	for (i = 1; i < g.n; i++)
		ctx_del(g.ctx[i]);
	free(g.ctx);
	host_free(h);
}

/* A fabric may begin with faults; they return when a driver is replaced. */
static void from_the_start(void)
{
	struct ang_cfg cfg = cfg_tight;
	u64 lost = 0;
	u32 i, k;

	cfg.fault = (struct ang_fault){ .loss = TENTH, .corrupt = TENTH };
	cfg.seed = 5;
	g.h = host_new("2x2x2", &cfg);
	EXPECT_EQ(g.h->fab->flawed, 8 * 6);
	group_new(&g, 1, 8192);
	for (k = 0; k < 200; k++)
		EXPECT_EQ(status_of(g.ctx[0], wqe_p2p(ANGARA_OP_PUT, k % 8, 0, 0,
						     8192, 4000)), ANGARA_ST_OK);
	group_del(&g);
	g.h = host_new("2x2x2", &cfg);
	for (i = 0; i < 8; i++) {
		struct angara_adm_link fine = delayed(0);

		EXPECT_EQ(adm_link(g.h, i, 0, &fine), ANGARA_ADM_ST_OK);
		driver_new(g.h, i);
		lost += ang_port(g.h->fab, ang_node(g.h->fab, i), 0)->retry.fault.loss;
	}
	EXPECT_EQ(lost, 8 * TENTH);
	EXPECT(ang_port(g.h->fab, ang_node(g.h->fab, 0), 0)->retry.rng !=
	       ang_port(g.h->fab, ang_node(g.h->fab, 1), 0)->retry.rng);
	host_free(g.h);
}

const struct test_case fault_cases[] = {
	{ "fault: requests of operations that have ended", late_requests },
	{ "fault: a link is down for a moment", up_at_once },
	{ "fault: links that a tree does not use", other_links },
	{ "fault: the route of a result", results },
	{ "fault: the root is a switch", switch_root },
	{ "fault: faults end with the driver that set them", lifetime },
	{ "fault: a node is reset whose link was made perfect", torn },
	{ "fault: a fabric that begins with faults", from_the_start },
	{ NULL, NULL },
};
