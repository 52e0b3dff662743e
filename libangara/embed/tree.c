// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows of trees, and membership.  The rules are those of the driver, in
 * driver/row.c; here they meet the table in the segment.
 */
#include <stdlib.h>

#include "embed.h"

static int node_lock(struct emb_dev *d)
{
	return emb_node_lock(&d->run, d->node);
}

static void node_unlock(struct emb_dev *d)
{
	emb_node_unlock(&d->run, d->node);
}

static int row_set(struct emb_dev *d, const struct angara_tree_set *cmd)
{
	struct emb_node *n = emb_node(d->fab, d->node);
	const struct ang_cred cred = emb_cred(d);
	const u32 tree = cmd->row.tree;
	struct angara_adm_cmd adm = {
		.opcode = ANGARA_ADM_TREE_SET,
		.tree = cmd->row.tree,
	};
	struct angara_adm_cpl cpl;
	u64 serial, job = 0;
	int ret;

	ret = ang_row_may_set(&n->rows, &d->fab->topo, &cred, &cmd->row);
	if (ret)
		return ret;
	ang_row_to_hw(&cmd->row, &adm.set.row);
	if (cmd->flags & ANGARA_TREE_JOB)
		job = d->dom->job;
	adm.set.job = cpu_to_le64(job);
	ret = emb_exec(&d->run, d->node, &adm, &cpl);
	if (ret)
		return ret == -EEXIST ? -EBUSY : ret;
	serial = ang_row_set(&n->rows, &cmd->row, job);
	n->owner[tree] = 0;
	if (cmd->flags & ANGARA_TREE_OWNED) {
		d->owned[tree] = serial;
		n->owner[tree] = d->fab->slot + 1;
	}
	return 0;
}

int emb_tree_set(struct emb_dev *d, void *arg)
{
	const struct angara_tree_set *cmd = arg;
	int ret;

	if (cmd->flags & ~(ANGARA_TREE_OWNED | ANGARA_TREE_JOB) ||
	    cmd->row.reserved)
		return -EOPNOTSUPP;
	if (cmd->flags & ANGARA_TREE_JOB && !d->dom)
		return -ENXIO;
	if (cmd->flags & ANGARA_TREE_JOB && !d->dom->job)
		return -EINVAL;
	ret = node_lock(d);
	if (ret)
		return ret;
	ret = row_set(d, cmd);
	node_unlock(d);
	return ret;
}

static int row_get(struct emb_dev *d, struct angara_tree_get *cmd)
{
	struct emb_node *n = emb_node(d->fab, d->node);
	const struct ang_cred cred = emb_cred(d);
	struct angara_adm_cmd adm = {
		.opcode = ANGARA_ADM_TREE_GET,
		.tree = cmd->row.tree,
	};
	struct angara_adm_cpl cpl;
	int ret;

	ret = ang_row_may_get(&n->rows, &cred, cmd->row.tree);
	if (!ret && n->rows.entry[cmd->row.tree].set)
		ret = emb_exec(&d->run, d->node, &adm, &cpl);
	if (!ret)
		ang_row_get(&n->rows, cmd, &cpl);
	return ret;
}

int emb_tree_get(struct emb_dev *d, void *arg)
{
	struct angara_tree_get *cmd = arg;
	int ret;

	if (cmd->flags)
		return -EOPNOTSUPP;
	ret = node_lock(d);
	if (ret)
		return ret;
	ret = row_get(d, cmd);
	node_unlock(d);
	return ret;
}

static int row_clear(struct emb_run *r, u32 node, u32 tree)
{
	struct emb_node *n = emb_node(r->fab, node);

	n->rows.entry[tree].set = false;
	n->owner[tree] = 0;
	return emb_simple(r, node, ANGARA_ADM_TREE_CLEAR, 0, tree);
}

/* Only the row that this device has set last and owns. */
static int clear_owned(struct emb_dev *d, struct emb_run *r, u32 tree)
{
	u64 serial = d->owned[tree];
	int ret;

	d->owned[tree] = 0;
	ret = node_lock(d);
	if (ret)
		return ret;
	ret = -ENOENT;
	if (serial && ang_row_is(&emb_node(d->fab, d->node)->rows, tree, serial))
		ret = row_clear(r, d->node, tree);
	node_unlock(d);
	return ret;
}

