// SPDX-License-Identifier: GPL-2.0-only
/* angaractl tree: the trees of a fabric. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

static const struct column summary_columns[] = {
	{ "tree", "TREE" }, { "fabric", "FABRIC" }, { "root", "ROOT" },
	{ "nodes", "NODES" }, { "switches", "SWITCHES" }, { "pe", "PE" }, { "members", "JOINED" },
	{ "pkey", "PARTITION", pkey_text }, { "epoch", "EPOCH" },
	{ "state", "STATE" }, { "delegated", "DELEGATED", pkey_text },
};

/* Reads "TREE [fabric ID]". */
static int read_target(struct args *args, struct about *about)
{
	char *word = args_next(args);
	int status;

	if (!word)
		return misuse("which tree? give a number from 0 to %d",
			      ANGARA_MAX_TREES - 1);
	about->has_tree = true;
	status = parse_tree(word, &about->tree);
	if (!status)
		status = args_filter(args, about);
	if (!status && about->has_dev)
		return misuse("\"dev\" is not allowed: a tree spans a fabric; select one with \"fabric ID\"");
	return status;
}

static void add_up(struct json_object *summary, const char *key, uint64_t more)
{
	json_object_object_add(summary, key, json_object_new_uint64(
			       record_number(summary, key) + more));
}

/* The record of the summary of @row's tree; created if missing. */
static struct json_object *summary_of(struct json_object *summaries,
				      struct json_object *row)
{
	struct json_object *s;

	for (size_t i = json_object_array_length(summaries); i-- > 0;) {
		s = json_object_array_get_idx(summaries, i);
		if (record_number(s, "tree") == record_number(row, "tree") &&
		    record_fabric(s) == record_fabric(row))
			return s;
	}
	s = json_object_new_object();
	json_object_object_add(s, "tree", json_object_new_int(
			       record_number(row, "tree")));
	json_object_object_add(s, "fabric", json_object_new_string(
			       record_string(row, "fabric")));
	json_object_object_add(s, "state", json_object_new_string("unset"));
	add_up(s, "nodes", 0);
	add_up(s, "switches", 0);
	add_up(s, "pe", 0);
	add_up(s, "members", 0);
	json_object_array_add(summaries, s);
	return s;
}

static void take_over(struct json_object *summary, struct json_object *row,
		      const char *key)
{
	struct json_object *value;

	if (json_object_object_get_ex(row, key, &value))
		json_object_object_add(summary, key, json_object_get(value));
}

static void summarise(struct json_object *summaries, struct json_object *row)
{
	struct json_object *s = summary_of(summaries, row), *value;
	const char *state = record_string(row, "state");

	if (record_number(row, "delegated"))
		take_over(s, row, "delegated");
	if (!strcmp(state, "unset"))
		return;
	if (strcmp(record_string(s, "state"), "down"))
		take_over(s, row, "state");
	take_over(s, row, "pkey");
	take_over(s, row, "epoch");
	add_up(s, record_number(row, "router") == record_number(row, "node") ?
		  "nodes" : "switches", 1);
	add_up(s, "pe", record_number(row, "pe"));
	add_up(s, "members", record_number(row, "members"));
	if (json_object_object_get_ex(row, "is_root", &value) &&
	    json_object_get_boolean(value))
		json_object_object_add(s, "root", json_object_new_int64(
				       record_number(row, "router")));
}

static int by_tree(const void *a, const void *b)
{
	struct json_object *const *x = a, *const *y = b;
	uint64_t fx = record_fabric(*x), fy = record_fabric(*y);

	if (fx != fy)
		return fx < fy ? -1 : 1;
	return (int)record_number(*x, "tree") - (int)record_number(*y, "tree");
}

static int show_all(struct nl *nl, const struct about *about)
{
	struct json_object *rows, *summaries;
	int status = ctl_dump_or_fail(nl, ANGARA_CMD_TREE_GET, about, &rows);

	if (status)
		return status;
	summaries = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		summarise(summaries, json_object_array_get_idx(rows, i));
	json_object_array_sort(summaries, by_tree);
	json_object_put(rows);
	out_records(summaries, summary_columns, ARRAY_SIZE(summary_columns));
	return DONE;
}

static void show_json(struct tree *tree)
{
	struct json_object *o = json_object_new_object();
	char id[24];

	snprintf(id, sizeof(id), "0x%llx", (unsigned long long)tree->fabric.id);
	json_object_object_add(o, "tree", json_object_new_int(tree->id));
	json_object_object_add(o, "fabric", json_object_new_string(id));
	json_object_object_add(o, "root", tree->root == tree->fabric.routers ?
			       NULL : json_object_new_int64(tree->root));
	json_object_object_add(o, "nodes", json_object_new_int64(
			       tree->set - tree->switches));
	json_object_object_add(o, "switches", json_object_new_int64(tree->switches));
	json_object_object_add(o, "rows", json_object_get(tree->records));
	out_json(o);
}

static int not_set(const struct tree *tree)
{
	return fail("tree %u is not set in fabric 0x%llx, or belongs to another partition; see angaractl tree show",
		    tree->id, (unsigned long long)tree->fabric.id);
}

/* Prints a tree as the options say.  Return: DONE; FAILED, with a message. */
int tree_print(struct tree *tree)
{
	if (!tree->set)
		return not_set(tree);
	if (options.json)
		show_json(tree);
	else if (options.given & OPT_DOT)
		tree_draw_dot(tree);
	else
		tree_draw(tree);
	return DONE;
}

static int show_one(struct nl *nl, const struct about *about)
{
	struct tree tree;
	int status = tree_load(nl, about, &tree);

	if (status)
		return status;
	status = tree_print(&tree);
	tree_free(&tree);
	return status;
}

