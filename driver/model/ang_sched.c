// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which view advances which node.
 *
 * ang_node.sched says whether a node has work and whether a view holds the
 * node.  If a thread creates work for a node that has no work and is not held,
 * the thread puts the node on the run queue of its own view, so a node is on
 * one queue at most.  If a thread creates work for a held node, the holder does
 * that work.  There are no locks.
 *
 * Memory order: ang_wake() is a full barrier after the caller's writes; taking
 * a node is a full barrier before its reads.  So either the holder sees the
 * work, or the caller sees that there is no holder.
 *
 * Threads with small operations may access a node that no view holds; see
 * ang_lane.c.
 *
 * A timer expires when the node's clock has reached the deadline, or earlier.
 * The model emulates no real time: if the view has no other work, the node's
 * clock jumps to the deadline.  While the view is busy, one clock jumps every
 * TIMER_STEPS steps, so a node that waits for credits does not have to wait
 * until other nodes become idle.
 */
#include "ang_int.h"

#define TIMER_STEPS	256	/* steps of a busy view per timer that expires */

static void list_push(struct ang_fabric *fab, struct ang_list *l, u32 id)
{
	ang_node(fab, id)->next = ANG_NONE;
	if (l->head == ANG_NONE)
		l->head = id;
	else
		ang_node(fab, l->tail)->next = id;
	l->tail = id;
}

static u32 list_pop(struct ang_fabric *fab, struct ang_list *l)
{
	u32 id = l->head;

	if (id != ANG_NONE)
		l->head = ang_node(fab, id)->next;
	return id;
}

static void timer_push(struct ang_fabric *fab, struct ang_list *l, u32 id)
{
	ang_node(fab, id)->timer_next = ANG_NONE;
	if (l->head == ANG_NONE)
		l->head = id;
	else
		ang_node(fab, l->tail)->timer_next = id;
	l->tail = id;
}

void ang_list_move(struct ang_fabric *fab, struct ang_list *to,
		   struct ang_list *from, u32 count)
{
	while (count-- && from->head != ANG_NONE)
		list_push(fab, to, list_pop(fab, from));
}

void ang_list_splice(struct ang_fabric *fab, struct ang_list *to,
		     struct ang_list *from)
{
	if (from->head == ANG_NONE)
		return;
	if (to->head == ANG_NONE)
		to->head = from->head;
	else
		ang_node(fab, to->tail)->next = from->head;
	to->tail = from->tail;
	from->head = ANG_NONE;
}

void ang_list_pick(struct ang_fabric *fab, struct ang_list *to,
		   struct ang_list *from, ang_want_fn want, const void *arg)
{
	struct ang_list rest = { ANG_NONE, ANG_NONE };
	u32 id;

	while ((id = list_pop(fab, from)) != ANG_NONE)
		list_push(fab, want(arg, id) ? to : &rest, id);
	*from = rest;
}

void ang_timers_pick(struct ang_fabric *fab, struct ang_list *to,
		     struct ang_list *from, ang_want_fn want, const void *arg)
{
	struct ang_list rest = { ANG_NONE, ANG_NONE };
	u32 id;

	while ((id = from->head) != ANG_NONE) {
		from->head = ang_node(fab, id)->timer_next;
		timer_push(fab, want(arg, id) ? to : &rest, id);
	}
	*from = rest;
}

void ang_timers_splice(struct ang_fabric *fab, struct ang_list *to,
		       struct ang_list *from)
{
	if (from->head == ANG_NONE)
		return;
	if (to->head == ANG_NONE)
		to->head = from->head;
	else
		ang_node(fab, to->tail)->timer_next = from->head;
	to->tail = from->tail;
	from->head = ANG_NONE;
}

/**
 * ang_wake() - notify a node, held or not, that it has work
 * @v: view
 * @n: node; if the host holds it permanently, the host is notified
 * @why: ring bits or other ANG_SCHED_* bits to set
 */
