// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * In-band management: packets find their way to a router and back in any
 * fabric; keys, replays, rows of trees.
 */
#include <string.h>

#include "test.h"
#include "coll.h"
#include "mgmt.h"

#define KEY	0x1122334455667788ULL
#define TREE	3

/* Compares a router's answers about itself with the topology. */
static void check_node(const struct angara_mgmt_node *n, u32 router, u32 port)
{
	const struct ang_topo *topo = &mgmt_host->v.topo;
	u64 joined = 0;
	u32 i, far;

	for (i = 0; i < topo->nports; i++)
		joined |= (u64)(ang_topo_peer(topo, router, i, &far) != ANG_NONE) << i;
	EXPECT_EQ(le32_to_cpu(n->router), router);
	EXPECT_EQ(le32_to_cpu(n->nodes), topo->nodes);
	EXPECT_EQ(le32_to_cpu(n->routers), topo->routers);
	EXPECT_EQ(le64_to_cpu(n->fabric_id), mgmt_host->cfg.fabric_id);
	EXPECT_EQ(le32_to_cpu(n->flags), router >= topo->nodes ?
		  ANGARA_MGMT_IS_SWITCH : 0);
	EXPECT_EQ(le64_to_cpu(n->joined), joined);
	EXPECT_EQ(le64_to_cpu(n->down) | le64_to_cpu(n->faulty), 0);
	EXPECT_EQ(n->trees, ANG_DEF_TREES);
	EXPECT_EQ(n->ports, mgmt_host->fab->nports);
	EXPECT_EQ(n->port, port);
}

/*
 * Visits all routers by breadth-first search from @from, and asks about every
 * port of every router.
 */
static void walk(u32 from)
{
	u32 routers = mgmt_host->v.topo.routers, head = 0, tail = 1;
	u32 *order = calloc(routers, sizeof(*order));
	u8 (*path)[ANGARA_MGMT_HOPS] = calloc(routers, sizeof(*path));
	u8 *hops = calloc(routers, 1);
	struct angara_mgmt_node n;
	struct angara_mgmt p;
	u32 port, to, far;

	order[0] = from;
	p = mgmt_get_node(path[from], 0);
	EXPECT_EQ(mgmt_ask(from, &p), ANGARA_MGMT_ST_OK);
	n = mgmt_node(&p);
	check_node(&n, from, ANGARA_PORT_NONE);
	for (; head < tail; head++) {
		u32 at = order[head];

		for (port = 0; port < mgmt_host->v.topo.nports; port++) {
			u8 way[ANGARA_MGMT_HOPS];

			to = ang_topo_peer(&mgmt_host->v.topo, at, port, &far);
			memcpy(way, path[at], hops[at]);
			way[hops[at]] = (u8)port;
			p = mgmt_get_node(way, hops[at] + 1U);
			if (to == ANG_NONE) {
				EXPECT_EQ(mgmt_ask(from, &p), ANGARA_MGMT_ST_PORT);
				EXPECT_EQ(le32_to_cpu(p.router), at);
				continue;
			}
			EXPECT_EQ(mgmt_ask(from, &p), ANGARA_MGMT_ST_OK);
			EXPECT_EQ(le32_to_cpu(p.router), to);
			n = mgmt_node(&p);
			check_node(&n, to, far);
			if (to == from || hops[to])
				continue;
			memcpy(path[to], way, sizeof(way));
			hops[to] = hops[at] + 1U;
			order[tail++] = to;
		}
	}
	EXPECT_EQ(tail, routers);
	EXPECT_EQ(mgmt_dropped(), 0);
	free(order);
	free(path);
	free(hops);
}

static void all_fabrics(void)
{
	static const char *const fabrics[] = {
		"1", "2", "3x3", "2x2x2x2", "mesh:3x2", "hypercube:3", "mkns:2x2x2",
		"fattree:4,2",
	};
	u32 i;

	for (i = 0; i < NUM(fabrics); i++) {
		mgmt_host = host_new(fabrics[i], &cfg_default);
		walk(mgmt_host->nodes - 1);
		host_free(mgmt_host);
	}
}

