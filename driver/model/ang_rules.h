/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: rules of the network that know neither node nor time.
 *
 * The model's blocks and the simulator's (tools/sim) decide by these, so that
 * what stands in one stands in the other.
 */
#ifndef ANG_RULES_H
#define ANG_RULES_H

#include "ang_types.h"

static inline u32 ang_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* Number of a set's lowest member; the set is not empty. */
static inline u32 ang_lowest(u64 set)
{
	return (u32)__builtin_ctzll(set);
}

/* __builtin_popcountll() may call into libgcc. */
static inline u32 ang_count(u32 set)
{
	u32 n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

static inline void ang_set_bit(u64 *words, u32 bit)
{
	words[bit / 64] |= 1ULL << (bit % 64);
}

/* Packets that @len bytes make. */
static inline u32 ang_packets(u32 len)
{
	return len ? (len + ANGARA_PACKET_BYTES - 1) / ANGARA_PACKET_BYTES : 1;
}

/** ang_flits_of() - flits of @npkts packets that carry @len bytes together */
static inline u32 ang_flits_of(u32 npkts, u32 len)
{
	return npkts + (len + ANGARA_FLIT_BYTES - 1) / ANGARA_FLIT_BYTES;
}

/* Flits of a train: a head each, and data where it carries some. */
static inline u32 ang_flits(const struct ang_pkt *p)
{
	return ang_flits_of(p->npkts, p->buf ? p->len : 0);
}

/** ang_ring_minus() - is "-" the way on a ring? A tie goes "+". */
static inline u32 ang_ring_minus(u32 size, u32 from, u32 to)
{
	u32 plus = to > from ? to - from : to + size - from;

	return plus * 2 > size;
}

/** ang_route_coords() - ang_topo_route() for who knows the coordinates */
static inline u32 ang_route_coords(const struct ang_topo *topo, const u16 *from,
				   const u16 *to)
{
	u32 d;

	for (d = 0; d < topo->ndims; d++)
		if (from[d] != to[d])
			return 2 * d + ang_ring_minus(topo->dims[d], from[d],
						      to[d]);
	return ANGARA_PORT_NONE;
}

/** ang_straight() - does a packet from link @in that leaves by @out stay on its ring? */
static inline bool ang_straight(u32 in, u32 out)
{
	return in != ANGARA_PORT_NONE && out == (in ^ 1);
}

/** ang_room_needed() - places that must be free on a ring: bubble flow control */
static inline u32 ang_room_needed(bool straight)
{
	return straight ? 1 : 2;
}

/** ang_links_down() - ports down of a row, in a model whose routers have few */
static inline u32 ang_links_down(const struct angara_tree_row *row)
{
	return (u32)row->ports;
}

/** ang_outs_down() - where a packet goes that comes down a tree */
static inline u32 ang_outs_down(const struct angara_tree_row *row)
{
	return ang_links_down(row) | (row->pe ? ANG_OUT_PE : 0);
}

/** ang_pe_last() - outputs that may be served now: the PE when no other is left */
static inline u32 ang_pe_last(u32 todo)
{
	u32 links = todo & ~ANG_OUT_PE;

	return links ? links : todo;
}

/** ang_tree_places() - places of those that make a result */
static inline u32 ang_tree_places(const struct angara_tree_row *row)
{
	return ((1U << row->pe) - 1) | ang_links_down(row) << ANG_PLACE_DIRS;
}

/**
 * ang_ordered() - does the result hang on the order of combining?
 * @type: ANGARA_TYPE_*
 * @redop: ANGARA_RED_*, one of @type's
 *
 * Sums and products that are rounded do.
 */
static inline bool ang_ordered(u32 type, u32 redop)
{
	return (type == ANGARA_TYPE_FLOAT || type == ANGARA_TYPE_DOUBLE) &&
	       (redop == ANGARA_RED_SUM || redop == ANGARA_RED_PROD);
}

/** ang_reduces_fit() - is a train within the ReduceIds that follow result @done? */
static inline bool ang_reduces_fit(u32 seq, u32 npkts, u32 done)
{
	return seq - done < ANGARA_MAX_REDUCES &&
	       seq + npkts - done <= ANGARA_MAX_REDUCES;
}

/** ang_credit_due() - do the children get a credit when @done grows by @npkts? */
static inline bool ang_credit_due(u32 done, u32 npkts)
{
	return (done + npkts) / ANG_CREDIT_DOWN != done / ANG_CREDIT_DOWN;
}

#endif /* ANG_RULES_H */
