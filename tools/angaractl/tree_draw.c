// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl tree show TREE: the tree as text, the root at the top, or as
 * input of Graphviz.
 *
 * The rows may not form a valid tree: a router is drawn once, and routers that
 * the root does not reach are listed below the tree.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

#define BRANCH_BYTES	6	/* "│   " in UTF-8 */

struct drawing {
	const struct tree *tree;
	bool *drawn;
	char *prefix;		/* text before a branch */
};

static bool is_set(const struct tree *tree, uint32_t router)
{
	return router < tree->fabric.routers &&
	       tree->at[router].state != ANGARA_TREE_STATE_UNSET;
}

static void describe(const struct tree *tree, uint32_t router)
{
	const struct tree_router *at = &tree->at[router];
	char name[ROUTER_NAME];

	fputs(fabric_router(&tree->fabric, router, name), stdout);
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

static void draw_below(struct drawing *d, uint32_t router);

static void draw_child(struct drawing *d, uint32_t router, unsigned int port,
		       bool last)
{
	const struct fabric *fabric = &d->tree->fabric;
	uint32_t to = fabric_peer(fabric, router, port);
	char *end = d->prefix + strlen(d->prefix);
	char name[PORT_NAME];

	printf("%s%s%s%s ", d->prefix, last ? "└── " : "├── ",
	       fabric->graph ? "port " : "", fabric_port(fabric, port, name));
	if (fabric->graph)
		fputs("to ", stdout);
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

/* Recursion is bounded: every level draws a router, and no router is drawn twice. */
static void draw_below(struct drawing *d, uint32_t router)
{
	uint64_t ports = d->tree->at[router].row.ports;

	d->drawn[router] = true;
	for (unsigned int port = 0; ports; port++) {
		if (!(ports >> port & 1))
			continue;
		ports &= ports - 1;
		draw_child(d, router, port, !ports);
	}
}

static void draw_rest(const struct drawing *d)
{
	const struct tree *tree = d->tree;

	for (uint32_t i = 0; i < tree->fabric.routers; i++) {
		if (!is_set(tree, i) || d->drawn[i])
			continue;
		printf("not reached from the root: ");
		describe(tree, i);
	}
}

static void draw_head(const struct tree *tree)
{
	const struct tree_router *some = NULL;
	unsigned int pe = 0, members = 0;
	char name[24], count[COUNT_TEXT];

	for (uint32_t i = 0; i < tree->fabric.routers; i++) {
		if (!is_set(tree, i))
			continue;
		some = some ? some : &tree->at[i];
		pe += tree->at[i].row.pe;
		members += tree->at[i].members;
	}
	printf("tree %u: %s, %u of %u participants joined, partition %s, epoch %u\n",
	       tree->id, fabric_count(tree->set - tree->switches, tree->switches, count),
	       members, pe, pkey_name(some->row.pkey, name, sizeof(name)),
	       some->row.epoch);
	printf("fabric 0x%llx, %s\n", (unsigned long long)tree->fabric.id,
	       tree->fabric.name);
}

/* @tree has at least one row. */
void tree_draw(const struct tree *tree)
{
	struct drawing d = { .tree = tree };

	d.drawn = need_memory(tree->fabric.routers, sizeof(*d.drawn));
	d.prefix = need_memory(tree->fabric.routers + 1, BRANCH_BYTES);
	draw_head(tree);
	if (is_set(tree, tree->root)) {
		describe(tree, tree->root);
		draw_below(&d, tree->root);
	} else {
		puts("no router is the root");
	}
	draw_rest(&d);
	free(d.drawn);
	free(d.prefix);
}

static void draw_dot_router(const struct tree *tree, uint32_t router)
{
	const struct angara_tree_row *row = &tree->at[router].row;
	const struct fabric *fabric = &tree->fabric;
	char name[ROUTER_NAME], port_name[PORT_NAME], pe[16];

	snprintf(pe, sizeof(pe), "pe %u", row->pe);
	printf("\tn%u [label=\"%s\\n%s\"%s%s];\n", router,
	       fabric_router(fabric, router, name), row->pe ? pe : "transit",
	       router < fabric->nodes ? "" : " shape=ellipse",
	       row->is_root ? " style=bold" : row->pe ? "" : " style=dashed");
	for (unsigned int port = 0; port < fabric->ports; port++) {
		if (row->ports >> port & 1)
			printf("\tn%u -> n%u [label=\"%s\"];\n", router,
			       fabric_peer(fabric, router, port),
			       fabric_port(fabric, port, port_name));
	}
}

void tree_draw_dot(const struct tree *tree)
{
	printf("digraph tree%u {\n\tnode [shape=box];\n", tree->id);
	for (uint32_t i = 0; i < tree->fabric.routers; i++) {
		if (is_set(tree, i))
			draw_dot_router(tree, i);
	}
	puts("}");
}
