// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trees around failures.  Each cable and each node of a fabric goes down while an
 * allreduce is under way: every participant's operation ends, with its result or
 * with the router at fault.  Then libangara plans the tree again without what is
 * down, and collectives over the new tree have the right results.
 *
 * Tries some failures of the torus, or all of them with LONG in the environment:
 * selftests/host/model.t does so in the optimized build.
 */
#include <errno.h>
#include <string.h>

#include "test.h"
#include "coll.h"
#include <angara/fabric.h>

#define HALF	2048U
#define LEN	1536U	/* bytes of an allreduce: several packets */

static struct group g;
static u32 epochs;

/**
 * struct around - a fabric with a failure
 * @plan: the fabric, for plans
 * @dead: node that is down, or ANG_NONE
 * @pe: participants: all other nodes
 * @ctx: contexts of the participants
 * @n: number of participants
 * @rows: rows of the tree
 * @seed: which failures are tried, and when they come
 */
struct around {
	struct angara_fabric *plan;
	u32 dead;
	u16 *pe;
	struct tctx **ctx;
	u32 n;
	struct angara_tree_row *rows;
	u64 seed;
};

static void around_new(struct around *a, const char *text)
{
	u32 routers;

	*a = (struct around){ .dead = ANG_NONE, .seed = 11 };
	g.h = host_new(text, &cfg_tight);
	group_new(&g, 1, HALF);
	routers = g.h->v.topo.routers;
	EXPECT_EQ(angara_fabric_open(text, &a->plan, NULL, 0), 0);
	a->pe = calloc(g.n, sizeof(*a->pe));
	a->ctx = calloc(g.n, sizeof(*a->ctx));
	a->rows = calloc(routers, sizeof(*a->rows));
}

static void around_del(struct around *a)
{
	u32 i;

	for (i = 0; i < g.h->v.topo.routers; i++) {
		const struct ang_node *n = ang_node(g.h->fab, i);

		/* Links that were down have dropped packets of trees. */
		g.h->dropped += n->drops[ANGARA_DROP_LINK] + n->drops[ANGARA_DROP_NO_TREE] +
				n->drops[ANGARA_DROP_STALE];
	}
	angara_fabric_close(a->plan);
	free(a->pe);
	free(a->ctx);
	free(a->rows);
	group_del(&g);
}

/*
 * Makes a tree over all nodes but the dead one.  Return: NULL if there is
 * none.
 */
static struct ttree *tree_around(struct around *a)
{
	int64_t root;
	int count;
	u32 i;

	for (i = 0, a->n = 0; i < g.n; i++) {
		a->pe[i] = i != a->dead;
		if (a->pe[i])
			a->ctx[a->n++] = g.ctx[i];
	}
	root = angara_fabric_root(a->plan, a->pe, NULL);
	if (root == -EHOSTUNREACH)
		return NULL;
	EXPECT(root >= 0);
	count = angara_fabric_tree(a->plan, (u32)root, a->pe, NULL, a->rows);
	EXPECT(count > 0);
	return tree_given(g.h, 0, (u32)root, a->pe, a->rows, (u32)count, a->ctx, a->n,
			  ++epochs);
}

static void set_link(u32 router, u32 port, u32 what)
{
	struct angara_adm_link link = { .what = (u8)what, .port = cpu_to_le32(port) };

	EXPECT_EQ(ang_link_set(&g.h->v, ang_node(g.h->fab, router), &link),
		  ANGARA_ADM_ST_OK);
}

/* Takes the cable that @f names, or all cables of its router, down or up. */
static void set_failure(const struct angara_failure *f, u32 what)
{
	u32 port;

	for (port = 0; port < g.h->v.topo.nports; port++)
		if ((f->port == ANGARA_FAILED_ROUTER || f->port == port) &&
		    ang_topo_neighbor(&g.h->v.topo, f->router, port) != ANG_NONE)
			set_link(f->router, port, what);
}

/* Is a node at an end of what has failed, or the keeper of a switch there? */
static bool at_fault(const struct angara_failure *f, u32 node)
{
	const struct ang_topo *t = &g.h->v.topo;
	u32 port;

	for (port = 0; port < t->nports; port++) {
		u32 to = ang_topo_neighbor(t, f->router, port);

		if ((f->port == ANGARA_FAILED_ROUTER || f->port == port) &&
		    to != ANG_NONE && host_keeper(g.h, to) == node)
			return true;
	}
	return host_keeper(g.h, f->router) == node;
}

/*
 * Takes links down during an allreduce over all nodes.  Each operation ends.
 * Return: number of operations that have failed.
 */
