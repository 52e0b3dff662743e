// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Small operations in lanes (ang_lane.c): several threads work in a node at
 * once, and none of their views holds the node.  A second thread acts while an
 * operation of the first one accesses memory.  t_express.c compares results and
 * counters with those of packets.
 */
#include <setjmp.h>
#include <string.h>

#include "invariant.h"
#include "msgs.h"

#define CTXS	10	/* at node 0: contexts 0 and ANG_LANES share a lane */
#define CALM	3

static struct host *h;
static struct tctx *src[CTXS];	/* contexts of node 0 */
static struct tctx *dst;	/* the context of node 1 */
static struct ang_view second;	/* view of the second thread */
static struct ang_ops plain;	/* functions of the host, which the test replaces */
static void (*act)(void);	/* what the second thread does */
static u32 at_node;		/* act() runs at the first access to memory of this node */
static u32 looked;		/* calls of look() */
static jmp_buf dead;

static struct ang_node *node(u32 id)
{
	return ang_node(h->fab, id);
}

static void meanwhile(u32 id)
{
	void (*what)(void) = act;

	if (!what || id != at_node)
		return;
	act = NULL;
	what();
}

static int seen_read(void *host, u32 id, u64 addr, void *buf, u32 len)
{
	meanwhile(id);
	return plain.dma_read(host, id, addr, buf, len);
}

static int seen_write(void *host, u32 id, u64 addr, const void *buf, u32 len)
{
	meanwhile(id);
	return plain.dma_write(host, id, addr, buf, len);
}

static void seen_look(struct ang_view *v, u32 id)
{
	looked++;
}

static struct angara_wqe put_of(u32 ctx)
{
	return wqe_p2p(ANGARA_OP_PUT, 1, 0, 64 * ctx, 64 * ctx, 64);
}

/* Rings the doorbell of a context of node 0. */
static void bell(struct ang_view *v, u32 ctx)
{
	ang_reg_ring(v, 0, ANGARA_DB_PAGE(ctx) + ANGARA_DB_SQ, src[ctx]->sq_pi);
}

static void put(struct ang_view *v, u32 ctx)
{
	struct angara_wqe w = put_of(ctx);

	memset(src[ctx]->buf + 64 * ctx, (int)(ctx + src[ctx]->sq_pi), 64);
	post(src[ctx], &w, NULL);
	bell(v, ctx);
}

/* Has a context's only operation ended, with its data at the target? */
static bool ended(u32 ctx)
{
	struct angara_cqe cqe;

	return poll_cq(src[ctx], &cqe) && !cqe.status &&
	       !memcmp(dst->buf + 64 * ctx, src[ctx]->buf + 64 * ctx, 64);
}

static void open_all(void)
{
	u32 i;

	for (i = 0; i <= CALM; i++) {
		put(&h->v, 0);
		EXPECT(ended(0));
	}
	EXPECT_EQ(node(0)->lanes, ANG_LANES_OPEN);
	EXPECT_EQ(node(1)->lanes, ANG_LANES_OPEN);
}

static void start(bool opened)
{
	struct ang_cfg cfg = cfg_default;
	u32 i;

	cfg.ctxs = CTXS;
	h = host_new("2", &cfg);
	h->ops.trace = NULL;
	h->v.calm = CALM;
	for (i = 0; i < CTXS; i++)
		src[i] = member(h, 0, i);
	dst = member(h, 1, 0);
	ang_view_init(&second, h->fab, &h->ops, h);
	second.calm = CALM;
	if (opened)
		open_all();
	plain = h->ops;
	h->ops.dma_read = seen_read;
	h->ops.dma_write = seen_write;
	h->ops.look = seen_look;
	act = NULL;
	looked = 0;
}

static void end(void)
{
	u32 i;

	EXPECT(!act);
	host_run(h);
	invariants(h->fab, 0);
	for (i = 0; i < CTXS; i++)
		ctx_del(src[i]);
	ctx_del(dst);
	EXPECT_EQ(h->faults, 0);
	host_free(h);
}

