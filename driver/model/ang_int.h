/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: functions shared by its files.
 *
 * A view holds a node while it advances the node (ANG_SCHED_OWNED).  Unless
 * stated otherwise, @v is the caller's view, and @n a node that the view holds.
 */
#ifndef ANG_INT_H
#define ANG_INT_H

#include "ang_rules.h"

/** ang_work() - count work, in units of ang_work.h */
static inline void ang_work(struct ang_view *v, u32 units)
{
	v->work += units;
}

/** ang_spent() - has this step done all the work that it may do? */
static inline bool ang_spent(const struct ang_view *v)
{
	return v->work >= v->stop;
}

/* Access to host memory; see struct ang_ops. */
static inline int ang_dma_read(struct ang_view *v, struct ang_node *n, u64 addr,
			       void *buf, u32 len)
{
	ang_work(v, ANG_WORK_DMA + len / ANG_WORK_BYTES);
	return v->ops->dma_read(v->host, n->id, addr, buf, len);
}

static inline int ang_dma_write(struct ang_view *v, struct ang_node *n,
				u64 addr, const void *buf, u32 len)
{
	ang_work(v, ANG_WORK_DMA + len / ANG_WORK_BYTES);
	return v->ops->dma_write(v->host, n->id, addr, buf, len);
}

/**
 * ang_store64() - store a word in host memory with one store
 * @v: view
 * @n: node
 * @addr: address, from the driver: it may be misaligned
 * @val: word
 *
 * Return: 0; not 0 if @addr is not aligned, or could not be accessed.
 */
static inline int ang_store64(struct ang_view *v, struct ang_node *n, u64 addr,
			      u64 val)
{
	ang_work(v, ANG_WORK_DMA);
	return addr % 8 ? -1 : v->ops->dma_store64(v->host, n->id, addr, val);
}

static inline void ang_interrupt(struct ang_view *v, struct ang_node *n,
				 u32 vector)
{
	ang_work(v, ANG_WORK_IRQ);
	v->ops->interrupt(v->host, n->id, vector);
}

/**
 * ang_blamed() - get the node to report if a router is at fault
 * @v: view
 * @router: node or switch
 *
 * Return: @router; for a switch, its keeper, the node that programs it.
 */
static inline u32 ang_blamed(const struct ang_view *v, u32 router)
{
	return ang_node(v->fab, router)->keeper;
}

/* ang_sched.c */
void ang_wake(struct ang_view *v, struct ang_node *n, u64 why);
void ang_timer_start(struct ang_view *v, struct ang_node *n, u64 deadline);
void ang_retry_timer(struct ang_view *v, struct ang_node *n);
bool ang_node_seize(struct ang_view *v, struct ang_node *n);
bool ang_timer_expire(struct ang_view *v, struct ang_node *n);
void ang_node_drop(struct ang_view *v, struct ang_node *n);
void ang_node_leave(struct ang_view *v, struct ang_node *n);
void ang_sched_all(struct ang_view *v);

/* ang_node.c */
bool ang_node_step(struct ang_view *v, struct ang_node *n);
bool ang_node_due(const struct ang_node *n);
void ang_node_settle(struct ang_view *v, struct ang_node *n);
bool ang_node_tell(struct ang_view *v, struct ang_node *n);
bool ang_node_reset(struct ang_view *v, struct ang_node *n);

/* ang_link.c */
bool ang_link_places(struct ang_view *v, struct ang_node *n, u32 dir, u32 vc,
		     u32 need);

/**
 * ang_link_room() - is there room for a packet on a link?
 * @v: view
 * @n: node
 * @in: link by which the packet arrived; ANGARA_PORT_NONE if it comes from this
 *	node or from another channel
 * @dir: link by which the packet is to leave
 * @vc: virtual channel
 *
 * Return: true if there is room; else the node is woken when there may be room.
 */
static inline bool ang_link_room(struct ang_view *v, struct ang_node *n, u32 in,
				 u32 dir, u32 vc)
{
	u32 need = ang_room_needed(v->fab->bubble, ang_straight(in, dir));

	return ang_link_places(v, n, dir, vc, need);
}

