// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages, at the receiver: the receive buffer, and senders that wait for
 * room.
 *
 * The first train of a message allocates a contiguous record; the payload of
 * the later trains is written there, and the last train makes the record valid.
 * The unit after a record is cleared before the record is allocated, so the
 * process never takes old payload for a record.  The device reads nothing from
 * the buffer, and uses the process's index only to determine how much room is
 * free.
 *
 * If there is no room for a message, the message is refused (RNR), so requests
 * never wait.  The receiver keeps one bit per node of the fabric, or per group
 * of nodes if there are more than 4096 nodes (2048 if some are remote), whatever
 * the number of waiting messages; the sender's adapter keeps the messages
 * (ang_send.c).  When there is room, the waiting nodes have turns, one at a time
 * and round robin: a READY lets the node send the message that has waited
 * longest for this receiver.  The next node has its turn when the receiver has
 * taken the first train of that message, or when the node has answered that it
 * has no message.  So neither a long message nor a distant node starves.  No timer
 * is needed, because of this order:
 *
 *   receiver stores ANGARA_CTR_MSG_WAIT | process stores msg_ci
 *   full barrier                        | full barrier
 *   receiver reads msg_ci               | process reads ANGARA_CTR_MSG_WAIT
 *
 * Either the receiver sees the room, or the process sees that a sender waits,
 * and rings the doorbell.  When a context is destroyed, nodes that wait for
 * room still get a READY, and their messages end with an error.
 *
 * A remote node may never answer its READY.  So the context waits for an answer
 * only if the remote node is known to wait: in this life of the context, the
 * context has refused a message of the node in the right partition and job, or
 * the node has answered such a READY and has more messages.  In large fabrics,
 * where nodes form groups, one such node makes its whole group known.  Other
 * remote nodes may wait for an earlier life, or only claim to wait: they get a
 * READY, and the next node has its turn at once.
 */
#include "ang_int.h"

#define AREA_LOG2_MIN	14
#define AREA_LOG2_MAX	22
#define UNIT		ANGARA_MSG_UNIT

static u32 record_units(u32 length)
{
	return 1 + (length + UNIT - 1) / UNIT;
}

/*
 * Return: units to skip if @units do not fit before the end of the buffer; else
 * 0.
 */
static u32 pad_units(const struct ang_area *a, u32 units)
{
	u32 at = a->pi & (a->units - 1);

	return at + units > a->units ? a->units - at : 0;
}

/* Is there room for a record, and for the cleared unit after it? */
static bool record_fits(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
			u32 units)
{
	struct ang_area *a = &c->area;
	u32 need = pad_units(a, units) + units + 1;
	__le32 raw;
	u32 ci;

	if (a->units - (a->pi - a->ci) >= need)
		return true;
	if (ang_dma_read(v, n, c->ctl + offsetof(struct angara_ctl, msg_ci), &raw,
			     sizeof(raw)))
		return false;
	ci = le32_to_cpu(raw);
	if (a->pi - ci > a->units)
		return false;
	a->ci = ci;
	return a->units - (a->pi - ci) >= need;
}

static struct ang_part *part_free(struct ang_area *a)
{
	u32 i;

	for (i = 0; i < ANG_PARTS; i++)
		if (!a->part[i].used)
			return &a->part[i];
	return NULL;
}

static u64 place_byte(const struct ang_area *a, u32 place)
{
	return (u64)(place & (a->units - 1)) * UNIT;
}

static int area_write(struct ang_view *v, struct ang_node *n,
		      struct ang_ctx *c, u64 byte, const void *data, u32 len)
{
	const char *from = data;

	while (len) {
		u32 room = ang_min(len, ANGARA_PAGE_SIZE -
				   (u32)(byte % ANGARA_PAGE_SIZE));
		u64 addr;

		if (ang_pages_at(v, n, &c->area.pages, byte, &addr) ||
		    ang_dma_write(v, n, addr, from, room))
			return -1;
		from += room;
		byte += room;
		len -= room;
	}
	return 0;
}

/* Write the last word of a record's head, which holds the record's kind. */
static int record_mark(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		       u32 place, u32 length, u32 kind)
{
	struct angara_msg head = {
		.length = cpu_to_le32(length),
		.kind = (u8)kind,
	};
	__le64 last;
	u64 addr;

	memcpy(&last, (const char *)&head + offsetof(struct angara_msg, length),
	       sizeof(last));
	if (ang_pages_at(v, n, &c->area.pages, place_byte(&c->area, place),
			 &addr))
		return -1;
	return ang_store64(v, n, addr + offsetof(struct angara_msg, length),
			   le64_to_cpu(last));
}

