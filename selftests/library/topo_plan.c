// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Plans of trees: valid on every kind of fabric, of least depth or load if that is known or found
 * by exhaustive search, with times that equal the sum over blocks and cables.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/fab.h"

static unsigned int tests, failures;

static void result(bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
	failures += !good;
}

static const char * const kinds[] = {
	"torus:4x4x2", "torus:2x2x2x2x2x2", "torus:5x3x2", "mesh:4x4x2",
	"hypercube:5", "mkns:8x4", "mkns:2x13,ports=6", "kns:4x4",
	"fattree:4,4", "fattree:6,3,nodes=17",
};

/**
 * struct planned - a plan and its arguments
 * @f: fabric
 * @pe: participants
 * @plan: plan
 */
struct planned {
	struct angara_fabric *f;
	u16 pe[256];
	struct angara_plan *plan;
};

static void start(struct planned *p, const char *text)
{
	u32 i;

	if (angara_fabric_open(text, &p->f, NULL, 0)) {
		printf("Bail out! %s\n", text);
		exit(1);
	}
	for (i = 0; i < angara_fabric_nodes(p->f); i++)
		p->pe[i] = 1;
	p->plan = NULL;
}

static int plan(struct planned *p, u32 trees, u32 goal, u32 root, const u16 *load)
{
	const struct angara_plan_attr attr = {
		.size = sizeof(attr), .trees = trees, .goal = goal,
		.root = root, .load = load,
	};

	angara_plan_close(p->plan);
	p->plan = NULL;
	return angara_plan_open(p->f, p->pe, &attr, &p->plan);
}

static void end(struct planned *p)
{
	angara_plan_close(p->plan);
	angara_fabric_close(p->f);
}

static struct angara_tree_cost cost_of(const struct planned *p, u32 tree)
{
	struct angara_tree_cost cost = { .size = sizeof(cost) };

	if (angara_plan_cost(p->plan, tree, &cost))
		memset(&cost, 0xFF, sizeof(cost));
	return cost;
}

/* Return: the highest load, counted from the rows of @trees trees. */
static u32 counted_load(const struct planned *p, u32 trees)
{
	const struct ang_topo *t = &p->f->topo;
	u32 most = 0, i, port, tree;

	for (i = 0; i < t->routers; i++)
		for (port = 0; port < t->nports; port++) {
			u32 load = 0;

			for (tree = 0; tree < trees; tree++)
				load += angara_plan_rows(p->plan, tree)[i].ports >> port & 1;
			if (load > most)
				most = load;
		}
	return most;
}

static bool tree_is_valid(const struct planned *p, u32 tree)
{
	const struct angara_tree_row *rows = angara_plan_rows(p->plan, tree);
	u32 bad, count, i;

	if (ang_tree_check(&p->f->topo, rows, &bad, &count) ||
	    !rows[angara_plan_root(p->plan, tree)].is_root)
		return false;
	for (i = 0; i < p->f->topo.nodes; i++)
		if (rows[i].pe != p->pe[i] || (angara_tree_has(&rows[i]) && rows[i].tree != tree))
			return false;
	return true;
}

/*
 * Plans five trees over all nodes, then over every third node with different
 * counts.
 */
static bool valid(const char *text)
{
	struct planned p;
	u32 goal, some, i, most;
	bool good = true;

	start(&p, text);
	for (some = 0; some < 2; some++) {
		for (i = 0; some && i < p.f->topo.nodes; i++)
			p.pe[i] = i % 3 ? 0 : (u16)(i % 4 + 1);
		for (goal = 0; goal < 2 && good; goal++) {
			good = !plan(&p, 5, goal, ANGARA_PLAN_ROOT_ANY, NULL) &&
			       angara_plan_trees(p.plan) == 5;
			most = 0;
			for (i = 0; i < 5 && good; i++) {
				good = tree_is_valid(&p, i);
				if (cost_of(&p, i).load > most)
					most = cost_of(&p, i).load;
			}
			good = good && most == counted_load(&p, 5);
		}
	}
	if (!good)
		printf("# %s\n", text);
	end(&p);
	return good;
}

static bool all_valid(void)
{
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		good &= valid(kinds[i]);
	return good;
}

/*
 * No root gives a shallower tree; the first trees of a plan equal a plan of
 * fewer trees.
 */
