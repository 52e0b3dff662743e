// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Broadcasts of one train that begin at the root.
 *
 * Packets define the behaviour; this shortcut must have the same effects, as in
 * ang_hop.c.  If both FIFOs of the root are empty and the links to all children
 * have room, the entry of a participant at the root is executed at once, without
 * an operation or a FIFO: the participants of the node and all children get the
 * train.  Each counter gets the value that it would get by packets.
 *
 * Order: the train follows all packets that the root has sent down the tree.  No
 * result of the tree waits in the Reducer, since each result needs a
 * contribution of this participant, and the participant has no pending
 * operation.  The node is held, so no packet that its participants send down the
 * tree can overtake the train.
 *
 * The participants' memory is accessed before the train goes to the children:
 * after that, the view may hold a child (ang_hop.c), and a held child must not
 * wait for memory of these processes, see ang_express.c.
 *
 * If any check fails, nothing is counted and the entry takes the usual path,
 * where the same check fails again.
 */
#include "ang_int.h"

/*
 * May the broadcast @w be executed at once?  It has to be one train of a
 * participant at the root of an open tree, with empty FIFOs and room on the links.
 */
static bool cast_may(struct ang_view *v, struct ang_node *n,
		     const struct ang_ctx *c, const struct angara_wqe *w)
{
	u32 tree = le16_to_cpu(w->tree);
	const struct ang_tree *t = &n->tree[tree];

	return le32_to_cpu(w->length) <= v->fab->buf_size && ang_linkless(v) &&
	       c->joined >> tree & 1 && t->row.is_root &&
	       t->state == ANGARA_TREE_STATE_UP && t->open &&
	       ang_fifo_empty(n, ANG_FIFO_PE) && ang_fifo_empty(n, ANG_FIFO_ROOT) &&
	       ang_children_free(v, n, t->row.ports);
}

static void cast_head(const struct ang_node *n, const struct ang_ctx *c,
		      const struct angara_wqe *w, struct ang_pkt *p)
{
	const struct ang_tree *t = &n->tree[le16_to_cpu(w->tree)];

	memset(p, 0, sizeof(*p));
	p->type = ANG_PKT_BCAST;
	p->flags = ANG_PF_LAST;
	p->tree = t->row.tree;
	p->life = t->life;
	p->dtype = w->type;
	p->redop = w->redop;
	p->src_node = n->id;
	p->src_ctx = (u16)c->id;
	p->dst_node = le32_to_cpu(w->dst_node);
	p->dst_ctx = le16_to_cpu(w->dst_ctx);
	p->pkey = c->pkey;
	p->job = t->job;
	p->len = le32_to_cpu(w->length);
	p->npkts = (u8)ang_packets(p->len);
	p->key = le64_to_cpu(w->rkey);
	p->off = le64_to_cpu(w->roff);
}

/*
 * Read the data into a payload buffer.  Return: false if no buffer is free, or the
 * data cannot be read.
 */
static bool cast_read(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      const struct angara_wqe *w, struct ang_pkt *p)
{
	if (!p->len)
		return true;
	p->buf = ang_buf_try(v, n, ANG_BUF_REQ);
	if (!p->buf)
		return false;
	if (!ang_entry_source(v, n, c, w, ang_buf_data(v, p->buf)))
		return true;
	ang_buf_put(v, p->buf, 1);
	return false;
}

/* Give the train to the participants of the node, and complete the entry. */
static void cast_take(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      const struct angara_wqe *w, const struct ang_pkt *p)
{
	u32 status;

	ang_eject(v, n, p, ANGARA_PORT_NONE, c);
	status = ang_bcast_store(v, n, c, p);
	ang_bcast_count(v, n, c, p->tree);
	ang_entry_done(v, n, c, w, status);
}

/**
 * ang_cast_entry() - execute an entry that is a broadcast of one train by the
 * root
 * @v: view
 * @n: node
 * @c: context with no pending operation, and room for a completion
 * @w: next entry of the context, a valid broadcast
 *
 * Return: true if the entry was executed.
 */
bool ang_cast_entry(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct angara_wqe *w)
{
	struct ang_outs outs;
	struct ang_pkt p;

	if (!cast_may(v, n, c, w))
		return false;
	cast_head(n, c, w, &p);
	if (!cast_read(v, n, c, w, &p))
		return false;
	ang_work(v, 2 * ANG_WORK_PKT);
	ang_coll_count(v, n, c, &p);
	outs = ang_outputs_down(n, &p);
	ang_buf_share(v, p.buf, ang_count(outs.links));
	cast_take(v, n, c, w, &p);
	/* All links have room, and only this view puts packets on them. */
	ang_issue_links(v, n, &p, &outs.links, ANGARA_PORT_NONE);
	ang_buf_put(v, p.buf, 1);
	return true;
}
