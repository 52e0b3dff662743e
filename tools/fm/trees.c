// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-fm: trees of administrators that are down.
 *
 * After links went down or came up, and when the manager starts, such a tree is
 * laid again, around the links that are down then, as "angaractl tree repair" does.
 * Its processes join it again.
 *
 * Rows that processes own, and trees that are delegated, belong to teams of
 * libangara, whose members agree on another tree.
 */
#include <stdio.h>
#include <string.h>

#include "fm.h"

/* Trees of administrators that are down, a bit for each TreeId. */
static int trees_down(struct nl *nl, const struct fabric *fabric, uint64_t *down)
{
	const struct about about = { .has_fabric = true, .fabric = fabric->id };
	struct json_object *rows;
	uint64_t of_jobs = 0;
	int status = ctl_dump_or_fail(nl, ANGARA_CMD_TREE_GET, &about, &rows);

	*down = 0;
	if (status)
		return status;
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		uint64_t bit = 1ULL << record_number(row, "tree") % ANGARA_MAX_TREES;

		if (!strcmp(record_string(row, "state"), "down"))
			*down |= bit;
		if (record_number(row, "owned") || record_number(row, "delegated"))
			of_jobs |= bit;
	}
	*down &= ~of_jobs;
	json_object_put(rows);
	return DONE;
}

/*
 * Repairs a tree.  If an adapter has lost its row, nobody knows the participants of
 * its node.  Return: DONE; FAILED, with a message.
 */
static int tree_heal(struct nl *nl, const struct tree *tree)
{
	uint32_t router;
	uint8_t rule;

	if (tree->root >= tree->fabric.nodes)
		return fail("tree %u is down and has no root that is a node: delete it",
			    tree->id);
	if (tree_rule(nl, tree->fabric.dev[tree->root], tree->id, &rule, &router))
		return fail("tree %u: %s", tree->id, nl->error);
	if (rule)
		return fail("tree %u is down and is not repaired, as its rows are no tree (%s at %s %u): create it again",
			    tree->id, angara_tree_rule_str(rule),
			    tree_noun(&tree->fabric, router), router);
	return tree_repair(nl, tree, "angara-fm: repaired ");
}

/**
 * trees_heal() - repair the trees of administrators that are down
 * @nl: socket for requests
 * @fabric: fabric
 *
 * Return: DONE; FAILED, with a message for each tree that stays down.
 */
int trees_heal(struct nl *nl, struct fabric *fabric)
{
	uint64_t down;
	int status = trees_down(nl, fabric, &down), worst = DONE;

	for (; !status && down; down &= down - 1) {
		const struct about about = {
			.has_fabric = true, .fabric = fabric->id,
			.has_tree = true, .tree = (uint8_t)__builtin_ctzll(down),
		};
		struct tree tree;
		int ret = tree_load(nl, &about, &tree);

		if (!ret) {
			ret = tree_heal(nl, &tree);
			tree_free(&tree);
		}
		worst = ret ? ret : worst;
	}
	return status ? status : worst;
}