int emb_tree_clear(struct emb_dev *d, void *arg)
{
	const struct angara_tree_clear *cmd = arg;
	const struct ang_cred cred = emb_cred(d);
	int ret;

	if (cmd->flags & ~ANGARA_TREE_CLEAR_OWNED || cmd->reserved)
		return -EOPNOTSUPP;
	if (cmd->flags & ANGARA_TREE_CLEAR_OWNED)
		return cmd->tree < d->fab->head->cfg.trees ?
		       clear_owned(d, &d->run, cmd->tree) : -EINVAL;
	ret = node_lock(d);
	if (ret)
		return ret;
	ret = ang_row_may_clear(&emb_node(d->fab, d->node)->rows, &cred,
				cmd->tree, d->dom ? d->dom->job : 0);
	if (!ret)
		ret = row_clear(&d->run, d->node, cmd->tree);
	node_unlock(d);
	return ret;
}

/* Clears the rows that go with a device; its last handle is being closed. */
void emb_trees_disown(struct emb_dev *d)
{
	struct emb_run r;
	u32 tree;

	emb_run_init(&r, d->fab);
	for (tree = 0; tree < d->fab->head->cfg.trees; tree++)
		if (d->owned[tree])
			clear_owned(d, &r, tree);
}

/**
 * emb_rows_reap() - clear the rows that went with a process
 * @r: runs the model
 * @node: node
 * @owner: slot of the process, plus 1
 *
 * Return: 0; -errno.
 */
int emb_rows_reap(struct emb_run *r, u32 node, u32 owner)
{
	struct emb_node *n = emb_node(r->fab, node);
	int ret = emb_node_lock(r, node);
	u32 tree;

	if (ret)
		return ret;
	for (tree = 0; !ret && tree < n->rows.num; tree++)
		if (n->owner[tree] == owner)
			ret = row_clear(r, node, tree);
	emb_node_unlock(r, node);
	return ret;
}

int emb_tree_delegate(struct emb_dev *d, void *arg)
{
	const struct angara_tree_delegate *cmd = arg;
	int ret;

	if (cmd->flags)
		return -EOPNOTSUPP;
	if (cmd->tree >= d->fab->head->cfg.trees)
		return -EINVAL;
	ret = node_lock(d);
	if (ret)
		return ret;
	emb_node(d->fab, d->node)->rows.entry[cmd->tree].delegated = cmd->pkey;
	node_unlock(d);
	return 0;
}

static int rows_gather(struct emb_dev *d, u32 tree, struct angara_tree_row *rows)
{
	const struct ang_cred cred = emb_cred(d);
	int ret = 0;
	u32 node;

	for (node = 0; !ret && node < d->fab->head->nodes; node++) {
		rows[node].to_root = ANGARA_PORT_NONE;
		ret = emb_lock(d->fab->fd, EMB_LOCK_NODE(node), d->fab->head);
		if (ret)
			break;
		/* One that was reset has none. */
		if (!ang_load_acquire(&emb_node(d->fab, node)->torn))
			ret = ang_row_gather(&emb_node(d->fab, node)->rows,
					     &cred, tree, &rows[node]);
		emb_unlock(d->fab->fd, EMB_LOCK_NODE(node));
	}
	return ret;
}

int emb_tree_check(struct emb_dev *d, void *arg)
{
	struct angara_tree_verify *cmd = arg;
	struct angara_tree_row *rows;
	int ret;

	if (cmd->flags)
		return -EOPNOTSUPP;
	if (cmd->tree >= d->fab->head->cfg.trees)
		return -EINVAL;
	rows = calloc(d->fab->head->nodes, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	ret = rows_gather(d, cmd->tree, rows);
	if (!ret)
		cmd->rule = ang_tree_check(&d->fab->topo, rows, &cmd->node,
					   &cmd->nodes);
	free(rows);
	return ret;
}

static int membership(struct emb_dev *d, const struct angara_join *cmd,
		      u8 opcode, int absent)
{
	struct angara_adm_cmd adm = { .opcode = opcode };
	struct angara_adm_cpl cpl;
	int ret;

	ret = ang_join_check(&emb_node(d->fab, d->node)->rows, cmd, opcode,
			     &adm.place);
	if (ret)
		return ret;
	ret = node_lock(d);
	if (ret)
		return ret;
	if (!emb_node(d->fab, d->node)->rows.entry[cmd->tree].set) {
		ret = -ENOENT;
	} else {
		adm.ctx = cpu_to_le16((u16)d->num);
		adm.tree = (u8)cmd->tree;
		ret = emb_exec(&d->run, d->node, &adm, &cpl);
		/* The adapter means the membership, as the row is there. */
		if (ret == -ENOENT)
			ret = absent;
	}
	node_unlock(d);
	return ret;
}

int emb_join(struct emb_dev *d, void *arg)
{
	int ret = membership(d, arg, ANGARA_ADM_JOIN, -ENOENT);

	return ret == -EEXIST ? -EALREADY : ret;
}

int emb_leave(struct emb_dev *d, void *arg)
{
	return membership(d, arg, ANGARA_ADM_LEAVE, -ENOTCONN);
}
