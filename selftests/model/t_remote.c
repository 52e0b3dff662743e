// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Two fabrics that together host one torus behave like one, and accept over a
 * link only packets that an honest fabric sends over it.
 */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "coll.h"

static const u64 parts[] = { 0x0F, 0x55, 0x33, 0x01, 0x96, 0xFE };

/*
 * Runs the same work on one fabric and on two that host the torus together: the
 * traffic is the same.
 */
static void together(void)
{
	struct traffic one, two;
	struct ang_cfg cfg = cfg_default;
	u32 i;

	for (i = 0; i < NUM(parts); i++) {
		cfg.train = i % 2 ? 8 : 1;
		work_everything(host_new("2x2x2", &cfg), i ? 5 : 1, &one);
		work_everything(host_twins("2x2x2", &cfg, parts[i], twins_pump),
			   i ? 5 : 1, &two);
		EXPECT(!memcmp(&one, &two, sizeof(one)));
	}
}

/* Runs work_crowd() with the least room possible. */
static void crowds(void)
{
	static const struct {
		const char *dims;
		u64 here;
	} on[] = {
		{ "2x2x2", 0x0F }, { "5", 0x15 }, { "5", 0x03 },
		{ "4x4", 0x5A5A }, { "3x3", 0x07 },
	};
	u32 i;

	for (i = 0; i < NUM(on); i++)
		work_crowd(host_twins(on[i].dims, &cfg_tight, on[i].here,
				      twins_pump));
}

/* Makes a fabric with node 0, which has links to nodes 1 and 2 in the twin. */
static struct host *pair(void)
{
	struct ang_cfg cfg = cfg_tight;

	cfg.train = 8;
	return host_twins("3x3", &cfg, 1, twins_pump);
}

static struct ang_pkt packet(u32 type)
{
	struct ang_pkt p = {
		.type = (u8)type, .npkts = 1, .src_node = 1, .len = 8,
	};

	if (type == ANG_PKT_CREDIT || type == ANG_PKT_ABORT ||
	    type == ANG_PKT_GET || type == ANG_PKT_OPEN)
		p.len = 0;
	p.seq = type == ANG_PKT_CREDIT || type == ANG_PKT_ABORT ||
		type == ANG_PKT_OPEN;
	p.status = type == ANG_PKT_ABORT;
	return p;
}

#define FLAW(field, value, len, text)					\
do {									\
	struct ang_pkt p_ = p;						\
	const char *flaw_;						\
									\
	p_.field = (value);						\
	flaw_ = ang_remote_flaw(&h->v, 1, 1, vc, &p_, len);		\
	EXPECT(flaw_ && !strncmp(flaw_, text, strlen(text)));		\
} while (0)

/*
 * Node 1 sends no packets of other nodes to node 0, and not even node 0's own;
 * node 3 forwards those of nodes 4 and 5.  The source of a RESULT may be any
 * node.
 */
static void sources(struct host *h, struct ang_pkt p, u32 vc, u32 len)
{
	const bool any = p.type == ANG_PKT_RESULT;
	u32 i;

	for (i = 0; i < 9; i++) {
		p.src_node = i;
		EXPECT_EQ(!ang_remote_flaw(&h->v, 1, 1, vc, &p, len),
			  any || i == 1);
		EXPECT_EQ(!ang_remote_flaw(&h->v, 3, 3, vc, &p, len),
			  any || (i >= 3 && i <= 5));
	}
}

