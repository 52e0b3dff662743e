// SPDX-License-Identifier: GPL-2.0-only
/*
 * Computes and sets the rows of new trees, and of trees that are repaired around
 * links that are down; angara-fm uses this file, too.
 *
 * Either all routers get their row or none keeps one: if a router rejects its
 * row, the rows of all other routers are cleared.  The row of a switch is set
 * through the device of its keeper.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <netlink/attr.h>

#include <angara/fabric.h>

#include "tree_create.h"

/* Can this process set the row of @router? */
static int check_reach(const struct fabric *fabric, uint32_t router)
{
	uint32_t keeper = fabric_keeper(fabric, router);

	if (!fabric->dev || fabric->dev[keeper] != NO_DEV)
		return DONE;
	if (keeper == router)
		return fail("node %u of fabric 0x%llx has no device on this machine, and the tree needs it",
			    router, (unsigned long long)fabric->id);
	return fail("switch %u of fabric 0x%llx is programmed by node %u, which has no device on this machine, and the tree needs it",
		    router, (unsigned long long)fabric->id, keeper);
}

/* Completes the rows, and checks that all of them can be set. */
static int complete(struct plan *plan, const struct fabric *fabric)
{
	uint16_t epoch = 0;
	int status = DONE;

	/*
	 * Packets of an earlier tree with this number may be in flight: draw a
	 * random epoch.
	 */
	while (!epoch && getrandom(&epoch, sizeof(epoch), 0) == sizeof(epoch))
		;
	for (uint32_t i = 0; i < fabric->routers && !status; i++) {
		if (!angara_tree_has(&plan->rows[i]))
			continue;
		plan->rows[i].tree = plan->about.tree;
		plan->rows[i].epoch = epoch;
		plan->rows[i].pkey = plan->pkey;
		plan->switches += i >= fabric->nodes;
		status = check_reach(fabric, i);
	}
	return status;
}

/* Return: routers of the tree, with their rows; -errno. */
static int plan_rows_of(struct plan *plan, const struct tree *tree, const uint16_t *pe)
{
	const struct fabric *fabric = &tree->fabric;
	struct angara_fabric *graph = fabric->around ? fabric->around : fabric->graph;

	return graph ? angara_fabric_tree(graph, plan->root_node, pe, NULL, plan->rows) :
		       angara_tree_build(&fabric->torus, plan->root_node, pe, tree->id,
					 plan->rows);
}

static int cut_off(const struct tree *tree, const char *hint)
{
	return fail("tree %u: links that are down cut off a participant; %s",
		    tree->id, hint);
}

/**
 * plan_build() - compute the rows of all routers, and check them
 * @plan: from plan_start(); out: rows, count, switches
 * @tree: tree, whose fabric avoids links that are down
 *
 * Return: DONE; FAILED, with a message.
 */
int plan_build(struct plan *plan, const struct tree *tree)
{
	int count;

	plan->rows = need_memory(tree->fabric.routers, sizeof(*plan->rows));
	count = plan_rows_of(plan, tree, plan->pe);
	if (count == -EHOSTUNREACH)
		return cut_off(tree, "another root may reach all, see angaractl tree plan");
	if (count < 0)
		return fail("tree %u: cannot be built: %s", tree->id, strerror(-count));
	plan->count = count;
	return complete(plan, &tree->fabric);
}

static int set_row(struct nl *nl, const struct fabric *fabric, uint32_t router,
		   const struct angara_tree_row *row)
{
	struct about about = tree_row(fabric, router, row->tree);
	struct nl_msg *msg = ctl_request(nl, ANGARA_CMD_TREE_SET, &about);

	ctl_put_u8(&msg, ANGARA_A_TREE_IS_ROOT, row->is_root);
	if (!row->is_root)
		ctl_put_u8(&msg, ANGARA_A_TREE_TO_ROOT, row->to_root);
	ctl_put_u64(&msg, ANGARA_A_TREE_PORTS, row->ports);
	ctl_put_u16(&msg, ANGARA_A_TREE_PE, row->pe);
	ctl_put_u16(&msg, ANGARA_A_TREE_EPOCH, row->epoch);
	if (row->pkey)
		ctl_put_u32(&msg, ANGARA_A_TREE_PKEY, row->pkey);
	return ctl_call(nl, msg, NULL);
}

/* Clears the rows of the routers below @end. */
static void undo(struct nl *nl, const struct plan *plan,
		 const struct tree *tree, uint32_t end)
{
	while (end-- > 0) {
		if (angara_tree_has(&plan->rows[end]))
			tree_clear_row(nl, tree, end);
	}
}

/**
 * plan_set() - set all rows of a tree, or none
 * @nl: socket for requests
 * @plan: from plan_build()
 * @tree: tree
 * @left: end of the message of a failure
 *
 * Return: DONE; FAILED, with a message.
 */
