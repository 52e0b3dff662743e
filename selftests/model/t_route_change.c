// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What happens while routes change: links go down, the adapter that changes the routes
 * stops, another adapter wants to change them, and packets arrive at routers that have no
 * route for them.
 *
 * The fabric is a ring of four nodes, with routes "+" between opposite ones.  Node 0
 * changes the routes.
 */
#include <string.h>

#include "test.h"
#include "coll.h"
#include "msgs.h"
#include <angara/fabric.h>

#define STEPS	60U	/* until nodes only wait; a timer fires after some hundreds */
#define LONG	100000U	/* cycles, for a link that keeps its packets until then */

static struct group g;
static struct angara_fabric *plan;

static void start_on(const char *text)
{
	g.h = host_new(text, &cfg_tight);
	group_new(&g, 1, 8192);
	EXPECT_EQ(angara_fabric_open(text, &plan, NULL, 0), 0);
}

static void start(void)
{
	start_on("torus:4");
}

static void end(void)
{
	EXPECT_EQ(g.h->fab->detour | g.h->fab->detour_by, 0);
	EXPECT(ang_links_perfect(g.h->fab) && !g.h->fab->broken);
	angara_fabric_close(plan);
	group_del(&g);
}

/* Gives node 0 the routes around a cable, or around a router. */
static void rows_around(u32 router, u32 port)
{
	const struct angara_failure f = { router, port };

	EXPECT_EQ(angara_fabric_avoid(plan, &f, 1, NULL), 0);
	adm_route_rows(g.h, plan);
}

static u32 change(u32 node, u32 what)
{
	struct angara_adm_cmd cmd = adm_route_cmd(what);

	return adm(g.h, node, &cmd, NULL);
}

/* Posts node 0's command to use its routes, which answered() awaits. */
static void change_post(void)
{
	struct host_node *n = &g.h->node[0];

	n->asq[n->asq_pi % ADM_ENTRIES] = adm_route_cmd(ANGARA_ROUTE_USE);
	host_reg(g.h, 0, ANGARA_REG_ASQ_DB, ++n->asq_pi);
	run_steps(&g.h->v, STEPS);
	EXPECT(g.h->fab->detour & ANG_DETOUR_HALT);
}

static u32 answered(void)
{
	struct host_node *n = &g.h->node[0];
	const struct angara_adm_cpl *cpl = &n->acq[n->acq_ci % ADM_ENTRIES];

	host_run(g.h);
	EXPECT_EQ(cpl->phase & 1, !(n->acq_ci & ADM_ENTRIES));
	n->acq_ci++;
	return cpl->status;
}

static void order(u32 router, u32 port, u32 what)
{
	struct angara_adm_link link = { .what = (u8)what };

	EXPECT_EQ(adm_link(g.h, router, port, &link), ANGARA_ADM_ST_OK);
}

/* Takes a link down as its adapter does, without running the fabric. */
static void down_now(u32 router, u32 port)
{
	ang_link_down(&g.h->v, ang_node(g.h->fab, router), port);
}

/* Gives a link faults.  With a delay, it works when ang_view.patient is cleared. */
static void flaw(u32 router, u32 port, u32 loss, u32 delay)
{
	struct angara_adm_link link = {
		.what = ANGARA_LINK_FAULT,
		.loss = cpu_to_le32(loss),
		.delay = cpu_to_le32(delay),
	};

	EXPECT_EQ(adm_link(g.h, router, port, &link), ANGARA_ADM_ST_OK);
	g.h->v.patient = delay > 0;
	host_steps_reset(g.h);
}

static struct ang_port *port_of(u32 router, u32 port)
{
	return ang_port(g.h->fab, ang_node(g.h->fab, router), port);
}

static void put_post(u32 from, u32 to)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, to, 0, 0, 8192, 64);

	post(g.ctx[from], &w, NULL);
	kick(g.ctx[from]);
}

static u32 put_status(u32 from, u32 to)
{
	put_post(from, to);
	return finish(g.ctx[from], NULL);
}

/*
 * Node 1 puts to node 3 by node 2, whose link to node 3 keeps the packet.  Then
 * routes around that link are to be used.
 */
static void drain_held(u32 loss)
{
	start();
	rows_around(2, 0);
	flaw(2, 0, loss, LONG);
	put_post(1, 3);
	run_steps(&g.h->v, STEPS);
	EXPECT_EQ(port_of(2, 0)->retry.held, 1);
	change_post();
	EXPECT(ang_lost_seen(&g.h->v));
}

