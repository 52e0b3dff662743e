/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The grid of heat2d divided among processes, and the exchange of faces by
 * puts.
 *
 * Each process puts its border cells into a buffer of the neighbour that no
 * other process writes, and increments a counter of the neighbour.  The
 * neighbour copies the buffer into the cells around its block before it starts
 * the allreduce of the same step, and no process sends the next faces before
 * the end of that allreduce: one buffer per direction is enough.
 */
#ifndef ANG_APPS_HEAT_HALO_H
#define ANG_APPS_HEAT_HALO_H

#include "app.h"
#include "heat_grid.h"

#define HALO_DIRS	9	/* (dy + 1) * 3 + dx + 1; 4 is the block itself */

/**
 * struct heat_cut - processes as a grid, x fastest
 * @nx: cells in direction x
 * @ny: cells in direction y
 * @px: processes in direction x
 * @py: processes in direction y
 */
struct heat_cut {
	uint32_t nx;
	uint32_t ny;
	uint32_t px;
	uint32_t py;
};

/**
 * heat_cut_choose() - find the division with the shortest faces
 * @cut: in: nx and ny; out: px and py
 * @size: processes
 *
 * Return: 0; -EINVAL if no division gives every process a cell.
 */
int heat_cut_choose(struct heat_cut *cut, unsigned int size);
/** Set x0, y0, w and h of the block of @rank, and nx and ny. */
void heat_cut_block(const struct heat_cut *cut, unsigned int rank,
		    struct heat_grid *g);

/**
 * struct heat_halo - exchange of faces
 * @app: this process
 * @grid: its block
 * @mr: receive buffers, then send buffers
 * @face: doubles in a buffer, the same in all processes
 * @peer: rank of each neighbour, or HALO_NONE
 * @rounds: exchanges so far
 */
struct heat_halo {
	struct app *app;
	struct heat_grid *grid;
	struct angara_mr *mr;
	uint64_t face;
	unsigned int peer[HALO_DIRS];
	uint64_t rounds;
};

#define HALO_NONE	(~0U)

/**
 * Set up the exchange.  All processes have to call it, in the same order as
 * their other registrations.
 */
int heat_halo_init(struct heat_halo *halo, struct app *app,
		   const struct heat_cut *cut, struct heat_grid *g);
int heat_halo_exchange(struct heat_halo *halo);

#endif /* ANG_APPS_HEAT_HALO_H */
