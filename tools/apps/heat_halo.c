// SPDX-License-Identifier: GPL-2.0-only
/* Cut of the grid and exchange of faces: see heat_halo.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "coll.h"
#include "heat_halo.h"

int heat_cut_choose(struct heat_cut *cut, unsigned int size)
{
	uint64_t best = UINT64_MAX;
	uint32_t px;

	for (px = 1; px <= size; px++) {
		uint32_t py = size / px;
		uint64_t faces = (uint64_t)cut->nx * py + (uint64_t)cut->ny * px;

		if (px * py != size || px > cut->nx || py > cut->ny ||
		    faces >= best)
			continue;
		best = faces;
		cut->px = px;
		cut->py = py;
	}
	return best == UINT64_MAX ? -EINVAL : 0;
}

static uint32_t share(uint32_t n, uint32_t parts, uint32_t i)
{
	return (uint32_t)((uint64_t)n * i / parts);
}

void heat_cut_block(const struct heat_cut *cut, unsigned int rank,
		    struct heat_grid *g)
{
	uint32_t cx = rank % cut->px, cy = rank / cut->px;

	g->nx = cut->nx;
	g->ny = cut->ny;
	g->x0 = share(cut->nx, cut->px, cx);
	g->y0 = share(cut->ny, cut->py, cy);
	g->w = share(cut->nx, cut->px, cx + 1) - g->x0;
	g->h = share(cut->ny, cut->py, cy + 1) - g->y0;
}

static int dir_x(unsigned int d)
{
	return (int)(d % 3) - 1;
}

static int dir_y(unsigned int d)
{
	return (int)(d / 3) - 1;
}

static void find_peers(struct heat_halo *halo, const struct heat_cut *cut)
{
	int64_t cx = halo->app->rank % cut->px, cy = halo->app->rank / cut->px;
	unsigned int d;

	for (d = 0; d < HALO_DIRS; d++) {
		int64_t x = cx + dir_x(d), y = cy + dir_y(d);

		halo->peer[d] = HALO_NONE;
		if (x >= 0 && x < cut->px && y >= 0 && y < cut->py)
			halo->peer[d] = (unsigned int)(y * cut->px + x);
	}
	halo->peer[HALO_DIRS / 2] = HALO_NONE;
}

int heat_halo_init(struct heat_halo *halo, struct app *app,
		   const struct heat_cut *cut, struct heat_grid *g)
{
	uint64_t w = cut->nx / cut->px + 1, h = cut->ny / cut->py + 1;

	*halo = (struct heat_halo) {
		.app = app,
		.grid = g,
		.face = w > h ? w : h,
	};
	find_peers(halo, cut);
	return app_malloc_all(app, 2 * HALO_DIRS * halo->face * sizeof(double),
			  &halo->mr);
}

/* A line of cells: a row, a column or a corner. */
struct line {
	double *first;
	uint64_t stride;
	uint64_t n;
};

/*
 * Cells of the block (@around 0) or around it (1) in direction @d.  In x,
 * border cells of the block are at 1 or w, cells around it at 0 or w + 1;
 * likewise in y.
 */
static struct line line_of(const struct heat_grid *g, unsigned int d,
			   unsigned int around)
{
	uint64_t stride = (uint64_t)g->w + 2;
	uint64_t x = 1, y = 1;

	if (dir_x(d))
		x = dir_x(d) < 0 ? 1 - around : g->w + around;
	if (dir_y(d))
		y = dir_y(d) < 0 ? 1 - around : g->h + around;
	return (struct line) {
		.first = g->u + y * stride + x,
		.stride = dir_x(d) ? stride : 1,
		.n = dir_x(d) ? (dir_y(d) ? 1 : g->h) : g->w,
	};
}

static uint64_t area(const struct heat_halo *halo, unsigned int d, bool sent)
{
	return (d + (sent ? HALO_DIRS : 0)) * halo->face * sizeof(double);
}

static int put_face(struct heat_halo *halo, unsigned int d)
{
	struct app *app = halo->app;
	struct line line = line_of(halo->grid, d, 0);
	struct angara_peer peer = app->peers[halo->peer[d]];
	unsigned int there = HALO_DIRS - 1 - d;	/* direction as the neighbour sees it */
	uint64_t src = area(halo, d, true), dst = area(halo, there, false);
	double *out = (double *)((char *)angara_mr_addr(halo->mr) + src);
	const struct angara_op op = {
		.size = sizeof(op),
		.flags = ANGARA_NOTIFY | ANGARA_SILENT,
		.notify = COLL_APP_COUNTER + there,
	};
	uint64_t key = angara_mr_key(halo->mr);
	size_t len = line.n * sizeof(double);
	uint64_t i;
	int err;

	for (i = 0; i < line.n; i++)
		out[i] = line.first[i * line.stride];
	if (len <= ANGARA_MAX_INLINE)
		err = APP_POST(angara_put_inline_nbi(app->ctx, peer, key, dst, out, len,
					&op));
	else
		err = APP_POST(angara_put_nbi(app->ctx, peer, key, dst, halo->mr, src,
				     len, &op));
	return err ? app_fail(app, err, "cannot put a face to rank %u",
			      halo->peer[d]) : 0;
}

static int take_face(struct heat_halo *halo, unsigned int d)
{
	struct line line = line_of(halo->grid, d, 1);
	const double *in = (double *)((char *)angara_mr_addr(halo->mr) +
				      area(halo, d, false));
	int err = angara_counter_wait(halo->app->ctx, COLL_APP_COUNTER + d,
				      halo->rounds, APP_TIMEOUT_MS);
	uint64_t i;

	if (err)
		return app_fail(halo->app, err, "no face from rank %u has arrived",
				halo->peer[d]);
	for (i = 0; i < line.n; i++)
		line.first[i * line.stride] = in[i];
	return 0;
}

int heat_halo_exchange(struct heat_halo *halo)
{
	unsigned int d;
	int err;

	/* Puts of the last round may still read the send buffers. */
	err = angara_quiet(halo->app->ctx, APP_TIMEOUT_MS);
	if (err)
		return app_fail(halo->app, err, "cannot complete puts of faces");
	halo->rounds++;
	for (d = 0; d < HALO_DIRS && !err; d++)
		if (halo->peer[d] != HALO_NONE)
			err = put_face(halo, d);
	for (d = 0; d < HALO_DIRS && !err; d++)
		if (halo->peer[d] != HALO_NONE)
			err = take_face(halo, d);
	return err;
}
