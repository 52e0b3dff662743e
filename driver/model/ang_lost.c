// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lost nodes, which no host runs any more, and links that are down.
 *
 * The era (ang_fabric.lost) counts losses and returns of nodes and links.  A
 * change of routes advances the era, too (ang_detour.c).
 * Another host may run lost nodes again.  Then all hosts of the fabric agree on
 * a new era: an operation that started in an earlier era cannot cross these
 * nodes.
 *
 * While a link is down, each of its two ends treats the router at the other end
 * as lost.  Operations that start after the link is up again succeed.
 *
 * Routes change only while no packet follows them (ang_detour.c), so a packet
 * cannot pass a lost node, and each node can determine which of its operations
 * are affected: operations whose path to the target or back crosses a lost
 * node, and trees with a link to a lost node.  The node ends these operations
 * and reports the lost node.  The host drops packets in flight to a lost node,
 * and later answers match no operation.  A request carries the era in which its
 * operation started: the target drops the request if a link of the path, there
 * or back, went down after that.  So no request is executed after the end of
 * its operation.
 *
 * A tree needs its links, and for a REDUCE also the path from the root to the
 * receiver.
 *
 * A node that was reset because the thread that held it died (ang_recover.c)
 * counts as lost until recovery ends: nodes end their operations with it and
 * trees through it, but packets pass through it as before.
 *
 * The holder of a node handles a loss when it handles registers, so the data
 * path checks only ang_fabric.broken, and only where an operation starts.
 */
#include "ang_int.h"

static bool node_gone(struct ang_fabric *fab, u32 node)
{
	return node != ANG_NONE &&
	       READ_ONCE(ang_node(fab, node)->remote) == ANG_REMOTE_GONE;
}

/*
 * Is a node lost, or is it reset because its holder died?  In both cases, no
 * operation with this node can end; but packets pass through a node that is reset.
 */
static bool ends_nothing(struct ang_fabric *fab, u32 node)
{
	return node_gone(fab, node) ||
	       (node != ANG_NONE && ang_recover_torn(fab, node));
}

/* Is the link of a port down? */
static bool port_down(const struct ang_port *port)
{
	return READ_ONCE(port->flaws) & ANG_FLAW_DOWN;
}

/*
 * Follow the route to @to, both ends included, up to the first lost node or
 * link that is down.  Without a route, @to counts as lost.
 */
static struct ang_leg way_walk(struct ang_view *v, u32 from, u32 to)
{
	struct ang_leg leg = { .lost = ANG_NONE, .behind = from };
	struct ang_fabric *fab = v->fab;
	u32 at = from;

	while (!node_gone(fab, at)) {
		const struct ang_port *port;
		u32 dir = ang_route(v, at, to);
		u32 fell;

		if (at == to)
			return leg;
		if (dir == ANGARA_PORT_NONE) {
			at = to;
			break;
		}
		port = ang_port(fab, ang_node(fab, at), dir);
		at = port->peer;
		ang_work(v, ANG_WORK_HOP);
		if (port_down(port))
			break;
		fell = READ_ONCE(port->fell);
		if (ang_later(fell, leg.fell)) {
			leg.fell = fell;
			leg.behind = at;
		}
	}
	leg.lost = at;
	return leg;
}

/* Return: the cached paths to a node and back; after a loss, search again. */
static const struct ang_way *way_to(struct ang_view *v, struct ang_node *n, u32 to)
{
	u32 seen = ang_load_acquire(&v->fab->lost);
	struct ang_way *w = &n->way[to % ANG_WAYS];

	if (w->to == to + 1 && w->seen == seen)
		return w;
	w->there = way_walk(v, n->id, to);
	w->back = way_walk(v, to, n->id);
	w->seen = seen;
	w->to = to + 1;
	return w;
}

/*
 * Return: the node that was lost on a path after @era, even if it is back; or
 * ANG_NONE.
 */
static u32 leg_lost(const struct ang_leg *leg, u32 era)
{
	if (leg->lost != ANG_NONE)
		return leg->lost;
	return ang_later(leg->fell, era) ? leg->behind : ANG_NONE;
}

static u32 torn_end(struct ang_fabric *fab, u32 from, u32 to)
{
	if (ang_recover_torn(fab, from))
		return from;
	return ang_recover_torn(fab, to) ? to : ANG_NONE;
}

/**
 * ang_lost_between() - can a node exchange packets with another node?
 * @v: view
 * @n: node that is held
 * @to: the other node
 *
 * Return: a lost node on the path there or back, ANG_NONE if there is none.
 */
