// SPDX-License-Identifier: GPL-2.0-only
/*
 * The applications of document 000, sections 4.2 and 4.3.  As in the document's
 * measurements, a multiplication or step takes the computing time of a node, from
 * a table or a rate, plus the time of the collective operation that follows, which
 * is simulated.
 *
 * SpMV: rows in blocks, then an allgather of the vector.  Heat: a step, then an
 * allreduce of the greatest diffusivity.
 */
#include <errno.h>
#include <math.h>
#include "args.h"
#include "cmd.h"
#include "lines.h"

#define WORK_MOST	1000000U	/* operations per row, entry or cell */
#define NODES_MOST	(1U << 20)
#define SIDE_LOG2	15	/* log2 of the most nodes along a dimension: u16 */
#define RATE_LEAST	1e-3	/* MFlop/s */
#define RATE_MOST	1e12

/**
 * struct point - a measured time
 * @units: rows or cells of a node
 * @seconds: time of one multiplication or step
 */
struct point {
	double units;
	double seconds;
};

static struct point *table;
static u32 points;

static int by_units(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->units < y->units ? -1 : x->units > y->units;
}

static bool is_positive(double number)
{
	return isfinite(number) && number > 0;
}

/* Reads a table of lines "UNITS SECONDS". */
static void table_read(const char *path)
{
	struct sim_lines l;
	char err[512];
	int ret;

	if (sim_lines_open(&l, path, SIM_LINES_FEW, err, sizeof(err)))
		bad_usage("--table %s", err);
	points = 0;
	while ((ret = sim_lines_next(&l, err, sizeof(err))) > 0) {
		struct point p;
		char more;

		l.text[strcspn(l.text, "#\n")] = 0;
		if (!l.text[strspn(l.text, " \t")])
			continue;
		if (sscanf(l.text, "%lf %lf %c", &p.units, &p.seconds,
			   &more) != 2 ||
		    !is_positive(p.units) || !is_positive(p.seconds))
			bad_usage("--table %s:%u: not 'UNITS SECONDS'", path,
				  l.number);
		table = realloc(table, (points + 1) * sizeof(*table));
		if (!table) {
			fprintf(stderr, "angara-sim: --table %s: no memory\n", path);
			exit(SIM_FAILED);
		}
		table[points++] = p;
	}
	if (ret)
		bad_usage("--table %s", err);
	if (!points)
		bad_usage("--table %s: has no line 'UNITS SECONDS'", path);
	qsort(table, points, sizeof(*table), by_units);
}

/*
 * Interpolates by a power law between two points; outside of the table, time is
 * proportional to @units.
 */
static double table_time(double units)
{
	u32 i = 0;
	double t;

	while (i < points && table[i].units < units)
		i++;
	if (i < points && table[i].units <= units)
		return table[i].seconds;
	if (!i)
		return table[0].seconds * units / table[0].units;
	if (i == points)
		return table[i - 1].seconds * units / table[i - 1].units;
	t = log(units / table[i - 1].units) /
	    log(table[i].units / table[i - 1].units);
	return table[i - 1].seconds *
	       pow(table[i].seconds / table[i - 1].seconds, t);
}

/*
 * Return: computing time of a step, from --table, or from @flop per unit, --rate and
 * --step-overhead.
 */
static double compute(double units, double flop)
{
	if (points)
		return table_time(units);
	return units * flop / (atof(arg_text("rate")) * 1e6) +
	       (double)arg_number("step-overhead") * 1e-12;
}

/* Selects the torus of 2^log2 nodes whose last dimensions are the longest. */
static void torus_of(struct env *e, u32 ndims, u32 log2)
{
	u32 d;

	memset(&e->cfg.torus, 0, sizeof(e->cfg.torus));
	e->cfg.torus.ndims = ndims;
	for (d = 0; d < ndims; d++)
		e->cfg.torus.dims[d] = (u16)(1U << (log2 + d) / ndims);
}

static void app_row(struct env *e, struct out *o, double ts, double flop,
		    const double *t)
{
	char buf[32];
	u32 mode;

	out_cell(o, "%s", sim_cfg_name(&e->cfg, buf, sizeof(buf)));
	out_cell(o, "%u", angara_topo_nodes(&e->cfg.torus));
	out_cell(o, "%.3f", ts * 1e6);
	for (mode = 0; mode < 2; mode++)
		out_cell(o, "%.3f", t[mode] * 1e6);
	for (mode = 0; mode < 2; mode++)
		out_cell(o, "%.3f", flop / (ts + t[mode]) * 1e-9);
	out_cell(o, "%.3f", (ts + t[WORK_P2P]) / (ts + t[WORK_OFFLOAD]));
}