static int tree_show(struct args *args)
{
	struct about about = { 0 };
	bool one = args->count && args->words[0][0] >= '0' &&
		   args->words[0][0] <= '9';
	struct nl nl;
	int status;

	if (options.given & OPT_DOT && !one)
		return misuse("--dot draws one tree: angaractl tree show TREE --dot");
	if (options.given & OPT_IN_BAND)
		return one ? inband_show(args) :
			     misuse("--in-band shows one tree: angaractl tree show TREE --in-band");
	status = one ? read_target(args, &about) : args_filter(args, &about);
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = one ? show_one(&nl, &about) : show_all(&nl, &about);
	ctl_stop(&nl);
	return status;
}

/* Prints the result of a check.  Return: DONE; FAILED if a rule is broken. */
int tree_report_check(const struct tree *tree, uint8_t rule, uint32_t router)
{
	uint32_t nodes = tree->set - tree->switches;
	struct json_object *o;
	char count[COUNT_TEXT];

	if (!options.json) {
		if (rule)
			printf("tree %u is broken at %s %u: %s\n", tree->id,
			       tree_noun(&tree->fabric, router), router,
			       angara_tree_rule_str(rule));
		else
			printf("tree %u is valid: %s, root %u\n", tree->id,
			       fabric_count(nodes, tree->switches, count),
			       tree->root);
		return rule ? FAILED : DONE;
	}
	o = json_object_new_object();
	json_object_object_add(o, "tree", json_object_new_int(tree->id));
	json_object_object_add(o, "valid", json_object_new_boolean(!rule));
	json_object_object_add(o, "rule", json_object_new_int(rule));
	json_object_object_add(o, "reason", json_object_new_string(
			       rule ? angara_tree_rule_str(rule) : ""));
	json_object_object_add(o, "router", rule ? json_object_new_int64(router) :
			       NULL);
	json_object_object_add(o, "nodes", json_object_new_int64(nodes));
	json_object_object_add(o, "switches", json_object_new_int64(tree->switches));
	out_json(o);
	return rule ? FAILED : DONE;
}

static int check_loaded(struct nl *nl, const struct tree *tree)
{
	uint8_t rule;
	uint32_t router;

	if (!tree->set)
		return not_set(tree);
	if (tree_rule(nl, tree_dev(tree), tree->id, &rule, &router))
		return fail("tree %u: %s", tree->id, nl->error);
	return tree_report_check(tree, rule, router);
}

/* Prints that all rows are cleared.  Return: DONE */
int tree_report_cleared(const struct tree *tree)
{
	if (options.json)
		out_counts(tree->id, "cleared", tree->set);
	else
		printf("tree %u: %u rows cleared\n", tree->id, tree->set);
	return DONE;
}

static int delete_loaded(struct nl *nl, const struct tree *tree)
{
	int status = tree->set ? tree_clear(nl, tree) : not_set(tree);

	return status ? status : tree_report_cleared(tree);
}

static int on_tree(struct args *args,
		   int (*work)(struct nl *nl, const struct tree *tree))
{
	struct about about = { 0 };
	struct tree tree;
	struct nl nl;
	int status;

	status = read_target(args, &about);
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = tree_load(&nl, &about, &tree);
	if (!status) {
		status = work(&nl, &tree);
		tree_free(&tree);
	}
	ctl_stop(&nl);
	return status;
}

static int tree_check(struct args *args)
{
	return options.given & OPT_IN_BAND ? inband_check(args) :
					     on_tree(args, check_loaded);
}

static int tree_delete(struct args *args)
{
	return options.given & OPT_IN_BAND ? inband_delete(args) :
					     on_tree(args, delete_loaded);
}

static int repair_loaded(struct nl *nl, const struct tree *tree)
{
	return tree->set ? tree_repair(nl, tree, "") : not_set(tree);
}

static int tree_repair_down(struct args *args)
{
	return on_tree(args, repair_loaded);
}

static const struct command commands[] = {
	{ "show", "[TREE [--dot]] [fabric ID | --in-band [dev DEV] [key FILE]]",
	  "trees that are set or delegated, or a drawing of one", tree_show,
	  OPT_DOT | OPT_IN_BAND },
	{ "create", "TREE root NODE [nodes LIST|all] [pe N] [pkey P] [fabric ID | --in-band [dev DEV] [key FILE]]",
	  "create a tree from NODE over nodes such as 0-3,6, each with N participants",
	  tree_create, OPT_IN_BAND },
	{ "check", "TREE [fabric ID | --in-band [dev DEV] [key FILE]]",
	  "check the rows of all nodes and switches together",
	  tree_check, OPT_IN_BAND },
	{ "delete", "TREE [fabric ID | --in-band [dev DEV] [key FILE]]",
	  "clear the rows of all nodes and switches",
	  tree_delete, OPT_IN_BAND },
	{ "repair", "TREE [fabric ID]",
	  "create a tree that is down again, around links that are down",
	  tree_repair_down, 0 },
	{ "delegate", "TREE uid:N|pkey P|none [fabric ID]",
	  "allow the processes of a partition to create the tree",
	  tree_delegate, 0 },
	{ "plan", "[nodes LIST|all] [pe N] [root NODE|best] [trees N] [goal depth|load] [bytes N] [fabric ID | --fabric FABRIC]",
	  "show what trees would cost, and how long operations over them would take",
	  tree_plan, OPT_FABRIC },
};

const struct object tree_object = {
	"tree", "collective trees", commands, ARRAY_SIZE(commands),
};
