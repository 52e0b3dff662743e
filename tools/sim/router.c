// SPDX-License-Identifier: GPL-2.0-only
/*
 * The router: sources, outputs, links, credits.
 *
 * An output checks its sources when it may be able to serve one of them: when
 * it becomes free, a source has a new head, or a credit arrives.  The output
 * knows this time in advance, or is woken.  So it has at most one pending
 * event, and ignores an event that a later event has replaced.
 */
#include "sim.h"

static void kick_at(struct sim_part *p, u32 node, u32 out, u64 time)
{
	struct sim_out *o = sim_out(p->sim, node, out);

	if (o->kick && o->kick <= time)
		return;
	o->kick = time;
	sim_push(p, time, node, SIM_EV_KICK, out, 0);
}

/*
 * Records that flits of the buffer behind a link become free, which the sender learns at @time.
 */
static void credit_note(struct sim_part *p, u32 node, u32 port, u32 vc, u64 time,
			u32 flits)
{
	struct sim_vc *v = sim_vc(p->sim, node, port, vc);
	u32 c = sim_credit_new(p);

	p->cr[c] = (struct sim_credit){ .time = time, .flits = flits };
	if (v->first)
		p->cr[v->last].next = c;
	else
		v->first = c;
	v->last = c;
	if (!v->wait)
		return;
	v->wait = 0;
	kick_at(p, node, port, time);
}

static struct sim_mail *mail(struct sim_part *p, u32 to)
{
	struct sim *s = p->sim;
	u32 lo = 0, hi = s->nparts;
	struct sim_mails *box;

	while (hi - lo > 1) {
		u32 mid = (lo + hi) / 2;

		if (s->owner_lo[mid] <= to)
			lo = mid;
		else
			hi = mid;
	}
	box = &p->out[lo];
	if (box->n == box->size) {
		box->size = box->size ? 2 * box->size : 64;
		box->m = realloc(box->m, box->size * sizeof(*box->m));
		if (!box->m) {
			fprintf(stderr, "angara-sim: out of memory for packets between threads\n");
			exit(1);
		}
	}
	return &box->m[box->n++];
}

static bool is_mine(const struct sim_part *p, u32 node)
{
	u32 local = node - p->sim->base;

	return local >= p->lo && local < p->hi;
}

/* Frees the room of a packet, whose tail leaves its source at @time. */
static void credit_return(struct sim_part *p, u32 node, u32 src, u64 time,
			  u32 flits)
{
	struct sim *s = p->sim;
	const struct sim_end *e = sim_end(s, node, src / SIM_NVC);
	u32 vc = src % SIM_NVC;
	struct sim_mail *m;

	time += e->latency;
	flits = sim_place(s, vc, flits);
	if (is_mine(p, e->router)) {
		credit_note(p, e->router - s->base, e->port, vc, time, flits);
		return;
	}
	m = mail(p, e->router);
	m->time = time;
	m->node = e->router;
	m->port = (u16)(e->port * SIM_NVC + vc);
	m->credit = (u16)flits;
}

/** sim_mail_take() - take the mail of another partition */
void sim_mail_take(struct sim_part *p, const struct sim_mail *m)
{
	u32 node = m->node - p->sim->base;
	u32 k;

	if (m->credit) {
		credit_note(p, node, m->port / SIM_NVC, m->port % SIM_NVC,
			    m->time, m->credit);
		return;
	}
	k = sim_pkt_new(p);
	p->pkt[k] = m->pkt;
	sim_push(p, m->time, node, SIM_EV_ARRIVE, m->port, k);
}

/* Frees the room of all credits of which the sender has learnt by now. */
static void credits_take(struct sim_part *p, struct sim_vc *v)
{
	while (v->first && p->cr[v->first].time <= p->now) {
		u32 c = v->first;

		v->first = p->cr[c].next;
		v->used -= p->cr[c].flits;
		sim_credit_free(p, c);
	}
}

