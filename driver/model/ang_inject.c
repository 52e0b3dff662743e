// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The injection engine turns queue entries into packets and completions.
 *
 * A context's entries are fetched in order, each into an operation, unless a
 * shortcut executes it at once (ang_express.c, ang_last.c, ang_cast.c).  Operations
 * run at the same time, but operations on the same tree are injected in order.
 * An entry is fetched only if there is room for its completion.
 *
 * A point-to-point operation with a fence is fetched, but starts only when the
 * earlier operations to the same node have ended; later entries are fetched
 * meanwhile.  To keep messages in order, a message also waits for earlier
 * messages to the same node that wait for a fence.  A collective with a fence
 * is fetched only when all earlier operations have ended, so it keeps its place
 * in the order of its tree.
 */
#include "ang_int.h"

#define INLINE_SLOTS(len)	(((len) + 63U) / 64U)

void ang_op_fail(struct ang_op *op, u32 status, u32 culprit)
{
	if (op->status)
		return;
	op->status = (u8)status;
	op->err_node = culprit;
}

static int write_cqe(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct angara_cqe *cqe)
{
	u32 size = 1U << c->cq_log2;
	__le64 last;
	u64 addr;
	int rc;

	cqe->phase = !(c->cq_pi & size);
	rc = ang_pages_at(v, n, &c->cq,
			  (u64)(c->cq_pi & (size - 1)) * sizeof(*cqe), &addr);
	if (rc)
		return rc;
	rc = ang_dma_write(v, n, addr, cqe, 24);
	if (rc)
		return rc;
	memcpy(&last, (char *)cqe + 24, sizeof(last));
	return ang_store64(v, n, addr + 24, le64_to_cpu(last));
}

/**
 * ang_complete() - report to a context that an operation has ended
 * @v: view
 * @n: node
 * @c: context
 * @cqe: completion; this function sets its phase
 */
void ang_complete(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		  struct angara_cqe *cqe)
{
	write_cqe(v, n, c, cqe);
	c->cq_pi++;
	c->cnt.cqes++;
	c->cnt.cqe_errors += cqe->status != cpu_to_le16(ANGARA_ST_OK);
	ang_ctx_event(n, c);
}

/*
 * ang_op_unqueue() - as ang_op_sent(), for an operation that is not yet marked as
 * sent (ang_op.sent_all)
 */
void ang_op_unqueue(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op)
{
	u32 slot = ang_op_slot(n, c, op);
	struct ang_member *m;
	struct ang_op *prev = NULL;
	u32 at;

	op->sent_all = 1;
	if (!ang_is_coll(op->opcode)) {
		c->p2p_tx &= ~(1ULL << slot);
		return;
	}
	m = &c->member[op->tree];
	for (at = m->first; at; at = prev->next) {
		ang_work(v, ANG_WORK_LOOK);
		if (at == slot + 1)
			break;
		prev = ang_op(n, c, at - 1);
	}
	if (!at)
		return;
	if (prev)
		prev->next = op->next;
	else
		m->first = op->next;
	if (m->last == slot + 1)
		m->last = (u16)(prev ? ang_op_slot(n, c, prev) + 1 : 0);
	if (!m->first)
		c->tree_tx &= ~(1ULL << op->tree);
}

/* An operation has ended: start the operations that waited for it. */
static void op_release(struct ang_view *v, struct ang_node *n,
		       struct ang_ctx *c, u64 bit)
{
	u64 set;

	for (set = c->held & ~c->due; set; set &= set - 1) {
		u32 slot = ang_lowest(set);
		struct ang_op *op = ang_op(n, c, slot);

		ang_work(v, ANG_WORK_LOOK);
		op->after &= ~bit;
		if (!op->after)
			c->due |= 1ULL << slot;
	}
}

/**
 * ang_op_free() - free an operation, and remove all references to it
 * @v: view
 * @n: node
 * @c: context; it may have been destroyed
 * @op: operation, also in state ANG_OP_GHOST
 *
 * No other function frees the slot of an operation.
 */
