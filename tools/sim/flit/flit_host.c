// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flit engine: packets of hosts of either kind.
 */
#include "flit.h"

/** flit_describe() - compute identity and target of a host's next packet */
void flit_describe(struct flit_net *n, u32 k, u32 rank)
{
	const struct sim *s = n->s;
	u32 node = rank / s->modules;
	u64 *rng = &s->nic[node].rng;
	struct flit_host *h = &n->host[rank];
	struct flit_pkt *p = &n->pkt[k];

	p->src = node;
	p->rank = pattern_target(s, n->c, rank, h->count, rng);
	p->dst = p->rank / s->modules;
	p->value = traffic_identity(rank, h->count++);
	p->flits = (u16)(n->c->flits ? n->c->flits :
			 ang_flits_of(1, traffic_bytes(n->c, p->value)));
	n->acc->posted += p->value;
	n->acc->injected++;
	n->acc->inj_flits += p->flits;
}

static void measure(struct flit_net *n, const struct flit_pkt *p, u64 time)
{
	const struct traffic *c = n->c;
	struct sim_acc *a = n->acc;

	if (p->born < c->warmup || p->born >= c->end)
		return;
	a->lat_n++;
	a->lat_sum += time - p->born;
	a->lat_max = sim_max(a->lat_max, time - p->born);
	n->count.net_sum += time / n->rule.tick - p->entered;
}

/** flit_got() - count a flit that has reached its target, at @time in ps */
void flit_got(struct flit_net *n, struct flit f, u64 time)
{
	struct flit_pkt *p = &n->pkt[f.pkt];
	struct sim_acc *a = n->acc;

	if (f.nr != p->got)
		n->wrong = "a packet's flits do not arrive in order";
	n->count.left++;
	if (time >= n->c->warmup && time < n->c->end)
		a->meas_flits++;
	if (++p->got < p->flits)
		return;
	a->ejected++;
	a->ej_flits += p->flits;
	a->hops += p->hops;
	a->done++;
	a->fetched += p->value;
	a->last = sim_max(a->last, time);
	n->count.packets++;
	measure(n, p, time);
	flit_pkt_free(n, f.pkt);
}