bool ang_link_free(struct ang_view *v, struct ang_node *n, u32 dir, u32 vc);
void ang_link_count(struct ang_view *v, struct ang_node *n, struct ang_pkt *p,
		    u32 dir, u32 vc);
void ang_link_put(struct ang_view *v, struct ang_node *n,
		  const struct ang_pkt *p, u32 dir, u32 vc);
bool ang_link_send(struct ang_view *v, struct ang_node *n,
		   const struct ang_pkt *p, u32 in, u32 dir, u32 vc);
bool ang_link_give(struct ang_view *v, struct ang_node *n,
		   const struct ang_pkt *p, u32 dir, u32 vc, const void *data);
u64 ang_link_bufs(const struct ang_cfg *cfg);
bool ang_children_free(struct ang_view *v, struct ang_node *n, u64 links);
void ang_pass_note(struct ang_view *v, struct ang_node *n, u32 dir, u32 vc,
		   u32 out);

/*
 * ang_ring_at_head() - get the packet at the head of an incoming ring that is
 * not empty
 */
static inline struct ang_pkt *ang_ring_at_head(struct ang_view *v,
					       struct ang_ring *r)
{
	return &r->pkt[r->head & (v->fab->cfg.depth - 1U)];
}

/*
 * ang_ring_head() - get the packet at the head of an incoming ring of a node;
 * NULL if the ring is empty
 */
static inline struct ang_pkt *ang_ring_head(struct ang_view *v,
					    struct ang_ring *r)
{
	if (r->head == ang_load_acquire(&r->tail))
		return NULL;
	return ang_ring_at_head(v, r);
}

/**
 * ang_ring_clear() - is a ring empty, with no packet in flight on its link?
 * @v: view, which holds both nodes of the link
 * @r: ring
 *
 * A link whose faults were cleared may still have packets in flight, see
 * ang_retry.c.
 */
static inline bool ang_ring_clear(struct ang_view *v, struct ang_ring *r)
{
	return !ang_ring_head(v, r) && r->put == r->tail;
}

void ang_ring_pop(struct ang_view *v, struct ang_node *n, struct ang_ring *r,
		  u32 dir);

u64 ang_buf_try(struct ang_view *v, struct ang_node *n, u32 kind);
u64 ang_buf_get(struct ang_view *v, struct ang_node *n, u32 kind);
u64 ang_buf_get_reduce(struct ang_view *v, struct ang_node *n,
		       const struct ang_pkt *p);
void *ang_buf_data(struct ang_view *v, u64 buf);
u64 *ang_buf_link(struct ang_view *v, u64 buf);
void ang_buf_share(struct ang_view *v, u64 buf, u32 more);
void ang_buf_put(struct ang_view *v, u64 buf, u32 refs);
void ang_drop(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p,
	      u32 cause, u32 refs);
void ang_trace_record(struct ang_view *v, struct ang_node *n, u32 event,
		      const struct ang_pkt *p, u32 dir, u32 vc, u32 status);

/*
 * ang_trace_pkt() - advance the clock by a packet, and trace it if the host has
 * a trace operation
 */
static inline void ang_trace_pkt(struct ang_view *v, struct ang_node *n,
				 u32 event, const struct ang_pkt *p, u32 dir,
				 u32 vc, u32 status)
{
	n->clock += ang_flits(p);
	if (v->ops->trace)
		ang_trace_record(v, n, event, p, dir, vc, status);
}

/* ang_link.c, ang_retry.c, ang_fault.c */
void ang_link_arrive(struct ang_view *v, const struct ang_port *port, u32 vc,
		     struct ang_ring *r);

/** ang_retry_room() - does a link with faults have room for one more train? */
static inline bool ang_retry_room(const struct ang_port *port)
{
	return (u8)(port->retry.end - port->retry.first) < ANG_RETRY_TRAINS;
}

void ang_retry_put(struct ang_node *n, struct ang_port *port, u32 npkts, u32 dir,
		   u32 vc);
