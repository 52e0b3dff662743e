// SPDX-License-Identifier: GPL-2.0-only
/*
 * Curve: delay over load, up to saturation (Dally & Towles, chapter 23).
 *
 * Each load is simulated from an idle fabric several times with different
 * seeds: a warm-up, a window whose packets are measured, and a time after it in
 * which the load continues.  The mean over seeds has a confidence interval of
 * 95 %. A load saturates the fabric if fewer flits arrive than the load offers,
 * or if packets take longer than a given multiple of their time on an idle
 * fabric.  Loads rise by a step until the fabric saturates; between the last
 * two loads, the step is halved repeatedly.
 */
#include <math.h>
#include "args.h"
#include "cmd.h"

#define POINTS_MOST	256U
#define SEEDS_MOST	10U
#define IDLE_LOAD	0.01
#define LOAD_MOST	4.0

/**
 * struct mean - mean of several runs
 * @value: mean
 * @around: half of its 95 % confidence interval
 */
struct mean {
	double value;
	double around;
};

/**
 * struct point - a load
 * @load: flits per cycle and module that sends
 * @offered: flits per cycle and module, over all modules
 * @accepted: flits that arrive in the window, per cycle and module
 * @delay: mean delay of measured packets, in nanoseconds
 * @most: longest delay
 * @hops: cables that a packet crosses
 * @packets: number of measured packets
 * @wall: seconds of the simulations
 * @saturated: the load saturates the fabric, see the head of this file
 */
struct point {
	double load;
	double offered;
	struct mean accepted;
	struct mean delay;
	double most;
	double hops;
	double packets;
	double wall;
	bool saturated;
};

/**
 * struct curve - a sweep
 * @e: environment
 * @c: traffic
 * @seeds: runs per load
 * @share: share of all modules for which the pattern has a target
 * @limit: a load with a greater delay is saturated, in nanoseconds; 0: not
 *         known yet
 * @point: loads so far
 * @points: their number
 */
struct curve {
	struct env *e;
	struct traffic c;
	u32 seeds;
	double share;
	double limit;
	struct point point[POINTS_MOST];
	u32 points;
};

static struct mean mean_of(const double *x, u32 n)
{
	/* Student's t, two-sided 95 %, by degrees of freedom. */
	static const double t[SEEDS_MOST] = {
		0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26,
	};
	struct mean m = { 0 };
	double squares = 0;
	u32 i;

	for (i = 0; i < n; i++)
		m.value += x[i] / n;
	for (i = 0; i < n; i++)
		squares += (x[i] - m.value) * (x[i] - m.value);
	if (n > 1)
		m.around = t[n - 1] * sqrt(squares / (n - 1) / n);
	return m;
}

/* Is the accepted load clearly below the offered load? */
static bool is_short(const struct curve *v, const struct point *p)
{
	double cycles = (double)(v->c.end - v->c.warmup) /
			(double)v->e->cfg.clock;
	double modules = sim_cfg_nodes(&v->e->cfg) *
			 (double)sim_cfg_modules(&v->e->cfg);
	double packets = p->offered * cycles * modules * v->seeds /
			 ang_flits_of(1, v->c.bytes);

	return p->offered - p->accepted.value >
	       p->offered * fmax(0.05, 3 / sqrt(packets));
}

/*
 * Simulate a load.  Return: its entry in @v->point, NULL if a simulation
 * failed.
 */
static struct point *point_run(struct curve *v, double load)
{
	double accepted[SEEDS_MOST], delay[SEEDS_MOST];
	double cycles = (double)(v->c.end - v->c.warmup) /
			(double)v->e->cfg.clock;
	struct point *p = &v->point[v->points];
	u64 seed = v->e->cfg.seed;
	u32 i;

	if (v->points == POINTS_MOST)
		bad_usage("more than %u loads: choose a larger step",
			  POINTS_MOST);
	*p = (struct point){ .load = load, .offered = load * v->share };
	v->c.load = load;
	for (i = 0; i < v->seeds; i++) {
		struct result r;
		int err;

		v->e->cfg.seed = seed + i;
		err = traffic_run(v->e, &v->c, &r);
		v->e->cfg.seed = seed;
		if (err)
			return NULL;
		accepted[i] = (double)r.acc.meas_flits / cycles /
			      (double)r.ranks;
		delay[i] = r.acc.lat_n ? (double)r.acc.lat_sum * 1e-3 /
					 (double)r.acc.lat_n : 0;
		p->most = fmax(p->most, (double)r.acc.lat_max * 1e-3);
		p->hops += (double)r.acc.hops /
			   (double)sim_max(r.acc.ejected, 1) / v->seeds;
		p->packets += (double)r.acc.lat_n;
		p->wall += r.spent.wall;
	}
	p->accepted = mean_of(accepted, v->seeds);
	p->delay = mean_of(delay, v->seeds);
	p->saturated = is_short(v, p) ||
		       (v->limit > 0 && p->delay.value > v->limit);
	v->points++;
	return p;
}

/*
 * Run rising loads until one saturates the fabric, then bisect between this load and the previous
 * load.  Return: whether all runs succeeded.
 */
