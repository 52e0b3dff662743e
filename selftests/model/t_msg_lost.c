// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages: lost nodes, and more nodes than a receiver distinguishes.
 */
#include <string.h>

#include "msgs.h"


/* If the node that has the turn is lost, the turn passes to the next one. */
static void lost_turn(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("4", &cfg);
	struct tctx *recv = member(h, 0, 0), *a = member(h, 1, 0);
	struct tctx *b = member(h, 3, 0);
	struct tarea *area = area_new(recv, MSG_LOG2);
	struct ang_node *n = ang_node(h->fab, 0);
	u32 i;

	fill_area(recv);
	send_msg(a, 0, 0, 1, MSG_LEN);
	host_run(h);
	send_msg(b, 0, 0, 2, MSG_LEN);
	host_run(h);
	/* Node 1 has the turn for the little room left; the others need more room. */
	EXPECT_EQ(ang_ctx(h->fab, n, 0)->area.turn, 2);
	ang_node(h->fab, 1)->remote = ANG_REMOTE_GONE;
	area_lost(h, n, ang_ctx(h->fab, n, 0));
	ang_node(h->fab, 1)->remote = ANG_REMOTE_NO;
	kick(recv);
	host_run(h);
	EXPECT_EQ(ang_ctx(h->fab, n, 0)->area.turn, 4);
	for (i = 0; i < 5; i++)
		expect_next(area, 1000 + i, NULL);
	expect_next(area, 2, NULL);
	expect_cqe(b, 2, ANGARA_ST_OK);
	ctx_del(recv);
	host_run(h);
	ctx_del(a);
	ctx_del(b);
	free(area);
	host_end(h);
}

static u32 unreachable(struct tctx *c)
{
	struct angara_cqe cqe;
	u32 n = 0;

	while (poll_cq(c, &cqe)) {
		EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_UNREACHABLE);
		EXPECT_EQ(le32_to_cpu(cqe.node), 1);
		n++;
	}
	return n;
}

/* Looks ten times for a message, and lets all nodes run after each time. */
static void drain(struct host *h, struct tarea *area, u32 *voids)
{
	u32 i;

	for (i = 0; i < 10; i++) {
		const struct angara_msg *m = area_next(area, voids);

		if (m)
			area_free(area, m);
		host_run(h);
	}
}

/* Loses node 1 while @a sends to it; later messages fail at once. */
static void lose_node_1(struct host *h, struct tctx *a)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_ATOMIC, 1, 0, 0, 0, 8);
	const u32 node = 1;
	u32 i;

	for (i = 0; i < 6; i++)
		send_msg(a, 1, 0, i, 10);
	post(a, &w, NULL);
	kick(a);
	run_steps(&h->v, 100);
	ang_remote_lost(&h->v, &node, 1);
	host_run(h);
	EXPECT_EQ(unreachable(a), 7);
	send_msg(a, 1, 0, 6, 10);
	host_run(h);
	EXPECT_EQ(unreachable(a), 1);
}

/*
 * A node is lost after @steps steps, with all messages that it was about to
 * send and all messages to it.
 */
static void lost_node(u32 steps)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("4", &cfg);
	struct tctx *recv = member(h, 0, 0), *a = member(h, 0, 1);
	struct tctx *lost = member(h, 1, 0), *b = member(h, 3, 0);
	struct tarea *area = area_new(recv, MSG_LOG2);
	u32 i, voids = 0;

	fill_area(recv);
	/* Either sender may have the turn when the loss is handled. */
	if (steps % 2)
		send_msg(b, 0, 0, 9, MSG_LEN);
	host_run(h);
	for (i = 0; i < 3; i++)
		send_msg(lost, 0, 0, i, i ? 10 : 4096);
	host_run(h);
	if (!(steps % 2))
		send_msg(b, 0, 0, 9, MSG_LEN);
	run_steps(&h->v, 100);
	for (i = 0; i < 3 && steps < 10; i++)
		expect_next(area, 1000 + i, NULL);
	run_steps(&h->v, steps);
	/*
	 * If the first host_freeze() finds node 1 in a queue, the node still
	 * runs once, and has to be frozen again.
	 */
	host_freeze(h, 1, 1);
	run_steps(&h->v, 100);
	host_freeze(h, 1, 1);
	lose_node_1(h, a);
	drain(h, area, &voids);
	expect_cqe(b, 9, ANGARA_ST_OK);
	EXPECT_EQ(ctx_counter(recv, ANGARA_CTR_MSG_WAIT), 0);
	send_msg(a, 3, 0, 7, 10);
	host_run(h);
	expect_cqe(a, 7, ANGARA_ST_ACCESS);
	/*
	 * The loss of node 1 was simulated: its packets still arrive, and have
	 * no receiver.
	 */
	ang_node(h->fab, 1)->remote = ANG_REMOTE_NO;
	host_freeze(h, 1, 0);
	host_run(h);
	while (area_next(area, &voids)) {
		area_free(area, area_next(area, &voids));
		host_run(h);
	}
	ctx_del(recv);
	ctx_del(lost);
	ctx_del(a);
	ctx_del(b);
	free(area);
	host_end(h);
}

