// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Broadcasts of one train that begin at the root (ang_cast.c); t_hop.c compares
 * random ones with packets.
 */
#include <string.h>

#include "test.h"
#include "coll.h"
#include "watch.h"

#define TREE	5
#define HALF	4096

static const u16 pe[4] = { 1, 1, 1, 1 };

/* Makes a fabric whose packets may bypass links, with a context on each node. */
static void fabric(struct group *g, const char *dims)
{
	g->h = host_new(dims, &cfg_tight);
	g->h->ops.trace = NULL;
	group_new(g, 1, HALF);
}

/* As fabric(), with a tree over all contexts. */
static struct ttree *laid(struct group *g, const char *dims, u32 root)
{
	struct ttree *t;

	fabric(g, dims);
	t = tree_over(g->h, TREE, root, g->ctx, g->n, pe, 1);
	host_run(g->h);
	return t;
}

/* Broadcasts 8 bytes of @value to the second half of each buffer. */
static void cast(struct tctx *c, u8 value)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, TREE, 0, HALF, 8);

	memset(c->buf, value, 8);
	w.cookie = cpu_to_le64(value);
	post(c, &w, NULL);
	kick(c);
	host_run(c->h);
}

static bool has(const struct tctx *c, u8 value)
{
	u8 want[8];

	memset(want, value, sizeof(want));
	return !memcmp(c->buf + HALF, want, sizeof(want));
}

/* Checks that completions of broadcasts come in order.  Return: number of completions. */
static u32 ended(struct tctx *c, u32 from)
{
	struct angara_cqe cqe;
	u32 n = 0;

	while (poll_cq(c, &cqe)) {
		EXPECT_EQ(cqe.status, ANGARA_ST_OK);
		EXPECT_EQ(le64_to_cpu(cqe.cookie), from + n++);
	}
	return n;
}

/*
 * Return: number of packets that have entered the FIFOs of the root.  A packet
 * that the root sends at once enters none.
 */
static u32 queued(const struct group *g)
{
	const struct ang_node *root = ang_node(g->h->fab, 0);

	return root->fifo[ANG_FIFO_PE].tail + root->fifo[ANG_FIFO_ROOT].tail;
}

/*
 * Broadcasts are executed at once while the link to the child has room.  The
 * child gets the later broadcasts when it runs, in order.
 */
static void full_link(void)
{
	const u32 num = 2 * cfg_tight.depth;
	u32 i, before, fifo;
	struct group g;
	struct ttree *t;

	t = laid(&g, "2", 0);
	host_freeze(g.h, 1, 1);
	fifo = queued(&g);
	cast(g.ctx[0], 1);
	EXPECT_EQ(queued(&g), fifo);
	for (i = 1; i < num; i++)
		cast(g.ctx[0], (u8)(i + 1));
	EXPECT(queued(&g) > fifo);
	before = ended(g.ctx[0], 1);
	EXPECT(before && before <= cfg_tight.depth);
	host_freeze(g.h, 1, 0);
	host_run(g.h);
	EXPECT_EQ(before + ended(g.ctx[0], before + 1), num);
	EXPECT_EQ(ctx_counter(g.ctx[1], ANGARA_CTR_BCAST(TREE)), num);
	EXPECT(has(g.ctx[1], (u8)num));
	tree_del(t);
	group_del(&g);
}

/*
 * The root's own memory takes no broadcast: the root gets an error, and the
 * child gets the data.
 */
static void own_memory(void)
{
	struct angara_cqe cqe;
	struct group g;
	struct ttree *t;

	t = laid(&g, "2", 0);
	g.ctx[0]->mrt[BUF_KEY].access = 0;
	cast(g.ctx[0], 7);
	EXPECT(poll_cq(g.ctx[0], &cqe));
	EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_ACCESS);
	EXPECT_EQ(le32_to_cpu(cqe.length), 0);
	EXPECT_EQ(le32_to_cpu(cqe.node), 0);
	EXPECT(!has(g.ctx[0], 7));
	EXPECT(has(g.ctx[1], 7));
	EXPECT_EQ(ctx_counter(g.ctx[0], ANGARA_CTR_BCAST(TREE)), 1);
	tree_del(t);
	group_del(&g);
}

