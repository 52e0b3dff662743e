// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-heat2d: the 2D non-linear heat equation, on a grid divided among the
 * processes.
 *
 * Each step puts faces to the neighbours, computes the diffusivity and its
 * maximum, finds the largest stable time step by an allreduce(max), and
 * computes the next time level. --check compares the result bit for bit with
 * the same steps in one process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "coll.h"
#include "heat_grid.h"
#include "heat_halo.h"

#define MAX_CELLS	65536U	/* most cells in one direction */
#define GET_BYTES	(64U << 20)

/**
 * struct options - command line
 * @app: this process
 * @nx: cells in direction x
 * @ny: cells in direction y
 * @steps: number of steps
 * @run: all other options
 */
struct options {
	struct app *app;
	uint64_t nx;
	uint64_t ny;
	uint64_t steps;
	struct app_options run;
};

/* Result of a run; times in seconds. */
struct result {
	double dt_max;
	double t;
	double error;		/* greatest error of all cells */
	double compute;		/* diffusivity and the next time level; printed as TS */
	double allreduce;	/* printed as Tmax */
	double halo;
	double wall;
	uint32_t crc;		/* of the serial result; known after a check or a serial run */
};

/**
 * struct heat - a run
 * @app: this process
 * @opt: command line
 * @cut: division of the grid
 * @grid: block of this process
 * @halo: exchange of faces
 * @coll: trees
 * @u: memory of grid.u
 * @max: two numbers: maximum of this process, and of all processes
 * @res: result
 */
struct heat {
	struct app *app;
	const struct options *opt;
	struct heat_cut cut;
	struct heat_grid grid;
	struct heat_halo halo;
	struct coll *coll;
	struct angara_mr *u;
	struct angara_mr *max;
	struct result res;
};

const char tool_name[] = "angara-heat2d";

enum { OPT_NX = APP_OPT_OWN, OPT_NY, OPT_STEPS };

static const struct opt opts[] = {
	{ OPT_NX, "nx", "N", "cells in direction x (default 256)", NULL },
	{ OPT_NY, "ny", "N", "cells in direction y (default 256)", NULL },
	{ OPT_STEPS, "steps", "N", "time steps (default 100)", NULL },
	APP_OPT_CHECK,
	APP_OPT_SERIAL,
	APP_OPT_P2P("allreduce by puts, not on the collective network"),
	APP_OPT_FLIP("corrupt a cell of RANK, to test the check"),
	APP_OPT_JSON,
	{ 0 }
};

static int take(void *to, int id, const char *value)
{
	struct options *o = to;

	switch (id) {
	case OPT_NX:
		return app_taken(app_number(o->app, "--nx", value, 1, MAX_CELLS,
					    &o->nx));
	case OPT_NY:
		return app_taken(app_number(o->app, "--ny", value, 1, MAX_CELLS,
					    &o->ny));
	case OPT_STEPS:
		return app_taken(app_number(o->app, "--steps", value, 1,
					    UINT32_MAX, &o->steps));
	default:
		return app_option(o->app, id, value, &o->run);
	}
}

static const struct opts_command command = {
	.version = ANG_RELEASE,
	.usage = " [OPTION]...",
	.what = "Solves the 2D non-linear heat equation on a grid divided among all processes.",
	.opts = opts,
	.take = take,
};

static bool parse(struct app *app, int argc, char **argv, struct options *o)
{
	*o = (struct options) {
		.app = app, .nx = 256, .ny = 256, .steps = 100,
		.run.flip = APP_NO_RANK,
	};
	if (!app_read(app, &command, o, argc, argv))
		return false;
	app_no_more(app, argc, argv);
	return true;
}

/* If any process has a NaN, the maximum is NaN, and advance() ends the run. */
static int global_max(struct heat *h, double mine, double *max)
{
	struct coll_reduce r = {
		.dst = h->max,
		.dst_off = sizeof(double),
		.src = h->max,
		.count = 1,
		.type = ANGARA_TYPE_DOUBLE,
		.op = ANGARA_RED_MAX,
	};
	double *both = angara_mr_addr(h->max);
	int err;

	both[0] = mine;
	err = coll_allreduce(h->coll, &r);
	*max = both[1];
	return err;
}