bool ang_retry_step(struct ang_view *v, struct ang_node *n);
void ang_retry_clear(struct ang_retry *r);
void ang_retry_flush(struct ang_view *v, struct ang_node *n, u32 dir);
void ang_nodes_look(struct ang_view *v);
void ang_flaw_set(struct ang_fabric *fab, struct ang_port *port, u32 flaw);
void ang_flaw_clear(struct ang_fabric *fab, struct ang_port *port, u32 flaw);
void ang_link_down(struct ang_view *v, struct ang_node *n, u32 dir);
void ang_fault_begin(struct ang_fabric *fab, struct ang_node *n, u32 dir);
bool ang_faults_reset(struct ang_view *v, struct ang_node *n);
void ang_faults_torn(struct ang_view *v, struct ang_node *n);
u32 ang_link_set(struct ang_view *v, struct ang_node *n,
		 const struct angara_adm_link *arg);

/* ang_crc.c */
u32 ang_frame_sum(const void *data, u32 len);

/* ang_p2p.c */
bool ang_p2p_ring(struct ang_view *v, struct ang_node *n, struct ang_ring *r,
		  u32 dir, u32 vc);
bool ang_p2p_inject(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op);
bool ang_p2p_express(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_op *op);
bool ang_may_leave(struct ang_view *v, struct ang_node *n, u32 dst, u32 vc,
		   u32 *dir);
void ang_request(struct ang_view *v, struct ang_node *n, struct ang_pkt *p,
		 u32 dir);

bool ang_may_serve(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p);
bool ang_request_serve(struct ang_view *v, struct ang_node *n,
		       const struct ang_pkt *p, struct ang_pkt *reply);
void ang_answer_eject(struct ang_view *v, struct ang_node *n,
		      const struct ang_pkt *p);

/* ang_express.c */
bool ang_express_may(struct ang_view *v, struct ang_node *n,
		     struct ang_ctx *c, const struct ang_op *op);
bool ang_express_entry(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		       struct ang_lane *lane, const struct angara_wqe *w);
bool ang_express(struct ang_view *v, struct ang_node *n, struct ang_pkt *p,
		 u32 dir);

/**
 * ang_linkless() - may packets bypass links at all?
 * @v: view
 */
static inline bool ang_linkless(const struct ang_view *v)
{
	return !v->packets && !v->ops->trace && v->fab->express &&
	       ang_links_perfect(v->fab);
}

/* ang_lane.c */
struct ang_lane *ang_lane_target(struct ang_view *v, const struct ang_ctx *c,
				 const struct ang_node *n, struct ang_node *t);
bool ang_lane_bell(struct ang_view *v, struct ang_node *n, u32 ctx, u32 pi);
void ang_lane_send(struct ang_view *v, struct ang_node *n, struct ang_lane *l,
		   u32 dir, u32 npkts, u32 flits);
void ang_lane_receive(struct ang_view *v, struct ang_node *n, struct ang_lane *l,
		      const struct ang_ctx *c, u32 len);
bool ang_lanes_close(struct ang_view *v, struct ang_node *n);
void ang_lanes_calm(const struct ang_view *v, struct ang_node *n, u32 small);
bool ang_lanes_bar(struct ang_fabric *fab, struct ang_node *n);
void ang_lanes_clear(struct ang_fabric *fab, struct ang_node *n);
void ang_lanes_init(struct ang_fabric *fab, struct ang_node *n);

/**
 * ang_lanes_visit() - reduce ang_node.calm when a view takes the node
 * @v: view
 * @n: node
 *
 * ang_lanes_calm() undoes this if the view does only small operations.
 */
static inline void ang_lanes_visit(const struct ang_view *v, struct ang_node *n)
{
	n->spell = n->calm;
	n->calm -= ang_min(n->calm, v->calm);
}

/**
 * ang_lanes_offer() - open the lanes of a node that is about to be released, if
 * the node had enough small operations in a row
 * @v: view
 * @n: node, held, without work
 */
static inline void ang_lanes_offer(const struct ang_view *v, struct ang_node *n)
{
	if (v->calm && n->calm >= v->calm)
		ang_store_release(&n->lanes, ANG_LANES_OPEN);
}