static int record_publish(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
			  u32 place, u32 length, u32 kind)
{
	int rc = record_mark(v, n, c, place, length, kind);

	ang_ctx_event(n, c);
	c->cnt.rx_msgs += !rc && kind == ANGARA_MSG_DATA;
	return rc;
}

static void msg_wait_set(struct ang_view *v, struct ang_node *n,
			 struct ang_ctx *c, u32 wait)
{
	ang_store64(v, n, c->ctr + 8 * ANGARA_CTR_MSG_WAIT, wait);
	c->area.notified = (u8)wait;
}

/* Note that a waiting node may have to get a READY: the context's turn checks this. */
void ang_msg_wake_later(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	c->wake = 1;
	ang_set_bit(n->tx, c->id);
}

/*
 * Return: maximum number of groups.  With remote nodes, the second half of
 * ang_ctx.waiting has the groups that are known to wait.
 */
static u32 groups_most(const struct ang_fabric *fab)
{
	return fab->cfg.remote ? ANG_WAIT_GROUPS / 2 : ANG_WAIT_GROUPS;
}

static u32 group_shift(const struct ang_fabric *fab)
{
	u32 shift = 0;

	while ((fab->cfg.topo.nodes - 1) >> shift >= groups_most(fab))
		shift++;
	return shift;
}

/* Note that a node waits.  @known: it is known to wait, see the head of this file. */
static void wait_add(struct ang_fabric *fab, struct ang_ctx *c, u32 node, bool known)
{
	u32 group = node >> group_shift(fab);
	u32 bit = group + groups_most(fab);

	c->waiting[group / 64] |= 1ULL << (group % 64);
	c->wait_words |= 1ULL << (group / 64);
	if (known && fab->cfg.remote)
		c->waiting[bit / 64] |= 1ULL << (bit % 64);
}

/* Forget that a group is known to wait.  Return: whether it was known. */
static bool known_clear(struct ang_fabric *fab, struct ang_ctx *c, u32 group)
{
	u32 bit = group + groups_most(fab);
	u64 mask = 1ULL << (bit % 64);
	bool known;

	if (!fab->cfg.remote)
		return true;
	known = c->waiting[bit / 64] & mask;
	c->waiting[bit / 64] &= ~mask;
	return known;
}

/* Give the turn to the next waiting group of nodes.  There is at least one. */
static void turn_take(struct ang_fabric *fab, struct ang_ctx *c)
{
	struct ang_area *a = &c->area;
	u32 shift = group_shift(fab);
	u32 w = c->wait_at / 64;
	u64 set = c->waiting[w] & (~0ULL << (c->wait_at % 64));
	u64 after = c->wait_words & ~((2ULL << w) - 1);
	u32 group;

	if (!set) {
		w = ang_lowest(after ? after : c->wait_words);
		set = c->waiting[w];
	}
	group = w * 64 + ang_lowest(set);
	c->waiting[w] &= ~(1ULL << (group % 64));
	if (!c->waiting[w])
		c->wait_words &= ~(1ULL << w);
	c->wait_at = (group + 1) % groups_most(fab);
	a->turn = (group << shift) + 1;
	a->turn_end = ang_min((group + 1) << shift, fab->cfg.topo.nodes);
	a->known = known_clear(fab, c, group);
	a->need = 1;
	a->due = 1;
}

static void turn_pass(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	struct ang_area *a = &c->area;

	a->due = a->turn < a->turn_end;
	a->turn = a->due ? a->turn + 1 : 0;
	a->need = 1;
	ang_msg_wake_later(v, n, c);
}

/* End the turn of a node that has not sent yet: add it to the waiting nodes again. */
static void turn_back(struct ang_fabric *fab, struct ang_ctx *c)
{
	if (c->area.turn)
		wait_add(fab, c, c->area.turn - 1, false);
	c->area.turn = 0;
}

/*
 * Allocate a record and write the first train to it.  After an error no record
 * is allocated, but a PAD record may have been written at the end of the
 * buffer.
 */
