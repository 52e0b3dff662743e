// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages: contexts that end in the middle, memory that is unreachable,
 * processes and packets with invalid values.
 */
#include <string.h>

#include "msgs.h"


/* Messages that wait for a context get an error if it ends, and so do later ones. */
static void dead_receiver(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("5", &cfg);
	struct tctx *c[5], *second, *dead;
	struct tarea *area;
	u32 i, again;

	for (i = 0; i < 5; i++)
		c[i] = member(h, i, 1);
	second = member(h, 2, 2);
	for (again = 0; again < 2; again++) {
		dead = member(h, 0, 0);
		area = area_new(dead, MSG_LOG2);
		fill_area(dead);
		for (i = 0; i < 5; i++) {
			send_msg(c[i], 0, 0, i, MSG_LEN);
			send_msg(c[i], 0, 0, 10 + i, 1);
		}
		send_msg(second, 0, 0, 20, 1);
		host_run(h);
		EXPECT_EQ(ctx_counter(dead, ANGARA_CTR_MSG_WAIT), 1);
		ctx_del(dead);
		host_run(h);
		for (i = 0; i < 5; i++) {
			expect_cqe(c[i], i, ANGARA_ST_TARGET);
			expect_cqe(c[i], 10 + i, ANGARA_ST_TARGET);
		}
		expect_cqe(second, 20, ANGARA_ST_TARGET);
		free(area);
	}
	for (i = 0; i < 5; i++)
		ctx_del(c[i]);
	ctx_del(second);
	EXPECT_EQ(h->faults, 0);
	host_end(h);
}

/*
 * A new context gets the number of one that ended, while the message about its
 * end is delayed: the new context gets no messages of the old one.
 */
static void new_owner(u32 with_area)
{
	struct ang_cfg cfg = cfg_tight;
	struct host *h = host_new("5", &cfg);
	struct tctx *c[5], *dead, *heir;
	struct tarea *area, *fresh = NULL;
	u32 i;

	for (i = 1; i < 5; i++)
		c[i] = member(h, i, 1);
	dead = member(h, 0, 0);
	area = area_new(dead, MSG_LOG2);
	fill_area(dead);
	for (i = 1; i < 5; i++)
		send_msg(c[i], 0, 0, i, MSG_LEN);
	host_run(h);
	for (i = 1; i < 5; i++)
		host_freeze(h, i, 1);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_CTX_DESTROY, 0, 0), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_DOMAIN_DESTROY, 0, 0),
		  ANGARA_ADM_ST_OK);
	heir = member(h, 0, 0);
	if (with_area)
		fresh = area_new(heir, MSG_LOG2);
	for (i = 1; i < 5; i++)
		host_freeze(h, i, 0);
	host_run(h);
	for (i = 1; i < 5; i++)
		expect_cqe(c[i], i, with_area ? ANGARA_ST_TARGET :
						ANGARA_ST_ACCESS);
	if (with_area) {
		EXPECT(!area_next(fresh, NULL));
		EXPECT_EQ(ctx_counter(heir, ANGARA_CTR_MSG_WAIT), 0);
		/* Messages that are sent again arrive. */
		for (i = 1; i < 5; i++)
			send_msg(c[i], 0, 0, 50 + i, MSG_LEN);
		host_run(h);
		for (i = 1; i < 5; i++)
			EXPECT(area_next(fresh, NULL) &&
			       (area_free(fresh, area_next(fresh, NULL)), 1));
	}
	for (i = 1; i < 5; i++)
		ctx_del(c[i]);
	ctx_del(heir);
	free(dead);
	free(area);
	free(fresh);
	EXPECT_EQ(h->faults, 0);
	host_end(h);
}

static void new_owners(void)
{
	new_owner(1);
	new_owner(0);
}

