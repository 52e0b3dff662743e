// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: windows of time, and within a window node after node.
 *
 * The events of a window are a vector that is only appended to; the events of
 * one node are sorted when its turn comes.  So a push costs one store, and a
 * node's memory stays in the cache for all its events of a window.  Events
 * later than the windows that have vectors are in a heap.
 */
#include "sim.h"

static struct sim_ev *evs_add(struct sim_evs *v)
{
	if (v->n == v->size) {
		v->size = v->size ? 2 * v->size : 64;
		v->ev = realloc(v->ev, v->size * sizeof(*v->ev));
		if (!v->ev) {
			fprintf(stderr, "angara-sim: out of memory for events\n");
			exit(1);
		}
	}
	return &v->ev[v->n++];
}

/* Equal events keep the order of their pushes, which @next counts. */
static bool later(const struct sim_ev *a, const struct sim_ev *b)
{
	return a->time != b->time ? a->time > b->time :
				    (s32)(a->next - b->next) > 0;
}

static void heap_push(struct sim_evs *h, const struct sim_ev *e)
{
	u32 at = h->n;

	evs_add(h);
	while (at && later(&h->ev[(at - 1) / 2], e)) {
		h->ev[at] = h->ev[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	h->ev[at] = *e;
}

static void heap_pop(struct sim_evs *h)
{
	struct sim_ev last = h->ev[--h->n];
	u32 at = 0;

	for (;;) {
		u32 child = 2 * at + 1;

		if (child >= h->n)
			break;
		if (child + 1 < h->n && later(&h->ev[child], &h->ev[child + 1]))
			child++;
		if (later(&h->ev[child], &last))
			break;
		h->ev[at] = h->ev[child];
		at = child;
	}
	h->ev[at] = last;
}

/* Is @a before @b, by time, then kind and port? */
static bool before(const struct sim_ev *a, const struct sim_ev *b)
{
	return a->time != b->time ? a->time < b->time : a->key < b->key;
}

/*
 * Reports an error of the simulator: a node has affected another node within
 * the window.
 */
static void too_late(const struct sim_ev *e)
{
	fprintf(stderr, "angara-sim: node %u: an event of kind %u comes too late\n",
		e->node, e->key >> SIM_EV_SHIFT);
	abort();
}

/* Insert into the events of the current node, after the current event. */
static void cur_insert(struct sim_part *p, const struct sim_ev *e)
{
	struct sim_evs *v = &p->cur;
	u32 at = v->n;

	evs_add(v);
	while (at > p->cur_at && before(e, &v->ev[at - 1])) {
		v->ev[at] = v->ev[at - 1];
		at--;
	}
	v->ev[at] = *e;
}

/**
 * sim_push() - add an event
 * @p: partition of the node
 * @time: not before now
 * @node: node; if @time is in the window being run, only the node being run
 * @kind: SIM_EV_*
 * @port: see SIM_EV_*
 * @arg: see SIM_EV_*
 */
void sim_push(struct sim_part *p, u64 time, u32 node, u32 kind, u32 port,
	      u32 arg)
{
	struct sim_ev e = { .time = time, .node = node, .arg = arg,
			    .key = (u16)(kind << SIM_EV_SHIFT | port) };

	if (time < p->end && p->node == node) {
		cur_insert(p, &e);
		return;
	}
	p->pending++;
	if (time - p->end < (SIM_WINDOWS - 1) * p->sim->window) {
		*evs_add(&p->win[time / p->sim->window % SIM_WINDOWS]) = e;
	} else {
		if (time < p->end)
			too_late(&e);
		e.next = p->pushes++;
		heap_push(&p->heap, &e);
	}
}

/** sim_next_time() - lower bound of the next event's time, SIM_NEVER for none */
u64 sim_next_time(struct sim_part *p)
{
	u64 far = p->heap.n ? p->heap.ev[0].time : SIM_NEVER;
	u64 w = p->end / p->sim->window;
	u32 i;

	if (p->pending == p->heap.n)
		return far;
	for (i = 0; !p->win[(w + i) % SIM_WINDOWS].n; i++)
		;
	/*
	 * Time has advanced since events went to the heap: the first one may be
	 * earlier than all events in vectors.
	 */
	return far < (w + i) * p->sim->window ? far : (w + i) * p->sim->window;
}

static void run_node(struct sim_part *p, struct sim_evs *v, u32 node)
{
	u32 i = p->sim->ev_head[node];

	p->sim->ev_head[node] = 0;
	p->node = node;
	p->cur.n = 0;
	p->cur_at = 0;
	/*
	 * The list begins with the event that was pushed last: reverse it, then
	 * sort.
	 */
	while (i) {
		struct sim_ev *e = &v->ev[i - 1];

		*evs_add(&p->cur) = *e;
		i = e->next;
	}
	for (i = 0; i < p->cur.n / 2; i++) {
		struct sim_ev tmp = p->cur.ev[i];

		p->cur.ev[i] = p->cur.ev[p->cur.n - 1 - i];
		p->cur.ev[p->cur.n - 1 - i] = tmp;
	}
	for (i = 1; i < p->cur.n; i++) {
		struct sim_ev e = p->cur.ev[i];
		u32 at = i;

		while (at && before(&e, &p->cur.ev[at - 1])) {
			p->cur.ev[at] = p->cur.ev[at - 1];
			at--;
		}
		p->cur.ev[at] = e;
	}
	while (p->cur_at < p->cur.n) {
		struct sim_ev e = p->cur.ev[p->cur_at++];

		p->now = e.time;
		sim_event(p, &e);
	}
	p->node = ANG_NONE;
}

/**
 * sim_run_window() - run all events of a window
 * @p: partition
 * @window: its number; all earlier windows are done
 */
void sim_run_window(struct sim_part *p, u64 window)
{
	struct sim *s = p->sim;
	struct sim_evs *v = &p->win[window % SIM_WINDOWS];
	u32 i;

	p->end = (window + 1) * s->window;
	while (p->heap.n && p->heap.ev[0].time < p->end) {
		if (p->heap.ev[0].time < window * s->window)
			too_late(&p->heap.ev[0]);
		*evs_add(v) = p->heap.ev[0];
		heap_pop(&p->heap);
	}
	p->pending -= v->n;
	p->nactive = 0;
	for (i = 0; i < v->n; i++) {
		u32 node = v->ev[i].node;

		if (!s->ev_head[node])
			p->active[p->nactive++] = node;
		v->ev[i].next = s->ev_head[node];
		s->ev_head[node] = i + 1;
	}
	for (i = 0; i < p->nactive; i++)
		run_node(p, v, p->active[i]);
	v->n = 0;
}
