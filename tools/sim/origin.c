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

#define RULE(name, rule, basis) \
	{ "rule", name, "free", basis, NULL, rule },

const struct sim_origin sim_origins[] = {
	ANG_VALUES(SHARED)
	{ NULL, "vc", "free",
	  "section 3.1 waits for whole packets; then hosts need 180 ns",
	  "cut-through|store-and-forward" },
	{ NULL, "reduce", "given",
	  "section 3.3: packets are combined, the last gives the result", NULL },
	{ NULL, "copies", "free",
	  "the order in which copies leave a router is not named",
	  "links-first|at-once" },
	{ NULL, "routing", "fitted",
	  "SpMV, 28 %; section 2 has both and does not say which is used", NULL },
	{ NULL, "acks", "free",
	  "section 2: one-sided puts; acknowledgements are not named", "no|yes" },
	{ NULL, "overhead", "free",
	  "a host's time per message is not named", "0ns..300ns" },
	{ NULL, "combine", "free",
	  "a host's time to combine is not named", "0ns..100ns" },
	{ NULL, "buffer", "free", "the size of buffers is not named", "4..32" },
	{ NULL, "switch-buffer", "free",
	  "as of links; document 000 has no switches", NULL },
	{ NULL, "loss", "free", "packet losses on links are not named", NULL },
	{ NULL, "corrupt", "free", "bit errors on links are not named", NULL },
	{ NULL, "fault-delay", "free", "links with faults are not named", NULL },
	{ "coll", "children", "free",
	  "the order of messages in a tree is not named",
	  "deepest|shallowest" },
	{ "spmv", "rows", "given", "section 4.2: N = 20 480 000", NULL },
	{ "spmv", "nonzeros", "given", "section 4.2: d = 10", NULL },
	{ "spmv", "rate", "given", "section 4.2: 591 MFlop/s on a node", NULL },
	{ "spmv", "step-overhead", "free",
	  "no time for threads is named", "0us..10us" },
	{ "spmv", "dims", "given", "figure 9: 4D torus", NULL },
	{ "spmv", "algo", "given", "section 4.2: recursive doubling", NULL },
	{ "spmv", "trees", "given", "section 4.2: all 16 trees", NULL },
	{ "spmv", "ranks", "free", "where ranks are is not named", "first|last" },
	{ "heat2d", "cells", "given", "section 4.3: 40, 81 and 163 million",
	  NULL },
	{ "heat2d", "rate", "given",
	  "section 4.3: about 11 GFlop/s on a node", NULL },
	{ "heat2d", "flop", "free",
	  "operations of equation (4); angara-heat2d has 34; none is named",
	  "10..34" },
	{ "heat2d", "step-overhead", "fitted",
	  "heat equation, 40 960 000 cells, 32768 nodes: gives 3.0", NULL },
	{ "heat2d", "bytes", "free", "a number in double precision", NULL },
	{ "heat2d", "dims", "given", "figure 10: 4D torus", NULL },
	{ "heat2d", "children", "free",
	  "the order of messages in a tree is not named",
	  "deepest|shallowest" },
	RULE("torus shape", "last dimensions longest",
	     "sizes are named for two tori only; effect: first longest, none")
	RULE("wrap-around", "in all dimensions",
	     "a torus; effect of none and a root in the corner: 6.21 to 7.10")
	RULE("root", "node 0",
	     "not named; effect: none on a torus, 7.10 or 6.21 on a mesh")
	RULE("tree of a node", "node number modulo 16",
	     "the order is not named; others are not simulated")
	RULE("stripe", "a block on one tree",
	     "not named; effect on 512 nodes: SpMV's gain 24 % to 26 %")
	RULE("arbitration", "round robin, packet by packet",
	     "not named; effect: none on one packet; others are not simulated")
	RULE("posts ahead", "16 packets, or as many as PCIe holds",
	     "not named; effect: none on one packet; others are not simulated")
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
