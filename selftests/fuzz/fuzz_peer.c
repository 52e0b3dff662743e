// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer sends anything to a server that has work of its own: frames with a
 * right checksum, sometimes with a wrong one.
 *
 * The input is a list of actions.  The fabric processes accepted frames; its
 * contents have to be consistent between any two steps.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "link.h"

static struct host *h;
static struct link peer;
static u8 frame[sizeof(struct wire_head) + WIRE_MAX_BODY];
static u64 seq;

/* Chooses a port, mostly one of an existing link. */
static void place(struct input *in, __le32 *node, u8 *dir)
{
	u32 i = in_u8(in);

	if (i < peer.num_in) {
		*node = cpu_to_le32(peer.in[i].node);
		*dir = (u8)peer.in[i].dir;
	} else {
		*node = cpu_to_le32(in_size(in));
		*dir = in_u8(in);
	}
}

static u32 packet(struct input *in, void *body)
{
	struct wire_packet w = { 0 };
	u32 len = in_size(in) % (8 * ANGARA_PACKET_BYTES + 8);

	place(in, &w.node, &w.dir);
	w.vc = in_u8(in) % 5;
	w.type = in_u8(in) % (ANG_PKT_NUM + 1);
	w.flags = in_u8(in) % 64;
	w.tree = in_u8(in) % 18;
	w.len = cpu_to_le32(in_u8(in) % 8 ? len : in_size(in));
	w.npkts = (u8)(in_u8(in) % 8 ? ang_packets(len) : in_u8(in));
	w.dtype = in_u8(in) % 8;
	w.redop = in_u8(in) % 10;
	w.status = in_u8(in) % 14;
	w.src_node = cpu_to_le32(in_u8(in) % 5);
	w.dst_node = cpu_to_le32(in_u8(in) % 5);
	w.src_ctx = cpu_to_le16(in_u8(in) % 5);
	w.dst_ctx = cpu_to_le16(in_u8(in) % 5);
	w.slot = cpu_to_le16(in_u8(in) % 18);
	w.counter = cpu_to_le16(in_u16(in));
	w.pkey = cpu_to_le32(in_u8(in) % 8 ? PKEY : 1);
	w.job = cpu_to_le64(in_u8(in) % 8 == 7);
	w.key = cpu_to_le64(in_u8(in) % 3);
	w.gen = cpu_to_le16(in_u8(in));
	w.life = cpu_to_le32(in_u8(in) % 8 ? 1 : in_u8(in));
	w.bytes = w.life;
	w.off = cpu_to_le64(in_size(in));
	w.seq = cpu_to_le32(in_size(in));
	w.hops = cpu_to_le16(in_u8(in));
	w.reserved[2] = in_u8(in) == 99;
	memcpy(body, &w, sizeof(w));
	memset((u8 *)body + sizeof(w), in_u8(in), len);
	return (u32)sizeof(w) + (in_u8(in) % 4 ? len : 0);
}

static u32 taken(struct input *in, void *body)
{
	struct wire_taken t = { 0 };

	place(in, &t.node, &t.dir);
	t.channel = in_u8(in) % 22;
	t.count = cpu_to_le16(in_u8(in) % 18);
	memcpy(body, &t, sizeof(t));
	return sizeof(t);
}

static u32 mgmt(struct input *in, void *body)
{
	struct wire_mgmt w = { 0 };

	place(in, &w.node, &w.dir);
	in_bytes(in, &w.pkt, offsetof(struct angara_mgmt, data) + 40);
	w.reserved[0] = in_u8(in) == 99;
	/*
	 * Make the packet mostly valid, so that ang_remote_mgmt_flaw() accepts
	 * it.
	 */
	w.pkt.reserved[0] = w.pkt.reserved[0] == 99;
	w.pkt.reserved[1] = 0;
	w.pkt.method = w.pkt.method % 4;
	w.pkt.attr %= 8;
	w.pkt.answer %= 2;
	w.pkt.status = w.pkt.answer ? w.pkt.status % 12 : 0;
	w.pkt.router = w.pkt.answer ? w.pkt.router : 0;
	w.pkt.hops %= ANGARA_MGMT_HOPS + 2;
	w.pkt.at = w.pkt.hops ? w.pkt.at % w.pkt.hops : w.pkt.at;
	memcpy(body, &w, sizeof(w));
	return sizeof(w);
}

