// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tables of routes that break a rule are refused, changes of routes that are
 * interrupted leave the old routes, and nodes without a route are reported.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

#define NONE	ANGARA_PORT_NONE

static struct group g;
static u8 *row;		/* memory of a node for a row */
static u64 row_at;
static u8 ports[16][16];	/* ports of the next table, by router and node */
static u16 heights[16][8];	/* heights of its ports */

static void start(const char *text)
{
	g.h = host_new(text, &cfg_tight);
	group_new(&g, 1, 8192);
}

static u32 row_bytes(void)
{
	return 2U * g.h->fab->nports + g.h->nodes;
}

static struct angara_adm_cmd row_cmd(u32 router)
{
	struct angara_adm_cmd cmd = adm_route_cmd(ANGARA_ROUTE_ROW);

	cmd.route.router = cpu_to_le32(router);
	cmd.route.length = cpu_to_le32(row_bytes());
	cmd.route.addr = cpu_to_le64(row_at);
	return cmd;
}

/* Passes all rows of the next table to the adapter of a node. */
static void rows_give(u32 node)
{
	u32 i, p;

	row = host_alloc(g.h, node, ANGARA_PAGE_SIZE, &row_at);
	for (i = 0; i < g.h->v.topo.routers; i++) {
		struct angara_adm_cmd cmd = row_cmd(i);

		for (p = 0; p < g.h->fab->nports; p++) {
			row[2 * p] = (u8)heights[i][p];
			row[2 * p + 1] = (u8)(heights[i][p] >> 8);
		}
		memcpy(row + 2 * g.h->fab->nports, ports[i], g.h->nodes);
		EXPECT_EQ(adm(g.h, node, &cmd, NULL), ANGARA_ADM_ST_OK);
	}
}

/* Return: status of a change; @bad: out: value of the answer */
static u32 change(u32 node, u32 what, u32 *bad)
{
	struct angara_adm_cmd cmd = adm_route_cmd(what);
	struct angara_adm_cpl cpl;
	u32 status = adm(g.h, node, &cmd, &cpl);

	if (bad)
		*bad = le32_to_cpu(cpl.value);
	return status;
}

/* A table that leads around a ring of four nodes by "+" only. */
static void all_plus(void)
{
	memset(ports, 0, sizeof(ports));
	memset(heights, 0, sizeof(heights));
}

/* A table that leads along the line of nodes 0 to 2, without node 3. */
static void line(void)
{
	u32 a, b;

	for (a = 0; a < 4; a++)
		for (b = 0; b < 4; b++)
			ports[a][b] = a == 3 || b == 3 ? NONE : b < a;
}

static u32 put_status(u32 from, u32 to, struct angara_cqe *cqe)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, to, 0, 0, 8192, 64);

	post(g.ctx[from], &w, NULL);
	kick(g.ctx[from]);
	return finish(g.ctx[from], cqe);
}

static void refused(u32 router)
{
	u32 was = g.h->fab->detour, bad;

	rows_give(0);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, &bad), ANGARA_ADM_ST_RULE);
	EXPECT_EQ(bad, router);
	EXPECT_EQ(g.h->fab->detour, was);
	EXPECT_EQ(put_status(0, 3, NULL), ANGARA_ST_OK);
}

static void bad_tables(void)
{
	u64 sent;

	start("4");
	all_plus();
	rows_give(0);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_OK);
	sent = ang_node(g.h->fab, 3)->cnt.hops;
	EXPECT_EQ(put_status(0, 3, NULL), ANGARA_ST_OK);
	EXPECT_EQ(ang_node(g.h->fab, 3)->cnt.hops, sent + 3);
	/* The port has no cable; then the next router has no route to the node. */
	ports[0][1] = 2;
	refused(0);
	all_plus();
	ports[1][3] = NONE;
	refused(0);
	/* Node 3 has no route back to node 0. */
	all_plus();
	ports[3][0] = NONE;
	refused(0);
	/* Packets to node 3 go back and forth between nodes 1 and 2, whatever the heights. */
	all_plus();
	ports[2][3] = 1;
	refused(0);
	heights[1][0] = 1;
	refused(0);
	heights[1][0] = 0;
	heights[2][1] = 1;
	refused(0);
	/* Along the ring a height may not grow. */
	all_plus();
	heights[2][0] = 0x100;
	refused(0);
	heights[1][0] = 0x200;
	heights[0][0] = 0x300;
	heights[3][0] = 0x400;
	/* From node 2 to 1 the route passes node 3. */
	refused(2);
	EXPECT_EQ(change(0, ANGARA_ROUTE_OWN, NULL), ANGARA_ADM_ST_OK);
	EXPECT(ang_links_perfect(g.h->fab));
	group_del(&g);
}

