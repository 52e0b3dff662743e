// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Running the model, and passing work on to other processes.
 *
 * While a thread does not run the model, its view contains no nodes.  Nodes
 * with remaining work are on the list in emb_left, which outlives the process.
 * A thread that puts nodes there wakes a sleeping thread to take them;
 * otherwise they would stay there until some process waits.
 */
#include <sched.h>

#include "embed.h"

#define SLICE	16384U	/* units of work (ang_work.h) between two checks */
#define ROUNDS	64U	/* slices before work is passed on */
#define LOOKS	16U	/* calls of emb_relax() between two that fire timers */
#define SPINS	512U	/* calls of emb_relax() between two yields */
#define SPINS_CROWDED 4U	/* as SPINS, if other threads may need this processor */
#define LEFT_LOOK 4096U	/* attempts to lock emb_left before the first look at the holder */
#define YIELD_SWITCH_NS 2000ULL	/* minimum time of a yield during which another thread ran */
#define YIELD_LONG_NS 500000ULL	/* minimum time of a yield that starts a pause */
#define YIELD_REST 128U	/* longest pause, as a multiple of the yield before it */
#define YIELD_AGAIN_NS 50000000ULL /* a long yield this soon after a pause doubles the next one */
#define YIELD_MOST_NS 10000000ULL /* a longer yield counts as this: the process was stopped */

/*
 * Enters the model, and counts the thread as inside.  Return: false: a repair
 * is in progress, or the process is fenced; then the thread is not counted.
 */
static bool try_enter(struct emb_run *r)
{
	struct emb_slot *slot = r->own;

	/* Full barrier: see the head of halt.c. */
	ang_fetch_add(&r->seat->inside, 1);
	if (!emb_halted(r->fab) && !READ_ONCE(slot->fenced))
		return true;
	emb_count_out(slot, r->seat);
	return false;
}

/*
 * Enters the model, after a repair if necessary.  Return: false: as
 * emb_halt_wait(); the thread is not in the model.
 */
static bool run_enter(struct emb_run *r)
{
	u32 copy;

	while (!try_enter(r))
		if (!emb_halt_wait(r->fab))
			return false;
	copy = emb_copy(r->fab);
	if (r->copy != copy) {
		r->copy = copy;
		emb_view_init(r);
	}
	return true;
}

/*
 * Leaves the model.  Return: false if the other processes have switched to a
 * copy without this thread's changes.
 */
static bool run_leave(struct emb_run *r)
{
	struct emb_seat *seat = r->seat;
	bool same = r->copy == emb_copy(r->fab);

	/*
	 * Shows that the process makes progress; threads may overwrite each
	 * other's value.
	 */
	WRITE_ONCE(seat->turns, READ_ONCE(seat->turns) + 1);
	emb_count_out(r->own, seat);
	return same;
}

/*
 * Must the thread leave the model: does a repair wait for it, or do the other
 * processes use another copy?
 */
static bool must_leave(const struct emb_run *r)
{
	return emb_halted(r->fab) || r->copy != emb_copy(r->fab);
}

/* Drops the lists of the view: the repair lists all nodes with work again. */
static void run_forget(struct emb_run *r)
{
	r->view.runq.head = ANG_NONE;
	r->view.timers.head = ANG_NONE;
}

/*
 * Locks the lists in emb_left.  The holder of the lock never sleeps, but may be
 * preempted, stopped, or die.  A caller that waits for long sleeps.
 * Return: NULL if the model is being repaired, or has to be, since the holder has
 * died; if the others use another copy of the model; or if the fabric is broken.
 */
static struct emb_left *left_lock(const struct emb_run *r)
{
	struct emb_left *left = emb_left(r->fab, r->copy);
	u32 turn = 0, naps = 0, holder;

	while ((holder = ang_cmpxchg(&left->lock, 0, r->fab->slot + 1))) {
		if (must_leave(r) || emb_broken(r->fab))
			return NULL;
		if (++turn % 64)
			ang_cpu_relax();
		else if (turn < LEFT_LOOK)
			sched_yield();
		else
			emb_nap(&naps);
		/* The holder may have unlocked before it died. */
		if (turn >= LEFT_LOOK && turn % 64 == 0 && emb_is_dead(r->fab, holder - 1) &&
		    ang_load_acquire(&left->lock) == holder)
			return NULL;
	}
	return left;
}

