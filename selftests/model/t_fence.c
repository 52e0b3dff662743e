// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fences: a fenced operation starts after the earlier operations to its node,
 * while operations to other nodes continue.  The earlier operation is a message
 * to a full receiver.
 */
#include <stdlib.h>
#include <string.h>

#include "msgs.h"

static struct host *h;
static struct tctx *a, *slow, *other, *far;
static struct tarea *area, *free_area;

static void start(void)
{
	h = host_new("3", &cfg_default);
	a = member(h, 0, 0);
	slow = member(h, 1, 0);
	other = member(h, 1, 1);
	far = member(h, 2, 0);
	area = area_new(slow, MSG_LOG2);
	free_area = area_new(other, MSG_LOG2);
	fill_area(slow);
}

static void end(void)
{
	if (a)
		ctx_del(a);
	ctx_del(slow);
	ctx_del(other);
	ctx_del(far);
	host_run(h);
	free(area);
	free(free_area);
	host_end(h);
}

static void make_room(void)
{
	u32 k;

	for (k = 0; k < 5; k++)
		expect_next(area, 1000 + k, NULL);
}

static void post_put(const struct tctx *to, u32 tag, u8 flags)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, to->node, to->id, 0, 0, 8);

	w.flags = flags;
	w.cookie = cpu_to_le64(tag);
	post(a, &w, NULL);
}

static void post_message(const struct tctx *to, u32 tag, u8 flags)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_SEND, to->node, to->id, 0, tag, 8);

	w.flags = flags;
	w.cookie = cpu_to_le64(tag);
	post(a, &w, NULL);
}

static void nothing(void)
{
	struct angara_cqe cqe;

	host_run(h);
	EXPECT(!poll_cq(a, &cqe));
}

static void of_one_node(void)
{
	u64 value = 7;

	start();
	send_msg(a, 1, 0, 1, MSG_LEN);
	memcpy(a->buf, &value, sizeof(value));
	post_put(other, 2, ANGARA_WQE_FENCE);
	post_put(far, 3, ANGARA_WQE_FENCE);
	post_put(slow, 4, 0);
	kick(a);
	host_run(h);
	/*
	 * Neither operations to another node nor operations without a fence
	 * wait.
	 */
	expect_cqe(a, 3, ANGARA_ST_OK);
	expect_cqe(a, 4, ANGARA_ST_OK);
	nothing();
	EXPECT(!memcmp(far->buf, &value, sizeof(value)));
	EXPECT(memcmp(other->buf, &value, sizeof(value)));
	make_room();
	expect_next(area, 1, NULL);
	host_run(h);
	expect_cqe(a, 1, ANGARA_ST_OK);
	expect_cqe(a, 2, ANGARA_ST_OK);
	EXPECT(!memcmp(other->buf, &value, sizeof(value)));
	end();
}

/* A fenced operation waits for a fenced one. */
static void in_a_row(void)
{
	start();
	send_msg(a, 1, 0, 1, MSG_LEN);
	post_put(other, 2, ANGARA_WQE_FENCE);
	post_put(other, 3, ANGARA_WQE_FENCE);
	kick(a);
	nothing();
	make_room();
	host_run(h);
	expect_cqe(a, 1, ANGARA_ST_OK);
	expect_cqe(a, 2, ANGARA_ST_OK);
	expect_cqe(a, 3, ANGARA_ST_OK);
	expect_next(area, 1, NULL);
	end();
}

/* Messages stay in order, with or without fences. */
static void messages(void)
{
	start();
	send_msg(a, 1, 0, 1, MSG_LEN);
	post_message(other, 2, ANGARA_WQE_FENCE);
	post_message(other, 3, 0);
	kick(a);
	nothing();
	EXPECT(!area_next(free_area, NULL));
	make_room();
	expect_next(area, 1, NULL);
	expect_next(free_area, 2, NULL);
	expect_next(free_area, 3, NULL);
	host_run(h);
	expect_cqe(a, 1, ANGARA_ST_OK);
	expect_cqe(a, 2, ANGARA_ST_OK);
	expect_cqe(a, 3, ANGARA_ST_OK);
	end();
}

