// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Receive buffers: what a driver and a process do with them; see host.h.
 */
#include <string.h>

#include "test.h"

struct tarea *area_new(struct tctx *c, u32 log2)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_MSG_AREA };
	struct tarea *a = calloc(1, sizeof(*a));
	u32 pages = (1U << log2) / 4096;
	u64 addr;
	__le64 *list = host_alloc(c->h, c->node, pages * 8, &addr);

	a->c = c;
	a->units = (1U << log2) / ANGARA_MSG_UNIT;
	a->mem = host_alloc_pages(c->h, c->node, 1U << log2, list);
	a->seg = &c->h->node[c->node].seg[c->h->node[c->node].nsegs - 1];
	cmd.ctx = cpu_to_le16((u16)c->id);
	cmd.msg.pages = cpu_to_le64(addr);
	cmd.msg.log2 = (u8)log2;
	EXPECT_EQ(adm(c->h, c->node, &cmd, NULL), ANGARA_ADM_ST_OK);
	return a;
}

static u32 units(const struct angara_msg *m)
{
	return 1 + (le32_to_cpu(m->length) + ANGARA_MSG_UNIT - 1) /
		   ANGARA_MSG_UNIT;
}

static void give_back(struct tarea *a, u32 ci)
{
	struct tctx *c = a->c;

	__atomic_store_n(&c->ctl->msg_ci, cpu_to_le32(ci), __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (ctx_counter(c, ANGARA_CTR_MSG_WAIT))
		kick(c);
}

const struct angara_msg *area_next(struct tarea *a, u32 *voids)
{
	for (;;) {
		const struct angara_msg *m = (const void *)
			(a->mem + (a->ci & (a->units - 1)) * ANGARA_MSG_UNIT);
		u64 last = __atomic_load_n((const u64 *)m + 7, __ATOMIC_ACQUIRE);

		switch (last >> 56) {
		case ANGARA_MSG_NONE:
			return NULL;
		case ANGARA_MSG_DATA:
			EXPECT((a->ci & (a->units - 1)) + units(m) <= a->units);
			return m;
		case ANGARA_MSG_PAD:
			EXPECT_EQ((a->ci + units(m)) & (a->units - 1), 0);
			break;
		case ANGARA_MSG_VOID:
			EXPECT(voids);
			++*voids;
			break;
		default:
			test_fail(__FILE__, __LINE__, "kind %llu",
				  (unsigned long long)last >> 56);
		}
		a->ci += units(m);
		give_back(a, a->ci);
	}
}

void area_free(struct tarea *a, const struct angara_msg *m)
{
	a->ci += units(m);
	give_back(a, a->ci);
}