/* Senders end at every step; the other senders get their turn. */
static void dead_sender(u32 steps, u32 train, u32 len)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h;
	struct tctx *recv, *dead, *heir, *other;
	struct tarea *area;
	u32 i, got, voids = 0;

	cfg.train = (u16)train;
	h = host_new("4", &cfg);
	recv = member(h, 0, 0);
	dead = member(h, 1, 0);
	other = member(h, 2, 0);
	area = area_new(recv, MSG_LOG2);
	got = fill_area(recv);
	for (i = 0; i < 3; i++)
		send_msg(dead, 0, 0, i, len);
	host_run(h);
	send_msg(other, 0, 0, 7, len);
	host_run(h);
	/* One record is free: a sender gets the turn, and ends. */
	expect_next(area, 1000, NULL);
	area_free(area, area_next(area, NULL));
	run_steps(&h->v, steps);
	ctx_del(dead);
	heir = member(h, 1, 0);
	host_run(h);
	send_msg(heir, 0, 0, 99, len);
	for (i = 2; i < got; i++)
		expect_next(area, 1000 + i, &voids);
	for (i = 0; i < 6; i++) {
		const struct angara_msg *m;

		host_run(h);
		m = area_next(area, &voids);
		if (!m)
			break;
		got += le64_to_cpu(m->tag) < 3;
		area_free(area, m);
	}
	host_run(h);
	EXPECT(!area_next(area, &voids));
	/* Both remaining senders succeed, however far the destroyed one had got. */
	expect_cqe(other, 7, ANGARA_ST_OK);
	expect_cqe(heir, 99, ANGARA_ST_OK);
	EXPECT(i >= 2 && got + voids <= 8);
	EXPECT_EQ(ctx_counter(recv, ANGARA_CTR_MSG_WAIT), 0);
	EXPECT_EQ(ang_ctx(h->fab, ang_node(h->fab, 1), 0)->ghosts, 0);
	ctx_del(recv);
	ctx_del(heir);
	ctx_del(other);
	free(area);
	EXPECT_EQ(h->faults, 0);
	host_end(h);
}

static void dead_senders(void)
{
	u32 steps;

	for (steps = 0; steps < 60; steps++) {
		dead_sender(steps, 1, MSG_LEN);
		dead_sender(steps, 64, MSG_LEN);
		dead_sender(steps, 4, 1500);
	}
}

/*
 * A sender ends in the middle of a message: the room of the message becomes
 * void, and is freed later.
 */
static void dead_in_the_middle(void)
{
	u32 steps, voided = 0;

	for (steps = 0; steps < 40; steps++) {
		struct ang_cfg cfg = cfg_tight;
		struct host *h = host_new("4", &cfg);
		struct tctx *recv = member(h, 0, 0), *dead = member(h, 2, 0);
		struct tctx *other = member(h, 1, 0);
		struct tarea *area = area_new(recv, MSG_LOG2);
		const struct angara_msg *m;
		u32 voids = 0, whole = 0;

		/* Use packets: without them the message is delivered in one step. */
		h->v.packets = true;
		send_msg(dead, 0, 0, 5, MSG_LEN);
		run_steps(&h->v, steps);
		ctx_del(dead);
		host_run(h);
		send_msg(other, 0, 0, 6, 10);
		host_run(h);
		m = area_next(area, &voids);
		EXPECT(m);
		if (le64_to_cpu(m->tag) == 5) {
			whole = 1;
			area_free(area, m);
			m = area_next(area, &voids);
		}
		EXPECT(m && le64_to_cpu(m->tag) == 6);
		EXPECT(voids + whole <= 1);
		voided += voids;
		EXPECT_EQ(ang_ctx(h->fab, ang_node(h->fab, 2), 0)->ghosts, 0);
		ctx_del(recv);
		ctx_del(other);
		free(area);
		EXPECT_EQ(h->faults, 0);
		host_end(h);
	}
	EXPECT(voided > 3);
}

