// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capture files: pcapng (IETF draft-ietf-opsawg-pcapng), link type USER0.
 *
 * An interface is a node; times are in nanoseconds.  A packet of the fabric is
 * recorded as a frame of FRAME_BYTES bytes, little endian, see struct frame and
 * Documentation/trace.rst.
 */
#include <stdio.h>

#include "trace.h"

#define BLOCK_SECTION	0x0A0D0D0AU
#define BLOCK_INTERFACE	1U
#define BLOCK_PACKET	6U
#define BYTE_ORDER_MAGIC	0x1A2B3C4DU
#define LINKTYPE_USER0	147U

#define OPT_END		0U
#define OPT_IF_NAME	2U
#define OPT_IF_TSRESOL	9U
#define OPT_DROPCOUNT	4U

#define FRAME_VERSION	1U
#define FRAME_BYTES	40U

struct frame {
	u8 version;
	u8 event;	/* ANG_TR_* */
	u8 type;	/* ANG_PKT_* */
	u8 port;	/* port of a SEND, otherwise 255 */
	u8 vc;
	u8 tree;
	u8 status;
	u8 reserved;
	__le16 npkts;
	__le16 reserved1;
	__le32 node;
	__le32 src;
	__le32 len;
	__le32 seq;
	__le32 reserved2;
	__le64 cycle;
};

static_assert(sizeof(struct frame) == FRAME_BYTES, "no padding");

/* A block during construction; its length is at both ends. */
struct block {
	char *start;
	u32 at;
};

static void put(struct block *b, const void *data, u32 len)
{
	memcpy(b->start + b->at, data, len);
	b->at += len;
	for (; b->at % 4; b->at++)
		b->start[b->at] = 0;
}

static void put16(struct block *b, u32 low, u32 high)
{
	__le16 pair[2] = { cpu_to_le16((u16)low), cpu_to_le16((u16)high) };

	put(b, pair, sizeof(pair));
}

static void put32(struct block *b, u32 val)
{
	__le32 word = cpu_to_le32(val);

	put(b, &word, sizeof(word));
}

static void put_option(struct block *b, u32 code, const void *data, u32 len)
{
	put16(b, code, len);
	put(b, data, len);
}

static struct block begin(void *buf, u32 type)
{
	struct block b = { buf, 0 };

	put32(&b, type);
	put32(&b, 0);
	return b;
}

static u32 end(struct block *b)
{
	__le32 len = cpu_to_le32(b->at + 4);

	memcpy(b->start + 4, &len, sizeof(len));
	put32(b, b->at + 4);
	return b->at;
}

/**
 * pcapng_header() - make the first block of a file
 * @buf: out: PCAPNG_MAX_BLOCK bytes
 *
 * Return: bytes of the block, as for all functions below.
 */
u32 pcapng_header(void *buf)
{
	struct block b = begin(buf, BLOCK_SECTION);

	put32(&b, BYTE_ORDER_MAGIC);
	put16(&b, 1, 0);
	/* The length of the section: unknown. */
	put32(&b, 0xFFFFFFFF);
	put32(&b, 0xFFFFFFFF);
	return end(&b);
}

/** pcapng_interface() - make the block of a node; readers number these blocks in order */
u32 pcapng_interface(void *buf, u32 node)
{
	struct block b = begin(buf, BLOCK_INTERFACE);
	u8 nanoseconds = 9;
	char name[32];

	put16(&b, LINKTYPE_USER0, 0);
	put32(&b, 0);
	put_option(&b, OPT_IF_NAME, name,
		   (u32)snprintf(name, sizeof(name), "node%u", node));
	put_option(&b, OPT_IF_TSRESOL, &nanoseconds, sizeof(nanoseconds));
	put16(&b, OPT_END, 0);
	return end(&b);
}

/** pcapng_packet() - make the block of a record, at the interface of its node */
u32 pcapng_packet(void *buf, u32 interface, const struct trace_rec *rec)
{
	const struct ang_trace *r = &rec->rec;
	struct block b = begin(buf, BLOCK_PACKET);
	struct frame frame = {
		.version = FRAME_VERSION, .event = r->event, .type = r->type,
		.port = r->port, .vc = r->vc, .tree = r->tree,
		.status = r->status,
		.npkts = cpu_to_le16(r->npkts), .node = cpu_to_le32(r->node),
		.src = cpu_to_le32(r->src), .len = cpu_to_le32(r->len),
		.seq = cpu_to_le32(r->seq), .cycle = cpu_to_le64(r->cycle),
	};
	__le64 lost = cpu_to_le64(rec->lost);

	put32(&b, interface);
	put32(&b, (u32)(rec->ns >> 32));
	put32(&b, (u32)rec->ns);
	put32(&b, sizeof(frame));
	put32(&b, sizeof(frame));
	put(&b, &frame, sizeof(frame));
	if (rec->lost) {
		put_option(&b, OPT_DROPCOUNT, &lost, sizeof(lost));
		put16(&b, OPT_END, 0);
	}
	return end(&b);
}
