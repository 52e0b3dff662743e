// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-algo: the schedules of all members, executed in simulated time.
 *
 * A message begins when its sender and its receiver have both begun the step,
 * the sender sends no other message, the receiver receives none, and the links
 * from the sender's part of the system up to the common level and down from
 * there are free.  Through level l it takes a + b m.  A member combines and
 * copies one range at a time, while messages continue.
 *
 * Times are whole femtoseconds, so equal times compare as equal.
 */
#include <stdlib.h>

#include "tool.h"

#define FEMTO	1e15
#define TIME_MOST	18000000000000000000ULL
#define STEPS_MOST	20000000U	/* steps of all members; about 1.5 GB */

enum state { IDLE, BEGUN, MATCHED, ENDED };

/**
 * struct member - a rank
 * @sched: its steps
 * @state: state of each step
 * @begun: the first @begun steps have begun
 * @prefix: the first @prefix steps have ended
 * @free: time when the member has combined and copied all data so far
 * @sends: the member sends a message
 * @receives: the member receives a message
 */
struct member {
	struct ang_schedule sched;
	u8 *state;
	u32 begun;
	u32 prefix;
	u64 free;
	bool sends;
	bool receives;
};

/**
 * struct event - a step that ends
 * @time: time of the end
 * @rank: member; the sender of a message
 * @step: its step
 * @other: step of the receiver
 */
struct event {
	u64 time;
	u32 rank;
	u32 step;
	u32 other;
};

/**
 * struct sim - a simulation
 * @j: collective
 * @s: system
 * @m: members
 * @heap: events, the earliest first
 * @events: their number
 * @ready: messages whose members are ready, in the order in which they begin
 * @waiting: their number
 * @up: messages on the links from each part up, by level
 * @down: messages on the links down to each part, by level
 * @now: time
 * @t: messages that have ended
 */
struct sim {
	const struct job *j;
	const struct levels *s;
	struct member *m;
	struct event *heap;
	u32 events;
	struct event *ready;
	u32 waiting;
	u32 *up[LEVELS_MOST];
	u32 *down[LEVELS_MOST];
	u64 now;
	struct traffic *t;
};

static const struct ang_step *step_of(const struct sim *x, u32 rank, u32 step)
{
	return &x->m[rank].sched.steps[step];
}

static void heap_push(struct sim *x, struct event e)
{
	u32 i = x->events++;

	for (; i && x->heap[(i - 1) / 2].time > e.time; i = (i - 1) / 2)
		x->heap[i] = x->heap[(i - 1) / 2];
	x->heap[i] = e;
}

static struct event heap_pop(struct sim *x)
{
	struct event first = x->heap[0], last = x->heap[--x->events];
	u32 i = 0, k;

	for (; (k = 2 * i + 1) < x->events; i = k) {
		if (k + 1 < x->events && x->heap[k + 1].time < x->heap[k].time)
			k++;
		if (x->heap[k].time >= last.time)
			break;
		x->heap[i] = x->heap[k];
	}
	x->heap[i] = last;
	return first;
}

/*
 * Appends a message, which is not earlier than the others.  Messages of the same time are
 * ordered by the sender's step, then by rank.
 */
static void ready_add(struct sim *x, struct event e)
{
	u32 i = x->waiting++;

	for (; i && x->ready[i - 1].time == e.time; i--) {
		const struct event *before = &x->ready[i - 1];

		if (before->step < e.step ||
		    (before->step == e.step && before->rank < e.rank))
			break;
		x->ready[i] = *before;
	}
	x->ready[i] = e;
}

/* Return: index of the peer's step that matches step @s of member @from; -1U: none. */
static u32 match(const struct sim *x, const struct ang_step *s, u32 from)
{
	const struct member *m = &x->m[s->peer];
	enum ang_step_kind kind = s->kind == ANG_STEP_SEND ? ANG_STEP_RECV : ANG_STEP_SEND;
	u32 i;

	for (i = m->prefix; i < m->begun; i++) {
		const struct ang_step *o = &m->sched.steps[i];

		if (m->state[i] == BEGUN && o->kind == kind && o->peer == from &&
		    o->tag == s->tag)
			return i;
	}
	return UINT32_MAX;
}

static void begin_message(struct sim *x, u32 rank, u32 i)
{
	const struct ang_step *s = step_of(x, rank, i);
	u32 k = match(x, s, rank);
	bool sends = s->kind == ANG_STEP_SEND;

	if (k == UINT32_MAX)
		return;
	if (step_of(x, s->peer, k)->len != s->len)
		exit(fail("members %u and %u disagree on the length of a message", rank, s->peer));
	x->m[rank].state[i] = MATCHED;
	x->m[s->peer].state[k] = MATCHED;
	ready_add(x, (struct event){
		.time = x->now, .rank = sends ? rank : s->peer,
		.step = sends ? i : k, .other = sends ? k : i,
	});
}

/* Return: the time @seconds after @from. */
static u64 later(const struct sim *x, u64 from, double seconds)
{
	if (seconds * FEMTO >= (double)(TIME_MOST - from))
		exit(misuse("%s: takes more than five hours: take fewer bytes or faster links",
			    x->j->way->name));
	return from + (u64)(seconds * FEMTO + 0.5);
}

static void begin_work(struct sim *x, u32 rank, u32 i)
{
	const struct ang_step *s = step_of(x, rank, i);
	struct member *m = &x->m[rank];
	double each = s->kind == ANG_STEP_COPY ? x->j->copy : x->j->add;

	if (m->free < x->now)
		m->free = x->now;
	m->free = later(x, m->free, each * (double)s->len);
	heap_push(x, (struct event){ .time = m->free, .rank = rank, .step = i });
}

