// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the collective routing table.
 *
 * The driver programs all rows of a node, and of the switches that the node
 * keeps, and stores these rows: a check of a whole tree need not query every
 * adapter.  Only the device knows whether a tree is up, and which contexts have
 * joined.  row.c checks the rights of callers, and the routers that they name.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "ang_dev.h"

/*
 * Allocates the record of a switch; the delegations of the node apply to the
 * switch, too.
 */
static struct ang_router *switch_new(struct ang_dev *adev, u32 router)
{
	struct ang_router *r = kvzalloc(sizeof(*r), GFP_KERNEL);
	u32 tree;

	if (!r)
		return NULL;
	r->router = router;
	r->rows.num = adev->own.rows.num;
	for (tree = 0; tree < r->rows.num; tree++)
		r->rows.entry[tree].delegated =
			adev->own.rows.entry[tree].delegated;
	if (xa_is_err(xa_store(&adev->switches, router, r, GFP_KERNEL))) {
		kvfree(r);
		return NULL;
	}
	return r;
}

/* Return: record of a router; NULL: a switch that never had a row. */
static struct ang_router *router_find(struct ang_dev *adev, u32 router)
{
	lockdep_assert_held(&adev->tree_lock);

	return router == adev->node ? &adev->own :
				      xa_load(&adev->switches, router);
}

/* As router_find(), but creates a missing record.  Return: NULL: no memory. */
static struct ang_router *router_get(struct ang_dev *adev, u32 router)
{
	struct ang_router *r = router_find(adev, router);

	return r ? r : switch_new(adev, router);
}

/* Marks the device's last answer about a row as out of date. */
static void row_forget(struct ang_dev *adev, struct ang_router *r, u32 tree)
{
	lockdep_assert_held(&adev->tree_lock);

	r->seen[tree].known = false;
	ang_dev_counters_forget(adev, r->router, ANGARA_CNT_TREE, tree);
	/*
	 * For the node's own rows the device reports an event; for a switch's
	 * rows it does not.
	 */
	if (r != &adev->own)
		ang_nl_changed();
}

static int row_set(struct ang_dev *adev, struct ang_router *r,
		   const struct angara_tree_row *row, u64 job, u64 *serial)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_TREE_SET,
		.tree = row->tree,
	};
	struct angara_adm_cpl cpl;
	u64 number;
	int ret;

	lockdep_assert_held(&adev->tree_lock);

	ang_row_to_hw(row, &cmd.set.row);
	cmd.set.router = cpu_to_le32(r->router);
	cmd.set.job = cpu_to_le64(job);
	ret = ang_adm_exec(adev, &cmd, &cpl);
	/*
	 * After -EINTR the device may still set the row: treat the row as set
	 * until it is cleared.
	 */
	if (!ret || ret == -EINTR) {
		number = ang_row_set(&r->rows, row, job, serial != NULL);
		if (serial)
			*serial = number;
		row_forget(adev, r, row->tree);
	}
	return ret == -EEXIST ? -EBUSY : ret;
}

/**
 * ang_dev_tree_set() - program a row
 * @adev: device, after ang_dev_enter()
 * @cred: rights of the caller
 * @router: this node, or a switch that it keeps
 * @row: the row; not checked yet
 * @job: key of the job that may use the tree, 0 for any job of the partition
 * @serial: out, or NULL if no file owns the row: number for
 *	ang_dev_tree_disown(); also set if the caller is killed before the device
 *	has answered
 *
 * Return: 0 or an error listed at struct angara_tree_set.
 * Context: process; may sleep.
 */
int ang_dev_tree_set(struct ang_dev *adev, const struct ang_cred *cred,
		     u32 router, const struct angara_tree_row *row, u64 job,
		     u64 *serial)
{
	struct ang_router *r;
	int ret = -ENOMEM;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	r = router_get(adev, router);
	if (r)
		ret = ang_row_may_set(&r->rows, &adev->graph->topo, router, cred, row);
	if (!ret)
		ret = row_set(adev, r, row, job, serial);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

static void row_ask(struct ang_dev *adev, struct ang_router *r, u32 tree)
{
	struct ang_row_seen *seen = &r->seen[tree];
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_TREE_GET,
		.tree = tree,
		.set.router = cpu_to_le32(r->router),
	};

	lockdep_assert_held(&adev->tree_lock);

	seen->downs = atomic_read(&adev->downs); /* before the device checks the row */
	seen->ret = ang_adm_exec(adev, &cmd, &seen->cpl);
	seen->read_at = jiffies;
	/* Without an answer, the state of the row is unknown. */
	seen->known = !ang_adm_undecided(seen->ret);
}

static bool row_is_kept(const struct ang_dev *adev, const struct ang_row_seen *seen)
{
	return seen->known && seen->downs == atomic_read(&adev->downs) &&
	       ang_is_kept(adev, seen->read_at);
}

/*
 * Reads a row of a switch whose rows were never programmed: the delegation of
 * the node's tree applies.
 */
static int row_get_none(struct ang_dev *adev, const struct ang_cred *cred,
			struct angara_tree_get *get)
{
	u32 delegated;