static u32 record_put(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      const struct ang_pkt *p, bool whole)
{
	const char *buf = ang_buf_data(v, p->buf);
	struct ang_area *a = &c->area;
	u32 units = record_units((u32)p->key);
	u32 pad = pad_units(a, units);
	u32 place = a->pi + pad;
	struct angara_msg head;

	memset(&head, 0, sizeof(head));
	memcpy(&head.tag, buf, 8);
	memcpy(&head.imm, buf + 8, 8);
	head.node = cpu_to_le32(p->src_node);
	head.ctx = cpu_to_le16(p->src_ctx);
	head.code = cpu_to_le16(p->counter);
	if (record_mark(v, n, c, place + units, 0, ANGARA_MSG_NONE) ||
	    (pad && record_mark(v, n, c, place, 0, ANGARA_MSG_NONE)) ||
	    area_write(v, n, c, place_byte(a, place), &head,
		       offsetof(struct angara_msg, length)) ||
	    area_write(v, n, c, place_byte(a, place) + UNIT,
		       buf + ANG_SEND_HEAD, p->len - ANG_SEND_HEAD))
		return ANGARA_ST_DMA;
	if (pad && record_publish(v, n, c, a->pi, (pad - 1) * UNIT, ANGARA_MSG_PAD))
		return ANGARA_ST_DMA;
	a->pi = place;
	if (whole && record_publish(v, n, c, place, (u32)p->key, ANGARA_MSG_DATA))
		return ANGARA_ST_DMA;
	a->pi = place + units;
	return ANGARA_ST_OK;
}

/*
 * Is there room for a message? If not, notify the process that a sender waits
 * for room.
 */
static bool may_enter(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      u32 units, bool whole, bool turn)
{
	struct ang_area *a = &c->area;

	if (!turn && (a->turn || c->wait_words))
		return false;
	if (!whole && !part_free(a))
		return false;
	if (record_fits(v, n, c, units))
		return true;
	if (a->notified)
		return false;
	msg_wait_set(v, n, c, 1);
	ang_mb();
	return record_fits(v, n, c, units);
}

static void record_refuse(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
			  const struct ang_pkt *p, struct ang_pkt *reply, bool turn)
{
	struct ang_area *a = &c->area;

	if (turn) {
		a->need = record_units((u32)p->key);
		a->due = 1;
	} else {
		wait_add(v->fab, c, p->src_node, true);
	}
	if (!a->notified)
		msg_wait_set(v, n, c, 1);
	reply->type = ANG_PKT_RNR;
	reply->life = c->life;
	c->cnt.not_ready++;
	ang_msg_wake_later(v, n, c);
}

/* Checks the first train of a message: its lengths and its turn.  Return: ANGARA_ST_*. */
static u32 first_check(const struct ang_ctx *c, const struct ang_pkt *p)
{
	u32 len = p->len - ANG_SEND_HEAD;
	bool last = p->flags & ANG_PF_LAST;

	if (p->status)
		return ANGARA_ST_OK;
	if (p->len < ANG_SEND_HEAD || p->key > ANGARA_MAX_MSG ||
	    len > p->key || last != (len == p->key) || !p->buf)
		return ANGARA_ST_DESC;
	/*
	 * ANGARA_ST_TARGET: the READY came from an earlier context of this
	 * number.
	 */
	return p->flags & ANG_PF_TURN && p->life != c->life ?
	       ANGARA_ST_TARGET : ANGARA_ST_OK;
}

static u32 first_take(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      const struct ang_pkt *p, struct ang_pkt *reply)
{
	struct ang_area *a = &c->area;
	bool whole = p->flags & ANG_PF_LAST;
	bool turn = p->flags & ANG_PF_TURN && !a->due &&
		    a->turn == p->src_node + 1;
	struct ang_part *part;
	u32 status;

	status = first_check(c, p);
	if (!status && !p->status) {
		if (!may_enter(v, n, c, record_units((u32)p->key), whole, turn)) {
			record_refuse(v, n, c, p, reply, turn);
			return ANGARA_ST_OK;
		}
		status = record_put(v, n, c, p, whole);
	}
	if (turn)
		turn_pass(v, n, c);
	/*
	 * The process was notified that a sender waits; now there may be room
	 * for that sender.
	 */
	if (a->notified)
		ang_msg_wake_later(v, n, c);
	if (status || p->status)
		return status;
	reply->off = a->pi - record_units((u32)p->key);
	if (whole)
		return ANGARA_ST_OK;
	part = part_free(a);
	part->used = 1;
	part->place = (u32)reply->off;
	part->node = p->src_node;
	part->ctx = p->src_ctx;
	part->slot = p->slot;
	part->gen = p->gen;
	part->length = (u32)p->key;
	part->got = p->len - ANG_SEND_HEAD;
	return ANGARA_ST_OK;
}

