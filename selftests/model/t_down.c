// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trees that go down, and participants that disagree: all participants are
 * notified, and none of them waits forever.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

static struct group g;

static void start(const char *dims, u32 local, u32 train)
{
	struct ang_cfg cfg = cfg_tight;

	cfg.train = (u16)train;
	g.h = host_new(dims, &cfg);
	group_new(&g, local, 8192);
}

static struct ttree *tree_all(u32 tree, u32 root, u32 local, u32 epoch)
{
	u16 pe[64];
	u32 i;

	for (i = 0; i < g.h->nodes; i++)
		pe[i] = (u16)local;
	return tree_over(g.h, tree, root, g.ctx, g.n, pe, epoch);
}

static u32 state(u32 node, u32 tree, u32 *down_node)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_TREE_GET };
	struct angara_adm_cpl cpl;

	cmd.tree = (u8)tree;
	cmd.set.router = cpu_to_le32(node);
	if (adm(g.h, node, &cmd, &cpl))
		return ANGARA_TREE_STATE_UNSET;
	if (down_node)
		*down_node = le32_to_cpu(cpl.value);
	return cpl.row.state;
}

/* Starts long operations on all contexts but the last, and runs some steps. */
static void begin(u32 tree, u32 steps)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, tree, 0, 8192, 8000);
	struct angara_wqe b = wqe_coll(ANGARA_OP_BCAST, tree, 0, 8192, 8000);
	u32 i;

	w.flags = b.flags = 0;
	for (i = 0; i < g.n; i++) {
		post(g.ctx[i], i % 3 ? &w : &b, NULL);
		post(g.ctx[i], &w, NULL);
		kick(g.ctx[i]);
	}
	run_steps(&g.h->v, steps);
}

/*
 * Checks that each context gets both completions.  Return: number of contexts
 * with an error.
 */
static u32 ends(u32 except, u32 culprit)
{
	struct angara_cqe cqe;
	u32 bad = 0;
	u32 i, k;

	host_run(g.h);
	for (i = 0; i < g.n; i++) {
		if (i == except)
			continue;
		for (k = 0; k < 2; k++) {
			u32 status;

			EXPECT(poll_cq(g.ctx[i], &cqe));
			status = le16_to_cpu(cqe.status);
			/*
			 * The context that left may have posted some operations
			 * too late.
			 */
			EXPECT(status == ANGARA_ST_OK ||
			       status == ANGARA_ST_TREE_DOWN ||
			       (status == ANGARA_ST_NO_TREE &&
				g.ctx[i]->node == culprit));
			if (status == ANGARA_ST_TREE_DOWN)
				EXPECT_EQ(le32_to_cpu(cqe.node), culprit);
			bad += status != ANGARA_ST_OK;
		}
		EXPECT(!poll_cq(g.ctx[i], &cqe));
	}
	host_check_idle(g.h);
	return bad;
}

static void expect_down(struct ttree *t, u32 culprit, u32 cleared)
{
	u32 i, who = 0;

	for (i = 0; i < g.h->nodes; i++) {
		if (i == cleared) {
			EXPECT_EQ(state(i, t->tree, NULL),
				  ANGARA_TREE_STATE_UNSET);
			continue;
		}
		EXPECT_EQ(state(i, t->tree, &who), ANGARA_TREE_STATE_DOWN);
		EXPECT_EQ(who, culprit);
	}
}

static void left(void)
{
	u32 steps, who;

	start("2x2x2", 2, 1);
	for (steps = 0; steps < 60; steps += 3) {
		struct ttree *t = tree_all(4, 3, 2, steps);

		begin(4, steps);
		who = steps % g.n;
		EXPECT_EQ(adm_op(g.h, g.ctx[who]->node, ANGARA_ADM_LEAVE,
				 g.ctx[who]->id, 4), ANGARA_ADM_ST_OK);
		EXPECT(ends(~0U, g.ctx[who]->node) > 0);
		expect_down(t, g.ctx[who]->node, ~0U);
		EXPECT_EQ(adm_op(g.h, g.ctx[who]->node, ANGARA_ADM_LEAVE,
				 g.ctx[who]->id, 4), ANGARA_ADM_ST_ABSENT);
		tree_del(t);
	}
	group_del(&g);
}

