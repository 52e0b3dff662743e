/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: rules of the network that do not depend on a node or on
 * time.
 *
 * The model and the simulator (tools/sim) both use these functions, so both
 * follow the same rules.
 */
#ifndef ANG_RULES_H
#define ANG_RULES_H

#include "ang_types.h"

static inline u32 ang_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* Return: number of the lowest member of a set that is not empty. */
static inline u32 ang_lowest(u64 set)
{
	return (u32)__builtin_ctzll(set);
}

/*
 * Return: number of members of a set. __builtin_popcountll() may need libgcc,
 * which the kernel lacks.
 */
static inline u32 ang_count(u64 set)
{
	set -= set >> 1 & 0x5555555555555555ULL;
	set = (set & 0x3333333333333333ULL) + (set >> 2 & 0x3333333333333333ULL);
	set = (set + (set >> 4)) & 0x0F0F0F0F0F0F0F0FULL;
	return (u32)(set * 0x0101010101010101ULL >> 56);
}

static inline void ang_set_bit(u64 *words, u32 bit)
{
	words[bit / 64] |= 1ULL << (bit % 64);
}

/* Return: number of packets for @len bytes of payload. */
static inline u32 ang_packets(u32 len)
{
	return len ? (len + ANGARA_PACKET_BYTES - 1) / ANGARA_PACKET_BYTES : 1;
}

/** ang_flits_of() - flits of @npkts packets that carry @len bytes together */
static inline u32 ang_flits_of(u32 npkts, u32 len)
{
	return npkts + (len + ANGARA_FLIT_BYTES - 1) / ANGARA_FLIT_BYTES;
}

/* Return: flits of a train: a head for each packet, and the payload. */
static inline u32 ang_flits(const struct ang_pkt *p)
{
	return ang_flits_of(p->npkts, p->buf ? p->len : 0);
}

/*
 * ang_ring_minus() - is "-" the shorter direction on a ring? If both are
 * equally long, "+" is used.
 */
static inline u32 ang_ring_minus(u32 size, u32 from, u32 to)
{
	u32 plus = to > from ? to - from : to + size - from;

	return plus * 2 > size;
}

/** ang_route_coords() - ang_topo_route() for nodes given by coordinates */
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

/** ang_straight() - torus: does a packet from @in to @out stay on a ring? */
static inline bool ang_straight(u32 in, u32 out)
{
	return in != ANGARA_PORT_NONE && out == (in ^ 1);
}

/**
 * ang_room_needed() - places that must be free behind a link
 * @bubble: 1: the fabric uses bubble flow control (a torus); else 0
 * @straight: see ang_straight()
 */
static inline u32 ang_room_needed(u32 bubble, bool straight)
{
	return straight ? 1 : 1 + bubble;
}

/** ang_port_up() - set with the port to the parent; empty at the root */
static inline u64 ang_port_up(const struct angara_tree_row *row)
{
	return row->is_root ? 0 : 1ULL << row->to_root;
}

/**
 * ang_tree_places() - get the set of places of all contributors to a result
 * @row: row
 *
 * Local participants have the first places, then children in order of ports.
 */
static inline u64 ang_tree_places(const struct angara_tree_row *row)
{
	u32 count = row->pe + row->port_sum;

	return count ? ~0ULL >> (64 - count) : 0;
}

/** ang_child_place() - get the place of the child at port @port, as a set */
static inline u64 ang_child_place(const struct angara_tree_row *row, u32 port)
{
	return 1ULL << (row->pe + ang_count(row->ports & ((1ULL << port) - 1)));
}

/**
 * ang_ordered() - does the result depend on the order of combining?
 * @type: ANGARA_TYPE_*
 * @redop: ANGARA_RED_*, valid for @type
 *
 * Return: true for sums and products of floats, since they are rounded.
 */
static inline bool ang_ordered(u32 type, u32 redop)
{
	return (type == ANGARA_TYPE_FLOAT || type == ANGARA_TYPE_DOUBLE) &&
	       (redop == ANGARA_RED_SUM || redop == ANGARA_RED_PROD);
}

/** ang_reduces_fit() - do a train's ReduceIds fit into the 16 from @done on? */
static inline bool ang_reduces_fit(u32 seq, u32 npkts, u32 done)
{
	return seq - done < ANGARA_MAX_REDUCES &&
	       seq + npkts - done <= ANGARA_MAX_REDUCES;
}

/*
 * ang_credit_due() - are credits for the children due when @npkts results are
 * added to @done?
 */
static inline bool ang_credit_due(u32 done, u32 npkts)
{
	return (done + npkts) / ANG_CREDIT_DOWN != done / ANG_CREDIT_DOWN;
}

#endif /* ANG_RULES_H */