/*
 * Is there room behind a link for packet @k?  A packet that enters a ring must
 * leave room there for the longest packet.
 * Return: 0 if there is room; else the time of the next check, or SIM_NEVER: a
 * credit wakes the output.
 */
static u64 link_room(struct sim_part *p, u32 node, u32 port, u32 vc,
		     bool straight, const struct sim_pkt *k)
{
	struct sim *s = p->sim;
	struct sim_vc *v = sim_vc(s, node, port, vc);
	u32 need = sim_place(s, vc, k->flits) + ang_room_needed(s->place, straight) - 1;
	u32 room, c;
	u64 at = 0;

	credits_take(p, v);
	room = sim_end(s, node, port)->depth - v->used;
	for (c = v->first; room < need; c = p->cr[c].next) {
		if (!c) {
			v->wait = 1;
			return SIM_NEVER;
		}
		room += p->cr[c].flits;
		at = p->cr[c].time;
	}
	return at;
}

/* Return: port by which packets of a source arrive; ANGARA_PORT_NONE: from within the adapter. */
static u32 src_port(const struct sim *s, u32 src)
{
	return src < s->src0 ? src / SIM_NVC : ANGARA_PORT_NONE;
}

/*
 * An adaptive packet takes any shortest path with room, or changes permanently
 * to the channel of the deterministic path, which is free of deadlocks.
 */
static u64 may_adapt(struct sim_part *p, u32 node, struct sim_pkt *k, u32 out)
{
	const struct sim *s = p->sim;
	u64 t = SIM_NEVER, det;

	/* With links down, routes may be longer than the shortest paths. */
	if (!s->down || sim_shortest(s, node, k->dst) >> out & 1)
		t = link_room(p, node, out, SIM_VC_ADAPT, true, k);
	k->vc = SIM_VC_ADAPT;
	if (!t || out != sim_route(s, node, k->dst))
		return t;
	det = link_room(p, node, out, ANGARA_VC_REQ, false, k);
	if (!det)
		k->vc = ANGARA_VC_REQ;
	return det < t ? det : t;
}

static bool is_adaptive(const struct sim *s, u32 src, const struct sim_pkt *k)
{
	if (src < s->src0)
		return src % SIM_NVC == SIM_VC_ADAPT;
	return sim_is_inj(s, src) &&
	       s->cfg.routing == SIM_ADAPTIVE && k->type == ANG_PKT_PUT;
}

/* When may the head of @src go to @out? Return: as link_room(). */
static u64 may_go(struct sim_part *p, u32 node, u32 src, u32 out)
{
	struct sim *s = p->sim;
	struct sim_fifo *f = sim_fifo(s, node, src);
	struct sim_pkt *k = &p->pkt[f->head];	/* few calls read the packet */

	if (f->ready > p->now)
		return f->ready;
	if (out == SIM_OUT_PE(s))
		return 0;
	if (out == SIM_OUT_RED(s))
		return s->cfg.reduce == SIM_BY_PACKET && k->tail > p->now ?
		       k->tail : 0;
	if (out == SIM_OUT_ROOT(s))
		return sim_fifo(s, node, s->src0 + SIM_SRC_ROOT)->len < ANG_FIFO ?
		       0 : SIM_NEVER;
	if (sim_is_result(s, src) && f->vc == ANGARA_VC_UP &&
	    sim_result_may(p, node, k))
		return SIM_NEVER;
	if (f->adaptive)
		return may_adapt(p, node, k, out);
	/* A packet that changes to another ring or channel enters a ring. */
	return link_room(p, node, out, f->vc,
			 ang_straight(src_port(s, src), out) &&
			 src % SIM_NVC == f->vc, k);
}

