// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Heavy random traffic on fabrics with the least room allowed, until they are
 * idle: everything must have completed, with the right data.
 *
 * All contexts post their part of one list of operations in its order, each at
 * its own pace: so no program withholds an operation that others wait for.
 */
#include <errno.h>
#include <string.h>

#include "test.h"
#include "coll.h"
#include "fabrics.h"
#include "trace_text.h"
#include <angara/fabric.h>

#define OPS		96
#define AREA		2400		/* bytes that are available to an operation */
#define TREES		ANG_DEF_TREES
#define MAX_LOCAL	3
#define MAX_FAILED	3		/* cables */
#define OLD		(AREA / 2)	/* offset of what a FETCH returns, in an area */
#define AREA_LOG2	18		/* a receive buffer has room for all operations */

struct plan {
	u8 op;
	u8 tree;
	u8 inl;
	u8 type;		/* type of a reduction, which is a sum: UINT32 or FLOAT */
	u32 len;
	u32 from;		/* context that puts, gets or broadcasts */
	u32 to;			/* target of a put, get, message or atomic operation,
				 * receiver of a reduction */
};

struct stress {
	struct host *h;
	struct tctx **ctx;
	u32 n;
	struct ttree *tree[TREES];
	u32 ntrees;
	u64 member[TREES][4];	/* participants, one bit per context */
	struct plan plan[OPS];
	struct angara_fabric *around;	/* the fabric without @failed; NULL: routes
					 * and trees are those of the whole fabric */
	struct angara_failure failed[MAX_FAILED];
	u32 nfailed;
	u32 *next;		/* next operation of each context */
	u32 *done;
	u32 *posted;
	u64 seed;
	struct tarea **area;	/* receive buffer of each context; NULL: no operations
				 * but puts, gets and those on trees */
};

static u32 pick(struct stress *s, u32 below)
{
	return (u32)((rnd(&s->seed) >> 16) % below);
}

static int is_member(struct stress *s, u32 tree, u32 ctx)
{
	return s->member[tree][ctx / 64] >> (ctx % 64) & 1;
}

/*
 * Return: word @i that context @c contributes or sends in operation @k.  As a
 * float its magnitude is just below 2: sums are rounded.
 */
static u32 word(u32 c, u32 k, u32 i)
{
	u32 any = (c + 1) * 2654435761U ^ (k * 40503U + i) * 2246822519U;

	return (any & 0x83FFFFFFU) | 0x3C000000U;
}

static u32 *area(struct tctx *c, u32 half, u32 k)
{
	return (u32 *)(c->buf + half * c->buf_len / 2 + k * AREA);
}

static bool is_coll(const struct plan *p)
{
	return p->op >= ANGARA_OP_BCAST && p->op <= ANGARA_OP_BARRIER;
}

static bool is_atomic(const struct plan *p)
{
	return p->op == ANGARA_OP_ATOMIC || p->op == ANGARA_OP_FETCH;
}

/* Return: a random opcode, which needs a tree only if there are trees. */
static u8 any_op(struct stress *s)
{
	u32 more = s->area ? ANGARA_OP_NUM - ANGARA_OP_SEND : 0;
	u32 on_trees = ANGARA_OP_SEND - ANGARA_OP_BCAST;
	u32 op = ANGARA_OP_PUT + pick(s, (s->ntrees ? 2 + on_trees : 2) + more);

	return (u8)(s->ntrees || op < ANGARA_OP_BCAST ? op : op + on_trees);
}

