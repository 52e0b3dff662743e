// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lanes: several threads may work in one node at a time.
 *
 * A put or get of one packet that bypasses links (ang_express.c), a small
 * operation, needs exclusive access to its own context only.  It also reads
 * memory regions and identities of the two nodes, and adds to counters.  So
 * several threads may execute small operations of different contexts at the
 * same time: each thread is in a source lane of its own node, and in a target
 * lane of the target's node.  Each lane has counters of its own.
 *
 * Each context has one source lane; a thread in a source lane has exclusive
 * access to all contexts of that lane.  A thread may use any free target lane.
 *
 * ang_node.lanes determines whether threads may enter lanes.  Only the view
 * that holds the node writes it.  That view opens the lanes of an idle node
 * after ang_view.calm small operations in a row.  The next view that takes the
 * node closes the lanes before anything else, and adds their counters to those
 * of the node and its contexts; if a thread is still in a lane, the view
 * releases the node again.  So no view waits for another, and no other thread
 * changes a node while a view holds it.
 *
 * Memory order: a thread takes a lane, then reads ang_node.lanes; the holder
 * writes ang_node.lanes, then reads which lanes are taken.  Both have a full
 * barrier in between, so at least one of them sees the other's write.
 *
 * If a thread dies in a lane, only some counts are lost at the target.  The
 * context in the source lane may be in any state, so its node is torn; see
 * ang_recover.c.
 */
#include "ang_int.h"

static struct ang_lane *lane_at(struct ang_fabric *fab, struct ang_node *n, u32 nr)
{
	return (struct ang_lane *)((char *)fab + n->pe + fab->off_lane) + nr;
}

/*
 * Take a lane.  Return: NULL if it is taken, or the node's lanes are not open.
 */
static struct ang_lane *lane_enter(struct ang_node *n, struct ang_lane *l)
{
	/*
	 * Read first: a cmpxchg, even if it fails, takes the cache line from
	 * the processor that uses the lane.
	 */
	if (READ_ONCE(l->taken) || ang_cmpxchg(&l->taken, 0, 1))
		return NULL;
	if (ang_load_acquire(&n->lanes) == ANG_LANES_OPEN)
		return l;
	ang_lane_leave(l);
	return NULL;
}

/**
 * ang_lane_target() - enter a node as the target of a small operation
 * @v: view, which does not hold @t
 * @c: context that has the operation
 * @n: node of @c
 * @t: target node
 *
 * Return: a lane, which the caller leaves by ang_lane_leave(); NULL if the lanes
 * are not open, or none is free.
 */
struct ang_lane *ang_lane_target(struct ang_view *v, const struct ang_ctx *c,
				 const struct ang_node *n, struct ang_node *t)
{
	u32 i;

	if (ang_load_acquire(&t->lanes) != ANG_LANES_OPEN)
		return NULL;
	for (i = 0; i < ANG_LANES; i++) {
		u32 nr = ANG_LANES + (n->id + c->id + i) % ANG_LANES;
		struct ang_lane *l = lane_enter(t, lane_at(v->fab, t, nr));

		if (l)
			return l;
	}
	return NULL;
}

/* Is a context idle?  It may have entries to fetch. */
static bool ctx_rests(const struct ang_ctx *c)
{
	return c->alive && !c->nops && !c->ghosts && !c->wake && !c->at &&
	       !c->area.notified;
}

/**
 * ang_lane_bell() - execute the entries that a doorbell announces, up to the
 * first one that is not a small operation
 * @v: view
 * @n: node, not held; its lanes were open when the caller checked
 * @ctx: number of the context, below cfg.ctxs
 * @pi: producer index
 *
 * Return: true: all entries are executed; false: an entry can be executed only
 * by a view that holds the node, so the caller has to ring the doorbell.
 */
bool ang_lane_bell(struct ang_view *v, struct ang_node *n, u32 ctx, u32 pi)
{
	struct ang_ctx *c = ang_ctx(v->fab, n, ctx);
	struct ang_lane *l;
	bool all = false;

	l = lane_enter(n, lane_at(v->fab, n, ctx % ANG_LANES));
	if (!l)
		return false;
	ang_work(v, ANG_WORK_STEP);
	v->stop = v->work + v->turn;
	if (ctx_rests(c) && pi - c->sq_ci <= 1U << c->sq_log2) {
		/* Release the entries, as in ang_reg_write(). */
		ang_store_release(&c->db_sq, pi);
		c->lane = 1;
		c->sq_pi = pi;
		while (c->sq_ci != pi && !ang_spent(v) && ang_fetch_small(v, n, c, l))
			;
		ang_ctx_tell(v, n, c);
		c->lane = 0;
		all = c->sq_ci == pi;
	}
	ang_lane_leave(l);
	return all;
}

/**
 * ang_lane_send() - count packets that leave a node by a link
 * @v: view
 * @n: node
 * @l: lane of @n
 * @dir: link
 * @npkts: number of packets
 * @flits: number of flits
 *
 * A lane counts packets of one link; if the link changes, the lane's counts are
 * added to those of the previous link's port.
 */
void ang_lane_send(struct ang_view *v, struct ang_node *n, struct ang_lane *l,
		   u32 dir, u32 npkts, u32 flits)
{
	if (l->packets && l->port != dir) {
		struct ang_passed *passed = &ang_port(v->fab, n, l->port)->passed;

		ang_fetch_add(&passed->packets[l->vc], l->packets);
		ang_fetch_add(&passed->flits[l->vc], l->flits);
		l->packets = 0;
		l->flits = 0;
	}
	l->port = dir;
	l->packets += npkts;
	l->flits += flits;
}