static void two_servers(void)
{
	struct ang_cfg cfg = cfg_default;

	cfg.depth = 4;
	mgmt_host = host_twins("3x3", &cfg, 0x1A5, twins_pump);
	walk(0);
	host_free(mgmt_host);
	mgmt_host = host_twins("fattree:4,2", &cfg, 0x3, twins_pump);
	walk(2);
	host_free(mgmt_host);
}

/* A path may return to a router, up to ANGARA_MGMT_HOPS hops. */
static void long_paths(void)
{
	u8 path[ANGARA_MGMT_HOPS];
	struct angara_mgmt p;
	u32 i;

	mgmt_host = host_new("3", &cfg_default);
	memset(path, 0, sizeof(path));
	p = mgmt_get_node(path, ANGARA_MGMT_HOPS);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le32_to_cpu(p.router), ANGARA_MGMT_HOPS % 3);
	for (i = 0; i < ANGARA_MGMT_HOPS; i++)
		EXPECT_EQ(p.path[i], 1);
	for (i = 0; i < ANGARA_MGMT_HOPS; i++)
		path[i] = i % 2;
	p = mgmt_get_node(path, ANGARA_MGMT_HOPS);
	EXPECT_EQ(mgmt_ask(2, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le32_to_cpu(p.router), 2);
	p.answer = 0;
	p.router = 0;
	p.hops = ANGARA_MGMT_HOPS + 1;
	EXPECT_EQ(mgmt_send(0, &p), ANGARA_ADM_ST_PARAM);
	host_free(mgmt_host);
}

#define WRONG_MEMBERS	8

/* Stores a wrong value in one of the members that a sender has to set. */
static void wrong_member(struct angara_mgmt *p, u32 which)
{
	switch (which) {
	case 0:
		p->method = 0;
		break;
	case 1:
		p->method = 3;
		break;
	case 2:
		p->status = 1;
		break;
	case 3:
		p->answer = 1;
		break;
	case 4:
		p->hops = 2;
		p->at = 1;
		break;
	case 5:
		p->reserved[0] = 1;
		break;
	case 6:
		p->reserved[1] = 1;
		break;
	case 7:
		p->router = cpu_to_le32(1);
		break;
	}
}

static void wrong_formats(void)
{
	struct angara_mgmt good = mgmt_get_node((const u8 *)"", 0), p;
	u32 i;

	mgmt_host = host_new("2x2", &cfg_default);
	for (i = 0; i < WRONG_MEMBERS; i++) {
		p = good;
		wrong_member(&p, i);
		EXPECT_EQ(mgmt_send(0, &p), ANGARA_ADM_ST_PARAM);
		EXPECT_EQ(mgmt_answer(0, &p), ANGARA_ADM_ST_ABSENT);
	}
	p = good;
	EXPECT_EQ(mgmt_cmd(0, ANGARA_ADM_MGMT_SEND, &p, 1), ANGARA_ADM_ST_PARAM);
	for (i = 0; i < 256; i++) {
		p = good;
		p.attr = (u8)i;
		p.modifier = cpu_to_le32(ANG_DEF_TREES + 200);
		EXPECT_EQ(mgmt_ask(0, &p), i == ANGARA_MGMT_NODE ? ANGARA_MGMT_ST_OK :
			  i == ANGARA_MGMT_PORT || i == ANGARA_MGMT_ROW ?
			  ANGARA_MGMT_ST_PARAM : ANGARA_MGMT_ST_METHOD);
		p = good;
		p.attr = (u8)i;
		p.method = ANGARA_MGMT_SET;
		p.modifier = cpu_to_le32(ANG_DEF_TREES + 200);
		EXPECT_EQ(mgmt_ask(0, &p), i >= ANGARA_MGMT_ROW && i <= ANGARA_MGMT_KEY ?
			  ANGARA_MGMT_ST_PARAM : ANGARA_MGMT_ST_METHOD);
	}
	for (i = 0; i < ANGARA_MGMT_DATA; i++) {
		p = good;
		p.data[i] = 1;
		EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_PARAM);
	}
	p = good;
	p.writes = cpu_to_le64(1);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_PARAM);
	EXPECT_EQ(mgmt_writes(p.path, 0), 0);
	host_free(mgmt_host);
}

