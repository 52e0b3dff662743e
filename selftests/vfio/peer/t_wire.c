// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames: valid ones are parsed, invalid ones are refused.
 */
#include <string.h>

#include "cases.h"

static u8 frame[sizeof(struct wire_head) + WIRE_MAX_BODY];
static struct wire_head *const head = (void *)frame;
static void *const body = frame + sizeof(struct wire_head);

static struct ang_cfg cfg(void)
{
	struct ang_cfg c = cfg_default;

	ang_topo_init(&c.topo, 2, (const u16[]){ 4, 2 });
	return c;
}

static void hellos(void)
{
	struct ang_cfg ours = cfg();
	bool nodes[8] = { 1, 1, 0, 1, 0, 0, 0, 1 };
	bool got[8];
	struct hello h = { .self = 5, .other = 6, .seen = 7, .cfg = ours,
			   .nodes = nodes, .num_nodes = 8 };
	struct hello out = { .nodes = got, .num_nodes = 8 };
	struct wire_hello *w = body;
	struct wire_range *r = (void *)(w + 1);
	u32 size, i;

#define SEALED	(wire_seal(frame, WIRE_HELLO, le32_to_cpu(head->length), 0, 7), \
		 wire_hello_get(head, body, &ours, &out))
#define ODD(member, value, text)					\
do {									\
	const char *flaw_;						\
									\
	wire_hello_put(frame, &h);					\
	member = (value);						\
	flaw_ = SEALED;							\
	EXPECT(flaw_ && strstr(flaw_, text));				\
} while (0)
	size = wire_hello_put(frame, &h);
	EXPECT_EQ(size, sizeof(*head) + sizeof(*w) + 3 * sizeof(*r));
	EXPECT(!wire_head_flaw(head) && !wire_flaw(head, body));
	EXPECT(!wire_hello_get(head, body, &ours, &out));
	EXPECT(!memcmp(nodes, got, sizeof(got)));
	EXPECT(out.self == 5 && out.other == 6 && out.seen == 7);
	ODD(w->magic, 1, "protocol");
	ODD(w->version, cpu_to_le16(WIRE_VERSION + 1), "version");
	ODD(w->fabric, ~w->fabric, "--fabric");
	ang_topo_init(&h.cfg.topo, 2, (const u16[]){ 2, 4 });
	ODD(w->self, cpu_to_le64(5), "--fabric");
	h.cfg = ours;
	ODD(w->ctxs, 0, "--contexts");
	ODD(w->ops, 0, "layout");
	ODD(w->train, 0, "layout");
	ODD(w->depth, 0, "layout");
	ODD(w->self, 0, "invalid hello");
	ODD(w->ranges, 0, "invalid hello");
	ODD(w->ranges, cpu_to_le16(4), "invalid hello");
	ODD(w->ranges, cpu_to_le16(65535), "invalid hello");
	ODD(r[0].last, cpu_to_le32(8), "nodes");
	ODD(r[0].last, cpu_to_le32(~0U), "nodes");
	ODD(r[1].first, cpu_to_le32(1), "nodes");
	ODD(r[1].last, cpu_to_le32(2), "nodes");
	ODD(head->length, cpu_to_le32(8), "protocol");
	wire_seal(frame, WIRE_ALIVE, sizeof(*w), 0, 0);
	EXPECT(wire_hello_get(head, body, &ours, &out));
	for (i = 0; i < 8; i++)
		nodes[i] = i == 7;
	wire_hello_put(frame, &h);
	EXPECT(!SEALED);
	EXPECT(got[7] && !got[6]);
}