void ang_op_free(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 struct ang_op *op)
{
	u64 bit = 1ULL << ang_op_slot(n, c, op);
	bool ghost = op->state == ANG_OP_GHOST;
	bool held = op->state == ANG_OP_HELD;

	ang_op_sent(v, n, c, op);
	if (ang_is_coll(op->opcode))
		c->member[op->tree].ops &= ~bit;
	else if (op->opcode == ANGARA_OP_SEND && !ghost && !held)
		ang_send_end(v, n, c, op);
	if (ghost)
		c->ghosts &= ~bit;
	else
		c->nops--;
	op->state = ANG_OP_FREE;
	c->free |= bit;
	c->held &= ~bit;
	c->due &= ~bit;
	if (c->held)
		op_release(v, n, c, bit);
	if (c->alive && (c->sq_ci != c->sq_pi || c->due))
		ang_set_bit(n->tx, c->id);
}

/**
 * ang_op_done() - end an operation, and report it to the context if requested
 * @v: view
 * @n: node
 * @c: context that exists
 * @op: operation
 */
void ang_op_done(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 struct ang_op *op)
{
	struct angara_cqe cqe = {
		.cookie = cpu_to_le64(op->cookie),
		.length = cpu_to_le32(op->bytes),
		.node = cpu_to_le32(op->status ? ang_blamed(v, op->err_node) : 0),
		.status = cpu_to_le16(op->status),
		.opcode = op->wqe_opcode,
	};

	if (op->status || !(op->flags & ANGARA_WQE_QUIET))
		ang_complete(v, n, c, &cqe);
	ang_op_free(v, n, c, op);
}

/**
 * ang_op_payload() - read the payload of an operation's next train
 * @v: view
 * @n: node
 * @c: context
 * @op: operation, of which op->sent bytes were sent
 * @p: packet with @len set; out: @buf, or @status after an error
 *
 * Return: true; false if there is no free payload buffer now.
 */
bool ang_op_payload(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op, struct ang_pkt *p)
{
	u32 status;

	if (!p->len || p->status)
		return true;
	p->buf = op->opcode > ANGARA_OP_BCAST && ang_is_coll(op->opcode) ?
		 ang_buf_get_reduce(v, n, p) : ang_buf_get(v, n, ANG_BUF_REQ);
	if (!p->buf)
		return false;
	if (op->inl) {
		memcpy(ang_buf_data(v, p->buf), ang_inline(v->fab, n, c, op),
		       p->len);
		return true;
	}
	status = ang_mr_give(v, n, c, op->lkey, op->loff + op->sent,
			     p->len, ang_buf_data(v, p->buf));
	if (status) {
		ang_buf_put(v, p->buf, 1);
		p->buf = 0;
		p->status = (u8)status;
	}
	return true;
}

/** ang_op_head() - fill the fields that all packets of an operation share */
void ang_op_head(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 struct ang_op *op, struct ang_pkt *p)
{
	memset(p, 0, sizeof(*p));
	p->tree = op->tree;
	p->dtype = op->type;
	p->redop = op->redop;
	p->src_node = n->id;
	p->src_ctx = (u16)c->id;
	p->slot = (u16)ang_op_slot(n, c, op);
	p->dst_node = op->dst_node;
	p->dst_ctx = op->dst_ctx;
	p->pkey = c->pkey;
	p->job = c->job;
	p->gen = op->gen;
}

/*
 * Is the type of the elements valid, and the length a multiple of their size?
 */
static bool elements_fit(const struct angara_wqe *w)
{
	u32 size = ang_reduction_size(w->type, w->redop);

	return size && !(le32_to_cpu(w->length) & (size - 1));
}

/*
 * ang_wqe_places() - count the places of an entry and its payload in the queue.
 * Also valid for refused entries, so that their payload is not read as entries.
 */
u32 ang_wqe_places(const struct angara_wqe *w)
{
	u64 bytes = ang_wqe_payload(w);

	return w->flags & ANGARA_WQE_INLINE && bytes <= ANGARA_MAX_INLINE ?
	       1 + INLINE_SLOTS((u32)bytes) : 1;
}