/* On a torus packets turn into channels of less height only. */
static void turns(void)
{
	u32 a, b;

	start("4x4");
	/* With rows of zeros, routes lead around a ring without end. */
	EXPECT_EQ(change(5, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_RULE);
	memset(heights, 0, sizeof(heights));
	for (a = 0; a < 16; a++)
		for (b = 0; b < 16; b++)
			ports[a][b] = (u8)ang_topo_route(&g.h->v.topo, a, b);
	rows_give(0);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_RULE);
	for (a = 0; a < 16; a++)
		heights[a][0] = heights[a][1] = 1;
	rows_give(0);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_OK);
	EXPECT_EQ(put_status(0, 15, NULL), ANGARA_ST_OK);
	EXPECT_EQ(change(0, ANGARA_ROUTE_OWN, NULL), ANGARA_ADM_ST_OK);
	group_del(&g);
}

/* Without bubble flow control heights have to decrease. */
static void no_bubble(void)
{
	u32 i;

	start("mesh:4");
	line();
	memset(heights, 0, sizeof(heights));
	rows_give(0);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_RULE);
	for (i = 0; i < 4; i++) {
		heights[i][0] = (u16)(3 - i);
		heights[i][1] = (u16)i;
	}
	rows_give(0);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_OK);
	EXPECT_EQ(put_status(0, 2, NULL), ANGARA_ST_OK);
	EXPECT_EQ(change(0, ANGARA_ROUTE_OWN, NULL), ANGARA_ADM_ST_OK);
	group_del(&g);
}

/* An operation that waits for its turn ends when its target has no route. */
static void no_route(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 3, 0, 0, 8192, 4096);
	struct angara_adm_cmd cmd = adm_route_cmd(ANGARA_ROUTE_USE);
	struct angara_cqe cqe;

	start("4");
	/* An operation that bypasses links would not wait. */
	g.h->v.packets = true;
	memset(heights, 0, sizeof(heights));
	line();
	rows_give(1);
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	run_steps(&g.h->v, 2);
	EXPECT_EQ(adm(g.h, 1, &cmd, NULL), ANGARA_ADM_ST_OK);
	EXPECT_EQ(finish(g.ctx[0], &cqe), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(le32_to_cpu(cqe.node), 3);
	EXPECT_EQ(put_status(0, 3, &cqe), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(le32_to_cpu(cqe.node), 3);
	EXPECT_EQ(put_status(3, 1, &cqe), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(put_status(2, 0, &cqe), ANGARA_ST_OK);
	EXPECT_EQ(put_status(3, 3, &cqe), ANGARA_ST_OK);
	EXPECT_EQ(change(2, ANGARA_ROUTE_OWN, NULL), ANGARA_ADM_ST_OK);
	EXPECT_EQ(put_status(0, 3, NULL), ANGARA_ST_OK);
	group_del(&g);
}

/* A REDUCE whose receiver the new routes do not reach takes its tree down. */
static void no_result(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_REDUCE, 0, 0, 8192, 64);
	const u16 pe[] = { 1, 1, 1, 1 };
	struct angara_cqe cqe;
	struct ttree *t;

	start("4");
	t = tree_new(g.h, 0, 0, pe, g.ctx, 4, 1);
	w.dst_node = cpu_to_le32(3);
	coll_reduce(t, 3, 64);
	memset(heights, 0, sizeof(heights));
	line();
	rows_give(0);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_OK);
	coll_reduce(t, 2, 64);
	coll_allreduce(t, 64);
	post(g.ctx[3], &w, NULL);
	kick(g.ctx[3]);
	EXPECT_EQ(finish(g.ctx[3], &cqe), ANGARA_ST_TREE_DOWN);
	EXPECT_EQ(le32_to_cpu(cqe.node), 3);
	EXPECT_EQ(change(0, ANGARA_ROUTE_OWN, NULL), ANGARA_ADM_ST_OK);
	tree_del(t);
	group_del(&g);
}