u32 ang_lost_between(struct ang_view *v, struct ang_node *n, u32 to)
{
	return ang_lost_since(v, n, to, READ_ONCE(v->fab->lost) + 1);
}

/**
 * ang_lost_since() - could a node exchange packets with another node all the
 * time since @era?
 * @v: view
 * @n: node that is held
 * @to: the other node
 * @era: value of ang_fabric.lost at the start of that time
 *
 * Return: the node that was lost or went down on the path there or back, even
 * if it is up again; ANG_NONE if there is none.
 */
u32 ang_lost_since(struct ang_view *v, struct ang_node *n, u32 to, u32 era)
{
	u32 lost = torn_end(v->fab, n->id, to);
	const struct ang_way *w;

	if (lost != ANG_NONE)
		return lost;
	w = way_to(v, n, to);
	lost = leg_lost(&w->there, era);
	return lost == ANG_NONE ? leg_lost(&w->back, era) : lost;
}

/**
 * ang_lost_request() - did the sender end the operation of a request because a
 * link went down?
 * @v: view
 * @n: node that received it, held
 * @p: request
 *
 * The sender ended the operation if a link of the path there or back went down
 * after the operation started.  Even if the link is up again, the request must
 * not be executed after later operations of the sender.
 */
bool ang_lost_request(struct ang_view *v, struct ang_node *n,
		      const struct ang_pkt *p)
{
	u32 era = *ang_pkt_era((struct ang_pkt *)p);

	if (p->type == ANG_PKT_READY || era == READ_ONCE(v->fab->lost))
		return false;
	return ang_lost_since(v, n, p->src_node, era) != ANG_NONE;
}

/* Return: a lost neighbor in the tree of a row; or ANG_NONE. */
static u32 row_culprit(struct ang_view *v, struct ang_node *n,
		       const struct angara_tree_row *row)
{
	struct ang_fabric *fab = v->fab;
	u64 set = row->ports | ang_port_up(row);

	for (; set; set &= set - 1) {
		const struct ang_port *port = ang_port(fab, n, ang_lowest(set));

		if (ends_nothing(fab, port->peer) || port_down(port))
			return port->peer;
	}
	return ANG_NONE;
}

/**
 * ang_lost_result() - can the result of a REDUCE reach a node?
 * @v: view
 * @n: node that is held
 * @t: the tree at that node, which is open
 *
 * Return: a lost node on the path from the root, ANG_NONE if there is none.
 */
u32 ang_lost_result(struct ang_view *v, struct ang_node *n, const struct ang_tree *t)
{
	/* No route leads to a root that is a switch: search only the path from it. */
	if (t->root >= v->topo.nodes)
		return way_walk(v, t->root, n->id).lost;
	return way_to(v, n, t->root)->back.lost;
}

/*
 * The root sends the result of a REDUCE point to point.
 * Return: a node lost on the path of a pending result, or ANG_NONE.
 */
static u32 result_culprit(struct ang_view *v, struct ang_node *n,
			  const struct ang_tree *t)
{
	u32 i;

	for (i = 0; t->open && i < t->members; i++) {
		struct ang_ctx *c = ang_ctx(v->fab, n, t->member[i]);
		u64 set = c->member[t->row.tree].ops;

		for (; set; set &= set - 1) {
			const struct ang_op *op = ang_op(n, c, ang_lowest(set));

			ang_work(v, ANG_WORK_LOOK);
			if (op->opcode == ANGARA_OP_REDUCE && op->receives)
				return ang_lost_result(v, n, t);
		}
	}
	return ANG_NONE;
}

/**
 * ang_lost_row() - can a tree work at a node?
 * @v: view
 * @n: node
 * @row: row of the tree at that node
 *
 * Return: a lost node that the row needs, ANG_NONE if there is none.
 */
u32 ang_lost_row(struct ang_view *v, struct ang_node *n,
		 const struct angara_tree_row *row)
{
	return ang_load_acquire(&v->fab->lost) ? row_culprit(v, n, row) :
						 ANG_NONE;
}