/* Check the fields that only messages and atomic operations use. */
static u32 extra_check(const struct angara_wqe *w)
{
	u32 len = le32_to_cpu(w->length);

	switch (w->opcode) {
	case ANGARA_OP_SEND:
		return len > ANGARA_MAX_MSG || w->aux_key ||
		       w->flags & ANGARA_WQE_NOTIFY ? ANGARA_ST_DESC :
						      ANGARA_ST_OK;
	case ANGARA_OP_ATOMIC:
		if (w->redop == ANGARA_ATOMIC_READ || w->aux || w->aux_key)
			return ANGARA_ST_DESC;
		return ang_atomic_check(w->redop, w->type, len);
	case ANGARA_OP_FETCH:
		return ang_atomic_check(w->redop, w->type, len);
	default:
		return w->aux || w->aux_key ? ANGARA_ST_DESC : ANGARA_ST_OK;
	}
}

static u32 wqe_check(const struct angara_wqe *w)
{
	u32 len = le32_to_cpu(w->length);

	if (w->opcode >= ANGARA_OP_NUM || w->flags & ~ANGARA_WQE_FLAGS ||
	    len > ANGARA_MAX_OP_BYTES)
		return ANGARA_ST_DESC;
	if (w->flags & ANGARA_WQE_INLINE &&
	    (ang_wqe_payload(w) > ANGARA_MAX_INLINE || w->opcode == ANGARA_OP_GET))
		return ANGARA_ST_DESC;
	if (w->flags & ANGARA_WQE_NOTIFY &&
	    (le16_to_cpu(w->counter) >= ANGARA_CTR_USER_NUM ||
	     ang_is_coll(w->opcode)))
		return ANGARA_ST_DESC;
	if (!ang_is_coll(w->opcode))
		return extra_check(w);
	if (le16_to_cpu(w->tree) >= ANGARA_MAX_TREES)
		return ANGARA_ST_DESC;
	if ((w->opcode == ANGARA_OP_BCAST || w->opcode == ANGARA_OP_BARRIER) &&
	    (w->aux || w->aux_key))
		return ANGARA_ST_DESC;
	if (w->opcode == ANGARA_OP_BARRIER && len)
		return ANGARA_ST_DESC;
	if (w->opcode >= ANGARA_OP_REDUCE && !elements_fit(w))
		return ANGARA_ST_DESC;
	return ANGARA_ST_OK;
}

static void op_fill(struct ang_op *op, const struct angara_wqe *w, u16 gen)
{
	memset(op, 0, ANG_OP_ENTRY);
	op->state = ANG_OP_ACTIVE;
	op->wqe_opcode = w->opcode;
	op->opcode = w->opcode == ANGARA_OP_BARRIER ? ANGARA_OP_ALLREDUCE :
						      w->opcode;
	op->flags = w->flags;
	if (ang_is_coll(w->opcode))
		op->tree = (u8)le16_to_cpu(w->tree);
	if (w->opcode != ANGARA_OP_BARRIER) {
		op->redop = w->redop;
		op->type = w->type;
	}
	op->dst_ctx = le16_to_cpu(w->dst_ctx);
	op->dst_node = le32_to_cpu(w->dst_node);
	op->counter = le16_to_cpu(w->counter);
	op->len = le32_to_cpu(w->length);
	op->rkey = le64_to_cpu(w->rkey);
	op->roff = le64_to_cpu(w->roff);
	op->lkey = le32_to_cpu(w->lkey);
	op->loff = le64_to_cpu(w->loff);
	op->cookie = le64_to_cpu(w->cookie);
	op->gen = gen;
	if (w->opcode == ANGARA_OP_GET) {
		op->sink_key = op->lkey;
		op->sink_off = op->loff;
	} else {
		op->sink_key = le32_to_cpu(w->aux_key);
		op->sink_off = le64_to_cpu(w->aux);
	}
}

/* May the operation read its source? */
static u32 source_check(struct ang_view *v, struct ang_node *n,
			struct ang_ctx *c, const struct ang_op *op)
{
	u32 len = op->len;

