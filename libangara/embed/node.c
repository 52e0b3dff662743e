// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The lock of a node, under which its rows, admin queue and contexts change.
 *
 * A process that dies with the lock may leave this state inconsistent.  So the
 * holder records the node in emb_slot.working, and a repair resets the node
 * (halt.c).  The next process that locks a node after a reset starts it again.
 */
#include "embed.h"

static void rows_forget(struct emb_node *n)
{
	u32 tree;

	for (tree = 0; tree < n->rows.num; tree++) {
		n->rows.entry[tree].set = false;
		n->owner[tree] = 0;
	}
}

/* Clears the rows of a node's switches, which were reset with the node. */
static void kept_forget(const struct emb_fab *fab, u32 node)
{
	u32 i;

	for (i = fab->head->nodes; i < fab->head->routers; i++) {
		if (ang_topo_keeper(&fab->topo, i) != node)
			continue;
		/*
		 * Clear the mark first: from here on, another repair may reset
		 * the router and mark it again.
		 */
		ang_store_release(&emb_node(fab, i)->torn, 0);
		rows_forget(emb_node(fab, i));
	}
}

/*
 * Starts a node after a reset. Delegations of trees are kept: they belong to
 * the fabric, not to the adapter.
 */
static int node_restart(struct emb_run *r, u32 node)
{
	struct emb_node *n = emb_node(r->fab, node);
	u32 num;
	int ret;

	rows_forget(n);
	kept_forget(r->fab, node);
	for (num = 0; num < r->fab->head->cfg.ctxs; num++) {
		WRITE_ONCE(n->ctx[num].domain, 0);
		WRITE_ONCE(n->ctx[num].owner, 0);
	}
	WRITE_ONCE(n->num_ctx, 0);
	n->adm_pi = 0;
	/*
	 * Clear the mark before the start: from here on, another repair may
	 * reset the node and mark it again.
	 */
	ang_store_release(&n->torn, 0);
	ret = emb_node_start(r, node);
	if (ret)
		ang_store_release(&n->torn, 1);
	return ret;
}

/**
 * emb_node_lock() - lock a node in order to change something
 * @r: runs the model
 * @node: node; the process has no other node locked
 *
 * Return: 0; -ENODEV the fabric is broken; -EIO the holder does not release the
 * lock, or the node does not start; -errno.
 */
int emb_node_lock(struct emb_run *r, u32 node)
{
	struct emb_slot *slot = emb_slot(r->fab, r->fab->slot);
	int ret = emb_lock(r->fab->fd, EMB_LOCK_NODE(node), r->fab->head);

	if (ret)
		return ret;
	ang_store_release(&slot->working, node + 1);
	if (ang_load_acquire(&emb_node(r->fab, node)->torn))
		ret = node_restart(r, node);
	if (ret)
		emb_node_unlock(r, node);
	return ret;
}

void emb_node_unlock(struct emb_run *r, u32 node)
{
	ang_store_release(&emb_slot(r->fab, r->fab->slot)->working, 0);
	emb_unlock(r->fab->fd, EMB_LOCK_NODE(node));
}
