// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Routes around failures.  Each cable and each node of a fabric fails.  Then the
 * routes that libangara computes around it are put in use, while operations and
 * a collective are under way: no operation on an intact route ends with an error,
 * and after that puts, gets and atomic operations between all remaining nodes
 * are delivered, while collectives run.
 *
 * Tries some of the failures, or all of them with LONG in the environment:
 * selftests/host/model.t does so in the optimized build.
 */
#include <string.h>

#include "test.h"
#include "coll.h"
#include <angara/fabric.h>

/* Offsets in the memory of a context. */
#define PUT_AT(src)	(8ULL * (src))		/* word that node @src has put */
#define GIVE_AT		1024U			/* word for gets */
#define SUM_AT		1032U			/* word that others increment */
#define SEND_AT		1040U			/* source of puts and atomics */
#define GOT_AT		1048U			/* results of gets and fetches */
#define OLD_AT		1056U
#define LEN		768U			/* bytes of an allreduce */
#define HALF		2048U

static struct group g;	/* contexts 2 * node for messages, 2 * node + 1 for trees */
static u32 epochs;

/**
 * struct heal - a fabric whose routes change
 * @plan: the fabric, for routes and trees
 * @f: what has failed
 * @dead: node that has failed, or ANG_NONE
 * @rows: rows of a tree
 * @t: tree over all nodes but @dead, or NULL
 * @seed: which failures are tried
 */
struct heal {
	struct angara_fabric *plan;
	struct angara_failure f;
	u32 dead;
	struct angara_tree_row *rows;
	struct ttree *t;
	u64 seed;
};

static void heal_new(struct heal *a, const char *text)
{
	struct ang_cfg cfg = cfg_tight;

	*a = (struct heal){ .dead = ANG_NONE, .seed = 5 };
	cfg.ops = 8;
	g.h = host_new(text, &cfg);
	group_new(&g, 2, HALF);
	EXPECT_EQ(angara_fabric_open(text, &a->plan, NULL, 0), 0);
	a->rows = calloc(g.h->v.topo.routers, sizeof(*a->rows));
}

static void heal_del(struct heal *a)
{
	u32 i;

	for (i = 0; i < g.h->v.topo.routers; i++) {
		const struct ang_node *n = ang_node(g.h->fab, i);

		g.h->dropped += n->drops[ANGARA_DROP_LINK] + n->drops[ANGARA_DROP_NO_TREE] +
				n->drops[ANGARA_DROP_STALE];
	}
	EXPECT_EQ(g.h->fab->flawed, 0);
	EXPECT_EQ(g.h->fab->broken, 0);
	angara_fabric_close(a->plan);
	free(a->rows);
	group_del(&g);
}

static u32 num_nodes(void)
{
	return g.h->v.topo.nodes;
}

static struct tctx *p2p_ctx(u32 node)
{
	return g.ctx[2 * node];
}

static void set_failure(const struct angara_failure *f, u32 what)
{
	struct angara_adm_link link = { .what = (u8)what };
	u32 port;

	for (port = 0; port < g.h->v.topo.nports; port++)
		if ((f->port == ANGARA_FAILED_ROUTER || f->port == port) &&
		    ang_topo_neighbor(&g.h->v.topo, f->router, port) != ANG_NONE)
			EXPECT_EQ(adm_link(g.h, f->router, port, &link), ANGARA_ADM_ST_OK);
}

/*
 * Are the rings that routes lead through empty?  Node 0, which changes the routes,
 * may have sent packets by the new ones in the same step.
 */
static bool rings_idle(void)
{
	u32 i, dir, vc, at;

	for (i = 0; i < g.h->v.topo.routers; i++)
		for (dir = 0; dir < g.h->fab->nports; dir++)
			for (vc = ANGARA_VC_REQ; vc <= ANGARA_VC_RSP; vc++) {
				const struct ang_ring *r =
					ang_ring(g.h->fab, ang_node(g.h->fab, i), dir, vc);

				for (at = r->head; at != r->put; at++) {
					const struct ang_pkt *p =
						&r->pkt[at & (g.h->fab->cfg.depth - 1U)];

					if (p->src_node || p->hops > 1)
						return false;
				}
			}
	return true;
}

/*
 * Changes routes step by step.  The table changes while no packet follows a
 * route.  Return: the status.
 */
static u32 route_watched(u32 what)
{
	struct angara_adm_cmd cmd = adm_route_cmd(what);
	struct host_node *n = &g.h->node[0];
	u32 was = g.h->fab->detour & ANG_DETOUR_TABLE;
	u32 steps = 0;

	n->asq[n->asq_pi % ADM_ENTRIES] = cmd;
	host_reg(g.h, 0, ANGARA_REG_ASQ_DB, ++n->asq_pi);
	while ((n->acq[n->acq_ci % ADM_ENTRIES].phase & 1) == !!(n->acq_ci & ADM_ENTRIES)) {
		EXPECT(++steps < 1000000);
		run_steps(&g.h->v, 1);
		if ((g.h->fab->detour & ANG_DETOUR_TABLE) == was)
			continue;
		was = g.h->fab->detour & ANG_DETOUR_TABLE;
		EXPECT(rings_idle());
	}
	return n->acq[n->acq_ci++ % ADM_ENTRIES].status;
}

