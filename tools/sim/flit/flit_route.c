// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flit engine: which output a head flit requests.
 */
#include "flit.h"

/*
 * Does a packet take the minus direction along a ring?  It takes the shorter direction, or its
 * choice in @ties if both are equally short.  With each hop the other direction gets longer, so
 * the packet keeps its direction.
 */
static bool goes_minus(const struct flit_pkt *k, u32 size, u32 at, u32 to, u32 d)
{
	if (2 * (at > to ? at - to : to - at) == size)
		return k->ties >> d & 1;
	return ang_ring_minus(size, at, to);
}

/*
 * Has the packet crossed the date line of the ring, or does its next hop cross it?
 * Crossing rule only.
 */
static bool crossed(bool minus, u32 size, u32 from, u32 at)
{
	return minus ? at > from || !at : at < from || at == size - 1;
}

/*
 * Return: output in dimension order, with the VC that the date line requires.  The date line of a
 * ring is between its last node and its first node.  By the path rule, a packet whose path along
 * the ring crosses the line takes VC 1 on all of that path.  By the crossing rule, such a packet
 * takes VC 0 as far as the line, and VC 1 from the hop across the line on.  By both rules, other
 * packets take VC 0.  So no packet crosses the line on VC 0, and paths on VC 1 are too short to
 * close the ring: no VC has a cycle.  With dimension order a packet enters a ring at its source's
 * coordinate.
 */
static u32 date_line(const struct flit_net *n, const struct flit_pkt *k, u32 router)
{
	const struct sim *s = n->s;
	const u16 *at = s->coord[router], *to = s->coord[k->dst];
	const u16 *from = s->coord[k->src];
	u32 d = 0;
	bool minus, vc;

	while (at[d] == to[d])
		d++;
	minus = goes_minus(k, s->topo.dims[d], at[d], to[d], d);
	if (n->rule.crossing)
		vc = crossed(minus, s->topo.dims[d], from[d], at[d]);
	else
		vc = minus ? to[d] > from[d] : to[d] < from[d];
	return (2 * d + minus) * 2 + vc;
}

/*
 * Return: the first free output to the node's hosts, from @i->turn on, or FLIT_NONE.  The turn
 * advances only when a request is granted.
 */
static u32 to_host(struct flit_net *n, u32 router, const struct flit_in *i)
{
	u32 c, hvc = n->rule.hvc;

	for (c = 0; c < hvc; c++) {
		u32 vc = (i->turn + c) % hvc;

		if (flit_out(n, router, flit_host0(n) + vc)->owner == FLIT_NONE)
			return flit_host0(n) + vc;
	}
	return FLIT_NONE;
}

static bool has_room(const struct flit_out *o, u32 flits)
{
	return o->owner == FLIT_NONE && o->room >= flits;
}

/*
 * Return: VC 0 of the topology's route; FLIT_NONE: @router is a switch of MKNS without a route to
 * @dst.  Packets to @dst on the topology's routes do not cross this switch, but adaptive packets
 * may.
 */
static u32 topo_route(const struct flit_net *n, u32 router, u32 dst)
{
	u32 port = sim_route(n->s, router, dst);

	return port == ANGARA_PORT_NONE ? FLIT_NONE : port * n->rule.nvc;
}

/*
 * Return: the output with most room among all shortest paths.  A packet that finds no room on
 * these paths takes the topology's route on VC 0, if there is one, and stays on VC 0.
 */
static u32 adapt(struct flit_net *n, u32 router, u64 outs, u32 det, u32 flits)
{
	u32 best = FLIT_NONE;
	u64 set;

	for (set = outs; set; set &= set - 1) {
		u32 out = ang_lowest(set) * n->rule.nvc + 1;
		const struct flit_out *o = flit_out(n, router, out);

		if (has_room(o, flits) &&
		    (best == FLIT_NONE ||
		     o->room > flit_out(n, router, best)->room))
			best = out;
	}
	if (best != FLIT_NONE || det == FLIT_NONE ||
	    flit_out(n, router, det + 1)->room >= flits)
		return best;
	return has_room(flit_out(n, router, det),
			flit_place(n, det, flits) + n->rule.spare) ? det : FLIT_NONE;
}

/**
 * flit_pick() - the output that the packet at the front of an input requests
 * @n: network
 * @router: router
 * @in: input with the head of a packet
 *
 * Return: output that is free and has the room that the rule asks for;
 * FLIT_NONE: there is no such output now.
 */
u32 flit_pick(struct flit_net *n, u32 router, u32 in)
{
	struct flit_in *i = flit_in(n, router, in);
	u32 k = n->ring[i->at + i->head].pkt;
	const struct flit_pkt *p = &n->pkt[k];
	bool adaptive = n->rule.adaptive &&
			(in >= flit_host0(n) || in % n->rule.nvc == 1);
	bool straight;
	u32 det;

	if (p->dst == router)
		return to_host(n, router, i);
	if (n->rule.date_line) {
		det = date_line(n, p, router);
		return flit_out(n, router, det)->owner == FLIT_NONE ? det :
								      FLIT_NONE;
	}
	if (i->known != k) {
		i->known = k;
		i->det = topo_route(n, router, p->dst);
		i->outs = adaptive ? sim_shortest(n->s, router, p->dst) : 0;
	}
	det = i->det;
	if (adaptive)
		return adapt(n, router, i->outs, det, p->flits);
	straight = in < flit_host0(n) &&
		   ang_straight(in / n->rule.nvc, det / n->rule.nvc);
	return has_room(flit_out(n, router, det),
			flit_place(n, det, p->flits) +
			(straight ? 0 : n->rule.spare)) ? det : FLIT_NONE;
}
