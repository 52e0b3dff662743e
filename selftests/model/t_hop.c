// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations of trees with links and without (ang_hop.c): the same random
 * operations on two fabrics, one of which sends packets only.  Memory,
 * completions, event counters and all counters of nodes, links, contexts and
 * trees must be equal.
 */
#include <string.h>

#include "test.h"
#include "coll.h"
#include "timing.h"
#include "watch.h"

#define LOCAL	2	/* participants per node */
#define TREES	3
#define HALF	8192	/* bytes to send, and bytes to receive */
#define ROUNDS	400
#define TIMES	4	/* operations of a participant in flight */

/**
 * struct side - one of the two fabrics that are compared
 * @g: its contexts
 * @t: its trees
 * @at_once: doorbells are rung by ang_reg_ring()
 */
struct side {
	struct group g;
	struct ttree *t[TREES];
	bool at_once;
};

/**
 * struct plan - an operation, as all participants know it
 * @op: ANGARA_OP_*
 * @type: element type
 * @redop: reduction
 * @len: bytes
 * @who: source of a broadcast, receiver of a reduce
 */
struct plan {
	u32 op;
	u8 type;
	u8 redop;
	u32 len;
	u32 who;
};

static u64 seed;

static u32 pick(u32 below)
{
	return (u32)((rnd(&seed) >> 16) % below);
}

/*
 * Opens tree @tree: 0 over all contexts, 1 over the first context of each node,
 * 2 over some contexts.
 */
static void tree_open(struct side *s, u32 tree, u32 epoch)
{
	u16 pe[64];
	u32 i;

	for (i = 0; i < s->g.h->nodes; i++)
		pe[i] = (u16)(tree == 2 ? (i + 1) % 3 : LOCAL - tree);
	s->t[tree] = tree_over(s->g.h, 2 * tree + 1, (5 * tree + epoch) % s->g.h->nodes,
			       s->g.ctx, s->g.n, pe, epoch);
}

static void side_open(struct side *s, const char *dims,
		      const struct ang_cfg *cfg, bool packets, bool at_once)
{
	u32 i;

	s->g.h = host_new(dims, cfg);
	s->g.h->ops.trace = NULL;
	s->g.h->v.packets = packets;
	s->at_once = at_once;
	group_new(&s->g, LOCAL, HALF);
	for (i = 0; i < TREES; i++)
		tree_open(s, i, 1);
	host_run(s->g.h);
}

static void side_close(struct side *s)
{
	u32 i;

	for (i = 0; i < TREES; i++)
		tree_del(s->t[i]);
	group_del(&s->g);
}

static struct plan some_plan(u32 n)
{
	static const u8 ops[] = { ANGARA_OP_BARRIER, ANGARA_OP_BCAST,
				  ANGARA_OP_REDUCE, ANGARA_OP_ALLREDUCE };
	static const u8 types[] = { ANGARA_TYPE_INT32, ANGARA_TYPE_UINT64,
				    ANGARA_TYPE_FLOAT, ANGARA_TYPE_DOUBLE };
	static const u8 redops[] = { ANGARA_RED_SUM, ANGARA_RED_PROD, ANGARA_RED_MAX };
	struct plan p = {
		.op = ops[pick(NUM(ops))], .type = types[pick(NUM(types))],
		.redop = redops[pick(NUM(redops))], .who = pick(n),
	};

	if (p.op != ANGARA_OP_BARRIER)
		p.len = 8 * (pick(3) ? pick(ANGARA_PACKET_BYTES / 8 + 1) :
				       pick(HALF / TIMES / 8));
	return p;
}

