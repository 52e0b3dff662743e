// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recovery after the death of a process.
 *
 * When a process dies, the kernel releases the lock on its slot.  Sleeping
 * processes check for that from time to time.  The first process that detects a
 * death takes the gate and frees what the dead process owned, as the driver
 * does when a file is closed: its rows, its heap and its contexts.  Trees that
 * such a context had joined go down, and their other members learn the number of
 * the context's node.  If the process died while it changed the model, the
 * model is repaired first, see halt.c.
 */
#include "embed.h"

/**
 * emb_give_back() - free the objects that a dead process has left
 * @fab: fabric; the gate is held
 * @slot: its slot, which needs no repair any more
 *
 * Return: 0; -EIO the objects cannot be freed now; -errno.
 */
int emb_give_back(struct emb_fab *fab, u32 slot)
{
	struct emb_run r;
	u32 node, num;
	int ret = 0;

	emb_run_init(&r, fab);
	for (node = 0; !ret && node < fab->head->nodes; node++) {
		const struct emb_node *n = emb_node(fab, node);

		for (num = 0; !ret && num < fab->head->cfg.ctxs; num++)
			if (READ_ONCE(n->ctx[num].owner) == slot + 1)
				ret = emb_ctx_reap(&r, node, num, slot + 1);
		for (num = 0; !ret && num < fab->head->cfg.ctxs; num++)
			if (READ_ONCE(n->ctx[num].domain) == slot + 1)
				ret = emb_domain_reap(&r, node, num, slot + 1);
	}
	for (node = 0; !ret && node < fab->head->routers; node++)
		ret = emb_rows_reap(&r, node, slot + 1);
	/* A stopped process may still write completions to the memory. */
	if (!ret && emb_has_fenced(fab))
		ret = -EIO;
	if (!ret)
		emb_heap_drop(fab, slot);
	return ret;
}

/**
 * emb_repair_after() - repair what a dead process was changing
 * @fab: fabric; the gate is held
 * @slot: its slot
 *
 * Return: 0; -EIO; -ENODEV the fabric is broken.
 */
int emb_repair_after(struct emb_fab *fab, u32 slot)
{
	u64 end = emb_now_ms() + EMB_LOCK_MS;
	u32 turn = 0;

	while (emb_needs_repair(fab, slot)) {
		int ret = emb_repair(fab);

		if (ret == -ENODEV)
			return ret;
		if (!ret)
			continue;
		if (emb_now_ms() >= end)
			return -EIO;
		emb_nap(&turn);
	}
	return 0;
}

/**
 * emb_recover() - free the objects of a dead process
 * @fab: fabric; the gate is held
 * @slot: slot of that process; it is not locked
 *
 * Return: 0; -ENODEV the fabric is broken; -errno.
 */
int emb_recover(struct emb_fab *fab, u32 slot)
{
	int ret;

	ret = emb_repair_after(fab, slot);
	if (!ret)
		ret = emb_give_back(fab, slot);
	if (ret)
		return ret;
	ang_fetch_add(&fab->head->here, (u32)-1);
	ang_store_release(&emb_slot(fab, slot)->used, 0);
	return 0;
}

/**
 * emb_recover_all() - free the objects of dead processes
 * @fab: fabric; the gate is held, so no process joins or leaves
 *
 * Objects that cannot be freed now are left for the next check.
 */
void emb_recover_all(struct emb_fab *fab)
{
	u32 slot;

	for (slot = 0; slot < fab->head->procs && !emb_broken(fab); slot++)
		if (emb_is_dead(fab, slot))
			emb_recover(fab, slot);
}

/**
 * emb_recover_dead() - free the objects of dead processes, unless another
 * process is doing it
 * @fab: fabric; the caller holds its mutex, and no other lock
 */
void emb_recover_dead(struct emb_fab *fab)
{
	if (emb_try_lock(fab->fd, EMB_GATE))
		return;
	emb_recover_all(fab);
	emb_unlock(fab->fd, EMB_GATE);
}

/**
 * emb_look_after() - check for dead processes
 * @fab: fabric; the caller holds no lock
 */
void emb_look_after(struct emb_fab *fab)
{
	u32 slot;

	if (!emb_look_take(fab))
		return;
	for (slot = emb_slot_taken(fab, 0); slot < fab->head->procs;
	     slot = emb_slot_taken(fab, slot + 1)) {
		bool dead = emb_is_dead(fab, slot);

		/*
		 * Repair before taking the gate: its holder may be waiting for
		 * the repair.
		 */
		if (dead ? emb_needs_repair(fab, slot) : emb_is_stuck(fab, slot))
			emb_repair(fab);
		if (dead) {
			pthread_mutex_lock(&fab->mutex);
			emb_recover_dead(fab);
			pthread_mutex_unlock(&fab->mutex);
			return;
		}
	}
}