static void op_lost(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op)
{
	u32 lost;

	if ((op->state != ANG_OP_ACTIVE && op->state != ANG_OP_GHOST) ||
	    !ang_op_is_p2p(op))
		return;
	lost = ang_lost_since(v, n, op->dst_node, op->era);
	if (lost == ANG_NONE) {
		/* Later routes may use links that fell before this era and are up again. */
		if (ang_later(n->losing, op->era))
			op->era = n->losing;
		return;
	}
	if (op->state == ANG_OP_GHOST) {
		ang_op_free(v, n, c, op);
		return;
	}
	ang_op_fail(op, ANGARA_ST_UNREACHABLE, lost);
	ang_op_done(v, n, c, op);
}

static void link_lost(struct ang_view *v, struct ang_node *n, u32 dir)
{
	const struct ang_port *port = ang_port(v->fab, n, dir);
	bool dead = node_gone(v->fab, port->peer) || port_down(port);

	/*
	 * Drop the packets of the link.  The link cannot go up again before
	 * they are dropped.
	 */
	if (port_down(port))
		ang_retry_flush(v, n, dir);
	if ((n->dead_links >> dir & 1) == dead)
		return;
	n->dead_links ^= 1ULL << dir;
	ang_event(v, n, dead ? ANGARA_AEV_LINK_DOWN : ANGARA_AEV_LINK_UP, dir,
		  port->peer);
}

/**
 * ang_lost_tree() - take a tree down if it needs a lost node
 * @v: view
 * @n: node that is held
 * @tree: TreeId
 */
void ang_lost_tree(struct ang_view *v, struct ang_node *n, u32 tree)
{
	struct ang_tree *t = &n->tree[tree];
	u32 culprit;

	if (t->state != ANGARA_TREE_STATE_UP)
		return;
	culprit = row_culprit(v, n, &t->row);
	if (culprit == ANG_NONE)
		culprit = result_culprit(v, n, t);
	if (culprit != ANG_NONE)
		ang_tree_down(v, n, tree, ANGARA_ST_TREE_DOWN, culprit, 0);
}

static u32 ctx_places(const struct ang_fabric *fab)
{
	return fab->cfg.ops + ANG_MSG_PLACES;
}

/* Check one operation of a context, or one place that ang_msg_lost() checks. */
static void ctx_lost(struct ang_view *v, struct ang_node *n, u32 place)
{
	struct ang_ctx *c = ang_ctx(v->fab, n, place / ctx_places(v->fab));
	u32 at = place % ctx_places(v->fab);

	if (at < v->fab->cfg.ops)
		op_lost(v, n, c, ang_op(n, c, at));
	else
		ang_msg_lost(v, n, c, at - v->fab->cfg.ops);
}

/* Check part @place: links are numbered first, then trees, then contexts. */
static void part_lost(struct ang_view *v, struct ang_node *n, u32 place)
{
	ang_work(v, 1);
	if (place < v->fab->nports) {
		link_lost(v, n, place);
		return;
	}
	place -= v->fab->nports;
	if (place < v->fab->cfg.trees)
		ang_lost_tree(v, n, place);
	else
		ctx_lost(v, n, place - v->fab->cfg.trees);
}

static u32 num_parts(const struct ang_fabric *fab, const struct ang_node *n)
{
	return fab->nports + fab->cfg.trees +
	       (ang_is_switch(fab, n) ? 0 : fab->cfg.ctxs * ctx_places(fab));
}

/**
 * ang_lost() - handle the loss of nodes
 * @v: view
 * @n: node that is held
 *
 * Return: true when all is handled; false if the step's work is used up and
 * there is more to do.
 */
bool ang_lost(struct ang_view *v, struct ang_node *n)
{
	u32 lost = ang_load_acquire(&v->fab->lost);

	if (n->lost == lost)
		return true;
	if (n->losing != lost)
		n->lost_at = 0;
	n->losing = lost;
	for (; n->lost_at < num_parts(v->fab, n); n->lost_at++) {
		if (ang_spent(v))
			return false;
		part_lost(v, n, n->lost_at);
	}
	ang_store_release(&n->lost, lost);
	ang_lost_wake(v);
	return true;
}

/**
 * ang_lost_wake() - wake commands that wait until all nodes have handled
 * losses, after a node has handled them or was disabled
 * @v: view
 */
void ang_lost_wake(struct ang_view *v)
{
	/*
	 * Pairs with ang_lost_seen(): either that function sees the node's
	 * state, or this function sees up_waits.
	 */
	ang_mb();
	if (READ_ONCE(v->fab->up_waits) && ang_xchg(&v->fab->up_waits, 0))
		ang_nodes_admin(v);
}

/*
 * ang_lost_forget() - reset the record of handled losses, so that a node that
 * is enabled again handles all losses again
 */
