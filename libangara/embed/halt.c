// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Repair of the model after a process died or was stopped while it ran the
 * model.
 *
 * The process that detects this takes the repair lock and writes emb_head.halt.
 * From then on no process enters the model, and processes in it leave within a
 * few steps and discard the state of their views.  When all have left, a node
 * that is still held was held by a dead process.  These nodes, and those for
 * which a dead process executed a command, are called torn: the model resets
 * them, makes all other state consistent, and lists every node that has work
 * (ang_recover.c).
 *
 * A torn node stays disabled until the next process locks it; that process
 * clears its rows and starts it (node.c).  emb_node.life distinguishes contexts
 * created before the reset from later ones.  A torn switch has lost its rows;
 * the next process that accesses them clears the record of them (tree.c).
 *
 * A process that is stopped in the model may continue at any time.  If it stays
 * there for EMB_STOP_MS (for EMB_LOCK_MS if it only seems stopped), the fabric
 * continues in another copy of the model, and nodes that it held are torn.  The
 * process is fenced: when it continues, it changes only the old copy, which no
 * other process uses until the last thread of the stopped process has left it.
 * Then the process enters the new copy and rings its doorbells again; its
 * contexts on nodes that were reset are gone.  A stopped process can still do
 * harm in two ways: it may hold the lock of a node, so others get an error
 * after EMB_LOCK_MS, and the rest of its step may copy payload to registered
 * memory, like late DMA of a card.
 *
 * If the repairing process dies, its lock is released but halt stays set; the
 * waiting processes start the repair again.  If it is stopped, they wait for
 * EMB_LOCK_MS; after that the fabric is broken.
 *
 * Memory order: a process increments emb_seat.inside, then reads halt; the
 * repairing process writes halt, then reads the counts of all seats.  Each has
 * a full barrier in between, so at least one of the two sees what the other has
 * written.
 */
#include <stdio.h>
#include <string.h>
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
 * emb_break() - mark a fabric as broken
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
 * Return: true: the caller may enter the model; false: the fabric is broken, or
 * this process has been fenced for EMB_LOCK_MS.
 */
bool emb_halt_wait(struct emb_fab *fab)
{
	u64 end = emb_now_ms() + EMB_LOCK_MS;
	u32 turn = 0;

	while (!emb_broken(fab)) {
		bool halted = emb_halted(fab);

		if (!halted && !READ_ONCE(emb_slot(fab, fab->slot)->fenced))
			return true;
		emb_nap(&turn);
		/*
		 * If the process that repairs has died, the repair lock is
		 * free.
		 */
		if (halted && !emb_repair(fab))
			continue;
		if (emb_now_ms() < end)
			continue;
		if (!halted)
			return false;
		/* The thread that repairs, of this or another process, may be stopped: give up. */
		emb_break(fab);
	}
	return false;
}

/* Return: number of threads of a process in the model. */
static u32 halt_inside(const struct emb_slot *slot)
{
	u32 sum = 0;
	u32 i;

	for (i = 0; i < EMB_SEATS; i++)
		sum += READ_ONCE(slot->seat[i].inside);
	return sum;
}

/* Return: number of times that threads of a process have left the model. */
static u32 turns_of(const struct emb_slot *slot)
{
	u32 sum = 0;
	u32 i;

	for (i = 0; i < EMB_SEATS; i++)
		sum += READ_ONCE(slot->seat[i].turns);
	return sum;
}

/**
 * emb_count_out() - count a thread that leaves the model; the last one removes
 * the fence of its process
 */
void emb_count_out(struct emb_slot *slot, struct emb_seat *seat)
{
	ang_fetch_add(&seat->inside, (u32)-1);
	if (READ_ONCE(slot->fenced) && !halt_inside(slot))
		WRITE_ONCE(slot->fenced, 0);
}

/*
 * Is a process fenced?  Not if the process has died, and a repair has handled its
 * death.
 */
static bool is_fenced(const struct emb_fab *fab, u32 slot)
{
	const struct emb_slot *s = emb_slot(fab, slot);

	return READ_ONCE(s->used) && READ_ONCE(s->fenced) &&
	       READ_ONCE(s->repaired) != READ_ONCE(s->life);
}

/** emb_has_fenced() - may fenced processes still write to memory that they used? */
bool emb_has_fenced(const struct emb_fab *fab)
{
	u32 s;

	for (s = 0; s < fab->head->procs; s++)
		if (is_fenced(fab, s))
			return true;
	return false;
}