/* Lanes open after CALM small operations in a row, and a step of the holder closes them. */
static void opening(void)
{
	u32 i;

	start(false);
	for (i = 0; i < CALM; i++) {
		EXPECT_EQ(node(0)->lanes, ANG_LANES_SHUT);
		EXPECT_EQ(node(1)->lanes, ANG_LANES_SHUT);
		put(&h->v, 0);
		EXPECT(ended(0));
	}
	EXPECT_EQ(node(0)->lanes, ANG_LANES_OPEN);
	EXPECT_EQ(node(1)->lanes, ANG_LANES_OPEN);
	put(&h->v, 0);
	EXPECT(ended(0));
	/*
	 * After a step in between, a node has to be calm again before its lanes
	 * open.
	 */
	ang_look(&h->v, 0);
	host_run(h);
	EXPECT_EQ(looked, 1);
	EXPECT_EQ(node(0)->lanes, ANG_LANES_SHUT);
	EXPECT_EQ(node(1)->lanes, ANG_LANES_OPEN);
	/* The put before the step counts as one of the CALM operations. */
	for (i = 0; i < CALM - 2; i++) {
		put(&h->v, 0);
		EXPECT(ended(0));
		EXPECT_EQ(node(0)->lanes, ANG_LANES_SHUT);
	}
	ang_look(&h->v, 0);
	host_run(h);
	put(&h->v, 0);
	EXPECT(ended(0));
	EXPECT_EQ(node(0)->lanes, ANG_LANES_SHUT);
	end();
}

/*
 * After very many small operations, lanes open again after a step of the
 * holder.  Only ANG_CALM_SPELLS steps shut them.
 */
static void visited(void)
{
	u32 i;

	start(true);
	for (i = 0; i < 2 * ANG_CALM_SPELLS * CALM; i++) {
		put(&h->v, 0);
		EXPECT(ended(0));
	}
	for (i = 1; i <= ANG_CALM_SPELLS; i++) {
		ang_look(&h->v, 1);
		host_run(h);
		EXPECT_EQ(looked, i);
		EXPECT_EQ(node(1)->lanes, i < ANG_CALM_SPELLS ? ANG_LANES_OPEN :
							       ANG_LANES_SHUT);
	}
	EXPECT_EQ(node(0)->lanes, ANG_LANES_OPEN);
	end();
}

/*
 * The holder of a node opens its lanes, too, also if another view has rung the
 * doorbells.
 */
static void left_to_holder(void)
{
	struct angara_wqe w = put_of(0);
	u32 i;

	start(false);
	for (i = 0; i < CALM; i++) {
		EXPECT_EQ(node(0)->lanes, ANG_LANES_SHUT);
		post(src[0], &w, NULL);
		ang_reg_write(&h->v, 0, ANGARA_DB_PAGE(0) + ANGARA_DB_SQ, src[0]->sq_pi);
		host_run(h);
		EXPECT(ended(0));
	}
	EXPECT_EQ(node(0)->lanes, ANG_LANES_OPEN);
	end();
}

/* Without ang_view.calm no lane opens. */
static void never(void)
{
	u32 i;

	start(false);
	h->v.calm = 0;
	for (i = 0; i < 100; i++) {
		put(&h->v, 0);
		EXPECT(ended(0));
	}
	EXPECT_EQ(node(0)->lanes, ANG_LANES_SHUT);
	EXPECT_EQ(node(1)->lanes, ANG_LANES_SHUT);
	end();
}

static void other_puts(void)
{
	EXPECT(!(READ_ONCE(node(0)->sched) & ANG_SCHED_OWNED));
	put(&second, 1);
	EXPECT(ended(1));
	EXPECT(!ang_view_busy(&second));
}

/* Another context's put begins and ends while a put is under way. */
static void together(void)
{
	for (at_node = 0; at_node < 2; at_node++) {
		start(true);
		act = other_puts;
		put(&h->v, 0);
		EXPECT(ended(0));
		EXPECT(!ang_view_busy(&h->v));
		EXPECT_EQ(node(0)->lanes, ANG_LANES_OPEN);
		end();
	}
}

static void same_lane(void)
{
	put(&second, ANG_LANES);
	EXPECT(!ended(ANG_LANES));
	put(&second, 0);
}

/*
 * While a thread is in a lane, other contexts of this lane wait, and so does
 * the same context.
 */
static void one_lane(void)
{
	start(true);
	at_node = 0;
	act = same_lane;
	put(&h->v, 0);
	EXPECT(ended(0));
	ang_list_splice(h->fab, &h->v.runq, &second.runq);
	host_run(h);
	EXPECT(ended(0));
	EXPECT(ended(ANG_LANES));
	end();
}

