/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers under which the members of an allgather take part, so that little
 * data crosses the upper levels of a system: the graph of the algorithm is
 * split over the modules of the system (Kurnosov: structure-aware allgather for
 * hierarchical distributed systems, 2011).
 */
#ifndef ANG_ALGO_MAP_H
#define ANG_ALGO_MAP_H

#include "algo.h"

/**
 * struct ang_graph - bytes exchanged between members if each contributes one
 * byte
 * @n: members
 * @start: index in @to of the first neighbour of each member (compressed sparse
 *	rows); n + 1 entries
 * @to: neighbours
 * @weight: bytes to and from each neighbour
 */
struct ang_graph {
	u32 n;
	u32 *start;
	u32 *to;
	u64 *weight;
};

/* graph.c */
int ang_graph_make(struct ang_graph *g, enum ang_coll coll, enum ang_algo algo, u32 n);
int ang_graph_part(struct ang_graph *part, const struct ang_graph *g,
		   const u32 *vertices, u32 n, u32 *number);
void ang_graph_free(struct ang_graph *g);
u64 ang_graph_cut(const struct ang_graph *g, const u32 *part);

/* split.c */
int ang_graph_split(const struct ang_graph *g, const u32 *sizes, u32 parts, u32 *part);

/* map.c */
int ang_map(const struct ang_graph *g, const u32 *modules, u32 levels, u32 *place,
	    u32 *rank_of);

#endif /* ANG_ALGO_MAP_H */
