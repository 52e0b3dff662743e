// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flit engine: terminals of textbook networks.
 *
 * In each tick a terminal generates a packet with a given probability, sends a
 * flit of its first packet, and receives a flit.  The channel to and from the
 * router takes a tick; a VC's buffer in the router is as deep as that of a
 * link.
 */
#include <math.h>
#include "flit.h"

/* Draws the ticks from one packet to the next, by a geometric distribution. */
static u64 gap(struct flit_net *n, u32 node)
{
	double p = n->c->load / n->c->flits;
	double u = ((double)(pattern_draw(&n->s->nic[node].rng) >> 11) + 0.5) /
		   9007199254740992.0;

	return p < 1 ? 1 + (u64)floor(log(u) / log1p(-p)) : 1;
}

static void start(struct flit_net *n)
{
	u64 next;
	u32 i, vc;

	for (i = 0; i < n->hosts; i++) {
		struct flit_host *h = &n->host[i];

		h->first = FLIT_NONE;
		for (vc = 0; vc < n->rule.nvc; vc++)
			h->room[vc] = n->rule.host_in;
		next = gap(n, i) - 1;
		if (next * n->rule.tick < n->c->stop)
			flit_due_add(n, next, i);
	}
}

static void generate(struct flit_net *n, u32 node)
{
	struct flit_host *h = &n->host[node];
	u32 k = flit_pkt_new(n);

	n->pkt[k].born = n->now * n->rule.tick;
	flit_describe(n, k, node);
	n->pkt[k].ties = (u16)(pattern_draw(&n->s->nic[node].rng) >> 48);
	if (h->first == FLIT_NONE)
		h->first = k;
	else
		n->pkt[h->last].next = k;
	h->last = k;
	n->sending[node / 64] |= 1ULL << node % 64;
}

/* Chooses a VC with room; the VC used last only if no other VC has room.  Return: is there one? */
static bool choose(const struct flit_net *n, struct flit_host *h)
{
	u32 i;

	for (i = 1; i <= n->rule.nvc; i++) {
		u32 vc = (h->vc + i) % n->rule.nvc;

		if (!h->room[vc])
			continue;
		h->vc = vc;
		return true;
	}
	return false;
}

static void send(struct flit_net *n, u32 node)
{
	struct flit_host *h = &n->host[node];
	struct flit_pkt *p = &n->pkt[h->first];

	if (!h->sent && !choose(n, h))
		return;
	if (!h->room[h->vc])
		return;
	if (!h->sent)
		p->entered = n->now;
	h->room[h->vc]--;
	flit_arrive_at(n, node * n->inputs + flit_host0(n) + h->vc,
		       (struct flit){ h->first, h->sent }, 2);
	n->count.entered++;
	if (++h->sent < p->flits)
		return;
	h->sent = 0;
	h->first = p->next;
	if (h->first == FLIT_NONE)
		n->sending[node / 64] &= ~(1ULL << node % 64);
}

static void tick(struct flit_net *n)
{
	u32 node, w;

	while (flit_due_take(n, &node)) {
		u64 next = n->now + gap(n, node);

		generate(n, node);
		if (next * n->rule.tick < n->c->stop)
			flit_due_add(n, next, node);
	}
	for (w = 0; w <= n->hosts / 64; w++) {
		u64 set = n->sending[w];

		for (; set; set &= set - 1)
			send(n, w * 64 + ang_lowest(set));
	}
}

static void left(struct flit_net *n, u32 router, u32 host)
{
}

static bool may(const struct flit_net *n, const struct flit_out *o)
{
	return o->room;
}

static void take(struct flit_net *n, u32 router, u32 out, struct flit f)
{
	flit_out(n, router, flit_host0(n) + out)->room--;
	flit_arrive_at(n, FLIT_TO_HOST | (router * n->inputs + flit_host0(n) + out), f, 3);
}

/* The terminal takes the flit at once. */
static void arrive(struct flit_net *n, u32 out, struct flit f)
{
	flit_credit_at(n, out, 2);
	flit_got(n, f, n->now * n->rule.tick);
}

const struct flit_hosts flit_terminals = {
	.start = start,
	.tick = tick,
	.left = left,
	.may = may,
	.take = take,
	.arrive = arrive,
};
