// SPDX-License-Identifier: GPL-2.0-only
/* The rows of a tree, as the driver has them; angara-fm uses this file, too. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

/* Number of a port in a record; null means no port. */
static unsigned int port_number(struct json_object *value)
{
	return value ? json_object_get_int(value) & UINT8_MAX : ANGARA_PORT_NONE;
}

/* Converts a record of TREE_GET to a row. */
static void read_row(struct json_object *record, struct tree_router *at)
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
	row->to_root = ANGARA_PORT_NONE;
	if (json_object_object_get_ex(record, "to_root", &value))
		row->to_root = port_number(value);
	row->pe = record_number(record, "pe");
	row->pkey = record_number(record, "pkey");
	row->epoch = record_number(record, "epoch");
	if (!json_object_object_get_ex(record, "ports", &value))
		return;
	row->port_sum = json_object_array_length(value);
	for (size_t i = 0; i < row->port_sum; i++)
		row->ports |= 1ULL << (port_number(json_object_array_get_idx(value, i)) %
				       ANGARA_MAX_PORTS);
}

void tree_free(struct tree *tree)
{
	json_object_put(tree->records);
	free(tree->at);
	fabric_free(&tree->fabric);
}

/* Counts the row of @router, if it is set. */
void tree_note(struct tree *tree, uint32_t router)
{
	if (tree->at[router].state == ANGARA_TREE_STATE_UNSET)
		return;
	tree->set++;
	tree->switches += router >= tree->fabric.nodes;
	if (tree->at[router].row.is_root)
		tree->root = router;
}

/* Finds the fabric of @about and reads the rows of about->tree. */
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
	tree->root = tree->fabric.routers;
	tree->at = need_memory(tree->fabric.routers, sizeof(*tree->at));
	for (uint32_t i = 0; i < tree->fabric.routers; i++) {
		tree->at[i].row.tree = tree->id;
		tree->at[i].row.to_root = ANGARA_PORT_NONE;
	}
	for (size_t i = 0; i < json_object_array_length(tree->records); i++) {
		struct json_object *r =
			json_object_array_get_idx(tree->records, i);
		uint64_t router = record_number(r, "router");

		/* A server may send any number of rows of a router: the first one counts. */
		if (router >= tree->fabric.routers ||
		    tree->at[router].state != ANGARA_TREE_STATE_UNSET)
			continue;
		read_row(r, &tree->at[router]);
		tree_note(tree, router);
	}
	return DONE;
}

const char *tree_noun(const struct fabric *fabric, uint32_t router)
{
	return router < fabric->nodes ? "node" : "switch";
}

/* Return: a device that has a row of the tree. */
uint32_t tree_dev(const struct tree *tree)
{
	for (uint32_t i = 0; i < tree->fabric.routers; i++) {
		if (tree->at[i].state != ANGARA_TREE_STATE_UNSET)
			return fabric_dev(&tree->fabric, i);
	}
	return NO_DEV;
}

/* Lets the kernel, or the server, check all rows of a tree.  Returns 0 or -errno. */
int tree_rule(struct nl *nl, uint32_t dev, uint8_t id, uint8_t *rule,
	      uint32_t *router)
{
	struct about about = { .has_dev = true, .dev = dev, .has_tree = true,
			       .tree = id };
	struct json_object *reply;
	int err = ctl_get(nl, ANGARA_CMD_TREE_CHECK, &about, &reply);

	if (err)
		return err;
	*rule = record_number(reply, "rule");
	*router = record_number(reply, "node");
	json_object_put(reply);
	return 0;
}

/* The row of a router, for a request. */
struct about tree_row(const struct fabric *fabric, uint32_t router, uint8_t id)
{
	return (struct about){
		.has_dev = true, .dev = fabric_dev(fabric, router),
		.has_tree = true, .tree = id,
		.has_router = router >= fabric->nodes, .router = router,
	};
}

int tree_clear_row(struct nl *nl, const struct tree *tree, uint32_t router)
{
	struct about about = tree_row(&tree->fabric, router, tree->id);

	return ctl_get(nl, ANGARA_CMD_TREE_CLEAR, &about, NULL);
}

/* Clears all rows.  Return: DONE or FAILED, with a message. */
int tree_clear(struct nl *nl, const struct tree *tree)
{
	uint32_t cleared = 0;
	int err;

	for (uint32_t i = 0; i < tree->fabric.routers; i++) {
		if (tree->at[i].state == ANGARA_TREE_STATE_UNSET)
			continue;
		err = tree_clear_row(nl, tree, i);
		/* A row that another process has removed counts as cleared. */
		if (err && err != -ENOENT)
			return fail("tree %u at %s %u (angara%u): %s; %u of %u rows are cleared",
				    tree->id, tree_noun(&tree->fabric, i), i,
				    fabric_dev(&tree->fabric, i), nl->error,
				    cleared, tree->set);
		cleared++;
	}
	return DONE;
}