static bool least_deep(const char *text)
{
	struct planned p;
	u32 best, root, least = ANG_NONE;
	struct angara_tree_row *rows;
	bool good;

	start(&p, text);
	rows = malloc(p.f->topo.routers * sizeof(*rows));
	for (root = 0; root < p.f->topo.nodes; root++) {
		plan(&p, 1, ANGARA_PLAN_DEPTH, root, NULL);
		if (cost_of(&p, 0).depth < least)
			least = cost_of(&p, 0).depth;
	}
	plan(&p, 1, ANGARA_PLAN_DEPTH, ANGARA_PLAN_ROOT_ANY, NULL);
	best = cost_of(&p, 0).depth;
	memcpy(rows, angara_plan_rows(p.plan, 0), p.f->topo.routers * sizeof(*rows));
	plan(&p, 4, ANGARA_PLAN_DEPTH, ANGARA_PLAN_ROOT_ANY, NULL);
	good = best == least && cost_of(&p, 3).depth == least &&
	       !memcmp(rows, angara_plan_rows(p.plan, 0),
		       p.f->topo.routers * sizeof(*rows));
	if (!good)
		printf("# %s: depth %u, least %u\n", text, best, least);
	free(rows);
	end(&p);
	return good;
}

static bool all_least_deep(void)
{
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		good &= least_deep(kinds[i]);
	return good;
}

/* Return: the highest load of a plan of @trees trees with a goal. */
static u32 most(const char *text, u32 trees, u32 goal, u32 root)
{
	struct planned p;
	u32 load;

	start(&p, text);
	plan(&p, trees, goal, root, NULL);
	load = counted_load(&p, trees);
	end(&p);
	return load;
}

/*
 * On a line, trees from both ends do not overlap, but two of least depth do: both
 * begin in the middle.
 * On a ring of even length, trees from opposite roots do not overlap: each
 * branch goes half way round.  A fat tree's nodes have one cable.
 */
static bool known_loads(void)
{
	return most("mesh:7", 2, ANGARA_PLAN_LOAD, ANGARA_PLAN_ROOT_ANY) == 1 &&
	       most("mesh:7", 2, ANGARA_PLAN_DEPTH, ANGARA_PLAN_ROOT_ANY) == 2 &&
	       most("torus:8", 2, ANGARA_PLAN_LOAD, ANGARA_PLAN_ROOT_ANY) == 1 &&
	       most("torus:8x8", 2, ANGARA_PLAN_LOAD, ANGARA_PLAN_ROOT_ANY) == 1 &&
	       most("torus:8x8", 4, ANGARA_PLAN_LOAD, ANGARA_PLAN_ROOT_ANY) == 2 &&
	       most("torus:8x8", 4, ANGARA_PLAN_LOAD, 0) == 4 &&
	       most("fattree:8,2", 3, ANGARA_PLAN_LOAD, ANGARA_PLAN_ROOT_ANY) == 3;
}

/*
 * If a line has a tree with its root at one end, the root of the next tree is at
 * the other end.
 */
static bool given_load(void)
{
	u16 load[7 * 2] = { 0 };
	struct planned p;
	bool good;
	u32 i;

	start(&p, "mesh:7");
	plan(&p, 1, ANGARA_PLAN_LOAD, 0, NULL);
	for (i = 0; i < 7; i++) {
		load[2 * i] = angara_plan_rows(p.plan, 0)[i].ports & 1;
		load[2 * i + 1] = angara_plan_rows(p.plan, 0)[i].ports >> 1 & 1;
	}
	plan(&p, 1, ANGARA_PLAN_LOAD, ANGARA_PLAN_ROOT_ANY, load);
	good = angara_plan_root(p.plan, 0) == 6 && cost_of(&p, 0).load == 1;
	plan(&p, 1, ANGARA_PLAN_LOAD, 0, load);
	good = good && cost_of(&p, 0).load == 2;
	plan(&p, 1, ANGARA_PLAN_DEPTH, ANGARA_PLAN_ROOT_ANY, load);
	good = good && angara_plan_root(p.plan, 0) == 3 && cost_of(&p, 0).load == 2;
	end(&p);
	return good;
}

/*
 * Three nodes in a line: a tree from node 0 would have a lower total load, but
 * share its most loaded channel with three other trees.  A tree from node 2
 * shares its most loaded channel with two.
 */
static bool worst_channel(void)
{
	u16 load[3 * 2] = { 0 };
	struct planned p;
	bool good;

	start(&p, "mesh:3");
	load[2 * 1] = 3;
	load[2 * 1 + 1] = 2;
	load[2 * 2 + 1] = 2;
	plan(&p, 1, ANGARA_PLAN_LOAD, ANGARA_PLAN_ROOT_ANY, load);
	good = angara_plan_root(p.plan, 0) == 2 && cost_of(&p, 0).load == 3;
	end(&p);
	return good;
}

/*
 * In the choice of the root, a node counts once for each of its participants.  A
 * node has one row for all of its participants.
 */
