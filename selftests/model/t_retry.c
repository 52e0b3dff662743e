// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Links that lose, corrupt and delay packets: no operation is lost, duplicated
 * or wrong.  Links that go down and come back.
 */
#include <string.h>

#include "invariant.h"
#include "test.h"
#include "coll.h"

#define TENTH	(ANGARA_FAULT_ONE / 10)

static struct angara_adm_link faults(u32 loss, u32 corrupt, u32 delay, u64 seed)
{
	return (struct angara_adm_link){
		.loss = cpu_to_le32(loss), .corrupt = cpu_to_le32(corrupt),
		.delay = cpu_to_le32(delay), .seed = cpu_to_le64(seed),
		.what = ANGARA_LINK_FAULT,
	};
}

static u32 order(struct host *h, u32 router, u32 port, u32 what)
{
	struct angara_adm_link link = { .what = (u8)what };

	return adm_link(h, router, port, &link);
}

u32 __real_ang_frame_sum(const void *data, u32 len);
u32 __wrap_ang_frame_sum(const void *data, u32 len);

static bool blind;	/* accept all checksums */

u32 __wrap_ang_frame_sum(const void *data, u32 len)
{
	u32 sum;

	if (!blind)
		return __real_ang_frame_sum(data, len);
	/*
	 * A sender may fill in any checksum.  On receipt, return the checksum
	 * in the frame, so that it is accepted.
	 */
	memcpy(&sum, (const u8 *)data + len, sizeof(sum));
	return sum;
}

/* Return: the counters of links, summed over all links. */
static struct angara_hw_link_counters total(struct host *h)
{
	struct angara_hw_link_counters sum = { 0 };
	u32 router, port;

	for (router = 0; router < h->v.topo.routers; router++)
		for (port = 0; port < h->fab->nports; port++) {
			const struct ang_retry *r =
				&ang_port(h->fab, ang_node(h->fab, router),
					  port)->retry;

			sum.lost += r->cnt.lost;
			sum.corrupt += r->cnt.corrupt;
			sum.retransmitted += r->cnt.retransmitted;
			sum.timeouts += r->cnt.timeouts;
		}
	return sum;
}

/* Checks the known checksum of a standard text. */
static void sums(void)
{
	u8 text[] = "123456789";
	u32 sum = ang_frame_sum(text, 9);
	u32 at, bits;

	EXPECT_EQ(sum, 0xCBF43926);
	EXPECT_EQ(ang_frame_sum("", 0), 0);
	for (at = 0; at < 9; at++)
		for (bits = 1; bits < 256; bits++) {
			text[at] ^= (u8)bits;
			EXPECT(ang_frame_sum(text, 9) != sum);
			text[at] ^= (u8)bits;
		}
}

/* A packet is lost or corrupted with the given probability, and one seed gives one sequence. */
static void fates(void)
{
	const struct ang_fault f = { .loss = TENTH, .corrupt = 2 * TENTH };
	const struct ang_fault never = { .delay = 5 };
	const struct ang_fault always = { .corrupt = ANGARA_FAULT_ONE };
	u64 a = 7, b = 7, c = 8;
	u32 count[3] = { 0 }, differ = 0, i;

	for (i = 0; i < 100000; i++) {
		u32 fate = ang_fault_fate(&f, &a);

		count[fate]++;
		EXPECT_EQ(ang_fault_fate(&f, &b), fate);
		differ += ang_fault_fate(&f, &c) != fate;
		EXPECT_EQ(ang_fault_fate(&never, &c), ANG_FATE_OK);
		EXPECT_EQ(ang_fault_fate(&always, &c), ANG_FATE_CORRUPT);
	}
	EXPECT(count[ANG_FATE_LOST] > 9500 && count[ANG_FATE_LOST] < 10500);
	EXPECT(count[ANG_FATE_CORRUPT] > 19500 && count[ANG_FATE_CORRUPT] < 20500);
	EXPECT(differ > 1000);
}

/*
 * Only the checksum detects errors: if every checksum were accepted, wrong bits
 * would reach memory.
 */
