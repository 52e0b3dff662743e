// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * In-band management on bad links, and hostile packets, which change nothing and
 * stop nothing.
 */
#include <string.h>

#include "test.h"
#include "mgmt.h"

#define KEY	0x1122334455667788ULL

static void set_link(u32 router, u32 port, u32 what, u32 loss)
{
	struct angara_adm_link link = {
		.what = (u8)what, .loss = cpu_to_le32(loss), .seed = cpu_to_le64(3),
	};

	EXPECT_EQ(adm_link(mgmt_host, router, port, &link), ANGARA_ADM_ST_OK);
}

/* The router before a link that is down answers, and reports the link. */
static void links_down(void)
{
	static const u8 path[] = { 0, 0, 0 };
	struct angara_mgmt_port port;
	struct angara_mgmt p;

	mgmt_host = host_new("4", &cfg_default);
	set_link(2, 0, ANGARA_LINK_DOWN, 0);
	p = mgmt_get_node(path, 3);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_DOWN);
	EXPECT_EQ(le32_to_cpu(p.router), 2);
	p = mgmt_get_node(path, 2);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le64_to_cpu(mgmt_node(&p).down), 1);
	p = mgmt_request(ANGARA_MGMT_GET, ANGARA_MGMT_PORT, 0);
	p.hops = 2;
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	memcpy(&port, p.data, sizeof(port));
	EXPECT_EQ(le32_to_cpu(port.state), ANGARA_MGMT_PORT_DOWN);
	set_link(2, 0, ANGARA_LINK_UP, 0);
	p = mgmt_get_node(path, 3);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	host_free(mgmt_host);
}

/* Requests and answers get lost; those that arrive are right. */
static void lossy(void)
{
	static const u8 path[] = { 0, 0 };
	struct angara_mgmt_port port;
	struct angara_mgmt p;
	u32 i, lost = 0;

	mgmt_host = host_new("3", &cfg_default);
	set_link(1, 0, ANGARA_LINK_FAULT, ANGARA_FAULT_ONE / 2);
	for (i = 0; i < 200; i++) {
		p = mgmt_get_node(path, 2);
		EXPECT_EQ(mgmt_send(0, &p), ANGARA_ADM_ST_OK);
		if (mgmt_answer(0, &p) == ANGARA_ADM_ST_OK)
			EXPECT(!p.status && le32_to_cpu(p.router) == 2);
		else
			lost++;
	}
	EXPECT(lost > 60 && lost < 140);
	EXPECT_EQ(mgmt_dropped(), lost);
	p = mgmt_get_node(path, 1);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le64_to_cpu(mgmt_node(&p).faulty), 1);
	p = mgmt_request(ANGARA_MGMT_GET, ANGARA_MGMT_PORT, 0);
	p.hops = 1;
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	memcpy(&port, p.data, sizeof(port));
	EXPECT(le32_to_cpu(port.state) == ANGARA_MGMT_PORT_UP &&
	       le32_to_cpu(port.loss) == ANGARA_FAULT_ONE / 2 && !port.lost);
	host_free(mgmt_host);
}

/* Management packets pass data packets that wait on the same link. */
static void passes_data(void)
{
	static const u8 path[] = { 0 };
	struct angara_mgmt_port port;
	struct angara_mgmt p;
	struct ang_ring *r;
	struct tctx *a, *b;
	struct angara_cqe cqe;
	u32 i;

	mgmt_host = host_new("4", &cfg_default);
	a = ctx_new(mgmt_host, 0, 0, PKEY, 6, 6);
	b = ctx_new(mgmt_host, 2, 0, PKEY, 6, 6);
	ctx_buffer(a, 4096);
	ctx_buffer(b, 4096);
	host_freeze(mgmt_host, 2, 1);
	for (i = 0; i < 16; i++) {
		struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, 2, 0, 0, 0, 4096);

		post(a, &w, NULL);
	}
	kick(a);
	host_run(mgmt_host);
	r = ang_ring(mgmt_host->fab, ang_node(mgmt_host->fab, 1), 1, ANGARA_VC_REQ);
	EXPECT(r->tail - r->head >= mgmt_host->cfg.depth - 1U);
	for (i = 0; i < 20; i++) {
		p = mgmt_get_node(path, 1);
		EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	}
	p = mgmt_request(ANGARA_MGMT_GET, ANGARA_MGMT_PORT, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	memcpy(&port, p.data, sizeof(port));
	EXPECT(port.packets && port.stalls);
	host_freeze(mgmt_host, 2, 0);
	host_run(mgmt_host);
	for (i = 0; i < 16; i++) {
		EXPECT(poll_cq(a, &cqe));
		EXPECT_EQ(cqe.status, ANGARA_ST_OK);
	}
	ctx_del(a);
	ctx_del(b);
	host_free(mgmt_host);
}

