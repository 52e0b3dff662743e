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

/*
 * Ports 2d and 2d + 1 lead to the next higher and the next lower coordinate of
 * dimension d; the first dimension changes fastest in node numbers.
 */
unsigned int at_neighbor(const struct at_fabric *f, unsigned int node,
			 unsigned int port)
{
	unsigned int dim = port / 2, size = f->dims[dim], stride = 1, i, at, next;

	for (i = 0; i < dim; i++)
		stride *= f->dims[i];
	at = node / stride % size;
	next = (at + (port % 2 ? size - 1 : 1)) % size;
	return node - at * stride + next * stride;
}

/*
 * Return: the first port of the path in dimension order, which goes the shorter
 * way round each ring; ANGARA_PORT_NONE: the path is empty.
 */
static unsigned int path_port(const struct at_fabric *f, unsigned int from,
			      unsigned int to)
{
	unsigned int dim, size, up;

	for (dim = 0; dim < f->ndims; dim++) {
		size = f->dims[dim];
		up = (to % size + size - from % size) % size;
		if (up)
			return 2 * dim + (up > size - up);
		from /= size;
		to /= size;
	}
	return ANGARA_PORT_NONE;
}

/* Adds the path from @root. Return: number of nodes that are new in the tree. */
static int add_path(const struct at_fabric *f, unsigned int root,
		    unsigned int node, struct angara_tree_row *rows)
{
	unsigned int at = root, next, port;
	int added = 0;

	while ((port = path_port(f, at, node)) != ANGARA_PORT_NONE) {
		next = at_neighbor(f, at, port);
		if (!at_tree_has(&rows[next])) {
			rows[next].to_root = port ^ 1;
			rows[at].ports |= 1ULL << port;
			rows[at].port_sum++;
			added++;
		}
		at = next;
	}
	return added;
}

bool at_tree_has(const struct angara_tree_row *row)
{
	return row->is_root || row->to_root != ANGARA_PORT_NONE;
}

