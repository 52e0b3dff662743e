// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic: every computing module sends packets at random times to targets of a
 * pattern.
 *
 * Packets are generated at the given load whether or not the network accepts
 * them, and wait at the host.  After a warm-up time, the delay of packets
 * generated in the window and the flits that arrive in it are measured.
 * Generation continues for a time after the window, so that the last of these
 * packets meet as many other packets as the first.
 */
#include <errno.h>
#include <math.h>
#include "work.h"

#define GAPS	4096

/**
 * struct flow - stream of a module
 * @next: time of its next packet; SIM_NEVER: the pattern has no target for it
 * @count: packets generated
 */
struct flow {
	u64 next;
	u32 count;
	u32 pad;
};

static struct flow *flow_of(struct sim_part *p, u32 node, u32 module)
{
	return (struct flow *)sim_state(p->sim, node) + module;
}

static u32 rank_of(const struct sim *s, u32 node, u32 module)
{
	return (s->base + node) * s->modules + module;
}

static u64 gap(struct sim_part *p, u32 node)
{
	const struct traffic *c = p->sim->arg;

	return c->gap[pattern_draw(&p->sim->nic[node].rng) >> 52];
}

/**
 * traffic_identity() - compute the identity of a packet; a lost or duplicate
 * packet changes the sum of identities
 */
u64 traffic_identity(u32 rank, u32 count)
{
	u64 x = ((u64)rank << 32 | count) * 0x9E3779B97F4A7C15ULL;

	return (x ^ x >> 29) * 0xBF58476D1CE4E5B9ULL;
}

#define BRIEF	16U	/* most payload of a short packet, in bytes */

/**
 * traffic_bytes() - get the payload of a packet from its identity, the same in
 * both engines
 */
u32 traffic_bytes(const struct traffic *c, u64 identity)
{
	return c->bytes > BRIEF && (identity >> 32) % 100 < c->brief ? BRIEF :
								       c->bytes;
}

/** traffic_flits() - compute the mean length of packets */
double traffic_flits(const struct traffic *c)
{
	u32 most = ang_flits_of(1, c->bytes);
	u32 least = ang_flits_of(1, c->bytes > BRIEF ? BRIEF : c->bytes);

	return most - (double)(most - least) * c->brief / 100;
}

static u32 shortest(const struct sim *s)
{
	const struct traffic *c = s->arg;

	return c->brief && c->bytes > BRIEF ? BRIEF : c->bytes;
}

static bool stream(struct sim_part *p, u32 node, struct sim_op *op)
{
	struct sim *s = p->sim;
	const struct traffic *c = s->arg;
	struct flow *f = flow_of(p, node, op->module);
	u32 rank = rank_of(s, node, op->module), dst;

	if (f->next >= c->stop || p->now >= c->stop)
		return false;
	op->born = f->next;
	op->start = f->next;
	op->value = traffic_identity(rank, f->count);
	op->left = traffic_bytes(c, op->value);
	op->tag = f->count;	/* identifies the node's packets in a trace */
	dst = pattern_target(s, c, rank, f->count++, &s->nic[node].rng);
	op->dst = dst / s->modules;
	p->acc.posted += op->value;
	f->next += gap(p, node);
	return true;
}

static void start(struct sim_part *p, u32 node)
{
	struct sim *s = p->sim;
	u64 *rng = &s->nic[node].rng;
	u32 i;

	for (i = 0; i < s->modules; i++) {
		struct flow *f = flow_of(p, node, i);
		u32 rank = rank_of(s, node, i);

		if (pattern_target(s, s->arg, rank, 0, rng) == rank)
			f->next = SIM_NEVER;
		else
			f->next = gap(p, node);
	}
	sim_pump(p, node);
}

static void eject(struct sim_part *p, u32 node, const struct sim_pkt *k, u64 time)
{
	const struct traffic *c = p->sim->arg;

	if (k->dst != p->sim->base + node)
		p->acc.wrong++;
	p->acc.done++;
	if (k->type == ANG_PKT_PUT)	/* not an acknowledgement */
		p->acc.fetched += k->value;
	if (time >= c->warmup && time < c->end)
		p->acc.meas_flits += k->flits;
	if (k->born < c->warmup || k->born >= c->end)
		return;
	p->acc.lat_n++;
	p->acc.lat_sum += time - k->born;
	p->acc.lat_max = sim_max(p->acc.lat_max, time - k->born);
}

static const struct sim_work work = {
	.name = "traffic",
	.start = start,
	.eject = eject,
	.stream = stream,
	.shortest = shortest,
	.acks = true,
};

/*
 * A table of times between packets: an exponential distribution, cut into
 * equally likely entries.
 */
static u64 *gaps(double mean)
{
	u64 *gap = sim_zalloc(GAPS, sizeof(*gap));
	double sum = 0;
	u32 i;

	for (i = 0; i < GAPS; i++)
		sum -= log((i + 0.5) / GAPS);
	for (i = 0; i < GAPS; i++)
		gap[i] = (u64)llround(-log((i + 0.5) / GAPS) * mean * GAPS /
				      sum);
	return gap;
}

/**
 * traffic_run() - one load on a new fabric
 * @e: environment
 * @c: load
 * @r: out
 *
 * Return: 0 or a negative errno.
 */
int traffic_run(struct env *e, struct traffic *c, struct result *r)
{
	u32 threads = e->threads;
	struct sim s;
	int err;

	if (e->cfg.accuracy == SIM_BY_FLITS)
		e->threads = 1;
	work_begin(e, &s);
	e->threads = threads;
	sim_set_longest(&s, ang_flits_of(1, c->bytes));
	c->gap = gaps(traffic_flits(c) * (double)e->cfg.clock / c->load);
	if (e->cfg.accuracy == SIM_BY_FLITS) {
		err = flit_traffic(e, &s, c, r);
		free(c->gap);
		return err;
	}
	s.work = &work;
	s.arg = c;
	s.until = c->stop;
	sim_need_state(&s, s.modules * (u32)sizeof(struct flow));
	err = work_end(e, &s, r);
	free(c->gap);
	return err;
}
