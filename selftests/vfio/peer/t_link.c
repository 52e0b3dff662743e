// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links between two fabrics over wires that break at any byte: deterministic,
 * without sockets.  Both fabrics together behave like one.  No packet is lost
 * or duplicated, and no operation waits for an unrelated one.
 */
#include <string.h>

#include "cases.h"

static struct link links[2];
static u64 chance;
static u32 breaks;		/* one frame in this many is lost; 0: none */

static void check(const char *flaw)
{
	if (flaw)
		test_fail(__FILE__, __LINE__, "%s", flaw);
}

/* Both sides reconnect, and exchange their positions. */
static void reconnect(void)
{
	u64 seen[2] = { links[0].seen, links[1].seen };

	check(link_resume(&links[0], seen[1]));
	check(link_resume(&links[1], seen[0]));
}

static void acknowledge(u32 to)
{
	struct wire_head h;

	wire_seal(&h, WIRE_ALIVE, 0, 0, links[!to].seen);
	check(link_receive(&links[to], &h, NULL));
}

/* Return: was a frame sent? */
static int transmit(u32 from)
{
	struct link *l = &links[from];
	struct link_frame *f = l->next;
	const struct wire_head *h;

	if (!f)
		return 0;
	h = (const void *)f->bytes;
	check(wire_head_flaw(h));
	check(wire_flaw(h, h + 1));
	l->next = f->next;
	l->written = f->seq > l->written ? f->seq : l->written;
	if (breaks && rnd(&chance) % breaks == 0) {
		/* The acknowledgement is lost; the frame may be lost, too. */
		if (rnd(&chance) % 2)
			check(link_receive(&links[!from], h, h + 1));
		reconnect();
		return 1;
	}
	check(link_receive(&links[!from], h, h + 1));
	if (rnd(&chance) % 3 == 0)
		acknowledge(from);
	return 1;
}

static int pump(struct host *h)
{
	int any = h->notified || h->twin->notified;
	u32 i;

	h->notified = h->twin->notified = 0;
	for (i = 0; i < 2; i++) {
		link_collect(&links[i]);
		link_deliver(&links[i]);
	}
	for (i = 0; i < 2; i++)
		while (rnd(&chance) % 8 && transmit(i))
			any = 1;
	if (any || links[0].next || links[1].next)
		return 1;
	acknowledge(0);
	acknowledge(1);
	return ang_view_busy(&h->v) || ang_view_busy(&h->twin->v) ||
	       links[0].next || links[1].next || !link_idle(&links[0]) ||
	       !link_idle(&links[1]);
}

/* Pumps nothing, for hosts that are started while no packet is in flight. */
static int no_pump(struct host *h)
{
	return 0;
}

static struct host *linked(const char *dims, const struct ang_cfg *cfg, u64 here)
{
	struct host *h = host_twins(dims, cfg, here, no_pump);
	bool theirs[64], ours[64];
	u32 i;

	for (i = 0; i < h->nodes; i++) {
		ours[i] = here >> i & 1;
		theirs[i] = !ours[i];
	}
	EXPECT(!link_init(&links[0], &h->v, theirs));
	EXPECT(!link_init(&links[1], &h->twin->v, ours));
	h->pump = h->twin->pump = pump;
	chance = 88172645463325252ULL;
	return h;
}

static void done(void)
{
	EXPECT(links[0].packets_out == links[1].packets_in);
	EXPECT(links[1].packets_out == links[0].packets_in);
	EXPECT(!breaks || links[0].resent + links[1].resent);
	link_free(&links[0]);
	link_free(&links[1]);
}

static void everything(void)
{
	static const u64 parts[] = { 0x0F, 0x55, 0x96, 0x01 };
	struct ang_cfg cfg = cfg_default;
	struct traffic one, two;
	u32 i;

	for (i = 0; i < NUM(parts); i++) {
		cfg.train = i % 2 ? 8 : 1;
		breaks = i ? 5 + 10 * i : 0;
		work_everything(host_new("2x2x2", &cfg), i ? 7 : 3, &one);
		work_everything(linked("2x2x2", &cfg, parts[i]), i ? 7 : 3, &two);
		EXPECT(!memcmp(&one, &two, sizeof(one)));
		done();
	}
}

static void crowds(void)
{
	static const struct {
		const char *dims;
		u64 here;
	} on[] = {
		{ "2x2x2", 0x0F }, { "5", 0x15 }, { "6", 0x07 },
		{ "4x4", 0x5A5A }, { "4x4", 0x00FF },
	};
	u32 i;

	for (i = 0; i < NUM(on); i++) {
		breaks = 20;
		work_crowd(linked(on[i].dims, &cfg_tight, on[i].here));
		done();
	}
}