/** sim_link_put() - put a packet on a link, for the time from @from to @to */
void sim_link_put(struct sim_part *p, u32 node, u32 out, u32 k, u64 from, u64 to)
{
	struct sim *s = p->sim;
	struct sim_pkt *q = &p->pkt[k];
	const struct sim_end *e = sim_end(s, node, out);
	u32 port = e->port * (u32)SIM_NVC + q->vc;
	struct sim_mail *m;

	q->tail = to + e->latency;
	q->elig = sim_align(s, s->cfg.vc == SIM_CUT_THROUGH ?
			       from + e->latency : q->tail) +
		  sim_cycles(s, sim_hop(s, e->router - s->base));
	if (is_mine(p, e->router)) {
		sim_push(p, q->elig, e->router - s->base, SIM_EV_ARRIVE, port, k);
		return;
	}
	m = mail(p, e->router);
	m->time = q->elig;
	m->node = e->router;
	m->port = (u16)port;
	m->credit = 0;
	m->pkt = *q;
	sim_pkt_free(p, k);
}

/* Give packet @k to a link, which takes ownership. */
static void link_send(struct sim_part *p, u32 node, u32 out, u32 k)
{
	struct sim *s = p->sim;
	struct sim_out *o = sim_out(s, node, out);
	struct sim_pkt *q = &p->pkt[k];

	sim_vc(s, node, out, q->vc)->used += sim_place(s, q->vc, q->flits);
	sim_note(p, ANG_TR_SEND, node, q, out, p->now, o->free);
	o->flits += q->flits;
	o->pkts[q->vc]++;
	p->acc.sent++;
	q->hops++;
	if (!s->fault || !sim_retry_send(p, node, out, k))
		sim_link_put(p, node, out, k, p->now, o->free);
}

/* Return: time that an output needs for a packet. */
static u64 out_time(const struct sim *s, u32 out, const struct sim_pkt *k)
{
	if (out < s->nports)
		return s->link_ps[k->flits];
	if (out == SIM_OUT_PE(s))
		return sim_host_time(s, k->flits);
	return sim_cycles(s, k->flits);
}

/* Hand a packet to the block behind an output, which takes ownership. */
static void out_take(struct sim_part *p, u32 node, u32 src, u32 out, u32 k)
{
	struct sim *s = p->sim;
	u64 done = sim_out(s, node, out)->free;
	struct sim_pkt copy;

	if (out == SIM_OUT_PE(s)) {
		copy = p->pkt[k];
		sim_pkt_free(p, k);
		done = sim_max(p->now + sim_host_time(s, copy.flits), copy.tail);
		sim_deliver(p, node, &copy, done + s->cfg.eject);
	} else if (out == SIM_OUT_RED(s)) {
		sim_reducer_take(p, node, k, done);
	} else if (out == SIM_OUT_ROOT(s)) {
		/* Packets from the PE have been delayed by the PEGroup already. */
		p->pkt[k].elig = p->now;
		if (src != s->src0 + SIM_SRC_PE)
			p->pkt[k].elig += sim_cycles(s, (u32)s->cfg.pegroup);
		p->pkt[k].tail = sim_max(done, p->pkt[k].elig);
		sim_fifo_push(p, node, s->src0 + SIM_SRC_ROOT, k);
	} else {
		link_send(p, node, out, k);
	}
}

/*
 * Each module of a node has a channel from the router.  A packet takes the
 * channel that is free first, until @done.  Return: the time when a channel is
 * free again.
 */
static u64 pe_take(struct sim *s, u32 node, u64 done)
{
	u64 *chan = &s->pe_free[(size_t)node * s->modules];
	u32 i, first = 0;

	for (i = 1; i < s->modules; i++)
		if (chan[i] < chan[first])
			first = i;
	chan[first] = done;
	for (i = 0; i < s->modules; i++)
		if (chan[i] < done)
			done = chan[i];
	return done;
}

static void head_ask(struct sim_part *p, u32 node, u32 src);

