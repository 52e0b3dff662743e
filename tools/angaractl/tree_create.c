// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl tree create, repair, delegate: changes to the rows of many routers.
 * Trees go around links that are down.
 *
 * Either all routers get their row or none keeps one: if a router rejects its
 * row, the rows of all other routers are cleared.  The row of a switch is set
 * through the device of its keeper.  With --in-band rows are set by management
 * packets, see tree_inband.c.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <netlink/attr.h>

#include <angara/fabric.h>

#include "key.h"
#include "tree_create.h"

static int read_argument(struct plan *plan, int which, char *value)
{
	uint64_t number;
	int status = DONE;

	switch (which) {
	case 0:
		plan->root = value;
		break;
	case 1:
		plan->list = value;
		break;
	case 2:
		status = parse_number(value, 1, ANGARA_MAX_LOCAL,
				      "pe, the participants of each node,",
				      &number);
		plan->count_pe = status ? 0 : number;
		break;
	case 3:
		status = parse_pkey(value, &plan->pkey);
		break;
	case 4:
		plan->about.has_fabric = true;
		status = parse_fabric(value, &plan->about.fabric);
		break;
	case 5:
		plan->given.has_dev = true;
		status = parse_dev(value, &plan->given.dev);
		break;
	default:
		status = key_read(value, &plan->given.key);
	}
	return status;
}

/* Do the arguments suit the method: by the driver, or by management packets? */
static int check_way(const struct plan *plan)
{
	if (!(options.given & OPT_IN_BAND))
		return plan->given.has_dev || plan->given.key ?
		       misuse("\"dev\" and \"key\" need --in-band") : DONE;
	if (plan->about.has_fabric)
		return misuse("--in-band takes no fabric ID: the fabric is that of the device, \"dev DEV\"");
	return manager_allowed();
}

static int read_plan(struct args *args, struct plan *plan)
{
	static const char *const words[] = { "root", "nodes", "pe", "pkey",
					     "fabric", "dev", "key" };
	char *word = args_next(args), *value;
	int status, which;

	*plan = (struct plan){ .list = "all", .count_pe = 1 };
	if (!word)
		return misuse("which tree? angaractl tree create TREE root NODE");
	plan->about.has_tree = true;
	status = parse_tree(word, &plan->about.tree);
	while (!status &&
	       !(status = args_pair(args, words, ARRAY_SIZE(words), &which, &value)) &&
	       which >= 0)
		status = read_argument(plan, which, value);
	if (!status && !plan->root)
		return misuse("which node is the root? angaractl tree create %u root NODE",
			      plan->about.tree);
	return status ? status : check_way(plan);
}

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
 * plan_start() - read root and nodes, for a tree that is not set yet
 * @plan: arguments; out: root_node, pe
 * @tree: tree
 *
 * Return: DONE; FAILED or MISUSED, with a message.
 */
