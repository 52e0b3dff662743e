// SPDX-License-Identifier: GPL-2.0-only
/*
 * The links to one other server.
 *
 * Out: packets in the rings of the other side's nodes become numbered frames,
 * which are kept until the other side acknowledges them.  A channel has at most
 * WIRE_WINDOW packets in flight; further packets stay in the ring, and the
 * fabric waits as for any link.  This bounds the kept frames, too: the frame that
 * reports packets as taken (WIRE_TAKEN) must also acknowledge them.
 *
 * Management packets have no channel.  The sender keeps at most MAX_MGMT_FRAMES of
 * them and drops further ones; the receiver drops those for which it has no room.
 *
 * In: packets wait in a FIFO per channel until the model has room and a buffer;
 * only then may the other side send a further packet.  Channels never wait for
 * each other, except that a contribution to a reduction does not pass earlier
 * packets on the channel UP of its tree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

#define MAX_TAKEN_FRAMES	8U	/* most WIRE_TAKEN frames in flight */
#define TAKEN_PER_FRAME		64U
#define MAX_MGMT_FRAMES		64U	/* most WIRE_MGMT frames in flight */

static bool is_ours(const struct link *l, u32 node)
{
	return ang_node(l->view->fab, node)->remote == ANG_REMOTE_NO;
}

/*
 * Find the links between local and remote nodes; without the arrays, count them.
 */
static void find_links(struct link *l, const bool *theirs)
{
	const struct ang_topo *topo = &l->view->topo;
	u32 node, dir;

	l->num_in = l->num_out = l->num_nodes = 0;
	for (node = 0; node < topo->routers; node++) {
		bool wanted = theirs[ang_topo_keeper(topo, node)];
		u32 before = l->num_out;

		for (dir = 0; wanted && dir < topo->nports; dir++) {
			u32 far, to = ang_topo_peer(topo, node, dir, &far);

			if (to == ANG_NONE || !is_ours(l, to))
				continue;
			if (l->out) {
				l->out[l->num_out].node = node;
				l->out[l->num_out].dir = dir;
				l->in[l->num_in].node = to;
				l->in[l->num_in].dir = far;
				l->in[l->num_in].from = node;
				l->in[l->num_in].from_dir = dir;
			}
			l->num_out++;
			l->num_in++;
		}
		if (l->num_out == before)
			continue;
		if (l->nodes)
			l->nodes[l->num_nodes] = node;
		l->num_nodes++;
	}
}

/**
 * link_init() - find the links to another server
 * @l: out
 * @view: view of the fabric
 * @theirs: nodes of that server
 *
 * Return: 0 or -ENOMEM.
 */
int link_init(struct link *l, struct ang_view *view, const bool *theirs)
{
	u32 i, c;

	memset(l, 0, sizeof(*l));
	l->view = view;
	l->tail = &l->head;
	find_links(l, theirs);
	l->out = calloc(l->num_out + 1, sizeof(*l->out));
	l->in = calloc(l->num_in + 1, sizeof(*l->in));
	l->nodes = calloc(l->num_nodes + 1, sizeof(*l->nodes));
	if (!l->out || !l->in || !l->nodes) {
		link_free(l);
		return -ENOMEM;
	}
	find_links(l, theirs);
	for (i = 0; i < l->num_in; i++)
		for (c = 0; c < WIRE_CHANNELS; c++)
			l->in[i].ch[c].tail = &l->in[i].ch[c].head;
	return 0;
}

static void frames_free(struct link *l)
{
	while (l->head) {
		struct link_frame *f = l->head;

		l->head = f->next;
		free(f);
	}
	l->tail = &l->head;
	l->next = NULL;
	l->frames_packet = 0;
}

static struct link_packet *channel_pop(struct link_channel *ch)
{
	struct link_packet *p = ch->head;

	ch->head = p->next;
	if (!ch->head)
		ch->tail = &ch->head;
	ch->count--;
	ch->taken++;
	return p;
}

void link_free(struct link *l)
{
	u32 i, c;

	frames_free(l);
	for (i = 0; l->in && i < l->num_in; i++)
		for (c = 0; c < WIRE_CHANNELS; c++)
			while (l->in[i].ch[c].head)
				free(channel_pop(&l->in[i].ch[c]));
	free(l->in);
	free(l->out);
	free(l->nodes);
	memset(l, 0, sizeof(*l));
}

