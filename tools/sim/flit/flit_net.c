// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flit engine: memory of a network, and its arrivals and credits in later
 * ticks.
 */
#include <errno.h>
#include "flit.h"

#define SLOTS_MOST	(1U << 16)

static void *grow(void *mem, u32 *size, size_t each)
{
	*size = *size ? 2 * *size : 16;
	mem = realloc(mem, *size * each);
	if (mem)
		return mem;
	fprintf(stderr, "angara-sim: out of memory for flits\n");
	exit(1);
}

static struct flit_slot *slot_of(struct flit_net *n, u64 ticks)
{
	return &n->slot[(n->now + ticks) & (n->slots - 1)];
}

/** flit_arrive_at() - let a flit arrive at an input or a host some ticks from now */
void flit_arrive_at(struct flit_net *n, u32 in, struct flit f, u64 ticks)
{
	struct flit_slot *t = slot_of(n, ticks);

	if (t->arrivals == t->arrivals_size)
		t->arrival = grow(t->arrival, &t->arrivals_size,
				  sizeof(*t->arrival));
	t->arrival[t->arrivals++] = (struct flit_arrival){ in, f };
}

/** flit_credit_at() - give an output or a host a credit some ticks from now */
void flit_credit_at(struct flit_net *n, u32 out, u64 ticks)
{
	struct flit_slot *t = slot_of(n, ticks);

	if (t->credits == t->credits_size)
		t->credit = grow(t->credit, &t->credits_size,
				 sizeof(*t->credit));
	t->credit[t->credits++] = out;
}

/**
 * flit_put() - append a flit to an input; @in counts the inputs of all routers
 */
void flit_put(struct flit_net *n, u32 in, struct flit f)
{
	struct flit_in *i = &n->in[in];
	u32 router = in / n->inputs, bit = in % n->inputs;
	u32 at = i->head + i->len++;

	if (i->len > i->size) {
		n->wrong = "more flits than a buffer holds";
		i->len--;
		return;
	}
	n->ring[i->at + (at < i->size ? at : at - i->size)] = f;
	n->busy[(size_t)router * n->words + bit / 64] |= 1ULL << bit % 64;
	n->active[router / 64] |= 1ULL << router % 64;
}

u32 flit_pkt_new(struct flit_net *n)
{
	u32 k = n->pkt_free;

	if (k == FLIT_NONE) {
		u32 i = n->pkts;

		n->pkt = grow(n->pkt, &n->pkts, sizeof(*n->pkt));
		for (; i < n->pkts; i++) {
			n->pkt[i].next = n->pkt_free;
			n->pkt_free = i;
		}
		k = n->pkt_free;
	}
	n->pkt_free = n->pkt[k].next;
	n->pkt_live++;
	n->pkt[k] = (struct flit_pkt){ .next = FLIT_NONE };
	return k;
}

void flit_pkt_free(struct flit_net *n, u32 k)
{
	n->pkt[k].next = n->pkt_free;
	n->pkt_free = k;
	n->pkt_live--;
}

static bool sooner(const struct flit_due *a, const struct flit_due *b)
{
	return a->tick != b->tick ? a->tick < b->tick : a->host < b->host;
}

