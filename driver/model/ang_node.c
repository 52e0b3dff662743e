// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A fabric's memory, and one step of a node.
 *
 * A step is some rounds, a round gives every stage its turn.  A step that has
 * done enough (ang_work.h) ends within a round, and the next one goes on there:
 * no stage, ring, tree or context has a second turn before all others had one.
 */
#include "ang_int.h"

#define STEP_ROUNDS	8

/* Stages of a round: ang_node.stage. */
#define STAGE_ADMIN	0
#define STAGE_BELLS	1
#define STAGE_RINGS	2
#define STAGE_TREES	3
#define STAGE_FIFOS	4
#define STAGE_INJECT	5

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
	    cfg->train & (cfg->train - 1) || !cfg->trees ||
	    cfg->trees > ANGARA_MAX_TREES || cfg->remote > 1)
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
	at = align64((u32)sizeof(struct ang_node) +
		     cfg->trees * (u32)sizeof(struct ang_tree));
	fab->off_ctx = at;
	at = align64(at + cfg->ctxs * (u32)sizeof(struct ang_ctx));
	fab->off_dom = at;
	at = align64(at + cfg->ctxs * (u32)sizeof(struct ang_dom));
	fab->off_op = at;
	at = align64(at + (u32)cfg->ctxs * cfg->ops * (u32)sizeof(struct ang_op));
	fab->off_inl = at;
	at += (u32)cfg->ctxs * cfg->ops * ANGARA_MAX_INLINE;
	fab->off_ring = at;
	at += rings * fab->ring_size;
	fab->off_ref = at;
	fab->bufs = cfg->bufs + ANG_TREE_BUFS * cfg->trees +
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
		for (dir = 0; dir < ANG_MAX_DIRS; dir++)
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
	u64 set = n->rx & ~0ULL << n->at;

	for (n->at = 0; set; set &= set - 1) {
		u32 bit = ang_lowest(set);
		u32 dir = bit / ANGARA_VC_NUM;
		u32 vc = bit % ANGARA_VC_NUM;
		struct ang_ring *r = ang_ring(v->fab, n, dir, vc);

		if (ang_spent(v)) {
			n->at = bit;
			break;
		}
		ang_work(v, ANG_WORK_PKT);
		if (ang_ring_head(v, r) && ring_step(v, n, dir, vc))
			progress = true;
		if (!ang_ring_head(v, r))
			n->rx &= ~(1U << bit);
	}
	return progress;
}