/* Allocate a frame with @length bytes of body; NULL: out of memory. */
static struct link_frame *frame_new(u32 length)
{
	u32 size = (u32)sizeof(struct wire_head) + length;
	struct link_frame *f = malloc(sizeof(*f) + size);

	if (f) {
		f->next = NULL;
		f->size = size;
	}
	return f;
}

static void *frame_body(struct link_frame *f)
{
	return f->bytes + sizeof(struct wire_head);
}

static u32 frame_type(const struct link_frame *f)
{
	return ((const struct wire_head *)f->bytes)->type;
}

static void frame_add(struct link *l, struct link_frame *f, u32 type)
{
	f->seq = ++l->sent;
	wire_seal(f->bytes, type, f->size - (u32)sizeof(struct wire_head),
		  f->seq, l->seen);
	*l->tail = f;
	l->tail = &f->next;
	if (!l->next)
		l->next = f;
}

static void ring_collect(struct link *l, struct link_out *o, u32 vc)
{
	const struct ang_pkt *p;
	const void *data;

	while ((p = ang_remote_head(l->view, o->node, o->dir, vc, &data))) {
		u32 *used = &o->used[wire_channel(p, vc)];
		u32 len = data ? p->len : 0;
		struct wire_packet *w;
		struct link_frame *f;

		if (*used == WIRE_WINDOW)
			return;
		f = frame_new((u32)sizeof(*w) + len);
		if (!f)
			return;
		w = frame_body(f);
		wire_packet_put(w, o->node, o->dir, vc, p);
		if (len)
			memcpy(w + 1, data, len);
		frame_add(l, f, WIRE_PACKET);
		++*used;
		l->used++;
		l->frames_packet++;
		l->packets_out++;
		ang_remote_pop(l->view, o->node, o->dir, vc);
	}
}

/*
 * Make frames of management packets.  Drop packets if MAX_MGMT_FRAMES are
 * unacknowledged, or memory is lacking.
 */
static void mgmt_collect(struct link *l, const struct link_out *o)
{
	struct wire_mgmt w = { .node = cpu_to_le32(o->node), .dir = (u8)o->dir };
	struct link_frame *f;

	while (ang_remote_mgmt_take(l->view, o->node, o->dir, &w.pkt)) {
		f = l->frames_mgmt < MAX_MGMT_FRAMES ? frame_new(sizeof(w)) : NULL;
		if (!f)
			continue;
		memcpy(frame_body(f), &w, sizeof(w));
		frame_add(l, f, WIRE_MGMT);
		l->frames_mgmt++;
	}
}

static void look(struct link *l)
{
	u32 i;

	for (i = 0; i < l->num_nodes; i++)
		ang_remote_look(l->view, l->nodes[i]);
}

/** link_collect() - make frames of the packets for the other side */
void link_collect(struct link *l)
{
	u32 i, vc;

	look(l);
	for (i = 0; i < l->num_out; i++) {
		for (vc = 0; vc < ANGARA_VC_NUM; vc++)
			ring_collect(l, &l->out[i], vc);
		mgmt_collect(l, &l->out[i]);
	}
}

/** link_drop() - empty the rings of a lost server's nodes */
void link_drop(struct link *l)
{
	struct angara_mgmt mgmt;
	const void *data;
	u32 i, vc;

	look(l);
	for (i = 0; i < l->num_out; i++) {
		for (vc = 0; vc < ANGARA_VC_NUM; vc++)
			while (ang_remote_head(l->view, l->out[i].node,
					       l->out[i].dir, vc, &data))
				ang_remote_pop(l->view, l->out[i].node,
					       l->out[i].dir, vc);
		while (ang_remote_mgmt_take(l->view, l->out[i].node, l->out[i].dir,
					    &mgmt))
			;
	}
	frames_free(l);
}

/* Does a packet wait on the channel UP that @p must not pass? */
static bool must_follow(const struct link_in *in, const struct link_packet *p)
{
	const struct link_packet *q;

	for (q = in->ch[WIRE_CH_UP].head; q; q = q->next)
		if (q->pkt.tree == p->pkt.tree && q->seq < p->seq)
			return true;
	return false;
}

static void channel_deliver(struct link *l, struct link_in *in, u32 c)
{
	struct link_channel *ch = &in->ch[c];

	while (ch->head) {
		struct link_packet *p = ch->head;

		if (c >= WIRE_CH_RED(0) && must_follow(in, p))
			return;
		if (!ang_remote_give(l->view, in->from, in->from_dir, p->vc,
				     &p->pkt, p->len ? p->data : NULL))
			return;
		free(channel_pop(ch));
	}
}

