// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-fm: trees of administrators that are down.
 *
 * After links went down or came up, and when the manager starts, such a tree is
 * laid again, around the links that are down then, as "angaractl tree repair" does.
 * The processes of the tree have to join it again.
 *
 * The manager does not repair trees that are delegated or have rows that processes
 * own: they belong to teams of libangara, whose members agree on another tree.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fm.h"

/* Return: the entry of a fabric, appended if it is new; NULL: there is no room. */
static struct fm_down *down_entry(struct fm_down *down, size_t *count, size_t most,
				  uint64_t fabric)
{
	for (size_t i = 0; i < *count; i++)
		if (down[i].fabric == fabric)
			return &down[i];
	if (*count == most)
		return NULL;
	down[*count] = (struct fm_down){ .fabric = fabric };
	return &down[(*count)++];
}

/*
 * Removes the trees that belong to jobs, and then fabrics without trees.  Return: number of
 * fabrics that are left.
 */
static size_t down_of_admin(struct fm_down *down, size_t count, const struct fm_row *rows,
			    size_t n)
{
	size_t kept = 0;

	for (size_t k = 0; k < count; k++) {
		for (size_t i = 0; i < n; i++)
			if (rows[i].fabric == down[k].fabric &&
			    (rows[i].owned || rows[i].delegated))
				down[k].trees &= ~(1ULL << rows[i].tree);
		if (down[k].trees)
			down[kept++] = down[k];
	}
	return kept;
}

/**
 * trees_down() - find trees that are down and belong to no job
 * @down: out: the trees of each fabric that has some
 * @most: number of elements of @down; trees of other fabrics are left out
 *
 * Return: number of fabrics; 0 also if the rows cannot be read.
 */
size_t trees_down(struct fm_down *down, size_t most)
{
	struct fm_row *rows;
	size_t n, count = 0;

	if (fabric_rows(0, -1, &rows, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		struct fm_down *d = rows[i].down ?
			down_entry(down, &count, most, rows[i].fabric) : NULL;

		if (d)
			d->trees |= 1ULL << rows[i].tree;
	}
	count = down_of_admin(down, count, rows, n);
	free(rows);
	return count;
}

/* Is the tree still down, and of an administrator? */
static bool tree_waits(const struct tree *tree)
{
	bool down = false;

	for (uint32_t i = 0; i < tree->fabric.routers; i++) {
		down |= tree->at[i].state == ANGARA_TREE_STATE_DOWN;
		if (tree->at[i].delegated)
			return false;
	}
	for (size_t i = 0; i < json_object_array_length(tree->records); i++)
		if (record_number(json_object_array_get_idx(tree->records, i), "owned"))
			return false;
	return down;
}

/*
 * Repairs a tree, if all of its rows are there: if an adapter has lost its row, the
 * number of participants of its node is unknown.  Return: DONE; FAILED, with a message.
 */
static int tree_heal(struct nl *nl, const struct tree *tree)
{
	uint32_t router;
	uint8_t rule;

	if (!tree_waits(tree))
		return DONE;
	if (tree_rule(nl, tree_dev(tree), tree->id, &rule, &router))
		return fail("tree %u: %s", tree->id, nl->error);
	if (rule && tree->fabric.present < tree->fabric.nodes)
		return fail("tree %u is down and is not repaired, as it may have rows on other machines",
			    tree->id);
	if (rule)
		return fail("tree %u is down and is not repaired, as its rows are no tree (%s at %s %u): create it again",
			    tree->id, angara_tree_rule_str(rule),
			    tree_noun(&tree->fabric, router), router);
	return tree_repair(nl, tree, "angara-fm: repaired ");
}

/**
 * trees_heal() - repair trees
 * @down: from trees_down()
 * @count: number of elements of @down
 *
 * Return: DONE; FAILED, with a message for each tree that stays down.
 */
int trees_heal(const struct fm_down *down, size_t count)
{
	struct nl nl;
	int status = ctl_start(&nl), worst = DONE;

	for (size_t i = 0; !status && i < count; i++)
		for (uint64_t set = down[i].trees; set; set &= set - 1) {
			const struct about about = {
				.has_fabric = true, .fabric = down[i].fabric,
				.has_tree = true, .tree = (uint8_t)__builtin_ctzll(set),
			};
			struct tree tree;
			int ret = tree_load(&nl, &about, &tree);

			if (!ret) {
				ret = tree_heal(&nl, &tree);
				tree_free(&tree);
			}
			worst = ret ? ret : worst;
		}
	return status ? status : worst;
}