static void make_plan(struct stress *s, struct plan *p)
{
	do {
		p->tree = (u8)pick(s, TREES);
	} while (s->ntrees && !s->tree[p->tree]);
	p->op = any_op(s);
	p->len = pick(s, 3) ? 4 * pick(s, 80) : 4 * pick(s, AREA / 4 + 1);
	if (is_atomic(p))
		p->len = 4 + p->len % ANGARA_MAX_ATOMIC;
	p->inl = p->len <= ANGARA_MAX_INLINE && p->op != ANGARA_OP_GET &&
		 pick(s, 2);
	p->type = pick(s, 2) ? ANGARA_TYPE_FLOAT : ANGARA_TYPE_UINT32;
	p->from = pick(s, s->n);
	p->to = pick(s, s->n);
	if (p->op == ANGARA_OP_BARRIER)
		p->len = p->inl = 0;
	if (!is_coll(p))
		return;
	while (!is_member(s, p->tree, p->from))
		p->from = pick(s, s->n);
	while (!is_member(s, p->tree, p->to))
		p->to = pick(s, s->n);
}

/*
 * Makes tree @t of some contexts, with a random root.  If cables are down and this root
 * does not reach all contexts, takes the best root instead.  Return: NULL if no root
 * reaches all of them: on a mesh, no tree leads around a cable of the last dimension.
 */
static struct ttree *any_tree(struct stress *s, u32 t, const u16 *pe, struct tctx **some,
			      u32 n)
{
	int64_t root = pick(s, s->h->nodes);
	struct angara_tree_row *rows;
	struct ttree *tree = NULL;
	int count;

	if (!s->nfailed)
		return tree_new(s->h, t, (u32)root, pe, some, n, t + 5);
	rows = calloc(s->h->v.topo.routers, sizeof(*rows));
	count = angara_fabric_tree(s->around, (u32)root, pe, NULL, rows);
	if (count == -EHOSTUNREACH) {
		root = angara_fabric_root(s->around, pe, NULL);
		count = root < 0 ? (int)root :
			angara_fabric_tree(s->around, (u32)root, pe, NULL, rows);
	}
	if (count > 0)
		tree = tree_given(s->h, t, (u32)root, pe, rows, (u32)count, some, n, t + 5);
	else
		EXPECT_EQ(count, -EHOSTUNREACH);
	free(rows);
	return tree;
}

static void make_trees(struct stress *s, u32 local)
{
	u32 t, c;

	for (t = 0; t < TREES; t++) {
		u16 *pe = calloc(s->h->nodes, sizeof(*pe));
		u32 any = 0;

		for (c = 0; c < s->n; c++)
			if (pick(s, 3)) {
				s->member[t][c / 64] |= 1ULL << (c % 64);
				pe[c / local]++;
				any++;
			}
		if (any) {
			struct tctx **some = calloc(s->n, sizeof(*some));
			u32 n = 0;

			for (c = 0; c < s->n; c++)
				if (is_member(s, t, c))
					some[n++] = s->ctx[c];
			s->tree[t] = any_tree(s, t, pe, some, n);
			s->ntrees += !!s->tree[t];
			free(some);
		}
		free(pe);
	}
}

/*
 * Takes up to @most random cables down, and leads routes around them.  Each of these
 * cables changes routes.  Without all of them, all nodes still reach each other.
 */
static void fail_cables(struct stress *s, const char *dims, u32 most)
{
	const struct angara_adm_link down = { .what = ANGARA_LINK_DOWN };
	struct angara_adm_cmd use = adm_route_cmd(ANGARA_ROUTE_USE);
	struct angara_detours d = { .size = sizeof(d) };
	const struct ang_topo *topo = &s->h->v.topo;
	u64 changed = 0;
	u32 tries, i;

	EXPECT_EQ(angara_fabric_open(dims, &s->around, NULL, 0), 0);
	for (tries = 0; tries < 32 && s->nfailed < most; tries++) {
		struct angara_failure *f = &s->failed[s->nfailed];

		*f = (struct angara_failure){ pick(s, topo->routers), pick(s, topo->nports) };
		if (ang_topo_neighbor(topo, f->router, f->port) == ANG_NONE)
			continue;
		EXPECT_EQ(angara_fabric_avoid(s->around, s->failed, s->nfailed + 1, &d), 0);
		EXPECT_EQ(d.circle, 0);
		if (d.lost || d.changed <= changed)
			continue;
		changed = d.changed;
		s->nfailed++;
	}
	EXPECT_EQ(angara_fabric_avoid(s->around, s->failed, s->nfailed, NULL), 0);
	if (!s->nfailed)
		return;
	for (i = 0; i < s->nfailed; i++)
		EXPECT_EQ(adm_link(s->h, s->failed[i].router, s->failed[i].port, &down),
			  ANGARA_ADM_ST_OK);
	adm_route_rows(s->h, s->around);
	EXPECT_EQ(adm(s->h, 0, &use, NULL), ANGARA_ADM_ST_OK);
}

