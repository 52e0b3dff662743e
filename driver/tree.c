// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the collective routing table.
 *
 * All rows of a node are programmed through this driver, so it remembers them:
 * a check of a whole tree need not ask every adapter.  Whether a tree is up,
 * and who has joined, only the device knows.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "ang_dev.h"

/* May the caller program a row that is, or is to be, of partition @pkey? */
static bool may_program(const struct ang_cred *cred,
			const struct ang_tree_entry *entry, u32 pkey)
{
	return cred->admin || (ang_cred_owns(cred, entry->delegated) &&
			       ang_cred_owns(cred, pkey));
}

static void row_to_hw(const struct angara_tree_row *row,
		      struct angara_hw_row *hw)
{
	*hw = (struct angara_hw_row){
		.tree = row->tree,
		.is_root = row->is_root,
		.to_root = row->to_root,
		.dir_sum = row->dir_sum,
		.dirs = cpu_to_le16(row->dirs),
		.pe = cpu_to_le16(row->pe),
		.pkey = cpu_to_le32(row->pkey),
		.epoch = cpu_to_le16(row->epoch),
	};
}

static int entry_set(struct ang_dev *adev, struct ang_tree_entry *entry,
		     const struct angara_tree_row *row)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_TREE_SET,
		.tree = row->tree,
	};
	struct angara_adm_cpl cpl;
	int ret;

	lockdep_assert_held(&adev->tree_lock);

	row_to_hw(row, &cmd.row);
	ret = ang_adm_exec(adev, &cmd, &cpl);
	if (ret)
		return ret == -EEXIST ? -EBUSY : ret;
	entry->row = *row;
	entry->serial = ++adev->tree_serial;
	entry->set = true;
	return 0;
}

/**
 * ang_dev_tree_set() - program a row
 * @adev: device, entered
 * @cred: on whose behalf
 * @row: the row; not checked yet
 * @serial: out, or NULL: for ang_dev_tree_disown()
 *
 * Return: 0 or an error as struct angara_tree_set tells.
 * Context: process; may sleep.
 */
int ang_dev_tree_set(struct ang_dev *adev, const struct ang_cred *cred,
		     const struct angara_tree_row *row, u64 *serial)
{
	struct ang_tree_entry *entry;
	int ret;

	if (row->tree >= ANGARA_MAX_TREES)
		return -EINVAL;
	entry = &adev->trees[row->tree];
	mutex_lock(&adev->tree_lock);
	if (!may_program(cred, entry, row->pkey))
		ret = -EPERM;
	else if (ang_tree_row_check(&adev->topo, row))
		ret = -EINVAL;
	else if (entry->set)
		ret = -EBUSY;
	else
		ret = entry_set(adev, entry, row);
	if (!ret && serial)
		*serial = entry->serial;
	mutex_unlock(&adev->tree_lock);
	return ret;
}

static int entry_get(struct ang_dev *adev, const struct ang_cred *cred,
		     const struct ang_tree_entry *entry,
		     struct angara_tree_get *get)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_TREE_GET,
		.tree = get->row.tree,
	};
	struct angara_adm_cpl cpl;
	int ret;

	lockdep_assert_held(&adev->tree_lock);

	if (!entry->set && !entry->delegated)
		return -ENOENT;
	if (!ang_cred_sees(cred, entry->set ? entry->row.pkey :
					      entry->delegated))
		return -EPERM;
	get->delegated = entry->delegated;
	get->members = 0;
	get->down_node = 0;
	if (!entry->set) {
		get->state = ANGARA_TREE_STATE_UNSET;
		get->row = (struct angara_tree_row){ .tree = get->row.tree };
		return 0;
	}
	ret = ang_adm_exec(adev, &cmd, &cpl);
	if (ret)
		return ret;
	get->row = entry->row;
	get->state = cpl.state;
	get->members = cpl.members;
	if (cpl.state == ANGARA_TREE_STATE_DOWN)
		get->down_node = le32_to_cpu(cpl.value);
	return 0;
}

/**
 * ang_dev_tree_get() - read a row
 * @adev: device, entered
 * @cred: on whose behalf
 * @get: in: row.tree; out: row, state, members, down_node, delegated
 *
 * Return: 0 or an error as struct angara_tree_get tells.
 * Context: process; may sleep.
 */
int ang_dev_tree_get(struct ang_dev *adev, const struct ang_cred *cred,
		     struct angara_tree_get *get)
{
	int ret;

