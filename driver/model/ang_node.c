// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A fabric's memory, and one step of a node.
 *
 * A step consists of rounds; a round runs every stage once.  When a step has
 * used up its work (ang_work.h), it ends within a round, and the next step
 * continues there: no stage, ring, tree or context has a second turn before all
 * others have had their first.
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
#define STAGE_LINKS	6

#define RX_BITS		32U	/* number of bits in ANG_SCHED_RX */

static u32 size_align(u32 x)
{
	return (x + 63U) & ~63U;
}

/* Return: the description of a fabric: written to @line, or the host's text. */
static const char *topo_describe(const struct ang_cfg *cfg, char *line, u32 *size)
{
	const char *text = line;

	if (cfg->topo.kind == ANG_TOPO_GRAPH)
		text = cfg->text;
	else
		ang_topo_describe(&cfg->topo, line);
	for (*size = 0; text[*size]; ++*size)
		;
	return text;
}

u32 ang_cfg_check(const struct ang_cfg *cfg)
{
	const struct ang_topo *topo = &cfg->topo;

	if (!cfg->ctxs || cfg->ctxs > ANG_MAX_CTXS || !cfg->ops ||
	    cfg->ops > 64 || cfg->bufs < 8 || cfg->depth < 4 ||
	    cfg->depth & (cfg->depth - 1) || !cfg->train ||
	    cfg->train > ANG_MAX_TRAIN ||
	    cfg->train & (cfg->train - 1) || !cfg->trees ||
	    cfg->trees > ANGARA_MAX_TREES || cfg->remote > 1 || cfg->sealed > 1)
		return 0;
	if (!topo->nodes || (topo->kind == ANG_TOPO_GRAPH && !cfg->text) ||
	    /*
	     * A result crosses the longest path twice: from a leaf to the root,
	     * and down.
	     */
	    2 * ang_topo_longest(topo) > ANG_MAX_HOPS ||
	    ang_link_bufs(cfg) > ANG_MAX_LINK_BUFS)
		return 0;
	return topo->nodes;
}

/*
 * Return: number of rings of a node, rounded up to whole bits of
 * ang_node.sched: a ring that does not exist, but shares a bit with a ring that
 * exists, is visited, too.
 */
static u32 rings_layout(struct ang_fabric *fab)
{
	u32 rings = fab->nports * ANGARA_VC_NUM;
	u8 shift = 0;

	while (rings > RX_BITS << shift)
		shift++;
	fab->ring_shift = shift;
	return ((rings - 1) >> shift << shift) + (1U << shift);
}

/* Compute the offsets of the parts that nodes have and switches do not. */
static void pe_layout(struct ang_fabric *fab, const struct ang_cfg *cfg)
{
	u32 at = size_align(cfg->ctxs * (u32)sizeof(struct ang_ctx));

	fab->off_dom = at;
	at = size_align(at + cfg->ctxs * (u32)sizeof(struct ang_dom));
	fab->off_lane = at;
	at = size_align(at + 2 * ANG_LANES * (u32)sizeof(struct ang_lane));
	fab->off_op = at;
	at = size_align(at + (u32)cfg->ctxs * cfg->ops * (u32)sizeof(struct ang_op));
	fab->off_inl = at;
	fab->pe_size = at + (u32)cfg->ctxs * cfg->ops * ANGARA_MAX_INLINE;
}

/* Return: offset in the block of a node's contexts and domains. */
static u64 pe_at(const struct ang_fabric *fab, u32 node)
{
	return ANG_HEAD_SIZE + fab->stride * fab->cfg.topo.routers +
	       fab->pe_size * node;
}

