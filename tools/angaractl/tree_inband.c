// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl tree create, show, check, delete with --in-band: rows of all routers,
 * read and written by management packets from one device.
 *
 * The device describes its fabric; discovery finds the routers that answer and the
 * links that are up.  A tree goes around all other routers and links.
 */

#include <errno.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/angara_mgmt.h>

#include <angara/fabric.h>
#include <angara/manage.h>

#include "tree_create.h"

/**
 * struct inband - a tree, and the paths to its routers
 * @manager: the device
 * @map: routers that were found
 * @tree: tree
 * @unread: routers whose rows cannot be read
 */
struct inband {
	struct angara_manager *manager;
	struct angara_map *map;
	struct tree tree;
	uint32_t unread;
};

static const char *inband_why(const struct angara_tree_failure *at, int err)
{
	if (at->rule)
		return angara_tree_rule_str(at->rule);
	switch (err) {
	case -EACCES:
		return "it needs another key, or has no key and so refuses all writes";
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
		return "it does not answer";
	case -ENETDOWN:
		return at->answered == at->router ? "a link of the tree is down" :
						    "a link on the way to it is down";
	case -EEXIST:
		return "its row is set";
	case -EBUSY:
		return "its row cannot be set now, or has been changed by others";
	case -EIO:
		return "another router answers in its place";
	default:
		return strerror(-err);
	}
}

/* Reports the failure of a row.  Return: FAILED */
static int inband_fail(const struct inband *b, const struct angara_tree_failure *at,
		       int err, const char *rest)
{
	if (at->router == UINT32_MAX)
		return fail("tree %u: %s; %s", b->tree.id, strerror(-err), rest);
	return fail("tree %u at %s %u: %s; %s", b->tree.id,
		    tree_noun(&b->tree.fabric, at->router), at->router,
		    inband_why(at, err), rest);
}

static struct json_object *inband_record(const struct inband *b, uint32_t router)
{
	const struct tree_router *at = &b->tree.at[router];
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "node", json_object_new_int64(
			       fabric_keeper(&b->tree.fabric, router)));
	json_object_object_add(o, "fabric", record_id(b->tree.fabric.id));
	json_object_object_add(o, "router", json_object_new_int64(router));
	json_object_object_add(o, "tree", json_object_new_int(b->tree.id));
	json_object_object_add(o, "state", json_object_new_string(state_name(at->state)));
	json_object_object_add(o, "is_root", json_object_new_boolean(at->row.is_root));
	json_object_object_add(o, "to_root", record_port(at->row.to_root));
	json_object_object_add(o, "ports", record_ports(at->row.ports));
	json_object_object_add(o, "pe", json_object_new_int(at->row.pe));
	json_object_object_add(o, "pkey", json_object_new_int64(at->row.pkey));
	json_object_object_add(o, "epoch", json_object_new_int(at->row.epoch));
	json_object_object_add(o, "members", json_object_new_int(at->members));
	if (at->state == ANGARA_TREE_STATE_DOWN)
		json_object_object_add(o, "down_node", json_object_new_int64(at->down_node));
	return o;
}

/* Stores a row that a router has sent. */
static void inband_row(struct inband *b, uint32_t router, const struct angara_mgmt_row *row)
{
	struct tree_router *at = &b->tree.at[router];

	at->state = row->state;
	at->members = row->members;
	at->down_node = le32toh(row->down_node);
	at->row.is_root = row->is_root;
	at->row.to_root = row->to_root;
	at->row.port_sum = row->port_sum;
	at->row.ports = le64toh(row->ports);
	at->row.pe = le16toh(row->pe);
	at->row.pkey = le32toh(row->pkey);
	at->row.epoch = le16toh(row->epoch);
	tree_note(&b->tree, router);
	if (at->state != ANGARA_TREE_STATE_UNSET)
		json_object_array_add(b->tree.records, inband_record(b, router));
}

static int inband_read(struct inband *b, const struct angara_found *found)
{
	struct angara_tree_failure at = { .router = found->router };
	struct angara_mgmt_row row;
	int ret = angara_manage_get(b->manager, &found->path, ANGARA_MGMT_ROW, b->tree.id,
				    &row, sizeof(row), &at.answered);

	if (!ret)
		inband_row(b, found->router, &row);
	if (!ret || ret == -ENOENT)
		return DONE;
	if (ret == -EINVAL)
		return fail("tree %u: the fabric has %u trees", b->tree.id, found->about.trees);
	b->unread++;
	inband_fail(b, &at, ret, "its row cannot be read");
	return DONE;
}

