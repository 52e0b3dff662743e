/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * angara-bench: declarations for all its files.
 *
 * All processes go through the same sizes and iterations. Each records the
 * start and end of each sample, and puts these stamps into the memory of rank 0
 * at the end of a size, over the fabric.
 */
#ifndef ANG_BENCH_H
#define ANG_BENCH_H

#include "../apps/app.h"

#define BENCH_MAX_SIZES		64U
#define BENCH_MAX_ITERS		1000000U
#define BENCH_MAX_BATCH		1000U
#define BENCH_MAX_WINDOW	256U
#define BENCH_MAX_TREES		16U

enum bench_mode { BENCH_LAT, BENCH_BW, BENCH_RATE };
enum bench_form { BENCH_TABLE, BENCH_CSV, BENCH_JSON };

/*
 * Start and end of an operation; all processes read one clock.
 * OWN: from start to end in each process; the time of the slowest process
 *   counts. No process can end before all have started, so iterations need no
 *   barrier
 * TO_LAST: from the start at rank 0 to the end of the last process
 * FROM_LAST: from the start of the last process to the end at rank 0
 * TO_LAST and FROM_LAST have a barrier before each sample.
 */
enum bench_span { BENCH_OWN, BENCH_TO_LAST, BENCH_FROM_LAST };

struct bench;

/**
 * struct bench_op - an operation to measure
 * @name: name on the command line
 * @span: how the operation is timed
 * @one_sided: only rank 0 and one other process take part
 * @from_root: only rank 0 starts the operation
 * @in_place: at rank 0 the source is also the destination
 * @no_size: moves no data
 * @spreads: may be spread over several trees
 * @elements: sums 64-bit integers
 * @arrivals: broadcasts that arrive at each process; 0: none, 1, or
 * BENCH_ARRIVE_ALL: one from each process
 * @post: start an operation without its own completion, if there is room
 */
struct bench_op {
	const char *name;
	enum bench_span span;
	bool one_sided;
	bool from_root;
	bool in_place;
	bool no_size;
	bool spreads;
	bool elements;
	unsigned int arrivals;
	int (*post)(struct bench *b, size_t bytes);
};

#define BENCH_ARRIVE_ALL	2

/* Start and end of a sample in a process, nanoseconds. */
struct bench_stamp {
	uint64_t start;
	uint64_t end;
};

/**
 * struct bench_row - a result, times in nanoseconds
 * @bytes: size, per process
 * @iters: samples
 * @batch: operations, or windows, in a sample
 * @min: least, of one operation or window
 * @median: median
 * @p99: 99th percentile
 * @avg: mean of all samples
 * @max: greatest
 * @trees: trees over which each operation is spread
 * @gain: median over one tree, divided by @median
 */
struct bench_row {
	size_t bytes;
	unsigned int iters;
	unsigned int batch;
	double min;
	double median;
	double p99;
	double avg;
	double max;
	unsigned int trees;
	double gain;
};

/**
 * struct bench - this process
 * @app: start-up and errors
 * @op: operation
 * @mode: what is measured: latency, bandwidth or rate
 * @how: options of the next put or get, or NULL
 * @form: form of the output
 * @iters: samples, 0 for a number that depends on the size
 * @batch: operations, or windows, in a sample, 0 for a measured number
 * @window: operations in flight at a time
 * @to: rank at the other end of put and get
 * @check: compare all data
 * @sizes: bytes, in the order of the command line
 * @num_sizes: number of sizes
 * @trees: number of teams; long operations are measured over one and over all
 * @teams: teams of all processes, each with trees of its own
 * @spread: number of teams over which operations are spread now
 * @team: team of the current part of an operation
 * @part: offset of this part
 * @data: source, then destination at @dst_off
 * @dst_off: offset of the destination
 * @flag: memory of two numbers, for bench_agree_max()
 * @stamps: stamps of this process, at rank 0 of all processes: first those of operations over one
 *	tree, then those over several trees
 * @max_iters: capacity of @stamps, per process
 * @arrived: broadcasts of each team that must arrive by the end of the last
 *	operation
 * @rows: results, at rank 0
 * @num_rows: number of rows
 * @printed: time of the last output of progress
 */
struct bench {
	struct app app;
	const struct bench_op *op;
	enum bench_mode mode;
	const struct angara_op *how;
	enum bench_form form;
	uint64_t iters;
	uint64_t batch;
	uint64_t window;
	uint64_t to;
	bool check;
	uint64_t sizes[BENCH_MAX_SIZES];
	unsigned int num_sizes;
	uint64_t trees;
	struct angara_team *teams[BENCH_MAX_TREES];
	unsigned int spread;
	struct angara_team *team;
	uint64_t part;
	struct angara_mr *data;
	uint64_t dst_off;
	struct angara_mr *flag;
	struct angara_mr *stamps;
	unsigned int max_iters;
	uint64_t arrived[BENCH_MAX_TREES];
	struct bench_row rows[2 * BENCH_MAX_SIZES];
	unsigned int num_rows;
	uint64_t printed;
};

/*
 * opts.c.  bench_parse() returns false after --help or an invalid option: end with
 * app_finish().  Other errors are recorded for app_agree().
 */
bool bench_parse(struct bench *b, int argc, char **argv);
unsigned int bench_iters(const struct bench *b, uint64_t bytes);

/* ops.c */
extern const struct bench_op bench_ops[];
extern const unsigned int bench_num_ops;
int bench_sync(struct bench *b);
int bench_agree_max(struct bench *b, uint64_t mine, uint64_t *max);
int bench_window(struct bench *b, size_t bytes);
void bench_fill(struct bench *b, size_t bytes, unsigned int iter);
int bench_verify(struct bench *b, size_t bytes, unsigned int iter);

/* stats.c */
void bench_stats(const struct bench_stamp *stamps, unsigned int procs,
		 enum bench_span span, uint64_t *room, struct bench_row *row);

/* out.c */
extern const char *const bench_modes[];
void bench_out_begin(struct bench *b);
void bench_out_row(struct bench *b, const struct bench_row *row);
void bench_out_end(struct bench *b);
void bench_progress(struct bench *b, uint64_t now, size_t bytes,
		    unsigned int done, unsigned int all);

#endif /* ANG_BENCH_H */