static void flaws_of(struct host *h, struct ang_pkt p, u32 vc)
{
	int data = p.type == ANG_PKT_PUT || p.type == ANG_PKT_DATA ||
		   (p.type >= ANG_PKT_RESULT && p.type <= ANG_PKT_ALLREDUCE) ||
		   p.type == ANG_PKT_SEND || p.type == ANG_PKT_ATOMIC;
	int reduces = p.type == ANG_PKT_RESULT || p.type == ANG_PKT_REDUCE ||
		      p.type == ANG_PKT_ALLREDUCE;
	u32 len = data ? 8 : 0;
	u32 i;

	EXPECT(!ang_remote_flaw(&h->v, 1, 1, vc, &p, len));
	FLAW(reserved, 1, len, "flags");
	FLAW(flags, 64, len, "flags");
	FLAW(flags, 63, len, "flags");
	FLAW(status, ANGARA_ST_NUM, len, "status");
	FLAW(src_node, 9, len, "src_node");
	FLAW(slot, 4, len, "slot");
	FLAW(npkts, 0, len, "npkts");
	FLAW(npkts, 2, len, "npkts");
	FLAW(npkts, 9, len, "npkts");
	FLAW(len, 8 * 256 + 8, len, "len");
	if (data) {
		FLAW(len, 16, 8, "payload");
		FLAW(len, 8, 0, "payload");
	} else {
		FLAW(len, 8, 8, "payload");
	}
	if (reduces) {
		FLAW(dtype, ANGARA_TYPE_NUM, len, "dtype");
		FLAW(redop, ANGARA_RED_NUM, len, "dtype");
		FLAW(len, 6, 6, "len");
	}
	if (vc >= ANGARA_VC_UP || p.type == ANG_PKT_RESULT)
		FLAW(tree, ANG_DEF_TREES, len, "tree");
	if (p.type == ANG_PKT_ATOMIC)
		FLAW(bytes, ANGARA_MAX_ATOMIC + 1, len, "bytes");
	if (vc < ANGARA_VC_UP) {
		FLAW(dst_node, 9, len, "dst_node");
		FLAW(dst_node, 1, len, "dst_node");
		FLAW(dst_node, 2, len, "dst_node");
		sources(h, p, vc, len);
	}
	for (i = 0; i < 9; i++) {
		struct ang_pkt from = p;

		from.src_node = i;
		if (i != 1)
			EXPECT((i == 2) == !ang_remote_flaw(&h->v, i, 0, vc,
							    &from, len));
	}
	EXPECT(ang_remote_flaw(&h->v, 9, 1, vc, &p, len));
	EXPECT(ang_remote_flaw(&h->v, 1, 0, vc, &p, len));
	EXPECT(ang_remote_flaw(&h->v, 1, 4, vc, &p, len));
	EXPECT(ang_remote_flaw(&h->v, 1, ~0U, vc, &p, len));
	EXPECT(ang_remote_flaw(&h->v, 1, 1, ANGARA_VC_NUM, &p, len));
}

static void flaws(void)
{
	static const u8 vcs[ANG_PKT_NUM] = {
		[ANG_PKT_PUT] = 1, [ANG_PKT_GET] = 1, [ANG_PKT_ACK] = 2,
		[ANG_PKT_DATA] = 2, [ANG_PKT_RESULT] = 2, [ANG_PKT_BCAST] = 12,
		[ANG_PKT_REDUCE] = 4, [ANG_PKT_ALLREDUCE] = 12,
		[ANG_PKT_CREDIT] = 8, [ANG_PKT_ABORT] = 12,
		[ANG_PKT_SEND] = 1, [ANG_PKT_ATOMIC] = 1, [ANG_PKT_READY] = 1,
		[ANG_PKT_RNR] = 2, [ANG_PKT_READY_ACK] = 2, [ANG_PKT_OPEN] = 12,
	};
	struct host *h = pair();
	struct ang_pkt p;
	u32 type, vc;

	for (type = 0; type < ANG_PKT_NUM + 3; type++) {
		for (vc = 0; vc < ANGARA_VC_NUM; vc++) {
			p = packet(type);
			if (type < ANG_PKT_NUM && vcs[type] >> vc & 1)
				flaws_of(h, p, vc);
			else
				FLAW(type, (u8)type, 0, "type");
		}
	}
	p = packet(ANG_PKT_PUT);
	p.flags = ANG_PF_NOTIFY;
	vc = ANGARA_VC_REQ;
	FLAW(counter, ANGARA_CTR_USER_NUM, 8, "counter");
	p = packet(ANG_PKT_CREDIT);
	vc = ANGARA_VC_DOWN;
	FLAW(seq, 0, 0, "seq");
	FLAW(seq, 3, 0, "seq");
	p = packet(ANG_PKT_ABORT);
	FLAW(status, 0, 0, "status");
	/* An error carries no data, only its length. */
	p = packet(ANG_PKT_DATA);
	p.status = ANGARA_ST_KEY;
	EXPECT(!ang_remote_flaw(&h->v, 1, 1, ANGARA_VC_RSP, &p, 0));
	/*
	 * Only an answer may have an error instead of data; a request with an
	 * error is malformed.
	 */
	vc = ANGARA_VC_REQ;
	p = packet(ANG_PKT_PUT);
	FLAW(status, ANGARA_ST_KEY, 0, "status");
	p = packet(ANG_PKT_ATOMIC);
	FLAW(status, ANGARA_ST_KEY, 0, "status");
	host_free(h);
}

