// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-spmv: repeated multiplication of a sparse matrix by a vector.
 *
 * Each process has a block of rows. Each iteration multiplies a process's own
 * rows, gathers the whole result in every process by broadcasts over all trees,
 * and scales it to get the vector of the next iteration.
 *
 * Two vectors alternate.  A process broadcasts into the older vector only when
 * it has the blocks of the newer vector from all processes, including empty
 * blocks: then no process uses the older vector any more.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "coll.h"
#include "csr.h"
#include "mtx.h"

#define MAX_N		(1U << 31)

/**
 * struct options - command line
 * @app: this process
 * @n: rows of a generated matrix, 0 if not given
 * @nnz: elements in each row of a generated matrix, 0 if not given
 * @rows: rows that a serial run multiplies, 0: all
 * @iters: iterations
 * @trees: trees to use
 * @matrix: Matrix Market file, or NULL
 * @run: all other options
 */
struct options {
	struct app *app;
	uint64_t n;
	uint64_t nnz;
	uint64_t rows;
	uint64_t iters;
	uint64_t trees;
	const char *matrix;
	struct app_options run;
};

/* Times of a run in seconds, and its result. */
struct result {
	double multiply;
	double gather;
	double wall;
	double norm;
	uint64_t elements;
	uint32_t crc;
};

/**
 * struct spmv - a run
 * @app: this process
 * @opt: command line
 * @mtx: matrix as read, empty if it is generated
 * @n: rows of the matrix
 * @a: own rows
 * @x: the two vectors
 * @x_mr: memory of the two vectors
 * @offset: start of the block of each rank, in bytes
 * @coll: trees
 * @res: result
 */
struct spmv {
	struct app *app;
	const struct options *opt;
	struct mtx mtx;
	uint64_t n;
	struct csr a;
	double *x[2];
	struct angara_mr *x_mr[2];
	uint64_t *offset;
	struct coll *coll;
	struct result res;
};

const char tool_name[] = "angara-spmv";

enum { OPT_NNZ = APP_OPT_OWN, OPT_ROWS, OPT_MATRIX, OPT_ITERS, OPT_TREES };

static const struct opt opts[] = {
	{ 'n', "n", "N", "rows of a generated matrix (default 20000)", NULL },
	{ OPT_NNZ, "nnz", "D", "elements in each of its rows (default 10)", NULL },
	{ OPT_ROWS, "rows", "R", "with --serial, multiply the first R rows only", NULL },
	{ OPT_MATRIX, "matrix", "FILE",
	  "a Matrix Market file instead of a generated matrix", "@file" },
	{ OPT_ITERS, "iters", "K", "multiplications (default 10)", NULL },
	{ OPT_TREES, "trees", "T", "use T collective trees (default 16)", NULL },
	APP_OPT_CHECK,
	APP_OPT_SERIAL,
	APP_OPT_P2P("allgather by puts, not on the collective network"),
	APP_OPT_FLIP("corrupt an element at RANK, to test the check"),
	APP_OPT_JSON,
	{ 0 }
};

static int take(void *to, int id, const char *value)
{
	struct options *o = to;

	switch (id) {
	case 'n':
		return app_taken(app_number(o->app, "--n", value, 1, MAX_N, &o->n));
	case OPT_NNZ:
		return app_taken(app_number(o->app, "--nnz", value, 1, CSR_MAX_ROW,
					    &o->nnz));
	case OPT_ROWS:
		return app_taken(app_number(o->app, "--rows", value, 1, MAX_N, &o->rows));
	case OPT_MATRIX:
		o->matrix = value;
		return -1;
	case OPT_ITERS:
		return app_taken(app_number(o->app, "--iters", value, 1, UINT32_MAX,
					    &o->iters));
	case OPT_TREES:
		return app_taken(app_number(o->app, "--trees", value, 1, COLL_TREES,
					    &o->trees));
	default:
		return app_option(o->app, id, value, &o->run);
	}
}

static const struct opts_command command = {
	.version = ANG_RELEASE,
	.usage = " [OPTION]...",
	.what = "Multiplies a sparse matrix with a vector, rows divided among all processes.",
	.opts = opts,
	.take = take,
};

static int check_options(struct app *app, struct options *o)
{
	if (o->matrix && (o->n || o->nnz || o->rows))
		return app_bad_input(app, "--matrix excludes --n, --nnz and --rows: the "
				     "file has the size and the elements");
	if (o->rows && !o->run.serial)
		return app_bad_input(app, "--rows needs --serial");
	o->n = o->n ? o->n : 20000;
	o->nnz = o->nnz ? o->nnz : 10;
	if (!o->matrix && o->nnz > o->n)
		return app_bad_input(app, "--nnz %llu: more than the %llu columns "
				     "of the matrix", (unsigned long long)o->nnz,
				     (unsigned long long)o->n);
	if (o->rows > o->n)
		return app_bad_input(app, "--rows %llu: more than the %llu rows "
				     "of the matrix", (unsigned long long)o->rows,
				     (unsigned long long)o->n);
	return 0;
}

