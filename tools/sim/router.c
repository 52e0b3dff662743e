// SPDX-License-Identifier: GPL-2.0-only
/*
 * The router: sources, outputs, links, credits.
 *
 * Every output looks for work when something changes that it waits for: its
 * own end, a new head of a source, a credit.  It knows beforehand when that
 * will be, or is woken, so it has one event pending at most; earlier ones that
 * a still earlier one has overtaken are ignored.
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

/* A place of the buffer behind a link is free; its sender knows at @time. */
static void credit_note(struct sim_part *p, u32 node, u32 dir, u32 vc, u64 time)
{
	struct sim *s = p->sim;
	struct sim_vc *v = sim_vc(s, node, dir, vc);

	v->back[(v->head + v->count++) % s->cfg.buffer] = time;
	if (!v->wait)
		return;
	v->wait = 0;
	kick_at(p, node, dir, time);
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
			fprintf(stderr, "angara-sim: out of memory for mail\n");
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

static void credit_return(struct sim_part *p, u32 node, u32 dir, u32 vc, u64 time)
{
	struct sim *s = p->sim;
	u32 nb = s->nb[(size_t)node * s->ndirs + dir];
	struct sim_mail *m;

	if (is_mine(p, nb)) {
		credit_note(p, nb - s->base, dir ^ 1, vc, time);
		return;
	}
	m = mail(p, nb);
	m->time = time;
	m->node = nb;
	m->port = (u16)((dir ^ 1) * SIM_NVC + vc);
	m->credit = 1;
}

/** sim_mail_take() - take what another partition has sent */
void sim_mail_take(struct sim_part *p, const struct sim_mail *m)
{
	u32 node = m->node - p->sim->base;
	u32 k;

	if (m->credit) {
		credit_note(p, node, m->port / SIM_NVC, m->port % SIM_NVC,
			    m->time);
		return;
	}
	k = sim_pkt_new(p);
	p->pkt[k] = m->pkt;
	sim_push(p, m->time, node, SIM_EV_ARRIVE, m->port, k);
}

/*
 * Is there room behind a link?
 * Return: 0; when there may be; SIM_NEVER: the output will be woken.
 */
static u64 link_room(struct sim_part *p, u32 node, u32 dir, u32 vc,
		     bool straight)
{
	struct sim *s = p->sim;
	struct sim_vc *v = sim_vc(s, node, dir, vc);

	while (v->count && v->back[v->head] <= p->now) {
		v->head = (u16)((v->head + 1) % s->cfg.buffer);
		v->count--;
		v->used--;
	}
	if (s->cfg.buffer - v->used >= ang_room_needed(straight))
		return 0;
	if (v->count)
		return v->back[v->head];
	v->wait = 1;
	return SIM_NEVER;
}

/* Direction that a source's packets come from. */
static u32 src_dir(const struct sim *s, u32 src)
{
	return src < s->src0 ? src / SIM_NVC : ANGARA_PORT_NONE;
}

/*
 * An adaptive packet goes on any shortest way where there is room, or changes
 * for good to the channel of the deterministic way, which never locks up.
 */
static u64 may_adapt(struct sim_part *p, u32 node, struct sim_pkt *k, u32 out)
{
	const struct sim *s = p->sim;
	u64 t = link_room(p, node, out, SIM_VC_ADAPT, true);
	u64 det;

	k->vc = SIM_VC_ADAPT;
	if (!t || out != ang_route_coords(&s->topo, s->coord[s->base + node],
					  s->coord[k->dst]))
		return t;
	det = link_room(p, node, out, ANGARA_VC_REQ, false);
	if (!det)
		k->vc = ANGARA_VC_REQ;
	return det < t ? det : t;
}

static bool is_adaptive(const struct sim *s, u32 src, const struct sim_pkt *k)
{
	if (src < s->src0)
		return src % SIM_NVC == SIM_VC_ADAPT;
	return src == s->src0 + SIM_SRC_INJ &&
	       s->cfg.routing == SIM_ADAPTIVE && k->type == ANG_PKT_PUT;
}

/* When may the head of @src go to @out?  As link_room(). */
static u64 may_go(struct sim_part *p, u32 node, u32 src, u32 out)
{
	struct sim *s = p->sim;
	struct sim_fifo *f = sim_fifo(s, node, src);
	struct sim_pkt *k = &p->pkt[f->head];	/* looked at in few cases only */

	if (f->ready > p->now)
		return f->ready;
	switch (out) {
	case SIM_OUT_PE:
		return 0;
	case SIM_OUT_RED:
		if (s->cfg.reduce == SIM_BY_PACKET && k->tail > p->now)
			return k->tail;
		return 0;
	case SIM_OUT_ROOT:
		if (sim_fifo(s, node, s->src0 + SIM_SRC_ROOT)->len < ANG_FIFO)
			return 0;
		return SIM_NEVER;
	}
	if (src >= s->src0 + SIM_SRC_RESULT && f->vc == ANGARA_VC_UP &&
	    sim_result_may(p, node, k))
		return SIM_NEVER;
	if (f->adaptive)
		return may_adapt(p, node, k, out);
	/* Who turns into another ring, or onto another channel, enters. */
	return link_room(p, node, out, f->vc,
			 ang_straight(src_dir(s, src), out) &&
			 src % SIM_NVC == f->vc);
}

/* Put the packet on a link; @k is a copy of its own. */
static void link_send(struct sim_part *p, u32 node, u32 out, u32 k)
{
	struct sim *s = p->sim;
	struct sim_out *o = sim_out(s, node, out);
	struct sim_pkt *q = &p->pkt[k];
	u32 nb = s->nb[(size_t)node * s->ndirs + out];
	u32 port = (out ^ 1) * SIM_NVC + q->vc;
	struct sim_mail *m;

	sim_vc(s, node, out, q->vc)->used++;
	sim_note(p, ANG_TR_SEND, node, q, out, p->now, o->free);
	o->flits += q->flits;
	o->pkts[q->vc] += q->npkts;
	p->acc.sent += q->npkts;
	q->hops++;
	q->tail = o->free + s->cfg.link_latency;
	q->elig = sim_align(s, s->cfg.vc == SIM_CUT_THROUGH ?
			       p->now + s->cfg.link_latency : q->tail) +
		  sim_cycles(s, (u32)s->cfg.router);
	if (is_mine(p, nb)) {
		sim_push(p, q->elig, nb - s->base, SIM_EV_ARRIVE, port, k);
		return;
	}
	m = mail(p, nb);
	m->time = q->elig;
	m->node = nb;
	m->port = (u16)port;
	m->credit = 0;
	m->pkt = *q;
	sim_pkt_free(p, k);
}

/* Time that an output needs for a packet. */
static u64 out_time(const struct sim *s, u32 out, const struct sim_pkt *k)
{
	if (out < ANG_MAX_DIRS)
		return s->link_ps[k->flits];
	if (out == SIM_OUT_PE)
		return sim_host_time(s, k->npkts, k->flits);
	return sim_cycles(s, k->flits);
}

/* Hand a packet to what is behind an output; it takes @k over. */
static void out_take(struct sim_part *p, u32 node, u32 src, u32 out, u32 k)
{
	struct sim *s = p->sim;
	u64 done = sim_out(s, node, out)->free;
	struct sim_pkt copy;

	switch (out) {
	case SIM_OUT_PE:
		copy = p->pkt[k];
		sim_pkt_free(p, k);
		sim_deliver(p, node, &copy, done + s->cfg.eject);
		break;
	case SIM_OUT_RED:
		sim_reducer_take(p, node, k, done);
		break;
	case SIM_OUT_ROOT:
		/* What the PE injects has been through the PEGroup already. */
		p->pkt[k].elig = p->now;
		if (src != s->src0 + SIM_SRC_PE)
			p->pkt[k].elig += sim_cycles(s, (u32)s->cfg.pegroup);
		p->pkt[k].tail = sim_max(done, p->pkt[k].elig);
		sim_fifo_push(p, node, s->src0 + SIM_SRC_ROOT, k);
		break;
	default:
		link_send(p, node, out, k);
	}
}

static void head_ask(struct sim_part *p, u32 node, u32 src);

/* The head of a source is gone, @next is the new one. */
static void popped(struct sim_part *p, u32 node, u32 src, u32 next, u32 tree,
		   u32 npkts)
{
	struct sim *s = p->sim;

	if (src < s->src0)
		credit_return(p, node, src / SIM_NVC, src % SIM_NVC,
			      sim_fifo(s, node, src)->free +
			      s->cfg.link_latency);
	if (next)
		head_ask(p, node, src);
	if (src < s->src0)
		return;
	src -= s->src0;
	if (src == SIM_SRC_PE || src == SIM_SRC_INJ)
		sim_pump(p, node);
	else if (src == SIM_SRC_ROOT)
		sim_serve(p, node, SIM_OUT_ROOT);
	else if (src == SIM_SRC_CREDIT)
		sim_credit_left(p, node, tree);
	else if (src >= SIM_SRC_RESULT)
		sim_result_left(p, node, tree, npkts);
}

static void grant(struct sim_part *p, u32 node, u32 src, u32 out)
{
	struct sim *s = p->sim;
	struct sim_fifo *f = sim_fifo(s, node, src);
	struct sim_out *o = sim_out(s, node, out);
	u32 k = f->head;
	struct sim_pkt *q = &p->pkt[k];
	u32 next = q->next, tree = q->tree, npkts = q->npkts;
	u32 rest;

	p->acc.events++;
	if (src >= s->src0 + SIM_SRC_RESULT)
		sim_note(p, ANG_TR_RESULT, node, q, src, p->now, p->now);
	o->free = sim_max(p->now + out_time(s, out, q), q->tail);
	o->turn = (u8)(src + 1);
	f->free = sim_max(f->free, o->free);
	if (f->adaptive) {
		for (rest = f->todo; rest; rest &= rest - 1)
			sim_out(s, node, ang_lowest(rest))->want &= ~(1ULL << src);
		f->todo = 0;
	}
	o->want &= ~(1ULL << src);
	f->todo &= (u16)~(1U << out);
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
		popped(p, node, src, next, tree, npkts);
	} else if (rest == ANG_OUT_PE) {
		sim_out(s, node, SIM_OUT_PE)->want |= 1ULL << src;
		sim_serve(p, node, SIM_OUT_PE);
	}
}

