/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trees and collectives: one process holds all nodes of a torus and runs every
 * participant of a tree, so that a test is deterministic.
 */
#ifndef ANGTEST_GROUP_H
#define ANGTEST_GROUP_H

#include "angtest.h"

#define AT_MAX_MEMBERS	32

/**
 * struct at_group - the torus
 * @f: its devices
 * @fd: an open file per node, for the rows
 * @pkey: partition of the trees
 */
struct at_group {
	struct at_fabric f;
	int fd[AT_MAX_NODES];
	uint32_t pkey;
};

int at_group_open(struct at_group *g);
void at_group_close(struct at_group *g);

/* The node at the other end of a link. */
unsigned int at_neighbor(const struct at_fabric *f, unsigned int node,
			 unsigned int port);
/* Does the row belong to a node of the tree? */
bool at_tree_has(const struct angara_tree_row *row);
/*
 * Computes the rows of a tree from @root to all nodes with participants, @pe of
 * each: one row per node of the torus.  Return: the number of nodes in the tree.
 */
int at_tree_rows(struct at_group *g, unsigned int tree, unsigned int root,
		 const uint16_t *pe, struct angara_tree_row *rows);
/* Builds a tree and sets its rows. Return: the number of its nodes. */
int at_tree_lay(struct at_group *g, unsigned int tree, unsigned int root,
		const uint16_t *pe);
/* Clears the rows that are set. */
void at_tree_lift(struct at_group *g, unsigned int tree);

/**
 * struct at_member - a participant
 * @x: context
 * @mem: its memory, registered with all rights
 * @len: bytes of @mem
 * @key: key of @mem
 */
struct at_member {
	struct at_ctx x;
	char *mem;
	size_t len;
	int key;
};

/* Opens a context on @node with @len bytes registered. */
int at_member_open(struct at_member *m, struct at_group *g, unsigned int node,
		   size_t len);
void at_member_close(struct at_member *m);

/* Posts @w to the queue of @m and kicks. */
int at_start(struct at_member *m, const struct angara_wqe *w);
/*
 * As at_start(); waits until the adapter has taken @w from the queue.  @w must
 * not be able to complete before that.  Return: 0, ANGARA_ST_* or -errno.
 */
int at_begin(struct at_member *m, const struct angara_wqe *w);
/* Waits for one completion. Return: ANGARA_ST_* or -errno. */
int at_finish(struct at_member *m);

/*
 * Functions for elements of @type: their size, the contributions of member
 * @who, and their reduction.
 */
unsigned int at_elem_size(unsigned int type);
/* Is @op an operation of @type? */
bool at_reduction(unsigned int type, unsigned int op);
void at_give(void *buf, unsigned int type, size_t count, unsigned int who);
/* Combines @n contributions of at_give() into @out, one after another. */
void at_reduce(void *out, unsigned int type, unsigned int op, size_t count,
	       const unsigned int *who, unsigned int n);

#endif /* ANGTEST_GROUP_H */
