// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Links and payload buffers.
 *
 * Each virtual channel of a link is a ring of packet heads in the node that the
 * link leads to, with one producer and one consumer.  Payload stays in a buffer
 * of the node that has injected it, with a count of references, and is not
 * copied at hops.
 *
 * Packets use channels of increasing classes only (ang_topo_turn()), which
 * excludes deadlock on links.  The rings of a torus are the exception: there
 * bubble flow control keeps at least one place of each ring free.  A packet
 * that enters a ring of the torus (from the adapter or from another dimension)
 * needs two free places; a packet that continues on the ring needs one.
 *
 * A link with faults takes a packet by advancing put, and delivers the packet
 * later by advancing tail; a link that is down takes packets and drops them.
 * See ang_retry.c.
 *
 * Memory order: the producer writes the packet, then releases tail; the
 * consumer acquires tail, reads, then releases head.  A producer without room
 * sets waiting, then checks again after a full barrier; the consumer releases
 * head, then checks waiting after a full barrier.  At least one of the two sees
 * the other's store.  The same holds between the thread that drops the last
 * reference of a buffer and a node that sets buf_waiting.
 *
 * Deadlock on payload buffers is excluded by separate pools.  Destinations
 * always take puts, broadcasts and answers, so the buffers of these packets are
 * always freed.  Reductions wait in Reducers for other participants, maybe for
 * ever.  So reductions have buffers of their own, and two buffers per tree are
 * reserved for the next packet of the tree.  Two buffers are enough: one stays
 * in the Reducer; the other carries a packet to the Reducer, where it is
 * combined, and is free again.  Packets that left this node earlier do not wait
 * for the next packet of this node, so their buffers are freed.
 *
 * If the order of combining matters (see ang_order.c), a contribution may wait
 * in the Reducer for a contribution of an earlier place.  Then only one packet
 * of one participant counts as the next packet and gets one of the two buffers:
 * the packet that is combined as soon as it arrives.  A node's participants
 * precede its children in the order, so they wait for no child; contributions
 * of children wait in buffers of the children or of nodes below them.  Proof
 * that each result is completed: take the first result that the root lacks, and
 * a node whose children have all sent their part of this result.  The two
 * buffers of this node hold no packet of a later result, since earlier packets
 * have not left; buffers of earlier results are being freed; one buffer may be
 * in the Reducer, and the other serves the participants one by one.  So this
 * node sends its part, too, and so on up to the root.
 *
 * Payload that arrives over a link from another process is held in buffers of
 * the remote node where the link begins.  A packet keeps such a buffer on all
 * further links, while it frees its place on this link.  So each of these links
 * has, per virtual channel, as many buffers as there are places straight ahead
 * (on a torus, the places of the whole ring): while the link has room, either a
 * buffer is free, or a packet that turned into another channel holds one.  Such
 * a packet waits only for channels of a higher class, so its buffer is freed.
 * Reductions of a tree come in order, and a packet that waits in a Reducer does
 * not wait for later packets: two buffers per tree are enough, and if none is
 * free, only that tree waits.
 */
#include "ang_int.h"

static u32 ring_free(const struct ang_fabric *fab, struct ang_ring *r)
{
	return fab->cfg.depth - (r->put - ang_load_acquire(&r->head));
}

static struct ang_ring *link_ring(struct ang_view *v,
				  const struct ang_port *port, u32 vc)
{
	return ang_ring(v->fab, ang_node(v->fab, port->peer), port->far, vc);
}

static bool ring_room(struct ang_view *v, struct ang_port *port,
		      struct ang_ring *r, u32 vc, u32 need)
{
	if (!ang_retry_room(port))
		return false;
	if (ring_free(v->fab, r) >= need)
		return true;
	if (!READ_ONCE(r->waiting)) {
		WRITE_ONCE(r->waiting, 1);
		port->link.stalls[vc]++;
	}
	ang_mb();
	return ring_free(v->fab, r) >= need;
}

/**
 * ang_link_places() - as ang_link_room(), for a given number of places
 * @v: view
 * @n: node
 * @dir: link
 * @vc: virtual channel
 * @need: places that must be free
 */