/* The put has ended, and so has the change, to routes that work. */
static void drain_end(void)
{
	struct angara_cqe cqe;

	g.h->v.patient = false;
	EXPECT_EQ(answered(), ANGARA_ADM_ST_OK);
	EXPECT_EQ(finish(g.ctx[1], &cqe), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(le32_to_cpu(cqe.node), 3);
	EXPECT(ang_node(g.h->fab, 2)->drops[ANGARA_DROP_LINK] > 0);
	EXPECT_EQ(put_status(1, 3), ANGARA_ST_OK);
	flaw(2, 0, 0, 0);
	order(2, 0, ANGARA_LINK_UP);
	EXPECT_EQ(change(0, ANGARA_ROUTE_OWN), ANGARA_ADM_ST_OK);
	EXPECT_EQ(put_status(1, 3), ANGARA_ST_OK);
	end();
}

/* Node 1 is frozen while all other nodes act on the loss of the link. */
static void falls(void)
{
	drain_held(0);
	host_freeze(g.h, 1, 1);
	down_now(2, 0);
	run_steps(&g.h->v, STEPS);
	EXPECT_EQ(port_of(2, 0)->retry.held, 0);
	host_freeze(g.h, 1, 0);
	drain_end();
}

/* As falls(), with a link that goes down by itself because it delivers nothing. */
static void gives_up(void)
{
	drain_held(ANGARA_FAULT_ONE);
	host_freeze(g.h, 1, 1);
	g.h->v.patient = false;
	host_run(g.h);
	EXPECT(READ_ONCE(port_of(2, 0)->flaws) & ANG_FLAW_DOWN);
	host_freeze(g.h, 1, 0);
	drain_end();
}

/*
 * Node 3 takes the link down.  Its thread is between two lines of ang_link_down():
 * the link drops packets, but the era has not advanced yet.
 */
static void falls_slowly(void)
{
	drain_held(0);
	host_freeze(g.h, 3, 1);
	ang_flaw_set(g.h->fab, port_of(2, 0), ANG_FLAW_DOWN);
	ang_wake(&g.h->v, ang_node(g.h->fab, 2), 0);
	run_steps(&g.h->v, STEPS);
	EXPECT_EQ(port_of(2, 0)->retry.held, 0);
	down_now(3, 1);
	host_freeze(g.h, 3, 0);
	drain_end();
}

/*
 * Node 0 sends to node 1, which has no room.  The link between 2 and 3 goes down
 * and up, which does not matter until routes lead over it.  @turn: node 1 has made
 * room, and its READY is on the way when routes change.
 */
static void fell_before(bool turn)
{
	struct tarea *area;
	u32 full, k;

	start();
	area = area_new(g.ctx[1], MSG_LOG2);
	full = fill_area(g.ctx[1]);
	send_msg(g.ctx[0], 1, 0, 7, MSG_LEN);
	host_run(g.h);
	order(2, 0, ANGARA_LINK_DOWN);
	order(2, 0, ANGARA_LINK_UP);
	rows_around(0, 0);
	if (turn) {
		flaw(1, 1, 0, LONG);
		for (k = 0; k < full; k++)
			area_free(area, area_next(area, NULL));
		run_steps(&g.h->v, STEPS);
		EXPECT_EQ(port_of(1, 1)->retry.held, 1);
		change_post();
		g.h->v.patient = false;
		EXPECT_EQ(answered(), ANGARA_ADM_ST_OK);
		flaw(1, 1, 0, 0);
	} else {
		EXPECT_EQ(change(0, ANGARA_ROUTE_USE), ANGARA_ADM_ST_OK);
		for (k = 0; k < full; k++)
			area_free(area, area_next(area, NULL));
	}
	expect_next(area, 7, NULL);
	expect_cqe(g.ctx[0], 7, ANGARA_ST_OK);
	/* The receiver takes messages of others, too. */
	send_msg(g.ctx[2], 1, 0, 8, MSG_LEN);
	expect_next(area, 8, NULL);
	expect_cqe(g.ctx[2], 8, ANGARA_ST_OK);
	EXPECT_EQ(change(0, ANGARA_ROUTE_OWN), ANGARA_ADM_ST_OK);
	free(area);
	end();
}

static void fell_before_room(void)
{
	fell_before(false);
}

static void fell_before_turn(void)
{
	fell_before(true);
}

/*
 * Node 1 finds that node 0 changes the routes.  Before node 1 answers its own
 * command, node 0 has ended the change.
 */
static void late_refusal(u32 what)
{
	struct angara_adm_cmd cmd = adm_route_cmd(what);
	struct ang_node *n;
	u32 bad = 0;

	start();
	n = ang_node(g.h->fab, 1);
	rows_around(2, 0);
	host_freeze(g.h, 2, 1);
	change_post();
	EXPECT(ang_detour_ready(&g.h->v, n, &cmd.route));
	host_freeze(g.h, 2, 0);
	EXPECT_EQ(answered(), ANGARA_ADM_ST_OK);
	EXPECT_EQ(ang_detour_set(&g.h->v, n, &cmd.route, &bad), ANGARA_ADM_ST_EXISTS);
	EXPECT_EQ(g.h->fab->detour_by, 0);
	EXPECT_EQ(g.h->fab->detour, 1);
	EXPECT_EQ(change(1, ANGARA_ROUTE_OWN), ANGARA_ADM_ST_OK);
	end();
}

static void late_refusals(void)
{
	late_refusal(ANGARA_ROUTE_USE);
	late_refusal(ANGARA_ROUTE_OWN);
}

/* Makes the event queue of node 0 read-only, and reports an event to it. */
static void events_break(void)
{
	struct host_node *n = &g.h->node[0];
	u32 i;

	for (i = 0; n->seg[i].mem != (char *)n->aeq; i++)
		;
	n->seg[i].readonly = 1;
	down_now(1, 1);
	run_steps(&g.h->v, STEPS);
	EXPECT_EQ(ang_reg_read(&g.h->v, 0, ANGARA_REG_STATUS),
		  ANGARA_STATUS_READY | ANGARA_STATUS_FATAL);
	EXPECT_EQ(g.h->faults, 1);
	g.h->faults = 0;
	n->seg[i].readonly = 0;
}

/* The adapter of node 0 has stopped.  The other adapters continue, although it is not reset. */
static void others_continue(void)
{
	host_run(g.h);
	EXPECT_EQ(g.h->fab->detour | g.h->fab->detour_by, 0);
	EXPECT_EQ(put_status(2, 3), ANGARA_ST_OK);
	EXPECT_EQ(change(1, ANGARA_ROUTE_OWN), ANGARA_ADM_ST_OK);
	EXPECT_EQ(ang_reg_read(&g.h->v, 0, ANGARA_REG_STATUS),
		  ANGARA_STATUS_READY | ANGARA_STATUS_FATAL);
	driver_new(g.h, 0);
	free(g.ctx[0]);
	g.ctx[0] = ctx_new(g.h, 0, 0, PKEY, 6, 7);
	order(1, 1, ANGARA_LINK_UP);
	EXPECT_EQ(put_status(1, 3), ANGARA_ST_OK);
	end();
}

static void stops_in_halt(void)
{
	struct angara_cqe cqe;

	start();
	rows_around(0, 0);
	host_freeze(g.h, 2, 1);
	change_post();
	put_post(3, 0);
	run_steps(&g.h->v, STEPS);
	EXPECT(!poll_cq(g.ctx[3], &cqe));
	events_break();
	/* Requests continue at once; the change ends when all nodes know. */
	EXPECT_EQ(finish(g.ctx[3], NULL), ANGARA_ST_OK);
	EXPECT_EQ(g.h->fab->detour, 0);
	EXPECT_EQ(g.h->fab->detour_by, 1);
	host_freeze(g.h, 2, 0);
	others_continue();
}

static void stops_in_drain(void)
{
	start();
	rows_around(0, 0);
	flaw(2, 0, 0, LONG);
	put_post(2, 3);
	run_steps(&g.h->v, STEPS);
	EXPECT_EQ(port_of(2, 0)->retry.held, 1);
	change_post();
	EXPECT(ang_lost_seen(&g.h->v));
	put_post(3, 2);
	events_break();
	g.h->v.patient = false;
	EXPECT_EQ(finish(g.ctx[2], NULL), ANGARA_ST_OK);
	EXPECT_EQ(finish(g.ctx[3], NULL), ANGARA_ST_OK);
	flaw(2, 0, 0, 0);
	others_continue();
}

/* Sends a packet by the port 0 of node 0, with payload if it is a put. */
static void forge(u32 type, u32 vc, u32 src, u32 dst)
{
	struct ang_node *n = ang_node(g.h->fab, 0);
	struct ang_pkt p = {
		.type = (u8)type, .npkts = 1, .flags = ANG_PF_LAST, .gen = 0x7777,
		.src_node = src, .dst_node = dst, .pkey = PKEY, .off = 8192,
	};

	*ang_pkt_era(&p) = g.h->fab->lost;
	if (type == ANG_PKT_PUT) {
		p.len = 64;
		p.buf = ang_buf_get(&g.h->v, n, ANG_BUF_REQ);
		EXPECT(p.buf);
		memset(ang_buf_data(&g.h->v, p.buf), 1, 64);
	}
	ang_link_put(&g.h->v, n, &p, 0, vc);
	host_run(g.h);
}

/*
 * No route leads to node @lost or back.  Packets to it and from it arrive at
 * router @at, behind port 0 of node 0.
 */
static void no_way(const char *text, u32 at, u32 lost)
{
	const u64 *drops;
	struct ang_node *n;
	u32 i, k;

	start_on(text);
	n = ang_node(g.h->fab, at);
	drops = n->drops;
	EXPECT_EQ(port_of(0, 0)->peer, at);
	rows_around(lost, ANGARA_FAILED_ROUTER);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE), ANGARA_ADM_ST_OK);
	forge(ANG_PKT_PUT, ANGARA_VC_REQ, 0, lost);
	EXPECT_EQ(drops[ANGARA_DROP_LINK], 1);
	forge(ANG_PKT_ACK, ANGARA_VC_RSP, 0, lost);
	EXPECT_EQ(drops[ANGARA_DROP_LINK], 2);
	for (i = 0; i < ANGARA_DROP_NUM; i++)
		EXPECT_EQ(drops[i], i == ANGARA_DROP_LINK ? 2 : 0);
	EXPECT_EQ(n->cnt.ejected_packets | n->cnt.injected_packets, 0);
	for (i = 0; i < g.n; i++)
		for (k = 0; k < g.ctx[i]->buf_len; k++)
			EXPECT_EQ(g.ctx[i]->buf[k], 0);
	EXPECT_EQ(put_status(0, 1), ANGARA_ST_OK);
	EXPECT_EQ(change(0, ANGARA_ROUTE_OWN), ANGARA_ADM_ST_OK);
	end();
}