static void fabric_layout(struct ang_fabric *fab, const struct ang_cfg *cfg)
{
	char line[ANG_TOPO_TEXT];
	u32 rings, at;

	fab->cfg = *cfg;
	fab->cfg.topo.table = NULL;
	fab->nports = (u8)ang_topo_ports(&cfg->topo);
	fab->bubble = cfg->topo.kind == ANG_TOPO_TORUS;
	fab->express = !cfg->remote &&
		       ang_topo_longest(&cfg->topo) <= ANG_EXPRESS_HOPS;
	rings = rings_layout(fab);
	fab->ring_size = size_align((u32)sizeof(struct ang_ring) +
				    cfg->depth * (u32)sizeof(struct ang_pkt));
	fab->buf_size = cfg->train * ANGARA_PACKET_BYTES;
	at = size_align((u32)sizeof(struct ang_node) +
			cfg->trees * (u32)sizeof(struct ang_tree));
	fab->off_port = at;
	at += fab->nports * (u32)sizeof(struct ang_port);
	fab->off_life = at;
	at = size_align(at + cfg->trees * fab->nports * (u32)sizeof(u32));
	fab->off_mgmt = at;
	at = size_align(at + ang_mgmt_size(fab->nports));
	fab->off_ring = at;
	at += rings * fab->ring_size;
	fab->off_ref = at;
	fab->bufs = cfg->bufs + ANG_TREE_BUFS * cfg->trees +
		    (u32)ang_link_bufs(cfg);
	at = size_align(at + fab->bufs * 4U);
	fab->off_link = at;
	at = size_align(at + fab->bufs * 8U);
	fab->off_buf = at;
	fab->stride = at + (u64)fab->bufs * fab->buf_size;
	pe_layout(fab, cfg);
	fab->off_table = pe_at(fab, cfg->topo.nodes);
	fab->off_text = fab->off_table + ang_topo_table_size(&cfg->topo);
	topo_describe(cfg, line, &fab->text_size);
	fab->off_detour = (fab->off_text + fab->text_size + 1 + 7) & ~7ULL;
	fab->detour_row = ang_detour_row(&cfg->topo);
}

u64 ang_fabric_size(const struct ang_cfg *cfg)
{
	struct ang_fabric fab;

	fabric_layout(&fab, cfg);
	return fab.off_detour + 2ULL * cfg->topo.routers * fab.detour_row;
}

/*
 * Set the fields of contexts that never change; the others are set for each new
 * context.
 */
static void number_ctxs(struct ang_fabric *fab, struct ang_node *n)
{
	u64 ops = (u64)((char *)fab + n->pe + fab->off_op - (char *)n);
	u32 i;

	for (i = 0; i < fab->cfg.ctxs; i++) {
		struct ang_ctx *c = ang_ctx(fab, n, i);

		c->id = i;
		c->ops_at = ops + (u64)i * fab->cfg.ops * sizeof(struct ang_op);
	}
}

static void node_init(struct ang_fabric *fab, const struct ang_topo *topo,
		      u32 id)
{
	struct ang_node *n = ang_node(fab, id);
	u32 i;

	n->id = id;
	n->keeper = ang_topo_keeper(topo, id);
	n->next = ANG_NONE;
	n->timer_next = ANG_NONE;
	ang_mgmt_init(fab, n);
	for (i = 0; i < fab->nports; i++) {
		struct ang_port *port = ang_port(fab, n, i);

		port->peer = ang_topo_peer(topo, id, i, &port->far);
		if (port->peer != ANG_NONE)
			ang_fault_begin(fab, n, i);
	}
	if (ang_is_switch(fab, n))
		return;
	n->pe = pe_at(fab, id);
	number_ctxs(fab, n);
	ang_lanes_init(fab, n);
}

bool ang_fabric_begin(void *mem, const struct ang_cfg *cfg,
		      struct ang_topo_why *why)
{
	struct ang_fabric *fab = mem;
	char line[ANG_TOPO_TEXT];
	const char *text;

	fabric_layout(fab, cfg);
	text = topo_describe(cfg, line, &fab->text_size);
	memcpy((char *)mem + fab->off_text, text, fab->text_size + 1);
	fab->cfg.text = NULL;
	return ang_topo_fill_begin(&cfg->topo, text, (char *)mem + fab->off_table, why);
}

void ang_fabric_add(void *mem, u32 router)
{
	struct ang_fabric *fab = mem;
	struct ang_topo topo = ang_fab_topo(fab);

	ang_topo_fill_router(&topo, (char *)mem + fab->off_table, router);
	node_init(fab, &topo, router);
}

bool ang_fabric_init(void *mem, const struct ang_cfg *cfg,
		     struct ang_topo_why *why)
{
	u32 router;

