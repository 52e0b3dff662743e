// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the collective routing table.
 *
 * All rows of a node are programmed through this driver, so it remembers them:
 * a check of a whole tree need not ask every adapter.  Whether a tree is up,
 * and who has joined, only the device knows.  Who may do what is in row.c.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "ang_dev.h"

/* What the device has said of a row does not hold any more. */
static void row_forget(struct ang_dev *adev, u32 tree)
{
	lockdep_assert_held(&adev->tree_lock);

	adev->seen[tree].known = false;
	ang_dev_counters_forget(adev, ANGARA_CNT_TREE, tree);
}

static int row_set(struct ang_dev *adev, const struct angara_tree_row *row,
		   u64 job, u64 *serial)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_TREE_SET,
		.tree = row->tree,
	};
	struct angara_adm_cpl cpl;
	int ret;

	lockdep_assert_held(&adev->tree_lock);

	ang_row_to_hw(row, &cmd.set.row);
	cmd.set.job = cpu_to_le64(job);
	ret = ang_adm_exec(adev, &cmd, &cpl);
	/* The device may set it yet: it counts as set until it is cleared. */
	if (!ret || ret == -EINTR) {
		*serial = ang_row_set(&adev->rows, row, job);
		row_forget(adev, row->tree);
	}
	return ret == -EEXIST ? -EBUSY : ret;
}

/**
 * ang_dev_tree_set() - program a row
 * @adev: device, entered
 * @cred: on whose behalf
 * @row: the row; not checked yet
 * @job: key of the job that may use the tree, 0 for any of the partition
 * @serial: out, or NULL: for ang_dev_tree_disown(); not 0 also if the caller is
 *	killed before it is known whether the row is set
 *
 * Return: 0 or an error as struct angara_tree_set tells.
 * Context: process; may sleep.
 */
int ang_dev_tree_set(struct ang_dev *adev, const struct ang_cred *cred,
		     const struct angara_tree_row *row, u64 job, u64 *serial)
{
	u64 number;
	int ret;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	ret = ang_row_may_set(&adev->rows, &adev->topo, cred, row);
	if (!ret)
		ret = row_set(adev, row, job, serial ? serial : &number);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

static void row_ask(struct ang_dev *adev, u32 tree)
{
	struct ang_row_seen *seen = &adev->seen[tree];
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_TREE_GET,
		.tree = tree,
	};

	lockdep_assert_held(&adev->tree_lock);

	seen->downs = atomic_read(&adev->downs); /* before the device looks */
	seen->ret = ang_adm_exec(adev, &cmd, &seen->cpl);
	seen->read_at = jiffies;
	/* That a caller was killed tells nothing of the row. */
	seen->known = !ang_adm_undecided(seen->ret);
}

static bool row_is_kept(const struct ang_dev *adev, const struct ang_row_seen *seen)
{
	return seen->known && seen->downs == atomic_read(&adev->downs) &&
	       ang_is_kept(adev, seen->read_at);
}

/* @fresh: as the device says now, not as it said a while ago. */
static int row_get(struct ang_dev *adev, const struct ang_cred *cred,
		   struct angara_tree_get *get, bool fresh)
{
	u32 tree = get->row.tree;
	struct ang_row_seen *seen;
	int ret;

	lockdep_assert_held(&adev->tree_lock);

	ret = ang_row_may_get(&adev->rows, cred, tree);
	if (ret)
		return ret;
	seen = &adev->seen[tree];
	if (adev->rows.entry[tree].set) {
		if (fresh || !row_is_kept(adev, seen))
			row_ask(adev, tree);
		ret = seen->ret;
	}
	if (!ret)
		ang_row_get(&adev->rows, get, &seen->cpl);
	return ret;
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

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	ret = row_get(adev, cred, get, true);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/**
 * ang_dev_tree_look() - read a row, without asking the device each time
 * @adev: device, entered
 * @cred: on whose behalf: an administrator has the device asked
 * @get: as of ang_dev_tree_get(); members may have joined or left since
 *
 * Return: as ang_dev_tree_get().
 * Context: process; may sleep.
 */
int ang_dev_tree_look(struct ang_dev *adev, const struct ang_cred *cred,
		      struct angara_tree_get *get)
{
	int ret;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	ret = row_get(adev, cred, get, cred->admin);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

static int row_clear(struct ang_dev *adev, u32 tree)
{
	lockdep_assert_held(&adev->tree_lock);

	adev->rows.entry[tree].set = false;
	row_forget(adev, tree);
	return ang_adm_simple(adev, ANGARA_ADM_TREE_CLEAR, 0, tree);
}

/**
 * ang_dev_tree_clear() - clear a row
 * @adev: device, entered
 * @cred: on whose behalf
 * @tree: TreeId
 * @job: key of the caller's job, 0 for none
 *
 * Return: 0 or an error as struct angara_tree_clear tells.
 * Context: process; may sleep.
 */
int ang_dev_tree_clear(struct ang_dev *adev, const struct ang_cred *cred,
		       u32 tree, u64 job)
{
	int ret;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	ret = ang_row_may_clear(&adev->rows, cred, tree, job);
	if (!ret)
		ret = row_clear(adev, tree);
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
	int ret = -ENOENT;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	if (ang_row_is(&adev->rows, tree, serial))
		ret = row_clear(adev, tree);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/**
 * ang_dev_trees_forget() - forget the rows of a device that is stopped
 * @adev: device
 *
 * What an administrator has delegated stays so.
 * Context: process; may sleep.
 */
void ang_dev_trees_forget(struct ang_dev *adev)
{
	u32 tree;

	mutex_lock(&adev->tree_lock);
	for (tree = 0; tree < adev->rows.num; tree++)
		adev->rows.entry[tree].set = false;
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
	if (tree >= adev->rows.num)
		return -EINVAL;
	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	adev->rows.entry[tree].delegated = pkey;
	mutex_unlock(&adev->tree_lock);
	ang_nl_changed();
	return 0;
}

static int row_gather(struct ang_dev *adev, const struct ang_cred *cred,
		      u32 tree, struct angara_tree_row *row)
{
	int ret;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	ret = ang_row_gather(&adev->rows, cred, tree, row);
	mutex_unlock(&adev->tree_lock);
	return ret;
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
		if (!READ_ONCE(adev->gone) && adev->fabric_id == of->fabric_id &&
		    adev->nodes == of->nodes)
			ret = row_gather(adev, cred, tree, &rows[adev->node]);
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
		       struct angara_tree_verify *check)
{
	struct angara_tree_row *rows;
	u32 node;
	int ret;

	if (check->tree >= adev->rows.num)
		return -EINVAL;
	rows = kvcalloc(adev->nodes, sizeof(*rows), GFP_KERNEL_ACCOUNT);
	if (!rows)
		return -ENOMEM;
	for (node = 0; node < adev->nodes; node++)
		rows[node].to_root = ANGARA_PORT_NONE;
	ret = rows_gather(adev, cred, check->tree, rows);
	if (!ret)
		check->rule = ang_tree_check(&adev->topo, rows, &check->node,
					     &check->nodes);
	kvfree(rows);
	return ret;
}
