// SPDX-License-Identifier: GPL-2.0-only
/* A collective tree over ranks: see shape.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <angara/topo.h>
#include <linux/angara.h>
#include "shape.h"

/**
 * struct nodes - the torus, while a shape is built
 * @topo: torus
 * @rows: rows of the tree
 * @pe: processes on each node
 * @lead: lowest rank on each node, SHAPE_NONE if there is none
 */
struct nodes {
	struct angara_topo topo;
	struct angara_tree_row *rows;
	uint16_t *pe;
	unsigned int *lead;
};

static void nodes_free(struct nodes *n)
{
	free(n->rows);
	free(n->pe);
	free(n->lead);
}

static int nodes_init(const struct app *app, struct nodes *n)
{
	uint32_t nodes, r;

	memset(n, 0, sizeof(*n));
	n->topo = app->topo;
	nodes = angara_topo_nodes(&n->topo);
	n->rows = calloc(nodes, sizeof(*n->rows));
	n->pe = calloc(nodes, sizeof(*n->pe));
	n->lead = malloc(nodes * sizeof(*n->lead));
	if (!n->rows || !n->pe || !n->lead) {
		nodes_free(n);
		return -ENOMEM;
	}
	memset(n->lead, 0xFF, nodes * sizeof(*n->lead));
	for (r = app->size; r-- > 0; ) {
		n->pe[app->peers[r].node]++;
		n->lead[app->peers[r].node] = r;
	}
	return 0;
}

/* Return: lowest rank on the nearest node above @node that has processes; SHAPE_NONE: none. */
static unsigned int lead_above(const struct nodes *n, uint32_t node)
{
	while (!n->rows[node].is_root) {
		node = angara_topo_neighbor(&n->topo, node,
					    n->rows[node].to_root);
		if (n->lead[node] != SHAPE_NONE)
			return n->lead[node];
	}
	return SHAPE_NONE;
}

/* Return: the @i-th of the ranks on @node, in ascending order. */
static unsigned int local_rank(const struct app *app, uint32_t node,
			       unsigned int i)
{
	unsigned int r;

	for (r = 0; r < app->size; r++)
		if (app->peers[r].node == node && !i--)
			break;
	return r;
}

static unsigned int local_place(const struct app *app, unsigned int rank)
{
	unsigned int r, place = 0;

	for (r = 0; r < rank; r++)
		place += app->peers[r].node == app->peers[rank].node;
	return place;
}

/*
 * Move the children of @parent that exceed the limit below their siblings.
 * Return: whether any moved.
 */
static bool thin_out(struct shape *shape, unsigned int parent)
{
	unsigned int sibling[SHAPE_CHILDREN];
	unsigned int count = 0, r;

	for (r = 0; r < shape->size; r++) {
		if (shape->parent[r] != parent)
			continue;
		if (count < SHAPE_CHILDREN)
			sibling[count] = r;
		else
			shape->parent[r] = sibling[count % SHAPE_CHILDREN];
		count++;
	}
	return count > SHAPE_CHILDREN;
}

/* Terminates, since every move is away from the root. */
static void limit_children(struct shape *shape)
{
	unsigned int r;
	bool moved;

	do {
		moved = false;
		for (r = 0; r < shape->size; r++)
			moved |= thin_out(shape, r);
	} while (moved);
}

int shape_build(struct app *app, unsigned int root, struct shape *shape)
{
	struct nodes n;
	unsigned int r;
	int err;

	shape->size = app->size;
	shape->parent = calloc(app->size, sizeof(*shape->parent));
	err = shape->parent ? nodes_init(app, &n) : -ENOMEM;
	if (err)
		return app_fail(app, err, "cannot build the shape of a tree");
	err = angara_tree_build(&n.topo, app->peers[root].node, n.pe, 0, n.rows);
	if (err < 0) {
		app_fail(app, err, "cannot build the shape of a tree with root %u", root);
		goto out;
	}
	err = 0;
	for (r = 0; r < app->size; r++) {
		uint32_t node = app->peers[r].node;
		unsigned int place = local_place(app, r);

		/*
		 * The other ranks of a node form a heap below its first rank,
		 * so that fan-out stays small.
		 */
		shape->parent[r] = place ?
			local_rank(app, node, (place - 1) / 2) :
			lead_above(&n, node);
	}
	limit_children(shape);
out:
	nodes_free(&n);
	return err;
}

void shape_free(struct shape *shape)
{
	free(shape->parent);
	shape->parent = NULL;
}

unsigned int shape_place(const struct shape *shape, unsigned int child)
{
	unsigned int r, place = 0;

	for (r = 0; r < child; r++)
		place += shape->parent[r] == shape->parent[child];
	return place;
}

unsigned int shape_towards(const struct shape *shape, unsigned int rank,
			   unsigned int to)
{
	unsigned int at = to;

	while (at != SHAPE_NONE && shape->parent[at] != rank)
		at = shape->parent[at];
	return at == SHAPE_NONE ? shape->parent[rank] : at;
}
