// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A fabric's memory, and one step of a node.
 */
#include "ang_int.h"

/*
 * What a node may do before others have their turn, whatever its contexts ask
 * of it: some 100 us of copying.
 */
#define STEP_ROUNDS	8
#define STEP_CYCLES	16384

static u32 align64(u32 x)
{
	return (x + 63U) & ~63U;
}

/* Links from one end of a tree to its root, and from there to another end. */
static u32 longest_way(const struct ang_cfg *cfg)
{
	u32 up = 0;
	u32 d;

	for (d = 0; d < cfg->ndims; d++)
		up += cfg->dims[d] - 1U;
	return 2 * up;
}

u32 ang_cfg_check(const struct ang_cfg *cfg)
{
	struct ang_topo topo;

	if (!cfg->ctxs || cfg->ctxs > ANG_MAX_CTXS || !cfg->ops ||
	    cfg->ops > 64 || cfg->bufs < 8 || cfg->depth < 4 ||
	    cfg->depth & (cfg->depth - 1) || !cfg->train ||
	    cfg->train > ANG_MAX_TRAIN ||
	    cfg->train & (cfg->train - 1) || cfg->remote > 1)
		return 0;
	if (!ang_topo_init(&topo, cfg->ndims, cfg->dims) ||
	    longest_way(cfg) > ANG_MAX_HOPS ||
	    ang_link_bufs(cfg) > ANG_MAX_LINK_BUFS)
		return 0;
	return topo.nodes;
}

static void layout(struct ang_fabric *fab, const struct ang_cfg *cfg)
{
	u32 rings = 2 * cfg->ndims * ANGARA_VC_NUM;
	u32 at;

	fab->cfg = *cfg;
	ang_topo_init(&fab->topo, cfg->ndims, cfg->dims);
	fab->ring_size = align64((u32)sizeof(struct ang_ring) +
				 cfg->depth * (u32)sizeof(struct ang_pkt));
	fab->buf_size = cfg->train * ANGARA_PACKET_BYTES;
	at = align64(sizeof(struct ang_node));
	fab->off_ctx = at;
	at = align64(at + cfg->ctxs * (u32)sizeof(struct ang_ctx));
	fab->off_op = at;
	at = align64(at + (u32)cfg->ctxs * cfg->ops * (u32)sizeof(struct ang_op));
	fab->off_ring = at;
	at += rings * fab->ring_size;
	fab->off_ref = at;
	fab->bufs = cfg->bufs + ANG_TREE_BUFS * ANGARA_MAX_TREES +
		    (u32)ang_link_bufs(cfg);
	at = align64(at + fab->bufs * 4U);
	fab->off_link = at;
	at = align64(at + fab->bufs * 8U);
	fab->off_buf = at;
	fab->stride = at + (u64)fab->bufs * fab->buf_size;
}

u64 ang_fabric_size(const struct ang_cfg *cfg)
{
	struct ang_fabric fab;

	layout(&fab, cfg);
	return ANG_HEAD_SIZE + fab.stride * fab.topo.nodes;
}

void ang_fabric_init(void *mem, const struct ang_cfg *cfg)
{
	struct ang_fabric *fab = mem;
	u32 id;
	u32 dir;

	layout(fab, cfg);
	for (id = 0; id < fab->topo.nodes; id++) {
		struct ang_node *n = ang_node(fab, id);

		n->id = id;
		n->next = ANG_NONE;
		n->timer_next = ANG_NONE;
		ang_topo_coord(&fab->topo, id, n->coord);
		for (dir = 0; dir < ANGARA_MAX_DIRS; dir++)
			n->neighbor[dir] = ang_topo_neighbor(&fab->topo, id, dir);
	}
}

static bool ring_step(struct ang_view *v, struct ang_node *n, u32 dir, u32 vc)
{
	if (vc == ANGARA_VC_UP)
		return ang_up_ring(v, n, dir);
	if (vc == ANGARA_VC_DOWN)
		return ang_down_ring(v, n, dir);
	return ang_p2p_ring(v, n, dir, vc);
}

