// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replay: inject the packets of an emulated fabric's trace into the simulation,
 * which adds the times.
 *
 * Records of injections give node, packet and time.  Records of ejections give
 * the targets of requests and of results of reduces, and the paths of packets
 * give the trees.  Answers, copies, results and credits are simulated again.
 * The adapters' control packets for full queues and for the setup of trees are
 * left out.  A line that begins with "#" starts a new chapter: packets of the
 * chapter wait until the network is idle and a gap has passed.
 */
#include <errno.h>
#include "args.h"
#include "cmd.h"
#include "lines.h"
#include "replay.h"
#include "trace_pcapng.h"
#include "trace_text.h"

/* Upper bound of a trace's times, in ps: sums stay below 2^64. */
#define LATEST	1000000000000000000ULL

static bool is_blank(const char *line)
{
	return line[0] == '#' || !line[strspn(line, " \t\r\n")];
}

static void rec_add(struct replay *w, const struct ang_trace *r, u32 chapter,
		    const char *path, u32 routers)
{
	if (r->node >= routers)
		bad_usage("--file %s: node %u is not in the fabric; give the --torus or --fabric of the trace",
			  path, r->node);
	w->adaptive |= r->event == ANG_TR_SEND && r->vc == SIM_VC_ADAPT;
	/* The simulator does not simulate management packets. */
	if (r->type == ANG_PKT_MGMT)
		return;
	if (w->n == w->room) {
		w->room = w->room ? 2 * w->room : 1024;
		w->rec = realloc(w->rec, w->room * sizeof(*w->rec));
		w->chapter = realloc(w->chapter, w->room * sizeof(u32));
		if (!w->rec || !w->chapter)
			exit(SIM_FAILED);
	}
	w->rec[w->n] = *r;
	w->chapter[w->n++] = chapter;
}

/* Reads a capture after its first bytes; all of it is one chapter. */
static void read_capture(struct replay *w, struct sim_lines *l, u32 routers)
{
	struct ang_capture c = { .f = l->f };
	struct ang_trace r;
	char err[128];
	int ret;

	while ((ret = ang_capture_next(&c, &r, err, sizeof(err))) > 0)
		rec_add(w, &r, 0, l->path, routers);
	if (ret)
		bad_usage("--file %s: block %u: %s", l->path, c.block, err);
	sim_lines_close(l);
}

static void read_trace(struct replay *w, const char *path, u32 routers)
{
	u32 chapter = 0, bad = 0, first = 0;
	bool maybe_capture = false;
	struct sim_lines l;
	struct ang_trace r;
	char err[512];
	int ret;

	if (sim_lines_open(&l, path, SIM_LINES_MOST, err, sizeof(err)))
		bad_usage("--file %s", err);
	while ((ret = sim_lines_next(&l, err, sizeof(err))) > 0) {
		/* The first bytes of a capture read as two lines. */
		if (l.number == 2 && maybe_capture &&
		    !strcmp(l.text, &ANG_PCAPNG_START[1])) {
			read_capture(w, &l, routers);
			return;
		}
		maybe_capture = l.text[0] == ANG_PCAPNG_START[0];
		chapter += l.text[0] == '#';
		if (ang_trace_parse(l.text, &r))
			rec_add(w, &r, chapter, path, routers);
		else if (!is_blank(l.text) && !bad++)
			first = l.number;
	}
	if (ret)
		bad_usage("--file %s", err);
	if (bad)
		bad_usage("--file %s: %u lines are not records of packets, the first is line %u",
			  path, bad, first);
}

