// SPDX-License-Identifier: GPL-2.0-only
/* angara-algo: commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec.h"

#define BYTES_MOST	(1ULL << 32)

static const char *const coll_names[ANG_COLL_NUM] = {
	[ANG_COLL_BCAST] = "broadcast", [ANG_COLL_REDUCE] = "reduce",
	[ANG_COLL_ALLREDUCE] = "allreduce", [ANG_COLL_ALLGATHER] = "allgather",
};

int cmd_list(const struct opts *o, int argc, char **argv)
{
	json_object *rows = json_object_new_array();
	const struct way *w;

	(void)argc;
	(void)argv;
	for (w = ways; w->name; w++) {
		json_object *row = json_object_new_object();

		add_text(row, "algorithm", "%s", w->name);
		add_text(row, "collective", "%s", coll_names[w->coll]);
		add_text(row, "time", "%s", w->formula);
		add_text(row, "source", "%s", w->source);
		json_object_array_add(rows, row);
	}
	rows_print(rows, o->json, o->markdown);
	return 0;
}

static void add_dims(json_object *row, const struct job *j)
{
	char text[256] = "-";
	size_t at = 0;
	u32 d;

	for (d = 0; d < j->args.ndims && at < sizeof(text); d++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u", d ? "x" : "",
				       j->args.dims[d]);
	add_text(row, "dims", "%s", text);
}

void add_levels(json_object *row, const struct levels *s, const struct traffic *t)
{
	char key[40];
	u32 l;

	for (l = 0; l < s->num; l++) {
		if (s->fitted) {
			snprintf(key, sizeof(key), "a %u us", l + 1);
			add_real(row, key, s->level[l].a * 1e6);
			snprintf(key, sizeof(key), "b %u ns", l + 1);
			add_real(row, key, s->level[l].b * 1e9);
		}
		snprintf(key, sizeof(key), "messages %u", l + 1);
		add_number(row, key, t->messages[l]);
		snprintf(key, sizeof(key), "bytes %u", l + 1);
		add_number(row, key, t->bytes[l]);
	}
}

/*
 * Makes a row of output: the time by the formula, and, if @simulates is set, the simulated
 * time.
 */
static json_object *cost_row(const struct opts *o, const char *name,
			     const struct levels *s, const char *bytes, bool simulates)
{
	json_object *row = json_object_new_object();
	const struct way *w = need_way(name);
	struct traffic t, said;
	double formula, us;
	struct job j;

	need_job(&j, o, w, s, need_bytes("--bytes", bytes, BYTES_MOST));
	formula = w->time(&j, s) * 1e6;
	us = simulates ? simulate(&j, s, &t) * 1e6 : 0;
	job_traffic(&j, s, &said);
	add_text(row, "algorithm", "%s", name);
	add_dims(row, &j);
	add_text(row, "bytes", "%s", bytes);
	add_real(row, "formula us", formula);
	if (simulates) {
		if (memcmp(&t, &said, sizeof(t)))
			exit(fail("%s: messages differ from those of the schedules", name));
		add_real(row, "simulated us", us);
		add_real(row, "difference %", formula > 0 ? (us / formula - 1) * 100 : 0);
	}
	add_levels(row, s, &said);
	job_free(&j);
	return row;
}

static int cost(const struct opts *given, int argc, char **argv, bool simulates)
{
	json_object *rows;
	struct opts o = *given;
	struct levels s;
	int i;

	if (!need_system(&o, &s))
		return 0;
	rows = json_object_new_array();
	for (i = 0; i < argc; i++) {
		char *copy = strdup(o.bytes), *rest = copy, *bytes;

		while ((bytes = strsep(&rest, ",")))
			json_object_array_add(rows, cost_row(&o, argv[i], &s, bytes, simulates));
		free(copy);
	}
	levels_free(&s);
	rows_print(rows, o.json, o.markdown);
	return 0;
}

int cmd_cost(const struct opts *o, int argc, char **argv)
{
	return cost(o, argc, argv, false);
}

int cmd_simulate(const struct opts *o, int argc, char **argv)
{
	return cost(o, argc, argv, true);
}

/*
 * Return: bytes through level @l if each block has one byte. @rank_of: rank of each number;
 * NULL: each number is the rank.
 */
static u64 through(const struct ang_graph *g, const struct levels *s, const u32 *rank_of,
		   u32 l)
{
	u64 sum = 0;
	u32 v, i;

	for (v = 0; v < g->n; v++)
		for (i = g->start[v]; i < g->start[v + 1]; i++) {
			u32 w = g->to[i];
			u32 p = s->core[rank_of ? rank_of[v] : v];
			u32 q = s->core[rank_of ? rank_of[w] : w];

			if (v < w && level_of(s, p, q) == l)
				sum += g->weight[i];
		}
	return sum;
}

int cmd_map(const struct opts *given, int argc, char **argv)
{
	json_object *rows;
	struct opts o = *given;
	const struct way *w = need_way(argv[0]);
	u32 *place, *rank_of, l;
	double seconds[2];
	struct levels s;
	struct ang_graph g;

	(void)argc;
	if (w->coll != ANG_COLL_ALLGATHER || w->algo == ANG_ALGO_RING)
		return misuse("map: %s does not renumber ranks; choose another allgather", w->name);
	if (!need_system(&o, &s))
		return 0;
	rows = json_object_new_array();
	place = need_memory(s.ranks, sizeof(*place));
	rank_of = need_memory(s.ranks, sizeof(*rank_of));
	map_ranks(w, &s, place, rank_of, seconds);
	need_graph(&g, w, s.ranks);
	for (l = 0; l < s.num; l++) {
		json_object *row = json_object_new_object();

		add_number(row, "level", l + 1);
		add_number(row, "bytes by rank", through(&g, &s, NULL, l));
		add_number(row, "bytes by number", through(&g, &s, rank_of, l));
		add_real(row, "graph s", seconds[0]);
		add_real(row, "split s", seconds[1]);
		json_object_array_add(rows, row);
	}
	rows_print(rows, o.json, o.markdown);
	ang_graph_free(&g);
	free(place);
	free(rank_of);
	levels_free(&s);
	return 0;
}