/*
 * A request is answered late: after another request of the same node, or after
 * a reset of the node.
 */
static void late_answers(void)
{
	static const u8 path[] = { 0 }, other[] = { 1 };
	struct angara_mgmt p;
	u64 before;

	mgmt_host = host_new("3", &cfg_default);
	host_freeze(mgmt_host, 1, 1);
	p = mgmt_get_node(path, 1);
	EXPECT_EQ(mgmt_send(0, &p), ANGARA_ADM_ST_OK);
	EXPECT_EQ(mgmt_answer(0, &p), ANGARA_ADM_ST_ABSENT);
	/* The node sends another request: the late answer is dropped. */
	p = mgmt_get_node(path, 0);
	EXPECT_EQ(mgmt_send(0, &p), ANGARA_ADM_ST_OK);
	before = mgmt_dropped();
	host_freeze(mgmt_host, 1, 0);
	host_run(mgmt_host);
	EXPECT_EQ(mgmt_dropped(), before + 1);
	EXPECT_EQ(mgmt_answer(0, &p), ANGARA_ADM_ST_OK);
	EXPECT_EQ(le32_to_cpu(p.router), 0);
	EXPECT_EQ(mgmt_answer(0, &p), ANGARA_ADM_ST_ABSENT);
	/* Repeat this, but delay the answer to the second request, too. */
	host_freeze(mgmt_host, 1, 1);
	host_freeze(mgmt_host, 2, 1);
	p = mgmt_get_node(path, 1);
	EXPECT_EQ(mgmt_send(0, &p), ANGARA_ADM_ST_OK);
	p = mgmt_get_node(other, 1);
	EXPECT_EQ(mgmt_send(0, &p), ANGARA_ADM_ST_OK);
	before = mgmt_dropped();
	host_freeze(mgmt_host, 1, 0);
	host_run(mgmt_host);
	EXPECT_EQ(mgmt_dropped(), before + 1);
	EXPECT_EQ(mgmt_answer(0, &p), ANGARA_ADM_ST_ABSENT);
	host_freeze(mgmt_host, 2, 0);
	host_run(mgmt_host);
	EXPECT_EQ(mgmt_answer(0, &p), ANGARA_ADM_ST_OK);
	EXPECT_EQ(le32_to_cpu(p.router), 2);
	/* A node that is reset waits for nothing. */
	host_freeze(mgmt_host, 1, 1);
	p = mgmt_get_node(path, 1);
	EXPECT_EQ(mgmt_send(0, &p), ANGARA_ADM_ST_OK);
	host_reg(mgmt_host, 0, ANGARA_REG_CONTROL, 0);
	host_run(mgmt_host);
	before = mgmt_dropped();
	host_freeze(mgmt_host, 1, 0);
	host_run(mgmt_host);
	EXPECT_EQ(mgmt_dropped(), before + 1);
	host_free(mgmt_host);
}

static const char *forged(struct angara_mgmt p)
{
	const char *flaw = ang_remote_mgmt_flaw(&mgmt_host->v, 1, 1, &p);

	if (!flaw)
		ang_remote_mgmt_give(&mgmt_host->v, 1, 1, &p);
	host_run(mgmt_host);
	while (host_drain(mgmt_host, 1))
		host_run(mgmt_host);
	return flaw;
}