/** sim_serve() - let an output look for work */
void sim_serve(struct sim_part *p, u32 node, u32 out)
{
	struct sim_out *o = sim_out(p->sim, node, out);
	u64 next = SIM_NEVER;
	u64 set, low;

	if (!o->want)
		return;
	if (o->free > p->now) {
		kick_at(p, node, out, o->free);
		return;
	}
	/* From @turn on, then those before it. */
	low = o->want & ((1ULL << (o->turn & 63)) - 1);
	set = o->want & ~low;
	for (; set || low; set &= set - 1) {
		u32 src;
		u64 t;

		if (!set) {
			set = low;
			low = 0;
		}
		src = ang_lowest(set);
		t = may_go(p, node, src, out);
		if (t <= p->now) {
			grant(p, node, src, out);
			if (o->want)
				kick_at(p, node, out, o->free);
			return;
		}
		if (t < next)
			next = t;
	}
	if (next != SIM_NEVER)
		kick_at(p, node, out, next);
}

static void ask(struct sim_part *p, u32 node, u32 src, u32 out)
{
	struct sim_fifo *f = sim_fifo(p->sim, node, src);
	struct sim_out *o = sim_out(p->sim, node, out);
	u64 t = sim_max(f->ready, o->free);

	o->want |= 1ULL << src;
	if (t > p->now)
		kick_at(p, node, out, t);
	else
		sim_serve(p, node, out);
}

