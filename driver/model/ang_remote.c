// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Nodes that another host runs.
 *
 * No view advances a remote node: the host holds it permanently.  Neighbours of
 * the remote node that this process runs send to its rings; the host takes
 * packets from these rings and sends them to the other process.  The host puts
 * packets from the other process on the remote node's links, as if the node had
 * sent them.  Free room and buffers wake a remote node like any node, and
 * ang_wake() notifies the host.
 *
 * Peers (other hosts) are not trusted.  Each field of a packet that this
 * process would use without a further check is checked here, once.
 */
#include "ang_int.h"

#define VC(vc)		(1U << ANGARA_VC_##vc)
#define TREE		(1U << 0)	/* belongs to a tree */
#define ROUTE		(1U << 1)	/* is routed to dst_node */
#define TYPE		(1U << 2)	/* has dtype and redop */
#define DATA		(1U << 3)	/* has a payload if the status is 0 */
#define MANY		(1U << 4)	/* npkts follows from len */
#define TURN		(1U << 5)	/* may have ANG_PF_TURN; FETCH, MORE, WHOLE: likewise */
#define FETCH		(1U << 6)
#define MORE		(1U << 7)
#define WHOLE		(1U << 8)

/* Rules for each type of packet (ANG_PKT_*). */
static const struct {
	u8 vcs;
	u16 has;
} kinds[ANG_PKT_NUM] = {
	[ANG_PKT_PUT]		= { VC(REQ), ROUTE | DATA | MANY },
	[ANG_PKT_GET]		= { VC(REQ), ROUTE | MANY },
	[ANG_PKT_ACK]		= { VC(RSP), ROUTE },
	[ANG_PKT_DATA]		= { VC(RSP), ROUTE | DATA },
	[ANG_PKT_RESULT]	= { VC(RSP), ROUTE | TREE | TYPE | DATA | MANY },
	[ANG_PKT_BCAST]		= { VC(UP) | VC(DOWN), TREE | DATA | MANY },
	[ANG_PKT_REDUCE]	= { VC(UP), TREE | TYPE | DATA | MANY },
	[ANG_PKT_ALLREDUCE]	= { VC(UP) | VC(DOWN),
				    TREE | TYPE | DATA | MANY },
	[ANG_PKT_CREDIT]	= { VC(DOWN), TREE },
	[ANG_PKT_ABORT]		= { VC(UP) | VC(DOWN), TREE },
	[ANG_PKT_SEND]		= { VC(REQ), ROUTE | DATA | MANY | TURN },
	[ANG_PKT_ATOMIC]	= { VC(REQ), ROUTE | DATA | MANY | FETCH },
	[ANG_PKT_READY]		= { VC(REQ), ROUTE },
	[ANG_PKT_RNR]		= { VC(RSP), ROUTE },
	[ANG_PKT_READY_ACK]	= { VC(RSP), ROUTE | MORE },
	[ANG_PKT_OPEN]		= { VC(UP) | VC(DOWN), TREE | WHOLE },
};

void ang_remote_set(struct ang_view *v, u32 node)
{
	struct ang_node *n = ang_node(v->fab, node);

	n->remote = ANG_REMOTE_YES;
	n->sched = ANG_SCHED_OWNED | ANG_SCHED_REMOTE;
}

/*
 * Is there a packet in ring @nr?  @set: which rings may hold packets, as in
 * ANG_SCHED_RX.
 */
static bool ring_holds(struct ang_view *v, struct ang_node *n, u32 set, u32 nr)
{
	return set >> (nr >> v->fab->ring_shift) & 1 &&
	       ang_ring_head(v, ang_ring(v->fab, n, nr / ANGARA_VC_NUM,
					 nr % ANGARA_VC_NUM));
}