/* Report to the other side which channels have room again. */
static void tell_taken(struct link *l)
{
	struct wire_taken list[TAKEN_PER_FRAME];
	struct link_frame *f;
	u32 n = 0;
	u32 i, c;

	for (i = 0; i < l->num_in && n < TAKEN_PER_FRAME; i++)
		for (c = 0; c < WIRE_CHANNELS && n < TAKEN_PER_FRAME; c++)
			if (l->in[i].ch[c].taken)
				list[n++] = (struct wire_taken){
					.node = cpu_to_le32(l->in[i].node),
					.dir = (u8)l->in[i].dir,
					.channel = (u8)c,
					.count = cpu_to_le16((u16)
						l->in[i].ch[c].taken),
				};
	f = n ? frame_new(n * (u32)sizeof(list[0])) : NULL;
	if (!f)
		return;
	memcpy(frame_body(f), list, n * sizeof(list[0]));
	for (i = 0; i < l->num_in && n; i++)
		for (c = 0; c < WIRE_CHANNELS && n; c++)
			if (l->in[i].ch[c].taken) {
				l->in[i].ch[c].taken = 0;
				n--;
			}
	frame_add(l, f, WIRE_TAKEN);
	l->frames_taken++;
}

/**
 * link_deliver() - move arrived packets into the fabric, as far as there is
 * room
 */
void link_deliver(struct link *l)
{
	u32 i, c;

	for (i = 0; i < l->num_in; i++)
		for (c = 0; c < WIRE_CHANNELS; c++)
			channel_deliver(l, &l->in[i], c);
	if (l->frames_taken < MAX_TAKEN_FRAMES)
		tell_taken(l);
}

/* Return: the link that ends at this port of a local node, or NULL. */
static struct link_in *in_find(struct link *l, u32 node, u32 dir)
{
	u32 i;

	for (i = 0; i < l->num_in; i++)
		if (l->in[i].node == node && l->in[i].dir == dir)
			return &l->in[i];
	return NULL;
}

static const char *packet_arrives(struct link *l, const struct wire_head *h,
				  const void *body)
{
	u32 len = le32_to_cpu(h->length) - (u32)sizeof(struct wire_packet);
	struct link_channel *ch;
	struct link_packet *p;
	struct wire_packet w;
	struct link_in *in;
	const char *flaw;

	memcpy(&w, body, sizeof(w));
	in = in_find(l, le32_to_cpu(w.node), w.dir);
	if (!in)
		return "a packet for a link that does not exist";
	p = malloc(sizeof(*p) + len);
	if (!p)
		return "a packet that exceeds the server's memory";
	wire_packet_get(&w, &p->pkt);
	flaw = ang_remote_flaw(l->view, in->from, in->from_dir, w.vc,
			       &p->pkt, len);
	if (!flaw) {
		ch = &in->ch[wire_channel(&p->pkt, w.vc)];
		if (ch->count + ch->taken >= WIRE_WINDOW)
			flaw = "a packet beyond the free room of its channel";
	}
	if (flaw) {
		free(p);
		return flaw;
	}
	p->next = NULL;
	p->seq = le64_to_cpu(h->seq);
	p->vc = w.vc;
	p->len = len;
	memcpy(p->data, (const char *)body + sizeof(w), len);
	*ch->tail = p;
	ch->tail = &p->next;
	ch->count++;
	l->packets_in++;
	return NULL;
}

static const char *mgmt_arrives(struct link *l, const void *body)
{
	const struct link_in *in;
	struct wire_mgmt w;
	const char *flaw;

	memcpy(&w, body, sizeof(w));
	in = in_find(l, le32_to_cpu(w.node), w.dir);
	if (!in)
		return "a management packet for a link that does not exist";
	if (w.reserved[0] | w.reserved[1] | w.reserved[2])
		return "a management packet with a reserved byte that is not 0";
	flaw = ang_remote_mgmt_flaw(l->view, in->from, in->from_dir, &w.pkt);
	if (!flaw)
		ang_remote_mgmt_give(l->view, in->from, in->from_dir, &w.pkt);
	return flaw;
}