static bool sweep(struct curve *v, double step, double least)
{
	double low = 0, high = 0;
	u32 i;

	for (i = 1; !high && i * step <= LOAD_MOST; i++) {
		const struct point *p = point_run(v, i * step);

		if (!p)
			return false;
		if (p->saturated)
			high = p->load;
		else
			low = p->load;
	}
	while (high - low > least * 1.0001) {
		const struct point *p = point_run(v, (low + high) / 2);

		if (!p)
			return false;
		if (p->saturated)
			high = p->load;
		else
			low = p->load;
	}
	return true;
}

static int by_load(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->load < y->load ? -1 : x->load > y->load;
}

static void curve_print(const struct curve *v, const char *pattern)
{
	struct out *o = out_new(pattern,
				"fabric,pattern,load,offered,accepted,+-,latency ns,+- ns,longest ns,hops,packets,saturated,seconds");
	char buf[32];
	u32 i;

	for (i = 0; i < v->points; i++) {
		const struct point *p = &v->point[i];

		out_cell(o, "%s", sim_cfg_name(&v->e->cfg, buf, sizeof(buf)));
		out_cell(o, "%s", pattern);
		out_cell(o, "%.6g", p->load);
		out_cell(o, "%.4f", p->offered);
		out_cell(o, "%.4f", p->accepted.value);
		out_cell(o, "%.4f", p->accepted.around);
		out_cell(o, "%.1f", p->delay.value);
		out_cell(o, "%.1f", p->delay.around);
		out_cell(o, "%.1f", p->most);
		out_cell(o, "%.3f", p->hops);
		out_cell(o, "%.0f", p->packets);
		out_cell(o, "%s", p->saturated ? "yes" : "no");
		out_cell(o, "%.3f", p->wall);
	}
	out_end(o);
}

/*
 * Return: share of modules that send.  Patterns that draw random targets never draw the module
 * itself, so one draw shows whether it sends.
 */
static double share_of(struct env *e, const struct traffic *c)
{
	u32 n, rank, senders = 0;
	struct sim s;
	u64 rng = 1;

	work_begin(e, &s);
	n = s.topo.nodes * s.modules;
	for (rank = 0; rank < n; rank++)
		senders += pattern_target(&s, c, rank, 0, &rng) != rank;
	sim_free(&s);
	return (double)senders / n;
}

static double need_number(const char *name, double least)
{
	char *end;
	double value = strtod(arg_text(name), &end);

	if (*end || !(value >= least && value <= 1000))
		bad_usage("--%s '%s': not a number from %g to 1000", name,
			  arg_text(name), least);
	return value;
}

static bool loads_run(struct curve *v, const char *text)
{
	char *copy = strdup(text), *rest = copy, *item;
	bool good = true;

	while (good && (item = arg_list(&rest)))
		good = point_run(v, need_load(item));
	free(copy);
	return good;
}

static int curve_cmd(struct env *e)
{
	const char *pattern = arg_text("pattern"), *loads = arg_text("load");
	double step = need_number("step", 0.001);
	double least = need_number("least", 0.001);
	double limit = need_number("limit", 1.1);
	struct curve *v = sim_zalloc(1, sizeof(*v));
	bool good;

	need_pattern(e, pattern);
	if (!strcmp(pattern, "hotspot"))
		bad_usage("--pattern 'hotspot': PCIe of the hot module saturates, not the network; the command 'traffic' measures it");
	v->e = e;
	v->seeds = (u32)arg_number("seeds");
	v->c = (struct traffic){
		.pattern = (u32)pattern_find(pattern),
		.bytes = (u32)arg_number("bytes"),
		.warmup = arg_number("warmup"),
	};
	v->c.end = v->c.warmup + arg_number("time");
	v->c.stop = v->c.end + arg_number("drain");
	v->share = share_of(e, &v->c);
	if (!v->share)
		bad_usage("--pattern '%s': on this fabric no module sends a packet", pattern);
	good = point_run(v, IDLE_LOAD);
	if (good) {
		v->limit = limit * v->point[0].delay.value;
		v->point[0].saturated = false;
		good = loads ? loads_run(v, loads) : sweep(v, step, least);
	}
	if (good) {
		qsort(v->point, v->points, sizeof(*v->point), by_load);
		if (!e->comm.rank)
			curve_print(v, pattern);
	}
	free(v);
	return good ? SIM_OK : SIM_FAILED;
}

static const struct sim_opt curve_opts[] = {
	{ "pattern", SIM_T_TEXT, "uniform",
	  "uniform, transpose, neighbor, reverse, matrix, grid or alltoall" },
	{ "load", SIM_T_TEXT, NULL,
	  "these loads, separated by commas, instead of rising ones" },
	{ "step", SIM_T_TEXT, "0.1", "difference between rising loads" },
	{ "least", SIM_T_TEXT, "0.0125", "least step at saturation" },
	{ "limit", SIM_T_TEXT, "3",
	  "multiple of the idle fabric's delay that counts as saturation" },
	{ "bytes", SIM_T_BYTES, "256", "payload, at most one packet" },
	{ "seeds", SIM_T_NUMBER, "3", "runs per load, with different seeds", 1, SEEDS_MOST },
	{ "warmup", SIM_T_TIME, "5us", "not measured" },
	{ "time", SIM_T_TIME, "10us", "measured", 1 },
	{ "drain", SIM_T_TIME, "5us", "time for which the load continues after the measurement" },
	{ NULL },
};

const struct cmd cmd_curve = {
	"curve", "delay over load up to saturation", curve_opts, curve_cmd,
};
