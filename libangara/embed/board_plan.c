// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Plans of boards: the members of a tree, and the order in which their
 * contributions are combined.
 *
 * A plan is read from the rows in the model, a router at a time, each while it
 * has nothing else to do.  All rows of a tree that is open at its root belong
 * together (ang_tree_open.c), and a row that goes down takes the root down before
 * another life of it can meet the root.  So if the root is in the same life
 * before and after, the plan is that of this life.  Participants do not change
 * then, as all places are taken and one that leaves takes the tree down.
 *
 * The order is that of the Reducers (ang_order.c): at each router its
 * participants by place, then its children by port.
 */
#include <stdlib.h>

#include "ang_types.h"
#include "board.h"

#define NO_PART		0xFFU

/**
 * struct walk - routers from the root to the one being visited
 * @router: router
 * @left: ports down that are not visited yet
 * @sum: member into which its contributions are combined, NO_PART: none yet
 */
struct walk {
	u32 router;
	u64 left;
	u8 sum;
};

static void plan_step(struct emb_plan *p, u8 *to, u8 from)
{
	if (from == NO_PART)
		return;
	if (*to == NO_PART)
		*to = from;
	else
		p->step[p->steps++] = (struct emb_step){ .to = *to, .from = from };
}

/* Adds a router and its participants.  Return: 0; -EAGAIN; -E2BIG. */
static int plan_visit(struct emb_dev *d, u32 tree, struct emb_plan *p, u32 router,
		      struct walk *w)
{
	struct ang_tree_look look;
	u32 i;

	if (!emb_tree_look(&d->run, router, tree, &look) ||
	    look.root != p->root || look.row.is_root != (router == p->root))
		return -EAGAIN;
	if (router == p->root)
		p->life = look.life;
	if (p->n + look.row.pe > EMB_BOARD_MEMBERS)
		return -E2BIG;
	*w = (struct walk){ .router = router, .left = look.row.ports,
			    .sum = NO_PART };
	for (i = 0; i < look.row.pe; i++) {
		if (router == d->node && look.ctx[i] == d->num)
			p->me = p->n;
		p->part[p->n] = (struct emb_part){
			.share = emb_share(d->fab, router, look.ctx[i]),
			.node = router, .ctx = look.ctx[i],
			.life = look.ctx_life[i],
		};
		plan_step(p, &w->sum, (u8)p->n++);
	}
	return 0;
}

/* Participants of a router come first, then its children by their ports. */
static int plan_walk(struct emb_dev *d, u32 tree, struct emb_plan *p)
{
	const u32 most = d->fab->head->routers;
	struct walk *path = calloc(most, sizeof(*path));
	u32 depth = 0;
	int ret;

	if (!path)
		return -ENOMEM;
	ret = plan_visit(d, tree, p, p->root, path);
	while (!ret) {
		struct walk *w = &path[depth];
		u32 port, peer;

		if (!w->left) {
			if (!depth)
				break;
			depth--;
			plan_step(p, &path[depth].sum, w->sum);
			continue;
		}
		port = (u32)__builtin_ctzll(w->left);
		w->left &= w->left - 1;
		peer = ang_topo_neighbor(&d->fab->topo, w->router, port);
		ret = peer == ANG_NONE || depth + 1 == most ? -EAGAIN :
		      plan_visit(d, tree, p, peer, &path[++depth]);
	}
	free(path);
	return ret;
}

/* Is the tree still in the life that the walk began in? */
static bool plan_holds(struct emb_dev *d, u32 tree, const struct emb_plan *p)
{
	struct ang_tree_look look;

	return emb_tree_look(&d->run, p->root, tree, &look) &&
	       look.life == p->life;
}

/* The first member in a life of the tree clears the board. */
static void board_begin(const struct emb_plan *p)
{
	u64 old = ang_load_acquire(&p->board->word);

	while (!emb_plan_is_of(p, old)) {
		u64 seen = ang_cmpxchg(&p->board->word, old, emb_plan_gen(p));

		if (seen == old)
			return;
		old = seen;
	}
}

static int plan_fill(struct emb_dev *d, u32 tree, struct emb_plan *p)
{
	struct ang_tree_look look;
	int ret;

	if (!emb_tree_look(&d->run, d->node, tree, &look))
		return -EAGAIN;
	p->root = look.root;
	p->own_life = look.life;
	p->me = ANG_NONE;
	ret = plan_walk(d, tree, p);
	if (ret)
		return ret;
	if (p->n < 2)
		return -E2BIG;
	if (p->me == ANG_NONE || !plan_holds(d, tree, p))
		return -EAGAIN;
	p->board = emb_board(d->fab, p->root, tree);
	board_begin(p);
	return 0;
}

/**
 * emb_plan_make() - make the plan of a tree
 * @d: handle of a context that has joined it
 * @tree: TreeId
 * @plan: out; the caller frees it
 *
 * Return: 0; -EAGAIN not now; -E2BIG never, for this tree; -ENOMEM.
 */
int emb_plan_make(struct emb_dev *d, u32 tree, struct emb_plan **plan)
{
	struct emb_plan *p = calloc(1, sizeof(*p));
	int ret = p ? plan_fill(d, tree, p) : -ENOMEM;

	if (ret)
		free(p);
	else
		*plan = p;
	return ret;
}
