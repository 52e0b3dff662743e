// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Contexts that send each other messages; see msgs.h.
 */
#include "msgs.h"

#define FILL_TAG	1000	/* tag of the first message that fills a
				 * receive buffer */
#define FILL		5

struct tctx *member(struct host *h, u32 node, u32 id)
{
	struct tctx *c = ctx_new(h, node, id, PKEY, 6, 6);

	ctx_buffer(c, MSG_MEMORY);
	return c;
}

void send_msg(struct tctx *from, u32 node, u32 ctx, u32 tag, u32 len)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_SEND, node, ctx, 0, tag, len);

	w.cookie = cpu_to_le64(tag);
	post(from, &w, NULL);
	kick(from);
}

u32 fill_area(struct tctx *c)
{
	u32 k;

	for (k = 0; k < FILL; k++)
		send_msg(c, c->node, c->id, FILL_TAG + k, MSG_LEN);
	host_run(c->h);
	for (k = 0; k < FILL; k++)
		expect_cqe(c, FILL_TAG + k, ANGARA_ST_OK);
	return FILL;
}

void expect_next(struct tarea *a, u32 tag, u32 *voids)
{
	const struct angara_msg *m;

	host_run(a->c->h);
	m = area_next(a, voids);
	EXPECT(m);
	EXPECT_EQ(le64_to_cpu(m->tag), tag);
	area_free(a, m);
}

void expect_cqe(struct tctx *c, u32 tag, u32 status)
{
	struct angara_cqe cqe;

	EXPECT(poll_cq(c, &cqe));
	EXPECT_EQ(le64_to_cpu(cqe.cookie), tag);
	EXPECT_EQ(le16_to_cpu(cqe.status), status);
}

void host_end(struct host *h)
{
	host_check_idle(h);
	host_free(h);
}

void area_lost(struct host *h, struct ang_node *n, struct ang_ctx *c)
{
	u32 place;

	for (place = 0; place < ANG_MSG_PLACES; place++)
		ang_msg_lost(&h->v, n, c, place);
}