static bool placement(void)
{
	struct planned p;
	bool good;

	start(&p, "mesh:8");
	p.pe[7] = 2;
	plan(&p, 1, ANGARA_PLAN_DEPTH, ANGARA_PLAN_ROOT_ANY, NULL);
	good = angara_plan_root(p.plan, 0) == 4 && cost_of(&p, 0).cables == 7;
	p.pe[0] = 16;
	plan(&p, 1, ANGARA_PLAN_DEPTH, ANGARA_PLAN_ROOT_ANY, NULL);
	good = good && angara_plan_root(p.plan, 0) == 3 && cost_of(&p, 0).cables == 7;
	end(&p);
	return good;
}

static u64 expected(const char *text, u32 trees, u32 root, u32 op, u64 bytes)
{
	struct planned p;
	u64 time;

	start(&p, text);
	plan(&p, trees, ANGARA_PLAN_LOAD, root, NULL);
	time = angara_plan_time(p.plan, trees, op, bytes);
	end(&p);
	return time;
}

/*
 * Tests the gap of packets if 16 participants of each of two nodes inject, 37
 * ns each.
 */
static bool many_local(void)
{
	struct planned p;
	u64 gap;

	start(&p, "mesh:2");
	p.pe[0] = p.pe[1] = 16;
	plan(&p, 1, ANGARA_PLAN_DEPTH, 0, NULL);
	gap = angara_plan_time(p.plan, 1, ANGARA_OP_ALLREDUCE, 512) -
	      angara_plan_time(p.plan, 1, ANGARA_OP_ALLREDUCE, 256);
	end(&p);
	return gap == 16 * 37000;
}

/*
 * One packet of 17 flits, in nanoseconds.  Down: 300 in, 20 PEGroup, 84 for a
 * cable and its router, 37 PCIe, 300 out.  Up: 337 in, 34 to read it, 8 and the
 * next cycle, 29.013 and 80 for a cable, 34 to read, 8 and the next cycle; then
 * 20 PEGroup and down.  64 packets take 63 * 37 ns more.
 */
static bool known_times(void)
{
	return expected("mesh:7", 1, 0, ANGARA_OP_BCAST, 256) == (657 + 6 * 84) * 1000 &&
	       expected("mesh:7", 1, 3, ANGARA_OP_BCAST, 256) == (657 + 3 * 84) * 1000 &&
	       expected("fattree:8,2", 1, 0, ANGARA_OP_BCAST, 256) ==
		       (657 + 4 * 84) * 1000 &&
	       expected("mesh:7", 1, 0, ANGARA_OP_BCAST, 16384) ==
		       (657 + 6 * 84 + 63 * 37) * 1000 &&
	       /*
	        * The root of the second tree is at the other end: data goes
	        * up, through the PEGroup, and down.
	        */
	       expected("mesh:7", 2, ANGARA_PLAN_ROOT_ANY, ANGARA_OP_BCAST, 512) ==
		       (657 + 6 * 84 + 20 + 6 * 84 + 37) * 1000 &&
	       expected("mesh:2", 1, 0, ANGARA_OP_ALLREDUCE, 256) ==
		       (380 + 152 + 20 + 84 + 37 + 300) * 1000 &&
	       /*
	        * The Reducer reads a packet that is present before one that is
	        * late.
	        */
	       expected("mesh:5", 1, 1, ANGARA_OP_ALLREDUCE, 256) ==
		       (380 + 3 * 152 + 20 + 3 * 84 + 37 + 300) * 1000;
}

/*
 * Reads of a Reducer limit long reductions; ReduceIds limit reductions on one
 * tree.
 */
static bool known_rates(void)
{
	/*
	 * Of 9 packets, 8 follow the first; node 1 reads each of them three
	 * times, in 34 ns each time.
	 */
	u64 read = expected("mesh:3", 1, 1, ANGARA_OP_ALLREDUCE, 9 * 256) -
		   expected("mesh:3", 1, 1, ANGARA_OP_ALLREDUCE, 256);
	/*
	 * Of 17 packets, the last waits until the first is counted, after 8192
	 * ns, and until the credit arrives.
	 */
	u64 wait = expected("mesh:3", 1, 0, ANGARA_OP_ALLREDUCE, 17 * 256) -
		   expected("mesh:3", 1, 0, ANGARA_OP_ALLREDUCE, 256);

	/*
	 * Of 129 packets on eight trees the last waits until 128 are counted; 16 trees have counted
	 * 128 in time for their 257th packet.
	 */
	u64 eight = expected("mesh:3", 8, 0, ANGARA_OP_ALLREDUCE, 129 * 256) -
		    expected("mesh:3", 8, 0, ANGARA_OP_ALLREDUCE, 128 * 256);
	u64 all = expected("mesh:3", 16, 0, ANGARA_OP_ALLREDUCE, 257 * 256) -
		  expected("mesh:3", 16, 0, ANGARA_OP_ALLREDUCE, 256 * 256);

	return eight == 700000 + 68000 && all == 68000 &&
	       read == 8 * 3 * 34000 && wait > 8192000 && wait < 9000000 &&
	       expected("mesh:3", 2, 0, ANGARA_OP_ALLREDUCE, 17 * 256) <
		       wait;
}