#define APP_COLUMNS "torus,nodes,compute us,offload us,p2p us,offload GFlop/s,p2p GFlop/s,gain"

static u32 log2_of(const char *option)
{
	u64 nodes = arg_number(option);
	u32 n = 0;

	while (1ULL << n < nodes)
		n++;
	if (1ULL << n != nodes)
		bad_usage("--%s '%s': not a power of two from 2 to %u", option,
			  arg_text(option), NODES_MOST);
	return n;
}

/* Reads --from and --to: tori have from 2^@from to 2^@to nodes, see torus_of(). */
static void sizes_of(u32 *from, u32 *to)
{
	u32 ndims = (u32)arg_number("dims");

	*from = log2_of("from");
	*to = log2_of("to");
	if ((*to + ndims - 1) / ndims > SIDE_LOG2)
		bad_usage("--to '%s' --dims '%s': a dimension would have more than %u nodes",
			  arg_text("to"), arg_text("dims"), 1U << SIDE_LOG2);
	if (*from > *to)
		bad_usage("--from '%s': more than --to '%s'", arg_text("from"),
			  arg_text("to"));
}

static void common_checks(void)
{
	double rate;
	char *end;

	if (arg_text("table"))
		table_read(arg_text("table"));
	rate = strtod(arg_text("rate"), &end);
	if (*end || !(rate >= RATE_LEAST && rate <= RATE_MOST))
		bad_usage("--rate '%s': not a number of MFlop/s from %g to %g",
			  arg_text("rate"), RATE_LEAST, RATE_MOST);
}

static const struct sim_opt spmv_opts[] = {
	{ "rows", SIM_T_NUMBER, "20480000", "rows of the matrix", 1, 1U << 28 },
	{ "nonzeros", SIM_T_NUMBER, "10", "per row", 1, WORK_MOST },
	{ "rate", SIM_T_TEXT, "591", "compute rate of a node in MFlop/s" },
	{ "step-overhead", SIM_T_TIME, "0s", "fixed time of a multiplication" },
	{ "table", SIM_T_FILE, NULL, "file of measured times: rows of a node, seconds" },
	{ "dims", SIM_T_NUMBER, "4", "dimensions of the tori", 1, ANG_MAX_DIMS },
	{ "from", SIM_T_NUMBER, "2", "nodes at least, a power of two", 2, NODES_MOST },
	{ "to", SIM_T_NUMBER, "2048", "nodes at most", 2, NODES_MOST },
	{ "algo", SIM_T_TEXT, "doubling", "by messages: doubling, ring, bruck" },
	{ "trees", SIM_T_NUMBER, "16", "for broadcasts", 1, ANG_DEF_TREES },
	{ "stripe", SIM_T_FLAG, NULL, "split each node's block over all trees" },
	{ "ranks", SIM_T_TEXT, "first",
	  "dimension along which neighbouring ranks are: first or last" },
	{ NULL },
};

static int spmv_size(struct env *e, struct out *o)
{
	double rows = (double)arg_number("rows");
	double flop = 2.0 * (double)arg_number("nonzeros");
	u32 n = angara_topo_nodes(&e->cfg.torus), mode;
	double t[2];

	for (mode = 0; mode < 2; mode++) {
		struct gather g = {
			.bcasts = mode == WORK_OFFLOAD,
			.coll = ANG_COLL_ALLGATHER,
			.algo = gather_algo(arg_text("algo")),
			.bytes = (u32)((arg_number("rows") + n - 1) / n *
				       sizeof(double)),
			.trees = n < arg_number("trees") ? n :
				 (u32)arg_number("trees"),
			.stripe = arg_text("stripe"),
			.reverse = gather_reverse(),
		};
		struct result r;

		if (gather_run(e, &g, &r))
			return SIM_FAILED;
		t[mode] = (double)r.time * 1e-12;
	}
	app_row(e, o, compute(rows / n, flop), rows * flop, t);
	return SIM_OK;
}

