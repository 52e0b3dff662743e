// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages between contexts that stay, and between contexts that are created
 * and destroyed.  Receivers are slow, so that some messages are refused and
 * wait.
 *
 * A fence holds an operation back until earlier operations to the same node have
 * ended; some of these are messages that the receiver refuses first.
 *
 * A tag holds the sender, its life, and the number of the message.
 */
#include <string.h>

#include "explore.h"

#define ROUNDS	6
#define TAG(cid, life, number)	((u64)(life) << 32 | (u64)(cid) << 24 | (number))

static void send_end(struct actor *a, struct context *c, const struct posted *p,
		     u32 status)
{
	/* A context exists for a moment before its receive buffer does. */
	EXPECT(status == ANGARA_ST_OK ||
	       (family->lives && (status == ANGARA_ST_TARGET ||
				  status == ANGARA_ST_ACCESS)));
}

static void send(struct actor *a, struct context *c)
{
	static const u32 lens[] = { 0, 40, 240, 241, 700, 4000, 4000 };
	u32 to = pick(a, family->nodes) * CTXS + pick(a, family->ctxs);
	struct angara_wqe w = wqe_p2p(ANGARA_OP_SEND, to / CTXS, to % CTXS, 0,
				      0, lens[pick(a, NUM(lens))]);
	struct posted *p;
	u64 tag;

	if (!may_post(c))
		return;
	tag = TAG(c->cid, c->life, ++c->msgs);
	w.roff = cpu_to_le64(tag);
	w.aux = cpu_to_le64(~tag);
	p = post_op(a, c, w, NULL);
	p->end = send_end;
	ring(a, c);
}

/*
 * Checks that the messages of each sender arrive in the order of sending, and
 * each at most once.  The numbers of messages continue over all lives of a
 * sender.
 */
static void arrive(struct context *c, const struct angara_msg *m)
{
	u64 tag = le64_to_cpu(m->tag);
	u32 cid = tag >> 24 & 0xFF;
	u32 number = tag & 0xFFFFFF;

	EXPECT_EQ(le64_to_cpu(m->imm), ~tag);
	EXPECT(cid < NODES * CTXS);
	EXPECT_EQ(le32_to_cpu(m->node), cid / CTXS);
	EXPECT_EQ(le16_to_cpu(m->ctx), cid % CTXS);
	EXPECT(number > c->got[cid]);
	c->got[cid] = number;
}

static void receive(struct actor *a, struct context *c, u32 most)
{
	const struct angara_msg *m;
	u32 voids = 0;

	while (most-- && (m = area_next(&c->area, &voids))) {
		TRACE("context %u takes a message", c->t.id);
		arrive(c, m);
		area_free(&c->area, m);
	}
	EXPECT(!voids || family->lives);
}

static void receive_all(struct actor *a, u32 most)
{
	u32 i;

	for (i = 0; i < family->ctxs; i++)
		if (a->ctx[i].life & 1)
			receive(a, &a->ctx[i], most);
}

static bool sent(struct actor *a)
{
	receive_all(a, 2);
	return nothing_pending(a);
}

/* Checks that a fenced operation ends after all earlier ones to its node. */
static void fence_end(struct actor *a, struct context *c, const struct posted *p,
		      u32 status)
{
	u32 i;

	EXPECT_EQ(status, ANGARA_ST_OK);
	for (i = 0; p->value && i < OPS; i++) {
		const struct posted *o = &c->op[i];

		EXPECT(!o->used || o->cookie >> 8 > p->cookie >> 8 ||
		       o->to / CTXS != p->to / CTXS);
	}
}

/* Posts a message that may be refused, a put or a get, half of them fenced. */
static void fence_post(struct actor *a, struct context *c)
{
	static const u8 ops[] = { ANGARA_OP_SEND, ANGARA_OP_SEND, ANGARA_OP_PUT,
				  ANGARA_OP_GET };
	static const u32 lens[] = { 8, 700, 4000 };
	u32 to = pick(a, family->nodes) * CTXS + pick(a, family->ctxs);
	u32 opcode = ops[pick(a, NUM(ops))], len = lens[pick(a, NUM(lens))];
	bool send = opcode == ANGARA_OP_SEND, get = opcode == ANGARA_OP_GET;
	bool fence = pick(a, 2);
	struct angara_wqe w = wqe_p2p(opcode, to / CTXS, to % CTXS,
				      send ? 0 : OUT(get),
				      send ? 0 : get ? NAME : IN(a->index, 0),
				      send ? len : get ? NAME_LEN : len % SLOT);
	struct posted *p;

	if (!may_post(c))
		return;
	if (fence)
		w.flags |= ANGARA_WQE_FENCE;
	if (send) {
		w.roff = cpu_to_le64(TAG(c->cid, c->life, ++c->msgs));
		w.aux = cpu_to_le64(~le64_to_cpu(w.roff));
	}
	p = post_op(a, c, w, NULL);
	p->value = fence;
	p->end = fence_end;
	ring(a, c);
}

static void act(struct actor *a)
{
	void (*start)(struct actor *a, struct context *c) =
		family == &fences ? fence_post : send;
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		struct context *c = &a->ctx[pick(a, family->ctxs)];

		if (family->lives && !pick(a, 5)) {
			if (c->life & 1)
				context_destroy(a, c);
			else
				context_create(a, c);
		} else {
			start(a, c);
			start(a, c);
		}
		run_some(a);
		reap(a);
		if (!pick(a, 4))
			receive_all(a, 1 + pick(a, 2));
	}
	if (!family->lives || pick(a, 2))
		actor_wait(a, sent, "its messages");
}

/* An actor that has ended takes no messages, but other actors may send to it. */
static bool others_sent(struct actor *a)
{
	u32 i;

	bool all = true;

	for (i = 0; i < family->nodes; i++)
		all &= __atomic_load_n(&shared.actor[i].done,
				       __ATOMIC_ACQUIRE);
	receive_all(a, ROUNDS * 2 * NODES * CTXS);
	return all;
}

static void act_steady(struct actor *a)
{
	act(a);
	__atomic_store_n(&a->done, 1, __ATOMIC_RELEASE);
	stepped();
	actor_wait(a, others_sent, "others' messages");
}

static void act_lives(struct actor *a)
{
	u32 i;

	act(a);
	for (i = 0; i < family->ctxs; i++)
		if (a->ctx[i].life & 1)
			context_destroy(a, &a->ctx[i]);
}

static void end_steady(void)
{
	u32 i, k, n;
	u32 most[NODES * CTXS] = { 0 };

	for (i = 0; i < family->nodes; i++)
		for (k = 0; k < family->ctxs; k++)
			for (n = 0; n < NODES * CTXS; n++)
				if (shared.actor[i].ctx[k].got[n] > most[n])
					most[n] = shared.actor[i].ctx[k].got[n];
	/* The last message of each sender has arrived. */
	for (n = 0; n < NODES * CTXS; n++)
		EXPECT_EQ(most[n], context_of(n)->msgs);
}

const struct family messages = {
	.name = "messages", .nodes = 2, .ctxs = 2, .areas = true,
	.what = "messages to slow receivers",
	.act = act_steady, .end = end_steady,
};

const struct family messages_lives = {
	.name = "letters", .nodes = 3, .ctxs = 1, .areas = true, .lives = true,
	.what = "messages to contexts that come and go",
	.act = act_lives,
};

const struct family fences = {
	.name = "fences", .nodes = 3, .ctxs = 2, .areas = true,
	.what = "operations with fences, to slow receivers",
	.act = act_steady, .end = end_steady,
};
