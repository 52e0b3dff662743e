// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lanes: several threads in one node at a time.
 *
 * A put or get of one packet that does without links (ang_express.c) needs its
 * own context whole.  Of all else at the two nodes it needs memory regions and
 * identities, which it reads, and counters.  So threads may do such operations of
 * different contexts at once: each is in a source lane of its own node, and in a
 * target lane of the other one.  A lane has counters of its own.
 *
 * Each context has one source lane; a thread in a source lane has all contexts of
 * that lane, to the exclusion of others.  Any free target lane serves.
 *
 * ang_node.lanes says whether threads may enter.  Only the holder of the node
 * writes it.  It opens the lanes of a node at rest after ang_view.calm small
 * operations in a row.  The next holder closes them before anything else, and
 * adds their counters to those of the node and its contexts; it lets go of the
 * node again if a thread is still in a lane.  So no view waits for another one,
 * and what is true for a held node remains so: nothing of it changes under its
 * holder.
 *
 * Memory order: a thread takes a lane, then reads ang_node.lanes; the holder
 * writes that, then reads which lanes are taken.  With full barriers on both
 * sides, one of them sees the other.
 *
 * A thread that ends in a lane leaves the target whole: that has lost some counts
 * at most.  The context in the source lane may be in any state, so its node is
 * torn; see ang_recover.c.
 */
#include "ang_int.h"

static struct ang_lane *lane_at(struct ang_fabric *fab, struct ang_node *n, u32 nr)
{
	return (struct ang_lane *)((char *)fab + n->pe + fab->off_lane) + nr;
}

/* Return: NULL if the lane is taken, or the node's lanes are not open. */
static struct ang_lane *lane_enter(struct ang_node *n, struct ang_lane *l)
{
	/* The read alone leaves the line with its owner. */
	if (READ_ONCE(l->taken) || ang_cmpxchg(&l->taken, 0, 1))
		return NULL;
	if (ang_load_acquire(&n->lanes) == ANG_LANES_OPEN)
		return l;
	ang_lane_leave(l);
	return NULL;
}

/**
 * ang_lane_target() - enter a node as the target of a small operation
 * @v: view, which does not hold it
 * @c: context that has the operation
 * @n: node of that
 * @t: the target
 *
 * Return: a lane, for ang_lane_leave(); NULL if none is open and free.
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

/* Has a context nothing to do but to fetch its next entry? */
static bool ctx_rests(const struct ang_ctx *c)
{
	return c->alive && !c->nops && !c->ghosts && !c->rouse && !c->at &&
	       !c->area.told;
}

/**
 * ang_lane_bell() - carry out what a doorbell announces, if these are small
 * operations
 * @v: view
 * @n: node, not held
 * @ctx: context, any number below that of the fabric
 * @pi: producer index
 *
 * Return: true: all is done; false: there is something that needs the node, and
 * the doorbell is still to be rung.
 */
bool ang_lane_bell(struct ang_view *v, struct ang_node *n, u32 ctx, u32 pi)
{
	struct ang_ctx *c = ang_ctx(v->fab, n, ctx);
	struct ang_lane *l;
	bool all = false;

	if (ang_load_acquire(&n->lanes) != ANG_LANES_OPEN)
		return false;
	l = lane_enter(n, lane_at(v->fab, n, ctx % ANG_LANES));
	if (!l)
		return false;
	ang_work(v, ANG_WORK_STEP);
	v->stop = v->work + v->turn;
	if (ctx_rests(c) && pi - c->sq_ci <= 1U << c->sq_log2) {
		/* As in ang_reg_write(). */
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
 * ang_lane_send() - count what leaves a node by a link
 * @v: view
 * @n: node
 * @l: lane in it
 * @dir: link
 * @npkts: packets
 * @flits: flits
 *
 * A lane counts one link at a time.
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
 * @l: lane in it
 * @c: context
 * @len: payload bytes
 *
 * A lane counts for one context at a time.
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

static void lanes_fold(struct ang_fabric *fab, struct ang_node *n)
{
	u32 i;

	for (i = 0; i < 2 * ANG_LANES; i++) {
		struct ang_lane *l = lane_at(fab, n, i);

		if (l->ejected_packets | l->injected_packets)
			lane_fold(fab, n, l);
	}
	ang_store_release(&n->lanes, ANG_LANES_SHUT);
}

/**
 * ang_lanes_close() - close the lanes of a node that has just been taken
 * @v: view
 * @n: node, held; its lanes are not shut
 *
 * Return: false: a thread is in one, so the view has to let go of the node.
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
	lanes_fold(v->fab, n);
	return true;
}

/**
 * ang_lanes_offer() - open the lanes of a node that is about to be released, if
 * that pays
 * @v: view
 * @n: node, held, with nothing to do
 */
void ang_lanes_offer(const struct ang_view *v, struct ang_node *n)
{
	if (!v->calm || n->calm < v->calm)
		return;
	n->calm = 0;
	ang_store_release(&n->lanes, ANG_LANES_OPEN);
}

/**
 * ang_lanes_bar() - let no thread enter, while another one may hold the node
 * @fab: fabric, all of whose nodes are held or fenced
 * @n: node
 *
 * Return: is a context in a source lane?
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
 * @fab: fabric, in which no other thread is
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

/** ang_lanes_init() - name what each lane counts */
void ang_lanes_init(struct ang_fabric *fab, struct ang_node *n)
{
	u32 i;

	for (i = 0; i < 2 * ANG_LANES; i++)
		lane_at(fab, n, i)->vc = i < ANG_LANES ? ANGARA_VC_REQ :
							 ANGARA_VC_RSP;
}
