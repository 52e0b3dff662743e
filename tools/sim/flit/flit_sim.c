// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flit engine: traffic on the fabric's own routers.
 *
 * Buffers, routes, virtual channels and times are those of the packet engine.
 * As in the packet engine, a packet leaves when the buffer behind the link has
 * room for all of it.
 */
#include <errno.h>
#include "flit.h"

static struct flit_rule rule_of(const struct sim *s, const struct traffic *c)
{
	struct flit_rule r = {
		.tick = s->link_ps[1],
		.nvc = s->cfg.routing == SIM_ADAPTIVE ? 2 : 1,
		.hvc = s->modules,
		.whole = true,
		.longest = ang_flits_of(1, c->bytes),
		.place = s->place,
		.spare = s->place,
		.adaptive = s->cfg.routing == SIM_ADAPTIVE,
		.host_in = (ANG_FIFO + 1) * ang_flits_of(1, c->bytes),
		.hosts = &flit_pcie,
	};

	return r;
}

/**
 * flit_traffic() - run traffic on the flit engine
 * @e: environment
 * @s: fabric of one partition; this function frees it
 * @c: traffic, with its gaps
 * @r: out
 *
 * Return: 0; -ERANGE or -EIO after a message.
 */
int flit_traffic(struct env *e, struct sim *s, const struct traffic *c,
		 struct result *r)
{
	struct flit_rule rule = rule_of(s, c);
	struct flit_net n;
	struct span start;
	int err;

	memset(r, 0, sizeof(*r));
	err = flit_init(&n, s, c, &rule);
	if (err)
		goto out;
	start = work_now();
	flit_run(&n, false);
	r->spent = work_since(&start);
	r->busy = (double)n.count.worked / (double)n.now / n.routers;
	n.acc->events = n.count.switched;
	r->acc = *n.acc;
	r->time = r->acc.last;
	r->nodes = s->topo.nodes;
	r->ranks = r->nodes * s->modules;
	if (!n.wrong && r->acc.posted != r->acc.fetched)
		n.wrong = "packets are lost or duplicated";
	if (n.wrong) {
		fprintf(stderr, "angara-sim: --accuracy flit: %s\n", n.wrong);
		err = -EIO;
	}
out:
	flit_free(&n);
	sim_free(s);
	return err;
}
