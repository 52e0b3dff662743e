// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * MKNS and KNS: nodes whose numbers differ in one digit form a line. The nodes
 * of a line in the first dimension of MKNS are connected all to all. The nodes
 * of other lines are connected by a switch (block), or, if a line has more
 * nodes than a switch has ports, by an assembly of switches in two levels,
 * leaves and tops (document 001).
 *
 * Port numbers start at 0, in document 001 at 1. Of a node's D ports, 0..D - 4
 * lead along dimension 0, and D - 4 + d leads to the switch of dimension d.  In
 * an assembly, half of a leaf's ports lead to nodes, the other half to tops;
 * the cables between leaves and tops are numbered consecutively, and lead to
 * the tops in turn.
 */
#include "ang_topo_int.h"

/* First dimension with switches. */
static u32 mkns_first(const struct ang_topo *topo)
{
	return topo->kind == ANG_TOPO_MKNS ? 1 : 0;
}

static u32 mkns_half(const struct ang_topo *topo)
{
	return topo->switch_ports / 2U;
}

static u32 mkns_up_div(u32 a, u32 b)
{
	return (a + b - 1) / b;
}

/*
 * Return: leaves per assembly of a dimension; 0 if its lines have one switch.
 */
static u32 mkns_leaves(const struct ang_topo *topo, u32 d)
{
	return topo->dims[d] <= topo->switch_ports ? 0 :
	       mkns_up_div(topo->dims[d], mkns_half(topo));
}

static u32 mkns_tops(const struct ang_topo *topo, u32 leaves)
{
	return mkns_up_div(leaves * mkns_half(topo), topo->switch_ports);
}

u32 ang_topo_blocks(const struct ang_topo *topo, u32 d)
{
	u32 leaves = mkns_leaves(topo, d);

	return leaves ? leaves + mkns_tops(topo, leaves) : 1;
}

/* Difference of node numbers for one step in dimension @d. */
static u32 mkns_stride(const struct ang_topo *topo, u32 d)
{
	u32 stride = 1;

	while (d-- > 0)
		stride *= topo->dims[d];
	return stride;
}

/**
 * struct mkns_switch - position of a switch
 * @d: dimension
 * @block: number of the switch in its assembly: leaves, then tops
 * @node: node of its line whose digit @d is 0
 * @leaves: number of leaves of the assembly; 0: the line has one switch
 */
struct mkns_switch {
	u32 d;
	u32 block;
	u32 node;
	u32 leaves;
};

static void mkns_switch_of(const struct ang_topo *topo, u32 router,
			   struct mkns_switch *s)
{
	u32 at = router - topo->nodes;
	u32 line, stride;

	for (s->d = mkns_first(topo);; s->d++) {
		u32 blocks = ang_topo_blocks(topo, s->d);
		u32 all = topo->nodes / topo->dims[s->d] * blocks;

		if (at < all) {
			line = at / blocks;
			s->block = at % blocks;
			break;
		}
		at -= all;
	}
	stride = mkns_stride(topo, s->d);
	s->node = line / stride * stride * topo->dims[s->d] + line % stride;
	s->leaves = mkns_leaves(topo, s->d);
}

/* Return: first switch of the line of @node in dimension @d. */
static u32 mkns_blocks_of(const struct ang_topo *topo, u32 node, u32 d)
{
	u32 stride = mkns_stride(topo, d);
	u32 at = topo->nodes;
	u32 i;

	for (i = mkns_first(topo); i < d; i++)
		at += topo->nodes / topo->dims[i] * ang_topo_blocks(topo, i);
	return at + (node / (stride * topo->dims[d]) * stride + node % stride) *
		    ang_topo_blocks(topo, d);
}

/* Return: port of a node that leads to the switch of dimension @d. */
static u32 mkns_port(const struct ang_topo *topo, u32 d)
{
	return topo->kind == ANG_TOPO_KNS ? d : topo->adapter_ports - 4U + d;
}

static const char *mkns_option(const char *text, const char *name, u32 max, u32 *value)
{
	while (*name)
		if (*text++ != *name++)
			return NULL;
	return ang_topo_number(text, max, value);
}

/* Reads the text after the sizes: ",ports=10", then ",m=2". */
static const char *mkns_options(struct ang_topo *topo, const char *text,
				struct ang_topo_why *why)
{
	u32 ports = 10, modules = 1;

