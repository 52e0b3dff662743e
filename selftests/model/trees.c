// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trees over a fabric, with their participants; see host.h.
 */
#include <string.h>

#include "test.h"

static void join_all(struct ttree *t, struct tctx **ctxs, const u32 *place)
{
	u32 *joined = calloc(t->h->nodes, sizeof(*joined));
	u32 i;

	t->ctx = malloc((t->n + 1) * sizeof(*t->ctx));
	t->place = malloc((t->n + 1) * sizeof(*t->place));
	for (i = 0; i < t->n; i++) {
		struct tctx *c = ctxs[i];

		t->ctx[i] = c;
		t->place[i] = place ? place[i] : joined[c->node]++;
		EXPECT_EQ(adm_join(t->h, c->node, c->id, t->tree,
				   place ? place[i] + 1 : 0), ANGARA_ADM_ST_OK);
	}
	free(joined);
}

/* Return: number of ports through which a packet from port @in may leave. */
static u32 turns(const struct ang_topo *topo, u32 router, u32 in)
{
	u32 count = 0;
	u32 out;

	for (out = 0; out < topo->nports; out++)
		count += ang_topo_neighbor(topo, router, out) != ANG_NONE &&
			 out != in && ang_topo_turn(topo, router, in, out);
	return count;
}

/* Does @in permit at least as many ports as any other port of the router? */
static int is_best_way(const struct ang_topo *topo, u32 router, u32 in)
{
	u32 have = turns(topo, router, in);
	u32 other;

	for (other = 0; other < topo->nports; other++)
		if (ang_topo_neighbor(topo, router, other) != ANG_NONE &&
		    turns(topo, router, other) > have)
			return 0;
	return 1;
}

/*
 * Reaches one more router, from the router that was reached first, and if
 * possible through a port that permits the most continuations.  Return: 0 if
 * there is none.
 */
static int reach_one(const struct ang_topo *topo, struct angara_tree_row *rows,
		     u32 *order, u32 *count)
{
	u32 best, i, port;

	for (best = 2; best-- > 0;)
		for (i = 0; i < *count; i++)
			for (port = 0; port < topo->nports; port++) {
				u32 at = order[i], far = 0;
				u32 to = ang_topo_peer(topo, at, port, &far);

				if (to == ANG_NONE || angara_tree_has(&rows[to]) ||
				    !ang_topo_turn(topo, at, rows[at].to_root, port) ||
				    (best && !is_best_way(topo, to, far)))
					continue;
				rows[to].to_root = (u8)far;
				order[(*count)++] = to;
				return 1;
			}
	return 0;
}

/*
 * Makes the rows of a tree of the reached routers in any fabric; the tree has
 * no branches without participants.
 */
static u32 tree_rows(const struct ang_topo *topo, u32 root, const u16 *pe,
		     u32 tree, struct angara_tree_row *rows)
{
	u32 *order = calloc(topo->routers, sizeof(*order));
	u32 count = 1;
	u32 i, in_tree = 0;

	for (i = 0; i < topo->routers; i++)
		rows[i] = (struct angara_tree_row){
			.tree = (u8)tree, .to_root = ANGARA_PORT_NONE,
			.pe = i < topo->nodes ? pe[i] : 0,
		};
	rows[root].is_root = 1;
	order[0] = root;
	while (reach_one(topo, rows, order, &count))
		;
	for (i = 0; i < topo->nodes; i++)
		EXPECT(!pe[i] || angara_tree_has(&rows[i]));
	for (i = count; i-- > 0;) {
		struct angara_tree_row *row = &rows[order[i]];
		u32 far, up;

		if (row->is_root || row->pe || row->ports) {
			in_tree++;
		} else {
			row->to_root = ANGARA_PORT_NONE;
			continue;
		}
		if (row->is_root)
			continue;
		up = ang_topo_peer(topo, order[i], row->to_root, &far);
		rows[up].ports |= 1ULL << far;
		rows[up].port_sum++;
	}
	free(order);
	return in_tree;
}

static u32 torus_rows(const struct ang_topo *t, u32 root, const u16 *pe,
		      u32 tree, struct angara_tree_row *rows)
{
	struct angara_topo topo = { .ndims = t->ndims };
	int in_tree;

	memcpy(topo.dims, t->dims, sizeof(topo.dims));
	in_tree = angara_tree_build(&topo, root, pe, tree, rows);
	EXPECT(in_tree > 0);
	return (u32)in_tree;
}