static void lost_nodes(void)
{
	u32 steps;

	for (steps = 0; steps < 20; steps++)
		lost_node(steps);
}

/* Messages to a lost node end one by one, at any place in the line of senders. */
static void lost_line(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("4", &cfg);
	struct tctx *recv = member(h, 3, 0), *a = member(h, 0, 0);
	struct tarea *area = area_new(recv, MSG_LOG2);
	struct ang_ctx *c = ang_ctx(h->fab, ang_node(h->fab, 0), 0);
	const u32 node = 1;
	u64 packets;
	u32 i;

	fill_area(recv);
	/*
	 * The message with tag 5 takes the first slot, and frees it after the second is
	 * taken.
	 */
	send_msg(a, 3, 0, 5, MSG_LEN);
	host_run(h);
	host_freeze(h, 1, 1);
	send_msg(a, 1, 0, 1, 10);
	for (i = 0; i < 5; i++)
		expect_next(area, 1000 + i, NULL);
	expect_next(area, 5, NULL);
	expect_cqe(a, 5, ANGARA_ST_OK);
	send_msg(a, 1, 0, 2, 10);
	send_msg(a, 1, 0, 3, 10);
	host_run(h);
	EXPECT_EQ(ang_op(ang_node(h->fab, 0), c, 1)->next, 1);
	packets = c->cnt.tx_packets;
	ang_remote_lost(&h->v, &node, 1);
	host_run(h);
	EXPECT_EQ(unreachable(a), 3);
	EXPECT_EQ(c->cnt.tx_packets, packets);
	send_msg(a, 3, 0, 6, 10);
	expect_next(area, 6, NULL);
	expect_cqe(a, 6, ANGARA_ST_OK);
	ang_node(h->fab, 1)->remote = ANG_REMOTE_NO;
	host_freeze(h, 1, 0);
	host_run(h);
	ctx_del(recv);
	ctx_del(a);
	free(area);
	host_end(h);
}

/* There are more nodes than a receiver distinguishes: groups take turns. */
static void groups(void)
{
	struct ang_cfg cfg = cfg_tight;
	u32 from[] = { 1, 2, 3, 4098, 4099, 4159 };
	struct tctx *c[NUM(from)], *recv;
	struct tarea *area;
	struct host *h;
	u32 i, k, got = 0;

	cfg.ctxs = 1;
	cfg.ops = 4;
	h = host_new("65x64", &cfg);
	recv = member(h, 0, 0);
	area = area_new(recv, MSG_LOG2);
	for (i = 0; i < NUM(from); i++)
		c[i] = member(h, from[i], 0);
	for (k = 0; k < 3; k++)
		for (i = 0; i < NUM(from); i++)
			send_msg(c[i], 0, 0, k, MSG_LEN);
	for (k = 0; k < 3 * NUM(from); k++) {
		const struct angara_msg *m;

		host_run(h);
		m = area_next(area, NULL);
		EXPECT(m);
		got++;
		area_free(area, m);
	}
	EXPECT_EQ(got, 3 * NUM(from));
	/* Repeat this with a receiver that ends. */
	ctx_del(recv);
	free(area);
	recv = member(h, 0, 0);
	area = area_new(recv, MSG_LOG2);
	fill_area(recv);
	for (i = 0; i < NUM(from); i++)
		send_msg(c[i], 0, 0, 9, MSG_LEN);
	host_run(h);
	ctx_del(recv);
	host_run(h);
	for (i = 0; i < NUM(from); i++) {
		for (k = 0; k < 3; k++)
			expect_cqe(c[i], k, ANGARA_ST_OK);
		expect_cqe(c[i], 9, ANGARA_ST_TARGET);
		ctx_del(c[i]);
	}
	free(area);
	EXPECT_EQ(h->faults, 0);
	host_end(h);
}

const struct test_case msg_lost_cases[] = {
	{ "msg lost: the sender that has the turn", lost_turn },
	{ "msg lost: a node is lost at any time", lost_nodes },
	{ "msg lost: a line of messages", lost_line },
	{ "msg lost: more nodes than a receiver distinguishes", groups },
	{ NULL, NULL },
};