static int advance(struct app *app, struct heat_grid *g, double max,
		   struct result *res)
{
	double dt = heat_step(g, max);

	if (!(dt > 0))
		return app_fail(app, 0, "the solution is not a number any more at "
				"t = %g", g->t);
	if (dt > res->dt_max)
		res->dt_max = dt;
	heat_rate(g);
	heat_advance(g, dt);
	return 0;
}

static int step(struct heat *h)
{
	double t0 = app_now(), t1, t2, t3, max;
	int err;

	err = heat_halo_exchange(&h->halo);
	if (err)
		return err;
	t1 = app_now();
	max = heat_sigma(&h->grid);
	t2 = app_now();
	err = global_max(h, max, &max);
	if (err)
		return err;
	t3 = app_now();
	err = advance(h->app, &h->grid, max, &h->res);
	h->res.halo += t1 - t0;
	h->res.allreduce += t3 - t2;
	h->res.compute += app_now() - t3 + (t2 - t1);
	return err;
}

static uint32_t crc_rows(const struct heat_grid *g)
{
	uint64_t stride = (uint64_t)g->w + 2, j;
	uint32_t crc = 0;

	for (j = 0; j < g->h; j++)
		crc = (uint32_t)crc32_z(crc, (Bytef *)(g->u + 1 +
						       (j + 1) * stride),
					g->w * sizeof(double));
	return crc;
}

/* Computes the whole grid in one process, for --serial and for the comparison of --check. */
static int run_serial(struct app *app, const struct options *o,
		      struct heat_grid *g, struct result *res)
{
	double start;
	uint64_t i;
	int err;

	*g = (struct heat_grid) {
		.nx = (uint32_t)o->nx, .ny = (uint32_t)o->ny,
		.w = (uint32_t)o->nx, .h = (uint32_t)o->ny,
	};
	*res = (struct result) { };
	g->u = malloc(heat_grid_len(g->w, g->h) * sizeof(double));
	err = g->u ? heat_grid_init(g) : -ENOMEM;
	if (err)
		return app_fail(app, err, "cannot allocate the grid of %u x %u cells", g->w, g->h);
	start = app_now();
	for (i = 0; i < o->steps && !err; i++)
		err = advance(app, g, heat_sigma(g), res);
	res->wall = app_now() - start;
	res->compute = res->wall;
	res->t = g->t;
	res->error = heat_error(g);
	res->crc = crc_rows(g);
	return err;
}

static int get_block(struct heat *h, unsigned int rank, struct angara_mr *block,
		     uint64_t bytes)
{
	uint64_t off, len;
	struct app_req req;
	int err;

	for (off = 0; off < bytes; off += len) {
		len = bytes - off < GET_BYTES ? bytes - off : GET_BYTES;
		err = APP_POST(angara_get_nbi(h->app->ctx, h->app->peers[rank],
				     angara_mr_key(h->u), off, block, off, len,
				     app_op(&req)));
		if (err)
			return app_fail(h->app, err, "cannot get from rank %u", rank);
		err = app_wait(h->app, &req, "get of a block");
		if (err)
			return err;
	}
	return 0;
}

/* Compare block @b of rank @rank with the same cells of @serial. */
static int compare(struct app *app, const struct heat_grid *serial,
		   const struct heat_grid *b, unsigned int rank)
{
	uint64_t bs = (uint64_t)b->w + 2, ss = (uint64_t)serial->w + 2, j, i;

	for (j = 0; j < b->h; j++) {
		const double *got = b->u + (j + 1) * bs + 1;
		const double *want = serial->u + (b->y0 + j + 1) * ss +
				     b->x0 + 1;

		if (!memcmp(got, want, b->w * sizeof(double)))
			continue;
		for (i = 0; !memcmp(&got[i], &want[i], sizeof(double)); i++)
			;
		return app_fail(app, 0, "check: cell (%llu, %llu), of rank %u, "
				"is %.17g instead of %.17g",
				(unsigned long long)(b->x0 + i),
				(unsigned long long)(b->y0 + j), rank, got[i],
				want[i]);
	}
	return 0;
}

