// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Torus, mesh, hypercube: dimension-order routes, no switches.
 */
#include "ang_topo_int.h"

/* Difference of node numbers for one step in dimension @d. */
static u32 grid_stride(const struct ang_topo *topo, u32 d)
{
	u32 stride = 1;

	while (d-- > 0)
		stride *= topo->dims[d];
	return stride;
}

static u32 grid_at(const struct ang_topo *topo, u32 node, u32 d)
{
	return node / grid_stride(topo, d) % topo->dims[d];
}

static const char *grid_read(struct ang_topo *topo, const char *text,
			     struct ang_topo_why *why)
{
	text = ang_topo_sizes(text, topo, ANG_TOPO_DIMS, why);
	topo->nports = (u8)(2 * topo->ndims);
	return text;
}

static void grid_regs(const struct ang_topo *topo, u32 node,
		      struct ang_topo_regs *regs)
{
	u32 d;

	ang_topo_coord(topo, node, regs->own);
	for (d = 0; d < topo->ndims; d++)
		regs->by[d] = (u8)d;
}

/*
 * Sum over dimensions: all cables of a line, or all cables but one of a ring.
 */
static u32 grid_longest(const struct ang_topo *topo)
{
	u32 cables = 0;
	u32 d;

	for (d = 0; d < topo->ndims; d++)
		cables += topo->dims[d] - 1U;
	return cables;
}

static u32 torus_peer(const struct ang_topo *topo, u32 node, u32 port, u32 *far)
{
	u32 d = port / 2;
	u32 size = topo->dims[d];
	u32 stride = grid_stride(topo, d);
	u32 at = node / stride % size;
	u32 to = (at + (port & 1 ? size - 1 : 1)) % size;

	*far = port ^ 1;
	return size < 2 ? ANG_NONE : node + (to - at) * stride;
}

static u32 torus_exit(const struct ang_topo *topo, u32 node, u32 d, u32 value)
{
	return 2 * d + ang_ring_minus(topo->dims[d], grid_at(topo, node, d), value);
}

static u32 torus_class(const struct ang_topo *topo, u32 node, u32 port)
{
	return port / 2;
}

static u32 mesh_peer(const struct ang_topo *topo, u32 node, u32 port, u32 *far)
{
	u32 d = port / 2;
	u32 stride = grid_stride(topo, d);
	u32 at = node / stride % topo->dims[d];

	*far = port ^ 1;
	if (port & 1)
		return at ? node - stride : ANG_NONE;
	return at + 1 < topo->dims[d] ? node + stride : ANG_NONE;
}

static u32 mesh_exit(const struct ang_topo *topo, u32 node, u32 d, u32 value)
{
	return 2 * d + (value < grid_at(topo, node, d));
}

/* Along a line, each cable has a higher class than the previous cable. */
static u32 mesh_class(const struct ang_topo *topo, u32 node, u32 port)
{
	u32 at = grid_at(topo, node, port / 2);

	return port << 16 | (port & 1 ? 0xFFFF - at : at);
}

/*
 * Most bits in one digit.  This bounds the route registers, which have a port
 * for each value of a digit.
 */
#define CUBE_BITS	5U

static const char *cube_read(struct ang_topo *topo, const char *text,
			     struct ang_topo_why *why)
{
	u32 bits, d;

	text = ang_topo_number(text, 20, &bits);
	if (!text) {
		why->what = "hypercube: must have 1 to 20 dimensions";
		return NULL;
	}
	topo->levels = (u8)bits;
	topo->nports = (u8)bits;
	topo->ndims = (u8)((bits + CUBE_BITS - 1) / CUBE_BITS);
	for (d = 0; d < topo->ndims; d++)
		topo->dims[d] = (u16)(1U << ang_min(bits - d * CUBE_BITS, CUBE_BITS));
	topo->routers = ang_topo_count(topo);
	return text;
}

static char *cube_tail(const struct ang_topo *topo, char *text)
{
	return ang_topo_put_number(text, topo->levels);
}

static u32 cube_peer(const struct ang_topo *topo, u32 node, u32 port, u32 *far)
{
	*far = port;
	return node ^ 1U << port;
}

static u32 cube_exit(const struct ang_topo *topo, u32 node, u32 d, u32 value)
{
	return d * CUBE_BITS + ang_lowest(grid_at(topo, node, d) ^ value);
}

static u32 cube_class(const struct ang_topo *topo, u32 node, u32 port)
{
	return port;
}

/* A route changes each bit at most once. */
static u32 cube_longest(const struct ang_topo *topo)
{
	return topo->levels;
}

const struct ang_topo_ops ang_topo_torus = {
	.read = grid_read,
	.peer = torus_peer,
	.regs = grid_regs,
	.exit = torus_exit,
	.class = torus_class,
	.longest = grid_longest,
};

const struct ang_topo_ops ang_topo_mesh = {
	.read = grid_read,
	.peer = mesh_peer,
	.regs = grid_regs,
	.exit = mesh_exit,
	.class = mesh_class,
	.longest = grid_longest,
};

const struct ang_topo_ops ang_topo_hypercube = {
	.read = cube_read,
	.tail = cube_tail,
	.peer = cube_peer,
	.regs = grid_regs,
	.exit = cube_exit,
	.class = cube_class,
	.longest = cube_longest,
};
