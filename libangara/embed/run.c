// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Running the model: who rings, and who waits.
 *
 * A view is empty whenever its owner does not run the model: what he leaves
 * is on the list in emb_left, so his death loses none of it.  Who leaves
 * something wakes one who sleeps, if there is one: then it is not left to
 * itself until somebody happens to wait.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "embed.h"

#define SLICE	16384U	/* units of work (ang_work.h) between two looks */
#define ROUNDS	64U	/* of these, before others shall go on with it */
#define LOOKS	16U	/* in vain, before timers are fired */
#define SPINS	512U	/* in vain, before the processor is given up */
#define SPINS_CROWDED 4U	/* the same if there are fewer than processes */

/**
 * emb_run_init() - get ready to run the model
 * @r: out
 * @fab: fabric
 */
void emb_run_init(struct emb_run *r, struct emb_fab *fab)
{
	r->fab = fab;
	r->own = emb_slot(fab, fab->slot);
	r->num_wakes = 0;
	r->looks = 0;
	r->in_vain = 0;
	r->copy = emb_copy(fab);
	ang_view_init(&r->view, emb_model(fab, r->copy), &emb_ops, r);
}

/* Counts the thread in.  Return: false: not now; it is not counted. */
static bool try_enter(struct emb_run *r)
{
	struct emb_slot *slot = r->own;

	/* A full barrier: see halt.c. */
	ang_fetch_add(&slot->inside, 1);
	if (!emb_halted(r->fab) && !READ_ONCE(slot->fenced))
		return true;
	emb_count_out(slot);
	return false;
}

/* Return: false if the model cannot be run. */
static bool enter(struct emb_run *r)
{
	u32 copy;

	while (!try_enter(r))
		if (!emb_halt_wait(r->fab))
			return false;
	copy = emb_copy(r->fab);
	if (r->copy != copy) {
		r->copy = copy;
		ang_view_init(&r->view, emb_model(r->fab, copy), &emb_ops, r);
	}
	return true;
}

/* Return: false if the others have gone on without what was done. */
static bool leave(struct emb_run *r)
{
	struct emb_slot *slot = r->own;
	bool same = r->copy == emb_copy(r->fab);

	/* Shows that the process moves; threads may overwrite each other's. */
	WRITE_ONCE(slot->turns, READ_ONCE(slot->turns) + 1);
	emb_count_out(slot);
	return same;
}

/* Do all others wait for this thread to leave, or do so no more? */
static bool must_leave(const struct emb_run *r)
{
	return emb_halted(r->fab) || r->copy != emb_copy(r->fab);
}

/* Whoever repairs the model finds by itself what has work. */
static void forget(struct emb_run *r)
{
	r->view.runq.head = ANG_NONE;
	r->view.timers.head = ANG_NONE;
}