/** sim_p2p_outs() - outputs that a point-to-point packet may take, and its channel */
u32 sim_p2p_outs(struct sim_part *p, u32 node, u32 src, struct sim_pkt *k)
{
	struct sim *s = p->sim;
	const u16 *at = s->coord[s->base + node];
	const u16 *to = s->coord[k->dst];
	u32 outs = 0, d;

	if (s->base + node == k->dst)
		return ANG_OUT_PE;
	k->vc = k->type == ANG_PKT_PUT || k->type == ANG_PKT_GET ?
		ANGARA_VC_REQ : ANGARA_VC_RSP;
	if (!is_adaptive(s, src, k))
		return 1U << ang_route_coords(&s->topo, at, to);
	for (d = 0; d < s->topo.ndims; d++) {
		u32 size = s->topo.dims[d];

		if (at[d] == to[d])
			continue;
		outs |= 1U << (2 * d + ang_ring_minus(size, at[d], to[d]));
		if (2U * (at[d] > to[d] ? at[d] - to[d] : to[d] - at[d]) == size)
			outs |= 3U << 2 * d;	/* both ways are shortest */
	}
	return outs;
}

/* Ask first where most room is left. */
static void ask_any(struct sim_part *p, u32 node, u32 src, u32 outs)
{
	struct sim *s = p->sim;
	struct sim_fifo *f = sim_fifo(s, node, src);
	u32 head = f->head;

	while (outs && f->head == head && f->todo) {
		u32 best = ang_lowest(outs);
		u32 set;

		for (set = outs & (outs - 1); set; set &= set - 1) {
			u32 out = ang_lowest(set);
			u32 used = sim_vc(s, node, out, SIM_VC_ADAPT)->used;
			u32 least = sim_vc(s, node, best, SIM_VC_ADAPT)->used;

			if (sim_out(s, node, out)->free <= p->now &&
			    (sim_out(s, node, best)->free > p->now ||
			     used < least))
				best = out;
		}
		outs &= ~(1U << best);
		ask(p, node, src, best);
	}
}