void ang_remote_look(struct ang_view *v, u32 node)
{
	struct ang_node *n = ang_node(v->fab, node);
	u32 rings = v->fab->nports * ANGARA_VC_NUM;
	u32 set = n->rx;
	u32 nr;

	set |= (u32)ang_fetch_and(&n->sched, ~(ANG_SCHED_RX | ANG_SCHED_WORK |
					       ANG_SCHED_WOKEN));
	n->rx = 0;
	for (nr = 0; nr < rings; nr++)
		if (ring_holds(v, n, set, nr))
			n->rx |= 1U << (nr >> v->fab->ring_shift);
}

u32 ang_remote_next(struct ang_view *v, u32 node, u32 from)
{
	struct ang_node *n = ang_node(v->fab, node);
	u32 rings = v->fab->nports * ANGARA_VC_NUM;

	for (; from < rings; from++)
		if (ring_holds(v, n, n->rx, from))
			return from;
	return ANG_NONE;
}

const struct ang_pkt *ang_remote_head(struct ang_view *v, u32 node, u32 dir,
				      u32 vc, const void **data)
{
	struct ang_node *n = ang_node(v->fab, node);
	struct ang_pkt *p = ang_ring_head(v, ang_ring(v->fab, n, dir, vc));

	if (!p)
		return NULL;
	*data = p->buf ? ang_buf_data(v, p->buf) : NULL;
	return p;
}

void ang_remote_pop(struct ang_view *v, u32 node, u32 dir, u32 vc)
{
	struct ang_node *n = ang_node(v->fab, node);
	struct ang_ring *r = ang_ring(v->fab, n, dir, vc);

	ang_buf_put(v, ang_ring_at_head(v, r)->buf, 1);
	ang_ring_pop(v, n, r, dir);
}

bool ang_remote_give(struct ang_view *v, u32 node, u32 dir, u32 vc,
		     const struct ang_pkt *p, const void *data)
{
	return ang_link_give(v, ang_node(v->fab, node), p, dir, vc, data);
}

/*
 * Does the route from the packet's source to its destination leave @from by
 * @dir?  This check lets a peer name only sources whose packets pass its routers,
 * so the peer cannot answer in the name of other nodes.
 *
 * The source of a RESULT may be a node that has caused an error, so only the
 * route from @from on is checked.
 *
 * With cfg.remote the topology's routes are in use: ROUTE_SET is refused.
 */
static bool on_route(const struct ang_view *v, u32 from, u32 dir,
		     const struct ang_pkt *p)
{
	u32 at = p->type == ANG_PKT_RESULT ? from : p->src_node;
	u32 left = v->topo.routers;

	if (p->dst_node >= v->topo.nodes)
		return false;
	for (; at != p->dst_node && at != ANG_NONE && left; left--) {
		u32 out = ang_topo_route(&v->topo, at, p->dst_node);

		if (at == from)
			return out == dir;
		at = ang_topo_neighbor(&v->topo, at, out);
	}
	return false;
}

static const char *size_flaw(const struct ang_fabric *fab,
			     const struct ang_pkt *p, u32 has, u32 len)
{
	u32 most = fab->cfg.train;

	if (has & TYPE)
		most = ang_min(most, ANG_REDUCE_TRAIN);
	if (!p->npkts || p->npkts > most)
		return "npkts: 0, or more packets than a train has";
	if (p->len > most * ANGARA_PACKET_BYTES)
		return "len: more bytes than a train carries";
	if (p->npkts != (has & MANY || len ? ang_packets(p->len) : 1))
		return "npkts: does not match len";
	if (len && (!(has & DATA) || len != p->len))
		return "payload: its length differs from len";
	if (has & DATA && p->len && !len && !p->status)
		return "payload: missing";
	if (has & TYPE && p->len % ang_type_size(p->dtype))
		return "len: not a multiple of the element size";
	return NULL;
}

