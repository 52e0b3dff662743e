// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deadlock: packets are left, but no events.  Then the head of each waiting
 * buffer waits for room in the buffer behind a link.  Such buffers form a
 * cycle, which the message names.
 */
#include "sim.h"
#include "trace_text.h"

#define DEADLOCK_SHOWN	8U	/* most buffers of a cycle that the message names */

/**
 * struct place - the buffer behind a link
 * @node: router, counted from the first of this process; ANG_NONE: none
 * @src: source
 */
struct place {
	u32 node;
	u32 src;
};

static const struct place nowhere = { .node = ANG_NONE };

/* The partition that has a router. */
static struct sim_part *part_of(struct sim *s, u32 node)
{
	u32 i = 0;

	while (node >= s->part[i].hi)
		i++;
	return &s->part[i];
}

/* Return: the buffer that the head of buffer @at waits to enter; nowhere: it waits for none. */
static struct place next_place(struct sim *s, struct place at)
{
	const struct sim_fifo *f = sim_fifo(s, at.node, at.src);
	const struct sim_end *e;
	struct place to;
	u32 out, vc = f->vc;
	u64 links = f->todo & (SIM_PE(s) - 1);

	if (!f->head || !links)
		return nowhere;
	out = ang_lowest(links);
	if (f->adaptive) {	/* an adaptive head without room takes the deterministic route */
		const struct sim_part *p = part_of(s, at.node);
		u32 det = sim_route(s, at.node, p->pkt[f->head].dst);

		if (det != ANGARA_PORT_NONE) {	/* see reaches() in fault.c */
			out = det;
			vc = ANGARA_VC_REQ;
		}
	}
	e = sim_end(s, at.node, out);
	to.node = e->router - s->base;
	to.src = e->port * SIM_NVC + vc;
	if (to.node >= s->nodes || !sim_fifo(s, to.node, to.src)->head)
		return nowhere;
	return to;
}

static bool is_same(struct place a, struct place b)
{
	return a.node == b.node && a.src == b.src;
}

/*
 * Follow next_place() from @at.  Return: a place on the cycle in which the
 * steps end (Brent's algorithm); node ANG_NONE: there is no cycle.
 */
static struct place circle_from(struct sim *s, struct place at)
{
	struct place mark = at;
	u64 steps = 0, limit = 2;

	for (;;) {
		at = next_place(s, at);
		if (at.node == ANG_NONE || is_same(at, mark))
			return at;
		if (++steps == limit) {
			mark = at;
			steps = 0;
			limit *= 2;
		}
	}
}

static void circle_print(struct sim *s, struct place start)
{
	struct place at = start;
	u32 length = 0;

	fprintf(stderr, "; deadlock: packets wait in a cycle:");
	do {
		if (length++ < DEADLOCK_SHOWN)
			fprintf(stderr, "%s router %u, from port %u on %s",
				length > 1 ? " ->" : "", s->base + at.node,
				at.src / SIM_NVC, ang_vc_name(at.src % SIM_NVC));
		at = next_place(s, at);
	} while (!is_same(at, start));
	fprintf(stderr, "%s (%u buffers)",
		length > DEADLOCK_SHOWN ? " -> ..." : "", length);
}

/** sim_deadlock() - append a cycle of waiting packets, if any, to a message */
void sim_deadlock(struct sim *s)
{
	struct place at;

	for (at.node = 0; at.node < s->nodes; at.node++) {
		for (at.src = 0; at.src < s->src0; at.src++) {
			struct place circle;

			if (!sim_fifo(s, at.node, at.src)->head)
				continue;
			circle = circle_from(s, at);
			if (circle.node == ANG_NONE)
				continue;
			circle_print(s, circle);
			return;
		}
	}
}