static void bad_arguments(void)
{
	struct angara_adm_cmd cmd;
	struct ang_topo_why why;
	struct ang_topo topo;
	u32 i;

	start("4");
	all_plus();
	rows_give(0);
	for (i = 0; i < 256; i++)
		if (i < ANGARA_ROUTE_ROW || i > ANGARA_ROUTE_OWN)
			EXPECT_EQ(change(0, i, NULL), ANGARA_ADM_ST_PARAM);
	for (i = 0; i < sizeof(cmd.route.reserved); i++) {
		cmd = row_cmd(0);
		cmd.route.reserved[i] = 1;
		EXPECT_EQ(adm(g.h, 0, &cmd, NULL), ANGARA_ADM_ST_PARAM);
	}
	cmd = row_cmd(4);
	EXPECT_EQ(adm(g.h, 0, &cmd, NULL), ANGARA_ADM_ST_PARAM);
	for (i = 1; i < 64; i++) {
		cmd = row_cmd(0);
		cmd.route.length = cpu_to_le32(row_bytes() - 1);
		cmd.route.offset = cpu_to_le32(i);
		EXPECT_EQ(adm(g.h, 0, &cmd, NULL), i == 1 ?
			  ANGARA_ADM_ST_OK : ANGARA_ADM_ST_PARAM);
	}
	cmd.route.offset = cpu_to_le32(~0U);
	EXPECT_EQ(adm(g.h, 0, &cmd, NULL), ANGARA_ADM_ST_PARAM);
	rows_give(0);
	cmd = row_cmd(0);
	cmd.route.addr = cpu_to_le64(row_at + ANGARA_PAGE_SIZE - row_bytes() + 1);
	EXPECT_EQ(adm(g.h, 0, &cmd, NULL), ANGARA_ADM_ST_PARAM);
	cmd.route.addr = cpu_to_le64(row_at + 2ULL * ANGARA_PAGE_SIZE);
	EXPECT_EQ(adm(g.h, 0, &cmd, NULL), ANGARA_ADM_ST_DMA);
	EXPECT_EQ(g.h->faults, 1);
	g.h->faults = 0;
	/*
	 * Nodes of a sealed fabric, and of one that several servers host, may not change
	 * routes.
	 */
	g.h->fab->cfg.sealed = 1;
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_SEALED);
	g.h->fab->cfg.sealed = 0;
	g.h->fab->cfg.remote = 1;
	EXPECT_EQ(change(0, ANGARA_ROUTE_OWN, NULL), ANGARA_ADM_ST_SEALED);
	g.h->fab->cfg.remote = 0;
	/* The largest fabric that has a table, and a larger one. */
	EXPECT(ang_topo_read(&topo, "32x32", &why));
	EXPECT_EQ(ang_detour_row(&topo), 1024 + 8);
	EXPECT(ang_topo_read(&topo, "33x32", &why));
	EXPECT_EQ(ang_detour_row(&topo), 0);
	i = g.h->fab->detour_row;
	g.h->fab->detour_row = 0;
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_FULL);
	g.h->fab->detour_row = i;
	group_del(&g);
}

/*
 * Posts a command of @node that changes routes.  The command cannot end, since node 2 is
 * frozen.
 */
static void post_stuck(u32 node, u32 what)
{
	struct host_node *n = &g.h->node[node];

	host_freeze(g.h, 2, 1);
	n->asq[n->asq_pi % ADM_ENTRIES] = adm_route_cmd(what);
	host_reg(g.h, node, ANGARA_REG_ASQ_DB, ++n->asq_pi);
	run_steps(&g.h->v, 1000);
	EXPECT(g.h->fab->detour & ANG_DETOUR_HALT);
}

/*
 * While routes change, requests and results wait, and other nodes cannot change
 * the routes.
 */
static void one_at_a_time(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 3, 0, 0, 8192, 64);
	struct angara_wqe reduce = wqe_coll(ANGARA_OP_REDUCE, 0, 0, 8192, 64);
	static const u16 pe[] = { 1, 0, 0, 1 };
	struct tctx *members[2];
	struct angara_adm_cmd cmd;
	struct angara_cqe cqe;
	struct host_node *n;
	struct ttree *t;
	u32 i;

	start("4");
	members[0] = g.ctx[0];
	members[1] = g.ctx[3];
	t = tree_new(g.h, 0, 0, pe, members, 2, 1);
	all_plus();
	rows_give(1);
	reduce.dst_node = cpu_to_le32(3);
	n = &g.h->node[0];
	post_stuck(0, ANGARA_ROUTE_USE);
	EXPECT_EQ(change(1, ANGARA_ROUTE_OWN, NULL), ANGARA_ADM_ST_EXISTS);
	cmd = row_cmd(1);
	EXPECT_EQ(adm(g.h, 1, &cmd, NULL), ANGARA_ADM_ST_EXISTS);
	post(g.ctx[1], &w, NULL);
	kick(g.ctx[1]);
	for (i = 0; i < 2; i++) {
		post(members[i], &reduce, NULL);
		kick(members[i]);
	}
	run_steps(&g.h->v, 1000);
	EXPECT(!poll_cq(g.ctx[1], &cqe) && !poll_cq(g.ctx[3], &cqe));
	host_freeze(g.h, 2, 0);
	EXPECT_EQ(finish(g.ctx[1], &cqe), ANGARA_ST_OK);
	EXPECT_EQ(finish(g.ctx[0], &cqe), ANGARA_ST_OK);
	EXPECT_EQ(finish(g.ctx[3], &cqe), ANGARA_ST_OK);
	EXPECT_EQ(n->acq[n->acq_ci++ % ADM_ENTRIES].status, ANGARA_ADM_ST_OK);
	EXPECT_EQ(g.h->fab->detour, 1);
	cmd = row_cmd(1);
	EXPECT_EQ(adm(g.h, 1, &cmd, NULL), ANGARA_ADM_ST_OK);
	EXPECT_EQ(change(1, ANGARA_ROUTE_OWN, NULL), ANGARA_ADM_ST_OK);
	tree_del(t);
	group_del(&g);
}

