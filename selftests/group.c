// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trees over a torus, participants, and the reference for reductions.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "group.h"

int at_group_open(struct at_group *g)
{
	struct angara_query q;
	unsigned int i;
	int ret;

	memset(g, 0, sizeof(*g));
	ret = at_fabric_find(&g->f, 8);
	if (ret)
		return ret;
	g->topo.ndims = g->f.ndims;
	memcpy(g->topo.dims, g->f.dims, sizeof(g->topo.dims));
	for (i = 0; i < g->f.nodes; i++) {
		g->fd[i] = at_open(g->f.dev[i]);
		if (g->fd[i] < 0)
			return g->fd[i];
	}
	ret = at_query(g->fd[0], &q);
	g->pkey = q.pkey;
	return ret;
}

void at_group_close(struct at_group *g)
{
	unsigned int i;

	for (i = 0; i < g->f.nodes; i++)
		if (g->fd[i] > 0)
			close(g->fd[i]);
	g->f.nodes = 0;
}

int at_tree_rows(struct at_group *g, unsigned int tree, unsigned int root,
		 const uint16_t *pe, struct angara_tree_row *rows)
{
	unsigned int i;
	int n;

	n = angara_tree_build(&g->topo, root, pe, tree, rows);
	for (i = 0; i < g->f.nodes; i++) {
		rows[i].pkey = g->pkey;
		rows[i].epoch = 1;
	}
	return n;
}

int at_tree_lay(struct at_group *g, unsigned int tree, unsigned int root,
		const uint16_t *pe)
{
	struct angara_tree_row rows[AT_MAX_NODES];
	unsigned int i;
	int n, ret;

	n = at_tree_rows(g, tree, root, pe, rows);
	for (i = 0; i < g->f.nodes && n > 0; i++) {
		if (!angara_tree_has(&rows[i]))
			continue;
		ret = at_tree_set(g->fd[i], &rows[i], 0);
		if (ret)
			return ret;
	}
	return n;
}

void at_tree_lift(struct at_group *g, unsigned int tree)
{
	unsigned int i;

	for (i = 0; i < g->f.nodes; i++)
		at_tree_clear(g->fd[i], tree);
}

int at_member_open(struct at_member *m, struct at_group *g, unsigned int node,
		   size_t len)
{
	const struct at_attr attr = { .sq = 256, .cq = 512 };
	int ret;

	memset(m, 0, sizeof(*m));
	ret = at_ctx_open(&m->x, g->f.dev[node], &attr);
	if (ret)
		return ret;
	m->len = len;
	m->mem = at_pages(len);
	return m->mem ? at_mr(&m->x, m->mem, len, ANGARA_ACCESS_ALL) : -ENOMEM;
}

void at_member_close(struct at_member *m)
{
	at_ctx_close(&m->x);
	if (m->mem)
		munmap(m->mem, m->len);
	m->mem = NULL;
}

int at_start(struct at_member *m, const struct angara_wqe *w)
{
	int ret = at_post(&m->x, w, NULL);

	return ret ? ret : at_kick(&m->x);
}

int at_finish(struct at_member *m)
{
	struct angara_cqe cqe;
	int ret = at_wait_cqe(&m->x, &cqe, AT_DEADLINE_MS);

	return ret ? ret : le16toh(cqe.status);
}

unsigned int at_elem_size(unsigned int type)
{
	return type <= ANGARA_TYPE_UINT32 ? 4 : 8;
}

/* Values all over the range, so that sums overflow and signs differ. */
static uint64_t value(size_t i, unsigned int who)
{
	uint64_t v = (i + 1) * 0x9E3779B97F4A7C15ULL + who * 0xD1B54A32D192ED03ULL;

	return v ^ (v >> 29);
}

static void put(void *buf, unsigned int type, size_t i, uint64_t v)
{
	if (at_elem_size(type) == 4)
		((uint32_t *)buf)[i] = htole32((uint32_t)v);
	else
		((uint64_t *)buf)[i] = htole64(v);
}

void at_give(void *buf, unsigned int type, size_t count, unsigned int who)
{
	size_t i;

	for (i = 0; i < count; i++)
		put(buf, type, i, value(i, who));
}

static bool less(unsigned int type, uint64_t a, uint64_t b)
{
	switch (type) {
	case ANGARA_TYPE_INT32:
		return (int32_t)a < (int32_t)b;
	case ANGARA_TYPE_UINT32:
		return (uint32_t)a < (uint32_t)b;
	case ANGARA_TYPE_INT64:
		return (int64_t)a < (int64_t)b;
	default:
		return a < b;
	}
}

static uint64_t combine(unsigned int type, unsigned int op, uint64_t a,
			uint64_t b)
{
	switch (op) {
	case ANGARA_RED_SUM:
		return a + b;
	case ANGARA_RED_MIN:
		return less(type, a, b) ? a : b;
	case ANGARA_RED_MAX:
		return less(type, a, b) ? b : a;
	case ANGARA_RED_PROD:
		return a * b;
	case ANGARA_RED_AND:
		return a & b;
	case ANGARA_RED_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

void at_reduce(void *out, unsigned int type, unsigned int op, size_t count,
	       const unsigned int *who, unsigned int n)
{
	unsigned int k;
	uint64_t v;
	size_t i;

	for (i = 0; i < count; i++) {
		v = value(i, who[0]);
		for (k = 1; k < n; k++)
			v = combine(type, op, v, value(i, who[k]));
		put(out, type, i, v);
	}
}
