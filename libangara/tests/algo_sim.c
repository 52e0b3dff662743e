// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A network that executes the schedules of all members of a collective at once,
 * and delivers when a seeded generator says so.
 */
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

/** struct letter - a message under way; @step is that of the sender */
struct letter {
	u32 from;
	u32 step;
};

static struct letter *wire;
static u32 letters, wire_room;

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

static void combine(void *acc, const void *in, size_t len)
{
	struct map *x = acc;
	const struct map *y = in;
	size_t i;

	for (i = 0; i < len / sizeof(*x); i++)
		x[i] = op(x[i], y[i]);
}

/* What member @rank gives as element @i. */
struct map given(u32 rank, size_t i)
{
	return (struct map){ .a = (u32)(rank * 2654435761U + i * 40503U) | 1,
			     .b = (u32)(i * 97U + rank) };
}

/* Checks what a step says of itself. */
static bool range_ok(const struct member *x, struct ang_range r, size_t len)
{
	size_t room = r.buf == ANG_BUF_TEMP ? x->s.temp : x->len[r.buf];

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

/* May two steps that are not ordered stand side by side? */
static bool apart(const struct ang_step *a, const struct ang_step *b)
{
	return !(writes(a) && writes(b) && overlap(a->dst, b->dst, a->len, b->len)) &&
	       !(writes(a) && reads(b) && overlap(a->dst, b->src, a->len, b->len)) &&
	       !(reads(a) && writes(b) && overlap(a->src, b->dst, a->len, b->len));
}

bool schedule_ok(const struct member *x)
{
	u32 i, k;

	for (i = 0; i < x->s.n; i++) {
		const struct ang_step *s = &x->s.steps[i];

		if ((reads(s) && !range_ok(x, s->src, s->len)) ||
		    (writes(s) && !range_ok(x, s->dst, s->len)))
			return wrong("step %u of %u: out of the buffer", i, x->args.rank);
		if (writes(s) && s->len && s->dst.buf == ANG_BUF_IN)
			return wrong("step %u of %u writes what it is given", i,
				     x->args.rank);
		if (s->after > i || (i && s->after < s[-1].after))
			return wrong("step %u of %u: bad order", i, x->args.rank);
		if ((s->kind == ANG_STEP_SEND || s->kind == ANG_STEP_RECV) &&
		    (s->peer >= x->args.size || s->peer == x->args.rank ||
		     s->tag >= 2 * x->args.size + 64))
			return wrong("step %u of %u: bad peer or tag", i, x->args.rank);
		for (k = s->after; k < i; k++)
			if (!apart(&x->s.steps[k], s))
				return wrong("steps %u and %u of %u touch the same bytes",
					     k, i, x->args.rank);
	}
	return true;
}

static char *place(struct member *x, struct ang_range r)
{
	return x->buf[r.buf] + r.off;
}

static void post(u32 from, u32 step)
{
	if (letters == wire_room) {
		wire_room = wire_room ? 2 * wire_room : 64;
		wire = realloc(wire, wire_room * sizeof(*wire));
		if (!wire)
			exit(1);
	}
	wire[letters++] = (struct letter){ .from = from, .step = step };
}

static void end_step(struct member *x, u32 step)
{
	x->ended[step] = true;
	while (x->prefix < x->s.n && x->ended[x->prefix])
		x->prefix++;
}

/* Begins what may begin; sends and receives end when the message is delivered. */
static bool begin(struct member *x)
{
	bool some = false;

	while (x->begun < x->s.n && x->s.steps[x->begun].after <= x->prefix) {
		const struct ang_step *s = &x->s.steps[x->begun];

		switch (s->kind) {
		case ANG_STEP_SEND:
			post(x->args.rank, x->begun);
			break;
		case ANG_STEP_COPY:
			memmove(place(x, s->dst), place(x, s->src), s->len);
			end_step(x, x->begun);
			break;
		case ANG_STEP_COMBINE:
			combine(place(x, s->dst), place(x, s->src), s->len);
			end_step(x, x->begun);
			break;
		case ANG_STEP_RECV:
			break;
		}
		x->begun++;
		some = true;
	}
	return some;
}

/* The receive that a message is for, if it has begun. */
static int find_receive(const struct member *to, u32 from, u32 tag)
{
	int found = -1;
	u32 i;

	for (i = 0; i < to->begun; i++) {
		const struct ang_step *s = &to->s.steps[i];

		if (s->kind != ANG_STEP_RECV || s->peer != from || s->tag != tag)
			continue;
		if (found >= 0)
			return -2;
		found = (int)i;
	}
	return found;
}

static bool deliver(u32 which, bool *done)
{
	struct letter l = wire[which];
	const struct ang_step *s = &m[l.from].s.steps[l.step];
	struct member *to = &m[s->peer];
	int i = find_receive(to, l.from, s->tag);

	*done = false;
	if (i == -1)
		return true;
	if (i < 0 || to->ended[i])
		return wrong("two messages from %u to %u with tag %u", l.from, s->peer,
			     s->tag);
	if (to->s.steps[i].len != s->len)
		return wrong("%zu bytes from %u to %u, not %zu", s->len, l.from, s->peer,
			     to->s.steps[i].len);
	memcpy(place(to, to->s.steps[i].dst), place(&m[l.from], s->src), s->len);
	end_step(to, (u32)i);
	end_step(&m[l.from], l.step);
	wire[which] = wire[--letters];
	messages++;
	bytes += s->len;
	*done = true;
	return true;
}

bool run(u32 n)
{
	u32 i, k;

	letters = 0;
	messages = bytes = 0;
	for (;;) {
		bool some = false, over = true;

		for (k = any(n), i = 0; i < n; i++)
			some |= begin(&m[(i + k) % n]);
		for (i = 0; i < n; i++)
			over &= m[i].prefix == m[i].s.n;
		if (over)
			return letters ? wrong("%u messages nobody receives", letters) : true;
		for (k = letters ? any(letters) : 0, i = 0; i < letters; i++) {
			bool done;

			if (!deliver((i + k) % letters, &done))
				return false;
			some |= done;
			if (done)
				break;
		}
		if (!some)
			return wrong("nothing goes on");
	}
}

void clean(void)
{
	free(wire);
}