bool ang_link_places(struct ang_view *v, struct ang_node *n, u32 dir, u32 vc,
		     u32 need)
{
	struct ang_port *port = ang_port(v->fab, n, dir);

	return ring_room(v, port, link_ring(v, port, vc), vc, need);
}

/**
 * ang_link_free() - is there room for a packet of this node on a link?
 * @v: view; it may be in a lane of the node instead of holding the node
 * @n: node
 * @dir: link
 * @vc: virtual channel
 *
 * Unlike ang_link_room(), this does not record that the node waits for room.
 *
 * Return: true if there is room.
 */
bool ang_link_free(struct ang_view *v, struct ang_node *n, u32 dir, u32 vc)
{
	struct ang_port *port = ang_port(v->fab, n, dir);

	return ang_retry_room(port) && ring_free(v->fab, link_ring(v, port, vc)) >=
	       ang_room_needed(v->fab->bubble, false);
}

/**
 * ang_children_free() - is there room for a packet of a root to its children?
 * @v: view
 * @n: root
 * @links: ports that lead to the children
 */
bool ang_children_free(struct ang_view *v, struct ang_node *n, u64 links)
{
	for (; links; links &= links - 1)
		if (!ang_link_free(v, n, ang_lowest(links), ANGARA_VC_DOWN))
			return false;
	return true;
}

/**
 * ang_pass_note() - record which packet is about to be forwarded; see
 * ang_recover.c
 * @v: view
 * @n: node
 * @dir: link by which the packet arrived
 * @vc: virtual channel
 * @out: link by which it leaves
 */
void ang_pass_note(struct ang_view *v, struct ang_node *n, u32 dir, u32 vc,
		   u32 out)
{
	u32 in = dir * ANGARA_VC_NUM + vc;

	n->pass.out = out * ANGARA_VC_NUM + vc;
	n->pass.tail = link_ring(v, ang_port(v->fab, n, out), vc)->put + 1;
	/*
	 * The previous record may be overwritten, since its packet has left its
	 * ring.
	 */
	ang_store_release(&n->pass.key, (in + 1ULL) << 32 |
			  ang_ring(v->fab, n, dir, vc)->head);
}

/**
 * ang_link_arrive() - deliver a link's next packet at its far end
 * @v: view
 * @port: port by which the packet left
 * @vc: virtual channel
 * @r: ring behind @port
 */
void ang_link_arrive(struct ang_view *v, const struct ang_port *port, u32 vc,
		     struct ang_ring *r)
{
	u32 nr = port->far * ANGARA_VC_NUM + vc;

	ang_store_release(&r->tail, r->tail + 1);
	ang_wake(v, ang_node(v->fab, port->peer),
		 1ULL << (nr >> v->fab->ring_shift));
}

/**
 * ang_link_count() - count a packet that crosses or bypasses a link
 * @v: view
 * @n: node that the packet leaves
 * @p: packet; updated to its state at the other end of the link
 * @dir: link
 * @vc: virtual channel
 */
void ang_link_count(struct ang_view *v, struct ang_node *n, struct ang_pkt *p,
		    u32 dir, u32 vc)
{
	struct ang_port *port = ang_port(v->fab, n, dir);

	ang_work(v, ANG_WORK_PKT);
	p->hops++;
	if (vc >= ANGARA_VC_UP)
		p->life = ang_lives(v->fab, n, p->tree)[dir];
	port->link.packets[vc] += p->npkts;
	port->link.flits[vc] += ang_flits(p);
	ang_trace_pkt(v, n, ANG_TR_SEND, p, dir, vc, p->status);
}

/* Put a packet into the ring at the other end of @port, which has room. */
static void ring_put(struct ang_view *v, struct ang_node *n,
		     struct ang_port *port, struct ang_ring *r,
		     const struct ang_pkt *p, u32 dir, u32 vc)
{
	struct ang_pkt *slot = &r->pkt[r->put & (v->fab->cfg.depth - 1U)];
	/* A link whose faults were cleared may still have packets in flight. */
	bool held = READ_ONCE(port->flaws) || r->put != r->tail;

	*slot = *p;
	ang_link_count(v, n, slot, dir, vc);
	ang_store_release(&r->put, r->put + 1);
	if (held)
		ang_retry_put(n, port, p->npkts, dir, vc);
	else
		ang_link_arrive(v, port, vc, r);
}