/*
 * Sets the row of @node in a tree over nodes 0 (the root) and 1.  The context
 * of @node joins.
 */
static void set_and_join(struct group *g, u32 node)
{
	static const struct angara_tree_row row[2] = {
		{ .tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE,
		  .port_sum = 1, .ports = 1, .pe = 1, .pkey = PKEY, .epoch = 1 },
		{ .tree = TREE, .to_root = 1, .pe = 1, .pkey = PKEY, .epoch = 1 },
	};

	EXPECT_EQ(adm_row(g->h, node, &row[node]), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_join(g->h, node, g->ctx[node]->id, TREE, 0), ANGARA_ADM_ST_OK);
}

/* A broadcast waits at the root until the child's row has met that of the root. */
static void opens_later(void)
{
	struct group g;
	u32 i;

	fabric(&g, "2");
	set_and_join(&g, 1);
	host_freeze(g.h, 1, 1);
	set_and_join(&g, 0);
	cast(g.ctx[0], 1);
	EXPECT_EQ(ended(g.ctx[0], 1), 0);
	host_freeze(g.h, 1, 0);
	host_run(g.h);
	EXPECT_EQ(ended(g.ctx[0], 1), 1);
	EXPECT(has(g.ctx[1], 1));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(adm_op(g.h, i, ANGARA_ADM_TREE_CLEAR, 0, TREE), 0);
	group_del(&g);
}

/*
 * Rings the doorbell on node 0.  Node @other must not be held while the model
 * accesses memory of processes on node 0.
 */
static void watched_ring(struct group *g, u32 other)
{
	struct tctx *c = g->ctx[0];

	watch_begin(g->h, 0, other, false);
	ang_reg_ring(&g->h->v, c->node, ANGARA_DB_PAGE(c->id) + ANGARA_DB_SQ, c->sq_pi);
	EXPECT(watch_end(g->h) > 2);
	host_run(g->h);
}

/*
 * The root's child has a child itself.  The view holds the root's child to
 * forward a broadcast, but releases it before it reads the next entry from
 * memory of the root.
 */
static void innocent_child(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, TREE, 0, HALF, 8);
	struct angara_cqe cqe;
	struct group g;
	struct ttree *t;
	u32 i;

	t = laid(&g, "mesh:3", 0);
	for (i = 0; i < 2; i++)
		post(g.ctx[0], &w, NULL);
	watched_ring(&g, 1);
	for (i = 0; i < 2; i++)
		EXPECT(poll_cq(g.ctx[0], &cqe) && !cqe.status);
	EXPECT_EQ(ctx_counter(g.ctx[2], ANGARA_CTR_BCAST(TREE)), 2);
	tree_del(t);
	group_del(&g);
}

/*
 * Node 2 is a child of the root, like node 0.  The last contribution comes from
 * node 0.  The view does not hold node 2 while it accesses memory of node 0.
 */
static void innocent_sibling(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, TREE, 0, HALF, 8);
	struct angara_cqe cqe;
	struct group g;
	struct ttree *t;
	u32 i;

	t = laid(&g, "mesh:4", 1);
	for (i = 3; i; i--) {
		post(g.ctx[i], &w, NULL);
		kick(g.ctx[i]);
		host_run(g.h);
	}
	post(g.ctx[0], &w, NULL);
	watched_ring(&g, 2);
	for (i = 0; i < 4; i++)
		EXPECT(poll_cq(g.ctx[i], &cqe) && !cqe.status);
	tree_del(t);
	group_del(&g);
}

const struct test_case cast_cases[] = {
	{ "cast: a child whose link is full", full_link },
	{ "cast: the root's own memory", own_memory },
	{ "cast: a tree that opens later", opens_later },
	{ "cast: a child does not wait for the root's memory", innocent_child },
	{ "cast: a child does not wait for memory of its sibling", innocent_sibling },
	{ NULL, NULL },
};
