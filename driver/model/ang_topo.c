// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Topologies: descriptions, tables, and functions that all kinds share. */
#include "ang_topo_int.h"

/* Name of each kind in descriptions, and its operations. */
static const struct {
	const char *name;
	const struct ang_topo_ops *ops;
} kinds[ANG_TOPO_KINDS] = {
	[ANG_TOPO_TORUS] = { "torus:", &ang_topo_torus },
	[ANG_TOPO_MESH] = { "mesh:", &ang_topo_mesh },
	[ANG_TOPO_HYPERCUBE] = { "hypercube:", &ang_topo_hypercube },
	[ANG_TOPO_MKNS] = { "mkns:", &ang_topo_mkns },
	[ANG_TOPO_KNS] = { "kns:", &ang_topo_mkns },
	[ANG_TOPO_FATTREE] = { "fattree:", &ang_topo_fattree },
	[ANG_TOPO_GRAPH] = { "graph ", &ang_topo_graph },
};

static const struct ang_topo_ops *topo_ops(const struct ang_topo *topo)
{
	return kinds[topo->kind].ops;
}

#define TOPO_DIGITS	10	/* most characters of a number */

/*
 * Reads a number from 1 to @max. Return: the text after the number, NULL if the
 * text does not begin with such a number.
 */
const char *ang_topo_number(const char *text, u32 max, u32 *value)
{
	const char *start = text;
	u32 val = 0;

	while (*text >= '0' && *text <= '9') {
		if (text - start == TOPO_DIGITS)
			return NULL;
		val = 10 * val + (u32)(*text++ - '0');
		if (val > max)
			return NULL;
	}
	*value = val;
	return val ? text : NULL;
}

/*
 * Reads sizes joined by "x".  @n: out: number of sizes.  Return: the text after
 * the sizes; NULL if a size is not valid.
 */
static const char *topo_read_sizes(const char *text, u16 *dims, u32 max, u32 *n)
{
	u32 size;

	for (*n = 0;; text++) {
		text = ang_topo_number(text, 0xFFFF, &size);
		if (!text)
			return NULL;
		if (*n < max)
			dims[*n] = (u16)size;
		++*n;
		if (*text != 'x')
			return text;
	}
}

u32 ang_topo_parse(const char *text, u16 *dims, u32 max)
{
	u32 n;

	text = topo_read_sizes(text, dims, max, &n);
	return text && !*text ? n : 0;
}

u32 ang_topo_count(struct ang_topo *topo)
{
	u32 nodes = 1;
	u32 d;

	for (d = 0; d < topo->ndims; d++) {
		if (!topo->dims[d] || topo->dims[d] > ANG_TOPO_NODES / nodes)
			return 0;
		nodes *= topo->dims[d];
	}
	topo->nodes = nodes;
	return nodes;
}

/* Reads the sizes of a kind with at most @max dimensions. */
const char *ang_topo_sizes(const char *text, struct ang_topo *topo, u32 max,
			   struct ang_topo_why *why)
{
	u32 n;

	text = topo_read_sizes(text, topo->dims, max, &n);
	if (!text) {
		why->what = "sizes: must be numbers from 1 to 65535, joined by 'x'";
		return NULL;
	}
	if (n > max) {
		why->what = "sizes: too many dimensions";
		return NULL;
	}
	topo->ndims = (u8)n;
	if (!ang_topo_count(topo)) {
		why->what = "sizes: more than 1048576 nodes";
		return NULL;
	}
	topo->routers = topo->nodes;
	return text;
}

/* Return: the text after @name; NULL if @text does not begin with @name. */
static const char *topo_after(const char *text, const char *name)
{
	while (*name)
		if (*text++ != *name++)
			return NULL;
	return text;
}

u32 ang_topo_read(struct ang_topo *topo, const char *text, struct ang_topo_why *why)
{
	u32 kind;

	memset(topo, 0, sizeof(*topo));
	memset(why, 0, sizeof(*why));
	for (kind = 0; kind < ANG_TOPO_KINDS; kind++) {
		const char *rest = topo_after(text, kinds[kind].name);

		/* Sizes without a kind describe a torus. */
		if (kind == ANG_TOPO_TORUS && *text >= '0' && *text <= '9')
			rest = text;
		if (!rest)
			continue;
		topo->kind = (u8)kind;
		rest = kinds[kind].ops->read(topo, rest, why);
		if (!rest)
			return 0;
		if (*rest == '\n')
			rest++;
		if (!*rest)
			return topo->nodes;
		why->what = "description: unexpected text at the end";
		return 0;
	}
	why->what = "kind: unknown; must be torus, mesh, hypercube, mkns, kns, fattree or graph";
	return 0;
}

