// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Routes around failures: a table that replaces the topology's routes.
 *
 * ANGARA_ADM_ROUTE_SET gives the rows of a new table, one router at a time, then
 * puts the table into use.  A fabric has two tables: one may be in use while the
 * other one gets new rows.  Only one node at a time (ang_fabric.detour_by) writes
 * rows or changes the routes.
 *
 * Old and new routes together could deadlock, and a packet that follows both
 * could go round in circles.  So routes change while no packet follows them:
 *  1. The table is checked, see struct angara_adm_route.  The heights of its
 *     ports show that packets on the new routes cannot wait for each other in a
 *     cycle.
 *  2. Nodes stop sending requests and results (ANG_DETOUR_HALT).  Answers and
 *     packets of trees continue.  The era (ang_lost.c) advances: a node that has
 *     handled the new era has seen the halt.
 *  3. Requests are served and answers arrive, by the old routes, until the rings
 *     of both channels are empty.
 *  4. The era advances again.  When all nodes have handled it, operations whose
 *     packets were dropped meanwhile by links of the old routes have ended.
 *  5. Packets follow the new routes, and the era advances again: nodes check
 *     their operations against the new routes, and send again.
 *  6. When all nodes have handled that era, no step of a node reads the old
 *     table any more.
 * So no operation ends because routes change, except those to nodes that the new
 * routes do not reach.
 *
 * A table counts as a flaw of the fabric (ang_fabric.flawed), so that no
 * operation bypasses links, and in ang_fabric.broken, so that nodes check paths
 * where operations start: the table may lack routes.
 */
#include "ang_int.h"

#define ANG_DETOUR_ENTRIES	(1U << 20)	/* most entries of a table */

/* Steps of a change: ang_fabric.detour_step. */
#define DETOUR_CHECK	0
#define DETOUR_HALTS	1	/* waits until all nodes have seen the halt */
#define DETOUR_DRAINS	2	/* waits until no packet follows a route */
#define DETOUR_FALLS	3	/* waits until all nodes have handled lost packets */
#define DETOUR_TURNS	4	/* waits until all nodes follow the new routes */
#define DETOUR_DONE	5
#define DETOUR_WRONG	6	/* the table breaks a rule, at detour_at */

/**
 * ang_detour_row() - compute the bytes of a row in a table
 * @topo: fabric
 *
 * Return: bytes, a multiple of 8; 0 if the fabric is too large for a table.
 */
u32 ang_detour_row(const struct ang_topo *topo)
{
	if ((u64)topo->routers * topo->nodes > ANG_DETOUR_ENTRIES)
		return 0;
	return (2U * topo->nports + topo->nodes + 7U) & ~7U;
}

/* Bytes of a row, without those that align the next one. */
static u32 row_bytes(const struct ang_topo *topo)
{
	return 2U * topo->nports + topo->nodes;
}

/* Find a row of table @number, 1 or 2. */
static u8 *row_at(const struct ang_fabric *fab, u32 number, u32 router)
{
	u64 row = (u64)(number - 1) * fab->cfg.topo.routers + router;

	return (u8 *)fab + fab->off_detour + row * fab->detour_row;
}

/**
 * ang_detour_port() - as ang_route(), but look up the route in a table
 * @fab: fabric
 * @detour: value of ang_fabric.detour, or number of a table
 * @router: router
 * @dst: node
 */
u32 ang_detour_port(const struct ang_fabric *fab, u32 detour, u32 router, u32 dst)
{
	return router == dst ? ANGARA_PORT_NONE :
	       row_at(fab, detour & ANG_DETOUR_TABLE, router)[2U * fab->nports + dst];
}

static u32 row_height(const struct ang_fabric *fab, u32 number, u32 router, u32 port)
{
	const u8 *at = row_at(fab, number, router) + 2 * port;

	return at[0] | (u32)at[1] << 8;
}

