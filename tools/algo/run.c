// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-algo run: collectives between processes, measured beside their formulas
 * and their simulation.
 */
#include <stdlib.h>
#include <string.h>

#include "exec.h"

static double given(u32 rank, size_t i)
{
	return (double)(rank + 1 + i % 7);
}

static double want(const struct job *j, size_t i)
{
	const struct ang_coll_args *a = &j->args;
	u32 n = a->size;

	switch (a->coll) {
	case ANG_COLL_BCAST:
		return given(a->root, i);
	case ANG_COLL_ALLGATHER:
		return given((u32)(i / a->count), i % a->count);
	default:
		return n * (n + 1.0) / 2 + (double)n * (double)(i % 7);
	}
}

static void need_right(const struct job *j, const double *out, const char *how)
{
	const struct ang_coll_args *a = &j->args;
	size_t num = a->coll == ANG_COLL_ALLGATHER ? a->count * a->size : a->count, i;

	if (a->coll == ANG_COLL_REDUCE && a->rank != a->root)
		return;
	for (i = 0; i < num; i++)
		if (out[i] != want(j, i))
			exit(fail("%s %s: element %zu is %g, expected %g", j->way->name, how, i,
				  out[i], want(j, i)));
}

/* Ends the program if @sent is not the traffic of @runs runs of the job. */
static void need_traffic(const struct job *j, const struct levels *s,
			 const struct traffic *sent, u32 runs)
{
	struct traffic one;
	u32 l;

	job_traffic(j, s, &one);
	for (l = 0; l < s->num; l++)
		if (sent->messages[l] != one.messages[l] * runs ||
		    sent->bytes[l] != one.bytes[l] * runs)
			exit(fail("%s: %llu messages, %llu bytes through level %u in %u runs, expected %llu messages, %llu bytes",
				  j->way->name, (unsigned long long)sent->messages[l],
				  (unsigned long long)sent->bytes[l], l + 1, runs,
				  (unsigned long long)one.messages[l] * runs,
				  (unsigned long long)one.bytes[l] * runs));
}

static void add_row(json_object *rows, const struct job *j, const struct levels *s,
		    const char *bytes, double us, double native,
		    const struct traffic *sent)
{
	json_object *row = json_object_new_object();
	double formula = j->way->time(j, s) * 1e6;
	struct traffic t;
	double simulated = simulate(j, s, &t) * 1e6;

	add_text(row, "algorithm", "%s", j->way->name);
	add_text(row, "by", "%s", exec_name);
	add_text(row, "bytes", "%s", bytes);
	add_real(row, "formula us", formula);
	add_real(row, "simulated us", simulated);
	add_real(row, "measured us", us);
	add_real(row, "measured/formula", formula > 0 ? us / formula : 0);
	add_real(row, "measured/simulated", simulated > 0 ? us / simulated : 0);
	if (native > 0)
		add_real(row, "native us", native);
	add_levels(row, s, sent);
	json_object_array_add(rows, row);
}

static void fill(double *in, const struct job *j)
{
	size_t i;

	for (i = 0; i < j->args.count; i++)
		in[i] = given(j->args.rank, i);
}

static void run_one(json_object *rows, const struct opts *o, const char *name,
		    const struct levels *s, u32 rank, const char *bytes, char *memory,
		    size_t most)
{
	size_t len = need_bytes("--bytes", bytes, most);
	char *in = memory, *out = memory + most;
	u32 runs = o->repeat + MEASURE_WARMUP, l;
	struct traffic sent;
	double us, native;
	struct job j;

	need_job(&j, o, need_way(name), s, len);
	j.args.rank = rank;
	fill((double *)in, &j);
	memset(out, 0, j.args.coll == ANG_COLL_ALLGATHER ? len * s->ranks : len);
	exec_traffic(s, &sent);
	us = measure(&j, in, out, false, o->repeat) * 1e6;
	need_right(&j, (double *)out, exec_name);
	exec_traffic(s, &sent);
	if (!rank)
		need_traffic(&j, s, &sent, runs);
	for (l = 0; l < s->num; l++) {
		sent.messages[l] /= runs;
		sent.bytes[l] /= runs;
	}
	native = measure(&j, in, out, true, o->repeat) * 1e6;
	exec_barrier();
	if (!rank)
		add_row(rows, &j, s, bytes, us, native, &sent);
	job_free(&j);
}

/* The largest of the sizes that a list names, at least MEASURE_ROOM / 2. */
static size_t longest(const char *list)
{
	char *copy = strdup(list), *rest = copy, *bytes;
	size_t most = MEASURE_ROOM / 2, len;

	while ((bytes = strsep(&rest, ","))) {
		len = need_bytes("--bytes", bytes, 1ULL << 30);
		most = len > most ? len : most;
	}
	free(copy);
	return most;
}

/*
 * Bytes for contribution and result; the result of an allgather has a block of
 * each process.
 */
static size_t room(int num, char **names, size_t most, u32 size)
{
	u32 blocks = 1;
	int i;

	for (i = 0; i < num; i++)
		if (need_way(names[i])->coll == ANG_COLL_ALLGATHER)
			blocks = size;
	return most * (1ULL + blocks);
}

int cmd_run(const struct opts *given_opts, int argc, char **argv)
{
	json_object *rows = json_object_new_array();
	struct opts o = *given_opts;
	size_t most = longest(o.bytes);
	struct levels s;
	u32 rank, size;
	char *memory;
	int i;

	for (i = 0; i < argc; i++)
		need_way(argv[i]);
	exec_start(&rank, &size);
	memory = exec_memory(room(argc, argv, most, size));
	need_fitted(&o, &s, rank, size, memory);
	for (i = 0; i < argc; i++) {
		char *copy = strdup(o.bytes), *rest = copy, *bytes;

		while ((bytes = strsep(&rest, ",")))
			run_one(rows, &o, argv[i], &s, rank, bytes, memory, most);
		free(copy);
	}
	if (!rank)
		rows_print(rows, o.json, o.markdown);
	else
		json_object_put(rows);
	levels_free(&s);
	exec_end();
	return 0;
}