/* The head of a source has left; @next is the new head. */
static void popped(struct sim_part *p, u32 node, u32 src, u32 next, u32 tree,
		   u32 flits)
{
	struct sim *s = p->sim;

	if (src < s->src0)
		credit_return(p, node, src, sim_fifo(s, node, src)->free, flits);
	if (next)
		head_ask(p, node, src);
	if (src < s->src0)
		return;
	if (src == s->src0 + SIM_SRC_PE || sim_is_inj(s, src))
		sim_pump(p, node);
	else if (src == s->src0 + SIM_SRC_ROOT)
		sim_serve(p, node, SIM_OUT_ROOT(s));
	else if (src == s->src0 + SIM_SRC_CREDIT)
		sim_credit_left(p, node, tree);
	else if (sim_is_result(s, src))
		sim_result_left(p, node, tree);
}

static void want(struct sim_out *o, u32 src)
{
	o->want[src / 64] |= 1ULL << src % 64;
}

static void want_not(struct sim_out *o, u32 src)
{
	o->want[src / 64] &= ~(1ULL << src % 64);
}

static bool wanted(const struct sim *s, const struct sim_out *o)
{
	u64 any = 0;
	u32 i;

	for (i = 0; i < s->words; i++)
		any |= o->want[i];
	return any;
}

/*
 * Return: time when the buffer of a packet to a host is free.  Flits leave the buffer one by one,
 * at the rate of a link.  The channel to the host may be slower: the buffer is free when the last
 * flit has left for the channel, which then still transfers this flit.  @done: time when the
 * channel is free.
 */
static u64 host_left(const struct sim *s, const struct sim_pkt *q, u64 done)
{
	u64 flit = sim_host_time(s, q->flits) / q->flits;

	if (flit <= s->link_ps[1])
		return done;
	return sim_max(done - (flit - s->link_ps[1]), q->tail);
}

static void grant(struct sim_part *p, u32 node, u32 src, u32 out)
{
	struct sim *s = p->sim;
	struct sim_fifo *f = sim_fifo(s, node, src);
	struct sim_out *o = sim_out(s, node, out);
	u32 k = f->head;
	struct sim_pkt *q = &p->pkt[k];
	u32 next = q->next, tree = q->tree, flits = q->flits;
	u64 rest, done;

	p->acc.events++;
	if (sim_is_result(s, src))
		sim_note(p, ANG_TR_RESULT, node, q, src, p->now, p->now);
	done = sim_max(p->now + out_time(s, out, q), q->tail);
	o->free = out == SIM_OUT_PE(s) ? pe_take(s, node, done) : done;
	o->turn = (u16)((src + 1) % s->nsrc);
	f->free = sim_max(f->free, out == SIM_OUT_PE(s) ? host_left(s, q, done) : done);
	if (f->adaptive) {
		for (rest = f->todo; rest; rest &= rest - 1)
			want_not(sim_out(s, node, ang_lowest(rest)), src);
		f->todo = 0;
	}
	want_not(o, src);
	f->todo &= ~(1ULL << out);
	rest = f->todo;
	if (rest) {
		k = sim_pkt_new(p);
		p->pkt[k] = p->pkt[f->head];
	} else {
		f->head = next;
		f->len--;
	}
	out_take(p, node, src, out, k);
	if (!rest) {
		popped(p, node, src, next, tree, flits);
	} else if (rest == SIM_PE(s) && s->cfg.copies == SIM_LINKS_FIRST) {
		want(sim_out(s, node, SIM_OUT_PE(s)), src);
		sim_serve(p, node, SIM_OUT_PE(s));
	}
}

/*
 * Return: the first source, from the turn of @out on, that @out may serve now, or ANG_NONE.
 * @next: out: time of the next check.
 */