static u32 fail_during(struct around *a, struct ttree *t, const struct angara_failure *f)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, 0, 0, HALF, LEN);
	u32 i, k, failed = 0;

	coll_fill(t, a->seed);
	for (i = 0; i < t->n; i++) {
		post(t->ctx[i], &w, NULL);
		kick(t->ctx[i]);
		run_steps(&g.h->v, (u32)(rnd(&a->seed) % 3));
	}
	run_steps(&g.h->v, (u32)(rnd(&a->seed) % (6 * g.h->v.topo.routers)));
	set_failure(f, ANGARA_LINK_DOWN);
	host_run(g.h);
	for (i = 0; i < t->n; i++) {
		struct angara_cqe cqe;

		EXPECT(poll_cq(t->ctx[i], &cqe));
		if (le16_to_cpu(cqe.status) != ANGARA_ST_OK) {
			EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_TREE_DOWN);
			EXPECT(at_fault(f, le32_to_cpu(cqe.node)));
			failed++;
			continue;
		}
		for (k = 0; k < LEN / 4; k += 64)
			EXPECT_EQ(((u32 *)t->ctx[i]->buf)[HALF / 4 + k], coll_sum(t, k));
	}
	return failed;
}

/* Return: was there a tree around the failure? */
static bool one_failure(struct around *a, const struct angara_failure *f, u32 *failed)
{
	struct angara_detours d = { .size = sizeof(d) };
	bool node = f->port == ANGARA_FAILED_ROUTER && f->router < g.n;
	struct ttree *t = tree_around(a);

	EXPECT(t);
	coll_allreduce(t, 400);
	*failed += fail_during(a, t, f) > 0;
	tree_del(t);
	EXPECT_EQ(angara_fabric_avoid(a->plan, f, 1, &d), 0);
	EXPECT_EQ(d.circle, 0);
	if (node)
		a->dead = f->router;
	t = tree_around(a);
	if (t) {
		coll_allreduce(t, LEN);
		coll_bcast(t, (u32)(rnd(&a->seed) % t->n), LEN);
		coll_barrier(t);
		tree_del(t);
	}
	set_failure(f, ANGARA_LINK_UP);
	host_run(g.h);
	a->dead = ANG_NONE;
	EXPECT_EQ(angara_fabric_avoid(a->plan, NULL, 0, NULL), 0);
	return t;
}

/*
 * Tries each cable, then each node, every @step-th of them.  Return: number of
 * failures without a tree.
 */
static u32 each_failure(const char *text, u32 step, u32 *cables, u32 *failed)
{
	u32 number = 0, none = 0;
	struct around a;
	u32 r, p;

	step = getenv("LONG") ? 1 : step;
	*cables = *failed = 0;
	around_new(&a, text);
	for (r = 0; r < g.h->v.topo.routers; r++)
		for (p = 0; p < g.h->v.topo.nports; p++) {
			u32 to = ang_topo_neighbor(&g.h->v.topo, r, p);
			struct angara_failure f = { r, p };

			/*
			 * In a fat tree, a node fails together with its only
			 * cable.
			 */
			if (to == ANG_NONE || to < r || number++ % step ||
			    (g.h->v.topo.kind == ANG_TOPO_FATTREE && r < g.n))
				continue;
			none += !one_failure(&a, &f, failed);
			++*cables;
		}
	for (r = 0; r < g.n; r += step) {
		struct angara_failure f = { r, ANGARA_FAILED_ROUTER };

		EXPECT(one_failure(&a, &f, failed));
	}
	around_del(&a);
	return none;
}

static void torus_failures(void)
{
	u32 cables, failed;

	/*
	 * The steps do not divide the number of ports, so cables of all directions are
	 * tried.
	 */
	EXPECT_EQ(each_failure("4x4x4", 23, &cables, &failed), 0);
	EXPECT(cables >= 9 && failed > 0);
	EXPECT_EQ(each_failure("4x4", 5, &cables, &failed), 0);
	EXPECT(cables >= 7 && failed > 0);
}

/* Without the cable between a node and its switch no tree reaches all nodes. */
static void switched_failures(void)
{
	u32 cables, failed, none;

	none = each_failure("mkns:4x4", 1, &cables, &failed);
	EXPECT(none == 16 && cables == 40 && failed > 8);
	none = each_failure("fattree:4,3", 1, &cables, &failed);
	EXPECT(!none && cables == 16 && failed > 3);
}

const struct test_case detour_cases[] = {
	{ "detour: cables and nodes of a torus fail during collectives", torus_failures },
	{ "detour: the same on MKNS and a fat tree", switched_failures },
	{ NULL, NULL },
};