/* Paths from one node in dimension order form a tree. */
int at_tree_rows(struct at_group *g, unsigned int tree, unsigned int root,
		 const uint16_t *pe, struct angara_tree_row *rows)
{
	unsigned int i;
	int n = 1;

	for (i = 0; i < g->f.nodes; i++)
		rows[i] = (struct angara_tree_row) {
			.tree = tree, .to_root = ANGARA_PORT_NONE, .pe = pe[i],
			.pkey = g->pkey, .epoch = 1,
		};
	rows[root].is_root = 1;
	for (i = 0; i < g->f.nodes; i++)
		if (pe[i])
			n += add_path(&g->f, root, i, rows);
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
		if (!at_tree_has(&rows[i]))
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
	if (!m->mem)
		return -ENOMEM;
	m->key = at_mr(&m->x, m->mem, len, ANGARA_ACCESS_ALL);
	return m->key;
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

/* The adapter takes entries in order: when the put ends, @w is taken. */
int at_begin(struct at_member *m, const struct angara_wqe *w)
{
	struct angara_wqe put = at_put(&m->x, m->key, 0, m->key, 0, 0);
	int ret = at_post(&m->x, w, NULL);

	if (!ret)
		ret = at_start(m, &put);
	return ret ? ret : at_finish(m);
}

int at_finish(struct at_member *m)
{
	struct angara_cqe cqe;
	int ret = at_wait_cqe(&m->x, &cqe, AT_DEADLINE_MS);

	return ret ? ret : le16toh(cqe.status);
}

static bool is_float(unsigned int type)
{
	return type == ANGARA_TYPE_FLOAT || type == ANGARA_TYPE_DOUBLE ||
	       type == ANGARA_TYPE_FLOAT_LOC || type == ANGARA_TYPE_DOUBLE_LOC;
}

static unsigned int value_size(unsigned int type)
{
	switch (type) {
	case ANGARA_TYPE_INT32:
	case ANGARA_TYPE_UINT32:
	case ANGARA_TYPE_FLOAT:
	case ANGARA_TYPE_INT32_LOC:
	case ANGARA_TYPE_FLOAT_LOC:
		return 4;
	default:
		return 8;
	}
}

unsigned int at_elem_size(unsigned int type)
{
	unsigned int pair = type >= ANGARA_TYPE_INT32_LOC ? 2 : 1;

	return pair * value_size(type);
}

bool at_reduction(unsigned int type, unsigned int op)
{
	if (type >= ANGARA_TYPE_INT32_LOC)
		return op == ANGARA_RED_MINLOC || op == ANGARA_RED_MAXLOC;
	return op <= (is_float(type) ? ANGARA_RED_PROD : ANGARA_RED_XOR);
}

/**
 * struct elem - an element of any type
 * @i: value of an integer
 * @f: value of a float
 * @index: index of a pair
 */
struct elem {
	uint64_t i;
	double f;
	int32_t index;
};

/*
 * Return: element @i of member @who.  Integers are from the whole range, of both
 * signs: sums overflow.  Floats are powers of two: sums and products of 32 of
 * them are exact, so the order in which they are combined does not matter.
 */
static struct elem value(unsigned int type, size_t i, unsigned int who)
{
	uint64_t v = (i + 1) * 0x9E3779B97F4A7C15ULL + who * 0xD1B54A32D192ED03ULL;
	struct elem e = { .index = (int32_t)who };

	v ^= v >> 29;
	e.f = (double)(1U << (v >> 40) % 5) / 4;
	if (v >> 50 & 1)
		e.f = -e.f;
	/* Some values are equal, so that the index decides. */
	e.i = type >= ANGARA_TYPE_INT32_LOC ? v % 5 - 2 : v;
	return e;
}

static void put_value(void *at, unsigned int type, const struct elem *e)
{
	uint64_t v64 = htole64(e->i);
	uint32_t v32 = htole32((uint32_t)e->i);
	float f32 = (float)e->f;

	if (is_float(type)) {
		memcpy(&v64, &e->f, sizeof(v64));
		memcpy(&v32, &f32, sizeof(v32));
	}
	if (value_size(type) == 4)
		memcpy(at, &v32, sizeof(v32));
	else
		memcpy(at, &v64, sizeof(v64));
}

static void put(void *buf, unsigned int type, size_t i, const struct elem *e)
{
	unsigned int size = at_elem_size(type);
	char *at = (char *)buf + i * size;
	int32_t index = (int32_t)htole32((uint32_t)e->index);

	memset(at, 0, size);
	put_value(at, type, e);
	if (type >= ANGARA_TYPE_INT32_LOC)
		memcpy(at + value_size(type), &index, sizeof(index));
}

void at_give(void *buf, unsigned int type, size_t count, unsigned int who)
{
	struct elem e;
	size_t i;

	for (i = 0; i < count; i++) {
		e = value(type, i, who);
		put(buf, type, i, &e);
	}
}

static bool less(unsigned int type, const struct elem *a,
		 const struct elem *b)
{
	switch (type) {
	case ANGARA_TYPE_INT32:
	case ANGARA_TYPE_INT32_LOC:
		return (int32_t)a->i < (int32_t)b->i;
	case ANGARA_TYPE_UINT32:
		return (uint32_t)a->i < (uint32_t)b->i;
	case ANGARA_TYPE_INT64:
	case ANGARA_TYPE_INT64_LOC:
		return (int64_t)a->i < (int64_t)b->i;
	case ANGARA_TYPE_UINT64:
		return a->i < b->i;
	default:
		return a->f < b->f;
	}
}

static struct elem combine(unsigned int type, unsigned int op, struct elem a,
			   struct elem b)
{
	struct elem e = a;

	switch (op) {
	case ANGARA_RED_SUM:
		e.i += b.i;
		e.f += b.f;
		return e;
	case ANGARA_RED_PROD:
		e.i *= b.i;
		e.f *= b.f;
		return e;
	case ANGARA_RED_AND:
		e.i &= b.i;
		return e;
	case ANGARA_RED_OR:
		e.i |= b.i;
		return e;
	case ANGARA_RED_XOR:
		e.i ^= b.i;
		return e;
	case ANGARA_RED_MIN:
	case ANGARA_RED_MINLOC:
		if (less(type, &a, &b) || less(type, &b, &a))
			return less(type, &a, &b) ? a : b;
		return a.index < b.index ? a : b;
	default:
		if (less(type, &a, &b) || less(type, &b, &a))
			return less(type, &a, &b) ? b : a;
		return a.index < b.index ? a : b;
	}
}

void at_reduce(void *out, unsigned int type, unsigned int op, size_t count,
	       const unsigned int *who, unsigned int n)
{
	unsigned int k;
	struct elem e;
	size_t i;

	for (i = 0; i < count; i++) {
		e = value(type, i, who[0]);
		for (k = 1; k < n; k++)
			e = combine(type, op, e, value(type, i, who[k]));
		put(out, type, i, &e);
	}
}