static bool parse(struct app *app, int argc, char **argv, struct options *o)
{
	*o = (struct options) {
		.app = app, .iters = 10, .trees = COLL_TREES,
		.run.flip = APP_NO_RANK,
	};
	if (!app_read(app, &command, o, argc, argv))
		return false;
	if (!app_no_more(app, argc, argv))
		check_options(app, o);
	return true;
}

static int load(struct spmv *s)
{
	if (!s->opt->matrix) {
		s->n = s->opt->n;
		return 0;
	}
	if (mtx_read(s->app, s->opt->matrix, &s->mtx))
		return -EINVAL;
	s->n = s->mtx.n;
	return 0;
}

static int rows_of(struct spmv *s, uint64_t first, uint64_t rows, struct csr *a)
{
	int err;

	*a = (struct csr) { .n = s->n, .first = first, .rows = rows };
	err = s->opt->matrix ? csr_collect(a, s->mtx.list, s->mtx.count) :
			       csr_generate(a, (uint32_t)s->opt->nnz);
	return err ? app_fail(s->app, err, "cannot make a matrix of %llu rows",
			      (unsigned long long)rows) : 0;
}

static void start_vector(double *x, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		x[i] = 1 / (double)(1 + i % 8);
}

/*
 * Multiplies by the whole matrix, or by its first rows, in one process; the
 * caller frees the resulting vector @x. With few rows, all other elements of a
 * vector are written again after each multiplication, as the allgather does.
 * Otherwise caches would keep the few elements that these rows read, and a
 * multiplication would take too little time. The time excludes writing.
 */
static int run_serial(struct spmv *s, double **x, struct result *res)
{
	uint64_t rows = s->opt->rows ? s->opt->rows : s->n, k;
	size_t bytes = s->n * sizeof(double);
	double *y = malloc(bytes), *swap, start;
	struct csr a = { };
	int err;

	*x = malloc(bytes);
	*res = (struct result) { };
	err = *x && y ? rows_of(s, 0, rows, &a) :
			app_fail(s->app, -ENOMEM, "cannot allocate vectors of %llu elements",
				 (unsigned long long)s->n);
	if (err)
		goto out;
	start_vector(*x, s->n);
	for (k = 0; k < s->opt->iters; k++) {
		start = app_now();
		csr_multiply(&a, *x, y);
		res->norm = csr_scale(y, rows);
		res->multiply += app_now() - start;
		memcpy(y + rows, *x + rows, (s->n - rows) * sizeof(double));
		swap = *x;
		*x = y;
		y = swap;
	}
	res->wall = res->multiply;
	res->elements = a.start[a.rows];
	res->crc = (uint32_t)crc32_z(0, (Bytef *)*x, bytes);
out:
	csr_free(&a);
	free(y);
	return err;
}

static int prepare_vectors(struct spmv *s)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		int err = app_malloc_all(s->app, s->n * sizeof(double), &s->x_mr[i]);

		if (err)
			return err;
		s->x[i] = angara_mr_addr(s->x_mr[i]);
	}
	start_vector(s->x[0], s->n);
	return 0;
}

static int prepare(struct spmv *s)
{
	struct app *app = s->app;
	uint64_t first;
	unsigned int r;
	int err;

	s->offset = calloc((size_t)app->size + 1, sizeof(*s->offset));
	if (!s->offset) {
		app_fail(app, -ENOMEM, "blocks");
		return app_agree(app);
	}
	for (r = 0; r <= app->size; r++)
		s->offset[r] = s->n * r / app->size * sizeof(double);
	first = s->offset[app->rank] / sizeof(double);
	rows_of(s, first, s->offset[app->rank + 1] / sizeof(double) - first,
		&s->a);
	err = app_agree(app);
	if (!err)
		err = app_open(app);
	if (err)
		return err;
	if (!prepare_vectors(s))
		s->coll = coll_open(app, s->opt->run.p2p,
				    (unsigned int)s->opt->trees);
	return app_agree(app);
}

static int iterate(struct spmv *s, unsigned int cur)
{
	unsigned int next = !cur;
	struct coll_gather g = { .mr = s->x_mr[next], .offset = s->offset };
	double t0 = app_now(), t1, t2;
	int err;

	csr_multiply(&s->a, s->x[cur], s->x[next] + s->a.first);
	t1 = app_now();
	err = coll_allgather(s->coll, &g);
	t2 = app_now();
	s->res.norm = csr_scale(s->x[next], s->n);
	s->res.gather += t2 - t1;
	s->res.multiply += app_now() - t2 + (t1 - t0);
	return err;
}

