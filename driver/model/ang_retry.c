// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Links with faults: packets are lost, corrupted, delayed and retransmitted.
 *
 * ang_fault.h defines the rules.  The view that holds the sending node emulates
 * both ends of the link and the wire, so no state is shared.  A link takes a
 * packet if the ring at the other end has room; the packet waits in that ring,
 * between ang_ring.tail and ang_ring.put, until the far end has taken all
 * packets of its train.  So the size of the rings and ANG_RETRY_TRAINS bound
 * the packets that a link keeps, and there is always room for a packet that
 * arrives.
 *
 * A link works in rounds.  All packets of the window reach the far end at
 * ang_retry.due; the far end takes the packets that are in order and have a
 * correct checksum, and sends one acknowledgement, which is subject to the same
 * faults.  If the acknowledgement reports a gap, or there is more to send, the
 * next round follows after the round-trip time.  If no acknowledgement arrives,
 * the next round follows ANG_RETRY_TIMEOUT cycles later than that.
 *
 * Time is the clock of the node.  When no other work is left, the clock jumps
 * to the next time at which a link is due, as for credits; see ang_sched.c.
 */
#include "ang_int.h"

#define WORK_FRAME	8U	/* units of work per packet, see ang_work.h */
#define FRAME_HEAD	((u32)offsetof(struct ang_frame, data))

/**
 * struct ang_frame - a packet on the wire
 * @head: head of its train
 * @seq: sequence number
 * @index: number of the packet in its train
 * @data: the packet's part of the payload, then the checksum of all bytes
 *	before
 */
struct ang_frame {
	struct ang_pkt head;
	u32 seq;
	u32 index;
	u8 data[ANGARA_PACKET_BYTES + sizeof(u32)];
};

static u32 frame_place(u8 at)
{
	return at % ANG_RETRY_TRAINS;
}

/* Return: the train whose packets the far end takes next.  @r: out: ring of the train. */
static struct ang_pkt *open_slot(struct ang_view *v, struct ang_port *port,
				 struct ang_ring **r)
{
	u32 vc = port->retry.vc[frame_place(port->retry.open)];

	*r = ang_ring(v->fab, ang_node(v->fab, port->peer), port->far, vc);
	return &(*r)->pkt[(*r)->tail & (v->fab->cfg.depth - 1U)];
}

/* Build the frame of a packet.  Return: bytes of payload in the frame. */
static u32 frame_fill(struct ang_view *v, struct ang_frame *f,
		      const struct ang_pkt *p, const struct ang_retry *r)
{
	u32 from = r->got * ANGARA_PACKET_BYTES;
	u32 len = p->buf && p->len > from ?
		  ang_min(p->len - from, ANGARA_PACKET_BYTES) : 0;
	u32 sum;

	memset(f, 0, sizeof(*f));
	f->head = *p;
	f->seq = r->want;
	f->index = r->got;
	if (len)
		memcpy(f->data, (char *)ang_buf_data(v, p->buf) + from, len);
	sum = ang_frame_sum(f, FRAME_HEAD + len);
	memcpy(f->data + len, &sum, sizeof(sum));
	return len;
}

/* Flip up to 32 consecutive bits of a frame, possibly of the checksum. */
static void frame_spoil(struct ang_frame *f, u32 len, u64 draw)
{
	u8 *at = (u8 *)f + (draw >> 32) % (len - 3);
	u32 bits = (u32)draw | 1, i;

	for (i = 0; i < 4; i++)
		at[i] ^= (u8)(bits >> 8 * i);
}

/* Does the checksum of a frame match? */
static bool frame_right(const struct ang_frame *f, u32 bytes)
{
	u32 sum;

	memcpy(&sum, f->data + bytes, sizeof(sum));
	return ang_frame_sum(f, FRAME_HEAD + bytes) == sum;
}

/*
 * Corrupt the packet that the far end expects, and check it there.  If the
 * checksum matched, the far end would take the corrupted payload.  That never
 * happens, since a CRC-32 detects any burst of up to 32 wrong bits.
 * Return: false if the packet is dropped.
 */