static u32 stripes(const char *text, u32 op, u64 bytes)
{
	struct planned p;
	u32 n;

	start(&p, text);
	plan(&p, 16, ANGARA_PLAN_LOAD, ANGARA_PLAN_ROOT_ANY, NULL);
	n = angara_plan_stripes(p.plan, op, bytes);
	end(&p);
	return n;
}

/* Short operations and broadcasts need one tree, long reductions many. */
static bool known_stripes(void)
{
	return stripes("torus:4x4x4", ANGARA_OP_ALLREDUCE, 8) == 1 &&
	       stripes("torus:4x4x4", ANGARA_OP_ALLREDUCE, 65536) >= 8 &&
	       stripes("torus:4x4x4", ANGARA_OP_BCAST, 65536) == 1 &&
	       stripes("mkns:8x4", ANGARA_OP_ALLREDUCE, 65536) >= 5;
}

static bool values_have_sources(void)
{
	const struct angara_plan_value *v;
	u32 given = 0, fitted = 0, chosen = 0, neither = 0;

	for (v = angara_plan_values(); v->name; v++) {
		given += !strcmp(v->source, "given");
		fitted += !strcmp(v->source, "fitted");
		chosen += !strcmp(v->source, "chosen");
		neither += !strcmp(v->source, "free");
	}
	return given == 9 && fitted == 1 && chosen == 2 && neither == 3 &&
	       given + fitted + chosen + neither == v - angara_plan_values();
}

static bool refused(void)
{
	struct angara_plan_attr attr = { .size = sizeof(attr), .trees = 1 };
	struct angara_tree_cost cost = { .size = sizeof(cost) };
	struct planned p;
	bool good;

	start(&p, "torus:4");
	good = plan(&p, 0, 0, 0, NULL) == -EINVAL &&
	       plan(&p, ANGARA_MAX_TREES + 1, 0, 0, NULL) == -EINVAL &&
	       plan(&p, 1, 2, 0, NULL) == -EINVAL &&
	       plan(&p, 1, 0, 4, NULL) == -EINVAL;
	attr.size = 4;
	good = good && angara_plan_open(p.f, p.pe, &attr, &p.plan) == -EINVAL;
	good = good && !plan(&p, 2, 0, 0, NULL) &&
	       !angara_plan_rows(p.plan, 2) &&
	       angara_plan_root(p.plan, 2) == ANG_NONE &&
	       angara_plan_cost(p.plan, 2, &cost) == -EINVAL &&
	       !angara_plan_time(p.plan, 0, ANGARA_OP_BCAST, 8) &&
	       !angara_plan_time(p.plan, 3, ANGARA_OP_BCAST, 8) &&
	       !angara_plan_time(p.plan, 1, ANGARA_OP_PUT, 8) &&
	       !angara_plan_time(p.plan, 1, ANGARA_OP_BCAST, (1ULL << 30) + 1) &&
	       !angara_plan_stripes(p.plan, ANGARA_OP_PUT, 8);
	memset(p.pe, 0, sizeof(p.pe));
	good = good && plan(&p, 1, 0, ANGARA_PLAN_ROOT_ANY, NULL) == -EINVAL &&
	       plan(&p, 1, 0, 0, NULL) == -EINVAL;
	end(&p);
	return good;
}

int main(void)
{
	result(all_valid(), "plans of five trees are valid, and their loads counted");
	result(all_least_deep(), "no root gives a shallower tree");
	result(known_loads(), "loads of known plans");
	result(given_load(), "existing trees count");
	result(worst_channel(), "the worst channel counts before the sum");
	result(placement(), "the root is near to most participants");
	result(known_times(), "times of one packet, and of those after it");
	result(many_local(), "times of many participants on a node");
	result(known_rates(), "times of reads, and of credits");
	result(known_stripes(), "over how many trees");
	result(values_have_sources(), "each parameter has a source");
	result(refused(), "values out of range");
	printf("1..%u\n", tests);
	return failures != 0;
}