	if (!ang_fabric_begin(mem, cfg, why))
		return false;
	for (router = 0; router < cfg->topo.routers; router++)
		ang_fabric_add(mem, router);
	return true;
}

static bool ring_step(struct ang_view *v, struct ang_node *n,
		      struct ang_ring *r, u32 dir, u32 vc)
{
	if (vc == ANGARA_VC_UP)
		return ang_up_ring(v, n, r, dir);
	if (vc == ANGARA_VC_DOWN)
		return ang_down_ring(v, n, r, dir);
	return ang_p2p_ring(v, n, r, dir, vc);
}

/*
 * Serve ring @nr, and set @progress to true if a packet moved.
 * Return: true if the ring is empty now.
 */
static inline bool ring_turn(struct ang_view *v, struct ang_node *n, u32 nr,
			     bool *progress)
{
	u32 dir = nr / ANGARA_VC_NUM;
	u32 vc = nr % ANGARA_VC_NUM;
	struct ang_ring *r = ang_ring(v->fab, n, dir, vc);

	ang_work(v, ANG_WORK_PKT);
	if (ang_ring_head(v, r) && ring_step(v, n, r, dir, vc))
		*progress = true;
	return !ang_ring_head(v, r);
}

/*
 * As rings_step(), for the case that rings share bits.  A bit is cleared if all
 * rings that share it are found empty in one step.
 */
static bool groups_step(struct ang_view *v, struct ang_node *n)
{
	u32 shift = v->fab->ring_shift;
	u32 nr = n->at;
	bool progress = false;

	for (n->at = 0; nr < RX_BITS << shift; nr++) {
		u32 bit = nr >> shift;
		bool empty = nr == bit << shift;

		for (; n->rx >> bit & 1 && nr >> shift == bit; nr++) {
			if (ang_spent(v)) {
				n->at = nr;
				return progress;
			}
			empty &= ring_turn(v, n, nr, &progress);
		}
		if (empty)
			n->rx &= ~(1U << bit);
		nr = ((bit + 1) << shift) - 1;
	}
	return progress;
}

/*
 * Take a packet from every ring that has one.  An empty ring is skipped until
 * its producer sets the bit again; a blocked ring is tried again.
 */
static bool rings_step(struct ang_view *v, struct ang_node *n)
{
	bool progress = false;
	u64 set;

	if (v->fab->ring_shift)
		return groups_step(v, n);
	set = n->rx & ~0ULL << n->at;
	for (n->at = 0; set; set &= set - 1) {
		u32 bit = ang_lowest(set);

		if (ang_spent(v)) {
			n->at = bit;
			break;
		}
		if (ring_turn(v, n, bit, &progress))
			n->rx &= ~(1U << bit);
	}
	return progress;
}

/*
 * Issue results of trees, then credits and control packets of trees.  If the
 * step ends within this stage, ang_node.at is the tree to continue with, plus
 * ANGARA_MAX_TREES in the second part.
 */
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
	return !ang_fifo_empty(n, ANG_FIFO_ROOT) || !ang_fifo_empty(n, ANG_FIFO_PE);
}

/* Would another round find work? */
static bool has_work(const struct ang_node *n)
{
	return n->at || n->stage || n->rx || n->red_trees || n->ctl_trees || fifos_hold(n) ||
	       any_bit(n->tx) || READ_ONCE(n->db_admin) || any_bit(n->db) ||
	       n->retry_ports;
}

/** ang_node_due() - does a node have work pending in rings, trees or FIFOs? */
bool ang_node_due(const struct ang_node *n)
{
	return n->rx || n->red_trees || fifos_hold(n);
}

/**
 * ang_node_settle() - serve a node's rings, trees and FIFOs, outside of a step
 * @v: view; ang_view.stop limits the work
 * @n: node, between two steps
 *
 * The next step starts a new round with the remaining work.
 */
