// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows of trees, and membership.  The rules of the driver, in driver/row.c, are
 * applied to the tables in the segment.  The rows of a switch are programmed by
 * commands of its keeper, the node that represents the switch; the keeper's
 * lock protects them.
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

static u32 keeper_of(const struct emb_run *r, u32 router)
{
	return ang_topo_keeper(&r->fab->topo, router);
}

/*
 * Makes the record of a row agree with the model, under the lock of the router's
 * keeper: in-band management also sets and clears rows.  @cpl: out: the model's
 * answer.
 *
 * Return: 0 the row is set; -ENOENT the row is not set; other errors: not known.
 */
static int row_refresh(struct emb_run *r, u32 router, u32 tree,
		       struct angara_adm_cpl *cpl)
{
	struct emb_node *n = emb_node(r->fab, router);
	const u64 serial = n->rows.entry[tree].serial;
	struct angara_adm_cmd adm = {
		.opcode = ANGARA_ADM_TREE_GET,
		.tree = (u8)tree,
		.set.router = cpu_to_le32(router),
	};
	int ret = emb_exec(r, keeper_of(r, router), &adm, cpl);

	ret = ang_row_refresh(&n->rows, &r->fab->topo, router, tree, ret, cpl);
	if (!ang_row_is(&n->rows, tree, serial))
		n->owner[tree] = 0;
	return ret;
}

/*
 * Clears the recorded row; under the lock of the router's keeper.  If the row's life is
 * recorded, a row that was set since then is not cleared.
 */
static int row_clear(struct emb_run *r, u32 router, u32 tree)
{
	struct emb_node *n = emb_node(r->fab, router);
	struct angara_adm_cmd adm = {
		.opcode = ANGARA_ADM_TREE_CLEAR,
		.tree = (u8)tree,
		.set.router = cpu_to_le32(router),
		.set.row.life = n->rows.entry[tree].life,
	};
	struct angara_adm_cpl cpl;

	emb_boards_settle(r, router, tree);
	n->rows.entry[tree].set = false;
	n->owner[tree] = 0;
	return emb_exec(r, keeper_of(r, router), &adm, &cpl);
}

/*
 * Clears the record of a switch that was reset.  The switch has lost its rows.
 * But a row may have been set after the reset by a command whose answer was
 * never read, so this also clears all rows.
 */
static int switch_forget(struct emb_run *r, u32 router)
{
	struct emb_node *n = emb_node(r->fab, router);
	int ret = 0;
	u32 tree;

	/*
	 * Clear the mark first: from here on, another repair may reset the
	 * switch and mark it again.
	 */
	ang_store_release(&n->torn, 0);
	for (tree = 0; !ret && tree < n->rows.num; tree++) {
		if (!n->rows.entry[tree].set)
			continue;
		n->rows.entry[tree].life = 0;
		ret = row_clear(r, router, tree);
		if (ret == -ENOENT)
			ret = 0;
	}
	if (ret)
		ang_store_release(&n->torn, 1);
	return ret;
}

static void router_unlock(struct emb_run *r, u32 router)
{
	emb_node_unlock(r, keeper_of(r, router));
}

/* Locks the rows of a router.  Return: as emb_node_lock(). */
static int router_lock(struct emb_run *r, u32 router)
{
	int ret = emb_node_lock(r, keeper_of(r, router));

	if (ret || router < r->fab->head->nodes ||
	    !ang_load_acquire(&emb_node(r->fab, router)->torn))
		return ret;
	ret = switch_forget(r, router);
	if (ret)
		router_unlock(r, router);
	return ret;
}

/*
 * Return: entry of the row in the list of rows that a device owns; NULL: the
 * device does not own the row.
 */
static struct emb_owned *owned_find(const struct emb_rows *rows, u32 router,
				    u32 tree)
{
	u32 i;

	for (i = 0; i < rows->n; i++)
		if (rows->row[i].router == router && rows->row[i].tree == tree)
			return &rows->row[i];
	return NULL;
}

