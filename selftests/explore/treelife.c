// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lives of a tree: rows are set and cleared, contexts join and leave, some take
 * part and some do not.  The epoch is always the same.
 *
 * Each contribution has a number that is unique for its participant, in bits of
 * the sum that belong to that participant.  So a result identifies its
 * contributions.  All contributions to a result have to be of one life: each is
 * the n-th contribution of its participant since the participant joined, and the
 * participants of a node have joined the same life of their row.  A life of one
 * row always has the same life of the other row as partner.
 */
#include <string.h>

#include "explore.h"

#define BITS		16U	/* bits of a sum per participant */
#define MASK		((1ULL << BITS) - 1)
#define POSTS		64U
#define ROUNDS		9
#define SOURCE(n)	((n) % 8 * 8)
#define SINK(n)		(64 + (n) % 8 * 8)
#define LONG		3200U	/* bytes of a broadcast that delays other operations */
#define STEADY_CTX	2U	/* context that sends such broadcasts */

/* A contribution that a participant has posted. */
struct given {
	u64 life_number;
	u64 result;		/* result that includes this contribution, or 0 */
};

/* State that both nodes share, in shared.family. */
struct lives {
	struct given given[3][POSTS];
	u64 partner[2][POSTS];	/* by node and its life: life of the other node, plus 1 */
};

static_assert(sizeof(struct lives) <= sizeof(shared.family), "");

static struct lives *lives(void)
{
	return (struct lives *)shared.family;
}

/* Participants: contexts 0 and 1 of node 0, context 0 of node 1. */
static u32 part_of(const struct context *c)
{
	return c->t.node ? 2 : c->t.id;
}

static u32 parts(void)
{
	return family == &tree_again ? 2 : 3;
}

static u32 local_parts(const struct actor *a)
{
	return a->index ? parts() - 2 : 2;
}

/* Sets *@at if it was 0. Return: is *@at equal to @val now? */
static bool agree(u64 *at, u64 val)
{
	u64 old = 0;

	return __atomic_compare_exchange_n(at, &old, val, false,
					   __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST) || old == val;
}

static void together(u32 life0, u32 life1)
{
	if (agree(&lives()->partner[0][life0 % POSTS], life1 + 1) &&
	    agree(&lives()->partner[1][life1 % POSTS], life0 + 1))
		return;
	test_fail(__FILE__, __LINE__, "life %u of the row on node 0 and %u on "
		  "node 1 took part in one reduction, but also with others",
		  life0, life1);
}

static void result_check(struct context *c, const struct posted *p, u64 result)
{
	u32 me = part_of(c);
	u32 number = (u32)p->value;
	u32 life[3];
	u32 k;

	for (k = 0; k < parts(); k++) {
		u32 which = (u32)(result >> (BITS * k) & MASK);
		struct given *g;
		u64 val;

		if (!which || which >= POSTS)
			test_fail(__FILE__, __LINE__, "an allreduce is complete, but "
				  "participant %u has not contributed: %llx",
				  k, (unsigned long long)result);
		g = &lives()->given[k][which];
		val = __atomic_load_n(&g->life_number, __ATOMIC_ACQUIRE);
		EXPECT(val);
		life[k] = (u32)(val >> 32);
		if (k == me && which != p->len)
			test_fail(__FILE__, __LINE__, "contribution %u was given, "
				  "and %u is in the result", p->len, which);
		if ((u32)val != number + 1)
			test_fail(__FILE__, __LINE__, "contribution %u of this life "
				  "is in a result with %u of participant %u",
				  number, (u32)val - 1, k);
		if (!agree(&g->result, result))
			test_fail(__FILE__, __LINE__, "contribution %u of participant "
				  "%u is in two results: %llx, %llx", which, k,
				  (unsigned long long)g->result,
				  (unsigned long long)result);
	}
	if (life[0] != life[1])
		test_fail(__FILE__, __LINE__, "a result is made of lives %u and %u of "
			  "the row", life[0], life[1]);
	if (parts() > 2)
		together(life[0], life[2]);
}