static void left_unlock(struct emb_left *left)
{
	ang_store_release(&left->lock, 0);
}

/*
 * Wakes a sleeping thread to take the nodes on the list in emb_left.  If the
 * thread of an entry in emb_head.helpers has died or is stopped, no thread
 * sleeps on the word of that context; then the next entry is tried.
 */
static void call_helper(struct emb_run *r)
{
	u32 *place = r->fab->head->helpers;
	u32 i;

	for (i = 0; i < EMB_HELPERS; i++) {
		u32 helper = READ_ONCE(place[i]) ? ang_xchg(&place[i], 0) : 0;
		struct emb_ctx *ctx;

		if (!helper--)
			continue;
		ctx = &emb_node(r->fab, helper >> 8)->ctx[helper & 0xFF];
		ang_fetch_add(&ctx->wake, 1);
		if (emb_wake(ctx))
			return;
	}
}

/*
 * Wakes a thread that sleeps on a context of the node, so that it advances the
 * node.
 */
static void call_owner(struct emb_run *r, struct emb_node *n)
{
	u32 num;

	if (!READ_ONCE(n->num_ctx))
		return;
	for (num = 0; num < r->fab->head->cfg.ctxs; num++) {
		struct emb_ctx *ctx = &n->ctx[num];

		if (!READ_ONCE(ctx->owner) || !READ_ONCE(ctx->asleep))
			continue;
		ang_fetch_add(&ctx->wake, 1);
		if (r->num_wakes < EMB_WAKES)
			r->wakes[r->num_wakes++] = ctx;
		return;
	}
}

/*
 * Argument of the callbacks for nodes that move between the view and the lists in
 * emb_left: the state of the thread, and the time.
 */
struct mover {
	struct emb_run *r;
	u64 now_ms;
};

/* Records when a node was put on the list, and by which process. */
static bool leave_node(const void *arg, u32 node)
{
	const struct mover *m = arg;
	struct emb_node *n = emb_node(m->r->fab, node);

	n->left_by = m->r->fab->slot + 1;
	n->left_ms = m->now_ms;
	call_owner(m->r, n);
	return true;
}

/*
 * As leave_node(), for a node with a timer.  Called often, so it reads a coarse
 * clock.
 */
static bool leave_timer(const void *arg, u32 node)
{
	const struct emb_run *r = arg;
	struct emb_node *n = emb_node(r->fab, node);

	n->left_by = r->fab->slot + 1;
	n->left_ms = READ_ONCE(r->fab->head->looked_ms);
	return true;
}

/*
 * Moves the nodes left in the view to the lists in emb_left, and wakes a helper
 * for nodes with work.  Nodes with timers are not urgent.
 */
static void hand_over(struct emb_run *r)
{
	bool work = r->view.runq.head != ANG_NONE;
	/* Read the clock before taking the lock. */
	struct mover m = { r, work ? emb_now_ms() : 0 };
	struct emb_left *left = left_lock(r);

	if (!left) {
		run_forget(r);
		return;
	}
	if (work) {
		ang_list_pick(r->view.fab, &left->left, &r->view.runq,
			      leave_node, &m);
		WRITE_ONCE(left->left_any, 1);
	}
	if (r->view.timers.head != ANG_NONE) {
		ang_timers_pick(r->view.fab, &left->timers, &r->view.timers,
				leave_timer, r);
		WRITE_ONCE(left->timers_any, 1);
	}
	left_unlock(left);
	if (!work)
		return;
	/*
	 * Pairs with the barrier in sleep_doze(): a sleeper offers help, then
	 * checks the list.
	 */
	ang_mb();
	call_helper(r);
}

/*
 * May this process take a node from the list?  It takes nodes that it has put
 * there itself, nodes on which it has a context, and nodes without contexts.
 * It leaves other nodes to the owners of their contexts for EMB_HELP_MS: if
 * this process died while it advanced such a node, the owners would lose it.
 */
static bool may_take(const void *arg, u32 node)
{
	const struct mover *m = arg;
	const struct emb_fab *fab = m->r->fab;
	const struct emb_node *n = emb_node(fab, node);

	/* @left_ms may be later than @now_ms: another thread may have listed the node since. */
	return n->left_by == fab->slot + 1 || READ_ONCE(fab->mine[node]) ||
	       !READ_ONCE(n->num_ctx) ||
	       (s64)(m->now_ms - n->left_ms) >= EMB_HELP_MS;
}

