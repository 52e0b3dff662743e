// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a simulation: what nodes are made of, pools, trees.
 */
#include <errno.h>
#include "sim.h"

/**
 * sim_zalloc() - zeroed memory that costs nothing until it is used
 * @n: how many
 * @size: of what size
 *
 * Return: memory; the program ends if there is none.
 */
void *sim_zalloc(size_t n, size_t size)
{
	void *mem = calloc(n ? n : 1, size);

	if (mem)
		return mem;
	fprintf(stderr, "angara-sim: no memory for %zu x %zu bytes\n", n, size);
	exit(1);
}

/* Twice as much of a pool; [0] is never handed out. */
static void *pool_grow(void *pool, u32 *count, size_t size)
{
	u32 more = *count ? *count : 256;
	char *mem = realloc(pool, (*count + (size_t)more) * size);

	if (!mem || *count > (1U << 31)) {
		fprintf(stderr, "angara-sim: out of memory for packets\n");
		exit(1);
	}
	memset(mem + *count * size, 0, more * size);
	*count += more;
	return mem;
}

/** sim_pkt_new() - a packet; pointers to others may move */
u32 sim_pkt_new(struct sim_part *p)
{
	u32 k = p->pkt_free;

	if (!k) {
		u32 i = p->pkts ? p->pkts : 1;

		p->pkt = pool_grow(p->pkt, &p->pkts, sizeof(*p->pkt));
		for (; i < p->pkts; i++) {
			p->pkt[i].next = p->pkt_free;
			p->pkt_free = i;
		}
		k = p->pkt_free;
	}
	p->pkt_free = p->pkt[k].next;
	p->pkt_live++;
	return k;
}

void sim_pkt_free(struct sim_part *p, u32 k)
{
	p->pkt[k].next = p->pkt_free;
	p->pkt_free = k;
	p->pkt_live--;
}

/** sim_op_new() - an operation; pointers to others may move */
u32 sim_op_new(struct sim_part *p)
{
	u32 o = p->op_free;

	if (!o) {
		u32 i = p->ops ? p->ops : 1;

		p->op = pool_grow(p->op, &p->ops, sizeof(*p->op));
		for (; i < p->ops; i++) {
			p->op[i].next = p->op_free;
			p->op_free = i;
		}
		o = p->op_free;
	}
	p->op_free = p->op[o].next;
	p->op_live++;
	return o;
}

void sim_op_free(struct sim_part *p, u32 o)
{
	p->op[o].next = p->op_free;
	p->op_free = o;
	p->op_live--;
}

static u64 *flit_times(u64 rate, u32 max)
{
	u64 *ps = sim_zalloc(max + 1, sizeof(*ps));
	u32 i;

	/* 128 bits x 10^12 fit with 65535 flits into 64 bits. */
	for (i = 1; i <= max; i++)
		ps[i] = sim_max(1, (u64)i * ANGARA_FLIT_BYTES * 8 *
				   1000000ULL / (rate / 1000000ULL));
	return ps;
}

static void topology(struct sim *s)
{
	u32 i, dir;

	s->nb = sim_zalloc((size_t)s->nodes * s->ndirs, sizeof(*s->nb));
	for (i = 0; i < s->nodes; i++)
		for (dir = 0; dir < s->ndirs; dir++)
			s->nb[(size_t)i * s->ndirs + dir] =
				ang_topo_neighbor(&s->topo, s->base + i, dir);
	s->coord = sim_zalloc(s->topo.nodes, sizeof(*s->coord));
	for (i = 0; i < s->topo.nodes; i++)
		ang_topo_coord(&s->topo, i, s->coord[i]);
}

/**
 * sim_seed() - where a node's random numbers start
 * @cfg: parameters
 * @id: node of the torus
 *
 * Return: not 0; of neighbouring nodes nothing alike.
 */
u64 sim_seed(const struct sim_cfg *cfg, u32 id)
{
	u64 x = (cfg->seed << 20 ^ id) + 0x9E3779B97F4A7C15ULL;

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ULL;
	x = (x ^ x >> 27) * 0x94D049BB133111EBULL;
	return (x ^ x >> 31) | 1;
}

static u32 part_start(const struct sim *s, u32 part)
{
	return (u32)((u64)s->topo.nodes * part / s->nparts);
}

static void partitions(struct sim *s)
{
	u32 i;

	s->owner_lo = sim_zalloc(s->nparts + 1, sizeof(*s->owner_lo));
	for (i = 0; i <= s->nparts; i++)
		s->owner_lo[i] = part_start(s, i);
	s->part = aligned_alloc(64, s->threads * sizeof(*s->part));
	if (!s->part)
		exit(1);
	memset(s->part, 0, s->threads * sizeof(*s->part));
	for (i = 0; i < s->threads; i++) {
		struct sim_part *p = &s->part[i];

		p->sim = s;
		p->index = s->part0 + i;
		p->lo = s->owner_lo[p->index] - s->base;
		p->hi = s->owner_lo[p->index + 1] - s->base;
		p->node = ANG_NONE;
		p->acc.first = SIM_NEVER;
		p->active = sim_zalloc(p->hi - p->lo, sizeof(*p->active));
		p->out = sim_zalloc(s->nparts, sizeof(*p->out));
	}
}

/**
 * sim_init() - make a simulation without trees and workload
 * @s: out
 * @cfg: parameters, checked
 * @first_part: first partition of this process
 * @nparts: partitions of all processes, not more than nodes
 * @threads: partitions of this process
 *
 * Return: 0 or -EINVAL.
 */
