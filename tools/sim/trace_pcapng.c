// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace records in a capture file of "angaractl capture"; see trace_pcapng.h
 * and pcapng.h.
 *
 * Nothing in the file is trusted.  Wireshark's tools may have added blocks and
 * options, which are skipped.
 */
#include <errno.h>
#include <string.h>
#include "ang_types.h"
#include "pcapng.h"
#include "trace_pcapng.h"

#define BODY_MOST	4096U	/* bytes that are stored of a block */
#define PACKET_HEAD	20U	/* bytes before a packet's data: interface, time, lengths */

/**
 * struct body - contents of a block
 * @len: its bytes, of which at most BODY_MOST are in @at
 */
struct body {
	u32 type;
	u32 len;
	u8 at[BODY_MOST];
};

static u32 word(const u8 *at)
{
	__le32 le;

	memcpy(&le, at, sizeof(le));
	return le32_to_cpu(le);
}

static u32 half(const u8 *at)
{
	__le16 le;

	memcpy(&le, at, sizeof(le));
	return le16_to_cpu(le);
}

static int flaw(char *err, size_t len, const char *text)
{
	snprintf(err, len, "%s", text);
	return -EINVAL;
}

static bool get(struct ang_capture *c, void *to, size_t len)
{
	return fread(to, 1, len, c->f) == len;
}

static bool skip(struct ang_capture *c, u32 len)
{
	while (len && getc(c->f) != EOF)
		len--;
	return !len;
}

/* Reads a block.  Return: 1; 0 at the end of the file; -EINVAL. */
static int block_get(struct ang_capture *c, struct body *b, char *err, size_t len)
{
	u8 head[8], tail[4];
	u32 kept;
	size_t n = 4;

	/* The caller has read the type of the first block already. */
	memcpy(head, ANG_PCAPNG_START, 4);
	if (c->started)
		n = fread(head, 1, 4, c->f);
	if (!n && feof(c->f) && !ferror(c->f))
		return 0;
	if (c->block == ANG_CAPTURE_MOST)
		return flaw(err, len, "too many blocks");
	c->block++;
	if (n != 4 || !get(c, head + 4, 4))
		return flaw(err, len, "the file ends within it");
	b->type = word(head);
	b->len = word(head + 4);
	/* The first word of a section shows the byte order. */
	if (b->type == PCAPNG_SECTION &&
	    (!get(c, b->at, 4) || word(b->at) != PCAPNG_BYTE_ORDER))
		return flaw(err, len, "not a section in little endian");
	n = b->type == PCAPNG_SECTION ? 4 : 0;
	if (b->len < 12 + n || b->len % 4)
		return flaw(err, len, "its length is wrong");
	b->len -= 12;
	kept = b->len < BODY_MOST ? b->len : BODY_MOST;
	if (!get(c, b->at + n, kept - n) || !skip(c, b->len - kept) ||
	    !get(c, tail, 4))
		return flaw(err, len, "the file ends within it");
	if (word(tail) != b->len + 12)
		return flaw(err, len, "its two length fields differ");
	c->started = true;
	return 1;
}

/* Do the options of a packet say that records before it were lost? */
static bool lost(const struct body *b, u32 at)
{
	u32 most = b->len < BODY_MOST ? b->len : BODY_MOST;

	while (at + 4 <= most) {
		u32 code = half(b->at + at), len = half(b->at + at + 2);

		at += 4;
		if (code == PCAPNG_OPT_END || len > most - at)
			return false;
		if (code == PCAPNG_OPT_DROPCOUNT && len == 8 &&
		    (word(b->at + at) || word(b->at + at + 4)))
			return true;
		at += (len + 3) / 4 * 4;
	}
	return false;
}

static int record(const struct body *b, struct ang_trace *r, char *err, size_t len)
{
	struct pcapng_frame f;
	u32 bytes;

	bytes = b->len < PACKET_HEAD ? 0 : word(b->at + 12);
	if (bytes < sizeof(f) || b->len - PACKET_HEAD < sizeof(f))
		return flaw(err, len, "not a frame of a packet");
	memcpy(&f, b->at + PACKET_HEAD, sizeof(f));
	if (f.version != PCAPNG_FRAME_VERSION)
		return flaw(err, len, "a frame of another version");
	if (f.event >= ANG_TR_NUM || !f.type || f.type >= ANG_PKT_NUM ||
	    (f.vc >= ANGARA_VC_NUM && f.vc != ANG_VC_MGMT) || f.tree >= ANGARA_MAX_TREES ||
	    (f.port >= ANGARA_MAX_PORTS && f.port != ANGARA_PORT_NONE))
		return flaw(err, len, "not a record of a packet");
	if (lost(b, PACKET_HEAD + (bytes + 3) / 4 * 4))
		return flaw(err, len, "packets before it are missing: the capture was too slow");
	*r = (struct ang_trace){
		.cycle = le64_to_cpu(f.cycle), .node = le32_to_cpu(f.node),
		.event = f.event, .type = f.type, .port = f.port, .vc = f.vc,
		.tree = f.tree, .status = f.status, .npkts = le16_to_cpu(f.npkts),
		.len = le32_to_cpu(f.len), .seq = le32_to_cpu(f.seq),
		.src = le32_to_cpu(f.src),
	};
	return 1;
}

int ang_capture_next(struct ang_capture *c, struct ang_trace *r, char *err,
		     size_t len)
{
	struct body b;
	int ret;

	while ((ret = block_get(c, &b, err, len)) > 0) {
		if (b.type == PCAPNG_PACKET)
			return record(&b, r, err, len);
		if (b.type == PCAPNG_INTERFACE &&
		    (b.len < 4 || half(b.at) != PCAPNG_LINKTYPE))
			return flaw(err, len, "an interface of another link type");
	}
	return ret;
}