static void take_over(struct emb_run *r, bool timers)
{
	struct mover m = { r, emb_now_ms() };
	struct emb_left *left = left_lock(r);

	if (!left)
		return;
	ang_list_pick(r->view.fab, &r->view.runq, &left->left, may_take, &m);
	WRITE_ONCE(left->left_any, left->left.head != ANG_NONE);
	if (timers) {
		ang_timers_pick(r->view.fab, &r->view.timers, &left->timers,
				may_take, &m);
		WRITE_ONCE(left->timers_any, left->timers.head != ANG_NONE);
	}
	left_unlock(left);
}

/* Would ang_run() find work? */
static bool run_busy(const struct ang_view *v)
{
	return v->runq.head != ANG_NONE ||
	       (!v->patient && v->timers.head != ANG_NONE);
}

/*
 * Runs the model.  Timers report finished reductions, which is not urgent.  So
 * a process that has other work (@patient) does not fire them.
 */
static void run_advance(struct emb_run *r, bool patient)
{
	u32 round;

	r->view.patient = patient;
	for (round = 0; round < ROUNDS && run_busy(&r->view); round++) {
		ang_run(&r->view, SLICE);
		if (must_leave(r)) {
			run_forget(r);
			return;
		}
	}
	if (ang_view_busy(&r->view))
		hand_over(r);
}

/**
 * emb_ring() - write a register or doorbell, and run the model
 * @r: runs the model
 * @of: handle of the context whose doorbell is rung; NULL: the register belongs to
 *	no context.  If the node was reset since the context was created, the
 *	context's number may belong to another one, so nothing is written.
 * @node: node
 * @off: register
 * @val: value
 *
 * Return: false: as emb_halt_wait(); nothing was written.
 */
bool emb_ring(struct emb_run *r, const struct emb_dev *of, u32 node, u32 off, u32 val)
{
	r->looks = 0;
	do {
		if (!run_enter(r))
			return false;
		/* No node is reset while a process is in the model. */
		if (of && emb_lost(of))
			continue;
		ang_reg_ring(&r->view, node, off, val);
		run_advance(r, true);
	} while (!run_leave(r));
	emb_wake_all(r);
	return true;
}

/**
 * emb_submit() - put an admin command into its queue, and ring its doorbell
 * @r: runs the model
 * @node: node
 * @cmd: command
 * @pi: number of commands, including this one
 */
void emb_submit(struct emb_run *r, u32 node, const struct angara_adm_cmd *cmd,
		u32 pi)
{
	do {
		if (!run_enter(r))
			return;
		emb_admin(r->fab, r->copy, node)->
			asq[(pi - 1) % EMB_ADM_ENTRIES] = *cmd;
		ang_reg_write(&r->view, node, ANGARA_REG_ASQ_DB, pi);
		run_advance(r, true);
	} while (!run_leave(r));
	emb_wake_all(r);
}

/**
 * emb_nudge() - ring the SQ doorbell of another process's context
 * @r: runs the model
 * @node: node
 * @ctx: context
 * @life: life of the context
 * @pi: producer index
 */
void emb_nudge(struct emb_run *r, u32 node, u32 ctx, u16 life, u32 pi)
{
	do {
		if (!run_enter(r))
			return;
		ang_reg_nudge(&r->view, node, ctx, life, pi);
		run_advance(r, true);
	} while (!run_leave(r));
	emb_wake_all(r);
}

/* Leaves the model after reading a row.  Return: as run_leave(). */
static bool tree_leave(struct emb_run *r)
{
	bool same;

	if (ang_view_busy(&r->view))
		run_advance(r, true);
	same = run_leave(r);
	emb_wake_all(r);
	return same;
}

/**
 * emb_tree_look() - read a row of a tree in the model
 * @r: runs the model
 * @router: router
 * @tree: TreeId
 * @look: out: state of the row
 *
 * Return: as ang_tree_look().
 */
bool emb_tree_look(struct emb_run *r, u32 router, u32 tree,
		   struct ang_tree_look *look)
{
	bool ret;

	if (!run_enter(r))
		return false;
	ret = ang_tree_look(&r->view, router, tree, look);
	tree_leave(r);
	return ret;
}

