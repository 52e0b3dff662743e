// SPDX-License-Identifier: GPL-2.0-only
/* Frames between servers: building them, and checks before their content is used. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "wire.h"

static_assert(sizeof(struct wire_head) == 32, "wire");
static_assert(offsetof(struct wire_head, seq) == 16, "wire");
static_assert(sizeof(struct wire_hello) == 64, "wire");
static_assert(offsetof(struct wire_hello, fabric) == 24, "wire");
static_assert(offsetof(struct wire_hello, fabric_id) == 48, "wire");
static_assert(sizeof(struct wire_range) == 8, "wire");
static_assert(sizeof(struct wire_join) == 16, "wire");
static_assert(sizeof(struct wire_lost) == 8, "wire");
static_assert(sizeof(struct wire_packet) == 80, "wire");
static_assert(offsetof(struct wire_packet, src_ctx) == 56, "wire");
static_assert(offsetof(struct wire_packet, dir) == 68, "wire");
static_assert(sizeof(struct wire_taken) == 8, "wire");
static_assert(sizeof(struct wire_mgmt) == 208, "wire");
static_assert(sizeof(struct wire_packet) + ANG_MAX_TRAIN * ANGARA_PACKET_BYTES <=
	      WIRE_MAX_BODY, "wire");
static_assert(sizeof(struct wire_hello) + WIRE_MAX_RANGES * 8 <= WIRE_MAX_BODY,
	      "wire");
/* A new member of struct ang_pkt must be added to struct wire_packet, and be copied below. */
static_assert(sizeof(struct ang_pkt) == 80 && ANG_PKT_NUM == 18, "wire");

static u32 checksum(const struct wire_head *h, const void *body)
{
	struct wire_head copy = *h;
	uLong crc;

	copy.crc = 0;
	crc = crc32(0, (const Bytef *)&copy, sizeof(copy));
	/* Without a buffer crc32() returns its initial value. */
	if (h->length)
		crc = crc32(crc, body, le32_to_cpu(h->length));
	return (u32)crc;
}

/**
 * wire_seal() - fill the head of a frame
 * @frame: head, and the body after it
 * @type: WIRE_*
 * @length: bytes of the body
 * @seq: number or 0
 * @ack: number of the last frame received
 */
void wire_seal(void *frame, u32 type, u32 length, u64 seq, u64 ack)
{
	struct wire_head *h = frame;

	memset(h, 0, sizeof(*h));
	h->length = cpu_to_le32(length);
	h->type = (u8)type;
	h->seq = cpu_to_le64(seq);
	h->ack = cpu_to_le64(ack);
	h->crc = cpu_to_le32(checksum(h, h + 1));
}

/** wire_head_flaw() - check a head. Return: NULL, or the error */
const char *wire_head_flaw(const struct wire_head *h)
{
	if (le32_to_cpu(h->length) > WIRE_MAX_BODY)
		return "a frame that is too long";
	if (!h->type || h->type > WIRE_MGMT)
		return "a frame of an unknown type";
	return NULL;
}

const char wire_torn[] = "a frame with a wrong checksum";

/**
 * wire_flaw() - check that a frame is intact.  Return: NULL, or the error; wire_torn:
 * the frame was changed on its way
 */
const char *wire_flaw(const struct wire_head *h, const void *body)
{
	u32 length = le32_to_cpu(h->length);
	u32 i;

	if (le32_to_cpu(h->crc) != checksum(h, body))
		return wire_torn;
	for (i = 0; i < sizeof(h->reserved); i++)
		if (h->reserved[i])
			return "a frame with a reserved byte that is not 0";
	if ((h->type >= WIRE_PACKET) != (h->seq != 0))
		return "a frame whose number does not match its type";
	switch (h->type) {
	case WIRE_ALIVE:
	case WIRE_JOINED:
		return length ? "a frame with a body that must not have one" : NULL;
	case WIRE_JOIN:
		return length != sizeof(struct wire_join) ?
		       "a JOIN of a wrong length" : NULL;
	case WIRE_PACKET:
		return length < sizeof(struct wire_packet) ?
		       "a truncated packet" : NULL;
	case WIRE_TAKEN:
		return !length || length % sizeof(struct wire_taken) ?
		       "an invalid report of room for packets" : NULL;
	case WIRE_MGMT:
		return length != sizeof(struct wire_mgmt) ?
		       "a management packet of a wrong size" : NULL;
	case WIRE_LOST:
		return !length || length % sizeof(struct wire_lost) ?
		       "an invalid list of nodes" : NULL;
	default:
		return NULL;
	}
}

#define HASH_START	0xCBF29CE484222325ULL

static u64 hash_word(u64 hash, u32 word)
{
	return (hash ^ word) * 0x100000001B3ULL;
}

/** wire_nodes() - compute a hash of a set of nodes */
u64 wire_nodes(const bool *nodes, u32 num_nodes)
{
	u64 hash = HASH_START;
	u32 i;

	for (i = 0; i < num_nodes; i++)
		if (nodes[i])
			hash = hash_word(hash, i);
	return hash;
}