/* Gives all contexts receive buffers. */
static void make_areas(struct stress *s)
{
	u32 c;

	s->area = calloc(s->n, sizeof(*s->area));
	for (c = 0; c < s->n; c++)
		s->area[c] = area_new(s->ctx[c], AREA_LOG2);
}

/*
 * Makes a scenario.  @failures: maximum of cables that are down; @every: operations of
 * all kinds.
 */
static void start(struct stress *s, const char *dims, struct ang_cfg cfg,
		  u64 seed, u32 failures, bool every)
{
	u32 local, c, k, i;

	memset(s, 0, sizeof(*s));
	s->seed = seed * 0x9E3779B97F4A7C15ULL + 1;
	s->h = host_new(dims, &cfg);
	local = 1 + pick(s, MAX_LOCAL);
	s->n = local * s->h->nodes;
	EXPECT(s->n <= 256);
	s->ctx = calloc(s->n, sizeof(*s->ctx));
	s->next = calloc(s->n, sizeof(*s->next));
	s->done = calloc(s->n, sizeof(*s->done));
	s->posted = calloc(s->n, sizeof(*s->posted));
	for (c = 0; c < s->n; c++) {
		s->ctx[c] = ctx_new(s->h, c / local, c % local, PKEY, 3, 3);
		ctx_buffer(s->ctx[c], 2 * OPS * AREA);
		for (k = 0; k < OPS; k++)
			for (i = 0; i < AREA / 4; i++)
				area(s->ctx[c], 0, k)[i] = word(c, k, i);
	}
	if (failures)
		fail_cables(s, dims, failures);
	make_trees(s, local);
	if (every)
		make_areas(s);
	for (k = 0; k < OPS; k++) {
		make_plan(s, &s->plan[k]);
		c = s->plan[k].to;
		for (i = 0; is_atomic(&s->plan[k]) && i < s->plan[k].len / 4; i++)
			area(s->ctx[c], 1, k)[i] = word(c, k, i);
	}
}

/* Does context @c post operation @k? */
static int takes_part(struct stress *s, u32 c, u32 k)
{
	struct plan *p = &s->plan[k];

	if (!is_coll(p) || p->op == ANGARA_OP_BCAST)
		return p->from == c;
	return is_member(s, p->tree, c);
}

/* Return: 1 if context @c posted its next operation. */
static int post_next(struct stress *s, u32 c)
{
	struct tctx *t = s->ctx[c];
	struct angara_wqe w;
	struct plan *p;
	u32 k;

	while (s->next[c] < OPS && !takes_part(s, c, s->next[c]))
		s->next[c]++;
	k = s->next[c];
	if (k == OPS)
		return 0;
	if (t->sq_pi + 5 - (u32)ctx_counter(t, ANGARA_CTR_SQ_CI) > t->sq_n)
		return 0;
	p = &s->plan[k];
	w = wqe_coll(p->op, p->tree, k * AREA, t->buf_len / 2 + k * AREA,
		     p->len);
	if (!is_coll(p))
		w.tree = 0;
	if (p->op == ANGARA_OP_SEND) {
		w.type = 0;
		wqe_dst(&w, k);		/* the tag */
	}
	if (p->op == ANGARA_OP_FETCH)
		w.aux = cpu_to_le64(t->buf_len / 2 + k * AREA + OLD);
	w.dst_node = cpu_to_le32(s->ctx[p->to]->node);
	w.dst_ctx = cpu_to_le16((u16)s->ctx[p->to]->id);
	if (is_coll(p) && p->op > ANGARA_OP_BCAST)
		w.type = p->type;
	w.cookie = cpu_to_le64(k);
	w.flags = p->inl ? ANGARA_WQE_INLINE : 0;
	post(t, &w, p->inl && p->len ? area(t, 0, k) : NULL);
	s->next[c]++;
	s->posted[c]++;
	return 1;
}