	lockdep_assert_held(&adev->tree_lock);

	if (get->row.tree >= adev->own.rows.num)
		return -EINVAL;
	delegated = adev->own.rows.entry[get->row.tree].delegated;
	if (!delegated)
		return -ENOENT;
	if (!ang_cred_sees(cred, delegated))
		return -EPERM;
	get->row = (struct angara_tree_row){ .tree = get->row.tree };
	get->state = ANGARA_TREE_STATE_UNSET;
	get->members = 0;
	get->down_node = 0;
	get->delegated = delegated;
	return 0;
}

/* Reads a row.  @fresh: query the device, do not use a cached answer. */
static int row_get(struct ang_dev *adev, const struct ang_cred *cred,
		   struct angara_tree_get *get, bool fresh)
{
	struct ang_router *r = router_find(adev, get->router);
	u32 tree = get->row.tree;
	struct ang_row_seen *seen;
	int ret;

	lockdep_assert_held(&adev->tree_lock);

	/* Any user can read rows, so a read must not allocate a record. */
	if (!r)
		return row_get_none(adev, cred, get);
	ret = ang_row_may_get(&r->rows, cred, tree);
	if (ret)
		return ret;
	seen = &r->seen[tree];
	if (r->rows.entry[tree].set) {
		if (fresh || !row_is_kept(adev, seen))
			row_ask(adev, r, tree);
		ret = seen->ret;
	}
	if (!ret)
		ang_row_get(&r->rows, get, &seen->cpl);
	return ret;
}

/**
 * ang_dev_tree_get() - read a row
 * @adev: device, after ang_dev_enter()
 * @cred: rights of the caller
 * @get: in: row.tree, and router: this node, or a switch that it keeps; out: row,
 *	state, members, down_node, delegated
 *
 * Return: 0 or an error listed at struct angara_tree_get.
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
 * ang_dev_tree_look() - read a row, from the cache if it is recent
 * @adev: device, after ang_dev_enter()
 * @cred: rights of the caller; for an administrator the device is queried
 * @get: as for ang_dev_tree_get(); members may have joined or left meanwhile
 * @owned: out: a file owns the row
 *
 * Return: as ang_dev_tree_get().
 * Context: process; may sleep.
 */
int ang_dev_tree_look(struct ang_dev *adev, const struct ang_cred *cred,
		      struct angara_tree_get *get, bool *owned)
{
	struct ang_router *r;
	int ret;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	ret = row_get(adev, cred, get, cred->admin);
	r = router_find(adev, get->router);
	*owned = !ret && get->state != ANGARA_TREE_STATE_UNSET && r &&
		 r->rows.entry[get->row.tree].owned;
	mutex_unlock(&adev->tree_lock);
	return ret;
}

static int row_clear(struct ang_dev *adev, struct ang_router *r, u32 tree)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_TREE_CLEAR,
		.tree = tree,
		.set.router = cpu_to_le32(r->router),
	};
	struct angara_adm_cpl cpl;
	int ret;

	lockdep_assert_held(&adev->tree_lock);

	ret = ang_adm_exec(adev, &cmd, &cpl);
	/* If the caller was killed, the device may not have got the command. */
	if (ret != -EINTR)
		r->rows.entry[tree].set = false;
	row_forget(adev, r, tree);
	return ret;
}

/**
 * ang_dev_tree_clear() - clear a row
 * @adev: device, after ang_dev_enter()
 * @cred: rights of the caller
 * @router: this node, or a switch that it keeps
 * @tree: TreeId
 * @job: key of the caller's job, 0 for none
 *
 * Return: 0 or an error listed at struct angara_tree_clear.
 * Context: process; may sleep.
 */
