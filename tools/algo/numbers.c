// SPDX-License-Identifier: GPL-2.0-only
/* angara-algo: numbers under which ranks take part in an allgather. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool.h"

void need_graph(struct ang_graph *g, const struct way *w, u32 n)
{
	int ret = ang_graph_make(g, w->coll, w->algo, n);

	if (ret == -EINVAL)
		exit(misuse("%s: does not support %u ranks", w->name, n));
	if (ret == -E2BIG)
		exit(misuse("%s: too many messages for a graph of %u ranks", w->name, n));
	if (ret)
		exit(fail("no memory for a graph of %u ranks", n));
}

/* Processor time of this process, independent of other load. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/**
 * map_ranks() - compute numbers for ranks; end the program if it fails
 * @w: algorithm
 * @s: system
 * @place: out: number of each rank
 * @rank_of: out: rank of each number
 * @seconds: out: processor time to make the graph, and to split it; or NULL
 */
void map_ranks(const struct way *w, const struct levels *s, u32 *place, u32 *rank_of,
	       double *seconds)
{
	u32 levels = s->num - 1, i, l;
	u32 *modules = need_memory((size_t)s->ranks * levels + 1, sizeof(*modules));
	double start = now();
	struct ang_graph g;
	int ret;

	need_graph(&g, w, s->ranks);
	if (seconds)
		seconds[0] = now() - start;
	for (i = 0; i < s->ranks; i++)
		for (l = 0; l < levels; l++)
			modules[i * levels + l] = part_of(s, s->core[i], l);
	start = now();
	ret = ang_map(&g, modules, levels, place, rank_of);
	if (seconds)
		seconds[1] = now() - start;
	if (ret == -EOPNOTSUPP)
		exit(fail("METIS, which splits graphs, is missing: install libmetis-dev and build again"));
	if (ret)
		exit(fail("graph of %u ranks: %s", s->ranks, strerror(-ret)));
	ang_graph_free(&g);
	free(modules);
}