void ang_wake(struct ang_view *v, struct ang_node *n, u64 why)
{
	u64 old = ang_fetch_or(&n->sched,
			       why | ANG_SCHED_WORK | ANG_SCHED_WOKEN);

	if (!(old & (ANG_SCHED_WORK | ANG_SCHED_OWNED)))
		list_push(v->fab, &v->runq, n->id);
	else if ((old & (ANG_SCHED_WORK | ANG_SCHED_REMOTE)) == ANG_SCHED_REMOTE)
		v->ops->remote(v->host, n->id);
}

static void timer_list(struct ang_view *v, struct ang_node *n)
{
	if (!(ang_fetch_or(&n->sched, ANG_SCHED_TIMER) & ANG_SCHED_TIMER))
		timer_push(v->fab, &v->timers, n->id);
}

/**
 * ang_timer_start() - start the timer that calls ang_credit_pe() at a given
 * cycle
 * @v: view
 * @n: node
 * @deadline: cycle
 */
void ang_timer_start(struct ang_view *v, struct ang_node *n, u64 deadline)
{
	n->timer = deadline;
	timer_list(v, n);
}

/**
 * ang_retry_timer() - start the timer that wakes a node at ang_node.retry_due,
 * when a link is due
 * @v: view
 * @n: node
 */
void ang_retry_timer(struct ang_view *v, struct ang_node *n)
{
	timer_list(v, n);
}

/**
 * ang_timer_expire() - let a node's credit timer expire, at its deadline or
 * because no other work is left
 * @v: view
 * @n: node
 *
 * Return: false if no timer was started, or the credits were reported already.
 */
bool ang_timer_expire(struct ang_view *v, struct ang_node *n)
{
	if (!n->timer)
		return false;
	if (n->clock < n->timer)
		n->clock = n->timer;
	ang_credit_pe(v, n, true);
	return true;
}

/*
 * Handle an expired timer; a timer of links is handled before that of credits.
 */
static void timer_fired(struct ang_view *v, struct ang_node *n)
{
	if (!n->retry_due) {
		ang_timer_expire(v, n);
		return;
	}
	if (n->clock < n->retry_due)
		n->clock = n->retry_due;
	n->retry_due = 0;
	if (n->timer)
		timer_list(v, n);
}

/* Let the first timer of a view expire; another view may hold its node. */
static void timer_fire(struct ang_view *v)
{
	u32 id = v->timers.head;
	struct ang_node *n = ang_node(v->fab, id);

	/*
	 * Unlink the timer first: once the bit is cleared, the timer may be
	 * started again.
	 */
	v->timers.head = n->timer_next;
	ang_fetch_and(&n->sched, ~ANG_SCHED_TIMER);
	ang_wake(v, n, ANG_SCHED_FIRE);
}

/*
 * Take a node.  Return: false if recovery has moved the fabric to a copy, which
 * this view does not use.
 */
static bool node_take(struct ang_node *n, u64 *why)
{
	u64 old = READ_ONCE(n->sched);
	u64 seen;

	while (!(old & ANG_SCHED_FENCED)) {
		u64 new = (old & ANG_SCHED_TIMER) | ANG_SCHED_OWNED;

		seen = ang_cmpxchg(&n->sched, old, new);
		if (seen == old) {
			*why = old;
			return true;
		}
		old = seen;
	}
	return false;
}

/* Undo node_take(). */
static void node_return(struct ang_node *n, u64 why)
{
	u64 old = READ_ONCE(n->sched);
	u64 seen;

	while ((seen = ang_cmpxchg(&n->sched, old, (old & ~ANG_SCHED_OWNED) |
				   (why & ~ANG_SCHED_TIMER))) != old)
		old = seen;
}

/*
 * Close the lanes of a node that was just taken. Return: true if no thread is
 * in a lane.
 */
static bool node_alone(struct ang_view *v, struct ang_node *n)
{
	return READ_ONCE(n->lanes) == ANG_LANES_SHUT || ang_lanes_close(v, n);
}

/*
 * Release a node. Return: true if it has more work, so this view has to queue
 * it again.
 */
