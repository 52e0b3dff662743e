// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Packets that a neighbor's server may forge in a tree.  Each packet is well
 * formed and differs in one field from the packet that the node waits for.  It
 * must change nothing but a counter of drops.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

#define TREE	3
#define LEN	1000	/* bytes of an operation: four packets in one train */

/*
 * Node 0 of 3x3 is in this fabric.  The other nodes are in a twin, which
 * carries nothing until host_run(): so tests can put packets on its links
 * between two steps.
 */
static struct group g;
static struct ttree *t;
static struct ang_node *me;

static void start(u32 root)
{
	static const u16 pe[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct ang_cfg cfg = cfg_default;

	cfg.train = 8;
	g.h = host_twins("3x3", &cfg, 1, twins_pump);
	group_new(&g, 1, 8192);
	t = tree_over(g.h, TREE, root, g.ctx, g.n, pe, 7);
	me = ang_node(g.h->fab, 0);
}

static void end(void)
{
	tree_del(t);
	group_del(&g);
}

/* Starts with a root that gives node 0 both children and a parent. */
static void start_inner(void)
{
	u32 root;

	for (root = 1; root < 9; root++) {
		start(root);
		if (t->rows[0].port_sum)
			return;
		end();
	}
	EXPECT(root < 9);
}

/* Return: the node at the other end of the link from @port of node 0. */
static u32 peer_of(u32 port)
{
	return ang_port(g.h->fab, me, port)->peer;
}

/* Sets the row of node 0 with an epoch that no neighbor's row has. */
static void begin_apart(void)
{
	EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_TREE_CLEAR, 0, TREE), 0);
	t->rows[0].epoch++;
	EXPECT_EQ(adm_row(g.h, 0, &t->rows[0]), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_JOIN, 0, TREE), 0);
}

/* Puts a packet on the incoming link from direction @dir. */
static void give(const struct ang_pkt *p, u32 dir, u32 vc)
{
	static const char data[8 * ANGARA_PACKET_BYTES];
	u32 from = peer_of(dir);
	bool empty = p->type == ANG_PKT_OPEN || p->type == ANG_PKT_ABORT ||
		     p->type == ANG_PKT_CREDIT;

	EXPECT(!ang_remote_flaw(&g.h->v, from, dir ^ 1, vc, p,
				empty || p->status ? 0 : p->len));
	EXPECT(ang_remote_give(&g.h->v, from, dir ^ 1, vc, p,
			       empty || p->status || !p->len ? NULL : data));
	run_steps(&g.h->v, 1000);
}

/* Return: number of packets dropped at node 0 since the last call. */
static u64 dropped(void)
{
	static u64 before;
	u64 all = 0;
	u64 since;
	u32 i;

	for (i = 0; i < ANGARA_DROP_NUM; i++)
		all += me->drops[i];
	since = all - before;
	before = all;
	return since;
}

static struct ang_op *op_of(u32 slot)
{
	return ang_op(me, ang_ctx(g.h->fab, me, 0), slot);
}

/* Posts an operation on node 0 and runs the node alone. */
static struct ang_op *begin(u32 opcode, u32 receiver)
{
	struct angara_wqe w = wqe_coll(opcode, TREE, 0, 8192, LEN);
	u64 free = ang_ctx(g.h->fab, me, 0)->free;

	w.dst_node = cpu_to_le32(receiver);
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	run_steps(&g.h->v, 1000);
	return op_of(ang_lowest(free));
}

/*
 * Return: the next packet that @op waits for, as an honest neighbor would send
 * it.
 */
static struct ang_pkt honest(const struct ang_op *op, u32 type)
{
	struct ang_pkt p = {
		.type = (u8)type, .tree = TREE, .npkts = 4, .len = LEN,
		.dtype = op->type, .redop = op->redop, .pkey = PKEY,
		.src_node = 4, .life = me->tree[TREE].life, .seq = op->seq,
	};

	if (type == ANG_PKT_RESULT) {
		p.slot = (u16)(op - op_of(0));
		p.gen = op->gen;
	}
	if (type == ANG_PKT_BCAST) {
		p.src_node = 0;
		p.slot = (u16)(op - op_of(0));
		p.gen = op->gen;
		p.flags = ANG_PF_LAST;
		p.dtype = 0;
		p.redop = 0;
	}
	return p;
}

