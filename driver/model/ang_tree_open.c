// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lives of a tree's rows, and how the rows of a tree meet.
 *
 * Each time a row is set it gets a number, its life, which no command chooses.
 * Neighbors in a tree tell each other their lives in OPEN packets, and
 * ang_link_send() labels all that it sends on VCUp and VCDown with the life of
 * the row that it goes to.  A row takes only what carries its own life.  So
 * nothing that was meant for an earlier life of a row is taken by a later one,
 * even if a user sets the same row again.
 *
 * A row tells a neighbor when what it has to tell changes: its own life, the
 * neighbor's life as it knows it, and whether its side of the link is whole.
 * Two rows have met when each has heard its own life from the other.  A row is
 * whole when it has met all its children and they are whole; the root then
 * opens the tree, and each row opens its children.  Participants inject when
 * their row is open.  A row takes data from its children when it is open, and
 * from its parent when it is whole.  So no operation runs on a part of a tree,
 * or on rows that form a ring without a root.
 *
 * A row that goes down tells each neighbor whose life it knows (ABORT).  It
 * goes on to tell its own life to the others, and answers what they tell of
 * theirs by an ABORT.  So all rows of one epoch go down together, whether they
 * have met or not, and operations do not wait for a row that is down.
 *
 * Order: packets between two rows stay in order, and a row is not set again
 * before its ABORT packets have left (ang_admin.c).  So a neighbor hears of the
 * end of a life before it hears of the next one.
 */
#include "ang_int.h"

static bool open_is_parent(const struct ang_tree *t, u32 dir)
{
	return !t->row.is_root && dir == t->row.to_root;
}

static void open_tell(struct ang_node *n, struct ang_tree *t, u32 outs)
{
	t->open_todo |= outs;
	if (t->open_todo)
		n->ctl_trees |= 1ULL << t->row.tree;
}

static u32 open_output(const struct ang_tree *t, u32 dir)
{
	return open_is_parent(t, dir) ? ANG_OUT_UP(dir) : 1U << dir;
}

static bool open_whole(const struct ang_tree *t)
{
	return t->whole == ang_links_down(&t->row);
}

static void open_tree(struct ang_node *n, struct ang_tree *t)
{
	if (t->open)
		return;
	t->open = 1;
	open_tell(n, t, ang_links_down(&t->row));
}

/* All children are whole: the root opens the tree, others tell their parent. */
static void open_whole_tell(struct ang_node *n, struct ang_tree *t)
{
	if (!open_whole(t))
		return;
	if (t->row.is_root)
		open_tree(n, t);
	else
		open_tell(n, t, ANG_OUT_UP(t->row.to_root));
}

/** ang_open_start() - a row has been set: tell its neighbors */
void ang_open_start(struct ang_node *n, struct ang_tree *t)
{
	u32 outs = ang_links_down(&t->row);

	if (!t->row.is_root)
		outs |= ANG_OUT_UP(t->row.to_root);
	open_tell(n, t, outs);
	open_whole_tell(n, t);
}

/**
 * ang_open_outputs() - outputs to neighbors whose lives this row knows
 * @t: tree that is up
 *
 * Return: ANG_OUT_*.
 */
u32 ang_open_outputs(const struct ang_tree *t)
{
	u32 outs = 0;
	u32 dir;

	for (dir = 0; dir < ANG_MAX_DIRS; dir++)
		if (t->peer[dir])
			outs |= open_output(t, dir);
	return outs;
}

/**
 * ang_open_take() - a neighbor tells its life
 * @v: view
 * @n: node
 * @p: OPEN packet of a neighbor in a tree that is up
 * @dir: link that it came from
 */
void ang_open_take(struct ang_view *v, struct ang_node *n,
		   const struct ang_pkt *p, u32 dir)
{
	struct ang_tree *t = &n->tree[p->tree];
	u16 bit = (u16)(1U << dir);

	/* The neighbor means an earlier life of this row; it will hear of this one. */
	if (p->life && p->life != t->life)
		return;
	if (t->peer[dir] != p->seq) {
		if (t->met & bit) {
			ang_tree_down(v, n, p->tree, ANGARA_ST_TREE_DOWN,
				      n->neighbor[dir], 0);
			return;
		}
		t->peer[dir] = p->seq;
		open_tell(n, t, open_output(t, dir));
	}
	if (!p->life)
		return;
	t->met |= bit;
	if (!(p->flags & ANG_PF_WHOLE))
		return;
	if (open_is_parent(t, dir)) {
		if (open_whole(t))
			open_tree(n, t);
	} else if (!(t->whole & bit)) {
		t->whole |= bit;
		open_whole_tell(n, t);
	}
}

/**
 * ang_open_abort() - the row of a neighbor went down
 * @v: view
 * @n: node
 * @p: ABORT packet of a neighbor in a tree that is up
 * @dir: link that it came from
 */
void ang_open_abort(struct ang_view *v, struct ang_node *n,
		    const struct ang_pkt *p, u32 dir)
{
	struct ang_tree *t = &n->tree[p->tree];

	if (t->peer[dir] && t->peer[dir] != p->seq)
		return;
	ang_tree_down(v, n, p->tree, p->status, p->src_node,
		      open_output(t, dir));
}

/**
 * ang_open_late() - a neighbor tells its life to a row that is down
 * @n: node
 * @p: OPEN packet of a neighbor in the tree, with its epoch
 * @dir: link that it came from
 *
 * The neighbor shall know, once in its life.
 */
void ang_open_late(struct ang_node *n, const struct ang_pkt *p, u32 dir)
{
	struct ang_tree *t = &n->tree[p->tree];

	if (t->peer[dir] == p->seq)
		return;
	t->peer[dir] = p->seq;
	t->open_todo &= ~open_output(t, dir);
	t->abort_todo |= open_output(t, dir);
	n->ctl_trees |= 1ULL << p->tree;
}

static bool open_send(struct ang_view *v, struct ang_node *n,
		      struct ang_tree *t, u32 outs, bool whole)
{
	struct ang_pkt p;
	bool progress;
	u32 todo = t->open_todo & outs;
	u32 rest = t->open_todo & ~outs;

	if (!todo)
		return false;
	ang_control_packet(n, t, ANG_PKT_OPEN, &p);
	p.key = t->row.epoch;
	p.flags = whole ? ANG_PF_WHOLE : 0;
	progress = ang_issue(v, n, &p, &todo, ANGARA_PORT_NONE);
	t->open_todo = rest | todo;
	return progress;
}

/**
 * ang_open_issue() - send the OPEN packets of a tree
 * @v: view
 * @n: node
 * @t: tree
 *
 * Return: true if one was sent.
 */
bool ang_open_issue(struct ang_view *v, struct ang_node *n, struct ang_tree *t)
{
	bool progress = open_send(v, n, t, ang_links_down(&t->row), t->open);

	return open_send(v, n, t, ~ang_links_down(&t->row), open_whole(t)) ||
	       progress;
}