static int spmv_cmd(struct env *e)
{
	u32 from, to, i;
	struct gather g = {
		.coll = ANG_COLL_ALLGATHER, .algo = gather_algo(arg_text("algo")),
	};
	struct out *o;

	common_checks();
	sizes_of(&from, &to);
	need_torus(e, "spmv");
	if (!gather_valid(&g, 1))
		bad_usage("--algo '%s': not one of doubling, ring, bruck",
			  arg_text("algo"));
	o = out_new("Sparse matrix times vector", APP_COLUMNS);
	for (i = from; i <= to; i++) {
		torus_of(e, (u32)arg_number("dims"), i);
		if (spmv_size(e, o))
			return SIM_FAILED;
	}
	if (!e->comm.rank)
		out_end(o);
	return SIM_OK;
}

const struct cmd cmd_spmv = {
	"spmv", "sparse matrix times vector over nodes", spmv_opts, spmv_cmd,
};

static const struct sim_opt heat_opts[] = {
	{ "cells", SIM_T_TEXT, "40960000,81920000,163840000",
	  "cells of the grid, separated by commas" },
	{ "flop", SIM_T_NUMBER, "13", "floating-point operations per cell", 1, WORK_MOST },
	{ "rate", SIM_T_TEXT, "11000", "compute rate of a node in MFlop/s" },
	{ "step-overhead", SIM_T_TIME, "9.5us",
	  "fixed time of a step on a node" },
	{ "table", SIM_T_FILE, NULL, "file of measured times: cells of a node, seconds" },
	{ "bytes", SIM_T_BYTES, "8", "size of the maximum" },
	{ "children", SIM_T_TEXT, "deepest",
	  "subtree that gets messages first: deepest or shallowest" },
	{ "dims", SIM_T_NUMBER, "4", "dimensions of the tori", 1, ANG_MAX_DIMS },
	{ "from", SIM_T_NUMBER, "2", "nodes at least, a power of two", 2, NODES_MOST },
	{ "to", SIM_T_NUMBER, "32768", "nodes at most", 2, NODES_MOST },
	{ NULL },
};

/* Simulates the allreduce in the network and by messages.  @t: out: times in seconds. */
static int heat_times(struct env *e, double *t)
{
	u32 mode;

	for (mode = 0; mode < 2; mode++) {
		struct coll c = {
			.type = ANG_PKT_ALLREDUCE, .mode = mode, .trees = 1,
			.bytes = (u32)arg_number("bytes"),
			.shallowest = coll_shallowest(),
		};
		struct result r;

		if (coll_run(e, &c, &r))
			return SIM_FAILED;
		t[mode] = (double)r.time * 1e-12;
	}
	return SIM_OK;
}

static uint64_t heat_cells(const char *text)
{
	uint64_t cells;
	char why[128];

	if (sim_value(SIM_T_NUMBER, text, 1, UINT64_MAX, &cells, why, sizeof(why)))
		bad_usage("--cells '%s': %s", text, why);
	return cells;
}

/*
 * Makes the rows for one number of cells.  @t: times of the allreduce by size of the torus, which
 * do not depend on the number of cells.
 */
static void heat_rows(struct env *e, struct out *o, const char *text,
		      const u32 *log2, const double (*t)[2])
{
	double flop = (double)arg_number("flop");
	uint64_t cells;
	u32 i;

	cells = heat_cells(text);
	for (i = log2[0]; i <= log2[1]; i++) {
		torus_of(e, (u32)arg_number("dims"), i);
		out_cell(o, "%s", text);
		app_row(e, o, compute((double)cells /
				      angara_topo_nodes(&e->cfg.torus), flop),
			(double)cells * flop, t[i]);
	}
}

static int heat_cmd(struct env *e)
{
	char *copy = strdup(arg_text("cells")), *rest = copy, *item;
	double t[21][2];
	struct out *o;
	u32 log2[2], i;

	common_checks();
	sizes_of(&log2[0], &log2[1]);
	need_torus(e, "heat2d");
	while ((item = arg_list(&rest)))
		heat_cells(item);
	free(copy);
	copy = strdup(arg_text("cells"));
	rest = copy;
	need_one_packet(e);
	o = out_new("Heat equation", "cells," APP_COLUMNS);
	for (i = log2[0]; i <= log2[1]; i++) {
		torus_of(e, (u32)arg_number("dims"), i);
		if (heat_times(e, t[i]))
			return SIM_FAILED;
	}
	while ((item = arg_list(&rest)))
		heat_rows(e, o, item, log2, t);
	free(copy);
	if (!e->comm.rank)
		out_end(o);
	return SIM_OK;
}

const struct cmd cmd_heat = {
	"heat2d", "heat equation with an allreduce per step", heat_opts,
	heat_cmd,
};
