// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output: a table or CSV, row by row as results come, or JSON at the end. Rank
 * 0 writes the output, and shows progress.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "bench.h"

#define PROGRESS_NS	5000000000ULL

const char *const bench_modes[] = { "lat", "bw", "rate" };

static double us(double ns)
{
	return ns / 1e3;
}

static double ops_per_s(const struct bench *b, const struct bench_row *row)
{
	return row->median > 0 ? (double)b->window * 1e9 / row->median : 0;
}

/* Return: millions of bytes per second, of one process. */
static double mb_per_s(const struct bench *b, const struct bench_row *row)
{
	return ops_per_s(b, row) * (double)row->bytes / 1e6;
}

static void table_begin(const struct bench *b)
{
	printf("# angara-bench %s --%s: %u processes, %s", b->op->name,
	       bench_modes[b->mode], b->app.size,
	       b->app.topo.ndims ? "torus " : "no torus");
	for (unsigned int d = 0; d < b->app.topo.ndims; d++)
		printf("%s%u", d ? "x" : "", b->app.topo.dims[d]);
	if (b->mode != BENCH_LAT)
		printf(", window of %llu", (unsigned long long)b->window);
	printf("%s\n", b->check ? ", data checked" : "");
	printf("%10s %8s %6s %12s %12s %12s %12s %12s", "bytes", "samples",
	       "batch", "avg us", "min us", "median us", "p99 us", "max us");
	if (b->mode == BENCH_BW)
		printf(" %12s", "MB/s");
	if (b->mode == BENCH_RATE)
		printf(" %12s", "ops/s");
	if (b->trees > 1)
		printf(" %6s %6s", "trees", "gain");
	putchar('\n');
}

void bench_out_begin(struct bench *b)
{
	if (b->form == BENCH_TABLE)
		table_begin(b);
	else if (b->form == BENCH_CSV)
		printf("operation,mode,processes,bytes,window,samples,batch,"
		       "min_us,median_us,p99_us,ops_per_s,mb_per_s,avg_us,"
		       "max_us%s\n",
		       b->trees > 1 ? ",trees,gain" : "");
	fflush(stdout);
}

void bench_out_row(struct bench *b, const struct bench_row *row)
{
	if (b->form == BENCH_TABLE) {
		printf("%10zu %8u %6u %12.3f %12.3f %12.3f %12.3f %12.3f",
		       row->bytes, row->iters, row->batch, us(row->avg),
		       us(row->min), us(row->median), us(row->p99),
		       us(row->max));
		if (b->mode == BENCH_BW)
			printf(" %12.1f", mb_per_s(b, row));
		if (b->mode == BENCH_RATE)
			printf(" %12.0f", ops_per_s(b, row));
		if (b->trees > 1)
			printf(" %6u %6.2f", row->trees, row->gain);
		putchar('\n');
	} else if (b->form == BENCH_CSV) {
		printf("%s,%s,%u,%zu,%llu,%u,%u,%.3f,%.3f,%.3f,%.0f,%.1f,%.3f,%.3f",
		       b->op->name, bench_modes[b->mode], b->app.size,
		       row->bytes, (unsigned long long)b->window, row->iters,
		       row->batch, us(row->min), us(row->median), us(row->p99),
		       ops_per_s(b, row), mb_per_s(b, row), us(row->avg),
		       us(row->max));
		if (b->trees > 1)
			printf(",%u,%.3f", row->trees, row->gain);
		putchar('\n');
	}
	fflush(stdout);
}

static void add_number(struct json_object *o, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", value);
	json_object_object_add(o, key, json_object_new_double_s(value, text));
}

static struct json_object *json_row(const struct bench *b,
				    const struct bench_row *row)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "bytes",
			       json_object_new_int64((int64_t)row->bytes));
	json_object_object_add(o, "samples", json_object_new_int64(row->iters));
	json_object_object_add(o, "batch", json_object_new_int64(row->batch));
	add_number(o, "min_us", us(row->min));
	add_number(o, "median_us", us(row->median));
	add_number(o, "p99_us", us(row->p99));
	add_number(o, "avg_us", us(row->avg));
	add_number(o, "max_us", us(row->max));
	add_number(o, "ops_per_s", ops_per_s(b, row));
	add_number(o, "mb_per_s", mb_per_s(b, row));
	if (b->trees > 1) {
		json_object_object_add(o, "trees",
				       json_object_new_int64(row->trees));
		add_number(o, "gain", row->gain);
	}
	return o;
}

void bench_out_end(struct bench *b)
{
	struct json_object *o, *dims, *rows;
	unsigned int i;

	if (b->form != BENCH_JSON)
		return;
	o = json_object_new_object();
	dims = json_object_new_array();
	rows = json_object_new_array();
	for (i = 0; i < b->app.topo.ndims; i++)
		json_object_array_add(dims,
				      json_object_new_int(b->app.topo.dims[i]));
	for (i = 0; i < b->num_rows; i++)
		json_object_array_add(rows, json_row(b, &b->rows[i]));
	json_object_object_add(o, "operation",
			       json_object_new_string(b->op->name));
	json_object_object_add(o, "mode",
			       json_object_new_string(bench_modes[b->mode]));
	json_object_object_add(o, "processes",
			       json_object_new_int64(b->app.size));
	json_object_object_add(o, "torus", dims);
	json_object_object_add(o, "window",
			       json_object_new_int64((int64_t)b->window));
	json_object_object_add(o, "checked", json_object_new_boolean(b->check));
	json_object_object_add(o, "results", rows);
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
					    JSON_C_TO_STRING_SPACED));
	json_object_put(o);
}

/*
 * Launchers pass on whole lines, so progress is written in lines; only
 * angara-run knows whether its own output is a terminal.
 */
void bench_progress(struct bench *b, uint64_t now, size_t bytes,
		    unsigned int done, unsigned int all)
{
	if (now < b->printed + PROGRESS_NS || b->app.rank ||
	    !(isatty(STDERR_FILENO) || getenv("ANGARA_TTY")))
		return;
	b->printed = now;
	fprintf(stderr, "angara-bench: %s of %zu bytes: %u of %u samples\n",
		b->op->name, bytes, done, all);
}