/** ang_lane_leave() - leave a lane, so other threads can take it */
static inline void ang_lane_leave(struct ang_lane *l)
{
	ang_store_release(&l->taken, 0);
}

/* ang_aside.c */
void ang_aside_count(struct ang_view *v, struct ang_node *n, struct ang_tree *t);
void ang_aside_count_all(struct ang_view *v, struct ang_node *n);

/* ang_last.c */
bool ang_last_entry(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct angara_wqe *w);

/* ang_cast.c */
bool ang_cast_entry(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct angara_wqe *w);

/* ang_hop.c */
bool ang_hop(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p,
	     u32 dir, u32 vc);
void ang_hop_turn(struct ang_view *v, struct ang_node *n);

/* ang_msg.c, ang_send.c */
u32 ang_msg_area(struct ang_view *v, struct ang_node *n, u32 ctx,
		 const struct angara_adm_msg *arg);
u32 ang_msg_take(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 const struct ang_pkt *p, struct ang_pkt *reply);
void ang_msg_create(struct ang_view *v, struct ang_node *n, struct ang_ctx *c);
void ang_msg_destroy(struct ang_view *v, struct ang_node *n, struct ang_ctx *c);
bool ang_msg_wake(struct ang_view *v, struct ang_node *n, struct ang_ctx *c);
void ang_msg_ready_ack(struct ang_view *v, struct ang_node *n,
		       const struct ang_pkt *p);
void ang_msg_wake_later(struct ang_view *v, struct ang_node *n, struct ang_ctx *c);
void ang_msg_lost(struct ang_view *v, struct ang_node *n, struct ang_ctx *c, u32 place);
void ang_send_start(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op);
void ang_send_end(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		  struct ang_op *op);
bool ang_send_inject(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_op *op);
void ang_send_answer(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_op *op, const struct ang_pkt *p);
void ang_send_ready(struct ang_view *v, struct ang_node *n,
		    const struct ang_pkt *p, struct ang_pkt *reply);
bool ang_send_ghost(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op);

/* ang_atomic.c */
u32 ang_atomic_operands(u32 aop);
u32 ang_atomic_check(u32 aop, u32 type, u32 len);

/**
 * struct ang_atomic - an atomic operation on memory of a context
 * @aop: ANGARA_ATOMIC_*
 * @type: ANGARA_TYPE_*
 * @fetch: returns the previous value
 * @len: bytes of the elements
 * @key: key of the region
 * @off: position in the region
 */
struct ang_atomic {
	u32 aop;
	u32 type;
	bool fetch;
	u32 len;
	u64 key;
	u64 off;
};

u32 ang_atomic_do(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		  const struct ang_atomic *a, const char *operands, void *old);
u32 ang_atomic_take(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct ang_pkt *p, struct ang_pkt *reply);

/*
 * Return: bytes that an entry reads from local memory, or contains inline.  For an
 * entry that is refused, the number may exceed all limits.
 */
static inline u64 ang_wqe_payload(const struct angara_wqe *w)
{
	u64 len = le32_to_cpu(w->length);

	if (ang_is_atomic(w->opcode))
		len *= ang_atomic_operands(w->redop);
	return len;
}

/* ang_coll.c */
bool ang_up_ring(struct ang_view *v, struct ang_node *n, struct ang_ring *r,
		 u32 dir);
bool ang_down_ring(struct ang_view *v, struct ang_node *n, struct ang_ring *r,
		   u32 dir);
u32 ang_bcast_store(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct ang_pkt *p);
void ang_bcast_count(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     u32 tree);
void ang_eject(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p,
	       u32 in, const struct ang_ctx *but);
struct ang_outs ang_outputs_down(struct ang_node *n, const struct ang_pkt *p);
bool ang_up_fits(struct ang_node *n, const struct ang_pkt *p, u32 dir);
bool ang_up_now(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p,
		u32 dir);
bool ang_down_now(struct ang_view *v, struct ang_node *n,
		  const struct ang_pkt *p, u32 dir);
bool ang_pegroup(struct ang_view *v, struct ang_node *n);

