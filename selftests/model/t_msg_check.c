// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages: checks at the sender, and of packets from other nodes.
 */
#include <string.h>

#include "msgs.h"


static u32 area_status(struct tctx *c, u32 ctx, u32 log2, u32 reserved)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_MSG_AREA };

	cmd.ctx = cpu_to_le16((u16)ctx);
	cmd.msg.log2 = (u8)log2;
	cmd.msg.reserved[reserved % 7] = reserved != 0;
	return adm(c->h, c->node, &cmd, NULL);
}

static void refused(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("2", &cfg);
	struct tctx *a = member(h, 0, 0), *b = member(h, 1, 0);
	struct tctx *other = ctx_new(h, 1, 1, PKEY + 1, 3, 3);
	struct angara_wqe good = wqe_p2p(ANGARA_OP_SEND, 1, 0, 0, 0, 100), w;
	struct tarea *area;
	u32 i;

#define IS(member, value, status)					\
do {									\
	w = good;							\
	w.member = value;						\
	EXPECT_EQ(status_of(a, w), status);				\
} while (0)
	IS(length, cpu_to_le32(100), ANGARA_ST_ACCESS);
	EXPECT_EQ(area_status(b, 3, 14, 0), ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(area_status(b, 0, 13, 0), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(area_status(b, 0, 23, 0), ANGARA_ADM_ST_PARAM);
	for (i = 1; i <= 7; i++)
		EXPECT_EQ(area_status(b, 0, 14, i), ANGARA_ADM_ST_PARAM);
	area = area_new(b, MSG_LOG2);
	EXPECT_EQ(area_status(b, 0, 14, 0), ANGARA_ADM_ST_EXISTS);
	IS(length, cpu_to_le32(ANGARA_MAX_MSG + 1), ANGARA_ST_DESC);
	IS(aux_key, cpu_to_le32(1), ANGARA_ST_DESC);
	IS(flags, ANGARA_WQE_NOTIFY, ANGARA_ST_DESC);
	IS(dst_node, cpu_to_le32(2), ANGARA_ST_TARGET);
	IS(dst_ctx, cpu_to_le16(2), ANGARA_ST_TARGET);
	IS(dst_ctx, cpu_to_le16((u16)other->id), ANGARA_ST_PARTITION);
	IS(lkey, cpu_to_le32(4), ANGARA_ST_KEY);
	IS(loff, cpu_to_le64(MSG_MEMORY - 99), ANGARA_ST_BOUNDS);
	IS(code, cpu_to_le16(0xFFFF), ANGARA_ST_OK);
	IS(flags, ANGARA_WQE_FENCE, ANGARA_ST_OK);
	/* Fields of other opcodes must be zero. */
	good.opcode = ANGARA_OP_PUT;
	IS(aux, cpu_to_le64(1), ANGARA_ST_DESC);
	IS(aux_key, cpu_to_le32(1), ANGARA_ST_DESC);
	good.opcode = ANGARA_OP_BARRIER;
	good.length = 0;
	IS(aux, cpu_to_le64(1), ANGARA_ST_DESC);
#undef IS
	ctx_del(a);
	ctx_del(b);
	ctx_del(other);
	free(area);
	EXPECT_EQ(h->faults, 0);
	host_end(h);
}

static void packets(void)
{
	struct ang_cfg cfg = cfg_default;
	struct host *h = host_new("2", &cfg);
	struct tctx *b = member(h, 1, 0);
	struct ang_node *n = ang_node(h->fab, 1);
	struct ang_ctx *c = ang_ctx(h->fab, n, 0);
	struct tarea *area = area_new(b, MSG_LOG2);
	u64 buf = ang_buf_get(&h->v, n, ANG_BUF_REQ);
	struct ang_pkt reply = { .type = ANG_PKT_ACK };
	struct ang_pkt first = {
		.type = ANG_PKT_SEND, .npkts = 1, .len = 256, .key = 500,
		.slot = 1, .gen = 1, .buf = buf,
	};
	struct ang_pkt rest = {
		.type = ANG_PKT_SEND, .npkts = 1, .len = 256, .key = 500,
		.slot = 1, .gen = 1, .buf = buf, .seq = 240,
	};
	struct ang_pkt ack = {
		.type = ANG_PKT_READY_ACK, .npkts = 1, .dst_ctx = 4,
	};
	struct ang_pkt p;
	u32 voids = 0;

#define IS(base, member, value, status)					\
do {									\
	p = base;							\
	p.member = value;						\
	EXPECT_EQ(ang_msg_take(&h->v, n, c, &p, &reply), status);	\
} while (0)
	IS(first, len, 15, ANGARA_ST_DESC);
	IS(first, key, ANGARA_MAX_MSG + 1, ANGARA_ST_DESC);
	IS(first, key, 239, ANGARA_ST_DESC);
	IS(first, key, 240, ANGARA_ST_DESC);
	IS(first, flags, ANG_PF_LAST, ANGARA_ST_DESC);
	IS(first, buf, 0, ANGARA_ST_DESC);
	IS(first, flags, ANG_PF_TURN, ANGARA_ST_TARGET);
	EXPECT_EQ(c->area.pi, 0);
	IS(rest, off, 0, ANGARA_ST_TARGET);
	/* Each of these packets ends the message in progress. */
#define VOIDS(member, value, status)					\
do {									\
	IS(first, len, 256, ANGARA_ST_OK);				\
	rest.off = reply.off;						\
	IS(rest, node_of(member), value, status);			\
	EXPECT(!area_next(area, &voids));				\
} while (0)
#define node_of(member) member
	VOIDS(seq, 241, ANGARA_ST_DESC);
	VOIDS(len, 0, ANGARA_ST_DESC);
	VOIDS(buf, 0, ANGARA_ST_DESC);
	VOIDS(flags, ANG_PF_LAST, ANGARA_ST_DESC);
	VOIDS(len, 260, ANGARA_ST_DESC);
	VOIDS(len, 261, ANGARA_ST_DESC);
	VOIDS(status, ANGARA_ST_TARGET, ANGARA_ST_OK);
	EXPECT_EQ(voids, 7);
	/* These packets do not belong to the message in progress. */
	IS(first, len, 256, ANGARA_ST_OK);
	rest.off = reply.off;
	IS(rest, off, reply.off + 1, ANGARA_ST_TARGET);
	IS(rest, src_node, 1, ANGARA_ST_TARGET);
	IS(rest, src_ctx, 1, ANGARA_ST_TARGET);
	IS(rest, slot, 2, ANGARA_ST_TARGET);
	IS(rest, gen, 2, ANGARA_ST_TARGET);
	EXPECT(!area_next(area, &voids));
	EXPECT_EQ(voids, 7);
	/* The sender's node is lost. */
	area_lost(h, n, c);
	EXPECT(!area_next(area, &voids));
	EXPECT_EQ(voids, 7);
	ang_node(h->fab, 0)->remote = ANG_REMOTE_GONE;
	h->fab->lost++;
	area_lost(h, n, c);
	ang_node(h->fab, 0)->remote = ANG_REMOTE_NO;
	EXPECT(!area_next(area, &voids));
	EXPECT_EQ(voids, 8);
#undef VOIDS
#undef node_of
#undef IS
	/* Answers without a request, and one to a context that cannot exist. */
	ang_msg_ready_ack(&h->v, n, &ack);
	EXPECT_EQ(n->drops[ANGARA_DROP_TARGET], 1);
	ack.dst_ctx = 0;
	ack.flags = ANG_PF_MORE;
	ang_msg_ready_ack(&h->v, n, &ack);
	ang_buf_put(&h->v, buf, 1);
	ctx_del(b);
	free(area);
	host_end(h);
}

const struct test_case msg_check_cases[] = {
	{ "msg check: refused messages", refused },
	{ "msg check: forged packets", packets },
	{ NULL, NULL },
};