static struct angara_wqe entry(const struct side *s, u32 tree, u32 who,
			       const struct plan *p, u32 k)
{
	const struct ttree *t = s->t[tree];
	u32 at = k * (HALF / TIMES);
	struct angara_wqe w = wqe_coll(p->op, t->tree, at, HALF + at, p->len);

	if (p->op == ANGARA_OP_REDUCE || p->op == ANGARA_OP_ALLREDUCE) {
		w.type = p->type;
		w.redop = p->redop;
	}
	if (p->op == ANGARA_OP_REDUCE) {
		w.dst_node = cpu_to_le32(t->ctx[p->who]->node);
		w.dst_ctx = cpu_to_le16((u16)t->ctx[p->who]->id);
	}
	w.cookie = cpu_to_le64(who * TIMES + k);
	return w;
}

/* Makes a participant's source unreadable, or its destination unwritable. */
static void poison(struct angara_wqe *w, u32 how)
{
	if (how == 1 && w->opcode != ANGARA_OP_BARRIER)
		w->lkey = cpu_to_le32(MRS - 1);
	else if (how == 2 && w->aux)
		w->aux = cpu_to_le64(2 * HALF - 1);
	else if (how == 3)
		w->flags |= ANGARA_WQE_QUIET;
}

static void ring(const struct side *s, struct tctx *c)
{
	if (s->at_once)
		ang_reg_ring(&c->h->v, c->node,
			     ANGARA_DB_PAGE(c->id) + ANGARA_DB_SQ, c->sq_pi);
	else
		kick(c);
}

/* Fills the send halves with new words, the same on both sides. */
static void fill(struct side *a, struct side *b)
{
	u32 i, k;

	for (i = 0; i < a->g.n; i++)
		for (k = 0; k < HALF / 8; k++) {
			u64 x = rnd(&seed) & 0x803FFFFF803FFFFFULL;

			x |= 0x3FC000003F800000ULL;
			memcpy(a->g.ctx[i]->buf + 8 * k, &x, 8);
			memcpy(b->g.ctx[i]->buf + 8 * k, &x, 8);
		}
}

static void counters_of(struct side *s, u32 node, u32 kind, u32 index,
			union ang_counters *c)
{
	memset(c, 0, sizeof(*c));
	ang_look_counters(&s->g.h->v, node, kind, index, c);
	timing_drop(kind, c);
}

static void counters_equal(struct side *a, struct side *b)
{
	static const u32 kinds[] = { ANGARA_CNT_NODE, ANGARA_CNT_LINK,
				     ANGARA_CNT_CTX, ANGARA_CNT_TREE };
	u32 node, k, i;

	for (node = 0; node < a->g.h->v.topo.routers; node++)
		for (k = 0; k < NUM(kinds); k++)
			for (i = 0; i < 8; i++) {
				union ang_counters x, y;

				counters_of(a, node, kinds[k], i, &x);
				counters_of(b, node, kinds[k], i, &y);
				EXPECT(!memcmp(&x, &y, sizeof(x)));
			}
}

/* Completions of a context, in the order of their cookies. */
static void completions(struct tctx *c, struct angara_cqe *cqes)
{
	struct angara_cqe cqe;

	memset(cqes, 0, TIMES * sizeof(*cqes));
	while (poll_cq(c, &cqe)) {
		cqe.phase = 0;
		cqes[le64_to_cpu(cqe.cookie) % TIMES] = cqe;
	}
}

static void sides_equal(struct side *a, struct side *b)
{
	struct angara_cqe x[TIMES], y[TIMES];
	u32 i, k;

	for (i = 0; i < a->g.n; i++) {
		struct tctx *c = a->g.ctx[i], *d = b->g.ctx[i];

		completions(c, x);
		completions(d, y);
		for (k = 0; k < TIMES; k++) {
			EXPECT_EQ(le16_to_cpu(y[k].status), le16_to_cpu(x[k].status));
			EXPECT_EQ(le32_to_cpu(y[k].node), le32_to_cpu(x[k].node));
			EXPECT(!memcmp(&x[k], &y[k], sizeof(x[k])));
		}
		EXPECT(!memcmp(c->buf, d->buf, 2 * HALF));
		EXPECT_EQ(ctx_counter(c, ANGARA_CTR_EVSEQ), ctx_counter(d, ANGARA_CTR_EVSEQ));
		for (k = 0; k < 8; k++) {
			EXPECT_EQ(ctx_counter(c, ANGARA_CTR_BCAST(k)),
				  ctx_counter(d, ANGARA_CTR_BCAST(k)));
			EXPECT_EQ(ctx_counter(c, ANGARA_CTR_RX_ERRORS(k)),
				  ctx_counter(d, ANGARA_CTR_RX_ERRORS(k)));
		}
	}
	counters_equal(a, b);
}