void ang_node_settle(struct ang_view *v, struct ang_node *n)
{
	if (n->rx && !ang_spent(v))
		rings_step(v, n);
	n->at = 0;
	if (fifos_hold(n) && !ang_spent(v))
		ang_pegroup(v, n);
	n->at = 0;
	if (n->red_trees && !ang_spent(v))
		trees_step(v, n);
	n->at = 0;
	if (fifos_hold(n) && !ang_spent(v))
		ang_pegroup(v, n);
	n->at = 0;
}

/*
 * Is the step over, after stage @stage?  If so, the next step continues the round
 * with the rest of this stage, or with the next stage.
 */
static bool stage_over(struct ang_view *v, struct ang_node *n, u32 stage)
{
	if (!ang_spent(v))
		return false;
	n->stage = (u8)(n->at ? stage : stage + 1);
	return true;
}

/*
 * Run each stage of the node once.
 * Return: true if there was progress, so another round may find work, or if
 * this round is not over.
 */
static bool one_round(struct ang_view *v, struct ang_node *n)
{
	u32 from = n->stage;
	bool moved = from && n->moved;

	if (from <= STAGE_ADMIN && READ_ONCE(n->db_admin)) {
		moved |= ang_admin(v, n);
		if (stage_over(v, n, STAGE_ADMIN))
			goto out;
	}
	if (from <= STAGE_BELLS && any_bit(n->db)) {
		ang_ctx_doorbells(v, n);
		if (stage_over(v, n, STAGE_BELLS))
			goto out;
	}
	if (from <= STAGE_RINGS && n->rx) {
		moved |= rings_step(v, n);
		if (stage_over(v, n, STAGE_RINGS))
			goto out;
	}
	if (from <= STAGE_TREES && n->red_trees | n->ctl_trees) {
		moved |= trees_step(v, n);
		if (stage_over(v, n, STAGE_TREES))
			goto out;
	}
	if (from <= STAGE_FIFOS && fifos_hold(n)) {
		moved |= ang_pegroup(v, n);
		if (stage_over(v, n, STAGE_FIFOS))
			goto out;
	}
	if (from <= STAGE_INJECT && any_bit(n->tx)) {
		moved |= ang_inject(v, n);
		if (n->at) {
			n->stage = STAGE_INJECT;
			goto out;
		}
		if (n->retry_ports && stage_over(v, n, STAGE_INJECT))
			goto out;
	}
	if (n->retry_ports) {
		moved |= ang_retry_step(v, n);
		if (n->at) {
			n->stage = STAGE_LINKS;
			goto out;
		}
	}
	n->stage = 0;
	return moved;
out:
	n->moved = moved;
	return true;
}

/**
 * ang_node_step() - run a node until it is idle or has done enough work
 * @v: view; ang_view.stop limits the work
 * @n: node, held
 *
 * Return: true if work may remain; false if the node is idle, or waits for
 * another node.
 */
bool ang_node_step(struct ang_view *v, struct ang_node *n)
{
	u32 rounds = n->unpublished ? 0 : STEP_ROUNDS;
	bool progress = true;

	while (progress && rounds-- && !ang_spent(v))
		progress = one_round(v, n);
	ang_ctx_publish(v, n);
	return (progress && has_work(n)) || n->unpublished;
}

/**
 * ang_node_tell() - publish events that occurred between two steps of a node
 * @v: view
 * @n: node, held
 *
 * Return: true if the node needs a step now.
 */
bool ang_node_tell(struct ang_view *v, struct ang_node *n)
{
	ang_ctx_publish(v, n);
	return has_work(n) || n->unpublished;
}

/**
 * ang_node_reset() - reset contexts, domains, trees and queues
 * @v: view
 * @n: node, held
 *
 * Packets that pass through the node continue.
 *
 * Return: false if the step's work is used up and there is more to do.
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
	ang_mgmt_reset(v->fab, n);
	return true;
}

/*
 * Work of a copy from or to a region: read the entry, and for each page two
 * lists; access the page.
 */
static u64 copy_work(u32 len)
{
	u32 pages = len / ANGARA_PAGE_SIZE + 2;

	return (3 + 3 * pages) * (ANG_WORK_DMA + ANG_WORK_BYTES) +
	       len / ANG_WORK_BYTES;
}

/* Work of a completion. */
#define CQE_WORK	(4 * (ANG_WORK_DMA + ANG_WORK_BYTES))