struct ttree *tree_new(struct host *h, u32 tree, u32 root, const u16 *pe,
		       struct tctx **ctxs, u32 n, u32 epoch)
{
	return tree_placed(h, tree, root, pe, ctxs, NULL, n, epoch);
}

static struct ttree *tree_empty(struct host *h, u32 tree, u32 root, const u16 *pe)
{
	struct ttree *t = calloc(1, sizeof(*t));

	t->h = h;
	t->tree = tree;
	t->root = root;
	t->rows = calloc(h->v.topo.routers, sizeof(*t->rows));
	t->pe = malloc(h->nodes * sizeof(*t->pe));
	memcpy(t->pe, pe, h->nodes * sizeof(*t->pe));
	return t;
}

/* Sets the rows, and joins @n contexts. */
static void tree_lay(struct ttree *t, struct tctx **ctxs, const u32 *place, u32 n,
		     u32 epoch)
{
	const struct ang_topo *topo = &t->h->v.topo;
	struct host *h = t->h;
	u32 bad, count;
	u32 i;

	for (i = 0; i < topo->routers; i++) {
		t->rows[i].tree = (u8)t->tree;
		t->rows[i].pkey = PKEY;
		t->rows[i].epoch = (u16)epoch;
	}
	EXPECT_EQ(ang_tree_check(topo, t->rows, &bad, &count), 0);
	EXPECT_EQ(count, t->in_tree);
	for (i = 0; i < topo->routers; i++)
		if (angara_tree_has(&t->rows[i]))
			EXPECT_EQ(adm_row(h, i, &t->rows[i]), ANGARA_ADM_ST_OK);
	t->n = n;
	join_all(t, ctxs, place);
}

struct ttree *tree_placed(struct host *h, u32 tree, u32 root, const u16 *pe,
			  struct tctx **ctxs, const u32 *place, u32 n, u32 epoch)
{
	struct ttree *t = tree_empty(h, tree, root, pe);
	const struct ang_topo *topo = &h->v.topo;

	t->in_tree = topo->kind == ANG_TOPO_TORUS ?
		     torus_rows(topo, root, pe, tree, t->rows) :
		     tree_rows(topo, root, pe, tree, t->rows);
	tree_lay(t, ctxs, place, n, epoch);
	return t;
}

struct ttree *tree_given(struct host *h, u32 tree, u32 root, const u16 *pe,
			 const struct angara_tree_row *rows, u32 count,
			 struct tctx **ctxs, u32 n, u32 epoch)
{
	struct ttree *t = tree_empty(h, tree, root, pe);

	memcpy(t->rows, rows, h->v.topo.routers * sizeof(*rows));
	t->in_tree = count;
	tree_lay(t, ctxs, NULL, n, epoch);
	return t;
}

struct ttree *tree_over(struct host *h, u32 tree, u32 root, struct tctx **all,
			u32 nall, const u16 *pe, u32 epoch)
{
	struct tctx **some = malloc((nall + 1) * sizeof(*some));
	u32 *left = calloc(h->nodes, sizeof(*left));
	struct ttree *t;
	u32 n = 0;
	u32 i;

	for (i = 0; i < h->nodes; i++)
		left[i] = pe[i];
	for (i = 0; i < nall; i++)
		if (left[all[i]->node]) {
			left[all[i]->node]--;
			some[n++] = all[i];
		}
	for (i = 0; i < h->nodes; i++)
		EXPECT_EQ(left[i], 0);
	t = tree_new(h, tree, root, pe, some, n, epoch);
	free(some);
	free(left);
	return t;
}

void tree_del(struct ttree *t)
{
	u32 i;

	for (i = 0; i < t->h->v.topo.routers; i++)
		if (angara_tree_has(&t->rows[i]))
			EXPECT_EQ(adm_op(t->h, i, ANGARA_ADM_TREE_CLEAR, 0,
					 t->tree), ANGARA_ADM_ST_OK);
	free(t->rows);
	free(t->pe);
	free(t->place);
	free(t->ctx);
	free(t);
}