/* Links of remote nodes have buffers of their own, enough to fill all rings. */
static void buffers(void)
{
	struct host *h = host_twins("2x2", &cfg_tight, 1, twins_pump);
	struct ang_node *n = ang_node(h->fab, 0);
	char data[8] = "abcdefg";
	struct ang_pkt p, *head;
	u32 dir, vc, i;

	host_freeze(h, 0, 1);
	for (dir = 0; dir < 4; dir++) {
		u32 from = ang_topo_neighbor(&h->v.topo, 0, dir ^ 1);

		for (vc = 0; vc < ANGARA_VC_NUM; vc++) {
			p = packet(vc < 2 ? ANG_PKT_PUT : ANG_PKT_BCAST);
			for (i = 0; i < h->cfg.depth; i++)
				EXPECT(ang_remote_give(&h->v, from, dir, vc, &p,
						       data));
			EXPECT(!ang_remote_give(&h->v, from, dir, vc, &p, data));
			head = ang_ring_head(&h->v, ang_ring(h->fab, n, dir ^ 1,
							     vc));
			EXPECT(head && head->buf >> 32 == from);
			EXPECT(!memcmp(ang_buf_data(&h->v, head->buf), data, 8));
		}
	}
	EXPECT_EQ(h->fab->bufs, h->cfg.bufs + 32 + 2 * 4 * 2 * 2 * 4);
	/* All buffers of links are in rings: free them. */
	for (dir = 0; dir < 4; dir++)
		for (vc = 0; vc < ANGARA_VC_NUM; vc++)
			for (i = 0; i < h->cfg.depth; i++) {
				head = ang_ring_head(&h->v,
						     ang_ring(h->fab, n, dir, vc));
				ang_buf_put(&h->v, head->buf, 1);
				host_pop(h, n, dir, vc);
			}
	host_freeze(h, 0, 0);
	host_free(h);
}

/*
 * Two reductions of a tree are accepted, and the third waits; other trees do
 * not wait.
 */
static void reductions(void)
{
	struct host *h = pair();
	struct ang_node *n = ang_node(h->fab, 0);
	struct ang_ring *r = ang_ring(h->fab, n, 0, ANGARA_VC_UP);
	struct ang_pkt p = packet(ANG_PKT_REDUCE);
	char data[8] = "";
	u64 held[2];
	u32 i;

	host_freeze(h, 0, 1);
	for (i = 0; i < 2; i++) {
		p.seq = i;
		EXPECT(ang_remote_give(&h->v, 1, 1, ANGARA_VC_UP, &p, data));
		held[i] = ang_ring_head(&h->v, r)->buf;
		host_pop(h, n, 0, ANGARA_VC_UP);
	}
	EXPECT(!ang_remote_give(&h->v, 1, 1, ANGARA_VC_UP, &p, data));
	p.tree = 1;
	EXPECT(ang_remote_give(&h->v, 1, 1, ANGARA_VC_UP, &p, data));
	ang_buf_put(&h->v, ang_ring_head(&h->v, r)->buf, 1);
	host_pop(h, n, 0, ANGARA_VC_UP);
	p.tree = 0;
	ang_remote_look(&h->v, 1);
	EXPECT(!ang_remote_give(&h->v, 1, 1, ANGARA_VC_UP, &p, data));
	EXPECT(!(ang_node(h->fab, 1)->sched & ANG_SCHED_WORK));
	ang_buf_put(&h->v, held[0], 1);
	EXPECT(ang_node(h->fab, 1)->sched & ANG_SCHED_WORK);
	EXPECT(ang_remote_give(&h->v, 1, 1, ANGARA_VC_UP, &p, data));
	ang_buf_put(&h->v, ang_ring_head(&h->v, r)->buf, 1);
	host_pop(h, n, 0, ANGARA_VC_UP);
	ang_buf_put(&h->v, held[1], 1);
	host_freeze(h, 0, 0);
	host_free(h);
}

/* Node 1 sends an answer without a request; the operation ignores it. */
static void forged(void)
{
	struct group g = { .h = pair() };
	struct ang_pkt p = packet(ANG_PKT_ACK);
	struct tctx *c;
	struct angara_wqe w = wqe_p2p(ANGARA_OP_GET, 1, 0, 0, 8192, 4096);
	struct angara_cqe cqe;
	struct ang_op *op;
	char data[8] = "";
	u32 i;

	group_new(&g, 1, 8192);
	c = g.ctx[0];
	post(c, &w, NULL);
	kick(c);
	run_steps(&g.h->v, 1000);
	op = ang_op(ang_node(g.h->fab, 0),
		    ang_ctx(g.h->fab, ang_node(g.h->fab, 0), 0), 0);
	EXPECT_EQ(op->state, ANG_OP_ACTIVE);
	EXPECT_EQ(op->trains, 2);
	p.gen = op->gen;
	for (i = 0; i < 4; i++) {
		p.type = i < 2 ? ANG_PKT_DATA : ANG_PKT_ACK;
		p.seq = i ? 0 : 4090;
		p.src_node = i == 1 ? 2 : 1;
		p.gen = (u16)(op->gen + (i == 2));
		p.slot = i == 3;
		EXPECT(ang_remote_give(&g.h->v, 1, 1, ANGARA_VC_RSP, &p,
				       i < 2 ? data : NULL));
		run_steps(&g.h->v, 1000);
		EXPECT_EQ(op->trains, 2);
		EXPECT_EQ(op->bytes, 0);
	}
	EXPECT_EQ(ang_node(g.h->fab, 0)->drops[ANGARA_DROP_STALE], 4);
	EXPECT(!poll_cq(c, &cqe));
	EXPECT_EQ(finish(c, &cqe), ANGARA_ST_OK);
	/* Data is not an answer to a put. */
	w.opcode = ANGARA_OP_PUT;
	post(c, &w, NULL);
	kick(c);
	run_steps(&g.h->v, 1000);
	p = packet(ANG_PKT_DATA);
	p.gen = op->gen;
	EXPECT(ang_remote_give(&g.h->v, 1, 1, ANGARA_VC_RSP, &p, data));
	run_steps(&g.h->v, 1000);
	EXPECT_EQ(op->trains, 2);
	EXPECT_EQ(finish(c, &cqe), ANGARA_ST_OK);
	group_del(&g);
}