/* Makes room for one more row. */
static int owned_room(struct emb_rows *rows)
{
	u32 room = rows->room ? 2 * rows->room : 16;
	struct emb_owned *more;

	if (rows->n < rows->room)
		return 0;
	more = realloc(rows->row, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	rows->row = more;
	rows->room = room;
	return 0;
}

static void owned_add(struct emb_rows *rows, u32 router, u32 tree, u64 serial)
{
	struct emb_owned *owned = owned_find(rows, router, tree);

	if (!owned)
		owned = &rows->row[rows->n++];
	*owned = (struct emb_owned){
		.router = router, .tree = tree, .serial = serial,
	};
}

static int row_set(struct emb_dev *d, const struct angara_tree_set *cmd)
{
	struct emb_node *n = emb_node(d->fab, cmd->router);
	const struct ang_cred cred = emb_cred(d);
	const u32 tree = cmd->row.tree;
	struct angara_adm_cmd adm = {
		.opcode = ANGARA_ADM_TREE_SET,
		.tree = cmd->row.tree,
	};
	struct angara_adm_cpl cpl;
	u64 serial, job = 0;
	int ret;

	ret = ang_row_may_set(&n->rows, &d->run.view.topo, cmd->router, &cred,
			      &cmd->row);
	if (!ret && n->rows.entry[tree].set)
		ret = row_refresh(&d->run, cmd->router, tree, &cpl) ?: -EBUSY;
	if (ret && ret != -ENOENT)
		return ret;
	ang_row_to_hw(&cmd->row, &adm.set.row);
	adm.set.router = cpu_to_le32(cmd->router);
	if (cmd->flags & ANGARA_TREE_JOB)
		job = d->dom->job;
	adm.set.job = cpu_to_le64(job);
	ret = emb_exec(&d->run, d->node, &adm, &cpl);
	if (ret)
		return ret == -EEXIST ? -EBUSY : ret;
	serial = ang_row_set(&n->rows, &cmd->row, job, cpl.row.life,
			     cmd->flags & ANGARA_TREE_OWNED);
	n->owner[tree] = 0;
	if (cmd->flags & ANGARA_TREE_OWNED) {
		owned_add(&d->owned, cmd->router, tree, serial);
		n->owner[tree] = d->fab->slot + 1;
	}
	return 0;
}

static int row_set_locked(struct emb_dev *d, const struct angara_tree_set *cmd,
			  u32 *owner)
{
	int ret = router_lock(&d->run, cmd->router);

	if (ret)
		return ret;
	ret = row_set(d, cmd);
	if (ret == -EBUSY)
		*owner = emb_node(d->fab, cmd->router)->owner[cmd->row.tree];
	router_unlock(&d->run, cmd->router);
	return ret;
}

/**
 * emb_tree_set() - set a row of a tree
 * @d: handle
 * @given: row
 * @owner: out, after -EBUSY: slot of the process whose row has the TreeId, plus 1; 0: none
 *
 * Return: 0; -errno.
 */
int emb_tree_set(struct emb_dev *d, const struct angara_tree_set *given, u32 *owner)
{
	struct angara_tree_set copy = *given, *cmd = &copy;
	int ret;

	*owner = 0;
	if (cmd->flags & ~(ANGARA_TREE_OWNED | ANGARA_TREE_JOB |
			   ANGARA_TREE_ROUTER) ||
	    cmd->row.reserved || cmd->reserved)
		return -EOPNOTSUPP;
	if (cmd->flags & ANGARA_TREE_JOB && !d->dom)
		return -ENXIO;
	if (cmd->flags & ANGARA_TREE_JOB && !d->dom->job)
		return -EINVAL;
	ret = ang_row_router(&d->fab->topo, d->node, cmd->flags, &cmd->router);
	if (!ret)
		ret = owned_room(&d->owned);
	if (!ret)
		ret = row_set_locked(d, cmd, owner);
	return ret;
}

static int row_get(struct emb_dev *d, struct angara_tree_get *cmd)
{
	struct emb_node *n = emb_node(d->fab, cmd->router);
	const struct ang_cred cred = emb_cred(d);
	struct angara_adm_cpl cpl;
	int ret;

	if (cmd->row.tree >= n->rows.num)
		return -EINVAL;
	ret = row_refresh(&d->run, cmd->router, cmd->row.tree, &cpl);
	if (!ret || ret == -ENOENT)
		ret = ang_row_may_get(&n->rows, &cred, cmd->row.tree);
	if (!ret)
		ang_row_get(&n->rows, cmd, &cpl);
	return ret;
}

int emb_tree_get(struct emb_dev *d, void *arg)
{
	struct angara_tree_get *cmd = arg;
	u32 named = cmd->router;
	int ret;

	if (cmd->flags & ~ANGARA_TREE_ROUTER || cmd->reserved)
		return -EOPNOTSUPP;
	ret = ang_row_router(&d->fab->topo, d->node, cmd->flags, &cmd->router);
	if (!ret)
		ret = router_lock(&d->run, cmd->router);
	if (ret)
		return ret;
	ret = row_get(d, cmd);
	router_unlock(&d->run, cmd->router);
	cmd->router = named;
	return ret;
}

/* Clears a row only if this device owns the row and was the last to set it. */
static int clear_owned(struct emb_dev *d, struct emb_run *r, u32 router, u32 tree)
{
	struct emb_owned *owned = owned_find(&d->owned, router, tree);
	u64 serial = owned ? owned->serial : 0;
	int ret;

	if (owned)
		*owned = d->owned.row[--d->owned.n];
	ret = router_lock(r, router);
	if (ret)
		return ret;
	ret = -ENOENT;
	if (serial && ang_row_is(&emb_node(d->fab, router)->rows, tree, serial))
		ret = row_clear(r, router, tree);
	router_unlock(r, router);
	return ret;
}

/* Clears a row that any process may own, after a check of the caller's rights. */
static int clear_any(struct emb_dev *d, u32 router, u32 tree)
{
	const struct ang_cred cred = emb_cred(d);
	struct angara_adm_cpl cpl;
	int ret = router_lock(&d->run, router);

	if (ret)
		return ret;
	ret = row_refresh(&d->run, router, tree, &cpl);
	if (!ret || ret == -ENOENT)
		ret = ang_row_may_clear(&emb_node(d->fab, router)->rows, &cred,
					tree, d->dom ? d->dom->job : 0);
	if (!ret)
		ret = row_clear(&d->run, router, tree);
	router_unlock(&d->run, router);
	return ret;
}

int emb_tree_clear(struct emb_dev *d, void *arg)
{
	struct angara_tree_clear *cmd = arg;
	int ret;

	if (cmd->flags & ~(ANGARA_TREE_CLEAR_OWNED | ANGARA_TREE_ROUTER))
		return -EOPNOTSUPP;
	ret = ang_row_router(&d->fab->topo, d->node, cmd->flags, &cmd->router);
	if (ret)
		return ret;
	if (cmd->tree >= d->fab->head->cfg.trees)
		return -EINVAL;
	return cmd->flags & ANGARA_TREE_CLEAR_OWNED ?
	       clear_owned(d, &d->run, cmd->router, cmd->tree) :
	       clear_any(d, cmd->router, cmd->tree);
}

/* Clears the rows that a device owns; its last handle is being closed. */
void emb_trees_disown(struct emb_dev *d)
{
	struct emb_run r;

	emb_run_init(&r, d->fab);
	while (d->owned.n) {
		const struct emb_owned *last = &d->owned.row[d->owned.n - 1];
		int ret = clear_owned(d, &r, last->router, last->tree);

		d->fab->unclean |= ret && ret != -ENOENT;
	}
}

/**
 * emb_rows_reap() - clear the rows that a process owned
 * @r: runs the model
 * @router: router with the rows
 * @owner: slot of the process, plus 1
 *
 * Return: 0; -errno.
 */
int emb_rows_reap(struct emb_run *r, u32 router, u32 owner)
{
	struct emb_node *n = emb_node(r->fab, router);
	int ret = router_lock(r, router);
	u32 tree;

	if (ret)
		return ret;
	for (tree = 0; !ret && tree < n->rows.num; tree++)
		if (n->owner[tree] == owner) {
			ret = row_clear(r, router, tree);
			/* In-band management has cleared or replaced it. */
			if (ret == -ENOENT)
				ret = 0;
		}
	router_unlock(r, router);
	return ret;
}

int emb_tree_delegate(struct emb_dev *d, void *arg)
{
	const struct angara_tree_delegate *cmd = arg;
	u32 i;
	int ret;

	if (cmd->flags)
		return -EOPNOTSUPP;
	if (cmd->tree >= d->fab->head->cfg.trees)
		return -EINVAL;
	ret = node_lock(d);
	if (ret)
		return ret;
	emb_node(d->fab, d->node)->rows.entry[cmd->tree].delegated = cmd->pkey;
	for (i = d->fab->head->nodes; i < d->fab->head->routers; i++)
		if (keeper_of(&d->run, i) == d->node)
			emb_node(d->fab, i)->rows.entry[cmd->tree].delegated =
				cmd->pkey;
	node_unlock(d);
	return 0;
}

static int rows_gather(struct emb_dev *d, u32 tree, struct angara_tree_row *rows)
{
	const struct ang_cred cred = emb_cred(d);
	int ret = 0;
	u32 i;

	for (i = 0; i < d->fab->head->routers; i++)
		rows[i].to_root = ANGARA_PORT_NONE;
	for (i = 0; !ret && i < d->fab->head->routers; i++) {
		const struct emb_node *n = emb_node(d->fab, i);
		u32 keeper = keeper_of(&d->run, i);

		ret = emb_lock(d->fab->fd, EMB_LOCK_NODE(keeper), d->fab->head);
		if (ret)
			break;
		/*
		 * Rows of a node that was reset, and of its switches, have no
		 * owner: do not list them.
		 */
		if (!ang_load_acquire(&n->torn) &&
		    !ang_load_acquire(&emb_node(d->fab, keeper)->torn))
			ret = ang_row_gather(&n->rows, &cred, tree, &rows[i]);
		emb_unlock(d->fab->fd, EMB_LOCK_NODE(keeper));
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
	rows = calloc(d->fab->head->routers, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	ret = rows_gather(d, cmd->tree, rows);
	if (!ret)
		cmd->rule = ang_tree_check(&d->fab->topo, rows, &cmd->node,
					   &cmd->nodes);
	free(rows);
	return ret;
}

/*
 * Is the row set?  If it is not recorded, a join asks the model: in-band management may
 * have set the row.  Return: 0; -ENOENT; -errno.
 */
static int row_known(struct emb_dev *d, u32 tree, u8 opcode)
{
	struct angara_adm_cpl cpl;

	if (emb_node(d->fab, d->node)->rows.entry[tree].set)
		return 0;
	if (opcode != ANGARA_ADM_JOIN)
		return -ENOENT;
	return row_refresh(&d->run, d->node, tree, &cpl);
}

static int row_membership(struct emb_dev *d, const struct angara_join *cmd,
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
	ret = row_known(d, cmd->tree, opcode);
	if (!ret) {
		adm.ctx = cpu_to_le16((u16)d->num);
		adm.tree = (u8)cmd->tree;
		ret = emb_exec(&d->run, d->node, &adm, &cpl);
		/* The row exists, so the context is not a member. */
		if (ret == -ENOENT)
			ret = absent;
	}
	node_unlock(d);
	return ret;
}

int emb_join(struct emb_dev *d, void *arg)
{
	const struct angara_join *cmd = arg;
	int ret = row_membership(d, arg, ANGARA_ADM_JOIN, -ENOENT);

	if (!ret)
		emb_board_join(d, cmd->tree);
	return ret == -EEXIST ? -EALREADY : ret;
}

int emb_leave(struct emb_dev *d, void *arg)
{
	const struct angara_join *cmd = arg;

	if (cmd->tree < ANGARA_MAX_TREES)
		emb_board_leave(d, cmd->tree);
	return row_membership(d, arg, ANGARA_ADM_LEAVE, -ENOTCONN);
}