/* Draws a random order for the participants of a tree. */
static void some_order(u32 *order, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		u32 other = pick(i + 1);

		order[i] = order[other];
		order[other] = i;
	}
}

static bool takes_part(const struct plan *p, u32 who)
{
	return p->op != ANGARA_OP_BCAST || p->who == who;
}

/*
 * All participants post, one after the other.  The fabric runs after each, and
 * the tree may go down in the middle.  Return: true if it did.
 */
static bool in_turn(struct side *a, struct side *b, u32 tree)
{
	u32 n = a->t[tree]->n, order[64 * LOCAL];
	struct plan p = some_plan(n);
	/*
	 * Timing decides how many packets of a longer operation succeed before
	 * the error.
	 */
	u32 spoilt = pick(3) || p.len > ANGARA_PACKET_BYTES - 8 ? ~0U : pick(n);
	u32 how = pick(6);
	bool down = false;
	u32 i;

	some_order(order, n);
	for (i = 0; i < n; i++) {
		u32 who = order[i], side;

		for (side = 0; side < 2 && takes_part(&p, who); side++) {
			struct side *s = side ? b : a;
			struct tctx *c = s->t[tree]->ctx[who];
			struct angara_wqe w = entry(s, tree, who, &p, 0);

			if (who == spoilt && how < 4)
				poison(&w, how);
			if (who == spoilt && how == 4 && p.op >= ANGARA_OP_REDUCE)
				w.length = cpu_to_le32(p.len ^ 8);
			if (who == spoilt && how == 4 && w.opcode == ANGARA_OP_BARRIER)
				w.opcode = ANGARA_OP_ALLREDUCE;
			if (who == spoilt && how == 5)
				EXPECT_EQ(adm_op(s->g.h, c->node, ANGARA_ADM_LEAVE,
						 c->id, s->t[tree]->tree), 0);
			post(c, &w, NULL);
			ring(s, c);
			host_run(s->g.h);
			down |= who == spoilt && how > 3;
		}
	}
	return down;
}

static void compare(const char *dims, const struct ang_cfg *cfg, u64 from, bool at_once)
{
	struct side a, b;
	u32 round, tree, epoch = 1;

	seed = from;
	side_open(&a, dims, cfg, true, false);
	side_open(&b, dims, cfg, false, at_once);
	for (round = 0; round < ROUNDS; round++) {
		fill(&a, &b);
		tree = pick(TREES);
		if (in_turn(&a, &b, tree)) {
			sides_equal(&a, &b);
			tree_del(a.t[tree]);
			tree_del(b.t[tree]);
			epoch++;
			tree_open(&a, tree, epoch);
			tree_open(&b, tree, epoch);
			host_run(a.g.h);
			host_run(b.g.h);
		}
		sides_equal(&a, &b);
	}
	side_close(&a);
	side_close(&b);
}

static void one_by_one(void)
{
	compare("1", &cfg_default, 9, true);
	compare("2", &cfg_default, 1, true);
	compare("3x2", &cfg_default, 2, true);
	compare("5", &cfg_tight, 3, true);
	compare("2x2x2", &cfg_default, 4, true);
	compare("2x2x2", &cfg_default, 5, false);
}

static void switches(void)
{
	compare("mkns:2x2", &cfg_default, 6, true);
}

/*
 * Runs several operations of each participant, on all trees at once, in any
 * order.
 */