static void reduced(struct actor *a, struct context *c, const struct posted *p,
		    u32 status)
{
	u64 result;

	if (status) {
		EXPECT(status == ANGARA_ST_TREE_DOWN ||
		       status == ANGARA_ST_NO_TREE);
		return;
	}
	memcpy(&result, c->t.buf + SINK(p->len), 8);
	result_check(c, p, le64_to_cpu((__le64)result));
}

static void met(struct actor *a, struct context *c, const struct posted *p,
		u32 status)
{
	EXPECT(status == ANGARA_ST_OK || status == ANGARA_ST_TREE_DOWN ||
	       status == ANGARA_ST_NO_TREE);
}

/*
 * Every third operation after a join is a barrier, so participants in different
 * lives of the row would post different operations.
 */
static void take_part(struct actor *a, struct context *c)
{
	u32 number = c->number++;
	bool barrier = number % 3 == 2;
	u32 which = ++c->msgs;
	struct angara_wqe w = wqe_coll(barrier ? ANGARA_OP_BARRIER :
						 ANGARA_OP_ALLREDUCE, TREE,
				       SOURCE(which), SINK(which),
				       barrier ? 0 : 8);
	u64 raw = (u64)which << (BITS * part_of(c));
	struct posted *p;

	EXPECT(which < POSTS);
	__atomic_store_n(&lives()->given[part_of(c)][which].life_number,
			 (u64)a->row_life << 32 | (number + 1),
			 __ATOMIC_RELEASE);
	w.type = barrier ? 0 : ANGARA_TYPE_UINT64;
	memcpy(c->t.buf + SOURCE(which), &raw, 8);
	p = post_op(a, c, w, NULL);
	p->value = number;
	p->len = which;
	p->end = barrier ? met : reduced;
	ring(a, c);
}

static void sent(struct actor *a, struct context *c, const struct posted *p,
		 u32 status)
{
	EXPECT_EQ(status, ANGARA_ST_OK);
}

/* Posts a long broadcast, which delays results of other operations. */
static void broadcast(struct actor *a)
{
	struct context *c = &a->ctx[STEADY_CTX];
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, STEADY, 0, 0,
				       pick(a, 3) ? LONG : 300);

	if (!may_post(c) || c->pending > 1)
		return;
	w.type = 0;
	post_op(a, c, w, NULL)->end = sent;
	ring(a, c);
}

static bool fetched(struct actor *a)
{
	u32 i;

	reap(a);
	for (i = 0; i < local_parts(a); i++)
		if ((u32)ctx_counter(&a->ctx[i].t, ANGARA_CTR_SQ_CI) !=
		    a->ctx[i].t.sq_pi)
			return false;
	return true;
}

/* Return: this node's row in a tree over both nodes, or over node 0 alone. */
static struct angara_tree_row row(struct actor *a)
{
	u16 pe[NODES] = { 2, (u16)(parts() - 2) };
	struct angara_tree_row rows[NODES];

	tree_rows(TREE, pe, rows);
	return rows[a->index];
}

static void joined(struct actor *a, struct context *c, u32 status)
{
	EXPECT(status == ANGARA_ADM_ST_OK || status == ANGARA_ADM_ST_DOWN);
	c->joined = status == ANGARA_ADM_ST_OK;
	c->number = 0;
}

static void join(struct actor *a, struct context *c)
{
	/* Wait: operations of an earlier life must not become part of this one. */
	actor_wait(a, fetched, "its entries");
	joined(a, c, command_op(a, ANGARA_ADM_JOIN, c->t.id, TREE));
}

static void clear(struct actor *a)
{
	u32 i;

	for (i = 0; i < local_parts(a); i++)
		a->ctx[i].joined = 0;
	EXPECT_EQ(command_op(a, ANGARA_ADM_TREE_CLEAR, 0, TREE),
		  ANGARA_ADM_ST_OK);
	a->row_life++;
}

