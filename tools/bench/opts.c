// SPDX-License-Identifier: GPL-2.0-only
/* The command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"

#define OPERATIONS	"put, get, bcast, bcast-barrier, reduce, allreduce, " \
			"barrier, allgather"
#define DEFAULT_SIZES	"8:1M"
#define DEFAULT_WINDOW	64
#define SMALL_BYTES	8192	/* largest size with many samples by default */
#define SMALL_ITERS	1000
#define LARGE_ITERS	100

const char tool_name[] = "angara-bench";

enum {
	OPT_LAT = APP_OPT_OWN,
	OPT_BW,
	OPT_RATE,
	OPT_TREES,
	OPT_TO,
	OPT_CHECK,
	OPT_CSV,
};

static const struct opt opts[] = {
	{ OPT_LAT, "lat", NULL, "time of one operation at a time (the default)", NULL },
	{ OPT_BW, "bw", NULL, "bytes per second with many operations in flight", NULL },
	{ OPT_RATE, "rate", NULL, "operations per second with many in flight", NULL },
	{ 's', NULL, "SIZES",
	  "bytes: a list such as 8,4K,1M, or 8:1M for powers of two\n"
	  "(default 8:1M)", NULL },
	{ 'n', NULL, "SAMPLES",
	  "measured samples (default 1000 up to 8K, 100 above)", NULL },
	{ 'b', NULL, "BATCH",
	  "operations, or windows, in a sample; for operations that need\n"
	  "no barrier between them (default: as many as take 5 us)", NULL },
	{ 'W', NULL, "WINDOW",
	  "operations in flight with --bw and --rate (default 64)", NULL },
	{ OPT_TREES, "trees", "N",
	  "measure each operation over one tree and spread over N trees,\n"
	  "2 to 16, and print the gain. Reductions need N + 1 free\n"
	  "trees", NULL },
	{ OPT_TO, "to", "RANK", "rank at the other end of put and get (default: the last)", NULL },
	{ OPT_CHECK, "check", NULL, "compare all data with the expected values", NULL },
	{ OPT_CSV, "csv", NULL, "write comma-separated values", NULL },
	{ 'j', "json", NULL, "write JSON", NULL },
	{ 0 }
};

/* State while the command line is read: options that exclude each other, or may occur only once. */
struct given {
	struct bench *b;
	const char *mode;
	const char *form;
	const char *sizes;
	const char *window;
	const char *batch;
	const char *to;
};

static int add_size(struct bench *b, uint64_t bytes)
{
	if (b->num_sizes == BENCH_MAX_SIZES)
		return app_bad_input(&b->app, "-s: more than %u sizes",
				     BENCH_MAX_SIZES);
	if (b->op->elements && bytes % sizeof(int64_t))
		return app_bad_input(&b->app, "-s: %s sums 64-bit integers: "
				     "%llu is not a multiple of 8", b->op->name,
				     (unsigned long long)bytes);
	b->sizes[b->num_sizes++] = bytes;
	return 0;
}

static int parse_item(struct bench *b, char *item)
{
	char *colon = strchr(item, ':');
	uint64_t first, last;
	int err;

	if (colon)
		*colon = '\0';
	err = app_number(&b->app, "-s", item, 1, ANGARA_MAX_OP_BYTES, &first);
	last = first;
	if (!err && colon)
		err = app_number(&b->app, "-s", colon + 1, first,
				 ANGARA_MAX_OP_BYTES, &last);
	for (; !err && first <= last; first *= 2)
		err = add_size(b, first);
	return err;
}

static int parse_sizes(struct bench *b, const char *text)
{
	char *copy = strdup(text), *rest = copy, *item;
	int err = 0;

	if (!copy)
		return app_fail(&b->app, -ENOMEM, "sizes");
	while (!err && (item = strsep(&rest, ",")))
		err = parse_item(b, item);
	free(copy);
	return err;
}

static int only_once(struct bench *b, const char **seen, const char *now)
{
	if (*seen && strcmp(*seen, now))
		return app_bad_input(&b->app, "%s and %s exclude each other",
				     *seen, now);
	*seen = now;
	return 0;
}