/*
 * Take a packet of every ring that has one.  A ring that is empty is left out
 * until its producer sets the bit again, one that is blocked is tried again.
 */
static bool rings_step(struct ang_view *v, struct ang_node *n)
{
	bool progress = false;
	u64 set = n->rx;

	for (; set; set &= set - 1) {
		u32 bit = ang_lowest(set);
		u32 dir = bit / ANGARA_VC_NUM;
		u32 vc = bit % ANGARA_VC_NUM;
		struct ang_ring *r = ang_ring(v->fab, n, dir, vc);

		if (ang_ring_head(v, r) && ring_step(v, n, dir, vc))
			progress = true;
		if (!ang_ring_head(v, r))
			n->rx &= ~(1U << bit);
	}
	return progress;
}

static bool trees_step(struct ang_view *v, struct ang_node *n)
{
	bool progress = false;
	u64 set;

	for (set = n->red_trees; set; set &= set - 1)
		progress |= ang_reduce_issue(v, n, ang_lowest(set));
	for (set = n->ctl_trees; set; set &= set - 1)
		progress |= ang_control_issue(v, n, ang_lowest(set));
	return progress;
}

static bool any_bit(const u64 *words)
{
	u64 all = 0;
	u32 w;

	for (w = 0; w < ANG_CTX_WORDS; w++)
		all |= READ_ONCE(words[w]);
	return all;
}

static bool fifos_hold(const struct ang_node *n)
{
	const struct ang_fifo *root = &n->fifo[ANG_FIFO_ROOT];
	const struct ang_fifo *pe = &n->fifo[ANG_FIFO_PE];

	return root->head != root->tail || pe->head != pe->tail;
}

/* What there is to do, each once. */
static bool one_round(struct ang_view *v, struct ang_node *n)
{
	bool progress = READ_ONCE(n->db_admin) && ang_admin(v, n);

	if (any_bit(n->db))
		ang_ctx_doorbells(v, n);
	if (n->rx)
		progress |= rings_step(v, n);
	if (n->red_trees | n->ctl_trees)
		progress |= trees_step(v, n);
	if (fifos_hold(n))
		progress |= ang_pegroup(v, n);
	if (any_bit(n->tx))
		progress |= ang_inject(v, n);
	return progress;
}

/* Would another round find anything? */
static bool has_work(const struct ang_node *n)
{
	return n->rx || n->red_trees || n->ctl_trees || fifos_hold(n) ||
	       any_bit(n->tx) || READ_ONCE(n->db_admin) || any_bit(n->db);
}

/**
 * ang_node_step() - let a node do what it can
 * @v: view
 * @n: node, held
 *
 * Return: true if there may be more to do; false if it waits for others.
 */
bool ang_node_step(struct ang_view *v, struct ang_node *n)
{
	bool progress = true;
	u32 round;

	n->step_end = n->clock + STEP_CYCLES;
	for (round = 0; progress && round < STEP_ROUNDS &&
	     n->clock < n->step_end; round++)
		progress = one_round(v, n) && has_work(n);
	ang_ctx_publish(v, n);
	return progress;
}

/**
 * ang_node_reset() - forget contexts, trees and queues
 * @v: view
 * @n: node, held
 *
 * Packets on their way through the node go on.
 */
void ang_node_reset(struct ang_view *v, struct ang_node *n)
{
	u32 i;

	for (i = 0; i < v->fab->cfg.ctxs; i++)
		ang_ctx_destroy(v, n, i);
	for (i = 0; i < ANGARA_MAX_TREES; i++)
		ang_tree_clear(v, n, i);
	memset(&n->adm, 0, sizeof(n->adm));
	/* Who enables it again is told again. */
	n->lost = 0;
	n->dead_links = 0;
}