char *ang_topo_put_number(char *text, u32 value)
{
	u32 ten = 1;

	while (value / ten > 9)
		ten *= 10;
	for (; ten; ten /= 10)
		*text++ = (char)('0' + value / ten % 10);
	return text;
}

u32 ang_topo_describe(const struct ang_topo *topo, char *text)
{
	const struct ang_topo_ops *ops = topo_ops(topo);
	const char *name = kinds[topo->kind].name;
	char *at = text;
	u32 d;

	if (topo->kind == ANG_TOPO_GRAPH)
		return 0;
	while (*name)
		*at++ = *name++;
	for (d = 0; d < topo->ndims && !topo->levels; d++) {
		if (d)
			*at++ = 'x';
		at = ang_topo_put_number(at, topo->dims[d]);
	}
	if (ops->tail)
		at = ops->tail(topo, at);
	*at++ = '\n';
	*at = 0;
	return (u32)(at - text);
}

u32 ang_topo_init(struct ang_topo *topo, u32 ndims, const u16 *dims)
{
	u32 d;

	memset(topo, 0, sizeof(*topo));
	if (!ndims || ndims > ANG_MAX_DIMS)
		return 0;
	for (d = 0; d < ndims; d++)
		topo->dims[d] = dims[d];
	topo->kind = ANG_TOPO_TORUS;
	topo->ndims = (u8)ndims;
	topo->nports = (u8)(2 * ndims);
	topo->routers = ang_topo_count(topo);
	return topo->routers;
}

void ang_topo_coord(const struct ang_topo *topo, u32 node, u16 *coord)
{
	bool most = topo_ops(topo)->most_first;
	u32 i;

	for (i = 0; i < topo->ndims; i++) {
		u32 d = most ? topo->ndims - 1U - i : i;

		coord[d] = (u16)(node % topo->dims[d]);
		node /= topo->dims[d];
	}
}

u32 ang_topo_node(const struct ang_topo *topo, const u16 *coord)
{
	bool most = topo_ops(topo)->most_first;
	u32 node = 0;
	u32 i;

	for (i = topo->ndims; i-- > 0;) {
		u32 d = most ? topo->ndims - 1U - i : i;

		node = node * topo->dims[d] + coord[d];
	}
	return node;
}

static u64 topo_align(u64 size)
{
	return (size + 7) & ~7ULL;
}

/* Compute the offsets in a table.  Return: bytes of @t and its arrays. */
static u64 topo_layout(const struct ang_topo *topo, struct ang_topo_table *t)
{
	u64 at = sizeof(*t);
	u32 d;

	memset(t, 0, sizeof(*t));
	t->nports = topo->nports;
	at += (u64)topo->routers * topo->nports * sizeof(struct ang_topo_end);
	t->off_digit = at;
	at = topo_align(at + (u64)topo->nodes * topo->ndims * sizeof(u16));
	t->off_regs = at;
	t->stride = (u32)sizeof(struct ang_topo_regs);
	for (d = 0; d < topo->ndims; d++) {
		t->exits[d] = t->stride;
		t->stride += topo->dims[d];
	}
	t->stride = (u32)topo_align(t->stride);
	t->off_extra = at + (u64)topo->routers * t->stride;
	at = t->off_extra;
	if (topo->kind == ANG_TOPO_GRAPH)
		at = topo_align(at + ang_topo_graph_extra(topo));
	return at;
}

u64 ang_topo_table_size(const struct ang_topo *topo)
{
	struct ang_topo_table t;

	return topo_layout(topo, &t);
}

static const u16 *topo_digits(const struct ang_topo *topo, u32 node)
{
	const struct ang_topo_table *t = topo->table;

	return (const u16 *)((const u8 *)t + t->off_digit) + (u64)node * topo->ndims;
}

static const struct ang_topo_regs *topo_regs(const struct ang_topo_table *t, u32 router)
{
	return (const struct ang_topo_regs *)
		((const u8 *)t + t->off_regs + (u64)router * t->stride);
}

/*
 * Can a packet that differs first in @digit have @value in the digit that
 * selects the port?  If @digit itself selects the port, @value is not the
 * router's own value.
 */
static bool topo_occurs(const struct ang_topo_regs *regs, u32 digit, u32 value)
{
	return regs->by[digit] != digit || regs->own[digit] != value;
}