/* Wakes whoever sleeps on a context's word. */
void emb_wake(struct emb_ctx *ctx)
{
	syscall(SYS_futex, &ctx->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Wakes those whose sleep the model has ended meanwhile. */
void emb_wake_all(struct emb_run *r)
{
	while (r->num_wakes)
		emb_wake(r->wakes[--r->num_wakes]);
}

/*
 * Nobody sleeps with it, but its holder may be preempted, or die.
 * Return: NULL if the model is being repaired.
 */
static struct emb_left *left_lock(const struct emb_run *r)
{
	struct emb_left *left = emb_left(r->fab, r->copy);
	u32 turn = 0;

	while (ang_cmpxchg(&left->lock, 0, r->fab->slot + 1)) {
		if (must_leave(r) || emb_broken(r->fab))
			return NULL;
		if (++turn % 64)
			ang_cpu_relax();
		else
			sched_yield();
	}
	return left;
}

static void left_unlock(struct emb_left *left)
{
	ang_store_release(&left->lock, 0);
}

/* One who sleeps is told to go on with what is left. */
static void call_helper(struct emb_run *r)
{
	struct emb_head *head = r->fab->head;
	struct emb_ctx *ctx;
	u32 helper;

	if (!READ_ONCE(head->helper))
		return;
	helper = ang_xchg(&head->helper, 0);
	if (!helper--)
		return;
	ctx = &emb_node(r->fab, helper >> 8)->ctx[helper & 0xFF];
	ang_fetch_add(&ctx->wake, 1);
	emb_wake(ctx);
}

/* Wakes one who sleeps on a node, to go on with it. */
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

/* Notes on a node of the view's that it is left to others. */
static bool leave_node(const void *arg, u32 node)
{
	struct emb_run *r = (struct emb_run *)(uintptr_t)arg;
	struct emb_node *n = emb_node(r->fab, node);

	n->left_by = r->fab->slot + 1;
	n->left_ms = emb_now_ms();
	call_owner(r, n);
	return true;
}

/* The same of one with a timer, which happens often: when it was, roughly. */
static bool leave_timer(const void *arg, u32 node)
{
	const struct emb_run *r = arg;
	struct emb_node *n = emb_node(r->fab, node);

	n->left_by = r->fab->slot + 1;
	n->left_ms = READ_ONCE(r->fab->head->looked_ms);
	return true;
}

/* What the view still has goes to the lists; timers are in no hurry. */
static void hand_over(struct emb_run *r)
{
	struct emb_left *left = left_lock(r);
	bool work = r->view.runq.head != ANG_NONE;

	if (!left) {
		forget(r);
		return;
	}
	if (work) {
		ang_list_pick(r->view.fab, &left->left, &r->view.runq,
			      leave_node, r);
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
	/* Pairs with who sleeps: he says so, then looks at the list. */
	ang_mb();
	call_helper(r);
}

/*
 * A process advances what it has left itself, and nodes that it has a context
 * on, or nobody has.  Others are left to those whose they are, unless these do
 * not come: if it died in the middle of one, they would lose it.
 */
static bool may_take(const void *arg, u32 node)
{
	const struct emb_fab *fab = arg;
	const struct emb_node *n = emb_node(fab, node);

	return n->left_by == fab->slot + 1 || READ_ONCE(fab->mine[node]) ||
	       !READ_ONCE(n->num_ctx) ||
	       emb_now_ms() - n->left_ms >= EMB_HELP_MS;
}

static void take_over(struct emb_run *r, bool timers)
{
	struct emb_left *left = left_lock(r);

	if (!left)
		return;
	ang_list_pick(r->view.fab, &r->view.runq, &left->left, may_take, r->fab);
	WRITE_ONCE(left->left_any, left->left.head != ANG_NONE);
	if (timers) {
		ang_timers_pick(r->view.fab, &r->view.timers, &left->timers,
				may_take, r->fab);
		WRITE_ONCE(left->timers_any, left->timers.head != ANG_NONE);
	}
	left_unlock(left);
}

/* Anything that ang_run() would do? */
static bool busy(const struct ang_view *v)
{
	return v->runq.head != ANG_NONE ||
	       (!v->patient && v->timers.head != ANG_NONE);
}

/*
 * Timers tell processes how many reductions are finished.  That has no hurry:
 * they are fired by those who wait for something, not with every operation.
 */
static void advance(struct emb_run *r, bool patient)
{
	u32 round;

	r->view.patient = patient;
	for (round = 0; round < ROUNDS && busy(&r->view); round++) {
		ang_run(&r->view, SLICE);
		if (must_leave(r)) {
			forget(r);
			return;
		}
	}
	if (ang_view_busy(&r->view))
		hand_over(r);
}

/**
 * emb_ring() - write a register or doorbell, and do what comes of it
 * @r: runs the model
 * @node: node
 * @off: register
 * @val: value
 */
void emb_ring(struct emb_run *r, u32 node, u32 off, u32 val)
{
	r->looks = 0;
	do {
		if (!enter(r))
			return;
		ang_reg_write(&r->view, node, off, val);
		advance(r, true);
	} while (!leave(r));
	emb_wake_all(r);
}

/**
 * emb_submit() - put an admin command into its queue, and ring for it
 * @r: runs the model
 * @node: node
 * @cmd: command
 * @pi: commands so far, with this one
 */
void emb_submit(struct emb_run *r, u32 node, const struct angara_adm_cmd *cmd,
		u32 pi)
{
	do {
		if (!enter(r))
			return;
		emb_admin(r->fab, r->copy, node)->
			asq[(pi - 1) % EMB_ADM_ENTRIES] = *cmd;
		ang_reg_write(&r->view, node, ANGARA_REG_ASQ_DB, pi);
		advance(r, true);
	} while (!leave(r));
	emb_wake_all(r);
}

/**
 * emb_help() - go on with what others have left
 * @r: runs the model
 * @timers: and fire timers, as nothing else helps
 *
 * Return: was there anything?
 */
bool emb_help(struct emb_run *r, bool timers)
{
	const struct emb_left *left = emb_left(r->fab, emb_copy(r->fab));
	bool any;

	if (!READ_ONCE(left->left_any) &&
	    !(timers && READ_ONCE(left->timers_any)))
		return false;
	/* What is left is others', as far as was seen. */
	if (r->in_vain && r->in_vain--)
		return false;
	if (!enter(r))
		return false;
	take_over(r, timers);
	any = ang_view_busy(&r->view);
	if (any)
		advance(r, !timers);
	else
		r->in_vain = LOOKS;
	leave(r);
	emb_wake_all(r);
	return any;
}

/* More processes than processors: the others cannot go on while one spins. */
static bool crowded(const struct emb_fab *fab)
{
	return READ_ONCE(fab->head->here) > READ_ONCE(fab->head->num_cpus);
}

/**
 * emb_relax() - while spinning: let others go on, or go on with what they left
 * @r: runs the model
 */
void emb_relax(struct emb_run *r)
{
	bool others = crowded(r->fab);

	r->looks++;
	if (emb_help(r, others || r->looks % LOOKS == 0))
		return;
	/*
	 * Who is waited for may want this processor.  But what gives it up
	 * waits for all others that have work, so that is not done lightly.
	 */
	if (r->looks % (others ? SPINS_CROWDED : SPINS) == 0)
		sched_yield();
	else
		ang_cpu_relax();
}
