// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Numbers under which ranks take part in an allgather.
 *
 * The graph of the algorithm is split into as many parts as the top level has
 * modules, and each part is split into as many parts as its module has modules,
 * and so on.  The ranks on a module get the numbers in the part of that module.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

/**
 * struct map - numbers for ranks
 * @g: graph of the algorithm
 * @modules: modules of each rank, by level from the top
 * @levels: number of levels
 * @order: ranks, sorted by module
 * @place: number of each rank
 */
struct map {
	const struct ang_graph *g;
	const u32 *modules;
	u32 levels;
	u32 *order;
	u32 *place;
};

static u32 module_of(const struct map *m, u32 i, u32 l)
{
	return m->modules[(size_t)m->order[i] * m->levels + l];
}

/*
 * Computes the sizes of the modules of level @l that contain the @n ranks from
 * m->order[@first] on.  Return: number of these modules.
 */
static u32 map_sizes(const struct map *m, u32 l, u32 first, u32 n, u32 *sizes)
{
	u32 parts = 0, i;

	for (i = 0; i < n; i++) {
		if (!i || module_of(m, first + i, l) != module_of(m, first + i - 1, l))
			sizes[parts++] = 0;
		sizes[parts - 1]++;
	}
	return parts;
}

/* Splits @numbers into one part for each module, and sorts them by part. */
static int map_split(struct map *m, const u32 *sizes, u32 parts, u32 *numbers, u32 n)
{
	u32 *number = calloc((size_t)m->g->n + 2 * (size_t)n + parts, sizeof(u32));
	u32 *part = number + m->g->n, *sorted = part + n, *filled = sorted + n, i;
	struct ang_graph g;
	int ret;

	if (!number)
		return -ENOMEM;
	ret = ang_graph_part(&g, m->g, numbers, n, number);
	if (!ret) {
		ret = ang_graph_split(&g, sizes, parts, part);
		ang_graph_free(&g);
	}
	if (!ret) {
		for (i = 1; i < parts; i++)
			filled[i] = filled[i - 1] + sizes[i - 1];
		for (i = 0; i < n; i++)
			sorted[filled[part[i]]++] = numbers[i];
		memcpy(numbers, sorted, n * sizeof(*numbers));
	}
	free(number);
	return ret;
}

/*
 * Assigns @numbers to the @n ranks from m->order[@first] on.  These ranks form
 * one module of the level above level @l; at level 0, they are all ranks.
 */
static int map_level(struct map *m, u32 l, u32 first, u32 n, u32 *numbers)
{
	u32 *sizes, parts = n, i, p;
	int ret = 0;

	sizes = calloc(n, sizeof(*sizes));
	if (!sizes)
		return -ENOMEM;
	if (l < m->levels)
		parts = map_sizes(m, l, first, n, sizes);
	if (parts == n) {
		for (i = 0; i < n; i++)
			m->place[m->order[first + i]] = numbers[i];
		free(sizes);
		return 0;
	}
	if (parts > 1)
		ret = map_split(m, sizes, parts, numbers, n);
	for (i = p = 0; p < parts && !ret; i += sizes[p++])
		ret = map_level(m, l + 1, first + i, sizes[p], numbers + i);
	free(sizes);
	return ret;
}

static int map_compare(const void *a, const void *b, void *arg)
{
	const struct map *m = arg;
	u32 p = *(const u32 *)a, q = *(const u32 *)b, l;

	for (l = 0; l < m->levels; l++) {
		u32 x = m->modules[(size_t)p * m->levels + l];
		u32 y = m->modules[(size_t)q * m->levels + l];

		if (x != y)
			return x < y ? -1 : 1;
	}
	return p < q ? -1 : p > q;
}

/**
 * ang_map() - compute numbers for ranks
 * @g: graph of the algorithm, ang_graph_make()
 * @modules: location of each rank: a number for each level, from the top; ranks
 *	with equal numbers up to a level are on one module of that level
 * @levels: number of levels
 * @place: out: number of each rank
 * @rank_of: out: the inverse
 *
 * Return: 0; an error of ang_graph_split().
 */
int ang_map(const struct ang_graph *g, const u32 *modules, u32 levels, u32 *place,
	    u32 *rank_of)
{
	struct map m = {
		.g = g, .modules = modules, .levels = levels, .place = place,
		.order = calloc(2 * (size_t)g->n, sizeof(u32)),
	};
	u32 *all = m.order + g->n, i;
	int ret;

	if (!m.order)
		return -ENOMEM;
	for (i = 0; i < g->n; i++)
		m.order[i] = all[i] = i;
	qsort_r(m.order, g->n, sizeof(*m.order), map_compare, &m);
	ret = map_level(&m, 0, 0, g->n, all);
	for (i = 0; i < g->n && !ret; i++)
		rank_of[place[i]] = i;
	free(m.order);
	return ret;
}