static bool spoilt_passes(struct ang_view *v, struct ang_port *port)
{
	struct ang_retry *r = &port->retry;
	struct ang_ring *ring;
	struct ang_pkt *p = open_slot(v, port, &ring);
	struct ang_frame f;
	u32 bytes = frame_fill(v, &f, p, r);
	u32 len = FRAME_HEAD + bytes + sizeof(u32);

	frame_spoil(&f, len, ang_fault_draw(&r->rng));
	ang_work(v, 4 * len);
	if (!frame_right(&f, bytes))
		return false;
	if (bytes)
		memcpy((char *)ang_buf_data(v, p->buf) +
		       r->got * ANGARA_PACKET_BYTES, f.data, bytes);
	return true;
}

/*
 * The far end takes the expected packet; the last packet completes its train.
 */
static void packet_take(struct ang_view *v, struct ang_port *port)
{
	struct ang_retry *r = &port->retry;
	struct ang_ring *ring;

	r->want = ang_seq_add(r->want, 1);
	if (++r->got < r->npkts[frame_place(r->open)])
		return;
	open_slot(v, port, &ring);
	ang_work(v, ANG_WORK_PKT);
	ang_link_arrive(v, port, r->vc[frame_place(r->open)], ring);
	r->got = 0;
	r->open++;
}

/*
 * Draw what happens to a packet or acknowledgement, and count losses. Return:
 * ANG_FATE_*.
 */
static u32 frame_fate(struct ang_retry *r)
{
	u32 what = ang_fault_fate(&r->fault, &r->rng);

	r->cnt.lost += what == ANG_FATE_LOST;
	return what;
}

/*
 * Deliver @many packets of the window; the link may lose some.  @missed: set to
 * true if the far end sees a gap.
 * Return: true if an acknowledgement arrives intact at the near end.
 */
static bool window_arrive(struct ang_view *v, struct ang_port *port, u32 many,
			  bool *missed)
{
	struct ang_retry *r = &port->retry;
	bool heard = false;
	u32 what, i;

	for (i = 0; i < many; i++) {
		u16 seq = ang_seq_add(r->base, i);
		bool next = seq == r->want;

		what = frame_fate(r);
		if (what == ANG_FATE_LOST)
			continue;
		if (what == ANG_FATE_CORRUPT && !(next && spoilt_passes(v, port))) {
			r->cnt.corrupt++;
			continue;
		}
		heard = true;
		if (next)
			packet_take(v, port);
		/*
		 * Packets after @want show a gap; packets before it are
		 * duplicates.
		 */
		else if (ang_retry_acked(r->want, ANG_RETRY_WINDOW, seq))
			*missed = true;
	}
	ang_work(v, many * WORK_FRAME);
	if (!heard)
		return false;
	what = frame_fate(r);
	r->cnt.corrupt += what == ANG_FATE_CORRUPT;
	return what == ANG_FATE_OK;
}

/* The near end releases acknowledged packets. */
static void acked_free(struct ang_retry *r, u32 many)
{
	r->base = ang_seq_add(r->base, many);
	r->held -= many;
	for (; many; many--) {
		if (++r->acked < r->npkts[frame_place(r->first)])
			continue;
		r->acked = 0;
		r->first++;
	}
}

/* One round of a link.  Return: false if the link has used up its retries. */
static bool link_round(struct ang_view *v, struct ang_node *n,
		       struct ang_port *port)
{
	struct ang_retry *r = &port->retry;
	u32 many = ang_min(r->held, ANG_RETRY_WINDOW);
	u32 old = r->held - r->fresh;
	bool missed = false;
	u32 acked = 0;
	bool heard;

	r->cnt.retransmitted += ang_min(old, many);
	if (many > old)
		r->fresh -= many - old;
	heard = window_arrive(v, port, many, &missed);
	if (heard)
		acked = ang_retry_acked(r->base, many, r->want);
	acked_free(r, acked);
	r->due = n->clock + 2ULL * r->fault.delay;
	r->tries = acked ? 0 : r->tries + 1;
	/*
	 * Send on at once if all is acknowledged, or the far end reported a
	 * gap.
	 */
	if (acked == many || (heard && missed))
		return r->tries < ANG_RETRY_TRIES;
	r->due += ANG_RETRY_TIMEOUT;
	r->cnt.timeouts++;
	return r->tries < ANG_RETRY_TRIES;
}

