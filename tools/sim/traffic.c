// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic: every computing module sends packets at random times to targets of a
 * pattern.
 *
 * Packets are generated at the given load whether or not the network accepts
 * them, and wait at the host.  After a warm-up time, the delay of packets that
 * are generated in the window and the flits that arrive in it are measured.
 * Generation goes on for a time behind it, so that the last of these packets
 * meet as many others as the first.
 */
#include <errno.h>
#include <math.h>
#include "work.h"

#define GAPS	4096

/**
 * struct flow - stream of a module
 * @next: when it generates its next packet; SIM_NEVER: the pattern has no target
 *	for it
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

/* Losses and doubles change the sum of identities. */
static u64 identity(u32 rank, u32 count)
{
	u64 x = ((u64)rank << 32 | count) * 0x9E3779B97F4A7C15ULL;

	return (x ^ x >> 29) * 0xBF58476D1CE4E5B9ULL;
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
	op->left = c->bytes;
	op->value = identity(rank, f->count);
	dst = pattern_target(s, c, rank, f->count++, &s->nic[node].rng);
	op->dst = dst / s->modules;
	op->tag = dst % s->modules;
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
	if (k->type == ANG_PKT_PUT)	/* not its acknowledgement */
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
};

/* Times between packets: exponential, in equally likely steps. */
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
	u32 flits = ang_flits_of(1, c->bytes);
	struct sim s;
	int err = work_begin(e, &s);

	if (err)
		return err;
	c->gap = gaps((double)flits * (double)e->cfg.clock / c->load);
	s.work = &work;
	s.arg = c;
	s.until = c->stop;
	sim_need_state(&s, s.modules * (u32)sizeof(struct flow));
	err = work_end(e, &s, r);
	free(c->gap);
	return err;
}