/* Reads the rows of all routers that were found, and names those that cannot be read. */
static int inband_rows(struct inband *b)
{
	struct tree *tree = &b->tree;
	int status = DONE;

	tree->root = tree->fabric.routers;
	tree->at = need_memory(tree->fabric.routers, sizeof(*tree->at));
	tree->records = json_object_new_array();
	for (uint32_t i = 0; i < tree->fabric.routers; i++) {
		tree->at[i].row.tree = tree->id;
		tree->at[i].row.to_root = ANGARA_PORT_NONE;
	}
	for (uint32_t i = 0; i < b->map->nrouters && !status; i++)
		if (b->map->routers[i].state == ANGARA_FOUND_OK)
			status = inband_read(b, &b->map->routers[i]);
	return status;
}

static int inband_fabric(struct inband *b)
{
	struct fabric *fabric = &b->tree.fabric;
	char *text;
	int ret = angara_manager_describe(b->manager, &text);

	if (ret)
		return fail("the description of the fabric cannot be read: %s", strerror(-ret));
	if (!fabric_read(text, fabric) || fabric->nodes != b->map->nodes ||
	    fabric->routers != b->map->size)
		ret = fail("fabric 0x%llx: its description does not match its routers",
			   (unsigned long long)b->map->fabric_id);
	fabric->id = b->map->fabric_id;
	free(text);
	return ret;
}

static void inband_stop(struct inband *b)
{
	tree_free(&b->tree);
	angara_map_free(b->map);
	angara_manager_close(b->manager);
}

/*
 * Discovers the fabric and reads the rows of tree @id.  @partly: continue also if the
 * rows of some routers cannot be read.
 */
static int inband_start(struct inband *b, const struct manager_args *given, uint8_t id,
			bool partly)
{
	int status;

	*b = (struct inband){ .tree.id = id };
	status = manager_open(given, &b->manager);
	if (!status)
		status = manager_map(b->manager, given->key, &b->map);
	if (!status)
		status = inband_fabric(b);
	if (!status)
		status = inband_rows(b);
	if (!status && b->unread && !partly)
		status = FAILED;
	if (status)
		inband_stop(b);
	return status;
}

/* The entry of a router that answers, or NULL. */
static const struct angara_found *inband_found(const struct inband *b, uint32_t router)
{
	for (uint32_t i = 0; i < b->map->nrouters; i++)
		if (b->map->routers[i].router == router &&
		    b->map->routers[i].state != ANGARA_FOUND_WRONG)
			return &b->map->routers[i];
	return NULL;
}

/* Do all participants answer? */
static int inband_check_nodes(const struct inband *b, const struct plan *plan)
{
	for (uint32_t n = 0; n < b->tree.fabric.nodes; n++) {
		const struct angara_found *found = inband_found(b, n);

		if ((!plan->pe[n] && n != plan->root_node) ||
		    (found && found->state == ANGARA_FOUND_OK))
			continue;
		return fail("tree %u at node %u: %s; nothing is changed", b->tree.id, n,
			    found ? "it needs another key" :
			    "it does not answer, or links that are down cut it off");
	}
	return DONE;
}

/* Lists the routers that cannot be used, and the links that are down. */
static uint32_t inband_failures(const struct inband *b, struct angara_failure *list)
{
	const struct fabric *fabric = &b->tree.fabric;
	uint32_t count = 0;

	for (uint32_t r = 0; r < fabric->routers; r++) {
		const struct angara_found *found = inband_found(b, r);
		bool usable = found && found->state == ANGARA_FOUND_OK;
		uint64_t down = usable ? found->about.down : 0;

		if (!usable)
			list[count++] = (struct angara_failure){ r, ANGARA_FAILED_ROUTER };
		/* A router may report anything, even that ports without a cable are down. */
		for (uint32_t port = 0; port < fabric->ports; port++)
			if (down >> port & 1 && fabric_peer(fabric, r, port) < fabric->routers)
				list[count++] = (struct angara_failure){ r, port };
	}
	return count;
}

/* Makes the tree avoid what inband_failures() lists. */
static int inband_avoid(struct inband *b)
{
	struct fabric *fabric = &b->tree.fabric;
	struct angara_failure *list = need_memory((size_t)fabric->routers * (fabric->ports + 1),
						  sizeof(*list));
	uint32_t count = inband_failures(b, list);
	int ret = 0;

	if (count) {
		fabric->around = fabric->graph;
		if (!fabric->around)
			ret = angara_fabric_open(fabric->name, &fabric->around, NULL, 0);
		if (!ret)
			ret = angara_fabric_avoid(fabric->around, list, count, NULL);
	}
	free(list);
	return ret ? fail("fabric 0x%llx: the links that are down cannot be avoided: %s",
			  (unsigned long long)fabric->id, strerror(-ret)) : DONE;
}