/** ang_fifo_empty() - is a PEGroup FIFO empty? */
static inline bool ang_fifo_empty(const struct ang_node *n, u32 which)
{
	return n->fifo[which].head == n->fifo[which].tail;
}

/** ang_fifo_room() - has a PEGroup FIFO a free place? */
static inline bool ang_fifo_room(const struct ang_node *n, u32 which)
{
	return n->fifo[which].tail - n->fifo[which].head < ANG_FIFO;
}

/*
 * ang_fifo_place() - get the free place for the next packet of a PEGroup FIFO
 */
static inline struct ang_pkt *ang_fifo_place(struct ang_node *n, u32 which)
{
	return &n->fifo[which].pkt[n->fifo[which].tail % ANG_FIFO];
}

/** ang_fifo_push() - append a packet to a PEGroup FIFO that has room */
static inline void ang_fifo_push(struct ang_node *n, u32 which,
				 const struct ang_pkt *p)
{
	*ang_fifo_place(n, which) = *p;
	n->fifo[which].tail++;
}

bool ang_issue(struct ang_view *v, struct ang_node *n, const struct ang_pkt *p,
	       struct ang_outs *todo, u32 in);
bool ang_issue_links(struct ang_view *v, struct ang_node *n,
		     const struct ang_pkt *p, u64 *links, u32 in);
bool ang_reduce_room(struct ang_view *v, struct ang_node *n,
		     const struct ang_tree *t, u32 seq, u32 npkts);
void ang_coll_count(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct ang_pkt *p);
bool ang_coll_inject(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     u32 tree);
void ang_result_arrive(struct ang_view *v, struct ang_node *n,
		       const struct ang_pkt *p);
void ang_result_p2p(struct ang_view *v, struct ang_node *n,
		    const struct ang_pkt *p);

/* ang_reducer.c */
struct ang_slot *ang_slot_lacks(struct ang_tree *t, const struct ang_pkt *p,
				u64 bit);
void ang_result_count(struct ang_view *v, struct ang_node *n, struct ang_tree *t,
		      u32 npkts);
void ang_reduce_take(struct ang_view *v, struct ang_node *n, struct ang_tree *t,
		     const struct ang_pkt *p, u32 dir);
void ang_control_packet(struct ang_node *n, struct ang_tree *t, u32 type,
			struct ang_pkt *p);
bool ang_reduce_issue(struct ang_view *v, struct ang_node *n, u32 tree);
bool ang_control_issue(struct ang_view *v, struct ang_node *n, u32 tree);
void ang_credit_pe(struct ang_view *v, struct ang_node *n, bool timer);
void ang_reducer_flush(struct ang_view *v, struct ang_tree *t);

/* ang_order.c */
/**
 * ang_place_bit() - get the place of a contribution among all contributions of
 * a tree at this node
 * @v: view
 * @n: node
 * @p: contribution
 * @dir: link by which the contribution arrived, ANGARA_PORT_NONE if from the PE
 *
 * Return: set with only that place.
 */
static inline u64 ang_place_bit(struct ang_view *v, struct ang_node *n,
				const struct ang_pkt *p, u32 dir)
{
	if (dir != ANGARA_PORT_NONE)
		return ang_child_place(&n->tree[p->tree].row, dir);
	return 1ULL << ang_ctx(v->fab, n, p->src_ctx)->place[p->tree];
}

void ang_order_take(struct ang_view *v, struct ang_slot *s,
		    const struct ang_pkt *p, u64 bit);
bool ang_order_turn(struct ang_view *v, struct ang_node *n,
		    const struct ang_pkt *p);
void ang_order_flush(struct ang_view *v, struct ang_slot *s);

/* ang_tree_state.c */
/** ang_tree_knows() - is the tree up, and its row in the life that @p is for? */
static inline bool ang_tree_knows(const struct ang_tree *t,
				  const struct ang_pkt *p)
{
	return t->state == ANGARA_TREE_STATE_UP && t->life == p->life;
}

