// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows of the routing table: set, join, leave, take down.  ang_tree_open.c
 * describes how the rows of a tree meet.
 *
 * If a participant left or died, a row was cleared or the participants
 * disagree, the tree cannot work any more and goes down on all nodes: each row
 * sends an ABORT packet to its other neighbors, and each node ends the
 * operations of its participants with the cause.  So no operation waits for a
 * packet that will never arrive.
 */
#include "ang_int.h"

/*
 * Start a new life of a row: reset all fields that belong to one life.
 */
static void tree_begin(struct ang_view *v, struct ang_node *n,
		       const struct angara_tree_row *row)
{
	struct ang_tree *t = &n->tree[row->tree];

	memset((char *)t + ANG_TREE_LIFE, 0, sizeof(*t) - ANG_TREE_LIFE);
	memset(ang_lives(v->fab, n, row->tree), 0,
	       v->fab->nports * sizeof(u32));
	WRITE_ONCE(t->life, t->life + (t->life == ~0U ? 2 : 1));
	t->row = *row;
	WRITE_ONCE(t->state, ANGARA_TREE_STATE_UP);
	t->places = ang_tree_places(row);
	t->up_credits = ANGARA_MAX_REDUCES;
}

/**
 * ang_tree_set() - ANGARA_ADM_TREE_SET
 * @v: view
 * @n: node
 * @row: row
 * @job: job key of the row
 * @rule: out: rule that the row breaks
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_tree_set(struct ang_view *v, struct ang_node *n,
		 const struct angara_tree_row *row, u64 job, u32 *rule)
{
	struct ang_tree *t;
	u32 lost;

	*rule = ang_tree_row_check(&v->topo, n->id, row);
	if (*rule)
		return ANGARA_ADM_ST_RULE;
	if (row->tree >= v->fab->cfg.trees)
		return ANGARA_ADM_ST_PARAM;
	if (!row->pkey)
		return ANGARA_ADM_ST_PARAM;
	t = &n->tree[row->tree];
	if (t->state != ANGARA_TREE_STATE_UNSET)
		return ANGARA_ADM_ST_EXISTS;
	tree_begin(v, n, row);
	t->job = job;
	ang_open_start(n, t);
	ang_event(v, n, ANGARA_AEV_TREE_SET, row->tree, 0);
	lost = ang_lost_row(v, n, row);
	if (lost != ANG_NONE)
		ang_tree_down(v, n, row->tree, ANGARA_ST_TREE_DOWN, lost, 0);
	return ANGARA_ADM_ST_OK;
}

/* End the operations of this node's participants. */
static void members_fail(struct ang_view *v, struct ang_node *n,
			 struct ang_tree *t, u32 status, u32 culprit)
{
	u32 i;

	for (i = 0; i < t->members; i++) {
		struct ang_ctx *c = ang_ctx(v->fab, n, t->member[i]);
		u64 set = c->member[t->row.tree].ops;

		for (; set; set &= set - 1) {
			struct ang_op *op = ang_op(n, c,
						   ang_lowest(set));

			ang_op_fail(op, status, culprit);
			ang_op_done(v, n, c, op);
		}
	}
}

static void abort_start(struct ang_view *v, struct ang_node *n,
			struct ang_tree *t, u32 status, u32 culprit, u64 except)
{
	u64 ports = ang_open_ports(v, n, t);
	struct ang_pkt *p = &t->abort;

	ang_control_packet(n, t, ANG_PKT_ABORT, p);
	p->status = (u8)status;
	p->src_node = culprit;
	t->open_todo &= ~(ports | except);
	t->abort_todo = ports & ~except;
	if (t->abort_todo || t->open_todo)
		n->ctl_trees |= 1ULL << t->row.tree;
}

/**
 * ang_tree_down() - take a tree down
 * @v: view
 * @n: node
 * @tree: TreeId
 * @status: status of the operations that this ends, ANGARA_ST_*
 * @culprit: router to report as the cause
 * @except: port by which the ABORT packet arrived, as a set; empty if there was
 *	none
 */
void ang_tree_down(struct ang_view *v, struct ang_node *n, u32 tree, u32 status,
		   u32 culprit, u64 except)
{
	struct ang_tree *t = &n->tree[tree];

	if (t->state != ANGARA_TREE_STATE_UP)
		return;
	culprit = ang_blamed(v, culprit);
	ang_aside_count(v, n, t);
	WRITE_ONCE(t->state, ANGARA_TREE_STATE_DOWN);
	t->down_node = culprit;
	members_fail(v, n, t, status, culprit);
	ang_reducer_flush(v, t);
	n->red_trees &= ~(1ULL << tree);
	abort_start(v, n, t, status, culprit, except);
	ang_event(v, n, ANGARA_AEV_TREE_DOWN, tree, culprit);
}

