// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numerics of the heat equation: see heat_grid.h.  This file is compiled with
 * -ffp-contract=off: fused operations would round differently at different
 * places.
 */
#include <errno.h>
#include <stdlib.h>
#include "heat_grid.h"

uint64_t heat_grid_len(uint32_t w, uint32_t h)
{
	return ((uint64_t)w + 2) * ((uint64_t)h + 2);
}

/* P and its second derivative at cell @i of @n; the border is at -1 and n. */
static void profile(uint32_t i, uint32_t n, double *p, double *pss)
{
	double s = ((double)i + 1) / ((double)n + 1);

	*p = 16 * (s * s) * ((1 - s) * (1 - s));
	*pss = 32 * (1 - 6 * s + 6 * (s * s));
}

int heat_grid_init(struct heat_grid *g)
{
	uint64_t stride = (uint64_t)g->w + 2;
	uint64_t i, j;

	g->sigma = calloc((uint64_t)g->w * g->h, sizeof(double));
	g->px = calloc(g->w, sizeof(double));
	g->pxx = calloc(g->w, sizeof(double));
	g->py = calloc(g->h, sizeof(double));
	g->pyy = calloc(g->h, sizeof(double));
	if (!g->sigma || !g->px || !g->pxx || !g->py || !g->pyy) {
		heat_grid_free(g);
		return -ENOMEM;
	}
	for (i = 0; i < g->w; i++)
		profile(g->x0 + (uint32_t)i, g->nx, &g->px[i], &g->pxx[i]);
	for (j = 0; j < g->h; j++)
		profile(g->y0 + (uint32_t)j, g->ny, &g->py[j], &g->pyy[j]);
	for (j = 0; j < heat_grid_len(g->w, g->h); j++)
		g->u[j] = 0;
	for (j = 0; j < g->h; j++)
		for (i = 0; i < g->w; i++)
			g->u[(j + 1) * stride + i + 1] = g->px[i] * g->py[j];
	g->t = 0;
	return 0;
}

void heat_grid_free(struct heat_grid *g)
{
	free(g->sigma);
	free(g->px);
	free(g->pxx);
	free(g->py);
	free(g->pyy);
	g->sigma = NULL;
	g->px = NULL;
	g->pxx = NULL;
	g->py = NULL;
	g->pyy = NULL;
}

double heat_sigma(struct heat_grid *g)
{
	uint64_t stride = (uint64_t)g->w + 2;
	double max = 0;
	uint64_t i, j;

	for (j = 0; j < g->h; j++) {
		const double *n = g->u + j * stride + 1;
		const double *c = n + stride;
		const double *s = c + stride;
		double *sigma = g->sigma + j * g->w;

		for (i = 0; i < g->w; i++) {
			double mean = ((n[i - 1] + n[i] + n[i + 1]) +
				       (c[i - 1] + c[i] + c[i + 1]) +
				       (s[i - 1] + s[i] + s[i + 1])) *
				      (1.0 / 9.0);

			sigma[i] = 1 + mean * mean;
			/*
			 * A NaN becomes the maximum, and no later value
			 * replaces it.
			 */
			if (sigma[i] > max || sigma[i] != sigma[i])
				max = sigma[i];
		}
	}
	return max;
}

double heat_step(const struct heat_grid *g, double max_sigma)
{
	double nx1 = (double)g->nx + 1, ny1 = (double)g->ny + 1;

	/* 1 / h^2 = (n + 1)^2 on the unit square. */
	return HEAT_SAFETY / (2 * max_sigma * (nx1 * nx1 + ny1 * ny1));
}

void heat_rate(struct heat_grid *g)
{
	double nx1 = (double)g->nx + 1, ny1 = (double)g->ny + 1;
	double ihx = nx1 * nx1, ihy = ny1 * ny1;
	double t1 = 1 + g->t;
	uint64_t stride = (uint64_t)g->w + 2;
	uint64_t i, j;

	for (j = 0; j < g->h; j++) {
		const double *c = g->u + (j + 1) * stride + 1;
		const double *n = c - stride, *s = c + stride;
		double *rate = g->sigma + j * g->w;
		double py = g->py[j], pyy = g->pyy[j];

		for (i = 0; i < g->w; i++) {
			double px = g->px[i];
			double lap = (c[i + 1] - 2 * c[i] + c[i - 1]) * ihx +
				     (s[i] - 2 * c[i] + n[i]) * ihy;
			/* f = u_t - sigma(u) (u_xx + u_yy) of the exact u */
			double exact = t1 * (px * py);
			double curve = t1 * (g->pxx[i] * py + px * pyy);
			double f = px * py - (1 + exact * exact) * curve;

			rate[i] = rate[i] * lap + f;
		}
	}
}

void heat_advance(struct heat_grid *g, double dt)
{
	uint64_t stride = (uint64_t)g->w + 2;
	uint64_t i, j;

	for (j = 0; j < g->h; j++) {
		double *u = g->u + (j + 1) * stride + 1;
		const double *rate = g->sigma + j * g->w;

		for (i = 0; i < g->w; i++)
			u[i] += dt * rate[i];
	}
	g->t += dt;
}

double heat_error(const struct heat_grid *g)
{
	uint64_t stride = (uint64_t)g->w + 2;
	double max = 0;
	uint64_t i, j;

	for (j = 0; j < g->h; j++) {
		for (i = 0; i < g->w; i++) {
			double e = g->u[(j + 1) * stride + i + 1] -
				   (1 + g->t) * (g->px[i] * g->py[j]);

			if (e < 0)
				e = -e;
			if (e > max || e != e)
				max = e;
		}
	}
	return max;
}