/*
 * Gives @p with one field changed: it is dropped, and @op still waits for the
 * same packet.
 */
#define FORGED(op, p, field, value, dir, vc)				\
do {									\
	struct ang_pkt p_ = (p);					\
	u32 done_ = (op)->npkts_done;					\
	u32 bytes_ = (op)->bytes;					\
									\
	p_.field = (value);						\
	give(&p_, dir, vc);						\
	EXPECT_EQ((op)->state, ANG_OP_ACTIVE);				\
	EXPECT_EQ((op)->npkts_done, done_);				\
	EXPECT_EQ((op)->bytes, bytes_);					\
	EXPECT_EQ(dropped(), p_.npkts);					\
	EXPECT_EQ(me->tree[TREE].state, ANGARA_TREE_STATE_UP);		\
} while (0)

/* All participants do the operation, and that of node 0 succeeds. */
static void complete(u32 opcode, u32 receiver)
{
	struct angara_wqe w = wqe_coll(opcode, TREE, 0, 8192, LEN);
	u32 i;

	w.dst_node = cpu_to_le32(receiver);
	for (i = 1; opcode != ANGARA_OP_BCAST && i < g.n; i++) {
		post(g.ctx[i], &w, NULL);
		kick(g.ctx[i]);
	}
	EXPECT_EQ(finish(g.ctx[0], NULL), ANGARA_ST_OK);
	for (i = 1; opcode != ANGARA_OP_BCAST && i < g.n; i++)
		EXPECT_EQ(finish(g.ctx[i], NULL), ANGARA_ST_OK);
}

/* The row has not met its parent, so nothing has been injected. */
static void before_open(void)
{
	struct ang_pkt p;
	struct ang_op *op;
	u32 up;
	u32 k;

	for (k = 0; k < 2; k++) {
		start(4);
		up = t->rows[0].to_root;
		begin_apart();
		dropped();
		op = begin(k ? ANGARA_OP_ALLREDUCE : ANGARA_OP_BCAST, 0);
		EXPECT(!me->tree[TREE].open && !op->npkts_sent);
		p = honest(op, k ? ANG_PKT_ALLREDUCE : ANG_PKT_BCAST);
		FORGED(op, p, seq, p.seq, up, ANGARA_VC_DOWN);
		/* The list of operations to inject is consistent. */
		EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_LEAVE, 0, TREE),
			  ANGARA_ADM_ST_OK);
		EXPECT_EQ(finish(g.ctx[0], NULL), ANGARA_ST_TREE_DOWN);
		end();
	}
}

static void results(void)
{
	struct ang_pkt p;
	struct ang_op *op;
	u32 up;

	start_inner();
	host_run(g.h);
	EXPECT(me->tree[TREE].open);
	dropped();
	up = t->rows[0].to_root;
	op = begin(ANGARA_OP_ALLREDUCE, 0);
	EXPECT_EQ(op->npkts_sent, 4);
	p = honest(op, ANG_PKT_ALLREDUCE);
	/* The children have not sent, so no result can exist. */
	EXPECT_EQ(me->tree[TREE].done, 0);
	FORGED(op, p, seq, p.seq, up, ANGARA_VC_DOWN);
	FORGED(op, p, life, p.life - 1, up, ANGARA_VC_DOWN);
	FORGED(op, p, life, p.life + 1, up, ANGARA_VC_DOWN);
	FORGED(op, p, tree, TREE + 1, up, ANGARA_VC_DOWN);
	FORGED(op, p, pkey, PKEY + 1, up, ANGARA_VC_DOWN);
	FORGED(op, p, seq, p.seq + 4, up, ANGARA_VC_DOWN);
	FORGED(op, p, seq, p.seq + 1, up, ANGARA_VC_DOWN);
	FORGED(op, p, seq, p.seq - 4, up, ANGARA_VC_DOWN);
	FORGED(op, p, src_node, 2, up ^ 1, ANGARA_VC_DOWN);
	/*
	 * A neighbor forges a broadcast with the number of a packet of the
	 * operation.
	 */
	p = honest(op, ANG_PKT_BCAST);
	FORGED(op, p, seq, 0, up, ANGARA_VC_DOWN);
	p = honest(op, ANG_PKT_ALLREDUCE);
	complete(ANGARA_OP_ALLREDUCE, 0);
	/* The packet is sent again after its operation has ended. */
	op = begin(ANGARA_OP_ALLREDUCE, 0);
	FORGED(op, p, seq, p.seq, up, ANGARA_VC_DOWN);
	complete(ANGARA_OP_ALLREDUCE, 0);
	end();
}