static void crowd(struct side *a, struct side *b)
{
	struct plan p[TREES][TIMES];
	u32 times = 1 + pick(TIMES), tree = pick(TREES), k, i, n = a->t[tree]->n;
	u32 order[64 * LOCAL];

	for (k = 0; k < times; k++)
		p[tree][k] = some_plan(n);
	some_order(order, n);
	for (i = 0; i < n; i++) {
		u32 steps = pick(20), who = order[i], side;

		for (side = 0; side < 2; side++) {
			struct side *s = side ? b : a;

			for (k = 0; k < times; k++) {
				struct angara_wqe w = entry(s, tree, who, &p[tree][k], k);

				if (takes_part(&p[tree][k], who))
					post(s->t[tree]->ctx[who], &w, NULL);
			}
			ring(s, s->t[tree]->ctx[who]);
			run_steps(&s->g.h->v, steps);
		}
	}
	host_run(a->g.h);
	host_run(b->g.h);
}

static void compare_crowd(const char *dims, const struct ang_cfg *cfg, u64 from)
{
	struct side a, b;
	u32 round;

	seed = from;
	side_open(&a, dims, cfg, true, false);
	side_open(&b, dims, cfg, false, from % 2);
	for (round = 0; round < ROUNDS; round++) {
		fill(&a, &b);
		crowd(&a, &b);
		sides_equal(&a, &b);
	}
	side_close(&a);
	side_close(&b);
}

static void batches(void)
{
	struct ang_cfg trains = cfg_default;

	trains.train = 8;
	compare_crowd("2", &cfg_default, 11);
	compare_crowd("3x2", &trains, 12);
	compare_crowd("5", &cfg_tight, 13);
	compare_crowd("2x2x2", &trains, 15);
}

/* Return: number of packets that have entered the rings of trees. */
static u32 ringed(const struct side *s)
{
	struct ang_fabric *fab = s->g.h->fab;
	u32 node, dir, sum = 0;

	for (node = 0; node < s->g.h->v.topo.routers; node++)
		for (dir = 0; dir < fab->nports; dir++)
			sum += ang_ring(fab, ang_node(fab, node), dir, ANGARA_VC_UP)->tail +
			       ang_ring(fab, ang_node(fab, node), dir, ANGARA_VC_DOWN)->tail;
	return sum;
}

/* Each participant of tree 1 posts, and rings its doorbell. */
static void all_post(struct side *s, u32 op, u32 len)
{
	const struct plan p = { .op = op, .type = ANGARA_TYPE_INT32, .len = len };
	u32 i;

	for (i = 0; i < s->t[1]->n; i++) {
		struct angara_wqe w = entry(s, 1, i, &p, 0);

		if (!takes_part(&p, i))
			continue;
		post(s->t[1]->ctx[i], &w, NULL);
		ring(s, s->t[1]->ctx[i]);
	}
}

/*
 * Without packets, the last doorbell carries the contribution up to the root,
 * and the result down: only timers remain for ang_run().  Between two nodes no
 * packet enters a ring.  The rings of a node between others are used, but their
 * packets leave at once.
 */
static void no_links_on(const char *dims, bool packets)
{
	static const u32 ops[] = { ANGARA_OP_BARRIER, ANGARA_OP_ALLREDUCE, ANGARA_OP_BCAST };
	struct side s;
	u32 i, k, before;

	side_open(&s, dims, &cfg_default, packets, true);
	before = ringed(&s);
	for (i = 0; i < NUM(ops); i++) {
		struct angara_cqe cqe;

		all_post(&s, ops[i], ops[i] == ANGARA_OP_BARRIER ? 0 : 64);
		EXPECT_EQ(s.g.h->v.runq.head == ANG_NONE, !packets);
		for (k = 0; !packets && k < s.t[1]->n; k++)
			if (ops[i] != ANGARA_OP_BCAST || !k)
				EXPECT(poll_cq(s.t[1]->ctx[k], &cqe) && !cqe.status);
	}
	host_run(s.g.h);
	if (packets || s.g.h->nodes == 2)
		EXPECT_EQ(ringed(&s) == before, !packets);
	side_close(&s);
}