/* Is the process of a slot stopped, by a signal or a debugger? */
static bool is_stopped(const struct emb_fab *fab, u32 slot)
{
	const struct emb_slot *s = emb_slot(fab, slot);
	char path[32], line[256] = "";
	const char *end;
	FILE *stat;

	if (s->pidns != fab->pidns)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/stat", s->pid);
	stat = fopen(path, "re");
	if (!stat)
		return false;
	if (!fgets(line, sizeof(line), stat))
		line[0] = 0;
	fclose(stat);
	/* The process name before the state may contain any character. */
	end = strrchr(line, ')');
	return end && (!strncmp(end, ") T", 3) || !strncmp(end, ") t", 3));
}

/**
 * emb_is_stuck() - has a process been in the model for too long?
 * @fab: fabric
 * @slot: slot of the process; call this at most every EMB_LOOK_MS
 */
bool emb_is_stuck(struct emb_fab *fab, u32 slot)
{
	struct emb_slot *s = emb_slot(fab, slot);
	u32 turns = turns_of(s);
	u32 looks;

	if (!ang_load_acquire(&s->used) || !halt_inside(s) ||
	    READ_ONCE(s->fenced) || turns != READ_ONCE(s->looked_turns)) {
		WRITE_ONCE(s->looked_turns, turns);
		WRITE_ONCE(s->looks, 0);
		return false;
	}
	looks = READ_ONCE(s->looks) + 1;
	WRITE_ONCE(s->looks, looks);
	return looks >= EMB_LOCK_MS / EMB_LOOK_MS ||
	       (looks >= EMB_STOP_MS / EMB_LOOK_MS && is_stopped(fab, slot));
}

/** emb_needs_repair() - did a process die while it changed the model? */
bool emb_needs_repair(const struct emb_fab *fab, u32 slot)
{
	const struct emb_slot *s = emb_slot(fab, slot);

	return READ_ONCE(s->repaired) != READ_ONCE(s->life) &&
	       (halt_inside(s) || READ_ONCE(s->working));
}

/*
 * Fences a process that does not leave the model, so that the others continue
 * without it.
 */
static void halt_fence(struct emb_fab *fab, struct emb_slot *slot)
{
	WRITE_ONCE(slot->copy, emb_copy(fab));
	ang_xchg(&slot->fenced, 1);
	/* The process may have left the model before it could see the fence. */
	if (!halt_inside(slot))
		WRITE_ONCE(slot->fenced, 0);
}

/*
 * Is a process still in the model, and not fenced?  @ms: time for which the
 * repair has waited for it.
 */
static bool is_in(struct emb_fab *fab, u32 s, u64 ms)
{
	struct emb_slot *slot = emb_slot(fab, s);

	if (!ang_load_acquire(&slot->used) || !halt_inside(slot) ||
	    READ_ONCE(slot->fenced) || emb_is_dead(fab, s))
		return false;
	if (READ_ONCE(slot->looks) >= EMB_STOP_MS / EMB_LOOK_MS)
		ms += EMB_STOP_MS;
	if (ms >= EMB_LOCK_MS || (ms >= EMB_STOP_MS && is_stopped(fab, s)))
		halt_fence(fab, slot);
	return true;
}

static void wait_all_out(struct emb_fab *fab)
{
	u64 begin = emb_now_ms();
	u32 turn = 0;
	u32 s = 0;

	while (s < fab->head->procs) {
		if (is_in(fab, s, emb_now_ms() - begin))
			emb_nap(&turn);
		else
			s++;
	}
}

/* Does a fenced process use this copy? */
static bool copy_has_fenced(const struct emb_fab *fab, u32 copy)
{
	u32 s;

	for (s = 0; s < fab->head->procs; s++)
		if (is_fenced(fab, s) && emb_slot(fab, s)->copy == copy)
			return true;
	return false;
}

/* Switches to another copy.  Return: 0; -ENOSPC all copies are in use. */
static int halt_move(struct emb_fab *fab)
{
	struct emb_head *head = fab->head;
	u32 from = emb_copy(fab);
	u32 to;

	for (to = 0; to < EMB_COPIES; to++)
		if (to != from && !copy_has_fenced(fab, to))
			break;
	if (to == EMB_COPIES ||
	    emb_reserve(fab->fd, head->copy_at + to * head->copy_span,
			head->copy_span))
		return -ENOSPC;
	ang_recover_fence(emb_model(fab, from));
	memcpy(emb_admin(fab, to, 0), emb_admin(fab, from, 0),
	       (u64)head->nodes * ANGARA_PAGE_SIZE);
	ang_recover_copy(emb_model(fab, to), emb_model(fab, from));
	ang_store_release(&head->copy, to);
	return 0;
}

/*
 * Marks the nodes for which dead or fenced processes executed a command: the state
 * of these nodes may be inconsistent.
 */