/* A neighbor forges packets. */
static void forgeries(void)
{
	struct angara_mgmt p, good = mgmt_get_node((const u8 *)"", 0);
	u32 i;

	mgmt_host = host_half("2", &cfg_default, 1);
	ang_remote_set(&mgmt_host->v, 1);
	host_start(mgmt_host);
	good.hops = 1;
	EXPECT(!forged(good));
	p = good;
	EXPECT(ang_remote_mgmt_flaw(&mgmt_host->v, 0, 0, &p));
	EXPECT(ang_remote_mgmt_flaw(&mgmt_host->v, 2, 0, &p));
	EXPECT(ang_remote_mgmt_flaw(&mgmt_host->v, 1, 9, &p));
	p.at = 1;
	EXPECT(forged(p));
	p.at = 2;
	EXPECT(forged(p));
	p = good;
	p.hops = ANGARA_MGMT_HOPS + 1;
	EXPECT(forged(p));
	p.answer = 1;
	EXPECT(forged(p));
	p = good;
	p.status = 1;
	EXPECT(forged(p));
	p.answer = 1;
	p.status = ANGARA_MGMT_ST_NUM;
	EXPECT(forged(p));
	/* Forge answers to no request, with paths that lead nowhere. */
	p.status = 0;
	for (i = 0; i < 256; i++) {
		u64 before = mgmt_dropped();

		p.hops = 3;
		p.at = (u8)(i % 3);
		memset(p.path, (int)i, sizeof(p.path));
		EXPECT(!forged(p));
		EXPECT(mgmt_dropped() == before + 1 || i % 3);
	}
	/*
	 * A flood of packets: those without room are dropped, the others are
	 * answered or dropped.
	 */
	for (i = 0; i < 10000; i++) {
		p = good;
		p.tid = cpu_to_le64(i);
		EXPECT(!ang_remote_mgmt_flaw(&mgmt_host->v, 1, 1, &p));
		EXPECT_EQ(ang_remote_mgmt_give(&mgmt_host->v, 1, 1, &p),
			  i % 100 < ANG_MGMT_DEPTH);
		if (i % 100 == 99)
			host_run(mgmt_host);
	}
	while (host_drain(mgmt_host, 1))
		host_run(mgmt_host);
	EXPECT_EQ(adm_op(mgmt_host, 0, ANGARA_ADM_NOP, 0, 0), ANGARA_ADM_ST_OK);
	host_free(mgmt_host);
}

/*
 * Random packets with random paths and random content arrive; some are valid.
 */
static void random_packets(void)
{
	u64 state = 77;
	u32 i, k, got = 0;
	struct angara_mgmt p;

	mgmt_host = host_new("3x3", &cfg_default);
	for (i = 0; i < 20000; i++) {
		p = mgmt_request(1 + rnd(&state) % 2, rnd(&state) % 7, rnd(&state) % 20);
		p.hops = rnd(&state) % 8;
		for (k = 0; k < p.hops; k++)
			p.path[k] = (u8)(rnd(&state) % 40 ? rnd(&state) % 4 :
					 rnd(&state));
		p.writes = cpu_to_le64(p.method == ANGARA_MGMT_SET ?
				       rnd(&state) % 4 : 0);
		/*
		 * A random key would block all later requests: data of this
		 * attribute stays 0.
		 */
		for (k = 0; k < 32 && p.method == ANGARA_MGMT_SET &&
		     p.attr != ANGARA_MGMT_KEY && rnd(&state) % 2; k++)
			p.data[k] = (u8)(rnd(&state) % 3);
		EXPECT_EQ(mgmt_send(i % 9, &p), ANGARA_ADM_ST_OK);
		EXPECT_EQ(mgmt_answer(i % 9, &p), ANGARA_ADM_ST_OK);
		got += p.status == ANGARA_MGMT_ST_OK;
	}
	EXPECT(got > 1000);
	EXPECT_EQ(mgmt_dropped(), 0);
	host_free(mgmt_host);
}

/* Many nodes ask at once: every packet is answered or dropped and counted. */
static void crowd(void)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_MGMT_SEND };
	u32 i, round, lost = 0, answered = 0;
	struct angara_mgmt *mem[16], p;
	u64 addr[16];

	mgmt_host = host_new("4x4", &cfg_default);
	for (i = 0; i < 16; i++)
		mem[i] = host_alloc(mgmt_host, i, sizeof(*mem[i]), &addr[i]);
	for (round = 0; round < 50; round++) {
		for (i = 0; i < 16; i++) {
			struct host_node *n = &mgmt_host->node[i];

			p = mgmt_get_node((const u8[]){ 0, 2, 0, 2 }, 4);
			p.tid = cpu_to_le64(round);
			*mem[i] = p;
			cmd.mgmt.addr = cpu_to_le64(addr[i]);
			n->asq[n->asq_pi % ADM_ENTRIES] = cmd;
			host_reg(mgmt_host, i, ANGARA_REG_ASQ_DB, ++n->asq_pi);
		}
		host_run(mgmt_host);
		for (i = 0; i < 16; i++) {
			struct angara_adm_cmd take = {
				.opcode = ANGARA_ADM_MGMT_RECV,
				.mgmt.tid = cpu_to_le64(round),
				.mgmt.addr = cpu_to_le64(addr[i]),
			};
			u32 status;

			mgmt_host->node[i].acq_ci++;
			status = adm(mgmt_host, i, &take, NULL);
			answered += !status;
			lost += status == ANGARA_ADM_ST_ABSENT;
		}
	}
	EXPECT_EQ(answered + lost, 50 * 16);
	EXPECT_EQ(mgmt_dropped(), lost);
	EXPECT(answered > 400);
	host_free(mgmt_host);
}