static void part_end(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     struct ang_part *part)
{
	part->used = 0;
	if (c->area.notified)
		ang_msg_wake_later(v, n, c);
}

static void part_void(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		      struct ang_part *part)
{
	record_publish(v, n, c, part->place, part->length, ANGARA_MSG_VOID);
	part_end(v, n, c, part);
}

static struct ang_part *part_find(struct ang_area *a, const struct ang_pkt *p)
{
	u32 i;

	for (i = 0; i < ANG_PARTS; i++) {
		struct ang_part *part = &a->part[i];

		if (part->used && part->place == p->off &&
		    part->node == p->src_node && part->ctx == p->src_ctx &&
		    part->slot == p->slot && part->gen == p->gen)
			return part;
	}
	return NULL;
}

static u32 rest_take(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     const struct ang_pkt *p)
{
	struct ang_area *a = &c->area;
	struct ang_part *part = part_find(a, p);
	bool last = p->flags & ANG_PF_LAST;
	u32 status = ANGARA_ST_OK;

	if (!part)
		return ANGARA_ST_TARGET;
	if (p->status) {
		part_void(v, n, c, part);
		return ANGARA_ST_OK;
	}
	if (p->seq != part->got || !p->buf || !p->len ||
	    p->len > part->length - part->got ||
	    last != (p->len == part->length - part->got))
		status = ANGARA_ST_DESC;
	else if (area_write(v, n, c, place_byte(a, part->place) + UNIT +
			    part->got, ang_buf_data(v, p->buf), p->len))
		status = ANGARA_ST_DMA;
	if (status) {
		part_void(v, n, c, part);
		return status;
	}
	part->got += p->len;
	if (!last)
		return ANGARA_ST_OK;
	part_end(v, n, c, part);
	return record_publish(v, n, c, part->place, part->length, ANGARA_MSG_DATA) ?
	       ANGARA_ST_DMA : ANGARA_ST_OK;
}

/**
 * ang_msg_take() - take a train of a message at the receiver
 * @v: view
 * @n: node
 * @c: receiver
 * @p: train
 * @reply: answer; out: place of the record in @off, or type RNR if the message is
 *	refused
 *
 * Return: ANGARA_ST_*.
 */
u32 ang_msg_take(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 const struct ang_pkt *p, struct ang_pkt *reply)
{
	if (!c->area.units)
		return ANGARA_ST_ACCESS;
	return p->seq ? rest_take(v, n, c, p) : first_take(v, n, c, p, reply);
}

static bool is_lost(struct ang_view *v, struct ang_node *n, u32 node)
{
	return ang_lost_between(v, n, node) != ANG_NONE;
}

/* Must the node that has the turn answer its READY before another node has a turn? */
static bool turn_stays(const struct ang_view *v, const struct ang_area *a)
{
	return a->known ||
	       ang_node(v->fab, a->turn - 1)->remote == ANG_REMOTE_NO;
}

/**
 * ang_msg_wake() - send a READY to the next waiting node, if there is room
 * @v: view
 * @n: node
 * @c: context; it may have been destroyed
 *
 * Return: true if a node was notified.
 */
bool ang_msg_wake(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	struct ang_area *a = &c->area;
	bool live = c->alive && a->units;
	struct ang_pkt p;
	u32 dir;

	c->wake = 0;
	if (a->ready_out)
		return false;
	if (!a->turn && !c->wait_words) {
		if (a->notified)
			msg_wait_set(v, n, c, 0);
		return false;
	}
	if (!a->turn)
		turn_take(v->fab, c);
	/*
	 * The senders may wait for an earlier context of this number.  Then the
	 * process of this context is not notified yet.
	 */
	if (live && !a->notified) {
		msg_wait_set(v, n, c, 1);
		ang_mb();
	}
	if (!a->due || (live && (!part_free(a) || !record_fits(v, n, c, a->need))))
		return false;
	if (READ_ONCE(v->fab->broken) && is_lost(v, n, a->turn - 1)) {
		turn_pass(v, n, c);
		return true;
	}
	if (!ang_may_leave(v, n, a->turn - 1, ANGARA_VC_REQ, &dir)) {
		c->wake = 1;
		return false;
	}
	memset(&p, 0, sizeof(p));
	p.type = ANG_PKT_READY;
	p.flags = ANG_PF_LAST;
	p.npkts = 1;
	p.src_node = n->id;
	p.src_ctx = (u16)c->id;
	p.dst_node = a->turn - 1;
	p.life = c->life;
	p.bytes = READ_ONCE(v->fab->lost);
	a->due = 0;
	if (live && turn_stays(v, a))
		a->ready_out = a->turn;
	else
		turn_pass(v, n, c);
	ang_request(v, n, &p, dir);
	return true;
}