static u64 word_of(u32 node)
{
	return node * 0x9E3779B97F4A7C15ULL + epochs;
}

/* Sets the memory of all nodes before operations. */
static void words_set(void)
{
	u32 i;

	epochs++;
	for (i = 0; i < num_nodes(); i++) {
		u64 word = word_of(i), one = 1;
		char *buf = p2p_ctx(i)->buf;

		memset(buf, 0, 2 * HALF);
		memcpy(buf + GIVE_AT, &word, 8);
		memcpy(buf + SEND_AT, &word, 8);
		memcpy(buf + SEND_AT + 64, &one, 8);
	}
}

static void three_post(u32 src, u32 dst)
{
	struct tctx *c = p2p_ctx(src);
	u32 ctx = p2p_ctx(dst)->id;
	struct angara_wqe put = wqe_p2p(ANGARA_OP_PUT, dst, ctx, SEND_AT, PUT_AT(src), 8);
	struct angara_wqe get = wqe_p2p(ANGARA_OP_GET, dst, ctx, GIVE_AT, GOT_AT, 8);
	struct angara_wqe add = wqe_p2p(ANGARA_OP_FETCH, dst, ctx, SEND_AT + 64, SUM_AT, 8);

	add.type = ANGARA_TYPE_UINT64;
	add.redop = ANGARA_RED_SUM;
	add.aux = cpu_to_le64(OLD_AT);
	post(c, &put, NULL);
	post(c, &get, NULL);
	post(c, &add, NULL);
	kick(c);
}

/* Does a route of the topology lead over what has failed? */
static bool leads_over(const struct heal *a, u32 from, u32 to)
{
	const struct ang_topo *t = &g.h->v.topo;

	while (from != to) {
		u32 port = ang_topo_route(t, from, to), far;
		u32 next = ang_topo_peer(t, from, port, &far);

		if (a->f.port == ANGARA_FAILED_ROUTER ?
		    from == a->f.router || next == a->f.router :
		    (from == a->f.router && port == a->f.port) ||
		    (next == a->f.router && far == a->f.port))
			return true;
		from = next;
	}
	return false;
}

/* Takes the three completions of a node.  Return: number of operations done. */
static u32 three_check(const struct heal *a, u32 src, u32 dst, bool strict)
{
	struct tctx *c = p2p_ctx(src);
	bool excused = !strict && (leads_over(a, src, dst) || leads_over(a, dst, src));
	struct angara_cqe cqe;
	u64 word, want;
	u32 i, good = 0;

	for (i = 0; i < 3; i++) {
		EXPECT(poll_cq(c, &cqe));
		if (le16_to_cpu(cqe.status) == ANGARA_ST_OK) {
			good++;
			continue;
		}
		EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_UNREACHABLE);
		EXPECT(excused);
	}
	EXPECT(!poll_cq(c, &cqe));
	if (good < 3)
		return good;
	want = word_of(src);
	memcpy(&word, p2p_ctx(dst)->buf + PUT_AT(src), 8);
	EXPECT_EQ(word, want);
	want = word_of(dst);
	memcpy(&word, c->buf + GOT_AT, 8);
	EXPECT_EQ(word, want);
	return good;
}

static bool reaches(const struct heal *a, u32 src, u32 dst)
{
	return src != dst && src != a->dead && dst != a->dead &&
	       angara_fabric_route(a->plan, src, dst) != ANG_NONE;
}

/*
 * Each node sends to the node @shift after it, and all take part in an
 * allreduce; @change: routes change meanwhile.
 */
static void round_of(struct heal *a, u32 shift, u32 change)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, 0, 0, HALF, LEN);
	u32 n = num_nodes(), i, k;
	u64 sum;

	words_set();
	if (a->t)
		coll_fill(a->t, a->seed);
	for (i = 0; i < n; i++)
		if (reaches(a, i, (i + shift) % n))
			three_post(i, (i + shift) % n);
	for (i = 0; a->t && i < a->t->n; i++) {
		post(a->t->ctx[i], &w, NULL);
		kick(a->t->ctx[i]);
	}
	if (change) {
		run_steps(&g.h->v, (u32)(rnd(&a->seed) % (2 * n)));
		EXPECT_EQ(route_watched(change), ANGARA_ADM_ST_OK);
	}
	host_run(g.h);
	for (i = 0; i < n; i++) {
		u32 dst = (i + shift) % n;

		if (!reaches(a, i, dst) || three_check(a, i, dst, !change) < 3)
			continue;
		memcpy(&sum, p2p_ctx(dst)->buf + SUM_AT, 8);
		EXPECT_EQ(sum, 1);
	}
	for (i = 0; a->t && i < a->t->n; i++) {
		struct angara_cqe cqe;

		EXPECT(poll_cq(a->t->ctx[i], &cqe));
		EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_OK);
		for (k = 0; k < LEN / 4; k += 32)
			EXPECT_EQ(((u32 *)a->t->ctx[i]->buf)[HALF / 4 + k],
				  coll_sum(a->t, k));
	}
}