static void no_links(void)
{
	u32 k;

	for (k = 0; k < 2; k++) {
		no_links_on("2", k);
		no_links_on("mesh:3", k);
	}
}

/* If a node is held, or its ring has packets, operations send packets to it, in order. */
static void busy(void)
{
	const struct plan p = { .op = ANGARA_OP_BARRIER };
	u32 i, k, before, root, child;
	struct angara_wqe w;
	struct ang_node *n;
	struct side s;

	side_open(&s, "2", &cfg_default, false, true);
	before = ringed(&s);
	root = s.t[1]->root;
	child = !root;
	n = ang_node(s.g.h->fab, root);
	ang_fetch_or(&n->sched, ANG_SCHED_OWNED);
	for (k = 0; k < 2; k++) {
		w = entry(&s, 1, child, &p, k);
		post(s.t[1]->ctx[child], &w, NULL);
		ring(&s, s.t[1]->ctx[child]);
		EXPECT_EQ(ringed(&s), before + k + 1);
		/* Simulate a node that waits, with a packet in its ring. */
		ang_fetch_and(&n->sched, ANG_SCHED_TIMER);
	}
	EXPECT_EQ(n->tree[s.t[1]->tree].in_flight, 0);
	ang_wake(&s.g.h->v, n, ANG_SCHED_RX & 0xFFFF);
	host_run(s.g.h);
	for (k = 0; k < 2; k++) {
		w = entry(&s, 1, root, &p, k);
		post(s.t[1]->ctx[root], &w, NULL);
		ring(&s, s.t[1]->ctx[root]);
	}
	host_run(s.g.h);
	for (i = 0; i < 2; i++)
		for (k = 0; k < 2; k++) {
			struct angara_cqe cqe;

			EXPECT(poll_cq(s.t[1]->ctx[i], &cqe) && !cqe.status);
			EXPECT_EQ(le64_to_cpu(cqe.cookie) % TIMES, k);
		}
	side_close(&s);
}

/*
 * The last contribution does not overtake a broadcast that is on its way to the
 * same node.
 */
static void behind(void)
{
	const struct plan barrier = { .op = ANGARA_OP_BARRIER };
	struct plan bcast = { .op = ANGARA_OP_BCAST, .len = 64 };
	struct angara_wqe w;
	struct angara_cqe cqe;
	struct tctx *from, *to;
	struct ang_node *n;
	struct side s;

	side_open(&s, "2", &cfg_default, false, true);
	from = s.t[1]->ctx[s.t[1]->root];
	to = s.t[1]->ctx[!s.t[1]->root];
	n = ang_node(s.g.h->fab, to->node);
	bcast.who = s.t[1]->root;
	ang_fetch_or(&n->sched, ANG_SCHED_OWNED);
	w = entry(&s, 1, bcast.who, &bcast, 0);
	post(from, &w, NULL);
	ring(&s, from);
	w = entry(&s, 1, bcast.who, &barrier, 1);
	post(from, &w, NULL);
	ring(&s, from);
	ang_run(&s.g.h->v, 1000000);
	ang_fetch_and(&n->sched, ANG_SCHED_TIMER);
	w = entry(&s, 1, !bcast.who, &barrier, 1);
	post(to, &w, NULL);
	ring(&s, to);
	EXPECT(!poll_cq(to, &cqe));
	ang_wake(&s.g.h->v, n, ANG_SCHED_RX & 0xFFFF);
	host_run(s.g.h);
	EXPECT(poll_cq(to, &cqe) && !cqe.status);
	EXPECT_EQ(ctx_counter(to, ANGARA_CTR_BCAST(s.t[1]->tree)), 1);
	EXPECT(poll_cq(from, &cqe) && poll_cq(from, &cqe) && !cqe.status);
	side_close(&s);
}

/*
 * The last contribution needs credits of its PE, too.  After each operation,
 * the test fires the timer of the root, which reports results to the process of
 * the root.  The other process gets no report, so only 16 of its reductions
 * end.  The next one waits until the timer of the other node fires.
 */
