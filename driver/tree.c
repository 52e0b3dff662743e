// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the collective routing table.
 *
 * The driver programs the rows of a node, and of the switches that the node
 * keeps, and stores these rows: a check of a whole tree, or a list of rows, need
 * not query every adapter.  In-band management may program rows, too.  So
 * TREE_SET, TREE_GET and TREE_CLEAR compare the record with the device first, see
 * row_refresh().  The driver also does so when an event reports that a row of the
 * node was set or cleared; for rows of switches there are no events.  Only the
 * device knows whether a tree is up, and which contexts have joined.  row.c checks
 * the rights of callers, and the routers that they name.
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

/* Return: record of a router; NULL: a switch of which no row was used. */
static struct ang_router *router_find(struct ang_dev *adev, u32 router)
{
	lockdep_assert_held(&adev->tree_lock);

	return router == adev->node ? &adev->own :
				      xa_load(&adev->switches, router);
}

/* May the caller program rows of the tree, by its delegation? */
static bool may_try(const struct ang_dev *adev, const struct ang_cred *cred, u32 tree)
{
	return ang_cred_sees(cred, adev->own.rows.entry[tree].delegated);
}

/*
 * As router_find(), but creates a missing record.  A record takes kilobytes, so
 * only a caller that may program rows of the tree gets one.
 *
 * Return: the record; -EPERM; -ENOMEM.
 */