	if (*text == ',' && text[1] == 'p') {
		text = mkns_option(text, ",ports=", ANG_TOPO_PORTS, &ports);
		if (!text || ports < 4) {
			why->what = "ports: must be from 4 to 64";
			return NULL;
		}
	}
	if (*text == ',') {
		text = mkns_option(text, ",m=", 255, &modules);
		if (!text) {
			why->what = "options: must be ',ports=', then ',m=' (1 to 255)";
			return NULL;
		}
	}
	topo->switch_ports = (u16)ports;
	topo->adapter_ports = (u16)(topo->kind == ANG_TOPO_KNS ? topo->ndims : ports);
	topo->modules = (u16)modules;
	return text;
}

static const char *mkns_read(struct ang_topo *topo, const char *text,
			     struct ang_topo_why *why)
{
	u32 d;

	text = ang_topo_sizes(text, topo, topo->kind == ANG_TOPO_MKNS ? 4 : ANG_TOPO_DIMS,
			      why);
	if (text)
		text = mkns_options(topo, text, why);
	if (!text)
		return NULL;
	if (topo->kind == ANG_TOPO_MKNS && topo->dims[0] > topo->adapter_ports - 2U) {
		why->what = "sizes: dimension 1 has more nodes than ports reach (ports - 2)";
		return NULL;
	}
	for (d = mkns_first(topo); d < topo->ndims; d++) {
		u64 more;

		if (topo->dims[d] > topo->switch_ports * mkns_half(topo)) {
			why->what = "sizes: a dimension has more nodes than two levels of switches can connect (ports * ports / 2)";
			return NULL;
		}
		more = (u64)(topo->nodes / topo->dims[d]) * ang_topo_blocks(topo, d);
		topo->routers += (u32)more;
	}
	topo->nports = (u8)(topo->adapter_ports > topo->switch_ports ?
			    topo->adapter_ports : topo->switch_ports);
	return text;
}

static char *mkns_tail(const struct ang_topo *topo, char *text)
{
	static const char ports[] = ",ports=", modules[] = ",m=";
	u32 i;

	if (topo->switch_ports != 10) {
		for (i = 0; ports[i]; i++)
			*text++ = ports[i];
		text = ang_topo_put_number(text, topo->switch_ports);
	}
	if (topo->modules != 1) {
		for (i = 0; modules[i]; i++)
			*text++ = modules[i];
		text = ang_topo_put_number(text, topo->modules);
	}
	return text;
}

static u32 mkns_node_peer(const struct ang_topo *topo, u32 node, u32 port, u32 *far)
{
	u32 d, own, half = mkns_half(topo);

	if (topo->kind == ANG_TOPO_MKNS && port + 3U < topo->adapter_ports) {
		own = node % topo->dims[0];
		if (port + 1 >= topo->dims[0])
			return ANG_NONE;
		*far = port < own ? own - 1 : own;
		return node - own + port + (port >= own);
	}
	for (d = mkns_first(topo); d < topo->ndims; d++) {
		if (mkns_port(topo, d) != port)
			continue;
		own = node / mkns_stride(topo, d) % topo->dims[d];
		if (!mkns_leaves(topo, d)) {
			*far = own;
			return mkns_blocks_of(topo, node, d);
		}
		*far = own % half;
		return mkns_blocks_of(topo, node, d) + own / half;
	}
	return ANG_NONE;
}

static u32 mkns_switch_peer(const struct ang_topo *topo, u32 router, u32 port, u32 *far)
{
	u32 half = mkns_half(topo);
	struct mkns_switch s;
	u32 own, tops, cable;

	mkns_switch_of(topo, router, &s);
	if (s.leaves && s.block >= s.leaves) {
		tops = mkns_tops(topo, s.leaves);
		cable = port * tops + s.block - s.leaves;
		if (cable >= s.leaves * half)
			return ANG_NONE;
		*far = half + cable % half;
		return router - s.block + cable / half;
	}
	if (s.leaves && port >= half) {
		if (port >= 2 * half)
			return ANG_NONE;
		tops = mkns_tops(topo, s.leaves);
		cable = s.block * half + port - half;
		*far = cable / tops;
		return router - s.block + s.leaves + cable % tops;
	}
	own = s.block * half + port;
	if (own >= topo->dims[s.d])
		return ANG_NONE;
	*far = mkns_port(topo, s.d);
	return s.node + own * mkns_stride(topo, s.d);
}