/*
 * A leaf waits for its parent only.  If the parent's answer does not match the
 * operation, the tree is unusable.
 */
static void results_unfit(void)
{
	struct angara_cqe cqe;
	struct ang_pkt p;
	struct ang_op *op;
	u32 root;
	u32 up;

	/* Find a root that makes node 0 a leaf. */
	for (root = 1; root < 9; root++) {
		start(root);
		if (!t->rows[0].port_sum)
			break;
		end();
	}
	EXPECT(root < 9);
	host_run(g.h);
	dropped();
	up = t->rows[0].to_root;
	op = begin(ANGARA_OP_ALLREDUCE, 0);
	EXPECT_EQ(me->tree[TREE].done, 4);
	p = honest(op, ANG_PKT_ALLREDUCE);
	p.len = 900;
	give(&p, up, ANGARA_VC_DOWN);
	EXPECT_EQ(dropped(), 4);
	EXPECT_EQ(finish(g.ctx[0], &cqe), ANGARA_ST_MISMATCH);
	EXPECT_EQ(le32_to_cpu(cqe.node), peer_of(up));
	end();
}

static void reduces(void)
{
	struct ang_pkt p;
	struct ang_op *op;
	u32 dir;

	start(4);
	host_run(g.h);
	dropped();
	op = begin(ANGARA_OP_REDUCE, 0);
	EXPECT_EQ(op->npkts_sent, 4);
	/* Find the link on which the root's answers arrive. */
	for (dir = 0; dir < 4; dir++)
		if (ang_topo_route(&g.h->v.topo, peer_of(dir), 0) ==
		    (dir ^ 1))
			break;
	p = honest(op, ANG_PKT_RESULT);
	FORGED(op, p, life, p.life + 1, dir, ANGARA_VC_RSP);
	FORGED(op, p, gen, (u16)(p.gen + 1), dir, ANGARA_VC_RSP);
	FORGED(op, p, slot, (u16)(p.slot + 1), dir, ANGARA_VC_RSP);
	FORGED(op, p, dst_ctx, 1, dir, ANGARA_VC_RSP);
	FORGED(op, p, tree, TREE + 1, dir, ANGARA_VC_RSP);
	FORGED(op, p, seq, p.seq + 4, dir, ANGARA_VC_RSP);
	FORGED(op, p, redop, p.redop + 1, dir, ANGARA_VC_RSP);
	complete(ANGARA_OP_REDUCE, 0);
	/* The result comes on VC_RSP, as the result of a reduce does. */
	op = begin(ANGARA_OP_ALLREDUCE, 0);
	p = honest(op, ANG_PKT_RESULT);
	FORGED(op, p, seq, p.seq, dir, ANGARA_VC_RSP);
	complete(ANGARA_OP_ALLREDUCE, 0);
	end();
}

/* The node's children have not sent, so a neighbor cannot have a result. */
static void results_early(void)
{
	struct ang_pkt p;
	struct ang_op *op;
	u32 dir;

	start_inner();
	host_run(g.h);
	dropped();
	op = begin(ANGARA_OP_REDUCE, 0);
	EXPECT_EQ(op->npkts_sent, 4);
	EXPECT_EQ(me->tree[TREE].done, 0);
	for (dir = 0; dir < 4; dir++)
		if (ang_topo_route(&g.h->v.topo, peer_of(dir), 0) ==
		    (dir ^ 1))
			break;
	p = honest(op, ANG_PKT_RESULT);
	FORGED(op, p, seq, p.seq, dir, ANGARA_VC_RSP);
	FORGED(op, p, pkey, PKEY + 1, dir, ANGARA_VC_RSP);
	complete(ANGARA_OP_REDUCE, 0);
	end();
}

