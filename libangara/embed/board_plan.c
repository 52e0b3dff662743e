// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Plans of boards: the members of a tree, and the order in which their
 * contributions are combined.
 *
 * A plan is read from the rows in the model, one router at a time, each while
 * the router is idle.  If a tree is open at its root, its rows belong together
 * (ang_tree_open.c).  If any row of the tree goes down, the root's row goes down
 * before the lost row can be set again and reach the root.  So if the root's row
 * is in the same life before and after the walk, the plan belongs to this life.
 * The participants do not change: no further context can join, since all places
 * are taken, and a participant that leaves takes the tree down.
 *
 * The order is that of the Reducers (ang_order.c): at each router its
 * participants by place, then its children by port.
 */
#include <stdlib.h>

#include "ang_types.h"
#include "board.h"

#define NO_PART		0xFFU

/**
 * struct walk - a router on the path from the root to the router being visited
 * @router: router
 * @left: ports to children that are not visited yet
 * @sum: member into which contributions at the router are combined, NO_PART:
 *	none yet
 */
struct walk {
	u32 router;
	u64 left;
	u8 sum;
};

/**
 * struct plan_rows - rows of a tree, in the order of visits
 * @n: number of rows
 * @height: links between the root and the farthest router
 * @row: router, life of its row, and number of links to the root
 */
struct plan_rows {
	u32 n;
	u32 height;
	struct {
		u32 router;
		u32 life;
		u32 depth;
	} row[EMB_BOARD_ROUTERS];
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

static int row_add(struct plan_rows *rows, u32 router, u32 life, u32 depth)
{
	if (rows->n == EMB_BOARD_ROUTERS)
		return -EAGAIN;
	rows->row[rows->n].router = router;
	rows->row[rows->n].life = life;
	rows->row[rows->n++].depth = depth;
	if (depth > rows->height)
		rows->height = depth;
	return 0;
}

/* Adds a router and its participants.  Return: 0; -EAGAIN; -E2BIG. */
static int plan_visit(struct emb_dev *d, u32 tree, struct emb_plan *p, u32 router,
		      struct walk *path, u32 depth, struct plan_rows *rows)
{
	struct walk *w = &path[depth];
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
			.beside = &emb_node(d->fab, router)->ctx[look.ctx[i]],
			.node = router, .ctx = look.ctx[i],
			.life = look.ctx_life[i],
		};
		plan_step(p, &w->sum, (u8)p->n++);
	}
	return row_add(rows, router, look.life, depth);
}

/*
 * Visits the routers from the root down: the participants of a router come
 * first, then its children by port.
 */
static int plan_walk(struct emb_dev *d, u32 tree, struct emb_plan *p,
		     struct plan_rows *rows)
{
	const u32 most = d->fab->head->routers;
	struct walk *path = calloc(most, sizeof(*path));
	u32 depth = 0;
	int ret;

	if (!path)
		return -ENOMEM;
	ret = plan_visit(d, tree, p, p->root, path, 0, rows);
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
		      plan_visit(d, tree, p, peer, path, ++depth, rows);
	}
	free(path);
	return ret;
}

/* Is the tree still in the same life as when the walk began? */
static bool plan_holds(struct emb_dev *d, u32 tree, const struct emb_plan *p)
{
	struct ang_tree_look look;

	return emb_tree_look(&d->run, p->root, tree, &look) &&
	       look.life == p->life;
}

/*
 * Clears the board if its word belongs to an earlier life of the tree.  Return:
 * false: the word belongs to a later life: this process was stopped meanwhile.
 */
static bool board_begin(const struct emb_plan *p)
{
	u64 old = ang_load_acquire(&p->board->word);

	while (!emb_plan_is_of(p, old)) {
		u64 seen;

		if (emb_plan_is_before(p, old))
			return false;
		seen = ang_cmpxchg(&p->board->word, old, emb_plan_gen(p));
		if (seen == old)
			break;
		old = seen;
	}
	return true;
}

/*
 * Makes the model count reductions on the board.  Only the first member of the
 * plan does this, before it contributes, so the counters of all routers include
 * all reductions on the board.
 */
static bool rows_aside(struct emb_dev *d, u32 tree, const struct emb_plan *p,
		       const struct plan_rows *rows)
{
	u32 i;

	for (i = 0; !p->me && i < rows->n; i++)
		if (!emb_tree_aside(&d->run, rows->row[i].router, tree,
				    rows->row[i].life,
				    rows->height + rows->row[i].depth))
			return false;
	return true;
}

static int plan_fill(struct emb_dev *d, u32 tree, struct emb_plan *p)
{
	struct plan_rows rows = { 0 };
	struct ang_tree_look look;
	int ret;

	if (!emb_tree_look(&d->run, d->node, tree, &look))
		return -EAGAIN;
	p->root = look.root;
	p->own_life = look.life;
	p->me = ANG_NONE;
	ret = plan_walk(d, tree, p, &rows);
	if (ret)
		return ret;
	if (p->n < 2)
		return -E2BIG;
	if (p->me == ANG_NONE || !rows_aside(d, tree, p, &rows) ||
	    !plan_holds(d, tree, p))
		return -EAGAIN;
	p->board = emb_board(d->fab, p->root, tree);
	return board_begin(p) ? 0 : -EAGAIN;
}

/**
 * emb_plan_make() - make the plan of a tree
 * @d: handle of a context that has joined the tree
 * @tree: TreeId
 * @plan: out; the caller frees it
 *
 * Return: 0; -EAGAIN not now, try again; -E2BIG the tree has one member, or too
 * many; -ENOMEM.
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
