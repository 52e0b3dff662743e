// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capture files: blocks of tools/common/pcapng.h.  Times are in nanoseconds.
 */
#include <stdio.h>

#include "pcapng.h"
#include "trace.h"

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
	struct block b = begin(buf, PCAPNG_SECTION);

	put32(&b, PCAPNG_BYTE_ORDER);
	put16(&b, 1, 0);
	/* The length of the section: unknown. */
	put32(&b, 0xFFFFFFFF);
	put32(&b, 0xFFFFFFFF);
	return end(&b);
}

/** pcapng_interface() - make the block of a node; readers number these blocks in order */
u32 pcapng_interface(void *buf, u32 node)
{
	struct block b = begin(buf, PCAPNG_INTERFACE);
	u8 nanoseconds = 9;
	char name[32];

	put16(&b, PCAPNG_LINKTYPE, 0);
	put32(&b, 0);
	put_option(&b, PCAPNG_OPT_IF_NAME, name,
		   (u32)snprintf(name, sizeof(name), "node%u", node));
	put_option(&b, PCAPNG_OPT_IF_TSRESOL, &nanoseconds, sizeof(nanoseconds));
	put16(&b, PCAPNG_OPT_END, 0);
	return end(&b);
}

/** pcapng_packet() - make the block of a record, at the interface of its node */
u32 pcapng_packet(void *buf, u32 interface, const struct trace_rec *rec)
{
	const struct ang_trace *r = &rec->rec;
	struct block b = begin(buf, PCAPNG_PACKET);
	struct pcapng_frame frame = {
		.version = PCAPNG_FRAME_VERSION, .event = r->event, .type = r->type,
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
		put_option(&b, PCAPNG_OPT_DROPCOUNT, &lost, sizeof(lost));
		put16(&b, PCAPNG_OPT_END, 0);
	}
	return end(&b);
}
