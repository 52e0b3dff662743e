// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives: routing by rows of trees, Reducer, credit unit.
 *
 * The model makes the decisions (ang_coll.c, ang_reducer.c, ang_rules.h); this
 * file adds sources, outputs and clocks.  A Reducer takes one flit per cycle.
 * In packet mode (document 000) it waits for whole packets, and a result leaves
 * when it is complete; in flit mode a result's head leaves when the heads of
 * all its contributions have arrived.
 */
#include "ang_int.h"
#include "sim.h"

/**
 * sim_coll_outs() - find the outputs of a collective packet; set its channel
 */
u64 sim_coll_outs(struct sim_part *p, u32 node, u32 src, struct sim_pkt *k)
{
	struct sim *s = p->sim;
	const struct angara_tree_row *row = sim_row(s, node, k->tree);
	bool up = src < s->src0 ? src % SIM_NVC == ANGARA_VC_UP :
				  src == s->src0 + SIM_SRC_PE;

	if (sim_is_result(s, src)) {
		if (!row->is_root) {
			k->vc = ANGARA_VC_UP;
			return 1ULL << row->to_root;
		}
		if (k->type == ANG_PKT_ALLREDUCE)
			return 1ULL << SIM_OUT_ROOT(s);
		k->type = ANG_PKT_RESULT;
		return sim_p2p_outs(p, node, src, k);
	}
	if (k->type == ANG_PKT_CREDIT) {
		k->vc = ANGARA_VC_DOWN;
		return src == s->src0 + SIM_SRC_CREDIT ? row->ports :
							 1ULL << SIM_OUT_RED(s);
	}
	if (up && k->type != ANG_PKT_BCAST)
		return 1ULL << SIM_OUT_RED(s);
	if (up && row->is_root)
		return 1ULL << SIM_OUT_ROOT(s);
	if (up) {
		k->vc = ANGARA_VC_UP;
		return 1ULL << row->to_root;
	}
	k->vc = ANGARA_VC_DOWN;
	return row->ports | (row->pe ? SIM_PE(s) : 0);
}

/**
 * sim_result_may() - check whether a result may leave for the parent
 * @p: partition
 * @node: node
 * @k: result
 *
 * Return: 0, or SIM_NEVER: the parent has no slot for it yet.
 */
u64 sim_result_may(struct sim_part *p, u32 node, const struct sim_pkt *k)
{
	const struct sim_tree *t = sim_tree(p->sim, node, k->tree);

	return t->done < ANGARA_MAX_REDUCES + t->credits ? 0 : SIM_NEVER;
}

static void broken(const char *what, const struct sim_pkt *k, u32 node)
{
	fprintf(stderr, "angara-sim: node %u: %s, tree %u packet %u\n", node,
		what, k->tree, k->seq);
	abort();
}

/* Queue complete results of a tree at its source of results, in order. */
static void results(struct sim_part *p, u32 node, u32 tree, u32 expected)
{
	struct sim *s = p->sim;
	struct sim_tree *t = sim_tree(s, node, tree);

	for (;;) {
		struct sim_slot *slot = &t->slot[t->issued % ANGARA_MAX_REDUCES];
		struct sim_pkt *k = &p->pkt[slot->pkt];
		u64 latency = sim_cycles(s, (u32)s->cfg.reducer);
		u32 pkt = slot->pkt;

		if (!slot->count || slot->count < expected ||
		    k->seq != t->issued)
			return;
		k->elig = sim_align(s, (s->cfg.reduce == SIM_BY_PACKET ?
					slot->finish : slot->start) + latency);
		k->tail = sim_max(k->elig, slot->finish + latency);
		t->issued++;
		slot->pkt = 0;
		p->acc.results++;
		sim_fifo_push(p, node, sim_result(s, tree), pkt);
	}
}

/**
 * sim_reducer_take() - the Reducer, or the credit unit, reads a packet
 * @p: partition
 * @node: node
 * @k: packet; this function takes ownership
 * @finish: time when its last flit is read
 */
void sim_reducer_take(struct sim_part *p, u32 node, u32 k, u64 finish)
{
	struct sim *s = p->sim;
	struct sim_pkt *q = &p->pkt[k];
	u32 tree = q->tree, expected;
	struct sim_tree *t = sim_tree(s, node, tree);
	struct sim_slot *slot = &t->slot[q->seq % ANGARA_MAX_REDUCES];

	if (q->type == ANG_PKT_CREDIT) {
		t->credits += ANG_CREDIT_DOWN * q->seq;
		sim_pkt_free(p, k);
		if (!sim_row(s, node, tree)->is_root)
			sim_serve(p, node, sim_row(s, node, tree)->to_root);
		return;
	}
	if (!ang_reduces_fit(q->seq, 1, t->done))
		broken("the Reducer has no free slot", q, node);
	expected = ang_count(ang_tree_places(sim_row(s, node, tree)));
	p->acc.reduced++;
	sim_note(p, ANG_TR_REDUCE, node, q, SIM_OUT_RED(s), p->now, finish);
	if (slot->count) {
		struct sim_pkt *acc = &p->pkt[slot->pkt];

		if (acc->seq != q->seq)
			broken("packets of different operations in one slot", q, node);
		ang_combine(&acc->value, &q->value, sizeof(q->value),
			    ANGARA_TYPE_UINT64, ANGARA_RED_SUM);
		acc->born = acc->born < q->born ? acc->born : q->born;
		sim_pkt_free(p, k);
	} else {
		slot->pkt = k;
		slot->start = 0;
		slot->finish = 0;
	}
	slot->start = sim_max(slot->start, p->now);
	slot->finish = sim_max(slot->finish, finish);
	if (++slot->count == expected)
		results(p, node, tree, expected);
}