static const char *taken_arrives(struct link *l, const struct wire_head *h,
				 const void *body)
{
	u32 count = le32_to_cpu(h->length) / (u32)sizeof(struct wire_taken);
	const u8 *at = body;
	struct wire_taken t;
	u32 i;

	for (; count; count--, at += sizeof(t)) {
		struct link_out *o = NULL;

		memcpy(&t, at, sizeof(t));
		for (i = 0; i < l->num_out && !o; i++)
			if (l->out[i].node == le32_to_cpu(t.node) &&
			    l->out[i].dir == t.dir)
				o = &l->out[i];
		if (!o || t.channel >= WIRE_CHANNELS ||
		    !t.count || le16_to_cpu(t.count) > o->used[t.channel])
			return "a report of room for packets that were never sent";
		o->used[t.channel] -= le16_to_cpu(t.count);
		l->used -= le16_to_cpu(t.count);
	}
	/*
	 * The frame must acknowledge all packets that it reports.  So the windows
	 * limit the number of kept frames, even if the other side acknowledges
	 * nothing else.
	 */
	if (l->frames_packet > l->used)
		return "a report of room for packets that it has not acknowledged";
	return NULL;
}

/* Drop frames up to @ack, which the other side has received. */
static const char *acknowledge(struct link *l, u64 ack)
{
	if (ack > l->sent)
		return "an acknowledgement of a frame that was never sent";
	while (l->head && l->head->seq <= ack) {
		struct link_frame *f = l->head;

		/*
		 * A frame that is not completely sent on this connection cannot
		 * be acknowledged.
		 */
		if (f == l->next)
			return "an acknowledgement of a frame that is not sent yet";
		l->frames_taken -= frame_type(f) == WIRE_TAKEN;
		l->frames_mgmt -= frame_type(f) == WIRE_MGMT;
		l->frames_packet -= frame_type(f) == WIRE_PACKET;
		l->head = f->next;
		if (!l->head)
			l->tail = &l->head;
		l->acked = f->seq;
		free(f);
	}
	return NULL;
}

/**
 * link_receive() - process a frame that arrives after the hello
 * @l: link
 * @h: head of a frame without a flaw
 * @body: its body
 *
 * Return: NULL, or the error: the connection is unusable then.
 */
const char *link_receive(struct link *l, const struct wire_head *h,
			 const void *body)
{
	u64 seq = le64_to_cpu(h->seq);
	const char *flaw = acknowledge(l, le64_to_cpu(h->ack));

	if (flaw || !seq)
		return flaw;
	if (seq != l->seen + 1)
		return "a frame out of order";
	if (h->type == WIRE_PACKET)
		flaw = packet_arrives(l, h, body);
	else if (h->type == WIRE_MGMT)
		flaw = mgmt_arrives(l, body);
	else if (h->type == WIRE_TAKEN)
		flaw = taken_arrives(l, h, body);
	if (!flaw)
		l->seen = seq;
	return flaw;
}

/**
 * link_report_lost() - report to the other side that a third server is lost
 * @l: link
 * @node: a node of that server
 * @era: value of ang_fabric.lost after the loss
 *
 * Return: 0 or -ENOMEM.
 */
int link_report_lost(struct link *l, u32 node, u32 era)
{
	struct wire_lost raw = {
		.node = cpu_to_le32(node), .era = cpu_to_le32(era),
	};
	struct link_frame *f = frame_new(sizeof(raw));

	if (!f)
		return -ENOMEM;
	memcpy(frame_body(f), &raw, sizeof(raw));
	frame_add(l, f, WIRE_LOST);
	return 0;
}

/**
 * link_resume() - continue on a new connection
 * @l: link
 * @seen: number of the last frame that the other side has
 *
 * Return: NULL, or the error.
 */
const char *link_resume(struct link *l, u64 seen)
{
	const char *flaw;
	struct link_frame *f;

	if (seen < l->acked)
		return "has lost frames that it acknowledged";
	l->next = NULL;
	flaw = acknowledge(l, seen);
	if (flaw)
		return flaw;
	l->next = l->head;
	for (f = l->head; f && f->seq <= l->written; f = f->next)
		l->resent++;
	return NULL;
}

/** link_idle() - check that all frames are acknowledged and all room is reported */
bool link_idle(const struct link *l)
{
	u32 i, c;

	if (l->head)
		return false;
	for (i = 0; i < l->num_in; i++)
		for (c = 0; c < WIRE_CHANNELS; c++)
			if (l->in[i].ch[c].taken)
				return false;
	return true;
}
