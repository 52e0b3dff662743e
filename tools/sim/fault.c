// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults of links: which links lose, corrupt and delay packets (retry.c
 * simulates this), and which links are down.  A link that is down carries
 * nothing in both directions.
 */
#include <errno.h>
#include "lines.h"
#include "sim.h"

static struct ang_fault *fault_of(const struct sim *s, u32 node, u32 port)
{
	return &s->fault[(size_t)node * s->nports + port];
}

/*
 * Are all links of the route from @router to @dst up?  If @router is a switch of MKNS, it has
 * routes only to targets whose packets cross this switch.
 */
static bool reaches(const struct sim *s, u32 router, u32 dst)
{
	while (router != dst) {
		u32 port = sim_route(s, router - s->base, dst);
		u32 next = ang_topo_neighbor(&s->topo, router, port);

		if (next == ANG_NONE || s->down[router] >> port & 1)
			return false;
		router = next;
	}
	return true;
}

/**
 * sim_ports_up() - select ports to routers whose routes to a target are up
 * @s: simulation with links that are down
 * @node: router
 * @dst: target
 * @ports: a set of ports
 *
 * Return: those ports of @ports; if there are none, the port of the fabric's
 * route.
 */
u64 sim_ports_up(const struct sim *s, u32 node, u32 dst, u64 ports)
{
	u64 up = 0;

	for (; ports; ports &= ports - 1) {
		u32 port = ang_lowest(ports);

		if (!(s->down[s->base + node] >> port & 1) &&
		    reaches(s, sim_end(s, node, port)->router, dst))
			up |= 1ULL << port;
	}
	return up ? up : 1ULL << sim_route(s, node, dst);
}

static u32 root_of(const struct sim *s, u32 tree)
{
	u32 i = 0;

	while (!s->rows[tree][i].is_root)
		i++;
	return i;
}

/**
 * sim_may_start() - check that all links are up that an operation needs, except
 * those of its tree
 * @s: simulation with links that are down
 * @router: router of the operation's node, in the whole fabric
 * @op: operation
 *
 * As in the model, an operation fails before it sends a packet.  Answers take
 * the route from the target back; the result of a reduce takes the route from
 * the root to its receiver.
 *
 * Return: true if all these links are up.
 */
bool sim_may_start(const struct sim *s, u32 router, const struct sim_op *op)
{
	if (op->dst == ANG_NONE)
		return true;
	if (op->type == ANG_PKT_REDUCE)
		return reaches(s, root_of(s, op->tree), op->dst);
	return reaches(s, router, op->dst) && reaches(s, op->dst, router);
}

/* Takes a link down, in both directions. */
static void down_set(struct sim *s, u32 router, u32 port)
{
	u32 far, peer = ang_topo_peer(&s->topo, router, port, &far);

	if (!s->down)
		s->down = sim_zalloc(s->topo.routers, sizeof(*s->down));
	s->down[router] |= 1ULL << port;
	s->down[peer] |= 1ULL << far;
}

/* Return: error text, in @flaw or constant, or NULL. */
static const char *line_set(struct sim *s, const char *line, char *flaw, size_t len)
{
	u32 v[5] = { 0 }, n, router, port;
	const char *rest = sim_lines_numbers(line, 5, v, &n);
	bool down = n == 2 && sim_lines_word(rest, "down");
	struct ang_fault f;

	if (!n && !*rest)
		return NULL;
	if (!down && (n != 5 || *rest))
		return "must be a router, a port, a loss, a corruption and a delay; or a router, a port and the word down";
	router = v[0];
	port = v[1];
	f = (struct ang_fault){ .loss = v[2], .corrupt = v[3], .delay = v[4] };
	if (router >= s->topo.routers) {
		snprintf(flaw, len, "router %u: not from 0 to %u", router,
			 s->topo.routers - 1);
		return flaw;
	}
	if (port >= s->nports || ang_topo_neighbor(&s->topo, router, port) == ANG_NONE)
		return "the port has no cable";
	if (down) {
		down_set(s, router, port);
		return NULL;
	}
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
	char range[64];
	struct sim_lines l;
	int ret;

	if (sim_lines_open(&l, path, SIM_LINES_MOST, why, len))
		return -EINVAL;
	while ((ret = sim_lines_next(&l, why, len)) > 0) {
		flaw = line_set(s, l.text, range, sizeof(range));
		if (!flaw)
			continue;
		snprintf(why, len, "%s:%u: %s", path, l.number, flaw);
		sim_lines_close(&l);
		return -EINVAL;
	}
	return ret;
}

/**
 * sim_faults() - set the faults of all links, and the faults in a file
 * @s: simulation with its topology
 * @path: lines "ROUTER PORT LOSS CORRUPT DELAY" or "ROUTER PORT down", or NULL
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
	sim_retry_begin(s);
	for (node = 0; node < s->nodes && !err; node++)
		for (port = 0; port < s->nports; port++)
			s->end[(size_t)node * s->nports + port].latency +=
				sim_cycles(s, fault_of(s, node, port)->delay);
	return err;
}