/** ang_msg_ready_ack() - handle the answer of a node to a READY */
void ang_msg_ready_ack(struct ang_view *v, struct ang_node *n,
		       const struct ang_pkt *p)
{
	struct ang_ctx *c;
	bool awaited;

	if (p->dst_ctx >= v->fab->cfg.ctxs) {
		ang_drop(v, n, p, ANGARA_DROP_TARGET, 1);
		return;
	}
	c = ang_ctx(v->fab, n, p->dst_ctx);
	awaited = c->alive && c->life == p->life &&
		  c->area.ready_out == p->src_node + 1;
	/*
	 * Do this even if the context was destroyed, since all waiting nodes
	 * get a READY.
	 */
	if (p->flags & ANG_PF_MORE)
		wait_add(v->fab, c, p->src_node, awaited);
	if (awaited) {
		c->area.ready_out = 0;
		if (!p->len && c->area.turn == p->src_node + 1)
			turn_pass(v, n, c);
	}
	ang_msg_wake_later(v, n, c);
}

/**
 * ang_msg_area() - ANGARA_ADM_MSG_AREA
 * @v: view
 * @n: node
 * @ctx: number
 * @arg: argument of the command
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_msg_area(struct ang_view *v, struct ang_node *n, u32 ctx,
		 const struct angara_adm_msg *arg)
{
	struct ang_ctx *c = ang_ctx_get(v, n, ctx);
	u32 i;

	if (!c)
		return ANGARA_ADM_ST_ABSENT;
	if (c->area.units)
		return ANGARA_ADM_ST_EXISTS;
	for (i = 0; i < sizeof(arg->reserved); i++)
		if (arg->reserved[i])
			return ANGARA_ADM_ST_PARAM;
	if (arg->log2 < AREA_LOG2_MIN || arg->log2 > AREA_LOG2_MAX)
		return ANGARA_ADM_ST_PARAM;
	c->area.pages.list = le64_to_cpu(arg->pages);
	c->area.units = (1U << arg->log2) / UNIT;
	/* Senders may wait since an earlier context of this number refused them. */
	if (c->area.turn || c->wait_words) {
		msg_wait_set(v, n, c, 1);
		ang_msg_wake_later(v, n, c);
	}
	return ANGARA_ADM_ST_OK;
}

/*
 * ang_msg_create() - initialize the receive buffer of a new context; nodes may
 * still wait for room in the buffer of an earlier context of this number
 */
void ang_msg_create(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	c->life++;
	/* No node is known to wait for this life. */
	if (v->fab->cfg.remote)
		memset((char *)c->waiting + sizeof(c->waiting) / 2, 0,
		       sizeof(c->waiting) / 2);
	if (c->wait_words)
		ang_msg_wake_later(v, n, c);
}

/*
 * ang_msg_destroy() - end a receive buffer, and notify nodes that wait for room
 * in it
 */
void ang_msg_destroy(struct ang_view *v, struct ang_node *n, struct ang_ctx *c)
{
	turn_back(v->fab, c);
	memset(&c->area, 0, sizeof(c->area));
	if (c->wait_words)
		ang_msg_wake_later(v, n, c);
}

/**
 * ang_msg_lost() - handle the loss of nodes at a receiver
 * @v: view
 * @n: node
 * @c: context
 * @place: what to check, below ANG_MSG_PLACES: one of ang_area.part, the turn,
 *	or the outstanding READY
 *
 * A message that a lost node has begun becomes a VOID record.  If a lost node has
 * the turn, the next node gets the turn.
 */
void ang_msg_lost(struct ang_view *v, struct ang_node *n, struct ang_ctx *c, u32 place)
{
	struct ang_area *a = &c->area;

	if (place < ANG_PARTS) {
		if (a->part[place].used && is_lost(v, n, a->part[place].node))
			part_void(v, n, c, &a->part[place]);
	} else if (place == ANG_PARTS) {
		if (a->ready_out && is_lost(v, n, a->ready_out - 1))
			a->ready_out = 0;
	} else {
		if (a->turn && is_lost(v, n, a->turn - 1))
			turn_pass(v, n, c);
		if (a->notified)
			ang_msg_wake_later(v, n, c);
	}
}