/* The address of the packet is not in any segment. */
static void wrong_address(void)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_MGMT_SEND };
	struct angara_mgmt p = mgmt_get_node((const u8 *)"", 0);

	mgmt_host = host_new("2", &cfg_default);
	cmd.mgmt.addr = cpu_to_le64(8);
	EXPECT_EQ(adm(mgmt_host, 0, &cmd, NULL), ANGARA_ADM_ST_DMA);
	EXPECT_EQ(mgmt_send(0, &p), ANGARA_ADM_ST_OK);
	cmd.opcode = ANGARA_ADM_MGMT_RECV;
	cmd.mgmt.tid = cpu_to_le64(le64_to_cpu(p.tid) + 1);
	EXPECT_EQ(adm(mgmt_host, 0, &cmd, NULL), ANGARA_ADM_ST_ABSENT);
	cmd.mgmt.tid = p.tid;
	EXPECT_EQ(adm(mgmt_host, 0, &cmd, NULL), ANGARA_ADM_ST_DMA);
	EXPECT_EQ(mgmt_answer(0, &p), ANGARA_ADM_ST_ABSENT);
	mgmt_host->faults = 0;
	host_free(mgmt_host);
}

static void keys(void)
{
	static const u8 zeros[ANGARA_MGMT_DATA];
	static const u8 path[] = { 0, 0 };
	struct angara_mgmt p;

	mgmt_host = host_new("3", &cfg_default);
	p = mgmt_key(path, 1, 5, KEY, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_KEY);
	p = mgmt_key(path, 1, 0, KEY, 2);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_PARAM);
	p = mgmt_key(path, 1, 0, KEY, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le64_to_cpu(p.writes), 1);
	EXPECT(!memcmp(p.data, zeros, sizeof(zeros)));
	/* Only router 1 has the key; reads need no key. */
	p = mgmt_get_node(path, 1);
	EXPECT_EQ(mgmt_ask(2, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le32_to_cpu(mgmt_node(&p).flags), 0);
	p = mgmt_get_node(path, 1);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le32_to_cpu(mgmt_node(&p).flags), ANGARA_MGMT_HAS_KEY);
	EXPECT_EQ(le64_to_cpu(mgmt_node(&p).refused), 1);
	p = mgmt_key(path, 1, 0, 0, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_KEY);
	p = mgmt_key(path, 1, KEY ^ 1, 0, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_KEY);
	/*
	 * With ANGARA_MGMT_KEY_READ, reads need the key, too: without it, an
	 * answer has no data.
	 */
	p = mgmt_key(path, 1, KEY, KEY + 1, ANGARA_MGMT_KEY_READ);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	p = mgmt_get_node(path, 1);
	p.data[7] = 1;
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_KEY);
	EXPECT_EQ(le32_to_cpu(p.router), 1);
	EXPECT(!memcmp(p.data, zeros, sizeof(zeros)));
	p = mgmt_get_node(path, 1);
	p.key = cpu_to_le64(KEY + 1);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le64_to_cpu(mgmt_node(&p).refused), 4);
	/*
	 * Router 1 forwards packets as before. Requests of its own node need
	 * the key, too.
	 */
	p = mgmt_get_node(path, 2);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le32_to_cpu(p.router), 2);
	p = mgmt_get_node(path, 0);
	EXPECT_EQ(mgmt_ask(1, &p), ANGARA_MGMT_ST_KEY);
	/* A reset of its node's driver does not change the router's key. */
	host_reg(mgmt_host, 1, ANGARA_REG_CONTROL, 0);
	host_run(mgmt_host);
	p = mgmt_get_node(path, 1);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_KEY);
	host_free(mgmt_host);
}