/**
 * emb_tree_aside() - announce that the board of a tree will execute its
 * reductions
 * @r: runs the model
 * @router: router of the tree
 * @tree: TreeId
 * @life: life of the row
 * @hops: hops of a result
 *
 * Return: as ang_tree_aside(); also false if the other processes have switched
 * to a copy without this change.
 */
bool emb_tree_aside(struct emb_run *r, u32 router, u32 tree, u32 life, u32 hops)
{
	bool ret;

	if (!run_enter(r))
		return false;
	ret = ang_tree_aside(&r->view, router, tree, life, hops);
	return tree_leave(r) && ret;
}

/**
 * emb_tree_report() - let the model count reductions on boards, see
 * ang_tree_report()
 */
void emb_tree_report(struct emb_run *r, u32 router, u32 tree)
{
	if (!run_enter(r))
		return;
	ang_tree_report(&r->view, router, tree);
	tree_leave(r);
}

/**
 * emb_help() - advance nodes that other threads have left
 * @r: runs the model
 * @timers: also take nodes with timers, and fire these
 *
 * Return: true if there was a node to advance.
 */
bool emb_help(struct emb_run *r, bool timers)
{
	const struct emb_left *left = emb_left(r->fab, emb_copy(r->fab));
	bool any;

	if (!READ_ONCE(left->left_any) &&
	    !(timers && READ_ONCE(left->timers_any)))
		return false;
	/*
	 * At the last check, all nodes on the list were reserved for other
	 * processes.
	 */
	if (r->in_vain && r->in_vain--)
		return false;
	if (!run_enter(r))
		return false;
	take_over(r, timers);
	any = ang_view_busy(&r->view);
	if (any)
		run_advance(r, !timers);
	else
		r->in_vain = LOOKS;
	run_leave(r);
	emb_wake_all(r);
	return any;
}

/*
 * Does the fabric have more processes than processors?  Then a spinning process
 * keeps other processes from running.
 */
static bool run_crowded(const struct emb_fab *fab)
{
	return READ_ONCE(fab->head->here) > READ_ONCE(fab->head->num_cpus);
}

/*
 * Yields the processor.  Processes of the fabric that wait use it only briefly,
 * but a process that computes uses a whole time slice at every yield.  So after
 * a long yield, waits sleep for a while instead: the scheduler prefers a
 * process that wakes up to one that computes.  The pause is short after one
 * long yield, since many programs compute for a moment, and doubles with each
 * long yield that follows.
 * Return: time after the yield, see emb_now_ns().
 */
static u64 run_yield(struct emb_run *r)
{
	u64 start = emb_now_ns();
	u64 end, took;

	sched_yield();
	end = emb_now_ns();
	took = end - start < YIELD_MOST_NS ? end - start : YIELD_MOST_NS;
	r->beside = took >= YIELD_SWITCH_NS;
	if (took < YIELD_LONG_NS)
		return end;
	if (start > r->sleep_until + YIELD_AGAIN_NS)
		r->rest = 1;
	else if (r->rest < YIELD_REST)
		r->rest *= 2;
	r->sleep_until = end + r->rest * took;
	return end;
}

/**
 * emb_relax() - while spinning: let others run, or advance nodes on the list
 * @r: runs the model
 * @can_sleep: the caller waits, so it can sleep.  For a caller that polls, this
 *	yields instead
 * @yielded_ms: out: time after a yield, see emb_now_ms(); unchanged if there was none
 *
 * The process that the caller waits for may need this processor: certainly if
 * there are more processes than processors, else if another thread ran during
 * the last yield.  A yield costs less than a sleep as long as no other program
 * runs here, see run_yield().
 *
 * Return: false: the caller should sleep instead of spinning; only if
 * @can_sleep.
 */
bool emb_relax(struct emb_run *r, bool can_sleep, u64 *yielded_ms)
{
	bool others = r->beside || run_crowded(r->fab);

	r->looks++;
	if (emb_help(r, others || r->looks % LOOKS == 0))
		return true;
	if (r->looks % (others ? SPINS_CROWDED : SPINS)) {
		ang_cpu_relax();
		return true;
	}
	if (can_sleep && r->sleep_until && emb_now_ns() < r->sleep_until)
		return false;
	*yielded_ms = run_yield(r) / 1000000;
	return true;
}