/**
 * ang_link_put() - put a packet on a link that has room for it
 * @v: view
 * @n: node
 * @p: packet; the caller's payload reference passes to the link; a packet of a
 *	tree is labelled with the life of the neighbor's row, see
 *	ang_tree_open.c
 * @dir: link
 * @vc: virtual channel; see ang_link_room()
 */
void ang_link_put(struct ang_view *v, struct ang_node *n,
		  const struct ang_pkt *p, u32 dir, u32 vc)
{
	struct ang_port *port = ang_port(v->fab, n, dir);

	ring_put(v, n, port, link_ring(v, port, vc), p, dir, vc);
}

/**
 * ang_link_send() - put a packet on a link, if there is room
 * @v: view
 * @n: node
 * @p: as for ang_link_put()
 * @in: link by which the packet arrived, as for ang_link_room()
 * @dir: link by which it leaves
 * @vc: virtual channel
 *
 * Return: true if the packet was sent; false if there is no room, see
 * ang_link_room().
 */
bool ang_link_send(struct ang_view *v, struct ang_node *n,
		   const struct ang_pkt *p, u32 in, u32 dir, u32 vc)
{
	u32 need = ang_room_needed(v->fab->bubble, ang_straight(in, dir));
	struct ang_port *port = ang_port(v->fab, n, dir);
	struct ang_ring *r = link_ring(v, port, vc);

	if (vc >= ANGARA_VC_UP && ang_hop(v, n, p, dir, vc))
		return true;
	if (!ring_room(v, port, r, vc, need)) {
		ang_work(v, ANG_WORK_PKT);
		return false;
	}
	ring_put(v, n, port, r, p, dir, vc);
	return true;
}

/**
 * ang_ring_pop() - free the place at the head of an incoming ring
 * @v: view
 * @n: node
 * @r: ring
 * @dir: link that the ring belongs to
 */
void ang_ring_pop(struct ang_view *v, struct ang_node *n, struct ang_ring *r,
		  u32 dir)
{
	r->todo = (struct ang_outs){ 0 };
	ang_store_release(&r->head, r->head + 1);
	ang_mb();
	if (READ_ONCE(r->waiting) && ang_xchg(&r->waiting, 0))
		ang_wake(v, ang_node(v->fab, ang_port(v->fab, n, dir)->peer), 0);
}

static u32 *buf_ref(struct ang_fabric *fab, u32 node, u32 index)
{
	return (u32 *)((char *)ang_node(fab, node) + fab->off_ref) + index;
}

/*
 * Find the buffers of one kind.  Return: their number.  @base: out: the first.
 */
static u32 buf_pool(const struct ang_cfg *cfg, u32 kind, u32 *base)
{
	u32 quarter = cfg->bufs / 4U;

	switch (kind) {
	case ANG_BUF_REQ:
		*base = 2 * quarter;
		return cfg->bufs - 2 * quarter;
	case ANG_BUF_RSP:
		*base = 0;
		return quarter;
	case ANG_BUF_RED:
		*base = quarter;
		return quarter;
	default:
		*base = cfg->bufs + (kind - ANG_BUF_TREE(0)) * ANG_TREE_BUFS;
		return ANG_TREE_BUFS;
	}
}

/*
 * Return: number of places straight ahead of a port: on its link, and on
 * further links that a packet can reach without a turn.
 */
static u32 places_ahead(const struct ang_cfg *cfg, u32 port)
{
	u32 size;

	if (cfg->topo.kind != ANG_TOPO_TORUS)
		return cfg->depth;
	size = cfg->topo.dims[port / 2];
	return size > 1 ? size * cfg->depth : 0;
}

/* Return: number of buffers of the links of all ports before @port. */
static u64 link_bufs_before(const struct ang_cfg *cfg, u32 port)
{
	u64 count = 0;

	while (port--)
		count += (u64)places_ahead(cfg, port) * ANGARA_VC_NUM;
	return count;
}