static void blind_eyes(void)
{
	struct angara_adm_link link = faults(0, ANGARA_FAULT_ONE / 2, 0, 3);
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 8192, 3000);
	u32 i;

	for (i = 0; i < 2; i++) {
		struct group two = { .h = host_new("2", &cfg_tight) };
		u64 wrong;

		group_new(&two, 1, 8192);
		EXPECT_EQ(adm_link(two.h, 0, 0, &link), ANGARA_ADM_ST_OK);
		memset(two.ctx[0]->buf, 0x5A, 3000);
		blind = i;
		EXPECT_EQ(status_of(two.ctx[0], w), ANGARA_ST_OK);
		blind = false;
		EXPECT_EQ(!memcmp(two.ctx[0]->buf, two.ctx[1]->buf + 8192, 3000), !i);
		wrong = ang_port(two.h->fab, ang_node(two.h->fab, 0), 0)->retry.cnt.corrupt;
		EXPECT(wrong > 0);
		group_del(&two);
	}
}

static void acknowledgements(void)
{
	EXPECT_EQ(ang_seq_add(ANG_RETRY_SEQS - 1, 1), 0);
	EXPECT_EQ(ang_retry_acked(5, 10, 5), 0);
	EXPECT_EQ(ang_retry_acked(5, 10, 15), 10);
	EXPECT_EQ(ang_retry_acked(5, 10, 16), 0);
	EXPECT_EQ(ang_retry_acked(5, 10, 4), 0);
	EXPECT_EQ(ang_retry_acked(ANG_RETRY_SEQS - 2, 10, 3), 5);
	/* A number in the window is never taken for an old one. */
	EXPECT(2 * ANG_RETRY_WINDOW <= ANG_RETRY_SEQS);
}

static const u32 channels[] = { ANGARA_VC_REQ, ANGARA_VC_RSP };

/* The link from node 0 to node 1. Node 1 never runs. Each train carries its number. */
struct wire {
	struct host *h;
	struct ang_node *a;
	struct ang_node *b;
	struct ang_retry *r;
	u64 seed;
	u32 sent[2];
	u32 got[2];
};

static struct wire wire_new(void)
{
	struct angara_adm_link link = faults(TENTH, TENTH, 40, 3);
	struct ang_cfg cfg = cfg_tight;
	struct wire w = { .seed = 5 };

	cfg.train = 64;
	cfg.depth = 64;
	w.h = host_new("4", &cfg);
	EXPECT_EQ(adm_link(w.h, 0, 0, &link), ANGARA_ADM_ST_OK);
	w.a = ang_node(w.h->fab, 0);
	w.b = ang_node(w.h->fab, 1);
	w.r = &ang_port(w.h->fab, w.a, 0)->retry;
	host_freeze(w.h, 1, 1);
	return w;
}

static void wire_send(struct wire *w)
{
	u32 i = (u32)rnd(&w->seed) % 2;
	struct ang_pkt p = {
		.type = ANG_PKT_ACK, .npkts = (u8)(1 + rnd(&w->seed) % 64),
		.seq = w->sent[i], .dst_node = 2,
	};

	if (ang_link_send(&w->h->v, w->a, &p, 1, 0, channels[i]))
		w->sent[i]++;
}

static void wire_run(struct wire *w)
{
	ang_wake(&w->h->v, w->a, 0);
	run_steps(&w->h->v, 1 + (u32)rnd(&w->seed) % 4);
}

/* Each channel keeps its order, and loses nothing. */
static void wire_take(struct wire *w)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct ang_ring *ring = ang_ring(w->h->fab, w->b, 1, channels[i]);

		while (ang_ring_head(&w->h->v, ring)) {
			EXPECT_EQ(ang_ring_head(&w->h->v, ring)->seq, w->got[i]++);
			host_pop(w->h, w->b, 1, channels[i]);
		}
	}
}

static void one_link(void)
{
	struct wire w = wire_new();
	u32 most = 0, wraps = 0;
	u16 base = 0;

	while (w.got[0] < 3000 || w.got[1] < 3000) {
		u32 kept = (u8)(w.r->end - w.r->first);

		most = kept > most ? kept : most;
		wraps += w.r->base < base;
		base = w.r->base;
		if (rnd(&w.seed) % 3)
			wire_send(&w);
		if (!(rnd(&w.seed) % 4))
			wire_run(&w);
		wire_take(&w);
	}
	EXPECT_EQ(most, ANG_RETRY_TRAINS);
	EXPECT(wraps > 10);
	EXPECT(w.r->cnt.lost && w.r->cnt.corrupt && w.r->cnt.retransmitted &&
	       w.r->cnt.timeouts);
	while (w.r->held)
		wire_run(&w);
	wire_take(&w);
	EXPECT(w.got[0] == w.sent[0] && w.got[1] == w.sent[1]);
	host_freeze(w.h, 1, 0);
	host_run(w.h);
	w.b->rx = 0;
	host_free(w.h);
}

