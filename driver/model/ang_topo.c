// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The torus: node numbers, neighbours, dimension-order routes.
 */
#include "ang_rules.h"

/* Reads 1..65535.  Return: what follows it, NULL if there is no such number. */
static const char *parse_size(const char *text, u16 *size)
{
	u32 val = 0;

	if (*text < '0' || *text > '9')
		return NULL;
	while (*text >= '0' && *text <= '9') {
		val = 10 * val + (u32)(*text++ - '0');
		if (val > 0xFFFF)
			return NULL;
	}
	*size = (u16)val;
	return val ? text : NULL;
}

u32 ang_topo_parse(const char *text, u16 *dims)
{
	u32 n = 0;
	u16 size;

	for (;;) {
		text = parse_size(text, &size);
		if (!text)
			return 0;
		if (n < ANG_MAX_DIMS)
			dims[n] = size;
		n++;
		if (!*text)
			return n;
		if (*text++ != 'x')
			return 0;
	}
}

u32 ang_topo_init(struct ang_topo *topo, u32 ndims, const u16 *dims)
{
	u32 nodes = 1;
	u32 d;

	if (!ndims || ndims > ANG_MAX_DIMS)
		return 0;
	for (d = 0; d < ANG_MAX_DIMS; d++) {
		u32 size = d < ndims ? dims[d] : 1;

		if (!size || size > ANG_MAX_NODES / nodes)
			return 0;
		topo->dims[d] = (u16)size;
		nodes *= size;
	}
	topo->ndims = ndims;
	topo->nodes = nodes;
	return nodes;
}

static const char torus[] = "torus:";

u32 ang_topo_describe(const struct ang_topo *topo, char *text)
{
	char *at = text;
	u32 d, ten;

	for (d = 0; torus[d]; d++)
		*at++ = torus[d];
	for (d = 0; d < topo->ndims; d++) {
		if (d)
			*at++ = 'x';
		for (ten = 10000; ten > topo->dims[d]; ten /= 10)
			;
		for (; ten; ten /= 10)
			*at++ = (char)('0' + topo->dims[d] / ten % 10);
	}
	*at++ = '\n';
	*at = 0;
	return (u32)(at - text);
}

u32 ang_topo_read(struct ang_topo *topo, const char *text)
{
	char sizes[ANG_TOPO_TEXT];
	u16 dims[ANG_MAX_DIMS];
	u32 n;

	for (n = 0; torus[n]; n++)
		if (*text++ != torus[n])
			return 0;
	for (n = 0; text[n] && text[n] != '\n'; n++) {
		if (n == sizeof(sizes) - 1)
			return 0;
		sizes[n] = text[n];
	}
	sizes[n] = 0;
	n = ang_topo_parse(sizes, dims);
	return n ? ang_topo_init(topo, n, dims) : 0;
}

void ang_topo_coord(const struct ang_topo *topo, u32 node, u16 *coord)
{
	u32 d;

	for (d = 0; d < ANG_MAX_DIMS; d++) {
		coord[d] = (u16)(node % topo->dims[d]);
		node /= topo->dims[d];
	}
}

u32 ang_topo_node(const struct ang_topo *topo, const u16 *coord)
{
	u32 node = 0;
	u32 d;

	for (d = topo->ndims; d-- > 0;)
		node = node * topo->dims[d] + coord[d];
	return node;
}

u32 ang_topo_neighbor(const struct ang_topo *topo, u32 node, u32 dir)
{
	u16 coord[ANG_MAX_DIMS];
	u32 d = dir / 2;
	u32 size;

	if (d >= topo->ndims || topo->dims[d] < 2)
		return ANG_NONE;
	size = topo->dims[d];
	ang_topo_coord(topo, node, coord);
	coord[d] = (u16)((coord[d] + (dir & 1 ? size - 1 : 1)) % size);
	return ang_topo_node(topo, coord);
}

u32 ang_topo_peer(const struct ang_topo *topo, u32 node, u32 port, u32 *peer_port)
{
	if (peer_port)
		*peer_port = port ^ 1;
	return ang_topo_neighbor(topo, node, port);
}

u32 ang_topo_route(const struct ang_topo *topo, u32 node, u32 dst)
{
	u32 d;

	for (d = 0; d < topo->ndims; d++) {
		u32 size = topo->dims[d];
		u32 from = node % size;
		u32 to = dst % size;

		if (from != to)
			return 2 * d + ang_ring_minus(size, from, to);
		node /= size;
		dst /= size;
	}
	return ANGARA_PORT_NONE;
}