/**
 * ang_link_bufs() - number of buffers that a node needs if the host carries the
 * packets of its links
 * @cfg: configuration whose dimensions are within bounds
 *
 * Return: number of buffers, which may exceed ANG_MAX_LINK_BUFS; 0 without
 * cfg.remote.
 */
u64 ang_link_bufs(const struct ang_cfg *cfg)
{
	return cfg->remote ? link_bufs_before(cfg, cfg->topo.nports) : 0;
}

/* As buf_pool(), for packets of a remote node; see the head of this file. */
static u32 link_pool(const struct ang_cfg *cfg, const struct ang_pkt *p,
		     u32 dir, u32 vc, u32 *base)
{
	u32 per_vc = places_ahead(cfg, dir);

	if (vc == ANGARA_VC_UP && p->type != ANG_PKT_BCAST)
		return buf_pool(cfg, ANG_BUF_TREE(p->tree), base);
	*base = cfg->bufs + ANG_TREE_BUFS * cfg->trees +
		(u32)link_bufs_before(cfg, dir) + vc * per_vc;
	return per_vc;
}

static u64 link_buf_find(struct ang_view *v, struct ang_node *n,
			 const struct ang_pkt *p, u32 dir, u32 vc)
{
	u32 base;
	u32 count = link_pool(&v->fab->cfg, p, dir, vc, &base);
	u32 i;

	for (i = 0; i < count; i++) {
		u32 *ref = buf_ref(v->fab, n->id, base + i);

		if (ang_load_acquire(ref))
			continue;
		WRITE_ONCE(*ref, 1);
		return (u64)n->id << 32 | (base + i + 1);
	}
	return 0;
}

/** ang_buf_try() - as ang_buf_get(), but the node is not woken when a buffer is freed */
u64 ang_buf_try(struct ang_view *v, struct ang_node *n, u32 kind)
{
	u32 base;
	u32 count = buf_pool(&v->fab->cfg, kind, &base);
	u32 i;

	for (i = 0; i < count; i++) {
		u32 at = (n->buf_hint[kind] + i) % count;
		u32 *ref = buf_ref(v->fab, n->id, base + at);

		if (ang_load_acquire(ref))
			continue;
		WRITE_ONCE(*ref, 1);
		n->buf_hint[kind] = (u16)((at + 1) % count);
		ang_work(v, i);
		return (u64)n->id << 32 | (base + at + 1);
	}
	ang_work(v, count);
	return 0;
}

/* Record that the node has to be woken when one of its buffers is freed. */
static void buf_wait(struct ang_node *n)
{
	n->cnt.no_buffer++;
	WRITE_ONCE(n->buf_waiting, 1);
	ang_mb();
}

/**
 * ang_buf_get() - take a payload buffer
 * @v: view
 * @n: node
 * @kind: ANG_BUF_*
 *
 * Return: handle of the buffer; 0 if none is free: the node is woken when a
 * buffer is freed.
 */
u64 ang_buf_get(struct ang_view *v, struct ang_node *n, u32 kind)
{
	u64 buf = ang_buf_try(v, n, kind);

	if (buf)
		return buf;
	buf_wait(n);
	return ang_buf_try(v, n, kind);
}

static u64 buf_find_reduce(struct ang_view *v, struct ang_node *n,
			   const struct ang_pkt *p)
{
	u64 buf = ang_buf_try(v, n, ANG_BUF_RED);

	if (!buf && p->seq == n->tree[p->tree].done &&
	    ang_order_turn(v, n, p))
		buf = ang_buf_try(v, n, ANG_BUF_TREE(p->tree));
	return buf;
}

/** ang_buf_get_reduce() - take a payload buffer for a packet of a reduction */
u64 ang_buf_get_reduce(struct ang_view *v, struct ang_node *n,
		       const struct ang_pkt *p)
{
	u64 buf = buf_find_reduce(v, n, p);

	if (buf)
		return buf;
	buf_wait(n);
	return buf_find_reduce(v, n, p);
}

/**
 * ang_buf_data() - find the memory of a payload buffer of any node
 * @v: view
 * @buf: handle, not 0
 *
 * Return: cfg.train * 256 bytes.
 */
