/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The 2D non-linear heat equation (document 000, section 4.3), numerics only.
 *
 *	u_t = sigma(u) (u_xx + u_yy) + f(x, y, t)   on the unit square
 *
 * Explicit scheme (4).  The differences need 5 cells of the previous time level.
 * The diffusivity sigma = 1 + v^2 is taken at the mean v of the 3 x 3 cells
 * around a cell, which are the 9 values of the document's figure 11.  u is 0 on
 * the border.
 *
 * f is chosen so that the solution is u = (1 + t) P(x) P(y), P(s) = 16 s^2
 * (1-s)^2, which makes the error measurable.  Only + - * / are used, in an
 * order that does not depend on how the grid is cut: results are equal bit for
 * bit.
 */
#ifndef ANG_APPS_HEAT_GRID_H
#define ANG_APPS_HEAT_GRID_H

#include <stdint.h>

/*
 * Floating-point operations per cell and step: mean 9, sigma 2, differences 9,
 * f 10, rate 2, update 2.  Comparisons for the maximum are not counted.
 */
#define HEAT_FLOPS	34

/* The step as a fraction of the largest stable step of (5). */
#define HEAT_SAFETY	0.9

/**
 * struct heat_grid - a block of the grid, with one cell around it
 * @nx: cells of the whole grid in direction x
 * @ny: cells of the whole grid in direction y
 * @x0: first own cell in direction x
 * @y0: first own cell in direction y
 * @w: own cells in direction x
 * @h: own cells in direction y
 * @u: (w + 2) * (h + 2) values, x fastest; owned by the caller
 * @sigma: diffusivity of own cells, then their rate of change
 * @px: P at the cells of each column
 * @pxx: second derivative of P at the cells of each column
 * @py: P at the cells of each row
 * @pyy: second derivative of P at the cells of each row
 * @t: time
 */
struct heat_grid {
	uint32_t nx;
	uint32_t ny;
	uint32_t x0;
	uint32_t y0;
	uint32_t w;
	uint32_t h;
	double *u;
	double *sigma;
	double *px;
	double *pxx;
	double *py;
	double *pyy;
	double t;
};

/** Return: number of doubles in heat_grid.u. */
uint64_t heat_grid_len(uint32_t w, uint32_t h);

/**
 * heat_grid_init() - start at t = 0
 * @g: in: nx, ny, x0, y0, w, h and the pointer u; out: the values at u, and the other members
 *
 * Return: 0 or -ENOMEM.
 */
int heat_grid_init(struct heat_grid *g);
void heat_grid_free(struct heat_grid *g);

/**
 * Compute the diffusivity of all own cells from u.  Return: its maximum, NaN if
 * any cell has a NaN.
 */
double heat_sigma(struct heat_grid *g);
/** Return: the step for the maximum @max_sigma of the diffusivity on the whole grid. */
double heat_step(const struct heat_grid *g, double max_sigma);
/** Compute the rate of change of all own cells, which replaces the diffusivity. */
void heat_rate(struct heat_grid *g);
/** Advance the solution by the time @dt. */
void heat_advance(struct heat_grid *g, double dt);

/** Return: largest difference of an own cell from the exact solution. */
double heat_error(const struct heat_grid *g);

#endif /* ANG_APPS_HEAT_GRID_H */