static int option(struct bench *b, int id, struct given *g, const char *value)
{
	switch (id) {
	case OPT_LAT:
		b->mode = BENCH_LAT;
		return only_once(b, &g->mode, "--lat");
	case OPT_BW:
		b->mode = BENCH_BW;
		return only_once(b, &g->mode, "--bw");
	case OPT_RATE:
		b->mode = BENCH_RATE;
		return only_once(b, &g->mode, "--rate");
	case OPT_CSV:
		b->form = BENCH_CSV;
		return only_once(b, &g->form, "--csv");
	case 'j':
		b->form = BENCH_JSON;
		return only_once(b, &g->form, "--json");
	case 's':
		g->sizes = value;
		return 0;
	case 'n':
		return app_number(&b->app, "-n", value, 1, BENCH_MAX_ITERS,
				  &b->iters);
	case 'b':
		g->batch = "-b";
		return app_number(&b->app, "-b", value, 1, BENCH_MAX_BATCH,
				  &b->batch);
	case 'W':
		g->window = value;
		return app_number(&b->app, "-W", value, 1, BENCH_MAX_WINDOW,
				  &b->window);
	case OPT_TO:
		g->to = value;
		return app_number(&b->app, "--to", value, 0, b->app.size - 1,
				  &b->to);
	case OPT_TREES:
		return app_number(&b->app, "--trees", value, 2, BENCH_MAX_TREES,
				  &b->trees);
	case OPT_CHECK:
		b->check = true;
		return 0;
	}
	return 0;
}

static int take(void *to, int id, const char *value)
{
	struct given *g = to;

	return app_taken(option(g->b, id, g, value));
}

static const struct opts_command command = {
	.version = ANG_RELEASE,
	.usage = " OPERATION [OPTION]...",
	.what = "Measures one of " OPERATIONS ".\n"
		"Start several processes: angara-run -n N angara-bench OPERATION",
	.opts = opts,
	.operands = "put get bcast bcast-barrier reduce allreduce barrier allgather",
	.take = take,
};

static int find_op(struct bench *b, int argc, char **argv)
{
	const char *name = argv[optind];
	unsigned int i;

	if (!name)
		return app_bad_input(&b->app, "which operation? " OPERATIONS);
	for (i = 0; i < bench_num_ops; i++)
		if (!strcmp(name, bench_ops[i].name))
			b->op = &bench_ops[i];
	if (!b->op)
		return app_bad_input(&b->app, "unknown operation '%s': there are "
				     OPERATIONS, name);
	optind++;
	return app_no_more(&b->app, argc, argv);
}

static int check_given(struct bench *b, const struct given *g)
{
	if (g->to && !b->op->one_sided)
		return app_bad_input(&b->app, "--to is for put and get: %s takes "
				     "all processes", b->op->name);
	if (b->trees > 1 && !b->op->spreads)
		return app_bad_input(&b->app, "--trees is for bcast, "
				     "bcast-barrier, reduce and allreduce, not for %s",
				     b->op->name);
	if (g->window && b->mode == BENCH_LAT)
		return app_bad_input(&b->app, "-W is for --bw and --rate");
	if (g->batch && b->check)
		return app_bad_input(&b->app, "-b and --check exclude each other: "
				     "each operation is checked");
	if (g->batch && b->op->span != BENCH_OWN)
		return app_bad_input(&b->app, "-b is not for %s: there is a barrier "
				     "before each", b->op->name);
	if (b->op->no_size && g->sizes)
		return app_bad_input(&b->app, "-s: a %s has no size",
				     b->op->name);
	if (b->op->no_size && b->mode == BENCH_BW)
		return app_bad_input(&b->app, "--bw: a %s moves no data",
				     b->op->name);
	if (b->op->no_size && b->check)
		return app_bad_input(&b->app, "--check: a %s moves no data",
				     b->op->name);
	return 0;
}

/*
 * A process without a launcher would measure only itself.  Launchers set one of
 * these variables, see angara_job_init(3).
 */
static int check_launcher(struct bench *b)
{
	if (b->app.size > 1 || getenv("ANGARA_RANK") || getenv("PMIX_RANK") ||
	    getenv("PMI_RANK") || getenv("PMI_FD"))
		return 0;
	return app_bad_input(&b->app, "one process alone: start several, such as "
			     "'angara-run -n 8 angara-bench %s'", b->op->name);
}

static int check_line(struct bench *b, const struct given *g, int argc, char **argv)
{
	int err = find_op(b, argc, argv);

	if (!err)
		err = check_given(b, g);
	if (!err)
		err = check_launcher(b);
	if (err)
		return err;
	if (b->mode == BENCH_LAT)
		b->window = 1;
	if (b->op->no_size) {
		b->num_sizes = 1;
		return 0;
	}
	return parse_sizes(b, g->sizes ? g->sizes : DEFAULT_SIZES);
}

bool bench_parse(struct bench *b, int argc, char **argv)
{
	struct given g = { .b = b };

	b->to = b->app.size - 1;
	b->window = DEFAULT_WINDOW;
	b->trees = 1;
	if (!app_read(&b->app, &command, &g, argc, argv))
		return false;
	check_line(b, &g, argc, argv);
	return true;
}

unsigned int bench_iters(const struct bench *b, uint64_t bytes)
{
	if (b->iters)
		return (unsigned int)b->iters;
	return bytes <= SMALL_BYTES ? SMALL_ITERS : LARGE_ITERS;
}