/* The node that changes the routes is reset: the old routes stay. */
static void reset(void)
{
	struct host_node *n;

	start("4");
	all_plus();
	rows_give(1);
	n = &g.h->node[0];
	ctx_del(g.ctx[0]);
	post_stuck(0, ANGARA_ROUTE_USE);
	host_reg(g.h, 0, ANGARA_REG_CONTROL, 0);
	run_steps(&g.h->v, 1000);
	EXPECT_EQ(g.h->fab->detour, 0);
	EXPECT_EQ(g.h->fab->detour_by, 1);
	EXPECT_EQ(ang_reg_read(&g.h->v, 0, ANGARA_REG_STATUS), ANGARA_STATUS_READY);
	host_freeze(g.h, 2, 0);
	run_steps(&g.h->v, 1000);
	EXPECT_EQ(g.h->fab->detour_by, 0);
	EXPECT(ang_links_perfect(g.h->fab) && !g.h->fab->broken);
	memset(n->acq, 0, ADM_ENTRIES * sizeof(*n->acq));
	n->asq_pi = n->acq_ci = 0;
	host_reg(g.h, 0, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	host_run(g.h);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_OK);
	EXPECT_EQ(put_status(1, 3, NULL), ANGARA_ST_OK);
	EXPECT_EQ(change(3, ANGARA_ROUTE_OWN, NULL), ANGARA_ADM_ST_OK);
	g.ctx[0] = ctx_new(g.h, 0, 0, PKEY, 6, 7);
	group_del(&g);
}

/* The thread that changes the routes dies. */
static void torn(void)
{
	struct host *h;
	u32 i;

	start("4");
	h = g.h;
	all_plus();
	rows_give(1);
	post_stuck(0, ANGARA_ROUTE_USE);
	host_freeze(h, 0, 1);
	EXPECT_EQ(ang_recover_find(h->fab), 2);
	ang_view_init(&h->v, h->fab, &h->ops, h);
	ang_recover(&h->v);
	host_run(h);
	EXPECT_EQ(h->fab->detour | h->fab->detour_by, 0);
	EXPECT(ang_links_perfect(h->fab) && !h->fab->broken);
	for (i = 0; i < 4; i++) {
		if (i % 2)
			ctx_del(g.ctx[i]);
		else
			free(g.ctx[i]);
	}
	free(g.ctx);
	h->node[0].asq_pi = h->node[0].acq_ci;
	host_free(h);
}

/* All kinds of operations, by the routes of a table. */
static void everything(void)
{
	struct traffic sum;
	u32 i;

	start("8");
	all_plus();
	rows_give(0);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE, NULL), ANGARA_ADM_ST_OK);
	for (i = 0; i < g.n; i++)
		ctx_del(g.ctx[i]);
	free(g.ctx);
	work_everything(g.h, 3, &sum);
	EXPECT_EQ(sum.drops, 0);
}

const struct test_case route_bad_cases[] = {
	{ "route: tables that break a rule", bad_tables },
	{ "route: turns on a torus", turns },
	{ "route: heights on a mesh", no_bubble },
	{ "route: a node without a route", no_route },
	{ "route: a receiver without a route", no_result },
	{ "route: bad arguments", bad_arguments },
	{ "route: one change at a time", one_at_a_time },
	{ "route: a node is reset during a change", reset },
	{ "route: a thread dies during a change", torn },
	{ "route: all operations by a table", everything },
	{ NULL, NULL },
};