/** flit_due_add() - add the tick when a host generates a packet, once per host */
void flit_due_add(struct flit_net *n, u64 tick, u32 host)
{
	struct flit_due d = { tick, host };
	u32 at = n->dues++;

	while (at && sooner(&d, &n->due[(at - 1) / 2])) {
		n->due[at] = n->due[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	n->due[at] = d;
}

/** flit_due_take() - take the next host that is due by now.  Return: whether one is due. */
bool flit_due_take(struct flit_net *n, u32 *host)
{
	struct flit_due last;
	u32 at = 0, child;

	if (!n->dues || n->due[0].tick > n->now)
		return false;
	*host = n->due[0].host;
	last = n->due[--n->dues];
	while ((child = 2 * at + 1) < n->dues) {
		if (child + 1 < n->dues &&
		    sooner(&n->due[child + 1], &n->due[child]))
			child++;
		if (sooner(&last, &n->due[child]))
			break;
		n->due[at] = n->due[child];
		at = child;
	}
	n->due[at] = last;
	return true;
}

static u64 to_ticks(const struct flit_net *n, u64 ps)
{
	return (ps + n->rule.tick / 2) / n->rule.tick;
}

/*
 * Sets the delays of a port, and the depth of the buffers behind it.  In a textbook's network, a
 * flit that passes the switch in tick t passes the crossbar in t + 1, is on the channel in t + 2
 * and in the next buffer in t + 3; its credit takes two ticks.  In other networks, cables and
 * routers have the fabric's delays.
 */
static void port_times(struct flit_net *n, u32 router, struct flit_port *p)
{
	const struct sim *s = n->s;
	const struct sim_end *e = sim_end(s, router, (u32)(p - flit_port(n, router, 0)));

	if (n->rule.date_line) {
		p->delay = 3;
		p->credit = 2;
		p->depth = n->rule.host_in;
		return;
	}
	p->delay = (u32)to_ticks(n, e->latency +
				 sim_cycles(s, sim_hop(s, e->router)));
	p->credit = 1 + (u32)to_ticks(n, e->latency);
	p->depth = e->depth;
}

static u32 lay_ports(struct flit_net *n)
{
	u32 most = 4, i, port;

	for (i = 0; i < n->routers; i++) {
		for (port = 0; port < n->nports; port++) {
			const struct sim_end *e = sim_end(n->s, i, port);
			struct flit_port *p = flit_port(n, i, port);

			p->router = e->router;
			if (p->router == ANG_NONE)
				continue;
			p->in = p->router * n->inputs + e->port * n->rule.nvc;
			port_times(n, i, p);
			if (p->delay < 1)
				p->delay = 1;
			most = (u32)sim_max(most, sim_max(p->delay, p->credit));
		}
	}
	return most;
}

/* Places the buffers.  The room behind an output is the size of the input to which it leads. */
static void lay_buffers(struct flit_net *n)
{
	u32 i, j, total = 0;

	for (i = 0; i < n->routers; i++) {
		for (j = 0; j < n->inputs; j++) {
			struct flit_in *in = flit_in(n, i, j);
			struct flit_out *o = flit_out(n, i, j);
			const struct flit_port *p;
			const struct sim_end *e;

			in->at = total;
			in->out = FLIT_NONE;
			in->known = FLIT_NONE;
			o->owner = FLIT_NONE;
			if (j >= flit_host0(n)) {
				in->size = sim_is_switch(n->s, i) ? 0 :
					   n->rule.host_in;
				o->room = n->rule.host_in;
			} else if ((p = flit_port(n, i, j / n->rule.nvc))->router
				   != ANG_NONE) {
				e = sim_end(n->s, i, j / n->rule.nvc);
				in->size = flit_port(n, e->router, e->port)->depth;
				o->room = p->depth;
			}
			total += in->size;
		}
	}
	n->ring = sim_zalloc(total, sizeof(*n->ring));
}

/**
 * flit_init() - make a network
 * @n: out
 * @s: fabric; one partition
 * @c: traffic
 * @rule: how routers and hosts work
 *
 * Return: 0; -ERANGE after a message: a delay has too many ticks.
 */
int flit_init(struct flit_net *n, struct sim *s, const struct traffic *c,
	      const struct flit_rule *rule)
{
	u64 most;
	u32 i;

	memset(n, 0, sizeof(*n));
	n->s = s;
	n->c = c;
	n->rule = *rule;
	n->acc = &s->part[0].acc;
	n->nports = s->nports;
	n->routers = s->nodes;
	n->inputs = n->nports * rule->nvc + rule->hvc;
	n->words = (n->inputs + 63) / 64;
	n->hosts = s->topo.nodes * s->modules;
	n->pkt_free = FLIT_NONE;
	n->in = sim_zalloc((size_t)n->routers * n->inputs, sizeof(*n->in));
	n->out = sim_zalloc((size_t)n->routers * n->inputs, sizeof(*n->out));
	n->port = sim_zalloc((size_t)n->routers * n->nports, sizeof(*n->port));
	n->held = sim_zalloc((size_t)n->routers * n->words, sizeof(u64));
	n->busy = sim_zalloc((size_t)n->routers * n->words, sizeof(u64));
	n->active = sim_zalloc(n->routers / 64 + 1, sizeof(u64));
	n->sending = sim_zalloc(n->hosts / 64 + 1, sizeof(u64));
	n->way_turn = sim_zalloc((size_t)n->routers * (n->nports + 1), sizeof(u32));
	n->port_turn = sim_zalloc((size_t)n->routers * (n->nports + 1),
				  sizeof(u32));
	n->host = sim_zalloc(n->hosts, sizeof(*n->host));
	n->due = sim_zalloc(n->hosts + 1, sizeof(*n->due));
	n->best = sim_zalloc(n->inputs, sizeof(u32));
	n->best_key = sim_zalloc(n->inputs, sizeof(u32));
	n->asked = sim_zalloc(n->inputs, sizeof(u32));
	n->in_port = sim_zalloc(n->inputs, sizeof(u32));
	for (i = 0; i < n->inputs; i++) {
		n->best[i] = FLIT_NONE;
		n->in_port[i] = i < flit_host0(n) ? i / rule->nvc : n->nports;
	}
	most = lay_ports(n);
	/* Packets arrive in an adapter's FIFO flit by flit. */
	if (rule->hosts->pcie)
		most = sim_max(most, (s->cfg.inject + sim_cycles(s, (u32)s->cfg.router) +
				      (ANG_FIFO + 2) * sim_host_time(s, rule->longest)) /
				     rule->tick + 4);
	if (most >= SLOTS_MOST) {
		fprintf(stderr, "angara-sim: a delay takes %llu times as long as a flit on a link; the flit engine supports less than %u times\n",
			(unsigned long long)most, SLOTS_MOST);
		return -ERANGE;
	}
	for (n->slots = 1; n->slots <= most; n->slots *= 2)
		;
	n->slot = sim_zalloc(n->slots, sizeof(*n->slot));
	lay_buffers(n);
	return 0;
}

void flit_free(struct flit_net *n)
{
	u32 i;

	for (i = 0; n->slot && i < n->slots; i++) {
		free(n->slot[i].arrival);
		free(n->slot[i].credit);
	}
	free(n->slot);
	free(n->in);
	free(n->out);
	free(n->port);
	free(n->held);
	free(n->busy);
	free(n->active);
	free(n->sending);
	free(n->way_turn);
	free(n->port_turn);
	free(n->host);
	free(n->due);
	free(n->best);
	free(n->best_key);
	free(n->asked);
	free(n->in_port);
	free(n->ring);
	free(n->pkt);
}