static void destroyed(void)
{
	u32 steps;

	for (steps = 0; steps < 60; steps += 7) {
		struct ttree *t;
		struct tctx *gone;

		start("3x3", 1, steps % 2 ? 8 : 1);
		t = tree_all(0, steps % 9, 1, 1);
		begin(0, steps);
		gone = g.ctx[--g.n];
		ctx_del(gone);
		ends(~0U, g.h->nodes - 1);
		expect_down(t, g.h->nodes - 1, ~0U);
		tree_del(t);
		group_del(&g);
	}
}

static void cleared(void)
{
	u32 steps;

	start("2x2x2", 1, 2);
	for (steps = 0; steps < 80; steps += 3) {
		struct ttree *t = tree_all(4, 0, 1, steps);
		u32 who = steps % 8;

		begin(4, steps);
		EXPECT_EQ(adm_op(g.h, who, ANGARA_ADM_TREE_CLEAR, 0, 4),
			  ANGARA_ADM_ST_OK);
		ends(~0U, who);
		expect_down(t, who, who);
		EXPECT_EQ(adm_row(g.h, who, &t->rows[who]), ANGARA_ADM_ST_OK);
		tree_del(t);
	}
	group_del(&g);
}

static void reset(void)
{
	struct ttree *t;

	start("2x2x2", 1, 1);
	t = tree_all(4, 0, 1, 1);
	begin(4, 30);
	host_reg(g.h, 5, ANGARA_REG_CONTROL, 0);
	ends(5, 5);
	host_reg(g.h, 5, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	g.h->node[5].asq_pi = g.h->node[5].acq_ci = 0;
	memset(g.h->node[5].acq, 0, ADM_ENTRIES * sizeof(*g.h->node[5].acq));
	expect_down(t, 5, 5);
	EXPECT_EQ(adm_row(g.h, 5, &t->rows[5]), ANGARA_ADM_ST_OK);
	tree_del(t);
	free(g.ctx[5]);
	g.ctx[5] = ctx_new(g.h, 5, 0, PKEY, 3, 3);
	group_del(&g);
}

/* Participant 5 posts an operation that differs in one field. */
static void mismatch(void)
{
	struct angara_cqe cqe;
	u32 field, i, bad;

	start("2x2x2", 1, 1);
	for (field = 0; field < 6; field++) {
		struct ttree *t = tree_all(1, 6, 1, field);
		struct angara_wqe w = wqe_coll(ANGARA_OP_REDUCE, 1, 0, 8192, 64);

		bad = 0;
		for (i = 0; i < 8; i++) {
			struct angara_wqe mine = w;

			if (i == 5) {
				mine.opcode -= (u8)-(field == 0);
				mine.redop += field == 1;
				mine.type += field == 2;
				mine.dst_node = cpu_to_le32(field == 3);
				mine.dst_ctx = cpu_to_le16(field == 4);
				mine.length = cpu_to_le32(field == 5 ? 60 : 64);
			}
			post(g.ctx[i], &mine, NULL);
			kick(g.ctx[i]);
		}
		host_run(g.h);
		for (i = 0; i < 8; i++) {
			EXPECT(poll_cq(g.ctx[i], &cqe));
			bad += le16_to_cpu(cqe.status) == ANGARA_ST_MISMATCH;
			EXPECT(!poll_cq(g.ctx[i], &cqe));
		}
		/*
		 * A sender may have completed; the participant that waits for
		 * the result gets the error.
		 */
		EXPECT(bad > 0);
		for (i = 0; i < 8; i++)
			EXPECT_EQ(state(i, 1, NULL), ANGARA_TREE_STATE_DOWN);
		tree_del(t);
	}
	group_del(&g);
}

/* Fields that a barrier does not use may differ. */
static void barrier_fields(void)
{
	struct ttree *t;
	u32 i;

	start("2x2", 1, 1);
	t = tree_all(1, 0, 1, 1);
	for (i = 0; i < 4; i++) {
		struct angara_wqe w = wqe_coll(ANGARA_OP_BARRIER, 1, 0, 0, 0);

		w.redop = (u8)i;
		w.type = (u8)i;
		w.dst_node = cpu_to_le32(i);
		post(g.ctx[i], &w, NULL);
		kick(g.ctx[i]);
	}
	for (i = 0; i < 4; i++)
		EXPECT_EQ(finish(g.ctx[i], NULL), ANGARA_ST_OK);
	tree_del(t);
	group_del(&g);
}

/* One participant's contribution cannot be read, or its result not written. */
static void bad_memory(void)
{
	static const u32 ops[] = { ANGARA_OP_ALLREDUCE, ANGARA_OP_REDUCE };
	struct ttree *t;
	u32 k, i;

	start("2x2x2", 1, 1);
	t = tree_all(1, 6, 1, 1);
	for (k = 0; k < 2; k++) {
		struct angara_wqe w = wqe_coll(ops[k], 1, 0, 8192, 2000);

		for (i = 0; i < 8; i++) {
			struct angara_wqe mine = w;

			if (i == 3)
				mine.lkey = cpu_to_le32(2);
			post(g.ctx[i], &mine, NULL);
			kick(g.ctx[i]);
		}
		for (i = 0; i < 8; i++) {
			struct angara_cqe cqe;
			u32 status = finish(g.ctx[i], &cqe);

			EXPECT_EQ(status, ops[k] == ANGARA_OP_REDUCE && i &&
				  i != 3 ? ANGARA_ST_OK : ANGARA_ST_KEY);
			if (status)
				EXPECT_EQ(le32_to_cpu(cqe.node), 3);
		}
	}
	for (i = 0; i < 8; i++) {
		struct angara_wqe w = wqe_coll(ops[0], 1, 0, i == 3 ? ~0U : 8192,
					       2000);

		post(g.ctx[i], &w, NULL);
		kick(g.ctx[i]);
	}
	for (i = 0; i < 8; i++)
		EXPECT_EQ(finish(g.ctx[i], NULL), i == 3 ? ANGARA_ST_BOUNDS :
							   ANGARA_ST_OK);
	/* The tree is still up. */
	coll_allreduce(t, 4096);
	tree_del(t);
	group_del(&g);
}

/* If the receiver does not exist, all participants get an error, and none hangs. */
static void no_receiver(void)
{
	struct ttree *t;
	u32 k, i;

	start("2x2", 1, 1);
	t = tree_all(1, 2, 1, 1);
	for (k = 0; k < 2; k++) {
		struct angara_wqe w = wqe_coll(ANGARA_OP_REDUCE, 1, 0, 8192, 600);

		w.dst_node = cpu_to_le32(k ? ~0U : 4);
		for (i = 0; i < 4; i++) {
			post(g.ctx[i], &w, NULL);
			kick(g.ctx[i]);
		}
		for (i = 0; i < 4; i++)
			EXPECT_EQ(finish(g.ctx[i], NULL), ANGARA_ST_TARGET);
	}
	coll_allreduce(t, 4096);
	tree_del(t);
	group_del(&g);
}

/*
 * Some participants do not have the region of a broadcast, or no right to
 * write it.
 */
static void refused_broadcast(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 1, 0, 8192, 3000);
	struct angara_hw_event ev;
	struct ttree *t;
	u32 i;

	start("2x2", 1, 1);
	t = tree_all(1, 2, 1, 1);
	g.ctx[1]->mrt[BUF_KEY].valid = 0;
	g.ctx[3]->mrt[BUF_KEY].access &= (u8)~ANGARA_ACCESS_REMOTE_WRITE;
	while (aeq_poll(g.h, 1, &ev))
		;
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	EXPECT_EQ(finish(g.ctx[0], NULL), ANGARA_ST_OK);
	EXPECT(!memcmp(g.ctx[2]->buf + 8192, g.ctx[0]->buf, 3000));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(ctx_counter(g.ctx[i], ANGARA_CTR_RX_ERRORS(1)),
			  i % 2 ? 12 : 0);
	EXPECT(aeq_poll(g.h, 1, &ev));
	EXPECT_EQ(ev.type, ANGARA_AEV_RX_ERROR);
	EXPECT_EQ(le32_to_cpu(ev.value), ANGARA_ST_KEY);
	/* The source itself has no right to its region, and gets the error. */
	post(g.ctx[3], &w, NULL);
	kick(g.ctx[3]);
	EXPECT_EQ(finish(g.ctx[3], NULL), ANGARA_ST_ACCESS);
	tree_del(t);
	group_del(&g);
}

