// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Broadcast and accumulation along a tree in which each member has a parent and
 * children, and an allreduce made of both.
 *
 * A member combines its own contribution with those of its children from left
 * to right.  Packets are pipelined: a member forwards a packet while it
 * receives the next one.
 */
#include "gen.h"

static bool is_root(const struct gen *g, const struct ang_kin *kin)
{
	return kin->parent == g->a->rank;
}

/* Bytes of packet @k, which begins at @off. */
static size_t packet_at(const struct gen *g, u32 k, u32 packets, size_t *off)
{
	*off = gen_part(g, k, packets);
	return gen_part(g, k + 1, packets) - *off;
}

/*
 * Broadcasts OUT of the root to OUT of all members.  The last child gets each
 * packet first, since its subtree is the largest.
 */
void gen_bcast_along(struct gen *g, const struct ang_kin *kin)
{
	u32 packets = ang_algo_packets(gen_len(g), g->a->packet), k, i;
	size_t off, len;

	for (k = 0; k <= packets; k++) {
		if (!is_root(g, kin) && k < packets) {
			len = packet_at(g, k, packets, &off);
			gen_recv(g, kin->parent, k, out_at(off), len);
		}
		for (i = k ? kin->num : 0; i--;) {
			len = packet_at(g, k - 1, packets, &off);
			gen_send(g, kin->children[i], k - 1, out_at(off), len);
		}
		gen_fence(g);
	}
}

/*
 * Buffer in which a member combines.  A leaf combines nothing: it sends its
 * contribution from IN.
 */
static struct ang_range sum_of(struct gen *g, const struct ang_kin *kin)
{
	if (!kin->num && !is_root(g, kin))
		return in_at(0);
	if (is_root(g, kin) || g->a->coll == ANG_COLL_ALLREDUCE)
		return out_at(0);
	return gen_temp(g, gen_len(g));
}

/*
 * Combines the vectors of all members at the root.  Stage s receives a packet
 * from one child, and combines the packet that stage s - 1 received.
 */
void gen_reduce_along(struct gen *g, const struct ang_kin *kin)
{
	u32 packets = ang_algo_packets(gen_len(g), g->a->packet), s;
	u32 stages = packets * kin->num;
	size_t room = (g->a->count / packets + 1) * g->a->elem, off, len;
	struct ang_range came = gen_temp(g, kin->num ? 2 * room : 0);
	struct ang_range sum = sum_of(g, kin);

	if (sum.buf != ANG_BUF_IN)
		gen_copy(g, sum, in_at(0), gen_len(g));
	gen_fence(g);
	for (s = 0; kin->num && s <= stages; s++) {
		if (s < stages) {
			len = packet_at(g, s / kin->num, packets, &off);
			gen_recv(g, kin->children[s % kin->num], s / kin->num,
				 at(came, s % 2 * room), len);
		}
		if (s) {
			len = packet_at(g, (s - 1) / kin->num, packets, &off);
			gen_combine(g, at(sum, off), at(came, (s - 1) % 2 * room), len);
		}
		gen_fence(g);
		if (s && s % kin->num == 0 && !is_root(g, kin))
			gen_send(g, kin->parent, s / kin->num - 1, at(sum, off), len);
	}
	for (s = 0; !kin->num && !is_root(g, kin) && s < packets; s++) {
		len = packet_at(g, s, packets, &off);
		gen_send(g, kin->parent, s, at(sum, off), len);
	}
}

void ang_gen_allreduce_tree(struct gen *g)
{
	gen_reduce_along(g, g->a->kin);
	gen_fence(g);
	gen_bcast_along(g, g->a->kin);
}