/** ang_tree_takes() - ang_tree_knows() for the tree that the packet names */
static inline bool ang_tree_takes(const struct ang_node *n,
				  const struct ang_pkt *p)
{
	return ang_tree_knows(&n->tree[p->tree], p);
}

u32 ang_tree_set(struct ang_view *v, struct ang_node *n,
		 const struct angara_tree_row *row, u64 job, u32 *rule);
u32 ang_tree_clear(struct ang_view *v, struct ang_node *n, u32 tree);
u32 ang_tree_join(struct ang_view *v, struct ang_node *n, u32 ctx, u32 tree,
		  u32 place);
u32 ang_tree_leave(struct ang_view *v, struct ang_node *n, u32 ctx, u32 tree);
void ang_tree_down(struct ang_view *v, struct ang_node *n, u32 tree, u32 status,
		   u32 culprit, u64 except);

/* ang_tree_open.c */
void ang_open_start(struct ang_node *n, struct ang_tree *t);
void ang_open_late(struct ang_view *v, struct ang_node *n,
		   const struct ang_pkt *p, u32 dir);
u64 ang_open_ports(struct ang_view *v, struct ang_node *n,
		   const struct ang_tree *t);
void ang_open_take(struct ang_view *v, struct ang_node *n,
		   const struct ang_pkt *p, u32 dir);
void ang_open_abort(struct ang_view *v, struct ang_node *n,
		    const struct ang_pkt *p, u32 dir);
bool ang_open_issue(struct ang_view *v, struct ang_node *n, struct ang_tree *t);

/* ang_float.c */

/**
 * struct ang_format - a format of IEEE 754
 * @frac: number of bits of the fraction
 * @exp: number of bits of the exponent
 */
struct ang_format {
	u32 frac;
	u32 exp;
};

extern const struct ang_format ang_binary32, ang_binary64;

bool ang_float_nan(const struct ang_format *f, u64 x);
bool ang_float_zero(const struct ang_format *f, u64 x);
u64 ang_float_one(const struct ang_format *f);
u64 ang_float_quiet(const struct ang_format *f, u64 x);
u64 ang_float_add(const struct ang_format *f, u64 a, u64 b);
u64 ang_float_mul(const struct ang_format *f, u64 a, u64 b);
u64 ang_float_key(const struct ang_format *f, u64 x);
u64 ang_float_pick(const struct ang_format *f, u64 a, u64 b, bool max);

/* ang_lost.c */
u32 ang_lost_between(struct ang_view *v, struct ang_node *n, u32 to);
u32 ang_lost_since(struct ang_view *v, struct ang_node *n, u32 to, u32 era);
bool ang_lost_request(struct ang_view *v, struct ang_node *n,
		      const struct ang_pkt *p);
void ang_lost_wake(struct ang_view *v);
u32 ang_lost_result(struct ang_view *v, struct ang_node *n, const struct ang_tree *t);
void ang_lost_tree(struct ang_view *v, struct ang_node *n, u32 tree);
void ang_lost_forget(struct ang_node *n);
u32 ang_lost_row(struct ang_view *v, struct ang_node *n,
		 const struct angara_tree_row *row);
bool ang_lost(struct ang_view *v, struct ang_node *n);
bool ang_lost_seen(struct ang_view *v);
bool ang_lost_answer(const struct ang_view *v, const struct ang_pkt *p);
void ang_nodes_admin(struct ang_view *v);
void ang_lost_act(struct ang_view *v, struct ang_node *n);

/* ang_detour.c */
u32 ang_detour_row(const struct ang_topo *topo);
u32 ang_detour_port(const struct ang_fabric *fab, u32 detour, u32 router, u32 dst);
bool ang_detour_ready(struct ang_view *v, struct ang_node *n,
		      const struct angara_adm_route *arg);
u32 ang_detour_set(struct ang_view *v, struct ang_node *n,
		   const struct angara_adm_route *arg, u32 *bad);
bool ang_detour_reset(struct ang_view *v, struct ang_node *n);
void ang_detour_torn(struct ang_view *v, struct ang_node *n);