void ang_lost_forget(struct ang_node *n)
{
	n->lost = 0;
	n->losing = 0;
	n->lost_at = 0;
	n->dead_links = 0;
}

/**
 * ang_lost_seen() - have all nodes handled all losses so far?
 * @v: view
 *
 * Only then may a link go up: otherwise a node whose packet the link dropped
 * would find no loss, and wait for an answer for ever.
 *
 * Return: true; else false, and all nodes are woken when this may have changed.
 */
bool ang_lost_seen(struct ang_view *v)
{
	u32 lost, i;

	WRITE_ONCE(v->fab->up_waits, 1);
	ang_mb();
	lost = ang_load_acquire(&v->fab->lost);
	for (i = 0; i < v->topo.routers; i++) {
		struct ang_node *n = ang_node(v->fab, i);

		if (READ_ONCE(n->remote) == ANG_REMOTE_NO &&
		    (ang_is_switch(v->fab, n) || ang_load_acquire(&n->enabled)) &&
		    ang_load_acquire(&n->lost) != lost)
			return false;
	}
	return true;
}

/**
 * ang_lost_act() - end all operations that need a torn node
 * @v: view
 * @n: node that is held
 *
 * All operations end in this call: it has no limit on work.
 */
void ang_lost_act(struct ang_view *v, struct ang_node *n)
{
	u32 i;

	for (i = 0; i < num_parts(v->fab, n); i++)
		part_lost(v, n, i);
}

/** ang_nodes_admin() - make all nodes that this process runs check for work */
void ang_nodes_admin(struct ang_view *v)
{
	u32 i;

	for (i = 0; i < v->topo.routers; i++) {
		struct ang_node *n = ang_node(v->fab, i);

		if (READ_ONCE(n->remote) != ANG_REMOTE_NO)
			continue;
		ang_store_release(&n->db_admin, 1);
		ang_wake(v, n, 0);
	}
}

/**
 * ang_lost_answer() - is an answer for a lost node that this process replaced?
 * @v: view
 * @p: answer or result
 *
 * A process that takes over lost nodes in a running fabric starts without
 * operations.  An answer to an operation of a lost node must not end an
 * operation of the node that replaced it.
 */
bool ang_lost_answer(const struct ang_view *v, const struct ang_pkt *p)
{
	return v->fab->born && ang_later(v->fab->born, p->bytes);
}

void ang_remote_lost(struct ang_view *v, const u32 *nodes, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		WRITE_ONCE(ang_node(v->fab, nodes[i])->remote, ANG_REMOTE_GONE);
	ang_fetch_add(&v->fab->flawed, count);
	ang_fetch_add(&v->fab->broken, count);
	ang_fetch_add(&v->fab->lost, 1);
	ang_nodes_admin(v);
}

/* Record that the links of a router went down in @era, for ang_lost_since(). */
static void links_fell(struct ang_view *v, u32 router, u32 era)
{
	u32 dir;

	for (dir = 0; dir < v->fab->nports; dir++) {
		struct ang_port *port = ang_port(v->fab, ang_node(v->fab, router),
						 dir);

		if (port->peer == ANG_NONE)
			continue;
		WRITE_ONCE(port->fell, era);
		WRITE_ONCE(ang_port(v->fab, ang_node(v->fab, port->peer),
				    port->far)->fell, era);
	}
}

bool ang_remote_settled(struct ang_view *v)
{
	return ang_lost_seen(v);
}

void ang_remote_back(struct ang_view *v, const u32 *nodes, u32 count, u32 era)
{
	u32 i;

	for (i = 0; i < count; i++)
		links_fell(v, nodes[i], era);
	for (i = 0; i < count; i++)
		WRITE_ONCE(ang_node(v->fab, nodes[i])->remote, ANG_REMOTE_YES);
	ang_fetch_add(&v->fab->flawed, 0U - count);
	ang_fetch_add(&v->fab->broken, 0U - count);
	/* Operations that read an earlier era are checked again. */
	ang_store_release(&v->fab->lost, era);
	ang_nodes_admin(v);
}

void ang_remote_join(struct ang_view *v, u32 era)
{
	u32 i;

	for (i = 0; i < v->topo.routers; i++)
		if (ang_node(v->fab, i)->remote == ANG_REMOTE_NO)
			links_fell(v, i, era);
	v->fab->born = era;
	ang_store_release(&v->fab->lost, era);
}
