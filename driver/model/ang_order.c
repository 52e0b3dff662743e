// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The Reducer, for reductions that depend on the order of combining.
 *
 * Rounding makes the result depend on the order of combining, and the result
 * must not depend on the order of arrival.  So each contributor has a place:
 * participants of this node in the order in which they joined, or at the places
 * that they requested, then children in the order of ports.  Contributions are
 * combined from the first place to the last; a contribution that arrives before
 * those of earlier places waits in the slot.  So the result depends only on the
 * tree and on the places of its participants.
 *
 * Participants of the node precede its children, so they wait only for each
 * other; see ang_link.c.
 */
#include "ang_int.h"

/*
 * Insert a buffer into the list of waiting contributions, which is in the order
 * of places.
 */
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

/* Combine waiting contributions up to the first missing place. */
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
 * ang_order_take() - take a contribution to a reduction whose order matters
 * @v: view
 * @s: slot of the reduction, which has begun and lacks that place
 * @p: contribution; the caller's payload reference passes to the slot
 * @bit: place of the contribution
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
 * ang_order_turn() - would a contribution be combined as soon as it arrives?
 * @v: view
 * @n: node
 * @p: contribution that a context of this node is about to send
 *
 * Return: true if it would.  If participants disagree on the operation, this is
 * detected when the contribution arrives.
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

/** ang_order_flush() - free the waiting contributions of a slot */
void ang_order_flush(struct ang_view *v, struct ang_slot *s)
{
	while (s->waiting) {
		u64 buf = s->waiting;

		s->waiting = *ang_buf_link(v, buf);
		ang_buf_put(v, buf, 1);
	}
}
