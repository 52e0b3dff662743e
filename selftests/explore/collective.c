// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives on a tree that is never cleared: all participants start the same
 * operations in the same order, and each operation ends with the right result.
 * Also runs long broadcasts in one direction. They wait for one resource only,
 * so no other event wakes them.
 */
#include <string.h>

#include "explore.h"

#define ROUNDS		4
#define ROOM		1000U	/* bytes of one operation at the source, and at the sink */
#define SOURCE(n)	((n) * ROOM)
#define SINK(n)		((ROUNDS + (n)) * ROOM)

static_assert(SINK(ROUNDS) <= BUFFER, "memory of a context");

/* Parameters of operation @number, the same for all participants. */
struct plan {
	u32 op;
	u32 type;
	u32 len;
	u32 node;		/* source of a broadcast, or receiver of a reduction */
};

static struct plan plan(u32 number)
{
	static const u32 ops[] = {
		ANGARA_OP_ALLREDUCE, ANGARA_OP_BCAST, ANGARA_OP_ALLREDUCE,
		ANGARA_OP_REDUCE, ANGARA_OP_BARRIER,
	};
	u64 seed = shared.plan * 0x9E3779B97F4A7C15ULL + number + 1;
	struct plan p;
	u32 r;

	rnd(&seed);
	r = (u32)(rnd(&seed) >> 20);
	p.op = ops[r % NUM(ops)];
	p.type = r & 0x100 ? ANGARA_TYPE_DOUBLE : ANGARA_TYPE_UINT64;
	p.len = p.op == ANGARA_OP_BARRIER ? 0 : r & 0x200 ? 1000 : 8;
	p.node = (r >> 10) % family->nodes;
	return p;
}

/* Return: a small whole number, so that floating point sums are exact. */
static u64 element(const struct plan *p, u32 node, u32 number, u32 i)
{
	u64 val = (node + 1) * 100 + number * 10 + i % 7;
	double d = (double)val;

	if (p->type == ANGARA_TYPE_DOUBLE)
		memcpy(&val, &d, 8);
	return val;
}

static u64 sum(const struct plan *p, u32 number, u32 i)
{
	double total_double = 0;
	u64 total = 0;
	u32 node;

	for (node = 0; node < family->nodes; node++) {
		u64 val = element(p, node, number, i);
		double d;

		memcpy(&d, &val, 8);
		total += val;
		total_double += d;
	}
	if (p->type == ANGARA_TYPE_DOUBLE)
		memcpy(&total, &total_double, 8);
	return total;
}

static void ended(struct actor *a, struct context *c, const struct posted *o,
		  u32 status)
{
	u32 number = (u32)o->value;
	struct plan p = plan(number);
	u32 i;

	EXPECT_EQ(status, ANGARA_ST_OK);
	if (p.op == ANGARA_OP_BARRIER)
		EXPECT_EQ(__atomic_load_n(&shared.family[number],
					  __ATOMIC_ACQUIRE), family->nodes);
	if (p.op != ANGARA_OP_ALLREDUCE &&
	    (p.op != ANGARA_OP_REDUCE || p.node != a->index))
		return;
	for (i = 0; i < p.len / 8; i++) {
		u64 val;

		memcpy(&val, c->t.buf + SINK(number) + 8 * i, 8);
		EXPECT_EQ(val, sum(&p, number, i));
	}
}

static void start(struct actor *a, struct context *c, u32 number)
{
	struct plan p = plan(number);
	struct angara_wqe w = wqe_coll(p.op, TREE, SOURCE(number), SINK(number),
				       p.len);
	struct posted *o;
	u32 i;

	if (p.op == ANGARA_OP_BCAST && p.node != a->index)
		return;
	__atomic_fetch_add(&shared.family[number], 1, __ATOMIC_ACQ_REL);
	w.type = p.op > ANGARA_OP_BCAST ? (u8)p.type : 0;
	if (p.op == ANGARA_OP_BARRIER)
		w.type = 0;
	if (p.op == ANGARA_OP_REDUCE)
		w.dst_node = cpu_to_le32(p.node);
	for (i = 0; i < p.len / 8; i++) {
		u64 val = element(&p, a->index, number, i);

		memcpy(c->t.buf + SOURCE(number) + 8 * i, &val, 8);
	}
	o = post_op(a, c, w, NULL);
	o->value = number;
	o->end = ended;
	ring(a, c);
}

static bool room(struct actor *a)
{
	reap(a);
	return a->ctx[0].pending < 2;
}

