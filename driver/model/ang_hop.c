// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Packets of trees without links.
 *
 * Packets define the behaviour, and this shortcut must have the same effects,
 * as in ang_express.c.  A packet of a tree that is about to cross a link is
 * given to the neighbor at once, if the neighbor is idle and the ring is empty.
 * The packet is counted, checked and taken by the same functions as a packet
 * from the ring.  So every node is always in a state that it could also reach
 * by packets, and for each hop the packet may use the link or bypass it.
 *
 * A contribution goes into the parent's Reducer, a request into the root's
 * FIFO, a result or broadcast to the participants of a leaf; a credit is added to
 * the child's credits.  Other packets are put into the ring of the neighbor, which
 * then has work.
 *
 * After a doorbell (ang_view.climb), the view keeps holding a neighbor that now
 * has work, at most one (ang_view.hop), and advances it when the sender is
 * released: so the last contribution travels up to the root, and the result
 * down, without a run queue.  A view holds at most three nodes: the sender, its
 * neighbor, and the neighbor kept before.  A thread that dies leaves only these
 * nodes torn.  If the neighbor is busy, the packet uses the link.
 */
#include "ang_int.h"

/*
 * May a packet bypass its link?  OPEN and ABORT packets, which announce lives
 * of rows, always use links, see ang_tree_open.c.
 */
static bool hop_may(const struct ang_view *v, const struct ang_pkt *p)
{
	return ang_linkless(v) && p->type != ANG_PKT_OPEN &&
	       p->type != ANG_PKT_ABORT && !ang_spent(v);
}

/* Put a packet into the ring of a node that the view also holds. */
static void hop_queue(struct ang_view *v, struct ang_node *n,
		      struct ang_ring *r, const struct ang_pkt *p, u32 nr)
{
	r->pkt[r->tail & (v->fab->cfg.depth - 1U)] = *p;
	ang_store_release(&r->put, r->put + 1);
	ang_store_release(&r->tail, r->tail + 1);
	n->rx |= 1U << (nr >> v->fab->ring_shift);
}

/* Release the neighbor, or keep it if it has work. */
static void hop_leave(struct ang_view *v, struct ang_node *n)
{
	if (v->climb && !v->hop && ang_node_due(n))
		v->hop = n;
	else
		ang_node_leave(v, n);
}

/**
 * ang_hop() - give a packet of a tree to a neighbor that is idle
 * @v: view
 * @n: node
 * @p: packet; the caller's payload reference passes to the neighbor
 * @dir: link by which the packet would leave
 * @vc: virtual channel of @dir
 *
 * Return: true: the packet was delivered; false: nothing was changed.
 */
bool ang_hop(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p,
	     u32 dir, u32 vc)
{
	struct ang_port *port = ang_port(v->fab, n, dir);
	struct ang_node *peer = ang_node(v->fab, port->peer);
	struct ang_ring *r = ang_ring(v->fab, peer, port->far, vc);
	struct ang_pkt q;

	if (!hop_may(v, p) || !ang_node_seize(v, peer))
		return false;
	if (!ang_ring_clear(v, r)) {
		ang_node_drop(v, peer);
		return false;
	}
	q = *p;
	ang_link_count(v, n, &q, dir, vc);
	if (!(vc == ANGARA_VC_UP ? ang_up_now(v, peer, &q, port->far) :
				   ang_down_now(v, peer, &q, port->far)))
		hop_queue(v, peer, r, &q, port->far * ANGARA_VC_NUM + vc);
	hop_leave(v, peer);
	return true;
}

/**
 * ang_hop_turn() - do the work of a node's trees, outside of a step
 * @v: view with ang_view.climb, which is cleared; ang_view.stop limits the work
 * @n: node, between two steps
 *
 * Then does the work of nodes that have got work from @n, one after the other.
 *
 * Context: releases @n.
 */
void ang_hop_turn(struct ang_view *v, struct ang_node *n)
{
	while (n) {
		if (ang_node_due(n))
			ang_node_settle(v, n);
		ang_node_leave(v, n);
		n = v->hop;
		v->hop = NULL;
	}
	v->climb = false;
}
