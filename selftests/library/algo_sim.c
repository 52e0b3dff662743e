// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A network that executes the schedules of all members of a collective at once;
 * a seeded generator chooses which message to deliver next.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo_sim.h"

u64 seed = 1;
char why[256];
struct map (*op)(struct map, struct map);
struct member m[MAX_SIZE];
u64 messages, bytes;

/**
 * struct letter - a message in flight
 * @from: sender
 * @step: its step
 * @knows: members whose data the sender had, one bit each
 */
struct letter {
	u32 from;
	u32 step;
	u64 knows;
};

/* Each member has at most 4 messages in flight to each other member. */
#define MAX_LETTERS	(MAX_SIZE * MAX_SIZE * 4)

static struct letter wire[MAX_LETTERS];
static u32 letters;
static bool refused;	/* a send was refused since this flag was cleared */

u32 any(u32 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(seed >> 33) % below;
}

bool wrong(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	return false;
}

static void sim_combine(void *arg, void *acc, const void *in, size_t len)
{
	struct map *x = acc;
	const struct map *y = in;
	size_t i;

	(void)arg;
	for (i = 0; i < len / sizeof(*x); i++)
		x[i] = op(x[i], y[i]);
}

/* Return: element @i of the contribution of member @rank. */
struct map given(u32 rank, size_t i)
{
	return (struct map){ .a = (u32)(rank * 2654435761U + i * 40503U) | 1,
			     .b = (u32)(i * 97U + rank) };
}

/* Is the range of a step inside its buffer? */
static bool range_ok(const struct member *x, struct ang_range r, size_t len)
{
	size_t room = r.buf == ANG_BUF_TEMP ? x->run.sched.temp : x->len[r.buf];

	return r.off <= room && len <= room - r.off;
}

static bool reads(const struct ang_step *s)
{
	return s->kind != ANG_STEP_RECV;
}

static bool writes(const struct ang_step *s)
{
	return s->kind != ANG_STEP_SEND;
}

static bool overlap(struct ang_range a, struct ang_range b, size_t alen, size_t blen)
{
	return a.buf == b.buf && a.off < b.off + blen && b.off < a.off + alen;
}

/* May two unordered steps run at the same time? */
static bool apart(const struct ang_step *a, const struct ang_step *b)
{
	return !(writes(a) && writes(b) && overlap(a->dst, b->dst, a->len, b->len)) &&
	       !(writes(a) && reads(b) && overlap(a->dst, b->src, a->len, b->len)) &&
	       !(reads(a) && writes(b) && overlap(a->src, b->dst, a->len, b->len));
}

static bool same_message(const struct ang_step *a, const struct ang_step *b)
{
	return (a->kind == ANG_STEP_SEND || a->kind == ANG_STEP_RECV) &&
	       a->kind == b->kind && a->peer == b->peer && a->tag == b->tag;
}

bool schedule_ok(const struct member *x)
{
	u32 i, k;

	for (i = 0; i < x->run.sched.n; i++) {
		const struct ang_step *s = &x->run.sched.steps[i];

		if ((reads(s) && !range_ok(x, s->src, s->len)) ||
		    (writes(s) && !range_ok(x, s->dst, s->len)))
			return wrong("step %u of member %u reaches outside of its buffer", i, x->args.rank);
		if (writes(s) && s->len && s->dst.buf == ANG_BUF_IN)
			return wrong("step %u of member %u writes to its contribution", i,
				     x->args.rank);
		if (s->after > i || (i && s->after < s[-1].after))
			return wrong("step %u of member %u waits for itself, or for less than the step before", i, x->args.rank);
		if ((s->kind == ANG_STEP_SEND || s->kind == ANG_STEP_RECV) &&
		    (s->peer >= x->args.size || s->peer == x->args.rank ||
		     s->tag >= 2 * x->args.size + 64))
			return wrong("step %u of member %u: its peer or its tag is out of range", i, x->args.rank);
		for (k = s->after; k < i; k++)
			if (!apart(&x->run.sched.steps[k], s) ||
			    same_message(&x->run.sched.steps[k], s))
				return wrong("steps %u and %u of member %u use the same memory or message at once", k, i,
					     x->args.rank);
	}
	return true;
}

/*
 * Sends a message, or refuses at random, as if there were no room.  The step of
 * an empty message ends at once.  Any other send ends when its message is
 * delivered, or when the receiver has confirmed it.
 */
static int sim_send(void *arg, u32 step)
{
	struct member *x = arg;
	const struct ang_step *s = &x->run.sched.steps[step];
	u32 luck = any(8);

	if (luck < 2) {
		refused = true;
		return luck ? -EAGAIN : -EBUSY;
	}
	if (s->kind == ANG_STEP_RECV)
		ang_run_set(&m[s->peer].run,
			    ang_run_find(&m[s->peer].run, ANG_STEP_SEND,
					 x->args.rank, s->tag), ANG_RUN_ENDED);
	else if (letters < MAX_LETTERS)
		wire[letters++] = (struct letter){
			.from = x->args.rank, .step = step, .knows = x->knows,
		};
	if (s->kind == ANG_STEP_RECV || !s->len)
		ang_run_set(&x->run, step, ANG_RUN_ENDED);
	return 0;
}

const struct ang_run_ops sim_ops = {
	.send = sim_send,
	.combine = sim_combine,
	.has_temp = true,
};

/*
 * Delivers a message. Return: 1: delivered; 0: the receiver has not begun the
 * step; -1: the receiver expects another length.
 */
static int deliver(u32 which)
{
	struct letter l = wire[which];
	struct ang_run *from = &m[l.from].run;
	const struct ang_step *s = &from->sched.steps[l.step];
	struct ang_run *to = &m[s->peer].run;
	u32 i = ang_run_find(to, ANG_STEP_RECV, l.from, s->tag);

	if (i == ANG_NO_STEP)
		return 0;
	if (to->sched.steps[i].len != s->len)
		goto mismatch;
	memcpy(ang_run_data(to, i), ang_run_data(from, l.step), s->len);
	if (s->len && any(2)) {
		ang_run_set(to, i, ANG_RUN_BUSY);
		ang_run_set(to, i, ANG_RUN_SENDS);
	} else {
		ang_run_set(to, i, ANG_RUN_ENDED);
		ang_run_set(from, l.step, ANG_RUN_ENDED);
	}
	wire[which] = wire[--letters];
	messages++;
	bytes += s->len;
	m[s->peer].knows |= l.knows;
	return 1;

mismatch:
	wrong("a message of %zu bytes from member %u to %u, which expects %zu", s->len, l.from, s->peer,
	      to->sched.steps[i].len);
	return -1;
}

bool run(u32 n)
{
	u32 i, k;

	letters = 0;
	messages = bytes = 0;
	for (;;) {
		bool some = false, over = true;
		int done = 0;

		refused = false;
		for (k = any(n), i = 0; i < n; i++)
			some |= ang_run_go(&m[(i + k) % n].run) > 0;
		for (i = 0; i < n; i++)
			over &= ang_run_done(&m[i].run);
		if (over)
			return letters ? wrong("%u messages have no receiver", letters) : true;
		for (k = letters ? any(letters) : 0, i = 0; i < letters && !done; i++)
			done = deliver((i + k) % letters);
		if (done < 0)
			return false;
		if (!some && !done && !refused)
			return wrong("no member can continue, and no message is on its way");
	}
}