int ang_dev_tree_clear(struct ang_dev *adev, const struct ang_cred *cred,
		       u32 router, u32 tree, u64 job)
{
	struct ang_router *r;
	int ret = -ENOMEM;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	r = router_get(adev, router);
	if (r)
		ret = ang_row_may_clear(&r->rows, cred, tree, job);
	if (!ret)
		ret = row_clear(adev, r, tree);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/**
 * ang_dev_tree_learn() - is a row of this node set, also by in-band management?
 * @adev: device, after ang_dev_enter()
 * @tree: TreeId, in range
 *
 * Return: 0 if it is set; -ENOENT it is not; -EINTR; -EIO
 * Context: process; may sleep.
 */
int ang_dev_tree_learn(struct ang_dev *adev, u32 tree)
{
	struct ang_row_seen *seen = &adev->own.seen[tree];
	int ret = 0;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	if (!adev->own.rows.entry[tree].set) {
		row_ask(adev, &adev->own, tree);
		ret = seen->ret;
		if (!ret)
			ret = ang_row_learn(&adev->own.rows, &adev->graph->topo,
					    adev->node, tree, &seen->cpl);
		if (!ret)
			row_forget(adev, &adev->own, tree);
	}
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/**
 * ang_dev_tree_disown() - clear a row on behalf of its owner
 * @adev: device, after ang_dev_enter()
 * @router: router that has the row
 * @tree: TreeId, in range
 * @serial: from ang_dev_tree_set(); if the row was programmed again since then,
 *	the new row stays
 *
 * Return: 0; -ENOENT the row is not set, or was replaced; -EINTR the caller is
 * killed, and the row may still be set; -EIO
 * Context: process; may sleep.
 */
int ang_dev_tree_disown(struct ang_dev *adev, u32 router, u32 tree, u64 serial)
{
	struct ang_router *r;
	int ret = -ENOENT;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	r = router_find(adev, router);
	if (r && ang_row_is(&r->rows, tree, serial))
		ret = row_clear(adev, r, tree);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

static void rows_forget(struct ang_router *r)
{
	u32 tree;

	for (tree = 0; tree < r->rows.num; tree++)
		r->rows.entry[tree].set = false;
}

/**
 * ang_dev_trees_forget() - drop the rows of a device that is stopped
 * @adev: device
 *
 * Delegations stay.
 * Context: process; may sleep.
 */
void ang_dev_trees_forget(struct ang_dev *adev)
{
	struct ang_router *r;
	unsigned long i;

	mutex_lock(&adev->tree_lock);
	rows_forget(&adev->own);
	xa_for_each(&adev->switches, i, r)
		rows_forget(r);
	mutex_unlock(&adev->tree_lock);
}

/**
 * ang_dev_trees_free() - free the records of rows
 * @adev: device without users
 */
void ang_dev_trees_free(struct ang_dev *adev)
{
	struct ang_router *r;
	unsigned long i;

	xa_for_each(&adev->switches, i, r)
		kvfree(r);
	xa_destroy(&adev->switches);
}

/**
 * ang_dev_tree_delegate() - let a partition program the rows of a tree
 * @adev: device, after ang_dev_enter()
 * @cred: rights of the caller
 * @tree: TreeId
 * @pkey: partition, 0 for none
 *
 * Return: 0; -EPERM the caller is not an administrator; -EINVAL no such tree.
 * Context: process; may sleep.
 */
int ang_dev_tree_delegate(struct ang_dev *adev, const struct ang_cred *cred,
			  u32 tree, u32 pkey)
{
	struct ang_router *r;
	unsigned long i;

	if (!cred->admin)
		return -EPERM;
	if (tree >= adev->own.rows.num)
		return -EINVAL;
	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	adev->own.rows.entry[tree].delegated = pkey;
	xa_for_each(&adev->switches, i, r)
		r->rows.entry[tree].delegated = pkey;
	mutex_unlock(&adev->tree_lock);
	ang_nl_changed();
	return 0;
}

/* Copies a device's rows of a tree.  @routers: number of entries of @rows */
static int rows_copy(struct ang_dev *adev, const struct ang_cred *cred, u32 tree,
		     struct angara_tree_row *rows, u32 routers)
{
	struct ang_router *r;
	unsigned long i;
	int ret;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	ret = ang_row_gather(&adev->own.rows, cred, tree, &rows[adev->node]);
	xa_for_each(&adev->switches, i, r)
		if (!ret && i < routers)
			ret = ang_row_gather(&r->rows, cred, tree, &rows[i]);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/*
 * Gather the rows of a tree from all devices of a fabric.  A device that is not
 * on this machine, or is removed meanwhile, counts as having no row.
 */
static int rows_gather(const struct ang_dev *of, const struct ang_cred *cred,
		       u32 tree, struct angara_tree_row *rows)
{
	struct ang_dev *adev;
	int ret = 0;
	u32 id;

	for (id = 0; !ret && (adev = ang_dev_next(&id)); id++) {
		if (!READ_ONCE(adev->gone) && adev->fabric_id == of->fabric_id &&
		    adev->nodes == of->nodes && tree < adev->own.rows.num)
			ret = rows_copy(adev, cred, tree, rows,
					of->graph->topo.routers);
		ang_dev_release(adev);
		cond_resched();
	}
	return ret;
}

/**
 * ang_dev_tree_check() - check all rows of a tree together
 * @adev: a device of the fabric, referenced
 * @cred: rights of the caller
 * @check: in: tree; out: rule, node, nodes
 *
 * Return: 0, also for a tree that breaks a rule; -EINVAL no such tree; -EPERM
 * a row is of a partition that is not the caller's; -ENOMEM.
 * Context: process; may sleep.
 */
int ang_dev_tree_check(struct ang_dev *adev, const struct ang_cred *cred,
		       struct angara_tree_verify *check)
{
	const struct ang_topo *topo = &adev->graph->topo;
	struct angara_tree_row *rows;
	u32 i;
	int ret;

	if (check->tree >= adev->own.rows.num)
		return -EINVAL;
	rows = kvcalloc(topo->routers, sizeof(*rows), GFP_KERNEL_ACCOUNT);
	if (!rows)
		return -ENOMEM;
	for (i = 0; i < topo->routers; i++)
		rows[i].to_root = ANGARA_PORT_NONE;
	ret = rows_gather(adev, cred, check->tree, rows);
	if (!ret)
		check->rule = ang_tree_check(topo, rows, &check->node, &check->nodes);
	kvfree(rows);
	return ret;
}