static void sealed(void)
{
	struct ang_cfg cfg = cfg_default;
	struct angara_mgmt p;

	cfg.sealed = 1;
	mgmt_host = host_new("2", &cfg);
	p = mgmt_key(p.path, 0, 0, KEY, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_KEY);
	host_free(mgmt_host);
	cfg.mgmt_key = KEY;
	mgmt_host = host_new("2", &cfg);
	p = mgmt_get_node(p.path, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le32_to_cpu(mgmt_node(&p).flags),
		  ANGARA_MGMT_HAS_KEY | ANGARA_MGMT_SEALED);
	p = mgmt_key(p.path, 0, 0, 0, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_KEY);
	p = mgmt_key(p.path, 0, KEY, 7, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	host_free(mgmt_host);
}

/* A recorded packet has no effect when it is sent again. */
static void replays(void)
{
	static const u8 path[] = { 0 };
	struct angara_mgmt old, p;

	mgmt_host = host_new("2", &cfg_default);
	old = mgmt_key(path, 1, 0, KEY, 0);
	p = old;
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	p = mgmt_key(path, 1, KEY, 0, 0);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	p = old;
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_STALE);
	EXPECT_EQ(le64_to_cpu(p.writes), 2);
	p = mgmt_get_node(path, 1);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	EXPECT_EQ(le32_to_cpu(mgmt_node(&p).flags), 0);
	host_free(mgmt_host);
}

static struct angara_mgmt row_request(const u8 *path, u32 hops,
				      const struct angara_tree_row *row)
{
	struct angara_mgmt p = mgmt_set(path, hops, ANGARA_MGMT_ROW, row->tree, 0);
	const struct angara_mgmt_row w = {
		.ports = cpu_to_le64(row->ports), .pkey = cpu_to_le32(row->pkey),
		.pe = cpu_to_le16(row->pe), .epoch = cpu_to_le16(row->epoch),
		.is_root = row->is_root, .to_root = row->to_root,
		.port_sum = row->port_sum,
	};

	memcpy(p.data, &w, sizeof(w));
	return p;
}

/*
 * Finds the path from node 0 to a router, by the routes of the fabric or by
 * links.
 */
static u32 path_to(u32 router, u8 *path)
{
	const struct ang_topo *topo = &mgmt_host->v.topo;
	u32 at = 0, hops = 0, far;

	while (at != router) {
		u32 dir = router < topo->nodes ? ang_topo_route(topo, at, router) : 0;
		u32 to = ang_topo_peer(topo, at, dir, &far);

		EXPECT(dir != ANGARA_PORT_NONE && hops < ANGARA_MGMT_HOPS);
		path[hops++] = (u8)dir;
		at = to;
	}
	return hops;
}

static struct angara_mgmt_row row_of(const u8 *path, u32 hops, u32 tree)
{
	struct angara_mgmt p = mgmt_request(ANGARA_MGMT_GET, ANGARA_MGMT_ROW, tree);
	struct angara_mgmt_row row;

	p.hops = (u8)hops;
	memcpy(p.path, path, hops);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	memcpy(&row, p.data, sizeof(row));
	return row;
}

/*
 * One node sets all rows of a tree; the tree works like one whose rows were
 * set by each driver.
 */
