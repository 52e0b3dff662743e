// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where defaults come from; see origin.h.
 */
#include <stddef.h>
#include <string.h>
#include "origin.h"
#include "values.h"

#define SHARED(symbol, name, value, unit, source, help, basis, range) \
	{ NULL, name, source, basis, range, NULL },

#define RULE(name, rule, basis, range) \
	{ "rule", name, "free", basis, range, rule },

/* A basis has at most 93 characters: a line of published.rst has 100. */
const struct sim_origin sim_origins[] = {
	ANG_VALUES(SHARED)
	{ NULL, "vc", "given",
	  "section 3.1: the whole packet is awaited first; the default departs: hosts need no time",
	  "cut-through|store-and-forward" },
	{ NULL, "reduce", "given",
	  "section 3.3: a packet that arrives is combined with the memory; the last gives the result",
	  NULL },
	{ NULL, "copies", "free",
	  "section 3.1 lists the directions of copies; their order is not named",
	  "links-first|at-once" },
	{ NULL, "routing", "fitted",
	  "SpMV, 28 %; section 2: the network supports both, the test's is not named",
	  NULL },
	{ NULL, "acks", "free",
	  "section 2: puts are one-sided, do not block; acknowledgements are not named",
	  "no|yes" },
	{ NULL, "overhead", "chosen",
	  "section 4.1: messages add injection and ejection; no other time is named",
	  "0ns..300ns" },
	{ NULL, "combine", "free",
	  "section 4.1: the allreduce by messages; a host's time to combine is not named",
	  "0ns..100ns" },
	{ NULL, "buffer", "free",
	  "section 3: channels are FIFOs; their size is not named", "4..32" },
	{ NULL, "switch-buffer", "free",
	  "as of links; document 000 has no switches", NULL },
	{ NULL, "loss", "free",
	  "section 3: links have no interference; the default is the same", NULL },
	{ NULL, "corrupt", "free",
	  "section 3: links have no interference; the default is the same", NULL },
	{ NULL, "fault-delay", "free",
	  "section 3: links have no interference; the default is the same", NULL },
	{ "coll", "children", "chosen",
	  "section 4.1: messages follow the tree; their order at a node is not named",
	  "deepest|shallowest" },
	{ "spmv", "rows", "given",
	  "section 4.2: the chosen matrix has the size N = 20 480 000", NULL },
	{ "spmv", "nonzeros", "given",
	  "section 4.2: the chosen matrix has d = 10 non-zeros in a row", NULL },
	{ "spmv", "rate", "given",
	  "section 4.2: one node alone reaches 591 MFlop/s", NULL },
	{ "spmv", "step-overhead", "free",
	  "section 4.2: a node's time is measured; its part for threads is not named",
	  "0us..10us" },
	{ "spmv", "dims", "given",
	  "section 4.2: the greatest gain is that of a 4D torus; figure 9", NULL },
	{ "spmv", "algo", "given",
	  "section 4.2: the allgather by messages is recursive doubling", NULL },
	{ "spmv", "trees", "given",
	  "section 4.2: all 16 trees are in use, their roots are spread evenly", NULL },
	{ "spmv", "ranks", "free",
	  "section 4.2: pairs, then pairs of pairs exchange; the nodes of ranks are not named",
	  "first|last" },
	{ "heat2d", "cells", "given",
	  "section 4.3: grids of 40 960 000, 81 920 000 and 163 840 000 cells", NULL },
	{ "heat2d", "rate", "given",
	  "section 4.3: one node alone reaches about 11 GFlop/s", NULL },
	{ "heat2d", "flop", "chosen",
	  "section 4.3: operations of equation (4); angara-heat2d has 34; none is named",
	  "10..34" },
	{ "heat2d", "step-overhead", "fitted",
	  "heat equation, 40 960 000 cells, 32768 nodes: gives 3.0", NULL },
	{ "heat2d", "bytes", "free",
	  "section 4.3: the maximum of one number; double precision is assumed", NULL },
	{ "heat2d", "dims", "given",
	  "section 4.3: the gain is that of a 4D torus; figure 10", NULL },
	{ "heat2d", "children", "free",
	  "section 4.1: messages follow the tree; their order at a node is not named",
	  "deepest|shallowest" },
	RULE("torus shape", "last dimensions longest",
	     "section 4.1 names three tori only; effect: none on the broadcast; SpMV is not sampled", NULL)
	RULE("wrap-around", "in all dimensions",
	     "table 1: a torus; figures 1 and 2 draw trees without; not said for trees",
	     "in all dimensions|none")
	RULE("root", "node 0",
	     "section 2: some node is chosen; effect: none on a torus", "node 0|middle")
	RULE("tree of a node", "node number modulo 16",
	     "section 4.2: all 16 trees are in use; their nodes are not named; not sampled", NULL)
	RULE("stripe", "a block on one tree",
	     "section 4.2: all nodes send their parts by broadcasts; not said how on trees",
	     "a block on one tree|a block on all trees")
	RULE("arbitration", "round robin, packet by packet",
	     "not named; effect: none on one packet; others are not simulated", NULL)
	RULE("posts ahead", "16 packets, or as many as PCIe holds",
	     "not named; effect: none on one packet; others are not simulated", NULL)
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};

const struct sim_origin *sim_origin(const char *command, const char *name)
{
	const struct sim_origin *o;

	for (o = sim_origins; o->name; o++)
		if (!strcmp(o->name, name) &&
		    (command ? o->command && !strcmp(o->command, command) :
			       !o->command))
			return o;
	return NULL;
}
