// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hosts: injection and ejection through PCIe.
 *
 * Packets of an operation are created when the adapter's FIFO has room for
 * them, with their arrival time at the FIFO.  Collectives take turns; a
 * computing module sends its point-to-point messages one after another.
 */
#include "sim.h"

static bool is_coll(const struct sim_op *op)
{
	return op->dst == ANG_NONE || op->type == ANG_PKT_REDUCE;
}

/* Return: bytes of the operation's next packet. */
static u32 unit(const struct sim *s, const struct sim_op *op)
{
	return ang_min(op->left, (u32)s->cfg.packet);
}

/*
 * Return: number of packets that a host may post before they are injected: as many as the
 * adapter's FIFO holds, or more if many short packets are in flight on PCIe.
 */
static u32 ahead(const struct sim *s, u32 len)
{
	u64 each = sim_host_time(s, ang_flits_of(1, len));

	return (u32)sim_max(ANG_FIFO, ANG_FIFO / 2 + s->cfg.inject / each);
}

/* Does the adapter have room for the operation's next packet? */
static bool may_inject(struct sim_part *p, u32 node, const struct sim_op *op)
{
	struct sim *s = p->sim;
	u32 src = is_coll(op) ? s->src0 + SIM_SRC_PE : sim_inj(s, op->module);

	if (sim_fifo(s, node, src)->len >= ahead(s, unit(s, op)))
		return false;
	if (op->type != ANG_PKT_REDUCE && op->type != ANG_PKT_ALLREDUCE)
		return true;
	return ang_reduces_fit(op->tag, 1, sim_tree(s, node, op->tree)->pe_done);
}

static void inject(struct sim_part *p, u32 node, struct sim_op *op)
{
	struct sim *s = p->sim;
	u64 *inj_free = &s->inj_free[(size_t)node * s->modules + op->module];
	u32 len = unit(s, op);
	u32 flits = ang_flits_of(1, op->type == ANG_PKT_GET ? 0 : len);
	bool coll = is_coll(op);
	u64 start = sim_max(sim_max(*inj_free, op->start), p->now);
	u64 head = start + s->cfg.inject;
	u64 length = sim_host_time(s, flits);
	u32 k = sim_pkt_new(p);

	*inj_free = start + length;
	if (s->cfg.vc == SIM_STORE_FORWARD)
		head += length;
	p->pkt[k] = (struct sim_pkt){
		.tail = start + s->cfg.inject + length,
		.elig = sim_align(s, head) +
			sim_cycles(s, (u32)(coll ? s->cfg.pegroup :
					    s->cfg.router)),
		.born = op->born, .value = op->value, .src = s->base + node,
		.dst = op->dst, .seq = op->tag, .flits = (u16)flits,
		.type = op->type, .tree = op->tree, .bytes = len,
		.fetch = op->fetch,
	};
	sim_note(p, ANG_TR_INJECT, node, &p->pkt[k], 0, start, p->pkt[k].tail);
	p->acc.injected++;
	p->acc.inj_flits += flits;
	op->left -= len;
	if (op->many)
		op->tag++;
	sim_fifo_push(p, node, coll ? s->src0 + SIM_SRC_PE :
		      sim_inj(s, op->module), k);
}

static void append(struct sim_part *p, struct sim_nic *n, u32 o)
{
	p->op[o].next = 0;
	n->colls += is_coll(&p->op[o]);
	if (n->ops)
		p->op[n->last].next = o;
	else
		n->ops = o;
	n->last = o;
}

static void unlink_op(struct sim_part *p, struct sim_nic *n, u32 prev, u32 o)
{
	n->colls -= is_coll(&p->op[o]);
	if (prev)
		p->op[prev].next = p->op[o].next;
	else
		n->ops = p->op[o].next;
	if (n->last == o)
		n->last = prev;
}

/*
 * May the operation start?  Counts it as refused if its packets would cross a
 * link that is down.
 */
static bool may_start(struct sim_part *p, u32 node, const struct sim_op *op)
{
	const struct sim *s = p->sim;

	if (!s->down || sim_may_start(s, s->base + node, op))
		return true;
	p->acc.refused++;
	return false;
}

/* Injects packets of the modules' endless streams. */
static void pump_stream(struct sim_part *p, u32 node)
{
	struct sim *s = p->sim;
	u32 module, most = ahead(s, s->work->shortest(s));

	for (module = 0; module < s->modules; module++) {
		struct sim_fifo *f = sim_fifo(s, node, sim_inj(s, module));

		while (f->len < most) {
			struct sim_op op = { .type = ANG_PKT_PUT,
					     .module = (u8)module };

			if (!s->work->stream(p, node, &op))
				break;
			if (may_start(p, node, &op))
				inject(p, node, &op);
		}
	}
}