static u32 flags_of(u32 has)
{
	return ANG_PF_LAST | ANG_PF_NOTIFY | (has & TURN ? ANG_PF_TURN : 0) |
	       (has & FETCH ? ANG_PF_FETCH : 0) |
	       (has & MORE ? ANG_PF_MORE : 0) |
	       (has & WHOLE ? ANG_PF_WHOLE : 0);
}

static const char *tree_flaw(const struct ang_fabric *fab,
			     const struct ang_pkt *p)
{
	if (p->tree >= fab->cfg.trees)
		return "tree: out of range";
	if (p->type == ANG_PKT_ABORT && !p->status)
		return "status: must be an error in an ABORT";
	if (p->type == ANG_PKT_CREDIT &&
	    (!p->seq || p->seq > ANGARA_MAX_REDUCES / ANG_CREDIT_DOWN))
		return "seq: number of credits out of range";
	if ((p->type == ANG_PKT_OPEN || p->type == ANG_PKT_ABORT) && !p->seq)
		return "seq: must not be 0 in an OPEN or ABORT";
	if (p->type == ANG_PKT_OPEN && p->off >= fab->cfg.topo.routers)
		return "off: the root is not a router of the fabric";
	if (p->type == ANG_PKT_REDUCE && p->off &&
	    (!ANG_TICKET_LIFE(p->off) || ANG_TICKET_SLOT(p->off) >= fab->cfg.ops))
		return "off: not the ticket of an operation that waits for the result";
	return NULL;
}

/*
 * Check fields.  Fields that a process fills, and that the model does not use,
 * are not checked: otherwise a process could make peers close the connection.
 */
static const char *fields_flaw(const struct ang_fabric *fab,
			       const struct ang_pkt *p, u32 has)
{
	if (p->reserved || p->flags & ~flags_of(has))
		return "flags: unknown";
	if (p->status >= ANGARA_ST_NUM)
		return "status: unknown";
	/* Only a message that its sender aborts is a request with a status. */
	if (p->status && kinds[p->type].vcs == VC(REQ) && !(has & TURN))
		return "status: must be 0 in a request";
	/* A switch originates credits and control packets of a tree, but no data. */
	if (p->src_node >= (has & (ROUTE | MANY) ? fab->cfg.topo.nodes :
						   fab->cfg.topo.routers))
		return "src_node: no such node";
	if (p->slot >= fab->cfg.ops)
		return "slot: out of range";
	if (p->flags & ANG_PF_NOTIFY && p->counter >= ANGARA_CTR_USER_NUM)
		return "counter: out of range";
	if (p->type == ANG_PKT_ATOMIC && p->bytes > ANGARA_MAX_ATOMIC)
		return "bytes: more than an atomic operation may have";
	if (has & TYPE && !ang_reduction_valid(p->dtype, p->redop))
		return "dtype, redop: unknown";
	return has & TREE ? tree_flaw(fab, p) : NULL;
}

const char *ang_remote_flaw(struct ang_view *v, u32 node, u32 dir, u32 vc,
			    const struct ang_pkt *p, u32 len)
{
	struct ang_fabric *fab = v->fab;
	const char *flaw;
	u32 has;
	u32 to;

	if (node >= v->topo.routers ||
	    ang_node(fab, node)->remote == ANG_REMOTE_NO)
		return "node: not a remote node of this peer";
	to = ang_topo_neighbor(&v->topo, node, dir);
	if (to == ANG_NONE || ang_node(fab, to)->remote != ANG_REMOTE_NO)
		return "dir: no link to a local node";
	if (vc >= ANGARA_VC_NUM || p->type >= ANG_PKT_NUM ||
	    !(kinds[p->type].vcs & 1U << vc))
		return "type: unknown, or not on this channel";
	has = kinds[p->type].has;
	flaw = fields_flaw(fab, p, has);
	if (!flaw)
		flaw = size_flaw(fab, p, has, len);
	if (!flaw && has & ROUTE && !on_route(v, node, dir, p))
		flaw = "dst_node: its route from src_node leaves this link out";
	return flaw;
}