/** wire_fabric() - compute a hash of the topology */
u64 wire_fabric(const struct ang_topo *topo)
{
	u64 hash = hash_word(HASH_START, topo->kind);
	u32 router, port;

	hash = hash_word(hash, topo->nodes);
	for (router = 0; router < topo->routers; router++)
		for (port = 0; port < topo->nports; port++) {
			u32 far = ANGARA_PORT_NONE;
			u32 to = ang_topo_peer(topo, router, port, &far);

			hash = hash_word(hash, to);
			hash = hash_word(hash, to == ANG_NONE ? 0 : far);
		}
	return hash;
}

/**
 * wire_hello_put() - make a hello
 * @frame: out: WIRE_MAX_BODY bytes and a head
 * @h: hello of this server
 *
 * Return: bytes of the frame; 0 if the nodes are in too many ranges.
 */
u32 wire_hello_put(void *frame, const struct hello *h)
{
	struct wire_hello *w = (void *)((struct wire_head *)frame + 1);
	struct wire_range *r = (void *)(w + 1);
	u32 ranges = 0;
	u32 length;
	u32 i;

	memset(w, 0, sizeof(*w));
	w->magic = cpu_to_le32(WIRE_MAGIC);
	w->version = cpu_to_le16(WIRE_VERSION);
	w->self = cpu_to_le64(h->self);
	w->other = cpu_to_le64(h->other);
	w->fabric = cpu_to_le64(wire_fabric(&h->cfg.topo));
	w->ctxs = cpu_to_le16(h->cfg.ctxs);
	w->trees = cpu_to_le16(h->cfg.trees);
	w->ops = cpu_to_le16(h->cfg.ops);
	w->train = cpu_to_le16(h->cfg.train);
	w->depth = cpu_to_le16(h->cfg.depth);
	w->era = cpu_to_le32(h->era);
	w->fabric_id = cpu_to_le64(h->fabric_id);
	w->lost = cpu_to_le64(h->lost);
	for (i = 0; i < h->num_nodes; i++) {
		if (!h->nodes[i])
			continue;
		if (!i || !h->nodes[i - 1]) {
			if (ranges == WIRE_MAX_RANGES)
				return 0;
			r[ranges++].first = cpu_to_le32(i);
		}
		r[ranges - 1].last = cpu_to_le32(i);
	}
	w->ranges = cpu_to_le16((u16)ranges);
	length = (u32)(sizeof(*w) + ranges * sizeof(*r));
	wire_seal(frame, WIRE_HELLO, length, 0, h->seen);
	return (u32)sizeof(struct wire_head) + length;
}

static const char *same_fabric(const struct wire_hello *w,
			       const struct ang_cfg *cfg)
{
	if (le32_to_cpu(w->magic) != WIRE_MAGIC)
		return "does not use the protocol of angara-vfio";
	if (le16_to_cpu(w->version) != WIRE_VERSION)
		return "runs another version of angara-vfio";
	if (le64_to_cpu(w->fabric) != wire_fabric(&cfg->topo))
		return "serves another fabric: give both the same --fabric";
	if (le16_to_cpu(w->ctxs) != cfg->ctxs)
		return "has another number of contexts: give both the same --contexts";
	if (le16_to_cpu(w->trees) != cfg->trees)
		return "has another number of trees: give both the same --trees";
	if (le16_to_cpu(w->ops) != cfg->ops ||
	    le16_to_cpu(w->train) != cfg->train ||
	    le16_to_cpu(w->depth) != cfg->depth)
		return "has another layout of the fabric";
	return NULL;
}

/**
 * wire_hello_get() - parse a hello
 * @h: head of a frame without a flaw
 * @body: its body
 * @cfg: own fabric
 * @out: out; @out->nodes has @out->num_nodes members
 *
 * Return: NULL, or the error, as a statement about the sender.
 */
const char *wire_hello_get(const struct wire_head *h, const void *body,
			   const struct ang_cfg *cfg, struct hello *out)
{
	u32 length = le32_to_cpu(h->length);
	u32 from = 0;
	struct wire_hello w;
	const char *flaw;
	u32 i, k;

	if (h->type != WIRE_HELLO || length < sizeof(w))
		return "does not use the protocol of angara-vfio";
	memcpy(&w, body, sizeof(w));
	flaw = same_fabric(&w, cfg);
	if (flaw)
		return flaw;
	if (length != sizeof(w) + le16_to_cpu(w.ranges) *
				sizeof(struct wire_range) ||
	    !w.ranges || !w.self)
		return "sends an invalid hello";
	out->self = le64_to_cpu(w.self);
	out->other = le64_to_cpu(w.other);
	out->seen = le64_to_cpu(h->ack);
	out->era = le32_to_cpu(w.era);
	out->fabric_id = le64_to_cpu(w.fabric_id);
	out->lost = le64_to_cpu(w.lost);
	memset(out->nodes, 0, out->num_nodes * sizeof(*out->nodes));
	for (i = 0; i < le16_to_cpu(w.ranges); i++) {
		struct wire_range r;
		u32 first, last;

		memcpy(&r, (const char *)body + sizeof(w) + i * sizeof(r),
		       sizeof(r));
		first = le32_to_cpu(r.first);
		last = le32_to_cpu(r.last);
		if (first < from || last < first || last >= out->num_nodes)
			return "names nodes that do not exist";
		for (k = first; k <= last; k++)
			out->nodes[k] = true;
		from = last + 1;
	}
	return NULL;
}