	if (op->flags & ANGARA_WQE_INLINE || !len)
		return ANGARA_ST_OK;
	if (ang_is_atomic(op->opcode))
		len *= ang_atomic_operands(op->redop);
	if (!len)
		return ANGARA_ST_OK;
	return ang_mr_check(v, n, c, op->lkey, op->loff, len, 0);
}

static u32 sink_check(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      const struct ang_op *op)
{
	if (!op->len)
		return ANGARA_ST_OK;
	return ang_mr_check(v, n, c, op->sink_key, op->sink_off, op->len,
			    ANGARA_ACCESS_LOCAL_WRITE);
}

static u32 p2p_start(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_op *op)
{
	u32 status = ANGARA_ST_OK;

	if (op->dst_node >= v->topo.nodes)
		return ANGARA_ST_TARGET;
	/*
	 * Read the era first: if a link goes down between the two reads, its
	 * loss is later than the era, and the path is checked again.
	 */
	op->era = ang_load_acquire(&v->fab->lost);
	if (READ_ONCE(v->fab->broken)) {
		u32 lost = ang_lost_between(v, n, op->dst_node);

		if (lost != ANG_NONE) {
			op->err_node = lost;
			return ANGARA_ST_UNREACHABLE;
		}
	}
	if (op->opcode != ANGARA_OP_GET)
		status = source_check(v, n, c, op);
	if (!status && ang_returns_data(op->opcode))
		status = sink_check(v, n, c, op);
	if (status)
		return status;
	if (op->opcode == ANGARA_OP_SEND)
		ang_send_start(v, n, c, op);
	else
		c->p2p_tx |= 1ULL << ang_op_slot(n, c, op);
	return ANGARA_ST_OK;
}

/*
 * Can the result of a REDUCE return from the root?  The root is unknown until
 * the tree is open; until then return true, and check again when it opens.
 */
static bool result_comes(struct ang_view *v, struct ang_node *n,
			 struct ang_tree *t, struct ang_op *op)
{
	u32 lost;

	if (op->opcode != ANGARA_OP_REDUCE || !op->receives || !t->open ||
	    !READ_ONCE(v->fab->broken))
		return true;
	lost = ang_lost_result(v, n, t);
	if (lost == ANG_NONE)
		return true;
	ang_tree_down(v, n, op->tree, ANGARA_ST_TREE_DOWN, lost, 0);
	op->err_node = t->down_node;
	return false;
}

/*
 * Start a collective.  If a reduction cannot read its contribution, or names a
 * receiver that does not exist, it still takes part: it sends its error instead
 * of data, so that the operations of the other participants end.  The regions
 * of an operation of one packet are not checked here, since reading the
 * contribution and writing the result check them.
 */
static u32 coll_start(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      struct ang_op *op)
{
	struct ang_tree *t = &n->tree[op->tree];
	struct ang_member *m = &c->member[op->tree];
	u32 slot = ang_op_slot(n, c, op);
	bool once = op->opcode != ANGARA_OP_BCAST &&
		    op->len <= ANGARA_PACKET_BYTES;
	u32 status = once ? ANGARA_ST_OK : source_check(v, n, c, op);

	if (!(c->joined & 1ULL << op->tree))
		return ANGARA_ST_NO_TREE;
	if (t->state != ANGARA_TREE_STATE_UP) {
		op->err_node = t->down_node;
		return ANGARA_ST_TREE_DOWN;
	}
	if (op->opcode == ANGARA_OP_BCAST && status)
		return status;
	op->receives = op->opcode == ANGARA_OP_ALLREDUCE ||
		       (op->opcode == ANGARA_OP_REDUCE &&
			op->dst_node == n->id && op->dst_ctx == c->id);
	if (!result_comes(v, n, t, op))
		return ANGARA_ST_TREE_DOWN;
	if (op->opcode == ANGARA_OP_REDUCE &&
	    op->dst_node >= v->topo.nodes)
		status = ANGARA_ST_TARGET;
	if (op->opcode != ANGARA_OP_BCAST) {
		op->poison = (u8)status;
		if (status)
			ang_op_fail(op, status, n->id);
		else if (op->receives && !once)
			ang_op_fail(op, sink_check(v, n, c, op), n->id);
		op->seq = m->seq;
		op->npkts = ang_packets(op->len);
		m->seq += op->npkts;
	}
	m->ops |= 1ULL << slot;
	if (m->last)
		ang_op(n, c, m->last - 1U)->next = (u16)(slot + 1);
	else
		m->first = (u16)(slot + 1);
	m->last = (u16)(slot + 1);
	c->tree_tx |= 1ULL << op->tree;
	return ANGARA_ST_OK;
}