/** sim_pump() - inject packets for which there is room */
void sim_pump(struct sim_part *p, u32 node)
{
	struct sim_nic *n = &p->sim->nic[node];
	u32 prev = 0, o = n->ops;
	u64 all = ~0ULL >> (64 - p->sim->modules);
	u64 blocked = 0;	/* modules with a message that cannot be injected now, a bit each */

	if (p->sim->work->stream) {
		pump_stream(p, node);
		return;
	}
	/* If messages block all modules, only collectives can be sent. */
	while (o && (n->colls || blocked != all)) {
		struct sim_op op = p->op[o];
		bool coll = is_coll(&op);
		u64 mine = coll ? 0 : 1ULL << op.module;

		/* Messages keep their order, packets of trees do not. */
		if (mine & blocked || !may_inject(p, node, &op)) {
			blocked |= mine;
			prev = o;
			o = op.next;
			continue;
		}
		unlink_op(p, n, prev, o);
		inject(p, node, &op);
		p->op[o] = op;
		if (!op.left) {
			sim_op_free(p, o);
		} else if (coll) {
			append(p, n, o);
		} else {
			p->op[o].next = n->ops;
			if (!n->ops)
				n->last = o;
			n->ops = o;
		}
		prev = 0;
		o = n->ops;
		blocked = 0;
	}
}

/**
 * sim_send() - start an operation of a host
 * @p: partition
 * @node: node
 * @op: operation of @op->module; @born, @start and @next are filled in
 */
void sim_send(struct sim_part *p, u32 node, const struct sim_op *op)
{
	struct sim_nic *n = &p->sim->nic[node];
	u32 o;

	n->cpu_free = sim_max(n->cpu_free, p->now) + p->sim->cfg.overhead;
	if (!may_start(p, node, op))
		return;
	o = sim_op_new(p);
	p->op[o] = *op;
	p->op[o].born = p->now;
	p->op[o].start = n->cpu_free;
	append(p, n, o);
	sim_pump(p, node);
}

/* Sends the adapter's answer to a request; @bytes of data for it are available at @time. */
static void answer(struct sim_part *p, u32 node, const struct sim_pkt *k,
		   u64 time, u32 type, u32 bytes)
{
	struct sim *s = p->sim;
	u32 flits = ang_flits_of(1, bytes);
	u32 a = sim_pkt_new(p);

	p->pkt[a] = *k;
	p->pkt[a].type = (u8)type;
	p->pkt[a].src = s->base + node;
	p->pkt[a].dst = k->src;
	p->pkt[a].flits = (u16)flits;
	p->pkt[a].bytes = bytes ? bytes : k->bytes;
	p->pkt[a].hops = 0;
	p->pkt[a].elig = sim_align(s, time) + sim_cycles(s, (u32)s->cfg.router);
	p->pkt[a].tail = time + sim_host_time(s, flits);
	sim_note(p, ANG_TR_INJECT, node, &p->pkt[a], 0, time, p->pkt[a].tail);
	p->acc.injected++;
	p->acc.inj_flits += flits;
	sim_fifo_push(p, node, s->src0 + SIM_SRC_RSP, a);
}

/* Sends the answer to a request that reaches the host at @time. */
static void request_answer(struct sim_part *p, u32 node, const struct sim_pkt *k,
			   u64 time)
{
	const struct sim *s = p->sim;

	/*
	 * The adapter's read request crosses PCIe to the host, and the data
	 * cross it back.
	 */
	if (k->type == ANG_PKT_GET)
		answer(p, node, k, time + s->cfg.inject, ANG_PKT_DATA, k->bytes);
	else if (k->type == ANG_PKT_ATOMIC && k->fetch)
		answer(p, node, k, time + s->cfg.inject, ANG_PKT_DATA, k->fetch);
	else if (s->cfg.acks && (k->type == ANG_PKT_PUT || k->type == ANG_PKT_SEND ||
				 k->type == ANG_PKT_ATOMIC))
		answer(p, node, k, p->now, ANG_PKT_ACK, 0);
}

/**
 * sim_deliver() - a packet leaves the router for the host
 * @p: partition
 * @node: node
 * @k: packet
 * @time: time when the whole packet is in the host's memory
 */
void sim_deliver(struct sim_part *p, u32 node, const struct sim_pkt *k, u64 time)
{
	struct sim *s = p->sim;

	if (k->type == ANG_PKT_CREDIT) {
		sim_credit_news(p, node, time);
		return;
	}
	sim_note(p, ANG_TR_EJECT, node, k, SIM_OUT_PE(s), p->now, time);
	p->acc.ejected++;
	p->acc.ej_flits += k->flits;
	p->acc.hops += k->hops;
	if (time > p->acc.last)
		p->acc.last = time;
	request_answer(p, node, k, time);
	if (s->work->eject && (k->type != ANG_PKT_ACK || s->work->acks))
		s->work->eject(p, node, k, time);
}