/**
 * ang_route() - get the port by which packets to a node leave a router
 * @v: view
 * @router: node or switch
 * @dst: node
 *
 * Operations that bypass links use ang_topo_route() instead: no operation
 * bypasses links while packets follow a table.
 *
 * Return: port; ANGARA_PORT_NONE if @router is @dst, or no route leads there.
 */
static inline u32 ang_route(const struct ang_view *v, u32 router, u32 dst)
{
	u32 detour = READ_ONCE(v->fab->detour);

	return detour & ANG_DETOUR_TABLE ?
	       ang_detour_port(v->fab, detour, router, dst) :
	       ang_topo_route(&v->topo, router, dst);
}

/** ang_halted() - must nodes hold back requests and results? */
static inline bool ang_halted(const struct ang_view *v)
{
	return READ_ONCE(v->fab->detour) & ANG_DETOUR_HALT;
}

/* ang_combine.c */
u32 ang_combine_work(u32 len, u32 type, u32 redop);

/* ang_mr.c */
u32 ang_mr_find(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		u64 key, u64 off, u32 len, u32 access, struct angara_hw_mr *mr);
u32 ang_mr_copy(struct ang_view *v, struct ang_node *n,
		const struct angara_hw_mr *mr, u64 off, u32 len, void *to,
		const void *from);
u32 ang_mr_read(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		u64 key, u64 off, u32 len, void *buf);
u32 ang_mr_write(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 u64 key, u64 off, u32 len, const void *buf);
u32 ang_mr_check(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 u32 slot, u64 off, u32 len, u32 access);
u32 ang_mr_give(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		u32 slot, u64 off, u32 len, void *buf);
u32 ang_mr_keep(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		u32 slot, u64 off, u32 len, const void *buf);
int ang_pages_load(struct ang_view *v, struct ang_node *n,
		   struct ang_pages *pages, u32 index);

/**
 * ang_pages_at() - get the DMA address of a byte of a queue or table
 * @v: view
 * @n: node
 * @pages: pages of the queue or table
 * @byte: offset of the byte
 * @addr: out: DMA address
 *
 * Return: 0 or -errno of the host.
 */
static inline int ang_pages_at(struct ang_view *v, struct ang_node *n,
			       struct ang_pages *pages, u64 byte, u64 *addr)
{
	u32 index = (u32)(byte / ANGARA_PAGE_SIZE);
	int rc = 0;

	if (pages->index != index + 1)
		rc = ang_pages_load(v, n, pages, index);
	*addr = pages->addr + byte % ANGARA_PAGE_SIZE;
	return rc;
}


/* ang_domain.c */
u32 ang_domain_create(struct ang_view *v, struct ang_node *n, u32 dom,
		      const struct angara_adm_domain *arg);
u32 ang_domain_destroy(struct ang_view *v, struct ang_node *n, u32 dom);
u32 ang_domain_table(struct ang_view *v, struct ang_node *n, u32 dom,
		     const struct angara_adm_domain *arg);
struct ang_dom *ang_domain_get(struct ang_view *v, struct ang_node *n, u32 dom);

/* ang_ctx.c */
u32 ang_ctx_create(struct ang_view *v, struct ang_node *n, u32 ctx,
		   const struct angara_adm_ctx *arg);
u32 ang_ctx_destroy(struct ang_view *v, struct ang_node *n, u32 ctx);
struct ang_ctx *ang_ctx_get(struct ang_view *v, struct ang_node *n, u32 ctx);
void ang_doorbell(struct ang_view *v, struct ang_node *n, u32 ctx);
void ang_ctx_doorbells(struct ang_view *v, struct ang_node *n);

/*
 * ang_ctx_serves() - may a peer with this partition and job key access a
 * context?
 */
static inline bool ang_ctx_serves(const struct ang_ctx *c, u32 pkey, u64 job)
{
	return c->pkey == pkey && c->job == job;
}

/** ang_ctx_soil() - note that counters (ANG_DIRTY_*) have to be published */
static inline void ang_ctx_soil(struct ang_node *n, struct ang_ctx *c, u32 what)
{
	c->dirty |= (u8)what;
	if (!c->lane)
		ang_set_bit(n->dirty, c->id);
}

