// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lives of a tree's rows, and how the rows of a tree meet.
 *
 * Each time a row is set, the device gives it a number, the row's life.
 * Neighbors in a tree send each other their lives in OPEN packets, and
 * ang_link_send() labels every packet on VCUp and VCDown with the life of the
 * row that receives it.  A row takes only packets with its own life.  So a
 * packet for an earlier life of a row is never taken in a later life, even if a
 * user sets the same row again.
 *
 * An OPEN packet contains the life of the sender's row, the life of the
 * receiver's row if the sender knows it, and whether the sender's row is whole
 * (to the parent) or open (to a child).  A row sends an OPEN packet whenever
 * this information changes.  Two rows have met when each has received its own
 * life from the other.  A row is whole when it has met all its children and
 * they are whole.  When the root is whole, it opens; each open row opens its
 * children.  Participants inject when their row is open.  A row takes data from
 * its children when it is open, and from its parent when it is whole.  So no
 * operation runs on a part of a tree, or on rows that form a cycle without a
 * root.
 *
 * A row that goes down sends an ABORT to each neighbor whose life it knows.  It
 * still sends its own life to the other neighbors, and answers their OPEN
 * packets by an ABORT.  So all rows of one epoch go down together, whether they
 * have met or not, and operations do not wait for a row that is down.
 *
 * Order: packets between two rows stay in order, and a row is not set again
 * before its ABORT packets have left (ang_admin.c).  So a neighbor receives the
 * end of a life before the next life.
 */
#include "ang_int.h"

static void open_tell(struct ang_node *n, struct ang_tree *t, u64 ports)
{
	t->open_todo |= ports;
	if (t->open_todo)
		n->ctl_trees |= 1ULL << t->row.tree;
}

static bool open_whole(const struct ang_tree *t)
{
	return t->whole == t->row.ports;
}

static void open_tree(struct ang_node *n, struct ang_tree *t)
{
	if (t->open)
		return;
	t->open = 1;
	open_tell(n, t, t->row.ports);
}

/*
 * Act when a row is whole: the root opens the tree, other rows notify their
 * parent.
 */
static void open_whole_tell(struct ang_node *n, struct ang_tree *t)
{
	if (!open_whole(t))
		return;
	if (t->row.is_root) {
		t->root = n->id;
		open_tree(n, t);
	} else {
		open_tell(n, t, ang_port_up(&t->row));
	}
}

/** ang_open_start() - announce the life of a new row to the row's neighbors */
void ang_open_start(struct ang_node *n, struct ang_tree *t)
{
	open_tell(n, t, t->row.ports | ang_port_up(&t->row));
	open_whole_tell(n, t);
}

/**
 * ang_open_ports() - get the ports to neighbors that have reported their row's
 * life
 * @v: view
 * @n: node
 * @t: tree that is up
 *
 * Return: the ports, one bit each.
 */
u64 ang_open_ports(struct ang_view *v, struct ang_node *n,
		   const struct ang_tree *t)
{
	const u32 *lives = ang_lives(v->fab, n, t->row.tree);
	u64 ports = 0;
	u32 port;

	for (port = 0; port < v->fab->nports; port++)
		if (lives[port])
			ports |= 1ULL << port;
	return ports;
}

/**
 * ang_open_take() - handle an OPEN packet at a row that is up
 * @v: view
 * @n: node
 * @p: OPEN packet of a neighbor in a tree that is up
 * @dir: link by which it arrived
 */
void ang_open_take(struct ang_view *v, struct ang_node *n,
		   const struct ang_pkt *p, u32 dir)
{
	struct ang_tree *t = &n->tree[p->tree];
	u32 *life = &ang_lives(v->fab, n, p->tree)[dir];
	u64 bit = 1ULL << dir;

	/*
	 * The neighbor knows an earlier life of this row, and will receive the
	 * current life.
	 */
	if (p->life && p->life != t->life)
		return;
	if (*life != p->seq) {
		if (t->met & bit) {
			ang_tree_down(v, n, p->tree, ANGARA_ST_TREE_DOWN,
				      ang_port(v->fab, n, dir)->peer, 0);
			return;
		}
		*life = p->seq;
		open_tell(n, t, bit);
	}
	if (!p->life)
		return;
	t->met |= bit;
	if (!(p->flags & ANG_PF_WHOLE))
		return;
	if (bit == ang_port_up(&t->row)) {
		if (!open_whole(t))
			return;
		t->root = (u32)p->off;
		open_tree(n, t);
		/*
		 * Operations posted before the tree opened may need a path over
		 * a lost node.
		 */
		if (READ_ONCE(v->fab->broken))
			ang_lost_tree(v, n, p->tree);
	} else if (!(t->whole & bit)) {
		t->whole |= bit;
		open_whole_tell(n, t);
	}
}

/**
 * ang_open_abort() - handle an ABORT packet: the row of a neighbor went down
 * @v: view
 * @n: node
 * @p: ABORT packet of a neighbor in a tree that is up
 * @dir: link by which it arrived
 */
void ang_open_abort(struct ang_view *v, struct ang_node *n,
		    const struct ang_pkt *p, u32 dir)
{
	u32 life = ang_lives(v->fab, n, p->tree)[dir];

	if (life && life != p->seq)
		return;
	ang_tree_down(v, n, p->tree, p->status, p->src_node, 1ULL << dir);
}

/**
 * ang_open_late() - handle an OPEN packet at a row that is down
 * @v: view
 * @n: node
 * @p: OPEN packet of a neighbor in the tree, with its epoch
 * @dir: link by which it arrived
 *
 * Answers by an ABORT, once per life of the neighbor's row.
 */
void ang_open_late(struct ang_view *v, struct ang_node *n,
		   const struct ang_pkt *p, u32 dir)
{
	u32 *life = &ang_lives(v->fab, n, p->tree)[dir];
	struct ang_tree *t = &n->tree[p->tree];

	if (*life == p->seq)
		return;
	*life = p->seq;
	t->open_todo &= ~(1ULL << dir);
	t->abort_todo |= 1ULL << dir;
	n->ctl_trees |= 1ULL << p->tree;
}

static bool open_send(struct ang_view *v, struct ang_node *n,
		      struct ang_tree *t, u64 ports, bool whole)
{
	struct ang_pkt p;
	bool progress;
	u64 todo = t->open_todo & ports;
	u64 rest = t->open_todo & ~ports;

	if (!todo)
		return false;
	ang_control_packet(n, t, ANG_PKT_OPEN, &p);
	p.key = t->row.epoch;
	p.flags = whole ? ANG_PF_WHOLE : 0;
	p.off = t->root;
	progress = ang_issue_links(v, n, &p, &todo, ANGARA_PORT_NONE);
	t->open_todo = rest | todo;
	return progress;
}

/**
 * ang_open_issue() - send the OPEN packets of a tree
 * @v: view
 * @n: node
 * @t: tree
 *
 * Return: true if a packet was sent.
 */
bool ang_open_issue(struct ang_view *v, struct ang_node *n, struct ang_tree *t)
{
	bool progress = open_send(v, n, t, t->row.ports, t->open);

	return open_send(v, n, t, ang_port_up(&t->row), open_whole(t)) ||
	       progress;
}
