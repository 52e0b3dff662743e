// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counters of a node or switch: for the admin queue (ANGARA_ADM_COUNTERS), and
 * for the host (ang_look_counters()).
 */
#include "ang_int.h"

static void put_all(__le64 *to, const u64 *from, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		to[i] = cpu_to_le64(from[i]);
}

/* Return: flits that passed a router while no view held the node. */
static u64 passed_flits(struct ang_view *v, struct ang_node *n)
{
	u64 flits = 0;
	u32 i;

	for (i = 0; i < v->fab->nports; i++) {
		const struct ang_passed *p = &ang_port(v->fab, n, i)->passed;

		flits += READ_ONCE(p->flits[ANGARA_VC_REQ]) +
			 READ_ONCE(p->flits[ANGARA_VC_RSP]);
	}
	return flits;
}

static u32 node_counters(struct ang_view *v, struct ang_node *n,
			 struct angara_hw_node_counters *out)
{
	put_all(out->drops, n->drops, ANGARA_DROP_NUM);
	out->injected_packets = cpu_to_le64(n->cnt.injected_packets);
	out->ejected_packets = cpu_to_le64(n->cnt.ejected_packets);
	out->injected_flits = cpu_to_le64(n->cnt.injected_flits);
	out->ejected_flits = cpu_to_le64(n->cnt.ejected_flits);
	out->hops = cpu_to_le64(n->cnt.hops);
	out->no_buffer = cpu_to_le64(n->cnt.no_buffer);
	out->cycles = cpu_to_le64(n->clock + passed_flits(v, n));
	return sizeof(*out);
}

static u32 link_counters(const struct ang_port *port,
			 struct angara_hw_link_counters *out)
{
	struct ang_link l = ang_port_link(port);

	put_all(out->packets, l.packets, ANGARA_VC_NUM);
	put_all(out->flits, l.flits, ANGARA_VC_NUM);
	put_all(out->stalls, l.stalls, ANGARA_VC_NUM);
	out->lost = cpu_to_le64(port->retry.cnt.lost);
	out->corrupt = cpu_to_le64(port->retry.cnt.corrupt);
	out->retransmitted = cpu_to_le64(port->retry.cnt.retransmitted);
	out->timeouts = cpu_to_le64(port->retry.cnt.timeouts);
	out->fault_loss = cpu_to_le32(port->retry.fault.loss);
	out->fault_corrupt = cpu_to_le32(port->retry.fault.corrupt);
	out->fault_delay = cpu_to_le32(port->retry.fault.delay);
	out->down = cpu_to_le32(!!(READ_ONCE(port->flaws) & ANG_FLAW_DOWN));
	return sizeof(*out);
}

static u32 tree_counters(const struct ang_tree *t,
			 struct angara_hw_tree_counters *out)
{
	out->bcast_requests = cpu_to_le64(t->cnt.bcast_requests);
	out->bcast_packets = cpu_to_le64(t->cnt.bcast_packets);
	out->reduce_packets = cpu_to_le64(t->cnt.reduce_packets);
	out->reduce_results = cpu_to_le64(t->cnt.reduce_results);
	out->credits_sent = cpu_to_le64(t->cnt.credits_sent);
	out->credits_received = cpu_to_le64(t->cnt.credits_received);
	out->credits_pe_count = cpu_to_le64(t->cnt.credits_pe_count);
	out->credits_pe_timer = cpu_to_le64(t->cnt.credits_pe_timer);
	out->up_credits = cpu_to_le64(t->up_credits);
	out->in_flight = cpu_to_le64(t->in_flight);
	out->max_in_flight = cpu_to_le64(t->cnt.max_in_flight);
	return sizeof(*out);
}

