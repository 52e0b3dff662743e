// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the remaining state of a fabric that should be idle.
 */
#include "test.h"

static void dump_op(struct host *h, struct ang_node *n, u32 ctx, u32 slot)
{
	struct ang_op *op = ang_op(n, ang_ctx(h->fab, n, ctx), slot);

	if (op->state == ANG_OP_FREE)
		return;
	printf("#   ctx %u op %u: opcode %u tree %u cookie %llu len %u sent %u "
	       "trains %u seq %u npkts %u sent %u done %u\n", ctx, slot,
	       op->opcode, op->tree, (unsigned long long)op->cookie, op->len,
	       op->sent, op->trains, op->seq, op->npkts, op->npkts_sent,
	       op->npkts_done);
}

static void dump_rings(struct host *h, struct ang_node *n)
{
	u32 dir, vc;

	for (dir = 0; dir < h->fab->nports; dir++)
		for (vc = 0; vc < ANGARA_VC_NUM; vc++) {
			struct ang_ring *r = ang_ring(h->fab, n, dir, vc);

			if (r->head == r->tail)
				continue;
			printf("#   ring dir %u vc %u: %u packets, todo %llx %u, "
			       "waiting %u, head type %u tree %u\n", dir, vc,
			       r->tail - r->head,
			       (unsigned long long)r->todo.links, r->todo.pe,
			       r->waiting,
			       r->pkt[r->head & (h->cfg.depth - 1U)].type,
			       r->pkt[r->head & (h->cfg.depth - 1U)].tree);
		}
}

static void dump_trees(struct ang_node *n, u32 trees)
{
	u32 i, s;

	for (i = 0; i < trees; i++) {
		struct ang_tree *t = &n->tree[i];

		if (t->state == ANGARA_TREE_STATE_UP && !t->open)
			printf("#   tree %u: not open, met %llx whole %llx of %llx\n",
			       i, (unsigned long long)t->met,
			       (unsigned long long)t->whole,
			       (unsigned long long)t->row.ports);
		for (s = 0; s < ANGARA_MAX_REDUCES; s++)
			if (t->slot[s].pkt.npkts)
				printf("#   tree %u: seq %u lacks %llx of %llx, done "
				       "%u pe_done %u up_credits %u\n", i,
				       t->slot[s].pkt.seq,
				       (unsigned long long)t->slot[s].left,
				       (unsigned long long)t->places, t->done, t->pe_done,
				       t->up_credits);
	}
}

void host_dump(struct host *h)
{
	u32 i, c, o;

	for (i = 0; i < h->nodes; i++) {
		struct ang_node *n = ang_node(h->fab, i);

		printf("# node %u: sched %llx rx %llx buf_waiting %u fifos %u %u\n", i,
		       (unsigned long long)n->sched,
		       (unsigned long long)n->rx, n->buf_waiting,
		       n->fifo[0].tail - n->fifo[0].head,
		       n->fifo[1].tail - n->fifo[1].head);
		for (c = 0; c < h->cfg.ctxs; c++)
			for (o = 0; o < h->cfg.ops; o++)
				dump_op(h, n, c, o);
		dump_rings(h, n);
		dump_trees(n, h->fab->cfg.trees);
	}
}
