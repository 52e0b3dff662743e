// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The channel dependency graph.  Packets in a channel wait for the channels
 * that follow the channel on their routes.  If there is no cycle of such
 * channels, there is no deadlock: channels that wait for no other channel drain
 * first, then the channels that wait for these, and so on.
 *
 * Rings of a torus are cycles, which bubble flow control keeps from deadlock
 * (ang_link.c).  But a packet that waits to leave a ring blocks the packets
 * behind it on the ring.  So a ring without a failure counts as one channel:
 * all channels of the ring wait for each channel for which one of them waits.
 * A ring with a failure is a line, and its channels count one by one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"

static u32 deps_count(const struct angara_fabric *f)
{
	return f->topo.routers * f->topo.nports;
}

/*
 * Router at the end of a channel; ANG_NONE if there is no cable, or if the cable
 * has failed.
 */
static u32 deps_end(const struct angara_fabric *f, u32 channel)
{
	u32 router = channel / f->topo.nports, port = channel % f->topo.nports;

	return fab_failed(f, router, port) ? ANG_NONE :
					     ang_topo_peer(&f->topo, router, port, NULL);
}

/* Is a channel of a torus on a ring without a failure? */
static bool deps_on_ring(const struct angara_fabric *f, u32 channel)
{
	u32 port = channel % f->topo.nports;
	u32 at = channel;

	do {
		u32 to = deps_end(f, at);

		if (to == ANG_NONE)
			return false;
		at = to * f->topo.nports + port;
	} while (at != channel);
	return true;
}

int fab_deps_init(struct fab_deps *d, const struct angara_fabric *f)
{
	u32 n = deps_count(f);
	u32 i;

	*d = (struct fab_deps){ .f = f };
	d->edge = calloc(n + 1, sizeof(*d->edge));
	d->ring = calloc(n + 1, sizeof(*d->ring));
	d->stack = malloc((n + 1) * sizeof(*d->stack));
	d->seen = calloc(n + 1, sizeof(*d->seen));
	if (!d->edge || !d->ring || !d->stack || !d->seen) {
		fab_deps_free(d);
		return -ENOMEM;
	}
	for (i = 0; f->topo.kind == ANG_TOPO_TORUS && i < n; i++)
		d->ring[i] = deps_on_ring(f, i);
	return 0;
}

void fab_deps_free(struct fab_deps *d)
{
	free(d->edge);
	free(d->ring);
	free(d->stack);
	free(d->seen);
	*d = (struct fab_deps){ .f = d->f };
}

void fab_deps_no_rings(struct fab_deps *d)
{
	memset(d->ring, 0, deps_count(d->f) * sizeof(*d->ring));
}

/* Ports at the end of a channel for which packets in the channel wait. */
static u64 deps_next(const struct fab_deps *d, u32 channel)
{
	u64 straight = d->ring[channel] ? 1ULL << channel % d->f->topo.nports : 0;

	return d->edge[channel] | straight;
}

/*
 * Does port @out at the end of a channel lead to the next channel of the same
 * ring?
 */
static bool deps_straight(const struct fab_deps *d, u32 channel, u32 out)
{
	return d->ring[channel] && out == channel % d->f->topo.nports;
}

static void deps_route(struct fab_deps *d, fab_route_fn *route, u32 from, u32 dst,
		       u32 *walked)
{
	const struct angara_fabric *f = d->f;
	u32 last = ANG_NONE, at = from;

	while (at != dst) {
		u32 out = route(f, at, dst);
		u32 channel = at * f->topo.nports + out;

		if (out >= f->topo.nports)
			return;
		/*
		 * A failed channel carries no packets, so no dependency leads
		 * to it or from it.  Packets of other routes may take the rest
		 * of this route.
		 */
		if (deps_end(f, channel) == ANG_NONE)
			channel = ANG_NONE;
		else if (last != ANG_NONE && !deps_straight(d, last, out))
			d->edge[last] |= 1ULL << out;
		if (walked[at] == dst + 1)
			return;
		walked[at] = dst + 1;
		last = channel;
		at = ang_topo_peer(&f->topo, at, out, NULL);
	}
}