/*
 * Runs other cases on links of which each loses and corrupts a tenth of the
 * packets: results, orders and counts are the same.
 */
static u64 bad_links(const struct test_case *c, u32 delay)
{
	u64 posted = host_posted;

	host_faults = faults(TENTH, TENTH, delay, 11 + delay);
	for (; c->run; c++)
		/*
		 * The result of this case depends on the order of senders,
		 * which faults of links change.
		 */
		if (strcmp(c->name, "msg: 64 senders and room for eight"))
			c->run();
	host_faults.what = 0;
	return host_posted - posted;
}

static void bad_p2p(void)
{
	EXPECT(bad_links(p2p_cases, 0) > 20000);
}

static void bad_messages(void)
{
	EXPECT(bad_links(msg_cases, 0) > 80000);
	EXPECT(bad_links(msg_fault_cases, 300) > 2000);
}

static void bad_atomics(void)
{
	EXPECT(bad_links(atomic_cases, 300) > 1500);
	EXPECT(bad_links(life_cases, 300) > 2000);
}

/* Collectives are part of bad_mix(), too. */
static void bad_trees(void)
{
	EXPECT(bad_links(order_cases, 300) > 4000);
}

static void bad_mix(void)
{
	EXPECT(bad_links(stress_cases, 500) > 60000);
}

/* Equal seeds give equal losses, and different seeds different ones. */
static void seeds(void)
{
	struct angara_hw_link_counters got[3];
	u32 i;

	for (i = 0; i < 3; i++) {
		struct traffic sum;
		struct host *h;

		host_faults = faults(TENTH, TENTH, 100, 5 + i / 2);
		h = host_new("2x2x2", &cfg_tight);
		host_faults.what = 0;
		EXPECT(!ang_links_perfect(h->fab));
		h->ending = NULL;
		{
			struct group g = { .h = h };
			struct tctx *c;
			u32 k;

			group_new(&g, 1, 8192);
			c = g.ctx[0];
			for (k = 0; k < 200; k++)
				EXPECT_EQ(status_of(c, wqe_p2p(ANGARA_OP_PUT,
					k % 8, 0, 0, 8192, 4000)), ANGARA_ST_OK);
			got[i] = total(h);
			traffic(h, &sum);
			EXPECT_EQ(sum.drops, 0);
			group_del(&g);
		}
	}
	EXPECT(!memcmp(&got[0], &got[1], sizeof(got[0])));
	EXPECT(memcmp(&got[0], &got[2], sizeof(got[0])));
	EXPECT(got[0].lost > 100 && got[0].corrupt > 100 && got[0].timeouts);
}

static struct group g;

static struct ttree *begin(const char *text, u32 root)
{
	u16 pe[64];
	u32 i;

	g.h = host_new(text, &cfg_tight);
	group_new(&g, 1, 8192);
	for (i = 0; i < g.n; i++)
		pe[i] = 1;
	return tree_over(g.h, 0, root, g.ctx, g.n, pe, 1);
}

static u32 events(u32 node, u32 type)
{
	struct angara_hw_event ev;
	u32 n = 0;

	while (aeq_poll(g.h, node, &ev))
		n += ev.type == type;
	return n;
}

static u32 put_to(u32 from, u32 to, u32 *node)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, to, 0, 0, 8192, 3000);
	struct angara_cqe cqe;
	u32 status;

	post(g.ctx[from], &w, NULL);
	kick(g.ctx[from]);
	status = finish(g.ctx[from], &cqe);
	*node = le32_to_cpu(cqe.node);
	return status;
}

/* Every pair gets an error if and only if its path uses the link between 0 and 1. */
static void check_pairs(int down)
{
	u32 from, to, node, bad = 0;

	for (from = 0; from < g.n; from++)
		for (to = 0; to < g.n; to++) {
			u32 status = put_to(from, to, &node);

			if (status == ANGARA_ST_OK)
				continue;
			EXPECT_EQ(status, ANGARA_ST_UNREACHABLE);
			EXPECT(node <= 1);
			bad++;
		}
	EXPECT(down ? bad >= 2 : !bad);
}

