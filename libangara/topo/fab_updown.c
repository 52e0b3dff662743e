// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * up*down* routes on the rest of a fabric with failures: each connected part is
 * described as a graph, and the device model computes the routes of this graph.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fab.h"

/**
 * struct updown - state
 * @f: fabric
 * @around: out: ports, per router and node
 * @part: per router, the first router of its part; ANG_NONE: not known yet
 * @number: per router, its number in the graph of its part
 * @queue: routers of a part, nodes and switches
 */
struct updown {
	const struct angara_fabric *f;
	u8 *around;
	u32 *part;
	u32 *number;
	u32 *queue;
};

/*
 * Finds the routers that can be reached from @first; sets their part and the
 * queue.  Return: number of these routers.
 */
static u32 updown_part(struct updown *u, u32 first)
{
	const struct angara_fabric *f = u->f;
	u32 head, arc, tail = 0;

	u->part[first] = first;
	u->queue[tail++] = first;
	for (head = 0; head < tail; head++) {
		u32 at = u->queue[head];

		for (arc = f->first[at]; arc < f->first[at + 1]; arc++) {
			if (fab_failed(f, at, f->port[arc]) ||
			    u->part[f->to[arc]] != ANG_NONE)
				continue;
			u->part[f->to[arc]] = first;
			u->queue[tail++] = f->to[arc];
		}
	}
	return tail;
}

static void updown_write(struct updown *u, u32 first, FILE *text)
{
	const struct angara_fabric *f = u->f;
	u32 i, arc, next = 0;

	fputs("graph rest\n", text);
	for (i = 0; i < f->topo.routers; i++) {
		if (u->part[i] != first)
			continue;
		fprintf(text, "%s %u\n", i < f->topo.nodes ? "node" : "switch", i);
		u->number[i] = next++;
	}
	for (i = 0; i < f->topo.routers; i++)
		for (arc = f->first[i]; u->part[i] == first && arc < f->first[i + 1]; arc++)
			if (arc < f->back[arc] && !fab_failed(f, i, f->port[arc]))
				fprintf(text, "%u:%u %u:%u\n", i, f->port[arc],
					f->to[arc], f->port[f->back[arc]]);
}

static void updown_copy(struct updown *u, u32 first, const struct ang_topo *rest)
{
	const struct angara_fabric *f = u->f;
	u32 r, d;

	for (r = 0; r < f->topo.routers; r++)
		for (d = 0; u->part[r] == first && d < f->topo.nodes; d++)
			if (u->part[d] == first)
				u->around[(size_t)r * f->topo.nodes + d] =
					(u8)ang_topo_route(rest, u->number[r], u->number[d]);
}

/* Computes routes within the part of @first, which has several routers. */
static int updown_routes(struct updown *u, u32 first)
{
	struct ang_topo_why why;
	struct ang_topo rest;
	void *table = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	int ret = -ENOMEM;

	if (!file)
		return -ENOMEM;
	updown_write(u, first, file);
	if (!fclose(file))
		ret = ang_topo_read(&rest, text, &why) ? 0 : -EOPNOTSUPP;
	if (!ret) {
		table = malloc(ang_topo_table_size(&rest));
		ret = table ? 0 : -ENOMEM;
	}
	if (!ret && !ang_topo_fill(&rest, text, table, &why))
		ret = -EOPNOTSUPP;
	if (!ret)
		updown_copy(u, first, &rest);
	free(table);
	free(text);
	return ret;
}

int fab_updown(const struct angara_fabric *f, u8 *around)
{
	u32 routers = f->topo.routers;
	u32 *memory = malloc(3 * (size_t)routers * sizeof(u32));
	struct updown u = {
		.f = f, .around = around, .part = memory,
		.number = memory + routers, .queue = memory + 2 * (size_t)routers,
	};
	int ret = memory ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; memory && i < routers; i++)
		u.part[i] = ANG_NONE;
	/* Start at nodes only: a part without a node needs no routes. */
	for (i = 0; !ret && i < f->topo.nodes; i++)
		if (u.part[i] == ANG_NONE && updown_part(&u, i) > 1)
			ret = updown_routes(&u, i);
	free(memory);
	return ret;
}