/* A packet has become the head of a source: what does it need? */
static void head_ask(struct sim_part *p, u32 node, u32 src)
{
	struct sim *s = p->sim;
	struct sim_fifo *f = sim_fifo(s, node, src);
	u32 head = f->head;
	struct sim_pkt *k = &p->pkt[head];
	u32 outs;

	f->ready = sim_max(k->elig, f->free);
	if (k->dst != ANG_NONE && k->type != ANG_PKT_REDUCE)
		outs = sim_p2p_outs(p, node, src, k);
	else
		outs = sim_coll_outs(p, node, src, k);
	f->todo = (u16)outs;
	f->vc = k->vc;
	f->adaptive = outs & ~ANG_OUT_PE && is_adaptive(s, src, k);
	if (f->adaptive) {
		ask_any(p, node, src, outs);
		return;
	}
	for (outs = ang_pe_last(outs); outs; outs &= outs - 1)
		ask(p, node, src, ang_lowest(outs));
}

/*
 * From a link a packet has been coming since before it may leave; longer than
 * it takes the link if its tail comes slowly, as from a host.
 */
static void note_arrival(struct sim_part *p, u32 node, u32 src,
			 const struct sim_pkt *k)
{
	const struct sim *s = p->sim;
	u64 from = p->now;

	if (src < s->src0) {
		from = k->tail - s->link_ps[k->flits];
		if (k->elig - sim_cycles(s, (u32)s->cfg.router) < from)
			from = k->elig - sim_cycles(s, (u32)s->cfg.router);
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
	u32 port = e->key & 0xFF;
	struct sim_out *o;

	/* Looks in vain depend on who runs first; grants do not. */
	if (e->key >> 8 != SIM_EV_KICK)
		p->acc.events++;
	switch (e->key >> 8) {
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
	default:
		o = sim_out(p->sim, e->node, port);
		if (o->kick != e->time)
			break;
		o->kick = 0;
		sim_serve(p, e->node, port);
	}
}
