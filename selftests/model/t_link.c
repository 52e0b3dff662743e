// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rings between nodes and payload buffers, block by block. */
#include <string.h>

#include "test.h"

static struct ang_pkt packet(u32 seq)
{
	return (struct ang_pkt){
		.type = ANG_PKT_PUT, .npkts = 1, .seq = seq, .dst_node = 2,
	};
}

static struct ang_pkt *head(struct host *h, struct ang_node *n)
{
	return ang_ring_head(&h->v, ang_ring(h->fab, n, 1, ANGARA_VC_REQ));
}

/* Node 0 sends to node 1, in direction X+; neither node is run. */
static void bubble(void)
{
	struct host *h = host_new("4", &cfg_tight);
	struct ang_node *a = ang_node(h->fab, 0);
	struct ang_node *b = ang_node(h->fab, 1);
	struct ang_pkt p;
	u32 i;

	EXPECT(!head(h, b));
	for (i = 0; i < 3; i++) {
		p = packet(i);
		EXPECT(ang_link_room(&h->v, a, ANGARA_PORT_NONE, 0, ANGARA_VC_REQ));
		EXPECT(ang_link_send(&h->v, a, &p, ANGARA_PORT_NONE, 0, ANGARA_VC_REQ));
	}
	/* One entry is left: it is only for packets that do not turn. */
	p = packet(3);
	EXPECT(!ang_link_send(&h->v, a, &p, ANGARA_PORT_NONE, 0, ANGARA_VC_REQ));
	EXPECT_EQ(ang_port(h->fab, a, 0)->link.stalls[ANGARA_VC_REQ], 1);
	EXPECT(ang_link_send(&h->v, a, &p, 1, 0, ANGARA_VC_REQ));
	EXPECT(!ang_link_send(&h->v, a, &p, 1, 0, ANGARA_VC_REQ));
	/* Other channels are not blocked by the full ring. */
	EXPECT(ang_link_send(&h->v, a, &p, ANGARA_PORT_NONE, 0, ANGARA_VC_RSP));
	EXPECT_EQ(ang_port(h->fab, a, 0)->link.packets[ANGARA_VC_REQ], 4);
	EXPECT_EQ(ang_port(h->fab, a, 0)->link.flits[ANGARA_VC_REQ], 4);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(head(h, b)->seq, i);
		EXPECT_EQ(head(h, b)->hops, 1);
		EXPECT_EQ(!!(a->sched & ANG_SCHED_WORK), i > 0);
		host_pop(h, b, 1, ANGARA_VC_REQ);
		EXPECT(a->sched & ANG_SCHED_WORK);
	}
	EXPECT(!head(h, b));
	/* Indices wrap around. */
	for (i = 0; i < 100; i++) {
		p = packet(i);
		EXPECT(ang_link_send(&h->v, a, &p, ANGARA_PORT_NONE, 0, ANGARA_VC_REQ));
		EXPECT_EQ(head(h, b)->seq, i);
		host_pop(h, b, 1, ANGARA_VC_REQ);
	}
	host_pop(h, b, 1, ANGARA_VC_RSP);
	host_free(h);
}

/* In a ring of two, both links lead to the same node, in separate rings. */
static void two_links(void)
{
	struct host *h = host_new("2", &cfg_tight);
	struct ang_node *a = ang_node(h->fab, 0);
	struct ang_node *b = ang_node(h->fab, 1);
	struct ang_pkt p = packet(7);

	EXPECT(ang_link_send(&h->v, a, &p, ANGARA_PORT_NONE, 1, ANGARA_VC_REQ));
	EXPECT(!head(h, b));
	EXPECT(ang_ring_head(&h->v, ang_ring(h->fab, b, 0, ANGARA_VC_REQ)));
	EXPECT(b->sched & 1ULL << ANGARA_VC_REQ);
	host_pop(h, b, 0, ANGARA_VC_REQ);
	host_free(h);
}

static u32 take_all(struct host *h, struct ang_node *n, u32 kind, u64 *bufs)
{
	u32 count = 0;

	for (;;) {
		bufs[count] = ang_buf_get(&h->v, n, kind);
		if (!bufs[count])
			return count;
		/* Each buffer is allocated only once. */
		memset(ang_buf_data(&h->v, bufs[count]), 0xEE, h->fab->buf_size);
		count++;
	}
}

static void buffers(void)
{
	struct ang_cfg cfg = cfg_tight;
	struct host *h;
	struct ang_node *n;
	u64 bufs[128];
	u32 kinds, i, k;

	for (kinds = 8; kinds < 20; kinds++) {
		u32 total = 0;

		cfg.bufs = (u16)kinds;
		h = host_new("2", &cfg);
		n = ang_node(h->fab, 1);
		for (k = 0; k < ANG_BUF_TREE(ANG_DEF_TREES); k++) {
			u32 got = take_all(h, n, k, bufs + total);

			EXPECT(got >= 2);
			total += got;
			EXPECT_EQ(ang_buf_get(&h->v, n, k), 0);
		}
		EXPECT_EQ(total, kinds + 2U * ANG_DEF_TREES);
		for (i = 0; i < total; i++)
			for (k = 0; k < i; k++)
				EXPECT(bufs[i] != bufs[k]);
		for (i = 0; i < total; i++)
			ang_buf_put(&h->v, bufs[i], 1);
		host_free(h);
	}
}

static void references(void)
{
	struct host *h = host_new("2", &cfg_tight);
	struct ang_node *n = ang_node(h->fab, 1);
	u64 bufs[128];
	u32 count = take_all(h, n, ANG_BUF_RSP, bufs);
	u32 i;

	EXPECT_EQ(n->buf_waiting, 1);
	EXPECT_EQ(n->cnt.no_buffer, 1);
	ang_buf_share(&h->v, bufs[0], 2);
	ang_buf_put(&h->v, bufs[0], 1);
	ang_buf_put(&h->v, bufs[0], 1);
	EXPECT(!(n->sched & ANG_SCHED_WORK));
	EXPECT_EQ(ang_buf_get(&h->v, n, ANG_BUF_RSP), 0);
	ang_buf_put(&h->v, bufs[0], 1);
	EXPECT(n->sched & ANG_SCHED_WORK);
	EXPECT_EQ(n->buf_waiting, 0);
	EXPECT_EQ(ang_buf_get(&h->v, n, ANG_BUF_RSP), bufs[0]);
	/* Buffer 0 means no buffer, and 0 references change nothing. */
	ang_buf_put(&h->v, 0, 1);
	ang_buf_share(&h->v, 0, 1);
	ang_buf_share(&h->v, bufs[0], 0);
	ang_buf_put(&h->v, bufs[0], 0);
	for (i = 0; i < count; i++)
		ang_buf_put(&h->v, bufs[i], 1);
	host_free(h);
}

const struct test_case link_cases[] = {
	{ "link: room, the bubble rule, waking", bubble },
	{ "link: two links to one neighbour", two_links },
	{ "link: buffers of each kind", buffers },
	{ "link: references and waking", references },
	{ NULL, NULL },
};