/*
 * A parent reports that the tree is whole before this node's children have met
 * it.
 */
static void opened_early(void)
{
	struct ang_pkt p = {
		.type = ANG_PKT_OPEN, .flags = ANG_PF_WHOLE, .tree = TREE,
		.npkts = 1, .pkey = PKEY, .seq = 77,
	};
	struct ang_op *op;

	start_inner();
	begin_apart();
	p.key = t->rows[0].epoch;
	p.life = me->tree[TREE].life;
	give(&p, t->rows[0].to_root, ANGARA_VC_DOWN);
	EXPECT(!me->tree[TREE].open);
	op = begin(ANGARA_OP_BCAST, 0);
	EXPECT_EQ(op->npkts_sent, 0);
	EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_LEAVE, 0, TREE), 0);
	EXPECT_EQ(finish(g.ctx[0], NULL), ANGARA_ST_TREE_DOWN);
	end();
}

/* A child or the parent sends data before the tree is open here. */
static void data_early(void)
{
	struct ang_pkt p = {
		.type = ANG_PKT_BCAST, .flags = ANG_PF_LAST, .tree = TREE,
		.npkts = 4, .len = LEN, .pkey = PKEY, .src_node = 4,
		.key = BUF_KEY, .off = 8192,
	};

	start_inner();
	begin_apart();
	dropped();
	p.life = me->tree[TREE].life;
	give(&p, ang_lowest(t->rows[0].ports), ANGARA_VC_UP);
	give(&p, t->rows[0].to_root, ANGARA_VC_DOWN);
	EXPECT_EQ(dropped(), 8);
	EXPECT_EQ(ctx_counter(g.ctx[0], ANGARA_CTR_BCAST(TREE)), 0);
	end();
}

/*
 * The rows of nodes 0 and 1 form a ring without a root.  A child in another
 * fabric sends a packet into this ring.
 */
static void ring_fed(void)
{
	static const struct angara_tree_row rows[2] = {
		{ .tree = TREE, .to_root = 0, .port_sum = 2,
		  .ports = 1 << 1 | 1 << 2, .pe = 1, .pkey = PKEY, .epoch = 1 },
		{ .tree = TREE, .to_root = 0, .port_sum = 1, .ports = 1 << 1,
		  .pe = 1, .pkey = PKEY, .epoch = 1 },
	};
	struct ang_pkt p = {
		.type = ANG_PKT_BCAST, .flags = ANG_PF_LAST, .tree = TREE,
		.npkts = 1, .pkey = PKEY, .src_node = 2,
	};
	struct host *h = host_half("2x2", &cfg_default, 3);
	u32 i;

	ang_remote_set(&h->v, 2);
	ang_remote_set(&h->v, 3);
	host_start(h);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(adm_row(h, i, &rows[i]), 0);
	host_run(h);
	p.life = ang_node(h->fab, 0)->tree[TREE].life;
	EXPECT(ang_remote_give(&h->v, 2, 3, ANGARA_VC_UP, &p, NULL));
	host_run(h);
	EXPECT_EQ(ang_node(h->fab, 0)->drops[ANGARA_DROP_ORDER], 1);
	for (i = 0; i < 2; i++)
		adm_op(h, i, ANGARA_ADM_TREE_CLEAR, 0, TREE);
	host_drain(h, 2);
	host_drain(h, 3);
	h->dropped = 1;
	host_free(h);
}

/*
 * A server must not send a ticket without a life, or with a slot that does not
 * exist.
 */
static void tickets(void)
{
	struct ang_pkt p = {
		.type = ANG_PKT_REDUCE, .tree = TREE, .npkts = 1, .pkey = PKEY,
		.src_node = 1, .dst_node = 2,
	};
	const char *flaw;

	start(0);
	p.off = ANG_TICKET(1, 1, 0);
	EXPECT(!ang_remote_flaw(&g.h->v, 1, 1, ANGARA_VC_UP, &p, 0));
	p.off = ANG_TICKET(1, 1, g.h->cfg.ops);
	flaw = ang_remote_flaw(&g.h->v, 1, 1, ANGARA_VC_UP, &p, 0);
	EXPECT(flaw && !strncmp(flaw, "off", 3));
	p.off = ANG_TICKET(0, 1, 0);
	flaw = ang_remote_flaw(&g.h->v, 1, 1, ANGARA_VC_UP, &p, 0);
	EXPECT(flaw && !strncmp(flaw, "off", 3));
	end();
}