static bool node_release(struct ang_node *n, bool more)
{
	u64 old = READ_ONCE(n->sched);
	u64 seen;

	for (;;) {
		bool again = more || (old & ANG_SCHED_WORK);
		u64 new = old & ~ANG_SCHED_OWNED;

		if (again)
			new |= ANG_SCHED_WORK;
		seen = ang_cmpxchg(&n->sched, old, new);
		if (seen == old)
			return again;
		old = seen;
	}
}

/**
 * ang_node_seize() - take a node outside of ang_run(), if it is idle
 * @v: view; ang_node_leave() releases the node
 * @n: node
 */
bool ang_node_seize(struct ang_view *v, struct ang_node *n)
{
	u64 old = READ_ONCE(n->sched);

	if (old & ~ANG_SCHED_TIMER ||
	    ang_cmpxchg(&n->sched, old, old | ANG_SCHED_OWNED) != old)
		return false;
	ang_work(v, ANG_WORK_STEP);
	if (node_alone(v, n)) {
		ang_lanes_visit(v, n);
		return true;
	}
	if (node_release(n, false))
		list_push(v->fab, &v->runq, n->id);
	return false;
}

/** ang_node_drop() - as ang_node_leave(), for a node without new events */
void ang_node_drop(struct ang_view *v, struct ang_node *n)
{
	ang_lanes_offer(v, n);
	if (node_release(n, false))
		list_push(v->fab, &v->runq, n->id);
}

/**
 * ang_node_leave() - release a node that was taken outside of ang_run()
 * @v: view; if the node has work, it is put on the view's run queue
 * @n: node
 */
void ang_node_leave(struct ang_view *v, struct ang_node *n)
{
	/* Links with packets in flight need a step, which starts a timer. */
	bool more = ang_node_tell(v, n) || n->retry_ports;

	if (!more)
		ang_lanes_offer(v, n);
	if (node_release(n, more))
		list_push(v->fab, &v->runq, n->id);
}

/* Let the credit timer of a node expire if its clock is far past the deadline. */
static void timer_look(struct ang_view *v, struct ang_node *n)
{
	if (n->clock >= n->timer + ANG_CREDIT_BUSY)
		ang_timer_expire(v, n);
}

/*
 * Undo ang_lanes_visit() if a held node has injected only requests of small
 * operations.
 * @small and @packets: values of ang_view.small and of the node's
 * injected_packets when the view took the node.
 */
static void calm_note(struct ang_view *v, struct ang_node *n, u32 small, u64 packets)
{
	small = v->small - small;
	if (small && n->cnt.injected_packets - packets == small)
		ang_lanes_calm(v, n, small);
}

/*
 * Execute the entries that a doorbell announces at once: in a lane, or by
 * taking the node if it is idle.  Return: false if the node is busy; then the
 * caller has to ring the doorbell.
 */
static bool bell_run(struct ang_view *v, struct ang_node *n, u32 ctx, u32 pi)
{
	u32 small = v->small;
	struct ang_ctx *c;
	u64 packets;

	if (!ang_linkless(v) || ctx >= v->fab->cfg.ctxs)
		return false;
	if (ang_load_acquire(&n->lanes) == ANG_LANES_OPEN &&
	    ang_lane_bell(v, n, ctx, pi))
		return true;
	if (!ang_node_seize(v, n))
		return false;
	v->stop = v->work + v->turn;
	packets = n->cnt.injected_packets;
	timer_look(v, n);
	/*
	 * Store the index as ang_reg_write() does, so that later holders of the
	 * node find it.
	 */
	ang_store_release(&ang_ctx(v->fab, n, ctx)->db_sq, pi);
	ang_doorbell(v, n, ctx);
	c = ang_ctx_get(v, n, ctx);
	v->climb = true;
	if (c)
		ang_turn_one(v, n, c);
	calm_note(v, n, small, packets);
	ang_hop_turn(v, n);
	return true;
}

void ang_reg_ring(struct ang_view *v, u32 node, u32 off, u32 val)
{
	if (node >= v->topo.nodes || off < ANGARA_PAGE_SIZE ||
	    off % ANGARA_PAGE_SIZE != ANGARA_DB_SQ ||
	    !bell_run(v, ang_node(v->fab, node), off / ANGARA_PAGE_SIZE - 1, val))
		ang_reg_write(v, node, off, val);
}