/*
 * Work of a completion, and of two searches among @ops operations: for the
 * operation, and for the next message.
 */
static u64 done_work(u32 ops)
{
	return CQE_WORK + 2 * ops * ANG_WORK_LOOK;
}

/*
 * Work of a train that bypasses links: take the target, publish its events,
 * release it, count the hops.
 */
static u64 express_work(const struct ang_cfg *cfg)
{
	return ANG_WORK_STEP + 2 * ANG_WORK_PKT + ANG_WORK_TELL_ONE +
	       2 * ANG_WORK_HOP * ANG_EXPRESS_HOPS + cfg->ops * ANG_WORK_LOOK;
}

/*
 * Work of a packet of a tree that bypasses a link: take the neighbor, publish
 * its events, release it.
 */
#define HOP_WORK	(ANG_WORK_STEP + ANG_WORK_PKT + ANG_WORK_TELL)

/* Return: links of the longest route; 0 if the topology is not known. */
static u32 topo_longest(const struct ang_cfg *cfg)
{
	return cfg->topo.nodes ? ang_topo_longest(&cfg->topo) : 0;
}

u64 ang_work_piece(const struct ang_cfg *cfg)
{
	u32 train = cfg->train * ANGARA_PACKET_BYTES;
	u32 reduce = ang_min(train, ANG_REDUCE_TRAIN * ANGARA_PACKET_BYTES);
	u64 event = ANG_WORK_IRQ + 2 * (ANG_WORK_DMA + ANG_WORK_BYTES);
	u64 base = ANG_WORK_CMD + 4 * (u64)ANG_WORK_PKT + 2 * ANG_WORK_WQE +
		   copy_work(ANGARA_MAX_INLINE) + 2 * copy_work(train) +
		   3 * done_work(cfg->ops) + event +
		   2 * (cfg->bufs + ANG_TREE_BUFS) + express_work(cfg);
	u64 deliver = ANGARA_MAX_LOCAL *
		      (ANG_WORK_PKT + copy_work(train) + ANG_WORK_DMA + event +
		       done_work(cfg->ops));
	u64 settle = ang_min(ANGARA_MAX_LOCAL + cfg->topo.nports,
			     ANG_MAX_PLACES) * (u64)ang_combine_work(reduce, ANGARA_TYPE_FLOAT,
					   ANGARA_RED_SUM);
	/*
	 * Each operation that ends is searched for in a list, which then gets
	 * shorter.
	 */
	u64 down = (u64)ANGARA_MAX_LOCAL * cfg->ops *
		   (CQE_WORK + (cfg->ops + 1U) * ANG_WORK_LOOK / 2);
	u64 ready = (u64)cfg->ctxs * (1 + cfg->ops) * ANG_WORK_LOOK;
	/*
	 * The worst window consists of trains of one packet, one of them with a
	 * wrong checksum.
	 */
	u64 retry = ANG_RETRY_TRAINS * ANG_WORK_PKT + ANG_RETRY_WINDOW * 8 +
		    4 * (ANGARA_PACKET_BYTES + sizeof(struct ang_pkt) + 8) +
		    (u64)ANGARA_VC_NUM * cfg->depth * ANG_WORK_PKT;
	/*
	 * Two checks of a path there and back: for an operation, and for an
	 * incoming request.
	 */
	u64 ways = 4ULL * ANG_WORK_HOP * topo_longest(cfg);
	u64 credit = (u64)cfg->trees * ANGARA_MAX_LOCAL * ANG_WORK_DMA;
	/*
	 * A packet that bypasses a link is delivered to the participants of the
	 * neighbor, then to the participants of this node.
	 */
	u64 most = 2 * deliver;

	if (settle > most)
		most = settle;
	if (down > most)
		most = down;
	if (ready > most)
		most = ready;
	if (credit > most)
		most = credit;
	return base + HOP_WORK + retry + ways + most;
}

u64 ang_work_bound(const struct ang_cfg *cfg, u32 budget)
{
	return budget + ANG_WORK_STEP + ANG_WORK_TURN + ang_work_piece(cfg) +
	       ANG_WORK_TELL;
}
