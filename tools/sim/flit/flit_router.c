// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flit engine: a router's tick.
 *
 * Each allocation is separable, input first, with one iteration: an input, or a
 * group of inputs that share an input of the switch, makes one request, and an
 * output or port grants one request.  The turns that decide between requests
 * advance only with a grant.
 */
#include "flit.h"

/* Return: distance of request @at from request @turn, which is served first. */
static u32 behind(u32 at, u32 turn, u32 all)
{
	return at >= turn ? at - turn : at + all - turn;
}

/* Source @from requests resource @to; the request with the least @key is granted. */
static void request(struct flit_net *n, u32 *asked, u32 to, u32 from, u32 key)
{
	if (n->best[to] == FLIT_NONE)
		n->asked[(*asked)++] = to;
	else if (n->best_key[to] <= key)
		return;
	n->best[to] = from;
	n->best_key[to] = key;
}

static void vc_grant(struct flit_net *n, u32 router, u32 in, u32 out)
{
	struct flit_in *i = flit_in(n, router, in);
	struct flit_out *o = flit_out(n, router, out);
	u32 flits = n->pkt[n->ring[i->at + i->head].pkt].flits;

	o->owner = in;
	o->turn = in + 1 == n->inputs ? 0 : in + 1;
	i->out = out;
	i->since = n->now + n->rule.alloc;
	n->held[(size_t)router * n->words + in / 64] |= 1ULL << in % 64;
	if (n->rule.whole && out < flit_host0(n)) {
		o->room -= flit_place(n, out, flits);
		o->rest = flits;
		o->pad += flit_place(n, out, flits) - flits;
	}
	if (out >= flit_host0(n))
		i->turn = (out - flit_host0(n) + 1) % n->rule.hvc;
	if (in >= flit_host0(n))
		n->rule.hosts->left(n, router, in - flit_host0(n));
}

static void vc_alloc(struct flit_net *n, u32 router)
{
	const u64 *busy = &n->busy[(size_t)router * n->words];
	const u64 *held = &n->held[(size_t)router * n->words];
	u32 asked = 0, w, a;

	for (w = 0; w < n->words; w++) {
		u64 set = busy[w] & ~held[w];

		for (; set; set &= set - 1) {
			u32 in = w * 64 + ang_lowest(set);
			u32 out = flit_pick(n, router, in);

			if (out == FLIT_NONE)
				continue;
			request(n, &asked, out, in,
			    behind(in, flit_out(n, router, out)->turn, n->inputs));
		}
	}
	for (a = 0; a < asked; a++) {
		u32 out = n->asked[a];

		vc_grant(n, router, n->best[out], out);
		n->best[out] = FLIT_NONE;
	}
}

/*
 * Return a credit to the sender of a flit that has left an input.  With the tail, also return the
 * room that the packet occupied beyond its flits.
 */
static void give_credit(struct flit_net *n, u32 router, u32 in, bool tail, u32 flits)
{
	const struct flit_port *back;
	const struct sim_end *e;
	u32 out, pad;

	if (in >= flit_host0(n)) {
		if (n->rule.date_line)
			flit_credit_at(n, FLIT_TO_HOST | (router * n->rule.hvc +
				       in - flit_host0(n)), 2);
		return;
	}
	e = sim_end(n->s, router, in / n->rule.nvc);
	back = flit_port(n, e->router, e->port);
	out = e->router * n->inputs + e->port * n->rule.nvc + in % n->rule.nvc;
	flit_credit_at(n, out, back->credit);
	pad = tail && n->rule.whole ? flit_place(n, in, flits) - flits : 0;
	n->out[out].pad -= pad;
	while (pad--)
		flit_credit_at(n, out, back->credit);
}

/* Lets the flit at the front of an input pass the switch. */
static void pass(struct flit_net *n, u32 router, u32 in)
{
	struct flit_in *i = flit_in(n, router, in);
	u32 out = i->out;
	struct flit_out *o = flit_out(n, router, out);
	struct flit f = n->ring[i->at + i->head];
	struct flit_pkt *k = &n->pkt[f.pkt];

	i->head = i->head + 1 == i->size ? 0 : i->head + 1;
	if (!--i->len)
		n->busy[(size_t)router * n->words + in / 64] &=
			~(1ULL << in % 64);
	n->count.switched++;
	n->count.moved = n->now;
	if (f.nr + 1 == k->flits) {
		o->owner = FLIT_NONE;
		i->out = FLIT_NONE;
		i->known = FLIT_NONE;
		n->held[(size_t)router * n->words + in / 64] &=
			~(1ULL << in % 64);
	}
	give_credit(n, router, in, f.nr + 1 == k->flits, k->flits);
	if (out >= flit_host0(n)) {
		n->rule.hosts->take(n, router, out - flit_host0(n), f);
		return;
	}
	if (n->rule.whole)
		o->rest--;
	else
		o->room--;
	if (!f.nr)
		k->hops++;
	n->count.crossed++;
	flit_arrive_at(n, flit_port(n, router, out / n->rule.nvc)->in +
		       out % n->rule.nvc, f,
		       flit_port(n, router, out / n->rule.nvc)->delay);
}

