// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions that the host executes itself, without packets.
 *
 * A host may execute allreduces and barriers of a tree itself.  It announces
 * that to each router of the tree by ang_tree_aside(), and counts the
 * reductions of the whole tree.  This file adds to the counters of a router
 * what packets would have added: when the counters of the router are read, when
 * the tree goes down at the router, and when the host calls ang_tree_report().
 *
 * The counts are as follows.  Each contribution goes into the Reducer of its
 * node.  For each packet of a result, a node sends one packet to its parent,
 * receives one packet from its parent, and gives this packet to its children
 * and participants.  For every ANG_CREDIT_DOWN results, of packets or of the
 * host, a node sends a credit to each child.
 */
#include "ang_int.h"

/**
 * ang_tree_aside() - note that the host executes the reductions of a tree
 * @v: view; if the router gets work meanwhile, it is put on the view's run
 *	queue
 * @router: router
 * @tree: TreeId
 * @life: life of the row, from ang_tree_look()
 * @hops: links that a result crosses on its way up to the root and down to
 *	@router
 *
 * Return: true; false: the router is busy, or the row is down or was set again.
 */
bool ang_tree_aside(struct ang_view *v, u32 router, u32 tree, u32 life, u32 hops)
{
	struct ang_node *n = ang_node(v->fab, router);
	struct ang_tree *t = &n->tree[tree];
	bool lives;

	if (!ang_node_seize(v, n))
		return false;
	lives = t->state == ANGARA_TREE_STATE_UP && t->life == life;
	if (lives && !t->aside) {
		t->aside = 1;
		t->aside_hops = hops;
		v->ops->aside(v->host, t->root, tree, &t->counted);
	}
	ang_node_drop(v, n);
	return lives;
}

/* Count on a link: one contribution or one result of each reduction. */
static void link_add(struct ang_view *v, struct ang_node *n, u32 port, u32 vc,
		     const struct ang_aside *d)
{
	struct ang_link *link = &ang_port(v->fab, n, port)->link;

	link->packets[vc] += d->packets;
	link->flits[vc] += d->flits;
	n->clock += d->flits;
}

/* Count one packet to the parent, if there is one, and one to each child. */
static void links_add(struct ang_view *v, struct ang_node *n,
		      const struct ang_tree *t, const struct ang_aside *d)
{
	u64 set;

	if (!t->row.is_root)
		link_add(v, n, t->row.to_root, ANGARA_VC_UP, d);
	for (set = t->row.ports; set; set &= set - 1)
		link_add(v, n, ang_lowest(set), ANGARA_VC_DOWN, d);
}

/* Count in the Reducer: a contribution of each contributor, and one result. */
static void reducer_add(struct ang_node *n, struct ang_tree *t,
			const struct ang_aside *d)
{
	u32 in = t->members + ang_count(t->row.ports);

	t->cnt.reduce_packets += d->packets * in;
	t->cnt.reduce_results += d->packets;
	if (!t->cnt.max_in_flight)
		t->cnt.max_in_flight = 1;
	n->clock += d->flits * (in + 1);
}

/*
 * Count, per reduction, an entry, its packets sent and received, and a
 * completion.
 */
static void ctx_add(struct ang_ctx *c, const struct ang_aside *d)
{
	c->cnt.wqes += d->ops;
	c->cnt.cqes += d->ops;
	c->cnt.tx_packets += d->packets;
	c->cnt.tx_bytes += d->bytes;
	c->cnt.rx_packets += d->packets;
	c->cnt.rx_bytes += d->bytes;
}

/*
 * Count packets that each participant injects, and one ejection of each result.
 */
static void members_add(struct ang_view *v, struct ang_node *n,
			const struct ang_tree *t, const struct ang_aside *d)
{
	u32 i;

	if (!t->row.pe)
		return;
	for (i = 0; i < t->members; i++)
		ctx_add(ang_ctx(v->fab, n, t->member[i]), d);
	n->cnt.injected_packets += d->packets * t->members;
	n->cnt.injected_flits += d->flits * t->members;
	n->cnt.ejected_packets += d->packets;
	n->cnt.ejected_flits += d->flits;
	n->cnt.hops += d->packets * t->aside_hops;
	n->clock += d->flits * (t->members + 1);
}

/* Return: credits for all results, minus those that packets have counted. */
static u64 credits_worth(const struct ang_tree *t)
{
	return (t->done + t->aside_results) / ANG_CREDIT_DOWN -
	       t->done / ANG_CREDIT_DOWN;
}

/*
 * Count the credits not counted yet.  Their number may be negative, if packets
 * have counted the same credit meanwhile.
 */
static void credits_add(struct ang_view *v, struct ang_node *n, struct ang_tree *t)
{
	u64 worth = credits_worth(t);
	u64 more = worth - t->aside_credits;
	const struct ang_aside d = {
		.packets = more, .flits = more * ang_flits_of(1, 0),
	};
	u64 set;

	t->aside_credits = worth;
	if (!t->row.is_root)
		t->cnt.credits_received += more;
	if (!t->row.ports)
		return;
	t->cnt.credits_sent += more;
	for (set = t->row.ports; set; set &= set - 1)
		link_add(v, n, ang_lowest(set), ANGARA_VC_DOWN, &d);
}

/*
 * Count results that have to be reported to the PE.  For results of packets,
 * ang_result_count() does this.
 */
static void pe_owe(struct ang_view *v, struct ang_node *n, const struct ang_tree *t,
		   u64 results)
{
	if (!t->row.pe || !results)
		return;
	n->unreported += (u32)results;
	if (n->unreported >= ANG_CREDIT_PE)
		ang_credit_pe(v, n, false);
	else if (!n->timer)
		ang_timer_start(v, n, n->clock + ANG_CREDIT_TIME);
}

/**
 * ang_aside_count() - count the reductions that the host has executed since the
 * last call
 * @v: view
 * @n: node or switch, held
 * @t: tree of @n
 */
void ang_aside_count(struct ang_view *v, struct ang_node *n, struct ang_tree *t)
{
	struct ang_aside now, d;

	if (t->state != ANGARA_TREE_STATE_UP || !t->aside)
		return;
	v->ops->aside(v->host, t->root, t->row.tree, &now);
	d.ops = now.ops - t->counted.ops;
	d.packets = now.packets - t->counted.packets;
	d.flits = now.flits - t->counted.flits;
	d.bytes = now.bytes - t->counted.bytes;
	t->counted = now;
	t->aside_results += d.packets;
	if (d.ops) {
		links_add(v, n, t, &d);
		reducer_add(n, t, &d);
		members_add(v, n, t, &d);
	}
	credits_add(v, n, t);
	pe_owe(v, n, t, d.packets);
}

/** ang_aside_count_all() - ang_aside_count() for all trees of a node */
void ang_aside_count_all(struct ang_view *v, struct ang_node *n)
{
	u32 i;

	for (i = 0; i < v->fab->cfg.trees; i++)
		ang_aside_count(v, n, &n->tree[i]);
}

/**
 * ang_tree_report() - count reductions of the host, and report them to the PE
 * @v: view; if the router gets work meanwhile, it is put on the view's run
 *	queue
 * @router: router
 * @tree: TreeId
 *
 * Nothing happens if the router is busy.
 */
void ang_tree_report(struct ang_view *v, u32 router, u32 tree)
{
	struct ang_node *n = ang_node(v->fab, router);

	if (!ang_node_seize(v, n))
		return;
	ang_aside_count(v, n, &n->tree[tree]);
	ang_node_leave(v, n);
}