static u32 mkns_peer(const struct ang_topo *topo, u32 router, u32 port, u32 *far)
{
	return ang_topo_is_switch(topo, router) ?
	       mkns_switch_peer(topo, router, port, far) :
	       mkns_node_peer(topo, router, port, far);
}

/*
 * At a switch, the digits before its dimension already equal the destination's
 * digits.
 */
static void mkns_regs(const struct ang_topo *topo, u32 router,
		      struct ang_topo_regs *regs)
{
	struct mkns_switch s = { .d = topo->ndims, .node = router };
	u32 d;

	if (ang_topo_is_switch(topo, router))
		mkns_switch_of(topo, router, &s);
	ang_topo_coord(topo, s.node, regs->own);
	for (d = 0; d < topo->ndims; d++) {
		regs->by[d] = (u8)d;
		if (d >= s.d)
			regs->own[d] = ANG_TOPO_ANY;
	}
}

/*
 * Return: port of a switch that leads to the node of its line with digit
 * @value.
 */
static u32 mkns_switch_exit(const struct ang_topo *topo, const struct mkns_switch *s,
			    u32 value)
{
	u32 half = mkns_half(topo);
	u32 leaf = value / half;
	u32 tops, top, skip, ways;

	if (!s->leaves)
		return value;
	if (s->block < s->leaves)
		return s->block == leaf ? value % half : half + value % half;
	/* @value selects one of the cables from this top to the leaf. */
	tops = mkns_tops(topo, s->leaves);
	top = s->block - s->leaves;
	skip = (top + tops - leaf * half % tops) % tops;
	ways = mkns_up_div(half - skip, tops);
	return (leaf * half + skip + value % ways * tops) / tops;
}

static u32 mkns_exit(const struct ang_topo *topo, u32 router, u32 digit, u32 value)
{
	struct mkns_switch s;
	u32 own;

	if (ang_topo_is_switch(topo, router)) {
		mkns_switch_of(topo, router, &s);
		return s.d == digit ? mkns_switch_exit(topo, &s, value) :
				      ANGARA_PORT_NONE;
	}
	if (digit || topo->kind == ANG_TOPO_KNS)
		return mkns_port(topo, digit);
	own = router % topo->dims[0];
	return value < own ? value : value - 1;
}

/*
 * Classes grow with the dimension; within a dimension, channels up to the tops
 * have lower classes than channels down to the nodes.
 */
static u32 mkns_class(const struct ang_topo *topo, u32 router, u32 port)
{
	struct mkns_switch s;

	if (!ang_topo_is_switch(topo, router)) {
		if (topo->kind == ANG_TOPO_KNS)
			return 4 * port;
		return port + 3U < topo->adapter_ports ?
		       0 : 4 * (port + 4 - topo->adapter_ports);
	}
	mkns_switch_of(topo, router, &s);
	if (s.leaves && s.block >= s.leaves)
		return 4 * s.d + 2;
	return 4 * s.d + (s.leaves && port >= mkns_half(topo) ? 1 : 3);
}

/*
 * Per dimension: a cable to a switch and a cable to a node; in an assembly two
 * more cables.
 */
static u32 mkns_longest(const struct ang_topo *topo)
{
	u32 cables = mkns_first(topo);
	u32 d;

	for (d = mkns_first(topo); d < topo->ndims; d++)
		cables += mkns_leaves(topo, d) ? 4 : 2;
	return cables;
}

static u32 mkns_keeper(const struct ang_topo *topo, u32 router)
{
	struct mkns_switch s;

	mkns_switch_of(topo, router, &s);
	if (!s.leaves || s.block >= s.leaves)
		return s.node;
	return s.node + s.block * mkns_half(topo) * mkns_stride(topo, s.d);
}

/* Operations of MKNS and KNS. */
const struct ang_topo_ops ang_topo_mkns = {
	.read = mkns_read,
	.tail = mkns_tail,
	.peer = mkns_peer,
	.regs = mkns_regs,
	.exit = mkns_exit,
	.class = mkns_class,
	.longest = mkns_longest,
	.keeper = mkns_keeper,
};
