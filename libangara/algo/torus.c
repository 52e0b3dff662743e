// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Broadcast from neighbour to neighbour on a ring, a torus or a hypercube, and
 * its dual, accumulation.
 *
 * Positions are counted from the root, modulo the size of each dimension.  On a
 * ring of r members, a message travels upwards to r / 2 members, and downwards
 * to the other members.  On a torus, the message first travels along dimension
 * 0.  Then all members that have the message forward it along dimension 1, and
 * so on.  A hypercube is a torus whose sizes are all 2.
 */
#include "gen.h"

/* Limit of children of a member, which has at most two in each dimension. */
#define MAX_CHILDREN	64U

static u32 rank_at(const struct gen *g, u32 below, u32 r, u32 x)
{
	u32 rank = g->a->rank, own = rank / below % r;
	u32 root = g->a->root / below % r;

	return rank - own * below + (root + x) % r * below;
}

/*
 * Finds the member's parent and children.  @children: memory for the ranks of
 * the children.  Children along the last dimensions have the smallest subtrees,
 * and come first.
 */
static struct ang_kin kin_of(const struct gen *g, u32 children[MAX_CHILDREN])
{
	const struct ang_coll_args *a = g->a;
	struct ang_kin p = { .parent = a->rank };
	u32 first = MAX_CHILDREN;
	u32 below = 1, d, r;

	for (d = 0; d < (a->ndims ? a->ndims : 1); d++, below *= r) {
		u32 x, up;

		r = a->ndims ? a->dims[d] : a->size;
		x = (a->rank / below % r + r - a->root / below % r) % r;
		up = r / 2;
		if (x) {
			/*
			 * Only members at position 0 of this dimension have
			 * children along lower dimensions.
			 */
			first = MAX_CHILDREN;
			p.parent = rank_at(g, below, r, x <= up ? x - 1 : (x + 1) % r);
		}
		if (x < up)
			children[--first] = rank_at(g, below, r, x + 1);
		if (!x && r > 2)
			children[--first] = rank_at(g, below, r, r - 1);
		if (x > up + 1)
			children[--first] = rank_at(g, below, r, x - 1);
	}
	p.children = children + first;
	p.num = MAX_CHILDREN - first;
	return p;
}

void ang_gen_bcast_torus(struct gen *g)
{
	u32 children[MAX_CHILDREN];
	struct ang_kin kin = kin_of(g, children);

	if (g->a->rank == g->a->root)
		gen_copy(g, out_at(0), in_at(0), gen_len(g));
	gen_fence(g);
	gen_bcast_along(g, &kin);
}

void ang_gen_reduce_torus(struct gen *g)
{
	u32 children[MAX_CHILDREN];
	struct ang_kin kin = kin_of(g, children);

	gen_reduce_along(g, &kin);
}
