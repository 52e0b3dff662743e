// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replay: inject the packets of a trace of the emulated fabric again, with
 * clocks.
 *
 * Records of injections give the node, the packet and the time.  The nodes that
 * eject requests and results of reduces are their targets; the paths of packets
 * give the trees.  Answers, copies, results and credits are simulated again;
 * the adapters' control packets for full queues and for the setup of trees are
 * not.  A line that begins with "#" starts a new chapter: its packets wait
 * until the network is idle and a gap has passed.
 */
#include <errno.h>
#include "args.h"
#include "cmd.h"
#include "lines.h"
#include "trace_text.h"

struct act {
	u64 time;
	u32 node;
	u32 order;
	struct sim_op op;
};

/**
 * struct key - identity of a packet in a trace
 * @type: ANG_PKT_*
 * @from: node that injected it; tree of a result
 * @seq: number as in the record
 * @len: bytes of payload: operations of a node that run at the same time have
 *	packets with the same numbers
 * @index: index of the record
 */
struct key {
	u32 type;
	u32 from;
	u32 seq;
	u32 len;
	u32 index;
};

/**
 * struct replay - a trace and the packets to inject
 * @rec: records
 * @chapter: chapter of each record
 * @n: number of records
 * @act: injections, by node
 * @acts: their number
 * @first: first injection of each node
 * @ejected: ejections, by key
 * @ejections: their number
 * @answer: answers that adapters injected, by node, number and index
 * @answers: their number
 * @arrival: record of the arrival of each record's packet, see targets()
 * @reductions: the trace has reductions
 */
struct replay {
	struct ang_trace *rec;
	u32 *chapter;
	u32 n;
	struct act *act;
	u32 acts;
	u32 *first;
	struct key *ejected;
	u32 ejections;
	struct key *answer;
	u32 answers;
	u32 *arrival;
	bool reductions;
};

/* Upper bound of a trace's times, in ps: sums stay below 2^64. */
#define LATEST	1000000000000000000ULL

static bool is_reduction(const struct ang_trace *r)
{
	return r->type == ANG_PKT_REDUCE || r->type == ANG_PKT_ALLREDUCE;
}

/* Did a host inject the packet?  Adapters create all other packets. */
static bool injected(const struct ang_trace *r)
{
	return r->event == ANG_TR_INJECT &&
	       (sim_is_request(r->type) || is_reduction(r) ||
		r->type == ANG_PKT_BCAST);
}

static bool is_blank(const char *line)
{
	return line[0] == '#' || !line[strspn(line, " \t\r\n")];
}

static void read_trace(struct replay *w, const char *path, u32 routers)
{
	u32 size = 0, chapter = 0, bad = 0, first = 0;
	struct sim_lines l;
	char err[512];
	int ret;

	if (sim_lines_open(&l, path, err, sizeof(err)))
		bad_usage("--file %s", err);
	while ((ret = sim_lines_next(&l, err, sizeof(err))) > 0) {
		chapter += l.text[0] == '#';
		if (w->n == size) {
			size = size ? 2 * size : 1024;
			w->rec = realloc(w->rec, size * sizeof(*w->rec));
			w->chapter = realloc(w->chapter, size * sizeof(u32));
			if (!w->rec || !w->chapter)
				exit(SIM_FAILED);
		}
		if (!ang_trace_parse(l.text, &w->rec[w->n])) {
			if (!is_blank(l.text) && !bad++)
				first = l.number;
			continue;
		}
		if (w->rec[w->n].node >= routers)
			bad_usage("--file %s: node %u is not in the fabric; give its --torus or --fabric",
				  path, w->rec[w->n].node);
		w->chapter[w->n++] = chapter;
	}
	if (ret)
		bad_usage("--file %s", err);
	if (bad)
		bad_usage("--file %s: %u lines are no records of packets, the first is line %u",
			  path, bad, first);
}