	if (get->row.tree >= ANGARA_MAX_TREES)
		return -EINVAL;
	mutex_lock(&adev->tree_lock);
	ret = entry_get(adev, cred, &adev->trees[get->row.tree], get);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

static int entry_clear(struct ang_dev *adev, struct ang_tree_entry *entry,
		       u32 tree)
{
	lockdep_assert_held(&adev->tree_lock);

	entry->set = false;
	return ang_adm_simple(adev, ANGARA_ADM_TREE_CLEAR, 0, tree);
}

/**
 * ang_dev_tree_clear() - clear a row
 * @adev: device, entered
 * @cred: on whose behalf
 * @tree: TreeId
 *
 * Return: 0 or an error as struct angara_tree_clear tells.
 * Context: process; may sleep.
 */
int ang_dev_tree_clear(struct ang_dev *adev, const struct ang_cred *cred,
		       u32 tree)
{
	struct ang_tree_entry *entry;
	int ret;

	if (tree >= ANGARA_MAX_TREES)
		return -EINVAL;
	entry = &adev->trees[tree];
	mutex_lock(&adev->tree_lock);
	if (!may_program(cred, entry,
			 entry->set ? entry->row.pkey : entry->delegated))
		ret = -EPERM;
	else if (!entry->set)
		ret = -ENOENT;
	else
		ret = entry_clear(adev, entry, tree);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/**
 * ang_dev_tree_disown() - clear a row on behalf of its owner
 * @adev: device, entered
 * @tree: TreeId, in range
 * @serial: what ang_dev_tree_set() gave; a row programmed since then stays
 *
 * Return: 0; -ENOENT the row is not there, or another one; -EIO
 * Context: process; may sleep.
 */
int ang_dev_tree_disown(struct ang_dev *adev, u32 tree, u64 serial)
{
	struct ang_tree_entry *entry = &adev->trees[tree];
	int ret = -ENOENT;

	mutex_lock(&adev->tree_lock);
	if (entry->set && entry->serial == serial)
		ret = entry_clear(adev, entry, tree);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/**
 * ang_dev_trees_forget() - forget the rows of a device that goes away
 * @adev: device
 *
 * Context: process; may sleep.
 */
void ang_dev_trees_forget(struct ang_dev *adev)
{
	mutex_lock(&adev->tree_lock);
	memset(adev->trees, 0, sizeof(adev->trees));
	mutex_unlock(&adev->tree_lock);
}

/**
 * ang_dev_tree_delegate() - let a partition program a row
 * @adev: device, entered
 * @cred: on whose behalf
 * @tree: TreeId
 * @pkey: partition, 0 for none
 *
 * Return: 0; -EPERM the caller is no administrator; -EINVAL no such tree.
 * Context: process; may sleep.
 */
int ang_dev_tree_delegate(struct ang_dev *adev, const struct ang_cred *cred,
			  u32 tree, u32 pkey)
{
	if (!cred->admin)
		return -EPERM;
	if (tree >= ANGARA_MAX_TREES)
		return -EINVAL;
	mutex_lock(&adev->tree_lock);
	adev->trees[tree].delegated = pkey;
	mutex_unlock(&adev->tree_lock);
	ang_nl_changed();
	return 0;
}

/* Is there a row? Then copy it. */
static bool row_copy(struct ang_dev *adev, u32 tree,
		     struct angara_tree_row *row)
{
	bool set;

	mutex_lock(&adev->tree_lock);
	set = adev->trees[tree].set;
	if (set)
		*row = adev->trees[tree].row;
	mutex_unlock(&adev->tree_lock);
	return set;
}

/*
 * Gather the rows of a tree from all devices of a fabric.  One that is not
 * on this machine, or goes away meanwhile, has no row.
 */
static int rows_gather(const struct ang_dev *of, const struct ang_cred *cred,
		       u32 tree, struct angara_tree_row *rows)
{
	struct ang_dev *adev;
	int ret = 0;
	u32 id;

	for (id = 0; !ret && (adev = ang_dev_next(&id)); id++) {
		struct angara_tree_row row;

		if (!READ_ONCE(adev->gone) && adev->fabric_id == of->fabric_id &&
		    adev->topo.nodes == of->topo.nodes &&
		    row_copy(adev, tree, &row)) {
			if (ang_cred_sees(cred, row.pkey))
				rows[adev->node] = row;
			else
				ret = -EPERM;
		}
		ang_dev_release(adev);
		cond_resched();
	}
	return ret;
}

/**
 * ang_dev_tree_check() - check all rows of a tree together
 * @adev: a device of the fabric, referenced
 * @cred: on whose behalf
 * @check: in: tree; out: rule, node, nodes
 *
 * Return: 0, also for a tree that breaks a rule; -EINVAL no such tree; -EPERM
 * a row is of another's partition; -ENOMEM.
 * Context: process; may sleep.
 */
int ang_dev_tree_check(struct ang_dev *adev, const struct ang_cred *cred,
		       struct angara_tree_check *check)
{
	struct angara_tree_row *rows;
	u32 node;
	int ret;

	if (check->tree >= ANGARA_MAX_TREES)
		return -EINVAL;
	rows = kvcalloc(adev->topo.nodes, sizeof(*rows), GFP_KERNEL_ACCOUNT);
	if (!rows)
		return -ENOMEM;
	for (node = 0; node < adev->topo.nodes; node++)
		rows[node].to_root = ANGARA_DIR_NONE;
	ret = rows_gather(adev, cred, check->tree, rows);
	if (!ret)
		check->rule = ang_tree_check(&adev->topo, rows, &check->node,
					     &check->nodes);
	kvfree(rows);
	return ret;
}