static void down_and_up(void)
{
	struct ttree *t = begin("3x3", 4);
	u32 i;

	coll_allreduce(t, 4096);
	EXPECT(ang_links_perfect(g.h->fab));
	/* Port 0 of node 0 leads to node 1. */
	EXPECT_EQ(order(g.h, 0, 0, ANGARA_LINK_DOWN), ANGARA_ADM_ST_OK);
	EXPECT(!ang_links_perfect(g.h->fab));
	EXPECT_EQ(events(0, ANGARA_AEV_LINK_DOWN), 1);
	EXPECT_EQ(events(1, ANGARA_AEV_LINK_DOWN), 1);
	EXPECT_EQ(events(8, ANGARA_AEV_LINK_DOWN), 0);
	check_pairs(1);
	/* A second command to take the link down changes nothing. */
	EXPECT_EQ(order(g.h, 1, 1, ANGARA_LINK_DOWN), ANGARA_ADM_ST_OK);
	EXPECT_EQ(events(0, ANGARA_AEV_LINK_DOWN), 0);
	EXPECT_EQ(g.h->fab->flawed, 2);
	EXPECT_EQ(order(g.h, 1, 1, ANGARA_LINK_UP), ANGARA_ADM_ST_OK);
	EXPECT(ang_links_perfect(g.h->fab));
	EXPECT_EQ(events(0, ANGARA_AEV_LINK_UP), 1);
	EXPECT_EQ(events(1, ANGARA_AEV_LINK_UP), 1);
	check_pairs(0);
	for (i = 0; i < g.n; i++)
		events(i, 0);
	tree_del(t);
	g.h->dropped = 0;
	group_del(&g);
}

/*
 * A link of a tree goes down: all participants get an error, and the tree works
 * after it is set again.
 */
static void tree_over_link(void)
{
	struct ttree *t = begin("kns:4x2", 0);
	u32 leaf = 3, i;

	for (i = 0; i < g.h->v.topo.routers; i++)
		if (angara_tree_has(&t->rows[i]) && !t->rows[i].is_root)
			leaf = i;
	EXPECT_EQ(order(g.h, leaf, t->rows[leaf].to_root, ANGARA_LINK_DOWN),
		  ANGARA_ADM_ST_OK);
	for (i = 0; i < g.h->v.topo.routers; i++)
		if (angara_tree_has(&t->rows[i]))
			EXPECT_EQ(ang_node(g.h->fab, i)->tree[0].state,
				  ANGARA_TREE_STATE_DOWN);
	EXPECT_EQ(order(g.h, leaf, t->rows[leaf].to_root, ANGARA_LINK_UP),
		  ANGARA_ADM_ST_OK);
	tree_del(t);
	{
		u16 pe[64];

		for (i = 0; i < g.n; i++)
			pe[i] = 1;
		t = tree_over(g.h, 0, 2, g.ctx, g.n, pe, 2);
	}
	coll_allreduce(t, 4096);
	tree_del(t);
	group_del(&g);
}

/* Packets that a link holds when it goes down are dropped; their operations end. */
static void held(void)
{
	struct angara_adm_link link = faults(0, 0, 100000, 1);
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 1, 0, 0, 8192, 3000);
	struct angara_cqe cqe;

	g.h = host_new("4", &cfg_tight);
	group_new(&g, 1, 8192);
	EXPECT_EQ(adm_link(g.h, 0, 0, &link), ANGARA_ADM_ST_OK);
	g.h->v.patient = true;
	post(g.ctx[0], &w, NULL);
	kick(g.ctx[0]);
	run_steps(&g.h->v, 20);
	EXPECT(ang_port(g.h->fab, ang_node(g.h->fab, 0), 0)->retry.held > 0);
	link.what = ANGARA_LINK_DOWN;
	link.port = 0;
	EXPECT_EQ(ang_link_set(&g.h->v, ang_node(g.h->fab, 0), &link),
		  ANGARA_ADM_ST_OK);
	g.h->v.patient = false;
	EXPECT_EQ(finish(g.ctx[0], &cqe), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(cqe.node, 1);
	EXPECT(ang_node(g.h->fab, 0)->drops[ANGARA_DROP_LINK] > 0);
	g.h->dropped += ang_node(g.h->fab, 0)->drops[ANGARA_DROP_LINK];
	EXPECT_EQ(order(g.h, 0, 0, ANGARA_LINK_UP), ANGARA_ADM_ST_OK);
	EXPECT_EQ(status_of(g.ctx[0], w), ANGARA_ST_OK);
	/* After its faults are cleared, the link is like any other. */
	link = faults(0, 0, 0, 0);
	EXPECT_EQ(adm_link(g.h, 0, 0, &link), ANGARA_ADM_ST_OK);
	EXPECT(ang_links_perfect(g.h->fab));
	group_del(&g);
}