static int collect(struct stress *s, u32 c)
{
	struct angara_cqe cqe;
	int got = 0;

	while (poll_cq(s->ctx[c], &cqe)) {
		EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_OK);
		EXPECT(le64_to_cpu(cqe.cookie) < OPS);
		EXPECT_EQ(le32_to_cpu(cqe.length),
			  s->plan[le64_to_cpu(cqe.cookie)].len);
		s->done[c]++;
		got = 1;
	}
	return got;
}

/* Sets or clears faults of a random link while packets are on it. */
static void fault_toggle(struct stress *s)
{
	struct ang_fabric *fab = s->h->fab;
	struct ang_node *n = ang_node(fab, pick(s, s->h->v.topo.routers));
	u32 port = pick(s, fab->nports);
	struct angara_adm_link link = host_faults;

	if (ang_port(fab, n, port)->peer == ANG_NONE)
		return;
	link.port = cpu_to_le32(port);
	link.seed = cpu_to_le64(s->seed);
	if (pick(s, 2)) {
		link.loss = 0;
		link.corrupt = 0;
		link.delay = 0;
	}
	EXPECT_EQ(ang_link_set(&s->h->v, n, &link), ANGARA_ADM_ST_OK);
}

static void drive(struct stress *s)
{
	static const u32 turns[] = { 1, 1, 150, 600, 3000, ANG_WORK_TURN };
	u32 idle = 0;
	u32 c;

	/*
	 * Stop when the fabric is idle, all completions are taken, and all
	 * contexts are notified.
	 */
	while (idle < 3) {
		int moved = 0;

		for (c = 0; c < s->n; c++) {
			if (pick(s, 3) || idle) {
				moved |= post_next(s, c);
				kick(s->ctx[c]);
			}
			if (pick(s, 2) || idle)
				moved |= collect(s, c);
			/* Steps may end in the middle of work. */
			if (host_faults.what && !pick(s, 64))
				fault_toggle(s);
			s->h->v.turn = turns[s->h->v.steps % NUM(turns)];
			if (!pick(s, 4))
				run_steps(&s->h->v, 1 + pick(s, 20));
		}
		if (idle)
			host_run(s->h);
		idle = moved ? 0 : idle + 1;
	}
}

static void expect_words(const u32 *at, u32 c, u32 k, u32 len)
{
	u32 i;

	for (i = 0; i < len / 4; i++)
		EXPECT_EQ(at[i], word(c, k, i));
}

/* The operation has added its words to the target's words.  FETCH returns the old words. */
static void check_atomic(struct stress *s, u32 k)
{
	struct plan *p = &s->plan[k];
	u32 *at = area(s->ctx[p->to], 1, k);
	u32 i;

	for (i = 0; i < p->len / 4; i++)
		EXPECT_EQ(at[i], word(p->from, k, i) + word(p->to, k, i));
	if (p->op == ANGARA_OP_FETCH)
		expect_words(area(s->ctx[p->from], 1, k) + OLD / 4, p->to, k, p->len);
}