int plan_set(struct nl *nl, const struct plan *plan, const struct tree *tree,
	     const char *left)
{
	const struct fabric *fabric = &tree->fabric;
	uint32_t router;
	uint8_t rule;
	int status;

	for (uint32_t i = 0; i < fabric->routers; i++) {
		if (!angara_tree_has(&plan->rows[i]) ||
		    !set_row(nl, fabric, i, &plan->rows[i]))
			continue;
		status = fail("tree %u at %s %u (angara%u): %s; %s",
			      tree->id, tree_noun(fabric, i), i,
			      fabric_dev(fabric, i), nl->error, left);
		undo(nl, plan, tree, i);
		return status;
	}
	if (tree_rule(nl, fabric->dev[plan->root_node], tree->id, &rule, &router))
		status = fail("tree %u: %s; %s", tree->id, nl->error, left);
	else if (rule)
		status = fail("tree %u is broken at %s %u: %s; %s", tree->id,
			      tree_noun(fabric, router), router,
			      angara_tree_rule_str(rule), left);
	else
		return DONE;
	undo(nl, plan, tree, fabric->routers);
	return status;
}

/** plan_report() - print that the tree is set */
void plan_report(const struct plan *plan, const struct tree *tree)
{
	uint32_t nodes = plan->count - plan->switches, pe = 0;
	struct json_object *o;
	char id[24], count[COUNT_TEXT];

	for (uint32_t n = 0; n < tree->fabric.nodes; n++)
		pe += plan->rows[n].pe;
	snprintf(id, sizeof(id), "0x%llx", (unsigned long long)tree->fabric.id);
	if (!options.json) {
		printf("tree %u: %s of fabric %s, root %u, %u participants\n",
		       tree->id, fabric_count(nodes, plan->switches, count), id,
		       plan->root_node, pe);
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, "tree", json_object_new_int(tree->id));
	json_object_object_add(o, "fabric", json_object_new_string(id));
	json_object_object_add(o, "root",
			       json_object_new_int64(plan->root_node));
	json_object_object_add(o, "nodes", json_object_new_int64(nodes));
	json_object_object_add(o, "switches", json_object_new_int64(plan->switches));
	json_object_object_add(o, "pe", json_object_new_int64(pe));
	json_object_object_add(o, "epoch", json_object_new_int(
			       plan->rows[plan->root_node].epoch));
	out_json(o);
}

/* Takes over the root, participants and partition of a tree that is set. */
static void take_tree(struct plan *plan, const struct tree *tree, uint16_t *pe)
{
	*plan = (struct plan){ .about = { .tree = tree->id }, .root_node = tree->root };
	for (uint32_t n = 0; n < tree->fabric.nodes; n++)
		if (tree->at[n].state != ANGARA_TREE_STATE_UNSET)
			pe[n] = tree->at[n].row.pe;
	plan->pkey = tree->at[tree->root].row.pkey;
	plan->rows = need_memory(tree->fabric.routers, sizeof(*plan->rows));
}

/*
 * Computes rows from the same root; if that root does not reach all
 * participants, from the best root.
 */
static int repair_rows(struct plan *plan, const struct tree *tree, const uint16_t *pe)
{
	const struct fabric *fabric = &tree->fabric;
	int count = plan_rows_of(plan, tree, pe);
	int64_t root = count;

	if (count == -EHOSTUNREACH) {
		root = angara_fabric_root(fabric->around, pe, NULL);
		plan->root_node = root < 0 ? plan->root_node : (uint32_t)root;
	}
	if (count == -EHOSTUNREACH && root >= 0)
		count = plan_rows_of(plan, tree, pe);
	if (count == -EHOSTUNREACH)
		return cut_off(tree, "no tree over all of them exists: delete it, and create one over fewer nodes");
	if (count < 0)
		return fail("tree %u: cannot be built: %s", tree->id, strerror(-count));
	plan->count = (uint32_t)count;
	return complete(plan, fabric);
}

/* Is the tree up at all of its routers? */
static bool tree_is_up(const struct tree *tree)
{
	for (uint32_t i = 0; i < tree->fabric.routers; i++)
		if (tree->at[i].state == ANGARA_TREE_STATE_DOWN)
			return false;
	return true;
}

/**
 * tree_repair() - replace a tree that is down by one around links that are down
 * @nl: socket for requests
 * @tree: tree that is set
 * @before: text before the report about the new tree
 *
 * The processes of the tree have to join it again.
 * Return: DONE, with a report; FAILED, with a message.
 */
int tree_repair(struct nl *nl, const struct tree *tree, const char *before)
{
	struct tree again = *tree;
	struct plan plan;
	uint16_t *pe;
	int status;

	if (tree->root >= tree->fabric.nodes)
		return fail("tree %u has no root that is a node: delete it", tree->id);
	if (tree_is_up(tree))
		return fail("tree %u is up: there is nothing to repair", tree->id);
	pe = need_memory(tree->fabric.nodes, sizeof(*pe));
	take_tree(&plan, tree, pe);
	status = fabric_avoid(nl, &again.fabric);
	if (!status)
		status = repair_rows(&plan, &again, pe);
	if (!status)
		status = tree_clear(nl, tree);
	if (!status)
		status = plan_set(nl, &plan, tree, "the tree is deleted");
	if (!status) {
		fputs(before, stdout);
		plan_report(&plan, tree);
	}
	free(pe);
	free(plan.rows);
	if (again.fabric.around != tree->fabric.graph)
		angara_fabric_close(again.fabric.around);
	return status;
}
