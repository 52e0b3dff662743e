// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a simulation: nodes, pools, trees.
 */
#include <errno.h>
#include "ang_model.h"
#include "fab.h"
#include "sim.h"

/* Ends the program if there is no memory.  Return: @mem. */
static void *need(void *mem, size_t n, size_t size)
{
	if (mem)
		return mem;
	fprintf(stderr, "angara-sim: no memory for %zu x %zu bytes\n", n, size);
	exit(1);
}

/**
 * sim_zalloc() - allocate zeroed memory that takes no pages until it is used
 * @n: number of elements
 * @size: size of each
 *
 * Return: memory; the program exits if there is none.
 */
void *sim_zalloc(size_t n, size_t size)
{
	return need(calloc(n ? n : 1, size), n, size);
}

/** sim_zalloc_lines() - allocate zeroed structures that are ____cacheline_aligned */
void *sim_zalloc_lines(size_t n, size_t size)
{
	return memset(need(aligned_alloc(64, n * size), n, size), 0, n * size);
}

/* Double a pool; element [0] stays unused. */
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

/** sim_pkt_new() - allocate a packet; pointers to packets become invalid */
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

/** sim_op_new() - allocate an operation; pointers to operations become invalid */
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

/** sim_credit_new() - allocate a credit; pointers to credits become invalid */
u32 sim_credit_new(struct sim_part *p)
{
	u32 c = p->cr_free;

	if (!c) {
		u32 i = p->crs ? p->crs : 1;

		p->cr = pool_grow(p->cr, &p->crs, sizeof(*p->cr));
		for (; i < p->crs; i++) {
			p->cr[i].next = p->cr_free;
			p->cr_free = i;
		}
		c = p->cr_free;
	}
	p->cr_free = p->cr[c].next;
	p->cr_live++;
	return c;
}

void sim_credit_free(struct sim_part *p, u32 c)
{
	p->cr[c].next = p->cr_free;
	p->cr_free = c;
	p->cr_live--;
}

static u64 *flit_times(u64 rate, u32 max)
{
	u64 *ps = sim_zalloc(max + 1, sizeof(*ps));
	u32 i;

	/* 128 bits x 10^12 x 65535 flits fits into 64 bits. */
	for (i = 1; i <= max; i++)
		ps[i] = sim_max(1, (u64)i * ANGARA_FLIT_BYTES * 8 *
				   1000000ULL / (rate / 1000000ULL));
	return ps;
}

static bool has_coord(const struct ang_topo *t)
{
	return t->kind == ANG_TOPO_TORUS && t->ndims <= ANG_MAX_DIMS;
}

static void cable(struct sim *s, u32 router, u32 port, struct sim_end *e)
{
	const struct ang_topo *t = &s->topo;
	u32 far = 0;

	e->router = ang_topo_peer(t, router, port, &far);
	if (e->router == ANG_NONE)
		return;
	e->port = (u16)far;
	e->depth = (u32)(ang_topo_is_switch(t, e->router) ?
			 s->cfg.switch_buffer : s->cfg.buffer) * sim_longest(s);
	e->latency = ang_topo_is_switch(t, router) ||
		     ang_topo_is_switch(t, e->router) ?
		     s->cfg.switch_latency : s->cfg.link_latency;
}

static void topology(struct sim *s)
{
	u32 i, port;

	s->end = sim_zalloc((size_t)s->nodes * s->nports, sizeof(*s->end));
	for (i = 0; i < s->nodes; i++)
		for (port = 0; port < s->nports; port++)
			cable(s, s->base + i, port,
			      &s->end[(size_t)i * s->nports + port]);
	if (!has_coord(&s->topo))
		return;
	s->coord = sim_zalloc(s->topo.nodes, sizeof(*s->coord));
	for (i = 0; i < s->topo.nodes; i++)
		ang_topo_coord(&s->topo, i, s->coord[i]);
}

/**
 * sim_seed() - compute the initial state of a node's random numbers
 * @cfg: parameters
 * @id: node of the fabric
 *
 * Return: a state that is not 0 and unrelated to those of neighbouring nodes.
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
	return (u32)((u64)s->topo.routers * part / s->nparts);
}

static void partitions(struct sim *s)
{
	u32 i;

	s->owner_lo = sim_zalloc(s->nparts + 1, sizeof(*s->owner_lo));
	for (i = 0; i <= s->nparts; i++)
		s->owner_lo[i] = part_start(s, i);
	s->part = sim_zalloc_lines(s->threads, sizeof(*s->part));
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
 * @nparts: partitions of all processes, not more than routers
 * @threads: partitions of this process
 * @trees: TreeIds of a router
 *
 * Return: 0; -EINVAL; -E2BIG: the fabric is too large for adaptive routing.
 */