/* Return: number of messages that are taken from a receive buffer. */
static u32 take_all(struct tarea *a)
{
	const struct angara_msg *m;
	u32 n = 0;

	for (; (m = area_next(a, NULL)); n++)
		area_free(a, m);
	return n;
}

/*
 * Remote nodes wait for room in a receive buffer that is not empty: they get one
 * READY when there is room for the whole message, so the fabric comes to rest.
 */
static void waiters(void)
{
	struct group g = { .h = pair() };
	struct angara_wqe w = wqe_p2p(ANGARA_OP_SEND, 0, 0, 0, 0, 4000);
	struct angara_cqe cqe;
	struct tarea *a;
	u32 got = 0;
	u32 all = 0;
	u32 i, k;

	group_new(&g, 1, 8192);
	/* The buffer has room for three messages, and a rest. */
	a = area_new(g.ctx[0], 14);
	for (i = 1; i < g.n; i++)
		for (k = 0; k < 3; k++, all++) {
			post(g.ctx[i], &w, NULL);
			kick(g.ctx[i]);
		}
	while (got < all) {
		host_run(g.h);
		k = take_all(a);
		EXPECT(k);
		got += k;
	}
	EXPECT_EQ(got, all);
	for (i = 1; i < g.n; i++)
		for (k = 0; k < 3; k++)
			EXPECT(poll_cq(g.ctx[i], &cqe) &&
			       cqe.status == ANGARA_ST_OK);
	free(a);
	group_del(&g);
}

/* A switch sends credits and messages about a tree in its own name, but no data. */
static void switches(void)
{
	static const struct {
		u8 type, vc, own;
	} sends[] = {
		{ ANG_PKT_BCAST, ANGARA_VC_UP, 0 },
		{ ANG_PKT_BCAST, ANGARA_VC_DOWN, 0 },
		{ ANG_PKT_REDUCE, ANGARA_VC_UP, 0 },
		{ ANG_PKT_ALLREDUCE, ANGARA_VC_UP, 0 },
		{ ANG_PKT_ALLREDUCE, ANGARA_VC_DOWN, 0 },
		{ ANG_PKT_CREDIT, ANGARA_VC_DOWN, 1 },
		{ ANG_PKT_ABORT, ANGARA_VC_UP, 1 },
		{ ANG_PKT_OPEN, ANGARA_VC_DOWN, 1 },
	};
	struct host *h = host_twins("kns:4x2", &cfg_tight, 1, twins_pump);
	u32 s = ang_topo_neighbor(&h->v.topo, 1, 0);
	u32 i;

	/* Node 1 is in the twin, and the switch next to it in this fabric. */
	EXPECT(s >= h->nodes && host_keeper(h, s) == 0);
	for (i = 0; i < NUM(sends); i++) {
		struct ang_pkt p = packet(sends[i].type);
		const char *flaw;

		EXPECT(!ang_remote_flaw(&h->v, 1, 0, sends[i].vc, &p, p.len));
		p.src_node = s;
		flaw = ang_remote_flaw(&h->v, 1, 0, sends[i].vc, &p, p.len);
		if (sends[i].own)
			EXPECT(!flaw);
		else
			EXPECT(flaw && !strncmp(flaw, "src_node", 8));
		p.src_node = h->v.topo.routers;
		EXPECT(ang_remote_flaw(&h->v, 1, 0, sends[i].vc, &p, p.len));
	}
	host_free(h);
}

const struct test_case remote_cases[] = {
	{ "remote: two fabrics give the results of one", together },
	{ "remote: all to all with little room", crowds },
	{ "remote: invalid packets", flaws },
	{ "remote: buffers of links", buffers },
	{ "remote: buffers of reductions", reductions },
	{ "remote: forged answers", forged },
	{ "remote: nodes that wait for room", waiters },
	{ "remote: what a switch sends", switches },
	{ NULL, NULL },
};