static inline bool cq_room(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	u32 size = 1U << c->cq_log2;
	__le32 raw;
	u32 ci;

	if (c->cq_pi - c->cq_ci + c->nops < size)
		return true;
	if (ang_dma_read(v, n, c->ctl + 4, &raw, sizeof(raw)))
		return false;
	ci = le32_to_cpu(raw);
	if (c->cq_pi - ci > size)
		return false;
	c->cq_ci = ci;
	if (c->cq_pi - ci + c->nops < size)
		return true;
	c->cnt.cq_full++;
	return false;
}

static int read_sq(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		   u32 index, void *buf, u32 len)
{
	u32 mask = (1U << c->sq_log2) - 1;
	u64 addr;
	int rc;

	rc = ang_pages_at(v, n, &c->sq, (u64)(index & mask) * 64, &addr);
	return rc ? rc : ang_dma_read(v, n, addr, buf, len);
}

/**
 * ang_read_inline() - read the payload that follows the next entry, also around
 * the end of the queue
 * @v: view
 * @n: node
 * @c: context
 * @to: out: payload
 * @len: bytes, at most ANGARA_MAX_INLINE
 *
 * Return: ANGARA_ST_*.
 */
u32 ang_read_inline(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    u8 *to, u32 len)
{
	u32 at;

	for (at = 0; at < len; at += 64)
		if (read_sq(v, n, c, c->sq_ci + 1 + at / 64, to + at,
			    ang_min(64, len - at)))
			return ANGARA_ST_DMA;
	return ANGARA_ST_OK;
}

static u32 op_start(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    struct ang_op *op)
{
	if (op->opcode == ANGARA_OP_NOP)
		return ANGARA_ST_OK;
	return ang_is_coll(op->opcode) ? coll_start(v, n, c, op) :
					 p2p_start(v, n, c, op);
}

/* Return: set of earlier operations that have to end before this one starts. */
static u64 op_after(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct ang_op *op)
{
	bool fence = op->flags & ANGARA_WQE_FENCE;
	u64 all = ~0ULL >> (64 - v->fab->cfg.ops);
	u64 after = 0;
	u64 set;

	if (!fence && !(op->opcode == ANGARA_OP_SEND && c->held))
		return 0;
	set = all & ~c->free & ~c->ghosts;
	set &= ~(1ULL << ang_op_slot(n, c, op));
	for (; set; set &= set - 1) {
		u32 slot = ang_lowest(set);
		const struct ang_op *o = ang_op(n, c, slot);
		bool same = op->opcode == ANGARA_OP_NOP ||
			    ang_is_coll(o->opcode) || o->dst_node == op->dst_node;

		ang_work(v, ANG_WORK_LOOK);
		if (same && (fence || (o->state == ANG_OP_HELD &&
				       o->opcode == ANGARA_OP_SEND)))
			after |= 1ULL << slot;
	}
	return after;
}

/* Start an operation, or end it if it cannot start. */
static void op_begin(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_op *op, u32 status)
{
	u32 slot = ang_op_slot(n, c, op);

	if (!status)
		status = op_start(v, n, c, op);
	if (status) {
		/*
		 * The operation is not in the injection order of its tree yet,
		 * so end it as a NOP.
		 */
		ang_op_fail(op, status, op->err_node);
		op->opcode = ANGARA_OP_NOP;
	}
	if (op->opcode == ANGARA_OP_NOP)
		ang_op_done(v, n, c, op);
	else if (c->p2p_tx & 1ULL << slot && !ang_spent(v))
		ang_p2p_express(v, n, c, op);
}