static u32 ctx_counters(const struct ang_ctx *c,
			struct angara_hw_ctx_counters *out)
{
	out->wqes = cpu_to_le64(c->cnt.wqes);
	out->cqes = cpu_to_le64(c->cnt.cqes);
	out->cqe_errors = cpu_to_le64(c->cnt.cqe_errors);
	out->tx_packets = cpu_to_le64(c->cnt.tx_packets);
	out->tx_bytes = cpu_to_le64(c->cnt.tx_bytes);
	out->rx_packets = cpu_to_le64(c->cnt.rx_packets);
	out->rx_bytes = cpu_to_le64(c->cnt.rx_bytes);
	out->rx_errors = cpu_to_le64(c->cnt.rx_errors);
	out->cq_full = cpu_to_le64(c->cnt.cq_full);
	out->interrupts = cpu_to_le64(c->cnt.interrupts);
	out->rx_msgs = cpu_to_le64(c->cnt.rx_msgs);
	out->not_ready = cpu_to_le64(c->cnt.not_ready);
	return sizeof(*out);
}

static u32 counters_of(struct ang_view *v, struct ang_node *n, u32 kind,
		       u32 index, union ang_counters *out)
{
	memset(out, 0, sizeof(*out));
	ang_aside_count_all(v, n);
	switch (kind) {
	case ANGARA_CNT_NODE:
		return node_counters(v, n, &out->node);
	case ANGARA_CNT_LINK:
		if (index < v->fab->nports)
			return link_counters(ang_port(v->fab, n, index),
					     &out->link);
		break;
	case ANGARA_CNT_TREE:
		if (index < v->fab->cfg.trees)
			return tree_counters(&n->tree[index], &out->tree);
		break;
	case ANGARA_CNT_CTX:
		if (!ang_is_switch(v->fab, n) && ang_ctx_get(v, n, index))
			return ctx_counters(ang_ctx(v->fab, n, index),
					    &out->ctx);
		break;
	}
	return 0;
}

/**
 * ang_counters_read() - read the counters that ANGARA_ADM_COUNTERS requests
 * @v: view
 * @n: node or switch, held
 * @arg: argument of the command
 * @out: out: counters
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_counters_read(struct ang_view *v, struct ang_node *n,
		      const struct angara_adm_counters *arg,
		      union ang_counters *out)
{
	u32 size = counters_of(v, n, le32_to_cpu(arg->kind),
			       le32_to_cpu(arg->index), out);

	return size && le32_to_cpu(arg->length) >= size ? ANGARA_ADM_ST_OK :
							  ANGARA_ADM_ST_PARAM;
}

/**
 * ang_counters_give() - copy counters to host memory
 * @v: view
 * @n: node, held
 * @arg: argument that ang_counters_read() accepted
 * @counters: counters from ang_counters_read()
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_counters_give(struct ang_view *v, struct ang_node *n,
		      const struct angara_adm_counters *arg,
		      const union ang_counters *counters)
{
	static const u8 sizes[] = {
		[ANGARA_CNT_NODE] = sizeof(counters->node),
		[ANGARA_CNT_LINK] = sizeof(counters->link),
		[ANGARA_CNT_TREE] = sizeof(counters->tree),
		[ANGARA_CNT_CTX] = sizeof(counters->ctx),
	};

	if (ang_dma_write(v, n, le64_to_cpu(arg->addr), counters,
			  sizes[le32_to_cpu(arg->kind)]))
		return ANGARA_ADM_ST_DMA;
	return ANGARA_ADM_ST_OK;
}

u32 ang_look_counters(struct ang_view *v, u32 node, u32 kind, u32 index,
		      union ang_counters *out)
{
	return counters_of(v, ang_node(v->fab, node), kind, index, out);
}

void ang_look_tree(struct ang_view *v, u32 node, u32 tree,
		   struct angara_tree_get *get)
{
	const struct ang_tree *t = &ang_node(v->fab, node)->tree[tree];

	memset(get, 0, sizeof(*get));
	get->row.tree = (u8)tree;
	get->state = t->state;
	if (t->state == ANGARA_TREE_STATE_UNSET)
		return;
	get->row = t->row;
	get->members = t->members;
	get->down_node = t->down_node;
}

u32 ang_look_ctx(struct ang_view *v, u32 node, u32 ctx)
{
	const struct ang_ctx *c = ang_ctx_get(v, ang_node(v->fab, node), ctx);

	return c ? c->pkey : 0;
}