static void look_there(void)
{
	ang_look(&second, at_node);
	EXPECT_EQ(ang_run(&second, 1000), 0);
	EXPECT_EQ(looked, 0);
	EXPECT_EQ(node(at_node)->lanes, ANG_LANES_CLOSING);
	EXPECT(!(READ_ONCE(node(at_node)->sched) & ANG_SCHED_OWNED));
	/* The lanes are closing: no further thread enters one. */
	put(&second, 1);
	EXPECT(at_node || !ended(1));
}

/*
 * A view that waits for a node gets it soon after all threads have left the
 * node's lanes.
 */
static void closing(void)
{
	union ang_counters c;

	for (at_node = 0; at_node < 2; at_node++) {
		start(true);
		act = look_there;
		put(&h->v, 0);
		EXPECT(ended(0));
		EXPECT_EQ(looked, 0);
		ang_list_splice(h->fab, &h->v.runq, &second.runq);
		host_run(h);
		EXPECT_EQ(looked, 1);
		EXPECT(ended(1));
		ang_look(&h->v, 0);
		ang_look(&h->v, 1);
		host_run(h);
		ang_look_counters(&h->v, 1, ANGARA_CNT_CTX, 0, &c);
		EXPECT_EQ(le64_to_cpu(c.ctx.rx_packets), CALM + 3);
		ang_look_counters(&h->v, 0, ANGARA_CNT_NODE, 0, &c);
		EXPECT_EQ(le64_to_cpu(c.node.injected_packets), CALM + 3);
		end();
	}
}

/*
 * An operation that is not small is done by the holder, in the order of the
 * queue.
 */
static void mixed(void)
{
	static const u8 ops[] = { ANGARA_OP_PUT, ANGARA_OP_ATOMIC, ANGARA_OP_PUT,
				  ANGARA_OP_GET, ANGARA_OP_NOP, ANGARA_OP_PUT };
	struct angara_cqe cqe;
	u32 i;

	start(true);
	for (i = 0; i < NUM(ops); i++) {
		struct angara_wqe w = wqe_p2p(ops[i], 1, 0, 64 * i, 64 * i,
					      i == 5 ? 500 : 8);

		w.type = ops[i] == ANGARA_OP_ATOMIC ? ANGARA_TYPE_UINT64 : 0;
		w.flags = i == 2 ? ANGARA_WQE_NOTIFY : 0;
		w.cookie = cpu_to_le64(i);
		post(src[0], &w, NULL);
	}
	bell(&h->v, 0);
	host_run(h);
	for (i = 0; i < NUM(ops); i++) {
		EXPECT(poll_cq(src[0], &cqe));
		EXPECT_EQ(le16_to_cpu(cqe.status), 0);
		EXPECT_EQ(le64_to_cpu(cqe.cookie), i);
	}
	EXPECT_EQ(ctx_counter(dst, ANGARA_CTR_USER(0)), 1);
	end();
}

/* Small operations that alternate with longer ones open no lanes at their node. */
static void beside(void)
{
	struct angara_cqe cqe;
	u32 i;

	start(false);
	for (i = 0; i < 10 * CALM; i++) {
		struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 0, 500);

		post(src[0], &w, NULL);
		w = put_of(0);
		post(src[0], &w, NULL);
		bell(&h->v, 0);
		host_run(h);
		EXPECT(poll_cq(src[0], &cqe) && poll_cq(src[0], &cqe));
		EXPECT_EQ(node(0)->lanes, ANG_LANES_SHUT);
	}
	end();
}

/*
 * Atomic operations open the lanes of their own node, and are done in them.
 * They do not open the lanes of the target: they have to hold the target.
 */
static void atomics(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_ATOMIC, 1, 0, 0, 0, 8);
	struct angara_cqe cqe;
	u32 i;

	w.type = ANGARA_TYPE_UINT64;
	start(false);
	for (i = 0; i < 3 * CALM; i++) {
		post(src[0], &w, NULL);
		if (node(0)->lanes == ANG_LANES_OPEN) {
			EXPECT(ang_lane_bell(&h->v, node(0), 0, src[0]->sq_pi));
		} else {
			bell(&h->v, 0);
			host_run(h);
		}
		EXPECT(poll_cq(src[0], &cqe));
		EXPECT_EQ(le16_to_cpu(cqe.status), 0);
		EXPECT_EQ(node(1)->lanes, ANG_LANES_SHUT);
	}
	EXPECT_EQ(node(0)->lanes, ANG_LANES_OPEN);
	end();
}