/** wire_join_put() - make a JOIN, see struct wire_join. Return: bytes of the frame */
u32 wire_join_put(void *frame, u32 era, u64 lost)
{
	struct wire_join *w = (void *)((struct wire_head *)frame + 1);

	*w = (struct wire_join){
		.era = cpu_to_le32(era), .lost = cpu_to_le64(lost),
	};
	wire_seal(frame, WIRE_JOIN, sizeof(*w), 0, 0);
	return (u32)(sizeof(struct wire_head) + sizeof(*w));
}

/** wire_text_put() - make a frame of text, cut if it is too long. Return: bytes */
u32 wire_text_put(void *frame, u32 type, const char *text)
{
	u32 length = (u32)strnlen(text, WIRE_MAX_TEXT);

	memcpy((struct wire_head *)frame + 1, text, length);
	wire_seal(frame, type, length, 0, 0);
	return (u32)sizeof(struct wire_head) + length;
}

/** wire_text_get() - read text of an untrusted sender and make it printable */
void wire_text_get(const struct wire_head *h, const void *body, char *text)
{
	u32 length = ang_min(le32_to_cpu(h->length), WIRE_MAX_TEXT);
	u32 i;

	for (i = 0; i < length; i++) {
		char c = ((const char *)body)[i];

		text[i] = c >= ' ' && c <= '~' ? c : '?';
	}
	text[length] = 0;
}

/** wire_channel() - find the channel on which a packet travels */
u32 wire_channel(const struct ang_pkt *p, u32 vc)
{
	if (vc == ANGARA_VC_UP &&
	    (p->type == ANG_PKT_REDUCE || p->type == ANG_PKT_ALLREDUCE))
		return WIRE_CH_RED(p->tree);
	return vc;
}

void wire_packet_put(struct wire_packet *w, u32 node, u32 dir, u32 vc,
		     const struct ang_pkt *p)
{
	*w = (struct wire_packet){
		.off = cpu_to_le64(p->off),
		.key = cpu_to_le64(p->key),
		.job = cpu_to_le64(p->job),
		.node = cpu_to_le32(node),
		.src_node = cpu_to_le32(p->src_node),
		.dst_node = cpu_to_le32(p->dst_node),
		.pkey = cpu_to_le32(p->pkey),
		.len = cpu_to_le32(p->len),
		.seq = cpu_to_le32(p->seq),
		.life = cpu_to_le32(p->life),
		.bytes = cpu_to_le32(p->bytes),
		.src_ctx = cpu_to_le16(p->src_ctx),
		.dst_ctx = cpu_to_le16(p->dst_ctx),
		.slot = cpu_to_le16(p->slot),
		.counter = cpu_to_le16(p->counter),
		.gen = cpu_to_le16(p->gen),
		.hops = cpu_to_le16(p->hops),
		.dir = (u8)dir,
		.vc = (u8)vc,
		.type = p->type,
		.flags = p->flags,
		.tree = p->tree,
		.npkts = p->npkts,
		.dtype = p->dtype,
		.redop = p->redop,
		.status = p->status,
	};
}

void wire_packet_get(const struct wire_packet *w, struct ang_pkt *p)
{
	*p = (struct ang_pkt){
		.type = w->type,
		.flags = w->flags,
		.tree = w->tree,
		.npkts = w->npkts,
		.dtype = w->dtype,
		.redop = w->redop,
		.status = w->status,
		/* ang_remote_flaw() rejects a packet in which this is not 0. */
		.reserved = w->reserved[0] | w->reserved[1] | w->reserved[2],
		.src_node = le32_to_cpu(w->src_node),
		.src_ctx = le16_to_cpu(w->src_ctx),
		.slot = le16_to_cpu(w->slot),
		.dst_node = le32_to_cpu(w->dst_node),
		.dst_ctx = le16_to_cpu(w->dst_ctx),
		.counter = le16_to_cpu(w->counter),
		.pkey = le32_to_cpu(w->pkey),
		.len = le32_to_cpu(w->len),
		.job = le64_to_cpu(w->job),
		.key = le64_to_cpu(w->key),
		.gen = le16_to_cpu(w->gen),
		.hops = le16_to_cpu(w->hops),
		.off = le64_to_cpu(w->off),
		.seq = le32_to_cpu(w->seq),
		.life = le32_to_cpu(w->life),
		.bytes = le32_to_cpu(w->bytes),
	};
}