/*
 * An abort of a tree cannot be sent, and the tree's number is reused: the
 * command for the new row waits until the neighbor has taken the abort.
 */
static void news_delayed(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 1, 0, 0, 0);
	struct host_node *hn;
	struct ttree *t;
	u32 i;

	start("2", 1, 1);
	hn = &g.h->node[0];
	t = tree_all(1, 0, 1, 1);
	host_freeze(g.h, 1, 1);
	for (i = 0; i < 4; i++)
		post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	host_run(g.h);
	EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_TREE_CLEAR, 0, 1), ANGARA_ADM_ST_OK);
	/* Submit the same command again, with the row for the new epoch. */
	hn->asq[hn->asq_pi % ADM_ENTRIES] = hn->asq[0];
	for (i = 0; i < ADM_ENTRIES; i++)
		if (hn->asq[i].opcode == ANGARA_ADM_TREE_SET)
			hn->asq[hn->asq_pi % ADM_ENTRIES] = hn->asq[i];
	hn->asq[hn->asq_pi % ADM_ENTRIES].set.row.epoch = cpu_to_le16(2);
	host_reg(g.h, 0, ANGARA_REG_ASQ_DB, ++hn->asq_pi);
	host_run(g.h);
	EXPECT_EQ(ang_node(g.h->fab, 0)->tree[1].state,
		  ANGARA_TREE_STATE_UNSET);
	host_freeze(g.h, 1, 0);
	host_run(g.h);
	EXPECT_EQ(hn->acq[hn->acq_ci++ % ADM_ENTRIES].status, ANGARA_ADM_ST_OK);
	EXPECT_EQ(state(0, 1, NULL), ANGARA_TREE_STATE_UP);
	EXPECT_EQ(state(1, 1, NULL), ANGARA_TREE_STATE_DOWN);
	tree_del(t);
	group_del(&g);
}