int sim_init(struct sim *s, const struct sim_cfg *cfg, u32 first_part,
	     u32 nparts, u32 threads)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	s->cfg = *cfg;
	if (!ang_topo_init(&s->topo, cfg->torus.ndims, cfg->torus.dims))
		return -EINVAL;
	if (nparts > s->topo.nodes)
		return -EINVAL;
	s->nparts = nparts;
	s->part0 = first_part;
	s->threads = threads;
	s->base = part_start(s, first_part);
	s->nodes = part_start(s, first_part + threads) - s->base;
	s->ndirs = 2 * s->topo.ndims;
	s->src0 = s->ndirs * SIM_NVC;
	s->nsrc = s->src0 + SIM_SRC_NUM;
	s->window = cfg->link_latency;
	s->max_flits = (u32)sim_max(cfg->train * (1 + (cfg->packet + 15) / 16), 9);
	s->link_ps = flit_times(cfg->link_rate, s->max_flits);
	s->host_ps = flit_times(cfg->host_rate, s->max_flits);
	s->header_ps = cfg->host_header * 8 * 1000000ULL /
		       (cfg->host_rate / 1000000ULL);
	topology(s);
	s->vc_stride = (u32)(sizeof(struct sim_vc) + cfg->buffer * sizeof(u64));
	s->fifo = sim_zalloc((size_t)s->nodes * s->nsrc, sizeof(*s->fifo));
	s->out = sim_zalloc((size_t)s->nodes * SIM_OUT_NUM, sizeof(*s->out));
	s->vc = sim_zalloc((size_t)s->nodes * s->ndirs * SIM_NVC, s->vc_stride);
	s->nic = sim_zalloc(s->nodes, sizeof(*s->nic));
	s->ev_head = sim_zalloc(s->nodes, sizeof(*s->ev_head));
	for (i = 0; i < s->nodes; i++)
		s->nic[i].rng = sim_seed(cfg, s->base + i);
	partitions(s);
	return 0;
}

/**
 * sim_add_tree() - lay a tree over the torus
 * @s: simulation
 * @tree: TreeId
 * @root: node
 * @pe: participants of each node of the torus
 *
 * Return: 0 or -EINVAL.
 */
int sim_add_tree(struct sim *s, u32 tree, u32 root, const u16 *pe)
{
	struct angara_tree_row *rows;

	rows = sim_zalloc(s->topo.nodes, sizeof(*rows));
	s->rows[tree] = rows;
	if (angara_tree_build(&s->cfg.torus, root, pe, tree, rows) < 0 ||
	    angara_tree_check(&s->cfg.torus, rows, NULL))
		return -EINVAL;
	if (tree >= s->ntrees)
		s->ntrees = tree + 1;
	return 0;
}

/**
 * sim_set_rows() - a tree whose rows are given
 * @s: simulation
 * @tree: TreeId
 * @rows: one per node of the torus, from malloc(); taken over
 *
 * Return: 0 or the ANGARA_TREE_RULE_* that they break.
 */
int sim_set_rows(struct sim *s, u32 tree, struct angara_tree_row *rows)
{
	free(s->rows[tree]);
	s->rows[tree] = rows;
	if (tree >= s->ntrees)
		s->ntrees = tree + 1;
	return angara_tree_check(&s->cfg.torus, rows, NULL);
}

/** sim_need_reducers() - there will be reductions on the trees there are */
void sim_need_reducers(struct sim *s)
{
	s->tree = sim_zalloc((size_t)s->nodes * s->ntrees, sizeof(*s->tree));
}

/** sim_lay_rows() - put the rows of a node side by side, where it finds them */
void sim_lay_rows(struct sim *s)
{
	u32 node, tree;

	s->row = sim_zalloc((size_t)s->nodes * s->ntrees, sizeof(*s->row));
	for (tree = 0; tree < s->ntrees; tree++)
		for (node = 0; s->rows[tree] && node < s->nodes; node++)
			s->row[(size_t)node * s->ntrees + tree] =
				s->rows[tree][s->base + node];
}

/** sim_need_state() - the workload wants zeroed memory per node */
void sim_need_state(struct sim *s, u32 size)
{
	s->state_size = (size + 7) & ~7U;
	s->state = sim_zalloc(s->nodes, s->state_size);
}

void sim_free(struct sim *s)
{
	u32 i, j;

	for (i = 0; i < s->threads; i++) {
		struct sim_part *p = &s->part[i];

		for (j = 0; j < SIM_WINDOWS; j++)
			free(p->win[j].ev);
		for (j = 0; j < s->nparts; j++)
			free(p->out[j].m);
		free(p->heap.ev);
		free(p->cur.ev);
		free(p->active);
		free(p->out);
		free(p->pkt);
		free(p->op);
		if (p->trace)
			free(p->trace->rec);
		free(p->trace);
	}
	for (i = 0; i < ANG_DEF_TREES; i++)
		free(s->rows[i]);
	for (i = 0; s->inbox && i < s->threads; i++)
		free(s->inbox[i].m);
	free(s->inbox);
	free(s->part);
	free(s->owner_lo);
	free(s->watched);
	free(s->link_ps);
	free(s->host_ps);
	free(s->nb);
	free(s->coord);
	free(s->fifo);
	free(s->out);
	free(s->vc);
	free(s->tree);
	free(s->row);
	free(s->nic);
	free(s->ev_head);
	free(s->state);
}