/*
 * A thread in a lane counts packets for each context of the target, also if
 * contexts alternate.
 */
static void counted(void)
{
	struct angara_cqe cqe;
	struct tctx *other;
	union ang_counters c;
	u32 i;

	start(false);
	other = member(h, 1, 1);
	open_all();
	for (i = 0; i < 10; i++) {
		struct angara_wqe w = put_of(0);

		w.dst_ctx = cpu_to_le16(i % 2);
		post(src[0], &w, NULL);
		bell(&h->v, 0);
		EXPECT(poll_cq(src[0], &cqe));
		EXPECT_EQ(node(1)->lanes, ANG_LANES_OPEN);
	}
	ang_look(&h->v, 1);
	host_run(h);
	for (i = 0; i < 2; i++) {
		ang_look_counters(&h->v, 1, ANGARA_CNT_CTX, i, &c);
		EXPECT_EQ(le64_to_cpu(c.ctx.rx_packets), i ? 5 : CALM + 6);
		EXPECT_EQ(le64_to_cpu(c.ctx.rx_bytes), i ? 5 * 64 : (CALM + 6) * 64);
	}
	ctx_del(other);
	end();
}

/*
 * A put in a lane does not overtake an earlier put of its context that uses
 * packets.
 */
static void order(void)
{
	struct angara_cqe cqe;
	struct ang_node *t;

	start(true);
	t = node(1);
	ang_look(&h->v, 1);
	host_run(h);
	ang_fetch_or(&t->sched, ANG_SCHED_OWNED);
	put(&h->v, 0);
	ang_run(&h->v, 1);
	ang_fetch_and(&t->sched, ~(ANG_SCHED_OWNED | ANG_SCHED_WORK));
	ang_wake(&h->v, t, 0);
	EXPECT(!ended(0));
	node(0)->lanes = ANG_LANES_OPEN;
	t->lanes = ANG_LANES_OPEN;
	put(&h->v, 0);
	EXPECT(!poll_cq(src[0], &cqe));
	host_run(h);
	EXPECT(poll_cq(src[0], &cqe));
	EXPECT(ended(0));
	end();
}

/* Operations in lanes pass the same checks as those that the holder executes. */
static void refused(void)
{
	struct angara_cqe cqe;
	struct angara_wqe w;
	u32 i;

	for (i = 0; i < 6; i++) {
		static const u32 want[] = {
			ANGARA_ST_KEY, ANGARA_ST_BOUNDS, ANGARA_ST_TARGET,
			ANGARA_ST_ACCESS, ANGARA_ST_KEY, ANGARA_ST_PARTITION
		};
		struct tctx *other = NULL;

		start(true);
		w = put_of(0);
		if (i == 0)
			w.rkey = cpu_to_le64(le64_to_cpu(w.rkey) + (1ULL << 40));
		if (i == 1)
			w.roff = cpu_to_le64(1ULL << 40);
		if (i == 2)
			w.dst_ctx = cpu_to_le16(CTXS - 1);
		if (i == 3)
			dst->mrt[BUF_KEY].access = 0;
		if (i == 4)
			dst->mrt[BUF_KEY].valid = 0;
		if (i == 5) {
			other = ctx_new(h, 1, 1, PKEY + 1, 3, 3);
			ctx_buffer(other, 512);
			w.dst_ctx = cpu_to_le16(1);
			node(0)->lanes = ANG_LANES_OPEN;
			node(1)->lanes = ANG_LANES_OPEN;
		}
		memset(dst->buf, 0x55, 64);
		post(src[0], &w, NULL);
		bell(&h->v, 0);
		host_run(h);
		EXPECT(poll_cq(src[0], &cqe));
		EXPECT_EQ(le16_to_cpu(cqe.status), want[i]);
		EXPECT_EQ(dst->buf[0], 0x55);
		if (other)
			ctx_del(other);
		end();
	}
}

static void die(void)
{
	longjmp(dead, 1);
}

/*
 * A thread dies while it is in lanes: first when it accesses memory of its own
 * node, then when it accesses memory of the target.  Its own node is torn and
 * reset; the target continues.
 */
