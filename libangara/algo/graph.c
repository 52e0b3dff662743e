// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes the graph of an algorithm from the schedules of all members. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "map.h"

#define STEPS_MOST	4096U	/* limit of steps of a member */

static int graph_new(struct ang_graph *g, u32 n, u64 edges)
{
	*g = (struct ang_graph){
		.n = n, .start = calloc((size_t)n + 1, sizeof(u32)),
		.to = calloc(edges + 1, sizeof(u32)),
		.weight = calloc(edges + 1, sizeof(u64)),
	};
	if (g->start && g->to && g->weight)
		return 0;
	ang_graph_free(g);
	return -ENOMEM;
}

static void graph_add(struct ang_graph *g, u32 first, u32 *end, u32 to, u64 weight)
{
	u32 i;

	for (i = first; i < *end; i++)
		if (g->to[i] == to) {
			g->weight[i] += weight;
			return;
		}
	g->to[*end] = to;
	g->weight[(*end)++] = weight;
}

static bool is_message(const struct ang_step *s)
{
	return s->kind == ANG_STEP_SEND || s->kind == ANG_STEP_RECV;
}

/**
 * ang_graph_make() - make the graph of an algorithm whose members keep their
 * ranks
 * @g: out; free with ang_graph_free()
 * @coll: ANG_COLL_*
 * @algo: ANG_ALGO_*
 * @n: members
 *
 * Return: 0; -EINVAL there is no such algorithm of @n members; -E2BIG it has too many
 * messages; -ENOMEM.
 */
int ang_graph_make(struct ang_graph *g, enum ang_coll coll, enum ang_algo algo, u32 n)
{
	struct ang_coll_args args = {
		.coll = coll, .algo = algo, .size = n, .elem = 1, .count = 1,
	};
	struct ang_schedule sched;
	size_t longest;
	u32 i, end = 0;
	int ret = 0;
	u64 most;

	if (!ang_algo_valid(&args))
		return -EINVAL;
	most = 2 * ang_algo_arrivals(&args, &longest);
	if (most > STEPS_MOST || most * n > UINT32_MAX)
		return -E2BIG;
	if (graph_new(g, n, most * n))
		return -ENOMEM;
	for (args.rank = 0; args.rank < n && !ret; args.rank++) {
		g->start[args.rank] = end;
		ret = ang_schedule_make(&args, &sched);
		for (i = 0; !ret && i < sched.n; i++)
			if (is_message(&sched.steps[i]))
				graph_add(g, g->start[args.rank], &end,
					  sched.steps[i].peer, sched.steps[i].len);
		ang_schedule_free(&sched);
	}
	g->start[n] = end;
	if (ret)
		ang_graph_free(g);
	return ret;
}

/**
 * ang_graph_part() - make the subgraph of some vertices
 * @part: out; free with ang_graph_free()
 * @g: graph
 * @vertices: the vertices; @part numbers them in this order
 * @n: number of @vertices
 * @number: working memory for @g->n numbers
 *
 * Return: 0; -ENOMEM.
 */
int ang_graph_part(struct ang_graph *part, const struct ang_graph *g,
		   const u32 *vertices, u32 n, u32 *number)
{
	u32 i, k, end = 0;
	u64 room = 0;

	for (i = 0; i < g->n; i++)
		number[i] = UINT32_MAX;
	for (i = 0; i < n; i++) {
		number[vertices[i]] = i;
		room += g->start[vertices[i] + 1] - g->start[vertices[i]];
	}
	if (graph_new(part, n, room))
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		part->start[i] = end;
		for (k = g->start[vertices[i]]; k < g->start[vertices[i] + 1]; k++) {
			if (number[g->to[k]] == UINT32_MAX)
				continue;
			part->to[end] = number[g->to[k]];
			part->weight[end++] = g->weight[k];
		}
	}
	part->start[n] = end;
	return 0;
}

void ang_graph_free(struct ang_graph *g)
{
	free(g->start);
	free(g->to);
	free(g->weight);
	*g = (struct ang_graph){ 0 };
}

/**
 * ang_graph_cut() - sum the bytes that different parts exchange; each edge
 * counts once
 */
u64 ang_graph_cut(const struct ang_graph *g, const u32 *part)
{
	u64 cut = 0;
	u32 v, i;

	for (v = 0; v < g->n; v++)
		for (i = g->start[v]; i < g->start[v + 1]; i++)
			if (v < g->to[i] && part[v] != part[g->to[i]])
				cut += g->weight[i];
	return cut;
}