static void set(struct actor *a)
{
	struct angara_tree_row r = row(a);

	EXPECT_EQ(command_row(a, &r), ANGARA_ADM_ST_OK);
	a->row_life++;
}

/*
 * Posts all commands with one doorbell, so that the node does no other work in
 * between.
 */
static void set_again(struct actor *a)
{
	struct angara_tree_row r = row(a);
	struct angara_adm_cmd cmd[4];
	u32 status[4];
	u32 n = 0;
	u32 i;

	actor_wait(a, fetched, "its entries");
	if (a->row_life & 1)
		cmd[n++] = cmd_op(ANGARA_ADM_TREE_CLEAR, 0, TREE);
	cmd[n++] = cmd_row(&r);
	for (i = 0; i < local_parts(a); i++)
		cmd[n++] = cmd_op(ANGARA_ADM_JOIN, i, TREE);
	commands(a, cmd, n, status);
	a->row_life += n - local_parts(a);
	for (i = 0; i < n - local_parts(a); i++)
		EXPECT_EQ(status[i], ANGARA_ADM_ST_OK);
	for (i = 0; i < local_parts(a); i++)
		joined(a, &a->ctx[i], status[n - local_parts(a) + i]);
}

static void leave(struct actor *a, struct context *c)
{
	c->joined = 0;
	EXPECT_EQ(command_op(a, ANGARA_ADM_LEAVE, c->t.id, TREE),
		  ANGARA_ADM_ST_OK);
}

static void again(struct actor *a, struct context *c)
{
	c->joined = 0;
	context_destroy(a, c);
	run_some(a);
	context_create(a, c);
}

static void act_random(struct actor *a)
{
	struct context *c = &a->ctx[pick(a, local_parts(a))];

	switch (pick(a, 12)) {
	case 0:
		broadcast(a);
		break;
	case 1:
		if (a->row_life & 1)
			clear(a);
		else
			set(a);
		break;
	case 2:
	case 3:
		set_again(a);
		break;
	case 4:
		if (c->joined)
			leave(a, c);
		break;
	case 5:
		again(a, c);
		break;
	default:
		if (!(a->row_life & 1))
			set(a);
		else if (!c->joined)
			join(a, c);
		else if (may_post(c) && c->pending < 3)
			take_part(a, c);
	}
}

static void finish_all(struct actor *a)
{
	if (a->row_life & 1)
		clear(a);
	actor_wait(a, nothing_pending, "its operations on a tree that is gone");
}

static void act_lives(struct actor *a)
{
	u32 i;

	/*
	 * Most scenarios start like programs: the node sets its row, and its
	 * contexts join.
	 */
	if (pick(a, 4))
		set_again(a);
	for (i = 0; i < ROUNDS; i++) {
		act_random(a);
		if (pick(a, 2))
			run_some(a);
		reap(a);
	}
	finish_all(a);
}

static void set_up(void)
{
	tree_steady(STEADY, STEADY_CTX);
}

const struct family trees_lives = {
	.name = "trees", .nodes = 2, .ctxs = 3,
	.what = "lives of a tree over two nodes",
	.set_up = set_up, .act = act_lives,
};

/* Two participants post, the row is set again, then one of them posts. */
static void act_again(struct actor *a)
{
	u32 i;

	broadcast(a);
	if (a->index) {
		run_some(a);
		actor_wait(a, nothing_pending, "its broadcast");
		return;
	}
	set_again(a);
	take_part(a, &a->ctx[0]);
	take_part(a, &a->ctx[1]);
	run_some(a);
	set_again(a);
	EXPECT(a->ctx[0].joined && a->ctx[1].joined);
	take_part(a, &a->ctx[0]);
	for (i = pick(a, 6); i; i--) {
		run_some(a);
		moment("pass the time");
		reap(a);
	}
	finish_all(a);
}

const struct family tree_again = {
	.name = "again", .nodes = 2, .ctxs = 3,
	.what = "a row set again while results of its last life are under way",
	.set_up = set_up, .act = act_again,
};
