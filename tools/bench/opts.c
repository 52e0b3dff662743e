// SPDX-License-Identifier: GPL-2.0-only
/* The command line. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"

#define OPERATIONS	"put, get, bcast, bcast-barrier, reduce, allreduce, " \
			"barrier, allgather"
#define DEFAULT_SIZES	"8:1M"
#define DEFAULT_WINDOW	64
#define SMALL_BYTES	8192	/* up to here, many samples by default */
#define SMALL_ITERS	1000
#define LARGE_ITERS	100

const char bench_usage[] =
"Usage: angara-run -n N angara-bench OPERATION [OPTION...]\n"
"Measure one of " OPERATIONS ".\n"
"\n"
"  --lat           time of one operation at a time (the default)\n"
"  --bw            bytes per second with many under way\n"
"  --rate          operations per second with many under way\n"
"  -s SIZES        bytes: a list such as 8,4K,1M, or 8:1M for powers of two\n"
"                  (default 8:1M)\n"
"  -n SAMPLES      measured samples (default 1000 up to 8K, 100 above)\n"
"  -b BATCH        operations, or windows, in a sample; for the operations that\n"
"                  need no barrier between them (default: as many as take 5 us)\n"
"  -W WINDOW       operations under way with --bw and --rate (default 64)\n"
"  --trees N       measure each size over one tree and over N, 2 to 16, that each\n"
"                  operation is spread over; and the gain.  Reductions need\n"
"                  N + 1 free trees\n"
"  --to RANK       other end of put and get (default: the last)\n"
"  --check         compare all data with the expected values\n"
"  --csv           write comma-separated values\n"
"  -j, --json      write JSON\n"
"  -h, --help      write this text\n";

static const struct option long_options[] = {
	{ "lat", no_argument, NULL, 'l' },
	{ "bw", no_argument, NULL, 'w' },
	{ "rate", no_argument, NULL, 'r' },
	{ "to", required_argument, NULL, 't' },
	{ "trees", required_argument, NULL, 'T' },
	{ "check", no_argument, NULL, 'k' },
	{ "csv", no_argument, NULL, 'c' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* Options that exclude each other, or may be given only once. */
struct given {
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

static int option(struct bench *b, int c, struct given *g, char **argv)
{
	switch (c) {
	case 'l':
		b->mode = BENCH_LAT;
		return only_once(b, &g->mode, "--lat");
	case 'w':
		b->mode = BENCH_BW;
		return only_once(b, &g->mode, "--bw");
	case 'r':
		b->mode = BENCH_RATE;
		return only_once(b, &g->mode, "--rate");
	case 'c':
		b->form = BENCH_CSV;
		return only_once(b, &g->form, "--csv");
	case 'j':
		b->form = BENCH_JSON;
		return only_once(b, &g->form, "--json");
	case 's':
		g->sizes = optarg;
		return 0;
	case 'n':
		return app_number(&b->app, "-n", optarg, 1, BENCH_MAX_ITERS,
				  &b->iters);
	case 'b':
		g->batch = "-b";
		return app_number(&b->app, "-b", optarg, 1, BENCH_MAX_BATCH,
				  &b->batch);
	case 'W':
		g->window = optarg;
		return app_number(&b->app, "-W", optarg, 1, BENCH_MAX_WINDOW,
				  &b->window);
	case 't':
		g->to = optarg;
		return app_number(&b->app, "--to", optarg, 0, b->app.size - 1,
				  &b->to);
	case 'T':
		return app_number(&b->app, "--trees", optarg, 2, BENCH_MAX_TREES,
				  &b->trees);
	case 'k':
		b->check = true;
		return 0;
	case 'h':
		b->help = true;
		return 0;
	default:
		return app_bad_option(&b->app, c, argv);
	}
}

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
		return app_bad_input(&b->app, "-b: there is a barrier before each "
				     "%s", b->op->name);
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

int bench_parse(struct bench *b, int argc, char **argv)
{
	struct given g = { 0 };
	int c, err = 0;

	b->to = b->app.size - 1;
	b->window = DEFAULT_WINDOW;
	b->trees = 1;
	while (!err && (c = getopt_long(argc, argv, ":s:n:b:W:jh", long_options,
					NULL)) != -1)
		err = option(b, c, &g, argv);
	if (err || b->help)
		return err;
	err = find_op(b, argc, argv);
	if (!err)
		err = check_given(b, &g);
	if (err)
		return err;
	if (b->mode == BENCH_LAT)
		b->window = 1;
	if (b->op->no_size) {
		b->num_sizes = 1;
		return 0;
	}
	return parse_sizes(b, g.sizes ? g.sizes : DEFAULT_SIZES);
}

unsigned int bench_iters(const struct bench *b, uint64_t bytes)
{
	if (b->iters)
		return (unsigned int)b->iters;
	return bytes <= SMALL_BYTES ? SMALL_ITERS : LARGE_ITERS;
}