/* Return: number of the table that is not in use. */
static u32 spare_table(const struct ang_fabric *fab)
{
	return (fab->detour & ANG_DETOUR_TABLE) == 1 ? 2 : 1;
}

/* Store ang_fabric.detour.  A flaw is counted before it is stored, see ang_flaw_set(). */
static void detour_store(struct ang_fabric *fab, u32 detour)
{
	u32 old = fab->detour;

	if (!old && detour) {
		ang_fetch_add(&fab->flawed, 1);
		ang_fetch_add(&fab->broken, 1);
	}
	ang_store_release(&fab->detour, detour);
	if (old && !detour) {
		ang_fetch_add(&fab->broken, ~0U);
		ang_fetch_add(&fab->flawed, ~0U);
	}
}

/*
 * Does the route from @from to @dst lead to @dst, or to a port of less height than
 * the first port?  Straight on along a ring, ports may have equal heights.  The
 * rest of the route is checked as the route of the router that has that port.
 */
static bool route_descends(const struct ang_view *v, u32 number, u32 from, u32 dst)
{
	const struct ang_fabric *fab = v->fab;
	u32 port = ang_detour_port(fab, number, from, dst);
	u32 at = from, hops;

	for (hops = 0; hops < v->topo.routers; hops++) {
		u32 far, out;
		u32 to = ang_topo_peer(&v->topo, at, port, &far);
		u32 height;

		if (to == ANG_NONE)
			return false;
		if (to == dst)
			return true;
		out = ang_detour_port(fab, number, to, dst);
		if (ang_topo_neighbor(&v->topo, to, out) == ANG_NONE)
			return false;
		height = row_height(fab, number, at, port);
		if (row_height(fab, number, to, out) < height)
			return true;
		if (!fab->bubble || !ang_straight(far, out) ||
		    row_height(fab, number, to, out) > height)
			return false;
		at = to;
		port = out;
	}
	return false;
}

static bool entry_right(const struct ang_view *v, u32 number, u32 router, u32 dst)
{
	if (router == dst)
		return true;
	if (router < v->topo.nodes &&
	    (ang_detour_port(v->fab, number, router, dst) == ANGARA_PORT_NONE) !=
	    (ang_detour_port(v->fab, number, dst, router) == ANGARA_PORT_NONE))
		return false;
	return ang_detour_port(v->fab, number, router, dst) == ANGARA_PORT_NONE ||
	       route_descends(v, number, router, dst);
}

/* Check the table.  Return: false if the work of the step is used up. */
static bool table_check(struct ang_view *v)
{
	struct ang_fabric *fab = v->fab;
	u32 nodes = v->topo.nodes;

	for (; fab->detour_at < v->topo.routers * nodes; fab->detour_at++) {
		if (ang_spent(v))
			return false;
		ang_work(v, 1);
		if (!entry_right(v, spare_table(fab), fab->detour_at / nodes,
				 fab->detour_at % nodes)) {
			fab->detour_step = DETOUR_WRONG;
			return true;
		}
	}
	fab->detour_step = DETOUR_HALTS;
	return true;
}

/*
 * Are the rings of requests and answers empty?  @moved: out: number of packets
 * that have arrived in these rings so far, modulo 2^64.
 */
static bool rings_empty(struct ang_view *v, u64 *moved)
{
	struct ang_fabric *fab = v->fab;
	u32 i, dir, vc;

	*moved = 0;
	for (i = 0; i < v->topo.routers; i++) {
		struct ang_node *n = ang_node(fab, i);

		for (dir = 0; dir < fab->nports; dir++)
			for (vc = ANGARA_VC_REQ; vc <= ANGARA_VC_RSP; vc++) {
				struct ang_ring *r = ang_ring(fab, n, dir, vc);
				u32 put = ang_load_acquire(&r->put);

				*moved += ang_load_acquire(&r->tail);
				if (ang_load_acquire(&r->head) != put)
					return false;
			}
	}
	return true;
}