/**
 * ang_lane_receive() - count a packet that a context receives
 * @v: view
 * @n: node
 * @l: lane of @n
 * @c: context
 * @len: payload bytes
 *
 * A lane counts packets of one context; if the context changes, the lane's counts
 * are added to those of the previous context.
 */
void ang_lane_receive(struct ang_view *v, struct ang_node *n, struct ang_lane *l,
		      const struct ang_ctx *c, u32 len)
{
	if (l->rx_packets && l->ctx != c->id) {
		struct ang_ctx *before = ang_ctx(v->fab, n, l->ctx);

		ang_fetch_add(&before->cnt.rx_packets, l->rx_packets);
		ang_fetch_add(&before->cnt.rx_bytes, l->rx_bytes);
		l->rx_packets = 0;
		l->rx_bytes = 0;
	}
	l->ctx = c->id;
	l->rx_packets++;
	l->rx_bytes += len;
}

/*
 * Increase ang_node.calm by a number of small operations, up to ANG_CALM_SPELLS
 * times ang_view.calm; for any other activity, ang_lanes_visit() reduces it by
 * ang_view.calm.  Lanes open at ang_view.calm, so a process that only polls the
 * node now and then does not keep the lanes shut.
 */
static void calm_add(const struct ang_view *v, struct ang_node *n, u64 small)
{
	u64 most = (u64)ANG_CALM_SPELLS * v->calm;
	u64 calm = n->calm + small;

	n->calm = calm < most ? (u32)calm : (u32)most;
}

/**
 * ang_lanes_calm() - undo ang_lanes_visit() and count small operations, if the
 * node has done nothing else since it was taken
 * @v: view
 * @n: node
 * @small: number of small operations
 */
void ang_lanes_calm(const struct ang_view *v, struct ang_node *n, u32 small)
{
	n->calm = n->spell;
	calm_add(v, n, small);
}

/* Add a lane's counts to those of its node, which is held. */
static void lane_fold(struct ang_fabric *fab, struct ang_node *n, struct ang_lane *l)
{
	struct ang_ctx *c = ang_ctx(fab, n, l->ctx);
	struct ang_link *link = &ang_port(fab, n, l->port)->link;

	link->packets[l->vc] += l->packets;
	link->flits[l->vc] += l->flits;
	c->cnt.rx_packets += l->rx_packets;
	c->cnt.rx_bytes += l->rx_bytes;
	n->cnt.injected_packets += l->injected_packets;
	n->cnt.injected_flits += l->injected_flits;
	n->cnt.ejected_packets += l->ejected_packets;
	n->cnt.ejected_flits += l->ejected_flits;
	n->cnt.hops += l->hops;
	n->clock += l->injected_flits + l->flits + l->ejected_flits;
	memset((char *)l + offsetof(struct ang_lane, port), 0,
	       sizeof(*l) - offsetof(struct ang_lane, port));
}

/*
 * Add all lanes' counts.  Return: small operations since the lanes were opened.
 */
static u64 lanes_fold(struct ang_fabric *fab, struct ang_node *n)
{
	u64 small = 0;
	u32 i;

	for (i = 0; i < 2 * ANG_LANES; i++) {
		struct ang_lane *l = lane_at(fab, n, i);

		small += l->injected_packets;
		if (l->ejected_packets | l->injected_packets)
			lane_fold(fab, n, l);
	}
	ang_store_release(&n->lanes, ANG_LANES_SHUT);
	return small;
}

/**
 * ang_lanes_close() - close the lanes of a node that has just been taken
 * @v: view
 * @n: node, held; its lanes are not shut
 *
 * Return: true; false: a thread is in a lane, so the view has to release the
 * node.
 */
bool ang_lanes_close(struct ang_view *v, struct ang_node *n)
{
	u32 i;

	ang_store_release(&n->lanes, ANG_LANES_CLOSING);
	ang_mb();
	ang_work(v, 2 * ANG_LANES * ANG_WORK_LOOK);
	for (i = 0; i < 2 * ANG_LANES; i++)
		if (ang_load_acquire(&lane_at(v->fab, n, i)->taken))
			return false;
	calm_add(v, n, lanes_fold(v->fab, n));
	return true;
}

/**
 * ang_lanes_bar() - let no thread enter the lanes of a node that another
 * thread may hold
 * @fab: fabric, all of whose nodes are held or fenced
 * @n: node
 *
 * Return: true if a thread is in a source lane.
 */
bool ang_lanes_bar(struct ang_fabric *fab, struct ang_node *n)
{
	u32 i;

	if (ang_is_switch(fab, n))
		return false;
	if (ang_load_acquire(&n->lanes) == ANG_LANES_OPEN)
		ang_store_release(&n->lanes, ANG_LANES_CLOSING);
	ang_mb();
	for (i = 0; i < ANG_LANES; i++)
		if (ang_load_acquire(&lane_at(fab, n, i)->taken))
			return true;
	return false;
}

/**
 * ang_lanes_clear() - empty the lanes of a node whose threads have ended
 * @fab: fabric that no other thread uses
 * @n: node
 */
void ang_lanes_clear(struct ang_fabric *fab, struct ang_node *n)
{
	u32 i;

	if (ang_is_switch(fab, n))
		return;
	for (i = 0; i < 2 * ANG_LANES; i++)
		ang_store_release(&lane_at(fab, n, i)->taken, 0);
	lanes_fold(fab, n);
}

/** ang_lanes_init() - set the virtual channel whose packets each lane counts */
void ang_lanes_init(struct ang_fabric *fab, struct ang_node *n)
{
	u32 i;

	for (i = 0; i < 2 * ANG_LANES; i++)
		lane_at(fab, n, i)->vc = i < ANG_LANES ? ANGARA_VC_REQ :
							 ANGARA_VC_RSP;
}
