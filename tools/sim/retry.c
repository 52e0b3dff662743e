// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links that lose and corrupt packets: the rules of the device model
 * (ang_fault.h), with simulated times.
 *
 * Go-back-N: the far end takes packets in order only, and drops corrupted ones.
 * It answers each packet that it receives with the number that it expects next;
 * answers can be lost like packets.  So the sender learns of a loss when a
 * later packet has crossed the link and its answer has returned; until then the
 * far end drops all packets.  Without an answer the sender sends again after
 * ANG_RETRY_TIMEOUT. An answer covers all packets before it, so a lost answer
 * costs nothing if another packet follows; otherwise the packet is sent twice.
 *
 * The link keeps packets that the far end has not taken, up to
 * ANG_RETRY_WINDOW. The window covers a round trip, so packets that the far end
 * has taken never fill it.
 */
#include "sim.h"

static struct sim_retry *retry_of(const struct sim *s, u32 node, u32 port)
{
	return &s->retry[(size_t)node * s->nports + port];
}

static const struct ang_fault *fault_of(const struct sim *s, u32 node, u32 port)
{
	return &s->fault[(size_t)node * s->nports + port];
}

/**
 * sim_retry_begin() - seed the generator of each link with a number of its own
 */
void sim_retry_begin(struct sim *s)
{
	u32 node, port;

	s->retry = sim_zalloc((size_t)s->nodes * s->nports, sizeof(*s->retry));
	for (node = 0; node < s->nodes; node++)
		for (port = 0; port < s->nports; port++)
			retry_of(s, node, port)->rng = s->cfg.seed ^
				(u64)(s->base + node) << 40 ^ (u64)port << 32;
}

/*
 * Return: time of a round trip.  The latency of the cable includes the delay of the fault, which
 * applies in one direction only.
 */
static u64 round_trip(const struct sim *s, u32 node, u32 port)
{
	return 2 * sim_end(s, node, port)->latency -
	       sim_cycles(s, fault_of(s, node, port)->delay);
}

/* Draws whether a packet or an answer passes the link. */
static bool passes(const struct sim *s, u32 node, u32 port)
{
	return ang_fault_fate(fault_of(s, node, port),
			      &retry_of(s, node, port)->rng) == ANG_FATE_OK;
}

static void resend_at(struct sim_part *p, u32 node, u32 port, u64 time)
{
	retry_of(p->sim, node, port)->resend = time;
	sim_push(p, time, node, SIM_EV_RETRY, port, 0);
}

/* Set the timeout for packets that left by @sent and have no answer yet. */
static void timeout_from(struct sim_part *p, u32 node, u32 port, u64 sent)
{
	resend_at(p, node, port, sent + round_trip(p->sim, node, port) +
				 sim_cycles(p->sim, ANG_RETRY_TIMEOUT));
}

/* Frees packets that an answer has acknowledged. */
static void answered(struct sim_retry *r)
{
	r->open = 0;
	r->open_ps = 0;
	r->resend = 0;
}

/* Lets the far end take a packet that is on the link from time @from to time @to. */
static void take(struct sim_part *p, u32 node, u32 port, u32 k, u64 from, u64 to)
{
	struct sim_retry *r = retry_of(p->sim, node, port);

	r->open++;
	r->open_ps += p->sim->link_ps[p->pkt[k].flits];
	sim_link_put(p, node, port, k, from, to);
	if (passes(p->sim, node, port))
		answered(r);
	else
		timeout_from(p, node, port, to);
}

/*
 * A packet after a lost one leaves the link at @sent.  If the packet and its
 * answer arrive, the sender learns of the loss a round trip later.  Until then
 * the far end drops all packets of the link.
 */
static void report(struct sim_part *p, u32 node, u32 port, u64 sent)
{
	struct sim *s = p->sim;
	struct sim_retry *r = retry_of(s, node, port);
	struct sim_out *o = sim_out(s, node, port);
	u64 known = sent + round_trip(s, node, port);

	if (known < r->resend && passes(s, node, port) && passes(s, node, port)) {
		answered(r);
		resend_at(p, node, port, known);
		o->free = sim_max(o->free, known);
	}
}

/**
 * sim_retry_send() - send a packet over a link with faults
 * @p: partition
 * @node: node
 * @port: port of the link, which is free when the packet has left
 * @k: packet
 *
 * Return: false if the link neither loses nor corrupts packets, and the caller
 * has to send the packet.
 */
bool sim_retry_send(struct sim_part *p, u32 node, u32 port, u32 k)
{
	struct sim *s = p->sim;
	const struct ang_fault *fault = fault_of(s, node, port);
	struct sim_retry *r = retry_of(s, node, port);
	struct sim_out *o = sim_out(s, node, port);
	u64 sent = o->free;

	if (!fault->loss && !fault->corrupt)
		return false;
	if (!r->held && passes(s, node, port)) {
		take(p, node, port, k, p->now, sent);
		return true;
	}
	p->pkt[k].next = 0;
	if (r->held++) {
		p->pkt[r->last].next = k;
		report(p, node, port, sent);
	} else {
		r->first = k;
		timeout_from(p, node, port, sent);
	}
	r->last = k;
	if (r->held == ANG_RETRY_WINDOW)
		o->free = sim_max(o->free, r->resend);
	return true;
}

/*
 * Send packets again whose answers were lost.  Return: the time when they have
 * left.
 */
static u64 open_again(struct sim_part *p, u32 node, u32 port, u64 from)
{
	struct sim_retry *r = retry_of(p->sim, node, port);
	u64 to = from + r->open_ps;
	bool heard = false;
	u32 i;

	for (i = 0; i < r->open; i++)
		heard |= passes(p->sim, node, port);
	if (heard && passes(p->sim, node, port))
		answered(r);
	else if (r->open)
		timeout_from(p, node, port, to);
	return to;
}

/* Send all packets after a lost one, until the sender learns of the loss. */
static void rest_again(struct sim_part *p, u32 node, u32 port, u64 sent)
{
	struct sim *s = p->sim;
	struct sim_out *o = sim_out(s, node, port);
	u32 k = retry_of(s, node, port)->first;

	timeout_from(p, node, port, sent);
	o->free = sent;
	for (k = p->pkt[k].next; k && o->free <= sent; k = p->pkt[k].next) {
		sent += s->link_ps[p->pkt[k].flits];
		o->free = sent;
		report(p, node, port, sent);
	}
}

/**
 * sim_retry_due() - send packets again that are not acknowledged
 * @p: partition
 * @node: node
 * @port: port of the link
 */
void sim_retry_due(struct sim_part *p, u32 node, u32 port)
{
	struct sim *s = p->sim;
	struct sim_retry *r = retry_of(s, node, port);
	struct sim_out *o = sim_out(s, node, port);
	u64 from = sim_max(p->now, o->free), to;

	/* This event is outdated: an answer arrived, or the time changed. */
	if (r->resend != p->now)
		return;
	from = open_again(p, node, port, from);
	while (r->first) {
		u32 k = r->first;

		to = from + s->link_ps[p->pkt[k].flits];
		if (!passes(s, node, port)) {
			rest_again(p, node, port, to);
			return;
		}
		r->first = p->pkt[k].next;
		r->held--;
		take(p, node, port, k, from, to);
		from = to;
	}
	o->free = from;
}