static u32 out_first(struct sim_part *p, u32 node, u32 out, u64 *next)
{
	struct sim *s = p->sim;
	const struct sim_out *o = sim_out(s, node, out);
	u32 word = o->turn / 64U, i;

	*next = SIM_NEVER;
	/* Sources from @turn on, then the sources before @turn. */
	for (i = 0; i <= s->words; i++) {
		u64 low = (1ULL << o->turn % 64) - 1;
		u64 set = o->want[word];

		if (!i)
			set &= ~low;
		else if (i == s->words)
			set &= low;
		for (; set; set &= set - 1) {
			u32 src = word * 64 + ang_lowest(set);
			u64 t = may_go(p, node, src, out);

			if (t <= p->now)
				return src;
			if (t < *next)
				*next = t;
		}
		word = word + 1 == s->words ? 0 : word + 1;
	}
	return ANG_NONE;
}

/*
 * Return: the output that an adaptive head takes: the free output with most room, which may be
 * @out.
 */
static u32 adapt_best(struct sim_part *p, u32 node, u32 src, u32 out)
{
	struct sim *s = p->sim;
	struct sim_fifo *f = sim_fifo(s, node, src);
	const struct sim_pkt *k = &p->pkt[f->head];
	u32 best = out;
	u64 set;

	if (!f->adaptive || k->vc != SIM_VC_ADAPT)
		return out;
	for (set = f->todo; set; set &= set - 1) {
		u32 other = ang_lowest(set);

		credits_take(p, sim_vc(s, node, other, SIM_VC_ADAPT));
		if (sim_out(s, node, other)->free <= p->now &&
		    sim_vc(s, node, other, SIM_VC_ADAPT)->used <
		    sim_vc(s, node, best, SIM_VC_ADAPT)->used &&
		    !link_room(p, node, other, SIM_VC_ADAPT, true, k))
			best = other;
	}
	return best;
}

/**
 * sim_serve() - let an output check its sources
 *
 * If the source in turn prefers another output, that output serves first, in
 * its own turn.  Each preferred output has more room than the one before, so
 * this ends.
 */
void sim_serve(struct sim_part *p, u32 node, u32 out)
{
	struct sim *s = p->sim;
	struct sim_out *o = sim_out(s, node, out);

	while (wanted(s, o)) {
		u32 src, best;
		u64 next;

		if (o->free > p->now) {
			kick_at(p, node, out, o->free);
			return;
		}
		src = out_first(p, node, out, &next);
		if (src == ANG_NONE) {
			if (next != SIM_NEVER)
				kick_at(p, node, out, next);
			return;
		}
		best = adapt_best(p, node, src, out);
		if (best == out)
			grant(p, node, src, out);
		else
			sim_serve(p, node, best);
	}
}

static void ask(struct sim_part *p, u32 node, u32 src, u32 out)
{
	struct sim_fifo *f = sim_fifo(p->sim, node, src);
	struct sim_out *o = sim_out(p->sim, node, out);
	u64 t = sim_max(f->ready, o->free);

	want(o, src);
	if (t > p->now)
		kick_at(p, node, out, t);
	else
		sim_serve(p, node, out);
}

/**
 * sim_p2p_outs() - find outputs that a point-to-point packet may take; set its
 * channel
 */
u64 sim_p2p_outs(struct sim_part *p, u32 node, u32 src, struct sim_pkt *k)
{
	struct sim *s = p->sim;
	u64 outs;

	if (s->base + node == k->dst)
		return SIM_PE(s);
	k->vc = sim_is_request(k->type) ? ANGARA_VC_REQ : ANGARA_VC_RSP;
	if (!is_adaptive(s, src, k))
		return 1ULL << sim_route(s, node, k->dst);
	outs = sim_shortest(s, node, k->dst);
	return s->down ? sim_ports_up(s, node, k->dst, outs) : outs;
}