/*
 * Are the routes free of packets?  Nodes send no requests and results, and a packet
 * enters the next ring before it leaves its ring.  So if two passes find each ring
 * empty, and no packet has arrived in between, all rings are empty at one moment.
 */
static bool routes_idle(struct ang_view *v)
{
	u64 before, after;

	return rings_empty(v, &before) && rings_empty(v, &after) && before == after;
}

/* Advance a change by a step.  Return: false if it has to wait. */
static bool detour_step(struct ang_view *v, struct ang_node *n, u32 what)
{
	struct ang_fabric *fab = v->fab;

	switch (fab->detour_step) {
	case DETOUR_CHECK:
		if (what == ANGARA_ROUTE_USE && !table_check(v))
			return false;
		if (fab->detour_step == DETOUR_WRONG)
			return true;
		fab->detour_step = DETOUR_HALTS;
		detour_store(fab, fab->detour | ANG_DETOUR_HALT);
		ang_nodes_look(v);
		return false;
	case DETOUR_HALTS:
		if (!ang_lost_seen(v))
			return false;
		fab->detour_step = DETOUR_DRAINS;
		return true;
	case DETOUR_DRAINS:
		if (!routes_idle(v)) {
			/* Look again in the next step. */
			ang_wake(v, n, 0);
			return false;
		}
		/*
		 * A link that goes down may drop packets before ang_port.fell is
		 * set.  The thread that takes the link down holds a node; this node
		 * handles the next era only after the thread has set ang_port.fell.
		 */
		fab->detour_step = DETOUR_FALLS;
		ang_nodes_look(v);
		return false;
	case DETOUR_FALLS:
		if (!ang_lost_seen(v))
			return false;
		fab->detour_step = DETOUR_TURNS;
		detour_store(fab, what == ANGARA_ROUTE_USE ? spare_table(fab) : 0);
		ang_nodes_look(v);
		return false;
	case DETOUR_TURNS:
		if (!ang_lost_seen(v))
			return false;
		fab->detour_step = DETOUR_DONE;
		return true;
	default:
		return true;
	}
}

/* May this node change the routes by such a command?  Return: ANGARA_ADM_ST_*. */
static u32 detour_refused(const struct ang_view *v, const struct angara_adm_route *arg)
{
	const struct ang_fabric *fab = v->fab;
	u32 length = le32_to_cpu(arg->length);
	u32 i;

	/* A node must not change the routes of others; for cfg.remote, see ang_link_set(). */
	if (fab->cfg.sealed || fab->cfg.remote)
		return ANGARA_ADM_ST_SEALED;
	if (!fab->detour_row)
		return ANGARA_ADM_ST_FULL;
	for (i = 0; i < sizeof(arg->reserved); i++)
		if (arg->reserved[i])
			return ANGARA_ADM_ST_PARAM;
	if (arg->what != ANGARA_ROUTE_ROW)
		return arg->what == ANGARA_ROUTE_USE || arg->what == ANGARA_ROUTE_OWN ?
		       ANGARA_ADM_ST_OK : ANGARA_ADM_ST_PARAM;
	if (le32_to_cpu(arg->router) >= v->topo.routers ||
	    (u64)le32_to_cpu(arg->offset) + length > row_bytes(&v->topo) ||
	    le64_to_cpu(arg->addr) % ANGARA_PAGE_SIZE + length > ANGARA_PAGE_SIZE)
		return ANGARA_ADM_ST_PARAM;
	return ANGARA_ADM_ST_OK;
}

/* Let a node change the routes.  Return: false if another node is changing them. */
static bool detour_take(struct ang_fabric *fab, const struct ang_node *n)
{
	if (ang_load_acquire(&fab->detour_by) == n->id + 1)
		return true;
	if (ang_cmpxchg(&fab->detour_by, 0, n->id + 1))
		return false;
	fab->detour_step = DETOUR_CHECK;
	fab->detour_at = 0;
	return true;
}