/** ang_retry_clear() - empty a link, and restart its sequence numbers */
void ang_retry_clear(struct ang_retry *r)
{
	r->due = 0;
	r->tries = 0;
	r->held = 0;
	r->fresh = 0;
	r->base = 0;
	r->want = 0;
	r->got = 0;
	r->acked = 0;
	r->first = 0;
	r->open = 0;
	r->end = 0;
}

/* Record that a link has no packets in flight any more. */
static void port_idle(struct ang_view *v, struct ang_node *n, u32 dir)
{
	struct ang_port *port = ang_port(v->fab, n, dir);

	n->retry_ports &= ~(1ULL << dir);
	if (ang_fault_none(&port->retry.fault))
		ang_flaw_clear(v->fab, port, ANG_FLAW_RETRY);
}

/**
 * ang_retry_flush() - drop the packets of a link that went down
 * @v: view
 * @n: node
 * @dir: port
 */
void ang_retry_flush(struct ang_view *v, struct ang_node *n, u32 dir)
{
	struct ang_port *port = ang_port(v->fab, n, dir);
	u32 depth = v->fab->cfg.depth;
	u32 vc;

	for (vc = 0; vc < ANGARA_VC_NUM; vc++) {
		struct ang_ring *r = ang_ring(v->fab, ang_node(v->fab, port->peer),
					      port->far, vc);

		for (; r->put != r->tail; r->put--) {
			struct ang_pkt *p = &r->pkt[(r->put - 1) & (depth - 1)];

			if (p->type != ANG_PKT_VOID)
				ang_drop(v, n, p, ANGARA_DROP_LINK, 1);
			ang_work(v, ANG_WORK_PKT);
		}
	}
	ang_retry_clear(&port->retry);
	port_idle(v, n, dir);
}

/*
 * Run a round of a link if it is due.
 * Return: true if the link was emptied or made progress.
 */
static bool port_turn(struct ang_view *v, struct ang_node *n, u32 dir)
{
	struct ang_port *port = ang_port(v->fab, n, dir);
	struct ang_retry *r = &port->retry;

	if (READ_ONCE(port->flaws) & ANG_FLAW_DOWN)
		ang_retry_flush(v, n, dir);
	else if (r->due > n->clock)
		return false;
	else if (!link_round(v, n, port))
		ang_link_down(v, n, dir);
	if (!r->held)
		port_idle(v, n, dir);
	return true;
}

/*
 * Return: clock at which the first of the links with packets in flight is due, at
 * least 1.  There is such a link.
 */
static u64 first_due(struct ang_view *v, struct ang_node *n)
{
	u64 set = n->retry_ports;
	u64 due = ~0ULL;

	for (; set; set &= set - 1) {
		u64 at = ang_port(v->fab, n, ang_lowest(set))->retry.due;

		if (at < due)
			due = at;
	}
	return due ? due : 1;
}

/**
 * ang_retry_step() - advance links with faults
 * @v: view
 * @n: node with packets in flight on its links; ang_node.at is the port to
 *	continue with
 *
 * Runs a round of each link that is due.
 *
 * Return: true if work was done or is left.
 */
bool ang_retry_step(struct ang_view *v, struct ang_node *n)
{
	bool progress = false;
	u32 dir = n->at;

	for (n->at = 0; dir < v->fab->nports; dir++) {
		if (!(n->retry_ports >> dir & 1))
			continue;
		if (progress && ang_spent(v)) {
			n->at = dir;
			return true;
		}
		progress |= port_turn(v, n, dir);
	}
	if (n->retry_ports) {
		n->retry_due = first_due(v, n);
		ang_retry_timer(v, n);
	}
	return progress;
}

/**
 * ang_retry_put() - note that a link with faults has taken a train
 * @n: node
 * @port: port by which the train leaves; ang_retry_room() is true
 * @npkts: packets of the train, which is the last in its ring
 * @dir: number of the port
 * @vc: virtual channel
 */
void ang_retry_put(struct ang_node *n, struct ang_port *port, u32 npkts, u32 dir,
		   u32 vc)
{
	struct ang_retry *r = &port->retry;

	r->vc[frame_place(r->end)] = (u8)vc;
	r->npkts[frame_place(r->end)] = (u8)npkts;
	if (!r->held)
		r->due = n->clock + r->fault.delay;
	r->end++;
	r->held += npkts;
	r->fresh += npkts;
	n->retry_ports |= 1ULL << dir;
}