static struct ang_router *router_get(struct ang_dev *adev, u32 router,
				     const struct ang_cred *cred, u32 tree)
{
	struct ang_router *r;

	if (!may_try(adev, cred, tree))
		return ERR_PTR(-EPERM);
	r = router_find(adev, router);
	if (!r)
		r = switch_new(adev, router);
	return r ? r : ERR_PTR(-ENOMEM);
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
 * Makes the record of a row agree with the device.  @fresh: query the device, do
 * not use a cached answer.
 *
 * Return: 0 the row is set; -ENOENT it is not set; another error: not known.
 */
static int row_refresh(struct ang_dev *adev, struct ang_router *r, u32 tree, bool fresh)
{
	const struct ang_tree_entry *entry = &r->rows.entry[tree];
	const struct ang_tree_entry old = *entry;
	struct ang_row_seen *seen = &r->seen[tree];

	lockdep_assert_held(&adev->tree_lock);

	if (!fresh && row_is_kept(adev, seen))
		return seen->ret;
	row_ask(adev, r, tree);
	seen->ret = ang_row_refresh(&r->rows, &adev->graph->topo, r->router, tree,
				    seen->ret, &seen->cpl);
	if (entry->set != old.set || entry->serial != old.serial) {
		ang_dev_counters_forget(adev, r->router, ANGARA_CNT_TREE, tree);
		ang_nl_changed();
	}
	return seen->ret;
}

/*
 * Return: 0 the row is not set, as far as the driver knows; -EBUSY it is set;
 * another error: not known.  Call this before row_set(): if the caller of row_set()
 * is killed, the record is replaced although the device may have refused the row.
 */
static int row_is_free(struct ang_dev *adev, struct ang_router *r, u32 tree)
{
	int ret = -ENOENT;

	if (r->rows.entry[tree].set)
		ret = row_refresh(adev, r, tree, true);
	return !ret ? -EBUSY : ret == -ENOENT ? 0 : ret;
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
	 * until the device has been asked.
	 */
	if (!ret || ret == -EINTR) {
		number = ang_row_set(&r->rows, row, job, ret ? 0 : cpl.row.life,
				     serial != NULL);
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
	int ret;

	if (row->tree >= adev->own.rows.num)
		return -EINVAL;
	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	r = router_get(adev, router, cred, row->tree);
	ret = PTR_ERR_OR_ZERO(r);
	if (!ret)
		ret = ang_row_may_set(&r->rows, &adev->graph->topo, router, cred, row);
	if (!ret)
		ret = row_is_free(adev, r, row->tree);
	if (!ret)
		ret = row_set(adev, r, row, job, serial);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/* Reads a row.  @fresh: see row_refresh() */
static int row_get(struct ang_dev *adev, const struct ang_cred *cred,
		   struct angara_tree_get *get, struct ang_router *r, bool fresh)
{
	u32 tree = get->row.tree;
	int ret = row_refresh(adev, r, tree, fresh);

	if (!ret || ret == -ENOENT)
		ret = ang_row_may_get(&r->rows, cred, tree);
	if (!ret)
		ang_row_get(&r->rows, get, &r->seen[tree].cpl);
	return ret;
}

/*
 * Reads a row for a caller that reads many.  A cached answer will do, but an
 * administrator gets the present state of rows that are set.
 */
static int row_look(struct ang_dev *adev, const struct ang_cred *cred,
		    struct angara_tree_get *get, struct ang_router *r)
{
	u32 tree = get->row.tree;
	int ret = ang_row_may_get(&r->rows, cred, tree);

	lockdep_assert_held(&adev->tree_lock);

	if (ret)
		return ret;
	if (r->rows.entry[tree].set)
		return row_get(adev, cred, get, r, cred->admin);
	ang_row_get(&r->rows, get, NULL);
	return 0;
}

/*
 * Reads the present row.  For a caller that may not read the recorded row, the
 * device is not queried if its last answer is recent.
 */
static int row_get_now(struct ang_dev *adev, const struct ang_cred *cred,
		       struct angara_tree_get *get, struct ang_router *r)
{
	bool may = !ang_row_may_get(&r->rows, cred, get->row.tree);

	return row_get(adev, cred, get, r, cred->admin || may);
}

/*
 * Reads a row of a switch without a record: the delegation of the node's tree
 * applies.
 */
static int row_get_none(struct ang_dev *adev, const struct ang_cred *cred,
			struct angara_tree_get *get)
{
	u32 delegated = adev->own.rows.entry[get->row.tree].delegated;

	lockdep_assert_held(&adev->tree_lock);

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
	struct ang_router *r;
	int ret;

	if (get->row.tree >= adev->own.rows.num)
		return -EINVAL;
	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	r = router_find(adev, get->router);
	if (!r && may_try(adev, cred, get->row.tree))
		r = switch_new(adev, get->router);
	ret = r ? row_get_now(adev, cred, get, r) : row_get_none(adev, cred, get);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/**
 * ang_dev_tree_look() - read a row, from the cache if it is recent
 * @adev: device, after ang_dev_enter()
 * @cred: rights of the caller; for an administrator the device is queried if the
 *	row is set
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

	if (get->row.tree >= adev->own.rows.num)
		return -EINVAL;
	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	r = router_find(adev, get->router);
	ret = r ? row_look(adev, cred, get, r) : row_get_none(adev, cred, get);
	*owned = !ret && get->state != ANGARA_TREE_STATE_UNSET && r &&
		 r->rows.entry[get->row.tree].owned;
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/* Clears the recorded row, but not a row that has replaced it on the device. */
static int row_clear(struct ang_dev *adev, struct ang_router *r, u32 tree)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_TREE_CLEAR,
		.tree = tree,
		.set.router = cpu_to_le32(r->router),
		.set.row.life = r->rows.entry[tree].life,
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
	int ret;

	if (tree >= adev->own.rows.num)
		return -EINVAL;
	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	r = router_get(adev, router, cred, tree);
	ret = PTR_ERR_OR_ZERO(r);
	if (!ret)
		ret = row_refresh(adev, r, tree, true);
	if (!ret || ret == -ENOENT)
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
	int ret = 0;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	if (!adev->own.rows.entry[tree].set)
		ret = row_refresh(adev, &adev->own, tree, true);
	mutex_unlock(&adev->tree_lock);
	return ret;
}

/**
 * ang_dev_tree_event() - compare a record of this node with an event
 * @adev: device, after ang_dev_enter()
 * @tree: TreeId, of the device
 * @set: the row was set; else it was cleared
 *
 * The driver records its own commands before it reads their events, so only a
 * change by in-band management makes it query the device.
 * Context: process; may sleep.
 */
void ang_dev_tree_event(struct ang_dev *adev, u32 tree, bool set)
{
	mutex_lock(&adev->tree_lock);
	if (tree < adev->own.rows.num && adev->own.rows.entry[tree].set != set)
		row_refresh(adev, &adev->own, tree, true);
	mutex_unlock(&adev->tree_lock);
}

/**
 * ang_dev_trees_lost() - compare all records of this node with the device, after
 * events may have been lost
 * @adev: device, after ang_dev_enter()
 *
 * Context: process; may sleep.
 */
void ang_dev_trees_lost(struct ang_dev *adev)
{
	u32 tree;

	/* Release the lock after each command, so that other users get their turn. */
	for (tree = 0; tree < adev->own.rows.num; tree++) {
		mutex_lock(&adev->tree_lock);
		row_refresh(adev, &adev->own, tree, true);
		mutex_unlock(&adev->tree_lock);
	}
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
	if (r && ang_row_is(&r->rows, tree, serial)) {
		/* If the life is not known, row_clear() would clear any row. */
		ret = r->rows.entry[tree].life ? 0 : row_refresh(adev, r, tree, true);
		if (!ret)
			ret = ang_row_is(&r->rows, tree, serial) ?
			      row_clear(adev, r, tree) : -ENOENT;
	}
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
