// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl tree show TREE: the tree as text, the root at the top, or as
 * input of Graphviz.
 *
 * The rows need not make a valid tree: a node is drawn once, and nodes that
 * the root does not reach are listed below.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

#define BRANCH_BYTES	6	/* "│   " in UTF-8 */

struct drawing {
	const struct tree *tree;
	bool *drawn;
	char *prefix;		/* what stands before a branch */
};

static uint32_t child(const struct tree *tree, uint32_t node, unsigned int dir)
{
	if (dir / 2 >= tree->fabric.topo.ndims)
		return tree->fabric.nodes;
	return angara_topo_neighbor(&tree->fabric.topo, node, dir);
}

static bool is_set(const struct tree *tree, uint32_t node)
{
	return node < tree->fabric.nodes &&
	       tree->at[node].state != ANGARA_TREE_STATE_UNSET;
}

static void describe(const struct tree *tree, uint32_t node)
{
	const struct tree_node *at = &tree->at[node];
	char coord[32];

	printf("%u %s", node,
	       fabric_coord(&tree->fabric, node, coord, sizeof(coord)));
	if (at->row.is_root)
		printf(" root");
	if (at->row.pe)
		printf(" pe %u, %u joined", at->row.pe, at->members);
	else
		printf(" transit");
	if (at->state == ANGARA_TREE_STATE_DOWN)
		printf(", down by node %u", at->down_node);
	else
		printf(", %s", state_name(at->state));
	putchar('\n');
}

static void draw_below(struct drawing *d, uint32_t node);

static void draw_child(struct drawing *d, uint32_t node, unsigned int dir,
		       bool last)
{
	uint32_t to = child(d->tree, node, dir);
	char *end = d->prefix + strlen(d->prefix);

	printf("%s%s%s ", d->prefix, last ? "└── " : "├── ",
	       angara_dir_name(dir));
	if (!is_set(d->tree, to)) {
		printf("row not set\n");
		return;
	}
	if (d->drawn[to]) {
		printf("%u, drawn above\n", to);
		return;
	}
	describe(d->tree, to);
	strcpy(end, last ? "    " : "│   ");
	draw_below(d, to);
	*end = '\0';
}

/* Recursion is bounded: every level draws a node, and none is drawn twice. */
static void draw_below(struct drawing *d, uint32_t node)
{
	unsigned int dirs = d->tree->at[node].row.ports;

	d->drawn[node] = true;
	for (unsigned int dir = 0; dir < ANGARA_MAX_DIRS; dir++) {
		if (!(dirs & (1U << dir)))
			continue;
		dirs &= ~(1U << dir);
		draw_child(d, node, dir, !dirs);
	}
}

static void draw_rest(const struct drawing *d)
{
	const struct tree *tree = d->tree;

	for (uint32_t n = 0; n < tree->fabric.nodes; n++) {
		if (!is_set(tree, n) || d->drawn[n])
			continue;
		printf("not reached from the root: ");
		describe(tree, n);
	}
}

static void draw_head(const struct tree *tree)
{
	const struct angara_topo *topo = &tree->fabric.topo;
	const struct tree_node *some = NULL;
	unsigned int pe = 0, members = 0;
	char name[24];

	for (uint32_t n = 0; n < tree->fabric.nodes; n++) {
		if (!is_set(tree, n))
			continue;
		some = some ? some : &tree->at[n];
		pe += tree->at[n].row.pe;
		members += tree->at[n].members;
	}
	printf("tree %u: %u nodes, %u of %u participants joined, partition %s, epoch %u\n",
	       tree->id, tree->set, members, pe,
	       pkey_name(some->row.pkey, name, sizeof(name)), some->row.epoch);
	printf("fabric 0x%llx, torus ", (unsigned long long)tree->fabric.id);
	for (uint32_t d = 0; d < topo->ndims; d++)
		printf("%s%u", d ? "x" : "", topo->dims[d]);
	putchar('\n');
}

/* @tree has at least one row. */
void tree_draw(const struct tree *tree)
{
	struct drawing d = { .tree = tree };

	d.drawn = need_memory(tree->fabric.nodes, sizeof(*d.drawn));
	d.prefix = need_memory(tree->fabric.nodes + 1, BRANCH_BYTES);
	draw_head(tree);
	if (is_set(tree, tree->root)) {
		describe(tree, tree->root);
		draw_below(&d, tree->root);
	} else {
		puts("no node is the root");
	}
	draw_rest(&d);
	free(d.drawn);
	free(d.prefix);
}

void tree_draw_dot(const struct tree *tree)
{
	char coord[32], pe[16];

	printf("digraph tree%u {\n\tnode [shape=box];\n", tree->id);
	for (uint32_t n = 0; n < tree->fabric.nodes; n++) {
		const struct angara_tree_row *row = &tree->at[n].row;

		if (!is_set(tree, n))
			continue;
		snprintf(pe, sizeof(pe), "pe %u", row->pe);
		printf("\tn%u [label=\"%u %s\\n%s\"%s];\n", n, n,
		       fabric_coord(&tree->fabric, n, coord, sizeof(coord)),
		       row->pe ? pe : "transit",
		       row->is_root ? " style=bold" :
		       row->pe ? "" : " style=dashed");
		for (unsigned int dir = 0; dir < ANGARA_MAX_DIRS; dir++) {
			if (row->ports & (1U << dir))
				printf("\tn%u -> n%u [label=\"%s\"];\n", n,
				       child(tree, n, dir),
				       angara_dir_name(dir));
		}
	}
	puts("}");
}