/* A node that asks when it may send gets an answer without the keys. */
static void ready_tells_no_key(void)
{
	struct ang_pkt p = {
		.type = ANG_PKT_READY_ACK, .flags = ANG_PF_LAST | ANG_PF_MORE,
		.npkts = 1, .dst_node = 0, .dst_ctx = 0,
	};
	const struct ang_pkt *ready = NULL;
	const void *data;
	u32 d;

	start(0);
	p.src_node = peer_of(0);
	give(&p, 0, ANGARA_VC_RSP);
	for (d = 0; d < 4 && !ready; d++)
		ready = ang_remote_head(&g.h->v, peer_of(d), d ^ 1,
					ANGARA_VC_REQ, &data);
	EXPECT(ready && ready->type == ANG_PKT_READY);
	EXPECT_EQ(ready->pkey, 0);
	EXPECT_EQ(ready->job, 0);
	end();
}

/*
 * A peer says that its node waits for room in a receive buffer, and never answers that
 * there is room.  Messages of other contexts arrive nevertheless.
 */
static void waits_for_ever(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_SEND, 0, 0, 0, 0, LEN);
	struct ang_pkt p = {
		.type = ANG_PKT_READY_ACK, .flags = ANG_PF_LAST | ANG_PF_MORE,
		.npkts = 1, .dst_node = 0, .dst_ctx = 0,
	};
	struct tarea *area;
	struct tctx *c;
	u32 k;

	start(0);
	area = area_new(g.ctx[0], 14);
	c = ctx_new(g.h, 0, 1, PKEY, 6, 6);
	ctx_buffer(c, 8192);
	p.src_node = peer_of(0);
	for (k = 0; k < 3; k++) {
		struct angara_cqe cqe;

		p.life = ang_ctx(g.h->fab, me, 0)->life - k % 2;
		give(&p, 0, ANGARA_VC_RSP);
		post(c, &w, NULL);
		kick(c);
		run_steps(&g.h->v, 1000);
		EXPECT(poll_cq(c, &cqe) && cqe.status == ANGARA_ST_OK);
		EXPECT(area_next(area, NULL));
	}
	host_run(g.h);
	ctx_del(c);
	free(area);
	end();
}

static void broadcasts(void)
{
	struct ang_pkt p;
	struct ang_op *op;
	u32 up;

	start(4);
	host_run(g.h);
	dropped();
	up = t->rows[0].to_root;
	op = begin(ANGARA_OP_BCAST, 0);
	EXPECT_EQ(op->npkts_sent, 4);
	p = honest(op, ANG_PKT_BCAST);
	FORGED(op, p, life, p.life + 1, up, ANGARA_VC_DOWN);
	FORGED(op, p, gen, (u16)(p.gen + 1), up, ANGARA_VC_DOWN);
	FORGED(op, p, slot, (u16)(p.slot + 1), up, ANGARA_VC_DOWN);
	FORGED(op, p, src_ctx, 1, up, ANGARA_VC_DOWN);
	FORGED(op, p, seq, 256, up, ANGARA_VC_DOWN);
	FORGED(op, p, flags, 0, up, ANGARA_VC_DOWN);
	/* The packet is only a part of the train, marked as its last one. */
	p.npkts = 1;
	FORGED(op, p, len, 200, up, ANGARA_VC_DOWN);
	/* The train claims five packets, but the operation has four. */
	p.npkts = 5;
	FORGED(op, p, len, 1200, up, ANGARA_VC_DOWN);
	EXPECT_EQ(ctx_counter(g.ctx[0], ANGARA_CTR_BCAST(TREE)), 0);
	complete(ANGARA_OP_BCAST, 0);
	end();
}

