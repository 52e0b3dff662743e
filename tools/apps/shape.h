/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A collective tree of processes: the tree of the network without transit
 * nodes, in which the processes of a node are below their lowest rank.  If a
 * process has too many children, which transit nodes can cause, some are moved
 * below their siblings.
 */
#ifndef ANG_APPS_SHAPE_H
#define ANG_APPS_SHAPE_H

#include "app.h"

#define SHAPE_NONE	(~0U)
#define SHAPE_CHILDREN	6U	/* most children of a process */

/**
 * struct shape - tree over the ranks
 * @size: number of ranks
 * @parent: parent of each rank; SHAPE_NONE: the rank is the root
 */
struct shape {
	unsigned int size;
	unsigned int *parent;
};

/**
 * shape_build() - build the tree with the node of rank @root as its root
 * @app: process, which knows addresses and torus, and records messages
 * @root: rank
 * @shape: out
 *
 * Return: 0 or a negative errno.
 */
int shape_build(struct app *app, unsigned int root, struct shape *shape);
void shape_free(struct shape *shape);

/** Return: number of @child among the children of its parent. */
unsigned int shape_place(const struct shape *shape, unsigned int child);

/** Return: neighbour of @rank on the path to another rank @to. */
unsigned int shape_towards(const struct shape *shape, unsigned int rank,
			   unsigned int to);

#endif /* ANG_APPS_SHAPE_H */