static void trees(void)
{
	u8 path[ANGARA_MGMT_HOPS];
	struct angara_mgmt_row row;
	struct angara_mgmt p;
	struct group g;
	struct ttree *t;
	u16 pe[8];
	u32 i, hops;

	mgmt_host = g.h = host_new("2x2x2", &cfg_default);
	group_new(&g, 1, 1024);
	for (i = 0; i < 8; i++)
		pe[i] = 1;
	t = tree_new(mgmt_host, TREE, 5, pe, g.ctx, g.n, 77);
	for (i = 0; i < 8; i++) {
		hops = path_to(i, path);
		row = row_of(path, hops, TREE);
		/* The first row that is cleared takes the tree down everywhere. */
		EXPECT_EQ(row.state, i ? ANGARA_TREE_STATE_DOWN : ANGARA_TREE_STATE_UP);
		EXPECT(row.members == 1 && le16_to_cpu(row.epoch) == 77 &&
		       le32_to_cpu(row.pkey) == PKEY);
		p = row_request(path, hops, &t->rows[i]);
		EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_EXISTS);
		p = mgmt_set(path, hops, ANGARA_MGMT_ROW_CLEAR, TREE, 0);
		EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
		p = mgmt_set(path, hops, ANGARA_MGMT_ROW_CLEAR, TREE, 0);
		EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_ABSENT);
	}
	for (i = 0; i < 8; i++) {
		hops = path_to(i, path);
		t->rows[i].epoch = 78;
		p = row_request(path, hops, &t->rows[i]);
		p.data[sizeof(row)] = 1;
		EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_PARAM);
		p = row_request(path, hops, &t->rows[i]);
		EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
		row = row_of(path, hops, TREE);
		EXPECT(le64_to_cpu(row.ports) == t->rows[i].ports &&
		       row.to_root == t->rows[i].to_root &&
		       row.is_root == t->rows[i].is_root &&
		       row.port_sum == t->rows[i].port_sum && !row.members &&
		       le16_to_cpu(row.pe) == 1 && le16_to_cpu(row.epoch) == 78);
	}
	for (i = 0; i < 8; i++)
		EXPECT_EQ(adm_join(mgmt_host, i, 0, TREE, 0), ANGARA_ADM_ST_OK);
	coll_allreduce(t, 1000);
	coll_bcast(t, 2, 1000);
	tree_del(t);
	group_del(&g);
}

static void wrong_rows(void)
{
	struct angara_tree_row good = {
		.tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE, .pe = 1,
		.pkey = PKEY, .epoch = 1,
	}, row;
	struct angara_mgmt_row w;
	struct angara_mgmt p;
	u8 path[1] = { 0 };
	u32 i;

	mgmt_host = host_new("2", &cfg_default);
	row = good;
	row.port_sum = 1;
	p = row_request(path, 1, &row);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_RULE);
	EXPECT_EQ(le32_to_cpu(p.modifier), ANGARA_TREE_RULE_FIELD);
	row = good;
	row.pkey = 0;
	p = row_request(path, 1, &row);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_PARAM);
	row = good;
	row.tree = ANG_DEF_TREES;
	p = row_request(path, 1, &row);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_PARAM);
	for (i = 0; i < 4; i++) {
		p = row_request(path, 1, &good);
		memcpy(&w, p.data, sizeof(w));
		w.down_node = cpu_to_le32(i == 0);
		w.state = i == 1;
		w.members = i == 2;
		w.reserved[6] = i == 3;
		memcpy(p.data, &w, sizeof(w));
		EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_PARAM);
	}
	p = mgmt_set(path, 1, ANGARA_MGMT_ROW_CLEAR, TREE, 0);
	p.data[0] = 1;
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_PARAM);
	EXPECT_EQ(mgmt_writes(path, 1), 0);
	/* An adapter without a driver keeps no rows. */
	host_reg(mgmt_host, 1, ANGARA_REG_CONTROL, 0);
	host_run(mgmt_host);
	p = row_request(path, 1, &good);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_BUSY);
	host_reg(mgmt_host, 1, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	host_run(mgmt_host);
	p = row_request(path, 1, &good);
	EXPECT_EQ(mgmt_ask(0, &p), ANGARA_MGMT_ST_OK);
	host_free(mgmt_host);
}

const struct test_case mgmt_cases[] = {
	{ "mgmt: every router of every fabric", all_fabrics },
	{ "mgmt: two servers", two_servers },
	{ "mgmt: long paths", long_paths },
	{ "mgmt: wrong formats", wrong_formats },
	{ "mgmt: addresses out of reach", wrong_address },
	{ "mgmt: keys", keys },
	{ "mgmt: a sealed fabric", sealed },
	{ "mgmt: replays", replays },
	{ "mgmt: trees", trees },
	{ "mgmt: wrong rows", wrong_rows },
	{ NULL, NULL },
};