/*
 * All boxes of a router are full: the router needs several turns to empty
 * them.
 */
static void full_boxes(void)
{
	const struct ang_topo *topo;
	u64 last[ANGARA_MAX_PORTS];
	struct angara_mgmt p;
	u32 port, far, to;
	u8 path[1];

	mgmt_host = host_new("4x4x4", &cfg_default);
	topo = &mgmt_host->v.topo;
	host_freeze(mgmt_host, 0, 1);
	for (port = 0; port < 2 * topo->nports; port++) {
		to = ang_topo_peer(topo, 0, port / 2, &far);
		path[0] = (u8)far;
		p = mgmt_get_node(path, 1);
		EXPECT_EQ(mgmt_send(to, &p), ANGARA_ADM_ST_OK);
		last[port / 2] = le64_to_cpu(p.tid);
	}
	EXPECT(ANG_MGMT_TURN < ANG_MGMT_DEPTH * topo->nports);
	host_freeze(mgmt_host, 0, 0);
	host_run(mgmt_host);
	for (port = 0; port < topo->nports; port++) {
		to = ang_topo_peer(topo, 0, port, &far);
		EXPECT_EQ(mgmt_cmd(to, ANGARA_ADM_MGMT_RECV, &p, last[port]),
			  ANGARA_ADM_ST_OK);
	}
	p = mgmt_get_node(path, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le64_to_cpu(mgmt_node(&p).taken), ANG_MGMT_DEPTH * topo->nports);
	EXPECT_EQ(le64_to_cpu(mgmt_node(&p).dropped), 0);
	host_free(mgmt_host);
}

/* A thread dies while it holds a router: packets in the router are lost, its keys are not. */
static void recovery(void)
{
	static const u8 path[] = { 0, 0 };
	struct angara_mgmt p;

	mgmt_host = host_new("3", &cfg_default);
	p = mgmt_key(path, 1, 0, KEY, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	host_freeze(mgmt_host, 1, 1);
	p = mgmt_get_node(path, 2);
	EXPECT_EQ(mgmt_send(0, &p), ANGARA_ADM_ST_OK);
	EXPECT_EQ(ang_recover_find(mgmt_host->fab), 1);
	ang_view_init(&mgmt_host->v, mgmt_host->fab, &mgmt_host->ops, mgmt_host);
	ang_recover(&mgmt_host->v);
	host_run(mgmt_host);
	EXPECT_EQ(mgmt_answer(0, &p), ANGARA_ADM_ST_ABSENT);
	p = mgmt_get_node(path, 1);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le32_to_cpu(mgmt_node(&p).flags), ANGARA_MGMT_HAS_KEY);
	EXPECT_EQ(le64_to_cpu(p.writes), 1);
	p = mgmt_get_node(path, 2);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	/*
	 * The old request was lost with the router: an answer to it would have
	 * been dropped and counted.
	 */
	EXPECT_EQ(mgmt_dropped(), 0);
	host_free(mgmt_host);
}

const struct test_case mgmt_bad_cases[] = {
	{ "mgmt: links that are down", links_down },
	{ "mgmt: links that lose packets", lossy },
	{ "mgmt: data that waits", passes_data },
	{ "mgmt: late answers", late_answers },
	{ "mgmt: forgeries and floods", forgeries },
	{ "mgmt: random packets", random_packets },
	{ "mgmt: many at once", crowd },
	{ "mgmt: full boxes", full_boxes },
	{ "mgmt: recovery", recovery },
	{ NULL, NULL },
};
