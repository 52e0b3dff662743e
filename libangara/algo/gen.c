// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A schedule under construction: its list of steps, and the ranges of blocks and
 * parts. The generators of all algorithms call these functions.
 */
#include <errno.h>
#include <stdlib.h>

#include "gen.h"

#define STEPS_FIRST	16U

static void gen_step(struct gen *g, struct ang_step step)
{
	struct ang_schedule *s = g->s;

	if (g->err)
		return;
	if (s->n == s->room) {
		u32 room = s->room ? 2 * s->room : STEPS_FIRST;
		struct ang_step *steps = realloc(s->steps, room * sizeof(*steps));

		if (!steps) {
			g->err = -ENOMEM;
			return;
		}
		s->steps = steps;
		s->room = room;
	}
	step.after = g->after;
	s->steps[s->n++] = step;
	if (s->n - g->after > s->width)
		s->width = s->n - g->after;
}

/* Adds no step for an empty range: both sides of a message know its length. */
void gen_send(struct gen *g, u32 peer, u32 tag, struct ang_range src, size_t len)
{
	if (len)
		gen_step(g, (struct ang_step){ .kind = ANG_STEP_SEND, .peer = peer,
					       .tag = tag, .src = src, .len = len });
}

void gen_recv(struct gen *g, u32 peer, u32 tag, struct ang_range dst, size_t len)
{
	if (len)
		gen_step(g, (struct ang_step){ .kind = ANG_STEP_RECV, .peer = peer,
					       .tag = tag, .dst = dst, .len = len });
}

/*
 * Adds steps that send an empty message to one member and receive an empty
 * message from another.
 */
void gen_token(struct gen *g, u32 to, u32 from, u32 tag)
{
	gen_step(g, (struct ang_step){ .kind = ANG_STEP_SEND, .peer = to,
				       .tag = tag });
	gen_step(g, (struct ang_step){ .kind = ANG_STEP_RECV, .peer = from,
				       .tag = tag });
}

void gen_copy(struct gen *g, struct ang_range dst, struct ang_range src,
	      size_t len)
{
	if (len)
		gen_step(g, (struct ang_step){ .kind = ANG_STEP_COPY, .dst = dst,
					       .src = src, .len = len });
}

void gen_combine(struct gen *g, struct ang_range dst, struct ang_range src,
		 size_t len)
{
	if (len)
		gen_step(g, (struct ang_step){ .kind = ANG_STEP_COMBINE, .dst = dst,
					       .src = src, .len = len });
}

/* Makes all later steps wait until all steps so far have ended. */
void gen_fence(struct gen *g)
{
	g->after = g->s->n;
}

/*
 * Adds a range of @len bytes to ANG_BUF_TEMP.  Ranges begin at multiples of 64
 * bytes, since combining needs aligned elements.
 */
struct ang_range gen_temp(struct gen *g, size_t len)
{
	struct ang_range r = temp_at(g->s->temp);

	g->s->temp += (len + 63) & ~(size_t)63;
	return r;
}

static size_t block_len(const struct gen *g, const struct ang_blocks *b, u32 i)
{
	return (b->counts ? b->counts[i] : g->a->count) * g->a->elem;
}

static size_t block_off(const struct gen *g, const struct ang_blocks *b, u32 i)
{
	size_t off = 0;
	u32 k;

	if (b->displs)
		return b->displs[i] * g->a->elem;
	if (!b->counts)
		return i * gen_len(g);
	for (k = 0; k < i; k++)
		off += b->counts[k];
	return off * g->a->elem;
}

size_t gen_in_off(const struct gen *g, u32 i)
{
	return block_off(g, &g->a->in, i);
}

size_t gen_in_len(const struct gen *g, u32 i)
{
	return block_len(g, &g->a->in, i);
}

size_t gen_out_off(const struct gen *g, u32 i)
{
	return block_off(g, &g->a->out, i);
}

size_t gen_out_len(const struct gen *g, u32 i)
{
	return block_len(g, &g->a->out, i);
}

/* First element of part @i if @count elements are cut into @parts parts. */
size_t gen_cut(size_t count, u32 i, u32 parts)
{
	u64 all = count;

	return (size_t)(all / parts * i + all % parts * i / parts);
}

/* Byte offset of part @i if the vector is cut into @parts parts. */
size_t gen_part(const struct gen *g, u32 i, u32 parts)
{
	return gen_cut(g->a->count, i, parts) * g->a->elem;
}

/**
 * ang_algo_packets() - number of packets of a message
 * @len: bytes of the message
 * @packet: bytes of a packet; 0: the message is whole
 *
 * Return: 1 to ANG_ALGO_PACKETS.
 */
u32 ang_algo_packets(size_t len, size_t packet)
{
	size_t num = packet && len ? (len - 1) / packet + 1 : 1;

	return num < ANG_ALGO_PACKETS ? (u32)num : ANG_ALGO_PACKETS;
}