static void act_add(struct replay *w, const struct sim *s, u32 i, u64 gap)
{
	const struct ang_trace *r = &w->rec[i];
	struct act *a = &w->act[w->acts];

	if (r->node >= s->topo.nodes)
		bad_usage("switch %u injects a packet in the trace, but only nodes inject: is it a trace of this fabric?", r->node);
	if (r->cycle > LATEST / s->cfg.clock ||
	    (gap && w->chapter[i] > LATEST / gap))
		bad_usage("the trace is longer than 10^6 s, at cycle %llu of chapter %u",
			  (unsigned long long)r->cycle, w->chapter[i]);
	*a = (struct act){
		.time = r->cycle * s->cfg.clock + w->chapter[i] * gap,
		.node = r->node, .order = i,
		.op = { .type = r->type, .dst = ANG_NONE, .tag = r->seq,
			.left = r->len, .tree = r->tree, .value = r->node + 1,
			.many = is_reduction(r) },
	};
	if (has_target(r)) {
		if (w->arrival[i] == ANG_NONE)
			bad_usage("the trace lacks the arrival of the %s that node %u injected",
				  ang_pkt_name(r->type), r->node);
		a->op.dst = w->rec[w->arrival[i]].node;
		if (r->type != ANG_PKT_REDUCE)
			a->op.value = w->links[w->arrival[i]];
		if (r->type == ANG_PKT_ATOMIC)
			a->op.fetch = replay_fetched(w, i);
		if (a->op.fetch > s->cfg.packet)
			bad_usage("the trace has an answer of %u bytes, longer than the %llu of a packet",
				  a->op.fetch, (unsigned long long)s->cfg.packet);
	}
	w->reductions |= is_reduction(r);
	w->acts++;
}

