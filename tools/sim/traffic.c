// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic: every host sends packets at random times to where a pattern says.
 *
 * The load is offered, not asked for: packets are born whether the network
 * takes them or not, and wait at the host.  After a time to warm up, the
 * delay of what is born and the flits that arrive are measured.
 */
#include <errno.h>
#include <math.h>
#include "work.h"

#define GAPS	4096

struct node {
	u64 next;
};

static const char * const patterns[] = {
	"uniform", "transpose", "hotspot", "neighbor", "reverse", NULL,
};

#define UNIFORM		0
#define TRANSPOSE	1
#define HOTSPOT		2
#define NEIGHBOR	3

/** traffic_pattern() - number of a pattern, -1 if there is none of the name */
int traffic_pattern(const char *name)
{
	int i;

	for (i = 0; patterns[i]; i++)
		if (!strcmp(patterns[i], name))
			return i;
	return -1;
}

/* xorshift64*, of the node alone, so that the order of nodes does not matter. */
static u64 draw(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1DULL;
}

static u32 draw_below(u64 *state, u32 n)
{
	return (u32)((draw(state) >> 32) * n >> 32);
}

/* Coordinates turned by one dimension, scaled where sizes differ. */
static u32 transposed(const struct sim *s, u32 id)
{
	const struct ang_topo *t = &s->topo;
	u16 to[ANG_MAX_DIMS] = { 0 };
	u32 d;

	for (d = 0; d < t->ndims; d++) {
		u32 from = (d + 1) % t->ndims;

		to[d] = (u16)((u32)s->coord[id][from] * t->dims[d] /
			      t->dims[from]);
	}
	return ang_topo_node(t, to);
}

static u32 target(struct sim_part *p, u32 node)
{
	struct sim *s = p->sim;
	const struct traffic *c = s->arg;
	u32 id = s->base + node, n = s->topo.nodes;
	u64 *rng = &s->nic[node].rng;
	u32 dst;

	switch (c->pattern) {
	case TRANSPOSE:
		return transposed(s, id);
	case HOTSPOT:
		if (draw_below(rng, 100) < c->hot)
			return n / 2;
		break;
	case NEIGHBOR:
		return ang_topo_neighbor(&s->topo, id, 0);
	case UNIFORM:
		break;
	default:
		return n - 1 - id;
	}
	dst = draw_below(rng, n - 1);
	return dst + (dst >= id);	/* anybody else */
}

static bool stream(struct sim_part *p, u32 node, struct sim_op *op)
{
	struct sim *s = p->sim;
	const struct traffic *c = s->arg;
	struct node *n = sim_state(s, node);

	if (n->next >= c->end || p->now >= c->end)
		return false;
	op->born = n->next;
	op->start = n->next;
	op->left = c->bytes;
	op->dst = target(p, node);
	n->next += c->gap[draw(&s->nic[node].rng) >> 52];
	return true;
}

static void start(struct sim_part *p, u32 node)
{
	const struct traffic *c = p->sim->arg;
	struct node *n = sim_state(p->sim, node);

	if (target(p, node) == p->sim->base + node && c->pattern)
		return;		/* the pattern leaves it out */
	n->next = c->gap[draw(&p->sim->nic[node].rng) >> 52];
	sim_pump(p, node);
}

static void eject(struct sim_part *p, u32 node, const struct sim_pkt *k, u64 time)
{
	const struct traffic *c = p->sim->arg;

	if (k->dst != p->sim->base + node)
		p->acc.wrong++;
	p->acc.done++;
	if (time >= c->warmup && time < c->end)
		p->acc.meas_flits += k->flits;
	if (k->born < c->warmup)
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
 * @c: which
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
	s.until = c->end;
	sim_need_state(&s, sizeof(struct node));
	err = work_end(e, &s, r);
	free(c->gap);
	return err;
}
