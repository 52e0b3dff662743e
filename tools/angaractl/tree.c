// SPDX-License-Identifier: GPL-2.0-only
/* angaractl tree: the trees that are laid over a fabric. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

static const struct column summary_columns[] = {
	{ "tree", "TREE" }, { "fabric", "FABRIC" }, { "root", "ROOT" },
	{ "nodes", "NODES" }, { "pe", "PE" }, { "members", "JOINED" },
	{ "pkey", "PARTITION", pkey_text }, { "epoch", "EPOCH" },
	{ "state", "STATE" }, { "delegated", "DELEGATED", pkey_text },
};

static unsigned int dir_number(const char *name)
{
	for (unsigned int d = 0; d < ANGARA_MAX_DIRS; d++) {
		if (!strcmp(name, angara_dir_name(d)))
			return d;
	}
	return ANGARA_PORT_NONE;
}

/* A record of TREE_GET as a row. */
static void read_node(struct json_object *record, struct tree_node *at)
{
	struct angara_tree_row *row = &at->row;
	const char *state = record_string(record, "state");
	struct json_object *value;

	at->state = !strcmp(state, "up") ? ANGARA_TREE_STATE_UP :
		    !strcmp(state, "down") ? ANGARA_TREE_STATE_DOWN :
		    ANGARA_TREE_STATE_UNSET;
	at->members = record_number(record, "members");
	at->down_node = record_number(record, "down_node");
	at->delegated = record_number(record, "delegated");
	if (at->state == ANGARA_TREE_STATE_UNSET)
		return;
	row->is_root = json_object_object_get_ex(record, "is_root", &value) &&
		       json_object_get_boolean(value);
	row->to_root = dir_number(record_string(record, "to_root"));
	row->pe = record_number(record, "pe");
	row->pkey = record_number(record, "pkey");
	row->epoch = record_number(record, "epoch");
	if (!json_object_object_get_ex(record, "ports", &value))
		return;
	row->port_sum = json_object_array_length(value);
	for (size_t i = 0; i < row->port_sum; i++)
		row->ports |= 1ULL << dir_number(json_object_get_string(
				json_object_array_get_idx(value, i)));
}

void tree_free(struct tree *tree)
{
	json_object_put(tree->records);
	free(tree->at);
	fabric_free(&tree->fabric);
}

/* Finds the fabric that @about means and reads the rows of about->tree. */
int tree_load(struct nl *nl, const struct about *about, struct tree *tree)
{
	struct about filter = { .has_fabric = true, .has_tree = true,
				.tree = about->tree };
	int status;

	memset(tree, 0, sizeof(*tree));
	tree->id = about->tree;
	status = fabric_find(nl, about, &tree->fabric);
	if (status)
		return status;
	filter.fabric = tree->fabric.id;
	status = ctl_dump_or_fail(nl, ANGARA_CMD_TREE_GET, &filter,
				 &tree->records);
	if (status) {
		fabric_free(&tree->fabric);
		return status;
	}
	tree->root = tree->fabric.nodes;
	tree->at = need_memory(tree->fabric.nodes, sizeof(*tree->at));
	for (uint32_t n = 0; n < tree->fabric.nodes; n++) {
		tree->at[n].row.tree = tree->id;
		tree->at[n].row.to_root = ANGARA_PORT_NONE;
	}
	for (size_t i = 0; i < json_object_array_length(tree->records); i++) {
		struct json_object *r =
			json_object_array_get_idx(tree->records, i);
		uint64_t node = record_number(r, "node");

		if (node >= tree->fabric.nodes)
			continue;
		read_node(r, &tree->at[node]);
		if (tree->at[node].state == ANGARA_TREE_STATE_UNSET)
			continue;
		tree->set++;
		if (tree->at[node].row.is_root)
			tree->root = node;
	}
	return DONE;
}

/* Has the kernel check all rows of a tree.  Returns 0 or -errno. */
int tree_rule(struct nl *nl, uint32_t dev, uint8_t id, uint8_t *rule,
	      uint32_t *node)
{
	struct about about = { .has_dev = true, .dev = dev, .has_tree = true,
			       .tree = id };
	struct json_object *reply;
	int err = ctl_get(nl, ANGARA_CMD_TREE_CHECK, &about, &reply);

	if (err)
		return err;
	*rule = record_number(reply, "rule");
	*node = record_number(reply, "node");
	json_object_put(reply);
	return 0;
}

int tree_clear_row(struct nl *nl, uint32_t dev, uint8_t id)
{
	struct about about = { .has_dev = true, .dev = dev, .has_tree = true,
			       .tree = id };

	return ctl_get(nl, ANGARA_CMD_TREE_CLEAR, &about, NULL);
}

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
		return misuse("\"dev\": a tree spans a fabric; \"fabric ID\" selects one");
	return status;
}

static void add_up(struct json_object *summary, const char *key, uint64_t more)
{
	json_object_object_add(summary, key, json_object_new_uint64(
			       record_number(summary, key) + more));
}