/* The receiver ends in the middle of a message. */
static void receiver_in_the_middle(void)
{
	u32 steps, failed = 0;

	for (steps = 0; steps < 40; steps++) {
		struct ang_cfg cfg = cfg_tight;
		struct host *h = host_new("4", &cfg);
		struct tctx *recv = member(h, 0, 0), *from = member(h, 2, 0);
		struct tarea *area = area_new(recv, MSG_LOG2);
		struct angara_cqe cqe;

		/* Use packets: without them the message is delivered in one step. */
		h->v.packets = true;
		send_msg(from, 0, 0, 5, MSG_LEN);
		run_steps(&h->v, steps);
		ctx_del(recv);
		recv = member(h, 0, 0);
		free(area);
		area = area_new(recv, MSG_LOG2);
		host_run(h);
		EXPECT(poll_cq(from, &cqe));
		failed += le16_to_cpu(cqe.status) == ANGARA_ST_TARGET;
		EXPECT(failed || !le16_to_cpu(cqe.status));
		send_msg(from, 0, 0, 6, MSG_LEN);
		host_run(h);
		expect_cqe(from, 6, ANGARA_ST_OK);
		ctx_del(recv);
		ctx_del(from);
		free(area);
		EXPECT_EQ(h->faults, 0);
		host_end(h);
	}
	EXPECT(failed > 3);
}

/* The source is unmapped before the message, while it waits, and in the middle. */
static void source_gone(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("4", &cfg);
	struct tctx *recv = member(h, 0, 0), *a = member(h, 1, 0);
	struct tctx *b = member(h, 2, 0);
	struct tarea *area = area_new(recv, MSG_LOG2);
	u32 i, steps, voids = 0;

	fill_area(recv);
	send_msg(a, 0, 0, 1, MSG_LEN);
	host_run(h);
	send_msg(b, 0, 0, 2, MSG_LEN);
	host_run(h);
	a->mrt[BUF_KEY].valid = 0;
	for (i = 0; i < 5; i++)
		expect_next(area, 1000 + i, NULL);
	expect_next(area, 2, NULL);
	host_run(h);
	expect_cqe(a, 1, ANGARA_ST_KEY);
	expect_cqe(b, 2, ANGARA_ST_OK);
	a->mrt[BUF_KEY].valid = 1;
	/* Use packets: without them the message is delivered in one step. */
	h->v.packets = true;
	for (steps = 0; steps < 30; steps++) {
		struct angara_cqe cqe;
		const struct angara_msg *m;

		send_msg(a, 0, 0, 3, MSG_LEN);
		run_steps(&h->v, steps);
		a->mrt[BUF_KEY].valid = 0;
		host_run(h);
		a->mrt[BUF_KEY].valid = 1;
		EXPECT(poll_cq(a, &cqe));
		m = area_next(area, &voids);
		EXPECT_EQ(!m, le16_to_cpu(cqe.status) == ANGARA_ST_KEY);
		if (m)
			area_free(area, m);
	}
	EXPECT(voids);
	ctx_del(recv);
	ctx_del(a);
	ctx_del(b);
	free(area);
	EXPECT_EQ(h->faults, 0);
	host_end(h);
}

