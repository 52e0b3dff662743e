// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trees laid over a fabric, with their participants; see host.h.
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

struct ttree *tree_new(struct host *h, u32 tree, u32 root, const u16 *pe,
		       struct tctx **ctxs, u32 n, u32 epoch)
{
	return tree_placed(h, tree, root, pe, ctxs, NULL, n, epoch);
}

struct ttree *tree_placed(struct host *h, u32 tree, u32 root, const u16 *pe,
			  struct tctx **ctxs, const u32 *place, u32 n, u32 epoch)
{
	struct ttree *t = calloc(1, sizeof(*t));
	struct angara_topo topo = { .ndims = h->cfg.ndims };
	int in_tree;
	u32 i;

	memcpy(topo.dims, h->cfg.dims, sizeof(topo.dims));
	t->h = h;
	t->tree = tree;
	t->root = root;
	t->rows = calloc(h->nodes, sizeof(*t->rows));
	t->pe = malloc(h->nodes * sizeof(*t->pe));
	memcpy(t->pe, pe, h->nodes * sizeof(*t->pe));
	in_tree = angara_tree_build(&topo, root, pe, tree, t->rows);
	EXPECT(in_tree > 0);
	t->in_tree = (u32)in_tree;
	for (i = 0; i < h->nodes; i++) {
		t->rows[i].pkey = PKEY;
		t->rows[i].epoch = (u16)epoch;
	}
	EXPECT_EQ(angara_tree_check(&topo, t->rows, NULL), ANGARA_TREE_VALID);
	for (i = 0; i < h->nodes; i++)
		if (angara_tree_has(&t->rows[i]))
			EXPECT_EQ(adm_row(h, i, &t->rows[i]), ANGARA_ADM_ST_OK);
	t->n = n;
	join_all(t, ctxs, place);
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

	for (i = 0; i < t->h->nodes; i++)
		if (angara_tree_has(&t->rows[i]))
			EXPECT_EQ(adm_op(t->h, i, ANGARA_ADM_TREE_CLEAR, 0,
					 t->tree), ANGARA_ADM_ST_OK);
	free(t->rows);
	free(t->pe);
	free(t->place);
	free(t->ctx);
	free(t);
}