/* A child contributes twice, or asks for a broadcast in this node's name. */
static void children(void)
{
	struct ang_pkt p;
	struct ang_op *op;
	struct ang_op *other;
	u64 sent;
	u32 dir;
	u32 k;

	start(0);
	host_run(g.h);
	dropped();
	EXPECT(t->rows[0].port_sum > 1);
	dir = ang_lowest(t->rows[0].ports);
	op = begin(ANGARA_OP_ALLREDUCE, 0);
	p = honest(op, ANG_PKT_ALLREDUCE);
	p.src_node = peer_of(dir);
	FORGED(op, p, life, p.life - 1, dir, ANGARA_VC_UP);
	FORGED(op, p, seq, p.seq + 16, dir, ANGARA_VC_UP);
	give(&p, dir, ANGARA_VC_UP);
	EXPECT_EQ(dropped(), 0);
	for (k = 0; k < 8; k++)
		FORGED(op, p, seq, p.seq, dir, ANGARA_VC_UP);
	other = begin(ANGARA_OP_BCAST, 0);
	p = honest(other, ANG_PKT_BCAST);
	sent = ang_port(g.h->fab, me, dir)->link.packets[ANGARA_VC_DOWN];
	FORGED(op, p, src_node, 0, dir, ANGARA_VC_UP);
	EXPECT_EQ(ang_port(g.h->fab, me, dir)->link.packets[ANGARA_VC_DOWN], sent);
	EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_TREE_CLEAR, 0, TREE), 0);
	host_run(g.h);
	for (k = 0; k < 2; k++) {
		struct angara_cqe cqe;

		EXPECT(poll_cq(g.ctx[0], &cqe));
	}
	EXPECT_EQ(adm_row(g.h, 0, &t->rows[0]), ANGARA_ADM_ST_OK);
	end();
}

/*
 * Forged credits without results, and rows and aborts of another life, are
 * dropped.
 */
static void controls(void)
{
	struct ang_pkt p = {
		.type = ANG_PKT_CREDIT, .tree = TREE, .npkts = 1, .pkey = PKEY,
		.seq = 1,
	};
	struct ang_tree *row;
	u32 up;

	start(4);
	host_run(g.h);
	dropped();
	row = &me->tree[TREE];
	up = t->rows[0].to_root;
	p.life = row->life;
	give(&p, up, ANGARA_VC_DOWN);
	EXPECT_EQ(dropped(), 1);
	EXPECT_EQ(row->up_credits, ANGARA_MAX_REDUCES);
	p.type = ANG_PKT_ABORT;
	p.status = ANGARA_ST_TREE_DOWN;
	p.seq = ang_lives(g.h->fab, me, row->row.tree)[up];
	p.life = row->life + 1;
	give(&p, up, ANGARA_VC_DOWN);
	p.seq++;
	p.life = row->life;
	give(&p, up, ANGARA_VC_DOWN);
	p.type = ANG_PKT_OPEN;
	p.status = 0;
	p.key = t->rows[0].epoch;
	p.life = row->life + 1;
	give(&p, up, ANGARA_VC_DOWN);
	EXPECT_EQ(row->state, ANGARA_TREE_STATE_UP);
	EXPECT(row->open);
	/*
	 * If a neighbor restarts its row without ending the previous life, the
	 * tree goes down.
	 */
	p.life = row->life;
	give(&p, up, ANGARA_VC_DOWN);
	EXPECT_EQ(row->state, ANGARA_TREE_STATE_DOWN);
	end();
}

const struct test_case forge_cases[] = {
	{ "forged: what has not been injected does not complete", before_open },
	{ "forged: results of an allreduce", results },
	{ "forged: results that do not fit the operation", results_unfit },
	{ "forged: results of a reduce", reduces },
	{ "forged: the result of a reduce before there can be one",
	  results_early },
	{ "forged: a tree opened before it is whole", opened_early },
	{ "forged: data before the tree is open", data_early },
	{ "forged: a request into a ring of rows without a root", ring_fed },
	{ "forged: tickets", tickets },
	{ "forged: a request to send", ready_tells_no_key },
	{ "forged: a node that only says that it waits", waits_for_ever },
	{ "forged: broadcasts that come back", broadcasts },
	{ "forged: contributions and requests of children", children },
	{ "forged: credits, ends and beginnings of rows", controls },
	{ NULL, NULL },
};