static void death(void)
{
	u32 i;

	for (at_node = 0; at_node < 2; at_node++) {
		start(true);
		act = die;
		if (!setjmp(dead))
			put(&h->v, 0);
		EXPECT(!act);
		EXPECT_EQ(ang_recover_find(h->fab), 1);
		EXPECT(ang_recover_torn(h->fab, 0));
		EXPECT(!ang_recover_torn(h->fab, 1));
		ang_view_init(&h->v, h->fab, &h->ops, h);
		ang_recover(&h->v);
		host_run(h);
		for (i = 0; i < 2; i++)
			EXPECT_EQ(node(i)->lanes, ANG_LANES_SHUT);
		EXPECT(!ang_look_ctx(&h->v, 0, 0));
		EXPECT(ang_look_ctx(&h->v, 1, 0));
		/*
		 * No thread is in a lane: the next holder closes the lanes at
		 * once.
		 */
		node(1)->lanes = ANG_LANES_OPEN;
		looked = 0;
		ang_look(&h->v, 1);
		host_run(h);
		EXPECT_EQ(looked, 1);
		for (i = 0; i < CTXS; i++)
			free(src[i]);
		ctx_del(dst);
		host_run(h);
		invariants(h->fab, 0);
		host_free(h);
	}
}

static void stop(void)
{
	ang_recover_fence(h->fab);
	EXPECT(ang_recover_torn(h->fab, 0));
	EXPECT(!ang_recover_torn(h->fab, 1));
	EXPECT_EQ(node(0)->lanes, ANG_LANES_CLOSING);
	EXPECT_EQ(node(1)->lanes, ANG_LANES_CLOSING);
}

/*
 * A thread is stopped before it has entered the target, and continues after the
 * other threads have moved to a copy: it cannot enter.
 */
static void stopped(void)
{
	u32 i;

	start(true);
	at_node = 0;
	act = stop;
	memset(dst->buf, 0x55, 64);
	put(&h->v, 0);
	EXPECT(!act);
	EXPECT_EQ(dst->buf[0], 0x55);
	EXPECT(!ang_view_busy(&h->v));
	/* The test uses the same memory as the copy of the fabric. */
	for (i = 0; i < 2; i++)
		ang_fetch_and(&node(i)->sched, ~(ANG_SCHED_OWNED | ANG_SCHED_FENCED));
	ang_view_init(&h->v, h->fab, &h->ops, h);
	ang_recover(&h->v);
	host_run(h);
	EXPECT(!ang_look_ctx(&h->v, 0, 0));
	for (i = 0; i < CTXS; i++)
		free(src[i]);
	ctx_del(dst);
	host_run(h);
	host_free(h);
}

/* An operation of several packets does not enter a node with a thread in a lane. */
static void train(void)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 0, 2 * ANGARA_PACKET_BYTES);
	struct angara_cqe cqe;
	struct ang_lane *lane;

	start(true);
	lane = (struct ang_lane *)((char *)h->fab + node(1)->pe + h->fab->off_lane);
	lane->taken = 1;
	memset(src[1]->buf, 0x33, 2 * ANGARA_PACKET_BYTES);
	memset(dst->buf, 0x55, 2 * ANGARA_PACKET_BYTES);
	post(src[1], &w, NULL);
	bell(&h->v, 1);
	ang_run(&h->v, 1000);
	EXPECT_EQ(dst->buf[0], 0x55);
	EXPECT_EQ(node(1)->lanes, ANG_LANES_CLOSING);
	lane->taken = 0;
	host_run(h);
	EXPECT(poll_cq(src[1], &cqe) && !cqe.status);
	EXPECT(!memcmp(dst->buf, src[1]->buf, 2 * ANGARA_PACKET_BYTES));
	end();
}

const struct test_case lane_cases[] = {
	{ "lane: lanes open after small operations in a row", opening },
	{ "lane: reads of a node in between leave lanes open", visited },
	{ "lane: lanes open after operations that were left to the holder", left_to_holder },
	{ "lane: no lane opens unless the host asks for it", never },
	{ "lane: two operations of a node at once", together },
	{ "lane: contexts of one lane", one_lane },
	{ "lane: a holder waits for lanes", closing },
	{ "lane: other operations are done by the holder", mixed },
	{ "lane: small operations among others", beside },
	{ "lane: atomic operations", atomics },
	{ "lane: counters of several contexts", counted },
	{ "lane: a put does not overtake packets", order },
	{ "lane: several packets wait for a lane of the target", train },
	{ "lane: checks in lanes", refused },
	{ "lane: a thread dies in a lane", death },
	{ "lane: a thread is stopped in a lane", stopped },
	{ NULL, NULL },
};
