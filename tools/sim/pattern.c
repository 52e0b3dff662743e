// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns of traffic: which rank sends to which.
 *
 * Ranks are computing modules: rank r is module r % modules of node r /
 * modules.  Patterns named after the torus use its coordinates, if the fabric
 * has any; "matrix", "grid" and "alltoall" use ranks only and are the same on
 * every fabric.
 */
#include <math.h>
#include "work.h"

static const char * const patterns[] = {
	"uniform", "transpose", "hotspot", "neighbor", "reverse", "matrix",
	"grid", "alltoall", NULL,
};

#define UNIFORM		0
#define TRANSPOSE	1
#define HOTSPOT		2
#define NEIGHBOR	3
#define REVERSE		4
#define MATRIX		5
#define GRID		6
#define ALLTOALL	7

/** pattern_find() - find the number of a pattern by name, or -1 */
int pattern_find(const char *name)
{
	int i;

	for (i = 0; patterns[i]; i++)
		if (!strcmp(patterns[i], name))
			return i;
	return -1;
}

/** pattern_draw() - draw from a node's xorshift64*, independently of other nodes */
u64 pattern_draw(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1DULL;
}

static u32 draw_below(u64 *state, u32 n)
{
	return (u32)((pattern_draw(state) >> 32) * n >> 32);
}

/*
 * Return: node whose coordinates are those of @id rotated by one dimension, scaled where sizes
 * differ.
 */
static u32 transposed(const struct sim *s, u32 id)
{
	const struct ang_topo *t = &s->topo;
	u16 to[ANG_MAX_DIMS] = { 0 };
	u32 d;

	for (d = 0; d < t->ndims; d++) {
		u32 from = (d + 1) % t->ndims;

		to[d] = (u16)((u32)s->coord[id][from] * t->dims[d] /
			      t->dims[from]);
	}
	return ang_topo_node(t, to);
}

/* Return: the largest divisor of @n that is at most @most. */
static u32 divisor(u32 n, u32 most)
{
	while (n % most)
		most--;
	return most;
}

static u32 root_of(u32 n)
{
	return divisor(n, (u32)sqrt(n + 0.5));
}

/* Return: partner of a rank: ranks fill a matrix by rows, partners are across the diagonal. */
static u32 matrix(u32 n, u32 rank)
{
	u32 rows = root_of(n);
	u32 columns = n / rows;

	return rank % columns * rows + rank / columns;
}

/*
 * Computes the sides of the grid that ranks fill: three sides as equal as possible, the longest
 * first.  The grid is periodic.
 */
static void grid_sides(u32 n, u32 *side)
{
	side[2] = divisor(n, (u32)cbrt(n + 0.5));
	side[1] = root_of(n / side[2]);
	side[0] = n / side[2] / side[1];
}

static u32 grid_neighbors(u32 n)
{
	u32 side[3];

	grid_sides(n, side);
	return 2U * ((side[0] > 1) + (side[1] > 1) + (side[2] > 1));
}

/* Return: neighbour number @which; only sides longer than 1 have neighbours. */
static u32 grid_neighbor(u32 n, u32 rank, u32 which)
{
	u32 side[3], at[3], d = 0;

	grid_sides(n, side);
	for (; side[d] == 1 || which > 1; d++)
		which -= side[d] > 1 ? 2 : 0;
	at[0] = rank % side[0];
	at[1] = rank / side[0] % side[1];
	at[2] = rank / side[0] / side[1];
	at[d] = (at[d] + (which ? side[d] - 1 : 1)) % side[d];
	return at[0] + side[0] * (at[1] + side[1] * at[2]);
}

static u32 on_node(const struct sim *s, u32 node, u32 rank)
{
	return node == ANG_NONE ? rank :
				  node * s->modules + rank % s->modules;
}

/* Return: target of a rank, in patterns in which it depends on the rank alone. */
static u32 partner(const struct sim *s, u32 pattern, u32 rank)
{
	u32 n = s->topo.nodes * s->modules;

	switch (pattern) {
	case TRANSPOSE:
		return s->coord ? on_node(s, transposed(s, rank / s->modules),
					  rank) : matrix(n, rank);
	case NEIGHBOR:
		return s->coord ? on_node(s, ang_topo_neighbor(&s->topo,
					  rank / s->modules, 0), rank) :
				  (rank + 1) % n;
	case MATRIX:
		return matrix(n, rank);
	default:
		return n - 1 - rank;
	}
}

/**
 * pattern_target() - target of a rank's next packet
 * @s: simulation
 * @c: traffic
 * @rank: source
 * @count: packets that the source has sent
 * @rng: state of the random numbers of the source
 *
 * Return: rank; @rank itself if the pattern has no target for the source.
 */
u32 pattern_target(const struct sim *s, const struct traffic *c, u32 rank,
		   u32 count, u64 *rng)
{
	u32 n = s->topo.nodes * s->modules;
	u32 dst;

	switch (c->pattern) {
	case HOTSPOT:
		if (draw_below(rng, 100) < c->hot)
			return n / 2;
		break;
	case UNIFORM:
		if (c->self)
			return draw_below(rng, n);
		break;
	case GRID:
		return grid_neighbor(n, rank, draw_below(rng, grid_neighbors(n)));
	case ALLTOALL:
		return (rank + 1 + count % (n - 1)) % n;
	default:
		return partner(s, c->pattern, rank);
	}
	dst = draw_below(rng, n - 1);
	return dst + (dst >= rank);	/* any other rank */
}

/**
 * pattern_targets() - all targets of a rank, equally likely
 * @s: simulation
 * @pattern: pattern, but not "hotspot"
 * @rank: source
 * @list: out: room for a target per rank, and six
 *
 * Return: number of targets, of which several may be the same; 0: the pattern
 * has no target for @rank.
 */
u32 pattern_targets(const struct sim *s, u32 pattern, u32 rank, u32 *list)
{
	u32 n = s->topo.nodes * s->modules, i;

	switch (pattern) {
	case UNIFORM:
	case ALLTOALL:
		for (i = 0; i + 1 < n; i++)
			list[i] = i + (i >= rank);
		return n - 1;
	case GRID:
		for (i = 0; i < grid_neighbors(n); i++)
			list[i] = grid_neighbor(n, rank, i);
		return i;
	default:
		list[0] = partner(s, pattern, rank);
		return list[0] != rank;
	}
}