/* Rank 0 computes the vector serially; all processes compare theirs with it. */
static int check(struct spmv *s, double *x)
{
	struct app *app = s->app;
	struct result serial = { };
	double *want = NULL;
	uint32_t *crcs = calloc(app->size, sizeof(*crcs));
	uint64_t i;
	int err;

	if (!crcs)
		app_fail(app, -ENOMEM, "checksums");
	if (s->opt->run.flip == app->rank)
		*(char *)x ^= 1;
	s->res.crc = (uint32_t)crc32_z(0, (Bytef *)x, s->n * sizeof(double));
	if (!app->rank && !run_serial(s, &want, &serial) &&
	    memcmp(want, x, s->n * sizeof(double))) {
		for (i = 0; !memcmp(&want[i], &x[i], sizeof(double)); i++)
			;
		app_fail(app, 0, "check: element %llu is %.17g instead of %.17g",
			 (unsigned long long)i, x[i], want[i]);
	}
	free(want);
	err = app_agree(app);
	if (!err)
		err = app_allgather(app, &s->res.crc, sizeof(s->res.crc), crcs);
	if (!err && crcs[app->rank] != crcs[0])
		app_fail(app, 0, "check: the vector has CRC-32 %08x instead of "
			 "%08x", crcs[app->rank], crcs[0]);
	free(crcs);
	return err ? err : app_agree(app);
}

/* Takes the times of the slowest process, so that no part exceeds the total. */
static int combine_results(struct spmv *s)
{
	struct app *app = s->app;
	struct result *all = calloc(app->size, sizeof(*all));
	const struct result *slowest = all;
	unsigned int r;
	int err;

	if (!all)
		return app_fail(app, -ENOMEM, "results");
	s->res.elements = s->a.start[s->a.rows];
	err = app_allgather(app, &s->res, sizeof(s->res), all);
	s->res.elements = 0;
	for (r = 0; r < app->size && !err; r++) {
		if (all[r].wall > slowest->wall)
			slowest = &all[r];
		s->res.elements += all[r].elements;
	}
	if (!err) {
		s->res.wall = slowest->wall;
		s->res.multiply = slowest->multiply;
		s->res.gather = slowest->gather;
	}
	free(all);
	return err;
}

static void report(const struct spmv *s, const char *mode,
		   const struct result *r)
{
	const struct options *o = s->opt;
	double iters = (double)o->iters;
	double mflops = 2 * (double)r->elements * iters / r->wall * 1e-6;
	bool crc = o->run.check || o->run.serial;
	char sum[16] = "";

	if (crc)
		snprintf(sum, sizeof(sum), "%08x", r->crc);
	if (o->run.json) {
		printf("{\"program\":\"spmv\",\"mode\":\"%s\",\"ranks\":%u,"
		       "\"n\":%llu,\"elements\":%llu,\"iters\":%llu,"
		       "\"trees\":%llu,\"norm\":%.17g,\"us_iter\":%.3f,"
		       "\"us_gather\":%.3f,\"us_multiply\":%.3f,\"mflops\":%.1f,"
		       "\"crc32\":\"%s\",\"check\":\"%s\"}\n", mode,
		       s->app->size, (unsigned long long)s->n,
		       (unsigned long long)r->elements,
		       (unsigned long long)o->iters,
		       (unsigned long long)o->trees, r->norm,
		       r->wall / iters * 1e6, r->gather / iters * 1e6,
		       r->multiply / iters * 1e6, mflops, sum,
		       o->run.check ? "ok" : "none");
		return;
	}
	printf("spmv: %llu rows, %llu elements on %u processes (%s, %llu trees), "
	       "%llu iterations: norm %.9g\n", (unsigned long long)s->n,
	       (unsigned long long)r->elements, s->app->size, mode,
	       (unsigned long long)o->trees, (unsigned long long)o->iters,
	       r->norm);
	printf("spmv: %.1f us per iteration: multiply %.1f, allgather %.1f; %.1f "
	       "Mflop/s%s%s%s\n", r->wall / iters * 1e6,
	       r->multiply / iters * 1e6, r->gather / iters * 1e6, mflops,
	       crc ? "; CRC-32 " : "", sum, o->run.check ? ", equal to serial" : "");
}

static void run(struct spmv *s)
{
	struct app *app = s->app;
	unsigned int cur = 0;
	double start;
	uint64_t k;
	int err = prepare(s);

	if (err)
		return;
	/*
	 * All processes start together, so the time of a process does not
	 * include the start-up of others.
	 */
	err = coll_barrier(s->coll);
	start = app_now();
	for (k = 0; k < s->opt->iters && !err; k++, cur = !cur)
		err = iterate(s, cur);
	s->res.wall = app_now() - start;
	if (app_agree(app))
		return;
	combine_results(s);
	if (app_agree(app))
		return;
	if (s->opt->run.check && check(s, s->x[cur]))
		return;
	if (!app->rank)
		report(s, s->coll->ops->name, &s->res);
	coll_close(s->coll);
}

static void serial(struct spmv *s)
{
	struct result res;
	double *x;

	if (!run_serial(s, &x, &res))
		report(s, "serial", &res);
	free(x);
}

int main(int argc, char **argv)
{
	struct spmv s = { };
	struct options opt;
	struct app app;
	int err = app_start(&app);

	if (err)
		return err;
	if (!parse(&app, argc, argv, &opt))
		return app_finish(&app);
	s.app = &app;
	s.opt = &opt;
	if (!app.error[0])
		load(&s);
	if (!app_agree(&app)) {
		if (!opt.run.serial)
			run(&s);
		else if (!app.rank)
			serial(&s);
		app_agree(&app);
	}
	csr_free(&s.a);
	mtx_free(&s.mtx);
	free(s.offset);
	return app_finish(&app);
}