static void no_way_on(void)
{
	no_way("torus:4", 1, 3);
}

static void no_way_from_switch(void)
{
	no_way("kns:4x2", 8, 5);
}

/* A READY does not depend on an era.  Its answer has no route. */
static void no_way_back(void)
{
	struct ang_node *n;

	start();
	n = ang_node(g.h->fab, 1);
	rows_around(3, ANGARA_FAILED_ROUTER);
	EXPECT_EQ(change(0, ANGARA_ROUTE_USE), ANGARA_ADM_ST_OK);
	forge(ANG_PKT_READY, ANGARA_VC_REQ, 3, 1);
	EXPECT_EQ(n->drops[ANGARA_DROP_LINK], 1);
	EXPECT_EQ(n->cnt.ejected_packets | n->cnt.injected_packets, 0);
	/* The ring is free for the next packet. */
	EXPECT_EQ(put_status(0, 1), ANGARA_ST_OK);
	EXPECT_EQ(change(0, ANGARA_ROUTE_OWN), ANGARA_ADM_ST_OK);
	end();
}

const struct test_case route_change_cases[] = {
	{ "route: a link falls during a change", falls },
	{ "route: a link gives up during a change", gives_up },
	{ "route: a link is about to fall during a change", falls_slowly },
	{ "route: a link of the new routes fell before", fell_before_room },
	{ "route: it fell before a message has its turn", fell_before_turn },
	{ "route: another change ends before it is refused", late_refusals },
	{ "route: an adapter stops when nodes halt for it", stops_in_halt },
	{ "route: an adapter stops while packets drain", stops_in_drain },
	{ "route: packets without a route", no_way_on },
	{ "route: packets without a route at a switch", no_way_from_switch },
	{ "route: answers without a route", no_way_back },
	{ NULL, NULL },
};
