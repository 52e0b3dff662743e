// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The golden trace: a fixed scenario on 2x2x2, one line per trace record.  It
 * changes only when the model changes on purpose; `make golden` writes it.  One
 * thread runs it, and runs the fabric after every posting, so every host of the
 * model does the work in the same order: host.c in this folder, and an embedded
 * fabric in selftests/embed/golden_host.c.
 */
#include <string.h>

#include "test.h"
#include "coll.h"
#include "trace_text.h"

static FILE *to;

static void print(void *host, const struct ang_trace *r)
{
	ang_trace_print(to, r);
}

/* Prints a title, and resets clocks and views. */
static void title(struct host *h, const char *text)
{
	u32 i;

	fprintf(to, "# %s\n", text);
	for (i = 0; i < h->nodes; i++)
		ang_node(h->fab, i)->clock = 0;
	host_steps_reset(h);
}

static void p2p(struct group *g, u32 op, u32 from, u32 peer, u32 len)
{
	struct angara_wqe w = wqe_p2p(op, peer, 0, 0, 4096, len);

	post(g->ctx[from], &w, NULL);
	kick(g->ctx[from]);
	EXPECT_EQ(finish(g->ctx[from], NULL), ANGARA_ST_OK);
}

static void scenario(void)
{
	static const u16 pe[8] = { 1, 1, 1, 1, 1, 0, 1, 1 };
	struct group g;
	struct ttree *t;

	g.h = host_new("2x2x2", &cfg_default);
	group_new(&g, 1, 4096);
	t = tree_over(g.h, 2, 1, g.ctx, g.n, pe, 1);
	g.h->ops.trace = print;
	title(g.h, "put of 600 bytes, 1 to 6");
	p2p(&g, ANGARA_OP_PUT, 1, 6, 600);
	title(g.h, "get of 300 bytes, 2 from 5");
	p2p(&g, ANGARA_OP_GET, 2, 5, 300);
	title(g.h, "broadcast of 260 bytes from 6, root 1, 5 in transit only");
	coll_bcast(t, 5, 260);
	title(g.h, "allreduce of 8 bytes");
	coll_allreduce(t, 8);
	title(g.h, "reduce of 8 bytes to 7");
	coll_reduce_in_turn(t, 6, 8);
	title(g.h, "barrier");
	coll_barrier(t);
	title(g.h, "allreduce of 5 packets: with the 8th result come credits");
	coll_allreduce(t, 5 * 256);
	title(g.h, "the row of node 3 is cleared");
	EXPECT_EQ(adm_op(g.h, 3, ANGARA_ADM_TREE_CLEAR, 0, 2), ANGARA_ADM_ST_OK);
	g.h->ops.trace = NULL;
	EXPECT_EQ(adm_row(g.h, 3, &t->rows[3]), ANGARA_ADM_ST_OK);
	tree_del(t);
	group_del(&g);
}

int golden_print(FILE *file)
{
	to = file;
	fprintf(to, "# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n");
	if (setjmp(test_failed)) {
		fprintf(to, "# the scenario failed\n");
		return 1;
	}
	scenario();
	return 0;
}