static void frames(void)
{
	char text[WIRE_MAX_TEXT + 1];
	char long_text[WIRE_MAX_TEXT + 50];
	u32 i;

	static const struct {
		u32 type, length, seq;
		int good;
	} all[] = {
		{ WIRE_ALIVE, 0, 0, 1 }, { WIRE_ALIVE, 1, 0, 0 },
		{ WIRE_ALIVE, 0, 1, 0 }, { WIRE_PACKET, sizeof(struct wire_packet), 1, 1 },
		{ WIRE_PACKET, sizeof(struct wire_packet) - 1, 1, 0 }, { WIRE_PACKET, sizeof(struct wire_packet), 0, 0 },
		{ WIRE_TAKEN, 16, 1, 1 }, { WIRE_TAKEN, 0, 1, 0 },
		{ WIRE_TAKEN, 9, 1, 0 }, { WIRE_LOST, 8, 1, 1 },
		{ WIRE_JOIN, 16, 0, 1 }, { WIRE_JOIN, 8, 0, 0 },
		{ WIRE_JOINED, 0, 0, 1 }, { WIRE_JOINED, 1, 0, 0 },
		{ WIRE_LOST, 0, 1, 0 }, { WIRE_LOST, 5, 1, 0 },
		{ WIRE_REFUSE, 3, 0, 1 }, { WIRE_HELLO, 3, 1, 0 },
	};
	memset(frame, 0, sizeof(frame));
	for (i = 0; i < NUM(all); i++) {
		wire_seal(frame, all[i].type, all[i].length, all[i].seq, 9);
		EXPECT(!wire_head_flaw(head));
		EXPECT_EQ(!wire_flaw(head, body), all[i].good);
	}
	/* Any flipped bit is detected. */
	wire_seal(frame, WIRE_PACKET, 100, 1, 9);
	for (i = 0; i < 8 * (sizeof(*head) + 100); i++) {
		frame[i / 8] ^= (u8)(1 << i % 8);
		EXPECT(wire_head_flaw(head) ||
		       le32_to_cpu(head->length) != 100 ||
		       wire_flaw(head, body));
		frame[i / 8] ^= (u8)(1 << i % 8);
	}
	wire_seal(frame, 0, 0, 0, 0);
	EXPECT(wire_head_flaw(head));
	wire_seal(frame, WIRE_MGMT + 1, 0, 0, 0);
	EXPECT(wire_head_flaw(head));
	wire_seal(frame, WIRE_ALIVE, 0, 0, 0);
	head->length = cpu_to_le32(WIRE_MAX_BODY + 1);
	EXPECT(wire_head_flaw(head));
	/* Untrusted text must be safe for a terminal. */
	memset(long_text, 'x', sizeof(long_text));
	memcpy(long_text, "a\033[2J\n\xff", 7);
	long_text[sizeof(long_text) - 1] = 0;
	wire_text_put(frame, WIRE_REFUSE, long_text);
	wire_text_get(head, body, text);
	EXPECT(!strncmp(text, "a?[2J??xxx", 10));
	EXPECT_EQ(strlen(text), WIRE_MAX_TEXT);
}

static void packets(void)
{
	struct ang_pkt p, q;
	struct wire_packet w;
	u8 *raw = (u8 *)&p;
	u32 i;

	/* All fields of a packet are transferred. */
	for (i = 0; i < sizeof(p); i++)
		raw[i] = (u8)(i + 1);
	p.reserved = 0;
	p.buf = 0;
	wire_packet_put(&w, 1, 2, 3, &p);
	wire_packet_get(&w, &q);
	EXPECT(!memcmp(&p, &q, sizeof(p)));
	p = (struct ang_pkt){ .type = ANG_PKT_REDUCE, .tree = 3 };
	EXPECT_EQ(wire_channel(&p, ANGARA_VC_UP), WIRE_CH_RED(3));
	p.type = ANG_PKT_ALLREDUCE;
	EXPECT_EQ(wire_channel(&p, ANGARA_VC_UP), WIRE_CH_RED(3));
	EXPECT_EQ(wire_channel(&p, ANGARA_VC_DOWN), WIRE_CH_DOWN);
	p.type = ANG_PKT_BCAST;
	EXPECT_EQ(wire_channel(&p, ANGARA_VC_UP), WIRE_CH_UP);
	p.type = ANG_PKT_ABORT;
	EXPECT_EQ(wire_channel(&p, ANGARA_VC_UP), WIRE_CH_UP);
}

const struct test_case wire_cases[] = {
	{ "wire: hellos", hellos },
	{ "wire: frames", frames },
	{ "wire: packets", packets },
	{ NULL, NULL },
};