/* Checks sums of words, each of which is the index plus the node's number. */
static void expect_words(const struct tctx *c, u32 words)
{
	u32 k;

	for (k = 0; k < words; k++)
		EXPECT_EQ(((u32 *)c->buf)[2048 + k], 8 * k + 28);
}

/* Each of the 8 participants but 3 posts an allreduce of 4096 bytes to a tree. */
static void reduce_without_3(struct group *g, u32 tree)
{
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, tree, 0, 8192, 16 * 256);
	u32 i;

	w.flags = ANGARA_WQE_QUIET;
	for (i = 0; i < 8; i++) {
		if (i == 3)
			continue;
		post(g->ctx[i], &w, NULL);
		kick(g->ctx[i]);
	}
}

/* Each participant puts 4000 bytes to another one. */
static void puts_pass(struct group *g)
{
	struct angara_wqe w;
	struct angara_cqe cqe;
	u32 i;

	for (i = 0; i < 8; i++) {
		w = wqe_p2p(ANGARA_OP_PUT, (i + 4) % 8, 0, 0, 8192, 4000);
		post(g->ctx[i], &w, NULL);
		kick(g->ctx[i]);
		EXPECT_EQ(finish(g->ctx[i], &cqe), ANGARA_ST_OK);
		EXPECT(!memcmp(g->ctx[(i + 4) % 8]->buf + 8192, g->ctx[i]->buf,
			       4000));
	}
}

/*
 * 15 trees whose roots wait for one participant hold the maximum of packets.
 * Operations of the last tree, and puts, must pass them.
 */
static void stuck(void)
{
	static const u16 pe[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct group g;
	struct ttree *t[ANG_DEF_TREES];
	struct angara_cqe cqe;
	struct angara_wqe w;
	u32 i, k, tree;

	breaks = 50;
	g.h = linked("2x2x2", &cfg_default, 0x0F);
	group_new(&g, 1, 8192);
	for (tree = 0; tree < ANG_DEF_TREES; tree++)
		t[tree] = tree_over(g.h, tree, tree % 4, g.ctx, g.n, pe, 1);
	for (i = 0; i < 8; i++)
		for (k = 0; k < 2048; k++)
			((u32 *)g.ctx[i]->buf)[k] = i + k;
	/* All roots need the contribution of participant 3. */
	for (tree = 0; tree < 15; tree++)
		reduce_without_3(&g, tree);
	host_run(g.h);
	for (i = 0; i < 8; i++) {
		w = wqe_coll(ANGARA_OP_ALLREDUCE, 15, 0, 8192, 4000);
		post(g.ctx[i], &w, NULL);
		kick(g.ctx[i]);
	}
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(finish(g.ctx[i], &cqe), ANGARA_ST_OK);
		expect_words(g.ctx[i], 1000);
		memset(g.ctx[i]->buf + 8192, 0, 8192);
	}
	w = wqe_coll(ANGARA_OP_BCAST, 15, 0, 8192, 4000);
	post(g.ctx[6], &w, NULL);
	kick(g.ctx[6]);
	EXPECT_EQ(finish(g.ctx[6], &cqe), ANGARA_ST_OK);
	for (i = 0; i < 8; i++)
		EXPECT(!memcmp(g.ctx[i]->buf + 8192, g.ctx[6]->buf, 4000));
	puts_pass(&g);
	for (tree = 0; tree < 15; tree++) {
		w = wqe_coll(ANGARA_OP_ALLREDUCE, tree, 0, 8192, 16 * 256);
		post(g.ctx[3], &w, NULL);
		kick(g.ctx[3]);
		EXPECT_EQ(finish(g.ctx[3], &cqe), ANGARA_ST_OK);
	}
	for (i = 0; i < 8; i++)
		expect_words(g.ctx[i], 1024);
	for (tree = 0; tree < ANG_DEF_TREES; tree++)
		tree_del(t[tree]);
	group_del(&g);
	done();
}

#define SEND(type, len, number, ack)					\
	(wire_seal(frame, type, len, number, ack),			\
	 link_receive(&links[0], (struct wire_head *)frame,		\
		      (struct wire_head *)frame + 1))

/*
 * Sends as many packets of 8 bytes as there is room for, and one more; then the
 * last one again, which is out of order.  Return: number of the next packet.
 */
static u64 fill_window(u8 *frame, u32 len)
{
	u64 seq = 0;
	u32 i;

	for (i = 0; i < WIRE_WINDOW; i++) {
		EXPECT(!SEND(WIRE_PACKET, len, ++seq, 0));
		if (i == 5)
			link_deliver(&links[0]);
	}
	EXPECT(SEND(WIRE_PACKET, len, seq + 1, 0) == NULL);
	seq++;
	for (i = 0; i < 32 && !SEND(WIRE_PACKET, len, seq + 1, 0); i++)
		seq++;
	EXPECT_EQ(i, 5);
	EXPECT(SEND(WIRE_PACKET, len, seq, 0));
	return seq + 1;
}