static u32 broadcasts(void)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < ROUNDS; i++)
		count += plan(i).op == ANGARA_OP_BCAST;
	return count;
}

static bool came(struct actor *a)
{
	return nothing_pending(a) &&
	       ctx_counter(&a->ctx[0].t, ANGARA_CTR_BCAST(TREE)) ==
	       broadcasts();
}

static void act(struct actor *a)
{
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		start(a, &a->ctx[0], i);
		run_some(a);
		if (pick(a, 2))
			actor_wait(a, room, "room for a collective");
		else
			reap(a);
	}
	actor_wait(a, came, "its collectives");
}

/* Checks that the data of all broadcasts has arrived on all nodes. */
static void end(void)
{
	u32 number, i, k;

	for (number = 0; number < ROUNDS; number++) {
		struct plan p = plan(number);

		for (i = 0; i < family->nodes && p.op == ANGARA_OP_BCAST; i++)
			for (k = 0; k < p.len / 8; k++) {
				u64 val;

				memcpy(&val, shared.actor[i].ctx[0].t.buf +
				       SINK(number) + 8 * k, 8);
				EXPECT_EQ(val, element(&p, p.node, number, k));
			}
	}
}

void tree_rows(u32 tree, const u16 *pe, struct angara_tree_row *rows)
{
	struct angara_topo topo = { .ndims = 1 };
	u32 i;

	for (i = 0; i < ANG_MAX_DIMS; i++)
		topo.dims[i] = 1;
	topo.dims[0] = (u16)family->nodes;
	EXPECT(angara_tree_build(&topo, 0, pe, tree, rows) > 0);
	for (i = 0; i < family->nodes; i++) {
		rows[i].pkey = PKEY;
		rows[i].epoch = 7;
	}
}

void tree_steady(u32 tree, u32 ctx)
{
	static const u16 pe[NODES] = { 1, 1, 1, 1 };
	struct angara_tree_row rows[NODES];
	u32 i;

	tree_rows(tree, pe, rows);
	for (i = 0; i < family->nodes; i++) {
		struct actor *a = &shared.actor[i];

		EXPECT_EQ(command_row(a, &rows[i]), ANGARA_ADM_ST_OK);
		EXPECT_EQ(command_op(a, ANGARA_ADM_JOIN, ctx, tree),
			  ANGARA_ADM_ST_OK);
	}
}

static void set_up(void)
{
	tree_steady(TREE, 0);
}

const struct family collectives = {
	.name = "collectives", .nodes = 4, .ctxs = 1,
	.what = "broadcasts, reductions and barriers on a tree that stays",
	.set_up = set_up, .act = act, .end = end,
};

#define STREAMS		2U
#define STREAM		3200U
#define RINGS		12U

static void streamed(struct actor *a, struct context *c, const struct posted *o,
		     u32 status)
{
	EXPECT_EQ(status, ANGARA_ST_OK);
}

static bool all_came(struct actor *a)
{
	return nothing_pending(a) &&
	       ctx_counter(&a->ctx[0].t, ANGARA_CTR_BCAST(TREE)) == STREAMS;
}

static void act_stream(struct actor *a)
{
	struct context *c = &a->ctx[0];
	u32 i;

	for (i = 0; i < STREAMS && !a->index; i++) {
		struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, TREE, 0, STREAM,
					       STREAM);

		w.type = 0;
		memset(c->t.buf, 1, STREAM);
		post_op(a, c, w, NULL)->end = streamed;
		ring(a, c);
		run_some(a);
	}
	/*
	 * The receiving node runs at the same time as the sender, even without
	 * work.
	 */
	for (i = 0; i < RINGS && a->index; i++) {
		ring(a, c);
		run(a, 1 + pick(a, 3));
	}
	actor_wait(a, all_came, "its streams");
}

static void end_stream(void)
{
	u32 node, i;

	for (node = 0; node < family->nodes; node++)
		for (i = 0; i < STREAM; i++)
			EXPECT_EQ(shared.actor[node].ctx[0].t.buf[STREAM + i],
				  1);
}

const struct family rooms = {
	.name = "rooms", .nodes = 2, .ctxs = 1, .bufs = 128,
	.what = "broadcasts that wait for room only",
	.set_up = set_up, .act = act_stream, .end = end_stream,
};

const struct family buffers = {
	.name = "buffers", .nodes = 2, .ctxs = 1, .depth = 32,
	.what = "broadcasts that wait for buffers only",
	.set_up = set_up, .act = act_stream, .end = end_stream,
};