static bool node_run(struct ang_view *v, struct ang_node *n)
{
	u32 small = v->small;
	bool more;
	u64 why, packets;

	if (!node_take(n, &why))
		return false;
	ang_work(v, ANG_WORK_STEP);
	if (!node_alone(v, n)) {
		node_return(n, why);
		/*
		 * The thread in the lane may need this processor: use up the
		 * work of this turn, so that this view does not retry soon.
		 */
		ang_work(v, v->turn);
		return true;
	}
	ang_lanes_visit(v, n);
	packets = n->cnt.injected_packets;
	v->stop = v->work + v->turn;
	n->rx |= (u32)(why & ANG_SCHED_RX);
	/*
	 * Contexts that were served before in this round may have waited for
	 * what woke the node: another round is needed.
	 */
	if (n->stage && why & ANG_SCHED_WOKEN)
		n->moved = true;
	if (why & ANG_SCHED_FIRE)
		timer_fired(v, n);
	else
		timer_look(v, n);
	if (why & ANG_SCHED_LOOK && v->ops->look)
		v->ops->look(v, n->id);
	more = ang_node_step(v, n);
	calm_note(v, n, small, packets);
	if (!more)
		ang_lanes_offer(v, n);
	return node_release(n, more);
}

void ang_look(struct ang_view *v, u32 node)
{
	ang_wake(v, ang_node(v->fab, node), ANG_SCHED_LOOK);
}

u32 ang_run(struct ang_view *v, u32 budget)
{
	u64 end = v->work + budget;

	while (v->work < end) {
		u32 id = list_pop(v->fab, &v->runq);

		if (id == ANG_NONE) {
			if (v->timers.head == ANG_NONE || v->patient)
				break;
			timer_fire(v);
			ang_work(v, 1);
			continue;
		}
		if (node_run(v, ang_node(v->fab, id)))
			list_push(v->fab, &v->runq, id);
		if (++v->steps % TIMER_STEPS == 0 &&
		    v->timers.head != ANG_NONE)
			timer_fire(v);
	}
	return v->work < end ? (u32)(end - v->work) : 0;
}

bool ang_view_busy(const struct ang_view *v)
{
	return v->runq.head != ANG_NONE || v->timers.head != ANG_NONE;
}

/**
 * ang_sched_all() - queue every node, with all its rings marked, and its timer
 * @v: view; no other view has a node on its queue, and no node is held
 */
void ang_sched_all(struct ang_view *v)
{
	u32 rings = v->fab->nports * ANGARA_VC_NUM;
	u64 all = (1ULL << (((rings - 1) >> v->fab->ring_shift) + 1)) - 1;
	u32 id;

	v->runq.head = ANG_NONE;
	v->timers.head = ANG_NONE;
	for (id = 0; id < v->topo.routers; id++) {
		struct ang_node *n = ang_node(v->fab, id);
		u64 keep = READ_ONCE(n->sched) &
			   (ANG_SCHED_FIRE | ANG_SCHED_LOOK);

		if (n->timer || n->retry_due)
			keep |= ANG_SCHED_TIMER;
		WRITE_ONCE(n->sched, keep | all | ANG_SCHED_WORK |
			   ANG_SCHED_WOKEN);
		list_push(v->fab, &v->runq, id);
		if (n->timer || n->retry_due)
			timer_push(v->fab, &v->timers, id);
	}
}

void ang_view_init(struct ang_view *v, void *mem, const struct ang_ops *ops,
		   void *host)
{
	v->fab = mem;
	v->ops = ops;
	v->host = host;
	v->topo = ang_fab_topo(mem);
	v->runq.head = ANG_NONE;
	v->runq.tail = ANG_NONE;
	v->timers = v->runq;
	v->patient = false;
	v->packets = false;
	v->express = false;
	v->calm = 0;
	v->small = 0;
	v->hop = NULL;
	v->climb = false;
	v->steps = 0;
	v->turn = ANG_WORK_TURN;
	v->work = 0;
	v->stop = 0;
}