static int inband_set(struct inband *b, const struct plan *plan)
{
	struct angara_tree_failure at = { .size = sizeof(at) };
	int ret = angara_manage_tree_set(b->manager, b->map, plan->rows, &at);
	char rest[80] = "nothing is changed";

	if (!ret)
		return DONE;
	if (at.left)
		snprintf(rest, sizeof(rest), "%u of %u routers may keep their rows",
			 at.left, plan->count);
	return inband_fail(b, &at, ret, rest);
}

/* Chooses the partition of this user if none is given. */
static int inband_partition(struct plan *plan)
{
	uint32_t uid = geteuid();

	if (plan->pkey)
		return DONE;
	if (uid > ANGARA_PKEY_UID_MAX)
		return misuse("user %u has no partition: give pkey P", uid);
	plan->pkey = ANGARA_PKEY_UID(uid);
	return DONE;
}

/**
 * inband_create() - create a tree by management packets
 * @plan: arguments
 *
 * Return: exit status
 */
int inband_create(struct plan *plan)
{
	struct inband b;
	int status = inband_partition(plan);

	if (!status)
		status = inband_start(&b, &plan->given, plan->about.tree, false);
	if (status)
		return status;
	status = plan_start(plan, &b.tree);
	if (!status)
		status = inband_check_nodes(&b, plan);
	if (!status)
		status = inband_avoid(&b);
	if (!status)
		status = plan_build(plan, &b.tree);
	if (!status)
		status = inband_set(&b, plan);
	if (!status)
		plan_report(plan, &b.tree);
	plan_free(plan);
	inband_stop(&b);
	return status;
}

/* Warns of routers whose rows are not known. */
static void inband_tell_rest(const struct inband *b)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < b->map->nrouters; i++)
		known += b->map->routers[i].state == ANGARA_FOUND_OK;
	if (known < b->map->size)
		warn("%u of %u routers do not answer, or need another key: their rows are not known",
		     b->map->size - known, b->map->size);
}

static int inband_not_set(const struct inband *b)
{
	return fail("tree %u is not set at the routers of fabric 0x%llx that answer",
		    b->tree.id, (unsigned long long)b->tree.fabric.id);
}

static int inband_print(struct inband *b)
{
	return b->tree.set ? tree_print(&b->tree) : inband_not_set(b);
}

static int inband_rule(struct inband *b)
{
	const struct tree *tree = &b->tree;
	struct angara_tree_row *rows;
	uint32_t router;
	int rule;

	if (!tree->set)
		return inband_not_set(b);
	rows = need_memory(tree->fabric.routers, sizeof(*rows));
	for (uint32_t i = 0; i < tree->fabric.routers; i++)
		rows[i] = tree->at[i].row;
	rule = tree->fabric.graph ?
	       angara_fabric_tree_check(tree->fabric.graph, rows, &router) :
	       angara_tree_check(&tree->fabric.torus, rows, &router);
	free(rows);
	return tree_report_check(tree, (uint8_t)rule, router);
}

static int inband_clear(struct inband *b)
{
	struct angara_tree_failure at = { .size = sizeof(at) };
	char rest[64];
	int ret;

	if (!b->tree.set && !b->unread)
		return inband_not_set(b);
	ret = angara_manage_tree_clear(b->manager, b->map, b->tree.id, &at);
	if (ret >= 0)
		return tree_report_cleared(&b->tree);
	snprintf(rest, sizeof(rest), "%u of %u rows are not cleared", at.left,
		 b->tree.set + b->unread);
	return inband_fail(b, &at, ret, rest);
}

/* Reads "TREE [dev DEV] [key FILE]" and works on that tree.  @partly: see inband_start() */
static int inband_on_tree(struct args *args, bool partly, int (*work)(struct inband *b))
{
	struct manager_args given = { 0 };
	char *word = args_next(args);
	struct inband b;
	uint8_t id;
	int status;

	if (!word)
		return misuse("which tree? give a number from 0 to %d", ANGARA_MAX_TREES - 1);
	status = parse_tree(word, &id);
	if (!status)
		status = manager_args(args, &given);
	if (!status)
		status = inband_start(&b, &given, id, partly);
	if (status)
		return status;
	status = work(&b);
	inband_tell_rest(&b);
	inband_stop(&b);
	return status;
}

int inband_show(struct args *args)
{
	return inband_on_tree(args, false, inband_print);
}

int inband_check(struct args *args)
{
	return inband_on_tree(args, false, inband_rule);
}

int inband_delete(struct args *args)
{
	return inband_on_tree(args, true, inband_clear);
}