static void mark_working(struct emb_fab *fab, struct ang_fabric *model)
{
	u32 s;

	for (s = 0; s < fab->head->procs; s++) {
		const struct emb_slot *slot = emb_slot(fab, s);
		u32 working = READ_ONCE(slot->working);

		if (slot->used && working && emb_needs_repair(fab, s) &&
		    (slot->fenced || emb_is_dead(fab, s)))
			ang_recover_mark(model, working - 1);
	}
}

/*
 * Marks deaths as handled.  If another process takes the slot later, it has
 * another @life.
 */
static void forget_dead(struct emb_fab *fab)
{
	u32 s;

	for (s = 0; s < fab->head->procs; s++) {
		struct emb_slot *slot = emb_slot(fab, s);
		u32 life = ang_load_acquire(&slot->life);

		if (emb_is_dead(fab, s))
			WRITE_ONCE(slot->repaired, life);
	}
}

static void find_torn(struct emb_fab *fab, struct ang_fabric *model)
{
	u32 node;

	mark_working(fab, model);
	ang_recover_find(model);
	for (node = 0; node < fab->head->routers; node++) {
		struct emb_node *n = emb_node(fab, node);

		if (!ang_recover_torn(model, node))
			continue;
		WRITE_ONCE(n->life, n->life + 1);
		ang_store_release(&n->torn, 1);
		if (node < fab->head->nodes)
			memset(emb_admin(fab, emb_copy(fab), node), 0,
			       sizeof(struct emb_admin));
	}
	/*
	 * Do this last: if this repair is interrupted, the next one must find
	 * the dead processes again.
	 */
	forget_dead(fab);
}

static void halt_repair(struct emb_fab *fab)
{
	struct emb_left *left = emb_left(fab, emb_copy(fab));
	struct emb_run r;

	emb_run_init(&r, fab);
	find_torn(fab, r.view.fab);
	ang_recover(&r.view);
	left->left = r.view.runq;
	left->timers = r.view.timers;
	WRITE_ONCE(left->left_any, 1);
	WRITE_ONCE(left->timers_any, left->timers.head != ANG_NONE);
	WRITE_ONCE(left->lock, 0);
	emb_wake_all(&r);
}

static int halt_and_repair(struct emb_fab *fab)
{
	int ret = 0;

	WRITE_ONCE(fab->head->halt, fab->slot + 1);
	ang_mb();
	wait_all_out(fab);
	if (copy_has_fenced(fab, emb_copy(fab)))
		ret = halt_move(fab);
	if (!ret) {
		halt_repair(fab);
	} else {
		emb_break(fab);
		ret = -ENODEV;
	}
	ang_store_release(&fab->head->halt, 0);
	wake_sleepers(fab);
	return ret;
}

/**
 * emb_repair() - repair the model after a process died or was stopped in it
 * @fab: fabric; the caller is outside of the model
 *
 * Return: 0; -EAGAIN another thread or process is repairing; -ENODEV the fabric
 * is broken.
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

/** emb_look_due() - is a check for dead processes due at the time @now_ms? */
bool emb_look_due(const struct emb_fab *fab, u64 now_ms)
{
	return now_ms - READ_ONCE(fab->head->looked_ms) >= EMB_LOOK_MS;
}

/**
 * emb_look_take() - is a check for dead processes due, and does the caller have to
 * carry it out?
 * @fab: fabric
 *
 * One process checks for all, so the cost does not depend on the number of
 * sleepers.
 */
bool emb_look_take(struct emb_fab *fab)
{
	struct emb_head *head = fab->head;
	u64 last = READ_ONCE(head->looked_ms);
	u64 now = emb_now_ms();

	return emb_look_due(fab, now) && !emb_broken(fab) &&
	       ang_cmpxchg(&head->looked_ms, last, now) == last;
}

/** emb_slot_taken() - first slot from @slot on that a process has taken; emb_head.procs: none */
u32 emb_slot_taken(const struct emb_fab *fab, u32 slot)
{
	while (slot < fab->head->procs && !ang_load_acquire(&emb_slot(fab, slot)->used))
		slot++;
	return slot;
}

/**
 * emb_look_inside() - check for dead processes that block others in the model
 * @fab: fabric; the caller may hold any lock except those of a repair
 *
 * Repairs the model, but does not free the objects of a dead process.
 */
void emb_look_inside(struct emb_fab *fab)
{
	u32 slot;

	if (!emb_look_take(fab))
		return;
	for (slot = emb_slot_taken(fab, 0); slot < fab->head->procs;
	     slot = emb_slot_taken(fab, slot + 1)) {
		if ((emb_needs_repair(fab, slot) && emb_is_dead(fab, slot)) ||
		    emb_is_stuck(fab, slot)) {
			emb_repair(fab);
			return;
		}
	}
}
