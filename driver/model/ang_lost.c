// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Nodes that are lost: no host plays them any more.
 *
 * Routes are fixed, so what would pass a lost node cannot arrive, and each
 * node can tell by itself which of its operations that concerns: those
 * whose way there or back leads over one, and trees with a link to one.
 * It ends them and names the node.  Packets that were on their way are dropped
 * at the dead link by the host, and late answers match no operation.
 *
 * A node that was reset because its holder ended in the middle of it
 * (ang_recover.c) is lost for a moment, too, to nodes that had operations or
 * trees with it; but packets pass through it as before.
 *
 * The holder of a node acts on a loss as on registers, so the data path checks
 * ang_fabric.lost only, and only where an operation starts.
 */
#include "ang_int.h"

static bool gone(struct ang_fabric *fab, u32 node)
{
	return node != ANG_NONE &&
	       READ_ONCE(ang_node(fab, node)->remote) == ANG_REMOTE_GONE;
}

/* No end of anything: gone, or reset.  Packets pass through one of the latter. */
static bool ends_nothing(struct ang_fabric *fab, u32 node)
{
	return gone(fab, node) ||
	       (node != ANG_NONE && ang_recover_torn(fab, node));
}

/* The first lost node on the way, the ends included. */
static u32 way(struct ang_view *v, u32 from, u32 to)
{
	struct ang_fabric *fab = v->fab;
	u32 at = from;

	if (ang_recover_torn(fab, from))
		return from;
	if (ang_recover_torn(fab, to))
		return to;
	while (!gone(fab, at)) {
		u32 dir = ang_topo_route(&v->topo, at, to);

		if (dir == ANGARA_PORT_NONE)
			return ANG_NONE;
		at = ang_topo_neighbor(&v->topo, at, dir);
		ang_work(v, ANG_WORK_HOP);
	}
	return at;
}

/**
 * ang_lost_between() - can two nodes exchange packets?
 * @v: view
 * @from: node
 * @to: node
 *
 * Return: a lost node on the way there or back, ANG_NONE if there is none.
 */
u32 ang_lost_between(struct ang_view *v, u32 from, u32 to)
{
	u32 lost = way(v, from, to);

	return lost == ANG_NONE ? way(v, to, from) : lost;
}

/*
 * A root sends results of a reduce to any node that asks for them: it has to
 * reach all that are left.
 */
static u32 row_culprit(struct ang_view *v, struct ang_node *n,
		       const struct angara_tree_row *row)
{
	struct ang_fabric *fab = v->fab;
	u64 set = row->ports | ang_port_up(row);
	u32 to;

	for (; set; set &= set - 1) {
		u32 peer = ang_port(fab, n, ang_lowest(set))->peer;

		if (ends_nothing(fab, peer))
			return peer;
	}
	for (to = 0; row->is_root && to < fab->cfg.topo.nodes; to++) {
		u32 lost = ends_nothing(fab, to) ? ANG_NONE :
						   way(v, n->id, to);

		if (lost != ANG_NONE)
			return lost;
	}
	return ANG_NONE;
}

/**
 * ang_lost_row() - can a tree do its work at a node?
 * @v: view
 * @n: node
 * @row: its row
 *
 * Return: a lost node that the row needs, ANG_NONE if there is none.
 */
u32 ang_lost_row(struct ang_view *v, struct ang_node *n,
		 const struct angara_tree_row *row)
{
	return ang_load_acquire(&v->fab->lost) ? row_culprit(v, n, row) :
						 ANG_NONE;
}

static void ctx_lost(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	u32 i;

	for (i = 0; i < v->fab->cfg.ops; i++) {
		struct ang_op *op = ang_op(n, c, i);
		u32 lost;

		if (op->state != ANG_OP_ACTIVE || !ang_op_is_p2p(op))
			continue;
		lost = ang_lost_between(v, n->id, op->dst_node);
		if (lost == ANG_NONE)
			continue;
		ang_op_fail(op, ANGARA_ST_UNREACHABLE, lost);
		ang_op_done(v, n, c, op);
	}
}

static void link_lost(struct ang_view *v, struct ang_node *n, u32 dir)
{
	u32 peer = ang_port(v->fab, n, dir)->peer;

	if (n->dead_links >> dir & 1 || !gone(v->fab, peer))
		return;
	n->dead_links |= 1ULL << dir;
	ang_event(v, n, ANGARA_AEV_LINK_DOWN, dir, peer);
}

static void tree_lost(struct ang_view *v, struct ang_node *n, u32 tree)
{
	struct ang_tree *t = &n->tree[tree];
	u32 culprit;

	if (t->state != ANGARA_TREE_STATE_UP)
		return;
	culprit = row_culprit(v, n, &t->row);
	if (culprit != ANG_NONE)
		ang_tree_down(v, n, tree, ANGARA_ST_TREE_DOWN, culprit, 0);
}

/* Links, then trees, then contexts, by their place in that order. */
static void part_lost(struct ang_view *v, struct ang_node *n, u32 place)
{
	struct ang_ctx *c;

	if (place < v->fab->nports) {
		link_lost(v, n, place);
		return;
	}
	place -= v->fab->nports;
	if (place < v->fab->cfg.trees) {
		tree_lost(v, n, place);
		return;
	}
	c = ang_ctx(v->fab, n, place - v->fab->cfg.trees);
	if (c->alive)
		ctx_lost(v, n, c);
	ang_send_lost(v, n, c);
	ang_msg_lost(v, n, c);
}

static u32 num_parts(const struct ang_fabric *fab, const struct ang_node *n)
{
	return fab->nports + fab->cfg.trees +
	       (ang_is_switch(fab, n) ? 0 : fab->cfg.ctxs);
}

/**
 * ang_lost() - act on the loss of nodes
 * @v: view
 * @n: node that is held
 *
 * Return: false if the step has done enough, and there is more to do.
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
	n->lost = lost;
	return true;
}

/**
 * ang_lost_act() - end what needs nodes that are torn, however much that is
 * @v: view
 * @n: node that is held
 */
void ang_lost_act(struct ang_view *v, struct ang_node *n)
{
	u32 i;

	for (i = 0; i < num_parts(v->fab, n); i++)
		part_lost(v, n, i);
}

void ang_remote_lost(struct ang_view *v, const u32 *nodes, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		WRITE_ONCE(ang_node(v->fab, nodes[i])->remote, ANG_REMOTE_GONE);
	ang_fetch_add(&v->fab->lost, 1);
	for (i = 0; i < v->topo.routers; i++) {
		struct ang_node *n = ang_node(v->fab, i);

		if (READ_ONCE(n->remote) != ANG_REMOTE_NO)
			continue;
		ang_store_release(&n->db_admin, 1);
		ang_wake(v, n, 0);
	}
}
