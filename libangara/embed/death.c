// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * When a process dies.
 *
 * Its lock on its slot is gone then.  Those who sleep look from time to time;
 * the first to see it takes the gate and gives back what the dead one had, as
 * the driver does when a file is closed: contexts, so that their trees go down
 * and peers learn which node it was; rows; the heap.  Unless it died in the
 * middle of something, see embed.h.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "embed.h"

/**
 * emb_break() - nobody can go on with this fabric
 * @fab: fabric; the gate is held
 */
void emb_break(struct emb_fab *fab)
{
	struct stat st;
	u32 node, num;

	ang_store_release(&fab->head->broken, 1);
	if (fab->path[0] && !fstat(fab->fd, &st) && st.st_nlink)
		unlink(fab->path);
	for (node = 0; node < fab->head->nodes; node++) {
		for (num = 0; num < fab->head->cfg.ctxs; num++) {
			struct emb_ctx *ctx = &emb_node(fab, node)->ctx[num];

			if (!READ_ONCE(ctx->owner))
				continue;
			ang_fetch_add(&ctx->wake, 1);
			emb_wake(ctx);
		}
	}
}

static bool died_inside(const struct emb_fab *fab, u32 slot)
{
	u32 node, num;

	if (READ_ONCE(emb_slot(fab, slot)->inside))
		return true;
	for (node = 0; node < fab->head->nodes; node++) {
		const struct emb_node *n = emb_node(fab, node);

		for (num = 0; num < fab->head->cfg.ctxs; num++)
			if (READ_ONCE(n->ctx[num].owner) == slot + 1 &&
			    (READ_ONCE(n->ctx[num].inside) ||
			     READ_ONCE(n->ctx[num].watch_inside)))
				return true;
	}
	return false;
}

static int give_back(struct emb_fab *fab, u32 slot)
{
	struct emb_run r;
	u32 node, num;
	int ret = 0;

	emb_run_init(&r, fab, &emb_slot(fab, fab->slot)->inside);
	for (node = 0; !ret && node < fab->head->nodes; node++) {
		struct emb_node *n = emb_node(fab, node);

		for (num = 0; !ret && num < fab->head->cfg.ctxs; num++)
			if (READ_ONCE(n->ctx[num].owner) == slot + 1)
				ret = emb_ctx_reap(&r, node, num);
		if (!ret)
			ret = emb_rows_reap(&r, node, slot + 1);
	}
	if (!ret)
		emb_heap_drop(fab, slot);
	return ret;
}

/**
 * emb_recover() - give back what a dead process had
 * @fab: fabric; the gate is held
 * @slot: its slot, locked by nobody, or by the caller as his own
 *
 * Return: 0; -ENODEV the fabric is broken; -errno.
 */
int emb_recover(struct emb_fab *fab, u32 slot)
{
	int ret;

	if (died_inside(fab, slot)) {
		emb_break(fab);
		return -ENODEV;
	}
	ret = give_back(fab, slot);
	if (ret)
		return ret;
	ang_fetch_add(&fab->head->here, (u32)-1);
	ang_store_release(&emb_slot(fab, slot)->used, 0);
	return 0;
}

static bool is_dead(const struct emb_fab *fab, u32 slot)
{
	return slot != fab->slot && ang_load_acquire(&emb_slot(fab, slot)->used) &&
	       !emb_locked(fab->fd, EMB_LOCK_SLOT(slot), 1);
}

/* Under the gate nobody comes or goes, so what is still so now is true. */
static void recover_all(struct emb_fab *fab)
{
	u32 slot;

	pthread_mutex_lock(&fab->mutex);
	if (!emb_try_lock(fab->fd, EMB_GATE)) {
		for (slot = 0; slot < fab->head->procs && !emb_broken(fab); slot++)
			if (is_dead(fab, slot))
				emb_recover(fab, slot);
		emb_unlock(fab->fd, EMB_GATE);
	}
	pthread_mutex_unlock(&fab->mutex);
}

/**
 * emb_look_after() - has anybody died?
 * @fab: fabric
 *
 * One looks for all, so it costs the same however many sleep.
 */
void emb_look_after(struct emb_fab *fab)
{
	struct emb_head *head = fab->head;
	u64 last = READ_ONCE(head->looked_ms);
	u64 now = emb_now_ms();
	u32 slot;

	if (now - last < EMB_LOOK_MS || emb_broken(fab) ||
	    ang_cmpxchg(&head->looked_ms, last, now) != last)
		return;
	for (slot = 0; slot < head->procs; slot++) {
		if (is_dead(fab, slot)) {
			recover_all(fab);
			return;
		}
	}
}