void fab_deps_routes(struct fab_deps *d, fab_route_fn *route, u32 from)
{
	u32 *walked = d->stack;
	u32 a, b;

	/*
	 * @walked has an entry per channel, so at least one per router that has
	 * cables.
	 */
	memset(walked, 0, (deps_count(d->f) + 1) * sizeof(*walked));
	for (b = 0; b < d->f->topo.nodes; b++)
		for (a = 0; a < from; a++)
			deps_route(d, route, a, b, walked);
}

static bool deps_reaches(struct fab_deps *d, u32 from, u32 to)
{
	const struct angara_fabric *f = d->f;
	u32 tail = 0;

	d->search++;
	d->stack[tail++] = from;
	d->seen[from] = d->search;
	while (tail) {
		u32 at = d->stack[--tail];
		u64 set = deps_next(d, at);

		if (at == to)
			return true;
		for (; set; set &= set - 1) {
			u32 next = deps_end(f, at) * f->topo.nports +
				   (u32)__builtin_ctzll(set);

			if (d->seen[next] == d->search)
				continue;
			d->seen[next] = d->search;
			d->stack[tail++] = next;
		}
	}
	return false;
}

bool fab_deps_add(struct fab_deps *d, u32 channel, u32 out)
{
	u32 next = deps_end(d->f, channel) * d->f->topo.nports + out;

	if (deps_next(d, channel) >> out & 1)
		return true;
	if (deps_reaches(d, next, channel))
		return false;
	d->edge[channel] |= 1ULL << out;
	return true;
}

/*
 * Return: the channel that represents the ring of a channel; the channel itself
 * if it is not on a ring.
 */
static u32 deps_whole(const struct fab_deps *d, u32 channel)
{
	u32 port = channel % d->f->topo.nports;
	u32 at = channel, least = channel;

	if (!d->ring[channel])
		return channel;
	do {
		at = deps_end(d->f, at) * d->f->topo.nports + port;
		least = at < least ? at : least;
	} while (at != channel);
	return least;
}

/*
 * Repeatedly removes channels that wait for no other channel; the channels that
 * remain are in cycles, or wait for channels in cycles.  A ring remains as long
 * as one of its channels waits.
 */
u32 fab_deps_circle(struct fab_deps *d)
{
	const struct angara_fabric *f = d->f;
	u32 n = deps_count(f), left = n;
	u32 *whole = d->stack, *waits = d->seen;
	bool moved = true;
	u32 c;

	for (c = 0; c < n; c++)
		whole[c] = deps_whole(d, c);
	/*
	 * waits[]: for the channel that represents a ring, the last round in
	 * which a channel of the ring waited
	 */
	memset(waits, 0, n * sizeof(*waits));
	for (d->search = 1; moved; d->search++) {
		u32 was = left;

		for (c = 0; c < n; c++) {
			u64 set = d->edge[c];

			for (; set; set &= set - 1) {
				u32 to = whole[deps_end(f, c) * f->topo.nports +
					       (u32)__builtin_ctzll(set)];

				/*
				 * A channel still waits if the channel @to
				 * waited in the previous round.
				 */
				if (d->search == 1 || waits[to] + 1 >= d->search)
					break;
			}
			if (set)
				waits[whole[c]] = d->search;
		}
		for (left = 0, c = 0; c < n; c++)
			left += waits[whole[c]] == d->search;
		moved = left && left != was;
	}
	return left;
}

void fab_deps_heights(const struct fab_deps *d, u32 *height)
{
	const u32 *whole = d->stack, *waits = d->seen;
	u32 c;

	for (c = 0; c < deps_count(d->f); c++)
		height[c] = waits[whole[c]];
}
