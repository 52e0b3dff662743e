// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Splits a graph into parts of given sizes, so that parts exchange few bytes.
 *
 * METIS splits by multilevel recursive bisection, into parts of nearly these
 * sizes.  Then vertices move from parts that are too large to parts that are
 * too small, and in small graphs pairs of vertices are swapped as long as that
 * reduces the bytes.  Another split, into blocks of consecutive numbers, is
 * used instead if its parts exchange fewer bytes.
 *
 * The library of METIS is loaded by its name when a graph is split, so programs
 * that split no graph do not need it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

#define SWAPS_MOST	2048U	/* in graphs with more vertices, swaps are not tried */

#ifdef ANG_HAVE_METIS
#include <dlfcn.h>
#include <metis.h>

#define LIBRARY		"libmetis.so.5"

/* Divisor of weights: their sum must fit METIS's 32-bit integers. */
static u64 part_divisor(const struct ang_graph *g)
{
	u64 sum = 0, by = 1;
	u32 i;

	for (i = 0; i < g->start[g->n]; i++)
		sum += g->weight[i];
	while (sum / by > INT32_MAX / 2)
		by *= 2;
	return by;
}

/**
 * struct metis - a graph in the format of METIS
 * @start: as in struct ang_graph
 * @to: as in struct ang_graph
 * @weight: as in struct ang_graph
 * @out: part of each vertex
 * @share: fraction of the vertices in each part
 */
struct metis {
	idx_t *start;
	idx_t *to;
	idx_t *weight;
	idx_t *out;
	real_t *share;
};

static int metis_open(struct metis *m, const struct ang_graph *g, const u32 *sizes,
		      u32 parts)
{
	u32 edges = g->start[g->n], i;
	u64 by = part_divisor(g);

	*m = (struct metis){
		.start = calloc((size_t)g->n + 1, sizeof(idx_t)),
		.to = calloc((size_t)edges + 1, sizeof(idx_t)),
		.weight = calloc((size_t)edges + 1, sizeof(idx_t)),
		.out = calloc(g->n, sizeof(idx_t)),
		.share = calloc(parts, sizeof(real_t)),
	};
	if (!m->start || !m->to || !m->weight || !m->out || !m->share)
		return -ENOMEM;
	for (i = 0; i <= g->n; i++)
		m->start[i] = (idx_t)g->start[i];
	for (i = 0; i < edges; i++) {
		m->to[i] = (idx_t)g->to[i];
		m->weight[i] = (idx_t)(g->weight[i] / by + !(g->weight[i] / by));
	}
	for (i = 0; i < parts; i++)
		m->share[i] = (real_t)sizes[i] / (real_t)g->n;
	return 0;
}

static void metis_close(struct metis *m)
{
	free(m->start);
	free(m->to);
	free(m->weight);
	free(m->out);
	free(m->share);
}

static bool are_equal(const u32 *sizes, u32 parts)
{
	u32 i;

	for (i = 1; i < parts; i++)
		if (sizes[i] != sizes[0])
			return false;
	return true;
}

/*
 * Calls METIS with a separate state of random(3) and rand(3), which share one
 * state: METIS sets a seed, which would change the random numbers of the
 * program.
 */
static int metis_run(__typeof__(METIS_PartGraphRecursive) *split, struct metis *m,
		     idx_t n, idx_t parts, bool equal, idx_t *options)
{
	char state[128], *programs = initstate(1, state, sizeof(state));
	idx_t one = 1, cut;
	int ret = split(&n, &one, m->start, m->to, NULL, NULL, m->weight, &parts,
			equal ? NULL : m->share, NULL, options, &cut, m->out);

	setstate(programs);
	return ret == METIS_OK ? 0 : -EIO;
}

static int metis_split(const struct ang_graph *g, const u32 *sizes, u32 parts, u32 *part)
{
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_NODELETE);
	__typeof__(METIS_PartGraphRecursive) *split;
	__typeof__(METIS_SetDefaultOptions) *defaults;
	idx_t options[METIS_NOPTIONS];
	struct metis m;
	int ret;
	u32 i;

	if (!lib)
		return -EOPNOTSUPP;
	*(void **)&split = dlsym(lib, "METIS_PartGraphRecursive");
	*(void **)&defaults = dlsym(lib, "METIS_SetDefaultOptions");
	if (!split || !defaults)
		return -EOPNOTSUPP;
	ret = metis_open(&m, g, sizes, parts);
	if (!ret) {
		defaults(options);
		options[METIS_OPTION_SEED] = 1;
		ret = metis_run(split, &m, (idx_t)g->n, (idx_t)parts,
				are_equal(sizes, parts), options);
	}
	for (i = 0; !ret && i < g->n; i++)
		part[i] = (u32)m.out[i];
	metis_close(&m);
	return ret;
}
#else
static int metis_split(const struct ang_graph *g, const u32 *sizes, u32 parts, u32 *part)
{
	(void)g;
	(void)sizes;
	(void)parts;
	(void)part;
	return -EOPNOTSUPP;
}
#endif