/**
 * ang_detour_ready() - advance a change of routes
 * @v: view
 * @n: node, held
 * @arg: argument of ANGARA_ADM_ROUTE_SET
 *
 * Return: true if ang_detour_set() can answer; false if the command has to
 * wait; the node is woken when it can continue.
 */
bool ang_detour_ready(struct ang_view *v, struct ang_node *n,
		      const struct angara_adm_route *arg)
{
	if (detour_refused(v, arg) || arg->what == ANGARA_ROUTE_ROW ||
	    !detour_take(v->fab, n))
		return true;
	while (v->fab->detour_step < DETOUR_DONE)
		if (!detour_step(v, n, arg->what))
			return false;
	return true;
}

/* Read a part of a row. */
static u32 row_read(struct ang_view *v, struct ang_node *n,
		    const struct angara_adm_route *arg)
{
	u8 *row = row_at(v->fab, spare_table(v->fab), le32_to_cpu(arg->router));

	return ang_dma_read(v, n, le64_to_cpu(arg->addr), row + le32_to_cpu(arg->offset),
			    le32_to_cpu(arg->length)) ?
	       ANGARA_ADM_ST_DMA : ANGARA_ADM_ST_OK;
}

/**
 * ang_detour_set() - execute ANGARA_ADM_ROUTE_SET, after ang_detour_ready()
 * @v: view
 * @n: node, held
 * @arg: argument
 * @bad: out: with RULE, router from which a route is wrong
 *
 * Return: ANGARA_ADM_ST_*: EXISTS another node is changing the routes; RULE the
 * table breaks a rule; FULL the fabric is too large.
 */
u32 ang_detour_set(struct ang_view *v, struct ang_node *n,
		   const struct angara_adm_route *arg, u32 *bad)
{
	struct ang_fabric *fab = v->fab;
	u32 status = detour_refused(v, arg);

	if (status)
		return status;
	/* Another node may have ended its change since ang_detour_ready(). */
	if (arg->what == ANGARA_ROUTE_ROW ? !detour_take(fab, n) :
	    ang_load_acquire(&fab->detour_by) != n->id + 1)
		return ANGARA_ADM_ST_EXISTS;
	if (arg->what == ANGARA_ROUTE_ROW) {
		status = row_read(v, n, arg);
	} else if (fab->detour_step == DETOUR_WRONG) {
		*bad = fab->detour_at / v->topo.nodes;
		status = ANGARA_ADM_ST_RULE;
	}
	ang_store_release(&fab->detour_by, 0);
	return status;
}

/* If the new routes are not in use yet, cancel the change: end the halt. */
static void halt_end(struct ang_view *v)
{
	if (!(v->fab->detour & ANG_DETOUR_HALT))
		return;
	detour_store(v->fab, v->fab->detour & ANG_DETOUR_TABLE);
	ang_nodes_look(v);
}

/**
 * ang_detour_reset() - end a change of routes whose node is reset
 * @v: view
 * @n: node, held
 *
 * Packets follow the old routes, or the new ones if these are in use already.
 *
 * Return: true; false if nodes may still read the old table: call again when the
 * node is woken.
 */
bool ang_detour_reset(struct ang_view *v, struct ang_node *n)
{
	if (ang_load_acquire(&v->fab->detour_by) != n->id + 1)
		return true;
	halt_end(v);
	if (!ang_lost_seen(v))
		return false;
	ang_store_release(&v->fab->detour_by, 0);
	return true;
}

/**
 * ang_detour_torn() - as ang_detour_reset(), for a torn node (its holder died)
 * @v: view; no step of a node is under way
 * @n: node
 */
void ang_detour_torn(struct ang_view *v, struct ang_node *n)
{
	if (v->fab->detour_by != n->id + 1)
		return;
	halt_end(v);
	v->fab->detour_by = 0;
}
