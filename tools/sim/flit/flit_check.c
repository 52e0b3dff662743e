// SPDX-License-Identifier: GPL-2.0-only
/* Flit engine: check that flits and credits are conserved. */
#include "flit.h"

/*
 * Count flits and credits on cables, by the output that the flit left or that
 * gets the credit.
 */
static void on_cables(struct flit_net *n, u32 *sum, u32 *back)
{
	u32 t, i;

	for (t = 0; t < n->slots; t++) {
		for (i = 0; i < n->slot[t].credits; i++)
			if (!(n->slot[t].credit[i] & FLIT_TO_HOST))
				sum[n->slot[t].credit[i]]++;
		for (i = 0; i < n->slot[t].arrivals; i++)
			if (!(n->slot[t].arrival[i].in & FLIT_TO_HOST))
				back[n->slot[t].arrival[i].in]++;
	}
}

/* Does an input hold the flits of a packet in order, then those of the next packet? */
static bool in_order(const struct flit_net *n, const struct flit_in *i)
{
	u32 j;

	for (j = 1; j < i->len; j++) {
		struct flit a = n->ring[i->at + (i->head + j - 1) % i->size];
		struct flit b = n->ring[i->at + (i->head + j) % i->size];
		bool ends = a.nr + 1 == n->pkt[a.pkt].flits;

		if (ends ? b.nr != 0 : b.pkt != a.pkt || b.nr != a.nr + 1)
			return false;
	}
	return true;
}

/**
 * flit_check() - check the invariants
 *
 * Return: NULL, or what is wrong.
 */
const char *flit_check(struct flit_net *n)
{
	size_t all = (size_t)n->routers * n->inputs;
	u32 *credits = sim_zalloc(all, sizeof(u32));
	u32 *arrivals = sim_zalloc(all, sizeof(u32));
	const char *wrong = NULL;
	u64 there = 0;
	u32 router, j;

	on_cables(n, credits, arrivals);
	for (router = 0; router < n->routers; router++) {
		for (j = 0; j < n->inputs; j++) {
			const struct flit_in *i = flit_in(n, router, j);
			const struct flit_out *o = flit_out(n, router, j);
			const struct flit_port *p;
			u32 at;

			there += i->len + arrivals[router * n->inputs + j];
			if (!in_order(n, i))
				wrong = "flits of a buffer are not in order";
			if (j >= flit_host0(n))
				continue;
			p = flit_port(n, router, j / n->rule.nvc);
			if (p->router == ANG_NONE)
				continue;
			at = p->in + j % n->rule.nvc;
			if (o->room + o->rest + o->pad + credits[router * n->inputs + j] +
			    arrivals[at] + n->in[at].len != p->depth)
				wrong = "credits are lost or duplicated";
			if (o->room > p->depth || o->rest > p->depth)
				wrong = "a credit is negative";
		}
	}
	for (j = 0; j < n->slots; j++)
		for (router = 0; router < n->slot[j].arrivals; router++)
			there += n->slot[j].arrival[router].in >> 31;
	if (!wrong && n->count.entered - n->count.left != there)
		wrong = "flits are lost or duplicated";
	free(credits);
	free(arrivals);
	return wrong;
}
