// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The Reducer, where the order of combining counts.
 *
 * What is rounded depends on that order, and must not depend on the order of
 * arrival.  So each that contributes has a place: participants of this node as
 * they have joined or asked for, then children by their port.  Payload is
 * combined from the first place to the last; what comes too early waits in the
 * slot.  The result follows from the tree and its places alone.
 *
 * Own participants are the first, and not children: then they wait for each
 * other only, see ang_link.c.
 */
#include "ang_int.h"

/* Put a buffer where its place is among those that wait. */
static void slot_hold(struct ang_view *v, struct ang_slot *s, u64 buf, u64 bit)
{
	u64 *at = &s->waiting;
	u64 before;

	for (before = s->held & (bit - 1); before; before &= before - 1)
		at = ang_buf_link(v, *at);
	*ang_buf_link(v, buf) = *at;
	*at = buf;
	s->held |= bit;
}

/* Combine those that wait, as far as none before them is missing. */
static void slot_settle(struct ang_view *v, struct ang_slot *s)
{
	const struct ang_pkt *p = &s->pkt;
	u64 bit;

	for (bit = s->left & -s->left; s->held & bit; bit = s->left & -s->left) {
		u64 buf = s->waiting;

		s->waiting = *ang_buf_link(v, buf);
		s->held &= ~bit;
		s->left &= ~bit;
		if (!p->buf) {
			s->pkt.buf = buf;
			continue;
		}
		ang_work(v, ang_combine_work(p->len, p->dtype, p->redop));
		ang_combine(ang_buf_data(v, p->buf), ang_buf_data(v, buf),
			    p->len, p->dtype, p->redop);
		ang_buf_put(v, buf, 1);
	}
}

/**
 * ang_order_take() - the Reducer takes a packet whose place counts
 * @v: view
 * @s: its slot, which has begun and waits for that place
 * @p: packet; its payload reference goes with it
 * @bit: its place
 */
void ang_order_take(struct ang_view *v, struct ang_slot *s,
		    const struct ang_pkt *p, u64 bit)
{
	if (p->buf)
		slot_hold(v, s, p->buf, bit);
	else
		s->left &= ~bit;
	slot_settle(v, s);
}

/**
 * ang_order_turn() - would a contribution be combined as soon as it comes?
 * @v: view
 * @n: node
 * @p: what a context of this node is about to send, next in its tree
 *
 * Return: true.  That participants disagree is found out when it comes.
 */
bool ang_order_turn(struct ang_view *v, struct ang_node *n,
		    const struct ang_pkt *p)
{
	struct ang_tree *t = &n->tree[p->tree];
	const struct ang_slot *s = &t->slot[p->seq % ANGARA_MAX_REDUCES];
	u64 left = t->places;

	if (!ang_ordered(p->dtype, p->redop))
		return true;
	if (s->pkt.npkts)
		left = s->left;
	return (left & -left) == ang_place_bit(v, n, p, ANGARA_PORT_NONE);
}

/** ang_order_flush() - free what waits in a slot */
void ang_order_flush(struct ang_view *v, struct ang_slot *s)
{
	while (s->waiting) {
		u64 buf = s->waiting;

		s->waiting = *ang_buf_link(v, buf);
		ang_buf_put(v, buf, 1);
	}
}
