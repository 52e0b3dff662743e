// SPDX-License-Identifier: GPL-2.0-only
/* Pairs: one packet at a time from one node to another, on an idle fabric. */
#include "args.h"
#include "cmd.h"

/**
 * struct pairs - messages of all pairs, or of some
 * @from: source, ANG_NONE: every node
 * @to: target, ANG_NONE: every other node
 * @bytes: bytes of a message
 * @gap: time between two messages
 * @row: output
 */
struct pairs {
	u32 from;
	u32 to;
	u32 bytes;
	u64 gap;
	struct out *row;
};

#define PAIRS_MOST	(1U << 20)

static bool is_pair(const struct pairs *w, u32 from, u32 to)
{
	return from != to && (w->from == ANG_NONE || w->from == from) &&
	       (w->to == ANG_NONE || w->to == to);
}

/* Each pair sends at a time of its own, @gap after the pair before. */
static u64 start_of(const struct sim *s, u32 from, u32 to)
{
	const struct pairs *w = s->arg;
	u64 turn = w->from == ANG_NONE ? from : 0;

	if (w->to == ANG_NONE)
		turn = turn * s->topo.nodes + to;
	return turn * w->gap;
}

static void pairs_start(struct sim_part *p, u32 node)
{
	struct sim *s = p->sim;
	u32 from = s->base + node, to;

	for (to = 0; to < s->topo.nodes; to++)
		if (is_pair(s->arg, from, to))
			sim_push(p, start_of(s, from, to), node, SIM_EV_HOST, 0,
				 to);
}

static void pairs_host(struct sim_part *p, u32 node, u32 to)
{
	const struct pairs *w = p->sim->arg;
	struct sim_op op = { .type = ANG_PKT_PUT, .dst = to, .left = w->bytes };

	sim_send(p, node, &op);
}

static void pairs_eject(struct sim_part *p, u32 node, const struct sim_pkt *k,
			u64 time)
{
	struct pairs *w = p->sim->arg;

	(void)node;
	p->acc.done++;
	out_cell(w->row, "%u", k->src);
	out_cell(w->row, "%u", k->dst);
	out_cell(w->row, "%u", k->hops);
	out_cell(w->row, "%.3f", (double)(time - k->born) * 1e-3);
}

static const struct sim_work pairs_work = {
	.name = "pairs",
	.start = pairs_start,
	.eject = pairs_eject,
	.host = pairs_host,
};

static u32 pairs_node(const struct env *e, const char *name)
{
	return arg_text(name) ? need_node(e, name) : ANG_NONE;
}

static int pairs_cmd(struct env *e)
{
	u32 nodes = sim_cfg_nodes(&e->cfg);
	struct pairs w = {
		.from = pairs_node(e, "from"), .to = pairs_node(e, "to"),
		.bytes = (u32)arg_number("bytes"), .gap = arg_number("gap"),
	};
	u64 count = (u64)(w.from == ANG_NONE ? nodes : 1) *
		    (w.to == ANG_NONE ? nodes : 1);
	struct result r;
	struct sim s;
	u32 i;

	need_one_packet(e);
	if (count > PAIRS_MOST)
		bad_usage("%llu pairs, but the limit is %u: select one node with --from or --to",
			  (unsigned long long)count, PAIRS_MOST);
	if (e->comm.size > 1)
		bad_usage("pairs: cannot run in several processes");
	e->threads = 1;	/* the result has rows in the order of time */
	work_begin(e, &s);
	s.work = &pairs_work;
	s.arg = &w;
	w.row = out_new("Pairs", "from,to,hops,ns");
	for (i = 0; i < nodes; i++)
		s.expect += w.to == ANG_NONE ?
			    (w.from == ANG_NONE || w.from == i) * (nodes - 1) :
			    is_pair(&w, i, w.to);
	if (work_end(e, &s, &r))
		return SIM_FAILED;
	out_end(w.row);
	return SIM_OK;
}

static const struct sim_opt pairs_opts[] = {
	{ "from", SIM_T_NUMBER, NULL, "only messages of this node" },
	{ "to", SIM_T_NUMBER, NULL, "only messages to this node" },
	{ "bytes", SIM_T_BYTES, "256", "payload, at most one packet" },
	{ "gap", SIM_T_TIME, "20us", "time between messages" },
	{ NULL },
};

const struct cmd cmd_pairs = {
	"pairs", "time of a packet between two nodes of an idle fabric",
	pairs_opts, pairs_cmd,
};