/* Results of trees, then their credits and news: ang_node.at counts on. */
static bool trees_step(struct ang_view *v, struct ang_node *n)
{
	u32 at = n->at;
	u64 set = at < ANGARA_MAX_TREES ? n->red_trees & ~0ULL << at : 0;
	bool progress = false;

	for (; set; set &= set - 1) {
		n->at = ang_lowest(set);
		if (ang_spent(v))
			return progress;
		progress |= ang_reduce_issue(v, n, n->at);
	}
	at = at > ANGARA_MAX_TREES ? at - ANGARA_MAX_TREES : 0;
	for (set = n->ctl_trees & ~0ULL << at; set; set &= set - 1) {
		n->at = ANGARA_MAX_TREES + ang_lowest(set);
		if (ang_spent(v))
			return progress;
		progress |= ang_control_issue(v, n, ang_lowest(set));
	}
	n->at = 0;
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

/* Would another round find anything? */
static bool has_work(const struct ang_node *n)
{
	return n->rx || n->red_trees || n->ctl_trees || fifos_hold(n) ||
	       any_bit(n->tx) || READ_ONCE(n->db_admin) || any_bit(n->db);
}

/* Is the step over?  Then the round goes on with what is left of a stage, or the next. */
static bool over(struct ang_view *v, struct ang_node *n, u32 stage)
{
	if (!ang_spent(v))
		return false;
	n->stage = (u8)(n->at ? stage : stage + 1);
	return true;
}

/*
 * What there is to do, each once.
 * Return: true if another round may find more, or this one is not over.
 */
static bool one_round(struct ang_view *v, struct ang_node *n)
{
	u32 from = n->stage;
	bool moved = from && n->moved;

	if (from <= STAGE_ADMIN && READ_ONCE(n->db_admin)) {
		moved |= ang_admin(v, n);
		if (over(v, n, STAGE_ADMIN))
			goto out;
	}
	if (from <= STAGE_BELLS && any_bit(n->db)) {
		ang_ctx_doorbells(v, n);
		if (over(v, n, STAGE_BELLS))
			goto out;
	}
	if (from <= STAGE_RINGS && n->rx) {
		moved |= rings_step(v, n);
		if (over(v, n, STAGE_RINGS))
			goto out;
	}
	if (from <= STAGE_TREES && n->red_trees | n->ctl_trees) {
		moved |= trees_step(v, n);
		if (over(v, n, STAGE_TREES))
			goto out;
	}
	if (from <= STAGE_FIFOS && fifos_hold(n)) {
		moved |= ang_pegroup(v, n);
		if (over(v, n, STAGE_FIFOS))
			goto out;
	}
	if (any_bit(n->tx)) {
		moved |= ang_inject(v, n);
		if (n->at) {
			n->stage = STAGE_INJECT;
			goto out;
		}
	}
	n->stage = 0;
	return moved && has_work(n);
out:
	n->moved = moved;
	return true;
}

/**
 * ang_node_step() - let a node do what it can
 * @v: view; stop says when it has done enough
 * @n: node, held
 *
 * Return: true if there may be more to do; false if it waits for others.
 */
bool ang_node_step(struct ang_view *v, struct ang_node *n)
{
	bool progress = true;
	u32 round;

	for (round = 0; progress && round < STEP_ROUNDS && !ang_spent(v) &&
	     !n->untold; round++)
		progress = one_round(v, n);
	ang_ctx_publish(v, n);
	return progress || n->untold;
}

/**
 * ang_node_reset() - forget contexts, domains, trees and queues
 * @v: view
 * @n: node, held
 *
 * Packets on their way through the node go on.
 *
 * Return: false if the step has done enough, and there is more to do.
 */
bool ang_node_reset(struct ang_view *v, struct ang_node *n)
{
	u32 i;

	for (i = 0; i < v->fab->cfg.trees; i++) {
		if (ang_spent(v))
			return false;
		ang_tree_clear(v, n, i);
	}
	for (i = 0; i < v->fab->cfg.ctxs; i++) {
		if (ang_spent(v))
			return false;
		ang_ctx_destroy(v, n, i);
	}
	memset(ang_dom(v->fab, n, 0), 0,
	       v->fab->cfg.ctxs * sizeof(struct ang_dom));
	memset(&n->adm, 0, sizeof(n->adm));
	/* Who enables it again is told again. */
	n->lost = 0;
	n->losing = 0;
	n->lost_at = 0;
	n->dead_links = 0;
	return true;
}

/* Bytes from or to a region: its entry, and per page two lists and the page. */
static u64 copy_work(u32 len)
{
	u32 pages = len / ANGARA_PAGE_SIZE + 2;

	return (3 + 3 * pages) * (ANG_WORK_DMA + ANG_WORK_BYTES) +
	       len / ANG_WORK_BYTES;
}

/* The completion of an operation. */
#define CQE_WORK	(4 * (ANG_WORK_DMA + ANG_WORK_BYTES))

/* The same, and that it and its line are searched for among @ops. */
static u64 done_work(u32 ops)
{
	return CQE_WORK + 2 * ops * ANG_WORK_LOOK;
}

u64 ang_work_piece(const struct ang_cfg *cfg)
{
	u32 train = cfg->train * ANGARA_PACKET_BYTES;
	u32 reduce = ang_min(train, ANG_REDUCE_TRAIN * ANGARA_PACKET_BYTES);
	u64 event = ANG_WORK_IRQ + 2 * (ANG_WORK_DMA + ANG_WORK_BYTES);
	u64 base = ANG_WORK_CMD + 4 * (u64)ANG_WORK_PKT + 2 * ANG_WORK_WQE +
		   copy_work(ANGARA_MAX_INLINE) + 2 * copy_work(train) +
		   3 * done_work(cfg->ops) + event +
		   2 * (cfg->bufs + ANG_TREE_BUFS);
	u64 deliver = ANGARA_MAX_LOCAL *
		      (ANG_WORK_PKT + copy_work(train) + ANG_WORK_DMA + event +
		       done_work(cfg->ops));
	u64 settle = (ANGARA_MAX_LOCAL + ANG_MAX_DIRS) *
		     (u64)ang_combine_work(reduce, ANGARA_TYPE_FLOAT,
					   ANGARA_RED_SUM);
	/* Each is searched for in an order that gets shorter. */
	u64 down = (u64)ANGARA_MAX_LOCAL * cfg->ops *
		   (CQE_WORK + (cfg->ops + 1U) * ANG_WORK_LOOK / 2);
	u64 ready = (u64)cfg->ctxs * (1 + cfg->ops) * ANG_WORK_LOOK;
	u64 credit = (u64)cfg->trees * ANGARA_MAX_LOCAL * ANG_WORK_DMA;
	u64 most = deliver;

	if (settle > most)
		most = settle;
	if (down > most)
		most = down;
	if (ready > most)
		most = ready;
	if (credit > most)
		most = credit;
	return base + most;
}

u64 ang_work_bound(const struct ang_cfg *cfg, u32 budget)
{
	return budget + ANG_WORK_STEP + ANG_WORK_TURN + ang_work_piece(cfg) +
	       ANG_WORK_TELL;
}