/* NOP has no target node: a fenced NOP waits for all operations. */
static void of_all(void)
{
	struct angara_wqe nop = { .opcode = ANGARA_OP_NOP };

	start();
	send_msg(a, 1, 0, 1, MSG_LEN);
	nop.flags = ANGARA_WQE_FENCE;
	nop.cookie = cpu_to_le64(2);
	post(a, &nop, NULL);
	kick(a);
	nothing();
	make_room();
	host_run(h);
	expect_cqe(a, 1, ANGARA_ST_OK);
	expect_cqe(a, 2, ANGARA_ST_OK);
	expect_next(area, 1, NULL);
	end();
}

/*
 * A failed operation counts as ended; a held operation is checked when it
 * starts.
 */
static void failing(void)
{
	struct angara_wqe bad = wqe_p2p(ANGARA_OP_PUT, 1, 1, 0, 0, 8);

	start();
	send_msg(a, 1, 0, 1, MSG_LEN);
	bad.flags = ANGARA_WQE_FENCE;
	bad.cookie = cpu_to_le64(2);
	bad.rkey = cpu_to_le64(77);
	post(a, &bad, NULL);
	bad.cookie = cpu_to_le64(3);
	bad.lkey = cpu_to_le32(77);
	post(a, &bad, NULL);
	post_put(other, 4, ANGARA_WQE_FENCE);
	kick(a);
	nothing();
	make_room();
	host_run(h);
	expect_cqe(a, 1, ANGARA_ST_OK);
	expect_cqe(a, 2, ANGARA_ST_KEY);
	expect_cqe(a, 3, ANGARA_ST_KEY);
	expect_cqe(a, 4, ANGARA_ST_OK);
	expect_next(area, 1, NULL);
	end();
}

/* The context is destroyed while operations are held, with inline payload. */
static void destroyed(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 1, 0, 0, 200);
	u32 k;

	start();
	send_msg(a, 1, 0, 1, MSG_LEN);
	w.flags = ANGARA_WQE_FENCE | ANGARA_WQE_INLINE;
	for (k = 0; k < 3; k++)
		post(a, &w, a->buf);
	post_message(other, 3, ANGARA_WQE_FENCE);
	kick(a);
	nothing();
	ctx_del(a);
	a = NULL;
	make_room();
	end();
}

/* Later data does not arrive before earlier data, for any number of trains. */
static void data(void)
{
	const u32 len = 6000;
	u32 k, i;

	h = host_new("2", &cfg_default);
	a = ctx_new(h, 0, 0, PKEY, 6, 6);
	slow = ctx_new(h, 1, 0, PKEY, 3, 3);
	ctx_buffer(a, 65536);
	ctx_buffer(slow, 65536);
	for (k = 0; k < 9; k++) {
		struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, k * len, 0,
					      len - k);

		memset(a->buf + k * len, (int)k + 1, len);
		w.flags = ANGARA_WQE_FENCE;
		w.cookie = cpu_to_le64(k);
		post(a, &w, NULL);
	}
	kick(a);
	host_run(h);
	for (k = 0; k < 9; k++)
		expect_cqe(a, k, ANGARA_ST_OK);
	for (i = 0; i < len; i++)
		EXPECT_EQ(slow->buf[i], i < len - 8 ? 9 : (int)(len - i));
	ctx_del(a);
	ctx_del(slow);
	host_end(h);
}

/* A step ends at any point before a fenced operation starts. */
static void cut(void)
{
	struct angara_cqe cqe;
	u32 k;

	start();
	make_room();
	for (h->v.turn = 1; h->v.turn < 3000; h->v.turn++) {
		post_put(a, 0, 0);
		for (k = 1; k < 4; k++)
			post_put(a, k, ANGARA_WQE_FENCE);
		kick(a);
		host_run(h);
		for (k = 0; k < 4; k++) {
			EXPECT(poll_cq(a, &cqe));
			EXPECT_EQ(le64_to_cpu(cqe.cookie), k);
		}
	}
	end();
}

const struct test_case fence_cases[] = {
	{ "fence: operations to one node", of_one_node },
	{ "fence: consecutive fences", in_a_row },
	{ "fence: messages stay in order", messages },
	{ "fence: operations to all nodes", of_all },
	{ "fence: operations that fail", failing },
	{ "fence: a context is destroyed", destroyed },
	{ "fence: data arrives in order", data },
	{ "fence: a step ends before a fenced operation", cut },
	{ 0 },
};