/* Checks that each context has received each message to it once. */
static void check_messages(struct stress *s)
{
	const struct angara_msg *m;
	u32 c, k, seen = 0;

	for (c = 0; c < s->n; c++)
		for (; (m = area_next(s->area[c], NULL)); area_free(s->area[c], m)) {
			k = (u32)le64_to_cpu(m->tag);
			EXPECT(k < OPS && s->plan[k].op == ANGARA_OP_SEND);
			EXPECT_EQ(s->plan[k].to, c);
			EXPECT_EQ(le32_to_cpu(m->length), s->plan[k].len);
			expect_words((const u32 *)(m + 1), s->plan[k].from, k, s->plan[k].len);
			s->plan[k].op = ANGARA_OP_NOP;
			seen++;
		}
	for (k = 0; k < OPS; k++)
		EXPECT(s->plan[k].op != ANGARA_OP_SEND);
	EXPECT(seen);
}

static void check_op(struct stress *s, u32 k)
{
	struct plan *p = &s->plan[k];
	u64 want[AREA / 8];
	u32 c;

	if (is_atomic(p))
		check_atomic(s, k);
	if (is_coll(p) && p->op > ANGARA_OP_BCAST)
		coll_fold(s->tree[p->tree], p->type, ANGARA_RED_SUM, k * AREA,
			  want, p->len);

	if (p->op == ANGARA_OP_PUT)
		expect_words(area(s->ctx[p->to], 1, k), p->from, k, p->len);
	if (p->op == ANGARA_OP_GET)
		expect_words(area(s->ctx[p->from], 1, k), p->to, k, p->len);
	for (c = 0; c < s->n && is_coll(p); c++) {
		u32 *at = area(s->ctx[c], 1, k);

		if (!is_member(s, p->tree, c) ||
		    (p->op == ANGARA_OP_REDUCE && c != p->to))
			continue;
		if (p->op == ANGARA_OP_BCAST) {
			expect_words(at, p->from, k, p->len);
			continue;
		}
		EXPECT(!memcmp(at, want, p->len));
	}
}

static void finish_all(struct stress *s)
{
	u32 c, k;

	for (c = 0; c < s->n; c++) {
		if (s->next[c] != OPS || s->done[c] != s->posted[c])
			host_dump(s->h);
		EXPECT_EQ(s->next[c], OPS);
		EXPECT_EQ(s->done[c], s->posted[c]);
	}
	for (k = 0; k < OPS; k++)
		check_op(s, k);
	if (s->area)
		check_messages(s);
	host_check_idle(s->h);
	for (k = 0; k < TREES; k++)
		if (s->tree[k])
			tree_del(s->tree[k]);
	for (c = 0; c < s->n; c++) {
		ctx_del(s->ctx[c]);
		if (s->area)
			free(s->area[c]);
	}
	free(s->area);
	free(s->ctx);
	free(s->next);
	free(s->done);
	free(s->posted);
	angara_fabric_close(s->around);
	EXPECT_EQ(s->h->faults, 0);
	host_free(s->h);
}

static void stress(const char *dims, u64 seed)
{
	struct ang_cfg cfg = cfg_tight;
	struct stress *s = malloc(sizeof(*s));

	cfg.train = (u16)(1U << (seed % 7));
	start(s, dims, cfg, seed, 0, false);
	drive(s);
	finish_all(s);
	free(s);
}

static const char * const small[] = {
	"2x2x2", "5", "3x3", "4x2", "2", "1", "7", "3x2x2",
};

static void stress_small(void)
{
	u64 seed;

	for (seed = 1; seed <= 40; seed++)
		stress(small[seed % NUM(small)], seed);
}

static void stress_big(void)
{
	u64 seed;

	for (seed = 100; seed < 103; seed++) {
		stress("4x4x2", seed);
		stress("3x3x3", seed);
		stress("2x3x2x2", seed);
	}
}

static void stress_kinds(void)
{
	const char *text;
	u32 i;

	for (i = 0; (text = fabric_of(i)); i++) {
		stress(text, 200 + i);
		stress(text, 300 + i);
	}
}

