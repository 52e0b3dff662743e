// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults of links: which packets are lost, corrupted and delayed, by the rule
 * of the device model (ang_fault.h), and the time of their retransmission.
 */
#include <errno.h>
#include "lines.h"
#include "sim.h"

static struct ang_fault *fault_of(const struct sim *s, u32 node, u32 port)
{
	return &s->fault[(size_t)node * s->nports + port];
}

/* Random state of a packet's attempts on a link, the same in each run. */
static u64 fate_state(const struct sim *s, u32 node, u32 port, u64 packet)
{
	u64 state = s->cfg.seed ^ (u64)(s->base + node) << 40 ^ (u64)port << 32;

	return ang_fault_draw(&state) ^ packet * 0x9E3779B97F4A7C15ULL << 20;
}

/**
 * sim_link_lost() - delay of a packet or train on a link by faults
 * @s: simulation
 * @node: node
 * @port: of the link
 * @k: packet or train
 *
 * Go-back-N: the sender learns of a lost or corrupted packet a round trip after
 * its tail, and resends that packet and all later ones, as the receiver accepts
 * packets in order only.  So a loss costs the link the packet's time and a
 * round trip.
 */
u64 sim_link_lost(struct sim *s, u32 node, u32 port, const struct sim_pkt *k)
{
	const struct sim_out *o = sim_out(s, node, port);
	const struct ang_fault *fault;
	u64 sent = 0, lost = 0, state;
	u32 vc, i;

	if (!s->fault)
		return 0;
	fault = fault_of(s, node, port);
	if (!fault->loss && !fault->corrupt)
		return 0;
	for (vc = 0; vc < SIM_NVC; vc++)
		sent += o->pkts[vc];
	for (i = 0; i < k->npkts; i++) {
		state = fate_state(s, node, port, sent + i);
		while (ang_fault_fate(fault, &state) != ANG_FATE_OK)
			lost++;
	}
	return lost * (s->link_ps[k->flits / k->npkts] +
		       2 * sim_end(s, node, port)->latency -
		       sim_cycles(s, fault->delay));
}

static const char *line_set(struct sim *s, const char *line)
{
	u32 v[5], n, router, port;
	const char *rest = sim_lines_numbers(line, 5, v, &n);
	struct ang_fault f;

	if (!n && !*rest)
		return NULL;
	if (n != 5 || *rest)
		return "must be a router, a port, a loss, a corruption and a delay";
	router = v[0];
	port = v[1];
	f = (struct ang_fault){ .loss = v[2], .corrupt = v[3], .delay = v[4] };
	if (router >= s->topo.routers)
		return "there is no such router";
	if (port >= s->nports || ang_topo_neighbor(&s->topo, router, port) == ANG_NONE)
		return "the port is joined to nothing";
	if (f.loss > SIM_LOSS_ONE / 2 || f.corrupt > SIM_LOSS_ONE / 2 - f.loss)
		return "more than half of the packets are lost";
	if (f.delay > SIM_DELAY_MOST)
		return "the delay is longer than 10^6 cycles";
	if (router >= s->base && router - s->base < s->nodes)
		*fault_of(s, router - s->base, port) = f;
	return NULL;
}

static int file_read(struct sim *s, const char *path, char *why, size_t len)
{
	const char *flaw;
	struct sim_lines l;
	int ret;

	if (sim_lines_open(&l, path, why, len))
		return -EINVAL;
	while ((ret = sim_lines_next(&l, why, len)) > 0) {
		flaw = line_set(s, l.text);
		if (!flaw)
			continue;
		snprintf(why, len, "%s:%u: %s", path, l.number, flaw);
		sim_lines_close(&l);
		return -EINVAL;
	}
	return ret;
}

/**
 * sim_faults() - set faults of all links, and those of a file
 * @s: simulation with its topology
 * @path: lines "ROUTER PORT LOSS CORRUPT DELAY", or NULL
 * @why: out: error text
 * @len: size of @why
 *
 * Return: 0 or -EINVAL.
 */
int sim_faults(struct sim *s, const char *path, char *why, size_t len)
{
	const struct ang_fault all = {
		.loss = (u32)s->cfg.loss, .corrupt = (u32)s->cfg.corrupt,
		.delay = (u32)s->cfg.fault_delay,
	};
	u32 node, port;
	int err;

	if (!path && ang_fault_none(&all))
		return 0;
	s->fault = sim_zalloc((size_t)s->nodes * s->nports, sizeof(*s->fault));
	for (node = 0; node < s->nodes; node++)
		for (port = 0; port < s->nports; port++)
			*fault_of(s, node, port) = all;
	err = path ? file_read(s, path, why, len) : 0;
	for (node = 0; node < s->nodes && !err; node++)
		for (port = 0; port < s->nports; port++)
			s->end[(size_t)node * s->nports + port].latency +=
				sim_cycles(s, fault_of(s, node, port)->delay);
	return err;
}