/* At rank 0, while all other ranks wait: get every block and compare it. */
static void check(struct heat *h)
{
	struct app *app = h->app;
	struct heat_grid serial = { }, block = { };
	struct angara_mr *mr = NULL;
	struct result res;
	unsigned int r;
	int err = run_serial(app, h->opt, &serial, &res);

	if (!err && (res.t != h->grid.t || res.dt_max != h->res.dt_max))
		err = app_fail(app, 0, "check: time is %.17g instead of %.17g",
			       h->grid.t, res.t);
	if (!err)
		err = app_malloc(app, sizeof(double) *
				 heat_grid_len(h->cut.nx / h->cut.px + 1,
					       h->cut.ny / h->cut.py + 1), &mr);
	for (r = 0; r < app->size && !err; r++) {
		heat_cut_block(&h->cut, r, &block);
		err = get_block(h, r, mr, sizeof(double) *
				heat_grid_len(block.w, block.h));
		block.u = angara_mr_addr(mr);
		if (!err)
			err = compare(app, &serial, &block, r);
	}
	h->res.crc = res.crc;
	if (mr)
		angara_free(mr);
	heat_grid_free(&serial);
	free(serial.u);
}

/*
 * Takes the times of the slowest process, so that no part exceeds the total,
 * and the greatest error.
 */
static int combine_results(struct heat *h)
{
	struct app *app = h->app;
	struct result *all = calloc(app->size, sizeof(*all));
	const struct result *slowest = all;
	unsigned int r;
	int err;

	if (!all)
		return app_fail(app, -ENOMEM, "results");
	h->res.t = h->grid.t;
	h->res.error = heat_error(&h->grid);
	err = app_allgather(app, &h->res, sizeof(h->res), all);
	for (r = 0; r < app->size && !err; r++) {
		if (all[r].wall > slowest->wall)
			slowest = &all[r];
		if (all[r].error > h->res.error)
			h->res.error = all[r].error;
	}
	if (!err) {
		h->res.wall = slowest->wall;
		h->res.compute = slowest->compute;
		h->res.allreduce = slowest->allreduce;
		h->res.halo = slowest->halo;
	}
	free(all);
	return err;
}

static void report(const struct options *o, const struct app *app,
		   const char *mode, const struct heat_cut *cut,
		   const struct result *r)
{
	double work = (double)o->nx * (double)o->ny * (double)o->steps;
	double mcells = work / r->wall * 1e-6;
	double mflops = work * HEAT_FLOPS / (r->compute + r->allreduce) * 1e-6;
	bool crc = o->run.check || o->run.serial;
	char sum[16] = "";

	if (crc)
		snprintf(sum, sizeof(sum), "%08x", r->crc);
	if (o->run.json) {
		printf("{\"program\":\"heat2d\",\"mode\":\"%s\",\"ranks\":%u,"
		       "\"nx\":%llu,\"ny\":%llu,\"px\":%u,\"py\":%u,"
		       "\"steps\":%llu,\"max_dt\":%.17g,\"t\":%.17g,"
		       "\"error\":%.6g,\"us_step\":%.3f,\"us_compute\":%.3f,"
		       "\"us_allreduce\":%.3f,\"us_halo\":%.3f,\"mcells\":%.3f,\"mflops\":%.1f,"
		       "\"crc32\":\"%s\",\"check\":\"%s\"}\n", mode, app->size,
		       (unsigned long long)o->nx, (unsigned long long)o->ny,
		       cut->px, cut->py, (unsigned long long)o->steps, r->dt_max,
		       r->t, r->error, r->wall / (double)o->steps * 1e6,
		       r->compute / (double)o->steps * 1e6,
		       r->allreduce / (double)o->steps * 1e6,
		       r->halo / (double)o->steps * 1e6, mcells, mflops, sum,
		       o->run.check ? "ok" : "none");
		return;
	}
	printf("heat2d: %llu x %llu cells on %u x %u processes (%s), %llu steps: "
	       "t %.6g, max dt %.6g, error %.3g\n", (unsigned long long)o->nx,
	       (unsigned long long)o->ny, cut->px, cut->py, mode,
	       (unsigned long long)o->steps, r->t, r->dt_max, r->error);
	printf("heat2d: %.3f Mcell/s; TS %.3f s, Tmax %.3f s, faces %.3f s; "
	       "Nop/(TS+Tmax) %.1f Mflop/s%s%s%s\n", mcells, r->compute,
	       r->allreduce, r->halo, mflops, crc ? "; CRC-32 " : "", sum,
	       o->run.check ? ", equal to serial" : "");
}