static FILE *printed;

static void print(void *host, const struct ang_trace *r)
{
	ang_trace_print(printed, r);
}

static void print_counters(struct host *h)
{
	struct traffic t;

	traffic(h, &t);
	fprintf(printed, "# counted: %llu sent, %llu credits, %llu injected, %llu ejected, %llu hops\n",
		t.link[ANGARA_VC_REQ] + t.link[ANGARA_VC_RSP] +
		t.link[ANGARA_VC_UP] + t.link[ANGARA_VC_DOWN],
		t.credits, t.injected, t.ejected, t.hops);
}

/*
 * Return: the fabric of scenario @seed: a small torus, or every third time
 * another kind.
 */
static const char *printed_fabric(u64 seed)
{
	u32 kinds = 0;

	while (fabric_of(kinds))
		kinds++;
	return seed % 3 ? small[seed / 3 % NUM(small)] :
			  fabric_of((u32)(seed / 3 % kinds));
}

/* Each line of the description is a comment. */
static void print_fabric(const char *text)
{
	u32 len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = (u32)strcspn(text, "\n");
		fprintf(printed, "# fabric %s%.*s\n", strchr(text, ':') ||
			strstr(text, "graph") == text ? "" : "torus:", (int)len,
			text);
	}
}

/* Every fourth scenario has faults on all links at first, then on some. */
static void print_faults(u64 seed)
{
	const u32 tenth = ANGARA_FAULT_ONE / 10;

	if (seed % 4)
		return;
	host_faults = (struct angara_adm_link){
		.loss = cpu_to_le32(tenth), .corrupt = cpu_to_le32(tenth / 2),
		.delay = cpu_to_le32(20), .seed = cpu_to_le64(seed),
		.what = ANGARA_LINK_FAULT,
	};
	fprintf(printed, "# faults %u %u 20\n", tenth, tenth / 2);
}

/* Return: maximum of cables that are down in a scenario; 0 in four of five scenarios. */
static u32 printed_failures(u64 seed)
{
	return seed % 5 ? 0 : 1 + (u32)(seed / 5 % MAX_FAILED);
}

/* Prints failed cables, and the routes around them that the whole fabric does not have. */
static void print_detours(const struct stress *s)
{
	const struct ang_topo *topo = &s->h->v.topo;
	u32 i, router, node;

	for (i = 0; i < s->nfailed; i++)
		fprintf(printed, "# down %u %u\n", s->failed[i].router, s->failed[i].port);
	for (router = 0; router < topo->routers && s->nfailed; router++)
		for (node = 0; node < topo->nodes; node++) {
			u32 port = angara_fabric_route(s->around, router, node);

			if (port != ANG_NONE && port != ang_topo_route(topo, router, node))
				fprintf(printed, "# route %u %u %u\n", router, node, port);
		}
}

int stress_print(FILE *to, u64 seed)
{
	const char *fabric = printed_fabric(seed);
	struct stress *s = malloc(sizeof(*s));

	printed = to;
	print_fabric(fabric);
	print_faults(seed);
	if (setjmp(test_failed)) {
		fprintf(to, "# the scenario failed: %s\n", test_why);
		return 1;
	}
	/* Packets that open trees come first; their number depends on timing. */
	start(s, fabric, cfg_tight, seed, printed_failures(seed), true);
	host_run(s->h);
	print_detours(s);
	print_counters(s->h);
	s->h->ops.trace = print;
	drive(s);
	s->h->ops.trace = NULL;
	print_counters(s->h);
	finish_all(s);
	free(s);
	return 0;
}

const struct test_case stress_cases[] = {
	{ "stress: random traffic on fabrics of every kind", stress_kinds },
	{ "stress: random traffic on small tori", stress_small },
	{ "stress: random traffic on bigger tori", stress_big },
	{ NULL, NULL },
};