/* Sum of the bytes between a vertex and a part. */
static u64 bytes_to(const struct ang_graph *g, const u32 *part, u32 v, u32 p)
{
	u64 sum = 0;
	u32 i;

	for (i = g->start[v]; i < g->start[v + 1]; i++)
		if (part[g->to[i]] == p)
			sum += g->weight[i];
	return sum;
}

/*
 * Return: a part with too few vertices: the one with which the vertex exchanges
 * the most bytes; if it exchanges bytes with none, the first one.
 * @any: all parts before this one have enough vertices.
 */
static u32 part_lacking(const struct ang_graph *g, const u32 *part, const u32 *count,
			const u32 *sizes, u32 v, u32 *any)
{
	u32 best = UINT32_MAX, i, p;
	u64 most = 0, bytes;

	for (i = g->start[v]; i < g->start[v + 1]; i++) {
		p = part[g->to[i]];
		if (count[p] >= sizes[p])
			continue;
		bytes = bytes_to(g, part, v, p);
		if (bytes > most) {
			most = bytes;
			best = p;
		}
	}
	while (count[*any] >= sizes[*any])
		++*any;
	return best == UINT32_MAX ? *any : best;
}

static int parts_balance(const struct ang_graph *g, const u32 *sizes, u32 parts, u32 *part)
{
	u32 *count = calloc(parts, sizeof(*count));
	u32 any = 0, v, p;

	if (!count)
		return -ENOMEM;
	for (v = 0; v < g->n; v++)
		count[part[v]]++;
	for (v = 0; v < g->n; v++) {
		if (count[part[v]] <= sizes[part[v]])
			continue;
		p = part_lacking(g, part, count, sizes, v, &any);
		count[part[v]]--;
		count[p]++;
		part[v] = p;
	}
	free(count);
	return 0;
}

static u64 bytes_between(const struct ang_graph *g, u32 v, u32 w)
{
	u32 i;

	for (i = g->start[v]; i < g->start[v + 1]; i++)
		if (g->to[i] == w)
			return g->weight[i];
	return 0;
}

/* Do parts exchange fewer bytes if the two vertices change places? */
static bool swap_helps(const struct ang_graph *g, const u32 *part, u32 v, u32 w)
{
	u64 now = bytes_to(g, part, v, part[v]) + bytes_to(g, part, w, part[w]);
	u64 then = bytes_to(g, part, v, part[w]) + bytes_to(g, part, w, part[v]);

	return then > now + 2 * bytes_between(g, v, w);
}

static void parts_improve(const struct ang_graph *g, u32 *part)
{
	bool moved = g->n <= SWAPS_MOST;
	u32 v, w, p;

	while (moved) {
		moved = false;
		for (v = 0; v < g->n; v++)
			for (w = v + 1; w < g->n; w++)
				if (part[v] != part[w] && swap_helps(g, part, v, w)) {
					p = part[v];
					part[v] = part[w];
					part[w] = p;
					moved = true;
				}
	}
}

static void put_blocks(const u32 *sizes, u32 parts, u32 *block)
{
	u32 v = 0, p, i;

	for (p = 0; p < parts; p++)
		for (i = 0; i < sizes[p]; i++)
			block[v++] = p;
}

/**
 * ang_graph_split() - split a graph
 * @g: graph
 * @sizes: vertices of each part, not 0; their sum is @g->n
 * @parts: number of parts
 * @part: out: part of each vertex
 *
 * Return: 0; -EOPNOTSUPP there is no METIS; -EIO METIS fails; -ENOMEM.
 */
int ang_graph_split(const struct ang_graph *g, const u32 *sizes, u32 parts, u32 *part)
{
	u32 *blocks = calloc(g->n, sizeof(*blocks));
	int ret = blocks ? metis_split(g, sizes, parts, part) : -ENOMEM;

	if (!ret)
		ret = parts_balance(g, sizes, parts, part);
	if (!ret) {
		parts_improve(g, part);
		put_blocks(sizes, parts, blocks);
		parts_improve(g, blocks);
		if (ang_graph_cut(g, blocks) < ang_graph_cut(g, part))
			memcpy(part, blocks, g->n * sizeof(*part));
	}
	free(blocks);
	return ret;
}