void *ang_buf_data(struct ang_view *v, u64 buf)
{
	u32 index = (u32)buf - 1;

	return (char *)ang_node(v->fab, (u32)(buf >> 32)) + v->fab->off_buf +
	       (u64)index * v->fab->buf_size;
}

/**
 * ang_link_give() - put a packet on a link in place of a node that another
 * process runs
 * @v: view
 * @n: remote node, which the caller holds
 * @p: packet that ang_remote_flaw() accepts; @p->buf is ignored
 * @dir: link
 * @vc: virtual channel
 * @data: payload of the packet, NULL for none
 *
 * The other process counts the packet, and has checked that the packet may
 * enter the ring.
 *
 * Return: true if the packet was sent; false if there is no room or no buffer
 * now: the host is notified when that may have changed.
 */
bool ang_link_give(struct ang_view *v, struct ang_node *n,
		   const struct ang_pkt *p, u32 dir, u32 vc, const void *data)
{
	struct ang_port *port = ang_port(v->fab, n, dir);
	struct ang_ring *r = link_ring(v, port, vc);
	struct ang_pkt *slot;
	u64 buf = 0;

	if (!ring_room(v, port, r, vc, 1))
		return false;
	if (data) {
		buf = link_buf_find(v, n, p, dir, vc);
		if (!buf) {
			buf_wait(n);
			buf = link_buf_find(v, n, p, dir, vc);
		}
		if (!buf)
			return false;
		memcpy(ang_buf_data(v, buf), data, p->len);
	}
	slot = &r->pkt[r->put & (v->fab->cfg.depth - 1U)];
	*slot = *p;
	slot->buf = buf;
	ang_store_release(&r->put, r->put + 1);
	ang_link_arrive(v, port, vc, r);
	return true;
}

/*
 * ang_buf_link() - get the link from @buf to the buffer that waits behind it;
 * only for the owner of the last reference
 */
u64 *ang_buf_link(struct ang_view *v, u64 buf)
{
	u32 index = (u32)buf - 1;

	return (u64 *)((char *)ang_node(v->fab, (u32)(buf >> 32)) +
		       v->fab->off_link) + index;
}

/** ang_buf_share() - take @more references to a buffer; the caller has one */
void ang_buf_share(struct ang_view *v, u64 buf, u32 more)
{
	if (buf && more)
		ang_fetch_add(buf_ref(v->fab, (u32)(buf >> 32), (u32)buf - 1),
			      more);
}

/** ang_buf_put() - drop references to a buffer */
void ang_buf_put(struct ang_view *v, u64 buf, u32 refs)
{
	struct ang_node *owner;

	if (!buf || !refs)
		return;
	if (ang_fetch_add(buf_ref(v->fab, (u32)(buf >> 32), (u32)buf - 1),
			  (u32)-refs) != refs)
		return;
	ang_mb();
	owner = ang_node(v->fab, (u32)(buf >> 32));
	if (READ_ONCE(owner->buf_waiting) && ang_xchg(&owner->buf_waiting, 0))
		ang_wake(v, owner, 0);
}

/**
 * ang_drop() - count a dropped packet, and free its payload
 * @v: view
 * @n: node
 * @p: packet
 * @cause: ANGARA_DROP_*
 * @refs: references to the payload to drop
 */
void ang_drop(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p,
	      u32 cause, u32 refs)
{
	n->drops[cause] += p->npkts;
	ang_trace_pkt(v, n, ANG_TR_DROP, p, ANGARA_PORT_NONE, 0, cause);
	ang_buf_put(v, p->buf, refs);
}

/** ang_trace_record() - report a packet to the host, and advance the clock */
void ang_trace_record(struct ang_view *v, struct ang_node *n, u32 event,
		      const struct ang_pkt *p, u32 port, u32 vc, u32 status)
{
	struct ang_trace rec;

	rec.cycle = n->clock;
	rec.node = n->id;
	rec.event = (u8)event;
	rec.type = p->type;
	rec.port = (u8)port;
	rec.vc = (u8)vc;
	rec.tree = p->tree;
	rec.status = (u8)status;
	rec.npkts = p->npkts;
	rec.len = p->len;
	rec.seq = p->seq;
	rec.src = p->src_node;
	v->ops->trace(v->host, &rec);
}