int plan_start(struct plan *plan, const struct tree *tree)
{
	const struct fabric *fabric = &tree->fabric;
	int status;

	if (tree->set)
		return fail("tree %u is set on %u %s of fabric 0x%llx: delete it first (angaractl tree delete %u%s)",
			    tree->id, tree->set, fabric->graph ? "routers" : "nodes",
			    (unsigned long long)fabric->id, tree->id,
			    options.given & OPT_IN_BAND ? " --in-band" : "");
	status = parse_node(plan->root, fabric, &plan->root_node);
	if (status)
		return status;
	plan->pe = need_memory(fabric->nodes, sizeof(*plan->pe));
	return parse_nodes(plan->list, fabric->nodes, plan->count_pe, plan->pe);
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

void plan_free(struct plan *plan)
{
	free(plan->pe);
	free(plan->rows);
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

/* Sets all rows, or none; after a failure the message ends with @left. */
static int set_all(struct nl *nl, const struct plan *plan,
		   const struct tree *tree, const char *left)
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

int tree_create(struct args *args)
{
	struct plan plan;
	struct tree tree;
	struct nl nl;
	int status;

	status = read_plan(args, &plan);
	if (!status && options.given & OPT_IN_BAND)
		return inband_create(&plan);
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = tree_load(&nl, &plan.about, &tree);
	if (status)
		goto stop;
	status = plan_start(&plan, &tree);
	if (!status)
		status = fabric_avoid(&nl, &tree.fabric);
	if (!status)
		status = plan_build(&plan, &tree);
	if (!status)
		status = set_all(&nl, &plan, &tree, "nothing is changed");
	if (!status)
		plan_report(&plan, &tree);
	plan_free(&plan);
	tree_free(&tree);
stop:
	ctl_stop(&nl);
	return status;
}

/* The participants and the partition of a tree that is set. */
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
 *
 * The processes of the tree have to join it again.
 * Return: DONE or FAILED, with a message.
 */
int tree_repair(struct nl *nl, const struct tree *tree)
{
	struct tree again = *tree;
	struct plan plan;
	uint16_t *pe;
	int status;

	if (tree->root >= tree->fabric.nodes)
		return fail("tree %u has no root that is a node: delete it", tree->id);
	if (tree_is_up(tree))
		return fail("tree %u is up", tree->id);
	pe = need_memory(tree->fabric.nodes, sizeof(*pe));
	take_tree(&plan, tree, pe);
	status = fabric_avoid(nl, &again.fabric);
	if (!status)
		status = repair_rows(&plan, &again, pe);
	if (!status)
		status = tree_clear(nl, tree);
	if (!status)
		status = set_all(nl, &plan, tree, "the tree is deleted");
	if (!status)
		plan_report(&plan, tree);
	free(pe);
	free(plan.rows);
	if (again.fabric.around != tree->fabric.graph)
		angara_fabric_close(again.fabric.around);
	return status;
}

/* Reads "uid:N", "pkey P" or "none". */
static int read_partition(struct args *args, uint32_t *pkey)
{
	char *word = args_next(args);
	int status = DONE;

	if (word && !strcmp(word, "pkey")) {
		status = args_value(args, "pkey", &word);
		if (status)
			return status;
	} else if (word && !strcmp(word, "none")) {
		*pkey = 0;
		return DONE;
	}
	if (!word)
		return misuse("which partition? angaractl tree delegate TREE uid:N|pkey P|none");
	return parse_pkey(word, pkey);
}

static int delegate_all(struct nl *nl, const struct tree *tree, uint32_t pkey)
{
	const struct fabric *fabric = &tree->fabric;
	char name[24];
	int status;

	for (uint32_t n = 0; n < fabric->nodes; n++) {
		if (fabric->dev[n] == NO_DEV ||
		    !ctl_delegate(nl, fabric->dev[n], tree->id, pkey))
			continue;
		status = fail("tree %u at node %u (angara%u): %s; nothing is changed",
			      tree->id, n, fabric->dev[n], nl->error);
		while (n-- > 0) {
			if (fabric->dev[n] != NO_DEV)
				ctl_delegate(nl, fabric->dev[n], tree->id,
					     tree->at[n].delegated);
		}
		return status;
	}
	if (options.json)
		out_counts(tree->id, "delegated", pkey);
	else
		printf("tree %u: delegated to %s on %u nodes\n", tree->id,
		       pkey_name(pkey, name, sizeof(name)), fabric->present);
	return DONE;
}

int tree_delegate(struct args *args)
{
	struct about about = { .has_tree = true };
	char *word = args_next(args);
	struct tree tree;
	uint32_t pkey;
	struct nl nl;
	int status;

	if (!word)
		return misuse("which tree? angaractl tree delegate TREE uid:N|pkey P|none");
	status = parse_tree(word, &about.tree);
	if (!status)
		status = read_partition(args, &pkey);
	if (!status)
		status = args_filter(args, &about);
	if (!status && about.has_dev)
		status = misuse("\"dev\" is not allowed: a tree spans a fabric; select one with \"fabric ID\"");
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = tree_load(&nl, &about, &tree);
	if (!status) {
		status = delegate_all(&nl, &tree, pkey);
		tree_free(&tree);
	}
	ctl_stop(&nl);
	return status;
}