/* The record of the summary that @row belongs to; made if it is not there. */
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
	add_up(s, "nodes", 1);
	add_up(s, "pe", record_number(row, "pe"));
	add_up(s, "members", record_number(row, "members"));
	if (json_object_object_get_ex(row, "is_root", &value) &&
	    json_object_get_boolean(value))
		json_object_object_add(s, "root", json_object_new_int64(
				       record_number(row, "node")));
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
	json_object_object_add(o, "root", tree->root == tree->fabric.nodes ?
			       NULL : json_object_new_int64(tree->root));
	json_object_object_add(o, "nodes", json_object_new_int64(tree->set));
	json_object_object_add(o, "rows", json_object_get(tree->records));
	out_json(o);
}

static int not_set(const struct tree *tree)
{
	return fail("tree %u is not set in fabric 0x%llx, or belongs to another partition; see angaractl tree show",
		    tree->id, (unsigned long long)tree->fabric.id);
}

static int show_one(struct nl *nl, const struct about *about)
{
	struct tree tree;
	int status = tree_load(nl, about, &tree);

	if (status)
		return status;
	if (!tree.set)
		status = not_set(&tree);
	else if (options.json)
		show_json(&tree);
	else if (options.given & OPT_DOT)
		tree_draw_dot(&tree);
	else
		tree_draw(&tree);
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
	status = one ? read_target(args, &about) : args_filter(args, &about);
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = one ? show_one(&nl, &about) : show_all(&nl, &about);
	ctl_stop(&nl);
	return status;
}

/* A device that has a row of the tree. */
static uint32_t any_dev(const struct tree *tree)
{
	for (uint32_t n = 0; n < tree->fabric.nodes; n++) {
		if (tree->at[n].state != ANGARA_TREE_STATE_UNSET)
			return tree->fabric.dev[n];
	}
	return NO_DEV;
}

static void report_check(const struct tree *tree, uint8_t rule, uint32_t node)
{
	struct json_object *o;

	if (!options.json) {
		if (rule)
			printf("tree %u is broken at node %u: %s\n", tree->id,
			       node, angara_tree_rule_str(rule));
		else
			printf("tree %u is valid: %u nodes, root %u\n",
			       tree->id, tree->set, tree->root);
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, "tree", json_object_new_int(tree->id));
	json_object_object_add(o, "valid", json_object_new_boolean(!rule));
	json_object_object_add(o, "rule", json_object_new_int(rule));
	json_object_object_add(o, "reason", json_object_new_string(
			       rule ? angara_tree_rule_str(rule) : ""));
	json_object_object_add(o, "node", rule ? json_object_new_int64(node) :
			       NULL);
	json_object_object_add(o, "nodes", json_object_new_int64(tree->set));
	out_json(o);
}

static int check_loaded(struct nl *nl, const struct tree *tree)
{
	uint8_t rule;
	uint32_t node;

	if (!tree->set)
		return not_set(tree);
	if (tree_rule(nl, any_dev(tree), tree->id, &rule, &node))
		return fail("tree %u: %s", tree->id, nl->error);
	report_check(tree, rule, node);
	return rule ? FAILED : DONE;
}

static int delete_loaded(struct nl *nl, const struct tree *tree)
{
	uint32_t cleared = 0;
	int err;

	if (!tree->set)
		return not_set(tree);
	for (uint32_t n = 0; n < tree->fabric.nodes; n++) {
		if (tree->at[n].state == ANGARA_TREE_STATE_UNSET)
			continue;
		err = tree_clear_row(nl, tree->fabric.dev[n], tree->id);
		/* Gone meanwhile is as good. */
		if (err && err != -ENOENT)
			return fail("tree %u at node %u (angara%u): %s; %u of %u rows are cleared",
				    tree->id, n, tree->fabric.dev[n], nl->error,
				    cleared, tree->set);
		cleared++;
	}
	if (options.json)
		out_counts(tree->id, "cleared", cleared);
	else
		printf("tree %u: %u rows cleared\n", tree->id, cleared);
	return DONE;
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
	return on_tree(args, check_loaded);
}

static int tree_delete(struct args *args)
{
	return on_tree(args, delete_loaded);
}

static const struct command commands[] = {
	{ "show", "[TREE [--dot]] [fabric ID]",
	  "trees that are set or delegated, or a drawing of one", tree_show,
	  OPT_DOT },
	{ "create", "TREE root NODE [nodes LIST|all] [pe N] [pkey P] [fabric ID]",
	  "lay a tree from NODE over nodes such as 0-3,6, each with N participants",
	  tree_create, 0 },
	{ "check", "TREE [fabric ID]", "check the rows of all nodes together",
	  tree_check, 0 },
	{ "delete", "TREE [fabric ID]", "clear the rows of all nodes",
	  tree_delete, 0 },
	{ "delegate", "TREE uid:N|pkey P|none [fabric ID]",
	  "let the processes of a partition lay the tree themselves",
	  tree_delegate, 0 },
};

const struct object tree_object = {
	"tree", "collective trees", commands, ARRAY_SIZE(commands),
};