static void begin(struct sim *x, u32 rank)
{
	struct member *m = &x->m[rank];

	while (m->begun < m->sched.n && m->sched.steps[m->begun].after <= m->prefix) {
		u32 i = m->begun++;
		enum ang_step_kind kind = m->sched.steps[i].kind;

		m->state[i] = BEGUN;
		if (kind == ANG_STEP_SEND || kind == ANG_STEP_RECV)
			begin_message(x, rank, i);
		else
			begin_work(x, rank, i);
	}
}

static void end(struct sim *x, u32 rank, u32 i)
{
	struct member *m = &x->m[rank];

	m->state[i] = ENDED;
	while (m->prefix < m->begun && m->state[m->prefix] == ENDED)
		m->prefix++;
	begin(x, rank);
}

/* Takes (@step 1) or releases (@step -1) the links of a message. */
static void occupy(struct sim *x, u32 from, u32 to, u32 step)
{
	u32 p = x->s->core[from], q = x->s->core[to], l = level_of(x->s, p, q);

	x->up[l][part_of(x->s, p, l)] += step;
	x->down[l][part_of(x->s, q, l)] += step;
	x->m[from].sends = step == 1;
	x->m[to].receives = step == 1;
}

static bool room(const struct sim *x, u32 from, u32 to)
{
	u32 p = x->s->core[from], q = x->s->core[to], l = level_of(x->s, p, q);
	u32 links = x->s->level[l].links;

	return !x->m[from].sends && !x->m[to].receives &&
	       (!links || (x->up[l][part_of(x->s, p, l)] < links &&
			   x->down[l][part_of(x->s, q, l)] < links));
}

static void start_messages(struct sim *x)
{
	u32 i, kept = 0;

	for (i = 0; i < x->waiting; i++) {
		struct event e = x->ready[i];
		const struct ang_step *s = step_of(x, e.rank, e.step);
		u32 l;

		if (!room(x, e.rank, s->peer)) {
			x->ready[kept++] = e;
			continue;
		}
		l = level_of(x->s, x->s->core[e.rank], x->s->core[s->peer]);
		occupy(x, e.rank, s->peer, 1);
		e.time = later(x, x->now, x->s->level[l].a +
			       x->s->level[l].b * (double)s->len);
		heap_push(x, e);
	}
	x->waiting = kept;
}

static void end_event(struct sim *x, struct event e)
{
	const struct ang_step *s = step_of(x, e.rank, e.step);
	u32 l;

	if (s->kind != ANG_STEP_SEND) {
		end(x, e.rank, e.step);
		return;
	}
	l = level_of(x->s, x->s->core[e.rank], x->s->core[s->peer]);
	x->t->messages[l]++;
	x->t->bytes[l] += s->len;
	occupy(x, e.rank, s->peer, -1U);
	end(x, e.rank, e.step);
	end(x, s->peer, e.other);
}

static void make(struct sim *x)
{
	struct ang_coll_args args = x->j->args;
	u64 most = 0;
	u32 l;

	for (args.rank = 0; args.rank < args.size; args.rank++) {
		struct member *m = &x->m[args.rank];

		if (ang_schedule_make(&args, &m->sched))
			exit(fail("no memory for the schedules of %u ranks", args.size));
		if (!args.rank)
			need_steps(x->j, m->sched.n, STEPS_MOST);
		m->state = need_memory(m->sched.n, 1);
		most += m->sched.width;
	}
	x->heap = need_memory(most, sizeof(*x->heap));
	x->ready = need_memory(most, sizeof(*x->ready));
	for (l = 0; l < x->s->num; l++) {
		const struct level *at = &x->s->level[l];
		/* The parts of a level that was found on a machine are numbered 0..count - 1. */
		u32 parts = at->part ? at->count :
				       part_of(x->s, x->s->ranks - 1, l) + 1;

		x->up[l] = need_memory(parts, sizeof(u32));
		x->down[l] = need_memory(parts, sizeof(u32));
	}
}

static void destroy(struct sim *x)
{
	u32 i;

	for (i = 0; i < x->s->ranks; i++) {
		ang_schedule_free(&x->m[i].sched);
		free(x->m[i].state);
	}
	for (i = 0; i < x->s->num; i++) {
		free(x->up[i]);
		free(x->down[i]);
	}
	free(x->heap);
	free(x->ready);
	free(x->m);
}

/**
 * simulate() - execute a collective
 * @j: collective
 * @s: system
 * @t: out: messages that have ended
 *
 * Return: seconds until the last member has ended.
 */
double simulate(const struct job *j, const struct levels *s, struct traffic *t)
{
	struct sim x = {
		.j = j, .s = s, .t = t, .m = need_memory(s->ranks, sizeof(*x.m)),
	};
	u32 i;

	*t = (struct traffic){ 0 };
	make(&x);
	for (i = 0; i < s->ranks; i++)
		begin(&x, i);
	start_messages(&x);
	while (x.events) {
		x.now = x.heap[0].time;
		while (x.events && x.heap[0].time == x.now)
			end_event(&x, heap_pop(&x));
		start_messages(&x);
	}
	for (i = 0; i < s->ranks; i++)
		if (x.m[i].prefix < x.m[i].sched.n)
			exit(fail("member %u waits for a message that no member sends", i));
	destroy(&x);
	return (double)x.now / FEMTO;
}