int sim_init(struct sim *s, const struct sim_cfg *cfg, u32 first_part,
	     u32 nparts, u32 threads, u32 trees)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	s->cfg = *cfg;
	if (cfg->fabric)
		s->topo = cfg->fabric->topo;
	else if (!ang_topo_init(&s->topo, cfg->torus.ndims, cfg->torus.dims))
		return -EINVAL;
	if (nparts > s->topo.routers)
		return -EINVAL;
	s->nparts = nparts;
	s->part0 = first_part;
	s->threads = threads;
	s->base = part_start(s, first_part);
	s->nodes = part_start(s, first_part + threads) - s->base;
	s->nports = s->topo.nports;
	s->src0 = s->nports * SIM_NVC;
	s->modules = sim_cfg_modules(cfg);
	s->room = trees;
	s->nsrc = sim_result(s, trees);
	s->words = (s->nsrc + 63) / 64;
	sim_set_longest(s, sim_longest(s));
	s->window = cfg->link_latency;
	if (s->topo.routers > s->topo.nodes && cfg->switch_latency < s->window)
		s->window = cfg->switch_latency;
	s->max_flits = (u32)sim_max(sim_longest(s), sim_credit_flits(s));
	s->link_ps = flit_times(cfg->link_rate, s->max_flits);
	s->host_ps = flit_times(cfg->host_rate, s->max_flits);
	s->header_ps = cfg->host_header * 8 * 1000000ULL /
		       (cfg->host_rate / 1000000ULL);
	topology(s);
	s->out_stride = (u32)(sizeof(struct sim_out) + s->words * sizeof(u64));
	s->fifo = sim_zalloc((size_t)s->nodes * s->nsrc, sizeof(*s->fifo));
	s->out = sim_zalloc((size_t)s->nodes * SIM_OUT_NUM(s), s->out_stride);
	s->vc = sim_zalloc((size_t)s->nodes * s->nports * SIM_NVC,
			   sizeof(*s->vc));
	s->nic = sim_zalloc(s->nodes, sizeof(*s->nic));
	s->inj_free = sim_zalloc((size_t)s->nodes * s->modules,
				 sizeof(*s->inj_free));
	s->pe_free = sim_zalloc((size_t)s->nodes * s->modules,
				sizeof(*s->pe_free));
	s->ev_head = sim_zalloc(s->nodes, sizeof(*s->ev_head));
	for (i = 0; i < s->nodes; i++)
		s->nic[i].rng = sim_seed(cfg, s->base + i);
	partitions(s);
	return sim_routes(s);
}

static int rows_check(const struct sim *s, const struct angara_tree_row *rows)
{
	u32 bad, count;

	return (int)ang_tree_check(&s->topo, rows, &bad, &count);
}

/**
 * sim_add_tree() - add a tree
 * @s: simulation
 * @tree: TreeId
 * @root: node
 * @pe: participants of each node of the fabric
 *
 * On a torus of up to four dimensions the tree follows dimension order, on
 * other fabrics a breadth-first search from the root.
 * Return: 0 or -EINVAL.
 */
int sim_add_tree(struct sim *s, u32 tree, u32 root, const u16 *pe)
{
	struct angara_tree_row *rows;
	u32 i;
	int n;

	rows = sim_zalloc(s->topo.routers, sizeof(*rows));
	s->rows[tree] = rows;
	if (s->cfg.fabric) {
		n = angara_fabric_tree(s->cfg.fabric, root, pe, NULL, rows);
		for (i = 0; i < s->topo.routers; i++)
			rows[i].tree = (u8)tree;
	} else {
		n = angara_tree_build(&s->cfg.torus, root, pe, tree, rows);
	}
	if (n < 0 || rows_check(s, rows))
		return -EINVAL;
	if (tree >= s->ntrees)
		s->ntrees = tree + 1;
	return 0;
}

/**
 * sim_set_rows() - add a tree by its rows
 * @s: simulation
 * @tree: TreeId
 * @rows: one per router of the fabric, from malloc(); @s owns them
 *
 * Return: 0, or the ANGARA_TREE_RULE_* that the rows break.
 */
int sim_set_rows(struct sim *s, u32 tree, struct angara_tree_row *rows)
{
	free(s->rows[tree]);
	s->rows[tree] = rows;
	if (tree >= s->ntrees)
		s->ntrees = tree + 1;
	return rows_check(s, rows);
}

/** sim_need_reducers() - allocate Reducers, for a workload with reductions */
void sim_need_reducers(struct sim *s)
{
	s->tree = sim_zalloc((size_t)s->nodes * s->ntrees, sizeof(*s->tree));
}

/** sim_lay_rows() - copy the rows of a router next to each other */
void sim_lay_rows(struct sim *s)
{
	u32 node, tree;

	s->row = sim_zalloc((size_t)s->nodes * s->ntrees, sizeof(*s->row));
	for (tree = 0; tree < s->ntrees; tree++)
		for (node = 0; s->rows[tree] && node < s->nodes; node++)
			s->row[(size_t)node * s->ntrees + tree] =
				s->rows[tree][s->base + node];
}

/**
 * sim_set_longest() - set the length of the longest packet of the run; on tori
 * each packet occupies that much room
 */
void sim_set_longest(struct sim *s, u32 flits)
{
	if (s->topo.kind == ANG_TOPO_TORUS)
		s->place = flits;
}

/** sim_need_state() - allocate zeroed memory per node for the workload */
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
		free(p->cr);
		if (p->trace)
			free(p->trace->rec);
		free(p->trace);
	}
	for (i = 0; i < ANGARA_MAX_TREES; i++)
		free(s->rows[i]);
	for (i = 0; s->inbox && i < s->threads; i++)
		free(s->inbox[i].m);
	free(s->inbox);
	free(s->part);
	free(s->owner_lo);
	free(s->watched);
	free(s->link_ps);
	free(s->host_ps);
	free(s->end);
	free(s->fault);
	free(s->retry);
	free(s->down);
	free(s->coord);
	free(s->route);
	free(s->near);
	free(s->fifo);
	free(s->out);
	free(s->vc);
	free(s->tree);
	free(s->row);
	free(s->nic);
	free(s->inj_free);
	free(s->pe_free);
	free(s->ev_head);
	free(s->state);
}