static bool may_pass(struct flit_net *n, u32 router, const struct flit_in *i)
{
	const struct flit_out *o = flit_out(n, router, i->out);

	if (i->since > n->now)
		return false;
	if (i->out >= flit_host0(n))
		return n->rule.hosts->may(n, o);
	return n->rule.whole || o->room;
}

/*
 * State of the switch's allocation, while it goes over the inputs with an output and flits.
 * Inputs that share an input of the switch, the inputs of one port, take turns.
 */
struct pass_list {
	u32 way;	/* port of the current input, FLIT_NONE: none yet */
	u32 chosen;	/* input of port @way that is chosen, FLIT_NONE: none yet */
	u32 least;	/* distance of @chosen from the input to serve first */
	u32 now[64];	/* inputs that pass the switch without a request */
	u32 count;
	u32 asked;
};

/* Lets the input that port @l->way has chosen, if any, request the port of its output. */
static void way_request(struct flit_net *n, u32 router, struct pass_list *l)
{
	const u32 *turn = &n->port_turn[(size_t)router * (n->nports + 1)];
	u32 to;

	if (l->chosen == FLIT_NONE)
		return;
	to = n->in_port[flit_in(n, router, l->chosen)->out];
	request(n, &l->asked, to, l->chosen, behind(l->way, turn[to], n->nports + 1));
	l->chosen = FLIT_NONE;
}

/*
 * Lets an input with an output and flits pass the switch without a request, request the port of
 * its output, or compete for the input of the switch that the inputs of its port share.
 */
static void pass_request(struct flit_net *n, u32 router, u32 in, struct pass_list *l)
{
	const u32 *turn = &n->port_turn[(size_t)router * (n->nports + 1)];
	const u32 *way_turn = &n->way_turn[(size_t)router * (n->nports + 1)];
	const struct flit_in *i = flit_in(n, router, in);
	u32 port, key;

	if (n->in_port[in] != l->way) {
		way_request(n, router, l);
		l->way = n->in_port[in];
	}
	if (!may_pass(n, router, i))
		return;
	port = n->in_port[i->out];
	if (!n->rule.one_way && port == n->nports) {
		l->now[l->count++] = in;
	} else if (!n->rule.one_way) {
		request(n, &l->asked, port, in, behind(in, turn[port], n->inputs));
	} else {
		key = behind(in, way_turn[l->way], n->inputs);
		if (l->chosen == FLIT_NONE || key < l->least) {
			l->chosen = in;
			l->least = key;
		}
	}
}

/*
 * Each port with a single input of the switch chooses one of its inputs.  Then
 * each port by which flits leave chooses one of these inputs.  A host behind
 * PCIe has its own channel, which needs no choice.
 */
static void switch_alloc(struct flit_net *n, u32 router)
{
	const u64 *busy = &n->busy[(size_t)router * n->words];
	const u64 *held = &n->held[(size_t)router * n->words];
	u32 *port_turn = &n->port_turn[(size_t)router * (n->nports + 1)];
	u32 *way_turn = &n->way_turn[(size_t)router * (n->nports + 1)];
	struct pass_list l;
	u32 w, a;

	l.way = FLIT_NONE;
	l.chosen = FLIT_NONE;
	l.count = 0;
	l.asked = 0;
	for (w = 0; w < n->words; w++) {
		u64 set = busy[w] & held[w];

		for (; set; set &= set - 1)
			pass_request(n, router, w * 64 + ang_lowest(set), &l);
	}
	way_request(n, router, &l);
	for (a = 0; a < l.asked; a++) {
		u32 port = n->asked[a], in = n->best[port];

		n->best[port] = FLIT_NONE;
		if (n->rule.one_way) {
			port_turn[port] = (n->in_port[in] + 1) % (n->nports + 1);
			way_turn[n->in_port[in]] = in + 1 == n->inputs ? 0 : in + 1;
		} else {
			port_turn[port] = in + 1 == n->inputs ? 0 : in + 1;
		}
		pass(n, router, in);
	}
	for (a = 0; a < l.count; a++)
		pass(n, router, l.now[a]);
}

/** flit_serve() - a tick of a router with flits */
void flit_serve(struct flit_net *n, u32 router)
{
	const u64 *busy = &n->busy[(size_t)router * n->words];
	u64 any = 0;
	u32 w;

	n->count.worked++;
	vc_alloc(n, router);
	switch_alloc(n, router);
	for (w = 0; w < n->words; w++)
		any |= busy[w];
	if (!any)
		n->active[router / 64] &= ~(1ULL << router % 64);
}