/* The source's memory is unmapped in the middle of a broadcast. */
static void source_vanishes(void)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 1, 0, 8192, 8192);
	struct ttree *t;
	u32 i;

	start("2x2", 1, 1);
	t = tree_all(1, 2, 1, 1);
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	run_steps(&g.h->v, 6);
	g.ctx[0]->mrt[BUF_KEY].length = cpu_to_le64(100);
	EXPECT_EQ(finish(g.ctx[0], NULL), ANGARA_ST_BOUNDS);
	for (i = 1; i < 4; i++) {
		EXPECT(g.ctx[i]->buf[8192 + 7] == g.ctx[0]->buf[7]);
		EXPECT_EQ(ctx_counter(g.ctx[i], ANGARA_CTR_BCAST(1)), 1);
		EXPECT_EQ(ctx_counter(g.ctx[i], ANGARA_CTR_RX_ERRORS(1)), 1);
	}
	tree_del(t);
	group_del(&g);
}

/*
 * Delegated rows need not form a tree: a ring of rows without a root never
 * opens.
 */
static void ring_without_root(void)
{
	struct angara_tree_row row = {
		.tree = 6, .to_root = 0, .ports = 2, .port_sum = 1, .pe = 1,
		.pkey = PKEY, .epoch = 1,
	};
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 6, 0, 8192, 1000);
	struct angara_tree_row branch = row;
	struct angara_cqe cqe;
	u32 i;

	start("5x3", 1, 1);
	branch.to_root = 3;
	branch.ports = branch.port_sum = 0;
	for (i = 0; i < 6; i++) {
		/* Node 5 is below node 0, along Y. */
		row.ports = i ? 2 : 2 | 4;
		row.port_sum = i ? 1 : 2;
		EXPECT_EQ(adm_row(g.h, i, i < 5 ? &row : &branch),
			  ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_op(g.h, i, ANGARA_ADM_JOIN, 0, 6),
			  ANGARA_ADM_ST_OK);
	}
	post(g.ctx[5], &w, NULL);
	kick(g.ctx[5]);
	host_run(g.h);
	EXPECT(!poll_cq(g.ctx[5], &cqe));
	for (i = 0; i < 6; i++)
		EXPECT(!ang_node(g.h->fab, i)->tree[6].open);
	EXPECT_EQ(adm_op(g.h, 3, ANGARA_ADM_TREE_CLEAR, 0, 6),
		  ANGARA_ADM_ST_OK);
	EXPECT_EQ(finish(g.ctx[5], NULL), ANGARA_ST_TREE_DOWN);
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(state(i, 6, NULL), i == 3 ? ANGARA_TREE_STATE_UNSET :
						      ANGARA_TREE_STATE_DOWN);
		adm_op(g.h, i, ANGARA_ADM_TREE_CLEAR, 0, 6);
	}
	group_del(&g);
}

