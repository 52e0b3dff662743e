// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Broadcast from neighbour to neighbour on a ring, a torus or a hypercube, and
 * its dual, accumulation.
 *
 * Positions are counted from the root, modulo the size of each dimension.  On a
 * ring of r members a message goes r / 2 members up and the others down.  On a
 * torus it goes along dimension 0 first; all members that have it forward it
 * along dimension 1, and so on.  A hypercube is a torus whose sizes are all 2.
 *
 * Packets follow each other: a member forwards one while the next one arrives.
 */
#include "gen.h"

/*
 * Most children of a member: two in each dimension, one in the last nonzero
 * one.
 */
#define MAX_CHILDREN	64U

/**
 * struct place - a member's neighbours in the tree
 * @parent: rank of the parent; not of the root
 * @children: ranks of the children, those along lower dimensions first
 * @num: their number
 */
struct place {
	u32 parent;
	u32 children[MAX_CHILDREN];
	u32 num;
};

static u32 rank_at(const struct gen *g, u32 below, u32 r, u32 x)
{
	u32 rank = g->a->rank, own = rank / below % r;
	u32 root = g->a->root / below % r;

	return rank - own * below + (root + x) % r * below;
}

static struct place place_of(const struct gen *g)
{
	const struct ang_coll_args *a = g->a;
	struct place p = { 0 };
	u32 below = 1, d, r;

	for (d = 0; d < (a->ndims ? a->ndims : 1); d++, below *= r) {
		u32 x, up;

		r = a->ndims ? a->dims[d] : a->size;
		x = (a->rank / below % r + r - a->root / below % r) % r;
		up = r / 2;
		if (x) {
			/* Children along lower dimensions belong to position 0. */
			p.num = 0;
			p.parent = rank_at(g, below, r, x <= up ? x - 1 : (x + 1) % r);
		}
		if (x < up)
			p.children[p.num++] = rank_at(g, below, r, x + 1);
		if (!x && r > 2)
			p.children[p.num++] = rank_at(g, below, r, r - 1);
		if (x > up + 1)
			p.children[p.num++] = rank_at(g, below, r, x - 1);
	}
	return p;
}

/* Bytes of packet @k, which begins at @off. */
static size_t packet_at(const struct gen *g, u32 k, u32 packets, size_t *off)
{
	*off = gen_part(g, k, packets);
	return gen_part(g, k + 1, packets) - *off;
}

void ang_gen_bcast_torus(struct gen *g)
{
	u32 packets = ang_algo_packets(gen_len(g), g->a->packet), k, i;
	bool is_root = g->a->rank == g->a->root;
	struct place p = place_of(g);
	size_t off, len;

	if (is_root)
		gen_copy(g, out_at(0), in_at(0), gen_len(g));
	gen_fence(g);
	for (k = 0; k <= packets; k++) {
		if (!is_root && k < packets) {
			len = packet_at(g, k, packets, &off);
			gen_recv(g, p.parent, k, out_at(off), len);
		}
		for (i = 0; k && i < p.num; i++) {
			len = packet_at(g, k - 1, packets, &off);
			gen_send(g, p.children[i], k - 1, out_at(off), len);
		}
		gen_fence(g);
	}
}

/*
 * Stage s receives from one child and combines the packet received in stage s -
 * 1.  The children with the smallest subtrees, along the last dimensions, come
 * first.
 */
void ang_gen_reduce_torus(struct gen *g)
{
	u32 packets = ang_algo_packets(gen_len(g), g->a->packet), s;
	bool is_root = g->a->rank == g->a->root;
	struct place p = place_of(g);
	u32 stages = packets * p.num;
	size_t whole = gen_len(g), room = (g->a->count / packets + 1) * g->a->elem;
	size_t off, len;
	struct ang_range sum = in_at(0), came = gen_temp(g, p.num ? 2 * room : 0);

	if (is_root)
		sum = out_at(0);
	else if (p.num)
		sum = gen_temp(g, whole);
	if (is_root || p.num)
		gen_copy(g, sum, in_at(0), whole);
	gen_fence(g);
	for (s = 0; p.num && s <= stages; s++) {
		if (s < stages) {
			len = packet_at(g, s / p.num, packets, &off);
			gen_recv(g, p.children[p.num - 1 - s % p.num], s / p.num,
				 at(came, s % 2 * room), len);
		}
		if (s) {
			len = packet_at(g, (s - 1) / p.num, packets, &off);
			gen_combine(g, at(sum, off), at(came, (s - 1) % 2 * room), len);
		}
		gen_fence(g);
		if (s && s % p.num == 0 && !is_root)
			gen_send(g, p.parent, s / p.num - 1, at(sum, off), len);
	}
	for (s = 0; !p.num && !is_root && s < packets; s++) {
		len = packet_at(g, s, packets, &off);
		gen_send(g, p.parent, s, at(sum, off), len);
	}
}