/*
 * ang_ctx_event() - note that a CQE or counter was written; the end of the step
 * publishes it
 */
static inline void ang_ctx_event(struct ang_node *n, struct ang_ctx *c)
{
	c->evseq++;
	ang_ctx_soil(n, c, ANG_DIRTY_EVENT);
}

void ang_ctx_count(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		   u32 index, u64 value);
void ang_ctx_rx_error(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      u32 tree, u32 status);
void ang_ctx_tell(struct ang_view *v, struct ang_node *n, struct ang_ctx *c);
void ang_ctx_publish(struct ang_view *v, struct ang_node *n);

/* ang_turn.c */
void ang_turn_one(struct ang_view *v, struct ang_node *n, struct ang_ctx *c);
bool ang_inject(struct ang_view *v, struct ang_node *n);

/* ang_inject.c */
bool ang_fetch(struct ang_view *v, struct ang_node *n, struct ang_ctx *c);
bool ang_fetch_small(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_lane *lane);
void ang_op_resume(struct ang_view *v, struct ang_node *n, struct ang_ctx *c);
void ang_op_fail(struct ang_op *op, u32 status, u32 culprit);
void ang_complete(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		  struct angara_cqe *cqe);
u32 ang_read_inline(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    u8 *to, u32 len);
u32 ang_entry_source(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     const struct angara_wqe *w, void *to);
void ang_entry_done(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct angara_wqe *w, u32 status);
void ang_op_done(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 struct ang_op *op);
void ang_op_free(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 struct ang_op *op);
void ang_op_unqueue(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op);

/**
 * ang_op_sent() - note that an operation has no more data to inject
 * @v: view
 * @n: node
 * @c: context
 * @op: operation
 *
 * Removes a collective from the list of operations that its tree injects.
 */
static inline void ang_op_sent(struct ang_view *v, struct ang_node *n,
			       struct ang_ctx *c, struct ang_op *op)
{
	if (!op->sent_all)
		ang_op_unqueue(v, n, c, op);
}

bool ang_op_payload(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op, struct ang_pkt *p);
void ang_op_head(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 struct ang_op *op, struct ang_pkt *p);

/* ang_counters.c */
u32 ang_counters_read(struct ang_view *v, struct ang_node *n,
		      const struct angara_adm_counters *arg,
		      union ang_counters *out);
u32 ang_counters_give(struct ang_view *v, struct ang_node *n,
		      const struct angara_adm_counters *arg,
		      const union ang_counters *counters);

/* ang_switch.c */
struct ang_node *ang_switch_of(struct ang_view *v, const struct ang_node *n,
			       u32 router);
bool ang_switch_call(struct ang_view *v, struct ang_node *n, struct ang_node *s,
		     const struct angara_adm_cmd *cmd,
		     struct angara_adm_cpl *cpl);
bool ang_switches_reset(struct ang_view *v, struct ang_node *n);
bool ang_switch_serve(struct ang_view *v, struct ang_node *s);

/* ang_mgmt.c */
u32 ang_mgmt_size(u32 nports);
void ang_mgmt_init(struct ang_fabric *fab, struct ang_node *n);
bool ang_mgmt_serve(struct ang_view *v, struct ang_node *n);
u32 ang_mgmt_post(struct ang_view *v, struct ang_node *n,
		  const struct angara_adm_mgmt *arg);
u32 ang_mgmt_collect(struct ang_view *v, struct ang_node *n,
		     const struct angara_adm_mgmt *arg);
void ang_mgmt_reset(struct ang_fabric *fab, struct ang_node *n);
void ang_mgmt_empty(struct ang_fabric *fab, struct ang_node *n);

/* ang_admin.c */
bool ang_admin(struct ang_view *v, struct ang_node *n);
bool ang_command(struct ang_view *v, struct ang_node *n,
		 const struct angara_adm_cmd *cmd, struct angara_adm_cpl *cpl);
void ang_event(struct ang_view *v, struct ang_node *n, u32 type, u32 index,
	       u32 value);

#endif /* ANG_INT_H */