/*
 * Sends a credit packet to the children, if credits are pending.  A node has at most one credit
 * packet of a tree in flight, and counts further credits.
 */
static void credit_issue(struct sim_part *p, u32 node, u32 tree)
{
	struct sim *s = p->sim;
	struct sim_tree *t = sim_tree(s, node, tree);
	u32 k;

	if (t->credit_on || !t->credit_pend)
		return;
	k = sim_pkt_new(p);
	p->pkt[k] = (struct sim_pkt){
		.tail = p->now, .elig = p->now, .src = s->base + node,
		.dst = ANG_NONE, .seq = t->credit_pend, .flits = 1,
		.type = ANG_PKT_CREDIT, .tree = (u8)tree,
	};
	p->acc.credits += t->credit_pend;
	sim_note(p, ANG_TR_CREDIT, node, &p->pkt[k], 0, p->now, p->now);
	t->credit_on = 1;
	t->credit_pend = 0;
	sim_fifo_push(p, node, s->src0 + SIM_SRC_CREDIT, k);
}

/* Send the counts of all trees to the PE. */
static void credit_to_pe(struct sim_part *p, u32 node)
{
	struct sim *s = p->sim;
	struct sim_nic *n = &s->nic[node];
	u32 k;

	n->timer = 0;
	n->unreported = 0;
	if (n->credit)
		return;		/* the counts in the packet are read when it leaves */
	n->credit = 1;
	k = sim_pkt_new(p);
	p->pkt[k] = (struct sim_pkt){
		.tail = p->now, .elig = p->now, .src = s->base + node,
		.dst = s->base + node, .tree = ANGARA_MAX_TREES,
		.flits = (u16)sim_credit_flits(s),
		.type = ANG_PKT_CREDIT,
	};
	sim_fifo_push(p, node, s->src0 + SIM_SRC_CREDIT, k);
}

/** sim_result_left() - a result has left the Reducer */
void sim_result_left(struct sim_part *p, u32 node, u32 tree)
{
	struct sim *s = p->sim;
	struct sim_tree *t = sim_tree(s, node, tree);
	const struct angara_tree_row *row = sim_row(s, node, tree);
	struct sim_nic *n = &s->nic[node];
	bool due = ang_credit_due(t->done, 1);

	t->slot[t->done % ANGARA_MAX_REDUCES].count = 0;
	t->done++;
	if (row->ports && due) {
		t->credit_pend++;
		credit_issue(p, node, tree);
	}
	if (!row->pe)
		return;
	if (++n->unreported >= s->cfg.credit_results) {
		credit_to_pe(p, node);
	} else if (!n->timer) {
		n->timer = p->now + sim_cycles(s, (u32)s->cfg.credit_cycles);
		sim_push(p, n->timer, node, SIM_EV_TIMER, 0, 0);
	}
}

/** sim_credit_left() - a tree's credit packet has left for all children */
void sim_credit_left(struct sim_part *p, u32 node, u32 tree)
{
	if (tree >= ANGARA_MAX_TREES)
		return;		/* the packet was for the PE */
	sim_tree(p->sim, node, tree)->credit_on = 0;
	credit_issue(p, node, tree);
}

/** sim_credit_timer() - handle a timer, unless a later timer has replaced it */
void sim_credit_timer(struct sim_part *p, u32 node)
{
	if (p->sim->nic[node].timer == p->now)
		credit_to_pe(p, node);
}

/**
 * sim_credit_news() - send the credit packet to the PE
 * @p: partition
 * @node: node
 * @time: time of arrival
 */
void sim_credit_news(struct sim_part *p, u32 node, u64 time)
{
	struct sim *s = p->sim;
	struct sim_pkt note;
	u32 tree;

	s->nic[node].credit = 0;
	for (tree = 0; tree < s->ntrees; tree++) {
		struct sim_tree *t = sim_tree(s, node, tree);

		if (!s->rows[tree] || t->reported == t->done)
			continue;
		t->reported = t->done;
		p->acc.pe_credits++;
		note = (struct sim_pkt){ .type = ANG_PKT_CREDIT, .tree = (u8)tree,
					 .src = s->base + node };
		sim_note(p, ANG_TR_CREDIT, node, &note, ANGARA_PORT_NONE, p->now,
			 time);
		sim_push(p, time, node, SIM_EV_CREDIT, tree, t->done);
	}
}

/** sim_credit_pe() - the PE learns that @done results of a tree have left */
void sim_credit_pe(struct sim_part *p, u32 node, u32 done, u32 tree)
{
	sim_tree(p->sim, node, tree)->pe_done = done;
	sim_pump(p, node);
}
