// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Running the model: who rings, and who waits.
 *
 * A view is empty whenever its owner does not run the model: what he leaves
 * is on the list in emb_head, so his death loses none of it.  Who leaves
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
 * @inside: in the segment; nobody else writes it while this is used
 */
void emb_run_init(struct emb_run *r, struct emb_fab *fab, u32 *inside)
{
	r->fab = fab;
	r->inside = inside;
	r->num_wakes = 0;
	r->looks = 0;
	ang_view_init(&r->view, emb_at(fab, fab->head->model_at), &emb_ops, r);
}

/* A death is seen after all that the process did before, as it did it. */
static inline void enter(struct emb_run *r)
{
	WRITE_ONCE(*r->inside, READ_ONCE(*r->inside) + 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void leave(struct emb_run *r)
{
	ang_store_release(r->inside, READ_ONCE(*r->inside) - 1);
}

/* Wakes whoever sleeps on a context's word. */
void emb_wake(struct emb_ctx *ctx)
{
	syscall(SYS_futex, &ctx->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void wake_all(struct emb_run *r)
{
	while (r->num_wakes)
		emb_wake(r->wakes[--r->num_wakes]);
}

/* Nobody sleeps with it, but its holder may be preempted, or die. */
static bool left_lock(struct emb_fab *fab)
{
	struct emb_head *head = fab->head;
	u32 turn = 0;

	while (ang_cmpxchg(&head->left_lock, 0, fab->slot + 1)) {
		if (emb_broken(fab))
			return false;
		if (++turn % 64)
			ang_cpu_relax();
		else
			sched_yield();
	}
	return true;
}

static void left_unlock(struct emb_fab *fab)
{
	ang_store_release(&fab->head->left_lock, 0);
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

/* What the view still has goes to the lists; timers are in no hurry. */
static void hand_over(struct emb_run *r)
{
	struct emb_head *head = r->fab->head;
	bool work = r->view.runq.head != ANG_NONE;

	if (!left_lock(r->fab))
		return;
	if (work) {
		ang_list_splice(r->view.fab, &head->left, &r->view.runq);
		WRITE_ONCE(head->left_any, 1);
	}
	if (r->view.timers.head != ANG_NONE) {
		ang_timers_splice(r->view.fab, &head->timers, &r->view.timers);
		WRITE_ONCE(head->timers_any, 1);
	}
	left_unlock(r->fab);
	if (!work)
		return;
	/* Pairs with who sleeps: he says so, then looks at the list. */
	ang_mb();
	call_helper(r);
}

static void take_over(struct emb_run *r, bool timers)
{
	struct emb_head *head = r->fab->head;

	if (!left_lock(r->fab))
		return;
	ang_list_splice(r->view.fab, &r->view.runq, &head->left);
	WRITE_ONCE(head->left_any, 0);
	if (timers) {
		ang_timers_splice(r->view.fab, &r->view.timers, &head->timers);
		WRITE_ONCE(head->timers_any, 0);
	}
	left_unlock(r->fab);
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
	for (round = 0; round < ROUNDS && busy(&r->view); round++)
		ang_run(&r->view, SLICE);
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
	enter(r);
	ang_reg_write(&r->view, node, off, val);
	advance(r, true);
	leave(r);
	wake_all(r);
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
	const struct emb_head *head = r->fab->head;

	if (!READ_ONCE(head->left_any) &&
	    !(timers && READ_ONCE(head->timers_any)))
		return false;
	enter(r);
	take_over(r, timers);
	advance(r, !timers);
	leave(r);
	wake_all(r);
	return true;
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