/* A link that loses all packets goes down by itself. */
static void dead(void)
{
	struct angara_adm_link link = faults(ANGARA_FAULT_ONE / 2,
					     ANGARA_FAULT_ONE / 2, 0, 9);
	struct ang_node *n;
	u32 node;

	g.h = host_new("4", &cfg_tight);
	group_new(&g, 1, 8192);
	n = ang_node(g.h->fab, 2);
	EXPECT_EQ(adm_link(g.h, 2, 0, &link), ANGARA_ADM_ST_OK);
	EXPECT_EQ(put_to(2, 3, &node), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(node, 3);
	EXPECT_EQ(ang_port(g.h->fab, n, 0)->retry.cnt.timeouts, ANG_RETRY_TRIES);
	EXPECT_EQ(events(2, ANGARA_AEV_LINK_DOWN), 1);
	EXPECT_EQ(events(3, ANGARA_AEV_LINK_DOWN), 1);
	/* Routes do not use the other direction around the ring. */
	EXPECT_EQ(put_to(1, 3, &node), ANGARA_ST_UNREACHABLE);
	EXPECT_EQ(node, 3);
	EXPECT_EQ(put_to(1, 0, &node), ANGARA_ST_OK);
	link = faults(0, 0, 0, 0);
	link.what |= ANGARA_LINK_UP;
	EXPECT_EQ(adm_link(g.h, 2, 0, &link), ANGARA_ADM_ST_OK);
	EXPECT_EQ(put_to(2, 3, &node), ANGARA_ST_OK);
	EXPECT(ang_links_perfect(g.h->fab));
	g.h->dropped += n->drops[ANGARA_DROP_LINK];
	group_del(&g);
}

/* Operations bypass links only while all links are perfect. */
static void express(void)
{
	struct angara_adm_link link = faults(1, 0, 0, 0);
	struct ang_ring *r;
	u32 node, before;

	g.h = host_new("4", &cfg_tight);
	group_new(&g, 1, 8192);
	g.h->ops.trace = NULL;
	r = ang_ring(g.h->fab, ang_node(g.h->fab, 1), 1, ANGARA_VC_REQ);
	EXPECT_EQ(put_to(0, 1, &node), ANGARA_ST_OK);
	EXPECT_EQ(r->put, 0);
	EXPECT_EQ(adm_link(g.h, 2, 1, &link), ANGARA_ADM_ST_OK);
	EXPECT_EQ(put_to(0, 1, &node), ANGARA_ST_OK);
	before = r->put;
	EXPECT(before > 0);
	link = faults(0, 0, 0, 0);
	EXPECT_EQ(adm_link(g.h, 2, 1, &link), ANGARA_ADM_ST_OK);
	EXPECT_EQ(put_to(0, 1, &node), ANGARA_ST_OK);
	EXPECT_EQ(r->put, before);
	group_del(&g);
}

static void refused(void)
{
	struct ang_cfg sealed = cfg_tight;
	struct angara_adm_link link;
	struct host *h = host_new("3", &cfg_tight);

	link = faults(ANGARA_FAULT_ONE, 1, 0, 0);
	EXPECT_EQ(adm_link(h, 0, 0, &link), ANGARA_ADM_ST_PARAM);
	link = faults(~0U, ~0U, 0, 0);
	EXPECT_EQ(adm_link(h, 0, 0, &link), ANGARA_ADM_ST_PARAM);
	link = faults(0, 0, ANGARA_FAULT_MAX_DELAY + 1, 0);
	EXPECT_EQ(adm_link(h, 0, 0, &link), ANGARA_ADM_ST_PARAM);
	link = faults(1, 1, 1, 1);
	EXPECT_EQ(adm_link(h, 0, 2, &link), ANGARA_ADM_ST_PARAM);
	link.reserved[1] = 1;
	EXPECT_EQ(adm_link(h, 0, 0, &link), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(order(h, 0, 0, 0), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(order(h, 0, 0, 8), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(order(h, 0, 0, ANGARA_LINK_UP | ANGARA_LINK_DOWN),
		  ANGARA_ADM_ST_PARAM);
	EXPECT(ang_links_perfect(h->fab));
	host_free(h);
	/* The port has no link. */
	h = host_new("1", &cfg_tight);
	EXPECT_EQ(order(h, 0, 0, ANGARA_LINK_DOWN), ANGARA_ADM_ST_ABSENT);
	host_free(h);
	/*
	 * The command is refused if several fabrics host the network, as the
	 * other ones would not be notified.
	 */
	h = host_twins("4", &cfg_tight, 3, twins_pump);
	EXPECT_EQ(order(h, 0, 0, ANGARA_LINK_DOWN), ANGARA_ADM_ST_SEALED);
	host_free(h);
	sealed.sealed = 1;
	h = host_new("3", &sealed);
	EXPECT_EQ(order(h, 0, 0, ANGARA_LINK_DOWN), ANGARA_ADM_ST_SEALED);
	EXPECT(ang_links_perfect(h->fab));
	host_free(h);
}

/*
 * A thread ends while links of its node hold packets: no packet is lost or
 * duplicated.
 */
static void torn(void)
{
	struct angara_adm_link link = faults(TENTH, TENTH, 300, 2);
	u32 steps, i, k, kept = 0;
	struct angara_cqe cqe;

	for (steps = 0; steps < 300; steps += 7) {
		struct host *h;

		g.h = h = host_new("6", &cfg_tight);
		group_new(&g, 1, 8192);
		for (i = 0; i < 6; i++)
			for (k = 0; k < 2; k++) {
				link.seed = cpu_to_le64(i * 2 + k + steps);
				EXPECT_EQ(adm_link(h, i, k, &link), ANGARA_ADM_ST_OK);
			}
		for (i = 0; i < 6; i++) {
			struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, (i + 2) % 6,
						      0, 0, 8192, 4000);

			post(g.ctx[i], &w, NULL);
			kick(g.ctx[i]);
		}
		run_steps(&h->v, steps);
		for (k = 0; k < 2; k++)
			kept += ang_port(h->fab, ang_node(h->fab, 3), k)->retry.held;
		host_freeze(h, 3, 1);
		EXPECT_EQ(ang_recover_find(h->fab), 1);
		ang_view_init(&h->v, h->fab, &h->ops, h);
		ang_recover(&h->v);
		host_faults.what = 1;	/* host_run() allows more rounds if
					 * links have faults
					 */
		host_run(h);
		host_faults.what = 0;
		invariants(h->fab, 0);
		/* Nodes 2 and 4 send through node 3, node 1 sends to it. */
		for (i = 0; i < 6; i++) {
			if (i == 3)
				continue;
			EXPECT(poll_cq(g.ctx[i], &cqe));
			EXPECT(i == 1 || cqe.status == ANGARA_ST_OK);
		}
		for (i = 0; i < 6; i++) {
			if (i == 3)
				free(g.ctx[i]);
			else
				ctx_del(g.ctx[i]);
		}
		free(g.ctx);
		host_free(h);
	}
	EXPECT(kept > 0);
}

const struct test_case retry_cases[] = {
	{ "retry: check sums", sums },
	{ "retry: fates and seeds", fates },
	{ "retry: only the check sum detects errors", blind_eyes },
	{ "retry: acknowledgements", acknowledgements },
	{ "retry: one link: order, bounds, numbers that wrap", one_link },
	{ "retry: equal seeds give equal results", seeds },
	{ "retry: links go down and up", down_and_up },
	{ "retry: a tree over a link that goes down", tree_over_link },
	{ "retry: packets of a link that goes down", held },
	{ "retry: a dead link goes down", dead },
	{ "retry: refused settings", refused },
	{ "retry: only perfect links are bypassed", express },
	{ "retry: a node is reset while its links hold packets", torn },
	{ "retry: bad links, point to point", bad_p2p },
	{ "retry: bad links, messages", bad_messages },
	{ "retry: bad links, atomic operations and lives", bad_atomics },
	{ "retry: bad links, trees", bad_trees },
	{ "retry: bad links, random traffic", bad_mix },
	{ NULL, NULL },
};