/* Does one action.  Return: 0 if the server drops the peer. */
static int act(struct input *in)
{
	struct wire_head *head = (void *)frame;
	u32 kind = in_u8(in);
	u32 what = kind % 8;
	u64 ack = in_u8(in) % 4 ? peer.sent : in_u8(in);
	u32 length = 0;

	/* Frames of the server count as sent. */
	peer.next = NULL;
	if (what < 5 && kind < 240)
		length = packet(in, head + 1);
	else if (what == 5 && kind < 240)
		length = taken(in, head + 1);
	if (kind >= 240) {
		length = mgmt(in, head + 1);
		what = 5;
	}
	wire_seal(frame, kind >= 240 ? WIRE_MGMT : what < 5 ? WIRE_PACKET : what == 5 ? WIRE_TAKEN :
		  what == 6 ? WIRE_ALIVE : in_u8(in), length,
		  what < 6 ? seq + 1 : 0, ack);
	if (in_u8(in) == 77)
		frame[in_u16(in) % (sizeof(*head) + length)] ^= in_u8(in);
	if (wire_head_flaw(head) || wire_flaw(head, head + 1))
		return 1;
	if (link_receive(&peer, head, head + 1))
		return 0;
	seq = peer.seen;
	link_collect(&peer);
	link_deliver(&peer);
	run_steps(&h->v, 20);
	return 1;
}

/* Makes the row of a remote child meet the row of its parent here: the tree opens. */
static void meet(u32 child)
{
	struct ang_pkt p = {
		.type = ANG_PKT_OPEN, .flags = ANG_PF_WHOLE, .tree = 3,
		.npkts = 1, .src_node = child, .pkey = PKEY, .key = 1, .seq = 1,
		.life = 1,
	};

	EXPECT(ang_remote_give(&h->v, child, 3, ANGARA_VC_UP, &p, NULL));
}

/* Makes a square of four nodes, of which 0 and 1 are in this fabric, and a tree over all. */
static void begin(struct tctx **c)
{
	static const struct angara_tree_row rows[2] = {
		{ .tree = 3, .is_root = 1, .to_root = ANGARA_PORT_NONE,
		  .port_sum = 2, .ports = 1 << 0 | 1 << 2, .pe = 1, .pkey = PKEY,
		  .epoch = 1 },
		{ .tree = 3, .to_root = 1, .port_sum = 1, .ports = 1 << 2,
		  .pe = 1, .pkey = PKEY, .epoch = 1 },
	};
	static const bool theirs[4] = { 0, 0, 1, 1 };
	struct angara_wqe w;
	u32 i;

	h = host_half("2x2", &cfg_default, 3);
	ang_remote_set(&h->v, 2);
	ang_remote_set(&h->v, 3);
	EXPECT(!link_init(&peer, &h->v, theirs));
	host_start(h);
	for (i = 0; i < 2; i++) {
		c[i] = ctx_new(h, i, 0, PKEY, 6, 6);
		ctx_buffer(c[i], 65536);
		EXPECT_EQ(adm_row(h, i, &rows[i]), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_op(h, i, ANGARA_ADM_JOIN, 0, 3),
			  ANGARA_ADM_ST_OK);
		w = wqe_coll(ANGARA_OP_ALLREDUCE, 3, 0, 32768, 4096);
		post(c[i], &w, NULL);
		w = wqe_coll(ANGARA_OP_BCAST, 3, 0, 32768, 4096);
		post(c[i], &w, NULL);
		w = wqe_p2p(ANGARA_OP_PUT, 3 - i, 0, 0, 32768, 9000);
		post(c[i], &w, NULL);
		w = wqe_p2p(ANGARA_OP_GET, 3 - i, 0, 0, 32768, 9000);
		post(c[i], &w, NULL);
		kick(c[i]);
	}
	meet(2);
	meet(3);
	host_run(h);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u32 gone[2] = { 2, 3 };
	struct input in = { data, size };
	struct angara_cqe cqe;
	struct tctx *c[2];
	u32 i, n;

	seq = 0;
	begin(c);
	while (in.left && act(&in))
		;
	/* All operations end after the loss of the peer. */
	ang_remote_lost(&h->v, gone, 2);
	for (i = 0; i < 100; i++) {
		host_run(h);
		link_drop(&peer);
	}
	for (i = 0; i < 2; i++) {
		for (n = 0; poll_cq(c[i], &cqe); n++)
			EXPECT(le16_to_cpu(cqe.status) < ANGARA_ST_NUM);
		EXPECT_EQ(n, 4);
		ctx_del(c[i]);
	}
	host_run(h);
	link_drop(&peer);
	EXPECT_EQ(h->faults, 0);
	link_free(&peer);
	host_free(h);
	return 0;
}