/** ang_op_resume() - start one operation of ang_ctx.due */
void ang_op_resume(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	u64 bit = c->due & -c->due;
	struct ang_op *op = ang_op(n, c, ang_lowest(bit));

	c->held &= ~bit;
	c->due &= ~bit;
	op->state = ANG_OP_ACTIVE;
	op_begin(v, n, c, op, ANGARA_ST_OK);
}

/* Remove an entry and its payload from the queue. */
static inline void entries_done(struct ang_node *n, struct ang_ctx *c, u32 used)
{
	c->cnt.wqes++;
	c->sq_ci += used;
	ang_ctx_soil(n, c, ANG_DIRTY_SQ);
}

/* Read a context's next entry.  Return: ANGARA_ST_*; after an error @w is 0. */
static inline u32 entry_read(struct ang_view *v, struct ang_node *n,
			     struct ang_ctx *c, struct angara_wqe *w)
{
	ang_work(v, ANG_WORK_WQE);
	if (!read_sq(v, n, c, c->sq_ci, w, sizeof(*w)))
		return wqe_check(w);
	memset(w, 0, sizeof(*w));
	return ANGARA_ST_DMA;
}

/**
 * ang_fetch_small() - execute a context's next entry in a lane
 * @v: view
 * @n: node, not held
 * @c: context without pending operations
 * @lane: source lane of the context
 *
 * Return: true; false if the entry can be executed only by a view that holds
 * the node; then nothing was changed.
 */
bool ang_fetch_small(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_lane *lane)
{
	struct angara_wqe w;
	u32 used;

	if (!cq_room(v, n, c) || entry_read(v, n, c, &w))
		return false;
	used = ang_wqe_places(&w);
	if (c->sq_pi - c->sq_ci < used || ang_is_coll(w.opcode) ||
	    !ang_express_entry(v, n, c, lane, &w))
		return false;
	entries_done(n, c, used);
	return true;
}

/* Execute an entry at once.  Return: false: the entry has to become an operation. */
static bool entry_express(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
			  const struct angara_wqe *w)
{
	if (w->opcode == ANGARA_OP_BCAST)
		return ang_cast_entry(v, n, c, w);
	return ang_is_coll(w->opcode) ? ang_last_entry(v, n, c, w) :
					ang_express_entry(v, n, c, NULL, w);
}

/**
 * ang_fetch() - execute a context's next entry, or turn it into an operation
 * @v: view
 * @n: node
 * @c: context
 *
 * Return: true; false if the next entry cannot be fetched now.
 */
bool ang_fetch(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	struct angara_wqe w;
	struct ang_op *op;
	u32 status, used, slot;

	if (c->sq_ci == c->sq_pi || !c->free || !cq_room(v, n, c))
		return false;
	status = entry_read(v, n, c, &w);
	if (!status && w.flags & ANGARA_WQE_FENCE && ang_is_coll(w.opcode) &&
	    c->nops)
		return false;
	used = ang_wqe_places(&w);
	if (c->sq_pi - c->sq_ci < used) {
		used = 1;
		status = ANGARA_ST_DESC;
	}
	if (!status && !c->nops && entry_express(v, n, c, &w)) {
		entries_done(n, c, used);
		return true;
	}
	slot = ang_lowest(c->free);
	op = ang_op(n, c, slot);
	c->free &= ~(1ULL << slot);
	c->nops++;
	op_fill(op, &w, ++c->opgen);
	op->err_node = n->id;
	if (!status && used > 1) {
		op->inl = 1;
		status = ang_read_inline(v, n, c, ang_inline(v->fab, n, c, op),
					 (u32)ang_wqe_payload(&w));
	}
	entries_done(n, c, used);
	if (!status)
		op->after = op_after(v, n, c, op);
	if (op->after) {
		op->state = ANG_OP_HELD;
		c->held |= 1ULL << slot;
	} else {
		op_begin(v, n, c, op, status);
	}
	return true;
}