static int prepare(struct heat *h)
{
	struct app *app = h->app;
	int err;

	if (heat_cut_choose(&h->cut, app->size))
		app_bad_input(app, "%u x %u cells cannot be divided among %u "
			      "processes in rows and columns with a cell for "
			      "each; --nx %u is enough", h->cut.nx, h->cut.ny,
			      app->size, app->size);
	err = app_agree(app);
	if (!err)
		err = app_open(app);
	if (err)
		return err;
	heat_cut_block(&h->cut, app->rank, &h->grid);
	if (!app_malloc_all(app, sizeof(double) *
			    heat_grid_len(h->grid.w, h->grid.h), &h->u) &&
	    !app_malloc_all(app, 2 * sizeof(double), &h->max) &&
	    !heat_halo_init(&h->halo, app, &h->cut, &h->grid)) {
		h->grid.u = angara_mr_addr(h->u);
		if (heat_grid_init(&h->grid))
			app_fail(app, -ENOMEM, "cannot allocate the grid");
		else
			h->coll = coll_open(app, h->opt->run.p2p, 1);
	}
	return app_agree(app);
}

static void run(struct heat *h)
{
	struct app *app = h->app;
	double start;
	uint64_t i;
	int err = prepare(h);

	if (err)
		return;
	/*
	 * All processes start together, so the time of a process does not
	 * include the start-up of others.
	 */
	err = coll_barrier(h->coll);
	start = app_now();
	for (i = 0; i < h->opt->steps && !err; i++)
		err = step(h);
	h->res.wall = app_now() - start;
	if (app_agree(app))
		return;
	combine_results(h);
	if (h->opt->run.flip == app->rank)
		h->grid.u[h->grid.w + 3] += 1e-9;
	if (app_agree(app))
		return;
	if (h->opt->run.check && !app->rank)
		check(h);
	if (app_agree(app))
		return;
	if (!app->rank)
		report(h->opt, app, h->coll->ops->name, &h->cut, &h->res);
	coll_close(h->coll);
}

static void serial(struct app *app, const struct options *o)
{
	const struct heat_cut cut = { .px = 1, .py = 1 };
	struct heat_grid g;
	struct result res;

	if (!run_serial(app, o, &g, &res))
		report(o, app, "serial", &cut, &res);
	heat_grid_free(&g);
	free(g.u);
}

int main(int argc, char **argv)
{
	struct heat h = { };
	struct options opt;
	struct app app;
	int err = app_start(&app);

	if (err)
		return err;
	if (!parse(&app, argc, argv, &opt))
		return app_finish(&app);
	h.app = &app;
	h.opt = &opt;
	h.cut.nx = (uint32_t)opt.nx;
	h.cut.ny = (uint32_t)opt.ny;
	if (!app_agree(&app)) {
		if (!opt.run.serial)
			run(&h);
		else if (!app.rank)
			serial(&app, &opt);
		app_agree(&app);
	}
	heat_grid_free(&h.grid);
	return app_finish(&app);
}
