// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl tree create and delegate.  The driver gets the rows of a new tree from
 * tree_lay.c; with --in-band rows are set by management packets, see
 * tree_inband.c.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void plan_free(struct plan *plan)
{
	free(plan->pe);
	free(plan->rows);
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
		status = plan_set(&nl, &plan, &tree, "nothing is changed");
	if (!status)
		plan_report(&plan, &tree);
	plan_free(&plan);
	tree_free(&tree);
stop:
	ctl_stop(&nl);
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
