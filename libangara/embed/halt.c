// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Repair of the model after a process died in the middle of it.
 *
 * Whoever notices takes the repair lock and writes emb_head.halt.  From then on
 * no process enters the model, and those that are in it leave it within a few
 * steps; what they had on their views they forget.  With all others outside,
 * any node that is held was held by a dead process.  These nodes, and those
 * that a dead process carried a command out for, are torn: the model resets
 * them, puts all else in order, and names every node that has work
 * (ang_recover.c).
 *
 * A torn node stays disabled until the next process locks it; that one clears
 * its rows and starts it (node.c).  Its contexts are told apart from those that
 * come later by emb_node.life.
 *
 * The repairing process may die as well: its lock is gone then, halt is not,
 * and those who wait outside begin anew.  If it is stopped, they wait for
 * EMB_LOCK_MS; after that the fabric is broken.
 *
 * Memory order: a process counts emb_slot.inside up, then looks at halt; the
 * repairing process writes halt, then looks at inside.  Full barriers on both
 * sides let one of them see the other.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "embed.h"

static void wake_sleepers(struct emb_fab *fab)
{
	u32 node, num;

	for (node = 0; node < fab->head->nodes; node++) {
		struct emb_node *n = emb_node(fab, node);

		for (num = 0; num < fab->head->cfg.ctxs; num++) {
			if (!READ_ONCE(n->ctx[num].asleep))
				continue;
			ang_fetch_add(&n->ctx[num].wake, 1);
			emb_wake(&n->ctx[num]);
		}
	}
}

/**
 * emb_break() - nobody can go on with this fabric
 * @fab: fabric
 */
void emb_break(struct emb_fab *fab)
{
	struct stat st;

	ang_store_release(&fab->head->broken, 1);
	if (fab->path[0] && !fstat(fab->fd, &st) && st.st_nlink)
		unlink(fab->path);
	wake_sleepers(fab);
}

bool emb_halted(const struct emb_fab *fab)
{
	return READ_ONCE(fab->head->halt);
}

/**
 * emb_halt_wait() - wait until a repair is over
 * @fab: fabric; the caller is outside of the model
 *
 * Return: false if the fabric is broken.
 */
bool emb_halt_wait(struct emb_fab *fab)
{
	u64 end = emb_now_ms() + EMB_LOCK_MS;
	u32 turn = 0;

	while (emb_halted(fab) && !emb_broken(fab)) {
		emb_nap(&turn);
		/* If it has died, its lock is free. */
		if (!emb_repair(fab))
			continue;
		if (emb_now_ms() >= end)
			emb_break(fab);
	}
	return !emb_broken(fab);
}

/** emb_needs_repair() - did a process that is dead die in the middle of something? */
bool emb_needs_repair(const struct emb_fab *fab, u32 slot)
{
	return READ_ONCE(emb_slot(fab, slot)->inside) ||
	       READ_ONCE(emb_slot(fab, slot)->working);
}

static bool all_out(const struct emb_fab *fab)
{
	u32 s;

	for (s = 0; s < fab->head->procs; s++) {
		const struct emb_slot *slot = emb_slot(fab, s);

		if (ang_load_acquire(&slot->used) && READ_ONCE(slot->inside) &&
		    !emb_is_dead(fab, s))
			return false;
	}
	return true;
}

static bool wait_all_out(const struct emb_fab *fab)
{
	u64 end = emb_now_ms() + EMB_LOCK_MS;
	u32 turn = 0;

	while (!all_out(fab)) {
		if (emb_now_ms() >= end)
			return false;
		emb_nap(&turn);
	}
	return true;
}

/* Marks last, so that a repair that ends in here finds it all again. */
static void find_torn(struct emb_fab *fab, struct ang_fabric *model)
{
	u32 s, node;

	for (s = 0; s < fab->head->procs; s++) {
		const struct emb_slot *slot = emb_slot(fab, s);

		if (slot->used && slot->working && emb_is_dead(fab, s))
			ang_recover_mark(model, slot->working - 1);
	}
	ang_recover_find(model);
	for (node = 0; node < fab->head->nodes; node++) {
		struct emb_node *n = emb_node(fab, node);

		if (!ang_recover_torn(model, node))
			continue;
		WRITE_ONCE(n->life, n->life + 1);
		ang_store_release(&n->torn, 1);
	}
	for (s = 0; s < fab->head->procs; s++) {
		struct emb_slot *slot = emb_slot(fab, s);

		if (!slot->used || !emb_is_dead(fab, s))
			continue;
		WRITE_ONCE(slot->inside, 0);
		WRITE_ONCE(slot->working, 0);
	}
}

static void repair(struct emb_fab *fab)
{
	struct emb_head *head = fab->head;
	struct emb_run r;

	emb_run_init(&r, fab);
	find_torn(fab, r.view.fab);
	ang_recover(&r.view);
	head->left = r.view.runq;
	head->timers = r.view.timers;
	WRITE_ONCE(head->left_any, 1);
	WRITE_ONCE(head->timers_any, head->timers.head != ANG_NONE);
	WRITE_ONCE(head->left_lock, 0);
	emb_wake_all(&r);
}

static int halt_and_repair(struct emb_fab *fab)
{
	int ret = 0;

	WRITE_ONCE(fab->head->halt, fab->slot + 1);
	ang_mb();
	if (wait_all_out(fab)) {
		repair(fab);
	} else {
		emb_break(fab);
		ret = -ENODEV;
	}
	ang_store_release(&fab->head->halt, 0);
	wake_sleepers(fab);
	return ret;
}

/**
 * emb_repair() - put the model in order, after a death in the middle of it
 * @fab: fabric; the caller is outside of the model
 *
 * Return: 0; -EAGAIN another thread or process does so; -ENODEV the fabric is
 * broken.
 */
int emb_repair(struct emb_fab *fab)
{
	int ret = -EAGAIN;

	if (emb_broken(fab))
		return -ENODEV;
	if (pthread_mutex_trylock(&fab->repair))
		return -EAGAIN;
	if (!emb_try_lock(fab->fd, EMB_REPAIR)) {
		ret = halt_and_repair(fab);
		emb_unlock(fab->fd, EMB_REPAIR);
	}
	pthread_mutex_unlock(&fab->repair);
	return ret;
}