/* If a packet breaks the rules, the link to its peer ends. */
static void rules(void)
{
	struct host *h = linked("2x2", &cfg_default, 1);
	u8 frame[sizeof(struct wire_head) + sizeof(struct wire_packet) + 64];
	struct wire_head *f = (void *)frame;
	struct wire_packet *w = (void *)(f + 1);
	struct wire_taken *t = (void *)(f + 1);
	struct ang_pkt p = {
		.type = ANG_PKT_PUT, .npkts = 1, .len = 8, .src_node = 1,
	};
	u64 seq;

	breaks = 0;
	memset(frame, 0, sizeof(frame));
	host_freeze(h, 0, 1);
	/* In a dimension of size 2 the route from node 1 to 0 is "+". */
	wire_packet_put(w, 0, 1, ANGARA_VC_REQ, &p);
	EXPECT(SEND(WIRE_PACKET, sizeof(*w) + 8, 2, 0));
	EXPECT(SEND(WIRE_ALIVE, 0, 0, 1));
	EXPECT(SEND(WIRE_PACKET, sizeof(*w) + 7, 1, 0));
	EXPECT(SEND(WIRE_PACKET, sizeof(*w), 1, 0));
	w->node = cpu_to_le32(1);
	EXPECT(SEND(WIRE_PACKET, sizeof(*w) + 8, 1, 0));
	w->node = 0;
	w->dir = 4;
	EXPECT(SEND(WIRE_PACKET, sizeof(*w) + 8, 1, 0));
	w->dir = 0;
	EXPECT(SEND(WIRE_PACKET, sizeof(*w) + 8, 1, 0));
	w->dir = 1;
	w->reserved[1] = 1;
	EXPECT(SEND(WIRE_PACKET, sizeof(*w) + 8, 1, 0));
	w->reserved[1] = 0;
	EXPECT_EQ(links[0].seen, 0);
	seq = fill_window(frame, sizeof(*w) + 8);
	/* Frames that free room for packets that were never sent. */
	memset(t, 0, sizeof(*t));
	t->node = cpu_to_le32(1);
	t->count = cpu_to_le16(1);
	EXPECT(SEND(WIRE_TAKEN, sizeof(*t), seq, 0));
	t->channel = 200;
	EXPECT(SEND(WIRE_TAKEN, sizeof(*t), seq, 0));
	EXPECT(link_resume(&links[0], 99));
	link_free(&links[0]);
	link_free(&links[1]);
	h->pump = no_pump;
	host_freeze(h, 0, 0);
	host_run(h);
	h->pump = twins_pump;
	h->notified = 1;
	host_free(h);
}

/* Makes frames of a put from node 0 to node 1.  Return: number of frames. */
static u32 collect(struct tctx *c)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 8192, 4000);

	post(c, &w, NULL);
	kick(c);
	run_steps(&c->h->v, 1000);
	link_collect(&links[0]);
	return (u32)links[0].sent;
}

/*
 * The peer reports room after a packet that it does not acknowledge.  If the server
 * accepted this report, it would have to keep more and more frames.
 */
static void unacknowledged(void)
{
	u8 frame[sizeof(struct wire_head) + sizeof(struct wire_taken)];
	struct wire_taken *t = (void *)(frame + sizeof(struct wire_head));
	struct group g = { .h = linked("2", &cfg_default, 1) };
	struct link_frame *first;
	struct angara_cqe cqe;
	struct link_out *o;

	breaks = 0;
	group_new(&g, 1, 8192);
	EXPECT(collect(g.ctx[0]) > 1);
	memset(t, 0, sizeof(*t));
	for (o = links[0].out; !o->used[WIRE_CH_REQ]; o++)
		;
	t->node = cpu_to_le32(o->node);
	t->dir = (u8)o->dir;
	t->channel = WIRE_CH_REQ;
	t->count = cpu_to_le16(1);
	first = links[0].head;
	links[0].next = first->next;
	EXPECT(SEND(WIRE_TAKEN, sizeof(*t), 1, 0));
	o->used[WIRE_CH_REQ]++;
	links[0].used++;
	links[0].next = first;
	EXPECT_EQ(finish(g.ctx[0], &cqe), ANGARA_ST_OK);
	EXPECT_EQ(links[0].frames_packet, 0);
	EXPECT_EQ(links[0].used, 0);
	group_del(&g);
	done();
}

const struct test_case link_cases[] = {
	{ "link: two fabrics give the results of one", everything },
	{ "link: all to all with little room", crowds },
	{ "link: stuck packets block no others", stuck },
	{ "link: peers that break the rules", rules },
	{ "link: room for packets that are not acknowledged", unacknowledged },
	{ NULL, NULL },
};