/* Request @outs, then serve until one takes the head; see adapt_best(). */
static void ask_any(struct sim_part *p, u32 node, u32 src, u64 outs)
{
	struct sim_fifo *f = sim_fifo(p->sim, node, src);
	u32 head = f->head;
	u64 set;

	/*
	 * Requests come first, since sim_serve() of an output may let another
	 * output serve first.
	 */
	for (set = outs; set; set &= set - 1)
		want(sim_out(p->sim, node, ang_lowest(set)), src);
	for (; outs && f->head == head && f->todo; outs &= outs - 1)
		ask(p, node, src, ang_lowest(outs));
}

/* A packet has become the head of a source: request its outputs. */
static void head_ask(struct sim_part *p, u32 node, u32 src)
{
	struct sim *s = p->sim;
	struct sim_fifo *f = sim_fifo(s, node, src);
	u32 head = f->head;
	struct sim_pkt *k = &p->pkt[head];
	u64 outs;

	f->ready = sim_max(k->elig, f->free);
	if (k->dst != ANG_NONE && k->type != ANG_PKT_REDUCE)
		outs = sim_p2p_outs(p, node, src, k);
	else
		outs = sim_coll_outs(p, node, src, k);
	f->todo = outs;
	f->vc = k->vc;
	f->adaptive = outs & ~SIM_PE(s) && is_adaptive(s, src, k);
	if (f->adaptive) {
		ask_any(p, node, src, outs);
		return;
	}
	/* grant() requests the PE when no other output is left. */
	if (s->cfg.copies == SIM_LINKS_FIRST && outs & ~SIM_PE(s))
		outs &= ~SIM_PE(s);
	for (; outs; outs &= outs - 1)
		ask(p, node, src, ang_lowest(outs));
}

/*
 * Record the arrival of a packet.  On a link, the arrival begins when the head
 * arrives: earlier than the tail by the time on the link, or by more if the
 * tail comes slowly, as from a host.
 */
static void note_arrival(struct sim_part *p, u32 node, u32 src,
			 const struct sim_pkt *k)
{
	const struct sim *s = p->sim;
	u64 from = p->now;

	if (src < s->src0) {
		from = k->tail - s->link_ps[k->flits];
		if (k->elig - sim_cycles(s, sim_hop(s, node)) < from)
			from = k->elig - sim_cycles(s, sim_hop(s, node));
	}
	sim_note(p, SIM_TR_ARRIVE, node, k, src, from, k->tail);
}

/** sim_fifo_push() - append a packet to a source */
void sim_fifo_push(struct sim_part *p, u32 node, u32 src, u32 k)
{
	struct sim_fifo *f = sim_fifo(p->sim, node, src);

	if (p->trace)
		note_arrival(p, node, src, &p->pkt[k]);
	p->pkt[k].next = 0;
	f->len++;
	if (f->head) {
		p->pkt[f->tail].next = k;
		f->tail = k;
		return;
	}
	f->head = k;
	f->tail = k;
	head_ask(p, node, src);
}

/** sim_event() - run an event */
void sim_event(struct sim_part *p, const struct sim_ev *e)
{
	u32 port = e->key & SIM_EV_PORT;
	struct sim_out *o;

	/*
	 * Checks of outputs are not counted: their number depends on the order
	 * of nodes.
	 */
	if (e->key >> SIM_EV_SHIFT != SIM_EV_KICK)
		p->acc.events++;
	switch (e->key >> SIM_EV_SHIFT) {
	case SIM_EV_ARRIVE:
		sim_fifo_push(p, e->node, port, e->arg);
		break;
	case SIM_EV_HOST:
		p->sim->work->host(p, e->node, e->arg);
		break;
	case SIM_EV_CREDIT:
		sim_credit_pe(p, e->node, e->arg, port);
		break;
	case SIM_EV_TIMER:
		sim_credit_timer(p, e->node);
		break;
	case SIM_EV_RETRY:
		sim_retry_due(p, e->node, port);
		break;
	default:
		o = sim_out(p->sim, e->node, port);
		if (o->kick != e->time)
			break;
		o->kick = 0;
		sim_serve(p, e->node, port);
	}
}