/** ang_tree_clear() - ANGARA_ADM_TREE_CLEAR. Return: ANGARA_ADM_ST_*. */
u32 ang_tree_clear(struct ang_view *v, struct ang_node *n, u32 tree)
{
	struct ang_tree *t = &n->tree[tree];
	u32 i;

	if (t->state == ANGARA_TREE_STATE_UNSET)
		return ANGARA_ADM_ST_ABSENT;
	ang_tree_down(v, n, tree, ANGARA_ST_TREE_DOWN, n->id, 0);
	for (i = 0; i < t->members; i++)
		ang_ctx(v->fab, n, t->member[i])->joined &= ~(1ULL << tree);
	t->members = 0;
	WRITE_ONCE(t->state, ANGARA_TREE_STATE_UNSET);
	t->open_todo = 0;
	ang_event(v, n, ANGARA_AEV_TREE_CLEAR, tree, 0);
	return ANGARA_ADM_ST_OK;
}

/**
 * ang_tree_join() - ANGARA_ADM_JOIN
 * @v: view
 * @n: node
 * @ctx: context
 * @tree: TreeId, in range
 * @place: place of the context among the participants of this node, plus 1; 0:
 *	the lowest free place
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_tree_join(struct ang_view *v, struct ang_node *n, u32 ctx, u32 tree,
		  u32 place)
{
	struct ang_ctx *c = ang_ctx_get(v, n, ctx);
	struct ang_tree *t = &n->tree[tree];

	if (!c || t->state == ANGARA_TREE_STATE_UNSET)
		return ANGARA_ADM_ST_ABSENT;
	if (c->pkey != t->row.pkey || (t->job && c->job != t->job))
		return ANGARA_ADM_ST_PARTITION;
	if (t->state == ANGARA_TREE_STATE_DOWN)
		return ANGARA_ADM_ST_DOWN;
	if (c->joined & 1ULL << tree)
		return ANGARA_ADM_ST_EXISTS;
	if (place > t->row.pe)
		return ANGARA_ADM_ST_PARAM;
	if (t->members >= t->row.pe || (place && t->taken >> (place - 1) & 1))
		return ANGARA_ADM_ST_FULL;
	c->place[tree] = (u8)(place ? place - 1 : ang_lowest(~(u32)t->taken));
	t->taken |= (u16)(1U << c->place[tree]);
	t->member[t->members++] = (u16)ctx;
	c->joined |= 1ULL << tree;
	memset(&c->member[tree], 0, sizeof(c->member[tree]));
	return ANGARA_ADM_ST_OK;
}

/** ang_tree_leave() - ANGARA_ADM_LEAVE. Return: ANGARA_ADM_ST_*. */
u32 ang_tree_leave(struct ang_view *v, struct ang_node *n, u32 ctx, u32 tree)
{
	struct ang_ctx *c = ang_ctx_get(v, n, ctx);
	struct ang_tree *t = &n->tree[tree];
	u32 i;

	if (!c || !(c->joined & 1ULL << tree))
		return ANGARA_ADM_ST_ABSENT;
	ang_tree_down(v, n, tree, ANGARA_ST_TREE_DOWN, n->id, 0);
	for (i = 0; i < t->members && t->member[i] != ctx; i++)
		;
	t->member[i] = t->member[--t->members];
	c->joined &= ~(1ULL << tree);
	return ANGARA_ADM_ST_OK;
}

/* ang_tree_look() for a router that the view holds. */
static bool row_look(struct ang_view *v, struct ang_node *n,
		     const struct ang_tree *t, struct ang_tree_look *look)
{
	u32 i;

	if (t->state != ANGARA_TREE_STATE_UP || !t->open ||
	    t->members != t->row.pe)
		return false;
	look->row = t->row;
	look->life = t->life;
	look->root = t->root;
	for (i = 0; i < t->members; i++) {
		const struct ang_ctx *c = ang_ctx(v->fab, n, t->member[i]);
		u32 place = c->place[t->row.tree];

		look->ctx[place] = t->member[i];
		look->ctx_life[place] = c->life;
	}
	return true;
}

bool ang_tree_look(struct ang_view *v, u32 router, u32 tree,
		   struct ang_tree_look *look)
{
	struct ang_node *n = ang_node(v->fab, router);
	bool ret;

	if (router >= v->topo.routers || tree >= v->fab->cfg.trees ||
	    !ang_node_seize(v, n))
		return false;
	ret = row_look(v, n, &n->tree[tree], look);
	ang_node_drop(v, n);
	return ret;
}

bool ang_tree_lives(struct ang_fabric *fab, u32 router, u32 tree, u32 life)
{
	const struct ang_tree *t = &ang_node(fab, router)->tree[tree];

	return READ_ONCE(t->state) == ANGARA_TREE_STATE_UP &&
	       READ_ONCE(t->life) == life;
}
