// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a process does with a context, on any host: queue entries, completions,
 * counters; see host.h.
 */
#include <string.h>

#include "test.h"

u64 ctx_counter(const struct tctx *c, u32 index)
{
	return le64_to_cpu(__atomic_load_n(&c->ctr[index], __ATOMIC_ACQUIRE));
}

void post(struct tctx *c, const struct angara_wqe *w, const void *payload)
{
	post_bytes(c, w, payload, payload ? le32_to_cpu(w->length) : 0);
}

_Thread_local u64 host_posted;

void post_bytes(struct tctx *c, const struct angara_wqe *w, const void *payload,
		u32 len)
{
	u32 at;

	host_posted++;
	c->sq[c->sq_pi++ & (c->sq_n - 1)] = *w;
	for (at = 0; at < len; at += 64)
		memcpy(&c->sq[c->sq_pi++ & (c->sq_n - 1)],
		       (const char *)payload + at,
		       len - at < 64 ? len - at : 64);
}

int poll_cq(struct tctx *c, struct angara_cqe *cqe)
{
	struct angara_cqe *e = &c->cq[c->cq_ci & (c->cq_n - 1)];
	u64 last = __atomic_load_n((u64 *)e + 3, __ATOMIC_ACQUIRE);

	if ((last >> 56 & 1) != !(c->cq_ci & c->cq_n))
		return 0;
	*cqe = *e;
	c->cq_ci++;
	__atomic_store_n(&c->ctl->cq_ci, cpu_to_le32(c->cq_ci),
			 __ATOMIC_RELEASE);
	return 1;
}

u32 finish(struct tctx *c, struct angara_cqe *cqe)
{
	struct angara_cqe one;
	struct angara_cqe more;

	host_run(c->h);
	EXPECT(poll_cq(c, &one));
	EXPECT(!poll_cq(c, &more));
	if (cqe)
		*cqe = one;
	return le16_to_cpu(one.status);
}

u32 status_of(struct tctx *c, struct angara_wqe w)
{
	post(c, &w, NULL);
	kick(c);
	return finish(c, NULL);
}

void wqe_src(struct angara_wqe *w, u64 off)
{
	if (w->opcode == ANGARA_OP_GET)
		w->roff = cpu_to_le64(off);
	else
		w->loff = cpu_to_le64(off);
}

void wqe_dst(struct angara_wqe *w, u64 off)
{
	if (w->opcode == ANGARA_OP_GET)
		w->loff = cpu_to_le64(off);
	else if (w->opcode == ANGARA_OP_REDUCE ||
		 w->opcode == ANGARA_OP_ALLREDUCE)
		w->aux = cpu_to_le64(off);
	else
		w->roff = cpu_to_le64(off);
}

struct angara_wqe wqe_p2p(u32 op, u32 node, u32 ctx, u64 src, u64 dst, u32 len)
{
	struct angara_wqe w = {
		.opcode = (u8)op,
		.dst_node = cpu_to_le32(node),
		.dst_ctx = cpu_to_le16((u16)ctx),
		.length = cpu_to_le32(len),
		.cookie = cpu_to_le64(0xC0DE0000ULL + len),
	};

	wqe_src(&w, src);
	wqe_dst(&w, dst);
	return w;
}

struct angara_wqe wqe_coll(u32 op, u32 tree, u64 src, u64 dst, u32 len)
{
	struct angara_wqe w = wqe_p2p(op, 0, 0, src, dst, len);

	w.tree = cpu_to_le16((u16)tree);
	w.type = ANGARA_TYPE_UINT32;
	return w;
}