static int by_node(const void *a, const void *b)
{
	const struct act *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void actions(struct replay *w, const struct sim *s, u64 gap)
{
	u32 i, node = 0;

	w->act = sim_zalloc(w->n, sizeof(*w->act));
	w->first = sim_zalloc(s->topo.routers + 1, sizeof(*w->first));
	replay_targets(w);
	replay_links(w, &s->topo);
	replay_answers(w);
	for (i = 0; i < w->n; i++)
		if (injected(&w->rec[i]))
			act_add(w, s, i, gap);
	free(w->answer);
	free(w->links);
	qsort(w->act, w->acts, sizeof(*w->act), by_node);
	for (i = 0; i < w->acts; i++) {
		while (node <= w->act[i].node)
			w->first[node++] = i;
		/* A node's clock may have been set back between chapters. */
		if (i > w->first[w->act[i].node])
			w->act[i].time = sim_max(w->act[i].time,
						 w->act[i - 1].time);
	}
	while (node <= s->topo.routers)
		w->first[node++] = w->acts;
}

/* Packets that a node injected into a tree, numbered from the first. */
struct part {
	u32 seq;
	u16 n;
	bool injects;
};

/*
 * Count the participants of each node: how often the node injected the same packet of a
 * reduction.  A node that only receives has one participant.
 */
static void participants(struct replay *w, u32 tree, u32 routers,
			 struct angara_tree_row *rows)
{
	struct part *part = sim_zalloc(routers, sizeof(*part));
	u32 i;

	for (i = 0; i < w->n; i++) {
		const struct ang_trace *r = &w->rec[i];
		struct part *p = &part[r->node];

		if (r->tree != tree)
			continue;
		if (r->event == ANG_TR_EJECT && !p->n &&
		    (r->type == ANG_PKT_BCAST || r->type == ANG_PKT_ALLREDUCE))
			p->n = 1;
		if (r->event != ANG_TR_INJECT || !is_reduction(r))
			continue;
		if (!p->injects)
			*p = (struct part){ .seq = r->seq, .injects = true };
		p->n = (u16)(p->n + (r->seq == p->seq));
	}
	for (i = 0; i < routers; i++) {
		rows[i].pe = part[i].n;
		w->sum[tree] += part[i].n * (i + 1ULL);
	}
	free(part);
}

/* Records that a packet left @node by @port, up or down the tree. */
static void edge(struct sim *s, struct angara_tree_row *rows, u32 node, u32 port,
		 bool up)
{
	u32 far, nb = ang_topo_peer(&s->topo, node, port, &far);
	u32 child = up ? node : nb, parent = up ? nb : node;
	u32 down = up ? far : port;

	if (nb == ANG_NONE || rows[parent].ports & 1ULL << down)
		return;
	rows[parent].ports |= 1ULL << down;
	rows[parent].port_sum++;
	rows[child].to_root = (u8)(up ? port : far);
}

/* Return: the node that injects into a tree whose packets cross no link, or ANG_NONE. */
static u32 only_node(const struct replay *w, u32 tree)
{
	u32 i;

	for (i = 0; i < w->n; i++) {
		const struct ang_trace *r = &w->rec[i];

		if (injected(r) && !sim_is_request(r->type) && r->tree == tree)
			return r->node;
	}
	return ANG_NONE;
}

/* Adds the edges that packets crossed to the tree.  Return: did packets cross any? */
static bool edges(struct sim *s, const struct replay *w, u32 tree,
		  struct angara_tree_row *rows)
{
	bool any = false;
	u32 i;

	for (i = 0; i < w->n; i++) {
		const struct ang_trace *r = &w->rec[i];

		if (r->event != ANG_TR_SEND || r->tree != tree ||
		    (r->vc != ANGARA_VC_UP && r->vc != ANGARA_VC_DOWN) ||
		    r->type == ANG_PKT_CREDIT || r->type == ANG_PKT_ABORT || r->type == ANG_PKT_OPEN)
			continue;
		edge(s, rows, r->node, r->port, r->vc == ANGARA_VC_UP);
		any = true;
	}
	return any;
}

static void tree_of_trace(struct sim *s, struct replay *w, u32 tree)
{
	struct angara_tree_row *rows = sim_zalloc(s->topo.routers, sizeof(*rows));
	u32 i, rule, only = ANG_NONE;

	for (i = 0; i < s->topo.routers; i++) {
		rows[i].tree = (u8)tree;
		rows[i].to_root = ANGARA_PORT_NONE;
	}
	if (!edges(s, w, tree, rows)) {
		only = only_node(w, tree);
		if (only == ANG_NONE) {
			free(rows);
			return;
		}
	}
	for (i = 0; i < s->topo.routers; i++)
		rows[i].is_root = i == only ||
				  (rows[i].ports &&
				   rows[i].to_root == ANGARA_PORT_NONE);
	participants(w, tree, s->topo.routers, rows);
	rule = (u32)sim_set_rows(s, tree, rows);
	if (rule)
		bad_usage("the trace lacks a part of tree %u: %s",
			  tree, angara_tree_rule_str(rule));
}

/* Number of TreeIds, up to the greatest one used. */
static u32 trees_of(const struct replay *w)
{
	u32 i, n = 0;

	for (i = 0; i < w->n; i++)
		if (w->rec[i].tree >= n)
			n = w->rec[i].tree + 1;
	return n;
}

static void start(struct sim_part *p, u32 node)
{
	const struct replay *w = p->sim->arg;
	u32 id = p->sim->base + node, i;

	for (i = w->first[id]; i < w->first[id + 1]; i++)
		sim_push(p, w->act[i].time, node, SIM_EV_HOST, 0, i);
}

static void host(struct sim_part *p, u32 node, u32 arg)
{
	const struct replay *w = p->sim->arg;

	sim_send(p, node, &w->act[arg].op);
}

/* Compares the links that a request crosses with those of the trace, if it has any. */
static void links_count(struct sim_part *p, const struct sim_pkt *k)
{
	if (!sim_is_request(k->type) || !k->value)
		return;
	p->acc.done += k->hops;
	p->acc.traced += k->value;
	if (k->hops != k->value)
		p->acc.others++;
}

/*
 * Checks the target of a packet, and the values that reductions and broadcasts
 * carry.
 */
static void eject(struct sim_part *p, u32 node, const struct sim_pkt *k, u64 time)
{
	const struct replay *w = p->sim->arg;
	bool wrong = k->dst != ANG_NONE && k->dst != p->sim->base + node;

	(void)time;
	if (k->type == ANG_PKT_BCAST)
		wrong |= k->value != k->src + 1ULL;
	else if (k->type == ANG_PKT_ALLREDUCE || k->type == ANG_PKT_RESULT)
		wrong |= k->value != w->sum[k->tree];
	p->acc.wrong += wrong;
	links_count(p, k);
}

static const struct sim_work work = {
	.name = "replay",
	.start = start,
	.host = host,
	.eject = eject,
};

static const struct sim_opt opts[] = {
	{ "file", SIM_T_FILE, NULL,
	  "trace: lines of the angara_packet tracepoint or of the model's golden trace, or a capture (pcapng)" },
	{ "gap", SIM_T_TIME, "50us", "time between chapters, which begin with '#'" },
	{ NULL },
};

static void report(struct env *e, const struct replay *w, const struct result *r)
{
	struct out *o = out_new("Replay", "injected,us,links,ejected,reduced,results,credits,credits to PE");

	out_cell(o, "%u", w->acts);
	out_cell(o, "%.3f", (double)r->time * 1e-6);
	out_cell(o, "%llu", (unsigned long long)r->acc.sent);
	out_cell(o, "%llu", (unsigned long long)r->acc.ejected);
	out_cell(o, "%llu", (unsigned long long)r->acc.reduced);
	out_cell(o, "%llu", (unsigned long long)r->acc.results);
	out_cell(o, "%llu", (unsigned long long)r->acc.credits);
	out_cell(o, "%llu", (unsigned long long)r->acc.pe_credits);
	if (!e->comm.rank)
		out_end(o);
}

/* Why does the replay have other routes than the trace? */
static const char *other_routes(const struct env *e, const struct replay *w)
{
	bool adaptive = e->cfg.routing == SIM_ADAPTIVE;

	if (w->adaptive)
		return adaptive ? "adaptive routes depend on time" :
				  "the trace has adaptive routes";
	return adaptive ? "the trace has no adaptive routes; --routing deterministic replays it" :
			  "the trace has other routes; --routes gives them";
}

/*
 * Warns if packets cross another number of links than in the trace.  An adaptive
 * packet takes a shortest path, or the longer route of the fabric if only that
 * route has room.  Other packets take the routes of the fabric or of --routes.
 */
static void links_compare(const struct env *e, const struct replay *w,
			  const struct sim_acc *a)
{
	double more = (double)a->done - (double)a->traced;

	if (!a->others || e->comm.rank)
		return;
	fprintf(stderr, "angara-sim: warning: %llu packets cross more or fewer links than in the trace; all packets: %llu links instead of %llu (%+.0f, %+.2f %%): %s\n",
		(unsigned long long)a->others, (unsigned long long)a->done,
		(unsigned long long)a->traced, more, 100 * more / (double)a->traced,
		other_routes(e, w));
}

static int replay_cmd(struct env *e)
{
	const char *path = arg_text("file");
	struct replay w = { 0 };
	struct result r;
	struct sim s;
	u32 tree;
	int err;

	if (!path)
		bad_usage("replay needs --file");
	read_trace(&w, path, e->cfg.fabric ? angara_fabric_routers(e->cfg.fabric) :
					     sim_cfg_nodes(&e->cfg));
	e->trees = trees_of(&w);
	work_begin(e, &s);
	actions(&w, &s, arg_number("gap"));
	if (!w.acts)
		bad_usage("--file %s: the trace has no packet that a host injects", path);
	for (tree = 0; tree < s.room; tree++)
		tree_of_trace(&s, &w, tree);
	if (w.reductions)
		sim_need_reducers(&s);
	s.work = &work;
	s.arg = &w;
	err = work_end(e, &s, &r);
	if (!err) {
		links_compare(e, &w, &r.acc);
		report(e, &w, &r);
	}
	free(w.rec);
	free(w.chapter);
	free(w.act);
	free(w.first);
	free(w.arrival);
	return err ? SIM_FAILED : SIM_OK;
}

const struct cmd cmd_replay = {
	"replay", "a trace of the emulated fabric, with clocks", opts,
	replay_cmd,
};