void ang_topo_fill_router(const struct ang_topo *topo, void *table, u32 router)
{
	const struct ang_topo_ops *ops = topo_ops(topo);
	struct ang_topo_table *t = table;
	u8 *at = (u8 *)t + t->off_regs + (u64)router * t->stride;
	struct ang_topo_regs *regs = (struct ang_topo_regs *)at;
	u32 port, d, value;

	if (ops->fill)
		return;
	for (port = 0; port < topo->nports; port++) {
		struct ang_topo_end *end = &t->end[router * topo->nports + port];

		end->port = ANGARA_PORT_NONE;
		end->router = ops->peer(topo, router, port, &end->port);
	}
	memset(regs, 0, sizeof(*regs));
	ops->regs(topo, router, regs);
	for (d = 0; d < topo->ndims; d++)
		for (value = 0; value < topo->dims[regs->by[d]]; value++)
			at[t->exits[d] + value] = (u8)(topo_occurs(regs, d, value) ?
				ops->exit(topo, router, d, value) : ANGARA_PORT_NONE);
}

bool ang_topo_fill_begin(const struct ang_topo *topo, const char *text, void *table,
			 struct ang_topo_why *why)
{
	struct ang_topo_table *t = table;
	u32 i;

	memset(why, 0, sizeof(*why));
	topo_layout(topo, t);
	for (i = 0; i < topo->nodes; i++)
		ang_topo_coord(topo, i, (u16 *)((u8 *)t + t->off_digit) +
					(u64)i * topo->ndims);
	return !topo_ops(topo)->fill || topo_ops(topo)->fill(topo, text, t, why);
}

u32 ang_topo_fill(struct ang_topo *topo, const char *text, void *table,
		  struct ang_topo_why *why)
{
	u32 i;

	if (!ang_topo_fill_begin(topo, text, table, why))
		return 0;
	for (i = 0; i < topo->routers; i++)
		ang_topo_fill_router(topo, table, i);
	topo->table = table;
	return topo->nodes;
}

u32 ang_topo_peer(const struct ang_topo *topo, u32 router, u32 port, u32 *far)
{
	const struct ang_topo_table *t = topo->table;
	const struct ang_topo_end *end;
	u32 none;

	if (port >= topo->nports)
		return ANG_NONE;
	if (!t)
		return topo_ops(topo)->peer(topo, router, port, far ? far : &none);
	end = &t->end[router * t->nports + port];
	if (far)
		*far = end->port;
	return end->router;
}

/* ang_topo_route() without a table. */
static u32 topo_find_route(const struct ang_topo *topo, u32 router, u32 dst)
{
	const struct ang_topo_ops *ops = topo_ops(topo);
	struct ang_topo_regs regs;
	u16 to[ANG_TOPO_DIMS];
	u32 d;

	memset(&regs, 0, sizeof(regs));
	ops->regs(topo, router, &regs);
	ang_topo_coord(topo, dst, to);
	for (d = 0; d < topo->ndims; d++)
		if (regs.own[d] != to[d])
			return ops->exit(topo, router, d, to[regs.by[d]]);
	return ANGARA_PORT_NONE;
}

u32 ang_topo_route(const struct ang_topo *topo, u32 router, u32 dst)
{
	const struct ang_topo_table *t = topo->table;
	const struct ang_topo_regs *regs;
	const u16 *to;
	u32 d;

	if (!t)
		return topo_find_route(topo, router, dst);
	regs = topo_regs(t, router);
	to = topo_digits(topo, dst);
	for (d = 0; d < topo->ndims; d++)
		if (regs->own[d] != to[d])
			return ((const u8 *)regs)[t->exits[d] + to[regs->by[d]]];
	return ANGARA_PORT_NONE;
}

u32 ang_topo_class(const struct ang_topo *topo, u32 router, u32 port)
{
	return topo_ops(topo)->class(topo, router, port);
}

bool ang_topo_turn(const struct ang_topo *topo, u32 router, u32 in, u32 out)
{
	const struct ang_topo_ops *ops = topo_ops(topo);
	u32 from, far;

	if (in == ANGARA_PORT_NONE)
		return true;
	if (in == out)
		return false;
	if (topo->kind == ANG_TOPO_TORUS && ang_straight(in, out))
		return true;
	from = ang_topo_peer(topo, router, in, &far);
	return ops->class(topo, router, out) > ops->class(topo, from, far);
}

u32 ang_topo_longest(const struct ang_topo *topo)
{
	return topo_ops(topo)->longest(topo);
}

u32 ang_topo_keeper(const struct ang_topo *topo, u32 router)
{
	return ang_topo_is_switch(topo, router) ?
	       topo_ops(topo)->keeper(topo, router) : router;
}
