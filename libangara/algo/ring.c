// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Allreduce around rings, one dimension after another.
 *
 * Members form a torus of sizes r[0], r[1], ...  Members that differ only in
 * coordinate d form a ring.  First each ring of dimension 0 combines the
 * vector: each of its members gets the result of one part.  The rings of the
 * next dimension combine only that part, cut into smaller parts.  Then the
 * parts are distributed, in reverse order of the dimensions.
 *
 * If a part is cut into packets, combining is asynchronous: a packet is
 * combined while the next one is in flight.  The steps of stage s send packet
 * s, receive packet s and combine packet s - 1.  A part then has at least two
 * packets, so stage s sends a packet that an earlier stage has combined.
 */
#include "gen.h"

/**
 * struct line - the ring of a member in one dimension
 * @r: number of members
 * @at: position of this member
 * @right: rank of the next member
 * @left: rank of the previous member
 * @first: first element that the ring combines
 * @count: number of elements that the ring combines
 * @packets: packets of a part
 */
struct line {
	u32 r;
	u32 at;
	u32 right;
	u32 left;
	size_t first;
	size_t count;
	u32 packets;
};

/**
 * struct around - the rings of a member
 * @g: schedule
 * @temp: one packet; two if combining is asynchronous
 * @room: largest number of bytes of a packet
 * @stage: number of messages so far in each direction; equal at all members
 */
struct around {
	struct gen *g;
	struct ang_range temp;
	size_t room;
	u32 stage;
};

/* Return: bytes of packet @k of part @i.  @where: out: place of the packet in OUT. */
static size_t packet_at(const struct gen *g, const struct line *l, u32 i, u32 k,
			u32 packets, struct ang_range *where)
{
	size_t part = gen_cut(l->count, i, l->r);
	size_t count = gen_cut(l->count, i + 1, l->r) - part;
	size_t from = gen_cut(count, k, packets);

	*where = out_at((l->first + part + from) * g->a->elem);
	return (gen_cut(count, k + 1, packets) - from) * g->a->elem;
}

/*
 * Return: tag of the next message.  Tags may repeat: members of a ring are less
 * than ang_coll_args.size stages apart.
 */
static u32 ring_tag(struct around *a)
{
	return a->stage++ % (2 * a->g->a->size + ANG_ALGO_PACKETS);
}

static void ring_combine(struct around *a, const struct line *l, u32 stage)
{
	struct ang_range to;
	u32 out, in;
	size_t len;

	gen_around(l->at, l->r, stage / l->packets, &out, &in);
	len = packet_at(a->g, l, in, stage % l->packets, l->packets, &to);
	gen_combine(a->g, to, at(a->temp, stage % 2 * a->room), len);
}

static void ring_add(struct around *a, const struct line *l)
{
	u32 stages = (l->r - 1) * l->packets, s;
	struct gen *g = a->g;

	for (s = 0; s < stages; s++) {
		u32 k = s % l->packets, tag = ring_tag(a), out, in;
		struct ang_range where;
		size_t len;

		gen_around(l->at, l->r, s / l->packets, &out, &in);
		len = packet_at(g, l, out, k, l->packets, &where);
		gen_send(g, l->right, tag, where, len);
		len = packet_at(g, l, in, k, l->packets, &where);
		gen_recv(g, l->left, tag, at(a->temp, s % 2 * a->room), len);
		if (l->packets == 1)
			gen_fence(g);	/* no overlap: the next message contains this sum */
		if (l->packets == 1 || s)
			ring_combine(a, l, l->packets == 1 ? s : s - 1);
		gen_fence(g);
	}
	if (stages && l->packets > 1)
		ring_combine(a, l, stages - 1);
	gen_fence(g);
}

/*
 * Distributes the parts.  At first, each member has only the result of its own
 * part.
 */
static void ring_distribute(struct around *a, const struct line *l)
{
	u32 i;

	for (i = 0; i + 1 < l->r; i++) {
		u32 tag = ring_tag(a), out, in;
		struct ang_range where;
		size_t len;

		gen_around(l->at, l->r, i, &in, &out);
		out = (in + 1) % l->r;
		len = packet_at(a->g, l, out, 0, 1, &where);
		gen_send(a->g, l->right, tag, where, len);
		len = packet_at(a->g, l, in, 0, 1, &where);
		gen_recv(a->g, l->left, tag, where, len);
		gen_fence(a->g);
	}
}

/* The ring along dimension @d that combines @count elements from @first on. */
static struct line line_of(const struct gen *g, u32 d, size_t first, size_t count)
{
	u32 rank = g->a->rank, below = 1, i;
	struct line l = { .first = first, .count = count };

	for (i = 0; i < d; i++)
		below *= g->a->dims[i];
	l.r = g->a->ndims ? g->a->dims[d] : g->a->size;
	l.at = rank / below % l.r;
	l.right = rank - l.at * below + (l.at + 1) % l.r * below;
	l.left = rank - l.at * below + (l.at + l.r - 1) % l.r * below;
	return l;
}

/* Runs the dimensions from @d on.  @most: the largest @count of any member. */
static void ring_dims(struct around *a, u32 d, size_t first, size_t count,
		      size_t most)
{
	const struct ang_coll_args *args = a->g->a;
	struct line l = line_of(a->g, d, first, count);
	size_t part = gen_cut(count, l.at, l.r);

	most = (most + l.r - 1) / l.r;
	l.packets = ang_algo_packets(most * args->elem, args->packet);
	ring_add(a, &l);
	if (d + 1 < args->ndims)
		ring_dims(a, d + 1, first + part,
			  gen_cut(count, l.at + 1, l.r) - part, most);
	ring_distribute(a, &l);
}

/* Bytes of the longest packet. */
static size_t ring_room(const struct ang_coll_args *a)
{
	size_t count = a->count, room = 0, part;
	u32 d;

	for (d = 0; d < (a->ndims ? a->ndims : 1); d++) {
		u32 r = a->ndims ? a->dims[d] : a->size, packets;

		if (r == 1)
			continue;
		count = (count + r - 1) / r;
		packets = ang_algo_packets(count * a->elem, a->packet);
		part = (count + packets - 1) / packets * a->elem;
		room = part > room ? part : room;
	}
	return room;
}

void ang_gen_allreduce_ring(struct gen *g)
{
	size_t room = ring_room(g->a);
	struct around a = { .g = g, .room = room };

	a.temp = gen_temp(g, g->a->packet ? 2 * room : room);
	if (!g->a->packet)
		a.room = 0;
	gen_copy(g, out_at(0), in_at(0), gen_len(g));
	gen_fence(g);
	ring_dims(&a, 0, 0, g->a->count, g->a->count);
}