static int key_compare(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static bool same_packets(const struct key *a, const struct key *b)
{
	return a->type == b->type && a->from == b->from && a->seq == b->seq &&
	       a->len == b->len;
}

/* Key of a record's packet; a reduction arrives as its result. */
static struct key key_of(const struct replay *w, u32 i)
{
	const struct ang_trace *r = &w->rec[i];
	u32 type = r->type == ANG_PKT_REDUCE ? ANG_PKT_RESULT : r->type;

	return (struct key){
		.type = type, .seq = r->seq, .len = r->len, .index = i,
		.from = type == ANG_PKT_RESULT ? r->tree : r->src,
	};
}

static bool has_target(const struct ang_trace *r)
{
	return sim_is_request(r->type) || r->type == ANG_PKT_REDUCE;
}

/* Index of the first of @n sorted keys that is not less than @key. */
static u32 key_find(const struct key *list, u32 n, const struct key *key)
{
	u32 lo = 0, hi = n;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (key_compare(&list[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Sorts ejections by key. */
static u32 keys(struct replay *w, struct key *injection)
{
	u32 i, n = 0;

	w->ejections = 0;
	for (i = 0; i < w->n; i++) {
		if (w->rec[i].event == ANG_TR_EJECT)
			w->ejected[w->ejections++] = key_of(w, i);
		else if (injected(&w->rec[i]) && has_target(&w->rec[i]))
			injection[n++] = key_of(w, i);
	}
	qsort(w->ejected, w->ejections, sizeof(*w->ejected), key_compare);
	qsort(injection, n, sizeof(*injection), key_compare);
	return n;
}

/*
 * Arrivals of injections: the n-th packet with a key is the n-th to arrive with
 * it.  All contributions to a reduction match its first result.
 */
static void targets(struct replay *w)
{
	struct key *injection = sim_zalloc(w->n, sizeof(*injection));
	u32 i, n, at, nth = 0;

	w->ejected = sim_zalloc(w->n, sizeof(*w->ejected));
	w->arrival = sim_zalloc(w->n, sizeof(*w->arrival));
	n = keys(w, injection);
	for (i = 0; i < n; i++) {
		struct key first = injection[i];

		nth = i && first.type != ANG_PKT_RESULT &&
		      same_packets(&injection[i - 1], &first) ? nth + 1 : 0;
		first.index = 0;
		at = key_find(w->ejected, w->ejections, &first) + nth;
		w->arrival[injection[i].index] =
			at < w->ejections &&
			same_packets(&w->ejected[at], &first) ?
			w->ejected[at].index : ANG_NONE;
	}
	free(injection);
	free(w->ejected);
}

static bool is_answer(const struct ang_trace *r)
{
	return r->event == ANG_TR_INJECT &&
	       (r->type == ANG_PKT_DATA || r->type == ANG_PKT_ACK);
}

static struct key answer_key(const struct ang_trace *r, u32 i)
{
	return (struct key){ .from = r->node, .seq = r->seq, .index = i };
}

/* Sorts answers by key. */
static void answers(struct replay *w)
{
	u32 i;

	w->answer = sim_zalloc(w->n, sizeof(*w->answer));
	for (i = 0; i < w->n; i++)
		if (is_answer(&w->rec[i]))
			w->answer[w->answers++] = answer_key(&w->rec[i], i);
	qsort(w->answer, w->answers, sizeof(*w->answer), key_compare);
}

/*
 * Bytes of the data that answers the atomic operation of record @i.  A node
 * answers a request before it serves the next one, so the answer is the first
 * one with the request's number behind its arrival.
 */
static u32 fetched(const struct replay *w, u32 i)
{
	const struct ang_trace *to = &w->rec[w->arrival[i]], *r;
	struct key key = answer_key(to, w->arrival[i]);
	u32 at = key_find(w->answer, w->answers, &key);

	if (at == w->answers || !same_packets(&w->answer[at], &key))
		return 0;
	r = &w->rec[w->answer[at].index];
	return r->type == ANG_PKT_DATA ? r->len : 0;
}

static void act_add(struct replay *w, const struct sim *s, u32 i, u64 gap)
{
	const struct ang_trace *r = &w->rec[i];
	struct act *a = &w->act[w->acts];

	if (r->node >= s->topo.nodes)
		bad_usage("the trace has a packet that switch %u injected", r->node);
	if (r->cycle > LATEST / s->cfg.clock ||
	    (gap && w->chapter[i] > LATEST / gap))
		bad_usage("the trace is longer than 10^6 s, at cycle %llu of chapter %u",
			  (unsigned long long)r->cycle, w->chapter[i]);
	*a = (struct act){
		.time = r->cycle * s->cfg.clock + w->chapter[i] * gap,
		.node = r->node, .order = i,
		.op = { .type = r->type, .dst = ANG_NONE, .tag = r->seq,
			.left = r->len, .tree = r->tree, .value = r->seq,
			.many = is_reduction(r) },
	};
	if (has_target(r)) {
		if (w->arrival[i] == ANG_NONE)
			bad_usage("the trace lacks the arrival of the %s that node %u injected",
				  ang_pkt_name(r->type), r->node);
		a->op.dst = w->rec[w->arrival[i]].node;
		if (r->type == ANG_PKT_ATOMIC)
			a->op.fetch = fetched(w, i);
		if (a->op.fetch > s->cfg.packet * s->cfg.train)
			bad_usage("the trace has an answer of %u bytes, more than %llu in a train",
				  a->op.fetch,
				  (unsigned long long)(s->cfg.packet * s->cfg.train));
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
	targets(w);
	answers(w);
	for (i = 0; i < w->n; i++)
		if (injected(&w->rec[i]))
			act_add(w, s, i, gap);
	free(w->answer);
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

/* A node's participants: the nodes that injected the same packet of the tree. */
static void participants(const struct replay *w, u32 tree, u32 routers,
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
	for (i = 0; i < routers; i++)
		rows[i].pe = part[i].n;
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

static void tree_of_trace(struct sim *s, const struct replay *w, u32 tree)
{
	struct angara_tree_row *rows = sim_zalloc(s->topo.routers, sizeof(*rows));
	bool any = false;
	u32 i, rule;

	for (i = 0; i < s->topo.routers; i++) {
		rows[i].tree = (u8)tree;
		rows[i].to_root = ANGARA_PORT_NONE;
	}
	for (i = 0; i < w->n; i++) {
		const struct ang_trace *r = &w->rec[i];

		if (r->event != ANG_TR_SEND || r->tree != tree ||
		    (r->vc != ANGARA_VC_UP && r->vc != ANGARA_VC_DOWN) ||
		    r->type == ANG_PKT_CREDIT || r->type == ANG_PKT_ABORT || r->type == ANG_PKT_OPEN)
			continue;
		edge(s, rows, r->node, r->port, r->vc == ANGARA_VC_UP);
		any = true;
	}
	if (!any) {
		free(rows);
		return;
	}
	for (i = 0; i < s->topo.routers; i++)
		rows[i].is_root = rows[i].ports &&
				  rows[i].to_root == ANGARA_PORT_NONE;
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

static const struct sim_work work = {
	.name = "replay",
	.start = start,
	.host = host,
};

static const struct sim_opt opts[] = {
	{ "file", SIM_T_FILE, NULL,
	  "trace: lines of the angara_packet tracepoint, or of the model's golden trace" },
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

static int replay_cmd(struct env *e)
{
	const char *path = arg_text("file");
	struct replay w = { 0 };
	struct result r;
	struct sim s;
	u32 tree;
	int err;

	if (!path)
		bad_usage("replay needs a --file");
	read_trace(&w, path, e->cfg.fabric ? angara_fabric_routers(e->cfg.fabric) :
					     sim_cfg_nodes(&e->cfg));
	e->trees = trees_of(&w);
	if (work_begin(e, &s))
		return SIM_FAILED;
	actions(&w, &s, need_time("gap"));
	if (!w.acts)
		bad_usage("--file %s: no injections", path);
	for (tree = 0; tree < s.room; tree++)
		tree_of_trace(&s, &w, tree);
	if (w.reductions)
		sim_need_reducers(&s);
	s.work = &work;
	s.arg = &w;
	err = work_end(e, &s, &r);
	if (!err)
		report(e, &w, &r);
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