/* A process that writes a random index harms only itself. */
static void hostile_index(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("3", &cfg);
	struct tctx *recv = member(h, 0, 0), *a = member(h, 1, 0);
	struct tctx *good = member(h, 2, 0);
	struct tarea *area = area_new(recv, MSG_LOG2), *fine = area_new(good, MSG_LOG2);
	u64 seed = 12345;
	u32 k;

	for (k = 0; k < 3000; k++) {
		struct angara_cqe cqe;

		if (a->sq_pi - (u32)ctx_counter(a, ANGARA_CTR_SQ_CI) < 8)
			send_msg(a, 0, 0, k, (u32)(rnd(&seed) % 4097));
		recv->ctl->msg_ci = cpu_to_le32(rnd(&seed) % 3 ?
			area->ci + (u32)(rnd(&seed) % 600) :
			(u32)rnd(&seed));
		if (!(rnd(&seed) % 4))
			area->ci = le32_to_cpu(recv->ctl->msg_ci);
		kick(recv);
		run_steps(&h->v, (u32)(rnd(&seed) % 12));
		while (poll_cq(a, &cqe))
			;
		if (!(rnd(&seed) % 64)) {
			host_run(h);
			send_msg(recv, 2, 0, 1, 100);
			expect_next(fine, 1, NULL);
		}
		while (poll_cq(recv, &cqe))
			;
	}
	ctx_del(recv);
	host_run(h);
	send_msg(a, 2, 0, 77, 8);
	expect_next(fine, 77, NULL);
	ctx_del(a);
	ctx_del(good);
	free(area);
	free(fine);
	EXPECT_EQ(h->faults, 0);
	host_end(h);
}

/* Unreachable memory of the receive buffer is reported to the sender. */
static void bad_memory(void)
{
	struct ang_cfg cfg = cfg_tight;
	u32 page, k;

	for (page = 0; page < 4; page++) {
		struct host *h = host_new("2", &cfg);
		struct tctx *recv = member(h, 0, 0), *a = member(h, 1, 0);
		struct tarea *area = area_new(recv, MSG_LOG2);
		struct host_node *n = &h->node[0];
		struct angara_cqe cqe;
		u32 failed = 0;

		n->seg[n->nsegs - 1 - page].readonly = 1;
		for (k = 0; k < 40; k++) {
			send_msg(a, 0, 0, k, k % 3 ? 100 : 4096);
			host_run(h);
			EXPECT(poll_cq(a, &cqe));
			EXPECT(!cqe.status ||
			       le16_to_cpu(cqe.status) == ANGARA_ST_DMA);
			failed += !!cqe.status;
			recv->ctl->msg_ci = cpu_to_le32(
				ang_ctx(h->fab, ang_node(h->fab, 0), 0)->area.pi);
		}
		EXPECT(failed && h->faults);
		ctx_del(recv);
		ctx_del(a);
		free(area);
		host_end(h);
	}
}

/*
 * If the page with the read index is unreachable, the receive buffer fills up.
 */
static void bad_control(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("2", &cfg);
	struct tctx *recv = member(h, 0, 0), *a = member(h, 1, 0);
	struct tarea *area = area_new(recv, MSG_LOG2);
	struct ang_ctx *c = ang_ctx(h->fab, ang_node(h->fab, 0), 0);
	struct angara_cqe cqe;
	u32 k;

	c->ctl = 1ULL << 40;
	for (k = 0; k < 8; k++)
		send_msg(a, 0, 0, k, MSG_LEN);
	host_run(h);
	for (k = 0; poll_cq(a, &cqe); k++)
		EXPECT_EQ(cqe.status, 0);
	EXPECT_EQ(k, 5);
	EXPECT(h->faults);
	ctx_del(recv);
	host_run(h);
	for (; k < 8; k++)
		expect_cqe(a, k, ANGARA_ST_TARGET);
	ctx_del(a);
	free(area);
	host_end(h);
}

const struct test_case msg_fault_cases[] = {
	{ "msg fault: a receiver ends while others wait", dead_receiver },
	{ "msg fault: a new context gets its number", new_owners },
	{ "msg fault: a sender ends when it has the turn", dead_senders },
	{ "msg fault: a sender ends in the middle", dead_in_the_middle },
	{ "msg fault: a receiver ends in the middle", receiver_in_the_middle },
	{ "msg fault: the source is unmapped", source_gone },
	{ "msg fault: a process writes any index", hostile_index },
	{ "msg fault: a receive buffer that cannot be written", bad_memory },
	{ "msg fault: an index that cannot be read", bad_control },
	{ NULL, NULL },
};
