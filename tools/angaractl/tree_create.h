/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * angaractl tree create: the tree that is created, by the driver (tree_lay.c) or
 * by management packets (tree_inband.c).
 */
#ifndef ANGARACTL_TREE_CREATE_H
#define ANGARACTL_TREE_CREATE_H

#include "angaractl.h"
#include "manager.h"

/**
 * struct plan - a tree that is to be created
 * @about: tree and fabric
 * @given: device and key of in-band management
 * @root: root as text
 * @list: nodes as text
 * @count_pe: participants of each node
 * @pkey: partition; 0: the caller's
 * @pe: participants by node
 * @rows: row of each router
 * @count: rows of the tree
 * @switches: rows of switches among them
 * @root_node: root
 */
struct plan {
	struct about about;
	struct manager_args given;
	const char *root;
	const char *list;
	uint16_t count_pe;
	uint32_t pkey;
	uint16_t *pe;
	struct angara_tree_row *rows;
	uint32_t count;
	uint32_t switches;
	uint32_t root_node;
};

int plan_start(struct plan *plan, const struct tree *tree);
void plan_free(struct plan *plan);

/* tree_lay.c */
int plan_build(struct plan *plan, const struct tree *tree);
int plan_set(struct nl *nl, const struct plan *plan, const struct tree *tree,
	     const char *left);
void plan_report(const struct plan *plan, const struct tree *tree);

/* tree_inband.c */
int inband_create(struct plan *plan);

#endif /* ANGARACTL_TREE_CREATE_H */