/* A tree whose neighbors have rows that do not match never opens. */
static void rows_apart(void)
{
	static const u32 causes[] = {
		ANGARA_DROP_STALE, ANGARA_DROP_PARTITION, ANGARA_DROP_PORT,
		ANGARA_DROP_NO_TREE,
	};
	u32 k;

	for (k = 0; k < NUM(causes); k++) {
		struct angara_tree_row root = {
			.tree = 2, .is_root = 1, .to_root = ANGARA_PORT_NONE,
			.ports = 1, .port_sum = 1, .pe = 1, .pkey = PKEY,
			.epoch = 1,
		};
		struct angara_tree_row below = {
			.tree = 2, .to_root = 1, .pe = 1, .pkey = PKEY,
			.epoch = 1,
		};
		struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, 2, 0, 8192, 700);
		struct angara_cqe cqe;
		struct ang_node *n;

		start("4", 1, 1);
		n = ang_node(g.h->fab, 1);
		below.epoch += k == 0;
		below.pkey += k == 1;
		below.to_root -= k == 2;
		EXPECT_EQ(adm_row(g.h, 0, &root), 0);
		if (k < 3)
			EXPECT_EQ(adm_row(g.h, 1, &below), 0);
		EXPECT_EQ(adm_op(g.h, 0, ANGARA_ADM_JOIN, 0, 2), 0);
		memset(g.ctx[1]->buf, 0x5A, 16384);
		post(g.ctx[0], &w, NULL);
		kick(g.ctx[0]);
		host_run(g.h);
		EXPECT(!poll_cq(g.ctx[0], &cqe));
		/*
		 * Node 0 has sent its message before node 1 had a row: this
		 * message is not dropped.
		 */
		EXPECT_EQ(n->drops[causes[k]], 0);
		if (k < 3)
			EXPECT_EQ(ang_node(g.h->fab, 0)->drops[causes[k]],
				  k < 2);
		EXPECT_EQ((u8)g.ctx[1]->buf[8192], 0x5A);
		adm_op(g.h, 0, ANGARA_ADM_TREE_CLEAR, 0, 2);
		EXPECT_EQ(finish(g.ctx[0], NULL), ANGARA_ST_TREE_DOWN);
		adm_op(g.h, 1, ANGARA_ADM_TREE_CLEAR, 0, 2);
		group_del(&g);
	}
}

const struct test_case down_cases[] = {
	{ "down: a participant leaves in the middle", left },
	{ "down: a context is destroyed in the middle", destroyed },
	{ "down: a row is cleared in the middle", cleared },
	{ "down: an adapter is reset in the middle", reset },
	{ "down: participants disagree in each field", mismatch },
	{ "down: a barrier ignores fields that it does not use",
	  barrier_fields },
	{ "down: unreachable contributions and results", bad_memory },
	{ "down: a reduce without a receiver", no_receiver },
	{ "down: a broadcast that some participants refuse", refused_broadcast },
	{ "down: an abort is delayed until the tree is set again", news_delayed },
	{ "down: a broadcast whose source is unmapped", source_vanishes },
	{ "down: a ring of rows without a root", ring_without_root },
	{ "down: rows that do not match", rows_apart },
	{ NULL, NULL },
};