static void credits(void)
{
	const struct plan p = { .op = ANGARA_OP_BARRIER };
	struct ang_node *root;
	struct angara_cqe cqe;
	struct side s;
	u32 i, k;

	side_open(&s, "2", &cfg_default, false, true);
	root = ang_node(s.g.h->fab, s.t[1]->root);
	for (k = 0; k <= ANGARA_MAX_REDUCES; k++) {
		for (i = 0; i < 2; i++) {
			u32 who = i ^ s.t[1]->root;
			struct angara_wqe w = entry(&s, 1, who, &p, 0);

			post(s.t[1]->ctx[who], &w, NULL);
			ring(&s, s.t[1]->ctx[who]);
			/* Do not run timers. */
			while (s.g.h->v.runq.head != ANG_NONE)
				ang_run(&s.g.h->v, 1);
		}
		for (i = 0; i < 2; i++)
			EXPECT_EQ(poll_cq(s.t[1]->ctx[i], &cqe), k < ANGARA_MAX_REDUCES);
		if (k < ANGARA_MAX_REDUCES)
			EXPECT(ang_timer_expire(&s.g.h->v, root));
	}
	host_run(s.g.h);
	for (i = 0; i < 2; i++)
		EXPECT(poll_cq(s.t[1]->ctx[i], &cqe) && !cqe.status);
	side_close(&s);
}

/* The last contributor accesses its memory without holding the root. */
static void innocent_root(void)
{
	const struct plan p = { .op = ANGARA_OP_ALLREDUCE, .type = ANGARA_TYPE_INT32,
				.len = 64 };
	struct angara_cqe cqe;
	struct side s;
	u32 i;

	side_open(&s, "2", &cfg_default, false, true);
	for (i = 0; i < 2; i++) {
		u32 who = i ^ s.t[1]->root;
		struct angara_wqe w = entry(&s, 1, who, &p, 0);

		/*
		 * Memory of the node that posts may be slow: nothing waits for it while
		 * it holds the root.
		 */
		if (i)
			watch_begin(s.g.h, who, s.t[1]->root, false);
		post(s.t[1]->ctx[who], &w, NULL);
		ring(&s, s.t[1]->ctx[who]);
	}
	EXPECT(watch_end(s.g.h) >= 4);
	host_run(s.g.h);
	for (i = 0; i < 2; i++)
		EXPECT(poll_cq(s.t[1]->ctx[i], &cqe) && !cqe.status);
	side_close(&s);
}

/* Packets for an earlier life of a row are refused, with or without rings. */
static void stale(void)
{
	const struct plan p = { .op = ANGARA_OP_BARRIER };
	struct angara_wqe w;
	struct ang_node *n;
	struct ang_tree *t;
	struct side s;
	u32 child;

	side_open(&s, "2", &cfg_default, false, true);
	child = !s.t[1]->root;
	n = ang_node(s.g.h->fab, s.t[1]->root);
	t = &n->tree[s.t[1]->tree];
	t->life++;
	w = entry(&s, 1, child, &p, 0);
	post(s.t[1]->ctx[child], &w, NULL);
	ring(&s, s.t[1]->ctx[child]);
	host_run(s.g.h);
	EXPECT_EQ(t->in_flight, 0);
	EXPECT_EQ(t->cnt.reduce_packets, 0);
	EXPECT_EQ(n->drops[ANGARA_DROP_STALE], 1);
	t->life--;
	side_close(&s);
}

const struct test_case hop_cases[] = {
	{ "hop: one participant at a time, with links and without", one_by_one },
	{ "hop: over switches", switches },
	{ "hop: all trees at once", batches },
	{ "hop: no link is used", no_links },
	{ "hop: a busy neighbor", busy },
	{ "hop: a broadcast before the last contribution", behind },
	{ "hop: an earlier life of a row", stale },
	{ "hop: the last contribution needs credit", credits },
	{ "hop: the root does not wait for memory of others", innocent_root },
	{ NULL, NULL },
};