static void all_pairs(struct heal *a)
{
	u32 shift;

	for (shift = 1; shift < num_nodes(); shift++)
		round_of(a, shift, 0);
}

/* Makes a tree over all nodes that can reach each other. */
static void tree_around(struct heal *a)
{
	u16 *pe = calloc(num_nodes(), sizeof(*pe));
	struct tctx **ctx = calloc(num_nodes(), sizeof(*ctx));
	int64_t root;
	int count;
	u32 i, n = 0;

	for (i = 0; i < num_nodes(); i++) {
		pe[i] = i != a->dead;
		if (pe[i])
			ctx[n++] = g.ctx[2 * i + 1];
	}
	root = angara_fabric_root(a->plan, pe, NULL);
	a->t = NULL;
	if (root >= 0) {
		count = angara_fabric_tree(a->plan, (u32)root, pe, NULL, a->rows);
		EXPECT(count > 0);
		a->t = tree_given(g.h, 0, (u32)root, pe, a->rows, (u32)count, ctx, n,
				  ++epochs % 0xFFFF);
	}
	free(pe);
	free(ctx);
}

/*
 * Runs rounds during a failure, with the new routes around it, and with the old routes
 * again.
 */
static void one_failure(struct heal *a, const struct angara_failure *f, u32 *updown)
{
	struct angara_detours d = { .size = sizeof(d) };
	u32 n = num_nodes();

	a->f = *f;
	if (f->port == ANGARA_FAILED_ROUTER && f->router < n)
		a->dead = f->router;
	set_failure(f, ANGARA_LINK_DOWN);
	EXPECT_EQ(angara_fabric_avoid(a->plan, f, 1, &d), 0);
	EXPECT_EQ(d.circle, 0);
	EXPECT_EQ(d.lost, 0);
	*updown += d.updown;
	tree_around(a);
	adm_route_rows(g.h, a->plan);
	round_of(a, 1 + (u32)(rnd(&a->seed) % (n - 1)), ANGARA_ROUTE_USE);
	all_pairs(a);
	/* The routes work when the link is up again, too. */
	set_failure(f, ANGARA_LINK_UP);
	round_of(a, 1 + (u32)(rnd(&a->seed) % (n - 1)), 0);
	round_of(a, 1 + (u32)(rnd(&a->seed) % (n - 1)), ANGARA_ROUTE_OWN);
	a->dead = ANG_NONE;
	EXPECT_EQ(angara_fabric_avoid(a->plan, NULL, 0, NULL), 0);
	EXPECT(ang_links_perfect(g.h->fab));
	round_of(a, 1 + (u32)(rnd(&a->seed) % (n - 1)), 0);
	if (a->t)
		tree_del(a->t);
}

/* Tries every @step-th cable, then every @step-th node.  Return: number of up*down* routes. */
static u32 each_failure(const char *text, u32 step)
{
	u32 r, p, number = 0, updown = 0;
	struct heal a;

	step = getenv("LONG") ? 1 : step;
	heal_new(&a, text);
	for (r = 0; r < g.h->v.topo.routers; r++)
		for (p = 0; p < g.h->v.topo.nports; p++) {
			u32 to = ang_topo_neighbor(&g.h->v.topo, r, p);
			struct angara_failure f = { r, p };

			/* In a fat tree, a node fails together with its cable. */
			if (to == ANG_NONE || to < r || number++ % step ||
			    (g.h->v.topo.kind == ANG_TOPO_FATTREE && r < g.h->nodes))
				continue;
			one_failure(&a, &f, &updown);
		}
	for (r = 0; r < g.h->nodes; r += step) {
		struct angara_failure f = { r, ANGARA_FAILED_ROUTER };

		one_failure(&a, &f, &updown);
	}
	heal_del(&a);
	return updown;
}

static void torus_routes(void)
{
	EXPECT(each_failure("4x4x4", 31) > 0);
	EXPECT(each_failure("4x4", 7) > 0);
	EXPECT_EQ(each_failure("5", 2), 0);
}

static void switched_routes(void)
{
	each_failure("mkns:4x4", 3);
	each_failure("fattree:4,3", 3);
}

const struct test_case route_cases[] = {
	{ "route: new routes around each failure of a torus", torus_routes },
	{ "route: the same on MKNS and a fat tree", switched_routes },
	{ NULL, NULL },
};
